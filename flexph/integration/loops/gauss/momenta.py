"""Defects of momenta and constraints at the nodes of a step of Gauss collocation; one stage is the exact scheme.

At the nodes c_i of a step h the unknowns are ṙ, the world spins Ω, u̇ and the multipliers. With y = ∫ẏ the collocated
value of any ẏ (:mod:`flexph.numerics.gauss_tableau`), every quantity of which the equations of a mechanism are
polynomials is collocated by its rate as a product of two others, so that it is exact at the end of the step:

    Ṙ = Ω × R,  ȧ = Ω × a + R⁻ᵀφu̇ (arms),  Π̇ = V̇·W + V·Ẇ (products),  Cσ̇ = D(u)u̇,  J̇ = 2(s + Ku)·u̇,
    p from w and M(u),

with w = (ω, u̇), ω = R⁻¹Ω. At the nodes themselves a ≠ Rx and p ≠ M(u)w by the error of collocation. The equations are

    m v̇ = forces,  R⁻ᵀṗ_r + Ω × π = torques Σ a × f,  π̇ = torques,  ṗ_u = f_u + Σ φᵀR⁻¹f − D(u)ᵀ(σ + βσ̇),
    f_u = ½ wᵀ(∂M/∂u)w − ½ h² Σ_ik e_ik ẇ_iᵀ(∂M/∂u)ẇ_k,  Σ c Π̇ + ċ Π = ȯ.

Since Σ b_i ẋ_i·y_i + x_i·ẏ_i is the increment of x·y, Σ b_i Ω·(torques) + … is the increment of the energy: the second
term of f_u compensates p ≠ M(u)w. Angular momentum is conserved, as V × φW + W × φV = 0 at each node; constraints hold
as their increments are increments of products. Constraints on velocities, and squares of products in constraints
(:mod:`flexph.kernels.rolling`), enter by their rates, sums of w Π_by Π̇ and a·Ω.
"""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, flat, larger
    from ..mechanics.forces import subtract_loads
    from ..mechanics.residual import add_stresses_and_damping
    from ..mechanics.rolling import term_increment
    from ..memory.memory import Memory, stage
    from ..memory.structures import AtNodes
    from ..steps.iterate import reference_length
    from ..terms.nodes import cross_product
    from .nodes import add_field, row_of
    from .scheme import Scheme

NEWTON_BALANCED = cython.declare(cython.double, NEWTON.balanced)


def begin(m: Memory, dim: int) -> None:
    """Compute the inertias J(u) and the angular momenta in world axes of the bodies at the start of a step."""
    s = 1 if dim == 2 else 3
    for b in range(m.inertia_mass.size):
        for i in range(s):
            for j in range(s):
                total = m.inertia_J[b][i][j]
                for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
                    total += (2.0 * m.inertia_s[k][i][j] + m.at_Pu[k][1 + s + s * i + j]) * m.at_u[k]
                m.stage_J[b][i][j] = total
            total = m.at_p_r[b][i]
            if s == 3:
                total = 0.0
                for j in range(3):
                    total += m.at_R[b][i][j] * m.at_p_r[b][j]
            m.stage_momentum[b][i] = total


def balance(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes) -> None:
    """Compute the defects of momenta and constraints at all nodes of a step of length h [s]."""
    for i in range(g.stages.size):
        _rate_inertia(stage(g.stages, i), dim)
    for i in range(g.stages.size):
        _set_changes(m, dim, g, h, i)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        _set_translation_defect(m, g, h, i)
        _set_rotation_defect(s, dim, h)
        _set_shape_defect(s, dim, h)
        if s.x_du.size > 0:
            _add_inertia_correction(dim, g, h, i)
        add_stresses_and_damping(s, h)
        subtract_loads(s, dim, h)
        _set_constraint_defects(m, s, dim, h, given, i)


def _rate_inertia(s: Memory, dim: int) -> None:
    """Compute J̇ = (2s + Ku)·u̇ + Ku̇·u of the bodies at a node, with the inertia products s and K."""
    n = 1 if dim == 2 else 3
    for b in range(s.inertia_mass.size):
        for i in range(n):
            for j in range(n):
                total = 0.0
                kind = 1 + n + n * i + j
                for k in range(s.inertia_first[b], s.inertia_first[b + 1]):
                    square = 2.0 * s.inertia_s[k][i][j] + s.end_Pu[k][kind]
                    total += square * s.x_du[k] + s.end_Pdu[k][kind] * s.end_u[k]
                s.stage_J_rate[b][i][j] = total


