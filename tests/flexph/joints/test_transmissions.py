"""Gears, belts, racks and screws: ratios over many turns, what the step keeps, and all that walks over rows."""

import math
from contextlib import nullcontext

import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    eigenfrequencies,
    eliminate,
    gear,
    hinge,
    integrate,
    prismatic,
    revolute,
    torque,
    torsion_spring,
    weld,
)
from flexph.joints import belt, rack, screw
from flexph.joints.rows.laws import Transmission
from flexph.mechanisms.model.state import configuration
from flexph.methods import by_name
from flexph.sensors import joint_angle, offset

ROUND_OFF = 1e-13  # of sums of about a hundred steps
Z = (0.0, 0.0, 1.0)
PRINTED = -math.pi  # no quotient of whole numbers: turns never come back to where they were counted from


def wheel(mass, inertia, dim=2):
    moments = inertia if dim == 2 else (0.6 * inertia, 0.6 * inertia, inertia)
    return rigid.body(mass, inertia=moments, ports={"centre": (0.0,) * dim})


def train(ratio=PRINTED, *, joint=gear, **options):
    joints = [
        hinge("motor.centre", GROUND.at(0.0, 0.0)),
        hinge("load.centre", GROUND.at(0.3, 0.0)),
        joint("motor.centre", "load.centre", **(options or {"ratio": ratio})),
        torque("motor.centre", name="drive"),
    ]
    return connect({"motor": wheel(1.0, 0.01), "load": wheel(3.0, 0.05)}, joints)


def turned(run, *ports, **axes):
    return [run.measured(joint_angle(port, **axes)) for port in ports]


def exact(run):
    assert run.ledger.largest_residual < ROUND_OFF
    assert run.ledger.nonholonomic_residual.max() < 1e-11  # rates, of angles over steps of a hundredth
    assert all(np.abs(work).max() < ROUND_OFF * run.ledger.scale for work in run.ledger.joint_work.values())


@pytest.mark.filterwarnings("ignore:velocities leave the constraints|.* turns by up to")
def test_a_gear_keeps_its_ratio_over_many_turns_of_large_steps():
    """Steps of up to two radians; the torque does the work that both wheels have, of θ̈ = τ/(J₁ + J₂/i²)."""
    mechanism = train()
    start = mechanism.consistent_state(mechanism.assemble({"motor": 0.3}, guess={"load": 2.0}))
    run = integrate(mechanism, start, np.linspace(0.0, 1.2, 61), inputs={"drive": 1.5})
    motor, load = turned(run, "motor.centre", "load.centre")
    moved = motor - motor[0]
    assert moved[-1] > 8.0 * 2.0 * math.pi and np.diff(motor).max() > 1.4
    assert np.abs(moved - PRINTED * (load - load[0])).max() < ROUND_OFF * moved[-1]
    exact(run)
    assert run.ledger.iterations.max() <= 5  # the Jacobian knows how the angle's gradient turns
    assert moved[5] == pytest.approx(0.5 * 1.5 / (0.01 + 0.05 / PRINTED**2) * run.times[5] ** 2, rel=2e-3)  # order h²


def test_planets_turn_as_willis_says():
    """Sun and ring on planets that an arm carries, the ring held: (ω_s − ω_a)/(ω_r − ω_a) = −z_r/z_s."""
    sun, planet, ring = 20.0, 25.0, 70.0
    joints = [
        hinge("sun.centre", GROUND.at(0.0, 0.0)),
        hinge("arm.centre", GROUND.at(0.0, 0.0)),
        hinge("planet.centre", "arm.pin"),
        weld("ring.centre", GROUND.at(0.0, 0.0)),
        gear("sun.centre", "planet.centre", "arm.centre", ratio=-planet / sun),
        gear("ring.centre", "planet.centre", "arm.centre", ratio=planet / ring),
        torque("sun.centre", name="drive"),
    ]
    arm = rigid.body(0.4, inertia=0.01, ports={"centre": (0.0, 0.0), "pin": (0.1, 0.0)})
    bodies = {"sun": wheel(0.5, 0.002), "arm": arm, "planet": wheel(0.3, 0.001), "ring": wheel(1.0, 0.05)}
    mechanism = connect(bodies, joints)
    assert "freedoms 1" in mechanism.describe()
    assert "nonholonomic" not in mechanism.describe()
    run = integrate(
        mechanism, mechanism.consistent_state(mechanism.assemble()), np.linspace(0, 1, 51), inputs={"drive": 0.05}
    )
    a, s, p = turned(run, "arm.centre", "sun.centre", "planet.centre")
    assert np.abs(s - (1.0 + ring / sun) * a).max() < ROUND_OFF * s[-1] and s[-1] > 2.0 * math.pi
    assert np.abs(p - a + ring / planet * a).max() < ROUND_OFF * s[-1]
    exact(run)


