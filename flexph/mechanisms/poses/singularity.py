"""Detection of singular poses, and the distance of a pose from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...kernels.resolution import displacement_sizes, lever
from ...linear.elimination import null_space
from ...numerics.arrays import Array
from ..model.constraints import constraint_rates
from ..model.state import Pose, at_rest
from ..model.time_table import TimeTable
from .assembly import moved_pose

if TYPE_CHECKING:
    from ..model.model import Model

NEARBY = 1e-2
"""Rotation [rad], or displacement relative to the size of the joints, to the pose used for comparison: far above the
gaps of a closed pose (1e-15) and their square roots, far below common joint motions."""
LARGEST = 1000
"""Number of constraints up to which singular values are computed, as they need a dense matrix."""


class Rank(NamedTuple):
    """Rank of the constraints at a pose: names of redundant ones, degrees of freedom, admissible velocities.

    ``basis`` (v, f) spans the admissible velocities.
    """

    redundant: list[list[str]]
    freedoms: int
    basis: Any


def rank_at(mechanism: Model, pose: Pose) -> Rank:
    """Redundant constraints and freedoms at a pose, with drives locked."""
    G = _rates(mechanism, pose)
    if not G.shape[0]:
        return Rank([], G.shape[1], sparse.eye_array(G.shape[1]))
    basis, redundant = null_space(G, mechanism.constraint_names)
    return Rank(redundant, G.shape[1] - G.shape[0] + len(redundant), basis)


def redundant_nearby(mechanism: Model, pose: Pose, rank: Rank) -> int | None:
    """Number of redundant constraints at a nearby pose along the freedoms; None if there is no such pose.

    If there are fewer than at the pose itself, that pose is singular.
    """
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    ways = rank.basis.toarray()[:rigid]
    if mechanism.rigid_motion is not None or not np.abs(ways).max(initial=0.0) > 0.0:
        return None
    a = mechanism.network.arrays
    step = ways @ np.random.default_rng(0).standard_normal(ways.shape[1])  # a generic direction among the freedoms
    step *= NEARBY / np.abs(step / displacement_sizes(a, lever(a))[:rigid] * lever(a)).max()
    try:
        return len(rank_at(mechanism, moved_pose(mechanism, pose, step)).redundant)
    except ValueError:  # the joints do not close there
        return None


def regularity(mechanism: Model, pose: Pose) -> float | None:
    """Smallest singular value of the constraints at a pose, with rows of length one; 0 at a singular pose.

    Velocities are scaled as displacements of the joints. None without constraints, or with more than ``LARGEST``.
    """
    a = mechanism.network.arrays
    if not 0 < mechanism.layout.multipliers <= LARGEST:
        return None
    G = _rates(mechanism, pose) * (displacement_sizes(a, lever(a)) / lever(a))[None, :]
    gram: Array = (G @ G.T).toarray()
    size = np.sqrt(np.where(gram.diagonal() > 0.0, gram.diagonal(), 1.0))
    return float(np.sqrt(max(np.linalg.eigvalsh(gram / np.outer(size, size))[0], 0.0)))


def _rates(mechanism: Model, pose: Pose) -> Any:
    """Matrix G (g, v) of the velocity constraints at rest, sparse."""
    c = at_rest(mechanism, pose.centres, pose.rotations)
    return constraint_rates(mechanism, c, TimeTable(mechanism, pose.anchors), 0.0)[0]
