"""External forces, torques and distributed loads as maps from the inputs to nodes and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody, NodalLoad
from ...bodies.ports import find_port, frames_of, split_port
from ...joints.rows.connection import Connection
from ...joints.rows.directions import axis
from ...joints.rows.vectors import BodyVector
from ...numerics.factors.low_rank import placed
from ...numerics.rotations import spins


def number_loads(connections: Sequence[Connection], places: dict[BodyVector, int], dim: int) -> list[str]:
    """Number the points of forces and the directions that loads follow; returns the load ports in their order."""
    ports = []
    for given in (c.input for c in connections if c.input is not None):
        if given.kind == "load":
            ports.append(given.port)
        wanted = [BodyVector(given.port)] if given.kind == "force" else []
        if given.follows and (given.kind != "torque" or dim == 3):
            wanted += [BodyVector(given.port, axis(i, dim)) for i in range(dim)]
        for place in wanted:
            places.setdefault(place, len(places))
    return ports


def load_arrays(
    bodies: Mapping[str, AnyBody],
    connections: Sequence[Connection],
    places: Mapping[BodyVector, int],
    nodes: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, slice]]:
    """Maps of all inputs to node forces and section torques, the sections, and the inputs' slices by name."""
    dim = next(iter(bodies.values())).dim
    start = np.cumsum([0, *(b.size for b in frames_of(bodies).values())])
    starts = iter(nodes["load_start"])
    slices: dict[str, slice] = {}
    forces, torques, follow = [], [], []
    at, width = 0, int(start[-1])
    for c in (c for c in connections if c.input is not None):
        assert c.input is not None
        if c.input.kind == "torque":
            torques.append((at, 1.0, *_section(c.input.port, bodies, start)))
            if c.input.against is not None:
                torques.append((at, -1.0, *_section(c.input.against, bodies, start)))
            count = spins(dim)
        else:
            first, weights = _points(c, bodies, places, starts)
            forces.append((at, first, weights))
            count = dim * weights.shape[1]
        if c.input.follows and (c.input.kind != "torque" or dim == 3):
            frame = [places[BodyVector(c.input.port, axis(i, dim))] for i in range(dim)]
            follow += [(first_of_element, frame) for first_of_element in range(at, at + count, dim)]
        slices[c.name] = slice(at, at + count)
        at += count
    s, k = spins(dim), len(nodes["node_body"])
    shapes = [sparse.csr_array((0, width)), *(placed(psi, (0, first), (s, width)) for *_, first, psi in torques)]
    return {
        "input_node": _force_map(forces, dim, k, at),
        "input_torque": _torque_map([(first, sign) for first, sign, *_ in torques], s, at),
        "torque_body": np.array([body for _, _, body, *_ in torques], dtype=int),
        "torque_shape": sparse.csr_array(sparse.vstack(shapes)),
        "follow_input": np.array([i + np.arange(dim) for i, _ in follow], dtype=int).reshape(len(follow), dim),
        "follow_node": np.array([n for _, n in follow], dtype=int).reshape(len(follow), dim),
    }, slices


def _section(name: str, bodies: Mapping[str, AnyBody], start: np.ndarray) -> tuple[int, int, Any]:
    index, port = find_port(name, bodies)
    if port.rotation is None:
        raise ValueError(f"port {name!r} of a point mass takes no torque")
    return index, int(start[index]), port.rotation


def _points(
    c: Connection, bodies: Mapping[str, AnyBody], places: Mapping[BodyVector, int], starts: Any
) -> tuple[int, Any]:
    """First node of a force or load, and forces on its nodes by densities of its elements, sparse (nodes, elements)."""
    assert c.input is not None
    if c.input.kind == "force":
        return places[BodyVector(c.input.port)], sparse.eye_array(1)
    _, owner, name = split_port(c.input.port, bodies)
    load = owner.loads[name]
    return next(starts), load.weights if isinstance(load, NodalLoad) else sparse.diags_array(load.measures)


def _force_map(forces: list[tuple[int, int, Any]], dim: int, nodes: int, inputs: int) -> Any:
    blocks = [
        placed(sparse.kron(weights, sparse.eye_array(dim)), (dim * first, at), (dim * nodes, inputs))
        for at, first, weights in forces
    ]
    return sum(blocks, start=sparse.csr_array((dim * nodes, inputs)))


def _torque_map(starts: list[tuple[int, float]], s: int, inputs: int) -> Any:
    columns = np.array([at + i for at, _ in starts for i in range(s)], dtype=int)
    signs = np.repeat([sign for _, sign in starts], s)
    return sparse.csr_array((signs, (np.arange(columns.size), columns)), shape=(columns.size, inputs))
