"""What the learners of Stable-Baselines3 have in common: boards, a state, and randomness of their own.

Their loops are Stable-Baselines3's: a call of `learn` is one of the model's. All that it goes on from is taken out of
the model after each call, and put back where another state is given, so that a run goes on from a file as if it had
never stopped: bit for bit on a CPU, with as many threads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import ConstantSchedule
from stable_baselines3.common.vec_env import VecEnvWrapper

from agents.learning.inputs import Inputs
from agents.learning.networks import DEFAULT, Architecture
from agents.learning.practice import WARM_UP, Practice
from agents.learning.torch_edge import Edge, put, weights_of
from crush_gym import Level
from crush_gym.sb3 import CrushVecEnv

__all__ = ["OnSb3", "Scored", "State", "any_legal", "constant"]

MOMENTS = ("exp_avg", "exp_avg_sq")
"""What Adam remembers of each parameter besides the number of its steps."""


Random = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
"""States of generators: of NumPy's, its words and its place in them, uint32[625]; of torch's, uint8[...]."""


class State(NamedTuple):
    """All that learning goes on from, as arrays on the host.

    weights, moments: of the network and of its optimiser; taught: the optimiser's steps, int32[]
    lanes: of the boards; gained, made: by their attempts so far, float32[B], int32[B]
    random: states of NumPy's and of torch's generator; scale: rewards are divided by it; calls: of `learn`, int32[]
    more: what the algorithm has besides
    """

    weights: Any
    moments: tuple[Any, Any]
    taught: Any
    lanes: Any
    gained: Any
    made: Any
    random: Random
    scale: Any
    calls: Any
    more: dict[str, Any]


class Scored(VecEnvWrapper):
    """Boards whose rewards are divided by `scale`, and what their attempts gained, undivided."""

    def __init__(self, boards: CrushVecEnv) -> None:
        super().__init__(boards)
        self.boards, self.scale = boards, 1.0
        self.begin()

    def reset(self) -> Any:
        """See `VecEnv`."""
        self.begin()
        return self.boards.reset()

    def begin(self) -> None:
        """Nothing was gained by any attempt."""
        self.gained, self.made = np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.int32)
        self.forget()

    def forget(self) -> None:
        """What happened so far is not told."""
        self.ended: list[tuple[float, int]] = []
        self.rewards: list[float] = []

    def step_wait(self) -> Any:
        """See `VecEnv`."""
        seen, reward, over, infos = self.boards.step_wait()
        self.gained, self.made = self.gained + reward, self.made + 1
        self.ended += zip(self.gained[over].tolist(), self.made[over].tolist(), strict=True)
        self.rewards.append(float(reward.mean()))
        self.gained, self.made = np.where(over, np.float32(0), self.gained), np.where(over, np.int32(0), self.made)
        return seen, reward / self.scale, over, infos

    def told(self) -> dict[str, float]:
        """What happened since `forget`, as in the logs of other learners."""
        gained, made = np.mean(self.ended, axis=0) if self.ended else (math.nan, math.nan)
        return {"play/return": float(gained), "play/moves": float(made), "play/reward": float(np.mean(self.rewards))}


@dataclass(eq=False)
class OnSb3(ABC):
    """A learner whose loop is that of a model of Stable-Baselines3; what differs is the model. See `Learner`.

    steps: moves of the whole run, by which schedules go
    """

    practice: Practice
    architecture: Architecture = DEFAULT
    settings: Any = None
    steps: int = 1_000_000

    name, previews, foresees, from_pairs, data = "", False, False, False, ""

    def __post_init__(self) -> None:
        if self.architecture.name != "edge":
            raise ValueError(
                f"{self.name} learns the network 'edge' only, with arguments of your own, not "
                f"{self.architecture.name!r}: leave the network out, or learn by ppo or dqn"
            )
        self._held: State | None = None

    # ------------------------------------------------------------------ what differs

    @abstractmethod
    def _made(self, boards: Scored) -> BaseAlgorithm:
        """The model that learns on these boards."""

    @abstractmethod
    def _network(self) -> Edge:
        """The network that it learns."""

    @abstractmethod
    def _plan(self, progress: float) -> None:
        """Tell the model what goes by a schedule. progress: the share of the run that is done."""

    @abstractmethod
    def _losses(self, logged: Mapping[str, float]) -> dict[str, float]:
        """What is told of the model's log."""

    def _observed(self, planes: Any) -> Any:
        """What the model sees of boards with these planes."""
        return planes

    def _more(self) -> dict[str, Any]:
        """What else the model goes on from."""
        return {}

    def _put_more(self, more: Mapping[str, Any], moves: int) -> None:
        """Give that back; nothing where nothing was learned yet. moves: of each board so far."""
        del more, moves

    # ------------------------------------------------------------------ what a learner is

    @property
    def inputs(self) -> Inputs:
        """What the network sees: the planes of the environment, without what moves bring by themselves."""
        return Inputs(tuple(self.practice.game.channels), preview=False)

    @property
    def shape(self) -> tuple[int, int]:
        """See `Learner`."""
        return self.practice.game.shape

    @property
    def steps_per_call(self) -> int:
        """See `Learner`."""
        return int(self.settings.boards * self.settings.length)

    def shapes(self, key: jax.Array) -> State:
        """See `Learner`."""
        return self.start(key)

    def start(self, key: jax.Array) -> State:
        """See `Learner`."""
        making, opening, playing, learning = jax.random.split(key, 4)
        (height, width), channels = self.practice.game.shape, len(self.inputs.channels)
        made = jax.jit(self.architecture.made().init)(making, jnp.zeros((1, height, width, channels)))
        weights = jax.tree.map(np.asarray, made)
        scale = self._warm_up(_number(opening), _number(playing))
        nothing, boards = jax.tree.map(np.zeros_like, weights), self.boards
        state = State(
            weights, (nothing, nothing), np.int32(0), boards.boards.get_state(), boards.gained, boards.made,
            _seeded(_number(learning)), np.float32(scale), np.int32(0), {},
        )  # fmt: skip
        self._put(state)
        self._held = self._taken(state)
        return self._held

    def learn(self, state: State) -> tuple[State, dict[str, float]]:
        """See `Learner`."""
        if state is not self._held:
            self._put(state)
        self._held = None
        self._plan(min(1.0, int(state.calls) * self.steps_per_call / self.steps))
        self.boards.forget()
        self.model.logger.name_to_value.clear()
        try:
            with _alone(state.random, self.settings.threads):
                self.model.learn(self.steps_per_call, log_interval=None, reset_num_timesteps=False)
                random = _of_generators()
        except ValueError:
            if all(bool(torch.isfinite(p).all()) for p in self._network().parameters()):
                raise
            return state, {"loss/diverged": math.nan}  # torch refused probabilities that are none
        metrics = self.boards.told() | self._losses(self.model.logger.name_to_value)
        self._held = self._taken(state._replace(random=random, calls=np.int32(state.calls + 1)))
        return self._held, metrics

    def weights(self, state: State) -> Any:
        """See `Learner`."""
        return state.weights

    def scale(self, state: State) -> float:
        """See `Learner`."""
        return float(state.scale)

    def shown(self, state: State) -> tuple[list[str], Level]:
        """See `Learner`."""
        level = self.practice.env.options.levels[int(state.lanes.level[0])]
        first = jax.tree.map(lambda x: np.asarray(x)[..., 0], state.lanes.state)
        return self.practice.game.text(first, level), level

    def examined(self, weights: Any, part: str = "validation") -> Mapping[str, float]:
        """See `Learner`."""
        del weights, part
        return {}

    # ------------------------------------------------------------------ boards and model

    @cached_property
    def boards(self) -> Scored:
        """The boards that it learns on."""
        options = self.practice.env.options
        return Scored(
            CrushVecEnv(
                self.settings.boards, options.game.spec.rules, pack=list(options.levels), order=options.order,
                weights=options.weights, reward=options.task.reward, illegal=options.task.illegal,
            )
        )  # fmt: skip

    @cached_property
    def model(self) -> Any:
        """The model of Stable-Baselines3, of the algorithm's class."""
        with torch.random.fork_rng(devices=[]):
            model = self._made(self.boards)
        model.set_logger(Logger(None, []))
        return model

    def _warm_up(self, seed: int, moves: int) -> float:
        """Bring the boards out of step by random moves; the standard deviation of what one of them brings."""
        boards, random, rewards = self.boards, np.random.default_rng(moves), []
        boards.seed(seed)
        boards.reset()
        boards.scale = 1.0
        for _ in range(WARM_UP):
            masks = boards.boards.action_masks()
            rewards.append(boards.step(any_legal(masks, random.random(masks.shape)))[1])
        return max(float(np.std(rewards)), 1e-6)

    def _taken(self, state: State) -> State:
        """The state with what is in the model and its boards now."""
        network, boards = self._network(), self.boards
        moments, first = self.model.policy.optimizer.state, next(network.parameters())
        mean, square = (weights_of(network, partial(_moment, moments, name)) for name in MOMENTS)
        return state._replace(
            weights=weights_of(network), moments=(mean, square), taught=np.int32(moments[first]["step"].item()),
            lanes=boards.boards.get_state(), gained=boards.gained, made=boards.made, more=self._more(),
        )  # fmt: skip

    def _put(self, state: State) -> None:
        """Give the model and its boards a state."""
        network, boards, model = self._network(), self.boards, self.model
        put(state.weights, network)
        moments = model.policy.optimizer.state
        for p in network.parameters():
            steps = torch.tensor(float(state.taught), dtype=torch.float32)
            moments[p] = {"step": steps} | {name: torch.zeros_like(p) for name in MOMENTS}
        for name, tree in zip(MOMENTS, state.moments, strict=True):
            put(tree, network, partial(_moment, moments, name))
        boards.scale, boards.gained, boards.made = float(state.scale), np.array(state.gained), np.array(state.made)
        model._last_obs = self._observed(boards.boards.set_state(state.lanes))
        model._last_episode_starts = boards.made == 0
        model.num_timesteps = int(state.calls) * self.steps_per_call
        self._put_more(state.more, int(state.calls) * self.settings.length)


