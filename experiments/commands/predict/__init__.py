"""`crush-gym predict`: how hard levels are for people, from how agents do on them."""

from __future__ import annotations

import experiments.commands.predict.agents as agents
import experiments.commands.predict.fit as fit
import experiments.commands.predict.level as level
import experiments.commands.predict.pack as pack
import experiments.commands.predict.test as test
from crush_gym.cli.common import Subparsers, add_command


def register(subparsers: Subparsers) -> None:
    """Add the command with its parts."""
    parser = add_command(
        subparsers, "predict", level.run, "predict how hard levels are for people, from how agents do on them",
        "predict level my-level.json", "predict pack ladder --out ladder.html",
        "predict fit people.csv --levels ladder --out model.json", "predict pack new.json --model model.json",
    )  # fmt: skip
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for part in (level, pack, fit, test, agents):
        part.register(parts)
