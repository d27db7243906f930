"""Reaction forces and drive torques as wrenches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...bodies.ports import find_port, slope_of, weights_of
from ...joints.rows.connection import Connection
from ...joints.rows.laws import Distances, PointOnCurve
from ...joints.rows.vectors import BodyVector, Ground, PortName, Product, Turn, Vector
from ...kernels.contacts.distances import Distance as DistanceArray
from ...kernels.rates.on_curves import on_curve
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.rotations import cayley, cross, entry_count, from_entries, moment, spin_map, spins
from ..model.state import State, configuration
from ..model.time_table import TimeTable, table_of

if TYPE_CHECKING:
    from ..model.model import Model


@dataclass(frozen=True, eq=False)
class Reaction:
    """Force and torque of a joint or drive on one of its bodies; the torque is about the port of that body.

    Attributes
    ----------
    times : array
        Times (k,) [s]; k = 1 for a single state.
    force : array
        Force (k, d) [N].
    torque : array
        Torque (k, s) [N m].
    on : str
        Port on which it acts, or the ground.
    frame : str
        Axes of the components: ``world``, or those of the section at the ``first`` or ``second`` port.
    """

    times: Array
    force: Array
    torque: Array
    on: str
    frame: str


class Motion(NamedTuple):
    """Positions r (k, b, d), rotations R (k, b, d, d) and deformations u (k, n) of all bodies at k times."""

    times: Array
    r: Array
    R: Array
    u: Array


def motion_before(mechanism: Model, times: Array, back: Array, states: Array) -> Motion:
    """Positions and deformations of all frames at ``times`` (k,), from flat states (k, n) at later times.

    They are extrapolated backwards by the times ``back`` (k,) [s] with the velocities of the states.
    """
    layout, turning, count = mechanism.layout, mechanism.network.arrays.turning, len(states)
    dim, shape = layout.dim, (count, layout.frames)
    r, rho, u, v, omega, du, *_ = (part.T for part in layout.split(states.T))
    R, turn = np.tile(np.eye(dim), (*shape, 1, 1)), np.zeros((*shape, spins(dim)))
    R[:, turning] = from_entries(rho.reshape(count, len(turning), entry_count(dim)), dim)
    turn[:, turning] = -0.5 * back[:, None, None] * omega.reshape(count, len(turning), spins(dim))
    turned = cayley(turn.reshape(shape[0] * shape[1], -1), dim).reshape(*shape, dim, dim)
    place = (r - back[:, None] * v).reshape(*shape, dim)
    return Motion(times, place, R @ turned, u - back[:, None] * du)


def reaction_of_state(mechanism: Model, state: State, joint: str, *, on: str, frame: str) -> Reaction:
    """Implementation of :meth:`flexph.Mechanism.reaction`."""
    _joint(mechanism, joint, on=on, frame=frame)
    if not state.joint_forces:
        raise ValueError(
            "this state has no joint forces yet: use a state from mechanism.equilibrium(...), a run "
            "(solution.reaction, solution.final) or mechanism.consistent_multipliers(state); a State constructed with "
            "multipliers of zero needs joint_forces=True"
        )
    table = table_of(mechanism, state.anchors)
    motion, multipliers = _instant(mechanism, state), state.multipliers[None]
    return reaction(mechanism, motion, multipliers, table, joint=joint, on=on, frame=frame)


def position_of(mechanism: Model, state: State, port: str) -> Array:
    """Implementation of :meth:`flexph.Mechanism.position`."""
    return _BodyVectors(mechanism, _instant(mechanism, state)).point(BodyVector(port))[0]


def _instant(mechanism: Model, state: State) -> Motion:
    """Motion at a single time, that of a state."""
    c = configuration(mechanism, state.x)
    return Motion(np.array([state.time]), c.r[None], c.R[None], c.u[None])


def reaction(
    mechanism: Model, motion: Motion, multipliers: Array, table: TimeTable, *, joint: str, on: str, frame: str
) -> Reaction:
    """Force and torque of a joint on one of its bodies along a motion, from the multipliers (k, g).

    A product V·W with the force φ acts with φW on the ends of V and with φV on those of W: as forces on points, and as
    torques d × (φV) on directions d. ``on`` and ``frame`` are those of :meth:`flexph.Mechanism.reaction`.
    """
    connection = _joint(mechanism, joint, on=on, frame=frame)
    port = connection.ports[0 if on == "first" else 1]
    points = _BodyVectors(mechanism, motion)
    body, origin = points.body(port), points.origin(connection, port)
    force, torque = np.zeros_like(origin), np.zeros((len(origin), len(cross(mechanism.layout.dim))))
    for product, on_product in _forces(mechanism, connection, multipliers, table=table, points=points):
        v, w = points.vector(product.first), points.vector(product.second)
        for vector, pull in ((product.first, w), (product.second, v)):
            if vector.plus is None:  # a direction fixed in the ground
                torque += moment(np.array(vector.fixed), on_product[:, None] * pull) if body < 0 else 0.0
                continue
            for place, sign in points.ends(vector):
                if points.body(None if place is None else place.port) != body:
                    continue
                acting = sign * on_product[:, None] * pull
                if place is None or place.direction is None:
                    force += acting
                    torque += moment(points.end(place, vector) - origin, acting)
                else:
                    torque += moment(points.arm(place), acting)
    for row, turn in _turns(mechanism, connection):
        sign = 1.0 if points.body(turn.port) == body else -1.0 if body < 0 else 0.0
        torque += sign * multipliers[:, [row]] * np.array(turn.axis)
    if frame != "world":
        axes = points.section(connection.ports[0 if frame == "first" else 1])
        force = np.einsum("tji,tj->ti", axes, force)
        torque = np.einsum("tji,tj->ti", spin_map(axes), torque)
    return Reaction(motion.times, force, torque, str(port), frame)


def _joint(mechanism: Model, joint: str, *, on: str, frame: str) -> Connection:
    """Joint with the name ``joint``; raises ValueError for an unknown one, and for unknown ``on`` or ``frame``."""
    check.choice("on", on, ("first", "second"))
    check.choice("frame", frame, ("world", "first", "second"))
    connection: Connection = check.lookup("joint", joint, {c.name: c for c in mechanism.connections if c.rows})
    return connection


def _first_row(mechanism: Model, connection: Connection) -> tuple[int, int]:
    """Index of a connection among those of the mechanism, and of its first constraint row among all rows."""
    first = [c.name for c in mechanism.connections].index(connection.name)
    return first, sum(len(c.rows) for c in mechanism.connections[:first])


def _turns(mechanism: Model, connection: Connection) -> list[tuple[int, Turn]]:
    """Spins that enter the constraints of a joint, such as that of a rolling wheel, each with the index of its row."""
    _, row = _first_row(mechanism, connection)
    return [(row + k, turn) for k, r in enumerate(connection.rows) for turn in r.law.turns]


def _forces(
    mechanism: Model, connection: Connection, multipliers: Array, *, table: TimeTable, points: _BodyVectors
) -> list[tuple[Product, Array]]:
    """Products V·W in the constraints of a joint, each with its generalised force (k,) along the motion."""
    first, row = _first_row(mechanism, connection)
    times = points.times
    term = sum(len(r.law.products) for c in mechanism.connections[:first] for r in c.rows)
    driven = connection.is_driven
    coefficients = np.array([table.at(float(t))[0] for t in (times if driven else times[:1])])
    forces: list[tuple[Product, Array]] = []
    for r in connection.rows:
        for product in r.law.products:
            forces.append((product, multipliers[:, row] * coefficients[:, term]))
            term += 1
        for own in r.law.weighed:
            gain = own.weight * points.product(own.by)
            size = points.product(own.product) ** 2 + points.product(own.by) ** 2 if own.angular else 1.0
            forces.append((own.product, multipliers[:, row] * gain / size))
        if isinstance(r.law, PointOnCurve):
            forces += _curve_forces(mechanism, row, r.law, multipliers[:, row], points)
        if isinstance(r.law, Distances):
            forces += _distance_forces(r.law, multipliers[:, row], points)
        row += 1
    return forces


def _curve_forces(
    mechanism: Model, row: int, law: PointOnCurve, multiplier: Array, points: _BodyVectors
) -> list[tuple[Product, Array]]:
    """Products V·W in one constraint row of a point on a curve, each with its generalised force (k,).

    ``multiplier`` (k,) is that of the row.
    """
    curve = next(c for c in mechanism.network.arrays.curves if row in c.rows)
    listed = [product for products in law.curve.products for product in products]
    values = np.array([points.product(product) for product in listed])
    alone = curve._replace(products=np.arange(len(listed)).reshape(curve.products.shape))
    gains = np.array([on_curve(alone, at, at).gain[law.component].ravel() for at in values.T])
    return [(product, multiplier * gains[:, i]) for i, product in enumerate(listed)]


def _distance_forces(law: Distances, multiplier: Array, points: _BodyVectors) -> list[tuple[Product, Array]]:
    """Products V·W in the constraint row of a closed contact, each with its generalised force (k,)."""
    forces = []
    for weight, distance in zip(law.weights, law.distances, strict=True):
        alone = DistanceArray(distance.kind, np.arange(len(distance.products)), distance.shape, distance.blend)
        values = np.array([points.product(product) for product in distance.products])
        slopes = np.array([alone.at(at)[1] for at in values.T])
        forces += [(product, weight * multiplier * slopes[:, i]) for i, product in enumerate(distance.products)]
    return forces


class _BodyVectors:
    """World positions, directions and vectors of a mechanism along a motion of k times."""

    def __init__(self, mechanism: Model, motion: Motion) -> None:
        self._m, self._motion, self._dim = mechanism, motion, mechanism.layout.dim
        self._frames = list(mechanism.frames.values())
        sizes = [frame.size for frame in self._frames]
        self._start = np.cumsum([0, *sizes])

    @property
    def times(self) -> Array:
        """Times, (k,) [s]."""
        return self._motion.times

    def body(self, port: PortName | None) -> int:
        """Index of the first frame of the body of a port; −1 for the ground, or None."""
        return -1 if port is None or isinstance(port, Ground) else find_port(port, self._m.bodies)[0]

    def ends(self, vector: Vector) -> list[tuple[BodyVector | None, float]]:
        """End points and directions of a world vector on which its force acts, each with its sign.

        An end on the ground is None.
        """
        ends: list[tuple[BodyVector | None, float]] = []
        if vector.plus is not None:
            ends.append((vector.plus, 1.0))
        if vector.minus is not None:
            ends.append((vector.minus, -1.0))
        if vector.minus is None and vector.plus is not None and vector.plus.direction is None:
            ends.append((None, -1.0))  # a gap to the ground
        return ends

    def arm(self, place: BodyVector) -> Array:
        """World vector (k, d) from the centre of mass of a frame to a point, or world direction of a section.

        The direction of a cable is the slope computed from the positions of its nodes.
        """
        if place.direction is not None:
            slope = slope_of(place.port, np.array(place.direction), self._m.bodies)
            if slope is not None:
                return self._mean(self.body(place.port), slope)
        i, port = find_port(place.port, self._m.bodies)
        body, u = self._frames[i], self._motion.u[:, self._start[i] : self._start[i + 1]]
        if place.direction is None:
            local = port.position - body.inertia.centre + u @ (port.shape - body.inertia.mean_shape).T
        else:
            n = np.array(place.direction)
            local = np.broadcast_to(n, (len(u), self._dim))
            if port.rotation is not None:
                local = local + np.einsum("ts,sij,j->ti", (port.rotation @ u.T).T, cross(self._dim), n)
        return np.einsum("tij,tj->ti", self._motion.R[:, i], local)

    def point(self, place: BodyVector) -> Array:
        """World positions (k, d) at k times of a point of a body, or of the mean of a port on several frames."""
        first, weights = self.body(place.port), weights_of(place.port, self._m.bodies)
        if weights is not None:
            return self._mean(first, weights)
        return self._motion.r[:, first] + self.arm(place)

    def _mean(self, first: int, weights: Array) -> Array:
        """Weighted sum (k, d) of the positions of nodes, with ``weights`` from the node ``first`` on."""
        return np.einsum("n,tni->ti", weights, self._motion.r[:, first : first + weights.size])

    def vector(self, vector: Vector) -> Array:
        """World vector (k, d) at k times: a point or direction, minus another one, plus a constant vector."""
        vectors = np.zeros((len(self._motion.times), self._dim))
        for place, sign in ((vector.plus, 1.0), (vector.minus, -1.0)):
            if place is not None:
                vectors += sign * (self.point(place) if place.direction is None else self.arm(place))
        return vectors if vector.fixed is None else vectors + np.array(vector.fixed)

    def product(self, product: Product) -> Array:
        """Values V·W (k,) at k times of the product of two world vectors."""
        return np.einsum("td,td->t", self.vector(product.first), self.vector(product.second))

    def end(self, place: BodyVector | None, vector: Vector) -> Array:
        """World position (k, d) of the end of a vector on which a point force acts.

        If ``place`` is None, the end is on the ground, and its position is minus the constant part of the vector.
        """
        if place is not None:
            return self.point(place)
        fixed = np.zeros(self._dim) if vector.fixed is None else np.array(vector.fixed)
        return np.broadcast_to(-fixed, (len(self._motion.times), self._dim))

    def origin(self, connection: Connection, port: PortName) -> Array:
        """Point (k, d) about which the torque of a joint is taken: its port or, on the ground, the given position.

        If the ground has no position, the point is the first port of the joint.
        """
        if not isinstance(port, Ground):
            return self.point(BodyVector(port))
        if port.position is not None:
            return np.broadcast_to(np.array(port.position), (len(self._motion.times), self._dim)).copy()
        first = connection.ports[0]
        assert isinstance(first, str)
        return self.point(BodyVector(first))

    def section(self, port: PortName) -> Array:
        """Axes of the section at a port as columns in the world, (k, d, d), orthonormal to first order in u."""
        if isinstance(port, Ground):
            return np.broadcast_to(np.eye(self._dim), (len(self._motion.times), self._dim, self._dim))
        axes = [self.arm(BodyVector(port, tuple(e))) for e in np.eye(self._dim)]
        return np.stack(axes, axis=-1)
