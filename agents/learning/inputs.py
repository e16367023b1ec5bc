"""What a network is shown of a board: planes of the game by their names, and what each move brings by itself.

The planes are those of `Game.channels`. They are chosen by name, so that a network plays games which have them in
another order, or some of them not at all. The gains are those of `Game.preview`: exact until a new candy would be
needed, at some tens of turns' cost, and no network has to learn to play cascades in its head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from crush_gym import Game, Level, State
from crush_gym.envs.views import king_channels, view
from crush_gym.policies import planes, preview
from crush_gym.swaps import number_of_actions

__all__ = [
    "GAINS",
    "Inputs",
    "Symmetry",
    "Trait",
    "View",
    "any_symmetry",
    "gains_of",
    "inputs_of",
    "mirrored_actions",
    "seen_actions",
    "seen_through",
]

GAINS = ("score", "cleared", "specials", "goals", "waves")
"""What is told of each move, see `crush_gym.Preview`; goals: the shares that it does of all of them, added up."""

UNITS = {"score": 500.0, "cleared": 10.0, "specials": 1.0, "goals": 0.05, "waves": 3.0}
"""What counts as 1, so that usual gains lie around it; a file of weights rests on these."""

MOST = 40.0
"""Greater gains are shown as this: half precision ends, and no network has met them."""

WAYS = ("across", "down")


class View(NamedTuple):
    """What is seen of boards, in few bytes. planes: uint8[B, H, W, C]; gains: float16[B, actions, G]."""

    planes: jax.Array
    gains: jax.Array


KINDS = ("planes", "king")
"""Of planes: those of `Game.channels`, or those of the environments' view `king`, which are 0 or 1."""


class Trait(NamedTuple):
    """A number that tells players apart. mean, sd: of those that a network learned from, who are 0 and 1 to it."""

    name: str
    mean: float
    sd: float


