"""Line search for steps with contacts, slips, laws or springs that Newton's method does not solve.

The momentum defects r are nearly the gradient of a function of the mean velocities, which is convex unless a resistive
relation falls with the rate. Along a correction δ from x this function has the slope −δ·r(x − θδ), and its minimum
where the slope is zero. A step to this θ is taken, and the Jacobian renewed.
"""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ....kernels.convergence.tolerances import TINY as _TINY
from ..memory.codes import DIVERGED as _DIVERGED
from ..memory.codes import OPENED as _OPENED
from ..memory.codes import SINGULAR as _SINGULAR
from ..memory.codes import UNSETTLED as _UNSETTLED

if not cython.compiled:
    from math import fabs, isfinite, isinf, sqrt
    from math import inf as INFINITY

    from ....kernels.convergence.rules import stagnates
    from ....numerics.loops.views import copy, fill, larger, smaller
    from ..contact.forces import begin_contacts
    from ..memory.memory import Memory
    from ..memory.structures import Given, Kinds
    from ..nodal.forces import begin_strains, predict_stresses
    from ..solids.forces import begin_solids, predict_solid_stresses
    from .iterate import below_resolution, coordinate_size, correction_work, energy_scale
    from .newton import evaluate, factor_step, is_admissible, solve_step
    from .rows import fail

DIVERGED = cython.declare(cython.Py_ssize_t, _DIVERGED)
OPENED = cython.declare(cython.Py_ssize_t, _OPENED)
SINGULAR = cython.declare(cython.Py_ssize_t, _SINGULAR)
UNSETTLED = cython.declare(cython.Py_ssize_t, _UNSETTLED)
TINY = cython.declare(cython.double, _TINY)
NEWTON_ITERATIONS = cython.declare(cython.Py_ssize_t, NEWTON.iterations)
NEWTON_NOISE = cython.declare(cython.double, NEWTON.noise)
NEWTON_SEARCHES = cython.declare(cython.Py_ssize_t, NEWTON.searches)
NEWTON_SETTLED = cython.declare(cython.double, NEWTON.settled)


SHORTEST = cython.declare(cython.double, 1e-3)
LEFT_OVER = cython.declare(cython.double, 0.3)
"""Share of a correction below which no shorter one is tried, and relative work of the defects along a correction at
which the search ends."""


def search(m: Memory, dim: int, kinds: Kinds, given: Given) -> int:
    """Solve a step by line searches from the guess in ``x``, after Newton's method failed.

    Returns all iterations, including those of Newton's method, or −1 if it is not solved.
    """
    first = cython.declare(cython.bint)
    settled = cython.declare(cython.bint)
    h = given.h
    fill(m.trial_stuck, 0.0)
    if m.strains_stress.size > 0:
        begin_strains(m, dim)
    if m.solids_frame.size > 0:
        begin_solids(m, dim)
    if kinds.contact > 0:
        begin_contacts(m, dim)
    evaluate(m, dim, kinds, given)
    previous = INFINITY
    size = INFINITY
    largest = TINY
    extent = coordinate_size(m)
    for iteration in range(1, NEWTON_SEARCHES + 1):
        if not factor_step(m, dim, kinds, given):
            return fail(m, SINGULAR, NEWTON_ITERATIONS + iteration, size)
        solve_step(m, dim, kinds, h)
        done = correction_work(m, h)
        first = iteration == 1 or kinds.contact > 0 or m.joints_laws[0] > 0  # as in newton
        largest = larger(done if first else largest, energy_scale(m, h))
        size = sqrt(done / largest)
        if not isfinite(size):
            return fail(m, DIVERGED, NEWTON_ITERATIONS + iteration, size)
        if m.strains_stress.size > 0:
            predict_stresses(m, dim, h)
        if m.solids_frame.size > 0:
            predict_solid_stresses(m, dim, h)
        copy(m.x, m.best)
        share = _take_share(m, dim, kinds, given)
        expected = size if isinf(previous) else size * smaller(1.0, size / previous)
        settled = size <= NEWTON_NOISE * m.x.size or (share == 1.0 and expected <= NEWTON_SETTLED)
        if settled or (stagnates(size, previous) and below_resolution(m, extent, h)):
            if not is_admissible(m, dim, kinds, given):
                return fail(m, OPENED, NEWTON_ITERATIONS + iteration, size)
            return NEWTON_ITERATIONS + iteration
        previous = size
    return fail(m, UNSETTLED, NEWTON_ITERATIONS + NEWTON_SEARCHES, size)


def _take_share(m: Memory, dim: int, kinds: Kinds, given: Given) -> float:
    """Set x to ``best`` minus a share of the correction, and return the share.

    The share is 1, or less if the work of the defects along the correction vanishes earlier.
    """
    is_whole = cython.declare(cython.bint)
    low = 0.0
    high = 1.0
    left = _slope(m)
    right = 0.0
    share = 1.0
    is_whole = True
    first = _slope(m)
    for _ in range(2 * NEWTON_ITERATIONS):
        for i in range(m.x.size):
            m.x[i] = m.best[i] - share * m.correction[i]
        evaluate(m, dim, kinds, given)
        done = _slope(m)
        if is_whole:
            if not isfinite(done) and share > SHORTEST:
                share *= 0.5
                continue
            if not (first > 0.0 and done < -LEFT_OVER * first):
                return share
            is_whole = False
            high = 1.0
            right = done
        elif fabs(done) <= LEFT_OVER * first:
            return share
        elif done > 0.0:
            low = share
            left = done
            right = 0.5 * right
        else:
            high = share
            right = done
            left = 0.5 * left
        share = low + (high - low) * left / (left - right)
    return share


def _slope(m: Memory) -> float:
    """Work of the momentum defects along the correction [J]; its zero is a minimum of the line search."""
    total = 0.0
    for i in range(m.x_velocities.size):
        total += m.correction[i] * m.defect[i]
    return total
