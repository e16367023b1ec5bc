"""Where the packs and their records are, and how they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crush_gym.levels import LevelPack
from crush_gym.levels.files import write_file
from crush_gym.levels.writing import level_to_dict

LEVELS = Path(__file__).resolve().parents[2] / "crush_gym" / "levels"


def write_pack(pack: LevelPack) -> None:
    """Write a pack that people read."""
    pack.save(LEVELS / "packs" / f"{pack.name}.json")


def write_compact(pack: LevelPack) -> None:
    """Write a large pack, one level a line."""
    lines = [_compact(level_to_dict(level, aligned=False)) for level in pack]
    text = f'{{"name":"{pack.name}","levels":[\n' + ",\n".join(lines) + "\n]}\n"
    write_file(LEVELS / "packs" / f"{pack.name}.json", text)


def write_record(name: str, record: dict[str, Any]) -> None:
    """Write what was measured on a pack: a key a line, and a line for each entry of a list of objects."""
    lines = []
    for key, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f'"{key}":[\n  ' + ",\n  ".join(map(_compact, value)) + "]")
        else:
            lines.append(f'"{key}":{_compact(value)}')
    write_file(LEVELS / "records" / f"{name}.json", "{" + ",\n ".join(lines) + "}\n")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
