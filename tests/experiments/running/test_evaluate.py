"""Evaluations give the same rows however they are shared out or interrupted, and go on whatever an agent does."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import monitoring

from agents.protocol import Agent
from agents.template import BatchedLowest
from crush_gym import OUTCOMES, REASONS, Game, Level
from experiments import InProcess, Results, Row, Store, StoreError, evaluate
from experiments.results.assignment import SEEDS, Task, attempt_key, tasks_of
from experiments.running import jobs
from experiments.running.clock import LAST
from experiments.running.executors.here import Answers, Failure, Told
from experiments.running.grouping import Group
from experiments.running.jobs import Job, Shard, attempt_keys
from tests.experiments.players import Player, Twin

LEVELS = ["combo:5x5", "combo:5x5"]
"""The second is the same task again."""

SEED, ATTEMPTS = 11, 20


def short(agents: str | Agent | list[str | Agent], **options: object) -> Results:
    return evaluate(agents, LEVELS, ATTEMPTS, SEED, progress=False, **options)  # type: ignore[arg-type]


def timeless(rows: tuple[Row, ...] | list[Row]) -> list[Row]:
    return [row._replace(seconds=0.0) for row in rows]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of 7, 7 and 6 attempts."""
    monkeypatch.setattr(jobs, "QUICK", 8)
    monkeypatch.setattr(jobs, "SLOW", 8)


