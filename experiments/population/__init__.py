"""The synthetic population: players who stand for people where no people's results are there, and are no people.

Two families that have nothing in common but their traits: family A weighs moves that it imagines, family B follows a
list of habits. No agent of this distribution shares code with them, so that predicting them is no foregone conclusion.

people = draw("A", 500)
found = evaluate(people.agent, "tour", until_cleared=people.patience, traits=people.traits)
"""

from experiments.population.families import FAMILIES
from experiments.population.habit import Habit
from experiments.population.people import Makeup, People, Spread, draw
from experiments.population.traits import ABOUT, PERSONAS, Traits, of_persona
from experiments.population.weighing import Weighing

__all__ = [
    "ABOUT", "FAMILIES", "PERSONAS", "Habit", "Makeup", "People", "Spread", "Traits", "Weighing", "draw", "of_persona",
]  # fmt: skip
