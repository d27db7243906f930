"""Whatever does not fit space is refused at the door, with words that say what would."""

import math
from dataclasses import replace

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from spatial_bodies import block

import fem
import rigid
from flexph import (
    GROUND,
    InputError,
    connect,
    cylindrical,
    distance,
    distributed_load,
    drive,
    force,
    hinge,
    integrate,
    planar,
    prismatic,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    universal,
    weld,
)
from flexph.joints import bushing
from flexph.mechanisms.statics import searches

NAN = math.nan
STEEL = fem.Material(young=2e11, density=7800.0, poisson=0.3)
ROUND = fem.Section(diameter=6e-3)
ORIGIN = GROUND.at(0.0, 0.0, 0.0)
Z = (0.0, 0.0, 1.0)
ROD = rigid.cylinder(1.0, 0.05, density=100.0)
BEAM = fem.beam(0.3, STEEL, ROUND, elements=2, dim=3)
POINT = rigid.point(1.0, dim=3)
FLAT = rigid.bar(1.0, 1.0)
SKEWED = [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
MIRROR = np.diag([1.0, 1.0, -1.0])


def refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def pendulum(*connections, body=ROD, **options):
    return connect({"rod": body}, [hinge("rod.root", ORIGIN, axis=Z), *connections], **options)


def ball(*connections, body=ROD, **options):
    return connect({"rod": body}, [spherical("rod.root", ORIGIN), *connections], **options)


def start_of(mechanism):
    return mechanism.consistent_state(mechanism.assemble())


# --- bodies -----------------------------------------------------------------------------------------------------------


def tetrahedron(faces):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    return meshio.Mesh(points, [("triangle", np.array(faces))])


CLOSED = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rigid.body(1.0, inertia=(1, 1, 3), ports={}), r"inertia must have J1 \+ J2 >= J3 .*, got .* 1, 1, 3"),
        (lambda: rigid.body(1.0, inertia=SKEWED, ports={}), "inertia must be symmetric"),
        (lambda: rigid.body(1.0, inertia=(1, 1, NAN), ports={}), "inertia must be finite"),
        (lambda: rigid.body(NAN, inertia=(1, 1, 1), ports={}), "mass must be finite, got nan"),
        (lambda: rigid.body(1.0, inertia=(1, 1, 1), ports={"a": (0, 0, NAN)}), r"ports\['a'\] must be finite"),
        (lambda: rigid.body(1.0, inertia=(1, 1, 1), ports={"a": (0, 0)}), r"port 'a' must have shape \(3,\), got \(2"),
        (
            lambda: rigid.solid(tetrahedron(CLOSED[:3]), density=1.0, ports={}),
            "be a closed surface .* 3 of 6 edges are open",
        ),
        (
            lambda: rigid.solid(tetrahedron([*CLOSED[:3], [0, 2, 3]]), density=1.0, ports={}),
            "be oriented consistently: at 3 of 6 edges",
        ),
        (
            lambda: fem.beam(0.3, fem.Material(young=1.0, density=1.0), ROUND, elements=1, dim=3),
            "needs poisson= or shear=",
        ),
        (
            lambda: fem.beam(0.3, STEEL, fem.Section(area=1.0, second_moment=1.0), elements=1, dim=3),
            "section needs second_moment_y",
        ),
        (
            lambda: fem.beam(0.3, STEEL, ROUND, elements=2, dim=3, stations={"a": 0.4}),
            "station 'a' must lie between 0 and the length 0.3",
        ),
        (lambda: fem.beam(0.3, STEEL, ROUND, elements=2, dim=3, stations={"a": -0.1}), "station 'a' must lie between"),
        (lambda: fem.beam(0.3, STEEL, ROUND, elements=2, dim=4), "dim must be 2 .* or 3 .*, got 4"),
        (lambda: ROD.with_mass("tp", 1.0), "no port 'tp': .*'root', 'middle', 'tip'"),
        (lambda: POINT.with_mass("point", 0.0, 1.0), "inertia cannot be lumped at port 'point'.*rotation"),
    ],
)
def test_wrong_bodies_are_refused(make, message):
    refused(make, message)