@contextmanager
def _alone(random: Random, threads: int) -> Iterator[None]:
    """With generators in these states, and so many threads of torch: those of the process are as before afterwards."""
    before = np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()
    words = np.asarray(random[0])
    np.random.set_state(("MT19937", words[:-1], int(words[-1]), 0, 0.0))
    torch.set_rng_state(torch.from_numpy(np.array(random[1])))
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        np.random.set_state(before[0])
        torch.set_rng_state(before[1])
        torch.set_num_threads(before[2])


def _of_generators() -> Random:
    """The states of the process' generators; nothing here draws normal numbers, of which NumPy keeps one more."""
    return _words(np.random.get_state()), torch.get_rng_state().numpy()


def _seeded(seed: int) -> Random:
    """The states of generators of this seed."""
    return _words(np.random.RandomState(seed).get_state()), torch.Generator().manual_seed(seed).get_state().numpy()


def _words(state: Any) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.append(state[1], state[2]).astype(np.uint32)


def any_legal(masks: np.ndarray[Any, Any], chances: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A legal action of each board, any of them. chances: numbers from 0 to 1, of the masks' shape."""
    return np.argmax(np.where(masks != 0, chances, -1.0), axis=-1)


def _moment(moments: Mapping[Any, Any], name: str, parameter: Any) -> torch.Tensor:
    found: torch.Tensor = moments[parameter][name]
    return found


def constant(value: float) -> ConstantSchedule:
    """A number where Stable-Baselines3 takes a schedule: its own go by what a call of `learn` was asked for."""
    return ConstantSchedule(value)


def _number(key: jax.Array) -> int:
    """A seed of 32 bits."""
    return int(jax.random.bits(key))
