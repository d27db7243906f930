"""Closed-form buckling loads, to warn about buckling that the strain of a beam body cannot describe.

A linear strain misses the moments of the axial force on the bending relative to the body frame (Euler buckling). The
Euler load is that of a column supported as the frame is: clamped at the root, or simply supported at the chord.
In space both strains miss lateral-torsional buckling, whose closed form has torsion held at one end. The module also
makes the data for warnings about axial forces that stiffen or soften bending.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from flexph.bodies.body import AxialStiffening, BucklingLoad

from .line_mesh import LineMesh, Reference

EULER: Mapping[Reference, float] = {
    "cantilever": 0.25 * math.pi**2,
    "simply_supported": math.pi**2,
    "mean_axis": math.pi**2,
}
"""Critical compression divided by EI/L² (Euler 1744) for a frame fixed to the root, the chord or the mean axis; the
mean axis deviates from the chord only slightly."""
LATERAL = 0.5 * math.pi
"""Critical moment, uniform in the stiff plane, divided by √(EI GJ)/L, with torsion held at one end; π between forks
(Michell 1899). Other loads have larger critical mean moments: 2.006 for a force at the tip (4.0126 at the root, Prandtl
1899), 2.14 for a uniform load."""

COLUMN: Mapping[str, Any] = {
    "load": "axial compression",
    "mode": "Euler buckling",
    "unit": "N",
    "remedy": "take strain='von_karman', or split the body in several",
    "compression": True,
}
ASIDE: Mapping[str, Any] = {
    "load": "bending moment",
    "mode": "lateral-torsional buckling",
    "unit": "N m",
    "remedy": "split the body in several, between which bending and torsion are coupled",
}


def buckling_loads(
    mesh: LineMesh, rigidities: Mapping[str, float], strain: str, reference: Reference
) -> tuple[BucklingLoad, ...]:
    """Buckling loads that the strain of a beam misses, from its rigidities EA, EI_z, in space EI_y and GJ.

    Linear strain misses the buckling of a column. In space both strains miss lateral-torsional buckling of a beam bent
    in its stiff plane, because bending and torsion are coupled between bodies only.
    """
    local, weight = mesh.quadrature()
    stresses, means = mesh.stresses(local), weight / mesh.length
    loads = []
    if strain == "linear":
        critical = _euler(mesh, rigidities, reference)
        loads.append(BucklingLoad(**COLUMN, rows=stresses["x"], weights=means, critical=critical))
    for stiff, soft in (("y", "z"), ("z", "y")) if mesh.dim == 3 else ():
        if rigidities[soft] < rigidities[stiff]:  # bent in its soft plane a beam does not buckle laterally
            critical = LATERAL * math.sqrt(rigidities[soft] * rigidities["turn"]) / mesh.length
            loads.append(BucklingLoad(**ASIDE, rows=stresses[stiff], weights=means, critical=critical))
    return tuple(loads)


def axial_stiffening(
    mesh: LineMesh, rigidities: Mapping[str, float], strain: str, reference: Reference
) -> AxialStiffening:
    """Data to compare the axial force of a beam with its rigidities, as linear strain misses its work on slopes."""
    local, weight = mesh.quadrature()
    names = ("y",) if mesh.dim == 2 else ("turn", "z", "y")  # of the rotation ψ
    return AxialStiffening(
        rows=mesh.stresses(local)["x"],
        weights=weight / mesh.length,
        rigidities=np.array([rigidities[name] for name in names]),
        length=mesh.length,
        critical=_euler(mesh, rigidities, reference) if strain == "linear" else None,
    )


def _euler(mesh: LineMesh, rigidities: Mapping[str, float], reference: Reference) -> float:
    """Critical compression of a column [N]."""
    return EULER[reference] * min(rigidities[name] for name in mesh.transverse) / mesh.length**2