# --- connections ------------------------------------------------------------------------------------------------------

AXIS_OF = {
    "hinge": lambda **k: hinge("rod.root", ORIGIN, **k),
    "revolute": lambda **k: revolute("rod.root", ORIGIN, **k),
    "cylindrical": lambda **k: cylindrical("rod.root", ORIGIN, **k),
    "torsion spring": lambda **k: torsion_spring("rod.root", ORIGIN, stiffness=1.0, **k),
    "driven angle": lambda **k: drive("rod.root", ORIGIN, angle=math.sin, **k),
}


@pytest.mark.parametrize("name", AXIS_OF)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"axis": (0.0, 0.0, 0.0)}, r"axis must not be zero, got \(0.0, 0.0, 0.0\)"),
        ({"axis": (0.0, 0.0, NAN)}, "axis must be finite"),
        ({"axis": (1.0,)}, "axis must have 2 components in the plane or 3 in space, got 1"),
        ({"axis": (1.0, 0.0)}, "axis must have 3 components in space, got 2"),
        ({"axis": Z, "second_axis": (0.0, 0.0, 0.0)}, "second_axis must not be zero"),
        ({"axis": Z, "second_axis": (0.0, 1.0)}, "second_axis must have 3 components in space, got 2"),
        ({"axis": "up"}, "axis must be numbers, got 'up'"),
        ({"axis": 3.0}, r"axis must be a list of numbers, got 3.0"),
    ],
)
def test_wrong_axes_are_refused(name, given, message):
    refused(lambda: connect({"rod": ROD}, [AXIS_OF[name](**given)]), message)


def test_an_axis_must_be_given_in_space():
    for name in ("hinge", "torsion spring", "driven angle"):
        refused(lambda name=name: connect({"rod": ROD}, [AXIS_OF[name]()]), r"needs axis=\(x, y, z\) in space")
    refused(lambda: hinge("rod.root", ORIGIN, second_axis=Z), "second_axis was given without axis")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: prismatic("rod.root", ORIGIN, direction=(0.0, 0.0, 0.0)), "direction must not be zero"),
        (lambda: planar("rod.root", ORIGIN, normal=(0.0, 0.0, 0.0)), "normal must not be zero"),
        (lambda: planar("rod.root", ORIGIN, normal=Z, second_normal=(0, 0, 0)), "second_normal must not be zero"),
        (lambda: universal("rod.root", ORIGIN, axis=Z, second_axis=(0, 0, 0)), "second_axis must not be zero"),
        (lambda: weld("rod.root", ORIGIN, rotation=SKEWED), "rotation must be orthogonal: .RᵀR − 1. = 1e-01"),
        (
            lambda: weld("rod.root", ORIGIN, rotation=MIRROR),
            "rotation must be a rotation: its determinant is −1, a reflection",
        ),
        (lambda: weld("rod.root", ORIGIN, rotation=np.full((3, 3), NAN)), "rotation must be finite"),
        (
            lambda: weld("rod.root", ORIGIN, rotation=np.eye(2)),
            r"rotation must be a rotation matrix .* got shape \(2, 2\)",
        ),
        (lambda: weld("rod.root", ORIGIN, rotation=0.3), r"rotation must be a rotation matrix .* got shape \(\)"),
        (lambda: weld("rod.root", ORIGIN, rotation="upright"), "rotation must be"),
        (
            lambda: weld("rod.root", ORIGIN, rotation=Rotation.from_rotvec(np.eye(3))),
            r"rotation must be a rotation matrix .* got shape \(3, 3, 3\)",
        ),
        (lambda: drive("rod.root", rotation=np.eye(3)), "rotation must be a function, got"),
        (lambda: drive("rod.root", rotation=lambda t: 0, angle=math.sin), "drive takes one of"),
        (lambda: drive("rod.root", displacement=math.sin), "direction= and displacement= must be given together"),
        (lambda: drive("rod.root", position=lambda t: Z, axis=Z), "axis= and second_axis= need angle="),
        (lambda: drive("rod.root", "b.tip", position=lambda t: Z), "the reference must be GROUND"),
        (lambda: bushing("rod.root", ORIGIN), "a bushing needs a positive stiffness or damping"),
        (lambda: bushing("rod.root", ORIGIN, stiffness=(1.0, 2.0)), r"stiffness must have shape \(3,\), got \(2"),
        (lambda: bushing("rod.root", ORIGIN, stiffness=(1.0, 2.0, -1.0)), "stiffness must not be negative"),
        (lambda: bushing("rod.root", ORIGIN, torsional_damping=NAN), "torsional_damping must be finite, got nan"),
        (
            lambda: spring_damper("rod.root", GROUND, stiffness=1.0),
            "a spring to the ground needs one: use GROUND.at",
        ),
        (lambda: distance("rod.root", GROUND), "a distance to the ground needs one: use GROUND.at"),
        (lambda: force("rod.root", axes="body"), "axes must be one of 'world', 'section', got 'body'"),
        (lambda: GROUND.at(0.0, 0.0, NAN), "ground position must be finite, got nan"),
    ],
)
def test_wrong_connections_are_refused(make, message):
    refused(lambda: connect({"rod": ROD}, [make()]), message)


