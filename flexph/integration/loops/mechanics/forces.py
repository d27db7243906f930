"""Forces on products, nodes, sections and bodies over a step.

Products are scalar products of vectors between nodes. The force on a product is power-conjugate to its rate; those of
constraints and springs are converted to forces on the nodes of both vectors.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import copy, fill
    from ..contact.forces import add_contact_forces, add_contact_torques
    from ..memory.memory import Memory
    from ..nodal.points import distribute_mean_forces
    from ..terms.hysteresis import follow_path
    from .rolling import add_term_forces, add_term_torques
    from .springs import set_tensions


def set_forces_on_products(m: Memory, h: float, before: Array, after: Array) -> None:
    """Compute the forces of constraints and springs on products, and the spring states at the end of the step.

    ``before`` and ``after`` are the coefficients of the constraints at both ends.
    """
    set_constraint_forces(m, before, after)
    set_tensions(m, h, m.at_product, m.end_product, m.at_spring)
    for i in range(m.joints_state.size):
        k = m.joints_state[i]
        if m.joints_path_kind[i] != 0:
            m.end_spring[k] = follow_path(m, i, m.at_spring[k], m.trial_extension[i], h)[1]
        elif k >= 0:
            m.end_spring[k] = m.at_spring[k] + m.joints_gain[i] * m.trial_extension[i]


def set_constraint_forces(m: Memory, before: Array, after: Array) -> None:
    """Set the forces on products to the forces of the constraints alone, with mean coefficients over the step."""
    fill(m.trial_force, 0.0)
    for i in range(m.joints_term_row.size):
        m.trial_force[m.joints_term_product[i]] += 0.5 * (before[i] + after[i]) * m.x_lam[m.joints_term_row[i]]
    add_term_forces(m)


def write_world_loads(m: Memory, dim: int, inputs: Array) -> None:
    """Convert the inputs to world axes, and write them into ``trial.loads``.

    Inputs of loads that follow a section are given in its axes.
    """
    d = dim
    copy(inputs, m.trial_loads)
    copy(inputs, m.trial_given)
    for f in range(m.loads_follow_input.shape[0]):
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += inputs[m.loads_follow_input[f][j]] * m.trial_lever[m.loads_follow_node[f][j]][i]
            m.trial_loads[m.loads_follow_input[f][i]] = total


def forces(m: Memory, dim: int, contact: int) -> None:
    """Compute the forces on nodes, the torques on sections, and their resultants on bodies.

    Forces due to strains are left out.
    """
    if dim == 2:  # a number for the compiler, see build_loops.py
        _forces(m, 2, contact)
    else:
        _forces(m, 3, contact)


def _forces(m: Memory, dim: int, contact: int) -> None:
    """Compute the forces and torques of :func:`forces`, with ``dim`` a constant of 2 or 3."""
    fill(m.trial_forces, 0.0)
    fill(m.trial_section, 0.0)
    add_forces_on_nodes(m, dim)
    apply_loads(m, dim)
    if contact > 0:
        add_contact_forces(m, dim)
    add_resultants(m, dim)
    distribute_mean_forces(m)
    add_term_torques(m)
    if contact > 0:
        add_contact_torques(m, dim)


def add_forces_on_nodes(m: Memory, dim: int) -> None:
    """Convert the forces on products to forces on the nodes of their vectors, and add them."""
    for p in range(m.trial_force.size):
        first = m.joints_first[p]
        second = m.joints_second[p]
        for i in range(dim):
            m.trial_on_vector[first][i] += m.trial_force[p] * m.trial_mean[second][i]
            m.trial_on_vector[second][i] += m.trial_force[p] * m.trial_mean[first][i]
    for v in range(m.joints_plus.size):
        for i in range(dim):
            if m.joints_plus[v] >= 0:
                m.trial_on_node[m.joints_plus[v]][i] += m.trial_on_vector[v][i]
            if m.joints_minus[v] >= 0:
                m.trial_on_node[m.joints_minus[v]][i] -= m.trial_on_vector[v][i]


def apply_loads(m: Memory, dim: int) -> None:
    """Add the forces and torques that inputs exert to the forces on nodes and the torques on sections."""
    d = dim
    s = 1 if d == 2 else 3
    for e in range(m.loads_node_row.size):
        row = m.loads_node_row[e]
        m.trial_on_node[row // d][row % d] += m.loads_node_val[e] * m.trial_loads[m.loads_node_input[e]]
    for e in range(m.loads_torque_row.size):
        row = m.loads_torque_row[e]
        m.trial_section[row // s][row % s] += m.loads_torque_val[e] * m.trial_loads[m.loads_torque_input[e]]


def add_resultants(m: Memory, dim: int) -> None:
    """Add the resultants of the forces on nodes and torques on sections to the forces and torques on bodies."""
    add_node_resultants(m, dim)
    for n in range(m.loads_torque_body.size):
        for i in range(m.trial_section.shape[1]):
            m.trial_torque[m.loads_torque_body[n]][i] += m.trial_section[n][i]


def add_node_resultants(m: Memory, dim: int) -> None:
    """Add the resultants of the forces on nodes to the forces and torques on bodies."""
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        f = m.trial_on_node[n]
        lever = m.trial_lever[n]
        for i in range(dim):
            m.trial_on_body[b][i] += m.nodes_moves[n] * f[i]
        if dim == 2:
            m.trial_torque[b][0] += lever[0] * f[1] - lever[1] * f[0]
        else:
            m.trial_torque[b][0] += lever[1] * f[2] - lever[2] * f[1]
            m.trial_torque[b][1] += lever[2] * f[0] - lever[0] * f[2]
            m.trial_torque[b][2] += lever[0] * f[1] - lever[1] * f[0]


def subtract_loads(m: Memory, dim: int, h: float) -> None:
    """Subtract the effect of forces on nodes and torques on sections from the defects of the flexible coordinates u̇̄.

    The effect is h(φ − φ̄)ᵀ R̄⁻¹ f for a force f and h ψᵀ R̄⁻¹ τ for a torque τ. Unit flexible coordinates displace a node
    by φ, the centre of mass by φ̄, and turn a section by ψ.
    """
    subtract_node_loads(m, dim, h)
    s = 1 if dim == 2 else 3
    for n in range(m.loads_torque_body.size):
        b = m.loads_torque_body[n]
        for j in range(s):
            local = m.trial_section[n][0]
            if s == 3:
                local = 0.0
                for i in range(s):
                    local += m.trial_inverse[b][j][i] * m.trial_section[n][i]
            for e in range(m.loads_torque_ptr[n], m.loads_torque_ptr[n + 1]):
                m.defect_du[m.loads_torque_col[e]] -= h * m.loads_torque_shape[e][j] * local


def subtract_node_loads(m: Memory, dim: int, h: float) -> None:
    """Subtract the effect h(φ − φ̄)ᵀ R̄⁻¹ f of forces f on nodes from the defects of the flexible coordinates u̇̄.

    Unit flexible coordinates displace a node by φ and the centre of mass by φ̄. The part with φ̄ is computed from the
    resultant of the forces on each body.
    """
    d = dim
    for n in range(m.nodes_body.size):
        if m.nodes_ptr[n] == m.nodes_ptr[n + 1]:
            continue
        b = m.nodes_body[n]
        for j in range(d):
            local = 0.0
            for i in range(d):
                local += m.trial_inverse[b][j][i] * m.trial_on_node[n][i]
            for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
                m.defect_du[m.nodes_col[e]] -= h * m.nodes_val[e][j] * local
    for b in range(m.inertia_mass.size):
        if m.inertia_first[b] == m.inertia_first[b + 1]:
            continue
        for j in range(d):
            local = 0.0
            for i in range(d):
                local += m.trial_inverse[b][j][i] * m.trial_on_body[b][i]
            for e in range(m.inertia_first[b], m.inertia_first[b + 1]):
                m.defect_du[e] += h * m.inertia_mean[e][j] * local
