"""Environments of their own, for what needs other packages than ours: made on first use, under `.cache`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.setup import PIP_INSTALL, ask, last_line, pythons, venv_python

ROOT = Path(__file__).resolve().parent.parent


class NotHere(RuntimeError):  # noqa: N818 - a circumstance, not a fault
    """Something that cannot be installed, or does not run, on this machine."""


@dataclass(frozen=True)
class SecondVenv:
    """An environment beside `.venv`.

    name: of its folder; what: it is for, in words; requirements: as pip reads them, with more of its options if need be
    series: of Python that serve, the best first; note: what to know before it is made
    """

    name: str
    what: str
    requirements: tuple[str, ...]
    series: tuple[tuple[int, int], ...]
    note: str

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return ROOT / ".cache" / self.name

    def python(self) -> Path:
        """Its interpreter; makes the environment where it is not there, or raises `NotHere` with a sentence."""
        python, finished, wanted = venv_python(self.folder), self.folder / "finished", "\n".join(self.requirements)
        if finished.is_file() and finished.read_text() == wanted and ask(python):
            return python
        print(f"making {self.folder.relative_to(ROOT)}: {self.note}", file=sys.stderr, flush=True)
        self._run([self._starter(), "-m", "venv", "--clear", str(self.folder)])
        self._run([str(python), *PIP_INSTALL, *self.requirements])
        finished.write_text(wanted)
        return python

    def _starter(self) -> str:
        found = {python.version[:2]: python.path for python in reversed(list(pythons()))}
        for series in self.series:
            if series in found:
                return found[series]
        oldest, newest = (".".join(map(str, end(self.series))) for end in (min, max))
        raise NotHere(f"{self.what} needs Python {oldest} to {newest}, and none was found here")

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise NotHere(f"{self.what} could not be installed: {last_line(done.stderr)}")
