"""Split of a descriptor matrix into differential and algebraic parts, for gradient pairs and collocation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dgecon as gecon
from scipy.linalg.lapack import dgetrf as getrf
from scipy.linalg.lapack import dgetrs as getrs
from scipy.linalg.lapack import dlange as lange

from ..numerics.arrays import Array, dense
from ..numerics.memo import Memo, once
from ..numerics.ranks import equilibrated, rank_of, subspaces
from ..numerics.step_failed import StepFailed
from ..systems.nonlinear import PHDAE, Constant

REGULAR = 1e-8
"""Reciprocal condition number of a scaled matrix above which the scaling is reused: at least half of the digits
remain."""
PROBES, NEARBY = 3, 1e-2
"""PROBES states near the sample, at the relative distance NEARBY, at which entries of a varying E that are always zero
are detected."""


@dataclass(frozen=True, eq=False)
class Split(Memo):
    """Split of E with invertible ``U₁ᵀ E V₁`` and E = U₁U₁ᵀ E V₁V₁ᵀ.

    For a constant E it is the singular value decomposition ([dg] proposition 2), for a semi-explicit one the selection
    of its non-zero rows and columns ([dg] definition 10).

    U₁, V₁ (n, r), U₂, V₂ (n, n − r) are orthonormal and constant. V₁ᵀx are the differential, V₂ᵀx the algebraic states.
    """

    U1: Array
    U2: Array
    V1: Array
    V2: Array

    def differential(self, x: Array) -> Array:
        """Differential part V₁V₁ᵀx (n,) of a state."""
        return self.onto_states @ x if self._states is None else self._states * x

    def middle(self, x0: Array, x1: Array) -> Array:
        """State at which functions are evaluated in a step: mean differential states, algebraic states of the end."""
        return x1 - 0.5 * self.differential(x1 - x0)

    def kernel_part(self, z: Array) -> Array:
        """Part U₂U₂ᵀz (n,) of a costate, which Eᵀ maps to zero."""
        return self.onto_costates @ z if self._costates is None else self._costates * z

    def costate_map(self, E: Array, scaling: Scaling | None = None) -> CostateMap:
        """Map from gradients to costates. Raises StepFailed if there is none ([dg] (A1))."""
        return CostateMap(self, E, scaling)

    def scaling(self, E: Array) -> Scaling:
        """Factors by which rows and columns of the block U₁ᵀEV₁ are divided before its factorisation."""
        _, rows, columns = equilibrated(self.own(E).T)
        return Scaling(rows, columns, rows[:, None] * columns)

    def to_costates(self, E: Array) -> Array:
        """Matrix ``U₁ (U₁ᵀEV₁)⁻ᵀ V₁ᵀ`` (n, n), which maps gradients to costates."""
        return np.asarray(self.costate_map(E))

    def own(self, E: Array) -> Array:
        """Invertible block U₁ᵀEV₁ (r, r) of E."""
        chosen = self.chosen
        return self.U1.T @ E @ self.V1 if chosen is None else E[chosen[0][:, None], chosen[1]]

    @once
    def chosen(self) -> tuple[Array, Array] | None:
        """Row and column indices of U₁ᵀEV₁ in E if U₁ and V₁ select rows and columns, else None."""
        if not all(np.array_equal(U, U != 0.0) and np.all(U.sum(axis=0) == 1.0) for U in (self.U1, self.V1)):
            return None
        return self.U1.argmax(axis=0), self.V1.argmax(axis=0)

    @once
    def onto_states(self) -> Array:
        """Projector V₁V₁ᵀ."""
        return self.V1 @ self.V1.T

    @once
    def onto_costates(self) -> Array:
        """Projector U₂U₂ᵀ."""
        return self.U2 @ self.U2.T

    @property
    def is_selection(self) -> bool:
        """True if V₁V₁ᵀ and U₂U₂ᵀ are diagonal: each state and equation is either differential or algebraic."""
        return self._states is not None and self._costates is not None

    @once
    def _states(self) -> Array | None:
        return _diagonal(self.onto_states)

    @once
    def _costates(self) -> Array | None:
        return _diagonal(self.onto_costates)


class Scaling(NamedTuple):
    """Factors of rows (r,) and columns (r,), and their products ``both`` (r, r), by which a matrix is divided."""

    rows: Array
    columns: Array
    both: Array


class CostateMap:
    """Map ``U₁ (U₁ᵀEV₁)⁻ᵀ V₁ᵀ`` from gradients to costates, applied by solving with factors of U₁ᵀEV₁.

    ``numpy.asarray`` gives its matrix.

    A ``scaling`` of another E is reused if the scaled matrix is well conditioned.
    """

    def __init__(self, split: Split, E: Array, scaling: Scaling | None = None) -> None:
        self.split = split
        matrix = split.own(E).T
        if scaling is not None:
            self.rows, self.columns = scaling.rows, scaling.columns
            if self._factorise(matrix / scaling.both, REGULAR):
                return
        A, self.rows, self.columns = equilibrated(matrix)
        if not self._factorise(A, float(np.finfo(float).eps)):
            raise StepFailed("Ē is singular on the differential states over the step", 0, np.inf)

    def _factorise(self, A: Array, least: float) -> bool:
        """Factorise A and store the factors; True if its reciprocal condition number is above ``least``."""
        self.factors, self.pivots, failed = getrf(A)
        return not A.size or (not failed and bool(gecon(self.factors, lange("1", A))[0] > least))

    def __matmul__(self, gradient: Array) -> Array:
        """Costates of gradients (n,) or (n, k)."""
        split, chosen = self.split, self.split.chosen
        right = split.V1.T @ gradient if chosen is None else gradient[chosen[1]]
        if not right.size:
            return np.zeros(gradient.shape)
        scaled, columns = (right.T / self.rows).T, self.columns
        solved = (getrs(self.factors, self.pivots, scaled)[0].T / columns).T
        if chosen is None:
            return split.U1 @ solved
        costates = np.zeros(gradient.shape)
        costates[chosen[0]] = solved
        return costates

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Matrix (n, n) of the map."""
        return np.asarray(self @ np.eye(self.split.U1.shape[0]), dtype=dtype)


