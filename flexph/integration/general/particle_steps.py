"""Steps of particles by discrete gradients, secants and the midpoint rule, in compiled loops.

The equations are those of :mod:`flexph.discretisation.pair_equations`, and of
:mod:`flexph.discretisation.own_pair` with the pair of :func:`rigid.point_masses`, for the terms of
:mod:`flexph.systems.particle_terms`; the iteration is that of :mod:`flexph.discretisation.iteration`. Two differences
change the numbers by round-off only: the equations of positions are eliminated before the Jacobian is factored, and
Broyden's updates are kept as factors ``1 + c sᵀ`` of its inverse, so that a correction is one product.
"""

from __future__ import annotations

from math import inf
from typing import Any

import cython

from ...discretisation.iteration import DIVERGED, NEWTON, SINGULAR, SOLVED, UNSETTLED
from ...discretisation.pair_equations import FED_BACK, GONZALEZ, INVARIANTS, MEAN_VALUE
from ...laws.resistive_relations import NEAR, SMALL
from ...systems.discrete_gradients import MADE_UP, ROUND_OFF
from ...systems.particle_terms import COULOMB, DRAG, LENGTH, QUADRATIC, VISCOUS
from .particle_arrays import OWN_PAIR

if not cython.compiled:
    from math import exp, fabs, isfinite, sqrt, tanh

    from ...numerics.loops.views import copy, fill, larger, smaller
    from .particle_arrays import Space

BY_GONZALEZ = cython.declare(cython.Py_ssize_t, GONZALEZ)
BY_INVARIANTS = cython.declare(cython.Py_ssize_t, INVARIANTS)
BY_MEAN_VALUE = cython.declare(cython.Py_ssize_t, MEAN_VALUE)
BY_SECANTS = cython.declare(cython.Py_ssize_t, OWN_PAIR)
OF_LENGTH = cython.declare(cython.Py_ssize_t, LENGTH)
OF_VISCOUS = cython.declare(cython.Py_ssize_t, VISCOUS)
OF_QUADRATIC = cython.declare(cython.Py_ssize_t, QUADRATIC)
OF_COULOMB = cython.declare(cython.Py_ssize_t, COULOMB)
OF_DRAG = cython.declare(cython.Py_ssize_t, DRAG)
IS_SOLVED = cython.declare(cython.Py_ssize_t, SOLVED)
IS_SINGULAR = cython.declare(cython.Py_ssize_t, SINGULAR)
HAS_DIVERGED = cython.declare(cython.Py_ssize_t, DIVERGED)
IS_UNSETTLED = cython.declare(cython.Py_ssize_t, UNSETTLED)
ROUNDED = cython.declare(cython.double, ROUND_OFF)
LEFT_OVER = cython.declare(cython.double, MADE_UP)
NEARLY_SAME = cython.declare(cython.double, 1e-4)  # change of a squared length over their sum: beyond, secants turn
ACCOUNTED = cython.declare(cython.double, FED_BACK)
SMALL_RATE = cython.declare(cython.double, SMALL)
NEAR_RATE = cython.declare(cython.double, NEAR)
SETTLED = cython.declare(cython.double, NEWTON.settled)
LEAST_REDUCTION = cython.declare(cython.double, NEWTON.least_reduction)
STAGNATED = cython.declare(cython.double, NEWTON.stagnated)
NOISE = cython.declare(cython.double, NEWTON.noise)
STALLED = cython.declare(cython.double, NEWTON.stalled)
SUDDEN = cython.declare(cython.double, NEWTON.sudden)
FAR = cython.declare(cython.double, NEWTON.far)
SLOW = cython.declare(cython.double, NEWTON.slow)
SINGULAR_UPDATE = cython.declare(cython.double, NEWTON.singular_update)
ITERATIONS = cython.declare(cython.Py_ssize_t, NEWTON.iterations)
NO_CHANGE = cython.declare(cython.double, inf)


def take_steps(arrays: Any, table: int, dim: int, kind: int) -> None:
    """Take one step from each time to the next by a kind of costates, up to one that is not solved.

    ``arrays`` is a Space, ``table`` the address of the table of its addresses and shapes.
    """
    address = cython.declare(cython.size_t, table)
    dimension = cython.declare(cython.Py_ssize_t, dim)
    gradient = cython.declare(cython.Py_ssize_t, kind)
    if cython.compiled:
        space = cython.declare(Space)
        memcpy(  # type: ignore[name-defined]  # noqa: F821
            cython.address(space), cython.cast(cython.p_void, address), cython.sizeof(Space)
        )
        with cython.nogil:
            run(cython.address(space), dimension, gradient)
    else:
        run(arrays, dimension, gradient)


