"""Row labels of matrices by node and degree of freedom, in the numbering of other programs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...files.reading import reading, refuse_missing
from ...numerics.arrays import Array
from ...numerics.checks import listed
from ...numerics.memo import Memo, once
from .matrix_text import printed_matrix_market

FREEDOMS = {name: i for i, name in enumerate(("UX", "UY", "UZ", "ROTX", "ROTY", "ROTZ"), 1)}
"""Degrees of freedom by Ansys' names; 1 to 6 as in Abaqus."""
NODE_AND_FREEDOM = re.compile(r"(\d+)\.(\d)")
"""A line of a .dof file of CalculiX."""


@dataclass(frozen=True, eq=False)
class NodalOrder(Memo):
    """Order of nodal displacements: node by node, x, y and in space z, with the nodes in the order of ``numbers`` (N,).

    ``mapping`` (n, 2) gives the node number and the degree of freedom of each row of matrices without labels. It is
    None if their rows are already in this order.
    """

    numbers: Array
    dim: int
    mapping: Array | None = None

    @once
    def _row(self) -> dict[int, int]:
        return {int(number): i for i, number in enumerate(self.numbers)}

    def word(self, place: int) -> str:
        """Text for messages that names the node and the degree of freedom of displacement number ``place``."""
        return f"node {self.numbers[place // self.dim]}, degree of freedom {place % self.dim + 1}"

    def ordered(self, name: str, matrix: Any, labels: Array | None) -> Any:
        """Square matrix with its rows and columns sorted to the order of the displacements.

        They are sorted by ``labels`` (n, 2), the node number and degree of freedom of each row, or else by the mapping.
        """
        if labels is None and self.mapping is not None:
            labels = self.mapping
            if matrix.shape[0] != len(labels):
                raise ValueError(
                    f"mapping must have a node, or a node and a degree of freedom, for each of the {matrix.shape[0]} "
                    f"rows of {name}, got {len(labels)} rows"
                )
        if labels is None:
            return matrix
        places = self._places(name, labels)
        entries = sparse.coo_array(matrix)
        size = len(self.numbers) * self.dim
        return sparse.csr_array((entries.data, (places[entries.row], places[entries.col])), shape=(size, size))

    def _places(self, name: str, labels: Array) -> Array:
        """Indices of the displacements with the given labels (n, 2), pairs of node number and degree of freedom.

        Raises ValueError for labels that are unknown, repeated, of rotations, or incomplete.
        """
        turning = labels[(labels[:, 1] > self.dim) | (labels[:, 1] < 1)]
        if len(turning):
            raise ValueError(
                f"{name} must have degrees of freedom 1 to {self.dim} of nodes, got {turning[0, 1]} at node "
                f"{turning[0, 0]}; rotational degrees of freedom of nodes are not supported"
            )
        strange = np.unique(labels[~np.isin(labels[:, 0], self.numbers), 0])
        if strange.size:
            raise ValueError(
                f"{name} has entries of nodes {listed(strange)}, which are not among the {len(self.numbers)} nodes "
                f"with numbers {self.numbers.min()} to {self.numbers.max()}: give the node numbers by numbers="
            )
        if len(np.unique(labels, axis=0)) != len(labels):
            raise ValueError(
                f"{name} must have one row for each degree of freedom of a node, but its mapping names one twice"
            )
        self._refuse_missing(name, labels)
        rows = np.array([self._row[int(node)] for node in labels[:, 0]])
        return self.dim * rows + labels[:, 1] - 1

    def _refuse_missing(self, name: str, labels: Array) -> None:
        """Raise ValueError if some degrees of freedom of nodes have no label, for instance as supports were removed."""
        nodes, count = np.unique(labels[:, 0], return_counts=True)
        partly = nodes[count < self.dim]
        gone = np.setdiff1d(self.numbers, nodes) if name == "stiffness" else partly[:0]
        missing = np.union1d(partly, gone)
        if missing.size:
            raise ValueError(
                f"{name} must have all {self.dim} degrees of freedom of every node, but some are missing at nodes "
                f"{listed(missing)}: export it without supports and constraints"
            )


