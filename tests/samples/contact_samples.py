"""Mechanisms with compliant contacts, and laws for them."""

import numpy as np
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, hinge
from flexph.contacts import Cylinder, Hertz, Hole, KelvinVoigt, Plane, Sphere, contact, mutual_contact, stop

LAWS = {
    "hertz": Hertz(1e5),
    "hunt-crossley": Hertz(1e5, loss=0.3),
    "spring": KelvinVoigt(4e3),
    "kelvin-voigt": KelvinVoigt(4e3, damping=9.0),
    "friction": Hertz(1e5, loss=0.1, friction=0.4, slip_velocity=0.02),
    "anchored": Hertz(1e5, loss=0.1, friction=0.4, tangential_stiffness=1e4),
}


def ball(dim=2, radius=0.1):
    inertia = 0.004 if dim == 2 else (0.004, 0.004, 0.004)
    return rigid.body(1.0, inertia=inertia, ports={"centre": (0.0,) * dim})


def dropped(law, speed=1.0, height=1e-3, gravity=0.0):
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    mechanism = connect(
        {"ball": ball()}, [contact(Sphere("ball.centre", 0.1), ground, law, name="touch")], gravity=(0.0, -gravity)
    )
    pose = mechanism.assemble(guess={"ball": (0.0, 0.1 + height, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"ball": (0.0, -speed, 0.0)})


def spinning_discs(law):
    """Six discs that fly towards each other."""
    rng = np.random.default_rng(4)
    names = [f"disc{i}" for i in range(6)]
    spheres = [Sphere(f"{name}.centre", 0.1 + 0.01 * i) for i, name in enumerate(names)]
    mechanism = connect(dict.fromkeys(names, ball()), [mutual_contact(spheres, law, name="group")])
    places = np.array([[0.3 * (i % 3), 0.3 * (i // 3)] for i in range(6)])
    pose = mechanism.assemble(guess={n: (*p, 0.0) for n, p in zip(names, places, strict=True)})
    inward = 2.0 * (places.mean(axis=0) - places) + 0.1 * rng.standard_normal(places.shape)
    start = mechanism.consistent_state(
        pose, velocities={n: (*v, 5.0 * rng.standard_normal()) for n, v in zip(names, inward, strict=True)}
    )
    return mechanism, start


def in_space(law):
    """A ball that rolls about in a hole of a body that turns, and over a plane of it."""
    drum = rigid.body(
        3.0, inertia=(0.3, 0.2, 0.25), ports={"centre": (0.0, 0.0, 0.0), "side": (0.0, 0.0, -0.2), "pin": (1.0, 0, 0)}
    )
    spins = {"drum": ((0.0, 0.0, 0.0), (0.4, -0.3, 2.0)), "ball": ((0.8, 0.3, -0.7), (3.0, 1.0, -4.0))}
    touching = [
        contact(Sphere("ball.centre", 0.1), Hole("drum.centre", 0.35, axis=(0.0, 0.0, 1.0)), law, name="hole"),
        contact(Sphere("ball.centre", 0.1), Plane("drum.side", (0.0, 0.1, 1.0)), law, name="floor"),
        contact(Sphere("ball.centre", 0.1), Cylinder("drum.pin", 0.8, axis=(0.0, 0.0, 1.0)), law, name="rod"),
        contact("other.point", Sphere("ball.centre", 0.1), law, name="point"),
    ]
    bodies = {"drum": drum, "ball": ball(3), "other": rigid.point(0.1, dim=3)}
    mechanism = connect(bodies, touching)
    places = {"drum": ((0.0, 0.0, 0.0), Rotation.identity()), "ball": ((0.05, 0, 0), Rotation.identity())}
    pose = mechanism.assemble(guess={**places, "other": (0.18, 0.05, -0.1)})
    return mechanism, mechanism.consistent_state(pose, velocities={**spins, "other": (-0.9, 0.0, 0.0)})


def arm_between_stops():
    """A bar in a hinge that swings against stops of its angle."""
    arm = rigid.bar(1.0, 2.0)
    law = KelvinVoigt(2e3, damping=5.0)
    mechanism = connect(
        {"arm": arm}, [hinge("arm.root", GROUND), stop("arm.root", GROUND, law, lower=-2.0, upper=0.5, name="stop")]
    )
    start = mechanism.consistent_state(mechanism.assemble(guess={"arm": 0.3}), velocities={"arm": 3.0})
    return mechanism, start


def flexible_arm():
    """A beam in a hinge that swings against a plane."""
    steel = fem.Material(young=2e11, density=7800.0)
    arm = fem.beam(0.5, steel, fem.Section(area=25e-6, second_moment=52e-12), elements=4)
    touch = contact("arm.tip", Plane(GROUND.at(0.0, -0.01), (0.0, 1.0)), Hertz(1e7, loss=0.2))
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND), touch], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"arm": -1.0})
    return mechanism, start
