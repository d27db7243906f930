"""Plates from plane meshes as floating spatial bodies, with distributed loads ([flex] sec. 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import skfem
from scipy import sparse

from flexph.bodies.body import Body, LoadPort, Momenta
from flexph.bodies.elasticity import Elasticity
from flexph.bodies.inertia import Inertia
from flexph.bodies.mean_axes import FILLED, about_mean_axes
from flexph.meshes.drawings.drawing import MeshRequest
from flexph.meshes.files.reading import Source
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.units.arguments import quantities

from ..materials.damping import Damping, damped
from ..materials.elastic import Elastic
from ..meshes.reading import solid_mesh
from ..meshes.regions import Region, region
from ..refinement.criteria import Refinement
from ..refinement.loop import refuse_numbered
from ..solids.loads import Load, load_ports
from ..solids.model import solid_model, watched
from ..solids.ties import given_ties
from .coordinates import Theory, point_by_point
from .flat import PlaneAxes
from .inertia import plate_inertia
from .model import MASS, PlateModel, plate_model, straightened
from .placing import placed, with_port_at
from .reading import GivenPlate, is_drawn, read_plate
from .refining import refined_plate
from .regions import edge_samples
from .supports import Support
from .ties import free_coordinates, without_rigid_motion
from .view import plate_sections, plate_view

Strain = Literal["linear", "von_karman"]
UNDAMPED = Damping()


@quantities(thickness="m", size="m", unit="m")
@checked
def plate(
    mesh: Source | skfem.Mesh,
    material: Elastic | Mapping[str, Elastic] | None = None,
    *,
    thickness: float | Mapping[str, float] | None = None,
    theory: Theory = "kirchhoff",
    ports: Mapping[str, Any] | None = None,
    supports: Sequence[Support] = (),
    reference: str | None = None,
    strain: Strain = "linear",
    loads: Mapping[str, Any] | None = None,
    sections: Mapping[str, Any] | None = None,
    rotary_inertia: bool = True,
    shear_correction: float = 5.0 / 6.0,
    momenta: Momenta = "full",
    damping: Damping = UNDAMPED,
    omit: Sequence[str] = (),
    size: float | None = None,
    select: str | None = None,
    unit: float | None = None,
    max_cells: int | None = None,
    temperature: float | None = None,
    refine: Refinement | None = None,
) -> Body:
    """A flat plate with the axes of its mesh, in the x-y plane or any other: [flex] eq. (24)-(29).

    In axes of the plate, z along its normal and x the projection of the x axis of the mesh, a point (x, y, z) moves by
    (u_x − zβ_x, u_y − zβ_y, w). With the membrane forces N, moments M and shear forces Q per length and the compliance
    S of plane stress

        S N/t = ε(u),  12 S M/t³ = −ε(β),  S_s Q/(kt) = γ,  β = ∇w − γ.

    ``theory="kirchhoff"`` has γ = 0 and no Q. ``"reissner_mindlin"`` interpolates γ as a field independent of w, so
    that γ = 0 is Kirchhoff's plate at every thickness and nothing locks (L. Beirão da Veiga et al., Math. Models
    Methods Appl. Sci. 25 (2015)).

    u and γ are Lagrange functions of degree 2; w are C¹ cubic macro elements (:mod:`fem.plates.macro_elements`). N, M
    and Q are values at points of each cell, M at three points of each of its pieces (six in quadrilaterals with shear):
    all pairs are conforming, local and equivalent to displacement elements. Frequencies converge from above, with order
    4 for smooth motions, and none is spurious; only rigid motions have no stress. Stress coordinates are the forces
    themselves, N (xx, yy, xy) [N/m], M (xx, yy, xy) [N], M = ∫zσ dz, Q (x, y) [N/m], point by point. At jumps of
    thickness or material γ jumps as well but is kept continuous, which lowers the order.

    Parameters
    ----------
    mesh : meshio.Mesh, path or skfem.Mesh
        As for :func:`fem.solid`, of triangles and convex quadrilaterals with straight edges in a plane, such as the
        shells of a deck; or a drawing with a flat part of one thickness, whose middle surface gmsh meshes.
    material : Material, Orthotropic, Anisotropic or mapping, optional
        One material, or one for each region of cells by its name, in axes of the plate; by default those of a deck.
    thickness : float or mapping, optional
        t [m], one value or one for each region of cells by its name; by default that of the drawing, or of the sections
        of the deck (``*SHELL SECTION``, PSHELL, SECDATA, or real constants).
    theory : str, optional
        ``kirchhoff`` or ``reissner_mindlin``.
    ports : mapping, optional
        Regions by port name: names in the mesh, node numbers, functions of positions x (2, N) in axes of the plate, or
        a :class:`Tie` of these, whose ``at`` is in axes of the mesh. Several nodes are tied rigidly unless
        ``Tie(region, "mean")`` is given: then φ is the mean displacement, ψ the mean rotation (β_y, −β_x) of the
        normals and the in-plane rotation of the best-fitting rigid motion; a single node rotates in the plane with the
        mean ½ curl u of its adjacent cells.
    supports : sequence of Support, optional
        Regions held to the frame of the body, which is then its reference and the port ``frame`` at the origin.
    reference : str, optional
        Condition that removes the rigid motion from the deformation of a plate without supports: a port that is held,
        such as an edge, or ``mean_axis`` (the default), ∫ρu = 0 and ∫ρX × u = 0. Above 1000 coordinates its
        contribution is kept as a low-rank correction of the matrices (:func:`flexph.bodies.mean_axes.about_mean_axes`).
    strain : str, optional
        ``von_karman`` adds ½∇w ⊗ ∇w, averaged over each cell, to ε(u).
    loads : mapping, optional
        Regions of cells (force per area [N/m²]) or of edges (force per length [N/m]) or :class:`Load` of these by name,
        as inputs of ``flexph.distributed_load``; normals are those of the upper face.
    sections : mapping, optional
        Lines of edges, inside or on the rim, or :class:`Cut` by name, for
        :func:`flexph.results.sections.section_forces`.
    rotary_inertia : bool, optional
        Rotary inertia of either theory, ρt³/12 per area on β, so that mass and inertia are those of the solid plate;
        False omits it everywhere, in the rigid motion as well: Kirchhoff's classical plate.
    shear_correction : float, optional
        Shear correction factor k.
    momenta : str, optional
        See :class:`flexph.Body`.
    damping : Damping, optional
        See :class:`Damping`.
    omit : sequence of str, optional
        As in :func:`fem.solid`; masses in addition to those of the material are supported for solids only.
    size : float, optional
        For a drawing: length of the cells [m]; a full circle has at least 24 edges.
    select : str, optional
        For a file of several parts: the name of the part, instance, set or group of cells that is the plate.
    unit, max_cells, temperature, refine : optional
        As in :func:`fem.solid`; triangles are refined.

    Returns
    -------
    Body
        A spatial body with the given ports and loads.

    Raises
    ------
    ValueError
        For everything that :func:`fem.solid` refuses; for shells that are folded or curved, with the angle; for
        sections with layers or an offset; for a part of a drawing that is not flat or of several thicknesses; for
        curved edges and quadrilaterals that are not convex; for a thickness that is not positive, or cells without one
        or with two; for supports that leave a rigid motion, or together with a reference; for rigid regions that share
        nodes; for mean axes of more than 1000 coordinates with von Kármán strain; for shear without rotary inertia.
    ImportError
        For a drawing, if gmsh or libraries that it needs are missing.

    Examples
    --------
    >>> import fem
    >>> aluminium = fem.Material(young=70e9, density=2700.0, poisson=0.33)
    >>> mesh = fem.box_mesh((0.3, 0.2), (2, 2))
    >>> sheet = fem.plate(mesh, aluminium, thickness=2e-3, ports={"edge": "left"}, reference="edge")
    >>> round(float(sheet.inertia.mass), 6), list(sheet.ports)  # kg
    (0.324, ['edge'])
    """
    check.choice("strain", strain, get_args(Strain))
    correction = check.positive("shear_correction", shear_correction)
    request = MeshRequest(size, select, unit, max_cells, temperature, flat=True)
    read = partial(read_plate, mesh, material, thickness, omit=omit)
    given = read(request=request)
    model = partial(_model, theory=theory, rotary=rotary_inertia, correction=correction)
    build = partial(
        _body,
        ports=ports or {},
        supports=supports,
        reference=reference,
        strain=strain,
        loads=loads or {},
        sections=sections or {},
        momenta=momenta,
        damping=damping,
    )
    if refine is None:
        return build(model(given), given.plane)
    drawn = None
    if is_drawn(mesh):
        regions = [*(ports or {}).values(), *(loads or {}).values(), *(sections or {}).values()]
        refuse_numbered([*regions, *(support.region for support in supports)])
        finer = replace(request, max_cells=refine.max_cells)
        drawn = lambda sizes: model(read(request=replace(finer, sizes=sizes)))  # noqa: E731
    return refined_plate(model(given), given.plane, refine, build, drawn=drawn).meshed.body


def _body(
    model: PlateModel,
    plane: PlaneAxes,
    *,
    ports: Mapping[str, Any],
    supports: Sequence[Support],
    reference: str | None,
    strain: Strain,
    loads: Mapping[str, Any],
    sections: Mapping[str, Any],
    momenta: Momenta,
    damping: Damping,
) -> Body:
    """Body with the axes of the file, from the model of a plate in its own plane."""
    basis, tied_ports = free_coordinates(model, ports, supports)
    full = plate_inertia(model)
    is_outside = reference in (None, "mean_axis") and not supports and basis.shape[1] > FILLED
    if is_outside and strain == "von_karman":
        _refuse_filled(basis.shape[1], tied_ports)
    kept = without_rigid_motion(model, basis, tied_ports, inertia=full, reference=reference, held=bool(supports))
    shapes = sparse.csr_array(basis @ kept)
    elasticity = _elasticity(model, shapes, strain)
    rigid = {name: port.nodes for name, port in tied_ports.items() if port.rigid}
    body = Body(
        inertia=_projected(full, shapes),
        elasticity=elasticity,
        ports={name: port.in_basis(kept) for name, port in tied_ports.items()},
        loads=load_ports(load_port, model, shapes, loads),
        view=plate_view(model, shapes),
        momenta=momenta,
        section_rotation=_turns(model, shapes),
        sections=plate_sections(model, shapes, sections, rigid, quadratic=strain == "von_karman"),
    )
    body = placed(body, plane)
    for name, tie in given_ties(ports).items():
        body = body if tie.at is None else with_port_at(body, name, tie.at)
    body = about_mean_axes(body) if is_outside else body
    return replace(body, elasticity=damped(elasticity, body.inertia, damping))


def _model(given: GivenPlate, *, theory: Theory, rotary: bool, correction: float) -> PlateModel:
    """Stiffness model of a plate, on a mesh of degree 2, from the mesh, materials and thicknesses that were read.

    Raises ValueError for Reissner-Mindlin theory without rotary inertia.
    """
    check.choice("theory", theory, get_args(Theory))
    if theory == "reissner_mindlin" and not rotary:
        raise ValueError(
            "rotary_inertia must be True for theory 'reissner_mindlin': shear angles have no other inertia"
        )
    read = straightened(solid_mesh(given.mesh, plane=True, degree=None))
    read = read.of_degree_two() if read.degree == 1 else read
    solid = solid_model(read, given.material, plane="stress", thickness=1.0)
    return plate_model(solid, given.thickness, theory, rotary=rotary, correction=correction)


def _refuse_filled(size: int, ports: Iterable[str]) -> None:
    """Raise ValueError that a plate of ``size`` coordinates with von Kármán strain is too large for mean axes."""
    known = ", ".join(map(repr, ports)) or "none yet"
    raise ValueError(
        f"reference must be a port to hold for a plate of {size} coordinates and von Kármán strain "
        f"(ports: {known}): its slopes turn with mean axes, which fills them and is for up to {FILLED}"
    )


def _projected(full: Inertia, shapes: sparse.csr_array) -> Inertia:
    """Mass integrals in the coordinates u of a plate, from ``full``, those in all coordinates ``shapes @ u``."""
    project = lambda form: sparse.csr_array(shapes.T @ form @ shapes)  # noqa: E731
    return replace(
        full,
        shape_first=(shapes.T @ full.shape_first.T).T,
        shape_lever=np.array([(shapes.T @ rows.T).T for rows in full.shape_lever]),
        shape_pair=tuple(tuple(project(form) for form in row) for row in full.shape_pair),
        spin_shape=np.zeros((3, shapes.shape[1])),
        spin_pair=sparse.csr_array((shapes.shape[1],) * 2),
    )


def _elasticity(model: PlateModel, shapes: sparse.csr_array, strain: Strain) -> Elasticity:
    linear = sparse.csr_array(model.strain @ shapes)
    m, n = linear.shape
    slopes, weights = sparse.csr_array((0, n)), sparse.csr_array((m, 0))
    if strain == "von_karman":
        slopes, weights = model.quadratic
        slopes = sparse.csr_array(slopes @ shapes)
    return Elasticity(model.compliance, linear, slopes=slopes, weights=weights)


def _turns(model: PlateModel, shapes: sparse.csr_array) -> sparse.csr_array:
    """Sparse matrix (3k, n) from the coordinates u to the rotations of k cells, which are spread evenly over the plate.

    A rotation is (β_y, −β_x) of the normal and the rotation in the plane, in the middle of the cell. ``shapes`` (size,
    n) map u to all coordinates.
    """
    turns = []
    for b, block in enumerate(model.mesh.blocks):
        middles = model.mesh.points[block.corners()].mean(axis=1)[:, None]
        turns.append(model.sampled(b, np.arange(len(middles)), middles).turn)
    x, y = (sparse.vstack(of_blocks).tocsr() for of_blocks in zip(*turns, strict=True))
    cells = watched(x.shape[0])
    return sparse.csr_array(point_by_point([y[cells], -x[cells], model.drilling(cells)]) @ shapes)


def load_port(model: PlateModel, shapes: Any, name: str, given: Any) -> LoadPort:
    """Load port of a region in the coordinates u of a plate; a pressure is along the normal of the upper face.

    ``shapes`` (size, n) map u to all coordinates. Raises ValueError if the region has no cells or edges.
    """
    load = given if isinstance(given, Load) else Load(given)
    if load.on == "volume":
        raise ValueError(f"load {name!r} on a plate must be on='surface' or None: it has cells and edges, no volume")
    loaded = region(model.mesh, f"load {name!r}", load.region)
    if loaded.kind == "nodes":
        raise ValueError(f"load {name!r} must be on a region with cells or edges, got none")
    owner, measures, rows, at = _means(model, loaded, load.uniform)
    mean = sparse.coo_array((measures, (owner, np.arange(len(owner)))), (int(owner.max()) + 1, len(owner))).tocsr()
    whole = np.asarray(mean.sum(axis=1)).ravel()
    mean = sparse.diags_array(1.0 / whole) @ mean
    values = point_by_point([sparse.csr_array(mean @ r) for r in rows])
    positions = np.pad(mean @ at, [(0, 0), (0, 1)])
    top = np.tile([0.0, 0.0, 1.0], (len(whole), 1)) if loaded.kind == "volume" else None
    return LoadPort(positions, sparse.csr_array(values @ shapes), whole, top)


def _means(model: PlateModel, loaded: Region, uniform: bool) -> tuple[Array, Array, list[Any], Array]:
    """Samples of the loaded cells or edges, from which the mean displacements of a load are summed.

    They are: the load element of each sample (s,), its area or length (s,), three sparse matrices (s, size) to its
    displacement (x, y, w), and its position (s, 2). A ``uniform`` load has a single load element, to which all samples
    belong.
    """
    owner, measures, rows, at, start = [], [], [], [], 0
    samples = _cells(model, loaded) if loaded.kind == "volume" else edge_samples(model, loaded.facets)
    for b, cells, points, measure in samples:
        if not len(cells):
            continue
        fields = model.sampled(b, cells, points)
        owner.append(np.repeat(start + np.arange(len(cells)), measure.shape[1]))
        start += len(cells)
        measures.append(measure.ravel())
        rows.append((fields.x, fields.y, fields.w))
        at.append(points.reshape(-1, 2))
    of = np.concatenate(owner)
    stacked = [sparse.vstack([r[i] for r in rows]).tocsr() for i in range(3)]
    return np.zeros_like(of) if uniform else of, np.concatenate(measures), stacked, np.vstack(at)


def _cells(model: PlateModel, loaded: Region) -> list[Any]:
    chosen = [loaded.cells[loaded.cells[:, 0] == b, 1] for b in range(len(model.mesh.blocks))]
    samples = []
    for b, cells, points, area in model.pieces(MASS):
        mine = np.isin(cells, chosen[b])
        samples.append((b, cells[mine], points[mine], area[mine]))
    return samples
