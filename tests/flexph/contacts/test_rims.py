"""Rims of discs and tyres on planes: rolling, sliding with camber, momenta, and bad input."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, force, integrate, revolute, spring_damper
from flexph.contacts import Hertz, KelvinVoigt, Plane, Rigid, Rim, Sphere, contact
from flexph.joints import rolling_disc
from flexph.mechanisms.model.state import angular_momentum
from flexph.methods import Decaying, Exact
from flexph.sensors import gap, normal_force

MASS, RADIUS, GRAVITY = 1.5, 0.3, 9.81
AXIAL, ACROSS = 0.5 * MASS * RADIUS**2, 0.25 * MASS * RADIUS**2
FLOOR, AXIS = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 1.0)
DOWN = (0.0, 0.0, -GRAVITY)


def body():
    return rigid.body(MASS, inertia=(ACROSS, ACROSS, AXIAL), ports={"centre": (0.0, 0.0, 0.0)})


def disc(law=None, *, crown=0.0):
    """A disc on the ground by a contact, or that rolls."""
    if law is None:
        joint = rolling_disc("disc.centre", radius=RADIUS, axis=AXIS)
    else:
        joint = contact(Rim("disc.centre", RADIUS - crown, axis=AXIS, crown=crown), FLOOR, law, name="rim")
    return connect({"disc": body()}, [joint], gravity=DOWN)


def leaning(tilt):
    """Axes along the path, up the disc and along its axis, for a tilt from the ground."""
    s, c = math.sin(tilt), math.cos(tilt)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]]).T


def circling(mechanism, tilt=1.1, up=2.0, *, depth=0.0):
    """The disc in the steady circle with a spin up the disc; it presses the ground by a depth."""
    m, s, c = MASS * RADIUS**2, math.sin(tilt), math.cos(tilt)
    axial = (ACROSS * up * up * c / s - MASS * GRAVITY * RADIUS * c) / (up * (AXIAL + m))
    e = leaning(tilt)
    spin = up * e[:, 1] + axial * e[:, 2]
    pose = mechanism.assemble({"disc": (RADIUS * e[:, 1] - (0.0, 0.0, depth), e)})
    return mechanism.consistent_state(pose, velocities={"disc": (np.cross(spin, RADIUS * e[:, 1]), spin)})


STIFF = 1e7
DEPTH = (MASS * GRAVITY / STIFF) ** (2.0 / 3.0)
LAWS = {
    # the place after a second and the loss: penetration, and the creep of smooth friction
    "anchored": (Hertz(STIFF, friction=0.8), DEPTH, 5e-4, 1e-15),
    "smooth": (Hertz(STIFF, friction=0.8, slip_velocity=1e-4), DEPTH, 5e-4, 1e-3),
    "rigid": (Rigid(friction=0.8), 0.0, 2e-5, 1e-7),
}


@pytest.mark.parametrize(("law", "depth", "far", "lost"), LAWS.values(), ids=LAWS)
def test_a_disc_that_grips_rolls_in_its_circle(law, depth, far, lost):
    """As the joint without slip: by regularised and by set-valued friction, leaning by 27° from the vertical."""
    times = np.linspace(0.0, 1.0, 501)
    mechanism = disc(law)
    run = integrate(mechanism, circling(mechanism, depth=depth), times)
    rolling = disc()
    expected = integrate(rolling, circling(rolling), times)
    assert np.abs(run.position("disc.centre")[-1] - expected.position("disc.centre")[-1]).max() < far
    assert run.ledger.largest_residual < 1e-13
    taken = sum(x.sum() for x in run.ledger.dissipation.values())
    assert -1e-15 < taken < lost
    assert run.measured(normal_force("rim"))[-1] == pytest.approx(MASS * GRAVITY, rel=0.2)


@pytest.mark.parametrize("crown", [0.0, 0.05])
def test_a_wheel_that_is_set_down_spinning_slips_and_then_rolls(crown):
    """Upright it slips for t = ω₀r/(F/m + F r²/J) by Coulomb's law and loses what closed forms say, also as a tyre."""
    friction, spin = 0.2, -20.0
    mechanism = disc(Rigid(friction=friction), crown=crown)
    e = leaning(0.5 * math.pi)
    pose = mechanism.assemble({"disc": ((0.0, 0.0, RADIUS), e)})
    start = mechanism.consistent_state(pose, velocities={"disc": (np.zeros(3), spin * e[:, 2])})
    run = integrate(mechanism, start, np.linspace(0.0, 1.6, 801))
    force = friction * MASS * GRAVITY
    slips = -spin * RADIUS / (force / MASS + force * RADIUS**2 / AXIAL)
    speed = force / MASS * slips
    moved = run["disc.velocity"][:, 0]
    assert abs(moved[-1]) == pytest.approx(speed, rel=1e-3)
    assert abs(moved[200]) == pytest.approx(force / MASS * 0.4, rel=1e-3)
    taken = sum(x.sum() for x in run.ledger.dissipation.values())
    lost = 0.5 * AXIAL * spin**2 - 0.5 * (MASS + AXIAL / RADIUS**2) * speed**2
    assert taken == pytest.approx(lost, rel=1e-3)
    assert run.ledger.largest_residual < 1e-13
    assert np.abs(run.position("disc.centre")[:, 2] - RADIUS).max() < 1e-12


