"""Impacts at the start of a step, of contacts that would close in it."""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ....kernels.convergence.tolerances import RESOLUTION as _RESOLUTION
from ..memory.structures import AT_TIME as _AT_TIME
from ..memory.structures import OVER_PART as _OVER_PART

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import larger
    from ..contact.gaps import gap_of, place_vectors
    from ..mechanics.motion import node_speeds
    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Given, Prescribed
    from .bodies import are_apart, set_inverse_masses
    from .coupled import factor_at
    from .marks import CLOSES, OPEN, TOUCHES
    from .newton_law import solve_impacts_of_islands
    from .records import set_velocity_defect
    from .rows import rate, set_free_response, set_levers, set_rows
    from .time_data import data_between, request_data
    from .trial import solve_free

AT_TIME = cython.declare(cython.Py_ssize_t, _AT_TIME)
OVER_PART = cython.declare(cython.Py_ssize_t, _OVER_PART)
RESOLUTION = cython.declare(cython.double, _RESOLUTION)
TOUCHING = cython.declare(cython.double, _TOUCHING)


STRIKES = cython.declare(cython.Py_ssize_t, 200)
WIDE = cython.declare(cython.double, 0.5)
RESTING = cython.declare(cython.double, 1e-11)
"""Limit of impacts at the start of a step, predicted gap divided by the largest displacement above which a contact is
skipped, and relative speed up to which a gap does not close."""


def solve_impacts(m: Memory, dim: int, s: Striking, p: Prescribed, size: float, known: int) -> int:
    """Solve impacts until no contact with restitution closes in the step; return their number, −1 if one fails.

    ``size`` [m] is the extent of the mechanism, ``known`` the number of rows of history.
    """
    count = cython.declare(cython.Py_ssize_t)
    prepare(m, dim)
    given = given_of(p.table, p.k)
    h = given.h
    count = 0
    while count < STRIKES and _may_bounce(m, h, size):
        if not solve_free(m, dim, s.kinds, given, known if count == 0 else 0):
            return -1
        _predict_positions(m, dim, h)
        before = count
        _mark_closing(m, dim, h, size, True)
        if not are_apart(m) and _bounces(m) and not _factor(m, dim, s.kinds, p):
            return -1
        while count < STRIKES and _bounces(m):
            if not solve_impacts_of_islands(m, dim, s, _at_start(p)):
                return -1
            count += 1
            find_rates(m)
            _mark_closing(m, dim, h, size, False)
        if count == before:
            break
    return count


def _factor(m: Memory, dim: int, kinds: int, p: Prescribed) -> bool:
    """Factor masses and joints at the start of a step, and compute the velocity defect there; False if that fails."""
    begin = p.table.times[p.k]
    end = p.table.times[p.k + 1]
    if not request_data(m, p, begin, begin, AT_TIME):
        return False
    set_velocity_defect(m, dim, _at_start(p).before, _at_start(p))
    return factor_at(m, dim, kinds, _at_start(p).before) and request_data(m, p, begin, end, OVER_PART)


def _at_start(p: Prescribed) -> Given:
    """Prescribed quantities at the start of a step."""
    begin = p.table.times[p.k]
    return data_between(p, begin, begin)


def prepare(m: Memory, dim: int) -> None:
    """Compute the gaps, rows and gap rates of all rigid contacts in the present state ``at``.

    Other contacts get zero rates.
    """
    set_levers(m, dim)
    if are_apart(m):
        set_inverse_masses(m, dim)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            set_rows(m, dim, c)
            if are_apart(m):
                set_free_response(m, dim, c)
            m.touch_before[c] = gap_of(m, dim, c, m.touch_first)
    find_rates(m)


def find_rates(m: Memory) -> None:
    """Compute the rates of all gaps at the present state ``at``."""
    for c in range(m.contacts_kind.size):
        m.strike_rates[0][c] = rate(m, c, 0)


def largest_rate(m: Memory) -> float:
    """Largest absolute rate of a gap [m/s]."""
    speed = 0.0
    for c in range(m.contacts_kind.size):
        speed = larger(speed, fabs(m.strike_rates[0][c]))
    return speed


def _may_bounce(m: Memory, h: float, size: float) -> bool:
    """True if the gap of a contact with restitution closes, at a rate that positions resolve in a step of h [s]."""
    for c in range(m.contacts_kind.size):
        if m.contacts_restitution[c] > 0.0 and m.strike_rates[0][c] < -RESOLUTION * size / h:
            return True
    return False


def _predict_positions(m: Memory, dim: int, h: float) -> None:
    """Store the positions of nodes after a step without contacts, minus their displacements at constant velocities.

    :func:`_predict_displacements` at velocities after impacts is added to them to predict the end positions.
    """
    _predict_displacements(m, dim, h)
    for k in range(m.nodes_body.size):
        for i in range(dim):
            end = m.nodes_moves[k] * m.end_r[m.nodes_body[k]][i] + m.end_arm[k][i]
            m.strike_ahead[k][i] = end - m.strike_point[k][i]


def _predict_displacements(m: Memory, dim: int, h: float) -> None:
    """Store the displacements of the nodes in a step of h [s] with their present velocities."""
    node_speeds(m, dim)
    for k in range(m.nodes_body.size):
        for i in range(dim):
            m.strike_point[k][i] = h * m.run_moved[k][i]


def _mark_closing(m: Memory, dim: int, h: float, size: float, first: bool) -> None:
    """Mark rigid contacts that close in the step as CLOSES, those that only touch as TOUCHES, and others as OPEN.

    ``first`` is True before the first impact: then contacts far from closing are skipped in later calls.
    """
    closes = cython.declare(cython.bint)
    touches = cython.declare(cython.bint)
    _predict_displacements(m, dim, h)
    for k in range(m.nodes_body.size):
        for i in range(dim):
            m.strike_point[k][i] += m.strike_ahead[k][i]
    speed = largest_rate(m)
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            continue
        if first:
            m.strike_opens[c] = 1
        place_vectors(m, dim, c, m.strike_nowhere, m.strike_point, m.touch_last)
        after = gap_of(m, dim, c, m.touch_last)
        now = m.strike_rates[0][c]
        touches = m.touch_before[c] <= TOUCHING * size
        if first and not touches and after > WIDE * h * speed:
            m.strike_opens[c] = 0  # and is skipped until the next free step
        bend = 2.0 * fabs(after - m.touch_before[c] - h * now) / h
        closes = m.strike_opens[c] > 0 and after <= 0.0 and now < -larger(bend, RESTING * speed)
        m.strike_may_close[c] = CLOSES if closes else TOUCHES if touches else OPEN


def _bounces(m: Memory) -> bool:
    """True if a contact marked as closing has restitution."""
    bounces = cython.declare(cython.bint)
    bounces = False
    for c in range(m.contacts_kind.size):
        bounces = bounces or (m.strike_may_close[c] == 2 and m.contacts_restitution[c] > 0.0)
    return bounces
