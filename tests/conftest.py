"""Makes `tests` importable, however pytest is started."""

import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = str(Path(__file__).absolute().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

os.environ["CRUSH_GYM_CACHE"] = "off"  # what is tested is this code, not what an earlier run made of it


HURRY = ["--xla_backend_optimization_level=0", "--xla_backend_extra_options=xla_cpu_disable_loop_unrolling"]
"""How XLA makes programs that run for a moment: a quarter to a third less time for a module of tests."""

EMITTERS = "xla_cpu_use_fusion_emitters"


def has_emitters() -> bool:
    """Whether the installed XLA knows that flag. It ends the process where it does not."""
    return tuple(map(int, metadata.version("jaxlib").split(".")[:2])) < (0, 11)


def hurried(config: pytest.Config) -> bool:
    """Slow tests are compiled as users' programs are."""
    return "not slow" in config.getoption("markexpr")


def pytest_configure(config: pytest.Config) -> None:
    """Programs of other processes, too, that tests start."""
    if hurried(config):
        flags = HURRY + [f"--{EMITTERS}=false"] * has_emitters()
        os.environ.setdefault("XLA_FLAGS", " ".join(flags))


@pytest.fixture(scope="session", autouse=True)
def watched_fences() -> None:
    """A fence that does nothing makes programs slow and nothing wrong: here it is an error."""
    from crush_gym.engine.board import Board

    Board.watched = True


@pytest.fixture(scope="module", autouse=True)
def compiled_for_a_moment(request: pytest.FixtureRequest) -> Iterator[None]:
    """Optimising what runs for a moment takes longer than running it; modules that run at length are marked."""
    from crush_gym.runtime import xla

    if not hurried(request.config):
        yield
        return
    full, lean = xla.QUICK, xla.QUICK
    if request.node.get_closest_marker("runs_long"):
        lean = (*xla.LEAN, ("xla_backend_optimization_level", 3))
        full = (*xla.FULL, ("xla_backend_optimization_level", 3), (EMITTERS, True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xla, "FULL", full)
        patch.setattr(xla, "LEAN", lean)
        yield


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """A process has room for so many compiled programs only, see crush_gym.runtime.memory."""
    from crush_gym.runtime.memory import forget, give_back

    yield
    forget()
    give_back()
