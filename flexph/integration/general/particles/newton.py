"""Newton's iteration of a step with stored factors, and its end (see :mod:`flexph.discretisation.iteration`)."""

from __future__ import annotations

from math import inf

import cython

from ....discretisation.iteration import DIVERGED, NEWTON, SINGULAR, SOLVED, UNSETTLED

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy
    from .factors import apply_update, set_correction
    from .jacobian import assemble
    from .residual import set_residual

IS_SOLVED = cython.declare(cython.Py_ssize_t, SOLVED)
IS_SINGULAR = cython.declare(cython.Py_ssize_t, SINGULAR)
HAS_DIVERGED = cython.declare(cython.Py_ssize_t, DIVERGED)
IS_UNSETTLED = cython.declare(cython.Py_ssize_t, UNSETTLED)
SETTLED = cython.declare(cython.double, NEWTON.settled)
LEAST_REDUCTION = cython.declare(cython.double, NEWTON.least_reduction)
STAGNATED = cython.declare(cython.double, NEWTON.stagnated)
NOISE = cython.declare(cython.double, NEWTON.noise)
STALLED = cython.declare(cython.double, NEWTON.stalled)
SUDDEN = cython.declare(cython.double, NEWTON.sudden)
FAR = cython.declare(cython.double, NEWTON.far)
SLOW = cython.declare(cython.double, NEWTON.slow)
SINGULAR_UPDATE = cython.declare(cython.double, NEWTON.singular_update)
ITERATIONS = cython.declare(cython.Py_ssize_t, NEWTON.iterations)
NO_CHANGE = cython.declare(cython.double, inf)


def solve_step(s, dim, kind, k, h, before):
    """Solve the equations of step k by Newton's method from the iterate; return a status.

    ``before`` is the energy at the start, h [s] the length of the step. The method is that of
    :func:`flexph.discretisation.iteration.newton`.
    """
    n = s.x.size
    for i in range(n):
        share = s.update_scales[i] / s.size[i]
        for p in range(s.factor_state[1]):
            s.update_columns[p][i] *= share
            s.update_rows[p][i] /= share
        s.update_scales[i] = s.size[i]
    previous = NO_CHANGE
    by_own = NO_CHANGE
    own = cython.declare(cython.bint, False)
    fresh = cython.declare(cython.bint, False)
    follows = cython.declare(cython.bint, False)
    set_residual(s, dim, kind, k, h, before)
    for iteration in range(1, ITERATIONS + 1):
        s.outcome[2] = iteration
        if s.factor_state[0] == 0:
            s.factor_state[1] = 0
            follows = False
            if not assemble(s, dim, kind, h, before):
                s.defect[0] = previous
                return IS_SINGULAR
            s.factor_state[0] = 1
            own = True
            fresh = True
        if not follows:
            set_correction(s, s.correction)
        change = 0.0
        for i in range(n):
            scale = fabs(s.trial[i]) if fabs(s.trial[i]) > s.size[i] else s.size[i]
            share = fabs(s.size[i] * s.correction[i]) / scale
            if share > change or share != share:  # NaN stays
                change = share
        if not (change <= FAR or own):
            s.factor_state[0] = 0
            continue
        if not change < NO_CHANGE:
            s.defect[0] = change
            return HAS_DIVERGED
        for i in range(n):
            s.trial[i] -= s.size[i] * s.correction[i]
        set_residual(s, dim, kind, k, h, before)
        if is_last(change, previous, by_own, own, fresh):
            return IS_SOLVED
        if own:
            by_own = change
        follows = False
        if ((iteration == 1 and not fresh) or change > SLOW * previous) and change > NOISE:
            s.factor_state[0] = 0
            fresh = False
        elif change > STAGNATED:
            follows = update_inverse(s)
        previous = change
        own = False
    s.defect[0] = previous
    return IS_UNSETTLED


def is_last(size, previous, by_own, own, fresh):
    """True if Newton's iteration ends with the last correction.

    ``size`` is the size of the last correction, ``previous`` that of the correction before it. ``own`` is True if the
    last correction was computed with a Jacobian at its own iterate, and ``by_own`` is the size of the last earlier
    correction of that kind. ``fresh`` is True if the Jacobian was computed in this step. See
    :func:`flexph.discretisation.iteration.is_last`.
    """
    reduction = SLOW
    if previous < NO_CHANGE:
        reduction = size / previous
        if reduction < LEAST_REDUCTION:
            reduction = LEAST_REDUCTION
    if size <= STAGNATED and size * reduction <= SETTLED:
        return True
    bound = SUDDEN * previous if SUDDEN * previous < NOISE else NOISE
    if fresh and previous < NO_CHANGE and size <= bound:
        return True
    if size > 0.5 * previous and size <= (STALLED if own else NOISE):
        return True
    return own and size > 0.5 * by_own and size <= STALLED


def update_inverse(s):
    """Apply Broyden's update of the inverse Jacobian after a correction, unless it is nearly singular.

    Also set the next correction, and return True, as it needs not be computed again. The inverse times the change of
    the residual is the last correction less that of the present residual, so that the update needs no extra product.
    """
    n = s.x.size
    set_correction(s, s.next_correction)
    scale = 0.0
    size = 0.0
    for i in range(n):
        scale += s.correction[i] * (s.correction[i] - s.next_correction[i])
        size += s.correction[i] * s.correction[i]
    if fabs(scale) > SINGULAR_UPDATE * size and s.factor_state[1] < s.update_rows.shape[0]:
        place = s.factor_state[1]
        for i in range(n):  # s − B y is the inverse times the present residual
            s.update_columns[place][i] = s.next_correction[i] / scale
            s.update_rows[place][i] = s.correction[i]
        apply_update(s.update_columns[place], s.update_rows[place], s.next_correction)
        s.factor_state[1] = place + 1
    copy(s.next_correction, s.correction)
    return True
