"""The command line: what every command has in common, levels, bench and doctor."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import crush_gym
from crush_gym import Game, Level, Preview, load_pack
from crush_gym.cli import bench, describe, doctor, main, probe
from crush_gym.cli.common import CommandError, add_command
from crush_gym.levels.pack import shipped_packs
from crush_gym.render import ansi, svg
from crush_gym.runtime import chunks, store

COMMANDS = ("levels", "play", "replay", "bench", "doctor")
Output = pytest.CaptureFixture[str]

WRONG = {
    "name": "wrong",
    "levels": [
        {"name": "one", "colours": 3, "moves": 0, "board": ["? ? d", "? q ?"]},
        {"name": "two", "colours": 5, "moves": 3, "board": ["? ?", "? ?"]},
        {"colours": 5, "moves": 3, "seconds": 4, "goals": {"jelly": "all"}, "board": ["? ?", "? ?"]},
    ],
}


def written(folder: Path, name: str, content: object) -> str:
    path = folder / name
    path.write_text(json.dumps(content))
    return str(path)


def report(capsys: Output, *arguments: str) -> Any:
    assert main([*arguments, "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


# ------------------------------------------------------------------------------------- the program


def test_the_module_runs_and_needs_no_jax_for_its_help() -> None:
    code = "import sys, crush_gym.__main__, crush_gym.cli as c; c.main(['--help']); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
    done = subprocess.run([sys.executable, "-m", "crush_gym", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert all(command in done.stdout for command in COMMANDS)


@pytest.mark.parametrize(
    "command", [[], *([c] for c in COMMANDS), *(["levels", part] for part in ("list", "show", "validate", "generate"))]
)
def test_every_help_has_an_example(command: list[str], capsys: Output) -> None:
    assert main([*command, "--help"]) == 0
    examples = capsys.readouterr().out.split("examples:\n")[1]
    assert examples.startswith(f"  {' '.join(['crush-gym', *command])}")


def test_without_a_command_the_help_is_shown(capsys: Output) -> None:
    assert main([]) == 2
    assert "usage: crush-gym" in capsys.readouterr().err


def test_the_version_is_told(capsys: Output) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"crush-gym {crush_gym.__version__}\n"


@pytest.mark.parametrize("arguments", [["fly"], ["levels"], ["levels", "fly"], ["play", "--seed", "x"], ["replay"]])
def test_wrong_usage_is_two(arguments: list[str], capsys: Output) -> None:
    assert main(arguments) == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replya"], "usage: crush-gym .* 'replya' .*; did you mean 'replay'"),
        (["levels", "shwo"], "usage: crush-gym levels .* 'shwo' .*; did you mean 'show'"),
        (["levels", "list", "--jsno"], "usage: crush-gym levels list .* --jsno; did you mean '--json'"),
        (["play", "--rules", "comb"], "usage: crush-gym play .* 'comb' .*; did you mean 'combo'"),
        (["play", "basics", "jelly", "--sede=3"], "usage: crush-gym play .* --sede=3; did you mean '--seed'"),
        (["levels", "list", "a", "b"], "unrecognized arguments: b$"),
    ],
)
def test_what_may_have_been_meant_is_offered(arguments: list[str], said: str, capsys: Output) -> None:
    assert main(arguments) == 2
    assert re.search(said, " ".join(capsys.readouterr().err.split()))


def test_a_closed_pipe_is_quiet() -> None:
    command = [sys.executable, "-m", "crush_gym", "levels", "list"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


# ------------------------------------------------------------------------------------- others' commands


class Entry:
    """An entry point that loads a function, or fails to."""

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self.name, self.value, self.load = name, f"somewhere:{name}", load


def answering(run: Callable[[Namespace], int]) -> Callable[[], Any]:
    return lambda: lambda subparsers: add_command(subparsers, "other", run, "do something else", "other")


def with_entries(monkeypatch: pytest.MonkeyPatch, *entries: Entry) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda group: entries if group == "crush_gym.commands" else ())


def test_other_packages_add_commands_and_broken_ones_harm_nobody(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def broken() -> Any:
        raise ImportError("no module\nof that name")

    twice = Entry("twice", lambda: lambda subparsers: add_command(subparsers, "levels", lambda _: 0, "again", "levels"))
    with_entries(monkeypatch, Entry("good", answering(lambda options: 1)), Entry("bad", broken), twice)
    assert main(["other"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "crush-gym: the command 'bad' (somewhere:bad) is broken: ImportError: no module of that name"
    assert second.startswith("crush-gym: the command 'twice' (somewhere:twice) is broken: ")
    assert main(["levels", "list"]) == 0


def test_other_packages_add_parts_to_commands_that_have_some(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def never() -> Any:
        raise AssertionError("only what may be meant is loaded")

    good = Entry("levels.other", answering(lambda options: 1))
    with_entries(monkeypatch, good, Entry("another", never))
    assert main(["levels", "other"]) == 1
    with_entries(monkeypatch, Entry("levels.bad", never), Entry("another", answering(lambda options: 1)))
    assert main(["other"]) == 1 and capsys.readouterr().err == ""
    assert main(["levels", "list"]) == 0
    assert "the command 'levels.bad' (somewhere:levels.bad) is broken: AssertionError" in capsys.readouterr().err


def test_failures_and_interrupts_are_exit_codes(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def raising(error: BaseException) -> Callable[[Namespace], int]:
        def run(_: Namespace) -> int:
            raise error

        return run

    for error, status, said in (
        (CommandError("that is so"), 1, "crush-gym: that is so\n"),
        (KeyboardInterrupt(), 130, ""),
        (OSError(errno.ENAMETOOLONG, "File name too long", "aa"), 1, "crush-gym: 'aa': File name too long\n"),
    ):
        with_entries(monkeypatch, Entry("good", answering(raising(error))))
        assert main(["other"]) == status
        assert capsys.readouterr().err == said


# ------------------------------------------------------------------------------------- levels


def test_packs_are_listed(capsys: Output) -> None:
    assert main(["levels", "list"]) == 0
    text = capsys.readouterr().out
    packs = report(capsys, "levels", "list")["packs"]
    assert [pack["name"] for pack in packs] == list(shipped_packs())
    assert all(f"\n{pack['name']} " in text for pack in packs)
    assert {"name": "basics", "levels": len(load_pack("basics"))} in packs


def test_the_levels_of_a_pack_are_listed(capsys: Output) -> None:
    assert main(["levels", "list", "basics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["0", "plain", "moves", "7x7", "5", "20", "moves", "score", "6,000"]
    assert lines[-1].endswith("score 60,000, all jelly (18 layers), 2 cherries, 1 hazelnut, 20 ♥, 3 striped candies,"
                              " 4 swirls, 3 icing, 1 chocolate, 2 locks")  # fmt: skip
    levels = report(capsys, "levels", "list", "basics")["levels"]
    assert [level["name"] for level in levels] == list(load_pack("basics").names)
    assert levels[10]["seconds"] == 60 and levels[10]["moves"] is None


@pytest.mark.parametrize(
    ("level", "kind"),
    [("plain", "moves"), ("jelly", "jelly"), ("ingredients", "ingredients"), ("timed", "timed"), ("locks", "orders"),
     ("everything", "mixed")],
)  # fmt: skip
def test_a_levels_kind(level: str, kind: str) -> None:
    assert describe.kind(load_pack("basics")[level]) == kind


def test_what_a_move_brings_is_told_in_units_of_the_levels_goals() -> None:
    level = load_pack("basics")["everything"]  # 18 layers of jelly, 20 ♥, 3 striped candies, 2 cherries
    names = ("score", "jelly", "cherry", "hazelnut", "a", "striped")
    shares = np.array([[0, 0.3], [0, 3 / 18], [0, 0], [0, 1], [0, 5 / 20], [0, 1 / 3]], np.float32)
    brought = Preview(*(np.array([0, n]) for n in (1, 1260, 9, 2)), shares, np.array([0, 2]), np.array([0, 0]))  # type: ignore[arg-type]
    told = describe.gains(level, names, brought, 1)
    assert told == ["1,260 points in 2 waves", "makes 2 special candies", "3 layers of jelly", "1 hazelnut", "5 ♥",
                    "1 striped candy"]  # fmt: skip
    assert describe.gains(level, names, brought._replace(waves=np.array([1, 1])), 0) == ["0 points"]  # type: ignore[arg-type]


def test_a_level_is_shown(capsys: Output, tmp_path: Path) -> None:
    assert main(["levels", "show", "basics", "everything", "--svg", str(tmp_path / "board.svg")]) == 0
    text = capsys.readouterr().out
    assert "basics / everything: mixed, 9x9, 6 colours, 300 s" in text
    joined = " ".join(text.split())
    assert "18 layers of jelly" in joined and "spawns candy bombs (with 40 moves, 2 at a time, every 8 moves)" in joined
    assert (tmp_path / "board.svg").read_text().startswith("<svg")
    shown = report(capsys, "levels", "show", "basics", "16")
    assert shown["name"] == "everything" and shown["level"] == load_pack("basics")["everything"].to_dict()


def test_a_levels_place_is_written_in_any_way(capsys: Output) -> None:
    shown = []
    for words in (["basics", "jelly"], ["basics/jelly"], ["basics", "--json", "jelly"], ["basics/12"]):
        assert main(["levels", "show", *words, "--json"]) == 0
        shown.append(json.loads(capsys.readouterr().out)["name"])
    assert shown == ["jelly"] * 3 + [load_pack("basics")[12].name]


def test_a_level_is_shown_as_an_attempt_begins(capsys: Output, tmp_path: Path) -> None:
    content = {"name": "small", "colours": 4, "moves": 5, "goals": {"jelly": "all"}, "board": ["? ?' ?", "# ? ?"]}
    path, level = written(tmp_path, "small.json", content), Level.from_dict(content)
    begun = Game(level).text(Game(level).reset(jax.random.key(7)))
    shown = report(capsys, "levels", "show", path, "--random", "7", "--svg", str(tmp_path / "small.svg"))
    assert shown["board"] == begun and "?" not in "".join(begun)
    assert begun != report(capsys, "levels", "show", path, "--random", "8")["board"]
    assert (tmp_path / "small.svg").read_text() == svg(begun, level)
    assert main(["levels", "show", path, "--random", "7"]) == 0
    assert ansi(begun, level, colour=False) in capsys.readouterr().out
    assert report(capsys, "levels", "show", path)["board"] == content["board"]


def test_the_only_level_of_a_file_needs_no_name(capsys: Output, tmp_path: Path) -> None:
    level = load_pack("basics")["jelly"]
    path = written(tmp_path, "level.json", level.to_dict())
    assert report(capsys, "levels", "show", path)["hash"] == level.content_hash()
    assert main(["levels", "show", path]) == 0
    assert capsys.readouterr().out.startswith("jelly: jelly, 9x9")
    nameless = written(tmp_path, "pack.json", {"levels": [level.to_dict()]})
    assert main(["levels", "show", nameless]) == 0
    assert capsys.readouterr().out.startswith("jelly: jelly, 9x9")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["list", "basic"], 2, "did you mean 'basics'?"),
        (["list", "none.json"], 1, "'none.json': there is no such file"),
        (["show", "basics"], 2, "say which level of 'basics'"),
        (["show", "basics", "jely"], 2, "did you mean 'jelly'?"),
        (["show", "basics", "99"], 2, "there is no level 99: the pack has 17 levels"),
        (["show", "basics", "jelly", "--svg", "/no/such/folder/x.svg"], 1, "cannot be written"),
    ],
)
def test_what_is_not_there_is_one_sentence(arguments: list[str], status: int, said: str, capsys: Output) -> None:
    assert main(["levels", *arguments]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("crush-gym: ") and said in line


def test_validation_lists_every_error_of_every_level_of_every_file(capsys: Output, tmp_path: Path) -> None:
    wrong = written(tmp_path, "wrong.json", WRONG)
    good = written(tmp_path, "good.json", load_pack("basics")[0].to_dict())
    missing = str(tmp_path / "missing.json")
    assert main(["levels", "validate", wrong, good, missing]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2].split(":")[0] for line in lines] == [
        "level 'one'",
        "level 'one', row 0, column 2",
        "level 'one', row 1, column 1",
        "level 'levels[2]'",
        "level 'levels[2]'",
        "no problems, 1 level",
        "there is no such file",
    ]
    assert [line.partition(": ")[0] for line in lines] == [wrong] * 5 + [good, missing]
    checked = report(capsys, "levels", "validate", wrong, good)
    assert not checked["ok"] and checked["files"][1] == {"file": good, "levels": 1, "problems": []}
    assert [(p["level"], p["row"], p["column"]) for p in checked["files"][0]["problems"]][1] == ("one", 0, 2)


def test_shipped_packs_are_valid(capsys: Output) -> None:
    assert main(["levels", "validate", *map(str, shipped_packs().values())]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(shipped_packs())


# ------------------------------------------------------------------------------------- bench and doctor


def quick(rules: str) -> probe.Speed:
    return probe.Speed(rules, 2000, 40000, 123456.0, 1.5)


def test_without_the_repository_the_measurement_is_short(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(bench, "repository", lambda: None)
    monkeypatch.setattr(probe, "measure", quick)
    assert main(["bench"]) == 0
    assert "combo   123,456        1.5 s" in capsys.readouterr().out
    assert [game["rules"] for game in report(capsys, "bench", "--short")["games"]] == ["saga", "points", "combo"]


def test_the_short_measurement_measures() -> None:
    speed = probe.measure("combo", attempts=8)
    assert speed.moves == 8 * 50 and speed.moves_per_second > 0


def test_named_devices_are_measured_for_a_block_to_paste(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(probe, "RULES", ("combo",))
    monkeypatch.setattr(probe, "game_of", lambda rules: Game(rules=rules, shape=(4, 4), moves=3))
    assert main(["bench", "--devices", "cpu", "--boards", "8"]) == 0
    block = capsys.readouterr().out
    assert f"- jax: {jax.__version__}" in block and "- devices: 1 x cpu" in block and "| combo | 8 | " in block
    measured = report(capsys, "bench", "--devices", "cpu", "--boards", "8")["games"]
    assert [(game["attempts"], game["moves"]) for game in measured] == [(8, 8 * 3)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--devices", "tpu"], "JAX finds no tpu here"),
        (["--devices", "cpu", "--boards", "0"], "--boards must be a positive multiple of 1"),
        (["--boards", "8"], "--boards goes with --devices"),
    ],
)
def test_devices_that_cannot_be_measured_are_refused(options: list[str], says: str, capsys: Output) -> None:
    assert main(["bench", *options]) == 1
    assert says in capsys.readouterr().err


def test_the_repository_is_found_here() -> None:
    assert bench.repository() == Path(crush_gym.__file__).parent.parent


def test_the_doctor_reports(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(probe, "first_move", lambda rules: 0.5)
    assert main(["doctor"]) == 0
    assert "All is well." in capsys.readouterr().out
    found = report(capsys, "doctor")
    assert found["versions"]["jax"] == metadata.version("jax")
    assert found["moves"] == {"saga": 0.5, "points": 0.5, "combo": 0.5} and found["problems"] == []


def test_the_doctor_tells_where_programs_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: Output, tmp_path: Path
) -> None:
    def told() -> tuple[str, dict[str, Any]]:
        assert main(["doctor"]) == 0
        return capsys.readouterr().out, report(capsys, "doctor")["programs"]

    monkeypatch.setattr(probe, "first_move", lambda rules: 0.5)
    monkeypatch.setattr(store, "of_jax", lambda: None)
    text, programs = told()
    assert "compiled anew in every process: CRUSH_GYM_CACHE=off" in text
    assert programs["folder"] is None and programs["kernels"] is True and "kernels" not in text
    monkeypatch.setenv(store.SWITCH, str(tmp_path))
    monkeypatch.setattr(chunks, "KERNELS", False)
    store.write(tmp_path, "one", b"x" * 2_000_000)
    text, programs = told()
    assert f"kept in {tmp_path} (writable): 1, 2 MB\n  without kernels: CRUSH_GYM_KERNELS=off" in text
    assert (programs["by"], programs["kept"], programs["kernels"]) == ("crush_gym", 1, False)
    monkeypatch.setattr(store, "of_jax", lambda: str(tmp_path / "jax"))
    assert f"kept by JAX in {tmp_path / 'jax'} (writable)" in told()[0]


def test_the_doctor_finds_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def fails(rules: str) -> float:
        raise RuntimeError(f"no {rules}")

    bounds = [("jax", ">=99", ""), ("mctx", ">=0.0.71", "search")]
    monkeypatch.setattr(probe, "first_move", fails)
    monkeypatch.setattr(doctor, "requirements", lambda: bounds)
    monkeypatch.setattr(doctor, "_version", lambda name: None if name in ("numpy", "mctx") else "1.0")
    monkeypatch.setattr(doctor, "_writable", lambda folder: False)
    monkeypatch.setattr(store, "of_jax", lambda: None)
    monkeypatch.setattr(store, "place", lambda: store.Place(Path("/somewhere")))
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "problem: jax 1.0 does not fit, >=99 is needed" in text
    assert "problem: numpy is not installed: pip install crush-gym" in text
    assert "problem: compiled programs cannot be written to '/somewhere': set CRUSH_GYM_CACHE to another folder" in text
    assert "problem: the rule set combo does not play: RuntimeError: no combo" in text
    assert "mctx not installed: pip install 'crush-gym[search]'" in text


@pytest.mark.parametrize(
    ("version", "bounds", "fits"),
    [("0.10.2", ">=0.10.2,<0.13", True), ("0.9.9", ">=0.10.2,<0.13", False), ("0.13.0", "<0.13,>=0.10.2", False),
     ("2.0.0rc1", ">=2.0", True), ("1.0", "", True)],
)  # fmt: skip
def test_bounds_of_versions(version: str, bounds: str, fits: bool) -> None:
    assert doctor.within(version, bounds) == fits


def test_requirements_are_read_with_their_extras() -> None:
    listed = {(name, extra) for name, _, extra in doctor.requirements()}
    assert {("jax", ""), ("mctx", "search"), ("jax[cuda13]", "cuda")} <= listed


HOSTILE = "a\x1b[31mred\x1b]0;pwn\x07\nx"


def test_names_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = {"name": HOSTILE, "colours": 4, "moves": 3, "goals": {}, "board": ["? ? ?"] * 3}
    (tmp_path / "evil.json").write_text(json.dumps(content))
    for arguments in (["levels", "list"], ["levels", "show"], ["levels", "validate"]):
        assert main([*arguments, str(tmp_path / "evil.json")]) == 0
        said = capsys.readouterr().out
        assert "\x1b]" not in said and "\x07" not in said
        assert "\\x1b[31mred" in said or arguments[1] == "validate"
    actions, log = written(tmp_path, "actions", []), tmp_path / "log.json"
    assert main(["play", str(tmp_path / "evil.json"), "--seed", "1", "--actions", actions, "--log", str(log)]) in (0, 1)
    assert main(["replay", str(log)]) == 0
    said = capsys.readouterr().out
    assert said.count("\\x1b[31mred") == 2 and "\x1b]" not in said and "\x07" not in said


def test_a_stream_without_a_character_shows_another(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "crush_gym", "levels", "show", "basics", "jelly"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0 and b"?" in done.stdout and b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "crush_gym", "levels", "list", "ladder"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 1 and done.stderr == b"crush-gym: the output cannot be written: No space left on device\n"
