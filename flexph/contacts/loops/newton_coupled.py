"""Compiled semismooth Newton method as in .newton, with body velocities as unknowns instead of a dense D."""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt
    from math import inf as INFINITY

    from ...numerics.loops.views import fill, larger, part
    from .coupled import BEST, CENTRE, CHANGE, RATES, X, rates_of, solve_steps
    from .newton import EXACT, HUGE, SOLVED, defect_of
    from .problem import Chain, Coupled


def newton_step(p: Coupled, x: Array, y: Array, weight: float, s: Chain) -> bool:
    """Change impulses x, whose rates are y, by one Newton step; return False if the system is singular.

    y includes the proximal term; the proximal weight is relative to 1/r, with the step length r of each contact in the
    natural map.
    """
    c = p.friction.size
    r = p.rows
    fill(part(s.gain, 0, c), 0.0)
    for k in range(c):
        for i in range(1, r):
            s.pull[i * c + k] = -x[i * c + k]
        if x[k] - p.normal_step[k] * y[k] <= 0.0:
            s.pull[k] = -x[k]
            continue
        soft = p.normal_step[k] / weight
        s.gain[k][0][0] = soft
        s.pull[k] = -soft * y[k]
        if r > 1 and p.friction[k] > 0.0:
            _set_friction(p, k, x, y, weight, s)
    if not solve_steps(p, s.vectors[CHANGE], s):
        return False
    for i in range(p.b.size):
        x[i] += s.vectors[CHANGE][i]
    return True


def _set_friction(p: Coupled, k: int, x: Array, y: Array, weight: float, s: Chain) -> None:
    """Set the friction part of J and h of closed contact k, which sticks, or slips with friction in the direction d.

    J and h define the step ΔΛ = h − J Δy of the impulses, see :mod:`.coupled`. In slip, the tangential impulses Λ with
    rates y change by ΔΛ = (μ Λ_N + μ ΔΛ_N) d − Λ + τ (I − d dᵀ) (ΔΛ − r Δy), with τ = μ Λ_N/|Λ − r y| and the step
    length r of the natural map. This Δy includes the change of the proximal term.
    """
    at = cython.declare(cython.Py_ssize_t)
    c = p.friction.size
    step = p.tangent_step[k]
    square = 0.0
    along = 0.0
    at = c + k
    while at < p.rows * c:
        s.pull[at] = x[at] - step * y[at]
        square += s.pull[at] * s.pull[at]
        at += c
    bound = p.friction[k] * larger(x[k], 0.0)
    if square <= bound * bound:
        for i in range(1, p.rows):
            s.gain[k][i][i] = step / weight
            s.pull[i * c + k] = -s.gain[k][i][i] * y[i * c + k]
        return
    size = sqrt(square)
    at = c + k
    while at < p.rows * c:
        s.pull[at] /= size
        along += s.pull[at] * x[at]
        at += c
    turned = bound / size
    pressed = larger(x[k], 0.0) + s.pull[k]
    turned /= 1.0 - turned * (1.0 - weight)
    for i in range(1, p.rows):
        d = s.pull[i * c + k]
        s.gain[k][i][0] = p.friction[k] * d * s.gain[k][0][0]
        for j in range(1, p.rows):
            s.gain[k][i][j] = step * turned * ((1.0 if i == j else 0.0) - d * s.pull[j * c + k])
    for i in range(1, p.rows):
        at = i * c + k
        d = s.pull[at]
        s.pull[at] = p.friction[k] * d * pressed - x[at] - turned * (1.0 - weight) * (x[at] - d * along)


def add_proximal_term(p: Coupled, x: Array, weight: float, s: Chain) -> None:
    """Add weight/r times the change of impulses x from the row CENTRE to the rates in the row RATES.

    r is the step length of each contact in the natural map (see .newton).
    """
    at = cython.declare(cython.Py_ssize_t)
    c = p.friction.size
    y = s.vectors[RATES]
    centre = s.vectors[CENTRE]
    for k in range(c):
        y[k] += weight / p.normal_step[k] * (x[k] - centre[k])
        at = c + k
        while at < p.rows * c:
            y[at] += weight / p.tangent_step[k] * (x[at] - centre[at])
            at += c


def newton_coupled(p: Coupled, start: Array, weight: float, steps: int, s: Chain) -> float:
    """Improve the impulses ``start`` in place by Newton steps with a proximal weight; return their defect.

    The defect includes the proximal term. The impulses are those of the step with the least defect, of at most
    ``steps``.
    """
    better = cython.declare(cython.bint)
    m = start.size
    y = s.vectors[RATES]
    best = s.vectors[BEST]
    most = 0.0
    x = part(s.vectors[X], 0, m)
    for k in range(p.friction.size):
        most = larger(most, p.normal_step[k])
    most *= HUGE * p.scale
    for i in range(m):
        s.vectors[CENTRE][i] = start[i]
        x[i] = s.vectors[CENTRE][i]
        best[i] = s.vectors[CENTRE][i]
    rates_of(p, x, y, s)
    least = defect_of(p, x, y)
    for _ in range(steps):
        if not newton_step(p, x, y, weight, s):
            break
        largest = 0.0
        for i in range(m):
            largest = larger(largest, fabs(x[i])) if x[i] == x[i] else INFINITY
        if not largest < most:
            break
        rates_of(p, x, y, s)
        add_proximal_term(p, x, weight, s)
        defect = defect_of(p, x, y)
        better = defect < least
        if better:
            least = defect
            for i in range(m):
                best[i] = x[i]
        if least <= (EXACT if better else SOLVED):
            break
    for i in range(m):
        start[i] = best[i]
    return least
