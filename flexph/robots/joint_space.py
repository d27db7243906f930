"""Joints and coordinates of a mechanism as equations in rigid motions of undeformed bodies.

With centres r and rotations R of the bodies, the joints are 0 = g(r, R) and the coordinates q = m(r, R). The rigid
velocities v satisfy [G; C] v = (0, q̇) and [G; C] v̇ = (0, q̈) − [Ġ; Ċ] v, with the Jacobians G of g and C of m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bodies.nodal_body import FramedBody
from ..joints.rows.connection import Connection, measures
from ..joints.rows.laws import ProductLaw, Transmission
from ..joints.rows.vectors import Ground
from ..kernels.arrays import Arrays
from ..kernels.continuous import spring_rates
from ..kernels.gradient import constraint_matrix, product_matrix
from ..kernels.rolling import gains
from ..kernels.spring_arrays import Springs
from ..kernels.state import (
    Configuration,
    constraint_sizes,
    constraint_sums,
    lever,
    node_arms,
    node_velocities,
    product_changes,
    products,
    vectors,
)
from ..mechanisms.model.constraints import gap_of, move
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import Pose, at_rest
from ..mechanisms.model.time_table import TimeTable, anchor
from ..numerics.arrays import Array, dense
from ..numerics.corrections import IterationLimits
from ..numerics.rotations import spins, sweep, turned_spins
from ..sensors.panel import sensor_element
from ..sensors.quantities import Quantity
from .chain import Chain

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism

CLOSURE = IterationLimits(most=20, settled=1e-14, stagnated=1e-11, slow=0.5, growth=1e3)
"""Limits of Newton's method for poses, on gaps relative to the size of the mechanism."""
STRIDE = 0.3
"""Change of a coordinate [rad, or levers of the mechanism] in one step of a continuation."""
INDEPENDENT = 1e-9
"""Singular value of scaled rows, relative to the largest one, below which they are dependent."""
FITS = 1e-6
"""Error of coordinates up to which a prediction is corrected by Newton's method."""
Placed = tuple[Array, Array]
"""Centres of mass (b, d) and rotations (b, d, d)."""


class SingularPose(ValueError):
    """Error of coordinates that do not determine the motion at a pose, or for which no pose was found."""


class Equations(NamedTuple):
    """Gaps g of the joints, values m of the coordinates, and ``rows`` [G; C], the Jacobian of both.

    The Jacobian is with respect to rigid motions of the bodies: it multiplies rigid velocities. ``vector`` are
    the world vectors that joints and coordinates measure, ``product`` the scalar products of pairs of them, from which
    gaps and values are computed.
    """

    gap: Array
    value: Array
    rows: Array
    vector: Array
    product: Array


