"""Levels in words: their kind, goals, limits, and what lies on their boards; and what a move brings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from crush_gym import layout
from crush_gym.levels import Level
from crush_gym.levels.cells import Cell
from crush_gym.levels.tokens import parse_token
from crush_gym.render.terminal import SHAPES

if TYPE_CHECKING:
    from crush_gym import Preview

FORMS = {layout.STRIPED_H: "striped candy", layout.STRIPED_V: "striped candy", layout.WRAPPED: "wrapped candy"}
ITEMS = {
    layout.SWIRL: "liquorice swirl",
    layout.COLOUR_BOMB: "colour bomb",
    layout.CHERRY: "cherry",
    layout.HAZELNUT: "hazelnut",
}
SPAWNED = {
    "cherry": "cherries",
    "hazelnut": "hazelnuts",
    "swirl": "liquorice swirls",
    "bomb": "candy bombs",
    "plus5": "candies with +5",
    "drop": "sugar drops",
}
ORDERED = {
    "striped": "striped candy",
    "wrapped": "wrapped candy",
    "bomb": "colour bomb",
    "swirl": "swirl",
    "lock": "lock",
}
"""What can be ordered and counted; combos and the rest are called what they are called in level files."""

UNCOUNTED = ("marmalade", "icing", "chocolate", "+5")
COVERS = {"lock": "liquorice lock", "marmalade": "marmalade"}


def kind(level: Level) -> str:
    """The level's kind by its goals and its limit (rulebook 11)."""
    goals = level.to_dict().get("goals", {})
    kinds = {"ingredients" if goal in ("cherry", "hazelnut") else goal for goal in goals if goal != "score"}
    if level.seconds >= 0:
        return "mixed" if kinds else "timed"
    return "mixed" if len(kinds) > 1 else next(iter(kinds), "moves")


def limit(level: Level) -> str:
    """What a player has: moves or seconds."""
    return counted(int(level.moves), "move") if level.moves >= 0 else f"{int(level.seconds)} s"


def size(level: Level) -> str:
    """Rows x columns."""
    return "x".join(map(str, level.shape))


def goals(level: Level) -> list[str]:
    """What the level asks for, one phrase each."""
    asked = level.to_dict().get("goals", {})
    phrases = [f"score {asked['score']:,}"] if "score" in asked else []
    if "jelly" in asked:
        phrases.append(f"all jelly ({counted(sum(cell.jelly for cell in cells(level)), 'layer')})")
    phrases += [counted(asked[name], name) for name in ("cherry", "hazelnut") if name in asked]
    return phrases + [ordered(count, name) for name, count in asked.get("orders", {}).items()]


def gains(level: Level, names: Sequence[str], brought: Preview, action: int) -> list[str]:
    """What a move brings by itself, one phrase each. names: of the goals in the preview of one board."""
    waves, specials = int(brought.waves[action]), int(brought.specials[action])
    phrases = [f"{int(brought.score[action]):,} points" + (f" in {waves} waves" if waves > 1 else "")]
    phrases += [f"makes {counted(specials, 'special candy')}"] if specials else []
    asked = level.to_dict().get("goals", {})
    wholes = {**asked, **asked.get("orders", {}), "jelly": sum(cell.jelly for cell in cells(level))}
    for name, share in zip(names, np.asarray(brought.goals)[:, action].tolist(), strict=True):
        units = round(share * wholes[name]) if share and name != "score" else 0
        phrases += [_done(units, name)] if units else []
    return phrases


def _done(units: int, name: str) -> str:
    """Units of a goal but the score."""
    words = {"jelly": "layer of jelly", "cherry": "cherry", "hazelnut": "hazelnut"}
    return counted(units, words[name]) if name in words else ordered(units, name)


def contents(level: Level) -> list[str]:
    """What the board holds at the start and what is spawned, one phrase each."""
    found = Counter(word for cell in cells(level) for word in _words(cell))
    written = level.to_dict()
    phrases = [counted(count, word) for word, count in found.items()]
    phrases += [counted(len(written[name]), name[:-1]) for name in ("portals", "exits") if name in written]
    phrases += [_spawned(name, limits) for name, limits in written.get("spawn", {}).items()]
    return phrases + ([] if written.get("spawn_candies", True) else ["no new candies"])


def rows(level: Level) -> list[str]:
    """The start board as rows of tokens; `?` stands for a candy that is drawn when an attempt starts."""
    return [" ".join(row.split()) for row in level.to_dict()["board"]]


def cells(level: Level) -> list[Cell]:
    """The start board's cells in reading order."""
    return [parse_token(token, layout.MAX_COLOURS) for row in rows(level) for token in row.split(" ")]


def counted(count: int, word: str) -> str:
    """A number with its noun."""
    if count == 1:
        return f"1 {word}"
    if word in UNCOUNTED:
        return f"{count:,} {word}"
    head, of, rest = word.partition(" of ")
    plural = f"{head[:-1]}ies" if head.endswith("y") else f"{head}s"
    return f"{count:,} {plural}{of}{rest}"


def ordered(count: int, name: str) -> str:
    """Units of an order; colours by the shapes that boards show in a terminal."""
    return counted(count, ORDERED[name]) if name in ORDERED else f"{count:,} {SHAPES.get(name, name)}"


def _words(cell: Cell) -> Iterator[str]:
    if not cell.floor:
        yield "void"
    if cell.colour or cell.unfilled:
        if cell.kind in FORMS:
            yield FORMS[cell.kind]
    elif cell.kind in ITEMS:
        yield ITEMS[cell.kind]
    facts = {
        "candy bomb": cell.counter is not None,
        "+5": cell.plus5,
        "sugar drop": cell.drop,
        "icing": cell.icing > 0,
        "chocolate": cell.chocolate,
        COVERS.get(cell.cover, ""): bool(cell.cover),
    }
    yield from (word for word, true in facts.items() if true)
    yield from ["layer of jelly"] * cell.jelly


def _spawned(name: str, limits: dict[str, Any]) -> str:
    """One kind of what the entries spawn besides candies (rulebook 7)."""
    parts = [f"with {limits['counter']} moves"] if "counter" in limits else []
    parts += [f"{limits['quota']} in all"] if "quota" in limits else []
    parts += [f"{limits['on_board']} at a time"] if "on_board" in limits else []
    parts += [f"every {counted(limits['every'], 'move')}"] if limits.get("every") else []
    return f"spawns {SPAWNED[name]}" + (f" ({', '.join(parts)})" if parts else "")
