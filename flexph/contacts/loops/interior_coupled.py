"""Interior point method with body velocities as unknowns instead of a dense D (see .interior and .coupled).

In the minimisation with zero slips (``held``), contacts with friction have no normal pair.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs
    from math import inf as INFINITY

    from ...numerics.loops.views import copy, fill, larger, part, smaller
    from .coupled import CHANGE, POINT, RATES, TRIED, rates_of, solve_steps
    from .interior import ASTRAY, FACTOR, NEAR, POLISHED, SHORT, SLACK, STEPS, WANTED, WAY
    from .interior import CHANGE as CHANGED
    from .newton import SOLVED
    from .newton_coupled import newton_coupled
    from .problem import Chain, Coupled


LEAST = cython.declare(cython.double, 1e-9)
MISSED = cython.declare(cython.double, 1e-6)
ENDED = cython.declare(cython.double, 1e-15)
NEARER = cython.declare(cython.double, 0.1)
"""Regularisation relative to 1/r; relative error of rates; relative mean products at which the iteration stops and,
compared with the last start of Newton's method, at which that is started again."""


def _pairs_of(p: Coupled, k: int) -> int:
    """Number of pairs of contact k: the normal one, and with friction one for each direction of the tangent."""
    return 3 if p.rows > 1 and p.friction[k] > 0.0 else 1


def _first(p: Coupled, k: int, held: bool) -> int:
    """Index of the first pair of contact k: 1 if the normal pair is left out (``held``, with friction), else 0."""
    return 1 if held and _pairs_of(p, k) > 1 else 0


def _set_start(p: Coupled, x: Array, s: Array) -> None:
    """Write the starting point: impulses into x, factors and slacks into ``s``, at the scale of the problem."""
    fill(x, 0.0)
    for k in range(p.friction.size):
        x[k] = p.scale * p.normal_step[k]
        s[FACTOR][k] = x[k]
        s[SLACK][k] = p.scale
        for e in range(1, 3):
            s[FACTOR + e][k] = p.friction[k] * x[k]
            s[SLACK + e][k] = p.scale


def _mean(p: Coupled, held: bool, share: float, s: Array) -> float:
    """Mean over all pairs of the product of factor and slack after a fraction ``share`` of the step."""
    count = cython.declare(cython.Py_ssize_t)
    total = 0.0
    count = 0
    for k in range(p.friction.size):
        for e in range(_first(p, k, held), _pairs_of(p, k)):
            total += (s[FACTOR + e][k] + share * s[WAY + e][k]) * (s[SLACK + e][k] + share * s[CHANGED + e][k])
            count += 1
    return total / count


def _longest(p: Coupled, held: bool, s: Array) -> float:
    """Largest fraction of the step, at most 1, that keeps all factors and slacks positive."""
    share = 1.0
    for k in range(p.friction.size):
        for e in range(_first(p, k, held), _pairs_of(p, k)):
            if s[WAY + e][k] < 0.0:
                share = smaller(share, -s[FACTOR + e][k] / s[WAY + e][k])
            if s[CHANGED + e][k] < 0.0:
                share = smaller(share, -s[SLACK + e][k] / s[CHANGED + e][k])
    return share


def _normal(p: Coupled, k: int, held: bool, chain: Chain) -> float:
    """Normal rate of contact k minus its value by the slacks: s_N, or μ(s_p + s_m) if the normal pair is left out."""
    s = chain.pairs
    y = chain.vectors[RATES]
    if _first(p, k, held) == 0:
        return y[k] - s[SLACK][k]
    return y[k] - p.friction[k] * (s[SLACK + 1][k] + s[SLACK + 2][k])


def _rate_error(p: Coupled, held: bool, chain: Chain) -> float:
    """Largest absolute difference, over all contacts, between rates and their values by the slacks."""
    c = p.friction.size
    s = chain.pairs
    y = chain.vectors[RATES]
    worst = 0.0
    for k in range(c):
        worst = larger(worst, fabs(_normal(p, k, held, chain)))
        if _pairs_of(p, k) > 1:
            worst = larger(worst, fabs(y[c + k] - s[SLACK + 1][k] + s[SLACK + 2][k]))
    return worst


