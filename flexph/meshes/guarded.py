"""Mesh files made safe for meshio: with an end that its loops notice, and without paths out of the folder."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import h5py
import meshio
import numpy as np

from ..files import contained
from ..files.xml_texts import parsed, refuse_entities

TEXTS = {".off": "off", ".dat": "tecplot", ".tec": "tecplot"}
"""Formats of text by the endings of files, whose readers wait for a line that may never come."""
BINARIES = {".ply": "ply", ".mdpa": "mdpa"}
XDMF = (".xdmf", ".xmf")
COUNTS = 12
"""Words from which data of Gmsh count what follows: of texts, of numbers, of whole numbers."""
TAGS = 10_000_000
"""Numbers of nodes that a file of Gmsh may leave out; its reader takes memory for each."""
PATIENCE = 1000
"""Reads beyond the end of a file after which it is over for a reader, too."""


class _Ending(io.BufferedReader):
    """A file that cannot be read beyond its end for ever."""

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
    """The same for text."""

    beyond = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = super().readline(size)
        self.beyond = 0 if line else self.beyond + 1
        if self.beyond > PATIENCE:
            raise EOFError("it ends early")
        return line


def guarded_mesh(path: Path) -> Any:
    """What meshio reads from a file. Raises ValueError or EOFError for one that it would follow or read for ever."""
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
        refuse_ways_out(path)
    if suffix == ".vtu":
        refuse_entities(path.read_bytes())
    if path.is_file() and contained.is_hdf5(path):  # also by another ending, such as .exo
        _refuse_links(path)
    return meshio.read(path, "gmsh" if suffix == ".msh" else None)


def refuse_ways_out(path: Path) -> None:
    """Raise ValueError for an XDMF file whose arrays lie in a file outside of its folder, or behind links."""
    for item in parsed(path).iter("DataItem"):
        if item.get("Format") in ("HDF", "Binary"):
            name = (item.text or "").strip()  # of Binary, meshio reads it from the working directory
            name = os.path.abspath(name) if item.get("Format") == "Binary" else name.partition(":")[0]
            refuse_outside(path.parent, name)
            if (path.parent / name).is_file() and contained.is_hdf5(path.parent / name):
                _refuse_links(path.parent / name)


def deck_lines(path: Path) -> list[str]:
    """The lines of a text, whose bytes may be any; a mark of UTF-8 at its beginning is none of them."""
    return path.read_text(encoding="latin-1").removeprefix("\xef\xbb\xbf").split("\n")


def refuse_outside(folder: Path, name: str) -> None:
    """Raise ValueError for the name of a file that leads out of a folder."""
    base = folder.resolve()
    if not (base / name).resolve().is_relative_to(base):
        raise ValueError(f"it names {name!r}, which is not in its folder")


def _refuse_links(path: Path) -> None:
    """Raise OSError for an HDF5 file whose contents lie elsewhere, or are more than it can hold."""
    with h5py.File(path, "r") as file:
        contained.refuse_ways_out(file)


def _refuse_counts(content: bytes) -> None:
    """Raise ValueError for data of Gmsh that count more lines than their file has bytes: meshio would read them all."""
    for match in re.finditer(rb"\$\w*Data\s", content):
        for word in content[match.end() :].split(maxsplit=COUNTS)[:COUNTS]:
            if word.isdigit() and int(word[:20]) > len(content):
                raise ValueError(
                    f"it counts {int(word[:20])} values of data, more than its {len(content)} bytes can hold"
                )


def _refuse_nodes(content: bytes) -> None:
    """Raise ValueError for nodes or cells of Gmsh, in their headings, that are more than the bytes of the file."""
    version = re.search(rb"\$MeshFormat\s+(\d)\S*\s+([01])", content)
    by_blocks = version is not None and version[1] >= b"4"  # then a heading has the blocks, all, the least and last tag
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
