"""Items and their tokens (rulebook sections 1 and 2)."""

from dataclasses import dataclass

COLOUR_LETTERS = "abcdefg"

STRIPED = ("striped-h", "striped-v")
SPECIAL = ("striped-h", "striped-v", "wrapped")
INGREDIENTS = ("cherry", "hazelnut")
FUSED = ("fused3", "fused5")
STUCK_FAST = ("icing", "chocolate", "empty")


@dataclass(frozen=True)
class Item:
    """One item; `kind` is a word of section 1. Only candies have a colour (1-7); 0 means none."""

    kind: str
    colour: int = 0
    counter: int | None = None
    """A candy bomb's counter."""
    fresh: bool = False
    """A candy bomb that appeared during this move (section 8, step 4)."""
    plus5: bool = False
    drop: bool = False
    layers: int = 0
    """Layers of icing."""

    @property
    def is_candy(self) -> bool:
        return self.colour > 0

    @property
    def is_special(self) -> bool:
        """Striped or wrapped."""
        return self.kind in SPECIAL

    @property
    def is_colour_bomb(self) -> bool:
        return self.kind == "colour bomb"

    @property
    def is_tagged(self) -> bool:
        return self.counter is not None or self.plus5 or self.drop

    @property
    def is_untagged_plain(self) -> bool:
        return self.kind == "plain" and not self.is_tagged

    @property
    def falls(self) -> bool:
        """Section 1's table: everything but icing and chocolate (and nothing at all) falls."""
        return self.kind not in STUCK_FAST

    @property
    def can_be_swapped(self) -> bool:
        """Section 1's table: what falls can be swapped, fused items apart."""
        return self.falls and self.kind not in FUSED


EMPTY = Item("empty")

_SUFFIX = {"-": "striped-h", "|": "striped-v", "@": "wrapped"}
_WORD = {
    "_": EMPTY,
    "*": Item("colour bomb"),
    "o": Item("cherry"),
    "n": Item("hazelnut"),
    "~": Item("swirl"),
    "C": Item("chocolate"),
    "F3": Item("fused3"),
    "F5": Item("fused5"),
}


def item_from_token(token: str) -> Item:
    """Section 2: the item part of a token (no cover, no jelly)."""
    if token in _WORD:
        return _WORD[token]
    if token[0] == "I":
        return Item("icing", layers=int(token[1:]))
    colour = 1 + COLOUR_LETTERS.index(token[0])
    rest = token[1:]
    if rest == "":
        return Item("plain", colour)
    if rest in _SUFFIX:
        return Item(_SUFFIX[rest], colour)
    if rest == "+":
        return Item("plain", colour, plus5=True)
    if rest == "$":
        return Item("plain", colour, drop=True)
    if rest[0] == "!":
        return Item("plain", colour, counter=int(rest[1:]))
    raise ValueError(f"no such item: {token!r}")


def item_token(item: Item) -> str:
    """Section 2: the token of an item."""
    if item.is_candy:
        return COLOUR_LETTERS[item.colour - 1] + _candy_suffix(item)
    if item.kind == "icing":
        return f"I{item.layers}"
    for token, other in _WORD.items():
        if other.kind == item.kind:
            return token
    raise ValueError(f"no token for {item!r}")


def _candy_suffix(item: Item) -> str:
    for suffix, kind in _SUFFIX.items():
        if item.kind == kind:
            return suffix
    if item.counter is not None:
        return f"!{item.counter}"
    return "+" if item.plus5 else "$" if item.drop else ""
