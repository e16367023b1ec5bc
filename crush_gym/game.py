"""`Game`: the rules for one kind of level, compiled; every function is pure and works on any number of boards."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import checks
from crush_gym.checks import Boards, boards_of_level, boards_of_state, same_attempts, same_boards, whole_actions
from crush_gym.engine import randomness
from crush_gym.engine.plan import SPECIALS, plan
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import RESTING, Books, Play, State
from crush_gym.engine.terrain import LEAF_RANKS
from crush_gym.levels import Level, LevelPack
from crush_gym.levels.level import LEAVES
from crush_gym.levels.tokens import print_board
from crush_gym.runtime import kept, lockstep, observe, rollout, threads
from crush_gym.runtime.chunks import CHUNK
from crush_gym.runtime.lockstep import Turn
from crush_gym.runtime.memory import spare_maps
from crush_gym.runtime.rollout import Policy
from crush_gym.runtime.threads import cores
from crush_gym.runtime.vmap import boards_of, flat_boards, lanes_for, native
from crush_gym.runtime.xla import Options, alone_on_cpu, options_for, placed, untraced

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
    strayed: moves for which a policy of `rollout` named no legal action, so that the random player made them
    """

    won: jax.Array
    outcome: jax.Array
    reason: jax.Array
    score: jax.Array
    moves: jax.Array
    moves_left: jax.Array
    waves: jax.Array
    goals_left: jax.Array
    strayed: jax.Array

    @classmethod
    def of(cls, results: jax.Array) -> Stats:
        """From the engine's results, int32[len(RESULTS), *attempts]."""
        return cls(results[0] == OUTCOMES.index("won"), *results)


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
        for level in known:
            if not isinstance(level, Level) or np.ndim(level.height):
                raise TypeError(
                    f"a game is made from a Level, a LevelPack or a sequence of levels, not from {type(level).__name__}"
                    " (load_pack(name) and Level.from_dict(...) make them; a stack of levels is played, not made from)"
                )
        if not known:
            raise ValueError("a game needs at least one level, but the sequence is empty")
        self.level: Level | None = known[0] if len(known) == 1 else None
        self.spec: Spec = plan(known, rules, adjacency)
        spare_maps()

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
        return checks.first_stranger(self.spec, level.levels or (level,)) is None

    def reset(self, key: jax.Array, level: Level | None = None) -> State:
        """New attempts. key: one key, or keys[*boards]; a batch of levels with one key splits it by lane."""
        level = self._accepted(level)
        key = _typed(key)
        bits = bits_of(key, boards_of_level(level) or key.shape)
        state: State = self._call("reset", bits, level)
        return state

    def legal(self, state: State, level: Level | None = None) -> jax.Array:
        """bool[actions, *boards]; all False on a finished board. The level does not matter."""
        del level
        mask: jax.Array = self._call("legal", state)
        return mask

    def step(
        self, key: jax.Array, state: State, action: jax.Array | int, level: Level | None = None
    ) -> tuple[State, Turn]:
        """One turn. key: the move's key, or keys[*boards]; one key for many boards is split by lane."""
        level, action = self._level(level), whole_actions(action)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level), actions=action.shape)
        result: tuple[State, Turn] = self._call("step", bits, state, action, level)
        return result

    def random_action(self, key: jax.Array, state: State) -> jax.Array:
        """What the random player does with these keys: a legal action, uniformly; -1 where there is none."""
        actions: jax.Array = self._call("random_action", bits_of(key, boards_of_state(state)), state)
        return actions

    def choose(self, policy: Policy, key: jax.Array, state: State, level: Level | None = None) -> jax.Array:
        """What a policy (see `rollout`) does with these keys: int32[*boards], legal or not."""
        level = self._level(level)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level))
        actions: jax.Array = self._call("choose", bits, state, level, policy=checks.careful(policy))
        return actions

    def rollout(
        self,
        key: jax.Array,
        state: State | None = None,
        level: Level | None = None,
        policy: str | Policy = "random",
        attempts: int | None = None,
    ) -> tuple[State | None, Stats]:
        """Play attempts to their ends; no board waits for another's cascade.

        Without `attempts`, every board of `state` (or of a reset) once: its final position, and stats[*boards].
        With it, so many attempts on as many lanes as serve best, where a lane whose attempt ends takes the
        next: attempt n plays with key n of the split key, from board n modulo the boards of `state`, or from
        a new board of level n modulo the levels; no final positions, and stats[attempts].

        policy: "random", or a function (key words uint32[2, B], states, levels) -> actions int32[B].
        """
        level, player = self._accepted(level), _policy(policy)
        if attempts is not None:
            same_attempts(_typed(key).shape, attempts)
            return None, self._attempts(key, state, level, player, attempts)
        if state is None:
            state = self.reset(key, level)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level))
        final, results = self._call("playout", bits, state, level, policy=player)
        return final, Stats.of(results)

    def stats(self, state: State, level: Level | None = None) -> Stats:
        """How the attempts stand, as `rollout` reports them at their ends; stats[*boards]."""
        level = self._level(level)
        same_boards(boards_of_state(state), levels=boards_of_level(level))
        return Stats.of(self._call("results", state, level))

    def _attempts(
        self, key: jax.Array, state: State | None, level: Level, player: Policy | None, attempts: int
    ) -> Stats:
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {attempts}")
        bits = bits_of(key, (attempts,))
        if state is not None:
            state = flat_boards(state, STATE_RANKS)
        level = flat_boards(level, LEVEL_RANKS)
        program_for = functools.partial(_attempts_program, self.spec, options_for(self.spec, attempts, rollout=True))
        if not alone_on_cpu():
            return Stats.of(program_for(lanes_for(attempts), player)(0, bits, state, level))
        size = -(-attempts // min(cores(), attempts))
        program = program_for(min(lanes_for(size), LANES if player else CHUNK), player)

        def part(first: int) -> jax.Array:
            return program(first, bits[:, first : first + size], state, level)

        return Stats.of(threads.in_parts(program, part, attempts, size))

    def _call(self, name: str, *args: Any, policy: Policy | None = None) -> Any:
        """One of the game's programs; on a CPU, a large batch in blocks."""
        boards = math.prod(boards_of(args, _ranks(name)))
        options = options_for(self.spec, boards, rollout=name == "playout")
        most = {"playout": LANES, "step": BLOCK, "reset": BLOCK}.get(name)  # the rest is cheaper than its cutting up
        if most is not None and boards > most and alone_on_cpu():
            return threads.in_blocks(_compiled(self.spec, name, policy), args, _ranks(name), most, options)
        return _compiled(self.spec, name, policy, options)(*args)

    def replay(self, key: jax.Array, state: State, action: jax.Array | int, level: Level | None = None) -> list[State]:
        """The turn that `step` would play on one board, beat by beat: what stands after the swap, then after
        each beat, last the turn's end. Positions within a turn hold EMPTY cells and fused candies."""
        if boards_of_state(state):
            raise ValueError(f"replay shows one board, but the state has boards {boards_of_state(state)}")
        level, action = self._level(level), whole_actions(action)
        bits = bits_of(key, (), levels=boards_of_level(level), actions=action.shape)
        one = flat_boards(jax.tree.map(lambda x: jnp.asarray(x)[..., None], state), STATE_RANKS)
        begin, beat = _replay_programs(self.spec)
        play = begin(bits[:, None], one, action[None], level)
        frames = [play]
        while int(frames[-1].stage[0]) != RESTING:
            frames.append(beat(level, frames[-1]))
        return [jax.tree.map(lambda x: x[..., 0], lockstep.state_of(frame)) for frame in frames]

    def observe(self, state: State, level: Level | None = None) -> jax.Array:
        """uint8[channels, H, W, *boards]; see `channels`."""
        level = self._level(level)
        same_boards(boards_of_state(state), levels=boards_of_level(level))
        planes: jax.Array = self._call("observe", state, level)
        return planes

    def text(self, state: State, level: Level | None = None) -> list[Any]:
        """Rows of rulebook tokens: list[str], or for a batch a list of those, nested as the boards are."""
        planes, level = np.asarray(state.planes), jax.tree.map(np.asarray, self._level(level))
        boards = same_boards(boards_of_state(state), levels=boards_of_level(level))
        return self._text(np.broadcast_to(planes, (*planes.shape[:2], *boards)), level)

    def _text(self, planes: np.ndarray, level: Level) -> list[Any]:
        """planes: uint16[planes, H, *boards]."""
        if planes.ndim == 2:
            return self._rows(planes, level)
        shared = np.ndim(level.height) == 0
        return [self._text(planes[:, :, i], level if shared else _nth_board(level, i)) for i in range(planes.shape[2])]

    def _rows(self, planes: np.ndarray, level: Level) -> list[str]:
        named = {name: planes[i] for i, name in enumerate(self.spec.planes)}
        return print_board(named, level.floor, int(level.height), int(level.width))

    def _accepted(self, level: Level | None) -> Level:
        """The level meant, refused where this game was compiled without what it needs."""
        if level is not None and level is not self.level:
            checks.check_kind(self.spec, checks.one_level(level))
        return self._level(level)

    def _level(self, level: Level | None) -> Level:
        if level is not None and level is not self.level:
            return checks.one_level(level)
        if self.level is None:
            raise ValueError("this game was made from several levels: say which one is played (`level=`)")
        return self._placed if untraced() else self.level

    @functools.cached_property
    def _placed(self) -> Level:
        """The game's own level on the device, where no call has to bring it."""
        level: Level = placed(self.level)
        return level


def simple_level(
    rules: str, shape: tuple[int, int] | None, colours: int | None, moves: int | None, goal: int | None
) -> Level:
    """The level of a rule set that has no level files (rulebook 12)."""
    defaults = {"points": ((9, 9), 6, 20), "combo": ((9, 9), 5, 50)}
    if rules not in defaults:
        raise ValueError('rules "saga" are played on levels: give a Level or a LevelPack')
    default_shape, default_colours, default_moves = defaults[rules]
    height, width = default_shape if shape is None else checks.sides(shape)
    return Level.from_dict(
        {
            "name": rules,
            "colours": colours if colours is not None else default_colours,
            "moves": moves if moves is not None else default_moves,
            "goals": {} if goal is None else {"score": goal},
            "board": [" ".join("?" * width)] * height,
        }
    )


LANES = 640
"""Boards that a CPU core plays at a time: few enough for its caches, enough to hide the cost of an operation."""

BLOCK = 2112
"""Boards of one lockstep call on a CPU core."""

_STACKED = ("orders", "spawned", "last_spawn")
STATE_RANKS: Any = State._make([2, Books._make(1 if field in _STACKED else 0 for field in Books._fields)])
"""The number of axes of each leaf of one board's state."""


_PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "reset": (lockstep.reset, (1, LEVEL_RANKS)),
    "legal": (lockstep.legal, (STATE_RANKS,)),
    "random_action": (lockstep.random_action, (1, STATE_RANKS)),
    "step": (lockstep.step, (1, STATE_RANKS, 0, LEVEL_RANKS)),
    "observe": (observe.observe, (STATE_RANKS, LEVEL_RANKS)),
    "playout": (rollout.playout, (1, STATE_RANKS, LEVEL_RANKS)),
    "results": (rollout.results, (STATE_RANKS, LEVEL_RANKS)),
    "choose": (rollout.choose, (1, STATE_RANKS, LEVEL_RANKS)),
}
"""The game's programs, and the ranks of their arguments: keys' words, states, actions, levels."""


