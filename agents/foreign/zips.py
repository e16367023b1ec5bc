"""Models that Stable-Baselines3 or sb3-contrib saved, as agents: `sb3:PATH` plays the zip file of `model.save`.

Such a file holds pickles: loading one runs whatever code was put into it. Play those that you made yourself or whose
makers you trust; nothing here fetches any. The files of `crush-gym train` (`policy:PATH`) run nothing.

The full name holds a digest of the file (`sb3:PATH:weights=1a2b3c4d`), so that results of a model that was trained
again are never taken for those of the old one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.foreign.adapt import CHOICES, Adapted, adapt
from agents.protocol import Policy
from crush_gym import Game, load_pack

__all__ = ["ZippedAgent", "ZippedModelError", "algorithm_of"]

CLASSES = {
    "MaskedDQN": "agents.sb3_dqn", "DQN": "stable_baselines3", "QRDQN": "sb3_contrib",
    "MaskablePPO": "sb3_contrib", "RecurrentPPO": "sb3_contrib", "PPO": "stable_baselines3",
    "TRPO": "sb3_contrib", "A2C": "stable_baselines3",
}  # fmt: skip
"""By name: the modules of algorithms whose models choose one of so many actions."""

SIGNS = (
    ("QRDQN", "n_quantiles", ""), ("MaskedDQN", "policy_class", "agents.sb3_dqn"), ("DQN", "exploration_fraction", ""),
    ("TRPO", "cg_max_steps", ""), ("MaskablePPO", "rollout_buffer_class", "sb3_contrib.common.maskable"),
    ("RecurrentPPO", "policy_class", "sb3_contrib.common.recurrent"), ("PPO", "clip_range", ""),
    ("A2C", "gae_lambda", ""),
)  # fmt: skip
"""By what a file that has no word on its algorithm shows it: an entry that is there, or a class of this module. The
first that fits is meant."""


class ZippedModelError(ValueError):
    """A file that is no saved model, or one that cannot be loaded; the sentence says why."""


@dataclass(frozen=True)
class ZippedAgent:
    """A saved model of Stable-Baselines3 as a player. Loading it runs code of its maker: see the head of this file.

    path: of the zip file
    weights: digest of the file that is meant; "" for whatever is there
    algorithm: its class, one of `CLASSES` or module.Class; "" for the one that the file's content shows
    obs, channels: what it is shown, see `agents.foreign.adapt`; "" for what that finds
    illegal: "raise" where it answers with a move that is not legal, or "random", one that is
    pack: the levels that it learned together, a name or a path; "" for the one that is played
    """

    path: str
    weights: str = ""
    algorithm: str = ""
    obs: str = ""
    channels: str = ""
    illegal: str = "raise"
    pack: str = ""
    adapted: Adapted = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        path = _found(self.path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        if self.weights not in ("", digest):
            raise ZippedModelError(
                f"{self.path!r} is the model {digest}, not {self.weights}: it was trained again since then"
            )
        object.__setattr__(self, "weights", digest)
        model = _loaded(path, self.algorithm or algorithm_of(path))
        given: dict[str, Any] = {name: getattr(self, name) for name in CHOICES if getattr(self, name)}
        game = Game(load_pack(self.pack)) if self.pack else None
        object.__setattr__(self, "adapted", adapt(model, self.name, game=game, **given))

    @property
    def name(self) -> str:
        """The file, its digest, and the parameters that differ from their defaults."""
        known = [f for f in dataclasses.fields(self) if f.init and f.name not in ("path", "weights")]
        changed = [f"{f.name}={getattr(self, f.name)}" for f in known if getattr(self, f.name) != f.default]
        return f"sb3:{self.path}:{','.join([f'weights={self.weights}', *changed])}"

    @property
    def game(self) -> Game | None:
        """That of the levels that it learned together."""
        return self.adapted.game

    def bind(self, game: Game) -> Policy:
        """The player in this game; a `PolicyError` where it was trained in one of another kind."""
        return self.adapted.bind(game)


def algorithm_of(path: Path) -> str:
    """The name of the class that saved a file, by what is in it; nothing of it is run."""
    try:
        with zipfile.ZipFile(path) as file:
            known = json.loads(file.read("data"))
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        raise ZippedModelError(
            f"{str(path)!r} is no saved model of Stable-Baselines3: {' '.join(str(error).split())[:200]}"
        ) from None
    if isinstance(known, dict):
        for name, entry, module in SIGNS:
            if entry in known and _module(known[entry]).startswith(module):
                return name
    raise ZippedModelError(
        f"{str(path)!r} does not show which algorithm made it: say algorithm=NAME, one of {', '.join(CLASSES)}, or "
        "module.Class"
    )


def _module(entry: Any) -> str:
    """Where a class that was saved is from."""
    return str(entry.get("__module__", "")) if isinstance(entry, Mapping) else ""


def _found(path: str) -> Path:
    """The file; Stable-Baselines3 lets people leave its ending out."""
    for candidate in (Path(path), Path(f"{path}.zip")):
        if candidate.is_file():
            return candidate
    raise ZippedModelError(f"there is no file {path!r}")


def _loaded(path: Path, algorithm: str) -> Any:
    """The model."""
    home, _, name = algorithm.rpartition(".")
    home = home or CLASSES.get(name, "")
    if not home:
        raise ZippedModelError(f"there is no algorithm {name!r}; there are {', '.join(CLASSES)}, or say module.Class")
    try:
        kind = getattr(importlib.import_module(home), name)
    except ModuleNotFoundError as missing:
        if missing.name in (home, home.partition(".")[0]) and home not in CLASSES.values():
            raise ZippedModelError(f"there is no module {missing.name!r} for the algorithm {algorithm!r}") from None
        raise ZippedModelError(
            f"models of Stable-Baselines3 need {missing.name}, which is not installed: pip install 'crush-gym[sb3]'"
        ) from None
    except AttributeError:
        raise ZippedModelError(f"{home!r} has no algorithm {name!r}") from None
    try:
        return kind.load(path, device="cpu")
    except Exception as reason:  # whatever its pickles raise
        said = " ".join(str(reason).split())[:300]
        raise ZippedModelError(f"{str(path)!r} cannot be loaded as {name}: {type(reason).__name__}: {said}") from reason
