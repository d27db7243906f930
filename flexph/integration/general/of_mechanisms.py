"""Runs of mechanisms as general systems: drives by their rates, multipliers of index 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.equations.phdae import as_phdae
from ...mechanisms.model.consistency import check_consistent, refuse_redundant, shortest_step
from ...mechanisms.model.range_of_validity import warn_of_range
from ...mechanisms.model.state import State
from ...mechanisms.poses.multipliers import drive_rates, start_with_multipliers
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...results.state_view import MechanismView
from ...results.trajectory import Trajectory
from ..methods.general import Library
from ..methods.method import GeneralMethod
from ..times.options import RunOptions, ascending_from, refuse_short
from .run import integrate_system

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


def integrate_mechanism(
    mechanism: Model,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    options: RunOptions,
) -> Trajectory:
    """Integrate ``as_phdae(mechanism, start)`` in time (see :func:`flexph.integrate`).

    Drives are inputs of their constraint rows: the prescribed rate, taken from differences of the drive within the
    times. Multipliers of the start are replaced by those that keep the constraints (index 2).
    """
    if not isinstance(start, State):
        raise ValueError(f"start must be a State, see mechanism.consistent_state(pose), got {type(start).__name__}")
    grid = ascending_from(start.time, times)
    for name in options.inputs:
        check.lookup("external port", name, mechanism.network.input_slices)
    checked = check_consistent(mechanism, start)
    refuse_short(grid, shortest_step(checked))
    refuse_redundant(checked, "take Exact(redundant='least_norm')")
    span = (float(grid[0]), float(grid[-1]))
    system = as_phdae(mechanism, start)
    options = replace(options, inputs={**options.inputs, **drive_rates(mechanism, span)})
    x0 = np.concatenate([start.x, start.multipliers])
    if not isinstance(method, Library):  # libraries do so themselves
        x0 = start_with_multipliers(mechanism, system, options.inputs, span)
    view, dim = partial(MechanismView, mechanism), mechanism.layout.dim
    trajectory = integrate_system(system, x0, grid, method=method, options=options, dim=dim, view=view)
    warn_of_range(mechanism, trajectory.times, trajectory.states)
    return trajectory
