"""Costates z̄ of a step of particles, by each kind of discrete gradient."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import fill
    from .lines import add_opposite, set_lines
    from .springs import add_spring_forces, correction_factor, energy, potential_slope, secant, set_invariants


def set_gonzalez_costate(s, dim, before):
    """Correct the midpoint's costate z(m) to Gonzalez' z̄ = z(m) + E⁻¹ Δx (ΔH − z(m)·E Δx)/(Δx·Δx).

    m is the mean of the states at both ends of the step, Δx their difference, ``before`` the energy H at the start.
    """
    n = s.x.size
    along = 0.0
    size = 0.0
    for i in range(n):
        along += s.z[i] * s.descriptor_step[i]
        size += s.step[i] * s.step[i]
    ratio = correction_factor(along, size, before, energy(s, dim, s.trial))
    if ratio != 0.0:
        for i in range(n):
            if s.descriptor[i] != 0.0:
                s.costate[i] += ratio * s.step[i] / s.descriptor[i]


def set_mean_value_costate(s, dim, before):
    """Set the costate z̄ = E⁻¹∇̄H with the mean of ∇H along the line from the start to the end of the step.

    ``before`` is the energy at the start. The error of the quadrature is removed by Gonzalez' correction.
    """
    n = s.x.size
    nv = s.weight.size
    fill(s.slope, 0.0)
    for p in range(s.nodes.size):
        part = s.nodes[p] - 1.0
        for i in range(n):
            s.work[i] = s.trial[i] + part * s.step[i]
        for i in range(nv):
            s.slope[i] -= s.weights[p] * s.weight[i]
            s.slope[nv + i] += s.weights[p] * s.descriptor[nv + i] * s.work[nv + i]
        set_lines(s.spring_ends, s.spring_offsets, dim, s.work, s.spring_lines)
        add_spring_forces(s, dim, s.spring_lines, s.weights[p], s.slope)
    set_lines(s.spring_ends, s.spring_offsets, dim, s.middle, s.spring_lines)
    along = 0.0
    size = 0.0
    for i in range(n):
        along += s.slope[i] * s.step[i]
        size += s.step[i] * s.step[i]
    ratio = correction_factor(along, size, before, energy(s, dim, s.trial))
    for i in range(n):
        if s.descriptor[i] != 0.0:
            s.costate[i] = (s.slope[i] + ratio * s.step[i]) / s.descriptor[i]


def set_invariants_costate(s, dim, before):
    """Set the costate z̄ = E⁻¹Dπ(m)ᵀ∇̄H, with Gonzalez' gradient ∇̄H of H as a function of the invariants π(x).

    Dπ(m) is their derivative at the mean m of both ends of the step, ``before`` the energy H at the start.
    """
    nv = s.weight.size
    count = s.spring_kinds.size
    set_invariants(s, dim, s.trial, s.invariants_after)
    first = s.invariants_before
    last = s.invariants_after
    along = (last[count] - first[count]) + 0.5 * (last[count + 1] - first[count + 1])
    size = 0.0
    for k in range(count):
        middle = 0.5 * (first[k] + last[k])
        along += potential_slope(s.spring_kinds[k], s.spring_laws[k], middle) * (last[k] - first[k])
    for k in range(count + 2):
        size += (last[k] - first[k]) * (last[k] - first[k])
    ratio = correction_factor(along, size, before, energy(s, dim, s.trial))
    weight = 1.0 + ratio * (last[count] - first[count])
    kinetic = 0.5 + ratio * (last[count + 1] - first[count + 1])
    for i in range(nv):
        s.costate[i] = -weight * s.weight[i]
        if s.descriptor[nv + i] != 0.0:
            s.costate[nv + i] = 2.0 * kinetic * s.middle[nv + i]
    for k in range(count):
        middle = 0.5 * (first[k] + last[k])
        slope = potential_slope(s.spring_kinds[k], s.spring_laws[k], middle) + ratio * (last[k] - first[k])
        for j in range(dim):
            add_opposite(s.spring_ends, k, dim, s.costate, j, 2.0 * slope * s.spring_lines[k][j])


def set_secants_costate(s, dim):
    """Set the costate z̄: velocities in the middle, and forces of springs by secants of their potentials.

    A secant is ΔV/Δ(ℓ²), the change of the potential over that of the squared length in the step.
    """
    nv = s.weight.size
    set_invariants(s, dim, s.trial, s.invariants_after)
    for i in range(nv):
        s.costate[i] = -s.weight[i]
    for k in range(s.spring_kinds.size):
        slope = secant(s.spring_kinds[k], s.spring_laws[k], s.invariants_before[k], s.invariants_after[k])
        for j in range(dim):
            add_opposite(s.spring_ends, k, dim, s.costate, j, 2.0 * slope * s.spring_lines[k][j])
