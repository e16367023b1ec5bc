"""What reads the command line: as argparse does, in any order, and offers what may have been meant."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any


class Parser(argparse.ArgumentParser):
    """Its subcommands' parsers are of this kind, too; what one of them does not know, it refuses with its own usage."""

    _within = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Read the arguments, options between others too; none may be left over."""
        if self._within or self._subparsers is not None:  # argparse calls this one for what stands between options
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            found, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._within = False
        if unknown:
            known = [name for action in self._actions for name in action.option_strings]
            meant = _meant(unknown[0].partition("=")[0], known)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _meant(value, map(str, action.choices or ()))
            raise


def _meant(word: object, known: Iterable[str]) -> str:
    from crush_gym.levels.values import did_you_mean

    return did_you_mean(word, known)
