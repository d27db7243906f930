"""Solution of a step in which some rigid contacts may close: 0 ≤ g(q₁) ⟂ Λ_N ≥ 0, with Coulomb friction.

g(q₁) are the gaps at the end of the step, Λ_N the normal impulses over the step. Marked contacts may close; islands are
sets of contacts that share bodies. A proximal weight keeps redundant impulses near those of the last iteration.

The equations are solved by Newton's method. For free bodies it uses the Jacobian of each body: the coupling of two
balls by their turning normal is left to further iterations, each of which leaves about a hundredth of the defect. From
the third iteration on matrices are kept while changes are small.
"""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ....kernels.convergence.tolerances import POSITIONAL as _POSITIONAL
from ..memory.codes import CLOSED as _CLOSED
from ..memory.codes import DOUBTFUL as _DOUBTFUL
from ..memory.codes import FREE as _FREE
from ..memory.codes import LAWLESS as _LAWLESS
from ..memory.codes import TOLD as _TOLD
from ..memory.codes import TOO_MANY as _TOO_MANY
from ..memory.codes import UNSETTLED as _UNSETTLED

if not cython.compiled:
    from math import fabs
    from math import inf as INFINITY

    from ....contacts.loops.island_space import Island
    from ....contacts.loops.newton import TINY
    from ....numerics.loops.views import copy, larger, smaller
    from ..mechanics.rolling import has_fallen
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Given
    from ..steps.iterate import coordinate_size, is_open
    from ..steps.rows import fail
    from .bearings import friction_of, is_bearing, size_slips
    from .bodies import are_apart, set_inverse_jacobians
    from .coupled import begin_coupled, factor_coupled, relations_stick, set_responses, update_stresses
    from .islands import add_impulse, find_islands, law_defect, rate_change, rate_size
    from .law import prepare
    from .pressing import solve_pressed
    from .records import record_defect
    from .rows import fill_rows, set_free_response
    from .trial import ITERATIONS, RENEWED, SETTLED, STAGNATED, balance_bodies, correct, evaluate, velocity_scale

TOO_MANY = cython.declare(cython.Py_ssize_t, _TOO_MANY)
DOUBTFUL = cython.declare(cython.Py_ssize_t, _DOUBTFUL)
LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)
UNSETTLED = cython.declare(cython.Py_ssize_t, _UNSETTLED)
CLOSED = cython.declare(cython.Py_ssize_t, _CLOSED)
FREE = cython.declare(cython.Py_ssize_t, _FREE)
POSITIONAL = cython.declare(cython.double, _POSITIONAL)
TOLD = cython.declare(cython.Py_ssize_t, _TOLD)
NEWTON_CLOSED = cython.declare(cython.double, NEWTON.closed)


STALLED = cython.declare(cython.Py_ssize_t, 8)
POLISHED = cython.declare(cython.Py_ssize_t, 10)
"""Limits of successive iterations without progress, and of iterations of the velocities at the final impulses."""
COARSE = cython.declare(cython.double, 1e-13)
FAST = cython.declare(cython.double, 1e-2)
"""Relative change below the resolution of positions, and change above which matrices are renewed."""
WEIGHT = cython.declare(cython.double, 1e-6)
STIFFER = cython.declare(cython.double, 100.0)
STIFFEST = cython.declare(cython.double, 1e-2)
"""Proximal weight divided by the largest entry of D, its growth factor if changes do not end, and its largest value."""
AFAR = cython.declare(cython.double, 1e-2)
SOLVED = cython.declare(cython.double, 3e-13)
LAW = cython.declare(cython.double, 1e-12)
REDUNDANT = cython.declare(cython.double, 1e-11)
"""Tolerated defects of the complementarity: during the iteration, at its end, in the final check, and in the last check
for free bodies, as gaps of redundant contacts disagree by round-off. Steps with larger ones are not solved."""
NEAR = cython.declare(cython.double, 1e-4)
"""Change up to which iterates may be solutions that are not unique, so that each is checked."""
SLOW = cython.declare(cython.double, 0.8)
STEADY = cython.declare(cython.double, 0.05)
FURTHEST = cython.declare(cython.double, 50.0)
"""Ratio of successive changes above which convergence is slow, difference up to which two such ratios count as equal,
and limit of the extrapolation, divided by the last change."""
TRIES = cython.declare(cython.Py_ssize_t, 3)
LIGHTER = cython.declare(cython.double, 1e-3)
"""Number of restarts after a failed final check, and the factor of the weight at each."""
RESTING = cython.declare(cython.double, 1e-9)
"""Velocity of a body, divided by the scale of velocities, up to which it is at rest at the start of a step."""


