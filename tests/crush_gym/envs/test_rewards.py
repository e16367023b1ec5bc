"""Rewards: those that have names are tested with the environments; here are those that people bring."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import Game, Level, State, functional, layout
from crush_gym.envs import CrushEnv, CrushVectorEnv, rewards
from crush_gym.envs.options import read_options

SMALL = {"shape": (5, 5), "colours": 3, "moves": 12}
"""Few colours: special candies come up soon."""

SPECIAL = re.compile(r"[a-g][-|@]|\*")
"""Tokens of special candies (rulebook 2)."""

SEED, STEPS = 7, 10
"""Episode 0 of this seed: special candies are made, and some of them used up. Lane 1 of batches plays it."""


def example() -> Any:
    """The reward that the documentation shows."""
    page = Path(__file__).parents[3] / "docs" / "environments" / "saga.md"
    _, code = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, str(page), "exec", dont_inherit=True), names)
    assert names["env"].unwrapped.options.task.reward == names["SpecialsMade"](each=0.5)
    return names["SpecialsMade"](each=0.5)


def specials(game: Game, state: Any) -> int:
    """Special candies on a printed board."""
    return len(SPECIAL.findall(" ".join(game.text(state))))


def single(reward: Any) -> tuple[list[float], list[Any]]:
    """Rewards of one board along its first legal moves, and its states."""
    env = gym.make("crush_gym:Crush/Points-v0", reward=reward, **SMALL).unwrapped
    _, info = env.reset(seed=SEED)
    given, states = [], [env.get_state().state]
    for _ in range(STEPS):
        _, one, *_, info = env.step(int(info["action_mask"].argmax()))
        given.append(one)
        states.append(env.get_state().state)
    return given, [jax.tree.map(lambda x: x[..., 0], state) for state in states]


def vector(reward: Any) -> list[float]:
    envs = gym.make_vec("crush_gym:Crush/Points-v0", num_envs=2, reward=reward, **SMALL)
    _, info = envs.reset(seed=SEED - 1)
    given = []
    for _ in range(STEPS):
        _, ones, *_, info = envs.step(info["action_mask"].argmax(axis=1))
        given.append(float(ones[1]))
    return given


def sb3(reward: Any) -> list[float]:
    pytest.importorskip("stable_baselines3")
    from crush_gym.sb3 import CrushVecEnv

    envs = CrushVecEnv(2, "points", reward=reward, **SMALL)
    envs.seed(SEED - 1)
    envs.reset()
    given = []
    for _ in range(STEPS):
        _, ones, _, _ = envs.step(envs.action_masks().argmax(axis=1))
        given.append(float(ones[1]))
    return given


def pure(reward: Any) -> list[float]:
    env = functional.make("Crush/Points-v0", reward=reward, **SMALL)
    key = jax.random.fold_in(jax.random.key(SEED), 0)
    _, state = env.reset(key)
    given = []
    for number in range(STEPS):
        action = env.action_mask(state).argmax()
        _, state, one, *_ = env.step(jax.random.fold_in(key, number), state, action)
        given.append(float(one))
    return given


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_the_documented_reward_pays_for_specials_in_all_forms_of_the_environment() -> None:
    reward = example()
    given, states = single(reward)
    counts = [specials(Game(rules="points", **SMALL), state) for state in states]
    expected = [0.5 * max(after - before, 0) for before, after in itertools.pairwise(counts)]
    assert given == expected and len(set(expected)) > 1 and min(np.diff(counts)) < 0
    assert vector(reward) == expected and sb3(reward) == expected and pure(reward) == expected


def test_a_plain_function_is_a_reward_and_an_episode_that_is_over_gives_none() -> None:
    env = functional.make("Crush/Combo-v0", auto_reset=False, reward=one_a_move, shape=(4, 4), colours=3, moves=2)
    keys = jax.random.split(jax.random.key(0), 3)
    _, state = env.reset(keys)
    given = []
    for _ in range(3):
        _, state, reward, *_ = env.step(keys, state, env.action_mask(state).argmax(axis=0))
        given.append(np.asarray(reward).tolist())
    assert given == [[1.0] * 3, [1.0] * 3, [0.0] * 3]


def one_a_move(before: Any, after: Any, turn: Any, level: Any) -> jax.Array:
    del before, after, level
    return jnp.ones_like(turn.score, jnp.float32)


@dataclass(frozen=True)
class Left:
    """A reward with parameters that reads the board and the level."""

    share: float

    def bind(self, game: Game) -> rewards.RewardFn:
        return lambda before, after, turn, level: self.share * game.count(after, "icing") / level.moves


def test_equal_rewards_are_one_task_and_others_are_not() -> None:
    tasks = [read_options("combo", reward=reward, **SMALL).task for reward in (Left(0.5), Left(0.5), Left(0.25))]
    assert tasks[0] == tasks[1] and hash(tasks[0]) == hash(tasks[1]) and tasks[0] != tasks[2]
    assert rewards.bound(tasks[2].reward, tasks[2].game) is not None
    assert read_options("combo", reward="win", **SMALL).task == read_options("combo", reward=rewards.win, **SMALL).task


@dataclass
class Thawed:
    weights: list[float]

    def __call__(self, before: Any, after: Any, turn: Any, level: Any) -> jax.Array:
        return turn.score * self.weights[0]


def no_such_plane(game: Game) -> rewards.RewardFn:
    return lambda before, after, turn, level: game.count(after, "wraped").astype(jnp.float32)


class Misspelt:
    bind = staticmethod(no_such_plane)


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("progres", r"must be one of 'score', 'progress', 'win' or a function .* did you mean 'progress'\?"),
        (3, "must be one of 'score', 'progress', 'win' or a function .* not 3"),
        (Left, r"reward is the class Left: give one of its kind, such as Left\(\)"),
        (Thawed([1.0]), "reward 'Thawed' cannot be hashed"),
        (lambda b, a, t, level: t.score, r"gives int32\[boards\], but float32\[boards\] is expected"),
        (lambda b, a, t, level: t.score.mean(), r"gives float32\[\], but float32\[boards\]"),
        (lambda b, a, t, level: level.moves * 1.0, r"gives float32\[1\], but float32\[boards\]"),
        (lambda b, a, t, level: {"score": t.score}, "gives a dict, but"),
        (lambda b, a, t, level: None, "gives a NoneType, but"),
        (lambda b, a, t, level: float(t.score[0]), r"cannot be traced by JAX \(ConcretizationTypeError: "),
        (lambda before, after: 0.0, r"cannot be traced by JAX \(TypeError: .*before, after, turn, level"),
        (Misspelt(), r"cannot be traced by JAX \(ValueError: .*'wraped'; did you mean 'wrapped'\?\)"),
    ],
)
def test_what_is_no_reward_is_refused_in_a_sentence_before_anything_is_compiled(reward: Any, message: str) -> None:
    for make in (functional.make, CrushEnv, CrushVectorEnv):
        given = {"id": "Crush/Combo-v0"} if make is functional.make else {"rules": "combo"}
        with pytest.raises(ValueError, match=message) as caught:
            make(**given, reward=reward, **SMALL)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("count", [1, 2])
def test_a_reward_is_checked_with_the_arrays_that_it_will_get(count: int) -> None:
    asks = {"goals": {"orders": {"a": 3, "b": 2}}, "spawn": {"plus5": {}, "drop": {}, "bomb": {"counter": 9}}}
    content = {"colours": 4, "moves": 5, "board": ["? ? ?'"] * 2} | asks
    levels = [Level.from_dict(content | {"name": str(i)}) for i in range(count)]
    game = Game(levels)
    before, _, turn, level = rewards._examples(game.spec, levels)
    boards = before.planes.shape[-1]
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), boards))
    stack = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape if count > 1 else x.shape[:-1], x.dtype), level)
    state = jax.eval_shape(game.reset, keys, stack)
    played, report = jax.eval_shape(game.step, keys, state, jax.ShapeDtypeStruct((boards,), jnp.int32), stack)
    assert shapes(before) == shapes(state) == shapes(played)
    assert shapes(turn) == shapes(report)


def shapes(tree: Any) -> list[Any]:
    return [(jax.tree_util.keystr(path), x.shape, x.dtype) for path, x in jax.tree_util.tree_leaves_with_path(tree)]


# ------------------------------------------------------------------------------- what lies on a board


NAMED = {
    "colour b": "b",
    "striped-h": "[a-g]-", "striped-v": r"[a-g]\|", "wrapped": "[a-g]@", "colour bomb": r"\*",
    "swirl": "~", "cherry": "o", "hazelnut": "n", "lock": r"\[", "marmalade": r"\{", "chocolate": "C",
    "icing": "I[1-5]", "counter": "!", "plus5": r"\+", "drop": r"\$", "jelly1": "'", "jelly2": "''",
}  # fmt: skip
"""What the tokens of the rulebook look like that hold what is named."""


@pytest.mark.parametrize("name", NAMED)
def test_cells_are_those_whose_tokens_say_so(name: str) -> None:
    game, level, state = everything()
    rows = [row.split() for row in game.text(state, level)]
    expected = np.array([[bool(re.search(NAMED[name], token)) for token in row] for row in rows])
    assert expected.any()
    assert np.array_equal(np.asarray(game.cells(state, name)), expected)
    assert int(game.count(state, name)) == expected.sum()
    assert int(game.count(state, name, "colour a")) == (expected | np.asarray(game.cells(state, "colour a"))).sum()


def everything() -> tuple[Game, Level, State]:
    """A board on which everything lies."""
    content = {
        "name": "everything", "colours": 4, "moves": 5,
        "board": ["a  b- a|   c@  *", "~  o  n   [a] {b}", "C I3 I1'' a!9 b+", "c$ d' a''   b' c", "d  a  b     d  a"],
    }  # fmt: skip
    level = Level.from_dict(content)
    game = Game(level)
    planes = [level.start[layout.PLANES.index(name)][: level.height] for name in game.spec.planes]
    return game, level, State(np.stack(planes), None)


def test_what_a_game_cannot_have_is_nowhere_and_a_wrong_name_is_refused() -> None:
    game = Game(rules="combo", shape=(4, 4))
    state = jax.eval_shape(game.reset, jax.random.key(0))
    assert jax.eval_shape(lambda s: game.cells(s, "wrapped", "colour g"), state).shape == (4, 4)
    blank = jax.tree.map(lambda x: jnp.full(x.shape, 3, x.dtype), state)
    assert int(game.count(blank, "wrapped", "lock", "colour bomb")) == 0
    with pytest.raises(ValueError, match=r"nothing on a board is called 'wraped'; did you mean 'wrapped'\?"):
        game.count(blank, "wraped")
