"""Steps of Gauss collocation: guess, solution of the equations in gauss.momenta, and results at the end."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import NEWTON
from ....numerics.arrays import Array
from ..memory.codes import OPENED as _OPENED

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, flat, larger
    from ..mechanics.ledger_rows import energies, flows, velocity_defect
    from ..mechanics.motion import derive
    from ..mechanics.rolling import add_squares, world_spin
    from ..memory.memory import Memory, stage
    from ..memory.structures import AtNodes, Course, GaussTable, Within
    from ..steps.calls import add_held_inputs, begin_within, evaluate_controllers
    from ..steps.iterate import reference_length
    from ..steps.rows import begin_row, close_row, record_energy, refuse, store
    from ..terms.ropes import leaves_sheaves
    from .damped import solve_damped
    from .history import guess, remember
    from .momenta import begin, constraint_rates
    from .newton import newton
    from .nodes import add_field, row_of
    from .scheme import Scheme
    from .springs import add_works_of_factors, set_prescribed_rates

OPENED = cython.declare(cython.Py_ssize_t, _OPENED)
NEWTON_CLOSED = cython.declare(cython.double, NEWTON.closed)
NEWTON_FORGOTTEN = cython.declare(cython.double, NEWTON.forgotten)


def run_gauss(m: Memory, dim: int, g: Scheme, table: GaussTable, course: Course) -> None:
    """Take and record the steps of a table by Gauss collocation, until one is not solved (see steps.run)."""
    if dim == 2:  # a number for the compiler, see build_loops.py
        _run(m, 2, g, table, course)
    else:
        _run(m, 3, g, table, course)


def _run(m: Memory, dim: int, g: Scheme, table: GaussTable, course: Course) -> None:
    """Take and record the steps of a table as :func:`run_gauss`, with ``dim`` a constant of 2 or 3."""
    count = cython.declare(cython.Py_ssize_t)
    known = cython.declare(cython.Py_ssize_t)
    row = cython.declare(cython.Py_ssize_t)
    calls = course.calls
    count = course.before
    known = course.known
    row = 0
    for step in range(table.times.size - 1):
        begin_row(m)
        if calls.due.size > 0 and not add_held_inputs(calls, table.inputs, step, g.stages.size):
            return
        begin_within(m, calls.within, table.inputs, step)
        answer = 1
        while answer == 1:
            if not _step(m, dim, g, table, step, known):
                return
            answer = _is_to_be_tried(m, dim, g, calls.within, table.inputs, step)
        if answer != 0:
            return
        known = g.stages.size
        close_row(m, dim, course.rows, row)
        count += 1
        course.solved[0] += 1
        if count % course.every == 0:
            row += 1


def _is_to_be_tried(m: Memory, dim: int, g: Scheme, within: Within, inputs: Array, step: int) -> int:
    """Call the controllers that are solved within a step with the states at its nodes.

    Returns 0 if all agree with the last call, 1 if the step is to be repeated, else an error.
    """
    if within.address == 0:
        return 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy(s.x_v, s.end_v)
        copy(s.x_du, s.end_du)
        store(s, dim, within.state[i])
    return evaluate_controllers(m, within, inputs, step)


def _step(m: Memory, dim: int, g: Scheme, table: GaussTable, k: int, known: int) -> bool:
    """Take and record step k of a table; False if it is not solved. ``known`` is the number of rows of history."""
    iterations = cython.declare(cython.Py_ssize_t)
    h = table.times[k + 1] - table.times[k]
    first = k if table.coefficient.shape[0] > 1 else 0
    last = k + 1 if table.coefficient.shape[0] > 1 else 0
    given = at_nodes(table, k * g.stages.size)
    iterations = solve_nodes(m, dim, g, table, k, known)
    if iterations < 0:
        return False
    fill(m.run_flow, 0.0)
    add_works_of_factors(m, g, h, given)
    copy(m.at_product, m.end_product)  # those at the start of the step
    copy(flat(m.at_vector), flat(m.end_vector))
    advance(m, dim, g, h)
    derive(m, dim, m.trial_c)
    gaps(m, table.coefficient[last], table.offset[last])
    if _is_open(m) or _has_fallen(m) or leaves_sheaves(m, m.end_product, m.at_product, m.end_vector, m.at_vector):
        return refuse(m, OPENED, iterations)
    velocity_defect(m, dim, table.coefficient[last], table.coefficient_rate[first], table.offset_rate[first])
    _record_step(m, dim, g, h, given)
    m.run_step_audit[4] += iterations
    remember(m, g, h)
    return True


def at_nodes(table: GaussTable, first: int) -> AtNodes:
    """Prescribed quantities at the nodes of a step, of which row ``first`` of the table is the first."""
    return AtNodes(
        table.stage_coefficient,
        table.stage_rate,
        table.stage_offset,
        table.inputs,
        table.moved,
        table.factor,
        table.factor_rate,
        table.factor_end,
        first,
    )


def solve_nodes(m: Memory, dim: int, g: Scheme, table: GaussTable, k: int, known: int) -> int:
    """Solve the equations of step k of a table at all its nodes; return the iterations, or −1 if that fails.

    ``known`` is the number of rows of history.
    """
    iterations = cython.declare(cython.Py_ssize_t)
    h = table.times[k + 1] - table.times[k]
    first = k if table.coefficient.shape[0] > 1 else 0
    given = at_nodes(table, k * g.stages.size)
    begin_step(m, dim, g, table.coefficient[first], table.offset[first], given)
    for i in range(g.stages.size):
        stage(g.stages, i).trial_time[0] = table.times[k] + g.nodes[i] * h
    guess(m, dim, g, h, known)
    iterations = newton(m, dim, g, h, given)
    if iterations < 0:
        guess(m, dim, g, h, known)
        iterations = solve_damped(m, dim, g, h, given)
        if iterations >= 0:
            iterations += cython.cast(cython.Py_ssize_t, m.run_failure[1])
            fill(m.run_failure, 0.0)
    return iterations


def begin_step(m: Memory, dim: int, g: Scheme, coefficient: Array, offset: Array, given: AtNodes) -> None:
    """Compute gaps, inertias and angular momenta at the start of a step, and set the prescribed rates at its nodes.

    ``coefficient`` and ``offset`` are those of the constraints at the start.
    """
    gaps(m, coefficient, offset)
    for i in range(m.run_gap.size):
        m.run_gap[i] *= NEWTON_FORGOTTEN
    begin(m, dim)
    set_prescribed_rates(m, g, given)


def gaps(m: Memory, coefficient: Array, offset: Array) -> None:
    """Write the gaps of the position constraints at the present state ``at`` into ``run.gap``.

    ``coefficient`` and ``offset`` are those of the constraints there.
    """
    for i in range(offset.size):
        m.run_gap[i] = -offset[i]
    for i in range(m.joints_term_row.size):
        m.run_gap[m.joints_term_row[i]] += coefficient[i] * m.at_product[m.joints_term_product[i]]
    add_squares(m, m.run_gap)


def advance(m: Memory, dim: int, g: Scheme, h: float) -> None:
    """Move the present state ``at`` to the end of a step of length h [s].

    The increments of all stages are summed up before they are added.
    """
    _add_increments(m, g, h)
    for b in range(m.inertia_mass.size):
        _advance_rotation(m, dim, g, h, b)
        _orthogonalise(m, dim, b)


def _add_increments(m: Memory, g: Scheme, h: float) -> None:
    """Add the increments over a step to the present state ``at``, except those of rotations.

    Positions, stresses and spring states have increments from their rates, velocities from their values at the nodes.
    """
    for b in range(m.inertia_mass.size):
        for k in range(m.at_r.shape[1]):
            moved = 0.0
            faster = 0.0
            for i in range(g.stages.size):
                s = stage(g.stages, i)
                moved += g.weights[i] * s.x_v[b][k]
                faster += g.ends[i] * (s.x_v[b][k] - m.at_v[b][k])
            m.at_r[b][k] += h * moved
            m.at_v[b][k] += faster
        for k in range(m.at_w.shape[1]):
            faster = 0.0
            for i in range(g.stages.size):
                faster += g.ends[i] * (stage(g.stages, i).end_w[b][k] - m.at_w[b][k])
            m.at_w[b][k] += faster
    for k in range(m.at_u.size):
        moved = 0.0
        faster = 0.0
        for i in range(g.stages.size):
            s = stage(g.stages, i)
            moved += g.weights[i] * s.x_du[k]
            faster += g.ends[i] * (s.x_du[k] - m.at_du[k])
        m.at_u[k] += h * moved
        m.at_du[k] += faster
    for k in range(m.at_sigma.size):
        moved = 0.0
        for i in range(g.stages.size):
            moved += g.weights[i] * stage(g.stages, i).trial_jump[k]
        m.at_sigma[k] += h * moved
    for k in range(m.joints_state.size):
        if m.joints_state[k] >= 0:
            moved = 0.0
            for i in range(g.stages.size):
                moved += g.weights[i] * stage(g.stages, i).trial_extension[k]
            m.at_spring[m.joints_state[k]] += h * m.joints_gain[k] * moved


def _advance_rotation(m: Memory, dim: int, g: Scheme, h: float, b: int) -> None:
    """Add the weighted sum of Ω × R at the nodes to the rotation R of body b."""
    d = dim
    swept = m.run_frame
    fill(swept, 0.0)
    for n in range(g.stages.size):
        s = stage(g.stages, n)
        share = h * g.weights[n]
        R = s.end_R[b]
        spin = s.stage_spin[b]
        for column in range(d):
            if d == 2:
                swept[0][column] -= share * spin[0] * R[1][column]
                swept[1][column] += share * spin[0] * R[0][column]
            else:
                for i in range(3):
                    j = (i + 1) % 3
                    k = (i + 2) % 3
                    swept[i][column] += share * (spin[j] * R[k][column] - spin[k] * R[j][column])
    for i in range(d):
        for column in range(d):
            m.at_R[b][i][column] += swept[i][column]


def _orthogonalise(m: Memory, dim: int, b: int) -> None:
    """Replace the rotation R of body b by R(3 − RᵀR)/2.

    Round-off of the tableau would let RᵀR drift away from 1.
    """
    R = m.at_R[b]
    form = m.run_frame
    d = dim
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += R[k][i] * R[k][j]
            form[i][j] = (1.5 if i == j else 0.0) - 0.5 * total
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += R[i][k] * form[k][j]
            m.run_space[0][j] = total
        for j in range(d):
            R[i][j] = m.run_space[0][j]
    if d == 2:
        R[0][1] = -R[1][0]
        R[1][1] = R[0][0]


def _is_open(m: Memory) -> bool:
    """True if position constraints do not hold at the end of the step (see kernels.state)."""
    length = reference_length(m)
    for i in range(m.run_gap.size):
        size = length if m.joints_holds_points[i] > 0.0 else 1.0
        if not m.rolling_free[i] and not fabs(m.run_gap[i]) <= NEWTON_CLOSED * size:
            return True
    return False


def _has_fallen(m: Memory) -> bool:
    """True if a disc lies flat at the end of the step."""
    lies = cython.declare(cython.bint)
    lies = False
    for i in range(m.rolling_positive.size):
        lies = lies or m.at_product[m.rolling_positive[i]] <= m.rolling_least[i]
    return lies


def _record_step(m: Memory, dim: int, g: Scheme, h: float, given: AtNodes) -> None:
    """Record energies, flows, residuals and multipliers of a solved step of length h [s]."""
    energies(m, dim, m.run_new_energy)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        table_row = row_of(given.coefficient, given, i)
        share = h * g.weights[i]
        for k in range(s.trial_jump.size):
            s.trial_jump[k] *= share
        for k in range(s.trial_extension.size):
            s.trial_extension[k] *= share
            s.trial_moved[k] *= share
        flows(s, dim, share, given.coefficient[table_row], given.coefficient[table_row])
        for k in range(s.rolling_spin_row.size):  # flows() takes spins in body axes, RᵀΩ; here they are Ω
            apart = world_spin(s, dim, k, s.end_w) - world_spin(s, dim, k, s.x_w)
            s.run_flow[s.ledger_row[s.rolling_spin_row[k]]] += share * s.x_lam[s.rolling_spin_row[k]] * apart
        add_field(1.0, s.run_flow, m.run_flow)
        constraint_rates(s, dim, given.coefficient[table_row])
        for row in range(m.run_gap.size):
            m.run_step_stage[row] += g.weights[i] * s.x_lam[row]
    copy(stage(g.stages, g.stages.size // 2).x_lam, m.run_step_multipliers)
    audit = m.run_step_audit
    audit[0] = larger(audit[0], fabs(record_energy(m)))
    for row in range(m.run_gap.size):
        m.run_defect[row] = m.run_new_defect[row]
        if m.rolling_free[row]:
            slip = 0.0
            for i in range(g.stages.size):
                slip += g.weights[i] * stage(g.stages, i).defect_lam[row]
            audit[3] = larger(audit[3], fabs(slip))
        else:
            audit[1] = larger(audit[1], fabs(m.run_gap[row]))