def run(s, dim, kind):
    """Take the steps of a run (see :func:`take_steps`)."""
    n = s.x.size
    nv = s.weight.size
    s.end[0] = 0
    s.end[1] = IS_SOLVED
    for k in range(s.times.size - 1):
        h = s.times[k + 1] - s.times[k]
        before = s.energy[0]
        if fabs(s.energy[1] - s.energy[0]) <= ACCOUNTED * s.energy[2]:
            before = s.energy[1]
        if kind in (BY_INVARIANTS, BY_SECANTS):
            invariants(s, dim, s.x, s.first)
        for i in range(n):
            s.trial[i] = s.x[i] + h * (s.moves[i] * s.rate[i])
        status = newton(s, dim, kind, k, h, before)
        if status != IS_SOLVED:
            s.end[1] = status
            return
        if kind == BY_SECANTS:  # one correction past the root: its remainder would add up over many steps
            corrected(s, s.correction)
            for i in range(n):
                s.trial[i] -= s.size[i] * s.correction[i]
            equation(s, dim, kind, k, h, before)
        lost = 0.0
        for i in range(nv):
            lost += s.costate[nv + i] * s.lost[i]
        exchanged = 0.0
        for i in range(n):
            exchanged += fabs(s.costate[i]) * fabs(s.moved[i])
        s.dissipated[k] = h * lost
        s.energy[0] = energy(s, dim, s.trial)
        s.energy[1] -= s.dissipated[k]
        s.energy[2] = exchanged
        work = 0.0
        for i in range(s.inputs.size):
            s.outputs[k][i] = s.costate[nv + s.inputs[i]]
            work += s.outputs[k][i] * s.given[k][i]
        s.energy[1] += h * work
        for i in range(n):
            s.rate[i] = (s.trial[i] - s.x[i]) / h
            s.x[i] = s.trial[i]
            s.states[k][i] = s.trial[i]
        grow(s)
        s.energies[k] = s.energy[0]
        s.iterations[k] = s.end[2]
        s.end[0] = k + 1


def grow(s):
    """Update the sizes of the states after a step; a thousandth of the largest of all for states of zero size."""
    largest_of_all = 0.0
    missing = cython.declare(cython.bint, False)
    for i in range(s.x.size):
        if fabs(s.x[i]) > s.size[i]:
            s.size[i] = fabs(s.x[i])
        if s.size[i] > largest_of_all:
            largest_of_all = s.size[i]
        if s.size[i] == 0.0:
            missing = True
    if missing:
        for i in range(s.x.size):
            if s.size[i] < 1e-3 * largest_of_all:
                s.size[i] = 1e-3 * largest_of_all


# --- terms --------------------------------------------------------------------------------------------------------


def difference(ends, offsets, k, dim, q, j):
    """Component of the difference of q between the ends of a line, including its fixed places."""
    value = offsets[k][j]
    first = ends[k][0]
    second = ends[k][1]
    if first >= 0:
        value -= q[first * dim + j]
    if second >= 0:
        value += q[second * dim + j]
    return value


def apart(ends, k, dim, shift, v, j):
    """Component of the difference of v[shift:] between the ends of a line."""
    value = 0.0
    first = ends[k][0]
    second = ends[k][1]
    if first >= 0:
        value -= v[shift + first * dim + j]
    if second >= 0:
        value += v[shift + second * dim + j]
    return value


def spread(ends, k, dim, shift, out, j, value):
    """Add a component of a force on the second end of a line, and its reaction on the first."""
    first = ends[k][0]
    second = ends[k][1]
    if first >= 0:
        out[shift + first * dim + j] -= value
    if second >= 0:
        out[shift + second * dim + j] += value


def potential(kind, law, square):
    """Potential V of a spring as a function of its squared length."""
    if kind == OF_LENGTH:
        e = sqrt(square) - law[2]
        return (0.5 * law[0] + 0.25 * law[1] * e * e) * e * e
    s = square - law[2]
    return (law[0] + 0.5 * law[1] * s) * s


def pull(kind, law, square):
    """Derivative dV/d(ℓ²) of a spring; not finite if its force has no direction."""
    if kind == OF_LENGTH:
        length = sqrt(square)
        e = length - law[2]
        return 0.5 * (law[0] + law[1] * e * e) * e / length if length > 0.0 else NO_CHANGE
    return law[0] + law[1] * (square - law[2])


def stiffness(kind, law, square):
    """Second derivative d²V/d(ℓ²)² of a spring."""
    if kind == OF_LENGTH:
        length = sqrt(square)
        e = length - law[2]
        own = law[0] + 3.0 * law[1] * e * e - (law[0] + law[1] * e * e) * e / length
        return 0.25 * own / (length * length)
    return law[1]


def energy(s, dim, x):
    """Energy H of a state."""
    nv = s.weight.size
    kinetic = 0.0
    given = 0.0
    for i in range(nv):
        kinetic += s.descriptor[nv + i] * x[nv + i] * x[nv + i]
        given += s.weight[i] * x[i]
    stored = 0.0
    for k in range(s.spring_kinds.size):
        stored += potential(s.spring_kinds[k], s.spring_laws[k], squared(s, dim, k, x))
    return 0.5 * kinetic + stored - given


def squared(s, dim, k, x):
    """Squared length of a spring."""
    square = 0.0
    for j in range(dim):
        d = difference(s.spring_ends, s.spring_offsets, k, dim, x, j)
        square += d * d
    return square


