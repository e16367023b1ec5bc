"""The numbers of the two families of synthetic players, each in a file of its own beside this one."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

FORMAT = 1
"""The version of the files' format."""

FAMILIES = {"A": "the weighing player", "B": "the habit player"}
"""What there is, and what its players do."""


@functools.lru_cache(maxsize=4)
def numbers_of(family: str) -> dict[str, Any]:
    """All that a family's file says."""
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}")
    numbers: dict[str, Any] = json.loads(resources.files(__name__).joinpath(f"{family}.json").read_text("utf-8"))
    if numbers["format"] != FORMAT:
        raise ValueError(f"the family {family} is of format {numbers['format']}, but this version reads {FORMAT}")
    return numbers
