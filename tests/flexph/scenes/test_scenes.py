"""Scenes against the motion that they draw; no library of pictures is needed."""

import subprocess
import sys

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge, slider, spring_damper
from flexph.drawing import Shape, box_shape, cylinder_shape, sphere_shape
from flexph.joints import Connection
from flexph.results import static_solution
from flexph.scenes import motion_scene, pose_scene
from flexph.scenes.surfaces import outer_triangles


def volume(points, triangles):
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    return np.einsum("ki,ki->", a, np.cross(b, c)) / 6.0


@pytest.mark.parametrize(
    "shape, expected",
    [
        (box_shape((1.0, 2.0, 3.0), centre=(1.0, 0.0, 0.0)), 6.0),
        (cylinder_shape(2.0, 0.5, axis=(0.0, 1.0, 1.0)), 2.0 * 12.0 * np.sin(np.pi / 12.0) * 0.25),
        (sphere_shape(1.0), 3.81773),  # of the polyhedron with 128 faces, 9 % below the sphere
    ],
)
def test_shapes_are_closed_with_normals_out(shape, expected):
    assert volume(shape.points, shape.triangles) == pytest.approx(expected, rel=0.01)


def test_a_shape_of_points_that_are_not_there_is_refused():
    with pytest.raises(ValueError, match="from 0 to 2"):
        Shape(np.zeros((3, 3)), np.array([[0, 1, 3]]))


@pytest.fixture(scope="module")
def sagging():
    """A cantilever under its weight: stresses and deflection have closed forms."""
    steel = fem.Material(young=2.1e11, density=7850.0)
    beam = fem.beam(1.0, steel, fem.Section(width=0.02, height=0.01), elements=4)
    from flexph import weld

    mechanism = connect({"beam": beam}, [weld("beam.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)})
    return static_solution(mechanism, mechanism.equilibrium(pose))


def test_a_swept_section_moves_and_is_stressed_as_the_beam(sagging):
    scene = motion_scene(sagging)
    beam = next(part for part in scene.parts if part.name == "beam")
    weight = 7850.0 * 9.81 * 0.02 * 0.01
    second = 0.02 * 0.01**3 / 12.0
    tip = beam.points[0, -4:].mean(axis=0)
    assert tip[1] == pytest.approx(-weight / (8.0 * 2.1e11 * second), rel=2e-3)
    np.testing.assert_allclose(np.ptp(beam.points[0, -4:], axis=0)[1:], [0.01, 0.02], rtol=1e-3)
    stress = beam.point_fields["axial stress"].values[0]
    assert stress.max() == pytest.approx(0.5 * weight * 0.005 / second, rel=0.08)  # at the middle of the first piece
    assert beam.points[0, np.argmax(stress), 1] > 0.0  # it hangs: the upper side is stretched
    assert volume(beam.points[0], beam.cells) == pytest.approx(0.02 * 0.01, rel=1e-3)


def test_deformations_are_drawn_larger_about_the_frame(sagging):
    plain, large = motion_scene(sagging), motion_scene(sagging, scale=10.0)
    tip = [scene.parts[0].points[0, -4:].mean(axis=0)[1] for scene in (plain, large)]
    assert tip[1] == pytest.approx(10.0 * tip[0], rel=1e-9)
    np.testing.assert_allclose(large.deformed(1.0).parts[0].points, plain.parts[0].points, atol=1e-12)


def test_deformations_beyond_what_graphics_show_are_refused(sagging):
    with pytest.raises(ValueError, match="scale must be smaller"):
        motion_scene(sagging, scale=1e30)


def test_a_pose_shows_all_bodies_joints_and_the_ground():
    mechanism = connect(
        {"disc": rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)}, shape=cylinder_shape(0.1, 0.4, axis=(0, 0, 1)))}
        | {"bar": rigid.bar(1.0, 1.0), "mass": rigid.point(1.0)},
        [
            hinge("disc.c", GROUND.at(0.0, 0.0)),
            hinge("disc.c", "bar.root"),
            hinge("bar.tip", "mass.point"),
            slider("mass.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True),
            spring_damper("bar.tip", GROUND.at(2.0, 0.0), stiffness=1.0),
        ],
    )
    scene = pose_scene(mechanism, mechanism.assemble({"disc": (0.0, 0.0, 0.0)}))
    assert [part.kind for part in scene.parts] == ["body"] * 3 + ["joint"] * 4 + ["force", "ground"]
    coil = scene.parts[-2].points[0]
    np.testing.assert_allclose([coil[:, 0].min(), coil[:, 0].max()], [1.0, 2.0], atol=1e-9)
    assert np.ptp(scene.parts[0].points[0], axis=0) == pytest.approx([0.8, 0.8, 0.1])


def test_a_joint_that_says_nothing_is_a_ball():
    sign = Connection("new", ("a.b", GROUND)).signs[0]
    assert (sign.kind, sign.port) == ("ball", "a.b")


def test_inner_facets_are_not_drawn():
    cells = np.array([[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9, 10, 11]])
    assert len(outer_triangles(cells, "hexahedron")) == 20


def test_scenes_load_no_library_of_pictures():
    code = "import sys, flexph.scenes as s; s.motion_scene; print({'pyvista', 'plotly', 'vtk'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
