"""The Ray executor against a small stand-in for Ray: it is about what is handed out when, and what is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import types
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from experiments.running.events import Advanced, Event, Stopped
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

        def news() -> Any:
            return (hand, None)

        actor = types.SimpleNamespace(hand=hand)
        actor.do, actor.news = types.SimpleNamespace(remote=call), types.SimpleNamespace(remote=news)
        self.made.append(actor)
        return actor

    def wait(self, futures: list[Any], num_returns: int, timeout: float | None) -> tuple[list[Any], list[Any]]:
        assert num_returns == 1
        over = [(hand, job) for hand, job in futures if job is None or job.does != "rest"][:1]
        if not over:
            time.sleep(0.01)
        return over, [future for future in futures if future not in over]

    def get(self, future: Any, timeout: float = 0) -> Any:
        hand, job = future
        if job is None:
            return hand.news()
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
    answers = dict(executor.run(deque(jobs), lambda job, event: None))
    assert [answers[job][0] for job in jobs if job.does == "report"] == [0, 4, 5]
    assert {job.does: answer.sentence for job, answer in answers.items() if isinstance(answer, Failure)} == {
        "die": "its Ray actor failed: LostError: the actor died",
        "fail": "ZeroDivisionError: a stranger's mistake",
        "rest": "no answer within 1.5 seconds: it was ended",
    }
    assert ray.started["address"] == "auto" and ray.needs == {"num_cpus": 2, "num_gpus": 0, "max_concurrency": 2}
    assert len(ray.made) == 3 and sorted(map(id, ray.killed)) == sorted(map(id, ray.made))


def test_a_strangers_module_has_an_actor_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    jobs = deque(Errand("report", n, program=str(n), home=home) for n, home in enumerate(["", "one", "two", "one"]))
    assert len(dict(OnRay(1).run(jobs, lambda job, event: None))) == 4
    assert len(ray.made) == 2 and ray.killed == ray.made


def test_what_an_actor_says_is_told_before_its_job_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    ray, told = FakeRay(), []
    monkeypatch.setitem(sys.modules, "ray", ray)

    def tell(job: Any, event: Event | None) -> None:
        if event is not None:
            told.append((job.does, event))
            raise Stopped
        if ray.made:
            ray.made[0].hand.events.append(Advanced("somebody", 7))  # as from the actor's other thread

    with pytest.raises(Stopped):
        list(OnRay(1).run(deque([Errand("rest")]), tell))
    assert told == [("rest", Advanced("somebody", 7))]
    assert ray.killed == ray.made


def test_without_ray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExecutorError, match=r"Ray is not installed: pip install 'crush-gym\[ray\]'"):
        list(OnRay().run(deque([Errand("report")]), lambda job, event: None))


REAL = """
from experiments import evaluate
from experiments.running.executors.ray import OnRay
from tests.experiments.players import Player

seen = []
results = evaluate(Player(), "combo:5x5", 7, 11, OnRay(1), progress=False, listen=seen.append)
assert not results.errors, results.errors
kinds = [type(event).__name__ for event in seen]
print(sum(event.attempts for event in seen if type(event).__name__ == "Advanced"), kinds[:2], kinds[-1])
again = evaluate(Player(), "combo:5x5", 7, 11, progress=False)
print([row._replace(seconds=0) for row in results.rows] == [row._replace(seconds=0) for row in again.rows])
"""


@pytest.mark.slow
def test_a_real_cluster_gives_the_rows_of_this_process() -> None:
    pytest.importorskip("ray")
    root = str(Path(__file__).absolute().parents[3])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run([sys.executable, "-c", REAL], capture_output=True, text=True, env=environment, timeout=600)
    assert done.stdout == "7 ['Wanted', 'Planned'] Finished\nTrue\n", done.stderr
