"""The packs that ship: what they hold, that they have not changed, that each level of the tour is won by its record."""

from __future__ import annotations

import json
import time
from importlib import resources
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crush_gym import Game, LevelPack, load_pack, traits_of
from crush_gym.engine.plan import plan
from crush_gym.game import OUTCOMES
from crush_gym.levels.pack import shipped_packs

HASHES = {
    "ladder": "2e12698ca469ee9b7da66d9b8bda692d5962668bc05e93fb2d8dd440f4f165b1",
    "thesis": "12e7cc38b73a57a9487a581d41a529f7a0366cc0d5a4e5e639cbef3855ffcbe1",
    "tour": "cfc990c2480e6b73456c645b9ad048386a88a895ba9c5cfe8c6525ecabaaff3d",
}
LOAD_SECONDS = 2.0
GAMES_OF_THE_LADDER = 8


def record(name: str) -> dict[str, Any]:
    file = resources.files("crush_gym.levels") / "records" / f"{name}.json"
    content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return content


@pytest.fixture(scope="module")
def packs() -> dict[str, LevelPack]:
    return {name: load_pack(name) for name in shipped_packs()}


def test_the_packs_have_not_changed(packs: dict[str, LevelPack]) -> None:
    """Results published on them would mean something else."""
    assert {name: packs[name].content_hash() for name in HASHES} == HASHES
    assert all(record(name)["hash"] == HASHES[name] for name in HASHES)


def test_no_two_levels_of_a_pack_are_alike(packs: dict[str, LevelPack]) -> None:
    for pack in packs.values():
        assert len({level.content_hash() for level in pack}) == len(pack) == len(set(pack.names))


def test_a_thousand_levels_load_in_two_seconds() -> None:
    start = time.process_time()
    assert len(load_pack("ladder")) == 1000
    assert time.process_time() - start < LOAD_SECONDS


# -------------------------------------------------------------------------------------------- tour


def test_the_tour_shows_every_mechanic_alone_and_all_kinds_of_level(packs: dict[str, LevelPack]) -> None:
    tour = packs["tour"]
    assert len(tour) >= 40 and all(tour.names)
    mechanics = [plan([level], "saga", "any").mechanics for level in tour]
    everything = plan(list(tour), "saga", "any").mechanics
    assert everything == plan(list(packs["basics"]), "saga", "any").mechanics
    usual = {"striped", "wrapped", "colour bomb", "sideways", "jelly", "fresh bomb"}
    for name in everything - usual:
        assert any(has - usual == {name} for has in mechanics), name
    timed = [level for level in tour if level.seconds > 0]
    assert len(timed) >= 4 and any(level.goal_jelly for level in timed)


@pytest.mark.slow
def test_each_level_of_the_tour_is_won_by_its_record(packs: dict[str, LevelPack]) -> None:
    tour, kept = packs["tour"], record("tour")
    wins = {win["level"]: win for win in kept["wins"]}
    assert tuple(wins) == tour.names
    game, stack = Game(tour), tour.stack(np.arange(len(tour)))
    assert [game.spec.height, game.spec.width] == kept["shape"]
    keys = jax.vmap(jax.random.key)(jnp.array([win["seed"] for win in wins.values()], jnp.uint32))
    moves = [len(win["actions"]) for win in wins.values()]
    table = np.full((max(moves), len(tour)), -1, np.int32)
    for lane, win in enumerate(wins.values()):
        table[: moves[lane], lane] = win["actions"]
    state, fold = game.reset(keys, stack), jax.jit(jax.vmap(jax.random.fold_in, (0, None)))
    for move, actions in enumerate(table):
        playing = np.asarray(state.books.outcome) == OUTCOMES.index("playing")
        assert (playing == (actions >= 0)).all()
        state, turn = game.step(fold(keys, move), state, jnp.asarray(actions), stack)
        assert not np.asarray(turn.illegal)[playing].any()
    assert (np.asarray(state.books.outcome) == OUTCOMES.index("won")).all()
    assert np.asarray(state.books.made).tolist() == moves


# ---------------------------------------------------------------------------------------- thesis


def test_the_look_alikes_have_the_statistics_of_their_levels(packs: dict[str, LevelPack]) -> None:
    """Cells, jelly, moves and colours of the theses' table 3.1, and what else it says of each level."""
    thesis = packs["thesis"]
    assert len(thesis) == 3 + 48 + 50
    table = {"13": (71, 23, 21, 6), "77": (63, 9, 25, 4), "100": (81, 25, 20, 6)}
    found = {number: traits_of(thesis[f"look-alike {number}"]) for number in table}
    named = ("cells", "jelly", "moves", "colours")
    assert {number: tuple(t[name] for name in named) for number, t in found.items()} == table
    kinds = {
        n: sum(t[b] > 0 for b in ("locks", "marmalade", "icing", "chocolate", "swirls", "bombs"))
        for n, t in found.items()
    }
    assert kinds == {"13": 0, "77": 2, "100": 3}
    assert found["77"]["portals"] > 0 and found["100"]["drops"] > 0 and found["100"]["bombs"] > 0


def test_random_play_fares_on_the_look_alikes_as_in_the_theses() -> None:
    """10,000 attempts each, as recorded when the pack was made."""
    found = {row["level"].removeprefix("look-alike "): row for row in record("thesis")["random"]}
    assert 0.01 <= found["13"]["won"] <= 0.04
    assert 0.0005 <= found["77"]["won"] <= 0.005
    assert found["100"]["won"] < 0.001
    for number, legal in (("13", 8.93), ("77", 13.94), ("100", 5.20)):
        assert found[number]["legal"] == pytest.approx(legal, rel=0.15)


# ---------------------------------------------------------------------------------------- ladder


def test_eight_games_play_the_ladder_and_the_levels_of_the_thesis(packs: dict[str, LevelPack]) -> None:
    families = record("ladder")["families"]
    assert len(families) <= GAMES_OF_THE_LADDER
    ladder, start = packs["ladder"], 0
    for family in families:
        part = ladder[start : start + family["levels"]]
        start += len(part)
        game = Game(part)
        assert all(game.accepts(level) for level in part)
    assert start == len(ladder) == 1000


def test_families_grow_richer(packs: dict[str, LevelPack]) -> None:
    ladder = packs["ladder"]
    sizes = [len(plan(list(ladder[i : i + 125]), "saga", "any").mechanics) for i in range(0, 1000, 125)]
    assert sizes[0] == min(sizes) and sizes[-1] == max(sizes)
    cells = [np.mean([traits_of(level)["cells"] for level in ladder[i : i + 25]]) for i in (0, 100)]
    assert cells[0] < cells[1]


def test_success_of_the_heuristic_player_is_spread(packs: dict[str, LevelPack]) -> None:
    """As recorded when the packs were made, from attempts that no limit was chosen by."""
    thesis = record("thesis")
    groups = {"ladder": record("ladder")["won"], "early": thesis["early"], "late": thesis["late"]}
    assert {name: len(shares) for name, shares in groups.items()} == {"ladder": 1000, "early": 48, "late": 50}
    for shares in groups.values():
        first, *_, last = np.quantile(shares, np.arange(1, 10) / 10)
        assert first <= 0.2 and last >= 0.8
        assert np.histogram(shares, bins=np.linspace(0, 1, 6))[0].min() >= 0.1 * len(shares)
    assert packs["thesis"].names[3] == "early 1" and packs["thesis"].names[-1] == "late 50"
