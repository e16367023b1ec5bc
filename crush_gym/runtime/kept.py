"""Compiled programs that outlive their process: the next one that needs them neither traces nor compiles.

JAX can keep programs too, but in one place for all that a process compiles, a user's own programs included, and it has
to trace a program before it can look for it. Ours are found by what they are made from: see `identity`.
"""

from __future__ import annotations

import functools
import operator
import os
import pickle
import platform
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.experimental import serialize_executable
from jaxlib import version as jaxlib_version

from crush_gym.runtime import store
from crush_gym.runtime.identity import UnknownError, digest, identity, unchanged
from crush_gym.runtime.xla import Options, untraced

Tree = Any
Call = Callable[..., Tree]

FORMAT = "1"
"""Of an entry; another one is not read."""

XLA_FLAGS = "XLA_FLAGS"


def program(f: Call, options: Options = (), donate: tuple[int, ...] = ()) -> Call:
    """`jax.jit(f)`, kept from one process to the next where that is possible.

    options: XLA's; donate: positions of the arguments whose memory the results may take. Arguments have no names.
    """
    compiled: Call = jax.jit(f, compiler_options=dict(options), donate_argnums=donate)
    folder = store.place().folder
    return compiled if folder is None else Program(f, compiled, folder, repr((options, donate)))


class Program:
    """A function compiled for each kind of arguments that it meets.

    In a trace, under settings of JAX for which it was not made, and for all that cannot be kept, `jax.jit` serves.
    """

    def __init__(self, f: Call, compiled: Call, folder: Path, options: str) -> None:
        self.__wrapped__ = f
        self._jit: Any = compiled
        self._folder, self._options = folder, options
        self._made: dict[tuple[Any, ...], Call] = {}
        self._last: tuple[Any, Call] | None = None
        self._lock = threading.RLock()
        _all.add(self)

    def __call__(self, *args: Tree) -> Tree:
        if not untraced():
            return self._jit(*args)
        settings, last = _settings(jax.config), self._last
        if last is not None and last[0] == settings:
            try:
                return last[1](*args)
            except (TypeError, ValueError):
                pass  # these arguments are of another kind; finding that out beforehand would take longer than to fail
        return self._for(settings, args)(*args)

    def forget(self) -> None:
        """Let go of what was compiled or loaded."""
        with self._lock:
            self._made.clear()
            self._last = None

    def _for(self, settings: tuple[Any, ...], args: tuple[Tree, ...]) -> Call:
        """What serves these arguments."""
        leaves, tree = jax.tree.flatten((args, {}))
        try:
            kind = (settings, tree, *map(_kind, leaves))
        except TypeError:
            return self._jit  # which says what is wrong with them
        with self._lock:
            if kind not in self._made:
                self._made[kind] = self._loaded_or_compiled(kind, tree, args)
            self._last = (settings, self._made[kind])
            return self._made[kind]

    def _loaded_or_compiled(self, kind: tuple[Any, ...], tree: Any, args: tuple[Tree, ...]) -> Call:
        try:
            key = self._key(kind)
        except UnknownError:
            return self._jit
        entry = store.read(self._folder, key)
        if entry is not None:
            loaded = _loaded(entry, tree)
            if loaded is not None:
                return loaded
        compiled = self._jit.lower(*args).compile()
        _keep(self._folder, key, compiled)
        return compiled

    def _key(self, kind: tuple[Any, ...]) -> str:
        if not on_one_cpu():
            raise UnknownError("other devices")
        words = self._options, str(kind), all_settings()
        if any(ADDRESS in word for word in words):
            raise UnknownError("something that tells its address")
        return digest(FORMAT, identity(self.__wrapped__), machine(), *words)


ADDRESS = " at 0x"

_all: weakref.WeakSet[Program] = weakref.WeakSet()


def forget() -> None:
    """Let go of every program; those still in use are loaded or compiled again."""
    for one in list(_all):
        one.forget()


_settings = operator.attrgetter(
    "jax_enable_x64", "jax_disable_jit", "jax_default_device", "jax_default_matmul_precision"
)
"""Of JAX: which a thread can change at any moment, and a compiled program does not know of."""


def _kind(leaf: Any) -> tuple[Any, ...]:
    """What a program is compiled for, of one argument."""
    aval = jax.typeof(leaf)
    return str(aval.dtype), aval.shape, aval.weak_type


def on_one_cpu() -> bool:
    """Whether there is nothing to compute on but one CPU, by JAX's own settings."""
    config: Any = jax.config
    if config.jax_disable_jit or config.jax_default_device is not None:
        return False
    return jax.default_backend() == "cpu" and jax.device_count() == 1


def all_settings() -> str:
    """All of JAX's settings."""
    config = jax.config
    return repr({name: getattr(config, name, value) for name, value in sorted(config.values.items())})


@functools.lru_cache(maxsize=1)
def machine() -> str:
    """Versions, the processor, and what XLA was told at the start."""
    versions = platform.python_version(), jax.__version__, jaxlib_version.__version__, np.__version__
    flags = os.environ.get(XLA_FLAGS, "")
    return repr((versions, processor(), flags, jax.devices()[0].client.platform_version))


def processor() -> str:
    """This kind of processor: a program made for another one can end the process, and homes are shared."""
    known = ("vendor_id", "cpu family", "model", "flags", "CPU ", "Features")
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            first = "".join(lines).split("\n\n")[0].splitlines()
    except OSError:
        return repr((platform.machine(), platform.processor(), platform.version()))
    return repr((platform.machine(), [line for line in first if line.startswith(known)]))


def _loaded(entry: bytes, tree: Any) -> Call | None:
    """The program of an entry, whose digest was right; None where this JAX does not take it."""
    try:
        payload, results = pickle.loads(entry)
        return serialize_executable.deserialize_and_load(payload, tree, results, execution_devices=jax.devices())
    except Exception:
        return None


def _keep(folder: Path, key: str, compiled: Any) -> None:
    """Write an entry, if that can be done and the program can do without this process."""
    try:
        payload, _, results = serialize_executable.serialize(compiled)
        entry = pickle.dumps((payload, results))
    except Exception:
        return
    if CUSTOM not in payload and unchanged():
        store.write(folder, key, entry)


CUSTOM = b"custom-call"
"""Calls of other code than XLA's own: what they call may not be there yet in another process."""
