"""Laws of islands of contacts: by a dense D, or by a factor of the bodies where there are more contacts."""

from __future__ import annotations

import math

from ....contacts.compiled.coupled import NOTHING, Chain, Coupled, moved, spread
from ....contacts.compiled.island_space import LARGEST, Island, LawSpace
from ....contacts.compiled.near import near
from ....contacts.compiled.near_coupled import near_coupled
from ....contacts.compiled.problem import Cone, Space
from ....numerics.arrays import Array
from ....numerics.compiled.algebra.band import stored
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import padded
from ..memory.memory import Memory, block
from .bearings import friction_of
from .bodies import are_apart
from .islands import assemble, by_itself, rows_of

FEW, UNEVEN = 8, 1e3
"""Contacts up to which D is dense, where its diagonal differs by less than this."""


@kernel
def prepare(
    m: Memory,
    axes: tuple[int, ...],
    law: LawSpace,
    ends: tuple[int, int],
    scale: float,
    again: bool,
) -> Island:
    """The law of an island; ``again`` if it is the last one that was prepared, with the same rows.

    Of one that is too large for loops it has no contacts.
    """
    (first, last), n = ends, m.strike_rate.shape[2]
    count, r, bodies, reach = last - first, rows_of(m, axes, first, last), 0, 0
    if are_apart(m) and (count > FEW or _is_uneven(m, first, count)):
        if again and law.made[1] == first + 1:
            return Island(first, count, r, scale, law.made[2], law.made[3])
        bodies, reach = _order(m, law, first, count)
        if bodies * n * stored(n * reach + n - 1) > law.band.size:
            bodies = 0
    if bodies == 0 and r * count > LARGEST:
        return Island(first, 0, r, scale, 0, 0)
    island = Island(first, count, r, scale, bodies, reach)
    if bodies > 0:
        _find_steps(m, law.steps, island)
        _gather(m, law, island)
    else:
        _find_steps(m, law.by_contact, island)
        assemble(m, law, island)
    return island


@kernel
def _find_steps(m: Memory, out: Array, island: Island) -> None:
    """Coefficients of friction, and steps of the natural map, of the contacts of an island."""
    count = island.contacts
    for k in range(count):
        c, along = m.strike_member[island.first + k], 0.0
        for i in range(1, island.rows):
            along = max(along, by_itself(m, c, i))
        out[k], out[count + k] = friction_of(m, c), 1.0 / by_itself(m, c, 0)
        out[2 * count + k] = 1.0 / along if along > 0.0 else 1.0


@kernel
def _is_uneven(m: Memory, first: int, count: int) -> bool:
    """Whether masses differ so much that weights are those of each contact."""
    least, largest = math.inf, 0.0
    for k in range(count):
        own = by_itself(m, m.strike_member[first + k], 0)
        least, largest = min(least, own), max(largest, own)
    return largest > UNEVEN * least


@kernel
def _order(m: Memory, law: LawSpace, first: int, count: int) -> tuple[int, int]:
    """Bodies of an island in the order of their neighbours, from one at its end; their number and their reach."""
    begin, bodies, reach = -1, 0, 0
    for k in range(count):
        for side in range(2):
            begin = max(begin, m.contacts_sides[m.strike_member[first + k], side])
    for _ in range(3):
        bodies = _go_along(m, law, begin, first, count)
        begin = law.place[1, bodies - 1]
    for k in range(count):
        c = m.strike_member[first + k]
        b, other = m.contacts_sides[c, 0], m.contacts_sides[c, 1]
        if b >= 0 and other >= 0:
            reach = max(reach, abs(law.place[0, b] - law.place[0, other]))
    return bodies, reach


