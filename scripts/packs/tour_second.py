"""The second part of the tour: mechanics together."""

from __future__ import annotations

from scripts.packs.drawing import Drawing, crossed, straight

JELLY = {"jelly": "all"}

LEVELS = (
    Drawing(
        "Castle",
        5,
        JELLY,
        ".#.....#. ......... ......... .2.....2. .2.jjj.2. .2LJJJL2. .2LJJJL2. .3LJJJL3. .3333333.",
    ),
    Drawing(
        "Lighthouse",
        5,
        {"cherry": 2, "hazelnut": 1},
        "##..o..## ##.....## ###...### ###.1.### ##.111.## ##..2..## #...2...# #...3...# .........",
        exits="ends",
        spawn={"hazelnut": {"quota": 1, "on_board": 1, "every": 2}, "cherry": {"quota": 1, "on_board": 1, "every": 3}},
    ),
    Drawing(
        "Spider Web",
        5,
        JELLY,
        "......... l...L...l .l..L..l. ..l.L.l.. .LLLjLLL. ..l.L.l.. .l..L..l. l...L...l .........",
    ),
    Drawing(
        "Bomb Squad",
        5,
        {"orders": {"a": 36, "striped": 4}},
        "#..#.#..# ......... .b.....b. ......... ...d.d... ......... ..L...L.. ...LLL... #..#.#..#",
        {"b": "?!18", "d": "?!14"},
        spawn={"bomb": {"counter": 14, "on_board": 2, "every": 3}},
    ),
    Drawing(
        "Frozen Lake",
        5,
        JELLY,
        "......... ......... ......... ..11111.. .1jjjjj1. 1jJJJJJj1 1jJJJJJj1 .1jjjjj1. ..11111..",
    ),
    Drawing(
        "Express Train",
        5,
        {"cherry": 2, "hazelnut": 1},
        ".o.....n. ......... ......... ......... ######### ......... ......... ......... .........",
        exits="ends",
        portals=straight("012345678", 3, 5),
        spawn={"cherry": {"quota": 1, "on_board": 1, "every": 2}},
    ),
    Drawing(
        "Night Market",
        5,
        {"orders": {"a": 70, "b": 70, "c": 70}},
        "##.###.## #...#...# ......... .+.....+. ....#.... .+.....+. ......... #...#...# ##.###.##",
        seconds=60,
        spawn={"plus5": {"quota": 4, "on_board": 2, "every": 4}},
    ),
    Drawing(
        "Jam Session",
        5,
        {"jelly": "all", "orders": {"striped": 5}},
        "..#...#.. ......... ....j.... ...jjj... ..jM.Mj.. ...jjj... ....j.... MM.....MM MM#...#MM",
    ),
    Drawing(
        "Sweet Siege",
        5,
        {"jelly": "all", "cherry": 2},
        ".o.....o. ......... ......... ......... ..1...1.. .11...11. .jj.C.jj. .jj.C.jj. 1jjCCCjj1",
        exits="ends",
    ),
    Drawing(
        "Liquorice Maze",
        5,
        JELLY,
        "......... ......... .~.~.~.~. ......... ######### .jjjjjjj. .~L~.~L~. .jjjjjjj. .........",
        portals=crossed("012345678", 3, 5),
        spawn={"swirl": {"quota": 10, "on_board": 6, "every": 1}},
    ),
    Drawing(
        "Clock Tower",
        5,
        {"jelly": "all", "orders": {"striped": 4}},
        "###...### ##.....## ##..+..## ##jjjjj## ##jJJJj## ##jJ+Jj## ##jJJJj## ##jjjjj## #.......#",
        seconds=60,
    ),
    Drawing(
        "The Labyrinth",
        5,
        {"hazelnut": 2},
        "n...#...n ....#.... .###.###. ....1.... .##.2.##. ....2.... .###.###. ....#.... ....#....",
        exits="ends",
    ),
    Drawing(
        "Crown",
        5,
        {"jelly": "all", "orders": {"c": 25, "bomb": 1}},
        ".#..#..#. .#..#..#. ..#...#.. ......... .J..J..J. .jj.j.jj. .jjjjjjj. .J$j$j$J. .jjjjjjj.",
    ),
    Drawing(
        "Volcano",
        5,
        {"orders": {"icing": 14, "d": 40}},
        "###...### ##.b.b.## ##.....## #...*...# #..1.1..# .1.2.2.1. .12...21. 123...321 .........",
        {"b": "?!20"},
        spawn={"bomb": {"counter": 15, "on_board": 2, "every": 3}},
    ),
    Drawing(
        "Chequered Floor",
        6,
        JELLY,
        ".J.J.J.J. j.j.j.j.j .J.J.J.J. j.j.j.j.j .J.J.J.J. j.j.j.j.j .J.J.J.J. j.j.j.j.j .J.J.J.J.",
    ),
    Drawing(
        "Cocoa Harbour",
        5,
        {"cherry": 2, "orders": {"chocolate": 12}},
        "..o...o.. ......... ......... ......... #...C...# ##.CCC.## #.CC.CC.# ..C...C.. .........",
        exits="ends",
    ),
    Drawing(
        "Snowflake",
        6,
        {"orders": {"icing": 20, "lock": 4}},
        "......... .1..2..1. ..1.2.1.. ...L1L... .2211122. ...L1L... ..1.2.1.. .1..2..1. .........",
    ),
    Drawing(
        "Hourglass Run",
        6,
        {"score": 1},
        "......... +.......+ #..~.~..# ##.....## ###.+.### ##.....## #..~.~..# ......... .........",
        seconds=60,
        spawn={"plus5": {"quota": 5, "on_board": 2, "every": 3}, "swirl": {"quota": 6, "on_board": 4}},
    ),
    Drawing(
        "Sweet Shop",
        6,
        {"orders": {"a": 20, "b": 20, "wrapped": 2, "swirl": 8, "lock": 6}},
        ".#..#..#. ......... .L~...~L. ......... #.L...L.# ......... .L~...~L. ......... .#..#..#.",
        spawn={"swirl": {"quota": 6, "on_board": 5, "every": 1}},
    ),
    Drawing(
        "Grand Finale",
        6,
        {"jelly": "all", "cherry": 1, "orders": {"striped": 2, "icing": 6}},
        "#...o...# ......... .L..*..L. ....b.... ######### .jJ...Jj. .J1C.C1J. mj2...2jm m.1...1.m",
        {"b": "?!30"},
        exits="ends",
        portals=crossed("012345678", 3, 5),
        spawn={"bomb": {"counter": 25, "on_board": 1, "every": 8}, "drop": {"quota": 10, "on_board": 3, "every": 2}},
    ),
)
