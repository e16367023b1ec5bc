"""Boards in motion: an SVG that plays in a browser, and a GIF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crush_gym.levels.level import Level
from crush_gym.render.glyphs import number
from crush_gym.render.raster import Pixels, optional, rgb
from crush_gym.render.scene import SIDE, Plan, cell_of, needed, over, parts_of, plan_of, tokens_of, under
from crush_gym.render.svg import framed, uses

Frames = Sequence[Sequence[str]]


def animated_svg(
    frames: Frames, level: Level | None = None, seconds_per_frame: float = 0.25, *, title: str | None = None
) -> str:
    """Positions as an SVG that plays them over and over; what cannot play shows the first one.

    frames: each the rows of one position; a cell costs something only where it changes.
    """
    tables, plan = _tables(frames, level)
    _check_pace(seconds_per_frame)
    clock = _Clock(len(tables), seconds_per_frame)
    shown, kinds = [], dict[str, str]()
    for r, row in enumerate(plan.floor):
        for c in range(len(row)):
            history = [table[r][c] for table in tables]
            for token in dict.fromkeys(history):
                names = parts_of(cell_of(token))
                if names:
                    kind = kinds.setdefault(token, f"t{len(kinds)}")
                    shown.append(_spell(kind, r, c, [past == token for past in history], clock))
    used = frozenset(name for token in kinds for name in parts_of(cell_of(token)))
    defs = needed(used) + "".join(
        f'<g id="~{kind}">{uses(parts_of(cell_of(token)), 0, 0)}</g>' for token, kind in kinds.items()
    )
    return framed(plan, under(plan) + "".join(shown) + over(plan), defs, title)


def gif(
    frames: Frames, path: str | Path, level: Level | None = None, seconds_per_frame: float = 0.25, size: int = 48
) -> None:
    """Positions as a GIF that plays over and over; positions that are equal and follow one another are one image.

    size: pixels a cell's side, as for `rgb`.
    """
    tables, _ = _tables(frames, level)
    _check_pace(seconds_per_frame)
    image = optional("PIL.Image")
    stills: list[Pixels] = []
    durations: list[int] = []
    for i, rows in enumerate(frames):
        if i and tables[i] == tables[i - 1]:
            durations[-1] += round(1000 * seconds_per_frame)
        else:
            stills.append(rgb(rows, level, size))
            durations.append(round(1000 * seconds_per_frame))
    palette = image.fromarray(_sample(stills)).quantize(256, method=image.Quantize.MEDIANCUT)
    images = [image.fromarray(still).quantize(palette=palette, dither=image.Dither.NONE) for still in stills]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)


class _Clock:
    """When frames begin, as shares of the whole time."""

    def __init__(self, frames: int, seconds_per_frame: float) -> None:
        digits = max(len(str(frames)) + 1, 3)
        self.times = [f"{i / frames:.{digits}f}".rstrip("0").rstrip(".") for i in range(frames)]
        self.seconds = number(frames * seconds_per_frame)


def _spell(kind: str, r: int, c: int, seen: Sequence[bool], clock: _Clock) -> str:
    """A token on a cell, and in which frames it is seen."""
    place = f'<use href="#~{kind}" x="{SIDE * c}" y="{SIDE * r}"'
    if all(seen):
        return place + "/>"
    turns = [i for i in range(len(seen)) if i == 0 or seen[i] != seen[i - 1]]
    values = ";".join("visible" if seen[i] else "hidden" for i in turns)
    times = ";".join(clock.times[i] for i in turns)
    first = "" if seen[0] else ' visibility="hidden"'
    return (
        f'{place}{first}><animate attributeName="visibility" calcMode="discrete" values="{values}" keyTimes="{times}"'
        f' dur="{clock.seconds}s" repeatCount="indefinite"/></use>'
    )


def _tables(frames: Frames, level: Level | None) -> tuple[list[list[list[str]]], Plan]:
    if not frames:
        raise ValueError("an animation needs at least one position, but there is none")
    tables = [tokens_of(rows) for rows in frames]
    plans = {plan_of(table, level) for table in tables}
    if len(plans) > 1:
        raise ValueError("an animation shows one board, but its positions differ in their floor")
    return tables, plans.pop()


def _sample(stills: Sequence[Pixels]) -> Pixels:
    """Up to eight of the images side by side: enough to choose a palette from."""
    step = -(-len(stills) // 8)
    return np.concatenate(stills[::step], axis=1)


def _check_pace(seconds_per_frame: float) -> None:
    if not 0.02 <= seconds_per_frame <= 60:
        raise ValueError(f"a frame must last from 0.02 to 60 seconds, not {seconds_per_frame}")
