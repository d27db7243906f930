"""State of a mechanism as arrays, quantities derived from it, and their scales.

Motions below the resolution of positions in double precision cannot be distinguished from rest. Lengths, and products
of a point and a direction, are in m and are scaled by a length of the mechanism; products of two directions have no
unit, and their scale is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..numerics.arrays import Array
from ..numerics.rotations import sweep, turned, turned_spins
from .arrays import Arrays, total
from .rates.flows import flow_energies
from .rates.on_curves import OnCurve, all_at_state
from .spring_arrays import Springs
from .strains import law_energies


class Configuration(NamedTuple):
    """Positions r (b, d), R (b, d, d), u (n,), velocities ṙ (b, d), ω (b, s), u̇ (n,), stresses (m,), spring states."""

    r: Array
    R: Array
    u: Array
    v: Array
    omega: Array
    du: Array
    sigma: Array
    spring: Array


class Derived(NamedTuple):
    """Quantities derived from a configuration.

    ``Pu`` and ``Pdu`` are the inertia products of u and u̇ (see :func:`inertia_products`), ``p_r`` (b, s) and ``p_u``
    (n,) the momenta, ``slope`` the slopes whose squares enter the strains. ``arm`` (k, d) are the arms of the nodes in
    world axes, ``vector`` (v, d) the world vectors, ``product`` (p,) their products, and ``on_curves`` the points on
    curves.
    """

    Pu: Array
    Pdu: Array
    p_r: Array
    p_u: Array
    slope: Array
    arm: Array
    vector: Array
    product: Array
    on_curves: tuple[OnCurve, ...]


def body_sum(a: Arrays, x: Array) -> Array:
    """Sums over the flexible coordinates of each body, (…, b), of an array (…, n)."""
    rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    return (a.sum_coordinates @ rows.T).T.reshape(*x.shape[:-1], len(a.mass))


def contracted(square: Array, w: Array) -> Array:
    """Sums Σ_b square_ab w_b over the second spin index, for every flexible coordinate, (…, s, n).

    ``square`` is (…, s, s, n) and ``w`` (…, s, n).
    """
    return square[..., 0, :] * w if w.shape[-2] == 1 else np.einsum("...abn,...bn->...an", square, w)


def over_spins(x: Array) -> Array:
    """Sum Σ_a x_a over the spin axes a of an array (s, n), as (n,)."""
    return x[0] if len(x) == 1 else x.sum(axis=0)


def body_spins(a: Arrays, omega: Array) -> Array:
    """Spins ω of the body of each flexible coordinate, (s, n)."""
    return omega.take(a.body_u, axis=0).T


def inertia_products(a: Arrays, u: Array) -> Array:
    """Products of the inertia matrices with u, (1 + s + s², n): M u, then N_a u, then K_ab u row by row.

    With the shapes φ about the centre of mass, M = ∫ρφᵀφ, N_a = ∫ρφᵀ(e_a × φ) for the spin axis e_a, and K_ab is the
    symmetric part of ∫ρ(e_a × φ)ᵀ(e_b × φ).
    """
    s = a.n.shape[0]
    if a.moments is None:
        y = (a.stack @ u).reshape(1 + s + s * s, u.size)
    else:
        y = a.forms @ (a.moments @ u).reshape(a.dim**2, u.size)
    if a.mean is not None:
        y -= (a.border_stack @ (a.border @ u)).reshape(y.shape)
    return y


def momenta(
    a: Arrays, omega: Array, u: Array, du: Array, *, products: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """Angular momenta p_r (b, s) about the centres of mass, and momenta p_u (n,) of the flexible coordinates.

    They are p_r = J(u) ω + (n + N u)·u̇ and p_u = ω·(n + N u) + M u̇. ``omega`` (b, s) are the spins ω, ``u`` and
    ``du`` the flexible coordinates and their rates (n,), ``products`` the inertia products of both, if already
    computed.
    """
    Pu, Pdu = products or (inertia_products(a, u), inertia_products(a, du))
    p_r = turned(a.J, omega)
    if not u.size:
        return p_r, Pdu[0]
    s, w = a.n.shape[0], body_spins(a, omega)
    coupling = a.n + Pu[1 : 1 + s]
    square = a.s + a.s + Pu[1 + s :].reshape(s, s, u.size)
    p_r += a.sum_coordinates @ (contracted(square, w) * u + coupling * du).T
    return p_r, over_spins(w * coupling) + Pdu[0]


def rotational_inertia(a: Arrays, u: Array, Pu: Array) -> Array:
    """Rotational inertia J(u) = J + 2 s·u + uᵀK u of each body about its centre of mass, (b, s, s).

    ``Pu`` are the inertia products of u.
    """
    s = a.n.shape[0]
    quadratic = body_sum(a, (2.0 * a.s + Pu[1 + s :].reshape(s, s, u.size)) * u)
    return a.J + quadratic.transpose(2, 0, 1)


def coupled(a: Arrays, Pu: Array, Pdu: Array, w: Array) -> Array:
    """Spin components (s, n) of a_k = (∂M/∂u_k) w, the derivative of the momenta for each flexible coordinate u_k.

    They are 2 (s_ab + K_ab u) ω_b − N_a u̇. ``w`` (n, s) are the spins of the body of each coordinate, ``Pu`` and
    ``Pdu`` the inertia products of u and u̇.
    """
    s = a.n.shape[0]
    square = a.s + Pu[1 + s :].reshape(s, s, -1)
    return 2.0 * np.einsum("abn,nb->an", square, w) - Pdu[1 : 1 + s]


def turns(a: Arrays, w: Array) -> Array:
    """Matrix (n, n) of the sum Σ_a w_a N_a over the spin axes a, with the factors w (n, s) of its rows."""
    n = a.body_u.size
    return sum((w[:, [i]] * a.stack[(1 + i) * n : (2 + i) * n] for i in range(w.shape[1])), start=np.zeros((n, n)))


def squares(a: Arrays, w: Array, other: Array) -> Array:
    """Matrix (n, n) of the sum Σ_ab w_a o_b K_ab over spin axes a and b, with factors w and o (n, s) of its rows."""
    n, s = a.body_u.size, w.shape[1]
    form = np.zeros((n, n))
    for i in range(s):
        for j in range(s):
            block = 1 + s + i * s + j
            form += (w[:, i] * other[:, j])[:, None] * a.stack[block * n : (block + 1) * n]
    return form


def node_arms(a: Arrays, R: Array, u: Array) -> Array:
    """Arms R (X + φ u) of all nodes in world axes, (k, d).

    The arm of a point leads from the centre of mass of its body to it. That of a direction is the direction itself.
    """
    return turned(R.take(a.node_body, axis=0), a.node_position + node_displacement(a, u))


def node_points(a: Arrays, r: Array, arm: Array) -> Array:
    """Positions of all points, and the directions, in world axes, (k, d).

    ``r`` (b, d) are the centres of mass, ``arm`` (k, d) the arms of the nodes.
    """
    return a.node_moves[:, None] * r.take(a.node_body, axis=0) + arm


def with_means(a: Arrays, nodes: Array) -> Array:
    """Positions or velocities of all nodes (k, d), including nodes that are weighted means of other nodes.

    ``nodes`` (k, d) has zeros for such nodes, which are ports of cables, for instance, and used in contacts only.
    """
    return nodes if a.node_means is None else nodes + a.node_means @ nodes


def touching_points(a: Arrays, r: Array, arm: Array) -> Array:
    """Positions of all nodes in world axes, (k, d), including nodes of contacts that are means of other nodes."""
    return with_means(a, node_points(a, r, arm))


def touching_velocities(a: Arrays, x: Velocities, arm: Array, R: Array) -> Array:
    """Velocities of all nodes in world axes, (k, d), including nodes of contacts that are means of other nodes.

    ``arm`` (k, d) are the arms of the nodes, ``R`` (b, d, d) the rotations of the bodies.
    """
    return with_means(a, node_velocities(a, x, R, arm))


def node_displacement(a: Arrays, u: Array) -> Array:
    """Displacements φ u of all nodes in body axes, (k, d)."""
    moved = (a.node_shape @ u).reshape(a.node_position.shape)
    if a.mean is not None:
        moved = moved - a.node_moves[:, None] * (a.mean @ u).reshape(-1, a.dim)[a.node_body]
    return moved


class Velocities(Protocol):
    """Velocities of all bodies: ṙ (b, d), ω (b, s) and u̇ (n,)."""

    @property
    def v(self) -> Array: ...  # noqa: D102

    @property
    def omega(self) -> Array: ...  # noqa: D102

    @property
    def du(self) -> Array: ...  # noqa: D102


def node_velocities(a: Arrays, x: Velocities, frame: Array, lever: Array) -> Array:
    """Velocities v + (frame ω) × lever + frame φ u̇ of all nodes in world axes, (k, d).

    ``frame`` (b, d, d) turns body axes into world axes, and ``lever`` (k, d) are the arms of the nodes. Directions have
    no term v.
    """
    world = turned_spins(frame, x.omega).take(a.node_body, axis=0)
    moved = sweep(world, lever) + turned(frame.take(a.node_body, axis=0), node_displacement(a, x.du))
    return moved + a.node_moves[:, None] * x.v.take(a.node_body, axis=0)


def places(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Positions of all nodes at a configuration, (k, d)."""
    return node_points(a, c.r, d.arm)


