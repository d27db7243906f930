"""Masses of rigid bodies that change with time, in loops.

The inertia of such a body is a(t) times its inertia at the factor one; if H is the energy with the latter, the energy
is a H. Over a step the factor is the mean of a at both ends, and the forces do the work ½ (a₀ + a₁) ΔH. The difference
to Δ(a H) is the work ½ (a₁ − a₀)(H₀ + H₁) of the mass that arrives. Between steps the factor is a at the present time.
"""

from __future__ import annotations

import cython

from ....kernels.arrays import MASSES as _MASSES
from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import copy
    from ..memory.memory import Memory
    from .spring_laws import factor_at

MASSES = cython.declare(cython.Py_ssize_t, _MASSES)


def set_changing_values(m: Memory, row: Array) -> None:
    """Store the prescribed quantities that change over a step, and set changing masses to their means over it."""
    copy(row, m.trial_moved)
    set_changing_masses(m, 0.5)


def set_changing_masses(m: Memory, share: float) -> None:
    """Set changing inertias to the values at the end of the step (``share`` 1) or the means over it (½).

    The angular momenta of the present state ``at`` are computed with these inertias.
    """
    for k in range(m.masses_body.size):
        b = m.masses_body[k]
        factor = (1.0 - share) * factor_at(m, MASSES, k, 0) + share * factor_at(m, MASSES, k, 1)
        m.inertia_mass[b] = factor * m.masses_mass[k]
        for i in range(m.masses_weight.shape[1]):
            m.inertia_weight[b][i] = factor * m.masses_weight[k][i]
        for i in range(m.masses_J.shape[1]):
            total = 0.0
            for j in range(m.masses_J.shape[1]):
                m.inertia_J[b][i][j] = factor * m.masses_J[k][i][j]
                total += m.inertia_J[b][i][j] * m.at_w[b][j]
            m.at_p_r[b][i] = total


def add_works_of_masses(m: Memory, dim: int, out: Array) -> None:
    """Add the works of the masses that arrive in a solved step to ``out``; call it before ``at`` is set to the end."""
    for k in range(m.masses_body.size):
        b = m.masses_body[k]
        change = factor_at(m, MASSES, k, 1) - factor_at(m, MASSES, k, 0)
        twice = 0.0
        for i in range(dim):
            speeds = m.at_v[b][i] ** 2 + m.end_v[b][i] ** 2
            twice += 0.5 * m.masses_mass[k] * speeds - m.masses_weight[k][i] * (m.at_r[b][i] + m.end_r[b][i])
        for i in range(m.masses_J.shape[1]):
            for j in range(m.masses_J.shape[1]):
                spins = m.at_w[b][i] * m.at_w[b][j] + m.end_w[b][i] * m.end_w[b][j]
                twice += 0.5 * m.masses_J[k][i][j] * spins
        out[m.ledger_schedule[b]] += 0.5 * change * twice
