"""Skins: balls on faces of moving corners, which the closest face carries."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

import fem
import rigid
from flexph import connect, force, integrate, prismatic, spring_damper, weld
from flexph.contacts import Box, Hertz, KelvinVoigt, Plane, Rigid, Skin, Sphere, contact
from flexph.joints.rows.vectors import GROUND
from flexph.kernels.contacts.distances import closest_of_face
from flexph.kernels.contacts.gaps import BASE
from flexph.kernels.surfaces.faces import face_squares
from flexph.kernels.surfaces.surfaces import PLACES
from flexph.methods import Exact
from flexph.results import static_solution

ROUND_OFF = 1e-12
RUBBING = KelvinVoigt(2e3, damping=3.0, friction=0.4, slip_velocity=0.01)


def sheet(seed, law, extra=()):
    """Nine point masses and springs as a bent sheet of eight triangles, a ball that flies at it with spin."""
    rng = np.random.default_rng(seed)
    places = np.array([(x, y, 0.05 * np.sin(3.0 * x + 2.0 * y)) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)])
    places += 0.02 * rng.normal(size=(9, 3))
    firsts = [3 * i + j for i in range(2) for j in range(2)]
    cells = [cell for a in firsts for cell in ((a, a + 3, a + 1), (a + 3, a + 4, a + 1))]
    edges = sorted({tuple(sorted(pair)) for cell in cells for pair in pairwise((*cell, cell[0]))})
    bodies = {f"n{k}": rigid.point(0.2, 3) for k in range(9)}
    bodies["ball"] = rigid.body(1.0, inertia=(4e-3, 5e-3, 6e-3), ports={"centre": (0.0, 0.0, 0.0)})
    joints = [spring_damper(f"n{a}.point", f"n{b}.point", stiffness=300.0, name=f"spring {a} {b}") for a, b in edges]
    skin = Skin([f"n{k}.point" for k in range(9)], cells)
    joints.append(contact(Sphere("ball.centre", 0.1), skin, law, name="touch"))
    mechanism = connect(bodies, [*joints, *extra])
    pose = {f"n{k}": places[k] for k in range(9)} | {"ball": ((0.3, 0.45, 0.25), np.eye(3))}
    velocities = {f"n{k}": rng.normal(0.0, 0.2, 3) for k in range(9)}
    velocities["ball"] = ((0.5 * rng.normal(), 0.5, -2.0), rng.normal(0.0, 5.0, 3))
    return mechanism, mechanism.consistent_state(mechanism.assemble(pose), velocities=velocities)


@pytest.mark.parametrize("law", [KelvinVoigt(2e3), Hertz(2e4), RUBBING], ids=["linear", "hertz", "rubbing"])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_balance_and_momenta(law, seed):
    """The ball crosses edges of the sheet while it touches, and with seeds 1 and 3 rides on them."""
    mechanism, start = sheet(seed, law)
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 301))
    assert run.ledger.impulses["touch: normal"].sum() > 1.0
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.ptp(momentum, axis=0).max() < 1e-12
    assert all(own.min() > -1e-12 * run.ledger.scale for own in run.ledger.dissipation.values())


def test_the_distance_of_faces():
    """The closest points of random triangles against a general minimisation, and the slopes against differences."""
    rng = np.random.default_rng(5)
    for k in range(40):
        V, W, U = rng.normal(0.0, (1.5, 1.0, 1.0), (3, 3)).T
        base = rng.uniform(0.0, 0.5, 2) if k % 2 else np.zeros(2)
        Y = V - base[0] * W - base[1] * U
        x = np.array([Y @ Y, Y @ W, Y @ U, W @ W, W @ U, U @ U])
        near, bent = np.zeros((2, PLACES)), np.zeros((7, 6))
        near[:, BASE : BASE + 2] = base
        shifted = x + 1e-4 * rng.normal(size=6)
        face_squares(np.array([[3.0]]), np.array([x, shifted]), near, bent)
        square = lambda p, V=V, W=W, U=U: np.sum((V - p[0] * W - p[1] * U) ** 2)  # noqa: E731
        inside = {"type": "ineq", "fun": lambda p: 1.0 - p[0] - p[1]}
        found = [
            minimize(square, at, bounds=[(0, 1)] * 2, constraints=inside, tol=1e-14) for at in ((0.3, 0.3), (0.0, 0.9))
        ]
        assert near[0, 0] == pytest.approx(min(own.fun for own in found), abs=1e-7)
        assert square(near[0, 1:3]) == pytest.approx(near[0, 0], abs=1e-12)
        assert bent[0] @ (shifted - x) == pytest.approx(near[1, 0] - near[0, 0], abs=1e-13)


def test_a_ball_lies_on_a_face_with_its_weight_on_the_corners():
    """In closed form: the depth is mg/k, and the corners share the weight by the place of the ball."""
    law, corners = KelvinVoigt(1e4, damping=200.0), [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    bodies = {f"n{k}": rigid.point(0.1, 3) for k in range(3)}
    bodies["ball"] = rigid.body(1.0, inertia=(4e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    joints = [
        spring_damper(f"n{k}.point", GROUND.at(x, y, -1.0), stiffness=1e6, damping=100.0, length=1.0, name=f"post {k}")
        for k, (x, y, _) in enumerate(corners)
    ]
    joints.append(
        contact(Sphere("ball.centre", 0.1), Skin([f"n{k}.point" for k in range(3)], [(0, 1, 2)]), law, name="touch")
    )
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -9.81))
    pose = {f"n{k}": corner for k, corner in enumerate(corners)} | {"ball": ((0.3, 0.2, 0.1), np.eye(3))}
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble(pose)), np.linspace(0.0, 0.2, 401))
    sunk = np.array([run[f"n{k}.centre"][-1, 2] for k in range(3)])
    np.testing.assert_allclose(-1e6 * sunk, 9.81 * (np.array([0.5, 0.3, 0.2]) + 0.1), rtol=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Skin(["a.x", "a.y"], [(0, 2)]), "must name ports from 0 to 1"),
        (lambda: Skin(["a.x", "a.y"], [(0, 0)]), "2 or 3 different numbers"),
        (lambda: Skin(["a.x", "a.x"], [(0, 1)]), "two or more different ports"),
        (lambda: contact("b.x", Skin(["a.x", "a.y"], [(0, 1)]), RUBBING).formed(3), "passes through a skin"),
        (
            lambda: contact(Sphere("b.x", 0.1), Skin(["a.x", "a.y"], [(0, 1)]), Hertz(1e3, friction=0.3)).formed(3),
            "slip_velocity= only",
        ),
    ],
)
def test_bad_skins_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_skins_touch_planes_and_boxes_by_their_corners():
    skin = Skin(["a.x", "a.y", "a.z"], [(0, 1, 2)])
    assert len(contact(skin, Plane(GROUND.at(0, 0, 0), (0, 0, 1)), RUBBING).formed(3).form.gaps) == 3
    assert len(contact(skin, Box("b.x", (1.0, 1.0, 1.0)), RUBBING).formed(3).form.gaps) == 3


RUBBER = fem.Material(young=1e6, density=1100.0, poisson=0.4)


def pad(strain="linear"):
    """A rubber block on the ground, its ports on top, and the skin there."""
    mesh = fem.box_mesh((0.2, 0.1, 0.05), (4, 2, 1))
    top = fem.surface_ports(mesh, "top")
    options = {"reference": "base"} if strain == "linear" else {"strain": "finite"}
    damping = fem.Damping(stiffness=4e-3)
    body = fem.solid(mesh, RUBBER, ports={"base": "bottom", **top.ports}, damping=damping, **options)
    return body, top, Skin(top.of("pad"), top.cells)


@pytest.mark.parametrize("strain", ["linear", "finite"])
def test_a_ball_rolls_over_a_solid(strain):
    """It comes from face to face; energy and the work of friction are in balance, and it keeps rolling."""
    body, _, skin = pad(strain)
    law = KelvinVoigt(2e5, damping=50.0, friction=0.5, slip_velocity=1e-3)
    joints = [
        weld("pad.base", GROUND.at(0.1, 0.05, 0.0)),
        contact(Sphere("ball.centre", 0.04), skin, law, name="touch"),
    ]
    mechanism = connect({"pad": body, "ball": rigid.sphere(0.04, density=2000.0)}, joints, gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(
        mechanism.assemble({"ball": ((0.04, 0.05, 0.09), np.eye(3))}),
        velocities={"ball": ((0.5, 0.0, 0.0), (0.0, 0.5 / 0.04, 0.0))},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 201))
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    assert run["ball.centre"][-1, 0] > 0.12  # of 0.14 without loss: over two columns of faces
    assert np.abs(run["ball.centre"][:, 2] - 0.09).max() < 2e-3


def test_a_ball_at_rest_on_a_solid_against_static_deflection():
    """Its height follows from the solid under the shares of its weight at the corners, without contact."""
    body, top, skin = pad()
    place, radius, weight, stiffness = np.array([0.11, 0.03]), 0.04, 9.81 * 0.5, 2e5
    ball = rigid.body(0.5, inertia=(1e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    held = weld("pad.base", GROUND.at(0.1, 0.05, 0.0))
    guide = prismatic("ball.centre", GROUND.at(*place, 0.0), direction=(0.0, 0.0, 1.0))
    law = KelvinVoigt(stiffness, damping=100.0)
    touch = contact(Sphere("ball.centre", radius), skin, law, name="touch")
    mechanism = connect({"pad": body, "ball": ball}, [held, guide, touch], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"ball": ((*place, 0.09), np.eye(3))}))
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 501))
    height = run["ball.centre"][-1, 2]
    assert np.ptp(run["ball.centre"][-50:, 2]) < 1e-9  # at rest

    at_rest = {name: run.position(port)[-1] for name, port in zip(top.ports, top.of("pad"), strict=True)}
    names, corners = list(top.ports), np.array(list(at_rest.values()))
    centre = np.array([*place, height])
    inside = []
    for cell in top.cells:  # the face below the ball
        a, b, c = corners[list(cell)]
        s, t = np.linalg.lstsq(np.column_stack([b - a, c - a]), centre - a, rcond=None)[0]
        if min(s, t, 1.0 - s - t) > 0.0:
            inside.append((cell, np.array([1.0 - s - t, s, t])))
    ((cell, shares),) = inside
    loads = [force(f"pad.{names[k]}", name=f"load {k}") for k in cell]
    loaded = connect({"pad": body}, [held, *loads], gravity=(0.0, 0.0, -9.81))
    normal, pose = np.array([0.0, 0.0, 1.0]), loaded.assemble({})
    for _ in range(4):
        pressing = weight / normal[2]
        inputs = {f"load {k}": tuple(-pressing * share * normal) for k, share in zip(cell, shares, strict=True)}
        rest = loaded.equilibrium(pose, inputs=inputs)
        below = static_solution(loaded, rest)
        a, b, c = (below.position(f"pad.{names[k]}")[-1] for k in cell)
        normal = np.cross(b - a, c - a)
        normal *= np.sign(normal[2]) / np.linalg.norm(normal)
        foot = np.linalg.solve(np.column_stack([b - a, c - a, normal]), centre - a)
        shares = np.array([1.0 - foot[0] - foot[1], foot[0], foot[1]])
        centre[2] = (a @ normal + radius - pressing / stiffness - place @ normal[:2]) / normal[2]
    assert height < 0.09 - 2.0 * weight / stiffness  # the solid gives way by more than the law
    assert height == pytest.approx(centre[2], abs=1e-9)


def least_gap(run, top):
    """Least gap [m] of a ball to all faces of the pad over a run."""
    corners, centre = np.array([run.position(port) for port in top.of("pad")]), run["ball.centre"]
    pairs = (
        np.array([centre[k] - corners[a, k], corners[b, k] - corners[a, k], corners[c, k] - corners[a, k]])
        for a, b, c in top.cells
        for k in range(len(centre))
    )
    return min(closest_of_face(vectors)[0] for vectors in pairs) - 0.04


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("mode", ["steps", "events"])
def test_rigid_contact_of_a_ball_with_a_solid(mode, friction):
    """It lands, rolls and slips over faces without penetration; energy is in balance, and no contact supplies any."""
    body, top, skin = pad()
    touch = contact(Sphere("ball.centre", 0.04), skin, Rigid(friction=friction), name="touch")
    joints = [weld("pad.base", GROUND.at(0.1, 0.05, 0.0)), touch]
    mechanism = connect({"pad": body, "ball": rigid.sphere(0.04, density=2000.0)}, joints, gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(
        mechanism.assemble({"ball": ((0.05, 0.03, 0.092), np.eye(3))}),
        velocities={"ball": ((0.5, 0.1, 0.0), (0.0, 4.0, 0.0))},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.15, 151), method=Exact(contact=mode))
    assert run.contact("touch").normal[-50:].min() > 0.0
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale
    assert all(own.min() > -1e-13 * run.ledger.scale for own in run.ledger.dissipation.values())
    assert least_gap(run, top) > -1e-12


@pytest.mark.parametrize("mode", ["steps", "events"])
def test_momenta_of_a_ball_and_a_free_solid_in_rigid_contact(mode):
    """Impulses and friction on the corners of a face and on the ball cancel, and so do their moments."""
    body, top, skin = pad()
    touch = contact(Sphere("ball.centre", 0.04), skin, Rigid(friction=0.4), name="touch")
    mechanism = connect({"pad": body, "ball": rigid.sphere(0.04, density=2000.0)}, [touch])
    start = mechanism.consistent_state(
        mechanism.assemble({"ball": ((0.08, 0.03, 0.0905), np.eye(3)), "pad": ((0.0, 0.0, 0.0), np.eye(3))}),
        velocities={"ball": ((0.3, 0.1, -0.5), (2.0, 4.0, 1.0)), "pad": ((0.0, 0.02, 0.1), (0.3, -0.2, 0.1))},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.03, 61), method=Exact(contact=mode))
    assert run.contact("touch").normal.max() > 0.0 or run.impacts.times.size
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.ptp(momentum, axis=0).max() < 1e-13
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale
    assert least_gap(run, top) > -1e-12


def test_a_ball_in_rigid_contact_rests_as_in_its_equilibrium():
    """The run stays at the equilibrium, whose pad is that under the law of a stiff spring to first order."""
    body, _, skin = pad()
    ball = rigid.body(0.5, inertia=(1e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    held = weld("pad.base", GROUND.at(0.1, 0.05, 0.0))
    guide = prismatic("ball.centre", GROUND.at(0.11, 0.03, 0.0), direction=(0.0, 0.0, 1.0))
    heights = []
    for law in (Rigid(), KelvinVoigt(2e5)):
        touch = contact(Sphere("ball.centre", 0.04), skin, law, name="touch")
        mechanism = connect({"pad": body, "ball": ball}, [held, guide, touch], gravity=(0.0, 0.0, -9.81))
        state = mechanism.equilibrium(mechanism.assemble({"ball": ((0.11, 0.03, 0.09), np.eye(3))}))
        heights.append(mechanism.position(state, "ball.centre")[2])
        run = integrate(mechanism, state, np.linspace(0.0, 0.02, 21))
        assert np.ptp(run["ball.centre"], axis=0).max() < 1e-12
        normal = run.contact("touch").normal[-1]
    assert heights[0] - heights[1] == pytest.approx(normal / 2e5, rel=1e-5)


def test_rigid_contact_with_faces_of_several_bodies_is_refused_by_name():
    with pytest.raises(ValueError, match=r"touch: an impulse of a Rigid contact acts on two bodies.*several frames"):
        sheet(0, Rigid())
    body, _, skin = pad("finite")
    with pytest.raises(ValueError, match=r"touch: .*use a solid of strain='linear'"):
        connect(
            {"pad": body, "ball": rigid.sphere(0.04, density=1e3)},
            [contact(Sphere("ball.centre", 0.04), skin, Rigid(), name="touch")],
        )
