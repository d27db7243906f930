"""Arrays of the forward sweep over the steps of a run: derivatives of its states with respect to parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from .backward import Backward


class Forward(NamedTuple):
    """Arrays of the forward sweep over N steps: derivatives of a run with respect to q parameters.

    ``run`` has the run and work space of :class:`Backward`; ``by_coefficient`` to ``by_moved`` are derivatives of the
    fields of its table, with as many rows as the field (one for each step, or one if constant), and ``by_times`` of its
    times, if these depend on parameters.
    ``states`` are derivatives of the states, at first of the first one only; ``audit`` is the largest defect of a
    linear system, relative to its right-hand side.
    """

    run: Backward
    states: Array  # (N + 1, q, n), ∂x/∂p
    by_coefficient: Array  # (q, rows, terms)
    by_offset: Array
    by_inputs: Array
    by_moved: Array
    by_constants: Array  # (q, v)
    by_times: Array  # (q, N + 1) or (q, 0)
    unknowns: Array  # (y,)
    audit: Array  # (1,)


def forward_of(run: Backward, derivatives: Sequence[Sequence[Array]]) -> Forward:
    """Arrays of a forward sweep over a run, which is given by the arrays ``run`` of a backward sweep.

    ``derivatives`` has for each parameter the derivatives of (constants, start, times, coefficients, offsets, inputs,
    moved): the varied constants, the start state, and the fields of the table of steps (memory.structures.Table).
    """
    parts = (np.array(part, dtype=float) for part in zip(*derivatives, strict=True))
    constants, start, times, coefficients, offsets, inputs, moved = parts
    states = np.zeros((len(run.states), *start.shape))
    states[0] = start
    unknowns, audit = np.zeros(run.means.shape[1]), np.zeros(1)
    return Forward(run, states, coefficients, offsets, inputs, moved, constants, times, unknowns, audit)
