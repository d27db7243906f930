"""Solids and plane bodies from meshes as floating bodies ([flex] sec. 4.1)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, overload

import skfem
from scipy import sparse

from flexph.bodies.body import Body, Momenta
from flexph.bodies.mean_axes import FILLED, about_mean_axes
from flexph.bodies.nodal_body import NodalBody
from flexph.meshes.drawings.drawing import MeshRequest, is_drawing
from flexph.meshes.files.reading import Source
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import compact
from flexph.units.arguments import quantities

from ..materials.damping import Damping, damped
from ..materials.elastic import Elastic
from ..materials.hyperelastic import Hyperelastic
from ..refinement.criteria import Refinement
from ..refinement.loop import refuse_numbered
from .elasticity import SolidElasticity
from .finite import finite_solid
from .inertia import solid_inertia
from .loads import load_port, load_ports
from .model import SolidModel, watched
from .nodes import nodal_mesh
from .reading import Plane, Shape, read_solid
from .refining import refined_solid
from .section_maps import solid_sections
from .ties import Tie, referred, tied
from .view import solid_view

Strain = Literal["linear", "finite"]


@overload
def solid(
    mesh: Source | skfem.Mesh,
    material: Elastic | Mapping[str, Elastic] | None = None,
    *,
    ports: Mapping[str, Any] | None = None,
    reference: str = "mean_axis",
    degree: int | None = None,
    plane: Plane | None = None,
    thickness: float | None = None,
    loads: Mapping[str, Any] | None = None,
    sections: Mapping[str, Any] | None = None,
    momenta: Momenta = "full",
    damping: Damping | None = None,
    strain: Literal["linear"] = "linear",
    omit: Sequence[str] = (),
    size: float | None = None,
    select: str | None = None,
    unit: float | None = None,
    max_cells: int | None = None,
    temperature: float | None = None,
    refine: Refinement | None = None,
) -> Body: ...


@overload
def solid(
    mesh: Source | skfem.Mesh,
    material: Elastic | Mapping[str, Elastic] | None = None,
    *,
    ports: Mapping[str, Any] | None = None,
    degree: int | None = None,
    plane: Plane | None = None,
    thickness: float | None = None,
    loads: Mapping[str, Any] | None = None,
    damping: Damping | None = None,
    strain: Literal["finite"],
    law: Hyperelastic | Mapping[str, Hyperelastic] | None = None,
    omit: Sequence[str] = (),
    size: float | None = None,
    select: str | None = None,
    unit: float | None = None,
    max_cells: int | None = None,
    temperature: float | None = None,
) -> NodalBody: ...


@quantities(thickness="m", size="m", unit="m")
@checked
def solid(
    mesh: Source | skfem.Mesh,
    material: Elastic | Mapping[str, Elastic] | None = None,
    *,
    ports: Mapping[str, Any] | None = None,
    reference: str = "mean_axis",
    degree: int | None = None,
    plane: Plane | None = None,
    thickness: float | None = None,
    loads: Mapping[str, Any] | None = None,
    sections: Mapping[str, Any] | None = None,
    momenta: Momenta = "full",
    damping: Damping | None = None,
    strain: Strain = "linear",
    law: Hyperelastic | Mapping[str, Hyperelastic] | None = None,
    omit: Sequence[str] = (),
    size: float | None = None,
    select: str | None = None,
    unit: float | None = None,
    max_cells: int | None = None,
    temperature: float | None = None,
    refine: Refinement | None = None,
) -> Body | NodalBody:
    """A linear elastic body that fills a mesh, with the axes of the mesh and P at its origin: [flex] eq. (24)-(29).

        ρ v̇ = Div Σ,  S Σ̇ = Grad v

    Velocities are vector Lagrange functions of the nodes, stresses symmetric tensors at the quadrature points of each
    cell: ``C = diag(w_p S)``, ``D = (w_p B_p)`` with the volume w_p of point p and its strain operator B_p. On
    tetrahedra and triangles that is P1/P0 and P2/discontinuous P1; on hexahedra, quadrilaterals and pyramids 2 × 2 (×
    2) or 3 × 3 (× 3) points; on wedges 3 × 2 or 6 × 3. All pairs are local and equivalent to displacement elements: no
    spurious modes, and no stress in rigid motions only. Stress coordinates are the stresses [Pa] themselves, block by
    block, cell by cell, point by point, over (xx, yy, zz, yz, xz, xy), in the plane (xx, yy, xy).

    Near incompressibility degree 1 locks: a short cantilever at ν = 0.49 is half as soft as it should be, and above ν =
    0.45 a warning is issued (:class:`flexph.ValidityWarning`). Degree 2 stays within the errors of its mesh up to
    0.4999. Bending also needs degree 2, or many cells of degree 1 over the height.

    Parameters
    ----------
    mesh : meshio.Mesh, path or skfem.Mesh
        A mesh, a file that meshio reads, or a drawing (STEP, IGES, BREP, STL), which gmsh meshes by tetra10 (extra
        ``cad``); lengths in [m]. The body consists of its cells of highest dimension: tetra,
        tetra10, hexahedron, hexahedron20, hexahedron27, wedge, wedge15, pyramid, pyramid13; for a plane body triangle,
        triangle6, quad, quad8, quad9. Cells of lower dimension only name regions.
    material : Material, Orthotropic, Anisotropic or mapping, optional
        A material with ν or G, or one for each region of cells by its name; by default density,
        isotropic moduli and section assignments of the file (Abaqus), in its units.
    ports : mapping, optional
        Regions by port name: names in the mesh, node numbers, functions of positions x (d, N) that are true on the
        region, or a :class:`Tie` of these, which selects a rigid or a mean tie. The name of a coupling of a file (RBE2,
        RBE3, ``*COUPLING``, …) selects its region, kind and reference point.
    reference : str, optional
        Condition that removes the rigid motion from the deformation: a port that is held (a rigid port itself, or the
        mean motion of a mean port), or ``mean_axis``, ∫ρu = 0 and ∫ρX × u = 0 about the centre of mass. Above 1000
        coordinates its contribution is kept as a low-rank correction (:func:`flexph.bodies.mean_axes.about_mean_axes`).
    degree : int, optional
        2 adds nodes on the edges of first-order cells.
    plane : str, optional
        ``stress`` or ``strain`` makes a plane body.
    thickness : float, optional
        Thickness of a plane body [m].
    loads : mapping, optional
        Regions of facets (traction [N/m²]), of cells (force per volume [N/m³]) or :class:`Load` by name, as inputs of
        ``flexph.distributed_load``.
    sections : mapping, optional
        Surfaces of facets, inside or on the boundary, or :class:`Cut` by name, for
        :func:`flexph.results.sections.section_forces`.
    momenta : str, optional
        See :class:`flexph.Body`.
    damping : Damping, optional
        See :class:`Damping`; finite strain admits stiffness damping only. By default that of the file if its
        materials are used, else none.
    strain : str, optional
        ``linear``, or ``finite``: displacements and rotations of any size, by Green's strain E = ½(FᵀF − 1) of the
        nodes in the world, and second Piola-Kirchhoff stresses S = D : E (St. Venant-Kirchhoff) as states. Nodes have
        lumped masses; ports are rigid regions, or single nodes without directions.
    law : NeoHooke, MooneyRivlin, StoredEnergy or mapping, optional
        For finite strain: another stored energy ψ(C), or one for each material by the name of its region. Then only
        the density of the material is used.
    omit : sequence of str, optional
        Keywords, cards and element types of an Abaqus or Nastran file to leave out deliberately, such as ``TIE``.
    size : float, optional
        For a drawing: length of its cells [m]; smaller ones at curved faces and over thin walls.
    select : str, optional
        For a file of several parts: the name of the part, instance, set or group of cells that is the body. Ties,
        contacts and springs to other parts are left out.
    unit : float, optional
        Unit of length of the file [m], ``"1 mm"`` of a mesh in millimetres; required for BREP and STL, which have none,
        and refused for STEP and IGES, which have one. The units of mass and time are recognised from the densities and
        moduli of the file; if no units fit, its materials are not read.
    max_cells : int, optional
        For a drawing: largest number of cells, by default 100 000.
    temperature : float, optional
        For a file with tables of materials: the temperature at which they are evaluated, in the unit of the tables;
        linear between entries and constant beyond their ends.
    refine : Refinement, optional
        Criterion up to which the mesh is refined: triangles and tetrahedra by bisection, a drawing by a new mesh.
        Regions must then be names or functions of x.

    Returns
    -------
    Body or NodalBody
        A body with the given ports and loads.

    Raises
    ------
    ValueError
        For a file that cannot be read, or with further contents that change mass or stiffness; for a mesh without such
        cells, of mixed degrees, of several pieces, with inverted, degenerate or repeated cells or with hanging nodes
        (the message lists the cells); for an unknown region (it lists the known ones); for cells without a material or
        with two; for ν = 0.5 except in plane stress; for rigid regions that share nodes; for sections that are not a
        surface, or in a rigid region.
    ImportError
        For a drawing, if gmsh or libraries that it needs are missing.

    Examples
    --------
    >>> import fem
    >>> steel = fem.Material(young=210e9, density=7850.0, poisson=0.3)
    >>> block = fem.solid(fem.box_mesh((0.1, 0.02, 0.02), (3, 1, 1)), steel, ports={"end": "left"}, reference="end")
    >>> round(float(block.inertia.mass), 6), block.size  # kg
    (0.314, 36)
    """
    check.choice("strain", strain, get_args(Strain))
    request = MeshRequest(size, select, unit, max_cells, temperature)
    shape = Shape(degree, plane, thickness)
    read = partial(read_solid, mesh, material, shape, ports=ports or {}, damping=damping, omit=omit)
    model, ties, damping = read(request=request)
    if strain == "finite":
        _refuse_linear(reference, sections, momenta, refine)
        return finite_solid(model, ties, loads or {}, damping, law)
    if law is not None:
        raise ValueError("law is for strain='finite': with linear strain the moduli of the material apply")
    build = partial(
        _linear_body,
        ties=ties,
        reference=reference,
        loads=loads or {},
        sections=sections or {},
        momenta=momenta,
        damping=damping,
    )
    if refine is None:
        return build(model)
    drawn = None
    if isinstance(mesh, str | os.PathLike) and is_drawing(Path(mesh), request):
        refuse_numbered([*(ports or {}).values(), *(loads or {}).values(), *(sections or {}).values()])
        finer = replace(request, max_cells=refine.max_cells)
        drawn = lambda sizes: read(request=replace(finer, sizes=sizes)).model  # noqa: E731
    return refined_solid(model, refine, build, drawn=drawn).meshed.body


def _linear_body(
    model: SolidModel,
    *,
    ties: Mapping[str, Tie],
    reference: str,
    loads: Mapping[str, Any],
    sections: Mapping[str, Any],
    momenta: Momenta,
    damping: Damping,
) -> Body:
    """Floating body of a solid with linear strain, from its model and the ties of its ports."""
    basis, tied_ports = tied(model, ties)
    kept = referred(model, basis, tied_ports, reference)
    shapes = compact(basis @ kept)
    elasticity = SolidElasticity(model, shapes)
    body = Body(
        inertia=solid_inertia(model, shapes),
        elasticity=elasticity,
        ports={name: port.in_basis(kept) for name, port in tied_ports.items()},
        loads=load_ports(load_port, model, shapes, loads),
        view=replace(solid_view(model, shapes), mesh=nodal_mesh(model, tied_ports, loads)),
        momenta=momenta,
        section_rotation=watched_turns(model, shapes),
        sections=solid_sections(model, shapes, sections, {k: p.nodes for k, p in tied_ports.items() if p.rigid}),
    )
    if reference == "mean_axis" and basis.shape[1] > FILLED:
        body = about_mean_axes(body)
    return replace(body, elasticity=damped(elasticity, body.inertia, damping))


def _refuse_linear(reference: str, sections: Any, momenta: str, refine: Any) -> None:
    """Raise ValueError for an option of a body of finite strain that needs a floating frame or linear strain."""
    given = {"reference": reference != "mean_axis", "sections": bool(sections), "momenta": momenta != "full"}
    given["refine"] = refine is not None
    for name, there in given.items():
        if there:
            raise ValueError(f"{name} is for strain='linear' only: a body of finite strain has no floating frame")


def watched_turns(model: SolidModel, shapes: Any) -> Any:
    """Sparse matrix from the coordinates to the mean ½ curl u of a few evenly spread cells, for a check in every step.

    ``shapes`` (N·d, n) give the nodal displacements from the coordinates.
    """
    return sparse.csr_array(model.turns(watched(int(model.mesh.starts[-1]))) @ shapes)
