"""Work space of compiled steps, and spans of consecutive fields that are also used as one vector."""

from __future__ import annotations

from typing import NamedTuple

from .run_space import DecaySpace, FilterSpace, NullSpace, RunSpace, StageSpace
from .step_space import (
    Motion,
    NodalSpace,
    PathSpace,
    RopeSpace,
    RowSpace,
    RubSpace,
    SlideSpace,
    SolidSpace,
    StrikeSpace,
    System,
    TouchSpace,
    Trial,
    Unknowns,
)


class Workspace(NamedTuple):
    """Work space of the compiled steps of a mechanism."""

    at: Motion
    end: Motion
    x: Unknowns
    defect: Unknowns
    correction: Unknowns
    best: Unknowns
    trial: Trial
    system: System
    path: PathSpace
    slide: SlideSpace
    string: RopeSpace
    rows: RowSpace
    rub: RubSpace
    nodal: NodalSpace
    touch: TouchSpace
    strike: StrikeSpace
    run: RunSpace
    stage: StageSpace
    null: NullSpace
    decay: DecaySpace
    filtering: FilterSpace
    solid: SolidSpace


SPANS = {
    "at": ("at_r", "at_product"),
    "x": ("x_v", "x_lam"),
    "x_velocities": ("x_v", "x_du"),
    "defect": ("defect_v", "defect_lam"),
    "correction": ("correction_v", "correction_lam"),
    "best": ("best_v", "best_lam"),
    "at_state": ("at_r", "at_spring"),
    "end_state": ("end_r", "end_spring"),
    "at_velocities": ("at_v", "at_du"),
    "at_vectors": ("at_arm", "at_product"),
    "end_vectors": ("end_arm", "end_product"),
    "trial_forces": ("trial_on_node", "trial_torque"),
    "system_jacobian": ("system_band", "system_border"),
    "system_flexible": ("system_entries", "system_border"),
    "run_back": ("run_back_history", "run_back_defect"),
    "run_now": ("run_history", "run_defect"),
    "run_under_way": ("run_history", "run_step_audit"),
    "run_step": ("run_step_flow", "run_step_audit"),
}
"""Vectors that span consecutive fields, given by their first and last field."""
