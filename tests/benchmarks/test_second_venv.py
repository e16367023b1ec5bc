"""What needs other packages than ours says in a sentence what is missing, and is made once."""

from pathlib import Path

import pytest

from benchmarks import second_venv
from benchmarks.second_venv import NotHere, SecondVenv

VENV = SecondVenv("a-venv", "a peer", ("peer==1",), series=((2, 6), (2, 7)), note="it is old")


def test_no_python_that_serves_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_venv, "ROOT", tmp_path)
    with pytest.raises(NotHere, match=r"^a peer needs Python 2\.6 to 2\.7, and none was found here$"):
        VENV.python()


def test_what_was_finished_with_the_same_requirements_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_venv, "ROOT", tmp_path)
    monkeypatch.setattr(second_venv, "ask", lambda python: True)
    VENV.folder.mkdir(parents=True)
    (VENV.folder / "finished").write_text("peer==1")
    assert VENV.python().is_relative_to(VENV.folder)
    (VENV.folder / "finished").write_text("peer==0")
    with pytest.raises(NotHere):
        VENV.python()
