"""Write the environments' pages in docs/, then the site: python -m scripts.docs [folder]."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from crush_gym.envs import IDS
from scripts.docs import environments
from scripts.docs.api import api_pages
from scripts.docs.links import Links
from scripts.docs.prose import Surroundings, html_of
from scripts.docs.site import Files, Page, up_from
from scripts.docs.source import PACKAGES, ROOT, modules

DOCS = ROOT / "docs"
FIRST = ("rules", "packs", "generalisation", "prediction")
"""Pages that are listed in this order, before the others of docs/."""


def main(arguments: list[str]) -> None:
    """Write all pages into a folder, which then holds nothing else of ours than they need."""
    folder = Path(arguments[0]) if arguments else ROOT / "site"
    for path, text in environments.texts().items():
        path.write_text(text, encoding="utf-8")
    pages = build(folder)
    print(f"{folder}: {len(pages)} pages; begin with {folder / 'index.html'}")


def build(folder: Path) -> list[Page]:
    """Write the site; its pages, in the order in which they are listed."""
    public = [module for package in PACKAGES for module in modules(package)]
    links, files = Links(public), Files(folder)
    pages = [_text(source, address, "Guide", links, files) for source, address in guides().items()]
    pages += [_text(environments.place(name), _address(name), "Environments", links, files) for name in IDS]
    pages += api_pages(public, links)
    files.pages(pages)
    return pages


def guides() -> dict[Path, str]:
    """The texts that are pages, by their files: the README, then what lies in docs/, then the changelog."""
    order = [DOCS / f"{name}.md" for name in FIRST]
    found = [*order, *(path for path in sorted(DOCS.glob("*.md")) if path not in order)]
    return {
        ROOT / "README.md": "index.html",
        **{path: f"{path.stem}.html" for path in found},
        ROOT / "CHANGELOG.md": "changelog.html",
    }


def addresses() -> dict[Path, str]:
    """Every text that is a page, and its address."""
    return guides() | {environments.place(name): _address(name) for name in IDS}


def _address(name: str) -> str:
    """The address of an environment's page."""
    return f"environments/{name.replace('/', '-').lower()}.html"


def _text(source: Path, address: str, group: str, links: Links, files: Files) -> Page:
    """A Markdown file as a page."""
    up = up_from(address)
    around = Surroundings(links, up, _targets(source, up, files), files.drawing(up))
    body, headings = html_of(source.read_text(encoding="utf-8"), around)
    return Page(address, headings[0].text, group, body, headings)


def _targets(source: Path, up: str, files: Files) -> Callable[[str], str]:
    """What turns an address in a file of the repository into one of the site; other files are copied beside it."""
    known = addresses()

    def target(address: str) -> str:
        path, hash_sign, anchor = address.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return address
        meant = Path(os.path.normpath(source.parent / path))
        if meant in known:
            return f"{up}{known[meant]}{hash_sign}{anchor}"
        if not meant.is_file():
            raise FileNotFoundError(f"{source.relative_to(ROOT)} leads to {address!r}, which is not there")
        place = meant.relative_to(ROOT).as_posix()
        files.copy(meant, f"files/{place}")
        return f"{up}files/{place}{hash_sign}{anchor}"

    return target


if __name__ == "__main__":
    main(sys.argv[1:])
