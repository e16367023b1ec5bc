"""Trained players by their files: names, which weights are meant, which games they can play, and how they play."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from agents.attempts import PolicyError
from agents.learning import files
from agents.learning.files import Trained, write
from agents.learning.inputs import inputs_of
from agents.learning.networks import Architecture
from agents.registry import AgentError, make
from agents.testing import check_agent
from agents.trained import policy_of
from crush_gym import Game

SMALL = Architecture.parse("edge:layers=1,filters=4,hidden=4")


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", shape=(5, 5), colours=4, moves=6)


def trained_in(game: Game, architecture: Architecture = SMALL, seed: int = 0) -> Trained:
    inputs = inputs_of(game, preview=False)
    weights = architecture.made().init(jax.random.key(seed), jnp.ones((1, *game.shape, len(inputs.names))))
    return Trained(architecture, inputs, game.shape, weights)


@pytest.fixture
def path(game: Game, tmp_path: Path) -> str:
    write(tmp_path / "mine.safetensors", trained_in(game))
    return str(tmp_path / "mine.safetensors")


def test_is_found_by_its_path_and_named_by_its_weights(path: str, game: Game) -> None:
    digest = trained_in(game).digest
    agent = make(f"policy:{path}")
    assert agent.name == f"policy:{path}:weights={digest}"
    assert make(agent.name) == agent
    assert make(f"policy:{path}:play=sample,temperature=0.5").name.endswith(
        f":weights={digest},play=sample,temperature=0.5"
    )


def test_weights_that_were_trained_again_are_not_taken_for_the_old_ones(path: str, game: Game) -> None:
    name = make(f"policy:{path}").name
    write(path, trained_in(game, seed=1))
    assert make(f"policy:{path}").name != name
    with pytest.raises(AgentError, match="it was trained again since then"):
        make(name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("policy", "lacks its path: expected policy:PATH"),
        ("policy:ppo-comb", "'policy:ppo-comb' cannot be made: there is no file 'ppo-comb'; did you mean 'ppo-combo'?"),
        ("policy:nothing.safetensors", "there is no file 'nothing.safetensors'"),
        ("policy:{}:play=worst", "play must be one of best, sample, not 'worst'"),
        ("policy:{}:temperature=0", "temperature must be a number above 0"),
        ("policy:{}:plya=best", "there is no parameter 'plya'"),
    ],
)
def test_what_cannot_be_had_is_refused(text: str, said: str, path: str) -> None:
    with pytest.raises(AgentError, match=said):
        make(text.format(path))


def test_keeps_the_protocol(path: str, game: Game) -> None:
    check_agent(make(f"policy:{path}:play=sample"), game)


def test_games_that_it_cannot_play_are_refused(path: str, game: Game, tmp_path: Path) -> None:
    more = Game(rules="combo", shape=(6, 5), colours=5, moves=6)
    with pytest.raises(PolicyError, match=r"never saw what this game has \(colour e\).*blind=True"):
        make(f"policy:{path}").bind(more)
    make(f"policy:{path}:blind=True").bind(more)
    fixed = tmp_path / "fixed.safetensors"
    write(fixed, trained_in(game, Architecture.parse("mlp:width=4")))
    with pytest.raises(PolicyError, match=r"plays boards of 5x5 only.*this game has 6x5"):
        make(f"policy:{fixed}:blind=True").bind(more)


def test_a_low_temperature_plays_the_best_move(game: Game) -> None:
    trained = trained_in(game)
    keys = jax.random.split(jax.random.key(0), 32)
    known = {}
    for play, temperature in (("best", 1.0), ("sample", 1e-9), ("sample", 1.0)):
        policy = policy_of(game, trained.architecture, trained.inputs, trained.weights, play, temperature)
        known[play, temperature] = np.asarray(game.rollout(keys, policy=policy)[1].score)
    assert np.array_equal(known["best", 1.0], known["sample", 1e-9])
    assert not np.array_equal(known["best", 1.0], known["sample", 1.0])


def test_networks_that_ship_are_small_have_cards_and_are_made_by_name() -> None:
    assert {"expert-combo", "ppo-combo"} <= set(files.shipped())
    assert sum(place.stat().st_size for place in files.SHIPPED.glob("*.safetensors")) <= 2_000_000
    for name in files.shipped():
        agent = make(f"policy:{name}")
        card = (files.SHIPPED / f"{name}.md").read_text(encoding="utf-8")
        assert agent.name == f"policy:{name}:weights={files.read(name).digest}"
        assert files.read(name).digest in card and f"policy:{name}" in card and "crush-gym train" in card
