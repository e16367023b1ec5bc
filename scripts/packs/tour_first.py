"""The first part of the tour: every mechanic alone."""

from __future__ import annotations

from scripts.packs.drawing import Drawing, crossed, straight

SCORE = {"score": 1}
JELLY = {"jelly": "all"}

CANDY = (
    Drawing("First Steps", 4, SCORE, "....... ....... ....... ....... ....... ....... .......", moves=12),
    Drawing(
        "Stripes",
        4,
        SCORE,
        ".a...b. ....... ....... ...d... ....... ....... .b...a.",
        {"a": "a-", "b": "b|", "d": "d-"},
        moves=12,
    ),
    Drawing(
        "Wrapped Gifts",
        5,
        SCORE,
        "......... ......... ..a...b.. ......... ....cd... ......... ..b...a.. ......... .........",
        {"a": "a@", "b": "b@", "c": "c@", "d": "d@"},
        moves=14,
    ),
    Drawing(
        "Colour Burst",
        5,
        SCORE,
        "......... .*.....*. ......... ......... ....*.... ......... ......... .*.....*. .........",
        moves=12,
    ),
    Drawing(
        "Hourglass",
        5,
        SCORE,
        "......... ......... #.......# ##.....## ###...### ##.....## #.......# ......... .........",
        moves=18,
    ),
    Drawing(
        "Butterfly",
        5,
        SCORE,
        "...###... ....#.... ......... ......... #.......# ......... ......... ....#.... ...###...",
        moves=20,
    ),
)

JELLIES = (
    Drawing(
        "First Jelly",
        5,
        JELLY,
        "......... ......... ......... ...jjj... ...jjj... ...jjj... ......... ......... .........",
    ),
    Drawing(
        "Jelly Heart",
        5,
        JELLY,
        "......... ..jj.jj.. .jjjjjjj. .jjjjjjj. .jjjjjjj. ..jjjjj.. ...jjj... ....j.... .........",
    ),
    Drawing(
        "Double Dip",
        5,
        JELLY,
        "......... ......... ..jjjjj.. ..jJJJj.. ..jJJJj.. ..jJJJj.. ..jjjjj.. ......... .........",
    ),
    Drawing(
        "Four Corners",
        5,
        JELLY,
        "jjj...jjj jJj...jJj jj.....jj ......... ......... ......... jj.....jj jJj...jJj jjj...jjj",
    ),
    Drawing(
        "The Doughnut",
        5,
        JELLY,
        "##.....## #.jjjjj.# .jj...jj. .j.###.j. .j.###.j. .j.###.j. .jj...jj. #.jjjjj.# ##.....##",
    ),
)

INGREDIENTS = (
    Drawing(
        "First Cherry",
        5,
        {"cherry": 2},
        "..o...o.. ......... ......... ......... ......... ......... ......... .........",
        exits="ends",
    ),
    Drawing(
        "Hazelnut Harvest",
        5,
        {"hazelnut": 4},
        "...n.n... ......... ......... ......... ......... #.......# ##.....## ##.....##",
        exits="ends",
        spawn={"hazelnut": {"quota": 2, "on_board": 2, "every": 3}},
    ),
    Drawing(
        "Two Chutes",
        5,
        {"cherry": 1, "hazelnut": 1},
        ".o.....n. ......... ......... ....#.... ....#.... ....#.... ....#.... ....#.... ....#....",
        exits="ends",
    ),
    Drawing(
        "Orchard",
        5,
        {"cherry": 2, "hazelnut": 2},
        "##..o..## #.......# ......... .o.....n. ......... #.......# ##.....## ##.....## ###...###",
        exits="ends",
        spawn={"hazelnut": {"quota": 1, "on_board": 1, "every": 2}},
    ),
)

ORDERS = (
    Drawing(
        "Two Colours",
        5,
        {"orders": {"a": 36, "b": 36}},
        "#.......# ......... ......... ......... ......... ......... ......... ......... #.......#",
    ),
    Drawing(
        "Stripe Parade",
        5,
        {"orders": {"striped": 5}},
        "...#.#... ......... ......... #.......# ......... #.......# ......... ......... ...#.#...",
    ),
    Drawing(
        "Combo Kitchen",
        5,
        {"orders": {"wrapped": 2, "striped+striped": 1}},
        "#.......# ......... ..p...q.. ......... ......... ......... ......... ......... #.......#",
        {"p": "a-", "q": "b|"},
    ),
    Drawing(
        "Rainbow",
        5,
        {"orders": {"a": 26, "b": 26, "c": 26, "d": 26, "e": 26, "bomb": 1}},
        "###...### ##.....## #.......# ......... ....*.... ......... ...###... ..#####.. ..#####..",
    ),
)

