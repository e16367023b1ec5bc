"""What appears at the entries (rulebook 7, "Spawning")."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from crush_gym import layout
from crush_gym.engine import randomness
from crush_gym.engine.bits import Plane, Word, any_of, at_column, by_rows, count, mask, total, word_of
from crush_gym.engine.board import Board
from crush_gym.engine.state import Books, Play
from crush_gym.engine.terrain import Terrain

PLENTY = 1 << 20


@by_rows
def spawn(terrain: Terrain, play: Play, wanted: Plane) -> tuple[Play, Plane]:
    """Fill the entries `wanted` (empty cells); also what was born: planes to add to the items, uint16[n, H, B]."""
    spec = play.spec
    asked = play.board.fence([word_of(wanted & layer) for layer in terrain.entries])
    queue = _Queue(terrain, play, asked)
    born: list[Plane] = []
    spawns = []
    for n, layer in enumerate(terrain.entries):
        candy, others = play.board.fence(queue.sort(n))
        filled = candy | any_of(others.values()) if others else candy
        words = play.board.fence(_items(terrain, play, n, candy, others))
        born.append(words[:, None] & layer)
        columns = lax.broadcasted_iota(Word, (spec.width, 1), 0)
        spawns.append(play.spawns[n] + (filled >> columns & Word(1)))
    play = play._replace(spawns=jnp.stack(spawns), books=queue.books())
    return play, any_of(born)


def available(terrain: Terrain, play: Play) -> jax.Array:
    """Whether an empty entry would get anything; bool[B] or bool[1]."""
    some = terrain.spawn_candies != 0
    for allowance in allowances(terrain, play):
        some = some | (allowance > 0)
    return some


def allowances(terrain: Terrain, play: Play) -> list[jax.Array]:
    """How many of each listed kind may appear now; int32[B] each."""
    books, spawns = play.books, terrain.spawns
    numbers = play.board.fence([count(_on_board(play.board, name)) for name in _spawnable(play.board)])
    there = [(layout.SPAWN_KINDS.index(name), n) for name, n in zip(_spawnable(play.board), numbers, strict=True)]
    result = []
    for i in range(play.spec.spawn_kinds):
        number = total(jnp.where(spawns.kind[i] == k, n, 0) for k, n in there)
        by_quota = jnp.where(spawns.quota[i] < 0, PLENTY, spawns.quota[i] - books.spawned[i])
        by_board = jnp.where(spawns.on_board[i] < 0, PLENTY, spawns.on_board[i] - number)
        rested = (books.last_spawn[i] < 0) | (books.made - books.last_spawn[i] >= spawns.every[i])
        most = jnp.minimum(by_quota, by_board)
        most = jnp.where(spawns.every[i] > 0, jnp.minimum(most, 1), most)
        result.append(jnp.where(rested & (spawns.kind[i] >= 0), jnp.maximum(most, 0), 0))
    return play.board.fence(result)


def _spawnable(board: Board) -> list[str]:
    """The kinds that entries can be told to spawn in this game."""
    needs = {"cherry": "ingredient", "hazelnut": "ingredient", "swirl": "swirl", "bomb": "fresh bomb",
             "plus5": "plus5", "drop": "drop"}  # fmt: skip
    return [kind for kind, mechanic in needs.items() if board.spec.has(mechanic)]


def _on_board(board: Board, kind: str) -> Plane:
    codes = {"cherry": layout.CHERRY, "hazelnut": layout.HAZELNUT, "swirl": layout.SWIRL}
    if kind in codes:
        return board.other(codes[kind])
    return board.union(layout.TIMER if kind == "bomb" else (kind,))


class _Queue:
    """Who of the entries that spawn at once gets what: in reading order, the first listed kinds first."""

    def __init__(self, terrain: Terrain, play: Play, asked: list[jax.Array]) -> None:
        self.terrain, self.play, self.asked = terrain, play, asked
        self.width = play.spec.width
        self.allowed = allowances(terrain, play)
        self.waiting = play.board.fence(total(lax.population_count(word) for word in asked).astype(jnp.int32))

    def sort(self, layer: int) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Columns of the layer that get a candy, and those that get each other kind; words uint16[B].

        A kind that is a tag ("bomb", "plus5", "drop") comes on a candy, so its columns are among the candies.
        """
        asked = self.asked[layer]
        timed = self.play.spec.has("plus5")
        if not self.allowed and not timed:
            return asked & mask(self.terrain.spawn_candies != 0), {}
        place = self.play.board.fence(jnp.stack([self._place(layer, c) for c in range(self.width)]))
        others: dict[str, jax.Array] = {}
        start = jnp.zeros_like(self.waiting)
        kinds = _spawnable(self.play.board)
        for i, allowed in enumerate(self.allowed):
            end = start + allowed
            here = asked & at_column(self.width, [((p >= start) & (p < end)).astype(Word) for p in place])
            for kind in kinds:
                chosen = here & mask(self.terrain.spawns.kind[i] == layout.SPAWN_KINDS.index(kind))
                others[kind] = others[kind] | chosen if kind in others else chosen
            start = end
        candy = asked & mask(self.terrain.spawn_candies != 0)
        if others:
            candy = candy & ~any_of(others.values())
        if timed:
            bonus = at_column(self.width, [(p == start).astype(Word) for p in place])
            lucky = candy & bonus & mask(self.play.books.bonus != 0)
            others["plus5"] = others["plus5"] | lucky if "plus5" in others else lucky
        tagged = [others[kind] for kind in ("bomb", "plus5", "drop") if kind in others]
        return any_of([candy, *tagged]), others

    def _place(self, layer: int, column: int) -> jax.Array:
        """How many entries spawn before this one; int32[B]."""
        earlier = self.terrain.earlier[layer, column]
        return total(
            lax.population_count(word & before) for word, before in zip(self.asked, earlier, strict=True)
        ).astype(jnp.int32)

    def books(self) -> Books:
        """The books with what was spawned."""
        books = self.play.books
        if self.play.spec.has("plus5"):
            plain = (self.waiting > total([jnp.zeros_like(self.waiting), *self.allowed])) & (
                self.terrain.spawn_candies != 0
            )
            books = books._replace(bonus=jnp.where(plain, 0, books.bonus))
        if not self.allowed:
            return books
        start, spawned, last = jnp.zeros_like(self.waiting), [], []
        for i, allowed in enumerate(self.allowed):
            given = jnp.clip(self.waiting - start, 0, allowed)
            spawned.append(books.spawned[i] + given)
            last.append(jnp.where(given > 0, books.made, books.last_spawn[i]))
            start = start + allowed
        return books._replace(spawned=jnp.stack(spawned), last_spawn=jnp.stack(last))


