"""Jacobian of a step of particles, from which the positions are eliminated."""

from __future__ import annotations

import cython

from ....discretisation.pair_equations import GONZALEZ
from ....systems.particle_terms import DRAG
from .arrays import OWN_PAIR

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import fill
    from .dampers import add_damper_forces, resistance, resistance_slope
    from .factors import factor, solve
    from .lines import add_block, add_opposite, component, relative
    from .springs import correction_factor, energy, potential_curvature, potential_slope, secant, secant_slope

BY_GONZALEZ = cython.declare(cython.Py_ssize_t, GONZALEZ)
BY_SECANTS = cython.declare(cython.Py_ssize_t, OWN_PAIR)
OF_DRAG = cython.declare(cython.Py_ssize_t, DRAG)


def assemble(s, dim, kind, h, before):
    """Assemble the Jacobian J₀ − h f gᵀ at the iterate, with positions eliminated from J₀; False if it is singular.

    f gᵀ is the part of Gonzalez' correction, ``before`` the energy at the start, and h [s] the length of the step.
    For gradients other than Gonzalez' and secants the Jacobian of the midpoint rule is taken, which differs by O(h).
    """
    n = s.x.size
    nv = s.weight.size
    fill(s.coupling, 0.0)
    fill(s.factors, 0.0)
    add_position_columns(s, dim, kind, h)
    ratio = 0.0
    if kind == BY_GONZALEZ:
        ratio = set_gonzalez_term(s, dim, h, before)
    s.factor_state[2] = 0
    if ratio != 0.0:
        s.factor_state[2] = 1
    for i in range(nv):
        share = 1.0 - 0.5 * s.differential[nv + i]
        s.position_share[i] = h * share
        if ratio != 0.0:
            s.coupling[i][i] += h * ratio
            if s.descriptor[nv + i] != 0.0:
                s.position_share[i] += h * ratio / s.descriptor[nv + i]
        s.factors[i][i] += s.descriptor[nv + i]
    add_velocity_columns(s, dim, h, ratio)
    for i in range(nv + s.rod_lengths.size):
        for j in range(nv):
            s.factors[i][j] += s.coupling[i][j] * s.position_share[j]
    if not factor(s):
        return False
    if ratio != 0.0:
        solve(s, s.work, s.gonzalez_column)
        along = 0.0
        for i in range(n):
            along += s.gonzalez_row[i] * s.gonzalez_column[i]
        share = h / (1.0 - h * along)
        for i in range(n):
            s.gonzalez_column[i] *= share
    return True


def add_position_columns(s, dim, kind, h):
    """Add the derivatives of the equations of v and λ with respect to the positions q at the end of the step.

    They are half of the derivatives with respect to the positions in the middle, except for secants. The terms of
    Gonzalez' correction are not included (see :func:`set_gonzalez_term`).
    """
    nv = s.weight.size
    for k in range(s.spring_kinds.size):
        if kind == BY_SECANTS:
            add_secant_stiffness(s, dim, k, h)
            continue
        square = 0.0
        for j in range(dim):
            square += s.spring_lines[k][j] * s.spring_lines[k][j]
        force = 2.0 * potential_slope(s.spring_kinds[k], s.spring_laws[k], square)
        curvature = 4.0 * potential_curvature(s.spring_kinds[k], s.spring_laws[k], square)
        for i in range(dim):
            for j in range(dim):
                value = curvature * s.spring_lines[k][i] * s.spring_lines[k][j]
                if i == j:
                    value += force
                add_block(s.spring_ends, k, dim, s.coupling, (i, j), 0.5 * h * value)
    for r in range(s.rod_lengths.size):
        force = s.z[2 * nv + r] / s.rod_lengths[r]
        for i in range(dim):
            add_block(s.rod_ends, r, dim, s.coupling, (i, i), 0.5 * h * force)
            rate = relative(s.rod_ends, r, dim, nv, s.z, i) / s.rod_lengths[r]
            add_opposite(s.rod_ends, r, dim, s.coupling[nv + r], i, -0.5 * h * rate)
    for k in range(s.damper_kinds.size):
        add_damper_slopes(s, dim, k, h)


def add_secant_stiffness(s, dim, k, h):
    """Add the derivative of the secant force of spring k with respect to the positions at the end of the step."""
    slope = secant(s.spring_kinds[k], s.spring_laws[k], s.invariants_before[k], s.invariants_after[k])
    secant_rate = secant_slope(s.spring_kinds[k], s.spring_laws[k], s.invariants_before[k], s.invariants_after[k])
    for j in range(dim):
        d = component(s.spring_ends, s.spring_offsets, k, dim, s.trial, j)
        for i in range(dim):
            value = 4.0 * secant_rate * s.spring_lines[k][i] * d
            if i == j:
                value += slope
            add_block(s.spring_ends, k, dim, s.coupling, (i, j), h * value)


