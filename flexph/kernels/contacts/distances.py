"""Distances of closed contacts at rest as functions of products of world vectors, with their first two derivatives.

At rest a contact is a spring on the distance d of its gap, or the constraint d = c. With a force F on the distances,
the forces on the products are F ∂d/∂π, and F ∂²d/∂π² is part of the stiffness. For squares D = d² of distances

    ∂d = ∂D / 2d,    ∂²d = ∂²D / 2d − ∂D ∂Dᵀ / 4d³.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ..surfaces.closest import distance
from ..surfaces.faces import face_squares
from ..surfaces.segments import squares
from ..surfaces.surfaces import GRADIENT, PLACES, VALUE, Surfaces

Index = np.ndarray
TINY = float(np.finfo(float).tiny)
SLOPE, SEGMENT_BENT, FACE_BENT, CURVED = 3, 7, 9, 11
"""First indices of the gradient and of the second derivatives in the results for segments, faces and surfaces."""
FACE, SEGMENT = 6, 4
"""Number of products on which the distances to triangles and of segments depend."""
OF_TWO = (0, 1, 3)
"""Indices of the products of a face of two corners among those of a triangle."""


class Distance(NamedTuple):
    """Distance of a contact as a function of the products with given indices.

    Its kind is "shape" (of a point from a box or mesh, whose products are coordinates in the axes of the surface),
    "segments" (of two segments) or "face" (of a point from a face). It is closed at the distance ``reach`` [m].
    """

    kind: str
    products: Index
    shape: Surfaces | None = None
    blend: float = 0.0
    reach: float = 0.0

    def at(self, product: Array) -> tuple[float, Array, Array]:
        """Value [m], gradient (k,) and second derivatives (k, k) with respect to the products, at all products (p,)."""
        x = product[self.products]
        return {"shape": self._surface, "segments": self._segments, "face": self._face}[self.kind](x)

    def _surface(self, x: Array) -> tuple[float, Array, Array]:
        dim, places, near, bent = x.size, np.zeros((2, 3)), np.zeros((2, PLACES)), np.zeros((4, 3))
        places[:, :dim] = x
        distance(self.shape, 0, dim, places, self.blend, (near, bent))
        curved = near[0, CURVED : CURVED + 9].reshape(3, 3)[:dim, :dim]
        return float(near[0, VALUE]), near[0, GRADIENT : GRADIENT + dim], curved

    def _segments(self, x: Array) -> tuple[float, Array, Array]:
        near, bent = np.zeros((2, PLACES)), np.zeros((5, 4))
        squares(np.array([x, x]), near, bent)
        slope, curved = np.zeros(x.size), np.zeros((x.size, x.size))  # the squares of rigid half lengths are constant
        slope[:SEGMENT] = near[0, SLOPE : SLOPE + SEGMENT]
        curved[:SEGMENT, :SEGMENT] = near[0, SEGMENT_BENT : SEGMENT_BENT + SEGMENT**2].reshape(SEGMENT, SEGMENT)
        return _root(near[0, 0], slope, curved)

    def _face(self, x: Array) -> tuple[float, Array, Array]:
        entries = np.arange(FACE) if x.size == FACE else np.array(OF_TWO)
        near, bent, whole = np.zeros((2, PLACES)), np.zeros((7, 6)), np.zeros((2, FACE))
        whole[:, entries] = x
        face_squares(np.array([[3.0 if x.size == FACE else 2.0]]), whole, near, bent)
        curved = near[0, FACE_BENT : FACE_BENT + FACE**2].reshape(FACE, FACE)
        return _root(near[0, 0], near[0, SLOPE : SLOPE + FACE][entries], curved[np.ix_(entries, entries)])


def closest_of_face(vectors: Array) -> tuple[float, Array]:
    """Distance [m] from the centre of a ball to a face, and the vector (d,) from this centre to the closest point.

    ``vectors`` (k, d) are V from the first corner of the face to the centre, and the sides W and, for triangles, U.
    """
    V, W, U = np.concatenate([vectors, np.zeros((3 - len(vectors), vectors.shape[1]))])
    x = np.array([V @ V, V @ W, V @ U, W @ W, W @ U, U @ U])
    near, bent = np.zeros((2, PLACES)), np.zeros((7, 6))
    face_squares(np.array([[float(len(vectors))]]), np.array([x, x]), near, bent)
    foot = near[0, 1] * W + near[0, 2] * U - V
    return float(np.linalg.norm(foot)), foot


def _root(square: float, slope: Array, curved: Array) -> tuple[float, Array, Array]:
    """Value, gradient and second derivatives of d = √D, from the same three of D."""
    d = float(np.sqrt(max(square, TINY)))
    slope = slope / (2.0 * d)
    return d, slope, curved / (2.0 * d) - np.outer(slope, slope) / d


class ClosedGap(NamedTuple):
    """Constraint row Σ w d of distances of closed contacts, with its index among all rows."""

    row: int
    weights: tuple[float, ...]
    distances: tuple[Distance, ...]


def distance_values(distances: tuple[Distance, ...], product: Array) -> Array:
    """Distances (n, …) [m] at products (p, …)."""
    if product.ndim == 1:
        return np.array([term.at(product)[0] for term in distances])
    return np.array([[term.at(at)[0] for at in product.T] for term in distances]).reshape(-1, product.shape[1])


def distance_rows(distances: tuple[Distance, ...], product: Array) -> Any:
    """Derivatives (n, p) of distances with respect to the products, sparse."""
    slopes = [term.at(product)[1] for term in distances]
    rows = np.repeat(np.arange(len(distances)), [slope.size for slope in slopes])
    columns = np.concatenate([term.products for term in distances])
    shape = (len(distances), product.size)
    return sparse.coo_array((np.concatenate(slopes), (rows, columns)), shape=shape).tocsr()


def distance_curvature(distances: tuple[Distance, ...], product: Array, force: Array, *, absolute: bool = False) -> Any:
    """Second derivatives of Σ F d with respect to the products at constant forces F (n,), sparse (p, p).

    With ``absolute`` each is the sum of the absolute values of its terms.
    """
    blocks = [f * term.at(product)[2] for term, f in zip(distances, force.tolist(), strict=True)]
    entries = np.concatenate([block.ravel() for block in blocks])
    rows = np.concatenate([np.repeat(term.products, term.products.size) for term in distances])
    columns = np.concatenate([np.tile(term.products, term.products.size) for term in distances])
    shape = (product.size, product.size)
    return sparse.coo_array((np.abs(entries) if absolute else entries, (rows, columns)), shape=shape).tocsr()


def distance_slope_changes(distances: tuple[Distance, ...], product: Array, rate: Array) -> Any:
    """Derivatives (n, p) of Σ_j ∂d/∂π_j π̇_j with respect to the products at constant rates π̇ (p,), sparse."""
    changes = np.zeros((len(distances), product.size))
    for row, term in zip(changes, distances, strict=True):
        np.add.at(row, term.products, term.at(product)[2] @ rate[term.products])
    return sparse.csr_array(changes)


def closed_gaps(gaps: tuple[ClosedGap, ...], product: Array, count: int) -> Array:
    """Sums Σ w d of closed contacts in their rows (g,); zero in all other rows."""
    sums = np.zeros(count)
    for gap in gaps:
        sums[gap.row] = np.dot(gap.weights, distance_values(gap.distances, product))
    return sums


def closed_rows(gaps: tuple[ClosedGap, ...], product: Array, count: int) -> Any:
    """Derivatives of the sums Σ w d with respect to the products, sparse (g, p)."""
    weights, distances = _weighed(gaps, np.ones(count))
    row = np.array([gap.row for gap in gaps for _ in gap.weights])
    spread = sparse.coo_array((weights, (row, np.arange(row.size))), shape=(count, row.size))
    return spread.tocsr() @ distance_rows(distances, product)


def closed_curvature(gaps: tuple[ClosedGap, ...], product: Array, multipliers: Array) -> Any:
    """Second derivatives, with respect to the products, of the sums Σ w d times multipliers λ (g,); sparse (p, p)."""
    forces, distances = _weighed(gaps, multipliers)
    return distance_curvature(distances, product, forces)


def _weighed(gaps: tuple[ClosedGap, ...], factors: Array) -> tuple[Array, tuple[Distance, ...]]:
    """Weights of all distances times the factors (g,) of their rows, and the distances."""
    weights = np.array([factors[gap.row] * weight for gap in gaps for weight in gap.weights])
    return weights, tuple(term for gap in gaps for term in gap.distances)
