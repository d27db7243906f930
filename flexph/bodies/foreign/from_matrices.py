"""Bodies from mass and stiffness matrices of other finite-element programs, by their modes and static responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.factors.ldl import semi_definite_product
from ...numerics.factors.positive_definite import positive_solver
from ...numerics.ranks import pivots, singular_vectors
from ...numerics.rotations import rigid_motions
from ...numerics.subspaces import orthonormal
from ...units.arguments import quantities
from ..basis import port_names
from ..body import Body, Port
from ..held_body import HeldBody
from ..reduced_body import reduce_body
from .matrix_files import dense_shapes, nodal_mass, refuse_grounded, symmetric_matrix
from .matrix_labels import NodalOrder, nodal_order
from .model import ForeignModel
from .nodes import ForeignNodes, foreign_nodes, node_ports

DENSE_LIMIT = 400
"""Number of degrees of freedom up to which modes are computed by dense algebra."""
RANK = 1e-8
"""Singular value, relative to the largest one, below which supports leave a rigid motion free."""
SINGULAR = "stiffness must be positive definite up to rigid motions, but is not with the model fixed"


class FreeOrFixed:
    """Model M ü + K u = f of nodal displacements u, clamped at the degrees of freedom ``fixed``, or free without these.

    A free model deforms without mean motion, RᵀMu = 0 for the rigid motions R (n, d + s), and a force is balanced by
    the inertia forces of the rigid motion it causes (inertia relief).
    """

    def __init__(self, mass: Any, stiffness: Any, rigid: Array, fixed: np.ndarray) -> None:
        self.mass, self.stiffness, self.rigid, self.fixed = mass, stiffness, rigid, fixed
        if fixed.size:
            held = singular_vectors(rigid[fixed] / np.linalg.norm(rigid, axis=0), tolerance=RANK, economy=True)
            if held.rank < rigid.shape[1]:
                raise ValueError("fixed nodes must prevent every rigid motion, got too few, or nodes on a line")

    @cached_property
    def _clamped(self) -> np.ndarray:
        """Degrees of freedom clamped to solve K u = f: the fixed ones or, of a free model, one per rigid motion."""
        if self.fixed.size:
            return self.fixed
        unit = self.rigid / np.linalg.norm(self.rigid, axis=0)
        return pivots(unit.T)[: self.rigid.shape[1]]

    @cached_property
    def _solve(self) -> Any:
        free = np.setdiff1d(np.arange(len(self.rigid)), self._clamped)
        held = sparse.csc_array(self.stiffness[free][:, free])
        try:
            return free, positive_solver(held)
        except ValueError:
            raise ValueError(SINGULAR) from None

    @cached_property
    def _projector(self) -> tuple[Array, Array]:
        """Matrices P = MR and Q = R(RᵀMR)⁻¹: QPᵀ projects displacements, and PQᵀ forces, onto rigid motions R."""
        moved = self.mass @ self.rigid
        return moved, np.linalg.solve(self.rigid.T @ moved, self.rigid.T).T

    def response(self, force: Array) -> Array:
        """Static displacements (n, k) for k loads ``force`` (n, k), for a free model with inertia relief."""
        free, solve = self._solve
        if not self.fixed.size:
            moved, dual = self._projector
            force = force - moved @ (dual.T @ force)
        solution = np.zeros_like(force)
        solution[free] = solve(np.ascontiguousarray(force[free]))
        return solution if self.fixed.size else solution - dual @ (moved.T @ solution)

    def modes(self, count: int) -> Array:
        """Shapes (n, count) of the lowest vibration modes, without rigid motions."""
        size = len(self.rigid)
        if not count:
            return np.zeros((size, 0))
        most = size - (self.fixed.size or self.rigid.shape[1])
        if count > most:
            raise ValueError(f"modes must be at most {most} of this model, got {count}")
        if size <= DENSE_LIMIT or count > size // 3:
            return self._dense(count)
        inverse = LinearOperator((size, size), matvec=lambda f: self.response(f.reshape(-1, 1)).ravel(), dtype=float)
        start = self.response(
            np.random.default_rng(0).standard_normal((size, 1))
        )  # a fixed seed, for reproducible results
        return eigsh(self.stiffness, k=count, M=self.mass, sigma=0.0, OPinv=inverse, v0=start.ravel())[1]

    def _dense(self, count: int) -> Array:
        """Shapes (n, count) of the lowest vibration modes by dense algebra, from the flexibility F = K⁻¹: F M v = v/ω².

        M is factored by its square root, as it may be singular.
        """
        values, vectors = eigh(self.mass.toarray())
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        flexible = root.T @ self.response(root)
        low, turned = eigh(0.5 * (flexible + flexible.T))
        pick = slice(None, -count - 1, -1)
        if not low[pick][-1] > np.finfo(float).eps * low[-1]:
            raise ValueError(f"modes must be at most as many as masses that can vibrate, got {count}")
        return self.response(root @ turned[:, pick] / low[pick])


@quantities(mass_damping="1/s", stiffness_damping="s", unit="m")
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
    unit: float = 1.0,
) -> Body:
    """Floating body from finite-element matrices M, K of nodal displacements ``q = Φ u`` ([flex] eq. (33)).

        M̂ = ΦᵀMΦ,  ΦᵀKΦ = LC⁻¹Lᵀ,  Cσ̇ = Lᵀu̇,  L unit lower triangular

    Matrices are arrays, scipy sparse matrices, or paths of files, whose format is recognised by their content: Matrix
    Market, Harwell-Boeing, .npy, .npz, and texts of Abaqus and Ansys
    (:func:`flexph.bodies.foreign.matrix_text.text_matrix`), for which one triangle is enough. The mass must be equal in
    all directions, M = m ⊗ 1, consistent or lumped, as for elements whose nodes have translations only. All mass
    integrals then follow from m (N, N), exactly for isoparametric elements:

        ∫ρ = 1ᵀm1,  ∫ρX = Xᵀm1,  ∫ρXXᵀ = XᵀmX,  ∫ρφ_i = 1ᵀmΦ_i,  ∫ρφ_iX_j = X_jᵀmΦ_i,  ∫ρφ_iφ_j = Φ_iᵀmΦ_j

    Shapes that are not given are computed: the lowest ``modes`` and the responses to unit forces and torques at the
    ports in ``static``, with the nodes ``fixed`` clamped or, without any, free (mean axes: RᵀMΦ = 0, inertia relief).
    They are scaled to ΦᵀMΦ = mass, so that u are lengths. Without shapes the body is rigid. A port of one node has no
    rotation. A port of several nodes has their mean displacement and the rotation of the best-fitting rigid motion
    (RBE3), weighted by area if they form facets of the cells of the mesh or of ``cells``.

    Parameters
    ----------
    mass : matrix or path
        Mass matrix M (N·d, N·d) [kg], node by node (x, y[, z]).
    stiffness : matrix or path
        Stiffness matrix K (N·d, N·d) [N/m], in the same order.
    nodes : array_like, meshio.Mesh or path
        Positions X (N, d) [m] in the order of the nodes, positions by node number, or a mesh, whose nodes
        that belong to cells are used, in their order.
    ports : mapping
        Ports by name: a node, several nodes, or the name of a region of the mesh; nodes are numbered from 0.
    numbers : sequence of int, optional
        Node numbers (N,) used as labels in matrix files; by default those of the mesh, or 1 to N.
    mapping : array_like or path, optional
        Meaning of the rows of a matrix without labels: node and degree of freedom (rows, 2), node numbers of the blocks
        of d rows (N,), or a file of these, such as the .mapping of HBMAT or the .dof of CalculiX.
    shapes : array_like, optional
        Shapes Φ (N·d, k) from another program, used unchanged: modes and static responses with the origin P of the body
        fixed, without rigid motions.
    modes : int
        Number of modes to compute.
    static : sequence of str
        Ports whose static responses are computed.
    fixed : sequence of int or str
        Nodes clamped for modes and static responses, by number or by the name of a region.
    damping : matrix or path, optional
        Viscous damping (N·d, N·d) [N s/m].
    mass_damping : float
        Mass-proportional damping α [1/s] (:class:`flexph.bodies.Elasticity`).
    stiffness_damping : float
        Stiffness-proportional damping β [s].
    cells : tuple[str, Any], optional
        Cell type of meshio and the nodes of the cells, for export.
    stresses : mapping, optional
        Stresses by name: a unit and rows (cells, N·d) that map nodal displacements to a stress of each cell, or tensors
        (xx, yy, zz, xy, yz, xz) of the ``shapes`` as exported, (nodes, 6, k) or (cells, 6, k) with axes in any order,
        or two-dimensional with six rows for each node or cell.
    unit : float, optional
        Unit of length [m] of nodes, masses [N s²/unit], stiffnesses [N/unit] and damping: ``"1 mm"`` for matrices in
        mm, t, N, s.

    Returns
    -------
    Body
        Body in the axes of the nodes, in m, kg, s.

    Raises
    ------
    ValueError
        For matrices that are not symmetric, a mass that couples directions (rotational degrees of freedom), a stiffness
        that resists rigid motions or is not positive on the shapes, shapes that are dependent or contain rigid motions,
        and ports whose nodes do not determine a rotation. Defects up to 1e-6, the rounding of printed digits, are
        averaged out.
    """
    if check.positive("unit", unit, "m") != 1.0 and stresses:
        raise ValueError("unit must be left out with stresses: their rows are of displacements in m")
    held = foreign_nodes(nodes, numbers, cells)
    held = replace(held, points=unit * held.points)
    X = held.points
    N, d = X.shape
    order = nodal_order(held.numbers, d, mapping)
    m, K = nodal_mass(mass, order) / unit, symmetric_matrix("stiffness", stiffness, N * d, order) / unit
    M = sparse.csr_array(sparse.kron(m, sparse.eye_array(d)))
    R = rigid_motions(X - X.T @ m.sum(axis=0) / m.sum()).reshape(X.size, -1)
    refuse_grounded(K, R)
    ports_at_nodes, static = node_ports(ports, held), port_names(static)
    if shapes is None:
        phi = _computed(FreeOrFixed(M, K, R, _fixed(fixed, held)), ports_at_nodes, modes, static)
    elif modes or len(static) or len(fixed):
        raise ValueError("shapes= excludes modes=, static= and fixed=, which compute shapes: give one or the other")
    else:
        phi = dense_shapes(shapes, N * d)
    model = ForeignModel(
        nodes=X,
        mass=m,
        shapes=phi,
        stiffness=phi.T @ (K @ phi),
        ports=ports_at_nodes,
        viscous=None if damping is None else _damping(damping, phi, order) / unit,
        proportional=(mass_damping, stiffness_damping),
        cells=held.drawn(cells),
        stresses=stresses or {},
        given=shapes is not None,
    )
    body = model.body()
    return reduce_body(body, basis=HeldBody(body).ritz(np.eye(body.size))) if shapes is None and body.size else body


def _damping(given: Any, shapes: Array, order: NodalOrder) -> Array:
    return semi_definite_product("damping", symmetric_matrix("damping", given, len(shapes), order), shapes)


def _fixed(given: Sequence[int] | str, nodes: ForeignNodes) -> np.ndarray:
    """Indices of the degrees of freedom of the nodes that are fixed, which are given by number or by region."""
    if not len(given):
        return np.zeros(0, dtype=int)
    dim = nodes.points.shape[1]
    return (dim * nodes.chosen("fixed", given)[:, None] + np.arange(dim)).ravel()


def _computed(model: FreeOrFixed, ports: Mapping[str, Port], modes: int, static: Sequence[str]) -> Array:
    """Shapes (N·d, k) of the static responses to unit loads at the ports ``static``, then of vibration modes.

    They are made orthonormal, ΦᵀMΦ = 1.
    """
    loads = [np.zeros((0, len(model.rigid)))]
    for name in static:
        port = check.lookup("port", name, ports)
        loads += [rows.toarray() for rows in (port.shape, port.rotation) if rows is not None]
    responses = model.response(np.vstack(loads).T)
    nonzero = np.any(responses != 0.0, axis=0)
    return orthonormal(
        np.column_stack([responses[:, nonzero], model.modes(check.count("modes", modes, 0))]), model.mass
    )
