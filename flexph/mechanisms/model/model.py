"""Data of a mechanism: bodies, connections, gravity, and quantities derived from them once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...bodies.body import Body
from ...bodies.breaking.broken import with_broken
from ...bodies.ports import frames_of, named
from ...contacts.arrays import anchor_sizes
from ...joints.rows.connection import Connection, measures
from ...numerics.arrays import Array
from ...numerics.memo import Memo, Remade, once, read_only
from ..arrays.network import Network, build_network
from ..arrays.nodal import RigidMotion
from .layout import Layout, lay_out


@dataclass(frozen=True, eq=False, repr=False)
class Model(Memo, Remade):
    """Bodies joined at named ports, as data for the functions behind the methods of a mechanism.

    ``bodies`` by name (:class:`flexph.Body` or :class:`flexph.bodies.NodalBody`), ``connections`` formed for the
    dimension of the bodies, ``gravity`` (d,) [m/s²].
    """

    bodies: Mapping[str, Any]
    connections: tuple[Connection, ...]
    gravity: Array

    def __post_init__(self) -> None:
        breaks = [c.breaks for c in self.connections if c.breaks is not None]
        object.__setattr__(self, "bodies", named(with_broken(self.bodies, breaks)))

    def __getstate__(self) -> dict[str, Any]:
        """Data for pickling and copying, without derived quantities."""
        return {"bodies": self.bodies, "connections": self.connections, "gravity": self.gravity}

    @once
    def frames(self) -> Mapping[str, Body]:
        """Frames of all bodies by name, the "bodies" of the arrays; a nodal body has one for each node."""
        return read_only(frames_of(self.bodies))

    @once
    def layout(self) -> Layout:
        """Layout of the flat state by name."""
        springs = [(name, 1) for name, measure in measures(self.connections) if measure.has_state]
        anchors = anchor_sizes(self.connections, next(iter(self.bodies.values())).dim)
        return lay_out(self.bodies, [*springs, *anchors.items()], self.constraint_names)

    @once
    def network(self) -> Network:
        """Flat arrays for the kernels."""
        return build_network(self.bodies, self.connections, self.gravity)

    @once
    def rigid_motion(self) -> RigidMotion | None:
        """Rigid motions of mechanisms with nodal bodies; None if every body has one frame."""
        motion = RigidMotion(self.bodies, self.network.arrays.columns)
        return None if motion.is_plain else motion

    @once
    def largest_body(self) -> int:
        """Number of flexible coordinates of the largest body, which limits the size of dense blocks."""
        return max(body.size for body in self.frames.values())

    @once
    def constraint_names(self) -> tuple[str, ...]:
        """Names of all scalar constraints, e.g. ``hinge crank.tip–rod.root: x``."""
        return tuple(f"{c.name}: {row.name}" for c in self.connections for row in c.rows)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the external ports."""
        return tuple(self.network.input_slices)
