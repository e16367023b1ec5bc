"""The environments' pages in docs/: their own texts, what all have in common, and what the code knows of each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import gymnasium as gym

import crush_gym
from crush_gym.envs import IDS
from crush_gym.envs.options import read_options
from crush_gym.envs.single import CrushEnv
from crush_gym.envs.vector import CrushVectorEnv
from crush_gym.envs.views import king_channels, shares, space
from crush_gym.runtime.observe import channels
from scripts.docs.docstring import fields_of
from scripts.docs.source import ROOT

TEMPLATES = Path(__file__).parent / "templates"
"""What the pages are made of: the texts by hand, with `{{planes}}` where a table goes."""

MADE = "<!-- Made by `make docs` from scripts/docs/templates and the code: change these, not this file. -->\n"

EVERYTHING = "basics"
"""The pack that uses every mechanic: its planes are all that Saga can have."""

PLANES = {
    "colour bomb": "a colour bomb",
    "colour": "a candy of this colour, of any form and under any cover",
    "striped-h": "a striped candy that fires along its row",
    "striped-v": "a striped candy that fires along its column",
    "wrapped": "a wrapped candy",
    "swirl": "a liquorice swirl",
    "cherry": "an ingredient: a cherry",
    "hazelnut": "an ingredient: a hazelnut",
    "plus5": "a candy that gives 5 seconds back",
    "drop": "a candy with a sugar drop",
    "lock": "a lock on the item",
    "marmalade": "marmalade around the item",
    "chocolate": "chocolate",
    "jelly1": "jelly, one layer or two",
    "jelly2": "jelly, two layers",
    "floor": "a cell of the board; 0 are voids and what lies beyond a smaller level",
    "entries": "a cell where new items appear",
    "exits": "a cell where ingredients are collected",
    "portal entrances": "an end of a portal, into which items fall",
    "portal exits": "an end of a portal, out of which items fall",
    "legal": "a cell that takes part in a legal move",
    "ones": "255 everywhere: where a padded convolution sees the edge",
    "icing": "layers of icing, 51 each",
    "counter": "a candy bomb's counter, 99 as 255",
    "left": "moves, or time, that are left, as a share of the level's",
    "score goal": "points still missing, as a share of the goal",
    "jelly goal": "layers of jelly still there, at most 255, where the level asks for them",
    "cherry goal": "cherries still to collect, as a share of the goal",
    "hazelnut goal": "hazelnuts still to collect, as a share of the goal",
    "order": "units of this order still to deliver, as a share of what it asks",
}
"""What each plane shows, by its name or the name's first word."""

KING = {
    "icing": "icing of so many layers",
    "candy bomb": "a candy with a counter",
    "unmet": "1 everywhere while this goal is unmet",
    "ones": "1 everywhere",
}
"""What the planes show that only "king" has."""


def place(name: str) -> Path:
    """Where the page of an environment lies."""
    return ROOT / "docs" / "environments" / f"{IDS[name]}.md"


def texts() -> dict[Path, str]:
    """All pages by their places, as they should be."""
    return {place(name): _text(name) for name in IDS}


def _text(name: str) -> str:
    text, common = ((TEMPLATES / f"{each}.md").read_text(encoding="utf-8") for each in (IDS[name], "common"))
    whole = text.replace("<!-- common -->\n", common)
    return MADE + re.sub(r"\{\{(\w+)\}\}\n", lambda found: PARTS[found[1]](name), whole)


def example(name: str) -> Any:
    """An environment of this id with all that it can have; constructing it computes nothing."""
    options: dict[str, Any] = {"pack": EVERYTHING} if IDS[name] == "saga" else {}
    return gym.make(name, **options).unwrapped


def facts(name: str) -> str:
    """The first things to know, as a table."""
    env = example(name)
    version = crush_gym.__version__
    rows = {
        "id": f"`{name}`",
        "made by": f'`gym.make("crush_gym:{name}")`, `gym.make_vec("crush_gym:{name}", num_envs=1024)`',
        "actions": f"`Discrete`; {_count(env)}",
        "observations": f"`Box`, `uint8`; {len(env.game.channels)} planes{_where(name)}",
        "rendering": ", ".join(f'"{mode}"' for mode in env.metadata["render_modes"]),
        "version": f"v0, in crush_gym {version}",
    }
    return _table(("", ""), rows.items())


