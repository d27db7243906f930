"""Integrals over facets of meshes against closed forms of plane ones."""

import numpy as np
import pytest

from flexph.meshes.cell_types import NODES, REFERENCE, SHAPE
from flexph.meshes.facets import samples

FACETS = ("line", "line3", "triangle", "triangle6", "quad", "quad8", "quad9")


@pytest.mark.parametrize("kind", FACETS)
def test_areas_and_moments_of_plane_facets(kind):
    """Under an affine map the area is times its Gram determinant, and ∫x over the reference facet is known, in space.

    Simplices of dimension d have the area 1/d! and their centroid in the mean of the corners, as cubes have.
    """
    corners = REFERENCE[SHAPE[kind]]
    nodes = np.array([corners[list(node)].mean(axis=0) for node in NODES[kind]])
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((3, corners.shape[1])), rng.standard_normal(3)
    points = nodes @ A.T + b
    shapes, shares = samples(points, (kind, np.arange(len(nodes))[None]))
    area = np.sqrt(np.linalg.det(A.T @ A)) * (0.5 if SHAPE[kind] == "triangle" else 1.0)
    assert shares.sum() == pytest.approx(area, rel=1e-13)
    centre = A @ corners.mean(axis=0) + b
    np.testing.assert_allclose(shares[0] @ shapes @ points, area * centre, atol=1e-13)


@pytest.mark.parametrize("kind", ["triangle6", "quad8", "quad9"])
def test_squares_are_integrated_exactly(kind):
    """∫x² over the unit triangle is 1/12, over the unit square 1/3; ∫xy is 1/24 and 1/4."""
    corners = REFERENCE[SHAPE[kind]]
    nodes = np.array([corners[list(node)].mean(axis=0) for node in NODES[kind]])
    shapes, shares = samples(nodes, (kind, np.arange(len(nodes))[None]))
    x, y = (shapes @ nodes).T
    wanted = (1.0 / 12.0, 1.0 / 24.0) if SHAPE[kind] == "triangle" else (1.0 / 3.0, 1.0 / 4.0)
    np.testing.assert_allclose([shares[0] @ x**2, shares[0] @ (x * y)], wanted, rtol=1e-13)
