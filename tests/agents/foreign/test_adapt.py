"""Players of other kinds: plain Python, Gymnasium policies, and the template that people copy."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest

import agents.template
from agents.attempts import PolicyError, play
from agents.foreign.adapt import adapt
from agents.protocol import Agent
from agents.registry import make
from crush_gym import Game, LevelPack, Stats
from crush_gym.cli import main
from crush_gym.envs.views import space
from crush_gym.keys import player_key
from crush_gym.swaps import swap_of
from experiments import evaluate
from experiments.results.simple import simple_task

SMALL = {"shape": (5, 5), "colours": 4, "moves": 6}
ATTEMPTS = 6


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(rules="combo", **SMALL)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def keys() -> jax.Array:
    return jax.random.split(jax.random.key(5), ATTEMPTS)


@pytest.fixture
def my_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The template, copied to an empty folder, which is the current one."""
    shutil.copy(agents.template.__file__, tmp_path / "my_player.py")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("my_player", None)


class Clerk:
    """Counts its moves and draws random numbers: whoever shares either with another board plays otherwise."""

    def __init__(self) -> None:
        self.notes: list[int] = []

    def act(self, obs: Any, mask: Any, rng: np.random.Generator) -> int:
        self.notes.append(len(self.notes))
        legal = np.flatnonzero(mask)
        return int(legal[(len(self.notes) * int(rng.integers(100)) + int(obs.sum())) % len(legal)])


class Model:
    """A policy for Gymnasium that was made for masks: the last legal action."""

    def predict(self, observation: Any, action_masks: Any = None, deterministic: bool = False) -> Any:
        assert deterministic and observation.shape[0] == len(action_masks)
        return action_masks.shape[1] - 1 - np.argmax(action_masks[:, ::-1], axis=1), None


def played(agent: Agent, game: Game, keys: jax.Array) -> Stats:
    assert game.level is not None
    return play(agent.bind(game), game, keys, game.level)


def equal(one: Stats, other: Stats) -> bool:
    return all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(one, other, strict=True))


def by_hand(game: Game, key: jax.Array, player: Any) -> Stats:
    """One attempt as a loop over `reset`, `legal` and `step`, on a batch of one."""
    rng = np.random.default_rng(np.asarray(jax.random.key_data(player_key(key))))
    state, made = game.reset(key[None]), 0
    while (mask := np.asarray(game.legal(state))[:, 0]).any():
        action = player.act(np.asarray(game.observe(state))[..., 0], mask, rng)
        move = jax.random.fold_in(key, made)[None]
        state, made = game.step(move, state, np.array([action]), game.level)[0], made + 1
    return game.stats(state, game.level)


# ---------------------------------------------------------------------------------- the template


@pytest.mark.usefixtures("my_player")
def test_both_forms_of_the_copied_template_play_the_same_attempts(game: Game, keys: jax.Array) -> None:
    one, other = make("my_player:Lowest"), make("my_player:BatchedLowest")
    stats = played(one, game, keys)
    assert equal(stats, played(other, game, keys))
    assert (stats.moves == SMALL["moves"]).all()
    assert not equal(stats, played(make("my_player:Lowest:chance=1"), game, keys))
    for agent in (one, other, make("my_player:Lowest:chance=0.25"), make("my_player:BatchedLowest:chance=0.25")):
        assert make(agent.name) == agent
    assert make("my_player:BatchedLowest:chance=0.25").name == "my_player:BatchedLowest:chance=0.25"


