"""Solids and plane bodies of finite strain: mass points and rigid regions that move in the world, Green's strain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, NodalLoad, Port
from flexph.bodies.inertia import rigid_inertia
from flexph.bodies.nodal_body import DirectorStrain, NodalBody, PointLaw, strain_places
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array, no_entries
from flexph.numerics.rotations import spins

from ..materials.damping import Damping
from ..materials.strain_laws import stored_energy
from ..meshes.regions import region
from .loads import face_samples, load_ports, loaded_elements, loaded_region
from .model import TERMS, SolidModel, block_diagonal
from .region_samples import measured
from .ties import given_ties, is_rigid, refuse_cells, refuse_shared
from .view import current_tensors, finite_view


def finite_solid(
    model: SolidModel, ports: Mapping[str, Any], loads: Mapping[str, Any], damping: Damping, law: Any = None
) -> NodalBody:
    """Body of finite strain on a mesh, whose nodes move in the world.

    Its nodes are first the rigid regions, then all other mesh nodes, as points. ``law`` is a stored energy, or one for
    each material, instead of linear elasticity.
    """
    nodes = _nodes(model, ports)
    places = np.vstack([nodes.origins, model.mesh.points[nodes.free]])
    shape = no_entries(model.dim, 0)
    frames, laws = _rigid_frames(model, nodes), point_laws(model, law)
    masses = lumped_masses(model)
    for number, mass in zip(nodes.free.tolist(), masses[nodes.free], strict=True):
        own_ports = {
            name: Port(np.zeros(model.dim), shape, None) for name, node in nodes.points.items() if node == number
        }
        inertia = rigid_inertia(
            mass, np.zeros(model.dim), np.zeros((model.dim,) * 2), np.zeros((spins(model.dim),) * 2)
        )
        frames.append(Body(inertia, own_ports, turns=False))
    return NodalBody(
        frames=tuple(frames),
        places=places,
        elasticity=_green_strain(model, nodes, places, (damping, laws)),
        elements=np.zeros((0, 2), dtype=int),
        directors=np.zeros((0, model.dim, model.dim)),
        view=finite_view(model, _weights(model, nodes), laws),
        current=current_tensors(model, laws),
        loads=load_ports(_load, model, (nodes, places), loads),
    )


class _Nodes:
    """Nodes of a body of finite strain, and the mesh nodes that they move.

    They are the rigid regions, by port, with origins at the ports, and all other mesh nodes, the free ones. Ports at a
    single node are listed separately.
    """

    def __init__(
        self, model: SolidModel, rigid: Mapping[str, Array], origins: Array, points: Mapping[str, int]
    ) -> None:
        self.rigid, self.origins, self.points = rigid, origins, points
        held = np.concatenate([np.zeros(0, dtype=int), *rigid.values()])
        self.free = np.setdiff1d(np.arange(len(model.mesh.points)), held)
        self.turning = len(rigid)


def _nodes(model: SolidModel, ports: Mapping[str, Any]) -> _Nodes:
    given, rigid, origins, points = given_ties(ports), {}, [], {}
    for name, tie in given.items():
        where = region(model.mesh, f"port {name!r}", tie.region)
        at = measured(model, where)
        refuse_cells(name, tie, where, int(model.mesh.starts[-1]))
        if is_rigid(name, tie, at):
            rigid[name] = where.nodes
            origins.append(tie.place(name, at.centre))
        elif where.nodes.size == 1 and tie.how is None:
            if tie.at is not None:
                raise ValueError(f"at of port {name!r} must be left out for a single node, at whose place the port is")
            points[name] = int(where.nodes[0])
        else:
            raise ValueError(
                f"port {name!r} must be tied rigidly, or be a single node: mean motions of regions are for "
                "strain='linear' only"
            )
    refuse_shared(rigid | {name: np.array([node]) for name, node in points.items()})
    return _Nodes(model, rigid, np.array(origins).reshape(-1, model.dim), points)


def lumped_masses(model: SolidModel) -> Array:
    """Lumped masses of the nodes, (N,) [kg].

    ∫ρN_a if that is positive for all nodes of a kind of cell: on quadrilaterals with 9 nodes and hexahedra with 27
    it is Lobatto's rule, and frequencies keep their order 4. Otherwise ∫ρN_a², scaled to the mass of the cell
    (E. Hinton, T. Rock, O. C. Zienkiewicz, Earthquake Engng. Struct. Dyn. 4 (1976) 245).
    """
    masses = np.zeros(len(model.mesh.points)) if model.lumped is None else model.lumped.copy()
    for b, block in enumerate(model.mesh.blocks):
        shapes, volumes = model.mesh.volumes(b, block.kind.mass)
        weights = volumes * model.densities(b)[:, None]
        shares, whole = weights @ shapes, weights.sum(axis=1, keepdims=True)
        if shares.min() <= 1e-6 * whole.max():
            squares = weights @ shapes**2
            shares = squares * whole / squares.sum(axis=1, keepdims=True)
        masses += np.bincount(block.nodes.ravel(), shares.ravel(), len(masses))
    return masses


def _rigid_frames(model: SolidModel, nodes: _Nodes) -> list[Body]:
    """Rigid bodies of the rigid regions, with origins at the ports and the lumped masses of the nodes."""
    masses, d, frames = lumped_masses(model), model.dim, []
    for (name, numbers), origin in zip(nodes.rigid.items(), nodes.origins, strict=True):
        arms, node_masses = model.mesh.points[numbers] - origin, masses[numbers]
        inertia = rigid_inertia(
            node_masses.sum(), node_masses @ arms, (node_masses * arms.T) @ arms, np.zeros((spins(d),) * 2)
        )
        port = Port(np.zeros(d), no_entries(d, 0), no_entries(spins(d), 0))
        frames.append(Body(inertia, {name: port}))
    return frames


def _positions(model: SolidModel, nodes: _Nodes) -> sparse.csr_array:
    """Sparse matrix (N, k) from the k world vectors of the body's nodes to the positions of all mesh nodes.

    A rigid region has the vectors r, its origin, and the columns of its rotation R: x = r + R (X − X_r). Another node
    has its position x = r.
    """
    d, points = model.dim, model.mesh.points
    first = (d + 1) * nodes.turning
    entries = [(np.ones(nodes.free.size), nodes.free, first + np.arange(nodes.free.size))]
    for i, (numbers, origin) in enumerate(zip(nodes.rigid.values(), nodes.origins, strict=True)):
        values = np.column_stack([np.ones(numbers.size), points[numbers] - origin])
        columns = np.tile((d + 1) * i + np.arange(d + 1), numbers.size)
        entries.append((values.ravel(), np.repeat(numbers, d + 1), columns))
    data, rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
    positions = sparse.csr_array((data, (rows, columns)), shape=(len(points), first + nodes.free.size))
    positions.eliminate_zeros()
    return positions


def _weights(model: SolidModel, nodes: _Nodes) -> sparse.csr_array:
    """Sparse matrix (N, nodes) with entry 1 where a node of the body moves a mesh node; N mesh nodes."""
    owner = np.zeros(len(model.mesh.points), dtype=int)
    owner[nodes.free] = nodes.turning + np.arange(nodes.free.size)
    for i, numbers in enumerate(nodes.rigid.values()):
        owner[numbers] = i
    shape = (owner.size, nodes.turning + nodes.free.size)
    return sparse.csr_array((np.ones(owner.size), (np.arange(owner.size), owner)), shape=shape)


def _load(model: SolidModel, held: tuple[_Nodes, Array], name: str, given: Any) -> NodalLoad:
    """Load port of a body of finite strain: forces on mesh nodes, each carried by a node of the body.

    ``held`` are the nodes of the body and their positions; ``name`` is the name of the load.
    """
    (nodes, places), (values, measures, normals) = held, loaded_elements(model, name, given)
    load, loaded, on_facets = loaded_region(model, name, given)
    positions = _positions(model, nodes)
    faces = face_samples(model, positions, loaded.facets, name=name, given=load) if on_facets else None
    forces = sparse.csr_array(values.T @ sparse.diags_array(measures))
    at = np.flatnonzero(np.diff(forces.indptr))
    owner = _weights(model, nodes).indices[at]
    return NodalLoad(owner, model.mesh.points[at] - places[owner], forces[at], normals, faces=faces)


def _green_strain(
    model: SolidModel, nodes: _Nodes, places: Array, given: tuple[Damping, tuple[PointLaw, ...]]
) -> DirectorStrain:
    """Strain energy of a body of finite strain, whose strains are E = ½(FᵀF − 1) at its stress points, times volume.

    Strains are in Voigt order. They are products of the columns of F, g_I = ∂x/∂X_I. The energy is ½ E : D : E with the
    moduli D, or that of a law, and the stress is the second Piola-Kirchhoff stress. ``places`` are the positions of
    the nodes; ``given`` are damping and laws.
    """
    d, c, count = model.dim, model.components, len(model.weights)
    first, second = np.zeros(c, dtype=int), np.zeros(c, dtype=int)
    for component, i, j in TERMS[d]:
        first[component], second[component] = i, j
    at, (damping, laws) = d * np.arange(count)[:, None], given
    energy = DirectorStrain(
        vectors=slopes(model) @ _positions(model, nodes),
        first=(at + first).ravel(),
        second=(at + second).ravel(),
        product=np.arange(c * count),
        directors=np.full((c * count, 2), -1),
        reference=np.zeros(c * count),
        compliance=_compliance(model, laws),
        stiffness_damping=_damping(damping),
        factor=(model.weights[:, None] * np.where(first == second, 0.5, 1.0)).ravel(),
        laws=laws,
        gradients=True,
    )
    return energy.stress_free(strain_places(places, nodes.turning)[1])


def point_laws(model: SolidModel, law: Any) -> tuple[PointLaw, ...]:
    """Stored energies, each with the stress points and the strain rows of the cells of its material.

    ``law`` is one for all materials, or a mapping by the name of the material; materials without one are left out.
    """
    known: dict[str, Any] = dict(law) if isinstance(law, Mapping) else dict.fromkeys(model.materials, law)
    for name in known:
        check.lookup("material", name, model.materials, "law")
    of, laws, c = model.material_of[model.cell_of_point], [], model.components
    for number, name in enumerate(model.materials):
        if known.get(name) is not None:
            points = np.flatnonzero(of == number)
            rows = c * points[:, None] + np.arange(c)
            laws.append(PointLaw(rows, model.weights[points], stored_energy(known[name], model.plane)))
    return tuple(laws)


def _compliance(model: SolidModel, laws: tuple[PointLaw, ...]) -> Any:
    """Compliance matrix C (p·c, p·c) of p stress points times their volumes, block diagonal.

    Where a law is given, it is the compliance at zero strain.
    """
    c = model.components
    blocks = model.compliances[model.material_of[model.cell_of_point]]
    for part in laws:
        blocks[part.rows[:, 0] // c] = np.linalg.inv(part.law.at(np.zeros((1, c))).tangent[0])
    return block_diagonal(model.weights[:, None, None] * blocks)


def slopes(model: SolidModel) -> sparse.csr_array:
    """Sparse matrix (d·p, N) of the derivatives ∂/∂X_I of the N nodal functions at p stress points, point by point."""
    blocks, start, d = [], 0, model.dim
    for b, block in enumerate(model.mesh.blocks):
        gradients = model.points_in(b, slice(None)).gradients
        k, q = gradients.shape[:2]
        rows = start + d * np.arange(k * q).reshape(k, q, 1, 1) + np.arange(d)
        columns = np.broadcast_to(block.nodes[:, None, :, None], gradients.shape)
        blocks.append((gradients.ravel(), np.broadcast_to(rows, gradients.shape).ravel(), columns.ravel()))
        start += d * k * q
    data, rows, columns = (np.concatenate(part) for part in zip(*blocks, strict=True))
    matrix = sparse.csr_array((data, (rows, columns)), shape=(start, len(model.mesh.points)))
    matrix.eliminate_zeros()
    return matrix


def _damping(damping: Damping) -> float:
    if damping.mass or any(damping.ratios):
        raise ValueError(
            "damping of finite strain must be by stiffness=: mass damping and ratios are not defined there"
        )
    return damping.stiffness
