"""Equilibria of balls on faces that deform: distances and their derivatives, and shares of several faces."""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, force, integrate, prismatic, spring_damper, weld
from flexph.analysis import limit_load
from flexph.contacts import Box, Capsule, KelvinVoigt, Mesh, Rigid, Skin, Sphere, contact
from flexph.joints.rows.connection import Connection, Form, Measure, Row
from flexph.joints.rows.distances import distance_along
from flexph.joints.rows.laws import Distances
from flexph.kernels.state import derive
from flexph.mechanisms.model.constraints import constraint_gap, moved
from flexph.mechanisms.model.state import at_rest
from flexph.mechanisms.model.time_table import anchor
from flexph.mechanisms.statics.balance import problem, stiffness_at
from flexph.mechanisms.statics.steady_rotation import steady_rotation
from flexph.methods import Exact
from flexph.numerics.arrays import dense

RUBBER = fem.Material(young=1e6, density=1100.0, poisson=0.4)
MASS, RADIUS, G, STIFFNESS = 0.5, 0.04, 9.81, 2e5


def bodies_apart(seed):
    """Two free bodies, four points, and contacts of all kinds of distances between them at a random pose."""
    rng = np.random.default_rng(seed)
    bodies = {name: rigid.body(1.0, inertia=(0.1, 0.2, 0.25), ports={"c": rng.normal(size=3)}) for name in "ab"}
    bodies |= {f"n{k}": rigid.point(1.0, 3) for k in range(4)}
    ports, law = [f"n{k}.point" for k in range(4)], KelvinVoigt(300.0)
    points = np.vstack([np.zeros(3), rng.normal(size=(4, 3))])
    cells = [(0, k, k + 1) for k in (1, 2, 3)]
    shapes = [
        contact(Sphere("a.c", 0.1), Skin(ports, [(0, 1, 2), (1, 3)]), law, name="skin"),
        contact(Sphere("a.c", 0.1), Mesh("b.c", (points, cells)), law, name="mesh"),
        contact(Capsule("a.c", 1.0, 0.1, (0.0, 1.0, 0.5)), Capsule("b.c", 0.7, 0.1, (1.0, 0.0, 0.3)), law, name="bars"),
        contact(Sphere("a.c", 0.1), Box("b.c", (0.4, 0.5, 0.6), round=0.05), law, name="box"),
    ]
    mechanism = connect(bodies, shapes)
    turns = np.linalg.qr(rng.normal(size=(2, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    pose = {name: (rng.normal(size=3), turn) for name, turn in zip("ab", turns, strict=True)}
    return mechanism, mechanism.assemble(pose | {f"n{k}": rng.normal(size=3) for k in range(4)})


@pytest.mark.parametrize("seed", range(4))
def test_forces_and_stiffness_of_closed_contacts(seed):
    """Springs on distances and rows of their sums: the stiffness and the rows against differences."""
    mechanism, pose = bodies_apart(seed)
    joints, multipliers = [], []
    for own in mechanism.connections:
        gaps = [gap for gap in own.form.gaps if gap.kind in ("shape", "segments", "face")]
        distances = [distance_along(gap.kind, gap.vectors, gap.shape, gap.blend) for gap in gaps]
        springs = [Measure("distance", (), 50.0 + k, 0.0, 0.3, str(k), distance=d) for k, d in enumerate(distances)]
        weights = tuple(1.0 - 0.4 * k for k in range(len(distances)))
        form = Form(measures=tuple(springs), rows=(Row("sum", Distances(weights, tuple(distances), 0.2)),))
        joints.append(Connection("contact", own.ports, label=own.name, form=form))
        multipliers.append(7.0 - len(multipliers))
    closed = mechanism.replace(joints=joints)
    a, lam = closed.network.arrays, np.array(multipliers)
    c = at_rest(closed, pose.centres, pose.rotations)
    anchors = anchor(closed, derive(a, c).product)
    given = problem(closed, anchors, 0.0, inputs={}, steady=steady_rotation(closed, None, None))
    reach, size = 1e-6, closed.layout.velocities
    stiffness, rows = [], []
    for step in reach * np.eye(size):
        ends = [moved(closed, c, way * step) for way in (1.0, -1.0)]
        before, after = (given.unbalanced(end, lam) for end in ends)
        stiffness.append((before - after) / (2.0 * reach))
        before, after = (constraint_gap(closed, end, given.table, 0.0) for end in ends)
        rows.append((before - after) / (2.0 * reach))
    exact = dense(stiffness_at(given, c, a, lam))
    assert np.abs(exact).max() > 10.0
    np.testing.assert_allclose(exact, np.array(stiffness).T, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(dense(given.constraints(c)), np.array(rows).T, atol=1e-8)


def pad(strain="linear"):
    """A rubber block on the ground, its ports on top, and the skin there."""
    mesh = fem.box_mesh((0.2, 0.1, 0.05), (4, 2, 1))
    top = fem.surface_ports(mesh, "top")
    options = {"reference": "base"} if strain == "linear" else {"strain": "finite"}
    ports, damping = {"base": "bottom", **top.ports}, fem.Damping(stiffness=4e-3)
    return fem.solid(mesh, RUBBER, ports=ports, damping=damping, **options), top, Skin(top.of("pad"), top.cells)


LAW = KelvinVoigt(STIFFNESS, damping=100.0)


def on_pad(place, strain="linear", *, guided=True, law=LAW):
    """A ball on the pad, on a vertical guide or free, with a force on it."""
    body, top, skin = pad(strain)
    ball = rigid.body(MASS, inertia=(1e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    guide = prismatic("ball.centre", GROUND.at(*place, 0.0), direction=(0.0, 0.0, 1.0))
    touch = contact(Sphere("ball.centre", RADIUS), skin, law, name="touch")
    held = [weld("pad.base", GROUND.at(0.1, 0.05, 0.0)), touch, force("ball.centre", name="push")]
    mechanism = connect({"pad": body, "ball": ball}, [*held, guide] if guided else held, gravity=(0.0, 0.0, -G))
    return mechanism, mechanism.assemble({"ball": ((*place, 0.09), np.eye(3))}), top


@pytest.mark.parametrize("strain", ["linear", "finite"])
def test_a_guided_ball_rests_as_at_the_end_of_a_damped_run(strain):
    """Height, force and shape of the surface; a run from the equilibrium stays there."""
    mechanism, pose, top = on_pad((0.11, 0.03), strain)
    state = mechanism.equilibrium(pose)
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.5, 251))
    assert mechanism.position(state, "ball.centre")[2] == pytest.approx(run["ball.centre"][-1, 2], abs=1e-10)
    for port in top.of("pad"):
        np.testing.assert_allclose(mechanism.position(state, port), run.position(port)[-1], atol=1e-10)
    still = integrate(mechanism, state, np.linspace(0.0, 0.02, 11))
    assert np.ptp(still["ball.centre"], axis=0).max() < 1e-12
    assert still.contact("touch").normal[-1] == pytest.approx(run.contact("touch").normal[-1], rel=1e-7)


def test_linearised_compliance_of_a_ball_on_a_skin():
    """The static answer of the linear system to a push against the difference of two equilibria."""
    mechanism, pose, _ = on_pad((0.11, 0.03))
    state, push = mechanism.equilibrium(pose), 1e-3
    heights = [
        mechanism.position(mechanism.equilibrium(pose, inputs={"push": (0.0, 0.0, way * push)}), "ball.centre")[2]
        for way in (1.0, -1.0)
    ]
    system = mechanism.linearize(state)
    n = int(system.kinetic.sum())
    root, forces = system.J[n:, :n].T, system.B[:n, system.ports["push"]][:, 2]
    shift = np.linalg.solve(root @ root.T, forces)  # displacements of the free velocities
    assert forces @ shift == pytest.approx((heights[0] - heights[1]) / (2.0 * push), rel=1e-6)


@pytest.mark.parametrize("start", [(0.1, 0.052), (0.06, 0.04), (0.104, 0.05)])
def test_a_free_ball_rests_in_its_dent_on_several_faces(start):
    """The gaps of the faces that carry it are equal, all others are larger, and the forces balance its weight."""
    mechanism, pose, top = on_pad(start, guided=False)
    state = mechanism.equilibrium(pose)  # stable, or a warning would fail the test
    closed, at = mechanism.with_closed_contacts(state)
    shares = {
        int(name.split(": ")[1]) - 1: value
        for name, value in zip(closed.constraint_names, at.multipliers, strict=True)
        if name.endswith(": share")
    }
    assert len(shares) >= 1 and min(shares.values()) > 0.0
    centre = mechanism.position(state, "ball.centre")
    corners = np.array([mechanism.position(state, port) for port in top.of("pad")])
    gaps, normals = [], []
    for a, b, c in (corners[list(cell)] for cell in top.cells):
        normal = np.cross(b - a, c - a)
        normal *= np.sign(normal[2]) / np.linalg.norm(normal)
        s, t, gap = np.linalg.solve(np.column_stack([b - a, c - a, normal]), centre - a)
        inside = min(s, t, 1.0 - s - t) >= 0.0
        gaps.append(gap - RADIUS if inside else np.inf)
        normals.append(normal)
    gaps = np.array(gaps)
    carrying = np.flatnonzero(gaps <= gaps.min() + 1e-11)
    assert len(carrying) == len(shares) + 1
    (lead,) = set(carrying.tolist()) - set(shares)
    whole = -STIFFNESS * gaps.min()
    pressing = shares | {lead: whole - sum(shares.values())}
    assert pressing[lead] > 0.0
    total = sum(force * normals[k] for k, force in pressing.items())
    np.testing.assert_allclose(total, (0.0, 0.0, MASS * G), atol=1e-7)


@pytest.mark.processor
@pytest.mark.parametrize("mode", ["steps", "events"])
def test_a_run_by_rigid_contact_stays_in_the_dent(mode):
    """Statics by a linear programme and impulses by complementarity give the same shares of three faces."""
    mechanism, pose, _ = on_pad((0.1, 0.052), guided=False, law=Rigid())
    state = mechanism.equilibrium(pose)
    closed, at = mechanism.with_closed_contacts(state)
    shares = [x for name, x in zip(closed.constraint_names, at.multipliers, strict=True) if name.endswith("normal")]
    assert len(shares) == 3 and min(shares) > 0.0
    step, moved = 1e-3, 1e-12
    run = integrate(mechanism, state, step * np.arange(51), method=Exact(contact=mode))
    assert np.ptp(run["ball.centre"], axis=0).max() < moved
    inertia = MASS * moved / step**2  # force of such a motion within a step: 1e-7 of the weight
    np.testing.assert_allclose(run.contact("touch").normal, sum(shares), rtol=0.0, atol=inertia)


def test_a_sheet_of_points_carries_a_ball():
    """Springs under the corners of one face share the weight by the place of the ball, in closed form to 0.5 %."""
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    bodies = {f"n{k}": rigid.point(0.1, 3) for k in range(3)}
    bodies["ball"] = rigid.point(1.0, 3)
    posts = [
        spring_damper(f"n{k}.point", GROUND.at(x, y, -1.0), stiffness=1e4, damping=1.0, length=1.0, name=f"post {k}")
        for k, (x, y, _) in enumerate(corners)
    ]
    skin = Skin([f"n{k}.point" for k in range(3)], [(0, 1, 2)])
    touch = contact(Sphere("ball.point", 0.1), skin, KelvinVoigt(1e5), name="touch")
    sides = [
        spring_damper(f"n{k}.point", GROUND.at(x + dx, y + dy, 0.0), stiffness=1e5, damping=0.0, length=1.0)
        for k, (x, y, _) in enumerate(corners)
        for dx, dy in ((1.0, 0.0), (0.0, 1.0))
    ]
    hold = [
        spring_damper("ball.point", GROUND.at(*at, 0.1), stiffness=1e5, damping=0.0, length=5.0)
        for at in ((5.3, 0.2), (0.3, 5.2))
    ]
    mechanism = connect(bodies, [*posts, *sides, *hold, touch], gravity=(0.0, 0.0, -G))
    pose = mechanism.assemble({f"n{k}": c for k, c in enumerate(corners)} | {"ball": (0.3, 0.2, 0.1)})
    state = mechanism.equilibrium(pose)
    sunk = np.array([mechanism.position(state, f"n{k}.point")[2] for k in range(3)])
    np.testing.assert_allclose(-1e4 * sunk, G * (np.array([0.5, 0.3, 0.2]) + 0.1), rtol=5e-3)


def test_closed_contacts_on_skins_are_for_rest_only():
    """Runs and analyses at poses refuse the mechanism whose contacts are distances; limit loads refuse skins."""
    mechanism, pose, _ = on_pad((0.11, 0.03))
    closed, at = mechanism.with_closed_contacts(mechanism.equilibrium(pose))
    with pytest.raises(ValueError, match="exist at rest only: integrate the mechanism with its contacts"):
        integrate(closed, at, [0.0, 1e-3])
    for call in (closed.linearize, lambda p: closed.eigenfrequencies([p], 1)):
        with pytest.raises(ValueError, match=r"does not support contacts closed at edges.*'touch: "):
            call(pose)
    with pytest.raises(ValueError, match=r"limit_load takes contacts of points.*'touch' touches"):
        limit_load(mechanism, pose, inputs={"push": (0.0, 0.0, -1.0)})


@pytest.mark.processor
def test_a_spring_presses_a_ball_into_a_skin_without_gravity_at_every_scale():
    """A tension spring from a point under the pad: the faces carry its force, and lengths scale with the model."""

    def at_scale(s):
        mesh = fem.box_mesh((0.2 * s, 0.1 * s, 0.05 * s), (4, 2, 1))
        top = fem.surface_ports(mesh, "top")
        pad = fem.solid(mesh, RUBBER, ports={"base": "bottom", **top.ports}, reference="base")
        bodies = {"pad": pad, "ball": rigid.body(s**3, inertia=(6e-4 * s**5,) * 3, ports={"centre": (0.0, 0.0, 0.0)})}
        end, stiffness = np.array([0.09, 0.045, -0.1]) * s, 1e3 * s
        pull = spring_damper("ball.centre", GROUND.at(*end), stiffness=stiffness, length=0.18 * s)
        touch = contact(Sphere("ball.centre", RADIUS * s), Skin(top.of("pad"), top.cells), Rigid(), name="touch")
        mechanism = connect(bodies, [weld("pad.base", GROUND.at(0.1 * s, 0.05 * s, 0.0)), touch, pull])
        rest = mechanism.equilibrium(mechanism.assemble({"ball": ((0.09 * s, 0.045 * s, 0.0905 * s), np.eye(3))}))
        held, state = mechanism.with_closed_contacts(rest)
        centre = mechanism.position(rest, "ball.centre")
        tension = stiffness * (np.linalg.norm(centre - end) - 0.18 * s)
        multipliers = zip(held.constraint_names, state.multipliers, strict=True)
        normal = sum(value for name, value in multipliers if "normal" in name)
        return centre / s, normal / tension

    place, carried = at_scale(1.0)
    assert carried == pytest.approx(1.0, rel=1e-2) and abs(place[:2] - (0.09, 0.045)).max() < 2e-3  # nearly vertical
    for scale in (1e-3, 1e3):
        np.testing.assert_allclose(at_scale(scale)[0], place, atol=1e-9)
