"""Short runs of all kinds of mechanisms and methods, and the bits of what they return."""

import hashlib
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from contact_samples import LAWS, ball, spinning_discs
from rod_samples import between_bodies
from rubbing_joints import planar
from sample_mechanisms import chain, crank_slider, doubled, loaded
from sliding_samples import bead, cart

import fem
import rigid
from flexph import GROUND, connect, force, hinge, integrate, spherical, spring_damper, torque, torsion_spring
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.control import StateFeedback
from flexph.joints import Sheave, rope
from flexph.laws import backlash, bouc_wen, bristle, coulomb, force_law, gravitation, polynomial, resistive
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.sensors import joint_angle, joint_rate, position


@dataclass(frozen=True)
class Sample:
    """A mechanism with its start and inputs as a function makes them, a method, and times of the run."""

    make: Any
    method: Any = field(default_factory=Exact)
    step: float = 1e-3
    steps: int = 40
    feedback: Any = None


def rods():
    """A rod in space between two bodies, one of which is thrown."""
    mechanism = between_bodies(damping=1e-3)
    thrown = {"hub": ((1.0, 0.0, 0.5), (0.3, 2.0, 1.0))}
    return mechanism, mechanism.consistent_state(mechanism.assemble(), velocities=thrown), {}


def cable():
    """A slack cable between the ground and a mass that falls."""
    line = fem.cable(2.0, mass_per_length=0.3, axial=1e4, bending=0.1, elements=3)
    joints = [spherical("line.root", GROUND.at(0.0, 0.0, 0.0)), spherical("load.point", "line.tip")]
    mechanism = connect({"line": line, "load": rigid.point(1.0, dim=3)}, joints, gravity=(0.0, 0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble()), {}


def in_the_plane():
    """A planar rod and a planar cable at its tip, which fall."""
    section = fem.RodSection(
        axial=1e4, shear=(1e4, 1e4), torsion=500.0, bending=(500.0, 500.0), mass=1.0, inertia=(20.0, 10.0, 10.0)
    )
    rod = fem.rod(4.0, None, section, elements=2, dim=2, damping=fem.Damping(stiffness=1e-3))
    line = fem.cable(2.0, mass_per_length=0.3, axial=1e4, bending=0.1, elements=3, dim=2)
    joints = [hinge("rod.root", GROUND.at(0.0, 0.0)), hinge("line.root", "rod.tip")]
    mechanism = connect({"rod": rod, "line": line}, joints, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.0)})), {}


def lawful(*, paths=True):
    """Two bars with springs of all laws: an energy in pieces and by functions, a force, hysteresis and bristles."""
    ground = GROUND.at(0.0, 0.0)
    hysteretic = [
        torsion_spring("upper.root", ground, law=bristle(0.05, stiffness=20.0, damping=0.1, viscous=0.01)),
        torsion_spring("lower.root", "upper.tip", law=bouc_wen(2.0, yield_force=0.4, shape=0.7)),
    ]
    joints = [
        hinge("upper.root", ground),
        hinge("lower.root", "upper.tip"),
        *(hysteretic if paths else []),
        torsion_spring("lower.root", "upper.tip", law=backlash(5.0, play=0.4), name="stops", angle=0.0),
        spring_damper("lower.tip", GROUND.at(2.0, 0.0), law=gravitation(0.3), length=0.0),
        spring_damper("upper.tip", GROUND.at(0.0, 1.0), law=force_law(lambda x, v, t: x + 0.1 * v * abs(v) + t)),
    ]
    mechanism = connect({"upper": rigid.bar(0.5, 1.0), "lower": rigid.bar(0.4, 0.7)}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"upper": (0.0, 0.0, 0.0), "lower": (0.5, 0.0, 0.2)})
    return mechanism, mechanism.consistent_state(pose, velocities={"lower": (0.0, 0.0, 3.0)}), {}


def resisted():
    """A pendulum of two bars with a law of friction at one hinge and a user's function at a damper."""
    bodies = {"upper": rigid.bar(0.5, 1.0), "lower": rigid.bar(0.4, 0.7)}
    joints = [
        hinge("upper.root", GROUND.at(0.0, 0.0), friction=coulomb(0.02, speed=0.01)),
        hinge("lower.root", "upper.tip"),
        torsion_spring("lower.root", "upper.tip", stiffness=0.8),
        spring_damper("lower.tip", GROUND.at(2.0, 0.0), damping=resistive(lambda s: 0.3 * s + 0.1 * s**3)),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"upper": (0.0, 0.0, 0.4), "lower": 1.0})), {}


def compliant():
    """Discs that fly into each other."""
    return *spinning_discs(LAWS["friction"]), {}


def struck(dim=2):
    """Balls over a floor that is close, on which a spring pulls them to each other."""
    names, law = ("one", "other", "third"), Rigid(restitution=0.5, friction=0.3)
    spheres = [Sphere(f"{name}.centre", 0.1) for name in names]
    up = (*(0.0,) * (dim - 1), 1.0)
    floor = contact(spheres, Plane(GROUND.at(*(0.0,) * dim), up), law, name="floor")
    spring = spring_damper("one.centre", "third.centre", stiffness=200.0, length=0.3)
    gravity = tuple(-9.81 * x for x in up)
    mechanism = connect(
        dict.fromkeys(names, ball(dim)), [floor, mutual_contact(spheres, law, name="group"), spring], gravity=gravity
    )
    places = {name: (0.25 * i, *(0.0,) * (dim - 2), 0.102 + 0.01 * i) for i, name in enumerate(names)}
    guess = {name: (*place, 0.0) if dim == 2 else place for name, place in places.items()}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess)), {}


