"""The command line `crush-gym`: one file per subcommand; other packages add theirs under `crush_gym.commands`."""

from crush_gym.cli.program import console, main

__all__ = ["console", "main"]