@pytest.fixture(scope="module")
def whole() -> Iterator[Results]:
    """An evaluation that nothing disturbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "QUICK", 8)
        patch.setattr(jobs, "SLOW", 8)
        yield short(["random", Player()])


@dataclass
class Spy:
    """Plays here, notes the shards, and stops after some of them."""

    most: int = 1000
    played: list[Shard] = field(default_factory=list)
    workers: int = 1

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        for job, answer in InProcess().run(jobs, told):
            if isinstance(job, Shard):
                self.played.append(job)
            yield job, answer
            if len(self.played) == self.most:
                return


def test_there_is_one_row_for_every_attempt_in_the_order_asked_for(whole: Results) -> None:
    task = tasks_of("combo:5x5")[0]
    assert whole.errors == ()
    assert [(row.agent, row.task, row.level, row.seed, row.attempt) for row in whole.rows] == [
        (agent, task.identity, "combo 5x5", SEED, n) for agent in ("random", Player().name) for n in range(ATTEMPTS)
    ]
    assert all(row.seconds > 0 for row in whole.rows)


def test_a_row_is_what_a_rollout_with_its_key_gives(whole: Results) -> None:
    task = tasks_of("combo:5x5")[0]
    keys = jnp.stack([attempt_key(SEED, task.identity, n) for n in range(ATTEMPTS)])
    _, stats = Group((task,)).game().rollout(keys)
    for n, row in enumerate(whole.rows[:ATTEMPTS]):
        won, outcome, reason, *numbers = (np.asarray(values)[n] for values in stats[:8])
        assert (row.won, row.outcome, row.reason) == (won, OUTCOMES[outcome], REASONS[reason])
        assert list(row[8:13]) == numbers


def test_few_attempts_of_all_players_are_played_by_the_same_programs(
    whole: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Game, "rollout", None)  # which has a program of its own for each player
    monkeypatch.setattr(jobs, "spare_memory", lambda: False)  # a process that has run many tests forgets programs
    short(["random", Player()])
    programs = []

    def compiled(event: str, seconds: float, **facts: str | int) -> None:
        if event == LAST:
            programs.append(facts.get("fun_name"))

    monitoring.register_event_duration_secs_listener(compiled)
    try:
        assert timeless(short(["first", "random"]).rows[ATTEMPTS:]) == timeless(whole.rows[:ATTEMPTS])
        assert len(programs) <= 2  # whether the board has a legal move, and which is the first
        short(BatchedLowest(0.25))
        programs.clear()
        short([BatchedLowest(0.5), "random"])
        assert programs == []
    finally:
        monitoring.unregister_event_duration_listener(compiled)


def test_many_keys_at_once_are_those_of_single_attempts() -> None:
    words = np.array([0, 1, 0x1995F9B3, 0xFFFFFFFF], np.uint32)
    attempts = np.array([0, 7, 2**31, 2**32 - 1], np.uint32)
    for seed in (0, 5, SEEDS - 1):
        many = attempt_keys(jax.random.key(seed), words, attempts)
        single = [attempt_key(seed, f"{word:08x}", int(n)) for word, n in zip(words, attempts, strict=True)]
        assert jnp.array_equal(jax.random.key_data(many), jax.random.key_data(jnp.stack(single)))


def test_what_the_store_holds_is_not_played_again(whole: Results, tmp_path: Path) -> None:
    path, first, second = tmp_path / "runs.sqlite", Spy(most=2), Spy()
    some = short(["random", Player()], executor=first, store=path)
    assert 0 < len(some.rows) < len(whole.rows)
    again = short(["random", Player()], executor=second, store=path)
    assert timeless(again.rows) == timeless(whole.rows)
    played = [(shard.name, item) for spy in (first, second) for shard in spy.played for item in shard.items]
    assert sorted(played) == sorted((row.agent, (0, row.attempt)) for row in whole.rows)
    assert {shard.size for spy in (first, second) for shard in spy.played} == {7}
    with Store(path) as store:
        assert len(store) == len(whole.rows)
        run = store.runs()[store.run_of(whole.rows[-1])]
        assert (run["agent"]["made_by"], run["agent"]["parameters"]["does"]) == (
            "tests.experiments.players:Player",
            "lowest",
        )
        assert run["versions"]["jax"] == jax.__version__ and run["hardware"]["cores"] >= 1 and run["seed"] == SEED
    third = Spy()
    assert short(["random", Player()], executor=third, store=path) == again
    assert third.played == []


def test_more_attempts_are_those_of_a_longer_evaluation(whole: Results) -> None:
    with Store() as store:
        evaluate(Player(), LEVELS, 7, SEED, store=store, progress=False)
        evaluate(Player(), LEVELS, 7, SEED + 1, store=store, progress=False)
        assert timeless(short(Player(), store=store).rows) == timeless(whole.rows[ATTEMPTS:])
        assert len(store) == ATTEMPTS + 7


def test_what_agents_do_wrong_costs_their_own_attempts_only(whole: Results) -> None:
    cases = {
        "raises": "ZeroDivisionError: a stranger's mistake",
        "nan": "the policy gave NaN as actions",
        "illegal": r"the policy chose action \d+, which is not legal, as move 1 of an attempt",
        "unbound": "RuntimeError: no weights for this game",
        "leaves": "SystemExit: bye",
    }
    results = short([*map(Player, cases), "no_module:Nobody", Player()])
    assert timeless(results.rows) == timeless(whole.rows[ATTEMPTS:])
    for name, sentence in cases.items():
        errors = [error for error in results.errors if error.agent == Player(name).name]
        assert sum(error.attempts for error in errors) == ATTEMPTS
        for error in errors:
            assert error.levels == ("combo 5x5",)
            assert re.search(sentence, error.sentence)
    assert (
        "ModuleNotFoundError" in next(error for error in results.errors if error.agent == "no_module:Nobody").sentence
    )


@dataclass(frozen=True)
class Failing:
    """Fails every second shard."""

    workers: int = 1

    def run(self, jobs: deque[Job], told: Told) -> Answers:
        for n, (job, answer) in enumerate(InProcess().run(jobs, told)):
            yield job, Failure("the machine is gone") if n % 2 else answer


def test_failed_shards_are_named_and_played_by_the_next_run(whole: Results) -> None:
    with Store() as store:
        broken = short(Player(), executor=Failing(), store=store)
        assert [str(error) for error in broken.errors] == [
            f"{Player().name} on combo 5x5, {number} attempts: the machine is gone" for number in (7, 6)
        ]
        assert timeless(broken.rows) == timeless(whole.rows[ATTEMPTS + 7 : ATTEMPTS + 14])
        assert timeless(short(Player(), store=store).rows) == timeless(whole.rows[ATTEMPTS:])


def test_a_full_disk_ends_the_evaluation_and_the_same_call_goes_on(whole: Results, tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        evaluate(Player(), LEVELS, 7, SEED, store=store, progress=False)
        store.connection.execute("PRAGMA max_page_count = 1")  # SQLite takes what there is already
        with pytest.raises(StoreError, match=r"disk is full; the 7 results in it are safe: remove the cause and start"):
            evaluate(Player(), [LEVELS[0], *big()], ATTEMPTS, SEED, store=store, progress=False)
        store.connection.execute("PRAGMA max_page_count = 100000")
        assert timeless(short(Player(), store=store).rows) == timeless(whole.rows[ATTEMPTS:])


def big() -> list[Level]:
    """Levels that take more room than a page has left."""
    board = [" ".join("?" * 9)] * 9
    return [Level.from_dict({"name": f"{n}" * 60, "colours": 5, "moves": n, "board": board}) for n in range(10, 40)]


def test_two_agents_of_one_name_are_not_mixed_up() -> None:
    twins = short([Player(), Twin(), Player()])
    assert [(error.agent, error.attempts) for error in twins.errors] == [(Player().name, ATTEMPTS)]
    assert "another of the agents has the same name" in twins.errors[0].sentence
    assert len(twins.rows) == ATTEMPTS


@pytest.mark.parametrize(
    ("agents", "levels", "attempts", "seed", "sentence"),
    [
        ([], "combo:5x5", 1, 0, "nothing to evaluate: there are 0 agents and 1 levels"),
        (["first"], [], 1, 0, "nothing to evaluate: there are 1 agents and 0 levels"),
        (["first"], "combo:5x5", 0, 0, "attempts must be at least 1, not 0"),
        (["first"], "combo:5x5", 1, -1, "the seed must be a whole number from 0 to 4294967295, not -1"),
        (["first", "greedi"], "combo:5x5", 1, 0, "there is no agent 'greedi' .did you mean 'greedy'"),
        (["mcts:simulation=3"], "combo:5x5", 1, 0, "there is no parameter 'simulation' .did you mean 'simulations'"),
        ([3], "combo:5x5", 1, 0, "an agent is a name, or has `name` and `bind`; this is a int"),
    ],
)
def test_what_makes_no_sense_is_refused(
    agents: list[str], levels: list[Task] | str, attempts: int, seed: int, sentence: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        evaluate(agents, levels, attempts, seed)
