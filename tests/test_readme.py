"""The README's examples run as printed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from crush_gym.cli import main

README = Path(__file__).parent.parent / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
SAYS = (
    "score: ",
    "mean score: ",
    None,
    None,
    "mean reward of random play: ",
    "success of random play: ",
    "success of heur",
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    ("example", "says"),
    list(zip(EXAMPLES, SAYS, strict=True)),
    ids=["single", "vector", "sb3", "model", "functional", "game", "harness"],
)
def test_readme_example_runs_as_printed(
    example: str, says: str | None, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "sb3" in example:
        pytest.importorskip("sb3_contrib")
    exec(compile(example, str(README), "exec"), {})
    assert says is None or says in capsys.readouterr().out
    if "model.save" in example:
        the_harness_plays_it(tmp_path)
        rows = capsys.readouterr().out.splitlines()[2:4]
        assert [row.split()[0] for row in rows] == ["random", "my_ppo:ppo:model=ppo_points.zip"]


def the_harness_plays_it(folder: Path) -> None:
    """What the README says next: a file that loads the model, and the command that lets it play."""
    (file,) = (example for example in EXAMPLES if "MaskablePPO.load" in example)
    (folder / "my_ppo.py").write_text(file, encoding="utf-8")
    (command,) = re.findall(r"^crush-gym (.*my_ppo:.*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    try:
        assert main(command.split()) == 0
    finally:
        sys.modules.pop("my_ppo", None)
