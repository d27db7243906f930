"""Measures of the iterates of a step, by which an iteration ends: work of corrections, energies, gaps, balances."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ....kernels.convergence.tolerances import RESOLUTION as _RESOLUTION
from ....kernels.convergence.tolerances import TINY as _TINY

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import larger
    from ..mechanics.curves import add_curve_rates, add_first_gaps, rate_curves
    from ..mechanics.motion import mean_speeds, product_rate
    from ..mechanics.rolling import term_increment, world_spin
    from ..memory.memory import Memory
    from ..memory.structures import Given

RESOLUTION = cython.declare(cython.double, _RESOLUTION)
TINY = cython.declare(cython.double, _TINY)
NEWTON_BALANCED = cython.declare(cython.double, NEWTON.balanced)
NEWTON_FORGOTTEN = cython.declare(cython.double, NEWTON.forgotten)


def reference_length(m: Memory) -> float:
    """Length [m] by which gaps of the constraints on points are divided, see flexph.kernels.state."""
    length = m.joints_lengths[1]
    for i in range(m.at_vector.shape[0]):
        for k in range(m.at_vector.shape[1]):
            length = larger(length, fabs(m.at_vector[i][k]) * m.joints_joins_points[i])
    return length


def is_open(m: Memory, closed: float) -> bool:
    """True if a constraint defect exceeds ``closed``; defects of points are divided by the reference length first."""
    length = reference_length(m)
    for i in range(m.defect_lam.size):
        if not fabs(m.defect_lam[i]) <= closed * (length if m.joints_holds_points[i] > 0.0 else 1.0):
            return True
    return False


def is_balanced(m: Memory, h: float) -> bool:
    """True if the defects of momenta and constraints are round-off of their terms."""
    limit = cython.declare(cython.double)
    if is_open(m, NEWTON_BALANCED):
        return False
    forces = 0.0
    push = 0.0
    torques = 0.0
    turn = 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.defect_v.shape[1]):
            forces = larger(forces, fabs(m.defect_v[b][i]))
            pull = fabs(m.inertia_weight[b][i]) + fabs(m.trial_on_body[b][i])
            push = larger(push, m.inertia_mass[b] * fabs(m.end_v[b][i]) + fabs(h) * pull)
        for i in range(m.defect_w.shape[1]):
            torques = larger(torques, fabs(m.defect_w[b][i]))
            turn = larger(turn, fabs(m.end_p_r[b][i]) + fabs(h) * fabs(_body_torque(m, b, i)))
    flexing = 0.0
    bend = 0.0
    for i in range(m.defect_du.size):
        flexing = larger(flexing, fabs(m.defect_du[i]))
        bend = larger(bend, fabs(m.end_p_u[i]))
    limit = NEWTON_BALANCED
    return forces <= limit * push and torques <= limit * turn and flexing <= limit * bend


def take_increments(m: Memory, dim: int, given: Given) -> None:
    """Replace the constraint defects g(q₁) by Δg + c g(q₀): increments, and a fixed part c of the gaps at the start.

    The part c removes gaps that remain from earlier steps.

    g(q₁) has the round-off of positions, in proportion to ε; Δg has the round-off of displacements, in proportion to ε
    h|v|. With Δg the work of multipliers, which are large near a singular pose, balances to the smaller round-off.
    """
    forgotten = cython.declare(cython.double)
    h = given.h
    before = given.before
    after = given.after
    offset = given.offset
    last_offset = given.last_offset
    mean_speeds(m, dim)
    forgotten = NEWTON_FORGOTTEN
    for row in range(offset.size):
        m.defect_lam[row] = -(offset[row] - last_offset[row]) - forgotten * last_offset[row]
    for i in range(m.joints_term_row.size):
        p = m.joints_term_product[i]
        row = m.joints_term_row[i]
        mean = 0.5 * (m.at_product[p] + m.end_product[p])
        change = 0.5 * (before[i] + after[i]) * h * product_rate(m, dim, p, m.trial_mean)
        m.defect_lam[row] += change + (after[i] - before[i]) * mean + forgotten * before[i] * m.at_product[p]
    for i in range(m.rolling_row.size):
        p = m.rolling_product[i]
        row = m.rolling_row[i]
        m.defect_lam[row] += term_increment(m, i) * h * product_rate(m, dim, p, m.trial_mean)
        if m.rolling_square[i]:
            m.defect_lam[row] += forgotten * 0.5 * m.rolling_weight[i] * m.at_product[p] ** 2
    for i in range(m.rolling_spin_row.size):
        m.defect_lam[m.rolling_spin_row[i]] += h * world_spin(m, dim, i, m.x_w)
    rate_curves(m, dim, m.trial_mean)
    add_curve_rates(m, h, m.defect_lam)
    add_first_gaps(m, forgotten, m.defect_lam)


def correction_work(m: Memory, h: float) -> float:
    """Sum of the absolute works [J] of the defects along a correction, with an estimate for friction under wheel loads.

    The correction δN of a wheel load N changes the work W of friction by W δN/N. As the work of defects is of second
    order in the correction, W (δN/N)² is added.
    """
    total = 0.0
    for i in range(m.defect.size):
        total += fabs(m.correction[i] * m.defect[i])
    for slip in range(m.slips_load.size):
        row = m.slips_load[slip]
        if row >= 0:
            slipped = 0.0
            for k in range(m.slips_first[slip], m.slips_first[slip + 1] - 1):
                slipped += fabs(h * m.slide_rate[k])
            change = m.correction_lam[row]
            load = larger(fabs(m.x_lam[row]), fabs(m.x_lam[row] - change))
            friction = m.joints_parameter[m.joints_stiffness.size + slip][2]
            total += friction * slipped * change * change / larger(load, TINY)
    return total


def energy_scale(m: Memory, h: float) -> float:
    """Scale of the energies in a step [J].

    It is the sum of twice the kinetic energies of the mean velocities and at the end, twice the elastic energy at the
    start, and the absolute work of the loads.
    """
    total = 0.0
    span = fabs(h)  # of steps back in time, too
    for i in range(m.ledger_flexed[0], m.ledger_heavy[0]):
        total += 2.0 * m.run_energy[i]
    for b in range(m.inertia_mass.size):
        for i in range(m.x_v.shape[1]):
            total += m.inertia_mass[b] * (m.x_v[b][i] ** 2 + m.end_v[b][i] ** 2)
            total += span * fabs(m.x_v[b][i]) * (fabs(m.inertia_weight[b][i]) + fabs(m.trial_on_body[b][i]))
        for i in range(m.x_w.shape[1]):
            total += fabs(m.at_p_r[b][i] * m.x_w[b][i]) + span * fabs(m.x_w[b][i] * _body_torque(m, b, i))
    for i in range(m.x_du.size):
        total += fabs(m.at_p_u[i] * m.x_du[i])
    return larger(total, TINY)


def _body_torque(m: Memory, b: int, i: int) -> float:
    """Component i of the torque R̄⁻¹ τ on body b, in its mean axes."""
    if m.trial_torque.shape[1] == 1:
        return m.trial_torque[b][0]
    return (
        m.trial_inverse[b][i][0] * m.trial_torque[b][0]
        + m.trial_inverse[b][i][1] * m.trial_torque[b][1]
        + m.trial_inverse[b][i][2] * m.trial_torque[b][2]
    )


def coordinate_size(m: Memory) -> float:
    """Largest absolute coordinate of a body, or of a node relative to its body [m], see flexph.kernels.state."""
    size = 0.0
    for b in range(m.at_r.shape[0]):
        for i in range(m.at_r.shape[1]):
            size = larger(size, fabs(m.at_r[b][i]))
    for n in range(m.nodes_position.shape[0]):
        for i in range(m.nodes_position.shape[1]):
            size = larger(size, fabs(m.nodes_position[n][i]) * m.nodes_moves[n])
    return size


def kinetic_energy(m: Memory) -> float:
    """Kinetic energy at the end of the step, at the last iterate [J]."""
    doubled = 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.end_v.shape[1]):
            doubled += m.inertia_mass[b] * m.end_v[b][i] ** 2
        for i in range(m.end_w.shape[1]):
            doubled += m.end_w[b][i] * m.end_p_r[b][i]
    for i in range(m.end_du.size):
        doubled += m.end_du[i] * m.end_p_u[i]
    return 0.5 * doubled


def below_resolution(m: Memory, size: float, h: float) -> bool:
    """True if a correction moves no coordinate by more than the resolution of positions in a step of h [s].

    ``size`` [m] is the largest coordinate, to which the resolution is relative.
    """
    moved = 0.0
    turned = 0.0
    for b in range(m.correction_v.shape[0]):
        for i in range(m.correction_v.shape[1]):
            moved = larger(moved, fabs(m.correction_v[b][i]))
        for i in range(m.correction_w.shape[1]):
            turned = larger(turned, fabs(m.correction_w[b][i]))
    for i in range(m.correction_du.size):
        moved = larger(moved, fabs(m.correction_du[i]))
    return fabs(h) * moved <= RESOLUTION * size and fabs(h) * turned <= RESOLUTION
