"""Newton's iteration for a step of the exact or the decaying scheme."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ..memory.codes import DIVERGED as _DIVERGED
from ..memory.codes import LAWLESS as _LAWLESS
from ..memory.codes import OPENED as _OPENED
from ..memory.codes import SINGULAR as _SINGULAR
from ..memory.codes import UNSETTLED as _UNSETTLED

if not cython.compiled:
    from math import inf as INFINITY
    from math import isfinite, sqrt

    from ....kernels.convergence.rules import is_slow, settled_at, settles, stagnates, unresolved_energy
    from ....numerics.loops.views import copy, fill, larger
    from ..contact.forces import begin_contacts
    from ..friction.rows import set_force_responses
    from ..mechanics.arrow import factor, solve
    from ..mechanics.redundancy import factor as factor_least
    from ..mechanics.redundancy import keep_independent
    from ..mechanics.redundancy import solve as solve_least
    from ..mechanics.relations import mark_sticking, store_extensions
    from ..mechanics.residual import predict_body_stresses, residual, set_predicted_mean_stresses, trial
    from ..mechanics.rolling import has_fallen
    from ..memory.memory import Memory
    from ..memory.structures import Given, Kinds
    from ..nodal.forces import begin_strains, predict_stresses
    from ..solids.forces import begin_solids, predict_solid_stresses
    from ..terms.paths import leaves_curves
    from ..terms.ropes import leaves_sheaves
    from .friction import begin_friction, correct_friction
    from .iterate import (
        below_resolution,
        coordinate_size,
        correction_work,
        energy_scale,
        is_balanced,
        is_open,
        kinetic_energy,
        take_increments,
    )
    from .pile import solve_pile
    from .rows import fail

DIVERGED = cython.declare(cython.Py_ssize_t, _DIVERGED)
LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)
OPENED = cython.declare(cython.Py_ssize_t, _OPENED)
SINGULAR = cython.declare(cython.Py_ssize_t, _SINGULAR)
UNSETTLED = cython.declare(cython.Py_ssize_t, _UNSETTLED)
NEWTON_BETTER = cython.declare(cython.double, NEWTON.better)
NEWTON_CLOSED = cython.declare(cython.double, NEWTON.closed)
NEWTON_COARSE = cython.declare(cython.double, NEWTON.coarse)
NEWTON_ITERATIONS = cython.declare(cython.Py_ssize_t, NEWTON.iterations)
NEWTON_MANY = cython.declare(cython.double, NEWTON.many)
NEWTON_MIXED = cython.declare(cython.double, NEWTON.mixed)
NEWTON_NOISE = cython.declare(cython.double, NEWTON.noise)
NEWTON_SLOW = cython.declare(cython.double, NEWTON.slow)
NEWTON_STAGNATED = cython.declare(cython.double, NEWTON.stagnated)


def newton(m: Memory, dim: int, kinds: Kinds, given: Given, ahead: bool) -> int:
    """Solve a step from the guess in ``x``; return the number of iterations, −1 if it is not solved.

    Corrections δ are measured by √(|δ|·|r|), whose unit is the root of an energy and which is insensitive to
    velocities that are ill-determined (singular poses). The Jacobian is kept while the iteration converges fast. The
    iteration ends at stagnation; for bodies at rest, whose velocities are round-off of positions, after one correction.
    If round-off of positions prevents convergence, constraints g(q₁) = 0 are replaced by Δg = 0, with increments of
    less round-off. With ``ahead``, for bodies with quadratic strains, the Jacobian uses stresses predicted to first
    order after a correction, as the quadratic strains of an iterate far from the solution, times the stiffness, make a
    Jacobian useless.
    """
    at_rest = cython.declare(cython.bint)
    by_increments = cython.declare(cython.bint)
    ends = cython.declare(cython.bint)
    factored = cython.declare(cython.bint)
    is_coarse = cython.declare(cython.bint)
    is_small = cython.declare(cython.bint)
    mixed = cython.declare(cython.bint)
    noise = cython.declare(cython.double)
    resists = cython.declare(cython.bint)
    scaled = cython.declare(cython.bint)
    stalls = cython.declare(cython.bint)
    used = cython.declare(cython.Py_ssize_t)
    h = given.h
    resists = m.joints_resisting.size > 0
    mixed = ahead or m.strains_stress.size + m.solids_frame.size > 0
    begin(m, dim, kinds)
    if ahead:
        copy(m.at_sigma, m.trial_ahead)
    evaluate(m, dim, kinds, given)
    factored = False
    used = 0
    scaled = False
    by_increments = False
    previous = INFINITY
    size = INFINITY
    largest = 0.0
    scale = 0.0
    best = INFINITY
    noise = NEWTON_NOISE * m.x.size  # round-off adds up along chains
    settled = settled_at(m.x_du.size)
    extent = coordinate_size(m)
    terms = m.inertia_resolution
    unresolved = unresolved_energy(terms[0], terms[1], terms[2], terms[3], extent, h)
    for iteration in range(1, NEWTON_ITERATIONS + 1):
        if not factored:
            if ahead:
                set_predicted_mean_stresses(m, h)
            if not factor_step(m, dim, kinds, given):
                return fail(m, SINGULAR, iteration, size)
            if kinds.friction > 0:
                set_force_responses(m, dim, kinds.redundant, kinds.decay, h)
            factored = True
            used = used if mixed else 0  # the mixed iteration refactors often, at a known rate
        solve_step(m, dim, kinds, h)
        if kinds.friction > 0 and not correct_friction(m, dim, h, extent):
            return fail(m, LAWLESS, iteration, size)
        done = correction_work(m, h)
        if kinds.contact > 0 or m.joints_laws[0] > 0:  # an iterate deep in a contact or a law gives no scale
            largest = 0.0
            scaled = False
        largest = larger(largest, done)
        if iteration <= 2 or not scaled:  # after one correction the motion is accurate enough for a scale
            scale = energy_scale(m, h)
            scaled = True
        size = sqrt(done / larger(largest, scale))
        if not isfinite(size):
            return fail(m, DIVERGED, iteration, size)
        best = _best(m, size, best)
        at_rest = done <= unresolved and kinetic_energy(m) <= unresolved
        if ahead:
            predict_body_stresses(m, h)
        if m.strains_stress.size > 0:
            predict_stresses(m, dim, h)
        if m.solids_frame.size > 0:
            predict_solid_stresses(m, dim, h)
        _correct(m)
        if resists and relation_changes(m, dim, kinds, given):
            evaluate(m, dim, kinds, given)
            factored = False
            used = 0
            previous = INFINITY
            largest = 0.0
            best = INFINITY
            scaled = False
            continue
        used += 1
        stalls = stagnates(size, previous)
        ends = at_rest or settles(size, previous, used, settled)
        if not (size <= noise if stalls else ends):
            evaluate(m, dim, kinds, given)
            is_coarse = stalls and not by_increments and size > NEWTON_COARSE and not is_open(m, NEWTON_CLOSED)
            if by_increments or is_coarse:
                take_increments(m, dim, given)
                _keep_independent(m, kinds)
            if is_coarse:
                by_increments = True
                factored = False
                used = 0
                previous = INFINITY
                continue
            is_small = stalls and (size <= NEWTON_STAGNATED or below_resolution(m, extent, h) or is_balanced(m, h))
            ends = ends or is_small
        if ends or (stalls and size <= noise):
            if stalls and best < NEWTON_BETTER * size:
                copy(m.best, m.x)
            return iteration if is_admissible(m, dim, kinds, given) else fail(m, OPENED, iteration, size)
        if is_slow(size, previous, used, NEWTON_SLOW, NEWTON_MANY) or (mixed and size > NEWTON_MIXED):
            factored = False
        previous = size
    return fail(m, UNSETTLED, NEWTON_ITERATIONS, size)


def begin(m: Memory, dim: int, kinds: Kinds) -> None:
    """Compute the values at the start of the step that the iteration needs; set the friction of joints to zero.

    No resistive relation is replaced by its tangent at first.
    """
    fill(m.trial_stuck, 0.0)
    if m.strains_stress.size > 0:
        begin_strains(m, dim)
    if m.solids_frame.size > 0:
        begin_solids(m, dim)
    if kinds.contact > 0:
        begin_contacts(m, dim)
    if kinds.friction > 0:
        begin_friction(m)


def _best(m: Memory, size: float, best: float) -> float:
    """Smaller one of ``size``, the size of the last correction, and ``best``.

    If it is ``size``, the iterate is stored.
    """
    if size < best:
        copy(m.x, m.best)
        return size
    return best


def relation_changes(m: Memory, dim: int, kinds: Kinds, given: Given) -> bool:
    """Evaluate the step after a correction; True if a resistive relation is, or is no longer, replaced by its tangent.

    The tangent at zero rate replaces a relation whose rate has changed its sign.
    """
    store_extensions(m)
    _try(m, dim, kinds, given)
    return mark_sticking(m, given.h)


def is_admissible(m: Memory, dim: int, kinds: Kinds, given: Given) -> bool:
    """Evaluate the step at the last iterate; True if its end satisfies the constraints.

    Discs, points on curves and ropes must also be in their range.
    """
    _try(m, dim, kinds, given)
    if is_open(m, NEWTON_CLOSED) or has_fallen(m) or leaves_curves(m):
        return False
    return not leaves_sheaves(m, m.at_product, m.end_product, m.at_vector, m.end_vector)


def _try(m: Memory, dim: int, kinds: Kinds, given: Given) -> None:
    """Evaluate the step at the iterate: values over the step and at its end, without momentum defects."""
    trial(m, dim, kinds.decay, kinds.contact, given)


def evaluate(m: Memory, dim: int, kinds: Kinds, given: Given) -> None:
    """Evaluate the step at the iterate, with the defects of momenta and constraints."""
    residual(m, dim, kinds.decay, kinds.contact, given)
    _keep_independent(m, kinds)


def _keep_independent(m: Memory, kinds: Kinds) -> None:
    if kinds.redundant > 0:
        keep_independent(m, m.defect_lam)


def factor_step(m: Memory, dim: int, kinds: Kinds, given: Given) -> bool:
    """Assemble and factor the Jacobian at the iterate, for the kind of the step; False if it is singular."""
    if kinds.redundant > 0:
        return factor_least(m, dim, kinds.decay, kinds.contact, given)
    return factor(m, dim, kinds.decay, kinds.contact, given)


def solve_step(m: Memory, dim: int, kinds: Kinds, h: float) -> None:
    """Solve for the correction of the iterate with the factored Jacobian, for the kind of the step."""
    if kinds.contact > 1:
        solve_pile(m, dim, kinds.decay, h)
    elif kinds.redundant > 0:
        solve_least(m, dim, kinds.decay, h)
    else:
        solve(m, dim, kinds.decay, h)


def _correct(m: Memory) -> None:
    for i in range(m.x.size):
        m.x[i] -= m.correction[i]
