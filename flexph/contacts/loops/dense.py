"""Compiled solution for contact impulses, with a dense matrix D, in one call.

D maps impulses of the contacts to changes of their rates. tests/samples/complementarity.py is a reference in NumPy.
"""

from __future__ import annotations

import cython
import numpy as np

from ...numerics.arrays import Array
from .problem import Cone as CONE
from .problem import space_of

if not cython.compiled:
    from ...numerics.loops.views import Mat, Vec, bind
    from .problem import Cone, Space
    from .proximal import solve_proximal


def solve_dense(
    given: tuple[Array, Array], laws: tuple[Array, Array, Array], guess: Array, *, scale: float, weight: float
) -> tuple[Array, float]:
    """Impulses near a guess that satisfy the contact laws with rates b + D Λ, and their relative defect.

    ``given`` are D and b. ``laws`` are friction coefficients, normal and tangential step lengths of the natural map
    (see .newton), (c,) each. ``scale`` is that of the rates [m/s], ``weight`` the proximal weight.
    """
    x, count = np.array(guess), laws[0].size
    pattern = (np.empty(size, dtype=np.int64) for size in (x.size + 1, x.size**2, count))
    problem = CONE._make([*map(np.ascontiguousarray, (*given, *laws)), float(scale), *pattern])
    room, point = space_of(x.size, count), np.empty((2, x.size))
    if not cython.compiled:
        return x, float(solve_proximal(problem, x, weight, False, room, point))
    cone = cython.declare(Cone)
    space = cython.declare(Space)
    impulses = cython.declare(Vec)
    places = cython.declare(Mat)
    share = cython.declare(cython.double, weight)
    defect = cython.declare(cython.double)
    bind(cone, problem)
    bind(space, room)
    bind(impulses, x)
    bind(places, point)
    with cython.nogil:
        defect = solve_proximal(cone, impulses, share, False, space, places)
    return x, defect
