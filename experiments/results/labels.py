"""What levels are called where several are shown: two may have one name, such as two versions of a level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

DIGITS = 6
"""Of an identity, at least, that tell levels of one name apart."""


def labels(names: Mapping[str, str], homes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Names that tell levels apart.

    A name that no other level has is left as it is. Others are followed by the files they came from, where these are
    known and differ, else by the first digits of their identities, as in `Bridge #3fa9c1`.

    Args:
        names: of the levels by their identities.
        homes: where levels came from, by their identities.

    Returns:
        A label for each identity.
    """
    homes = homes or {}
    alike: dict[str, list[str]] = defaultdict(list)
    for identity, name in names.items():
        alike[name].append(identity)
    found = {}
    for name, identities in alike.items():
        places = {identity: homes.get(identity, "") for identity in identities}
        told = all(places.values()) and len(set(places.values())) == len(identities)
        for identity in identities:
            mark = f"({places[identity]})" if told else f"#{_short(identity, identities)}"
            found[identity] = name if name and len(identities) == 1 else f"{name} {mark}".strip()
    return found


def _short(identity: str, others: list[str]) -> str:
    """So many first digits that no other identity has the same."""
    digits = DIGITS
    while digits < len(identity) and sum(other[:digits] == identity[:digits] for other in others) > 1:
        digits += 1
    return identity[:digits]
