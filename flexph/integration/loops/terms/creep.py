"""Creep of rolling wheels in loops: forces against slips at a rolling speed (formulas of flexph.laws.creep_laws).

The last component of such a slip is the rolling speed, against which there is no force.
"""

from __future__ import annotations

import cython

from ....laws.creep_laws import NEAR as _NEAR
from ..memory.relation_functions import CUBIC as _CUBIC
from ..memory.relation_functions import HYPERBOLIC as _HYPERBOLIC

if not cython.compiled:
    from math import atan, cos, fabs, sin, sqrt

    from ....numerics.loops.views import larger
    from ..memory.memory import Memory
    from .product_rows import add_block, add_to_column

CUBIC = cython.declare(cython.Py_ssize_t, _CUBIC)
HYPERBOLIC = cython.declare(cython.Py_ssize_t, _HYPERBOLIC)
NEAR = cython.declare(cython.double, _NEAR)


def has_creep_law(m: Memory, slip: int) -> bool:
    """True for a slip with a creep law."""
    return m.joints_kind[m.joints_stiffness.size + slip] >= HYPERBOLIC


def set_creep_forces(m: Memory, slip: int) -> None:
    """Compute the forces against the components of a slip with a creep law."""
    i = m.joints_stiffness.size + slip
    first = m.slips_first[slip]
    last = m.slips_first[slip + 1] - 1
    limit = limit_of(m, slip)
    speed = larger(fabs(m.slide_rate[last]), m.joints_parameter[i][5])
    ratio = saturation(m, i, tangential_force(m, slip) / (speed * limit))[0] if limit > 0.0 else 0.0
    for k in range(first, last):
        m.slide_force[k] = -linear_force(m, slip, k - first) * ratio / speed
    m.slide_force[last] = 0.0


def limit_of(m: Memory, slip: int) -> float:
    """Limit μN of the creep force of a slip, with friction coefficient μ and wheel load N.

    It is infinite for a law without limit, and zero for a wheel that is not pressed on its ground.
    """
    limit = m.joints_parameter[m.joints_stiffness.size + slip][2]
    if m.slips_pressed[slip] > 0:
        return limit * larger(m.slide_load[slip], 0.0)
    if m.slips_load[slip] < 0:
        return limit
    return limit * larger(m.x_lam[m.slips_load[slip]], 0.0)


def stiffness(m: Memory, i: int, k: int, l: int) -> float:
    """Entry (k, l) of the creep stiffness C of law i, whose components are along, across, and spin."""
    if k == l:
        return m.joints_parameter[i][7 if k == 2 else k]
    if k == 1 and l == 2:
        return m.joints_parameter[i][6]
    return -m.joints_parameter[i][6] if k == 2 and l == 1 else 0.0


def linear_force(m: Memory, slip: int, k: int) -> float:
    """Component k of the linear creep force C s, with the creepages s of a slip."""
    i = m.joints_stiffness.size + slip
    first = m.slips_first[slip]
    total = 0.0
    for l in range(m.slips_first[slip + 1] - 1 - first):
        total += stiffness(m, i, k, l) * m.slide_rate[first + l]
    return total


def tangential_force(m: Memory, slip: int) -> float:
    """Magnitude of the first two components of C s, the forces along and across."""
    square = 0.0
    for k in range(2):
        if m.slips_first[slip] + k < m.slips_first[slip + 1] - 1:
            square += linear_force(m, slip, k) ** 2
    return sqrt(square)


def saturation(m: Memory, i: int, x: float) -> tuple[float, float]:
    """Saturation q(x) of the creep law i, and its derivative with respect to x.

    x is the linear force over its limit.
    """
    kind = m.joints_kind[i]
    if kind == HYPERBOLIC:
        return 1.0 / (1.0 + x), -1.0 / ((1.0 + x) * (1.0 + x))
    if kind == CUBIC:
        if x < 3.0:
            return 1.0 - x / 3.0 + x * x / 27.0, 2.0 * x / 27.0 - 1.0 / 3.0
        return 1.0 / x, -1.0 / (x * x)
    shape = m.joints_parameter[i][3]
    curvature = m.joints_parameter[i][4]
    if x < NEAR:
        bend = (curvature + 1.0) / (3.0 * shape * shape) + 1.0 / 6.0
        return 1.0 - bend * x * x, -2.0 * bend * x
    y = x / shape
    u = (1.0 - curvature) * y + curvature * atan(y)
    angle = shape * atan(u)
    ratio = sin(angle) / x
    steep = cos(angle) / (1.0 + u * u) * (1.0 - curvature + curvature / (1.0 + y * y))
    return ratio, (steep - ratio) / x


def slope_by_load(m: Memory, slip: int, k: int) -> float:
    """Derivative of component k of the creep force of a slip with respect to the wheel load N; zero if N ≤ 0."""
    i = m.joints_stiffness.size + slip
    limit = limit_of(m, slip)
    if limit <= 0.0:
        return 0.0
    speed = larger(fabs(m.slide_rate[m.slips_first[slip + 1] - 1]), m.joints_parameter[i][5])
    x = tangential_force(m, slip) / (speed * limit)
    return linear_force(m, slip, k) * x * saturation(m, i, x)[1] * m.joints_parameter[i][2] / (speed * limit)


def add_creep(m: Memory, slip: int) -> None:
    """Add the derivatives of the creep forces of a slip, with respect to slips and rolling speed, to the Jacobian.

    They are multiplied with the rows of the components of the slip, which must have been set (see .product_rows).
    """
    i = m.joints_stiffness.size + slip
    first = m.slips_first[slip]
    last = m.slips_first[slip + 1] - 1
    limit = limit_of(m, slip)
    if limit <= 0.0:
        return
    speed = larger(fabs(m.slide_rate[last]), m.joints_parameter[i][5])
    size = tangential_force(m, slip)
    x = size / (speed * limit)
    ratio, slope = saturation(m, i, x)
    for k in range(first, last):
        force = linear_force(m, slip, k - first)
        for l in range(first, last):
            value = stiffness(m, i, k - first, l - first) * ratio / speed
            if size > 0.0:
                other = 0.0
                for j in range(2):
                    if first + j < last:
                        other += linear_force(m, slip, j) * stiffness(m, i, j, l - first)
                value += force * other * slope / (size * speed * speed * limit)
            add_block(m, k - first, l - first, value)
        if fabs(m.slide_rate[last]) > m.joints_parameter[i][5]:
            value = -force * (ratio + slope * x) / (speed * speed)
            add_block(m, k - first, last - first, value if m.slide_rate[last] > 0.0 else -value)
        if m.slips_load[slip] >= 0:
            add_to_column(m, m.border_l[m.slips_load[slip]], k - first, -slope_by_load(m, slip, k - first))
