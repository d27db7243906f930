"""Checks of contacts at the end of a step: stops that turn too far, balls that pass through each other."""

from __future__ import annotations

import cython

from ....contacts.broad_phase import DEEP as _DEEP
from ....kernels.contacts.gap_arrays import ANGLE as _ANGLE
from ....kernels.contacts.gap_arrays import AXIAL as _AXIAL
from ....kernels.contacts.gap_arrays import DISTANCE as _DISTANCE
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt
    from math import pi as M_PI

    from ..memory.memory import Memory
    from .gaps import dot, place_vectors

ANGLE = cython.declare(cython.Py_ssize_t, _ANGLE)
AXIAL = cython.declare(cython.Py_ssize_t, _AXIAL)
DEEP = cython.declare(cython.double, _DEEP)
DISTANCE = cython.declare(cython.Py_ssize_t, _DISTANCE)


def turns_beyond_stop(m: Memory) -> bool:
    """True if the angle of a stop, rigid or not, is more than half a turn from its origin at the end of a step."""
    for c in range(m.contacts_kind.size):
        if m.contacts_kind[c] == ANGLE and fabs(m.touch_after[c] + m.contacts_offset[c]) > M_PI:
            return True
    return False


def passes_through(m: Memory, dim: int, c: int, deep: float) -> bool:
    """True if the sides of contact c, a ball and another ball or a cylinder, pass through each other within a step.

    The criterion is that on straight paths from the start to the end of the step their overlap exceeds ``deep`` times
    the sum of their radii.
    """
    kind = m.contacts_kind[c]
    radius = m.contacts_offset[c]
    if m.contacts_sign[c] < 0.0 or (kind != DISTANCE and kind != AXIAL):
        return False
    place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
    first = m.touch_first
    last = m.touch_last
    square = 0.0
    along = 0.0
    nearest = 0.0
    before = dot(dim, first[0], first[1]) / dot(dim, first[1], first[1]) if kind == AXIAL else 0.0
    after = dot(dim, last[0], last[1]) / dot(dim, last[1], last[1]) if kind == AXIAL else 0.0
    for i in range(dim):
        start = _component_across(first, before, i)
        end = _component_across(last, after, i)
        square += (end - start) ** 2
        along -= start * (end - start)
    if not 0.0 < along < square:
        return False
    for i in range(dim):
        start = _component_across(first, before, i)
        end = _component_across(last, after, i)
        nearest += (start + along / square * (end - start)) ** 2
    return radius - sqrt(nearest) > deep * radius


def _component_across(vector: Array, along: float, i: int) -> float:
    """Component i of the vector V − ``along``·W, for V and W the first rows of ``vector``."""
    return vector[0][i] - along * vector[1][i] if along != 0.0 else vector[0][i]
