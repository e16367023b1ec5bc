"""Recording moves of a tree search, searching hyper-parameters, and learning the table: each piece kept by itself."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from agents.attempts import PolicyError
from agents.learning.demonstrations import Demonstrations
from agents.learning.files import read
from agents.learning.networks import Architecture
from agents.learning.pairs import PairsError
from agents.registry import make
from crush_gym import load_pack
from experiments.recording import RecordingError, record
from experiments.results.assignment import tasks_of
from experiments.results.task import Task
from experiments.studies.king_networks.paper import BATCHES, BEST, LEFT_OUT, NETWORKS, RATES, Compared
from experiments.studies.setting import Setting, StudyError
from experiments.training.plan import Plan, PlanError
from experiments.training.run import BEST as WEIGHTS
from experiments.training.run import LAST, carried_out

FOLDER = "king-networks"

PACK = "ladder"
"""Whose levels are played, evenly spaced."""

CALL = 4096
"""Pairs of one call of the learner, at most."""


@dataclass(frozen=True)
class Sizes:
    """How much is done.

    levels, pairs: of the table, pairs of each level; simulations: of the search, for a move; epochs: over the pairs
    grid_levels, grid_epochs: of the search of hyper-parameters; without levels the paper's best values are taken, with
    batches of `batch` moves: where there are few moves, its 512 leave few steps to learn in
    """

    levels: int = 100
    pairs: int = 5500
    simulations: int = 200
    epochs: int = 5
    grid_levels: int = 20
    grid_epochs: int = 1
    batch: int = BEST[1]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:,}" for name, value in vars(self).items())


FULL = Sizes()
QUICK = Sizes(levels=2, pairs=220, simulations=10, epochs=1, grid_levels=0)


def sizes_of(setting: Setting) -> Sizes:
    """The sizes that are asked for; a `StudyError` where they cannot be."""
    sizes = dataclasses.replace(QUICK if setting.quick else FULL, **setting.sizes)
    most = len(load_pack(PACK))
    for name, least, greatest in (
        ("levels", 1, most), ("pairs", 110, 10**6), ("simulations", 1, 10**5), ("epochs", 1, 1000),
        ("grid_levels", 0, sizes.levels), ("grid_epochs", 1, 1000), ("batch", 1, 4096),
    ):  # fmt: skip
        if not least <= getattr(sizes, name) <= greatest:
            raise StudyError(f"{name} must be from {least:,} to {greatest:,}, not {getattr(sizes, name):,}")
    return sizes


class Chosen(NamedTuple):
    """Hyper-parameters. left_out: share of units, where a network leaves any out."""

    rate: float
    batch: int
    left_out: float = 0.5


class Learned(NamedTuple):
    """A network that has learned. top1: of moves kept back for validation, at its best; None: it broke down before.

    test: see `agents.learning.likeness`; weights: their number; minutes: until the last judgement
    """

    chosen: Chosen
    top1: float | None
    test: Mapping[str, float]
    weights: int
    minutes: float


@dataclass(frozen=True)
class Measured:
    """All of it. known: of the moves of validation and test, how many were looked at."""

    sizes: Sizes
    player: str
    pairs: int
    known: Mapping[str, int]
    grid: Mapping[Compared, tuple[Learned, ...]]
    table: Mapping[Compared, Learned]


def measured(setting: Setting) -> Measured:
    """Do what is not done yet."""
    sizes = sizes_of(setting)
    place = setting.folder / FOLDER / f"{sizes.levels}-{sizes.pairs}-{sizes.simulations}-seed-{setting.seed}"
    player = f"mcts:signal=partial,simulations={sizes.simulations}"
    try:
        pairs = _recorded(player, sizes, place / "moves", setting.seed)
        work = _Work(sizes, place, setting.seed, Demonstrations.open(place / "moves"))
        grid = {network: work.grid(network) for network in NETWORKS} if sizes.grid_levels else {}
        table = {network: work.learned(network, best_of(grid.get(network, ()), sizes.batch)) for network in NETWORKS}
    except (PairsError, RecordingError, PolicyError, PlanError) as error:
        raise StudyError(str(error)) from None
    most = work.judged
    known = {part: min(most, work.moves.number(part)) for part in ("validation", "test")}
    return Measured(sizes, player, pairs, known, grid, table)


def levels_of(number: int) -> list[Task]:
    """So many levels, evenly spaced, in an order whose first ones are evenly spaced, too."""
    tasks = tasks_of(PACK)
    places = np.linspace(0, len(tasks) - 1, number).round().astype(int)
    order = sorted(range(number), key=lambda n: f"{n:020b}"[::-1])
    return [tasks[places[n]] for n in order]


def best_of(tried: tuple[Learned, ...], batch: int = BEST[1]) -> Chosen:
    """The hyper-parameters that did best, of equal ones the first.

    batch: of the paper's rate, which is taken where none were tried or all failed
    """
    good = [each for each in tried if each.top1 is not None]
    return max(good, key=lambda each: each.top1 or 0.0).chosen if good else Chosen(BEST[0], batch)


def _recorded(player: str, sizes: Sizes, folder: Path, seed: int) -> int:
    """Let the search play; how many moves there are."""
    done, wanted = 0, sizes.levels * sizes.pairs

    def told(pairs: int) -> None:
        nonlocal done
        done += pairs
        print(f"{player}: {done:,} of {wanted:,} moves recorded", file=sys.stderr, flush=True)

    return record(make(player), levels_of(sizes.levels), sizes.pairs, folder, seed, told)


@dataclass(frozen=True)
class _Work:
    sizes: Sizes
    place: Path
    seed: int
    moves: Demonstrations

    judged = 16_384

    def grid(self, network: Compared) -> tuple[Learned, ...]:
        """Rates and sizes of batches, all with all; then, of the best, shares of units left out where there are any."""
        some = Demonstrations.open(self.moves.folder, self.sizes.grid_levels)
        epochs = self.sizes.grid_epochs
        tried = [Chosen(rate, batch) for rate in RATES for batch in BATCHES]
        found = [self._run(network, chosen, some, epochs, "grid") for chosen in tried]
        if network.drops:
            best = best_of(tuple(found))
            others = [best._replace(left_out=share) for share in LEFT_OUT if share != best.left_out]
            found += [self._run(network, chosen, some, epochs, "grid") for chosen in others]
        return tuple(found)

    def learned(self, network: Compared, chosen: Chosen) -> Learned:
        """One line of the table."""
        return self._run(network, chosen, self.moves, self.sizes.epochs, "table")

    def _run(self, network: Compared, chosen: Chosen, moves: Demonstrations, epochs: int, kind: str) -> Learned:
        pairs = moves.number("train")
        architecture = network.architecture
        if network.drops:
            architecture += f",dropout={chosen.left_out:g}"
        levels = {} if moves.levels == len(moves.about.levels) else {"levels": moves.levels}
        settings: dict[str, Any] = {
            "batch": chosen.batch, "rate": chosen.rate, "mirror": False, "recolour": False, "judged": self.judged,
            "updates": max(1, min(CALL, pairs) // chosen.batch), **levels,
        }  # fmt: skip
        plan = Plan(
            algorithm="imitation", pairs=str(moves.folder), network=architecture, steps=epochs * pairs, every=pairs,
            seed=self.seed, settings=settings,
        )  # fmt: skip
        name = f"{network.label}-{chosen.rate:g}-{chosen.batch}-{chosen.left_out:g}"
        folder = self.place / f"{kind}-{moves.levels}-{epochs}" / name
        print(f"{kind}: {name}, {epochs * pairs:,} moves", file=sys.stderr, flush=True)
        done = carried_out(plan, folder)
        test: Mapping[str, float] = {}
        minutes = float("nan")
        if done.best is not None:
            test = read(folder / WEIGHTS).about["test"]
            minutes = read(folder / LAST).about["minutes"]
        return Learned(chosen, done.best, test, _weights(architecture, moves), minutes)


def _weights(architecture: str, moves: Demonstrations) -> int:
    shape = jax.ShapeDtypeStruct((1, *moves.about.shape, len(moves.about.planes)), np.float32)  # type: ignore[no-untyped-call]
    made = jax.eval_shape(Architecture.parse(architecture).made().init, jax.random.key(0), shape)
    return int(sum(np.prod(x.shape) for x in jax.tree.leaves(made)))
