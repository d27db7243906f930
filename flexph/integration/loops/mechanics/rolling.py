"""Terms of constraints on velocities in loops (formulas of kernels.rolling).

A term is w Π_by Π̇, where Π and Π_by are dot products of two world vectors, or a·Ω with the spin Ω of a body.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ..memory.memory import Memory
    from ..terms.angles import term_gain, term_slopes
    from .motion import mean_speeds, product_rate


def term_increment(m: Memory, i: int) -> float:
    """Factor of the change ΔΠ of a product in the increment of velocity term i (see terms.angles.term_gain)."""
    p = m.rolling_product[i]
    q = m.rolling_by[i]
    return term_gain(
        m.rolling_weight[i],
        m.rolling_angular[i],
        m.at_product[p],
        m.end_product[p],
        m.at_product[q],
        m.end_product[q],
    )


def increment_slopes(m: Memory, i: int) -> tuple[float, float]:
    """Derivatives of the factor :func:`term_increment` with respect to the end values of the products Π and Π_by."""
    p = m.rolling_product[i]
    q = m.rolling_by[i]
    return term_slopes(
        m.rolling_weight[i],
        m.rolling_angular[i],
        m.at_product[p],
        m.end_product[p],
        m.at_product[q],
        m.end_product[q],
    )


def world_spin(m: Memory, dim: int, i: int, w: Array) -> float:
    """Component a·R₀w of the spin w of a body along the world vector a of the spin term i.

    w is given in body axes, R₀ is the rotation at the start of the step. For the mean spin ω̄ the result is the exact
    mean over the step.
    """
    b = m.rolling_spin_body[i]
    if dim == 2:
        return m.rolling_spin_axis[i][0] * w[b][0]
    total = 0.0
    for j in range(3):
        for k in range(3):
            total += m.rolling_spin_axis[i][j] * m.at_R[b][j][k] * w[b][k]
    return total


def add_term_forces(m: Memory) -> None:
    """Add the forces of terms, the multiplier λ times :func:`term_increment`, to the forces on their products Π."""
    for i in range(m.rolling_row.size):
        m.trial_force[m.rolling_product[i]] += term_increment(m, i) * m.x_lam[m.rolling_row[i]]


def add_term_torques(m: Memory) -> None:
    """Add the constraint torques λ a of the spin terms, in world axes, to the torques on the bodies."""
    for i in range(m.rolling_spin_row.size):
        for j in range(m.rolling_spin_axis.shape[1]):
            m.trial_torque[m.rolling_spin_body[i]][j] += m.x_lam[m.rolling_spin_row[i]] * m.rolling_spin_axis[i][j]


def add_gap(m: Memory, dim: int, h: float) -> None:
    """Add to the constraint defects: squares ½wΠ² at the end, and increments of velocity terms over the step."""
    if m.rolling_row.size > 0:
        mean_speeds(m, dim)
    for i in range(m.rolling_row.size):
        p = m.rolling_product[i]
        if m.rolling_square[i]:
            m.defect_lam[m.rolling_row[i]] += 0.5 * m.rolling_weight[i] * m.end_product[p] ** 2
        else:
            m.defect_lam[m.rolling_row[i]] += term_increment(m, i) * h * product_rate(m, dim, p, m.trial_mean)
    for i in range(m.rolling_spin_row.size):
        m.defect_lam[m.rolling_spin_row[i]] += h * world_spin(m, dim, i, m.x_w)


def add_squares(m: Memory, gap: Array) -> None:
    """Add the squares ½wΠ² in position constraints, at the present state ``at``, to the defects ``gap``."""
    for i in range(m.rolling_row.size):
        if m.rolling_square[i]:
            gap[m.rolling_row[i]] += 0.5 * m.rolling_weight[i] * m.at_product[m.rolling_product[i]] ** 2


def has_fallen(m: Memory) -> bool:
    """True if a rolling disc lies flat at the end of the step."""
    fallen = cython.declare(cython.bint)
    fallen = False
    for i in range(m.rolling_positive.size):
        fallen = fallen or m.end_product[m.rolling_positive[i]] <= m.rolling_least[i]
    return fallen
