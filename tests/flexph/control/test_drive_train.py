"""Gearboxes and motors: closed forms, a rotor that is a body with a gear, balances."""

import numpy as np
import pytest
import scipy

import rigid
from flexph import GROUND, InputError, Solution, connect, gear, hinge, integrate, revolute, torque
from flexph.control import Continuous, Sampled, gearbox, motor
from flexph.laws import coulomb
from flexph.sensors import joint_angle, joint_rate

WOUND = {"constant": 0.05, "resistance": 0.8, "inductance": 4e-3}
TURNS, ROTOR, DRAG, WHEEL, SUPPLY = -12.0, 3e-5, 2e-6, 0.01, 24.0


def disc(inertia):
    return rigid.body(1.0, inertia=inertia, ports={"hub": (0.0, 0.0)})


def shaft(*more, bodies=None, name="wheel"):
    joints = [hinge("wheel.hub", GROUND.at(0.0, 0.0)), torque(f"{name}.hub", name="drive"), *more]
    return connect({"wheel": disc(WHEEL)} | (bodies or {}), joints)


PLAIN, MOTOR = shaft(), motor(**WOUND)


def started(mechanism, system, times, **options):
    start = mechanism.consistent_state(mechanism.assemble())
    given = Continuous(system=system, ports={"shaft": "drive"}, inputs={"supply": SUPPLY}, **options)
    return integrate(mechanism, start, times, controllers={"motor": given})


def rates(run):
    return run.measured(joint_rate("wheel.hub"))


def test_a_motor_speeds_up_as_in_closed_form():
    """Without inductance one time constant: (J_w + n²J) ω̇ = n k (v − n k ω)/R − n² c ω."""
    system = motor(constant=0.05, resistance=0.8, inertia=ROTOR, friction=DRAG, ratio=TURNS)
    gain = TURNS * 0.05
    slowed = gain**2 / 0.8 + TURNS**2 * DRAG
    errors = []
    for steps in (8, 16):
        run = started(PLAIN, system, np.linspace(0.0, 0.1, steps + 1))
        closed = gain * SUPPLY / 0.8 / slowed * -np.expm1(-slowed / (WHEEL + TURNS**2 * ROTOR) * run.times)
        errors.append(np.abs(rates(run) - closed).max())
    np.testing.assert_allclose(-np.diff(np.log2(errors)), 2.0, atol=0.1)
    assert errors[-1] < 0.1  # [rad/s], of 37


def test_a_rotor_is_a_body_with_a_gear():
    """Another route: rotor and gear as parts of the mechanism, which turns by exact increments of angles."""
    joints = [hinge("rotor.hub", GROUND.at(0.2, 0.0)), gear("rotor.hub", "wheel.hub", ratio=TURNS)]
    geared, errors = shaft(*joints, bodies={"rotor": disc(ROTOR)}, name="rotor"), []
    for steps in (12, 24):
        times = np.linspace(0.0, 0.02, steps + 1)
        run, other = started(PLAIN, motor(**WOUND, inertia=ROTOR, ratio=TURNS), times), started(geared, MOTOR, times)
        errors.append(np.abs(rates(run) - rates(other)).max())
    assert np.all(-np.diff(np.log2(errors)) > 1.9)
    assert errors[-1] < 8e-3  # [rad/s], of 17
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.work["motor: supply"].sum() > run.ledger.dissipation["motor"].sum() > 0.0


@pytest.mark.parametrize("wound", [WOUND, {**WOUND, "inductance": 0.0}, {**WOUND, "inductance": 0.0, "inertia": 1e-6}])
def test_an_amplifier_limits_the_torque(wound):
    """Stalled current is 30 A or 1.5 N m, of which the limit lets 0.4 N m act until the motor has sped up."""
    times = np.linspace(0.0, 0.02, 21)
    run = started(PLAIN, motor(**wound, ratio=TURNS, torque_limit=0.4), times)
    inertia = WHEEL + TURNS**2 * wound.get("inertia", 0.0)
    torques = np.diff(rates(run)) / np.diff(times) * inertia / TURNS
    assert 0.399 < torques.max() < 0.402
    assert run.ledger.largest_residual < 1e-12


def test_a_limit_that_is_not_reached_changes_nothing():
    times = np.linspace(0.0, 0.03, 16)
    free, limited = (started(PLAIN, motor(**WOUND, inertia=ROTOR, torque_limit=most), times) for most in (None, 10.0))
    np.testing.assert_allclose(rates(limited), rates(free), rtol=1e-9, atol=1e-9)


