"""Meshes of boxes and rectangles, without another program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import skfem

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.units.arguments import quantities

SIDES = ("left", "right", "front", "back", "bottom", "top")
"""Names of the sides: first and last along x, y, z."""


@quantities(lengths="m")
@checked
def box_mesh(lengths: Sequence[float], counts: Sequence[int], *, simplices: bool = False) -> skfem.Mesh:
    """A box (three lengths [m]) or a rectangle (two) from the origin, divided into equal cells along each axis.

    Parameters
    ----------
    lengths : sequence of float
        Lengths along x, y and, for a box, z [m].
    counts : sequence of int
        Number of cells along each side.
    simplices : bool, optional
        Tetrahedra or triangles instead of hexahedra or quadrilaterals.

    Returns
    -------
    skfem.Mesh
        A mesh of degree 1; :func:`fem.solid` accepts it with ``degree=2``. Its regions are ``left`` and ``right``
        (along x), ``front`` and ``back`` (y), ``bottom`` and ``top`` (z).

    Raises
    ------
    ValueError
        For another number of sides, and for sides or counts that are not positive.

    Examples
    --------
    >>> import fem
    >>> mesh = fem.box_mesh((0.2, 0.1), (4, 2))
    >>> mesh.nelements, sorted(mesh.boundaries)
    (8, ['back', 'front', 'left', 'right'])
    """
    if len(lengths) not in (2, 3) or len(counts) != len(lengths):
        raise ValueError(f"lengths and counts must be two or three each, got {len(lengths)} and {len(counts)}")
    sizes = [check.positive("lengths", x, "m") for x in lengths]
    grid = [np.linspace(0.0, x, check.count("counts", n) + 1) for x, n in zip(sizes, counts, strict=True)]
    mesh = (skfem.MeshQuad if len(sizes) == 2 else skfem.MeshHex).init_tensor(*grid)
    if simplices:
        mesh = mesh.to_meshtri() if len(sizes) == 2 else mesh.to_meshtet()
    at = lambda i, x: lambda points: np.abs(points[i] - x) < 1e-9 * sizes[i]  # noqa: E731 - one test for each side
    ends = [(i, x) for i, size in enumerate(sizes) for x in (0.0, size)]
    return mesh.with_boundaries({name: at(*end) for name, end in zip(SIDES, ends, strict=False)})
