"""Drawings of the seven candies in their forms, each in a cell of 64 x 64; the light comes from the upper left.

A drawing is a piece of SVG in which `~` stands for the picture's own prefix of ids.
"""

from crush_gym.render.glyphs import write
from crush_gym.render.palette import CANDIES, INK, RANDOM, Hue
from crush_gym.render.paths import ring, rounded

OUTLINES = {
    "a": "M32 56C15 44 7 35 7 23.5C7 14.5 14 8.5 21 8.5C26 8.5 29.7 11.3 32 15.5"
    "C34.3 11.3 38 8.5 43 8.5C50 8.5 57 14.5 57 23.5C57 35 49 44 32 56Z",
    "b": "M32 8A24 24 0 1 1 32 56A24 24 0 1 1 32 8Z",
    "c": "M19 9.5H45Q54.5 9.5 54.5 19V45Q54.5 54.5 45 54.5H19Q9.5 54.5 9.5 45V19Q9.5 9.5 19 9.5Z",
    "d": rounded(ring(10, (29, 15.5), (32, 34)), 3.6),
    "e": rounded(((32, 1.5), (62, 56), (2, 56)), 11),
    "f": rounded(((32, 3), (59, 32), (32, 61), (5, 32)), 7),
    "g": rounded(ring(6, (27.5,), turn=0), 6),
}
"""heart, ball, square, star, triangle, diamond, hexagon"""

CENTRES = {"a": 30, "d": 34, "e": 39}
"""Height of a candy's middle where it is not 32."""

HIGHLIGHTS = {"a": (20, 18), "d": (30, 17), "e": (30, 17), "f": (25, 21), "g": (22, 19)}
"""Where the light glances off."""

FORMS = {"": "", "-": "-h", "|": "-v", "@": "-w"}
"""What a form's drawing is called behind the letter."""


def definitions() -> dict[str, str]:
    """All drawings of candies and what they share, by name."""
    shared = {
        "shine": _gradient("shine", (("0", "#fff", ".85"), ("1", "#fff", "0"))),
        "stripe": '<g id="~stripe"><path d="M0 16.5H64M0 32H64M0 47.5H64" stroke="#fff" stroke-width="6.2"'
        ' opacity=".96"/><path d="M0 19.2H64M0 34.7H64M0 50.2H64" stroke="#000" stroke-width="1"'
        ' opacity=".18"/></g>',
        "arrows": _arrows(),
    }
    drawings: dict[str, str] = {}
    for letter, hue in CANDIES.items():
        drawings |= _candy(letter, hue)
    return shared | drawings | {"random": _random()}


def _candy(letter: str, hue: Hue) -> dict[str, str]:
    """One colour's gradient, clip and forms."""
    stops = (("0", hue.light, "1"), (".55", hue.body, "1"), ("1", _mix(hue.body, hue.edge, 0.45), "1"))
    film = (("0", _mix(hue.light, "#ffffff", 0.85), "1"), ("1", _mix(hue.body, "#ffffff", 0.55), "1"))
    path = OUTLINES[letter]
    edge = f'<path d="{path}" fill="none" stroke="{hue.edge}" stroke-width="2.6" stroke-linejoin="round"/>'
    return {
        f"fill-{letter}": _gradient(f"fill-{letter}", stops),
        f"film-{letter}": _gradient(f"film-{letter}", film),
        f"clip-{letter}": f'<clipPath id="~clip-{letter}"><path d="{path}"/></clipPath>',
        letter: f'<g id="~{letter}">{_shadow(path)}{_body(letter, hue)}{edge}{_glint(letter)}</g>',
        f"{letter}-h": _striped(letter, hue, edge, 0),
        f"{letter}-v": _striped(letter, hue, edge, 90),
        f"{letter}-w": _wrapped(letter, hue),
    }


def _body(letter: str, hue: Hue) -> str:
    """The candy without edge: colour, an inner face that catches light, shade at the lower right."""
    path, middle = OUTLINES[letter], CENTRES.get(letter, 32)
    inner = f"translate(32 {middle})scale(.68)translate(-32 -{middle})"
    return (
        f'<path d="{path}" fill="url(#~fill-{letter})"/>'
        f'<g clip-path="url(#~clip-{letter})"><path d="{path}" fill="none" stroke="{hue.edge}" stroke-width="9"'
        f' opacity=".28" transform="translate(-2 -2.5)"/><path d="{path}" fill="none" stroke="#fff"'
        f' stroke-width="4" opacity=".3" transform="translate(2.2 2.6)"/></g>'
        f'<path d="{path}" fill="{hue.light}" opacity=".26" transform="{inner}"/>'
    )


