"""Agents by name: `make("mcts:simulations=50,playout=greedy")`. What `make` was given is the agent's name again.

A parameter that is the name of another agent stands in parentheses where it has commas:
`make("mcts:prior=(mine:Player:skill=2,seed=3),simulations=50")`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import importlib
import inspect
import math
import pathlib
import re
import sys
import types
import typing
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any

from agents.foreign.adapt import Adapted, adapt
from agents.foreign.files import players_in
from agents.foreign.kinds import is_player
from agents.protocol import Agent

GROUP = "crush_gym.agents"
"""Entry points of this group, and attributes of modules, are agents, players that `agents.foreign.adapt` knows by their
looks, or what makes one of these when it is called with its parameters: a class or a function."""


class AgentError(ValueError):
    """An agent that cannot be had, with the sentence that says why."""


BETWEEN = re.compile(r",(?=[^\W\d]\w*=)")
"""Where one parameter ends and the next one begins: values may be paths, and hold any sign."""


def known() -> tuple[str, ...]:
    """The names of all registered agents."""
    return tuple(sorted(entry.name for entry in metadata.entry_points(group=GROUP)))


def ready() -> tuple[str, ...]:
    """The names of the registered agents that can be made here and need nothing else, such as a file."""
    found = []
    for entry in metadata.entry_points(group=GROUP):
        with contextlib.suppress(AgentError):
            if not _first_of(_loaded(entry.load, entry.name)):
                found.append(entry.name)
    return tuple(sorted(found))


def make(text: str) -> Agent:
    """An agent from `name`, `name:parameter=value,...` or `module:attribute`; an `AgentError` where there is none.

    A value ends where another parameter begins: `my:Net:model=C:\\nets\\a,b.zip,depth=3` has two of them.
    """
    maker, parameters, home = _found(text)
    agent = _called(maker, parameters, text)
    return _found_again(agent, home) if home else agent


def is_known(text: str) -> bool:
    """Whether the text does not name an attribute of a stranger's module: nothing has to be imported to tell more."""
    name, _, rest = text.partition(":")
    return name in known() or not rest or "=" in rest.partition(":")[0]


def check(text: str) -> None:
    """Refuse what `make` refuses, by its name and its parameters' names and types, without making it."""
    maker, parameters, _ = _found(text)
    _arguments(maker, parameters, text)


def _found(text: str) -> tuple[Any, str, str]:
    """What makes the agent, its parameters as a text, and `module:attribute` of what is not registered."""
    name, _, rest = text.partition(":")
    entries = metadata.entry_points(group=GROUP, name=name)
    if entries:
        return _loaded(next(iter(entries)).load, name), rest, ""
    if not is_known(text):
        attribute, _, parameters = rest.partition(":")
        home = f"{name}:{attribute}"
        return _loaded(lambda: _attribute(name, attribute), home), parameters, home
    if here := players_in(name):
        named = ", ".join(f"{name}:{each}" for each in here)
        raise AgentError(f"{name!r} is a file here, not an agent: name one of its players, such as {named}")
    close = difflib.get_close_matches(name, known(), 1)
    raise AgentError(
        f"there is no agent {name!r}{f' (did you mean {close[0]!r}?)' if close else ''}; "
        f"there are {', '.join(known())}, and module:attribute names one of your own"
    )


def name_of(registered: str, agent: Any) -> str:
    """The name of a dataclass agent: the registered name and the parameters that differ from their defaults."""
    changed = [
        f"{field.name}={written(getattr(agent, field.name))}"
        for field in dataclasses.fields(agent)
        if getattr(agent, field.name) != field.default
    ]
    return f"{registered}:{','.join(changed)}" if changed else registered