@pytest.mark.parametrize("law", [KelvinVoigt(1e5), Rigid()], ids=["spring", "rigid"])
def test_a_disc_on_ice_keeps_its_spins_and_its_place(law):
    """Without friction: no force along the ground, none about the axis of the disc, none about the vertical."""
    mechanism = disc(law)
    tilt, depth = 1.2, MASS * GRAVITY / 1e5 if isinstance(law, KelvinVoigt) else 0.0
    e = leaning(tilt)
    pose = mechanism.assemble({"disc": ((0.0, 0.0, RADIUS * math.sin(tilt) - depth), e)})
    start = mechanism.consistent_state(pose, velocities={"disc": (np.array([0.3, -0.1, 0.0]), 12.0 * e[:, 2])})
    run = integrate(mechanism, start, np.linspace(0.0, 0.8, 401))
    place = run.position("disc.centre")[:, :2]
    np.testing.assert_allclose(place, run.times[:, None] * (0.3, -0.1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(run["disc.spin"][:, 2], 12.0, rtol=2e-5)  # second order in 0.024 rad of a step
    around = np.array([angular_momentum(mechanism, x)[2] for x in run.states])
    np.testing.assert_allclose(around, around[0], rtol=1e-12)
    assert run.ledger.largest_residual < 1e-13
    axis = run.rotations("disc")[:, :, 2]
    assert np.ptp(axis[:, 2]) > 0.05  # it nods


@pytest.mark.covering
@pytest.mark.parametrize("crown", [0.0, 0.08])
@pytest.mark.parametrize("method", [Exact(), Decaying(radius=0.8)], ids=str)
@pytest.mark.parametrize(
    "law",
    [Hertz(2e4, loss=0.1, friction=0.5), KelvinVoigt(2e3, damping=2.0, friction=0.5, slip_velocity=0.05)],
    ids=["anchored", "smooth"],
)
def test_a_free_board_and_a_tyre_keep_both_momenta(law, method, crown):
    """They strike each other at an angle, slide and turn; both momenta are kept, and friction only takes."""
    board = rigid.body(4.0, inertia=(0.3, 0.4, 0.6), ports={"top": (0.1, 0.0, 0.05)})
    touch = contact(Rim("disc.centre", RADIUS, axis=AXIS, crown=crown), Plane("board.top", (0.0, 0.1, 1.0)), law)
    mechanism = connect({"disc": body(), "board": board}, [touch])
    e = leaning(1.0)
    place = (0.1, 0.0, 0.05 + crown + RADIUS * 0.9)
    pose = mechanism.assemble({"disc": (place, e), "board": ((0.0, 0.0, 0.0), np.eye(3))})
    velocities = {"disc": ((0.4, 0.3, -1.0), (3.0, -2.0, 6.0)), "board": ((0.0, 0.0, 0.2), (0.1, 0.3, 0.4))}
    start = mechanism.consistent_state(pose, velocities=velocities)
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 101), method=method)
    assert run.ledger.largest_residual < 1e-13
    (taken,) = (x for name, x in run.ledger.dissipation.items() if "contact" in name)
    assert taken.min() >= -1e-15
    assert taken.sum() > 1e-3
    momentum = MASS * run["disc.velocity"] + 4.0 * run["board.velocity"]
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=1e-12)
    around = np.array([angular_momentum(mechanism, x) for x in run.states])
    np.testing.assert_allclose(around, np.broadcast_to(around[0], around.shape), rtol=0, atol=1e-12)
    assert run.measured(gap(touch.name)).min() < 0.0


