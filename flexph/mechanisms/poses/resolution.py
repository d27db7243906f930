"""What double precision resolves of the energies of a run of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.resolution import RESOLUTION, coordinate_size, unresolved_energy
from ...kernels.state import derive
from ...numerics.arrays import Array
from ..model.accounts import Accounts
from ..model.constraints import extent
from ..model.state import configuration

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.state import State

NUMBERS = 10.0
"""Distances of neighbouring numbers of time that a step must have, so that it has a middle and Gauss points."""


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
    weight = _work_of_weights(mechanism, first.r, first.R)
    shortest = float(f"{np.abs(lengths).min(initial=np.inf):.3g}")  # a run that is continued has the same
    return Resolution(unresolved_energy(a.resolution, size, shortest), weight)


def _work_of_weights(mechanism: Model, r: Array, R: Array) -> float:
    """Σ m|g| L [J]."""
    weights = np.linalg.norm(mechanism.network.arrays.weight, axis=1).sum()
    return float(weights) * extent(mechanism, r, R)


def shortest_step(mechanism: Model, start: State) -> float:
    """The step in which all the energy of a start moves bodies by no more than round-off of their positions [s].

    Constraints hold up to that round-off, so that the velocities of shorter steps are noise. The energy is kinetic,
    stored, and the work of the weights along the extent; where there is none, any step will do: 0.
    """
    a, accounts, c = mechanism.network.arrays, mechanism.once(Accounts), configuration(mechanism, start.x)
    size = coordinate_size(a, c.r)
    energies = dict(zip(accounts.energy, accounts.energies(c, derive(a, c)).tolist(), strict=True))
    kinetic = sum(value for name, value in energies.items() if name.startswith("kinetic "))
    stored = sum(value for name, value in energies.items() if not name.startswith(("kinetic ", "potential ")))
    if start.memory.size and kinetic <= unresolved_energy(a.resolution, size, start.memory[-1, -1]):
        kinetic = 0.0  # of a mechanism at rest it is noise itself
    energy = kinetic + stored + _work_of_weights(mechanism, c.r, c.R)
    moved = 0.5 * float(a.resolution[0] * size * size + a.resolution[1])
    return RESOLUTION * float(np.sqrt(moved / energy)) if energy > 0.0 else 0.0


def refuse_short_step(time: float, h: float, shortest: float) -> None:
    """Raise ValueError for a step from a time [s] that is below what double precision resolves of time or motion."""
    numbers = NUMBERS * float(np.spacing(abs(time) + abs(h)))
    if h > max(numbers, shortest):
        return
    reason = "times have no finer digits there" if h <= numbers else "bodies move less in it than their round-off"
    raise ValueError(
        f"the step from t = {time:.6g} s over {h:.3g} s is shorter than double precision resolves: {reason}; "
        f"take steps above {max(numbers, shortest):.2g} s"
    )
