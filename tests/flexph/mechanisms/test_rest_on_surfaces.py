"""Equilibria on faces, edges and corners of boxes, capsules and meshes, and in grooves."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, integrate, prismatic, slider, spring_damper
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


def test_a_ball_rests_on_an_edge():
    """On a bar by a rail, and two crossed bars on each other: the height and the force in closed form."""
    bar = Capsule(GROUND.at(0.0, 0.0, 0.0), 1.0, 0.05, (1.0, 0.0, 0.0))
    ball = rigid.body(MASS, inertia=(0.02,) * 3, ports={"c": np.zeros(3)})
    for law, start in ((Rigid(), 0.15), (Rigid(), 0.2), (KelvinVoigt(1e5), 0.2)):
        sunk = MASS * G / 1e5 if isinstance(law, KelvinVoigt) else 0.0
        for port, shape, reach in (
            ("ball.c", Sphere("ball.c", 0.1), 0.15),
            ("ball.c", Capsule("ball.c", 1.0, 0.05, (0.0, 1.0, 0.0)), 0.1),
        ):
            rail = prismatic(port, GROUND.at(0.0, 0.0, 0.0), direction=(0.0, 0.0, 1.0))
            mechanism = connect({"ball": ball}, [contact(shape, bar, law, name="bar"), rail], gravity=(0.0, 0.0, -G))
            pose = mechanism.assemble({"ball": ((0.0, 0.0, start - 0.15 + reach), np.eye(3))})
            state = mechanism.equilibrium(pose)
            assert mechanism.position(state, port)[2] == pytest.approx(reach - sunk, abs=1e-12)
            run = integrate(mechanism, state, np.linspace(0.0, 0.02, 11))
            assert np.ptp(run["ball.centre"], axis=0).max() < 1e-12
            assert run.contact("bar").normal[-1] == pytest.approx(MASS * G, rel=1e-9)


def test_boxes_cross_at_their_edges():
    """A box on its edge lies across the edge of another one: half diagonals of the cores, and both radii."""
    turned = [Rotation.from_rotvec(0.25 * np.pi * np.eye(3)[k]).as_matrix() for k in (0, 1)]
    low = Box(GROUND.at(0.0, 0.0, 0.0), (0.3, 1.0, 0.3), axes=turned[1], round=0.01)
    high = Box("a.own", (1.0, 0.2, 0.2), axes=turned[0], round=0.02)
    rail = prismatic("a.own", GROUND.at(0.0, 0.0, 0.0), direction=(0.0, 0.0, 1.0))
    mechanism = connect({"a": block(3)}, [contact(high, low, Rigid(), name="boxes"), rail], gravity=(0.0, 0.0, -G))
    state = mechanism.equilibrium(mechanism.assemble({"a": ((0.0, 0.0, 0.4), np.eye(3))}), redundant="least_norm")
    height = np.sqrt(0.5) * (0.28 + 0.16) + 0.03
    assert mechanism.position(state, "a.own")[2] == pytest.approx(height, abs=1e-9)  # by 1e-6 of parallel edges


@pytest.mark.parametrize("law", LAWS)
def test_a_disc_rests_in_a_groove(law):
    """Both faces carry it: they are blended within 1/100 of its radius, which lifts it by a quarter of that."""
    law, groove = LAWS[law], ([(1.0, 1.0), (0.0, 0.0), (-1.0, 1.0)], [(0, 1), (1, 2)])
    disc = rigid.body(MASS, inertia=0.02, ports={"c": (0.0, 0.0)})
    touch = contact(Sphere("disc.c", 0.1), Mesh(GROUND.at(0.0, 0.0), groove), law, name="groove")
    mechanism = connect({"disc": disc}, [touch], gravity=(0.0, -G))
    pose = mechanism.assemble({"disc": (0.05, 0.25, 0.0)})
    state = mechanism.equilibrium(pose, redundant="least_norm")
    force = MASS * G * np.sqrt(2.0)
    depth = force / 1e5 if isinstance(law, KelvinVoigt) else 0.0
    np.testing.assert_allclose(mechanism.position(state, "disc.c"), (0.0, np.sqrt(2.0) * (0.10025 - depth)), atol=1e-12)
    run = integrate(mechanism, state, np.linspace(0.0, 0.02, 11))
    assert np.ptp(run["disc.centre"], axis=0).max() < 1e-9
    assert run.contact("groove").normal[-1] == pytest.approx(force, rel=1e-6)


@pytest.mark.parametrize("law", [Rigid(), KelvinVoigt(1e5)])
def test_a_ball_between_two_bars(law):
    """Weight, a spring and the forces along the shortest distances to the bars balance, and a run stays at rest."""
    ends = np.array([[(-0.5, side, -0.05 * side), (0.5, side, 0.05 * side)] for side in (-0.08, 0.08)])
    bars = [Capsule(GROUND.at(*a.mean(axis=0)), float(np.linalg.norm(a[1] - a[0])), 0.02, a[1] - a[0]) for a in ends]
    ball = rigid.body(MASS, inertia=(0.02,) * 3, ports={"c": np.zeros(3)})
    hook = np.array((0.1, 0.0, 1.0))
    spring = spring_damper("ball.c", GROUND.at(*hook), stiffness=10.0, damping=1.0, length=0.9)
    touches = [contact(Sphere("ball.c", 0.1), bar, law, name=f"bar {k}") for k, bar in enumerate(bars)]
    mechanism = connect({"ball": ball}, [*touches, spring], gravity=(0.0, 0.0, -G))
    state = mechanism.equilibrium(mechanism.assemble({"ball": ((0.05, 0.01, 0.12), np.eye(3))}))
    run = integrate(mechanism, state, np.linspace(0.0, 0.02, 11))
    assert np.ptp(run["ball.centre"], axis=0).max() < 1e-12
    place = mechanism.position(state, "ball.c")
    pull = hook - place
    total = 10.0 * (np.linalg.norm(pull) - 0.9) * pull / np.linalg.norm(pull) - (0.0, 0.0, MASS * G)
    for k, (a, b) in enumerate(ends):
        way = (b - a) / np.linalg.norm(b - a)
        apart = place - a - ((place - a) @ way) * way
        normal = run.contact(f"bar {k}").normal[-1]
        depth = normal / 1e5 if isinstance(law, KelvinVoigt) else 0.0
        assert np.linalg.norm(apart) == pytest.approx(0.12 - depth, abs=1e-12)
        total = total + normal * apart / np.linalg.norm(apart)
    assert np.abs(total).max() < 1e-9 * MASS * G


def test_small_motions_of_a_point_on_an_edge():
    """ω² = 2k/m − g/R on a bar of the radius R between horizontal springs: the geometric stiffness of the normal."""
    radius, k = 0.15, 300.0
    bar = Capsule(GROUND.at(0.0, 0.0, 0.0), 1.0, radius, (1.0, 0.0, 0.0))
    sides = {"x": (1.0, 0.0), "-x": (-1.0, 0.0), "y": (0.0, 1.0), "-y": (0.0, -1.0)}
    springs = [
        spring_damper("p.point", GROUND.at(*side, radius), stiffness=k, damping=0.0, length=1.0, name=name)
        for name, side in sides.items()
    ]
    touch = contact(Sphere("p.point", 0.0), bar, Rigid(), name="bar")
    mechanism = connect({"p": rigid.point(MASS, 3)}, [touch, *springs], gravity=(0.0, 0.0, -G))
    state = mechanism.equilibrium(mechanism.assemble({"p": (0.0, 0.0, radius)}))
    expected = np.sqrt([2.0 * k / MASS - G / radius, 2.0 * k / MASS])
    np.testing.assert_allclose(mechanism.spectrum(state).frequencies, expected, rtol=1e-9)


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
