"""Newton corrections of a configuration at rest, by the residual and the Jacobian of a step at rest.

The residual of such a step is −hF, with the forces F at its start. Forces are means over the step, so that half the
stiffness K enters the Jacobian. Without inertia and damping, corrections δ of the mean velocities and δλ of the
multipliers satisfy

    ½h² K δ − h Gᵀδλ = −hF,   hG δ = 2g,   and   K ξ − Gᵀ(λ − δλ) = F − Gᵀλ,   G ξ = −g   with   ξ = −½hδ.
"""

from __future__ import annotations

from typing import Any

import cython

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import bind, fill, larger
    from ..mechanics.arrow import factor, solve
    from ..mechanics.motion import derive
    from ..mechanics.residual import residual, trial
    from ..memory.memory import Memory
    from ..memory.structures import Given, Table
    from ..nodal.forces import begin_strains, predict_stresses

SINGULAR = cython.declare(cython.double, 1e13)
"""Reciprocal of a pivot beyond which it is round-off, for a Jacobian with largest entries of about one."""
LARGEST_TURN = cython.declare(cython.double, 0.5)
"""Largest turn of a body in one correction [rad]."""


def correct(memory: Any, dim: int, h: float, table: Any) -> float:
    """Compute a share of the Newton correction at the configuration in ``at``; return the share, 0 if singular.

    ``table`` has the constraint coefficients and inputs. The caller subtracts ½h times ``correction`` from the
    positions, and ``correction.lam`` from the multipliers. The stiffness is computed with the stresses of strain rows
    in ``at.sigma``, which are iterated separately (mixed iteration). The stresses after the correction, to first order,
    are left in ``nodal.ahead``.
    """
    if not cython.compiled:
        return _correct(memory.fields, dim, _prescribed_values(h, table))
    m = cython.declare(cython.pointer(Memory))
    bound_table = cython.declare(Table)
    axes = cython.declare(cython.Py_ssize_t, dim)
    step = cython.declare(cython.double, h)
    share = cython.declare(cython.double)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(bound_table, table)
    with cython.nogil:
        share = _correct(m, axes, _prescribed_values(step, bound_table))
    return share


def _prescribed_values(h: float, table: Table) -> Given:
    """Prescribed values of a step of length h [s], which a table has in its only row."""
    at = table.coefficient[0]
    offset = table.offset[0]
    return Given(h, table.inputs[0], at, at, offset, offset, at, offset, False)


def _correct(m: Memory, dim: int, given: Given) -> float:
    """Compute a share of a correction and return the share, as :func:`correct`."""
    h = given.h
    derive(m, dim, m.trial_c)
    for i in range(m.joints_state.size):
        m.trial_moved[i] = 0.0
    fill(m.x_v, 0.0)
    fill(m.x_w, 0.0)
    fill(m.x_du, 0.0)
    begin_strains(m, dim)
    trial(m, dim, 0, 0, given)
    _begin_ahead(m)
    residual(m, dim, 0, 0, given)
    if not factor(m, dim, 0, 0, given):
        return 0.0
    if _is_singular(m):
        return 0.0
    for row in range(m.defect_lam.size):
        m.defect_lam[row] *= 2.0
    solve(m, dim, 0, h)
    share = _share(m, h)
    for i in range(m.correction.size):
        m.correction[i] *= share
    predict_stresses(m, dim, 0.5 * h)
    return share


def _begin_ahead(m: Memory) -> None:
    """Set the stresses at the start to those of the strains, and ``nodal.ahead`` to 2σ less these stresses.

    The mean of both is then σ, the given stresses of strain rows, with which the Jacobian is computed.
    """
    for e in range(m.strains_stress.size):
        i = m.strains_stress[e]
        m.nodal_ahead[e] = 2.0 * m.nodal_ahead[e] - m.end_sigma[i]
        m.at_sigma[i] = m.end_sigma[i]


def _is_singular(m: Memory) -> bool:
    """True if a pivot of the border of the Jacobian is round-off."""
    largest = 0.0
    for i in range(m.system_border.shape[0]):
        largest = larger(largest, fabs(m.system_border[i][m.border_size[1]]))
    return largest > SINGULAR


def _share(m: Memory, h: float) -> float:
    """Largest share of the correction, at most 1, that turns no body by more than ``LARGEST_TURN``."""
    turn = 0.0
    for b in range(m.correction_w.shape[0]):
        for i in range(m.correction_w.shape[1]):
            turn = larger(turn, 0.5 * h * fabs(m.correction_w[b][i]))
    return LARGEST_TURN / turn if turn > LARGEST_TURN else 1.0
