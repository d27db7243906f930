"""Compiled semismooth Newton method on the sets of open, sticking and slipping contacts.

Vectors have all normal entries first, then those along each tangent. With a proximal weight w on the change from
impulses Λ̂, the rates are y = b + D Λ + w (Λ − Λ̂). The defect of the laws is the natural map, Λ minus the projection
of Λ − r y on the friction cone, with step lengths r of each contact. tests/samples/cones.py is a reference in NumPy.

The unknowns of a step are the impulses of closed contacts, each with a condition: the normal rate is zero, and the
rates along the tangents if the contact sticks. If it slips, its friction is μΛ_N in the direction of Λ_T − r y_T.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt
    from math import inf as INFINITY

    from ...numerics.algebra.dense import solve
    from ...numerics.algebra.elimination import factor
    from ...numerics.loops.views import entries, larger, part
    from .problem import AnyLaws, Cone, Space


TINY = cython.declare(cython.double, 1e-300)
HUGE = cython.declare(cython.double, 1e12)
"""Least sizes in denominators, and relative size of impulses that have diverged."""
SOLVED = cython.declare(cython.double, 1e-11)
EXACT = cython.declare(cython.double, 1e-14)
"""Relative defects of a solution, and of one that need not be improved (see tests/samples/complementarity.py)."""


def rates_at(p: Cone, x: Array, weight: float, centre: Array, out: Array) -> None:
    """Write the rates y = b + D x + w (x − Λ̂) at impulses x into ``out``.

    ``weight`` is w, ``centre`` is Λ̂.
    """
    m = x.size
    for i in range(m):
        total = p.b[i] + weight * (x[i] - centre[i])
        row = p.D[i]
        for e in range(p.ptr[i], p.ptr[i + 1]):
            total += row[p.col[e]] * x[p.col[e]]
        out[i] = total


def defect_of(p: AnyLaws, x: Array, y: Array) -> float:
    """Relative defect of impulses x with rates y: largest entry of the natural map over step length and scale.

    Infinite for NaN.
    """
    slips = cython.declare(cython.bint)
    c = entries(p.friction)
    worst = 0.0
    t = x.size // c - 1
    for k in range(c):
        r = p.normal_step[k]
        s = p.tangent_step[k]
        worst = larger(worst, fabs(x[k] - larger(x[k] - r * y[k], 0.0)) / r)
        if t > 0:
            square = 0.0
            for i in range(1, t + 1):
                trial = x[i * c + k] - s * y[i * c + k]
                square += trial * trial
            bound = p.friction[k] * larger(x[k], 0.0)
            slips = square > bound * bound
            size = sqrt(square) if slips else 1.0
            for i in range(1, t + 1):
                trial = x[i * c + k] - s * y[i * c + k]
                wanted = bound * (trial / size) if slips else trial
                worst = larger(worst, fabs(x[i * c + k] - wanted) / s)
    return worst / p.scale if worst == worst else INFINITY


def _set_states(p: Cone, x: Array, y: Array, space: Space) -> int:
    """Set the states of all contacts (open, without friction, sticking, slipping) at impulses x with rates y.

    Also writes the defects of their conditions, and lists the impulses that are not zero in ``space.own``. Returns the
    number of these, the unknowns.
    """
    count = cython.declare(cython.Py_ssize_t)
    is_open = cython.declare(cython.bint)
    c = p.friction.size
    count = 0
    t = x.size // c - 1
    for k in range(c):
        r = p.normal_step[k]
        is_open = x[k] - r * y[k] <= 0.0
        space.state[k] = 0
        if not is_open:
            space.state[k] = 1
        space.missed[k] = y[k]
        if t > 0 and not is_open and p.friction[k] > 0.0:
            _set_friction_state(p, k, t, x, y, space)
    for l in range(c):
        k = p.order[l]
        for i in range(t + 1 if space.state[k] > 1 else 1 if space.state[k] > 0 else 0):
            space.own[count] = i * c + k
            count += 1
    return count


def _set_friction_state(p: Cone, k: int, t: int, x: Array, y: Array, space: Space) -> None:
    """Set the state of closed contact k with friction: sticking or slipping.

    Also writes the direction of friction in slip, the defects of the conditions along the tangents, and the derivatives
    of these defects with respect to the rates.
    """
    slips = cython.declare(cython.bint)
    c = p.friction.size
    s = p.tangent_step[k]
    square = 0.0
    for i in range(t):
        trial = x[(i + 1) * c + k] - s * y[(i + 1) * c + k]
        space.along[k][i] = trial
        square += trial * trial
    size = larger(sqrt(square), TINY)
    bound = p.friction[k] * larger(x[k], 0.0)
    slips = size > bound
    space.state[k] = 2
    if slips:
        space.state[k] = 3
    for i in range(t):
        space.along[k][i] /= size
    for i in range(t):
        at = (i + 1) * c + k
        space.missed[at] = (x[at] - bound * space.along[k][i]) / s if slips else y[at]
        for j in range(t):
            unit = 1.0 if i == j else 0.0
            turned = bound / size * (unit - space.along[k][i] * space.along[k][j])
            space.turning[k][i][j] = turned if slips else unit


def _conditions(p: Cone, at: int, c: int, row: Array, space: Space) -> float:
    """Change of the condition of the unknown impulse with the index ``at`` by given changes ``row`` of all rates.

    The conditions are those of the module docstring. ``c`` is the number of contacts.
    """
    k = at % c
    i = at // c
    if i == 0:
        value: float = row[k]
        return value
    total = 0.0
    for j in range(row.size // c - 1):
        total += space.turning[k][i - 1][j] * row[(j + 1) * c + k]
    return total


def _assemble(p: Cone, count: int, weight: float, space: Space) -> None:
    """Assemble the derivatives of the conditions with respect to the unknown impulses into ``space.matrix``."""
    slips = cython.declare(cython.bint)
    c = p.friction.size
    m = p.b.size
    t = m // c - 1
    for i in range(m):
        space.place[i] = -1
    for a in range(count):
        space.place[space.own[a]] = a
    for a in range(count):
        at = space.own[a]
        row = space.matrix[a]
        for e in range(count):
            row[e] = 0.0
        if at < c:
            add_row(p, at, 1.0, row, space)
            row[a] += weight
            continue
        k = at % c
        i = at // c - 1
        s = p.tangent_step[k]
        slips = space.state[k] == 3
        for j in range(t):
            turned = space.turning[k][i][j]
            if turned != 0.0:
                add_row(p, (j + 1) * c + k, turned, row, space)
                row[space.place[(j + 1) * c + k]] += weight * turned
            if slips:
                row[space.place[(j + 1) * c + k]] += ((1.0 if i == j else 0.0) - turned) / s
        if slips:
            row[space.place[k]] -= p.friction[k] * space.along[k][i] / s


def add_row(p: Cone, at: int, gain: float, row: Array, space: Space) -> None:
    """Add ``gain`` times the derivatives of the rate with the index ``at`` by the unknown impulses to ``row``."""
    given = p.D[at]
    for e in range(p.ptr[at], p.ptr[at + 1]):
        column = space.place[p.col[e]]
        if column >= 0:
            row[column] += gain * given[p.col[e]]


def take_newton_step(p: Cone, x: Array, y: Array, weight: float, space: Space) -> bool:
    """Change impulses x, whose rates are y, by one Newton step; False if the matrix of the conditions is singular."""
    moves = cython.declare(cython.bint)
    c = p.friction.size
    m = x.size
    count = _set_states(p, x, y, space)
    moves = False
    for i in range(m):
        space.change[i] = -x[i]
    for a in range(count):
        space.change[space.own[a]] = 0.0
    for i in range(m):
        moves = moves or space.change[i] != 0.0
    if moves:
        for i in range(m):
            total = weight * space.change[i]
            row = p.D[i]
            for e in range(p.ptr[i], p.ptr[i + 1]):
                total += row[p.col[e]] * space.change[p.col[e]]
            space.right[i] = total
    for a in range(count):
        at = space.own[a]
        missed = space.missed[at]
        if moves:
            missed += _conditions(p, at, c, space.right, space)
        space.unknown[a] = -missed
    _assemble(p, count, weight, space)
    if not factor(space.matrix, space.pivot, space.entries, count):
        return False
    solve(space.matrix, space.pivot, part(space.unknown, 0, count))
    for a in range(count):
        space.change[space.own[a]] = space.unknown[a]
    for i in range(m):
        x[i] += space.change[i]
    return True


def newton(p: Cone, start: Array, weight: float, steps: int, space: Space) -> float:
    """Improve the impulses ``start`` in place by Newton steps with a proximal weight; return their defect.

    The defect includes the proximal term. The impulses are those of the step with the least defect, of at most
    ``steps``.
    """
    better = cython.declare(cython.bint)
    m = start.size
    x = space.x
    y = space.rates
    most = 0.0
    for i in range(m):
        most = larger(most, p.D[i][i])
        space.best[i] = start[i]
        x[i] = space.best[i]
    most = HUGE * p.scale / larger(most, TINY)
    rates_at(p, x, weight, start, y)
    least = defect_of(p, x, y)
    for _ in range(steps):
        if not take_newton_step(p, x, y, weight, space):
            break
        largest = 0.0
        for i in range(m):
            largest = larger(largest, fabs(x[i])) if x[i] == x[i] else INFINITY
        if not largest < most:
            break
        rates_at(p, x, weight, start, y)
        defect = defect_of(p, x, y)
        better = defect < least
        if better:
            least = defect
            for i in range(m):
                space.best[i] = x[i]
        if least <= (EXACT if better else SOLVED):
            break
    for i in range(m):
        start[i] = space.best[i]
    return least
