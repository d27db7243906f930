"""Islands, contacts that act on each other as they share bodies: their D, and the impulses that obey their laws."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....contacts.compiled.near import near
from ....contacts.compiled.problem import Cone, Space
from ....numerics.arrays import Array
from ..memory.data import Index
from ..memory.kernel import kernel
from ..memory.memory import Memory, block

LARGEST = 600
"""Impulses of an island that loops solve."""


class LawSpace(NamedTuple):
    """Space for the law of an island of m impulses at most."""

    D: Array  # (m²,)
    b: Array  # (m,)
    x: Array  # (m,)
    y: Array  # (m,), rates before
    kept: Array  # (m,), other impulses
    moved: Array  # (m,), what impulses do to the rates
    point: Array  # (2 m,)
    matrix: Array  # (m²,)
    whole: Index  # (4 m,)
    vectors: Array  # (8 m,)
    turning: Array  # (m, 2, 2)
    along: Array  # (m, 2)
    state: Index  # (m,)
    ptr: Index  # (m + 1,)
    col: Index  # (m²,)
    order: Index  # (m,)
    by_contact: Array  # (18 m,), of friction, steps of the natural map, and the pairs


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
    """Chains of the sides of contacts at each body."""
    m.strike_head[:] = -1
    for c in range(chosen.size - 1, -1, -1):
        if chosen[c] > 0:
            for side in range(2):
                b = m.contacts_sides[c, side]
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
            b = m.contacts_sides[m.strike_member[at], side]
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
        if m.contacts_friction[m.strike_member[k]] > 0.0:
            return len(axes)
    return 1


@kernel
def assemble(m: Memory, law: LawSpace, first: int, count: int, r: int) -> None:
    """D of an island by the bodies that two contacts share."""
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
def move(D: Array, x: Array, out: Array) -> None:
    """D Λ."""
    for i in range(D.shape[0]):
        total = 0.0
        for j in range(D.shape[0]):
            total += D[i, j] * x[j]
        out[i] = total


@kernel
def changed(m: Memory, change: Array, c: int, r: int) -> float:
    """What velocities of all bodies change of a rate of a contact."""
    total = 0.0
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side, r, a] * change[b, a]
    return total


@kernel
def sized(m: Memory, axes: tuple[int, ...], v: Array, w: Array, c: int, r: int) -> float:
    """The sum of the sizes of the terms of a rate of a contact at velocities."""
    total, d = 0.0, len(axes)
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += abs(m.strike_rate[2 * c + side, r, a] * (v[b, a] if a < d else w[b, a - d]))
    return total


@kernel
def push(m: Memory, c: int, r: int, impulse: float, change: Array) -> None:
    """Add the velocities that an impulse of a contact gives."""
    for side in range(2):
        b = m.contacts_sides[c, side]
        if b >= 0:
            for a in range(m.strike_answer.shape[2]):
                change[b, a] += impulse * m.strike_answer[2 * c + side, r, a]


@kernel
def cone_of(m: Memory, law: LawSpace, first: int, count: int, r: int, scale: float) -> Cone:
    """The law of an island, with D and b in its space."""
    size, own = r * count, law.by_contact
    D = block(law.D, 0, size, size)
    for k in range(count):
        c, along = m.strike_member[first + k], 0.0
        for i in range(1, r):
            along = max(along, D[i * count + k, i * count + k])
        own[k] = m.contacts_friction[c]
        own[count + k] = 1.0 / D[k, k] if D[k, k] > 0.0 else 1.0
        own[2 * count + k] = 1.0 / along if along > 0.0 else 1.0
    friction, normal, tangent = own[:count], own[count : 2 * count], own[2 * count : 3 * count]
    pattern = law.ptr[: size + 1], law.col, law.order[:count]
    return Cone(D, law.b[:size], friction, normal, tangent, scale, pattern[0], pattern[1], pattern[2])


@kernel
def solve_island(law: LawSpace, cone: Cone, weight: float, rests: bool) -> float:
    """Impulses near those in ``x``, in their place, and their defect over the scale."""
    size, count, largest = cone.b.size, cone.friction.size, 0.0
    for i in range(size):
        largest = max(largest, cone.D[i, i])
    whole, v = law.whole, law.vectors
    pairs = block(law.by_contact[3 * count :], 0, 15, count)
    for k in range(count):
        for i in range(15):
            pairs[i, k] = 0.0
    space = Space(
        block(law.matrix, 0, size, size),
        whole[:size],
        whole[size : 2 * size],
        whole[2 * size : 3 * size],
        whole[3 * size : 4 * size],
        v[:size],
        v[size : 2 * size],
        v[2 * size : 3 * size],
        v[3 * size : 4 * size],
        v[4 * size : 5 * size],
        v[5 * size : 6 * size],
        v[6 * size : 7 * size],
        v[7 * size : 8 * size],
        law.turning,
        law.along,
        law.state,
        pairs,
    )
    defect = near(cone, law.x[:size], weight * largest, rests, space, block(law.point, 0, 2, size))
    return defect if defect == defect else math.inf
