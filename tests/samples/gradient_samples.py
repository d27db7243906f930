"""Mechanisms with parameters, and derivatives of functionals of their runs by differences of these."""

import numpy as np

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    cylindrical,
    drive,
    hinge,
    integrate,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    weld,
)
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.joints import CoulombFriction
from flexph.laws import bouc_wen, polynomial
from flexph.methods import Exact
from flexph.sensors import joint_angle, position
from flexph.systems import PiecewiseConstant

STEEL = fem.Material(young=2.1e11, density=7850.0)
TIMES = np.linspace(0.0, 0.2, 81)


def pendulum(young=2.1e9, density=7850.0, length=0.3, speed=2.0):
    """A von Kármán beam and a bar under gravity, with a start that moves."""
    strip = fem.Section(width=0.02, height=0.01)
    beam = fem.beam(0.5, fem.Material(young=young, density=density), strip, elements=3, strain="von_karman")
    pins = [hinge("a.root", GROUND), hinge("a.tip", "b.root")]
    mechanism = connect({"a": beam, "b": rigid.bar(length, 0.4)}, pins, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.1)}, guess={"b": -0.5})
    return mechanism, mechanism.consistent_state(pose, velocities={"a": (0.0, 0.0, speed)})


def crank(speed=20.0, stiffness=50.0, torque_size=0.2):
    """A driven crank, a damped beam, a spring with a cubic law, and a torque in steps."""
    section, loss = fem.Section(width=0.02, height=0.004), fem.Damping(stiffness=1e-4)
    rod = fem.beam(0.28, STEEL, section, elements=3, damping=loss)
    joints = [
        hinge("crank.root", GROUND),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "rocker.root"),
        hinge("rocker.tip", GROUND.at(0.25, 0.0)),
        drive("crank.root", angle=lambda t: speed * t),
        spring_damper("rod.tip", GROUND.at(0.25, 0.6), damping=1.0, law=polynomial(stiffness, 0.0, 4e4)),
        torque("rocker.tip", name="brake"),
    ]
    bodies = {"crank": rigid.bar(0.1, 0.2), "rod": rod, "rocker": rigid.bar(0.27, 0.3)}
    mechanism = connect(bodies, joints)
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.0)}, guess={"rod": 0.7, "rocker": -1.4})
    brake = PiecewiseConstant([0.0, 0.05, 0.1], [torque_size, -torque_size, 0.5 * torque_size])
    return mechanism, mechanism.consistent_state(pose), {"brake": brake}


def tumbler(density=80.0, young=2e9, free=0.2):
    """A beam of space on a ball, a box on a skew hinge, and a spring with a free length."""
    beam = fem.beam(
        0.6,
        fem.Material(young=young, poisson=0.3, density=2000.0),
        fem.Section(width=0.02, height=0.03),
        elements=2,
        dim=3,
    )
    axis = (0.6, 0.0, 0.8)
    joints = [
        spherical("beam.root", GROUND),
        revolute("beam.tip", "box.centre", axis=axis),
        spring_damper("beam.tip", GROUND.at(0.5, 0.4, 0.0), stiffness=80.0, damping=0.5, length=free),
    ]
    mechanism = connect(
        {"beam": beam, "box": rigid.box((0.1, 0.2, 0.3), density=density)}, joints, gravity=(0.0, 0.0, -9.81)
    )
    return mechanism, mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}))


def rod(young=1e8, density=1200.0):
    """A geometrically exact rod that is clamped."""
    rubber = fem.Material(young=young, poisson=0.3, density=density)
    bodies = {"rod": fem.rod(0.5, rubber, fem.Section(diameter=0.02), elements=3)}
    mechanism = connect(bodies, [weld("rod.root", GROUND)], gravity=(0.0, -9.81, 0.0))
    return mechanism, mechanism.consistent_state(mechanism.assemble({}))