def sliding():
    """A bead that slides on a beam against friction, pushed along it."""
    mechanism, start = bead(2, friction=coulomb(0.4, speed=0.5), motor=True, name="bead")
    return mechanism, start, {"bead": lambda t: 2.0 + t}


def slipping():
    """A cart on a wheel that slips."""
    return *cart(friction=coulomb(20.0, speed=0.1)), {}


def rubbing():
    """A chain of joints that rub under their own force."""
    return *planar(1), {}


def roped():
    """A disc that winds up a rope over a sheave, with a hook on it, and another rope to the hook."""
    ports = {"centre": (0.0, 0.0), "eye": (0.0, 0.1)}
    bodies = {name: rigid.body(m, inertia=0.02, ports=ports) for name, m in (("disc", 2.0), ("hook", 1.0))}
    ends = Sheave("disc.centre", 0.1, grips=True), Sheave(GROUND.at(0.6, 0.9), -0.05), "hook.eye"
    length = lambda t: 0.85 + 0.2 * np.sin(9.0 * t)  # noqa: E731
    parts = [
        hinge("disc.centre", GROUND.at(0.0, 0.0)),
        rope(ends, stiffness=400.0, damping=2.0, length=1.5, name="hoist"),
        rope([GROUND.at(1.2, 0.7), "hook.centre"], law=polynomial(60.0, 0.0, 90.0), length=length, name="tail"),
        torque("disc.centre", name="motor"),
    ]
    mechanism = connect(bodies, parts, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"disc": (0.0, 0.0, 0.0), "hook": (0.7, 0.1, 0.2)})
    return mechanism, mechanism.consistent_state(pose), {"motor": lambda t: 3.0 * np.sin(20.0 * t)}


def turned():
    """A pendulum with a motor."""
    parts = [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")]
    mechanism = connect({"arm": rigid.bar(1.0, 2.0)}, parts, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)})), {}


def thrown():
    """A ball over a floor with a force on it."""
    floor = contact(
        Sphere("ball.centre", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(restitution=0.5), name="floor"
    )
    mechanism = connect({"ball": ball()}, [floor, force("ball.centre", name="push")], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.1001, 0.0)})), {}


TURN = StateFeedback(
    function=lambda t, y: 40.0 * (0.5 - y[0]) - 8.0 * y[1] ** 3,
    sensors={"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")},
    ports=["motor"],
)
PUSH = StateFeedback(
    function=lambda t, y: (1.0 - y[0], 3.0 * (0.12 - y[1])), sensors={"place": position("ball.centre")}, ports=["push"]
)


SAMPLES = {
    "plane": Sample(crank_slider),
    "loads in space": Sample(loaded),
    "fourth order in space": Sample(lambda: chain(3), Exact4(), steps=20),
    "rods": Sample(rods, step=0.05, steps=10),
    "cable": Sample(cable, step=0.01, steps=20),
    "rod and cable in the plane": Sample(in_the_plane, step=0.01, steps=20),
    "decaying": Sample(crank_slider, Decaying(0.4)),
    "collocation": Sample(crank_slider, ExactGauss(), steps=20),
    "collocation in space": Sample(lambda: chain(2), ExactGauss(2), steps=10),
    "least norm": Sample(doubled, Exact(redundant="least_norm"), steps=12),
    "tolerance": Sample(crank_slider, Exact(tolerance=1e-3)),
    "resistive laws": Sample(resisted),
    "laws of springs": Sample(lawful, step=1e-2),
    "laws of springs, decaying": Sample(lawful, Decaying(0.4), step=1e-2),
    "laws of springs by collocation": Sample(partial(lawful, paths=False), ExactGauss(), step=1e-2, steps=10),
    "ropes": Sample(roped, step=1e-2),
    "ropes by collocation": Sample(roped, ExactGauss(2), step=1e-2, steps=10),
    "compliant contacts": Sample(compliant),
    "rigid contacts by steps": Sample(struck, Exact(contact="steps"), step=2e-3),
    "rigid contacts by events": Sample(struck, step=2e-3, steps=30),
    "rigid contacts in space": Sample(lambda: struck(3), Exact(contact="steps"), step=2e-3),
    "friction of joints": Sample(rubbing, step=2e-3),
    "feedback, decaying": Sample(turned, Decaying(0.4), step=1e-2, steps=20, feedback=TURN),
    "feedback by collocation": Sample(turned, ExactGauss(2), step=1e-2, steps=10, feedback=TURN),
    "feedback by a tolerance": Sample(turned, Exact(tolerance=1e-3), step=1e-2, steps=10, feedback=TURN),
    "feedback by events": Sample(thrown, step=2e-3, steps=20, feedback=PUSH),
    "point on a curve": Sample(sliding, step=2e-3, steps=12),
    "slipping wheels": Sample(slipping, step=1e-2, steps=20),
}


def run(name, *, made=None, steps=None):
    """Run a sample, of a mechanism that was made before or of a new one, for so many steps."""
    own = SAMPLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models beyond their range have bits, too
        mechanism, start, inputs = own.make() if made is None else made
    times = start.time + own.step * np.arange(1 + (own.steps if steps is None else steps))
    loops = {} if own.feedback is None else {"law": own.feedback}
    return integrate(mechanism, start, times, inputs=inputs, method=own.method, controllers=loops, progress=False)


def bits(solution):
    """Hash of all states and multipliers of a run and of its account of the energy."""
    arrays = solution.times, solution.states, solution.multipliers, *solution.ledger.energy.values()
    return hashlib.sha256(b"".join(np.ascontiguousarray(own).tobytes() for own in arrays)).hexdigest()
