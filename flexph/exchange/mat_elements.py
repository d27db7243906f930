"""Elements of MATLAB files of version 5, with tags checked against their contents before scipy reads them.

scipy's reader would follow a wrong tag out of the process's memory. Checksums of compressed elements are verified.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Collection, Iterator
from typing import NamedTuple

HEADER = 128
MATRIX, COMPRESSED = 14, 15
CHAR, SPARSE = 4, 5
NUMERIC = range(6, 16)
COMPLEX = 0x0800
SIZES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
"""Bytes of the numeric data types."""
TEXTS = {**SIZES, 16: 1, 17: 2, 18: 4}
"""Bytes of the character data types."""
RATIO = 1032
"""Largest compression ratio of zlib."""


class Part(NamedTuple):
    """Tagged part of an element: its data type and its bytes."""

    kind: int
    data: bytes


def checked_elements(content: bytes, names: Collection[str]) -> tuple[bytes, list[str]]:
    """Header and wanted elements of a file, uncompressed, and the names of the other elements.

    Raises ValueError for a file of another version, and for an element that is truncated, damaged, complex, or neither
    numbers nor text. Files of version 4, with a zero among their first four bytes, are returned unchanged.
    """
    if len(content) >= 4 and 0 in content[:4]:
        return content, []
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER])
    if order is None or struct.unpack(order + "H", content[124:126])[0] != 0x0100:
        raise ValueError("it must be a MATLAB file of version 4 to 7.2")
    wanted, others = [], []
    for kind, data in _elements(content[HEADER:], order):
        if kind == COMPRESSED:
            ((kind, data),) = _elements(_decompressed(data), order)
        if kind != MATRIX:
            raise ValueError(f"it must be made of matrices, got an element of type {kind}")
        flags, dimensions, name, *values = _elements(data, order)
        if name.data.decode("ascii") not in names:
            others.append(name.data.decode("ascii"))
            continue
        _refuse_misfits(name.data.decode("ascii"), (flags, dimensions, *values), order)
        wanted.append(struct.pack(order + "II", MATRIX, len(data)) + data)
    return content[:HEADER] + b"".join(wanted), others


def _elements(content: bytes, order: str) -> Iterator[Part]:
    """Yield the parts of a content, each checked to lie within it; small parts have their data in the tag."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(order + "II", content, at)
        start, padding = at + 8, 0 if kind == COMPRESSED else -size % 8
        if kind >> 16:
            kind, size, start, padding = kind & 0xFFFF, kind >> 16, at + 4, 4 - (kind >> 16)
        if size > len(content) - start or padding < 0:
            raise ValueError("it ends within an element")
        yield Part(kind, content[start : start + size])
        at = start + size + padding


def _decompressed(data: bytes) -> bytes:
    inflating = zlib.decompressobj()
    content = inflating.decompress(data, RATIO * len(data) + 64)
    if not inflating.eof or inflating.unused_data:
        raise ValueError("it ends within a compressed element")
    return content


def _refuse_misfits(name: str, parts: tuple[Part, ...], order: str) -> None:
    """Raise ValueError unless flags, dimensions and values of a matrix fit each other."""
    flags, dimensions, *values = parts
    word, _ = struct.unpack(order + "II", flags.data)
    shape = struct.unpack(f"{order}{len(dimensions.data) // 4}i", dimensions.data)
    kinds = [value.kind for value in values]
    if word & COMPLEX:
        raise ValueError(f"{name} must be real")
    if (flags.kind, dimensions.kind) != (6, 5) or len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"{name} must be a matrix")
    if word & 0xFF == SPARSE:
        fits = len(kinds) == 3 and kinds[:2] == [5, 5] and kinds[2] in SIZES
        fits = fits and len(values[1].data) == 4 * (shape[1] + 1)
    else:
        sizes = TEXTS if word & 0xFF == CHAR else SIZES if word & 0xFF in NUMERIC else {}
        fits = len(kinds) == 1 and kinds[0] in sizes
        # Characters in UTF-8 and UTF-16 may take more than one byte each.
        fits = fits and (kinds[0] > 15 or len(values[0].data) == math.prod(shape) * sizes[kinds[0]])
    if not fits:
        raise ValueError(f"the values of {name} do not fit its shape {shape}")
