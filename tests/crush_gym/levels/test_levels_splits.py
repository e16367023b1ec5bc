"""Splits and folds of packs: complete, reproducible, alike by label; and what the docs say about the ladder."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crush_gym import LevelPack, load_pack, traits_of
from crush_gym.levels import Level, families

GOOD: dict[str, Any] = {"colours": 5, "board": ["? ?", "? ?"]}
TEN = LevelPack([Level.from_dict(GOOD | {"name": f"level {i}", "moves": i + 1}) for i in range(10)], "ten")
DOCS = (Path(__file__).parents[3] / "docs" / "packs.md").read_text(encoding="utf-8")


def test_folds_test_every_level_once_and_learn_on_the_others() -> None:
    folds = TEN.folds(3, seed=4)
    assert sorted(name for _, test in folds for name in test.names) == sorted(TEN.names)
    assert sorted(len(test) for _, test in folds) == [3, 3, 4]
    for number, (train, test) in enumerate(folds, 1):
        assert (train.name, test.name) == (f"ten train {number}", f"ten test {number}")
        assert list(TEN.names) == sorted(train.names + test.names, key=TEN.names.index)
        assert list(test.names) == [name for name in TEN.names if name in test]
    assert TEN.folds(3, seed=4) == folds != TEN.folds(3, seed=5)
    assert [len(test) for _, test in TEN.folds(10)] == [1] * 10 and len(TEN.folds()) == 5


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_shared_out_alike(seed: int) -> None:
    labels = "aaaaabbbcc"
    of = dict(zip(TEN.names, labels, strict=True))
    whole = Counter(labels)
    for train in (0.2, 0.5, 0.8):
        first, second = TEN.split(train, seed, by=labels)
        assert len(first) == round(10 * train) and sorted(first.names + second.names) == sorted(TEN.names)
        found = Counter(of[name] for name in first.names)
        assert all(abs(found[label] - train * whole[label]) < 1 for label in whole)
    for _, test in TEN.folds(2, seed, by=labels):
        found = Counter(of[name] for name in test.names)
        assert all(abs(found[label] - whole[label] / 2) < 1 for label in whole)
    assert TEN.split(seed=0, by=labels) != TEN.split(seed=1, by=labels)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: TEN.folds(1), "there must be 2 to 10 folds, as many as there are levels at most, not 1"),
        (lambda: TEN.folds(11), "not 11"),
        (lambda: TEN.folds(2.0), "not 2.0"),  # type: ignore[arg-type]
        (lambda: TEN.split(by="ab"), "by must be 10 labels, one for each level, not 2"),
        (lambda: families(TEN), "was not made in families"),
        (lambda: families(load_pack("ladder")[:800]), "is only a part of one that was"),
    ],
)
def test_what_cannot_be_split_so_is_refused(wrong: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        wrong()


def test_the_docs_tell_how_the_ladders_parts_differ() -> None:
    pack = load_pack("ladder")
    known = families(pack)
    assert list(dict.fromkeys(known)) == [
        "open", "jelly", "orders", "orchard", "locked", "frozen", "ticking", "everything",
    ]  # fmt: skip
    traits = {level.name: traits_of(level) for level in pack}
    columns = (("chocolate",), ("bombs", "bombs to come"), ("swirls",), ("marmalade",), ("portals",), ("ingredients",))
    rows = re.findall(r"^\| (?:`pack\[|800 of `split|the other 200).* % \|$", DOCS, re.MULTILINE)
    parts = (pack[:800], pack[800:], *pack.split(0.8, seed=0), *pack.split(by=known))
    for row, part in zip(rows, parts, strict=True):
        shares = [np.mean([any(traits[name][key] > 0 for key in keys) for name in part.names]) for keys in columns]
        assert row.split(" | ")[1:] == [*(f"{100 * s:.1f} %" for s in shares[:-1]), f"{100 * shares[-1]:.1f} % |"]


def test_the_code_of_the_docs_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(from crush_gym import load_pack\nfrom .*?)```", DOCS, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "packs.md", "exec"), names)
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["800", "200"]] * 5
