"""Drawings of everything on a board that is no candy, each in a cell of 64 x 64 (see `candies`)."""

from crush_gym.render.glyphs import write
from crush_gym.render.palette import CANDIES, INK
from crush_gym.render.paths import ring, rounded

SPRINKLES = (
    (21, 21, 30), (33, 15, -20), (45, 22, 60), (16, 34, 80), (29, 28, 5), (40, 33, -50), (49, 36, 80),
    (24, 42, -35), (36, 44, 30), (27, 51, 75), (44, 47, -15), (36, 23.5, 75), (20, 47.5, 10), (33, 36.5, 60),
)  # fmt: skip
"""Middle and angle of what lies on a colour bomb."""

PIPS = {
    1: ((32, 34),),
    2: ((21, 24), (43, 45)),
    3: ((19, 22), (32, 34), (45, 46)),
    4: ((20, 23), (44, 23), (20, 46), (44, 46)),
    5: ((18, 21), (46, 21), (32, 34), (18, 47), (46, 47)),
}
"""Where icing carries its layers' rosettes."""


INSET = "translate(2.9 2.9)scale(.91)"
"""Blocks leave a border in which jelly shows."""


def definitions() -> dict[str, str]:
    """All drawings of items and what they share, by name."""
    parts = {
        "dark": _gradient("dark", "#a8714a", "#5a2f17", "#1f0d05"),
        "crimson": _gradient("crimson", "#ff8fa6", "#d3123f", "#6d0020"),
        "nut": _gradient("nut", "#ffdb9c", "#c07a35", "#6b3a12"),
        "liquorice": _gradient("liquorice", "#75638a", "#33263f", "#120b18"),
        "ember": _gradient("ember", "#ffffff", "#ffcf4a", "#ff5a1f"),
        "frost": _linear("frost", "#ffffff", "#b9cdf2"),
        "cocoa": _linear("cocoa", "#a5673a", "#5c3013"),
        "bomb": _bomb(),
        "cherry": _cherry(),
        "hazelnut": _hazelnut(),
        "swirl": _swirl(),
        "chocolate": _chocolate(),
        "fused3": _fused(3),
        "fused5": _fused(5),
    }
    return parts | {f"icing{layers}": _icing(layers) for layers in PIPS}


def _bomb() -> str:
    hues = [CANDIES[letter].body for letter in "dbafcge"]
    sprinkles = "".join(
        f'<path d="M{x - 3.4} {y}h6.8" stroke="{hues[i % 7]}" transform="rotate({angle} {x} {y})"/>'
        for i, (x, y, angle) in enumerate(SPRINKLES)
    )
    return (
        f'<g id="~bomb">{_shadow(24)}<circle cx="32" cy="32" r="24" fill="url(#~dark)" stroke="#e0a878"'
        f' stroke-width="1.8"/><g stroke-width="4.6" stroke-linecap="round">{sprinkles}</g>'
        f"{_gloss(22, 17)}</g>"
    )


def _cherry() -> str:
    fruit = '<circle cx="{0}" cy="{1}" r="13" fill="url(#~crimson)" stroke="#4f0017" stroke-width="2.4"/>'
    glint = '<ellipse cx="{0}" cy="{1}" rx="3.8" ry="2.4" fill="#fff" opacity=".85" transform="rotate(-38 {0} {1})"/>'
    stems = "M43 9C34 14 24 22 21 33M43 9C45 17 46 26 45 36"
    return (
        '<g id="~cherry"><g fill="#000" opacity=".3"><circle cx="22" cy="46" r="13"/>'
        '<circle cx="46" cy="48" r="13"/></g>'
        f"{fruit.format(20, 42)}{fruit.format(45, 45)}{glint.format(15, 37)}{glint.format(40, 40)}"
        f'<g fill="none" stroke-linecap="round"><path d="{stems}" stroke="#0d3d16" stroke-width="5.5"/>'
        f'<path d="{stems}" stroke="#63c34f" stroke-width="3"/></g>'
        '<path d="M43 9C48 2 56 3 62 11C54 17 46 15 43 9Z" fill="#7fdc62" stroke="#0d3d16" stroke-width="2"'
        ' stroke-linejoin="round"/></g>'
    )


def _hazelnut() -> str:
    body = "M32 59C17 51 9 40 11 27C16 19 48 19 53 27C55 40 47 51 32 59Z"
    cap = rounded(((7, 28), (11, 13), (32, 4), (53, 13), (57, 28), (47, 24), (39, 30), (32, 25), (25, 30), (17, 24)), 4)
    return (
        f'<g id="~hazelnut"><path d="{body}" fill="#000" opacity=".3" transform="translate(1.5 3.5)"/>'
        f'<path d="{body}" fill="url(#~nut)" stroke="#3f1f06" stroke-width="2.4"/>'
        '<path d="M25 34Q26 47 32 56M40 34Q39 47 32 56" fill="none" stroke="#5b300d" stroke-width="1.6" opacity=".6"/>'
        f'<path d="{cap}" fill="#8fae5a" stroke="#2f4210" stroke-width="2.4" stroke-linejoin="round"/>'
        '<path d="M16 17Q23 11 31 9.5" fill="none" stroke="#e8f7c4" stroke-width="3" stroke-linecap="round"'
        ' opacity=".8"/><ellipse cx="20" cy="36" rx="3" ry="6" fill="#fff" opacity=".55"'
        ' transform="rotate(12 20 36)"/></g>'
    )


