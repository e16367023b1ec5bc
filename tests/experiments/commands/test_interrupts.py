"""Ctrl-C ends a command with one sentence and exit code 130, whatever it is doing, and costs no result."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.results.store import Store

ROOT = Path(__file__).absolute().parents[3]

STUCK = """
import signal, sys, threading
from crush_gym.cli.interrupts import interruptible

before = signal.getsignal(signal.SIGINT)
with interruptible(lambda: "never"):
    pass
assert signal.getsignal(signal.SIGINT) is before and signal.set_wakeup_fd(-1) == -1
with interruptible(lambda: f"said by {threading.active_count()} threads"):
    print("ready", flush=True)
    if sys.argv[1] == "waits":
        threading.Event().wait()
    raise KeyboardInterrupt
"""


@pytest.mark.parametrize("how", ["waits", "raises"])
def test_ctrl_c_ends_what_waits_with_a_sentence(how: str) -> None:
    command = [sys.executable, "-c", STUCK, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        if how == "waits":
            run.send_signal(signal.SIGINT)
        out, said = run.communicate(timeout=60)
        assert out == "" and re.fullmatch(r"\ninterrupted: said by \d threads\n", said)
    assert run.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize("command", ["levels show tour Castle --random 3", "play tour Castle --actions -", "doctor"])
def test_ctrl_c_ends_other_commands_that_compile(command: str) -> None:
    for wait in (3.0, 5.0, 7.0):
        with subprocess.Popen(
            hearing([sys.executable, "-m", "crush_gym", *command.split()]), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=compiling_anew(),
        ) as run:  # fmt: skip
            assert run.stdin is not None
            run.stdin.close()
            run.stdin = None
            time.sleep(wait)
            run.send_signal(signal.SIGINT)
            _, said = run.communicate(timeout=120)
        assert run.returncode in (130, 0), (run.returncode, said)
        assert run.returncode == 0 or said in ("", "\ninterrupted: nothing was kept; the same command begins anew\n")


def compiling_anew() -> dict[str, str]:
    return {k: v for k, v in environment(CRUSH_GYM_CACHE="off").items() if k != "JAX_COMPILATION_CACHE_DIR"}


def hearing(command: list[str]) -> list[str]:
    """What a shell starts beside itself ignores Ctrl-C, and so do its children: not this one."""
    words = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-c", words, *command]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def evaluation(folder: Path) -> list[str]:
    levels = ["--levels", "points:5x6", "--levels", "combo:5x5"]
    return [sys.executable, "-m", "crush_gym", "evaluate", "random", "first", *levels, "--attempts", "3000"]


@pytest.mark.slow
def test_ctrl_c_at_any_moment_is_clean_and_the_same_command_goes_on(tmp_path: Path) -> None:
    rng = random.Random(5)
    ends, kept = set(), 0
    for n in range(20):
        # Every other time nothing is cached, so that most moments are of compiling.
        cache = tmp_path / ("cache" if n % 2 else f"cache{n}")
        kept, end = interrupted(tmp_path, cache, wait=rng.uniform(0.0, 12.0), before=kept)
        ends.add(end)
    assert ends <= {130, 0} and 130 in ends
    done = subprocess.run(
        evaluation(tmp_path), cwd=tmp_path, capture_output=True, text=True, env=environment(XDG_CACHE_HOME=str(cache))
    )
    assert done.returncode == 0, done.stderr
    with Store(tmp_path / "runs.sqlite") as store:
        assert len(store) == 2 * 2 * 3000


def interrupted(folder: Path, cache: Path, wait: float, before: int) -> tuple[int, int]:
    """Begin, and interrupt so many seconds after the start; results in the store afterwards, and the exit code."""
    cleared = {k: v for k, v in environment().items() if k != "JAX_COMPILATION_CACHE_DIR"}
    command = [*evaluation(folder), "--json"]
    with subprocess.Popen(
        hearing(command), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=cleared | {"XDG_CACHE_HOME": str(cache)},
    ) as run:  # fmt: skip
        while not (folder / "runs.sqlite").exists() and run.poll() is None:
            time.sleep(0.01)
        time.sleep(wait + 2.0)
        asked = time.monotonic()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=120)
        took = time.monotonic() - asked
    with Store(folder / "runs.sqlite") as store:
        kept = len(store)
    assert kept >= before
    if run.returncode:
        words = f"interrupted: {kept:,} results are safe in 'runs.sqlite'; the same command goes on from there"
        said = err.strip().splitlines()[-1:]  # nothing, where the command has not yet begun
        assert out == "" and said in ([words], []) and took < 20, (err, took)
    return kept, run.returncode
