"""Plays the same attempts on the fast engine and on the slow reference, and compares them turn by turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from crush_gym import OUTCOMES, REASONS, Game, Level, LevelPack, State
from crush_gym.engine.spec import Spec
from crush_gym.engine.start import fill
from crush_gym.engine.terrain import survey, with_boards_axis
from crush_gym.layout import PLANES
from crush_gym.levels.cells import WORD_ROWS, token_of
from tests.key_draws import KeyDraws
from tests.random_levels import Dice, Kind, random_level
from tests.reference import ReferenceGame, Rules
from tests.reference import State as SlowState
from tests.reference import Turn as SlowTurn

Facts = dict[str, Any]
"""What is compared, by name."""


class DifferenceError(AssertionError):
    """Engine and reference disagree; the message says how to see it again."""


@dataclass
class Lane:
    """One attempt, as the reference plays it."""

    content: dict[str, Any]
    game: ReferenceGame
    state: SlowState
    actions: list[int] = field(default_factory=list)
    """All actions so far, in the reference's numbers."""


class Arena:
    """One compiled game for one kind of level."""

    def __init__(self, kind: Kind, seed: int = 0, founders: int = 200) -> None:
        self.kind = kind
        dice = Dice(f"{kind.name} {seed}")
        levels = [random_level(dice, kind)[1] for _ in range(founders)]
        self.game = Game(levels, rules=kind.rules, adjacency=kind.adjacency)
        self._fill = jax.jit(partial(_filled, self.game.spec))
        self._fold = jax.jit(jax.vmap(jax.random.fold_in))

    def levels(self, dice: Dice, count: int) -> tuple[list[dict[str, Any]], Level]:
        """Different levels that this game can play, and all of them as one stack."""
        contents, levels = [], []
        while len(levels) < count:
            content, level = random_level(dice, self.kind)
            if self.game.accepts(level):
                contents.append(content)
                levels.append(Level.from_dict(content | {"name": str(len(levels))}))
        return contents, LevelPack(levels).stack(range(count))

    def filled(self, keys: jax.Array, level: Level) -> NDArray[np.object_]:
        """The boards with their `?` cells filled, before anything settles; see `tokens`."""
        return tokens(self.game.spec, self._fill(_bits(keys), level), level)

    def play(self, seed: int, boards: int = 256, turns: int = 6, legal: bool = True) -> int:
        """Play that many attempts on both and compare everything; the number of turns compared.

        legal: compare the masks of legal actions as well.
        """
        dice = Dice(f"{self.kind.name} play {seed}")
        contents, level = self.levels(dice, boards)
        keys = jax.random.split(jax.random.key(seed), boards)
        match = Match(self, seed, contents, level, keys)
        match.start()
        played = 0
        for _ in range(turns):
            if legal:
                match.compare_legal()
            played += match.turn(dice)
        return played


