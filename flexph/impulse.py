"""Impulses of the joints that change the velocity defect e = G v − ∂g/∂t between steps.

With S = G M⁻¹Gᵀ, μ = S⁻¹e and b = ∂g/∂t prescribed by drives (zero for joints), the velocities

    v′ = v − κ M⁻¹Gᵀμ   have the defect   e′ = (1 − κ) e   and   ΔT = −κ b·μ − κ(1 − ½κ) e·μ :

work of the drives, and a loss that is never negative for 0 ≤ κ ≤ 2. Both momenta stay, as under all forces of joints.
κ = 2 is the reflection e′ = −e, without loss: the step of the exact scheme of length zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .advance import Place, prescribed_rate, velocity_defect
from .initial import velocities_of, with_velocities
from .kernels.continuous import mass_matrix
from .kernels.gradient import constraint_matrix, is_sparse
from .kernels.state import derive
from .kernels.step import Schedule
from .ledger import Accounts
from .newton import NoConvergence
from .single import Solved, Step
from .space import Array
from .state import configuration, flat


class Answer(NamedTuple):
    """To velocity defects e (g, k): M⁻¹Gᵀμ (n_v, k) and μ = (G M⁻¹Gᵀ)⁻¹ e (g, k)."""

    change: Array
    mu: Array


def answer(accounts: Accounts, step: Step, prescribed: Schedule, defects: Array) -> Answer:
    """Impulses that would take velocity defects away at the end of a step; raises NoConvergence."""
    a, (_, c, d, _) = accounts.arrays, step.end.place
    G = constraint_matrix(a, c.R, d.arm, d.vector, prescribed.coefficient_1, len(defects))
    G = sparse.csr_array(prescribed.combined(G))
    K = sparse.block_array([[mass_matrix(a, c.u), -G.T], [G, None]], format="csc")
    rhs = np.zeros((K.shape[0], defects.shape[1]))
    rhs[G.shape[1] :] = prescribed.combined(defects)
    try:
        y = splu(K).solve(rhs) if is_sparse(a) else np.linalg.solve(K.toarray(), rhs)
    except (RuntimeError, np.linalg.LinAlgError):
        error = NoConvergence("the constraints are dependent at its end", int(step.audit[4]), 0.0)
        error.span = (2.0 * step.middle - step.end.time, step.end.time)
        raise error from None
    return Answer(y[: G.shape[1]], prescribed.multipliers(y[G.shape[1] :]))


def struck(accounts: Accounts, step: Step, solved: Solved, share: float, found: Answer | None = None) -> Step:
    """A step, or steps as one with the last of them ``solved``, followed by the impulse −κGᵀμ, κ = ``share``.

    What it does is booked, and added to the mean multipliers; ``found`` has the answer to the defect first.
    """
    a, (x, c, d, defect), prescribed = accounts.arrays, step.end.place, solved.prescribed
    if not defect.any() or share == 0.0:
        return step
    change, mu = (part[:, 0] for part in found or answer(accounts, step, prescribed, defect[:, None]))
    slower = with_velocities(accounts.mechanism, c, velocities_of(accounts.mechanism, c) - share * change)
    x = flat(accounts.mechanism, slower)
    c = configuration(accounts.mechanism, x)
    d = derive(a, c)
    lost = share * (1.0 - 0.5 * share) * float(defect @ mu)
    work = accounts.impulse(-share * mu * prescribed_rate(a, d, solved.rates), lost)
    defect = velocity_defect(a, c, d, prescribed.coefficient_1, solved.rates)
    return _booked(accounts, step, Place(x, c, d, defect), work, -share * mu)


def _booked(accounts: Accounts, step: Step, place: Place, work: Array, impulse: Array) -> Step:
    """The step that ends at another place; what its balance is off by adds up."""
    energy = accounts.energies(place.c, place.d)
    residual = step.audit[0] + abs(accounts.balance(step.end.energy, energy, work))
    memory, rows = step.end.memory.copy(), place.defect.size
    memory[-1, -1 - rows : -1] = place.defect
    audit = np.array([residual, step.audit[1], np.abs(place.defect).max(), *step.audit[3:]])
    end = step.end._replace(place=place, energy=energy, memory=memory)
    length = 2.0 * (end.time - step.middle)
    return step._replace(end=end, flows=step.flows + work, audit=audit, stage=step.stage + impulse / length)