def _set_changes(m: Memory, dim: int, g: Scheme, h: float, i: int) -> None:
    """Compute J at node i, and the rates times h of ω, u̇ and the inertia products of u̇."""
    s = stage(g.stages, i)
    share = 0.0
    copy(m.stage_J, s.stage_J)
    fill(s.stage_spin_change, 0.0)
    fill(s.stage_du_change, 0.0)
    fill(s.stage_P_change, 0.0)
    for j in range(g.stages.size):
        t = stage(g.stages, j)
        weight = g.inverse[i][j]
        share -= weight
        add_field(h * g.a[i][j], flat(t.stage_J_rate), flat(s.stage_J))
        add_field(weight, flat(t.end_w), flat(s.stage_spin_change))
        add_field(weight, t.x_du, s.stage_du_change)
        add_field(weight, flat(t.end_Pdu), flat(s.stage_P_change))
    add_field(share, flat(m.at_w), flat(s.stage_spin_change))
    add_field(share, m.at_du, s.stage_du_change)
    add_field(share, flat(m.at_Pdu), flat(s.stage_P_change))


def _set_translation_defect(m: Memory, g: Scheme, h: float, i: int) -> None:
    """Compute the defect of the linear momenta at node i: m hv̇ minus h times the forces."""
    s = stage(g.stages, i)
    for b in range(s.inertia_mass.size):
        for k in range(s.x_v.shape[1]):
            change = 0.0
            for j in range(g.stages.size):
                change += g.inverse[i][j] * (stage(g.stages, j).x_v[b][k] - m.at_v[b][k])
            s.defect_v[b][k] = s.inertia_mass[b] * change - h * (s.inertia_weight[b][k] + s.trial_on_body[b][k])


def _set_rotation_defect(s: Memory, dim: int, h: float) -> None:
    """Compute the defect of the angular momenta at a node, in body axes.

    It is R⁻ᵀhṗ_r + hΩ × π minus h times the torques, multiplied by Rᵀ.
    """
    n = 1 if dim == 2 else 3
    for b in range(s.inertia_mass.size):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += s.stage_J[b][i][j] * s.stage_spin_change[b][j] + h * s.stage_J_rate[b][i][j] * s.end_w[b][j]
            for k in range(s.inertia_first[b], s.inertia_first[b + 1]):
                total += (s.inertia_n[k][i] + s.end_Pu[k][1 + i]) * s.stage_du_change[k]
            s.defect_w[b][i] = total
        if n == 1:
            s.defect_w[b][0] -= h * s.trial_torque[b][0]
        else:
            _set_spatial_rotation_defect(s, h, b)


def _set_spatial_rotation_defect(s: Memory, h: float, b: int) -> None:
    """Compute the defect of the angular momentum of body b in space, from hṗ_r in ``defect.w``.

    Also write Rᵀπ, the angular momentum in body axes, into ``end.p_r``.
    """
    rate = s.stage_turned
    swept = s.run_space[0]
    cross_product(s.stage_spin[b], s.stage_momentum[b], swept)
    for i in range(3):
        rate[i] = h * (swept[i] - s.trial_torque[b][i])
        for j in range(3):
            rate[i] += s.trial_inverse[b][j][i] * s.defect_w[b][j]
    for i in range(3):
        s.defect_w[b][i] = 0.0
        s.end_p_r[b][i] = 0.0
        for j in range(3):
            s.defect_w[b][i] += s.end_R[b][j][i] * rate[j]
            s.end_p_r[b][i] += s.end_R[b][j][i] * s.stage_momentum[b][j]


def _set_shape_defect(s: Memory, dim: int, h: float) -> None:
    """Compute the defect of the momenta of flexible coordinates: hṗ_u minus h times the inertia forces of the spins."""
    n = 1 if dim == 2 else 3
    for b in range(s.inertia_mass.size):
        for k in range(s.inertia_first[b], s.inertia_first[b + 1]):
            total = s.stage_P_change[k][0]
            for i in range(n):
                coupling = s.inertia_n[k][i] + s.end_Pu[k][1 + i]
                total += s.stage_spin_change[b][i] * coupling
                force = -2.0 * s.end_Pdu[k][1 + i]
                for j in range(n):
                    force += (s.inertia_s[k][i][j] + s.end_Pu[k][1 + n + n * i + j]) * s.end_w[b][j]
                total -= h * s.end_w[b][i] * force
            s.defect_du[k] = total