def invariants(s, dim, x, out):
    """Write squared lengths of springs, the potential of constant forces and twice the kinetic energy into ``out``."""
    nv = s.weight.size
    count = s.spring_kinds.size
    for k in range(count):
        out[k] = squared(s, dim, k, x)
    out[count] = 0.0
    out[count + 1] = 0.0
    for i in range(nv):
        out[count] -= s.weight[i] * x[i]
        out[count + 1] += s.descriptor[nv + i] * x[nv + i] * x[nv + i]


def lines_of(ends, offsets, dim, q, out):
    """Write the lines between two points each into ``out``."""
    for k in range(out.shape[0]):
        for j in range(dim):
            out[k][j] = difference(ends, offsets, k, dim, q, j)


def add_springs(s, dim, lines, share, out):
    """Add a share of the forces of springs along their lines."""
    for k in range(s.spring_kinds.size):
        square = 0.0
        for j in range(dim):
            square += lines[k][j] * lines[k][j]
        force = 2.0 * share * pull(s.spring_kinds[k], s.spring_laws[k], square)
        for j in range(dim):
            spread(s.spring_ends, k, dim, 0, out, j, force * lines[k][j])


def relation_force(kind, law, rate):
    """Force ρ at a rate."""
    if kind == OF_VISCOUS:
        return law[0] * rate
    if kind == OF_QUADRATIC:
        return law[0] * fabs(rate) * rate
    return friction_level(law, rate) * tanh(rate / law[1]) + law[4] * rate


def friction_level(law, rate):
    """Level of dry friction, which falls from static to sliding."""
    part = rate / law[3]
    return law[0] + (law[2] - law[0]) * exp(-(part * part))


def relation_slope(kind, law, rate):
    """Slope ρ' at a rate."""
    if kind == OF_VISCOUS:
        return law[0]
    if kind == OF_QUADRATIC:
        return 2.0 * law[0] * fabs(rate)
    level = friction_level(law, rate)
    change = -2.0 * rate / (law[3] * law[3]) * (level - law[0])
    smooth = tanh(rate / law[1])
    return change * smooth + level * (1.0 - smooth * smooth) / law[1] + law[4]


def relation_unit(kind, law):
    """Rate on whose scale a relation may bend."""
    if kind != OF_COULOMB:
        return 1.0
    return smaller(law[1], law[3])


def resistance(kind, law, rate):
    """Resistance ρ(s)/s at a rate s; at rest its limit."""
    if fabs(rate) > SMALL_RATE * relation_unit(kind, law):
        return relation_force(kind, law, rate) / rate
    return relation_slope(kind, law, rate)


def resistance_slope(kind, law, rate):
    """Derivative of ρ(s)/s with respect to the rate s."""
    if fabs(rate) > NEAR_RATE * relation_unit(kind, law):
        return (relation_slope(kind, law, rate) - relation_force(kind, law, rate) / rate) / rate
    if kind == OF_COULOMB:
        curvature = -law[2] / (3.0 * law[1] * law[1] * law[1]) - (law[2] - law[0]) / (law[1] * law[3] * law[3])
        return 2.0 * curvature * rate
    return 0.0


def add_dampers(s, dim, v, out):
    """Add the forces R v of dampers, with R in the middle; v and its forces cover velocities only."""
    nv = s.weight.size
    for k in range(s.damper_kinds.size):
        square = 0.0
        for j in range(dim):
            square += s.damper_lines[k][j] * s.damper_lines[k][j]
        if s.damper_kinds[k] == OF_DRAG:
            drag = s.damper_laws[k][0] * (1.0 + s.damper_laws[k][1] * square)
            for j in range(dim):
                spread(s.damper_ends, k, dim, 0, out, j, drag * apart(s.damper_ends, k, dim, 0, v, j))
        else:
            rate = 0.0
            along = 0.0
            for j in range(dim):
                rate += s.damper_lines[k][j] * apart(s.damper_ends, k, dim, nv, s.middle, j)
                along += s.damper_lines[k][j] * apart(s.damper_ends, k, dim, 0, v, j)
            length = sqrt(square)
            along *= resistance(s.damper_kinds[k], s.damper_laws[k], rate / length) / square
            for j in range(dim):
                spread(s.damper_ends, k, dim, 0, out, j, along * s.damper_lines[k][j])


# --- the equations of a step --------------------------------------------------------------------------------------


def equation(s, dim, kind, k, h, before):
    """Set the residual E Δx − h ((J̄ − R̄) z̄ + B̄ u) at the iterate, with the costate z̄."""
    n = s.x.size
    nv = s.weight.size
    for i in range(n):
        s.step[i] = s.moves[i] * (s.trial[i] - s.x[i])
        s.middle[i] = s.trial[i] - 0.5 * s.step[i]
        s.moved[i] = s.descriptor[i] * s.step[i]
        s.z[i] = s.middle[i]
    lines_of(s.spring_ends, s.spring_offsets, dim, s.middle, s.spring_lines)
    lines_of(s.rod_ends, s.rod_offsets, dim, s.middle, s.rod_lines)
    lines_of(s.damper_ends, s.damper_offsets, dim, s.middle, s.damper_lines)
    for i in range(nv):
        s.z[i] = -s.weight[i]
    add_springs(s, dim, s.spring_lines, 1.0, s.z)
    copy(s.z, s.costate)
    if kind == BY_GONZALEZ:
        along_gonzalez(s, dim, before)
    elif kind == BY_MEAN_VALUE:
        along_mean_value(s, dim, before)
    elif kind == BY_INVARIANTS:
        along_invariants(s, dim, before)
    elif kind == BY_SECANTS:
        along_secants(s, dim)
        hold_rods(s, dim)
    flows(s, dim, k, h)


