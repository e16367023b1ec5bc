"""What agents' attempts, and level files, say of levels: success under any limit of moves, scores, goals, moves.

found = gather(["random", "clouded"], tasks_of("ladder"), 1000, cache=usual_place())
levels = table_of(found)                   # `experiments.prediction.Levels`
"""

from experiments.features.cache import Cache, CacheError, Player, usual_place
from experiments.features.gathering import FeatureError, Gathered, gather
from experiments.features.records import BLOCK, Record

__all__ = ["BLOCK", "Cache", "CacheError", "FeatureError", "Gathered", "Player", "Record", "gather", "usual_place"]
