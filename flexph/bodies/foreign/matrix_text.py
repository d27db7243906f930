"""Readers of matrices printed as text by other programs: triplets, labelled entries, full tables, Harwell-Boeing."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...files.matrix_market import matrix_market
from ...files.reading import refuse_cut, refuse_huge, standard_matrix
from ...numerics.arrays import Array

COMMENTS = ("**", "%", "#", "!", "//")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")
FORTRAN_EXPONENT = re.compile(r"(?<=[\d.])[dD](?=[+-]?\d)")
RIGHT = (
    "write 'row, column, value' or 'node, degree of freedom, node, degree of freedom, value' in each line, "
    "counted from 1, or all columns of a full matrix"
)


class TextMatrix(NamedTuple):
    """A matrix, sparse or dense, and labels (n, 2), the node number and degree of freedom of each row, or None."""

    matrix: Any
    labels: Array | None


def printed_matrix_market(text: str) -> Any:
    """Matrix of a text in the Matrix Market format, which may have decimal commas and Fortran exponents D."""
    banner, _, rest = text.partition("\n")
    data = "\n".join(line for line in rest.split("\n") if not line.startswith("%"))
    return matrix_market(f"{banner}\n{FORTRAN_EXPONENT.sub('e', data.replace(',', '.'))}")


def text_matrix(text: str) -> TextMatrix:
    """Read the matrix of a text that lists its entries or rows, without a banner that names a format.

    One of these forms is recognised:

    - ``row, column, value`` from 1, as printed by ``*MATRIX OUTPUT, FORMAT=COORDINATE`` of Abaqus, or with ``node.dof``
      instead of both indices; a first line may contain the numbers of rows, columns and entries;
    - ``node, dof, node, dof, value``, as printed by ``FORMAT=MATRIX INPUT`` of Abaqus;
    - a full matrix, line by line.

    Separators are blanks, commas, semicolons and tabs; a comma is the decimal sign if it cannot be a separator.
    Headings and comments are skipped. Raises ValueError, with the line, for anything else.
    """
    rows = number_table(text)
    refuse_cut(text)
    columns = rows.shape[1]
    if columns == 5 and _whole(rows[:, :4]) and not _is_full(rows):
        return _labelled(rows[:, :4].astype(int), rows[:, 4])
    if columns == 3 and not _is_full(rows):
        return _triplets(rows)
    if columns > 1 and columns == len(rows):
        return TextMatrix(rows, None)
    raise ValueError(f"it has {len(rows)} lines of {columns} numbers: {RIGHT}")


def number_table(text: str) -> Array:
    """Numbers (lines, columns) of a text without headings and comments; raises ValueError for lines that do not fit."""
    numbered = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    numbered = [(k, line) for k, line in numbered if not line.lstrip().startswith(COMMENTS)]
    _refuse_element_matrices(numbered)
    first = next((i for i, (_, line) in enumerate(numbered) if NUMBER.match(line.lstrip())), None)
    if first is None:
        raise ValueError(f"it has no line that begins with a number: {RIGHT}")
    numbered = numbered[first:]
    lines = _separated([line for _, line in numbered])
    try:
        table: Array = np.loadtxt(lines, ndmin=2, comments=None)
    except ValueError:
        _explain([k for k, _ in numbered], lines, [line for _, line in numbered])
        raise
    return table


def _separated(lines: list[str]) -> list[str]:
    """Lines in which numbers have decimal points and exponents e, and are separated by blanks."""
    data = "\n".join(lines)
    if _has_decimal_commas(lines, data):
        data = data.replace(",", ".")
    return FORTRAN_EXPONENT.sub("e", data.replace(",", " ").replace(";", " ")).split("\n")


def _has_decimal_commas(lines: list[str], data: str) -> bool:
    """True if commas are decimal signs: there is no point, and other characters separate all numbers of each line."""
    if "." in data or "," not in data:
        return False
    if ";" in data:
        return True
    return all(len(line.split()) > 1 and not re.search(r",(\s|$)", line) for line in lines)


def _explain(numbers: list[int], lines: list[str], given: list[str]) -> None:
    """Raise ValueError for the first line with something else than numbers, or with another count than the first.

    ``lines`` are the normalised lines, ``given`` the original ones, ``numbers`` their line numbers.
    """
    wanted = len(lines[0].split())
    for k, line, raw in zip(numbers, lines, given, strict=True):
        parts = line.split()
        if not all(NUMBER.fullmatch(part) for part in parts):
            raise ValueError(f"line {k}: {raw.strip()!r} does not consist of numbers: {RIGHT}")
        if len(parts) != wanted:
            raise ValueError(f"line {k}: {raw.strip()!r} has {len(parts)} numbers, and the lines before have {wanted}")


def _refuse_element_matrices(numbered: list[tuple[int, str]]) -> None:
    for k, line in numbered:
        if line.lstrip().upper().startswith(("*USER ELEMENT", "*MATRIX,", "*MATRIX TYPE")):
            raise ValueError(
                f"line {k}: {line.strip()!r} begins a matrix of one element or substructure; write the "
                "assembled matrices with *MATRIX GENERATE and *MATRIX OUTPUT"
            )


def _whole(numbers: Array) -> bool:
    return bool(np.all(numbers == np.round(numbers)))


def _is_full(rows: Array) -> bool:
    """True if a table is a full matrix: it is square, and its first two columns cannot be indices."""
    return len(rows) == rows.shape[1] and not (_whole(rows[:, :2]) and rows[:, :2].min() >= 1)


def _triplets(rows: Array) -> TextMatrix:
    """Matrix from lines (row, column, value) of a table; indices are integers from 1 or have the form node.dof."""
    if not _whole(rows[:, :2]):
        node = np.floor(rows[:, :2])
        dof = np.round(10.0 * (rows[:, :2] - node), 6)
        if not _whole(dof):
            k = int(np.argmax(np.any(dof != np.round(dof), axis=1)))
            raise ValueError(f"{rows[k].tolist()} is not a row, column and value: {RIGHT}")
        both = np.column_stack([node[:, 0], dof[:, 0], node[:, 1], dof[:, 1]])
        return _labelled(both.astype(int), rows[:, 2])
    index = rows[:, :2].astype(int)
    sized = rows[0, 2] == len(rows) - 1 and len(rows) > 1 and np.all(index[0] >= index[1:].max(axis=0))
    if sized and (index[0] != index[1]).any():  # a first line with the numbers of rows, columns and entries
        size, index, values = int(index[0].max()), index[1:], rows[1:, 2]
    else:
        size, values = int(index.max()), rows[:, 2]
    if index.min() < 1:
        raise ValueError(f"it must count rows and columns from 1, got {int(index.min())}")
    return TextMatrix(_assembled(index - 1, values, size, index), None)


def _labelled(labels: Array, values: Array) -> TextMatrix:
    """Matrix from entries with labels (entries, 4), node and degree of freedom of the row, then of the column."""
    if labels[:, [0, 2]].min() < 1:
        raise ValueError(
            f"it has entries of node {int(labels[:, [0, 2]].min())}: internal nodes of the program, e.g. of "
            "hybrid elements or constraints, are not supported; leave these out of the model"
        )
    known, place = np.unique(labels.reshape(-1, 2), axis=0, return_inverse=True)
    index = place.reshape(-1, 2)
    return TextMatrix(_assembled(index, values, len(known), labels), known)


def _assembled(index: Array, values: Array, size: int, labels: Array) -> Any:
    """Sparse matrix (size, size) with ``values`` at the rows and columns ``index`` (entries, 2).

    Raises ValueError for an entry that occurs twice, with its row and column as written in the file, ``labels``.
    """
    refuse_huge((size, size), 8 * len(values))
    order = np.lexsort(index.T[::-1])
    repeated = np.flatnonzero(np.all(np.diff(index[order], axis=0) == 0, axis=1))
    if repeated.size:
        raise ValueError(f"it must have every entry once, got {labels[order[repeated[0]]].tolist()} twice")
    return sparse.coo_array((values, (index[:, 0], index[:, 1])), shape=(size, size)).tocsr()


TYPE = re.compile(r"([RICP])([SUHZR])([AE])\b", re.IGNORECASE)
FIELD = re.compile(r"(\d*)\s*([IEDFG])\s*(\d+)", re.IGNORECASE)


def is_harwell_boeing(text: str) -> bool:
    """True if a text is in the Harwell-Boeing format: line 3 begins with a type such as RSA, line 2 has counts."""
    lines = text.split("\n", 4)
    if len(lines) < 5 or not TYPE.match(lines[2]):
        return False
    counts = lines[1].split()
    return 4 <= len(counts) <= 5 and all(c.isdigit() for c in counts)


def harwell_boeing(text: str) -> Any:
    """Read a sparse matrix from a text in the Harwell-Boeing format.

    The format is that of I. S. Duff, R. G. Grimes, J. G. Lewis, Users' guide, TR/PA/92/86, 1992. For symmetric matrices
    the result is the stored triangle. scipy.io.hb_read supports unsymmetric matrices without a right-hand side only.
    Raises ValueError for complex or elemental matrices.
    """
    refuse_cut(text)
    lines = text.splitlines()
    kind = lines[2][:3].upper()
    if kind not in ("RSA", "RUA", "ISA", "IUA"):
        raise ValueError(f"it must hold a real assembled matrix (RSA or RUA), got type {kind!r}")
    counts = [int(c) for c in lines[1].split()]
    rows, columns, entries = (int(c) for c in lines[2][3:].split()[:3])
    refuse_huge((rows, columns), len(text))
    formats = FIELD.findall(lines[3].replace("1P", ""))
    if len(formats) < 3:
        raise ValueError(f"line 4: {lines[3].strip()!r} must name the formats of three lists")
    at, lists = 4 + (len(counts) > 4 and counts[4] > 0), []
    for count, (_, _, width), size in zip(counts[1:4], formats, (columns + 1, entries, entries), strict=False):
        lists.append(_fields(lines[at : at + count], int(width), size))
        at += count
    starts, index = (_places(numbers) for numbers in lists[:2])
    matrix = sparse.csc_array((lists[2], index, starts), shape=(rows, columns))
    return standard_matrix(matrix)


def _places(numbers: Array) -> Array:
    """Zero-based indices from one-based ones; raises ValueError unless they are whole numbers."""
    if not np.all(numbers == np.floor(numbers)):
        raise ValueError("rows and the starts of columns must be whole numbers")
    return numbers.astype(np.int64) - 1


def _fields(lines: list[str], width: int, size: int) -> Array:
    """The first ``size`` numbers of lines with fields of a fixed width; decimal commas and exponents D are accepted."""
    text = [line[i : i + width].strip() for line in lines for i in range(0, len(line.rstrip()), width)]
    if len(text) < size:
        raise ValueError(f"it ends early: it has {len(text)} numbers, but its heading declares {size}")
    try:
        return np.array([float(t.replace("D", "E").replace("d", "e").replace(",", ".")) for t in text[:size]])
    except ValueError as error:
        raise ValueError(f"{error}, in fields of {width} characters") from None
