"""The mesh of a straight beam: its fields, the numbering of coordinates, and their rows at points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from flexph.numerics.gauss_tableau import gauss_points
from flexph.numerics.memo import Memo, once

from ..meshes.null_space import null_space
from .elements import Field, Pair

Reference = Literal["cantilever", "simply_supported", "mean_axis"]
REFERENCES: tuple[Reference, ...] = ("cantilever", "simply_supported", "mean_axis")

_NODE = {2: ("x", "y", "y'"), 3: ("x", "y", "y'", "z", "z'", "turn")}
"""Coordinates of a node: displacements, and the angles u_y', u_z', θ_x times the element length."""

_FIXED = {  # at the root, at the tip
    "cantilever": (("x", "y", "y'", "z", "z'", "turn"), ()),
    "simply_supported": (("x", "y", "z", "turn"), ("y", "z")),
    "mean_axis": ((), ()),
}


@dataclass(frozen=True)
class Component:
    """A scalar field f of a beam and the stress that works on it: strain = sign · f^(order).

    ``place`` of its first coordinate among those of a node; ``scale`` of f over its coordinates.
    """

    velocity: Field
    stress: Field
    place: int
    order: int
    sign: float = 1.0
    scale: float = 1.0


@dataclass(frozen=True)
class LineMesh(Memo):
    """Equal elements along the x axis in ``dim`` dimensions; of kept coordinates u the full ones are ``basis u``.

    Fields by name: ``x``, ``y`` (displacements u_x, u_y), in space also ``z`` and ``turn`` (u_z and the torsion θ_x).
    Full coordinates node by node, all of them lengths: (u_x, u_y, hu_y') in the plane, (u_x, u_y, hu_y', u_z, hu_z',
    hθ_x) in space; then those inside of the elements, u_x at the middle where it is quadratic. Stress coordinates field
    by field: N, M_z, in space also M_y, T.
    """

    length: float
    elements: int
    dim: int
    pair: Pair
    basis: Any

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
        """The fields of displacement and torsion with their stresses.

        Sections turn by ψ = (θ_x, −u_z', u_y'); the moments (T, M_y, M_z) work on ψ'.
        """
        along, force, across, moment = self.pair.fields(self.elements)
        components = {"x": Component(along, force, 0, 1), "y": Component(across, moment, 1, 2)}
        if self.dim == 3:
            components["z"] = Component(across, moment, 3, 2, sign=-1.0)
            components["turn"] = Component(*self.pair.torsion(self.elements), 5, 1, scale=1.0 / self.step)
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
        """Distances from the root of local points of every element [m]."""
        return (self.step * (np.arange(self.elements)[:, None] + local)).ravel()

    def on_axis(self, x: np.ndarray) -> np.ndarray:
        """Points (x, 0[, 0]) at distances from the root, (k, dim) [m]."""
        return np.column_stack([x, np.zeros((len(x), self.dim - 1))])

    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        """4 Gauss points of every element, local, and weights of all [m]: exact for Hermite masses (degree 6)."""
        local, weight = gauss_points(4)
        return local, self.step * np.tile(weight, self.elements)

    def rows(self, name: str, local: np.ndarray, derivative: int = 0) -> sparse.csr_array:
        """Values (or derivatives) of a field at local points of every element, over the kept coordinates."""
        component, width = self.components[name], len(_NODE[self.dim])
        own, nodes = component.velocity.nodal, self.elements + 1
        at_nodes = width * np.arange(nodes)[:, None] + component.place + np.arange(own)
        place = np.append(at_nodes, width * nodes + np.arange(component.velocity.inside * self.elements))
        rows = component.velocity.rows(local, self.step, derivative)
        shape = (rows.shape[0], self.basis.shape[0])
        full = sparse.csr_array((component.scale * rows.data, place[rows.indices], rows.indptr), shape=shape)
        return _sorted(full @ self.basis)

    def strain(self, name: str, local: np.ndarray) -> sparse.csr_array:
        """Rows of the strain on which the stress of a field works: u_x', u_y'', −u_z'', θ_x'."""
        component = self.components[name]
        return component.sign * self.rows(name, local, component.order)

    def displacement(self, local: np.ndarray) -> sparse.csr_array:
        """Rows of (u_x, u_y[, u_z]) point by point."""
        return interleave(*(self.rows(name, local) for name in self.displacements))

    def rotation(self, local: np.ndarray) -> sparse.csr_array:
        """Rows of the section rotation ψ point by point: u_y' in the plane, (θ_x, −u_z', u_y') in space."""
        if self.dim == 2:
            return self.rows("y", local, 1)
        return interleave(self.rows("turn", local), -self.rows("z", local, 1), self.rows("y", local, 1))

    def stresses(self, local: np.ndarray) -> dict[str, sparse.csr_array]:
        """Rows of the stress of each field at local points of every element, over all stress coordinates."""
        own = {name: c.stress.rows(local, self.step) for name, c in self.components.items()}
        blank = {name: sparse.csr_array(rows.shape) for name, rows in own.items()}
        return {name: sparse.hstack([*({**blank, name: rows}).values()]).tocsr() for name, rows in own.items()}

    def find(self, x: float) -> tuple[int, np.ndarray]:
        """Element of a station and its local point."""
        element = min(int(x / self.step), self.elements - 1)
        return element, np.array([x / self.step - element])


def line_mesh(length: float, elements: int, dim: int, *, reference: Reference, pair: Pair) -> LineMesh:
    """The mesh of a beam whose deformation meets a reference condition; see :func:`fem.beam`."""
    node = _NODE[dim]
    last = len(node) * elements
    size = last + len(node) + elements * pair.fields(elements)[0].inside
    whole = LineMesh(length, elements, dim, pair, sparse.eye_array(size, format="csr"))
    if reference == "mean_axis":
        return replace(whole, basis=null_space(_mean_motion(whole)))
    root, tip = _FIXED[reference]
    fixed = [i for i, k in enumerate(node) if k in root] + [last + i for i, k in enumerate(node) if k in tip]
    return replace(whole, basis=whole.basis[:, np.setdiff1d(np.arange(size), fixed)])


def _mean_motion(mesh: LineMesh) -> np.ndarray:
    """Means of all fields, and first moments about the centre of the transverse ones: rows without unit."""
    local, weight = mesh.quadrature()
    mean, lever = weight / mesh.length, mesh.points(local) / mesh.length - 0.5
    rows = [mesh.rows(name, local).T @ mean for name in mesh.components]
    return np.array(rows + [mesh.rows(name, local).T @ (mean * lever) for name in mesh.transverse])


def _sorted(matrix: sparse.csr_array) -> sparse.csr_array:
    matrix.sort_indices()
    return matrix


def interleave(*blocks: sparse.csr_array) -> sparse.csr_array:
    """Row 0 of every block, then row 1 of every block, and so on."""
    order = np.arange(len(blocks) * blocks[0].shape[0]).reshape(len(blocks), -1).T.ravel()
    return sparse.vstack(blocks).tocsr()[order]
