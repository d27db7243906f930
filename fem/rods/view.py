"""How a rod looks: pieces from node to node, with its stress resultants and the axial stress of its fibres."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from flexph.bodies.fields import StressField, View
from flexph.bodies.section_stress import SectionStress
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
    return View(
        points=(places[:, None] + aside).reshape(-1, 3),
        cells=np.concatenate([base, base + q], axis=2).reshape(-1, 8),
        cell_type="hexahedron",
        shape=sparse.csr_array(np.repeat(np.eye(count), q, axis=0)),
        stresses=_stresses(points, len(parts), known=known),
        sections=_over_sections(mesh, sections, corners, places) if known else None,
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


def _over_sections(
    mesh: RodMesh, sections: Sequence[RodSection], corners: Array, places: Array
) -> SectionStress | None:
    """Stresses over the sections at both ends of all pieces; None where those of a section are not known."""
    points = [p for own in sections if (p := own.points()) is not None]
    if len(points) < len(sections):
        return None
    complete, pieces = all(own.complete for own in points), np.arange(len(sections) - 1)
    most = max(len(own.factors) for own in points)
    factors = np.array([own.factors[np.minimum(np.arange(most), len(own.factors) - 1)] for own in points])
    factors[:, :, 1:] *= complete
    ends = (pieces[:, None] + np.arange(2)).ravel()
    return SectionStress(
        resultants=sparse.kron(_at_ends(mesh), sparse.eye_array(len(RESULTANTS))).tocsr(),
        factors=factors[ends],
        round=np.array([float(own.round) for own in points])[ends],
        corners=np.array([own.fibres(at) for own, at in zip(sections, corners, strict=True)])[ends],
        cell=np.repeat(pieces, 2),
        ring=ends,
        drawn=np.repeat(pieces, len(QUADS[corners.shape[1]])),
        positions=places[ends],
        complete=complete,
    )


def _at_ends(mesh: RodMesh) -> sparse.csr_array:
    """Weights (2 pieces, points): both ends of all pieces by the polynomial through the points of their element."""
    element = mesh.element
    bases = np.linalg.inv(np.vander(element.points, increasing=True))
    at_nodes = np.vander(element.nodes, element.points.size, increasing=True) @ bases
    ends = np.arange(element.points.size)[:, None] + np.arange(2)
    return sparse.kron(sparse.eye_array(mesh.lengths.size), at_nodes[ends.ravel()]).tocsr()
