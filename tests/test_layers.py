"""Who may import whom: one direction from experiments to the engine, no cycle, exceptions by name and with a reason.

An import within a function counts like any other; one for type checkers only does not. Where circles are looked for,
a name that `crush_gym` offers lazily is an import of the module that it comes from, too.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import crush_gym

ROOT = Path(__file__).absolute().parent.parent
PACKAGES = ("crush_gym", "agents", "experiments")


class Layer(NamedTuple):
    """Modules, and which layers they may import besides their own; a name stands for what lies in it too."""

    modules: tuple[str, ...]
    below: tuple[str, ...]


LAYERS = {
    "support": Layer(
        ("crush_gym.moved", "crush_gym.sizes", "crush_gym.errors", "crush_gym.support", "crush_gym.layout",
         "crush_gym.swaps"), (),
    ),
    "levels": Layer(("crush_gym.levels",), ("support",)),
    "engine": Layer(("crush_gym.engine",), ("support", "levels")),
    "move values": Layer(("crush_gym.move_values",), ("support", "levels", "engine")),
    "runtime": Layer(("crush_gym.runtime", "crush_gym.keys"), ("support", "levels", "engine")),
    "game": Layer(
        ("crush_gym.game", "crush_gym.checks", "crush_gym.attempt_log", "crush_gym.policies",
         "crush_gym.session"),
        ("support", "levels", "engine", "move values", "runtime", "names"),
    ),
    "render": Layer(("crush_gym.render",), ("support", "levels", "game")),
    "generator": Layer(
        ("crush_gym.generator", "crush_gym.traits"),
        ("support", "levels", "engine", "move values", "runtime", "game"),
    ),
    "envs": Layer(
        ("crush_gym.envs", "crush_gym.functional", "crush_gym.sb3"),
        ("support", "levels", "engine", "runtime", "game", "render"),
    ),
    "names": Layer(("crush_gym", "crush_gym.references"), ("support", "envs")),
    "cli": Layer(
        ("crush_gym.cli", "crush_gym.__main__"),
        ("support", "levels", "runtime", "game", "render", "generator", "envs", "names"),
    ),
    "agents": Layer(
        ("agents",),
        ("support", "move values", "runtime", "game", "render", "envs", "names"),
    ),
    "experiments": Layer(
        ("experiments",),
        ("support", "levels", "engine", "runtime", "game", "render", "generator", "envs", "names", "cli", "agents"),
    ),
}  # fmt: skip
"""From the bottom to the top. `crush_gym` itself registers the environments and names the rest lazily."""

UPWARDS = {
    ("crush_gym.levels.level", "crush_gym.render"): "`_repr_html_` draws a level in a notebook",
}
"""Imports against the layers, and why; cycles are looked for without them."""


@cache
def graph(lazily: bool = False) -> Mapping[str, frozenset[str]]:
    """Our modules, and those that each imports. lazily: also those that the names of `crush_gym` come from."""
    files = {name_of(file): file for package in PACKAGES for file in (ROOT / package).rglob("*.py")}
    lazy = {name: home for home, names in vars(crush_gym)["_HOMES"].items() for name in names}

    def imported(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "imports are absolute here"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in files else node.module
                if lazily and node.module == "crush_gym":
                    yield lazy.get(alias.name, "")

    return {
        module: frozenset(
            name for node in nodes(ast.parse(file.read_text("utf-8"))) for name in imported(node) if name in files
        )
        - {module}
        for module, file in files.items()
    }


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All of a tree, but not what is under `if TYPE_CHECKING:`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        waiting += node.orelse if isinstance(node, ast.If) and typing_only else ast.iter_child_nodes(node)


def layers_of(module: str) -> list[str]:
    """The layers whose names fit best: `crush_gym` has only itself."""
    fitting = {
        name: max((len(m) for m in layer.modules if module == m or lies_in(module, m)), default=0)
        for name, layer in LAYERS.items()
    }
    return [name for name, length in fitting.items() if length]


def lies_in(module: str, package: str) -> bool:
    return package != "crush_gym" and fnmatchcase(module, f"{package}.*")


def imports() -> Iterator[tuple[str, str]]:
    return ((module, other) for module, others in graph().items() for other in others)


def test_every_module_lies_in_one_layer() -> None:
    assert {module: layers_of(module) for module in graph() if len(layers_of(module)) != 1} == {}
    assert len(graph()) > 150 and "crush_gym.game" in graph(lazily=True)["agents.attempts"] - graph()["agents.attempts"]
    assert {below for layer in LAYERS.values() for below in layer.below} <= LAYERS.keys()


def test_imports_lead_downwards() -> None:
    wrong = []
    for module, other in imports():
        (layer,), (target,) = layers_of(module), layers_of(other)
        if target != layer and target not in LAYERS[layer].below and (module, other) not in UPWARDS:
            wrong.append(f"{module} ({layer}) imports {other} ({target})")
    assert wrong == []


def test_no_layer_lies_above_one_that_it_lies_below() -> None:
    assert cycles({name: frozenset(layer.below) - {"names"} for name, layer in LAYERS.items()}) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = graph(lazily=True)
    assert cycles({m: frozenset(o for o in found[m] if (m, o) not in UPWARDS) for m in found}) == []


def test_players_import_of_the_game_only_what_is_public() -> None:
    """Strangers copy them: what stands in the `__all__` of a module, and modules that `crush_gym` itself offers."""
    hidden = []
    for file in (ROOT / "agents").rglob("*.py"):
        for node in nodes(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "crush_gym":
                public = getattr(importlib.import_module(node.module), "__all__", ())
                names = {alias.name for alias in node.names}
                hidden += [f"{name_of(file)}: {node.module}.{name}" for name in names - set(public) - OFFERED]
    assert hidden == []


OFFERED = {"layout", "moved", "policies", "render"}
"""Modules of `crush_gym` that players import as such; `moved` is for old names alone."""


def test_exceptions_are_still_needed() -> None:
    assert [pair for pair in UPWARDS if pair not in set(imports())] == []


@pytest.mark.parametrize(
    ("edges", "found"),
    [({"a": "b", "b": "c", "c": ""}, []), ({"a": "b", "b": "ca", "c": ""}, [["a", "b"]]),
     ({"a": "b", "b": "c", "c": "a", "d": "ae", "e": "d"}, [["a", "b", "c"], ["d", "e"]])],
)  # fmt: skip
def test_cycles_are_found(edges: dict[str, str], found: list[list[str]]) -> None:
    assert cycles({node: frozenset(others) for node, others in edges.items()}) == found


def cycles(edges: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Sets of modules each of which reaches all others of its set, by Kosaraju's two searches."""
    back: dict[str, set[str]] = {node: set() for node in edges}
    for node, others in edges.items():
        for other in others:
            back[other].add(node)
    order: list[str] = []
    seen: set[str] = set()
    for node in edges:
        search(node, edges, seen, order)
    found, taken = [], set[str]()
    for node in reversed(order):
        part: list[str] = []
        search(node, back, taken, part)
        found += [sorted(part)] if len(part) > 1 else []
    return sorted(found)


def search(
    node: str, edges: Mapping[str, frozenset[str]] | Mapping[str, set[str]], seen: set[str], done: list[str]
) -> None:
    """Depth first; nodes are noted when all that they lead to is."""
    if node not in seen:
        seen.add(node)
        for other in sorted(edges[node]):
            search(other, edges, seen, done)
        done.append(node)
