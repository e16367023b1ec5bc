"""How programs are compiled changes how fast they are, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from crush_gym import Game, load_pack
from crush_gym.game import _compiled
from crush_gym.runtime import xla
from crush_gym.runtime.xla import LEAN, QUICK, Options, alone_on_cpu, known, options_for

KEYS = jax.random.split(jax.random.key(0), 5)

pytestmark = pytest.mark.runs_long  # as users' programs are: how that is, is what is tested


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="points", shape=(5, 5), colours=4, moves=3)


def leaves(tree: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


@pytest.mark.parametrize("options", [LEAN, QUICK])
def test_a_game_plays_the_same_however_it_is_compiled(game: Game, options: Options) -> None:
    def played(options: Options) -> list[bytes]:
        bits = jax.random.key_data(KEYS).T
        state = _compiled(game.spec, "reset", options)(bits, game.level)
        after = _compiled(game.spec, "step", options)(bits, state, np.zeros(bits.shape[1], np.int32), game.level)
        return leaves((state, after))

    if not known(options):
        pytest.skip("this XLA has none of these options")
    assert played(known(options)) == played(())


def test_one_board_is_compiled_quickly_and_only_simple_games_at_length(game: Game) -> None:
    rich = Game(load_pack("basics"))
    assert options_for(game.spec, 1) == known(QUICK)
    assert options_for(game.spec, 2) == options_for(rich.spec, 2, rollout=True) == known(xla.LEAN)
    assert options_for(game.spec, 1, rollout=True) == known(xla.LEAN)
    assert options_for(rich.spec, 4096) == known(xla.LEAN)
    assert options_for(game.spec, 2, rollout=True) == options_for(game.spec, 4096) == known(xla.FULL)
    assert dict(known(QUICK))["xla_backend_optimization_level"] == 0


def test_options_that_this_xla_does_not_have_are_left_out() -> None:
    assert known((("xla_no_such_option", 1), *QUICK)) == known(QUICK)


def test_on_other_devices_nothing_is_asked_for(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla, "on_cpu", lambda: False)
    assert options_for(game.spec, 1) == ()


@pytest.mark.parametrize("call", ["legal", "step", "rollout", "observe"])
def test_parts_of_other_programs_leave_compiling_to_them(game: Game, call: str) -> None:
    """Also when none of their arguments is traced: JAX refuses options inside another program."""
    state = game.reset(KEYS)
    calls: dict[str, Callable[[], Any]] = {
        "legal": lambda: game.legal(state),
        "step": lambda: game.step(KEYS, state, np.zeros(5, np.int32)),
        "rollout": lambda: game.rollout(KEYS, state),
        "observe": lambda: game.observe(state),
    }

    def within() -> Any:
        assert not alone_on_cpu()
        return calls[call]()

    assert alone_on_cpu()
    assert leaves(jax.jit(within)()) == leaves(calls[call]())
