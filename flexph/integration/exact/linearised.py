"""Linearised steps of a mechanism: derivatives of the end of a step by its start, by the implicit function theorem.

The equations F(start, x) = 0 of a step give its unknowns x, mean velocities and multipliers; the end follows from both.
Along a direction of the start ∂F/∂x δx = −∂F/∂start δstart, solved with the Jacobian of Newton's method and corrected
until it holds. Derivatives along directions are central differences of F, of fourth order and without any iteration
within; F is a polynomial but for the laws of springs, dampers and drives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import displacement_sizes, lever
from ...kernels.continuous import spring_operator, strain_of, strain_rates
from ...kernels.gauss.stage_jacobian import stage_jacobian
from ...kernels.gradient import velocity_slices
from ...kernels.jacobians.blocks import flatten, unflatten
from ...kernels.state import Configuration, derive
from ...kernels.step import residual
from ...kernels.strains import end_stiffness
from ...kernels.values import Means, Step
from ...numerics.arrays import Array
from ...numerics.rotations import cross
from .gauss import GaussStepper
from .step import ExactStepper, StepStart

REACHES, FINER = (1e-3, 3e-5, 1e-6), 0.3
"""Displacements over the size of the mechanism, and turns, of the differences, and the share of it for the check."""
LINEAR = 1e-7
"""Difference of the variation of a sum from the sum of variations, over the largest, up to which they are linear."""
SHARES, WEIGHTS = (-2.0, -1.0, 1.0, 2.0), (1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0)
SETTLED, STAGNATED, MOST = 1e-11, 1e-7, 60
"""Correction of the unknowns over all of them at which the linearised equations hold, at which they do if it is no
longer halved, and most corrections."""


class Equations(NamedTuple):
    """A step that was solved: F(start, x) with its end, the solution x, the Jacobian there, and where it leads."""

    evaluate: Callable[[Configuration, Array], tuple[Array, Configuration]]
    unknowns: Array
    solve: Callable[[Array], Array]
    start: Configuration
    end: StepStart


def equations_of(stepper: ExactStepper | GaussStepper, start: StepStart, time: float) -> Equations:
    """Solve the step from a start to a time [s], and keep its equations; raises StepFailed."""
    return _of_gauss(stepper, start, time) if isinstance(stepper, GaussStepper) else _of_exact(stepper, start, time)


def _of_exact(stepper: ExactStepper, start: StepStart, time: float) -> Equations:
    a, details = stepper.arrays, stepper.details(start, time)
    h, schedule, size = time - start.time, details.prescribed, velocity_slices(a)[1].stop
    means = details.solved.means
    own = schedule.independent
    lam = means.lam if own is None else own.gather @ means.lam

    def evaluate(c: Configuration, x: Array) -> tuple[Array, Configuration]:
        step = Step(c, derive(a, c), h, schedule)
        defect, trial = residual(a, step, unflatten(a, x[:size], x[size:]))
        return np.concatenate([flatten(a, defect), defect.lam]), trial.end

    def solve(defect: Array) -> Array:
        change: Means = details.solved.solve(unflatten(a, defect[:size], defect[size:]))
        return np.concatenate([flatten(a, change), change.lam])

    unknowns = np.concatenate([flatten(a, means), lam])
    return Equations(evaluate, unknowns, solve, start.state.c, details.result.end)


def _of_gauss(stepper: GaussStepper, start: StepStart, time: float) -> Equations:
    result, problem, stages = stepper.details(start, time)
    k, given, h = stepper.collocation, problem.given, problem.at.h
    solution = k.pack(stages.x, h)
    lu, pivots, _ = lapack.dgetrf(stage_jacobian(k, problem.at, stages, given))

    def evaluate(c: Configuration, x: Array) -> tuple[Array, Configuration]:
        defect, t = k.residual(stepper.onset(c, start.time, h), x.reshape(solution.shape), given)
        return defect.ravel(), t.end

    def solve(defect: Array) -> Array:
        change: Array = lapack.dgetrs(lu, pivots, defect)[0]
        return change

    return Equations(evaluate, solution.ravel(), solve, start.state.c, result.end)


class Variations(NamedTuple):
    """Variations of configurations: displacements (δr, θ, δu) and changes of the velocities (δṙ, δω, δu̇), (n_v, k)."""

    displaced: Array
    faster: Array


class LinearisedSteps:
    """Linearised steps of ``Exact`` or ``ExactGauss``; ``pace`` [1/s] brings velocities to displacements."""

    def __init__(self, stepper: ExactStepper | GaussStepper, pace: float) -> None:
        self.stepper, self.arrays = stepper, stepper.arrays
        length = lever(self.arrays)
        sizes = displacement_sizes(self.arrays, length)
        self.sizes = Variations(sizes, sizes * pace)

    def step(self, start: StepStart, time: float, given: Variations) -> tuple[StepStart, Variations]:
        """The end of a step to a time [s], and the variations there of those given at its start.

        Their sum is varied, too, by a fraction of the reach: where laws are too bent for that, all take a shorter one.
        Raises StepFailed, and ArithmeticError where no reach is short enough.
        """
        equations = equations_of(self.stepper, start, time)
        columns = list(zip(*(part.T for part in given), strict=True))
        whole = tuple(np.sum(part, axis=1) for part in given)
        for reach in REACHES:
            ends = [self._along(equations, *pair, reach=reach) for pair in columns]
            other = self._along(equations, *whole, reach=FINER * reach)
            if self._is_sum(ends, other):
                displaced, faster = (np.array(part).reshape(len(ends), -1).T for part in zip(*ends, strict=True))
                return equations.end, Variations(displaced, faster)
        raise ArithmeticError(f"the linearised step to t = {time} s did not settle: take shorter steps")

    def _is_sum(self, ends: list[tuple[Array, Array]], other: tuple[Array, Array]) -> bool:
        """Whether variations add up to that of their sum."""
        sums = [np.sum(part, axis=0) for part in zip(*ends, strict=True)]
        largest = [np.abs(part).max(axis=0, initial=0.0) for part in zip(*ends, strict=True)]
        apart = max(np.abs((x - y) / s).max() for x, y, s in zip(sums, other, self.sizes, strict=True))
        size = max(np.abs(x / s).max() for x, s in zip(largest, self.sizes, strict=True))
        return bool(apart <= LINEAR * size)

    def _along(self, e: Equations, displaced: Array, faster: Array, *, reach: float) -> tuple[Array, Array]:
        """The variation of the end for one of the start, NaN where the iteration does not settle."""
        size = max(np.abs(displaced / self.sizes.displaced).max(), np.abs(faster / self.sizes.faster).max())
        if not size > 0.0:
            return displaced, faster
        share, direction = reach / size, tangent_of(self.arrays, e.start, displaced, faster)

        def change(x: Array) -> tuple[Array, list[Configuration]]:
            at = [(moved(e.start, direction, share * s), e.unknowns + share * s * x) for s in SHARES]
            defects, ends = zip(*(e.evaluate(*one) for one in at), strict=True)
            return sum(w / share * d for w, d in zip(WEIGHTS, defects, strict=True)), list(ends)

        x, last = np.zeros_like(e.unknowns), np.inf
        for _ in range(MOST):
            defect, ends = change(x)
            correction = e.solve(defect)
            size, x = float(np.linalg.norm(correction)), x - correction
            if size <= SETTLED * np.linalg.norm(x) or last / 2 <= size <= STAGNATED * np.linalg.norm(x):
                return self._end(e, ends, share)
            last = size
        return np.full_like(displaced, np.nan), np.full_like(faster, np.nan)

    def _end(self, e: Equations, ends: list[Configuration], share: float) -> tuple[Array, Array]:
        a = self.arrays
        rates = Configuration(
            *(sum(w / share * x for w, x in zip(WEIGHTS, parts, strict=True)) for parts in zip(*ends, strict=True))
        )
        back = np.einsum("bji,bjk->bik", e.end.state.c.R, rates.R)  # [θ]×
        basis = cross(a.dim)
        turn = 0.5 * np.einsum("bij,sij->bs", back, basis)
        none = np.zeros(0)
        return flatten(a, Means(rates.r, turn, rates.u, none)), flatten(a, Means(rates.v, rates.omega, rates.du, none))


def moved(c: Configuration, rates: Configuration, share: float) -> Configuration:
    """The configuration along rates, on a straight line of all its arrays."""
    return Configuration(*(x + share * y for x, y in zip(c, rates, strict=True)))


def tangent_of(a: Arrays, c: Configuration, displaced: Array, faster: Array) -> Configuration:
    """Rates of all arrays of a configuration along a variation; stresses and springs follow the displacements."""
    d = derive(a, c)
    moving, speeding = (unflatten(a, part, np.zeros(0)) for part in (displaced, faster))
    sigma = a.stiffness @ (strain_of(a, c.u) @ moving.du)
    own = a.strains.stress
    if own.size:
        sigma[own] = end_stiffness(a.strains, d.product) @ (strain_rates(a, c, d) @ displaced)
    spring = np.zeros_like(c.spring)
    if spring.size:
        stretched = a.springs.stiffness * (spring_operator(a, c, d) @ displaced)
        spring[: a.springs.stored] = stretched[a.springs.state >= 0]
    R = np.einsum("bij,bs,sjk->bik", c.R, moving.omega, cross(a.dim))
    return Configuration(moving.v, R, moving.du, speeding.v, speeding.omega, speeding.du, sigma, spring)
