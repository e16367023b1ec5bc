"""The study of King's networks: what is learned and how, what the page says, and that pieces are kept."""

from __future__ import annotations

import html
import itertools
import re
from pathlib import Path

import pytest

from crush_gym.cli import main
from experiments.report import Page
from experiments.statistics import Interval
from experiments.studies.king_networks import measuring
from experiments.studies.king_networks.measuring import (
    FULL,
    QUICK,
    Chosen,
    Learned,
    Measured,
    Sizes,
    best_of,
    levels_of,
    measured,
    sizes_of,
)
from experiments.studies.king_networks.page import page, verdict
from experiments.studies.king_networks.paper import BATCHES, LEFT_OUT, NETWORKS, RATES, Compared
from experiments.studies.setting import Setting, StudyError
from tests.agents.learning.demonstrators import written


def text_of(made: Page) -> str:
    text = re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", made.html(), flags=re.S))
    return re.sub(r"\s+", " ", html.unescape(text)).replace("\N{NO-BREAK SPACE}", " ")


def learned(top1: float, chosen: Chosen | None = None) -> Learned:
    return Learned(chosen or Chosen(5e-4, 512), top1, {"top1": top1 - 0.01, "nll": 1.5, "random": 0.151}, 12_345, 3.25)


def fabricated(sizes: Sizes) -> Measured:
    known = {"validation": 10_000, "test": 10_000}
    tops = dict(zip(NETWORKS, (0.40, 0.30, 0.35, 0.401, 0.45), strict=True))
    grid = {
        network: tuple(learned(top, Chosen(rate, batch)) for rate in RATES for batch in BATCHES)
        for network, top in tops.items()
    }
    table = {network: learned(top) for network, top in tops.items()}
    return Measured(sizes, "mcts:simulations=200", 111, known, grid if sizes.grid_levels else {}, table)


def test_the_page_has_the_papers_figures_beside_ours(tmp_path: Path) -> None:
    text = text_of(page(fabricated(FULL), Setting(False, tmp_path)))
    assert "12Conv+ELU+GAP 32.35 % 40.00 % 39.0 %" in text and "random 16.67 %" in text and "15.10 %" in text
    assert "ELU is better than ReLU +3.8 +5.0" in text and "less than the full study" not in text
    assert re.search(r"better than full layers \+2\.9 \+5\.0 .{0,30} holds", text)
    assert re.search(r"20 residual blocks \+2\.3 -0\.1 .{0,30} is not decided", text)
    assert "rate 5e-05 40.00 % 40.00 % 40.00 %" in text and "crush-gym study king-networks --seed 0" in text


def test_a_smaller_study_says_so_with_the_full_sizes(tmp_path: Path) -> None:
    setting = Setting(False, tmp_path, sizes={"levels": 10, "grid_levels": 0})
    text = text_of(page(fabricated(sizes_of(setting)), setting))
    assert "less than the full study, which has levels=100, pairs=5,500, simulations=200, epochs=5" in text
    assert "No hyper-parameters were searched" in text and "The search of hyper-parameters" not in text
    assert "king-networks --size levels=10 --size grid_levels=0 --seed 0" in text
    assert sizes_of(Setting(True, tmp_path)) == QUICK
    with pytest.raises(StudyError, match="grid_levels must be from 0 to 10, not 20"):
        sizes_of(Setting(False, tmp_path, sizes={"levels": 10}))


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("level=3", "has no size 'level'; there are levels, pairs"),
        ("levels=few", "--size levels must be a whole number, not 'few'"),
    ],
)
def test_sizes_that_there_are_not_are_refused(
    size: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "king-networks", "--size", size, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert main(["study", "mcadams", "--size", "levels=3", "--out", str(tmp_path)]) == 2
    assert "it has none" in capsys.readouterr().err


def test_differences_hold_or_not_or_are_not_decided() -> None:
    said = [verdict(Interval(middle, middle - 1, middle + 1)) for middle in (2, 0.5, -2)]
    assert said == ["holds", "is not decided", "does not hold"]


def test_the_first_of_many_levels_are_spread_as_well() -> None:
    names = [task.name for task in levels_of(8)]
    assert len(set(names)) == 8 and {"ladder 1", "ladder 1000"} <= set(names)
    numbers = sorted(int(name.split()[1]) for name in names[:4])
    assert all(200 < later - earlier < 300 for earlier, later in itertools.pairwise(numbers))


def test_the_best_of_those_tried_is_chosen_and_what_broke_down_is_not() -> None:
    tried = (
        learned(0.2, Chosen(5e-5, 128)),
        Learned(Chosen(1e-4, 128), None, {}, 1, 0.0),
        learned(0.3, Chosen(1e-4, 256)),
    )
    assert best_of(tried) == Chosen(1e-4, 256) and best_of(tried[1:2]) == best_of(()) == Chosen(5e-4, 512, 0.5)


def test_pieces_are_kept_and_not_learned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = (
        Compared("small", "king:layers=2,filters=4,head=fc,hidden=8", 0.3),
        Compared("edge", "edge:filters=4,layers=1", None),
    )
    monkeypatch.setattr(measuring, "NETWORKS", small)
    monkeypatch.setattr(measuring, "RATES", (5e-3,))
    monkeypatch.setattr(measuring, "BATCHES", (128,))
    monkeypatch.setattr(measuring, "record", lambda agent, tasks, pairs, folder, seed, told: 2000)
    setting = Setting(False, tmp_path, sizes={"levels": 2, "pairs": 1000, "epochs": 2, "grid_levels": 1})
    written(tmp_path / "king-networks" / "2-1000-200-seed-0" / "moves", 2000)
    found = measured(setting)
    first, second = found.table.values()
    assert second.top1 is not None and second.top1 > 1.3 * second.test["random"]
    assert [each.chosen.left_out for each in found.grid[small[0]]] == [0.5, *sorted({*LEFT_OUT} - {0.5})]
    assert len(found.grid[small[1]]) == 1 and first.chosen == best_of(found.grid[small[0]])
    states = {path: path.read_bytes() for path in tmp_path.rglob("progress.jsonl")}
    assert len(states) == 3 + 1 + 2
    assert measured(setting).table == found.table
    assert all(path.read_bytes() == content for path, content in states.items())
