"""Compositions of steps: pairs of equal ones, and the fourth-order composition of pairs.

A step of the exact scheme reflects the velocity defect e = G v − ∂g/∂t of index-2 constraints, e₁ = −e₀ + O(h²): as a
map of states it is not near the identity, and compositions of single steps lose their order. A pair of equal steps,
Ψ_h = Φ_{h/2} ∘ Φ_{h/2}, is near the identity and symmetric, so that

    Ψ_{γ₁h} ∘ Ψ_{γ₂h} ∘ Ψ_{γ₁h},  γ₁ = 1/(2 − 2^{1/3}),  γ₂ = 1 − 2γ₁ < 0

is of fourth order (the triple jump), with every invariant of the exact scheme.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.state import State
from ...numerics.arrays import Array
from .step import ExactStepper, StepResult, StepStart

OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
SUBSTEPS = 0.5 * np.array([OUTER, OUTER, 1.0 - 2.0 * OUTER, 1.0 - 2.0 * OUTER, OUTER, OUTER])
"""Lengths of the six substeps over that of the step: they reach 0.35 of it beyond either end."""


def _midpoint_weights() -> Array:
    """Weights of the six values λ + c hₖ² + ½λ″(tₖ − t)² + … of the substeps that leave λ at the middle t of the step.

    By symmetry three numbers: of the first and last, second and fifth, third and fourth substep.
    """
    away = np.cumsum(SUBSTEPS) - 0.5 * SUBSTEPS - 0.5
    conditions = np.array([np.full(3, 2.0), 2.0 * SUBSTEPS[:3] ** 2, 2.0 * away[:3] ** 2])
    half = np.linalg.solve(conditions, [1.0, 0.0, 0.0])
    return np.concatenate([half, half[::-1]])


MIDPOINT = _midpoint_weights()


class ComposedStepper:
    """Steps of given shares, one after the other, as one step: ``weights`` give its multipliers at the middle."""

    def __init__(self, inner: ExactStepper, shares: Array, weights: Array) -> None:
        self.inner, self.shares, self.weights = inner, shares, weights
        self.accounts: Accounts = inner.accounts
        self.longest = float(np.abs(shares).max())

    def start(self, start: State) -> StepStart:
        """Where a run starts."""
        return self.inner.start(start)

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""
        return as_one(start, self.parts(start, time), self.shares, self.weights)

    def parts(self, start: StepStart, time: float) -> list[StepResult]:
        """Its steps one by one."""
        ends = start.time + (time - start.time) * np.cumsum(self.shares)
        ends[-1] = time
        steps: list[StepResult] = []
        for end in ends.tolist():
            steps.append(self.inner.step(steps[-1].end if steps else start, end))
        return steps


def as_one(start: StepStart, parts: list[StepResult], shares: Array, weights: Array) -> StepResult:
    """Steps as one: flows and iterations add up; the velocity defect is that of the end, the rest the largest.

    The stage multipliers are the mean over the step, so that their impulse is the sum of all.
    """
    end, residuals = parts[-1].end, np.max([p.residuals for p in parts], axis=0)
    residuals[2] = parts[-1].residuals[2]
    return StepResult(
        end=end,
        middle=0.5 * (start.time + end.time),
        stage=shares @ np.array([p.stage for p in parts]),
        multipliers=weights @ np.array([p.multipliers for p in parts]),
        flows=np.sum([p.flows for p in parts], axis=0),
        residuals=residuals,
        counts=np.array([sum(p.counts[0] for p in parts), 1.0, 0.0]),
        complementarity=max(p.complementarity for p in parts),
    )


def refuse_damped(accounts: Accounts) -> None:
    """Raise ValueError where something dissipates: in steps back in time it would feed energy in."""
    if accounts.dissipation:
        raise ValueError(
            "Exact4() is for mechanisms without damping, since some of its substeps go back in time: "
            f"{', '.join(map(repr, accounts.dissipation))} may dissipate; take Exact()"
        )


def fourth_order(inner: ExactStepper) -> ComposedStepper:
    """The composition of fourth order; its multipliers at the middle of a step are of third order."""
    refuse_damped(inner.accounts)
    return ComposedStepper(inner, SUBSTEPS, MIDPOINT)
