"""`Game`: the rules for one kind of level, compiled; every function is pure and works on any number of boards."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from crush_gym import checks, policies, sizes
from crush_gym.checks import Boards, same_attempts, same_boards, whole_actions
from crush_gym.engine import named, randomness
from crush_gym.engine.covering import covering
from crush_gym.engine.plan import SPECIALS, plan
from crush_gym.engine.progress import goal_names
from crush_gym.engine.spec import CAPACITIES, Spec
from crush_gym.engine.state import State
from crush_gym.levels import Level, LevelPack
from crush_gym.levels.tokens import print_board
from crush_gym.levels.values import did_you_mean
from crush_gym.policies import Function, Memory, Policy, Traits
from crush_gym.runtime import devices as spread
from crush_gym.runtime import kept, lockstep, observe, parts, preview, replay, rollout
from crush_gym.runtime.devices import Devices
from crush_gym.runtime.lockstep import Turn
from crush_gym.runtime.memory import spare_maps
from crush_gym.runtime.preview import Preview
from crush_gym.runtime.ranks import LEVEL_RANKS, STATE_RANKS, boards_of_level, boards_of_state
from crush_gym.runtime.replay import Motion
from crush_gym.runtime.rollout import Player
from crush_gym.runtime.threads import cores
from crush_gym.runtime.vmap import COMMON, OWN, SHARED, boards_of, flat_boards, lanes_for, native
from crush_gym.runtime.xla import Options, alone_on_cpu, options_for, placed, untraced

OUTCOMES = ("playing", "won", "lost", "ended")
"""Names of the numbers in `State.books.outcome`."""

REASONS = ("none", "goals", "moves", "time", "bomb", "stuck")
"""Names of the numbers in `State.books.reason`."""


class Stats(NamedTuple):
    """How attempts went, one entry each. won: bool; the rest int32.

    outcome, reason: see OUTCOMES, REASONS; moves: made; moves_left: -1 in timed levels
    waves: of the whole attempt; goals_left: units still missing, of all goals but score; a layer of jelly is one
    strayed: moves for which a policy of `rollout` named no legal action, so that the random player made them
    shuffles: how often candies changed places because no move was legal, before the first move included
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
    shuffles: jax.Array

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
        known = checks.single_levels(levels)
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
    def shape(self) -> tuple[int, int]:
        """(height, width) of the largest board, on which actions are numbered; see `crush_gym.swaps`."""
        return self.spec.height, self.spec.width

    @property
    def channels(self) -> tuple[str, ...]:
        """What the planes of `observe` show, in their order."""
        return observe.channels(self.spec)

    @property
    def goals(self) -> tuple[str, ...]:
        """What the game's levels can ask for, in the order of `preview`'s goals."""
        return goal_names(self.spec)

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

    def step(self, key: jax.Array, state: State, action: ArrayLike, level: Level | None = None) -> tuple[State, Turn]:
        """One turn. key: the move's key, or keys[*boards]; one key for many boards is split by lane."""
        level, action = self._level(level), whole_actions(action)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level), actions=action.shape)
        result: tuple[State, Turn] = self._call("step", bits, state, action, level)
        return result

    def random_action(self, key: jax.Array, state: State) -> jax.Array:
        """What the random player does with these keys: a legal action, uniformly; -1 where there is none."""
        actions: jax.Array = self._call("random_action", bits_of(key, boards_of_state(state)), state)
        return actions

    def legal_action(
        self, key: jax.Array, state: State, action: ArrayLike, level: Level | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """What becomes of the actions that players name: the same, or, for an illegal one, the random player's move.

        Args:
            key: the moves' keys, or one that is split by lane.
            action: int[*boards].

        Returns:
            The actions, int32[*boards], -1 where nothing is legal; and where one was replaced, bool[*boards].
        """
        del level
        action = whole_actions(action)
        bits = bits_of(key, boards_of_state(state), actions=action.shape)
        result: tuple[jax.Array, jax.Array] = self._call("legal_action", bits, state, action)
        return result

    def start(
        self,
        policy: str | Policy | Function,
        key: jax.Array,
        state: State,
        level: Level | None = None,
        traits: Traits = None,
    ) -> Memory:
        """What a player remembers at the start of attempts; leaves end in the boards' axes.

        Args:
            policy: see `rollout`.
            key: the player's, `player_key` of the attempts' keys[*boards].
            traits: for the player's `start`, where it takes some; leaves end in the boards' axes.
        """
        player, level = self.player(policy), self._level(level)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level))
        if not player.traceable:
            return player.start(player.params, key, state, level, *_given(traits))
        return self._play("start", player, bits, state, level, *_given(traits))

    def act(
        self, policy: str | Policy | Function, key: jax.Array, memory: Memory, state: State, level: Level | None = None
    ) -> tuple[jax.Array, Memory]:
        """What a player does: (actions int32[*boards], legal or not, memory).

        Args:
            policy: see `rollout`.
            key: the player's, `player_key` of the moves' keys[*boards].
            memory: what `start` or the last `act` gave.
        """
        player, level = self.player(policy), self._level(level)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level))
        if not player.traceable:
            return player.act(player.params, key, memory, state, level)
        result: tuple[jax.Array, Memory] = self._play("act", player, bits, memory, state, level)
        return result

    def choose(
        self, policy: str | Policy | Function, key: jax.Array, state: State, level: Level | None = None
    ) -> jax.Array:
        """What a player without a memory does with these keys, its own: int32[*boards], legal or not."""
        return self.act(policy, key, (), state, level)[0]

    def player(self, policy: str | Policy | Function) -> Policy:
        """The player meant by a name of `crush_gym.policies.NAMES`, a policy of this game, or a function."""
        if isinstance(policy, str) and policy in policies.NAMES:
            return policies.NAMES[policy](self)
        if isinstance(policy, Policy):
            return policy
        if callable(policy):
            return policies.of_function(policy)
        known = ", ".join(map(repr, policies.NAMES))
        raise ValueError(
            f"policy must be one of {known}, a Policy, or a function of (keys, states, levels), not {policy!r}"
        )

    @overload
    def rollout(
        self,
        key: jax.Array,
        state: State | None = None,
        level: Level | None = None,
        policy: str | Policy | Function = "random",
        attempts: int | None = None,
        traits: Traits = None,
        *,
        devices: Sequence[jax.Device] | None = None,
    ) -> tuple[State | None, Stats]: ...
    @overload
    def rollout(
        self,
        key: jax.Array,
        state: State | None = None,
        level: Level | None = None,
        policy: str | Policy | Function = "random",
        attempts: int | None = None,
        traits: Traits = None,
        *,
        memories: Literal[True],
        devices: Sequence[jax.Device] | None = None,
    ) -> tuple[State | None, Stats, Memory]: ...
    def rollout(
        self,
        key: jax.Array,
        state: State | None = None,
        level: Level | None = None,
        policy: str | Policy | Function = "random",
        attempts: int | None = None,
        traits: Traits = None,
        *,
        memories: bool = False,
        devices: Sequence[jax.Device] | None = None,
    ) -> tuple[State | None, Stats] | tuple[State | None, Stats, Memory]:
        """Play attempts to their ends; no board waits for another's cascade.

        Without `attempts`, every board of `state` (or of a reset) once: its final position, and stats[*boards].
        With it, so many attempts on as many lanes as serve best, where a lane whose attempt ends takes the
        next: attempt n plays with key n of the split key, from board n modulo the boards of `state`, or from
        a new board of level n modulo the levels; no final positions, and stats[attempts].

        Args:
            policy: a name of `crush_gym.policies.NAMES`; a `crush_gym.policies.Policy` in pure JAX; or a function
                (words of the player's keys uint32[2, B], states, levels) -> actions int32[B].
            traits: for the player's `start`: a tree whose leaves end in the attempts' (or boards') axis.
            memories: with `attempts`, also return what the player remembered of each attempt when it was over: leaves
                that end in the attempts' axis. The random player remembers nothing.
            devices: that attempts, or boards, are split over evenly, such as `jax.devices()`. Every attempt is the
                same, wherever it is played.
        """
        level, player, split = self._accepted(level), self.player(policy), spread.chosen(devices)
        if not player.traceable:
            raise TypeError(
                "this player is asked move by move and cannot play within a rollout: "
                "agents.attempts.play plays whole attempts of any player"
            )
        if attempts is not None:
            same_attempts(_typed(key).shape, attempts)
            stats, remembered = self._attempts(key, state, level, player, attempts, traits, memories, split)
            return (None, stats, remembered) if memories else (None, stats)
        if memories:
            raise ValueError("memories are kept of attempts: say how many (`attempts=`)")
        if state is None:
            state = self.reset(key, level)
        bits = bits_of(key, boards_of_state(state), levels=boards_of_level(level))
        if split:
            final, results = self._split_playout(player, split, bits, state, level, *_given(traits))
        else:
            final, results = self._play("playout", player, bits, state, level, *_given(traits))
        return final, Stats.of(results)

    def stats(self, state: State, level: Level | None = None) -> Stats:
        """How the attempts stand, as `rollout` reports them at their ends; stats[*boards]."""
        level = self._level(level)
        same_boards(boards_of_state(state), levels=boards_of_level(level))
        return Stats.of(self._call("results", state, level))

    def _attempts(
        self,
        key: jax.Array,
        state: State | None,
        level: Level,
        policy: Policy,
        attempts: int,
        traits: Traits,
        remember: bool,
        devices: Devices,
    ) -> tuple[Stats, Memory]:
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {attempts}")
        bits = bits_of(key, (attempts,))
        if state is not None:
            state = flat_boards(state, STATE_RANKS)
        level, player = flat_boards(level, LEVEL_RANKS), self._functions(policy)
        if traits is not None:
            _check_traits(traits, attempts)
        program_for = functools.partial(_attempts_program, self.spec, options_for(self.spec, attempts, rollout=True))
        if devices:
            size = spread.even(attempts, devices, "attempts")
            split = program_for(_lanes_of(size, player), player, remember, devices)
            first = np.arange(len(devices), dtype=np.int32) * size
            results, memories = split(policy.params, first, bits, state, level, traits)
            return Stats.of(results), memories
        if not alone_on_cpu():
            program = program_for(lanes_for(attempts), player, remember)
            results, memories = program(policy.params, 0, bits, state, level, traits)
            return Stats.of(results), memories
        size = -(-attempts // min(cores(), attempts))
        program = program_for(_lanes_of(size, player), player, remember)

        def part(first: int) -> tuple[jax.Array, Memory]:
            own, given = jax.tree.map(lambda x: x[..., first : first + size], (bits, traits))
            return program(policy.params, first, own, state, level, given)

        results, memories = parts.in_parts(program, part, attempts, size)
        return Stats.of(results), memories

    def is_random(self, policy: Policy) -> bool:
        """Whether it is the random player, which rollouts have in the engine, drawing with the moves' own keys."""
        return isinstance(policy.act, policies.Randomly)

    def _functions(self, policy: Policy) -> Player | None:
        """What programs are compiled for: the player's functions; None for the engine's own random player."""
        return None if self.is_random(policy) else Player(policy.start, policy.act)

    def _play(self, name: str, policy: Policy, bits: jax.Array, *rest: Any) -> Any:
        """One of the programs in which a player plays; see `_PLAYERS`."""
        player = self._functions(policy) if name == "playout" else Player(policy.start, policy.act)
        axes, args = bits.ndim - 1, (policy.params, bits, *rest)
        ranks, kinds = _ranked(name, args, axes)
        boards = math.prod(bits.shape[1:])
        options = options_for(self.spec, boards, rollout=name == "playout")
        leaves, tree = jax.tree.flatten(ranks)
        program_for = functools.partial(_players_program, self.spec, name, player, tree, tuple(leaves), kinds)
        if name == "playout" and boards > sizes.ROLLOUT and alone_on_cpu():
            return parts.in_blocks(program_for(), args, ranks, sizes.ROLLOUT, options)
        return program_for(options)(*args)

    def _split_playout(self, policy: Policy, devices: Devices, bits: jax.Array, *rest: Any) -> Any:
        """Every board to its end, on several devices. rest: states, levels and, if there are any, traits."""
        boards, args = bits.shape[1:], (policy.params, bits, *rest)
        own = spread.even(math.prod(boards), devices, "boards")
        ranks, kinds = _ranked("playout", args, len(boards))
        flat = (policy.params, *map(flat_boards, args[1:], ranks[1:]))
        ranks, kinds = _ranked("playout", flat, 1)
        if boards_of_level(flat[3]):  # each board has its own
            flat = (
                *flat[:3],
                jax.tree.map(functools.partial(_on_boards, own * len(devices)), flat[3], LEVEL_RANKS),
                *flat[4:],
            )
            kinds = (*kinds[:3], OWN, *kinds[4:])
        leaves, tree = jax.tree.flatten(ranks)
        options, player = options_for(self.spec, own, rollout=True), self._functions(policy)
        program = _players_program(self.spec, "playout", player, tree, tuple(leaves), kinds, options, devices)
        return jax.tree.map(lambda x: x.reshape(*x.shape[:-1], *boards), program(*flat))

    def _call(self, name: str, *args: Any) -> Any:
        """One of the game's programs; on a CPU, a large batch in blocks."""
        boards = math.prod(boards_of(args, _ranks(name)))
        options = options_for(self.spec, boards)
        # The rest is cheaper than its cutting up.
        most = {"preview": sizes.ROLLOUT, "step": sizes.LOCKSTEP, "reset": sizes.LOCKSTEP}.get(name)
        if most is not None and boards > most and alone_on_cpu():
            return parts.in_blocks(_compiled(self.spec, name), args, _ranks(name), most, options)
        return _compiled(self.spec, name, options)(*args)

    def replay(self, key: jax.Array, state: State, action: ArrayLike, level: Level | None = None) -> list[State]:
        """The turn that `step` would play on one board, beat by beat: what stands after the swap, then after
        each beat, last the turn's end. Positions within a turn hold EMPTY cells and fused candies."""
        return replay.replay(self.spec, *self._one_turn(key, state, action, level))

    def observe(self, state: State, level: Level | None = None) -> jax.Array:
        """uint8[channels, H, W, *boards]; see `channels`."""
        level = self._level(level)
        same_boards(boards_of_state(state), levels=boards_of_level(level))
        planes: jax.Array = self._call("observe", state, level)
        return planes

    def preview(self, state: State, level: Level | None = None) -> Preview:
        """What each legal move brings by itself: for all of them in the time of some ten to thirty turns of `step`.

        A move's turn is played by the rules while nothing random has a say. New candies come in and can be hit, but
        each has a colour of its own, so that waves go on only among what stands already; a colour bomb that is hit
        by anything but a swap would draw a colour, so the turn stops before it fires. No key decides any of it.

        The real turn begins like this whatever its key: its first wave, and the falling after it, bring just the same.
        Later waves do where no new candy is in a run; a run with new candies may add to them or, seldom, spoil them.
        """
        level = self._level(level)
        same_boards(boards_of_state(state), levels=boards_of_level(level))
        gains: Preview = self._call("preview", state, level)
        return gains

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

    def motions(
        self, key: jax.Array, start: State | Motion, action: ArrayLike, level: Level | None = None
    ) -> list[Motion]:
        """The same turn in steps of at most one cell, with a number for every item: for pictures that move.

        An item moves one cell down, or one cell down and one aside, or through a portal; in the swap, to the other's
        cell. New numbers get: what an entry spawns, the special candy that a run makes, what a wrapped candy leaves
        behind, and candies that change places in a shuffle. What a combo turns into a special candy keeps its own.

        Args:
            start: a position, or the `Motion` that the turn before ended with: so its items keep their numbers.

        Returns:
            The start, numbered from 1 in reading order unless it was before; then what `replay` returns and, where
            items fall and slide, or arrive at an exit, in one beat, what stands between the two.
        """
        state = start.state if isinstance(start, Motion) else start
        bits, state, action, level = self._one_turn(key, state, action, level)
        return replay.motions(self.spec, bits, start, action, level)

    def _one_turn(
        self, key: jax.Array, state: State, action: ArrayLike, level: Level | None
    ) -> tuple[jax.Array, State, jax.Array, Level]:
        """A turn of one board, checked: the words of its key, and the rest."""
        if boards_of_state(state):
            raise ValueError(f"replay shows one board, but the state has boards {boards_of_state(state)}")
        level, action = self._level(level), whole_actions(action)
        return bits_of(key, (), levels=boards_of_level(level), actions=action.shape), state, action, level

    @classmethod
    def covering(
        cls,
        shape: tuple[int, int] = (9, 9),
        colours: int = 7,
        mechanics: str | Iterable[str] = "all",
        *,
        rules: str = "saga",
        adjacency: str = "any",
        orders: str | Iterable[str] = "all",
        spawn_kinds: int | None = None,
        entry_layers: int | None = None,
        portals: int | None = None,
        portal_layers: int | None = None,
        portal_hops: int | None = None,
        levels: Iterable[Level] = (),
    ) -> Game:
        """A game wide enough for every level of at most these sizes with at most these mechanics, and for `levels`.

        In it a level plays candy by candy as in its own game; only its actions have other numbers where its board is
        smaller (see `crush_gym.swaps`). `accepts` tells whether a level fits.

        Args:
            shape: (height, width) of the largest board.
            mechanics: "all", or names such as "jelly", "lock", "bombs", "portals", "timed", or "dry" for levels whose
                entries give no candies; a wrong name is refused with all that there are.
            orders: "all" that such levels can ask for, or their names.
            spawn_kinds: that one level tells its entries to spawn; None: all that the mechanics have.
            entry_layers: most entries in one column; None: 3.
            portals: most of one level; None: 16 where "portals" are among the mechanics, else none.
            portal_layers: most portals that start, or end, in one column; None: 2.
            portal_hops: most portals on one way of falling; None: 2.
            levels: played in it, too, whatever they need.
        """
        _check_choice("rules", rules, SPECIALS)
        _check_choice("adjacency", adjacency, ("any", "runs"))
        given = (spawn_kinds, entry_layers, portals, portal_layers, portal_hops)
        capacities = dict(zip(CAPACITIES, given, strict=True))
        also = checks.single_levels(levels)
        game = cls.__new__(cls)  # made from no level
        game.level = None
        game.spec = covering(checks.sides(shape), colours, mechanics, rules, adjacency, orders, capacities, also)
        spare_maps()
        return game

    def cells(self, state: State, *names: str) -> jax.Array:
        """bool[H, W, *boards]: cells that hold any of these (names of `channels`); none of what cannot occur."""
        return named.cells(self.spec, names, state.planes)

    def count(self, state: State, *names: str) -> jax.Array:
        """int32[*boards]: how many cells hold any of what is named, such as "colour a", "wrapped", "lock"."""
        return named.count_cells(self.spec, names, state.planes)


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


_PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "reset": (lockstep.reset, (1, LEVEL_RANKS)),
    "legal": (lockstep.legal, (STATE_RANKS,)),
    "random_action": (lockstep.random_action, (1, STATE_RANKS)),
    "step": (lockstep.step, (1, STATE_RANKS, 0, LEVEL_RANKS)),
    "observe": (observe.observe, (STATE_RANKS, LEVEL_RANKS)),
    "preview": (preview.preview, (STATE_RANKS, LEVEL_RANKS)),
    "results": (rollout.results, (STATE_RANKS, LEVEL_RANKS)),
    "legal_action": (lockstep.legal_action, (1, STATE_RANKS, 0)),
}
"""The game's programs, and the ranks of their arguments: keys' words, states, actions, levels."""

