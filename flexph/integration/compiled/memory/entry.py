"""Loops that Python calls: kept on disk, under a digest of all their sources.

numba keeps compiled functions by the file of the caller and does not see that a callee or a constant has changed. The
digest stands in the names of the files, so that those of other sources are not even opened.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl

from ....numerics.compiled import linking
from ....numerics.compiled.cache import keep_on_disk, named_by
from ....numerics.compiled.kernel import OPTIONS

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).parents[3]
FOLDERS = "contacts/compiled", "integration/compiled", "numerics/compiled"
OTHERS = (
    "contacts/broad_phase.py",
    "integration/times/step_size.py",
    "kernels/contacts/gaps.py",
    "kernels/decay.py",
    "kernels/tolerances.py",
    "kernels/resolution.py",
    "mechanisms/model/redundancy.py",
    "systems/resistive_relations.py",
)
"""Sources outside of these folders that the loops take functions or constants from."""


@cache
def _names() -> type[CompileResultCacheImpl]:
    """Names of files with a digest of all sources of the loops."""
    own = (path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py")))
    return named_by((*own, *(PACKAGE / name for name in OTHERS)))


def entry(function: F) -> F:
    """A function that Python calls, kept on disk where there is a place to write."""
    dispatcher: Any = linking.entry(function, plain=True, no_cfunc_wrapper=True, **OPTIONS)
    if isinstance(dispatcher, numba.core.dispatcher.Dispatcher):
        keep_on_disk(dispatcher, _names())
    compiled: F = dispatcher
    return compiled
