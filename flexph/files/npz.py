"""Archives of NumPy arrays: what each heading declares is compared with the bytes behind it before memory is taken."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np

from .reading import SPARE

EXPANSION = 200
"""Size of a text or an archive over that of its compressed file that is believed."""


def refuse_misfits(path: Path) -> int:
    """Bytes that an archive expands to; ValueError where that is too much, or an array is not as long as it declares.

    Arrays of objects are refused, too: they are code.
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
                    raise ValueError(f"{member.filename} holds objects, which are code")
                if math.prod(shape) * kind.itemsize != member.file_size - file.tell():
                    raise ValueError(f"{member.filename} declares an array {shape}, and has {member.file_size} bytes")
    return size
