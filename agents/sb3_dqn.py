"""DQN of Stable-Baselines3, on the native `VecEnv`, with the network `edge` in PyTorch, and with masks.

Stable-Baselines3 has no DQN that knows of legal moves. `MaskedDQN` is one: a move that is not legal is worth so little
(`MaskedQNetwork`) that neither the best move nor what the target promises can be one, and what is tried by chance, in
the beginning and later on, is drawn from the legal moves, by a coin for each board. The network duels (Wang and others,
2016): what a move is worth is the value and what its logit is above the mean of the legal ones.

Boards are not mirrored or recoloured, and the network is not shown what moves bring by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import DQN
from stable_baselines3.common.buffers import DictReplayBuffer
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

from agents.learning.algorithms import in_range
from agents.learning.learner import ILLEGAL
from agents.learning.sb3 import OnSb3, Scored, any_legal, constant
from agents.learning.torch_edge import PLANES, Edge, edge_kwargs, put, weights_of

__all__ = ["MaskedDQN", "MaskedPolicy", "MaskedQNetwork", "Sb3Dqn", "Settings", "WithMasks"]

MASK = "action_mask"


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    boards: int = 64
    """that are played side by side"""
    length: int = 64
    """moves of each in one call"""
    memory: int = 50_000
    """moves that are remembered; each takes twice the bytes of a board's planes and mask, in checkpoints, too"""
    first: int = 4096
    """moves by chance before it learns"""
    minibatch: int = 256
    """moves of one step of the optimiser"""
    lessons: int = 2
    """steps of the optimiser after each move of all boards"""
    rate: float = 5e-4
    """of learning"""
    discount: float = 0.9
    """what a reward is worth one move later"""
    target: int = 4096
    """moves between two copies of the network to the one that says what boards promise"""
    explore: float = 0.3
    """share of the run in which the chance of a move by chance falls from 1 to the least"""
    least: float = 0.05
    """chance of a move by chance after that"""
    norm: float = 10.0
    """greatest norm of a gradient"""
    threads: int = 1
    """of torch; with 1, resumed runs are the same bit for bit; more wait for each other where the machine is busy"""

    def __post_init__(self) -> None:
        in_range(
            self, boards=(1, 65536), length=(1, 4096), memory=(self.boards, 10**8), first=(1, 10**9),
            minibatch=(1, 65536), lessons=(1, 1000), rate=(1e-8, 1.0), discount=(0, 1), target=(self.boards, 10**9),
            explore=(1e-6, 1), least=(0, 1), norm=(1e-6, 1e6), threads=(1, 1024),
        )  # fmt: skip


class WithMasks(VecEnvWrapper):
    """Boards whose observations tell which moves are legal."""

    def __init__(self, boards: VecEnv) -> None:
        assert isinstance(boards.action_space, spaces.Discrete)
        self.actions = int(boards.action_space.n)
        mask = spaces.MultiBinary(self.actions)
        super().__init__(boards, spaces.Dict({PLANES: boards.observation_space, MASK: mask}))

    def reset(self) -> Any:
        """See `VecEnv`."""
        return self.shown(self.venv.reset())

    def step_wait(self) -> Any:
        """See `VecEnv`. After an attempt's last move nothing is promised, whatever is legal there."""
        seen, reward, over, infos = self.venv.step_wait()
        for i in np.flatnonzero(over):
            last = infos[i]["terminal_observation"]
            infos[i]["terminal_observation"] = {PLANES: last, MASK: np.ones(self.actions, np.int8)}
        return self.shown(seen), reward, over, infos

    def shown(self, planes: Any) -> dict[str, Any]:
        """The observations of boards that look like this now."""
        return {PLANES: planes, MASK: np.stack(self.venv.env_method("action_masks")).astype(np.int8)}


