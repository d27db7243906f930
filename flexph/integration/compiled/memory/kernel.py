"""How the loops are compiled: those that Python calls are kept on disk, under a digest of all their sources.

numba keeps compiled functions by the file of the caller and does not see that a callee or a constant has changed. The
digest stands in the names of the files, so that those of other sources are not even opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl

from ....numerics.compiled import linking
from ....numerics.compiled.cache import keep_on_disk
from ....numerics.compiled.linking import inner

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).parents[3]
OTHERS = (
    "contacts/broad_phase.py",
    "contacts/compiled/band.py",
    "contacts/compiled/coupled.py",
    "contacts/compiled/elimination.py",
    "contacts/compiled/interior.py",
    "contacts/compiled/interior_coupled.py",
    "contacts/compiled/island_space.py",
    "contacts/compiled/near.py",
    "contacts/compiled/near_coupled.py",
    "contacts/compiled/newton.py",
    "contacts/compiled/newton_coupled.py",
    "contacts/compiled/paths.py",
    "contacts/compiled/pattern.py",
    "contacts/compiled/problem.py",
    "integration/times/step_size.py",
    "kernels/contacts/gaps.py",
    "kernels/decay.py",
    "kernels/tolerances.py",
    "kernels/resolution.py",
    "mechanisms/model/redundancy.py",
    "numerics/compiled/by_address.py",
    "numerics/compiled/linking.py",
    "numerics/compiled/lowering.py",
    "systems/resistive_relations.py",
)
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


def kernel(function: F) -> F:
    """A function that only compiled ones call."""
    compiled: F = inner(function, plain=True, **_OPTIONS)
    return compiled


def entry(function: F) -> F:
    """A function that Python calls, kept on disk where there is a place to write."""
    dispatcher: Any = linking.entry(function, plain=True, no_cfunc_wrapper=True, **_OPTIONS)
    if isinstance(dispatcher, numba.core.dispatcher.Dispatcher):
        keep_on_disk(dispatcher, _Files)
    compiled: F = dispatcher
    return compiled
