"""On a GPU: every plane of a stack as an array of its own, so that XLA can join what is done to them.

XLA:GPU puts operations into one kernel, with several results if need be, where these have one shape. A stack of planes
uint16[n, H, B] has another one than a plane, so that whatever stacks planes, or takes one out, ends a kernel. Here a
program is run on planes that were never stacked: leading axes become places in a NumPy array of traced arrays, and what
moves along them is decided while tracing. Loops carry planes one by one, short ones are unrolled. Barriers are left
out: they are fences for the CPU, and on a GPU XLA weighs for itself what is better computed twice. What `by_rows` marks
is done with every row as an array of its own, as the whole of a game is that has few planes.

What has no rule is put together, done as it stands, and taken apart again, so that every program gives what it gave.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from crush_gym.engine.bits import BY_ROWS

Tree = Any

ROWS, PLANES = 1, 2
"""How many of an array's last axes stay together: the boards, or a plane's rows and the boards."""

UNROLLED = 4
"""Most rounds of a loop that are written out."""

WORDS = np.uint16
"""Of what planes are made."""

FREE = {"slice", "squeeze", "reshape", "broadcast_in_dim", "concatenate", "transpose", "convert_element_type", "pad"}
"""Operations that cost nothing where their results are used."""

BEAT = "beat"
"""The scope of what loops over boards do, by which a profile, or a plan, finds it."""

Pieces = np.ndarray[Any, np.dtype[np.object_]]
"""An array taken apart: an entry for each place along the leading axes, which are often none."""

Arrays = list[Any]
"""Pieces of several arrays in a row."""


class Platform:
    """What the number of the platform stands for while tracing: not a CPU."""


class Value:
    """A traced array taken apart, as planes or as rows, whichever is asked for."""

    def __init__(self, kind: Any, pieces: dict[int, Pieces]) -> None:
        """kind: its shape and type; pieces: by `ROWS` and `PLANES`, at least one of them."""
        self.kind, self._pieces = kind, pieces

    @classmethod
    def of(cls, whole: int, x: Any) -> Value:
        x = jnp.asarray(x)
        return cls(jax.ShapeDtypeStruct(x.shape, x.dtype), {whole: _apart(whole, x)})  # type: ignore[no-untyped-call]

    def at(self, whole: int) -> Pieces:
        """As planes, or as rows."""
        if whole not in self._pieces:
            other = self._pieces[PLANES + ROWS - whole]
            self._pieces[whole] = _cut(other, self.kind) if whole == ROWS else _joined_rows(other, self.kind)
        return self._pieces[whole]

    def again(self) -> Value:
        """The same for another trace, which must not leave what it makes of it in this one."""
        return Value(self.kind, dict(self._pieces))

    def together(self) -> jax.Array:
        """The array."""
        return _together(self._pieces.get(PLANES, next(iter(self._pieces.values()))), self.kind)


def _cut(planes: Pieces, kind: Any) -> Pieces:
    return _filled(kind.shape[:-ROWS], lambda i: planes[i[:-1]][i[-1]]) if len(kind.shape) >= PLANES else planes


def _joined_rows(rows: Pieces, kind: Any) -> Pieces:
    if len(kind.shape) < PLANES:
        return rows
    plane = jax.ShapeDtypeStruct(kind.shape[-PLANES:], kind.dtype)  # type: ignore[no-untyped-call]
    return _filled(kind.shape[:-PLANES], lambda i: _together(rows[i], plane))


def unstacked(f: Callable[..., Tree], whole: int = PLANES) -> Callable[..., Tree]:
    """The same function of arrays, run on planes that are not stacked, or on rows. whole: `PLANES` or `ROWS`."""

    def call(*args: Tree) -> Tree:
        closed, shapes = jax.make_jaxpr(f, return_shape=True)(*args)
        leaves = [Value.of(whole, x) for x in jax.tree.leaves(args)]
        results = _run(whole, closed.jaxpr, closed.consts, leaves)
        return jax.tree.unflatten(jax.tree.structure(shapes), [x.together() for x in results])

    return call


def _apart(whole: int, x: jax.Array) -> Pieces:
    lead = x.shape[: max(x.ndim - whole, 0)]
    return _filled(lead, lambda place: x[place] if lead else x)


def _together(pieces: Pieces, kind: Any) -> jax.Array:
    """kind: its shape and type."""
    if not pieces.size:
        return jnp.zeros(kind.shape, kind.dtype)
    listed: list[Any] = list(pieces.flat)
    if pieces.ndim == 0:
        only: jax.Array = listed[0]
        return only
    if all(x is listed[0] for x in listed):
        return jnp.broadcast_to(listed[0], kind.shape)
    return jnp.stack(listed).reshape(kind.shape)


def _filled(lead: Sequence[int], piece: Callable[[tuple[int, ...]], Any]) -> Pieces:
    """An array of pieces, each made from its place."""
    made = np.empty(tuple(lead), object)
    for place in np.ndindex(*lead):
        made[place] = piece(place)
    return made


def _run(whole: int, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """A program's results, from arguments taken apart."""
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, (Value.of(whole, x) for x in consts), strict=True))
    known |= zip(jaxpr.invars, args, strict=True)

    def value(v: Any) -> Any:
        if not isinstance(v, core.Literal):
            return known[v]
        kind: Any = v.aval
        return Value.of(whole, jnp.asarray(v.val, kind.dtype))

    for equation in jaxpr.eqns:
        own = ROWS if BY_ROWS in str(equation.source_info.name_stack).split("/") else whole
        results = _done(own, equation, [value(v) for v in equation.invars])
        known |= zip(equation.outvars, results, strict=True)
    return [value(v) for v in jaxpr.outvars]


