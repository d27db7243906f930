"""Assembly of many poses of a mechanism at once; arrays have the poses along their first axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...display.tables import listed
from ...kernels.gradient import row_weights
from ...kernels.state import lever
from ...numerics.arrays import Array, dense
from ...numerics.rotations import finite_rotation, unit_sweeps
from ..model.constraints import angle_rows
from ..model.placement import Placement
from ..model.state import Pose
from ..model.time_table import Anchors, TimeTable, anchor, law_values, laws
from .assembly import CLOSED, OPEN, assemble, places_of

if TYPE_CHECKING:
    from ..model.model import Model

MOST = 30
"""Largest number of Newton steps for all poses together."""
SETTLED = 1e-14
"""Gap, relative to the size of the bodies, up to which a pose is closed; other poses are assembled one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class Poses(Sequence[Pose]):
    """Sequence of poses of a mechanism, stored as arrays.

    The arrays are those of :class:`flexph.Pose`: centres of mass (k, b, d) [m], rotations (k, b, d, d), and the anchors
    ``rows`` (k, values) and ``springs`` (k, springs). ``poses[i]`` is one pose.
    """

    centres: Array
    rotations: Array
    rows: Array
    springs: Array
    bodies: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{len(self)} poses of {listed(self.bodies) or f'{self.centres.shape[1]} bodies'}>"

    def __len__(self) -> int:
        return len(self.centres)

    def __getitem__(self, i: Any) -> Any:
        """Pose with the number i, or for a slice, mask or index array the :class:`Poses` that it selects."""
        if not isinstance(i, int | np.integer):
            return Poses(self.centres[i], self.rotations[i], self.rows[i], self.springs[i], self.bodies)
        return Pose(self.centres[i], self.rotations[i], Anchors(self.rows[i], self.springs[i]), self.bodies)

    def __iter__(self) -> Iterator[Pose]:
        return (self[i] for i in range(len(self)))


def stacked(poses: Sequence[Pose]) -> Poses:
    """Stack poses of one mechanism into arrays; :class:`Poses` are returned as they are."""
    if isinstance(poses, Poses):
        return poses
    anchors = [p.anchors for p in poses]
    return Poses(
        np.array([p.centres for p in poses]),
        np.array([p.rotations for p in poses]),
        np.array([a.rows for a in anchors]),
        np.array([a.springs for a in anchors]),
        poses[0].bodies if len(poses) else (),
    )


class Joints:
    """Products V·W of the world vectors of a mechanism at k undeformed poses, (k, p), and their gradients."""

    def __init__(self, mechanism: Model, centres: Array, rotations: Array) -> None:
        a = mechanism.network.arrays
        self.frames = rotations[:, a.node_body]
        points = np.einsum("knij,nj->kni", self.frames, a.node_position)
        points += a.node_moves[:, None] * centres[:, a.node_body]
        self.incidence = dense(a.incidence)
        vectors = np.matmul(self.incidence, points) + a.vector_fixed
        self.ends, self.of_ends = (a.first, a.second), (vectors[:, a.first], vectors[:, a.second])
        self.products = np.vecdot(*self.of_ends)

    def forces(self, rows: Array) -> Array:
        """Forces (k, g, nodes, d) on the nodes, in body axes, by unit forces of g rows.

        ``rows`` are combinations of the products, (k, g, p), or (g, p) if they are the same at all poses.
        """
        (i, j), (first, second) = self.ends, self.of_ends
        on_first, on_second = self.incidence[i][:, :, None], self.incidence[j][:, :, None]
        gradient = on_first * second[:, :, None] + on_second * first[:, :, None]
        k, p, nodes, d = gradient.shape
        world = np.matmul(rows, gradient.reshape(k, p, nodes * d)).reshape(k, -1, nodes, d)
        return np.einsum("kgni,knij->kgnj", world, self.frames)


