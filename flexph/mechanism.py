"""Mechanisms: bodies and the connections between their ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from . import checks as check
from .assembly import assemble
from .body import Body
from .description import describe
from .initial import consistent_state
from .interconnection import join
from .joints.connection import Connection, Ground, ordered_springs
from .layout import Layout, lay_out
from .linear import LinearPHDAE
from .linearization import linear_body, linearize
from .network import Network, build_network
from .nonlinear import as_phdae
from .phdae import PHDAE
from .ports import find_port
from .space import Array
from .state import Pose, State


@dataclass(frozen=True)
class Mechanism:
    """Bodies joined at named ports: an index-2 pHDAE ([flex] eq. (42)).

        q̇ = Z(q) v,  M(u) ẇ = Γ w − …,  C σ̇ = D(u) u̇,  0 = G(q) v

    made by :func:`connect`. Positions are kept at the centres of mass in world axes, rotations by their entries.
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    gravity: Array

    @cached_property
    def layout(self) -> Layout:
        """Where everything is in the flat state, by name."""
        springs = tuple(c.name for c in ordered_springs(self.connections) if c.measure and c.measure.stiffness > 0.0)
        return lay_out(self.bodies, springs, self.constraint_names)

    @cached_property
    def network(self) -> Network:
        """The flat arrays the kernels see."""
        return build_network(self.bodies, self.connections, self.gravity)

    @cached_property
    def bodies_at_rest(self) -> LinearPHDAE:
        """All bodies at rest side by side, not connected: the same at every pose, so assembled once."""
        return join(*(linear_body(body, name) for name, body in self.bodies.items()))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """A name for every scalar constraint, e.g. ``hinge crank.tip–rod.root: x``."""
        return tuple(f"{c.name}: {row.name}" for c in self.connections for row in c.rows)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the external ports."""
        return tuple(self.network.input_slices)

    def assemble(
        self,
        fixed: Mapping[str, float | tuple[float, float, float]] | None = None,
        *,
        guess: Mapping[str, float | tuple[float, float, float]] | None = None,
        time: float = 0.0,
    ) -> Pose:
        """The undeformed pose that closes all joints, nearest to a guess.

        Bodies are given by their angle [rad] or by (x, y, angle) of their origin P; those in ``fixed`` are taken as
        they are, those in ``guess`` (0 where missing) may move. Drives stand where they are at ``time``. Raises
        ValueError, saying how far each joint is open, if the loops cannot close.
        """
        return assemble(self, fixed or {}, guess or {}, time)

    def consistent_state(
        self,
        pose: Pose,
        *,
        velocities: Mapping[str, float | tuple[float, float, float]] | None = None,
        elastic: Literal["undeformed", "quasi_static"] = "undeformed",
        time: float = 0.0,
    ) -> State:
        """A state that satisfies all constraints and their rates at ``time``.

        ``velocities`` by body: its spin [rad/s] or (ẋ, ẏ, spin) of its origin P. They are kept where the joints and
        drives allow it; the others follow with the least kinetic energy, without deformation rates where that is
        possible. ``elastic="quasi_static"`` starts with the deformation that balances the inertia forces of the
        rigid motion, instead of undeformed.
        """
        return consistent_state(self, pose, velocities or {}, elastic, time)

    def linearize(self, pose: Pose) -> LinearPHDAE:
        """Small motions about rest at an unloaded pose ([flex] eq. (45)), in body-frame velocities at P."""
        return linearize(self, pose)

    def phdae(self, state: State) -> PHDAE:
        """The nonlinear equations as a :class:`PHDAE` with states (q, v, σ, λ), checked at a state."""
        return as_phdae(self, state)

    def describe(self) -> str:
        """Bodies, connections, freedoms and the state layout as text."""
        return describe(self)


def connect(
    bodies: Mapping[str, Body], connections: Sequence[Connection], *, gravity: Sequence[float] | None = None
) -> Mechanism:
    """Join bodies at their ports: a :class:`Mechanism`.

    bodies by name; a body may be used under several names. ``gravity`` is the acceleration vector [m/s²].
    Raises ValueError for an unknown port (naming those that exist), a connection given twice, bodies of different
    dimension, or a name with a dot.
    """
    if not isinstance(bodies, Mapping):
        raise ValueError(f"bodies must be a mapping of names to bodies, got {bodies!r}")
    if not bodies:
        raise ValueError("bodies must not be empty")
    if isinstance(connections, Connection):
        raise ValueError("connections must be a list of joints and force elements, got a single one")
    for name, body in bodies.items():
        if not isinstance(body, Body):
            raise ValueError(f"bodies must be made by fem or rigid, {name!r} is {body!r}")
    dim = next(iter(bodies.values())).dim
    for name, body in bodies.items():
        if not isinstance(name, str) or "." in name or not name:
            raise ValueError(f"the name of a body must not be empty or contain a dot, got {name!r}")
        if body.dim != dim:
            raise ValueError(f"all bodies must have dimension {dim}, {name!r} has {body.dim}")
    for connection in connections:
        _check_ports(connection, bodies)
    names = [c.name for c in connections]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"connection given twice: {name}; a second force element takes a name= of its own")
    acceleration = check.array("gravity", [0.0] * dim if gravity is None else gravity, (dim,))
    mechanism = Mechanism(MappingProxyType(dict(bodies)), tuple(connections), acceleration)
    mechanism.network  # noqa: B018 - built now, so that a bad connection fails here
    return mechanism


def _check_ports(connection: Any, bodies: Mapping[str, Body]) -> None:
    if not isinstance(connection, Connection):
        raise ValueError(f"connections must be joints or force elements, got {connection!r}")
    if connection.input is not None and connection.input.kind == "load":
        return
    dim = next(iter(bodies.values())).dim
    for port in connection.ports:
        if not isinstance(port, Ground):
            find_port(port, bodies)
        elif port.position is not None and len(port.position) != dim:
            raise ValueError(f"{connection.kind}: a ground position must have {dim} coordinates, got {port.position}")
    if len(connection.ports) == 2 and connection.ports[0] == connection.ports[1]:
        raise ValueError(f"{connection.kind} joins port {connection.ports[0]!r} to itself")
