"""Bodies from the mass and stiffness matrices, or the modes, of other finite-element programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.factors.ldl import semi_definite_product
from ...numerics.orthonormal import orthonormal
from ...numerics.rotations import rigid_motions
from ..basis import port_names
from ..body import Body, Port
from ..held import Held
from ..reduced_body import reduce_body
from .matrix_files import PRINTED, given_matrix, symmetric_matrix
from .matrix_labels import NodalOrder, nodal_order
from .model import ForeignModel
from .nodes import ForeignNodes, foreign_nodes
from .ports import node_ports
from .shapes import FreeOrFixed

SKEWED = 0.1
"""Coupling of two modes by lumped masses over their own masses above which the modes are of another mass matrix."""


@checked
def body_from_matrices(
    mass: Any,
    stiffness: Any,
    nodes: Any,
    *,
    ports: Mapping[str, int | str | Sequence[int]],
    numbers: Sequence[int] | None = None,
    mapping: Any = None,
    shapes: Any = None,
    modes: int = 0,
    static: Sequence[str] = (),
    fixed: Sequence[int] | str = (),
    damping: Any = None,
    mass_damping: float = 0.0,
    stiffness_damping: float = 0.0,
    cells: tuple[str, Any] | None = None,
    stresses: Mapping[str, tuple[Any, ...]] | None = None,
) -> Body:
    """A floating body of the finite-element matrices M, K over nodal displacements, ``q = Φ u`` ([flex] eq. (33)).

        M̂ = ΦᵀMΦ,  ΦᵀKΦ = LC⁻¹Lᵀ,  Cσ̇ = Lᵀu̇,  L unit lower triangular

    Matrices are arrays, scipy sparse ones, or paths of files, which are read by what they hold: Matrix Market,
    Harwell-Boeing, .npy, .npz, and the texts of Abaqus and Ansys
    (:func:`flexph.bodies.foreign.matrix_text.text_matrix`), of which one triangle is enough. The mass must be the same
    in all directions, M = m ⊗ 1, as that of elements whose nodes have translations only, consistent or lumped. All mass
    integrals then follow from m (N, N), exactly where positions are interpolated as displacements are (isoparametric
    elements):

        ∫ρ = 1ᵀm1,  ∫ρX = Xᵀm1,  ∫ρXXᵀ = XᵀmX,  ∫ρφ_i = 1ᵀmΦ_i,  ∫ρφ_iX_j = X_jᵀmΦ_i,  ∫ρφ_iφ_j = Φ_iᵀmΦ_j

    Shapes that are not given are computed: the ``modes`` lowest ones and the responses to unit forces and torques at
    the ports named in ``static``, with the nodes ``fixed`` held or, without any, free (mean axes: RᵀMΦ = 0, inertia
    relief); brought to ΦᵀMΦ = mass, u are then lengths. Without shapes the body is rigid.

    A port of one node has no rotation. One of several has their mean displacement and the rotation of the rigid motion
    that fits them best (RBE3), weighted by area where they are facets of the cells of the mesh or of ``cells``.

    Parameters
    ----------
    mass : matrix or path
        M (N·d, N·d) [kg], node by node (x, y[, z]).
    stiffness : matrix or path
        K (N·d, N·d) [N/m], in the same order.
    nodes : array_like, meshio.Mesh or path
        Positions X (N, d) [m] by node number, or those nodes of a mesh that cells have, in their order.
    ports : mapping
        By name a node, several nodes, or the name of a region of the mesh; nodes count from 0.
    numbers : sequence of int, optional
        Node numbers (N,) of the labels in matrix files; those of the mesh, or 1 to N, by default.
    mapping : array_like or path, optional
        What the rows of a matrix without labels are: node and degree of freedom (rows, 2), node numbers of the blocks
        of d rows (N,), or a file of these, such as the .mapping file of HBMAT.
    shapes : array_like, optional
        Φ (N·d, k) from another program, as they are: modes and static responses with P held, without rigid motions.
    modes : int
        Number of modes that are computed.
    static : sequence of str
        Ports whose static responses are computed.
    fixed : sequence of int or str
        Nodes that are held in both, by number or by the name of a region.
    damping : matrix or path, optional
        Viscous damping (N·d, N·d) [N s/m].
    mass_damping : float
        α [1/s] of :class:`flexph.bodies.Elasticity`.
    stiffness_damping : float
        β [s].
    cells : tuple[str, Any], optional
        A meshio cell type and the nodes of its cells, for export.
    stresses : mapping, optional
        By name a unit and rows (cells, N·d) that give a stress of each cell from nodal displacements, or tensors (xx,
        yy, zz, xy, yz, xz) of the ``shapes`` as they are exported, (nodes, 6, k) or (cells, 6, k), axes in any order,
        or two-dimensional with six rows for each place.

    Returns
    -------
    Body
        In the axes of the nodes.

    Raises
    ------
    ValueError
        With the measured defect, for matrices that are not symmetric, a mass that couples directions (rotational
        degrees of freedom), a stiffness that resists rigid motions or is not positive on the shapes, shapes that
        contain or follow from rigid motions or each other, and ports whose nodes show no rotation. Defects up to 1e-6,
        as printed digits leave them, are averaged away.
    """
    held = foreign_nodes(nodes, numbers, cells)
    X = held.points
    N, d = X.shape
    order = nodal_order(held.numbers, d, mapping)
    m, K = nodal_mass(mass, order), symmetric_matrix("stiffness", stiffness, N * d, order)
    M = sparse.csr_array(sparse.kron(m, sparse.eye_array(d)))
    R = rigid_motions(X - X.T @ m.sum(axis=0) / m.sum()).reshape(X.size, -1)
    refuse_grounded(K, R)
    ports_at_nodes, static = node_ports(ports, held), port_names(static)
    if shapes is None:
        phi = _computed(FreeOrFixed(M, K, R, _fixed(fixed, held)), ports_at_nodes, modes, static)
    else:
        phi = _shapes(shapes, N * d, beside=bool(modes or len(static) or len(fixed)))
    model = ForeignModel(
        nodes=X,
        mass=m,
        shapes=phi,
        stiffness=phi.T @ (K @ phi),
        ports=ports_at_nodes,
        viscous=None if damping is None else _damping(damping, phi, order),
        proportional=(mass_damping, stiffness_damping),
        cells=_drawn(held, cells),
        stresses=stresses or {},
        given=shapes is not None,
    )
    body = model.body()
    return reduce_body(body, basis=Held(body).ritz(np.eye(body.size))) if shapes is None and body.size else body


@checked
def body_from_modes(
    shapes: Any,
    frequencies: Any,
    nodes: Any,
    *,
    masses: Any,
    ports: Mapping[str, int | str | Sequence[int]],
    ratios: Sequence[float] | float = 0.0,
    cells: tuple[str, Any] | None = None,
    stresses: Mapping[str, tuple[Any, ...]] | None = None,
) -> Body:
    """A floating body of modes alone: shapes Φ (N·d, k), frequencies ω (k,) [rad/s] and lumped masses (N,) [kg].

    Masses at the nodes give all mass integrals, M̂ = Φᵀ(m ⊗ 1)Φ. The modes keep their frequencies and damping ratios:

        K̂ = M̂^½ diag(ω²) M̂^½,  R̂ = M̂^½ diag(2ζω) M̂^½,

    which are diag(ω²) and diag(2ζω) where the modes are mass-normalised.

    Parameters
    ----------
    shapes : array_like or path
        Φ (N·d, k): modes of a free body, or with P held; rigid motions left out.
    frequencies : array_like
        ω (k,) [rad/s].
    nodes : array_like, meshio.Mesh or path
        Positions (N, d) [m], as for :func:`body_from_matrices`.
    masses : array_like
        Lumped masses (N,) [kg].
    ports : mapping
        By name a node, several nodes, or the name of a region.
    ratios : array_like or float
        ζ (k,), or one for all.
    cells : tuple[str, Any], optional
        A meshio cell type and the nodes of its cells, for export.
    stresses : mapping, optional
        As for :func:`body_from_matrices`.

    Returns
    -------
    Body
        In the axes of the nodes.

    Raises
    ------
    ValueError
        As :func:`body_from_matrices`, for a frequency that is not positive or a ratio not in [0, 1), and where the
        masses couple two modes by more than a tenth of their own: modes are orthogonal in the mass matrix they belong
        to.
    """
    held = foreign_nodes(nodes, None, cells)
    X = held.points
    N, d = X.shape
    lumps = check.array("masses", masses, (N,))
    if np.any(lumps < 0.0):
        raise ValueError(f"masses must not be negative, got {lumps.min():.3g} kg at node {int(np.argmin(lumps))}")
    m, phi = sparse.diags_array(lumps).tocsr(), _shapes(shapes, N * d)
    omega = check.array("frequencies", frequencies, (phi.shape[1],))
    if not np.all(omega > 0.0):
        raise ValueError(f"frequencies must be positive (leave out rigid motions), got {omega.min():.3g} rad/s")
    zeta = check.broadcast("ratios", ratios, omega.shape)
    if not np.all((zeta >= 0.0) & (zeta < 1.0)):
        raise ValueError(f"ratios must be at least 0 and below 1, got {ratios}")
    root = _root(phi.T @ (np.repeat(lumps, d)[:, None] * phi))
    model = ForeignModel(
        nodes=X,
        mass=m,
        shapes=phi,
        stiffness=root @ np.diag(omega**2) @ root,
        ports=node_ports(ports, held),
        viscous=root @ np.diag(2.0 * zeta * omega) @ root if np.any(zeta) else None,
        cells=_drawn(held, cells),
        stresses=stresses or {},
    )
    return model.body()


def _drawn(nodes: ForeignNodes, cells: tuple[str, Any] | None) -> tuple[str, Any] | None:
    """The cells for export: those given, or those of a mesh that has one type."""
    return nodes.cells[0] if cells is None and len(nodes.cells) == 1 else cells


def nodal_mass(given: Any, order: NodalOrder) -> Any:
    """m (N, N), sparse, of a mass matrix M = m ⊗ 1 over displacements node by node; another M is refused."""
    count, dim = len(order.numbers), order.dim
    M = symmetric_matrix("mass", given, count * dim, order)
    m = sum((M[i::dim, i::dim] for i in range(1, dim)), start=M[::dim, ::dim]) / dim
    defect, whole = check.norm(M - sparse.kron(m, sparse.eye_array(dim))), check.norm(M)
    if defect > PRINTED * whole:
        sums = ", ".join(f"{'xyz'[i]} {M[i::dim, i::dim].sum():.6g}" for i in range(dim))
        raise ValueError(
            f"mass must be the same in all directions and couple none, M = m ⊗ 1: ‖M − m ⊗ 1‖/‖M‖ = "
            f"{defect / whole:.0e}, total masses {sums} kg; order it node by node (x, y[, z]), or say its rows by "
            "mapping, and take elements whose nodes have translations only"
        )
    check.positive("mass", float(m.sum()), "kg")
    return sparse.csr_array(m)


def refuse_grounded(stiffness: Any, rigid: Array) -> None:
    """Raise ValueError unless KR vanishes for the rigid motions R, row by row against the terms it is the sum of."""
    force, size = np.abs(stiffness @ rigid), abs(stiffness) @ np.abs(rigid)
    share = np.divide(force, size, out=np.zeros_like(force), where=size > 0.0)
    if share.max() > PRINTED:
        dim = 2 if rigid.shape[1] == 3 else 3
        node = int(np.argmax(share.max(axis=1))) // dim
        raise ValueError(
            f"stiffness must vanish on rigid motions of the nodes: KR is {share.max():.0e} of its terms at node "
            f"{node}; export it without supports, and check the order and the positions of the nodes (numbers, mapping)"
        )


def _shapes(given: Any, size: int, beside: bool = False) -> Array:
    if beside:
        raise ValueError("shapes must be given without modes, static and fixed, which compute them")
    shapes = given_matrix("shapes", given)
    full = shapes.toarray() if sparse.issparse(shapes) else shapes
    return check.array("shapes", full, (size, None))


def _damping(given: Any, shapes: Array, order: NodalOrder) -> Array:
    return semi_definite_product("damping", symmetric_matrix("damping", given, len(shapes), order), shapes)


def _fixed(given: Sequence[int] | str, nodes: ForeignNodes) -> np.ndarray:
    """Degrees of freedom of the fixed nodes."""
    if not len(given):
        return np.zeros(0, dtype=int)
    dim = nodes.points.shape[1]
    return (dim * nodes.chosen("fixed", given)[:, None] + np.arange(dim)).ravel()


def _computed(model: FreeOrFixed, ports: Mapping[str, Port], modes: int, static: Sequence[str]) -> Array:
    """Static responses at ports and vibration modes, in the order static, modes, (N·d, k) with ΦᵀMΦ = 1."""
    loads = [np.zeros((0, len(model.rigid)))]
    for name in static:
        port = check.lookup("port", name, ports)
        loads += [rows.toarray() for rows in (port.shape, port.rotation) if rows is not None]
    responses = model.response(np.vstack(loads).T)
    seen = np.any(responses != 0.0, axis=0)
    return orthonormal(np.column_stack([responses[:, seen], model.modes(check.count("modes", modes, 0))]), model.mass)


def _root(mass: Array) -> Array:
    """M̂^½ of a modal mass matrix that is nearly diagonal."""
    size = np.sqrt(mass.diagonal())
    if not np.all(size > 0.0):
        raise ValueError(f"shapes must move masses, shape {int(np.argmin(size))} moves none")
    unit = mass / np.outer(size, size)
    skewed = np.abs(unit - np.eye(len(unit)))
    if skewed.max(initial=0.0) > SKEWED:
        i, j = np.unravel_index(np.argmax(skewed), skewed.shape)
        raise ValueError(
            f"masses must leave the modes orthogonal: modes {min(i, j)} and {max(i, j)} couple by "
            f"{skewed.max():.0%} of their own masses; give all masses, or the matrices to body_from_matrices"
        )
    values, vectors = np.linalg.eigh(mass)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