class Match:
    """One batch of attempts on both games."""

    def __init__(
        self, arena: Arena, seed: int, contents: Sequence[dict[str, Any]], level: Level, keys: jax.Array
    ) -> None:
        self.arena, self.seed, self.contents, self.level, self.keys = arena, seed, contents, level, keys
        self.game = arena.game
        self.state: State
        self.lanes: list[Lane] = []

    def start(self) -> None:
        """Reset both; the reference begins with the board that the engine filled."""
        rules = Rules(self.arena.kind.rules, self.arena.kind.adjacency)
        boards = [[line.split() for line in content["board"]] for content in self.contents]
        if any("?" in token for board in boards for row in board for token in row):
            boards = rows_of(self.arena.filled(self.keys, self.level), self.level)
        self.state = self.game.reset(self.keys, self.level)
        draws = draws_of(self.keys)
        for content, board, draw in zip(self.contents, boards, draws, strict=True):
            game = ReferenceGame(content, rules)
            self.lanes.append(Lane(content, game, game.start([" ".join(row) for row in board], draw)))
        self._compare_states("start")

    def compare_legal(self) -> None:
        """The masks of legal actions, action by action."""
        mask = np.asarray(self.game.legal(self.state, self.level))
        for i, lane in enumerate(self.lanes):
            expected = np.zeros(self.game.actions, bool)
            for action, legal in enumerate(lane.game.legal(lane.state)):
                expected[self.number(lane, action)] = legal
            if (mask[:, i] != expected).any():
                wrong = np.flatnonzero(mask[:, i] != expected).tolist()
                self._fail(i, "legal", {"actions": expected[wrong].tolist()}, {"actions": mask[wrong, i].tolist(),
                           "game's numbers": wrong})  # fmt: skip

    def turn(self, dice: Dice) -> int:
        """One action everywhere, legal or not; the number of legal ones."""
        made = np.array([lane.state.moves_made for lane in self.lanes])
        keys = self.arena._fold(self.keys, made)
        actions = [pick(dice, lane) for lane in self.lanes]
        numbers = np.array([self.number(lane, a) for lane, a in zip(self.lanes, actions, strict=True)], np.int32)
        self.state, turn = self.game.step(keys, self.state, numbers, self.level)
        turns = {name: np.asarray(value) for name, value in turn._asdict().items()}
        legal = 0
        for i, (lane, action, draw) in enumerate(zip(self.lanes, actions, draws_of(keys), strict=True)):
            lane.actions.append(action)
            lane.state, slow = lane.game.step(lane.state, action, draw)
            legal += not slow.illegal
            expected, found = turn_facts(slow), {name: value[i].item() for name, value in turns.items()}
            found |= {"outcome": OUTCOMES[found["outcome"]], "reason": REASONS[found["reason"]]}
            if expected != found:
                self._fail(i, "turn", expected, found)
        self._compare_states("turn")
        return legal

    def number(self, lane: Lane, action: int) -> int:
        """The game's number of an action that is given in the numbers of the level's own board."""
        return translate(action, (lane.game.level.height, lane.game.level.width), self.game.spec)

    def _compare_states(self, when: str) -> None:
        text = rows_of(tokens(self.game.spec, self.state.planes, self.level), self.level)
        books = {name: np.asarray(value) for name, value in self.state.books._asdict().items()}
        for i, lane in enumerate(self.lanes):
            expected = slow_facts(lane)
            found = fast_facts(self.game.spec, lane, books, i) | {"board": [" ".join(row) for row in text[i]]}
            if expected != found:
                self._fail(i, when, expected, found)

    def _fail(self, i: int, what: str, expected: Facts, found: Facts) -> None:
        lane = self.lanes[i]
        names = [name for name in found if name not in expected or expected[name] != found[name]]
        lines = [
            f"engine and reference differ: {what}, kind {self.arena.kind.name!r}, seed {self.seed}, lane {i}",
            f"level: {json.dumps(lane.content)}",
            f"actions (on the level's own board): {lane.actions}",
            f"attempt key: {jax.random.key_data(self.keys[i]).tolist()}",
        ]
        for name in names:
            lines += _pair(name, expected.get(name), found[name])
        raise DifferenceError("\n".join(lines))


def _pair(name: str, expected: Any, found: Any) -> list[str]:
    if name != "board":
        return [f"  {name}: reference {expected}, engine {found}"]
    lines = ["  board, reference | engine"]
    return lines + [f"    {one:<60} | {other}" for one, other in zip(expected, found, strict=True)]


def replay(arena: Arena, content: dict[str, Any], key: Sequence[int], actions: Sequence[int]) -> None:
    """Play one reported attempt again (one lane); raises the `DifferenceError` if it is still there."""
    level = LevelPack([Level.from_dict(content)]).stack([0])
    keys = jax.random.wrap_key_data(np.array([key], np.uint32))
    match = Match(arena, -1, [content], level, keys)
    match.start()
    for action in actions:
        match.compare_legal()
        match.turn(_Scripted([action]))
    match.compare_legal()


class _Scripted(Dice):
    """Decides for the next action of a list."""

    def __init__(self, actions: Sequence[int]) -> None:
        super().__init__()
        self.actions = list(actions)

    def action(self) -> int:
        return self.actions.pop(0)


# ------------------------------------------------------------------------------------------ choosing


def pick(dice: Dice, lane: Lane) -> int:
    """Mostly a legal action, often one that moves something special, sometimes any number at all."""
    if isinstance(dice, _Scripted):
        return dice.action()
    count = len(lane.game.pairs)
    legal = [action for action, allowed in enumerate(lane.game.legal(lane.state)) if allowed]
    if not legal or dice.happens(0.06):
        return dice.choice((dice.randrange(count), -1, count, dice.randrange(count)))
    if dice.happens(0.5):
        legal = [action for action in legal if _moves_special(lane, action)] or legal
    return dice.choice(legal)


def _moves_special(lane: Lane, action: int) -> bool:
    items = lane.state.board.items
    return all(items[cell].is_special or items[cell].is_colour_bomb for cell in lane.game.pairs[action]) or any(
        items[cell].is_colour_bomb for cell in lane.game.pairs[action]
    )


