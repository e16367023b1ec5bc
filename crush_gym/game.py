"""`Game`: the rules for one kind of level, compiled; every function is pure and works on any number of boards."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import layout
from crush_gym.engine import draws, observe, run
from crush_gym.engine.batching import native
from crush_gym.engine.plan import SPECIALS, plan
from crush_gym.engine.run import Policy, Turn
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import Books, State
from crush_gym.engine.terrain import LEAF_RANKS
from crush_gym.levels import Level, LevelPack
from crush_gym.levels.level import LEAVES
from crush_gym.levels.tokens import print_board

OUTCOMES = ("playing", "won", "lost", "ended")
"""Names of the numbers in `State.books.outcome`."""

REASONS = ("none", "goals", "moves", "time", "bomb", "stuck")
"""Names of the numbers in `State.books.reason`."""


LEVEL_RANKS = Level(name="", **{leaf: LEAF_RANKS.get(leaf, 0) for leaf in LEAVES})
"""The number of axes of each leaf of one level."""


class Stats(NamedTuple):
    """How attempts went, one entry each. won: bool; the rest int32.

    outcome, reason: see OUTCOMES, REASONS; moves: made; moves_left: -1 in timed levels
    waves: of the whole attempt; goals_left: units still missing, of all goals but score; a layer of jelly is one
    """

    won: jax.Array
    outcome: jax.Array
    reason: jax.Array
    score: jax.Array
    moves: jax.Array
    moves_left: jax.Array
    waves: jax.Array
    goals_left: jax.Array


class Game:
    """The game for one level, for a pack of levels, or for one of the simple rule sets.

    Boards' axes come last everywhere. A level may be one for all boards or, from `pack.stack`, one a board.
    """

    def __init__(
        self,
        levels: Level | LevelPack | Sequence[Level] | None = None,
        *,
        rules: str = "saga",
        shape: tuple[int, int] | None = None,
        colours: int | None = None,
        moves: int | None = None,
        goal: int | None = None,
        adjacency: str = "any",
    ) -> None:
        """Either `levels`, or `rules` "points" or "combo" with their shape, colours, moves and goal score."""
        _check_choice("rules", rules, SPECIALS)
        _check_choice("adjacency", adjacency, ("any", "runs"))
        if levels is None:
            levels = simple_level(rules, shape, colours, moves, goal)
        elif any(value is not None for value in (shape, colours, moves, goal)):
            raise ValueError("shape, colours, moves and goal describe a game without levels: give either, not both")
        known = [levels] if isinstance(levels, Level) else list(levels)
        if not known:
            raise ValueError("a game needs at least one level, but the sequence is empty")
        self.level: Level | None = known[0] if len(known) == 1 else None
        self.spec: Spec = plan(known, rules, adjacency)

    @property
    def actions(self) -> int:
        """Number of actions (rulebook 3)."""
        return self.spec.actions

    @property
    def channels(self) -> tuple[str, ...]:
        """What the planes of `observe` show, in their order."""
        return observe.channels(self.spec)

    def accepts(self, level: Level) -> bool:
        """Whether the level can be played in this game without a new compilation."""
        return _covers(self.spec, plan([level], self.spec.rules, self.spec.adjacency))

    def reset(self, key: jax.Array, level: Level | None = None) -> State:
        """New attempts. key: one key, or keys[*boards]; a batch of levels with one key splits it by lane."""
        level = self._level(level)
        boards = _boards_of(level)
        return _compiled(self.spec, "reset")(_bits(key, boards), level)

    def legal(self, state: State, level: Level | None = None) -> jax.Array:
        """bool[actions, *boards]; all False on a finished board."""
        del level
        return _compiled(self.spec, "legal")(state)

    def step(
        self, key: jax.Array, state: State, action: jax.Array, level: Level | None = None
    ) -> tuple[State, Turn]:
        """One turn. key: the move's key, or keys[*boards]; one key for many boards is split by lane."""
        level = self._level(level)
        bits = _bits(key, state.planes.shape[2:])
        return _compiled(self.spec, "step")(bits, state, jnp.asarray(action, jnp.int32), level)

    def rollout(
        self,
        key: jax.Array,
        state: State | None = None,
        level: Level | None = None,
        policy: str | Policy = "random",
        attempts: int | None = None,
    ) -> tuple[State, Stats]:
        """Play attempts to their ends."""
        del attempts
        level = self._level(level)
        if state is None:
            state = self.reset(key, level)
        bits = _bits(key, state.planes.shape[2:])
        chosen = None if policy == "random" else policy
        final = _compiled(self.spec, "playout", chosen)(bits, state, level)
        return final, stats_of(self.spec, final, level)

    def observe(self, state: State, level: Level | None = None) -> jax.Array:
        """uint8[channels, H, W, *boards]; see `channels`."""
        return _compiled(self.spec, "observe")(state, self._level(level))

    def text(self, state: State, level: Level | None = None) -> list[Any]:
        """Rows of rulebook tokens: list[str], or for a batch a list of those, nested as the boards are."""
        level, state = jax.device_get((self._level(level), state))
        return self._text(state.planes, level)

    def _text(self, planes: np.ndarray, level: Level) -> list[Any]:
        """planes: uint16[planes, H, *boards]."""
        if planes.ndim == 2:
            return self._rows(planes, level)
        several = np.ndim(level.height) > 0
        return [
            self._text(planes[:, :, i], jax.tree.map(lambda x, r: _nth_board(x, r, i), level, LEVEL_RANKS) if several else level)
            for i in range(planes.shape[2])
        ]

    def _rows(self, planes: np.ndarray, level: Level) -> list[str]:
        named = {name: planes[i] for i, name in enumerate(self.spec.planes)}
        return print_board(named, level.floor, int(level.height), int(level.width))

    def _level(self, level: Level | None) -> Level:
        if level is not None:
            return level
        if self.level is None:
            raise ValueError("this game was made from several levels: say which one is played (`level=`)")
        return self.level