def closed_joints(mechanism: Model, poses: Poses) -> tuple[Joints, Array]:
    """Products of joints at k poses, and the constraints as combinations of these products, (k, g, p).

    Drives are evaluated at time 0. Raises ValueError for poses of another mechanism, which have arrays of other sizes
    or open joints.
    """
    a, of_laws = mechanism.network.arrays, list(zip(laws(mechanism), law_values(mechanism), strict=True))
    has, needs = (
        (poses.centres.shape[1], poses.rows.shape[1]),
        (mechanism.layout.frames, of_laws[-1][1].stop if of_laws else 0),
    )
    if has != needs:
        raise ValueError(
            f"the pose belongs to another mechanism: its numbers of bodies and anchors are {has}, not {needs}"
        )
    joints = Joints(mechanism, poses.centres, poses.rotations)
    driven = TimeTable(mechanism, poses[0].anchors).values(0.0)
    values = np.where(np.isnan(poses.rows), driven, poses.rows).T
    rows = np.zeros((len(of_laws), a.first.size, len(poses)))
    coefficients = [law.coefficients(values[at]) for law, at in of_laws]
    np.add.at(rows, (a.term_row, a.term_product), np.concatenate([np.zeros((0, len(poses))), *coefficients]))
    _refuse_open(mechanism, poses, rows, joints.products)
    return joints, rows.transpose(2, 0, 1)


def _refuse_open(mechanism: Model, poses: Poses, rows: Array, products: Array) -> None:
    """Raise ValueError if the joints of a pose are open, except drives: the pose belongs to another mechanism.

    ``rows`` (g, p, k) combine the ``products`` (k, p) to constraints.
    """
    a, of_laws = mechanism.network.arrays, zip(laws(mechanism), law_values(mechanism), strict=True)
    angle_errors = float(np.abs(poses.centres - poses.centres[:, :1]).max(initial=0.0))
    sizes = np.where(a.holds_points > 0.0, max(float(a.lengths.max()), angle_errors), 1.0)
    for i, (law, at) in enumerate(of_laws):
        gaps = np.einsum("pk,kp->k", rows[i], products) - law.offset(poses.rows.T[at])
        if law.products and not callable(law.value) and np.abs(gaps).max() > OPEN * sizes[i]:
            name = mechanism.constraint_names[i]
            raise ValueError(f"the pose belongs to another mechanism: {name!r} is open in it; assemble the pose again")


def assemble_all(
    mechanism: Model, fixed: Mapping[str, Sequence[Placement]], guess: Mapping[str, Sequence[Placement]], time: float
) -> Poses:
    """Implementation of :meth:`flexph.Mechanism.assemble_all`."""
    for name, given in (*fixed.items(), *guess.items()):
        if isinstance(given, tuple) and not any(map(np.ndim, given)):
            raise ValueError(
                f"{name!r} needs one placement for each pose, and {given} could be one placement or several angles: "
                f"write [{given}] for one placement, {list(given)} for angles"
            )
    counts = {len(given) for given in (*fixed.values(), *guess.values())}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            f"fixed= and guess= must give equally many placements of each body, at least one, got {sorted(counts)}"
        )
    count = counts.pop()
    centres, rotations, free = places_of(mechanism, fixed, guess, count)

    def alone(i: int) -> Pose:
        own_fixed, own_guess = ({name: given[i] for name, given in placements.items()} for placements in (fixed, guess))
        return assemble(mechanism, own_fixed, own_guess, time)

    if not _are_plain(mechanism) or np.any(free != free[0]):
        return stacked([alone(i) for i in range(count)])
    poses, gaps = _closed(mechanism, (centres, rotations), free[0], time)
    if np.all(gaps <= SETTLED):
        return poses
    return stacked([pose if gaps[i] <= SETTLED else alone(i) for i, pose in enumerate(poses)])


def _are_plain(mechanism: Model) -> bool:
    """True if all constraints are functions of products V·W only, and no joint needs guiding directions."""
    if mechanism.rigid_motion is not None:
        return False
    return all(law.products for law in laws(mechanism)) and not any(c.form.parallel for c in mechanism.connections)


