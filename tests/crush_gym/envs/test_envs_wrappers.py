"""Films and windows that show an environment, and Gymnasium's wrappers around batches."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.wrappers import RecordVideo

from crush_gym.render import MissingExtraError

SMALL: dict[str, Any] = {"shape": (5, 5), "colours": 4, "moves": 3}


def play(env: gym.Env[Any, Any], seed: int = 0) -> int:
    """An episode of first legal moves; its number of steps."""
    _, info = env.reset(seed=seed)
    over, steps = False, 0
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over, steps = terminated or truncated, steps + 1
    return steps


# moviepy reshapes frames in a way that NumPy 2.5 gives up.
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_an_episode_is_recorded_as_a_film_of_one_frame_a_position(tmp_path: Path) -> None:
    editor = pytest.importorskip("moviepy")
    pytest.importorskip("resvg_py")
    env = RecordVideo(gym.make("Crush/Points-v0", render_mode="rgb_array", **SMALL), str(tmp_path / "films"))
    steps = play(env)
    env.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    with editor.VideoFileClip(str(film)) as clip:
        height, width, _ = gym.make("Crush/Points-v0", obs="rgb", **SMALL).observation_space.shape or ()
        assert clip.size == [width, height]
        assert clip.n_frames == steps + 1
        assert clip.fps == env.metadata["render_fps"]


def test_human_opens_a_window_that_shows_every_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    pytest.importorskip("resvg_py")
    env = gym.make("crush_gym:Crush/Points-v0", render_mode="human", **SMALL)
    other = gym.make("crush_gym:Crush/Points-v0", render_mode="rgb_array", **SMALL)
    bare: Any = env.unwrapped
    monkeypatch.setitem(bare.metadata, "render_fps", 1000)
    shown: list[np.ndarray] = []
    monkeypatch.setattr(pygame.display, "flip", lambda: shown.append(pixels_of(bare._window.surface)))
    assert play(env) == play(other) == SMALL["moves"] and len(shown) == SMALL["moves"] + 1
    assert np.array_equal(shown[-1], other.render()) and not np.array_equal(shown[-1], shown[-2])
    assert env.render() is None and len(shown) == SMALL["moves"] + 2
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    assert bare._window.surface is None and not pygame.display.get_init()
    assert play(env) == SMALL["moves"]  # who closed the window does not end the episode
    env.close()


def pixels_of(surface: Any) -> np.ndarray:
    """uint8[height, width, 3]."""
    import pygame

    return np.array(pygame.surfarray.array3d(surface).transpose(1, 0, 2))


def test_a_window_without_pygame_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(
        MissingExtraError, match="a window needs pygame, which is not installed: pip install 'crush-gym"
    ):
        gym.make("Crush/Points-v0", render_mode="human", **SMALL).reset(seed=0)


def test_a_batch_has_no_window() -> None:
    with pytest.raises(ValueError, match="render_mode must be one of 'ansi', 'rgb_array', 'svg', not 'human'"):
        gym.make_vec("Crush/Points-v0", num_envs=2, render_mode="human", **SMALL)


# --------------------------------------------------------------------------------- around batches


def test_the_wrappers_that_the_documentation_names_fit_around_a_batch() -> None:
    page = (Path(__file__).parents[3] / "docs" / "environments" / "points.md").read_text("utf-8")
    passage = page.split("## Wrappers")[1].split("## ")[0]
    for made in re.findall(r"`(\w+\(envs.*?\))`", passage):
        if "Torch" in made:  # needs torch and array-api-compat
            assert made.partition("(")[0] in wrappers.vector.__all__
            continue
        envs = gym.make_vec("Crush/Points-v0", num_envs=2, **SMALL)
        names = {"envs": envs, "np": np, "function": lambda reward: reward * 2}
        wrapped = eval(f"wrappers.vector.{made}", names | {"wrappers": wrappers})
        obs, _ = wrapped.reset(seed=0)
        wrapped.step(np.zeros(2, int))
        assert len(obs) == 2
        if "TransformObservation" in made:
            assert obs.dtype == np.float32 and obs.max() == 1
    with pytest.raises(gym.error.Error, match="vector_entry_point"):
        gym.make_vec("Crush/Points-v0", num_envs=2, wrappers=[wrappers.TimeLimit], **SMALL)
