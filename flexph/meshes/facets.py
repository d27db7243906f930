"""Facets of cells: boundary facets, shape functions and areas."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from ..numerics.arrays import Array
from ..numerics.gauss_tableau import gauss_points
from .cell_types import FACETS, NODES, REFERENCE, SHAPE, facet_nodes

Facets = tuple[str, Array]
"""The cell type of k facets, and their nodes (k, n)."""
POINTS = 3
"""Gauss points in each direction; exact on plane facets of degree 2."""
MONOMIALS = {
    "line": ((0,), (1,)),
    "line3": ((0,), (1,), (2,)),
    "triangle": ((0, 0), (1, 0), (0, 1)),
    "triangle6": ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)),
    "quad": ((0, 0), (1, 0), (0, 1), (1, 1)),
    "quad8": ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (2, 1), (1, 2)),
    "quad9": tuple((i, j) for i in range(3) for j in range(3)),
}
"""Exponents of the monomials that span the shape functions of each facet type."""


def boundary(cells: Iterable[Facets]) -> list[Facets]:
    """Facets on the boundary of cells, as (type, nodes): those that belong to one cell only.

    The cells are given in blocks (type, nodes (k, n)).
    """
    candidates = [
        (kind, nodes[:, local], len(FACETS[SHAPE[name]][i]))
        for name, nodes in cells
        for i in range(len(FACETS[SHAPE[name]]))
        for kind, local in [facet_nodes(name, i)]
    ]
    keys = [
        np.pad(np.sort(nodes[:, :c], axis=1), [(0, 0), (0, 4 - c)], constant_values=-1) for _, nodes, c in candidates
    ]
    if not keys:
        return []
    _, label, count = np.unique(np.vstack(keys), axis=0, return_inverse=True, return_counts=True)
    alone = np.split(count[label.ravel()] == 1, np.cumsum([len(k) for k in keys])[:-1])
    return [(kind, nodes[mask]) for (kind, nodes, _), mask in zip(candidates, alone, strict=True) if mask.any()]


def samples(points: Array, facets: Facets) -> tuple[Array, Array]:
    """Shape functions (q, n) at q quadrature points of k facets, and weights (k, q) that sum to the areas."""
    kind, nodes = facets
    shapes, slopes, weights = _rule(kind)
    tangents = np.einsum("kni,qnj->kqji", points[nodes], slopes)
    gram = np.einsum("kqai,kqbi->kqab", tangents, tangents)
    return shapes, np.sqrt(np.linalg.det(gram)) * weights


@lru_cache(maxsize=16)
def _rule(kind: str) -> tuple[Array, Array, Array]:
    """Shape functions (q, n), their gradients (q, n, d) and weights (q,) at the Gauss points of a facet type.

    q is the number of Gauss points, n that of nodes, d the dimension of the facet; gradients are with respect to
    reference coordinates.
    """
    corners = REFERENCE[SHAPE[kind]]
    nodes = np.array([corners[list(node)].mean(axis=0) for node in NODES[kind]])
    dim = corners.shape[1]
    x, w = gauss_points(POINTS)
    at = np.stack(np.meshgrid(*[x] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    weights = np.prod(np.stack(np.meshgrid(*[w] * dim, indexing="ij"), axis=-1).reshape(-1, dim), axis=1)
    if SHAPE[kind] == "triangle":  # the square collapsed to a triangle
        weights = weights * (1.0 - at[:, 0])
        at = np.column_stack([at[:, 0], at[:, 1] * (1.0 - at[:, 0])])
    powers = np.array(MONOMIALS[kind])
    values = lambda points, p: np.prod(points[:, None, :] ** p, axis=2)  # noqa: E731
    inverse = np.linalg.inv(values(nodes, powers))
    slopes = [
        powers[:, j] * values(at, np.maximum(powers - np.eye(dim, dtype=int)[j], 0)) @ inverse for j in range(dim)
    ]
    return values(at, powers) @ inverse, np.stack(slopes, axis=2), weights