def _done(whole: int, equation: Any, args: list[Any]) -> list[Any]:
    """The results of one operation."""
    name, params = equation.primitive.name, equation.params
    if name == "platform_index":
        return [Platform()]
    if any(isinstance(x, Platform) for x in args):  # which is clamped, and then chooses: the last branch is for others
        return _of_closed(whole, params["branches"][-1], args[1:]) if name == "cond" else [Platform()]
    if name == "optimization_barrier":
        return args
    inner = params.get("jaxpr") or params.get("call_jaxpr")
    if name in ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call"):
        return _of_closed(whole, inner, args)
    if (
        name == "scan"
        and params["num_consts"] + params["num_carry"] == len(args) == len(equation.outvars) + (params["num_consts"])
    ):
        return _scan(whole, params, args)
    if name == "while":
        return _while(whole, params, args)
    rule = RULES.get(name)
    full = all(v.aval.size for v in (*equation.invars, *equation.outvars))
    made = rule(whole, equation, [x.at(whole) for x in args]) if rule and full else None
    return (
        [Value(equation.outvars[0].aval, {whole: made})] if made is not None else _as_it_stands(equation, args, whole)
    )


def _of_closed(whole: int, closed: Any, args: Sequence[Any]) -> list[Any]:
    inner, consts = (closed.jaxpr, closed.consts) if hasattr(closed, "consts") else (closed, ())
    return _run(whole, inner, consts, args)


def _as_it_stands(equation: Any, args: list[Value], whole: int) -> list[Value]:
    done = equation.primitive.bind(*[x.together() for x in args], **equation.params)
    return [Value.of(whole, x) for x in (done if equation.primitive.multiple_results else [done])]


# ------------------------------------------------------------------ loops


def _scan(whole: int, params: Any, args: list[Value]) -> list[Value]:
    """A loop of known length that only hands on what it carries."""
    given, carry, rounds = args[: params["num_consts"]], args[params["num_consts"] :], params["length"]

    def once(carry: list[Value]) -> list[Value]:
        return _of_closed(whole, params["jaxpr"], [*(x.again() for x in given), *carry])

    if rounds <= UNROLLED:
        for _ in range(rounds):
            carry = once(carry)
        return carry
    loop = Loop(whole, once, carry)
    return loop.values(rounds, lax.fori_loop(0, rounds, loop.round, loop.start))


def _while(whole: int, params: Any, args: list[Value]) -> list[Value]:
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    asked, given, carry = args[:first], args[first:second], args[second:]

    def once(carry: list[Value]) -> list[Value]:
        return _of_closed(whole, params["body_jaxpr"], [*(x.again() for x in given), *carry])

    loop = Loop(PLANES, once, carry)  # whose rows XLA would copy one by one, where it does not know how often

    def more(at: tuple[jax.Array, Arrays]) -> jax.Array:
        values = [*(x.again() for x in asked), *loop.values(*at)]
        going: jax.Array = _of_closed(whole, params["cond_jaxpr"], values)[0].at(whole)[()]
        return going

    return loop.values(*lax.while_loop(more, lambda at: (at[0] + 1, loop.round(*at)), (jnp.int32(0), loop.start)))


