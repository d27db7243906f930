"""The data of a mechanism: bodies, connections and gravity, and what is computed of them once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...bodies.body import Body
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
    """Bodies joined at named ports, as data: what the verbs of a mechanism work with.

    ``bodies`` by name (:class:`flexph.Body` or :class:`flexph.bodies.NodalBody`), ``connections`` formed for the
    dimension of the bodies, ``gravity`` (d,) [m/s²].
    """

    bodies: Mapping[str, Any]
    connections: tuple[Connection, ...]
    gravity: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", named(self.bodies))

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the data alone."""
        return {"bodies": self.bodies, "connections": self.connections, "gravity": self.gravity}

    @once
    def frames(self) -> Mapping[str, Body]:
        """The frames of all bodies by name: what the arrays call bodies, of a body of nodes its nodes."""
        return read_only(frames_of(self.bodies))

    @once
    def layout(self) -> Layout:
        """Where everything is in the flat state, by name."""
        springs = [(name, 1) for name, measure in measures(self.connections) if measure.has_state]
        anchors = anchor_sizes(self.connections, next(iter(self.bodies.values())).dim)
        return lay_out(self.bodies, [*springs, *anchors.items()], self.constraint_names)

    @once
    def network(self) -> Network:
        """The flat arrays the kernels see."""
        return build_network(self.bodies, self.connections, self.gravity)

    @once
    def rigid_motion(self) -> RigidMotion | None:
        """Motions without deformation, where bodies of nodes have others; None where all bodies have one frame."""
        motion = RigidMotion(self.bodies, self.network.arrays.columns)
        return None if motion.is_plain else motion

    @once
    def largest_body(self) -> int:
        """Flexible coordinates of the largest body; joints between bodies keep matrices sparse."""
        return max(body.size for body in self.frames.values())

    @once
    def constraint_names(self) -> tuple[str, ...]:
        """A name for every scalar constraint, e.g. ``hinge crank.tip–rod.root: x``."""
        return tuple(f"{c.name}: {row.name}" for c in self.connections for row in c.rows)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the external ports."""
        return tuple(self.network.input_slices)
