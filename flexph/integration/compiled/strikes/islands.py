"""Islands, contacts that act on each other as they share bodies: their D, and what impulses do to velocities."""

from __future__ import annotations

import math

from ....contacts.compiled.island_space import Island, LawSpace
from ....contacts.compiled.newton import TINY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.data import Index
from ..memory.memory import Memory, block
from .bearings import friction_of, is_bearing, slip_of
from .bodies import are_apart
from .coupled import moved_by, push_coupled
from .rows import bending, side_velocity


@kernel
def find_islands(m: Memory, chosen: Index) -> int:
    """Islands of those contacts that are chosen, 1 or 2, of which each has one that is marked by 2; their number."""
    link_bodies(m, chosen)
    count, place = 0, 0
    m.strike_mark[:] = 0
    for first in range(chosen.size):
        if chosen[first] == 2 and m.strike_mark[first] == 0:
            m.strike_begin[count] = place
            place = _spread(m, first, place)
            count += 1
    m.strike_begin[count] = place
    return count


@kernel
def link_bodies(m: Memory, chosen: Index) -> None:
    """Chains of the sides of contacts at each body, or at each part of bodies that are coupled."""
    m.strike_head[:] = -1
    for c in range(chosen.size - 1, -1, -1):
        if chosen[c] > 0:
            for side in range(2):
                b = m.contacts_parts[c, side]
                if b >= 0:
                    m.strike_link[2 * c + side] = m.strike_head[b]
                    m.strike_head[b] = 2 * c + side


@kernel
def _spread(m: Memory, first: int, place: int) -> int:
    """All contacts that are reached from one, breadth first, behind a place; the next place."""
    m.strike_member[place], m.strike_mark[first] = first, 1
    at, end = place, place + 1
    while at < end:
        for side in range(2):
            b = m.contacts_parts[m.strike_member[at], side]
            other = m.strike_head[b] if b >= 0 else -1
            while other >= 0:
                if m.strike_mark[other // 2] == 0:
                    m.strike_member[end], m.strike_mark[other // 2] = other // 2, 1
                    end += 1
                other = m.strike_link[other]
        at += 1
    return end


@kernel
def rows_of(m: Memory, axes: tuple[int, ...], first: int, last: int) -> int:
    """Rates of each contact of an island: with the tangents where there is friction."""
    for k in range(first, last):
        if friction_of(m, m.strike_member[k]) > 0.0:
            return len(axes)
    return 1


@kernel
def assemble(m: Memory, law: LawSpace, island: Island) -> None:
    """D of an island."""
    if not are_apart(m):
        _assemble_coupled(m, law, island.first, island.contacts, island.rows)
    else:
        _assemble(m, law, island.first, island.contacts, island.rows)


@kernel
def _assemble_coupled(m: Memory, law: LawSpace, first: int, count: int, r: int) -> None:
    """By the responses of all bodies."""
    D, d = block(law.D, 0, r * count, r * count), m.strike_own.shape[0]
    for l in range(count):
        for j in range(r):
            response, acts = m.strike_response[(first + l) * d + j], j == 0
            acts = acts or friction_of(m, m.strike_member[first + l]) > 0.0
            for k in range(count):
                c = m.strike_member[first + k]
                for i in range(r):
                    D[i * count + k, j * count + l] = moved_by(m, c, i, response) if acts else 0.0


@kernel
def _assemble(m: Memory, law: LawSpace, first: int, count: int, r: int) -> None:
    """By the bodies that two contacts share."""
    D = block(law.D, 0, r * count, r * count)
    for k in range(r * count):
        for l in range(r * count):
            D[k, l] = 0.0
    for k in range(count):
        m.strike_mark[m.strike_member[first + k]] = k
    for k in range(count):
        for side in range(2):
            own = 2 * m.strike_member[first + k] + side
            b = m.contacts_sides[own // 2, side]
            other = m.strike_head[b] if b >= 0 else -1
            while other >= 0:
                _share(m, D, own, other, k, m.strike_mark[other // 2], count, r)
                other = m.strike_link[other]


@kernel
def _share(m: Memory, D: Array, own: int, other: int, k: int, l: int, count: int, r: int) -> None:
    """Add what impulses at one side of a contact do to the rates of another one, on the body of both."""
    for i in range(r):
        for j in range(r):
            total = 0.0
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[own, i, a] * m.strike_answer[other, j, a]
            D[i * count + k, j * count + l] += total


@kernel
def changed(m: Memory, change: Array, c: int, r: int) -> float:
    """What velocities of all bodies change of a rate of a contact or bearing."""
    if is_bearing(m, c):
        return m.strike_slide[slip_of(m, c, r)] if slip_of(m, c, r) >= 0 else 0.0
    total = bending(m, c, r, m.strike_bend)
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side, r, a] * change[b, a]
    return total


@kernel
def sized(m: Memory, axes: tuple[int, ...], v: Array, w: Array, du: Array, c: int, r: int) -> float:
    """The sum of the sizes of the terms of a rate of a contact at velocities; of bearings see friction.rows."""
    if is_bearing(m, c):
        return 0.0
    total, d = 0.0, len(axes)
    for i in range(m.strike_bend.size):
        total += abs(m.strike_bend_rate[c * d + r, i] * du[i])
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += abs(m.strike_rate[2 * c + side, r, a] * side_velocity(m, b, a, v, w))
    return total


@kernel
def push(m: Memory, member: int, r: int, impulse: float) -> None:
    """Add what an impulse of a member of an island changes."""
    if not are_apart(m):
        if impulse != 0.0:
            push_coupled(m, member * m.strike_own.shape[0] + r, impulse)
    else:
        _push(m, m.strike_member[member], r, impulse, m.strike_change)


@kernel
def _push(m: Memory, c: int, r: int, impulse: float, change: Array) -> None:
    """Add the velocities that an impulse of a contact gives."""
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(m.strike_answer.shape[2]):
                change[b, a] += impulse * m.strike_answer[2 * c + side, r, a]


@kernel
def missed_by(m: Memory, axes: tuple[int, ...], c: int) -> float:
    """What the impulses and rates of a contact miss of its law [m/s] (see contacts.cones)."""
    own, r = m.strike_impulse[0, c], 1.0 / by_itself(m, c, 0)
    missed = abs(own - max(own - r * m.strike_rates[0, c], 0.0)) / r
    if friction_of(m, c) == 0.0:
        return missed
    along, square = 0.0, 0.0
    for i in range(1, len(axes)):
        along = max(along, by_itself(m, c, i))
    for i in range(1, len(axes)):
        trial = m.strike_impulse[i, c] - m.strike_rates[i, c] / along
        square += trial * trial
    share = min(1.0, friction_of(m, c) * max(own, 0.0) / max(math.sqrt(square), TINY))
    for i in range(1, len(axes)):
        trial = m.strike_impulse[i, c] - m.strike_rates[i, c] / along
        missed = max(missed, abs(m.strike_impulse[i, c] - share * trial) * along)
    return missed


@kernel
def by_itself(m: Memory, c: int, r: int) -> float:
    """What a unit impulse of a contact changes of its own rate."""
    total = 0.0 if are_apart(m) else m.strike_own[r, c]
    for side in range(2 if are_apart(m) else 0):
        if m.contacts_sides[c, side] >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side, r, a] * m.strike_answer[2 * c + side, r, a]
    return total if total > 0.0 else 1.0
