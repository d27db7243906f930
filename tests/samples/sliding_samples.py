"""A point that slides on a beam, and a cart with a wheel that slips."""

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, planar, revolute
from flexph.joints import point_on_curve, slipping_wheel
from flexph.laws import viscous

SOFT = fem.Material(young=1e8, density=1000.0, poisson=0.3)
STRIP = fem.Section(width=0.02, height=0.03)
RADIUS = 0.1
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def axis_of(length, elements, **options):
    """A beam with ports at thirds of its elements, and these in order."""
    thirds = {f"p{i}": i * length / (3 * elements) for i in range(1, 3 * elements)}
    return fem.beam(length, elements=elements, stations=thirds, **options), [
        "beam.root", *(f"beam.{name}" for name in thirds), "beam.tip",
    ]  # fmt: skip


def bead(dim=3, material=SOFT, **options):
    """A beam and a point on it, free; thrown, so that the point crosses the middle of the beam."""
    beam, axis = axis_of(1.0, 2, material=material, section=STRIP, dim=dim)
    joint = point_on_curve("bead.point", axis, degree=3, **options)
    mechanism = connect({"beam": beam, "bead": rigid.point(0.3, dim)}, [joint])
    if dim == 2:
        pose = mechanism.assemble({"beam": (0.0, 0.0, 0.2)}, guess={"bead": (0.4, 0.1, 0.0)})
        thrown = {"beam": (0.1, 0.2, 3.0), "bead": (0.9, 1.5)}
    else:
        pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)}, guess={"bead": (0.4, 0.0, 0.0)})
        thrown = {"beam": ((0.1, 0.2, 0.0), (0.5, 1.0, 3.0)), "bead": (0.9, 1.4, -0.4)}
    return mechanism, mechanism.consistent_state(pose, velocities=thrown)


def cart(roller=None, friction=None):
    """A wheel on a body that slides on a plane, free to turn on it."""
    body = rigid.body(3.0, inertia=(0.1, 0.1, 0.2), ports={"centre": (0.0, 0.0, 0.0), "axle": (0.3, 0.1, 0.0)})
    tyre = rigid.body(1.0, inertia=(0.01, 0.02, 0.01), ports={"centre": (0.0, 0.0, 0.0)})
    joints = [
        planar("cart.centre", GROUND.at(0.0, 0.0, 0.0), normal=Z),
        revolute("wheel.centre", "cart.axle", axis=Y),
        slipping_wheel("wheel.centre", "cart.axle", radius=RADIUS, friction=friction or viscous(5.0), roller=roller),
    ]
    mechanism = connect({"cart": body, "wheel": tyre}, joints)
    pose = mechanism.assemble({"cart": ((0.0, 0.0, 0.0), np.eye(3))}, guess={"wheel": (0.3, 0.1, 0.0)})
    moved = {"cart": ((1.0, 0.5, 0.0), (0.0, 0.0, 2.0)), "wheel": ((1.0, 0.5, 0.0), (0.0, 4.0, 2.0))}
    return mechanism, mechanism.consistent_state(pose, velocities=moved)
