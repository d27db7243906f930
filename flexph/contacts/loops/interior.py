"""Interior point method for many plane contacts, used to find their states if Newton's method cycles.

Each contact is open, sticks or slips. With the slacks s of the normal rates and of the rates in
both directions of the tangent, p = μΛ_N + Λ_T and m = μΛ_N − Λ_T, the conditions are

    y_N = s_N,  y_T = s_p − s_m,    Λ_N s_N = p s_p = m s_m = τ → 0,    all positive.

Predictor and corrector (Mehrotra, SIAM J. Optim. 2 (1992) 575) use the same sparse matrix. Coulomb's law is not the
optimality condition of a minimisation, as friction does not open the gap; with given slips σ it becomes one, with the
same products:

    y_N + μσ = s_N + μ(s_p + s_m),    at the end σ = s_p + s_m = |y_T|

(De Saxcé and Feng, Math. Comput. Model. 28 (1998) 225). The minimisation always has a solution; with σ = 0 this is the
state of rest if impulses in the friction cones can hold the bodies. σ is updated from one minimum to the next.

The matrix D, which maps impulses to changes of rates, is dense here. A factor such as Λ_N and its slack, such as s_N,
are a pair. In the minimisation with zero slips (``held``), contacts with friction have no normal pair.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs
    from math import inf as INFINITY

    from ...numerics.algebra.dense import solve
    from ...numerics.algebra.elimination import factor
    from ...numerics.loops.views import larger, part, smaller
    from .newton import SOLVED, add_row, newton, rates_at
    from .problem import Cone, Space


STEPS = cython.declare(cython.Py_ssize_t, 40)
POLISHED = cython.declare(cython.Py_ssize_t, 6)
"""Largest number of steps (about 15 are usually needed), and of Newton steps from each point."""
NEAR = cython.declare(cython.double, 1e-12)
ENDED = cython.declare(cython.double, 1e-18)
MISSED = cython.declare(cython.double, 1e-9)
ASTRAY = cython.declare(cython.double, 1e3)
SHORT = cython.declare(cython.double, 0.99)
"""Relative mean product at which Newton's method is tried, and that at which the iteration stops; relative error of
rates; ratio of the mean product to the smallest one at which round-off stops the iteration; fraction that is taken of a
step to the boundary, where a factor or slack becomes zero."""
FACTOR = cython.declare(cython.Py_ssize_t, 0)
SLACK = cython.declare(cython.Py_ssize_t, 3)
WAY = cython.declare(cython.Py_ssize_t, 6)
CHANGE = cython.declare(cython.Py_ssize_t, 9)
WANTED = cython.declare(cython.Py_ssize_t, 12)
"""First rows, in ``Space.pairs``, of factors (Λ_N, p, m), slacks, steps of both, and wanted products."""


def _pairs_of(p: Cone, k: int, m: int) -> int:
    """Number of pairs of contact k: one for the normal, and with friction two more for both directions of the tangent.

    ``m`` is the number of impulses of all contacts.
    """
    return 3 if m > p.friction.size and p.friction[k] > 0.0 else 1


def _first(p: Cone, k: int, m: int, held: bool) -> int:
    """Index of the first pair of contact k: 1 if the normal pair is left out (``held``, with friction), else 0."""
    return 1 if held and _pairs_of(p, k, m) > 1 else 0


def _set_start(p: Cone, x: Array, space: Space) -> None:
    """Write the starting point at the scale of the problem: impulses into x, factors and slacks into ``space``."""
    c = p.friction.size
    m = x.size
    s = space.pairs
    for i in range(m):
        x[i] = 0.0
    for k in range(c):
        x[k] = p.scale * p.normal_step[k]
        s[FACTOR][k] = x[k]
        s[SLACK][k] = p.scale
        for e in range(1, 3):
            s[FACTOR + e][k] = p.friction[k] * x[k]
            s[SLACK + e][k] = p.scale


def _mean(p: Cone, m: int, held: bool, share: float, space: Space) -> float:
    """Mean over all pairs of the product of factor and slack after a fraction ``share`` of the step."""
    count = cython.declare(cython.Py_ssize_t)
    s = space.pairs
    total = 0.0
    count = 0
    for k in range(p.friction.size):
        for e in range(_first(p, k, m, held), _pairs_of(p, k, m)):
            factor_ = s[FACTOR + e][k] + share * s[WAY + e][k]
            slack = s[SLACK + e][k] + share * s[CHANGE + e][k]
            total += factor_ * slack
            count += 1
    return total / count


def _longest(p: Cone, m: int, held: bool, space: Space) -> float:
    """Largest fraction of the step, at most 1, that keeps all factors and slacks positive."""
    s = space.pairs
    share = 1.0
    for k in range(p.friction.size):
        for e in range(_first(p, k, m, held), _pairs_of(p, k, m)):
            if s[WAY + e][k] < 0.0:
                share = smaller(share, -s[FACTOR + e][k] / s[WAY + e][k])
            if s[CHANGE + e][k] < 0.0:
                share = smaller(share, -s[SLACK + e][k] / s[CHANGE + e][k])
    return share


def _factor(p: Cone, count: int, m: int, held: bool, space: Space) -> bool:
    """Assemble and factorise the Newton matrix (count, count) of impulses in ``space.own``; False if it is singular.

    It is D plus diagonal blocks of the ratios of slacks to factors.
    """
    c = p.friction.size
    s = space.pairs
    for i in range(m):
        space.place[i] = -1
    for a in range(count):
        space.place[space.own[a]] = a
    for a in range(count):
        for e in range(count):
            space.matrix[a][e] = 0.0
        add_row(p, space.own[a], 1.0, space.matrix[a], space)
    for a in range(count):
        k = space.own[a] % c
        mu = p.friction[space.own[a] % c]
        if space.own[a] < c and _first(p, k, m, held) == 0:
            space.matrix[a][a] += s[SLACK][k] / s[FACTOR][k]
            continue
        one = s[SLACK + 1][k] / s[FACTOR + 1][k]
        other = s[SLACK + 2][k] / s[FACTOR + 2][k]
        if space.own[a] < c:
            space.matrix[a][a] += mu * mu * (one + other)
            space.matrix[a][space.place[c + k]] += mu * (one - other)
        else:
            space.matrix[a][a] += one + other
            space.matrix[a][space.place[k]] += mu * (one - other)
    return factor(space.matrix, space.pivot, space.entries, count)


def _set_step(p: Cone, count: int, m: int, held: bool, space: Space) -> None:
    """Solve for the step of impulses, into ``space.change``, and of factors and slacks, into ``space.pairs``.

    The rows WANTED of ``space.pairs`` have the changes of products that the step should make. The first ``count``
    entries of ``space.own`` are the indices of the impulses that change.
    """
    c = p.friction.size
    s = space.pairs
    y = space.rates
    for a in range(count):
        k = space.own[a] % c
        if space.own[a] < c and _first(p, k, m, held) == 0:
            space.unknown[a] = s[WANTED][k] / s[FACTOR][k] - _normal(p, k, m, held, space)
            continue
        one = s[WANTED + 1][k] / s[FACTOR + 1][k]
        other = s[WANTED + 2][k] / s[FACTOR + 2][k]
        if space.own[a] < c:
            space.unknown[a] = p.friction[k] * (one + other) - _normal(p, k, m, held, space)
        else:
            space.unknown[a] = one - other - (y[c + k] - s[SLACK + 1][k] + s[SLACK + 2][k])
    solve(space.matrix, space.pivot, part(space.unknown, 0, count))
    for i in range(m):
        space.change[i] = 0.0
    for a in range(count):
        space.change[space.own[a]] = space.unknown[a]
    for k in range(c):
        normal = space.change[k]
        s[WAY][k] = normal
        if _pairs_of(p, k, m) > 1:
            tangent = space.change[c + k]
            s[WAY + 1][k] = p.friction[k] * normal + tangent
            s[WAY + 2][k] = p.friction[k] * normal - tangent
        for e in range(_first(p, k, m, held), _pairs_of(p, k, m)):
            s[CHANGE + e][k] = (s[WANTED + e][k] - s[SLACK + e][k] * s[WAY + e][k]) / s[FACTOR + e][k]


def _normal(p: Cone, k: int, m: int, held: bool, space: Space) -> float:
    """Normal rate of contact k minus its value by the slacks: s_N, or μ(s_p + s_m) if the normal pair is left out."""
    s = space.pairs
    if _first(p, k, m, held) == 0:
        return space.rates[k] - s[SLACK][k]
    return space.rates[k] - p.friction[k] * (s[SLACK + 1][k] + s[SLACK + 2][k])


def _rate_error(p: Cone, m: int, held: bool, space: Space) -> float:
    """Largest absolute difference, over all contacts, between rates and their values by the slacks."""
    c = p.friction.size
    s = space.pairs
    y = space.rates
    worst = 0.0
    for k in range(c):
        worst = larger(worst, fabs(_normal(p, k, m, held, space)))
        if _pairs_of(p, k, m) > 1:
            worst = larger(worst, fabs(y[c + k] - s[SLACK + 1][k] + s[SLACK + 2][k]))
    return worst


def interior(p: Cone, x: Array, weight: float, held: bool, space: Space, point: Array) -> float:
    """Write impulses of plane contacts into x, from Newton's method started at interior points; return their defect.

    If no interior point is good enough to start Newton's method, x is unchanged and the defect infinite. ``point``
    (2, m) is work space.
    """
    c = p.friction.size
    m = x.size
    s = space.pairs
    least = INFINITY
    best = INFINITY
    now = point[0]
    size = 0.0
    count = _list_impulses(p, m, space)
    for k in range(c):
        size += p.scale * p.scale * p.normal_step[k] / c
    _set_start(p, now, space)
    for _ in range(STEPS):
        rates_at(p, now, 0.0, now, space.rates)
        product = _mean(p, m, held, 0.0, space)
        least = smaller(least, product)
        if not (ENDED * size < product <= ASTRAY * least):
            break
        if product <= NEAR * size and _rate_error(p, m, held, space) <= MISSED * p.scale:
            for i in range(m):
                point[1][i] = now[i]
            defect = newton(p, point[1], weight, POLISHED, space)
            if defect < best:
                best = defect
                for i in range(m):
                    x[i] = point[1][i]
            if best <= SOLVED:
                break
            count = _list_impulses(p, m, space)
            rates_at(p, now, 0.0, now, space.rates)
        if not _factor(p, count, m, held, space):
            break
        for k in range(c):
            for e in range(_first(p, k, m, held), _pairs_of(p, k, m)):
                s[WANTED + e][k] = -s[FACTOR + e][k] * s[SLACK + e][k]
        _set_step(p, count, m, held, space)
        centre = smaller(1.0, larger(1e-6, (_mean(p, m, held, _longest(p, m, held, space), space) / product) ** 3))
        for k in range(c):
            for e in range(_first(p, k, m, held), _pairs_of(p, k, m)):
                done = s[FACTOR + e][k] * s[SLACK + e][k] + s[WAY + e][k] * s[CHANGE + e][k]
                s[WANTED + e][k] = centre * product - done
        _set_step(p, count, m, held, space)
        share = smaller(1.0, SHORT * _longest(p, m, held, space))
        for k in range(c):
            for e in range(_first(p, k, m, held), _pairs_of(p, k, m)):
                s[FACTOR + e][k] += share * s[WAY + e][k]
                s[SLACK + e][k] += share * s[CHANGE + e][k]
        for i in range(m):
            now[i] += share * space.change[i]
    return best


def _list_impulses(p: Cone, m: int, space: Space) -> int:
    """Write the indices of all impulses that can be nonzero into ``space.own``; return their number."""
    count = cython.declare(cython.Py_ssize_t)
    c = p.friction.size
    count = 0
    for l in range(c):
        k = p.order[l]
        for i in range(m // c if p.friction[k] > 0.0 else 1):
            space.own[count] = i * c + k
            count += 1
    return count
