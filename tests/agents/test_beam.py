"""The beam player: its choices against a plain rewrite of the paper, its futures, and batches."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import play
from agents.beam import Beam
from agents.registry import make
from crush_gym import OUTCOMES, Game, LevelPack, State, load_pack, sizes
from crush_gym.keys import player_key
from crush_gym.levels import Level
from tests.plain_beam import Position, best_action

SIDE = 5
BOARDS = 12


@pytest.fixture(scope="module")
def game() -> Game:
    """McAdams' game on a small board."""
    return Game(rules="points", shape=(SIDE, SIDE), colours=4, moves=6)


@pytest.fixture(autouse=True)
def one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """All searches in chunks of one small size, so that few programs are compiled."""
    monkeypatch.setattr(sizes, "POSITIONS", (96, 96))


def dry(rows: list[str], moves: int = 6) -> Level:
    """A level where nothing new falls: the future is certain."""
    content = {"name": " ".join(rows), "colours": 6, "moves": moves, "board": rows, "spawn_candies": False}
    return Level.from_dict(content)


@pytest.fixture(scope="module")
def dry_game() -> Game:
    return Game([dry(["? ? ? ? ?"] * SIDE)], rules="points")


class Certain:
    """A dry game as the plain search sees it; `UnsureError` where chance comes in after all."""

    def __init__(self, game: Game, level: Level) -> None:
        self.game, self.level = game, level
        self.known: dict[tuple[bytes, int, int], Position] = {}

    def position(self, state: State) -> Position:
        rows = self.game.text(state, self.level)
        legal = np.flatnonzero(np.asarray(self.game.legal(state)))
        moves = [(int(action), mean_row(rows, int(action))) for action in sorted(legal, key=from_the_top)]
        books = state.books
        return Position(int(books.score), int(books.made), int(books.outcome) != 0, rows, moves, state)

    def after(self, position: Position, action: int) -> Position:
        key = (np.asarray(position.state.planes).tobytes(), position.made, action)
        if key not in self.known:
            ends = [self.game.step(jax.random.key(i), position.state, action, self.level)[0] for i in range(2)]
            if not np.array_equal(ends[0].planes, ends[1].planes):
                raise UnsureError
            self.known[key] = self.position(ends[0])
        return self.known[key]._replace(score=position.score + self.gain(position, action))

    def gain(self, position: Position, action: int) -> int:
        return int(self.game.step(jax.random.key(0), position.state, action, self.level)[1].score)


class UnsureError(Exception):
    pass


def cells_of(action: int) -> tuple[tuple[int, int], tuple[int, int]]:
    if action < SIDE * (SIDE - 1):
        r, c = divmod(action, SIDE - 1)
        return (r, c), (r, c + 1)
    r, c = divmod(action - SIDE * (SIDE - 1), SIDE)
    return (r, c), (r + 1, c)


def from_the_top(action: int) -> tuple[int, int, bool]:
    (r, c), (_, right) = cells_of(action)
    return r, c, right == c


def mean_row(rows: list[str], action: int) -> Fraction:
    """Of the cells in the swap's runs; of a combo, of the two swapped cells."""
    board, (one, other) = [row.split() for row in rows], cells_of(action)
    tokens = [board[r][c] for r, c in (one, other)]
    if "*" in tokens or all(len(token) > 1 for token in tokens):
        return Fraction(one[0] + other[0], 2)
    (board[one[0]][one[1]], board[other[0]][other[1]]) = reversed(tokens)
    found = set()
    for r in range(SIDE):
        for c in range(SIDE):
            for line in ([(r, c + i) for i in range(3)], [(r + i, c) for i in range(3)]):
                if all(x < SIDE and y < SIDE for x, y in line):
                    colours = {board[x][y][0] for x, y in line}
                    found |= set(line) if len(colours) == 1 and not colours & {"_", "*", "#"} else set()
    return Fraction(sum(r for r, _ in found), len(found))


AGENTS = [
    Beam(depth=depth, heuristic=heuristic, variant=variant, ties=ties)
    for depth, heuristic, variant, ties in (
        (1, "h1", "text", "mean-row"), (1, "h1", "text", "off"), (1, "h2", "pseudocode", "mean-row"),
        (2, "h1", "text", "mean-row"), (2, "h2", "text", "off"), (2, "h1", "pseudocode", "off"),
        (3, "h2", "text", "mean-row"), (3, "h1", "pseudocode", "mean-row"), (3, "h2", "pseudocode", "mean-row"),
    )
]  # fmt: skip


def test_choices_are_those_of_a_plain_search_where_the_future_is_certain(game: Game, dry_game: Game) -> None:
    texts = game.text(game.reset(jax.random.split(jax.random.key(5), BOARDS)))
    levels = [dry(rows, moves=2 + i % 3) for i, rows in enumerate(texts)]
    stack = LevelPack(levels).stack(range(BOARDS))
    keys = jax.random.split(jax.random.key(6), BOARDS)
    states = dry_game.reset(keys, stack)
    compared = dict.fromkeys(AGENTS, 0)
    worlds = [Certain(dry_game, level) for level in levels]
    starts = [jax.tree.map(lambda x, i=i: x[..., i], states) for i in range(BOARDS)]
    for agent in AGENTS:
        chosen, _ = agent.bind(dry_game).act((), keys, (), states, stack)
        for board, (world, start) in enumerate(zip(worlds, starts, strict=True)):
            try:
                expected = best_action(world.position(start), world.after, agent)
            except UnsureError:
                continue
            assert int(chosen[board]) == expected, f"{agent.name} on\n" + "\n".join(texts[board])
            compared[agent] += 1
    assert min(compared.values()) >= 2 and sum(compared.values()) >= 40


