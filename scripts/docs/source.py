"""What the public modules hold, read from their source without importing them, so that no extra is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("crush_gym", "agents", "experiments")
INTERNAL = ("crush_gym.checks", "crush_gym.game")
"""Files for those who change them; what `crush_gym.game` offers is shown as `crush_gym`."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Item:
    """A public name. kind: class, function, method, property, field or constant; home: the module it is written in."""

    name: str
    kind: str
    signature: str
    doc: str
    home: str
    members: tuple[Item, ...] = ()

    @property
    def summary(self) -> str:
        """Its first paragraph in one line."""
        return _first_paragraph(self.doc)


@dataclass(frozen=True)
class Module:
    """A public module. items: what it offers, in the order of its `__all__` or of its file."""

    name: str
    doc: str
    items: tuple[Item, ...]

    @property
    def summary(self) -> str:
        """Its first paragraph in one line."""
        return _first_paragraph(self.doc)


def modules(package: str) -> list[Module]:
    """The public modules of a package that offer anything, the package itself first.

    What a class leaves unsaid of a method that a protocol of its package describes is said by the protocol.
    """
    found = list(_modules(package))
    classes = [item for module in found for item in module.items if "Protocol" in item.signature]
    promised = {
        member.name: f"See `{owner.name}.{member.name}`." for owner in classes for member in owner.members if member.doc
    }

    def said(member: Item) -> Item:
        return member if member.doc or member.kind == "field" else replace(member, doc=promised.get(member.name, ""))

    def told(item: Item) -> Item:
        return replace(item, members=tuple(map(said, item.members)))

    return [replace(module, items=tuple(map(told, module.items))) for module in found]


def _modules(package: str) -> Iterator[Module]:
    for path in sorted((ROOT / package).rglob("*.py"), key=lambda path: (path.name != "__init__.py", path)):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if not _hidden(name) and (module := read(name)).items:
            yield module


def _hidden(name: str) -> bool:
    """Internal or private. A folder within a package offers what its `__all__` lists; without one it is internal."""
    parts = name.split(".")
    folders = [folder for i in range(2, len(parts) + 1) if _is_folder(folder := ".".join(parts[:i]))]
    if any(_listed(folder) is None for folder in folders):
        return True
    behind = any(_listed(folder) is not None for folder in folders if folder != name)
    return behind or name in INTERNAL or any(part.startswith("_") for part in parts)


@cache
def read(name: str) -> Module:
    """A module by its dotted name."""
    listed = _listed(name)
    names = _own_names(name) if listed is None else listed
    found = [_find(name, each) for each in names]
    items = [item for item in found if item and (listed is not None or item.doc or item.kind != "constant")]
    return Module(name, ast.get_docstring(_tree(name)) or "", tuple(items))


def file_of(name: str) -> Path:
    """Where a module is written, from the repository's root."""
    path = Path(*name.split("."))
    return path / "__init__.py" if _is_folder(name) else path.with_suffix(".py")


def _is_folder(name: str) -> bool:
    return ROOT.joinpath(*name.split(".")).is_dir()


@cache
def _tree(name: str) -> ast.Module:
    path = ROOT / file_of(name)
    return ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")


def _listed(name: str) -> list[str] | None:
    """A module's `__all__`."""
    for node in _tree(name).body:
        if isinstance(node, ast.Assign) and _target(node) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return None


def _own_names(name: str) -> list[str]:
    """The public names that a module without `__all__` defines."""
    names = [_target(node) for node in _definitions(name)]
    return [each for each in names if each and not each.startswith("_")]


def _definitions(name: str) -> list[ast.stmt]:
    """The statements of a module, without overloads: what they overload follows, and says what it does."""
    return [
        node
        for node in _tree(name).body
        if not (isinstance(node, Function) and any(ast.unparse(d) == "overload" for d in node.decorator_list))
    ]


