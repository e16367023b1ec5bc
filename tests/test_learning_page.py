"""The page about learning: its program runs as printed, and it names all that there is."""

import re
from pathlib import Path

import pytest

from agents.learning import networks
from agents.learning.algorithms import ALGORITHMS

PAGE = (Path(__file__).parent.parent / "docs" / "learning.md").read_text(encoding="utf-8")


def test_the_program_runs_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(networks, "NETWORKS", dict(networks.NETWORKS))
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "learning.md", "exec"), {})
    said = re.findall(r"mean score of (\S+): (\d+)", capsys.readouterr().out)
    assert [name.partition(":")[0] for name, _ in said] == ["policy", "random"]
    assert int(said[0][1]) > int(said[1][1])


def test_every_algorithm_and_network_is_named() -> None:
    named = set(re.findall(r"^\| `([\w-]+)`", PAGE, re.MULTILINE))
    assert named >= {*ALGORITHMS, *networks.NETWORKS}
