"""The Ray executor against a small stand-in for Ray: it is about what is handed out when, and what is replaced."""

from __future__ import annotations

import sys
import types
from collections import deque
from typing import Any

import pytest

from experiments.running.executors.here import ExecutorError, Failure
from experiments.running.executors.ray import OnRay
from tests.experiments.players import Errand


class LostError(Exception):
    """An actor that is gone, as Ray tells it."""


class FakeRay(types.ModuleType):
    """Runs an actor's call when it is asked for; "die" loses the actor, and "rest" is never over."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.exceptions = types.SimpleNamespace(GetTimeoutError=TimeoutError)
        self.made: list[Any] = []
        self.killed: list[Any] = []
        self.started: dict[str, Any] = {}

    def init(self, **options: Any) -> None:
        self.started = options

    def remote(self, **needs: Any) -> Any:
        self.needs = needs
        return lambda kind: types.SimpleNamespace(remote=lambda: self._actor(kind()))

    def _actor(self, hand: Any) -> Any:
        def call(job: Errand) -> Any:
            return (hand, job)

        self.made.append(types.SimpleNamespace(do=types.SimpleNamespace(remote=call), hand=hand))
        return self.made[-1]

    def wait(self, futures: list[Any], num_returns: int, timeout: float | None) -> tuple[list[Any], list[Any]]:
        assert num_returns == 1
        over = [future for future in futures if future[1].does != "rest"][:1]
        return over, [future for future in futures if future not in over]

    def get(self, future: Any, timeout: float) -> Any:
        hand, job = future
        if job.does == "rest":
            raise TimeoutError
        if job.does == "die":
            raise LostError("the actor died")
        return hand.do(job)

    def kill(self, actor: Any) -> None:
        self.killed.append(actor)


def test_actors_do_the_jobs_and_lost_or_late_ones_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    jobs = [Errand(does, n) for n, does in enumerate(["report", "die", "fail", "rest", "report", "report"])]
    executor = OnRay(2, time_limit=1.5, address="auto", cpus=2)
    answers = dict(executor.run(deque(jobs), lambda job, number: None))
    assert [answers[job][0] for job in jobs if job.does == "report"] == [0, 4, 5]
    assert {job.does: answer.sentence for job, answer in answers.items() if isinstance(answer, Failure)} == {
        "die": "its Ray actor failed: LostError: the actor died",
        "fail": "ZeroDivisionError: a stranger's mistake",
        "rest": "no answer within 1.5 seconds: it was ended",
    }
    assert ray.started["address"] == "auto" and ray.needs == {"num_cpus": 2, "num_gpus": 0}
    assert len(ray.made) == 3 and sorted(map(id, ray.killed)) == sorted(map(id, ray.made))


def test_without_ray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExecutorError, match=r"Ray is not installed: pip install 'crush-gym\[ray\]'"):
        list(OnRay().run(deque([Errand("report")]), lambda job, number: None))
