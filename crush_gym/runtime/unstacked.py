"""On a GPU: every plane of a stack as an array of its own, so that XLA can join what is done to them.

XLA:GPU puts operations into one kernel, with several results if need be, where these have one shape. A stack of planes
uint16[n, H, B] has another one than a plane, so that whatever stacks planes, or takes one out, ends a kernel. Here a
program is run on planes that were never stacked: leading axes become places in a NumPy array of traced arrays, and what
moves along them is decided while tracing. Loops carry planes one by one, short ones are unrolled. Barriers are left
out: they are fences for the CPU, and on a GPU XLA weighs for itself what is better computed twice.

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

Tree = Any

WHOLE = 2
"""Axes, of an array's last ones, that stay together: a plane's rows and the boards."""

UNROLLED = 4
"""Most rounds of a loop that are written out."""

BEAT = "beat"
"""The scope of what loops over boards do, by which a profile, or a plan, finds it."""

Pieces = np.ndarray[Any, np.dtype[np.object_]]
"""An array taken apart: an entry for each place along the leading axes, which are often none."""


class Platform:
    """What the number of the platform stands for while tracing: not a CPU."""


def unstacked(f: Callable[..., Tree]) -> Callable[..., Tree]:
    """The same function of arrays, run on planes that are not stacked."""

    def call(*args: Tree) -> Tree:
        closed, shapes = jax.make_jaxpr(f, return_shape=True)(*args)
        leaves = [_apart(jnp.asarray(x)) for x in jax.tree.leaves(args)]
        results = _run(closed.jaxpr, closed.consts, leaves)
        whole = [_together(x, v.aval) for x, v in zip(results, closed.jaxpr.outvars, strict=True)]
        return jax.tree.unflatten(jax.tree.structure(shapes), whole)

    return call


def _apart(x: jax.Array) -> Pieces:
    lead = x.shape[: max(x.ndim - WHOLE, 0)]
    return _filled(lead, lambda place: x[place] if lead else x)


def _together(pieces: Pieces, kind: Any) -> jax.Array:
    """kind: its shape and type."""
    if not pieces.size:
        return jnp.zeros(kind.shape, kind.dtype)
    if pieces.ndim == 0:
        whole: jax.Array = pieces[()]
        return whole
    return jnp.stack(list(pieces.flat)).reshape(kind.shape)


def _filled(lead: Sequence[int], piece: Callable[[tuple[int, ...]], Any]) -> Pieces:
    """An array of pieces, each made from its place."""
    made = np.empty(tuple(lead), object)
    for place in np.ndindex(*lead):
        made[place] = piece(place)
    return made


def _run(jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """A program's results, from arguments taken apart."""
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, (_apart(jnp.asarray(x)) for x in consts), strict=True))
    known |= zip(jaxpr.invars, args, strict=True)

    def value(v: Any) -> Any:
        return _apart(jnp.asarray(v.val, v.aval.dtype)) if isinstance(v, core.Literal) else known[v]

    for equation in jaxpr.eqns:
        results = _done(equation, [value(v) for v in equation.invars])
        known |= zip(equation.outvars, results, strict=True)
    return [value(v) for v in jaxpr.outvars]


def _done(equation: Any, args: list[Any]) -> list[Any]:
    """The results of one operation."""
    name, params = equation.primitive.name, equation.params
    if name == "platform_index":
        return [Platform()]
    if any(isinstance(x, Platform) for x in args):  # which is clamped, and then chooses: the last branch is for others
        return _of_closed(params["branches"][-1], args[1:]) if name == "cond" else [Platform()]
    if name == "optimization_barrier":
        return args
    inner = params.get("jaxpr") or params.get("call_jaxpr")
    if name in ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call"):
        return _of_closed(inner, args)
    if (
        name == "scan"
        and params["num_consts"] + params["num_carry"] == len(args) == len(equation.outvars) + (params["num_consts"])
    ):
        return _scan(params, args)
    if name == "while":
        return _while(params, args)
    rule = RULES.get(name)
    full = all(v.aval.size for v in (*equation.invars, *equation.outvars))
    made = rule(equation, args) if rule and full else None
    return [made] if made is not None else _as_it_stands(equation, args)


def _of_closed(closed: Any, args: Sequence[Any]) -> list[Any]:
    return _run(closed.jaxpr, closed.consts, args) if hasattr(closed, "consts") else _run(closed, (), args)


def _as_it_stands(equation: Any, args: list[Pieces]) -> list[Pieces]:
    whole = [_together(x, v.aval) for x, v in zip(args, equation.invars, strict=True)]
    done = equation.primitive.bind(*whole, **equation.params)
    return [_apart(x) for x in (done if equation.primitive.multiple_results else [done])]


# ------------------------------------------------------------------ loops


def _scan(params: Any, args: list[Pieces]) -> list[Pieces]:
    """A loop of known length that only hands on what it carries."""
    given, carry = args[: params["num_consts"]], args[params["num_consts"] :]

    def once(carry: list[Pieces]) -> list[Pieces]:
        return _of_closed(params["jaxpr"], [*given, *carry])

    if params["length"] <= UNROLLED:
        for _ in range(params["length"]):
            carry = once(carry)
        return carry

    def body(flat: list[list[Any]], _: None) -> tuple[list[list[Any]], None]:
        with jax.named_scope(BEAT):
            return _listed(once(_like(carry, flat))), None

    return _like(carry, lax.scan(body, _listed(carry), None, length=params["length"])[0])


