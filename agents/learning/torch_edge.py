"""The network `edge` of `agents.learning.networks` in PyTorch, for the learners of Stable-Baselines3.

It has the same layers under the same names, so its weights are those of the other one in another order of axes:
`weights_of` and `put` lead there and back without a rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from agents.learning.networks import Architecture
from crush_gym.swaps import number_of_actions

__all__ = ["PLANES", "Columns", "Edge", "edge_kwargs", "put", "weights_of"]

PLANES = "planes"
"""Name of the planes where observations have other parts, too."""

VALUE_UNITS = 64

Of = Callable[[nn.Parameter], torch.Tensor]
"""Something that has the shape of a parameter: itself, its moments."""


def itself(parameter: nn.Parameter) -> torch.Tensor:
    """The parameter."""
    return parameter.data


class Edge(BaseFeaturesExtractor):
    """See `agents.learning.networks.Edge`. To Stable-Baselines3 all of it is a features extractor.

    What it gives is float[B, actions + 1]: the logits, and in the last column the value.
    """

    def __init__(self, space: spaces.Space[Any], filters: int = 32, layers: int = 3, hidden: int = 16) -> None:
        planes = space[PLANES] if isinstance(space, spaces.Dict) else space
        assert planes.shape is not None
        channels, height, width = planes.shape
        super().__init__(space, number_of_actions((height, width)) + 1)
        seen, self.layers = channels, layers
        for n in range(layers):
            self.add_module(f"conv{n}", nn.Conv2d(seen, filters, 3, padding=1))
            seen = filters
        whole = seen + channels
        self.edges = nn.ModuleDict(
            {
                "cells": nn.Conv2d(whole, 4 * hidden, 1),
                "across": nn.Conv2d(hidden, 1, 1),
                "down": nn.Conv2d(hidden, 1, 1),
            }
        )
        self.value = nn.ModuleDict({"hidden": nn.Linear(2 * whole, VALUE_UNITS), "value": nn.Linear(VALUE_UNITS, 1)})

    def forward(self, seen: Any) -> torch.Tensor:
        """Planes of 0 to 255, float[B, C, H, W], or a dict that has them -> float[B, actions + 1]."""
        x = (seen[PLANES] if isinstance(seen, dict) else seen) / 255.0
        y = x
        for n in range(self.layers):
            y = torch.relu(self.get_submodule(f"conv{n}")(y))
        y = torch.cat([y, x], dim=1)
        return torch.cat([*self._edges(y), self._value(y)], dim=1)

    def _edges(self, y: torch.Tensor) -> list[torch.Tensor]:
        """The logits of pairs within rows, and of those within columns."""
        left, right, upper, lower = self.edges["cells"](y).chunk(4, dim=1)
        across = torch.relu(left[:, :, :, :-1] + right[:, :, :, 1:])
        down = torch.relu(upper[:, :, :-1] + lower[:, :, 1:])
        return [self.edges["across"](across).flatten(1), self.edges["down"](down).flatten(1)]

    def _value(self, y: torch.Tensor) -> torch.Tensor:
        pooled = torch.cat([y.mean(dim=(2, 3)), y.amax(dim=(2, 3))], dim=1)
        value: torch.Tensor = self.value["value"](torch.relu(self.value["hidden"](pooled)))
        return value


class Columns(nn.Module):
    """Some of the columns of what `Edge` gives, in the place of a layer."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__()
        self.first, self.last = first, last

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """float[B, columns] -> float[B, last - first]."""
        return features[:, self.first : self.last]


def edge_kwargs(architecture: Architecture) -> dict[str, Any]:
    """What a policy of Stable-Baselines3 is made with: this network, and nothing before or after it."""
    return {
        "features_extractor_class": Edge,
        "features_extractor_kwargs": dict(architecture.arguments),
        "net_arch": [],
        "normalize_images": False,
    }


def weights_of(network: Edge, of: Of = itself) -> dict[str, Any]:
    """Weights, or whatever else parameters have, as the network in Flax has them; copies, on the host."""
    tree: dict[str, Any] = {}
    for name, parameter in network.named_parameters():
        *home, kind = name.split(".")
        place = tree
        for part in home:
            place = place.setdefault(part, {})
        place["kernel" if kind == "weight" else kind] = _to_flax(of(parameter).detach().cpu().numpy())
    return {"params": tree}


def put(tree: Any, network: Edge, of: Of = itself) -> None:
    """Give a network, or whatever else its parameters have, what `weights_of` gave."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            *home, kind = name.split(".")
            leaf = tree["params"]
            for part in (*home, "kernel" if kind == "weight" else kind):
                leaf = leaf[part]
            of(parameter).copy_(torch.from_numpy(_to_torch(np.asarray(leaf), tuple(parameter.shape))))


def _to_flax(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Kernels end in what goes in and what comes out; those of one cell are no convolutions there."""
    if array.ndim == 4 and array.shape[2:] != (1, 1):
        array = array.transpose(2, 3, 1, 0)
    elif array.ndim > 1:
        array = array.reshape(array.shape[:2]).T
    return np.array(array, order="C")


def _to_torch(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if array.ndim == 4:
        array = array.transpose(3, 2, 0, 1)
    elif array.ndim == 2:
        array = array.T
    return np.array(array.reshape(shape), order="C")
