"""Rotational inertia of a deformed body, in loops."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ..memory.memory import Memory


def turning_inertia(m: Memory, dim: int, b: int, J: Array) -> None:
    """Write the inertia J(u₁) of body b at the end of the step into J (s, s)."""
    s = 1 if dim == 2 else 3
    for a in range(s):
        for c in range(s):
            J[a][c] = m.inertia_J[b][a][c]
            for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
                J[a][c] += (2.0 * m.inertia_s[k][a][c] + m.end_Pu[k][1 + s + s * a + c]) * m.end_u[k]
