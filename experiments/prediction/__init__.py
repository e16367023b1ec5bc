"""Predicts people's success on levels from agents' results on them and from what else is known of them.

model = fit(levels, people, source="people.csv")           # levels: `Levels`, people: `People`
said = predict(model, others)
said.median, said.mean, said.band(), said.far              # the true rate
said.observed(attempts=240, players=100).band()            # a rate that is yet to be observed
measure(held_out(levels, people, random_folds(len(levels))), people)
"""

from experiments.prediction.data import Levels, People, PredictionError, Recipe
from experiments.prediction.files import load, save
from experiments.prediction.fitting import Moved, fit, moved
from experiments.prediction.looking import (
    Comparison,
    Looked,
    Under,
    compare,
    groups_of,
    is_reference,
    look,
    people_of,
    reference,
)
from experiments.prediction.measures import (
    Calibrated,
    Forecast,
    Measured,
    Third,
    calibration,
    forecast,
    join,
    kappa,
    measure,
    noise_floor,
)
from experiments.prediction.model import Fitted, Model
from experiments.prediction.ordering import Ordered, Tuned, generate_to, tune_to
from experiments.prediction.predicting import Band, Observed, Prediction, predict
from experiments.prediction.regression import Fit, Problem, regress
from experiments.prediction.table import table_of
from experiments.prediction.testing import Entrant, Split, Tested, examine, split_of
from experiments.prediction.validation import calibrated, folds_by, forecast_of, held_out, random_folds, simpler

__all__ = [
    "Band", "Calibrated", "Comparison", "Entrant", "Fit", "Fitted", "Forecast", "Levels", "Looked", "Measured",
    "Model", "Moved", "Observed", "Ordered", "People", "Prediction", "PredictionError", "Problem", "Recipe",
    "Split", "Tested", "Third", "Tuned", "Under", "calibrated", "calibration", "compare", "examine", "fit",
    "folds_by", "forecast", "forecast_of", "generate_to", "groups_of", "held_out", "is_reference", "join", "kappa",
    "load", "look", "measure", "moved", "noise_floor", "people_of", "predict", "random_folds", "reference",
    "regress", "save", "simpler", "split_of", "table_of", "tune_to",
]  # fmt: skip
