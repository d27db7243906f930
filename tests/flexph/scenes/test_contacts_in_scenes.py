"""Shapes in contact are where they touch, stops where they hold, and rods and rubber have their stresses."""

from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from cases.rubber_laws import block
from flexph import GROUND, connect, hinge, integrate
from flexph.contacts import Cylinder, Hole, KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact, stop
from flexph.scenes import motion_scene, pose_scene
from flexph.view.looks import shown_field

MISES = "von Mises stress, largest in cell"


def disc(x, y, name="a"):
    return {name: rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})}, {name: (x, y, 0.0)}


def scene_with(*connections, places=None, bodies=None):
    own, at = disc(0.3, 0.5)
    mechanism = connect(own | (bodies or {}), connections)
    return pose_scene(mechanism, mechanism.assemble(guess=at | (places or {})))


def points_of(scene, name):
    part = next(part for part in scene.parts if part.name == name)
    assert part.kind == "contact"
    return part.points[0]


@pytest.mark.parametrize("turn", [0.0, 0.7, -np.pi / 2.0])
def test_a_plane_is_drawn_below_what_touches_it(turn):
    normal = np.array([-np.sin(turn), np.cos(turn)])
    plane = Plane(GROUND.at(0.1, 0.2), tuple(normal))
    points = points_of(scene_with(contact(Sphere("a.centre", 0.1), plane, Rigid(), name="touch")), "touch")
    height = (points[:, :2] - [0.1, 0.2]) @ normal
    ball, slab = np.linalg.norm(points[:, :2] - [0.3, 0.5], axis=1) < 0.1, height < 1e-12
    assert (ball | slab).all() and ball.any() and slab.any()
    along = points[slab, :2] @ [normal[1], -normal[0]]
    below = np.array([0.3, 0.5]) @ [normal[1], -normal[0]]
    assert along.min() < below - 0.1 and along.max() > below + 0.1


def test_a_hole_is_drawn_with_its_radius_and_a_pin_in_it():
    touch = contact(Cylinder("a.centre", 0.1), Hole(GROUND.at(0.31, 0.5), 0.12), Rigid(), name="bearing")
    points = points_of(scene_with(touch), "bearing")
    from_hole = np.linalg.norm(points[:, :2] - [0.31, 0.5], axis=1)
    assert from_hole[from_hole > 0.115].min() == pytest.approx(0.12, rel=1e-12)
    assert (from_hole <= 0.115).sum() == 2 * (24 + 1)  # the pin: two ends with their centres


def test_each_shape_of_a_group_is_drawn_once():
    bodies, places = disc(0.0, 0.0, "b")
    more, there = disc(1.0, 0.0, "c")
    spheres = [Sphere(f"{name}.centre", 0.1) for name in "abc"]
    group = mutual_contact(spheres, Rigid(), name="discs")
    one = points_of(scene_with(contact(spheres[0], Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(), name="one")), "one")
    assert len(points_of(scene_with(group, bodies=bodies | more, places=places | there), "discs")) == 3 * (
        len(one) - 24
    )


def test_stops_are_drawn_where_they_hold():
    law = KelvinVoigt(1e3)
    joint = hinge("a.centre", GROUND.at(0.3, 0.5))
    angles = points_of(scene_with(joint, stop("a.centre", GROUND, law, lower=-0.5, upper=1.0, name="ends")), "ends")
    away = angles[:, :2] - [0.3, 0.5]
    far = away[np.linalg.norm(away, axis=1) > 0.5 * np.linalg.norm(away, axis=1).max()]
    seen = np.arctan2(far[:, 1], far[:, 0])
    assert seen[seen < 0.0].mean() == pytest.approx(-0.5) and seen[seen > 0.0].mean() == pytest.approx(1.0)
    ends = stop("a.centre", GROUND, law, lower=-0.5, upper=1.0, along_axis=(1.0, 0.0), name="ends")
    plates = points_of(scene_with(ends), "ends")
    assert plates[plates[:, 0] < 0.0, 0].mean() == pytest.approx(-0.5)
    assert plates[plates[:, 0] > 0.0, 0].mean() == pytest.approx(1.0)


@pytest.mark.parametrize("section", [{"width": 0.02, "height": 0.01}, {"diameter": 0.02}])
def test_a_rod_has_the_axial_stress_of_its_fibres(section):
    own = fem.Section(**section)
    steel = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
    rod = fem.rod(1.0, steel, own, elements=3, order=2)
    rng = np.random.default_rng(1)
    root, slope = rng.standard_normal((2, 6))  # of all resultants over the length, which straight pieces have exactly
    gauss = np.concatenate([(k + 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)) / 3.0 for k in range(3)])
    stress = rod.view.sections.axial((root + gauss[:, None] * slope).reshape(1, -1)).ravel()
    x, y, z = rod.view.points.T
    N, _, _, _, second, third = (root + x[:, None] * slope).T
    expected = N / own.area + second * z / own.second_moment_y - third * y / own.second_moment
    np.testing.assert_allclose(stress, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_rods_and_rubber_have_their_stresses_in_scenes():
    steel = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
    known = fem.rod(1.0, steel, fem.Section(diameter=0.02), elements=1)
    only = fem.RodSection(
        axial=1.0, shear=(1.0, 1.0), torsion=1.0, bending=(1.0, 1.0), mass=1.0, inertia=(2.0, 1.0, 1.0)
    )
    rubber = block("neo-hooke", (1, 1, 1))
    bodies = {"constants": fem.rod(1.0, None, only, elements=1), "known": known, "rubber": rubber}
    mechanism = connect(bodies, [])
    rest = mechanism.consistent_state(
        mechanism.assemble({name: ((0.0, i, 0.0), np.eye(3)) for i, name in enumerate(bodies)})
    )
    x = rest.x.copy()
    x[mechanism.layout.parts["rubber.stress"]] = np.tile([1e5, 0.0, 0.0, 0.0, 0.0, 0.0], rubber.stress_size // 6)
    scene = pose_scene(mechanism, replace(rest, x=x))
    fields = {part.name: part.point_fields for part in scene.parts}
    units = {name: f.unit for name, f in fields["known"].items()}
    assert units == {MISES: "Pa", "axial stress": "Pa"}
    assert fields["constants"]["bending moment z"].unit == "N m"
    assert shown_field(scene, None) == MISES
    np.testing.assert_allclose(fields["rubber"][MISES].values, 1e5, rtol=1e-12)  # where F = 1


def test_forces_and_points_of_contacts_are_drawn_on_request():
    ball, places = disc(0.0, 0.1)
    floor = contact(Sphere("a.centre", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(), name="floor")
    mechanism = connect(ball, [floor], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess=places), velocities={"a": (1.0, 0.0, 0.0)})
    scene = motion_scene(integrate(mechanism, start, np.linspace(0.0, 0.1, 3)), forces=True)
    parts = {part.name: part for part in scene.parts if part.kind == "arrow"}
    assert set(parts) == {"normal force of floor, at most 9.81 N", "weight of a, at most 9.81 N", "points of floor"}
    for row, x in enumerate((0.0, 0.05, 0.1)):  # it slides
        np.testing.assert_allclose(parts["points of floor"].points[row].mean(axis=0), [x, 0.0, 0.0], atol=1e-12)
        arrow = parts["normal force of floor, at most 9.81 N"].points[row]
        assert arrow[:, 1].max() == pytest.approx(0.0, abs=1e-12)  # it pushes from below
        assert arrow[arrow[:, 1].argmax(), 0] == pytest.approx(x, abs=1e-12)
