"""Pieces of HTML and SVG that are safe by construction: plain text is escaped, what is `Html` is not."""

from __future__ import annotations

import re
from html import escape as _escape
from typing import TypeAlias

VOID = frozenset({"br", "meta", "hr"})
INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\[(?P<label>[^\]]+)\]\((?P<link>[^)\s]+)\)")
BREAKS = re.compile(r"(?<=[:,=/_])(?=\w)")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Markup as it stands."""


Content: TypeAlias = "str | int | float"
"""What goes into an element: `Html` as it is, all else as text."""


def escape(text: object) -> Html:
    """Text as markup."""
    return text if isinstance(text, Html) else Html(_escape(CONTROLS.sub("", str(text))))


def join(*parts: Content) -> Html:
    """Pieces one after another."""
    return Html("".join(map(escape, parts)))


def tag(name: str, /, *children: Content, **attributes: Content | None) -> Html:
    """An element; `class_` and `font_size` are written class and font-size, attributes of None are left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>" if name in VOID else f"<{name}{written}>{join(*children)}</{name}>")


def number(value: Content) -> str:
    """An attribute's value; numbers with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def inline(text: Content) -> Html:
    """A text in which `code`, **bold** and [a link](https://...) are marked so."""
    if isinstance(text, Html):
        return text
    parts, end, plain = [], 0, str(text)
    for match in INLINE.finditer(plain):
        parts += [escape(plain[end : match.start()]), _marked(match)]
        end = match.end()
    return join(*parts, plain[end:])


def _marked(match: re.Match[str]) -> Html:
    if match["code"]:
        return tag("code", breakable(match["code"]))
    return tag("strong", match["strong"]) if match["strong"] else tag("a", match["label"], href=match["link"])


def breakable(name: str) -> Html:
    """A long name that may be broken into lines where its parts meet."""
    return Html("<wbr>".join(map(escape, BREAKS.split(name))))
