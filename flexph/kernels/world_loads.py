"""Inputs in world axes."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays


def world_loads(a: Arrays, arm: Array, inputs: Array) -> Array:
    """External inputs in world axes; inputs that follow a section are components on its directions."""
    if not a.follow_input.size:
        return inputs
    loads = inputs.copy()
    loads[a.follow_input] = np.einsum("fj,fjd->fd", inputs[a.follow_input], arm[a.follow_node])
    return loads


def section_torques(a: Arrays, loads: Array) -> Array:
    """World torques on the sections with torque inputs, (t, s)."""
    return (a.input_torque @ loads).reshape(a.torque_body.size, a.n.shape[0])
