"""Pairs of players whose probabilities are known, made without playing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agents.learning.pairs import About, Pairs, Writer, packed_cells, packed_mask
from crush_gym.swaps import number_of_actions, swaps_of

SIDE, COLOURS, MOVES = 5, 3, 8
ACTIONS = number_of_actions((SIDE, SIDE))
PLANES = (*(f"colour {letter}" for letter in "abc"), "ones")


def pairs_of(number: int, traits: bool = False, likes: float = 4.0, seed: int = 0) -> Pairs:
    """Moves of players who like swaps of two candies of one colour; with traits, those of -1 avoid them."""
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, COLOURS, (number, SIDE, SIDE))
    swaps = swaps_of(np.arange(ACTIONS), (SIDE, SIDE))
    first = colours[:, swaps.rows, swaps.columns]
    second = colours[:, swaps.rows + swaps.down, swaps.columns + 1 - swaps.down]
    attempt = np.arange(number) // MOVES
    trait = np.where(attempt % 2, 1.0, -1.0) if traits else np.ones(number)
    legal = rng.random((number, ACTIONS)) < 0.2
    legal[:, 3] = True
    chances = np.where(legal, np.exp(likes * (first == second) * trait[:, None]), 0.0)
    chances /= chances.sum(axis=1, keepdims=True)
    action = (rng.random((number, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)
    planes = np.stack([*(colours == n for n in range(COLOURS)), np.ones_like(colours)], axis=1)
    return Pairs(
        packed_cells(planes), packed_mask(legal), np.minimum(action, ACTIONS - 1).astype(np.int16),
        level=(attempt % 3 == 0).astype(np.int32), player=np.zeros(number, np.int32), attempt=attempt.astype(np.int32),
        move=(np.arange(number) % MOVES).astype(np.int32), traits=trait[:, None].astype(np.float32)[:, : int(traits)],
        probabilities=chances.astype(np.float16),
    )  # fmt: skip


def about(traits: bool = False) -> About:
    return About(
        PLANES, (SIDE, SIDE), ACTIONS, (("one", "ab"), ("two", "cd")), ("liking",) if traits else (), True,
        {"player": "who likes", "rules": "combo"},
    )  # fmt: skip


def written(folder: Path, number: int, traits: bool = False, shard: int = 300, **how: float) -> Path:
    with Writer(folder, about(traits), shard) as writer:
        writer.add(pairs_of(number, traits, **how))
    return folder