def missing_share(along, size, before, after):
    """Factor (ΔH − ∇H(m)·Δx)/(Δx·Δx) of the gradient's correction; zero if it is round-off."""
    missing = (after - before) - along
    bound = fabs(before) if fabs(before) > fabs(after) else fabs(after)
    if fabs(missing) <= ROUNDED * bound or size == 0.0:
        return 0.0
    return missing / size


def along_gonzalez(s, dim, before):
    """Correct the costate to z̄ = z(m) + E⁻¹ Δx (ΔH − z(m)·E Δx)/(Δx·Δx)."""
    n = s.x.size
    along = 0.0
    size = 0.0
    for i in range(n):
        along += s.z[i] * s.moved[i]
        size += s.step[i] * s.step[i]
    ratio = missing_share(along, size, before, energy(s, dim, s.trial))
    if ratio != 0.0:
        for i in range(n):
            if s.descriptor[i] != 0.0:
                s.costate[i] += ratio * s.step[i] / s.descriptor[i]


def along_mean_value(s, dim, before):
    """Set the costate z̄ = E⁻¹∇̄H with the mean of ∇H between the ends, closed by Gonzalez' correction."""
    n = s.x.size
    nv = s.weight.size
    fill(s.slope, 0.0)
    for p in range(s.nodes.size):
        part = s.nodes[p] - 1.0
        for i in range(n):
            s.turned[i] = s.trial[i] + part * s.step[i]
        for i in range(nv):
            s.slope[i] -= s.weights[p] * s.weight[i]
            s.slope[nv + i] += s.weights[p] * s.descriptor[nv + i] * s.turned[nv + i]
        lines_of(s.spring_ends, s.spring_offsets, dim, s.turned, s.spring_lines)
        add_springs(s, dim, s.spring_lines, s.weights[p], s.slope)
    lines_of(s.spring_ends, s.spring_offsets, dim, s.middle, s.spring_lines)
    along = 0.0
    size = 0.0
    for i in range(n):
        along += s.slope[i] * s.step[i]
        size += s.step[i] * s.step[i]
    ratio = missing_share(along, size, before, energy(s, dim, s.trial))
    for i in range(n):
        if s.descriptor[i] != 0.0:
            s.costate[i] = (s.slope[i] + ratio * s.step[i]) / s.descriptor[i]


def along_invariants(s, dim, before):
    """Set the costate z̄ = E⁻¹Dπ(m)ᵀ∇̄H with Gonzalez' gradient of H as a function of the invariants π."""
    nv = s.weight.size
    count = s.spring_kinds.size
    invariants(s, dim, s.trial, s.last)
    along = (s.last[count] - s.first[count]) + 0.5 * (s.last[count + 1] - s.first[count + 1])
    size = 0.0
    for k in range(count):
        middle = 0.5 * (s.first[k] + s.last[k])
        along += pull(s.spring_kinds[k], s.spring_laws[k], middle) * (s.last[k] - s.first[k])
    for k in range(count + 2):
        size += (s.last[k] - s.first[k]) * (s.last[k] - s.first[k])
    ratio = missing_share(along, size, before, energy(s, dim, s.trial))
    given = 1.0 + ratio * (s.last[count] - s.first[count])
    kinetic = 0.5 + ratio * (s.last[count + 1] - s.first[count + 1])
    for i in range(nv):
        s.costate[i] = -given * s.weight[i]
        if s.descriptor[nv + i] != 0.0:
            s.costate[nv + i] = 2.0 * kinetic * s.middle[nv + i]
    for k in range(count):
        middle = 0.5 * (s.first[k] + s.last[k])
        own = pull(s.spring_kinds[k], s.spring_laws[k], middle) + ratio * (s.last[k] - s.first[k])
        for j in range(dim):
            spread(s.spring_ends, k, dim, 0, s.costate, j, 2.0 * own * s.spring_lines[k][j])


def secant(kind, law, first, last):
    """Secant ΔV/Δ(ℓ²) of a spring between two squared lengths, computed from their mean."""
    step = last - first
    middle = pull(kind, law, 0.5 * (first + last))
    share = missing_share(middle * step, step * step, potential(kind, law, first), potential(kind, law, last))
    return middle + share * step


def secant_slope(kind, law, first, last):
    """Derivative of the secant with respect to the second squared length."""
    step = last - first
    if fabs(step) > NEARLY_SAME * (first + last):
        return (pull(kind, law, last) - secant(kind, law, first, last)) / step
    return 0.5 * stiffness(kind, law, 0.5 * (first + last))


def along_secants(s, dim):
    """Set the costate z̄ by the springs' secants in their squared lengths, and by velocities in the middle."""
    nv = s.weight.size
    invariants(s, dim, s.trial, s.last)
    for i in range(nv):
        s.costate[i] = -s.weight[i]
    for k in range(s.spring_kinds.size):
        own = secant(s.spring_kinds[k], s.spring_laws[k], s.first[k], s.last[k])
        for j in range(dim):
            spread(s.spring_ends, k, dim, 0, s.costate, j, 2.0 * own * s.spring_lines[k][j])


