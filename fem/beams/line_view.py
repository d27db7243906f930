"""Drawn axis of a beam, and stresses along it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from flexph.bodies.fields import SectionStress, StressField, View
from flexph.drawing.shapes import SweptSection

from ..materials.materials import Section
from ..materials.section_stresses import axial_factors, section_points
from .line_mesh import LineMesh, scaled

CELLS = 4  # straight pieces of a drawn element
CORNERS = np.arange(CELLS + 1) / CELLS
ENDS = np.repeat(CORNERS, 2)[1:-1]  # of each piece
SEGMENTS = 16  # corners of a drawn circle

_FORCES = {
    2: {"x": "axial_force", "y": "bending_moment"},
    3: {"x": "axial_force", "z": "bending_moment_y", "y": "bending_moment_z", "turn": "torque"},
}


def line_view(mesh: LineMesh, section: Section, rigidities: Mapping[str, float]) -> View:
    """View of a beam in one frame: straight pieces of its axis to draw, with the stresses at their middles.

    ``rigidities`` are EA, EI_z, in space also EI_y and GJ, by field.
    """
    count = CELLS * mesh.elements
    return View(
        points=mesh.on_axis(mesh.points(CORNERS)[_drawn_points(mesh)]),
        cells=np.column_stack([np.arange(count), np.arange(1, count + 1)]),
        cell_type="line",
        shape=mesh.unit.once(_shape),
        stresses=line_stresses(mesh, section, CORNERS[:-1] + 0.5 / CELLS, rigidities),
        sweep=line_sweep(mesh, section),
        sections=line_sections(mesh, section),
    )


def line_sweep(mesh: LineMesh, section: Section) -> SweptSection:
    """Cross section to draw along the axis.

    A section given by its constants is drawn as the rectangle with the same radii of gyration.
    """
    return SweptSection(outline(section), scaled(mesh.unit.once(_rotation), 1.0 / mesh.step))


def line_sections(mesh: LineMesh, section: Section) -> SectionStress | None:
    """Maps from the stress coordinates of a beam to stresses in its sections, at both ends of every drawn piece.

    None if the distances of the outer fibres of the section are not known.
    """
    points = section_points(section, mesh.dim)
    if points is None:
        return None
    pieces = np.arange(CELLS * mesh.elements)
    return SectionStress(
        resultants=mesh.resultants(ENDS),
        factors=points.factors[None],
        round=np.array([float(points.round)]),
        corners=axial_factors(section, *outline(section).T)[None],
        cell=np.repeat(pieces, 2),
        ring=(pieces[:, None] + np.arange(2)).ravel(),
        drawn=pieces,
        positions=mesh.on_axis(mesh.points(ENDS)),
        complete=points.complete,
    )


def outline(section: Section) -> np.ndarray:
    """Corners (y, z) of the outer edge of a section [m], (q, 2)."""
    if section.diameter is not None:
        angle = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
        return 0.5 * section.diameter * np.column_stack([np.cos(angle), np.sin(angle)])
    half_y = section.fibre or np.sqrt(3.0 * section.second_moment / section.area)
    across = section.second_moment_y
    half_z = section.fibre_z or (np.sqrt(3.0 * across / section.area) if across else section.area / (4.0 * half_y))
    return np.array([[-half_y, -half_z], [half_y, -half_z], [half_y, half_z], [-half_y, half_z]])


def _rotation(unit: LineMesh) -> sparse.csr_array:
    count = 1 if unit.dim == 2 else 3
    rows = count * _drawn_points(unit)[:, None] + np.arange(count)
    return unit.rotation(CORNERS)[rows.ravel()]


def _drawn_points(mesh: LineMesh) -> np.ndarray:
    """Indices of the drawn points of the axis among the points of all elements in sequence.

    A point that two elements share counts once: the last point of each element is left out, but for the tip.
    """
    keep = np.flatnonzero(np.tile(np.arange(CELLS + 1) < CELLS, mesh.elements))
    return np.append(keep, mesh.elements * (CELLS + 1) - 1)


def _shape(unit: LineMesh) -> sparse.csr_array:
    rows = unit.dim * _drawn_points(unit)[:, None] + np.arange(unit.dim)
    return unit.displacement(CORNERS)[rows.ravel()]


def line_stresses(
    mesh: LineMesh, section: Section, local: np.ndarray, rigidities: Mapping[str, float]
) -> dict[str, StressField]:
    """Stress fields of a beam by name: forces, moments, and stresses at the surface if its dimensions are known.

    In the plane they are ``axial_force`` N [N], ``bending_moment`` M [N m], and ``axial_stress_upper``,
    ``axial_stress_lower`` ``N/A ∓ M c/I`` [Pa] at y = ±c. In space they are ``bending_moment_y``, ``bending_moment_z``,
    ``torque``, and

        axial_stress_y_upper, axial_stress_y_lower:  N/A ∓ M_z c_y/I_z  at y = ±c_y, z = 0
        axial_stress_z_upper, axial_stress_z_lower:  N/A ± M_y c_z/I_y  at z = ±c_z, y = 0

    (a corner of a rectangle carries the sum of two of them minus N/A), for circles ``torsional_shear_stress`` ``T
    d/2J`` at the surface.

    They are evaluated in each element at the local coordinates ``local`` (k,) in [0, 1]. ``rigidities`` EA, EI and GJ,
    by field, give the strains.
    """
    rows = mesh.stresses(local)
    names, young = _FORCES[mesh.dim], rigidities["x"] / section.area
    stresses = {name: _field("N" if k == "x" else "N m", rows[k], rigidities[k]) for k, name in names.items()}
    constants = {"y": (section.fibre, section.second_moment), "z": (section.fibre_z, section.second_moment_y)}
    for k in mesh.transverse:
        fibre, second = constants[k]
        if fibre is not None and second is not None:
            name = "axial_stress" if mesh.dim == 2 else f"axial_stress_{k}"
            mean, bending = rows["x"] / section.area, -mesh.components[k].sign * fibre / second * rows[k]
            at = {f"{name}_upper": mean + bending, f"{name}_lower": mean - bending}
            stresses |= {side: _field("Pa", of_side, young) for side, of_side in at.items()}
    if mesh.dim == 3 and section.diameter is not None:
        radius, constant = section.diameter / 2.0, section.in_space("torsion_constant")
        shear = radius / constant * rows["turn"]
        stresses["torsional_shear_stress"] = _field("Pa", shear, rigidities["turn"] / constant)
    return stresses


def _field(unit: str, rows: sparse.csr_array, modulus: float) -> StressField:
    return StressField(unit, rows, np.full(rows.shape[0], 1.0 / modulus))