def test_a_shaft_in_space_has_an_axis():
    tilt = (0.0, 3.0, 4.0)
    ball = rigid.body(1.0, inertia=np.diag([WHEEL] * 3), ports={"hub": (0.0, 0.0, 0.0)})
    joints = [revolute("wheel.hub", GROUND.at(0.0, 0.0, 0.0), axis=tilt), torque("wheel.hub", name="drive")]
    times = np.linspace(0.0, 0.03, 16)
    run = started(connect({"wheel": ball}, joints), motor(**WOUND, inertia=ROTOR, ratio=TURNS, axis=tilt), times)
    plane = started(PLAIN, motor(**WOUND, inertia=ROTOR, ratio=TURNS), times)
    spin = run.measured(joint_rate("wheel.hub", axis=tilt))
    np.testing.assert_allclose(spin, rates(plane), rtol=2e-3)


@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_rotor_starts_with_its_shaft(limit):
    turning = PLAIN.consistent_state(PLAIN.assemble(), velocities={"wheel": 10.0})
    system = motor(**WOUND, inertia=ROTOR, ratio=TURNS, torque_limit=limit)

    def braked(start):
        given = Continuous(system=system, ports={"shaft": "drive"}, start=start)
        return integrate(PLAIN, turning, np.linspace(0.0, 0.02, 11), controllers={"motor": given})

    with pytest.raises(ValueError, match=r"controller 'motor' starts.*0, 0, 0,.*contradicts.*velocities"):
        braked(None)
    assert np.all(np.diff(rates(braked((0.0, 10.0 * TURNS, 0.0)))) < 0.0)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"constant": 0.0}, "constant must be"),
        ({"resistance": 0.0}, "resistance must be"),
        ({"inductance": -1.0}, "inductance must"),
        ({"ratio": 0.0}, "ratio must not be zero, got 0"),
        ({"torque_limit": 0.0}, "torque_limit must be"),
        ({"dry_friction": 0.1}, "dry friction needs an inertia"),
        ({"dry_friction": -0.1}, "dry_friction must"),
        ({"axis": (0.0, 0.0, 0.0)}, "axis must be"),
    ],
)
def test_parameters_that_no_motor_has_are_refused(changed, told):
    with pytest.raises(ValueError, match=told):
        motor(**{**WOUND, **changed})


def test_dry_gears_break_away_and_brake():
    """ρ(Ω) = T tanh(Ω/s): a torque above T turns the wheel, and what friction takes is in the ledger."""
    dry = gearbox(ratio=10.0, inertia=1e-4, friction=coulomb(0.05, speed=0.01))
    times = np.linspace(0.0, 0.2, 41)
    start = PLAIN.consistent_state(PLAIN.assemble())
    ways = {}
    for driven in (0.04, 0.2):
        given = {"gears": Continuous(system=dry, ports={"shaft": "drive"}, inputs={"drive": driven})}
        ways[driven] = integrate(PLAIN, start, times, controllers=given)
        assert ways[driven].ledger.largest_residual < 1e-12
    creep, runs = (rates(run)[-1] for run in ways.values())
    assert abs(creep) < 0.01  # of the speed at which the friction is smooth, over the ratio
    # breaking away takes the time of the smooth part, 0.01 rad/s of 150
    assert runs == pytest.approx(10.0 * (0.2 - 0.05) / (WHEEL + 100.0 * 1e-4) * 0.2, rel=1e-3)
    assert ways[0.2].ledger.dissipation["gears"].sum() == pytest.approx(0.05 * 10.0 * 0.5 * runs * 0.2, rel=1e-2)


def test_a_motor_with_dry_friction_has_its_balance():
    system = motor(**WOUND, inertia=ROTOR, ratio=TURNS, friction=coulomb(0.01, speed=0.1), torque_limit=0.4)
    run = started(PLAIN, system, np.linspace(0.0, 0.02, 21))
    assert run.ledger.largest_residual < 1e-12
    smooth = started(PLAIN, motor(**WOUND, inertia=ROTOR, ratio=TURNS), np.linspace(0.0, 0.02, 21))
    assert abs(rates(run)[-1]) < abs(rates(smooth)[-1])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"ratio": 0.0}, "ratio must not be zero, got 0"),
        ({"ratio": 2.0, "inertia": -1.0}, "inertia must"),
        ({"ratio": 2.0, "dry_friction": 1.0}, "stores no energy"),
    ],
)
def test_bad_gearboxes_are_refused(options, told):
    with pytest.raises(ValueError, match=told):
        gearbox(**options)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("limit", [0.3, pytest.param(None, marks=pytest.mark.slow)])
