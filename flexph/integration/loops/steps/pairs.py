"""Pairs of equal steps with an estimate of their error (see flexph.integration.blocks.pairs).

The estimate is the kinetic energy of a velocity δ̂: of the error δ that the curvature of the mean velocities in time
causes, after the Jacobian has filtered out motions that are stiff for the step length.
"""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import HISTORY as _HISTORY
from ....numerics.arrays import Array
from ..memory.codes import DEPENDENT as _DEPENDENT

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, larger
    from ..mechanics.motion import inertia_products, momenta
    from ..memory.memory import Memory
    from ..memory.structures import Deformed, Given, Kinds, Momenta, Pair
    from .impulse import factor_instant, solve_impulse, subtract_impulse
    from .newton import solve_step
    from .rows import refuse

DEPENDENT = cython.declare(cython.Py_ssize_t, _DEPENDENT)
HISTORY = cython.declare(cython.Py_ssize_t, _HISTORY)


def begin_pair(m: Memory, pair: Pair) -> None:
    """Store the velocities at the start of a pair of steps, for the error estimate."""
    if pair.found.size > 0:
        copy(m.at_velocities, pair.before)
        fill(pair.found, 0.0)


def update_largest_energy(m: Memory, pair: Pair) -> None:
    """Raise the largest kinetic energy of a pair of steps to that at the present state."""
    if pair.found.size > 0:
        total = 0.0
        for i in range(m.ledger_flexed[0]):  # of all bodies, which may have many frames
            total += m.run_energy[i]
        pair.found[2] = larger(pair.found[2], total)


def store_gaps(m: Memory, pair: Pair) -> None:
    """Store the gaps of contacts at the start of a pair of steps; called in its first step."""
    if pair.found.size > 0:
        copy(m.touch_before, pair.gaps)


def release_contacts(m: Memory, pair: Pair) -> bool:
    """Remove contacts that open or close in a pair of steps from the next Jacobian; True if there are any.

    A stiff contact would filter its own impact out of the error estimate. Called in the second step of the pair.
    """
    closed = cython.declare(cython.bint)
    releases = cython.declare(cython.bint)
    releases = False
    for c in range(m.contacts_kind.size):
        closed = m.touch_before[c] < 0.0
        if (pair.gaps[c] < 0.0) != closed or (m.touch_after[c] < 0.0) != closed:
            m.touch_force[c] = 0.0
            m.touch_slope[c] = 0.0
            releases = True
    return releases


def estimate(m: Memory, dim: int, kinds: Kinds, pair: Pair, h: float, known: int) -> None:
    """Compute the error estimate ½ δ̂ᵀMδ̂ [J] of two steps of h [s] into ``pair.found``, with the factored Jacobian.

    ``known`` rows of history precede them.
    """
    _difference(m, pair, h, known)
    for b in range(m.inertia_mass.size):
        square = 0.0
        for i in range(m.x_w.shape[1]):
            square += m.x_w[b][i] ** 2
        for i in range(m.x_w.shape[1]):
            m.best_w[b][i] += h * h / 12.0 * square * m.x_w[b][i]
    _momenta(m, dim, m.best_v, m.best_w, m.best_du)
    for i in range(m.defect.size):
        m.defect[i] *= 2.0
    fill(m.defect_lam, 0.0)
    solve_step(m, dim, kinds, h)
    _momenta(m, dim, m.correction_v, m.correction_w, m.correction_du)
    twice = 0.0
    for i in range(m.x_velocities.size):
        twice += m.correction[i] * m.defect[i]
    pair.found[0] = 0.5 * fabs(twice)


def _difference(m: Memory, pair: Pair, h: float, known: int) -> None:
    """Compute δ = h²/24 v̄″ into ``best``, from the mean velocities of the pair and of the step before it.

    Without history, the velocities at the start of the pair replace the mean velocities of the step before it.
    """
    last = m.run_history[HISTORY - 1]
    middle = m.run_history[HISTORY - 2]
    first = m.run_history[HISTORY - 3]
    apart = 0.5 * (h + first[first.size - 1]) if known > 0 else 0.5 * h
    for i in range(pair.before.size):
        before = first[i] if known > 0 else pair.before[i]
        second = 2.0 * ((last[i] - middle[i]) / h - (middle[i] - before) / apart) / (h + apart)
        m.best[i] = h * h / 24.0 * second


def _momenta(m: Memory, dim: int, v: Array, w: Array, du: Array) -> None:
    """Compute the momenta of velocities v, w, du at the positions of the present state ``at`` into ``defect``."""
    inertia_products(m, dim, du, m.trial_c, m.trial_rate)
    at = Deformed(m.at_u, m.trial_c, m.at_Pu)
    moved = Deformed(du, m.trial_c, m.trial_rate)
    out = Momenta(m.defect_w, m.defect_du)
    momenta(m, dim, w, at, moved, out)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            m.defect_v[b][i] = m.inertia_mass[b] * v[b][i]


def reflect_defect(m: Memory, dim: int, redundant: int, pair: Pair, given: Given, length: float) -> bool:
    """Reverse the velocity defect of joints at the end of a pair if the pair has increased it.

    The next pair would else add a similar change; reversed, the defect is reduced by it. Returns False if the
    constraints are dependent. ``length`` [s] is that of the pair.
    """
    if pair.mu.size == 0:
        return True
    if not factor_instant(m, dim, redundant, given.after):
        return refuse(m, DEPENDENT, 0)
    kept = 0.0 if m.rub_settles[1] > 0.0 else 1.0  # settling begins with velocities without a defect
    for i in range(pair.mu.size):
        m.run_gap[i] = m.run_defect[i] - kept * m.run_back_defect[i]
    solve_impulse(m, dim, redundant, m.run_gap, pair.mu)
    for i in range(pair.mu.size):
        pair.found[1] += 0.5 * pair.mu[i] * (m.run_defect[i] - kept * m.run_back_defect[i])
    copy(m.run_defect, m.run_gap)
    solve_impulse(m, dim, redundant, m.run_gap, pair.mu)
    adds = 0.0
    for i in range(pair.mu.size):
        adds += pair.mu[i] * (m.run_defect[i] - kept * m.run_back_defect[i])
    if adds > 0.0:
        subtract_impulse(m, dim, given, pair.mu, 2.0, length)
    return True