@dataclass(frozen=True)
class Inputs:
    """What a network sees.

    channels: names of planes, none where only gains are seen; preview: whether it sees the gains of moves
    kind: of the planes, one of `KINDS`
    traits: what it is told of who plays
    """

    channels: tuple[str, ...]
    preview: bool = True
    kind: str = "planes"
    traits: tuple[Trait, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of all planes that the network gets, in their order."""
        gains = tuple(f"{way} {gain}" for way in WAYS for gain in GAINS) if self.preview else ()
        return self.channels + gains

    def unseen(self, game: Game) -> tuple[str, ...]:
        """What the game has and the network was never shown; nothing where it looks at gains alone, which all have."""
        names = king_channels(game.spec) if self.kind == "king" else game.channels
        return tuple(name for name in names if name not in self.channels) if self.channels else ()

    def standard(self, values: Mapping[str, Any]) -> jax.Array:
        """Traits by name as the network is told them; those of the average player where they are not given.

        Args:
            values: numbers, or float[B] each.

        Returns:
            float32[traits] or float32[traits, B].
        """
        given = [(jnp.asarray(values.get(t.name, t.mean), jnp.float32) - t.mean) / t.sd for t in self.traits]
        return jnp.stack(jnp.broadcast_arrays(*given))

    def view(self, spec: Any, channels: Sequence[str], state: State, level: Level) -> View:
        """What is seen of boards in one axis, which comes last in `state`.

        Args:
            spec: `game.spec`.
            channels: `game.channels`; planes that the game lacks are empty.
            state: of the boards.
            level: one for all or one each.
        """
        nothing = jnp.zeros((state.planes.shape[-1], spec.actions, 0), jnp.float16)
        gains = gains_of(spec, state, level) if self.preview else nothing
        if not self.channels:
            return View(jnp.zeros((gains.shape[0], spec.height, spec.width, 0), jnp.uint8), gains)
        found = planes(spec, state, level)
        if self.kind == "king":
            found, channels = 255 * view(spec, "king", found, jnp), king_channels(spec)
        empty = jnp.zeros_like(found[:, 0])
        chosen = [found[:, channels.index(name)] if name in channels else empty for name in self.channels]
        return View(jnp.stack(chosen, axis=-1), gains)

    def cells(self, view: View) -> jax.Array:
        """What the network gets, float32[B, H, W, len(names)]; gains stand at the left or upper cell of their pair."""
        known = view.planes.astype(jnp.float32) / 255.0
        if not self.preview:
            return known
        (height, width), gains = known.shape[1:3], view.gains.astype(jnp.float32)
        pairs = height * (width - 1)
        across = gains[:, :pairs].reshape(-1, height, width - 1, len(GAINS))
        down = gains[:, pairs:].reshape(-1, height - 1, width, len(GAINS))
        return jnp.concatenate(
            [known, jnp.pad(across, ((0, 0), (0, 0), (0, 1), (0, 0))), jnp.pad(down, ((0, 0), (0, 1), (0, 0), (0, 0)))],
            axis=-1,
        )


def gains_of(spec: Any, state: State, level: Level) -> jax.Array:
    """What each move brings by itself, of boards in one axis, in `UNITS`: float16[B, actions, gains]."""
    brings = preview(spec, state, level)
    values = {name: getattr(brings, name) for name in GAINS} | {"goals": brings.goals.sum(axis=0)}
    scaled = [jnp.clip(values[name] / UNITS[name], -MOST, MOST) for name in GAINS]
    return jnp.stack(scaled, axis=-1).astype(jnp.float16).swapaxes(0, 1)


def inputs_of(game: Game, preview: bool = True, planes: bool = True) -> Inputs:
    """All that there is to see in a game, but for previews or planes that are not wanted."""
    return Inputs(tuple(game.channels) if planes else (), preview)


# ------------------------------------------------------------------ symmetries


class Symmetry(NamedTuple):
    """A way to look at boards of which the rules know nothing. mirror: bool[B]; colours: int32[B, K], a permutation."""

    mirror: jax.Array
    colours: jax.Array


def colours_of(inputs: Inputs) -> tuple[str, ...]:
    """The letters of the colours that a network sees."""
    return tuple(name.removeprefix("colour ") for name in inputs.channels if _is_colour(name))


def _is_colour(name: str) -> bool:
    return name.startswith("colour ") and name != "colour bomb"


def any_symmetry(key: jax.Array, inputs: Inputs, boards: int, mirror: bool, recolour: bool) -> Symmetry:
    """One at random for each board. mirror, recolour: which kinds are wanted."""
    number = len(colours_of(inputs))
    flips, order = jax.random.split(key)
    turned = jax.random.bernoulli(flips, 0.5, (boards,)) & mirror
    same = jnp.broadcast_to(jnp.arange(number), (boards, number))
    mixed = jnp.argsort(jax.random.uniform(order, (boards, number)), axis=-1)
    return Symmetry(turned, mixed if recolour and _alike(inputs) else same)


BY_COLOUR = ("colour {}", "order {}", "order {} unmet")
"""Planes of which each colour may have one."""


def _alike(inputs: Inputs) -> bool:
    """Whether all colours are seen in the same way: where only some can be ordered, they are not alike."""
    letters = colours_of(inputs)
    return all(sum(kind.format(x) in inputs.channels for x in letters) in (0, len(letters)) for kind in BY_COLOUR)


def seen_through(symmetry: Symmetry, inputs: Inputs, view: View) -> View:
    """The view of boards as their mirror images, in other colours. Left and right differ in the rules only where two
    candies would slide to one cell, and where a run of even length has its seat."""
    planes = _recoloured(symmetry.colours, inputs, view.planes)
    planes = jnp.where(symmetry.mirror[:, None, None, None], planes[:, :, ::-1], planes)
    height, width = planes.shape[1:3]
    turned = jnp.take(view.gains, mirrored_actions(height, width), axis=1)
    return View(planes, jnp.where(symmetry.mirror[:, None, None], turned, view.gains))


def seen_actions(symmetry: Symmetry, shape: tuple[int, int], by_action: jax.Array) -> jax.Array:
    """What belongs to actions, as it is seen, or back again: X[B, actions] -> X[B, actions]."""
    turned = jnp.take(by_action, mirrored_actions(*shape), axis=1)
    return jnp.where(symmetry.mirror[:, None], turned, by_action)


def mirrored_actions(height: int, width: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The number of each action's mirror image, int32[actions]; what it is of is what it gives."""
    pairs = height * (width - 1)
    across = np.arange(pairs, dtype=np.int32).reshape(height, width - 1)[:, ::-1]
    down = np.arange(pairs, number_of_actions((height, width)), dtype=np.int32).reshape(height - 1, width)[:, ::-1]
    return np.concatenate([across.ravel(), down.ravel()])


def _recoloured(order: jax.Array, inputs: Inputs, planes: jax.Array) -> jax.Array:
    """Colours, and the orders of them, in another order."""
    for kind in BY_COLOUR:
        group = [kind.format(letter) for letter in colours_of(inputs)]
        places = [inputs.channels.index(name) for name in group if name in inputs.channels]
        if places and len(places) == order.shape[1]:
            mixed = jnp.take_along_axis(planes[..., np.array(places)], order[:, None, None, :], axis=-1)
            planes = planes.at[..., np.array(places)].set(mixed)
    return planes
