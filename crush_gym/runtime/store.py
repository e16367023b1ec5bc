"""Where compiled programs lie from one process to the next: a folder that nobody else can write to.

What is read there is run. So the folder and every entry have to be the user's own, and an entry has to fit its name by
a digest, which finds damage. Nothing here raises or warns: what cannot be read or written is as if it was not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import jax

SWITCH = "CRUSH_GYM_CACHE"
"""The environment's variable: "off", or a folder to use instead of the system's own for such things."""

ENTRY, DRAFT = ".program", ".draft"
DIGEST = hashlib.sha256().digest_size

MOST = 1 << 30
"""Bytes of all entries together; beyond them go those that were not used for the longest time."""

LARGEST = 1 << 27
"""Bytes of one entry."""


class Place(NamedTuple):
    """Where programs are kept. folder: None, they are not, and `reason` says why."""

    folder: Path | None
    reason: str = ""


def place() -> Place:
    """Where programs are kept now; the folder is made if it is not there."""
    wanted = os.environ.get(SWITCH, "")
    if wanted == "off":
        return Place(None, f"{SWITCH}=off")
    if own := of_jax():
        return Place(None, f"JAX keeps them, in {own}")
    try:
        folder = Path(wanted).expanduser().absolute() if wanted else folder_of_user() / "programs"
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if not stat.S_ISDIR(folder.stat().st_mode):
            return Place(None, f"{folder} is not a folder")
        if not _is_own(folder.stat()):
            return Place(None, f"others can write to {folder}")
    except (OSError, RuntimeError) as error:
        return Place(None, f"there can be no folder: {error}")
    return Place(folder)


def of_jax() -> str | None:
    """Where JAX itself was told to keep what it compiles."""
    return jax.config.values.get("jax_compilation_cache_dir") or None


def folder_of_user() -> Path:
    """The folder for what can be computed again, as the user's system has it."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "crush-gym"


def read(folder: Path, key: str) -> bytes | None:
    """The entry of this key, used now; None where there is none that is whole and the user's own."""
    try:
        with (folder / (key + ENTRY)).open("rb") as file:
            found = os.fstat(file.fileno())
            if not _is_own(found) or found.st_size > LARGEST + DIGEST:
                return None
            content = file.read()
        body = content[DIGEST:]
        if content[:DIGEST] != _digest(key, body):
            return None
        with contextlib.suppress(OSError):
            os.utime(folder / (key + ENTRY))
        return body
    except OSError:
        return None


def write(folder: Path, key: str, body: bytes) -> None:
    """Make this entry, whole or not at all, in place of one that may be there; then remove what is too much."""
    if len(body) > LARGEST:
        return
    with contextlib.suppress(OSError):
        handle, draft = tempfile.mkstemp(suffix=DRAFT, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, body) + body)
            os.replace(draft, folder / (key + ENTRY))
        except BaseException:
            os.unlink(draft)
            raise
        _remove_oldest(folder)


def entries(folder: Path) -> dict[Path, os.stat_result]:
    """The entries, and drafts that were left behind."""
    found = {}
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.suffix in (ENTRY, DRAFT):
                with contextlib.suppress(OSError):
                    found[path] = path.stat()
    return found


def _remove_oldest(folder: Path) -> None:
    known = entries(folder)
    total = sum(entry.st_size for entry in known.values())
    for path in sorted(known, key=lambda path: known[path].st_mtime):
        if total <= MOST:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= known[path].st_size


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).digest()


def _is_own(found: os.stat_result) -> bool:
    """Whether only this user can write there; Windows' folders of users are their own."""
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
