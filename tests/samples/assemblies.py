"""Mechanisms that are written by hand beside those of their drawings."""

import numpy as np

import rigid
from flexph import connect

DENSITY = 7850.0


def by_hand(properties, ports, connections, gravity):
    """The mechanism of rigid bodies of density 7850 with ports in millimetres."""
    bodies = {}
    for name, places in ports.items():
        volume, centre, inertia = properties[name]
        given = {key: 1e-3 * np.array(at, dtype=float) for key, at in places.items()}
        bodies[name] = rigid.body(
            1e-9 * DENSITY * volume, inertia=1e-15 * DENSITY * inertia, ports=given, centre=1e-3 * centre
        )
    return connect(bodies, connections, gravity=gravity)


def together(properties, *names):
    """Volume, centre and inertia about it of parts as one body, by Steiner."""
    volume = sum(properties[name][0] for name in names)
    centre = sum(properties[name][0] * properties[name][1] for name in names) / volume
    inertia = 0.0
    for name in names:
        own, d = properties[name], properties[name][1] - centre
        inertia = inertia + own[2] + own[0] * (d @ d * np.eye(3) - np.outer(d, d))
    return volume, centre, inertia


def drawn(mechanism):
    """The pose of the drawing."""
    return mechanism.assemble(guess={name: (np.zeros(3), np.eye(3)) for name in mechanism.bodies})


def started(mechanism):
    return mechanism.consistent_state(drawn(mechanism))
