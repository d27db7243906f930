"""Laws of the contacts of an island: what they are of, impulses that obey them, and how far these miss them."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....contacts.compiled.near import near
from ....contacts.compiled.newton import TINY
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
def move(D: Array, x: Array, out: Array) -> None:
    """D Λ."""
    for i in range(D.shape[0]):
        total = 0.0
        for j in range(D.shape[0]):
            total += D[i, j] * x[j]
        out[i] = total


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


@kernel
def missed_by(m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], c: int) -> float:
    """What the impulses and rates of a contact miss of its law [m/s] (see contacts.cones)."""
    own, r = m.strike_impulse[0, c], 1.0 / by_itself(m, coupled, c, 0)
    missed = abs(own - max(own - r * m.strike_rates[0, c], 0.0)) / r
    if m.contacts_friction[c] == 0.0:
        return missed
    along, square = 0.0, 0.0
    for i in range(1, len(axes)):
        along = max(along, by_itself(m, coupled, c, i))
    for i in range(1, len(axes)):
        trial = m.strike_impulse[i, c] - m.strike_rates[i, c] / along
        square += trial * trial
    share = min(1.0, m.contacts_friction[c] * max(own, 0.0) / max(math.sqrt(square), TINY))
    for i in range(1, len(axes)):
        trial = m.strike_impulse[i, c] - m.strike_rates[i, c] / along
        missed = max(missed, abs(m.strike_impulse[i, c] - share * trial) * along)
    return missed


@kernel
def by_itself(m: Memory, coupled: tuple[int, ...], c: int, r: int) -> float:
    """What a unit impulse of a contact changes of its own rate."""
    total = m.strike_own[r, c] if len(coupled) > 0 else 0.0
    for side in range(2):
        if m.contacts_sides[c, side] >= 0 and len(coupled) == 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side, r, a] * m.strike_answer[2 * c + side, r, a]
    return total if total > 0.0 else 1.0