def add_damper_slopes(s, dim, k, h):
    """Add the derivatives ∂(R w)/∂(q, v) of the force of damper k to the blocks of the Jacobian.

    w are the velocities z in the middle of the step, which are held constant; R are resistances that depend on q and
    v.
    """
    nv = s.weight.size
    square = 0.0
    rate = 0.0
    for j in range(dim):
        square += s.damper_lines[k][j] * s.damper_lines[k][j]
        rate += s.damper_lines[k][j] * relative(s.damper_ends, k, dim, nv, s.middle, j)
    if s.damper_kinds[k] == OF_DRAG:
        growth = 2.0 * s.damper_laws[k][0] * s.damper_laws[k][1]
        for i in range(dim):
            slope = growth * relative(s.damper_ends, k, dim, nv, s.z, i)
            for j in range(dim):
                add_block(s.damper_ends, k, dim, s.coupling, (i, j), 0.5 * h * slope * s.damper_lines[k][j])
    else:  # (d·w) d ρ(s)/(s ℓ²), s = d·v/ℓ, and here w = v
        length = sqrt(square)
        speed = rate / length
        slope = resistance(s.damper_kinds[k], s.damper_laws[k], speed)
        turn = resistance_slope(s.damper_kinds[k], s.damper_laws[k], speed)
        for i in range(dim):
            d = s.damper_lines[k][i] / length
            for j in range(dim):
                e = s.damper_lines[k][j] / length
                v = relative(s.damper_ends, k, dim, nv, s.middle, j)
                across = (v - speed * e) / length  # ∂s/∂d
                value = (slope + turn * speed) * d * across - slope * speed * d * e / length
                if i == j:
                    value += slope * speed / length
                add_block(s.damper_ends, k, dim, s.coupling, (i, j), 0.5 * h * value)
                add_damper_rate_slope(s, dim, k, h, (i, j), turn * speed * d * e)


def add_damper_rate_slope(s, dim, k, h, entry, value):
    """Add an entry ``value`` of ∂(R(q, v) w)/∂v of damper k, with respect to the velocities v at the end of the step.

    ``entry`` has its row and column, which are components along the axes. It counts by half, but fully for velocities
    of particles without mass, which the step has in its middle only.
    """
    i, j = entry
    nv = s.weight.size
    ends = s.damper_ends
    for a in range(2):
        row = ends[k][a]
        if row >= 0:
            for b in range(2):
                column = ends[k][b]
                if column >= 0:
                    place = column * dim + j
                    sign = 1.0 if a == b else -1.0
                    s.factors[row * dim + i][place] += sign * h * (1.0 - 0.5 * s.differential[nv + place]) * value


def add_velocity_columns(s, dim, h, ratio):
    """Add the derivatives with respect to v and λ that dampers and rods contribute to the equations of v and λ.

    ``ratio`` is that of Gonzalez' correction, which :func:`set_gonzalez_term` returns.
    """
    nv = s.weight.size
    for k in range(s.damper_kinds.size):
        square = 0.0
        rate = 0.0
        for j in range(dim):
            square += s.damper_lines[k][j] * s.damper_lines[k][j]
            rate += s.damper_lines[k][j] * relative(s.damper_ends, k, dim, nv, s.middle, j)
        drags = cython.declare(cython.bint, s.damper_kinds[k] == OF_DRAG)
        if drags:
            slope = s.damper_laws[k][0] * (1.0 + s.damper_laws[k][1] * square)
        else:
            slope = resistance(s.damper_kinds[k], s.damper_laws[k], rate / sqrt(square)) / square
        for i in range(dim):
            for j in range(dim):
                value = slope * s.damper_lines[k][i] * s.damper_lines[k][j]
                if drags:
                    value = slope if i == j else 0.0
                if value != 0.0:
                    add_resistance(s, dim, k, ratio, (i, j), h * value)
    for r in range(s.rod_lengths.size):
        for a in range(2):
            point = s.rod_ends[r][a]
            if point >= 0:
                for j in range(dim):
                    place = point * dim + j
                    d = (h if a == 1 else -h) * s.rod_lines[r][j] / s.rod_lengths[r]
                    s.factors[place][nv + r] += d
                    s.factors[nv + r][place] -= d * velocity_share(s, place, ratio)


