"""What players a file holds, found without running it."""

from __future__ import annotations

import ast
from pathlib import Path

METHODS = {"act", "bind", "predict"}
"""A class with one of these is a player, or makes one."""

LARGEST = 2**20
"""Bytes of a file that is looked into."""


def players_in(module: str) -> list[str]:
    """The names of players in the module's file, where that lies in the current folder."""
    path = Path(*module.split(".")).with_suffix(".py") if module else Path()
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return []
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    nodes = (node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    return [node.name for node in nodes if _is_player(node)]


def _is_player(node: ast.ClassDef | ast.FunctionDef) -> bool:
    if isinstance(node, ast.ClassDef):
        return any(isinstance(each, ast.FunctionDef) and each.name in METHODS for each in node.body)
    first = [*node.args.posonlyargs, *node.args.args][:1]
    return [each.arg for each in first] == ["obs"]
