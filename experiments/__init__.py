"""The harness: lets players play levels, predicts difficulty and ranks players."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crush_gym.moved import moved

__all__ = ["InProcess", "Processes", "Results", "Row", "ShardError", "Store", "StoreError", "Task", "evaluate"]

# Names are imported when they are first used: subcommands are declared without JAX.
if TYPE_CHECKING:
    from experiments.results.row import Row
    from experiments.results.store import Store, StoreError
    from experiments.results.task import Task
    from experiments.running.evaluation import Results, evaluate
    from experiments.running.events import ShardError
    from experiments.running.executors.here import InProcess
    from experiments.running.executors.processes import Processes
else:
    import importlib

    _HOMES = {
        "results.task": ("Task",),
        "results.row": ("Row",),
        "results.store": ("Store", "StoreError"),
        "running.evaluation": ("Results", "evaluate"),
        "running.events": ("ShardError",),
        "running.executors.here": ("InProcess",),
        "running.executors.processes": ("Processes",),
    }

    def __getattr__(name):
        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(importlib.import_module(f"experiments.{home}"), name)
                return value
        raise AttributeError(f"module 'experiments' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


moved(
    {
        "experiments.clock": "experiments.running.clock",
        "experiments.evaluation": "experiments.running.evaluation",
        "experiments.executors": "experiments.running.executors.here",
        "experiments.export": "experiments.results.export",
        "experiments.grouping": "experiments.running.grouping",
        "experiments.on_ray": "experiments.running.executors.ray",
        "experiments.origin": "experiments.results.origin",
        "experiments.pages": "experiments.report",
        "experiments.pages.blocks": "experiments.report.blocks",
        "experiments.pages.canvas": "experiments.report.canvas",
        "experiments.pages.heat": "experiments.report.heat",
        "experiments.pages.histograms": "experiments.report.histograms",
        "experiments.pages.html": "experiments.report.html",
        "experiments.pages.page": "experiments.report.page",
        "experiments.pages.plots": "experiments.report.plots",
        "experiments.pages.rowplots": "experiments.report.rowplots",
        "experiments.pages.scales": "experiments.report.scales",
        "experiments.pages.style": "experiments.report.style",
        "experiments.processes": "experiments.running.executors.processes",
        "experiments.progress": "experiments.running.bar",
        "experiments.ranking.comparison_page": "experiments.report.comparison",
        "experiments.ranking.leaderboard_figures": "experiments.report.leaderboard_figures",
        "experiments.ranking.leaderboard_page": "experiments.report.leaderboard",
        "experiments.ranking.words": "experiments.report.words",
        "experiments.room": "crush_gym.runtime.memory",
        "experiments.rows": "experiments.results.row",
        "experiments.shards": "experiments.running.jobs",
        "experiments.store": "experiments.results.store",
        "experiments.studies.mcadams_claims": "experiments.studies.mcadams.claims",
        "experiments.studies.mcadams_page": "experiments.studies.mcadams.page",
        "experiments.studies.mcadams_paper": "experiments.studies.mcadams.paper",
        "experiments.studies.phase1": "experiments.studies.theses.phase1",
        "experiments.studies.phase1_page": "experiments.studies.theses.phase1_page",
        "experiments.studies.phase2": "experiments.studies.theses.phase2",
        "experiments.studies.phase2_page": "experiments.studies.theses.phase2_page",
        "experiments.studies.theses_paper": "experiments.studies.theses.paper",
        "experiments.tasks": "experiments.results.assignment",
        "experiments.worker": "experiments.running.executors.worker",
    }
)
