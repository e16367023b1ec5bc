"""Pages: whole, safe and self-contained HTML, and figures that show what they are given."""

from __future__ import annotations

import itertools
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments import report
from experiments.report import Box, Compared, Page, Point, Scale, Series, Span
from experiments.report.canvas import LETTER, SIZE
from experiments.report.heat import shade

WIDTHS = (report.PHONE, report.HALF, report.WIDE)
LONG = "mcts:simulations=100,playout=heuristic,signal=combined,outcomes=3"


class Balance(HTMLParser):
    """Remembers what is open, and complains about what closes nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "wbr", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Balance:
    parser = Balance()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def figures() -> dict[str, report.Drawing]:
    """One of each kind, with names that are too long and values at the borders."""
    names = ["random", LONG, "greedy"]
    series = [Series(n, [1, 2, 3], [i, 2 + i, 1.5], [i - 1, 1, 1], [i + 1, 3, 3]) for i, n in enumerate(names)]
    points = [Point(n, 10.0 ** (i - 4), 0.3, 0.2, 0.5) for i, n in enumerate([*names, "next to greedy"])]
    return {
        "intervals": report.interval_plot([Span(n, i, i - 1, i + 2) for i, n in enumerate(names)], LONG, zero=0.0),
        "boxes": report.box_plot([Box(n, 0, 1, 2, 3, 10, (40,)) for n in names], "score"),
        "bars": report.line_plot(series, "depth", "mean score"),
        "profile": report.line_plot(series, "τ", "share", bands=True, steps=True),
        "scatter": report.scatter_plot(points, "seconds", "strength", x=report.scale_of([1e-4, 1], "s", log=True)),
        "histogram": report.histogram_plot([0, 10, 20000], [Series(n, [], [0.25, 0.75]) for n in names], "score"),
        "few": report.heat_map(names, ["look-alike 13", LONG, "c"], [[0.1, math.nan, 1]] * 3),
        "many": report.heat_map(names, [str(i) for i in range(1000)], [[0.5] * 1000] * 3),
    }


def page() -> Page:
    drawn = [report.figure(drawing, "what `it` shows") for drawing in figures().values()]
    rows = [Compared("t of random against S.H1.1", "14.59", 16.1, "more attempts")]
    return Page("A <page> & more", "**Lead** with `code`", (
        report.section("One", report.prose("text & <b>", "more"), *drawn),
        report.section("Two", report.against_paper(rows), report.table(("a", "b"), [("x", 1)]), report.note("note")),
        report.section("Three", report.commands("a 'b'"), report.folded("open", report.facts({"jax": "0.10"}))),
    ), {"versions": "jax"})  # fmt: skip


def test_a_page_is_well_formed_and_needs_nothing_else() -> None:
    html = page().html()
    found = parsed(html)
    assert "A <page> & more" in found.text and "text & <b>" in found.text
    assert (
        "<script" not in html
        and not re.search(r"(src|href)=\"(?!#)", html)
        and "url(" not in re.sub(r"url\(#", "", html)
    )
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_a_page_fits_phones_and_dark_rooms() -> None:
    html = page().html()
    assert 'content="width=device-width, initial-scale=1"' in html
    assert "prefers-color-scheme:dark" in html and "@media(max-width:640px)" in html
    assert html.count('class="narrow"') == html.count('class="wide"') == len(figures())


def test_links_lead_to_sections() -> None:
    seen = parsed(page().html()).seen
    links = {attributes["href"] for tag, attributes in seen if tag == "a"}
    assert links == {f"#{attributes['id']}" for tag, attributes in seen if tag == "h2"} == {"#one", "#two", "#three"}


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "new" / "page.html"
    page().write(target)
    assert target.read_text(encoding="utf-8") == page().html()
    assert [path.name for path in target.parent.iterdir()] == ["page.html"]
    with pytest.raises(report.PageError, match="cannot be written"):
        page().write(target / "inside-a-file.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(report.PageError, match="folder"):
        page().write(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "new"]


def test_text_is_escaped_and_marks_are_not() -> None:
    assert report.inline("a<b `c<d:e` **f**") == ("a&lt;b <code>c&lt;d:<wbr>e</code> <strong>f</strong>")
    assert report.tag("p", "<", report.tag("b", "x"), title='"', class_="y", hidden=None) == (
        '<p title="&quot;" class="y">&lt;<b>x</b></p>'
    )
    assert report.escape("a\x00b\ud800") == "ab"


def test_a_stacked_table_names_its_cells() -> None:
    table = report.table(("player", report.tag("b", "IQM")), [("x", "1")], stacked=True)
    assert 'data-label="IQM"' in table and 'class="stack"' in table
    with pytest.raises(ValueError, match="zip"):
        report.table(("a", "b"), [("only one",)])


# ------------------------------------------------------------------------------------------ scales


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.37, 0.91), (3, 100_000), (0.001, 0.0013), (-5, -4)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    ticks = Scale(low, high).ticks(6)
    steps = {round((b - a) / (high - low), 6) for a, b in itertools.pairwise(ticks)}
    assert 2 <= len(ticks) <= 7 and len(steps) == 1 and low <= ticks[0] and ticks[-1] <= high
    digits = f"{ticks[1] - ticks[0]:e}".split("e")[0].rstrip("0").rstrip(".")
    assert digits in ("1", "2", "2.5", "5")


def test_logarithmic_ticks_are_ones_twos_and_fives() -> None:
    assert Scale(0.02, 1.5, log=True).ticks(10) == pytest.approx([0.02, 0.05, 0.1, 0.2, 0.5, 1])
    assert Scale(1e-4, 10, log=True).ticks(6) == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1, 10])


def test_places_are_even_or_logarithmic() -> None:
    assert [Scale(10, 30).at(v) for v in (10, 15, 30)] == [0, 0.25, 1]
    assert [Scale(1, 100, log=True).at(v) for v in (1, 10, 100)] == pytest.approx([0, 0.5, 1])


def test_scales_hold_all_values() -> None:
    scale = report.scale_of([3, math.nan, 7], include=(0,))
    assert scale.low == 0 and 7 < scale.high < 8
    assert report.scale_of([0, 1e-3, 1], log=True).low < 1e-3
    assert report.scale_of([]).high > report.scale_of([]).low and report.scale_of([5]).high > 5


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (report.plain, 12345.6, "12,346"), (report.plain, -0.25, "\N{MINUS SIGN}0.25"),
        (report.plain, 1e-7, "1.0e\N{MINUS SIGN}07"),
        (report.percent, 0.0123, "1.2 %"), (report.percent, 0.546, "55 %"), (report.percent, 0, "0 %"),
        (report.percent, 1, "100 %"), (report.duration, 0.0123, "12.3 ms"), (report.duration, 90, "1.5 min"),
        (report.duration, 0.9999, "1 s"), (report.duration, 2e-6, "2 µs"), (report.duration, 7200, "2 h"),
    ],
)  # fmt: skip
def test_numbers_are_short(form: report.scales.Form, value: float, text: str) -> None:
    assert form(value).replace("\N{NO-BREAK SPACE}", " ") == text


# ----------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", list(figures()))
def test_nothing_is_drawn_outside_a_figure(kind: str, width: int) -> None:
    drawn = figures()[kind](width)
    parsed(drawn)
    wide, high = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn).groups())  # type: ignore[union-attr]
    assert wide == width
    for x, y, rest, text in re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)"([^>]*)>([^<]*)', drawn):
        share = 1 if "end" in rest else 0.5 if "middle" in rest else 0
        size = 0 if "rotate" in rest or "font-size" in rest else LETTER * SIZE * len(text)
        left = float(x) - share * size
        assert left >= -2 and left + size <= width + 2, text
        assert 0 <= float(y) <= high, text


def test_intervals_lie_where_their_values_are() -> None:
    spans = [Span("a", 0.0, 0.0, 0.0), Span("b", 0.5, 0.25, 1.0)]
    drawn = report.interval_plot(spans, "x", x=Scale(0, 1, "x"))(report.WIDE)
    (zero, _), (low, high) = (
        map(float, pair) for pair in re.findall(r'M([\d.]+) [\d.]+L([\d.]+) [\d.]+" class="span', drawn)
    )
    middle = float(re.findall(r"translate\(([\d.]+) ", drawn)[1]) + 7
    assert low - zero == pytest.approx((high - zero) / 4, abs=0.1)
    assert middle - zero == pytest.approx((high - zero) / 2, abs=0.1)


def test_the_line_at_zero_crosses_no_name() -> None:
    spans = [Span("a player with a long name " * 2, 0.5, -0.2, 0.9, n) for n in range(4)]
    for width in (380, 420, 900):
        html = str(report.interval_plot(spans, "difference", zero=0.0)(width))
        lines = re.findall(r'<path d="M([\d.]+) ([\d.]+)L[\d.]+ ([\d.]+)" class="zero"', html)
        names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*class="ink halo"', html)
        assert len(names) == 4 and len(lines) == (1 if width == 900 else 4)
        for x, top, bottom in (map(float, line) for line in lines):
            for left, base in (map(float, name) for name in names):
                beside = width == 900 and x > left
                assert beside or base < top or base - SIZE > bottom, (width, base, top, bottom)


def test_steps_hold_their_height_until_the_next_point() -> None:
    one = Series("p", [0, 1, 2, 3], [1, 1, 0, 0])
    drawn = report.line_plot([one], "x", "y", x=Scale(0, 3, "x"), y=Scale(0, 1, "y"), steps=True, bands=True)(
        report.WIDE
    )
    points = re.search(r'd="M([^"]+)" class="line', drawn)
    assert points is not None
    corners = [tuple(map(float, pair.split())) for pair in points[1].split("L")]
    assert len(corners) == 4 and corners[1][0] == corners[2][0] and corners[0][1] == corners[1][1] < corners[2][1]


@pytest.mark.parametrize("columns", [1, 3, 1000])
@pytest.mark.parametrize("width", WIDTHS)
def test_heat_maps_hold_every_level(columns: int, width: int) -> None:
    names = [f"level {i}" for i in range(columns)]
    drawn = report.heat_map(["random", "greedy"], names, [[i / columns for i in range(columns)]] * 2)(width)
    cells = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v", drawn)
    assert len(set(cells)) == 2 * columns
    assert max(float(x) + float(w) for x, _, w in cells) <= width
    assert len(drawn) < 120_000
    assert ("level 0" in drawn) == (columns <= 3)


def test_colours_of_heat_maps_grow_lighter() -> None:
    def light(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lightness = [light(shade(i / 40)) for i in range(41)]
    assert all(a < b for a, b in itertools.pairwise(lightness))
    assert shade(-1) == shade(0) and shade(2) == shade(1)


def test_names_of_points_do_not_hide_each_other() -> None:
    points = [Point(f"player {i}", 1 + i / 50, 1 + i / 50) for i in range(12)]
    drawn = report.scatter_plot(points, "x", "y")(report.PHONE)
    boxes = []
    for x, y, rest, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"([^>]*halo[^>]*)>([^<]*)', drawn):
        wide = LETTER * SIZE * len(text)
        left = float(x) - (wide if '"end"' in rest else wide / 2 if '"middle"' in rest else 0)
        boxes.append((left, left + wide, float(y) - 11, float(y) + 3))
    assert boxes
    for a, b in itertools.combinations(boxes, 2):
        assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]


def test_boxes_of_values_show_what_lies_outside() -> None:
    assert Box.of("a", [1, 2, 3, 4, 5, 100, 100], 2) == Box("a", 1, 2.5, 4, 52.5, 100, [], 2)
    assert Box.of("a", [1, 2, 3, 4, 5, 100]) == Box("a", 1, 2.25, 3.5, 4.75, 5, [100])
