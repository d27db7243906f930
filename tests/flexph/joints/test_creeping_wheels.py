"""Wheels that creep: wheelsets and tyres against linear equations, what the step keeps, files, and bad input."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from cases.wheelset import (
    ACROSS,
    ALONG,
    CONE,
    FRICTION,
    HALF,
    INERTIA,
    closed_form,
    exponents,
    linear,
    matrix,
    rolling,
    saturated,
    wheelset,
)
from cases.wheelset import MASS as WHEELSET
from flexph import GROUND, connect, hinge, integrate, planar, slider, weld
from flexph.joints import railway_wheel, slipping_wheel
from flexph.laws import coulomb, creep, magic_formula
from flexph.methods import Decaying, Exact4, ExactGauss
from flexph.sensors import wheel_force, wheel_slip

UP, AXLE = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
RADIUS, MASS, WHEEL, YAW = 0.3, 800.0, 20.0, 900.0
SPINNING = creep(longitudinal=ALONG, lateral=ACROSS, limit=FRICTION, lateral_spin=5e4, spin=50.0)
FRONT, REAR, STIFFNESS = 1.1, 1.4, (9e4, 6e4)  # [m], [N/rad]


def matched(values, expected):
    return max(np.abs(values - s).min() for s in expected)


def car(front, rear, *, turn=None, spins=True):
    """Two wheels in line on a level chassis; its world is turned."""
    turn = np.eye(3) if turn is None else turn
    places = {"front": (FRONT, 0.0, 0.0), "rear": (-REAR, 0.0, 0.0)}
    chassis = rigid.body(MASS, inertia=(300.0, 800.0, YAW), ports=places)
    tyre = rigid.body(WHEEL, inertia=(0.5, 0.9, 0.5), ports={"hub": (0.0, 0.0, 0.0)})
    joint = (lambda a, b: hinge(a, b, axis=AXLE)) if spins else weld
    joints = [planar("chassis.front", GROUND.at(*(turn @ (0.0, 0.0, RADIUS))), normal=UP, second_normal=turn @ UP)]
    for name, law in (("front", front), ("rear", rear)):
        joints.append(joint(f"{name}.hub", f"chassis.{name}"))
        joints.append(
            slipping_wheel(f"{name}.hub", f"chassis.{name}", radius=RADIUS, friction=law, name=f"{name} tyre")
        )
    return connect({"chassis": chassis, "front": tyre, "rear": tyre}, joints)


def driving(mechanism, speed, *, turn=None, spin=None, across=0.0, yaw=0.0):
    turn = np.eye(3) if turn is None else turn
    places = {"chassis": 0.0, "front": FRONT, "rear": -REAR}
    pose = mechanism.assemble({name: (turn @ (x, 0.0, RADIUS), turn) for name, x in places.items()})
    spin = speed / RADIUS if spin is None else spin
    velocities = {
        name: (turn @ (speed, across + yaw * x, 0.0), turn @ (0.0, 0.0 if name == "chassis" else spin, yaw))
        for name, x in places.items()
    }
    return mechanism.consistent_state(pose, velocities=velocities)


LAWS = {
    "brush": lambda c: creep(longitudinal=1.2 * c, lateral=c, limit=2.5e3),
    "hyperbolic": lambda c: creep(longitudinal=1.2 * c, lateral=c, limit=2.5e3, saturation="hyperbolic"),
    "magic": lambda c: magic_formula(longitudinal=1.2 * c, lateral=c, limit=2.5e3, shape=1.4, curvature=-1.0),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("speed", [5.0, 40.0])
def test_a_car_drives_straight_by_the_single_track_equations(law, speed):
    """m(v̇ + V r) = −Σ c (v + x r)/V, J ṙ = −Σ x c (v + x r)/V of its tyres at x (Riekert and Schunck 1940)."""
    turn = Rotation.from_rotvec((0.5, -0.3, 1.0)).as_matrix()
    mechanism = car(*(law(c) for c in STIFFNESS), turn=turn)
    values = mechanism.spectrum(driving(mechanism, speed, turn=turn)).values
    x, c = np.array([FRONT, -REAR]), np.array(STIFFNESS)
    mass, inertia = MASS + 2.0 * WHEEL, YAW + 1.0 + WHEEL * np.sum(x**2)
    centre = WHEEL * x.sum() / mass  # the wheels move the centre of mass
    arms = x - centre
    inertia -= mass * centre**2
    C = np.array([[c.sum(), c @ arms], [c @ arms, c @ arms**2]]) / speed
    A = -np.diag([1.0 / mass, 1.0 / inertia]) @ C - np.array([[0.0, speed], [0.0, 0.0]])
    assert matched(values, np.linalg.eigvals(A)) < 1e-9 * np.abs(values).max()


def test_a_car_that_slides_on_locked_wheels_stops_by_friction():
    """Both wheels slide with μN: the speed falls by 2μN/m."""
    mechanism = car(*(LAWS["brush"](c) for c in STIFFNESS), spins=False)
    run = integrate(mechanism, driving(mechanism, 10.0, spin=0.0), np.linspace(0.0, 1.0, 51))
    assert run["chassis.velocity"][-1, 0] == pytest.approx(10.0 - 5e3 / (MASS + 2.0 * WHEEL), rel=1e-12)
    lost = sum(x.sum() for x in run.ledger.dissipation.values())
    assert lost == pytest.approx(5e3 * run.position("chassis.front")[-1, 0] - 5e3 * FRONT, rel=1e-12)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("method", [None, Decaying(radius=0.6)], ids=["exact", "decaying"])
def test_the_balance_holds_for_a_car_that_skids(law, method):
    """At any step; tyres only take, sideways, in a spin, to the rest."""
    mechanism = car(*(law(c) for c in STIFFNESS))
    start = driving(mechanism, 15.0, across=4.0, yaw=2.0, spin=20.0)
    for h in (0.002, 0.02):
        run = integrate(
            mechanism, start, np.linspace(0.0, 40 * h, 41), **({} if method is None else {"method": method})
        )
        assert run.ledger.largest_residual < 1e-13
        for name, taken in run.ledger.dissipation.items():
            assert "tyre" not in name or taken.min() >= 0.0
        assert np.median(run.ledger.iterations) <= 6


def test_a_rolling_disc_seen_from_the_side_begins_to_roll():
    """It slips first; at last it rolls, with r ω = v, and the angular momentum about the ground is kept."""
    disc = rigid.body(2.0, inertia=0.03, ports={"centre": (0.0, 0.0)})
    grip = slipping_wheel("disc.centre", radius=0.1, friction=creep(longitudinal=400.0, limit=4.0, least_speed=0.05))
    mechanism = connect(
        {"disc": disc}, [slider("disc.centre", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True), grip]
    )
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": (0.0, 0.0, -30.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 3.0, 1501))
    speed, spin = run["disc.velocity"][:, 0], run["disc.spin"][:, 0]
    assert speed[-1] == pytest.approx(-0.1 * spin[-1], rel=3e-4)  # (0.06 rad)²/12 of a step
    about = 2.0 * 0.1 * speed - 0.03 * spin
    np.testing.assert_allclose(about, about[0], rtol=2e-3)  # spins over steps are those of Cayley's map
    assert run.ledger.largest_residual < 1e-13


def test_sensors_read_the_slip_and_the_force():
    """Locked wheels slide along with the speed and across with that of their places; forces are those of the law."""
    law = LAWS["brush"](STIFFNESS[0])
    mechanism = car(law, law, spins=False)
    start = driving(mechanism, 10.0, across=1.0, yaw=2.0, spin=0.0)
    run = integrate(mechanism, start, [0.0, 1e-3])
    slip, force = (run.measured(sensor("front tyre"))[0] for sensor in (wheel_slip, wheel_force))
    np.testing.assert_allclose(slip, [10.0, 1.0 + 2.0 * FRONT], rtol=1e-12)
    np.testing.assert_allclose(force, law.force(slip, 10.0), rtol=1e-12)
    with pytest.raises(ValueError, match=r"no slipping wheel 'tyre'"):
        run.measured(wheel_slip("tyre"))


# --- railway wheels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.5, 20.0, 27.70148515586188, 60.0])
def test_a_wheelset_has_the_exponents_of_its_linear_equations(speed):
    expected = closed_form(speed)
    assert matched(exponents(speed), expected) < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("speed", [10.0, 60.0])
def test_a_wheelset_with_spin_has_the_exponents_of_its_linear_equations(speed):
    """m ÿ = … − 2f₂₃(1 − γb/r₀)ψ̇/V, J ψ̈ = … + 2f₂₃(ẏ − Vψ)/V: the spin creepage of a wheel is (ψ̇ ∓ γθ̇)/(V ∓ bψ̇)."""
    coupled = 5e4
    mechanism = wheelset(creep(longitudinal=ALONG, lateral=ACROSS, lateral_spin=coupled))
    spectrum = mechanism.spectrum(rolling(mechanism, speed))
    moved = np.abs(spectrum.part("box.centre")[1]) + np.abs(spectrum.part("box.turn")[2])
    A = matrix(speed)
    A[2, 3] -= 2.0 * coupled * (1.0 - CONE * HALF / 0.45) / speed / WHEELSET
    A[3, 1:3] += 2.0 * coupled * np.array([-1.0, 1.0 / speed]) / INERTIA
    expected = np.linalg.eigvals(A)
    assert matched(spectrum.values[moved > 1e-9], expected) < 1e-11 * np.abs(expected).max()
    assert matched(closed_form(speed), expected) > 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("law", [saturated(), SPINNING], ids=["slip", "spin"])
@pytest.mark.parametrize("speed", [20.0, 45.0])
def test_a_free_wheelset_only_loses_energy(speed, law):
    mechanism = wheelset(law, held=False)
    run = integrate(mechanism, rolling(mechanism, speed, aside=6e-3), np.linspace(0.0, 0.6, 301))
    assert run.ledger.largest_residual < 1e-13
    assert min(taken.min() for taken in run.ledger.dissipation.values()) >= 0.0
    energy = run.ledger.total_energy
    lost = sum(taken.sum() for taken in run.ledger.dissipation.values())
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=1e-9)
    assert np.median(run.ledger.iterations) <= 5


def test_rails_may_lie_anywhere():
    """The same wheelset on rails along another direction of the world moves alike."""
    turn = Rotation.from_rotvec((0.0, 0.0, 0.7)).as_matrix()
    ends = []
    for world in (np.eye(3), turn):
        mechanism = turned_wheelset(world)
        place = (world @ (0.0, 4e-3, 0.45), world)
        pose = mechanism.assemble({"set": place, "box": place})
        ahead = world @ (25.0, 0.0, 0.0)
        velocities = {"set": (ahead, world @ (0.0, 25.0 / 0.45, 0.0)), "box": (ahead, (0.0, 0.0, 0.0))}
        start = mechanism.consistent_state(pose, velocities=velocities)
        run = integrate(mechanism, start, np.linspace(0.0, 0.2, 101))
        ends.append(run.position("box.axle")[-1] @ world)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-11)


def turned_wheelset(world):
    """The free wheelset on rails along another direction."""
    joints = [
        hinge("set.axle", "box.axle", axis=AXLE),
        planar("box.axle", GROUND.at(*(world @ (0.0, 0.0, 0.45))), normal=UP, second_normal=world @ UP),
    ]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        rail = GROUND.at(*(world @ (0.0, sign * 0.7465, 0.0)))
        options = {"radius": 0.45, "conicity": sign * 0.15, "creep": saturated(), "across": world @ AXLE}
        joints.append(railway_wheel(f"set.{side}", "box.axle", rail, **options))
    return connect(dict(wheelset(saturated(), held=False).bodies), joints)


@pytest.mark.parametrize("method", [None, Decaying(radius=0.6)], ids=["exact", "decaying"])
def test_spin_turns_a_car_and_lies_in_its_axes(method):
    """The balance at any step, and the same motion in a turned world."""
    law, ends = creep(longitudinal=9e4, lateral=6e4, limit=2.5e3, lateral_spin=900.0, spin=60.0), []
    for turn in (np.eye(3), Rotation.from_rotvec((0.5, -0.3, 1.0)).as_matrix()):
        mechanism = car(law, law, turn=turn)
        start = driving(mechanism, 15.0, turn=turn, across=4.0, yaw=2.0)
        more = {} if method is None else {"method": method}
        run = integrate(mechanism, start, np.linspace(0.0, 0.4, 41), **more)
        assert run.ledger.largest_residual < 1e-13
        assert min(taken.min() for name, taken in run.ledger.dissipation.items() if "tyre" in name) >= 0.0
        assert run.measured(wheel_force("front tyre")).shape == (41, 2)
        ends.append(run.position("chassis.front")[-1] @ turn)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)


def railway(chassis="c.d", rail=GROUND.at(0.0, 0.0, 0.0), **options):  # noqa: B008
    return railway_wheel("a.b", chassis, rail, **{"radius": 0.1, "conicity": 0.1, "creep": linear()} | options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: slipping_wheel("a.b", "c.d", radius=0.1, friction=linear(), roller=0.5), "with rollers takes"),
        (lambda: railway(rail=GROUND), "rail of a railway_wheel must be a place"),
        (lambda: railway(radius=0.0), "radius must be positive"),
        (lambda: railway(chassis=GROUND), "chassis"),
        (lambda: railway(normal=AXLE).formed(3), "axis must be perpendicular"),
        (lambda: slipping_wheel("a.b", radius=0.1, friction=SPINNING).formed(2), "has no spin"),
        (lambda: slipping_wheel("a.b", radius=0.1, friction=SPINNING).formed(3), "needs a chassis that turns"),
        (lambda: railway().formed(2), "exists in three dimensions only"),
        (lambda: railway(creep=coulomb(1.0, speed=0.1)), "creep must be a CreepLaw"),
    ],
)
def test_bad_wheels_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_methods_that_do_not_take_them_say_so():
    mechanism = car(linear(), linear())
    start = driving(mechanism, 5.0)
    for method, text in ((Exact4(), "'front tyre', 'rear tyre' may dissipate"), (ExactGauss(), "slipping wheels")):
        with pytest.raises(ValueError, match=text):
            integrate(mechanism, start, [0.0, 0.01], method=method)