def _glint(letter: str) -> str:
    x, y = HIGHLIGHTS.get(letter, (23, 20))
    return (
        f'<ellipse cx="{x}" cy="{y}" rx="9" ry="5.5" fill="url(#~shine)" transform="rotate(-38 {x} {y})"/>'
        f'<ellipse cx="{x - 2}" cy="{y - 0.5}" rx="3.6" ry="2" fill="#fff" opacity=".9"'
        f' transform="rotate(-38 {x} {y})"/>'
    )


def _striped(letter: str, hue: Hue, edge: str, angle: int) -> str:
    turn = f' transform="rotate({angle} 32 32)"' if angle else ""
    form = "v" if angle else "h"
    return (
        f'<g id="~{letter}-{form}">{_shadow(OUTLINES[letter])}{_body(letter, hue)}'
        f'<g clip-path="url(#~clip-{letter})"><use href="#~stripe"{turn}/></g>{edge}'
        f'<use href="#~arrows"{turn}/></g>'
    )


def _arrows() -> str:
    """Where a striped candy's rays go: an arrow head at both ends."""
    path = "M7.5 25.5L1.8 32L7.5 38.5M56.5 25.5L62.2 32L56.5 38.5"
    return (
        '<g id="~arrows" fill="none" stroke-linecap="round" stroke-linejoin="round">'
        f'<path d="{path}" stroke="{INK}" stroke-width="6.5"/><path d="{path}" stroke="#fff" stroke-width="3"/></g>'
    )


def _wrapped(letter: str, hue: Hue) -> str:
    """A bonbon: the candy on a film that is twisted at both ends."""
    middle = CENTRES.get(letter, 32)
    ear = "M46 32L61 17.5Q58 24.5 62.5 32Q58 39.5 61 46.5Z"
    pleats = "M48 32L59.5 25M48 32L60 32M48 32L59.5 39"
    ends = (
        f'<path d="{ear}" fill="{_mix(hue.body, "#ffffff", 0.45)}" stroke="{hue.edge}" stroke-width="2.2"'
        f' stroke-linejoin="round"/><path d="{pleats}" fill="none" stroke="{hue.edge}" stroke-width="1.6"/>'
    )
    film = "M15 12Q32 5.5 49 12Q57 32 49 52Q32 58.5 15 52Q7 32 15 12Z"
    small = f"translate(32 32)scale(.62)translate(-32 -{middle})"
    return (
        f'<g id="~{letter}-w"><g transform="rotate(-32 32 32)">{ends}<g transform="rotate(180 32 32)">{ends}</g>'
        f'<path d="{film}" fill="url(#~film-{letter})" stroke="{hue.edge}" stroke-width="2.4"/></g>'
        f'<g transform="{small}">{_body(letter, hue)}<path d="{OUTLINES[letter]}" fill="none" stroke="{hue.edge}"'
        ' stroke-width="4" stroke-linejoin="round"/></g>'
        '<path d="M13 25Q17 14 30 11.5" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round"'
        ' opacity=".95"/></g>'
    )


def _random() -> str:
    """The neutral candy of a `?` cell."""
    circle = "M32 9A23 23 0 1 1 32 55A23 23 0 1 1 32 9Z"
    return (
        f'<g id="~random">{_shadow(circle)}<path d="{circle}" fill="{RANDOM.body}" opacity=".32"/>'
        f'<path d="{circle}" fill="none" stroke="{RANDOM.body}" stroke-width="2.2" stroke-dasharray="7 5.040"'
        f' stroke-linecap="round"/>{write("?", 32, 32, 18, RANDOM.light, 2, 0)}</g>'
    )


def _shadow(path: str) -> str:
    return f'<path d="{path}" fill="#000" opacity=".3" transform="translate(1.5 3.5)"/>'


def _gradient(name: str, stops: tuple[tuple[str, str, str], ...]) -> str:
    """A radial gradient lit from the upper left; stops: (offset, colour, opacity)."""
    inner = "".join(
        f'<stop offset="{offset}" stop-color="{colour}"'
        + (f' stop-opacity="{opacity}"' if opacity != "1" else "")
        + "/>"
        for offset, colour, opacity in stops
    )
    middle = 'cx=".5" cy=".5" r=".5"' if name == "shine" else 'cx=".36" cy=".28" r=".8"'
    return f'<radialGradient id="~{name}" {middle}>{inner}</radialGradient>'


def _mix(first: str, second: str, share: float) -> str:
    """A colour between two, `share` of the way to the second."""
    parts = (int(first[i : i + 2], 16) * (1 - share) + int(second[i : i + 2], 16) * share for i in (1, 3, 5))
    return "#" + "".join(f"{round(part):02x}" for part in parts)
