"""Positions, rates and forces at the nodes of a step (equations in gauss.momenta)."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import copy, flat
    from ..mechanics.forces import forces, write_world_loads
    from ..mechanics.motion import inertia_products, vectors
    from ..memory.memory import Memory, stage
    from ..memory.structures import AtNodes
    from .nodes import add_field, row_of
    from .rotations import drive_arm, factor_rotations, turn
    from .scheme import Scheme
    from .springs import set_product_forces
    from .stresses import strain


def set_positions(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes, begins: bool) -> bool:
    """Compute positions, vectors and forces at the nodes of a step from the rates and multipliers there.

    Returns False if a body turns too far. If the iteration ``begins``, stress rates are computed from strain rates,
    else they are unknowns (see stresses).
    """
    _set_centres(m, dim, g, h)
    if not factor_rotations(dim, g, h):
        return False
    turn(m, dim, g)
    _move_arms(m, dim, g, h)
    _set_products(m, dim, g, h)
    strain(m, g, h, begins)
    set_product_forces(m, g, h, given)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        write_world_loads(s, dim, given.inputs[row_of(given.inputs, given, i)])
        forces(s, dim, 0)
    if dim == 3:
        _collect_torques(m, g, h)
    return True


def _set_centres(m: Memory, dim: int, g: Scheme, h: float) -> None:
    """Compute centres of mass, flexible coordinates and their inertia products at the nodes of the step.

    The rate φ̄u̇ of the shift is left in ``trial.c``.
    """
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        inertia_products(s, dim, s.x_du, s.trial_c, s.end_Pdu)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy(m.at_r, s.end_r)
        copy(m.at_u, s.end_u)
        copy(m.at_Pu, s.end_Pu)
        for j in range(g.stages.size):
            t = stage(g.stages, j)
            factor = h * g.a[i][j]
            add_field(factor, flat(t.x_v), flat(s.end_r))
            add_field(factor, t.x_du, s.end_u)
            add_field(factor, flat(t.end_Pdu), flat(s.end_Pu))


def _move_arms(m: Memory, dim: int, g: Scheme, h: float) -> None:
    """Compute the arms and velocities of all points on bodies, at the nodes of the step.

    Velocities are written into ``run.moved``. On rigid bodies that turn, the arms R x solve ȧ = Ω × a.
    """
    d = dim
    for i in range(g.stages.size):
        _set_shape_velocities(stage(g.stages, i), dim)
    for n in range(m.nodes_body.size):
        if _is_rigid(m, m.nodes_body[n]):
            for i in range(g.stages.size):
                _turn_arm(stage(g.stages, i), dim, n)
            continue
        for i in range(g.stages.size):
            for k in range(d):
                total = 0.0
                for j in range(g.stages.size):
                    total += g.a[i][j] * stage(g.stages, j).stage_pushed[n][k]
                g.driven[i * d + k] = m.at_arm[n][k] + h * total
        drive_arm(m, dim, g, n)
    for i in range(g.stages.size):
        _set_velocities(stage(g.stages, i), dim)


def _is_rigid(m: Memory, b: int) -> bool:
    """True for a body that turns and has no flexible coordinates."""
    return m.inertia_turns[b] > 0 and m.inertia_first[b] == m.inertia_first[b + 1]


def _turn_arm(s: Memory, dim: int, n: int) -> None:
    """Compute the arm R x of point n on a rigid body."""
    R = s.end_R[s.nodes_body[n]]
    x = s.nodes_position[n]
    arm = s.end_arm[n]
    first = x[0]
    second = x[1]
    if dim == 2:
        for k in range(2):
            arm[k] = R[k][0] * first + R[k][1] * second
    else:
        third = x[2]
        for k in range(3):
            arm[k] = R[k][0] * first + R[k][1] * second + R[k][2] * third


def _set_shape_velocities(s: Memory, dim: int) -> None:
    """Compute the part R⁻ᵀφu̇ of the velocities of points that the flexible coordinates cause."""
    d = dim
    for n in range(s.nodes_body.size):
        b = s.nodes_body[n]
        if _is_rigid(s, b):  # it is zero
            continue
        for k in range(d):
            s.stage_pushed[n][k] = 0.0
        for j in range(d):
            local = -s.nodes_moves[n] * s.trial_c[b][j]
            for e in range(s.nodes_ptr[n], s.nodes_ptr[n + 1]):
                local += s.nodes_val[e][j] * s.x_du[s.nodes_col[e]]
            for k in range(d):
                s.stage_pushed[n][k] += s.trial_inverse[b][j][k] * local


def _set_velocities(s: Memory, dim: int) -> None:
    """Write the velocities ṙ + Ω × a + R⁻ᵀφu̇ of points into ``run.moved``."""
    d = dim
    swept = s.run_space[0]
    for n in range(s.nodes_body.size):
        b = s.nodes_body[n]
        arm = s.end_arm[n]
        if d == 2:
            swept[0] = -s.stage_spin[b][0] * arm[1]
            swept[1] = s.stage_spin[b][0] * arm[0]
        else:
            spin = s.stage_spin[b]
            swept[0] = spin[1] * arm[2] - spin[2] * arm[1]
            swept[1] = spin[2] * arm[0] - spin[0] * arm[2]
            swept[2] = spin[0] * arm[1] - spin[1] * arm[0]
        for k in range(d):
            s.run_moved[n][k] = s.nodes_moves[n] * s.x_v[b][k] + swept[k] + s.stage_pushed[n][k]


def _set_products(m: Memory, dim: int, g: Scheme, h: float) -> None:
    """Compute the vectors between points at the nodes of the step, and their products by collocation of their rates."""
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        vectors(s, dim, s.end_r, s.end_arm, s.end_vector, s.end_product)
        _set_product_rates(s, dim)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy(m.at_product, s.end_product)
        for j in range(g.stages.size):
            add_field(h * g.a[i][j], stage(g.stages, j).stage_product_rate, s.end_product)


def _set_product_rates(s: Memory, dim: int) -> None:
    """Compute the rates of products from those of vectors; ``trial.on_vector`` is work space."""
    rate = s.trial_on_vector
    for v in range(s.joints_plus.size):
        plus = s.joints_plus[v]
        minus = s.joints_minus[v]
        for i in range(dim):
            moved = 0.0
            if plus >= 0:
                moved += s.run_moved[plus][i]
            if minus >= 0:
                moved -= s.run_moved[minus][i]
            rate[v][i] = moved
    for p in range(s.stage_product_rate.size):
        first = s.joints_first[p]
        second = s.joints_second[p]
        total = 0.0
        for i in range(dim):
            total += rate[first][i] * s.end_vector[second][i] + rate[second][i] * s.end_vector[first][i]
        s.stage_product_rate[p] = total


def _collect_torques(m: Memory, g: Scheme, h: float) -> None:
    """Compute the angular momenta in world axes at the nodes of the step, by collocation of the torques."""
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy(m.stage_momentum, s.stage_momentum)
        for j in range(g.stages.size):
            add_field(h * g.a[i][j], flat(stage(g.stages, j).trial_torque), flat(s.stage_momentum))
