"""Checked reading of matrices in the Matrix Market format: declared sizes are compared with the lines of the text.

scipy does not detect truncated texts: its reader returns 2.5 for a text that ends within 2.5e10, and reads beyond the
end of a text that ends with 2.5e.
"""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
from scipy.io import mmread

from .reading import refuse_cut, refuse_huge, standard_matrix

BANNER = re.compile(
    r"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|pattern|unsigned-integer|complex)\s+"
    r"(general|symmetric|skew-symmetric|hermitian)\s*",
    re.IGNORECASE,
)
CHARACTERS = b"0123456789+-.eE \t\r\n"
NO_EXPONENT = re.compile(rb"[eE](?![+-]?\d)|[\d.][+-]")
BLANK = re.compile(rb"\n(?=[ \t\r]*\n)")


def matrix_market(text: str, size: int = 0) -> Any:
    """Matrix from a text in the Matrix Market format, in CSR or dense.

    ``size``: total size of the files with this text [bytes], by default that of the text. Raises ValueError for a
    text that is cut off, has another number of lines than it declares, or has malformed numbers.
    """
    refuse_cut(text)
    banner, *lines = text.split("\n", 1)
    kind = BANNER.fullmatch(banner)
    if kind is None:
        raise ValueError(f"{banner[:80]!r} must be a banner such as '%%MatrixMarket matrix coordinate real general'")
    body = re.sub(r"(?m)^[ \t]*%[^\n]*\n", "", lines[0]).lstrip()
    declared, _, rest = body.partition("\n")
    shape, count = _size(declared, kind[1].lower() == "coordinate", kind[3].lower())
    refuse_huge(shape, size or len(text))
    entries = rest.encode("latin-1", "replace")
    _refuse_others(entries)
    given = entries.count(b"\n") - len(BLANK.findall(b"\n" + entries))
    if given != count:
        raise ValueError(f"it declares {count} entries, one in each line, and has {given} lines")
    matrix = standard_matrix(mmread(io.BytesIO(f"{banner}\n{declared}\n".encode() + entries), spmatrix=False))
    return matrix if kind[1].lower() == "coordinate" else np.asarray(matrix)


def _size(line: str, sparse: bool, symmetry: str) -> tuple[tuple[int, int], int]:
    """Shape of the matrix in a size line, and number of entries that must follow in the file.

    Raises ValueError for a malformed line.
    """
    words = line.split()
    if len(words) != 2 + sparse or not all(word.isdecimal() and len(word) < 20 for word in words):
        raise ValueError(f"its size line must have {2 + sparse} whole numbers, got {line.strip()[:80]!r}")
    rows, columns, *entries = (int(word) for word in words)
    if symmetry != "general" and rows != columns:
        raise ValueError(f"a {symmetry} matrix must be square, got {rows} × {columns}")
    if sparse:
        return (rows, columns), entries[0]
    triangle = {"general": rows * columns, "skew-symmetric": rows * (rows - 1) // 2}
    return (rows, columns), triangle.get(symmetry, rows * (rows + 1) // 2)


def _refuse_others(entries: bytes) -> None:
    strange = entries.translate(None, CHARACTERS)
    if strange:
        raise ValueError(f"its lines must contain only numbers, got the characters {strange[:20].decode('latin-1')!r}")
    match = NO_EXPONENT.search(entries)
    if match is not None:
        line = entries.splitlines()[entries.count(b"\n", 0, match.start())].decode()
        raise ValueError(f"its lines must contain only numbers, got {line!r}")
