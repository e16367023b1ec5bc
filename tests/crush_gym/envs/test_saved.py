"""Files of saved states: what is wrong with them is one sentence, found before memory is taken for it."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import Game, LevelPack
from crush_gym.envs import read_options, saved
from crush_gym.envs.batch import Batch
from crush_gym.envs.saved import SavedStateError
from crush_gym.envs.sense import nonsense
from crush_gym.envs.task import Lanes
from tests.crush_gym.envs.test_envs import FIXTURES, LEVELS
from tests.differential import Arena
from tests.random_levels import KINDS, Dice

OLD = FIXTURES / "saved-state-1.npz"


@cache
def batch() -> Batch:
    """What the fixture was saved by; nothing is compiled for it."""
    return Batch(read_options("saga", pack={"name": "two", "levels": LEVELS}), 4, "next")


def sound() -> Lanes:
    return saved.load(OLD, batch())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    saved.save(tmp_path / "state.npz", sound(), batch())
    return tmp_path / "state.npz"


def refused(path: Path) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(SavedStateError) as caught:
        saved.load(path, batch())
    said = str(caught.value)
    assert "\n" not in said and len(said) < 600
    return said


def test_what_was_saved_is_loaded_again(path: Path) -> None:
    again = saved.load(path, batch())
    for x, y in zip(jax.tree.leaves(sound()), jax.tree.leaves(again), strict=True):
        assert x.dtype == y.dtype and np.array_equal(x, y) and y.flags.writeable


# --------------------------------------------------------------------------------- broken files


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """The same file with other arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)


