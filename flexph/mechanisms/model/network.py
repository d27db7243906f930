"""From bodies and connections to the flat arrays of the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody
from ...bodies.ports import find_port, frames_of
from ...contacts.arrays import contact_arrays, number_gaps
from ...joints.rows.connection import Connection, Measure, measures, owned_measures
from ...joints.rows.laws import Contact, CurveShape, PlaceOnCurve, PointOnCurve
from ...joints.rows.vectors import BodyVector, Product, Turn, Vector
from ...kernels.arrays import Arrays, Rolling, Springs, prepared
from ...kernels.constraint_sizes import constraint_measures
from ...kernels.rates.bearings import Bearings, no_bearings
from ...kernels.rates.curves import Curve, pieces
from ...kernels.rates.slips import Slips
from ...kernels.resolution import resolution_terms
from ...numerics.arrays import Array, dense
from ...numerics.rotations import spins
from ...systems.resistive_relations import Relation
from .gather import body_rows, elastic_arrays, inertia_arrays
from .loads import face_arrays, load_arrays, number_loads, place_arrays
from .nodal import Mean, nodal_parts, selection, with_nodes

FLAT = 1e-6
"""Sine of the angle between a disc and the ground from which on it has a point of contact."""
DENSE_LIMIT = 300
"""Unknown velocities up to which dense kernels are faster than sparse ones (about 1 ms per step at the limit)."""


@dataclass
class _Numbering:
    """Places, vectors and products numbered as they are met; equal ones share a number."""

    places: dict[BodyVector, int] = field(default_factory=dict)
    vectors: dict[Vector, int] = field(default_factory=dict)
    products: dict[Product, int] = field(default_factory=dict)

    def product(self, product: Product) -> int:
        for vector in (product.first, product.second):
            for place in (vector.plus, vector.minus):
                if place is not None:
                    self.places.setdefault(place, len(self.places))
            self.vectors.setdefault(vector, len(self.vectors))
        return self.products.setdefault(product, len(self.products))


@dataclass(frozen=True)
class Term:
    """Which product enters which constraint row."""

    row: int
    product: int


@dataclass(frozen=True, eq=False)
class Network:
    """Arrays of a mechanism, dense or sparse, with the terms of its constraints and the slices of its inputs.

    ``unshifted`` are fields of the arrays, sparse, without the shift to the centre of mass, ``means`` the places of
    joints and loads that are means of nodes.
    """

    arrays: Arrays
    unshifted: Mapping[str, Any]
    terms: tuple[Term, ...]
    input_slices: Mapping[str, slice]
    means: tuple[Mean, ...] = ()


def build_network(
    bodies: Mapping[str, AnyBody], connections: Sequence[Connection], gravity: Array, folded: bool | None = None
) -> Network:
    """Number the connections' vectors and gather the bodies' integrals; dense with the shift ``folded`` in, or sparse.

    By default dense up to DENSE_LIMIT velocities.
    """
    numbering = _Numbering()
    terms = _terms(connections, numbering)
    springs = _springs(connections, numbering)
    dim, frames = len(gravity), frames_of(bodies)
    rolling = _rolling(connections, numbering, bodies)
    slips = _slips(connections, numbering)
    curves = _curves(connections, numbering)
    loads = number_loads(connections, numbering.places, bodies)
    number_gaps(connections, numbering.places)
    velocities = sum(b.size + dim + (spins(dim) if b.turns else 0) for b in frames.values())
    folded = velocities <= DENSE_LIMIT if folded is None else folded
    nodes = place_arrays(bodies, list(numbering.places), loads)
    means = nodes.pop("means")
    inputs, slices = load_arrays(bodies, connections, numbering.places, nodes)
    elastic = elastic_arrays(bodies)
    nodal = nodal_parts(bodies, elastic["stiffness"])
    places = len(nodes["node_body"])
    joined = {**nodes, **_products(numbering, nodes["node_position"].shape[0], dim), **inputs}
    nodes, strains = with_nodes(joined, nodal, means)
    inertia, unshifted = inertia_arrays(frames, gravity, folded)
    parts = {**inertia, **elastic, **nodes}
    parts.pop("load_start")
    to = dense if folded else sparse.csr_array
    parts = {k: to(v) if sparse.issparse(v) else v for k, v in parts.items()}
    if folded:
        moves, shifts = np.repeat(nodes["node_moves"], dim), dense(unshifted["mean"])
        parts["node_shape"] = parts["node_shape"] - moves[:, None] * body_rows(shifts, nodes["node_body"], dim)
    parts.update(prepared(parts))
    if nodal is not None:  # vectors of strains are sums of few places of very many
        parts.update({name: sparse.csr_array(parts[name]) for name in ("incidence", "pull_pairs")})
    parts["resolution"] = resolution_terms(parts, springs)
    points, reach = np.array([r.unit != "N m" for c in connections for r in c.rows]), 0.0
    if nodal is not None:
        parts["resolution"][2:] += nodal.stiffness
        reach = nodal.reach
    parts.update(constraint_measures(parts, points, reach))
    arrays = Arrays(
        dim=dim,
        term_row=np.array([t.row for t in terms], dtype=int),
        term_product=np.array([t.product for t in terms], dtype=int),
        springs=springs,
        strains=strains,
        rolling=rolling,
        slips=slips,
        bearings=_bearings(connections, dim),
        faces=face_arrays(bodies, connections, slices, places),
        curves=_pushed(curves, connections, slices),
        contacts=contact_arrays(bodies, connections, numbering.places, dim),
        **parts,
    )
    unshifted = {"node_shape": nodes["node_shape"], **unshifted, **elastic}
    return Network(arrays, unshifted, tuple(terms), slices, tuple(means))


def _terms(connections: Sequence[Connection], numbering: _Numbering) -> list[Term]:
    rows = [row for connection in connections for row in connection.rows]
    return [Term(i, numbering.product(product)) for i, row in enumerate(rows) for product in row.law.products]


def _springs(connections: Sequence[Connection], numbering: _Numbering) -> Springs:
    ordered = [m for _, m in measures(connections)]
    state = np.cumsum([m.stiffness > 0.0 for m in ordered]) - 1
    take = lambda kind, i: _indices(numbering.product(m.products[i]) for m in ordered if m.kind == kind)  # noqa: E731
    return Springs(
        length_product=take("length", 0),
        component_product=take("component", 0),
        sine_product=take("angle", 0),
        cosine_product=take("angle", 1),
        stiffness=np.array([m.stiffness for m in ordered]),
        damping=np.array([0.0 if isinstance(m.damping, Relation) else m.damping for m in ordered]),
        state=_indices(int(k) if m.stiffness > 0.0 else -1 for k, m in zip(state, ordered, strict=True)),
        **_relations(ordered),
    )


def _rolling(connections: Sequence[Connection], numbering: _Numbering, bodies: Mapping[str, AnyBody]) -> Rolling:
    rows = [(i, c, c.rows[k].law) for i, (c, k) in enumerate((c, k) for c in connections for k in range(len(c.rows)))]
    terms = [(i, term, not law.of_rates) for i, _, law in rows for term in law.weighed]
    turns = [(i, _spinning(c, turn, bodies), turn.axis) for i, c, law in rows for turn in law.turns]
    contacts = [(i, law) for i, _, law in rows if isinstance(law, Contact)]
    return Rolling(
        row=_indices(i for i, _, _ in terms),
        product=_indices(numbering.product(term.product) for _, term, _ in terms),
        by=_indices(numbering.product(term.by) for _, term, _ in terms),
        weight=np.array([term.weight for _, term, _ in terms]),
        square=_indices(int(of_position) for _, _, of_position in terms),
        angular=_indices(int(term.angular) for _, term, _ in terms),
        spin_row=_indices(i for i, _, _ in turns),
        spin_body=_indices(body for _, body, _ in turns),
        spin_axis=np.array([a for _, _, a in turns]).reshape(len(turns), spins(next(iter(bodies.values())).dim)),
        free=_indices(int(law.of_rates) for _, _, law in rows),
        positive_row=_indices(i for i, _ in contacts),
        positive=_indices(numbering.product(law.height) for _, law in contacts),
        least=np.array([FLAT * law.radius for _, law in contacts]),
    )


def _slips(connections: Sequence[Connection], numbering: _Numbering) -> Slips:
    own = [(c, slip) for c in connections for slip in c.form.slips]
    components = [(i, c, terms) for i, (c, slip) in enumerate(own) for terms in slip.components]
    terms = [(k, term) for k, (_, _, terms) in enumerate(components) for term in terms]
    curves = _on_curves(connections)
    return Slips(
        row=_indices(k for k, _ in terms),
        product=_indices(numbering.product(term.product) for _, term in terms),
        by=_indices(numbering.product(term.by) for _, term in terms),
        weight=np.array([term.weight for _, term in terms]),
        angular=_indices(int(term.angular) for _, term in terms),
        slip=_indices(i for i, _, _ in components),
        curve=_indices(-1 if terms else curves.index(c.name) for _, c, terms in components),
        relations=tuple(slip.friction for _, slip in own),
    )


def _bearings(connections: Sequence[Connection], dim: int) -> Bearings:
    own = [c for c in connections if c.form.bearing is not None]
    if not own:
        return no_bearings(dim)
    slips: dict[str, list[tuple[int, float]]] = {c.name: [] for c in own}
    for i, (c, measure) in enumerate(owned_measures(connections)):
        if measure.lever:
            slips[c.name].append((i, measure.lever))
    spring, lever = np.full((dim - 1, len(own)), -1), np.zeros((dim - 1, len(own)))
    for i, c in enumerate(own):
        for t, (k, arm) in enumerate(slips[c.name]):
            spring[t, i], lever[t, i] = k, arm
    first = dict(zip([c.name for c in connections], np.cumsum([0, *(len(c.rows) for c in connections)]), strict=False))
    bearings = [c.form.bearing for c in own if c.form.bearing is not None]
    curves = _on_curves(connections)
    return Bearings(
        spring,
        lever,
        curve=_indices(curves.index(c.name) if b.along_curve else -1 for c, b in zip(own, bearings, strict=True)),
        friction=np.array([b.friction.coefficient for b in bearings]),
        row=_indices(first[c.name] + k for c, b in zip(own, bearings, strict=True) for k in range(b.pressing)),
        owner=np.repeat(np.arange(len(own)), [b.pressing for b in bearings]),
    )


def _on_curves(connections: Sequence[Connection]) -> list[str]:
    """Names of the joints whose ports are on curves, in the order of these."""
    return [c.name for c in connections if any(isinstance(row.law, PointOnCurve) for row in c.rows)]


def _curves(connections: Sequence[Connection], numbering: _Numbering) -> tuple[Curve, ...]:
    rows: dict[CurveShape, list[int]] = {}
    for i, row in enumerate(row for c in connections for row in c.rows):
        if isinstance(row.law, PointOnCurve):
            rows.setdefault(row.law.curve, []).append(i)
    driven = {row.law.curve for c in connections for row in c.rows if isinstance(row.law, PlaceOnCurve)}
    numbered = [(own, np.array([[numbering.product(p) for p in one] for one in c.products])) for c, own in rows.items()]
    return tuple(
        Curve(np.array(own), products, *pieces(np.array(curve.at), curve.degree), driven=curve in driven)
        for curve, (own, products) in zip(rows, numbered, strict=True)
    )


def _pushed(
    curves: tuple[Curve, ...], connections: Sequence[Connection], slices: Mapping[str, slice]
) -> tuple[Curve, ...]:
    """Curves with the inputs that push along them."""
    inputs = (slices[name].start if name in slices else -1 for name in _on_curves(connections))
    return tuple(curve._replace(input=i) for curve, i in zip(curves, inputs, strict=True))


def _spinning(connection: Connection, turn: Turn, bodies: Mapping[str, AnyBody]) -> int:
    """The body that turns with a port; raises ValueError where the section at the port does not."""
    index, port = find_port(turn.port, bodies)
    if port.rotation is None:
        raise ValueError(f"{connection.name}: a point mass does not roll: take a body with inertia")
    if sparse.csr_array(port.rotation).count_nonzero():
        raise ValueError(
            f"{connection.name}: the section at {turn.port!r} turns against its body when that deforms: join a rigid "
            "body to it and let that roll"
        )
    return index


def _relations(ordered: Sequence[Measure]) -> dict[str, Any]:
    """Fields of the spring-dampers that resist by more than a coefficient."""
    own = [(i, m.damping) for i, m in enumerate(ordered) if isinstance(m.damping, Relation)]
    return {
        "resisting": _indices(i for i, _ in own),
        "relations": tuple(r for _, r in own),
        "steepness": np.array([float(r.slope(0.0)) for _, r in own]),
    }


def _indices(values: Any) -> np.ndarray:
    return np.array(list(values), dtype=int)


def _products(numbering: _Numbering, nodes: int, dim: int) -> dict[str, Any]:
    vectors = list(numbering.vectors)
    incidence = np.zeros((len(vectors), nodes))
    fixed = np.zeros((len(vectors), dim))
    for i, vector in enumerate(vectors):
        for place, sign in ((vector.plus, 1.0), (vector.minus, -1.0)):
            if place is not None:
                incidence[i, numbering.places[place]] = sign
        if vector.fixed is not None:
            fixed[i] = vector.fixed
    first = _indices(numbering.vectors[p.first] for p in numbering.products)
    second = _indices(numbering.vectors[p.second] for p in numbering.products)
    return {
        "incidence": sparse.csr_array(incidence),
        "vector_fixed": fixed,
        "first": first,
        "second": second,
        "select_first": selection(first, len(vectors)),
        "select_second": selection(second, len(vectors)),
    }
