"""Look-alikes of the levels 13, 77 and 100 of the theses: drawn, with their statistics."""

from __future__ import annotations

from scripts.packs.drawing import Drawing, straight

JELLY = {"jelly": "all"}

LEVELS = (
    Drawing(
        "look-alike 13",
        6,
        JELLY,
        "#...#...# .jjj.jjj. .jjj.jjj. ......... ..#...#.. ......... .jjj.jjj. .jj.j.jj. #.#.#.#.#",
        moves=21,
    ),
    Drawing(
        "look-alike 77",
        4,
        JELLY,
        "#...#...# ......... ......... ......... L.......L ######### M.#...#.M m.#LML#.m mm#mmm#mm",
        {"m": "{?}''"},
        moves=25,
        portals=straight("0134578", 4, 6),
    ),
    Drawing(
        "look-alike 100",
        6,
        JELLY,
        "......... ..$...$.. ....b.... ......... 22LLLLL22 2lllllll2 2iiiiiii2 2lllllll2 22iI2Ii22",
        {"b": "?!15"},
        moves=20,
        spawn={"drop": {"on_board": 3, "every": 3}},
    ),
)
