"""Level files on disk: bounded reading of JSON, and writing that never leaves half a file."""

from __future__ import annotations

import json
import os
from typing import NoReturn

from crush_gym.levels.errors import LevelError, show, show_path
from crush_gym.levels.values import RepeatedKeys
from crush_gym.support import write_bytes

MAX_BYTES = 16 * 2**20
"""The largest level file that is read."""

_IN_WORDS = {
    "Expecting property name enclosed in double quotes": 'a key in double quotes is missing (a comma before "}"?)',
    "Illegal trailing comma before end of object": 'there is a comma before "}"',
    "Illegal trailing comma before end of array": 'there is a comma before "]"',
    "Expecting value": 'a value is missing (a comma before "]"?)',
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing after a key",
    "Unterminated string starting at": "a text has no closing quote",
    "Invalid control character at": "a text goes over the end of its line",
    "Extra data": "something follows the end of the JSON",
}
"""What Python's JSON reader says, for people who write levels."""


def read_file(path: str | os.PathLike[str]) -> object:
    """Read a JSON file, or raise a `LevelError` that says what is wrong with it."""
    source = show_path(path)
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise LevelError("is a directory, expected a level file", source) from None
    except FileNotFoundError:
        raise LevelError("there is no such file", source) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LevelError(f"cannot be read: {reason}", source) from None
    return parse_json(content, source)


def parse_json(text: object, source: str = "the text") -> object:
    """Parse a JSON text of bounded size; `source` names it in errors."""
    if not isinstance(text, (str, bytes)):
        raise LevelError(f"expected JSON text, not {show(text)}", source)
    if len(text) > MAX_BYTES:
        raise LevelError(f"is larger than {MAX_BYTES // 2**20} MiB: no level file is; it was not read", source)
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        return json.loads(decoded, object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise LevelError(f"is not UTF-8 text: byte {error.start} is the first wrong one", source) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        said = _IN_WORDS.get(error.msg, error.msg)
        raise LevelError(f"is not JSON: {said} at {place} of the text", source) from None
    except RecursionError:
        raise LevelError("is nested far too deeply for a level file", source) from None
    except ValueError as error:
        raise LevelError(f"is not JSON that a level can use: {error}", source) from None


def write_file(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file: whoever reads it sees all of the old one or all of the new one."""
    write_bytes(path, text.encode("utf-8"))


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    return content if len(content) == len(pairs) else RepeatedKeys(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