def _items(terrain: Terrain, play: Play, layer: int, candy: jax.Array, others: dict[str, jax.Array]) -> jax.Array:
    """The words of one layer's new items, uint16[planes, B]."""
    spec = play.spec
    words = {"kind1": candy} if spec.has("unknown") else _coloured(terrain, play, layer, candy)
    for kind, code in (("swirl", layout.SWIRL), ("cherry", layout.CHERRY), ("hazelnut", layout.HAZELNUT)):
        if kind in others:
            for i, name in enumerate(layout.KIND):
                if code >> i & 1:
                    words[name] = words[name] | others[kind] if name in words else others[kind]
    if "bomb" in others:
        for i, name in enumerate(layout.TIMER):
            words[name] = others["bomb"] & mask(terrain.spawns.counter >> i & 1 != 0)
        words["fresh"] = others["bomb"]
    words |= {tag: others[tag] for tag in ("plus5", "drop") if tag in others}
    empty = jnp.zeros_like(candy)
    return jnp.stack([words.get(name, empty) for name in spec.moving])


def _coloured(terrain: Terrain, play: Play, layer: int, candy: jax.Array) -> dict[str, jax.Array]:
    """The words of the colours that one layer's new candies draw."""
    value = randomness.draw(play.bits, randomness.SPAWN, terrain.entry_cells[layer], play.spawns[layer])
    colour = (randomness.below(value, terrain.colours) + 1).astype(Word)
    return {
        name: at_column(play.spec.width, list(colour >> Word(i) & Word(1))) & candy
        for i, name in enumerate(layout.COLOUR)
    }
