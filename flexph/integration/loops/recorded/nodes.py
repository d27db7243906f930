"""Arrays of the backward sweep over steps of Gauss collocation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from ....numerics.gauss_tableau import Tableau
from ..gauss.scheme import UNKNOWNS, Scheme, StageMemories, before_runs
from ..memory.data import Index
from ..memory.memory import Memory, address_of
from ..memory.structures import GaussTable, Kinds, Table
from .backward import NOTHING, Backward, backward_of, recorded_cells, recorded_zeros

WORK_SPACE = ("transport", "driven")
"""Last fields of a RecordedScheme, which hold recorded numbers."""
AT_NODES = ("stage_coefficient", "stage_rate", "stage_offset", "inputs", "moved", "factor", "factor_rate", "factor_end")
"""Fields of a table in the order of :class:`RecordedNodes`."""


class RecordedScheme(NamedTuple):
    """Tableau of Gauss collocation for loops over recorded numbers, and addresses of the memories of its stages."""

    stages: Index  # (s,) addresses
    nodes: Array
    weights: Array
    a: Array
    inverse: Array
    ends: Array
    curvature: Array
    between: Array
    projection: Array
    point_weights: Array
    transport: Array  # (b, s·d, s·d) of recorded numbers
    driven: Array  # (s·d,)


class RecordedDeformed(NamedTuple):
    """Deformations as recorded numbers (see ``memory.structures.Deformed``)."""

    u: Array
    mean: Array
    products: Array


class RecordedMomenta(NamedTuple):
    """Momenta as recorded numbers (see ``memory.structures.Momenta``)."""

    p_r: Array
    p_u: Array


class RecordedGiven(NamedTuple):
    """Recorded numbers of the prescribed values of a step (see ``memory.structures.Given``)."""

    h: complex
    inputs: Array
    before: Array
    after: Array
    offset: Array
    last_offset: Array
    coefficient_rate: Array
    offset_rate: Array
    moves: bool


class RecordedNodes(NamedTuple):
    """Prescribed quantities at the nodes of a step as recorded numbers (see ``memory.structures.AtNodes``)."""

    coefficient: Array
    coefficient_rate: Array
    offset_rate: Array
    inputs: Array
    moved: Array
    factor: Array
    factor_rate: Array
    factor_end: Array
    first: int


class Collocated(NamedTuple):
    """Arrays of the backward sweep over N steps of Gauss collocation, with the tableau and the nodes.

    ``given`` (N, G) are the time-dependent data of each step, :func:`given_of_steps`; ``by_given`` are
    the derivatives of the functional Φ with respect to these data.
    """

    run: Backward
    scheme: Scheme
    recorded: RecordedScheme
    nodes: RecordedNodes  # parts of given_cells, as the next two
    coefficient: Array  # (terms,)
    offset: Array  # (g,)
    table: GaussTable
    given: Array  # (N, G)
    by_given: Array  # (N, G)
    given_cells: Array  # (G,)
    spaces: Array  # floats of the work spaces of all stages
    space_cells: Array  # recorded ones
    defect: Array  # (y,) recorded defects of all stages


def widths_of(table: GaussTable, tableau: Tableau) -> list[tuple[str, int, int, int]]:
    """Layout of the fields of a table: name, number of rows that a step uses, rows to advance by a step, and columns.

    A field with a single row is constant: all steps use it, and it advances by 0 rows.
    """
    s = tableau.nodes.size
    of_nodes = [(name, s, s) for name in ("stage_coefficient", "stage_rate", "stage_offset", "inputs", "moved")]
    of_points = [("factor", 2 * s, 2 * s), ("factor_rate", 2 * s, 2 * s), ("factor_end", 2, 1)]
    every = [("coefficient", 1, 1), ("offset", 1, 1), *of_nodes, *of_points]
    return [
        (name, *((rows, each) if len(getattr(table, name)) > 1 else (1, 0)), getattr(table, name).shape[1])
        for name, rows, each in every
    ]


def given_of_steps(table: GaussTable, tableau: Tableau) -> Array:
    """Prescribed quantities of all steps of a table, one row for each step, (N, G)."""
    steps, parts = len(table.times) - 1, []
    for name, rows, each, width in widths_of(table, tableau):
        index = each * np.arange(steps)[:, None] + np.arange(rows)
        parts.append(getattr(table, name)[index].reshape(steps, rows * width))
    return np.concatenate(parts, axis=1)


def add_by_given(by_given: Array, table: GaussTable, tableau: Tableau, out: dict[str, Array]) -> None:
    """Add derivatives with respect to the prescribed quantities of steps to derivatives with respect to a table.

    ``by_given`` (N, G) has a row for each step; ``out`` has the derivatives for the fields of the table, by name.
    """
    first, steps = 0, len(by_given)
    for name, rows, each, width in widths_of(table, tableau):
        index = each * np.arange(steps)[:, None] + np.arange(rows)
        column = by_given[:, first : first + rows * width].reshape(steps, rows, width)
        np.add.at(out[name], index, column)
        first += rows * width


def collocated_of(
    m: Memory, table: GaussTable, tableau: Tableau, run: tuple[Array, Array], varied: Index, *, timed: bool = False
) -> tuple[Collocated, tuple[Index, StageMemories, list[Index]]]:
    """Arrays of the backward sweep, and the memories that they point to, which the caller must keep alive.

    ``run`` holds the states (N + 1, n) in the layout of the loops, and ∂Φ/∂x; ``timed`` asks for derivatives with
    respect to the times of the steps; ``varied`` is as in :func:`.backward.backward_of`. Addresses of recorded
    numbers are first among the memories.
    """
    states, by_state = run
    memories = StageMemories(m, before_runs(m), tableau)
    scheme = memories.scheme
    unknowns = scheme.nodes.size * sum(m.__getattr__(name).size for name in UNKNOWNS[:-1])
    given = given_of_steps(table, tableau)
    empty = np.zeros((1, 0))
    no_table = Table(table.times, empty, empty, empty, empty, np.zeros((1, given.shape[1])), empty)
    back, addresses = backward_of(
        m,
        Kinds(*(0 for _ in Kinds._fields)),
        no_table,
        (states, np.zeros((1, unknowns)), by_state),
        varied,
        instants=scheme.nodes.size if timed else 0,
    )
    back.factored[:] = NOTHING
    spaces = memories.cells.view(np.float64)
    space_cells = recorded_zeros(spaces.shape)
    size = spaces.size // scheme.nodes.size
    stages = []
    for k, stage in enumerate(memories.stages):
        stage_cells = space_cells[k * size : k * size + stage.space.reals.size]
        stages.append(recorded_cells(stage, back.cells.constants, stage_cells)[2])
    cells = recorded_zeros((given.shape[1],))
    parts, first = {}, 0
    for name, rows, _, width in widths_of(table, tableau):
        parts[name] = cells[first : first + rows * width].reshape(rows, width)
        first += rows * width
    nodes = RecordedNodes._make([*(parts[name] for name in AT_NODES), 0])
    addresses_there = np.array([address_of(stage_cells) for stage_cells in stages])
    space = {name: recorded_zeros(getattr(scheme, name).shape) for name in WORK_SPACE}
    rest = RecordedScheme._fields[1 : -len(WORK_SPACE)]
    recorded = RecordedScheme(addresses_there, *(getattr(scheme, name) for name in rest), **space)
    of = Collocated(
        run=back,
        scheme=scheme,
        recorded=recorded,
        nodes=nodes,
        coefficient=parts["coefficient"][0],
        offset=parts["offset"][0],
        table=table,
        given=given,
        by_given=np.zeros_like(given),
        given_cells=cells,
        spaces=spaces,
        space_cells=space_cells,
        defect=recorded_zeros((unknowns,)),
    )
    return of, (addresses, memories, stages)
