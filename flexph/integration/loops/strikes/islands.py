"""Islands, sets of contacts coupled by shared bodies: their compliance D, and changes of velocities by impulses.

D maps the impulses of an island to the changes of the rates of its contacts; rates are numbered row by row (first all
normal ones). The members of island i, its contacts and bearings, are the entries of ``strike.member`` from
``strike.begin[i]`` to ``strike.begin[i + 1]`` (exclusive).
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.data import Index

if not cython.compiled:
    from math import fabs, sqrt

    from ....contacts.loops.island_space import Island, LawSpace
    from ....contacts.loops.newton import TINY
    from ....numerics.loops.views import block, fill, larger, smaller
    from ..memory.memory import Memory
    from .bearings import friction_of, is_bearing, slip_of
    from .bodies import are_apart
    from .coupled import add_coupled_impulse, rate_by_response
    from .rows import bending, side_velocity, surface_rate


def find_islands(m: Memory, chosen: Index) -> int:
    """Find the islands of the chosen contacts and bearings, and return their number.

    ``chosen`` is 0 for contacts to leave out, 1 for contacts that only join an island of others, and 2 for contacts
    from which islands are searched.
    """
    count = cython.declare(cython.Py_ssize_t)
    link_bodies(m, chosen)
    count = 0
    place = 0
    fill(m.strike_mark, 0)
    for first in range(chosen.size):
        if chosen[first] == 2 and m.strike_mark[first] == 0:
            m.strike_begin[count] = place
            place = _append_coupled(m, first, place)
            count += 1
    m.strike_begin[count] = place
    return count


def link_bodies(m: Memory, chosen: Index) -> None:
    """Build a linked list of the sides of chosen contacts for each body or group of coupled bodies."""
    fill(m.strike_head, -1)
    for c in range(chosen.size - 1, -1, -1):
        if chosen[c] > 0:
            for side in range(2):
                b = m.contacts_parts[c][side]
                if b >= 0:
                    m.strike_link[2 * c + side] = m.strike_head[b]
                    m.strike_head[b] = 2 * c + side


def _append_coupled(m: Memory, first: int, place: int) -> int:
    """Append contact ``first`` and all contacts coupled with it to the members of islands; return the end.

    The end is the index after the last one. The members are appended from ``place`` on, in the order of a search
    breadth first.
    """
    at = cython.declare(cython.Py_ssize_t)
    end = cython.declare(cython.Py_ssize_t)
    m.strike_member[place] = first
    m.strike_mark[first] = 1
    at = place
    end = place + 1
    while at < end:
        for side in range(2):
            b = m.contacts_parts[m.strike_member[at]][side]
            other = m.strike_head[b] if b >= 0 else -1
            while other >= 0:
                if m.strike_mark[other // 2] == 0:
                    m.strike_member[end] = other // 2
                    m.strike_mark[other // 2] = 1
                    end += 1
                other = m.strike_link[other]
        at += 1
    return end


def rows_of(m: Memory, dim: int, first: int, last: int) -> int:
    """Number of rows of the law of each contact of an island: d if any of them has friction, else 1.

    The island has the members from ``first`` to ``last`` (exclusive).
    """
    for k in range(first, last):
        if friction_of(m, m.strike_member[k]) > 0.0:
            return dim
    return 1


def assemble(m: Memory, law: LawSpace, island: Island) -> None:
    """Compute the compliance D of an island."""
    if not are_apart(m):
        _assemble_coupled(m, law, island.first, island.contacts, island.rows)
    else:
        _assemble(m, law, island.first, island.contacts, island.rows)


def _assemble_coupled(m: Memory, law: LawSpace, first: int, count: int, r: int) -> None:
    """Compute the compliance D of an island of coupled bodies, from the responses of all bodies to unit impulses.

    It has ``count`` members from ``first`` on, with r rows each.
    """
    acts = cython.declare(cython.bint)
    D = block(law.D, 0, r * count, r * count)
    d = m.strike_own.shape[0]
    for l in range(count):
        for j in range(r):
            response = m.strike_response[(first + l) * d + j]
            acts = j == 0
            acts = acts or friction_of(m, m.strike_member[first + l]) > 0.0
            for k in range(count):
                c = m.strike_member[first + k]
                for i in range(r):
                    D[i * count + k][j * count + l] = rate_by_response(m, c, i, response) if acts else 0.0


def _assemble(m: Memory, law: LawSpace, first: int, count: int, r: int) -> None:
    """Compute the compliance D of an island of free bodies, from the bodies that two contacts share.

    It has ``count`` members from ``first`` on, with r rows each.
    """
    D = block(law.D, 0, r * count, r * count)
    for k in range(r * count):
        for l in range(r * count):
            D[k][l] = 0.0
    for k in range(count):
        m.strike_mark[m.strike_member[first + k]] = k
    for k in range(count):
        for side in range(2):
            own_side = 2 * m.strike_member[first + k] + side
            b = m.contacts_sides[own_side // 2][side]
            other = m.strike_head[b] if b >= 0 else -1
            while other >= 0:
                _add_coupling(m, D, (own_side, other), (k, m.strike_mark[other // 2]), r)
                other = m.strike_link[other]


def _add_coupling(m: Memory, D: Array, sides: tuple[int, int], places: tuple[int, int], r: int) -> None:
    """Add the coupling of members k and l of an island, which share a body, to the compliance D.

    ``places`` are their numbers (k, l) in the island, ``sides`` the rows of k and l for their sides on that body. The
    coupling is the change of the r rates of k by unit impulses in the r rows of l.
    """
    side, other = sides
    k, l = places
    count = D.shape[0] // r
    for i in range(r):
        for j in range(r):
            total = 0.0
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[side][i][a] * m.strike_answer[other][j][a]
            D[i * count + k][j * count + l] += total


def rate_change(m: Memory, change: Array, c: int, r: int) -> float:
    """Change of rate r of contact or bearing c by ``change``, the changes of the velocities of all bodies."""
    if is_bearing(m, c):
        return m.strike_slide[slip_of(m, c, r)] if slip_of(m, c, r) >= 0 else 0.0
    total = bending(m, c, r, m.strike_bend)
    for side in range(2):
        b = m.contacts_sides[c][side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side][r][a] * change[b][a]
    return total


def rate_size(m: Memory, v: Array, w: Array, du: Array, c: int, r: int) -> float:
    """Sum of the absolute values of the terms of rate r of contact c, at velocities v, w, du; 0 for bearings.

    For bearings see friction.rows.slip_size.
    """
    if is_bearing(m, c):
        return 0.0
    total = 0.0
    for i in range(m.strike_bend.size):
        total += fabs(m.strike_bend_rate[c * m.strike_impulse.shape[0] + r][i] * du[i])
    for side in range(2):
        b = m.contacts_sides[c][side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += fabs(m.strike_rate[2 * c + side][r][a] * side_velocity(m, b, a, v, w))
    return total + fabs(surface_rate(m, c, r))


def add_impulse(m: Memory, member: int, r: int, impulse: float) -> None:
    """Add the changes of velocities that an impulse in row r of a member of an island causes."""
    if not are_apart(m):
        if impulse != 0.0:
            add_coupled_impulse(m, member * m.strike_own.shape[0] + r, impulse)
    else:
        _add_impulse(m, m.strike_member[member], r, impulse, m.strike_change)


def _add_impulse(m: Memory, c: int, r: int, impulse: float, change: Array) -> None:
    """Add the changes of velocities that an impulse in row r of contact c of free bodies causes to ``change``."""
    for side in range(2):
        b = m.contacts_sides[c][side]
        if b >= 0:
            for a in range(m.strike_answer.shape[2]):
                change[b][a] += impulse * m.strike_answer[2 * c + side][r][a]


def law_defect(m: Memory, dim: int, c: int) -> float:
    """Defect [m/s] of the law of contact or bearing c, at its impulses and rates (see tests/samples/cones.py)."""
    normal = m.strike_impulse[0][c]
    r = 1.0 / diagonal_response(m, c, 0)
    missed = fabs(normal - larger(normal - r * m.strike_rates[0][c], 0.0)) / r
    if friction_of(m, c) == 0.0:
        return missed
    along = 0.0
    square = 0.0
    for i in range(1, dim):
        along = larger(along, diagonal_response(m, c, i))
    for i in range(1, dim):
        trial = m.strike_impulse[i][c] - m.strike_rates[i][c] / along
        square += trial * trial
    share = smaller(1.0, friction_of(m, c) * larger(normal, 0.0) / larger(sqrt(square), TINY))
    for i in range(1, dim):
        trial = m.strike_impulse[i][c] - m.strike_rates[i][c] / along
        missed = larger(missed, fabs(m.strike_impulse[i][c] - share * trial) * along)
    return missed


def diagonal_response(m: Memory, c: int, r: int) -> float:
    """Change D_rr of rate r of contact c by a unit impulse along it; 1 if that would be zero."""
    total = 0.0 if are_apart(m) else m.strike_own[r][c]
    for side in range(2 if are_apart(m) else 0):
        if m.contacts_sides[c][side] >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side][r][a] * m.strike_answer[2 * c + side][r][a]
    return total if total > 0.0 else 1.0
