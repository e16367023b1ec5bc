"""The reference: a page for each public module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from scripts.docs.docstring import html_of, inline
from scripts.docs.links import Links, page_of
from scripts.docs.prose import Heading, coloured
from scripts.docs.site import Page, up_from
from scripts.docs.source import Item, Module, file_of

GROUPS = {"crush_gym": "The game", "agents": "Agents", "experiments": "Experiments"}
"""Under what the modules of each package are listed."""


def api_pages(modules: Sequence[Module], links: Links) -> list[Page]:
    """All pages of the reference, with one before them that lists every name."""
    pages = [_page(module, links) for module in modules]
    return [_overview(modules, links), *pages]


def _overview(modules: Iterable[Module], links: Links) -> Page:
    """Every public name and what it is, in a line."""
    address, parts = "api/index.html", ["<h1>Reference</h1>"]
    for module in modules:
        rows = (
            f"<tr><td>{_link(item, links, '../')}</td><td>{inline(item.summary, links, '../')}</td></tr>"
            for item in module.items
        )
        parts.append(
            f'<h2><a href="../{page_of(module.name)}"><code>{module.name}</code></a></h2>'
            f"<p>{inline(module.summary, links, '../')}</p><table>{''.join(rows)}</table>"
        )
    return Page(address, "All names", "Reference", "".join(parts))


def _page(module: Module, links: Links) -> Page:
    address = page_of(module.name)
    up, parts, headings = up_from(address), [], []
    for item in module.items:
        place = links.places()[f"{item.home}.{item.name}"]
        if place.startswith(f"{address}#"):
            parts.append(_entry(item, links, up, module.name))
            headings.append(Heading(2, item.name, item.name))
        else:
            parts.append(f"<p>{_link(item, links, up)}: {inline(item.summary, links, up)}</p>")
    home = f'<p class="home">{escape(str(file_of(module.name)))}</p>'
    said = html_of(module.doc, links, up, [module.name])
    body = f"<h1><code>{module.name}</code></h1>{home}{said}{''.join(parts)}"
    return Page(address, module.name, GROUPS[module.name.split(".")[0]], body, headings)


def _link(item: Item, links: Links, up: str) -> str:
    place = links.places()[f"{item.home}.{item.name}"]
    return f'<a href="{up}{place}"><code>{escape(item.name)}</code></a>'


def _entry(item: Item, links: Links, up: str, module: str) -> str:
    """A name of a module: how it is called, what is said about it, its fields and methods."""
    scopes = [item.name, module]
    fields = [member for member in item.members if member.kind == "field"]
    others = [member for member in item.members if member.kind != "field"]
    said = html_of(item.doc, links, up, scopes)
    members = "".join(_member(member, item, links, up, scopes) for member in others)
    return (
        f'<section class="name" id="{item.name}"><h2><code>{escape(item.name)}</code> <small>{item.kind}</small></h2>'
        f"{coloured(_called(item))}{said}{_fields(fields, links, up, scopes)}{members}</section>\n"
    )


def _member(member: Item, owner: Item, links: Links, up: str, scopes: Sequence[str]) -> str:
    name = f"{owner.name}.{member.name}"
    return (
        f'<section class="member" id="{name}"><h3><code>{escape(member.name)}</code> <small>{member.kind}</small></h3>'
        f"{coloured(_called(member))}{html_of(member.doc, links, up, scopes)}</section>\n"
    )


def _fields(fields: Sequence[Item], links: Links, up: str, scopes: Sequence[str]) -> str:
    """The fields of a class, in one list."""
    rows = (
        f'<dt id="{scopes[0]}.{field.name}"><code>{escape(field.signature)}</code></dt>'
        f"<dd>{inline(' '.join(field.doc.split()), links, up, scopes)}</dd>"
        for field in fields
    )
    return f'<dl class="fields">{"".join(rows)}</dl>' if fields else ""


def _called(item: Item) -> str:
    """How a name is written in a program."""
    if item.kind == "property":
        _, arrow, result = item.signature.rpartition(" -> ")
        return f"{item.name}: {result}" if arrow else item.name
    return item.signature
