"""Linearised mechanisms with sensors as outputs, beside readings of runs and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, force, hinge, integrate, torque, torsion_spring, weld
from flexph.control import (
    Continuous,
    Plant,
    angles_of,
    closed_loop,
    gearbox,
    lqr,
    margins,
    motor,
    pid,
    plant_of,
    port_spring,
)
from flexph.laws import coulomb
from flexph.sensors import (
    distance,
    energy,
    joint_angle,
    joint_rate,
    offset,
    position,
    section_rotation,
    stress,
    velocity,
)

METAL = fem.Material(young=7e10, density=2700.0, poisson=0.3)
LINK = fem.beam(1.0, METAL, fem.Section(width=0.03, height=0.02), elements=2, damping=fem.Damping(stiffness=2e-4))
FLAT = {"beam": (0.0, 0.0, 0.0)}
CANTILEVER = connect({"beam": LINK}, [weld("beam.root", GROUND.at(0.0, 0.0)), force("beam.tip", name="push")])
ROBOT = connect(
    {"hub": rigid.body(2.0, inertia=0.2, ports={"axle": (0.0, 0.0)}), "link": LINK},
    [hinge("hub.axle", GROUND.at(0.0, 0.0)), weld("link.root", "hub.axle"), torque("hub.axle", name="motor")],
)
TURNED = {"hub": (0.0, 0.0, 0.4), "link": (0.0, 0.0, 0.4)}
SENSORS = {
    "angle": joint_angle("hub.axle"),
    "tip": joint_angle("link.tip"),
    "rate": joint_rate("hub.axle"),
    "place": position("link.tip"),
    "moving": velocity("link.tip"),
    "gap": distance("link.tip", GROUND.at(0.0, 1.5)),
    "along": offset("link.tip", "hub.axle", (0.0, 1.0)),
    "turn": section_rotation("link.tip"),
    "moment": stress("link", "bending_moment", (0.1, 0.0)),
}


def swing(mechanism, start, port, *, size, steps=15, h=1e-3):
    """A run under a small constant input."""
    times = np.arange(steps + 1) * h
    return integrate(mechanism, start, times, inputs={port: size})


def held(plant, size, steps=15, h=1e-3):
    """Outputs of the plant by the midpoint rule, as in runs, from rest under a constant input."""
    n, x = len(plant.A), np.zeros(len(plant.A))
    left, right = np.eye(n) - 0.5 * h * plant.A, np.eye(n) + 0.5 * h * plant.A
    rows = [plant.C @ x]
    for _ in range(steps):
        x = np.linalg.solve(left, right @ x + h * plant.B @ np.atleast_1d(size))
        rows.append(plant.C @ x)
    return np.array(rows)


def compared(mechanism, about, state, sensors, *, port, size, inputs=None):
    """Readings of a run under a little more input, and of the plant."""
    plant = plant_of(mechanism, about, ports=[port], sensors=sensors, inputs=inputs)
    base = np.zeros(plant.B.shape[1]) if inputs is None else np.asarray(inputs[port])
    run = swing(mechanism, state, port, size=base + size)
    columns = [run.measured(quantity).reshape(len(run.times), -1) for quantity in sensors.values()]
    read = np.hstack(columns)
    return plant, read - read[0], held(plant, size)


def test_readings_of_small_motions_are_those_of_runs():
    pose = ROBOT.assemble(TURNED)
    plant, read, linear = compared(ROBOT, pose, ROBOT.consistent_state(pose), SENSORS, port="motor", size=0.002)
    assert plant.integrals == 1  # the angle of the hub; where the tip is follows from it and the stresses
    same(read, linear)


def same(read, linear, tolerance=2e-5):
    scale = np.abs(linear).max(axis=0)
    assert scale.min() > 0.0
    np.testing.assert_allclose(read / scale, linear / scale, atol=tolerance)


def test_readings_about_an_equilibrium_under_load():
    load = {"push": (0.0, 300.0)}
    state = CANTILEVER.equilibrium(CANTILEVER.assemble(FLAT), inputs=load)
    sensors = {
        "tip": position("beam.tip"),
        "turn": joint_angle("beam.tip"),
        "face": stress("beam", "axial_stress_upper", (0.1, 0.0)),
        "elastic": energy("elastic beam"),
    }
    plant, read, linear = compared(
        CANTILEVER, state, state, sensors, port="push", size=np.array([0.0, 1e-3]), inputs=load
    )
    assert plant.integrals == 0  # stresses tell all places
    seen = [1, 2, 3, 4]  # the tip moves along x with the square of the load
    same(read[:, seen], linear[:, seen], 1e-4)
    still = -plant.C @ np.linalg.solve(plant.A, plant.B)
    bent = 1.0 / (3.0 * METAL.young * 0.03 * 0.02**3 / 12.0)
    assert still[1, 1] == pytest.approx(bent, rel=1e-3)
    np.testing.assert_allclose(plant.response([1e-9])[0], still, rtol=1e-6, atol=1e-12)


def test_places_that_springs_tell_are_not_integrated():
    """ẍ + 4ẋ + 40x = u of an arm of 1 kg m² on a spring and damper: poles and response."""
    arm = connect(
        {"arm": rigid.bar(1.0, 3.0)},
        [
            hinge("arm.root", GROUND.at(0.0, 0.0)),
            torsion_spring("arm.root", GROUND, stiffness=40.0, damping=4.0),
            torque("arm.root", name="motor"),
        ],
    )
    rest = arm.assemble({"arm": (0.0, 0.0, 0.3)})
    sensors = {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}
    plant = plant_of(arm, rest, ports=["motor"], sensors=sensors)
    assert plant.integrals == 0
    np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(plant.A)), [-2.0 - 6.0j, -2.0 + 6.0j], rtol=1e-12)
    omega = np.array([0.5, 6.0, 30.0])
    known = 1.0 / (40.0 + 4.0j * omega - omega**2)
    np.testing.assert_allclose(
        plant.response(omega)[:, :, 0], np.stack([known, 1j * omega * known], axis=1), rtol=1e-10
    )


def test_sensors_away_from_the_motor_in_loops():
    """The angle of the hub as by its port; that of the tip is not collocated and has the smaller margin."""
    pose, law = ROBOT.assemble(TURNED), pid(40.0, derivative=8.0, lag=0.01)
    own, tip = (
        plant_of(ROBOT, pose, ports=["motor"], sensors={"it": joint_angle(port)}) for port in ("hub.axle", "link.tip")
    )
    by_port = angles_of(ROBOT.linearize(pose), ["motor"])
    for omega in (0.3, 5.0, 200.0):
        np.testing.assert_allclose(own.response([omega]), by_port.response([omega]), rtol=1e-8)
    assert margins(own, law).modulus == pytest.approx(margins(by_port, law).modulus, rel=1e-6)
    assert closed_loop(own, law, period=1e-3).is_stable
    assert margins(tip, pid(4.0, derivative=0.8, lag=0.01)).modulus < margins(own, law).modulus
    weights = {"stiffness": [400.0], "effort": [1.0], "load": [1.0], "noise": [1e-6], "energy": 1.0}
    assert closed_loop(tip, lqr(tip, **weights)).is_stable


def test_the_mobility_of_a_free_body_is_exact_in_space():
    """A free body, turned: 1/m + [a]ᵀ J⁻¹ [a] at its port, a its arm."""
    spin = (0.3, -0.2, 0.5)
    body = rigid.body(2.0, inertia=np.diag([0.1, 0.2, 0.3]), ports={"pin": (0.1, 0.2, 0.3)})
    free = connect({"it": body}, [force("it.pin", name="push"), torque("it.pin", name="turn")])
    pose = free.assemble({"it": Rotation.from_rotvec(spin)})
    state = free.consistent_state(pose)
    sensors = {"place": position("it.pin"), "turn": section_rotation("it.pin")}
    plant = plant_of(free, pose, ports=["push", "turn"], sensors=sensors)
    assert plant.integrals == 6
    mobility, arm = plant.C @ plant.A @ plant.B, free.position(state, "it.pin")
    R = Rotation.from_rotvec(spin).as_matrix()
    turned = np.linalg.inv(R @ np.diag([0.1, 0.2, 0.3]) @ R.T)
    across = np.cross(np.eye(3), arm).T
    np.testing.assert_allclose(mobility[:3, :3], 0.5 * np.eye(3) + across.T @ turned @ across, atol=1e-12)


def test_what_does_not_fit_is_said():
    pose, angle = ROBOT.assemble(TURNED), {"angle": joint_angle("hub.axle")}
    with pytest.raises(ValueError, match="no port 'moter'"):
        plant_of(ROBOT, pose, ports=["moter"], sensors=angle)
    with pytest.raises(ValueError, match="ports must name at least one port"):
        plant_of(ROBOT, pose, ports=[], sensors=angle)
    with pytest.raises(ValueError, match="sensors must have at least one"):
        plant_of(ROBOT, pose, ports=["motor"], sensors={})
    with pytest.raises(ValueError, match="must be a Quantity"):
        plant_of(ROBOT, pose, ports=["motor"], sensors={"it": "angle"})
    with pytest.raises(ValueError, match="sensor 'it' is at its jump of half a turn"):
        back = ROBOT.assemble({"hub": (0.0, 0.0, np.pi), "link": (0.0, 0.0, np.pi)})
        plant_of(ROBOT, back, ports=["motor"], sensors={"it": section_rotation("hub.axle")})
    with pytest.raises(ValueError, match="omega must not be a pole of the plant, but 0 rad/s is one"):
        Plant(np.zeros((1, 1)), np.eye(1), np.eye(1)).response([1.0, 0.0])
    with pytest.raises(ValueError, match="sensor 'it' has no rate"):
        plant_of(ROBOT, pose, ports=["motor"], sensors={"it": distance("hub.axle", GROUND.at(0.0, 0.0))})


def test_a_plant_with_a_gearbox_is_that_of_the_inertia_seen_at_the_shaft():
    """y/u = n/((iω)²(I + n²J) + iω n²f), with viscous friction or a relation of the same slope, and two in series."""
    arm = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    n, J, f, omega = 50.0, 2e-4, 1e-4, np.array([0.5, 3.0])
    expected = n / ((1j * omega) ** 2 * (1.0 + n**2 * J) + 1j * omega * n**2 * f)
    for friction in (f, coulomb(f * 2.0, speed=2.0)):
        gear = Continuous(system=gearbox(ratio=n, inertia=J, friction=friction), ports={"shaft": "motor"})
        options = {"ports": ["gear: drive"], "sensors": {"angle": joint_angle("arm.root")}}
        plant = plant_of(arm, arm.assemble({"arm": (0.0, 0.0, 0.0)}), controllers={"gear": gear}, **options)
        np.testing.assert_allclose(plant.response(omega)[:, 0, 0], expected, rtol=1e-9)


def test_poles_with_a_controller_are_those_of_the_spring_and_damper_as_an_element():
    held = Continuous(system=port_spring(40.0, 8.0), ports={"spring": "motor"})
    sensors = {name: SENSORS[name] for name in ("angle", "tip")}
    plant = plant_of(ROBOT, ROBOT.assemble(TURNED), ports=["motor"], sensors=sensors, controllers={"held": held})
    spring = torsion_spring("hub.axle", GROUND, stiffness=40.0, damping=8.0, angle=0.4)
    twin = connect(dict(ROBOT.bodies), [*ROBOT.connections, spring])
    element = plant_of(twin, twin.assemble(TURNED), ports=["motor"], sensors=sensors)
    assert plant.integrals == element.integrals == 0
    omega = np.array([1.0, 20.0, 300.0])
    np.testing.assert_allclose(plant.response(omega), element.response(omega), rtol=1e-8)


def test_a_motor_and_its_link_move_as_their_linear_system_says():
    """Under a voltage that is switched on: the run is of second order in its steps."""
    drive = motor(
        constant=0.05, resistance=0.5, inductance=1e-3, inertia=2e-4, friction=1e-4, ratio=20.0, torque_limit=9.0
    )
    start, volts, apart = ROBOT.consistent_state(ROBOT.assemble(TURNED)), 0.01, []
    given = {"drive": Continuous(system=drive, ports={"shaft": "motor"}, inputs={"supply": volts})}
    names = ("angle", "place")
    plant = plant_of(
        ROBOT,
        ROBOT.assemble(TURNED),
        ports=["drive: supply"],
        sensors={k: SENSORS[k] for k in names},
        controllers=given,
    )
    for steps in (40, 80):
        run = integrate(ROBOT, start, np.linspace(0.0, 0.04, steps + 1), controllers=given)
        changes = np.hstack([run.measured(SENSORS[k])[-1] - run.measured(SENSORS[k])[0] for k in names])
        whole = np.block([[plant.A, plant.B * volts], [np.zeros((1, len(plant.A) + 1))]])
        predicted = plant.C @ expm(0.04 * whole)[:-1, -1]
        apart.append(np.abs(changes / predicted - 1.0))
    assert apart[1].max() < 1e-3
    assert apart[0][0] / apart[1][0] == pytest.approx(4.0, rel=0.1)  # of the tip a mode with few steps has more


def test_controllers_that_are_not_linear_about_rest_are_refused():
    rest, options = ROBOT.assemble(TURNED), {"ports": ["motor"], "sensors": {"angle": SENSORS["angle"]}}
    dry = Continuous(system=gearbox(ratio=50.0, inertia=1e-4, dry_friction=0.1), ports={"shaft": "motor"})
    with pytest.raises(ValueError, match="controller 'gear': dry friction at 'dry friction' sticks"):
        plant_of(ROBOT, rest, controllers={"gear": dry}, **options)
    free = replace(dry, system=gearbox(ratio=50.0, inertia=1e-4, dry_friction=0.0), ports={"shaft": "moter"})
    with pytest.raises(ValueError, match="controller 'gear': no external port 'moter'"):
        plant_of(ROBOT, rest, controllers={"gear": free}, **options)
    with pytest.raises(ValueError, match="must be a Continuous"):
        plant_of(ROBOT, rest, controllers={"gear": lambda t: 1.0}, **options)
    with pytest.raises(ValueError, match=r"no port 'drive'.*'motor', 'gear: drive'"):
        good = replace(free, ports={"shaft": "motor"})
        plant_of(ROBOT, rest, controllers={"gear": good}, **{**options, "ports": ["drive"]})
