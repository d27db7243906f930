"""The Newton iteration of a step in loops (see exact.newton)."""

from __future__ import annotations

import math

from ....kernels import resolution, tolerances
from ....kernels.resolution import RESOLUTION
from ....kernels.tolerances import CLOSED, LEAST, MAX_ITERATIONS, NOISE, SETTLED, STAGNATED
from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, indices, matrix, places, span, tensor, vector
from .arrow import factor, solve
from .relations import keep_rates, stick
from .residual import residual, trial
from .rolling import has_fallen

is_slow, settled_at = in_place(tolerances.is_slow), in_place(tolerances.settled_at)
unresolved_energy = in_place(resolution.unresolved_energy)


@in_place
def newton(
    m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array, offset: Array, inputs: Array
) -> int:
    """Solve a step from the guess in ``x`` (see exact.newton); iterations, or −1 where it is not solved."""
    resists = indices(m, WHOLE.joints_resisting).size > 0
    vector(m, REAL.trial_stuck)[:] = 0.0
    residual(m, axes, h, before, after, offset, inputs)
    factored, used, scaled = False, 0, False
    previous, largest, scale = math.inf, 0.0, 0.0
    noise = NOISE * span(m, REAL.x_v, REAL.x_lam).size  # along chains round-off adds up
    settled, extent = settled_at(vector(m, REAL.x_du).size), _coordinate_size(m)
    unresolved = unresolved_energy(vector(m, REAL.inertia_resolution), extent, h)
    for iteration in range(1, MAX_ITERATIONS + 1):
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
        rate = 1.0 if used == 1 else size / previous if used > 2 else max(LEAST, size / previous)
        stagnates, expected = size > 0.5 * previous, size * min(1.0, rate)
        settles = at_rest or expected <= (settled if used > 2 else SETTLED)
        if settles or (stagnates and (size <= noise or _below_resolution(m, extent, h))):
            trial(m, axes, h, before, after, offset, inputs)
            return -1 if _is_open(m) or has_fallen(m) else iteration
        if stagnates and size <= STAGNATED:
            return -1  # an ill-conditioned step is judged by the NumPy kernels
        residual(m, axes, h, before, after, offset, inputs)
        if is_slow(size, previous, used):
            factored = False
        previous = size
    return -1


@in_place
def _is_open(m: Memory) -> bool:
    """Whether the end of the step misses the constraints, see flexph.integration.exact.newton.is_open."""
    at_vector, joins_points = matrix(m, REAL.at_vector), vector(m, REAL.joints_joins_points)
    defect_lam, holds_points = vector(m, REAL.defect_lam), vector(m, REAL.joints_holds_points)
    length = vector(m, REAL.joints_lengths)[1]
    for i in range(at_vector.shape[0]):
        for k in range(at_vector.shape[1]):
            length = max(length, abs(at_vector[i, k]) * joins_points[i])
    for i in range(defect_lam.size):
        if not abs(defect_lam[i]) <= CLOSED * (length if holds_points[i] > 0.0 else 1.0):
            return True
    return False


@in_place
def _correct(m: Memory) -> None:
    x, correction = span(m, REAL.x_v, REAL.x_lam), span(m, REAL.correction_v, REAL.correction_lam)
    for i in range(x.size):
        x[i] -= correction[i]


@in_place
def _work(m: Memory) -> float:
    """Work of the defects along a correction, every entry counted positive [J]."""
    defect, correction = span(m, REAL.defect_v, REAL.defect_lam), span(m, REAL.correction_v, REAL.correction_lam)
    total = 0.0
    for i in range(defect.size):
        total += abs(correction[i] * defect[i])
    return total


