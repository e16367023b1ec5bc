"""How like somebody's moves a network's are: how often it names them, how likely it holds them, how sure it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.learning.pairs import Pairs, mask

__all__ = ["likeness"]

BINS = 15
"""Into which moves are put by how sure the network is of its likeliest one."""

Array = np.ndarray[Any, Any]


def likeness(logp: Array, pairs: Pairs) -> dict[str, float]:
    """What a network makes of pairs that it never saw.

    | name | is |
    |---|---|
    | top1 | share of the moves made that are the network's likeliest |
    | random | the same of a random player, in the mean |
    | nll | mean negative logarithm of the moves' probabilities |
    | entropy | the network's own, in the mean: what it expects `nll` to be |
    | off | mean distance of its certainty from how often it is right, over bins of like certainty |

    and where the demonstrator's probabilities are known:

    | name | is |
    |---|---|
    | reachable | `top1` of whoever knows them, in the mean |
    | share | of `reachable`, what the network's likeliest moves reach, in the mean: 1 at most |
    | demonstrator | the demonstrator's entropy: the least `nll` in the mean |
    | divergence | of the network's probabilities from them (Kullback and Leibler's): what `nll` has more than that |

    Args:
        logp: logarithms of the network's probabilities, float[n, actions]; of moves that are not legal, far below 0.
        pairs: n of them.
    """
    legal = mask(pairs.legal, logp.shape[1])
    logp = np.where(legal, logp.astype(np.float64), -np.inf)
    p, rows, best = np.exp(logp), np.arange(pairs.number), logp.argmax(axis=1)
    right = best == pairs.action
    known = {
        "top1": right.mean(),
        "random": (1.0 / legal.sum(axis=1)).mean(),
        "nll": -logp[rows, pairs.action].mean(),
        "entropy": _information(p, logp),
        "off": _off(p[rows, best], right),
    }
    if pairs.probabilities is not None:
        given = pairs.probabilities.astype(np.float64)
        given = given / given.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            demonstrator = _information(given, np.log(given))
        reachable = given.max(axis=1).mean()
        known |= {
            "reachable": reachable,
            "share": given[rows, best].mean() / reachable,
            "demonstrator": demonstrator,
            "divergence": _information(given, logp) - demonstrator,
        }
    return {name: float(value) for name, value in known.items()}


def _information(p: Array, logp: Array) -> float:
    """The mean of -sum p log q over boards; where p is 0 nothing is added."""
    terms = np.multiply(p, logp, out=np.zeros_like(p), where=p > 0)
    return float(-terms.sum(axis=1).mean())


def _off(sure: Array, right: Array) -> float:
    """The expected error of calibration. sure: probabilities of the likeliest moves; right: whether they were made."""
    places = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(places, weights=sure - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(sure))
