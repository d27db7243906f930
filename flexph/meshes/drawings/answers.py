"""Cache of the answers of gmsh in a folder next to the drawing, so that a model can be loaded without gmsh."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...files.durable import staged
from ...numerics.arrays import Array

FOLDER = ".flexph-meshes"
"""Folder, next to a drawing, that caches results of the geometry kernel; it may be removed at any time."""
MOST = 40
"""Number of files in this folder above which the oldest are removed."""
TEXT = "answer"

Found = tuple[dict[str, Any], dict[str, Array]]


def cached_answer(
    beside: Path, request: Mapping[str, Any], arrays: Mapping[str, Array], ask: Callable[[], Found]
) -> Found:
    """Answer of gmsh to a request, and its arrays, from the cache in the folder of the drawing ``beside`` if possible.

    A stored answer is read if it is for the same content of the drawing, request, ``arrays`` of the request and
    program; otherwise ``ask`` computes the answer, and it is stored. A damaged file is replaced; in a folder without
    permission to write, nothing is stored.
    """
    file = beside.parent / FOLDER / f"{_key(beside, request, arrays)}.npz"
    with suppress(OSError, ValueError, KeyError, zipfile.BadZipFile):
        return _read(file)
    answer, found = ask()
    with suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        with staged(file) as part:
            stored: dict[str, Any] = {f"array {name}": value for name, value in found.items()}
            stored[TEXT] = np.frombuffer(json.dumps(answer).encode(), dtype=np.uint8)
            np.savez(part, **stored)
        files = sorted(file.parent.glob("*.npz"), key=lambda own: own.stat().st_mtime_ns)
        for old in files[:-MOST]:
            old.unlink()
    return answer, found


def _key(beside: Path, request: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """Hash of the content of the drawing, the request without the path of the file, its arrays, and the programs."""
    digest = hashlib.sha256(beside.read_bytes())
    digest.update(_programs())
    content = {name: value for name, value in request.items() if name != "file"}
    digest.update(json.dumps(content, sort_keys=True).encode())
    for name, values in arrays.items():
        digest.update(name.encode() + np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:32]


@cache
def _programs() -> bytes:
    """Source text of all modules of this folder, a change of which makes stored answers invalid."""
    return b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))


def _read(file: Path) -> Found:
    """Read a stored answer; raises OSError or ValueError for a missing, damaged or compressed file."""
    with zipfile.ZipFile(file) as parts:
        if any(part.compress_type != zipfile.ZIP_STORED for part in parts.infolist()):
            raise ValueError("a stored answer must not be compressed")
    with np.load(file, allow_pickle=False) as stored:
        answer = json.loads(stored[TEXT].tobytes())
        arrays = {name.removeprefix("array "): stored[name] for name in stored.files if name != TEXT}
    if not isinstance(answer, dict):
        raise ValueError("a stored answer must contain its text")
    return answer, arrays
