"""Stored energies ψ(E) of strain rows that are not quadratic, with an exact discrete gradient over a step.

With Δ = E₁ − E₀ the mean stress is given by Gauss' rule along E₀ + τΔ with the correction of [dg] def. 5 (O. Gonzalez),

    S̃ = Σ w_i S(E₀ + τ_iΔ) + φ Δ/|Δ|²,   φ = ψ₁ − ψ₀ − Σ w_i S(E₀ + τ_iΔ)·Δ = O(|Δ|⁷),

so that S̃·Δ = ψ₁ − ψ₀. Strains are invariant under rotations, so that momenta are conserved for any mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..laws.elastic_laws import ElasticLaw
from ..numerics.arrays import Array

Index = np.ndarray
POINTS = (0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5)
WEIGHTS = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)
EXACT = 16.0 * float(np.finfo(float).eps)
"""Relative round-off of φ: relative to the sum of the energies in φ, and in short steps to the stiffness |∂S/∂E| as
well. Laws may compute energies as differences of terms as large as the stiffness, as I₁ − 3. Such differences, however
small, have a round-off of up to six times the machine precision of the stiffness. Divided by |Δ|² it would exceed the
stiffness."""
KINK = 1e-10
"""Distance of a strain from a kink of its law up to which the strain is at the kink, as strains have round-off."""
SHORT = 1e-3
"""Change |Δ| of the strains below which a step is short. Then φ is of the order of 1e-22 of the stiffness at most."""


class Evaluated(NamedTuple):
    """Energies ψ (k,) [J/m³], stresses S = ∂ψ/∂E (k, c) and tangent moduli ∂S/∂E (k, c, c) at k strains."""

    energy: Array
    stress: Array
    tangent: Array


class StoredEnergy(Protocol):
    """Stored energy per volume, ψ, as a function of the strains E (k, c) at k points; shear strains are doubled."""

    def at(self, strain: Array) -> Evaluated:
        """Energies ψ, stresses S and tangent moduli ∂S/∂E at strains (k, c)."""


@dataclass(frozen=True)
class LineEnergy:
    """Stored energy V(ε) per length [J/m] of one strain ε, by an elastic law without the factor of its schedule.

    Within round-off of a kink the stiffness is the larger one of both sides: an unloaded rod or cable may be just
    slack.
    """

    law: ElasticLaw

    def at(self, strain: Array) -> Evaluated:
        """Energies V, forces V' and stiffnesses V'' at strains (k, 1)."""
        x, law = strain[:, 0], self.law
        stiffness = law.stiffness(x)
        if law.edges:
            stiffness = np.maximum(law.stiffness(x - KINK), law.stiffness(x + KINK))
        return Evaluated(law.energy(x), law.force(x)[:, None], stiffness[:, None, None])


class LawRows(NamedTuple):
    """Entries of the vector of all strain rows that belong to a law of stored energy.

    ``rows`` are their indices (k, c), and each entry is a strain times its ``volume`` (k,) [m³]. For a rod or cable c
    is 1 and volumes are lengths [m].
    """

    rows: Index
    volume: Array
    law: StoredEnergy

    @property
    def factor(self) -> Callable[[float], float] | None:
        """Factor a(t) of the energy of a scheduled law."""
        return self.law.law.factor if isinstance(self.law, LineEnergy) else None

    def factor_at(self, time: float) -> float:
        """Factor of the energy at a time [s], 1 for a law without a schedule.

        Raises ValueError unless it is a finite number.
        """
        return self.law.law.factor_at(time) if isinstance(self.law, LineEnergy) else 1.0

    def strain(self, rows: Array) -> Array:
        """Strains E (k, c) of this law, from the vector of all strain rows (e,)."""
        strain: Array = rows[self.rows] / self.volume[:, None]
        return strain


def mean_stress(law: StoredEnergy, before: Array, after: Array) -> Array:
    """Mean stress S̃ (k, c) over a step from the strains ``before`` (k, c) to the strains ``after``."""
    mean, missed, square, _ = _followed(law, before, after)
    return np.asarray(mean.stress + (missed / square)[:, None] * (after - before))


def mean_slope(law: StoredEnergy, before: Array, after: Array) -> Array:
    """Derivative ∂S̃/∂E₁ (k, c, c) of the mean stress with respect to the strains ``after`` the step."""
    mean, missed, square, last = _followed(law, before, after)
    change = after - before
    turned = last.stress - mean.stress - np.einsum("kij,ki->kj", mean.tangent, change)
    by_missed = np.where(missed != 0.0, 1.0 / square, 0.0)[:, None, None] * change[:, :, None] * turned[:, None, :]
    direction = change / np.sqrt(square)[:, None]
    along = np.eye(change.shape[1]) - 2.0 * direction[:, :, None] * direction[:, None, :]
    return np.asarray(mean.tangent + by_missed + (missed / square)[:, None, None] * along)


def _followed(law: StoredEnergy, before: Array, after: Array) -> tuple[Evaluated, Array, Array, Evaluated]:
    """Terms of the mean stress over a step: means over the step, φ (k,), |Δ|² (k,), and the values of the law at E₁.

    The means are ψ₁ − ψ₀, Gauss' mean of S, and the derivative of that mean with respect to E₁; the values of the law
    are ψ, S and ∂S/∂E. φ is zero where it is only round-off; |Δ|² is one where Δ is zero.
    """
    change, (k, c) = after - before, before.shape
    whole = law.at(np.concatenate([before, after, *(before + t * change for t in POINTS)]))
    energy, stress, tangent = (
        whole.energy.reshape(5, k),
        whole.stress.reshape(5, k, c),
        whole.tangent.reshape(5, k, c, c),
    )
    gained = energy[1] - energy[0]
    weights = np.array(WEIGHTS)
    mean = Evaluated(
        gained, np.tensordot(weights, stress[2:], 1), np.tensordot(weights * np.array(POINTS), tangent[2:], 1)
    )
    work, square = np.einsum("kc,kc->k", mean.stress, change), np.einsum("kc,kc->k", change, change)
    missed = gained - work
    stiffness = np.where(square < SHORT**2, np.abs(tangent[1]).max(axis=(1, 2)), 0.0)
    real = np.abs(missed) > EXACT * (np.abs(energy[0]) + np.abs(energy[1]) + np.abs(work) + stiffness)
    end = Evaluated(energy[1], stress[1], tangent[1])
    return mean, np.where(real, missed, 0.0), np.where(square > 0.0, square, 1.0), end
