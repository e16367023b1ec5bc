"""A run: learn, log, judge, keep; taken up again after any end, it goes on as if nothing had happened.

A run's folder holds

    config.json            the plan
    state.safetensors      all that learning goes on from
    best.safetensors       the weights that were judged best so far; best.md says what they are
    last.safetensors       those of the last judgement
    progress.jsonl         a line for each call of the learner, and one for each judgement
    events.out.tfevents.*  the same for TensorBoard
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from agents.learning import checkpoints, files
from agents.learning.files import PolicyFileError, Trained
from agents.learning.learner import Learner
from agents.learning.tensorboard import Board
from crush_gym import render
from crush_gym.support import write_bytes
from experiments.running.events import Stop
from experiments.training.card import about_of, card
from experiments.training.judging import Judgement, judged
from experiments.training.plan import Plan, PlanError

__all__ = ["Finished", "Moment", "carried_out", "read_plan", "train"]

CONFIG, STATE, BEST, LAST, LOG, CARD = (
    "config.json", "state.safetensors", "best.safetensors", "last.safetensors", "progress.jsonl", "best.md",
)  # fmt: skip

KEPT_EVERY = 30.0
"""Seconds between two checkpoints; where they lie changes no result."""


class Moment(NamedTuple):
    """What a listener is told before the first call, without metrics, and after each.

    judgement: the last one; seconds: of learning, compiling included
    """

    steps: int
    of: int
    steps_per_second: float
    metrics: Mapping[str, float]
    judgement: Judgement | None
    best: float | None
    seconds: float


class Finished(NamedTuple):
    """How a run ended. why: "steps", "minutes", "stopped" or "diverged"."""

    folder: Path
    steps: int
    best: float | None
    metric: str
    why: str


Listener = Callable[[Moment], None]


def train(
    levels: str | list[str] | None = None,
    out: str | os.PathLike[str] = "",
    *,
    resume: str | os.PathLike[str] | None = None,
    minutes: float | None = None,
    listen: Listener | None = None,
    stop: Stop | None = None,
    **plan: Any,
) -> Finished:
    """Train a player.

    Args:
        levels: texts as of `crush-gym evaluate --levels`; with `pairs`, there may be none.
        out: the run's folder, which must not hold another run.
        resume: the folder of a run to go on with, instead of levels, `out` and a plan.
        minutes: of learning after which it stops, having learned once at least; it can be resumed.
        listen: is told how far it is.
        stop: a `threading.Event`, say; soon after it is set, the run is kept and ends.
        plan: fields of `Plan`: algorithm, steps, seed, network, settings, ...
    """
    if resume is not None:
        return carried_out(read_plan(Path(resume)), Path(resume), minutes, listen, stop)
    known = Plan(tuple([levels] if isinstance(levels, str) else levels or ()), **plan)
    folder = Path(out or "run")
    if (folder / CONFIG).exists():
        raise PlanError(f"{str(folder)!r} holds a run already: go on with it by --resume, or choose another folder")
    return carried_out(known, folder, minutes, listen, stop)


def carried_out(
    plan: Plan, folder: Path, minutes: float | None = None, listen: Listener | None = None, stop: Stop | None = None
) -> Finished:
    """The run of a plan in a folder, from where it is; see `train`."""
    learner = plan.learner()
    if (folder / CONFIG).exists() and read_plan(folder) != plan:
        raise PlanError(f"{str(folder)!r} holds a run of another plan: choose another folder")
    _claim(folder, plan)
    run = _Run(plan, folder, learner, listen or (lambda _: None), minutes, stop)
    run.begin()
    try:
        return run.go()
    finally:
        run.end()


def read_plan(folder: Path) -> Plan:
    """The plan of the run in a folder."""
    try:
        return Plan.from_json((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            f"{str(folder)!r} holds no run to go on with: {getattr(error, 'strerror', '') or error}"
        ) from None


def _claim(folder: Path, plan: Plan) -> None:
    """Make the folder with its plan."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / CONFIG, plan.to_json().encode())
    except OSError as error:
        raise PlanError(f"{str(folder)!r} cannot be written to: {error.strerror}") from None