def hold_rods(s, dim):
    """Set the coefficients of Δq in the rods' discrete gradients, beyond their lines.

    With them the step compensates earlier round-off.

    See :func:`flexph.systems.discrete_gradients.discrete_jacobian`.
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
            d = difference(s.rod_ends, s.rod_offsets, r, dim, s.x, j)
            before += d * d
            d = difference(s.rod_ends, s.rod_offsets, r, dim, s.trial, j)
            after += d * d
            slope = s.rod_lines[r][j] / length
            along += slope * apart(s.rod_ends, r, dim, 0, s.step, j)
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


def flows(s, dim, k, h):
    """Set the residual at z̄, and the forces R̄ z̄ in ``lost``."""
    nv = s.weight.size
    for i in range(nv):
        s.turned[i] = s.costate[nv + i]
    fill(s.lost, 0.0)
    add_dampers(s, dim, s.turned, s.lost)
    for i in range(nv):
        s.residual[i] = s.costate[nv + i]
        s.residual[nv + i] = -s.costate[i] - s.lost[i]
    for r in range(s.rod_lengths.size):
        rate = 0.0
        force = -s.costate[2 * nv + r] / s.rod_lengths[r]
        for j in range(dim):
            rate += s.rod_lines[r][j] * apart(s.rod_ends, r, dim, nv, s.costate, j)
            spread(s.rod_ends, r, dim, nv, s.residual, j, force * s.rod_lines[r][j])
        s.residual[2 * nv + r] = rate / s.rod_lengths[r]
        if s.rod_shares[r] != 0.0:
            force = s.rod_shares[r] * s.costate[2 * nv + r]
            for i in range(nv):
                s.residual[nv + i] -= force * s.step[i]
                s.residual[2 * nv + r] += s.rod_shares[r] * s.step[i] * s.costate[nv + i]
    for i in range(s.inputs.size):
        s.residual[nv + s.inputs[i]] += s.given[k][i]
    for i in range(s.x.size):
        s.residual[i] = s.moved[i] - h * s.residual[i]


# --- its derivative -----------------------------------------------------------------------------------------------


def add_block(ends, k, dim, matrix, shift, i, j, value):
    """Add an entry of a block DᵀKD to a matrix whose rows begin at the shift."""
    first = ends[k][0]
    second = ends[k][1]
    if first >= 0:
        matrix[shift + first * dim + i][first * dim + j] += value
    if second >= 0:
        matrix[shift + second * dim + i][second * dim + j] += value
    if first >= 0 and second >= 0:
        matrix[shift + first * dim + i][second * dim + j] -= value
        matrix[shift + second * dim + i][first * dim + j] -= value


def assemble(s, dim, kind, h, before):
    """Assemble the Jacobian J₀ − h f gᵀ at the iterate, with positions eliminated from J₀; False if it is singular.

    For gradients other than Gonzalez' and secants it is that of the midpoint, which differs by the order of the step.
    """
    n = s.x.size
    nv = s.weight.size
    fill(s.coupling, 0.0)
    fill(s.factors, 0.0)
    stiffnesses(s, dim, kind, h)
    ratio = 0.0
    if kind == BY_GONZALEZ:
        ratio = bend(s, dim, h, before)
    s.known[2] = 0
    if ratio != 0.0:
        s.known[2] = 1
    for i in range(nv):
        share = 1.0 - 0.5 * s.moves[nv + i]
        s.passed[i] = h * share
        if ratio != 0.0:
            s.coupling[i][i] += h * ratio
            if s.descriptor[nv + i] != 0.0:
                s.passed[i] += h * ratio / s.descriptor[nv + i]
        s.factors[i][i] += s.descriptor[nv + i]
    rates(s, dim, h, ratio)
    for i in range(nv + s.rod_lengths.size):
        for j in range(nv):
            s.factors[i][j] += s.coupling[i][j] * s.passed[j]
    if not factor(s):
        return False
    if ratio != 0.0:
        solve(s, s.turned, s.bent)
        along = 0.0
        for i in range(n):
            along += s.bend[i] * s.bent[i]
        share = h / (1.0 - h * along)
        for i in range(n):
            s.bent[i] *= share
    return True


def stiffnesses(s, dim, kind, h):
    """Add the rows of v and λ in the columns of q, without Gonzalez' ratio; a midpoint's derivative counts half."""
    nv = s.weight.size
    for k in range(s.spring_kinds.size):
        if kind == BY_SECANTS:
            secant_stiffness(s, dim, k, h)
            continue
        square = 0.0
        for j in range(dim):
            square += s.spring_lines[k][j] * s.spring_lines[k][j]
        force = 2.0 * pull(s.spring_kinds[k], s.spring_laws[k], square)
        own = 4.0 * stiffness(s.spring_kinds[k], s.spring_laws[k], square)
        for i in range(dim):
            for j in range(dim):
                value = own * s.spring_lines[k][i] * s.spring_lines[k][j]
                if i == j:
                    value += force
                add_block(s.spring_ends, k, dim, s.coupling, 0, i, j, 0.5 * h * value)
    for r in range(s.rod_lengths.size):
        force = s.z[2 * nv + r] / s.rod_lengths[r]
        for i in range(dim):
            add_block(s.rod_ends, r, dim, s.coupling, 0, i, i, 0.5 * h * force)
            rate = apart(s.rod_ends, r, dim, nv, s.z, i) / s.rod_lengths[r]
            spread(s.rod_ends, r, dim, 0, s.coupling[nv + r], i, -0.5 * h * rate)
    for k in range(s.damper_kinds.size):
        damper_slopes(s, dim, k, h)


def secant_stiffness(s, dim, k, h):
    """Add the derivative of a spring's secant force with respect to the end of the step."""
    own = secant(s.spring_kinds[k], s.spring_laws[k], s.first[k], s.last[k])
    turn_of = secant_slope(s.spring_kinds[k], s.spring_laws[k], s.first[k], s.last[k])
    for j in range(dim):
        d = difference(s.spring_ends, s.spring_offsets, k, dim, s.trial, j)
        for i in range(dim):
            value = 4.0 * turn_of * s.spring_lines[k][i] * d
            if i == j:
                value += own
            add_block(s.spring_ends, k, dim, s.coupling, 0, i, j, h * value)


