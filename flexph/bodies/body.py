"""Bodies: what ``fem`` and ``rigid`` hand to the core, as inertia integrals, elastic energy and named ports.

A body lives in its own frame with origin P. A material point X sits at ``r_P + R (X + φ(X) u)`` with finite-element
coordinates u (reference conditions removed). Nothing here knows where φ came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Described, Memo, read_only
from .buckling_load import AxialStiffening, BucklingLoad
from .elasticity import ElasticEnergy
from .fields import SectionMap, View
from .inertia import Inertia, contract

Momenta = Literal["full", "constant"]


@dataclass(frozen=True, eq=False)
class Port:
    """An interface of a body: the section at a material point.

    Parameters
    ----------
    position : array
        X (d,) [m].
    shape : matrix
        φ, sparse (d, n): the point moves by φu.
    rotation : matrix, optional
        ψ, sparse (s, n): the section turns by ψu to first order; None where nothing can turn (a point mass).
    """

    position: Array
    shape: Any
    rotation: Any | None


@dataclass(frozen=True, eq=False)
class LoadPort:
    """A force density, constant on each of k elements: acts at the element means of the displacement.

    Parameters
    ----------
    positions : array
        (k, d) [m].
    shapes : matrix
        Sparse (k·d, n).
    measures : array
        (k,): the lengths (areas, volumes) of the elements.
    normals : array, optional
        On surfaces (k, d): the mean outward normals in body axes.
    """

    positions: Array
    shapes: Any
    measures: Array
    normals: Array | None = None


class FaceSamples(NamedTuple):
    """Samples of loaded faces over the k places of a body of nodes: positions and both tangents, sparse (q, k).

    The tangents are derivatives along orthonormal directions of the undeformed face, whose cross product is the outward
    normal, in the plane along the direction that is the normal turned by 90°, and none. ``areas`` (q,) of the
    undeformed faces, ``element`` (q,) which of the load has them.
    """

    points: Any
    along: Any
    across: Any
    areas: Array
    element: Array


@dataclass(frozen=True, eq=False)
class NodalLoad:
    """A force density on each of k elements of a body of several frames, as forces ``weights @ densities`` on p points.

    nodes (p,) that have the points, positions (p, d) [m] from their origins, weights sparse (p, k): lengths, areas or
    volumes. On surfaces ``normals`` (k, d): the mean outward normals of the undeformed body. ``shapes``, sparse
    (p·d, n), of frames that deform; ``faces`` of bodies whose faces deform.
    """

    nodes: Array
    positions: Array
    weights: Any
    normals: Array | None = None
    shapes: Any | None = None
    faces: FaceSamples | None = None

    @property
    def measures(self) -> Array:
        """Lengths, areas or volumes of the elements, (k,)."""
        return np.asarray(self.weights.sum(axis=0)).ravel()


@dataclass(frozen=True, eq=False, repr=False)
class Body(Described, Memo):
    """A floating body: inertia, elastic energy or None, named ports.

    Parameters
    ----------
    inertia : Inertia
        Mass integrals.
    ports : mapping
        Interfaces by name.
    elasticity : ElasticEnergy, optional
        Elastic energy; rigid bodies have none.
    loads : mapping
        Load ports by name.
    view : View, optional
        What it looks like.
    momenta : {"full", "constant"}
        Whether the momenta depend on the deformation ([flex] eq. (9)), or are kept at u = 0 about the centre of mass
        ([flex] sec. 4.3): no Coriolis or centrifugal coupling with u.
    turns : bool
        False of a point mass.
    section_rotation : matrix, optional
        Sparse (k, n): rotations that must stay small (range of validity of the frame).
    sections : mapping
        Surfaces through the body by name, see :func:`flexph.results.section_forces`.
    buckling : tuple of BucklingLoad
        Loads at which it would buckle in a way that its strain leaves out.
    stiffening : AxialStiffening, optional
        Axial force of a slender body beside its rigidities.
    unshifted : Body, optional
        The body before it was brought about mean axes, where that would have filled its matrices
        (:func:`flexph.bodies.mean_axes.about_mean_axes`).
    """

    inertia: Inertia
    ports: Mapping[str, Port]
    elasticity: ElasticEnergy | None = None
    loads: Mapping[str, LoadPort] = field(default_factory=dict)
    view: View | None = None
    momenta: Momenta = "full"
    turns: bool = True
    section_rotation: Any | None = None
    sections: Mapping[str, SectionMap] = field(default_factory=dict)
    buckling: tuple[BucklingLoad, ...] = ()
    stiffening: AxialStiffening | None = None
    unshifted: Body | None = None
    remedy: ClassVar[str] = "made by fem or rigid, those of a mechanism are in mechanism.bodies"

    def __post_init__(self) -> None:
        check.choice("momenta", self.momenta, ("full", "constant"))
        n = self.inertia.size
        if n and self.elasticity is None:
            raise ValueError(f"elasticity must be given for a body with {n} flexible coordinates")
        if self.elasticity is not None and self.elasticity.shape[1] != n:
            raise ValueError(f"elasticity must act on {n} coordinates, got {self.elasticity.shape[1]}")
        for kind in ("port", "load", "section"):
            for name in getattr(self, f"{kind}s"):
                check.name(f"a {kind}", name)
        object.__setattr__(self, "ports", read_only(self.ports))
        object.__setattr__(self, "loads", read_only(self.loads))
        object.__setattr__(self, "sections", read_only(self.sections))

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

    @checked
    def with_mass(self, port: str, mass: float = 0.0, inertia: float = 0.0) -> Body:
        """The same body with a lumped mass [kg] and rotary inertia [kg m²] at a port ([flex] eq. (48)).

        Parameters
        ----------
        port : str
            Name of a port.
        mass : float
            Mass [kg].
        inertia : float
            Rotary inertia [kg m²].

        Returns
        -------
        Body
            A body of the same ports.
        """
        at: Port = check.lookup("port", port, self.ports)
        changed = self.inertia
        if check.not_negative("mass", mass, "kg"):
            changed = changed.plus_point(mass, at.position, at.shape)
        if check.not_negative("inertia", inertia, "kg m²"):
            if at.rotation is None:
                raise ValueError(f"inertia cannot be lumped at port {port!r}: nothing turns there")
            changed = changed.plus_spin(inertia, at.rotation)
        return replace(self, inertia=changed)
