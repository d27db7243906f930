"""Reading with meshio, protected from endless loops, excessive memory and files outside of the folder."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import h5py
import meshio
import numpy as np

from ..files import hdf5
from ..files.reading import parsed, refuse_entities

TEXTS = {".off": "off", ".dat": "tecplot", ".tec": "tecplot"}
"""Text formats, by suffix, whose readers loop for ever on incomplete files."""
BINARIES = {".ply": "ply", ".mdpa": "mdpa"}
XDMF = (".xdmf", ".xmf")
COUNTS = 12
"""Number of words at the start of Gmsh data that may hold counts: of strings, reals and integers."""
TAGS = 10_000_000
"""Accepted number of unused node tags in a Gmsh file; its reader allocates memory for each tag."""
PATIENCE = 1000
"""Reads beyond the end of a file after which an error is raised."""


class _Ending(io.BufferedReader):
    """A binary file that raises EOFError after PATIENCE reads beyond its end."""

    beyond = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().readline(size))

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().read(size))

    def _counted(self, content: bytes) -> bytes:
        self.beyond = 0 if content else self.beyond + 1
        if self.beyond > PATIENCE:
            raise EOFError("it ends early")
        return content


class _EndingText(io.TextIOWrapper):
    """A text file that raises EOFError after PATIENCE reads beyond its end."""

    beyond = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = super().readline(size)
        self.beyond = 0 if line else self.beyond + 1
        if self.beyond > PATIENCE:
            raise EOFError("it ends early")
        return line


def guarded_mesh(path: Path) -> Any:
    """The mesh that meshio reads from a file.

    Raises ValueError for a file that refers to files outside of its folder or declares more data than it contains;
    EOFError if it is incomplete.
    """
    suffix = path.suffix.lower()
    if suffix in TEXTS:
        with _EndingText(_Ending(io.FileIO(path)), encoding="utf-8") as text:
            return meshio.read(text, TEXTS[suffix])
    if suffix in BINARIES or (suffix == ".msh" and _begins(path, "(")):
        with _Ending(io.FileIO(path)) as binary:
            return meshio.read(binary, BINARIES.get(suffix, "ansys"))
    if suffix in (".node", ".ele"):
        for file in (path.with_suffix(".node"), path.with_suffix(".ele")):
            _refuse_comments_only(file)
    if suffix == ".msh":
        content = path.read_bytes()
        _refuse_counts(content)
        _refuse_nodes(content)
    if suffix in XDMF:
        refuse_outside_data(path)
    if suffix == ".vtu":
        refuse_entities(path.read_bytes())
    if path.is_file() and hdf5.is_hdf5(path):  # with any suffix, such as .exo
        _refuse_links(path)
    return meshio.read(path, "gmsh" if suffix == ".msh" else None)


def refuse_outside_data(path: Path) -> None:
    """Raise an error for an XDMF file whose arrays are in other folders.

    The error is ValueError for files outside of its folder, OSError for arrays behind links.
    """
    for item in parsed(path).iter("DataItem"):
        if item.get("Format") in ("HDF", "Binary"):
            name = (item.text or "").strip()  # meshio reads Binary files from the working directory
            name = os.path.abspath(name) if item.get("Format") == "Binary" else name.partition(":")[0]
            refuse_outside(path.parent, name)
            if (path.parent / name).is_file() and hdf5.is_hdf5(path.parent / name):
                _refuse_links(path.parent / name)


def deck_lines(path: Path) -> list[str]:
    """Lines of a text file of any encoding.

    A UTF-8 byte order mark is removed.
    """
    return path.read_text(encoding="latin-1").removeprefix("\xef\xbb\xbf").split("\n")


def refuse_outside(folder: Path, name: str) -> None:
    """Raise ValueError for a file name that refers to a place outside of the folder."""
    base = folder.resolve()
    if not (base / name).resolve().is_relative_to(base):
        raise ValueError(f"it names {name!r}, which is not in its folder")


def _refuse_links(path: Path) -> None:
    """Raise OSError for an HDF5 file with data in other files, or with more values than its size allows."""
    with h5py.File(path, "r") as file:
        hdf5.refuse_outside_data(file)


def _refuse_counts(content: bytes) -> None:
    """Raise ValueError for Gmsh data with a count above the size of the file, which meshio would read in full."""
    for match in re.finditer(rb"\$\w*Data\s", content):
        for word in content[match.end() :].split(maxsplit=COUNTS)[:COUNTS]:
            if word.isdigit() and int(word[:20]) > len(content):
                raise ValueError(
                    f"it counts {int(word[:20])} values of data, more than its {len(content)} bytes can hold"
                )


def _refuse_nodes(content: bytes) -> None:
    """Raise ValueError for Gmsh headings that declare more nodes or elements than the size of the file allows."""
    version = re.search(rb"\$MeshFormat\s+(\d)\S*\s+([01])", content)
    by_blocks = version is not None and version[1] >= b"4"  # heading: number of blocks, total, first and last tag
    for match in re.finditer(rb"\$(Nodes|Elements)\r?\n", content):
        if by_blocks and version is not None and version[2] == b"1":
            counts = np.frombuffer(content[match.end() : match.end() + 32].ljust(32, b"\0"), "<u8").tolist()
        else:
            words = content[match.end() : match.end() + 100].partition(b"\n")[0].split()
            counts = [int(word) for word in words if word.isdigit()]
        size, tags = len(content), counts[3:] if match[1] == b"Nodes" else []
        if max(counts[: 2 if by_blocks else 1], default=0) > size or max(tags, default=0) > TAGS + size:
            raise ValueError(
                f"it announces {match[1].decode().lower()} by {counts}, more than its {size} bytes can hold"
            )


def _begins(path: Path, start: str) -> bool:
    with path.open(encoding="latin-1") as file:
        return next((line.lstrip().startswith(start) for line in file if line.strip()), False)


def _refuse_comments_only(path: Path) -> None:
    if path.is_file() and _begins(path, "#"):
        with path.open(encoding="latin-1") as file:
            if all(not line.strip() or line.lstrip().startswith("#") for line in file):
                raise ValueError(f"{path.name} ends early")
