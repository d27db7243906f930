"""How a rod looks: boxes from node to node, with its stress resultants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from flexph.bodies.fields import StressField, View
from flexph.numerics.arrays import Array

from .elements import RodMesh
from .section import RodSection

RESULTANTS = (
    ("axial_force", "N"),
    ("shear_force_y", "N"),
    ("shear_force_z", "N"),
    ("torque", "N m"),
    ("bending_moment_y", "N m"),
    ("bending_moment_z", "N m"),
)
"""N, Q₂, Q₃, T, M₂, M₃ of each point, in the order of the stresses."""
WIDEST = 0.05
"""Half the width of a box over the length of its rod, at most: inertias of no solid section would hide the rod."""
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def rod_view(mesh: RodMesh, placed: tuple[Array, Array], sections: Sequence[RodSection]) -> View:
    """Boxes of the radii of gyration of the sections; a box has the resultants of the point of Gauss that is in it."""
    places, directors = placed
    halves = np.array([np.sqrt(3.0 * np.array([own.inertia[2], own.inertia[1]]) / own.mass) for own in sections])
    halves = np.minimum(halves, WIDEST * float(mesh.lengths.sum()))
    aside = np.einsum("nij,ncj->nci", directors[:, :, 1:], halves[:, None] * CORNERS)
    count = len(places)
    first = 4 * np.arange(count - 1)[:, None]
    return View(
        points=(places[:, None] + aside).reshape(-1, 3),
        cells=np.hstack([first + np.arange(4), first + 4 + np.arange(4)]),
        cell_type="hexahedron",
        shape=sparse.csr_array(np.repeat(np.eye(count), 4, axis=0)),
        stresses={name: StressField(unit, _rows(mesh, i)) for i, (name, unit) in enumerate(RESULTANTS)},
    )


def _rows(mesh: RodMesh, component: int) -> sparse.csr_array:
    """The stresses of one kind, (points, m)."""
    points = mesh.points.size
    columns = 6 * np.arange(points) + component
    return sparse.csr_array((np.ones(points), (np.arange(points), columns)), shape=(points, 6 * points))
