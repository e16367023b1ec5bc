"""What a function is, in words that are the same in every process: where it stands in our sources, and what it holds.

A function says nothing about itself but its code. What it does is decided by the sources that it stands in, which are
taken as a whole; by what it closes over, which is followed to numbers and names; and by what the modules that it can
reach hold now, for a script may have put another number or function there. Where that leads to anything that cannot be
told from another of its kind, such as a function of a user's program, there is no identity.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import os
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

HOME = Path(__file__).resolve().parents[2]
PACKAGES = ("crush_gym", "agents", "experiments")
"""What is installed together: functions of these packages rest on nothing else but what has a version."""

VERSIONED = sys.stdlib_module_names | {"jax", "jaxlib", "numpy", "gymnasium"}
"""What else may occur in them: its versions are told apart."""

PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, type(...))


INTERCHANGEABLE = "interchangeable"
"""Marks a field of a dataclass, in its metadata, of which any value makes the same programs."""


class UnknownError(Exception):
    """There is something that cannot be told from another of its kind."""


def identity(*things: object) -> str:
    """A digest of these things and of the sources that they rest on; `UnknownError` where there is none."""
    teller, walked = _Teller(), set[str]()
    try:
        words = [sources(), teller.told(things)]
        while reached := teller.modules - walked:
            words += map(teller.module, sorted(reached))
            walked |= reached
    except (RecursionError, OSError, KeyError) as reason:
        raise UnknownError(f"what cannot be followed to its end: {type(reason).__name__}") from None
    return digest(*words)


def digest(*parts: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def sources() -> str:
    """A digest of our sources; `UnknownError` where they have changed since they were imported."""
    if not _AT_FIRST or not unchanged():
        raise UnknownError("sources that are not there, or were edited while this process ran")
    return _contents()


def unchanged() -> bool:
    """Whether our sources are still those that this process has imported."""
    return _stamps() == _AT_FIRST


def _files() -> Iterator[os.DirEntry[str]]:
    folders = [str(HOME / package) for package in PACKAGES]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue
        folders += [e.path for e in entries if e.is_dir(follow_symlinks=False) and e.name != "__pycache__"]
        yield from (entry for entry in entries if entry.name.endswith(".py"))


def _stamps() -> dict[str, tuple[int, int]]:
    return {entry.path: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in _files()}


_AT_FIRST = types.MappingProxyType(_stamps())  # no dict: times are no part of what this module holds


@functools.lru_cache(maxsize=1)
def _contents() -> str:
    whole = hashlib.sha256()
    for path in sorted(_AT_FIRST):
        content = Path(path).read_bytes()
        whole.update(f"{os.path.relpath(path, HOME)}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


class _Teller:
    """Tells things, and remembers which of our modules it came by."""

    def __init__(self) -> None:
        self.modules: set[str] = set()

    def told(self, thing: Any) -> str:
        kind = type(thing)
        if kind in PLAIN:
            return repr(thing)
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, types.MethodType):
            return self._list("method", (thing.__func__, thing.__self__))
        if isinstance(thing, (type, types.ModuleType)):
            return self._name(thing)
        if hasattr(thing, "__wrapped__"):
            return self._list(self._name(kind), (thing.__wrapped__,))
        if kind is functools.partial:
            return self._list("partial", (thing.func, thing.args, thing.keywords))
        if isinstance(thing, (np.ndarray, np.generic, np.dtype)):
            return _numbers(thing)
        return self._collection(thing)

    def module(self, name: str) -> str:
        """What a module of ours holds now, but for modules below it: they are there once somebody has imported them."""
        held = [
            f"{key} {self._global(name, value)}"
            for key, value in vars(sys.modules[name]).items()
            if not key.startswith("__") and f"{name}.{key}" not in sys.modules
        ]
        return f"{name} {held}"

    def _global(self, module: str, thing: Any) -> str:
        """Which function it is; of other things, what can be seen."""
        if isinstance(thing, types.FunctionType):
            return self._which(thing)
        if isinstance(thing, type) and thing.__module__ == module:
            methods = [value for value in vars(thing).values() if isinstance(value, types.FunctionType)]
            return f"{thing.__qualname__} {[self._which(method) for method in methods]}"
        try:
            return self.told(thing)
        except UnknownError:
            return type(thing).__qualname__

    def _collection(self, thing: Any) -> str:
        kind = type(thing)
        if kind in (tuple, list):
            return self._list(kind.__name__, thing)
        if kind in (set, frozenset):
            return f"{kind.__name__} {sorted(map(self.told, thing))}"
        if kind is dict:
            return self._list("dict", thing.items())
        if dataclasses.is_dataclass(kind):
            fields = (field.name for field in dataclasses.fields(kind) if not field.metadata.get(INTERCHANGEABLE))
            return self._list(self._name(kind), (getattr(thing, name) for name in fields))
        if isinstance(thing, tuple):  # with names
            return self._list(self._name(kind), tuple(thing))
        raise UnknownError(f"something of the type {kind.__qualname__}")

    def _list(self, name: str, things: Iterable[object]) -> str:
        return f"{name}({', '.join(map(self.told, things))})"

    def _function(self, thing: types.FunctionType) -> str:
        try:
            held = [cell.cell_contents for cell in thing.__closure__ or ()]
        except ValueError:
            raise UnknownError("a function that is not complete") from None
        return self._list(self._which(thing), (held, thing.__defaults__, thing.__kwdefaults__))

    def _which(self, function: types.FunctionType) -> str:
        """Where it stands: two may begin in one line."""
        code = function.__code__
        return f"{self._name(function)} {code.co_firstlineno} {[*itertools.islice(code.co_positions(), 8)]}"

    def _name(self, thing: Any) -> str:
        """Of what stands in a module that is known."""
        module = thing.__name__ if isinstance(thing, types.ModuleType) else str(thing.__module__)
        top = module.partition(".")[0]
        if _is_ours(top):
            self.modules.add(module)
        elif top not in VERSIONED:
            raise UnknownError(f"something of the module {module}")
        return f"{module}:{getattr(thing, '__qualname__', '')}"


def _numbers(thing: Any) -> str:
    if isinstance(thing, np.dtype):
        return f"dtype {thing.str}"
    array = np.ascontiguousarray(thing)
    if array.dtype.hasobject:
        raise UnknownError("an array of objects")
    return f"{array.dtype.str}{np.shape(thing)} {hashlib.sha256(array.tobytes()).hexdigest()}"


@functools.lru_cache(maxsize=256)
def _is_ours(package: str) -> bool:
    """Whether this is a package of ours, and not another one of the same name."""
    file = getattr(sys.modules.get(package), "__file__", None)
    return package in PACKAGES and file is not None and Path(file).resolve().parents[1] == HOME