_OF_PLAYER = None
"""Stands for the ranks of what only the player knows: its parameters, memory and traits."""

_PLAYERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "start": (rollout.start, (_OF_PLAYER, 1, STATE_RANKS, LEVEL_RANKS, _OF_PLAYER)),
    "act": (rollout.act, (_OF_PLAYER, 1, _OF_PLAYER, STATE_RANKS, LEVEL_RANKS)),
    "playout": (rollout.playout, (_OF_PLAYER, 1, STATE_RANKS, LEVEL_RANKS, _OF_PLAYER)),
}
"""The programs in which a player plays, and the ranks of their arguments, of which the first are its parameters."""


def _ranked(name: str, args: tuple[Any, ...], axes: int) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The ranks and the kinds of the arguments of a player's program, on boards with so many axes."""
    ranks: list[Any] = [jax.tree.map(jnp.ndim, args[0])]
    kinds = [SHARED]
    for known, arg in list(zip(_PLAYERS[name][1], args, strict=False))[1:]:
        ranks.append(jax.tree.map(lambda x: jnp.ndim(x) - axes, arg) if known is _OF_PLAYER else known)
        kinds.append(COMMON if known is LEVEL_RANKS else OWN)
    return tuple(ranks), tuple(kinds)


def _given(traits: Traits) -> tuple[Traits, ...]:
    return () if traits is None else (traits,)


