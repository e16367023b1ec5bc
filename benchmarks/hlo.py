"""Read the optimised HLO that XLA prints for a GPU: which kernels each loop launches, and what they read and write.

After XLA:GPU's last pass, every instruction that computes something is one launch of a kernel; the others (tuples,
parameters, constants, bitcasts) cost nothing, and `while`, `conditional` and `call` only say what runs next. Bytes are
an upper bound: each kernel is taken to read all of its arguments and to write all of its results, past every cache.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

BYTES = {
    "pred": 1, "s4": 1, "u4": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4,
    "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip
"""Of one element, by type; what is not listed (`token`, `opaque`) holds nothing."""

FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "add-dependency", "opt-barrier",
    "optimization-barrier", "partition-id", "replica-id", "while", "conditional", "call", "copy-done", "async-done",
    "async-update", "all-reduce-done", "all-gather-done", "collective-permute-done", "send-done", "recv-done",
}  # fmt: skip
"""Instructions that launch nothing themselves."""

COLLECTIVES = (
    "all-reduce", "all-gather", "all-to-all", "collective-permute", "collective-broadcast", "reduce-scatter",
    "ragged-all-to-all",
)  # fmt: skip

COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{$")
INSTRUCTION = re.compile(r"(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)")
SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
NAME = re.compile(r"%([\w.\-]+)")
TRIPS = re.compile(r'"known_trip_count":\{"n":"?(\d+)')
SCOPES = re.compile(r'op_name="([^"]*)"')


@dataclass
class Body:
    """What runs once: the program itself, a loop's body, or what one of them calls.

    launches: by instruction
    bytes: that they read and write at most
    scopes: names that the sources gave to what these launches do
    loops: within it
    """

    name: str
    launches: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    scopes: set[str] = field(default_factory=set)
    loops: list[Loop] = field(default_factory=list)

    @property
    def own(self) -> int:
        """Its own launches."""
        return sum(self.launches.values())

    @property
    def all_launches(self) -> int:
        """Its own launches, and those of the loops in it: as often as XLA knows that they go round, else once."""
        return self.own + sum(loop.rounds * loop.body.all_launches for loop in self.loops)

    @property
    def all_bytes(self) -> int:
        """The same of the bytes."""
        return self.bytes + sum(loop.rounds * loop.body.all_bytes for loop in self.loops)

    @property
    def all_kinds(self) -> Counter[str]:
        """The same of the launches by instruction."""
        kinds = Counter(self.launches)
        for loop in self.loops:
            kinds.update({kind: loop.rounds * n for kind, n in loop.body.all_kinds.items()})
        return kinds

    @property
    def collectives(self) -> int:
        """Launches of it and of all loops in it that several devices make together."""
        own = sum(n for kind, n in self.launches.items() if kind.removesuffix("-start") in COLLECTIVES)
        return own + sum(loop.body.collectives for loop in self.loops)

    def walk(self) -> Iterator[Body]:
        """Itself and the bodies of all loops in it, outer ones first."""
        yield self
        for loop in self.loops:
            yield from loop.body.walk()

    def outermost(self, scope: str) -> list[Body]:
        """The bodies of the outermost loops that launch something from this scope themselves."""
        found = []
        for loop in self.loops:
            found += [loop.body] if scope in loop.body.scopes else loop.body.outermost(scope)
        return found


@dataclass(frozen=True)
class Loop:
    """trips: how often it goes round, where XLA knows; 0: the device says after each round whether there is another."""

    trips: int
    body: Body

    @property
    def rounds(self) -> int:
        """That are counted."""
        return max(self.trips, 1)


def size_of(shape: str) -> int:
    """Bytes of a shape as HLO writes it, tuples included."""
    total = 0
    for name, dimensions in SHAPE.findall(shape):
        size = BYTES.get(name, 0)
        for n in filter(None, dimensions.split(",")):
            size *= int(n)
        total += size
    return total


def read(text: str) -> Body:
    """The program that a module's text describes."""
    bodies, entry = _computations(text)
    return _body(entry, bodies)


def _computations(text: str) -> tuple[dict[str, list[str]], str]:
    """The lines of every computation, and the name of the one that is called."""
    bodies: dict[str, list[str]] = {}
    current = entry = ""
    for line in text.splitlines():
        start = COMPUTATION.match(line)
        if start and not line.startswith((" ", "HloModule")):
            current = start.group(2)
            bodies[current] = []
            entry = current if start.group(1) else entry
        elif line.startswith("}"):
            current = ""
        elif current and " = " in line:
            bodies[current].append(line.strip())
    if not entry:
        raise ValueError("this is not the text of an HLO module: no computation is marked as ENTRY")
    return bodies, entry


def _body(name: str, bodies: dict[str, list[str]]) -> Body:
    body = Body(name)
    sizes: dict[str, int] = {}
    for line in bodies[name]:
        found = INSTRUCTION.match(line)
        if not found:
            raise ValueError(f"this line of {name} is not understood: {line[:120]}")
        own, shape, op, rest = found.groups()
        sizes[own] = size_of(shape)
        if op not in FREE:
            arguments = NAME.findall(rest.partition(")")[0])
            body.launches[op] += 1
            body.bytes += sizes[own] + sum(sizes.get(x, 0) for x in arguments)
            body.scopes.update(part for scopes in SCOPES.findall(line) for part in scopes.split("/"))
        elif op == "while":
            trips = TRIPS.search(line)
            body.loops.append(Loop(int(trips.group(1)) if trips else 0, _round(line, bodies)))
        elif op in ("call", "conditional"):
            _enter(body, [_body(x, bodies) for x in _called(line)])
    return body


def _round(line: str, bodies: dict[str, list[str]]) -> Body:
    """One round of a loop: its body, and what decides whether there is another."""
    body, condition = (_body(_named(line, what), bodies) for what in ("body", "condition"))
    _enter(body, [condition])
    return body


def _named(line: str, what: str) -> str:
    found = re.search(rf"{what}=%?([\w.\-]+)", line)
    assert found is not None
    return found.group(1)


def _called(line: str) -> list[str]:
    branches = re.search(r"branch_computations=\{([^}]*)\}", line)
    if branches:
        return [name.strip().lstrip("%") for name in branches.group(1).split(",")]
    return re.findall(r"(?:to_apply|true_computation|false_computation)=%?([\w.\-]+)", line)


def _enter(body: Body, others: list[Body]) -> None:
    """What others do counts as done here: of the branches of a condition all, for each of them may be taken."""
    for other in others:
        body.launches.update(other.launches)
        body.bytes += other.bytes
        body.scopes |= other.scopes
        body.loops += other.loops
