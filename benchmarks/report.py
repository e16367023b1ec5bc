"""Turn what was measured into a table of ratios and absolutes, and into a picture. Pure but for `draw`."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Value = float | str
Values = dict[str, Value]
Results = dict[str, Values]
Limits = tuple[float | None, float | None]
"""What must be kept, and what is aimed at."""

HEADER = ("what", "ratio", "must", "aim", "absolute")
TO_CPP = {"plain": (0.50, 1.0), "specials": (0.10, 0.25), "everything": (0.03, 0.08)}
TO_ROLLOUT = (0.20, 0.40)
FIRST_CALL = {"plain": (4.0, 2.0), "everything": (25.0, 10.0)}
STATE_BYTES = (1024.0, 704.0)
TO_STEP: dict[str, Limits] = {"jax": (0.70, 0.85), "numpy": (0.50, None)}
TO_PEER_VECTOR = 100.0
WORTH_IT = 1.5
SINGLE = (1000.0, 3000.0)
LOADING = {"import crush_gym": 1.0, "load 1,000 levels": 2.0}
PEERS = {"plain": "no specials", "specials": "all specials"}


class Row(NamedTuple):
    """A line of the table; the bounds are on the ratio, or on the absolute where there is no ratio."""

    what: str
    ratio: str = ""
    must: str = ""
    aim: str = ""
    absolute: str = ""


def number(results: Results, part: str, name: str) -> float | None:
    """A measured number, if there is one."""
    value = results.get(part, {}).get(name)
    return None if value is None or isinstance(value, str) else float(value)


def ratio(value: float | None, base: float | None) -> float | None:
    """The quotient, if both were measured."""
    return None if value is None or not base else value / base


def bound(value: float | None, limit: float | None, at_most: bool = False, unit: str = "") -> str:
    """A bound and whether the value keeps it."""
    if limit is None:
        return ""
    text = f"{'<=' if at_most else '>='} {limit:g}{unit}"
    if value is None:
        return text
    return f"{text} {'met' if (value <= limit if at_most else value >= limit) else 'MISSED'}"


def shown(value: float | None, form: str = "{:.3f}") -> str:
    """A number as text, a dash for none."""
    return "-" if value is None else form.format(value)


def speed(value: float | None) -> str:
    """Moves per second as text."""
    return shown(value, "{:,.0f} moves/s")


def compared(what: str, value: float | None, limits: Limits | None, absolute: str, at_most: bool = False) -> Row:
    """A row whose bounds are on its ratio."""
    must, aim = limits or (None, None)
    return Row(what, shown(value), bound(value, must, at_most), bound(value, aim, at_most), absolute)


def rows(results: Results) -> list[Row]:
    """The table: ratios first, absolutes second."""
    ratios = [*cpp_rows(results), *peer_rows(results), *step_rows(results), *batch_rows(results), *vmap_rows(results)]
    ratios += environment_rows(results) + player_rows(results) + learner_rows(results)
    return [*ratios, *first_rows(results), *state_rows(results), *single_rows(results), *absolute_rows(results)]


def cpp_rows(results: Results) -> list[Row]:
    """Our games against the C++ on two threads, and one core against one thread."""
    pairs = (("all cores", "rollout", "2 threads"), ("one core", "single core", "1 thread"))
    found = []
    for cores, part, threads in pairs:
        for game in results.get(part, {}):
            ours = number(results, part, game)
            limits = TO_CPP.get(game) if part == "rollout" else None
            value = ratio(ours, number(results, "limit", threads))
            found.append(compared(f"{game}, {cores} / C++ {threads}", value, limits, speed(ours)))
    return found


def best_peer(results: Results, game: str) -> float | None:
    """The fastest of the other simulator's ways to play a game like this one."""
    kind = PEERS.get(game, "all specials")
    speeds = [number(results, "tile-match", name) for name in results.get("tile-match", {}) if name.startswith(kind)]
    return max((value for value in speeds if value is not None), default=None)


