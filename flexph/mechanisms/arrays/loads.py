"""Points of bodies at which joints and loads act, and load maps from inputs to nodes and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.body import Body, NodalLoad, Port
from ...bodies.nodal_body import AnyBody, NodalBody
from ...bodies.ports import find_place, find_port, frames_of, slope_of, split_port, weights_of
from ...joints.rows.connection import Connection, Input
from ...joints.rows.vectors import BodyVector, axis
from ...kernels.faces import Faces
from ...numerics import checks as check
from ...numerics.arrays import Array, no_entries, sparse_blocks, stacked, widened
from ...numerics.factors.low_rank import placed
from ...numerics.rotations import cross, spins
from .nodal import MeanPoint


def place_arrays(bodies: Mapping[str, AnyBody], places: Sequence[BodyVector], loads: Sequence[Input]) -> dict[str, Any]:
    """Arrays of the points and section directions on which joints and loads act: their bodies, positions and shapes.

    The points and directions ``places`` of joints come first. Then each load port has its points, and also d axes for
    each point if the load turns with several frames of its body. Points that are means of nodes are listed as
    ``means``; in the other arrays they are zero vectors that do not move.
    """
    owned = list(frames_of(bodies).values())
    dim = owned[0].dim
    start = np.cumsum([0, *(b.size for b in owned)])
    body: list[int] = []
    moves, position, shapes = [], [], []
    means: list[MeanPoint] = []
    for place in places:
        index, port = find_place(place.port, bodies)
        if place.direction is None:
            weights = weights_of(place.port, bodies)
        else:
            weights = slope_of(place.port, np.array(place.direction), bodies)
        if weights is not None and place.offset is not None:
            raise ValueError(f"port {place.port!r}: shapes off a port need a section, and a mean of nodes has none")
        if weights is not None:
            means.append(MeanPoint(len(body), index, weights))
            x, shape = np.zeros(dim), port.shape
        elif place.direction is None:
            x, shape = port.position - owned[index].inertia.centre, port.shape
            if place.offset is not None:
                x = x + place.offset
                shape = shape + _direction_or_explain(place, port, np.array(place.offset))
        else:
            x = np.array(place.direction)
            shape = _direction_or_explain(place, port, x)
        body.append(index)
        moves.append(float(place.direction is None and weights is None))
        position.append(x)
        shapes.append(widened(shape, start[index], start[-1]))
    load_start = []
    for given in loads:
        index, owner, port_name = split_port(given.port, bodies)
        load = check.lookup("load port", port_name, owner.loads, given.port.partition(".")[0])
        load_start.append(len(body))
        nodes = load.nodes if isinstance(load, NodalLoad) else np.zeros(len(load.positions), dtype=int)
        body += (index + nodes).tolist()
        moves += [1.0] * len(nodes)
        position += list(load.positions - np.array([node.centre for node in owner.frames])[nodes])
        shape = no_entries(load.positions.size, 0) if load.shapes is None else load.shapes
        shapes.append(widened(shape, start[index], start[-1]))
        if given.follows and isinstance(load, NodalLoad):
            axes = _axes_of(given.port, owner, load)
            body += np.repeat(index + nodes, dim).tolist()
            moves += [0.0] * axes.shape[0]
            position += list(axes)
            shapes.append(no_entries(axes.size, int(start[-1])))
    return {
        "node_body": np.array(body, dtype=int),
        "node_moves": np.array(moves),
        "node_position": np.array(position).reshape(len(body), dim),
        "node_shape": stacked(shapes, int(start[-1])),
        "load_start": load_start,
        "means": means,
    }


def _axes_of(name: str, owner: AnyBody, load: NodalLoad) -> Array:
    """Axes of the frames with which a load turns, d for each of its p points, (p·d, d).

    For rods they are the axes of the sections. Raises ValueError if the body has no frames that turn with it at these
    points.
    """
    d, axes = owner.dim, np.tile(np.eye(owner.dim), (len(load.nodes), 1, 1))
    if load.weights.shape[0] != load.weights.shape[1] or not all(owner.frames[i].turns for i in load.nodes):
        raise ValueError(
            f"load {name!r} cannot follow its body, which has no frames that turn with it: use axes='world'"
        )
    if isinstance(owner, NodalBody):
        axes = owner.directors[load.nodes]
    return np.swapaxes(axes, 1, 2).reshape(-1, d)


def _direction_or_explain(place: BodyVector, port: Port, x: Array) -> Any:
    try:
        return direction_shape(port, x)
    except ValueError as error:
        raise ValueError(f"port {place.port!r}: {error}") from None


def direction_shape(port: Port, direction: Array) -> Any:
    """Derivative (d, n) of a direction fixed in the section at a port with respect to the deformation u of its body.

    The direction is n + (ψu) × n in body axes, with ``direction`` n (d,) in the undeformed body and ψ the mode shapes
    of the rotation at the port. The result is sparse. Raises ValueError for the port of a point mass, which has no
    rotation.
    """
    if port.rotation is None:
        raise ValueError(
            "a point mass has no direction: constrain its position only, by a hinge in the plane, a spherical joint in "
            "space, a distance or slider(..., turning=True), or use a body with inertia"
        )
    if not port.rotation.shape[1]:
        return no_entries(direction.size, 0)
    turned = np.einsum("aij,j->ia", cross(direction.size), direction)
    return sparse.csr_array(turned) @ port.rotation


def number_loads(
    connections: Sequence[Connection], places: dict[BodyVector, int], bodies: Mapping[str, AnyBody]
) -> list[Input]:
    """Number the points on which forces act, and the section axes with which forces and loads turn.

    New points and axes are added to ``places``, which maps them to their numbers. Returns the inputs on load ports; the
    points of these are numbered later.
    """
    ports, dim = [], next(iter(bodies.values())).dim
    for given in (c.input for c in connections if c.input is not None):
        if given.kind == "load":
            ports.append(given)
        wanted = [BodyVector(given.port)] if given.kind == "force" else []
        if given.follows and (given.kind != "torque" or dim == 3) and not _by_frame(given, bodies):
            wanted += [BodyVector(given.port, axis(i, dim)) for i in range(dim)]
        for place in wanted:
            places.setdefault(place, len(places))
    return ports


def _by_frame(given: Input, bodies: Mapping[str, AnyBody]) -> bool:
    """True for an input of kind ``load`` on a body of several frames (a nodal body)."""
    return given.kind == "load" and not isinstance(split_port(given.port, bodies)[1], Body)


def load_arrays(
    bodies: Mapping[str, AnyBody],
    connections: Sequence[Connection],
    places: Mapping[BodyVector, int],
    nodes: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, slice]]:
    """Fields of the kernel arrays that map the inputs to node forces and section torques, and the slices of the inputs.

    Torques have the index, rotation and sign of their sections. The second value maps the names of connections to the
    slices of their inputs; the names of bodies whose mass is an input follow.
    """
    dim = next(iter(bodies.values())).dim
    start = np.cumsum([0, *(b.size for b in frames_of(bodies).values())])
    starts = iter(nodes["load_start"])
    slices: dict[str, slice] = {}
    forces, torques, follow = [], [], []
    at, width = 0, int(start[-1])
    for c in (c for c in connections if c.input is not None):
        assert c.input is not None
        if c.input.kind == "face":
            count = dim * loaded_faces(c.input.port, bodies)[1].measures.size
        elif c.input.kind == "torque":
            torques.append((at, 1.0, *_section(c.input.port, bodies, start)))
            if c.input.against is not None:
                torques.append((at, -1.0, *_section(c.input.against, bodies, start)))
            count = spins(dim)
        elif c.input.kind in ("along", "factor", "speed"):
            count = 1  # force along a curve, whose arrays hold its point, factor of a law, or speed of a belt
        else:
            first, weights = _points(c, bodies, places, starts)
            forces.append((at, first, weights))
            count = dim * (1 if weights is None else weights.shape[1])
        if c.input.follows and _by_frame(c.input, bodies):
            products = first + weights.shape[0] + np.arange(count).reshape(-1, dim)
            follow += [(at + dim * i, axes.tolist()) for i, axes in enumerate(products)]
        elif c.input.follows and (c.input.kind != "torque" or dim == 3):
            frame = [places[BodyVector(c.input.port, axis(i, dim))] for i in range(dim)]
            follow += [(first_of_element, frame) for first_of_element in range(at, at + count, dim)]
        slices[c.name] = slice(at, at + count)
        at += count
    for name in (name for name, body in bodies.items() if body.mass_factor == "input"):
        if name in slices:
            raise ValueError(f"load {name!r} must have another name: it is that of the input of the mass of a body")
        slices[name] = slice(at, at + 1)
        at += 1
    s, k = spins(dim), len(nodes["node_body"])
    shapes = [widened(psi, first, width) for *_, first, psi in torques]
    return {
        "input_node": _force_map(forces, dim, k, at),
        "input_torque": _torque_map([(first, sign) for first, sign, *_ in torques], s, at),
        "torque_body": np.array([body for _, _, body, *_ in torques], dtype=int),
        "torque_shape": stacked(shapes, width),
        "follow_input": np.array([i + np.arange(dim) for i, _ in follow], dtype=int).reshape(len(follow), dim),
        "follow_node": np.array([n for _, n in follow], dtype=int).reshape(len(follow), dim),
    }, slices


def _section(name: str, bodies: Mapping[str, AnyBody], start: np.ndarray) -> tuple[int, int, Any]:
    index, port = find_port(name, bodies)
    if port.rotation is None:
        raise ValueError(f"port {name!r} belongs to a point mass, which has no rotation and cannot carry a torque")
    return index, int(start[index]), port.rotation


def _points(
    c: Connection, bodies: Mapping[str, AnyBody], places: Mapping[BodyVector, int], starts: Any
) -> tuple[int, Any]:
    """Index of the first node of a force or load, and the sparse map (nodes, elements) of its densities to node forces.

    The map is None for a force at a point. ``starts`` yields the first node of each load port in succession.
    """
    assert c.input is not None
    if c.input.kind == "force":
        return places[BodyVector(c.input.port)], None
    _, owner, name = split_port(c.input.port, bodies)
    load = owner.loads[name]
    return next(starts), load.weights if isinstance(load, NodalLoad) else sparse.diags_array(load.measures)


def _force_map(forces: list[tuple[int, int, Any]], dim: int, nodes: int, inputs: int) -> Any:
    """Map (dim · nodes, inputs) from all inputs to the forces on the nodes.

    ``forces`` gives for each force or load the index of its first input, that of its first node, and its weights
    (nodes, elements), which are the same for each component; None for a force at a point.
    """
    axes = np.eye(dim)
    blocks = [
        (dim * first, at, axes if weights is None else sparse.kron(weights, axes, format="coo"))
        for at, first, weights in forces
    ]
    return sparse_blocks((dim * nodes, inputs), blocks)


def _torque_map(starts: list[tuple[int, float]], s: int, inputs: int) -> Any:
    if not starts:
        return no_entries(0, inputs)
    columns = np.array([at + i for at, _ in starts for i in range(s)], dtype=int)
    signs = np.repeat([sign for _, sign in starts], s)
    return sparse.csr_array((signs, (np.arange(columns.size), columns)), shape=(columns.size, inputs))


def loaded_faces(name: str, bodies: Mapping[str, AnyBody]) -> tuple[NodalBody, NodalLoad]:
    """Body and load port of a load whose forces turn with the faces of a surface.

    ``name`` is ``body.port``. Raises ValueError unless the port is on the surface of a nodal body whose faces deform.
    """
    _, owner, port_name = split_port(name, bodies)
    load = check.lookup("load port", port_name, owner.loads, name.partition(".")[0])
    if not isinstance(owner, NodalBody) or load.faces is None:
        raise ValueError(
            f"load {name!r} must be on a surface of a solid of finite strain for axes='face': for other bodies use "
            "axes='world', or axes='body' and the normals of the load port"
        )
    return owner, load


def face_arrays(
    bodies: Mapping[str, AnyBody], connections: Sequence[Connection], slices: Mapping[str, slice], first: int
) -> Faces | None:
    """Kernel arrays of the quadrature points of all loads that follow faces; None if there are none.

    ``slices`` are the inputs by name; ``first`` is the number of points of joints and loads, which precede those of
    nodes.
    """
    given = [c for c in connections if c.input is not None and c.input.kind == "face"]
    if not given:
        return None
    starts, width = {}, first
    for name, body in bodies.items():
        if isinstance(body, NodalBody):
            starts[name], width = width, width + body.elasticity.vectors.shape[1]
    parts: list[tuple[Any, ...]] = []
    for c in given:
        assert c.input is not None
        owner, load = loaded_faces(c.input.port, bodies)
        assert load.faces is not None
        start = starts[c.input.port.partition(".")[0]]
        rows = [placed(x, (0, start), (x.shape[0], width)) for x in load.faces[:3]]
        inputs = slices[c.name].start + owner.dim * load.faces.element[:, None] + np.arange(owner.dim)
        parts.append((*rows, load.faces.areas, inputs))
    points, along, across, areas, inputs = zip(*parts, strict=True)
    points, along, across = (sparse.csr_array(sparse.vstack(rows)) for rows in (points, along, across))
    return Faces(points, along, across, np.concatenate(areas), np.vstack(inputs))
