"""What a file of weights says of itself, and the page beside it for people."""

from __future__ import annotations

import dataclasses
import datetime
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import jax

import crush_gym
from agents.learning.files import Trained
from agents.learning.inputs import colours_of
from agents.learning.learner import Learner
from agents.learning.pairs import read
from experiments.results.task import Task
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
        **(_played(tasks) if not plan.pairs else _recorded(plan, learner)),
        "reward": plan.rewarded,
        "reward_scale": scale,
        "steps": steps,
        "minutes": round(seconds / 60, 2),
        "judged": {"metric": plan.metric, "seed": JUDGED_SEED, "attempts": judgement.attempts,
                   "success": None if judgement.success != judgement.success else judgement.success,
                   "score": judgement.score if judgement.score == judgement.score else None, **judgement.likeness},
        "versions": {name: metadata.version(name) for name in LIBRARIES if name in sys.modules}
        | {"crush_gym": crush_gym.__version__, "python": platform.python_version()},
        "hardware": f"{jax.default_backend()}, {platform.machine()}",
        "made": datetime.date.today().isoformat(),
    }  # fmt: skip


def _played(tasks: Sequence[Task]) -> dict[str, Any]:
    return {
        "rules": tasks[0].rules,
        "levels": [{"name": task.name, "identity": task.identity} for task in tasks[:MOST_NAMED]],
        "number_of_levels": len(tasks),
        "colours": max(int(task.level.colours) for task in tasks),
    }


def _recorded(plan: Plan, learner: Learner) -> dict[str, Any]:
    known = read(plan.pairs)
    levels = known.levels[: plan.settings.get("levels", 0) or None]
    return {
        "rules": known.origin.get("rules", ""),
        "levels": [{"name": name, "content": content} for name, content in levels[:MOST_NAMED]],
        "number_of_levels": len(levels),
        "colours": len(colours_of(learner.inputs)),
        "pairs": {"digest": learner.data, "origin": dict(known.origin)},
    }


def card(plan: Plan, trained: Trained) -> str:
    """The page beside a file, in Markdown."""
    about, judged = trained.about, trained.about["judged"]
    names = ", ".join(level["name"] or "a level without a name" for level in about["levels"][:8])
    more = about["number_of_levels"] - min(8, len(about["levels"]))
    also = " and what each move brings by itself (`Game.preview`)" if trained.inputs.preview else ""
    size, sizes = f"{trained.shape[0]}x{trained.shape[1]}", "yes" if trained.architecture.any_size else "no"
    sentences = _of_imitation(about) if plan.pairs else _of_play(judged)
    also += ", and is told " + ", ".join(t.name for t in trained.inputs.traits) if trained.inputs.traits else ""
    levels = plan.levels[0] if plan.levels else "..."
    facts = {
        "What": f"the network `{trained.architecture}`, which sees {len(trained.inputs.channels)} planes of the board"
        f"{also}; weights `{trained.digest}`.",
        "On what": f'{names}{f" and {more} more levels" if more > 0 else ""}; rules "{about["rules"]}", boards up to '
        f"{size}, {about['colours']} colours.",
        "How": f"{about['steps']:,} moves in {about['minutes']:g} minutes ({about['hardware']})"
        + (f', reward "{about["reward"]}"' if about["reward"] else "")
        + f"; the same again by `{command_of(plan)}`.",
        **sentences,
        "Limits": "it knows the levels above; what it does elsewhere has to be measured. Boards of other sizes: "
        f"{sizes}.",
        "Use": f'`crush-gym evaluate policy:PATH --levels {levels}`, or `agents.registry.make("policy:PATH")`.',
    }
    lines = [f"- **{name}**: {text}" for name, text in facts.items()]
    return f"# A player trained by {plan.algorithm}\n\n" + "\n".join(lines) + "\n"


def _of_play(judged: Mapping[str, Any]) -> dict[str, str]:
    won, score = judged["success"], judged["score"]
    strength = f"mean success {won:.1%}" if won is not None else f"mean score {score:,.0f}"
    return {
        "How strong": f"{strength} in {judged['attempts']:,} attempts (seed {judged['seed']}, the likeliest move each "
        "time). The best of several judgements on the same attempts is an optimistic one: rank it by `crush-gym "
        "evaluate` with a seed of your own."
    }


def _of_imitation(about: Mapping[str, Any]) -> dict[str, str]:
    test, player = about["test"], about["pairs"]["origin"].get("player", "somebody")
    text = (
        f"of moves of `{player}` in attempts that it never saw, and by which it was not chosen, its likeliest one is "
        f"{test['top1']:.1%} (at random {test['random']:.1%}); mean negative log-likelihood {test['nll']:.3f}"
    )
    if "share" in test:
        text += (
            f", where the player's own entropy is {test['demonstrator']:.3f}; {test['share']:.1%} of the top-1 that "
            "can be reached by who knows the player's probabilities"
        )
    found = {"How like": text + "."}
    judged = about["judged"]
    return found | (_of_play(judged) if judged["attempts"] else {})


def command_of(plan: Plan) -> str:
    """The command that makes the run again."""
    words = [f"crush-gym train {plan.algorithm}"]
    words += [f"--pairs {plan.pairs}"] if plan.pairs else []
    words += [f"--levels {level}" for level in plan.levels]
    default = {f.name: f.default for f in dataclasses.fields(Plan)}
    for name in ("steps", "seed", "network", "reward", "every", "attempts"):
        if getattr(plan, name) != default[name]:
            words.append(f"--{name} {getattr(plan, name)}")
    words += [] if plan.preview else ["--no-preview"]
    words += [f"--set {key}={value}" for key, value in plan.settings.items()]
    return " ".join(words)
