"""Agents by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.first import First
from agents.registry import AgentError, check, is_known, known, make, name_of, ready

STRANGERS = """
from dataclasses import dataclass
from pathlib import Path
from agents.first import First
from agents.registry import name_of

@dataclass(frozen=True)
class Careful:
    depth: int = 2
    share: float = 0.5
    @property
    def name(self):
        return name_of("strangers:Careful", self)
    def bind(self, game):
        return First().bind(game)

class Plain:
    obs = "king"
    def __init__(self, depth: int = 1, file: str = ""):
        if file:
            open(file)
        self.depth = depth
    def act(self, obs, mask, rng):
        return int(mask.argmax())

def function(obs, mask):
    return int(mask.argmax())

def trained(steps: int = 1):
    return Plain(steps)

def untrained():
    return 7

class Loose:
    def __init__(self, how, often=2, where="here", model: Path = Path()):
        self.all = how, often, where, model
    def act(self, obs):
        return 0

ready = Careful(3)
plain = Plain(4)
misnamed = First(name="best")
number = 12

class Odd(Plain):
    obs = "queen"
"""


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Modules of a stranger in the current folder."""
    (tmp_path / "strangers.py").write_text(STRANGERS)
    (tmp_path / "broken_stranger.py").write_text("import nothing_of_this_name")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("strangers", "broken_stranger"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ready())
def test_registered_names_lead_to_agents_that_carry_them(name: str) -> None:
    agent = make(name)
    assert agent.name == name
    assert make(agent.name) == agent


def test_random_and_first_are_registered() -> None:
    assert {"random", "first"} <= set(known())
    assert make("first") == First()


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize(
    "text",
    [
        "strangers:Careful", "strangers:Careful:depth=5", "strangers:Careful:depth=5,share=0.1234567890123",
        "strangers:Plain", "strangers:Plain:depth=7", "strangers:function", "strangers:trained:steps=9",
        "strangers:plain",
    ],
)  # fmt: skip
def test_names_of_strangers_round_trip(text: str) -> None:
    agent = make(text)
    assert agent.name == text
    assert make(agent.name) == agent and hash(make(agent.name)) == hash(agent)