@pytest.mark.usefixtures("my_player")
def test_crush_gym_evaluate_plays_the_copied_template(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["my_player:Lowest", "my_player:BatchedLowest"]
    assert main(["evaluate", *names, "--levels", "combo:5x5", "--attempts", "7", "--seed", "11", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["errors"] == []
    one, other = (report["agents"][name]["mean_score"] for name in names)
    assert one == other > 0


def test_the_template_numbers_rows_as_actions_are_numbered() -> None:
    rows = agents.template.rows_of(4, 3)
    assert [swap_of(n, (4, 3)).cells[1][0] for n in range(len(rows))] == list(rows)


# ---------------------------------------------------------------------------------- plain Python


def test_every_attempt_has_a_copy_and_random_numbers_of_its_own(game: Game, keys: jax.Array) -> None:
    policy = adapt(Clerk, "clerk").bind(game)
    together = play(policy, game, keys, game.level)
    refilled = play(dataclasses.replace(policy, lanes=3), game, keys, game.level)  # type: ignore[type-var]
    assert equal(together, refilled)
    alone = [by_hand(game, key, Clerk()) for key in keys]
    assert equal(together, Stats(*map(np.concatenate, zip(*alone, strict=True))))


def test_an_object_stays_as_it_was_and_is_reset_in_its_copies(game: Game, keys: jax.Array) -> None:
    class Counting(Clerk):
        def reset(self) -> None:
            self.notes = []

    used = Counting()
    used.notes = [1] * 50
    assert equal(played(adapt(used), game, keys), played(adapt(Clerk), game, keys))
    assert used.notes == [1] * 50


def test_functions_are_given_what_they_take(game: Game, keys: jax.Array) -> None:
    def with_mask(obs: Any, mask: Any) -> int:
        return int(np.argmax(mask))

    def with_all(obs: Any, mask: Any, rng: Any) -> Any:
        assert obs.flags.writeable and mask.flags.writeable and rng.integers(2) < 2
        return np.array([np.argmax(mask)])

    expected = played(make("first"), game, keys)
    assert equal(played(adapt(with_mask), game, keys), expected)
    assert equal(played(adapt(with_all), game, keys), expected)


def test_any_arrangement_of_boards_is_asked_and_finished_ones_are_not(game: Game, keys: jax.Array) -> None:
    policy = adapt(Clerk).bind(game)
    row, state = keys[:6], game.reset(keys[:6])
    flat, seats = policy.act(
        (), player_key(row), policy.start((), player_key(row), state, game.level), state, game.level
    )
    square = keys[:6].reshape(2, 3)
    state = game.reset(square)
    memory = policy.start((), player_key(square), state, game.level)
    assert (policy.act((), player_key(square), memory, state, game.level)[0].reshape(-1) == flat).all()
    one = jax.tree.map(lambda x: x[..., 0, 0], state)
    memory = policy.start((), player_key(row[0]), one, game.level)
    assert policy.act((), player_key(row[0]), memory, one, game.level)[0] == flat[0]
    over = one._replace(books=one.books._replace(outcome=one.books.outcome + 3))
    policy.act((), player_key(row[0]), memory, over, game.level)
    assert len(memory.item().act.__self__.notes) == 1 and len(seats) == 6


# ---------------------------------------------------------------------------------- observations


@pytest.mark.parametrize("obs,channels", [("planes", "last"), ("king", "first"), ("cells", "first"), ("rgb", "first")])
def test_what_is_shown_is_what_the_environment_shows(game: Game, obs: str, channels: str) -> None:
    env = gym.make("crush_gym:Crush/Combo-v0", obs=obs, channels=channels, **SMALL)  # type: ignore[arg-type]
    shown, info = env.reset(seed=3)
    seen = []

    def first(obs: Any, mask: Any) -> int:
        seen.append(obs)
        return int(np.argmax(mask))

    key = jax.random.fold_in(jax.random.key(3), 0)  # episode 0 of an environment seeded 3
    played(adapt(first, obs=obs, channels=channels), game, key[None])
    assert len(seen) == SMALL["moves"]
    for mine in seen:
        jax.tree.map(np.testing.assert_array_equal, mine, shown)
        shown, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))


# ---------------------------------------------------------------------------------- models


def test_models_are_asked_for_many_boards_at_once(game: Game, keys: jax.Array) -> None:
    def last(obs: Any, mask: Any) -> int:
        return int(np.flatnonzero(mask)[-1])

    assert equal(played(adapt(Model()), game, keys), played(adapt(last), game, keys))


def test_a_model_without_masks_can_have_its_illegal_moves_replaced(game: Game, keys: jax.Array) -> None:
    class Blind:
        def predict(self, observation: Any, deterministic: bool = False) -> Any:
            return np.zeros(len(observation), np.int64), None

    with pytest.raises(PolicyError, match=r"'blind' answered action 0, which is not legal.*illegal='random'"):
        played(adapt(Blind(), "blind"), game, keys)
    assert (played(adapt(Blind(), illegal="random"), game, keys).moves == SMALL["moves"]).all()


def test_a_model_of_another_game_is_refused(game: Game) -> None:
    model = Model()
    model.action_space = gym.spaces.Discrete(7)  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match=r"trained with action_space.n 7, but here it is 40"):
        adapt(model, "other").bind(game)
    model.action_space = gym.spaces.Discrete(40)  # type: ignore[attr-defined]
    model.observation_space = gym.spaces.Box(0, 1, (9, 5, 5), np.uint8)  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match=r"observation_space.shape \(9, 5, 5\)"):
        adapt(model, "other", obs="king").bind(game)


