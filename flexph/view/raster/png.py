"""PNG encoder, for pages that are written without the extra ``plot`` and its Pillow."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from ...numerics.arrays import Array


def png(picture: Array) -> bytes:
    """PNG file content of a picture (height, width, 4) of bytes."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 4 * width), dtype=np.uint8)
    rows[:, 1:] = picture.reshape(height, -1)
    head = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    written = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)