def damper_slopes(s, dim, k, h):
    """Add a damper's derivatives ∂(R w)/∂(q, v), w = z in the middle, to the blocks of the step's Jacobian."""
    nv = s.weight.size
    square = 0.0
    rate = 0.0
    for j in range(dim):
        square += s.damper_lines[k][j] * s.damper_lines[k][j]
        rate += s.damper_lines[k][j] * apart(s.damper_ends, k, dim, nv, s.middle, j)
    if s.damper_kinds[k] == OF_DRAG:
        growth = 2.0 * s.damper_laws[k][0] * s.damper_laws[k][1]
        for i in range(dim):
            own = growth * apart(s.damper_ends, k, dim, nv, s.z, i)
            for j in range(dim):
                add_block(s.damper_ends, k, dim, s.coupling, 0, i, j, 0.5 * h * own * s.damper_lines[k][j])
    else:  # (d·w) d ρ(s)/(s ℓ²), s = d·v/ℓ, and here w = v
        length = sqrt(square)
        speed = rate / length
        own = resistance(s.damper_kinds[k], s.damper_laws[k], speed)
        turn = resistance_slope(s.damper_kinds[k], s.damper_laws[k], speed)
        for i in range(dim):
            d = s.damper_lines[k][i] / length
            for j in range(dim):
                e = s.damper_lines[k][j] / length
                v = apart(s.damper_ends, k, dim, nv, s.middle, j)
                across = (v - speed * e) / length  # ∂s/∂d
                value = (own + turn * speed) * d * across - own * speed * d * e / length
                if i == j:
                    value += own * speed / length
                add_block(s.damper_ends, k, dim, s.coupling, 0, i, j, 0.5 * h * value)
                damper_rate_slope(s, dim, k, h, i, j, turn * speed * d * e)


def damper_rate_slope(s, dim, k, h, i, j, value):
    """Add an entry of ∂(R(q, v) w)/∂v at the end: half of it, or all for velocities without mass."""
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
                    s.factors[row * dim + i][place] += sign * h * (1.0 - 0.5 * s.moves[nv + place]) * value


def rates(s, dim, h, ratio):
    """Add the rows of v and λ in the columns of v and λ: resistances and rods."""
    nv = s.weight.size
    for k in range(s.damper_kinds.size):
        square = 0.0
        rate = 0.0
        for j in range(dim):
            square += s.damper_lines[k][j] * s.damper_lines[k][j]
            rate += s.damper_lines[k][j] * apart(s.damper_ends, k, dim, nv, s.middle, j)
        drags = cython.declare(cython.bint, s.damper_kinds[k] == OF_DRAG)
        if drags:
            own = s.damper_laws[k][0] * (1.0 + s.damper_laws[k][1] * square)
        else:
            own = resistance(s.damper_kinds[k], s.damper_laws[k], rate / sqrt(square)) / square
        for i in range(dim):
            for j in range(dim):
                value = own * s.damper_lines[k][i] * s.damper_lines[k][j]
                if drags:
                    value = own if i == j else 0.0
                if value != 0.0:
                    resist(s, dim, k, h, ratio, i, j, value)
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
    """Derivative of a velocity in z̄ with respect to its value at the end of the step."""
    nv = s.weight.size
    share = 1.0 - 0.5 * s.moves[nv + place]
    if ratio != 0.0 and s.descriptor[nv + place] != 0.0:
        share += ratio / s.descriptor[nv + place]
    return share


def resist(s, dim, k, h, ratio, i, j, value):
    """Add an entry of the derivative of h R z̄ with respect to the velocities at the end."""
    ends = s.damper_ends
    for a in range(2):
        row = ends[k][a]
        if row >= 0:
            for b in range(2):
                column = ends[k][b]
                if column >= 0:
                    place = column * dim + j
                    sign = 1.0 if a == b else -1.0
                    s.factors[row * dim + i][place] += sign * h * value * velocity_share(s, place, ratio)


