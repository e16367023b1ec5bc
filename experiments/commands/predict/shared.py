"""What the parts of `crush-gym predict` share: levels, people, models, the cache of features, and how they fail."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crush_gym.cli import common
from crush_gym.cli.common import CommandError, UsageError
from crush_gym.cli.interrupts import interruptible
from experiments.commands.playing import AGENT_HELP, positive, tasks_named
from experiments.commands.terminal import players_print_to_stderr, quiet_xla

if TYPE_CHECKING:
    from experiments.features import Cache
    from experiments.people import Reading
    from experiments.prediction import Levels, Looked, Model, People
    from experiments.results.task import Task

AGENTS = ("clouded", "inattentive:share=0.5", "heuristic")
ATTEMPTS = 1000
COVARIATES = ("bend", "ingredients", "file:watch")
"""What a model is made of unless said."""

OTHER_PEOPLE = 0.15
"""Logits. Of two synthetic populations, one predicted by a model of the other was off by this much more, about."""

LEVELS_HELP = "PACK, PACK/LEVEL, FILE or FILE/LEVEL; may be given several times"
CACHE_HELP = (
    "where agents' attempts are kept, so that nothing is played twice: a file, or off (default: under the user's cache "
    "folder)"
)
PART = re.compile(r"([1-9]\d*)/([1-9]\d*)")
"""A part of the levels, such as 2/5: the second of five, dealt out at random with seed 0."""

PARTS_HELP = "K/N, the K-th of N random parts (always the same ones), or names, such as 'ladder 9*'"


WATCH = ":watch"


class Case(NamedTuple):
    """What a model is fitted or tested on: levels that people played. players: None where they are not known."""

    tasks: tuple[Task, ...]
    people: People
    players: int | None
    reading: Reading


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what the people are."""
    parser.add_argument(
        "--source",
        metavar="TEXT",
        help="what the people are, in words, for all that is said of them (default: the file)",
    )


def source_of(options: argparse.Namespace) -> str:
    """What the people are, in words."""
    return str(options.source or f"the people of {options.people.name}")


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Declare `--cache`."""
    parser.add_argument("--cache", metavar="FILE", help=CACHE_HELP)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Declare `--model` and `--cache`."""
    parser.add_argument(
        "--model", type=Path, metavar="FILE",
        help="what `predict fit` wrote (default: the model that ships, of synthetic players, which no people are)",
    )  # fmt: skip
    add_cache(parser)


def add_people(parser: argparse.ArgumentParser) -> None:
    """Declare a file of people's results, how it is read, and the levels that it is about."""
    parser.add_argument(
        "people", type=Path, metavar="PEOPLE",
        help="CSV, Parquet or SQLite as `crush-gym people` reads it: player_id, dt, level, num_attempts, num_success, "
        "or level, attempts, successes",
    )  # fmt: skip
    parser.add_argument("--levels", action="append", required=True, metavar="LEVELS", help=LEVELS_HELP)
    parser.add_argument("--table", metavar="NAME", help="of a database, where several tables have the columns")
    parser.add_argument(
        "--without-replays", action="store_true", help="leave out what players did on a level after they had won it"
    )


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Declare what a model is made of."""
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT", default=list(AGENTS),
        help=f"{AGENT_HELP} (default: {' '.join(AGENTS)})",
    )  # fmt: skip
    parser.add_argument(
        "--attempts",
        type=positive,
        metavar="N",
        default=ATTEMPTS,
        help="of each agent at each level, a multiple of 100 (default: %(default)s)",
    )
    parser.add_argument(
        "--covariates", nargs="*", metavar="GROUP", default=list(COVARIATES),
        help="what else levels are judged by: bend (the square of agents' logit), ingredients (whether they are "
        "asked for), curve (success with fewer and more moves), scores, goals, board, file; "
        f"file:watch only tells which levels are unlike the others (default: {' '.join(COVARIATES)})",
    )  # fmt: skip
    parser.add_argument(
        "--other-people", type=_deviation, metavar="SD", default=OTHER_PEOPLE,
        help="by which people who will play are taken to differ, level by level, from those of the results: a standard "
        "deviation in logits, by which bands are wider; 0 for the same people (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=common.seed, default=0, help="of agents' attempts and of draws (default: 0)")
    add_cache(parser)


def _deviation(text: str) -> float:
    """Read a standard deviation."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 10:
        raise argparse.ArgumentTypeError(f"expected a standard deviation in logits, such as 0.2, not {text!r}")
    return value