def hysteretic(stiffness=100.0, mass=1.0):
    """A bar on a spring of Bouc and Wen."""
    spring = spring_damper("bar.tip", GROUND.at(0.5, 0.4), law=bouc_wen(stiffness, yield_force=2.0, shape=0.6))
    mechanism = connect({"bar": rigid.bar(0.5, mass)}, [hinge("bar.root", GROUND), spring], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


def cable(axial=2e4, mass_per_length=0.2):
    """A cable that falls from one end."""
    line = fem.cable(1.0, mass_per_length=mass_per_length, axial=axial, bending=1e-3, elements=4)
    mechanism = connect({"cable": line}, [spherical("cable.root", GROUND)], gravity=(0.0, -9.81, 0.0))
    return mechanism, mechanism.consistent_state(mechanism.assemble({}))


def links(first=0.01, second=0.01):
    """Two equal links, of which the loops store the matrices once."""
    bodies = {
        name: fem.beam(0.3, STEEL, fem.Section(width=0.02, height=height), elements=2)
        for name, height in (("a", first), ("b", second))
    }
    pins = [hinge("a.root", GROUND), hinge("a.tip", "b.root")]
    mechanism = connect(bodies, pins, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"a": (0.0, 0.0, 0.0)}, guess={"b": -0.5}))


def bucket(density=300.0, rate=1.5, width=0.3, spin=1.0):
    """A box of space on a ball, whose mass falls with time, with a bar on a spring."""
    box = rigid.box((width, 0.2, 0.1), density=density).with_mass_factor(lambda t: 1.0 - rate * t)
    joints = [
        spherical("box.centre", "bar.tip"),
        spherical("bar.root", GROUND),
        spring_damper("box.centre", GROUND.at(0.5, 0.4, 0.3), stiffness=80.0, damping=0.5, length=0.2),
    ]
    bar = rigid.body(
        0.5,
        inertia=(0.02, 0.03, 0.04),
        ports={"root": (-0.3, 0.0, 0.0), "tip": (0.3, 0.1, 0.0)},
        centre=(0.0, 0.0, 0.0),
    )
    mechanism = connect({"box": box, "bar": bar}, joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({"bar": ((0.3, 0.0, 0.0), np.eye(3))})
    return mechanism, mechanism.consistent_state(pose, velocities={"box": ((0.0, 0.0, 0.0), (spin, 2.0, -spin))})


def thrown(coefficient=0.3, length=0.4, density=7850.0, speed=3.0, radius=0.01):
    """A block that is thrown along a rail that rubs, with a flexible pendulum whose pin rubs, too."""
    section = fem.Section(width=0.02, height=0.006)
    rod = fem.beam(length, fem.Material(young=2.1e11, density=density), section, elements=2)
    joints = [
        slider("block.point", GROUND.at(0.0, 0.0), friction=CoulombFriction(coefficient), name="rail"),
        hinge("block.point", "rod.root", friction=CoulombFriction(0.2, radius=radius), name="pin"),
    ]
    block = rigid.body(2.0, inertia=0.01, ports={"point": (0.0, 0.0)})
    mechanism = connect({"block": block, "rod": rod}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"rod": (0.0, 0.0, -1.2)})
    start = {"block": (speed, 0.0, 0.0), "rod": (speed, 0.0, 12.0)}
    return mechanism, mechanism.consistent_state(pose, velocities=start)


def spinning(coefficient=0.1, radius=0.02, offset=0.05, spin=30.0, stiffness=40.0):
    """A shaft of space that turns and slides in a bearing that rubs, with its mass beside the axis and a spring."""
    ports = {"bore": (0.0, 0.0, 0.0), "eye": (0.1, 0.0, 0.2)}
    shaft = rigid.body(2.0, inertia=(0.02, 0.03, 0.01), ports=ports, centre=(offset, 0.0, 0.1))
    friction = CoulombFriction(coefficient, radius=radius, factor=lambda t: 1.0 + 2.0 * t)
    joints = [
        cylindrical("shaft.bore", GROUND, axis=(0.0, 0.0, 1.0), friction=friction, name="bearing"),
        spring_damper("shaft.eye", GROUND.at(0.3, 0.2, 0.6), stiffness=stiffness, length=0.2),
    ]
    mechanism = connect({"shaft": shaft}, joints, gravity=(0.0, -9.81, 0.0))
    start = {"shaft": ((0.0, offset * spin, 1.0), (0.0, 0.0, spin))}
    return mechanism, mechanism.consistent_state(mechanism.assemble({}), velocities=start)


