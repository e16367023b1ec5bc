"""Imitation: a network learns to make the moves that somebody made, from recorded positions and moves.

That is what "Human-Like Playtesting with Deep Learning" does with people's moves. The network sees binary planes of the
board, what each move brings by itself where the pairs tell that, and, with `traits`, who plays; it learns to hold the
move that was made likely, among the legal ones. What it learned is measured on attempts that it never saw, see
`agents.learning.likeness`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from agents.learning.algorithms import in_range
from agents.learning.demonstrations import Demonstrations
from agents.learning.inputs import GAINS, Inputs, View, any_symmetry, mirrored_actions, seen_actions, seen_through
from agents.learning.learner import Metrics, masked
from agents.learning.likeness import likeness
from agents.learning.networks import DEFAULT, Architecture, NetworkError, answer, takes
from agents.learning.pairs import Pairs

__all__ = ["Imitation", "Settings"]

AT_ONCE = 1024
"""Pairs that are looked at together where nothing is learned."""


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    batch: int = 256
    """pairs of one step of the optimiser"""
    rate: float = 3e-3
    """of learning; it falls in a straight line to a tenth of it at the run's last pair"""
    norm: float = 1.0
    """greatest norm of a gradient"""
    traits: bool = False
    """tell the network the traits of who plays, which the pairs must tell"""
    mirror: bool = True
    """learn from boards as their mirror images"""
    recolour: bool = True
    """learn from boards in other colours"""
    soft: bool = False
    """learn how likely the player was to make each move, which the pairs must tell, not only which one it made"""
    levels: int = 0
    """how many of the pairs' levels it learns, the first ones; 0: all"""
    judged: int = 16384
    """pairs at most by which weights are judged"""
    updates: int = 8
    """in one call of the program"""

    def __post_init__(self) -> None:
        in_range(
            self, batch=(1, 65536), rate=(1e-8, 1.0), norm=(1e-6, 1e6), levels=(0, 10**6), judged=(1, 10**7),
            updates=(1, 10_000),
        )  # fmt: skip


class State(NamedTuple):
    """All that learning goes on from. order: decides in which order pairs come, uint32[]; done: updates, int32[]."""

    weights: Any
    optimiser: Any
    key: jax.Array
    order: jax.Array
    done: jax.Array


class Batch(NamedTuple):
    """Pairs as they are stored, and traits as the network is told them, float32[B, T]; see `agents.learning.pairs`.

    gains: float16[B, actions, G], with G = 0 where the network is not shown them
    chances: what is learned, float16[B, actions]; of no actions where it is only the move that was made
    """

    planes: jax.Array
    legal: jax.Array
    action: jax.Array
    traits: jax.Array
    gains: jax.Array
    chances: jax.Array


class Program(NamedTuple):
    """What decides what is compiled: learners that differ in nothing else share it."""

    architecture: Architecture
    inputs: Inputs
    shape: tuple[int, int]
    actions: int
    norm: float
    mirror: bool
    recolour: bool


