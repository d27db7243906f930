"""Nodal bodies for large deformations: nodes with mass and inertia, and strains between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..discrete_gradients.stored_energies import LineEnergy
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, no_entries
from ..numerics.memo import Memo, WithRecipe, once, read_only
from .body import Body, NodalLoad, Port
from .elasticity import ElasticEnergy
from .fields import SectionMap, View
from .split_body import SplitBody


class PointLaw(NamedTuple):
    """Stored energy of a nonlinear law for strains of a nodal body, at k integration points.

    ``rows`` (k, c) are the indices, among the strains of the body, of the c strains of each point; they are multiplied
    by volumes. ``volume`` (k,) are the volumes of the points [m³], for rods their lengths [m]. ``law`` is the stored
    energy per volume, see :class:`flexph.discrete_gradients.stored_energies.StoredEnergy`.
    """

    rows: Array
    volume: Array
    law: Any


class BodyFlow(NamedTuple):
    """Mass m per length [kg/m] that flows along a rod or cable of N nodes at a given speed [m/s].

    ``along`` is ∫m w w'ᵀ and ``tension`` ∫m w'w'ᵀ (N, N), with the weights w(s) by which the nodes give the position at
    the length s. ``shape`` and ``slope`` (2, N) are w and w' at both ends. See
    :mod:`flexph.kernels.rates.flows`.
    """

    mass: float
    speed: float | Callable[[float], float]
    along: Array
    tension: Array
    shape: Array
    slope: Array


class Pieces(NamedTuple):
    """Elements along a rod or cable, which may break.

    ``borders`` (E + 1,) [m] are the lengths at which elements begin and end. ``shares`` (E, m) are the shares of the
    elements in the stiffness of each of the m strains: a strain at the border of two elements of a cable belongs to
    both in part. ``axial`` (k,) are the indices of the axial strains, whose stresses are tensions.
    """

    borders: Array
    shares: Any
    axial: Array


@dataclass(frozen=True, eq=False)
class DirectorStrain(ElasticEnergy):
    """Elastic energy ½ σᵀCσ of a nodal body whose strains are products of world vectors, ``Cσ = w Π m_i m_j − ε₀``.

    Each of the ``vectors``, sparse (v, k), is a weighted sum of the k points and directions of the nodes. Products Π
    are those of pairs of vectors, ``first`` and ``second`` (p,). Strain e is w = ``factor[e]`` (by default 1) times
    the product ``product[e]``, divided by the lengths of up to two directors (m_i, m_j are 1/length), minus ε₀ =
    ``reference[e]``. The squares of these lengths are the products with the indices ``directors[e]``, −1 for none; see
    :mod:`flexph.kernels.strains`. Products that are ``crossed``, in the plane, are (J V)·W with a quarter turn J.
    Strains of a point in ``laws`` have the stored energy of that law instead; their compliance is the one at zero
    strain. Damping is proportional to stiffness, with σ + β σ̇ instead of σ.
    """

    vectors: Any
    first: Array
    second: Array
    product: Array
    directors: Array
    reference: Array
    compliance: Any
    stiffness_damping: float = 0.0
    factor: Array | None = None
    initial: Array | None = None  # (m,), initial stresses; None for none
    undamped: Array | None = None  # (m,), True for undamped rows; None for none
    laws: tuple[PointLaw, ...] = ()
    crossed: Array | None = None  # (p,), True for crossed products; None for none
    gradients: bool = False  # True if the vectors are the columns of deformation gradients, point by point

    mass_damping: float = 0.0
    viscous: None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of stresses and of flexible coordinates, which is zero."""
        return int(self.product.size), 0

    @once
    def factors(self) -> Array:
        """Factor that multiplies the product of each strain, (m,); ones by default."""
        return np.ones(self.product.size) if self.factor is None else self.factor

    def stress_free(self, places: Array) -> DirectorStrain:
        """Copy whose stresses are zero if the points and directions of the nodes are ``places`` (k, d)."""
        return replace(self, reference=self.reference + self.strain_at(places))

    def strain_at(self, places: Array) -> Array:
        """Strains Cσ (m,) if the points and directions of the nodes are ``places`` (k, d)."""
        vector = self.vectors @ places
        first, second = vector[self.first], vector[self.second]
        if self.crossed is not None:
            first = np.where(self.crossed[:, None], first[:, ::-1] * (-1.0, 1.0), first)
        product = np.append(np.vecdot(first, second), 1.0)
        lengths = np.sqrt(product[self.directors])
        strain: Array = self.factors * product[self.product] / lengths.prod(axis=1)
        return strain - self.reference

    @property
    def stress_damping(self) -> Array:
        """Damping β of each stress [s]."""
        damping = np.full(self.size, self.stiffness_damping)
        return damping if self.undamped is None else np.where(self.undamped, 0.0, damping)

    @once
    def strain(self) -> Any:
        """Strain operator D₀ (m, 0), as there are no flexible coordinates."""
        return no_entries(self.size, 0)

    @once
    def slopes(self) -> Any:
        """Empty matrix (0, 0), as the strains have no quadratic terms in flexible coordinates."""
        return no_entries(0, 0)

    @once
    def weights(self) -> Any:
        """Weights (m, 0) of the quadratic terms, of which there are none."""
        return no_entries(self.size, 0)