TWO_WAYS = ["f d f f c", "e e b a b", "b e b d d", "d c f c b", "f d b f e"]
"""Two moves are legal: 0 joins three f at the top, 37 three b below; and behind 37, with the f in place, a cascade."""


def test_looking_two_moves_ahead_finds_the_better_beginning(dry_game: Game) -> None:
    level, key = dry(TWO_WAYS, moves=2), jax.random.key(0)
    start = dry_game.reset(key, level)
    assert np.flatnonzero(np.asarray(dry_game.legal(start))).tolist() == [0, 37]
    played = {}
    for depth in (1, 2):
        policy, state, actions = Beam(depth=depth, heuristic="h1", ties="off").bind(dry_game), start, []
        for _ in range(2):
            actions.append(int(policy.act((), player_key(key), (), state, level)[0]))
            state, _ = dry_game.step(key, state, actions[-1], level)
        played[depth] = (actions[0], int(state.books.score))
    assert played == {1: (0, 6), 2: (37, 12)}


def acts(agent: Any, game: Game, keys: jax.Array, state: State) -> np.ndarray:
    assert game.level is not None
    return np.asarray(agent.bind(game).act((), keys, (), state, game.level)[0])


def test_many_boards_play_as_each_alone(game: Game) -> None:
    keys = jax.random.split(jax.random.key(1), 6)
    state, agent = game.reset(keys), Beam(depth=2)
    together = acts(agent, game, player_key(keys), state)
    alone = [
        int(acts(agent, game, player_key(keys[i]), jax.tree.map(lambda x, i=i: x[..., i], state))) for i in range(6)
    ]
    assert together.tolist() == alone
    folded = jax.tree.map(lambda x: x.reshape(*x.shape[:-1], 2, 3), state)
    assert np.array_equal(acts(agent, game, player_key(keys).reshape(2, 3), folded), together.reshape(2, 3))


def test_same_keys_same_choices_and_other_keys_other_futures(game: Game) -> None:
    keys = jax.random.split(jax.random.key(2), 40)
    state, agent = game.reset(keys), Beam(depth=2)
    first = acts(agent, game, player_key(keys), state)
    assert np.array_equal(first, acts(agent, game, player_key(keys), state))
    assert not np.array_equal(first, acts(agent, game, keys, state))


def test_candies_to_come_cannot_be_foreseen(game: Game) -> None:
    """Given the game's own key, a player that saw the real future would make the best move of all."""
    keys = jax.random.split(jax.random.key(3), 120)
    state = game.reset(keys)
    mask = np.asarray(game.legal(state))
    gains = np.stack([np.asarray(game.step(keys, state, jnp.full(120, a))[1].score) for a in range(len(mask))])
    chosen = acts(Beam(depth=1, heuristic="h1"), game, player_key(keys), state)
    got = gains[chosen, np.arange(120)]
    best = np.where(mask, gains, -1).max(0)
    average = (gains * mask).sum(0) / mask.sum(0)
    assert average.mean() < got.mean() < 0.9 * best.mean()


def test_the_last_move_is_greedy(game: Game) -> None:
    keys = jax.random.split(jax.random.key(4), 30)
    state = game.reset(keys)
    last = state._replace(books=state.books._replace(moves=jnp.ones_like(state.books.moves)))
    deep, greedy = Beam(depth=3, heuristic="h2"), Beam(depth=1, heuristic="h1")
    assert np.array_equal(acts(deep, game, player_key(keys), last), acts(greedy, game, player_key(keys), last))


@pytest.mark.slow
def test_attempts_end_by_legal_moves_only_and_score_more_than_random_ones(game: Game) -> None:
    keys, level = jax.random.split(jax.random.key(7), 60), game.level
    assert level is not None
    told: list[int] = []
    smart = play(make("beam:depth=1").bind(game), game, keys, level, told.append)
    simple = play(make("random").bind(game), game, keys, level)
    assert (np.asarray(smart.outcome) == OUTCOMES.index("ended")).all() and sum(told) == 60
    assert np.mean(smart.score) > 1.3 * np.mean(simple.score)


def test_a_finished_board_gets_no_move(game: Game) -> None:
    keys = jax.random.split(jax.random.key(8), 3)
    over, _ = game.rollout(keys, game.reset(keys))
    assert over is not None
    assert acts(Beam(depth=2), game, player_key(keys), over).tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("beam:depth=0", "depth must be from 1"),
        ("beam:heuristic=h3", "heuristic must be h1 or h2"),
        ("beam:ties=on", "ties must be mean-row or off"),
        ("beam:variant=code", "variant must be text or pseudocode"),
    ],
)
def test_wrong_parameters_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(text)


def test_names_make_the_same_player_again() -> None:
    assert Beam().name == "beam" and Beam(depth=3, ties="off").name == "beam:depth=3,ties=off"
    assert make(Beam(depth=3, ties="off").name) == Beam(depth=3, ties="off")


@pytest.mark.parametrize(("variant", "widths"), [("text", [9, 3, 1]), ("pseudocode", [9, 4, 1])])
def test_beams_narrow_as_the_paper_says(variant: str, widths: list[int]) -> None:
    assert [Beam(depth=3, variant=variant).width(level) for level in (1, 2, 3)] == widths


@pytest.mark.slow
def test_levels_with_blockers_are_played_too() -> None:
    level = load_pack("thesis")["look-alike 13"]
    game, keys = Game(level), jax.random.split(jax.random.key(9), 24)
    smart = play(Beam(depth=1).bind(game), game, keys, level)
    simple = game.rollout(keys, level=level)[1]
    assert np.mean(smart.score) > np.mean(np.asarray(simple.score))
