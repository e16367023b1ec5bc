"""Where compiled programs are kept between two calls of the command line: compiling takes longer than playing."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from pathlib import Path

FOLDER, LEAST = "JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"


def keep_programs() -> None:
    """Have JAX keep what it compiles, unless it is imported already or was told where."""
    if "jax" in sys.modules or FOLDER in os.environ:
        return
    folder = folder_of_user() / f"jax-{machine()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        os.environ[FOLDER] = str(folder)
        os.environ.setdefault(LEAST, "0.2")


def folder_of_user() -> Path:
    """The folder for what can be computed again, as the user's system has it."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "crush-gym"


def machine() -> str:
    """A name for this kind of processor: programs compiled for another one can crash, and homes are shared."""
    flags = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        flags = platform.processor()
    return hashlib.sha256(f"{platform.machine()} {flags}".encode()).hexdigest()[:12]
