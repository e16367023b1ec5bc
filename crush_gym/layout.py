"""How a board is written in bits: one plane per fact, one 16-bit word per row, bit c is column c.

Every level and every state uses the planes below, in this order; a game keeps only those that its
levels can ever use. Nothing here computes anything: this is the vocabulary the other files share.
"""

MAX_SIDE = 16
MAX_COLOURS = 7
MAX_PORTALS = MAX_SIDE * MAX_SIDE // 2

COLOUR = ("colour0", "colour1", "colour2")
"""A candy's colour 1-7 in binary; 0 where there is no candy."""

KIND = ("kind0", "kind1", "kind2")
"""The kind of an item in binary: the first table below for candies, the second for the rest."""

PLAIN, STRIPED_H, STRIPED_V, WRAPPED = 0, 1, 2, 3
"""Kinds of candy (colour 1-7)."""

EMPTY, SWIRL, COLOUR_BOMB, CHERRY, HAZELNUT, FUSED3, FUSED5 = 0, 1, 3, 4, 5, 6, 7
"""Kinds of colourless item (colour 0). Icing and chocolate never move and have planes of their own."""

UNKNOWN = 2
"""Kind of a new candy whose colour nobody drew: colourless, it matches nothing. Only previews know it."""

TIMER = tuple(f"timer{i}" for i in range(7))
"""A candy bomb's counter 1-99 in binary; 0 where there is no candy bomb."""

SPENT = 127
"""How a counter that has run out is kept, so that it still reads as a candy bomb."""

TAGS = (*TIMER, "fresh", "plus5", "drop")
"""What a plain candy may carry; `fresh` marks candy bombs that appeared during this move."""

COVERS = ("lock", "marmalade")

ICING = ("icing0", "icing1", "icing2")
"""Layers of icing 1-5 in binary."""

JELLY = ("jelly1", "jelly2")
"""Jelly of at least one and of at least two layers."""

MOVING = (*COLOUR, *KIND, *TAGS)
"""Planes that travel with an item when it is swapped or falls."""

MARKS = tuple(f"mark{i}" for i in range((MAX_SIDE * MAX_SIDE).bit_length()))
"""A number that travels with an item like the planes above, in binary: only while a turn is followed item by item."""

FIXED = (*COVERS, *ICING, "chocolate", *JELLY)
"""Planes that belong to the cell."""

PLANES = (*MOVING, *FIXED)

COLOUR_LETTERS = "abcdefg"

COMBOS = (
    "striped+striped",
    "striped+wrapped",
    "wrapped+wrapped",
    "bomb+striped",
    "bomb+wrapped",
    "bomb+bomb",
)

ORDERS = (*COLOUR_LETTERS, "striped", "wrapped", "bomb", *COMBOS, "swirl", "icing", "chocolate", "lock")
"""What an order can ask for (rulebook 2), in the order of `Level.orders`."""

SPAWN_KINDS = ("cherry", "hazelnut", "swirl", "bomb", "plus5", "drop")
"""What an entry can be told to spawn besides plain candies (rulebook 2 and 7)."""
