"""Kinds of observation, all made from the planes of `Game.channels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from crush_gym.engine.spec import Spec
from crush_gym.runtime.observe import FULL, channels

__all__ = ["CHANNELS", "VIEWS", "king_channels", "space", "view"]

VIEWS = ("planes", "king", "cells", "rgb")
"""planes: everything, 0-255; king: only binary planes; cells: small integers by layer; rgb: the picture."""

CHANNELS = ("first", "last")
"""Where the planes, or the colours of pictures, are: pictures have theirs last anyway."""

COVERS = ("lock", "marmalade")
FORMS = ("striped-h", "striped-v", "wrapped", "colour bomb", "swirl", "cherry", "hazelnut")
TAGS = ("plus5", "drop")
LAYERS = {"form": FORMS, "tag": TAGS, "cover": COVERS}
"""Layers of `cells` in which a number says which of these planes the cell is in, 0 for none."""

MOST_COUNTER = 99
ICING_LAYERS = 5


def shares(spec: Spec) -> tuple[str, ...]:
    """The planes that hold one number for the whole board: what is left of moves or time and of each goal."""
    return tuple(
        name for name in channels(spec) if name == "left" or name.endswith(" goal") or name.startswith("order ")
    )


def view(spec: Spec, kind: str, planes: Any, xp: Any = np) -> Any:
    """An observation from planes uint8[..., channels, H, W]. xp: `numpy` or `jax.numpy`."""
    if kind == "king":
        return _king(spec, planes, xp)
    return _cells(spec, planes, xp) if kind == "cells" else planes


def space(spec: Spec, kind: str, order: str = "first") -> spaces.Space[Any]:
    """The space of one board's observations. order: where the planes are, of `CHANNELS`."""
    height, width = spec.height, spec.width
    if kind == "rgb":
        return spaces.Box(0, FULL, picture_shape(spec), np.uint8)
    if kind in ("planes", "king"):
        depth, most = (len(channels(spec)), FULL) if kind == "planes" else (len(king_channels(spec)), 1)
        shape = (depth, height, width) if order == "first" else (height, width, depth)
        return spaces.Box(0, most, shape, np.uint8)

    def layer(most: int) -> spaces.Space[Any]:
        return spaces.Box(0, most, (height, width), np.uint8)

    tops = {name: len(LAYERS[name]) for name in LAYERS}
    tops |= {"colour": spec.colours, "jelly": 2, "chocolate": 1, "icing": ICING_LAYERS, "counter": MOST_COUNTER}
    tops |= {"floor": 1, "legal": 1}
    layers: dict[str, spaces.Space[Any]] = {name: layer(most) for name, most in tops.items()}
    return spaces.Dict(layers | {"left": spaces.Box(0, FULL, (len(shares(spec)),), np.uint8)})


def picture_shape(spec: Spec) -> tuple[int, ...]:
    """Height, width and 3, of the largest board's picture."""
    from crush_gym import render

    return render.rgb([" ".join("_" * spec.width)] * spec.height).shape


def king_channels(spec: Spec) -> tuple[str, ...]:
    """Planes of 0 and 1: the items and the floor, icing by layers, what is unmet, legal cells, ones."""
    names = channels(spec)
    binary = tuple(n for n in names if n not in ("icing", "counter", "legal", "ones", *shares(spec)))
    icing = tuple(f"icing {n}" for n in range(1, ICING_LAYERS + 1)) if "icing" in names else ()
    bombs = ("candy bomb",) if "counter" in names else ()
    unmet = tuple(f"{name} unmet" for name in shares(spec) if name != "left")
    return (*binary, *icing, *bombs, *unmet, "legal", "ones")


def _king(spec: Spec, planes: Any, xp: Any) -> Any:
    names = channels(spec)

    def plane(name: str) -> Any:
        if name.startswith("icing "):
            return planes[..., names.index("icing"), :, :] // (FULL // ICING_LAYERS) == int(name.split()[1])
        known = {"candy bomb": "counter"}.get(name, name.removesuffix(" unmet"))
        return planes[..., names.index(known), :, :] > 0

    return xp.stack([plane(name) for name in king_channels(spec)], axis=-3).astype(xp.uint8)


def _cells(spec: Spec, planes: Any, xp: Any) -> dict[str, Any]:
    names = channels(spec)
    nothing = xp.zeros_like(planes[..., 0, :, :])

    def on(name: str) -> Any:
        return (planes[..., names.index(name), :, :] > 0).astype(xp.uint8) if name in names else nothing

    def number(name: str, most: int) -> Any:
        value = planes[..., names.index(name), :, :].astype(xp.int32) if name in names else nothing
        return ((value * most + FULL - 1) // FULL).astype(xp.uint8)

    def which(members: tuple[str, ...]) -> Any:
        return sum((on(name) * xp.uint8(i) for i, name in enumerate(members, start=1)), nothing)

    colours = tuple(name for name in names if name.startswith("colour ") and name != "colour bomb")
    return {name: which(members) for name, members in LAYERS.items()} | {
        "colour": which(colours),
        "jelly": on("jelly1") + on("jelly2"),
        "chocolate": on("chocolate"),
        "icing": number("icing", ICING_LAYERS),
        "counter": number("counter", MOST_COUNTER),
        "floor": on("floor"),
        "legal": on("legal"),
        "left": xp.stack([planes[..., names.index(name), 0, 0] for name in shares(spec)], axis=-1),
    }
