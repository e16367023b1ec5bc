"""What a file of weights says of itself, and the page beside it for people."""

from __future__ import annotations

import dataclasses
import datetime
import platform
import sys
from importlib import metadata
from typing import Any

import jax

import crush_gym
from agents.learning.files import Trained
from agents.learning.learner import Learner
from experiments.training.judging import Judgement
from experiments.training.plan import JUDGED_SEED, Plan

__all__ = ["about_of", "card"]

LIBRARIES = ("jax", "flax", "optax", "torch", "stable_baselines3", "sb3_contrib")
"""Whose versions are told where they took part."""

MOST_NAMED = 100
"""Levels that are named one by one."""


def about_of(
    plan: Plan, learner: Learner, steps: int, seconds: float, judgement: Judgement, scale: float
) -> dict[str, Any]:
    """How weights were made and how they did, for JSON."""
    tasks = plan.tasks
    return {
        "algorithm": plan.algorithm,
        "config": dataclasses.asdict(plan),
        "config_hash": plan.digest,
        "settings": dataclasses.asdict(learner.settings),
        "rules": tasks[0].rules,
        "levels": [{"name": task.name, "identity": task.identity} for task in tasks[:MOST_NAMED]],
        "number_of_levels": len(tasks),
        "colours": max(int(task.level.colours) for task in tasks),
        "reward": plan.rewarded,
        "reward_scale": scale,
        "steps": steps,
        "minutes": round(seconds / 60, 2),
        "judged": {"metric": plan.metric, "seed": JUDGED_SEED, "attempts": judgement.attempts,
                   "success": None if judgement.success != judgement.success else judgement.success,
                   "score": judgement.score},
        "versions": {name: metadata.version(name) for name in LIBRARIES if name in sys.modules}
        | {"crush_gym": crush_gym.__version__, "python": platform.python_version()},
        "hardware": f"{jax.default_backend()}, {platform.machine()}",
        "made": datetime.date.today().isoformat(),
    }  # fmt: skip


def card(plan: Plan, trained: Trained) -> str:
    """The page beside a file, in Markdown."""
    about, judged = trained.about, trained.about["judged"]
    names = ", ".join(level["name"] or "a level without a name" for level in about["levels"][:8])
    more = about["number_of_levels"] - min(8, len(about["levels"]))
    also = " and what each move brings by itself (`Game.preview`)" if trained.inputs.preview else ""
    size, sizes = f"{trained.shape[0]}x{trained.shape[1]}", "yes" if trained.architecture.any_size else "no"
    won, score = judged["success"], judged["score"]
    strength = f"mean success {won:.1%}" if won is not None else f"mean score {score:,.0f}"
    facts = {
        "What": f"the network `{trained.architecture}`, which sees {len(trained.inputs.channels)} planes of the board"
        f"{also}; weights `{trained.digest}`.",
        "On what": f'{names}{f" and {more} more levels" if more > 0 else ""}; rules "{about["rules"]}", boards up to '
        f"{size}, {about['colours']} colours.",
        "How": f"{about['steps']:,} moves in {about['minutes']:g} minutes ({about['hardware']}), reward "
        f'"{about["reward"]}"; the same again by `{command_of(plan)}`.',
        "How strong": f"{strength} in {judged['attempts']:,} attempts (seed {judged['seed']}, the likeliest move each "
        "time). The best of several judgements on the same attempts is an optimistic one: rank it by `crush-gym "
        "evaluate` with a seed of your own.",
        "Limits": "it knows the levels above; what it does elsewhere has to be measured. Boards of other sizes: "
        f"{sizes}.",
        "Use": f'`crush-gym evaluate policy:PATH --levels {plan.levels[0]}`, or `agents.registry.make("policy:PATH")`.',
    }
    lines = [f"- **{name}**: {text}" for name, text in facts.items()]
    return f"# A player trained by {plan.algorithm}\n\n" + "\n".join(lines) + "\n"


def command_of(plan: Plan) -> str:
    """The command that makes the run again."""
    words = [f"crush-gym train {plan.algorithm}"]
    words += [f"--levels {level}" for level in plan.levels]
    default = {f.name: f.default for f in dataclasses.fields(Plan)}
    for name in ("steps", "seed", "network", "reward", "every", "attempts"):
        if getattr(plan, name) != default[name]:
            words.append(f"--{name} {getattr(plan, name)}")
    words += [] if plan.preview else ["--no-preview"]
    words += [f"--set {key}={value}" for key, value in plan.settings.items()]
    return " ".join(words)
