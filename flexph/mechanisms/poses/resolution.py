"""What double precision resolves of the energies of a run of a mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.convergence.rules import unresolved_energy
from ...kernels.convergence.tolerances import RESOLUTION, ROUND_OFF
from ...kernels.resolution import coordinate_size
from ...kernels.state import energies
from ...numerics.arrays import Array
from ..model.consistency import Checked
from ..model.constraints import extent
from ..model.state import Configuration, configuration

if TYPE_CHECKING:
    from ..model.model import Model


class Resolution(NamedTuple):
    """Energies [J] against which errors of a balance are judged where a run has hardly any.

    ``unresolved``: what the bodies have where they move by round-off of their positions in the shortest step.
    ``weight``: work of the weights along the extent of the mechanism, Σ m|g| L. H = 0 may be any height, round-off of
    heights is that of lengths.
    """

    unresolved: float
    weight: float


def resolution(mechanism: Model, states: Array, lengths: Array, *, weight: float | None = None) -> Resolution:
    """The resolution of a run from its states (k + 1, n) and the lengths of its steps (k,) [s].

    ``weight`` is that of the first state, where it is at hand.
    """
    a = mechanism.network.arrays
    size = coordinate_size(a, states[:, : mechanism.layout.position_sizes[0]])
    weight = _work_of_weights(mechanism, configuration(mechanism, states[0])) if weight is None else weight
    shortest = float(f"{np.abs(lengths).min(initial=np.inf):.3g}")  # a run that is continued has the same
    m, J, k, k_phi = a.resolution.tolist()
    return Resolution(unresolved_energy(m, J, k, k_phi, size, shortest), weight)


def work_of_weights(at: Checked) -> float:
    """The ``weight`` of the resolution of a run from a consistent state [J]."""
    return at.once(_weight_at)


def _weight_at(at: Checked) -> float:
    return _work_of_weights(at.mechanism, at.c)


def shortest_step(at: Checked) -> float:
    """Length of a step [s] from a consistent state in which positions cannot tell the motion from none.

    Velocities are known up to δ size/h, δ = RESOLUTION. That has more energy than the state and the work of its
    weights, E, in steps h < δ √((Σ m size² + Σ tr J)/2E). Velocities count where they are more than what drives,
    whose rates are differences, leave of elastic energies. A mechanism with neither has its elastic energies as E; of
    one without any of them all steps are long enough.
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