def test_a_tyre_rolls_on_a_turning_table():
    """A disc that stands on a table and grips is carried along as a wheel would be: no slip at the place of contact."""
    top = rigid.body(5.0, inertia=(0.2, 0.2, 0.4), ports={"axle": (0.0, 0.0, 0.0)})
    axle = revolute("table.axle", GROUND.at(0.0, 0.0, 0.0), axis=AXIS)
    grips = contact(Rim("disc.centre", RADIUS, axis=AXIS), Plane("table.axle", AXIS), Rigid(friction=0.9), name="grip")
    mechanism = connect({"table": top, "disc": body()}, [axle, grips], gravity=DOWN)
    e = leaning(0.5 * math.pi)
    pose = mechanism.assemble({"table": ((0.0, 0.0, 0.0), np.eye(3)), "disc": ((0.0, 0.4, RADIUS), e)})
    ahead = np.array([1.0, 0.0, 0.0])
    spin = -(1.0 + 0.5 * 0.4) / RADIUS * e[:, 2]  # its place of contact moves with −0.2 m/s, as the table does there
    velocities = {"table": (np.zeros(3), (0.0, 0.0, 0.5)), "disc": (ahead, spin)}
    start = mechanism.consistent_state(pose, velocities=velocities)
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 101))
    assert run.ledger.largest_residual < 1e-13
    around = np.array([angular_momentum(mechanism, x)[2] for x in run.states])
    np.testing.assert_allclose(around, around[0], rtol=1e-12)
    assert sum(x.sum() for x in run.ledger.dissipation.values()) < 1e-6


WHEELS = {"left": (1.0, 0.6, 0.0), "right": (1.0, -0.6, 0.0), "rear": (-0.5, 0.0, 0.0)}


def cart(camber=0.0, crown=0.0, turn=None):
    """Three wheels under a body whose front ones lean, in a turned world."""
    turn = np.eye(3) if turn is None else turn
    chassis = rigid.body(100.0, inertia=(10.0, 30.0, 30.0), ports=WHEELS | {"load": (0.2, 0.1, 0.3)})
    ground, c, s = Plane(GROUND.at(0.0, 0.0, 0.0), turn @ AXIS), math.cos(camber), math.sin(camber)
    axles = {"left": (0.0, c, s), "right": (0.0, c, -s), "rear": (0.0, 1.0, 0.0)}
    rims = {
        name: Rim(f"cart.{name}", 0.3 / (1.0 if name == "rear" else c), axis=e, crown=crown)
        for name, e in axles.items()
    }
    joints = [contact(rim, ground, Rigid(restitution=0.3), name=name) for name, rim in rims.items()]
    mechanism = connect({"cart": chassis}, [*joints, force("cart.load", name="load")], gravity=turn @ (0.0, 0.0, -10.0))
    return mechanism, mechanism.assemble({"cart": (turn @ (0.0, 0.0, 0.3 + crown), turn)})


