"""Rods and mechanisms of them that several tests share."""

from functools import cache

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, force, integrate, revolute, spherical, torque, weld

SLENDER = fem.RodSection(
    axial=1e4, shear=(1e4, 1e4), torsion=500.0, bending=(500.0, 500.0), mass=1.0, inertia=(20.0, 10.0, 10.0)
)
ALONG = np.array([-0.6, 0.8, 0.0])
AWAY = np.array([ALONG, np.cross([0.0, 0.0, 1.0], ALONG), [0.0, 0.0, 1.0]]).T
"""The axes of the flying rod: from (6, 0, 0) to (0, 8, 0)."""


def stiff(axial):
    """The same section with another stiffness against extension and shear."""
    return fem.RodSection(
        axial=axial, shear=(axial, axial), torsion=500.0, bending=(500.0, 500.0), mass=1.0, inertia=(20.0, 10.0, 10.0)
    )


def triangle(time):
    """0 to 200 at 2.5 s to 0 at 5 s."""
    return max(0.0, 80.0 * min(time, 5.0 - time))


@cache
def flight(step, end=6.5, *, elements=5, order=2, section=SLENDER):
    """A free rod that a force and a torque at one end set in motion (Simo and Vu-Quoc, CMAME 66 (1988) 125)."""
    body = fem.rod(10.0, None, section, elements=elements, order=order)
    mechanism = connect({"rod": body}, [force("rod.root", name="F"), torque("rod.root", name="M")])
    start = mechanism.consistent_state(mechanism.assemble({"rod": ((6.0, 0.0, 0.0), AWAY)}))
    loads = {
        "F": lambda t: np.array([0.1 * triangle(t), 0.0, 0.0]),
        "M": lambda t: np.array([0.0, 0.5 * triangle(t), triangle(t)]),
    }
    return integrate(mechanism, start, np.linspace(0.0, end, round(end / step) + 1), inputs=loads)


def between_bodies(*, elements=3, damping=0.0):
    """A rod between two rigid bodies, a revolute joint at one end and a spherical one at the other, free in space."""
    beam = fem.rod(
        4.0, None, SLENDER, elements=elements, damping=fem.Damping(stiffness=damping), ports={"eye": (2.0, (0, 0, 0.1))}
    )
    hub = rigid.body(5.0, inertia=(4.0, 5.0, 6.0), ports={"axle": (0.5, 0.0, 0.0)})
    ball = rigid.body(3.0, inertia=(1.0, 2.0, 2.5), ports={"pin": (-0.4, 0.1, 0.0)})
    return connect(
        {"hub": hub, "rod": beam, "ball": ball},
        [revolute("rod.root", "hub.axle", axis=(0.0, 1.0, 0.0)), spherical("rod.tip", "ball.pin")],
    )


def cantilever(section, *, length=10.0, elements=4, order=2, loads=(), **options):
    """A rod that is welded to the ground at its root."""
    body = fem.rod(length, None, section, elements=elements, order=order, **options)
    mechanism = connect({"rod": body}, [weld("rod.root", GROUND.at(0.0, 0.0, 0.0)), *loads])
    return mechanism, mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