@in_place
def _energy_scale(m: Memory, h: float) -> float:
    """Kinetic and elastic energy of the step and the work of its loads [J]."""
    inertia_mass = vector(m, REAL.inertia_mass)
    x_v = matrix(m, REAL.x_v)
    end_v = matrix(m, REAL.end_v)
    inertia_weight = matrix(m, REAL.inertia_weight)
    trial_on_body = matrix(m, REAL.trial_on_body)
    x_w = matrix(m, REAL.x_w)
    at_p_r = matrix(m, REAL.at_p_r)
    x_du = vector(m, REAL.x_du)
    at_p_u = vector(m, REAL.at_p_u)
    end_sigma = vector(m, REAL.end_sigma)
    elastic_compliance_ptr = places(m, WHOLE.elastic_compliance_ptr)
    elastic_compliance_val = vector(m, REAL.elastic_compliance_val)
    elastic_compliance_col = places(m, WHOLE.elastic_compliance_col)
    total = 0.0
    for b in range(inertia_mass.size):
        for i in range(x_v.shape[1]):
            total += inertia_mass[b] * (x_v[b, i] ** 2 + end_v[b, i] ** 2)
            total += h * abs(x_v[b, i]) * (abs(inertia_weight[b, i]) + abs(trial_on_body[b, i]))
        for i in range(x_w.shape[1]):
            total += abs(at_p_r[b, i] * x_w[b, i]) + h * abs(x_w[b, i] * _body_torque(m, b, i))
    for i in range(x_du.size):
        total += abs(at_p_u[i] * x_du[i])
    for i in range(end_sigma.size):
        strain = 0.0
        for e in range(elastic_compliance_ptr[i], elastic_compliance_ptr[i + 1]):
            strain += elastic_compliance_val[e] * end_sigma[elastic_compliance_col[e]]
        total += abs(end_sigma[i] * strain)
    return max(total, 2.3e-308)


@in_place
def _body_torque(m: Memory, b: int, i: int) -> float:
    """R̄⁻¹ τ."""
    trial_torque = matrix(m, REAL.trial_torque)
    trial_inverse = tensor(m, REAL.trial_inverse)
    if trial_torque.shape[1] == 1:
        return trial_torque[b, 0]
    return (
        trial_inverse[b, i, 0] * trial_torque[b, 0]
        + trial_inverse[b, i, 1] * trial_torque[b, 1]
        + trial_inverse[b, i, 2] * trial_torque[b, 2]
    )


@in_place
def _coordinate_size(m: Memory) -> float:
    """Largest coordinate that positions are sums of [m], see flexph.kernels.resolution."""
    at_r = matrix(m, REAL.at_r)
    nodes_position = matrix(m, REAL.nodes_position)
    nodes_moves = vector(m, REAL.nodes_moves)
    size = 0.0
    for b in range(at_r.shape[0]):
        for i in range(at_r.shape[1]):
            size = max(size, abs(at_r[b, i]))
    for n in range(nodes_position.shape[0]):
        for i in range(nodes_position.shape[1]):
            size = max(size, abs(nodes_position[n, i]) * nodes_moves[n])
    return size


@in_place
def _kinetic_energy(m: Memory) -> float:
    """Kinetic energy at a trial end [J]."""
    inertia_mass = vector(m, REAL.inertia_mass)
    end_v, end_w, end_du = matrix(m, REAL.end_v), matrix(m, REAL.end_w), vector(m, REAL.end_du)
    end_p_r, end_p_u = matrix(m, REAL.end_p_r), vector(m, REAL.end_p_u)
    doubled = 0.0
    for b in range(inertia_mass.size):
        for i in range(end_v.shape[1]):
            doubled += inertia_mass[b] * end_v[b, i] ** 2
        for i in range(end_w.shape[1]):
            doubled += end_w[b, i] * end_p_r[b, i]
    for i in range(end_du.size):
        doubled += end_du[i] * end_p_u[i]
    return 0.5 * doubled


@in_place
def _below_resolution(m: Memory, size: float, h: float) -> bool:
    """Whether a correction moves nothing by more than a few round-offs of positions, whose ``size`` is given."""
    correction_v = matrix(m, REAL.correction_v)
    correction_w = matrix(m, REAL.correction_w)
    correction_du = vector(m, REAL.correction_du)
    moved, turned = 0.0, 0.0
    for b in range(correction_v.shape[0]):
        for i in range(correction_v.shape[1]):
            moved = max(moved, abs(correction_v[b, i]))
        for i in range(correction_w.shape[1]):
            turned = max(turned, abs(correction_w[b, i]))
    for i in range(correction_du.size):
        moved = max(moved, abs(correction_du[i]))
    return abs(h) * moved <= RESOLUTION * size and abs(h) * turned <= RESOLUTION