def options(name: str) -> str:
    """All options of `gym.make` and `gym.make_vec`, as a table."""
    simple = ("shape", "colours", "moves", "goal")
    skipped = ["self", "rules", "num_envs", "options", *(simple if IDS[name] == "saga" else ())]
    rows: list[tuple[str, ...]] = []
    for maker, where in ((read_options, ""), (CrushEnv.__init__, ""), (CrushVectorEnv.__init__, " (`make_vec`)")):
        said = fields_of(inspect.getdoc(maker) or "")
        for option in inspect.signature(maker).parameters.values():
            if option.name not in skipped:
                rows.append((f"`{option.name}`{where}", _default(option), said[option.name]))
                skipped.append(option.name)
    return _table(("option", "default", "meaning"), rows)


def planes(name: str) -> str:
    """The planes of an observation, as a table."""
    names = channels(example(name).game.spec)
    return _table(("", "plane", "shows"), ((str(i), f"`{n}`", _meaning(n, PLANES)) for i, n in enumerate(names)))


def king(name: str) -> str:
    """The planes of obs="king", as a table."""
    names = king_channels(example(name).game.spec)
    known = {"icing": KING["icing"], **{k: v for k, v in PLANES.items() if k != "icing"}, **KING}
    return _table(("", "plane", "shows"), ((str(i), f"`{n}`", _meaning(n, known)) for i, n in enumerate(names)))


def cells(name: str) -> str:
    """The layers of obs="cells", as a table."""
    spec = example(name).game.spec
    layers: Any = space(spec, "cells")
    rows = [(f"`{layer}`", f"0 to {int(box.high.max())}", LAYER_MEANINGS[layer]) for layer, box in layers.items()]
    return _table(("layer", "values", "shows"), rows) + f"\nThe entries of `left`, here: {', '.join(shares(spec))}.\n"


LAYER_MEANINGS = {
    "form": "0 a plain candy or none; 1 striped-h, 2 striped-v, 3 wrapped, 4 colour bomb, 5 swirl, 6 cherry,"
    " 7 hazelnut",
    "tag": "1 a +5, 2 a sugar drop",
    "cover": "1 a lock, 2 marmalade",
    "colour": "the candy's colour from 1, 0 for none",
    "jelly": "layers",
    "chocolate": "1 for chocolate",
    "icing": "layers",
    "counter": "a candy bomb's counter",
    "floor": "1 for a cell, 0 for a void",
    "legal": "1 where a legal move begins or ends",
    "left": "a vector: what is left of moves or time and of each goal, 255 for all of it",
}
"""What the layers of obs="cells" show."""


def info(name: str) -> str:
    """The keys of an info, as a table."""
    del name
    return _table(("key", "holds"), ((f"`{key}`", meaning) for key, meaning in INFO.items()))


INFO = {
    "score": "points of the episode so far",
    "moves": "moves made",
    "moves_left": "moves left; -1 in timed levels",
    "seconds_left": "time left in tenths of a second; -1 in levels with moves",
    "waves": "waves of this move; 0 after a reset",
    "level": "the number of the level that is played, in the environment's levels",
    "outcome": "an index into `crush_gym.OUTCOMES`: 0 playing, 1 won, 2 lost, 3 ended",
    "reason": "an index into `crush_gym.REASONS`: 0 none, 1 goals, 2 moves, 3 time, 4 bomb, 5 stuck",
    "action_mask": "`int8`, 1 for each legal action; all ones where none is legal",
    "illegal": "whether the action was not legal",
    "cleared": "candies and colour bombs that the move removed",
}
"""What the keys of an info hold."""

PARTS: dict[str, Callable[[str], str]] = {
    "facts": facts, "options": options, "planes": planes, "king": king, "cells": cells, "info": info,
}  # fmt: skip
"""What a page may ask for, as `{{planes}}`."""


def _count(env: Any) -> str:
    height, width = env.game.spec.height, env.game.spec.width
    return f"{env.action_space.n} on {height} x {width}; in general H (W - 1) + (H - 1) W"


def _where(name: str) -> str:
    most = " with every mechanic, fewer where a pack uses less" if IDS[name] == "saga" else ""
    return f"{most}, (planes, H, W) of the largest level"


def _default(option: inspect.Parameter) -> str:
    value = getattr(option.default, "name", option.default)
    return f"`{value!r}`" if isinstance(value, str) else f"`{value}`"


def _meaning(name: str, known: dict[str, str]) -> str:
    if name in known:
        return known[name]
    return known["unmet"] if name.endswith(" unmet") else known[name.split()[0]]


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
