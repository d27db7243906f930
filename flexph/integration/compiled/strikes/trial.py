"""Mean velocities on trial: the defects of the bodies with the impulses of contacts, and how bodies answer them."""

from __future__ import annotations

import math

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.forces import push_nodes, twist_bodies
from ..loops.forces import apply_loads, sum_by_body, turn_loads
from ..loops.motion import average, node_arms
from ..loops.residual import balance, move
from ..memory.memory import Memory
from ..steps.history import guess
from ..steps.newton import newton
from .bodies import are_apart, weigh_step
from .coupled import begin_joints, change_coupled, evaluate_coupled
from .given import Given
from .marks import OPEN
from .rows import meet

ITERATIONS, RENEWED = 60, 2
"""Iterations, and of how many matrices are made anew."""
SETTLED, STAGNATED = 1e-15, 1e-8
"""Changes of velocities over their scale that end the iteration, and at which it may stagnate."""


@kernel
def evaluate(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> None:
    """Momentum defects of the mean velocities with the impulses of contacts that may close, and those of joints."""
    if not are_apart(m):
        evaluate_coupled(m, axes, kinds, given)
    else:
        _evaluate(m, axes, given.h, given.inputs)


@kernel
def _evaluate(m: Memory, axes: tuple[int, ...], h: float, inputs: Array) -> None:
    move(m, axes, h)
    node_arms(m, axes, m.end_R, m.end_u, m.trial_c, m.end_arm)
    average(m.at_arm, m.end_arm, m.trial_lever)
    turn_loads(m, axes, inputs)
    for c in range(m.contacts_kind.size):
        m.touch_force[c] = 0.0
        if m.strike_may_close[c] > 0:
            meet(m, axes, c, h)
    m.trial_forces[:] = 0.0
    m.trial_section[:] = 0.0
    apply_loads(m, axes)
    push_nodes(m, axes)
    sum_by_body(m, axes)
    twist_bodies(m, axes)
    balance(m, axes, h)


@kernel
def solve_free(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given, known: int) -> bool:
    """The step in which nothing closes; False where it is not solved."""
    if not are_apart(m):
        guess(m, axes, given.h, known)
        return fly(m, axes, kinds, given) > 0
    else:
        return _solve_free(m, axes, given)


@kernel
def _release(m: Memory) -> None:
    """No forces of rigid contacts."""
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            m.touch_force[c] = 0.0


@kernel
def fly(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given) -> int:
    """The step without rigid contacts and friction of joints from a guess; its iterations, or −1."""
    _release(m)
    m.trial_rub[:] = 0.0
    h, (before, after), (offset, last) = given.h, (given.before, given.after), (given.offset, given.last_offset)
    if not begin_joints(m, axes, kinds, given):
        return -1
    return newton(m, axes, kinds[1:], (), kinds[:1], (), h, before, after, offset, last, given.inputs)


@kernel
def _solve_free(m: Memory, axes: tuple[int, ...], given: Given) -> bool:
    """That of free bodies, from the velocities at its start."""
    h = given.h
    m.strike_may_close[:] = OPEN
    begin_at_start(m)
    scale = velocity_scale(m, h)
    size, previous = math.inf, math.inf
    for iteration in range(ITERATIONS):
        _evaluate(m, axes, h, given.inputs)
        if iteration <= RENEWED:
            weigh_step(m, axes, h)
        _balance_bodies(m)
        size, previous = correct(m, scale), size
        expected = size if iteration == 0 else size * min(1.0, size / previous)
        if expected <= SETTLED or size > 0.5 * previous:
            break
    if not size <= STAGNATED:
        return False
    _evaluate(m, axes, h, given.inputs)
    return True


@kernel
def begin_at_start(m: Memory) -> None:
    """The velocities at the start as the first guess."""
    for b in range(m.inertia_mass.size):
        for a in range(m.at_v.shape[1]):
            m.x_v[b, a] = m.at_v[b, a]
        for a in range(m.at_w.shape[1]):
            m.x_w[b, a] = m.at_w[b, a]


@kernel
def velocity_scale(m: Memory, h: float) -> float:
    """What changes of velocities are compared with, those of spins by the lever of the mechanism [m/s]."""
    scale, lever = 1e-300, m.joints_lengths[0]
    for b in range(m.inertia_mass.size):
        for a in range(m.at_v.shape[1]):
            scale = max(scale, abs(m.at_v[b, a]), abs(m.x_v[b, a]))
            scale = max(scale, abs(h * m.inertia_weight[b, a] / m.inertia_mass[b]))
        for a in range(m.at_w.shape[1]):
            scale = max(scale, lever * abs(m.at_w[b, a]), lever * abs(m.x_w[b, a]))
    for i in range(m.strike_bend.size):
        scale = max(scale, abs(m.at_du[i]) / m.joints_of_length[i], abs(m.x_du[i]) / m.joints_of_length[i])
    return scale


@kernel
def balance_bodies(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], h: float) -> None:
    """Changes of the velocities of all bodies by their defects alone."""
    if not are_apart(m):
        change_coupled(m, axes, kinds, h)
    else:
        _balance_bodies(m)


@kernel
def _balance_bodies(m: Memory) -> None:
    d, n = m.at_v.shape[1], m.strike_change.shape[1]
    for b in range(m.inertia_mass.size):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total -= m.strike_inverse[b, i, j] * (m.defect_v[b, j] if j < d else m.defect_w[b, j - d])
            m.strike_change[b, i] = total


@kernel
def correct(m: Memory, scale: float) -> float:
    """Change the mean velocities; the largest change over the scale."""
    d, size = m.at_v.shape[1], 0.0
    for b in range(m.inertia_mass.size):
        for i in range(m.strike_change.shape[1]):
            change = m.strike_change[b, i]
            if i < d:
                m.x_v[b, i] += change
                size = max(size, abs(change) / scale)
            else:
                m.x_w[b, i - d] += change
                size = max(size, abs(change) * m.joints_lengths[0] / scale)
            if not math.isfinite(change):
                size = math.inf
    for i in range(m.strike_bend.size):
        m.x_du[i] += m.strike_bend[i]
        size = max(size, abs(m.strike_bend[i]) / (m.joints_of_length[i] * scale))
    for i in range(m.strike_held.size):
        m.x_lam[i] += m.strike_held[i]
    return size