@kernel
def _go_along(m: Memory, law: LawSpace, begin: int, first: int, count: int) -> int:
    """Places of the bodies of an island, breadth first; their number."""
    place, queue = law.place[0], law.place[1]
    for k in range(count):
        for side in range(2):
            b = m.contacts_sides[m.strike_member[first + k], side]
            if b >= 0:
                place[b] = -1
    queue[0], place[begin], at, end = begin, 0, 0, 1
    while at < end:
        link = m.strike_head[queue[at]]
        while link >= 0:
            b = m.contacts_sides[link // 2, 1 - link % 2]
            if b >= 0 and place[b] < 0:
                queue[end], place[b] = b, end
                end += 1
            link = m.strike_link[link]
        at += 1
    return end


@kernel
def _gather(m: Memory, law: LawSpace, island: Island) -> None:
    """Blocks of the contacts of an island at its bodies."""
    law.made[0], law.made[1] = 0, island.first + 1
    law.made[2], law.made[3] = island.bodies, island.reach
    for k in range(island.contacts):
        c = m.strike_member[island.first + k]
        for side in range(2):
            b = m.contacts_sides[c, side]
            law.side[k, side] = law.place[0, b] if b >= 0 else -1
            for i in range(island.rows):
                for a in range(m.strike_rate.shape[2]):
                    law.rate[2 * k + side, i, a] = m.strike_rate[2 * c + side, i, a]
                    law.answer[2 * k + side, i, a] = m.strike_answer[2 * c + side, i, a]


@kernel
def _coupled(law: LawSpace, island: Island) -> Coupled:
    """The law of an island by its bodies."""
    count, own, size = island.contacts, law.steps, island.rows * island.contacts
    steps = own[:count], own[count : 2 * count], own[2 * count : 3 * count]
    b, given = law.b[:size], law.given[:size]
    return Coupled(law.side, law.rate, law.answer, b, given, steps[0], steps[1], steps[2], island.scale, island.rows)


@kernel
def _chain(law: LawSpace, island: Island) -> Chain:
    """What is overwritten for it."""
    n = law.rate.shape[2]
    N, half = n * island.bodies, n * island.reach + n - 1
    band, pivot, z = block(law.band, 0, N, stored(half)), law.pivot[:N], law.z[:N]
    gains, space = (law.kept_gain, law.gain), (law.of_bodies, law.state, law.pairs)
    return Chain(half, band, pivot, law.made, gains[0], gains[1], law.pull, z, space[0], space[1], space[2])


@kernel
def move(law: LawSpace, island: Island, x: Array, out: Array) -> None:
    """D Λ."""
    size = island.rows * island.contacts
    if island.bodies > 0:
        p, s = _coupled(law, island), _chain(law, island)
        spread(p, x[:size], law.of_bodies[NOTHING], s)
        for k in range(island.contacts):
            for i in range(island.rows):
                out[i * island.contacts + k] = moved(p, k, i, s)
        return
    D = block(law.D, 0, size, size)
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += D[i, j] * x[j]
        out[i] = total


@kernel
def solve_island(law: LawSpace, island: Island, weight: float, rests: bool) -> float:
    """Impulses near those in ``x``, in their place, and their defect over the scale.

    ``weight`` is that on what changes, over the diagonal of D or its largest entry.
    """
    size = island.rows * island.contacts
    if island.bodies > 0:
        defect = near_coupled(_coupled(law, island), law.x[:size], weight, rests, _chain(law, island))
        return defect if defect == defect else math.inf
    move(law, island, law.given, law.moved)
    for i in range(size):
        law.b[i] -= law.moved[i]
    defect = _near(law, island, weight, rests)
    for i in range(size):
        law.b[i] += law.moved[i]
    return defect if defect == defect else math.inf


@kernel
def _near(law: LawSpace, island: Island, weight: float, rests: bool) -> float:
    """Impulses by a dense D."""
    size, count, largest, own = island.rows * island.contacts, island.contacts, 0.0, law.by_contact
    wide = padded(size)
    D, whole, v = block(law.D, 0, size, size), law.whole, law.vectors
    for i in range(size):
        largest = max(largest, D[i, i])
    pairs = block(own[3 * count :], 0, 15, count)
    for k in range(count):
        for i in range(15):
            pairs[i, k] = 0.0
    steps = own[:count], own[count : 2 * count], own[2 * count : 3 * count]
    pattern = law.ptr[: size + 1], law.col, law.order[:count]
    cone = Cone(D, law.b[:size], steps[0], steps[1], steps[2], island.scale, pattern[0], pattern[1], pattern[2])
    space = Space(
        block(law.matrix, 0, size, wide),
        whole[:size],
        whole[size : 2 * size],
        whole[2 * size : 3 * size],
        whole[3 * size : 4 * size],
        v[:size],
        v[wide : wide + size],
        v[2 * wide : 2 * wide + size],
        v[3 * wide : 3 * wide + size],
        v[4 * wide : 4 * wide + size],
        v[5 * wide : 5 * wide + size],
        v[6 * wide : 6 * wide + size],
        v[7 * wide : 7 * wide + size],
        law.turning,
        law.along,
        law.state,
        pairs,
    )
    return near(cone, law.x[:size], weight * largest, rests, space, block(law.point, 0, 2, size))
