"""Student's t distribution."""

from __future__ import annotations

from scipy.special import betainc, stdtrit

from experiments.statistics.errors import StatisticsError, confident


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), the share of a beta distribution that lies below x."""
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        raise StatisticsError(f"I_x(a, b) needs a, b > 0 and x from 0 to 1, not a={a}, b={b}, x={x}")
    return float(betainc(a, b, x))


def two_sided_p(t: float, dof: float) -> float:
    """How often |t| would be at least this large by chance alone."""
    if not dof > 0:
        raise StatisticsError(f"degrees of freedom must be positive, not {dof}")
    return incomplete_beta(dof / 2, 0.5, dof / (dof + t * t))


def t_quantile(confidence: float, dof: float) -> float:
    """The t that |t| stays below with this confidence."""
    return float(stdtrit(dof, 0.5 + confident(confidence) / 2))
