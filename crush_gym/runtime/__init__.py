"""How the game's programs run: compiled, cut up, spread over cores and joined. What is played stands in `engine`.

The names in `__all__` are what players that search on the engine itself are written on; see `agents/search`. They
follow the engine from version to version, unlike what `crush_gym` itself offers.
"""

from crush_gym import sizes
from crush_gym.engine import randomness
from crush_gym.engine.bits import Plane, Word, any_of, count, first_cell, look, neighbours, occurs, rows_of, total
from crush_gym.engine.board import Board, coloured
from crush_gym.engine.combos import which
from crush_gym.engine.moves import Moves, from_action, legal_moves, number, swap, to_mask
from crush_gym.engine.progress import progress
from crush_gym.engine.runs import find_runs, same_colour
from crush_gym.engine.spec import Spec
from crush_gym.engine.state import OVER, PLAYING, RESTING, WON, Books, Play, rest
from crush_gym.engine.terrain import Terrain, survey, with_boards_axis
from crush_gym.engine.turn import beat, begin
from crush_gym.runtime import kept
from crush_gym.runtime.chunks import Part, in_chunks, in_chunks_by_parts
from crush_gym.runtime.devices import cut, even, split_over, whole
from crush_gym.runtime.lockstep import in_turn, legal, state_of, step
from crush_gym.runtime.parts import in_parts, of_indices
from crush_gym.runtime.ranks import LEVEL_RANKS, STATE_RANKS, boards_of_state
from crush_gym.runtime.rollout import Mind, Player, at_random, at_rest, by_player, goes_on, move_on, repeated, rolling
from crush_gym.runtime.subset import shuffle_all
from crush_gym.runtime.threads import cores, run_all
from crush_gym.runtime.vmap import flat_boards, lanes_for
from crush_gym.runtime.xla import Options, options_for

__all__ = [
    "LEVEL_RANKS", "OVER", "PLAYING", "RESTING", "STATE_RANKS", "WON", "Board", "Books", "Mind", "Moves", "Options",
    "Part", "Plane", "Play", "Player", "Spec", "Terrain", "Word", "any_of", "at_random", "at_rest", "beat", "begin",
    "boards_of_state", "by_player", "coloured", "cores", "count", "cut", "even", "find_runs", "first_cell",
    "flat_boards", "from_action", "goes_on", "in_chunks", "in_chunks_by_parts", "in_parts", "in_turn", "kept",
    "lanes_for", "legal", "legal_moves", "look", "move_on", "neighbours", "number", "occurs", "of_indices",
    "options_for", "progress", "randomness", "repeated", "rest", "rolling", "rows_of", "run_all", "same_colour",
    "shuffle_all", "sizes", "split_over", "state_of", "step", "survey", "swap", "to_mask", "total", "which", "whole",
    "with_boards_axis",
]  # fmt: skip
