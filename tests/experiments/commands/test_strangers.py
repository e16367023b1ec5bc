"""What strangers' players print, and what they do to the modules of their process, stays with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents.foreign.adapt
import agents.template
from crush_gym.cli import main
from experiments import InProcess, Processes, Row, evaluate
from experiments.running.executors.here import Executor
from experiments.running.jobs import home_of
from tests.experiments.players import Player

LOUD = """
import os, sys
import numpy as np
print("hello from the module")
kept = sys.stdout

class Loud:
    def act(self, obs, mask, rng):
        print("hello \\033[31m")
        kept.write("from whom was kept")
        os.write(1, b"\\xff raw")
        os.system("echo hello from the shell")
        return int(np.flatnonzero(mask)[0])
"""

PATCHES = """
import numpy as np
real, first = np.random.default_rng, np.flatnonzero

class Rng:
    def act(self, obs, mask, rng):
        np.random.default_rng = lambda *words: real(0)
        np.random.PCG64 = None
        return int(first(mask)[0])

class Numpy(Rng):
    def act(self, obs, mask, rng):
        np.flatnonzero = lambda mask: first(mask)[:1]
        return super().act(obs, mask, rng)
"""

MINE = "mine:Lowest:chance=0.5"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, where strangers keep their players."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    shutil.copy(agents.template.__file__, tmp_path / "mine.py")
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "patches.py").write_text(PATCHES)
    return tmp_path


@pytest.mark.parametrize("where", [[], ["--processes", "1"]], ids=["here", "processes"])
def test_what_players_print_does_not_mix_with_the_result(
    folder: Path, where: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", "loud:Loud", "--levels", "combo:5x5", "--attempts", "7", "--seed", "11", "--json", *where]
    assert main(command) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["agents"]["loud:Loud"]["attempts"] == 7
    for words in ("from the module", "hello \033[31m", "from whom was kept", "raw", "from the shell"):
        assert words in said.err
    print("afterwards")
    assert capfd.readouterr().out == "afterwards\n"


def rows(executor: Executor, *names: str) -> list[Row]:
    results = evaluate(list(names), "combo:5x5", 7, 11, executor, progress=False)
    assert all(error.agent != MINE for error in results.errors)
    return [row._replace(seconds=0.0) for row in results.rows if row.agent == MINE]


@pytest.mark.parametrize(
    ("executor", "spoiler"), [(InProcess(), "patches:Rng"), (Processes(1), "patches:Numpy")], ids=["here", "processes"]
)
def test_what_a_player_replaces_does_not_spoil_those_after_it(
    folder: Path, executor: Any, spoiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("default_rng", "PCG64"):
        monkeypatch.setattr(np.random, name, getattr(np.random, name))  # so that it is put back
    alone = rows(InProcess(), MINE)
    assert rows(executor, spoiler, MINE) == alone and len(alone) == 7


def test_strangers_are_known_by_their_modules() -> None:
    def act(obs: Any, mask: Any, rng: Any) -> int:
        return 0

    adapted = agents.foreign.adapt.adapt(act)
    assert [home_of(each) for each in ("random", "mcts:simulations=5", "agents.template:Lowest")] == ["", "", ""]
    assert home_of("mine:Lowest") == "mine" and home_of("no.such.module:Player") == "no.such.module"
    assert home_of(Player()) == "tests.experiments.players" and home_of(adapted) == __name__
    assert home_of(agents.template.BatchedLowest()) == ""