def _while(params: Any, args: list[Pieces]) -> list[Pieces]:
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    asked, given, carry = args[:first], args[first:second], args[second:]

    def more(flat: list[list[Any]]) -> jax.Array:
        going: jax.Array = _of_closed(params["cond_jaxpr"], [*asked, *_like(carry, flat)])[0][()]
        return going

    def body(flat: list[list[Any]]) -> list[list[Any]]:
        with jax.named_scope(BEAT):
            return _listed(_of_closed(params["body_jaxpr"], [*given, *_like(carry, flat)]))

    return _like(carry, lax.while_loop(more, body, _listed(carry)))


def _listed(arrays: Sequence[Pieces]) -> list[list[Any]]:
    return [list(pieces.flat) for pieces in arrays]


def _like(arrays: Sequence[Pieces], lists: Sequence[Sequence[Any]]) -> list[Pieces]:
    """Lists of pieces in the arrangement of others."""
    pairs = zip(arrays, (iter(pieces) for pieces in lists), strict=True)
    return [_filled(pieces.shape, lambda _, rest=rest: next(rest)) for pieces, rest in pairs]


# ------------------------------------------------------------------ rules
# Each takes an operation and its arguments; None: this case has no rule. `lead` counts the axes that were taken apart.


def _lead(v: Any) -> int:
    return max(len(v.aval.shape) - WHOLE, 0)


def _elementwise(equation: Any, args: list[Pieces]) -> Pieces | None:
    out = equation.outvars[0]
    shape = out.aval.shape[: _lead(out)]
    spread = [np.broadcast_to(x, shape) if x.ndim else x for x in args]
    return _filled(
        shape, lambda i: equation.primitive.bind(*[x[i] if x.ndim else x[()] for x in spread], **equation.params)
    )


def _reduced(join: Callable[[Any, Any], Any], equation: Any, args: list[Pieces]) -> Pieces | None:
    """Along leading axes only."""
    (x,), axes, lead = args, equation.params["axes"], _lead(equation.invars[0])
    if not axes or any(axis >= lead for axis in axes) or equation.outvars[0].aval.ndim < WHOLE:
        return None
    kept = [axis for axis in range(lead) if axis not in axes]
    rows = x.transpose([*kept, *axes]).reshape(*(x.shape[axis] for axis in kept), -1)
    return _filled(rows.shape[:-1], lambda i: functools.reduce(join, list(rows[i])))


def _broadcast(equation: Any, args: list[Pieces]) -> Pieces | None:
    """Where axes stay on their side: leading ones lead, the others follow; or a single piece is repeated or cut."""
    if len(args) > 1:
        return None
    (x,), source, out = args, equation.invars[0].aval.shape, equation.outvars[0]
    own, lead, to = _lead(equation.invars[0]), _lead(out), equation.params["broadcast_dimensions"]
    if any(axis >= lead for axis in to[:own]):
        return None
    follow = [n for n in range(own, len(source)) if to[n] >= lead]

    def piece(place: tuple[int, ...]) -> jax.Array:
        def at(n: int) -> int:
            return place[to[n]] if source[n] != 1 else 0

        found = x[tuple(at(n) for n in range(own))]
        cut = found[tuple(slice(None) if n in follow else at(n) for n in range(own, len(source)))]
        return lax.broadcast_in_dim(cut, out.aval.shape[lead:], [to[n] - lead for n in follow])

    return _filled(out.aval.shape[:lead], piece)


def _reshaped(equation: Any, args: list[Pieces]) -> Pieces | None:
    source, shape = equation.invars[0].aval.shape, equation.outvars[0].aval.shape
    if min(len(source), len(shape)) >= WHOLE and source[-WHOLE:] == shape[-WHOLE:]:
        return args[0].reshape(shape[:-WHOLE])
    if args[0].size == 1 and len(shape) <= WHOLE:
        return _filled((), lambda _: args[0].flat[0].reshape(shape))
    return None


def _sliced(equation: Any, args: list[Pieces]) -> Pieces | None:
    params, lead, x = equation.params, _lead(equation.invars[0]), args[0]
    starts, limits = params["start_indices"], params["limit_indices"]
    steps = params["strides"] or (1,) * len(starts)
    cut = x[tuple(map(slice, starts[:lead], limits[:lead], steps[:lead]))] if lead else x
    if equation.invars[0].aval.shape[lead:] == equation.outvars[0].aval.shape[lead:]:
        return cut
    return _filled(cut.shape, lambda i: lax.slice(cut[i], starts[lead:], limits[lead:], steps[lead:]))


def _padded(equation: Any, args: list[Pieces]) -> Pieces | None:
    lead, edges = _lead(equation.invars[0]), equation.params["padding_config"]
    if any(edge != (0, 0, 0) for edge in edges[:lead]):
        return None
    return _filled(args[0].shape, lambda i: lax.pad(args[0][i], args[1][()], edges[lead:]))


def _joined(equation: Any, args: list[Pieces]) -> Pieces | None:
    axis, lead = equation.params["dimension"], _lead(equation.outvars[0])
    if axis < lead:
        return np.concatenate(args, axis=axis)
    return _filled(args[0].shape, lambda i: lax.concatenate([x[i] for x in args], axis - lead)) if lead else None


def _turned(equation: Any, args: list[Pieces]) -> Pieces | None:
    order, lead = equation.params["permutation"], _lead(equation.invars[0])
    return args[0].transpose(order[:lead]) if tuple(order[lead:]) == tuple(range(lead, len(order))) else None


Rule = Callable[[Any, list[Pieces]], Pieces | None]

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
}  # fmt: skip
"""By the names of operations."""
