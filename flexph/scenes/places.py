"""Positions and axes of ports during a motion, at which signs are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..bodies.body import Port
from ..bodies.nodal_body import AnyBody, FramedBody, NodalBody
from ..bodies.ports import find_place
from ..bodies.split_body import SplitBody
from ..joints.rows.vectors import Ground, PortName
from ..mechanisms.model.model import Model
from ..numerics.arrays import Array
from ..numerics.rotations import spins
from ..results.motion import MotionByName


def spatial(vectors: Array) -> Array:
    """Planar vectors padded with zeros to spatial ones."""
    return np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, 3 - vectors.shape[-1])])


def axes_from(x: Array, y: Array) -> Array:
    """Orthonormal axes as columns (k, 3, 3): the first along x (k, 3), the third across x and y."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    z = np.cross(x, y)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)


@dataclass(frozen=True, eq=False)
class PortPlaces:
    """Positions (k, 3) and axes (k, 3, 3) of ports and of the ground at the k times of a motion.

    The ground without a position is at the first place of the port ``anchor``. ``undeformed`` leaves out the
    deformation of bodies with a floating frame.
    """

    motion: MotionByName
    times: int
    anchor: PortName | None = None
    undeformed: bool = False

    @property
    def mechanism(self) -> Model:
        """Model whose ports are meant."""
        return self.motion.mechanism

    def position(self, port: PortName) -> Array:
        """World position of a port (k, 3) [m]."""
        if isinstance(port, Ground):
            return np.broadcast_to(self._of_ground(port), (self.times, 3))
        body, at = self._owner(port)
        if isinstance(body, FramedBody):
            places = spatial(self.motion.position(port)).reshape(-1, 3)
        else:
            name = port.partition(".")[0]
            places = spatial(self.motion.points(name, at.position[None], at.shape)[..., 0, :]).reshape(-1, 3)
        return places - self._deflection(port) if self.undeformed and self.deformed([port]) else places

    def _deflection(self, port: str) -> Array:
        """Displacement (k, 3) [m] of a port by the deformation of its body, in the world."""
        (body, at), (name, _, own) = self._owner(port), port.partition(".")
        rotations = self.motion.rotations(name)
        if isinstance(body, SplitBody):
            at, rotations = body.ports[own], rotations[..., body.node_of(own), :, :]
        local = np.asarray((at.shape @ self.motion.deformation(name).reshape(self.times, -1).T).T)
        return spatial(np.einsum("kij,kj->ki", rotations.reshape(self.times, *rotations.shape[-2:]), local))

    def axes(self, port: PortName) -> Array:
        """Section axes of a port as columns (k, 3, 3), turned by the rotation vector ψu and made orthonormal."""
        if isinstance(port, Ground):
            return np.broadcast_to(np.eye(3), (self.times, 3, 3))
        (body, at), dim, name = self._owner(port), self.mechanism.layout.dim, port.partition(".")[0]
        axes, turned = np.tile(np.eye(3), (self.times, 1, 1)), self.motion.rotations(name)
        if isinstance(body, NodalBody):
            axes[:, :dim, :dim] = turned.reshape(-1, len(body.frames), dim, dim)[
                :, body.node_of(port.partition(".")[2])
            ]
            return axes
        if isinstance(body, SplitBody):
            name_of_port = port.partition(".")[2]
            turned, at = turned[..., body.node_of(name_of_port), :, :], body.ports[name_of_port]
        axes[:, :dim, :dim] = turned
        if at.rotation is None or not body.size or self.undeformed:
            return axes
        psi = np.zeros((self.times, 3))
        turned = np.asarray((at.rotation @ self.motion.deformation(name).reshape(self.times, -1).T).T)
        psi[:, 3 - spins(dim) :] = turned
        x = axes[:, :, 0] + np.cross(axes @ psi[:, :, None], axes[:, :, :1], axis=1)[..., 0]
        y = axes[:, :, 1] + np.cross(axes @ psi[:, :, None], axes[:, :, 1:2], axis=1)[..., 0]
        return axes_from(x, y)

    def deformed(self, ports: Sequence[PortName]) -> bool:
        """True if a body of the ports deforms relative to a floating frame."""
        owners = (self._owner(port)[0] for port in ports if not isinstance(port, Ground))
        return any(body.size and not isinstance(body, NodalBody) for body in owners)

    def _owner(self, port: str) -> tuple[AnyBody, Port]:
        """Body of a port, and the port."""
        return self.mechanism.bodies[port.partition(".")[0]], find_place(port, self.mechanism.bodies)[1]

    def _of_ground(self, ground: Ground) -> Array:
        if ground.position is not None:
            return spatial(np.array(ground.position))
        deformed = replace(self, undeformed=False)  # the ground does not move with the factor of deformations
        return np.zeros(3) if self.anchor is None else deformed.position(self.anchor)[0]