def test_bevel_gears_on_a_body_that_flies_keep_its_angular_momentum():
    """Nothing acts from outside: the gear turns the frame, too, and all momenta stay, at any step."""
    frame = rigid.body(2.0, inertia=(0.05, 0.06, 0.07), ports={"a": (0.1, 0.0, 0.0), "b": (0.0, 0.1, 0.05)})
    x, z = (1.0, 0.0, 0.0), Z
    bodies = {"frame": frame, "a": wheel(0.4, 0.004, 3), "b": wheel(0.7, 0.009, 3)}
    joints = [
        revolute("a.centre", "frame.a", axis=z, second_axis=x),
        revolute("b.centre", "frame.b", axis=z),
        gear("a.centre", "b.centre", "frame.a", ratio=1.7, axis=z, carrier_axes=(x, z)),
    ]
    mechanism = connect(bodies, joints)
    velocities = {"frame": ((0.1, 0.2, 0.0), (1.0, -2.0, 0.5)), "a": (0.0, 0.0, 9.0), "b": (0.0, 0.0, 12.0)}
    start = mechanism.consistent_state(mechanism.assemble(), velocities=velocities)
    run = integrate(mechanism, start, np.linspace(0.0, 2.0, 51))
    exact(run)
    (a,) = [run.measured(joint_angle("a.centre", "frame.a", axis=z, second_axis=x))]
    (b,) = [run.measured(joint_angle("b.centre", "frame.b", axis=z))]
    assert np.abs((a - a[0]) - 1.7 * (b - b[0])).max() < 1e-12 and np.ptp(a) > math.pi
    momenta = angular_momentum(mechanism, run.states)
    assert np.abs(momenta - momenta[0]).max() < 1e-13 * np.abs(momenta).max() * len(run.times)


def angular_momentum(mechanism, states):
    a, momenta = mechanism.network.arrays, []
    for x in states:
        c = configuration(mechanism, x)
        spun = np.einsum("bij,bjk,bk->i", c.R, a.J, c.omega)
        momenta.append(np.cross(c.r, a.mass[:, None] * c.v).sum(axis=0) + spun)
    return np.array(momenta)


def test_a_rack_and_a_belt_move_as_far_as_their_circles():
    """A drum on a belt lifts a load that a rack drives, over several turns."""
    joints = [
        hinge("motor.centre", GROUND.at(0.0, 0.0)),
        hinge("drum.centre", GROUND.at(0.5, 0.0)),
        belt("motor.centre", "drum.centre", radii=(0.05, 0.2)),
        prismatic("load.centre", GROUND.at(0.6, 0.0), direction=(0.0, 1.0)),
        rack("load.centre", "drum.centre", GROUND.at(0.6, 0.0), radius=0.1, direction=(0.0, 1.0)),
        torque("motor.centre", name="drive"),
    ]
    bodies = {"motor": wheel(1.0, 0.002), "drum": wheel(4.0, 0.02), "load": wheel(5.0, 0.1)}
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"load": (0.6, -0.4, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 1.5, 101), inputs={"drive": 1.3})
    motor, drum = turned(run, "motor.centre", "drum.centre")
    height = run.measured(offset("load.centre", GROUND.at(0.6, 0.0), (0.0, 1.0)))
    assert np.abs(0.05 * motor - 0.2 * drum).max() < ROUND_OFF * motor[-1] and motor[-1] > 10.0
    assert np.abs(height + 0.4 - 0.1 * drum).max() < ROUND_OFF * motor[-1]
    exact(run)
    hanging = run.reaction("rack load.centre–drum.centre–GROUND at (0.6, 0.0)").force[-1]
    acceleration = (0.2 / 0.05 * 1.3 / 0.1 - 5.0 * 9.81) / (5.0 + 0.02 / 0.01 + 0.002 * 16.0 / 0.01)
    assert hanging[1] == pytest.approx(5.0 * (9.81 + acceleration), rel=5e-3)  # order h²


