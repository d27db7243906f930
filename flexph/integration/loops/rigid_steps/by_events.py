"""Steps with rigid contacts that are split at each time when a gap closes, with an impact there.

The marks of contacts, such as CLOSES, are defined in strikes.marks.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ....kernels.convergence.tolerances import RESOLUTION as _RESOLUTION
from ..memory.codes import CROWDED as _CROWDED
from ..memory.codes import KNOWN as _KNOWN
from ..memory.structures import AT_TIME as _AT_TIME
from ..memory.structures import RATES_AT_END as _RATES_AT_END

if not cython.compiled:
    from ....numerics.loops.views import fill, larger, smaller
    from ..contact.gaps import gap_of, place_vectors
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Prescribed
    from ..steps.iterate import coordinate_size
    from ..strikes.bodies import are_apart
    from ..strikes.coupled import factor_at
    from ..strikes.impacts import RESTING, find_rates, largest_rate, prepare
    from ..strikes.islands import rate_size
    from ..strikes.marks import CLOSES, ENTERS, OPEN, mark_overlaps, may_close
    from ..strikes.newton_law import solve_impacts_of_islands
    from ..strikes.records import record_part, set_velocity_defect
    from ..strikes.settling import settle_part
    from ..strikes.time_data import data_between, is_whole, request_data
    from .closing_time import SHORTEST, closing_time
    from .part_steps import solve_between

AT_TIME = cython.declare(cython.Py_ssize_t, _AT_TIME)
CROWDED = cython.declare(cython.Py_ssize_t, _CROWDED)
KNOWN = cython.declare(cython.Py_ssize_t, _KNOWN)
RATES_AT_END = cython.declare(cython.Py_ssize_t, _RATES_AT_END)
RESOLUTION = cython.declare(cython.double, _RESOLUTION)
TOUCHING = cython.declare(cython.double, _TOUCHING)


SPLITS = cython.declare(cython.Py_ssize_t, 50)
CROWD = cython.declare(cython.Py_ssize_t, 20)
GROUP = cython.declare(cython.Py_ssize_t, 10)
"""Limit of impacts in a step, and numbers of impacts and of closed contacts from which a step is flagged as crowded."""


def step_by_events(m: Memory, dim: int, s: Striking, p: Prescribed) -> bool:
    """Take a step that is split where gaps close; False if it is not solved.

    ``s`` has the options and the work space for contact laws, ``p`` the prescribed quantities of the step.
    """
    alone = cython.declare(cython.bint)
    size = coordinate_size(m)
    now = p.table.times[p.k]
    end = p.table.times[p.k + 1]
    length = end - now
    fill(m.strike_met, 0)
    alone = True
    if m.masses_body.size > 0 and not request_data(m, p, now, now, AT_TIME):
        return False
    for split in range(SPLITS + 1):
        if split == CROWD:
            _look_for_many(m)
        strikes = _strike_where_closed(m, dim, s, p, now, size)
        if strikes < 0:
            return False
        alone = alone and split + strikes == 0
        _mark_closed(m, length, size, split == SPLITS)
        if split == SPLITS:
            break
        until, iterations = _go_on(m, dim, s, p, now, size)
        if iterations < 0:
            return False
        if until - now <= SHORTEST * length or 0.0 < end - until <= SHORTEST * length:
            _close_entered(m)
            break
        if not _finish_part(m, dim, s, p, (now, until, alone and until == end), iterations):
            return False
        if until == end:
            return True
        now = until
    iterations = solve_between(m, dim, s, p, (now, end), True)
    return iterations >= 0 and _finish_part(m, dim, s, p, (now, end, False), iterations)


def _strike_where_closed(m: Memory, dim: int, s: Striking, p: Prescribed, now: float, size: float) -> int:
    """Solve the impact of all touching contacts at the time ``now`` [s], if one of them closes.

    Returns 1, or 0 if none closes, or −1 if the impact is not solved. ``size`` [m] is the extent of the mechanism.
    """
    if not _find_touching(m, dim, size):
        return 0
    prepare(m, dim)
    length = p.table.times[p.k + 1] - p.table.times[p.k]
    if not _closes(m, dim, length, size):
        return 0
    for c in range(m.contacts_kind.size):
        m.strike_may_close[c] = CLOSES if _touches(m, c, size) else OPEN
    if not request_data(m, p, now, now, AT_TIME):
        return -1
    given = data_between(p, now, now)
    if not are_apart(m):
        set_velocity_defect(m, dim, given.before, given)
        if not factor_at(m, dim, s.kinds, given.before):
            return -1
    if not solve_impacts_of_islands(m, dim, s, given):
        return -1
    m.strike_audit[KNOWN] = 0.0
    find_rates(m)
    return 1


def _go_on(m: Memory, dim: int, s: Striking, p: Prescribed, now: float, size: float) -> tuple[float, int]:
    """Solve from the time ``now`` [s] to the end of the step, or to the first closing of a gap.

    Returns the time reached, and the number of iterations, −1 if the part of the step is not solved. At the closing
    time that was found, another gap may have closed earlier; the search is repeated for the earlier closing.
    """
    until = p.table.times[p.k + 1]
    length = until - p.table.times[p.k]
    for _ in range(m.contacts_kind.size + 1):
        iterations = solve_between(m, dim, s, p, (now, until), False)
        entered = mark_overlaps(m, dim, ENTERS) if iterations >= 0 else -1
        if entered <= 0:
            return until, iterations if entered == 0 else -1
        until = closing_time(m, dim, s, p, (now, until), size)
        if not until - now > SHORTEST * length:
            return until, 0 if until >= now else -1
    return until, -1


def _find_touching(m: Memory, dim: int, size: float) -> bool:
    """Compute all gaps at the start of a part of a step; True if a rigid contact touches.

    The tolerance is relative to the extent ``size`` of the mechanism [m].
    """
    touches = cython.declare(cython.bint)
    touches = False
    for c in range(m.contacts_kind.size):
        place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
        m.touch_before[c] = gap_of(m, dim, c, m.touch_first)
        touches = touches or _touches(m, c, size)
    return touches


def _touches(m: Memory, c: int, size: float) -> bool:
    """True if contact c is rigid and touches.

    The tolerance is relative to the extent ``size`` of the mechanism [m].
    """
    return m.contacts_rigid[c] and m.touch_before[c] <= TOUCHING * size


def _closes(m: Memory, dim: int, length: float, size: float) -> bool:
    """True if a touching contact closes, at a rate that positions resolve in a step of the given ``length`` [s]."""
    least = 0.0
    terms = 0.0
    for c in range(m.contacts_kind.size):
        if _touches(m, c, size):
            least = smaller(least, m.strike_rates[0][c])
            for i in range(dim):
                terms = larger(terms, rate_size(m, m.at_v, m.at_w, m.at_du, c, i))
    return least < -larger(RESTING * terms, RESOLUTION * size / length)


def _mark_closed(m: Memory, length: float, size: float, rests: bool) -> None:
    """Mark the touching contacts that do not bounce off as CLOSES, and all others as OPEN.

    If ``rests``, all touching contacts are marked as CLOSES. ``length`` [s] is the length of the step, ``size`` [m] the
    extent of the mechanism.
    """
    holds = cython.declare(cython.bint)
    still = larger(RESTING * largest_rate(m), RESOLUTION * size / length)
    for c in range(m.contacts_kind.size):
        holds = rests or m.contacts_restitution[c] == 0.0 or m.strike_rates[0][c] <= still
        m.strike_may_close[c] = CLOSES if holds and _touches(m, c, size) else OPEN


def _close_entered(m: Memory) -> None:
    """Mark the contacts found to overlap at the end of the step as CLOSES."""
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            m.strike_may_close[c] = CLOSES


def _finish_part(
    m: Memory,
    dim: int,
    s: Striking,
    p: Prescribed,
    piece: tuple[float, float, bool],
    iterations: int,
) -> bool:
    """Record a part of a step, and settle velocities at its end; False if that fails.

    ``piece`` has the times [s] of its ends, and True if it is the whole step.
    """
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            m.strike_met[c] = 1
    begin, end, alone = piece
    share = (end - begin) / (p.table.times[p.k + 1] - p.table.times[p.k])
    if not (
        request_data(m, p, begin, end, RATES_AT_END)
        and record_part(m, dim, s.kinds, data_between(p, begin, end), share, alone)
    ):
        return False
    if may_close(m) and not is_whole(p, begin, end):
        if not request_data(m, p, end, end, AT_TIME):
            return False
        given = data_between(p, end, end)
        set_velocity_defect(m, dim, given.after, given)
        return settle_part(m, dim, s, given, iterations)
    return settle_part(m, dim, s, data_between(p, begin, end), iterations)


def _look_for_many(m: Memory) -> None:
    """Set a flag if so many contacts have separate impacts in a step that it takes long."""
    met = cython.declare(cython.Py_ssize_t)
    met = 0
    for c in range(m.contacts_kind.size):
        met += m.strike_met[c]
    if met >= GROUP:
        m.strike_audit[CROWDED] = 1.0
