"""Values at the nodes of the last step, and the guess of the next one from them (see exact.gauss)."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import HISTORY as _HISTORY

if not cython.compiled:
    from ....numerics.loops.views import copy, entries, fill, get, part
    from ..memory.memory import Memory, stage
    from .scheme import Scheme

HISTORY = cython.declare(cython.Py_ssize_t, _HISTORY)


def guess(m: Memory, dim: int, g: Scheme, h: float, known: int) -> None:
    """A line through the velocities at the nodes of the last step, followed further, or the present velocities."""
    follows = cython.declare(cython.bint)
    stages = g.stages.size
    width = m.run_history.shape[1]
    velocities = m.x_velocities.size
    first = HISTORY - stages
    follows = known == stages
    for j in range(first, HISTORY if follows else first):
        follows = follows and m.run_history[j][width - 1] == m.run_history[first][width - 1]
    mean = 0.0
    spread = 0.0
    for j in range(stages):
        mean += g.nodes[j] / stages
    for j in range(stages):
        spread += (g.nodes[j] - mean) ** 2
    for i in range(stages):
        s = stage(g.stages, i)
        if not follows:
            copy(m.at_velocities, s.x_velocities)
            fill(s.x_lam, 0.0)
        else:
            fill(s.x_velocities, 0.0)
            away = 1.0 + g.nodes[i] * h / m.run_history[first][width - 1] - mean
            for j in range(stages):
                weight = 1.0 / stages + (away * (g.nodes[j] - mean) / spread if stages > 1 else 0.0)
                row = m.run_history[first + j]
                for k in range(velocities):
                    s.x_velocities[k] += weight * row[k]
            copy(part(m.run_history[first + stages // 2], velocities, velocities + s.x_lam.size), s.x_lam)
        for b in range(m.inertia_mass.size):
            _turn_spin(m, s, dim, b)


def _turn_spin(m: Memory, s: Memory, dim: int, b: int) -> None:
    """Ω of a guess from ω in the axes of the body, which turn meanwhile about it: R cay(½hcω) ω = R ω."""
    if dim == 2:
        s.stage_spin[b][0] = s.x_w[b][0]
    else:
        for i in range(3):
            s.stage_spin[b][i] = 0.0
            for j in range(3):
                s.stage_spin[b][i] += m.at_R[b][i][j] * s.x_w[b][j]


def remember(m: Memory, g: Scheme, h: float) -> None:
    """Rows of history, one for each node, from which the next step predicts its velocities."""
    width = m.run_history.shape[1]
    stages = g.stages.size
    velocities = m.x_velocities.size
    for i in range(stages):
        s = stage(g.stages, i)
        row = m.run_history[HISTORY - stages + i]
        copy(s.x, row)
        first = entries(s.x_v)
        for k in range(entries(s.end_w)):
            row[first + k] = get(s.end_w, k)
        copy(m.run_defect, part(row, velocities + s.x_lam.size, row.shape[0]))
        row[width - 1] = h
