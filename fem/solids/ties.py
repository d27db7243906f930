"""Regions of a solid as ports, tied rigidly or by their mean motion, and references that remove the rigid motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from flexph.bodies.body import Port
from flexph.bodies.mean_axes import FILLED
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.ranks import null_space, pivots
from flexph.numerics.rotations import cross, rigid_motions, spins
from flexph.units.arguments import quantities

from ..meshes.regions import Region, region
from .model import SolidModel
from .region_samples import RegionSamples, measured


def referred(model: SolidModel, basis: Any, ports: Mapping[str, TiedPort], reference: str) -> Any:
    """Sparse matrix (n, n') from n' coordinates, which exclude rigid motion, to all n coordinates of a body.

    The ``reference`` removes the rigid motion: a port that is held, or mean_axis. Mean axes of a large body would fill
    the matrices: in such a body d + s single coordinates are held instead, and
    :func:`flexph.bodies.mean_axes.about_mean_axes` adds a low-rank correction. Raises ValueError for an unknown port.
    """
    if reference == "mean_axis":
        if basis.shape[1] > FILLED:
            return without(pins(rigid_coordinates(model, basis)), basis.shape[1])
        return null_space(_mean_motion(model) @ basis)
    return port_held(ports, reference, basis.shape[1])


def port_held(ports: Mapping[str, TiedPort], reference: str, size: int) -> Any:
    """Sparse matrix (size, n) whose columns span the motions of a body with the port ``reference`` at rest.

    It maps n reduced coordinates to all ``size`` coordinates of the body. Raises ValueError for an unknown port.
    """
    port: TiedPort = check.lookup("reference", reference, {"mean_axis": None, **ports})
    if port.rigid:
        return without(np.concatenate([port.shape.indices, port.rotation.indices]), size)
    return null_space(sparse.vstack([port.shape, port.rotation]).tocsr())


def without(coordinates: Array, size: int) -> Any:
    """Columns of the unit matrix, (size, n), of all coordinates except ``coordinates``."""
    return sparse.eye_array(size, format="csr")[:, np.setdiff1d(np.arange(size), coordinates)]


def rigid_coordinates(model: SolidModel, basis: Any) -> Array:
    """Coordinates (n, d + s) of the unit rigid motions of a solid: translations, then rotations.

    Rotations are about the mean of the nodes and divided by the longest side. ``basis`` (N·d, n) are the nodal
    displacements for unit coordinates.
    """
    X = model.mesh.points
    lever = (X - X.mean(axis=0)) / np.ptp(X, axis=0).max()
    return coordinates(basis, rigid_motions(lever).reshape(model.size, -1))


def coordinates(basis: Any, motion: Array) -> Array:
    """Coordinates (n, r) of the displacements ``motion`` (N·d, r), which are in the span of ``basis`` (N·d, n)."""
    solved: Array = splu(sparse.csc_array(basis.T @ basis)).solve(basis.T @ motion)
    return solved


def pins(motion: Array) -> Array:
    """Indices (r,) of coordinates to be fixed at zero so that a body with r rigid motions cannot move rigidly.

    They are pivot rows of the rigid motions ``motion`` (n, r): with large entries, and linearly independent.
    """
    return pivots(motion.T)[: motion.shape[1]]


def _mean_motion(model: SolidModel) -> Array:
    """Matrix (d + s, N·d) from the nodal displacements to the mean displacement and mean rotation of a solid.

    They are ∫ρu over the mass, and ∫ρ(X − c) × u with each row scaled to norm one; c is the centre of mass.
    """
    X, m, d = model.mesh.points, model.mass, model.dim
    whole = np.asarray(m.sum(axis=0)).ravel()
    mass = whole.sum()
    lever = m @ (X - whole @ X / mass)
    turned = np.einsum("aij,nj->ani", cross(d), lever).reshape(spins(d), -1)
    means = np.einsum("n,ij->inj", whole, np.eye(d)).reshape(d, -1)
    return np.vstack([means / mass, turned / np.linalg.norm(turned, axis=1, keepdims=True)])


How = Literal["rigid", "mean"]
MEAN_AXIS = "mean_axis"
Where: TypeAlias = str | int | list[int] | Array | Callable[[Array], Array]


@quantities(at="m")
@checked
@dataclass(frozen=True, eq=False)
class Tie:
    """Tie of a region of a mesh that makes it a port, ``how="rigid"`` or ``"mean"``; by default as the region allows.

    - ``rigid``: all nodes of the region move as one rigid body, which replaces their displacements: the region is
      stiff and has a rigid inertia, and the body has fewer coordinates;
    - ``mean``: the port is the mean motion of the region, which keeps its stiffness: φ the mean displacement, ψ the
      rotation of the best-fitting rigid motion, both weighted by mass (a region of cells), by area (of facets) or
      equally over nodes. A force and a torque are spread over the region. A node, or nodes on a line, rotate with the
      mean ½ curl u of the adjacent cells.

    By default a region that spans an area (in the plane a length) is rigid, another one mean. For a region with
    whole cells ``how`` must be given: ``rigid`` removes the elasticity of these cells.

    Parameters
    ----------
    region : str, callable or sequence of int
        Name in the mesh, node numbers, or a function of positions x (d, N) that is true on the region.
    how : {"rigid", "mean"}, optional
        Kind of the tie, see above.
    at : sequence of float, optional
        Position of the port [m] in the axes of the mesh, for a tie of a solid, such as a point on the axis of a bore:
        it moves by φ + ψ × (at − centre). By default it is the centre of the region, weighted as above.
    weights : sequence of float, optional
        Positive weights of the nodes of a region of a solid in its mean, in place of those above: one for each of the
        node numbers as they are given, for other regions by ascending numbers.
    """

    region: Where
    how: How | None = None
    at: Sequence[float] | None = None
    weights: Sequence[float] | Array | None = None

    def __post_init__(self) -> None:
        if self.how is not None:
            check.choice("how", self.how, get_args(How))
        if self.at is not None:
            place = check.array("at", self.at, (None,))
            if len(place) not in (2, 3):
                raise ValueError(f"at must be a point of the plane or of space [m], got {len(place)} numbers")
            object.__setattr__(self, "at", tuple(float(x) for x in place))
        if self.weights is not None:
            weights = check.array("weights", self.weights, (None,))
            if self.how != "mean" or not (weights > 0.0).all():
                raise ValueError("weights must be positive, and of a tie with how='mean'")
            object.__setattr__(self, "weights", tuple(weights.tolist()))

    def place(self, name: str, centre: Array) -> Array:
        """Position (d,) [m] of the port ``name``: ``at`` of the tie or, by default, the centre of its region."""
        return centre if self.at is None else check.array(f"at of port {name!r}", self.at, centre.shape)


@dataclass(frozen=True, eq=False)
class TiedPort:
    """A port of a solid or plate in all coordinates, before a reference is chosen.

    ``shape`` (d, n) and ``rotation`` (s, n) give its displacement and rotation from the coordinates, ``rigid`` is True
    for a rigid tie. ``rows`` (d + s, N·d) give both from the displacements of the nodes; for a rigid port by the rigid
    motion that fits best. It is None for plates.
    """

    nodes: Array
    position: Array
    rigid: bool
    shape: Any
    rotation: Any
    rows: Any = None

    def in_basis(self, basis: Any) -> Port:
        """Port with its matrices in other coordinates, which ``basis`` maps to the present ones."""
        return Port(self.position, sparse.csr_array(self.shape @ basis), sparse.csr_array(self.rotation @ basis))


def given_ties(ports: Any) -> dict[str, Tie]:
    """Ties by the names of ports: each as given, or made of the region that is given instead of a tie.

    Raises ValueError unless ``ports`` is a mapping, and for a reserved name.
    """
    if not isinstance(ports, Mapping):
        raise ValueError(f"ports must map names to regions, got {type(ports).__name__}")
    if MEAN_AXIS in ports:
        raise ValueError(f"ports must not be named {MEAN_AXIS!r}: this name is a reference")
    return {name: p if isinstance(p, Tie) else Tie(p) for name, p in ports.items()}


def tied(model: SolidModel, ports: Mapping[str, Any]) -> tuple[Any, dict[str, TiedPort]]:
    """Sparse matrix (N·d, n) from free coordinates to nodal displacements, and the ports in these coordinates.

    The coordinates are the displacements of the free nodes, then for each rigid region its displacement and its
    rotation times its radius: all are lengths [m]. Raises ValueError for rigid regions that share nodes, or whose nodes
    lie on a line.
    """
    given = given_ties(ports)
    regions = {name: region(model.mesh, f"port {name!r}", t.region) for name, t in given.items()}
    motions = {name: measured(model, r, _by_number(name, given[name])) for name, r in regions.items()}
    for name, t in given.items():
        refuse_cells(name, t, regions[name], int(model.mesh.starts[-1]))
    rigid = [name for name, t in given.items() if is_rigid(name, t, motions[name])]
    refuse_shared({name: regions[name].nodes for name in rigid})
    places = {name: t.place(name, motions[name].centre) for name, t in given.items()}
    basis, masters = _condensed(model, {name: (regions[name].nodes, places[name]) for name in rigid})
    tied_ports = {}
    for name, r in regions.items():
        is_fixed, d = name in masters, model.dim
        rows = _fitted(model, r.nodes, places[name]) if is_fixed else _mean(model, motions[name], places[name])
        shape, rotation = masters[name] if is_fixed else (rows[:d] @ basis, rows[d:] @ basis)
        shapes = sparse.csr_array(shape), sparse.csr_array(rotation)
        tied_ports[name] = TiedPort(r.nodes, places[name], is_fixed, *shapes, rows)
    return basis, tied_ports


def _by_number(name: str, tie: Tie) -> Sequence[float] | Array | None:
    """Weights of a tie in ascending order of the node numbers of its region; None without weights.

    Raises ValueError for a repeated node, or unless there is one weight for each; ``name`` is the port in messages.
    """
    if tie.weights is None or isinstance(tie.region, str) or callable(tie.region):
        return tie.weights
    numbers, weights = np.atleast_1d(np.asarray(tie.region)), np.asarray(tie.weights)
    if numbers.shape != weights.shape:
        raise ValueError(f"weights must be one for each of the {numbers.size} nodes of the region, got {weights.size}")
    if len(np.unique(numbers)) < numbers.size:
        raise ValueError(f"port {name!r} must have each node once to be weighted, got {numbers.tolist()}")
    return weights[np.argsort(numbers)]


def _mean(model: SolidModel, at: RegionSamples, place: Array) -> Any:
    """Sparse matrix (d + s, N·d) from the nodal displacements to displacement and rotation of a port.

    The port is at the point ``place`` (d,) [m], which moves with the mean motion of a region.
    """
    shape, rotation = at.shape, at.rotation(model)
    lever = place - at.centre
    if lever.any():
        shape = shape + sparse.csr_array(np.einsum("aij,j->ia", cross(model.dim), lever)) @ rotation
    return sparse.vstack([shape, rotation]).tocsr()


def _fitted(model: SolidModel, nodes: Array, place: Array) -> Any:
    """Sparse matrix (d + s, N·d) from nodal displacements to the rigid motion that fits those of ``nodes`` best.

    Its rows are for the displacement of the point ``place`` (d,) [m], then for the rotation.
    """
    lever = model.mesh.points[nodes] - place
    motion = rigid_motions(lever).reshape(lever.size, -1)
    rows = sparse.lil_array((motion.shape[1], model.size))
    rows[:, (model.dim * nodes[:, None] + np.arange(model.dim)).ravel()] = np.linalg.pinv(motion)
    return rows.tocsr()


def refuse_cells(name: str, tie: Tie, r: Region, count: int) -> None:
    """Raise ValueError for a port on whole cells without ``how``: it could make the cells rigid, or be their mean."""
    if tie.how is None and r.kind == "volume":
        raise ValueError(
            f"port {name!r} must be a region of facets or nodes, got {len(r.cells)} of the {count} cells of the mesh: "
            "Tie(region, 'rigid') makes these cells rigid, Tie(region, 'mean') takes their mean motion; the facets of "
            "a surface need a separate name"
        )


def is_rigid(name: str, tie: Tie, at: RegionSamples) -> bool:
    """True if a port is tied rigidly, as requested or, by default, if its region spans an area, in the plane a length.

    Raises ValueError if a rigid tie is requested for nodes on a line or at a point.
    """
    if tie.how == "rigid" and not at.spans:
        where = "at one point" if at.dim == 2 else "on a line"
        raise ValueError(
            f"port {name!r} must have nodes that do not lie {where} to be tied rigidly; Tie(region, 'mean') rotates "
            "with the adjacent cells"
        )
    return at.spans if tie.how is None else tie.how == "rigid"


def refuse_shared(nodes: Mapping[str, Array]) -> None:
    """Raise ValueError if two rigidly tied ports share a node; ``nodes`` are those of each, by port."""
    owner: dict[int, str] = {}
    for name, numbers in nodes.items():
        for n in numbers.tolist():
            if n in owner:
                raise ValueError(
                    f"ports {owner[n]!r} and {name!r} must not share nodes to be tied rigidly, they share node {n}; "
                    "tie one of them by its mean, or make them one port"
                )
            owner[n] = name


def _condensed(model: SolidModel, rigid: Mapping[str, tuple[Array, Array]]) -> tuple[Any, dict[str, tuple[Any, Any]]]:
    """Sparse matrix (N·d, n) from the coordinates of free nodes and rigid regions to nodal displacements.

    ``rigid`` has, by port, the nodes of each rigid region and the position of the port. The second result
    has, by port, the matrices (d, n) and (s, n) from the coordinates to displacement and rotation of the region at the
    port.
    """
    points, d, s = model.mesh.points, model.dim, spins(model.dim)
    held = np.zeros(len(points), dtype=bool)
    for nodes, _ in rigid.values():
        held[nodes] = True
    free = (d * np.flatnonzero(~held)[:, None] + np.arange(d)).ravel()
    size = len(free) + (d + s) * len(rigid)
    entries = [(np.ones(len(free)), free, np.arange(len(free)))]
    radii, at = {}, len(free)
    for name, (nodes, centre) in rigid.items():
        lever = points[nodes] - centre
        radii[name] = float(np.linalg.norm(lever, axis=1).max())
        motion = rigid_motions(lever) / np.repeat([1.0, radii[name]], [d, s])
        rows = (d * nodes[:, None] + np.arange(d)).ravel()
        entries.append((motion.ravel(), np.repeat(rows, d + s), np.tile(at + np.arange(d + s), len(rows))))
        at += d + s
    data, row, column = (np.concatenate(x) for x in zip(*entries, strict=True))
    basis = sparse.coo_array((data, (row, column)), shape=(model.size, size)).tocsr()
    masters = {}
    for k, name in enumerate(rigid):
        masters[name] = rigid_rows(len(free) + (d + s) * k, d, radii[name], size)
    return basis, masters


def rigid_rows(first: int, dim: int, radius: float, size: int) -> tuple[Any, Any]:
    """Sparse matrices (dim, size) and (s, size) from all coordinates to displacement and rotation of a rigid region.

    ``first`` is the index of the first coordinate of the region; its rotation coordinates are rotations times
    ``radius``.
    """

    def rows(start: int, count: int, factor: float) -> Any:
        at = np.arange(count)
        return sparse.csr_array((np.full(count, factor), (at, start + at)), (count, size))

    return rows(first, dim, 1.0), rows(first + dim, spins(dim), 1.0 / radius)
