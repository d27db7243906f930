"""How the loops are compiled: those that Python calls are kept on disk, under a digest of all their sources.

numba keeps compiled functions by the file of the caller and does not see that a callee or a constant has changed. The
digest stands in the names of the files, so that those of other sources are not even opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).parents[3]
OTHERS = ("kernels/tolerances.py", "kernels/resolution.py", "systems/resistive_relations.py")
"""Sources outside of this folder that the loops take functions or constants from."""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
"""Without the counting of references to arrays: it costs more than all else in loops over small ones."""


@cache
def digest() -> str:
    """Digest of all sources of the loops."""
    own = sorted((PACKAGE / "integration" / "compiled").rglob("*.py"))
    sources = [path.read_bytes() for path in (*own, *(PACKAGE / name for name in OTHERS))]
    return hashlib.sha256(b"".join(sources)).hexdigest()[:16]


class _Files(CompileResultCacheImpl):
    """Files of a compiled function, whose names have the digest."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}-{digest()}"


class _Cache(FunctionCache):
    _impl_class = _Files


def kernel(function: F) -> F:
    """A function that only compiled ones call, with nothing for calls from Python."""
    return _jit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def part(function: F) -> F:
    """A function that says the order of others, merged into its caller before it is compiled.

    What a function calls is optimised again with each caller: chains of callers cost more than their parts.
    """
    return _jit(function, inline="always")


def entry(function: F) -> F:
    """A function that Python calls, kept on disk where there is a place to write."""
    dispatcher: Any = _jit(function, no_cfunc_wrapper=True)
    if isinstance(dispatcher, numba.core.dispatcher.Dispatcher):
        with suppress(RuntimeError):  # nowhere to write: every process compiles for itself
            dispatcher._cache = _Cache(dispatcher.py_func)  # as enable_caching does
    return dispatcher


def _jit(function: F, **options: Any) -> F:
    compiled: F = numba.njit(function, **_OPTIONS, **options)
    return compiled
