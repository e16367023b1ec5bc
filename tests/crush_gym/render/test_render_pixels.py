"""Boards as pixels, and what is said where the package for them is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import pytest

from crush_gym.levels import load_pack
from crush_gym.render import MissingExtraError, png, raster, rgb, svg
from tests.crush_gym.render.test_render import TOKENS_OF_ALL_KINDS, board_of

pytest.importorskip("resvg_py", reason="needs the extra `render`")

SIZE = 16


def test_frames_have_the_shape_of_their_board() -> None:
    for board in (["a b c", "d e f"], ["_ _ _", "# * a''"]):
        frame = rgb(board, size=20)
        assert (frame.dtype, frame.shape) == (np.uint8, (2 * 20 + 10, 3 * 20 + 10, 3))


def test_frames_show_something_and_are_the_callers_own() -> None:
    first = rgb(["a b"], size=SIZE)
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 50
    before = first.copy()
    first[:] = 0
    assert np.array_equal(rgb(["a b"], size=SIZE), before)


def test_every_token_looks_different() -> None:
    seen = {rgb([token], size=32).tobytes() for token in (*TOKENS_OF_ALL_KINDS[::3], "#", "_", "_'", "_''")}
    assert len(seen) == len(TOKENS_OF_ALL_KINDS[::3]) + 4


def test_frames_are_what_the_document_shows() -> None:
    level = load_pack("basics")["everything"]
    board = board_of(level)
    whole = raster.pixels(svg(board, level), 9 * 32 + 16)[..., :3].astype(int)
    pieces = rgb(board, level, size=32).astype(int)
    assert np.abs(whole - pieces)[16:-16, 16:-16].mean() < 2


def test_png_files_are_png_files() -> None:
    assert png(svg(["a"])).startswith(b"\x89PNG")


def test_tiny_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 pixels"):
        rgb(["a"], size=3)


@pytest.mark.parametrize("missing", ["resvg_py", "PIL.Image"])
def test_one_sentence_says_what_is_missing(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.import_module

    def without(name: str, package: str | None = None) -> ModuleType:
        if name == missing:
            raise ModuleNotFoundError(name)
        return there(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'crush-gym\[render\]'") as error:
        raster.pixels(svg(["a"]))
    assert "\n" not in str(error.value) and isinstance(error.value, ImportError)
