"""The Newton iteration of a step in loops (see exact.newton)."""

from __future__ import annotations

import math

from ....kernels import resolution, tolerances
from ....kernels.tolerances import NEWTON
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.forces import begin_contacts
from ..friction.rows import answer_forces
from ..loops.arrow import factor, solve
from ..loops.motion import copy
from ..loops.redundancy import factor as factor_least
from ..loops.redundancy import keep_independent
from ..loops.redundancy import solve as solve_least
from ..loops.relations import keep_rates, stick
from ..loops.residual import residual, trial
from ..loops.rolling import has_fallen
from ..memory.memory import Memory
from ..nodal.forces import begin_strains, run_ahead
from .friction import begin_friction, correct_friction
from .iterate import (
    below_resolution,
    coordinate_size,
    energy_scale,
    is_balanced,
    is_open,
    kinetic_energy,
    take_increments,
    work,
)
from .pile import solve_pile

settled_at, settles = kernel(tolerances.settled_at), kernel(tolerances.settles)
stagnates, is_slow = kernel(tolerances.stagnates), kernel(tolerances.is_slow)
unresolved_energy = kernel(resolution.unresolved_energy)


@kernel
def newton(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    friction: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    last_offset: Array,
    inputs: Array,
) -> int:
    """Solve a step from the guess in ``x`` (see exact.newton); iterations, or −1 where it is not solved.

    ``last_offset`` are the offsets of the rows at the start, ``redundant`` to ``friction`` as of ``run.Parts``.
    """
    resists, mixed = m.joints_resisting.size > 0, m.strains_stress.size > 0
    m.trial_stuck[:] = 0.0
    if len(axes) == 3 and mixed:  # there are no strain rows in the plane
        begin_strains(m)
    if len(contact) > 0:
        begin_contacts(m, axes)
    if len(friction) > 0:
        begin_friction(m)
    evaluate(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
    factored, used, scaled, by_increments = False, 0, False, False
    previous, largest, scale, best = math.inf, 0.0, 0.0, math.inf
    noise = NEWTON.noise * m.x.size  # along chains round-off adds up
    settled, extent = settled_at(m.x_du.size), coordinate_size(m)
    unresolved = unresolved_energy(m.inertia_resolution, extent, h)
    for iteration in range(1, NEWTON.iterations + 1):
        if not factored:
            if not factor_step(m, axes, redundant, decay, contact, h, before, after):
                return -1
            if len(friction) > 0:
                answer_forces(m, axes, redundant, decay, h)
            factored, used = True, used if mixed else 0  # of new ones each time the rate is known too
        solve_step(m, axes, redundant, decay, contact, h)
        if len(friction) > 0 and not correct_friction(m, axes, h, extent):
            return -1
        done = work(m)
        if len(contact) > 0:  # what an iterate deep in a contact has is no measure (see exact.newton)
            largest, scaled = 0.0, False
        largest = max(largest, done)
        if iteration <= 2 or not scaled:  # after one correction the motion is known well enough to compare with
            scale, scaled = energy_scale(m, h), True
        size = math.sqrt(done / max(largest, scale))
        if not math.isfinite(size):
            return -1
        best = _best(m, size, best)
        at_rest = done <= unresolved and kinetic_energy(m) <= unresolved
        if len(axes) == 3 and mixed:
            run_ahead(m, h)
        _correct(m)
        if resists and turns_back(m, axes, decay, contact, h, before, after, offset, inputs):
            evaluate(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
            factored, used, previous, largest, best, scaled = False, 0, math.inf, 0.0, math.inf, False
            continue
        used += 1
        stalls, ends = stagnates(size, previous), at_rest or settles(size, previous, used, settled)
        if not (size <= noise if stalls else ends):
            evaluate(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
            is_coarse = stalls and not by_increments and size > NEWTON.coarse and not is_open(m, NEWTON.closed)
            if by_increments or is_coarse:
                take_increments(m, axes, h, before, after, offset, last_offset)
                _keep_independent(m, redundant)
            if is_coarse:
                by_increments, factored, used, previous = True, False, 0, math.inf
                continue
            is_small = stalls and (size <= NEWTON.stagnated or below_resolution(m, extent, h) or is_balanced(m, h))
            ends = ends or is_small
        if ends or (stalls and size <= noise):
            if stalls and best < NEWTON.better * size:
                copy(m.best, m.x)
            return iteration if holds(m, axes, decay, contact, h, before, after, offset, inputs) else -1
        if is_slow(size, previous, used, NEWTON) or (mixed and size > NEWTON.mixed):
            factored = False
        previous = size
    return -1


@kernel
def _best(m: Memory, size: float, best: float) -> float:
    """The smallest correction so far; the iterate that has it is kept."""
    if size < best:
        copy(m.x, m.best)
        return size
    return best


@kernel
def turns_back(
    m: Memory,
    axes: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    inputs: Array,
) -> bool:
    """Whether a relation is to be taken by its tangent at rest, or was."""
    keep_rates(m)
    trial(m, axes, decay, contact, h, before, after, offset, inputs)
    return stick(m, h)


@kernel
def holds(
    m: Memory,
    axes: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    inputs: Array,
) -> bool:
    """Whether constraints and rolling discs hold at the end of the step to the iterate."""
    trial(m, axes, decay, contact, h, before, after, offset, inputs)
    return not (is_open(m, NEWTON.closed) or has_fallen(m))


@kernel
def evaluate(
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
) -> None:
    """The defects of the iterate."""
    residual(m, axes, decay, contact, h, before, after, offset, inputs)
    _keep_independent(m, redundant)


@kernel
def _keep_independent(m: Memory, redundant: tuple[int, ...]) -> None:
    if len(redundant) > 0:
        keep_independent(m, m.defect_lam)


@kernel
def factor_step(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
) -> bool:
    """Factor the Jacobian of the iterate; False where it is singular."""
    if len(redundant) > 0:
        return factor_least(m, axes, decay, contact, h, before, after)
    else:
        return factor(m, axes, decay, contact, h, before, after)


@kernel
def solve_step(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
) -> None:
    """The correction of the iterate."""
    if len(contact) > 1:
        solve_pile(m, axes, decay, h)
    elif len(redundant) > 0:
        solve_least(m, axes, decay, h)
    else:
        solve(m, axes, decay, h)


@kernel
def _correct(m: Memory) -> None:
    for i in range(m.x.size):
        m.x[i] -= m.correction[i]