def solve_closing(m: Memory, dim: int, s: Striking, given: Given) -> int:
    """Solve a step in which marked contacts may close, from guesses of mean velocities and impulses.

    Returns the number of iterations, −1 if it is not solved.
    """
    ends = cython.declare(cython.bint)
    renews = cython.declare(cython.bint)
    wanders = cython.declare(cython.bint)
    h = given.h
    islands = find_islands(m, m.strike_may_close)
    if not are_apart(m) and m.strike_begin[islands] * dim > m.strike_response.shape[0]:
        return fail(m, TOO_MANY, 0, 0.0)
    if not are_apart(m) and not begin_coupled(m, dim, s.kinds, given):
        return fail(m, DOUBTFUL, 0, 0.0)
    scale = velocity_scale(m, h)
    coarse = COARSE * m.joints_lengths[0] / (h * scale)
    weight = WEIGHT
    size = INFINITY
    previous = INFINITY
    least = INFINITY
    since = 0
    ratio = 0.0
    tries = 0
    wanders = False
    for iteration in range(1, ITERATIONS + 1):
        renews = iteration <= RENEWED or size > FAST
        defect = _solve_linearised(m, dim, s, given, islands, (weight, iteration == 1, renews))
        if not defect <= AFAR:
            return fail(m, LAWLESS, iteration, defect)
        size, previous = correct(m, scale), size
        if not are_apart(m) and m.joints_resisting.size > 0 and relations_stick(m, dim, s.kinds, given):
            least = INFINITY
            size = least
            continue
        expected = size if iteration == 1 else size * smaller(1.0, size / previous)
        ends = size <= SETTLED or (expected <= SETTLED and defect <= SOLVED)
        wanders = wanders or size > 0.5 * previous
        if wanders and not ends and size <= NEAR:
            if _law_defect(m, dim, s.kinds, given, scale) <= LAW:
                return iteration
            ratio = _extrapolate(m, size / previous, ratio)
        if size > 0.5 * previous and not ends:
            ends = size <= larger(STAGNATED, coarse) and weight >= STIFFEST
            if size <= larger(AFAR, coarse):  # nearly redundant impulses keep changing
                weight = smaller(STIFFER * weight, STIFFEST)
                since = iteration
        if ends:
            missed = _law_defect(m, dim, s.kinds, given, scale)
            if missed <= LAW or (tries == TRIES and are_apart(m) and missed <= REDUNDANT):
                return iteration
            if tries == TRIES:
                return fail(m, LAWLESS, iteration, missed)
            tries = tries + 1
            weight = LIGHTER * weight
            since = iteration
            size = INFINITY
        if size < 0.5 * least:
            least = size
            since = iteration
        if iteration - since >= STALLED:
            return fail(m, UNSETTLED, iteration, size)
    return fail(m, UNSETTLED, ITERATIONS, size)


def _solve_linearised(
    m: Memory, dim: int, s: Striking, given: Given, islands: int, at: tuple[float, bool, bool]
) -> float:
    """Solve the linearised contact laws of all islands for impulses and changes of velocities.

    Returns the largest defect. ``at`` has the proximal weight, True in the first iteration, and True if matrices are
    renewed.
    """
    begins = cython.declare(cython.bint)
    renews = cython.declare(cython.bint)
    weight, begins, renews = at
    evaluate(m, dim, s.kinds, given)
    if renews and not _update_matrices(m, dim, s.kinds, given):
        return INFINITY
    if renews:
        s.law.made[1] = 0
    balance_bodies(m, dim, s.kinds, given.h)
    if renews and not are_apart(m):
        set_responses(m, dim, s.kinds, m.strike_begin[islands], given.h)
    if are_apart(m):
        copy(m.strike_impulse, m.strike_given)
    defect = _solve_laws(m, dim, s, islands, weight, begins)
    if not are_apart(m):
        update_stresses(m, dim, given.h)
    return defect


def _extrapolate(m: Memory, ratio: float, before: float) -> float:
    """Extrapolate impulses to their limit, if their changes decrease slowly, by the same ratio in each iteration.

    ``ratio`` is the ratio of the last two changes, ``before`` the ratio in the iteration before. Returns the ratio for
    the next call, 0 after an extrapolation. The next iterations adapt the velocities to the impulses. Changes decrease
    slowly if impulses are so nearly redundant that the terms neglected in the matrices exceed the included ones.
    """
    if not are_apart(m) or not (SLOW < ratio < 1.0 and fabs(ratio - before) <= STEADY):
        return ratio
    further = smaller(ratio / (1.0 - ratio), FURTHEST)
    for i in range(m.strike_impulse.shape[0]):
        for c in range(m.strike_impulse.shape[1]):
            m.strike_impulse[i][c] += further * (m.strike_impulse[i][c] - m.strike_given[i][c])
    return 0.0


