"""Rigid bodies that fill a mesh of their surface or volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flexph.bodies.body import Body
from flexph.bodies.fields import View
from flexph.meshes.contents import refuse_left_out
from flexph.meshes.files.reading import Source, read_contents
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.units.arguments import quantities

from .bodies import Point, no_shape, spatial
from .mesh import Cells, chosen, merged, refuse_open, refuse_twins
from .moments import SPLIT, SURFACE, VOLUME, Moments, of_cells, of_surface


@quantities(density="kg/m^3", ports="m")
@checked
def solid(mesh: Source, *, density: float, ports: Mapping[str, Point], omit: Sequence[str] = ()) -> Body:
    """A homogeneous spatial body that fills a mesh; the axes of the mesh are the body axes, lengths in [m].

    The volume cells of the mesh (tetra, hexahedron, wedge, pyramid) are integrated; points, lines and surfaces are
    ignored. Without volume cells the surface cells (triangle, quad) are used; these must be closed and consistently
    oriented: every edge belongs to two faces that run along it in opposite directions, with coincident points merged.
    All normals may point in or out; those of a cavity point into it. Cells of higher order are reduced to their
    corners, with a warning: curved edges become straight.

    Mass, centre and ∫ρXXᵀ are exact integrals over signed tetrahedra (by the divergence theorem for a surface); a
    warped quadrilateral is treated as four triangles around its mean.

    Parameters
    ----------
    mesh : meshio.Mesh or path
        A mesh, or a file that meshio reads.
    density : float
        ρ [kg/m³].
    ports : mapping
        Points (3,) [m] by name, in the axes of the mesh.
    omit : sequence of str, optional
        Keywords, cards and element types of an Abaqus or Nastran file to leave out deliberately, such as ``MASS``.

    Returns
    -------
    Body
        A body without flexible coordinates.

    Raises
    ------
    ValueError
        For a file that cannot be read or contains additional masses, a mesh without such cells or with others, a
        surface that is open or not consistently oriented, volume cells that are inverted or repeated, and a mesh
        without volume.
    """
    density = check.positive("density", density, "kg/m³")
    held = read_contents(mesh, omit)
    refuse_left_out(held, ("mass",), masses=True)
    points, cells = chosen(held.mesh)
    if next(iter(cells)) in VOLUME:
        refuse_twins(cells)
    else:
        points, cells = merged(points, cells)
        refuse_open(cells)
    volume, centre, second = _integral(points, cells)
    return spatial(density * volume, centre, density * second, ports, view=_view(points, cells))


def _integral(points: Array, cells: Cells) -> tuple[float, Array, Array]:
    """Volume of the cells, their centre c, and ∫(X − c)(X − c)ᵀ."""
    origin = 0.5 * (points.min(axis=0) + points.max(axis=0))  # close to the body, against cancellation
    near = points - origin
    parts = [
        _signed(name, near, c) if name in VOLUME else of_surface(near, c, SURFACE[name]) for name, c in cells.items()
    ]
    volume = float(sum(m.volumes.sum() for m in parts))
    if abs(volume) <= check.ROUND_OFF * sum(m.magnitude for m in parts):
        raise ValueError("mesh must enclose a volume, got flat cells")
    centre = sum(m.first for m in parts) / volume
    second = sum(m.second for m in parts) - volume * np.outer(centre, centre)
    return abs(volume), origin + centre, np.sign(volume) * second


def _signed(name: str, points: Array, cells: Array) -> Moments:
    """Moments of volume cells of one type, with positive volumes: formats differ in the orientation of wedges.

    Raises ValueError for cells with different signs.
    """
    moments = of_cells(points, cells, VOLUME[name])
    sign = 1.0 if moments.volumes.sum() >= 0.0 else -1.0
    size = np.ptp(points[cells], axis=1).max(axis=1) ** 3  # flat cells have no sign
    inverted = int((sign * moments.volumes < -check.ROUND_OFF * size).sum())
    if inverted:
        raise ValueError(
            f"mesh must have no cells turned inside out, got {inverted} of {len(cells)} cells of type {name!r} with a "
            "volume of the other sign"
        )
    return Moments(sign * moments.volumes, moments.magnitude, sign * moments.first, sign * moments.second)


def _view(points: Array, cells: Cells) -> View:
    """View of the cells of the mesh, or of simplices if it mixes types."""
    if len(cells) == 1:
        name, drawn = next(iter(cells.items()))
    else:
        name = "tetra" if next(iter(cells)) in VOLUME else "triangle"
        drawn = np.vstack([c[:, piece] for kind, c in cells.items() for piece in SPLIT[kind]])
    return View(points, drawn, name, no_shape(points))
