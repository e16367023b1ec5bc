"""The leaderboard and the comparison: what they count, what they claim, and what they refuse."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crush_gym import Level, references
from crush_gym.cli import main
from experiments import statistics
from experiments.ranking import Field, RankingError, compare, field_of, rank, yardstick, yardsticks
from experiments.ranking.origins import Origins, origins
from experiments.ranking.sources import sources
from experiments.report.leaderboard import lead, leaderboard_page, scale_of, warnings
from experiments.results.assignment import Task, tasks_of
from experiments.results.row import Row
from experiments.results.store import Store

Output = pytest.CaptureFixture[str]
OWN = Task(Level.from_dict({"name": "my own", "colours": 4, "moves": 5, "goals": {"score": 9}, "board": ["? ? ?"] * 3}))


def attempts(
    agent: str, level: str, won: Sequence[int] = (), scores: Sequence[int] = (), task: str = "", first: int = 0
) -> Iterator[Row]:
    """Wins make a level with goals, scores alone one without."""
    for i, (win, score) in enumerate(zip(won or scores, scores or [100 * w for w in won], strict=True)):
        outcome = ("won" if win else "lost") if won else "ended"
        yield Row(
            agent, task or f"id of {level}", level, 7, first + i, bool(won and win), outcome, "moves", score, 20,
            3 if won and win else 0, 30, 0, 0.5,
        )  # fmt: skip


def share(wins: int, of: int = 40) -> list[int]:
    return [1] * wins + [0] * (of - wins)


def results(**wins: Sequence[int]) -> list[Row]:
    """Players with so many wins of 40 on levels 1, 2, 3 ..."""
    return [
        row
        for agent, counts in wins.items()
        for i, count in enumerate(counts)
        for row in attempts(agent, f"level {i + 1}", share(count))
    ]


# ------------------------------------------------------------------------------------ who is ranked


def test_levels_are_those_that_all_players_have() -> None:
    field = field_of(results(a=[1, 2, 3], b=[4, 5]))
    assert [task.level for task in field.tasks] == ["level 1", "level 2"]
    assert field.left_out == ("level 3",)
    assert field_of(results(a=[1, 2, 3], b=[4, 5]), ["a"]).left_out == ()


def test_levels_are_in_the_order_in_which_people_count() -> None:
    rows = [row for name in ("look-alike 100", "look-alike 13", "b 2") for row in attempts("a", name, share(3))]
    assert [task.level for task in field_of(rows).tasks] == ["b 2", "look-alike 13", "look-alike 100"]
    assert [task.level for task in field_of(rows, levels=["look*"]).tasks] == ["look-alike 13", "look-alike 100"]


def test_levels_of_one_name_and_different_content_stay_apart() -> None:
    rows = [row for task in ("x", "y") for row in attempts("a", "same", share(3), task=task)]
    assert [task.identity for task in field_of(rows).tasks] == ["x", "y"]


@pytest.mark.parametrize(
    ("rows", "asked", "words"),
    [
        ([], {}, "no results yet"),
        (results(greedy=[1], random=[2]), {"agents": ["gredy"]}, "'gredy' .did you mean 'greedy'.*greedy, random"),
        (results(a=[1]) + list(attempts("b", "other", share(3))), {}, "no level was played by all .*a has 1, b has 1"),
        (list(attempts("a", "hard", share(1, 4))), {}, "'a' has 4 attempts at 'hard', at least 5"),
        (results(a=[1, 2]), {"levels": ["x*"]}, "no level with results fits 'x\\*': there are 'level 1', 'level 2'"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_a_sentence(rows: list[Row], asked: dict[str, Any], words: str) -> None:
    with pytest.raises(RankingError, match=words):
        field_of(rows, **asked)


# ----------------------------------------------------------------------------------------- the scale


def test_zero_is_the_random_player_and_one_is_winning_always() -> None:
    field = field_of(results(random=[10, 0], good=[20, 30]))
    scales = yardsticks(field)
    assert [scales[task.identity] for task in field.tasks] == [(0.25, 1, True, "best"), (0, 1, True, "best")]
    board = rank(field)
    assert board.standings[0].mean.value == pytest.approx(((0.5 - 0.25) / 0.75 + 0.75) / 2)
    assert board.standings[1].agent == "random" and board.standings[1].iqm.value == pytest.approx(0)


def test_one_is_a_player_where_one_is_named() -> None:
    field = field_of(results(random=[10, 0], good=[20, 30], better=[30, 40]))
    board = rank(field, "good")
    values = {s.agent: s.mean.value for s in board.standings}
    assert values == pytest.approx({"random": 0, "good": 1, "better": (2 + 40 / 30) / 2})
    with pytest.raises(
        RankingError, match=r"the reference 'nobody' has no results.*2 of the 2 levels, such as 'level 1'"
    ):
        rank(field, "nobody")


def test_one_is_a_look_ahead_where_its_results_are_there_and_differ_from_chance() -> None:
    rows = results(**{"random": [10, 20, 38, 0], yardstick.LOOKAHEAD: [30, 22, 40, 2], "better": [35, 30, 40, 20]})
    field = field_of(rows, ["random", "better"])
    scales = [yardsticks(field)[task.identity] for task in field.tasks]
    # 22 wins of 40 against 20 are no clear difference, nor 2 against none.
    assert [scale[:2] for scale in scales] == [(0.25, 0.75), (0.5, 1), (0.95, 1), (0, 1)]
    assert [scale.origin for scale in scales] == ["played", "best", "best", "best"]
    board = rank(field)
    assert any(
        "whose 1 is not the same: lookahead:samples=2, as it played here (1 level)" in w for w in warnings(board)
    )
    only = field_of(rows, ["better"], levels=["level 1"])
    assert rank(only).standings[0].mean.value == pytest.approx((35 - 10) / (30 - 10)) and not warnings(rank(only))


def test_on_levels_that_ship_the_scale_is_what_ships() -> None:
    (combo,), thesis = tasks_of("combo"), tasks_of("thesis")
    rows = [*attempts("a", combo.name, scores=[20_000] * 9, task=combo.identity)]
    known = references.load("combo")[combo.name]
    zero, one = (known[player].score for player in references.SCALE)
    field = field_of(rows)
    assert yardsticks(field) == {combo.identity: (zero, one, True, "shipped")}
    assert rank(field).standings[0].mean.value == pytest.approx((20_000 - zero) / (one - zero))
    page = leaderboard_page(rank(field), Origins({}, {})).html()
    assert "1 is that of lookahead:samples=2, as <code>crush_" in page and "0 is the result of the player" in page
    rows = [row for task in thesis for row in attempts("a", task.name, share(20), task=task.identity)]
    scales = yardsticks(field_of(rows))
    for task in thesis:
        players = references.load("thesis")[task.name]
        low, high = (players[player].success if player in players else 0.0 for player in references.SCALE)
        shipped = high - low >= 0.1 and scales[task.identity].origin == "shipped"
        assert scales[task.identity][:2] == ((low, high) if shipped else (low, 1))
    assert sum(scale.origin == "shipped" for scale in scales.values()) > 50


def test_without_goals_one_is_the_best_mean_score() -> None:
    rows = [*attempts("a", "points", scores=[10, 20, 30, 20, 20]), *attempts("b", "points", scores=[5, 15, 10, 10, 10])]
    scales = yardsticks(field_of(rows))
    assert scales["id of points"] == (0, 20, True, "best")
    assert field_of(rows, ["b"]).of("a", field_of(rows).tasks[0]).attempts == 5


def test_the_random_player_is_zero_even_where_it_is_not_listed() -> None:
    rows = results(random=[10], good=[20])
    assert rank(field_of(rows, ["good"])).standings[0].mean.value == pytest.approx((0.5 - 0.25) / 0.75)


def test_levels_without_a_clear_scale_do_not_count() -> None:
    field = field_of(results(random=[40, 0], good=[40, 20]))
    board = rank(field)
    assert [task.level for task in board.tasks] == ["level 2"]
    assert [task.level for task in board.useless] == ["level 1"]
    assert any("Without a clear 0 and 1" in sentence and "level 1" in sentence for sentence in warnings(board))
    with pytest.raises(RankingError, match="on none of the 1 levels"):
        rank(field_of(results(random=[40], good=[40])))


# ------------------------------------------------------------------------------------ the leaderboard


def test_ranks_are_what_chance_leaves_open() -> None:
    board = rank(field_of(results(weak=[2, 1, 3], even=[19, 21, 20], equal=[20, 20, 19], strong=[39, 38, 39])))
    found = {s.agent: (s.best, s.worst) for s in board.standings}
    assert found == {"strong": (1, 1), "even": (2, 3), "equal": (2, 3), "weak": (4, 4)}
    assert [s.rank for s in board.standings] == [1, 2, 3, 4]
    assert lead(board).startswith("**strong** leads 4 players on 3 levels")


def test_the_lead_is_claimed_only_where_it_is_sure() -> None:
    board = rank(field_of(results(even=[19, 21, 20], equal=[20, 20, 19])))
    assert "leads" not in lead(board) and "chance may put equal first" in lead(board)


def test_standings_are_what_the_statistics_say() -> None:
    counts = {"random": [0, 4, 8, 10], "good": [10, 20, 30, 40]}
    board = rank(field_of(results(**counts)))
    zero, good = (np.array(counts[name]) / 40 for name in ("random", "good"))
    means = (good - zero) / (1 - zero)
    first = board.standings[0]
    assert first.iqm.value == pytest.approx(np.sort(means)[1:3].mean())
    assert first.gap.value == pytest.approx(1 - means.mean())
    assert first.success == statistics.rate(100, 160)
    assert (first.seconds, first.attempts) == (0.5, 160)
    assert first.iqm.low < first.iqm.value < first.iqm.high


def test_the_same_seed_gives_the_same_board() -> None:
    field = field_of(results(a=[10, 20], b=[5, 30]))
    assert rank(field, seed=3).standings == rank(field, seed=3).standings != rank(field, seed=4).standings


def test_intervals_over_levels_are_wider_and_need_levels() -> None:
    counts = np.linspace(2, 38, 12).astype(int).tolist()
    field = field_of(results(a=counts))
    slim, wide = (rank(field, over_levels=over).standings[0].mean for over in (False, True))
    assert slim.value == wide.value and wide.high - wide.low > 2 * (slim.high - slim.low)
    with pytest.raises(RankingError, match="at least 10 levels, here are 2"):
        rank(field_of(results(a=[3, 4])), over_levels=True)


# -------------------------------------------------------------------------------------- the comparison


def pair(a: Sequence[int], b: Sequence[int]) -> Field:
    return field_of(results(a=a, b=b))


def test_differences_are_newcombes_and_their_mean_adds_errors_in_squares() -> None:
    found = compare(pair([30, 20], [10, 20]), "a", "b")
    single = [statistics.rate_difference((30, 40), (10, 40)), statistics.rate_difference((20, 40), (20, 40))]
    assert [each.difference for each in found.levels] == single
    assert found.success == statistics.mean_interval(single)
    assert found.levels[0].improvement == pytest.approx(0.75)
    assert found.improvement.value == pytest.approx(0.625)


def test_scores_are_compared_by_welch() -> None:
    a, b = [10, 20, 30, 20, 25], [5, 15, 10, 10, 12]
    field = field_of([*attempts("a", "points", scores=a), *attempts("b", "points", scores=b)])
    found = compare(field, "a", "b")
    assert found.levels[0].scores == statistics.welch(a, b)
    assert found.levels[0].difference == found.levels[0].scores.difference
    assert found.success is None and "success" not in found.verdict


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([30, 35], [10, 12], "On these 2 levels together, a does better than b: it comes out ahead in 76."),
        ([10, 12], [30, 35], "a does worse than b: it comes out ahead in 23."),
        ([20, 20], [20, 21], "these results do not tell a and b apart: the former comes out ahead in 49.4 %"),
        ([30], [10], "On 'level 1', a does better than b"),
    ],
)
def test_the_verdict_is_what_the_interval_allows(a: list[int], b: list[int], words: str) -> None:
    verdict = compare(pair(a, b), "a", "b").verdict
    assert words in verdict and verdict.endswith(").") and verdict.count(". ") == 0


def test_equal_players_are_rarely_told_apart() -> None:
    rng = np.random.default_rng(0)
    told = 0
    for trial in range(100):
        draws = rng.binomial(40, [0.3, 0.5, 0.7], size=(2, 3)).tolist()
        told += "do not tell" not in compare(pair(*draws), "a", "b", trial).verdict
    assert told <= 11  # 5 are expected; more than 11 have a chance of 0.4 %


def test_what_0_is_depends_on_where_random_has_played() -> None:
    without = rank(field_of(results(a=[20, 25], b=[9, 9])))
    assert scale_of(without).startswith("0 is that of winning never, or of no points; 1 is that of winning always")
    partly = rank(field_of([*results(a=[20, 25], b=[9, 9]), *results(random=[2])], ["a", "b"]), "a")
    assert scale_of(partly) == (
        "0 is the result of the player 'random' on the 1 of 2 levels where that is known, elsewhere that of winning "
        "never, or of no points; 1 is that of a."
    )
    assert scale_of(partly).replace("'", "&#x27;") in leaderboard_page(partly, Origins()).html()


def test_a_comparison_over_levels_needs_levels() -> None:
    with pytest.raises(RankingError, match="at least 10 levels"):
        compare(pair([1], [2]), "a", "b", over_levels=True)
    found = compare(pair(range(5, 17), range(10, 22)), "a", "b", over_levels=True)
    assert "On levels like these 12, a does worse than b" in found.verdict


# ------------------------------------------------------------------------------------ running it again


def test_sources_are_the_shortest_names_of_the_levels() -> None:
    def named(*texts: str | Task) -> list[str]:
        tasks = {task.identity: task for text in texts for task in tasks_of(text)}
        rows = [r for t in tasks.values() for r in attempts("a", t.name, share(3), task=t.identity)]
        return sources(field_of(rows).tasks, "runs.sqlite")

    assert named("basics") == ["basics"]
    assert named("thesis/look-alike 13", "points:5x6") == ["points:5x6", "thesis/look-alike 13"]
    assert named("combo", OWN) == ["combo:9x9", "runs.sqlite"]


def test_a_store_stands_for_the_levels_in_it(tmp_path: Path) -> None:
    path = tmp_path / "any name"
    tasks = (OWN, *tasks_of("points:5x5"))
    with Store(path) as store:
        store.know(tasks)
    assert {task.identity for task in tasks_of(str(path))} == {task.identity for task in tasks}


# --------------------------------------------------------------------------------------- the commands


@pytest.fixture
def runs(tmp_path: Path) -> str:
    """A store of three players on one own level and a simple game."""
    path = tmp_path / "runs.sqlite"
    tasks = (OWN, *tasks_of("points:5x5"))
    rng = np.random.default_rng(1)
    with Store(path) as store:
        store.know(tasks)
        run = store.begin(
            {"started": "2030-01-01T00:00:00+00:00", "versions": {"jax": "1.2"}, "hardware": {"cores": 2}}
        )
        for agent, wins, score in (("random", 3, 50), ("greedy", 15, 90), ("mcts:simulations=9", 33, 150)):
            store.add(run, attempts(agent, OWN.name, share(wins), task=OWN.identity))
            scores = (score + rng.integers(0, 20, 30)).tolist()
            store.add(run, attempts(agent, tasks[1].name, scores=scores, task=tasks[1].identity))
    return str(path)


def test_leaderboard_prints_a_table_and_writes_a_page(runs: str, tmp_path: Path, capsys: Output) -> None:
    page = tmp_path / "board.html"
    assert main(["leaderboard", runs, "--out", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:5]] == ["mcts:simulations=9", "greedy", "random"]
    assert "leads 3 players on 2 levels" in lines[6] and lines[-1] == f"page: {page}"
    always = "1 is that of winning always, or the best mean score of these players where a level has no goals."
    assert lines[7] == f"0 is the result of the player 'random'; {always}"
    html = page.read_text(encoding="utf-8")
    for part in ("Performance profile", "Cost against strength", OWN.identity, "jax 1.2", "2 cores", "--seed 7"):
        assert part in html


def test_leaderboard_tells_programs_all_of_it(runs: str, capsys: Output) -> None:
    assert main(["leaderboard", runs, "--json", "--agents", "greedy", "random", "--reference", "greedy"]) == 0
    report = json.loads(capsys.readouterr().out)
    first = report["standings"][0]
    assert (first["agent"], first["iqm"]["value"], first["attempts"]) == ("greedy", 1.0, 70)
    assert report["levels"][0]["identity"] == OWN.identity and report["intervals_over"] == "attempts"
    assert shlex.split(first["commands"][0]) == [
        "crush-gym", "evaluate", "greedy", "--levels", "points:5x5", "--levels", runs, "--attempts", "40",
        "--seed", "7", "--out", "again.sqlite",
    ]  # fmt: skip


def test_compare_prints_a_verdict_and_writes_a_page(runs: str, tmp_path: Path, capsys: Output) -> None:
    page = tmp_path / "comparison.html"
    assert main(["compare", "greedy", "random", runs, "--out", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "On these 2 levels together, greedy does better than random" in printed
    assert "greedy against random" in page.read_text(encoding="utf-8")
    assert main(["compare", "greedy", "random", runs, "--json", "--levels", "my*"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [each["level"] for each in report["levels"]] == ["my own"]
    assert report["levels"][0]["difference"]["value"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["leaderboard", "nowhere.sqlite"], 2, "there is no store 'nowhere.sqlite': `crush-gym evaluate` writes one"),
        (["leaderboard", __file__], 1, "cannot be used as a store"),
        (["leaderboard", "RUNS", "--agents", "gredy"], 2, "did you mean 'greedy'"),
        (["leaderboard", "RUNS", "--over-levels"], 2, "at least 10 levels"),
        (["leaderboard", "RUNS", "--out", f"{__file__}/page.html"], 1, "cannot be written"),
        (["compare", "greedy", "greedy", "RUNS"], 2, "cannot be compared with itself"),
        (["compare", "greedy", "nobody", "RUNS"], 2, "no results of 'nobody'"),
        (["compare", "greedy", "random", "RUNS", "--levels", "z"], 2, "no level with results fits 'z'"),
    ],
)
def test_commands_fail_in_one_sentence(
    arguments: list[str], status: int, words: str, runs: str, capsys: Output
) -> None:
    assert main([runs if argument == "RUNS" else argument for argument in arguments]) == status
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and said.out == ""


@pytest.mark.parametrize("command", ["leaderboard", "compare"])
def test_help_has_examples(command: str, capsys: Output) -> None:
    assert main([command, "--help"]) == 0
    assert f"  crush-gym {command} " in capsys.readouterr().out.split("examples:\n")[1]


def test_a_thousand_levels_are_a_page_too() -> None:
    rng = np.random.default_rng(0)
    wins = {name: rng.integers(low, low + 20, 1000).tolist() for name, low in (("random", 0), ("good", 15))}
    board = rank(field_of(results(**wins)))
    html = leaderboard_page(board, Origins()).html()
    assert len(html) < 1_000_000 and "level 1000" in html and "id of level 517" in html


def test_the_command_of_a_row_plays_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "random", "--levels", "points:5x5", "--attempts", "6", "--seed", "3", "--json"]) == 0
    with Store("runs.sqlite") as store:
        known = origins(field_of(store.rows()), store.runs().values(), "runs.sqlite")
    assert main(shlex.split(known.commands["random"][0])[1:]) == 0
    with Store("runs.sqlite") as first, Store("again.sqlite") as again:
        same = [[row._replace(seconds=0.0) for row in store.rows()] for store in (first, again)]
    assert same[0] == same[1] and len(same[0]) == 6
