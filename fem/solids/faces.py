"""Samples with tangents on loaded faces that deform, for follower loads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.body import FaceSamples
from flexph.numerics.arrays import Array, rows_at

from ..meshes.cells import table
from ..meshes.solid_mesh import facet_groups
from .model import SolidModel

PARALLEL = 1e-6
"""Sine of the angle between a direction and the normal of a face below which it defines no tangent."""


def face_samples(model: SolidModel, positions: Any, facets: Array, *, name: str, given: Any) -> FaceSamples:
    """Samples of a load on facets; ``positions`` (N, k) is the matrix from the k places of the body to the mesh nodes.

    Quadrature is exact for the volume behind cells with straight edges. Raises ValueError if the direction of the
    load is along a normal.
    """
    rows: list[list[Any]] = [[], [], []]
    areas, element = [], []
    for kind, nodes, pick in facet_groups(model.mesh, facets):
        shapes, slopes, weights = table(kind.name, kind.mass)
        tangents = np.einsum("kni,njq->kqji", model.mesh.points[nodes], slopes)
        directions, area = _in_space(name, given.along, tangents) if model.dim == 3 else _in_plane(tangents)
        by_direction = np.einsum("njq,kqjc->ckqn", slopes, directions)
        for own, values in zip(rows, (shapes.T, *by_direction), strict=False):
            own.append(rows_at(values, nodes, len(model.mesh.points)))
        areas.append(model.thickness * (area * weights).ravel())
        element.append(np.repeat(np.zeros_like(pick) if given.uniform else pick, len(weights)))
    samples = np.concatenate(areas)
    none = sparse.csr_array((samples.size, positions.shape[0]))
    points, along, across = (sparse.csr_array((sparse.vstack(own) if own else none) @ positions) for own in rows)
    return FaceSamples(points, along, across, samples, np.concatenate(element))


def _in_plane(tangents: Array) -> tuple[Array, Array]:
    """Derivatives ∂ξ/∂s (k, q, 1, 1) along the unit tangent, and |∂X/∂ξ|; the normal is the tangent turned by −90°."""
    size = np.linalg.norm(tangents[:, :, 0], axis=2)
    return (1.0 / size)[:, :, None, None], size


def _in_space(name: str, along: Any, tangents: Array) -> tuple[Array, Array]:
    """Derivatives ∂ξ_j/∂s_c (k, q, 2, 2) for orthonormal tangents, the first along the direction.

    Also the ratio of areas, |∂X/∂ξ₁ × ∂X/∂ξ₂|.
    """
    normal = np.cross(tangents[:, :, 0], tangents[:, :, 1])
    area = np.linalg.norm(normal, axis=2)
    normal = normal / area[:, :, None]
    wanted = _most_in_face(normal) if along is None else np.broadcast_to(np.asarray(along), normal.shape)
    first = wanted - np.einsum("kqi,kqi->kq", wanted, normal)[:, :, None] * normal
    size = np.linalg.norm(first, axis=2)
    if size.min() < PARALLEL * np.linalg.norm(wanted, axis=2).max():
        raise ValueError(f"load {name!r}: along must not be along a normal of its faces, got {tuple(along)}")
    first = first / size[:, :, None]
    both = np.stack([first, np.cross(normal, first)], axis=3)  # (k, q, i, c)
    return np.linalg.pinv(np.swapaxes(tangents, 2, 3)) @ both, area


def _most_in_face(normal: Array) -> Array:
    """Body axis with the smallest component of each normal, the first of equal ones."""
    axes: Array = np.eye(3)[np.argmin(np.round(np.abs(normal), 9), axis=2)]
    return axes