class Loop:
    """A loop that hands on as little as it can, piece by piece: XLA may copy what is handed on in every round.

    Pieces that a round leaves as they are stay outside. So do those that a round makes of none of them, such as planes
    that it leaves empty: only the first round reads what was there before. And what levels fix, numbers that all boards
    share, is worked out before the loop: each would be a kernel.
    """

    def __init__(self, whole: int, once: Callable[[list[Value]], list[Value]], carry: list[Value]) -> None:
        """once: a round."""
        self.kinds = [x.kind for x in carry]
        self.wholes = [whole if kind.dtype == WORDS else ROWS for kind in self.kinds]
        self._before = self._listed(carry)
        made = jax.make_jaxpr(lambda x: self._listed(once(self._values(x))))(self._before)
        body, results = made.jaxpr, made.jaxpr.outvars
        early = _without(body, body.invars)
        outside = {v for equation in early for v in equation.outvars}.union(body.constvars)
        settled = [n for n, v in enumerate(results) if isinstance(v, core.Literal) or v in outside]
        self._moving = [n for n, v in enumerate(results) if v is not body.invars[n] and n not in settled]
        shared = _worked_out(body, early)
        ends = [results[n] for n in settled]
        found = _called(body.replace(invars=[], outvars=[*ends, *shared], eqns=early), made.consts)()
        self._after = dict(zip(settled, found, strict=False))
        self._body = _called(
            _rest(body, [results[n] for n in self._moving], shared), [*made.consts, *found[len(settled) :]]
        )
        self.start = [self._before[n] for n in self._moving]

    def round(self, number: jax.Array, carried: Arrays) -> Arrays:
        """What is handed on after one more round. number: of those before it."""
        with jax.named_scope(BEAT):
            return list(self._body(*self._pieces(number, carried)))

    def values(self, number: jax.Array | int, carried: Arrays) -> list[Value]:
        """All that the loop is about, after so many rounds."""
        return self._values(self._pieces(number, carried))

    def _pieces(self, number: jax.Array | int, carried: Arrays) -> Arrays:
        pieces = list(self._before)
        for n, piece in zip(self._moving, carried, strict=True):
            pieces[n] = piece
        for n, after in self._after.items():
            certain = isinstance(number, int) and number > 0
            pieces[n] = after if certain else jnp.where(number == 0, self._before[n], after)
        return pieces

    def _listed(self, values: Sequence[Value]) -> Arrays:
        return [piece for x, whole in zip(values, self.wholes, strict=True) for piece in x.at(whole).flat]

    def _values(self, pieces: Arrays) -> list[Value]:
        rest = iter(pieces)

        def arranged(kind: Any, whole: int) -> Value:
            return Value(kind, {whole: _filled(kind.shape[: max(len(kind.shape) - whole, 0)], lambda _: next(rest))})

        return [arranged(*pair) for pair in zip(self.kinds, self.wholes, strict=True)]


def _without(jaxpr: Any, unknown: Sequence[Any]) -> list[Any]:
    """The operations that need none of these."""
    needing, others = set(unknown), []
    for equation in jaxpr.eqns:
        if needing.isdisjoint(_read(equation)):
            others.append(equation)
        else:
            needing.update(equation.outvars)
    return others


def _worked_out(jaxpr: Any, early: Sequence[Any]) -> list[Any]:
    """What these operations work out of constants that all boards share, where others use it."""
    fixed = {id(x) for x in early} - {id(x) for x in _without(jaxpr, [*jaxpr.invars, *jaxpr.constvars])}
    made = [x for x in early if id(x) in fixed and x.primitive.name not in FREE]
    inner = {id(x) for x in made}
    used = {v for x in jaxpr.eqns if id(x) not in inner for v in _read(x)}
    return [v for x in made for v in x.outvars if v in used and v.aval.size and v.aval.shape[-1:] == (1,)]


def _rest(jaxpr: Any, results: Sequence[Any], given: Sequence[Any]) -> Any:
    """What is left of a program of which only these results are wanted, where some values are given."""
    known = set(given)
    wanted, eqns = {v for v in results if not isinstance(v, core.Literal)} - known, []
    for equation in reversed(jaxpr.eqns):
        if not wanted.isdisjoint(equation.outvars):
            eqns.append(equation)
            wanted |= _read(equation) - known
    return jaxpr.replace(constvars=[*jaxpr.constvars, *given], outvars=list(results), eqns=eqns[::-1])


def _read(equation: Any) -> set[Any]:
    return {v for v in equation.invars if not isinstance(v, core.Literal)}


def _called(jaxpr: Any, consts: Sequence[Any]) -> Callable[..., Arrays]:
    call: Callable[..., Arrays] = core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, consts))
    return call


# ------------------------------------------------------------------ rules
# Each takes an operation and its arguments; None: this case has no rule. `lead` counts the axes that were taken apart.


def _lead(whole: int, v: Any) -> int:
    return max(len(v.aval.shape) - whole, 0)


