"""Where results are from: versions, hardware and seeds in words, and the commands that give the same rows again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.ranking.field import Field
from experiments.ranking.sources import sources


@dataclass(frozen=True)
class Origins:
    """facts: by name, for the end of a page; commands: by player."""

    facts: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)


def origins(played: Field, runs: Iterable[Mapping[str, Any]], *stores: str) -> Origins:
    """What the runs of stores say about these players; those whose results were imported have no commands."""
    known = list(runs)
    facts = {
        "versions": _each(_versions(run.get("versions", {})) for run in known),
        "hardware": _each(_hardware(run.get("hardware", {})) for run in known),
        "played": _period([str(run["started"]) for run in known if "started" in run]),
        "seeds": _each(str(seed) for agent in played.agents for seed in _seeds(played, agent)),
        "results": ", ".join(Path(store).name for store in stores),
    }
    levels = [part for source in sources(played.tasks, *stores) for part in ("--levels", source)]
    elsewhere = {str(run.get("agent", {}).get("name")) for run in known if "imported" in run}
    commands = {agent: rerun(played, agent, levels) for agent in played.agents if agent not in elsewhere}
    return Origins({name: text for name, text in facts.items() if text}, commands)


def rerun(played: Field, agent: str, levels: Sequence[str]) -> list[str]:
    """Commands that play the same attempts of a player again, one for each seed. levels: how they are named."""
    attempts = max(played.of(agent, task).attempts for task in played.tasks)
    seeds = _seeds(played, agent)
    each = -(-attempts // len(seeds))
    parts = ("crush-gym", "evaluate", agent, *levels, "--attempts", str(each))
    return [shlex.join((*parts, "--seed", str(seed), "--out", "again.sqlite")) for seed in seeds]


def _seeds(played: Field, agent: str) -> list[int]:
    return sorted({seed for task in played.tasks for seed in played.of(agent, task).seeds})


def _each(texts: Iterable[str]) -> str:
    """What occurs, once each."""
    return "; ".join(dict.fromkeys(filter(None, texts)))


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _hardware(hardware: Mapping[str, Any]) -> str:
    devices = ", ".join(dict.fromkeys(map(str, hardware["devices"]))) if "devices" in hardware else ""
    cores = f"{hardware['cores']} cores" if "cores" in hardware else ""
    return ", ".join(filter(None, (str(hardware.get("cpu", "")), cores, devices, str(hardware.get("system", "")))))


def _period(started: list[str]) -> str:
    if not started:
        return ""
    first, last = min(started), max(started)
    return first if first == last else f"{first} to {last}"
