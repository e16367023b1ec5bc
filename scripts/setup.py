"""Make a virtual environment and install the project into it: `python3 scripts/setup.py --help`.

Any Python from 3.7 on can start this file; it looks for one that is new enough itself.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NAMES = ("python3", "python", "python3.13", "python3.12", "python3.11", "python3.14")
EXTRAS = "test,lint,bench,render,sb3,docs,learn,search"
PIP_INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=2")
NOT_FOUND = 3  # exit status: no Python of the wanted series on this machine


class Python(NamedTuple):
    """An interpreter: where it is and how new."""

    path: str
    version: tuple[int, int, int]

    def __str__(self) -> str:
        return "Python " + ".".join(map(str, self.version))


def main() -> None:
    """Bring the environment up to date, or say in one sentence why that is impossible."""
    options = parse_arguments()
    venv = ROOT / options.venv
    python = python_for(venv, options.python, options.series)
    wanted = fingerprint(python, options.extras)
    stamp = venv / "crush-gym.stamp"
    if stamp.is_file() and stamp.read_text() == wanted and ask(venv_python(venv)):
        print(f"{options.venv}: up to date ({python})")
        return
    create(venv, python)
    install(venv, options.extras)
    stamp.write_text(wanted)
    print(f"{options.venv}: ready")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Make a virtual environment with everything installed.")
    parser.add_argument("--venv", default=".venv", help="where it goes (default: %(default)s)")
    parser.add_argument("--python", default="", help="the interpreter to use (default: the first that fits)")
    parser.add_argument("--series", default="", help="3.11 for just that one, 3.12+ for that one or later")
    parser.add_argument("--extras", default=EXTRAS, help="optional dependencies (default: %(default)s)")
    return parser.parse_args()


def python_for(venv: Path, command: str, series: str) -> Python:
    """The interpreter for `venv`: the one asked for, the one it already has, or the first that fits."""
    if command:
        chosen = ask(command)
        if chosen is None:
            fail(f"{command} does not run here: give another PYTHON=.")
        if not fits(chosen.version, series):
            fail(f"{command} is {chosen}, and Python {series or '3.11 or later'} is needed.")
        return chosen
    present = ask(venv_python(venv))
    if present is not None and fits(present.version, series):
        return present
    for found in pythons():
        if fits(found.version, series):
            return found
    fail(
        f"No Python {series or '3.11 or later'} was found: install one, or give PYTHON=/path/to/python.",
        NOT_FOUND,
    )


def pythons() -> Iterator[Python]:
    """Every interpreter this machine offers, the most obvious ones first."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    installed = sorted(pyenv.glob("versions/3.*/bin/python"), reverse=True)
    for command in (sys.executable, *NAMES, *map(str, installed)):
        found = ask(command)
        if found is not None:
            yield found


def ask(command: str | Path) -> Python | None:
    """The interpreter behind a command; None where there is none that runs."""
    path = shutil.which(str(command))
    if path is None:
        return None
    question = "import sys; print(*sys.version_info[:3]); print(sys.executable)"
    try:
        answer = subprocess.run([path, "-c", question], capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = answer.stdout.decode(errors="replace").splitlines()
    if answer.returncode != 0 or len(lines) != 2:
        return None
    major, minor, micro = map(int, lines[0].split())
    return Python(lines[1] or path, (major, minor, micro))


def fits(version: tuple[int, ...], series: str) -> bool:
    """Whether a version is new enough and of the series, if one is wanted."""
    if version[:2] < OLDEST:
        return False
    if not series:
        return True
    wanted = tuple(map(int, series.rstrip("+").split(".")))
    return version[:2] >= wanted if series.endswith("+") else version[:2] == wanted


def fingerprint(python: Python, extras: str) -> str:
    """What an environment was made from: when this changes, it is brought up to date."""
    parts = [str(python), extras, str(ROOT)]
    parts += [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() + "\n"


def create(venv: Path, python: Python) -> None:
    """Make the environment, unless it is there with the same Python already."""
    present = ask(venv_python(venv))
    if present is not None and present.version == python.version:
        return
    if venv.exists() and not (venv / "pyvenv.cfg").is_file():
        fail(f"{venv.name} exists and is not a virtual environment: move it away first.")
    print(f"{venv.name}: creating it with {python}", flush=True)
    output = run([python.path, "-m", "venv", "--clear", str(venv)])
    if output is not None:
        shutil.rmtree(venv, ignore_errors=True)
        missing = "ensurepip" in output or "No module named venv" in output
        reason = "its venv module is missing (Debian, Ubuntu: install python3-venv)" if missing else last_line(output)
        fail(f"{python} cannot make a virtual environment: {reason}")


def install(venv: Path, extras: str) -> None:
    """Install the project, editable, with the pinned versions."""
    print(f"{venv.name}: installing crush-gym[{extras}] (a minute or two the first time)", flush=True)
    python = str(venv_python(venv))
    output = run([python, *PIP_INSTALL, "-c", "constraints.txt", "-e", f".[{extras}]"])
    if output is not None:
        if "Retrying (" in output:
            fail("pip cannot reach the package index: is there a network, or a proxy to set?")
        errors = "\n".join(line for line in output.splitlines() if "ERROR" in line)
        fail(f"pip could not install the packages: {last_line(errors or output)}")


def run(command: list[str]) -> str | None:
    """Run a command from the project's folder: None when it worked, else what it wrote."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return None if done.returncode == 0 else done.stdout.decode(errors="replace")


def venv_python(venv: Path) -> Path:
    """Where an environment keeps its interpreter."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def last_line(text: str) -> str:
    """The last line of a text that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing"


def fail(sentence: str, status: int = 1) -> NoReturn:
    """Stop with one sentence."""
    print(f"setup: {sentence}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
