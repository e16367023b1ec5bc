"""What a store of results says about its players: the leaderboard of all, and the comparison of two."""

from experiments.ranking.comparison import Comparison, LevelDifference, compare
from experiments.ranking.field import Field, Played, PlayedTask, RankingError, field_of
from experiments.ranking.leaderboard import Leaderboard, Standing, rank
from experiments.ranking.yardstick import Yardstick, yardsticks

__all__ = [
    "Comparison", "Field", "Leaderboard", "LevelDifference", "Played", "PlayedTask", "RankingError", "Standing",
    "Yardstick", "compare", "field_of", "rank", "yardsticks",
]  # fmt: skip
