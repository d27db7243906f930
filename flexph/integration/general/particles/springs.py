"""Potentials of springs, their secants in squared lengths, and the energy of a state."""

from __future__ import annotations

from math import inf

import cython

from ....systems.discrete_gradients import ROUND_OFF
from ....systems.particle_terms import LENGTH

if not cython.compiled:
    from math import fabs, sqrt

    from .lines import add_opposite, component

OF_LENGTH = cython.declare(cython.Py_ssize_t, LENGTH)
ROUNDED = cython.declare(cython.double, ROUND_OFF)
NEARLY_SAME = cython.declare(cython.double, 1e-4)  # change of a squared length over their sum: beyond, secants turn
NO_CHANGE = cython.declare(cython.double, inf)


def potential(kind, law, square):
    """Potential V [J] of a spring of a given kind, with parameters ``law``, at a squared length ℓ² [m²]."""
    if kind == OF_LENGTH:
        e = sqrt(square) - law[2]
        return (0.5 * law[0] + 0.25 * law[1] * e * e) * e * e
    s = square - law[2]
    return (law[0] + 0.5 * law[1] * s) * s


def potential_slope(kind, law, square):
    """Derivative dV/d(ℓ²) of the potential of a spring; not finite if its force has no direction."""
    if kind == OF_LENGTH:
        length = sqrt(square)
        e = length - law[2]
        return 0.5 * (law[0] + law[1] * e * e) * e / length if length > 0.0 else NO_CHANGE
    return law[0] + law[1] * (square - law[2])


def potential_curvature(kind, law, square):
    """Second derivative d²V/d(ℓ²)² of the potential of a spring."""
    if kind == OF_LENGTH:
        length = sqrt(square)
        e = length - law[2]
        second = law[0] + 3.0 * law[1] * e * e - (law[0] + law[1] * e * e) * e / length
        return 0.25 * second / (length * length)
    return law[1]


def correction_factor(along, size, before, after):
    """Factor (ΔH − ∇H(m)·Δx)/(Δx·Δx) of Gonzalez' correction; zero if the numerator is round-off.

    ``along`` is ∇H(m)·Δx, ``size`` is Δx·Δx, ``before`` and ``after`` are the values of H.
    """
    missing = (after - before) - along
    bound = fabs(before) if fabs(before) > fabs(after) else fabs(after)
    if fabs(missing) <= ROUNDED * bound or size == 0.0:
        return 0.0
    return missing / size


def secant(kind, law, first, last):
    """Secant ΔV/Δ(ℓ²) of the potential of a spring between two squared lengths.

    It is computed as the slope at their mean plus a correction, since the quotient loses digits over short steps.
    """
    step = last - first
    middle = potential_slope(kind, law, 0.5 * (first + last))
    share = correction_factor(middle * step, step * step, potential(kind, law, first), potential(kind, law, last))
    return middle + share * step


def secant_slope(kind, law, first, last):
    """Derivative of the secant ΔV/Δ(ℓ²) with respect to the second squared length."""
    step = last - first
    if fabs(step) > NEARLY_SAME * (first + last):
        return (potential_slope(kind, law, last) - secant(kind, law, first, last)) / step
    return 0.5 * potential_curvature(kind, law, 0.5 * (first + last))


def squared_length(s, dim, k, x):
    """Squared length of spring k [m²] at the state x."""
    square = 0.0
    for j in range(dim):
        d = component(s.spring_ends, s.spring_offsets, k, dim, x, j)
        square += d * d
    return square


def energy(s, dim, x):
    """Energy H [J] of the state x: kinetic, of springs, and of constant forces."""
    nv = s.weight.size
    kinetic = 0.0
    given = 0.0
    for i in range(nv):
        kinetic += s.descriptor[nv + i] * x[nv + i] * x[nv + i]
        given += s.weight[i] * x[i]
    stored = 0.0
    for k in range(s.spring_kinds.size):
        stored += potential(s.spring_kinds[k], s.spring_laws[k], squared_length(s, dim, k, x))
    return 0.5 * kinetic + stored - given


def set_invariants(s, dim, x, out):
    """Write the invariants of the state x into ``out``.

    They are the squared lengths of springs, the potential of constant forces, and twice the kinetic energy.
    """
    nv = s.weight.size
    count = s.spring_kinds.size
    for k in range(count):
        out[k] = squared_length(s, dim, k, x)
    out[count] = 0.0
    out[count + 1] = 0.0
    for i in range(nv):
        out[count] -= s.weight[i] * x[i]
        out[count + 1] += s.descriptor[nv + i] * x[nv + i] * x[nv + i]


def add_spring_forces(s, dim, lines, share, out):
    """Add ``share`` times the gradient of the potential of all springs, by the positions, to ``out``.

    ``lines`` (springs, dim) are the vectors between the ends of the springs.
    """
    for k in range(s.spring_kinds.size):
        square = 0.0
        for j in range(dim):
            square += lines[k][j] * lines[k][j]
        force = 2.0 * share * potential_slope(s.spring_kinds[k], s.spring_laws[k], square)
        for j in range(dim):
            add_opposite(s.spring_ends, k, dim, out, j, force * lines[k][j])
