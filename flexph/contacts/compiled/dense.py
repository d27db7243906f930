"""Impulses near a guess by a dense D, in compiled loops (see flexph.contacts.complementarity); needs numba."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.compiled import kernel
from ...numerics.compiled.announcing import announced
from ...numerics.compiled.cache import keep_on_disk, named_by
from ...numerics.compiled.kernel import OPTIONS
from ...numerics.compiled.linking import entry
from .near import near
from .problem import Cone, Space, space_of

SOURCES = [path for folder in (Path(__file__), Path(kernel.__file__)) for path in sorted(folder.parent.rglob("*.py"))]


def _solve(p: Cone, x: Array, weight: float, space: Space, point: Array) -> float:
    """Impulses near those given, in their place, and their defect, over the scale."""
    return near(p, x, weight, False, space, point)


_entry: Any = entry(_solve, plain=True, no_cfunc_wrapper=True, **OPTIONS)
keep_on_disk(_entry, named_by(SOURCES))


def solve_dense(
    given: tuple[Array, Array], laws: tuple[Array, Array, Array], guess: Array, *, scale: float, weight: float
) -> tuple[Array, float]:
    """Impulses near a guess with b + D Λ as the rates of their laws, and their defect over the scale.

    ``given`` are D and b, ``laws`` the coefficients of friction and the steps of the natural map, (c,) each, ``weight``
    that on what changes.
    """
    x, count = np.array(guess), laws[0].size
    pattern = (np.empty(size, dtype=np.int64) for size in (x.size + 1, x.size**2, count))
    cone = Cone._make([*map(np.ascontiguousarray, (*given, *laws)), float(scale), *pattern])
    with announced():
        defect = _entry(cone, x, weight, space_of(x.size, count), np.empty((2, x.size)))
    return x, float(defect)