@pytest.mark.usefixtures("strangers")
def test_parameters_reach_what_makes_the_player() -> None:
    careful: Any = make("strangers:Careful:depth=5,share=1")
    assert (careful.depth, careful.share) == (5, 1.0) and careful.name == "strangers:Careful:depth=5,share=1"
    plain: Any = make("strangers:Plain:depth=7")
    assert plain.player.depth == 7 and plain.obs == "king"
    trained: Any = make("strangers:trained:steps=9")
    assert trained.player.depth == 9
    assert make("strangers:Plain:depth=7") != make("strangers:Plain:depth=8")


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize(
    ("parameters", "read"),
    [
        ("how=nets/a.zip", ("nets/a.zip", 2, "here", Path())),
        (r"how=C:\nets\a,b.zip,often=2.5", (r"C:\nets\a,b.zip", 2.5, "here", Path())),
        ("model=runs/x:1,y/net.zip,how=1", (1, 2, "here", Path("runs/x:1,y/net.zip"))),
        ("how=nan,where=1", ("nan", 2, "1", Path())),
        ("how=1e5,where=True", (1e5, 2, "True", Path())),
        ("how=True,model=~/net", (True, 2, "here", Path.home() / "net")),
    ],
)
def test_parameters_may_be_paths_and_are_read_as_annotations_or_defaults_say(
    parameters: str, read: tuple[Any, ...]
) -> None:
    agent: Any = make(f"strangers:Loose:{parameters}")
    assert agent.player.all == read and agent.name == f"strangers:Loose:{parameters}"
    assert [type(value) for value in agent.player.all] == [type(value) for value in read]


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("strangers:Loose:how=1,often=x", "often must be int or float, not 'x'"),
        ("frist", r"no agent 'frist' \(did you mean 'first'\?\)"),
        ("strangers:nobody", "the module 'strangers' has no 'nobody'; there are Careful, Plain, function, Loose"),
        ("strangers:Carefull", "the module 'strangers' has no 'Carefull'; did you mean 'Careful'"),
        ("strangers", "'strangers' is a file here, not an agent: name one of its players, such as strangers:Careful, "),
        ("mcts:sims=3", r"there is no parameter 'sims' \(did you mean 'simulations'\?\); there are simulations, "),
        ("strangers:Plain:dept=2", r"there is no parameter 'dept' \(did you mean 'depth'\?\); there are depth, file"),
        ("nowhere:nobody", "'nowhere:nobody' cannot be loaded: ModuleNotFoundError"),
        ("broken_stranger:any", "cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("strangers:number", "is a int, expected an agent or what makes one"),
        ("strangers:untrained", "gives a int, neither an agent .* nor a player"),
        ("strangers:ready", "calls itself 'strangers:Careful:depth=3', from which nobody can make it again"),
        ("strangers:misnamed", "calls itself 'best', from which nobody"),
        ("strangers:plain:depth=2", "takes no parameters"),
        ("strangers:function:depth=2", "takes no parameters"),
        ("strangers:Careful:depth=many", "depth must be int, not 'many'"),
        ("strangers:Careful:width=2", "there is no parameter 'width'.*; there are depth, share"),
        ("strangers:Plain:width=2", "there is no parameter 'width'.*; there are depth, file"),
        ("strangers:Plain:depth=many", "depth must be int, not 'many'"),
        ("strangers:Plain:depth", "expected parameter=value, found 'depth'"),
        ("strangers:Plain:file=missing.zip", "cannot be made: FileNotFoundError"),
        ("strangers:Odd", "cannot be adapted: ValueError: obs must be one of"),
        ("first:depth=2", "there is no parameter 'depth'"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_told_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(AgentError, match=said) as error:
        make(text)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("strangers")
def test_names_are_checked_without_making_anything() -> None:
    check("strangers:Plain:file=missing.zip")
    with pytest.raises(AgentError, match="cannot be made"):
        make("strangers:Plain:file=missing.zip")
    for wrong in ("strangers:Plain:widht=2", "strangers:Nobody", "frist", "strangers:Careful:depth=x", "random:a=1"):
        with pytest.raises(AgentError):
            check(wrong)
    assert is_known("mcts:simulations=3") and is_known("frist") and not is_known("strangers:Plain:depth=2")


def test_names_tell_what_differs_from_the_defaults() -> None:
    @dataclass(frozen=True)
    class Agent:
        depth: int = 2
        share: float = 0.5
        limit: float | None = None
        fast: bool = False

    assert name_of("it", Agent()) == "it"
    assert name_of("it", Agent(3, 0.25, 5e-5, True)) == "it:depth=3,share=0.25,limit=5e-05,fast=True"
    assert name_of("it", Agent(share=0.1234567890123)) == "it:share=0.1234567890123"


def test_an_agents_name_within_anothers_stands_in_parentheses_where_it_has_commas() -> None:
    inner = "mcts:simulations=3,prior=(tests.agents.players:Judge:points=2,counts=progress)"
    agent: Any = make(f"lookahead:then=({inner}),depth=1,value=tests.agents.players:Judge")
    assert (agent.then, agent.value, agent.depth) == (inner, "tests.agents.players:Judge", 1)
    assert agent.name == f"lookahead:depth=1,then=({inner}),value=tests.agents.players:Judge"
    assert make(agent.name) == agent and make(inner).prior == "tests.agents.players:Judge:points=2,counts=progress"
    for broken in ("lookahead:then=(mcts:simulations=3,depth=1", "lookahead:then=mcts),depth=(1"):
        with pytest.raises(AgentError, match="a parenthesis is not closed, or not opened"):
            make(broken)