@pytest.mark.parametrize(
    "make",
    [
        lambda p, q: spherical(p, q),
        lambda p, q: revolute(p, q, axis=Z),
        lambda p, q: universal(p, q, axis=Z, second_axis=(1, 0, 0)),
        lambda p, q: cylindrical(p, q, axis=Z),
        lambda p, q: prismatic(p, q, direction=Z),
        lambda p, q: planar(p, q, normal=Z),
        lambda p, q: bushing(p, q, stiffness=1.0),
        lambda p, q: drive(p, q, rotation=lambda t: np.eye(3)),
    ],
)
def test_ground_comes_second(make):
    refused(
        lambda: connect({"rod": ROD}, [make(ORIGIN, "rod.root")]),
        "the first port of a joint must belong to a body; GROUND comes second",
    )


JOINTS_OF_SPACE = {
    "hinge": (lambda: hinge("bar.root", GROUND, axis=Z), "a hinge has no axis in the plane"),
    "spherical": (lambda: spherical("bar.root", GROUND), "exists in three dimensions only; in the plane use hinge"),
    "universal": (
        lambda: universal("bar.root", GROUND, axis=Z, second_axis=(1, 0, 0)),
        "exists in three dimensions only",
    ),
    "cylindrical": (lambda: cylindrical("bar.root", GROUND, axis=Z), "exists in three dimensions only"),
    "planar": (lambda: planar("bar.root", GROUND, normal=Z), "exists in three dimensions only"),
    "prismatic": (
        lambda: prismatic("bar.root", GROUND, direction=Z),
        "direction must have 2 components in the plane, got 3",
    ),
    "weld": (lambda: weld("bar.root", GROUND, rotation=np.eye(3)), "a weld in the plane takes angle=, not rotation="),
    "driven rotation": (
        lambda: drive("bar.root", rotation=lambda t: np.eye(3)),
        "exists in three dimensions only; in the plane drive the angle=",
    ),
    "driven angle": (lambda: drive("bar.root", angle=math.sin, axis=Z), "has no axis in the plane"),
    "torsion spring": (lambda: torsion_spring("bar.root", GROUND, stiffness=1.0, axis=Z), "has no axis in the plane"),
    "ground": (lambda: hinge("bar.root", ORIGIN), "a ground position must have 2 coordinates, got"),
    "bushing": (lambda: bushing("bar.root", GROUND, stiffness=(1, 1, 1)), r"stiffness must have shape \(2,\), got \(3"),
}


@pytest.mark.parametrize("name", JOINTS_OF_SPACE)
def test_joints_of_space_in_the_plane(name):
    make, message = JOINTS_OF_SPACE[name]
    refused(lambda: connect({"bar": FLAT}, [make()]), message)


