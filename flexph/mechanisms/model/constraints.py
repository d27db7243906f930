"""Values and rates of the constraints of a mechanism at a configuration, with scales for both, and motions of ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.inertia import Inertia
from ...bodies.ports import find_port, weights_of
from ...joints.rows.connection import measures
from ...joints.rows.laws import Angle
from ...kernels.arrays import Arrays
from ...kernels.contacts.distances import closed_gaps
from ...kernels.gradient import Velocities, constraint_matrix, flatten, unflatten
from ...kernels.rates.on_curves import all_at_state, curve_gaps
from ...kernels.rolling import squares
from ...kernels.state import (
    Configuration,
    Derived,
    constraint_sizes,
    constraint_sums,
    derive,
    displacement_sizes,
    lever,
)
from ...laws.force_laws import ForceLaw
from ...numerics.arrays import Array, dense
from ...numerics.rotations import finite_rotation, spin_map, unit_sweeps
from .prescribed import REACH, ROUND_OFF
from .time_table import TimeTable, law_products, law_terms, laws, spring_values

if TYPE_CHECKING:
    from .model import Model


def move(mechanism: Model, centres: Array, rotations: Array, step: Array) -> tuple[Array, Array]:
    """Centres and rotations of all frames after a rigid increment of each.

    ``step`` has translations [m], and rotations [rad] in body axes. The step is shortened so that no rotation about an
    axis exceeds half a radian.
    """
    a = mechanism.network.arrays
    turn = step[a.columns.omega[a.turning]]
    largest = float(np.abs(turn).max(initial=0.0))
    step = step * min(1.0, 0.5 / largest) if largest > 0.0 else step  # at most half a radian in one correction
    turned = rotations.copy()
    turned[a.turning] = rotations[a.turning] @ finite_rotation(step[a.columns.omega[a.turning]], a.dim)
    return centres + step[a.columns.v], turned


def moved(mechanism: Model, c: Configuration, step: Array) -> Configuration:
    """Configuration after a displacement ``step`` (n_v,): rigid increments of all frames and changes of u.

    Velocities are unchanged. The rigid increments are shortened so that no rotation about an axis exceeds half a
    radian.
    """
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    centres, rotations = move(mechanism, c.r, c.R, step[:rigid])
    return c._replace(r=centres, R=rotations, u=c.u + step[rigid:])


CONSISTENT = 1e-9
"""Relative defect up to which a projected velocity counts as consistent, the accuracy of rates of drives."""


def velocities_of(mechanism: Model, c: Configuration) -> Array:
    """Velocities (ṙ, ω, u̇) of all bodies in a configuration as one vector (n_v,)."""
    return flatten(mechanism.network.arrays, Velocities(c.v, c.omega, c.du))


def with_velocities(mechanism: Model, c: Configuration, v: Array) -> Configuration:
    """Configuration with the positions of the given one and the velocities v (n_v,)."""
    means = unflatten(mechanism.network.arrays, v)
    return c._replace(v=means.v, omega=means.omega, du=means.du)


def spring_extensions(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """Extensions of all spring-dampers at a time: length, component or angle minus its free value, (springs,)."""
    a = mechanism.network.arrays
    if not a.springs.stiffness.size:
        return np.zeros(0)
    return spring_values(mechanism, derive(a, c).product) - table.references.at(time)


def spring_forces(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """Forces of all spring-dampers at rest at a time, without damping, (springs,)."""
    return mechanism.network.arrays.springs.tensions(spring_extensions(mechanism, c, table, time), time)


def check_laws(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> None:
    """Raise ValueError, naming the spring, if the law of a spring has no value at its extension in a configuration."""
    springs = mechanism.network.arrays.springs
    owners = [*springs.lawful.tolist(), *springs.forced.tolist()]
    given = dict(zip(owners, [*springs.laws, *springs.force_laws], strict=True))
    if not given:
        return
    extension = spring_extensions(mechanism, c, table, time)
    for i, (name, _) in enumerate(measures(mechanism.connections)):
        try:
            if isinstance(law := given.get(i), ForceLaw):
                law.force(float(extension[i]), 0.0, time)
            elif law is not None:
                law.force(extension[i])
        except ValueError as error:
            raise type(error)(f"{name}: {error}") from error.__cause__


def spring_states(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """States of the springs with stiffness in a configuration: forces, or extensions if the spring has a law."""
    springs = mechanism.network.arrays.springs
    return (springs.gain * spring_extensions(mechanism, c, table, time))[springs.state >= 0]


def constraint_rates(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> tuple[Any, Array]:
    """Matrix G, sparse, and right-hand side b of the constraints G v = b at a time; b is due to drives."""
    G, b = rates_at(mechanism, (c, derive(mechanism.network.arrays, c)), table, time)
    return sparse.csr_array(G), b


def rates_at(
    mechanism: Model, place: tuple[Configuration, Derived], table: TimeTable, time: float
) -> tuple[Any, Array]:
    """Matrix G and right-hand side b of the constraints G v = b on velocities, at a configuration and a time.

    ``place`` is the configuration with its derived quantities. G is dense or sparse as the arrays.
    """
    return rates_under(mechanism, place, table.at(time)[0], table.rates(time))


def rates_under(
    mechanism: Model, place: tuple[Configuration, Derived], coefficient: Array, rates: tuple[Array, Array]
) -> tuple[Any, Array]:
    """Matrix G and right-hand side b of the constraints G v = b, for given coefficients of the terms.

    ``place`` is a configuration with its derived quantities, ``rates`` the time derivatives of coefficients and
    offsets.
    """
    a, (c, d), (rate_c, rate_o) = mechanism.network.arrays, place, rates
    G = constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector)
    return G, -constraint_sums(a, d.product, rate_c, rate_o)


def constraint_gap(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """Values g(q, t) of all constraints at a time, (g,), zero if they hold.

    They are zero for rows that constrain velocities only.
    """
    a = mechanism.network.arrays
    return gap_of(a, derive(a, c).product, *table.at(time))


def gap_of(a: Arrays, product: Array, coefficient: Array, offset: Array) -> Array:
    """Values g(q, t) of all constraints (g,) from products V·W (p,), coefficients of terms, offsets of rows."""
    gap = constraint_sums(a, product, coefficient, offset) + squares(a, product)
    if a.closed:
        gap = gap + closed_gaps(a.closed, product, gap.size)
    return gap + curve_gaps(a.curves, all_at_state(a.curves, product), gap.size)


class VelocityRows(NamedTuple):
    """Matrix of which only the given columns (k,) are stored, with their entries (rows, k); others are zero.

    Its rows map all velocities of a mechanism to the velocity or spin of a port.
    """

    columns: Array
    entries: Array

    def full_rows(self, width: int) -> Array:
        """Matrix (rows, width) with all columns; those that are not stored are zero."""
        rows = np.zeros((len(self.entries), width))
        rows[:, self.columns] = self.entries
        return rows


class PortRates(NamedTuple):
    """World position (d,) of a port, and matrices from all velocities to its world velocity (d,) and spin (s,).

    ``spin`` is None for points, which have no spin.
    """

    position: Array
    velocity: VelocityRows
    spin: VelocityRows | None


def port_rates(mechanism: Model, c: Configuration, port: str) -> PortRates:
    """World position of a port ``body.port``, and the matrices of its velocity and spin in world axes."""
    a, (i, at) = mechanism.network.arrays, find_port(port, mechanism.bodies)
    (cv, cw, cu), unit = a.columns, np.eye(a.dim)
    weights = weights_of(port, mechanism.bodies)
    if weights is not None:
        nodes = slice(i, i + weights.size)
        return PortRates(weights @ c.r[nodes], VelocityRows(cv[nodes].ravel(), np.kron(weights, unit)), None)
    coordinates, inertia = np.flatnonzero(a.body_u == i), mechanism.once(_inertias)[i]
    shape = dense(at.shape) - dense(inertia.mean_shape)
    arm = c.R[i] @ (at.position - inertia.centre + shape @ c.u[coordinates])
    columns, entries = [cv[i], cu[coordinates]], [unit, c.R[i] @ shape]
    if cw[i, 0] < 0:
        return PortRates(c.r[i] + arm, VelocityRows(np.concatenate(columns), np.hstack(entries)), None)
    turned = spin_map(c.R[[i]])[0]
    velocity = np.hstack([*entries, (turned.T @ unit_sweeps(arm[None])[0]).T])
    bends = np.zeros((len(turned), coordinates.size)) if at.rotation is None else turned @ dense(at.rotation)
    spin = VelocityRows(np.concatenate([cw[i], cu[coordinates]]), np.hstack([turned, bends]))
    return PortRates(c.r[i] + arm, VelocityRows(np.concatenate([*columns, cw[i]]), velocity), spin)


def _inertias(mechanism: Model) -> list[Inertia]:
    return [frame.inertia for frame in mechanism.frames.values()]


class AngleRows(NamedTuple):
    """Indices of k constraint rows that prescribe angles, of their products s and c, and of the first of both terms.

    A row s cos θ − c sin θ is the sine of the error of the angle θ, which also vanishes half a turn away.
    """

    rows: Array
    sine: Array
    cosine: Array
    term: Array

    def angle_errors(self, product: Array, coefficient: Array) -> Array:
        """Errors (..., k) [rad] of the prescribed angles, within half a turn, for products (..., p).

        ``coefficient`` are those of all terms, which contain cosine and sine of the prescribed angles.
        """
        s, c = product[..., self.sine], product[..., self.cosine]
        cosine, sine = coefficient[self.term], -coefficient[self.term + 1]  # of the prescribed angle
        return np.arctan2(s * cosine - c * sine, c * cosine + s * sine)


def angle_rows(mechanism: Model) -> AngleRows:
    """Indices of the constraint rows of a mechanism that prescribe an angle."""
    rows = [i for i, law in enumerate(laws(mechanism)) if isinstance(law, Angle) and law.value is not None]
    products = np.array([law_products(mechanism)[i] for i in rows], dtype=int).reshape(-1, 2)
    terms = law_terms(mechanism)
    first = np.array([terms[i].start for i in rows], dtype=int)
    return AngleRows(np.array(rows, dtype=int), products[:, 0], products[:, 1], first)


def rate_scale(a: Arrays, conditions: tuple[Any, Array], v: Array, sizes: Array) -> float:
    """Largest relative rate [1/s] of a motion v, as a scale for defects of rates.

    It is the largest rate of a constraint in ``conditions`` (G, b) relative to its size (``sizes``), or of a
    displacement relative to the size of the mechanism.
    """
    G, b = conditions
    moves = np.abs(v) / displacement_sizes(a, lever(a))
    rates = np.maximum(abs(G) @ np.abs(v), np.abs(b)) / sizes
    return float(max(rates.max(initial=1e-300), moves.max(initial=0.0)))


def rate_doubt(a: Arrays, d: Derived, doubts: tuple[Array, Array]) -> float:
    """Largest relative rate [1/s] of a constraint that round-off in the rates of drives may cause.

    It is the largest of all rows, each rate divided by the size of its constraint, and zero if nothing is driven.
    ``doubts`` are the errors of the rates of coefficients and offsets due to round-off
    (:meth:`flexph.mechanisms.model.time_table.TimeTable.doubts`). The function of a drive is assumed to have the
    round-off of a value as large as its constraint.
    """
    coefficient, offset = doubts
    if not (coefficient.any() or offset.any()):
        return 0.0
    of_values = constraint_sums(a, np.abs(d.product), coefficient, -offset)
    return float((of_values / constraint_sizes(a, d.vector)).max()) + ROUND_OFF / REACH
