"""Kernel arrays of nodal bodies: their points, vectors, products and strain rows, and their rigid motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody, DirectorStrain, NodalBody, strain_places
from ...discrete_gradients.stored_energies import LawRows
from ...kernels.rates.flows import Flow
from ...kernels.strains import NONE, Strains
from ...numerics.arrays import Array, sparse_block_diag
from ...numerics.rotations import finite_rotation, unit_sweeps


class NodalParts(NamedTuple):
    """Kernel arrays of all nodal bodies of a mechanism: points of their frames, vectors, products and strain rows.

    ``stiffness`` (2,) are the stiffnesses of these bodies against displacements [N/m] and rotations [N m]; ``reach``
    [m] is the largest distance of a node from the centre of mass of its body.
    """

    nodes: dict[str, Any]
    vectors: Any  # (v, places)
    pairs: Array  # (2, p)
    crossed: Array  # indices of crossed products
    strains: Strains
    stiffness: Array
    reach: float


class MeanPoint(NamedTuple):
    """Point of a joint or load that is a weighted mean of nodes of a body.

    ``place`` is its index among the points, ``frame`` the first frame of the body; ``weights`` (N,) are those of the
    nodes.
    """

    place: int
    frame: int
    weights: Array


def nodal_parts(bodies: Mapping[str, AnyBody], stiffness: Any) -> NodalParts | None:
    """Kernel arrays of all nodal bodies together; None if there are none.

    ``stiffness`` (m, m), sparse, maps strains to stresses, for the stresses of all bodies, nodal or not.
    """
    frame = stress = vectors = products = 0
    parts: list[tuple[NodalBody, tuple[int, int, int, int]]] = []
    for body in bodies.values():
        if isinstance(body, NodalBody):
            parts.append((body, (frame, stress, vectors, products)))
            vectors, products = vectors + body.elasticity.vectors.shape[0], products + body.elasticity.first.size
        frame, stress = frame + len(body.frames), stress + body.stress_size
    if not parts:
        return None
    pairs = [np.array([b.elasticity.first, b.elasticity.second]) + at[2] for b, at in parts]
    crossed = np.concatenate([_crossed(b.elasticity) for b, _ in parts])
    stress_vectors, strains = sparse_block_diag(b.elasticity.vectors for b, _ in parts), _strains(parts, stiffness)
    return NodalParts(
        nodes=_places(parts),
        vectors=stress_vectors,
        pairs=np.hstack(pairs),
        crossed=np.flatnonzero(crossed),
        strains=strains,
        stiffness=sum((_stiffness(b) for b, _ in parts), start=np.zeros(2)),
        reach=max(float(np.linalg.norm(b.centres - b.centre, axis=1).max()) for b, _ in parts),
    )


def _crossed(e: DirectorStrain) -> Array:
    """True for each product of strains that is (J V)·W instead of V·W, J a quarter turn in the plane, (p,)."""
    return np.zeros(e.first.size, dtype=bool) if e.crossed is None else e.crossed


def _places(parts: list[tuple[NodalBody, tuple[int, int, int, int]]]) -> dict[str, Any]:
    owner, moves, position = [], [], []
    for body, at in parts:
        centres = np.array([node.centre for node in body.frames])  # measured from the origins of the nodes
        owners, places = strain_places(-centres, body.turning)
        owner.append(at[0] + owners)
        moves.append(points_of(body))
        position.append(places)
    return {
        "node_body": np.concatenate(owner),
        "node_moves": np.concatenate(moves),
        "node_position": np.vstack(position),
    }


def points_of(body: NodalBody) -> Array:
    """Array (k,) that is 1 for each vector of a nodal body that is a point, and 0 for each that is a direction."""
    turning = np.tile(np.append(1.0, np.zeros(body.dim)), body.turning)
    return np.append(turning, np.ones(len(body.frames) - body.turning))


def _strains(parts: list[tuple[NodalBody, tuple[int, int, int, int]]], stiffness: Any) -> Strains:
    stress = np.concatenate([at[1] + np.arange(b.stress_size) for b, at in parts])
    numbered = [np.column_stack([b.elasticity.product, b.elasticity.directors]) for b, _ in parts]
    table = np.vstack([np.where(n >= 0, n + at[3], -1) for n, (_, at) in zip(numbered, parts, strict=True)])
    reference = np.concatenate([b.elasticity.reference for b, _ in parts])
    undeformed = sparse.csr_array(stiffness)[stress][:, stress]
    factor = np.concatenate([b.elasticity.factors for b, _ in parts])
    starts, laws = np.cumsum([0, *(b.stress_size for b, _ in parts)]), []
    for (b, _), start in zip(parts, starts, strict=False):
        laws += [LawRows(start + law.rows, law.volume, law.law) for law in b.elasticity.laws]
    quadratic = np.ones(len(stress))
    quadratic[[row for law in laws for row in law.rows.ravel()]] = 0.0
    return Strains(
        product=table[:, 0],
        first=table[:, 1],
        second=table[:, 2],
        reference=reference,
        stress=stress,
        stiffness=sparse.csr_array(sparse.diags_array(quadratic) @ undeformed),
        factor=factor,
        laws=tuple(laws),
        undeformed=undeformed,
    )


def _stiffness(body: NodalBody) -> Array:
    """Stiffnesses (2,) of a nodal body against displacements [N/m] and against rotations [N m] of single nodes.

    Strain rows that displacements change do not count for rotations. Each stiffness is a sum over strain rows of their
    stiffness times the square of their largest change for one node.
    """
    e = body.elasticity
    points = (abs(e.vectors) @ sparse.diags_array(points_of(body))).max(axis=1).toarray().ravel()
    turns = abs(e.vectors).max(axis=1).toarray().ravel()
    moving = e.factors * np.maximum(points[e.first], points[e.second])[e.product]
    turning = e.factors * np.maximum(turns[e.first], turns[e.second])[e.product]
    diagonal = e.stiffness_of_stress.diagonal()
    return np.array([diagonal @ moving**2, diagonal @ np.where(moving > 0.0, 0.0, turning) ** 2])


def shifted(strains: Strains, products: int) -> Strains:
    """Strain rows with ``products`` added to the indices of their products V·W.

    ``products`` is the number of products of joints and loads, which come before those of nodal bodies.
    """
    product, first, second = (np.where(index >= 0, index + products, -1) for index in strains[:3])
    return strains._replace(product=product, first=first, second=second)


def with_nodes(
    parts: dict[str, Any], own: NodalParts | None, means: Sequence[MeanPoint]
) -> tuple[dict[str, Any], Strains]:
    """Kernel arrays of joints and loads, extended by the points, vectors and products of nodal bodies.

    ``parts`` are the fields of joints and loads, ``own`` the contribution of nodal bodies (None: there are none).
    Points that are ``means`` of nodes act through the nodes. The second value has the strain rows, with indices in all
    products.
    """
    if own is None:
        return parts, NONE
    spread = _mean_weights(means, own.nodes, len(parts["node_body"]))
    (vectors, dim), width, inputs = parts["vector_fixed"].shape, parts["node_shape"].shape[1], parts["input_node"]
    more, added = len(own.nodes["node_body"]), own.vectors.shape[0]
    both = {name: np.concatenate([parts[name], own.nodes[name]]) for name in own.nodes}
    pairs = np.hstack([np.array([parts["first"], parts["second"]]).reshape(2, -1), own.pairs + vectors])
    if means:
        none = sparse.csr_array((spread.shape[1], spread.shape[1])), sparse.csr_array((more, more))
        both["node_means"] = sparse.block_array([[none[0], spread.T], [None, none[1]]], format="csr")
    both |= {
        "node_shape": sparse.vstack([parts["node_shape"], sparse.csr_array((dim * more, width))]).tocsr(),
        "incidence": sparse.block_array(
            [[parts["incidence"], parts["incidence"] @ spread.T], [None, own.vectors]], format="csr"
        ),
        "joins_points": np.append(parts["joins_points"], abs(own.vectors) @ own.nodes["node_moves"] > 0.0),
        "vector_fixed": np.vstack([parts["vector_fixed"], np.zeros((added, dim))]),
        "first": pairs[0],
        "second": pairs[1],
        "crossed": own.crossed + len(parts["first"]),
        "select_first": selection(pairs[0], vectors + added),
        "select_second": selection(pairs[1], vectors + added),
        "input_node": sparse.vstack([inputs, sparse.kron(spread, np.eye(dim)) @ inputs]).tocsr(),
    }
    return parts | both, shifted(own.strains, len(parts["first"]))


def _mean_weights(means: Sequence[MeanPoint], nodes: Mapping[str, Any], count: int) -> Any:
    """Sparse matrix (nodes, count) that replaces the points of joints and loads by weighted means of nodes.

    Each of the ``count`` columns has the weights of the nodes for one point; it is empty for points that are no means.
    Rows are the points and directions of the nodal bodies.
    """
    points = np.flatnonzero(nodes["node_moves"])
    place_of = dict(zip(nodes["node_body"][points].tolist(), points.tolist(), strict=True))
    rows = [place_of[m.frame + i] for m in means for i in range(len(m.weights))]
    columns = np.repeat([m.place for m in means], [len(m.weights) for m in means]).astype(int)
    values = np.concatenate([np.zeros(0), *(m.weights for m in means)])
    return sparse.csr_array((values, (rows, columns)), shape=(len(nodes["node_moves"]), count))


def flow_arrays(bodies: Mapping[str, AnyBody]) -> tuple[Flow, ...]:
    """Kernel arrays of the mass flows in rods and cables, one for each body with a flow.

    Each has the index of its body, the index of the first frame of this body, and the mass, speed and matrices of the
    flow.
    """
    flows, first = [], 0
    for k, (name, body) in enumerate(bodies.items()):
        body_flow = body.flow if isinstance(body, NodalBody) else None
        if body_flow is not None:
            speed = body_flow.speed if callable(body_flow.speed) else partial(_constant, body_flow.speed)
            parts = body_flow.along, body_flow.tension, body_flow.shape, body_flow.slope
            flows.append(Flow(k, first, body_flow.mass, f"{name}: the speed", speed, *parts))
        first += len(body.frames)
    return tuple(flows)


def _constant(value: float, time: float) -> float:
    return value


def initial_stresses(bodies: Mapping[str, AnyBody]) -> Array:
    """Stresses (m,) of all bodies in the pose in which they are placed; nonzero for cables only."""
    given = [(b, b.elasticity.initial if isinstance(b, NodalBody) else None) for b in bodies.values()]
    return np.concatenate(
        [np.zeros(b.stress_size) if given_stresses is None else given_stresses for b, given_stresses in given]
    )


def selection(index: np.ndarray, width: int, *, is_dense: bool = False) -> Any:
    """Matrix of zeros and ones, dense or sparse, that picks the rows ``index`` of an array with ``width`` rows."""
    if is_dense:
        return np.eye(width)[index]
    return sparse.csr_array((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), width))


# --- nodal bodies as rigid bodies -------------------------------------------------------------------------------------


LINE = 1e-9
"""Artificial inertia of collinear points about their line, relative to that across it, for regular projections."""


class RigidMotion:
    """Rigid motions of the B bodies of a mechanism, in which all frames of a nodal body move as one.

    They are given by one vector (size,) of velocities of all bodies. ``centres`` (B, d) and ``spins`` (B, s) are the
    indices of the velocities and spins of each body in this vector, −1 for bodies that do not turn. Spins are in the
    axes of the first frame of a body. ``lines`` (size,) is a small inertia [kg m²] for straight cables, whose inertia
    about their line is zero.
    """

    def __init__(self, bodies: Mapping[str, AnyBody], columns: Any) -> None:
        owned = list(bodies.values())
        dim, s = columns.v.shape[1], columns.omega.shape[1]
        self.frames = np.split(np.arange(len(columns.v)), np.cumsum([len(b.frames) for b in owned])[:-1])
        self.masses = [np.array([node.mass for node in b.frames]) for b in owned]
        self.centres = np.arange(dim * len(owned)).reshape(-1, dim)
        self.spins, turning = np.full((len(owned), s), -1), [i for i, b in enumerate(owned) if b.turns]
        self.spins[turning] = self.centres.size + np.arange(s * len(turning)).reshape(-1, s)
        self.lines = np.zeros(self.centres.size + s * len(turning))
        for i in turning:
            body = owned[i]
            if isinstance(body, NodalBody) and body.tangents is not None:
                spread = np.square(body.places - body.centre).sum(axis=1)
                self.lines[self.spins[i]] = LINE * float(self.masses[i] @ spread)
        self.size, self._columns = self.centres.size + s * len(turning), columns
        self.is_plain = len(owned) == len(columns.v)

    def frame_velocities(self, centres: Array, rotations: Array) -> Array:
        """Matrix (n_v, size) from rigid velocities of the bodies, (size,), to the velocities of all frames.

        It holds at the given centres (b, d) and rotations (b, d, d) of the frames.
        """
        v, omega, _ = self._columns
        frame_velocities = np.zeros((v.size + int((omega >= 0).sum()), self.size))
        for body, frames in enumerate(self.frames):
            frame_velocities[v[frames].ravel(), np.tile(self.centres[body], len(frames))] = 1.0
            if self.spins[body, 0] < 0:
                continue
            R, middle = rotations[frames[0]], self._middle(body, centres)
            for i in frames:
                arms = R.T @ (centres[i] - middle)
                if omega[i, 0] >= 0:
                    frame_velocities[np.ix_(omega[i], self.spins[body])] = np.eye(len(omega[i]))
                if len(frames) > 1:
                    frame_velocities[np.ix_(v[i], self.spins[body])] = R @ unit_sweeps(arms[None])[0].T
        return frame_velocities

    def moved(self, centres: Array, rotations: Array, step: Array) -> tuple[Array, Array]:
        """Centres (b, d) and rotations (b, d, d) of all frames after a rigid increment of each body, ``step`` (size,).

        The step is shortened so that no rotation about an axis exceeds half a radian.
        """
        largest = np.abs(step[self.spins[self.spins >= 0]]).max(initial=0.0)
        step = step * min(1.0, 0.5 / largest) if largest > 0.0 else step
        placed, turned = centres.copy(), rotations.copy()
        for body, frames in enumerate(self.frames):
            R, middle = rotations[frames[0]], self._middle(body, centres)
            turn = finite_rotation(step[self.spins[body]], R.shape[0]) if self.spins[body, 0] >= 0 else np.eye(len(R))
            arms = (centres[frames] - middle) @ R
            placed[frames] = middle + step[self.centres[body]] + arms @ (R @ turn).T
            turning = frames[self._columns.omega[frames, 0] >= 0]
            turned[turning] = R @ turn @ R.T @ rotations[turning]
        return placed, turned

    def _middle(self, body: int, centres: Array) -> Array:
        """Centre of mass (d,) of the body with the index ``body``, from the centres of its frames."""
        masses = self.masses[body]
        middle: Array = masses @ centres[self.frames[body]] / masses.sum()
        return middle
