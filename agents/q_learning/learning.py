"""How a function of moves learns: it plays and explores, and is fitted to all that it has seen; and so on, in rounds.

What is fitted is the paper's squared error: of Q(s, a) from r + discount * max Q(s', a').
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from agents.q_learning.features import NAMES, RETURN, Features
from agents.q_learning.function import Function, Params, q_values
from agents.search.cores import over_cores
from crush_gym import OUTCOMES, Game
from crush_gym.keys import attempt_key, move_key, player_key

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Args:
    """How it learns.

    games, rounds: of each round, and how many
    explore: "epsilon": any legal move with this probability, else the best; "softmax": moves by exp(Q / temperature)
    temperature: in points; returns: whether the sampled returns, the fifth feature, are known
    """

    games: int = 200
    rounds: int = 3
    explore: str = "epsilon"
    epsilon: float = 0.5
    temperature: float = 100.0
    returns: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.explore not in ("epsilon", "softmax"):
            raise ValueError(f"explore must be epsilon or softmax, not {self.explore!r}")
        if self.games < 1 or self.rounds < 1:
            raise ValueError(f"games and rounds must be at least 1, not {self.games} and {self.rounds}")
        if not 0 <= self.epsilon <= 1 or not self.temperature > 0:
            raise ValueError(f"epsilon must be from 0 to 1 and temperature above 0, not {self.epsilon:g} and "
                             f"{self.temperature:g}")  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """Of the features."""
        return tuple(name for name in NAMES if self.returns or name != RETURN)


class Seen(NamedTuple):
    """Positions, N of them, and the moves that were made there.

    phi: features of their legal moves, float32[features, K, N]; legal: bool[K, N], for some have fewer
    chosen: which was made, int[N]; reward: its points, float32[N]; after: the position it led to, int[N]; -1: the end
    """

    phi: Array
    legal: Array
    chosen: Array
    reward: Array
    after: Array

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        """All of them."""
        most = max(part.legal.shape[0] for part in parts)
        first = np.cumsum([0, *(part.chosen.size for part in parts)])
        wide = [_widened(part.phi, most) for part in parts], [_widened(part.legal, most) for part in parts]
        after = [np.where(p.after >= 0, p.after + n, -1) for p, n in zip(parts, first[:-1], strict=True)]
        chosen, reward = ([getattr(part, name) for part in parts] for name in ("chosen", "reward"))
        return cls(*(np.concatenate(each, axis=-1) for each in (*wide, chosen, reward, after)))

    @property
    def made(self) -> Array:
        """Features of the moves that were made, float32[features, N]."""
        return self.phi[:, self.chosen, np.arange(self.chosen.size)]


def _widened(x: Array, moves: int) -> Array:
    """With room for so many moves, in the axis before the last."""
    room = [(0, 0)] * (x.ndim - 2) + [(0, moves - x.shape[-2]), (0, 0)]
    return np.pad(x, room)


def play(game: Game, params: Params, args: Args, number: int) -> tuple[Seen, Array]:
    """The games of one round, side by side; also their scores. number: of the round."""
    level, rng, extract = game.level, np.random.default_rng((args.seed, number)), Features(game.spec, args.names)
    assert level is not None
    keys = attempt_key(attempt_key(jax.random.key(args.seed), number), jnp.arange(args.games))
    state, steps, links, total = game.reset(keys), list[Seen](), list[tuple[Array, Array]](), 0
    place = np.full(args.games, -1)  # of each game's last position among all
    while (going := np.asarray(state.books.outcome) == OUTCOMES.index("playing")).any():
        moves, board = move_key(keys, state.books.made), np.flatnonzero(going)
        phi, mask = map(np.asarray, over_cores(Features.of, extract, game.spec, (), player_key(moves), state, level))
        order = np.argsort(~mask, axis=0, kind="stable")[: mask.sum(axis=0).max()]  # the legal moves first
        phi, legal = np.take_along_axis(phi, order[None], axis=1), np.take_along_axis(mask, order, axis=0)
        chosen = explored(np.asarray(q_values(params, jnp.asarray(phi))), legal, args, rng)
        state, turn = game.step(moves, state, np.take_along_axis(order, chosen[None], axis=0)[0])
        reward = np.asarray(turn.score, np.float32)
        index = total + np.arange(board.size)
        links.append((place[board], index))
        place[board], total = index, total + board.size
        steps.append(Seen(phi[:, :, board], legal[:, board], chosen[board], reward[board], np.full(board.size, -1)))
    seen = Seen.joined(steps)
    for before, after in links[1:]:
        seen.after[before] = after
    return seen, np.asarray(state.books.score)


def explored(values: Array, legal: Array, args: Args, rng: np.random.Generator) -> Array:
    """Which of its legal moves each board makes while it learns: int[B]. values: float32[K, B]."""
    if args.explore == "softmax":
        noise = rng.gumbel(size=values.shape)
        return np.where(legal, values / args.temperature + noise, -np.inf).argmax(axis=0)
    best = np.where(legal, values, -np.inf).argmax(axis=0)
    anyone = np.where(legal, rng.random(values.shape), -np.inf).argmax(axis=0)
    return np.where(rng.random(best.size) < args.epsilon, anyone, best)


# ------------------------------------------------------------------ rounds, and the command


Fit = Callable[[Params, Seen], Params]
"""(what was known, all that was seen) -> what is known then."""

How = TypeVar("How", bound=Args)


def learn(game: Game, args: Args, params: Params, fit: Fit, tell: Callable[[str], None] = print) -> Function:
    """Rounds of games and fits. params: what is known at the start."""
    parts, made = list[Seen](), list[str]()
    for number in range(args.rounds):
        seen, scores = play(game, params, args, number)
        parts.append(seen)
        params = fit(params, Seen.joined(parts))
        told = f"round {number + 1}: mean score {scores.mean():,.0f} of {scores.size} games while it explored"
        tell(told)
        made.append(told)
    versions = {name: metadata.version(name) for name in ("crush-gym", "jax")}
    return Function(args.names, params, {"args": dataclasses.asdict(args), "rounds": made, "versions": versions})


def main(module: str, defaults: How, train: Callable[[Game, How], Function]) -> None:
    """`python -m MODULE --out FILE [--games N ...]`: learn, and write the file. defaults: of the options."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=type(defaults).__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the file to write, .json")
    for field in dataclasses.fields(defaults):
        value = getattr(defaults, field.name)
        kind: Any = {"action": argparse.BooleanOptionalAction} if isinstance(value, bool) else {"type": type(value)}
        parser.add_argument(f"--{field.name}", default=value, help=f"default: {value}", **kind)
    options = vars(parser.parse_args())
    out = options.pop("out")
    try:
        args = type(defaults)(**options)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    function = train(Game(rules="combo"), args)
    command = shlex.join(["python", "-m", module, *sys.argv[1:]])
    dataclasses.replace(function, made={"command": command} | function.made).save(out)
    print(f"weights: {out}")