def _check_traits(traits: Traits, attempts: int) -> None:
    for leaf in jax.tree.leaves(traits):
        if jnp.shape(leaf)[-1:] != (attempts,):
            raise ValueError(
                f"traits have a leaf of shape {jnp.shape(leaf)}, but there are {attempts} attempts: every leaf must "
                "end in the attempts' axis"
            )


def _ranks(name: str) -> tuple[Any, ...]:
    return _PROGRAMS[name][1]


@functools.lru_cache(maxsize=256)
def _compiled(spec: Spec, name: str, options: Options = ()) -> Callable[..., Any]:
    """One of the game's programs, for any arrangement of boards."""
    f, ranks = _PROGRAMS[name]
    kinds = tuple(COMMON if r is LEVEL_RANKS else OWN for r in ranks)
    return kept.program(native(functools.partial(f, spec), ranks, kinds), options)


@functools.lru_cache(maxsize=256)
def _players_program(
    spec: Spec,
    name: str,
    player: Player | None,
    tree: Any,
    leaves: tuple[int, ...],
    kinds: tuple[str, ...],
    options: Options = (),
    devices: Devices = (),
) -> Callable[..., Any]:
    """One of the programs in which a player plays. tree, leaves: of the ranks of its arguments."""
    ranks = jax.tree.unflatten(tree, leaves)
    f = native(functools.partial(_PLAYERS[name][0], spec, player), ranks, kinds)
    if not devices:
        return kept.program(f, options)
    axes = [-1 if kind == OWN else None for kind in kinds]
    return kept.program(spread.split_over(devices, f, axes, -1), options)


@functools.lru_cache(maxsize=256)
def _attempts_program(
    spec: Spec, options: Options, lanes: int, player: Player | None, remember: bool, devices: Devices = ()
) -> Callable[..., tuple[jax.Array, Memory]]:
    f = functools.partial(rollout.many_attempts, spec, lanes, player, remember)
    if not devices:
        return kept.program(f, options)

    def part(params: Any, first: jax.Array, *rest: Any) -> tuple[jax.Array, Memory]:
        return f(params, first[0], *rest)

    return kept.program(spread.split_over(devices, part, (None, -1, -1, None, None, -1), -1), options)


def _on_boards(boards: int, x: jax.Array, rank: int) -> jax.Array:
    """With an axis of the boards, if it has none."""
    return x if jnp.ndim(x) > rank else jnp.broadcast_to(jnp.asarray(x)[..., None], (*jnp.shape(x), boards))


def _lanes_of(attempts: int, player: Player | None) -> int:
    """On which a CPU's core plays so many attempts."""
    return min(lanes_for(attempts), sizes.ROLLOUT if player else sizes.CHUNK)


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
        expected = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {expected}, not {value!r}{did_you_mean(value, choices)}")
