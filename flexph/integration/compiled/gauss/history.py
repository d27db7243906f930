"""Values at the nodes of the last step, and the guess of the next one from them (see exact.gauss)."""

from __future__ import annotations

from ....kernels.tolerances import HISTORY
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import get
from ..loops.motion import copy
from ..memory.memory import Memory
from .scheme import Scheme, stage


@kernel
def guess(m: Memory, axes: tuple[int, ...], g: Scheme, h: float, known: int) -> None:
    """A line through the velocities at the nodes of the last step, followed further, or the present velocities."""
    stages, width, velocities = g.stages.size, m.run_history.shape[1], m.x_velocities.size
    first = HISTORY - stages
    follows = known == stages
    for j in range(first, HISTORY if follows else first):
        follows = follows and m.run_history[j, width - 1] == m.run_history[first, width - 1]
    mean, spread = 0.0, 0.0
    for j in range(stages):
        mean += g.nodes[j] / stages
    for j in range(stages):
        spread += (g.nodes[j] - mean) ** 2
    for i in range(stages):
        s = stage(g.stages, i)
        if not follows:
            copy(m.at_velocities, s.x_velocities)
            s.x_lam[:] = 0.0
        else:
            s.x_velocities[:] = 0.0
            away = 1.0 + g.nodes[i] * h / m.run_history[first, width - 1] - mean
            for j in range(stages):
                weight = 1.0 / stages + (away * (g.nodes[j] - mean) / spread if stages > 1 else 0.0)
                row = m.run_history[first + j]
                for k in range(velocities):
                    s.x_velocities[k] += weight * row[k]
            copy(m.run_history[first + stages // 2][velocities : velocities + s.x_lam.size], s.x_lam)
        for b in range(m.inertia_mass.size):
            _turn_spin(m, s, axes, b)


@kernel
def _turn_spin(m: Memory, s: Memory, axes: tuple[int, ...], b: int) -> None:
    """Ω of a guess from ω in the axes of the body, which turn meanwhile about it: R cay(½hcω) ω = R ω."""
    if len(axes) == 2:
        s.stage_spin[b, 0] = s.x_w[b, 0]
    else:
        for i in range(3):
            s.stage_spin[b, i] = 0.0
            for j in range(3):
                s.stage_spin[b, i] += m.at_R[b, i, j] * s.x_w[b, j]


@kernel
def remember(m: Memory, g: Scheme, h: float) -> None:
    """Rows of history, one for each node, from which the next step predicts its velocities."""
    width, stages, velocities = m.run_history.shape[1], g.stages.size, m.x_velocities.size
    for i in range(stages):
        s, row = stage(g.stages, i), m.run_history[HISTORY - stages + i]
        copy(s.x, row)
        first = s.x_v.size
        for k in range(s.end_w.size):
            row[first + k] = get(s.end_w, k)
        copy(m.run_defect, row[velocities + s.x_lam.size :])
        row[width - 1] = h