class JointSpace:
    """Equations of the joints and of the named coordinates of a mechanism in rigid motions."""

    def __init__(self, mechanism: Mechanism, coordinates: Mapping[str, Quantity], home: Pose) -> None:
        _check_bodies(mechanism)
        dim, joints = mechanism.layout.dim, [c for c in mechanism.connections if _is_joint(c, mechanism)]
        elements = [_element(name, quantity, dim) for name, quantity in coordinates.items()]
        self.names = tuple(coordinates)
        self.model = Model(mechanism.bodies, (*joints, *elements), mechanism.gravity)
        a = self.model.network.arrays
        measured = [m for m, _ in measures(self.model.connections)]
        self.order = np.array([measured.index(f"{name}: 0") for name in self.names], dtype=int)
        self.turning = np.array([e.form.measures[0].kind == "angle" for e in elements])
        self.size, self.length = self.model.layout.velocities - self.model.layout.flexible, lever(a)
        self.home: Placed = (home.centres, home.rotations)
        at = _vectors(self.model, self.home)
        self.coefficient, self.offset = TimeTable(self.model, anchor(self.model, products(a, at[1]))).at(0.0)
        here = self.equations(self.home)
        self.sizes = np.concatenate([constraint_sizes(a, here.vector), self.units])
        self.origin = here.value
        self.chain = Chain(self.home, here.value, self._home_velocities(here))
        self.is_open = self.chain.is_open and self._fits(self.origin + 0.5 * self.units)

    @property
    def units(self) -> Array:
        """Scales (n,) of the coordinates: 1 rad for angles, a length of the mechanism [m] for offsets and distances."""
        return np.where(self.turning, 1.0, self.length)

    def configuration(self, at: Placed, v: Array | None = None) -> Configuration:
        """Configuration of undeformed bodies at a pose, with rigid velocities ``v`` (n_v,), by default zero."""
        c = at_rest(self.model, *at)
        if v is None:
            return c
        a, omega = self.model.network.arrays, np.zeros_like(c.omega)
        omega[a.turning] = v[a.weight.size :].reshape(len(a.turning), spins(a.dim))
        return c._replace(v=v[: a.weight.size].reshape(c.v.shape), omega=omega)

    def equations(self, at: Placed) -> Equations:
        """Evaluate the gaps of the joints, the coordinates, and the Jacobian of both at a pose."""
        a = self.model.network.arrays
        arm, vector = _vectors(self.model, at)
        product = products(a, vector)
        moved = product_matrix(a, at[1], arm, vector)
        G = dense(constraint_matrix(a, at[1], self.coefficient, arm=arm, vector=vector))
        C = dense(spring_rates(a.springs, product, moved))
        gap = gap_of(a, product, self.coefficient, self.offset)
        rows = np.vstack([G, C[self.order]])[:, : self.size]
        return Equations(gap, _measured(a.springs, product)[self.order], rows, vector, product)

    def differences(self, value: Array, target: Array) -> Array:
        """Differences target − value (n,) of coordinates.

        Those of angles are between −π and π.
        """
        difference = target - value
        turns = 2.0 * np.pi * np.round(difference / (2.0 * np.pi))
        return np.where(self.turning, difference - turns, difference)

    def unit_velocities(self, here: Equations) -> Array:
        """Rigid velocities (n_v, n) at unit rate of each coordinate.

        Raises SingularPose if the coordinates do not determine the velocities at this pose.
        """
        count = here.gap.size
        return self._solved(here.rows, np.vstack([np.zeros((count, len(self.names))), np.eye(len(self.names))]))

    def closed(self, at: Placed, target: Array) -> tuple[Placed, Equations]:
        """Pose with closed joints and the coordinates ``target``, and its equations.

        It is found by Newton's method from the pose ``at``. Raises SingularPose if it is not found.
        """

        def corrected(now: tuple[Placed, Equations]) -> tuple[tuple[Placed, Equations], float]:
            place, here = now
            missing = np.concatenate([-here.gap, self.differences(here.value, target)])
            defect = float(np.abs(missing / self.sizes).max(initial=0.0))
            if defect <= CLOSURE.settled:
                return now, defect
            place = move(self.model, *place, self._solved(here.rows, missing))
            return (place, self.equations(place)), defect

        closure = CLOSURE.run((at, self.equations(at)), corrected)
        if not closure.settled:
            raise SingularPose(
                f"no pose was found for {self.shown(target)}: the joints stay open by {closure.defect:.1e}"
            )
        return closure.value

    def pose(self, target: Array) -> tuple[Placed, Equations]:
        """Pose with given coordinates: by exponentials for open chains, by continuation from home for loops."""
        if self.is_open:
            return self.closed(self.chain.pose(target), target)
        change, q, there = target - self.origin, self.origin, (self.home, self.equations(self.home))
        pieces = max(1, int(np.ceil(np.abs(change / self.units).max(initial=0.0) / STRIDE)))
        for k in range(1, pieces + 1):
            after = self.origin + change * (k / pieces)
            moved = move(self.model, *there[0], self.unit_velocities(there[1]) @ (after - q))
            q, there = after, self.closed(moved, after)
        return there

    def _fits(self, target: Array) -> bool:
        """True if the pose from the product of exponentials has the coordinates ``target``."""
        here = self.equations(self.chain.pose(target))
        missing = np.concatenate([here.gap, self.differences(here.value, target)])
        return bool(np.abs(missing / self.sizes).max(initial=0.0) <= FITS)

    def bias(self, at: Placed, here: Equations, v: Array) -> Array:
        """Rigid accelerations v̇ = −[G; C]⁻¹ [Ġ; Ċ] v (n_v,) at zero accelerations of the coordinates.

        ``here`` are the equations at the pose ``at``, ``v`` (n_v,) the rigid velocities.
        """
        a, c = self.model.network.arrays, self.configuration(at, v)
        arm = node_arms(a, c.R, c.u)
        spin = turned_spins(c.R, c.omega).take(a.node_body, axis=0)
        moved = a.incidence @ node_velocities(a, c, c.R, arm)
        turned = a.incidence @ sweep(spin, sweep(spin, arm))
        rate = product_changes(a, moved, here.vector)
        second = product_changes(a, turned, here.vector)
        second = second + 2.0 * np.vecdot(moved.take(a.first, axis=0), moved.take(a.second, axis=0))
        of_rows = constraint_sums(a, second, self.coefficient, np.zeros_like(self.offset))
        of_rows = of_rows + _second_rates_of_gears(a, here.product, rate, second)
        of_values = _second_rates(a.springs, here.product, rate, second)[self.order]
        return self._solved(here.rows, -np.concatenate([of_rows, of_values]))

    def shown(self, values: Array) -> str:
        """Text with names and values of the coordinates."""
        return ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.names, values, strict=True))

    def _solved(self, rows: Array, right: Array) -> Array:
        """Least-squares solution x of ``rows`` x = ``right``.

        Raises SingularPose if the rank of ``rows`` is below the size of x.
        """
        if rows.shape[0] == rows.shape[1]:
            try:
                solution = np.linalg.solve(rows, right)
            except np.linalg.LinAlgError:
                solution = np.full(1, np.inf)
            if np.isfinite(solution).all():
                return solution
        solution, _, rank, _ = np.linalg.lstsq(rows, right, rcond=INDEPENDENT)
        if rank < rows.shape[1]:
            raise SingularPose("the coordinates do not determine the motion at this pose: it is singular")
        return solution

    def _home_velocities(self, here: Equations) -> Array:
        """Rigid velocities (n_v, n) at unit rate of each coordinate, at home with the equations ``here``.

        Raises ValueError if joints and coordinates leave a motion free, or if coordinates depend on each other.
        """
        scaled = here.rows / self.sizes[:, None]
        scaled[:, : self.model.network.arrays.weight.size] *= self.length
        values = np.linalg.svd(scaled, compute_uv=False)
        rank = int(np.count_nonzero(values > INDEPENDENT * values[0])) if values.size else 0
        joints = scaled[: here.gap.size]
        held = (
            np.linalg.matrix_rank(joints, tol=INDEPENDENT * max(1.0, float(np.abs(joints).max()))) if joints.size else 0
        )
        free = self.size - int(held)
        if rank < self.size:
            raise ValueError(
                f"coordinates must determine the motion at home: the joints leave {free} freedoms, the coordinates "
                f"{listed(self.names)} fix {rank - int(held)}; name the coordinates of all joints"
            )
        if len(self.names) > free:
            raise ValueError(
                f"coordinates must be independent: the joints leave {free} freedoms, got {len(self.names)} coordinates "
                f"{listed(self.names)}"
            )
        return self.unit_velocities(here)