class MaskedQNetwork(QNetwork):
    """What each legal move is worth; see the head of this file."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.q_net = torch.nn.Sequential()  # the features are all there is

    def forward(self, obs: Any) -> torch.Tensor:
        """What moves are worth, float[B, actions]; `ILLEGAL` those that are not legal."""
        features = self.extract_features(obs, self.features_extractor)
        logits, value, legal = features[:, :-1], features[:, -1:], obs[MASK] > 0
        mean = torch.where(legal, logits, 0.0).sum(1, keepdim=True) / legal.sum(1, keepdim=True)
        return torch.where(legal, value + logits - mean, ILLEGAL)


class MaskedPolicy(DQNPolicy):
    """`DQNPolicy` of `MaskedQNetwork`s."""

    def make_q_net(self) -> QNetwork:
        """See `DQNPolicy`."""
        return MaskedQNetwork(**self._update_features_extractor(self.net_args, features_extractor=None)).to(self.device)


class MaskedDQN(DQN):
    """DQN of legal moves; its policy is a `MaskedPolicy`, its boards are `WithMasks`."""

    obs = "planes"

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[np.ndarray[Any, Any], Any]:
        """See `DQN`; observations are those of `WithMasks`, or planes beside `action_masks`."""
        if action_masks is not None and not isinstance(observation, dict):
            observation = {PLANES: observation, MASK: np.asarray(action_masks).astype(np.int8)}
        return self._chosen(observation, 0.0 if deterministic else self.exploration_rate), state

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        actions = self._chosen(self._last_obs, 1.0 if self.num_timesteps < learning_starts else self.exploration_rate)
        return actions, actions

    def _chosen(self, observation: Any, chance: float) -> np.ndarray[Any, Any]:
        """The best moves, or, by this chance for each board, any legal ones."""
        masks = observation[MASK]
        drawn = any_legal(masks, np.random.random(masks.shape))
        if chance >= 1.0:
            return drawn
        best = self.policy.predict(observation, deterministic=True)[0]
        return np.where(np.random.random(drawn.shape) < chance, drawn, best)


@dataclass(eq=False)
class Sb3Dqn(OnSb3):
    """See the head of this file."""

    settings: Settings = Settings()

    name = "sb3-dqn"

    def _made(self, boards: Scored) -> MaskedDQN:
        settings = self.settings
        return MaskedDQN(
            MaskedPolicy, WithMasks(boards), learning_rate=settings.rate, buffer_size=settings.memory,
            learning_starts=settings.first, batch_size=settings.minibatch, gamma=settings.discount, train_freq=1,
            gradient_steps=settings.lessons, target_update_interval=settings.target, max_grad_norm=settings.norm,
            policy_kwargs=edge_kwargs(self.architecture),
        )  # fmt: skip

    def _network(self) -> Edge:
        return _edge_of(self.model.q_net)

    def _observed(self, planes: Any) -> Any:
        return self.model.env.shown(planes)

    def _plan(self, progress: float) -> None:
        settings = self.settings
        rate = 1.0 - (1.0 - settings.least) * min(1.0, progress / settings.explore)
        self.model.exploration_schedule, self.model.exploration_rate = constant(rate), rate

    def _losses(self, logged: Mapping[str, Any]) -> dict[str, float]:
        learned = {"loss/value": float(logged["train/loss"])} if "train/loss" in logged else {}
        return learned | {"play/by_chance": float(self.model.exploration_rate)}

    def _more(self) -> dict[str, Any]:
        memory = self.model.replay_buffer
        target, place = weights_of(_edge_of(self.model.q_net_target)), np.int32(memory.pos)
        return {"target": target, "place": place, "full": np.bool_(memory.full), "memory": _arrays(memory)}

    def _put_more(self, more: Mapping[str, Any], moves: int) -> None:
        model, memory = self.model, self.model.replay_buffer
        model._n_calls = moves
        target = _edge_of(model.q_net_target)
        if not more:  # nothing was learned yet
            put(weights_of(self._network()), target)
            memory.reset()  # which leaves in its arrays what a former run put there
            for array in _arrays(memory).values():
                array.fill(0)
            return
        put(more["target"], target)
        memory.pos, memory.full = int(more["place"]), bool(more["full"])
        for name, array in _arrays(memory).items():
            np.copyto(array, np.asarray(more["memory"][name]))


def _edge_of(network: Any) -> Edge:
    assert isinstance(network.features_extractor, Edge)
    return network.features_extractor


def _arrays(memory: DictReplayBuffer) -> dict[str, np.ndarray[Any, Any]]:
    """What a memory holds, by name; the arrays themselves."""
    parts = {"before": memory.observations, "after": memory.next_observations}
    found = {f"{when} {name}": array for when, part in parts.items() for name, array in part.items()}
    return found | {name: getattr(memory, name) for name in ("actions", "rewards", "dones", "timeouts")}