def test_a_screw_advances_by_its_lead():
    """A nut that falls turns as it must: a = g/(1 + J(2π/L)²/m), and offset and angle never part."""
    lead, axis = 0.2, (0.0, 0.6, 0.8)
    joint = screw("nut.centre", GROUND.at(0.0, 0.0, 0.0), lead=lead, axis=Z, second_axis=axis)
    mechanism = connect({"nut": wheel(2.0, 0.01, 3)}, [joint], gravity=(0.0, 0.0, -9.81))
    assert "freedoms 1" in mechanism.describe()
    start = mechanism.consistent_state(mechanism.assemble())
    run = integrate(mechanism, start, np.linspace(0.0, 0.8, 101))
    angle = run.measured(joint_angle("nut.centre", GROUND, axis=Z, second_axis=axis))
    way = run.measured(offset("nut.centre", GROUND, axis))
    assert np.abs(way - lead * angle / (2.0 * math.pi)).max() < ROUND_OFF and angle[-1] < -2.0 * 2.0 * math.pi
    exact(run)
    fallen = 0.5 * 9.81 * 0.8 / (1.0 + 0.01 * (2.0 * math.pi / lead) ** 2 / 2.0) * 0.8**2
    assert way[-1] == pytest.approx(-fallen, rel=5e-3)  # order h²


def test_a_gear_takes_the_angle_of_a_flexible_section():
    """At the tip of a beam that bends the section turns, and the gear with it."""
    steel = fem.Material(young=2e9, density=7850.0)
    rod = fem.beam(0.5, steel, fem.Section(width=0.02, height=0.01), elements=1)
    joints = [
        weld("rod.root", GROUND.at(0.0, 0.0)),
        hinge("motor.centre", GROUND.at(0.5, 0.2)),
        gear("motor.centre", "rod.tip", ratio=-30.0),
        torque("motor.centre", name="drive"),
    ]
    mechanism = connect({"rod": rod, "motor": wheel(0.2, 1e-4)}, joints)
    start = mechanism.consistent_state(mechanism.assemble())
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 51), inputs={"drive": 0.05})
    motor, tip = turned(run, "motor.centre", "rod.tip")
    assert np.abs(motor + 30.0 * tip).max() < 1e-12 and np.ptp(motor) > 0.1
    exact(run)


def test_poses_at_rest_know_gears():
    """A torsion spring behind a gear: ω² = k/(J₁ + J₂/i²), its equilibrium under a torque, by three routes."""
    k, ratio = 40.0, -2.5
    bodies = {"motor": wheel(1.0, 0.01), "load": wheel(3.0, 0.05)}
    joints = [
        hinge("motor.centre", GROUND.at(0.0, 0.0)),
        hinge("load.centre", GROUND.at(0.3, 0.0)),
        gear("motor.centre", "load.centre", ratio=ratio),
        torsion_spring("motor.centre", GROUND, stiffness=k, damping=0.1),
        torque("load.centre", name="push"),
    ]
    mechanism = connect(bodies, joints)
    pose = mechanism.assemble()
    reduced = 0.01 + 0.05 / ratio**2
    undamped = connect(bodies, [*joints[:3], torsion_spring("motor.centre", GROUND, stiffness=k)])
    found = eigenfrequencies(eliminate(undamped.linearize(undamped.assemble())), count=1)
    assert found[0] == pytest.approx(math.sqrt(k / reduced), rel=1e-12)
    rest = mechanism.equilibrium(pose, inputs={"push": 30.0})
    cosine, sine = rest.x[mechanism.layout.parts["load.rotation"]]
    assert math.atan2(sine, cosine) == pytest.approx(30.0 / (k * ratio**2), rel=1e-10)
    spectrum = mechanism.spectrum(rest, inputs={"push": 30.0})
    decay = 0.5 * 0.1 / reduced
    assert np.abs(spectrum.values.real + decay).max() < 1e-8 * decay