def bouncing(height=0.3, gravity=9.81, restitution=0.8):
    """A bar that falls flat and bounces on its middle."""
    floor = contact(
        Sphere("bar.middle", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(restitution=restitution), name="floor"
    )
    mechanism = connect({"bar": rigid.bar(0.3, 1.0)}, [floor], gravity=(0.0, -gravity))
    pose = mechanism.assemble({"bar": (0.0, height, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"bar": (0.2, 0.0, 0.0)})


def tapping(speed=6.0, load=0.2, restitution=0.7, height=-0.05):
    """A driven crank with a flexible rod and an arm with a motor, whose tip bounces on a table."""
    section, loss = fem.Section(width=0.02, height=0.004), fem.Damping(stiffness=1e-4)
    rod = fem.beam(0.28, STEEL, section, elements=3, damping=loss)
    table = Plane(GROUND.at(0.0, height), (0.0, 1.0))
    joints = [
        hinge("crank.root", GROUND),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "arm.root"),
        drive("crank.root", angle=lambda t: speed * t + 0.1 * np.sin(20.0 * t)),
        torque("arm.root", name="motor"),
        contact(Sphere("arm.tip", 0.01), table, Rigid(restitution=restitution), name="table"),
    ]
    bodies = {"crank": rigid.bar(0.1, 0.2), "rod": rod, "arm": rigid.bar(0.2, load)}
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.0)}, guess={"rod": 0.1, "arm": -0.1})
    ends = np.linspace(0.0, 0.3, 7)
    return mechanism, mechanism.consistent_state(pose), {"motor": (ends, -0.1 * load * np.cos(9.0 * ends))}


def knocking(density=80.0, young=2e9, restitution=0.7, height=-0.12, radius=0.02):
    """A beam of space on a ball with a box on a skew hinge, whose centre bounces on a plane."""
    beam = fem.beam(
        0.6,
        fem.Material(young=young, poisson=0.3, density=2000.0),
        fem.Section(width=0.02, height=0.03),
        elements=2,
        dim=3,
    )
    floor = Plane(GROUND.at(0.0, 0.0, height), (0.05, 0.1, 1.0))
    joints = [
        spherical("beam.root", GROUND),
        revolute("beam.tip", "box.centre", axis=(0.6, 0.0, 0.8)),
        contact(Sphere("box.centre", radius), floor, Rigid(restitution=restitution), name="floor"),
    ]
    bodies = {"beam": beam, "box": rigid.box((0.1, 0.2, 0.3), density=density)}
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -9.81))
    start = {"box": ((0.0, 0.0, -0.2), (0.5, 1.0, 0.7))}
    return mechanism, mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}), velocities=start)


CASES = {
    "mass of time": (bucket, {"density": 300.0, "rate": 1.5, "width": 0.3, "spin": 1.0}, position("box.centre")),
    "equal links": (links, {"first": 0.01, "second": 0.01}, position("b.tip")),
    "rod": (rod, {"young": 1e8, "density": 1200.0}, position("rod.tip")),
    "cable": (cable, {"axial": 2e4, "mass_per_length": 0.2}, position("cable.tip")),
    "hysteresis": (hysteretic, {"stiffness": 100.0, "mass": 1.0}, position("bar.tip")),
    "pendulum": (pendulum, {"young": 2.1e9, "density": 7850.0, "length": 0.3, "speed": 2.0}, position("b.tip")),
    "crank": (crank, {"speed": 20.0, "stiffness": 50.0, "torque_size": 0.2}, joint_angle("rod.tip", "rocker.root")),
    "tumbler": (tumbler, {"density": 80.0, "young": 2e9, "free": 0.2}, position("beam.tip")),
}


def differences(make, parameters, name, functional, times=TIMES, method=Exact(), step=1e-3):  # noqa: B008
    """Derivative by a difference of sixth order of runs."""
    return along(make, parameters, {name: parameters[name]}, functional, times, method, step) / parameters[name]


def along(make, parameters, direction, functional, times=TIMES, method=Exact(), step=1e-3):  # noqa: B008
    """Derivative along changes of the parameters, likewise."""

    def at(k):
        changed = {name: parameters[name] + k * step * change for name, change in direction.items()}
        mechanism, start, *inputs = make(**{**parameters, **changed})
        grid = times(**{**parameters, **changed}) if callable(times) else times
        run = integrate(mechanism, start, grid, method=method, inputs=inputs[0] if inputs else None, progress=False)
        values = run.measured(functional.quantity).reshape(len(run.times), -1)[:, functional.component]
        return functional.value(run.times, values)

    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    return sum(w * (at(k) - at(-k)) for k, w in weights.items()) / (60.0 * step)


def direction_of(parameters):
    """Changes of all parameters by about their sizes: a wrong derivative shows along them."""
    shares = np.random.default_rng(0).uniform(0.5, 1.0, len(parameters))
    return {name: share * value for share, (name, value) in zip(shares, parameters.items(), strict=True)}
