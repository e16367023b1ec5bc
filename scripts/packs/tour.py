"""The tour: drawn levels, their limits by rollouts, and for each an attempt that wins it."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from crush_gym.game import OUTCOMES, Game
from crush_gym.generator import Trials, calibrate, play
from crush_gym.generator.trials import only_score
from crush_gym.keys import move_key, player_key
from crush_gym.levels import Level, LevelPack
from scripts.packs import tour_first, tour_second
from scripts.packs.files import write_pack, write_record

ATTEMPTS = 176
EASIEST, HARDEST = 0.95, 0.3
"""Success of the heuristic player at the first level and at the last."""


def make() -> None:
    """Write the pack and the record of its wins."""
    drawn = [drawing.level() for drawing in (*tour_first.LEVELS, *tour_second.LEVELS)]
    game = Game(drawn)
    wanted = np.linspace(EASIEST, HARDEST, len(drawn)).tolist()
    levels, _ = calibrate(drawn, wanted, ATTEMPTS, game=game)
    trials = play(levels, range(ATTEMPTS), game=game)
    by_chance = play(levels, range(ATTEMPTS), "random", game=game)
    levels = [_with_stars(level, trials.won[i], trials.score[i]) for i, level in enumerate(levels)]
    seeds = np.argmax(np.where(trials.won, trials.score, -1), axis=1)
    wins = [
        {
            "level": level.name,
            "seed": int(seeds[i]),
            "heuristic": round(float(trials.won[i].mean()), 3),
            "random": round(float(by_chance.won[i].mean()), 3),
            "actions": actions,
        }
        for i, (level, actions) in enumerate(zip(levels, actions_of(game, levels, seeds), strict=True))
    ]
    pack = LevelPack(levels, "tour")
    write_pack(pack)
    about = {"pack": "tour", "hash": pack.content_hash(), "shape": [game.spec.height, game.spec.width]}
    write_record("tour", about | {"attempts": ATTEMPTS, "first_seed": 0, "wins": wins})
    _report(levels, wanted, trials)


def actions_of(game: Game, levels: list[Level], seeds: NDArray[Any]) -> list[list[int]]:
    """What the heuristic player did in the attempt with this seed at each level; checked to win."""
    stack = LevelPack([dataclasses.replace(level, name="") for level in levels]).stack(np.arange(len(levels)))
    keys = jax.vmap(jax.random.key)(jnp.asarray(seeds, jnp.uint32))
    state = game.reset(keys, stack)
    actions: list[list[int]] = [[] for _ in levels]
    move = 0
    while (playing := np.asarray(state.books.outcome) == 0).any():
        move_keys = move_key(keys, move)
        chosen = np.asarray(game.choose("heuristic", player_key(move_keys), state, stack))
        for lane in np.flatnonzero(playing):
            actions[lane].append(int(chosen[lane]))
        state, _ = game.step(move_keys, state, jnp.asarray(chosen), stack)
        move += 1
    lost = [levels[i].name for i in np.flatnonzero(np.asarray(state.books.outcome) != OUTCOMES.index("won"))]
    if lost:
        raise RuntimeError(f"replayed attempts do not win {', '.join(lost)}")
    return actions


def _with_stars(level: Level, won: NDArray[np.bool_], score: NDArray[np.int32]) -> Level:
    """One, two and three stars: what nine tenths, half and a tenth of the won attempts score."""
    scores = score[won]
    stars = [max(100, int(np.quantile(scores, share)) // 100 * 100) for share in (0.1, 0.5, 0.9)]
    if only_score(level):
        stars = [int(level.goal_score), *(max(star, int(level.goal_score)) for star in stars[1:])]
    return dataclasses.replace(level, stars=np.array(stars, np.int32))


def _report(levels: list[Level], wanted: list[float], trials: Trials) -> None:
    for i, level in enumerate(levels):
        limit = f"{level.moves} moves" if level.moves > 0 else f"{level.seconds} s"
        share = trials.won[i].mean()
        print(f"{level.name:20} {limit:9} score {int(level.goal_score):6} wanted {wanted[i]:.2f} heuristic {share:.2f}")
