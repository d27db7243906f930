"""Mixed iteration of collocation, with the stress rates at the nodes of a step as separate unknowns.

Strain rows D(u) of von Kármán bodies differ from node to node, while the Jacobian has the strain rows of the middle
node. If stresses are eliminated, σ̇_i = C⁻¹D(u_i) u̇_i, the difference is multiplied by the stiffness in each residual,
and the iteration converges slowly. As unknowns, σ̇ have the defects

    s_i = σ̇_i − C⁻¹ D(u_i) u̇_i.

With D₀ and Ḋ₀ = ∂D/∂u u̇ at the state of the Jacobian, and σ̇ eliminated from the corrections δ, Newton's method has

    r_u,i − h D₀ᵀ(β s_i + h Σ a_ij s_j)  instead of  r_u,i,    δσ̇_i = s_i + C⁻¹(D₀ δu̇_i + Ḋ₀ h Σ a_ij δu̇_j);

the matrix of δu̇ is unchanged.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import copy, fill
    from ..mechanics.residual import stress_rates, turn_strain_rows, write_elastic_stresses
    from ..memory.memory import Memory, stage
    from .nodes import add_field
    from .scheme import Scheme


def strain(m: Memory, g: Scheme, h: float, begins: bool) -> None:
    """Compute the stresses at the nodes from stress rates, including damping stresses.

    If the iteration ``begins``, stress rates are first computed from strain rates. C⁻¹D u̇ is left in ``trial.jump``.
    """
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        stress_rates(s)
        if begins:
            copy(s.trial_jump, s.stage_stress_rate)
        for k in range(s.trial_jump.size):
            s.stage_stress_defect[k] = s.stage_stress_rate[k] - s.trial_jump[k]
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(s.trial_stress.size):
            s.trial_stress[k] = m.at_sigma[k] + s.elastic_damping[k] * s.stage_stress_rate[k]
        for j in range(g.stages.size):
            add_field(h * g.a[i][j], stage(g.stages, j).stage_stress_rate, s.trial_stress)


def keep_strain_rows(m: Memory, g: Scheme) -> None:
    """Store the strain rows D₀ and their rates Ḋ₀ at the middle node, at which the Jacobian is evaluated."""
    middle = stage(g.stages, g.stages.size // 2)
    copy(middle.trial_D, m.stage_strain_row)
    fill(m.stage_strain_row_rate, 0.0)
    turn_strain_rows(m, 1.0, middle.x_du, m.stage_strain_row_rate)


def add_stress_defects(m: Memory, g: Scheme, h: float) -> None:
    """Subtract h D₀ᵀ(β s_i + h Σ a_ij s_j) from the defects of the flexible coordinates at each node i.

    s are the defects of stress rates, a the Gauss matrix.
    """
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(s.trial_local.size):
            s.trial_local[k] = s.elastic_damping[k] * s.stage_stress_defect[k]
        for j in range(g.stages.size):
            add_field(h * g.a[i][j], stage(g.stages, j).stage_stress_defect, s.trial_local)
        for e in range(m.stage_strain_row.size):
            s.defect_du[m.elastic_col[e]] -= h * m.stage_strain_row[e] * s.trial_local[m.elastic_row[e]]


def correct_stress_rates(m: Memory, g: Scheme, h: float) -> None:
    """Compute the corrections δσ̇ of the stress rates from those of u̇, and subtract them.

    ``trial.stress`` is work space.
    """
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        fill(s.stage_du_change, 0.0)
        for j in range(g.stages.size):
            add_field(h * g.a[i][j], stage(g.stages, j).correction_du, s.stage_du_change)
        for k in range(s.trial_local.size):
            strained = 0.0
            for e in range(m.elastic_ptr[k], m.elastic_ptr[k + 1]):
                c = m.elastic_col[e]
                strained += (
                    m.stage_strain_row[e] * s.correction_du[c] + m.stage_strain_row_rate[e] * s.stage_du_change[c]
                )
            s.trial_local[k] = strained
        write_elastic_stresses(m, s.trial_local, s.trial_stress)
        for k in range(s.trial_stress.size):
            s.stage_stress_rate[k] -= s.stage_stress_defect[k] + s.trial_stress[k]
