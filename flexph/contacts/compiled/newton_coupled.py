"""The semismooth Newton method on who is open, sticks and slips, between bodies, in loops (see .newton)."""

from __future__ import annotations

import math

from ...numerics.arrays import Array
from ...numerics.compiled.kernel import kernel
from .coupled import BEST, CENTRE, CHANGE, RATES, Chain, Coupled, X, rates_of, solve_steps
from .newton import EXACT, HUGE, SOLVED


@kernel
def defect_of_all(p: Coupled, x: Array, y: Array) -> float:
    """The largest defect of the natural map over the scale."""
    c, worst = p.friction.size, 0.0
    for k in range(c):
        r, s = p.normal_step[k], p.tangent_step[k]
        worst = max(worst, abs(x[k] - max(x[k] - r * y[k], 0.0)) / r)
        if p.rows > 1:
            trial = x[c + k] - s * y[c + k]
            bound = p.friction[k] * max(x[k], 0.0)
            worst = max(worst, abs(x[c + k] - min(max(trial, -bound), bound)) / s)
    return worst / p.scale if worst == worst else math.inf


@kernel
def newton_step(p: Coupled, x: Array, y: Array, weight: float, s: Chain) -> bool:
    """Change impulses by a step on who is open, sticks and slips; False where that cannot be solved.

    ``y`` has the weight on what changes, over 1/r of each contact.
    """
    c, r = p.friction.size, p.rows
    s.gain[:] = 0.0
    for k in range(c):
        if r > 1:
            s.pull[c + k] = -x[c + k]
        if x[k] - p.normal_step[k] * y[k] <= 0.0:
            s.pull[k] = -x[k]
            continue
        soft = p.normal_step[k] / weight
        s.gain[k, 0, 0], s.pull[k] = soft, -soft * y[k]
        if r > 1 and p.friction[k] > 0.0:
            trial, bound = x[c + k] - p.tangent_step[k] * y[c + k], p.friction[k] * max(x[k], 0.0)
            if abs(trial) > bound:
                share = p.friction[k] if trial > 0.0 else -p.friction[k]
                s.gain[k, 1, 0] = share * soft
                s.pull[c + k] = share * (max(x[k], 0.0) + s.pull[k]) - x[c + k]
            else:
                s.gain[k, 1, 1] = p.tangent_step[k] / weight
                s.pull[c + k] = -s.gain[k, 1, 1] * y[c + k]
    if not solve_steps(p, s.vectors[CHANGE], s):
        return False
    for i in range(p.b.size):
        x[i] += s.vectors[CHANGE, i]
    return True


@kernel
def with_weight(p: Coupled, x: Array, weight: float, s: Chain) -> None:
    """Add the weight on what changed from the centre to the rates."""
    c, y, centre = p.friction.size, s.vectors[RATES], s.vectors[CENTRE]
    for k in range(c):
        y[k] += weight / p.normal_step[k] * (x[k] - centre[k])
        if p.rows > 1:
            y[c + k] += weight / p.tangent_step[k] * (x[c + k] - centre[c + k])


@kernel
def newton_coupled(p: Coupled, start: Array, weight: float, steps: int, s: Chain) -> float:
    """Newton's steps from impulses with a weight on what changes from there; the best ones are in their place.

    The defect of the conditions with the weight.
    """
    m, x, y, best, most = start.size, s.vectors[X], s.vectors[RATES], s.vectors[BEST], 0.0
    for k in range(p.friction.size):
        most = max(most, p.normal_step[k])
    most *= HUGE * p.scale
    for i in range(m):
        x[i] = best[i] = s.vectors[CENTRE, i] = start[i]
    rates_of(p, x, y, s)
    least = defect_of_all(p, x, y)
    for _ in range(steps):
        if not newton_step(p, x, y, weight, s):
            break
        largest = 0.0
        for i in range(m):
            largest = max(largest, abs(x[i])) if x[i] == x[i] else math.inf
        if not largest < most:
            break
        rates_of(p, x, y, s)
        with_weight(p, x, weight, s)
        defect = defect_of_all(p, x, y)
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
