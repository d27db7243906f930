"""Reader of matrices in the Harwell-Boeing format, as written by HBMAT of Ansys."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

from ...files.reading import refuse_cut, refuse_huge, sound
from ...numerics.arrays import Array

TYPE = re.compile(r"([RICP])([SUHZR])([AE])\b", re.IGNORECASE)
FIELD = re.compile(r"(\d*)\s*([IEDFG])\s*(\d+)", re.IGNORECASE)


def is_harwell_boeing(text: str) -> bool:
    """True if the third line of a text names a type of matrix, such as RSA, and the second one counts lines."""
    lines = text.split("\n", 4)
    if len(lines) < 5 or not TYPE.match(lines[2]):
        return False
    counts = lines[1].split()
    return 4 <= len(counts) <= 5 and all(c.isdigit() for c in counts)


def harwell_boeing(text: str) -> Any:
    """Read a sparse matrix from a text (I. S. Duff, R. G. Grimes, J. G. Lewis, Users' guide, TR/PA/92/86, 1992).

    For symmetric matrices the result is the stored triangle. scipy.io.hb_read supports unsymmetric matrices without a
    right-hand side only. Raises ValueError for complex or elemental matrices.
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
    return sound(matrix)


def _places(numbers: Array) -> Array:
    """Convert one-based to zero-based indices."""
    if not np.all(numbers == np.floor(numbers)):
        raise ValueError("rows and the starts of columns must be whole numbers")
    return numbers.astype(np.int64) - 1


def _fields(lines: list[str], width: int, size: int) -> Array:
    """Numbers of a fixed width; decimal commas and exponents D are accepted."""
    text = [line[i : i + width].strip() for line in lines for i in range(0, len(line.rstrip()), width)]
    if len(text) < size:
        raise ValueError(f"it ends early: it has {len(text)} numbers, but its heading declares {size}")
    try:
        return np.array([float(t.replace("D", "E").replace("d", "e").replace(",", ".")) for t in text[:size]])
    except ValueError as error:
        raise ValueError(f"{error}, in fields of {width} characters") from None