def simple_level(
    rules: str, shape: tuple[int, int] | None, colours: int | None, moves: int | None, goal: int | None
) -> Level:
    """The level of a rule set that has no level files (rulebook 12)."""
    defaults = {"points": ((9, 9), 6, 20), "combo": ((9, 9), 5, 50)}
    if rules not in defaults:
        raise ValueError('rules "saga" are played on levels: give a Level or a LevelPack')
    default_shape, default_colours, default_moves = defaults[rules]
    height, width = shape or default_shape
    return Level.from_dict({
        "name": rules,
        "colours": colours if colours is not None else default_colours,
        "moves": moves if moves is not None else default_moves,
        "goals": {} if goal is None else {"score": goal},
        "board": [" ".join("?" * width)] * height,
    })


def stats_of(spec: Spec, state: State, level: Level) -> Stats:
    """How the attempts that ended in these states went."""
    books: Books = state.books
    jelly = jnp.zeros_like(books.score)
    if spec.has("jelly"):
        rows = [state.planes[spec.planes.index(name)] for name in layout.JELLY]
        jelly = sum(jax.lax.population_count(row).astype(jnp.int32).sum(0) for row in rows)
    asked = jnp.asarray(level.goal_jelly)
    left = books.cherry + books.hazelnut + books.orders.sum(0) + jnp.where(asked, jelly, 0)
    timed = jnp.asarray(level.seconds) > 0
    return Stats(
        won=books.outcome == OUTCOMES.index("won"),
        outcome=books.outcome,
        reason=books.reason,
        score=books.score,
        moves=books.made,
        moves_left=jnp.where(timed, -1, books.moves),
        waves=books.waves,
        goals_left=left,
    )


@functools.lru_cache(maxsize=256)
def _compiled(spec: Spec, name: str, policy: Policy | None = None) -> Callable[..., Any]:
    """One of the game's programs, for any arrangement of boards."""
    state = State(2, Books(**{field: 1 if field in _STACKED else 0 for field in Books._fields}))
    level, bits, action = LEVEL_RANKS, 1, 0
    programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[bool, ...]]] = {
        "reset": (run.reset, (bits, level), (False, True)),
        "legal": (run.legal, (state,), (False,)),
        "step": (run.step, (bits, state, action, level), (False, False, False, True)),
        "observe": (observe.observe, (state, level), (False, True)),
        "playout": (functools.partial(run.playout, policy=policy), (bits, state, level), (False, False, True)),
    }
    f, ranks, optional = programs[name]
    return jax.jit(native(functools.partial(f, spec), ranks, optional))


_STACKED = ("orders", "spawned", "last_spawn")


def _bits(key: jax.Array, boards: tuple[int, ...]) -> jax.Array:
    """The words of the boards' keys, uint32[2, *boards]."""
    key = _typed(key)
    if key.shape == () and boards != ():
        key = jax.random.split(key, boards)
    return draws.key_bits(key)


def _typed(key: jax.Array) -> jax.Array:
    """A threefry key, new or old style."""
    key = jnp.asarray(key) if not isinstance(key, jax.Array) else key
    if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        if key.dtype != jnp.uint32 or key.shape[-1:] != (2,):
            raise TypeError(f"a key is expected, such as jax.random.key(0), but this is {key.dtype}{list(key.shape)}")
        return jax.random.wrap_key_data(key, impl="threefry2x32")
    if str(jax.random.key_impl(key)) not in ("threefry2x32", "fry"):
        raise TypeError(f"keys must be of JAX's default kind, threefry2x32, not {jax.random.key_impl(key)}")
    return key


def _boards_of(level: Level) -> tuple[int, ...]:
    return tuple(np.shape(level.height))


def _nth_board(x: np.ndarray, rank: int, i: int) -> np.ndarray:
    """Board i of the first boards' axis of a level's leaf."""
    return np.take(x, i, axis=rank)


def _check_choice(name: str, value: object, choices: Any) -> None:
    if value not in tuple(choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def _covers(wide: Spec, narrow: Spec) -> bool:
    """Whether everything in the narrow spec fits into the wide one."""
    sizes = ("height", "width", "colours", "spawn_kinds", "entry_layers", "portals", "portal_layers", "portal_hops")
    return (
        narrow.mechanics <= wide.mechanics
        and set(narrow.orders) <= set(wide.orders)
        and all(getattr(narrow, size) <= getattr(wide, size) for size in sizes)
    )
