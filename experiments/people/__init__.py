"""People's results: files of them, what they say level by level, how much players differ.

found = read("people.csv", levels=pack.names)     # found.problems: what was wrong with the file
for level in level_results(found.people, seed=0):
    print(level.name, level.rate, level.design_effect, level.to_clear)
print(crossed(found.people).player)               # SD of players, on the logit scale
"""

from experiments.people.crossed import Crossed, crossed
from experiments.people.data import Counts, Log, Totals, log_of
from experiments.people.errors import PeopleError, Problem
from experiments.people.levels import LevelResult, level_results, spread_of_players
from experiments.people.reading import Reading, read
from experiments.people.summary import Summary, summarise

__all__ = [
    "Counts", "Crossed", "LevelResult", "Log", "PeopleError", "Problem", "Reading", "Summary", "Totals", "crossed",
    "level_results", "log_of", "read", "spread_of_players", "summarise",
]  # fmt: skip
