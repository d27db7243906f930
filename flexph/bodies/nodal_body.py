"""Bodies of nodes: rigid frames with mass and inertia, and strains between them; for large deformations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Described, Memo, once, read_only
from .body import Body, NodalLoad, Port
from .elasticity import ElasticEnergy
from .fields import SectionMap, View
from .split_body import SplitBody


class PointLaw(NamedTuple):
    """Strain rows (k, c) with a stored energy of their own: strains times volumes (k,) [m³], and the law.

    See :class:`flexph.discrete_gradients.stored_energies.StoredEnergy`.
    """

    rows: Array
    volume: Array
    law: Any


@dataclass(frozen=True, eq=False)
class DirectorStrain(ElasticEnergy):
    """Elastic energy ½ σᵀCσ of strains that are products of world vectors, ``Cσ = w Π m_i m_j − ε₀``.

    ``vectors`` (v, k), sparse: each vector is a weighted sum of the k places of the nodes, of each its point and, where
    it turns, its directions. Products are pairs of vectors, ``first`` and ``second`` (p,). Strain row e is the product
    ``product[e]`` over the lengths of one or two directors, whose squares are the products ``directors[e]`` (e, 2), −1
    for none, times ``factor[e]``, by default 1; see :mod:`flexph.kernels.strains`. Rows with ``laws`` have the energies
    of these instead, and their compliance is that without strain. Damping is by stiffness alone: σ + β σ̇ in place of
    σ.
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
    initial: Array | None = None  # (m,), stresses of the body as it is placed; None for none
    undamped: Array | None = None  # (m,), rows that are not damped; None for none
    laws: tuple[PointLaw, ...] = ()
    gradients: bool = False  # whether the vectors are the columns of deformation gradients, point by point

    mass_damping: float = 0.0
    viscous: None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of stresses, and no flexible coordinates."""
        return int(self.product.size), 0

    @once
    def factors(self) -> Array:
        """The factor of each strain row, (e,)."""
        return np.ones(self.product.size) if self.factor is None else self.factor

    def stress_free(self, places: Array) -> DirectorStrain:
        """The same energy without stress where the places are (k, d), directions the unit ones."""
        return replace(self, reference=self.reference + self.strain_at(places))

    def strain_at(self, places: Array) -> Array:
        """The strains where the places are (k, d), (e,)."""
        vector = self.vectors @ places
        product = np.append(np.vecdot(vector[self.first], vector[self.second]), 1.0)
        lengths = np.sqrt(product[self.directors])
        strain: Array = self.factors * product[self.product] / lengths.prod(axis=1)
        return strain - self.reference

    @property
    def stress_damping(self) -> Array:
        """β of each stress."""
        damping = np.full(self.size, self.stiffness_damping)
        return damping if self.undamped is None else np.where(self.undamped, 0.0, damping)

    @once
    def strain(self) -> Any:
        """D₀: there are no flexible coordinates."""
        return sparse.csr_array((self.size, 0))

    @once
    def slopes(self) -> Any:
        """None either."""
        return sparse.csr_array((0, 0))

    @once
    def weights(self) -> Any:
        """And none."""
        return sparse.csr_array((self.size, 0))


@dataclass(frozen=True, eq=False, repr=False)
class NodalBody(Described, Memo):
    """A body of nodes, each a rigid frame or a point with mass and ports of its own, held together by strains.

    States are those of all nodes one after the other: ``rod.centre`` (dN,), ``rod.velocity``, of the T nodes that turn
    ``rod.rotation`` (9T,) and ``rod.spin``, and ``rod.stress``. Directions of joints at its ports are stated in the
    axes of the undeformed body, and turn with the node.

    Parameters
    ----------
    frames : tuple of Body
        The nodes, those that turn before the points.
    places : array
        Their origins (N, d) [m] in the axes of the undeformed body, with which their own are parallel: as long as it is
        undeformed, it moves as a rigid body does.
    elasticity : DirectorStrain
        What holds them together; of solids the vectors of its strains are, point by point, the columns of the
        deformation gradient.
    elements : array
        (E, q): the nodes along each of what its strains interpolate, from end to end.
    directors : array
        (N, d, d): the sections of the undeformed nodes, where these turn.
    view : View, optional
        What it looks like; its shape, (p, N), are weights of the nodes with which the points move.
    current : mapping
        Tensors of solids that depend on the deformation, by name
        (:class:`flexph.bodies.stresses.deformation.CurrentTensor`).
    loads : mapping
        Load ports by name.
    weights : mapping
        Ports that are points which move with weights (N,) of the nodes, by name.
    tangents : array, optional
        (E, q, N): weights of the tangents along each element, in place of nodes that turn.
    coordinates : array, optional
        (N, N): weights of coordinates, in which strains and mass couple neighbours alone, of points that do not turn:
        the positions and slopes of cables.
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
    tangents: Array | None = None
    coordinates: Array | None = None
    remedy: ClassVar[str] = "made by fem.rod, fem.cable or fem.solid(strain='finite')"

    size: ClassVar[int] = 0
    turns: ClassVar[bool] = True
    unshifted: ClassVar[None] = None
    momenta: ClassVar[str] = "full"
    sections: ClassVar[Mapping[str, SectionMap]] = {}

    def __post_init__(self) -> None:
        object.__setattr__(self, "loads", read_only(self.loads))
        object.__setattr__(self, "current", read_only(self.current))
        object.__setattr__(self, "weights", read_only(self.weights))
        names = [*self.weights, *(name for frame in self.frames for name in frame.ports)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"ports must each be at one node, got {name!r} twice")
        if not all(frame.turns for frame in self.frames[: self.turning]):
            raise ValueError("frames must have those that turn before the points")

    def __repr__(self) -> str:
        return f"<Body of {len(self.frames)} nodes: {self.mass:.6g} kg; ports {', '.join(self.ports) or 'none'}>"

    @property
    def dim(self) -> int:
        """2 in the plane, 3 in space."""
        return int(self.places.shape[1])

    @once
    def turning(self) -> int:
        """Number of nodes that turn: the first ones."""
        return sum(frame.turns for frame in self.frames)

    @property
    def ports(self) -> Mapping[str, Port]:
        """The ports of all nodes, and those that are means of nodes."""
        own = {name: port for frame in self.frames for name, port in frame.ports.items()}
        shape = sparse.csr_array((self.dim, 0))
        return own | {name: Port(w @ self.places, shape, None) for name, w in self.weights.items()}

    @property
    def stress_size(self) -> int:
        """Number of stresses."""
        return self.elasticity.size

    @property
    def mass(self) -> float:
        """Total mass [kg], lumped masses included."""
        return sum(frame.mass for frame in self.frames)

    @once
    def centres(self) -> Array:
        """Centres of mass of the nodes in the axes of the undeformed body, (N, 3) [m]."""
        return self.places + np.array([frame.centre for frame in self.frames])

    @once
    def centre(self) -> Array:
        """Centre of mass of the undeformed body in its axes, (3,) [m]."""
        return np.array([frame.mass for frame in self.frames]) @ self.centres / self.mass

    def node_of(self, port: str) -> int:
        """Number of the node that has a port; the first one of a port that is a mean of nodes."""
        return 0 if port in self.weights else next(i for i, frame in enumerate(self.frames) if port in frame.ports)

    @checked
    def with_mass(self, port: str, mass: float = 0.0, inertia: float = 0.0) -> NodalBody:
        """The same body with a lumped mass [kg] and rotary inertia [kg m²] at a port."""
        check.lookup("port", port, self.ports)
        if port in self.weights:
            raise ValueError(
                f"nothing can be lumped at port {port!r} of points: join a rigid body or a point mass to it"
            )
        node = self.node_of(port)
        heavier = self.frames[node].with_mass(port, mass, inertia)
        return replace(self, frames=(*self.frames[:node], heavier, *self.frames[node + 1 :]))


FramedBody = NodalBody | SplitBody
"""Bodies of several frames."""
AnyBody = Body | FramedBody


def nodes_of(body: AnyBody) -> tuple[Body, ...]:
    """The frames of a body: its own, or those of its nodes."""
    return (body,) if isinstance(body, Body) else body.frames


def turning_of(body: AnyBody) -> int:
    """How many frames of a body turn."""
    return int(body.turns) if isinstance(body, Body) else body.turning


def strain_places(points: Array, turning: int) -> tuple[Array, Array]:
    """The node of each place that strains are made of, (k,), and where it is undeformed, (k, d).

    The first nodes turn: of each its point and its directions; then come the points of the others.
    """
    d = points.shape[1]
    directions = np.tile(np.vstack([np.zeros((1, d)), np.eye(d)]), (turning, 1))
    directions[:: d + 1] = points[:turning]
    owner = np.concatenate([np.repeat(np.arange(turning), d + 1), np.arange(turning, len(points))])
    return owner, np.vstack([directions, points[turning:]])
