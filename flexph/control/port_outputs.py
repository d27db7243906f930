"""Outputs of external ports: the velocities that are power-conjugate to their inputs."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ..kernels.continuous import input_matrix
from ..kernels.state import derive, places
from ..mechanisms.model.constraints import velocities_of
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics.arrays import Array


def outputs_at(mechanism: Model, x: Array) -> Array:
    """Outputs (i,) of all external ports at a flat state, in their axes."""
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    d = derive(a, c)
    y: Array = input_matrix(a, c.R, d.arm, places(a, c, d)).T @ velocities_of(mechanism, c)
    return y


class PortOutputs(NamedTuple):
    """Outputs of some external ports: slices of their vector (m,), and its indices ``among`` those of all ports."""

    slices: dict[str, slice]
    among: Array

    @classmethod
    def of(cls, mechanism: Model, ports: Collection[str]) -> PortOutputs:
        """Outputs of some ports of a mechanism."""
        own = {name: part for name, part in mechanism.network.input_slices.items() if name in ports}
        ends = np.cumsum([0, *(part.stop - part.start for part in own.values())]).tolist()
        slices = {name: slice(first, last) for name, first, last in zip(own, ends[:-1], ends[1:], strict=True)}
        return cls(
            slices, np.concatenate([np.zeros(0, dtype=int), *(np.arange(p.start, p.stop) for p in own.values())])
        )
