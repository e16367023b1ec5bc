"""What many files need and none of them is about."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_bytes"]


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file: whoever reads it sees all of the old one or all of the new one."""
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(content)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
