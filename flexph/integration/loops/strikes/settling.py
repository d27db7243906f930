"""Settling of velocities at the end of a step with rigid contacts.

The contact law without restitution is applied to the rates at the end and the total impulses of the step."""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ..memory.codes import BALANCE as _BALANCE
from ..memory.codes import KNOWN as _KNOWN
from ..memory.codes import LAWLESS as _LAWLESS
from ..memory.codes import RUBBED as _RUBBED
from ..memory.codes import SETTLED as _SETTLED

if not cython.compiled:
    from math import sqrt

    from ....contacts.loops.island_space import Island, LawSpace
    from ....contacts.loops.newton import TINY
    from ....numerics.loops.views import copy, larger, smaller
    from ..contact.gaps import gap_of
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Given
    from ..steps.iterate import coordinate_size
    from ..steps.rows import refuse
    from .bearings import bearings_begin_to_stick, is_bearing, mark_bearings, rate_at_end, scale_pressing
    from .bodies import are_apart, set_inverse_masses
    from .coupled import factor_at
    from .islands import diagonal_response, find_islands, law_defect
    from .law import prepare
    from .marks import CLOSES, OPEN, may_close
    from .newton_law import ROUGH, add_impulse_changes, begin_impulses, end_impulses, scale_of, solve_near
    from .pressing import move_rates
    from .records import friction_impulse, largest_defect, record_defect, record_impulses, record_loss, record_surface
    from .rows import rate, rate_after, set_free_response, set_levers, set_rows_at_end

LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)
BALANCE = cython.declare(cython.Py_ssize_t, _BALANCE)
KNOWN = cython.declare(cython.Py_ssize_t, _KNOWN)
RUBBED = cython.declare(cython.Py_ssize_t, _RUBBED)
SETTLED = cython.declare(cython.Py_ssize_t, _SETTLED)
TOUCHING = cython.declare(cython.double, _TOUCHING)


OBEYED = cython.declare(cython.double, 1e-12)
"""Tolerated relative defect of a law."""


def settle(m: Memory, dim: int, s: Striking, given: Given) -> int:
    """Settle the velocities at the end of a step; return 1 if they changed, 0 if not, −1 if a law is not solved."""
    acts = cython.declare(cython.bint)
    set_levers(m, dim)
    if are_apart(m):
        set_inverse_masses(m, dim)
    size = coordinate_size(m)
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] > 0:
            set_rows_at_end(m, dim, c)
            acts = m.strike_impulse[0][c] > 0.0 or gap_of(m, dim, c, m.touch_last) <= TOUCHING * size
            m.strike_may_close[c] = CLOSES if acts else OPEN
            if acts and are_apart(m):
                set_free_response(m, dim, c)
    if s.kinds > 0:
        mark_bearings(m, CLOSES if may_close(m) or bearings_begin_to_stick(m, dim) else OPEN)
        scale_pressing(m, 1.0)
    islands = find_islands(m, m.strike_may_close)
    if islands == 0:
        return 0
    if not are_apart(m) and not factor_at(m, dim, s.kinds, given.after):
        return -1
    return _settle(m, dim, s, given, islands)


def _settle(m: Memory, dim: int, s: Striking, given: Given, islands: int) -> int:
    if not begin_impulses(m, dim, s.kinds, m.strike_begin[islands]):
        return -1
    scale = scale_of(m, dim, s.kinds, m.strike_begin[islands])
    settled = 0 if are_apart(m) else 1
    copy(m.strike_impulse, m.strike_given)
    for k in range(m.strike_begin[islands]):
        c = m.strike_member[k]
        for i in range(dim):
            m.strike_rates[i][c] = rate(m, c, i)
        scale = larger(scale, m.strike_impulse[0][c] * diagonal_response(m, c, 0))
    if s.kinds > 0:
        rate_at_end(m)
    for i in range(islands):
        first = m.strike_begin[i]
        last = m.strike_begin[i + 1]
        if _obeys(m, dim, first, last, scale):
            continue
        island = prepare(m, dim, s.law, (first, last), scale, False)
        if island.contacts == 0 or not _settle_island(m, dim, s, island):
            return -1
        settled = 1
    if settled > 0:
        end_impulses(m, dim, s.kinds, given.after, given, True)
    return settled


