"""Euler-Bernoulli beams as floating bodies, in the plane and in space ([flex] sec. 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, LoadPort, Momenta, Port
from flexph.bodies.elasticity import Elasticity
from flexph.bodies.inertia import Inertia
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.rotations import spins

from ..materials.damping import Damping, damped
from ..materials.materials import Material, Section
from .buckling import buckling_loads
from .elements import Pair
from .elements import pair as pair_named
from .line_mesh import REFERENCES, LineMesh, Reference, scaled
from .line_view import line_view
from .unit_matrices import unit_elasticity, unit_inertia, unit_load

Strain = Literal["linear", "von_karman"]
UNDAMPED = Damping()


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
) -> Body:
    """An Euler-Bernoulli beam along the body x axis, P at its root: [flex] eq. (32)-(37), and the same in space.

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
        2 for a body of the plane, 3 for one of space.
    reference : str, optional
        What removes the rigid motion from the deformation:

        - ``cantilever``: no displacement and rotation at the root;
        - ``simply_supported``: u_x = u_y [= u_z = θ_x] = 0 at the root, u_y [= u_z] = 0 at the tip;
        - ``mean_axis``: ∫ρu = 0 and ∫(ρX × u + ρI_p θ_x e_x) = 0 at the undeformed beam (Tisserand), which leaves a
          free beam without inertial coupling of deformation and rigid motion at u = 0 (lumped masses added later
          couple them again). A few well-chosen coordinates follow from all the others: this fills the mass matrix.
    pair : str, optional
        The mixed pair of velocities and stresses (:data:`fem.PAIRS`), all with clean spectra but the last:

        - ``compatible``: P1 and a constant N, Hermite and a linear M on each element;
        - ``quadratic``: P2 and a linear N, by its values at the two Gauss points of each element, the rest as before.
          Axial frequencies, and those of a beam that a spin stretches, are of fourth order instead of second. One
          coordinate and one stress more for each element;
        - ``hermite``: P1 and a constant N, Hermite and a continuous Hermite M, more accurate in bending;
        - ``paper``: that of [flex] sec. 6, P1 and a continuous P1 N, with spurious axial modes.
    strain : str, optional
        ``von_karman`` takes the best constant (``quadratic``: the best line) to ``u_x' + ½u_y'² [+ ½u_z'²]`` on each
        element as its axial strain: geometric stiffening ([flex] remark 2) without membrane locking. No strain couples
        bending and torsion within a body: a beam of space that turns aside under a moment in its stiff plane takes
        several bodies (:mod:`fem.beams.buckling`).
    momenta : str, optional
        See :class:`flexph.Body`.
    stations : mapping of str to float, optional
        Further ports by name, at distances from the root [m].
    damping : Damping, optional
        See :class:`Damping`.

    Returns
    -------
    Body
        With the ports ``root``, ``tip`` and the stations, and the load port ``load``, a force per length [N/m] for each
        element.

    Raises
    ------
    ValueError
        Where a length, a section or a count is not positive, a name is unknown, a station is off the beam, von Kármán
        strain is asked of a pair whose axial force is continuous, or a constant of the material (ν or G) or of the
        section (I_y, J) that space needs is missing.

    Examples
    --------
    >>> import fem
    >>> steel = fem.Material(young=210e9, density=7850.0)
    >>> rod = fem.beam(0.5, steel, fem.Section(diameter=0.01), elements=4, stations={"middle": 0.25})
    >>> rod.size, list(rod.ports)
    (12, ['root', 'middle', 'tip'])
    """
    length, elements = check.positive("length", length, "m"), check.count("elements", elements)
    dim = check.count("dim", dim)
    spins(dim)  # raises unless 2 or 3
    check.choice("reference", reference, REFERENCES)
    check.choice("strain", strain, ("linear", "von_karman"))
    mesh = LineMesh(length, elements, dim, _pair(pair, strain), reference)
    ports = {"root": 0.0, **(stations or {}), "tip": length}
    if len(ports) != 2 + len(stations or {}):
        raise ValueError("stations must not be named 'root' or 'tip': these ports exist")
    rigidities, inertia = _rigidities(material, section, dim), _inertia(mesh, material.density, section)
    return Body(
        inertia=inertia,
        elasticity=damped(_elasticity(mesh, rigidities, strain), inertia, damping),
        ports={name: _port(mesh, name, x) for name, x in ports.items()},
        loads={"load": _load(mesh)},
        view=line_view(mesh, section),
        momenta=momenta,
        section_rotation=mesh.rotation(np.array([0.0, 1.0])),
        buckling=buckling_loads(mesh, rigidities, strain, reference),
    )


def _pair(name: str, strain: Strain) -> Pair:
    chosen = pair_named(name)
    if strain == "von_karman" and not chosen.local_force:
        raise ValueError(
            f"strain 'von_karman' needs an axial force of each element alone, which pair {name!r} has not: "
            "use pair 'compatible', 'quadratic' or 'hermite'"
        )
    return chosen


def _rigidities(material: Material, section: Section, dim: int) -> dict[str, float]:
    """Stress over strain of each field: EA, EI_z, in space also EI_y and GJ."""
    plane = {"x": material.young * section.area, "y": material.young * section.second_moment}
    if dim == 2:
        return plane
    bending = material.young * section.in_space("second_moment_y")
    return {**plane, "z": bending, "turn": material.shear_modulus * section.in_space("torsion_constant")}


def _inertia(mesh: LineMesh, density: float, section: Section) -> Inertia:
    """Mass integrals of the axis, and of the spin of its sections about it."""
    d, h, line_density, unit = mesh.dim, mesh.step, density * section.area, mesh.unit.once(unit_inertia)
    first, second, lever = np.zeros(d), np.zeros((d, d)), np.zeros((d, d, mesh.size))
    first[0], second[0, 0] = line_density * h**2 * unit.length_first, line_density * h**3 * unit.length_second
    lever[:, 0] = line_density * h**2 * unit.lever
    spin, spin_shape, spin_pair = _section_spin(mesh, density, section)
    return Inertia(
        mass=line_density * mesh.length,
        first=first,
        second=second,
        shape_first=line_density * h * unit.first,
        shape_lever=lever,
        shape_pair=tuple(tuple(scaled(pair, line_density * h) for pair in row) for row in unit.pairs),
        spin=spin,
        spin_shape=spin_shape,
        spin_pair=spin_pair,
    )


def _section_spin(mesh: LineMesh, density: float, section: Section) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
    """½∫ρI_p(Ω_x + θ̇_x)² dx of a beam in space: spin, spin_shape and spin_pair of :class:`flexph.bodies.Inertia`."""
    s, unit = spins(mesh.dim), mesh.unit.once(unit_inertia)
    spin, shape, pair = np.zeros((s, s)), np.zeros((s, mesh.size)), unit.turn_pair
    if mesh.dim == 3:
        inertia = density * section.in_space("polar_moment")
        spin[0, 0], shape[0], pair = inertia * mesh.length, inertia * unit.turn_first, scaled(pair, inertia / mesh.step)
    return spin, shape, pair


def _elasticity(mesh: LineMesh, rigidities: Mapping[str, float], strain: Strain) -> Elasticity:
    """Weak form of stress/rigidity = strain of all fields, tested with the stresses themselves."""
    h, unit, fields = mesh.step, mesh.unit.once(unit_elasticity), mesh.components
    each = lambda values: np.repeat(list(values), unit.sizes)  # noqa: E731
    von_karman = strain == "von_karman"
    return Elasticity(
        compliance=scaled(unit.compliance, each(h / rigidities[name] for name in fields)),
        strain=scaled(unit.strain, each(h ** (1 + c.power(c.order)) for c in fields.values())),
        slopes=scaled(unit.slopes, 1.0 / h) if von_karman else sparse.csr_array((0, mesh.size)),
        weights=scaled(unit.weights, h) if von_karman else sparse.csr_array((sum(unit.sizes), 0)),
    )


def _port(mesh: LineMesh, name: str, x: float) -> Port:
    if not 0.0 <= check.number(f"station {name!r}", x) <= mesh.length:
        raise ValueError(f"station {name!r} must lie between 0 and the length {mesh.length} m, got {x} m")
    position = check.array("position", mesh.on_axis(np.array([x]))[0], (mesh.dim,))
    element, local = mesh.find(x)
    displacement, rotation = _of_port(mesh.unit, element, local)
    return Port(position, displacement, scaled(rotation, 1.0 / mesh.step))


@lru_cache(maxsize=256)
def _of_port(unit: LineMesh, element: int, local: float) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Rows of displacement and section rotation at a local point of an element."""
    point = np.array([local])
    displacement, rotation = (
        rows[element * count : (element + 1) * count]
        for rows in (unit.displacement(point), unit.rotation(point))
        for count in [rows.shape[0] // unit.elements]
    )
    return displacement, rotation


def _load(mesh: LineMesh) -> LoadPort:
    """Mean displacement of each element."""
    middle = mesh.on_axis(mesh.points(np.array([0.5])))
    return LoadPort(middle, mesh.unit.once(unit_load), np.full(mesh.elements, mesh.step))
