"""Model of nodes, nodal masses, shapes and their stiffness, and its conversion to a body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.factors.ldl import divided_by_factors, ldl, without_round_off
from ...numerics.rotations import spins
from ..body import Body, Port
from ..elasticity import Elasticity
from ..fields import NodeValues, StressField, TensorField, View
from ..floating.linear_system import linear_body
from ..inertia import Inertia
from .matrix_files import file_value, given_matrix

CORNERS = {"vertex": 1, "line": 2, "triangle": 3, "quad": 4, "tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
"""Numbers of nodes of the linear cells of meshio; other names contain their number, such as tetra10."""
INDEPENDENT = 1e-9
"""Lowest eigenvalue of the scaled mass matrix of rigid motions and shapes below which they are dependent."""


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """Model from another program: nodes X (N, d), nodal mass m (N, N), shapes Φ (N·d, k), their stiffness ΦᵀKΦ (k, k).

    The shapes and rotations of ``ports`` are maps of nodal displacements. Damping is ``viscous`` (k, k) or None, and
    ``proportional`` to mass and stiffness with (α, β). ``cells`` and ``stresses`` are for export. ``given`` is True if
    the shapes come from the other program, False if they were computed.
    """

    nodes: Array
    mass: Any
    shapes: Array
    stiffness: Array
    ports: Mapping[str, Port]
    viscous: Array | None = None
    proportional: tuple[float, float] = (0.0, 0.0)
    cells: tuple[str, Any] | None = None
    stresses: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    given: bool = True

    def body(self) -> Body:
        """Body of the model; raises ValueError if shapes are dependent, contain rigid motions or have no stiffness."""
        ports = {
            name: Port(p.position, self._rows(p.shape), None if p.rotation is None else self._rows(p.rotation))
            for name, p in self.ports.items()
        }
        k = self.shapes.shape[1]
        if not k:
            turned = [Port(p.position, p.shape, sparse.csr_array((spins(self.dim), 0))) for p in ports.values()]
            return Body(self._inertia(), dict(zip(ports, turned, strict=True)), view=self._view())
        inertia = self._inertia()
        refuse_dependent(inertia)
        L, d = ldl("ΦᵀKΦ of the shapes", self.stiffness)
        turns = [p.rotation for p in ports.values() if p.rotation is not None]
        return Body(
            inertia,
            ports,
            self._elasticity(L, d),
            view=self._view(L, d),
            section_rotation=sparse.csr_array(sparse.vstack(turns)) if turns else None,
        )

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return int(self.nodes.shape[1])

    def _rows(self, rows: Any) -> Any:
        """Sparse matrix (r, k) that acts on the coordinates u, from one (r, N·d) that acts on nodal displacements."""
        return sparse.csr_array(rows @ self.shapes)

    def _inertia(self) -> Inertia:
        """Mass integrals of the body, from the nodal mass, the nodes and the shapes."""
        X, m, d, k = self.nodes, self.mass, self.dim, self.shapes.shape[1]
        phi = [self.shapes[i::d] for i in range(d)]
        moved = [m @ p for p in phi]
        size = np.sqrt(sum(np.einsum("nk,nk->k", p, q) for p, q in zip(phi, moved, strict=True)))
        whole = np.asarray(m.sum(axis=0)).ravel()
        return Inertia(
            mass=float(whole.sum()),
            first=whole @ X,
            second=X.T @ (m @ X),
            shape_first=np.array([whole @ p for p in phi]),
            shape_lever=np.array([X.T @ q for q in moved]),
            shape_pair=tuple(tuple(without_round_off(p.T @ q, size, size) for q in moved) for p in phi),
            spin=np.zeros((spins(d),) * 2),
            spin_shape=np.zeros((spins(d), k)),
            spin_pair=sparse.csr_array((k, k)),
        )

    def _elasticity(self, L: Array, d: Array) -> Elasticity:
        """Elasticity with compliance diag(1/d) and strain operator Lᵀ, for ΦᵀKΦ = L diag(d) Lᵀ."""
        k = d.size
        stiff = np.sqrt(self.stiffness.diagonal())
        return Elasticity(
            compliance=sparse.diags_array(1.0 / d).tocsr(),
            strain=without_round_off(L.T, 1.0 / np.sqrt(d), stiff),
            slopes=sparse.csr_array((0, k)),
            weights=sparse.csr_array((k, 0)),
            mass_damping=self.proportional[0],
            stiffness_damping=self.proportional[1],
            viscous=None if self.viscous is None else sparse.csr_array(0.5 * (self.viscous + self.viscous.T)),
        )

    def _view(self, *factors: Array) -> View | None:
        """View of nodes and cells, with fields that give stresses for σ; None without cells.

        ``factors`` are L and d of ΦᵀKΦ = L diag(d) Lᵀ: nodal displacements are Φu with u = L⁻ᵀ diag(1/d) σ.
        """
        if self.cells is None:
            if self.stresses:
                raise ValueError("stresses= needs cells=, got stresses without cells")
            return None
        kind, cells = checked_cells(self.cells, len(self.nodes))
        fields: dict[str, StressField] = {}
        tensors: dict[str, TensorField] = {}
        for name, given in self.stresses.items():
            unit, rows, *place = given
            rows = file_value(f"stress {name!r}", rows)
            if is_mode_stress(rows, self.shapes.shape[1]) and factors:
                tensors[name] = self._tensor(name, rows, factors, cells, unit=unit, place=place)
                continue
            rows = given_matrix(f"stress {name!r}", rows, (len(cells), len(self.shapes)))
            if factors:
                fields[name] = StressField(unit, sparse.csr_array(divided_by_factors(rows @ self.shapes, *factors)))
        return View(self.nodes, cells, kind, sparse.csr_array(self.shapes), fields, tensors)

    def _tensor(
        self, name: str, rows: Any, factors: tuple[Array, ...], cells: Array, *, unit: str, place: list[str]
    ) -> TensorField:
        """Tensor field that acts on the stresses σ of the body, from the stress tensors ``rows`` of the modes.

        ``place`` is empty, or one word that says where the tensors are: "nodes" or "cells".
        """
        if not self.given:
            raise ValueError(f"stress {name!r} of modes needs the modes themselves: give shapes=")
        counts = {"nodes": len(self.nodes), "cells": len(cells)}
        if place:
            counts = {check.choice(f"place of stress {name!r}", place[0], PLACES): counts[place[0]]}
        values, where = mode_stresses(name, rows, self.shapes.shape[1], counts)
        in_basis = divided_by_factors(values.reshape(-1, values.shape[2]), *factors)
        return mode_tensor(unit, in_basis, where, points=self.nodes, cells=cells)


def checked_cells(given: Any, count: int) -> tuple[str, Any]:
    """Cell type of meshio and node numbers (cells, corners), if they fit each other and ``count`` nodes.

    Raises ValueError if they do not.
    """
    try:
        kind, numbers = given
        cells = np.asarray(numbers)
    except (TypeError, ValueError):
        kind, cells = None, np.zeros(0)
    whole = cells.ndim == 2 and cells.size and cells.dtype.kind in "iu"
    if not isinstance(kind, str) or not whole or cells.min() < 0 or cells.max() >= count:
        raise ValueError(f"cells must be (type, node numbers (cells, corners) from 0 to {count - 1})")
    order = re.fullmatch(r"([a-z]+)(\d*)", kind)
    if order is None or order[1] not in CORNERS:
        raise ValueError(f"cells must be of a meshio type ({', '.join(CORNERS)}, or as tetra10), got {kind!r}")
    corners = int(order[2] or CORNERS[order[1]])
    if cells.shape[1] != corners:
        raise ValueError(f"cells of type {kind!r} must have {corners} nodes each, got {cells.shape[1]}")
    return kind, cells


def refuse_dependent(inertia: Inertia) -> None:
    """Raise ValueError unless rigid motions and shapes are independent: their mass matrix must be positive definite."""
    size, rigid = inertia.size, inertia.dim + spins(inertia.dim)
    none = Elasticity(
        sparse.csr_array((0, 0)), sparse.csr_array((0, size)), sparse.csr_array((0, size)), sparse.csr_array((0, 0))
    )
    mass = linear_body(Body(inertia, {}, none), "b").E.toarray()
    massless = np.flatnonzero(~(mass.diagonal() > 0.0))
    if massless.size and massless[0] < rigid:
        raise ValueError("mass must give inertia about every axis: nodes with mass must not lie on one line")
    if massless.size:
        raise ValueError(f"shapes must move masses, but shape {massless[0] - rigid} moves none")
    scale = 1.0 / np.sqrt(mass.diagonal())
    values, vectors = np.linalg.eigh(scale[:, None] * mass * scale)
    if values[0] > INDEPENDENT:
        return
    taking = np.flatnonzero(np.abs(vectors[rigid:, 0]) > 0.5 * np.abs(vectors[rigid:, 0]).max())
    worst = int(taking[-1])  # of equal ones the last: round-off does not choose
    raise ValueError(
        f"shapes must be independent and without rigid motions, but shape {worst} is not: the lowest "
        f"eigenvalue of their mass matrix, with a unit diagonal, is {values[0]:.0e}; take shapes with "
        "enough nodes fixed, or vibrations of the free model, and leave rigid motions out"
    )


COMPONENTS = 6
PLACES = ("nodes", "cells")


def is_mode_stress(given: Any, modes: int) -> bool:
    """True if an array has stress tensors of modes, by its shape.

    It has three axes, or six rows for each location and a column for each of the modes.
    """
    shape = np.shape(given)
    return len(shape) == 3 or (len(shape) == 2 and shape[1] == modes and shape[0] % COMPONENTS == 0)


def mode_stresses(name: str, given: Any, modes: int, places: dict[str, int]) -> tuple[Array, str]:
    """Stress tensors (n, 6, k) of k modes at n locations, and the kind of the locations: "nodes" or "cells".

    ``given`` may have its axes in any order, or six rows for each location and a column for each mode. ``places`` maps
    the possible kinds to their numbers of locations. Raises ValueError unless exactly one interpretation fits.
    """
    values = np.asarray(given, dtype=float)
    if not np.all(np.isfinite(values)):
        raise ValueError(f"stress {name!r} must be finite, got NaN or infinity")
    wanted = ", ".join(f"{count} {place}" for place, count in places.items())
    if values.ndim == 2:
        values = values.reshape(-1, COMPONENTS, modes)
        candidates = [(values, place) for place, count in places.items() if count == len(values)]
    else:
        candidates = [
            (np.transpose(values, axes), place)
            for axes in permutations(range(3))
            for place, count in places.items()
            if tuple(values.shape[a] for a in axes) == (count, COMPONENTS, modes)
        ]
    if len(candidates) != 1:
        what = "fits in more than one way" if candidates else "does not"
        raise ValueError(
            f"stress {name!r} of modes must have axes of locations ({wanted}), {COMPONENTS} components and {modes} "
            f"modes, and shape {np.shape(given)} {what}: write (locations, 6, modes), or (locations * 6, modes) if "
            "axes are equally long, and a third entry 'nodes' or 'cells' if there are equally many of both"
        )
    return candidates[0]


def mode_tensor(unit: str, rows: Any, place: str, *, points: Array, cells: Array) -> TensorField:
    """Tensor field at nodes or in cells, from rows (n·6, m) that act on the stresses σ.

    Components are (xx, yy, zz, xy, yz, xz). For tensors at nodes, the stress points of a cell are its nodes, with equal
    weights. Compliances are unknown, so that there is no error indicator.
    """
    count, corners = cells.shape
    rows_of_cells = cells.ravel() if place == "nodes" else np.arange(count)
    each = corners if place == "nodes" else 1
    cell = np.repeat(np.arange(count), each)
    at = sparse.csr_array(sparse.csr_array(rows)[(COMPONENTS * rows_of_cells[:, None] + np.arange(COMPONENTS)).ravel()])
    mean = sparse.csr_array(
        (np.full(len(rows_of_cells), 1.0 / each), (cell, np.arange(len(rows_of_cells)))),
        shape=(count, len(rows_of_cells)),
    )
    shares = np.eye(corners) if place == "nodes" else np.ones((corners, 1))
    return TensorField(
        unit=unit,
        cells=sparse.csr_array(sparse.kron(mean, sparse.eye_array(COMPONENTS)) @ at),
        drawn=np.arange(count),
        at=at,
        positions=points[rows_of_cells] if place == "nodes" else points[cells].mean(axis=1),
        weights=np.full(len(rows_of_cells), 1.0 / each),
        cell=cell,
        nodal=at,
        spread=sparse.eye_array(len(rows_of_cells)).tocsr(),
        compliances=np.zeros((0, COMPONENTS, COMPONENTS)),
        material=np.zeros(len(rows_of_cells), dtype=int),
        nodes=(NodeValues(0, shares, np.arange(len(rows_of_cells)).reshape(count, each), shares),),
    )