def velocity_share(s, place, ratio):
    """Derivative of a velocity in z̄ with respect to that velocity at the end of the step.

    ``place`` is the index of the velocity, ``ratio`` the ratio that :func:`set_gonzalez_term` returns.
    """
    nv = s.weight.size
    share = 1.0 - 0.5 * s.differential[nv + place]
    if ratio != 0.0 and s.descriptor[nv + place] != 0.0:
        share += ratio / s.descriptor[nv + place]
    return share


def add_resistance(s, dim, k, ratio, entry, value):
    """Add the terms of an entry ``value`` of h R, for damper k, to the derivative of h R z̄.

    R is the resistance matrix of the damper; ``entry`` has the row and column, which are components along the axes. The
    derivative is that with respect to the velocities at the end of the step.
    """
    i, j = entry
    ends = s.damper_ends
    for a in range(2):
        row = ends[k][a]
        if row >= 0:
            for b in range(2):
                column = ends[k][b]
                if column >= 0:
                    place = column * dim + j
                    sign = 1.0 if a == b else -1.0
                    s.factors[row * dim + i][place] += sign * value * velocity_share(s, place, ratio)


def set_gonzalez_term(s, dim, h, before):
    """Set the part f gᵀ of the Jacobian that Gonzalez' correction adds, and return the ratio of the correction.

    The ratio is that of :func:`.springs.correction_factor`. f, set in ``work``, is the derivative of (J̄ − R̄) z̄ with
    respect to the ratio; g, set in ``gonzalez_row``, that of the ratio with respect to the state at the end of the
    step.
    """
    n = s.x.size
    nv = s.weight.size
    along = 0.0
    size = 0.0
    for i in range(n):
        along += s.z[i] * s.descriptor_step[i]
        size += s.step[i] * s.step[i]
    ratio = correction_factor(along, size, before, energy(s, dim, s.trial))
    if ratio == 0.0:
        return ratio
    fill(s.slope, 0.0)
    fill(s.gonzalez_row, 0.0)
    for i in range(nv):
        s.slope[i] = -s.weight[i]
        s.slope[nv + i] = s.descriptor[nv + i] * s.trial[nv + i]
    for k in range(s.spring_kinds.size):  # ∇V at the end, and half of the stiffness times the moved part
        square = 0.0
        middle = 0.0
        product = 0.0
        for j in range(dim):
            d = component(s.spring_ends, s.spring_offsets, k, dim, s.trial, j)
            square += d * d
            middle += s.spring_lines[k][j] * s.spring_lines[k][j]
            product += s.spring_lines[k][j] * relative(s.spring_ends, k, dim, 0, s.descriptor_step, j)
        force = 2.0 * potential_slope(s.spring_kinds[k], s.spring_laws[k], square)
        straight = 2.0 * potential_slope(s.spring_kinds[k], s.spring_laws[k], middle)
        steep = 4.0 * potential_curvature(s.spring_kinds[k], s.spring_laws[k], middle)
        for j in range(dim):
            d = component(s.spring_ends, s.spring_offsets, k, dim, s.trial, j)
            add_opposite(s.spring_ends, k, dim, s.slope, j, force * d)
            moved = relative(s.spring_ends, k, dim, 0, s.descriptor_step, j)
            value = steep * product * s.spring_lines[k][j] + straight * moved
            add_opposite(s.spring_ends, k, dim, s.gonzalez_row, j, 0.5 * value)
    for i in range(nv):
        s.gonzalez_row[nv + i] = (1.0 - 0.5 * s.differential[nv + i]) * s.descriptor_step[nv + i]
    for i in range(n):
        remainder = s.slope[i] - s.gonzalez_row[i] - s.z[i] * s.descriptor[i] - 2.0 * ratio * s.step[i]
        s.gonzalez_row[i] = remainder / size
    fill(s.resistive, 0.0)
    for i in range(nv):
        s.slope[i] = 0.0
        if s.descriptor[nv + i] != 0.0:
            s.slope[i] = s.step[nv + i] / s.descriptor[nv + i]
    add_damper_forces(s, dim, s.slope, s.resistive)
    for i in range(nv):
        s.work[i] = s.slope[i]
        s.work[nv + i] = -s.step[i] - s.resistive[i]
    for r in range(s.rod_lengths.size):
        rate = 0.0
        for j in range(dim):
            rate += s.rod_lines[r][j] * relative(s.rod_ends, r, dim, 0, s.slope, j)
        s.work[2 * nv + r] = rate / s.rod_lengths[r]
    return ratio
