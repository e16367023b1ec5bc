"""Gymnasium's wrappers that show an environment: films and windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import HumanRendering, RecordVideo

import crush_gym  # noqa: F401 - registers the ids

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


@pytest.mark.filterwarnings("ignore:.*doesn't natively support it:UserWarning")
def test_human_opens_a_window_that_shows_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    pytest.importorskip("resvg_py")
    env = gym.make("crush_gym:Crush/Points-v0", render_mode="human", **SMALL)
    assert isinstance(env, HumanRendering) and env.render_mode == "human"
    monkeypatch.setitem(env.metadata, "render_fps", 1000)
    try:
        assert play(env) == SMALL["moves"]
        shown = pygame.surfarray.array3d(env.window).transpose(1, 0, 2)
        assert np.array_equal(shown, env.unwrapped.render())
        assert env.render() is None
    finally:
        env.close()
