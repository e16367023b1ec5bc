"""Docstrings as HTML: paragraphs, indented code, and lines "name: what it means"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from html import escape

from scripts.docs.links import Links, code, to_rules

_NAME = r'"?\*{0,2}[a-z_][\w*]*"?(?: \([^)]*\))?'
_FIELD = re.compile(rf"({_NAME}(?:, {_NAME})*): (?=\S)")
_NEXT = re.compile(rf"\n|; (?={_NAME}(?:, {_NAME})*: \S)")
_URL = re.compile(r"(https?://[^\s<)]+)")


def fields_of(doc: str) -> dict[str, str]:
    """What a docstring says of each name, by name."""
    found: dict[str, str] = {}
    for paragraph in _paragraphs(doc):
        for names, meaning in _entries(paragraph)[1]:
            found |= dict.fromkeys(re.split(r",\s*", names), meaning)
    return found


def html_of(doc: str, links: Links, up: str, scopes: Iterable[str] = ()) -> str:
    """A docstring as HTML. up: from the page to the site's root; scopes: where short names are looked for first."""
    known, parts = tuple(scopes), []
    for paragraph in _paragraphs(doc):
        if all(line.startswith("    ") for line in paragraph):
            parts.append(f"<pre><code>{escape(inspect.cleandoc(chr(10).join(paragraph)), quote=False)}</code></pre>")
            continue
        prose, entries = _entries(paragraph)
        if prose:
            parts.append(f"<p>{inline(prose, links, up, known)}</p>")
        if entries:
            rows = (f"<dt>{_names(names)}</dt><dd>{inline(text, links, up, known)}</dd>" for names, text in entries)
            parts.append(f'<dl class="fields">{"".join(rows)}</dl>')
    return "".join(parts)


def inline(text: str, links: Links, up: str, scopes: Iterable[str] = ()) -> str:
    """A line of prose: code in backticks, addresses and sections of the rules are links."""
    known, shown = tuple(scopes), []
    for i, part in enumerate(re.split(r"`([^`]+)`", text)):
        if i % 2:
            shown.append(code(part, links, up, known))
        else:
            shown.append(to_rules(_URL.sub(r'<a href="\1">\1</a>', escape(part, quote=False)), up))
    return "".join(shown)


def _paragraphs(doc: str) -> list[list[str]]:
    texts = re.split(r"\n\s*\n", inspect.cleandoc(doc))
    return [text.split("\n") for text in texts if text.strip()]


def _entries(paragraph: list[str]) -> tuple[str, list[tuple[str, str]]]:
    """A paragraph's prose, and after it the names it explains: each begins a line, or follows a semicolon."""
    first = next((i for i, line in enumerate(paragraph) if _begins(paragraph[:i], line)), len(paragraph))
    listed = "".join(f"\n{line}" if _FIELD.match(line) else f" {line.strip()}" for line in paragraph[first:])
    starts = filter(None, (_FIELD.match(piece) for piece in _NEXT.split(listed)))
    prose = " ".join(line.strip() for line in paragraph[:first])
    return prose, [(start[1], start.string[start.end() :]) for start in starts]


def _begins(before: list[str], line: str) -> bool:
    """Whether a line begins the list of names: no sentence runs into it."""
    return bool(_FIELD.match(line)) and (not before or before[-1].rstrip().endswith((".", ":")))


def _names(names: str) -> str:
    return ", ".join(f"<code>{escape(name, quote=False)}</code>" for name in names.split(", "))
