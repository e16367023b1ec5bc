"""Imitation: networks come to what can be reached, know who plays, and learn the same from the same."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from agents.imitation import Imitation, Settings, _seen, _unpacked
from agents.learning.demonstrations import Demonstrations
from agents.learning.networks import Architecture, NetworkError
from agents.learning.pairs import mask
from tests.agents.learning.demonstrators import SIDE, written

NET = Architecture.parse("edge:layers=1,filters=8,hidden=8")
SMALL = Settings(batch=128, rate=0.01, updates=8)
NUMBER = 4000


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Demonstrations:
    return Demonstrations.open(written(tmp_path_factory.mktemp("pairs") / "moves", NUMBER, shard=1500))


@pytest.fixture(scope="module")
def of_two(tmp_path_factory: pytest.TempPathFactory) -> Demonstrations:
    return Demonstrations.open(written(tmp_path_factory.mktemp("two") / "moves", NUMBER, traits=True))


def learned(learner: Imitation, calls: int, seed: int = 0):
    state = learner.start(jax.random.key(seed))
    for _ in range(calls):
        state, metrics = learner.learn(state)
    return state, metrics


def test_a_network_comes_to_nearly_all_that_can_be_reached(known: Demonstrations) -> None:
    learner = Imitation(known, NET, SMALL, 30 * 1024)
    before = learner.examined(learner.start(jax.random.key(0)).weights)
    state, metrics = learned(learner, 30)
    test = learner.examined(state.weights, "test")
    assert before["share"] < 0.6 < 0.95 < test["share"] <= 1
    assert test["divergence"] < 0.1 < before["divergence"]
    assert abs(test["entropy"] - test["demonstrator"]) < 0.15 and test["off"] < 0.12
    assert test["top1"] > 2 * test["random"]
    assert metrics["loss/nll"] == pytest.approx(test["nll"], abs=0.2)


def test_who_is_told_who_plays_plays_as_both_do(of_two: Demonstrations) -> None:
    plain = Imitation(of_two, NET, SMALL, 30 * 1024)
    told = Imitation(of_two, NET, Settings(batch=128, rate=0.01, traits=True), 30 * 1024)
    shares = [learner.examined(learned(learner, 30)[0].weights, "test")["share"] for learner in (plain, told)]
    assert shares[0] < 0.8 and shares[1] > 0.92
    (trait,) = told.inputs.traits
    assert trait.name == "liking" and abs(trait.mean) < 0.2 and trait.sd == pytest.approx(1, abs=0.05)


def test_learning_the_players_probabilities_takes_fewer_moves(known: Demonstrations) -> None:
    shares = []
    for soft in (False, True):
        learner = Imitation(known, NET, Settings(batch=128, rate=0.01, soft=soft), 6 * 1024)
        shares.append(learner.examined(learned(learner, 6)[0].weights, "test")["divergence"])
    assert shares[1] < 0.9 * shares[0]


def test_the_same_seed_learns_the_same_and_goes_on_from_any_state(known: Demonstrations) -> None:
    learner = Imitation(known, NET, SMALL, 5 * 1024)
    one = jax.device_get(learned(learner, 3)[0])
    half = jax.device_get(learned(learner, 2)[0])
    fresh = Imitation(Demonstrations.open(known.folder), NET, SMALL, 5 * 1024)
    other = jax.device_get(fresh.learn(jax.tree.map(jax.numpy.array, half._replace(key=half.key)))[0])
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (one.weights, other.weights)), strict=True))
    another = learned(learner, 3, seed=1)[0]
    assert not np.array_equal(*(jax.tree.leaves(s.weights)[0] for s in (one, another)))


def test_boards_are_seen_as_they_are_and_moves_move_with_them(known: Demonstrations) -> None:
    learner = Imitation(known, NET, SMALL)
    pairs = known.held("validation", 50)
    batch = learner._batch(pairs)
    view, legal = _unpacked(learner.program, batch)
    bits = (pairs.planes[..., None] >> np.arange(SIDE)) & 1
    assert (np.asarray(view.planes) == 255 * np.moveaxis(bits, 1, -1)).all()
    assert (np.asarray(legal) == mask(pairs.legal, learner.program.actions)).all()
    seen, turned, action, chances = _seen(learner.program, jax.random.key(3), batch)
    assert (np.asarray(chances).argmax(axis=1) == np.asarray(action)).all()
    assert np.asarray(turned)[np.arange(50), np.asarray(action)].all()
    moved = np.asarray(action) != pairs.action
    assert 10 < moved.sum() < 50
    swapped = np.asarray(seen.planes[..., :3]).sum(axis=(1, 2))
    assert (np.sort(swapped) == np.sort(np.asarray(view.planes[..., :3]).sum(axis=(1, 2)))).all()


def test_what_cannot_be_told_is_refused(known: Demonstrations, of_two: Demonstrations) -> None:
    with pytest.raises(ValueError, match="the pairs tell no traits"):
        Imitation(known, NET, Settings(traits=True))
    with pytest.raises(ValueError, match="batch must be from 1"):
        Settings(batch=0)


def test_a_network_that_takes_no_traits_is_refused(of_two: Demonstrations, monkeypatch: pytest.MonkeyPatch) -> None:
    import flax.linen as nn

    from agents.learning import networks

    class Plain(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array):
            return nn.Dense(40)(x.reshape(len(x), -1)), x.mean(axis=(1, 2, 3))

    monkeypatch.setattr(networks, "NETWORKS", dict(networks.NETWORKS))
    networks.register("plain", Plain)
    with pytest.raises(NetworkError, match="not made to be told any"):
        Imitation(of_two, Architecture("plain"), Settings(traits=True))
