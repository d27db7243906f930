"""Laws of springs with hysteresis in loops (see flexph.laws.hysteresis).

The state z of such a law is an internal extension of the spring; a slip s is the change of the spring's extension
over a step.
"""

from __future__ import annotations

import cython

from ..memory.relation_functions import BOUC_WEN as _BOUC_WEN

if not cython.compiled:
    from math import exp, expm1, fabs, log1p

    from ....numerics.loops.views import larger, smaller
    from ..memory.memory import Memory

BOUC_WEN = cython.declare(cython.Py_ssize_t, _BOUC_WEN)
PARTS = cython.declare(cython.Py_ssize_t, 8)
MOST = cython.declare(cython.Py_ssize_t, 60)
NEAR = cython.declare(cython.double, 1e-4)
SMALL = cython.declare(cython.double, 1e-3)


def follow_path(m: Memory, i: int, z0: float, change: float, h: float) -> tuple[float, float]:
    """Mean force of spring i with hysteresis over a step, and its internal extension z at the end.

    ``z0`` is that at the start, ``change`` the change of the spring's extension, h [s] the length of the step.
    """
    if m.joints_path_kind[i] != BOUC_WEN:
        return _bend_bristles(m, i, z0, change, h)
    sign = 1.0 if change >= 0.0 else -1.0
    exponent = m.joints_path_parameter[i][3]
    if exponent == 1.0:
        mean, end = _follow_linear(m, i, sign * z0, fabs(change))
    else:
        mean, end = _follow_parts(m, i, sign * z0, fabs(change))
    return sign * m.joints_path_parameter[i][0] * mean, sign * end


def path_slope(m: Memory, i: int, z0: float, change: float, h: float) -> float:
    """Derivative of the mean force of spring i with hysteresis with respect to the change of its extension."""
    sign = 1.0 if change >= 0.0 else -1.0
    if m.joints_path_kind[i] != BOUC_WEN:
        return _bristle_slope(m, i, sign * z0, fabs(change), h)
    k = m.joints_path_parameter[i][0]
    if m.joints_path_parameter[i][3] == 1.0:
        return k * _linear_slope(m, i, sign * z0, fabs(change))
    return k * _parts_slope(m, i, sign * z0, fabs(change))


def path_energy(m: Memory, i: int, z: float) -> float:
    """Stored energy ½ k z² [J] of spring i at the internal extension z."""
    return 0.5 * m.joints_path_parameter[i][0] * z * z


def _follow_linear(m: Memory, i: int, z: float, slip: float) -> tuple[float, float]:
    """Mean and end value of z over a slip s ≥ 0 with dz/ds = 1 − (β sgn z + γ)|z|, exact on each side of z = 0.

    β and γ are parameters of the law.
    """
    beta = m.joints_path_parameter[i][1]
    gamma = m.joints_path_parameter[i][2]
    left = slip
    total = 0.0
    if z < 0.0:  # dz/ds = 1 − c z with c = β − γ
        c = beta - gamma
        to_zero = log1p(-c * z) / c if c != 0.0 else -z
        part = smaller(to_zero, left)
        rate = 1.0 - c * z
        total = part * z + part * part * rate * _second(c * part)
        z = 0.0 if part < left else z + part * rate * _first(c * part)
        left -= part
    if left > 0.0:
        c = beta + gamma
        rate = 1.0 - c * z
        total += left * z + left * left * rate * _second(c * left)
        z += left * rate * _first(c * left)
    return (total / slip if slip > 0.0 else z), z


def _linear_slope(m: Memory, i: int, z: float, slip: float) -> float:
    """Derivative (z₁ − z̄)/s of the mean z̄ with respect to the slip s ≥ 0, without cancellation for short slips.

    For a step in which z passes through zero the quotient is computed as it stands.
    """
    beta = m.joints_path_parameter[i][1]
    gamma = m.joints_path_parameter[i][2]
    c = beta + gamma if z >= 0.0 else beta - gamma
    x = c * slip
    mean, end = _follow_linear(m, i, z, slip)
    if z < 0.0 and end >= 0.0 and slip > 0.0:
        return (end - mean) / slip
    return (1.0 - c * z) * (_first(x) - _second(x))


def _first(x: float) -> float:
    """Mean of e⁻ᵗ over t from 0 to x: (1 − e⁻ˣ)/x."""
    return -expm1(-x) / x if x != 0.0 else 1.0


def _second(x: float) -> float:
    """Function (e⁻ˣ − 1 + x)/x²."""
    if fabs(x) < SMALL:
        return 0.5 - x / 6.0 + x * x / 24.0 - x * x * x / 120.0
    return (expm1(-x) + x) / (x * x)


