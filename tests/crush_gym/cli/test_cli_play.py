"""Playing in the terminal, by keys and by lists, and replaying what was played."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import select
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from crush_gym import Game
from crush_gym.attempt_log import Record
from crush_gym.cli import main
from crush_gym.cli.keys import Player
from crush_gym.cli.play import free_name
from crush_gym.cli.terminal import HAS_TERMIOS
from crush_gym.session import Session
from crush_gym.swaps import swap_of

Output = pytest.CaptureFixture[str]
SHAPE = (5, 6)
SEED = 3
GAME = ("--rules", "combo", "--board", "5x6", "--seed", str(SEED))


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", shape=SHAPE)


@pytest.fixture
def session(game: Game) -> Session:
    assert game.level is not None
    return Session(game, game.level, SEED)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def first_legal(session: Session) -> int:
    return int(session.legal().argmax())


# ------------------------------------------------------------------------------------- keys


class Script:
    """Keys that are given, and the screens that they lead to."""

    def __init__(self, *keys: str) -> None:
        self.keys = iter(keys)
        self.screens: list[str] = []
        self.paused = 0.0

    def key(self) -> str:
        return next(self.keys, "quit")

    def show(self, lines: list[str]) -> None:
        self.screens.append("\n".join(lines))

    def pause(self, seconds: float) -> None:
        self.paused += seconds


def played(session: Session, *keys: str) -> Script:
    script = Script(*keys)
    Player(session, script, title="a title", colour=False).play()
    return script


def way_to(session: Session, action: int) -> list[str]:
    """The keys that lead from the middle of the board to a swap."""
    row, column, direction = swap_of(action, SHAPE)
    down, right = row - SHAPE[0] // 2, column - SHAPE[1] // 2
    moves = ["down" if down > 0 else "up"] * abs(down) + ["right" if right > 0 else "left"] * abs(right)
    return [*moves, "pick", "right" if direction == "across" else "down"]


def test_a_swap_is_shown_beat_by_beat(session: Session) -> None:
    action = first_legal(session)
    script = played(session, *way_to(session, action))
    assert session.actions == [action]
    assert "moves left 50" in script.screens[0] and "moves left 49" in script.screens[-1]
    assert any("picked: now a direction" in screen for screen in script.screens)
    assert script.paused > 0
    assert any("·" in screen for screen in script.screens)  # while candies are gone and none has fallen yet


def test_a_swap_that_makes_nothing_is_said(session: Session) -> None:
    action = int(np.argmin(session.legal()))
    script = played(session, *way_to(session, action))
    assert session.actions == [] and "not legal" in script.screens[-1]


def test_the_cursor_stays_on_the_board(session: Session) -> None:
    script = played(session, *["left"] * 9, "up")
    assert sum("the edge" in screen for screen in script.screens) == 6


def test_a_pick_can_be_given_up(session: Session) -> None:
    for again in ("pick", "cancel"):
        script = played(session, "pick", again, "right")
        assert session.actions == [] and "not legal" not in script.screens[-1]


def test_hints_and_undo_by_keys(session: Session) -> None:
    script = played(session, "undo", "hint", *way_to(session, first_legal(session)), "undo")
    assert session.actions == []
    assert "there is nothing to take back" in script.screens[1]
    reason = r"hint: swap row \d column \d with row \d column \d: [\d,]+ points"
    assert any(re.search(reason, screen) for screen in script.screens)
    assert "one move taken back" in script.screens[-1]


def test_the_end_is_said_and_can_be_taken_back() -> None:
    short = Game(rules="combo", shape=SHAPE, moves=1)
    assert short.level is not None
    session = Session(short, short.level, SEED)
    action = first_legal(session)
    script = played(session, *way_to(session, action), "hint", "pick", "undo")
    assert any("Ended: no moves are left" in screen for screen in script.screens)
    assert not session.over


# ------------------------------------------------------------------------------------- lists of actions


@pytest.fixture
def actions(session: Session) -> list[int]:
    """Three legal moves."""
    for _ in range(3):
        session.step(first_legal(session))
    return session.actions


def test_a_list_of_actions_is_played_and_logged(
    here: Path, session: Session, actions: list[int], capsys: Output
) -> None:
    (here / "moves.txt").write_text(", ".join(map(str, actions)))
    assert main(["play", *GAME, "--actions", "moves.txt"]) == 0
    text = capsys.readouterr().out
    assert text.count("points in") == 3 and "log: combo-3.json" in text
    assert Record.load("combo-3.json") == session.record()
    assert main(["play", *GAME, "--actions", "moves.txt"]) == 0
    assert (here / "combo-3-2.json").is_file()


def test_actions_can_be_piped(here: Path, actions: list[int], monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(actions)))
    assert main(["play", *GAME, "--log", "log.json"]) == 0
    assert Record.load("log.json").actions == tuple(actions)


def test_an_illegal_action_ends_the_list(here: Path, session: Session, actions: list[int], capsys: Output) -> None:
    wrong = int(np.argmin(session.legal()))
    (here / "moves.txt").write_text(f"{actions} {wrong} 1")
    assert main(["play", *GAME, "--actions", "moves.txt"]) == 1
    assert f"move 3, action {wrong}, is not legal (row " in capsys.readouterr().err
    assert Record.load("combo-3.json").actions == tuple(actions)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["basics", "jely"], 2, "did you mean 'jelly'?"),
        (["basics", "plain", "--rules", "combo"], 2, "give either a pack and a level, or --rules"),
        (["--board", "5x5"], 2, "give --rules points or combo with it"),
        (["--rules", "combo", "--board", "2x17"], 2, "from 3 to 16, such as 7x7, not '2x17'"),
        (["--log", "no/such/folder/log.json"], 2, "there is no folder"),
        (["--actions", "none.txt"], 1, "'none.txt' cannot be read"),
        (["--actions", "words.txt"], 1, "holds 'up', expected action numbers"),
        ([], 1, "this needs a terminal"),
    ],
)
def test_wrong_wishes_are_one_sentence(
    here: Path, arguments: list[str], status: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    (here / "words.txt").write_text("1 up")
    assert main(["play", *arguments]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_log_gets_a_name_that_is_free(here: Path) -> None:
    assert free_name("Look-alike 13 / é", 7) == Path("look-alike-13-7.json")
    Path("look-alike-13-7.json").touch()
    assert free_name("look-alike 13", 7) == Path("look-alike-13-7-2.json")
    assert free_name("♥", 7) == Path("level-7.json")


# ------------------------------------------------------------------------------------- a real terminal


class Person:
    """Somebody before a terminal, who types once the screen shows something and reads up to some last words."""

    def __init__(self, last_words: str, keys: str = "", after: str = "") -> None:
        self.last_words, self.keys, self.after = last_words, keys, after
        self.seen = ""
        self.side, self.program = os.openpty()

    def run(self, *arguments: str) -> int:
        """Run the command line on this terminal; its exit code."""
        import termios

        thread = threading.Thread(target=self._sit, daemon=True)
        thread.start()
        with (
            open(os.dup(self.program), encoding="utf-8") as keys,
            open(self.program, "w", encoding="utf-8") as screen,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr("sys.stdin", keys)
            patch.setattr("sys.stdout", screen)
            before = termios.tcgetattr(keys)
            status = main(arguments)
            assert termios.tcgetattr(keys) == before
            thread.join()
        with contextlib.suppress(OSError):
            os.close(self.side)
        return status

    def _sit(self) -> None:
        try:
            self._read_to(self.after)
            os.write(self.side, self.keys.encode())
            self._read_to(self.last_words)
        except TimeoutError:
            os.close(self.side)  # hangs up on a program that still waits

    def _read_to(self, words: str) -> None:
        deadline = time.monotonic() + 120
        while words not in self.seen:
            if time.monotonic() > deadline:
                raise TimeoutError
            if select.select([self.side], [], [], 1)[0]:
                self.seen += os.read(self.side, 4096).decode(errors="replace")


needs_terminals = pytest.mark.skipif(not HAS_TERMIOS, reason="there are no such terminals here")


@needs_terminals
def test_keys_of_a_terminal_are_followed(here: Path, session: Session) -> None:
    action = first_legal(session)
    codes = {"up": "\x1b[A", "down": "\x1bOB", "right": "\x1b[1;2C", "left": "h", "pick": " "}
    keys = "".join(codes[key] for key in way_to(session, action)) + "q"
    person = Person("shows it again", keys, after="u undo")
    assert person.run("play", *GAME, "--speed", "10") == 0
    assert "\x1b[?1049h" in person.seen and "\x1b[?7h\x1b[?25h\x1b[?1049l" in person.seen
    assert Record.load("combo-3.json").actions == (action,)


# ------------------------------------------------------------------------------------- replay


@pytest.fixture
def log(here: Path, session: Session, actions: list[int]) -> Path:
    session.record().save("log.json")
    return here / "log.json"


def test_a_log_replays(log: Path, capsys: Output) -> None:
    assert main(["replay", str(log)]) == 0
    assert "The log reproduces: score, outcome and board are as recorded." in capsys.readouterr().out
    assert main(["replay", str(log), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reproduces"] and found["moves"] == 3 and found["seed"] == SEED


def test_a_log_becomes_pictures(log: Path, capsys: Output) -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("resvg_py")
    assert main(["replay", str(log), "--svg", "log.svg", "--gif", "log.gif", "--speed", "2"]) == 0
    assert "<animate" in Path("log.svg").read_text()
    assert Path("log.gif").read_bytes().startswith(b"GIF89a")


def test_a_log_that_does_not_reproduce_is_a_finding(log: Path, capsys: Output) -> None:
    content = json.loads(log.read_text())
    content["final"]["score"] += 10
    content["versions"]["jax"] = "0.0.1"
    log.write_text(json.dumps(content))
    assert main(["replay", str(log), "--svg", "log.svg"]) == 1
    text = capsys.readouterr().out
    assert "The log does not reproduce: score: " in text and "jax 0.0.1 (here " in text
    assert not Path("log.svg").exists()
    assert main(["replay", str(log), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["differences"][0].startswith("score: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "is not the log of an attempt"), ("{", "is not JSON"), ('{"format": 9}', "written by a newer crush_gym")],
)
def test_what_is_no_log_is_one_sentence(here: Path, content: str, said: str, capsys: Output) -> None:
    Path("log.json").write_text(content)
    assert main(["replay", "log.json"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@needs_terminals
def test_a_log_is_animated_in_a_terminal(log: Path) -> None:
    person = Person("The log reproduces")
    assert person.run("replay", str(log), "--speed", "10") == 0
    assert person.seen.count("\x1b[H\x1b[2J") > 6
