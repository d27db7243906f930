"""What double precision resolves of the energies of a run of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.resolution import coordinate_size, unresolved_energy
from ...numerics.arrays import Array
from ..model.constraints import extent
from ..model.state import configuration

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


def resolution(mechanism: Model, states: Array, lengths: Array) -> Resolution:
    """The resolution of a run from its states (k + 1, n) and the lengths of its steps (k,) [s]."""
    a, first = mechanism.network.arrays, configuration(mechanism, states[0])
    size = coordinate_size(a, states[:, : mechanism.layout.position_sizes[0]])
    weight = float(np.linalg.norm(a.weight, axis=1).sum()) * extent(mechanism, first.r, first.R)
    shortest = float(f"{np.abs(lengths).min(initial=np.inf):.3g}")  # a run that is continued has the same
    return Resolution(unresolved_energy(a.resolution, size, shortest), weight)
