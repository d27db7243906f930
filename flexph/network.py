"""From bodies and connections to the flat arrays of the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from . import checks as check
from .body import Body, Port
from .gather import body_rows, elastic_arrays, inertia_arrays, mean_shapes
from .joints.connection import Connection, Length, Offset, Place, Product, Vector
from .kernels.arrays import Arrays, Springs
from .ports import find_port, split_port
from .space import Array, cross, spins

DENSE_LIMIT = 300
"""Unknown velocities up to which dense kernels are faster than sparse ones (about 1 ms per step at the limit)."""


@dataclass
class _Numbering:
    """Places, vectors and products numbered as they are met; equal ones share a number."""

    places: dict[Place, int] = field(default_factory=dict)
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
    """Which product enters which constraint row, as ``plain``, ``cos``, ``-sin`` or ``length``."""

    row: int
    product: int
    kind: str


@dataclass(frozen=True)
class Network:
    """Arrays of a mechanism, dense or sparse, with the terms of its constraints and the slices of its inputs.

    ``raw_shape`` are the node shapes without the shift to the centre of mass, sparse (k·d, n).
    """

    arrays: Arrays
    raw_shape: Any
    terms: tuple[Term, ...]
    input_slices: Mapping[str, slice]


def build_network(bodies: Mapping[str, Body], connections: Sequence[Connection], gravity: Array) -> Network:
    """Number the connections' vectors and gather the bodies' integrals."""
    numbering = _Numbering()
    terms = _terms(connections, numbering)
    springs = _springs(connections, numbering)
    loads = [(i, c.input.port) for i, c in enumerate(connections) if c.input and c.input.kind == "load"]
    for c in connections:
        if c.input is not None and c.input.kind == "force":
            numbering.places.setdefault(Place(c.input.port), len(numbering.places))
    dim = len(gravity)
    velocities = sum(b.size + dim + (spins(dim) if b.turns else 0) for b in bodies.values())
    folded = velocities <= DENSE_LIMIT
    nodes = _nodes(bodies, numbering, [port for _, port in loads])
    inputs, slices = _inputs(bodies, connections, numbering, nodes)
    parts = {
        **inertia_arrays(bodies, gravity, folded),
        **elastic_arrays(bodies),
        **nodes,
        **_products(numbering, nodes["node_position"].shape[0], dim),
        **inputs,
    }
    parts.pop("load_start")
    shape, mean = nodes["node_shape"], sparse.csr_array(mean_shapes(bodies))
    if folded:
        moves = sparse.diags_array(np.repeat(nodes["node_moves"], dim))
        parts["node_shape"] = shape - moves @ body_rows(mean, nodes["node_body"], dim)
    to = _dense if folded else sparse.csr_array
    parts = {k: to(v) if sparse.issparse(v) else v for k, v in parts.items()}
    arrays = Arrays(
        dim=dim,
        term_row=np.array([t.row for t in terms], dtype=int),
        term_product=np.array([t.product for t in terms], dtype=int),
        springs=springs,
        **parts,
    )
    return Network(arrays, nodes["node_shape"], tuple(terms), slices)


def _dense(a: Any) -> Array:
    return a.toarray()


def _terms(connections: Sequence[Connection], numbering: _Numbering) -> list[Term]:
    terms, row = [], 0
    for connection in connections:
        for constraint in connection.rows:
            law = constraint.law
            if isinstance(law, Offset | Length):
                kind = "plain" if isinstance(law, Offset) else "length"
                terms.append(Term(row, numbering.product(law.product), kind))
            else:
                terms.append(Term(row, numbering.product(law.sine), "cos"))
                terms.append(Term(row, numbering.product(law.cosine), "-sin"))
            row += 1
    return terms


def _springs(connections: Sequence[Connection], numbering: _Numbering) -> Springs:
    measures = [c.measure for c in connections if c.measure is not None]
    ordered = [m for m in measures if len(m.products) == 1] + [m for m in measures if len(m.products) == 2]
    state = np.cumsum([m.stiffness > 0.0 for m in ordered]) - 1
    return Springs(
        length_product=_indices(numbering.product(m.products[0]) for m in ordered if len(m.products) == 1),
        sine_product=_indices(numbering.product(m.products[0]) for m in ordered if len(m.products) == 2),
        cosine_product=_indices(numbering.product(m.products[1]) for m in ordered if len(m.products) == 2),
        stiffness=np.array([m.stiffness for m in ordered]),
        damping=np.array([m.damping for m in ordered]),
        state=_indices(int(k) if m.stiffness > 0.0 else -1 for k, m in zip(state, ordered, strict=True)),
    )


def _indices(values: Any) -> np.ndarray:
    return np.array(list(values), dtype=int)


def direction_shape(port: Port, direction: Array, dim: int, size: int) -> Any:
    """∂a/∂u of a section direction a(u) = n + (ψu) × n: sparse (d, size)."""
    if port.rotation is None:
        raise ValueError("a point mass has no direction: use turning=True, or a body with inertia")
    turned = np.einsum("aij,j->ia", cross(dim), direction)
    return sparse.csr_array(turned) @ port.rotation


def _nodes(bodies: Mapping[str, Body], numbering: _Numbering, loads: list[str]) -> dict[str, Any]:
    """Node data; the element means of load ports come last."""
    owned = list(bodies.values())
    dim = owned[0].dim
    start = np.cumsum([0, *(b.size for b in owned)])
    body, moves, position, shapes = [], [], [], []
    for place in numbering.places:
        index, port = find_port(place.port, bodies)
        if place.direction is None:
            x, shape = port.position - owned[index].inertia.centre, port.shape
        else:
            x = np.array(place.direction)
            shape = _direction_or_explain(place, port, x, dim, owned[index].size)
        body.append(index)
        moves.append(float(place.direction is None))
        position.append(x)
        shapes.append(_at_columns(shape, int(start[index]), int(start[-1])))
    load_start = []
    for name in loads:
        index, owner, port_name = split_port(name, bodies)
        load = check.lookup("load port", port_name, owner.loads, name.partition(".")[0])
        load_start.append(len(body))
        body += [index] * len(load.measures)
        moves += [1.0] * len(load.measures)
        position += list(load.positions - owner.inertia.centre)
        shapes.append(_at_columns(load.shapes, int(start[index]), int(start[-1])))
    return {
        "node_body": np.array(body, dtype=int),
        "node_moves": np.array(moves),
        "node_position": np.array(position).reshape(len(body), dim),
        "node_shape": sparse.vstack([sparse.csr_array((0, int(start[-1]))), *shapes]).tocsr(),
        "load_start": load_start,
    }


def _direction_or_explain(place: Place, port: Port, x: Array, dim: int, size: int) -> Any:
    try:
        return direction_shape(port, x, dim, size)
    except ValueError as error:
        raise ValueError(f"port {place.port!r}: {error}") from None


def _at_columns(rows: Any, start: int, width: int) -> Any:
    coo = sparse.coo_array(rows)
    return sparse.coo_array((coo.data, (coo.row, coo.col + start)), shape=(rows.shape[0], width))


def _products(numbering: _Numbering, nodes: int, dim: int) -> dict[str, Any]:
    vectors = list(numbering.vectors)
    incidence = sparse.lil_array((len(vectors), nodes))
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
        "incidence": incidence.tocsr(),
        "vector_fixed": fixed,
        "first": first,
        "second": second,
        "select_first": _selection(first, len(vectors)),
        "select_second": _selection(second, len(vectors)),
    }


def _selection(index: np.ndarray, width: int) -> Any:
    return sparse.csr_array((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), width))


def _inputs(
    bodies: Mapping[str, Body],
    connections: Sequence[Connection],
    numbering: _Numbering,
    nodes: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, slice]]:
    """Maps of all external inputs to node forces, body torques and generalised forces, and their slices by name."""
    dim, s = next(iter(bodies.values())).dim, spins(next(iter(bodies.values())).dim)
    start = np.cumsum([0, *(b.size for b in bodies.values())])
    loads = iter(nodes["load_start"])
    blocks: list[tuple[Any, Any, Any]] = []
    slices, at = {}, 0
    for c in connections:
        if c.input is None:
            continue
        node, spin, shape = _input_blocks(c, bodies, numbering, nodes, loads, start)
        blocks.append((node, spin, shape))
        slices[c.name] = slice(at, at + node.shape[1])
        at += node.shape[1]
    empty = (
        sparse.csr_array((dim * len(nodes["node_body"]), 0)),
        sparse.csr_array((s * len(bodies), 0)),
        sparse.csr_array((int(start[-1]), 0)),
    )
    names = ("input_node", "input_spin", "input_shape")
    stacked = zip(*([empty, *blocks]), strict=True)
    return {k: sparse.hstack(list(v)).tocsr() for k, v in zip(names, stacked, strict=True)}, slices


def _input_blocks(
    c: Connection,
    bodies: Mapping[str, Body],
    numbering: _Numbering,
    nodes: dict[str, Any],
    loads: Any,
    start: Array,
) -> tuple[Any, Any, Any]:
    assert c.input is not None
    dim = next(iter(bodies.values())).dim
    s, k, n = spins(dim), len(nodes["node_body"]), int(start[-1])
    if c.input.kind == "torque":
        index, port = find_port(c.input.port, bodies)
        if port.rotation is None:
            raise ValueError(f"port {c.input.port!r} of a point mass takes no torque")
        spin = sparse.csr_array((np.ones(s), (s * index + np.arange(s), np.arange(s))), shape=(s * len(bodies), s))
        coo = sparse.coo_array(port.rotation.T)
        shape = sparse.csr_array((coo.data, (coo.row + start[index], coo.col)), shape=(n, s))
        return sparse.csr_array((dim * k, s)), spin, shape
    if c.input.kind == "force":
        first, weights = numbering.places[Place(c.input.port)], np.ones(1)
    else:
        _, owner, name = split_port(c.input.port, bodies)
        first, weights = next(loads), owner.loads[name].measures
    columns = np.arange(dim * len(weights))
    rows = dim * first + columns
    node = sparse.csr_array((np.repeat(weights, dim), (rows, columns)), shape=(dim * k, len(columns)))
    return node, sparse.csr_array((s * len(bodies), len(columns))), sparse.csr_array((n, len(columns)))
