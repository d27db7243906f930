"""Resistive relations in loops: forces ρ(s) of dampers and slips against a rate s, by kind and parameters.

Functions given by the user are called at their addresses.
"""

from __future__ import annotations

import cython

from ....kernels.arrays import RELATIONS as _RELATIONS
from ....laws.resistive_relations import DIFFERENCE as _DIFFERENCE
from ..memory.relation_functions import COULOMB as _COULOMB
from ..memory.relation_functions import GENERAL as _GENERAL
from ..memory.relation_functions import QUADRATIC as _QUADRATIC
from ..memory.relation_functions import VISCOUS as _VISCOUS

if not cython.compiled:
    from math import exp, fabs, tanh

    from ....numerics.loops.functions import call_real
    from ....numerics.loops.views import larger
    from ..memory.memory import Memory
    from ..terms.spring_laws import factor_at

COULOMB = cython.declare(cython.Py_ssize_t, _COULOMB)
DIFFERENCE = cython.declare(cython.double, _DIFFERENCE)
GENERAL = cython.declare(cython.Py_ssize_t, _GENERAL)
QUADRATIC = cython.declare(cython.Py_ssize_t, _QUADRATIC)
RELATIONS = cython.declare(cython.Py_ssize_t, _RELATIONS)
VISCOUS = cython.declare(cython.Py_ssize_t, _VISCOUS)


def mean_time_factor(m: Memory, i: int) -> float:
    """Mean over the step of the factor a(t) of resistive relation i; 1 for relations without one."""
    if i >= m.joints_timed[RELATIONS][1]:
        return 1.0
    return 0.5 * (factor_at(m, RELATIONS, i, 0) + factor_at(m, RELATIONS, i, 1))


def force(m: Memory, i: int, s: float) -> float:
    """Force ρ(s) of resistive relation i at the rate s, times the mean of its factor a(t) over the step.

    See flexph.laws.resistive_relations.
    """
    return mean_time_factor(m, i) * _force(m, i, s)


def slope(m: Memory, i: int, s: float) -> float:
    """Derivative ρ'(s) of the force of relation i with respect to the rate s, times the mean of its factor a(t)."""
    return mean_time_factor(m, i) * _slope(m, i, s)


def slope_at_rest(m: Memory, i: int) -> float:
    """Derivative ρ'(0) of the force of resistive relation i at rest, times the mean of its factor a(t)."""
    return mean_time_factor(m, i) * m.joints_steepness[i]


def _force(m: Memory, i: int, s: float) -> float:
    """Force ρ(s) of resistive relation i at the rate s, without the factor a(t)."""
    kind = m.joints_kind[i]
    parameter = m.joints_parameter[i]
    if kind == QUADRATIC:
        return parameter[0] * fabs(s) * s
    if kind == COULOMB:
        x = s / parameter[3]
        level = parameter[0] + (parameter[2] - parameter[0]) * exp(-(x * x))
        return level * tanh(s / parameter[1]) + parameter[4] * s
    if kind == GENERAL:
        return call_real(m.joints_function[i], s)
    return parameter[0] * s if kind == VISCOUS else 0.0


def _slope(m: Memory, i: int, s: float) -> float:
    """Derivative ρ'(s) of the force of relation i without the factor a(t), by differences if its function has none."""
    kind = m.joints_kind[i]
    parameter = m.joints_parameter[i]
    if kind == QUADRATIC:
        return 2.0 * parameter[0] * fabs(s)
    if kind == COULOMB:
        x = s / parameter[3]
        drop = (parameter[2] - parameter[0]) * exp(-(x * x))
        smooth = tanh(s / parameter[1])
        change = -2.0 * s / parameter[3] ** 2 * drop
        return change * smooth + (parameter[0] + drop) * (1.0 - smooth**2) / parameter[1] + parameter[4]
    if kind == GENERAL:
        derivative = m.joints_derivative[i]
        if derivative != 0:
            return call_real(derivative, s)
        step = DIFFERENCE * larger(fabs(s), 1.0)
        function = m.joints_function[i]
        return (call_real(function, s + step) - call_real(function, s - step)) / (2.0 * step)
    return parameter[0] if kind == VISCOUS else 0.0


def store_extensions(m: Memory) -> None:
    """Copy the extensions of spring-dampers with a resistive relation, before a correction changes them."""
    for k1 in range(m.joints_resisting.shape[0]):
        i = m.joints_resisting[k1]
        m.trial_before[i] = m.trial_extension[i]


def mark_sticking(m: Memory, h: float) -> bool:
    """Mark the relations whose rate changed its sign, to be replaced by their tangent at the rate zero.

    The mark avoids an iteration that jumps between both signs. Returns True if any is or was marked.
    """
    marked = cython.declare(cython.bint)
    was = cython.declare(cython.bint)
    marked = False
    for k1 in range(m.joints_resisting.shape[0]):
        i = m.joints_resisting[k1]
        s = m.trial_before[i] / h
        t = m.trial_extension[i] / h
        was = m.trial_stuck[i] != 0.0
        m.trial_stuck[i] = 1.0 if not was and s * t < 0.0 and _slope(m, i, s) < 0.5 * m.joints_steepness[i] else 0.0
        marked = marked or was or m.trial_stuck[i] != 0.0
    return marked


def generates_energy(m: Memory, h: float) -> bool:
    """True if a relation given by the user generates energy at the mean rate of a step of length h [s].

    True also if a relation has a force at rest, or returns no number.
    """
    for k1 in range(m.joints_resisting.shape[0]):
        i = m.joints_resisting[k1]
        if m.joints_kind[i] == GENERAL:
            s = m.trial_extension[i] / h
            f = _force(m, i, s)
            if not s * f >= 0.0 or (s == 0.0 and f != 0.0):
                return True
    return False
