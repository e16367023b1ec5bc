"""Models as files: JSON that says everything, refused in one sentence where it is damaged."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.prediction.data import PredictionError, Recipe
from experiments.prediction.latent import Population
from experiments.prediction.model import Fitted, Model, Reach, Scales
from experiments.statistics import Array

FORMAT = 1
"""The version of the files' format."""

KIND = "crush_gym prediction"


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model, all of it or, where that fails, nothing."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(to_dict(model), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise PredictionError(f"the model {str(target)!r} cannot be written: {error.strerror or error}") from None


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model."""
    source = os.fspath(path)
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PredictionError(f"the model {source!r} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise PredictionError(f"{source!r} is no model: it is not JSON") from None
    try:
        return from_dict(found)
    except PredictionError as error:
        raise PredictionError(f"{source!r} is no model: {error}") from None


def to_dict(model: Model) -> dict[str, Any]:
    """A model for JSON."""
    population, scales, fitted = model.population, model.scales, model.fitted
    return {
        "kind": KIND, "format": FORMAT,
        "fitted": {**fitted._asdict(), "names": sorted(fitted.names), "rates": list(fitted.rates)},
        "recipe": model.recipe and {**model.recipe._asdict(), "weights": list(model.recipe.weights)},
        "agents": list(model.agents), "covariates": list(model.covariates), "groups": list(model.groups),
        "coefficients": model.coefficients.tolist(), "covariance": model.covariance.tolist(),
        "sigma": model.sigma, "log_error": model.log_error, "shrinkage": dict(model.shrinkage), "spread": model.spread,
        "population": {
            "mean": population.mean.tolist(), "covariance": population.covariance.tolist(), "levels": population.levels,
        },
        "scales": {name: getattr(scales, name).tolist() for name in ("centre", "scale", "low", "high")},
        "reach": {"inverse": model.reach.inverse.tolist(), "edge": model.reach.edge},
        "scores": list(model.scores), "other_people": model.other_people,
    }  # fmt: skip


def from_dict(found: Any) -> Model:
    """A model of what `to_dict` gave; refused in one sentence where it is something else."""
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise PredictionError(f"its kind is not {KIND!r}")
    if found.get("format") != FORMAT:
        raise PredictionError(f"its format is {found.get('format')!r}, and this version reads {FORMAT}")
    agents, covariates, groups = (_names(found, key) for key in ("agents", "covariates", "groups"))
    columns = len(agents) + len(covariates)
    if len(groups) != len(covariates):
        raise PredictionError("'groups' must name a group for each covariate")
    population, scales, reach, fitted = (_part(found, key) for key in ("population", "scales", "reach", "fitted"))
    shrinkage = _part(found, "shrinkage")
    scores = tuple(_array(found, "scores", None).tolist())
    if any(a > b for a, b in itertools.pairwise(scores)) or any(score < 0 for score in scores):
        raise PredictionError("'scores' must be numbers from 0 upwards in ascending order")
    return Model(
        agents, covariates, groups,
        Population(
            _array(population, "mean", (len(agents),)), _covariance(population, "covariance", len(agents)),
            _number(population, "levels", least=0.0),
        ),
        Scales(*(_array(scales, key, (columns,)) for key in ("centre", "scale", "low", "high"))),
        Reach(_covariance(reach, "inverse", columns), _number(reach, "edge", least=1e-9)),
        _array(found, "coefficients", (1 + columns,)), _covariance(found, "covariance", 1 + columns),
        _number(found, "sigma", least=1e-9), _number(found, "log_error", least=0.0),
        {key: _number(shrinkage, key, least=0.0) for key in shrinkage}, _number(found, "spread", least=0.0),
        Fitted(
            str(fitted.get("source", "")), int(_number(fitted, "levels", least=1.0)),
            int(_number(fitted, "attempts", least=1.0)), frozenset(_names(fitted, "names")),
            tuple(_array(fitted, "rates", None).tolist()),
        ),
        scores, _recipe(found, len(agents)), _number({"other_people": 0.0} | found, "other_people", least=0.0),
    )  # fmt: skip


def _recipe(found: Mapping[str, Any], agents: int) -> Recipe | None:
    """Where the columns come from."""
    if found.get("recipe") is None:
        return None
    recipe = _part(found, "recipe")
    weights = _names(recipe, "weights")
    if len(weights) != agents:
        raise PredictionError("'weights' must name one for each agent")
    return Recipe(int(_number(recipe, "attempts", least=1.0)), int(_number(recipe, "seed", least=0.0)), weights)


def _part(found: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = found.get(key)
    if not isinstance(part, dict):
        raise PredictionError(f"{key!r} must be an object")
    return part


def _names(found: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = found.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise PredictionError(f"{key!r} must be a list of names")
    return tuple(names)


def _number(found: Mapping[str, Any], key: str, least: float) -> float:
    value = found.get(key)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value) or value < least:
        raise PredictionError(f"{key!r} must be a number from {least:g} upwards")
    return float(value)


def _array(found: Mapping[str, Any], key: str, shape: tuple[int, ...] | None) -> Array:
    """Numbers of a shape, or a list of any length."""
    try:
        array = np.array(found.get(key), np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if shape is not None and array.size == 0 == math.prod(shape):
        array = array.reshape(shape)
    if (array.shape != shape if shape is not None else array.ndim != 1) or not np.isfinite(array).all():
        raise PredictionError(f"{key!r} must be numbers{'' if shape is None else f' of the shape {shape}'}")
    return array


def _covariance(found: Mapping[str, Any], key: str, size: int) -> Array:
    array = _array(found, key, (size, size))
    if size and (not np.allclose(array, array.T) or np.linalg.eigvalsh(array).min() < -1e-9 * np.abs(array).max()):
        raise PredictionError(f"{key!r} must be symmetric, and positive in all directions")
    return array