def _closed(mechanism: Model, at: tuple[Array, Array], free: Array, time: float) -> tuple[Poses, Array]:
    """Poses after Newton steps of least norm that close the joints, and the gaps that remain in each, (k,).

    ``at`` are centres and rotations at the start, ``free`` is a mask of the velocities that may change. First only
    positions change, then rotations, too.
    """
    a, (centres, rotations) = mechanism.network.arrays, at
    stated = np.array([law.value is not None for law in laws(mechanism)], dtype=bool)
    table = TimeTable(mechanism, anchor(mechanism, Joints(mechanism, centres[:1], rotations[:1]).products[0]))
    coefficient, offset = table.at(time)
    units = np.where(a.holds_points > 0.0, lever(a), 1.0)[stated]
    rows = dense(row_weights(a, coefficient))[stated] / units[:, None]
    angles, motions = mechanism.once(angle_rows), _rigid_motions(mechanism)
    is_angle = np.isin(np.flatnonzero(stated), angles.rows)
    _, spins, _ = a.columns
    gaps = np.full(len(centres), np.inf)
    for active, most in ((free & ~np.isin(np.arange(free.size), spins), 2), (free, MOST)):
        for _ in range(most):
            joints = Joints(mechanism, centres, rotations)
            gap = joints.products @ rows.T - offset[stated] / units
            tangents = rows
            if is_angle.any():  # use the error of the angle itself, see guides.by_angle
                gap[:, is_angle] = angles.angle_errors(joints.products, coefficient)
                tangents = np.repeat(rows[None], len(gap), axis=0)
                tangents[:, is_angle, angles.sine] = joints.products[:, angles.cosine]
                tangents[:, is_angle, angles.cosine] = -joints.products[:, angles.sine]
            before, gaps = gaps, np.linalg.norm(gap, axis=1)
            if np.all((gaps <= CLOSED) | (gaps > 0.5 * before)):
                break
            matrix = np.tensordot(joints.forces(tangents), motions, axes=([2, 3], [0, 1]))[:, :, active]
            step = np.zeros((len(gaps), active.size))
            step[:, active] = _least_norm(matrix, -gap)
            centres, rotations = _moved(mechanism, centres, rotations, step)
    anchors = anchor(mechanism, Joints(mechanism, centres, rotations).products.T)
    return Poses(centres, rotations, anchors.rows.T, anchors.springs.T, tuple(mechanism.frames)), gaps


def _least_norm(matrix: Array, wanted: Array) -> Array:
    return np.matmul(np.linalg.pinv(matrix, rcond=1e-10), wanted[:, :, None])[:, :, 0]


def _rigid_motions(mechanism: Model) -> Array:
    """Velocities of the nodes, (nodes, d, n_v), by unit velocities and spins of the bodies, all in body axes."""
    a = mechanism.network.arrays
    centres, spins, _ = a.columns
    size = centres.size + int((spins >= 0).sum())
    motions = np.zeros((a.node_body.size, a.dim, size))
    at = np.arange(a.node_body.size)[:, None]
    motions[at, np.arange(a.dim), centres[a.node_body]] = a.node_moves[:, None]
    swept = unit_sweeps(a.node_position)  # (nodes, s, d)
    for n, columns in enumerate(spins[a.node_body]):
        if columns[0] >= 0:
            motions[n][:, columns] = swept[n].T
    return motions


def _moved(mechanism: Model, centres: Array, rotations: Array, step: Array) -> tuple[Array, Array]:
    """Centres and rotations of k poses after rigid increments ``step`` (k, n_v) of the bodies, in body axes.

    Each step is shortened so that no rotation about an axis exceeds half a radian.
    """
    columns, spins, _ = mechanism.network.arrays.columns
    turning = spins[:, 0] >= 0
    largest = np.abs(step[:, spins[turning].ravel()]).max(axis=1, initial=0.0)
    step = step * np.minimum(1.0, 0.5 / np.maximum(largest, 0.5))[:, None]
    turned = rotations.copy()
    turned[:, turning] = rotations[:, turning] @ finite_rotation(step[:, spins[turning]], mechanism.layout.dim)
    return centres + np.einsum("kbij,kbj->kbi", rotations, step[:, columns]), turned
