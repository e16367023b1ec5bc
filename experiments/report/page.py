"""A page: one HTML file without scripts that needs nothing but itself."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crush_gym.render.candies import definitions
from experiments.report.blocks import facts
from experiments.report.html import Content, Html, inline, join, tag
from experiments.report.style import style

CANDIES = ("f", "b", "d", "a", "c", "e", "g")


class PageError(RuntimeError):
    """A page that cannot be written, with the sentence that says why."""


@dataclass(frozen=True)
class Section:
    """A heading and what is under it: blocks from `experiments.report.blocks`."""

    heading: str
    blocks: tuple[Html, ...]

    @property
    def anchor(self) -> str:
        """What a link to it ends in."""
        return re.sub(r"[^a-z0-9]+", "-", self.heading.lower()).strip("-") or "section"


def section(heading: str, *blocks: Html) -> Section:
    """A section of these blocks."""
    return Section(heading, blocks)


@dataclass(frozen=True)
class Page:
    """lead: what a reader in a hurry should know. facts: at the page's end, such as versions."""

    title: str
    lead: Content
    sections: tuple[Section, ...]
    facts: Mapping[str, Content] = field(default_factory=dict)

    def html(self) -> str:
        """The whole file."""
        head = join(
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", self.title),
            tag("style", Html(style())),
        )
        body = join(self._header(), tag("main", *map(_section, self.sections)), self._footer())
        return f'<!doctype html>\n<html lang="en">{tag("head", head)}\n{tag("body", body)}</html>\n'

    def write(self, path: Path | str) -> None:
        """Write the file whole or not at all."""
        target = Path(path)
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(self.html(), encoding="utf-8")
            partial.replace(target)
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise PageError(f"the page {str(target)!r} cannot be written: {error.strerror}") from None

    def _header(self) -> Html:
        links = [tag("a", each.heading, href=f"#{each.anchor}") for each in self.sections]
        lead = tag("p", inline(self.lead), class_="lead")
        return tag(
            "header", _candies(), tag("h1", self.title), lead, *((tag("nav", *links),) if len(links) > 2 else ())
        )

    def _footer(self) -> Html:
        return tag("footer", *((facts(self.facts),) if self.facts else ()))


def _section(one: Section) -> Html:
    return tag("section", tag("h2", one.heading, id=one.anchor), *(join(block, "\n") for block in one.blocks))


def _candies() -> Html:
    """A row of candies, as an ornament."""
    drawings = definitions()
    needed = ["shine", *(name for letter in CANDIES for name in (f"fill-{letter}", f"clip-{letter}", letter))]
    parts = "".join(drawings[name] for name in needed).replace("~", "candy-")
    uses = "".join(f'<use href="#candy-{letter}" x="{70 * place}"/>' for place, letter in enumerate(CANDIES))
    box = f"0 0 {70 * len(CANDIES)} 64"
    return Html(f'<svg class="candies" viewBox="{box}" aria-hidden="true"><defs>{parts}</defs>{uses}</svg>')
