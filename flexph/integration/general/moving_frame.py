"""Rows of a fully implicit system in a moving frame that separates its algebraic equations from the others."""

from __future__ import annotations

import numpy as np

from ...discretisation.descriptor_split import split_of
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ...systems.nonlinear import PHDAE


class MovingFrame:
    """Orthogonal frame Q(x) = (U₁, U₂), U₁ a basis of the range of E(x): the last rows of ``QᵀE ẋ = Qᵀf`` lack rates.

    Solvers keep a Jacobian for some steps. If the range of E turns, an old one has rates in the algebraic equations,
    divided by the length of a step: no short step cures that. This frame keeps them out. U₁ and U₂ are as near as
    possible to those of a reference, by polar factors, and as smooth as E. The reference moves with the steps.
    """

    def __init__(self, system: PHDAE, x: Array) -> None:
        self.system = system
        split = split_of(dense(system.E(x)))
        self._reference = split.U1, split.U2

    def at(self, x: Array) -> Array:
        """Frame Q(x) (n, n); raises StepFailed if the rank of E has changed."""
        return np.hstack(self._bases(x))

    def move(self, x: Array) -> None:
        """Set the reference to the bases at a state."""
        self._reference = self._bases(x)

    def _bases(self, x: Array) -> tuple[Array, Array]:
        E = dense(self.system.E(x))
        if not np.all(np.isfinite(E)):
            raise StepFailed("E(x) is not finite", 0, np.inf)
        split, (U1, U2) = split_of(E), self._reference
        if split.U1.shape != U1.shape:
            raise StepFailed(f"the rank of E(x) is {split.U1.shape[1]}, and {U1.shape[1]} before", 0, np.inf)
        return _nearest(split.U1, U1), _nearest(split.U2, U2)


def _nearest(basis: Array, reference: Array) -> Array:
    """Orthonormal basis of the same space, nearest to a reference."""
    left, _, right = np.linalg.svd(basis.T @ reference)
    return np.asarray(basis @ (left @ right))
