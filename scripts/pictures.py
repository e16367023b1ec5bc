"""Draw the pictures in docs/pictures: `make pictures`, or python -m scripts.pictures [folder]."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
from PIL import Image

from crush_gym import Game, State, load_pack
from crush_gym.render import animated_svg, frames_of_turn, gif, legend, rgb, svg
from crush_gym.render.notebook import wanted

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
BOARDS = 512
WAVES = 5
PAUSE = 4
"""Frames for which the last position of a turn stays."""


def main(arguments: list[str]) -> None:
    """Write all pictures, the same bytes every time."""
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    level = load_pack("basics")["everything"]
    game = Game(level)
    board = game.text(game.reset(jax.random.key(2)))
    picture = svg(board, level, title="basics: everything", goals=wanted(level.to_dict()))
    (folder / "everything.svg").write_text(picture, encoding="utf-8")
    small = Image.fromarray(rgb(board, level, size=56)).quantize(256, dither=Image.Dither.NONE)
    small.save(folder / "everything.png", optimize=True)
    (folder / "legend.svg").write_text(legend(), encoding="utf-8")
    frames = frames_of_turn(game, *cascade(game))
    frames += frames[-1:] * PAUSE
    (folder / "turn.svg").write_text(animated_svg(frames, level, 0.35), encoding="utf-8")
    gif(frames, folder / "turn.gif", level, 0.35, size=30)
    for path in sorted(folder.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def cascade(game: Game) -> tuple[jax.Array, State, int]:
    """Of many new boards and their random first moves, the first that makes WAVES waves: (key, state, action)."""
    keys = jax.random.split(jax.random.key(0), BOARDS)
    states = game.reset(keys)
    actions = game.random_action(keys, states)
    waves = np.asarray(game.step(keys, states, actions)[1].waves)
    best = int(np.argmin(np.abs(waves - WAVES)))
    one: State = jax.tree.map(lambda x: x[..., best], states)
    return keys[best], one, int(actions[best])


if __name__ == "__main__":
    main(sys.argv[1:])
