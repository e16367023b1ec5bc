"""Compiled programs that outlive their process: found again when they are the same, and only then."""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym.engine import randomness
from crush_gym.runtime import identity, kept, store
from crush_gym.runtime.identity import UnknownError

ROOT = Path(__file__).parents[3]
BITS, NUMBERS = np.arange(6, dtype=np.uint32).reshape(2, 3), np.arange(3, dtype=np.int32)
FOLDED = np.asarray(randomness.fold(jnp.asarray(BITS), jnp.asarray(NUMBERS)))


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where programs are kept in this test. What JAX itself has kept cannot be written down again."""
    monkeypatch.setattr(store, "of_jax", lambda: None)
    monkeypatch.setenv(store.SWITCH, str(tmp_path / "programs"))
    jax.config.update("jax_enable_compilation_cache", False)
    yield tmp_path / "programs"
    jax.config.update("jax_enable_compilation_cache", True)


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*" + store.ENTRY))


def loading(f: Callable[..., Any] = randomness.fold, **options: Any) -> Any:
    """A program that cannot compile anything: what it does was loaded."""
    program: Any = kept.program(f, **options)
    program._jit = None
    return program


def keep(folder: Path) -> Path:
    """Compile a program, and give its entry."""
    kept.program(randomness.fold)(BITS, NUMBERS)
    (entry,) = entries(folder)
    return entry


def test_a_program_is_compiled_once_and_then_loaded(folder: Path) -> None:
    np.testing.assert_array_equal(kept.program(randomness.fold)(BITS, NUMBERS), FOLDED)
    assert len(entries(folder)) == 1
    np.testing.assert_array_equal(loading()(BITS, NUMBERS), FOLDED)
    assert len(entries(folder)) == 1


def test_arguments_of_each_kind_have_their_own_program(folder: Path) -> None:
    program = kept.program(randomness.fold)
    for boards in (3, 5, 3, 5):
        bits, numbers = np.ones((2, boards), np.uint32), np.arange(boards, dtype=np.int32)
        expected = randomness.fold(jnp.asarray(bits), jnp.asarray(numbers))
        for given in (numbers, jnp.asarray(numbers), numbers.astype(np.int16)):
            np.testing.assert_array_equal(program(bits, given), expected)
    assert program(BITS[:, 0], 7).tolist() == program(BITS[:, 0], np.int32(7)).tolist()
    assert len(entries(folder)) == 2 * 2 + 1, "two shapes, two types, and a single board"
    with pytest.raises(TypeError, match="of type <class 'str'>"):
        program(BITS, "seven")


def test_inside_a_transformation_a_loaded_program_is_part_of_it(folder: Path) -> None:
    keep(folder)
    program = kept.program(randomness.fold)
    np.testing.assert_array_equal(program(BITS, NUMBERS), FOLDED)
    np.testing.assert_array_equal(jax.jit(program)(BITS, NUMBERS), FOLDED)
    np.testing.assert_array_equal(jax.jit(lambda: program(BITS, NUMBERS))(), FOLDED)
    by_board = jax.vmap(program, in_axes=(1, 0), out_axes=1)
    np.testing.assert_array_equal(by_board(BITS, NUMBERS), FOLDED)
    assert jax.eval_shape(program, BITS, NUMBERS).shape == (2, 3)
    assert len(entries(folder)) == 1


def test_settings_of_jax_are_heeded_at_every_call(folder: Path) -> None:
    program = kept.program(functools.partial(jax.lax.integer_pow, y=2))
    with jax.enable_x64(True):
        assert program(np.int64(2**20)) == 2**40
    assert program(np.int64(3)).dtype == np.int32
    with jax.enable_x64(True):
        assert program(np.int32(3)).dtype == np.int32 and program(np.int64(2**20)) == 2**40
    compiled = len(entries(folder))
    with jax.disable_jit():
        assert program(np.int32(3)) == 9
    with jax.default_device(jax.devices()[0]):
        assert program(np.int32(3)) == 9
    assert len(entries(folder)) == compiled == 3


def test_memory_that_results_may_take_is_taken_by_loaded_programs_too(folder: Path) -> None:
    for program in (kept.program(randomness.fold, donate=(0,)), loading(donate=(0,))):
        bits = jnp.asarray(BITS)
        np.testing.assert_array_equal(program(bits, NUMBERS), FOLDED)
        assert bits.is_deleted()
    keep_it = jnp.asarray(BITS)
    kept.program(randomness.fold)(keep_it, NUMBERS)
    assert not keep_it.is_deleted() and len(entries(folder)) == 2


def test_what_was_forgotten_is_loaded_again(folder: Path) -> None:
    keep(folder)
    program = loading()
    program(BITS, NUMBERS)
    kept.forget()
    assert not program._made and program._last is None
    np.testing.assert_array_equal(program(BITS, NUMBERS), FOLDED)


# ------------------------------------------------------------------------------------- entries


@pytest.mark.parametrize("harm", ["a bit", "cut", "empty", "of another program", "nonsense, well packed"])
def test_damaged_entries_are_compiled_anew_without_a_word(folder: Path, harm: str) -> None:
    entry = keep(folder)
    whole = entry.read_bytes()
    harmed = {
        "a bit": whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "of another program": hashlib.sha256(b"another" + whole[store.DIGEST :]).digest() + whole[store.DIGEST :],
        "nonsense, well packed": b"",
    }[harm]
    entry.write_bytes(harmed)
    if harm == "nonsense, well packed":
        store.write(folder, entry.stem, pickle.dumps((b"nonsense", None)))
    assert harm == "nonsense, well packed" or store.read(folder, entry.stem) is None
    np.testing.assert_array_equal(kept.program(randomness.fold)(BITS, NUMBERS), FOLDED)
    assert len(entries(folder)) == 1
    np.testing.assert_array_equal(loading()(BITS, NUMBERS), FOLDED)


def test_entries_and_folders_that_others_can_write_to_are_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = keep(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    entry.chmod(0o622)
    assert store.read(folder, entry.stem) is None
    entry.chmod(0o600)
    assert store.read(folder, entry.stem) is not None
    folder.chmod(0o770)
    assert store.place() == (None, f"others can write to {folder}")
    assert type(kept.program(randomness.fold)) is type(jax.jit(randomness.fold))
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: entry.stat().st_uid + 1)
    assert store.read(folder, entry.stem) is None and store.place().folder is None


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere"])
def test_where_no_folder_can_be_programs_are_compiled(
    place: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(store.SWITCH, str(tmp_path / place))
    assert store.place().folder is None and store.place().reason
    np.testing.assert_array_equal(kept.program(randomness.fold)(BITS, NUMBERS), FOLDED)


def test_a_full_disk_does_not_matter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    np.testing.assert_array_equal(kept.program(randomness.fold)(BITS, NUMBERS), FOLDED)
    assert list(folder.iterdir()) == []


def test_the_store_can_be_off_and_is_where_jax_keeps_programs_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "of_jax", lambda: "/of/jax")
    assert store.place() == (None, "JAX keeps them, in /of/jax")
    monkeypatch.setattr(store, "of_jax", lambda: None)
    monkeypatch.setenv(store.SWITCH, "off")
    kept.program(randomness.fold)(BITS, NUMBERS)
    assert not folder.exists()


def test_the_folder_is_the_systems_own_for_such_things(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(store, "of_jax", lambda: None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv(store.SWITCH)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.place() == (tmp_path / "crush-gym" / "programs", "")


def test_two_writers_leave_one_whole_entry(tmp_path: Path) -> None:
    bodies = [bytes([i]) * 300_000 for i in range(2)]
    stop = threading.Event()

    def write(body: bytes) -> None:
        while not stop.is_set():
            store.write(tmp_path, "key", body)

    writers = [threading.Thread(target=write, args=(body,)) for body in bodies]
    for writer in writers:
        writer.start()
    while not (found := {store.read(tmp_path, "key") for _ in range(100)}) - {None}:
        pass
    stop.set()
    for writer in writers:
        writer.join()
    assert found <= {*bodies, None}
    assert store.read(tmp_path, "key") in bodies and [path.name for path in tmp_path.iterdir()] == ["key.program"]


def test_what_was_not_used_for_the_longest_time_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST", 4000)
    (tmp_path / "something of the user's").write_bytes(bytes(10_000))
    for age, key in enumerate(("third", "second", "first", "used")):
        store.write(tmp_path, key, bytes(900))
        os.utime(tmp_path / (key + store.ENTRY), (0, time.time() - 1000 * (age + 1)))
    assert store.read(tmp_path, "used") is not None
    store.write(tmp_path, "new", bytes(900))
    left = {path.stem for path in entries(tmp_path)}
    assert left == {"new", "used", "third", "second"}
    assert (tmp_path / "something of the user's").exists()
    monkeypatch.setattr(store, "LARGEST", 899)
    store.write(tmp_path, "large", bytes(900))
    assert {path.stem for path in entries(tmp_path)} == left


# ----------------------------------------------------------------------- what makes programs differ


def test_other_sources_settings_options_and_machines_have_other_programs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(options: tuple[tuple[str, Any], ...] = ()) -> int:
        np.testing.assert_array_equal(kept.program(randomness.fold, options)(BITS, NUMBERS), FOLDED)
        return len(entries(folder))

    assert compiled() == compiled() == 1
    with monkeypatch.context() as patch:
        patch.setattr(identity, "_contents", lambda: "other sources")
        assert compiled() == 2
    with monkeypatch.context() as patch:
        patch.setattr(kept, "processor", lambda: "another processor")
        kept.machine.cache_clear()
        assert compiled() == 3
        patch.setenv(kept.XLA_FLAGS, "--xla_something")
        kept.machine.cache_clear()
        assert compiled() == 4
    kept.machine.cache_clear()
    with jax.default_matmul_precision("float32"):
        assert compiled() == 5
    assert compiled((("xla_backend_optimization_level", 0),)) == 6
    assert compiled() == 6


def test_a_number_that_a_script_has_changed_makes_another_program(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder)
    monkeypatch.setattr(randomness, "PICK", 17)
    np.testing.assert_array_equal(kept.program(randomness.fold)(BITS, NUMBERS), FOLDED)
    assert len(entries(folder)) == 2


def test_sources_edited_while_the_process_runs_are_not_taken_for_what_it_has_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = keep(folder)
    before = entry.stat().st_mtime_ns
    monkeypatch.setattr(identity, "_AT_FIRST", identity._AT_FIRST | {"edited.py": (0, 0)})
    np.testing.assert_array_equal(kept.program(randomness.fold)(BITS, NUMBERS), FOLDED)
    assert entries(folder) == [entry] and entry.stat().st_mtime_ns == before


def test_functions_of_users_are_compiled_and_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(x: jax.Array) -> jax.Array:
        return 2 * x

    for mine in (twice, functools.partial(jnp.multiply, object), functools.partial(randomness.fold, jnp.asarray(BITS))):
        with pytest.raises(UnknownError):
            identity.identity(mine)
    assert kept.program(twice)(np.int32(21)) == 42
    assert entries(folder) == []
    monkeypatch.setattr(randomness, "below", twice)
    with pytest.raises(UnknownError, match="test_kept"):
        identity.identity(randomness.fold)


def test_functions_differ_by_what_they_hold() -> None:
    from crush_gym.runtime.vmap import native

    def of(purpose: int, cell: Any) -> str:
        return identity.identity(functools.partial(randomness.draw, purpose=purpose, cell=cell))

    assert of(1, 2) == of(1, 2)
    array, other = np.arange(3), np.array([0, 1, 3])
    cells = [2, 3, 2.0, True, None, "2", (2,), [2], {2: 1}, {1: 2}, np.int64(2), array, other, array.astype(np.int8)]
    told = [of(2, 2), *(of(1, cell) for cell in cells)]
    told += [identity.identity(native(randomness.fold, ranks, (False, False))) for ranks in ((1, 0), (0, 0))]
    assert len({*told}) == len(told)
    assert of(1, frozenset("abc")) == of(1, frozenset("cba"))


@pytest.mark.parametrize("library", [jnp.linalg.inv, lambda x: jax.pure_callback(np.asarray, x, x)])
def test_programs_that_call_other_libraries_are_not_kept(
    library: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "identity", lambda f: "known")
    assert kept.program(library)(np.eye(2, dtype=np.float32)).tolist() == [[1, 0], [0, 1]]
    assert entries(folder) == []
    kept.program(lambda x: x + 1)(np.float32(1))
    assert len(entries(folder)) == 1, "others are"


# ------------------------------------------------------------------------------ another process

PLAYED = """
import hashlib, sys
import gymnasium as gym, jax, numpy as np
from crush_gym import Game
from crush_gym.runtime.memory import MAPS, forget

