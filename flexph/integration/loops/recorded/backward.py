"""Arrays of the backward sweep (discrete adjoint) over the steps of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from ..memory.data import Index
from ..memory.memory import CONSTANTS, FIELDS, REAL, ROW, Memory, address_of
from ..memory.structures import Kinds, Table
from ..memory.workspace import SPANS

BACK, BACK_BY_NODES, FORWARD, BACK_DECAYING = range(4)
"""Kinds of sweeps: back over steps of the exact scheme, of Gauss collocation, forward over those of the first, and back
over steps that lose energy."""
ARROW, NOTHING = range(2)
"""Factors by which transposed systems are solved: those of each step, or dense ones, of which there are none yet."""
LARGEST = 1000
"""Largest number of unknowns of a transposed system that is solved by its dense matrix where corrections do not."""


class Cells(NamedTuple):
    """Recorded numbers of a memory and of the prescribed quantities of a step, as complex arrays.

    Each entry has the value of a number and its index in the record of operations.
    """

    space: Array
    constants: Array
    before: Array  # (terms,)
    after: Array
    offset: Array  # (g,)
    inputs: Array  # (i,)
    length: Array  # (1,), of the step


class Backward(NamedTuple):
    """Backward sweep over N steps with n state entries and y unknowns: the run, and derivatives of a functional Φ.

    ``carried`` is the adjoint of the state between two steps, at first that of the last state; the derivatives add up
    in ``by_coefficient`` to ``by_times``. The entries of ``audit`` are

    * the largest defect of the transposed systems, relative to their right-hand sides,
    * the largest number of corrections of one system, and the sum of these numbers,
    * the largest number of operations of a record,
    * the largest difference between derivatives of functions in Python by differences of sixth and of fourth order,
    * the number of records,
    * the largest Newton correction of a step with contacts, relative to its largest unknown, and
    * the largest difference between the end of a repeated step and the next state, relative to the largest entry.
    """

    kinds: Kinds
    table: Table
    states: Array  # (N + 1, n)
    means: Array  # (N, y), mean velocities and multipliers
    by_state: Array  # (N + 1, n), ∂Φ/∂x of each state
    by_unknown: Array  # (N, y), ∂Φ/∂y of each step, or one row for all
    by_coefficient: Array
    by_offset: Array
    by_inputs: Array
    by_moved: Array
    by_constants: Array  # (v,)
    by_times: Array  # (N + 1,), or empty if derivatives by the times are not wanted
    varied: Index  # (v,), constants by which derivatives are wanted
    carried: Array  # (n,)
    adjoint: Array  # work space, as all that follows
    wanted: Array  # (y,)
    missed: Array  # (y,)
    dense: Array  # (y, y), or empty
    pivot: Index  # (y,)
    factored: Index  # (1,), the kind of factors
    covector: Array  # (y,)
    opposite: Array  # (y,)
    none: Array  # (0,)
    audit: Array  # (8,)
    plain: Array  # floats of the work space of the memory
    values: Array  # constants that are varied
    cells: Cells


def backward_of(
    m: Memory, kinds: Kinds, table: Table, run: tuple[Array, Array, Array], varied: Index, *, instants: int = 0
) -> tuple[Backward, Index]:
    """Arrays of the backward sweep over a run, and the table of addresses of its recorded numbers.

    The caller must keep the table alive as long as the arrays are used. ``run`` has the states (N + 1, n) in the layout
    of the loops, the mean velocities and multipliers (N, y), and ∂Φ/∂x. ``varied`` are the indices of the constants
    with respect to which derivatives are wanted. ``instants`` is the number of times at which a step calls functions of
    time, or 0 without derivatives with respect to the times of steps.
    """
    states, means, by_state = run
    constants, space, addresses = recorded_cells(m)
    out = [np.zeros_like(part) for part in (table.coefficient, table.offset, table.inputs, table.moved)]
    terms, rows, inputs, moved = (part.shape[1] for part in out)
    cells = Cells(space, constants, *(np.zeros(width, complex) for width in (terms, terms, rows, inputs, 1)))
    n, y = states.shape[1], means.shape[1]
    size = y if y <= LARGEST else 0
    dense, pivot = np.zeros((size, size)), np.zeros(size, dtype=np.int64)
    times = instants + 1 if instants else 0
    adjoint = np.zeros(n + y + 2 * terms + rows + inputs + moved + varied.size + times)
    wanted, missed, covector, opposite = np.zeros((4, y))
    of = Backward(
        kinds=kinds,
        table=table,
        states=states,
        means=means,
        by_state=by_state,
        by_unknown=np.zeros((1, y)),
        by_coefficient=out[0],
        by_offset=out[1],
        by_inputs=out[2],
        by_moved=out[3],
        by_constants=np.zeros(varied.size),
        by_times=np.zeros(len(table.times) if instants else 0),
        varied=varied,
        carried=by_state[-1].copy(),
        adjoint=adjoint,
        wanted=wanted,
        missed=missed,
        dense=dense,
        pivot=pivot,
        factored=np.array([ARROW]),
        covector=covector,
        opposite=opposite,
        none=np.zeros(0),
        audit=np.zeros(8),
        plain=m.space.reals,
        values=m.constants.reals[varied],
        cells=cells,
    )
    return of, addresses


def recorded_cells(m: Memory, constants: Array | None = None, space: Array | None = None) -> tuple[Array, Array, Array]:
    """Recorded numbers for the constants and the work space of a memory, and the table of their addresses.

    They are in new arrays unless ``constants`` and ``space`` are given.
    """
    constants, space = (
        _copied(cells, given) for cells, given in ((m.constants.reals, constants), (m.space.reals, space))
    )
    addresses, first = m.addresses.copy(), m.table[:, 0]
    rows = np.flatnonzero(REAL)
    base = np.where(rows < CONSTANTS, address_of(constants), address_of(space))
    addresses[rows, 0] = base + 16 * first[rows]
    for span, (begin, _) in enumerate(SPANS.values()):
        addresses[len(FIELDS) + span, 0] = addresses[ROW[begin], 0]
    return constants, space, addresses


def _copied(reals: Array, into: Array | None) -> Array:
    """Recorded numbers with the given values, in a new array or in ``into``.

    They count as constants until they are marked as variables of a record.
    """
    cells = recorded_zeros(reals.shape) if into is None else into
    cells.real = reals
    return cells


def recorded_zeros(shape: tuple[int, ...]) -> Array:
    """Array of recorded numbers that are zero, and constants of a record."""
    cells = np.zeros(shape, complex)
    cells.ravel().view(np.int64)[1::2] = -1
    return cells
