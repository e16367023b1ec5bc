"""Distributions over bins."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.report.canvas import NARROW, Area, Drawing, area_of, axes, colour, legend, path, svg
from experiments.report.html import Html, join
from experiments.report.plots import Series
from experiments.report.scales import Scale, scale_of


def histogram_plot(
    edges: Sequence[float], shares: Sequence[Series], x_name: str, y_name: str = "share of attempts", *, title: str = ""
) -> Drawing:
    """Distributions over the same bins, as outlines with a faint fill. shares: series whose y are the bins' shares."""
    across = Scale(float(edges[0]), float(edges[-1]), x_name)
    up = scale_of([v for one in shares for v in one.y], y_name, include=(0.0,))

    def draw(width: int) -> Html:
        names, top = legend([one.name for one in shares], width) if len(shares) > 1 else (Html(), 0.0)
        height = 240 if width < NARROW else 300
        area = area_of(width, top, height, across, up)
        drawn = [_bins(one, place, edges, area) for place, one in enumerate(shares)]
        return svg(width, top + height, title or f"distribution of {x_name}", names, axes(area), *drawn)

    return draw


def _bins(one: Series, place: int, edges: Sequence[float], area: Area) -> Html:
    corners = [(area.px(edges[0]), area.py(0))]
    for left, right, share in zip(edges, edges[1:], one.y, strict=False):
        corners += [(area.px(left), area.py(share)), (area.px(right), area.py(share))]
    corners.append((area.px(edges[-1]), area.py(0)))
    return join(path(corners, f"band {colour(place)}", closed=True), path(corners, f"line {colour(place)}"))