def _elementwise(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    out = equation.outvars[0]
    shape = out.aval.shape[: _lead(whole, out)]
    spread = [np.broadcast_to(x, shape) if x.ndim else x for x in args]
    return _filled(
        shape, lambda i: equation.primitive.bind(*[x[i] if x.ndim else x[()] for x in spread], **equation.params)
    )


def _reduced(join: Callable[[Any, Any], Any], whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    """Along leading axes only."""
    (x,), axes, lead = args, equation.params["axes"], _lead(whole, equation.invars[0])
    if not axes or any(axis >= lead for axis in axes) or equation.outvars[0].aval.ndim < whole:
        return None
    kept = [axis for axis in range(lead) if axis not in axes]
    rows = x.transpose([*kept, *axes]).reshape(*(x.shape[axis] for axis in kept), -1)
    return _filled(rows.shape[:-1], lambda i: functools.reduce(join, list(rows[i])))


def _broadcast(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    """Where axes stay on their side: leading ones lead, the others follow; or a single piece is repeated or cut."""
    if len(args) > 1:
        return None
    (x,), source, out = args, equation.invars[0].aval.shape, equation.outvars[0]
    own, lead, to = _lead(whole, equation.invars[0]), _lead(whole, out), equation.params["broadcast_dimensions"]
    if any(axis >= lead for axis in to[:own]):
        return None
    follow = [n for n in range(own, len(source)) if to[n] >= lead]

    @functools.cache
    def spread(*at: int | None) -> jax.Array:
        cut = x[at[:own]][tuple(slice(None) if n is None else n for n in at[own:])]
        return lax.broadcast_in_dim(cut, out.aval.shape[lead:], [to[n] - lead for n in follow])

    def piece(place: tuple[int, ...]) -> jax.Array:
        at = [None if n in follow else place[to[n]] if source[n] != 1 else 0 for n in range(len(source))]
        return spread(*at)

    return _filled(out.aval.shape[:lead], piece)


def _reshaped(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    source, shape = equation.invars[0].aval.shape, equation.outvars[0].aval.shape
    if min(len(source), len(shape)) >= whole and source[-whole:] == shape[-whole:]:
        return args[0].reshape(shape[:-whole])
    if args[0].size == 1 and len(shape) <= whole:
        return _filled((), lambda _: args[0].flat[0].reshape(shape))
    return None


def _sliced(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    params, lead, x = equation.params, _lead(whole, equation.invars[0]), args[0]
    starts, limits = params["start_indices"], params["limit_indices"]
    steps = params["strides"] or (1,) * len(starts)
    cut = x[tuple(map(slice, starts[:lead], limits[:lead], steps[:lead]))] if lead else x
    if equation.invars[0].aval.shape[lead:] == equation.outvars[0].aval.shape[lead:]:
        return cut
    return _filled(cut.shape, lambda i: lax.slice(cut[i], starts[lead:], limits[lead:], steps[lead:]))


def _padded(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    lead, edges = _lead(whole, equation.invars[0]), equation.params["padding_config"]
    if any(edge != (0, 0, 0) for edge in edges[:lead]):
        return None
    return _filled(args[0].shape, lambda i: lax.pad(args[0][i], args[1][()], edges[lead:]))


def _joined(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    axis, lead = equation.params["dimension"], _lead(whole, equation.outvars[0])
    if axis < lead:
        return np.concatenate(args, axis=axis)
    return _filled(args[0].shape, lambda i: lax.concatenate([x[i] for x in args], axis - lead)) if lead else None


def _turned(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    order, lead = equation.params["permutation"], _lead(whole, equation.invars[0])
    return args[0].transpose(order[:lead]) if tuple(order[lead:]) == tuple(range(lead, len(order))) else None


def _numbered(whole: int, equation: Any, args: list[Pieces]) -> Pieces | None:
    """Numbers along an axis."""
    del args
    params, lead = equation.params, _lead(whole, equation.outvars[0])
    axis, kind, (leading, own) = params["dimension"], params["dtype"], (params["shape"][:lead], params["shape"][lead:])
    if axis >= lead:
        return _filled(leading, lambda _: lax.broadcasted_iota(kind, own, axis - lead))
    return _filled(leading, lambda i: lax.full(own, i[axis], kind))


Rule = Callable[[int, Any, list[Pieces]], Pieces | None]

RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("and", "or", "xor", "not", "add", "sub", "mul", "div", "rem", "neg", "abs", "sign", "max", "min", "select_n",
         "clamp", "eq", "ne", "lt", "le", "gt", "ge", "shift_left", "shift_right_logical", "shift_right_arithmetic",
         "convert_element_type", "population_count", "copy", "copy_p"),
        _elementwise,
    ),
    "reduce_or": functools.partial(_reduced, lax.bitwise_or),
    "reduce_and": functools.partial(_reduced, lax.bitwise_and),
    "reduce_sum": functools.partial(_reduced, lax.add),
    "reduce_max": functools.partial(_reduced, lax.max),
    "reduce_min": functools.partial(_reduced, lax.min),
    "broadcast_in_dim": _broadcast,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "slice": _sliced,
    "pad": _padded,
    "concatenate": _joined,
    "transpose": _turned,
    "iota": _numbered,
}  # fmt: skip
"""By the names of operations."""
