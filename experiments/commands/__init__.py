"""Subcommands of `crush-gym`. Nothing here imports JAX before a command runs."""