def bend(s, dim, h, before):
    """Return the ratio of Gonzalez' correction, and set its part f gᵀ of the Jacobian: f in ``turned``, g in ``bend``.

    ``coupling`` holds h/2 times the derivative of forces with respect to q, of which the springs' part enters g.
    """
    n = s.x.size
    nv = s.weight.size
    along = 0.0
    size = 0.0
    for i in range(n):
        along += s.z[i] * s.moved[i]
        size += s.step[i] * s.step[i]
    ratio = missing_share(along, size, before, energy(s, dim, s.trial))
    if ratio == 0.0:
        return ratio
    fill(s.slope, 0.0)
    fill(s.bend, 0.0)
    for i in range(nv):
        s.slope[i] = -s.weight[i]
        s.slope[nv + i] = s.descriptor[nv + i] * s.trial[nv + i]
    for k in range(s.spring_kinds.size):  # ∇V at the end, and half of the stiffness times the moved part
        square = 0.0
        middle = 0.0
        product = 0.0
        for j in range(dim):
            d = difference(s.spring_ends, s.spring_offsets, k, dim, s.trial, j)
            square += d * d
            middle += s.spring_lines[k][j] * s.spring_lines[k][j]
            product += s.spring_lines[k][j] * apart(s.spring_ends, k, dim, 0, s.moved, j)
        force = 2.0 * pull(s.spring_kinds[k], s.spring_laws[k], square)
        straight = 2.0 * pull(s.spring_kinds[k], s.spring_laws[k], middle)
        steep = 4.0 * stiffness(s.spring_kinds[k], s.spring_laws[k], middle)
        for j in range(dim):
            d = difference(s.spring_ends, s.spring_offsets, k, dim, s.trial, j)
            spread(s.spring_ends, k, dim, 0, s.slope, j, force * d)
            value = steep * product * s.spring_lines[k][j] + straight * apart(s.spring_ends, k, dim, 0, s.moved, j)
            spread(s.spring_ends, k, dim, 0, s.bend, j, 0.5 * value)
    for i in range(nv):
        s.bend[nv + i] = (1.0 - 0.5 * s.moves[nv + i]) * s.moved[nv + i]
    for i in range(n):
        own = s.slope[i] - s.bend[i] - s.z[i] * s.descriptor[i] - 2.0 * ratio * s.step[i]
        s.bend[i] = own / size
    fill(s.lost, 0.0)
    for i in range(nv):
        s.slope[i] = 0.0
        if s.descriptor[nv + i] != 0.0:
            s.slope[i] = s.step[nv + i] / s.descriptor[nv + i]
    add_dampers(s, dim, s.slope, s.lost)
    for i in range(nv):
        s.turned[i] = s.slope[i]
        s.turned[nv + i] = -s.step[i] - s.lost[i]
    for r in range(s.rod_lengths.size):
        rate = 0.0
        for j in range(dim):
            rate += s.rod_lines[r][j] * apart(s.rod_ends, r, dim, 0, s.slope, j)
        s.turned[2 * nv + r] = rate / s.rod_lengths[r]
    return ratio


# --- factors ------------------------------------------------------------------------------------------------------


def factor(s):
    """Factor rows, divided by their largest entries, into L and U with row pivots; False if the matrix is singular."""
    m = s.order.size
    nv = s.weight.size
    for i in range(m):
        largest_entry = 0.0
        total = 0.0
        for j in range(m):
            value = s.factors[i][j] * s.size[nv + j]
            total += value
            if fabs(value) > largest_entry:
                largest_entry = fabs(value)
        if not (largest_entry > 0.0 and isfinite(total)):
            return False
        s.row_scale[i] = 1.0 / largest_entry
        s.order[i] = i
        for j in range(m):
            s.factors[i][j] *= s.row_scale[i]
    for k in range(m):
        p = k
        for i in range(k + 1, m):
            if fabs(s.factors[i][k]) > fabs(s.factors[p][k]):
                p = i
        if s.factors[p][k] == 0.0:
            return False
        if p != k:
            exchange(s, k, p)
        ratio = 1.0 / s.factors[k][k]
        for i in range(k + 1, m):
            if s.factors[i][k] != 0.0:
                eliminate(s.factors[i], s.factors[k], k, ratio, m)
    return True


def exchange(s, k, p):
    """Exchange two rows."""
    row = cython.declare(cython.Py_ssize_t, s.order[k])
    value = cython.declare(cython.double, 0.0)
    s.order[k] = s.order[p]
    s.order[p] = row
    for j in range(s.order.size):
        value = s.factors[k][j]
        s.factors[k][j] = s.factors[p][j]
        s.factors[p][j] = value


def eliminate(row, pivot, k, ratio, m):
    """Subtract a multiple of the pivot row from another row."""
    factor = row[k] * ratio
    row[k] = factor
    for j in range(k + 1, m):
        row[j] -= factor * pivot[j]


