"""Joint impulses that press bearings, in the contact law of islands.

The normal impulse of a bearing is the size |λ| of the impulses λ of its joint, which depend on all impulses Λ.
Linearised, Λ_N = n·λ with n = λ/|λ| is a row 0 ≤ Λ_N ⟂ Λ_N − n·λ ≥ 0 of the law, and n converges in a few repetitions
(see tests/samples/complementarity.py). Along its tangents a bearing obeys the law of a contact.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt
    from math import inf as INFINITY

    from ....contacts.loops.island_space import Island, LawSpace
    from ....contacts.loops.newton import EXACT, SOLVED
    from ....numerics.loops.views import block, entries, fill, larger
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from .bearings import friction_of, is_bearing, slip_of
    from .law import multiply_compliance, solve_island


REPEATED = cython.declare(cython.Py_ssize_t, 12)
"""Limit of linearisations of |λ|, as in tests/samples/complementarity.py."""


def solve_pressed(m: Memory, s: Striking, island: Island, weight: float, rests: bool) -> float:
    """Solve for the impulses of an island near those in ``law.x``, and for the joint impulses of its bearings.

    Returns the defect. ``weight`` is the proximal weight; ``rests`` is True if the bodies are at rest at the start.
    """
    if s.kinds == 0:
        return solve_island(s.law, island, weight, rests)
    if not _has_bearing(m, island):
        return solve_island(s.law, island, weight, rests)
    missed = INFINITY
    before = INFINITY
    for _ in range(REPEATED):
        _set_joint_impulses(m, s.law, island)
        _linearise(m, s.law, island)
        missed = solve_island(s.law, island, weight, rests)
        _set_joint_impulses(m, s.law, island)
        missed = larger(missed, _largest_turn(m, s.law, island))
        if missed <= EXACT or (missed <= SOLVED and missed > 0.1 * before):
            break
        before = missed
    return missed


def move_rates(m: Memory, s: Striking, island: Island, x: Array, out: Array) -> None:
    """Write the changes of the rates by impulses x into ``out``; zero in the normal rows of bearings."""
    multiply_compliance(s.law, island, x, out)
    if s.kinds > 0:
        for k in range(island.contacts):
            if is_bearing(m, m.strike_member[island.first + k]):
                out[k] = 0.0


def _has_bearing(m: Memory, island: Island) -> bool:
    has_bearing = cython.declare(cython.bint)
    has_bearing = False
    for k in range(island.contacts):
        has_bearing = has_bearing or is_bearing(m, m.strike_member[island.first + k])
    return has_bearing


def _set_joint_impulses(m: Memory, law: LawSpace, island: Island) -> None:
    """Compute the joint impulses λ that the impulses in ``law.x`` cause, and their size |λ| for each bearing."""
    for k in range(m.rub_base.size):
        row = m.bearings_row[k]
        total = m.rub_base[k] + m.strike_carried[0] * m.strike_held[row]
        for l in range(island.rows * island.contacts):
            total += _joint_response(m, island, l, row) * (law.x[l] - law.given[l])
        m.rub_pressed[k] = total
    fill(m.rub_size, 0.0)
    for k in range(m.rub_base.size):
        m.rub_size[m.bearings_owner[k]] += m.rub_pressed[k] * m.rub_pressed[k]
    for i in range(m.rub_size.size):
        m.rub_size[i] = sqrt(m.rub_size[i])


def _joint_response(m: Memory, island: Island, l: int, row: int) -> float:
    """Change of the joint impulse of constraint ``row`` by a unit impulse l of an island."""
    k = l % island.contacts
    r = l // island.contacts
    if r > 0 and friction_of(m, m.strike_member[island.first + k]) == 0.0:
        return 0.0
    response = m.strike_response[(island.first + k) * m.strike_own.shape[0] + r]
    return m.strike_carried[0] * response[entries(m.strike_change) + m.strike_bend.size + row]


def _linearise(m: Memory, law: LawSpace, island: Island) -> None:
    """Write the linearised normal rows of bearings into the law of an island."""
    size = island.rows * island.contacts
    count = island.contacts
    D = block(law.D, 0, size, size)
    for k in range(count):
        c = m.strike_member[island.first + k]
        if not is_bearing(m, c):
            continue
        i = c - m.contacts_kind.size
        response = m.strike_own[0][c]
        fill(D[k], 0.0)
        D[k][k] = response
        law.b[k] = response * law.given[k]
        for e in range(m.bearings_row.size):
            if m.bearings_owner[e] == i:
                n = response * _direction(m, e)
                row = m.bearings_row[e]
                law.b[k] -= n * (m.rub_base[e] + m.strike_carried[0] * m.strike_held[row])
                for l in range(size):
                    D[k][l] -= n * _joint_response(m, island, l, row)
        for r in range(1, island.rows):
            if slip_of(m, c, r) < 0:
                at = r * count + k
                D[at][at] = response
                law.b[at] = response * law.given[at]


def _direction(m: Memory, e: int) -> float:
    """Component of the direction n = λ/|λ| of a joint impulse, for entry e of the multipliers that press bearings."""
    parts = cython.declare(cython.Py_ssize_t)
    owner_size = m.rub_size[m.bearings_owner[e]]
    parts = 0
    if owner_size > 0.0:
        return m.rub_pressed[e] / owner_size
    for k in range(m.bearings_owner.size):
        parts += m.bearings_owner[k] == m.bearings_owner[e]
    return sqrt(1.0 / parts)


def _largest_turn(m: Memory, law: LawSpace, island: Island) -> float:
    """Largest difference between the normal impulse and |λ| of a bearing, as a rate divided by the scale."""
    missed = 0.0
    for k in range(island.contacts):
        c = m.strike_member[island.first + k]
        if is_bearing(m, c):
            missed = larger(missed, m.strike_own[0][c] * fabs(law.x[k] - m.rub_size[c - m.contacts_kind.size]))
    return missed / island.scale
