"""Jobs done here, or on all devices of this process; and what a process keeps in memory between two programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from pathlib import Path

import jax
import numpy as np

from crush_gym.runtime import memory
from experiments import InProcess
from experiments.results.assignment import tasks_of
from experiments.running.events import Advanced, Event
from experiments.running.executors.here import Failure, sentence_of
from experiments.running.grouping import Group
from experiments.running.jobs import Manner, Shard, cut
from tests.experiments.players import Errand

ROOT = Path(__file__).absolute().parents[3]


def test_jobs_are_done_in_their_order_and_those_that_come_later_too() -> None:
    jobs = deque([Errand("report", 1), Errand("fail", 2)])
    told: list[tuple[int, Event]] = []
    seen = []
    for job, answer in InProcess().run(jobs, lambda job, event: told.append((job.number, event))):
        seen.append((job.number, answer.sentence if isinstance(answer, Failure) else answer[0]))
        if job.number == 1:
            jobs.append(Errand("report", 3))
    assert seen == [(1, 1), (2, "ZeroDivisionError: a stranger's mistake"), (3, 3)]
    assert told == [(1, Advanced("report", 1)), (3, Advanced("report", 1))]


def test_errors_become_one_short_line() -> None:
    assert sentence_of(ValueError("a\n  b")) == "ValueError: a b"
    assert sentence_of(KeyError()) == "KeyError"
    assert len(sentence_of(ValueError("x" * 10**6))) < 600


DEVICES = """
from collections import Counter, deque
from experiments.running.events import Stopped
from experiments.running.executors.here import Devices, Failure
from tests.experiments.players import Errand

said = Counter()

def told(job, event):
    if event is not None:
        assert event.attempts == 1
        said[job.number] += 1

jobs = [Errand("device", n) for n in range(8)] + [Errand("fail", 8)] + [Errand("report", n) for n in (9, 10)]
answers = dict(Devices().run(deque(jobs), told))
places = {answers[job] for job in jobs[:8]}
print(Devices().workers, len(answers), sorted(places), isinstance(answers[jobs[8]], Failure), sorted(said.items()))

def stop(job, event):
    raise Stopped

jobs = deque(Errand("report", n) for n in range(1000))
try:
    for answer in Devices().run(jobs, stop):
        pass
except Stopped:
    print("stopped", len(jobs) > 900)
"""


def test_every_device_has_its_share_and_says_what_happens_there() -> None:
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", DEVICES]
    done = subprocess.run(command, env={**os.environ, **flags}, capture_output=True, text=True, timeout=600)
    assert (done.stderr, done.stdout) == ("", "2 11 [0, 1] True [(9, 1), (10, 1)]\nstopped True\n")


def test_shards_are_of_one_size_and_hold_every_missing_attempt_once() -> None:
    group = Group(tasks_of(["combo:5x5", "combo:6x6", "combo:7x7"]))
    names = [task.identity for task in group.tasks]
    for quick, attempts, parts, size, number in [
        (True, 100, 4, 300, 1), (True, 5000, 1, 7500, 2), (False, 100, 1, 300, 1), (False, 100, 4, 75, 4),
        (False, 20, 4, 30, 2), (False, 1000, 1, 500, 6),
    ]:  # fmt: skip
        manner = Manner("a", {}, quick, {})
        shards = list(cut(manner, "a", group, 0, attempts, set(), parts))
        assert ({shard.size for shard in shards}, len(shards)) == ({size}, number)
        items = [item for shard in shards for item in shard.items]
        assert sorted(items) == [(task, n) for task in range(3) for n in range(attempts)]
        first = {(names[task], n) for task, n in shards[0].items}
        again = [shard.items for shard in cut(manner, "a", group, 0, attempts, first, parts)]
        assert again == [shard.items for shard in shards[1:]]


def test_few_missing_attempts_of_a_dear_agent_are_not_filled_up() -> None:
    group = Group(tasks_of("combo:5x5"))
    done = {(group.tasks[0].identity, n) for n in range(490)}

    def only(quick: bool) -> Shard:
        (shard,) = cut(Manner("a", {}, quick, {}), "a", group, 0, 500, done, 1)
        return shard

    assert (only(True).size, only(True).attempts) == (256, 10)
    assert (only(False).size, only(False).attempts) == (10, 10)


def test_programs_are_forgotten_only_where_memory_is_short() -> None:
    traced = []

    @jax.jit
    def f(x: jax.Array) -> jax.Array:
        traced.append(x)
        return x + 1

    for limit, times in ((1 << 60, 1), (1, 2)):
        f(np.float32(1))
        assert memory.spare_memory(limit) == (times == 2)
        f(np.float32(1))
        assert len(traced) == times
    assert 10**7 < memory.resident() < 10**12
