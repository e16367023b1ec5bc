"""Whoever listens hears what happens, wherever it is played; who stops an evaluation keeps what was finished."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crush_gym.runtime.memory import forget
from experiments import InProcess, Processes, Results, Row, ShardError, Store, evaluate
from experiments.running import jobs
from experiments.running.events import (
    Advanced,
    Compiling,
    Event,
    Failed,
    Finished,
    Planned,
    Program,
    Started,
    Wanted,
)
from experiments.running.executors.here import Devices, Executor
from tests.experiments.players import Player

SEED, ATTEMPTS = 11, 20


@pytest.fixture(autouse=True, scope="module")
def small_shards() -> Iterator[None]:
    """Shards of 7, 7 and 6 attempts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "SLOW", 8)
        yield


def played(player: Player, listen: Callable[[Event], None], **options: object) -> Results:
    return evaluate(player, "combo:5x5", ATTEMPTS, SEED, progress=False, listen=listen, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole() -> tuple[Row, ...]:
    """All rows, and everything compiled."""
    return played(Player(), lambda event: None).rows


def timeless(rows: tuple[Row, ...]) -> list[Row]:
    return [row._replace(seconds=0.0) for row in rows]


@pytest.mark.parametrize("executor", [InProcess(), Devices(), Processes(1)], ids=lambda e: type(e).__name__)
def test_events_tell_the_story_of_every_shard(executor: Executor, whole: tuple[Row, ...]) -> None:
    seen: list[Event] = []
    results = played(Player(), seen.append, executor=executor)
    assert seen[:2] == [Wanted(ATTEMPTS), Planned(Player().name, ATTEMPTS, 1)]
    finished = [event for event in seen if isinstance(event, Finished)]
    assert [len(event.rows) for event in finished] == [7, 7, 6]
    assert sorted(row for event in finished for row in event.rows) == sorted(results.rows)
    assert timeless(results.rows) == timeless(whole) and not results.stopped
    assert sum(event.attempts for event in seen if isinstance(event, Advanced)) == ATTEMPTS
    assert [event.attempts for event in seen if isinstance(event, Started)] == [7, 7, 6]
    (program,) = {event.program for event in seen if isinstance(event, (Started, Compiling, Finished))}
    assert program == Program(Player().name, program.group, "combo 5x5", 1)
    assert isinstance(seen[-1], Finished)
    compiling = [event.seconds for event in seen if isinstance(event, Compiling)]
    assert all(begin is None and end for begin, end in zip(compiling[::2], compiling[1::2], strict=True))
    if isinstance(executor, Processes):  # a new one
        assert [type(event) for event in seen[2:5]] == [Advanced, Started, Compiling] and len(compiling) >= 2


def test_what_is_there_and_what_fails_is_told_too(whole: tuple[Row, ...]) -> None:
    seen: list[Event] = []
    with Store() as store:
        played(Player(), seen.append, store=store)
        seen.clear()
        assert played(Player(), seen.append, store=store).rows == tuple(store.rows())
    name = Player().name
    assert seen == [Wanted(ATTEMPTS), Planned(name, 0, 0), Advanced(name, ATTEMPTS, played=False)]
    seen.clear()
    results = played(Player("raises"), seen.append)
    failed = [event for event in seen if isinstance(event, Failed)]
    assert [event.error for event in failed] == list(results.errors) and len(failed) == 3
    assert failed[0].program is not None and failed[0].program.level == "combo 5x5"
    assert sum(event.attempts for event in seen if isinstance(event, Advanced) and not event.played) == ATTEMPTS
    seen.clear()
    evaluate("no_module:Nobody", "combo:5x5", 5, progress=False, listen=seen.append)
    assert [(e.error.attempts, e.program) for e in seen if isinstance(e, Failed)] == [(5, None)]
    assert sum(event.attempts for event in seen if isinstance(event, Advanced)) == 5


@pytest.mark.parametrize(("when", "kept"), [(Finished, 7), (Advanced, 0), (Planned, 0)])
@pytest.mark.parametrize("executor", [InProcess(), Devices()], ids=["here", "devices"])
def test_a_stop_keeps_what_was_finished_and_the_same_call_goes_on(
    when: type[Event], kept: int, executor: Executor, whole: tuple[Row, ...]
) -> None:
    stop = threading.Event()

    def listen(event: Event) -> None:
        if isinstance(event, when) and (not isinstance(event, Advanced) or event.attempts):
            stop.set()

    with Store() as store:
        results = played(Player(), listen, stop=stop, store=store, executor=executor)
        assert results.stopped and len(results.rows) == len(store) == kept and results.errors == ()
        again = played(Player(), lambda event: None, store=store)
        assert timeless(again.rows) == timeless(whole) and again.rows[:kept] == results.rows and not again.stopped


def test_a_stop_does_not_wait_for_what_hangs_in_another_process(tmp_path: Path) -> None:
    stop, note = threading.Event(), tmp_path / "pid"
    threading.Thread(target=lambda: (waited(note.exists), stop.set()), daemon=True).start()
    player = Player("ponders", str(note))
    results = played(player, lambda event: None, stop=stop, executor=Processes(1))
    assert results.stopped and results.rows == ()


def waited(condition: Callable[[], bool]) -> None:
    for _ in range(2400):
        if condition():
            return
        time.sleep(0.05)


def test_a_stop_ends_compiling_too(whole: tuple[Row, ...]) -> None:
    stop, seen = threading.Event(), list[Event]()

    def listen(event: Event) -> None:
        seen.append(event)
        if isinstance(event, Compiling):
            stop.set()

    forget()
    results = played(Player(), listen, stop=stop)
    assert results.stopped and isinstance(seen[-1], Compiling) and seen[-1].seconds is None
    assert timeless(played(Player(), lambda event: None).rows) == timeless(whole)


def test_an_error_of_a_listener_is_its_callers() -> None:
    def listen(event: Event) -> None:
        raise KeyError(event)

    with pytest.raises(KeyError, match="Wanted"):
        played(Player(), listen)


def test_errors_read_as_sentences() -> None:
    assert str(ShardError("a", ("x",), 1000, "no")) == "a on x, 1,000 attempts: no"
