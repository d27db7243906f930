"""Reader of stresses of modes exported by other programs: tensors at nodes or in cells, for each mode."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ..fields import NodeValues, TensorField

COMPONENTS = 6
PLACES = ("nodes", "cells")


def is_mode_stress(given: Any, modes: int) -> bool:
    """True for an array of tensors of modes: three axes, or six rows for each location and a column for each mode."""
    shape = np.shape(given)
    return len(shape) == 3 or (len(shape) == 2 and shape[1] == modes and shape[0] % COMPONENTS == 0)


def mode_stresses(name: str, given: Any, modes: int, places: dict[str, int]) -> tuple[Array, str]:
    """Read tensors (n, 6, k) of k modes and their location, "nodes" or "cells", from axes in any order.

    ``places`` holds the numbers of nodes and cells. Two-dimensional arrays have six rows for each location and columns
    of modes. Raises ValueError unless exactly one interpretation fits.
    """
    values = np.asarray(given, dtype=float)
    if not np.all(np.isfinite(values)):
        raise ValueError(f"stress {name!r} must be finite, got NaN or infinity")
    wanted = ", ".join(f"{count} {place}" for place, count in places.items())
    if values.ndim == 2:
        values = values.reshape(-1, COMPONENTS, modes)
        candidates = [(values, place) for place, count in places.items() if count == len(values)]
    else:
        candidates = [
            (np.transpose(values, axes), place)
            for axes in permutations(range(3))
            for place, count in places.items()
            if tuple(values.shape[a] for a in axes) == (count, COMPONENTS, modes)
        ]
    if len(candidates) != 1:
        what = "fits in more than one way" if candidates else "does not"
        raise ValueError(
            f"stress {name!r} of modes must have axes of locations ({wanted}), {COMPONENTS} components and {modes} "
            f"modes, and shape {np.shape(given)} {what}: write (locations, 6, modes), or (locations * 6, modes) if "
            "axes are equally long, and a third entry 'nodes' or 'cells' if there are equally many of both"
        )
    return candidates[0]


def mode_tensor(unit: str, rows: Any, place: str, *, points: Array, cells: Array) -> TensorField:
    """Tensor field from rows (n·6, m) that act on σ, with components (xx, yy, zz, xy, yz, xz), at nodes or in cells.

    For tensors at nodes, the stress points of a cell are its nodes, with equal weights. Compliances are unknown, so
    that there is no error indicator.
    """
    count, corners = cells.shape
    own = cells.ravel() if place == "nodes" else np.arange(count)
    each = corners if place == "nodes" else 1
    cell = np.repeat(np.arange(count), each)
    at = sparse.csr_array(sparse.csr_array(rows)[(COMPONENTS * own[:, None] + np.arange(COMPONENTS)).ravel()])
    mean = sparse.csr_array((np.full(len(own), 1.0 / each), (cell, np.arange(len(own)))), shape=(count, len(own)))
    shares = np.eye(corners) if place == "nodes" else np.ones((corners, 1))
    return TensorField(
        unit=unit,
        cells=sparse.csr_array(sparse.kron(mean, sparse.eye_array(COMPONENTS)) @ at),
        drawn=np.arange(count),
        at=at,
        positions=points[own] if place == "nodes" else points[cells].mean(axis=1),
        weights=np.full(len(own), 1.0 / each),
        cell=cell,
        nodal=at,
        spread=sparse.eye_array(len(own)).tocsr(),
        compliances=np.zeros((0, COMPONENTS, COMPONENTS)),
        material=np.zeros(len(own), dtype=int),
        nodes=(NodeValues(0, shares, np.arange(len(own)).reshape(count, each), shares),),
    )
