"""Surfaces that are drawn: closed, with the right volume, and moving as the sections they are swept from."""

import numpy as np
import pytest

from flexph.drawing import box_shape, cylinder_shape, sphere_shape
from flexph.drawing.shapes import SweptSection

TRAPEZIUM = np.array([[0.0, 0.0], [2.0, 0.0], [1.5, 1.0], [0.5, 1.0]])
"""A section without symmetry about its origin, of the area 1.5."""


def volume(points, triangles):
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    return np.einsum("ki,ki->", a, np.cross(b, c)) / 6.0


def is_closed(points, triangles):
    """Each edge bounds two triangles, which run along it in opposite senses; points of equal place are one."""
    _, number = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    edges = number.ravel()[triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    once = {tuple(edge) for edge in edges.tolist()}
    return len(once) == len(edges) and once == {(b, a) for a, b in once}


@pytest.mark.parametrize(
    "shape",
    [
        box_shape((1.0, 2.0, 3.0)),
        cylinder_shape(2.0, 0.5),
        cylinder_shape(2.0, 0.5, inner_radius=0.3),
        sphere_shape(1.0),
    ],
)
def test_shapes_have_no_hole(shape):
    assert is_closed(shape.points, shape.triangles)


def test_a_tube_has_the_volume_between_two_cylinders():
    tube, outer, inner = cylinder_shape(2.0, 0.5, inner_radius=0.3), cylinder_shape(2.0, 0.5), cylinder_shape(2.0, 0.3)
    expected = volume(outer.points, outer.triangles) - volume(inner.points, inner.triangles)
    assert volume(tube.points, tube.triangles) == pytest.approx(expected, rel=1e-12)


def test_a_swept_section_encloses_its_area_times_the_length():
    """The area of a polygon by its corners; its senses turn from y to z about the line along x."""
    sweep, at = SweptSection(TRAPEZIUM, None), np.array([0.0, 0.4, 3.0])
    across, _ = sweep.offsets(3)
    points = (np.multiply.outer(at, [1.0, 0.0, 0.0])[:, None] + across).reshape(-1, 3)
    sides = sweep.sides(len(at))
    triangles = np.vstack([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]], sweep.caps(len(at))])
    assert is_closed(points, triangles)
    assert volume(points, triangles) == pytest.approx(1.5 * 3.0, rel=1e-12)


def test_corners_of_a_section_move_by_the_cross_product_with_its_turn():
    sweep, turn = SweptSection(TRAPEZIUM, None), np.array([0.3, -0.7, 0.2])
    across, motion = sweep.offsets(3)
    np.testing.assert_allclose(motion @ turn, np.cross(turn, across), atol=1e-15)
    across, motion = sweep.offsets(2)
    np.testing.assert_allclose(motion @ turn[2:], np.cross([0.0, 0.0, turn[2]], across), atol=1e-15)
