"""`python -m crush_gym.demo`: random games of each rule set in a table, and one turn beat by beat."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

import jax
import numpy as np

from crush_gym import OUTCOMES, Game, Level, State, load_pack

COLUMNS = ("game", "attempts", "moves/s", "score", "waves/move", "won", "compiled in")
BACKGROUNDS = {"a": 41, "b": 44, "c": 42, "d": 43, "e": 45, "f": 46, "g": 47}
"""Terminal background of each colour of candy."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo."""
    options = parse(arguments)
    print(f"Random players on {jax.devices()[0].platform}, {options.games:,} attempts a game.\n")
    rows = [play(name, game, options.games, options.seed) for name, game in games().items()]
    print()
    print(table([COLUMNS, *rows]))
    if not options.no_turn:
        print()
        show_turn(Game(open_level()), options.seed)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m crush_gym.demo", description=__doc__)
    parser.add_argument("--games", type=_count, default=2000, help="attempts of each game (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all keys (default: 0)")
    parser.add_argument("--no-turn", action="store_true", help="leave out the turn shown beat by beat")
    return parser.parse_args(arguments)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, not {text!r}")
    return int(text)


def open_level() -> Level:
    """A bare 9 x 9 board with every special."""
    board = [" ".join("?" * 9)] * 9
    return Level.from_dict({"name": "open board", "colours": 6, "moves": 20, "board": board})


def games() -> dict[str, Game]:
    """The games of the table, by the names it prints."""
    basics = load_pack("basics")
    return {
        "Combo": Game(rules="combo"),
        "Points": Game(rules="points"),
        "Saga, open board": Game(open_level()),
        "Saga, jelly": Game(basics["jelly"]),
        "Saga, everything": Game(basics["everything"]),
    }


def play(name: str, game: Game, attempts: int, seed: int) -> tuple[str, ...]:
    """One row of the table: the same attempts twice, the first time with compilation."""
    print(f"{name}: compiling, then playing ...", flush=True)
    key = jax.random.key(seed)
    started = time.perf_counter()
    game.rollout(key, attempts=attempts)
    first = time.perf_counter() - started
    started = time.perf_counter()
    _, stats = game.rollout(key, attempts=attempts)
    seconds = time.perf_counter() - started
    moves = int(np.sum(stats.moves))
    decided = not np.any(np.asarray(stats.outcome) == OUTCOMES.index("ended"))
    return (
        name,
        f"{attempts:,}",
        f"{moves / seconds:,.0f}",
        f"{float(np.mean(stats.score)):,.0f}",
        f"{float(np.sum(stats.waves)) / moves:.2f}",
        f"{float(np.mean(stats.won)):.1%}" if decided else "no goal",
        f"{max(first - seconds, 0):.1f} s",
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def show_turn(game: Game, seed: int) -> None:
    """Print the liveliest of some turns, beat by beat."""
    print("One turn, beat by beat (a| and a- are striped, a@ wrapped, * a colour bomb, _ an empty cell):\n")
    key, state, action = liveliest(game, seed)
    frames = game.replay(key, state, action)
    print_board(game, state, "before the move")
    for number, frame in enumerate(frames[:-1]):
        print_board(
            game, frame, "after the swap" if number == 0 else f"beat {number}: score {int(frame.books.score):,}"
        )
    print_board(game, frames[-1], f"the turn is over: {int(frames[-1].books.waves - state.books.waves)} waves")


def liveliest(game: Game, seed: int) -> tuple[jax.Array, State, int]:
    """Of 256 boards after a few random moves, the random move that makes most waves: (its key, state, action)."""
    boards = 256
    keys = jax.random.split(jax.random.key(seed), boards)
    states = game.reset(keys)
    for move in range(6):
        keys = jax.vmap(jax.random.fold_in, (0, None))(keys, move)
        actions = game.random_action(keys, states)
        after, turn = game.step(keys, states, actions)
        waves = np.asarray(turn.waves)
        if move >= 3 and waves.max() >= 4:
            break
        states = after
    else:
        states = game.reset(keys)
        actions = game.random_action(keys, states)
        waves = np.asarray(game.step(keys, states, actions)[1].waves)
    best = int(np.argmax(waves))
    one: State = jax.tree.map(lambda x: x[..., best], states)
    return keys[best], one, int(actions[best])


def print_board(game: Game, state: State, caption: str) -> None:
    """One position with a line above it."""
    print(caption)
    for row in game.text(state):
        print("  " + "".join(_painted(token) for token in row.split(" ")))
    print()


def _painted(token: str) -> str:
    """A token three characters wide, on its candy's colour where the terminal shows colours."""
    text = token.center(3)
    letter = token.strip("[]{}'")[:1]
    if letter not in BACKGROUNDS or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\x1b[30;{BACKGROUNDS[letter]}m{text}\x1b[0m"


if __name__ == "__main__":
    raise SystemExit(main())
