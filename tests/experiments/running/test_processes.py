"""Several processes give the rows of one, and contain what hangs, dies or cannot be sent; a killed run goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from experiments import Processes, Results, evaluate
from experiments.running import jobs
from experiments.running.events import Event
from experiments.running.executors.here import ExecutorError, Failure, next_job
from experiments.running.executors.processes import shares
from tests.experiments.players import Errand, Player, Unsendable

ROOT = Path(__file__).absolute().parents[3]
TOLD: list[Event] = []


def run(executor: Any, *jobs: Errand) -> dict[Errand, Any]:
    return dict(executor.run(deque(jobs), lambda job, event: TOLD.append(event) if event else None))


def test_what_hangs_or_dies_costs_its_own_job_only() -> None:
    jobs = [Errand(does, n) for n, does in enumerate(["rest", "report", "die", "report", "starve", "fail", "report"])]
    started = time.monotonic()
    answers = run(Processes(2, time_limit=2), *jobs)
    assert time.monotonic() - started < 60
    assert set(answers) == set(jobs)
    said = {job.does: answer.sentence for job, answer in answers.items() if isinstance(answer, Failure)}
    assert said == {
        "rest": "no answer within 2 seconds: it was ended",
        "die": "its process ended itself with exit code 7",
        "starve": "its process was ended by SIGKILL (is there enough memory?)",
        "fail": "ZeroDivisionError: a stranger's mistake",
    }
    assert [answers[job][0] for job in jobs if job.does == "report"] == [1, 3, 6]


def test_each_process_keeps_to_its_own_cores() -> None:
    answers = run(Processes(2), *(Errand("report", n) for n in range(6)))
    cores = {pid: frozenset(used) for _, pid, used in answers.values()}
    assert len(cores) <= 2 and set(cores.values()) <= set(shares(2))


def test_a_worker_goes_on_with_what_it_has_compiled_before_it_helps_another() -> None:
    jobs = [Errand("report", n, program="ab"[n % 2]) for n in range(6)]
    assert next_job(deque(jobs), "b", set(), "") is jobs[1]
    assert next_job(deque(jobs), None, {"a"}, "") is jobs[1]
    assert next_job(deque(jobs), None, {"a", "b"}, "") is jobs[0]


def test_a_strangers_module_has_processes_of_its_own() -> None:
    order = ["", "one", "", "two", "one", ""]
    jobs = [Errand("report", n, program=str(n), home=home) for n, home in enumerate(order)]
    answers = run(Processes(1), *jobs)
    homes: dict[int, set[str]] = {}
    for job, (_, pid, _) in answers.items():
        homes.setdefault(pid, set()).add(job.home)
    assert sorted(map(sorted, homes.values())) == [["", "one"], ["two"]]  # ours come first, then who was there first
    waiting = deque([Errand("report", 0, program="a", home="one"), Errand("report", 1, program="b", home="two")])
    assert next_job(waiting, None, {"a"}, "one").number == 1  # rather a new start than compiling what another has


def test_cores_are_shared_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 5, 6})
    assert shares(2) == [{0, 1}, {2, 5, 6}]
    assert shares(7) == [{0}, {1}, {2}, {5}, {6}, {0}, {1}]
    monkeypatch.delattr(os, "sched_setaffinity")
    assert shares(2) == [None, None]


def test_agents_that_hang_or_cannot_be_sent_are_errors_of_their_own() -> None:
    agents = [Player("ponders"), Player("unbound"), Unsendable()]
    results = evaluate(agents, "combo:5x5", 3, executor=Processes(1, time_limit=4), progress=False)
    assert {(error.agent, error.attempts) for error in results.errors} == {
        (agents[0].name, 3), (agents[1].name, 3), ("unsendable", 3)
    }  # fmt: skip
    said = {error.agent: error.sentence for error in results.errors}
    assert said[agents[0].name] == "no answer within 4 seconds: it was ended"
    assert (
        said["unsendable"].startswith("the agent cannot be sent to another process (")
        and "lambda" in said["unsendable"]
    )


@pytest.mark.parametrize(("workers", "limit"), [(0, None), (2, 0.0)])
def test_impossible_executors_are_refused(workers: int, limit: float | None) -> None:
    with pytest.raises(ValueError, match=r"at least one process, not 0|more than 0 seconds, not 0.0"):
        Processes(workers, limit)


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from experiments import *\nevaluate('first', 'combo:5x5', 2, executor=Processes(1))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment(), timeout=600)
    assert done.returncode == 1
    assert "ExecutorError: a process could not be started" in done.stderr.splitlines()[-1]
    assert '`if __name__ == "__main__":`' in done.stderr.splitlines()[-1]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


AGENTS, ATTEMPTS, SEED = ["random", Player()], 20, 11

EVALUATION = """
import sys
from experiments import Processes, evaluate
from experiments.running import jobs
from tests.experiments.players import Player
from tests.experiments.running.test_processes import AGENTS, ATTEMPTS, SEED

