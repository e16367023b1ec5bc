"""`crush-gym train`: runs, their ends in words, and what is refused."""

from pathlib import Path

import pytest

from crush_gym.cli import main

SMALL = ["--network", "edge:layers=1,filters=4,hidden=4", "--no-preview", "--attempts", "8"]
SMALL += [word for setting in ("boards=16", "length=8", "minibatch=64", "updates=1") for word in ("--set", setting)]


def test_a_run_is_broken_off_resumed_and_ranked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(["train", "ppo", "--levels", "combo:5x5", "--steps", "256", "--minutes", "1e-9", "--out", "r", *SMALL])
        == 0
    )
    said = capsys.readouterr().out  # a call of updates, judged, whatever the time
    assert "r: 128 moves, best mean score " in said and "\n  go on: crush-gym train --resume r\n" in said
    assert main(["train", "--resume", "r"]) == 0
    said = capsys.readouterr()
    assert "r: 256 moves, best mean score " in said.out and "0:00 left" in said.err
    command = "evaluate policy:r/best.safetensors random --levels combo:5x5 --attempts 4"
    assert command.split(" --levels")[0] in said.out
    assert main(command.split()) == 0
    assert "policy:r/best.safetensors:weights=" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("train", "say what learns and on what"),
        ("train ppo", "say what learns and on what"),
        ("train pop --levels combo", "did you mean 'ppo'"),
        ("train ppo --levels combo --set rat=1", "did you mean 'rate'"),
        ("train ppo --levels combo --set rate", "expected setting=value"),
        ("train ppo --levels combo --set rate=fast", "ppo: rate must be float, not 'fast'"),
        ("train ppo --levels combo --sweep nothing.json", "cannot be read as a list of runs"),
        ("train --resume nothing", "holds no run to go on with"),
        ("train --resume nothing --steps 5", "leave --steps out"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    command: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) in (1, 2)
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_settings_are_listed_with_their_meanings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "ppo", "--help-settings"]) == 0
    assert "what a reward is worth one move later" in capsys.readouterr().out