@dataclass
class _Run:
    plan: Plan
    folder: Path
    learner: Learner
    listen: Listener
    minutes: float | None
    stop: Stop | None
    steps: int = 0
    seconds: float = 0.0
    best: float | None = None
    judgement: Judgement | None = None
    state: Any = field(default=None, repr=False)

    def begin(self) -> None:
        """Start, or go on from what was kept."""
        self.began = self.kept = time.monotonic()
        key = jax.random.key(self.plan.seed)
        resumed = (self.folder / STATE).exists()
        if resumed:
            self._restore(self.learner.shapes(key))
        else:
            self.state = self.learner.start(key)
        self._cut_log()
        self.board = Board(self.folder, self.steps if resumed else None)
        if not resumed:
            settings = dataclasses.asdict(self.learner.settings) | {
                "network": str(self.learner.architecture),
                "seed": self.plan.seed,
            }
            self.board.settings({"algorithm": self.plan.algorithm} | settings, f"judged/{self.plan.metric}")

    def go(self) -> Finished:
        """Learn to the end, or until told to stop."""
        self.before, first, why = self.seconds, self.steps, "steps"
        self._tell(0.0, {})
        while self.steps < self.plan.steps:
            if self.stop is not None and self.stop.is_set():
                why = "stopped"
                break
            late = self.minutes is not None and self._clock() - self.before >= 60 * self.minutes
            if late and self.steps > first:
                why = "minutes"
                break
            if not self._call():
                return Finished(self.folder, self.steps, self.best, self.plan.metric, "diverged")
        self._keep()
        if self.best is None and why == "minutes":
            return Finished(self.folder, self.steps, self._judge_early(), self.plan.metric, why)
        return Finished(self.folder, self.steps, self.best, self.plan.metric, why)

    def end(self) -> None:
        """Close what is open."""
        self.board.__exit__(None, None, None)

    def _clock(self) -> float:
        """Seconds of this run, those before it was taken up again included."""
        return self.seconds + time.monotonic() - self.began

    def _call(self) -> bool:
        """One call of the learner and what is due after it; whether all numbers are finite."""
        started = time.monotonic()
        state, metrics = self.learner.learn(self.state)
        known = {name: float(value) for name, value in jax.device_get(metrics).items()}
        losses = [value for name, value in known.items() if name.startswith("loss/")]
        if not all(map(math.isfinite, losses)):
            self._log({"diverged": known})
            return False
        before, self.state = self.steps, state
        self.steps += self.learner.steps_per_call
        speed = self.learner.steps_per_call / (time.monotonic() - started)
        self._log(known)
        self.board.scalars(
            self.steps, {n: v for n, v in known.items() if math.isfinite(v)} | {"run/steps_per_second": speed}
        )
        if before // self.plan.every < self.steps // self.plan.every or self.steps >= self.plan.steps:
            self._judge()
        if time.monotonic() - self.kept >= KEPT_EVERY:
            self._keep()
        self._tell(speed, known)
        return True

    def _tell(self, speed: float, metrics: Mapping[str, float]) -> None:
        self.listen(Moment(self.steps, self.plan.steps, speed, metrics, self.judgement, self.best, self._clock()))

    def _judge_early(self) -> float:
        """The value of weights of a run that ends before its first judgement; a resumed one knows nothing of it."""
        weights = jax.device_get(self.learner.weights(self.state))
        early = judged(self.plan, self.learner, weights)
        self._write_weights(weights, early, True)
        return early.value(self.plan.metric)

    def _judge(self) -> None:
        """Let the harness play the weights, and keep them if none were better."""
        weights = jax.device_get(self.learner.weights(self.state))
        self.judgement = judged(self.plan, self.learner, weights)
        value = self.judgement.value(self.plan.metric)
        better = self.best is None or value > self.best
        self.best = value if better else self.best
        self._write_weights(weights, self.judgement, better)
        known = {name: number for name, number in self.judgement.numbers.items() if math.isfinite(number)}
        self._log({f"judged/{name}": number for name, number in known.items()})
        self.board.scalars(self.steps, {f"judged/{name}": number for name, number in known.items()})
        leaves = jax.tree_util.tree_flatten_with_path(weights)[0]
        self.board.histograms(self.steps, {"/".join(str(p.key) for p in path): np.asarray(x) for path, x in leaves})
        self._picture()
        self._keep()

    def _picture(self) -> None:
        """The first of the boards that are learned on, where pictures can be made."""
        board = self.learner.shown(self.state)
        if board is None:
            return
        try:
            pixels = render.rgb(*board, size=32)
        except render.MissingExtraError:
            return
        self.board.picture(self.steps, "board", pixels)

    def _write_weights(self, weights: Any, judgement: Judgement, best: bool) -> None:
        trained = self._trained(weights, judgement)
        files.write(self.folder / LAST, trained)
        if best:
            files.write(self.folder / BEST, trained)
            write_bytes(self.folder / CARD, card(self.plan, trained).encode())

    def _trained(self, weights: Any, judgement: Judgement) -> Trained:
        learner, plan = self.learner, self.plan
        about = about_of(plan, learner, self.steps, self._clock(), judgement, learner.scale(self.state))
        if test := learner.examined(weights, "test"):
            about["test"] = dict(test)
        return Trained(learner.architecture, learner.inputs, learner.shape, weights, about)

    # ------------------------------------------------------------------ what is kept

    def _keep(self) -> None:
        """Write all that the run goes on from."""
        judgement = None if self.judgement is None else [*self.judgement[:-1], dict(self.judgement.likeness)]
        about = {
            "steps": self.steps, "seconds": self._clock(), "best": self.best, "judgement": judgement,
            "data": self.learner.data,
        }  # fmt: skip
        checkpoints.store(self.folder / STATE, self.state, about)
        self.kept = time.monotonic()

    def _restore(self, like: Any) -> None:
        try:
            self.state, about = checkpoints.restore(self.folder / STATE, like)
        except PolicyFileError as error:
            raise PlanError(str(error)) from None
        if about.get("data", "") != self.learner.data:
            raise PlanError(
                f"the pairs in {self.plan.pairs!r} are not those that the run in {str(self.folder)!r} began with"
            )
        self.steps, self.seconds, self.best = about["steps"], about["seconds"], about["best"]
        self.judgement = None if about["judgement"] is None else Judgement(*about["judgement"])

    def _log(self, values: Mapping[str, Any]) -> None:
        with open(self.folder / LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps({"steps": self.steps} | dict(values)) + "\n")

    def _cut_log(self) -> None:
        """Forget the lines of what is done again."""
        path = self.folder / LOG
        if not path.exists():
            return
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                if json.loads(line)["steps"] <= self.steps:
                    kept.append(line + "\n")
            except (ValueError, KeyError, TypeError):
                continue  # half a line, of a run that was killed
        write_bytes(path, "".join(kept).encode())
