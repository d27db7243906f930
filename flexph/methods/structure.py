"""Which states a descriptor matrix differentiates: the split that gradient pairs and collocation need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..phdae import PHDAE, Constant
from ..space import Array
from .derivatives import dense
from .newton import StepFailed

RANK = 1e-10
"""Singular value over the largest one below which a constant E counts as singular."""
PROBES = 3
"""States beside the sample at which the zeros of a varying E are looked for."""


@dataclass(frozen=True)
class Split:
    """``U₁ᵀ E V₁`` is invertible, and E = U₁U₁ᵀ E V₁V₁ᵀ.

    Of a constant E by its singular value decomposition ([dg] proposition 2), of a semi-explicit one the choice of its
    rows and columns ([dg] definition 10).

    U₁, V₁ (n, r), U₂, V₂ (n, n − r), orthonormal and constant. V₁ᵀx are the differential, V₂ᵀx the algebraic states.
    """

    U1: Array
    U2: Array
    V1: Array
    V2: Array

    def differential(self, x: Array) -> Array:
        """The part of a state that E differentiates."""
        made: Array = self.onto_states @ x if self._states is None else self._states * x
        return made

    def unseen(self, z: Array) -> Array:
        """The part of a costate that Eᵀ does not see."""
        made: Array = self.onto_costates @ z if self._costates is None else self._costates * z
        return made

    def inner(self, matrix: Array) -> Array:
        """A derivative by the middle of a step, x₁ − ½V₁V₁ᵀ(x₁ − x₀), as one by x₁."""
        if self._states is None:
            made: Array = matrix - 0.5 * (matrix @ self.onto_states)
            return made
        return matrix * (1.0 - 0.5 * self._states)

    def to_costates(self, E: Array) -> Array:
        """``U₁ (U₁ᵀEV₁)⁻ᵀ V₁ᵀ``: from gradients to costates. Raises StepFailed where there is none ([dg] (A1))."""
        try:
            made: Array = self.U1 @ np.linalg.solve((self.U1.T @ E @ self.V1).T, self.V1.T)
        except np.linalg.LinAlgError:
            raise StepFailed("Ē is singular on the differential states over the step", 0, np.inf) from None
        return made

    @cached_property
    def onto_states(self) -> Array:
        """V₁V₁ᵀ."""
        return self.V1 @ self.V1.T

    @cached_property
    def onto_costates(self) -> Array:
        """U₂U₂ᵀ."""
        return self.U2 @ self.U2.T

    @property
    def is_selection(self) -> bool:
        """Whether V₁V₁ᵀ is diagonal: states are differential or algebraic one by one."""
        return self._states is not None

    @cached_property
    def _states(self) -> Array | None:
        return _diagonal(self.onto_states)

    @cached_property
    def _costates(self) -> Array | None:
        return _diagonal(self.onto_costates)


def _diagonal(matrix: Array) -> Array | None:
    """The diagonal of a matrix that has nothing else: a product with it is cheaper."""
    diagonal = np.diag(matrix).copy()
    return None if np.any(matrix != np.diag(diagonal)) else diagonal


def rank_of(matrix: Array) -> int:
    """Rank by singular values."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(values > RANK * max(values.max(initial=0.0), 1e-300)))


def differential_split(system: PHDAE) -> Split:
    """The split of E. Raises ValueError where E varies and is not semi-explicit with constant rows and columns."""
    n = system.size
    if isinstance(system.E, Constant):
        matrix = dense(system.E.matrix)
        if _is_selection(matrix):
            return _selection(matrix)
        u, _, vt = np.linalg.svd(matrix)
        rank = rank_of(matrix)
        return Split(u[:, :rank], u[:, rank:], vt[:rank].T, vt[rank:].T)
    rng = np.random.default_rng(0)
    spread = np.maximum(np.abs(system.sample), 1.0)
    probes = [system.sample, *(system.sample + 1e-2 * spread * rng.standard_normal(n) for _ in range(PROBES))]
    split = _selection(np.max([np.abs(dense(system.E(x))) for x in probes], axis=0))
    if split.U1.shape[1] != split.V1.shape[1]:
        raise ValueError(
            f"E(x) is not semi-explicit: {split.U1.shape[1]} of its rows and {split.V1.shape[1]} of its columns are "
            "not zero; use method='dirac', or transform(...) the system"
        )
    block = split.U1.T @ dense(system.E(system.sample)) @ split.V1
    values = np.linalg.svd(block, compute_uv=False)
    if values.size and values[-1] < RANK * values[0]:
        raise ValueError(
            f"E(x) is singular on its {values.size} states that are not zero (singular values from {values[0]:.1e} to "
            f"{values[-1]:.1e}): use method='dirac', or transform(...) the system ([dg] theorem 8)"
        )
    return split


def _selection(size: Array) -> Split:
    """Rows and columns that are not zero."""
    one = np.eye(len(size))
    rows, columns = size.any(axis=1), size.any(axis=0)
    return Split(one[:, rows], one[:, ~rows], one[:, columns], one[:, ~columns])


def _is_selection(matrix: Array) -> bool:
    """Whether the rows and columns that are not zero make an invertible block."""
    rows, columns = matrix.any(axis=1), matrix.any(axis=0)
    if rows.sum() != columns.sum():
        return False
    values = np.linalg.svd(matrix[np.ix_(rows, columns)], compute_uv=False)
    return not values.size or bool(values[-1] > RANK * values[0])
