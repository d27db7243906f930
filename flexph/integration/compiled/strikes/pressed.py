"""What presses bearings, in the law of islands of contacts.

The normal impulse of a bearing is the size |λ| of the impulses λ of its joint, which all impulses Λ change. Linearised,
Λ_N = n·λ with n = λ/|λ| is a row of the law as others are, 0 ≤ Λ_N ⟂ Λ_N − n·λ ≥ 0, and n follows in a few
repetitions (see flexph.contacts.complementarity). Along its tangents a bearing is as a contact.
"""

from __future__ import annotations

import math

from ....contacts.compiled.island_space import Island, LawSpace
from ....contacts.compiled.newton import EXACT, SOLVED
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory, block
from .bearings import friction_of, is_bearing, slip_of
from .law import move, solve_island

REPEATED = 12
"""See flexph.contacts.complementarity."""


@kernel
def solve_pressed(
    m: Memory, kinds: tuple[int, ...], law: LawSpace, island: Island, weight: float, rests: bool
) -> float:
    """Impulses of an island near those in ``x``, with what presses its bearings; their defect (see .law)."""
    if len(kinds) == 0:
        return solve_island(law, island, weight, rests)
    else:
        if not _has_bearing(m, island):
            return solve_island(law, island, weight, rests)
        missed, before = math.inf, math.inf
        for _ in range(REPEATED):
            _press(m, law, island)
            _linearise(m, law, island)
            missed = solve_island(law, island, weight, rests)
            _press(m, law, island)
            missed = max(missed, _turned(m, law, island))
            if missed <= EXACT or (missed <= SOLVED and missed > 0.1 * before):
                break
            before = missed
        return missed


@kernel
def move_rates(m: Memory, kinds: tuple[int, ...], law: LawSpace, island: Island, x: Array, out: Array) -> None:
    """What impulses do to rates: what presses bearings is none."""
    move(law, island, x, out)
    if len(kinds) > 0:
        for k in range(island.contacts):
            if is_bearing(m, m.strike_member[island.first + k]):
                out[k] = 0.0


@kernel
def _has_bearing(m: Memory, island: Island) -> bool:
    found = False
    for k in range(island.contacts):
        found = found or is_bearing(m, m.strike_member[island.first + k])
    return found


@kernel
def _press(m: Memory, law: LawSpace, island: Island) -> None:
    """The impulses of joints with the impulses in ``x``, and their size by bearing."""
    for k in range(m.rub_base.size):
        row = m.bearings_row[k]
        total = m.rub_base[k] + m.strike_carried[0] * m.strike_held[row]
        for l in range(island.rows * island.contacts):
            total += _by(m, island, l, row) * (law.x[l] - law.given[l])
        m.rub_pressed[k] = total
    m.rub_size[:] = 0.0
    for k in range(m.rub_base.size):
        m.rub_size[m.bearings_owner[k]] += m.rub_pressed[k] * m.rub_pressed[k]
    for i in range(m.rub_size.size):
        m.rub_size[i] = math.sqrt(m.rub_size[i])


@kernel
def _by(m: Memory, island: Island, l: int, row: int) -> float:
    """What a unit impulse of an island changes of an impulse of the joints."""
    k, r = l % island.contacts, l // island.contacts
    if r > 0 and friction_of(m, m.strike_member[island.first + k]) == 0.0:
        return 0.0
    response = m.strike_response[(island.first + k) * m.strike_own.shape[0] + r]
    return m.strike_carried[0] * response[m.strike_change.size + m.strike_bend.size + row]


@kernel
def _linearise(m: Memory, law: LawSpace, island: Island) -> None:
    """The rows of bearings in the law of an island."""
    size, count = island.rows * island.contacts, island.contacts
    D = block(law.D, 0, size, size)
    for k in range(count):
        c = m.strike_member[island.first + k]
        if not is_bearing(m, c):
            continue
        i, own = c - m.contacts_kind.size, m.strike_own[0, c]
        D[k, :] = 0.0
        D[k, k], law.b[k] = own, own * law.given[k]
        for e in range(m.bearings_row.size):
            if m.bearings_owner[e] == i:
                n, row = own * _direction(m, e), m.bearings_row[e]
                law.b[k] -= n * (m.rub_base[e] + m.strike_carried[0] * m.strike_held[row])
                for l in range(size):
                    D[k, l] -= n * _by(m, island, l, row)
        for r in range(1, island.rows):
            if slip_of(m, c, r) < 0:
                at = r * count + k
                D[at, at], law.b[at] = own, own * law.given[at]


@kernel
def _direction(m: Memory, e: int) -> float:
    """A component of n."""
    own, parts = m.rub_size[m.bearings_owner[e]], 0
    if own > 0.0:
        return m.rub_pressed[e] / own
    for k in range(m.bearings_owner.size):
        parts += m.bearings_owner[k] == m.bearings_owner[e]
    return math.sqrt(1.0 / parts)


@kernel
def _turned(m: Memory, law: LawSpace, island: Island) -> float:
    """What normal impulses of bearings miss of what presses them, over the scale."""
    missed = 0.0
    for k in range(island.contacts):
        c = m.strike_member[island.first + k]
        if is_bearing(m, c):
            missed = max(missed, m.strike_own[0, c] * abs(law.x[k] - m.rub_size[c - m.contacts_kind.size]))
    return missed / island.scale