JOINTS_OF_THE_PLANE = {
    "hinge": (lambda: hinge("rod.root", ORIGIN), r"a hinge needs axis=\(x, y, z\) in space"),
    "weld": (lambda: weld("rod.root", ORIGIN, angle=0.3), "a weld in space takes rotation=, not angle="),
    "slider": (lambda: slider("rod.root", ORIGIN), "direction must have 3 components in space, got 2"),
    "driven angle": (lambda: drive("rod.root", angle=math.sin), r"a driven angle needs axis=\(x, y, z\) in space"),
    "torsion spring": (lambda: torsion_spring("rod.root", GROUND, stiffness=1.0), "a torsion spring needs axis="),
    "ground": (lambda: spherical("rod.root", GROUND.at(0.0, 0.0)), "a ground position must have 3 coordinates, got"),
    "spring": (lambda: spring_damper("rod.root", GROUND.at(0.0, 1.0), stiffness=1.0), "must have 3 coordinates"),
}


@pytest.mark.parametrize("name", JOINTS_OF_THE_PLANE)
def test_joints_of_the_plane_in_space(name):
    make, message = JOINTS_OF_THE_PLANE[name]
    refused(lambda: connect({"rod": ROD}, [make()]), message)


@pytest.mark.parametrize(
    ("connections", "message"),
    [
        ([hinge("rod.tp", ORIGIN, axis=Z)], "no port 'rod.tp': rod has 'root', 'middle', 'tip'"),
        ([spherical("rdo.tip", ORIGIN)], "no body 'rdo': there are 'rod', 'beam', 'bob'"),
        ([distributed_load("rod.load")], "no load port 'load': rod has none"),
        ([force("beam.load")], "no port 'beam.load': beam has 'root', 'tip'"),
        ([torque("bob.point")], "port 'bob.point' .*point mass, which has no rotation"),
        ([force("bob.point", axes="section")], "point mass"),
        ([revolute("bob.point", ORIGIN, axis=Z)], "port 'bob.point': a point mass has no direction"),
        (
            [slider("bob.point", ORIGIN, direction=Z)],
            r"port 'bob.point': a point mass has no direction: .* slider\(..., turning=True\)",
        ),
        ([weld("rod.root", "bob.point")], "port 'bob.point': a point mass has no direction"),
        ([bushing("rod.root", "bob.point", stiffness=1.0)], "port 'bob.point': a point mass has no direction"),
        ([spherical("rod.root", "rod.root")], "spherical joins port 'rod.root' to itself"),
        ([spherical("rod.root", ORIGIN)] * 2, "connection given twice: spherical rod.root–GROUND at"),
    ],
)
def test_connections_of_a_mechanism(connections, message):
    refused(lambda: connect({"rod": ROD, "beam": BEAM, "bob": POINT}, connections), message)


@pytest.mark.parametrize(
    ("bodies", "gravity", "message"),
    [
        ({"rod": ROD}, (0.0, -9.81), r"gravity must have shape \(3,\), got \(2"),
        ({"rod": ROD}, (0.0, 0.0, NAN), "gravity must be finite"),
        ({"rod": ROD}, 9.81, r"gravity must be a list of numbers, got 9.81"),
        ({"rod": ROD, "bar": FLAT}, None, "all bodies must have dimension 3, 'bar' has 2"),
        ({"bar": FLAT, "rod": ROD}, None, "all bodies must have dimension 2, 'rod' has 3"),
    ],
)
def test_bodies_and_gravity_of_a_mechanism(bodies, gravity, message):
    refused(lambda: connect(bodies, [], gravity=gravity), message)


# --- poses and starts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["fixed", "guess"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SKEWED, "rotation of 'rod' must be orthogonal: .RᵀR − 1. = 1e-01, allowed 2e-09"),
        (MIRROR, "rotation of 'rod' must be a rotation: its determinant is −1, a reflection"),
        (((0, 0, 0), MIRROR), "rotation of 'rod' must be a rotation: its determinant is −1"),
        (((0, 0, 0), SKEWED), "rotation of 'rod' must be orthogonal"),
        (((0, 0), np.eye(3)), r"position of 'rod' must have shape \(3,\), got \(2"),
        (((0, 0, NAN), np.eye(3)), "position of 'rod' must be finite"),
        ((0.0, 0.0, NAN), "pose of 'rod' must be finite"),
        ((0.0, 0.0, 0.0, 1.0), r"pose of 'rod' must have shape \(3,\), got \(4"),
        (np.eye(2), r"rotation of 'rod' must be a rotation matrix \(3, 3\) or a scipy Rotation, got shape \(2, 2\)"),
        (
            0.3,
            r"pose of 'rod' must be a position \(3,\), a rotation, or a pair \(position, rotation\) in space, got 0.3",
        ),
        ("up", "pose of 'rod' must be"),
        (((0, 0, 0), "up"), "rotation of 'rod' must be"),
        (None, "pose of 'rod' must"),
    ],
)
def test_wrong_poses_are_refused(where, given, message):
    refused(lambda: ball().assemble(**{where: {"rod": given}}), message)