def written(value: Any) -> str:
    """A value as `make` reads it again."""
    if isinstance(value, str):
        return f"({value})" if "," in value or value.startswith("(") else value
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _attribute(module: str, attribute: str) -> Any:
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` would: a stranger's file lies in the current folder
    home = importlib.import_module(module)
    if not hasattr(home, attribute):
        raise AgentError(f"the module {module!r} has no {attribute!r}{_near(attribute, dir(home), players_in(module))}")
    return getattr(home, attribute)


def _near(name: str, names: Iterable[str], others: Sequence[str]) -> str:
    """What may have been meant, or else what there is."""
    close = difflib.get_close_matches(name, [each for each in names if not each.startswith("_")], 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(others)}" if others else ""


def _loaded(load: Any, name: str) -> Any:
    try:
        return load()
    except AgentError:
        raise
    except Exception as reason:
        raise AgentError(f"the agent {name!r} cannot be loaded: {_said(reason)}") from reason


def _called(maker: Any, parameters: str, text: str) -> Agent:
    """The agent or player itself, or what the maker gives for these parameters."""
    arguments = _arguments(maker, parameters, text)
    if arguments is None:
        return _agent(maker, text)
    try:
        made = maker(**arguments)
    except Exception as reason:  # a stranger's code, or a file that cannot be read
        raise AgentError(f"{text!r} cannot be made: {_said(reason)}") from reason
    return _agent(made, text)


def _arguments(maker: Any, parameters: str, text: str) -> dict[str, Any] | None:
    """What the maker is called with; None where it is an agent or a player itself."""
    if not isinstance(maker, type) and (isinstance(maker, Agent) or is_player(maker)):
        if parameters:
            raise AgentError(f"{text!r} gives {parameters!r} to an agent that takes no parameters: leave them out")
        return None
    if not callable(maker):
        raise AgentError(f"{text!r} is a {type(maker).__name__}, expected an agent or what makes one")
    first = _first_of(maker)
    return _with_file(maker, first, parameters, text) if first else _parsed(maker, parameters, text)


def _agent(made: Any, text: str) -> Agent:
    """An agent, or a player adapted, which is named as it was asked for."""
    if isinstance(made, Adapted):
        return dataclasses.replace(made, name=text)
    if isinstance(made, Agent) and not isinstance(made, type):
        return made
    if not is_player(made):
        raise AgentError(
            f"{text!r} gives a {type(made).__name__}, neither an agent (`name` and `bind`, agents/protocol.py) "
            "nor a player (`act` or `predict`, agents/adapter.py)"
        )
    try:
        return adapt(made, text)
    except (TypeError, ValueError) as reason:
        raise AgentError(f"{text!r} cannot be adapted: {_said(reason)}") from reason


def _found_again(agent: Agent, home: str) -> Agent:
    """The agent, refused where its name would not lead back to it: results are kept by names."""
    if agent.name != home and not agent.name.startswith(f"{home}:"):
        raise AgentError(
            f"the agent {home} calls itself {agent.name!r}, from which nobody can make it again: its name must be "
            f"{home!r}, or {home + ':parameter=value'!r} (agents.registry.name_of writes it)"
        )
    return agent


def _first_of(maker: Any) -> str:
    """The name of a dataclass agent's first parameter where it has no default: its value comes without the name."""
    if not (isinstance(maker, type) and dataclasses.is_dataclass(maker)):
        return ""
    first = next(iter(dataclasses.fields(maker)), None)
    return first.name if first is not None and first.default is dataclasses.MISSING and first.init else ""


def _with_file(maker: Any, first: str, parameters: str, text: str) -> dict[str, Any]:
    """`VALUE` or `VALUE:parameter=value,...`; the value may be a path with colons of its own."""
    value, colon, rest = parameters.rpartition(":")
    if not colon or "=" not in rest.partition(",")[0]:
        value, rest = parameters, ""
    if not value:
        name = text.partition(":")[0]
        raise AgentError(
            f"{text!r} lacks its {first}: expected {name}:{first.upper()}, or {name}:{first.upper()}:parameter=value"
        )
    return {first: value} | _parsed(maker, rest, text)


def _said(reason: Exception) -> str:
    words = " ".join(str(reason).split())
    ours = type(reason).__module__.partition(".")[0] == __name__.partition(".")[0]  # whose errors are sentences
    return words if ours and words else f"{type(reason).__name__}: {words or 'without a word'}"


def _parsed(maker: Any, parameters: str, text: str) -> dict[str, Any]:
    """Parameters as keyword arguments, read as the maker's annotations say, or as its defaults are."""
    hints, known = _hints(maker), _parameters(maker)
    result: dict[str, Any] = {}
    for part in filter(None, _split(parameters, text)):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise AgentError(f"{text!r}: expected parameter=value, found {part!r}")
        if known is not None and key not in known:
            near = difflib.get_close_matches(key, known, 1, 0.5)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise AgentError(f"{text!r}: there is no parameter {key!r}{hint}; there are {', '.join(known) or 'none'}")
        within = value[1:-1] if value.startswith("(") and value.endswith(")") else value
        result[key] = _value(within, hints.get(key, Any), f"{text!r}: {key}")
    return result


def _parameters(maker: Any) -> list[str] | None:
    """The names of all that a maker takes; None where it does not tell, or takes any."""
    try:
        known = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in known) else [p.name for p in known]


def _split(parameters: str, text: str) -> list[str]:
    """At the commas before a parameter that stand in no parentheses: the name of another agent may hold some."""
    parts, depth = [""], 0
    for place, letter in enumerate(parameters):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if not depth and BETWEEN.match(parameters, place):
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise AgentError(f"{text!r}: a parenthesis is not closed, or not opened; they go around agents' names")
    return parts


def _hints(maker: Any) -> dict[str, Any]:
    """What each parameter is, where the maker tells."""
    try:
        plain = isinstance(maker, type) and not dataclasses.is_dataclass(maker)
        told = typing.get_type_hints(maker.__init__ if plain else maker)
        given = {p.name: p.default for p in inspect.signature(maker).parameters.values()}
    except Exception:  # a stranger's annotations may name what is not there; then values are read by their looks
        return {}
    likes = {bool: bool, int: int | float, float: int | float, str: str}
    return {name: likes[type(x)] for name, x in given.items() if type(x) in likes} | told


def _value(text: str, hint: Any, where: str) -> Any:
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if type(None) in kinds and text == "None":
        return None
    if bool in kinds and text in ("True", "False"):
        return text == "True"
    if pathlib.Path in kinds:
        return pathlib.Path(text).expanduser()
    if str in kinds:
        return text
    readers = (int, float) if hint is Any else tuple(kind for kind in (int, float) if kind in kinds)
    for reader in readers:
        try:
            value = reader(text)
        except ValueError:
            continue
        if hint is not Any or math.isfinite(value):  # "nan" may be a word
            return value
    if hint is Any:
        return {"True": True, "False": False}.get(text, text)
    expected = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
    raise AgentError(f"{where} must be {expected}, not {text!r}")
