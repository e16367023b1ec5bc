"""Welch's t test, as S. McAdams' study of match-three players writes it (equations 5 and 6)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from experiments.statistics.errors import Interval, sample
from experiments.statistics.student import t_quantile, two_sided_p


class Welch(NamedTuple):
    """difference: of the means, first minus second, with its interval; p: two-sided."""

    t: float
    dof: float
    p: float
    difference: Interval


def welch(first: Any, second: Any, confidence: float = 0.95) -> Welch:
    """Compare the means of two samples whose variances may differ; each needs two values.

    Where neither sample varies there is nothing to judge by: t is 0 for equal means and infinite for others.
    """
    a, b = sample(first, "the first sample", 2), sample(second, "the second sample", 2)
    parts = [float(values.var(ddof=1)) / values.size for values in (a, b)]
    difference, error = float(a.mean() - b.mean()), math.sqrt(sum(parts))
    if error == 0:
        t = math.copysign(math.inf, difference) if difference else 0.0
        dof = float(a.size + b.size - 2)
        return Welch(t, dof, two_sided_p(t, dof), Interval(difference, difference, difference))
    dof = sum(parts) ** 2 / (parts[0] ** 2 / (a.size - 1) + parts[1] ** 2 / (b.size - 1))
    half = t_quantile(confidence, dof) * error
    t = difference / error
    return Welch(t, dof, two_sided_p(t, dof), Interval(difference, difference - half, difference + half))
