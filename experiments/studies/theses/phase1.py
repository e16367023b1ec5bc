"""Phase 1 of the theses: how large the levels' state spaces are, what search trees look like, where the time goes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from agents.mcts import Mcts
from agents.search import drawing
from crush_gym import OUTCOMES, Game, LevelPack
from crush_gym.keys import move_key, player_key
from experiments.results.assignment import Task, attempt_key, tasks_of
from experiments.studies.setting import Setting
from experiments.studies.theses import paper

BOT = Mcts(signal="binary")
PLAYING = OUTCOMES.index("playing")


@dataclass(frozen=True)
class Plan:
    """random: attempts at random on each level; attempts: of the searching bot; boards: of the timed searches."""

    random: int
    attempts: int
    boards: int


FULL = Plan(paper.RANDOM_ATTEMPTS, paper.ATTEMPTS, paper.ATTEMPTS)
QUICK = Plan(1000, 40, 40)


@dataclass(frozen=True)
class Space:
    """Of random attempts. actions: legal moves of a position; depth: moves of an attempt; cleared: cells of a move;
    won: share; digits: log10 of the product of the legal moves and K = colours ^ cleared of every move."""

    actions: float
    depth: float
    cleared: float
    won: float
    digits: float


@dataclass
class Measured:
    """trees: SVG by C; search, playouts: seconds of a simulation, and of a bare playout, at each move of level 13."""

    plan: Plan
    spaces: dict[str, Space] = field(default_factory=dict)
    trees: dict[float, str] = field(default_factory=dict)
    search: list[float] = field(default_factory=list)
    playouts: list[float] = field(default_factory=list)
    won: int = 0


def measured(setting: Setting) -> Measured:
    """Measure what phase 1 measured."""
    found = Measured(QUICK if setting.quick else FULL)
    for number in paper.LEVELS:
        found.spaces[number] = space(task_of(number), found.plan.random, setting.seed)
    task = task_of("13")
    for exploration in (0.6, 0.1):
        found.trees[exploration] = drawn(task, exploration, setting.seed)
    found.search, found.playouts = timed(task, found.plan.boards, setting.seed)
    rows = setting.play([BOT.name], task, found.plan.attempts)
    found.won = sum(row.won for row in rows[BOT.name])
    return found


def task_of(number: str) -> Task:
    """A look-alike level."""
    return tasks_of(f"thesis/look-alike {number}")[0]


def _keys(task: Task, attempts: int, seed: int) -> jax.Array:
    return jax.vmap(lambda n: attempt_key(seed, task.identity, n))(np.arange(attempts))


def space(task: Task, attempts: int, seed: int) -> Space:
    """Play at random, counting moves and cleared cells."""
    game, level = Game(task.level), LevelPack([task.level]).stack(np.zeros(attempts, int))
    keys = _keys(task, attempts, seed)
    state = game.reset(keys, level)
    legal, cleared = np.zeros(attempts), np.zeros(attempts)
    digits = np.zeros(attempts)
    while (playing := np.asarray(state.books.outcome) == PLAYING).any():
        number = np.asarray(game.legal(state, level)).sum(0)
        move_keys = move_key(keys, state.books.made)
        state, turn = game.step(move_keys, state, game.random_action(move_keys, state), level)
        legal += np.where(playing, number, 0)
        cleared += np.where(playing, np.asarray(turn.cleared), 0)
        digits += np.where(playing, np.log10(np.maximum(number, 1)), 0)
    made = np.asarray(state.books.made)
    per_move = cleared.sum() / made.sum()
    colours = int(task.level.colours)
    return Space(
        actions=legal.sum() / made.sum(),
        depth=float(made.mean()),
        cleared=per_move,
        won=float((np.asarray(state.books.outcome) == OUTCOMES.index("won")).mean()),
        digits=float((digits + made * per_move * math.log10(colours)).mean()),
    )


def drawn(task: Task, exploration: float, seed: int) -> str:
    """The search from the opening of one attempt, drawn; the same opening for every C."""
    game = Game(task.level)
    searcher = Mcts(exploration=exploration).searcher(game)
    keys = _keys(task, 1, seed)
    state = game.reset(keys)
    own = player_key(keys)
    found = searcher.search(own, searcher.start((), own, state, task.level), state, task.level)
    return drawing.svg(found.tree, 0, f"{task.name}, 100 simulations, C = {exploration:g}")


def timed(task: Task, boards: int, seed: int) -> tuple[list[float], list[float]]:
    """Seconds of a simulation at every move, and of a playout without a tree from the same positions."""
    game, level = Game(task.level), task.level
    policy = BOT.bind(game)
    keys = _keys(task, boards, seed)
    state = game.reset(keys)
    memory = game.start(policy, player_key(keys), state, level)
    search, playouts = [], []
    _finished(game.act(policy, player_key(keys), memory, state, level))  # compiled before it is timed
    _finished(game.rollout(keys, state, level))
    while (playing := int((np.asarray(state.books.outcome) == PLAYING).sum())) > boards // 2:
        move_keys = move_key(keys, state.books.made)
        own = player_key(move_keys)
        seconds, (action, memory) = _stopped(lambda k=own, m=memory, s=state: game.act(policy, k, m, s, level))
        search.append(seconds / (playing * BOT.simulations))
        repeats = 10
        bare = [_stopped(lambda k=move_keys, s=state: game.rollout(k, s, level))[0] for _ in range(repeats)]
        playouts.append(sum(bare) / (playing * repeats))
        state, _ = game.step(move_keys, state, action, level)
    return search, playouts


def _stopped(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = _finished(work())
    return time.perf_counter() - start, result


def _finished(tree: Any) -> Any:
    return jax.tree.map(lambda x: x.block_until_ready() if isinstance(x, jax.Array) else x, tree)
