"""Rows of a fully implicit system in a frame that keeps its algebraic equations apart from the others."""

from __future__ import annotations

import numpy as np

from ...discretisation.descriptor_split import split_of
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ...systems.nonlinear import PHDAE


class MovingFrame:
    """Q(x) = (U₁, U₂) orthogonal, U₁ a basis of the range of E(x): the last rows of ``QᵀE ẋ = Qᵀf`` contain no rates.

    Solvers keep a Jacobian for some steps. Where the range of E turns, an old one has rates in the algebraic equations,
    divided by the length of a step: no short step cures that. In this frame they stay out. U₁ and U₂ are as near as can
    be to those of a reference, by polar factors, and as smooth as E. The reference moves with the steps.
    """

    def __init__(self, system: PHDAE, x: Array) -> None:
        self.system = system
        split = split_of(dense(system.E(x)))
        self._reference = split.U1, split.U2

    def at(self, x: Array) -> Array:
        """Q(x) (n, n); raises StepFailed where the rank of E is another one."""
        return np.hstack(self._bases(x))

    def move(self, x: Array) -> None:
        """Take the bases at a state as the reference."""
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
    """The orthonormal basis of the same space that is nearest to a reference."""
    left, _, right = np.linalg.svd(basis.T @ reference)
    return np.asarray(basis @ (left @ right))
