"""The harness: lets players play levels, predicts difficulty and ranks players."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["InProcess", "Processes", "Results", "Row", "ShardError", "Store", "StoreError", "Task", "evaluate"]

# Names are imported when they are first used: subcommands are declared without JAX.
if TYPE_CHECKING:
    from experiments.evaluation import Results, ShardError, evaluate
    from experiments.executors import InProcess
    from experiments.processes import Processes
    from experiments.rows import Row
    from experiments.store import Store, StoreError
    from experiments.tasks import Task
else:
    import importlib

    _HOMES = {
        "evaluation": ("Results", "ShardError", "evaluate"),
        "executors": ("InProcess",),
        "processes": ("Processes",),
        "rows": ("Row",),
        "store": ("Store", "StoreError"),
        "tasks": ("Task",),
    }

    def __getattr__(name):
        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(importlib.import_module(f"experiments.{home}"), name)
                return value
        raise AttributeError(f"module 'experiments' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
