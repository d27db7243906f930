"""Pairs of equal steps with an estimate of their error, in loops (see exact.pairs_of_steps)."""

from __future__ import annotations

from typing import NamedTuple

from ....kernels.tolerances import HISTORY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..loops.motion import copy, inertia_products, momenta
from ..memory.memory import Memory
from .impulse import answer, factor_instant, strike
from .newton import solve_step


class Pair(NamedTuple):
    """What a pair of steps is judged by.

    Functions take a tuple of one or, where steps are no pairs, none of them: by its type the rest is not compiled.

    ``found`` (3,) are ½ δ̂ᵀMδ̂ and the kinetic energy of what the pair adds to the velocity defect, and the largest
    kinetic energy at its ends and in its middle [J]; ``before`` (n_v,) the velocities and ``gaps`` (c,) those of
    contacts at its start, ``mu`` (g,) space. Of pairs that loops choose, ``control`` has what :mod:`.controlled` says,
    ``start`` the motion and ``times`` (3,) the times of the pair, ``spans`` (rows, 2) the last pair of each row.
    """

    found: Array
    before: Array
    mu: Array
    gaps: Array
    control: Array
    start: Array
    times: Array
    spans: Array


@kernel
def begin_pair(m: Memory, pair: tuple[Pair, ...]) -> None:
    """Keep what the estimate needs of the start."""
    if len(pair) > 0:
        copy(m.at_velocities, pair[0].before)
        pair[0].found[:] = 0.0


@kernel
def watch_energy(m: Memory, pair: tuple[Pair, ...]) -> None:
    """Keep the largest kinetic energy."""
    if len(pair) > 0:
        total = 0.0
        for b in range(m.inertia_mass.size):
            total += m.run_energy[b]
        pair[0].found[2] = max(pair[0].found[2], total)


@kernel
def keep_gaps(m: Memory, pair: tuple[Pair, ...]) -> None:
    """Keep the gaps at the start of the pair, in its first step."""
    if len(pair) > 0:
        copy(m.touch_before, pair[0].gaps)


@kernel
def let_go(m: Memory, pair: Pair) -> bool:
    """Take contacts that open or close in the pair from the Jacobian: a stiff one would filter its own impact.

    Whether there are any; called in the second step.
    """
    found = False
    for c in range(m.contacts_kind.size):
        closed = m.touch_before[c] < 0.0
        if (pair.gaps[c] < 0.0) != closed or (m.touch_after[c] < 0.0) != closed:
            m.touch_force[c], m.touch_slope[c], found = 0.0, 0.0, True
    return found


@kernel
def estimate(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    pair: Pair,
    h: float,
    known: int,
) -> None:
    """½ δ̂ᵀMδ̂ of two steps of h, before which ``known`` rows of history were filled, by the factored Jacobian."""
    _difference(m, pair, h, known)
    for b in range(m.inertia_mass.size):
        square = 0.0
        for i in range(m.x_w.shape[1]):
            square += m.x_w[b, i] ** 2
        for i in range(m.x_w.shape[1]):
            m.best_w[b, i] += h * h / 12.0 * square * m.x_w[b, i]
    _momenta(m, axes, m.best_v, m.best_w, m.best_du)
    for i in range(m.defect.size):
        m.defect[i] *= 2.0
    m.defect_lam[:] = 0.0
    solve_step(m, axes, redundant, decay, contact, h)
    _momenta(m, axes, m.correction_v, m.correction_w, m.correction_du)
    twice = 0.0
    for i in range(m.x_velocities.size):
        twice += m.correction[i] * m.defect[i]
    pair.found[0] = 0.5 * abs(twice)


@kernel
def _difference(m: Memory, pair: Pair, h: float, known: int) -> None:
    """δ = h²/24 v̄″ into ``best``, by the mean velocities of the pair and of the step before it, or the velocities."""
    last, middle, first = m.run_history[HISTORY - 1], m.run_history[HISTORY - 2], m.run_history[HISTORY - 3]
    apart = 0.5 * (h + first[first.size - 1]) if known > 0 else 0.5 * h
    for i in range(pair.before.size):
        before = first[i] if known > 0 else pair.before[i]
        second = 2.0 * ((last[i] - middle[i]) / h - (middle[i] - before) / apart) / (h + apart)
        m.best[i] = h * h / 24.0 * second


@kernel
def _momenta(m: Memory, axes: tuple[int, ...], v: Array, w: Array, du: Array) -> None:
    """Momenta of velocities at the positions of ``at``, into ``defect``."""
    inertia_products(m, axes, du, m.trial_c, m.trial_rate)
    momenta(m, axes, w, m.at_u, du, m.at_Pu, m.trial_rate, m.defect_w, m.defect_du)
    for b in range(m.inertia_mass.size):
        for i in range(len(axes)):
            m.defect_v[b, i] = m.inertia_mass[b] * v[b, i]


@kernel
def reflect(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    pair: Pair,
    coefficient: Array,
    own_coefficient: Array,
    own_offset: Array,
    length: float,
) -> bool:
    """Reflect the velocity defect where the next pair would add to it; False where the constraints are dependent."""
    if pair.mu.size == 0:
        return True
    if not factor_instant(m, axes, redundant, coefficient):
        return False
    kept = 0.0 if m.rub_settles[1] > 0.0 else 1.0  # what settles begins with velocities that keep the joints
    for i in range(pair.mu.size):
        m.run_gap[i] = m.run_defect[i] - kept * m.run_back_defect[i]
    answer(m, axes, redundant, m.run_gap, pair.mu)
    for i in range(pair.mu.size):
        pair.found[1] += 0.5 * pair.mu[i] * (m.run_defect[i] - kept * m.run_back_defect[i])
    copy(m.run_defect, m.run_gap)
    answer(m, axes, redundant, m.run_gap, pair.mu)
    adds = 0.0
    for i in range(pair.mu.size):
        adds += pair.mu[i] * (m.run_defect[i] - kept * m.run_back_defect[i])
    if adds > 0.0:
        strike(m, axes, coefficient, own_coefficient, own_offset, pair.mu, 2.0, length, 0.0)
    return True