@pytest.mark.parametrize(
    "options", [{"obs": o, "channels": c} for o in ("planes", "king", "rgb") for c in ("first", "last")]
    + [{"obs": "cells"}],
)  # fmt: skip
def test_a_model_is_shown_what_it_was_trained_on(game: Game, options: dict[str, str]) -> None:
    env: Any = gym.make("crush_gym:Crush/Combo-v0", **options, **SMALL)  # type: ignore[arg-type]
    shown, _ = env.reset(seed=3)
    seen: list[Any] = []

    class Watching(Model):
        observation_space = env.observation_space

        def predict(self, observation: Any, action_masks: Any = None, deterministic: bool = False) -> Any:
            seen.append(observation)
            return action_masks.argmax(axis=1)

    key = jax.random.fold_in(jax.random.key(3), 0)[None]
    played(adapt(Watching()), game, key)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a[0], b), seen[0], shown)
    if options["obs"] == "planes":  # as Stable-Baselines3 does with what it takes for photographs
        depth = env.observation_space.shape[0 if options["channels"] == "first" else 2]
        turned = {"first": (5, depth, 5), "last": (depth, 5, 5)}[options["channels"]]
        Watching.observation_space = gym.spaces.Box(0, 255, turned, np.uint8)
        assert adapt(Watching()).bind(game).act.__self__.window.channels == "first"  # type: ignore[attr-defined]


def test_a_model_that_fits_no_view_is_told_which_there_are(game: Game) -> None:
    model = Model()
    for strange in (gym.spaces.Box(0, 1, (18, 5, 5), np.float32), gym.spaces.Box(0, 255, (450,), np.uint8)):
        model.observation_space = strange  # type: ignore[attr-defined]
        with pytest.raises(PolicyError) as error:
            adapt(model, "other").bind(game)
        said = str(error.value)
        assert f"'other' takes observations {strange.shape} of {strange.dtype} 0 to " in said and "\n" not in said
        for kind in ("planes (", "king (", "of uint8 0 to 1,", "cells a dict of ", "rgb (", "game=Game(pack)"):
            assert kind in said
    changed = gym.spaces.Box(0, 1, space(game.spec, "planes").shape, np.float32)
    model.observation_space = changed  # type: ignore[attr-defined]
    assert adapt(model, obs="planes").bind(game).traceable is False  # who says it, knows it


