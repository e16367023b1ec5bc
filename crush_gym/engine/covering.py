"""The spec of a game for levels that nobody knows yet: their sizes and mechanics are said instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from crush_gym import layout
from crush_gym.engine.mechanics import ALL
from crush_gym.engine.plan import SPECIALS, plan, planes_of
from crush_gym.engine.spec import CAPACITIES, Spec
from crush_gym.levels import Level
from crush_gym.levels.values import did_you_mean

BOMBS = frozenset({"candy bomb", "fresh bomb"})

NAMES: dict[str, frozenset[str]] = {
    **{mechanic.name: frozenset({mechanic.name}) for mechanic in ALL},
    **{bomb: BOMBS for bomb in BOMBS},
    "bombs": BOMBS,
    "dry": frozenset({"dry"}),
    "drops": frozenset({"drop"}),
    "ingredients": frozenset({"ingredient"}),
    "locks": frozenset({"lock"}),
    "portals": frozenset(),
    "sideways": frozenset({"sideways"}),
    "specials": frozenset(SPECIALS["saga"]),
    "swirls": frozenset({"swirl"}),
    "timed": frozenset({"plus5"}),
}
"""What `mechanics` can name, and what that compiles in: mechanics, and features by the names that `generate` has."""

SPAWNED_BY = {"ingredient": 2, "swirl": 1, "fresh bomb": 1, "plus5": 1, "drop": 1}
"""How many kinds that an entry can be told to spawn each mechanic brings."""

BLOCKERS = ("swirl", "icing", "chocolate", "lock")
"""Orders that only levels with the mechanic of this name can ask for."""

PORTALS = {"portals": 16, "portal_layers": 2, "portal_hops": 2}
"""Room for portals where they are named and nothing else is said: four layers and hops compile a third longer."""


def covering(
    shape: tuple[int, int],
    colours: int,
    mechanics: str | Iterable[str],
    rules: str,
    adjacency: str,
    orders: str | Iterable[str],
    capacities: dict[str, int | None],
    levels: Sequence[Level],
) -> Spec:
    """The spec under which every level of these sizes and mechanics can be played, and each of these levels.

    capacities: by their names in `CAPACITIES`; None: as many as the mechanics can need, and of portals `PORTALS`
    """
    named = _named("mechanics", mechanics, tuple(NAMES))
    # Any floor is among the levels of a size, and most of them leave holes.
    wanted = frozenset({"sideways", *SPECIALS[rules]}).union(*(NAMES[name] for name in named))
    usual = {"spawn_kinds": sum(SPAWNED_BY.get(name, 0) for name in wanted), "entry_layers": 3}
    usual |= PORTALS if "portals" in named or capacities["portals"] else dict.fromkeys(PORTALS, 0)
    spec = Spec(
        height=shape[0],
        width=shape[1],
        colours=_whole("colours", colours, 2, layout.MAX_COLOURS),
        rules=rules,
        adjacency=adjacency,
        mechanics=wanted,
        planes=planes_of(wanted),
        orders=_orders(orders, colours, wanted),
        **_capacities(capacities, usual),
    )
    return union(spec, plan(levels, rules, adjacency)) if levels else spec


def union(one: Spec, other: Spec) -> Spec:
    """The spec of a game that plays what is played under either; both of one rule set."""
    mechanics = one.mechanics | other.mechanics
    most = {name: max(getattr(one, name), getattr(other, name)) for name in ("height", "width", "colours", *CAPACITIES)}
    orders = tuple(name for name in layout.ORDERS if name in (*one.orders, *other.orders))
    return dataclasses.replace(one, mechanics=mechanics, planes=planes_of(mechanics), orders=orders, **most)


def _orders(orders: str | Iterable[str], colours: int, mechanics: frozenset[str]) -> tuple[str, ...]:
    """All that levels of these mechanics can ask for, or those that are named."""
    never = {*layout.COLOUR_LETTERS[colours:], *(name for name in BLOCKERS if name not in mechanics)}
    named = _named("orders", orders, layout.ORDERS)
    return tuple(name for name in layout.ORDERS if name in named and (orders != "all" or name not in never))


def _named(what: str, names: str | Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """The names, each of which must be known; of "all", all of them."""
    if isinstance(names, str):
        if names != "all":
            raise ValueError(f'{what} must be "all" or a list of names such as [{known[0]!r}], not {names!r}')
        return tuple(known)
    given = tuple(names)
    for name in given:
        if name not in known:
            guess = did_you_mean(name, known) or f"; known are {', '.join(sorted(known))}"
            raise ValueError(f"{what} has no {name!r}{guess}")
    return given


MOST = {
    "spawn_kinds": len(layout.SPAWN_KINDS),
    "entry_layers": layout.MAX_SIDE,
    **dict.fromkeys(PORTALS, layout.MAX_PORTALS),
}


def _capacities(given: dict[str, int | None], usual: dict[str, int]) -> dict[str, int]:
    """What is given, else what is usual; of layers and hops there are never more than portals."""
    found = {
        name: usual[name] if (value := given[name]) is None else _whole(name, value, name == "entry_layers", MOST[name])
        for name in CAPACITIES
    }
    return {name: min(found["portals"], value) if name in PORTALS else value for name, value in found.items()}


def _whole(what: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ValueError(f"{what} must be a whole number from {int(least)} to {most}, not {value!r}")
    return int(value)
