"""What results tell: rates, aggregates over levels, bootstrap intervals, comparisons. Pure functions on NumPy arrays.

`strata` are one array of values per level, one value per attempt; they may differ in length.
"""

from experiments.statistics.aggregates import iqm, mean, normalised, optimality_gap
from experiments.statistics.agreement import Agreement, accumulated, adjusted_delta, agreement, delta, trend
from experiments.statistics.bootstrap import bootstrap, interval_of, resampled_means
from experiments.statistics.clusters import Pooled, design_effect, pooled, pooled_interval, spread_of
from experiments.statistics.distributions import Features, features, histogram, quartiles, top_mean
from experiments.statistics.errors import Array, Interval, StatisticsError
from experiments.statistics.forecasts import crps, pit, winkler
from experiments.statistics.improvement import improvement, probability_of_improvement
from experiments.statistics.paired import paired_difference, paired_rate_difference
from experiments.statistics.profiles import profile, profile_band
from experiments.statistics.rates import mean_interval, rate, rate_difference
from experiments.statistics.student import incomplete_beta, t_quantile, two_sided_p
from experiments.statistics.welch import Welch, welch

__all__ = [
    "Agreement", "Array", "Features", "Interval", "Pooled", "StatisticsError", "Welch", "accumulated",
    "adjusted_delta", "agreement", "bootstrap", "crps", "delta", "design_effect", "features", "histogram",
    "improvement", "incomplete_beta", "interval_of", "iqm", "mean", "mean_interval", "normalised", "optimality_gap",
    "paired_difference", "paired_rate_difference", "pit", "pooled", "pooled_interval", "probability_of_improvement",
    "profile", "profile_band", "quartiles", "rate", "rate_difference", "resampled_means", "spread_of", "t_quantile",
    "top_mean", "trend", "two_sided_p", "welch", "winkler",
]  # fmt: skip
