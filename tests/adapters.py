"""One way to set up a board and look at a single stage of a turn, in the slow reference and in the fast engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from crush_gym import OUTCOMES, REASONS, Game, Level, State
from crush_gym.engine.bits import ONES, Word
from crush_gym.engine.board import Board
from crush_gym.engine.rounds import play_round
from crush_gym.engine.settling import settle
from crush_gym.engine.spec import Spec
from crush_gym.engine.start import new_books
from crush_gym.engine.state import FIRST, ROUNDS, SETTLING, Play, rest
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.layout import ORDERS, PLANES
from crush_gym.runtime import lockstep
from crush_gym.runtime.lockstep import begin_action
from tests.differential import draws_of, tokens, translate
from tests.reference import ReferenceGame
from tests.reference import State as SlowState

Cell = tuple[int, int]
Pair = tuple[Cell, Cell]
Content = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """A board and its counts after a stage or a turn."""

    rows: list[str]
    score: int
    moves: int
    time: int
    drops: int
    cherries: int
    orders: dict[str, int]
    outcome: str
    reason: str
    illegal: bool = False
    waves: int = 0
    reshuffled: bool = False

    @property
    def tokens(self) -> list[list[str]]:
        return [row.split() for row in self.rows]

    def count(self, token: str) -> int:
        """How many cells show exactly this token."""
        return sum(row.count(token) for row in self.tokens)


class Player(Protocol):
    """Either game. A content is a level whose board is taken as it is: neither settled nor resolved."""

    def legal(self, content: Content) -> set[Pair]:
        """All legal swaps."""

    def first_wave(self, content: Content, pair: Pair) -> Result:
        """A move up to the seating of its first wave, before settling."""

    def wave(self, content: Content) -> Result:
        """A wave of the runs on the board, without a move, before settling."""

    def strike(self, content: Content, cells: Iterable[Cell]) -> Result:
        """A wave that begins with hits on these cells and nothing else ("fired"), before settling."""

    def settled(self, content: Content) -> Result:
        """The board settled and collected, nothing else."""

    def step(self, content: Content, pair: Pair, time: int | None = None) -> Result:
        """A whole turn. time: deciseconds left before it."""

    def start(self, content: Content) -> Result:
        """The start of an attempt."""


def level_of(rows: Sequence[str], **more: Any) -> Content:
    """A level with this board: 7 colours and 5 moves where nothing else is said."""
    content = {"name": "case", "colours": 7, "board": list(rows)} | more
    return content if "seconds" in more else {"moves": 5} | content


KEY = 7
"""The seed of every key used here: it decides what is spawned and drawn, equally in both games."""


class Slow:
    """The reference."""

    def legal(self, content: Content) -> set[Pair]:
        game, state = self._open(content)
        return {pair for pair, legal in zip(game.pairs, game.legal(state), strict=True) if legal}

    def first_wave(self, content: Content, pair: Pair) -> Result:
        game, state = self._open(content)
        return self._show(game, game.first_wave(state, game.pairs.index(pair), self._draws))

    def wave(self, content: Content) -> Result:
        game, state = self._open(content)
        return self._show(game, game.wave(state, self._draws))

    def strike(self, content: Content, cells: Iterable[Cell]) -> Result:
        game, state = self._open(content)
        return self._show(game, game.strike(state, cells, self._draws))

    def settled(self, content: Content) -> Result:
        game, state = self._open(content)
        return self._show(game, game.settled(state, self._draws))

    def step(self, content: Content, pair: Pair, time: int | None = None) -> Result:
        game, state = self._open(content)
        if time is not None:
            state.time_left = time
        state, turn = game.step(state, game.pairs.index(pair), self._draws)
        shown = self._show(game, state)
        return replace(shown, illegal=turn.illegal, waves=turn.waves, reshuffled=turn.reshuffled)

    def start(self, content: Content) -> Result:
        game = ReferenceGame(content)
        return self._show(game, game.start(content["board"], self._draws))

    @cached_property
    def _draws(self) -> Any:
        return draws_of(jax.random.key(KEY)[None])[0]

    def _open(self, content: Content) -> tuple[ReferenceGame, SlowState]:
        game = ReferenceGame(content)
        return game, game.state_from_text(content["board"])

    def _show(self, game: ReferenceGame, state: SlowState) -> Result:
        return Result(
            rows=game.text(state), score=state.score, moves=state.moves_left or 0, time=state.time_left or 0,
            drops=state.drops, cherries=state.ingredients_left.get("cherry", 0), orders=dict(state.orders_left),
            outcome=state.outcome, reason=state.reason,
        )  # fmt: skip


RICH = level_of(
    ["[a-] {b|} c@ * o n", "~ I5 C a!99 b+ c$", "_'' # a d e f", "g a b c d e", "a b c d e f", "b c d e f g"],
    goals={"cherry": 1, "hazelnut": 1, "jelly": "all",
           "orders": {name: 1 for name in ORDERS if name not in ("swirl", "icing", "chocolate", "lock")}
           | {"swirl": 1, "icing": 1, "chocolate": 1, "lock": 1}},
    portals=[[[2, 0], [3, 1]], [[4, 1], [5, 0]]],
    exits=[[5, 5]],
    spawn={"cherry": {"quota": 1}, "bomb": {"counter": 9, "quota": 1}, "plus5": {"quota": 1}},
    spawn_candies=False,
)  # fmt: skip
"""A level with everything: the one compiled game of the named cases is made from it."""


class Fast:
    """The engine: one compiled game for boards up to 6x6 with any mechanic."""

    def __init__(self) -> None:
        self.game = Game(Level.from_dict(RICH))
        spec = self.game.spec
        self._wave = jax.jit(partial(_play_wave, spec))
        self._settle = jax.jit(partial(_settle, spec))

    @property
    def _key(self) -> jax.Array:
        return jax.random.key(KEY)

    def legal(self, content: Content) -> set[Pair]:
        level, state = self._open(content)
        mask = np.asarray(self.game.legal(_one(state), level))
        pairs = ReferenceGame(content).pairs
        legal = {pair for i, pair in enumerate(pairs) if mask[self._number(content, i)]}
        assert mask.sum() == len(legal)
        return legal

    def first_wave(self, content: Content, pair: Pair) -> Result:
        return self._one_wave(content, action=self._action(content, pair))

    def wave(self, content: Content) -> Result:
        return self._one_wave(content)

    def strike(self, content: Content, cells: Iterable[Cell]) -> Result:
        return self._one_wave(content, cells=cells)

    def settled(self, content: Content) -> Result:
        level, state = self._open(content)
        return self._show(content, level, self._settle(state, self._bits, level))

    def step(self, content: Content, pair: Pair, time: int | None = None) -> Result:
        level, state = self._open(content)
        if time is not None:
            state = state._replace(books=state.books._replace(time=jnp.full((1,), time, jnp.int32)))
        state, turn = self.game.step(self._key, _one(state), self._action(content, pair), level)
        shown = self._show(content, level, jax.tree.map(lambda x: x[..., None], state))
        return replace(shown, illegal=bool(turn.illegal), waves=int(turn.waves), reshuffled=bool(turn.reshuffled))

    def start(self, content: Content) -> Result:
        level = self._level(content)
        state = self.game.reset(self._key, level)
        return self._show(content, level, jax.tree.map(lambda x: x[..., None], state))

    @property
    def _bits(self) -> jax.Array:
        return jax.random.key_data(self._key)[:, None]

    def _one_wave(self, content: Content, action: int = -1, cells: Iterable[Cell] = ()) -> Result:
        level, state = self._open(content)
        direct = np.zeros((self.game.spec.height, 1), np.uint16)
        for row, column in cells:
            direct[row] |= 1 << column
        return self._show(content, level, self._wave(state, self._bits, np.array([action]), direct, level))

    def _level(self, content: Content) -> Level:
        level = Level.from_dict(content)
        assert self.game.accepts(level), "RICH lacks something that this board has"
        return level

    def _open(self, content: Content) -> tuple[Level, State]:
        """A flat batch of one board."""
        level, spec = self._level(content), self.game.spec
        planes = np.stack([level.start[PLANES.index(name)][: spec.height] for name in spec.planes])
        books = new_books(spec, survey(spec, with_boards_axis(level)), (1,))
        return level, State(jnp.asarray(planes[..., None]), books)

    def _action(self, content: Content, pair: Pair) -> int:
        return self._number(content, ReferenceGame(content).pairs.index(pair))

    def _number(self, content: Content, action: int) -> int:
        rows = content["board"]
        return translate(action, (len(rows), len(rows[0].split())), self.game.spec)

    def _show(self, content: Content, level: Level, state: State) -> Result:
        height, width = int(level.height), int(level.width)
        board = tokens(self.game.spec, state.planes, level)[0, :height, :width]
        books = {name: np.asarray(value)[..., 0] for name, value in state.books._asdict().items()}
        asked = content.get("goals", {}).get("orders", {})
        orders = dict(zip(self.game.spec.orders, books["orders"].tolist(), strict=True))
        return Result(
            rows=[" ".join(row) for row in board.tolist()], score=int(books["score"]),
            moves=int(books["moves"]) if "moves" in content else 0,
            time=int(books["time"]) if "seconds" in content else 0,
            drops=int(books["drops"]), cherries=int(books["cherry"]),
            orders={name: orders[name] for name in asked},
            outcome=OUTCOMES[books["outcome"]], reason=REASONS[books["reason"]],
        )  # fmt: skip


def _one(state: State) -> State:
    """A flat batch of one as a single board."""
    return jax.tree.map(lambda x: x[..., 0], state)


def _play_wave(spec: Spec, state: State, bits: jax.Array, action: jax.Array, direct: jax.Array, level: Level) -> State:
    """The rounds of one wave: of a move, of hits given by hand, or else of the runs on the board."""
    terrain = survey(spec, with_boards_axis(level))
    moved = begin_action(spec, terrain, bits, state, action)
    by_hand = rest(Board.of(spec, state.planes), state.books)._replace(
        stage=jnp.where((direct != 0).any(0), Word(ROUNDS), Word(FIRST)),
        bits=bits,
        starting=moved.starting | Word(ONES),
    )
    by_hand = by_hand._replace(fires=by_hand.fires | {"direct": direct}).awake()
    play = jax.tree.map(lambda x, y: jnp.where(action >= 0, x, y), moved, by_hand)

    def goes_on(play: Play) -> jax.Array:
        return jnp.any(play.stage == ROUNDS)

    def one_round(play: Play) -> Play:
        return play_round(terrain, play.awake())

    return lockstep.state_of(lax.while_loop(goes_on, one_round, one_round(play)))


def _settle(spec: Spec, state: State, bits: jax.Array, level: Level) -> State:
    """The board settled, and what reaches exits collected."""
    terrain = survey(spec, with_boards_axis(level))
    play = rest(Board.of(spec, state.planes), state.books)
    play = play._replace(stage=jnp.full_like(play.stage, SETTLING), bits=bits, starting=play.starting | Word(ONES))
    play = lax.while_loop(lambda p: jnp.any(p.stage == SETTLING), lambda p: settle(terrain, p.awake()), play)
    return lockstep.state_of(play)
