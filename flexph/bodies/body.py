"""Bodies in a floating frame: inertia integrals, elastic energy, named ports and buckling loads.

A body has its own frame with origin P. A material point X is at ``r_P + R (X + φ(X) u)`` with flexible coordinates u
(reference conditions removed). ``fem`` and ``rigid`` compute the integrals of φ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..laws.resistive_relations import Factor, check_factor
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Memo, WithRecipe, read_only
from .elasticity import ElasticEnergy
from .fields import SectionMap, View
from .inertia import Inertia, contract


@dataclass(frozen=True, eq=False, kw_only=True)
class BucklingLoad:
    """Critical value of a mean stress resultant, for a buckling mode that the model of a body does not describe.

        load = Σ_i weights_i |f_i|  or, of a compression,  max(0, −Σ_i weights_i f_i),   f = rows σ

    Parameters
    ----------
    load : str
        Name of the load ("axial compression").
    mode : str
        Name of the buckling mode ("Euler buckling").
    unit : str
        Unit of f.
    remedy : str
        Advice for the user.
    rows : matrix
        Sparse matrix (k, m) that acts on the stress coordinates.
    weights : array
        Weights (k,), which add up to 1.
    critical : float
        Critical load [unit of f], positive.
    compression : bool
        True for a compression, see above.
    """

    load: str
    mode: str
    unit: str
    remedy: str
    rows: Any
    weights: Array
    critical: float
    compression: bool = False

    def share(self, sigma: Array) -> Array:
        """Ratios (t,) of the load to the critical load, for stress coordinates σ (t, m) at t times."""
        values = (self.rows @ sigma.T).T
        means = -values @ self.weights if self.compression else np.abs(values) @ self.weights
        return np.maximum(means, 0.0) / self.critical

    def in_basis(self, stresses: Any) -> BucklingLoad:
        """Buckling load that acts on reduced stresses σ̂, for the matrix S in σ = S σ̂."""
        return replace(self, rows=self.rows @ stresses)


@dataclass(frozen=True, eq=False, kw_only=True)
class AxialStiffening:
    """Mean axial force N, and rigidities, of a slender body.

        N = Σ_i weights_i f_i,   f = rows σ

    A tension N straightens a bend over the length √(EI/N), with the bending rigidity EI.

    Parameters
    ----------
    rows : matrix
        Sparse matrix (k, m) that acts on the stress coordinates.
    weights : array
        Weights (k,), which add up to 1.
    rigidities : array
        Rigidities (s,) [N m²]: EI in the plane, (GJ, EI_y, EI_z) in space.
    length : float
        Length of the body [m].
    critical : float, optional
        Critical compression [N] of a body whose strain omits the work of N on slopes.
    """

    rows: Any
    weights: Array
    rigidities: Array
    length: float
    critical: float | None = None

    def force(self, sigma: Array) -> Array:
        """Axial forces N (t,) [N], for stress coordinates σ (t, m) at t times."""
        mean: Array = (self.rows @ sigma.T).T @ self.weights
        return mean

    def in_basis(self, stresses: Any) -> AxialStiffening:
        """Axial stiffening that acts on reduced stresses σ̂, for the matrix S in σ = S σ̂."""
        return replace(self, rows=self.rows @ stresses)


Momenta = Literal["full", "constant"]


@dataclass(frozen=True, eq=False)
class Port:
    """Port of a body: the section at a material point.

    Parameters
    ----------
    position : array
        Position X (d,) [m].
    shape : matrix
        Shape φ, sparse (d, n): the displacement of the point is φu.
    rotation : matrix, optional
        ψ, sparse (s, n): the rotation of the section is ψu to first order; None for a point without rotation.
    """

    position: Array
    shape: Any
    rotation: Any | None


@dataclass(frozen=True, eq=False)
class LoadPort:
    """Load port for a force density that is constant on each of k elements.

    The force of an element does work on the mean displacement of the element.

    Parameters
    ----------
    positions : array
        Element means of the position (k, d) [m].
    shapes : matrix
        Element means of the shapes, sparse (k·d, n).
    measures : array
        Lengths, areas or volumes of the elements (k,).
    normals : array, optional
        Mean outward normals (k, d) in body axes, on surfaces.
    """

    positions: Array
    shapes: Any
    measures: Array
    normals: Array | None = None


class FaceSamples(NamedTuple):
    """Quadrature points of loaded faces of a nodal body.

    ``points``, ``along`` and ``across`` are sparse matrices (q, k) from the k points and directions of the nodes
    (:func:`flexph.bodies.nodal_body.strain_places`) to the q quadrature points and to both tangents there. The tangents
    are derivatives along orthonormal directions of the undeformed face, whose cross product is the outward normal. In
    the plane there is one tangent, along the normal turned by 90°. ``areas`` (q,) are the shares of the undeformed
    faces (integration weights), ``element`` (q,) are the elements of the load to which the points belong.
    """

    points: Any
    along: Any
    across: Any
    areas: Array
    element: Array


@dataclass(frozen=True, eq=False)
class NodalLoad:
    """Load port of a body of several frames, for a force density that is constant on each of k elements.

    The densities give the forces ``weights @ densities`` on p points; ``weights``, sparse (p, k), are lengths, areas or
    volumes. ``nodes`` (p,) are the indices of the frames to which the points belong, ``positions`` (p, d) [m] the
    vectors from the origins of these frames to the points. ``normals`` (k, d) are the mean outward normals of
    undeformed surfaces. ``shapes``, sparse (p·d, n), are the displacements of points of flexible frames for unit
    coordinates. ``faces`` are the quadrature points of deforming faces.
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
class Body(WithRecipe, Memo):
    """Body in a floating frame: inertia, elastic energy, named ports.

    Parameters
    ----------
    inertia : Inertia
        Mass integrals.
    ports : mapping
        Ports by name.
    elasticity : ElasticEnergy, optional
        Elastic energy; rigid bodies have none.
    loads : mapping
        Load ports by name.
    view : View, optional
        Geometry and stress fields for pictures and export.
    momenta : {"full", "constant"}
        "full" if the momenta depend on the deformation ([flex] eq. (9)); "constant" if they are those at u = 0 about
        the centre of mass ([flex] sec. 4.3), without Coriolis and centrifugal coupling to u.
    turns : bool
        False for a point mass.
    section_rotation : matrix, optional
        Rotations that must stay small (range of validity of the frame), sparse (k, n).
    sections : mapping
        Surfaces through the body by name, see :func:`flexph.results.section_forces`.
    buckling : tuple of BucklingLoad
        Critical loads of buckling modes that the model of the body does not describe.
    stiffening : AxialStiffening, optional
        Axial force and rigidities of a slender body.
    unshifted : Body, optional
        Body before the change to mean axes, if this would fill its matrices
        (:func:`flexph.bodies.mean_axes.about_mean_axes`).
    mass_factor : callable or "input", optional
        Factor of the inertia of a rigid body as a function of time, see :meth:`with_mass_factor`.
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
    mass_factor: Factor | None = None
    scheduled_laws: ClassVar[tuple[()]] = ()
    whole: ClassVar[None] = None
    flow: ClassVar[None] = None
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
        """Dimension, 2 or 3."""
        return self.inertia.dim

    @property
    def frames(self) -> tuple[Body, ...]:
        """Frames of the body: itself, as it has one floating frame; bodies of nodes or pieces have several."""
        return (self,)

    @property
    def turning(self) -> int:
        """Number of frames of the body that have a rotation: 1, or 0 for a point mass."""
        return int(self.turns)

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
        """Add a lumped mass and rotary inertia at a port ([flex] eq. (48)).

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
            Body with the same ports.

        Raises
        ------
        ValueError
            For an unknown port, a negative mass or inertia, and an inertia at a port without rotation.
        """
        at: Port = check.lookup("port", port, self.ports)
        changed = self.inertia
        if check.not_negative("mass", mass, "kg"):
            changed = changed.plus_point(mass, at.position, at.shape)
        if check.not_negative("inertia", inertia, "kg m²"):
            if at.rotation is None:
                raise ValueError(f"inertia cannot be lumped at port {port!r}, which has no rotation")
            changed = changed.plus_spin(inertia, at.rotation)
        return replace(self, inertia=changed)

    @checked
    def with_mass_factor(self, factor: Callable[[float], float] | Literal["input"]) -> Body:
        """Rigid body whose mass and inertia change with time, ``m(t) = a(t) m`` and ``J(t) = a(t) J``.

        Mass leaves or arrives with the velocity that the body has at the same point, and so exerts no force: with
        forces f and torques τ, ``m(t) v̇ = f`` and ``J(t) ω̇ + ω × J(t) ω = τ``. This mass takes its momentum and its
        energy along. Over a step from a₀ to a₁ the inertia is the mean of both ends, and the mass does the work

            (a₁ − a₀) ½ (H₀ + H₁),   H = ½ m |v|² + ½ ω·J ω − m g·r,

        which the ledger shows under the name of the body; energies balance at any step. A jet at another velocity is a
        :func:`flexph.force`. Mass that arrives at rest acts as a damper to the ground, see the how-to page on masses
        that change.

        Parameters
        ----------
        factor : callable or "input"
            Positive factor a(t) of the time [s], evaluated at the ends of steps, between which it may jump. With
            ``"input"`` the body is an external port of one component u > -1 under its name, and a = 1 + u: a signal of
            the run or a :class:`flexph.control.Sampled` controller sets it and does the work of the mass. Where u
            jumps, a goes to the new value over the next step.

        Returns
        -------
        Body
            Body with the same ports and the same centre of mass.

        Raises
        ------
        ValueError
            For deformable bodies, for a body that already has a factor, and for a factor that is neither a function nor
            ``"input"``; in a run for a factor that is not positive.

        Examples
        --------
        A rocket without gravity reaches Tsiolkovsky's speed 2000 m/s · ln 2 when half of its mass is burnt:

        >>> import numpy as np
        >>> import rigid
        >>> from flexph import connect, force, integrate
        >>> rocket = rigid.point(100.0).with_mass_factor(lambda t: 1.0 - t / 20.0)
        >>> mechanism = connect({"rocket": rocket}, [force("rocket.point", name="jet")])
        >>> start = mechanism.consistent_state(mechanism.assemble())
        >>> run = integrate(mechanism, start, np.linspace(0.0, 10.0, 101), inputs={"jet": (0.0, 2000.0 * 5.0)})
        >>> bool(abs(run["rocket.velocity"][-1, 1] - 2000.0 * np.log(2.0)) < 0.05)
        True
        """
        check_factor("factor", factor)
        if self.size:
            raise ValueError(
                f"a mass by a factor is for rigid bodies, this one has {self.size} flexible coordinates: weld a rigid "
                "body with the factor to one of its ports"
            )
        if self.mass_factor is not None:
            raise ValueError("this body has a factor of its mass already: use one function for both")
        return replace(self, mass_factor=factor)