def about(**changes: Any) -> Callable[[dict[str, Any]], object]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["about"] = np.array(json.dumps(json.loads(str(arrays["about"])) | changes))

    return change


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "holds no saved state: File is not a zip file"),
        (b"nothing", "holds no saved state: File is not a zip file"),
        (OLD.read_bytes()[:1000], "holds no saved state: File is not a zip file"),
    ],
)
def test_what_is_no_zip_file_is_refused(content: bytes, sentence: str, path: Path) -> None:
    path.write_bytes(content)
    assert sentence in refused(path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    assert "File is not a zip file" in refused(path)
    assert "there is no file" in refused(path.with_name("nowhere.npz"))
    assert "holds no saved state: Is a directory" in refused(path.parent).replace("[Errno 21] ", "")


ARRAYS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a list about it": (lambda a: a.update(about=np.array("[1, 2]")), "is no JSON object"),
    "no JSON about it": (lambda a: a.update(about=np.array("{")), "holds no saved state: Expecting property name"),
    "endless nesting about it": (lambda a: a.update(about=np.array("[" * 100_000)), "maximum recursion depth"),
    "numbers about it": (lambda a: a.update(about=np.zeros(3)), "what it says about the episode is no text"),
    "nothing about it": (lambda a: a.pop("about"), "There is no item named 'about.npy'"),
    "another format": (about(format=99), r"saved with other format version than these (99, not 2)"),
    "a truth as its format": (about(format=True), "other format version"),
    "other rules": (about(rules="points"), "other rules than these ('points', not 'saga')"),
    "other levels": (about(levels=[]), "other levels than these"),
    "one array too few": (lambda a: a.pop("leaf3"), "it has other arrays than it should"),
    "one array too many": (lambda a: a.update(leaf99=np.zeros(1)), "it has other arrays than it should"),
    "fewer boards": (lambda a: a.update(leaf1=a["leaf1"][:2]), "another number of boards"),
    "many boards": (lambda a: a.update(leaf0=np.zeros((9, 9, 9999), np.uint16)), "another number of boards"),
    "another type": (lambda a: a.update(leaf1=a["leaf1"].astype(">i4")), "another kind of game"),
    "columns first": (lambda a: a.update(leaf0=np.asfortranarray(a["leaf0"])), "that saved states do not have"),
    "objects": (lambda a: a.update(leaf1=np.array([print], object)), "leaf1"),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_other_arrays_than_expected_are_refused(what: str, path: Path) -> None:
    change, sentence = ARRAYS[what]
    rewritten(path, change)
    assert sentence in refused(path)


def headed(shape: str, data: bytes = b"\0" * 16) -> bytes:
    """An array with a head that says whatever one likes."""
    head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


@pytest.mark.parametrize(
    ("member", "sentence"),
    [
        (headed("(1000000000000,)"), "another number of boards"),
        (headed("(4,)", b"\0" * 12), "leaf1 has 12 bytes, expected 16"),
        (headed("(4,)", b"\0" * 17), "leaf1 has 17 bytes, expected 16"),
        (headed("(" * 300 + ")" * 300), "holds no saved state"),
        (headed("('"), "holds no saved state"),
        (b"\x93NUMPY\x03\x00" + headed("(4,)")[8:], "of an array format that saved states do not have"),
        (b"", "holds no saved state"),
    ],
)
def test_arrays_that_lie_about_themselves_are_refused(member: bytes, sentence: str, path: Path) -> None:
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in (members | {"leaf1.npy": member}).items():
            file.writestr(name, content)
    assert sentence in refused(path)


@pytest.mark.parametrize("name", ["about.npy", "leaf1.npy"])
@pytest.mark.parametrize("lies", [False, True])
def test_a_zip_bomb_takes_no_memory(name: str, lies: bool, path: Path) -> None:
    """lies: about how large it is once it is unpacked."""
    with zipfile.ZipFile(path) as file:
        members = {each: file.read(each) for each in file.namelist()}
    blank = io.BytesIO()
    np.save(blank, np.array("\0" * 30_000_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for each, content in (members | {name: blank.getvalue()}).items():
            file.writestr(each, content)
    if lies:
        content, entry = path.read_bytes(), name.encode()
        place = content.rindex(b"PK\x01\x02", 0, content.rindex(entry))  # its entry in the directory at the end
        path.write_bytes(content[: place + 24] + struct.pack("<I", 4100) + content[place + 28 :])
    assert path.stat().st_size < 300_000
    tracemalloc.start()
    refused(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5_000_000


def test_what_python_cannot_unpack_is_refused(path: Path) -> None:
    content = path.read_bytes()
    first, last = content.index(b"PK\x03\x04"), content.index(b"PK\x01\x02")
    for offset, value, sentence in ((8, 1, "is encrypted"), (10, 77, "compression method is not supported")):
        wrong = bytearray(content)
        wrong[last + offset] = value
        wrong[first + offset - 2] = value
        path.write_bytes(wrong)
        assert sentence in refused(path)


# --------------------------------------------------------------------------------- broken positions


def book(**changes: Any) -> Callable[[Lanes], Lanes]:
    """Lane 2 has other numbers in its books."""

    def change(lanes: Lanes) -> Lanes:
        books = lanes.state.books
        for name, value in changes.items():
            numbers = np.array(getattr(books, name))
            numbers[..., 2] = value
            books = books._replace(**{name: numbers})
        return lanes._replace(state=lanes.state._replace(books=books))

    return change


def plane(name: str, bits: int, row: int = 0) -> Callable[[Lanes], Lanes]:
    """Lane 2 has other bits in a row of a plane."""

    def change(lanes: Lanes) -> Lanes:
        planes = lanes.state.planes.copy()
        planes[batch().task.spec.planes.index(name), row, 2] = bits
        return lanes._replace(state=lanes.state._replace(planes=planes))

    return change


def full(lanes: Lanes) -> Lanes:
    return lanes._replace(state=lanes.state._replace(planes=np.full_like(lanes.state.planes, 0xFFFF)))


def of_lanes(**changes: Any) -> Callable[[Lanes], Lanes]:
    return lambda lanes: lanes._replace(**{k: np.full_like(getattr(lanes, k), v) for k, v in changes.items()})


NONSENSE: dict[str, tuple[Callable[[Lanes], Lanes], str]] = {
    "every plane full": (full, "has something beside its board"),
    "beside the board": (plane("colour0", 1 << 15), "lane 2 has something beside its board"),
    "on a void": (plane("jelly1", 0b1111, 3), "lane 2 has in row 3, column"),
    "the second layer of jelly alone": (
        plane("jelly2", 0b01, 2),
        "lane 2 has in row 2, column 0 what no cell can hold",
    ),
    "seven colours": (lambda x: plane("colour2", 7)(plane("colour1", 7)(plane("colour0", 7)(x))), "no cell can hold"),
    "score": (book(score=2**31 - 1), "lane 2 has an impossible number as its score"),
    "negative score": (book(score=-1), "score"),
    "moves out of nothing": (book(moves=99), "moves left"),
    "moves made": (book(made=77, moves=5 - 77), "moves made"),
    "waves": (book(waves=2**30), "waves"),
    "time": (book(time=5), "time left"),
    "cherries": (book(cherry=3), "cherries left"),
    "drops": (book(drops=-4), "sugar drops"),
    "bonus": (book(bonus=2), "bonus"),
    "shuffles": (book(shuffles=40), "shuffles"),
    "won by no moves": (book(outcome=1, reason=2), "an outcome that does not go with its reason"),
    "an outcome of none": (book(outcome=9), "an outcome that does not go with its reason"),
    "a level of none": (of_lanes(level=2), "lane 0 plays level 2 of 2"),
    "a level before the first": (of_lanes(level=-1), "lane 0 plays level -1 of 2"),
    "an episode before the first": (of_lanes(episode=-1), "lane 0 is in no possible episode"),
    "a streak": (of_lanes(streak=101), "lane 0 is in no possible episode"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_positions_that_no_game_comes_to_are_refused(what: str, path: Path) -> None:
    change, sentence = NONSENSE[what]
    saved.save(path, change(sound()), batch())
    said = refused(path)
    assert said.startswith(f"{str(path)!r} holds what no game comes to: ") and sentence in said


def test_items_that_a_game_does_not_know_are_refused() -> None:
    options = read_options("points", shape=(3, 3), colours=4, moves=5)
    spec, level = options.task.spec, options.levels[0]
    planes = np.zeros((len(spec.planes), 3, 1), np.uint16)
    for name in ("colour0", "kind0", "kind1"):  # a wrapped candy, where there are none
        planes[spec.planes.index(name), 1, 0] = 0b010
    example = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), Batch(options, 1, "next").example)
    books = example.state.books._replace(
        moves=np.array([5], np.int32), time=np.array([-1], np.int32), last_spawn=example.state.books.last_spawn - 1
    )
    lanes = example._replace(state=example.state._replace(books=books))
    assert nonsense(spec, lanes, [level]) == ""
    lanes = lanes._replace(state=lanes.state._replace(planes=planes))
    assert nonsense(spec, lanes, [level]) == "lane 0 has in row 1, column 1 what no cell can hold"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["everything", "tags", "points"])
def test_no_position_that_is_played_is_refused(kind: str) -> None:
    arena = Arena(next(each for each in KINDS if each.name == kind))
    contents, level = arena.levels(Dice(1), 64)
    levels = list(level.levels) if len(level.levels) == 64 else [*map(LevelPack.from_dict, contents)]
    keys = jax.random.split(jax.random.key(0), 64)
    game: Game = arena.game
    state, rng = game.reset(keys, level), np.random.default_rng(0)
    number, zero = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    for made in range(40):
        lanes = Lanes(jax.tree.map(np.asarray, state), np.zeros((2, 64), np.uint32), zero, number, zero, zero != 0)
        assert nonsense(game.spec, lanes, levels) == ""
        mask = np.asarray(game.legal(state, level))
        actions = (rng.random(mask.shape) * mask).argmax(axis=0).astype(np.int32)
        state, _ = game.step(arena._fold(keys, np.full(64, made)), state, actions, level)


# --------------------------------------------------------------------------------- by chance


def damaged(rng: random.Random, content: bytes, members: dict[str, bytes]) -> bytes:
    """The file with some bytes flipped, cut out or doubled, or with arrays whose numbers are others."""
    kind = rng.choice(["flip", "flip", "cut", "array", "numbers"])
    if kind in ("flip", "cut"):
        wrong = bytearray(content)
        for _ in range(rng.choice([1, 2, 5, 50])):
            wrong[rng.randrange(len(wrong))] = rng.randrange(256)
        start, length = rng.randrange(len(wrong)), rng.choice([1, 100, 4096])
        return bytes(wrong) if kind == "flip" else content[:start] + content[start + length :] * rng.choice([1, 2])
    name = rng.choice(sorted(members))
    array = bytearray(members[name])
    head = 0 if kind == "array" or len(array) <= 128 else 128  # some arrays are empty
    for _ in range(rng.choice([1, 3])):
        array[rng.randrange(head, len(array))] = rng.choice([0, 1, 255, rng.randrange(256)])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as file:
        for each, kept in (members | {name: bytes(array)}).items():
            file.writestr(each, kept)
    return packed.getvalue()


def fuzz(number: int, path: Path) -> Counter[str]:
    """How so many damaged files are read."""
    rng, content = random.Random(number), path.read_bytes()
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    ends: Counter[str] = Counter()
    for trial in range(number):
        path.write_bytes(damaged(rng, content, members))
        try:
            saved.load(path, batch())
            ends["loaded"] += 1
        except SavedStateError as error:
            assert "\n" not in str(error)
            ends["nonsense" if "no game comes to" in str(error) else "refused"] += 1
        except BaseException:
            print(f"trial {trial}: {path}")
            raise
    return ends


def test_some_damaged_files_are_read_or_refused(path: Path) -> None:
    ends = fuzz(400, path)
    assert ends["refused"] > 200 and ends["nonsense"] > 20 and ends["loaded"] > 20


@pytest.mark.slow
def test_many_damaged_files_are_read_or_refused(path: Path) -> None:
    assert fuzz(20_000, path)["refused"] > 10_000
