"""Where names and sections are explained: what turns `Game.step` or (rulebook 7) into a link."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

from scripts.docs.source import Module

RULES = "rules.html"
FAMILIAR = "crush_gym"
"""What it offers is known by its name alone, as are the classes of its modules; the rest goes by its module."""

_RULEBOOK = re.compile(r"(rulebook|section) (\d+)(, | and )?(\d+)?(?![\w.])")


class Links:
    """The addresses of all public names, from the site's root. here: of the page that is being written."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._places: dict[str, str] = {}
        short: dict[str, set[str]] = {}
        for module in modules:
            page = page_of(module.name)
            self._places[module.name] = page
            for item in module.items:
                for name in (item.name, *(f"{item.name}.{member.name}" for member in item.members)):
                    place = self._places.setdefault(f"{item.home}.{name}", f"{page}#{name}")
                    self._places.setdefault(f"{module.name}.{name}", place)
                    if module.name == FAMILIAR or (module.name.startswith(FAMILIAR) and item.kind == "class"):
                        short.setdefault(name, set()).add(place)
        self._short = {name: places.pop() for name, places in short.items() if len(places) == 1}

    def find(self, name: str, scopes: Iterable[str] = ()) -> str | None:
        """The address of a name as it is written in prose; scopes: what it may be short for a part of.

        A short name that several modules have means none of them elsewhere, and a module goes by its whole name.
        """
        bare = name.strip().removesuffix("()")
        for spelling in (f"{scope}.{bare}" for scope in scopes):
            place = self._places.get(spelling) or self._short.get(spelling, "")
            if "#" in place:
                return place
        return self._places.get(bare) or self._short.get(bare)

    def places(self) -> Mapping[str, str]:
        """All names and their addresses."""
        return self._places


def page_of(module: str) -> str:
    """The address of a module's page."""
    return f"api/{module}.html"


def code(text: str, links: Links, up: str, scopes: Iterable[str] = ()) -> str:
    """A piece of code in a line of prose, linked where it is a name of ours. up: from the page to the root."""
    place = links.find(text, scopes)
    shown = f"<code>{escape(text, quote=False)}</code>"
    return f'<a href="{up}{place}">{shown}</a>' if place else shown


def to_rules(html: str, up: str) -> str:
    """With "rulebook 7" as a link to that section of the rules page."""

    def section(number: str) -> str:
        return f'<a href="{up}{RULES}#section-{number}">{number}</a>'

    def linked(found: re.Match[str]) -> str:
        word, first, joint, second = found.groups()
        more = f"{joint}{section(second)}" if joint and second else joint or ""
        return f"{word} {section(first)}{more}"

    return _RULEBOOK.sub(linked, html)