def _measured(springs: Springs, product: Array) -> Array:
    """Values (k,) of all lengths, components and angles that ``springs`` measure, in this order.

    They follow from ``product``, the scalar products of pairs of world vectors.
    """
    angles = np.arctan2(product[springs.sine_product], product[springs.cosine_product])
    return np.concatenate([np.sqrt(product[springs.length_product]), product[springs.component_product], angles])


def _second_rates(springs: Springs, product: Array, rate: Array, second: Array) -> Array:
    """Second time derivatives (k,) of all lengths, components and angles that ``springs`` measure, in this order.

    They follow from ``product``, the scalar products of pairs of world vectors, and from the first and second time
    derivatives ``rate`` and ``second`` of these products.
    """
    s = springs
    length = np.sqrt(product[s.length_product])
    first = 0.5 * rate[s.length_product] / length
    of_length = 0.5 * second[s.length_product] / length - first**2 / length
    sine, cosine = product[s.sine_product], product[s.cosine_product]
    size = sine**2 + cosine**2
    turning = (cosine * rate[s.sine_product] - sine * rate[s.cosine_product]) / size
    growth = 2.0 * (sine * rate[s.sine_product] + cosine * rate[s.cosine_product]) / size
    of_angle = (cosine * second[s.sine_product] - sine * second[s.cosine_product]) / size - turning * growth
    return np.concatenate([of_length, second[s.component_product], of_angle])


