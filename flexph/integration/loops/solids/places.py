"""Positions of the mesh nodes of solids (their places) in loops."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ..memory.memory import Memory


def place_solids(m: Memory, dim: int, r: Array, R: Array, out: Array) -> None:
    """Write the positions of all mesh nodes of solids into ``out``, at positions r and rotations R of frames."""
    for k in range(m.solids_frame.size):
        b = m.solids_frame[k]
        for i in range(dim):
            out[k][i] = m.solids_moves[k] * r[b][i]
        if m.solids_turns[k]:
            for i in range(dim):
                for j in range(dim):
                    out[k][i] += R[b][i][j] * m.solids_arm[k][j]


def lever(m: Memory, dim: int, k: int, i: int) -> float:
    """Component i of the lever of mesh node k about its frame, in world axes, as the mean of both ends of a step."""
    b = m.solids_frame[k]
    total = 0.0
    for j in range(dim):
        total += 0.5 * (m.at_R[b][i][j] + m.end_R[b][i][j]) * m.solids_arm[k][j]
    return total
