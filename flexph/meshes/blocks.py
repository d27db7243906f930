"""Blocks of cells for meshes of meshio, including cell types whose dimension meshio does not define."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import meshio
import numpy as np

from .cell_types import dimension


class _Block(meshio.CellBlock):
    """Block of cells of a type that is missing in meshio's table of dimensions: wedge15, pyramid13."""

    def __init__(self, kind: str, nodes: Any) -> None:
        self.type, self.data, self.dim = kind, np.asarray(nodes), dimension(kind)
        self.tags: list[str] = []


NO_CELL_BLOCK = ("wedge15", "pyramid13")
"""Cell types that meshio reads and writes, but from which it cannot make a ``CellBlock``."""


def cell_blocks(cells: Iterable[tuple[str, Any]]) -> list[meshio.CellBlock]:
    """Blocks of cells (type, nodes) for a mesh of meshio."""
    return [
        _Block(kind, nodes) if kind in NO_CELL_BLOCK else meshio.CellBlock(kind, np.asarray(nodes))
        for kind, nodes in cells
    ]
