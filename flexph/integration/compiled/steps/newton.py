"""The Newton iteration of a step in loops (see exact.newton)."""

from __future__ import annotations

import math

from ....kernels import resolution, tolerances
from ....kernels.resolution import RESOLUTION
from ....kernels.tolerances import NEWTON, TINY
from ....numerics.arrays import Array
from ..loops.arrow import factor, solve
from ..loops.relations import keep_rates, stick
from ..loops.residual import residual, trial
from ..loops.rolling import has_fallen
from ..memory.kernel import kernel
from ..memory.memory import Memory

settled_at, settles = kernel(tolerances.settled_at), kernel(tolerances.settles)
stagnates, is_slow = kernel(tolerances.stagnates), kernel(tolerances.is_slow)
unresolved_energy = kernel(resolution.unresolved_energy)


@kernel
def newton(
    m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array, offset: Array, inputs: Array
) -> int:
    """Solve a step from the guess in ``x`` (see exact.newton); iterations, or −1 where it is not solved."""
    resists = m.joints_resisting.size > 0
    m.trial_stuck[:] = 0.0
    residual(m, axes, h, before, after, offset, inputs)
    factored, used, scaled = False, 0, False
    previous, largest, scale = math.inf, 0.0, 0.0
    noise = NEWTON.noise * m.x.size  # along chains round-off adds up
    settled, extent = settled_at(m.x_du.size), _coordinate_size(m)
    unresolved = unresolved_energy(m.inertia_resolution, extent, h)
    for iteration in range(1, NEWTON.iterations + 1):
        if not factored:
            if not factor(m, axes, h, before, after):
                return -1
            factored, used = True, 0
        solve(m, axes, h)
        done = _work(m)
        largest = max(largest, done)
        if iteration <= 2 or not scaled:  # after one correction the motion is known well enough to compare with
            scale, scaled = _energy_scale(m, h), True
        size = math.sqrt(done / max(largest, scale))
        if not math.isfinite(size):
            return -1
        at_rest = done <= unresolved and _kinetic_energy(m) <= unresolved
        _correct(m)
        if resists:
            keep_rates(m)
            trial(m, axes, h, before, after, offset, inputs)
            if stick(m, h):
                residual(m, axes, h, before, after, offset, inputs)
                factored, previous, largest, scaled = False, math.inf, 0.0, False
                continue
        used += 1
        stalls = stagnates(size, previous)
        is_solved = at_rest or settles(size, previous, used, settled)
        if is_solved or (stalls and (size <= noise or _below_resolution(m, extent, h))):
            trial(m, axes, h, before, after, offset, inputs)
            return -1 if _is_open(m) or has_fallen(m) else iteration
        if stalls and size <= NEWTON.stagnated:
            return -1  # an ill-conditioned step is judged by the NumPy kernels
        residual(m, axes, h, before, after, offset, inputs)
        if is_slow(size, previous, used, NEWTON):
            factored = False
        previous = size
    return -1


@kernel
def _is_open(m: Memory) -> bool:
    """Whether the end of the step misses the constraints, see flexph.integration.exact.iterate.is_open."""
    length = m.joints_lengths[1]
    for i in range(m.at_vector.shape[0]):
        for k in range(m.at_vector.shape[1]):
            length = max(length, abs(m.at_vector[i, k]) * m.joints_joins_points[i])
    for i in range(m.defect_lam.size):
        if not abs(m.defect_lam[i]) <= NEWTON.closed * (length if m.joints_holds_points[i] > 0.0 else 1.0):
            return True
    return False


@kernel
def _correct(m: Memory) -> None:
    for i in range(m.x.size):
        m.x[i] -= m.correction[i]


@kernel
def _work(m: Memory) -> float:
    """Work of the defects along a correction, every entry counted positive [J]."""
    total = 0.0
    for i in range(m.defect.size):
        total += abs(m.correction[i] * m.defect[i])
    return total


@kernel
def _energy_scale(m: Memory, h: float) -> float:
    """Kinetic and elastic energy of the step and the work of its loads [J]."""
    total = 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.x_v.shape[1]):
            total += m.inertia_mass[b] * (m.x_v[b, i] ** 2 + m.end_v[b, i] ** 2)
            total += h * abs(m.x_v[b, i]) * (abs(m.inertia_weight[b, i]) + abs(m.trial_on_body[b, i]))
        for i in range(m.x_w.shape[1]):
            total += abs(m.at_p_r[b, i] * m.x_w[b, i]) + h * abs(m.x_w[b, i] * _body_torque(m, b, i))
    for i in range(m.x_du.size):
        total += abs(m.at_p_u[i] * m.x_du[i])
    for i in range(m.end_sigma.size):
        strain = 0.0
        for e in range(m.elastic_compliance_ptr[i], m.elastic_compliance_ptr[i + 1]):
            strain += m.elastic_compliance_val[e] * m.end_sigma[m.elastic_compliance_col[e]]
        total += abs(m.end_sigma[i] * strain)
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
def _coordinate_size(m: Memory) -> float:
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
def _kinetic_energy(m: Memory) -> float:
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
def _below_resolution(m: Memory, size: float, h: float) -> bool:
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
