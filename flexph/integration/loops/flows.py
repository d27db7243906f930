"""Arrays of the fluid that flows along rods and cables, for the compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from .memory.data import Flows
from .points import basis_of_points, cleared, ends_of

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


def flows_of(mechanism: Model) -> Flows:
    """Arrays of the flows of fluid along the rods and cables of a mechanism."""
    flows = mechanism.network.arrays.flows
    basis = basis_of_points(mechanism) if flows else None
    rows: list[Any] = []
    columns: list[Any] = []
    for k, flow in enumerate(flows):
        parts = flow.along, flow.tension, flow.tension - flow.ends
        i, j, values = _entries(parts)
        rows.append((np.full(i.size, k), i + flow.first, j + flow.first, *values))
        T = sparse.csr_array(basis)[flow.frames][:, flow.frames].toarray()
        i, j, values = _entries([cleared(T.T @ part @ T).toarray() for part in (parts[0], parts[2])])
        columns.append((np.full(i.size, k), i + flow.first, j + flow.first, *values))
    owner, row, column, along, tension, bent = _joined(rows, 6)
    own_owner, own_row, own_column, own_along, own_bent = _joined(columns, 5)
    frame, first, counts = np.unique(row, return_index=True, return_counts=True)
    ends = [(flow, np.flatnonzero(abs(flow.shape[e]) + abs(flow.slope[e])), e) for flow in flows for e in (0, 1)]
    none = np.zeros(0)
    return Flows(
        mass=np.array([flow.mass for flow in flows]),
        owner=owner[first].astype(np.int64),
        frame=frame.astype(np.int64),
        ptr=ends_of(counts),
        col=column.astype(np.int64),
        along=along,
        tension=tension,
        bent=bent,
        own_row=own_row.astype(np.int64),
        own_col=own_column.astype(np.int64),
        own_owner=own_owner.astype(np.int64),
        own_along=own_along,
        own_bent=own_bent,
        end_ptr=ends_of([at.size for _, at, _ in ends]),
        end_frame=np.concatenate([none, *(at + flow.first for flow, at, _ in ends)]).astype(np.int64),
        end_shape=np.concatenate([none, *(flow.shape[e, at] for flow, at, e in ends)]),
        end_slope=np.concatenate([none, *(flow.slope[e, at] for flow, at, e in ends)]),
    )


def _entries(matrices: Any) -> tuple[Array, Array, list[Array]]:
    """Rows and columns at which one of the matrices is nonzero, sorted by rows, and the values of each there."""
    i, j = np.nonzero(np.any([matrix != 0.0 for matrix in matrices], axis=0))
    return i, j, [matrix[i, j] for matrix in matrices]


def _joined(parts: list[Any], count: int) -> list[Array]:
    """Concatenate the arrays of several parts: the first ones of all, the second ones, … up to ``count``."""
    return [np.concatenate([np.zeros(0), *(part[k] for part in parts)]) for k in range(count)]
