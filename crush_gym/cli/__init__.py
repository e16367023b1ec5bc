"""The command line `crush-gym`: one file per subcommand; other packages add theirs under `crush_gym.commands`."""

from crush_gym.cli.program import main

__all__ = ["main"]
