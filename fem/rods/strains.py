"""Strains of rods as products of world vectors: Γ_i = d_i·r'/|d_i|, K_i = d_j'·d_k/(|d_j||d_k|), i, j, k cyclic.

In the plane these are Γ₁, Γ₂ and K₃, where both directors have the same length. Interpolated directors are shorter than
one; without the division by their lengths, an element that turns by much would stretch or fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import sparse

from flexph.bodies.nodal_body import DirectorStrain, PointLaw, strain_places
from flexph.discrete_gradients.stored_energies import LineEnergy
from flexph.laws.elastic_laws import ElasticLaw
from flexph.numerics.arrays import Array

from .elements import RodMesh

CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


class _Rows(NamedTuple):
    """Products of vectors at a strain point of a rod, by which its strains are computed.

    There are ``vectors`` vectors: w r', d_1 … d_d, and w d_1', in space also w d_2' and w d_3'. ``first`` and
    ``second`` are the indices of the vectors of each product, ``product`` is the index of the product in each strain.
    ``squares`` (strains, 2) are the products d_i·d_i by whose root the strain is divided, −1 for none.
    """

    vectors: int
    first: list[int]
    second: list[int]
    product: list[int]
    squares: list[list[int]]


def _rows_of(dim: int) -> _Rows:
    """Products of vectors at a strain point that give the strains Γ and K of a rod of dimension ``dim``."""
    if dim == 2:  # d_1·r', d_2·r', d_1'·d_2, d_1·d_1
        return _Rows(4, [1, 2, 3, 1], [0, 0, 2, 1], [0, 1, 2], [[3, -1], [3, -1], [3, 3]])
    first, second = [], []
    for i, j, k in CYCLIC:  # d_i·r', d_j'·d_k, d_i·d_i
        first += [1 + i, 4 + j, 1 + i]
        second += [0, 1 + k, 1 + i]
    squares = [2, 5, 8]
    both = [[squares[j], squares[k]] for _, j, k in CYCLIC]
    return _Rows(7, first, second, [0, 3, 6, 1, 4, 7], [*([n, -1] for n in squares), *both])


def rod_strain(
    mesh: RodMesh, placed: tuple[Array, Array], stiffness: Array, damping: float, laws: Mapping[int, ElasticLaw]
) -> DirectorStrain:
    """Strain energy of a rod that is free of stress with the positions and directors ``placed`` of its nodes.

    ``placed`` are (N, d) and (N, d, d), ``stiffness`` (points, strains) is that of the sections, ``damping`` is β [s],
    and ``laws`` are by the index of the strain. Stresses are (N, Q₂, Q₃, T, M₂, M₃) point by point, in the plane (N,
    Q₂, M₃). The strain rows are the strains times the length assigned to a point.
    """
    (points, count), dim = stiffness.shape, placed[0].shape[1]
    width = 0.5 * mesh.lengths[:, None] * mesh.element.weights
    rows, at = _rows_of(dim), np.arange(points)[:, None]
    each, squares = len(rows.first), np.array(rows.squares)
    pairs = [(rows.vectors * at + np.array(side)).ravel() for side in (rows.first, rows.second)]
    energy = DirectorStrain(
        vectors=_vectors(mesh, placed[1], rows.vectors),
        first=pairs[0],
        second=pairs[1],
        product=(each * at + np.array(rows.product)).ravel(),
        directors=np.where(squares >= 0, each * at[:, :, None] + squares, -1).reshape(-1, 2),
        reference=np.zeros(count * points),
        compliance=sparse.diags_array((width.reshape(-1, 1) / stiffness).ravel()).tocsr(),
        stiffness_damping=damping,
        laws=tuple(PointLaw((count * at + row), width.ravel(), LineEnergy(law)) for row, law in laws.items()),
    )
    return energy.stress_free(strain_places(placed[0], len(placed[0]))[1])


def _vectors(mesh: RodMesh, directors: Array, own: int) -> sparse.csr_array:
    """Sparse matrix (own · points, (d + 1) N) from the vectors of the nodes to those of all strain points.

    A node has d + 1 vectors: its position and its axes. A strain point has the ``own`` vectors of :class:`_Rows`.
    ``directors`` (N, d, d) are those of the undeformed rod.
    """
    element, dim = mesh.element, directors.shape[1]
    count = mesh.lengths.size * element.points.size
    rows, columns, values = [], [], []
    for e, nodes in enumerate(mesh.numbers):
        for q in range(element.points.size):
            row = own * (e * element.points.size + q)
            weight = element.weights[q]  # half the length over that of ξ' cancels
            for a, node in enumerate(nodes):
                base, slope = (dim + 1) * node, weight * element.slope[q, a]
                rows.append(row)
                columns.append(base)
                values.append(slope)
                for i in range(own - 1):
                    factor = element.shape[q, a] if i < dim else slope
                    rows += dim * [row + 1 + i]
                    columns += range(base + 1, base + 1 + dim)
                    values += (factor * directors[node][:, i % dim]).tolist()
    matrix = sparse.csr_array((values, (rows, columns)), shape=(own * count, (dim + 1) * mesh.nodes.size))
    matrix.eliminate_zeros()
    return matrix
