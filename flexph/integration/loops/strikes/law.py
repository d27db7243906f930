"""Solution of the contact laws of islands, with a dense D or, for larger islands, a banded factor of the bodies.

An island is a set of contacts that share bodies; its compliance D maps impulses to changes of the rates of gaps and
slips. The proximal weight multiplies the changes of the impulses, which are added to the rates: it makes redundant
impulses unique.
"""

from __future__ import annotations

import cython

from ....contacts.loops.island_space import LARGEST as _LARGEST
from ....numerics.arrays import Array

if not cython.compiled:
    from math import inf as INFINITY

    from ....contacts.loops.coupled import NOTHING, add_impulses, rate_change
    from ....contacts.loops.island_space import Island, LawSpace
    from ....contacts.loops.problem import Chain, Cone, Coupled, Space
    from ....contacts.loops.proximal import solve_proximal
    from ....contacts.loops.proximal_coupled import proximal_coupled
    from ....numerics.algebra.halves import rows_of_halves
    from ....numerics.loops.views import absolute_int, block, larger, larger_int, padded, part, smaller, stored
    from ..memory.memory import Memory
    from .bearings import friction_of
    from .bodies import are_apart
    from .islands import assemble, diagonal_response, rows_of

LARGEST = cython.declare(cython.Py_ssize_t, _LARGEST)


FEW = cython.declare(cython.Py_ssize_t, 8)
UNEVEN = cython.declare(cython.double, 1e3)
"""Number of contacts up to which D is dense, unless the ratio of its largest to its least normal diagonal entry exceeds
the second number."""


def prepare(m: Memory, dim: int, law: LawSpace, ends: tuple[int, int], scale: float, again: bool) -> Island:
    """Prepare the contact law of the island with the members from ``ends[0]`` to ``ends[1]`` (exclusive).

    ``scale`` is the scale of the rates [m/s]. ``again`` is True if rows of the last prepared island may be reused. An
    island that is too large for the loops is returned with zero contacts.
    """
    first, last = ends
    n = m.strike_rate.shape[2]
    count = last - first
    r = rows_of(m, dim, first, last)
    bodies = 0
    reach = 0
    if are_apart(m) and (count > FEW or _is_uneven(m, first, count)):
        if again and law.made[1] == first + 1:
            return Island(first, count, r, scale, law.made[2], law.made[3])
        bodies, reach = _order(m, law, first, count)
        half = n * reach + n - 1
        if rows_of_halves(bodies * n, half) * stored(half) > law.band.size:
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


def _find_steps(m: Memory, out: Array, island: Island) -> None:
    """Write the friction coefficients of an island's contacts into ``out``, and the step lengths of their law.

    The step lengths are reciprocal responses: of the normal row, and of the largest tangential one.
    """
    count = island.contacts
    for k in range(count):
        c = m.strike_member[island.first + k]
        along = 0.0
        for i in range(1, island.rows):
            along = larger(along, diagonal_response(m, c, i))
        out[k] = friction_of(m, c)
        out[count + k] = 1.0 / diagonal_response(m, c, 0)
        out[2 * count + k] = 1.0 / along if along > 0.0 else 1.0


def _is_uneven(m: Memory, first: int, count: int) -> bool:
    """True if the normal responses of ``count`` contacts differ so much that each needs its own proximal weight."""
    least = INFINITY
    largest = 0.0
    for k in range(count):
        response = diagonal_response(m, m.strike_member[first + k], 0)
        least = smaller(least, response)
        largest = larger(largest, response)
    return largest > UNEVEN * least


def _order(m: Memory, law: LawSpace, first: int, count: int) -> tuple[int, int]:
    """Order the bodies of an island breadth first, from one at its end; return their number and half bandwidth.

    The half bandwidth is the largest distance in this order of two bodies that touch.
    """
    begin = -1
    bodies = 0
    reach = 0
    for k in range(count):
        for side in range(2):
            begin = larger_int(begin, m.contacts_sides[m.strike_member[first + k]][side])
    for _ in range(3):
        bodies = _number_bodies(m, law, begin, first, count)
        begin = law.place[1][bodies - 1]
    for k in range(count):
        c = m.strike_member[first + k]
        b = m.contacts_sides[c][0]
        other = m.contacts_sides[c][1]
        if b >= 0 and other >= 0:
            reach = larger_int(reach, absolute_int(law.place[0][b] - law.place[0][other]))
    return bodies, reach


