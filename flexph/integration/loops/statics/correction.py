"""Newton corrections of a configuration at rest, by the residual and the Jacobian of a step that stays where it is.

Such a step has the forces F of its start as its residual −hF. Its Jacobian is that of forces that are means over the
step: half the stiffness K. Without inertia and damping, corrections δ of the mean velocities and δλ of the multipliers
have

    ½h² K δ − h Gᵀδλ = −hF,   hG δ = 2g,   and   K ξ − Gᵀ(λ − δλ) = F − Gᵀλ,   G ξ = −g   with   ξ = −½hδ.
"""

from __future__ import annotations

from typing import Any

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import bind, fill, larger
    from ..mechanics.arrow import factor, solve
    from ..mechanics.motion import derive
    from ..mechanics.residual import residual, trial
    from ..memory.memory import Memory
    from ..memory.structures import Table
    from ..nodal.forces import begin_strains, run_ahead

SINGULAR = cython.declare(cython.double, 1e13)
"""Reciprocal of a pivot, where the largest entries of the Jacobian are about one, beyond which it is round-off."""
LARGEST_TURN = cython.declare(cython.double, 0.5)
"""Largest turn of a body in one correction [rad]."""


def correct(memory: Any, dim: int, h: float, table: Any) -> float:
    """Compute a correction at the configuration in ``at``, and the share of it that is to be taken; 0 if singular.

    ½h times what is in ``correction`` then is to be subtracted from the positions, and ``correction.lam`` from the
    multipliers. Stresses of strain rows in ``at.sigma`` are those of the stiffness, by the mixed iteration; what they
    are after the correction to first order is left in ``nodal.ahead``.
    """
    if not cython.compiled:
        return _correct(memory.fields, dim, h, table.coefficient[0], table.offset[0], table.inputs[0])
    m = cython.declare(cython.pointer(Memory))
    own_table = cython.declare(Table)
    axes = cython.declare(cython.Py_ssize_t, dim)
    step = cython.declare(cython.double, h)
    share = cython.declare(cython.double)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory.address))
    bind(own_table, table)
    with cython.nogil:
        share = _correct(m, axes, step, own_table.coefficient[0], own_table.offset[0], own_table.inputs[0])
    return share


def _correct(m: Memory, dim: int, h: float, coefficient: Array, offset: Array, inputs: Array) -> float:
    """See :func:`correct`."""
    derive(m, dim, m.trial_c)
    fill(m.trial_moved, 0.0)
    fill(m.x_v, 0.0)
    fill(m.x_w, 0.0)
    fill(m.x_du, 0.0)
    if dim == 3:
        begin_strains(m)
    trial(m, dim, 0, 0, h, coefficient, coefficient, offset, inputs)
    _begin_ahead(m)
    residual(m, dim, 0, 0, h, coefficient, coefficient, offset, inputs)
    if not factor(m, dim, 0, 0, h, coefficient, coefficient):
        return 0.0
    if _is_singular(m):
        return 0.0
    for row in range(m.defect_lam.size):
        m.defect_lam[row] *= 2.0
    solve(m, dim, 0, h)
    share = _share(m, h)
    for i in range(m.correction.size):
        m.correction[i] *= share
    run_ahead(m, 0.5 * h)
    return share


def _begin_ahead(m: Memory) -> None:
    """Begin a step with the stresses of the strains, whose Jacobian has those in ``nodal.ahead``."""
    for e in range(m.strains_stress.size):
        i = m.strains_stress[e]
        m.nodal_ahead[e] = 2.0 * m.nodal_ahead[e] - m.end_sigma[i]
        m.at_sigma[i] = m.end_sigma[i]


def _is_singular(m: Memory) -> bool:
    """Whether a pivot of the border is round-off."""
    largest = 0.0
    for i in range(m.system_border.shape[0]):
        largest = larger(largest, fabs(m.system_border[i][m.border_size[1]]))
    return largest > SINGULAR


def _share(m: Memory, h: float) -> float:
    """The share of the correction that turns no body by more than the largest turn."""
    turn = 0.0
    for b in range(m.correction_w.shape[0]):
        for i in range(m.correction_w.shape[1]):
            turn = larger(turn, 0.5 * h * fabs(m.correction_w[b][i]))
    return LARGEST_TURN / turn if turn > LARGEST_TURN else 1.0
