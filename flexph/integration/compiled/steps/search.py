"""Steps in which many contacts change together, in loops: a search along each correction (see exact.newton)."""

from __future__ import annotations

import math

from ....kernels.tolerances import NEWTON, TINY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.forces import begin_contacts
from ..loops.motion import copy
from ..memory.memory import Memory
from ..nodal.forces import begin_strains, run_ahead
from .iterate import below_resolution, coordinate_size, energy_scale, work
from .newton import evaluate, factor_step, holds, solve_step

SHORTEST, LEFT_OVER = 1e-3, 0.3
"""See exact.newton."""


@kernel
def search(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    inputs: Array,
) -> int:
    """Solve a step from the guess in ``x``; iterations, those of Newton's method included, or −1."""
    mixed = m.strains_stress.size > 0
    m.trial_stuck[:] = 0.0
    if len(axes) == 3 and mixed:
        begin_strains(m)
    begin_contacts(m, axes)
    evaluate(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
    previous, largest, extent = math.inf, TINY, coordinate_size(m)
    for iteration in range(1, NEWTON.searches + 1):
        if not factor_step(m, axes, redundant, decay, contact, h, before, after):
            return -1
        solve_step(m, axes, redundant, decay, contact, h)
        done = work(m)
        first = iteration == 1 or len(contact) > 0  # as in newton
        largest = max(done if first else largest, energy_scale(m, h))
        size = math.sqrt(done / largest)
        if not math.isfinite(size):
            return -1
        if len(axes) == 3 and mixed:
            run_ahead(m, h)
        copy(m.x, m.best)
        share = _follow(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
        expected = size if math.isinf(previous) else size * min(1.0, size / previous)
        settled = size <= NEWTON.noise * m.x.size or (share == 1.0 and expected <= NEWTON.settled)
        if settled or (size >= previous and below_resolution(m, extent, h)):
            solved = holds(m, axes, decay, contact, h, before, after, offset, inputs)
            return NEWTON.iterations + iteration if solved else -1
        previous = size
    return -1


@kernel
def _follow(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    inputs: Array,
) -> float:
    """Take all of a correction from ``best``, or to where it does no more work; the share."""
    low, high, left, right, share, is_whole, first = 0.0, 1.0, _slope(m), 0.0, 1.0, True, _slope(m)
    for _ in range(2 * NEWTON.iterations):
        for i in range(m.x.size):
            m.x[i] = m.best[i] - share * m.correction[i]
        evaluate(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
        done = _slope(m)
        if is_whole:
            if not math.isfinite(done) and share > SHORTEST:
                share *= 0.5
                continue
            if not (first > 0.0 and done < -LEFT_OVER * first):
                return share
            is_whole, high, right = False, 1.0, done
        elif abs(done) <= LEFT_OVER * first:
            return share
        elif done > 0.0:
            low, left, right = share, done, 0.5 * right
        else:
            high, right, left = share, done, 0.5 * left
        share = low + (high - low) * left / (left - right)
    return share


@kernel
def _slope(m: Memory) -> float:
    """Work of the momentum defects along the correction [J]."""
    total = 0.0
    for i in range(m.x_velocities.size):
        total += m.correction[i] * m.defect[i]
    return total
