"""Impulses of the joints that reflect the velocity defect e = G v + ∂g/∂t between steps.

With S = G M⁻¹Gᵀ, μ = S⁻¹e and b = −∂g/∂t prescribed by drives (zero for joints), the velocities

    v′ = v − 2M⁻¹Gᵀμ   have the defect   e′ = −e   and   ΔT = −2b·μ :

the work of the drives. Both momenta stay, as under all forces of joints. It is a step of the exact scheme of length 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from ...kernels.gradient import constraint_matrix
from ...kernels.state import derive
from ...mechanisms.changed.impulses import impulses
from ...mechanisms.model.constraints import velocities_of, with_velocities
from ...mechanisms.model.redundancy import independent
from ...mechanisms.model.state import configuration, flat
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..schemes.start import EvaluatedState, Rates, StepResult, prescribed_rate, velocity_defect

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


class Answer(NamedTuple):
    """Response to velocity defects e (g, k): M⁻¹Gᵀμ (n_v, k) and μ = (G M⁻¹Gᵀ)⁻¹ e (g, k)."""

    change: Array
    mu: Array


def answer(scheme: Scheme, step: StepResult, coefficient: Array, defects: Array) -> Answer:
    """Impulses that would remove velocity defects at the end of a step; raises StepFailed."""
    a, (c, d) = scheme.arrays, step.end.state.place
    G = constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector)
    own = independent(scheme.mechanism, G) if scheme.least_norm else None
    spread = sparse.eye_array(scheme.rows) if own is None else own
    try:
        y = impulses(a, c.u, spread.T @ G, spread.T @ defects)
    except (RuntimeError, np.linalg.LinAlgError):
        error = StepFailed("the constraints are dependent at its end", int(step.counts[0]), 0.0)
        error.span = (2.0 * step.middle - step.end.time, step.end.time)
        raise error from None
    return Answer(y[: G.shape[1]], spread @ y[G.shape[1] :])


def reflected(scheme: Scheme, step: StepResult, at_end: tuple[Array, Rates], known: Answer) -> StepResult:
    """Step followed by the impulse −2Gᵀμ; the first columns of ``known`` are the response to the velocity defect.

    ``at_end`` are the term coefficients and the rates of prescribed quantities. The impulse is added to the accounts
    and to the mean multipliers.
    """
    mechanism, a, accounts, end = scheme.mechanism, scheme.arrays, scheme.accounts, step.end
    (coefficient, rates), c = at_end, end.state.c
    change, mu = known.change[:, 0], known.mu[:, 0]
    x = flat(mechanism, with_velocities(mechanism, c, velocities_of(mechanism, c) - 2.0 * change))
    c = configuration(mechanism, x)
    d = derive(a, c)
    work = accounts.impulse(-2.0 * mu * prescribed_rate(a, d, rates), 0.0)
    defect, energy = velocity_defect(a, (c, d), coefficient, rates), accounts.energies(c, d, end.time)
    balance = step.residuals[0] + abs(accounts.balance(end.energy, energy, work))
    history = end.history.copy()
    history[-1:, -1 - defect.size : -1] = defect  # of velocities that have just jumped there is none
    residuals = np.array([balance, step.residuals[1], np.abs(defect).max(), step.residuals[3]])
    moved = end._replace(state=EvaluatedState(x, (c, d), defect), energy=energy, history=history)
    stage = step.stage - 2.0 * mu / (2.0 * (end.time - step.middle))
    return step._replace(end=moved, flows=step.flows + work, residuals=residuals, stage=stage)