def _add_inertia_correction(dim: int, g: Scheme, h: float, i: int) -> None:
    """Add ½ h Σ e ẇᵀ(∂M/∂u)ẇ, over the changes at all nodes, to the defect of the flexible coordinates at node i.

    It compensates that the collocated momenta p differ from M(u)w.
    """
    n = 1 if dim == 2 else 3
    s = stage(g.stages, i)
    for k in range(g.stages.size):
        t = stage(g.stages, k)
        for b in range(s.inertia_mass.size):
            for a in range(n):
                total = 0.0
                for j in range(g.stages.size):
                    total += g.curvature[i][j][k] * stage(g.stages, j).stage_spin_change[b][a]
                s.stage_spread[b][a] = h * total
            for c in range(s.inertia_first[b], s.inertia_first[b + 1]):
                total = 0.0
                for a in range(n):
                    work = -t.stage_P_change[c][1 + a]
                    for q in range(n):
                        square = s.inertia_s[c][a][q] + s.end_Pu[c][1 + n + n * a + q]
                        work += square * t.stage_spin_change[b][q]
                    total += s.stage_spread[b][a] * work
                s.defect_du[c] += total


def _set_constraint_defects(m: Memory, s: Memory, dim: int, h: float, given: AtNodes, i: int) -> None:
    """Compute the defects of the constraints at node i: h times their rates, less the prescribed ones, plus gaps.

    Only a small share of the gaps at the start is added (see ``NEWTON_FORGOTTEN`` in gauss.steps).
    """
    table_row = row_of(given.coefficient, given, i)
    offset = row_of(given.offset_rate, given, i)
    rated = row_of(given.coefficient_rate, given, i)
    constraint_rates(s, dim, given.coefficient[table_row])
    for row in range(s.defect_lam.size):
        s.defect_lam[row] = h * s.defect_lam[row] + m.run_gap[row] - given.offset_rate[offset][row]
    for term in range(s.joints_term_row.size):
        change = given.coefficient_rate[rated][term] * s.end_product[s.joints_term_product[term]]
        s.defect_lam[s.joints_term_row[term]] += change


def is_balanced(m: Memory, g: Scheme, h: float) -> bool:
    """True if momenta and constraints balance at all nodes to round-off of their terms.

    Near a singular pose corrections are amplified round-off, even of a balanced iterate.
    """
    length = reference_length(m)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        if not (_momenta_balance(s, h) and _constraints_hold(s, length)):
            return False
    return True


def _momenta_balance(s: Memory, h: float) -> bool:
    """True if the momenta at a node balance to round-off of their terms."""
    limit = cython.declare(cython.double, NEWTON_BALANCED)
    forces = 0.0
    push = 0.0
    torques = 0.0
    turn = 0.0
    flexing = 0.0
    bend = 0.0
    for b in range(s.inertia_mass.size):
        for k in range(s.x_v.shape[1]):
            forces = larger(forces, fabs(s.defect_v[b][k]))
            pull = fabs(s.inertia_weight[b][k]) + fabs(s.trial_on_body[b][k])
            push = larger(push, s.inertia_mass[b] * fabs(s.x_v[b][k]) + h * pull)
        for k in range(s.defect_w.shape[1]):
            torques = larger(torques, fabs(s.defect_w[b][k]))
            spun = 0.0
            for j in range(s.defect_w.shape[1]):
                spun += fabs(s.stage_J[b][k][j] * s.end_w[b][j])
            turn = larger(turn, spun + h * fabs(s.trial_torque[b][k]))
    for k in range(s.defect_du.size):
        flexing = larger(flexing, fabs(s.defect_du[k]))
        bend = larger(bend, fabs(s.end_Pdu[k][0]))
    return forces <= limit * push and torques <= limit * turn and flexing <= limit * bend


def _constraints_hold(s: Memory, length: float) -> bool:
    """True if the constraints at a node hold to round-off; gaps of points are compared with a ``length`` [m]."""
    limit = cython.declare(cython.double, NEWTON_BALANCED)
    for row in range(s.defect_lam.size):
        if not fabs(s.defect_lam[row]) <= limit * (length if s.joints_holds_points[row] > 0.0 else 1.0):
            return False
    return True


def constraint_rates(s: Memory, dim: int, coefficient: Array) -> None:
    """Write the rates of the constraints into ``defect.lam``, with the coefficients of their terms held constant."""
    fill(s.defect_lam, 0.0)
    for term in range(s.joints_term_row.size):
        p = s.joints_term_product[term]
        s.defect_lam[s.joints_term_row[term]] += coefficient[term] * s.stage_product_rate[p]
    for i in range(s.rolling_row.size):
        s.defect_lam[s.rolling_row[i]] += term_increment(s, i) * s.stage_product_rate[s.rolling_product[i]]
    for i in range(s.rolling_spin_row.size):
        for k in range(s.rolling_spin_axis.shape[1]):
            spin = s.rolling_spin_axis[i][k] * s.stage_spin[s.rolling_spin_body[i]][k]
            s.defect_lam[s.rolling_spin_row[i]] += spin
