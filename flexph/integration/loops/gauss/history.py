"""History of Gauss collocation: values at the nodes of the last step, and the guess for the next one."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import HISTORY as _HISTORY

if not cython.compiled:
    from ....numerics.loops.views import copy, entries, fill, get, part
    from ..memory.memory import Memory, stage
    from .scheme import Scheme

HISTORY = cython.declare(cython.Py_ssize_t, _HISTORY)
SMOOTH = cython.declare(cython.double, 0.3)
"""Distance of the velocities at the end of a step from the polynomial through its nodes, relative to that from a line,
below which the polynomial predicts the next step: unresolved vibrations are far from both."""


def guess(m: Memory, dim: int, g: Scheme, h: float, known: int) -> None:
    """Write a guess of velocities and multipliers at the nodes of a step of length h [s], from the last step.

    The guess is on the polynomial, or on a least-squares line, through the values at the nodes of the last step.
    Without a last step of the same kind the velocities are constant. ``known`` is the number of rows of history.
    """
    follows = cython.declare(cython.bint)
    is_smooth = cython.declare(cython.bint)
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
    # In flexible bodies, small unresolved vibrations lead polynomials astray.
    is_smooth = follows and stages > 2 and m.x_du.size == 0 and _is_smooth(m, g, mean, spread)
    for i in range(stages):
        s = stage(g.stages, i)
        if not follows:
            copy(m.at_velocities, s.x_velocities)
            fill(s.x_lam, 0.0)
        else:
            place = 1.0 + g.nodes[i] * h / m.run_history[first][width - 1]
            if is_smooth:
                weight = _lagrange_factor(g, stages, place, 1.0)
                for k in range(velocities):
                    s.x_velocities[k] = weight * get(m.at_velocities, k)
            else:
                fill(s.x_velocities, 0.0)
            for j in range(stages):
                if is_smooth:
                    weight = _lagrange_factor(g, j, place, g.nodes[j]) * (place - 1.0) / (g.nodes[j] - 1.0)
                else:
                    weight = _line_weight(g, j, place - mean, mean, spread)
                row = m.run_history[first + j]
                for k in range(velocities):
                    s.x_velocities[k] += weight * row[k]
            if is_smooth:
                fill(s.x_lam, 0.0)
                for j in range(stages):
                    weight = _lagrange_factor(g, j, place, g.nodes[j])
                    row = m.run_history[first + j]
                    for k in range(s.x_lam.size):
                        s.x_lam[k] += weight * row[velocities + k]
            else:
                copy(part(m.run_history[first + stages // 2], velocities, velocities + s.x_lam.size), s.x_lam)
        for b in range(m.inertia_mass.size):
            _turn_spin(m, s, dim, b, 0.25 * h * g.nodes[i])


def _lagrange_factor(g: Scheme, node: int, place: float, at: float) -> float:
    """Product of (place − c)/(at − c) over all nodes c of a step except number ``node``."""
    share = 1.0
    for k in range(g.stages.size):
        if k != node:
            share *= (place - g.nodes[k]) / (at - g.nodes[k])
    return share


def _line_weight(g: Scheme, j: int, away: float, mean: float, spread: float) -> float:
    """Weight of the value at node j in a least-squares line through the values at all nodes.

    The line is evaluated at the distance ``away`` from the ``mean`` of the nodes; ``spread`` is the sum of the
    squares of their distances from it.
    """
    weight = 1.0 / g.stages.size
    if g.stages.size > 1:
        weight += away * (g.nodes[j] - mean) / spread
    return weight


def _is_smooth(m: Memory, g: Scheme, mean: float, spread: float) -> bool:
    """True if the polynomial through the last nodes is much closer to the present velocities than the line."""
    stages = g.stages.size
    by_line = 0.0
    by_polynomial = 0.0
    for k in range(m.x_velocities.size):
        off_line = -get(m.at_velocities, k)
        off_polynomial = off_line
        for j in range(stages):
            value = m.run_history[HISTORY - stages + j][k]
            off_line += _line_weight(g, j, 1.0 - mean, mean, spread) * value
            off_polynomial += _lagrange_factor(g, j, 1.0, g.nodes[j]) * value
        by_line += off_line * off_line
        by_polynomial += off_polynomial * off_polynomial
    return by_polynomial < SMOOTH * SMOOTH * by_line


def _turn_spin(m: Memory, s: Memory, dim: int, b: int, quarter: float) -> None:
    """Compute the world spin Ω = R cay(a) ω of body b for a guess of its spin ω in body axes.

    The body axes turn by a = ¼ch(ω₀ + ω) from the start of the step, with the node c and ``quarter`` = ¼ch. As a × ω =
    ¼ch ω₀ × ω, cay(a) ω = ω + 2(a × ω + a × (a × ω))/(1 + a²).
    """
    if dim == 2:
        s.stage_spin[b][0] = s.x_w[b][0]
        return
    a = m.run_space[0]
    turned = m.run_space[1]
    size = 1.0
    for i in range(3):
        a[i] = quarter * (m.at_w[b][i] + s.x_w[b][i])
        size += a[i] * a[i]
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        turned[i] = a[j] * s.x_w[b][k] - a[k] * s.x_w[b][j]
    for i in range(3):
        s.stage_spin[b][i] = 0.0
    for l in range(3):
        j = (l + 1) % 3
        k = (l + 2) % 3
        body_spin = s.x_w[b][l] + 2.0 / size * (turned[l] + a[j] * turned[k] - a[k] * turned[j])
        for i in range(3):
            s.stage_spin[b][i] += m.at_R[b][i][l] * body_spin


def remember(m: Memory, g: Scheme, h: float) -> None:
    """Store the values at each node as a row of history, from which the next step guesses its own."""
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