def _second_rates_of_gears(a: Arrays, product: Array, rate: Array, second: Array) -> Array:
    """Time derivatives (g,) of the rates of the gear constraints, which are sums of w Π_b Π̇ with weights w.

    ``product`` are the scalar products Π of pairs of world vectors, ``rate`` and ``second`` their first and second time
    derivatives. Π_b is the product that multiplies the rate Π̇ of another one in a term.
    """
    t = a.rolling
    gain = gains(a, product, product)
    terms = gain * second[t.product] + t.weight * rate[t.by] * rate[t.product]
    return np.bincount(t.row, terms, t.free.size)


def listed(names: tuple[str, ...]) -> str:
    """Text that lists the names."""
    return ", ".join(map(repr, names)) or "none"


def _vectors(model: Model, at: Placed) -> tuple[Array, Array]:
    """Vectors from centres of mass to nodes, and the world vectors that the joints measure, at an undeformed pose."""
    a = model.network.arrays
    arm = node_arms(a, at[1], np.zeros(model.layout.flexible))
    return arm, vectors(a, at[0], arm)


def _check_bodies(mechanism: Mechanism) -> None:
    for name, body in mechanism.bodies.items():
        if isinstance(body, FramedBody):
            raise ValueError(
                f"Kinematics needs bodies of one frame, but {name!r} has several: give a rigid body or fem.beam(...)"
            )


def _is_joint(connection: Connection, mechanism: Mechanism) -> bool:
    """True for a joint of positions and directions, or a gear that drives a rotor; False for drives and forces.

    Raises ValueError for other constraints of rates.
    """
    if not connection.rows or connection.is_driven:
        return False
    for row in connection.rows:
        if not (
            isinstance(row.law, ProductLaw) or (isinstance(row.law, Transmission) and _turns(connection, mechanism))
        ):
            raise ValueError(
                f"Kinematics needs joints of positions and directions, and gears of rotors, and {connection.name!r} "
                "constrains rates: leave it out"
            )
    return True


def _turns(gear: Connection, mechanism: Mechanism) -> bool:
    """True if a gear drives a rotor: a body with other joints, all of which connect it with the ground.

    The angle of such a body about its fixed axis is the integral of its rate, along any path; a gear, which constrains
    rates, then determines angles.
    """
    bodies = [port.partition(".")[0] for port in gear.ports if isinstance(port, str)]
    others = [c.ports for c in mechanism.connections if c.rows and c is not gear]
    return any(
        all(isinstance(port, Ground) or port.partition(".")[0] == body for ports in bound for port in ports)
        for body, bound in ((body, [p for p in others if _touches(p, body)]) for body in bodies)
        if bound
    )


def _touches(ports: Sequence[Any], body: str) -> bool:
    return any(isinstance(port, str) and port.partition(".")[0] == body for port in ports)


def _element(name: str, quantity: Quantity, dim: int) -> Connection:
    """Connection that measures a coordinate; raises ValueError unless its sensor is an angle, offset or distance."""
    element = sensor_element(name, quantity, dim)
    if not quantity.scalar or quantity.is_rate or len(element.form.measures) != 1:
        raise ValueError(f"coordinate {name!r} must be joint_angle(…), offset(…) or distance(…), got {quantity}")
    return element
