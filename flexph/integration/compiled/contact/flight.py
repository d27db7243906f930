"""Rigid contacts in loops: steps are those in which they are open (see integration.contact.stepper)."""

from __future__ import annotations

import math

from ....contacts.broad_phase import DEEP
from ....kernels.contacts.gap_arrays import ANGLE, AXIAL, DISTANCE
from ....kernels.contacts.gaps import TOUCHING
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from .gaps import dot, gap_of, place_vectors, turned_gap

INSIDE = 1e-2 * TOUCHING
"""Depth over the size of the mechanism from which on bodies are in each other."""


@kernel
def touches(m: Memory, axes: tuple[int, ...], size: float) -> bool:
    """Whether a rigid contact touches where a step starts, in a mechanism of a size [m]."""
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
            if gap_of(m, axes, c, m.touch_first) <= TOUCHING * size:
                return True
    return False


@kernel
def closes(m: Memory, axes: tuple[int, ...], size: float) -> bool:
    """Whether bodies of a rigid contact are in each other at the end of a step, or passed through each other in it."""
    found = False
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            place_vectors(m, axes, c, m.end_r, m.end_arm, m.touch_last)
            if m.contacts_kind[c] == ANGLE:
                place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
                m.touch_after[c] = turned_gap(m, axes, c, gap_of(m, axes, c, m.touch_first))
            else:
                m.touch_after[c] = gap_of(m, axes, c, m.touch_last)
            found = found or m.touch_after[c] < -INSIDE * size or passes(m, axes, c, DEEP)
    return found


@kernel
def turns_away(m: Memory) -> bool:
    """Whether the angle of a stop, rigid or not, is at the end of a step more than half a turn from its origin."""
    for c in range(m.contacts_kind.size):
        if m.contacts_kind[c] == ANGLE and abs(m.touch_after[c] + m.contacts_offset[c]) > math.pi:
            return True
    return False


@kernel
def passes(m: Memory, axes: tuple[int, ...], c: int, deep: float) -> bool:
    """Whether a ball passes so deep, over the radii, through another one or a cylinder (see broad_phase.passing)."""
    kind, radius = m.contacts_kind[c], m.contacts_offset[c]
    if m.contacts_sign[c] < 0.0 or (kind != DISTANCE and kind != AXIAL):
        return False
    place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
    first, last, square, along, nearest = m.touch_first, m.touch_last, 0.0, 0.0, 0.0
    before = dot(axes, first[0], first[1]) if kind == AXIAL else 0.0
    after = dot(axes, last[0], last[1]) if kind == AXIAL else 0.0
    for i in range(len(axes)):
        start, end = _across(first, before, i), _across(last, after, i)
        square += (end - start) ** 2
        along -= start * (end - start)
    if not 0.0 < along < square:
        return False
    for i in range(len(axes)):
        start, end = _across(first, before, i), _across(last, after, i)
        nearest += (start + along / square * (end - start)) ** 2
    return radius - math.sqrt(nearest) > deep * radius


@kernel
def _across(vector: Array, along: float, i: int) -> float:
    """A component of V without its part along W."""
    return vector[0, i] - along * vector[1, i] if along != 0.0 else vector[0, i]