def test_poses_that_do_not_fit():
    refused(lambda: ball().assemble({"rdo": np.eye(3)}), "no body 'rdo': there are 'rod'")
    refused(lambda: ball().assemble({"rod": np.eye(3)}, guess={"rod": np.eye(3)}), "not in both")
    refused(
        lambda: ball().assemble({"rod": ((0.3, 0.0, 0.4), np.eye(3))}),
        r"the loop cannot close at this pose: spherical rod.root–GROUND at \(0.0, 0.0, 0.0\) is open by 0.5 m; change",
    )
    tilted = Rotation.from_rotvec((0.5, 0.0, 0.0))
    refused(lambda: pendulum().assemble({"rod": tilted}), "hinge rod.root–GROUND at .* in angle is open by 0.479 rad")
    turn = weld("rod.root", ORIGIN, rotation=tilted)
    refused(lambda: connect({"rod": ROD}, [turn]).assemble({"rod": np.eye(3)}), "weld .* in angle is open by 0.479 rad")
    far = distance("rod.tip", GROUND.at(0.0, 0.0, 5.0), length=1.0)
    refused(lambda: ball(far).assemble(), "the loop cannot close at this pose: .*is open by .* m")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1.0, r"velocity of 'rod' must be a spin \(3,\) or a pair \(velocity, spin\) in space, got 1.0"),
        ((1.0, 2.0, NAN), "spin of 'rod' must be finite"),
        ((1.0, 2.0, 3.0, 4.0), r"spin of 'rod' must have shape \(3,\), got \(4"),
        (((1.0, 2.0), (0.0, 0.0, 0.0)), r"velocity of 'rod' must have shape \(3,\), got \(2"),
        (((0.0, 0.0, NAN), (0.0, 0.0, 0.0)), "velocity of 'rod' must be finite"),
        (((0.0, 0.0, 0.0), 1.0), r"spin of 'rod' must have shape \(3,\), got \(\)"),
        ("fast", "of 'rod' must be"),
        (None, "of 'rod' must"),
    ],
)
def test_wrong_velocities_are_refused(given, message):
    mechanism = ball()
    refused(lambda: mechanism.consistent_state(mechanism.assemble(), velocities={"rod": given}), message)


def test_the_velocity_of_a_point_mass():
    mechanism = connect({"bob": POINT}, [])
    pose = mechanism.assemble()
    start = lambda given: mechanism.consistent_state(pose, velocities={"bob": given})  # noqa: E731
    for given in (Z, (Z, (0.0, 0.0, 0.0))):
        assert tuple(start(given).x[mechanism.layout.parts["bob.velocity"]]) == Z
    refused(lambda: start((Z, Z)), r"velocity of 'bob' must be a velocity \(3,\): a point mass has no spin")
    refused(lambda: start((1.0, 2.0)), r"velocity of 'bob' must")
    refused(lambda: start(1.0), r"velocity of 'bob' must be the velocity \(3,\) of a point mass")


def changed(part, change):
    mechanism = pendulum()
    state = start_of(mechanism)
    x = state.x.copy()
    x[mechanism.layout.parts[part]] = change(x[mechanism.layout.parts[part]])
    return mechanism, replace(state, x=x)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        (
            "rod.velocity",
            lambda v: np.add(v, [0.0, 0.0, 1.0]),
            "inconsistent initial velocity at t = 0.0 s: hinge .*: z .* by 1 m/s",
        ),
        ("rod.spin", lambda w: np.add(w, [0.0, 2.0, 0.0]), "inconsistent initial velocity at t = 0.0 s: hinge"),
        (
            "rod.centre",
            lambda r: np.add(r, [0.0, 0.0, 0.1]),
            "inconsistent initial position .*: z is violated by 0.1 m; use",
        ),
        ("rod.rotation", lambda R: 1.5 * R, "the rotation of 'rod' must be a rotation: .RᵀR − 1. = 1e.00"),
        ("rod.rotation", lambda R: -R, "rotation|inconsistent initial position"),
    ],
)
def test_inconsistent_states_are_refused(part, change, message):
    mechanism, state = changed(part, change)
    refused(lambda: integrate(mechanism, state, [0.0, 0.1]), message)


