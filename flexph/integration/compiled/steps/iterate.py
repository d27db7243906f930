"""What is judged of the iterates of a compiled step (see exact.iterate): work, energies, gaps and balances."""

from __future__ import annotations

from ....kernels.resolution import RESOLUTION
from ....kernels.tolerances import NEWTON, TINY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..loops.motion import mean_speeds, product_rate
from ..loops.rolling import gain, world_spin
from ..memory.memory import Memory


@kernel
def _size(m: Memory) -> float:
    """Length that constraints on points are compared with, see flexph.kernels.constraint_sizes."""
    length = m.joints_lengths[1]
    for i in range(m.at_vector.shape[0]):
        for k in range(m.at_vector.shape[1]):
            length = max(length, abs(m.at_vector[i, k]) * m.joints_joins_points[i])
    return length


@kernel
def is_open(m: Memory, closed: float) -> bool:
    """Whether a defect of the constraints is larger than so much of what they measure."""
    length = _size(m)
    for i in range(m.defect_lam.size):
        if not abs(m.defect_lam[i]) <= closed * (length if m.joints_holds_points[i] > 0.0 else 1.0):
            return True
    return False


@kernel
def is_balanced(m: Memory, h: float) -> bool:
    """Whether momenta and constraints are in balance to round-off of the terms that they are sums of."""
    if is_open(m, NEWTON.balanced):
        return False
    forces, push, torques, turn = 0.0, 0.0, 0.0, 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.defect_v.shape[1]):
            forces = max(forces, abs(m.defect_v[b, i]))
            pull = abs(m.inertia_weight[b, i]) + abs(m.trial_on_body[b, i])
            push = max(push, m.inertia_mass[b] * abs(m.end_v[b, i]) + abs(h) * pull)
        for i in range(m.defect_w.shape[1]):
            torques = max(torques, abs(m.defect_w[b, i]))
            turn = max(turn, abs(m.end_p_r[b, i]) + abs(h) * abs(_body_torque(m, b, i)))
    flexing, bend = 0.0, 0.0
    for i in range(m.defect_du.size):
        flexing, bend = max(flexing, abs(m.defect_du[i])), max(bend, abs(m.end_p_u[i]))
    limit = NEWTON.balanced
    return forces <= limit * push and torques <= limit * turn and flexing <= limit * bend


@kernel
def take_increments(
    m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array, offset: Array, last_offset: Array
) -> None:
    """Constraint defects by the way of the nodes, with the gap at the start forgotten little by little.

    See exact.iterate.increment_of_gap; ``last_offset`` are the offsets of the rows at the start.
    """
    mean_speeds(m, axes)
    forgotten = NEWTON.forgotten
    for row in range(offset.size):
        m.defect_lam[row] = -(offset[row] - last_offset[row]) - forgotten * last_offset[row]
    for i in range(m.joints_term_row.size):
        p, row = m.joints_term_product[i], m.joints_term_row[i]
        mean = 0.5 * (m.at_product[p] + m.end_product[p])
        change = 0.5 * (before[i] + after[i]) * h * product_rate(m, axes, p, m.trial_mean)
        m.defect_lam[row] += change + (after[i] - before[i]) * mean + forgotten * before[i] * m.at_product[p]
    for i in range(m.rolling_row.size):
        p, row = m.rolling_product[i], m.rolling_row[i]
        m.defect_lam[row] += gain(m, i) * h * product_rate(m, axes, p, m.trial_mean)
        if m.rolling_square[i]:
            m.defect_lam[row] += forgotten * 0.5 * m.rolling_weight[i] * m.at_product[p] ** 2
    for i in range(m.rolling_spin_row.size):
        m.defect_lam[m.rolling_spin_row[i]] += h * world_spin(m, axes, i, m.x_w)


@kernel
def work(m: Memory) -> float:
    """Work of the defects along a correction, every entry counted positive [J]."""
    total = 0.0
    for i in range(m.defect.size):
        total += abs(m.correction[i] * m.defect[i])
    return total


@kernel
def energy_scale(m: Memory, h: float) -> float:
    """Kinetic energy of the step, elastic energy at its start, and the work of its loads, twice of each [J]."""
    total = 0.0
    for i in range(m.ledger_flexed, m.ledger_heavy):
        total += 2.0 * m.run_energy[i]
    for b in range(m.inertia_mass.size):
        for i in range(m.x_v.shape[1]):
            total += m.inertia_mass[b] * (m.x_v[b, i] ** 2 + m.end_v[b, i] ** 2)
            total += h * abs(m.x_v[b, i]) * (abs(m.inertia_weight[b, i]) + abs(m.trial_on_body[b, i]))
        for i in range(m.x_w.shape[1]):
            total += abs(m.at_p_r[b, i] * m.x_w[b, i]) + h * abs(m.x_w[b, i] * _body_torque(m, b, i))
    for i in range(m.x_du.size):
        total += abs(m.at_p_u[i] * m.x_du[i])
    return max(total, TINY)


@kernel
def _body_torque(m: Memory, b: int, i: int) -> float:
    """R̄⁻¹ τ."""
    if m.trial_torque.shape[1] == 1:
        return m.trial_torque[b, 0]
    return (
        m.trial_inverse[b, i, 0] * m.trial_torque[b, 0]
        + m.trial_inverse[b, i, 1] * m.trial_torque[b, 1]
        + m.trial_inverse[b, i, 2] * m.trial_torque[b, 2]
    )


@kernel
def coordinate_size(m: Memory) -> float:
    """Largest coordinate that positions are sums of [m], see flexph.kernels.resolution."""
    size = 0.0
    for b in range(m.at_r.shape[0]):
        for i in range(m.at_r.shape[1]):
            size = max(size, abs(m.at_r[b, i]))
    for n in range(m.nodes_position.shape[0]):
        for i in range(m.nodes_position.shape[1]):
            size = max(size, abs(m.nodes_position[n, i]) * m.nodes_moves[n])
    return size


@kernel
def kinetic_energy(m: Memory) -> float:
    """Kinetic energy at a trial end [J]."""
    doubled = 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.end_v.shape[1]):
            doubled += m.inertia_mass[b] * m.end_v[b, i] ** 2
        for i in range(m.end_w.shape[1]):
            doubled += m.end_w[b, i] * m.end_p_r[b, i]
    for i in range(m.end_du.size):
        doubled += m.end_du[i] * m.end_p_u[i]
    return 0.5 * doubled


@kernel
def below_resolution(m: Memory, size: float, h: float) -> bool:
    """Whether a correction moves nothing by more than a few round-offs of positions, whose ``size`` is given."""
    moved, turned = 0.0, 0.0
    for b in range(m.correction_v.shape[0]):
        for i in range(m.correction_v.shape[1]):
            moved = max(moved, abs(m.correction_v[b, i]))
        for i in range(m.correction_w.shape[1]):
            turned = max(turned, abs(m.correction_w[b, i]))
    for i in range(m.correction_du.size):
        moved = max(moved, abs(m.correction_du[i]))
    return abs(h) * moved <= RESOLUTION * size and abs(h) * turned <= RESOLUTION
