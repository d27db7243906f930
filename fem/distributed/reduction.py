"""Reduction of solids whose cells are distributed over ranks, by static responses, inertia relief and modes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.bodies.basis import port_names
from flexph.bodies.body import Body
from flexph.bodies.fields import View
from flexph.bodies.held_body import SILENT, UNLOADED, principal
from flexph.bodies.inertia import Inertia, square_of
from flexph.bodies.mean_axes import about_mean_axes
from flexph.bodies.reduced_body import condensed_elasticity
from flexph.meshes.drawings.drawing import MeshRequest
from flexph.numerics import checks as check
from flexph.numerics.arguments import one_thread, warn
from flexph.numerics.arrays import Array
from flexph.numerics.factors.ldl import divided_by_factors, ldl, without_round_off
from flexph.numerics.rotations import cross
from flexph.numerics.subspaces import DEFLATION

from ..materials.damping import Damping
from ..meshes.drawing import drawing
from ..solids.inertia import solid_inertia
from ..solids.model import SolidModel
from ..solids.reading import Shape, read_solid
from ..solids.solid import watched_turns
from ..solids.ties import TiedPort, pins, rigid_coordinates, tied
from ..solids.view import shape_view, solid_view
from .partition import Partition, RankShare, cut, linear_coordinates
from .ranks import return_free_memory, total
from .solvers import CROSSOVER, Solver, lowest_modes, prepared, responses
from .system import System, assembled

MEAN_AXIS = "mean_axis"


@dataclass(frozen=True)
class ReductionOptions:
    """Options of a reduction.

    ``modes`` is the number of modes, ``static`` the ports with static responses; ``inertia`` adds inertia relief.
    ``fields`` says what the reduced body can show: none, shape or stresses. ``solver`` None selects a solver by the
    size of the solid.
    """

    modes: int = 12
    static: Sequence[str] = ()
    inertia: bool = False
    fields: str = "shape"
    solver: Solver | None = None


class Solid(NamedTuple):
    """The whole solid, on rank 0: its model, ports and partition.

    ``basis`` (N·d, n) are the displacements of the N nodes for unit values of the n coordinates of the solid. The
    matrices of the ``ports`` refer to these coordinates.
    """

    model: SolidModel
    basis: Any
    ports: Mapping[str, TiedPort]
    partition: Partition


class Reduction(NamedTuple):
    """Reduced body, number of coordinates of the full body, and time [s] of each stage."""

    body: Body
    size: int
    stages: Mapping[str, float]


def reduce_distributed(
    comm: Any, mesh: Any, material: Any, *, ports: Mapping[str, Any], choices: ReductionOptions, **shape: Any
) -> Reduction | None:
    """Reduce a :func:`fem.solid` on all ranks as :func:`flexph.bodies.reduce_body` does; None on ranks other than 0.

    Rank 0 reads ``mesh`` and ``material``. ``ports`` are regions by the names of the ports, and ``choices`` says which
    modes and static responses to keep. ``shape`` has the arguments reference (mean_axis or a rigidly tied port),
    degree, plane, thickness, omit, select, unit and temperature of :func:`fem.solid`. Raises as these functions do, on
    the rank concerned.
    """
    stages: dict[str, float] = {}
    reference = shape.pop("reference", MEAN_AXIS)
    timed = partial(_timed, stages)
    with one_thread():
        solid, shares = None, None
        with timed("mesh and parts"):
            if comm.rank == 0:
                solid, shares = _shares(comm.size, mesh, material, (ports, reference), choices, shape)
            share: RankShare = comm.scatter(shares)
        with timed("matrices"):
            mean = reference == MEAN_AXIS
            system = assembled(comm, share, mean=mean)
            return_free_memory()
        vectors = _vectors(system, share, choices, timed)
        with timed("integrals and fields"):
            body = _body(system, solid, vectors, fields=choices.fields)
            body = about_mean_axes(body) if body is not None and mean and body.size else body
        size = int(share.starts[-1]) - int(total(comm, np.array(float(share.held.sum()))))
    return None if body is None else Reduction(body, size, stages)


@contextmanager
def _timed(stages: dict[str, float], stage: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    stages[stage] = time.perf_counter() - begin


def _shares(
    count: int, mesh: Any, material: Any, ties: tuple[Mapping[str, Any], str], choices: ReductionOptions, shape: Any
) -> tuple[Solid, list[RankShare]]:
    """Read and partition the solid; return it, for rank 0, and the data for each of the ``count`` ranks.

    ``ties`` are the regions of the ports by name, and the reference. Raises ValueError for what cannot be reduced under
    MPI, such as masses at nodes.
    """
    request = MeshRequest(**{name: shape.pop(name, None) for name in ("select", "unit", "temperature")})
    form = Shape(**{name: shape.pop(name, None) for name in ("degree", "plane", "thickness")})
    model, given, damping = read_solid(mesh, material, form, ports=ties[0], request=request, **shape)
    if damping != Damping():
        warn("the damping of the file is left out of a reduction under MPI")
    if model.lumped is not None:
        raise ValueError("mesh must have no masses at nodes for a reduction under MPI: leave them out by omit=")
    basis, ports = tied(model, given)
    for name in (static := port_names(choices.static)):
        check.lookup("port", name, ports)
    rigid = rigid_coordinates(model, basis)
    held = np.zeros((basis.shape[1], 1), dtype=bool)
    held[_held_coordinates(ports, ties[1], rigid)] = True
    if check.count("modes", choices.modes, 0) > (free := int(np.sum(~held))):
        raise ValueError(f"modes must be at most the {free} flexible coordinates of the body, got {choices.modes}")
    rows = [r.toarray() for name in static for r in (ports[name].shape, ports[name].rotation)]
    loads = np.vstack([np.zeros((0, basis.shape[1])), *rows]).T
    free_of_motion = held if ties[1] != MEAN_AXIS else np.zeros_like(held)  # loads on pins are balanced by inertia
    loads = loads[:, np.any((loads != 0.0) & ~free_of_motion, axis=0)]
    partition = cut(model, basis, count)
    model = replace(model, mesh=replace(model.mesh))  # without the cached data of the checks
    linear = linear_coordinates(model, basis)[:, None]
    split = [partition.split(each) for each in (held, linear, rigid, loads)]
    shares = [
        RankShare(part, partition.starts, held[:, 0], linear[:, 0], rigid, loads)
        for part, held, linear, rigid, loads in zip(partition.parts, *split, strict=True)
    ]
    return Solid(model, basis, ports, replace(partition, parts=())), shares


def _held_coordinates(ports: Mapping[str, TiedPort], reference: str, rigid: Array) -> Array:
    """Indices of the coordinates to hold, so that the body cannot move rigidly.

    They are the coordinates of the port that is the ``reference``. For ``mean_axis`` there is one for each of
    the rigid motions ``rigid`` (n, r). Raises ValueError for a reference port that is not tied rigidly.
    """
    port = check.lookup("reference", reference, {MEAN_AXIS: None, **ports})
    if port is None:
        return pins(rigid)
    if not port.rigid:
        raise ValueError(
            f"reference must be mean_axis or a port that is tied rigidly for a reduction under MPI, {reference!r} is a "
            "mean of nodes that lie on a line or at one point"
        )
    return np.concatenate([port.shape.indices, port.rotation.indices])


def _vectors(system: System, share: RankShare, choices: ReductionOptions, timed: Any) -> Array:
    """Basis T (own, k) of the deformation: Ritz vectors of the static responses and the lowest modes."""
    raw = np.hstack(_responses_and_modes(system, share, choices, timed))
    mass = float(total(system.comm, np.array(share.part.model.mass.sum())))
    return ritz(system, raw, mass)


def _responses_and_modes(
    system: System, share: RankShare, choices: ReductionOptions, timed: Any
) -> tuple[Array, Array]:
    """Static responses (own, k) and lowest modes (own, m), by a factorisation or by multigrid.

    ``timed`` measures the time of each stage.
    """
    size = int(share.starts[-1])
    solver: Solver = choices.solver or ("factor" if size < CROSSOVER else "multigrid")
    with timed("factor" if solver == "factor" else "multigrid"):
        search = prepared(system, solver)
    with timed("static responses"):
        loads = [share.loads, inertia_loads(system)] if choices.inertia else [share.loads]
        static = responses(search, np.hstack(loads))
    with timed("modes"):
        modes = lowest_modes(search, choices.modes)
    search.ksp.destroy()  # Python does not count references that PETSc holds
    return_free_memory()
    return static, modes


def _body(system: System, solid: Solid | None, vectors: Array, *, fields: str) -> Body | None:
    """Reduced body on rank 0, whose coordinates û give the deformation u = T û; None on other ranks.

    ``vectors`` are the rows (own, k) of T. The body frame moves with the same reference as before the reduction.
    """
    comm, part, k = system.comm, system.part, vectors.shape[1]
    nodal = system.displacements(vectors)
    inertia = _summed(comm, solid_inertia(part.model, nodal))
    L, d = ldl("TᵀKT of the basis, which must not deform without stress,", system.energies(vectors))
    stresses = None
    if fields == "stresses" and k:
        factors = divided_by_factors(np.eye(k), L, d)
        stresses = comm.gather((part.cells, system.elasticity(vectors).stress_basis(factors) @ np.eye(k)))
    gathered = comm.gather(vectors)
    if solid is None:
        return None
    T = solid.partition.joined(gathered)
    return Body(
        inertia=inertia,
        elasticity=condensed_elasticity(L, d) if k else None,
        ports={name: port.in_basis(T) for name, port in solid.ports.items()},
        view=None if fields == "none" else _view(solid, T, stresses),
        section_rotation=watched_turns(solid.model, solid.basis @ T) if k else None,
    )


def _view(solid: Solid, T: Array, stresses: list[tuple[Array, Array]] | None) -> View:
    """View of the reduced body on rank 0, with displacements from the basis T (n, k).

    ``stresses`` has from each rank the numbers of its cells and the stresses at their stress points for unit reduced
    coordinates; None leaves stresses out.
    """
    model, shapes = solid.model, sparse.csr_array(solid.basis @ T)
    if stresses is None:
        return shape_view(model, drawing(model.mesh), shapes)
    view = solid_view(model, shapes)
    S = np.empty((model.components * len(model.weights), T.shape[1]))
    rows = S.reshape(len(model.weights), -1)
    for cells, values in stresses:
        rows[np.isin(model.cell_of_point, cells)] = values.reshape(-1, rows.shape[1])
    return replace(view, tensors={name: field.in_basis(S) for name, field in view.tensors.items()})


def _summed(comm: Any, inertia: Inertia) -> Inertia:
    """Mass integrals of the whole body: the sum of those of the cells of each rank.

    Entries of ``shape_pair`` that are zero to round-off become zero. The terms of the rotation of sections are zero.
    """
    d, s = inertia.dim, len(inertia.spin)
    pair = total(comm, np.array([[form.toarray() for form in row] for row in inertia.shape_pair]))
    size = np.sqrt(np.einsum("iikk->k", pair))
    return Inertia(
        mass=float(total(comm, np.array(inertia.mass))),
        first=total(comm, inertia.first),
        second=total(comm, inertia.second),
        shape_first=total(comm, inertia.shape_first),
        shape_lever=total(comm, inertia.shape_lever),
        shape_pair=tuple(tuple(without_round_off(pair[i, j], size, size) for j in range(d)) for i in range(d)),
        spin=np.zeros((s, s)),
        spin_shape=np.zeros((s, inertia.size)),
        spin_pair=sparse.csr_array((inertia.size, inertia.size)),
    )


class Moments(NamedTuple):
    """Moments of mass of the undeformed body and of its coordinates, with Y = (1, X), X (d,) the positions.

    ``whole`` is ∫ρYYᵀ, (1 + d, 1 + d). ``loads`` is ∫ρφ_i Yᵀ, (own, d, 1 + d), φ_i the displacements for a unit of
    coordinate i.
    """

    whole: Array
    loads: Array


def moments(system: System) -> Moments:
    """Moments of mass of the undeformed body, summed over all ranks, and of the coordinates that this rank owns."""
    mesh, mass, d = system.part.model.mesh, system.part.model.mass, system.part.model.dim
    fields = np.hstack([np.ones((len(mesh.points), 1)), mesh.points])
    heavy = mass @ fields
    nodal = np.einsum("nl,ij->nijl", heavy, np.eye(d)).reshape(d * len(heavy), -1)
    return Moments(total(system.comm, fields.T @ heavy), system.loads(nodal).reshape(-1, d, 1 + d))


def inertia_loads(system: System) -> Array:
    """Inertia loads (own, k) of unit rigid motions, without those that are zero to round-off.

    The motions are accelerations along and about each axis, and products of two spins (centrifugal loads). See
    :func:`flexph.bodies.held_body.inertia_forces`.
    """
    given = moments(system)
    d = system.part.model.dim
    lever, second = given.loads[:, :, 1:], given.whole[1:, 1:]
    basis = cross(d)
    square = square_of(basis)
    a, b = np.triu_indices(len(basis))
    turns = np.einsum("aij,nij->na", basis, lever)
    spun = np.einsum("abij,nij->nab", square, lever)[:, a, b]
    loads = np.hstack([given.loads[:, :, 0], turns, spun])
    squares = [
        np.full(d, given.whole[0, 0]),
        np.einsum("aaij,ij->a", square, second),
        np.full(a.size, np.trace(second)),
    ]
    most = np.sqrt(np.concatenate(squares))
    size = np.sqrt(system.mass.getDiagonal().array / system.unit)[:, None]
    loaded = np.any(np.abs(system.balanced(loads)) > UNLOADED * most * size, axis=0)
    return loads[:, total(system.comm, loaded) > 0.0]


def orthonormal(system: System, vectors: Array) -> Array:
    """Basis Q (own, k) of the span of ``vectors`` (own, m) with QᵀMQ = 1.

    The method is that of :func:`flexph.numerics.subspaces.orthonormal`.
    """
    basis = np.zeros((len(vectors), 0))
    heavy = basis
    for vector in vectors.T[:, :, None]:
        before = float(np.sqrt(system.inner(vector, system.heavy(vector))[0, 0]))
        if not before > 0.0:
            continue
        left = vector / before
        for _ in range(2):
            left = left - basis @ system.inner(heavy, left)
        weighted = system.heavy(left)
        size = float(np.sqrt(max(system.inner(left, weighted)[0, 0], 0.0)))
        if size > DEFLATION:
            basis, heavy = np.hstack([basis, left / size]), np.hstack([heavy, weighted / size])
    return basis


def ritz(system: System, vectors: Array, mass: float) -> Array:
    """Ritz vectors T with the span of ``vectors``, TᵀMT = m 1 and TᵀKT diagonal; m is the mass of the body.

    The method is that of :meth:`flexph.bodies.held_body.HeldBody.ritz`.
    """
    basis = orthonormal(system, vectors)
    if not basis.shape[1]:
        return basis
    basis = basis @ principal(system.energies(basis))
    place = np.abs(basis).argmax(axis=0)
    largest_here = basis[place, np.arange(basis.shape[1])]
    every = np.array(system.comm.allgather(largest_here))
    largest = every[np.abs(every).argmax(axis=0), np.arange(len(largest_here))]
    basis = np.where(np.abs(basis) > SILENT * np.abs(largest), basis, 0.0)
    result: Array = np.sign(largest) * np.sqrt(mass * system.unit) * basis
    return result
