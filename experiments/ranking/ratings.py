"""How hard single levels are: each player's results on each level, for whoever makes levels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.results.row import Row, without_goals
from experiments.statistics import Interval, rate


@dataclass(frozen=True)
class Rating:
    """One player on one level.

    label: what tells the level apart; success: with Wilson's interval, None on a level that nobody can win
    score: mean; moves_left: mean over the attempts that were won, None without such and on timed levels
    """

    label: str
    identity: str
    agent: str
    attempts: int
    won: int
    success: Interval | None
    score: float
    moves_left: float | None


def ratings(rows: Iterable[Row], labels: Mapping[str, str]) -> tuple[Rating, ...]:
    """All players on all levels, by level in the order of the labels, then by player in that of the rows.

    Args:
        rows: of attempts at these levels.
        labels: of the levels by their identities, see `experiments.results.labels`.
    """
    known = list(rows)
    endless = without_goals(known)
    table: dict[str, dict[str, list[Row]]] = {identity: defaultdict(list) for identity in labels}
    for row in known:
        table[row.task][row.agent].append(row)
    return tuple(
        _rating(labels[identity], found, identity not in endless)
        for identity, players in table.items()
        for found in players.values()
    )


def _rating(label: str, rows: list[Row], goal: bool) -> Rating:
    won = [row for row in rows if row.won]
    left = [row.moves_left for row in won if row.moves_left >= 0]
    success = rate(len(won), len(rows)) if goal else None
    score = sum(row.score for row in rows) / len(rows)
    spare = sum(left) / len(left) if left else None
    return Rating(label, rows[0].task, rows[0].agent, len(rows), len(won), success, score, spare)