def test_a_model_of_several_levels_plays_each_of_them_in_the_game_of_all() -> None:
    pack = LevelPack([simple_task(f"combo:{size}:colours=4,moves=3").level for size in ("4x4", "5x5")])
    whole, task = Game(pack, rules="combo"), simple_task("combo:4x4:colours=4,moves=3")
    model = Model()
    model.action_space = gym.spaces.Discrete(whole.actions)  # type: ignore[attr-defined]
    model.observation_space = space(whole.spec, "planes")  # type: ignore[attr-defined]
    results = evaluate(adapt(model, "whole", game=whole), task, attempts=2, progress=False)
    assert results.errors == () and len(results.rows) == 2
    for agent, tasks, sentence in (
        (adapt(model, "alone"), task, "was trained with action_space.n 40, but here it is 24"),
        (adapt(model, "whole", game=whole), simple_task("combo:6x6"), "the agent's game cannot play 'combo 6x6'"),
        (adapt(model, "whole", game=whole), simple_task("points:4x4"), "has the rules 'combo', but 'points 4x4' is"),
    ):
        (error,) = evaluate(agent, tasks, attempts=2, progress=False).errors
        assert sentence in error.sentence


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_a_stable_baselines_model_plays(game: Game, keys: jax.Array) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from crush_gym.sb3 import CrushVecEnv

    model = sb3_contrib.MaskablePPO("MlpPolicy", CrushVecEnv(2, "combo", obs="planes", **SMALL), n_steps=2, seed=0)
    stats = played(adapt(model, "untrained"), game, keys[:3])
    assert (stats.moves == SMALL["moves"]).all()


# ---------------------------------------------------------------------------------- mistakes


ANSWERS: dict[str, Any] = {
    "nothing": None, "a float": 1.5, "a truth": True, "a text": "a", "too large": 2**40, "negative": -1,
    "two": np.array([1, 2]), "NaN": float("nan"),
}  # fmt: skip


@pytest.mark.parametrize("what", ANSWERS)
def test_nonsense_is_told_in_one_sentence(game: Game, keys: jax.Array, what: str) -> None:
    def answer(obs: Any) -> Any:
        return ANSWERS[what]

    with pytest.raises(PolicyError) as error:
        played(adapt(answer, "odd"), game, keys[:1])
    said = str(error.value)
    assert said.startswith("the agent 'odd' answered ") and "from 0 to 39" in said and "move 1" in said
    assert "\n" not in said


def test_an_agent_that_raises_is_told_with_its_move(game: Game, keys: jax.Array) -> None:
    class Tired(Clerk):
        def act(self, obs: Any, mask: Any, rng: Any) -> int:
            if len(self.notes) == 2:
                raise KeyError("no\nmore")
            return super().act(obs, mask, rng)

    with pytest.raises(PolicyError, match=r"^the agent 'tired' raised KeyError at move 3 of an attempt: 'no\\nmore'$"):
        played(adapt(Tired, "tired"), game, keys)


def test_models_that_raise_answer_nonsense_or_remember_are_told(game: Game, keys: jax.Array) -> None:
    class Odd:
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def predict(self, observation: Any) -> Any:
            return self.answer(observation)

    for answer, match in (
        (lambda obs: obs.nothing, "raised AttributeError: "),
        (lambda obs: (np.zeros(len(obs), int), np.ones(3)), "recurrent"),
        (lambda obs: np.zeros((len(obs), 2)), r"answered an array float64\[1, 2\] for 1 boards"),
        (lambda obs: np.array([np.nan]), "answered .*nan.*, where a whole number from 0 to 39 is expected"),
    ):
        with pytest.raises(PolicyError, match=f"^the agent 'odd' .*{match}"):
            played(adapt(Odd(answer), "odd"), game, keys[:1])


def test_what_is_no_player_and_unknown_options_are_refused() -> None:
    with pytest.raises(TypeError, match="a player has act"):
        adapt(3)
    with pytest.raises(TypeError, match="no option 'view': it knows obs, channels, illegal"):
        adapt(Clerk, view="king")
    with pytest.raises(ValueError, match="obs must be one of 'planes', 'king', 'cells', 'rgb', not 'queen'"):
        adapt(Clerk, obs="queen")
