"""Kinematics of mechanisms in joint coordinates: poses, Jacobians and inverse dynamics by independent routes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    drive,
    force,
    hinge,
    integrate,
    inverse_dynamics,
    prismatic,
    spring_damper,
    torque,
    weld,
)
from flexph.joints import gear, spherical, universal
from flexph.robots import Kinematics, Link, denavit_hartenberg
from flexph.sensors import distance, joint_angle, joint_rate, offset

BAR = rigid.bar(1.0, 2.0)
TWO = {"upper": BAR, "fore": rigid.bar(0.8, 1.0)}
PINS = [hinge("upper.root", GROUND.at(0.0, 0.0)), hinge("fore.root", "upper.tip")]
ANGLES = {"shoulder": joint_angle("upper.root"), "elbow": joint_angle("fore.root", "upper.tip")}


def planar(**more):
    arm = connect(TWO, PINS, gravity=(0.0, -9.81))
    return Kinematics(arm, ANGLES, arm.assemble({"upper": 0.2}, guess={"fore": 0.9}), **more)


def four_bar():
    bodies = {"crank": rigid.bar(0.3, 1.0), "rod": rigid.bar(1.0, 2.0), "rocker": rigid.bar(0.8, 1.5)}
    pins = [hinge("crank.root", GROUND.at(0.0, 0.0)), hinge("crank.tip", "rod.root"), hinge("rod.tip", "rocker.root")]
    joints = [*pins, hinge("rocker.tip", GROUND.at(0.9, 0.0)), torque("crank.root", name="motor")]
    spring = spring_damper("rod.tip", GROUND.at(0.4, 1.5), stiffness=80.0, damping=3.0, length=0.4)
    mechanism = connect(bodies, [*joints, spring], gravity=(0.0, -9.81))
    home = mechanism.assemble({"crank": 0.4}, guess={"rod": 0.8, "rocker": (0.6, 0.9, -1.2)})
    return mechanism, Kinematics(mechanism, {"crank": joint_angle("crank.root")}, home)


def differences(kinematics, port, q, h=1e-5):
    """Central differences of a place by coordinates."""
    columns = []
    for k in range(len(q)):
        step = np.eye(len(q))[k] * h
        ends = [kinematics.place(port, q + by) for by in (step, -step)]
        turn = ends[0].rotation @ ends[1].rotation.T
        spin = Rotation.from_matrix(turn).as_rotvec() if len(turn) == 3 else [np.arctan2(turn[1, 0], turn[0, 0])]
        columns.append(np.concatenate([ends[0].position - ends[1].position, spin]) / (2.0 * h))
    return np.array(columns).T


def test_a_loop_turns_with_its_crank():
    """Any number of turns, in the branch of home; its Jacobian is that of differences."""
    mechanism, loop = four_bar()
    for q in (0.4, 2.0, -3.0, 9.0):
        pose = loop.pose([q])
        assert np.abs(np.angle(np.exp(1j * (loop.values(pose)[0] - q)))) < 1e-13
        state = mechanism.consistent_state(pose)
        assert np.abs(mechanism.position(state, "rocker.tip") - (0.9, 0.0)).max() < 1e-13
        np.testing.assert_allclose(
            loop.jacobian("rod.tip", [q]), differences(loop, "rod.tip", np.array([q])), atol=1e-9
        )
    np.testing.assert_allclose(loop.pose([0.4 + 2 * np.pi]).centres, loop.home.centres, atol=1e-12)


def test_efforts_of_a_loop_are_those_of_a_run():
    """Against inverse dynamics by a run of small steps with a drive; springs and dampers take part."""
    mechanism, loop = four_bar()

    def turn(t):
        return 0.4 + 1.5 * t + 2.0 * t**2

    step, middle = 1e-4, 5e-5
    found = inverse_dynamics(mechanism, {"motor": turn}, loop.home, [0.0, step])
    effort = loop.efforts([turn(middle)], [1.5 + 4.0 * middle], [4.0])
    assert found.forces["motor"][0, 0] == pytest.approx(effort[0], rel=1e-6)  # of second order in the step


def test_efforts_do_the_work_of_energy():
    """τ·q̇ = d/dt (½ q̇ᵀ M q̇ + V) of an arm under gravity, by central differences along a motion."""
    arm = planar()
    mechanism = arm.mechanism

    def energy(t):
        q, rate = np.array([np.sin(t), 0.5 + t**2]), np.array([np.cos(t), 2.0 * t])
        pose = arm.pose(q)
        masses = [body.mass for body in mechanism.bodies.values()]
        return 0.5 * rate @ arm.mass_matrix(q) @ rate + 9.81 * float(np.dot(masses, pose.centres[:, 1]))

    t, h = 0.7, 1e-4
    q, rate, second = (np.sin(t), 0.5 + t**2), (np.cos(t), 2.0 * t), (-np.sin(t), 2.0)
    power = arm.efforts(q, rate, second) @ np.array(rate)
    assert power == pytest.approx((energy(t + h) - energy(t - h)) / (2.0 * h), rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_flexible_links_are_undeformed(seed):
    """An arm of beams in space against rigid bars of the same mass and moments."""
    rng = np.random.default_rng(seed)
    metal, section = fem.Material(young=7e10, density=2700.0, poisson=0.3), fem.Section(width=0.03, height=0.02)
    beam = fem.beam(1.0, metal, section, elements=3, dim=3)
    bar = rigid.body(beam.mass, inertia=beam.moments, centre=beam.centre, ports={"root": (0, 0, 0), "tip": (1, 0, 0)})
    axis = tuple(rng.normal(size=3))
    joints = [hinge("one.root", GROUND.at(0, 0, 0), axis=(0, 0, 1)), hinge("two.root", "one.tip", axis=axis)]
    q, rate, second = rng.normal(size=(3, 2))
    angles = {
        "a": joint_angle("one.root", axis=(0, 0, 1)),
        "b": joint_angle("two.root", "one.tip", axis=axis),
    }
    efforts = []
    for body in (beam, bar):
        arm = connect({"one": body, "two": body}, joints, gravity=(1.0, 2.0, -9.0))
        efforts.append(Kinematics(arm, angles, arm.assemble(guess={"two": (1, 0, 0)})).efforts(q, rate, second))
    np.testing.assert_allclose(*efforts, rtol=1e-10)


def test_places_are_reached_within_limits():
    arm = planar(limits={"elbow": (0.1, 2.5)})
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = rng.uniform((-3.0, 0.2), (3.0, 2.4))
        place = arm.place("fore.tip", q).position
        found = arm.inverse("fore.tip", position=place)
        assert 0.1 <= found[1] <= 2.5
        np.testing.assert_allclose(arm.place("fore.tip", found).position, place, atol=1e-11)
    turned = planar().inverse("fore.tip", rotation=2.0)
    assert np.sin(turned.sum() - 2.0) == pytest.approx(0.0, abs=1e-11)


def test_a_place_out_of_reach_is_told_with_the_distance():
    with pytest.raises(ValueError, match=r"'fore\.tip' is out of reach: the nearest place found is 0\.2 m"):
        planar().inverse("fore.tip", position=(0.0, 2.0))
    with pytest.raises(ValueError, match="out of reach"):  # the elbow would have to bend the other way
        planar(limits={"shoulder": (-0.1, 0.1), "elbow": (0.0, 0.5)}).inverse("fore.tip", position=(-1.0, 0.0))


def test_redundant_arms_take_the_least_change():
    """Seven joints: the solution next to the start is the one of the least-norm step, of second order in the way."""
    rng = np.random.default_rng(7)
    rows = {f"j{k}": Link(a=0.3, alpha=rng.uniform(-1.5, 1.5), mass=1.0, moments=(0.1, 0.1, 0.1)) for k in range(7)}
    robot = denavit_hartenberg(rows)
    mechanism = connect(robot.bodies, robot.connections)
    arm, port = Kinematics(mechanism, robot.coordinates, mechanism.assemble(robot.placed())), robot.ports["tool"]
    q = rng.uniform(-1.0, 1.0, 7)
    place, J = arm.place(port, q), arm.jacobian(port, q)
    way = 1e-4 * rng.normal(size=3)
    found = arm.inverse(port, position=place.position + way, rotation=place.rotation, near=q)
    least = np.linalg.pinv(J) @ np.concatenate([way, np.zeros(3)])
    np.testing.assert_allclose(found - q, least, atol=1e-2 * np.abs(least).max())
    np.testing.assert_allclose(J, differences(arm, port, q), atol=1e-9)


def test_distances_are_coordinates_of_legs():
    """A platform in the plane on three legs: lengths determine its place, and the place the lengths."""
    feet, heads = [(0.0, 0.0), (2.0, 0.0), (1.0, 2.5)], {"a": (-0.3, -0.2), "b": (0.3, -0.2), "c": (0.0, 0.4)}
    plate = rigid.body(3.0, inertia=0.2, ports=heads | {"mid": (0.0, 0.0)})
    mechanism = connect({"plate": plate}, [])
    legs = {name: distance(f"plate.{name}", GROUND.at(*foot)) for name, foot in zip(heads, feet, strict=True)}
    kinematics = Kinematics(mechanism, legs, mechanism.assemble({"plate": (1.0, 1.0, 0.1)}))
    q = kinematics.inverse("plate.mid", position=(1.2, 0.9), rotation=-0.2)
    turn = np.array([[np.cos(0.2), np.sin(0.2)], [-np.sin(0.2), np.cos(0.2)]])
    closed = [np.linalg.norm(turn @ head + (1.2, 0.9) - foot) for head, foot in zip(heads.values(), feet, strict=True)]
    np.testing.assert_allclose(q, closed, rtol=1e-11)
    near = kinematics.inverse("plate.mid", position=(1.1, 1.2), rotation=0.3)  # no singular pose between
    np.testing.assert_allclose(kinematics.place("plate.mid", near).position, (1.1, 1.2), atol=1e-11)
    q = near
    J = kinematics.jacobian("plate.mid", q)
    np.testing.assert_allclose(J, differences(kinematics, "plate.mid", q), atol=1e-8)


def test_inputs_do_the_work_of_efforts():
    """A slider on a turning arm: its motor are forces at both of its ports."""
    bodies = {
        "arm": rigid.body(2.0, inertia=(0.01, 0.2, 0.2), ports={"root": (-0.5, 0, 0), "tip": (0.5, 0, 0)}),
        "cart": rigid.body(1.0, inertia=(0.1, 0.1, 0.1), ports={"mid": (0, 0, 0)}),
    }
    joints = [
        hinge("arm.root", GROUND.at(0, 0, 0), axis=(0, 0, 1)),
        prismatic("cart.mid", "arm.tip", direction=(1, 0, 0)),
    ]
    ports = [torque("arm.root", name="turn"), force("cart.mid", name="push"), force("arm.tip", name="back")]
    mechanism = connect(bodies, [*joints, *ports])
    coordinates = {"angle": joint_angle("arm.root", axis=(0, 0, 1)), "way": offset("cart.mid", "arm.tip", (1, 0, 0))}
    kinematics = Kinematics(mechanism, coordinates, mechanism.assemble(guess={"cart": (1.0, 0.0, 0.0)}))
    q, rate, second = {"angle": 0.7, "way": 0.3}, {"angle": 0.4, "way": -0.6}, {"angle": 2.0, "way": 1.5}
    efforts = kinematics.efforts(q, rate, second)
    inputs = kinematics.inputs(q, efforts, ["turn", "push", "back"])
    start = state_of(kinematics, q, rate)
    run = integrate(mechanism, start, [0.0, 1e-5], inputs=inputs)
    ends = run.measured(joint_rate("arm.root", axis=(0, 0, 1)))
    assert np.diff(ends)[0] / 1e-5 == pytest.approx(2.0, rel=1e-4)
    with pytest.raises(ValueError, match="cannot exert that of 'way'"):
        kinematics.inputs(q, efforts, ["turn"])


def state_of(kinematics, q, rates):
    """State with given coordinates and rates, from velocities at the origins of the bodies."""
    mechanism, pose = kinematics.mechanism, kinematics.pose(q)
    rate = np.array([rates[name] for name in kinematics.names])
    moved = {}
    for name in mechanism.bodies:
        port = next(iter(mechanism.bodies[name].ports))
        J = kinematics.jacobian(f"{name}.{port}", q) @ rate
        spin = J[3:]
        arm = pose.rotations[list(mechanism.bodies).index(name)] @ mechanism.bodies[name].ports[port].position
        moved[name] = (J[:3] - np.cross(spin, arm), spin)
    return mechanism.consistent_state(pose, velocities=moved)


def test_wrong_coordinates_are_refused():
    arm = connect(TWO, PINS)
    home = arm.assemble({"upper": 0.2}, guess={"fore": 0.9})
    with pytest.raises(ValueError, match=r"leave 2 freedoms.*'shoulder' fix 1"):
        Kinematics(arm, {"shoulder": ANGLES["shoulder"]}, home)
    with pytest.raises(ValueError, match="must be independent: the joints leave 2 freedoms, got 3"):
        Kinematics(arm, ANGLES | {"again": joint_angle("fore.root", GROUND)}, home)
    with pytest.raises(ValueError, match=r"must be joint_angle.*offset.*distance"):
        Kinematics(arm, {"rate": joint_rate("upper.root"), "elbow": ANGLES["elbow"]}, home)
    wheels = connect(TWO, [*PINS, gear("upper.root", "fore.root", ratio=2.0)])
    with pytest.raises(ValueError, match="constrains rates"):
        Kinematics(wheels, ANGLES, wheels.assemble({"upper": 0.2}, guess={"fore": 0.9}))
    rod = fem.rod(
        1.0, fem.Material(young=1e9, density=1e3, poisson=0.3), fem.Section(width=0.01, height=0.01), elements=2
    )
    hanging = connect({"rod": rod}, [weld("rod.root", GROUND)])
    with pytest.raises(ValueError, match="'rod' has several"):
        Kinematics(hanging, {"x": distance("rod.tip", GROUND)}, hanging.assemble())
    with pytest.raises(ValueError, match="no coordinate 'elbw'"):
        planar().pose({"elbw": 0.1})
    with pytest.raises(ValueError, match=r"limits\['elbow'\] must have lower <= upper"):
        planar(limits={"elbow": (1.0, 0.0)})
    with pytest.raises(ValueError, match="got neither"):
        planar().inverse("fore.tip")


def test_drives_do_not_take_part():
    driven = connect(TWO, [*PINS, drive("upper.root", angle=lambda t: 0.2 + t)])
    arm = Kinematics(driven, ANGLES, driven.assemble({"upper": 0.2}, guess={"fore": 0.9}))
    np.testing.assert_allclose(
        arm.place("fore.tip", (0.5, 0.4)).position, planar().place("fore.tip", (0.5, 0.4)).position
    )


def test_a_singular_loop_is_told():
    """Legs that meet in one point do not hold a plate against turning about it."""
    plate = rigid.body(3.0, inertia=0.2, ports={"mid": (0.0, 0.0), "end": (1.0, 0.0)})
    mechanism = connect({"plate": plate}, [])
    legs = {"a": distance("plate.mid", GROUND.at(1, 0)), "b": distance("plate.mid", GROUND.at(0, 1))}
    legs["c"] = distance("plate.end", GROUND.at(3.0, 0.5))
    kinematics = Kinematics(mechanism, legs, mechanism.assemble({"plate": (0.2, 0.1, 0.0)}))
    with pytest.raises(ValueError, match=r"no pose was found|singular"):
        kinematics.pose({"a": 0.1, "b": 0.1, "c": 0.1})


def test_spherical_and_universal_joints_close():
    """A strut between a universal and a spherical joint, whose length is its coordinate with two angles."""
    bodies = {"foot": rigid.body(1.0, inertia=(0.01, 0.1, 0.1), ports={"root": (0, 0, 0), "tip": (0.5, 0, 0)})}
    mechanism = connect(bodies, [universal("foot.root", GROUND.at(0, 0, 0), axis=(0, 1, 0), second_axis=(0, 0, 1))])
    sensors = {"x": offset("foot.tip", GROUND, (0, 1, 0)), "y": offset("foot.tip", GROUND, (0, 0, 1))}
    kinematics = Kinematics(mechanism, sensors, mechanism.assemble())
    tip = kinematics.place("foot.tip", (0.1, 0.2)).position
    np.testing.assert_allclose(tip, (np.sqrt(0.25 - 0.05), 0.1, 0.2), atol=1e-12)
    assert spherical("foot.tip", GROUND).kind == "spherical"
