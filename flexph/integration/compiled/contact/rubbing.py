"""Friction of contacts in loops (see kernels.contacts.rubbing, whose formulas these are)."""

from __future__ import annotations

import math

from ....kernels.contacts.gap_arrays import OFFSET
from ....kernels.contacts.gaps import TINY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from .gaps import dot


@kernel
def slide(m: Memory, axes: tuple[int, ...], c: int, h: float) -> None:
    """The tangents of a contact, ρ₁ and ρ₂, and its slip over the step."""
    normal, tangent, arm = m.touch_mean[c, 0], m.touch_tangent[c], m.touch_arm[c]
    if len(axes) == 2:
        tangent[0, 0], tangent[0, 1] = normal[1], -normal[0]
    else:
        _tangents(normal, tangent)
    flat = m.contacts_kind[c] == OFFSET
    for i in range(len(axes)):
        middle = 0.5 * (m.touch_first[0, i] + m.touch_last[0, i])
        arm[0, i] = m.contacts_share[c, 0] * (normal[i] if flat else middle)
        arm[1, i] = middle - arm[0, i] if flat else m.contacts_share[c, 1] * middle
    for side in range(2):
        if m.contacts_body[c, side] >= 0:
            _turn(m, axes, m.contacts_body[c, side], h, m.touch_turn[side])
    for t in range(len(axes) - 1):
        slip = 0.0
        for i in range(len(axes)):
            slip += tangent[t, i] * (m.touch_last[0, i] - m.touch_first[0, i])
        for side in range(2):
            if m.contacts_body[c, side] >= 0:
                for i in range(m.trial_torque.shape[1]):
                    slip -= moment(axes, arm[side], tangent[t], i) * m.touch_turn[side, i]
        m.touch_slip[c, t] = slip


@kernel
def _tangents(normal: Array, tangent: Array) -> None:
    """Two tangents in space, as long as the normal."""
    least = 0
    for i in range(1, 3):
        least = i if abs(normal[i]) < abs(normal[least]) else least
    j, k = (least + 1) % 3, (least + 2) % 3
    size = max(math.sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]), TINY)
    x, y = -normal[k] / size, normal[j] / size
    length = size / max(math.sqrt(x * x + y * y), TINY)
    tangent[0, least], tangent[0, j], tangent[0, k] = 0.0, length * x, length * y
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        tangent[1, i] = (normal[j] * tangent[0, k] - normal[k] * tangent[0, j]) / size


@kernel
def _turn(m: Memory, axes: tuple[int, ...], b: int, h: float, out: Array) -> None:
    """World rotation h R₀ω̄ of a body over the step."""
    if len(axes) == 2:
        out[0] = h * m.x_w[b, 0]
    else:
        for i in range(3):
            out[i] = h * (m.at_R[b, i, 0] * m.x_w[b, 0] + m.at_R[b, i, 1] * m.x_w[b, 1] + m.at_R[b, i, 2] * m.x_w[b, 2])


@kernel
def moment(axes: tuple[int, ...], arm: Array, force: Array, i: int) -> float:
    """A component of arm × force; in the plane the only one."""
    if len(axes) == 2:
        return arm[0] * force[1] - arm[1] * force[0]
    j, k = (i + 1) % 3, (i + 2) % 3
    return arm[j] * force[k] - arm[k] * force[j]


@kernel
def rub(m: Memory, axes: tuple[int, ...], c: int, h: float) -> None:
    """Friction along the tangents of a contact, how it changes, and its anchor at the end of the step."""
    if m.contacts_anchor[c] >= 0:
        _hold(m, axes, c)
        return
    square = (h * m.contacts_slipping[c]) ** 2
    for t in range(len(axes) - 1):
        square += m.touch_slip[c, t] ** 2
    size = math.sqrt(square)
    for t in range(len(axes) - 1):
        m.touch_by_normal[c, t] = -m.contacts_friction[c] * m.touch_slip[c, t] / size
        m.touch_friction[c, t] = m.touch_force[c] * m.touch_by_normal[c, t]
        for u in range(len(axes) - 1):
            across = (1.0 if t == u else 0.0) - m.touch_slip[c, t] * m.touch_slip[c, u] / (size * size)
            m.touch_by_slip[c, t, u] = m.contacts_friction[c] * m.touch_force[c] / size * across


@kernel
def _hold(m: Memory, axes: tuple[int, ...], c: int) -> None:
    """Friction by an anchor."""
    k, bound, held = m.contacts_holding[c], m.contacts_friction[c] * m.touch_force[c], m.touch_held
    _turn_anchor(m, axes, c)
    square = 0.0
    for t in range(len(axes) - 1):
        m.touch_trial[t] = held[t] + 0.5 * k * m.touch_slip[c, t]
        square += m.touch_trial[t] ** 2
    size = math.sqrt(square)
    slips, square = size > bound, 0.0
    for t in range(len(axes) - 1):
        along = m.touch_trial[t] / size if slips else 0.0
        own = bound * along if slips else m.touch_trial[t]
        m.touch_friction[c, t], m.touch_by_normal[c, t] = -own, -m.contacts_friction[c] * along
        for u in range(len(axes) - 1):
            turning = (1.0 if t == u else 0.0) - (along * m.touch_trial[u] / size if slips else 0.0)
            m.touch_by_slip[c, t, u] = 0.5 * k * turning * (bound / size if slips else 1.0)
        held[t] = 2.0 * own - held[t] if slips else held[t] + k * m.touch_slip[c, t]
        square += held[t] ** 2
    length = math.sqrt(square)
    share = bound / length if slips and length > bound else 1.0
    if m.touch_after[c] >= 0.0:
        share = 0.0
    for i in range(len(axes)):
        total = 0.0
        for t in range(len(axes) - 1):
            total += share * held[t] * m.touch_tangent[c, t, i] / _length(axes, m.touch_tangent[c, t])
        m.end_spring[m.contacts_anchor[c] + i] = total


@kernel
def _length(axes: tuple[int, ...], a: Array) -> float:
    return max(math.sqrt(dot(axes, a, a)), TINY)


@kernel
def _turn_anchor(m: Memory, axes: tuple[int, ...], c: int) -> None:
    """Components along the tangents of an anchor at the start of the step, whose length does not change."""
    first, size, length, held = m.contacts_anchor[c], 0.0, 0.0, m.touch_held
    for i in range(len(axes)):
        size += m.at_spring[first + i] ** 2
    for t in range(len(axes) - 1):
        total = 0.0
        for i in range(len(axes)):
            total += m.touch_tangent[c, t, i] * m.at_spring[first + i]
        held[t] = total / _length(axes, m.touch_tangent[c, t])
        length += held[t] ** 2
    size, length = math.sqrt(size), math.sqrt(length)
    if length > 0.0:
        for t in range(len(axes) - 1):
            held[t] *= size / length
    else:
        held[0] = size
