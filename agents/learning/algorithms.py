"""The algorithms by name, and their settings from words: found and refused before anything is compiled."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import importlib
import inspect
import textwrap
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["ALGORITHMS", "AlgorithmError", "algorithm", "in_range", "meanings", "settings_from", "with_settings"]

ALGORITHMS = {
    "ppo": ("agents.ppo", "Ppo"),
    "dqn": ("agents.dqn", "Dqn"),
    "pqn": ("agents.pqn", "Pqn"),
    "expert": ("agents.expert", "Expert"),
    "imitation": ("agents.imitation", "Imitation"),
    "sb3-ppo": ("agents.sb3_ppo", "Sb3Ppo"),
    "sb3-dqn": ("agents.sb3_dqn", "Sb3Dqn"),
}
"""By name: the module and the class of the learner; its settings are the module's `Settings`."""

EXTRAS = {"torch": "sb3", "stable_baselines3": "sb3", "sb3_contrib": "sb3"}
"""Which extra of the package brings a module that may be missing; any other is of "learn"."""


class AlgorithmError(ValueError):
    """An algorithm or settings that cannot be had, with the sentence that says why."""


def algorithm(name: str) -> tuple[Any, Any]:
    """The classes of a learner and of its settings."""
    if name not in ALGORITHMS:
        close = difflib.get_close_matches(name, ALGORITHMS, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise AlgorithmError(f"there is no algorithm {name!r}{hint}; there are {', '.join(ALGORITHMS)}")
    home, kind = ALGORITHMS[name]
    try:
        module = importlib.import_module(home)
    except ImportError as missing:
        raise AlgorithmError(_not_there(name, missing)) from None
    return getattr(module, kind), module.Settings


def _not_there(name: str, missing: ImportError) -> str:
    if "pip install" in str(missing):
        return str(missing)
    package = str(missing.name).partition(".")[0]
    return f"{name} needs {package}, which is not installed: pip install 'crush-gym[{EXTRAS.get(package, 'learn')}]'"


def settings_from(words: Iterable[str], name: str) -> dict[str, Any]:
    """Settings of an algorithm from "setting=value" each; the values have the settings' types."""
    hints = typing.get_type_hints(algorithm(name)[1])
    found: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise AlgorithmError(f"expected setting=value, found {word!r}")
        _check_known(key, hints, name)
        found[key] = _read(value, hints[key], f"{name}: {key}")
    return found


def with_settings(start: Any, given: Mapping[str, Any], name: str) -> Any:
    """Settings with some of them changed; refused in one sentence where they cannot work together."""
    hints = typing.get_type_hints(type(start))
    for key, value in given.items():
        _check_known(key, hints, name)
        kinds = typing.get_args(hints[key]) or (hints[key],)
        if type(value) not in (*kinds, *((int,) if float in kinds else ())):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise AlgorithmError(f"{name}: {key} must be {expected}, not {value!r}")
    try:
        return dataclasses.replace(start, **given)
    except ValueError as error:
        raise AlgorithmError(f"{name}: {error}") from None


def meanings(settings: Any) -> dict[str, str]:
    """What each setting means: the texts below the fields of a class of settings."""
    (body,) = [
        node for node in ast.parse(textwrap.dedent(inspect.getsource(settings))).body if isinstance(node, ast.ClassDef)
    ]
    found, last = {}, ""
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            found[last] = " ".join(str(node.value.value).split())
    return found


def in_range(settings: Any, **limits: tuple[float, float]) -> None:
    """Refuse settings that are outside of their limits, which are included."""
    for name, (least, most) in limits.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            raise ValueError(f"{name} must be from {least:g} to {most:g}, not {value!r}")


def _check_known(key: str, hints: Mapping[str, Any], name: str) -> None:
    if key not in hints:
        close = difflib.get_close_matches(key, hints, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise AlgorithmError(f"{name} has no setting {key!r}{hint}; there are {', '.join(hints)}")


def _read(text: str, hint: Any, where: str) -> Any:
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if bool in kinds:
        if text in ("True", "False"):
            return text == "True"
        raise AlgorithmError(f"{where} must be True or False, not {text!r}")
    for kind in (int, float, str):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    raise AlgorithmError(f"{where} must be {' or '.join(kind.__name__ for kind in kinds)}, not {text!r}")
