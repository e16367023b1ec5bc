"""Several runs from one command: the same plan with several seeds, or the variants in a file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.training.plan import Plan, PlanError

__all__ = ["Wanted", "plans_of", "read_sweep"]

MOST = 1000
"""Runs of one command."""


class Wanted(NamedTuple):
    """A run, and the folder that it has or will have."""

    folder: Path
    plan: Plan


def read_sweep(path: Path) -> list[dict[str, Any]]:
    """The variants of a file: a list in JSON of objects with fields of a plan, and a "name" for the folder.

    [{"name": "slow", "settings": {"rate": 0.0003}}, {"network": "edge:layers=5", "seed": 1}]
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        said = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise PlanError(f"{str(path)!r} cannot be read as a list of runs: {said}") from None
    if not (isinstance(content, list) and 0 < len(content) <= MOST and all(isinstance(x, dict) for x in content)):
        raise PlanError(f"{str(path)!r} must be a list of 1 to {MOST:,} objects, one for each run")
    return content


def plans_of(base: Mapping[str, Any], out: Path, seeds: int, variants: Sequence[Mapping[str, Any]]) -> list[Wanted]:
    """All runs, checked. base: fields of a plan; variants: what differs, `[{}]` for nothing."""
    wanted = []
    for number, variant in enumerate(variants):
        name, changed = _named(variant, number)
        settings = {**base.get("settings", {}), **changed.pop("settings", {})}
        fields = {**base, **changed, "settings": settings}
        first = fields.get("seed", 0)
        for seed in range(first, first + seeds):
            parts = ([name] if len(variants) > 1 else []) + ([f"seed-{seed}"] if seeds > 1 else [])
            wanted.append(Wanted(out.joinpath(*parts), _plan(fields | {"seed": seed}, name)))
    if len({run.folder for run in wanted}) < len(wanted):
        raise PlanError("two runs of the list have one name: give each a name of its own")
    if len(wanted) > MOST:
        raise PlanError(f"that are {len(wanted):,} runs, and one command makes at most {MOST:,}")
    return wanted


def _named(variant: Mapping[str, Any], number: int) -> tuple[str, dict[str, Any]]:
    """The name of a variant's folder, and the fields that it changes."""
    changed = dict(variant)
    name = changed.pop("name", f"run-{number}")
    known = {field.name for field in dataclasses.fields(Plan)}
    for key in changed:
        if key not in known:
            raise PlanError(f"run {name!r} has no {key!r}; a run has {', '.join(sorted(known))}")
    if not isinstance(name, str) or not name or any(c in name for c in "/\\\0") or name.startswith("."):
        raise PlanError(f"the name {name!r} cannot be a folder's")
    if not isinstance(changed.get("settings", {}), dict):
        raise PlanError(f"run {name!r}: settings must be an object")
    return name, changed


def _plan(fields: Mapping[str, Any], name: str) -> Plan:
    try:
        plan = Plan(**{**fields, "levels": tuple(fields["levels"])})
        plan.learner()
    except TypeError as error:
        raise PlanError(f"run {name!r}: {error}") from None
    return plan
