"""Makes the packs that ship, fits and checks the generator: `python -m scripts.make_packs tour`.

The seeds are in the scripts. `ladder` also makes the early and late levels of the pack `thesis`; `thesis` measures
its look-alikes. `fresh` makes levels that do not ship, to judge predictions by.
"""

from __future__ import annotations

import argparse

from scripts.packs import check, effort, fresh, ladder, thesis, tour

MAKERS = {
    "effort": effort.fit,
    "check": check.report,
    "tour": tour.make,
    "ladder": ladder.make,
    "thesis": thesis.make,
    "fresh": fresh.make,
}


def main() -> None:
    """Make what is named, in the order given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=MAKERS, metavar="name", help=", ".join(MAKERS))
    for name in parser.parse_args().names:
        MAKERS[name]()


if __name__ == "__main__":
    main()