def test_a_sampled_controller_commands_the_supply_of_a_motor(limit, tmp_path):
    """The same run as with what it held as a function of time; it stops and goes on, and its work is in the ledger."""
    arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="drive")])
    rest = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    times, period, given = np.linspace(0.0, 0.04, 21), 0.01, []
    limits = {} if limit is None else {"torque_limit": limit}
    system = motor(constant=0.05, resistance=0.5, inductance=1e-3, inertia=2e-5, ratio=50.0, **limits)

    def law(time, see):
        volts = 60.0 * (0.5 - see["angle"]) - 4.0 * see["rate"]
        given.append(volts)
        return {"servo: supply": volts}

    def over(start, times, supply=None):
        inputs = {} if supply is None else {"supply": supply}
        loops = {"servo": Continuous(system=system, ports={"shaft": "drive"}, inputs=inputs)}
        sensors = {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}
        loops |= {} if supply else {"law": Sampled(function=law, period=period, sensors=sensors)}
        return integrate(arm, start, times, controllers=loops)

    run, volts = over(rest, times), list(given)
    assert len(volts) == 4
    again = over(rest, times, lambda t: volts[int(t / period + 1e-9)])
    np.testing.assert_allclose(run.states, again.states, rtol=1e-9, atol=1e-11)
    assert run.ledger.largest_residual < 1e-12
    work = run.ledger.work["servo: supply"]
    np.testing.assert_allclose(work, again.ledger.work["servo: supply"], rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(run.ledger.controllers["law"], work)
    assert work.sum() > 0.1
    np.testing.assert_array_equal(run.controls["servo: supply"][:, 0], np.repeat(volts, 5))
    first = over(rest, times[:13])
    first.save(tmp_path / "run.h5")
    read = Solution.load(tmp_path / "run.h5", arm)
    np.testing.assert_array_equal(read.controls["servo: supply"], run.controls["servo: supply"][:12])
    later = over(read.final, times[12:])
    np.testing.assert_allclose(later.states[-1], run.states[-1], rtol=1e-9, atol=1e-11)


def test_what_is_no_port_of_a_controller_is_named():
    arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="drive")])
    rest = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    servo = Continuous(system=motor(constant=0.05, resistance=0.5, inertia=2e-5), ports={"shaft": "drive"})
    law = Sampled(function=lambda t, see: {"servo: suply": 1.0}, period=0.1, sensors={})
    told = r"no external port 'servo: suply': .* has 'drive', 'servo: supply'"
    with pytest.raises(InputError, match=told):
        integrate(arm, rest, (0.0, 0.1), controllers={"servo": servo, "law": law})


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_elastic_gears_twist_as_their_equations_say(loss):
    """A rotor behind elastic gears against the ordinary differential equations, and the balance with its energies."""
    wheel = rigid.body(1.0, inertia=0.5, ports={"hub": (0.0, 0.0)})
    cart = connect({"wheel": wheel}, [hinge("wheel.hub", GROUND), torque("wheel.hub", name="axle")])
    geared = gearbox(ratio=-10.0, inertia=1e-3, stiffness=80.0, damping=loss)
    gears = Continuous(system=geared, ports={"shaft": "axle"}, inputs={"drive": 0.2})
    run = integrate(cart, cart.consistent_state(cart.assemble()), np.linspace(0, 0.5, 1001), controllers={"g": gears})

    def rates(t, y):
        _, rate, spin, twist = y
        load = 80.0 * twist + loss * (spin / -10.0 - rate)
        return [rate, load / 0.5, (0.2 + load / 10.0) / 1e-3, spin / -10.0 - rate]

    wanted = scipy.integrate.solve_ivp(rates, (0.0, 0.5), np.zeros(4), rtol=1e-10, atol=1e-12).y[0, -1]
    assert run.measured(joint_angle("wheel.hub"))[-1] == pytest.approx(wanted, rel=1e-5)  # of second order in the step
    assert run.ledger.largest_residual < 1e-12
    assert (run.ledger.dissipation["g"].sum() > 0.0) == (loss > 0.0)
    assert run.ledger.work["g: drive"].sum() > 0.0


def test_stiff_elastic_gears_are_rigid_ones():
    ends = []
    for elastic in ({}, {"stiffness": 1e9, "damping": 1e5}):
        wheel = rigid.body(1.0, inertia=0.5, ports={"hub": (0.0, 0.0)})
        cart = connect({"wheel": wheel}, [hinge("wheel.hub", GROUND), torque("wheel.hub", name="axle")])
        servo = motor(constant=0.05, resistance=0.5, inertia=2e-5, ratio=50.0, **elastic)
        controllers = {"m": Continuous(system=servo, ports={"shaft": "axle"}, inputs={"supply": 10.0})}
        run = integrate(cart, cart.consistent_state(cart.assemble()), np.linspace(0, 0.1, 51), controllers=controllers)
        ends.append(run.measured(joint_angle("wheel.hub"))[-1])
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


def test_damping_of_rigid_gears_is_refused():
    with pytest.raises(ValueError, match="damping= needs stiffness="):
        gearbox(ratio=2.0, damping=0.1)
