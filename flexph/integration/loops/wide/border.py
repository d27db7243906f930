"""Order and pattern of a sparse border: the unknowns of wide bodies first, the unknowns coupled with all these last.

Wide bodies are those such as plates and solids, whose matrices have no narrow band. In addition to the unknowns of a
banded border, a sparse one has all flexible coordinates, and the ends e of the vectors of joints, e − W x = 0, through
which joints, springs and loads are coupled to nodes that many unknowns move.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..memory.data import Index

Blocks = Iterable[tuple[Index, Index]]
"""Pairs of rows and columns, with an entry for each combination."""
LATE = 4
"""Unknowns coupled with all others come last if they are at most 1/LATE of all unknowns."""


class Unknowns(NamedTuple):
    """Numbers of all unknowns in a sparse border of the Jacobian, by kind; −1 for those that do not exist.

    See :class:`Border`.
    """

    v: Index
    w: Index
    c: Index
    m: Index
    l: Index
    e: Index


class Pattern(NamedTuple):
    """New number of each unknown, and the nonzero entries of the border of the Jacobian in the new order, by columns.

    The entries are given by the ends of the columns, and by row numbers.
    """

    order: Index
    column_ptr: Index
    row: Index


def sparse_pattern(unknowns: Unknowns, is_wide: Index, blocks: Blocks, entries: tuple[Index, Index]) -> Pattern:
    """New order of the unknowns of a sparse border of the Jacobian, and its nonzero entries by columns in this order.

    ``blocks`` are pairs of rows and columns that are fully coupled, ``entries`` rows and columns of single entries.
    ``is_wide`` (b,) is nonzero for frames that are nodes of wide bodies.
    """
    size = sum(int((part >= 0).sum()) for part in unknowns)
    row, column = _entries(size, blocks, entries)
    vertex = _vertices(unknowns, is_wide, size)
    order = _order(vertex, row, column)
    keys = _sorted(order[column] * size + order[row])
    columns, rows = np.divmod(keys, size)
    return Pattern(order, np.searchsorted(columns, np.arange(size + 1)), rows)


def _entries(size: int, blocks: Blocks, entries: tuple[Index, Index]) -> tuple[Index, Index]:
    """Rows and columns of all entries of blocks and single entries, without duplicates, and of the diagonal."""
    by_size: dict[tuple[int, int], list[tuple[Index, Index]]] = {}
    for rows, columns in blocks:
        block = rows[rows >= 0], columns[columns >= 0]
        by_size.setdefault((block[0].size, block[1].size), []).append(block)
    diagonal = np.arange(size)
    keys = [diagonal * (size + 1), entries[0] * size + entries[1]]
    for (height, width), alike in by_size.items():
        if height and width:
            rows, columns = (np.array(part) for part in zip(*alike, strict=True))
            keys.append(_sorted((rows[:, :, None] * size + columns[:, None, :]).ravel()))
    return np.divmod(_sorted(np.concatenate(keys)), size)


def _sorted(keys: Index) -> Index:
    """Sorted copy of ``keys`` without duplicates, faster for millions of them than the hashing of np.unique."""
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])]


def _vertices(unknowns: Unknowns, is_wide: Index, size: int) -> Index:
    """Number (N,) of the vertex of each unknown in the graph by which a sparse border is ordered; −1 for no vertex.

    There is one vertex for ṙ̄ and ω̄ of each frame of wide bodies, and one for each flexible coordinate.
    """
    vertex = np.full(size, -1)
    frames = np.flatnonzero(is_wide)
    unknown = np.hstack([unknowns.v, unknowns.w])[frames]
    vertex[unknown[unknown >= 0]] = np.repeat(np.arange(frames.size), (unknown >= 0).sum(axis=1))
    coordinates = unknowns.m[unknowns.m >= 0]
    vertex[coordinates] = frames.size + np.arange(coordinates.size)
    return vertex


def _order(vertex: Index, row: Index, column: Index) -> Index:
    """New number of each unknown by minimum degree of the graph of vertices, with other unknowns last.

    If the other unknowns are many, the ordering is by COLAMD instead. ``vertex`` is the result of :func:`_vertices`,
    ``row`` and ``column`` are the positions of the entries.
    """
    early = np.flatnonzero(vertex >= 0)
    if LATE * (vertex.size - early.size) > vertex.size:
        place = _eliminated(row, column, vertex.size, "COLAMD")
        first = np.full(vertex.max(initial=-1) + 1, vertex.size)
        np.minimum.at(first, vertex[early], place[early])
        place[early] = first[vertex[early]]  # numbers of a frame are consecutive, as loops over cells require
        return np.argsort(np.lexsort((np.arange(vertex.size), place)))
    linked = (vertex[row] >= 0) & (vertex[column] >= 0)
    count = int(vertex.max(initial=-1)) + 1
    place = _eliminated(vertex[row[linked]], vertex[column[linked]], count, "MMD_AT_PLUS_A")
    late = np.where(vertex >= 0, place[vertex], count)
    return np.argsort(np.lexsort((np.arange(vertex.size), late)))


def _eliminated(row: Index, column: Index, size: int, ordering: str) -> Index:
    """Position of each column in an ordering by SuperLU, which depends only on the pattern of the entries."""
    keys = _sorted(row * size + column)
    row, column = np.divmod(keys, size)
    values = np.where(row == column, 2.0 * size, 1.0)
    matrix = sparse.csc_array((values, (row, column)), shape=(size, size))
    options: Any = {"SymmetricMode": ordering != "COLAMD"}
    place: Index = splu(matrix, permc_spec=ordering, diag_pivot_thresh=0.0, options=options).perm_c
    return place.astype(np.int64)
