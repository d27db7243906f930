"""Laws of springs in loops (see flexph.laws); functions given by the user are called by address."""

from __future__ import annotations

import cython

from ....kernels.arrays import FACTORS as _FACTORS
from ....kernels.arrays import STRAINS as _STRAINS
from ....laws.elastic_laws import STEP as _STEP
from ....laws.force_laws import REACH as _REACH

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.functions import call_real, call_three
    from ....numerics.loops.views import larger, smaller
    from ..memory.memory import Memory

FACTORS = cython.declare(cython.Py_ssize_t, _FACTORS)
STRAINS = cython.declare(cython.Py_ssize_t, _STRAINS)
STEP = cython.declare(cython.double, _STEP)
REACH = cython.declare(cython.double, _REACH)
APART = cython.declare(cython.double, 1e-8)
"""Step of one-sided differences of a force, relative to extension or rate, or to one: at a node the Jacobian is that of
one state for all, and its error of 1e-8 costs no iteration."""
NEAR = cython.declare(cython.double, 0.5 - 0.15**0.5)
FAR = cython.declare(cython.double, 0.5 + 0.15**0.5)
ROUND_OFF = cython.declare(cython.double, 4.0 * 2.0**-52)


def law_value(m: Memory, k: int, order: int, x: float) -> float:
    """Energy V (order 0) or derivative V' (1) or V'' (2) of law k at the extension x."""
    if m.joints_law_strength[k] != 0.0 and x > 0.0:
        strength = m.joints_law_strength[k]
        return -strength / x if order == 0 else strength / (x * x) if order == 1 else -2.0 * strength / (x * x * x)
    function = m.joints_law_function[k][order]
    if function != 0:
        return call_real(function, x)
    if m.joints_law_function[k][0] != 0:  # V'' of functions that lack it
        step = STEP * larger(fabs(x), 1.0)
        return (law_value(m, k, 1, x + step) - law_value(m, k, 1, x - step)) / (2.0 * step)
    return _piece_value(m, _piece_at(m, k, x), order, x)


def mean_force(m: Memory, k: int, before: float, after: float) -> float:
    """Mean force F of elastic law k over a step, with F Δx = ΔV to round-off, see flexph.laws.elastic_laws.

    ``before`` and ``after`` are the extensions x at both ends.
    """
    change = after - before
    if m.joints_law_function[k][0] == 0:
        return _piece_mean(m, k, 1, before, change)
    if m.joints_law_strength[k] != 0.0 and before > 0.0 and after > 0.0:
        return m.joints_law_strength[k] / (before * after)
    mean = _function_mean(m, k, before, change)
    defect = _defect(m, k, before, change, mean)
    return mean if defect == 0.0 else mean + defect / change


def mean_slope(m: Memory, k: int, before: float, after: float) -> float:
    """Derivative ∂F/∂x₁ of the mean force of elastic law k with respect to the extension at the end.

    It is the mean of t V'' over the step, with t from 0 at its start to 1 at its end, or (V'₁ − F)/Δx if
    :func:`mean_force` corrects the quadrature so that F Δx = ΔV.
    """
    change = after - before
    if m.joints_law_function[k][0] == 0:
        return _piece_mean(m, k, 2, before, change)
    if m.joints_law_strength[k] != 0.0 and before > 0.0 and after > 0.0:
        return -m.joints_law_strength[k] / (before * after * after)
    mean = _function_mean(m, k, before, change)
    defect = _defect(m, k, before, change, mean)
    if defect != 0.0:
        return (law_value(m, k, 1, before + change) - mean - defect / change) / change
    first = NEAR * law_value(m, k, 2, before + NEAR * change)
    last = FAR * law_value(m, k, 2, before + FAR * change)
    return (5.0 * (first + last) + 4.0 * law_value(m, k, 2, before + 0.5 * change)) / 18.0


def factor_at(m: Memory, kind: int, i: int, end: int) -> float:
    """Prescribed quantity i of a kind (see kernels.arrays) at the start (``end`` 0) or the end (1) of the step."""
    return m.trial_moved[m.joints_timed[kind][0] + i + end * m.joints_timed[kind][1]]


def mean_factor(m: Memory, i: int) -> float:
    """Mean over the step of the prescribed factor of the law of spring i; 1 for laws without one."""
    if m.joints_timed[FACTORS][1] == 0:
        return 1.0
    return 0.5 * (factor_at(m, FACTORS, i, 0) + factor_at(m, FACTORS, i, 1))


def last_factor(m: Memory, i: int) -> float:
    """Prescribed factor of the law of spring i at the end of the step; 1 for laws without one."""
    return 1.0 if m.joints_timed[FACTORS][1] == 0 else factor_at(m, FACTORS, i, 1)


def work_of_factor(m: Memory, i: int, before: float, after: float) -> float:
    """Work ½ (a₁ − a₀) (V₀ + V₁) [J] that the change of the factor a of the law of spring i does over a step."""
    if m.joints_timed[FACTORS][1] == 0:
        return 0.0
    change = factor_at(m, FACTORS, i, 1) - factor_at(m, FACTORS, i, 0)
    return 0.5 * change * (law_value(m, m.joints_law[i], 0, before) + law_value(m, m.joints_law[i], 0, after))