def solve(s, right, out):
    """Write the product of J₀⁻¹ and a right-hand side into ``out``."""
    m = s.order.size
    nv = s.weight.size
    for i in range(m):
        row = s.order[i]
        value = right[nv + row]
        for j in range(nv):
            value -= s.coupling[row][j] * right[j]
        value *= s.row_scale[row]
        for j in range(i):
            value -= s.factors[i][j] * s.right[j]
        s.right[i] = value
    for back in range(m):
        i = m - 1 - back
        value = s.right[i]
        for j in range(i + 1, m):
            value -= s.factors[i][j] * s.right[j]
        s.right[i] = value / s.factors[i][i]
    for i in range(m):
        out[nv + i] = s.right[i]
    for i in range(nv):
        out[i] = right[i] + s.passed[i] * s.right[i]


def corrected(s, out):
    """Write the correction of the iterate, divided by the sizes, into ``out``.

    It is the inverse Jacobian, with its updates, times the residual.
    """
    n = s.x.size
    solve(s, s.residual, out)
    if s.known[2] == 1:
        along = 0.0
        for i in range(n):
            along += s.bend[i] * out[i]
        for i in range(n):
            out[i] += along * s.bent[i]
    for i in range(n):
        out[i] /= s.size[i]
    for k in range(s.known[1]):
        turn(s.corrections[k], s.turns[k], out)


def turn(correction, turns, out):
    """Apply an update 1 + c sᵀ to ``out``."""
    along = 0.0
    for i in range(out.size):
        along += turns[i] * out[i]
    for i in range(out.size):
        out[i] += along * correction[i]


# --- the iteration ------------------------------------------------------------------------------------------------


def newton(s, dim, kind, k, h, before):
    """Find a root of the equations near the iterate, and return its status.

    See :func:`flexph.discretisation.iteration.newton`.
    """
    n = s.x.size
    for i in range(n):
        share = s.scaled[i] / s.size[i]
        for p in range(s.known[1]):
            s.corrections[p][i] *= share
            s.turns[p][i] /= share
        s.scaled[i] = s.size[i]
    previous = NO_CHANGE
    by_own = NO_CHANGE
    own = cython.declare(cython.bint, False)
    fresh = cython.declare(cython.bint, False)
    follows = cython.declare(cython.bint, False)
    equation(s, dim, kind, k, h, before)
    for iteration in range(1, ITERATIONS + 1):
        s.end[2] = iteration
        if s.known[0] == 0:
            s.known[1] = 0
            follows = False
            if not assemble(s, dim, kind, h, before):
                s.defect[0] = previous
                return IS_SINGULAR
            s.known[0] = 1
            own = True
            fresh = True
        if not follows:
            corrected(s, s.correction)
        change = 0.0
        for i in range(n):
            scale = fabs(s.trial[i]) if fabs(s.trial[i]) > s.size[i] else s.size[i]
            share = fabs(s.size[i] * s.correction[i]) / scale
            if share > change or share != share:  # NaN stays
                change = share
        if not (change <= FAR or own):
            s.known[0] = 0
            continue
        if not change < NO_CHANGE:
            s.defect[0] = change
            return HAS_DIVERGED
        for i in range(n):
            s.trial[i] -= s.size[i] * s.correction[i]
        equation(s, dim, kind, k, h, before)
        if is_last(change, previous, by_own, own, fresh):
            return IS_SOLVED
        if own:
            by_own = change
        follows = False
        if ((iteration == 1 and not fresh) or change > SLOW * previous) and change > NOISE:
            s.known[0] = 0
            fresh = False
        elif change > STAGNATED:
            follows = update(s)
        previous = change
        own = False
    s.defect[0] = previous
    return IS_UNSETTLED


def is_last(size, previous, by_own, own, fresh):
    """True if the iteration ends with this correction (see :func:`flexph.discretisation.iteration.is_last`)."""
    reduction = SLOW
    if previous < NO_CHANGE:
        reduction = size / previous
        if reduction < LEAST_REDUCTION:
            reduction = LEAST_REDUCTION
    if size <= STAGNATED and size * reduction <= SETTLED:
        return True
    bound = SUDDEN * previous if SUDDEN * previous < NOISE else NOISE
    if fresh and previous < NO_CHANGE and size <= bound:
        return True
    if size > 0.5 * previous and size <= (STALLED if own else NOISE):
        return True
    return own and size > 0.5 * by_own and size <= STALLED


def update(s):
    """Apply Broyden's update by the last correction, unless it is nearly singular, and set the next correction.

    The inverse times the change of the residual is the last correction less that of the present residual, so that the
    update needs no extra product.
    """
    n = s.x.size
    corrected(s, s.following)
    scale = 0.0
    size = 0.0
    for i in range(n):
        scale += s.correction[i] * (s.correction[i] - s.following[i])
        size += s.correction[i] * s.correction[i]
    if fabs(scale) > SINGULAR_UPDATE * size and s.known[1] < s.turns.shape[0]:
        place = s.known[1]
        for i in range(n):  # s − B y is the inverse times the present residual
            s.corrections[place][i] = s.following[i] / scale
            s.turns[place][i] = s.correction[i]
        turn(s.corrections[place], s.turns[place], s.following)
        s.known[1] = place + 1
    copy(s.following, s.correction)
    return True