def add_parts(parser: argparse.ArgumentParser) -> None:
    """Declare which of the levels are meant."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", metavar="PART", help=f"only these levels: {PARTS_HELP}")
    which.add_argument("--without", nargs="+", metavar="PART", help=f"all levels but these: {PARTS_HELP}")


@contextlib.contextmanager
def working(options: argparse.Namespace) -> Iterator[None]:
    """Within, agents play: what they print goes to stderr, Ctrl-C ends it, and what fails is told in a sentence."""
    from experiments.features import CacheError, FeatureError
    from experiments.people import PeopleError
    from experiments.prediction import PredictionError

    quiet_xla()
    kept = "what was played is in the cache: the same command goes on from there"
    with interruptible(lambda: "nothing was kept" if options.cache == "off" else kept):
        try:
            with players_print_to_stderr():
                yield
        except (CacheError, FeatureError, PeopleError, PredictionError) as error:
            raise CommandError(str(error)) from None


def cache_of(options: argparse.Namespace) -> Cache:
    """Where attempts are kept."""
    from experiments.features import Cache, usual_place

    if options.cache == "off":
        return Cache(None)
    return Cache(usual_place() if options.cache is None else options.cache)


def model_of(options: argparse.Namespace) -> Model:
    """The model that is meant; it is always said which one that is."""
    from experiments.prediction import load, reference

    return reference() if options.model is None else load(options.model)


def tasks_of(levels: Sequence[str]) -> tuple[Task, ...]:
    """The levels that are meant, which must have names that tell them apart."""
    tasks = tasks_named(levels).tasks
    names = [task.name for task in tasks]
    double = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if double is not None:
        raise UsageError(f"two of the levels are called {double!r}: give each a name of its own")
    return tasks


def chosen(names: Sequence[str], options: argparse.Namespace) -> list[int]:
    """The places of the levels that `--only` and `--without` leave."""
    wanted, unwanted = (_named(names, parts) for parts in (options.only, options.without))
    places = [n for n in range(len(names)) if (not options.only or n in wanted) and n not in unwanted]
    if not places:
        raise UsageError("no level is left: see --only and --without")
    return places


def _named(names: Sequence[str], parts: Sequence[str] | None) -> set[int]:
    """The places of the levels in any of these parts."""
    from experiments.prediction import PredictionError, random_folds

    found: set[int] = set()
    for part in parts or ():
        if match := PART.fullmatch(part):
            number, count = map(int, match.groups())
            try:
                folds = random_folds(len(names), count)
            except PredictionError as error:
                raise UsageError(str(error)) from None
            if number > count:
                raise UsageError(f"there is no part {number} of {count}")
            some = set(folds[number - 1].tolist())
        else:
            some = {n for n, name in enumerate(names) if fnmatchcase(name, part)}
        if not some:
            raise UsageError(f"no level is called {part!r}")
        found |= some
    return found


def case_of(options: argparse.Namespace) -> Case:
    """The levels that are meant and have people."""
    from experiments.people import Log
    from experiments.prediction import people_of

    tasks = tasks_of(options.levels)
    kept = chosen([task.name for task in tasks], options)
    reading = read_people(options.people, tasks, options)
    people = people_of(reading.people)
    some = [n for n in kept if people.attempts[n] > 0]
    if not some:
        raise CommandError(f"{str(options.people)!r} has nobody on these levels")
    names = [tasks[n].name for n in some]
    players = len(set(reading.people.of(names).player.tolist())) if isinstance(reading.people, Log) else None
    return Case(tuple(tasks[n] for n in some), people.at(some), players, reading)


def read_people(path: Path, tasks: Sequence[Task], options: argparse.Namespace) -> Reading:
    """People's results on these levels, in their order."""
    from experiments.people import Log, read

    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}")
    reading = read(path, [task.name for task in tasks], table=options.table)
    if not options.without_replays:
        return reading
    if not isinstance(reading.people, Log):
        raise UsageError("--without-replays needs results player by player, not totals of levels")
    return reading._replace(people=reading.people.without_replays())


def table(options: argparse.Namespace, tasks: Sequence[Task], start: Model | None = None) -> Levels:
    """The levels as a model sees them, played by the agents that are meant, or by those of the model to start from."""
    from experiments.features import gather
    from experiments.prediction import groups_of, table_of

    agents: Sequence[str] = options.agents
    attempts, seed = options.attempts, options.seed
    groups: Sequence[str] = [group.removesuffix(WATCH) for group in options.covariates]
    if start is not None and start.recipe is not None:
        agents, groups, attempts, seed = start.agents, groups_of(start), start.recipe.attempts, start.recipe.seed
    with cache_of(options) as cache:
        return table_of(gather(agents, tasks, attempts, seed, cache), groups)


def watched(options: argparse.Namespace) -> list[str]:
    """The groups of covariates that predict nothing."""
    return [group.removesuffix(WATCH) for group in options.covariates if group.endswith(WATCH)]


def about(model: Model) -> dict[str, Any]:
    """What a model is, for programs."""
    from experiments.prediction import is_reference

    return {
        "source": model.fitted.source, "synthetic": is_reference(model), "levels": model.fitted.levels,
        "attempts": model.fitted.attempts, "agents": list(model.agents),
        "attempts_of_agents": model.recipe.attempts if model.recipe else None, "calibrated": bool(model.scores),
    }  # fmt: skip


def as_json(looked: Looked, n: int) -> dict[str, Any]:
    """What is said of a level, for programs: `success` is the median, `low` and `high` the true rate's 95 % band."""
    from experiments.prediction.sentences import movers, unusual

    said, band = looked.prediction, looked.prediction.band()
    return {
        "level": said.names[n], "success": round(float(said.median[n]), 5), "mean": round(float(said.mean[n]), 5),
        "low": round(float(band.low[n]), 5), "high": round(float(band.high[n]), 5),
        "unusual": " ".join(unusual(looked, n)), "movers": {name: round(value, 4) for name, value in movers(looked, n)},
        "model": about(looked.model),
    }  # fmt: skip


def command(*words: Any) -> str:
    """A command as it is typed."""
    return shlex.join(["crush-gym", "predict", *(str(word) for word in words)])


def told(model: Model) -> str:
    """What a model is, in a sentence for people."""
    levels = f"{model.fitted.levels:,} levels"
    return f"By a model of {model.fitted.source}, fitted on {levels} and {model.fitted.attempts:,} attempts."