def vectors(a: Arrays, r: Array, arm: Array) -> Array:
    """World vectors (v, d) of joints, springs and strain rows: combinations of nodes plus constant vectors."""
    return a.incidence @ node_points(a, r, arm) + a.vector_fixed


def products(a: Arrays, vector: Array) -> Array:
    """Products V·W (p,) of the pairs of world vectors (v, d) that the arrays name; crossed ones are (J V)·W."""
    _, on_second = partners(a, vector)
    return np.vecdot(on_second, vector.take(a.second, axis=0))


QUARTER_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])
"""Matrix J of crossed products."""


def partners(a: Arrays, vector: Array) -> tuple[Array, Array]:
    """Derivatives (…, p, d) of each product with respect to its first and to its second vector.

    A product V·W has W and V. A crossed one, (J V)·W with J = [[0, −1], [1, 0]], has JᵀW and JV. ``vector`` (…, v, d)
    are all vectors.
    """
    on_first, on_second = vector.take(a.second, axis=-2), vector.take(a.first, axis=-2)
    if a.crossed.size:
        on_first[..., a.crossed, :] = on_first[..., a.crossed, ::-1] * (1.0, -1.0)
        on_second[..., a.crossed, :] = on_second[..., a.crossed, ::-1] * (-1.0, 1.0)
    return on_first, on_second


