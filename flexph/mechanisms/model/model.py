"""Data of a mechanism: bodies, connections, gravity, the layout of its state, and quantities derived from them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...bodies.body import Body
from ...bodies.breaking.broken import with_broken
from ...bodies.nodal_body import AnyBody
from ...bodies.ports import frames_of, named
from ...contacts.arrays import anchor_sizes
from ...joints.rows.connection import Connection, measures
from ...kernels.state import node_arms, vectors
from ...numerics.arrays import Array
from ...numerics.memo import Memo, PickledByCall, once, read_only
from ...numerics.rotations import entry_count, spins
from ..arrays.network import Network, build_network
from ..arrays.nodal import RigidMotion


@dataclass(frozen=True, eq=False)
class Layout(Memo):
    """Layout of the flat state x = (r, R, u | ṙ, ω, u̇ | σ, e | λ) of a mechanism.

    r are centres of mass, R stored rotation entries, u deformations, ṙ world velocities, ω body spins, σ stresses, e
    spring forces, λ multipliers. Each of these is ordered by body, and within a body by node; point masses have no R
    and no ω. ``parts`` maps names to slices: ``body.kind``, with the kinds ``centre``, ``rotation``, ``deformation``,
    ``velocity``, ``spin``, ``deformation_rate``, ``stress``, and the names of springs and constraints.
    """

    dim: int
    frames: int
    turning: tuple[int, ...]
    flexible: int
    stresses: int
    springs: int
    multipliers: int
    parts: Mapping[str, slice]

    @once
    def position_sizes(self) -> tuple[int, int, int]:
        """Numbers of entries of r, R and u in x."""
        return self.dim * self.frames, entry_count(self.dim) * len(self.turning), self.flexible

    @once
    def velocity_sizes(self) -> tuple[int, int, int]:
        """Numbers of entries of ṙ, ω and u̇ in x."""
        return self.dim * self.frames, spins(self.dim) * len(self.turning), self.flexible

    @once
    def parts_of_motion(self) -> slice:
        """Slice of the velocities (ṙ, ω, u̇) in the state vector x."""
        first = sum(self.position_sizes)
        return slice(first, first + self.velocities)

    @once
    def velocities(self) -> int:
        """Number n_v of velocities ṙ, ω, u̇."""
        return sum(self.velocity_sizes)

    @once
    def size(self) -> int:
        """Number of entries of the state vector x; multipliers are not part of it."""
        return sum(self.position_sizes) + self.velocities + self.stresses + self.springs

    def split(self, x: Array) -> tuple[Array, ...]:
        """Views (r, R, u, ṙ, ω, u̇, σ, e) of a flat state x, each flat."""
        return tuple(x[part] for part in self._splits)

    @once
    def spins(self) -> slice:
        """Slice of the spins ω in the state vector x."""
        return self._splits[4]

    @once
    def _splits(self) -> tuple[slice, ...]:
        sizes = (*self.position_sizes, *self.velocity_sizes, self.stresses, self.springs)
        return tuple(slice(a, b) for a, b in pairwise(accumulate(sizes, initial=0)))


CENTRE = "centre"
PARTS = (CENTRE, "rotation", "deformation", "velocity", "spin", "deformation_rate", "stress")
"""Kinds of the parts of a body in a state, named ``body.part``."""


def lay_out(bodies: Mapping[str, AnyBody], springs: Sequence[tuple[str, int]], rows: tuple[str, ...]) -> Layout:
    """Layout of the state of a mechanism with given bodies, springs and constraint rows.

    ``springs`` are the names and sizes of the states of springs and of the anchors of sticking contacts, ``rows`` the
    names of the constraint rows.
    """
    dim, frames = next(iter(bodies.values())).dim, [node for body in bodies.values() for node in body.frames]
    k, s = entry_count(dim), spins(dim)
    sizes = (
        lambda b: dim * len(b.frames),
        lambda b: k * b.turning,
        lambda b: b.size,
        lambda b: dim * len(b.frames),
        lambda b: s * b.turning,
        lambda b: b.size,
        lambda b: b.stress_size,
    )
    parts: dict[str, slice] = {}
    at = 0
    for kind, size in zip(PARTS, sizes, strict=True):
        for name, body in bodies.items():
            if size(body):
                parts[f"{name}.{kind}"] = slice(at, at + size(body))
                at += size(body)
    for name, number in (*springs, *((row, 1) for row in rows)):
        parts[name] = slice(at, at + number)
        at += number
    return Layout(
        dim=dim,
        frames=len(frames),
        turning=tuple(i for i, b in enumerate(frames) if b.turns),
        flexible=sum(b.size for b in bodies.values()),
        stresses=sum(b.stress_size for b in bodies.values()),
        springs=sum(size for _, size in springs),
        multipliers=len(rows),
        parts=read_only(parts),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Model(Memo, PickledByCall):
    """Bodies joined at named ports, as data for the functions behind the methods of a mechanism.

    ``bodies`` maps names to bodies (:class:`flexph.Body` or :class:`flexph.bodies.NodalBody`), ``connections`` are
    formed for the dimension of the bodies, and ``gravity`` (d,) is in [m/s²].
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
        """Frames of all bodies by name: one of each body, or one of each node of a nodal body.

        The arrays call them bodies.
        """
        return read_only(frames_of(self.bodies))

    @once
    def layout(self) -> Layout:
        """Layout of the state vector: slices of its parts, such as ``rod.centre``, by name."""
        springs = [(name, 1) for name, measure in measures(self.connections) if measure.has_state]
        anchors = anchor_sizes(self.connections, next(iter(self.bodies.values())).dim)
        return lay_out(self.bodies, [*springs, *anchors.items()], self.constraint_names)

    @once
    def network(self) -> Network:
        """Flat arrays of bodies and connections for the kernels; built once."""
        return build_network(self.bodies, self.connections, self.gravity)

    @once
    def rigid_motion(self) -> RigidMotion | None:
        """Rigid motions of the bodies of a mechanism, some of which have several frames.

        None if every body has one frame.
        """
        motion = RigidMotion(self.bodies, self.network.arrays.columns)
        return None if motion.is_plain else motion

    @once
    def largest_body(self) -> int:
        """Largest number of flexible coordinates of a frame, which limits the size of dense blocks."""
        return max(body.size for body in self.frames.values())

    @once
    def constraint_names(self) -> tuple[str, ...]:
        """Names of all scalar constraints, e.g. ``hinge crank.tip–rod.root: x``."""
        return tuple(f"{c.name}: {row.name}" for c in self.connections for row in c.rows)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the external ports."""
        return tuple(self.network.input_slices)


def extent(mechanism: Model, centres: Array, rotations: Array) -> float:
    """Size of the mechanism [m] with bodies at given centres and rotations, undeformed; 1 if all lengths are zero.

    It is the largest component of the vectors between centres of mass, of the positions of nodes in their bodies, and
    of the vectors between points of joints.
    """
    a = mechanism.network.arrays
    vector = vectors(a, centres, node_arms(a, rotations, np.zeros(mechanism.layout.flexible)))
    points, between = a.node_moves > 0.0, a.joins_points > 0.0  # other vectors are directions, without a length
    lengths = (centres - centres[0], a.node_position[points], a.vector_fixed[between], vector[between])
    size = float(max(np.abs(part).max(initial=0.0) for part in lengths))
    return size if size > 0.0 else 1.0  # without any length, the scale is arbitrary
