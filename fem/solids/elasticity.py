"""Elastic energy of a solid, evaluated cell by cell: stress operators are assembled only on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.elasticity import LocalElasticity, StressBasis
from flexph.numerics.arrays import Array
from flexph.numerics.factors.positive_definite import MANY, SMALL
from flexph.numerics.memo import once

from .model import Part, SolidModel, node_pairs, strain_terms

KEPT = 4_000_000
"""Entries up to which the stress basis of a reduced body is a matrix (32 MB)."""


@dataclass(frozen=True)
class SolidElasticity(LocalElasticity):
    """Elastic energy of a solid with linear strain in coordinates u, with nodal displacements ``shapes @ u``.

    ``shapes`` is (N·d, n). The stresses are C⁻¹D₀u with the compliance C and the strain operator D₀ at u = 0, which
    here is D at every u.
    """

    model: SolidModel
    shapes: Any
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0
    viscous: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of stress coordinates and number of flexible coordinates, (m, n)."""
        return self.model.components * len(self.model.weights), int(self.shapes.shape[1])

    @once
    def compliance(self) -> Any:
        """Compliance C, sparse."""
        return self.model.compliance

    @once
    def strain(self) -> Any:
        """Strain operator D, sparse."""
        return sparse.csr_array(self.model.strain @ self.shapes)

    @once
    def slopes(self) -> Any:
        """Matrix of the slopes of a nonlinear strain: empty, as this strain is linear."""
        return sparse.csr_array((0, self.shape[1]))

    @once
    def weights(self) -> Any:
        """Weights of a nonlinear strain: an empty matrix."""
        return sparse.csr_array((self.shape[0], 0))

    def stiffness(self) -> Any:
        """Stiffness K (n, n), summed over the cells; None if it does not pay to condense the stresses.

        That is so for a small body, and for one with few stresses for each coordinate.
        """
        m, n = self.shape
        if n <= SMALL or m < MANY * n:
            return None
        return sparse.csr_array(self.shapes.T @ (nodal_stiffness(self.model) @ self.shapes))

    def energies(self, vectors: Array) -> Array:
        """Matrix VᵀKV (k, k) of displacements ``vectors`` V (n, k), from the strains of the cells."""
        whole = np.zeros((vectors.shape[1],) * 2)
        for part, strain in self._strains(vectors):
            stress = part.points.weights[:, :, None, None] * self._stress(part, strain)
            whole += strain.reshape(-1, len(whole)).T @ stress.reshape(-1, len(whole))
        return 0.5 * (whole + whole.T)

    def parts(self, vectors: Array) -> Iterator[tuple[slice, Array]]:
        """Yield slices of the stress coordinates, with the stresses C⁻¹D₀V there for k displacements V.

        ``vectors`` V are (n, k). A slice is for one chunk of cells.
        """
        for part, strain in self._strains(vectors):
            first, count = self.model.components * part.first, strain.shape[0] * strain.shape[1] * strain.shape[2]
            yield slice(first, first + count), self._stress(part, strain).reshape(count, -1)

    def stress_basis(self, vectors: Array) -> Any:
        """Stresses C⁻¹D₀V (m, k) for displacements ``vectors`` V (n, k), as a matrix or an operator.

        If the matrix would be large, the result is an operator, which computes the stresses on request.
        """
        basis = StressBasis(self, vectors)
        return basis if self.size * vectors.shape[1] > KEPT else basis @ np.eye(vectors.shape[1])

    def _strains(self, vectors: Array) -> Iterator[tuple[Part, Array]]:
        """Yield chunks of cells with their strains (cells, q, components, k) at the q stress points of each.

        ``vectors`` (n, k) are the displacements.
        """
        model, d = self.model, self.model.dim
        moved = (self.shapes @ vectors).reshape(-1, d * vectors.shape[1])
        terms = strain_terms(d).swapaxes(1, 2).reshape(-1, d * d)
        for part in model.parts():
            k, q, n, _ = part.points.gradients.shape
            nodes = model.mesh.blocks[part.block].nodes[part.cells]
            slopes = part.points.gradients.swapaxes(2, 3).reshape(k, q * d, n) @ moved[nodes]
            yield part, terms @ slopes.reshape(k, q, d * d, -1)

    def _stress(self, part: Part, strain: Array) -> Array:
        """Stresses (cells, q, components, k) from the strains of the cells of a ``part``, of the same shape."""
        return self.model.moduli[self.model.material(part)][:, None] @ strain


def nodal_stiffness(model: SolidModel) -> Any:
    """Stiffness K (N·d, N·d) over the nodal displacements.

    It is summed from the integrals ∫∂_jN_a ∂_lN_b of all pairs of nodes (a, b), contracted with the moduli.
    """
    pairs, d = node_pairs(model.mesh), model.dim
    terms = strain_terms(d)
    moduli = np.einsum("cij,mce,ekl->mjlik", terms, model.moduli, terms).reshape(-1, d * d, d * d)
    values = np.zeros((len(pairs.second), d * d))
    for part in model.parts():
        k, q, n, _ = part.points.gradients.shape
        slopes = part.points.gradients.reshape(k, q, n * d)
        weights: Array = part.points.weights[:, :, None]
        weighted = np.swapaxes(slopes * weights, 1, 2)
        products = np.swapaxes((weighted @ slopes).reshape(k, n, d, n, d), 2, 3).reshape(k, n * n, d * d)
        values += pairs.summed(part.block, part.cells, products @ moduli[model.material(part)])
    return pairs.matrix(values.reshape(-1, d, d))