def translate(action: int, shape: tuple[int, int], spec: Spec) -> int:
    """An action on a board of this shape, in the numbers of a game whose boards may be larger (rulebook 3).

    Numbers that are no action become numbers that are none there either.
    """
    height, width = shape
    across = height * (width - 1)
    if not 0 <= action < across + (height - 1) * width:
        return action if action < 0 else spec.actions
    if action < across:
        row, column = divmod(action, width - 1)
        return row * (spec.width - 1) + column
    row, column = divmod(action - across, width)
    return spec.height * (spec.width - 1) + row * spec.width + column


# -------------------------------------------------------------------------------------------- facts


def slow_facts(lane: Lane) -> Facts:
    """The reference's state, as `fast_facts` names it."""
    state, level = lane.state, lane.game.level
    return {
        "board": lane.game.text(state),
        "score": state.score,
        "moves": state.moves_left,
        "time": state.time_left,
        "made": state.moves_made,
        "ingredients": {k: state.ingredients_left.get(k, 0) for k in ("cherry", "hazelnut")},
        "orders": state.orders_left,
        "spawned": [state.spawned.get(kind, 0) for kind in level.spawn],
        "last spawn": [state.last_spawn.get(kind, -1) for kind in level.spawn],
        "drops": state.drops,
        "bonus": state.bonus,
        "outcome": state.outcome,
        "reason": state.reason,
        "shuffles": state.shuffles,
    }


def fast_facts(spec: Spec, lane: Lane, books: dict[str, NDArray[Any]], i: int) -> Facts:
    """The engine's books of one lane."""
    level = lane.game.level
    orders = {name: books["orders"][n, i].item() for n, name in enumerate(spec.orders)}
    asked = lane.content["goals"].get("orders", {})
    strays = {name: left for name, left in orders.items() if left and name not in asked}
    return {
        "score": books["score"][i].item(),
        "moves": books["moves"][i].item() if level.time is None else None,
        "time": books["time"][i].item() if level.time is not None else None,
        "made": books["made"][i].item(),
        "ingredients": {k: books[k][i].item() for k in ("cherry", "hazelnut")},
        "orders": {name: orders[name] for name in asked} | strays,
        "spawned": [books["spawned"][n, i].item() for n in range(len(level.spawn))],
        "last spawn": [books["last_spawn"][n, i].item() for n in range(len(level.spawn))],
        "drops": books["drops"][i].item(),
        "bonus": bool(books["bonus"][i]),
        "outcome": OUTCOMES[books["outcome"][i]],
        "reason": REASONS[books["reason"][i]],
        "shuffles": books["shuffles"][i].item(),
    }


def turn_facts(turn: SlowTurn) -> Facts:
    return {
        "score": turn.score, "waves": turn.waves, "cleared": turn.cleared, "illegal": turn.illegal,
        "reshuffled": turn.reshuffled, "outcome": turn.outcome, "reason": turn.reason,
    }  # fmt: skip


# ------------------------------------------------------------------------------- boards and keys


def tokens(spec: Spec, planes: Any, level: Level) -> NDArray[np.object_]:
    """The tokens of many boards at once: object[B, H, W]."""
    planes = np.asarray(planes)
    floor = np.asarray(level.floor)[: spec.height]
    floor = np.broadcast_to(floor if floor.ndim > 1 else floor[..., None], planes.shape[1:])
    codes = np.zeros((spec.height, spec.width, planes.shape[-1]), np.int64)
    columns = np.arange(spec.width)[None, :, None]
    for name, plane in [*zip(spec.planes, planes, strict=True), ("floor", floor)]:
        bits = (plane[:, None].astype(np.int64) >> columns) & 1
        codes |= bits << (WORD_ROWS.index(name) if name in (*PLANES, "floor") else 40)
    different, places = np.unique(codes, return_inverse=True)
    words = np.array([token_of(int(code)) for code in different], object)
    return np.moveaxis(words[places.reshape(codes.shape)], -1, 0)


def rows_of(boards: NDArray[np.object_], level: Level) -> list[list[list[str]]]:
    """Each board's own part, as lists of rows of tokens."""
    heights, widths = (np.broadcast_to(side, len(boards)).tolist() for side in (level.height, level.width))
    return [board[:h, :w].tolist() for board, h, w in zip(boards, heights, widths, strict=True)]


def draws_of(keys: jax.Array) -> list[KeyDraws]:
    return [KeyDraws(*words) for words in np.asarray(jax.random.key_data(keys)).tolist()]


def _bits(keys: jax.Array) -> jax.Array:
    return jax.numpy.moveaxis(jax.random.key_data(keys), -1, 0)


def _filled(spec: Spec, bits: jax.Array, level: Level) -> jax.Array:
    level = with_boards_axis(level)
    return fill(spec, survey(spec, level), level, bits).planes()
