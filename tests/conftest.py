"""Makes `tests` importable, however pytest is started."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = str(Path(__file__).absolute().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

os.environ["CRUSH_GYM_CACHE"] = "off"  # what is tested is this code, not what an earlier run made of it


@pytest.fixture(scope="session", autouse=True)
def watched_fences() -> None:
    """A fence that does nothing makes programs slow and nothing wrong: here it is an error."""
    from crush_gym.engine.board import Board

    Board.watched = True


@pytest.fixture(scope="module", autouse=True)
def compiled_for_a_moment(request: pytest.FixtureRequest) -> Iterator[None]:
    """Optimising what runs for a moment takes longer than running it; modules that run at length are marked. Slow tests
    are compiled as users' programs are."""
    from crush_gym.runtime import xla

    hurried = "not slow" in request.config.getoption("markexpr")
    if not hurried or request.node.get_closest_marker("runs_long"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xla, "FULL", xla.QUICK)
        patch.setattr(xla, "LEAN", xla.QUICK)
        yield


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """A process has room for so many compiled programs only, see crush_gym.runtime.memory."""
    from crush_gym.runtime.memory import forget, give_back

    yield
    forget()
    give_back()
