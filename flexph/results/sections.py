"""Section forces: force and moment resultants on named surfaces of bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..bodies.fields import SectionMap
from ..bodies.ports import split_port
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import cross, spin_map
from .solution import Solution


@dataclass(frozen=True, eq=False)
class SectionForces:
    """Force (k, d) [N] and moment (k, s) [N m] in a surface at the saved times (k,) [s].

    The part of the body on the side of the normal exerts them on the other part; on the boundary they act on the body.

    Attributes
    ----------
    times : array
        (k,) [s].
    force : array
        (k, d) [N].
    moment : array
        (k, s) [N m].
    about : array
        Point X of the body (d,) [m] to which the moment refers.
    frame : str
        Axes of force and moment, ``body`` or ``world``.
    """

    times: Array
    force: Array
    moment: Array
    about: Array
    frame: str


@checked
def section_forces(
    solution: Solution,
    section: str,
    *,
    route: Literal["nodal", "traction"] = "nodal",
    frame: Literal["body", "world"] = "body",
    about: Any = None,
) -> SectionForces:
    """Force and moment resultants of the stresses in a section ``body.name`` at the saved times.

        nodal:     F·v + M·ω = ∫_A σ:∇w,  w = v + ω × (x − x̄) at the nodes of the surface, 0 at all others
        traction:  F = ∫ σn,  M = ∫ (x − x̄) × σn

    ``nodal`` uses virtual power: the forces that the cells A along the surface transmit to its nodes, averaged over
    both sides inside a body. It is the equilibrium of the discrete equations: in statics it is equal, to round-off and
    on any mesh, to the sum of all loads beyond the surface. Loads and inertia in the cells A are weighted by the shape
    functions of the nodes: inside a body the errors of both sides cancel to order h² on cells of equal size h; on the
    boundary the resultant is that of joints and loads, with an error of order h from the weighted inertia. ``traction``
    integrates the discontinuous stresses, averaged over both sides, with the order of the stresses: h for linear cells
    (h² if both sides have equal cells), h² for quadratic ones. Plates support only ``nodal``.

    The lever arm is that of the undeformed body: exact to first order in u, as linear strain is. A reduced body has the
    stresses of its basis vectors: loads that they represent statically (``static`` ports) have their exact resultant.
    Plates of von Kármán strain include N·∇w in their force.

    Parameters
    ----------
    solution : Solution
        Run.
    section : str
        Section as ``body.name``.
    route : {"nodal", "traction"}
        Integral to evaluate.
    frame : {"body", "world"}
        Axes of the result.
    about : array_like, optional
        Point in body axes [m] to which the moment refers; by default the centroid x̄ of the surface.

    Returns
    -------
    SectionForces
        Forces [N] and moments [N m] at the saved times.

    Raises
    ------
    ValueError
        If there is no such body or section.
    """
    check.choice("route", route, ("nodal", "traction"))
    check.choice("frame", frame, ("body", "world"))
    _, body, name = split_port(section, solution.mechanism.bodies)
    owner = str(section).partition(".")[0]
    surface: SectionMap = check.lookup("section", name, body.sections, f"body {owner!r}")
    d = body.dim
    sigma = solution[f"{owner}.stress"]
    if route == "nodal":
        both = surface.forces(sigma, solution.deformation(owner))
    elif surface.traction is None:
        raise ValueError(f"route of section {section!r} must be 'nodal': a plate has no tractions")
    else:
        both = np.asarray((surface.traction @ sigma.T).T)
    force, moment, at = both[:, :d], both[:, d:], surface.position
    if about is not None:
        at = check.array("about", about, (d,))
        moment = moment + np.einsum("aij,j,ti->ta", cross(d), surface.position - at, force)
    if frame == "world":
        R = solution.rotations(owner)
        force, moment = np.einsum("tij,tj->ti", R, force), np.einsum("tij,tj->ti", spin_map(R), moment)
    return SectionForces(solution.times, force, moment, at, frame)
