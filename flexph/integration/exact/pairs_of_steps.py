"""Pairs of equal steps of the exact scheme with an estimate of their error (see integration.times.step_control)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...contacts.levels import gaps_at, near_at
from ...kernels.convergence.tolerances import LEFT
from ...kernels.state import Configuration, momenta
from ...kernels.values import Means, Schedule, Solve, Step
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..times.loop import Run
from ..times.step_control import Tried
from ..times.step_size import Tolerance
from .advance import Rates
from .composition import ComposedStepper, as_one
from .impulse import answer, struck
from .iterate import evaluated, factored
from .step import ExactStepper, StepDetails, StepResult, StepStart

PAIR = np.array([0.5, 0.5])


class PairStepper(ComposedStepper):
    """PairStepper of equal steps with an estimate of their error.

    A mean velocity over a step of h differs from the velocity in its middle by h²/24 of its second derivative, and
    Cayley's update turns by (hω)³/12 less than ω does: with δ = h²/24 v̄″ + h²/12 |ω|²ω, v̄″ by differences of the last
    three mean velocities, the error of a pair is

        ε = √(δ̂ᵀMδ̂ / (2 E)) / rtol,   δ̂ = (M + ¼h²K + …)⁻¹ M δ,

    and at least a tenth of the same with the velocity M⁻¹GᵀS⁻¹Δe that the pair adds to the defect of the constraints.
    E is the largest kinetic energy of the run, or atol where that is larger. The matrix is the step's Jacobian: δ̂
    keeps the constraints, and modes that h does not resolve count by 4/(hω)², so that they do not force their
    resolution as long as their part of the energy is small. Contacts that open or close in the pair are not in it:
    as stiff modes, they would hide their own impact.
    """

    def __init__(self, inner: ExactStepper, tolerance: Tolerance) -> None:
        super().__init__(inner, PAIR, PAIR)
        self.tolerance = tolerance
        self._kinetic = np.array([name.startswith("kinetic ") for name in inner.accounts.energy])

    def known(self, start: StepStart) -> float:
        """The energy that errors are compared with where a run starts [J]."""
        return self.tolerance.floor

    def count(self, known: float) -> int:
        """Steps of a pair."""
        return 2

    def attempt(self, run: Run, times: Array, known: float) -> Tried:
        """The pair of steps through the times, and its error; ``known`` is the largest kinetic energy so far [J]."""
        start, (_, middle, end) = run.start, times.tolist()
        run.trying(start.time, end)
        try:
            first = self.inner.details(start, middle)
            second = self.inner.details(first.result.end, end)
            pair, left = self._joined(start, first, second)
        except StepFailed as failed:
            return Tried([], math.inf, str(failed), known, ended=failed if isinstance(failed, MotionEnded) else None)
        ends = (start, first.result.end, second.result.end)
        energy = max(known, *(float(s.energy[self._kinetic].sum()) for s in ends))
        estimate = self._energy(start, middle - start.time, (first, second)), left
        return self.judged((start, pair, partial(self.step, start)), estimate, known, energy)

    def judged(self, step: Any, estimate: tuple[float, float], known: float, energy: float) -> Tried:
        """A pair with the energies of its error and of what it adds to the velocity defect [J].

        ``energy`` is the largest kinetic energy up to its end, ``known`` that before it [J].
        """
        motion, left = estimate
        squared = max(motion, left / LEFT**2)
        error = math.sqrt(squared / energy) / self.tolerance.relative if squared > 0.0 else 0.0
        return Tried([step], error, self.cause(error), energy if error <= 1.0 else known)

    def cause(self, error: float) -> str:
        """What is to blame where control falls below its smallest step."""
        return f"the error is still {error:.1f} times the tolerance"

    def step(self, start: StepStart, time: float) -> StepResult:
        """The pair from a start to a time [s]; raises StepFailed."""
        first = self.inner.details(start, 0.5 * (start.time + time))
        return self._joined(start, first, self.inner.details(first.result.end, time))[0]

    def _joined(self, start: StepStart, first: StepDetails, second: StepDetails) -> tuple[StepResult, float]:
        """Both steps as one, and the velocity defect that they leave reflected where the next pair would add to it.

        A pair adds about h³ċ to the defect, c h² being what a single step leaves: over many pairs that would add up.
        Its kinetic energy [J] is returned with them.
        """
        at_end, settled = lambda: (second.prescribed, second.rates), first.settled or second.settled
        return self.reflected(start, [first.result, second.result], at_end, settled)

    def reflected(
        self,
        start: StepStart,
        steps: list[StepResult],
        at_end: Callable[[], tuple[Schedule, Rates]],
        settled: bool,
    ) -> tuple[StepResult, float]:
        """See :meth:`_joined`; ``at_end`` is what time prescribes there, asked for where there are constraints."""
        pair = as_one(start, steps, self.shares, self.weights)
        pair = pair._replace(counts=np.array([pair.counts[0], 2.0, 0.0]))
        end = pair.end.state
        if not end.defect.size:
            return pair, 0.0
        # what settles begins with velocities that keep the joints
        added, given = end.defect if settled else end.defect - start.state.defect, at_end()
        impulses = answer(self.accounts, pair, given[0], np.column_stack([end.defect, added]))
        if impulses.mu[:, 0] @ added > 0.0:
            pair = struck(self.accounts, pair, given, share=2.0, known=impulses)
        return pair, 0.5 * float(impulses.mu[:, 1] @ added)

    def _energy(self, start: StepStart, h: float, steps: tuple[StepDetails, StepDetails]) -> float:
        """½ δ̂ᵀMδ̂ [J]."""
        last = steps[1]
        end = last.result.end.state.c
        delta = h * h / 24.0 * self._second_derivative(start, h, last)
        v, omega, du = self.inner.velocities(delta)
        mean = last.solved.means.omega
        omega = omega + h * h / 12.0 * (mean**2).sum(axis=1, keepdims=True) * mean
        p_v, p_r, p_u = self.momentum(end, v, omega, du)
        rows = last.prescribed.combined(np.zeros(self.inner.rows_of_g))
        smooth = self._without_impacts(start, h, steps)(Means(2.0 * p_v, 2.0 * p_r, 2.0 * p_u, rows))
        twice = zip(smooth[:3], self.momentum(end, *smooth[:3]), strict=True)
        return 0.5 * abs(sum(float(np.vdot(p, q)) for p, q in twice))

    def _without_impacts(self, start: StepStart, h: float, steps: tuple[StepDetails, StepDetails]) -> Solve:
        """The factored Jacobian of the second step, without compliant contacts that open or close in the pair."""
        a, (first, last) = self.inner.arrays, steps
        middle, x = first.result.end.state, last.solved.means
        if not a.contacts.number or a.contacts.laws.rigid.any():
            return last.solved.solve
        states = start.state, middle, last.result.end.state
        a = near_at(a, *((state.c, state.d) for state in states))
        closed = np.array([gaps_at(a, state.c, state.d).after < 0.0 for state in states])
        stays = (closed == closed[0]).all(axis=0)
        if stays.all():
            return last.solved.solve
        if (independent := last.prescribed.independent) is not None:
            x = x._replace(lam=independent.gather @ x.lam)
        a = a._replace(contacts=a.contacts.take(np.flatnonzero(stays)))
        return factored(a, evaluated(a, Step(middle.c, middle.d, h, last.prescribed), x), 0, 0.0)

    def _second_derivative(self, start: StepStart, h: float, last: StepDetails) -> Array:
        """v̄″, from the last mean velocities before the pair, or the velocities at the start, and its own two."""
        rows = self.inner.mean_velocities(last.result.end.history)
        if len(start.history):
            before, apart = rows[-3], 0.5 * (h + start.history[-1, -1])
        else:
            c = start.state.c
            before, apart = np.concatenate([c.v.ravel(), c.omega.ravel(), c.du]), 0.5 * h
        derivative: Array = 2.0 * ((rows[-1] - rows[-2]) / h - (rows[-2] - before) / apart) / (h + apart)
        return derivative

    def momentum(self, c: Configuration, v: Array, omega: Array, du: Array) -> tuple[Array, Array, Array]:
        """M (v, ω, u̇)."""
        a = self.inner.arrays
        p_r, p_u = momenta(a, omega, c.u, du)
        return a.mass[:, None] * v, p_r, p_u