def row_factor(m: Memory, e: int, end: int) -> float:
    """Prescribed factor of the law of strain row e at the start (``end`` 0) or the end (1) of the step."""
    k = m.strains_schedule[e]
    return 1.0 if k < 0 else factor_at(m, STRAINS, k, end)


def user_force(m: Memory, i: int, x: float, rate: float) -> float:
    """Force F(x, v, t) of the force law of spring i at the extension x and its rate v; also stored in ``trial.law``."""
    m.trial_law[i] = call_three(m.joints_force_law[i], x, rate, m.trial_time[0])
    return m.trial_law[i]


def user_slope(m: Memory, i: int, x0: float, rate: float, h: float) -> float:
    """Derivative ½ ∂F/∂x + ∂F/∂v /h of the force law of spring i with respect to the change Δx in a step of h [s].

    It is a central difference along Δx; ``x0`` is the extension at the start.
    """
    x = x0 + 0.5 * h * rate
    t = m.trial_time[0]
    law = m.joints_force_law[i]
    step = REACH * smaller(fabs(h) * larger(fabs(rate), 1.0), 2.0 * larger(fabs(x), 1.0))
    after = call_three(law, x + 0.5 * step, rate + step / h, t)
    return (after - call_three(law, x - 0.5 * step, rate - step / h, t)) / (2.0 * step)


def slope_at(m: Memory, i: int, x: float, rate: float, along: int) -> float:
    """Derivative ∂F/∂x (``along`` 0) or ∂F/∂v (1) of the force law of spring i, by a forward difference."""
    step = APART * larger(fabs(x if along == 0 else rate), 1.0)
    near = x + step if along == 0 else x
    after = call_three(m.joints_force_law[i], near, rate if along == 0 else rate + step, m.trial_time[0])
    return (after - m.trial_law[i]) / step


def _piece_at(m: Memory, k: int, x: float) -> int:
    piece = m.joints_law_first[k]
    while x >= m.joints_law_edge[piece]:
        piece += 1
    return piece


def _piece_value(m: Memory, piece: int, order: int, x: float) -> float:
    """Energy V of a piece of an elastic law at the extension x (order 0), or its derivative V' (1) or V'' (2)."""
    power = m.joints_law_power[piece]
    distance = x - m.joints_law_base[piece]
    value = 0.0
    for j in range(m.joints_law_power.shape[1] - 1, order - 1, -1):
        factor = 1.0
        for i in range(order):
            factor *= j - i
        value = value * distance + factor * power[j]
    return value


def _piece_mean(m: Memory, k: int, order: int, before: float, change: float) -> float:
    """Mean over a step of V' (order 1) or of t V'' (2) of the piecewise law k, by Gauss' rule in each piece.

    t goes from 0 at the start to 1 at the end of the step.
    """
    piece = _piece_at(m, k, before)
    last = _piece_at(m, k, before + change)
    total = 0.0
    begin = 0.0  # fractions t of the step
    while True:
        if piece == last:
            end = 1.0
        elif change > 0.0:
            end = (m.joints_law_edge[piece] - before) / change
        else:
            end = (m.joints_law_edge[piece - 1] - before) / change
        for point in range(3):
            share = NEAR if point == 0 else 0.5 if point == 1 else FAR
            weight = 8.0 if point == 1 else 5.0
            t = begin + share * (end - begin)
            value = _piece_value(m, piece, order, before + t * change)
            total += weight / 18.0 * (end - begin) * (value if order == 1 else t * value)
        if piece == last:
            return total
        begin = end
        piece += 1 if change > 0.0 else -1


def _function_mean(m: Memory, k: int, before: float, change: float) -> float:
    """Mean of V' of the law k, given by functions, over a step by Gauss' rule of three points."""
    first = law_value(m, k, 1, before + NEAR * change)
    last = law_value(m, k, 1, before + FAR * change)
    return (5.0 * (first + last) + 8.0 * law_value(m, k, 1, before + 0.5 * change)) / 18.0


def _defect(m: Memory, k: int, before: float, change: float, mean: float) -> float:
    """Energy change ΔV of law k over a step less the work F Δx of the force ``mean``; zero if it is round-off."""
    after = before + change
    return force_defect(m, k, before, after, mean * change, fabs(mean) * (fabs(before) + fabs(after)))


def force_defect(m: Memory, k: int, before: float, after: float, done: float, size: float) -> float:
    """Energy change ΔV of law k between two extensions less the work ``done`` [J]; zero if it is round-off.

    ``size`` is the size of the terms of the work.
    """
    return energy_defect(law_value(m, k, 0, before), law_value(m, k, 0, after), done, size)


def energy_defect(first: float, last: float, done: float, size: float) -> float:
    """Energy change from ``first`` to ``last`` less the work ``done`` [J]; zero if it is round-off.

    ``size`` is the size of the terms of the work.
    """
    defect = last - first - done
    size += fabs(first) + fabs(last)
    return 0.0 if fabs(defect) <= ROUND_OFF * size else defect