def peer_rows(results: Results) -> list[Row]:
    """Our games against tile-match-gym."""
    found = []
    for game in results.get("rollout", {}):
        ours = number(results, "rollout", game)
        value = ratio(ours, best_peer(results, game))
        what = f"{game}, all cores / tile-match-gym, {PEERS.get(game, 'all specials')}"
        found.append(Row(what, shown(value, "{:,.0f}"), absolute=speed(ours)))
    return found


def step_rows(results: Results) -> list[Row]:
    """Lockstep against rollouts."""
    found = []
    for game in results.get("step", {}):
        cost = number(results, "step", game)
        value = ratio(ratio(1e9, cost), number(results, "rollout", game))
        absolute = shown(cost, "{:,.0f} ns a board") + shown(None if cost is None else cost * 4096e-6, ", {:.2f} ms")
        found.append(compared(f"{game}, step + legal of 4,096 / rollout", value, TO_ROLLOUT, absolute))
    return found


def batch_rows(results: Results) -> list[Row]:
    """What a move costs in one batch against another."""
    pairs = (("65600", "1088", 1.5), ("4096", "4160", 1.2))
    found = []
    for name, base, limit in pairs:
        cost = number(results, "batch", name)
        value = ratio(cost, number(results, "batch", base))
        must = bound(value, limit, at_most=True)
        found.append(Row(f"cost of a move, {name} / {base} boards", shown(value), must, "", shown(cost, "{:,.0f} ns")))
    return found


def vmap_rows(results: Results) -> list[Row]:
    """A mapped step against the native one."""
    native = number(results, "vmap", "native")
    found = []
    for name in ("vmap", "nested vmap"):
        took = number(results, "vmap", name)
        value = ratio(took, native)
        must = bound(value, 1.15, at_most=True)
        found.append(Row(f"scan of {name} / of native step, 1,088", shown(value), must, "", shown(took, "{:.3f} s")))
    return found


def environment_rows(results: Results) -> list[Row]:
    """Environments of 4,096 boards against bare steps, against tile-match-gym's, and without waiting for all boards."""
    speeds = {name: number(results, "environments", name) for name in results.get("environments", {})}
    found = []
    for output, limits in TO_STEP.items() if speeds else ():
        ours = speeds.get(f"make_vec, {output}")
        what = f"make_vec of 4,096, all specials, {output} / bare step"
        found.append(compared(what, ratio(ours, speeds.get("bare step")), limits, speed(ours)))
        peer = ratio(ours, best_vector_peer(results))
        must = bound(peer, TO_PEER_VECTOR)
        what = f"make_vec of 4,096, all specials, {output} / tile-match-gym's make_vec"
        found.append(Row(what, shown(peer, "{:,.0f}"), must, absolute=speed(ours)))
    for name, value in speeds.items():
        if name.startswith("asynchronous"):
            gain = ratio(value, speeds.get("make_vec, jax, endless"))
            keep = bound(gain, WORTH_IT)
            found.append(
                Row(
                    f"{name} of the boards quiet / make_vec, jax, endless", shown(gain), aim=keep, absolute=speed(value)
                )
            )
    return found


PLAYERS = (
    ("mcts, 200 boards, simulations / bare playouts", "search", "random playouts", "random rollout", (0.60, 0.85)),
    ("mcts, heuristic playouts / random ones", "search", "heuristic playouts", "random playouts", (0.20, None)),
    ("greedy, 4,096 attempts / random", "players", "greedy", "random", (0.10, 0.30)),
    ("heuristic, 4,096 attempts / random", "players", "heuristic", "random", (None, None)),
    ("clouded, 4,096 attempts / random", "players", "clouded", "random", (None, None)),
    ("lookahead, moves simulated / random rollout, plain", "ahead", "its turn alone", "random", (0.4, None)),
    (
        "lookahead with 4 moves more / random rollout, plain",
        "ahead",
        "four random moves after it",
        "random",
        (None, None),
    ),
)
"""Rows with a ratio: what, the part, its two numbers, and what must be reached and is aimed at."""


