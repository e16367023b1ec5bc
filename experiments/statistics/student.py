"""Student's t distribution, by the regularised incomplete beta function."""

from __future__ import annotations

import math

from experiments.statistics.errors import StatisticsError, confident

TERMS = 100_000
"""The continued fraction converges within about sqrt(max(a, b)) terms."""

TINY = 1e-300


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), the share of a beta distribution that lies below x."""
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        raise StatisticsError(f"I_x(a, b) needs a, b > 0 and x from 0 to 1, not a={a}, b={b}, x={x}")
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(scale) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b), by Lentz' method."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _away(1 + term * d), _away(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            return value
    raise StatisticsError(f"I_x(a, b) did not converge for a={a}, b={b}, x={x}")


def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY


def two_sided_p(t: float, dof: float) -> float:
    """How often |t| would be at least this large by chance alone."""
    if not dof > 0:
        raise StatisticsError(f"degrees of freedom must be positive, not {dof}")
    if math.isinf(t):
        return 0.0
    return incomplete_beta(dof / 2, 0.5, dof / (dof + t * t))


def t_quantile(confidence: float, dof: float) -> float:
    """The t that |t| stays below with this confidence."""
    tail = 1 - confident(confidence)
    low, high = 0.0, 1.0
    while two_sided_p(high, dof) > tail:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, dof) > tail else (low, middle)
    return (low + high) / 2
