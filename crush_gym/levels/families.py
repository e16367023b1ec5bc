"""The families that levels of a pack were made in, from the records beside the packs."""

from __future__ import annotations

from importlib import resources
from typing import Any

from crush_gym.levels.files import parse_json
from crush_gym.levels.pack import LevelPack


def families(pack: LevelPack) -> tuple[str, ...]:
    """The family of each level, for `LevelPack.split` and `folds`; a `ValueError` where a pack has none.

    Args:
        pack: one that ships and was made in families, whole: `load_pack("ladder")`.
    """
    record = resources.files("crush_gym.levels") / "records" / f"{pack.name}.json"
    known: Any = parse_json(record.read_bytes()) if record.is_file() else {}
    if "families" not in known or known["hash"] != pack.content_hash():
        raise ValueError(
            f"{pack!r} was not made in families, or is only a part of one that was: load_pack('ladder') has some, and "
            "`by` takes any label for each level"
        )
    return tuple(family["name"] for family in known["families"] for _ in range(family["levels"]))
