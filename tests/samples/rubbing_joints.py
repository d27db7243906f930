"""Mechanisms whose joints rub under their own force."""

import warnings

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, cylindrical, drive, hinge, prismatic, revolute, slider, spring_damper
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.joints import CoulombFriction

GRAVITY = 9.81


def sound(run):
    """The ledger closes, the law is met, and energy never grows."""
    ledger = run.ledger
    scale = max(ledger.scale, 1e-3)
    assert ledger.residual.max() <= 1e-11 * scale
    assert ledger.complementarity_residual.max() <= 1e-10
    assert np.diff(ledger.total_energy).max() <= 1e-12 * scale


def consistent(mechanism, pose, velocities):
    """The nearest velocities that the joints allow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mechanism.consistent_state(pose, velocities=velocities)


def planar(seed, *, floor=False):
    """A chain of hinges and sliders with friction that throws itself about."""
    rng = np.random.default_rng(seed)
    bodies, joints, guess, place = {}, [], {}, np.zeros(2)
    for i in range(rng.integers(1, 4)):
        length, angle, mass = rng.uniform(0.2, 1.0), rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 3.0)
        ends = {"a": (-0.5 * length, 0.0), "b": (0.5 * length, 0.0)}
        bodies[f"b{i}"] = rigid.body(mass, inertia=mass * length**2 / 12.0, ports=ends)
        mu, second = 10.0 ** rng.uniform(-2.0, 0.3), GROUND.at(0.0, 0.0) if i == 0 else f"b{i - 1}.b"
        if rng.random() < 0.6:
            joints.append(hinge(f"b{i}.a", second, friction=CoulombFriction(mu, radius=rng.uniform(0.01, 0.1))))
        else:
            way, turning = tuple(rng.normal(size=2)), bool(rng.integers(2))
            joints.append(slider(f"b{i}.a", second, direction=way, turning=turning, friction=CoulombFriction(0.5 * mu)))
        along = length * np.array([np.cos(angle), np.sin(angle)])
        guess[f"b{i}"] = (*(place + 0.5 * along), angle)
        place = place + along
    if floor:
        low = min(values[1] for values in guess.values()) - 1.0
        ends = [Sphere(f"{name}.b", 0.02) for name in bodies]
        law = Rigid(restitution=0.4, friction=0.3)
        joints.append(contact(ends, Plane(GROUND.at(0.0, low), (0.0, 1.0)), law, name="floor"))
    mechanism = connect(bodies, joints, gravity=(0.0, -GRAVITY))
    motion = {name: tuple(3.0 * rng.normal(size=3)) for name in bodies}
    return mechanism, consistent(mechanism, mechanism.assemble(guess=guess), motion)


def spatial(seed):
    """The same in space."""
    rng = np.random.default_rng(seed)
    bodies, joints = {}, []
    for i in range(rng.integers(1, 4)):
        length, axis = rng.uniform(0.2, 1.0), tuple(rng.normal(size=3))
        ends = {"a": (-0.5 * length, 0.0, 0.0), "b": (0.5 * length, 0.0, 0.0)}
        bodies[f"b{i}"] = rigid.box((length, 0.1, 0.2), density=rng.uniform(500.0, 2000.0), ports=ends)
        mu, second = 10.0 ** rng.uniform(-2.0, 0.0), GROUND.at(0.0, 0.0, 0.0) if i == 0 else f"b{i - 1}.b"
        turns = CoulombFriction(mu, radius=rng.uniform(0.01, 0.1))
        kind = rng.integers(4)
        if kind == 3:
            joints.append(prismatic(f"b{i}.a", second, direction=axis, friction=CoulombFriction(0.5 * mu)))
        else:
            joint = cylindrical if kind == 2 else revolute
            joints.append(joint(f"b{i}.a", second, axis=axis, friction=turns))
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -GRAVITY))
    motion = {name: (tuple(2.0 * rng.normal(size=3)), tuple(4.0 * rng.normal(size=3))) for name in bodies}
    return mechanism, consistent(mechanism, mechanism.assemble(), motion)


def stick_slip(speed=0.1):
    """A block on a belt, held by a spring, that sticks and slips in turn."""
    bodies = {name: rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)}) for name in ("belt", "block")}
    joints = [
        slider("belt.c", GROUND.at(0.0, 0.0)),
        slider("block.c", "belt.c", friction=CoulombFriction(0.3), name="rub"),
        spring_damper("block.c", GROUND.at(-1.0, 0.0), stiffness=50.0, length=1.0),
        drive("belt.c", displacement=lambda t: speed * t, direction=(1.0, 0.0)),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble(guess={name: (0.0, 0.0, 0.0) for name in bodies})
    return mechanism, consistent(mechanism, pose, {name: (speed, 0.0, 0.0) for name in bodies})


def ring_on_arm(coefficient):
    """A ring on an arm that swings down: it slips to where it sticks on what moves."""
    bodies = {
        "arm": rigid.body(1.0, inertia=0.1, ports={"o": (-0.5, 0.0), "s": (0.3, 0.1)}),
        "ring": rigid.body(0.3, inertia=0.002, ports={"c": (0.0, 0.0)}),
    }
    joints = [
        hinge("arm.o", GROUND.at(0.0, 0.0), friction=CoulombFriction(0.05, radius=0.02), name="bearing"),
        slider("ring.c", "arm.s", friction=CoulombFriction(coefficient), name="rub"),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble(guess={"arm": (0.5, 0.0, 0.0), "ring": (0.8, 0.1, 0.0)})
    return mechanism, consistent(mechanism, pose, {"arm": (0.0, 0.5, 1.0), "ring": (-0.1, 0.8, 1.0)})


def door():
    """A door on two hinges, which share its weight by least norm, that comes to rest."""
    ports = {"low": (-0.4, 0.0, -0.8), "high": (-0.4, 0.0, 0.8)}
    friction = CoulombFriction(0.3, radius=0.02)
    joints = [
        revolute(f"door.{name}", GROUND.at(0.0, 0.0, z), axis=(0.0, 0.0, 1.0), friction=friction, name=name)
        for name, z in (("low", 0.0), ("high", 1.6))
    ]
    body = rigid.box((0.8, 0.04, 2.0), density=300.0, ports=ports)
    mechanism = connect({"door": body}, joints, gravity=(0.0, 0.0, -GRAVITY))
    pose = mechanism.assemble(guess={"door": (0.4, 0.0, 0.8)})
    return mechanism, consistent(mechanism, pose, {"door": ((0.0, 0.4, 0.0), (0.0, 0.0, 1.0))})


def crank_slider(*, flexible=False, coefficient=0.2):
    """A crank-slider that runs out, with friction in all of its joints."""
    crank = rigid.body(1.0, inertia=0.01, ports={"a": (-0.1, 0.0), "b": (0.1, 0.0)})
    if flexible:
        strip, steel = fem.Section(width=0.02, height=0.006), fem.Material(young=2.1e11, density=7850.0)
        rod = fem.beam(0.6, steel, strip, elements=2, strain="von_karman", damping=fem.Damping(stiffness=1e-4))
        ends, guess = ("rod.root", "rod.tip"), (0.2, 0.0, 0.0)
    else:
        rod = rigid.body(2.0, inertia=0.06, ports={"a": (-0.3, 0.0), "b": (0.3, 0.0)})
        ends, guess = ("rod.a", "rod.b"), (0.5, 0.0, 0.0)
    pin = CoulombFriction(coefficient, radius=0.01)
    joints = [
        hinge("crank.a", GROUND.at(0.0, 0.0), friction=pin, name="main"),
        hinge("crank.b", ends[0], friction=pin, name="big end"),
        hinge(ends[1], "block.c", friction=pin, name="small end"),
        slider("block.c", GROUND.at(0.0, 0.0), friction=CoulombFriction(coefficient), name="rail"),
    ]
    bodies = {"crank": crank, "rod": rod, "block": rigid.body(1.5, inertia=0.01, ports={"c": (0.0, 0.0)})}
    mechanism = connect(bodies, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble(guess={"crank": (0.1, 0.0, 0.0), "rod": guess, "block": (0.8, 0.0, 0.0)})
    return mechanism, consistent(mechanism, pose, {"crank": (0.0, 2.0, 20.0)})
