"""Single bodies in redundant coordinates: matrices, ports and constraints by other routes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph.bodies import floating_body
from flexph.laws import viscous
from flexph.numerics.rotations import entries, skew

SPATIAL = [rigid.rotation_matrix(), rigid.quaternion(), rigid.angles(), rigid.angles("ZXZ")]
PLANAR = [rigid.angle(), rigid.planar_matrix()]
IN_SPACE = pytest.mark.parametrize("turn", SPATIAL, ids=lambda o: o.name)
EVERY = pytest.mark.parametrize("turn", SPATIAL + PLANAR, ids=lambda o: o.name)
TILTED = np.array([[0.5, 0.1, -0.05], [0.1, 0.6, 0.02], [-0.05, 0.02, 0.4]])
CENTRE = np.array([0.4, -0.1, 0.2])
POINT = np.array([0.3, 0.7, -0.5])
CLOSE = {"rtol": 1e-13, "atol": 1e-14}  # sums of products of numbers of order one


def inertia(turn):
    """What makes a body of the dimension of an orientation, its centre of mass at CENTRE."""
    return {"inertia": TILTED if turn.dim == 3 else 0.3, "centre": CENTRE[: turn.dim]}


def pose(turn, seed=0):
    """Random ζ of a free body with its position and rotation matrix."""
    rng = np.random.default_rng(seed)
    r = rng.standard_normal(turn.dim)
    zeta = turn.pose(r, Rotation.random(random_state=seed + 1) if turn.dim == 3 else rng.uniform(-3.0, 3.0))
    return zeta, *turn.placement(zeta)


def random_velocity(turn, seed=0):
    return np.random.default_rng(seed + 50).standard_normal(turn.dim + turn.spins)


def cross_product(a, b):
    """a × b in space, and of a spin and a vector or of two vectors in the plane."""
    if len(a) == 3:
        return np.cross(a, b)
    return a[0] * np.array([-b[1], b[0]]) if len(a) == 1 else np.array([a[0] * b[1] - a[1] * b[0]])


def differences(function, zeta, h=1e-6):
    return np.stack([(function(zeta + e) - function(zeta - e)) / (2 * h) for e in h * np.eye(zeta.size)], axis=-1)


# --- matrices


def test_planar_matrices_are_the_published_ones():
    """M, Z and G as the docstring and [rigid] sec. 7.1 state them."""
    m, (cx, cy), J = 2.0, CENTRE[:2], 0.3 + 2.0 * (0.4**2 + 0.1**2)
    body = rigid.free_body(m, inertia=0.3, centre=CENTRE[:2])
    np.testing.assert_allclose(body.mass, [[m, 0, -m * cy], [0, m, m * cx], [-m * cy, m * cx, J]], **CLOSE)
    zeta, (px, py, L) = np.array([1.0, 2.0, 0.7]), np.random.default_rng(1).standard_normal(3)
    np.testing.assert_array_equal(body.G(zeta, np.array([px, py, L])), [[0, 0, -py], [0, 0, px], [py, -px, 0]])
    c, s = np.cos(0.7), np.sin(0.7)
    np.testing.assert_array_equal(body.Z(zeta), [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    assert dict(body.parts) == {"position": slice(0, 2), "orientation": slice(2, 3)}
    assert dict(body.velocity_parts) == {"velocity": slice(0, 2), "spin": slice(2, 3)}


@IN_SPACE
def test_spatial_matrices_are_the_published_ones(turn):
    """M = [[m1, −m[c]×], [m[c]×, J_P]], −G = [[0, [p]×], [[p]×, [L]×]], Z = blkdiag(R, Z_rot)."""
    m, C = 2.0, 2.0 * skew(CENTRE, 3)
    J = TILTED + m * (CENTRE @ CENTRE * np.eye(3) - np.outer(CENTRE, CENTRE))
    body = rigid.free_body(m, inertia=TILTED, centre=CENTRE, orientation=turn)
    np.testing.assert_allclose(body.mass, np.block([[m * np.eye(3), -C], [C, J]]), **CLOSE)
    zeta, _, R = pose(turn)
    p, L = np.random.default_rng(2).standard_normal((2, 3))
    expected = np.block([[np.zeros((3, 3)), skew(p, 3)], [skew(p, 3), skew(L, 3)]])
    np.testing.assert_array_equal(-body.G(zeta, np.concatenate([p, L])), expected)
    np.testing.assert_allclose(body.Z(zeta)[:3], np.hstack([R, np.zeros((3, 3))]), **CLOSE)
    np.testing.assert_allclose(body.Z(zeta)[3:], np.hstack([np.zeros((turn.size, 3)), turn.Z(zeta[3:])]), **CLOSE)
    pivoted = rigid.pivoted_body(J, orientation=turn)
    np.testing.assert_allclose(pivoted.mass, J, **CLOSE)
    np.testing.assert_array_equal(pivoted.G(zeta[3:], L), -skew(L, 3))
    np.testing.assert_array_equal(pivoted.Z(zeta[3:]), turn.Z(zeta[3:]))


@pytest.mark.parametrize("turn", [rigid.rotation_matrix(), rigid.planar_matrix()], ids=lambda o: o.name)
def test_floating_bodies_have_the_same_matrices(turn):
    """[flex] remark 3 by the floating bodies: E and J of the velocities are M and −G."""
    made = inertia(turn)
    floating = floating_body(rigid.body(2.0, ports={}, **made))
    body = rigid.free_body(2.0, orientation=turn, **made)
    zeta, r, R = pose(turn)
    velocity = random_velocity(turn)
    x = np.concatenate([r, entries(R), velocity])
    own = slice(floating.parts["velocity"].start, floating.parts["spin"].stop)
    np.testing.assert_allclose(floating.E(x)[own, own], body.mass, **CLOSE)
    np.testing.assert_allclose(floating.J(x)[own, own], -body.G(zeta, body.mass @ velocity), **CLOSE)
    assert body.energy(zeta, velocity) == pytest.approx(floating.H(x), rel=1e-14)


@EVERY
def test_newton_and_euler_in_world_axes(turn):
    """Accelerations under a force and a torque: d/dt(Rp) = F + mg, d/dt(RL + r × Rp) = x × F + T + c × mg."""
    g = np.array([0.3, -9.0, 2.0])[: turn.dim]
    ports = {"tip": POINT[: turn.dim], "twist": rigid.Torque()}
    body = rigid.free_body(2.0, orientation=turn, gravity=g, ports=ports, **inertia(turn))
    zeta, r, R = pose(turn, 3)
    velocity, force = random_velocity(turn), np.array([0.7, -1.1, 0.4])[: turn.dim]
    torque = np.array([0.2, 0.9, -0.6])[: turn.spins]
    change = body.accelerations(zeta, velocity, inputs={"tip": force, "twist": torque}).velocities
    d = turn.dim
    (p, L), (dp, dL) = (np.split(body.mass @ w, [d]) for w in (velocity, change))
    v, omega = velocity[:d], velocity[d:]
    turned = R if d == 3 else np.eye(1)
    lever_spin = np.zeros(1) if d == 2 else np.cross(omega, L)
    np.testing.assert_allclose(R @ (dp + cross_product(omega, p)), force + 2.0 * g, rtol=1e-12, atol=1e-12)
    left = turned @ (dL + lever_spin) + cross_product(R @ v, R @ p) + cross_product(r, force + 2.0 * g)
    right = cross_product(r + R @ POINT[:d], force) + torque + cross_product(r + R @ CENTRE[:d], 2.0 * g)
    np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


@EVERY
@pytest.mark.parametrize("pivot", [False, True])
def test_weight_is_the_gradient_of_its_potential(turn, pivot):
    """V = −m g·r_c, by its gradient against differences; invariants are quadratic."""
    g = np.array([0.3, -9.0, 2.0])[: turn.dim]
    o = np.array([1.0, 2.0, 3.0])[: turn.dim]
    zeta, r, R = pose(turn)
    if pivot:
        J = TILTED + 5 * np.eye(3) if turn.dim == 3 else 5.0
        body = rigid.pivoted_body(J, mass=2.0, centre=CENTRE[: turn.dim], pivot=o, orientation=turn, gravity=g)
        zeta, r = zeta[turn.dim :], o
    else:
        body = rigid.free_body(2.0, orientation=turn, gravity=g, **inertia(turn))
    assert body.V(zeta) == pytest.approx(-2.0 * g @ (r + R @ CENTRE[: turn.dim]), rel=1e-13)
    np.testing.assert_allclose(body.V_gradient(zeta), differences(body.V, zeta), rtol=1e-7, atol=1e-7)


def test_links_may_have_no_mass():
    link = rigid.free_body(0.0, inertia=0.0, ports={"a": (0.0, 0.0), "b": (1.0, 0.0)})
    np.testing.assert_array_equal(link.mass, np.zeros((3, 3)))
    assert rigid.free_body(0, inertia=(0, 0, 0)).mass.shape == (6, 6)


# --- ports


@EVERY
def test_forces_act_along_the_velocity_of_their_point(turn):
    """B = Kᵀ Rᵀ, at a place whose rate is Bᵀϖ; also off the manifold, where the middle of a step is."""
    d, direction = turn.dim, np.array([0.6, 0.0, 0.8]) if turn.dim == 3 else np.array([0.6, 0.8])
    ports = {
        "tip": POINT[:d],
        "along": rigid.Force(POINT[:d], along=2.0 * direction),
        "wheel": rigid.Force(POINT[:d], along=direction, axes="body"),
        "jet": rigid.Force(POINT[:d], axes="body"),
    }
    body = rigid.free_body(2.0, orientation=turn, ports=ports, **inertia(turn))
    zeta, r, R = pose(turn)
    velocity = random_velocity(turn)
    inside = velocity[:d] + cross_product(velocity[d:], POINT[:d])
    rates = {k: (p.matrix(zeta) if callable(p.matrix) else p.matrix).T @ velocity for k, p in body.ports.items()}
    np.testing.assert_allclose(rates["tip"], R @ inside, **CLOSE)
    np.testing.assert_allclose(rates["along"], direction @ R @ inside, **CLOSE)
    np.testing.assert_allclose(rates["wheel"], direction @ inside, **CLOSE)
    np.testing.assert_allclose(rates["jet"], inside, **CLOSE)
    place = body.ports["tip"].position
    np.testing.assert_allclose(place.value(zeta), r + R @ POINT[:d], **CLOSE)
    np.testing.assert_allclose(body.ports["along"].position.value(zeta), [direction @ (r + R @ POINT[:d])], **CLOSE)
    off = zeta + 0.3 * np.random.default_rng(4).standard_normal(zeta.size)
    for at in (zeta, off):
        np.testing.assert_allclose(place.jacobian(at), differences(place.value, at), atol=1e-8)
        for name in ("tip", "along"):
            port = body.ports[name]
            np.testing.assert_allclose(
                port.position.jacobian(at) @ body.Z(at), port.matrix(at).T, rtol=1e-12, atol=1e-13
            )


@IN_SPACE
def test_torques_act_along_the_spin_about_their_axis(turn):
    n = np.array([0.6, 0.0, 0.8])
    ports = {
        "motor": rigid.Torque(about=3.0 * n, axes="body"),
        "mast": rigid.Torque(about=n),
        "body": rigid.Torque(axes="body"),
        "world": rigid.Torque(),
    }
    for body in (
        rigid.free_body(2.0, inertia=TILTED, orientation=turn, ports=ports),
        rigid.pivoted_body(TILTED, orientation=turn, ports=ports),
    ):
        zeta, _, R = pose(turn)
        zeta, spin = zeta[-body.positions :], np.eye(3, body.velocities, body.velocities - 3)
        expected = np.vstack([n @ spin, n @ R @ spin, spin, R @ spin]).T
        np.testing.assert_allclose(body.B(zeta), expected, **CLOSE)


@IN_SPACE
@pytest.mark.parametrize("sequence", ["xyz", "ZYX", "XZY", "ZXZ", "yzy"])
def test_gimbals_turn_by_their_angle(turn, sequence):
    """The output of a gimbal is the rate of its angle, whatever coordinates the body has."""
    ports = {f"{k}": rigid.Gimbal(k, sequence) for k in range(3)}
    body = rigid.pivoted_body(TILTED, orientation=turn, ports=ports)
    zeta = pose(turn, 5)[0][3:]
    known = rigid.angles(sequence)
    angles = known.coordinates(turn.rotation(zeta))
    np.testing.assert_allclose(body.B(zeta).T, known.Z(angles), rtol=1e-12, atol=1e-13)
    own = turn == known
    for k, port in enumerate(body.ports.values()):
        assert (port.position is not None) == own
        if own:
            assert port.position.value(zeta) == zeta[k]
            np.testing.assert_allclose(port.position.jacobian(zeta) @ body.Z(zeta), port.matrix(zeta).T, **CLOSE)


def test_locked_gimbals_are_named():
    body = rigid.pivoted_body(TILTED, ports={"a": rigid.Gimbal(1)}, sample=np.eye(3).ravel())
    locked = rigid.rotation_matrix().coordinates(Rotation.from_euler("y", 90, degrees=True).as_matrix().round())
    with pytest.raises(ValueError, match=r"the gimbal of angles\('xyz'\) is locked"):
        body.B(locked)


def test_frames_are_a_point_and_a_turn():
    for turn in (rigid.quaternion(), rigid.angle(), rigid.planar_matrix()):
        d = turn.dim
        body = rigid.free_body(2.0, orientation=turn, ports={"end": rigid.Frame(POINT[:d])}, **inertia(turn))
        assert list(body.ports) == ["end", "end.turn"]
        zeta, _, R = pose(turn)
        spin = np.eye(turn.spins, d + turn.spins, d)
        np.testing.assert_allclose(body.B(zeta)[:, d:].T, (R if d == 3 else 1.0) * 1.0 @ spin if d == 3 else spin)
        assert (body.ports["end.turn"].position is not None) == (turn == rigid.angle())


def test_dampers_lose_by_their_law():
    body = rigid.free_body(
        2.0,
        inertia=0.3,
        dampers={"drag": (rigid.Force(POINT[:2]), viscous(2.0)), "axle": (rigid.Torque(), viscous(0.1))},
    )
    zeta, velocity = np.array([1.0, 2.0, 0.7]), np.array([0.3, -0.4, 0.9])
    speed = velocity[:2] + 0.9 * np.array([-POINT[1], POINT[0]])
    assert velocity @ body.tau_d(zeta, velocity) == pytest.approx(2.0 * speed @ speed + 0.1 * 0.9**2, rel=1e-13)


# --- constraints


@EVERY
def test_points_on_lines_and_planes(turn):
    d = turn.dim
    rng = np.random.default_rng(11)
    along, through = rng.standard_normal((2, d))
    given = {"line": rigid.OnLine(POINT[:d], along, through), "pin": rigid.Pinned(POINT[:d], to=through)}
    if d == 3:
        given["plane"] = rigid.OnPlane(POINT, along, through)
    body = rigid.free_body(2.0, orientation=turn, constraints=given, **inertia(turn))
    zeta, r, R = pose(turn)
    apart = r + R @ POINT[:d] - through
    n = along / np.linalg.norm(along)
    line = body.constraints[0].map.value(zeta)
    assert line @ line == pytest.approx(apart @ apart - (n @ apart) ** 2, rel=1e-12)  # Pythagoras
    np.testing.assert_allclose(body.constraints[1].map.value(zeta), apart, **CLOSE)
    if d == 3:
        np.testing.assert_allclose(body.constraints[2].map.value(zeta), [n @ apart], **CLOSE)
    np.testing.assert_allclose(body.c_jacobian(zeta), differences(body.c, zeta), atol=1e-8)


@EVERY
def test_a_knife_edge_constrains_the_velocity_across_it(turn):
    d = turn.dim
    across = np.array([0.6, 0.8, 0.0])[:d]
    body = rigid.free_body(
        2.0, orientation=turn, constraints={"edge": rigid.KnifeEdge(POINT[:d], across)}, **inertia(turn)
    )
    velocity = random_velocity(turn)
    expected = across @ (velocity[:d] + cross_product(velocity[d:], POINT[:d]))
    np.testing.assert_allclose(body.A(pose(turn)[0]) @ velocity, [expected], **CLOSE)


def rolling(turn, radius=0.5, normal=(0.2, -0.3, 1.0)):
    """A body whose tilted disc stands on the ground, and where its lowest point is in world axes."""
    n = np.array(normal) / np.linalg.norm(normal)
    axis, ground = np.array([0.1, 1.0, -0.2]), np.array([0.3, 0.4, -0.5])
    disc = rigid.Rolling(radius, POINT, n, axis, ground)
    sample = turn.pose(np.zeros(3), Rotation.from_euler("xyz", (0.4, 0.5, 0.6)))
    body = rigid.free_body(2.0, orientation=turn, constraints={"disc": disc}, sample=sample, **inertia(turn))
    zeta, r, R = pose(turn, 12)
    a = R @ axis / np.linalg.norm(axis)
    rim = n - (n @ a) * a
    lowest = r + R @ POINT - radius * rim / np.linalg.norm(rim)
    return body, zeta, n, lowest, lowest - ground


@IN_SPACE
def test_a_rolling_disc_touches_by_its_lowest_point(turn):
    """c is the height of the lowest point of the rim; its rate is that of its material point, A the rest of it."""
    body, zeta, n, lowest, over = rolling(turn)
    assert [c.name for c in (*body.constraints, *body.velocity_constraints)] == ["disc.height", "disc.slip"]
    np.testing.assert_allclose(body.c(zeta), [n @ over], **CLOSE)
    np.testing.assert_allclose(body.c_jacobian(zeta), differences(body.c, zeta), atol=1e-8)
    velocity, (r, R) = random_velocity(turn), turn.placement(zeta)
    material = R @ velocity[:3] + np.cross(R @ velocity[3:], lowest - r)
    np.testing.assert_allclose(body.c_jacobian(zeta) @ body.Z(zeta) @ velocity, [n @ material], rtol=1e-12, atol=1e-13)
    slip = body.A(zeta) @ velocity
    assert slip @ slip == pytest.approx(material @ material - (n @ material) ** 2, rel=1e-12)


@pytest.mark.parametrize("turn", PLANAR, ids=lambda o: o.name)
def test_rolling_in_the_plane(turn):
    """Clockwise to the right: v = −ρω; the rate of t·p + ρφ where the angle is kept."""
    body = rigid.free_body(2.0, inertia=0.3, orientation=turn, constraints={"w": rigid.Rolling(0.5, (0, 0), (0, 1))})
    zeta, _, R = pose(turn)
    np.testing.assert_allclose(body.c(zeta), [zeta[1] - 0.5], **CLOSE)
    rolled = np.array([*(R.T @ [1.0, 0.0]), -2.0])
    np.testing.assert_allclose(body.constraint_rows(zeta) @ rolled, [0.0, 0.0], atol=1e-15)
    assert not np.allclose(body.A(zeta) @ np.array([0.0, 0.0, 1.0]), 0.0)
    position = body.velocity_constraints[0].position
    assert (position is None) == (turn.size == 2)
    if position:
        np.testing.assert_allclose(position.jacobian(zeta) @ body.Z(zeta), body.A(zeta), **CLOSE)
        np.testing.assert_allclose(position.jacobian(zeta), differences(position.value, zeta), atol=1e-8)


# --- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rigid.free_body(-1.0, inertia=1.0), "mass must not be negative, got -1.0 kg"),
        (lambda: rigid.free_body(1.0, inertia=0.0), "inertia must be positive"),
        (lambda: rigid.free_body(1.0, inertia=(1.0, 1.0, 3.0)), "J1 [+] J2 >= J3"),
        (lambda: rigid.pivoted_body((1.0, 1.0, 3.0)), "J1 [+] J2 >= J3"),
        (
            lambda: rigid.pivoted_body(1.0, mass=2.0, centre=(1.0, 0.0)),
            "inertia, moved from about to the centre of mass",
        ),
        (lambda: rigid.pivoted_body(1.0, gravity=(0.0, -9.81)), "mass and centre must be given with it"),
        (lambda: rigid.free_body(1.0, inertia=1.0, gravity=(0.0, 0.0, -9.81)), r"gravity must have shape \(2,\)"),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, orientation=rigid.quaternion()),
            "must be angle.. or planar_matrix..",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, orientation="angle"),
            "an Orientation, such as rigid.quaternion()",
        ),
        (lambda: rigid.pivoted_body((1, 1, 1), orientation=rigid.angle()), r"must be rotation_matrix\(\), quaternion"),
        (lambda: rigid.free_body(1.0, inertia=1.0, ports={"a": (1, 2, 3)}), r"port 'a': at must have shape \(2,\)"),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, ports={"a": rigid.Force((0, 0), along=(0, 0))}),
            "port 'a': along must not be zero",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, ports={"a": rigid.Force((0, 0), axes="local")}),
            "axes must be one of 'world', 'body', got 'local'",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, ports={"a": rigid.Torque((0, 0, 1))}),
            "about must be None in the plane",
        ),
        (lambda: rigid.free_body(1.0, inertia=1.0, ports={"a": rigid.Gimbal(1)}), "for a spatial body"),
        (lambda: rigid.pivoted_body((1, 1, 1), ports={"a": rigid.Gimbal(3)}), "angle must be 0, 1 or 2"),
        (lambda: rigid.pivoted_body((1, 1, 1), ports={"a": rigid.Gimbal(0, "xx")}), "sequence must be three axes"),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, ports={"a": rigid.Frame((0, 0)), "a.turn": (0, 0)}),
            "ports must have different names, got 'a.turn' twice",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, constraints={"a": (0, 0)}),
            r"constraints\['a'\] must be a Pinned, an OnLine, an OnPlane, a KnifeEdge or a Rolling, got \(0, 0\)",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, dampers={"a": viscous(1.0)}),
            r"dampers\['a'\] must be a pair of entries that are a Force, a Torque, a Gimbal, a Frame, an E",
        ),
        (
            lambda: rigid.free_body(
                1.0, inertia=(1, 1, 1), constraints={"a": rigid.Rolling(1.0, (0, 0, 0), (0, 0, 1))}
            ),
            "constraint 'a': axis of the disc must be given",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, constraints={"a": rigid.Rolling(-1.0, (0, 0), (0, 1))}),
            "constraint 'a': radius must be positive",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, constraints={"a": rigid.OnPlane((0, 0), (0, 1))}),
            "constraint 'a': OnPlane is for spatial bodies, in the plane use OnLine",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, constraints=[rigid.Pinned((0, 0), (0, 0))]),
            "constraints must be a dict of names with entries that are a Pinned, an OnLine, an OnPlane,",
        ),
        (
            lambda: rigid.free_body(1.0, inertia=1.0, ports=[(0, 0)]),
            "ports must be a dict of names with entries that are a Force, a Torque, a Gimbal, a Frame, ",
        ),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