def _set_step(p: Coupled, held: bool, chain: Chain) -> bool:
    """Solve for the step of impulses, factors and slacks; False if the system is singular.

    The rows WANTED of ``chain.pairs`` have the changes of products that the step should make.
    """
    c = p.friction.size
    s = chain.pairs
    y = chain.vectors[RATES]
    mu = p.friction
    fill(part(chain.gain, 0, c), 0.0)
    for k in range(c):
        least = LEAST / p.normal_step[k]
        if p.rows > 1:
            chain.pull[c + k] = 0.0
        if _pairs_of(p, k) == 1:
            compliance = s[SLACK][k] / s[FACTOR][k] + least
            chain.gain[k][0][0] = 1.0 / compliance
            chain.pull[k] = (s[WANTED][k] / s[FACTOR][k] - _normal(p, k, held, chain)) / compliance
            continue
        one = s[SLACK + 1][k] / s[FACTOR + 1][k]
        other = s[SLACK + 2][k] / s[FACTOR + 2][k]
        to = s[WANTED + 1][k] / s[FACTOR + 1][k]
        fro = s[WANTED + 2][k] / s[FACTOR + 2][k]
        across = mu[k] * (one - other)
        along = one + other + LEAST / p.tangent_step[k]
        push = to - fro - (y[c + k] - s[SLACK + 1][k] + s[SLACK + 2][k])
        if _first(p, k, held) == 0:
            compliance = s[SLACK][k] / s[FACTOR][k] + least
            beside = 0.0
            press = s[WANTED][k] / s[FACTOR][k] - _normal(p, k, held, chain)
        else:
            compliance = mu[k] * mu[k] * (one + other) + least
            beside = across
            press = mu[k] * (to + fro) - _normal(p, k, held, chain)
        det = compliance * along - beside * across
        chain.gain[k][0][0] = along / det
        chain.gain[k][0][1] = -beside / det
        chain.gain[k][1][0] = -across / det
        chain.gain[k][1][1] = compliance / det
        chain.pull[k] = (along * press - beside * push) / det
        chain.pull[c + k] = (compliance * push - across * press) / det
    if not solve_steps(p, chain.vectors[CHANGE], chain):
        return False
    _follow_pairs(p, held, chain)
    return True


def _follow_pairs(p: Coupled, held: bool, chain: Chain) -> None:
    """Write the steps of factors and slacks into ``chain.pairs``, from the step of the impulses in the row CHANGE."""
    c = p.friction.size
    s = chain.pairs
    change = chain.vectors[CHANGE]
    for k in range(c):
        normal = change[k]
        s[WAY][k] = normal
        if _pairs_of(p, k) > 1:
            s[WAY + 1][k] = p.friction[k] * normal + change[c + k]
            s[WAY + 2][k] = p.friction[k] * normal - change[c + k]
        for e in range(_first(p, k, held), _pairs_of(p, k)):
            s[CHANGED + e][k] = (s[WANTED + e][k] - s[SLACK + e][k] * s[WAY + e][k]) / s[FACTOR + e][k]


def _set_targets(p: Coupled, held: bool, product: float, centre: float, s: Array) -> None:
    """Write the wanted changes of the products of factors and slacks into the rows WANTED of ``s``.

    They bring the products to zero if ``centre`` is 0 (predictor), else to ``centre`` times the mean ``product``.
    """
    for k in range(p.friction.size):
        for e in range(_first(p, k, held), _pairs_of(p, k)):
            done = s[FACTOR + e][k] * s[SLACK + e][k]
            if centre > 0.0:
                done += s[WAY + e][k] * s[CHANGED + e][k] - centre * product
            s[WANTED + e][k] = -done


def interior_coupled(p: Coupled, x: Array, weight: float, held: bool, chain: Chain) -> float:
    """Write impulses of plane contacts into x, from Newton's method started at interior points; return their defect.

    If no interior point is good enough to start Newton's method, x is the last one, and the returned defect infinite.
    """
    c = p.friction.size
    m = x.size
    s = chain.pairs
    best = INFINITY
    now = chain.vectors[POINT]
    tried = chain.vectors[TRIED]
    least = INFINITY
    size = 0.0
    last = INFINITY
    for k in range(c):
        size += p.scale * p.scale * p.normal_step[k] / c
    _set_start(p, now, s)
    for _ in range(STEPS):
        rates_of(p, now, chain.vectors[RATES], chain)
        product = _mean(p, held, 0.0, s)
        least = smaller(least, product)
        if not (ENDED * size < product <= ASTRAY * least):
            break
        if product <= smaller(NEAR * size, NEARER * last) and _rate_error(p, held, chain) <= MISSED * p.scale:
            last = product
            copy(part(now, 0, m), tried)
            defect = newton_coupled(p, part(tried, 0, m), weight, POLISHED, chain)
            if defect < best:
                best = defect
                copy(part(tried, 0, m), x)
            if best <= SOLVED:
                break
            rates_of(p, now, chain.vectors[RATES], chain)
        _set_targets(p, held, product, 0.0, s)
        if not _set_step(p, held, chain):
            break
        centre = smaller(1.0, larger(1e-6, (_mean(p, held, _longest(p, held, s), s) / product) ** 3))
        _set_targets(p, held, product, centre, s)
        if not _set_step(p, held, chain):
            break
        share = smaller(1.0, SHORT * _longest(p, held, s))
        for k in range(c):
            for e in range(_first(p, k, held), _pairs_of(p, k)):
                s[FACTOR + e][k] += share * s[WAY + e][k]
                s[SLACK + e][k] += share * s[CHANGED + e][k]
        for i in range(m):
            now[i] += share * chain.vectors[CHANGE][i]
    if not best < INFINITY:
        copy(part(now, 0, m), x)
    return best
