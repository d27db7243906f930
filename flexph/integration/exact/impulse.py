"""Impulses of the joints that change the velocity defect e = G v − ∂g/∂t between steps.

With S = G M⁻¹Gᵀ, μ = S⁻¹e and b = ∂g/∂t prescribed by drives (zero for joints), the velocities

    v′ = v − κ M⁻¹Gᵀμ   have the defect   e′ = (1 − κ) e   and   ΔT = −κ b·μ − κ(1 − ½κ) e·μ :

work of the drives, and a loss that is never negative for 0 ≤ κ ≤ 2. Both momenta stay, as under all forces of joints.
κ = 2 is the reflection e′ = −e, without loss: the step of the exact scheme of length zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...kernels.arrays import Arrays
from ...kernels.continuous import mass_matrix, mass_of
from ...kernels.gradient import constraint_matrix, is_sparse, velocity_slices
from ...kernels.state import derive
from ...kernels.values import Schedule
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.constraints import velocities_of, with_velocities
from ...mechanisms.model.state import configuration, flat
from ...numerics.arrays import Array
from ...numerics.factors.positive_definite import positive_solver
from ...numerics.step_failed import StepFailed
from .advance import EvaluatedState, Rates, prescribed_rate, velocity_defect
from .step import StepResult

LARGE = 300
"""Flexible coordinates from which on shifts of low rank are not brought into their mass matrix."""


class Answer(NamedTuple):
    """To velocity defects e (g, k): M⁻¹Gᵀμ (n_v, k) and μ = (G M⁻¹Gᵀ)⁻¹ e (g, k)."""

    change: Array
    mu: Array


def answer(accounts: Accounts, step: StepResult, prescribed: Schedule, defects: Array) -> Answer:
    """Impulses that would take velocity defects away at the end of a step; raises StepFailed."""
    a, (c, d) = accounts.arrays, step.end.state.place
    G = constraint_matrix(a, c.R, prescribed.coefficient_1, arm=d.arm, vector=d.vector)
    G = prescribed.combined(G)
    try:
        y = _solved(a, c.u, G, prescribed.combined(defects))
    except (RuntimeError, np.linalg.LinAlgError):
        error = StepFailed("the constraints are dependent at its end", int(step.counts[0]), 0.0)
        error.span = (2.0 * step.middle - step.end.time, step.end.time)
        raise error from None
    return Answer(y[: G.shape[1]], prescribed.multipliers(y[G.shape[1] :]))


def _solved(a: Arrays, u: Array, G: Any, defects: Array) -> Array:
    """(M⁻¹Gᵀμ, μ) with G M⁻¹Gᵀμ = defects (g, k), (n_v + g, k)."""
    rhs = np.zeros((sum(G.shape), defects.shape[1]))
    rhs[G.shape[1] :] = defects
    if not is_sparse(a):
        solution: Array = np.linalg.solve(np.block([[mass_of(a, u), -G.T], [G, np.zeros((len(G), len(G)))]]), rhs)
        return solution
    G, large = sparse.csr_array(G), a.body_u.size > LARGE
    K = sparse.block_array([[mass_matrix(a, u, deforming=not large), -G.T], [G, None]], format="csr")
    return _bordered(a, K, rhs) if large else splu(sparse.csc_array(K)).solve(rhs)


def _bordered(a: Arrays, K: Any, rhs: Array) -> Array:
    """Solutions with K, into which M_uu is yet to come, for forces on the other rows: M_uu is factored by itself.

    Its shifts of low rank, which would fill it, are kept in the border, with all other unknowns.
    """
    u = np.arange(*velocity_slices(a)[1].indices(len(rhs)))
    rest, shifts = np.delete(np.arange(len(rhs)), u), np.flatnonzero(np.diff(a.border.indptr))
    right = sparse.vstack([K[rest][:, u], a.border[shifts]])
    left = sparse.hstack([K[u][:, rest], -a.border_stack[: u.size][:, shifts]])
    across = positive_solver(a.stack[: u.size])(left.toarray())
    corner = sparse.block_diag([K[rest][:, rest], -sparse.eye_array(shifts.size)]).toarray()
    small = np.linalg.solve(corner - right @ across, np.pad(rhs[rest], ((0, shifts.size), (0, 0))))
    solution = np.empty_like(rhs)
    solution[u], solution[rest] = -across @ small, small[: rest.size]
    return solution


def struck(
    accounts: Accounts, step: StepResult, at_end: tuple[Schedule, Rates], *, share: float, known: Answer | None = None
) -> StepResult:
    """A step, or steps as one, followed by the impulse −κGᵀμ, κ = ``share``, under what time prescribes at its end.

    What it does is recorded, and added to the mean multipliers; ``known`` has the answer to the defect first.
    """
    a, (c, _), defect = accounts.arrays, step.end.state.place, step.end.state.defect
    prescribed, rates = at_end
    if not defect.any() or share == 0.0:
        return step
    change, mu = (part[:, 0] for part in known or answer(accounts, step, prescribed, defect[:, None]))
    slower = with_velocities(accounts.mechanism, c, velocities_of(accounts.mechanism, c) - share * change)
    x = flat(accounts.mechanism, slower)
    c = configuration(accounts.mechanism, x)
    d = derive(a, c)
    lost = share * (1.0 - 0.5 * share) * float(defect @ mu)
    work = accounts.impulse(-share * mu * prescribed_rate(a, d, rates), lost)
    defect = velocity_defect(a, (c, d), prescribed.coefficient_1, rates)
    return _ending_at(accounts, step, EvaluatedState(x, (c, d), defect), (work, -share * mu))


def _ending_at(accounts: Accounts, step: StepResult, state: EvaluatedState, given: tuple[Array, Array]) -> StepResult:
    """The step that ends at another state by the work and impulse given; what its balance is off by adds up."""
    work, impulse = given
    energy = accounts.energies(state.c, state.d)
    balance = step.residuals[0] + abs(accounts.balance(step.end.energy, energy, work))
    history, rows = step.end.history.copy(), state.defect.size
    history[-1:, -1 - rows : -1] = state.defect  # of velocities that have just jumped there is none
    residuals = np.array([balance, step.residuals[1], np.abs(state.defect).max(), step.residuals[3]])
    end = step.end._replace(state=state, energy=energy, history=history)
    length = 2.0 * (end.time - step.middle)
    return step._replace(end=end, flows=step.flows + work, residuals=residuals, stage=step.stage + impulse / length)
