"""One moment of many boards, and the questions that every rule asks of it."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from crush_gym import layout
from crush_gym.engine.bits import ONES, Plane, Tree, all_of, any_of, fence
from crush_gym.engine.spec import Spec


@jax.tree_util.register_pytree_node_class
class Board:
    """The planes of many boards under one spec.

    items: uint16[n, H, B], the planes that travel with an item, in the order of `spec.moving`
    fixed: the planes that belong to cells, by name, each uint16[H, B]
    never: the predicate of this moment's fences; without it, as after any JAX transformation, they do nothing
    watched: whether a fence that would do nothing is an error, as it is under test
    """

    watched = False

    def __init__(self, spec: Spec, items: Plane, fixed: dict[str, Plane], never: jax.Array | None = None) -> None:
        self.spec = spec
        self.items = items
        self.fixed = fixed
        self.never = never

    def tree_flatten(self) -> tuple[tuple[Plane, dict[str, Plane]], Spec]:
        """What JAX maps, and what it keeps."""
        return (self.items, self.fixed), self.spec

    @classmethod
    def tree_unflatten(cls, spec: Spec, children: tuple[Plane, dict[str, Plane]]) -> Board:
        """The board again, asleep."""
        return cls(spec, *children)

    @classmethod
    def of(cls, spec: Spec, planes: Plane) -> Board:
        """From the planes of a state, uint16[planes, H, B]."""
        n = len(spec.moving)
        return cls(spec, planes[:n], {name: planes[n + i] for i, name in enumerate(spec.fixed)})

    def planes(self) -> Plane:
        """As the planes of a state."""
        fixed = [self.fixed[name][None] for name in self.spec.fixed]
        return jnp.concatenate([self.items, *fixed]) if fixed else self.items

    def with_items(self, items: Plane) -> Board:
        """The same with other items, uint16[n, H, B]."""
        return Board(self.spec, items, self.fixed, self.never)

    def with_fixed(self, changes: dict[str, Plane]) -> Board:
        """The same with other planes of cells, by name."""
        return Board(self.spec, self.items, self.fixed | changes, self.never)

    def awake(self) -> Board:
        """The same board, whose fences work: the predicate is always false, but XLA cannot know it."""
        return Board(self.spec, self.items, self.fixed, self.items.ravel()[0].astype(jnp.uint32) > ONES)

    def fence(self, tree: Tree) -> Tree:
        """See `bits.fence`."""
        if self.never is not None:
            return fence(tree, self.never)
        if self.watched:
            raise RuntimeError("this board is not awake, so that its fence would do nothing: call board.awake() first")
        return tree

    def with_moving(self, changes: dict[str, Plane]) -> Board:
        """With new versions of some of the planes that travel with items."""
        names = self.spec.moving
        return self.with_items(jnp.stack([changes.get(n, self.items[i]) for i, n in enumerate(names)]))

    @property
    def nothing(self) -> Plane:
        """The empty plane."""
        return jnp.zeros_like(self.items[0])

    def plane(self, name: str) -> Plane:
        """One plane by name; empty where the game has no such plane."""
        if name in self.fixed:
            return self.fixed[name]
        if name in self.spec.moving:
            return self.items[self.spec.moving.index(name)]
        return self.nothing

    def union(self, names: tuple[str, ...]) -> Plane:
        """Cells in any of the planes named."""
        present = [self.plane(name) for name in names if name in self.spec.planes]
        return any_of(present) if present else self.nothing

    @property
    def colours(self) -> Plane:
        """The three planes of the candies' colours, uint16[3, H, B]."""
        return self.items[:3]

    @property
    def candies(self) -> Plane:
        """Candies of any form, under a cover or not."""
        return any_of(list(self.colours))

    @property
    def items_there(self) -> Plane:
        """Everything that can travel: no icing, no chocolate."""
        return self.union((*layout.COLOUR, *layout.KIND))

    @property
    def special(self) -> Plane:
        """Candies that are not plain."""
        return self.candies & self.union(layout.KIND)

    @property
    def plain(self) -> Plane:
        return self.candies & ~self.union(layout.KIND)

    def _kind(self, code: int) -> Plane:
        names = [name for name in layout.KIND if name in self.spec.planes]
        if code >> len(names):
            return self.nothing
        bits = [self.plane(name) for name in names]
        return all_of(bit if code >> i & 1 else ~bit for i, bit in enumerate(bits))

    def candy(self, form: int) -> Plane:
        """Candies of one form: `layout.STRIPED_H`, `STRIPED_V`, `WRAPPED`."""
        return self._kind(form) & self.candies

    @property
    def striped(self) -> Plane:
        return self.candy(layout.STRIPED_H) | self.candy(layout.STRIPED_V)

    def other(self, code: int) -> Plane:
        """Items without a colour: `layout.SWIRL`, `COLOUR_BOMB`, `CHERRY`, `HAZELNUT`, `FUSED3`, `FUSED5`."""
        return self._kind(code) & ~self.candies

    @property
    def ingredients(self) -> Plane:
        return self.other(layout.CHERRY) | self.other(layout.HAZELNUT)

    @property
    def tagged(self) -> Plane:
        return self.union(layout.TAGS)

    @property
    def covered(self) -> Plane:
        """Cells under a lock or marmalade."""
        return self.union(layout.COVERS)

    @property
    def blocked(self) -> Plane:
        """Cells filled by what never moves: icing, chocolate."""
        return self.union((*layout.ICING, "chocolate"))

    @property
    def free_items(self) -> Plane:
        """Items that fall."""
        return self.items_there & ~self.covered

    @property
    def swappable(self) -> Plane:
        """Items that can be swapped: all that fall but fused candies, which a hundredth wave may leave."""
        fused = self.other(layout.FUSED3) | self.other(layout.FUSED5)
        return self.free_items & ~fused

    @property
    def matchable(self) -> Plane:
        """Candies, free or under a lock (rulebook 1)."""
        return self.candies & ~self.plane("marmalade")

    def empty(self, floor: Plane) -> Plane:
        """Floor cells that hold nothing."""
        return floor & ~self.items_there & ~self.blocked

    def put(self, where: Plane, items: dict[str, Plane]) -> Board:
        """Replace the items of the cells `where`: plane name -> what it holds there, zero for the rest."""
        spec = self.spec
        rows = [
            (self.items[i] & ~where) | (items[name] & where) if name in items else self.items[i] & ~where
            for i, name in enumerate(spec.moving)
        ]
        return self.with_items(jnp.stack(rows))


def coloured(colours: Plane, code: int) -> Plane:
    """Cells of one colour 1-7. colours: uint16[3, H, B]."""
    return all_of(plane if code >> i & 1 else ~plane for i, plane in enumerate(colours))