jobs.QUICK = jobs.SLOW = 8

if __name__ == "__main__":
    evaluate(AGENTS, "combo:5x5", ATTEMPTS, SEED, Processes(int(sys.argv[2])), sys.argv[1], progress=False)
"""


def small(workers: int, store: Path | None = None) -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "QUICK", 8)
        patch.setattr(jobs, "SLOW", 8)
        return evaluate(AGENTS, "combo:5x5", ATTEMPTS, SEED, Processes(workers), store, progress=False)


@pytest.fixture(scope="module")
def whole() -> Results:
    return small(1)


def timeless(results: Results) -> list[Any]:
    return [row._replace(seconds=0.0) for row in results.rows]


def test_one_and_two_processes_give_the_same_rows(whole: Results) -> None:
    assert len(whole.rows) == 2 * ATTEMPTS
    assert timeless(small(2)) == timeless(whole)


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing_and_play_nothing_twice(whole: Results, tmp_path: Path) -> None:
    script, path = tmp_path / "evaluation.py", tmp_path / "runs.sqlite"
    script.write_text(EVALUATION)
    seen: list[int] = []
    for enough in (0, 1, 15, 27):
        command = [sys.executable, str(script), str(path), str(1 + enough % 2)]
        with subprocess.Popen(command, env=environment()) as process:
            while process.poll() is None and stored(path) < enough:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        seen.append(stored(path))
    assert seen == sorted(seen) and seen[-1] > 0
    results = small(2, path)
    assert timeless(results) == timeless(whole)
    assert stored(path) == 2 * ATTEMPTS


def stored(path: Path) -> int:
    """How many rows another process has committed; -1 before there is a store."""
    if not path.exists():
        return -1
    connection = sqlite3.connect(path, timeout=30)
    try:
        return int(connection.execute("SELECT count(*) FROM attempts").fetchone()[0])
    except sqlite3.OperationalError:
        return -1
    finally:
        connection.close()


def test_a_hanging_agent_does_not_outlive_a_killed_run(tmp_path: Path) -> None:
    note, script = tmp_path / "pid", tmp_path / "evaluation.py"
    script.write_text(
        "from experiments import Processes, evaluate\nfrom tests.experiments.players import Player\n"
        'if __name__ == "__main__":\n'
        f'    evaluate(Player("ponders", {str(note)!r}), "combo:5x5", executor=Processes(1))\n'
    )
    with subprocess.Popen([sys.executable, str(script)], env=environment()) as process:
        worker = int(waited(lambda: note.exists() and note.read_text()))
        assert alive(worker)
        process.send_signal(signal.SIGKILL)
    assert waited(lambda: not alive(worker))


def waited(condition: Any) -> Any:
    """What the condition gives as soon as that is something."""
    for _ in range(1200):
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it took more than a minute")


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_processes_that_cannot_start_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.running.executors.processes.worker.work", os._exit)
    with pytest.raises(ExecutorError, match="a process could not be started: its process ended itself with exit code"):
        run(Processes(1), Errand("report"))
