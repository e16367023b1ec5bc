"""Modules that have moved: their old names go on working for one version, with a warning that tells the new place."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
import warnings
from collections.abc import Sequence


class _Moved(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the old names, and nothing else."""

    def __init__(self) -> None:
        self.homes: dict[str, str] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name in self.homes else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        home = self.homes[spec.name]
        # The caller is behind importlib's own frames, which Python leaves out of the count.
        warnings.warn(f"{spec.name} has moved to {home}", DeprecationWarning, stacklevel=2)
        return types.ModuleType(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(self.homes[module.__name__])


_FINDER = _Moved()


def homes() -> dict[str, str]:
    """The old names, and the modules that they have become."""
    return dict(_FINDER.homes)


def moved(homes: dict[str, str]) -> None:
    """Let these old names, whole ones, stand for the modules that they have become."""
    _FINDER.homes.update(homes)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)  # others would find modules in a folder that has moved
