"""A pack's levels in a table, and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crush_gym.cli import common

if TYPE_CHECKING:
    from crush_gym.levels import Level, LevelPack

HEADINGS = ("#", "level", "kind", "size", "colours", "limit", "goals")


def print_levels(pack: LevelPack) -> None:
    """A pack's levels as a table."""
    common.print_table([HEADINGS, *(_row(i, level) for i, level in enumerate(pack))], left=(1, 2, 6))


def facts(index: int, level: Level) -> dict[str, Any]:
    """A level in a report for programs."""
    from crush_gym.cli import describe

    written = level.to_dict()
    return {
        "index": index,
        "name": level.name,
        "kind": describe.kind(level),
        "height": level.shape[0],
        "width": level.shape[1],
        "colours": written["colours"],
        "moves": written.get("moves"),
        "seconds": written.get("seconds"),
        "goals": written.get("goals", {}),
    }


def _row(index: int, level: Level) -> tuple[str, ...]:
    from crush_gym.cli import describe

    goals = ", ".join(describe.goals(level)) or "none"
    size, limit = describe.size(level), describe.limit(level)
    return str(index), level.name or "-", describe.kind(level), size, str(int(level.colours)), limit, goals