def player_rows(results: Results) -> list[Row]:
    """Search against bare playouts, cheap players against random play, and what has only a time."""
    found = []
    for what, part, name, base, (must, aim) in PLAYERS if "search" in results else ():
        value = number(results, part, name)
        share = ratio(value, number(results, part, base))
        found.append(Row(what, shown(share), bound(share, must), bound(share, aim), shown(value, "{:,.0f}/s")))
    for part, name, form, must, aim, at_most in (
        ("search", "200 attempts", "{:.1f} s", 30.0, 10.0, True),
        ("beam", "depth 2, H2", "{:,.0f} moves/s", 2000.0, None, False),
        ("ladder", "seconds", "{:.0f} s", 600.0, None, True),
        ("ladder", "largest resident set, MB", "{:,.0f} MB", 2048.0, None, True),
    ):
        if part in results:
            value = number(results, part, name)
            bounds = bound(value, must, at_most), bound(value, aim, at_most)
            found.append(Row(f"{part}: {name}", "", *bounds, shown(value, form)))
    return found


LEARNERS = {"trained": (1.0, 2.0), "collected": (2.0, 5.0)}
"""Bounds on steps a CPU-second of ours, for each of torch's better figure."""
GRADIENT = (1.2, 1.0)


def learner_rows(results: Results) -> list[Row]:
    """PPO on the device against Stable-Baselines3's, and a gradient within a loop against one by itself."""
    found = []
    for kind, limits in LEARNERS.items():
        part = f"learners, {kind}"
        for game in dict.fromkeys(name.partition(":")[0] for name in results.get(part, {})):
            for unit in ("a CPU-second", "a second"):
                ours, *theirs = (
                    number(results, part, f"{game}: {who}, {unit}")
                    for who in ("flax", "torch, 1 thread", "torch, 2 threads")
                )
                best = max((value for value in theirs if value is not None), default=None)
                absolute = f"{shown(ours, '{:,.0f}')}, torch {' and '.join(shown(x, '{:,.0f}') for x in theirs)}"
                what = f"{game}, steps {kind} {unit}, flax / torch's better"
                found.append(compared(what, ratio(ours, best), limits if "CPU" in unit else None, absolute))
    if "learners, gradients" in results:
        alone, looped = (number(results, "learners, gradients", f"{way}, ms") for way in ("by itself", "in a loop"))
        what = "a minibatch's gradient, in a loop / by itself"
        found.append(compared(what, ratio(looped, alone), GRADIENT, shown(looped, "{:.1f} ms"), at_most=True))
    return found


def best_vector_peer(results: Results) -> float | None:
    """The fastest way of tile-match-gym's own vector environment."""
    speeds = [number(results, "tile-match make_vec", name) for name in results.get("tile-match make_vec", {})]
    return max((value for value in speeds if value is not None), default=None)


def single_rows(results: Results) -> list[Row]:
    """One environment, the import and the loading of a pack."""
    found = []
    for name in results.get("one environment", {}):
        value = number(results, "one environment", name)
        must, aim = (bound(value, limit) for limit in SINGLE)
        found.append(Row(f"one gym.make environment, {name}", "", must, aim, shown(value, "{:,.0f} steps/s")))
    for name in results.get("loading", {}):
        took = number(results, "loading", name)
        found.append(Row(name, "", bound(took, LOADING.get(name), True, " s"), "", shown(took, "{:.2f} s")))
    return found


def first_rows(results: Results) -> list[Row]:
    """Seconds to the first move."""
    found = []
    for game in results.get("first call", {}):
        took = number(results, "first call", game)
        must, aim = FIRST_CALL.get(game, (None, None))
        bounds = bound(took, must, True, " s"), bound(took, aim, True, " s")
        found.append(Row(f"first settled move, {game}", "", *bounds, shown(took, "{:.2f} s")))
    return found


