"""The thesis pack: three look-alikes, and generated levels for the theses' third and fourth phases."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym.game import OUTCOMES, Game
from crush_gym.keys import move_key
from crush_gym.levels import Level, LevelPack, load_pack
from scripts.packs import lookalikes
from scripts.packs.files import LEVELS, write_compact, write_record

EARLY = (12, 12, 12, 12, 0, 0, 0, 0)
LATE = (0, 0, 0, 0, 13, 13, 12, 12)
"""How many levels of each family; 48 and 50 in all."""

ATTEMPTS = 10_000
LANES = 2_000


class Chance(NamedTuple):
    """What random play does at a level: the share of attempts won, and the legal moves of a position, on average."""

    won: float
    legal: float


def make() -> None:
    """Measure the look-alikes, and put them before the early and late levels that are there."""
    measured = []
    for drawing in lookalikes.LEVELS:
        chance = by_chance(drawing.level(), ATTEMPTS)
        measured.append({"level": drawing.name, "won": round(chance.won, 4), "legal": round(chance.legal, 2)})
        print(measured[-1], flush=True)
    generated = [level for level in load_pack("thesis") if "look-alike" not in level.name]
    write(generated, _record() | {"random_attempts": ATTEMPTS, "random": measured})


def write(generated: list[Level], record: dict[str, Any]) -> None:
    """Write the pack and its record; what is known of the look-alikes stays."""
    pack = LevelPack([*(drawing.level() for drawing in lookalikes.LEVELS), *generated], "thesis")
    write_compact(pack)
    write_record("thesis", _record() | record | {"hash": pack.content_hash()})


def _record() -> dict[str, Any]:
    path = LEVELS / "records" / "thesis.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return known


def by_chance(level: Level, attempts: int) -> Chance:
    """Random attempts with the keys `jax.random.key(0)`, `key(1)`, ...; every position before a move counts once."""
    game = Game(level)
    legal, fold = game.legal, move_key
    won = positions = moves = 0
    for start in range(0, attempts, LANES):
        keys = jax.vmap(jax.random.key)(jnp.arange(start, start + LANES, dtype=jnp.uint32))
        state, move = game.reset(keys), 0
        while True:
            numbers = np.asarray(legal(state)).sum(axis=0)
            if not numbers.any():
                break
            positions += int((numbers > 0).sum())
            moves += int(numbers.sum())
            move_keys = fold(keys, move)
            state, _ = game.step(move_keys, state, game.random_action(move_keys, state))
            move += 1
        won += int((np.asarray(state.books.outcome) == OUTCOMES.index("won")).sum())
    return Chance(won / attempts, moves / positions)