def test_a_reflected_free_body_is_refused():
    """−1 is orthogonal, but no rotation."""
    mechanism = connect({"rod": ROD}, [])
    state = start_of(mechanism)
    x = state.x.copy()
    x[mechanism.layout.parts["rod.rotation"]] = MIRROR.ravel()
    refused(lambda: integrate(mechanism, replace(state, x=x), [0.0, 0.1]), "the rotation of 'rod' must be a rotation")


# --- inputs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            {"force rod.tp": Z},
            "no external port 'force rod.tp': there are 'force rod.tip', 'torque rod.tip', 'load rod.load'",
        ),
        ({"force rod.tip": 1.0}, r"input 'force rod.tip' must have 3 entries, got shape \(\)"),
        ({"force rod.tip": (0.0, 1.0)}, r"input 'force rod.tip' must have 3 entries, got shape \(2,\)"),
        ({"torque rod.tip": 1.0}, r"input 'torque rod.tip' must have 3 entries, got shape \(\)"),
        ({"torque rod.tip": lambda t: (0.0, 0.0, NAN)}, "input 'torque rod.tip' at t = 0.05 s must be finite"),
        ({"load rod.load": (1.0, 2.0)}, r"input 'load rod.load' must have 6 entries, got shape \(2,\)"),
        ({"load rod.load": np.zeros((3, 2))}, r"input 'load rod.load' must have 6 entries, got shape \(3, 2\)"),
        ({"force rod.tip": "strong"}, r"inputs\['force rod.tip'\] must be a function, a list of numbers, a number"),
    ],
)
def test_wrong_inputs_are_refused(inputs, message):
    mechanism = ball(force("rod.tip"), torque("rod.tip"), distributed_load("rod.load"), body=BEAM)
    state = start_of(mechanism)
    refused(lambda: integrate(mechanism, state, [0.0, 0.1], inputs=inputs), message)


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (lambda t: np.array(SKEWED), r"the driven rotation at t = 0.0 s must be orthogonal: .RᵀR − 1. = 1e-01"),
        (lambda t: MIRROR, r"the driven rotation at t = 0.0 s must be a rotation: its determinant is −1"),
        (lambda t: np.full((3, 3), NAN), r"the driven rotation at t = 0.0 s must be"),
        (lambda t: 0.3, r"the driven rotation at t = 0.0 s must be a rotation matrix .* got shape \(\)"),
        (lambda t: None, "the driven rotation at t = 0.0 s must be"),
        (lambda t: "left", "the driven rotation at t = 0.0 s must be"),
    ],
)
def test_wrong_driven_rotations_are_refused(motion, message):
    mechanism = ball(drive("rod.root", rotation=motion))
    refused(mechanism.assemble, message)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: (0.0, 1.0), r"a driven position must be \(x, y, z\) at all times, got \(0.0, 1.0\) at t = 0.0 s"),
        (
            lambda t: (0.0, 0.0, NAN),
            "drive rod.root–GROUND: z: the prescribed value at t = 0.0 s must be finite, got nan",
        ),
        (lambda t: 0.0, r"a driven position must be \(x, y, z\) at all times, got 0.0"),
    ],
)
def test_wrong_driven_positions_are_refused(function, message):
    mechanism = connect({"rod": ROD}, [drive("rod.root", position=function)])
    refused(mechanism.assemble, message)