def product_changes(a: Arrays, moved: Array, vector: Array) -> Array:
    """Changes ΔV·W + V·ΔW of all products (…, p), from changes and values of the vectors (…, v, d)."""
    if a.crossed.size:
        on_first, on_second = partners(a, vector)
        changes: Array = np.vecdot(moved.take(a.first, axis=-2), on_first)
        return changes + np.vecdot(moved.take(a.second, axis=-2), on_second)
    changed = np.vecdot(moved.take(a.pairs, axis=-2), vector.take(a.partners, axis=-2))
    return changed[..., 0, :] + changed[..., 1, :]


def constraint_sums(a: Arrays, product: Array, coefficient: Array, offset: Array) -> Array:
    """Constraint values g (g,): the sums of coefficients times products in each row, minus the offsets (g,).

    ``coefficient`` (t,) has the coefficients of the terms of all rows. With rates of the products and of the offsets
    the results are rates.
    """
    return total(a.term_row, coefficient * product.take(a.term_product), offset.size) - offset


def derive(a: Arrays, c: Configuration) -> Derived:
    """Momenta, vectors, products and other quantities that follow from a configuration."""
    arm = node_arms(a, c.R, c.u)
    vector = vectors(a, c.r, arm)
    return derive_at(a, c, (arm, vector, products(a, vector)))