def nodal_order(numbers: Array, dim: int, mapping: Any) -> NodalOrder:
    """Order of nodal displacements for node numbers (N,) and a mapping (:func:`flexph.bodies.body_from_matrices`)."""
    return NodalOrder(numbers, dim, None if mapping is None else _mapping(mapping, dim))


def _mapping(given: Any, dim: int) -> Array:
    """Node number and degree of freedom of each row, (n, 2), from a mapping given as a file or an array."""
    table = _mapping_file(Path(given)) if isinstance(given, str | Path) else np.asarray(given)
    if table.dtype.kind not in "iu" or table.ndim not in (1, 2) or (table.ndim == 2 and table.shape[1] not in (1, 2)):
        raise ValueError(
            "mapping must be node numbers (nodes,) of the blocks of rows, or node and degree of freedom (rows, 2) from "
            f"1, or a file of these, got {table.dtype} of shape {table.shape}"
        )
    if table.ndim == 2 and table.shape[1] == 2:
        return table
    nodes = table.ravel()
    if len(nodes) == dim * np.unique(nodes).size:  # one node for each row
        order = np.argsort(nodes, kind="stable")
        dof = np.empty(len(nodes), dtype=int)
        dof[order] = np.tile(np.arange(1, dim + 1), len(nodes) // dim)
        return np.column_stack([nodes, dof])
    return np.column_stack([np.repeat(nodes, dim), np.tile(np.arange(1, dim + 1), len(nodes))])


def _mapping_file(path: Path) -> Array:
    """Table of integers in a mapping file: node number and degree of freedom of each row, or node numbers only.

    Lines are 'row node UX', as in .mapping files of HBMAT, 'node UX', 'node dof' or 'node'. Lines 'node.dof' of .dof
    files of CalculiX, and vectors of integers in the Matrix Market format are read, too.
    """
    refuse_missing("mapping", path)
    text = path.read_text(encoding="latin-1")
    if text.lower().startswith("%%matrixmarket"):
        with reading("mapping", path):
            return np.atleast_1d(np.asarray(printed_matrix_market(text)).squeeze())
    rows: list[list[int]] = []
    for k, line in enumerate(text.splitlines(), 1):
        parts = line.replace(",", " ").replace(";", " ").split()
        if len(parts) == 1 and (both := NODE_AND_FREEDOM.fullmatch(parts[0])):
            parts = list(both.groups())
        if not parts or not parts[0].isdigit():
            if rows and parts:
                raise ValueError(f"mapping, {str(path)!r}, line {k}: {line.strip()!r} does not begin with a number")
            continue  # headings
        rows.append(_numbers(path, k, parts))
    if not rows or len({len(r) for r in rows}) != 1 or len(rows[0]) > 3:
        raise ValueError(
            f"mapping, {str(path)!r}, must have lines 'row node UX', 'node UX' or 'node', as the .mapping file of HBMAT"
        )
    table = np.array(rows)
    if table.shape[1] < 3:
        return table
    if not np.array_equal(np.sort(table[:, 0]), np.arange(1, len(table) + 1)):
        raise ValueError(
            f"mapping, {str(path)!r}, must number the rows of the matrix from 1 to {len(table)}, once each"
        )
    return table[np.argsort(table[:, 0]), 1:]


def _numbers(path: Path, line: int, parts: list[str]) -> list[int]:
    *numbers, last = parts
    if last.upper() in FREEDOMS:
        last = str(FREEDOMS[last.upper()])
    if not all(p.isdigit() for p in (*numbers, last)):
        raise ValueError(
            f"mapping, {str(path)!r}, line {line}: {' '.join(parts)!r} must be whole numbers and a name of "
            f"{', '.join(FREEDOMS)}"
        )
    return [int(p) for p in (*numbers, last)]
