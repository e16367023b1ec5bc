"""`crush-gym doctor`: is everything here that is needed, and does it work."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import crush_gym
from crush_gym.cli import common
from crush_gym.cli.common import Subparsers, add_command, add_json
from crush_gym.cli.interrupts import NOTHING_KEPT, interruptible

PACKAGE = "crush-gym"
NEEDED = ("jax", "jaxlib", "numpy", "gymnasium")
DEVELOPMENT = ("test", "lint", "bench")
"""Extras that only the repository needs."""

CARRIERS = {"jax[cuda13]": "jax-cuda13-plugin"}
"""What an extra of another package installs."""

OLDEST_PYTHON = (3, 11)
REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+(\[\w+\])?)\s*(?P<bounds>[^;]*)(;.*extra == ['\"](?P<extra>\w+)['\"])?"
)

Report = dict[str, Any]


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "doctor", run, "check versions, devices and compiled programs, and play a move of each rule set",
        "doctor", "doctor --json",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Look at everything and report; 1 where something is wrong."""
    problems: list[str] = []
    with interruptible(lambda: NOTHING_KEPT):
        report: Report = {
            "versions": versions(problems),
            "extras": extras(),
            "devices": devices(problems),
            "programs": programs(problems),
            "moves": moves(problems),
            "problems": problems,
        }
    if options.json:
        common.print_json(report)
    else:
        _print(report)
    return int(bool(problems))


def requirements() -> list[tuple[str, str, str]]:
    """What the package asks for: (name, bounds, extra or ""); nothing where it is not installed."""
    try:
        listed = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    matches = filter(None, map(REQUIREMENT.match, listed))
    return [(m["name"], m["bounds"].strip(), m["extra"] or "") for m in matches]


def versions(problems: list[str]) -> dict[str, str | None]:
    """Versions of what is always needed."""
    bounds = {name: wanted for name, wanted, extra in requirements() if not extra}
    found: dict[str, str | None] = {"python": platform.python_version(), "crush_gym": crush_gym.__version__}
    if sys.version_info < OLDEST_PYTHON:
        problems.append(f"Python {platform.python_version()} is too old: 3.11 or later is needed")
    for name in NEEDED:
        found[name] = _version(name)
        if found[name] is None:
            problems.append(f"{name} is not installed: pip install {PACKAGE}")
        elif not within(str(found[name]), bounds.get(name, "")):
            problems.append(f"{name} {found[name]} does not fit, {bounds[name]} is needed: pip install {PACKAGE}")
    return found


def within(version: str, bounds: str) -> bool:
    """Whether a version keeps to bounds such as >=0.10.2,<0.13."""
    for sign, bound in re.findall(r"(>=|<)\s*([0-9.]+)", bounds):
        if (_numbers(version) >= _numbers(bound)) != (sign == ">="):
            return False
    return True


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", re.split(r"[a-z+]", version)[0])]


def _version(name: str) -> str | None:
    try:
        return metadata.version(CARRIERS.get(name, name))
    except metadata.PackageNotFoundError:
        return None


def extras() -> dict[str, dict[str, str | None]]:
    """Versions of what is optional, by the extra that brings it."""
    found: dict[str, dict[str, str | None]] = {}
    for name, _, extra in requirements():
        if extra and extra not in DEVELOPMENT:
            found.setdefault(extra, {})[name] = _version(name)
    return found


def devices(problems: list[str]) -> list[str]:
    """What JAX can compute on, the first one by default."""
    try:
        import jax

        return [f"{device.platform}:{device.id} ({device.device_kind})" for device in jax.devices()]
    except Exception as reason:
        problems.append(f"JAX finds no device: {_said(reason)}")
        return []


def programs(problems: list[str]) -> Report:
    """Where compiled programs are kept, by whom, and whether they can be; else the reason."""
    report: Report = {
        "by": None,
        "folder": None,
        "writable": None,
        "kept": 0,
        "bytes": 0,
        "reason": "",
        "kernels": None,
    }
    try:
        from crush_gym.runtime import chunks, store
    except ImportError as reason:
        return report | {"reason": _said(reason)}
    own, place = store.of_jax(), store.place()
    folder = own or place.folder
    report |= {"kernels": chunks.KERNELS, "reason": "" if folder else place.reason}
    if folder:
        sizes = [] if own else [entry.st_size for entry in store.entries(Path(folder)).values()]
        report |= {"by": "JAX" if own else "crush_gym", "folder": str(folder), "writable": _writable(str(folder))}
        report |= {"kept": len(sizes), "bytes": sum(sizes)}
        if not report["writable"]:
            switch = "JAX_COMPILATION_CACHE_DIR" if own else store.SWITCH
            problems.append(f"compiled programs cannot be written to {str(folder)!r}: set {switch} to another folder")
    return report


def _writable(folder: str) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def moves(problems: list[str]) -> dict[str, float | None]:
    """Seconds that the first move of each rule set takes, compiling included."""
    seconds: dict[str, float | None] = {}
    for rules in ("saga", "points", "combo"):
        try:
            from crush_gym.cli import probe

            seconds[rules] = round(probe.first_move(rules), 2)
        except Exception as reason:
            seconds[rules] = None
            problems.append(f"the rule set {rules} does not play: {_said(reason)}")
    return seconds


def _said(reason: BaseException) -> str:
    return f"{type(reason).__name__}: {' '.join(str(reason).split())}"


def _print(report: Report) -> None:
    print("versions")
    for name, version in report["versions"].items():
        print(f"  {name:<12}{version or 'not installed'}")
    print("extras")
    for extra, packages in report["extras"].items():
        missing = [name for name, version in packages.items() if version is None]
        have = [f"{name} {version}" for name, version in packages.items() if version is not None]
        advice = [f"{', '.join(missing)} not installed: pip install '{PACKAGE}[{extra}]'"] if missing else []
        print(f"  {extra:<12}{'; '.join([', '.join(have)] * bool(have) + advice)}")
    if not report["extras"]:
        print(f"  unknown: {PACKAGE} is not installed, it runs from its folder")
    print(f"devices\n  {', '.join(report['devices']) or 'none'}")
    print(f"compiled programs\n  {_programs_in_words(report['programs'])}")
    if report["programs"]["kernels"] is False:
        print("  without kernels: CRUSH_GYM_KERNELS=off")
    print("first move of each rule set, compiled or loaded")
    for rules, seconds in report["moves"].items():
        print(f"  {rules:<12}{'failed' if seconds is None else f'{seconds:.1f} s'}")
    print("\n" + ("\n".join(f"problem: {problem}" for problem in report["problems"]) or "All is well."))


def _programs_in_words(programs: Report) -> str:
    if programs["folder"] is None:
        return f"compiled anew in every process: {programs['reason']}"
    writable = "writable" if programs["writable"] else "not writable"
    if programs["by"] == "JAX":
        return f"kept by JAX in {programs['folder']} ({writable})"
    return f"kept in {programs['folder']} ({writable}): {programs['kept']}, {programs['bytes'] / 1e6:.0f} MB"