def derive_at(a: Arrays, c: Configuration, joints: tuple[Array, Array, Array]) -> Derived:
    """Quantities that follow from a configuration and ``joints``, the known node arms, vectors and products."""
    Pu, Pdu = inertia_products(a, c.u), inertia_products(a, c.du)
    p_r, p_u = momenta(a, c.omega, c.u, c.du, products=(Pu, Pdu))
    return Derived(Pu, Pdu, p_r, p_u, a.slopes @ c.u, *joints, all_at_state(a.curves, joints[-1]))


def _elastic_energy(a: Arrays, sigma: Array, product: Array, time: float) -> Array:
    """Elastic energies (b,) [J] of the bodies at a time: ½ σᵀCσ, plus energies of material laws of strain rows."""
    laws = law_energies(a.strains, product, time) if a.strains.laws else []
    if laws:
        sigma = sigma.copy()
        sigma[a.strains.stress[np.concatenate([rows.ravel() for rows, _ in laws])]] = 0.0
    elastic = 0.5 * total(a.body_stress, sigma * (a.compliance @ sigma), len(a.mass))
    for rows, energy in laws:
        elastic += total(a.body_stress[a.strains.stress[rows[:, 0]]], energy, len(a.mass))
    return elastic


def mass_factors(a: Arrays, time: float) -> Array:
    """Factors of the inertia of all bodies at a time [s], (b,).

    Raises ValueError if the factor of a body is set by an input, as a state does not determine it.
    """
    factors = np.ones(len(a.mass))
    for b, factor in a.mass_factors:
        if factor == "input":
            raise ValueError(
                f"the mass of frame {b} is an input, which states do not know: use run.ledger for energies, or "
                "mechanism.with_masses_at(time) for the mass without the input"
            )
        factors[b] = factor(time)
    return factors


def weighed(a: Arrays, time: float) -> Arrays:
    """Copy of the arrays with the masses, inertia and weights of the bodies at a time [s].

    It is the same object if no mass changes.
    """
    if not a.mass_factors:
        return a
    factor = mass_factors(a, time)
    return a._replace(mass=factor * a.mass, weight=factor[:, None] * a.weight, J=factor[:, None, None] * a.J)


def energies(a: Arrays, c: Configuration, d: Derived, time: float = 0.0) -> dict[str, Any]:
    """Energies [J] at a time by kind: ``kinetic``, ``elastic``, ``potential``, ``spring`` and ``flow``.

    The first three have an entry for each body (b,), ``spring`` for each spring with a state (stored,), and ``flow``
    for each flow (flows,).
    """
    weighed = mass_factors(a, time)
    kinetic = 0.5 * a.mass * np.einsum("bd,bd->b", c.v, c.v)
    kinetic += 0.5 * np.einsum("bs,bs->b", c.omega, d.p_r) + 0.5 * body_sum(a, c.du * d.p_u)
    elastic = _elastic_energy(a, c.sigma, d.product, time)
    return {
        "kinetic": weighed * kinetic,
        "elastic": elastic,
        "potential": -weighed * np.einsum("bd,bd->b", a.weight, c.r),
        "spring": a.springs.energies(c.spring[: a.springs.stored], time),
        "flow": flow_energies(a.flows, c.r, time) if a.flows else np.zeros(0),
    }


def coordinate_size(a: Arrays, r: Array) -> float:
    """Largest absolute coordinate [m] of centres of mass r (b, d), and of points relative to these."""
    return larger_coordinate(r, node_size(a))


def node_size(a: Arrays) -> float:
    """Largest absolute coordinate [m] of a point relative to the centre of mass of its body."""
    points = a.node_position * a.node_moves[:, None]  # directions have no length
    return float(np.abs(points).max(initial=0.0))


