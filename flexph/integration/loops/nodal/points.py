"""Points of cables in loops: their rates of positions and slopes as unknowns, and nodes that are means of points.

Velocities of points are v = T x. The unknowns x, rates of positions and slopes, couple neighbours only, in the strains
and by TᵀMT in the inertia with masses M, whereas each tension depends on many of the points.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import Number
    from ..memory.memory import Memory
    from ..terms.border import add


def gather_points(m: Memory) -> None:
    """Write Tᵀ times the momentum defects of cables' points into the right-hand side of the border of the Jacobian."""
    d = m.defect_v.shape[1]
    for k in range(m.points_frame.size):
        for i in range(d):
            m.system_x[m.border_v[m.points_frame[k]][i]] = 0.0
    for k in range(m.points_frame.size):
        for e in range(m.points_ptr[k], m.points_ptr[k + 1]):
            for i in range(d):
                m.system_x[m.border_v[m.points_col[e]][i]] += m.points_val[e] * m.defect_v[m.points_frame[k]][i]


def spread_points(m: Memory) -> None:
    """Compute the corrections T x of the velocities of points.

    The unknowns x are in the solution of the border of the Jacobian.
    """
    total = cython.declare(Number)
    for k in range(m.points_frame.size):
        for i in range(m.correction_v.shape[1]):
            total = 0.0
            for e in range(m.points_ptr[k], m.points_ptr[k + 1]):
                total += m.points_val[e] * m.system_x[m.border_v[m.points_col[e]][i]]
            m.correction_v[m.points_frame[k]][i] = total


def add_point_masses(m: Memory) -> None:
    """Add the inertia 2TᵀMT of the points of cables to the border of the Jacobian."""
    for e in range(m.points_mass_val.size):
        for i in range(m.border_v.shape[1]):
            row = m.border_v[m.points_mass_row[e]][i]
            column = m.border_v[m.points_mass_col[e]][i]
            add(m, row, column, 2.0 * m.points_mass_val[e])


def place_means(m: Memory, r: Array, arm: Array) -> None:
    """Write the positions of nodes that are means of points into ``arm``; ``r`` are the positions of frames."""
    for k in range(m.points_node.size):
        for i in range(r.shape[1]):
            total = 0.0
            for e in range(m.points_node_ptr[k], m.points_node_ptr[k + 1]):
                total += m.points_node_weight[e] * r[m.points_node_frame[e]][i]
            arm[m.points_node[k]][i] = total


def move_means(m: Memory, v: Array) -> None:
    """Write the velocities of nodes that are means of points into ``run.moved``; ``v`` are the velocities of frames."""
    for k in range(m.points_node.size):
        for i in range(v.shape[1]):
            total = 0.0
            for e in range(m.points_node_ptr[k], m.points_node_ptr[k + 1]):
                total += m.points_node_weight[e] * v[m.points_node_frame[e]][i]
            m.run_moved[m.points_node[k]][i] = total


def distribute_mean_forces(m: Memory) -> None:
    """Distribute the force on each node that is a mean of points to these points.

    Torques on its body are set to zero, as points have no spin.
    """
    for k in range(m.points_node.size):
        n = m.points_node[k]
        for i in range(m.trial_torque.shape[1]):
            m.trial_torque[m.nodes_body[n]][i] = 0.0
        for e in range(m.points_node_ptr[k], m.points_node_ptr[k + 1]):
            for i in range(m.trial_on_body.shape[1]):
                m.trial_on_body[m.points_node_frame[e]][i] += m.points_node_weight[e] * m.trial_on_node[n][i]
