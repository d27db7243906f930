"""A step of the exact scheme in which contacts close: 0 ≤ g(q₁) ⟂ Λ_N ≥ 0, with Coulomb friction on its slip.

Newton's method on the mean velocities, and in each iteration the complementarity problem of the linearised step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...contacts.complementarity import SOLVED, Impulses
from ...contacts.coupled import WEIGHT
from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import displacement_sizes, lever
from ...kernels.convergence.tolerances import RESOLUTION
from ...kernels.jacobians.blocks import flatten, unflatten
from ...kernels.jacobians.body_blocks import Sides
from ...kernels.resolution import coordinate_size, rate_of_positions
from ...kernels.values import Means, Step
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..exact.iterate import Iterate, evaluated, gap_sizes, is_balanced, is_open, minus
from ..exact.newton import Converged
from .linearised import Accuracy, DenseStep, SparseStep, dense_step, rates_of, sparse_step

ITERATIONS, STALLED = 60, 8
"""Iterations, and after how many in which no change was half of the least one before they are given up."""
UNRESOLVED = 1e-13
"""Change of positions, over their size, that they do not resolve: in short steps velocities are known no better."""
SETTLED, NEAR, STAGNATED, RESOLVED, UNSOLVED, AFAR = 1e-15, 1e-3, 1e-8, 1e-13, 1e-9, 1e-2
"""Change of velocities that ends the iteration, done or to be expected next, from which on matrices stay, and at which
it may stagnate; defect of the complementarity that further iterations do not better, and those beyond which no law is
found: at the end, and on the way there."""
KEEPS = 0.1
"""Change over the last one up to which matrices stay."""
STIFFER, WEIGHTS = 10.0, 1e-2
"""What the weight on what changes grows by where redundant impulses go on changing, and the largest one."""
LAW = 1e-12
"""Defect of a law that is met by what goes on changing with a lighter weight."""
FOLLOWED = 10
"""Iterations at most in which mean velocities follow from impulses that go on changing."""
LAWS = 10
"""Iterations at most whose laws no way solves, which takes seconds each."""
ROUGH = 1e-6
"""Defect of the complementarity that is enough on the way, as linearised gaps of redundant contacts disagree."""


class Closed(NamedTuple):
    """A solved step, as it was booked with its forces, and the impulses (Λ_N, Λ_T) of the contacts in it.

    Their complementarity is judged with the gaps and slips at the end of the step, over its length; ``scale`` is what
    its defect is relative to [m/s].
    """

    converged: Converged
    step: Step
    impulses: Impulses
    scale: float


def close(a: Arrays, step: Step, guess: Means, contacts: tuple[Array, Array], sides: Sides | None = None) -> Closed:
    """Solve the step with some of the rigid contacts, from impulses of theirs; raises StepFailed.

    With the bodies on their sides everything stays sparse.
    """
    x, scale, size, previous, (index, impulses) = guess, _scale(a, step, guess), np.inf, np.inf, contacts
    coarse = UNRESOLVED * lever(a) / (step.h * float(scale.max()))
    unresolved = (
        RESOLUTION * coordinate_size(a, step.start.r) / step.h
    )  # gaps of joints at the start, which the end has not
    linear: DenseStep | SparseStep | None = None
    least, since, weight, best, rough, unsolved = np.inf, 0, WEIGHT, SOLVED, ROUGH, 0
    for iteration in range(1, ITERATIONS + 1):
        iterate = evaluated(a, _pushed(a, step, index, impulses), x)
        if sides is None:
            linear = dense_step(a, iterate, index, (iteration, size, impulses))
        else:
            assert not isinstance(linear, DenseStep)
            if linear is not None and size <= NEAR and size <= KEEPS * previous:
                linear = linear.again(a, iterate, index)
            else:
                linear = sparse_step(a, iterate, index, sides, linear)
        enough = max(best, min(rough, size * size))
        found, change = linear.solved(impulses, Accuracy(unresolved / SOLVED, enough, weight))
        unsolved += found.defect > enough
        if found.defect > AFAR or unsolved > LAWS:
            raise StepFailed("no law of the contacts could be met", iteration, found.defect)
        if enough < found.defect <= UNSOLVED:  # what no way betters now none does later: all of them take seconds
            best = 2.0 * found.defect
        before, lam = flatten(a, x), x.lam.size
        y = np.concatenate([before, x.lam]) + change
        x, impulses = unflatten(a, y[: before.size], y[before.size : before.size + lam]), found.flat
        size, previous = float(np.abs((flatten(a, x) - before) / scale).max(initial=0.0)), size
        expected = size if iteration == 1 else size * min(1.0, size / previous)
        if size <= SETTLED or (expected <= SETTLED and found.defect <= RESOLVED):
            break
        stagnates = size > 0.5 * previous
        if stagnates and size <= max(STAGNATED, coarse) and (weight >= WEIGHTS or sides is None):
            break
        if stagnates and size <= AFAR:
            law = LAW if weight < WEIGHTS else SOLVED
            refined = _solution_near(a, _pushed(a, step, index, impulses), (x, index, impulses), linear, law)
            if refined is not None:
                x = refined
                break
            weight, rough = min(STIFFER * weight, WEIGHTS), best
        least, since = (size, iteration) if size < 0.5 * least else (least, since)
        if iteration - since >= STALLED:
            raise StepFailed("contacts or joints with friction did not settle", iteration, size)
    else:
        raise StepFailed("contacts or joints with friction did not settle", ITERATIONS, size)
    if found.defect > UNSOLVED:
        raise StepFailed("no law of the contacts could be met", iteration, found.defect)
    last = _pushed(a, step, index, impulses)
    iterate, sizes = evaluated(a, last, x), gap_sizes(a, step)
    if not is_balanced(a, iterate, sizes):
        iterate = _balanced(a, iterate, linear)
        x = iterate.x
    if is_open(iterate.trial, sizes):
        raise StepFailed("the iteration ended away from the constraints", iteration, size)
    own, sized = linear.missed(impulses, rates_of(a, iterate, index), _carried(a, step, x))
    if own.defect * sized > UNSOLVED * max(sized, rate_of_positions(coordinate_size(a, step.start.r), step.h)):
        raise StepFailed("no law of the contacts could be met", iteration, own.defect)
    return Closed(Converged(iterate.x, iterate.trial, iteration, linear.solve), last, own, sized)


def _balanced(a: Arrays, iterate: Iterate, linear: DenseStep | SparseStep) -> Iterate:
    """The iterate that follows from the impulses of its step, whatever these miss of their laws."""
    size = np.inf
    for _ in range(FOLLOWED):
        correction = linear.solve(iterate.defect)
        change = float(np.abs(flatten(a, correction)).max(initial=0.0))
        if not change < 0.5 * size:
            break
        iterate, size = evaluated(a, iterate.step, minus(iterate.x, correction)), change
    return iterate


def _scale(a: Arrays, step: Step, guess: Means) -> Array:
    """What changes of velocities are compared with, (n_v,)."""
    sizes = displacement_sizes(a, lever(a))
    v = flatten(a, Means(step.start.v, step.start.omega, step.start.du, np.zeros(0)))
    fall = abs(step.h) * np.abs(a.weight / a.mass[:, None]).max(initial=0.0)
    rate = max(np.abs(flatten(a, guess) / sizes).max(), np.abs(v / sizes).max(), fall / sizes.max(), 1e-300)
    scale: Array = rate * sizes
    return scale


def _solution_near(
    a: Arrays, step: Step, at: tuple[Means, Array, Array], linear: DenseStep | SparseStep, law: float
) -> Means | None:
    """The mean velocities that impulses give, if they are a solution: those of redundant contacts go on changing."""
    x, index, impulses = at
    x = minus(x, linear.solve(evaluated(a, step, x).defect))
    iterate = evaluated(a, step, x)
    own, _ = linear.missed(impulses, rates_of(a, iterate, index), _carried(a, step, x))
    return x if own.defect <= law and is_balanced(a, iterate, gap_sizes(a, step)) else None


def _pushed(a: Arrays, step: Step, index: Array, impulses: Array) -> Step:
    """The step with impulses of some of the contacts as forces of all, and with those of all bearings."""
    t, f, count = a.dim - 1, a.bearings.number, a.contacts.kind.size
    own = (impulses / step.h).reshape(-1, index.size + f)
    normal, friction = np.zeros(count), np.zeros((t, count))
    normal[index] = own[0, : index.size]
    if len(own) > 1:
        friction[:, index] = own[1:, : index.size]
    rub = own[1:, index.size :] if f else None
    return step._replace(schedule=step.schedule._replace(push=(normal, friction), rub=rub))


def _carried(a: Arrays, step: Step, x: Means) -> Array:
    """Impulses of the joints that press bearings."""
    carried: Array = step.h * step.schedule.multipliers(x.lam)[a.bearings.row]
    return carried
