"""Configurations at rest, their loads, and the criterion for mechanisms whose equilibria the loops find."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....bodies.nodal_body import NodalBody
from ....kernels.state import Configuration
from ....numerics.arrays import Array
from ..build import is_wide

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model


class RestConfiguration(NamedTuple):
    """Configuration at rest, and the multipliers (g,) of its constraints."""

    c: Configuration
    multipliers: Array


class Balanced(NamedTuple):
    """Configuration in balance, its joint forces (g,), and the net forces (n_v,) without and with joint forces."""

    c: Configuration
    multipliers: Array
    force: Array
    left: Array


class Loads(NamedTuple):
    """Inputs (i,), share of the weight, and time [s], under which an equilibrium is sought."""

    inputs: Array
    share: float
    time: float


def has_static_loops(mechanism: Model) -> bool:
    """True if the loops find equilibria of a mechanism: of rods, cables and bodies of one frame.

    Its joints, springs and loads must be among those that the loops support.
    """
    a = mechanism.network.arrays
    unknown = a.curves or a.closed or a.slips.slip.size or a.faces is not None
    unknown = unknown or a.springs.force_laws or a.springs.hysteresis or a.springs.distances
    if unknown or any(b.unshifted for b in mechanism.frames.values()):
        return False
    if mechanism.rigid_motion is None or not all(map(_is_line, mechanism.bodies.values())):
        return False
    return not mechanism.once(is_wide)


def _is_line(body: object) -> bool:
    """True for rods and cables, whose nodes are coupled along a line, and for bodies of one frame."""
    return not isinstance(body, NodalBody) or body.turning == len(body.frames) or body.coordinates is not None
