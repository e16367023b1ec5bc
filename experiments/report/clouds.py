"""Many points round a line, with a band behind them."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.report.canvas import NARROW, Drawing, area_of, axes, colour, line, path, svg
from experiments.report.html import Html, tag
from experiments.report.scales import Scale

Places = Sequence[tuple[float, float]]


def cloud_plot(
    points: Places, x: Scale, y: Scale, *, low: Places = (), high: Places = (), diagonal: bool = False, title: str = ""
) -> Drawing:
    """Points without names. low, high: the band's limits, by ascending x; diagonal: a line where both axes agree."""

    def draw(width: int) -> Html:
        height = 300 if width < NARROW else 420
        area = area_of(width, 0, height, x, y)
        upper, lower = ([(area.px(a), area.py(b)) for a, b in side] for side in (high, low))
        band = [path([*upper, *reversed(lower)], f"band {colour(1)}", closed=True)] if upper else []
        ends = ((x.low, x.low), (x.high, x.high)) if diagonal else ((x.low, 0.0), (x.high, 0.0))
        (x1, y1), (x2, y2) = ((area.px(a), area.py(b)) for a, b in ends)
        dots = [tag("circle", cx=area.px(a), cy=area.py(b), r=2.2, class_=f"mark {colour(0)}") for a, b in points]
        name = title or f"{y.name} by {x.name}"
        return svg(width, height, name, axes(area), *band, line(x1, y1, x2, y2, "zero"), *dots)

    return draw
