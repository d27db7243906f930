"""Trials of mean velocities in a step with rigid contacts: defects of the bodies, and changes that remove them."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, isfinite
    from math import inf as INFINITY

    from ....numerics.loops.views import average, fill, larger, smaller
    from ..contact.forces import add_contact_forces, add_contact_torques
    from ..mechanics.forces import add_resultants, apply_loads, write_world_loads
    from ..mechanics.motion import node_arms
    from ..mechanics.residual import balance, move
    from ..memory.memory import Memory
    from ..memory.structures import Given, Kinds
    from ..steps.history import guess
    from ..steps.newton import newton
    from .bodies import are_apart, set_inverse_jacobians
    from .coupled import begin_joints, change_coupled, evaluate_coupled
    from .marks import OPEN
    from .rows import evaluate_contact


ITERATIONS = cython.declare(cython.Py_ssize_t, 60)
RENEWED = cython.declare(cython.Py_ssize_t, 2)
"""Limit of iterations, and the last iteration in which matrices are renewed in any case."""
SETTLED = cython.declare(cython.double, 1e-15)
STAGNATED = cython.declare(cython.double, 1e-8)
"""Relative change of velocities that ends the iteration, and that at which it may stagnate."""


def evaluate(m: Memory, dim: int, kinds: int, given: Given) -> None:
    """Compute the momentum defects of the mean velocities, with the impulses of contacts, and the defects of joints."""
    if not are_apart(m):
        evaluate_coupled(m, dim, kinds, given)
    else:
        _evaluate(m, dim, given.h, given.inputs)


def _evaluate(m: Memory, dim: int, h: float, inputs: Array) -> None:
    move(m, dim, h)
    node_arms(m, dim, m.end_R, m.end_u, m.trial_c, m.end_arm)
    average(m.at_arm, m.end_arm, m.trial_lever)
    write_world_loads(m, dim, inputs)
    for c in range(m.contacts_kind.size):
        m.touch_force[c] = 0.0
        if m.strike_may_close[c] > 0:
            evaluate_contact(m, dim, c, h)
    fill(m.trial_forces, 0.0)
    fill(m.trial_section, 0.0)
    apply_loads(m, dim)
    add_contact_forces(m, dim)
    add_resultants(m, dim)
    add_contact_torques(m, dim)
    balance(m, dim, h)


def solve_free(m: Memory, dim: int, kinds: int, given: Given, known: int) -> bool:
    """Solve the step as if no contact closed; False if it is not solved.

    ``known`` is the number of rows of history for the guess.
    """
    if not are_apart(m):
        guess(m, dim, given.h, known)
        return solve_without_contacts(m, dim, kinds, given) > 0
    else:
        return _solve_free(m, dim, given)


def _clear_forces(m: Memory) -> None:
    """Set the forces of rigid contacts in the step to zero."""
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            m.touch_force[c] = 0.0


def solve_without_contacts(m: Memory, dim: int, kinds: int, given: Given) -> int:
    """Solve the step without rigid contacts and friction of joints, from a guess; return iterations, −1 if it fails."""
    _clear_forces(m)
    fill(m.trial_rub, 0.0)
    if not begin_joints(m, dim, kinds, given):
        return -1
    return newton(m, dim, Kinds(kinds > 1, 0, kinds > 0, 0), given, False)


def _solve_free(m: Memory, dim: int, given: Given) -> bool:
    """Solve the step of free bodies without contacts, from the velocities at its start; False if it is not solved."""
    h = given.h
    fill(m.strike_may_close, OPEN)
    begin_at_start(m)
    scale = velocity_scale(m, h)
    size = INFINITY
    previous = INFINITY
    for iteration in range(ITERATIONS):
        _evaluate(m, dim, h, given.inputs)
        if iteration <= RENEWED:
            set_inverse_jacobians(m, dim, h)
        _balance_bodies(m)
        size, previous = correct(m, scale), size
        expected = size if iteration == 0 else size * smaller(1.0, size / previous)
        if expected <= SETTLED or size > 0.5 * previous:
            break
    if not size <= STAGNATED:
        return False
    _evaluate(m, dim, h, given.inputs)
    return True


def begin_at_start(m: Memory) -> None:
    """Set the mean velocities to the velocities at the start of the step, as a guess."""
    for b in range(m.inertia_mass.size):
        for a in range(m.at_v.shape[1]):
            m.x_v[b][a] = m.at_v[b][a]
        for a in range(m.at_w.shape[1]):
            m.x_w[b][a] = m.at_w[b][a]


def velocity_scale(m: Memory, h: float) -> float:
    """Scale [m/s] by which changes of velocities are divided; spins count times the reference lever."""
    scale = 1e-300
    lever = m.joints_lengths[0]
    for b in range(m.inertia_mass.size):
        for a in range(m.at_v.shape[1]):
            scale = larger(larger(scale, fabs(m.at_v[b][a])), fabs(m.x_v[b][a]))
            scale = larger(scale, fabs(h * m.inertia_weight[b][a] / m.inertia_mass[b]))
        for a in range(m.at_w.shape[1]):
            scale = larger(larger(scale, lever * fabs(m.at_w[b][a])), lever * fabs(m.x_w[b][a]))
    for i in range(m.strike_bend.size):
        scale = larger(larger(scale, fabs(m.at_du[i]) / m.joints_of_length[i]), fabs(m.x_du[i]) / m.joints_of_length[i])
    return scale


def balance_bodies(m: Memory, dim: int, kinds: int, h: float) -> None:
    """Compute the changes of the velocities of all bodies that remove their defects, at constant impulses."""
    if not are_apart(m):
        change_coupled(m, dim, kinds, h)
    else:
        _balance_bodies(m)


def _balance_bodies(m: Memory) -> None:
    d = m.at_v.shape[1]
    n = m.strike_change.shape[1]
    for b in range(m.inertia_mass.size):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total -= m.strike_inverse[b][i][j] * (m.defect_v[b][j] if j < d else m.defect_w[b][j - d])
            m.strike_change[b][i] = total


def correct(m: Memory, scale: float) -> float:
    """Add the computed changes to the mean velocities; return the largest change, divided by ``scale`` [m/s]."""
    d = m.at_v.shape[1]
    size = 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.strike_change.shape[1]):
            change = m.strike_change[b][i]
            if i < d:
                m.x_v[b][i] += change
                size = larger(size, fabs(change) / scale)
            else:
                m.x_w[b][i - d] += change
                size = larger(size, fabs(change) * m.joints_lengths[0] / scale)
            if not isfinite(change):
                size = INFINITY
    for i in range(m.strike_bend.size):
        m.x_du[i] += m.strike_bend[i]
        size = larger(size, fabs(m.strike_bend[i]) / (m.joints_of_length[i] * scale))
    for i in range(m.strike_held.size):
        m.x_lam[i] += m.strike_held[i]
    return size
