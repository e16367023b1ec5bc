"""MaskablePPO of sb3-contrib, on the native `VecEnv`, with the network `edge` in PyTorch: what `ppo` is compared with.

Boards are not mirrored or recoloured, and the network is not shown what moves bring by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule

from agents.learning.algorithms import in_range
from agents.learning.sb3 import OnSb3, Scored, constant
from agents.learning.torch_edge import Columns, Edge, edge_kwargs

__all__ = ["EdgePolicy", "Sb3Ppo", "Settings"]


@dataclass(frozen=True)
class Settings:
    """How it learns."""

    boards: int = 256
    """that are played side by side"""
    length: int = 16
    """moves of each between two updates"""
    epochs: int = 2
    """passes over what was played"""
    minibatch: int = 1024
    """moves of one step of the optimiser"""
    rate: float = 1e-3
    """of learning; it falls in a straight line to a tenth of it at the run's last step"""
    discount: float = 0.9
    """what a reward is worth one move later"""
    trace: float = 0.8
    """lambda of the generalised advantage"""
    clip: float = 0.2
    """how far the probability of a move may go in one update, as a share"""
    entropy: float = 0.01
    """weight of the entropy; it falls to three tenths of it"""
    value: float = 0.5
    """weight of the value's error"""
    norm: float = 0.5
    """greatest norm of a gradient"""
    threads: int = 1
    """of torch; with 1, resumed runs are the same bit for bit; more wait for each other where the machine is busy"""

    def __post_init__(self) -> None:
        in_range(
            self, boards=(1, 65536), length=(1, 4096), epochs=(1, 100), rate=(1e-8, 1.0), discount=(0, 1), trace=(0, 1),
            clip=(1e-3, 10), entropy=(0, 10), value=(0, 100), norm=(1e-6, 1e6), threads=(1, 1024),
            minibatch=(1, self.boards * self.length),
        )  # fmt: skip
        if self.boards * self.length % self.minibatch:
            raise ValueError(
                f"boards x length, {self.boards * self.length:,} moves, must be a multiple of minibatch, "
                f"{self.minibatch:,}"
            )


class EdgePolicy(MaskableActorCriticPolicy):
    """`Edge` as both actor and critic: the logits are some of its columns, the value is the last one."""

    def _build(self, lr_schedule: Schedule) -> None:
        self._build_mlp_extractor()
        actions = self.features_dim - 1
        self.action_net = Columns(0, actions)
        self.value_net = Columns(actions, actions + 1)  # type: ignore[assignment]  # it was a layer
        made: Any = self.optimizer_class
        self.optimizer = made(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


@dataclass(eq=False)
class Sb3Ppo(OnSb3):
    """See the head of this file."""

    settings: Settings = Settings()

    name = "sb3-ppo"

    def _made(self, boards: Scored) -> MaskablePPO:
        settings = self.settings
        return MaskablePPO(
            EdgePolicy, boards, learning_rate=settings.rate, n_steps=settings.length, batch_size=settings.minibatch,
            n_epochs=settings.epochs, gamma=settings.discount, gae_lambda=settings.trace, clip_range=settings.clip,
            vf_coef=settings.value / 2,  # its error is not halved there
            max_grad_norm=settings.norm,
            policy_kwargs=edge_kwargs(self.architecture),
        )  # fmt: skip

    def _network(self) -> Edge:
        network = self.model.policy.features_extractor
        assert isinstance(network, Edge)
        return network

    def _plan(self, progress: float) -> None:
        self.model.lr_schedule = constant(self.settings.rate * (1 - 0.9 * progress))
        self.model.ent_coef = self.settings.entropy * (1 - 0.7 * progress)

    def _losses(self, logged: Mapping[str, Any]) -> dict[str, float]:
        names = {
            "policy": "policy_gradient_loss", "value": "value_loss", "entropy": "entropy_loss", "kl": "approx_kl",
            "clipped": "clip_fraction", "explained": "explained_variance",
        }  # fmt: skip
        found = {f"loss/{name}": float(logged[f"train/{theirs}"]) for name, theirs in names.items()}
        return found | {"loss/value": found["loss/value"] / 2, "loss/entropy": -found["loss/entropy"]}
