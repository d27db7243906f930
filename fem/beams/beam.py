"""Euler-Bernoulli beams as one or several floating bodies, in the plane and in space ([flex] sec. 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, overload

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, LoadPort, Momenta, NodalLoad
from flexph.bodies.fields import SectionStress, StressField, View
from flexph.bodies.split_body import SplitBody
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, sparse_block_diag
from flexph.numerics.rotations import spins
from flexph.units.arguments import quantities

from ..materials.damping import Damping
from ..materials.materials import Material, Section
from .line_mesh import REFERENCES, LineMesh, Reference
from .one_frame import Strain, beam_in_one_frame, pair_for


def in_several_frames(make: Callable[..., Body], ports: Mapping[str, float], mesh: LineMesh, count: int) -> SplitBody:
    """Split beam of ``count`` floating bodies in sequence, each with the mesh ``mesh`` and made by ``make(ports=…)``.

    ``ports`` are the positions x [m] of the ports along the whole beam. Raises ValueError for ports off the beam, and
    for ports with the names of joints.
    """
    starts = mesh.length * np.arange(count)
    joints = tuple((f"cut{i}", f"cut{i}_next") for i in range(1, count))
    for name in ports:
        if name in {port for pair in joints for port in pair}:
            raise ValueError(f"stations must not be named {name!r}: a beam with split={count} has such a port")
    joined: list[dict[str, float]] = [{} for _ in range(count)]
    for name, x in ports.items():
        if not 0.0 <= check.number(f"station {name!r}", x) <= count * mesh.length:
            raise ValueError(f"station {name!r} must lie between 0 and the length {count * mesh.length} m, got {x} m")
        i = max(int(np.searchsorted(starts, x)) - 1, 0)  # a port at a joint belongs to the body before it
        joined[i][name] = min(x - starts[i], mesh.length)
    for i, (before, after) in enumerate(joints):
        joined[i][before] = mesh.length
        joined[i + 1] = {after: 0.0, **joined[i + 1]}
    frames = tuple(make(ports=given) for given in joined)
    places = np.zeros((count, mesh.dim))
    places[:, 0] = starts
    return SplitBody(frames, places, joints, {"load": _load(frames)}, _view(frames, places))


def _load(frames: Sequence[Body]) -> NodalLoad:
    """Load port of a split beam, combined from those of its frames, with loads in the order of the frames."""
    loads: list[LoadPort] = [frame.loads["load"] for frame in frames]
    return NodalLoad(
        nodes=np.repeat(np.arange(len(frames)), [len(load.positions) for load in loads]),
        positions=np.vstack([load.positions for load in loads]),
        weights=sparse.diags_array(np.concatenate([load.measures for load in loads])).tocsr(),
        shapes=sparse_block_diag(load.shapes for load in loads),
    )


def _view(frames: Sequence[Body], places: Array) -> View:
    """View of a split beam, combined from the views of its frames.

    ``places`` (frames, d) [m] are the positions of the roots of the frames in the undeformed beam. Points, cells and
    stresses follow each other in the order of the frames.
    """
    views = [frame.view for frame in frames if frame.view is not None]
    first, sweeps = views[0], [view.sweep for view in views if view.sweep is not None]
    starts = np.cumsum([0, *(len(view.points) for view in views)])
    return replace(
        first,
        points=np.vstack([view.points + place for view, place in zip(views, places, strict=True)]),
        cells=np.vstack([view.cells + start for view, start in zip(views, starts, strict=False)]),
        shape=sparse_block_diag(view.shape for view in views),
        stresses={
            name: StressField(
                field.unit,
                sparse_block_diag(view.stresses[name].cells for view in views),
                np.concatenate([view.stresses[name].compliance for view in views]),
            )
            for name, field in first.stresses.items()
        },
        sweep=replace(sweeps[0], rotation=sparse_block_diag(sweep.rotation for sweep in sweeps)),
        sections=_sections(views, places),
    )


def _sections(views: Sequence[View], places: Array) -> SectionStress | None:
    """Section stresses of a split beam, combined from those of its frames; None if no frame has any.

    A frame has none if the outline of its section is not known. ``places`` (frames, d) [m] are the positions of the
    roots of the frames in the undeformed beam.
    """
    section_stresses = [view.sections for view in views if view.sections is not None]
    if not section_stresses:
        return None
    pieces, rings = (np.arange(len(views)) * count for count in (len(views[0].cells), len(views[0].points)))
    return replace(
        section_stresses[0],
        resultants=sparse_block_diag(sections.resultants for sections in section_stresses),
        cell=np.concatenate([sections.cell + k for sections, k in zip(section_stresses, pieces, strict=True)]),
        ring=np.concatenate([sections.ring + k for sections, k in zip(section_stresses, rings, strict=True)]),
        drawn=np.concatenate([sections.drawn + k for sections, k in zip(section_stresses, pieces, strict=True)]),
        positions=np.vstack(
            [sections.positions + place for sections, place in zip(section_stresses, places, strict=True)]
        ),
    )


UNDAMPED = Damping()


@overload
def beam(
    length: float,
    material: Material,
    section: Section,
    *,
    elements: int,
    dim: int = 2,
    reference: Reference = "cantilever",
    pair: str = "compatible",
    strain: Strain = "linear",
    momenta: Momenta = "full",
    stations: Mapping[str, float] | None = None,
    damping: Damping = UNDAMPED,
    split: Literal[1] = 1,
) -> Body: ...


@overload
def beam(
    length: float,
    material: Material,
    section: Section,
    *,
    elements: int,
    dim: int = 2,
    reference: Reference = "cantilever",
    pair: str = "compatible",
    strain: Strain = "linear",
    momenta: Momenta = "full",
    stations: Mapping[str, float] | None = None,
    damping: Damping = UNDAMPED,
    split: int,
) -> Body | SplitBody: ...


@quantities(length="m", stations="m")
@checked
def beam(
    length: float,
    material: Material,
    section: Section,
    *,
    elements: int,
    dim: int = 2,
    reference: Reference = "cantilever",
    pair: str = "compatible",
    strain: Strain = "linear",
    momenta: Momenta = "full",
    stations: Mapping[str, float] | None = None,
    damping: Damping = UNDAMPED,
    split: int = 1,
) -> Body | SplitBody:
    """An Euler-Bernoulli beam along the body x axis with the body origin P at its root: [flex] eq. (32)-(37).

    ``dim=2``: velocities are axial (P1, or P2) and transverse (Hermite), stresses the axial force N [N] and the moment
    M [N m],

        N/EA = u_x',  M/EI = u_y''.

    ``dim=3`` adds bending in the x-z plane (Hermite) and torsion (P1, its torque constant on each element or, in the
    pair of the paper, P1). Sections turn by ψ = (θ_x, −u_z', u_y') to first order, the moments (T, M_y, M_z) work on
    ψ':

        M_z/EI_z = u_y'',  M_y/EI_y = −u_z'',  T/GJ = θ_x',

    with y and z the principal axes and the shear centre on the axis; cross sections do not warp. The polar inertia adds
    ½∫ρI_p(Ω_x + θ̇_x)² dx to the kinetic energy; sections have no other rotary inertia. Stress coordinates are field by
    field N, M_z, M_y, T. Coordinates u are all lengths, node by node (u_x, u_y, hu_y'[, u_z, hu_z', hθ_x]), then u_x at
    the middle of each element where it is quadratic, without those that the reference removes.

    Parameters
    ----------
    length : float
        Length [m].
    material : Material
        E and ρ, in space also ν or G.
    section : Section
        A and I_z, in space also I_y and J.
    elements : int
        Number of equal elements.
    dim : int, optional
        2 for a planar body, 3 for a spatial one.
    reference : str, optional
        Condition that removes the rigid motion from the deformation:

        - ``cantilever``: no displacement and rotation at the root;
        - ``simply_supported``: u_x = u_y [= u_z = θ_x] = 0 at the root, u_y [= u_z] = 0 at the tip;
        - ``mean_axis``: ∫ρu = 0 and ∫(ρX × u + ρI_p θ_x e_x) = 0 at the undeformed beam (Tisserand), which leaves a
          free beam without inertial coupling of deformation and rigid motion at u = 0 (lumped masses added later
          couple them again). Some coordinates, chosen for good conditioning, depend on all others: this fills the mass
          matrix.
    pair : str, optional
        The mixed pair of velocities and stresses (:data:`fem.PAIRS`); all but the last have clean spectra:

        - ``compatible``: P1 and a constant N, Hermite and a linear M on each element;
        - ``quadratic``: P2 and a linear N, by its values at the two Gauss points of each element; bending as in
          ``compatible``. Axial frequencies, and those of a beam stretched by rotation, are of fourth order instead of
          second, at the cost of one coordinate and one stress more for each element;
        - ``hermite``: P1 and a constant N, Hermite and a continuous Hermite M, more accurate in bending;
        - ``paper``: the pair of [flex] sec. 6, P1 and a continuous P1 N, with spurious axial modes.
    strain : str, optional
        ``von_karman``: the axial strain of each element is the best constant approximation of ``u_x' + ½u_y'² [+
        ½u_z'²]`` (``quadratic``: the best linear one): geometric stiffening ([flex] remark 2) without membrane locking.
        No strain couples bending and torsion within a body: lateral-torsional buckling of a spatial beam requires
        several bodies (:mod:`fem.beams.one_frame`).
    momenta : str, optional
        See :class:`flexph.Body`.
    stations : mapping of str to float, optional
        Further ports by name, at distances from the root [m], such as ``{"third": length / 3}``; for
        :func:`flexph.joints.point_on_curve` at thirds of all elements, ``{f"p{i}": i * length / (3 * elements) for i in
        range(1, 3 * elements)}``.
    damping : Damping, optional
        See :class:`Damping`.
    split : int, optional
        Number of floating bodies of equal length, with ``elements`` in all, that are welded in sequence under one
        name. Each section rotates relative to its own frame only, so that deflections may grow with the number of
        frames. With more than one, ports, states, stresses, loads, pictures and files have the names of the whole beam;
        operations on a single frame (``displacement``, a load in body axes, :func:`flexph.bodies.reduce_body`) are
        refused.

    Returns
    -------
    Body or SplitBody
        With the ports ``root``, ``tip`` and the stations, and the load port ``load``, a force per length [N/m] for each
        element. A split beam has the ports ``cut1`` and ``cut1_next`` at its first joint, ``cut2`` and so on at the
        others, and the joints ``weld NAME.cut1–NAME.cut1_next``.

    Raises
    ------
    ValueError
        If a length, a section or a count is not positive, a name is unknown, a station is off the beam, the number
        of elements is not a multiple of ``split``, von Kármán strain is requested for a pair with a continuous axial
        force, or a constant of the material (ν or G) or of the section (I_y, J) that space requires is missing.

    Examples
    --------
    >>> import fem
    >>> steel = fem.Material(young=210e9, density=7850.0)
    >>> rod = fem.beam(0.5, steel, fem.Section(diameter=0.01), elements=4, stations={"middle": 0.25})
    >>> rod.size, list(rod.ports)
    (12, ['root', 'middle', 'tip'])
    """
    length, elements = check.positive("length", length, "m"), check.count("elements", elements)
    dim, split = check.count("dim", dim), check.count("split", split)
    spins(dim)  # raises unless 2 or 3
    check.choice("reference", reference, REFERENCES)
    check.choice("strain", strain, ("linear", "von_karman"))
    if elements % split:
        raise ValueError(f"elements must be a multiple of split = {split}, got {elements}")
    mesh = LineMesh(length / split, elements // split, dim, pair_for(pair, strain), reference)
    ports = {"root": 0.0, **(stations or {}), "tip": length}
    if len(ports) != 2 + len(stations or {}):
        raise ValueError("stations must not be named 'root' or 'tip': these ports exist")
    make = partial(
        beam_in_one_frame, mesh, material, section, strain=strain, reference=reference, momenta=momenta, damping=damping
    )
    return make(ports=ports) if split == 1 else in_several_frames(make, ports, mesh, split)
