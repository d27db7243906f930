"""Velocities that are given to bodies at a start, and what constraints leave of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.constraint_sizes import displacement_sizes, lever
from ...kernels.state import derive
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ..model.constraints import CONSISTENT, constraint_rates, velocities_of, wanted_velocities
from ..model.placement import Motion
from ..model.rate_scales import rate_doubt
from ..model.state import Configuration
from ..model.time_table import TimeTable

if TYPE_CHECKING:
    from ..model.model import Model


def warn_of_changed(
    mechanism: Model, c: Configuration, velocities: Mapping[str, Motion], *, table: TimeTable, time: float
) -> None:
    """Warn of given velocities that a consistent configuration has not, with the constraint that they break most."""
    a, found = mechanism.network.arrays, velocities_of(mechanism, c)
    sizes, changed = displacement_sizes(a, lever(a)), {}
    wanted, given = wanted_velocities(mechanism, c, velocities)
    scale = float(max(np.abs(wanted / sizes).max(initial=0.0), np.abs(found / sizes).max(initial=0.0)))
    doubt = rate_doubt(a, derive(a, c), table.doubts(time)) if velocities else 0.0
    for name, motion in velocities.items():
        own = wanted_velocities(mechanism, c, {name: motion})[1]
        change = np.abs(found - wanted)[own]
        if np.any(change > (CONSISTENT * scale + doubt) * sizes[own]):
            moves = np.isin(own, a.columns[0])
            by = [(change[moves].max(initial=0.0), "m/s"), (change[~moves].max(initial=0.0), "rad/s")]
            changed[name] = " and ".join(f"{size:.3g} {unit}" for size, unit in by if size > 0.0)
    if changed:
        broken = _broken(mechanism, constraint_rates(mechanism, c, table, time), wanted, given)
        warn(
            "the velocities given contradict the joints, the drives or each other, and the nearest that these allow "
            f"are taken: changed are {', '.join(f'{name!r} by {by}' for name, by in changed.items())}{broken}"
        )


def _broken(mechanism: Model, rates: tuple[Array, Array], wanted: Array, given: Array) -> str:
    """The constraint between bodies whose velocities are all given that is violated most, in words, or nothing."""
    G, b = rates
    left = np.ones(wanted.size)
    left[given] = 0.0
    left[mechanism.network.arrays.columns[0].size + np.count_nonzero(mechanism.network.arrays.columns[1] >= 0) :] = 0.0
    defect = np.where(abs(G) @ left > 0.0, 0.0, np.abs(G @ wanted - b))
    worst = int(np.argmax(defect)) if defect.size else 0
    return f"; they break {mechanism.constraint_names[worst]} by {defect[worst]:.3g}" if np.any(defect > 0.0) else ""