def larger_coordinate(r: Array, size: float) -> float:
    """Largest absolute coordinate of centres of mass r, at least ``size`` [m]."""
    return max(float(r.max(initial=size)), -float(r.min(initial=-size)))


def resolution_terms(parts: Mapping[str, Any], springs: Springs) -> Array:
    """Sums (4,) over the mechanism: masses [kg], traces of inertias [kg m²], and two kinds of stiffness.

    The stiffness to displacements [N/m] is that of springs on lengths, plus m max ω² of each body, with ω² = K_ii/M_ii
    of its flexible coordinates [1/s²]. The stiffness to rotations [N m] is that of springs on angles.
    """
    flexible = len(parts["body_u"])
    mass, elastic = parts["stack"].diagonal()[:flexible], (parts["strain"] * parts["rise"]).sum(axis=0)
    squares = np.zeros(len(parts["mass"]))
    np.maximum.at(squares, parts["body_u"], elastic / mass)
    moving, turning = springs.scales
    return np.array(
        [
            parts["mass"].sum(),
            np.trace(parts["J"], axis1=1, axis2=2).sum(),
            parts["mass"] @ squares + moving,
            turning,
        ]
    )


def constraint_measures(parts: Mapping[str, Any], holds_points: Array, reach: float = 0.0) -> dict[str, Any]:
    """Fields of the arrays that scale constraints, by their names: ``holds_points``, ``of_length`` and ``lengths``.

    ``holds_points`` (g,) is 1 for constraints that measure lengths. ``of_length`` (n,) has for each flexible
    coordinate the value at which its inertia is that of a unit translation of its body. ``lengths`` are two lengths [m]
    of at least ``reach``: the largest lever of a point of a body, which is invariant to rotations and translations of
    the world, and the larger of this lever and the largest coordinate of a fixed point of the ground. If all points are
    at centres of mass the lever is the largest radius of gyration, or 1 for point masses.
    """
    fixed = float(np.abs(parts["vector_fixed"] * parts["joins_points"][:, None]).max(initial=0.0))
    lever_length = max(reach, _lever(parts["node_position"][parts["node_moves"] > 0.0], parts["J"], parts["mass"]))
    return {
        "holds_points": np.asarray(holds_points, dtype=float),
        "of_length": np.sqrt(parts["mass"][parts["body_u"]] / parts["stack"].diagonal()[: len(parts["body_u"])]),
        "lengths": np.array([lever_length, max(lever_length, fixed)]),
    }


def constraint_sizes(a: Arrays, vector: Array) -> Array:
    """Scales (g,) of the constraint values: a length [m] for constraints that measure lengths, 1 for others.

    The length is the largest of the levers of the bodies and of the world vectors (v, d) between points.
    """
    reached = np.abs(vector).max(axis=1, initial=0.0) * a.joins_points
    length = max(float(a.lengths[1]), float(reached.max(initial=0.0)))
    return np.where(a.holds_points > 0.0, length, 1.0)


def displacement_sizes(a: Arrays, length: float) -> Array:
    """Scales (n_v,) of displacements: ``length`` [m] for translations, 1 for rotations.

    A flexible coordinate has the scale at which its inertia is that of a translation of its body by ``length``.
    """
    centres, spins, flexible = a.columns
    sizes = np.ones(centres.size + int((spins >= 0).sum()) + flexible.size)
    sizes[centres], sizes[flexible] = length, length * a.of_length
    return sizes


def lever(a: Arrays) -> float:
    """Reference lever [m], which relates displacements to rotations: largest distance of a point from a centre of mass.

    It is at least the argument ``reach`` of :func:`constraint_measures`. If all points are at centres of mass, it is
    the largest radius of gyration, or 1 for point masses.
    """
    return float(a.lengths[0])


def _lever(points: Array, J: Array, mass: Array) -> float:
    largest = float(np.linalg.norm(points, axis=1).max(initial=0.0))
    return largest or float(np.sqrt(np.trace(J, axis1=1, axis2=2) / mass).max(initial=0.0)) or 1.0
