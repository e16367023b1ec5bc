"""Markdown as HTML: boards are drawn, code is coloured and linked, links lead to pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from scripts.docs.boards import Keep, example_html, tokens_html
from scripts.docs.links import Links, code, to_rules

DRAWN: dict[str, Callable[[str, Keep], str]] = {"example": example_html, "tokens": tokens_html}
"""Blocks that become pictures."""


@dataclass(frozen=True)
class Heading:
    """A heading of a page: its depth from 1, its anchor, its text."""

    depth: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Surroundings:
    """What a text refers to. up: from the page to the site's root; target: turns a link's address into the site's."""

    links: Links
    up: str
    target: Callable[[str], str]
    keep: Keep
    scopes: tuple[str, ...] = ()


def html_of(text: str, around: Surroundings) -> tuple[str, list[Heading]]:
    """A Markdown text as HTML, and its headings."""
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = reader.parse(re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL))
    headings = _headings(tokens)
    for token in tokens:
        if token.type == "fence":
            token.type, token.content = "html_block", _block(token, around)
        inside = False
        for child in token.children or ():
            inside = child.type == "link_open" or (inside and child.type != "link_close")
            if not (inside and child.type == "code_inline"):
                _line(child, around)
    return reader.renderer.render(tokens, reader.options, {}), headings


def coloured(source: str, language: str = "python") -> str:
    """A piece of code with its words marked."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return f"<pre><code>{escape(source, quote=False)}</code></pre>\n"
    marked: str = highlight(source, lexer, HtmlFormatter(nowrap=True))
    return f'<pre><code class="code">{marked}</code></pre>\n'


def _block(token: Token, around: Surroundings) -> str:
    language = token.info.split(maxsplit=1)[0] if token.info else ""
    return DRAWN[language](token.content, around.keep) if language in DRAWN else coloured(token.content, language)


def _line(token: Token, around: Surroundings) -> None:
    """Change a part of a line in place."""
    if token.type == "link_open":
        token.attrSet("href", around.target(str(token.attrGet("href"))))
    elif token.type == "image":
        token.attrSet("src", around.target(str(token.attrGet("src"))))
    elif token.type == "code_inline":
        token.type, token.content = "html_inline", code(token.content, around.links, around.up, around.scopes)
    elif token.type == "text":
        token.type, token.content = "html_inline", to_rules(escape(token.content, quote=False), around.up)


def _headings(tokens: Sequence[Token]) -> list[Heading]:
    """The headings, each of which gets an anchor: of a numbered one, its number, else its words."""
    found: list[Heading] = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            words = "".join(part.content for part in content.children or ())
            numbered = re.match(r"(\d+)\.? ", words)
            anchor = f"section-{numbered[1]}" if numbered else re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
            anchor = _unused(anchor, (heading.anchor for heading in found))
            opening.attrSet("id", anchor)
            found.append(Heading(int(opening.tag[1]), anchor, words))
    return found


def _unused(anchor: str, taken: Iterable[str]) -> str:
    known = set(taken)
    return next(name for n in range(1, len(known) + 2) if (name := f"{anchor}-{n}" if n > 1 else anchor) not in known)
