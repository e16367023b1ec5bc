"""The documentation: nothing is missing, links lead somewhere, and the rules' boards are what both games play."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agents
import crush_gym
import experiments
from crush_gym import Game, Level, LevelPack
from crush_gym.envs import IDS
from crush_gym.envs.rewards import REWARDS
from crush_gym.envs.task import ILLEGAL, ORDERS
from crush_gym.envs.views import VIEWS, king_channels
from tests.adapters import Fast, Player, Slow

pytest.importorskip("markdown_it")

from scripts.docs import environments
from scripts.docs.__main__ import build
from scripts.docs.boards import Example, read_example
from scripts.docs.docstring import fields_of
from scripts.docs.source import PACKAGES, Item, modules

DOCS = Path(__file__).parent.parent / "docs"
RULES = (DOCS / "rules.md").read_text(encoding="utf-8")
EXAMPLES = [read_example(text) for text in re.findall(r"```example\n(.*?)```", RULES, re.DOTALL)]
SMALL: dict[str, Any] = {"shape": (5, 5), "colours": 4, "moves": 6}


class Document(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.append(value)

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


# ---------------------------------------------------------------------------------- the site


def test_every_link_within_the_site_leads_somewhere(site: Path, pages: dict[Path, Document]) -> None:
    broken = []
    for path, document in pages.items():
        for link in document.links:
            address, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (path.parent / address).resolve() if address else path
            known = pages[target].ids if target in pages else []
            if not target.is_file() or (anchor and anchor not in known):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


def test_no_page_has_an_anchor_twice(pages: dict[Path, Document]) -> None:
    for path, document in pages.items():
        assert len(set(document.ids)) == len(document.ids), path


@pytest.mark.parametrize(
    "text", ["README.md", "docs/packs.md", "docs/rules.md", "docs/generalisation.md", "docs/building.md"]
)
def test_a_text_says_on_its_page_all_that_it_says(text: str, pages: dict[Path, Document]) -> None:
    source = (DOCS.parent / text).read_text(encoding="utf-8")
    page = "index.html" if text == "README.md" else f"{Path(text).stem}.html"
    words = next(document.words for path, document in pages.items() if path.name == page and path.parent.name != "api")
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", source, flags=re.DOTALL), re.MULTILINE):
        assert heading.replace("`", "").replace("\\", "") in words


# ---------------------------------------------------------------------------------- the reference


def public_modules() -> Iterator[ModuleType]:
    """Modules directly in the packages and folders that list what they offer, as Python sees them."""
    yield crush_gym
    for package in (crush_gym, agents, experiments):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not found.name.rpartition(".")[2].startswith("_"):
                try:
                    module = importlib.import_module(found.name)
                except ImportError:  # an extra is missing
                    continue
                if not found.ispkg or hasattr(module, "__all__"):
                    yield module


INTERNAL = ("crush_gym.checks", "crush_gym.game")


def test_every_public_name_appears(site: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    missing = [name for name in ("OUTCOMES", "REASONS") if f'id="{name}"' not in text]
    for module in public_modules():
        listed = getattr(module, "__all__", None)
        for name, value in vars(module).items() if listed is None else ((n, getattr(module, n)) for n in listed):
            own = inspect.isclass(value) or inspect.isfunction(value)
            own = own and value.__module__.split(".")[0] in ("crush_gym", "agents", "experiments")
            if name.startswith("_") or not own or module.__name__ in INTERNAL:
                continue
            if listed is None and value.__module__ != module.__name__:
                continue
            names = [name, *(f"{name}.{method}" for method in methods(value))]
            missing += [f"{module.__name__}.{each}" for each in names if f'id="{each}"' not in text]
    assert not missing


def methods(value: Any) -> list[str]:
    """The public methods that a class defines itself."""
    return [name for name, member in vars(value).items() if not name.startswith("_") and inspect.isfunction(member)]


def test_nothing_that_can_be_called_is_without_a_docstring() -> None:
    def called(item: Item) -> bool:
        return item.kind in ("function", "class", "method") and not item.doc

    found = [(module.name, item) for package in PACKAGES for module in modules(package) for item in module.items]
    silent = [f"{module}.{item.name}" for module, item in found if called(item)]
    silent += [f"{module}.{item.name}.{m.name}" for module, item in found for m in item.members if called(m)]
    assert not silent


def test_docstrings_explain_names_line_by_line_or_after_semicolons() -> None:
    doc = """One line.

    first: of all; second, third: of both,
    on two lines
    *fourth (a tuple): last, see `other`; nothing else
    """
    expected = {
        "first": "of all", "second": "of both, on two lines", "third": "of both, on two lines",
        "*fourth (a tuple)": "last, see `other`; nothing else",
    }  # fmt: skip
    assert fields_of(doc) == expected
    assert fields_of("It goes on to the\nnext: a sentence is no list.") == {}


# ---------------------------------------------------------------------------------- the rules


def rows(result: Any) -> list[str]:
    return list(result.rows)


def played(game: Player, example: Example, reason: str) -> list[str]:
    """The position that a game makes of an example's first."""
    content = example.content()
    swap: Any = tuple(map(tuple, example.swap))
    cells = [(r, c) for r, c in example.fired]
    return {
        "first wave": lambda: rows(game.first_wave(content, swap)),
        "turn": lambda: rows(game.step(content, swap)),
        "fired": lambda: rows(game.strike(content, cells)),
        "wave": lambda: rows(game.wave(content)),
        "settled": lambda: rows(game.settled(content)),
    }[reason]()