env = gym.make("crush_gym:Crush/Points-v0", shape=(3, 3), colours=3, moves=2)
seen = [env.reset(seed=1)[0]]
seen += [env.step(action)[0] for action in range(3)]
game = Game(rules="points", shape=(3, 3), colours=3, moves=2)
keys = jax.random.split(jax.random.key(0), 5)
seen += jax.tree.leaves(game.reset(keys))
print(hashlib.sha256(b"".join(np.asarray(x).tobytes() for x in seen)).hexdigest())
before = len(MAPS.read_bytes().splitlines()) if MAPS.exists() else 0
forget()
print(before - len(MAPS.read_bytes().splitlines()) if MAPS.exists() else 1000)
"""


def test_another_process_loads_what_one_has_compiled_and_plays_the_same(tmp_path: Path) -> None:
    ours = ("opened", "look_at", "advance", "on_boards")

    def played(**changes: str) -> tuple[list[str], set[str]]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
        environment |= {"PYTHONPATH": str(ROOT), "JAX_LOG_COMPILES": "1", store.SWITCH: str(tmp_path), **changes}
        command = [sys.executable, "-W", "error", "-c", PLAYED]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.split(), {name for name in ours if f"XLA compilation of jit({name}" in done.stderr}

    (first, freed), compiled = played()
    assert compiled == {*ours} and int(freed) > 300
    known = entries(tmp_path)
    (second, freed), compiled = played()
    assert second == first and compiled == set() and int(freed) > 300
    assert entries(tmp_path) == known
