"""How a rod looks: pieces from node to node, with its stress resultants and the axial stress of its fibres."""

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
FACES = ("axial_stress_y_upper", "axial_stress_z_upper", "axial_stress_y_lower", "axial_stress_z_lower")
"""N/A ∓ M₃ c/I₃ at y = ±c, N/A ± M₂ c/I₂ at z = ±c."""
NARROWEST, WIDEST = 0.003, 0.05
"""Half the width of a box over the length of its rod: inertias of no solid section would hide the rod or themselves."""
QUADS = {
    4: np.array([[0, 1, 2, 3]]),
    8: np.array([[0, 1, 2, 3], [0, 3, 4, 7], [4, 5, 6, 7]]),
}
"""Quadrilaterals of which sections of so many corners consist."""
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def rod_view(
    mesh: RodMesh, placed: tuple[Array, Array], sections: Sequence[RodSection], points: Sequence[RodSection]
) -> View:
    """Pieces of the outlines of the sections, or boxes of their radii of gyration where these are not known.

    A piece has the resultants of the point of Gauss that is in it, with the section there, and where outlines and
    moduli are known, the axial stress at the four faces of the section, and of the piece at its corners.
    """
    places, directors = placed
    corners, known = _corners(sections, float(mesh.lengths.sum()))
    aside = np.einsum("nij,ncj->nci", directors[:, :, 1:], corners)
    (count, q), parts = corners.shape[:2], QUADS[corners.shape[1]]
    base = q * np.arange(count - 1)[:, None, None] + parts
    fibres = None if not known else StressField("Pa", _fibres(mesh, sections, corners))
    return View(
        points=(places[:, None] + aside).reshape(-1, 3),
        cells=np.concatenate([base, base + q], axis=2).reshape(-1, 8),
        cell_type="hexahedron",
        shape=sparse.csr_array(np.repeat(np.eye(count), q, axis=0)),
        stresses=_stresses(points, len(parts), known=known),
        fibres=fibres,
    )


def _corners(sections: Sequence[RodSection], length: float) -> tuple[Array, bool]:
    """Corners (N, q, 2) [m] of the sections at all nodes, and whether they are those of outlines with moduli."""
    if sections[0].corners and len({len(own.corners) for own in sections}) == 1:
        return np.array([own.corners for own in sections]), all(own.young is not None for own in sections)
    halves = np.array([np.sqrt(3.0 * np.array([own.inertia[2], own.inertia[1]]) / own.mass) for own in sections])
    return np.clip(halves, NARROWEST * length, WIDEST * length)[:, None] * CORNERS, False


def _stresses(points: Sequence[RodSection], each: int, *, known: bool) -> dict[str, StressField]:
    """Resultants and axial stresses at the faces, of the cells of which each point has some."""
    stiffness, unit = np.array([own.stiffness for own in points]), np.eye(6)
    fields = {
        name: _field(kind, np.tile(unit[i], (len(points), 1)), each, stiffness[:, i])
        for i, (name, kind) in enumerate(RESULTANTS)
    }
    if known:
        young = np.array([float(own.young or 0.0) for own in points])
        at = np.array([own.fibres(np.vstack([np.diag(w), -np.diag(w)])) for own, w in _with_widths(points)])
        fields |= {name: _field("Pa", at[:, i], each, young) for i, name in enumerate(FACES)}
    return fields


def _with_widths(points: Sequence[RodSection]) -> list[tuple[RodSection, Array]]:
    """Sections and how far they reach along both of their axes (2,) [m]."""
    return [(own, np.abs(np.array(own.corners)).max(axis=0)) for own in points]


def _field(unit: str, factors: Array, each: int, modulus: Array) -> StressField:
    """A field by factors (p, 6) of the resultants at the points, with the moduli (p,) between it and its strain."""
    count = len(factors)
    rows = sparse.block_diag([np.tile(own, (each, 1)) for own in factors], format="csr")
    assert rows.shape == (each * count, 6 * count)
    return StressField(unit, rows, np.repeat(1.0 / modulus, each))


def _fibres(mesh: RodMesh, sections: Sequence[RodSection], corners: Array) -> sparse.csr_array:
    """Axial stress at the corners (N, q, 2) of all nodes, (N q, m): linear between points of Gauss, and beyond them."""
    s, nodes = mesh.points.ravel(), mesh.nodes
    weights = np.ones((nodes.size, 1))
    if s.size > 1:
        left, each = np.clip(np.searchsorted(s, nodes) - 1, 0, s.size - 2), np.arange(nodes.size)
        weights, part = np.zeros((nodes.size, s.size)), (nodes - s[left]) / (s[left + 1] - s[left])
        weights[each, left], weights[each, left + 1] = 1.0 - part, part
    factors = np.array([own.fibres(at) for own, at in zip(sections, corners, strict=True)])
    rows = np.einsum("np,nqi->nqpi", weights, factors)
    return sparse.csr_array(rows.reshape(nodes.size * corners.shape[1], -1))
