"""Residual of a step of particles at an iterate."""

from __future__ import annotations

import cython

from ....discretisation.pair_equations import GONZALEZ, INVARIANTS, MEAN_VALUE
from ....systems.discrete_gradients import ROUND_OFF, ROUND_OFF_DRIFT
from .arrays import OWN_PAIR

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, larger, part
    from .costates import set_gonzalez_costate, set_invariants_costate, set_mean_value_costate, set_secants_costate
    from .dampers import add_damper_forces
    from .lines import add_opposite, component, relative, set_lines
    from .springs import add_spring_forces

BY_GONZALEZ = cython.declare(cython.Py_ssize_t, GONZALEZ)
BY_INVARIANTS = cython.declare(cython.Py_ssize_t, INVARIANTS)
BY_MEAN_VALUE = cython.declare(cython.Py_ssize_t, MEAN_VALUE)
BY_SECANTS = cython.declare(cython.Py_ssize_t, OWN_PAIR)
ROUNDED = cython.declare(cython.double, ROUND_OFF)
LEFT_OVER = cython.declare(cython.double, ROUND_OFF_DRIFT)


def set_residual(s, dim, kind, k, h, before):
    """Set the residual E Δx − h ((J̄ − R̄) z̄ + B̄ u) of step k at the iterate, with the costate z̄ of the given kind.

    ``before`` is the energy at the start of the step.
    """
    n = s.x.size
    nv = s.weight.size
    for i in range(n):
        s.step[i] = s.differential[i] * (s.trial[i] - s.x[i])
        s.middle[i] = s.trial[i] - 0.5 * s.step[i]
        s.descriptor_step[i] = s.descriptor[i] * s.step[i]
        s.z[i] = s.middle[i]
    set_lines(s.spring_ends, s.spring_offsets, dim, s.middle, s.spring_lines)
    set_lines(s.rod_ends, s.rod_offsets, dim, s.middle, s.rod_lines)
    set_lines(s.damper_ends, s.damper_offsets, dim, s.middle, s.damper_lines)
    for i in range(nv):
        s.z[i] = -s.weight[i]
    add_spring_forces(s, dim, s.spring_lines, 1.0, s.z)
    copy(s.z, s.costate)
    if kind == BY_GONZALEZ:
        set_gonzalez_costate(s, dim, before)
    elif kind == BY_MEAN_VALUE:
        set_mean_value_costate(s, dim, before)
    elif kind == BY_INVARIANTS:
        set_invariants_costate(s, dim, before)
    elif kind == BY_SECANTS:
        set_secants_costate(s, dim)
        set_rod_shares(s, dim)
    set_flows(s, dim, k, h)


def set_rod_shares(s, dim):
    """Set, for each rod, the multiple of Δq that completes the gradient of its constraint to a discrete gradient.

    The product of the completed gradient and Δq, the change of the positions in the step, is the change of the
    constraint. A step thus also removes the round-off that earlier steps left in the lengths of rods. See
    :func:`flexph.systems.discrete_gradients.discrete_jacobian`.
    """
    size = 0.0
    for i in range(s.weight.size):
        size += s.step[i] * s.step[i]
    for r in range(s.rod_lengths.size):
        length = s.rod_lengths[r]
        before = 0.0
        after = 0.0
        along = 0.0
        moved = 0.0
        reach = 0.0
        for j in range(dim):
            d = component(s.rod_ends, s.rod_offsets, r, dim, s.x, j)
            before += d * d
            d = component(s.rod_ends, s.rod_offsets, r, dim, s.trial, j)
            after += d * d
            slope = s.rod_lines[r][j] / length
            along += slope * relative(s.rod_ends, r, dim, 0, s.step, j)
            for a in range(2):
                point = s.rod_ends[r][a]
                if point >= 0:
                    i = point * dim + j
                    moved += fabs(slope) * fabs(s.step[i])
                    reach += fabs(slope) * larger(fabs(s.x[i]), fabs(s.trial[i]))
        first = 0.5 * (before / length - length)
        last = 0.5 * (after / length - length)
        noise = ROUNDED * (larger(fabs(first), fabs(last)) + reach)
        if fabs(first) <= LEFT_OVER * moved:
            first = 0.0
        missing = last - first - along
        s.rod_shares[r] = 0.0
        if fabs(missing) > noise and size > 0.0:
            s.rod_shares[r] = missing / size


def set_flows(s, dim, k, h):
    """Set the residual of step k (see :func:`set_residual`) from its costate z̄, and the damper forces R̄ z̄."""
    nv = s.weight.size
    for i in range(nv):
        s.work[i] = s.costate[nv + i]
    fill(s.resistive, 0.0)
    add_damper_forces(s, dim, s.work, s.resistive)
    for i in range(nv):
        s.residual[i] = s.costate[nv + i]
        s.residual[nv + i] = -s.costate[i] - s.resistive[i]
    for r in range(s.rod_lengths.size):
        rate = 0.0
        force = -s.costate[2 * nv + r] / s.rod_lengths[r]
        for j in range(dim):
            rate += s.rod_lines[r][j] * relative(s.rod_ends, r, dim, nv, s.costate, j)
            add_opposite(s.rod_ends, r, dim, part(s.residual, nv, s.residual.size), j, force * s.rod_lines[r][j])
        s.residual[2 * nv + r] = rate / s.rod_lengths[r]
        if s.rod_shares[r] != 0.0:
            force = s.rod_shares[r] * s.costate[2 * nv + r]
            for i in range(nv):
                s.residual[nv + i] -= force * s.step[i]
                s.residual[2 * nv + r] += s.rod_shares[r] * s.step[i] * s.costate[nv + i]
    for i in range(s.inputs.size):
        s.residual[nv + s.inputs[i]] += s.input_values[k][i]
    for i in range(s.x.size):
        s.residual[i] = s.descriptor_step[i] - h * s.residual[i]