# when a drive breaks, the value at the end of the third step, t = 0.3 s, is the first that cannot be used
BREAKING = {
    "stretched": (lambda t: (1.0 if t < 0.25 else 1.1) * np.eye(3), "must be orthogonal"),
    "mirrored": (lambda t: np.eye(3) if t < 0.25 else MIRROR, "must be a rotation: its determinant is −1"),
    "not a number": (lambda t: np.eye(3) * (1.0 if t < 0.25 else NAN), "must be finite"),
    "nothing": (lambda t: np.eye(3) if t < 0.25 else None, "must be"),
    "an error": (lambda t: np.eye(3) if t < 0.25 else 1 / 0, "division by zero"),
}


@pytest.mark.parametrize("name", BREAKING)
def test_a_driven_rotation_that_stops_being_one_keeps_the_finished_steps(name):
    motion, message = BREAKING[name]
    mechanism = connect({"rod": block()}, [spherical("rod.p", ORIGIN), drive("rod.p", ORIGIN, rotation=motion)])
    with pytest.raises(InputError, match=f"between t = 0.2 s and 0.3 s: .*{message}") as caught:
        integrate(mechanism, start_of(mechanism), np.linspace(0.0, 0.5, 6))
    assert isinstance(caught.value, ValueError)
    assert caught.value.solution.times == pytest.approx([0.0, 0.1, 0.2])
    assert caught.value.solution.final.time == pytest.approx(0.2)


def test_a_driven_rotation_without_a_rate():
    turn = lambda t: Rotation.from_rotvec((0.0, 0.0, math.cbrt(t)))  # noqa: E731
    refused(lambda: start_of(ball(drive("rod.root", rotation=turn))), "no derivative at t = 0.0")


# --- statics and reactions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spin": 1.0}, r"spin must have shape \(3,\), got \(1"),
        ({"spin": (0.0, 1.0)}, r"spin must have shape \(3,\), got \(2"),
        ({"spin": (0.0, 0.0, NAN)}, "spin must be finite"),
        ({"spin": (0.0, 0.0, 1.0), "about": (0.0, 0.0)}, r"about must have shape \(3,\), got \(2"),
        ({"spin": (1.0, 0.0, 0.0)}, "a steady rotation needs gravity along its axis"),
        ({"inputs": {"force rod.tip": Z}}, "no external port 'force rod.tip': there are none"),
        ({"time": NAN}, "time must be finite"),
        ({"redundant": "drop"}, "redundant must be one of 'refuse', 'least_norm', got 'drop'"),
    ],
)
def test_wrong_options_of_equilibria_are_refused(options, message):
    mechanism = pendulum(gravity=(0.0, 0.0, -9.81))
    refused(lambda: mechanism.equilibrium(mechanism.assemble(), **options), message)


def test_a_body_that_falls_has_no_equilibrium(monkeypatch):
    monkeypatch.setattr(searches, "SEARCH", replace(searches.SEARCH, most=5))
    mechanism = connect({"rod": ROD}, [], gravity=(0.0, 0.0, -9.81))
    with pytest.raises(ArithmeticError, match=r"equilibrium|balance"):
        mechanism.equilibrium(mechanism.assemble())


def test_reactions_are_asked_by_name():
    mechanism = pendulum(torsion_spring("rod.root", ORIGIN, stiffness=1.0, axis=Z))
    state = start_of(mechanism)
    name = "hinge rod.root–GROUND at (0.0, 0.0, 0.0)"
    refused(lambda: mechanism.reaction(state, "hinge"), "no joint 'hinge': there are 'hinge rod.root")
    refused(lambda: mechanism.reaction(state, mechanism.connections[1].name), "no joint 'torsion spring")
    refused(lambda: mechanism.reaction(state, name, on="third"), "on must be one of 'first', 'second', got 'third'")
    refused(lambda: mechanism.reaction(state, name, frame="body"), "frame must be one of 'world', 'first', 'second'")


def test_states_and_poses_of_other_mechanisms():
    mechanism, other = pendulum(), connect({"rod": ROD, "bob": POINT}, [])
    refused(lambda: integrate(other, start_of(mechanism), [0.0, 1.0]), "the state must have 24 entries, got 18")
    refused(lambda: mechanism.spectrum(mechanism.assemble()), "state must be a State|must be a State")
    refused(lambda: mechanism.linearize("rest"), "about must be a Pose or a State, see mechanism.assemble")
