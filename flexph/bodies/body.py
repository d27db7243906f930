"""Bodies: what ``fem`` and ``rigid`` hand to the core, as inertia integrals, elastic energy and named ports.

A body lives in its own frame with origin P. A material point X sits at ``r_P + R (X + φ(X) u)`` with finite-element
coordinates u (reference conditions removed). Nothing here knows where φ came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from .buckling_load import BucklingLoad
from .elasticity import Elasticity
from .inertia import Inertia, contract

Momenta = Literal["full", "constant"]


@dataclass(frozen=True)
class Port:
    """An interface of a body: the section at a material point.

    position X (d,) [m]; shape φ, sparse (d, n): the point moves by φu; rotation ψ, sparse (s, n): the section
    turns by ψu to first order. ``rotation`` is None where nothing can turn (a point mass).
    """

    position: Array
    shape: Any
    rotation: Any | None


@dataclass(frozen=True)
class LoadPort:
    """A force density, constant on each of k elements: acts at the element means of the displacement.

    positions (k, d) [m], shapes sparse (k·d, n), measures (k,): the lengths (areas, volumes) of the elements. On
    surfaces ``normals`` (k, d): the mean outward normals in body axes.
    """

    positions: Array
    shapes: Any
    measures: Array
    normals: Array | None = None


@dataclass(frozen=True)
class StressField:
    """A stress quantity as a linear map of the stress coordinates σ, for export: (cells, m)."""

    unit: str
    cells: Any


class NodeValues(NamedTuple):
    """Stresses at the n nodes of drawn cells that follow each other, (c,) in number.

    first: the first of the points of these cells, which come cell by cell, q each; own (n, q) or (c, n, q): the
    polynomial through the values at the points of a cell, at its nodes; corners (c, k): of the smooth field; smooth
    (n, k): what they give at the nodes.
    """

    first: int
    own: Array
    corners: Array
    smooth: Array


@dataclass(frozen=True)
class TensorField:
    """A stress tensor as linear maps of the stress coordinates σ: six components (xx, yy, zz, xy, yz, xz).

    cells       (c·6, m): means over the drawn cells
    drawn       (c,): the cell of the mesh that each drawn cell is (a part) of
    at          (p·6, m): values at the p points where the stresses of the state live
    positions   (p, d) [m], weights (p,): volumes [m³], cell (p,): the cell of the mesh of each point
    nodal       (g·6, m): a smooth field at g corners; spread (p, g): its values at the points
    compliances (k, 6, 6) [1/Pa] of the materials over these components, shear counted once as 2ε; material (p,); none
                (0, 6, 6) where they are not known, and then no energies and no error indicator
    nodes       groups of the drawn cells, in their order: both fields at the nodes of each cell

    See :mod:`flexph.bodies.stress_fields` for what is made of them.
    """

    unit: str
    cells: Any
    drawn: Array
    at: Any
    positions: Array
    weights: Array
    cell: Array
    nodal: Any
    spread: Any
    compliances: Array
    material: Array
    nodes: tuple[NodeValues, ...] = ()

    def over(self, basis: Any) -> TensorField:
        """The field over the coordinates σ̂ of σ = S σ̂."""
        cells, at, nodal = (sparse.csr_array(rows @ basis) for rows in (self.cells, self.at, self.nodal))
        return replace(self, cells=cells, at=at, nodal=nodal)


@dataclass(frozen=True)
class SectionMap:
    """Force and moment through a surface of a body as maps of its stresses: F (d,) [N], then M (s,) [N m] about x.

        (F, M) = nodal σ + leverᵀ diag(weightsᵀσ) slopes u,   or   (F, M) = traction σ

    position x (d,) [m]: the centroid; normal (d,): the mean normal n, in body axes; area [m²], of plates the length
    [m]. F is what the side to which n points exerts on the other one. ``nodal`` (d + s, m): internal forces of the
    cells along the surface, by virtual power of rigid motions of its nodes; lever (g, d + s), weights (m, g), slopes
    (g, n): their part that is quadratic (von Kármán strain). ``traction`` (d + s, m): ∫σn, or None (plates).
    """

    position: Array
    normal: Array
    area: float
    nodal: Any
    lever: Any
    weights: Any
    slopes: Any
    traction: Any | None

    def forces(self, sigma: Array, u: Array) -> Array:
        """(F, M) of stresses σ (k, m) and coordinates u (k, n) by virtual power, (k, d + s)."""
        forces = np.asarray((self.nodal @ sigma.T).T)
        if self.slopes.shape[0]:
            forces = forces + ((self.weights.T @ sigma.T) * (self.slopes @ u.T)).T @ self.lever
        return forces

    def over(self, shapes: Any, stresses: Any) -> SectionMap:
        """The maps over û and σ̂ of u = T û and σ = S σ̂."""
        return replace(
            self,
            nodal=self.nodal @ stresses,
            weights=(stresses.T @ self.weights),
            slopes=self.slopes @ shapes,
            traction=None if self.traction is None else self.traction @ stresses,
        )


@dataclass(frozen=True)
class View:
    """How a body looks: points (p, d), cells of one meshio type, displacement rows sparse (p·d, n), stress fields."""

    points: Array
    cells: Array
    cell_type: str
    shape: Any
    stresses: Mapping[str, StressField] = field(default_factory=dict)
    tensors: Mapping[str, TensorField] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Body:
    """A floating body: inertia, elastic energy or None, named ports.

    ``momenta="full"`` lets the momenta depend on the deformation ([flex] eq. (9)); ``"constant"`` keeps them at
    u = 0 about the centre of mass ([flex] sec. 4.3): no Coriolis or centrifugal coupling with u.
    ``section_rotation``, sparse (k, n), are rotations that must stay small (range of validity of the frame).
    ``sections``: named surfaces through the body, see :func:`flexph.results.sections`.
    ``buckling``: loads at which it would buckle in a way that its strain leaves out.
    ``unshifted`` is the body before it was brought about mean axes, where that would have filled its matrices
    (:func:`flexph.bodies.mean_axes.about_mean_axes`).
    """

    inertia: Inertia
    ports: Mapping[str, Port]
    elasticity: Elasticity | None = None
    loads: Mapping[str, LoadPort] = field(default_factory=dict)
    view: View | None = None
    momenta: Momenta = "full"
    turns: bool = True
    section_rotation: Any | None = None
    sections: Mapping[str, SectionMap] = field(default_factory=dict)
    buckling: tuple[BucklingLoad, ...] = ()
    unshifted: Body | None = None

    def __post_init__(self) -> None:
        check.choice("momenta", self.momenta, ("full", "constant"))
        n = self.inertia.size
        if n and self.elasticity is None:
            raise ValueError(f"elasticity must be given for a body with {n} flexible coordinates")
        if self.elasticity is not None and self.elasticity.strain.shape[1] != n:
            raise ValueError(f"elasticity must act on {n} coordinates, got {self.elasticity.strain.shape[1]}")
        for kind in ("ports", "loads", "sections"):
            wrong = [name for name in getattr(self, kind) if not isinstance(name, str) or not name]
            if wrong:
                raise ValueError(f"names of {kind} must be strings that are not empty, got {wrong[0]!r}")
        object.__setattr__(self, "ports", MappingProxyType(dict(self.ports)))
        object.__setattr__(self, "loads", MappingProxyType(dict(self.loads)))
        object.__setattr__(self, "sections", MappingProxyType(dict(self.sections)))

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: read-only mappings as plain ones."""
        return {name: dict(v) if isinstance(v, MappingProxyType) else v for name, v in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __repr__(self) -> str:
        kind = f"{self.size} flexible coordinates" if self.size else "rigid"
        space = "plane" if self.dim == 2 else "space"
        return f"<Body of the {space}: {self.mass:.6g} kg, {kind}; ports {', '.join(self.ports) or 'none'}>"

    @property
    def dim(self) -> int:
        """2 in the plane, 3 in space."""
        return self.inertia.dim

    @property
    def centre(self) -> Array:
        """Centre of mass of the undeformed body in body axes, (d,) [m]."""
        return self.inertia.centre

    @property
    def moments(self) -> Array:
        """Inertia J of the undeformed body about its centre of mass in body axes, (s, s) [kg m²]."""
        return contract(self.inertia, about_centre=True).J

    @property
    def size(self) -> int:
        """Number n of flexible coordinates."""
        return self.inertia.size

    @property
    def stress_size(self) -> int:
        """Number m of stress coordinates."""
        return self.elasticity.size if self.elasticity else 0

    @property
    def mass(self) -> float:
        """Total mass [kg], lumped masses included."""
        return self.inertia.mass

    def with_mass(self, port: str, mass: float = 0.0, inertia: float = 0.0) -> Body:
        """The same body with a lumped mass [kg] and rotary inertia [kg m²] at a port ([flex] eq. (48))."""
        at: Port = check.lookup("port", port, self.ports)
        changed = self.inertia
        if check.not_negative("mass", mass, "kg"):
            changed = changed.plus_point(mass, at.position, at.shape)
        if check.not_negative("inertia", inertia, "kg m²"):
            if at.rotation is None:
                raise ValueError(f"inertia cannot be lumped at port {port!r}: nothing turns there")
            changed = changed.plus_spin(inertia, at.rotation)
        return replace(self, inertia=changed)
