"""Where players learn: attempts end, also those that good players could make last for ever."""

import jax
import jax.numpy as jnp

from agents.learning.inputs import inputs_of
from agents.learning.practice import Practice, Situation
from crush_gym import Level, LevelPack, functional

BOARD = {"colours": 4, "board": ["? ? ? ?"] * 4}


def test_against_the_clock_there_is_time_for_as_many_moves_as_there_were_seconds() -> None:
    levels = [Level.from_dict({"name": name, name: 9} | BOARD) for name in ("seconds", "moves")]
    env = functional.make("Crush/Saga-v0", pack=LevelPack(levels), reward="score")
    practice = Practice(env, inputs_of(env.game, preview=False))
    made, number = jnp.array([0, 8, 9, 20, 20]), jnp.array([0, 0, 0, 0, 1])
    shapes = jax.eval_shape(lambda key: env.reset(jax.random.split(key, 5))[1], jax.random.key(0))
    state = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)._replace(level=number)
    rich = state.game.books._replace(time=jnp.full(5, 700), made=made)  # as of who gained that much
    situation = Situation(state._replace(game=state.game._replace(books=rich)), jnp.zeros(5), made)
    assert practice._in_time(situation).game.books.time.tolist() == [700, 700, 1, 1, 700]
