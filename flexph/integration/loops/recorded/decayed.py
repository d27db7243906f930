"""Arrays of the backward sweep over steps that lose energy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....kernels.arrays import Arrays
from ....kernels.convergence.rules import rounded
from ....kernels.decay import free_vibrations
from ....numerics.arrays import Array
from ..memory.data import Index
from ..memory.memory import Memory
from ..memory.structures import Kinds, Table
from .backward import NOTHING, Backward, backward_of, recorded_zeros

DECAY = Kinds(decay=1)
"""Kinds of these steps."""
GIVEN = "inputs", "coefficient_rate", "offset_rate"
"""Fields of a table, one behind the other in the given data of a step."""


class Decayed(NamedTuple):
    """Arrays of the backward sweep over N steps that lose energy, with three times the unknowns of the exact scheme.

    ``given`` (N, G) are inputs and rates of prescribed quantities, ``matrices`` the results of :func:`matrices_of`.
    """

    run: Backward
    given: Array  # (N, G)
    by_given: Array  # (N, G)
    given_cells: Array  # (G,) recorded numbers, whose parts are the next three
    inputs: Array
    coefficient_rate: Array
    offset_rate: Array
    matrices: Array  # recorded numbers
    by_matrices: Array
    defect: Array  # (3 y,) recorded defects


def matrices_of(a: Arrays, length: float, radius: float) -> Array:
    """Matrices B and ½A of the energy loss of each body that vibrates, in one vector, for a step length [s].

    B maps changes of momenta to rates, A changes of stresses to mean stresses (:mod:`flexph.kernels.decay`).
    ``radius`` is the spectral radius of the scheme. Sweeps use the matrices, not the modes from which they are
    computed here, as modes are no smooth functions of the data of bodies.
    """
    h, alpha, parts = rounded(length), (1.0 - radius) / (1.0 + radius), [np.zeros(0)]
    for vibration in free_vibrations(a):
        share = alpha * h * h / (4.0 + h * h * vibration.squares)
        parts.append(((vibration.modes * (share * vibration.squares)) @ vibration.modes.T).ravel())
        parts.append(((vibration.stresses * (0.5 * share)) @ vibration.strains.T).ravel())
    return np.concatenate(parts)


def given_of(table: Table) -> Array:
    """Inputs and rates of prescribed quantities of all steps of a table, one row for each step, (N, G)."""
    steps = len(table.times) - 1
    rows = [getattr(table, name) for name in GIVEN]
    given = np.concatenate([np.broadcast_to(row, (steps, row.shape[1])) for row in rows], axis=1)
    return np.ascontiguousarray(given)  # constant rows would make columns contiguous


def decayed_of(
    m: Memory, table: Table, run: tuple[Array, Array, Array], varied: Index, matrices: Array
) -> tuple[Decayed, Index]:
    """Arrays of the backward sweep over a run, and the addresses of its recorded numbers.

    The caller must keep the addresses alive. ``run`` has the states (N + 1, n) in the layout of the loops, first
    iterates of mean velocities and multipliers (N, y), and ∂Φ/∂x. For ``varied`` see :func:`.backward.backward_of`.
    """
    states, means, by_state = run
    unknowns = np.zeros((len(means), 3 * means.shape[1]))
    back, addresses = backward_of(m, DECAY, table, (states, unknowns, by_state), varied)
    given = given_of(table)
    widths = [getattr(table, name).shape[1] for name in GIVEN]
    cells = recorded_zeros((given.shape[1],))
    parts = np.split(cells, np.cumsum(widths)[:-1])
    size = back.adjoint.size - widths[0] + given.shape[1] + matrices.size
    back = back._replace(
        means=means,
        adjoint=np.zeros(size),
        values=np.concatenate([back.values, matrices]),
        factored=np.array([NOTHING]),
    )
    of = Decayed(
        run=back,
        given=given,
        by_given=np.zeros_like(given),
        given_cells=cells,
        inputs=parts[0],
        coefficient_rate=parts[1],
        offset_rate=parts[2],
        matrices=recorded_zeros((matrices.size,)),
        by_matrices=np.zeros(matrices.size),
        defect=recorded_zeros((unknowns.shape[1],)),
    )
    return of, addresses
