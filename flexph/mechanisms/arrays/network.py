"""Network: flat kernel arrays of a whole mechanism, gathered from its bodies and connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody
from ...bodies.ports import frames_of
from ...contacts.arrays import contact_arrays, driven_gaps, number_gaps
from ...joints.rows.connection import Connection
from ...kernels.arrays import Arrays, joined_part, prepared
from ...kernels.state import constraint_measures, resolution_terms
from ...numerics.arrays import Array, dense
from ...numerics.rotations import spins
from .connection_arrays import (
    Numbering,
    bearing_arrays,
    closed_arrays,
    curve_arrays,
    indices,
    pushed_curves,
    rolling_arrays,
    slip_arrays,
    spring_arrays,
)
from .gather import body_rows, elastic_arrays, inertia_arrays
from .loads import face_arrays, load_arrays, number_loads, place_arrays
from .nodal import MeanPoint, flow_arrays, nodal_parts, selection, with_nodes

DENSE_LIMIT = 300
"""Number of velocities up to which arrays are dense."""


@dataclass(frozen=True)
class Term:
    """Term of a constraint row, a coefficient times a product V·W: the indices of the row and of the product."""

    row: int
    product: int


@dataclass(frozen=True, eq=False)
class Network:
    """Kernel arrays of a mechanism, dense or sparse, with the terms of its constraints and the slices of its inputs.

    ``unshifted`` are the fields, sparse, in which the inertia integrals are not yet shifted to the centres of mass;
    ``means`` are the points of joints and loads that are weighted means of nodes.
    """

    arrays: Arrays
    unshifted: Mapping[str, Any]
    terms: tuple[Term, ...]
    input_slices: Mapping[str, slice]
    means: tuple[MeanPoint, ...] = ()


def build_network(
    bodies: Mapping[str, AnyBody], connections: Sequence[Connection], gravity: Array, folded: bool | None = None
) -> Network:
    """Build the network: index the vectors of the connections and gather the integrals of the bodies.

    If ``folded``, arrays are dense and include the shift to the centre of mass, otherwise they are sparse; by default
    they are dense up to DENSE_LIMIT velocities.
    """
    numbering = Numbering()
    terms = _terms(connections, numbering)
    springs = spring_arrays(connections, numbering)
    dim, frames = len(gravity), frames_of(bodies)
    rolling = rolling_arrays(connections, numbering, bodies)
    slips = slip_arrays(connections, numbering)
    curves, closed = curve_arrays(connections, numbering), closed_arrays(connections, numbering)
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
    products = _products(numbering, places, dim, is_dense=folded and nodal is None)
    joined = {**nodes, **products, **inputs}
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
    if nodal is not None:  # vectors of strains are sums over few of very many points
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
        flows=flow_arrays(bodies),
        mass_factors=tuple((i, b.mass_factor) for i, b in enumerate(frames.values()) if b.mass_factor is not None),
        rolling=rolling,
        slips=slips,
        bearings=bearing_arrays(connections, dim),
        faces=face_arrays(bodies, connections, slices, places),
        closed=closed,
        curves=pushed_curves(curves, connections, slices),
        contacts=driven_gaps(contact_arrays(bodies, connections, numbering.places, dim), connections, slices),
        **parts,
    )
    if nodal is not None:
        arrays = arrays._replace(joined=joined_part(arrays, len(numbering.vectors), len(numbering.products)))
    unshifted = {"node_shape": nodes["node_shape"], **unshifted, **elastic}
    return Network(arrays, unshifted, tuple(terms), slices, tuple(means))


def _terms(connections: Sequence[Connection], numbering: Numbering) -> list[Term]:
    rows = [row for connection in connections for row in connection.rows]
    return [Term(i, numbering.product(product)) for i, row in enumerate(rows) for product in row.law.products]


def _products(numbering: Numbering, nodes: int, dim: int, *, is_dense: bool) -> dict[str, Any]:
    """Fields of the kernel arrays that define world vectors by points, and products V·W by two vectors each.

    A vector is its end minus its start, by the signs in the row of ``incidence`` (vectors, nodes), plus a
    ``vector_fixed``. ``select_first`` and ``select_second`` pick the vectors V and W of the products. Matrices are
    dense or sparse.
    """
    vectors = list(numbering.vectors)
    incidence = np.zeros((len(vectors), nodes))
    fixed, joins = np.zeros((len(vectors), dim)), np.zeros(len(vectors))
    for i, vector in enumerate(vectors):
        for place, sign in ((vector.plus, 1.0), (vector.minus, -1.0)):
            if place is not None:
                incidence[i, numbering.places[place]] = sign
                joins[i] = float(place.direction is None)
        if vector.fixed is not None:
            fixed[i] = vector.fixed
    first = indices(numbering.vectors[p.first] for p in numbering.products)
    second = indices(numbering.vectors[p.second] for p in numbering.products)
    return {
        "incidence": incidence if is_dense else sparse.csr_array(incidence),
        "vector_fixed": fixed,
        "joins_points": joins,
        "first": first,
        "second": second,
        "select_first": selection(first, len(vectors), is_dense=is_dense),
        "select_second": selection(second, len(vectors), is_dense=is_dense),
    }
