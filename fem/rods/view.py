"""View of a rod: pieces from node to node, with stress resultants and the axial stress of its fibres."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from flexph.bodies.fields import SectionStress, StressField, View
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
"""Resultants N, Q₂, Q₃, T, M₂, M₃ of each point, in the order of the stresses."""
IN_THE_PLANE = (("axial_force", "N"), ("shear_force", "N"), ("bending_moment", "N m"))
"""Resultants N, Q₂, M₃ of each point of a planar rod."""
OF_SIX = {2: [0, 1, 5], 3: [0, 1, 2, 3, 4, 5]}
"""Indices of the stress coordinates among the six resultants, by the dimension."""
FACES = ("axial_stress_y_upper", "axial_stress_z_upper", "axial_stress_y_lower", "axial_stress_z_lower")
"""Axial stresses N/A ∓ M₃ c/I₃ at y = ±c and N/A ± M₂ c/I₂ at z = ±c."""
EDGES = ("axial_stress_upper", "axial_stress_lower")
"""Axial stresses N/A ∓ M₃ c/I₃ at y = ±c of a planar rod."""
NARROWEST, WIDEST = 0.003, 0.05
"""Limits of half the width of a drawn box relative to the rod length: inertias of a non-solid section give extreme
boxes."""
QUADS = {
    2: np.array([[0, 1]]),
    4: np.array([[0, 1, 2, 3]]),
    8: np.array([[0, 1, 2, 3], [0, 3, 4, 7], [4, 5, 6, 7]]),
}
"""Quadrilaterals that compose sections of four or eight corners; in the plane a section is a line."""
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def rod_view(
    mesh: RodMesh,
    placed: tuple[Array, Array],
    sections: Sequence[RodSection],
    points: Sequence[RodSection],
    *,
    are_linear: bool,
) -> View:
    """View of a rod as pieces from node to node with the outlines of the sections.

    If the outlines are unknown, boxes with the radii of gyration take their place; in the plane a piece is a
    quadrilateral between the outer fibres. A piece has the resultants of the Gauss point inside it. If outlines and
    moduli are known and all laws are linear, it also has the axial stress at the faces of the section and at the
    corners of the piece.

    ``placed`` are positions (N, d) and directors (N, d, d) of the nodes, ``sections`` those at the nodes, ``points``
    those at the Gauss points.
    """
    (places, directors), dim = placed, placed[0].shape[1]
    corners, known = _corners(sections, float(mesh.lengths.sum()))
    known &= are_linear
    if dim == 2:  # the outer fibres, at z = 0
        corners = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1) * [1.0, 0.0]
    aside = np.einsum("nij,ncj->nci", directors[:, :, 1:], corners[:, :, : dim - 1])
    (count, q), parts = corners.shape[:2], QUADS[corners.shape[1]]
    base = q * np.arange(count - 1)[:, None, None] + parts
    ahead = base + q if dim == 3 else base[:, :, ::-1] + q
    return View(
        points=(places[:, None] + aside).reshape(-1, dim),
        cells=np.concatenate([base, ahead], axis=2).reshape(-1, 4 * (dim - 1)),
        cell_type="hexahedron" if dim == 3 else "quad",
        shape=sparse.csr_array(np.repeat(np.eye(count), q, axis=0)),
        stresses=_stresses(points, len(parts), dim, known=known),
        sections=_over_sections(mesh, sections, corners, places) if known else None,
    )


def _corners(sections: Sequence[RodSection], length: float) -> tuple[Array, bool]:
    """Corners (N, q, 2) [m] of the sections at all N nodes; True if outlines and Young's moduli are known.

    Otherwise the corners are those of boxes with the radii of gyration of the sections.
    """
    if sections[0].corners and len({len(rod_section.corners) for rod_section in sections}) == 1:
        return np.array([rod_section.corners for rod_section in sections]), all(
            rod_section.young is not None for rod_section in sections
        )
    halves = np.array(
        [
            np.sqrt(3.0 * np.array([rod_section.inertia[2], rod_section.inertia[1]]) / rod_section.mass)
            for rod_section in sections
        ]
    )
    return np.clip(halves, NARROWEST * length, WIDEST * length)[:, None] * CORNERS, False


def _stresses(points: Sequence[RodSection], each: int, dim: int, *, known: bool) -> dict[str, StressField]:
    """Stress fields of a rod by name: its resultants and, if ``known``, the axial stresses at faces of the section.

    ``points`` are the sections at the Gauss points; ``each`` consecutive drawn cells show the same point.
    """
    names, components = (RESULTANTS if dim == 3 else IN_THE_PLANE), OF_SIX[dim]
    stiffness, unit = np.array([p.stiffness for p in points])[:, components], np.eye(len(components))
    fields = {
        name: _field(kind, np.tile(unit[i], (len(points), 1)), each, stiffness[:, i])
        for i, (name, kind) in enumerate(names)
    }
    if known:
        young = np.array([float(p.young or 0.0) for p in points])
        axes = np.eye(2)[: dim - 1]
        at = np.array([p.fibres(np.vstack([w * axes, -w * axes])) for p, w in _with_widths(points)])[:, :, components]
        fields |= {name: _field("Pa", at[:, i], each, young) for i, name in enumerate(FACES if dim == 3 else EDGES)}
    return fields


def _with_widths(points: Sequence[RodSection]) -> list[tuple[RodSection, Array]]:
    """Sections, each with the half widths (2,) [m] of its outline along y and z."""
    return [(rod_section, np.abs(np.array(rod_section.corners)).max(axis=0)) for rod_section in points]


def _field(unit: str, factors: Array, each: int, modulus: Array) -> StressField:
    """Stress field of p Gauss points from the resultants: ``factors`` (p, r), and moduli (p,) of stress over strain.

    ``each`` consecutive drawn cells show the same point.
    """
    count, resultants = factors.shape
    rows = sparse.block_diag([np.tile(factor, (each, 1)) for factor in factors], format="csr")
    assert rows.shape == (each * count, resultants * count)
    return StressField(unit, rows, np.repeat(1.0 / modulus, each))


def _over_sections(
    mesh: RodMesh, sections: Sequence[RodSection], corners: Array, places: Array
) -> SectionStress | None:
    """Map to the stresses over the sections at both ends of all pieces; None if those of a section are unknown.

    ``corners`` (N, q, 2) are those of the sections at the nodes, ``places`` (N, d) the positions of the nodes.
    """
    dim = places.shape[1]
    points = [p for rod_section in sections if (p := rod_section.points(dim)) is not None]
    if len(points) < len(sections):
        return None
    complete, pieces = all(rod_section.complete for rod_section in points), np.arange(len(sections) - 1)
    most = max(len(rod_section.factors) for rod_section in points)
    factors = np.array(
        [rod_section.factors[np.minimum(np.arange(most), len(rod_section.factors) - 1)] for rod_section in points]
    )
    factors[:, :, 1:] *= complete
    ends = (pieces[:, None] + np.arange(2)).ravel()
    return SectionStress(
        resultants=sparse.kron(_at_ends(mesh), sparse.csr_array(np.eye(len(RESULTANTS))[:, OF_SIX[dim]])).tocsr(),
        factors=factors[ends],
        round=np.array([float(rod_section.round) for rod_section in points])[ends],
        corners=np.array([rod_section.fibres(at) for rod_section, at in zip(sections, corners, strict=True)])[ends],
        cell=np.repeat(pieces, 2),
        ring=ends,
        drawn=np.repeat(pieces, len(QUADS[corners.shape[1]])),
        positions=places[ends],
        complete=complete,
    )


def _at_ends(mesh: RodMesh) -> sparse.csr_array:
    """Matrix (2 · pieces, points) that extrapolates from the Gauss points of an element to both ends of its pieces."""
    element = mesh.element
    bases = np.linalg.inv(np.vander(element.points, increasing=True))
    at_nodes = np.vander(element.nodes, element.points.size, increasing=True) @ bases
    ends = np.arange(element.points.size)[:, None] + np.arange(2)
    return sparse.kron(sparse.eye_array(mesh.lengths.size), at_nodes[ends.ravel()]).tocsr()