TIMED = (
    Drawing(
        "One Minute",
        5,
        SCORE,
        "#.......# ......... ......... ......... ......... ......... ......... ......... #.......#",
        seconds=60,
    ),
    Drawing(
        "Borrowed Time",
        5,
        SCORE,
        "..##.##.. .+.....+. ......... ......... ....+.... ......... ......... .+.....+. ..##.##..",
        seconds=40,
        spawn={"plus5": {"quota": 4, "on_board": 2, "every": 4}},
    ),
    Drawing(
        "Clockwork",
        6,
        SCORE,
        "###...### #.......# #.......# ....#.... ...###... ....#.... #.......# #.......# ###...###",
        seconds=75,
    ),
)

BLOCKERS = (
    Drawing(
        "Lock and Key",
        5,
        {"orders": {"lock": 12}},
        "......... ......... ...LLL... ...L.L... ...LLL... ....L.... ....LL... ....L.... ....LL...",
    ),
    Drawing(
        "Marmalade Jars",
        5,
        JELLY,
        "......... ......... ......... .m.....m. .m..m..m. ....m.... .m..m..m. mmm...mmm mmm...mmm",
    ),
    Drawing(
        "Thin Ice",
        5,
        {"orders": {"icing": 14}},
        "......... ......... ......... ......... ....1.... ...121... ..12.21.. .12...21. ..2...2..",
    ),
    Drawing(
        "Glacier",
        5,
        {"orders": {"icing": 18}},
        "......... ......... ......... 1.......1 21.....12 321...123 4321.1234 ......... .........",
    ),
    Drawing(
        "Liquorice Rain",
        5,
        {"orders": {"swirl": 34}},
        "......... ......... ~.~.~.~.~ ......... .~.~.~.~. ......... ......... ......... .........",
        spawn={"swirl": {"quota": 26, "on_board": 9}},
    ),
    Drawing(
        "Cocoa Beans",
        5,
        {"orders": {"chocolate": 12}},
        "......... ......... ......... ......... ......... ......... ..C...C.. .CCC.CCC. ..C...C..",
    ),
    Drawing(
        "Chocolate Factory",
        5,
        {"orders": {"chocolate": 22}},
        "......... ......... ..#...#.. ......... ......... ....C.... C..CCC..C CC.CCC.CC CCCCCCCCC",
    ),
    Drawing(
        "Ticking",
        5,
        {"orders": {"c": 45}},
        "......... ......... ..b...b.. ......... ......... ....d.... ......... #.......# ##.....##",
        {"b": "?!16", "d": "?!13"},
        spawn={"bomb": {"counter": 12, "on_board": 2, "every": 4}},
    ),
    Drawing(
        "Sugar Rain",
        5,
        SCORE,
        "....$.... ...$.$... ..$...$.. .$.....$. $.......$ ......... ......... #.......# ##.....##",
        moves=20,
        spawn={"drop": {"quota": 30, "on_board": 8, "every": 1}},
    ),
    Drawing(
        "Through the Portal",
        5,
        JELLY,
        "......... ......... ......... ......... ######### .jjjjjjj. .jJJJJJj. .jjjjjjj. .........",
        portals=straight("012345678", 3, 5),
    ),
    Drawing(
        "Cross Over",
        5,
        JELLY,
        "...###... ...###... ...###... ...###... ######### ...###... jjj###jjj jJj###jJj jjj###jjj",
        portals=crossed("012678", 3, 5),
    ),
    Drawing(
        "Empty Pantry",
        4,
        {"orders": {"a": 14, "b": 14}},
        "#.......# ......... ......... ......... ......... ......... ......... ......... #.......#",
        more={"spawn_candies": False},
    ),
)

LEVELS = (*CANDY, *JELLIES, *INGREDIENTS, *ORDERS, *TIMED, *BLOCKERS)
