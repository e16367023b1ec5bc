"""Pages in one frame: the list of all pages beside the text, light or dark as the reader's machine is."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from scripts.docs.prose import Heading

NAME = "crush_gym"
STYLE = Path(__file__).parent / "style.css"
DEEPEST = 2
"""Headings down to this depth are listed under their page."""


@dataclass(frozen=True)
class Page:
    """A page. address: from the site's root; group: under which it is listed; body: HTML of the part in the frame."""

    address: str
    title: str
    group: str
    body: str
    headings: Sequence[Heading] = ()

    @property
    def up(self) -> str:
        """From the page to the site's root."""
        return up_from(self.address)


@dataclass(frozen=True)
class Files:
    """Files beside the pages. folder: the site's root."""

    folder: Path

    def drawing(self, up: str) -> Callable[[str], str]:
        """What keeps a drawing and gives its address from a page. up: from the page to the site's root."""

        def keep(document: str) -> str:
            name = f"boards/{hashlib.sha256(document.encode()).hexdigest()[:12]}.svg"
            self._write(name, document)
            return up + name

        return keep

    def copy(self, source: Path, address: str) -> None:
        """Put a file of the repository beside the pages."""
        target = self.folder / address
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    def pages(self, pages: Sequence[Page]) -> None:
        """Write all pages and their style."""
        self._write("style.css", STYLE.read_text(encoding="utf-8"))
        for page in pages:
            self._write(page.address, framed(page, pages))

    def _write(self, address: str, text: str) -> None:
        target = self.folder / address
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def up_from(address: str) -> str:
    """From a page to the site's root."""
    return "../" * address.count("/")


def framed(page: Page, pages: Iterable[Page]) -> str:
    """The whole document of a page."""
    title = NAME if page.title == NAME else f"{page.title} · {NAME}"
    listed = _listed(page, pages)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="stylesheet" href="{page.up}style.css">
</head>
<body>
<header><a href="{page.up}index.html"><b>{NAME}</b></a></header>
<details class="menu"><summary>Contents</summary>{listed}</details>
<nav aria-label="All pages">{listed}</nav>
<main>
{page.body}
</main>
</body>
</html>
"""


def _listed(page: Page, pages: Iterable[Page]) -> str:
    """All pages by groups; the one that is read shows its headings."""
    groups: dict[str, list[str]] = {}
    for each in pages:
        here = each.address == page.address
        title = f"<code>{escape(each.title)}</code>" if each.address.startswith("api/") else escape(each.title)
        link = f'<a href="{page.up}{each.address}"{" aria-current=page" if here else ""}>{title}</a>'
        inner = "".join(
            f'<li><a href="#{heading.anchor}">{escape(heading.text)}</a></li>'
            for heading in each.headings
            if 1 < heading.depth <= DEEPEST
        )
        groups.setdefault(each.group, []).append(f"<li>{link}{f'<ul>{inner}</ul>' if here and inner else ''}</li>")
    return "".join(f"<section><h2>{name}</h2><ul>{''.join(rows)}</ul></section>" for name, rows in groups.items())
