"""Old names of modules go on working, with a warning that tells the new place."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import agents
import crush_gym
import experiments
from crush_gym.moved import homes

assert agents and crush_gym and experiments  # which name what has moved


@pytest.mark.parametrize("old", ["agents.adapter", "agents.play", "crush_gym.records", "experiments.store"])
def test_an_old_name_is_the_module_of_the_new_one(old: str) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} has moved to {homes()[old]}"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(homes()[old])


def test_every_new_place_is_there_and_no_old_one_is_a_file() -> None:
    code = """
import importlib.util, warnings
import agents, crush_gym, experiments
from crush_gym.moved import homes
known = homes()
assert len(known) > 60
for old, new in known.items():
    assert importlib.util.find_spec(new) is not None, new
    assert new not in known, (old, new)
    assert importlib.util.find_spec(old).loader.__class__.__name__ == "_Moved", old
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300)


def test_the_warning_points_at_who_asked() -> None:
    with pytest.warns(DeprecationWarning) as told:
        sys.modules.pop("agents.looks", None)
        import agents.looks  # noqa: F401
    assert told[0].filename == __file__
