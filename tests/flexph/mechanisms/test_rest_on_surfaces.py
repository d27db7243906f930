"""Equilibria on faces and corners of boxes and meshes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, integrate, prismatic, slider
from flexph.contacts import Box, Capsule, KelvinVoigt, Mesh, Rigid, Sphere, contact
from flexph.contacts.levels import gaps_at
from flexph.kernels.state import derive
from flexph.mechanisms import contact_search
from flexph.mechanisms.faces_at_rest import on_faces
from flexph.mechanisms.model.state import at_rest

MASS, G = 2.0, 9.81
LAWS = {"rigid": Rigid(), "rough": Rigid(friction=0.5), "compliant": KelvinVoigt(1e5, friction=0.4)}


def block(dim):
    return rigid.body(MASS, inertia=0.02 if dim == 2 else (0.02,) * 3, ports={"own": np.zeros(dim)})


def on_table(law, dim, *, turn=0.0):
    size, table = ((0.2, 0.4), (3.0, 1.0)) if dim == 2 else ((0.2, 0.3, 0.4), (3.0, 3.0, 1.0))
    c, s = np.cos(turn), np.sin(turn)
    axes = np.array([[c, -s], [s, c]]) if dim == 2 else None
    up = axes @ (0.0, 1.0) if dim == 2 else np.eye(3)[2]
    floor = Box(GROUND.at(*(-0.5 * up)), table, axes=axes)
    joints = [contact(Box("a.own", size), floor, law, name="floor")]
    mechanism = connect({"a": block(dim)}, joints, gravity=-G * np.eye(dim)[-1])
    place = (*(0.2 * up), turn) if dim == 2 else (0.2 * up, np.eye(3))
    return mechanism, mechanism.assemble({"a": place})


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("law", LAWS)
def test_a_box_rests_on_the_face_of_another_one(law, dim):
    mechanism, pose = on_table(LAWS[law], dim)
    state = mechanism.equilibrium(pose, redundant="least_norm")
    depth, corners = (MASS * G / 1e5 if law == "compliant" else 0.0), 2 ** (dim - 1)
    assert mechanism.position(state, "a.own")[-1] == pytest.approx(0.2 - depth / corners, abs=1e-11)
    closed, at = mechanism.with_closed_contacts(state)
    if law != "compliant":
        own = [k for k, name in enumerate(closed.constraint_names) if name.endswith("normal")]
        np.testing.assert_allclose(at.multipliers[own], MASS * G / corners, rtol=1e-9)
    run = integrate(mechanism, state, np.linspace(0.0, 0.05, 26))
    assert np.ptp(run["a.centre"], axis=0).max() < 1e-9


def test_friction_holds_a_box_on_a_slope_up_to_its_bound(monkeypatch):
    mechanism, pose = on_table(Rigid(friction=0.5), 2, turn=np.arctan(0.49))
    mechanism.equilibrium(pose)
    monkeypatch.setattr(contact_search, "SOFT", contact_search.SOFT[:1])  # two more find no other answer
    steep, pose = on_table(Rigid(friction=0.5), 2, turn=np.arctan(0.51))
    with pytest.raises(ArithmeticError, match="no equilibrium was found"):
        steep.equilibrium(pose)


@pytest.mark.parametrize("law", [Rigid(), KelvinVoigt(1e6)])
def test_a_ball_passes_to_the_face_on_which_it_rests(law):
    """A ball on a rail over the second slope of a roof, from a start that is closest to the ridge."""
    roof = Mesh(GROUND.at(0.0, 0.0), ([(1.0, -0.5), (0.0, 0.0), (-1.0, -1.0)], [(0, 1), (1, 2)]))
    rail = slider("ball.c", GROUND.at(-0.5, 0.0), direction=(0.0, 1.0), turning=False)
    ball = rigid.body(MASS, inertia=0.02, ports={"c": (0.0, 0.0)})
    mechanism = connect(
        {"ball": ball}, [contact(Sphere("ball.c", 0.1), roof, law, name="roof"), rail], gravity=(0.0, -G)
    )
    state = mechanism.equilibrium(mechanism.assemble({"ball": (-0.5, 0.3, 0.0)}))
    depth = MASS * G / np.cos(np.pi / 4) / 1e6 if isinstance(law, KelvinVoigt) else 0.0
    assert mechanism.position(state, "ball.c")[1] == pytest.approx(-0.5 + (0.1 - depth) * np.sqrt(2.0), abs=1e-9)


@pytest.mark.parametrize("place", [(0.1, 0.5), (0.3, -0.2), (-0.4, 0.2)])
def test_a_corner_or_a_face_stands_for_a_surface_near_the_pose(place):
    """The gap to it is that to the surface, at the pose and where the same feature is the closest one."""
    tip = Box(GROUND.at(0.0, -0.5), (1.0, 1.0), axes=np.array([(1.0, -1.0), (1.0, 1.0)]) / np.sqrt(2.0))
    ball = rigid.body(MASS, inertia=0.02, ports={"c": (0.0, 0.0)})
    mechanism = connect({"ball": ball}, [contact(Sphere("ball.c", 0.1), tip, Rigid())])
    pose = mechanism.assemble({"ball": (*place, 0.0)})
    local, (feature,) = on_faces(mechanism, at_rest(mechanism, pose.centres, pose.rotations))
    assert not feature.edge
    for shift in (0.0, 0.03):
        c = at_rest(mechanism, pose.centres + shift, pose.rotations)
        values = [gaps_at(a, c, derive(a, c)).after[0] for a in (m.network.arrays for m in (mechanism, local))]
        assert values[0] == pytest.approx(values[1], abs=1e-14)


def test_edges_and_grooves_are_refused_by_name():
    bar = Capsule(GROUND.at(0.0, 0.0, 0.0), 1.0, 0.05, (1.0, 0.0, 0.0))
    ball = rigid.body(MASS, inertia=(0.02,) * 3, ports={"c": np.zeros(3)})
    rail = prismatic("ball.c", GROUND.at(0.0, 0.0, 0.0), direction=(0.0, 0.0, 1.0))
    mechanism = connect(
        {"ball": ball}, [contact(Sphere("ball.c", 0.1), bar, Rigid(), name="bar"), rail], gravity=(0.0, 0.0, -G)
    )
    with pytest.raises(ValueError, match="'bar' touches an edge"):
        mechanism.equilibrium(mechanism.assemble({"ball": ((0.0, 0.0, 0.15), np.eye(3))}))
    crossed = connect(
        {"a": block(3)},
        [contact(Capsule("a.own", 1.0, 0.05, (0.0, 1.0, 0.0)), bar, KelvinVoigt(1e5), name="bars")],
        gravity=(0.0, 0.0, -G),
    )
    with pytest.raises(ValueError, match="'bars' touches an edge"):
        crossed.equilibrium(crossed.assemble({"a": ((0.0, 0.0, 0.1), np.eye(3))}))


@pytest.mark.parametrize("law", LAWS)
def test_equal_sharp_boxes_rest_on_each_other(law):
    """A stack of two cubes on a box of the ground: four corners carry each, edges beside them stay open."""
    size = (0.2, 0.2, 0.2)
    boxes = [Box(GROUND.at(0.0, 0.0, -0.1), size), Box("low.own", size), Box("high.own", size)]
    joints = [contact(boxes[k + 1], boxes[k], LAWS[law], name=name) for k, name in enumerate(("floor", "touch"))]
    mechanism = connect({"low": block(3), "high": block(3)}, joints, gravity=(0.0, 0.0, -G))
    pose = mechanism.assemble({"low": ((0.0, 0.0, 0.1), np.eye(3)), "high": ((0.0, 0.0, 0.3), np.eye(3))})
    state = mechanism.equilibrium(pose, redundant="least_norm")
    depth = MASS * G / 4e5 if law == "compliant" else 0.0
    assert mechanism.position(state, "low.own")[2] == pytest.approx(0.1 - 2.0 * depth, abs=1e-11)
    assert mechanism.position(state, "high.own")[2] == pytest.approx(0.3 - 3.0 * depth, abs=1e-11)
    run = integrate(mechanism, state, np.linspace(0.0, 0.02, 11))
    assert np.ptp(run["high.centre"], axis=0).max() < 1e-9


@pytest.mark.parametrize("height", [0.14, 0.2])
def test_a_plane_stands_for_two_edges_near_the_pose(height):
    """Its gap is that of the edges, and so are its changes to first order, whatever moves."""
    low, high = Capsule("a.own", 1.0, 0.05, (1.0, 0.0, 0.0)), Capsule("b.own", 0.8, 0.03, (0.2, 1.0, 0.1))
    mechanism = connect({"a": block(3), "b": block(3)}, [contact(high, low, Rigid())])
    turn = Rotation.from_rotvec((0.1, -0.2, 0.3)).as_matrix()
    pose = mechanism.assemble({"a": ((0.0, 0.0, 0.0), np.eye(3)), "b": ((0.1, 0.05, height), turn)})
    local, (feature,) = on_faces(mechanism, at_rest(mechanism, pose.centres, pose.rotations))
    assert feature.edge == "an edge"
    rng, apart = np.random.default_rng(2), []
    way, spin = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    for size in (0.0, 1e-3, 5e-4):
        turned = Rotation.from_rotvec(size * spin).as_matrix() @ pose.rotations
        c = at_rest(mechanism, pose.centres + size * way, turned)
        values = [gaps_at(a, c, derive(a, c)).after[0] for a in (m.network.arrays for m in (mechanism, local))]
        apart.append(abs(values[0] - values[1]))
    assert apart[0] < 1e-12 and apart[1] < 1e-4 and apart[1] / apart[2] == pytest.approx(4.0, abs=0.5)
