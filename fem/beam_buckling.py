"""Buckling of a beam that its strain leaves out, by closed forms of a cantilever, the softest support."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flexph import BucklingLoad

from .line_mesh import LineMesh

EULER = 0.25 * math.pi**2
"""Critical compression at the tip of a cantilever over EI/L²; π² between hinges (Euler 1744)."""
LATERAL = 0.5 * math.pi
"""Critical moment of a cantilever, uniform in its stiff plane, over √(EI GJ)/L; π between forks (Michell 1899). Mean
moments are larger under others: 2.006 of a tip force (4.0126 at the root, Prandtl 1899), 2.14 of a uniform load."""


def buckling_loads(mesh: LineMesh, rigidities: Mapping[str, float], strain: str) -> tuple[BucklingLoad, ...]:
    """What a beam leaves out, of rigidities EA, EI_z, in space EI_y and GJ by the names of their fields.

    Linear strain leaves out the buckling of a column; in space both strains leave out that of a beam which bends in its
    stiff plane and turns aside: bending and torsion are coupled between bodies only.
    """
    made = []
    local, weight = mesh.quadrature()
    rows, weights = mesh.stresses(local), weight / mesh.length
    bending = {name: rigidities[name] for name in mesh.transverse}
    if strain == "linear":
        critical = EULER * min(bending.values()) / mesh.length**2
        remedy = "take strain='von_karman', or split the body in several"
        made.append(
            BucklingLoad("axial compression", "Euler buckling", "N", remedy, rows["x"], weights, critical, True)
        )
    for name, other in (("y", "z"), ("z", "y")) if mesh.dim == 3 else ():
        stiff, soft, torsion = bending[name], bending[other], rigidities["turn"]
        if soft >= stiff:  # it bends in its soft plane, and stays there
            continue
        critical = LATERAL * math.sqrt(soft * torsion) / mesh.length
        remedy = "split the body in several, between which bending and torsion are coupled"
        made.append(
            BucklingLoad("bending moment", "lateral-torsional buckling", "N m", remedy, rows[name], weights, critical)
        )
    return tuple(made)
