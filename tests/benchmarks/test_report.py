"""The benchmark's table: its ratios, its bounds, and what it says when something was not measured."""

from benchmarks.report import Results, bound, markdown, ratio, rows

RESULTS: Results = {
    "machine": {"CPU": "some"},
    "limit": {"1 thread": 500.0, "2 threads": 1000.0},
    "tile-match": {"no specials, 1 at a time": "Not measured: NotHere: none."},
    "rollout": {"plain": 600.0, "everything": 20.0},
    "step": {"plain": 1e7},
    "batch": {"1088": 100.0, "4096": 130.0, "4160": 100.0, "65600": 120.0},
}


def test_ratios_and_bounds() -> None:
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(None, 2.0) is None and ratio(3.0, None) is None and ratio(3.0, 0.0) is None
    assert bound(0.6, 0.5) == ">= 0.5 met"
    assert bound(0.6, 0.5, at_most=True, unit=" s") == "<= 0.5 s MISSED"
    assert bound(None, 0.5) == ">= 0.5" and bound(0.6, None) == ""


def test_rows_compare_with_the_right_base() -> None:
    table = {row.what: row for row in rows(RESULTS)}
    plain = table["plain, all cores / C++ 2 threads"]
    assert plain[1:] == ("0.600", ">= 0.5 met", ">= 1 MISSED", "600 moves/s")
    assert table["everything, all cores / C++ 2 threads"].must == ">= 0.03 MISSED"
    assert table["plain, step + legal of 4,096 / rollout"].ratio == "0.167"
    assert table["cost of a move, 4096 / 4160 boards"].must == "<= 1.2 MISSED"
    assert table["cost of a move, 65600 / 1088 boards"].must == "<= 1.5 met"


def test_environments_compare_with_bare_steps_and_the_peers_best() -> None:
    results: Results = {
        "environments": {
            "bare step": 1000.0,
            "make_vec, jax": 800.0,
            "make_vec, numpy": 400.0,
            "make_vec, jax, endless": 800.0,
            "asynchronous, 50%": 900.0,
        },
        "tile-match make_vec": {"2 async": 2.0, "2 sync": 4.0},
        "one environment": {"points": 2000.0},
        "loading": {"import crush_gym": 1.2},
    }
    table = {row.what: row for row in rows(results)}
    fast = table["make_vec of 4,096, all specials, jax / bare step"]
    assert fast[1:] == ("0.800", ">= 0.7 met", ">= 0.85 MISSED", "800 moves/s")
    assert table["make_vec of 4,096, all specials, numpy / bare step"].must == ">= 0.5 MISSED"
    assert table["make_vec of 4,096, all specials, jax / tile-match-gym's make_vec"][1:3] == ("200", ">= 100 met")
    early = table["asynchronous, 50% of the boards quiet / make_vec, jax, endless"]
    assert early[1:4] == ("1.125", "", ">= 1.5 MISSED")
    assert table["one gym.make environment, points"][2:] == (">= 1000 met", ">= 3000 MISSED", "2,000 steps/s")
    assert table["import crush_gym"].must == "<= 1 s MISSED"


def test_learners_compare_with_the_better_of_torch() -> None:
    results: Results = {
        "learners, trained": {
            "combo: flax, a CPU-second": 300.0, "combo: torch, 1 thread, a CPU-second": 200.0,
            "combo: torch, 2 threads, a CPU-second": 100.0, "combo: flax, a second": 500.0,
            "combo: torch, 1 thread, a second": 200.0, "combo: torch, 2 threads, a second": 400.0,
        },
        "learners, collected": {"combo": "Not measured: RuntimeError: none."},
        "learners, gradients": {"by itself, ms": 10.0, "in a loop, ms": 11.0},
    }  # fmt: skip
    table = {row.what: row for row in rows(results)}
    cpu = table["combo, steps trained a CPU-second, flax / torch's better"]
    assert cpu[1:] == ("1.500", ">= 1 met", ">= 2 MISSED", "300, torch 200 and 100")
    assert table["combo, steps trained a second, flax / torch's better"][1:4] == ("1.250", "", "")
    assert table["combo, steps collected a CPU-second, flax / torch's better"][1:3] == ("-", ">= 2")
    gradient = table["a minibatch's gradient, in a loop / by itself"]
    assert gradient[1:] == ("1.100", "<= 1.2 met", "<= 1 MISSED", "11.0 ms")


def test_what_is_missing_is_said() -> None:
    text = markdown(RESULTS)
    assert "- CPU: some" in text
    assert "| plain, all cores / tile-match-gym, no specials | - |" in text
    assert "- tile-match, no specials, 1 at a time: Not measured: NotHere: none." in text
    assert all(line.count("|") == 6 for line in text.splitlines() if line.startswith("|"))
    assert markdown({}).startswith("\n| what |")


def test_players_are_measured_against_random_play_and_bare_playouts() -> None:
    measured: Results = {
        "search": {"random playouts": 50.0, "random rollout": 100.0, "heuristic playouts": 20.0, "200 attempts": 5.0},
        "players": {"random": 1000.0, "greedy": 170.0},
        "ladder": {"seconds": 700.0},
    }
    table = {row.what: row for row in rows(measured)}
    assert table["mcts, 200 boards, simulations / bare playouts"].must == ">= 0.6 MISSED"
    assert table["mcts, heuristic playouts / random ones"][1:3] == ("0.400", ">= 0.2 met")
    assert table["greedy, 4,096 attempts / random"][1:4] == ("0.170", ">= 0.1 met", ">= 0.3 MISSED")
    assert table["search: 200 attempts"][2:] == ("<= 30 met", "<= 10 met", "5.0 s")
    assert table["ladder: seconds"].must == "<= 600 MISSED"
