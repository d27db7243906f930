"""Regions of a plate as ports and supports, and removal of the rigid motion by a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia, contract
from flexph.bodies.mean_axes import FILLED
from flexph.numerics.arrays import Array
from flexph.numerics.factors.sparse_null_space import sparse_null_space
from flexph.numerics.ranks import null_space, singular_vectors

from ..solids.ties import Tie, TiedPort, coordinates, given_ties, pins, port_held, refuse_shared, rigid_rows, without
from .model import PlateModel
from .regions import PlateRegion, centre_of, place_of, samples
from .supports import Support, support_rows

FRAME = "frame"
HELD = 1e-9
"""Ratio of a singular value to the largest one below which a rigid motion is not held."""


def free_coordinates(
    model: PlateModel, ports: Mapping[str, Any], supports: Sequence[Support]
) -> tuple[Any, dict[str, TiedPort]]:
    """Sparse matrix (size, n) from the free coordinates of a plate to all coordinates, and its ports by name.

    The n free coordinates are those that supports and rigid regions leave; the matrices of the ports refer to them.
    """
    given = given_ties(ports)
    for name, t in given.items():
        if t.weights is not None:
            raise ValueError(f"weights of port {name!r} must be left out for a plate, whose means are over areas")
    if supports and FRAME in ports:
        raise ValueError(f"ports must not be named {FRAME!r}: a plate with supports has this port")
    places = {name: place_of(model, f"port {name!r}", t.region) for name, t in given.items()}
    rigid = [name for name, t in given.items() if _is_rigid(name, t, places[name])]
    if isinstance(supports, Support | str):
        raise ValueError(f"supports must be a list of supports, got a single {type(supports).__name__}")
    rows = [support_rows(model, f"support {i}", s) for i, s in enumerate(supports)]
    held = sparse.vstack([sparse.csr_array((0, model.size)), *rows]).tocsr()
    _refuse_tied(model, {name: places[name].nodes for name in rigid}, held)
    motions = {name: rigid_motion(model, places[name].nodes) for name in rigid}
    basis, masters = _condensed(model, held, motions)
    tied_ports = {}
    for name, place in places.items():
        shape, rotation = _mean(model, place)
        if name in masters:
            tied_ports[name] = TiedPort(place.nodes, motions[name][1], True, *masters[name])
        else:
            tied_ports[name] = TiedPort(place.nodes, centre_of(model, place), False, shape @ basis, rotation @ basis)
    if supports:
        none = sparse.csr_array((3, basis.shape[1]))
        tied_ports[FRAME] = TiedPort(np.zeros(0, dtype=int), np.zeros(3), False, none, none)
    return basis, tied_ports


def _is_rigid(name: str, tie: Tie, place: PlateRegion) -> bool:
    several = len(place.nodes) > 1
    if tie.how == "rigid" and not several:
        raise ValueError(
            f"port {name!r} must have several nodes to be tied rigidly; Tie(region, 'mean') takes one node"
        )
    return several if tie.how is None else tie.how == "rigid"


def _refuse_tied(model: PlateModel, rigid: Mapping[str, Array], held: Any) -> None:
    refuse_shared(rigid)
    for name, numbers in rigid.items():
        both = np.intersect1d(_coordinates(model, numbers)[0], held.indices)
        if both.size:
            raise ValueError(f"port {name!r} must not have nodes on a support to be tied rigidly; tie it by its mean")


def _coordinates(model: PlateModel, nodes: Array) -> tuple[Array, Array, Array, Array]:
    """Numbers of all coordinates that belong to given nodes.

    With them come the nodes that are corners of cells, the edges whose middles are among the nodes, and, once more, the
    numbers of the shear-angle coordinates alone.
    """
    corners, edges = nodes[np.isin(nodes, model.corners)], np.flatnonzero(np.isin(model.middles, nodes))
    plane = 2 * nodes[:, None] + np.arange(2)
    shear = model.shearing + plane.ravel() if model.theory == "reissner_mindlin" else np.zeros(0, dtype=int)
    parts = [plane.ravel(), model.at_corners(corners).ravel(), model.at_edges(edges), shear]
    return np.concatenate(parts), corners, edges, shear


def rigid_motion(model: PlateModel, nodes: Array) -> tuple[Any, Array, float]:
    """Six rigid motions v + ω × (x − x̄) of nodes in all coordinates, (size, 6), with their centre and radius.

    x̄ (3,) [m] is the mean of the nodes, the radius [m] their largest distance from it. Columns are for v and for ω
    times the radius.
    """
    _, corners, edges, _ = _coordinates(model, nodes)
    centre = model.mesh.points[nodes].mean(axis=0)
    lever = model.mesh.points[nodes] - centre
    radius, l = float(np.linalg.norm(lever, axis=1).max()), model.length
    motion = sparse.lil_array((model.size, 6))
    motion[2 * nodes, 0], motion[2 * nodes + 1, 1] = 1.0, 1.0
    motion[2 * nodes, 5], motion[2 * nodes + 1, 5] = -lever[:, 1] / radius, lever[:, 0] / radius
    w, x, y = model.at_corners(corners).T
    arms = model.mesh.points[corners] - centre
    motion[w, 2], motion[w, 3], motion[w, 4] = 1.0, arms[:, 1] / radius, -arms[:, 0] / radius
    motion[x, 4], motion[y, 3] = -l / radius, l / radius
    across = model.at_edges(edges)
    motion[across, 3], motion[across, 4] = model.normals[edges, 1] * l / radius, -model.normals[edges, 0] * l / radius
    return motion.tocsr(), np.append(centre, 0.0), radius


def _condensed(
    model: PlateModel, held: Any, motions: Mapping[str, tuple[Any, Array, float]]
) -> tuple[Any, dict[str, tuple[Any, Any]]]:
    """Sparse matrix (size, n) from free coordinates to all coordinates of a plate, and the motion of its rigid regions.

    The n free coordinates are those of free nodes, supported nodes and rigid regions. The second
    result maps each port to the displacement and the rotation of its rigid region, as matrices (3, n) of these.
    ``held`` (k, size) are the combinations that supports hold at zero, ``motions`` the results of :func:`rigid_motion`.
    """
    taken = np.zeros(model.size, dtype=bool)
    supported = np.unique(held.indices)
    taken[supported] = True
    columns = []
    if supported.size:
        local, _ = sparse_null_space(held[:, supported])
        at = sparse.csr_array(
            (np.ones(len(supported)), (supported, np.arange(len(supported)))), (model.size, local.shape[0])
        )
        columns.append(at @ local)
    for motion, _, _ in motions.values():
        taken[np.flatnonzero(np.diff(motion.indptr))] = True
    free = np.flatnonzero(~taken)
    if model.theory == "reissner_mindlin":  # no shear in rigid regions
        sheared = [_coordinates(model, _nodes_of(model, m[0]))[3] for m in motions.values()]
        free = np.setdiff1d(free, np.concatenate([np.zeros(0, dtype=int), *sheared]))
    columns.insert(0, sparse.csr_array((np.ones(len(free)), (free, np.arange(len(free)))), (model.size, len(free))))
    start = sum(c.shape[1] for c in columns)
    basis = sparse.hstack([*columns, *(m[0] for m in motions.values())]).tocsr()
    masters = {}
    for k, (name, (_, _, radius)) in enumerate(motions.items()):
        masters[name] = rigid_rows(start + 6 * k, 3, radius, basis.shape[1])
    return basis, masters


def _nodes_of(model: PlateModel, motion: Any) -> Array:
    """Nodes of a rigid region: those that its ``motion`` (size, 6) moves in the plane."""
    moved = np.flatnonzero(np.diff(motion.indptr))
    return np.unique(moved[moved < model.bending] // 2)


def _mean(model: PlateModel, place: PlateRegion) -> tuple[Any, Any]:
    """Sparse matrices (3, size) from all coordinates to the mean displacement and the mean rotation of a region.

    The rotation out of the plane is the mean rotation of the normals. In the plane it is that of the best-fitting rigid
    motion, for a single node the mean ½ curl u of its adjacent cells.
    """
    parts, centre = samples(model, place), centre_of(model, place)[:2]
    total = sum(w.sum() for *_, w in parts)
    shape, turn = sparse.csr_array((3, model.size)), sparse.csr_array((2, model.size))
    spin, second = sparse.csr_array((1, model.size)), 0.0
    for b, cells, points, weights in parts:
        if not len(cells):
            continue
        fields, w = model.sampled(b, cells, points), weights.ravel() / total
        mean = sparse.csr_array(w[None, :])
        shape = shape + sparse.vstack([mean @ fields.x, mean @ fields.y, mean @ fields.w])
        turn = turn + sparse.vstack([mean @ fields.turn[1], -(mean @ fields.turn[0])])
        lever = points.reshape(-1, 2) - centre
        spin = spin + sparse.csr_array((w * lever[:, 0])[None, :]) @ fields.y
        spin = spin - sparse.csr_array((w * lever[:, 1])[None, :]) @ fields.x
        second += float(w @ (lever**2).sum(axis=1))
    if len(place.nodes) > 1:
        return shape, sparse.vstack([turn, spin / second]).tocsr()
    touching = np.concatenate([np.isin(b.nodes, place.nodes).any(axis=1) for b in model.mesh.blocks])
    return shape, sparse.vstack([turn, model.drilling(np.flatnonzero(touching), together=True)]).tocsr()


def without_rigid_motion(
    model: PlateModel, basis: Any, ports: Mapping[str, TiedPort], *, inertia: Inertia, reference: str | None, held: bool
) -> Any:
    """Sparse matrix (n, n') from coordinates without rigid motion to the free coordinates of a plate.

    If ``held``, supports remove the rigid motion, otherwise the ``reference``: a port that is held, or mean_axis, also
    for None. For mean axes of a large plate see :func:`fem.solids.ties.referred`. Raises ValueError for supports that
    leave a rigid motion, and for supports with a reference.
    """
    if held:
        if reference is not None:
            raise ValueError(
                f"reference must not be given for a plate with supports, which already hold it, got {reference!r}"
            )
        _refuse_loose(model, basis)
        return sparse.eye_array(basis.shape[1], format="csr")
    if reference in (None, "mean_axis"):
        if basis.shape[1] > FILLED:
            motion = rigid_motion(model, np.arange(len(model.mesh.points)))[0].toarray()
            motion = coordinates(basis, motion / np.abs(motion).max(axis=0))
            return without(pins(motion), basis.shape[1])
        turns = contract(inertia, about_centre=True).n
        turns = turns / np.linalg.norm(turns, axis=1, keepdims=True)
        return null_space(np.vstack([inertia.shape_first / inertia.mass, turns]) @ basis)
    return port_held(ports, str(reference), basis.shape[1])


def _refuse_loose(model: PlateModel, basis: Any) -> None:
    """Raise ValueError if supports leave a rigid motion free, that is, if one lies in the span of ``basis``."""
    motion = rigid_motion(model, np.arange(len(model.mesh.points)))[0].toarray()
    fit = sparse.linalg.splu(sparse.csc_array(basis.T @ basis))
    off = motion - basis @ fit.solve(np.asarray(basis.T @ motion))
    held = singular_vectors(off, tolerance=HELD, size=float(np.linalg.norm(motion)), economy=True).rank
    if loose := off.shape[1] - held:
        raise ValueError(f"supports must hold all six rigid motions of the plate, {loose} are left free")
