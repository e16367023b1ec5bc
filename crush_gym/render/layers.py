"""Drawings of what lies under, on and over items: jelly, tags, covers; each in a cell of 64 x 64 (see `candies`)."""

from crush_gym.render.glyphs import write
from crush_gym.render.palette import INK, JELLY

COUNTERS = range(100)


def definitions() -> dict[str, str]:
    """All drawings of layers and what they share, by name."""
    parts = {
        "jelly1": _jelly(1),
        "jelly2": _jelly(2),
        "plus5": _plus5(),
        "drop": _drop(),
        "amber": '<radialGradient id="~amber" r=".75"><stop offset="0" stop-color="#ffd060" stop-opacity=".05"/>'
        '<stop offset=".55" stop-color="#ffae24" stop-opacity=".2"/><stop offset="1" stop-color="#ff8a00"'
        ' stop-opacity=".9"/></radialGradient>',
        "lock": _lock(),
        "marmalade": _marmalade(),
    }
    return parts | {f"counter{n}": _counter(n) for n in COUNTERS}


def _jelly(layers: int) -> str:
    """A wobbly tile; the second layer is brighter and has a frame."""
    colour = JELLY[layers - 1]
    frame = (
        '<rect x="6" y="6" width="52" height="52" rx="9" fill="none" stroke="#fff" stroke-width="3" opacity=".75"/>'
        if layers == 2
        else ""
    )
    return (
        f'<g id="~jelly{layers}"><rect x="1" y="1" width="62" height="62" rx="12" fill="{colour}"'
        f' opacity="{".88" if layers == 2 else ".62"}"/>{frame}'
        '<path d="M5.5 22V14Q5.5 5.5 14 5.5H24" fill="none" stroke="#fff" stroke-width="3.2"'
        ' stroke-linecap="round" opacity=".8"/>'
        '<path d="M58.5 44V50Q58.5 58.5 50 58.5H42" fill="none" stroke="#5b1244" stroke-width="2.6"'
        ' stroke-linecap="round" opacity=".45"/></g>'
    )


def _counter(count: int) -> str:
    """A candy bomb: a lit fuse and the moves that are left."""
    return (
        f'<g id="~counter{count}" stroke-linecap="round" stroke-linejoin="round"><path d="M43 20Q47 9 55 11"'
        f' fill="none" stroke="{INK}" stroke-width="6"/><path d="M43 20Q47 9 55 11" fill="none" stroke="#d9c9a3"'
        ' stroke-width="3"/>'
        '<path d="M56 3.5L57.8 8.5L63 7.5L59.8 11.8L63 16L57.8 15L56 20L54.2 15L49 16L52.2 11.8L49 7.5'
        'L54.2 8.5Z" fill="#ffe45c" stroke="#f2561d" stroke-width="1.6"/>'
        f'<circle cx="32" cy="34" r="16.5" fill="{INK}" stroke="#fff" stroke-width="2.2"/>'
        f"{write(str(count), 32, 34, 18 if count < 10 else 15.5, '#ffffff', 2.8)}</g>"
    )


def _plus5() -> str:
    return (
        f'<g id="~plus5"><rect x="25" y="35" width="37" height="25" rx="11" fill="#0e7a3c" stroke="#fff"'
        f' stroke-width="2.4"/>{write("+5", 43.5, 47.5, 14, "#ffffff", 3)}</g>'
    )


def _drop() -> str:
    path = "M48 31C52 38 60 43 60 50.5A11.5 11.5 0 0 1 37 50.5C37 43 44 38 48 31Z"
    return (
        f'<g id="~drop"><path d="{path}" fill="#fff" stroke="#3b4a86" stroke-width="2.6" stroke-linejoin="round"/>'
        '<path d="M42.5 50A6 6 0 0 0 48.5 56" fill="none" stroke="#8fa6ee" stroke-width="2.6"'
        ' stroke-linecap="round"/><circle cx="50" cy="43.5" r="2" fill="#bfd0ff"/></g>'
    )


def _lock() -> str:
    """Two twisted sticks of liquorice and a padlock where they cross."""
    cross = "M9 9L55 55M55 9L9 55"
    return (
        f'<g id="~lock" stroke-linecap="round"><path d="{cross}" stroke="#f3e9ff" stroke-width="9.6"/>'
        f'<path d="{cross}" stroke="#1b1322" stroke-width="6.8"/><path d="{cross}" stroke="#8672a0" stroke-width="2.2"'
        ' stroke-dasharray="3 7"/><path d="M26.5 31V26.5A5.5 5.5 0 0 1 37.5 26.5V31" fill="none"'
        f' stroke="{INK}" stroke-width="6.5"/><path d="M26.5 31V26.5A5.5 5.5 0 0 1 37.5 26.5V31" fill="none"'
        ' stroke="#d8deee" stroke-width="3.4"/><rect x="22" y="29.5" width="20" height="15.5" rx="3.5"'
        f' fill="#ffd34d" stroke="{INK}" stroke-width="2.2"/><path d="M32 35.5V39.5" stroke="{INK}"'
        ' stroke-width="3.6"/></g>'
    )


def _marmalade() -> str:
    """A blob of it over the whole cell."""
    blob = (
        "M14 4Q23 1.5 32 4Q42 1.5 51 4.5Q60 7 60 16Q63 25 60 33Q63 42 60 50Q58 60 49 60Q40 63 32 60Q22 63 14 60"
        "Q4 58 4 49Q1.5 41 4 32Q1.5 23 4 14Q5.5 6 14 4Z"
    )
    return (
        f'<g id="~marmalade"><path d="{blob}" fill="url(#~amber)" stroke="#ffc14a" stroke-width="3"/>'
        '<path d="M9 24Q8 10 22 9" fill="none" stroke="#fff" stroke-width="4.2" stroke-linecap="round" opacity=".9"/>'
        '<g fill="none" stroke="#fff3c4" stroke-width="1.8"><circle cx="50" cy="48" r="4.5"/>'
        '<circle cx="14" cy="50" r="3"/><circle cx="52" cy="14" r="2.6"/></g></g>'
    )
