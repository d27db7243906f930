"""Strains of rods as products of world vectors: Γ_i = d_i·r'/|d_i|, K_i = d_j'·d_k/(|d_j||d_k|), i, j, k cyclic.

Interpolated directors are shorter than one; without the division by their lengths, an element that turns by much
would stretch or fold.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from flexph.bodies.nodal_body import DirectorStrain, strain_places
from flexph.numerics.arrays import Array

from .elements import RodMesh

CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def rod_strain(mesh: RodMesh, placed: tuple[Array, Array], stiffness: Array, damping: float) -> DirectorStrain:
    """Strains at all points of a mesh from the nodes' positions (N, 3) and directors (N, 3, 3), stress-free there.

    ``stiffness`` (points, 6). Stresses are (N, Q₂, Q₃, T, M₂, M₃) point by point; the rows are the strains times the
    length assigned to a point.
    """
    points: int = stiffness.shape[0]
    width = 0.5 * mesh.lengths[:, None] * mesh.element.weights
    vectors = _vectors(mesh, placed[1])
    first, second = [], []
    for i, j, k in CYCLIC:  # d_i·r', d_j'·d_k, d_i·d_i of the vectors w r', d_1 … d_3, w d_1' … w d_3'
        first += [1 + i, 4 + j, 1 + i]
        second += [0, 1 + k, 1 + i]
    product = np.array([0, 3, 6, 1, 4, 7])
    squares = [2, 5, 8]
    directors = np.array([*([n, -1] for n in squares), *([squares[j], squares[k]] for _, j, k in CYCLIC)])
    at = np.arange(points)[:, None]
    energy = DirectorStrain(
        vectors=vectors,
        first=(7 * at + np.array(first)).ravel(),
        second=(7 * at + np.array(second)).ravel(),
        product=(9 * at + product).ravel(),
        directors=np.where(directors >= 0, 9 * at[:, :, None] + directors, -1).reshape(-1, 2),
        reference=np.zeros(6 * points),
        compliance=sparse.diags_array((width.reshape(-1, 1) / stiffness).ravel()).tocsr(),
        stiffness_damping=damping,
    )
    return energy.stress_free(strain_places(placed[0], len(placed[0]))[1])


def _vectors(mesh: RodMesh, directors: Array) -> sparse.csr_array:
    """w r', the directors and w times their derivatives at all points, over the node vectors, (7 points, 4N)."""
    element = mesh.element
    count = mesh.lengths.size * element.points.size
    rows, columns, values = [], [], []
    for e, nodes in enumerate(mesh.numbers):
        for q in range(element.points.size):
            row = 7 * (e * element.points.size + q)
            weight = element.weights[q]  # half the length over that of ξ' cancels
            for a, node in enumerate(nodes):
                shape, slope = element.shape[q, a], weight * element.slope[q, a]
                rows.append(row)
                columns.append(4 * node)
                values.append(slope)
                for i in range(3):
                    rows += [row + 1 + i] * 3 + [row + 4 + i] * 3
                    columns += 2 * [4 * node + 1, 4 * node + 2, 4 * node + 3]
                    values += [*(shape * directors[node][:, i]), *(slope * directors[node][:, i])]
    matrix = sparse.csr_array((values, (rows, columns)), shape=(7 * count, 4 * mesh.nodes.size))
    matrix.eliminate_zeros()
    return matrix