def _ranks(name: str) -> tuple[Any, ...]:
    return _PROGRAMS[name][1]


@functools.lru_cache(maxsize=256)
def _compiled(spec: Spec, name: str, policy: Policy | None = None, options: Options = ()) -> Callable[..., Any]:
    """One of the game's programs, for any arrangement of boards."""
    f, ranks = _PROGRAMS[name]
    f = functools.partial(f, spec, **({"policy": policy} if name in ("playout", "choose") else {}))
    return kept.program(native(f, ranks, tuple(r is LEVEL_RANKS for r in ranks)), options)


@functools.lru_cache(maxsize=256)
def _attempts_program(spec: Spec, options: Options, lanes: int, policy: Policy | None) -> Callable[..., jax.Array]:
    return kept.program(functools.partial(rollout.many_attempts, spec, lanes, policy), options)


@functools.lru_cache(maxsize=64)
def _replay_programs(spec: Spec) -> tuple[Callable[..., Play], Callable[..., Play]]:
    begin, beat = (functools.partial(part, spec) for part in (lockstep.replay_begin, lockstep.replay_beat))
    return kept.program(begin, options_for(spec, 1)), kept.program(beat, options_for(spec, 1))


def _policy(policy: str | Policy) -> Policy | None:
    """The engine's policy: None for the random player, which it knows itself."""
    if policy == "random":
        return None
    if callable(policy):
        return checks.careful(policy)
    raise ValueError(f'policy must be "random" or a function of (keys, states, levels), not {policy!r}')


def bits_of(key: jax.Array, boards: Boards, **given: Boards) -> jax.Array:
    """The words of the boards' keys, uint32[2, *boards], where the keys and all else that is given fit the boards."""
    key = _typed(key)
    same_boards(boards, keys=key.shape, **given)
    if key.shape == () and boards != ():
        key = jax.random.split(key, boards)
    return _words(key)


_words = jax.jit(randomness.key_bits)
"""One program, where the operations by themselves take several calls."""


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


def _nth_board(level: Level, i: int) -> Level:
    """Board i of the first boards' axis; of an axis of size 1, its only one."""
    one: Level = jax.tree.map(lambda x, rank: np.take(x, i, axis=rank, mode="clip"), level, LEVEL_RANKS)
    return one


def _check_choice(name: str, value: object, choices: Any) -> None:
    if value not in tuple(choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
