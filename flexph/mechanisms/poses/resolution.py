"""Resolution of the energies of a run in double precision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.convergence.rules import unresolved_energy
from ...kernels.convergence.tolerances import RESOLUTION, ROUND_OFF
from ...kernels.resolution import coordinate_size, larger_coordinate, node_size
from ...kernels.state import energies
from ...numerics.arrays import Array
from ..model.consistency import Checked
from ..model.constraints import extent
from ..model.state import Configuration, configuration

if TYPE_CHECKING:
    from ..model.model import Model


class Resolution(NamedTuple):
    """Energies [J] to which errors of the balance are compared in runs with almost no energy.

    ``unresolved``: energy of bodies that move by the round-off of their positions in the shortest step. ``weight``:
    work of the weights along the extent of the mechanism, Σ m|g| L; as H = 0 is at an arbitrary height, the round-off
    of heights is that of lengths.
    """

    unresolved: float
    weight: float


def resolution(mechanism: Model, states: Array, lengths: Array, *, weight: float | None = None) -> Resolution:
    """Resolution of a run from its states (k + 1, n) and step lengths (k,) [s].

    ``weight`` is that of the first state, if already computed.
    """
    a = mechanism.network.arrays
    size = larger_coordinate(states[:, : mechanism.layout.position_sizes[0]], mechanism.once(_node_size))
    weight = _work_of_weights(mechanism, configuration(mechanism, states[0])) if weight is None else weight
    shortest = float(
        f"{np.abs(lengths).min(initial=np.inf):.3g}"
    )  # rounded, so that a continued run has the same value
    m, J, k, k_phi = a.resolution.tolist()
    return Resolution(unresolved_energy(m, J, k, k_phi, size, shortest), weight)


def _node_size(mechanism: Model) -> float:
    return node_size(mechanism.network.arrays)


def work_of_weights(at: Checked) -> float:
    """The ``weight`` [J] of the resolution of a run from a consistent state."""
    return at.once(_weight_at)


def _weight_at(at: Checked) -> float:
    return _work_of_weights(at.mechanism, at.c)


def shortest_step(at: Checked) -> float:
    """Length [s] of a step from a consistent state below which round-off of positions hides the motion.

    Velocities are resolved to δ size/h, δ = RESOLUTION. This error has more energy than the state and the work of its
    weights, E, if h < δ √((Σ m size² + Σ tr J)/2E). Kinetic energy counts only if it exceeds the round-off of the
    elastic energy, as rates of drives are differences. Without kinetic energy and weights, E is the elastic energy;
    without any energy all steps are long enough.
    """
    return at.once(_shortest_step)


def _shortest_step(at: Checked) -> float:
    a = at.mechanism.network.arrays
    size = coordinate_size(a, at.c.r)
    inertia, elastic = (float(a.resolution[k] * size**2 + a.resolution[k + 1]) for k in (0, 2))
    energy = work_of_weights(at)
    if elastic > 0.0:
        kinetic = float(energies(a, at.c, at.d)["kinetic"].sum())
        energy += kinetic * (kinetic > ROUND_OFF * elastic)
    energy = energy or elastic
    return RESOLUTION * math.sqrt(0.5 * inertia / energy) if energy > 0.0 else 0.0


def _work_of_weights(mechanism: Model, c: Configuration) -> float:
    a = mechanism.network.arrays
    return float(np.linalg.norm(a.weight, axis=1).sum()) * extent(mechanism, c.r, c.R)