def _follow_parts(m: Memory, i: int, z: float, slip: float) -> tuple[float, float]:
    """Mean and end value of z over a slip s ≥ 0, by the midpoint rule in equal parts of the slip."""
    part = slip / PARTS
    total = 0.0
    for _ in range(PARTS):
        middle = _middle(m, i, z, part)
        total += middle
        z = 2.0 * middle - z
    return total / PARTS, z


def _parts_slope(m: Memory, i: int, z: float, slip: float) -> float:
    """Derivative of the mean of z, by the midpoint rule in equal parts, with respect to the slip s ≥ 0."""
    beta = m.joints_path_parameter[i][1]
    gamma = m.joints_path_parameter[i][2]
    n = m.joints_path_parameter[i][3]
    part = slip / PARTS
    by_slip = 0.0
    total = 0.0
    for _ in range(PARTS):
        middle = _middle(m, i, z, part)
        c = beta + gamma if middle >= 0.0 else gamma - beta
        power = _power(middle, n - 1.0)
        rate = 1.0 - c * power * fabs(middle)
        slope = (by_slip + 0.5 * rate / PARTS) / (1.0 + 0.5 * part * fabs(c) * n * power)
        total += slope
        by_slip = 2.0 * slope - by_slip
        z = 2.0 * middle - z
    return total / PARTS


def _middle(m: Memory, i: int, z: float, slip: float) -> float:
    """Value y at the middle of a part ds of the slip: y = z + ½ds (1 − (β sgn y + γ)|y|ⁿ).

    The equation, which rises with y, is solved by Newton's method within a bracket.
    """
    beta = m.joints_path_parameter[i][1]
    gamma = m.joints_path_parameter[i][2]
    n = m.joints_path_parameter[i][3]
    least = -fabs(z) - slip
    most = -least
    y = z
    for _ in range(MOST):
        c = beta + gamma if y >= 0.0 else gamma - beta
        power = _power(y, n - 1.0)
        defect = y - z - 0.5 * slip * (1.0 - c * power * fabs(y))
        if defect > 0.0:
            most = smaller(most, y)
        else:
            least = larger(least, y)
        after = y - defect / (1.0 + 0.5 * slip * fabs(c) * n * power)
        if not (least <= after and after <= most):
            after = 0.5 * (least + most)
        if after == y:
            break
        y = after
    return y


def _power(y: float, exponent: float) -> float:
    """Power |y|ᵉ, zero at y = 0, where its derivative would be infinite for an exponent e below 1."""
    size = fabs(y)
    return size**exponent if size > 0.0 else 0.0


def _bend_bristles(m: Memory, i: int, z0: float, change: float, h: float) -> tuple[float, float]:
    """Mean force of bristles over a slip at a constant rate, and their deflection at its end.

    ``z0`` is the deflection at its start, ``change`` the slip, h [s] the time it takes.
    """
    p = m.joints_path_parameter[i]
    rate = fabs(change) / h
    x = rate / p[5]
    bound = p[4] + (p[3] - p[4]) * exp(-(x * x))
    toward = bound / p[0] if change >= 0.0 else -bound / p[0]
    k = p[0] * fabs(change) / bound
    bent = z0 - toward
    end = toward + bent * exp(-k)
    mean = toward + bent * _first(k)
    damping = p[1] if p[1] * rate <= 4.0 * bound else 4.0 * bound / rate
    return p[0] * mean + (damping * (end - z0) + p[2] * change) / h, end


def _bristle_slope(m: Memory, i: int, z: float, slip: float, h: float) -> float:
    """Derivative of the mean force of bristles with respect to the slip s ≥ 0 over a step of h [s]."""
    p = m.joints_path_parameter[i]
    rate = slip / h
    x = rate / p[5]
    drop = (p[4] - p[3]) * exp(-(x * x))
    bound = p[4] - drop
    by_bound = 2.0 * x * drop / (p[5] * h)  # ∂g/∂s
    toward = bound / p[0]
    k = p[0] * slip / bound
    by_k = (p[0] - k * by_bound) / bound
    decay = exp(-k)
    first = _first(k)
    bent = z - toward
    mean = by_bound / p[0] * (1.0 - first) + bent * _first_slope(k) * by_k
    end = by_bound / p[0] * (1.0 - decay) - bent * decay * by_k
    damping = p[1]
    by_damping = 0.0
    if p[1] * rate > 4.0 * bound:
        damping = 4.0 * bound / rate
        by_damping = 4.0 * (by_bound - bound / slip) / rate
    return p[0] * mean + (by_damping * bent * (decay - 1.0) + damping * end + p[2]) / h


def _first_slope(x: float) -> float:
    """Derivative of (1 − e⁻ˣ)/x with respect to x."""
    return (exp(-x) - _first(x)) / x if x > NEAR else -0.5 + x / 3.0 - x * x / 8.0
