"""Modal truncation: the lowest undamped modes, and all rigid motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...numerics.factors.orthonormal import orthonormal
from ...systems.linear import LinearPHDAE
from ..eigenmodes.modes import modes
from ..shifted import Shifted
from .bases import projected, rigid_motions
from .retained_states import RetainedStates


def modal(shifted: Shifted, order: int, kept: RetainedStates | None = None) -> LinearPHDAE:
    """Project the system on its rigid motions and lowest undamped modes; see :func:`flexph.reduce`."""
    system, parts = shifted.system, shifted.split
    if parts is None:
        raise ValueError(
            "method 'modal' needs a system of velocities and stresses (kinetic) whose inputs are forces; use method "
            "'krylov' for others, such as those with algebraic states of a controller"
        )
    rigid = orthonormal(rigid_motions(shifted).toarray(), parts.M)
    count = rigid.shape[1]
    if kept is not None:
        wanted = kept.room(order) - kept.flexible(rigid, parts.M).shape[1]
    else:
        if count > order:
            raise ValueError(f"order must be at least {count}, the number of rigid motions, got {order}")
        wanted = (order - count) // 2
    if wanted <= 0:
        return projected(system, parts, rigid, count, kept=kept)
    lowest = modes(replace(system, R=0.0 * system.R, lift=None, parts={}), wanted)
    return projected(system, parts, np.hstack([rigid, lowest.shapes[parts.velocities].real]), count, kept=kept)