def _target(node: ast.stmt) -> str:
    """The name that a statement defines."""
    if isinstance(node, Function | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return targets[0].id if targets and isinstance(targets[0], ast.Name) else ""


def _find(module: str, name: str) -> Item | None:
    """What a name means in a module: defined there, or imported from another of ours."""
    body = _definitions(module)
    for node, after in zip(body, [*body, None][1:], strict=True):
        if _target(node) == name:
            return _item(node, after, module)
    for part in ast.walk(_tree(module)):
        if isinstance(part, ast.ImportFrom) and part.module and part.module.split(".")[0] in PACKAGES:
            for alias in part.names:
                if (alias.asname or alias.name) == name and part.module != module:  # else it is a module of its own
                    return _named(_find(part.module, alias.name), name)
    return None


def _named(item: Item | None, name: str) -> Item | None:
    """The same under the name by which it was imported."""
    if item is None or item.name == name:
        return item
    return replace(item, name=name, signature=name + item.signature.removeprefix(item.name))


def _item(node: ast.stmt, after: ast.stmt | None, home: str, kind: str = "") -> Item:
    """A definition and what is said about it. kind: what a variable is called."""
    if isinstance(node, ast.ClassDef):
        return _class(node, home)
    if isinstance(node, Function):
        return Item(node.name, kind or "function", _signature(node), ast.get_docstring(node) or "", home)
    said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
    return Item(_target(node), kind or "constant", _shown(node), str(said or ""), home)


def _class(node: ast.ClassDef, home: str) -> Item:
    """A class with its fields and public methods; what its `__init__` says is part of what it says."""
    docs, members, signature = [ast.get_docstring(node) or ""], [], f"class {node.name}"
    if node.bases:
        signature += f"({', '.join(map(ast.unparse, node.bases))})"
    for child, after in zip(node.body, [*node.body[1:], None], strict=True):
        name, decorators = _target(child), {ast.unparse(d) for d in getattr(child, "decorator_list", ())}
        if name == "__init__" and isinstance(child, Function) and "overload" not in decorators:
            signature = _signature(child).replace("__init__", node.name, 1).removesuffix(" -> None")
            docs.append(ast.get_docstring(child) or "")
        elif name and not name.startswith("_") and "overload" not in decorators:
            read_only = bool(decorators & {"property", "cached_property", "functools.cached_property"})
            kind = "field" if not isinstance(child, Function) else "property" if read_only else "method"
            members.append(_item(child, after, home, kind))
    return Item(node.name, "class", signature, "\n\n".join(filter(None, docs)), home, tuple(members))


def _signature(node: Function) -> str:
    """A function's name, parameters and result, a parameter a line where they would be long; without self."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + [*args.defaults]
    shown = [_parameter(arg, default) for arg, default in zip(plain, defaults, strict=True)]
    shown = shown[1:] if plain and plain[0].arg in ("self", "cls") else shown
    if args.vararg or args.kwonlyargs:
        shown.append(f"*{_parameter(args.vararg) if args.vararg else ''}")
    shown += [_parameter(arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        shown.append(f"**{_parameter(args.kwarg)}")
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{node.name}({', '.join(shown)}){result}"
    return line if len(line) <= 92 else f"{node.name}(\n    " + ",\n    ".join(shown) + f",\n){result}"


def _parameter(arg: ast.arg, default: ast.expr | None = None) -> str:
    annotation = f": {ast.unparse(arg.annotation)}" if arg.annotation else ""
    equals = " = " if annotation else "="
    return f"{arg.arg}{annotation}{equals}{ast.unparse(default)}" if default is not None else f"{arg.arg}{annotation}"


def _shown(node: ast.stmt) -> str:
    """A variable with its type and, where it is short, its value."""
    annotation = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
    value = getattr(node, "value", None)
    written = f" = {ast.unparse(value)}" if value is not None else ""
    return _target(node) + annotation + (written if len(written) <= 100 else " = ...")


def _first_paragraph(doc: str) -> str:
    return " ".join(doc.split("\n\n")[0].split())
