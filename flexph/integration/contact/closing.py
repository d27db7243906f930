"""A step of the exact scheme in which contacts close: 0 ≤ g(q₁) ⟂ Λ_N ≥ 0, with Coulomb friction on its slip.

Newton's method on the mean velocities, and in each iteration the complementarity problem of the linearised step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...contacts.complementarity import SOLVED, Impulses, Problem, judged, solve
from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import displacement_sizes, lever
from ...kernels.contacts.gaps import Touch
from ...kernels.gradient import velocity_count
from ...kernels.jacobians.blocks import flatten, node_blocks, node_gradients, unflatten
from ...kernels.jacobians.contacts import gap_rows, slip_rows, taken, vector_rows
from ...kernels.resolution import RESOLUTION, coordinate_size
from ...kernels.values import Means, Solve, Step
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ..exact.iterate import Iterate, evaluated, factored, gap_sizes, is_open
from ..exact.newton import Converged

ITERATIONS = 60
UNRESOLVED = 1e-13
"""Change of positions, over their size, that they do not resolve: in short steps velocities are known no better."""
SETTLED, STAGNATED, UNSOLVED, AFAR = 1e-15, 1e-8, 1e-9, 1e-2
"""Change of velocities that ends the iteration, change at which it may stagnate, and defects of the complementarity
beyond which no law is found: at the end, and on the way there."""


class Closed(NamedTuple):
    """A solved step, as it was booked with its forces, and the impulses (Λ_N, Λ_T) of the contacts in it.

    Their complementarity is judged with the gaps and slips at the end of the step, over its length; ``scale`` is what
    its defect is relative to [m/s].
    """

    converged: Converged
    step: Step
    impulses: Impulses
    scale: float


def close(a: Arrays, step: Step, guess: Means, index: Array, impulses: Array) -> Closed:
    """Solve the step with some of the rigid contacts, from impulses of theirs; raises StepFailed."""
    x, scale, size, previous = guess, _scale(a, step, guess), np.inf, np.inf
    contacts, coarse = a.contacts.take(index), UNRESOLVED * lever(a) / (step.h * float(scale.max()))
    unresolved = (
        RESOLUTION * coordinate_size(a, step.start.r) / step.h
    )  # gaps of joints at the start, which the end has not
    for iteration in range(1, ITERATIONS + 1):
        pushed = step._replace(schedule=step.schedule._replace(push=_push(a, index, impulses / step.h)))
        iterate = evaluated(a, pushed, x)
        solve_with = factored(a, iterate, iteration, size)
        correction = solve_with(iterate.defect)
        spread, problem, terms = _linear(a, iterate, index, (solve_with, correction, impulses))
        found = solve(problem._replace(size=max(terms, unresolved / SOLVED)), impulses)
        if found.defect > AFAR:
            raise StepFailed("no law of the contacts could be met", iteration, found.defect)
        change = spread @ (found.flat - impulses)
        before, lam = flatten(a, x), x.lam.size
        y = np.concatenate([before, x.lam]) - np.concatenate([flatten(a, correction), correction.lam]) + change
        x, impulses = unflatten(a, y[: before.size], y[before.size : before.size + lam]), found.flat
        size, previous = float(np.abs((flatten(a, x) - before) / scale).max(initial=0.0)), size
        if size <= SETTLED or (size > 0.5 * previous and size <= max(STAGNATED, coarse)):
            break
    else:
        raise StepFailed("the contacts of the step did not settle", ITERATIONS, size)
    if found.defect > UNSOLVED:
        raise StepFailed("no law of the contacts could be met", iteration, found.defect)
    last = step._replace(schedule=step.schedule._replace(push=_push(a, index, impulses / step.h)))
    iterate = evaluated(a, last, x)
    if is_open(iterate.trial, gap_sizes(a, step)):
        raise StepFailed("the iteration ended away from the constraints", iteration, size)
    y = _rates(a, iterate, index)
    own = judged(Problem(problem.D, y - problem.D @ impulses, contacts.friction), impulses)
    return Closed(Converged(iterate.x, iterate.trial, iteration, solve_with), last, own, max(own.scale, terms))


def _scale(a: Arrays, step: Step, guess: Means) -> Array:
    """What changes of velocities are compared with, (n_v,)."""
    sizes = displacement_sizes(a, lever(a))
    v = flatten(a, Means(step.start.v, step.start.omega, step.start.du, np.zeros(0)))
    fall = abs(step.h) * np.abs(a.weight / a.mass[:, None]).max(initial=0.0)
    rate = max(np.abs(flatten(a, guess) / sizes).max(), np.abs(v / sizes).max(), fall / sizes.max(), 1e-300)
    scale: Array = rate * sizes
    return scale


def _push(a: Arrays, index: Array, forces: Array) -> tuple[Array, Array]:
    """Forces of some of the contacts as those of all, normal (c,) and along the tangents (t, c)."""
    t, own = a.dim - 1, forces.reshape(-1, index.size)
    normal, friction = np.zeros(a.contacts.kind.size), np.zeros((t, a.contacts.kind.size))
    normal[index] = own[0]
    if len(own) > 1:
        friction[:, index] = own[1:]
    return normal, friction


def _linear(a: Arrays, iterate: Iterate, index: Array, at: tuple[Solve, Means, Array]) -> tuple[Array, Problem, float]:
    """How impulses change velocities and multipliers (n_v + g, m), the problem of the linearised step, and its scale.

    That is the largest sum of the sizes of the terms of a rate [m/s].
    """
    solve_with, correction, impulses = at
    point, h, own = iterate.point, iterate.step.h, _touch(iterate, index)
    part = a._replace(contacts=a.contacts.take(index))
    B, W = node_gradients(a, point, node_blocks(a, point)[0])
    on, moved = vector_rows(part, B), vector_rows(part, W)
    acting, rates = [dense(gap_rows(own.gaps.mean, on))], [dense(gap_rows(own.gaps.end, moved)) / h]
    if part.contacts.friction.any():
        frame: Any = np.swapaxes(iterate.trial.inverse, 1, 2)
        slips = [dense(row) for row in slip_rows(part, on[0], own, frame)]
        acting, rates = acting + slips, rates + slips
    R, spread = np.vstack(rates), _spread(a, solve_with, np.vstack(acting), iterate.x.lam.size)
    n = velocity_count(a)
    D = R @ spread[:n]
    b = _rates(a, iterate, index) - R @ flatten(a, correction) - D @ impulses
    terms = float((np.abs(R) @ np.abs(flatten(a, iterate.x))).max())
    return spread, Problem(D, b, part.contacts.friction), terms


def _touch(iterate: Iterate, index: Array) -> Touch:
    assert iterate.trial.touch is not None
    return taken(iterate.trial.touch, index)


def _rates(a: Arrays, iterate: Iterate, index: Array) -> Array:
    """Gaps at the end of a step, and the slips where there is friction, over its length."""
    own, frictional = _touch(iterate, index), a.contacts.friction[index].any()
    return np.concatenate([own.gaps.after, *(own.slip if frictional else ())]) / iterate.step.h


def _spread(a: Arrays, solve_with: Solve, rows: Array, multipliers: int) -> Array:
    """What unit impulses along the rows (m, n_v) add to mean velocities and multipliers, (n_v + g, m)."""
    columns = []
    for row in rows:
        y = solve_with(unflatten(a, row, np.zeros(multipliers)))
        columns.append(np.concatenate([flatten(a, y), y.lam]))
    return np.array(columns).T.reshape(-1, len(rows))
