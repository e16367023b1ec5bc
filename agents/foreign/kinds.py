"""What can be seen of somebody's object without asking it to do anything."""

from __future__ import annotations

import inspect
from typing import Any


def has(thing: Any, name: str) -> bool:
    """Whether it has a method of this name."""
    return callable(getattr(thing, name, None))


def parameters(function: Any) -> list[str]:
    """The names of a function's positional parameters; none where it does not tell."""
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def is_player(thing: Any) -> bool:
    """Whether this looks like a player: `act`, `predict`, or a function whose first parameter is called obs."""
    if has(thing, "act") or has(thing, "predict"):
        return True
    return callable(thing) and not isinstance(thing, type) and parameters(thing)[:1] == ["obs"]