def _diagonal(matrix: Array) -> Array | None:
    """Diagonal of a diagonal matrix, whose products with vectors are cheaper; None for any other matrix."""
    diagonal = np.diag(matrix).copy()
    return None if np.any(matrix != np.diag(diagonal)) else diagonal


def split_of(E: Array) -> Split:
    """Split of a constant matrix E by its singular value decomposition."""
    spaces = subspaces(E)
    return Split(spaces.range, spaces.left_null, spaces.rows, spaces.null)


class ParametrizedDescriptor:
    """Descriptor ``E(x) = [[1, 0, 0], [0, 0, 0], [0, E₃₂(x), 1]]`` for x = (x₁, x₂, θ), [dg] eq. (37).

    ``sizes`` are the sizes of x₁, x₂ and θ, ``coupling`` is the function E₃₂ of x.
    """

    def __init__(self, sizes: tuple[int, int, int], coupling: Callable[[Array], Array]) -> None:
        n1, n2, n3 = sizes
        self.size, self.coupling = n1 + n2 + n3, coupling
        self.first, self.second, self.third = slice(0, n1), slice(n1, n1 + n2), slice(n1 + n2, self.size)

    def __call__(self, x: Array) -> Array:
        """Matrix E(x)."""
        E = np.eye(self.size)
        E[self.second, self.second] = 0.0
        E[self.third, self.second] = self.coupling(x)
        return E


def differential_split(system: PHDAE) -> Split | None:
    """Split of E into differential and algebraic parts; None if no constant split exists.

    A varying E has a constant split if the block of its non-zero rows and columns is invertible. For a
    :class:`ParametrizedDescriptor` x₂ is algebraic, x₁ and θ are differential.
    """
    if isinstance(system.E, ParametrizedDescriptor):
        return selection(system.size, system.E.first, system.E.third)
    if isinstance(system.E, Constant):
        return split_of(dense(system.E.matrix))
    split = _selection(np.max([np.abs(E) for E in probes(system)], axis=0))
    block = split.U1.T @ dense(system.E(system.sample)) @ split.V1
    invertible = block.shape[0] == block.shape[1] == rank_of(block)
    return split if invertible else None


def differential_states(system: PHDAE) -> tuple[Array, Array]:
    """Bases V₁ (n, r) and V₂ (n, n − r) of the differential states V₁ᵀx and the algebraic states V₂ᵀx.

    If the null space of E varies, all states count as differential: the identity and (n, 0).
    """
    split = differential_split(system)
    if split is not None:
        return split.V1, split.V2
    spaces = subspaces(np.vstack(probes(system)))
    if spaces.rows.shape[1] > rank_of(dense(system.E(system.sample))):
        return np.eye(system.size), np.zeros((system.size, 0))
    return spaces.rows, spaces.null


def null_space_varies(system: PHDAE) -> bool:
    """True if E is singular with a varying null space, so that no state is algebraic."""
    if isinstance(system.E, Constant | ParametrizedDescriptor) or differential_states(system)[1].size:
        return False
    return rank_of(dense(system.E(system.sample))) < system.size


def probes(system: PHDAE, state: Array | None = None) -> list[Array]:
    """Values of E at a state, by default the sample, and at random states near it.

    Distances are relative to the size of each state.
    """
    rng, x = np.random.default_rng(0), system.sample if state is None else state
    size = np.where(x != 0.0, np.abs(x), system.floor(x))
    size = np.where(size > 0.0, size, 1.0)
    around = [x + NEARBY * size * rng.standard_normal(x.size) for _ in range(PROBES)]
    return [dense(system.E(state)) for state in (x, *around)]


def selection(n: int, *kept: slice) -> Split:
    """Split of a matrix E (n, n) whose rows and columns are zero except in the slices ``kept``."""
    chosen = np.zeros(n, dtype=bool)
    for part in kept:
        chosen[part] = True
    return _selection(np.diag(chosen))


def _selection(size: Array) -> Split:
    """Split that selects the rows and columns of a matrix that are not zero, from the sizes of its entries."""
    one = np.eye(len(size))
    rows, columns = size.any(axis=1), size.any(axis=0)
    return Split(one[:, rows], one[:, ~rows], one[:, columns], one[:, ~columns])