@pytest.mark.parametrize("method", ["gauss4", "exact_gauss"])
def test_general_methods_and_collocation_agree_with_the_exact_step(method):
    mechanism = train(-1.6)
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"motor": 2.0})
    times, size = np.linspace(0.0, 0.2, 21), mechanism.layout.size
    one = integrate(mechanism, start, times, inputs={"drive": 0.4}, method=by_name(method))
    other = integrate(mechanism, start, times, inputs={"drive": 0.4})
    errors = np.abs(one.states[:, :size] - other.states[:, :size]).max(axis=1)
    assert errors[-1] < 2e-3  # order h² of the exact step
    cosine, sine = one.states[-1, mechanism.layout.parts["motor.rotation"]]
    angle = 2.0 * 0.2 + 0.5 * 0.4 / (0.01 + 0.05 / 1.6**2) * 0.2**2
    assert math.atan2(sine, cosine) == pytest.approx(angle, rel=1e-7)  # of fourth and sixth order


def test_the_name_of_what_is_wrong_is_told():
    with pytest.raises(ValueError, match="ratio must not be zero"):
        gear("a.centre", "b.centre", ratio=0.0)
    with pytest.raises(ValueError, match="ratio"):
        gear("a.centre", "b.centre", ratio=math.nan)
    with pytest.raises(ValueError, match=r"gear joins different bodies, got 'a.centre'.*'a.centre'.*'a'"):
        gear("a.centre", "a.centre", ratio=2.0)
    with pytest.raises(ValueError, match="gear joins different bodies"):
        gear("a.centre", "b.centre", "a.rim", ratio=2.0)
    with pytest.raises(ValueError, match="lead must not be zero"):
        screw("a.centre", GROUND, lead=0.0, axis=Z)
    with pytest.raises(ValueError, match=r"radii\[1\] must be positive"):
        belt("a.centre", "b.centre", radii=(0.1, -0.2))
    with pytest.raises(ValueError, match="radius must be positive"):
        rack("a.centre", "b.centre", radius=0.0)
    with pytest.raises(ValueError, match=r"no port 'load.centr'"):
        train(joint=lambda first, second, **given: gear(first, "load.centr", **given))
    with pytest.raises(ValueError, match=r"gear motor.centre–load.centre–GROUND:.*gear has no axis.*plane"):
        train(joint=lambda first, second, **given: gear(first, second, axis=Z, **given))
    bodies = {"a": wheel(1.0, 0.1, 3), "b": wheel(1.0, 0.1, 3)}
    with pytest.raises(ValueError, match=r"a gear needs axis="):
        connect(bodies, [gear("a.centre", "b.centre", ratio=2.0)])
    with pytest.raises(ValueError, match=r"a screw exists in three dimensions only"):
        connect({"a": wheel(1.0, 0.1)}, [screw("a.centre", GROUND, lead=0.1, axis=Z)])
    with pytest.raises(ValueError, match=r"mechanisms with nonholonomic joints or gears"):
        mechanism = train()
        mechanism.equilibrium(mechanism.assemble(), spin=1.0)
    assert isinstance(train().connections[2].rows[0].law, Transmission)


def test_gears_in_a_ring_that_contradict_each_other_are_told():
    """Products of ratios other than 1 lock all wheels: the freedoms say so, and what is left of a velocity."""
    wheel = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})
    held = [hinge(f"{name}.centre", GROUND.at(float(k), 0.0)) for k, name in enumerate("abc")]
    ring = [gear("a.centre", "b.centre", ratio=-2.0), gear("b.centre", "c.centre", ratio=-2.0)]
    for last, is_locked in ((0.25, False), (0.5, True)):
        train = connect(dict.fromkeys("abc", wheel), [*held, *ring, gear("c.centre", "a.centre", ratio=last)])
        assert ("no freedoms: only drives move it" in train.describe()) == is_locked
        with (
            pytest.warns(UserWarning, match=r"the nearest .* changed are 'a' by 3 rad/s$")
            if is_locked
            else nullcontext()
        ):
            start = train.consistent_state(train.assemble(), velocities={"a": 3.0})
        assert start.x[train.layout.parts["a.spin"]] == (0.0 if is_locked else pytest.approx(3.0, abs=1e-14))