@pytest.mark.parametrize("crown", [0.0, 0.05])
@pytest.mark.parametrize("camber", [0.0, 0.3])
def test_rims_carry_a_load_at_rest(camber, crown):
    """Normal forces balance force and moments about the points of contact, which camber moves outwards below."""
    turn = Rotation.from_rotvec((0.5, -0.3, 1.0)).as_matrix()
    mechanism, pose = cart(camber, crown, turn)
    inputs = {"load": turn @ (0.0, 0.0, -60.0)}
    rest = mechanism.equilibrium(pose, inputs=inputs)
    held, state = mechanism.with_closed_contacts(rest, inputs=inputs)
    found = dict(zip(held.constraint_names, state.multipliers.tolist(), strict=True))
    normal = {name: found[f"{name}: normal"] * (1.0 if name == "rear" else math.cos(camber)) for name in WHEELS}
    wide = 0.6 + 0.3 * math.tan(camber)
    moments = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -0.5], [wide, -wide, 0.0]])
    expected = np.linalg.solve(moments, [1060.0, 60.0 * 0.2, 60.0 * 0.1])
    np.testing.assert_allclose([normal[name] for name in WHEELS], expected, rtol=1e-12)
    run = integrate(mechanism, rest, np.linspace(0.0, 0.1, 11), inputs=inputs)
    assert np.abs(run["cart.velocity"]).max() < 1e-9


def test_an_upright_disc_on_springs_sways_with_its_closed_frequency():
    """ω² = (2kb² − m g r)/J of the sway about the path, without friction; a rim that would pull opens."""
    sides = {"a": (0.0, 0.2, 0.0), "b": (0.0, -0.2, 0.0), "centre": (0.0, 0.0, 0.0)}
    wheel = rigid.body(MASS, inertia=(ACROSS, AXIAL, ACROSS), ports=sides)
    touch = contact(Rim("disc.centre", RADIUS, axis=(0.0, 1.0, 0.0)), FLOOR, Rigid(), name="rim")
    at = lambda y: GROUND.at(0.0, y, RADIUS)  # noqa: E731
    springs = [
        spring_damper(f"disc.{n}", at(y), stiffness=400.0, length=0.0, direction=AXIS)
        for n, y in (("a", 0.2), ("b", -0.2))
    ]
    mechanism = connect({"disc": wheel}, [touch, *springs, force("disc.centre", name="lift")], gravity=DOWN)
    pose = mechanism.assemble({"disc": ((0.0, 0.0, RADIUS), np.eye(3))})
    held, state = mechanism.with_closed_contacts(mechanism.equilibrium(pose))
    assert state.multipliers == pytest.approx([MASS * GRAVITY], rel=1e-12)
    square = (2.0 * 400.0 * 0.2**2 - MASS * GRAVITY * RADIUS) / ACROSS
    assert np.abs(held.spectrum(state).values.imag).max() == pytest.approx(math.sqrt(square), rel=1e-10)
    lifted = mechanism.equilibrium(pose, inputs={"lift": (0.0, 0.0, MASS * GRAVITY + 80.0)})
    assert mechanism.position(lifted, "disc.centre")[2] == pytest.approx(RADIUS + 0.1, rel=1e-12)


def test_compliant_rims_do_not_rest():
    mechanism = disc(Hertz(1e6))
    with pytest.raises(ValueError, match="rims with the law Rigid; 'rim' is of another kind"):
        mechanism.equilibrium(mechanism.assemble())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Rim("disc.centre", 0.0, AXIS), "radius must be positive"),
        (lambda: Rim("disc.centre", 0.1, AXIS, crown=-0.1), "crown must not be negative"),
        (
            lambda: contact(Rim("disc.centre", 0.1, AXIS), Sphere("a.b", 0.1), Rigid()),
            "a Rim can only touch a Plane, got a Sphere",
        ),
        (lambda: contact(Rim("disc.centre", 0.1, AXIS), FLOOR, Rigid()).formed(2), "exists in three dimensions only"),
        (lambda: contact(Rim(GROUND.at(0, 0, 0), 0.1, AXIS), Plane("a.b", AXIS), Rigid()), "a Rim must be on a body"),
    ],
)
def test_bad_rims_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
