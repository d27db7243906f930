"""Targets of inverse kinematics, and trials of coordinates for a target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..bodies.ports import find_port
from ..mechanisms.model.constraints import port_rates
from ..mechanisms.model.state import at_rest
from ..numerics.arrays import Array
from ..numerics.rotations import planar_angle
from .joint_space import JointSpace, Placed

REACHED = 1e-13
"""Distance from the target, relative to the mechanism, at which a search ends; round-off of positions."""
MET = 1e-11
"""Distance from the target, relative to the mechanism, that counts as met where steps no longer lead nearer."""


class Target(NamedTuple):
    """Target of inverse kinematics: position and rotation that a port must reach.

    ``body``: index of the body of the port; ``at_home`` (d,): position of the port at the home pose. ``position`` (d,)
    and ``rotation`` (d, d) are those to be reached, None if free.
    """

    port: str
    body: int
    at_home: Array
    position: Array | None
    rotation: Array | None


class Trial(NamedTuple):
    """Coordinates ``q`` (n,), error ``missing`` (m,) [m] by which the port misses its target, and its Jacobian (m, n).

    The error consists of the displacement and the rotation vector to the target, the latter times a length of the
    mechanism. The Jacobian is that of position and rotation, in the same units, with respect to the coordinates.
    """

    q: Array
    missing: Array
    jacobian: Array

    @property
    def distance(self) -> float:
        """Distance from the target [m].

        Rotations are multiplied by a length of the mechanism.
        """
        return float(np.linalg.norm(self.missing))


def trial(space: JointSpace, target: Target, q: Array, there: tuple[Array, Array, Array]) -> Trial:
    """Trial for a target at the coordinates ``q`` (n,).

    ``there``: position, rotation and velocities at unit rates of the port at ``q``. It is the result of :func:`placed`,
    or of :meth:`Chain.place` for an open chain.
    """
    place, turned, rates = there
    dim, rows, missing = place.size, [], []
    if target.position is not None:
        rows.append(rates[:dim])
        missing.append(target.position - place)
    if target.rotation is not None:
        rows.append(space.length * rates[dim:])
        missing.append(space.length * _rotation_vector(target.rotation @ turned.T))
    return Trial(q, np.concatenate(missing), np.vstack(rows))


def placed(space: JointSpace, port: str, at: Placed, unit_velocities: Array) -> tuple[Array, Array, Array]:
    """Position (d,) and rotation (d, d) of a port at a pose, and its velocity and spin (d + s, n) at unit rates."""
    model = space.model
    moved = port_rates(model, at_rest(model, *at), port)
    rows = [part.full_rows(model.layout.velocities) for part in (moved.velocity, moved.spin) if part is not None]
    index, _ = find_port(port, model.bodies)
    return moved.position, at[1][index], np.vstack(rows)[:, : space.size] @ unit_velocities


def _rotation_vector(turn: Array) -> Array:
    """Rotation vector of a rotation matrix (d, d): the angle (1,) [rad] for d = 2, a vector (3,) for d = 3."""
    if len(turn) == 2:
        return np.array([float(planar_angle(turn))])
    vector: Array = scipy.spatial.transform.Rotation.from_matrix(turn).as_rotvec()
    return vector