def state_rows(results: Results) -> list[Row]:
    """Bytes of state a board."""
    found = []
    for game in results.get("state", {}):
        size = number(results, "state", game)
        must, aim = STATE_BYTES
        bounds = bound(size, must, True, " B"), bound(size, aim, True, " B")
        found.append(Row(f"state of a board, {game}", "", *bounds, shown(size, "{:,.0f} B")))
    return found


ABSOLUTES: dict[str, tuple[str, str]] = {
    "limit": ("C++, {}", "{:,.0f} moves/s"),
    "tile-match": ("tile-match-gym, {}", "{:,.0f} moves/s"),
    "batch": ("rollout of {} boards", "{:,.0f} ns a move"),
    "size": ("plain, {}", "{:,.0f} moves/s"),
    "level": ("basics: {}", "{:,.0f} moves/s"),
    "environments": ("4,096 boards, all specials: {}", "{:,.0f} moves/s"),
    "tile-match make_vec": ("tile-match-gym's make_vec, {}", "{:,.0f} moves/s"),
    "memory": ("largest resident set, 4,096 boards, {}", "{:,.0f} MB"),
}


def absolute_rows(results: Results) -> list[Row]:
    """What has no ratio."""
    return [
        Row(what.format(name), absolute=shown(number(results, part, name), form))
        for part, (what, form) in ABSOLUTES.items()
        for name in results.get(part, {})
    ]


def notes(results: Results) -> list[str]:
    """The sentences on what could not be measured."""
    return [
        f"{part}, {name}: {value}"
        for part, values in results.items() if part != "machine"
        for name, value in values.items() if isinstance(value, str)
    ]  # fmt: skip


def markdown(results: Results) -> str:
    """The machine, the table and the notes."""
    machine = [f"- {name}: {value}" for name, value in results.get("machine", {}).items()]
    lines = [HEADER, ("---",) * len(HEADER), *rows(results)]
    table = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([*machine, "", *table, "", *(f"- {note}" for note in notes(results))]).rstrip() + "\n"


def speeds(results: Results) -> dict[str, float]:
    """The bars of the picture."""
    named: dict[str, float | None] = {
        **{f"C++, {name}": number(results, "limit", name) for name in results.get("limit", {})},
        **{f"crush_gym, {name}": number(results, "rollout", name) for name in results.get("rollout", {})},
        **{f"tile-match-gym, {PEERS[game]}": best_peer(results, game) for game in PEERS},
    }
    return {name: value for name, value in named.items() if value is not None}


def draw(results: Results, path: Path) -> None:
    """The picture: speeds on a log axis, and the cost of a move over batch sizes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    draw_speeds(left, speeds(results))
    measured = {int(name): number(results, "batch", name) for name in results.get("batch", {})}
    costs = {size: cost for size, cost in measured.items() if cost is not None}
    right.plot(list(costs), list(costs.values()), marker="o")
    right.set(xscale="log", xlabel="boards", ylabel="ns a move", title="Cost of a move, plain rollout")
    right.set_ylim(bottom=0)
    right.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_speeds(axes: "object", bars: dict[str, float]) -> None:
    """Bars of moves per second."""
    method: Callable[[str], Callable[..., object]] = lambda name: getattr(axes, name)  # noqa: E731
    colours = ["tab:blue" if name.startswith("crush") else "tab:grey" for name in bars]
    drawn = method("barh")(list(bars), list(bars.values()), color=colours)
    method("bar_label")(drawn, labels=[f"{value:,.0f}" for value in bars.values()], padding=3)
    method("set")(xscale="log", xlabel="moves per second (log)", title="Random play, 9x9, 6 colours")
    method("margins")(x=0.25)
    method("invert_yaxis")()
