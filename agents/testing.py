"""`check_agent`: whether a player keeps what the protocol promises, for strangers' tests as for ours."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agents.attempts import PolicyError, play
from agents.protocol import Agent, Memory, Policy, bound
from crush_gym import OUTCOMES, Game, Level, State, Stats
from crush_gym.keys import move_key, player_key

__all__ = ["AgentCheckError", "check_agent"]

ATTEMPTS = 6
"""Attempts that are played in each way."""


class AgentCheckError(AssertionError):
    """A player that breaks the protocol; the sentence says where."""


def check_agent(agent: Agent, game: Game | None = None, seed: int = 0, traits: Any = None) -> Stats:
    """Play a player in several ways that must give the same, and refuse it in one sentence where they do not.

    Whether it has a name and binds; names legal moves; depends on its keys alone, neither on the boards beside it nor
    on how many there are; gives back a memory of one kind; and, if it says that it is traceable, plays within
    `Game.rollout` as it does move by move.

    Args:
        agent: the player; it needs no game of its own.
        game: a game with one level to play; by default, a small one of rules "combo".
        seed: of the attempts' keys.
        traits: for its start, leaves ending in an axis of ATTEMPTS.

    Returns:
        How the attempts went, stats[ATTEMPTS].
    """
    game = game or Game(rules="combo", shape=(5, 5), colours=4, moves=6)
    if game.level is None:
        raise AgentCheckError("the game must have one level, which is played")
    if not isinstance(agent, Agent) or not isinstance(agent.name, str) or not agent.name:
        raise AgentCheckError("an agent has a `name`, which is a text that is not empty, and `bind`")
    policy, keys = bound(agent, game), jax.random.split(jax.random.key(seed), ATTEMPTS)
    by_hand = _by_hand(policy, game, keys, traits)
    _same(by_hand, _by_hand(policy, game, keys, traits), "again with the same keys: what it draws must come from them")
    order = np.arange(ATTEMPTS)[::-1]
    turned = _by_hand(policy, game, keys[order], _at(traits, order))
    _same(by_hand, _at(turned, order), "with its boards in another order: each must be played for itself")
    alone = [_by_hand(policy, game, keys[n : n + 1], _at(traits, slice(n, n + 1))) for n in (0, ATTEMPTS - 1)]
    ends = _at(by_hand, np.array([0, ATTEMPTS - 1]))
    joined = jax.tree.map(lambda *x: np.concatenate(x), *alone)
    _same(ends, joined, "on one board alone: it may not depend on how many there are")
    _same(by_hand, _harness(policy, game, keys, traits), f"by the harness ({_way(policy)})")
    return by_hand


def _way(policy: Policy) -> str:
    return "within Game.rollout" if policy.traceable else "move by move"


def _harness(policy: Policy, game: Game, keys: jax.Array, traits: Any) -> Stats:
    assert game.level is not None
    try:
        return play(policy, game, keys, game.level, traits=traits)
    except PolicyError as error:
        raise AgentCheckError(str(error)) from None


def _by_hand(policy: Policy, game: Game, keys: jax.Array, traits: Any) -> Stats:
    """Attempts as a loop over `start`, `act` and `step`, all boards in lockstep."""
    level = game.level
    assert level is not None
    state = game.reset(keys, level)
    memory = game.start(policy, player_key(keys), state, level, traits)
    kind = _kind(memory)
    while (playing := np.asarray(state.books.outcome) == OUTCOMES.index("playing")).any():
        moves = move_key(keys, state.books.made)
        action, memory = _chosen(policy, game, moves, memory, state, level)
        if _kind(memory) != kind:
            raise AgentCheckError(f"its memory changes its kind from move to move: {kind}, then {_kind(memory)}")
        wrong = np.flatnonzero(playing & ~_legal(game, state, action))
        if wrong.size:
            raise AgentCheckError(f"it named action {action[wrong[0]]}, which is not legal there (see game.legal)")
        state, _ = game.step(moves, state, action, level)
    stats: Stats = jax.tree.map(np.asarray, game.stats(state, level))
    return stats


def _chosen(
    policy: Policy, game: Game, moves: jax.Array, memory: Memory, state: State, level: Level
) -> tuple[np.ndarray[Any, Any], Memory]:
    """Its moves; the engine's own random player draws with the moves' own keys in a rollout, and so it does here."""
    if game.is_random(policy):
        return np.asarray(game.random_action(moves, state)), memory
    action, memory = game.act(policy, player_key(moves), memory, state, level)
    known = np.asarray(action)
    if known.shape != moves.shape or not np.issubdtype(known.dtype, np.integer):
        raise AgentCheckError(f"it gave {known.dtype}{list(known.shape)} as actions, expected int32{list(moves.shape)}")
    return known, memory


def _legal(game: Game, state: State, action: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    mask = np.asarray(game.legal(state))
    known = (action >= 0) & (action < game.actions)
    return known & mask[np.where(known, action, 0), np.arange(len(action))]


def _kind(memory: Memory) -> Any:
    leaves, tree = jax.tree.flatten(memory)
    return str(tree), [(np.shape(x), str(getattr(x, "dtype", type(x)))) for x in leaves]


def _at(tree: Any, which: Any) -> Any:
    return jax.tree.map(lambda x: jnp.asarray(x)[..., which], tree)


def _same(one: Stats, other: Stats, when: str) -> None:
    for name, a, b in zip(Stats._fields, one, other, strict=True):
        if not np.array_equal(np.asarray(a), np.asarray(b)):
            raise AgentCheckError(f"it plays otherwise {when}; {name} is {list(map(int, b))}, not {list(map(int, a))}")
