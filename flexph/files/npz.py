"""Checks of NumPy archives (npz): declared array sizes are compared with the bytes that follow, before reading."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np

from .reading import SPARE

EXPANSION = 200
"""Largest accepted ratio of the expanded size of an archive or text to the size of its compressed file."""


def refuse_misfits(path: Path) -> int:
    """Expanded size of an archive [bytes]; raises ValueError if it is too large or an array has not its declared size.

    Arrays of Python objects are refused, too: they can run code.
    """
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > EXPANSION * path.stat().st_size + SPARE:
            raise ValueError(f"it expands to {size} bytes, more than {EXPANSION} times its size")
        for member in archive.infolist():
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                heading = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, _, kind = heading[version](file)
                if kind.hasobject:
                    raise ValueError(f"{member.filename} holds Python objects, which can run code")
                if math.prod(shape) * kind.itemsize != member.file_size - file.tell():
                    raise ValueError(f"{member.filename} declares an array {shape}, and has {member.file_size} bytes")
    return size
