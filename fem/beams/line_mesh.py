"""The mesh of a straight beam: its fields, the numbers of its coordinates, and matrices to values of the fields.

Coordinates are lengths, so that all matrices of a mesh are those of a mesh with elements of unit length times powers of
the element length. Assembly of sparse matrices is the main cost: the matrices of unit meshes are cached, and the beams
of a design loop share them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy import sparse

from flexph.numerics.gauss_tableau import gauss_points
from flexph.numerics.memo import Memo, once
from flexph.numerics.ranks import null_space

from .elements import Field, Pair

Reference = Literal["cantilever", "simply_supported", "mean_axis"]
REFERENCES: tuple[Reference, ...] = ("cantilever", "simply_supported", "mean_axis")

_NODE = {2: ("x", "y", "y'"), 3: ("x", "y", "y'", "z", "z'", "turn")}
"""Coordinates of a node: displacements, and the angles u_y', u_z', θ_x times the element length."""

_FIXED: dict[Reference | None, tuple[tuple[str, ...], tuple[str, ...]]] = {  # held coordinates at the root, at the tip
    "cantilever": (("x", "y", "y'", "z", "z'", "turn"), ()),
    "simply_supported": (("x", "y", "z", "turn"), ("y", "z")),
    "mean_axis": ((), ()),
    None: ((), ()),
}


@dataclass(frozen=True)
class Component:
    """A scalar field f of a beam with its conjugate stress; the strain is sign · f^(order), a derivative in x.

    ``place`` is the index of the field's first coordinate among the coordinates of a node. A field that is an ``angle``
    has the coordinates h·f, h the element length.
    """

    velocity: Field
    stress: Field
    place: int
    order: int
    sign: float = 1.0
    angle: bool = False

    def power(self, derivative: int = 0) -> int:
        """Exponent k of the factor h^k by which a matrix of the unit mesh is multiplied for elements of length h.

        The matrix gives the derivative of order ``derivative`` of the field in x from the coordinates.
        """
        return -derivative - self.angle


@dataclass(frozen=True)
class LineMesh(Memo):
    """Mesh of a straight beam: equal elements along the x axis, in ``dim`` dimensions, with a mixed pair of fields.

    Displacement fields have the names ``x``, ``y`` (u_x, u_y), in space also ``z`` and ``turn`` (u_z and the torsion
    θ_x). Full coordinates are all lengths, node by node: (u_x, u_y, hu_y') in the plane, (u_x, u_y, hu_y', u_z, hu_z',
    hθ_x) in space; then u_x at the middle of each element for quadratic fields. h is the element length.

    The condition ``reference`` removes some of the full coordinates, None keeps all. Those that remain are
    the kept coordinates u (size,); the full coordinates are ``basis @ u``. Stress coordinates are field by field: N,
    M_z, in space also M_y, T.
    """

    length: float
    elements: int
    dim: int
    pair: Pair
    reference: Reference | None

    @once
    def unit(self) -> LineMesh:
        """Mesh with elements of unit length that is otherwise equal to this one."""
        return _unit_mesh(self.elements, self.dim, self.pair, self.reference)

    @once
    def basis(self) -> Any:
        """Sparse matrix (full, size) from the kept coordinates to the full ones."""
        return self.unit.once(_basis)

    @property
    def step(self) -> float:
        """Length of an element [m]."""
        return self.length / self.elements

    @property
    def size(self) -> int:
        """Number of kept coordinates."""
        return int(self.basis.shape[1])

    @once
    def components(self) -> dict[str, Component]:
        """Fields of displacement and torsion with their stresses, by the names ``x``, ``y``, ``z`` and ``turn``.

        Sections rotate by ψ = (θ_x, −u_z', u_y'). The moments (T, M_y, M_z) are conjugate to ψ'.
        """
        along, force, across, moment = self.pair.fields(self.elements)
        components = {"x": Component(along, force, 0, 1), "y": Component(across, moment, 1, 2)}
        if self.dim == 3:
            components["z"] = Component(across, moment, 3, 2, sign=-1.0)
            components["turn"] = Component(*self.pair.torsion(self.elements), 5, 1, angle=True)
        return components

    @property
    def displacements(self) -> tuple[str, ...]:
        """Names of the displacement fields, one for each dimension."""
        return ("x", "y", "z")[: self.dim]

    @property
    def transverse(self) -> tuple[str, ...]:
        """Names of the bending fields."""
        return self.displacements[1:]

    def points(self, local: np.ndarray) -> np.ndarray:
        """Distances from the root [m], (elements · k,), of k points in each element.

        ``local`` (k,) are the coordinates of these points in the element, in [0, 1].
        """
        return (self.step * (np.arange(self.elements)[:, None] + local)).ravel()

    def on_axis(self, x: np.ndarray) -> np.ndarray:
        """Points (x, 0[, 0]) at distances from the root, (k, dim) [m]."""
        return np.column_stack([x, np.zeros((len(x), self.dim - 1))])

    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss rule for integrals along the beam: local coordinates (4,) in [0, 1] and weights (4 · elements,) [m].

        All elements have the same local coordinates. The rule is exact for Hermite masses (degree 6).
        """
        local, weight = gauss_points(4)
        return local, self.step * np.tile(weight, self.elements)

    def rows(self, name: str, local: np.ndarray, derivative: int = 0) -> sparse.csr_array:
        """Sparse matrix (elements · k, size) from the kept coordinates to a field, or to a derivative of it in x.

        ``name`` is the field, ``derivative`` the order of the derivative. Rows are element by element, in each at the
        local coordinates ``local`` (k,) in [0, 1].
        """
        rows = _rows(self.unit, name, tuple(np.asarray(local, dtype=float).tolist()), derivative)
        return scaled(rows, self.step ** self.components[name].power(derivative))

    def strain(self, name: str, local: np.ndarray) -> sparse.csr_array:
        """Sparse matrix (elements · k, size) from the kept coordinates to the strain of the field ``name``.

        The strain is u_x', u_y'', −u_z'' or θ_x', in each element at the local coordinates ``local`` (k,) in [0, 1].
        """
        component = self.components[name]
        return component.sign * self.rows(name, local, component.order)

    def displacement(self, local: np.ndarray) -> sparse.csr_array:
        """Sparse matrix from the kept coordinates to the displacements (u_x, u_y[, u_z]), point by point.

        The points are those with the local coordinates ``local`` (k,) in [0, 1], in one element after the other.
        """
        return interleave(*(self.rows(name, local) for name in self.displacements))

    def rotation(self, local: np.ndarray) -> sparse.csr_array:
        """Sparse matrix from the kept coordinates to the rotation ψ of the sections, point by point.

        In the plane ψ = u_y', in space ψ = (θ_x, −u_z', u_y'). The points are those with the local coordinates
        ``local`` (k,) in [0, 1], in one element after the other.
        """
        if self.dim == 2:
            return self.rows("y", local, 1)
        return interleave(self.rows("turn", local), -self.rows("z", local, 1), self.rows("y", local, 1))

    def stresses(self, local: np.ndarray) -> dict[str, sparse.csr_array]:
        """Sparse matrices from all stress coordinates to the stress of each field, by the name of the field.

        Rows are element by element, in each at the local coordinates ``local`` (k,) in [0, 1].
        """
        return _stresses(self.unit, tuple(np.asarray(local, dtype=float).tolist()))

    def resultants(self, local: np.ndarray) -> sparse.csr_array:
        """Sparse matrix from stress coordinates to the resultants N, Q_y = −M_z', Q_z = M_y', T, M_y, M_z at points.

        In the plane Q_z, T and M_y are zero. The points are those with the local coordinates ``local`` (k,) in [0, 1],
        in one element after the other; rows are point by point.
        """
        rows = _resultants(self.unit, tuple(np.asarray(local, dtype=float).tolist()))
        return scaled(rows, np.tile([1.0, 1.0 / self.step, 1.0 / self.step, 1.0, 1.0, 1.0], rows.shape[0] // 6))

    def find(self, x: float) -> tuple[int, float]:
        """Number of the element that contains the position x [m], and the position within it, from 0 to 1."""
        element = min(int(x / self.step), self.elements - 1)
        return element, x / self.step - element


@lru_cache(maxsize=64)
def _unit_mesh(elements: int, dim: int, pair: Pair, reference: Reference | None) -> LineMesh:
    return LineMesh(float(elements), elements, dim, pair, reference)


def _basis(unit: LineMesh) -> Any:
    node = _NODE[unit.dim]
    last = len(node) * unit.elements
    size = last + len(node) + unit.elements * unit.pair.fields(unit.elements)[0].inside
    if unit.reference == "mean_axis":
        return null_space(_mean_motion(replace(unit, reference=None)))
    root, tip = _FIXED[unit.reference]
    fixed = [i for i, k in enumerate(node) if k in root] + [last + i for i, k in enumerate(node) if k in tip]
    return sparse.eye_array(size, format="csr")[:, np.setdiff1d(np.arange(size), fixed)]


def _mean_motion(mesh: LineMesh) -> np.ndarray:
    """Matrix (r, n) from the kept coordinates to dimensionless rigid motions of the mesh.

    Its rows are the means of all fields, then the first moments of the transverse fields about the centre.
    """
    local, weight = mesh.quadrature()
    mean, lever = weight / mesh.length, mesh.points(local) / mesh.length - 0.5
    rows = [mesh.rows(name, local).T @ mean for name in mesh.components]
    return np.array(rows + [mesh.rows(name, local).T @ (mean * lever) for name in mesh.transverse])


@lru_cache(maxsize=256)
def _rows(unit: LineMesh, name: str, local: tuple[float, ...], derivative: int) -> sparse.csr_array:
    """Matrix of :meth:`LineMesh.rows` for the mesh ``unit`` with elements of unit length."""
    component, width = unit.components[name], len(_NODE[unit.dim])
    count, nodes = component.velocity.nodal, unit.elements + 1
    at_nodes = width * np.arange(nodes)[:, None] + component.place + np.arange(count)
    place = np.append(at_nodes, width * nodes + np.arange(component.velocity.inside * unit.elements))
    rows = component.velocity.rows(np.array(local), 1.0, derivative)
    shape = (rows.shape[0], unit.basis.shape[0])
    own_rows = sparse.csr_array((rows.data, place[rows.indices], rows.indptr), shape=shape) @ unit.basis
    own_rows.sort_indices()
    return own_rows


@lru_cache(maxsize=64)
def _stresses(unit: LineMesh, local: tuple[float, ...]) -> dict[str, sparse.csr_array]:
    """Matrices of :meth:`LineMesh.stresses` for the mesh ``unit``; they do not depend on the element length."""
    return _over_all({name: c.stress.rows(np.array(local), 1.0) for name, c in unit.components.items()})


def _over_all(own: dict[str, sparse.csr_array]) -> dict[str, sparse.csr_array]:
    """Extend matrices over the stress coordinates of one field each to the stress coordinates of all fields.

    ``own`` are the matrices by the names of the fields. Their new columns are zero.
    """
    blank = {name: sparse.csr_array(rows.shape) for name, rows in own.items()}
    return {name: sparse.hstack([*({**blank, name: rows}).values()]).tocsr() for name, rows in own.items()}


@lru_cache(maxsize=64)
def _resultants(unit: LineMesh, local: tuple[float, ...]) -> sparse.csr_array:
    """Matrix of :meth:`LineMesh.resultants` for the mesh ``unit`` with elements of unit length."""
    values, points = _stresses(unit, local), np.array(local)
    derivative = {name: int(name in unit.transverse) for name in unit.components}
    slopes = _over_all({n: c.stress.rows(points, 1.0, derivative[n]) for n, c in unit.components.items()})
    none = sparse.csr_array(values["x"].shape)
    parts = [values["x"], -slopes["y"], none, none, none, values["y"]]
    if unit.dim == 3:
        parts[2:5] = slopes["z"], values["turn"], values["z"]
    return interleave(*parts)


def scaled(matrix: sparse.csr_array, factors: float | np.ndarray) -> sparse.csr_array:
    """Copy of a matrix times a factor, or times one factor for each row; the sparsity pattern is shared."""
    entries = np.repeat(factors, np.diff(matrix.indptr)) if np.ndim(factors) else factors
    return sparse.csr_array((matrix.data * entries, matrix.indices, matrix.indptr), shape=matrix.shape)


def interleave(*blocks: sparse.csr_array) -> sparse.csr_array:
    """Rows of several matrices in turn: row 0 of each matrix, then row 1 of each, and so on."""
    order = np.arange(len(blocks) * blocks[0].shape[0]).reshape(len(blocks), -1).T.ravel()
    return sparse.vstack(blocks).tocsr()[order]