def _obeys(m: Memory, dim: int, first: int, last: int, scale: float) -> bool:
    """True if the rates and the impulses of the step obey the law of an island, nearly to round-off of their terms.

    The island has the members from ``first`` to ``last`` (exclusive).
    """
    missed = 0.0
    for k in range(first, last):
        missed = larger(missed, law_defect(m, dim, m.strike_member[k]))
    return missed <= OBEYED * scale


def _settle_island(m: Memory, dim: int, s: Striking, island: Island) -> bool:
    """Settle an island, only so far that settling and step create no energy; False if its law is not solved."""
    count = island.contacts
    taken = 0.0
    for k in range(count):
        c = m.strike_member[island.first + k]
        taken += m.strike_taken[c]
        for i in range(island.rows):
            at = i * count + k
            s.law.given[at] = m.strike_given[i][c]
            s.law.x[at] = s.law.given[at]
            s.law.y[at] = 0.0 if i == 0 and is_bearing(m, c) else m.strike_rates[i][c]
            s.law.b[at] = s.law.y[at]
    defect = solve_near(m, s, island)
    if not defect <= ROUGH:
        return refuse(m, LAWLESS, 0)
    record_defect(m, defect * island.scale, island.scale)
    _limit_energy(m, s, island, taken)
    _record(m, dim, s.law, island)
    return True


def _limit_energy(m: Memory, s: Striking, island: Island, taken: float) -> None:
    """Replace the impulses ``law.x`` by their change in settling, scaled down so that it creates no energy.

    The change may return the energy ``taken`` [J] that the step itself dissipated.
    """
    slope = 0.0
    curve = 0.0
    size = island.rows * island.contacts
    for at in range(size):
        s.law.x[at] -= s.law.given[at]
    move_rates(m, s, island, s.law.x, s.law.moved)
    for at in range(size):
        slope += s.law.x[at] * s.law.y[at]
        curve += s.law.x[at] * s.law.moved[at]
    root = sqrt(slope * slope + 2.0 * larger(curve, 0.0) * larger(taken, 0.0))
    share = smaller(1.0, (root - slope) / larger(curve, TINY))
    for at in range(size):
        s.law.x[at] *= share


def _record(m: Memory, dim: int, law: LawSpace, island: Island) -> None:
    """Apply the added impulses of an island, and record them and their losses."""
    add_impulse_changes(m, law, island)
    count = island.contacts
    for k in range(count):
        c = m.strike_member[island.first + k]
        before = friction_impulse(m, dim, c)
        for i in range(island.rows):
            at = i * count + k
            m.strike_impulse[i][c] += law.x[at]
            if not is_bearing(m, c):
                lost = -law.x[at] * 0.5 * (law.y[at] + rate_after(m, c, i))
                record_loss(m, c, SETTLED if i == 0 else RUBBED, lost)
                record_surface(m, c, i, law.x[at])
        if is_bearing(m, c):
            continue
        record_impulses(m, c, law.x[k], friction_impulse(m, dim, c) - before, m.strike_opens[c] > 0)


def settle_part(m: Memory, dim: int, s: Striking, given: Given, iterations: int) -> bool:
    """Settle the velocities at the end of a recorded part of a step; False if a law is not solved.

    ``iterations`` is the number of iterations of the part, which is added to the results.
    """
    settled = settle(m, dim, s, given)
    if settled < 0:
        return False
    m.run_step_audit[0] = m.strike_audit[BALANCE]
    m.run_step_audit[4] += iterations
    m.run_step_audit[7] = larger(m.run_step_audit[7], largest_defect(m))
    m.strike_audit[KNOWN] = 0.0 if settled > 0 else m.strike_audit[KNOWN]
    return True
