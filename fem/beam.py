"""Planar Euler-Bernoulli beams as floating bodies ([flex] sec. 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from flexph import Body, Elasticity, Inertia, LoadPort, Port, StressField, View
from flexph import checks as check
from flexph.body import Momenta

from .elements import Field, Pair, gauss, pair
from .section import Damping, Material, Section

Reference = Literal["cantilever", "simply_supported"]
Strain = Literal["linear", "von_karman"]
UNDAMPED = Damping()
VIEW_CELLS = 4  # straight pieces an element is drawn with


def beam(
    length: float,
    material: Material,
    section: Section,
    *,
    elements: int,
    reference: Reference = "cantilever",
    pair: str = "compatible",
    strain: Strain = "linear",
    momenta: Momenta = "full",
    stations: Mapping[str, float] | None = None,
    damping: Damping = UNDAMPED,
) -> Body:
    """A planar Euler-Bernoulli beam along the body x axis, P at its root: [flex] eq. (32)-(37).

    Velocities are P1 (axial) and Hermite (bending), stresses are the axial force N [N] and the moment M [N m] with
    ``N/EA = u_x'`` and ``M/EI = u_y''``; sections have no rotary inertia.

    length [m]; ``elements`` equal ones. ``reference`` removes the rigid motion from the deformation: ``cantilever``
    (u_x = u_y = u_y' = 0 at the root) or ``simply_supported`` (u_x = u_y = 0 at the root, u_y = 0 at the tip).
    ``pair`` names the mixed pair: ``compatible`` (default), ``hermite``, ``paper``. ``strain="von_karman"`` takes
    ``ε = mean of u_x' + ½ u_y'²`` over each element: geometric stiffening ([flex] remark 2).
    ``momenta``: see :class:`flexph.Body`. Ports: ``root``, ``tip`` and the named ``stations`` (distance from the
    root [m]); load port ``load``, a force per length [N/m] for each element.

    Raises ValueError where a length, a section or a count is not positive, a name is unknown, a station is off the
    beam, or von Kármán strain is asked of a pair whose axial force is not constant on each element.
    """
    length = check.positive("length", length, "m")
    elements = check.count("elements", elements)
    check.choice("reference", reference, ("cantilever", "simply_supported"))
    check.choice("strain", strain, ("linear", "von_karman"))
    mesh = _Mesh(length, elements, reference, _pair(pair, strain))
    ports = {"root": 0.0, **(stations or {}), "tip": length}
    if len(ports) != 2 + len(stations or {}):
        raise ValueError("stations must not be named 'root' or 'tip': these ports exist")
    return Body(
        inertia=_inertia(mesh, material.density * section.area),
        elasticity=_elasticity(mesh, material, section, strain, damping),
        ports={name: _port(mesh, name, x) for name, x in ports.items()},
        loads={"load": _load(mesh)},
        view=_view(mesh, section),
        momenta=momenta,
        section_rotation=mesh.across(np.array([0.0, 1.0]), 1),
    )


def _pair(name: str, strain: Strain) -> Pair:
    found = pair(name)
    if strain == "von_karman" and found.force != "P0":
        raise ValueError(
            f"strain 'von_karman' needs an axial force constant on each element, which pair {name!r} has not: "
            "use pair 'compatible' or 'hermite'"
        )
    return found


@dataclass(frozen=True)
class _Mesh:
    """The fields of one beam and the numbering of its coordinates: (u_x, u_y, hθ) node by node."""

    length: float
    elements: int
    reference: str
    pair: Pair

    @property
    def step(self) -> float:
        return self.length / self.elements

    @property
    def fields(self) -> tuple[Field, Field, Field, Field]:
        return self.pair.fields(self.elements)

    @property
    def kept(self) -> np.ndarray:
        """Coordinates that the reference condition leaves, of the 3(n + 1) node by node."""
        last = 3 * self.elements
        fixed = [0, 1, 2] if self.reference == "cantilever" else [0, 1, last + 1]
        return np.setdiff1d(np.arange(last + 3), fixed)

    def points(self, local: np.ndarray) -> np.ndarray:
        """Distances from the root of local points of every element [m]."""
        return (self.step * (np.arange(self.elements)[:, None] + local)).ravel()

    def along(self, local: np.ndarray, derivative: int = 0) -> sparse.csr_array:
        """Rows of u_x (or its derivative) at local points of every element, over the kept coordinates."""
        return self._spread(self.fields[0].rows(local, self.step, derivative), lambda k: 3 * k)

    def across(self, local: np.ndarray, derivative: int = 0) -> sparse.csr_array:
        """Rows of u_y (or its derivatives) at local points of every element, over the kept coordinates."""
        return self._spread(self.fields[2].rows(local, self.step, derivative), lambda k: 3 * (k // 2) + 1 + k % 2)

    def _spread(self, rows: sparse.csr_array, place) -> sparse.csr_array:
        coo = rows.tocoo()
        full = sparse.coo_array((coo.data, (coo.row, place(coo.col))), shape=(rows.shape[0], 3 * self.elements + 3))
        return full.tocsr()[:, self.kept]

    def displacement(self, local: np.ndarray) -> sparse.csr_array:
        """Rows of (u_x, u_y) point by point."""
        return _interleave(self.along(local), self.across(local))

    def find(self, x: float) -> tuple[int, np.ndarray]:
        """Element of a station and its local point."""
        element = min(int(x / self.step), self.elements - 1)
        return element, np.array([x / self.step - element])


def _interleave(first: sparse.csr_array, second: sparse.csr_array) -> sparse.csr_array:
    count = first.shape[0]
    order = np.arange(2 * count).reshape(2, count).T.ravel()
    return sparse.vstack([first, second]).tocsr()[order]


def _inertia(mesh: _Mesh, line_density: float) -> Inertia:
    """Mass integrals; 4 Gauss points are exact for the Hermite mass matrix (degree 6)."""
    local, weight = gauss(4)
    w = line_density * mesh.step * np.tile(weight, mesh.elements)
    x = mesh.points(local)
    phi = (mesh.along(local), mesh.across(local))
    size = phi[0].shape[1]
    lever = np.zeros((2, 2, size))
    for i in range(2):
        lever[i, 0] = phi[i].T @ (w * x)
    return Inertia(
        mass=line_density * mesh.length,
        first=np.array([w @ x, 0.0]),
        second=np.diag([w @ x**2, 0.0]),
        shape_first=np.array([p.T @ w for p in phi]),
        shape_lever=lever,
        shape_pair=tuple(tuple((p.T @ sparse.diags_array(w) @ q).tocsr() for q in phi) for p in phi),
        spin=np.zeros((1, 1)),
        spin_shape=np.zeros((1, size)),
        spin_pair=sparse.csr_array((size, size)),
    )


def _elasticity(mesh: _Mesh, material: Material, section: Section, strain: Strain, damping: Damping) -> Elasticity:
    """Weak form of ``N/EA = u_x'`` and ``M/EI = u_y''``, tested with the stresses themselves."""
    local, weight = gauss(4)
    w = sparse.diags_array(mesh.step * np.tile(weight, mesh.elements))
    _, force, _, moment = mesh.fields
    n, m = force.rows(local, mesh.step), moment.rows(local, mesh.step)
    axial, bending = material.young * section.area, material.young * section.second_moment
    slopes = mesh.across(local, 1) if strain == "von_karman" else sparse.csr_array((0, mesh.kept.size))
    weights = n.T @ w if strain == "von_karman" else sparse.csr_array((force.size, 0))
    return Elasticity(
        compliance=sparse.block_diag([n.T @ w @ n / axial, m.T @ w @ m / bending]).tocsr(),
        strain=sparse.vstack([n.T @ w @ mesh.along(local, 1), m.T @ w @ mesh.across(local, 2)]).tocsr(),
        slopes=slopes,
        weights=sparse.vstack([weights, sparse.csr_array((moment.size, weights.shape[1]))]).tocsr(),
        mass_damping=damping.mass,
        stiffness_damping=damping.stiffness,
    )


def _port(mesh: _Mesh, name: str, x: float) -> Port:
    if not 0.0 <= check.number(f"station {name!r}", x) <= mesh.length:
        raise ValueError(f"station {name!r} must lie between 0 and the length {mesh.length} m, got {x} m")
    element, local = mesh.find(x)
    shape = mesh.displacement(local)[[2 * element, 2 * element + 1]]
    return Port(check.array("position", [x, 0.0], (2,)), shape, mesh.across(local, 1)[[element]])


def _load(mesh: _Mesh) -> LoadPort:
    """Mean displacement of each element; 2 Gauss points are exact for the cubic."""
    local, weight = gauss(2)
    mean = sparse.kron(sparse.eye_array(mesh.elements), weight[None, :]).tocsr()
    shapes = _interleave(mean @ mesh.along(local), mean @ mesh.across(local))
    middle = np.column_stack([mesh.points(np.array([0.5])), np.zeros(mesh.elements)])
    return LoadPort(middle, shapes, np.full(mesh.elements, mesh.step))


def _view(mesh: _Mesh, section: Section) -> View:
    count = VIEW_CELLS * mesh.elements
    corners = np.arange(VIEW_CELLS + 1) / VIEW_CELLS
    keep = np.flatnonzero(np.tile(np.arange(VIEW_CELLS + 1) < VIEW_CELLS, mesh.elements))
    keep = np.append(keep, mesh.elements * (VIEW_CELLS + 1) - 1)  # every element without its end, and the tip
    x = mesh.points(corners)[keep]
    rows = np.column_stack([2 * keep, 2 * keep + 1]).ravel()
    return View(
        points=np.column_stack([x, np.zeros(count + 1)]),
        cells=np.column_stack([np.arange(count), np.arange(1, count + 1)]),
        cell_type="line",
        shape=mesh.displacement(corners)[rows],
        stresses=_stresses(mesh, section, corners[:-1] + 0.5 / VIEW_CELLS),
    )


def _stresses(mesh: _Mesh, section: Section, middles: np.ndarray) -> dict[str, StressField]:
    """Axial force, moment and, where the section has a height, the stress σ_x = N/A ∓ M c/I at its fibres."""
    _, force, _, moment = mesh.fields
    n, m = force.rows(middles, mesh.step), moment.rows(middles, mesh.step)
    no_n, no_m = sparse.csr_array((n.shape[0], force.size)), sparse.csr_array((m.shape[0], moment.size))
    axial, bending = sparse.hstack([n, no_m]).tocsr(), sparse.hstack([no_n, m]).tocsr()
    made = {"axial_force": StressField("N", axial), "bending_moment": StressField("N m", bending)}
    if section.fibre is not None:
        at_fibre = section.fibre / section.second_moment * bending
        made["axial_stress_upper"] = StressField("Pa", axial / section.area - at_fibre)
        made["axial_stress_lower"] = StressField("Pa", axial / section.area + at_fibre)
    return made
