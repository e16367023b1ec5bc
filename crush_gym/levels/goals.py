"""Reading goals and spawns, and whether the level can ever supply what its goals ask (rulebook 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from crush_gym import layout
from crush_gym.levels.board import Board
from crush_gym.levels.cells import Cell
from crush_gym.levels.errors import Report, show
from crush_gym.levels.places import Places
from crush_gym.levels.tokens import MAX_COUNTER
from crush_gym.levels.values import read_number, read_object

ALL_JELLY = "all"
GOALS = ("score", "jelly", "cherry", "hazelnut", "orders")
SPAWN_LIMITS = ("quota", "on_board", "every")
NO_LIMIT = -1

_KINDS = {"cherry": layout.CHERRY, "hazelnut": layout.HAZELNUT, "swirl": layout.SWIRL}
_FROM_BOARD: dict[str, Callable[[Cell], bool]] = {
    "lock": lambda cell: cell.cover == "lock",
    "icing": lambda cell: cell.icing > 0,
}


@dataclass(frozen=True)
class Goals:
    """What a level asks for; 0 and False where it does not."""

    score: int = 0
    jelly: bool = False
    cherry: int = 0
    hazelnut: int = 0
    orders: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Spawn:
    """What the entries are told to spawn of one kind (rulebook 7)."""

    kind: str
    quota: int = NO_LIMIT
    on_board: int = NO_LIMIT
    every: int = 0
    counter: int = 0


def read_goals(report: Report, value: object, colours: int) -> Goals:
    """Read a level's goals; what is wrong is reported and left out."""
    goals = read_object(report, "goals", value, GOALS) or {}
    if "jelly" in goals and not (isinstance(goals["jelly"], str) and goals["jelly"] == ALL_JELLY):
        report.add(f'goals: jelly must be "{ALL_JELLY}", not {show(goals["jelly"])}')
    numbers = {name: goals[name] for name in ("score", "cherry", "hazelnut") if name in goals}
    counts = {name: read_number(report, f"goals: {name}", n, 1) or 0 for name, n in numbers.items()}
    orders = _read_orders(report, goals["orders"], colours) if "orders" in goals else {}
    return Goals(jelly="jelly" in goals, orders=orders, **counts)


def _read_orders(report: Report, value: object, colours: int) -> dict[str, int]:
    orders = read_object(report, "orders", value, layout.ORDERS) or {}
    for letter in layout.COLOUR_LETTERS[colours:]:
        if letter in orders:
            last = layout.COLOUR_LETTERS[colours - 1]
            report.add(f"orders: colour {letter}, but the level has {colours} colours: expected a to {last}")
    return {name: read_number(report, f"orders: {name}", n, 1) or 0 for name, n in orders.items()}


def read_spawns(report: Report, value: object) -> list[Spawn]:
    """Read what the entries spawn, in the listed order: the first kinds come first (rulebook 7)."""
    known = read_object(report, "spawn", value, layout.SPAWN_KINDS)
    if known is None or not isinstance(value, dict):
        return []
    return [_read_spawn(report, kind, value[kind]) for kind in value if kind in known]


def _read_spawn(report: Report, kind: str, value: object) -> Spawn:
    bomb = kind == "bomb"
    keys = (*SPAWN_LIMITS, "counter") if bomb else SPAWN_LIMITS
    limits = read_object(report, f"spawn: {kind}", value, keys, ("counter",) if bomb else ()) or {}
    read: dict[str, int] = {}
    for name, number in limits.items():
        least, most = (1, (MAX_COUNTER,)) if name == "counter" else (0, ())
        read[name] = read_number(report, f"spawn: {kind}: {name}", number, least, *most) or 0
    return Spawn(kind, **read)


@dataclass(frozen=True)
class Supply:
    """Everything that can ever be on a board."""

    board: Board
    places: Places
    spawns: list[Spawn]

    def spawned(self, kind: str) -> int | None:
        """Say how many of a kind can ever be spawned; None is no limit."""
        if not self.places.entries:
            return 0
        for spawn in self.spawns:
            if spawn.kind == kind:
                return 0 if spawn.on_board == 0 else spawn.quota if spawn.quota != NO_LIMIT else None
            if spawn.quota == NO_LIMIT == spawn.on_board and spawn.every == 0:
                return 0  # this kind is always due, so those listed behind it never come (rulebook 7)
        return 0


def check_supply(report: Report, goals: Goals, supply: Supply) -> None:
    """Refuse goals that the board and the quotas cannot supply (rulebook 2)."""
    board, orders = supply.board, goals.orders
    if goals.jelly and not board.count(lambda cell: cell.jelly > 0):
        report.add('goals: jelly "all", but there is no jelly on the board')
    for kind, asked in (("cherry", goals.cherry), ("hazelnut", goals.hazelnut)):
        if asked and not supply.places.exits:
            report.add(f"goals: {kind} needs exits: expected at least one cell in exits")
        _check_kind(report, "goals", kind, asked, supply)
    _check_kind(report, "orders", "swirl", orders.get("swirl", 0), supply)
    for name, wanted in _FROM_BOARD.items():
        held = board.count(wanted)
        if orders.get(name, 0) > held:
            report.add(f"orders: {name} asks for {orders[name]}, but the board holds {held}")
    if orders.get("chocolate") and not board.count(lambda cell: cell.chocolate):
        report.add("orders: chocolate is asked for, but the board holds none that could spread")


def _check_kind(report: Report, where: str, kind: str, asked: int, supply: Supply) -> None:
    """Check the number of a kind that lies on the board or is spawned."""
    spawned = supply.spawned(kind)
    held = supply.board.count(lambda cell: not cell.colour and cell.kind == _KINDS[kind]) if asked else 0
    if spawned is None or asked <= held + spawned:
        return
    report.add(
        f"{where}: {kind} asks for {asked}, but at most {held + spawned} can ever be there:"
        f" {held} on the board and {spawned} spawned"
    )