def _swirl() -> str:
    spiral = "M32 32A4 4 0 0 1 40 32A8 8 0 0 1 24 32A12 12 0 0 1 48 32A16 16 0 0 1 16 32A20 20 0 0 1 55 33"
    return (
        f'<g id="~swirl">{_shadow(24)}<circle cx="32" cy="32" r="24.5" fill="url(#~liquorice)" stroke="#cbb9df"'
        f' stroke-width="2.4"/><path d="{spiral}" fill="none" stroke="#e9dcf7" stroke-width="3.4"'
        f' stroke-linecap="round"/>{_gloss(20, 17)}</g>'
    )


def _icing(layers: int) -> str:
    """A frosted block with a rosette of cream for each layer."""
    block = '<rect x="4" y="5" width="56" height="55" rx="9" fill="{0}" stroke="{1}" stroke-width="2.4"/>'
    top = (
        "M5 39V14Q5 6 13 6H51Q59 6 59 14V50Q59 54 55 54Q51 54 51 50Q51 46 47 46Q43 46 43 51Q43 56 38.5 56Q34 56 34 51"
        "Q34 47 30 47Q26 47 26 51Q26 54 22 54Q18 54 18 50Q18 46 13 46Q5 46 5 39Z"
    )
    rosettes = "".join(_rosette(x, y) for x, y in PIPS[layers])
    return (
        f'<g id="~icing{layers}"><g transform="{INSET}">{block.format("#86a0d6", "#3a4f86")}'
        f'<path d="{top}" fill="url(#~frost)"/>'
        '<path d="M10 22V15Q10 10.5 15 10.5H42" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>'
        f"{rosettes}</g></g>"
    )


def _rosette(x: float, y: float) -> str:
    return (
        f'<circle cx="{x}" cy="{y}" r="6.6" fill="#f0529a" stroke="#8a1050" stroke-width="2"/>'
        f'<path d="M{x - 3} {y}A3 3 0 1 1 {x} {y + 3}" fill="none" stroke="#ffd3e8" stroke-width="2"'
        ' stroke-linecap="round"/>'
    )


def _chocolate() -> str:
    bits = "".join(
        f'<rect x="{x}" y="{y}" width="23" height="23" rx="3.5" fill="url(#~cocoa)" stroke="#2d1404"'
        ' stroke-width="1.6"/>'
        f'<path d="M{x + 3.5} {y + 18}V{y + 6}Q{x + 3.5} {y + 3.5} {x + 6} {y + 3.5}H{x + 18}" fill="none"'
        ' stroke="#e2ac7d" stroke-width="2.2" stroke-linecap="round" opacity=".85"/>'
        for y in (7.5, 33.5)
        for x in (7.5, 33.5)
    )
    frame = '<rect x="4" y="4" width="56" height="56" rx="8" fill="#47220b" stroke="#1f0c02" stroke-width="2.4"/>'
    return f'<g id="~chocolate"><g transform="{INSET}">{frame}{bits}</g></g>'


def _fused(reach: int) -> str:
    """What a wrapped candy leaves for its second blast of `reach` x `reach` cells."""
    rays = rounded(ring(24 if reach == 5 else 16, (30, 21) if reach == 5 else (27, 19)), 2)
    return (
        f'<g id="~fused{reach}"><path d="{rays}" fill="url(#~ember)" stroke="#9c2500" stroke-width="2.2"'
        f' stroke-linejoin="round"/><circle cx="32" cy="32" r="13.5" fill="{INK}" opacity=".88"/>'
        f"{write(str(reach), 32, 32, 16)}</g>"
    )


def _gloss(x: float, y: float) -> str:
    return (
        f'<ellipse cx="{x}" cy="{y}" rx="10" ry="6" fill="url(#~shine)" transform="rotate(-38 {x} {y})"/>'
        f'<ellipse cx="{x - 1}" cy="{y}" rx="4" ry="2.2" fill="#fff" opacity=".75" transform="rotate(-38 {x} {y})"/>'
    )


def _shadow(radius: float) -> str:
    return f'<circle cx="33.5" cy="35.5" r="{radius}" fill="#000" opacity=".3"/>'


def _gradient(name: str, light: str, body: str, edge: str) -> str:
    return (
        f'<radialGradient id="~{name}" cx=".36" cy=".28" r=".8"><stop offset="0" stop-color="{light}"/>'
        f'<stop offset=".5" stop-color="{body}"/><stop offset="1" stop-color="{edge}"/></radialGradient>'
    )


def _linear(name: str, light: str, dark: str) -> str:
    return (
        f'<linearGradient id="~{name}" x2="1" y2="1"><stop offset="0" stop-color="{light}"/>'
        f'<stop offset="1" stop-color="{dark}"/></linearGradient>'
    )