@dataclass(frozen=True, eq=False, repr=False)
class NodalBody(WithRecipe, Memo):
    """Body of nodes (rigid frames or points with mass and ports), coupled by strains.

    Its states are those of all nodes, concatenated: ``rod.centre`` (dN,), ``rod.velocity``, ``rod.rotation`` (9T,) and
    ``rod.spin`` of the T nodes that turn, and ``rod.stress``. Directions of joints at its ports are given in the axes
    of the undeformed body, and turn with the node.

    Parameters
    ----------
    frames : tuple of Body
        Nodes: first those that turn, then points without rotation.
    places : array
        Origins of the nodes (N, d) [m] in the axes of the undeformed body; the axes of all nodes are parallel to these.
    elasticity : DirectorStrain
        Elastic energy of the strains; for solids its vectors are the columns of the deformation gradient, point by
        point.
    elements : array
        Nodes along each element, from end to end, (E, q).
    directors : array
        Section axes of the undeformed nodes, for nodes that turn, (N, d, d).
    view : View, optional
        Geometry for pictures and export; its shape (p, N) are the weights of the nodes for its points.
    current : mapping
        Tensors of solids that depend on the deformation, by name
        (:class:`flexph.bodies.stresses.CurrentTensor`).
    loads : mapping
        Load ports by name.
    weights : mapping
        Weights (N,) of the nodes for ports that are weighted means of nodes, by name.
    slopes : mapping
        Weights (N,) of the nodes for the slopes r' at such ports, the directions of a cable, by name.
    tangents : array, optional
        Weights of the tangents along each element for nodes that do not turn, (E, q, N).
    coordinates : array, optional
        Weights (N, N) of coordinates in which strains and mass couple neighbours only, for points that do not turn:
        positions and slopes of cables.
    pieces : Pieces, optional
        Elements along a rod or cable, which may break.
    whole : NodalBody, optional
        The body before some of its elements broke.
    flow : BodyFlow, optional
        Mass that flows along the rod or cable.
    """

    frames: tuple[Body, ...]
    places: Array
    elasticity: DirectorStrain
    elements: Array
    directors: Array
    view: View | None = None
    current: Mapping[str, Any] = field(default_factory=dict)
    loads: Mapping[str, NodalLoad] = field(default_factory=dict)
    weights: Mapping[str, Array] = field(default_factory=dict)
    slopes: Mapping[str, Array] = field(default_factory=dict)
    tangents: Array | None = None
    coordinates: Array | None = None
    pieces: Pieces | None = None
    whole: NodalBody | None = None
    flow: BodyFlow | None = None
    remedy: ClassVar[str] = "made by fem.rod, fem.cable or fem.solid(strain='finite')"

    size: ClassVar[int] = 0
    turns: ClassVar[bool] = True
    unshifted: ClassVar[None] = None
    mass_factor: ClassVar[None] = None
    momenta: ClassVar[str] = "full"
    sections: ClassVar[Mapping[str, SectionMap]] = {}

    def __post_init__(self) -> None:
        object.__setattr__(self, "loads", read_only(self.loads))
        object.__setattr__(self, "current", read_only(self.current))
        object.__setattr__(self, "weights", read_only(self.weights))
        object.__setattr__(self, "slopes", read_only(self.slopes))
        names = [*self.weights, *(name for frame in self.frames for name in frame.ports)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"ports must have different names, got {name!r} twice")
        if not all(frame.turns for frame in self.frames[: self.turning]):
            raise ValueError("frames that turn must come before points")

    def __repr__(self) -> str:
        return f"<Body of {len(self.frames)} nodes: {self.mass:.6g} kg; ports {', '.join(self.ports) or 'none'}>"

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return int(self.places.shape[1])

    @once
    def turning(self) -> int:
        """Number of nodes that turn; they come before the points without rotation."""
        return sum(frame.turns for frame in self.frames)

    @property
    def ports(self) -> Mapping[str, Port]:
        """Ports of all nodes, and ports that are means of nodes."""
        ports = {name: port for frame in self.frames for name, port in frame.ports.items()}
        shape = no_entries(self.dim, 0)
        return ports | {name: Port(w @ self.places, shape, None) for name, w in self.weights.items()}

    @property
    def stress_size(self) -> int:
        """Number of stresses."""
        return self.elasticity.size

    @property
    def scheduled_laws(self) -> tuple[Any, ...]:
        """Laws of the strains with a factor that depends on time."""
        energies = (part.law for part in self.elasticity.laws)
        return tuple(e.law for e in energies if isinstance(e, LineEnergy) and e.law.factor is not None)

    @property
    def mass(self) -> float:
        """Total mass [kg], lumped masses included."""
        return sum(frame.mass for frame in self.frames)

    @once
    def centres(self) -> Array:
        """Centres of mass of the nodes in the axes of the undeformed body, (N, d) [m]."""
        return self.places + np.array([frame.centre for frame in self.frames])

    @once
    def centre(self) -> Array:
        """Centre of mass of the undeformed body in its axes, (d,) [m]."""
        return np.array([frame.mass for frame in self.frames]) @ self.centres / self.mass

    def node_of(self, port: str) -> int:
        """Index of the node to which a port belongs; 0 for a port that is a mean of nodes."""
        return 0 if port in self.weights else next(i for i, frame in enumerate(self.frames) if port in frame.ports)

    @checked
    def with_mass(self, port: str, mass: float = 0.0, inertia: float = 0.0) -> NodalBody:
        """Add a lumped mass [kg] and rotary inertia [kg m²] at a port."""
        check.lookup("port", port, self.ports)
        if port in self.weights:
            raise ValueError(
                f"nothing can be lumped at port {port!r}, a mean of points: join a rigid body or a point mass to it"
            )
        node = self.node_of(port)
        if self.flow is not None and np.any(self.frames[node].ports[port].position):
            raise ValueError(f"nothing can be lumped at port {port!r}, off the axis of a hose: join a rigid body to it")
        heavier = self.frames[node].with_mass(port, mass, inertia)
        return replace(self, frames=(*self.frames[:node], heavier, *self.frames[node + 1 :]))


FramedBody = NodalBody | SplitBody
"""Types of bodies with several frames: nodes, or the pieces of a split beam."""
AnyBody = Body | FramedBody


def strain_places(points: Array, turning: int) -> tuple[Array, Array]:
    """Points and directions of nodes on which strains depend: index of the node (k,), and undeformed value (k, d).

    ``points`` (N, d) are the undeformed nodes. The first ``turning`` of them can turn, and have d + 1 entries each: the
    point, then the axes of the node as directions. All other nodes follow with one entry each, the point.
    """
    d = points.shape[1]
    directions = np.tile(np.vstack([np.zeros((1, d)), np.eye(d)]), (turning, 1))
    directions[:: d + 1] = points[:turning]
    owner = np.concatenate([np.repeat(np.arange(turning), d + 1), np.arange(turning, len(points))])
    return owner, np.vstack([directions, points[turning:]])
