"""What is to be played, by its texts; and what levels are called where several are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crush_gym import Game, load_pack
from experiments.results.assignment import Task, attempt_key, tasks_of
from experiments.results.labels import labels
from experiments.results.simple import simple_task
from experiments.results.task import task_from

LEVEL = {"colours": 4, "moves": 3, "goals": {"score": 100}, "board": ["? ? ?"] * 3}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a pack, a level without a name, and a folder that is called as no pack."""
    monkeypatch.chdir(tmp_path)
    pack = {"name": "p", "levels": [LEVEL, LEVEL | {"name": "Bridge", "moves": 4}, LEVEL | {"name": "a/b", "moves": 5}]}
    Path("own").mkdir()
    for name, content in (("pack.json", pack), ("level.json", LEVEL), ("own/pack", pack)):
        Path(name).write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pack.json", ["pack 0", "Bridge", "a/b"]),
        ("pack.json/Bridge", ["Bridge"]),
        ("./pack.json/Bridge", ["Bridge"]),
        ("{folder}/own/pack/a/b", ["a/b"]),
        ("pack.json/a/b", ["a/b"]),
        ("pack.json/0", ["pack 0"]),
        ("level.json", ["level"]),
        ("basics/jelly", ["jelly"]),
        ("basics/0", ["plain"]),
    ],
)
def test_packs_files_and_levels_of_them_are_named_alike(folder: Path, text: str, names: list[str]) -> None:
    assert [task.name for task in tasks_of(text.format(folder=folder))] == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("basic/jelly", "no pack 'basic' ships.*did you mean 'basics'"),
        ("point:5x5:moves=3", "there is no simple game 'point'; did you mean 'points'?"),
        ("comb", "there is no simple game 'comb'; did you mean 'combo'?"),
        ("jelly", "did you mean the level 'jelly' of 'basics'"),
        ("basics/jely", "has no level 'jely'; did you mean 'jelly'"),
        ("basics/99", "there is no level 99: the pack has 17 levels"),
        ("pack.json/Brige", "did you mean 'Bridge'"),
        ("nowhere.json/Bridge", "'nowhere.json': there is no such file"),
        ("a" * 300, "no pack 'aaa"),
        (f"{'a' * 300}.json", "cannot be read: File name too long"),
        ("own/nothing", "'own/nothing': there is no such file"),
    ],
)
def test_what_is_not_there_is_told_with_what_is_near(folder: Path, text: str, sentence: str) -> None:
    with pytest.raises((ValueError, IndexError), match=sentence):
        tasks_of(text)


@pytest.mark.parametrize(
    ("text", "made", "name"),
    [
        ("points", {"rules": "points"}, "points 9x9"),
        ("combo:7x6", {"rules": "combo", "shape": (7, 6)}, "combo 7x6"),
        ("points:5x5:moves=10,colours=4", {"rules": "points", "shape": (5, 5), "moves": 10, "colours": 4},
         "points 5x5 colours=4,moves=10"),
        ("points:moves=10:6x6:goal=300", {"rules": "points", "shape": (6, 6), "moves": 10, "goal": 300},
         "points 6x6 moves=10,goal=300"),
        ("combo:5x5:moves=50,adjacency=runs", {"rules": "combo", "shape": (5, 5), "adjacency": "runs"},
         "combo 5x5 adjacency=runs"),
    ],
)  # fmt: skip
def test_simple_games_have_all_options_of_game(text: str, made: dict[str, object], name: str) -> None:
    game, task = Game(**made), simple_task(text)  # type: ignore[arg-type]
    assert game.level is not None
    assert Task(task.level, task.rules, task.adjacency).identity == task.identity
    assert Task(game.level, task.rules, str(made.get("adjacency", "any"))).identity == task.identity
    assert task.name == name
    assert simple_task(name.replace(" ", ":")).identity == task.identity  # so that its name plays it again


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("points:5", "expected points:HEIGHTxWIDTH, such as points:7x7, not points:5"),
        ("points:5x5:6x6", "expected points:HEIGHTxWIDTH:option=value"),
        ("combo:", "expected combo:HEIGHTxWIDTH:option=value"),
        ("points:5x5:move=3", "there is no option 'move'; did you mean 'moves'?"),
        ("points:5x5:zeal=3", "there is no option 'zeal'; there are colours, moves, goal, adjacency"),
        ("points:5x5:moves=3,colours", "colours has no value"),
        ("points:5x5:moves=ten", "moves must be a whole number, not 'ten'"),
        ("points:5x5:moves=3,moves=4", "says moves twice"),
        ("points:5x5:colours=9", "colours must be a whole number from 2 to 7, not 9"),
        ("points:5x5:goal=0", "goals: score must be a whole number of at least 1, not 0"),
        ("points:1x5", "two whole numbers from 2 to 16"),
        ("points:5x5:adjacency=run", "there is no adjacency 'run'; did you mean 'runs'?"),
    ],
)
def test_wrong_options_of_simple_games_are_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        tasks_of(text)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_tasks_that_share_draws_have_the_same_keys_and_are_told_apart() -> None:
    first, second = (Task(load_pack("basics")[name], draws="0" * 8) for name in ("plain", "jelly"))
    own = Task(first.level)
    assert len({first.identity, second.identity, own.identity}) == 3
    keys = [attempt_key(7, task.identity, 3) for task in (first, second, own)]
    assert keys[0] == keys[1] and keys[0] != keys[2]
    assert task_from(json.dumps(first.content())).identity == first.identity
    with pytest.raises(ValueError, match="expected eight hexadecimal digits"):
        task_from(json.dumps(first.content() | {"draws": "x"}))


def test_levels_of_one_name_are_told_apart_by_file_or_by_identity() -> None:
    names = {"aaaaaabb": "Bridge", "aaaaaacc": "Bridge", "dddddddd": "River", "eeeeeeee": ""}
    assert labels(names) == {"aaaaaabb": "Bridge #aaaaaab", "aaaaaacc": "Bridge #aaaaaac", "dddddddd": "River",
                             "eeeeeeee": "#eeeeee"}  # fmt: skip
    homes = {"aaaaaabb": "old.json", "aaaaaacc": "new.json", "dddddddd": "old.json"}
    assert labels(names, homes)["aaaaaabb"] == "Bridge (old.json)" and labels(names, homes)["dddddddd"] == "River"
    assert labels(names, homes | {"aaaaaacc": "old.json"})["aaaaaabb"] == "Bridge #aaaaaab"
