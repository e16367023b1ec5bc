"""What optimised HLO for a GPU is read as: on short texts in its form, and on what XLA prints for a CPU."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from benchmarks import gpu, hlo

TEXT = Path(__file__).with_name("loops.hlo").read_text()
"""Loops of rounds known and unknown, within each other."""

PLANE = 9 * 64 * 2


def test_launches_and_bytes_are_counted_with_the_rounds_of_inner_loops() -> None:
    program = hlo.read(TEXT)
    (beat,) = program.outermost("beat")
    assert program.own == 1 and dict(program.launches) == {"all-reduce": 1}
    assert [loop.trips for loop in program.loops] == [0] and [loop.trips for loop in beat.loops] == [3]
    assert dict(beat.launches) == {"fusion": 2, "copy": 1}  # its own, and the one that decides on another round
    assert beat.all_launches == 3 + 3 and dict(beat.all_kinds) == {"fusion": 5, "copy": 1}
    own = (PLANE + 64 + 2 * PLANE) + 2 * PLANE + (1 + 4)
    assert beat.bytes == own and beat.all_bytes == own + 3 * 2 * PLANE
    assert (beat.collectives, program.collectives) == (0, 1)


def test_sizes_of_shapes() -> None:
    assert hlo.size_of("u16[9,65664]{1,0}") == 9 * 65664 * 2
    assert hlo.size_of("(pred[4]{0}, s32[], f32[2,3]{1,0}, token[])") == 4 + 4 + 24


def test_what_xla_prints_is_read() -> None:
    def play(x: jax.Array) -> jax.Array:
        with jax.named_scope("beat"):
            return lax.fori_loop(0, 7, lambda _, y: lax.fori_loop(0, 5, lambda _, z: jnp.cumsum(z) ^ y, y), x)

    program = hlo.read(jax.jit(play).lower(jnp.arange(640)).compile().as_text())
    assert [loop.trips for loop in program.loops] == [7]
    (beat,) = program.outermost("beat")
    assert [loop.trips for loop in beat.loops] == [5]
    assert beat.all_launches >= 5


@pytest.mark.parametrize("text", ["", "no module", "ENTRY %main (x: u16[9]) -> u16[9] {\n  what = is this\n}"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not the text of an HLO module|is not understood"):
        hlo.read(text)


def plan(**changes: int) -> gpu.Plan:
    beat = {"launches": 30, "bytes": 10**8, "open_loops": 0, "collectives": 0} | {
        name: value for name, value in changes.items() if name != "temporary_bytes"
    }
    return {
        "program": "rollout", "game": "plain", "boards": 65536, "device": "a100", "devices": 1, "state_bytes": 100,
        "temporary_bytes": changes.get("temporary_bytes", 300), "outside": {"launches": 9, "bytes": 9}, "beats": [beat],
    }  # fmt: skip


def test_counts_that_grow_by_more_than_a_tenth_are_told() -> None:
    assert gpu.grown("plain", plan(), plan(launches=33)) == []
    assert "launches a beat were 30 and are 34" in gpu.grown("plain", plan(), plan(launches=34))[0]
    assert len(gpu.grown("plain", plan(), plan(bytes=2 * 10**8, temporary_bytes=400))) == 2
    assert len(gpu.grown("plain", plan(), plan(collectives=1))) == 1


def test_the_bound_is_the_longer_of_launches_and_bytes() -> None:
    moves = 65536 / 2
    assert gpu.bound(plan(), 2.0, 5e-6) == pytest.approx(moves / 150e-6)
    assert gpu.bound(plan(launches=1), 2.0, 5e-6) == pytest.approx(moves / (10**8 / 1.555e12))


def test_a_table_goes_between_the_marks_of_a_page(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{gpu.BEGIN}\nold\n{gpu.END}\nafter\n")
    gpu.put(page, gpu.table({"one": plan()}, {"plain": 2.0}))
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text and "| 30 |" in text
    page.write_text("no marks")
    with pytest.raises(ValueError, match="no place for the plan"):
        gpu.put(page, "text")
