"""The data of a mechanism: bodies, connections and gravity, and what is computed of them once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...bodies.body import Body
from ...joints.rows.connection import Connection, measures
from ...numerics.arrays import Array
from ...numerics.memo import Memo, Remade, once
from .layout import Layout, lay_out
from .network import Network, build_network


@dataclass(frozen=True, eq=False, repr=False)
class Model(Memo, Remade):
    """Bodies joined at named ports, as data: what the verbs of a mechanism work with.

    ``bodies`` by name, ``connections`` formed for the dimension of the bodies, ``gravity`` (d,) [m/s²].
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    gravity: Array

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the data alone."""
        return {"bodies": self.bodies, "connections": self.connections, "gravity": self.gravity}

    @once
    def layout(self) -> Layout:
        """Where everything is in the flat state, by name."""
        springs = tuple(name for name, measure in measures(self.connections) if measure.stiffness > 0.0)
        return lay_out(self.bodies, springs, self.constraint_names)

    @once
    def network(self) -> Network:
        """The flat arrays the kernels see."""
        return build_network(self.bodies, self.connections, self.gravity)

    @once
    def largest_body(self) -> int:
        """Flexible coordinates of the largest body; joints between bodies keep matrices sparse."""
        return max(body.size for body in self.bodies.values())

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """A name for every scalar constraint, e.g. ``hinge crank.tip–rod.root: x``."""
        return tuple(f"{c.name}: {row.name}" for c in self.connections for row in c.rows)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the external ports."""
        return tuple(self.network.input_slices)