def _update_matrices(m: Memory, dim: int, kinds: int, given: Given) -> bool:
    """Compute the matrices of the bodies and the rows of the contacts at the iterate; False if joints are dependent."""
    if not are_apart(m):
        if not factor_coupled(m, dim, kinds, given):
            return False
    else:
        set_inverse_jacobians(m, dim, given.h)
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] > 0:
            fill_rows(m, dim, c, given.h)
            if are_apart(m):
                set_free_response(m, dim, c)
    return True


def _is_at_rest(m: Memory, scale: float) -> bool:
    """True if no centre of mass moves at the start of a step; ``scale`` is the scale of velocities [m/s]."""
    for b in range(m.inertia_mass.size):
        for a in range(m.at_v.shape[1]):
            if fabs(m.at_v[b][a]) > RESTING * scale:
                return False
    return True


def _solve_laws(m: Memory, dim: int, s: Striking, islands: int, weight: float, begins: bool) -> float:
    """Solve the contact laws of all islands for impulses, and update the velocity changes; return the largest defect.

    ``weight`` is the proximal weight; ``begins`` is True in the first iteration.
    """
    rests = cython.declare(cython.bint)
    rubs = cython.declare(cython.bint)
    scale = TINY
    worst = 0.0
    free = 0.0
    for k in range(m.strike_begin[islands]):
        c = m.strike_member[k]
        for i in range(dim):
            scale = larger(scale, rate_size(m, m.x_v, m.x_w, m.x_du, c, i))
            if i > 0 or not is_bearing(m, c):
                rubs = i == 0 or friction_of(m, c) > 0.0
                free = larger(free, fabs(m.strike_rates[i][c] + rate_change(m, m.strike_change, c, i)) if rubs else 0.0)
    if s.kinds > 0:
        scale = larger(scale, size_slips(m, dim, m.x_v, m.x_w, m.x_du))
    if begins:
        m.strike_audit[FREE] = free
    scale = larger(larger(scale, free), m.strike_audit[FREE])
    rests = begins and _is_at_rest(m, scale)
    for i in range(islands):
        island = prepare(m, dim, s.law, (m.strike_begin[i], m.strike_begin[i + 1]), scale, True)
        if island.contacts == 0:
            return INFINITY
        worst = larger(worst, _solve_island(m, s, island, weight, rests))
    return worst


def _solve_island(m: Memory, s: Striking, island: Island, weight: float, rests: bool) -> float:
    """Solve the contact law of an island for its impulses, and update the velocity changes; return its defect.

    ``rests`` is True if the bodies are at rest at the start.
    """
    count = island.contacts
    for i in range(island.rows):
        for k in range(count):
            c = m.strike_member[island.first + k]
            at = i * count + k
            s.law.given[at] = m.strike_impulse[i][c]
            s.law.x[at] = s.law.given[at]
            s.law.b[at] = m.strike_rates[i][c] + rate_change(m, m.strike_change, c, i)
    defect = solve_pressed(m, s, island, weight, rests)
    for i in range(island.rows):
        for k in range(count):
            c = m.strike_member[island.first + k]
            impulse = s.law.x[i * count + k]
            add_impulse(m, island.first + k, i, impulse - m.strike_impulse[i][c])
            m.strike_impulse[i][c] = impulse
    return defect


def _law_defect(m: Memory, dim: int, kinds: int, given: Given, scale: float) -> float:
    """Relative defect of the contact laws at the velocities that the final impulses cause.

    It is infinite if these velocities do not converge, or if joints open. The defect is recorded for the step.
    """
    h = given.h
    size = INFINITY
    for _ in range(POLISHED):
        evaluate(m, dim, kinds, given)
        balance_bodies(m, dim, kinds, h)
        size = correct(m, scale)
        if size <= SETTLED:
            break
    if not size <= larger(STAGNATED, COARSE * m.joints_lengths[0] / (h * scale)):
        return INFINITY
    evaluate(m, dim, kinds, given)
    if not are_apart(m) and (is_open(m, NEWTON_CLOSED) or has_fallen(m)):
        return INFINITY
    missed = 0.0
    scale = larger(m.strike_audit[FREE], TINY)
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] > 0:
            missed = larger(missed, law_defect(m, dim, c))
            for i in range(dim):
                scale = larger(scale, rate_size(m, m.x_v, m.x_w, m.x_du, c, i))
    if kinds > 0:
        scale = larger(scale, size_slips(m, dim, m.x_v, m.x_w, m.x_du))
        for c in range(m.contacts_kind.size, m.strike_may_close.size):
            missed = larger(missed, law_defect(m, dim, c))
            scale = larger(scale, m.strike_own[0][c] * m.strike_impulse[0][c])
    resolution = POSITIONAL * coordinate_size(m) / h
    record_defect(m, 0.0, scale)
    m.strike_audit[CLOSED] = missed
    m.strike_audit[TOLD] = resolution
    return missed / larger(scale, resolution) if missed == missed else INFINITY