@dataclass(frozen=True, eq=False)
class Imitation:
    """See the head of this file, and `agents.learning.learner.Learner`.

    steps: pairs of the whole run, by which the rate falls
    """

    demonstrations: Demonstrations
    architecture: Architecture = DEFAULT
    settings: Settings = Settings()
    steps: int = 1_000_000

    name, previews, foresees, from_pairs = "imitation", True, False, True

    def __post_init__(self) -> None:
        if self.settings.soft and not self.demonstrations.about.probabilities:
            raise ValueError("soft=True, but the pairs do not tell how likely the player was to make each move")
        if self.settings.traits and not self.demonstrations.about.traits:
            raise ValueError("traits=True, but the pairs tell no traits of who made the moves")
        if self.settings.traits and not takes(self.architecture.made(), "traits"):
            raise NetworkError(f"traits=True, but the network {self.architecture} is not made to be told any")

    @cached_property
    def inputs(self) -> Inputs:
        """See `Learner`."""
        told = self.demonstrations.traits() if self.settings.traits else ()
        known = self.demonstrations.about
        return Inputs(known.planes, self.demonstrations.preview and known.gains == GAINS, kind="king", traits=told)

    @property
    def steps_per_call(self) -> int:
        """See `Learner`."""
        return self.settings.batch * self.settings.updates

    @property
    def data(self) -> str:
        """See `Learner`."""
        return self.demonstrations.digest

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the board that actions are numbered on."""
        return self.demonstrations.about.shape

    @cached_property
    def program(self) -> Program:
        """What it compiles."""
        known, settings = self.demonstrations.about, self.settings
        return Program(
            self.architecture, self.inputs, known.shape, known.actions,
            settings.norm, settings.mirror, settings.recolour,
        )  # fmt: skip

    def shapes(self, key: jax.Array) -> State:
        """See `Learner`; nothing is compiled for it."""
        return jax.eval_shape(functools.partial(_begin, self.program), key)

    def start(self, key: jax.Array) -> State:
        """See `Learner`."""
        begun: State = jax.jit(functools.partial(_begin, self.program))(key)
        return begun

    def learn(self, state: State) -> tuple[State, Metrics]:
        """See `Learner`."""
        settings, done = self.settings, int(state.done)
        pairs = self.demonstrations.lesson(int(state.order), done * settings.batch, self.steps_per_call)
        batches = jax.tree.map(lambda x: x.reshape(settings.updates, settings.batch, *x.shape[1:]), self._batch(pairs))
        share = np.minimum(1.0, (done + np.arange(settings.updates)) * settings.batch / self.steps)
        rates = (settings.rate * (1.0 - 0.9 * share)).astype(np.float32)
        learned: tuple[State, Metrics] = _lesson(self.program)(state, batches, rates)
        return learned

    def weights(self, state: State) -> Any:
        """See `Learner`."""
        return state.weights

    def scale(self, state: State) -> float:
        """See `Learner`: nothing is rewarded."""
        del state
        return 1.0

    def shown(self, state: State) -> None:
        """See `Learner`: no board is played."""
        del state

    # ------------------------------------------------------------------ judging

    def examined(self, weights: Any, part: str = "validation") -> Mapping[str, float]:
        """How like the demonstrator's the moves of these weights are, on a part of the pairs; see `likeness`."""
        pairs = self._held(part)
        return likeness(self.log_chances(weights, pairs), pairs)

    @cached_property
    def _held(self) -> Callable[[str], Pairs]:
        return functools.lru_cache(lambda part: self.demonstrations.held(part, self.settings.judged))

    def log_chances(self, weights: Any, pairs: Pairs) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Logarithms of the moves' probabilities, float32[n, actions]."""
        batch, look, found = self._batch(pairs), _looks(self.program), []
        for start in range(0, pairs.number, AT_ONCE):
            places = np.minimum(np.arange(start, start + AT_ONCE), pairs.number - 1)
            found.append(np.asarray(look(weights, jax.tree.map(lambda x, at=places: x[at], batch))))
        return np.concatenate(found)[: pairs.number]

    def _batch(self, pairs: Pairs) -> Batch:
        known = [(pairs.traits[:, n] - t.mean) / t.sd for n, t in enumerate(self.inputs.traits)]
        traits = np.stack(known, axis=1) if known else np.zeros((pairs.number, 0))
        nothing = np.zeros((pairs.number, self.program.actions, 0), np.float16)
        gains = pairs.gains if self.inputs.preview else nothing
        chances = pairs.probabilities if self.settings.soft else nothing[..., 0, :]
        action, traits = pairs.action.astype(np.int32), traits.astype(np.float32)
        arrays: Any = pairs.planes, pairs.legal, action, traits, gains, chances
        return Batch(*arrays)


# ---------------------------------------------------------------------- the programs


def _optimiser(program: Program) -> optax.GradientTransformation:
    """Adam at a rate of 1, with a limit of gradients' norms."""
    return optax.chain(optax.clip_by_global_norm(program.norm), optax.scale_by_adam())


def _begin(program: Program, key: jax.Array) -> State:
    making, learning, ordering = jax.random.split(key, 3)
    cells = jnp.zeros((1, *program.shape, len(program.inputs.names)))
    told: dict[str, Any] = {"traits": jnp.zeros((1, len(program.inputs.traits)))} if program.inputs.traits else {}
    weights = program.architecture.made().init(making, cells, **told)
    return State(weights, _optimiser(program).init(weights), learning, jax.random.bits(ordering), jnp.int32(0))


