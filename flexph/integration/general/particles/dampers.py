"""Forces of dampers: resistances along lines, and drag."""

from __future__ import annotations

import cython

from ....laws.resistive_relations import NEAR, SMALL
from ....systems.particle_terms import COULOMB, DRAG, QUADRATIC, VISCOUS

if not cython.compiled:
    from math import exp, fabs, sqrt, tanh

    from ....numerics.loops.views import smaller
    from .lines import add_opposite, relative

OF_VISCOUS = cython.declare(cython.Py_ssize_t, VISCOUS)
OF_QUADRATIC = cython.declare(cython.Py_ssize_t, QUADRATIC)
OF_COULOMB = cython.declare(cython.Py_ssize_t, COULOMB)
OF_DRAG = cython.declare(cython.Py_ssize_t, DRAG)
SMALL_RATE = cython.declare(cython.double, SMALL)
NEAR_RATE = cython.declare(cython.double, NEAR)


def relation_force(kind, law, rate):
    """Force ρ(s) [N] of a resistive relation of a given kind, with parameters ``law``, at a rate s [m/s]."""
    if kind == OF_VISCOUS:
        return law[0] * rate
    if kind == OF_QUADRATIC:
        return law[0] * fabs(rate) * rate
    return friction_level(law, rate) * tanh(rate / law[1]) + law[4] * rate


def friction_level(law, rate):
    """Dry friction force [N] at a rate [m/s], which falls from static to sliding friction."""
    part = rate / law[3]
    return law[0] + (law[2] - law[0]) * exp(-(part * part))


def relation_slope(kind, law, rate):
    """Derivative ρ'(s) of the force of a resistive relation with respect to the rate s [m/s]."""
    if kind == OF_VISCOUS:
        return law[0]
    if kind == OF_QUADRATIC:
        return 2.0 * law[0] * fabs(rate)
    level = friction_level(law, rate)
    change = -2.0 * rate / (law[3] * law[3]) * (level - law[0])
    smooth = tanh(rate / law[1])
    return change * smooth + level * (1.0 - smooth * smooth) / law[1] + law[4]


def relation_scale(kind, law):
    """Smallest range of rates [m/s] over which a resistive relation bends; 1 for relations without friction."""
    if kind != OF_COULOMB:
        return 1.0
    return smaller(law[1], law[3])


def resistance(kind, law, rate):
    """Resistance ρ(s)/s of a relation at a rate s [m/s]; near rest the slope ρ'(s), which has the same limit."""
    if fabs(rate) > SMALL_RATE * relation_scale(kind, law):
        return relation_force(kind, law, rate) / rate
    return relation_slope(kind, law, rate)


def resistance_slope(kind, law, rate):
    """Derivative of ρ(s)/s with respect to the rate s."""
    if fabs(rate) > NEAR_RATE * relation_scale(kind, law):
        return (relation_slope(kind, law, rate) - relation_force(kind, law, rate) / rate) / rate
    if kind == OF_COULOMB:
        curvature = -law[2] / (3.0 * law[1] * law[1] * law[1]) - (law[2] - law[0]) / (law[1] * law[3] * law[3])
        return 2.0 * curvature * rate
    return 0.0


def add_damper_forces(s, dim, v, out):
    """Add the forces R v of all dampers to ``out`` (nv,), with the resistances R at the middle of the step.

    ``v`` (nv,) are the velocities of the particles.
    """
    nv = s.weight.size
    for k in range(s.damper_kinds.size):
        square = 0.0
        for j in range(dim):
            square += s.damper_lines[k][j] * s.damper_lines[k][j]
        if s.damper_kinds[k] == OF_DRAG:
            drag = s.damper_laws[k][0] * (1.0 + s.damper_laws[k][1] * square)
            for j in range(dim):
                add_opposite(s.damper_ends, k, dim, out, j, drag * relative(s.damper_ends, k, dim, 0, v, j))
        else:
            rate = 0.0
            along = 0.0
            for j in range(dim):
                rate += s.damper_lines[k][j] * relative(s.damper_ends, k, dim, nv, s.middle, j)
                along += s.damper_lines[k][j] * relative(s.damper_ends, k, dim, 0, v, j)
            length = sqrt(square)
            along *= resistance(s.damper_kinds[k], s.damper_laws[k], rate / length) / square
            for j in range(dim):
                add_opposite(s.damper_ends, k, dim, out, j, along * s.damper_lines[k][j])
