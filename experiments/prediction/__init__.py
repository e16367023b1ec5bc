"""Predicts people's success on levels from agents' results on them and from what else is known of them.

model = fit(levels, people, source="people.csv")           # levels: `Levels`, people: `People`
said = predict(model, others)
said.median, said.mean, said.band(), said.far              # the true rate
said.observed(attempts=240, players=100).band()            # a rate that is yet to be observed
measure(held_out(levels, people, random_folds(len(levels))), people)
"""

from experiments.prediction.data import Levels, People, PredictionError
from experiments.prediction.files import load, save
from experiments.prediction.fitting import Moved, fit, moved
from experiments.prediction.measures import Forecast, Measured, Third, forecast, join, kappa, measure, noise_floor
from experiments.prediction.model import Fitted, Model
from experiments.prediction.predicting import Band, Observed, Prediction, predict
from experiments.prediction.regression import Fit, Problem, regress
from experiments.prediction.validation import calibrated, folds_by, forecast_of, held_out, random_folds, simpler

__all__ = [
    "Band", "Fit", "Fitted", "Forecast", "Levels", "Measured", "Model", "Moved", "Observed", "People", "Prediction",
    "PredictionError", "Problem", "Third", "calibrated", "fit", "folds_by", "forecast", "forecast_of", "held_out",
    "join", "kappa", "load", "measure", "moved", "noise_floor", "predict", "random_folds", "regress", "save", "simpler",
]  # fmt: skip
