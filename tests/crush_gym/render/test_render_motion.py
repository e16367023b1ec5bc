"""Turns and attempts as frames, and frames in motion."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import jax
import numpy as np
import pytest

from crush_gym import Game, Level
from crush_gym.render import animated_svg, frames_of_attempt, frames_of_turn, gif

FRAMES = [["a b", "_ c'"], ["b a", "_ c'"], ["b a", "_ c"], ["b a", "_ c"]]


@pytest.fixture(scope="module")
def game() -> Game:
    board = [" ".join("?" * 5)] * 5
    return Game(Level.from_dict({"name": "small", "colours": 4, "moves": 6, "board": board}))


def test_an_animation_has_a_time_for_every_frame_that_changes() -> None:
    document = animated_svg(FRAMES, seconds_per_frame=0.5)
    assert document == animated_svg(FRAMES, seconds_per_frame=0.5)
    animations = list(ElementTree.fromstring(document).iter("{http://www.w3.org/2000/svg}animate"))
    assert {animation.get("dur") for animation in animations} == {"2s"}
    times = {time for animation in animations for time in (animation.get("keyTimes") or "").split(";")}
    assert times == {"0", "0.25", "0.5"}
    for animation in animations:
        shown = (animation.get("values") or "").split(";")
        assert len(shown) == len((animation.get("keyTimes") or "").split(";"))
        assert all(one != other for one, other in pairwise(shown))


def test_every_cell_shows_its_token_in_every_frame() -> None:
    frames = [[" ".join(np.random.default_rng(n).choice(list("abcd"), 3))] for n in range(24)]
    document = animated_svg(frames)
    kinds = {kind: letter for kind, letter in re.findall(r'id="\w+-(t\d+)"><use href="#\w+-([a-d])"', document)}
    for x in range(3):
        history = [""] * len(frames)
        for kind, values, times in re.findall(
            rf'<use href="#\w+-(t\d+)" x="{64 * x}" y="0"[^>]*><animate [^>]*values="([^"]*)" keyTimes="([^"]*)"',
            document,
        ):
            beats = [round(float(time) * len(frames)) for time in times.split(";")] + [len(frames)]
            for value, (start, end) in zip(values.split(";"), pairwise(beats), strict=True):
                for beat in range(start, end):
                    history[beat] += kinds[kind] * (value == "visible")
        assert history == [frame[0].split()[x] for frame in frames]


def test_a_still_cell_costs_no_animation() -> None:
    assert "<animate" not in animated_svg([["a b"]] * 9)


def test_a_gif_has_an_image_for_every_frame_that_changes(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="needs the extra `render`")
    image = pytest.importorskip("PIL.Image")
    gif(FRAMES, tmp_path / "turn.gif", seconds_per_frame=0.1, size=16)
    with image.open(tmp_path / "turn.gif") as opened:
        durations = [opened.seek(i) or opened.info["duration"] for i in range(opened.n_frames)]
        assert opened.size == (2 * 16 + 8, 2 * 16 + 8)
    assert durations == [100, 100, 200]


def test_frames_must_be_of_one_board_and_last_a_while() -> None:
    with pytest.raises(ValueError, match="at least one position"):
        animated_svg([])
    with pytest.raises(ValueError, match="differ in their floor"):
        animated_svg([["a b"], ["a #"]])
    with pytest.raises(ValueError, match=r"0\.02 to 60 seconds"):
        animated_svg(FRAMES, seconds_per_frame=0)


def test_frames_of_a_turn_begin_before_it_and_end_after_it(game: Game) -> None:
    key = jax.random.key(3)
    state = game.reset(key)
    action = int(game.legal(state).argmax())
    frames = frames_of_turn(game, key, state, action)
    assert frames[0] == game.text(state)
    assert frames[-1] == game.text(game.step(key, state, action)[0])
    assert len(frames) > 3


def test_frames_of_an_attempt_end_where_the_attempt_does(game: Game) -> None:
    key = jax.random.key(5)
    state, actions = game.reset(key), []
    for move in range(6):
        actions.append(int(game.legal(state).argmax()))
        state, _ = game.step(jax.random.fold_in(key, move), state, actions[-1])
    frames = frames_of_attempt(game, key, actions)
    assert frames[-1] == game.text(state)
    assert len(animated_svg(frames)) < 200_000
