"""The README's examples run as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
SAYS = ("score: ", "mean score: ", None, "mean reward of random play: ", "success of random play: ", "success of heur")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    ("example", "says"),
    list(zip(EXAMPLES, SAYS, strict=True)),
    ids=["single", "vector", "sb3", "functional", "game", "harness"],
)
def test_readme_example_runs_as_printed(
    example: str, says: str | None, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "sb3" in example:
        pytest.importorskip("sb3_contrib")
    exec(compile(example, str(README), "exec"), {})
    assert says is None or says in capsys.readouterr().out