@pytest.mark.parametrize("player", [Slow, Fast])
def test_both_games_play_the_rules_examples_as_they_are_drawn(player: Any) -> None:
    game = player()
    assert len(EXAMPLES) > 25
    for example in EXAMPLES:
        for reason, drawn in example.follows:
            assert played(game, example, reason) == drawn, (example.rows, reason)
        if example.legal is not None:
            assert (tuple(map(tuple, example.swap)) in game.legal(example.content())) == example.legal, example.rows


def test_the_sample_level_is_accepted() -> None:
    (sample,) = re.findall(r"```json\n(.*?)```", RULES, re.DOTALL)
    assert Level.from_dict(json.loads(sample)).name == "sample"


def test_an_example_says_what_is_wrong_with_it() -> None:
    with pytest.raises(ValueError, match="not by 'magic'"):
        read_example("a b\n=> magic\nb a")


# ---------------------------------------------------------------------------------- environments


def page(site: Path, name: str) -> str:
    return (site / "environments" / f"{name.replace('/', '-').lower()}.html").read_text(encoding="utf-8")


def test_the_environments_pages_in_the_repository_are_up_to_date() -> None:
    for path, text in environments.texts().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} is stale: run `make docs`, and keep what it wrote"
        )
        assert "{{" not in text and "| `planes` |" in text
    assert {path.name for path in (DOCS / "environments").iterdir()} == {f"{rules}.md" for rules in IDS.values()}


@pytest.mark.parametrize("name", IDS)
def test_an_environments_page_names_its_planes_options_and_values(site: Path, name: str) -> None:
    text = page(site, name)
    env: Any = gym.make(name, **({"pack": "basics"} if name == "Crush/Saga-v0" else {})).unwrapped
    spec = env.game.spec
    for i, plane in enumerate(env.game.channels):
        assert f"<td>{i}</td>\n<td><code>{plane}</code></td>" in text
    simple = SMALL if name != "Crush/Saga-v0" else {}
    for word in (*king_channels(spec), *VIEWS, *REWARDS, "level", "pack", "order", "output", "autoreset_mode", *simple):
        assert f"<code>{word}</code>" in text
    assert all(f'"{value}"' in text or f"&quot;{value}&quot;" in text for value in (*REWARDS, *ILLEGAL, *ORDERS))
    assert "<code>king</code> lacks the moves or the time left" in text and "without the moves left" in text
    assert str(env.action_space.n) in text


def test_the_keys_of_an_info_are_those_on_the_page(site: Path) -> None:
    env = gym.make("Crush/Combo-v0", **SMALL)
    _, info = env.reset(seed=0)
    _, _, _, _, after = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    table = page(site, "Crush/Combo-v0").split('id="info"')[1].split("</table>")[0]
    assert re.findall(r"<td><code>(\w+)</code></td>", table) and set(info) == set(after)
    assert set(re.findall(r"<tr>\n<td><code>(\w+)</code></td>", table)) == set(info)


@pytest.mark.parametrize("rules", IDS.values())
def test_the_code_on_an_environments_page_makes_it(rules: str) -> None:
    code, _ = re.findall(r"```python\n(.*?)```", (DOCS / "environments" / f"{rules}.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, rules, "exec"), names)
    assert names["env"].unwrapped.options.task.spec.rules == rules and names["envs"].num_envs == 4096


@pytest.mark.slow
def test_the_protocol_for_generalisation_runs_as_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    board = ["? ? ? ? ?"] * 5
    levels = [
        Level.from_dict({"name": str(i), "colours": 4, "moves": 6, "goals": {"orders": {"a": 3 + i}}, "board": board})
        for i in range(5)
    ]
    monkeypatch.setattr(crush_gym, "load_pack", lambda name: LevelPack(levels, name))
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "generalisation.md").read_text(), re.DOTALL)
    exec(compile(code, "generalisation.md", "exec"), {})
    said = capsys.readouterr().out
    assert re.findall(r"^tour (\w+), (\d) levels", said, re.MULTILINE) == [("train", "4"), ("test", "1")]
    assert said.count("normalised") == 2


@pytest.mark.slow
def test_the_code_of_building_on_the_game_runs_as_printed() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "building.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "building.md", "exec"), names)
    assert len(blocks) == 4 and int(names["state"].books.made) == 1
    assert names["game"].spec != Game(names["drawn"]).spec
    usual = Game.covering()
    assert usual.spec.portals == 16 and all(usual.accepts(level) for level in names["levels"])
