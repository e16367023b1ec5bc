"""Boards as pixels: the drawings of `svg`, rasterised once for each kind of cell and put together with numpy."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crush_gym.levels.level import Level
from crush_gym.render.palette import PAGE
from crush_gym.render.scene import PAD, SIDE, Plan, cell_of, needed, over, parts_of, plan_of, tokens_of, under
from crush_gym.render.svg import document, uses

Pixels = NDArray[np.uint8]


class MissingExtraError(ImportError):
    """A package that pictures need is not installed."""


def optional(module: str, what: str = "pictures in pixels need") -> Any:
    """A module of the extra `render`, or one sentence about how to get it. what: needs it, as the sentence begins."""
    try:
        return importlib.import_module(module)
    except ImportError:
        sentence = f"{what} {module}, which is not installed: pip install 'crush-gym[render]'"
        raise MissingExtraError(sentence) from None


def rgb(rows: Sequence[str], level: Level | None = None, size: int = 48) -> Pixels:
    """A board as uint8[H * size + 2 * margin, W * size + 2 * margin, 3], the margin being a quarter of `size`.

    rows, level: as for `svg`; size: pixels a cell's side, at least 8.
    """
    if size < 8:
        raise ValueError(f"a cell's side must be at least 8 pixels, not {size}")
    table = tokens_of(rows)
    return _painter(plan_of(table, level), size).paint(table)


def pixels(document_text: str, width: int | None = None) -> Pixels:
    """An SVG document as uint8[H, W, 4], straight alpha; width: in pixels, as the document says if left out."""
    image = optional("PIL.Image")
    data = optional("resvg_py").svg_to_bytes(svg_string=document_text, width=width)
    picture: Pixels = np.asarray(image.open(io.BytesIO(bytes(data))).convert("RGBA"))
    return picture


def png(document_text: str, width: int | None = None) -> bytes:
    """An SVG document as a PNG file; arguments as of `pixels`."""
    return bytes(optional("resvg_py").svg_to_bytes(svg_string=document_text, width=width))


class _Painter:
    """Boards of one plan at one size; cells that look alike are made once."""

    def __init__(self, plan: Plan, size: int) -> None:
        self.size, self.margin = size, round(size * PAD / SIDE)
        lower = _blend(_page(plan, self), self._layer(plan, under(plan)))
        upper = self._layer(plan, over(plan))
        self.backdrop = _blend(lower, upper)
        self.grounds: list[tuple[Pixels, Pixels]] = []
        self.ground_of = self._grounds(plan, lower, upper)
        self.cell = lru_cache(maxsize=512)(self._cell)

    def paint(self, table: Sequence[Sequence[str]]) -> Pixels:
        """uint8[H, W, 3]"""
        frame, size = self.backdrop.copy(), self.size
        for r, row in enumerate(table):
            y = self.margin + r * size
            for c, token in enumerate(row):
                x = self.margin + c * size
                if token != "#":
                    frame[y : y + size, x : x + size] = self.cell(self.ground_of[r][c], token)
        return frame

    def _cell(self, ground: int, token: str) -> Pixels:
        lower, upper = self.grounds[ground]
        return _blend(_blend(lower, _sprite(token, self.size)), upper)

    def _grounds(self, plan: Plan, lower: Pixels, upper: Pixels) -> list[list[int]]:
        """For each cell, the number of what lies under and over it; cells with the same pixels share one."""
        numbers: dict[bytes, int] = {}
        rows = []
        for r in range(plan.shape[0]):
            rows.append([self._ground(numbers, lower, upper, r, c) for c in range(plan.shape[1])])
        return rows

    def _ground(self, numbers: dict[bytes, int], lower: Pixels, upper: Pixels, r: int, c: int) -> int:
        y, x = self.margin + r * self.size, self.margin + c * self.size
        box = (slice(y, y + self.size), slice(x, x + self.size))
        index = numbers.setdefault(lower[box].tobytes() + upper[box].tobytes(), len(self.grounds))
        if index == len(self.grounds):
            self.grounds.append((lower[box], upper[box]))
        return index

    def _layer(self, plan: Plan, drawn: str) -> Pixels:
        """A drawing over the whole board, uint8[H, W, 4]."""
        height, width = (n * self.size + 2 * self.margin for n in plan.shape)
        scale = self.size / SIDE
        place = f"translate({self.margin} {self.margin})scale({scale!r})"
        body = f'<g transform="{place}">{drawn}</g>'
        return pixels(document((width, height), body, "", "layer", backdrop=False))


def _page(plan: Plan, painter: _Painter) -> Pixels:
    """An empty page, uint8[H, W, 3]."""
    height, width = (n * painter.size + 2 * painter.margin for n in plan.shape)
    colour = np.array([int(PAGE[i : i + 2], 16) for i in (1, 3, 5)], np.uint8)
    return np.tile(colour, (height, width, 1))


@lru_cache(maxsize=64)
def _painter(plan: Plan, size: int) -> _Painter:
    return _Painter(plan, size)


@lru_cache(maxsize=4096)
def _sprite(token: str, size: int) -> Pixels:
    """One cell's items, uint8[size, size, 4]."""
    names = parts_of(cell_of(token))
    if not names:
        return np.zeros((size, size, 4), np.uint8)
    body = f'<g transform="scale({size / SIDE!r})">{uses(names, 0, 0)}</g>'
    return pixels(document((size, size), body, needed(frozenset(names)), "cell", backdrop=False))


def _blend(lower: Pixels, upper: Pixels) -> Pixels:
    """uint8[H, W, 4] over uint8[H, W, 3]."""
    alpha = upper[..., 3:].astype(np.uint16)
    mixed = upper[..., :3] * alpha + lower * (255 - alpha)
    return ((mixed + 127) // 255).astype(np.uint8)
