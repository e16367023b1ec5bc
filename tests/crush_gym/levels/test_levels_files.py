"""Level files: what is no level file is refused in a sentence, and saving never leaves half a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crush_gym.levels import Level, LevelError, LevelPack, load_pack
from crush_gym.levels.files import MAX_BYTES, parse_json, write_file

GOOD: dict[str, Any] = {"name": "here", "colours": 5, "moves": 20, "board": ["? ?", "? ?"]}
REPEATED = "a pack has the key 'name' more than once"


def test_repeated_keys_are_told_where_they_are(tmp_path: Path) -> None:
    level = json.dumps(GOOD | {"goals": {}}).replace("{}", '{"score": 1, "score": 2}')
    expected = "level 'here': goals has the key 'score' more than once"
    with pytest.raises(LevelError) as caught:
        Level.from_json(level)
    assert str(caught.value) == expected
    path = tmp_path / "pack.json"
    path.write_text('{"name": "a", "name": "b", "levels": [' + level + "]}")
    with pytest.raises(LevelError) as caught:
        load_pack(path)
    assert [str(problem) for problem in caught.value.problems] == [REPEATED, expected]
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'is not JSON: a value is missing (a comma before "]"?) at line 1, column 1'),
        ('{"colours": 5,\n}', "line 2, column 1"),
        ('{"moves": NaN}', "NaN is no number"),
        ('{"moves": -Infinity}', "-Infinity is no number"),
        ('{"moves": 1' + "0" * 5000 + "}", "is not JSON that a level can use"),
        ("[" * 100_000, "is nested far too deeply"),
        ('{"a":' * 100_000, "is nested far too deeply"),
        ("[]", "a level must be an object with keys such as 'name', not a list of 0"),
        (b"\xff\xfe\x00", "is not UTF-8 text: byte 0"),
        (3, "expected JSON text, not 3"),
        (None, "expected JSON text, not null"),
        (" " * (MAX_BYTES + 1), "is larger than 16 MiB"),
    ],
)
def test_what_is_no_json_is_told(text: Any, message: str) -> None:
    with pytest.raises(LevelError) as caught:
        Level.from_json(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


def test_files_that_are_no_levels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    (tmp_path / "empty.json").write_bytes(b"")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(50 * 2**20)
    expected = {
        "binary.json": "is not UTF-8 text",
        "empty.json": "is not JSON",
        "huge.json": "is larger than 16 MiB",
        "missing.json": "there is no such file",
        ".": "is a directory",
        "a" * 5000 + ".json": "cannot be read",
        "nul\0.json": "cannot be read",
    }
    for name, message in expected.items():
        for source in (tmp_path / name, str(tmp_path / name)):
            with pytest.raises(LevelError) as caught:
                load_pack(source)
            assert message in str(caught.value)


def test_saving_and_loading_gives_the_same_pack(tmp_path: Path) -> None:
    pack = LevelPack([Level.from_dict(GOOD), Level.from_dict(GOOD | {"name": "\u00e9t\u00e9"})], "both")
    pack.save(tmp_path / "pack.json")
    assert LevelPack.load(tmp_path / "pack.json") == load_pack(str(tmp_path / "pack.json")) == pack
    assert [path.name for path in tmp_path.iterdir()] == ["pack.json"]
    assert json.loads((tmp_path / "pack.json").read_text("utf-8")) == pack.to_dict()


def test_a_saved_pack_is_readable(tmp_path: Path) -> None:
    LevelPack([Level.from_dict(GOOD)], "one").save(tmp_path / "pack.json")
    assert (tmp_path / "pack.json").read_text("utf-8").splitlines() == [
        '{"name": "one",',
        ' "levels": [',
        '  {"name": "here",',
        '   "colours": 5,',
        '   "moves": 20,',
        '   "board": ["? ?",',
        '            "? ?"]}',
        " ]}",
    ]


def test_a_file_with_one_level_is_a_pack_of_one(tmp_path: Path) -> None:
    (tmp_path / "level.json").write_text(json.dumps(GOOD), "utf-8-sig")
    pack = load_pack(tmp_path / "level.json")
    assert (pack.name, pack.names) == ("here", ("here",))


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "pack.json"
    write_file(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_file(path, "new \ud800")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["pack.json"]


def test_a_comma_too_many_is_told_in_words() -> None:
    with pytest.raises(LevelError, match=r'a comma before "}"'):
        LevelPack.from_dict(parse_json('{"colours": 4,\n}'))


def test_more_levels_than_anybody_plays_are_refused_unread() -> None:
    level = {"colours": 3, "moves": 1, "goals": {}, "board": ["? ?"] * 2}
    with pytest.raises(LevelError, match="at most 20,000 levels, not 20,001"):
        LevelPack.from_dict({"name": "", "levels": [level] * 20_001})


def test_a_level_that_is_asked_for_as_a_pack_is_told_where_it_is() -> None:
    with pytest.raises(LevelError, match="did you mean the level 'jelly' of 'basics'"):
        load_pack("jely")


def test_a_row_without_blanks_is_told_once() -> None:
    content = {"colours": 3, "moves": 1, "goals": {}, "board": ["???", "? ? ?", "? ? ?"]}
    with pytest.raises(LevelError) as error:
        LevelPack.from_dict(content)
    assert [p.message for p in error.value.problems] == [
        "a row must hold 2 to 16 cells, not 1: cells are separated by blanks"
    ]