def _number_bodies(m: Memory, law: LawSpace, begin: int, first: int, count: int) -> int:
    """Number the bodies of an island breadth first from body ``begin``; return how many there are."""
    at = cython.declare(cython.Py_ssize_t)
    end = cython.declare(cython.Py_ssize_t)
    place = law.place[0]
    queue = law.place[1]
    for k in range(count):
        for side in range(2):
            b = m.contacts_sides[m.strike_member[first + k]][side]
            if b >= 0:
                place[b] = -1
    queue[0] = begin
    place[begin] = 0
    at = 0
    end = 1
    while at < end:
        link = m.strike_head[queue[at]]
        while link >= 0:
            b = m.contacts_sides[link // 2][1 - link % 2]
            if b >= 0 and place[b] < 0:
                queue[end] = b
                place[b] = end
                end += 1
            link = m.strike_link[link]
        at += 1
    return end


def _gather(m: Memory, law: LawSpace, island: Island) -> None:
    """Copy the rows and responses of an island's contacts into ``law``, to solve for velocities of its bodies.

    Also store the position of the bodies of each contact in their order, and mark the band as not factored
    (``law.made``).
    """
    law.made[0] = 0
    law.made[1] = island.first + 1
    law.made[2] = island.bodies
    law.made[3] = island.reach
    for k in range(island.contacts):
        c = m.strike_member[island.first + k]
        for side in range(2):
            b = m.contacts_sides[c][side]
            law.side[k][side] = -1
            if b >= 0:
                law.side[k][side] = law.place[0][b]
            for i in range(island.rows):
                for a in range(m.strike_rate.shape[2]):
                    law.rate[2 * k + side][i][a] = m.strike_rate[2 * c + side][i][a]
                    law.answer[2 * k + side][i][a] = m.strike_answer[2 * c + side][i][a]


def _law_by_bodies(law: LawSpace, island: Island) -> Coupled:
    """Contact law of an island whose compliance is given by the rows and responses of its bodies.

    See contacts.loops.
    """
    count = island.contacts
    steps = law.steps
    size = island.rows * island.contacts
    steps_0 = part(steps, 0, count)
    steps_1 = part(steps, count, 2 * count)
    steps_2 = part(steps, 2 * count, 3 * count)
    b = part(law.b, 0, size)
    given = part(law.given, 0, size)
    return Coupled(law.side, law.rate, law.answer, b, given, steps_0, steps_1, steps_2, island.scale, island.rows)


def _velocity_space(law: LawSpace, island: Island) -> Chain:
    """Work space to solve the contact law of an island in the velocities of its bodies, as views of ``law``."""
    n = law.rate.shape[2]
    N = n * island.bodies
    half = n * island.reach + n - 1
    rows = rows_of_halves(N, half)
    band = block(law.band, 0, rows, stored(half))
    pivot = part(law.pivot, 0, rows)
    z = part(law.z, 0, N)
    other = part(law.z, N, 2 * N)
    return Chain(
        half,
        band,
        pivot,
        law.made,
        law.kept_gain,
        law.gain,
        law.pull,
        z,
        other,
        law.of_bodies,
        law.state,
        law.pairs,
    )


def multiply_compliance(law: LawSpace, island: Island, x: Array, out: Array) -> None:
    """Write the product D x of the compliance of an island and impulses x into ``out``."""
    size = island.rows * island.contacts
    if island.bodies > 0:
        p = _law_by_bodies(law, island)
        s = _velocity_space(law, island)
        add_impulses(p, part(x, 0, size), law.of_bodies[NOTHING], s)
        for k in range(island.contacts):
            for i in range(island.rows):
                out[i * island.contacts + k] = rate_change(p, k, i, s)
        return
    D = block(law.D, 0, size, size)
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += D[i][j] * x[j]
        out[i] = total


def solve_island(law: LawSpace, island: Island, weight: float, rests: bool) -> float:
    """Solve the contact law of an island for impulses near those in ``law.x``, and overwrite these.

    Returns the defect, divided by the scale. ``weight`` is the proximal weight, divided by the diagonal of D (law by
    bodies) or by its largest entry. ``rests`` is True if the bodies are at rest at the start.
    """
    size = island.rows * island.contacts
    if island.bodies > 0:
        p = _law_by_bodies(law, island)
        s = _velocity_space(law, island)
        defect = proximal_coupled(p, part(law.x, 0, size), weight, rests, s)
        return defect if defect == defect else INFINITY
    multiply_compliance(law, island, law.given, law.moved)
    for i in range(size):
        law.b[i] -= law.moved[i]
    defect = _solve_dense(law, island, weight, rests)
    for i in range(size):
        law.b[i] += law.moved[i]
    return defect if defect == defect else INFINITY


def _solve_dense(law: LawSpace, island: Island, weight: float, rests: bool) -> float:
    """Solve the contact law of an island with a dense D for impulses; return the defect, divided by the scale."""
    size = island.rows * island.contacts
    count = island.contacts
    largest = 0.0
    problem = law.by_contact
    wide = padded(size)
    D = block(law.D, 0, size, size)
    whole = law.whole
    v = law.vectors
    for i in range(size):
        largest = larger(largest, D[i][i])
    pairs = block(part(problem, 3 * count, problem.shape[0]), 0, 15, count)
    for k in range(count):
        for i in range(15):
            pairs[i][k] = 0.0
    steps_0 = part(problem, 0, count)
    steps_1 = part(problem, count, 2 * count)
    steps_2 = part(problem, 2 * count, 3 * count)
    pattern_0 = part(law.ptr, 0, size + 1)
    pattern_2 = part(law.order, 0, count)
    cone = Cone(D, part(law.b, 0, size), steps_0, steps_1, steps_2, island.scale, pattern_0, law.col, pattern_2)
    space = Space(
        block(law.matrix, 0, size, wide),
        part(whole, 0, size),
        part(whole, size, 2 * size),
        part(whole, 2 * size, 3 * size),
        part(whole, 3 * size, 4 * size),
        part(v, 0, size),
        part(v, wide, wide + size),
        part(v, 2 * wide, 2 * wide + size),
        part(v, 3 * wide, 3 * wide + size),
        part(v, 4 * wide, 4 * wide + size),
        part(v, 5 * wide, 6 * wide),  # rates, with what whole lanes write
        part(v, 6 * wide, 6 * wide + size),
        part(v, 7 * wide, 7 * wide + size),
        law.turning,
        law.along,
        law.state,
        pairs,
    )
    return solve_proximal(cone, part(law.x, 0, size), weight * largest, rests, space, block(law.point, 0, 2, size))