@functools.lru_cache(maxsize=64)
def _lesson(program: Program) -> Callable[..., tuple[State, Metrics]]:
    """Some steps of the optimiser: state, batches with an axis of steps in front, the rate of each."""

    def step(state: State, now: tuple[Batch, jax.Array]) -> tuple[State, Metrics]:
        batch, rate = now
        key, looking, dropping = jax.random.split(state.key, 3)
        view, legal, action, chances = _seen(program, looking, batch)
        loss = functools.partial(_loss, program, view, legal, action, chances, batch.traits, dropping)
        gradient, metrics = jax.grad(loss, has_aux=True)(state.weights)
        change, optimiser = _optimiser(program).update(gradient, state.optimiser, state.weights)
        weights = optax.apply_updates(state.weights, jax.tree.map(lambda x: -rate * x, change))
        metrics["loss/gradient"] = optax.tree.norm(gradient)
        return State(weights, optimiser, key, state.order, state.done + 1), metrics

    def steps(state: State, batches: Batch, rates: jax.Array) -> tuple[State, Metrics]:
        state, metrics = lax.scan(step, state, (batches, rates))
        return state, {name: values.mean() for name, values in metrics.items()}

    return jax.jit(steps, donate_argnums=0)


@functools.lru_cache(maxsize=64)
def _looks(program: Program) -> Callable[..., jax.Array]:
    """Logarithms of the moves' probabilities by weights, of a batch."""

    def look(weights: Any, batch: Batch) -> jax.Array:
        view, legal = _unpacked(program, batch)
        return _log_chances(program, weights, view, legal, batch.traits)

    return jax.jit(look)


def _unpacked(program: Program, batch: Batch) -> tuple[View, jax.Array]:
    """What is seen, and which moves are legal, bool[B, actions]."""
    bits = batch.planes[..., None] >> jnp.arange(program.shape[1], dtype=jnp.uint16) & jnp.uint16(1)
    planes = 255 * jnp.moveaxis(bits, 1, -1).astype(jnp.uint8)
    legal = jnp.unpackbits(batch.legal, axis=-1, count=program.actions, bitorder="little").astype(bool)
    return View(planes, batch.gains), legal


def _seen(program: Program, key: jax.Array, batch: Batch) -> tuple[View, jax.Array, jax.Array, jax.Array]:
    """What is seen of a batch, each board through a symmetry of its own, with the moves as they are then, and what is
    to be learned of all actions, float32[B, actions]."""
    view, legal = _unpacked(program, batch)
    symmetry = any_symmetry(key, program.inputs, batch.action.shape[0], program.mirror, program.recolour)
    action = jnp.where(symmetry.mirror, jnp.asarray(mirrored_actions(*program.shape))[batch.action], batch.action)
    legal = seen_actions(symmetry, program.shape, legal)
    if batch.chances.shape[-1]:
        chances = seen_actions(symmetry, program.shape, batch.chances.astype(jnp.float32))
    else:
        chances = jax.nn.one_hot(action, program.actions)
    return seen_through(symmetry, program.inputs, view), legal, action, chances


def _log_chances(
    program: Program, weights: Any, view: View, legal: jax.Array, traits: jax.Array, dropout: jax.Array | None = None
) -> jax.Array:
    cells, told = program.inputs.cells(view), traits if program.inputs.traits else None
    logits, _ = answer(program.architecture.made(), weights, cells, told, dropout)
    return jax.nn.log_softmax(masked(logits, legal))


def _loss(
    program: Program,
    view: View,
    legal: jax.Array,
    action: jax.Array,
    chances: jax.Array,
    traits: jax.Array,
    dropout: jax.Array,
    weights: Any,
) -> tuple[jax.Array, Metrics]:
    """The mean negative logarithm of the probabilities of what is to be learned."""
    logp = _log_chances(program, weights, view, legal, traits, dropout)
    nll = -jnp.sum(jnp.where(legal, chances * logp, 0.0), axis=1).mean()
    top1 = (jnp.argmax(logp, axis=1) == action).mean()
    return nll, {"loss/nll": nll, "loss/top1": top1}
