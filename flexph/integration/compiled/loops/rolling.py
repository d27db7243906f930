"""Terms of constraints on velocities in loops (see kernels.rolling, whose formulas these are)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, indices, matrix, places, tensor, vector
from .speeds import mean_speeds, product_rate


@in_place
def gain(m: Memory, i: int) -> float:
    """w Π̄_by of a term, from the products at both ends."""
    by = places(m, WHOLE.rolling_by)[i]
    mean = 0.5 * (vector(m, REAL.at_product)[by] + vector(m, REAL.end_product)[by])
    return vector(m, REAL.rolling_weight)[i] * mean


@in_place
def world_spin(m: Memory, axes: tuple[int, ...], i: int, w: Array) -> float:
    """a·R ω of a spin by the rotations of ``at``: over a step, that of its start."""
    rolling_spin_axis = matrix(m, REAL.rolling_spin_axis)
    b = places(m, WHOLE.rolling_spin_body)[i]
    if len(axes) == 2:
        return rolling_spin_axis[i, 0] * w[b, 0]
    at_R = tensor(m, REAL.at_R)
    total = 0.0
    for j in range(3):
        for k in range(3):
            total += rolling_spin_axis[i, j] * at_R[b, j, k] * w[b, k]
    return total


@in_place
def pull(m: Memory) -> None:
    """Add the forces of the terms on products."""
    trial_force = vector(m, REAL.trial_force)
    rolling_row = places(m, WHOLE.rolling_row)
    rolling_product = places(m, WHOLE.rolling_product)
    x_lam = vector(m, REAL.x_lam)
    for i in range(rolling_row.size):
        trial_force[rolling_product[i]] += gain(m, i) * x_lam[rolling_row[i]]


@in_place
def twist(m: Memory) -> None:
    """Add the world torques of the spins on bodies."""
    trial_torque = matrix(m, REAL.trial_torque)
    rolling_spin_row = places(m, WHOLE.rolling_spin_row)
    rolling_spin_body = places(m, WHOLE.rolling_spin_body)
    rolling_spin_axis = matrix(m, REAL.rolling_spin_axis)
    x_lam = vector(m, REAL.x_lam)
    for i in range(rolling_spin_row.size):
        for j in range(rolling_spin_axis.shape[1]):
            trial_torque[rolling_spin_body[i], j] += x_lam[rolling_spin_row[i]] * rolling_spin_axis[i, j]


@in_place
def add_gap(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Add squares at the end, and what nonholonomic rows miss over the step, by the mean velocities."""
    defect_lam = vector(m, REAL.defect_lam)
    end_product = vector(m, REAL.end_product)
    rolling_row = places(m, WHOLE.rolling_row)
    rolling_product = places(m, WHOLE.rolling_product)
    rolling_weight = vector(m, REAL.rolling_weight)
    rolling_square = indices(m, WHOLE.rolling_square)
    rolling_spin_row = places(m, WHOLE.rolling_spin_row)
    trial_mean = matrix(m, REAL.trial_mean)
    x_w = matrix(m, REAL.x_w)
    if rolling_row.size > 0:
        mean_speeds(m, axes)
    for i in range(rolling_row.size):
        p = rolling_product[i]
        if rolling_square[i]:
            defect_lam[rolling_row[i]] += 0.5 * rolling_weight[i] * end_product[p] ** 2
        else:
            defect_lam[rolling_row[i]] += gain(m, i) * h * product_rate(m, axes, p, trial_mean)
    for i in range(rolling_spin_row.size):
        defect_lam[rolling_spin_row[i]] += h * world_spin(m, axes, i, x_w)


@in_place
def add_squares(m: Memory, gap: Array) -> None:
    """Add the squares of the products of ``at``."""
    at_product = vector(m, REAL.at_product)
    rolling_row = places(m, WHOLE.rolling_row)
    rolling_product = places(m, WHOLE.rolling_product)
    rolling_weight = vector(m, REAL.rolling_weight)
    rolling_square = indices(m, WHOLE.rolling_square)
    for i in range(rolling_row.size):
        if rolling_square[i]:
            gap[rolling_row[i]] += 0.5 * rolling_weight[i] * at_product[rolling_product[i]] ** 2


@in_place
def has_fallen(m: Memory) -> bool:
    """Whether a disc lies flat at the end of the step."""
    end_product = vector(m, REAL.end_product)
    rolling_positive = places(m, WHOLE.rolling_positive)
    rolling_least = vector(m, REAL.rolling_least)
    fallen = False
    for i in range(rolling_positive.size):
        fallen = fallen or end_product[rolling_positive[i]] <= rolling_least[i]
    return fallen
