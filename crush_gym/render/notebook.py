"""How a level shows itself in a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np

from crush_gym.levels.level import Level
from crush_gym.render.svg import svg


def level_html(level: Level) -> str | None:
    """The level's start board and what it asks for, as SVG; None for a stack of levels."""
    if np.ndim(level.height):
        return None
    written = level.to_dict()
    return svg(written["board"], level, title=level.name or None, goals=wanted(written))


def wanted(written: dict[str, Any]) -> dict[str, str]:
    """What a level allows and asks for, by label. written: `Level.to_dict()`."""
    limit = "seconds" if "seconds" in written else "moves"
    goals: dict[str, Any] = {limit: written[limit], **written.get("goals", {})}
    orders = goals.pop("orders", {})
    listed = goals | {f"order {name}": count for name, count in orders.items()}
    return {label: f"{value:,}" if isinstance(value, int) else str(value) for label, value in listed.items()}
