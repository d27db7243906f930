"""Constraints of a mechanism at a configuration: gaps, rates, admissible velocities, and checks of states."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...joints.rows.connection import measures
from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import constraint_sizes, displacement_sizes, lever
from ...kernels.continuous import mass_matrix, rigid_mass
from ...kernels.gradient import constraint_matrix, velocity_count
from ...kernels.jacobian import flatten, unflatten
from ...kernels.rolling import squares
from ...kernels.state import Configuration, Derived, constraint_sums, derive, node_arms, vectors
from ...kernels.values import Means
from ...linear.elimination import explain_redundant, null_space
from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.rotations import finite_rotation, skew, spin_map
from .placement import Motion, read_motion
from .state import State, configuration
from .time_table import Anchors, TimeTable, spring_values

if TYPE_CHECKING:
    from .model import Model


def move(mechanism: Model, centres: Array, rotations: Array, step: Array) -> tuple[Array, Array]:
    """Centres and rotations moved by rigid increments (translations [m], turns [rad])."""
    a = mechanism.network.arrays
    cv, cw, _ = a.columns
    largest = max((abs(step[k]) for k in cw[cw >= 0]), default=0.0)
    step = step * min(1.0, 0.5 / largest) if largest > 0.0 else step  # at most half a radian at a time
    moved = centres + step[cv]
    turned = np.array(
        [R @ finite_rotation(step[k], a.dim) if k[0] >= 0 else R for R, k in zip(rotations, cw, strict=True)]
    )
    return moved, turned


def extent(mechanism: Model, centres: Array, rotations: Array) -> float:
    """A length of the size of the mechanism [m]: of its bodies, their distances, and the vectors of its joints."""
    a = mechanism.network.arrays
    vector = vectors(a, centres, node_arms(a, rotations, np.zeros(mechanism.layout.flexible)))
    points, between = a.node_moves > 0.0, abs(a.incidence) @ a.node_moves > 0.0  # the others are unit directions
    lengths = (centres - centres[0], a.node_position[points], a.vector_fixed[between], vector[between])
    size = float(max(np.abs(part).max(initial=0.0) for part in lengths))
    return size if size > 0.0 else 1.0  # where there is no length, any will do


AT_REST = 1e-13
"""Velocity over the wanted ones that counts as zero: what projection leaves of bodies that cannot move."""

CONSISTENT = 1e-9
"""Relative defect up to which a projected velocity counts as consistent: rates of drives are known to about this."""

FEW = 400
"""Rows of a sparse G up to which their products are looked at densely."""

REGULAR = 1e-4
"""Singular value of constraint rows of length 1 above which they are independent: its square is far above round-off."""


def move_with(
    mechanism: Model, c: Configuration, velocities: Mapping[str, Motion], *, table: TimeTable, time: float
) -> Configuration:
    """The configuration with the admissible velocities nearest to those given by body."""
    wanted, given = _wanted(mechanism, c, velocities)
    return with_velocities(mechanism, c, project(mechanism, c, wanted, given, table=table, time=time))


def _wanted(mechanism: Model, c: Configuration, velocities: Mapping[str, Motion]) -> tuple[Array, Array]:
    """Velocities before projection, those given at P carried to the centre of mass, and the numbers of those given."""
    cv, cw, _ = mechanism.network.arrays.columns
    wanted, given = np.zeros(velocity_count(mechanism.network.arrays)), []
    for name, motion in velocities.items():
        body = check.lookup("body", name, mechanism.bodies)
        i = list(mechanism.bodies).index(name)
        velocity, spin = read_motion(name, motion, body.dim, body.turns)
        arm = c.R[i] @ (body.inertia.centre + body.inertia.mean_shape @ c.u[mechanism.network.arrays.body_u == i])
        wanted[cv[i]] = (0.0 if velocity is None else velocity) + skew(spin, body.dim) @ arm
        given += [] if velocity is None else list(cv[i])
        if body.turns:
            wanted[cw[i]] = spin_map(c.R[[i]])[0].T @ spin
            given += list(cw[i])
    return wanted, np.array(given, dtype=int)


def velocities_of(mechanism: Model, c: Configuration) -> Array:
    """(ṙ, ω, u̇) of a configuration as one vector."""
    return flatten(mechanism.network.arrays, Means(c.v, c.omega, c.du, np.zeros(0)))


def with_velocities(mechanism: Model, c: Configuration, v: Array) -> Configuration:
    """The configuration with other velocities."""
    means = unflatten(mechanism.network.arrays, v, np.zeros(0))
    return c._replace(v=means.v, omega=means.omega, du=means.du)


def spring_forces(mechanism: Model, c: Configuration, anchors: Anchors) -> Array:
    """k (measure − free measure) of every spring-damper."""
    a = mechanism.network.arrays
    return a.springs.stiffness * (spring_values(mechanism, derive(a, c).product) - anchors.springs)


def constraint_rates(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> tuple[Any, Array]:
    """G and b of the velocity constraints G v = b, b from the drives."""
    G, b = _rates_at(mechanism, (c, derive(mechanism.network.arrays, c)), table, time)
    return sparse.csr_array(G), b


def _rates_at(
    mechanism: Model, place: tuple[Configuration, Derived], table: TimeTable, time: float
) -> tuple[Any, Array]:
    """G and b at an evaluated configuration; G may be dense."""
    a, (c, d) = mechanism.network.arrays, place
    coefficient, _ = table.at(time)
    rate_c, rate_o = table.rates(time)
    G = constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector)
    return G, -constraint_sums(a, d.product, rate_c, rate_o)


def constraint_gap(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """g(q, t) of all constraints, (g,); zero for nonholonomic rows, which no position breaks."""
    a = mechanism.network.arrays
    return gap_of(a, derive(a, c).product, *table.at(time))


def gap_of(a: Arrays, product: Array, coefficient: Array, offset: Array) -> Array:
    """g(q, t) of all constraints from the products, (g,)."""
    return constraint_sums(a, product, coefficient, offset) + squares(a, product)


def project(mechanism: Model, c: Configuration, wanted: Array, given: Array, *, table: TimeTable, time: float) -> Array:
    """Velocities nearest to the wanted ones in kinetic energy with G v = b; deformation rates only if need be.

    Those ``given`` are kept where the constraints allow it, and otherwise take part like the others.
    """
    a = mechanism.network.arrays
    d = derive(a, c)
    G, b = _rates_at(mechanism, (c, d), table, time)
    G = sparse.csr_array(G)
    if not b.size:
        return wanted
    sizes = constraint_sizes(a, d.vector)
    sizes = np.concatenate([sizes, np.where(np.isin(given, a.columns[0]), lever(a), 1.0)])
    keep = sparse.csr_array((np.ones(given.size), (np.arange(given.size), given)), shape=(given.size, wanted.size))
    with_given = sparse.csr_array(sparse.vstack([G, keep])), np.concatenate([b, wanted[given]])
    velocities = wanted
    tries = itertools.product(
        (rigid_mass, mass_matrix), (with_given, (G, b))
    )  # of large bodies the latter mass is full
    for mass, (rows, rates) in tries:
        M = mass(a, c.u).toarray()
        velocities = _nearest(M, rows, rates, wanted)
        defect = np.abs(rows @ velocities - rates) / sizes[: rates.size]
        scale = max(_rate_scale(a, (rows, rates), v, sizes[: rates.size]) for v in (velocities, wanted))
        if defect.max() <= CONSISTENT * scale:
            moves = _energy(M, velocities) > AT_REST**2 * _energy(M, wanted) or np.any(b)
            return velocities if moves else np.zeros_like(velocities)
    worst = int(np.argmax(defect))
    raise ValueError(
        f"no velocity satisfies all constraints: {mechanism.constraint_names[worst]} is violated by "
        f"{defect[worst] * sizes[worst]:.3g}; the drives contradict the joints"
    )


def _nearest(M: Array, rows: Any, rates: Array, wanted: Array) -> Array:
    """Change the leading velocities, those of M, least in kinetic energy to meet rows v = rates as nearly as can be."""
    active = slice(0, len(M))
    root = np.linalg.cholesky(M)  # scaled, nearest is least-norm
    scaled = np.linalg.solve(root, rows[:, active].toarray().T).T
    length = np.linalg.norm(scaled, axis=1)
    length = np.where(length > 0.0, length, 1.0)  # rows have different units
    velocities = wanted.copy()
    change = np.linalg.lstsq(scaled / length[:, None], (rates - rows @ wanted) / length, rcond=1e-11)[0]
    velocities[active] += np.linalg.solve(root.T, change)
    return velocities


def _rate_scale(a: Arrays, conditions: tuple[Any, Array], v: Array, sizes: Array) -> float:
    """Largest rate of what constraints G v = b measure, and of displacements, over their sizes [1/s]."""
    G, b = conditions
    moves = np.abs(v) / displacement_sizes(a, lever(a))
    rates = np.maximum(abs(G) @ np.abs(v), np.abs(b)) / sizes
    return float(max(rates.max(initial=1e-300), moves.max(initial=0.0)))


class Checked(NamedTuple):
    """The constraint matrix of a consistent state (g, n_v), its arrays, and what follows from them."""

    matrix: Any
    c: Configuration
    d: Derived


def check_consistent(
    mechanism: Model, state: State, *, velocities: bool = True, table: TimeTable | None = None
) -> Checked:
    """Raise ValueError, naming the constraint and its defect, unless g(q) = 0 and G v = ∂g/∂t hold.

    ``table`` is that of :func:`start_table`, where it is at hand.
    """
    a = mechanism.network.arrays
    table = table or start_table(mechanism, state)
    rows = mechanism.layout.multipliers
    c = configuration(mechanism, state.x)
    _check_rotations(mechanism, c.R)
    d = derive(a, c)
    _check_lengths(mechanism, d.product)
    _check_contacts(mechanism, d.product)
    if not rows:
        return Checked(sparse.csr_array((0, mechanism.layout.velocities)), c, d)
    coefficient, offset = table.at(state.time)
    gap, sizes = gap_of(a, d.product, coefficient, offset), constraint_sizes(a, d.vector)
    _report(mechanism, gap, sizes, what="position", time=state.time, unit="m")
    G, b = _rates_at(mechanism, (c, d), table, state.time)
    v = velocities_of(mechanism, c)
    if velocities and not state.memory.size:  # inside a run, velocities keep the constraints in the mean of each step
        size = _rate_scale(a, (G, b), v, sizes) * sizes
        _report(mechanism, G @ v - b, size, what="velocity", time=state.time, unit="m/s")
    return Checked(G, c, d)


def start_table(mechanism: Model, state: State) -> TimeTable:
    """What time prescribes from a state on; raises ValueError where the state is none of the mechanism."""
    if state.x.shape != (mechanism.layout.size,):
        raise ValueError(f"the state must have {mechanism.layout.size} entries, got {state.x.size}")
    rows = mechanism.layout.multipliers
    if state.multipliers.shape != (rows,):
        raise ValueError(f"the multipliers of the state must have {rows} entries, got {state.multipliers.size}")
    return TimeTable(mechanism, state.anchors)


def _check_lengths(mechanism: Model, product: Array) -> None:
    squares = product[mechanism.network.arrays.springs.length_product]
    for (name, _), square in zip(measures(mechanism.connections), squares, strict=False):
        if square <= 0.0:
            raise ValueError(f"{name} has no length at this pose, and so no direction")


def _check_contacts(mechanism: Model, product: Array) -> None:
    t = mechanism.network.arrays.rolling
    for row, height, least in zip(t.positive_row, product[t.positive], t.least, strict=True):
        if height <= least:
            raise ValueError(
                f"{mechanism.constraint_names[row]}: the disc must stand on the ground, its centre above it, got a "
                f"height of {height:.3g} m: a disc that lies flat has no point of contact; guess its height in "
                "mechanism.assemble(...)"
            )


def _check_rotations(mechanism: Model, R: Array) -> None:
    defect = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(mechanism.layout.dim)).max(axis=(1, 2))
    worst = int(np.argmax(defect))
    if defect[worst] > CONSISTENT:
        name = list(mechanism.bodies)[worst]
        raise ValueError(f"the rotation of {name!r} must be a rotation: |RᵀR − 1| = {defect[worst]:.0e}")
    mirrored = np.flatnonzero(np.linalg.det(R) < 0.0)
    if mirrored.size:
        name = list(mechanism.bodies)[mirrored[0]]
        raise ValueError(f"the rotation of {name!r} must be a rotation: its determinant is −1, a reflection")


def refuse_redundant(mechanism: Model, G: Any) -> None:
    """Raise ValueError, naming the constraints, unless G has full rank: the multipliers would not be unique."""
    listed = explain_redundancy(mechanism, G)
    if listed:
        raise ValueError(
            f"{listed}. The joint forces would not be unique at this pose: remove a constraint, free one direction, or "
            "allow redundant='least_norm'"
        )


def explain_redundancy(mechanism: Model, G: Any) -> str:
    """The redundant constraints and what they follow from, in words; empty where G has full rank."""
    if _is_regular(G):
        return ""
    _, redundant = null_space(G, mechanism.constraint_names)
    return "; ".join(explain_redundant(names) for names in redundant)


def _is_regular(G: Any) -> bool:
    """Whether G, dense or of few rows, has full rank by far: then no diagonal entry of a pivoted QR is small.

    They are at least the smallest singular value of the rows over their lengths, whose square is an eigenvalue here.
    """
    if not G.shape[0] or not G.shape[1] or (sparse.issparse(G) and G.shape[0] > FEW):
        return False
    gram = dense(G @ G.T)
    size = np.sqrt(np.where(gram.diagonal() > 0.0, gram.diagonal(), 1.0))
    return bool(np.linalg.eigvalsh(gram / np.outer(size, size))[0] > REGULAR**2)


def _unit_of(mechanism: Model, row: int, unit: str) -> str:
    rows = [r for c in mechanism.connections for r in c.rows]
    return unit.replace("m", "rad", 1) if rows[row].unit == "N m" else unit


def _report(mechanism: Model, defect: Array, size: Array, *, what: str, time: float, unit: str) -> None:
    excess = np.abs(defect) - 1e2 * CONSISTENT * size
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        raise ValueError(
            f"inconsistent initial {what} at t = {time} s: {mechanism.constraint_names[worst]} is violated by "
            f"{abs(defect[worst]):.3g} {_unit_of(mechanism, worst, unit)}; use mechanism.assemble(...) and "
            "mechanism.consistent_state(...)"
        )


def _energy(M: Array, v: Array) -> float:
    """Kinetic energy of the leading velocities, those of M [J]."""
    return 0.5 * float(v[: len(M)] @ M @ v[: len(M)])
