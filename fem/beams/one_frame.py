"""A beam in one floating frame: inertia, elasticity, ports, loads and buckling loads of its mesh.

The strain is 'linear' or 'von_karman'. Linear strain omits the moments of the axial force on deflections relative to
the body frame, hence Euler buckling. The missing buckling load is that of a column with the supports of the reference
condition: clamped at the root, or simply supported at the chord. In space neither strain includes lateral-torsional
buckling; its critical moment is estimated by a closed form for a beam whose torsion is held at one end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from flexph.bodies.body import AxialStiffening, Body, BucklingLoad, LoadPort, Momenta, Port
from flexph.bodies.elasticity import Elasticity
from flexph.bodies.inertia import Inertia
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.gauss_tableau import gauss_points
from flexph.numerics.rotations import spins

from ..materials.damping import Damping, damped
from ..materials.materials import Material, Section
from .elements import Field, Pair
from .elements import pair as pair_named
from .line_mesh import LineMesh, Reference, interleave, scaled
from .line_view import line_view

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
    "remedy": "use strain='von_karman', or split the body in several",
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
    """Buckling loads that the strain of a beam does not model, from its rigidities EA, EI_z, in space EI_y and GJ.

    Linear strain does not model the buckling of a column. In space neither strain models lateral-torsional buckling of
    a beam bent in its stiff plane, because bending and torsion are coupled between bodies only.
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
    """Data from which a check estimates the change of the bending stiffness of a beam by its axial force.

    ``critical`` is the Euler load of the beam if its strain is linear, which omits the work of the axial force on
    slopes; else it is None.
    """
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
    """Euler load [N] of the beam as a column with the supports of its reference condition."""
    return EULER[reference] * min(rigidities[name] for name in mesh.transverse) / mesh.length**2


Strain = Literal["linear", "von_karman"]


def beam_in_one_frame(
    mesh: LineMesh,
    material: Material,
    section: Section,
    *,
    strain: Strain,
    reference: Reference,
    momenta: Momenta,
    ports: Mapping[str, float],
    damping: Damping,
) -> Body:
    """Beam body with one floating frame, from a mesh; ``ports`` are the distances x [m] of its ports from the root."""
    rigidities, inertia = _rigidities(material, section, mesh.dim), _inertia(mesh, material.density, section)
    return Body(
        inertia=inertia,
        elasticity=damped(_elasticity(mesh, rigidities, strain), inertia, damping),
        ports={name: _port(mesh, name, x) for name, x in ports.items()},
        loads={"load": _load(mesh)},
        view=line_view(mesh, section, rigidities),
        momenta=momenta,
        section_rotation=mesh.rotation(np.array([0.0, 1.0])),
        buckling=buckling_loads(mesh, rigidities, strain, reference),
        stiffening=axial_stiffening(mesh, rigidities, strain, reference),
    )


def pair_for(name: str, strain: Strain) -> Pair:
    """Mixed pair by its name; raises ValueError if the pair does not support the strain."""
    chosen = pair_named(name)
    if strain == "von_karman" and not chosen.local_force:
        raise ValueError(
            f"strain 'von_karman' needs an axial force that is discontinuous between elements, unlike pair {name!r}: "
            "use pair 'compatible', 'quadratic' or 'hermite'"
        )
    return chosen


def _rigidities(material: Material, section: Section, dim: int) -> dict[str, float]:
    """Rigidity of each field, its stress per strain: EA, EI_z, in space also EI_y and GJ."""
    plane = {"x": material.young * section.area, "y": material.young * section.second_moment}
    if dim == 2:
        return plane
    bending = material.young * section.in_space("second_moment_y")
    return {**plane, "z": bending, "turn": material.shear_modulus * section.in_space("torsion_constant")}


def _inertia(mesh: LineMesh, density: float, section: Section) -> Inertia:
    """Mass integrals of a beam: of the mass on the axis and, in space, of the rotation of sections about the axis."""
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
    """Fields ``spin`` (s, s), ``spin_shape`` (s, n) and ``spin_pair`` (n, n) of the inertia of a beam.

    See :class:`flexph.bodies.Inertia`. They are the integrals of the kinetic energy ½∫ρI_p(Ω_x + θ̇_x)² dx with the
    polar moment I_p, in space (s = 3); in the plane (s = 1) they are zero.
    """
    s, unit = spins(mesh.dim), mesh.unit.once(unit_inertia)
    spin, shape, pair = np.zeros((s, s)), np.zeros((s, mesh.size)), unit.turn_pair
    if mesh.dim == 3:
        inertia = density * section.in_space("polar_moment")
        spin[0, 0], shape[0], pair = inertia * mesh.length, inertia * unit.turn_first, scaled(pair, inertia / mesh.step)
    return spin, shape, pair


def _elasticity(mesh: LineMesh, rigidities: Mapping[str, float], strain: Strain) -> Elasticity:
    """Elasticity of a beam: for each field the weak form of stress/rigidity = strain, tested with stress functions."""
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
    """Sparse matrices from the kept coordinates to displacement and section rotation at one point of a unit mesh.

    The point has the local coordinate ``local`` in [0, 1] in the element with the index ``element``.
    """
    point = np.array([local])
    displacement, rotation = (
        rows[element * count : (element + 1) * count]
        for rows in (unit.displacement(point), unit.rotation(point))
        for count in [rows.shape[0] // unit.elements]
    )
    return displacement, rotation


def _load(mesh: LineMesh) -> LoadPort:
    """Load port of a beam: a force per length on each element, which works on the mean displacement of the element."""
    middle = mesh.on_axis(mesh.points(np.array([0.5])))
    return LoadPort(middle, mesh.unit.once(unit_load), np.full(mesh.elements, mesh.step))


class UnitInertia(NamedTuple):
    """Mass integrals of a mesh with elements of unit length, for unit density.

    With displacements φ and torsion θ for unit coordinates: ``length_first`` ∫x dx, ``length_second`` ∫x² dx, ``first``
    ∫φ dx (d, n), ``lever`` ∫xφ dx (d, n), ``pairs`` ∫φ_i φ_jᵀ dx for all pairs of directions. In space also
    ``turn_first`` ∫θ dx (n,) and ``turn_pair`` ∫θθᵀ dx.
    """

    length_first: float
    length_second: float
    first: Array
    lever: Array
    pairs: tuple[tuple[Any, ...], ...]
    turn_first: Array
    turn_pair: Any


class UnitElasticity(NamedTuple):
    """Integrals of the weak form of stress = strain on a mesh with elements of unit length, for unit rigidities.

    With the stress functions ψ of all fields in sequence: ``compliance`` ∫ψψᵀ dx, ``strain`` ∫ψ εᵀ dx, ε the linear
    strains for unit coordinates. Von Kármán's strain also needs, at the quadrature points, the ``slopes`` of the
    transverse fields for unit coordinates and the ``weights`` w ψ of the axial stress, w those of the quadrature.
    ``sizes`` are the numbers of stress coordinates of the fields.
    """

    compliance: Any
    strain: Any
    slopes: Any
    weights: Any
    sizes: tuple[int, ...]
    """Numbers of stresses of the fields."""


def unit_inertia(unit: LineMesh) -> UnitInertia:
    """Mass integrals of the axis of a unit mesh and, in space, of its torsion."""
    local, w = unit.quadrature()
    x, phi = unit.points(local), [unit.rows(name, local) for name in unit.displacements]
    turn = unit.rows("turn", local) if unit.dim == 3 else sparse.csr_array((w.size, unit.size))
    return UnitInertia(
        length_first=float(w @ x),
        length_second=float(w @ x**2),
        first=np.array([p.T @ w for p in phi]),
        lever=np.array([p.T @ (w * x) for p in phi]),
        pairs=tuple(tuple(_product(p, w, q) for q in phi) for p in phi),
        turn_first=turn.T @ w,
        turn_pair=_product(turn, w, turn),
    )


def unit_elasticity(unit: LineMesh) -> UnitElasticity:
    """Integrals of the weak form of stress = strain on a unit mesh, for the fields in the order of ``components``."""
    local, w = unit.quadrature()
    stress = {name: c.stress.rows(local, 1.0) for name, c in unit.components.items()}
    strain = [_product(s, w, unit.strain(name, local)) for name, s in stress.items()]
    weights = sparse.hstack([stress["x"].T @ sparse.diags_array(w) for _ in unit.transverse])
    others = sum(s.shape[1] for s in stress.values()) - weights.shape[0]
    return UnitElasticity(
        compliance=sparse.block_diag([_compliance(c.stress) for c in unit.components.values()]).tocsr(),
        strain=sparse.vstack(strain).tocsr(),
        slopes=sparse.vstack([unit.rows(name, local, 1) for name in unit.transverse]).tocsr(),
        weights=sparse.vstack([weights, sparse.csr_array((others, weights.shape[1]))]).tocsr(),
        sizes=tuple(s.shape[1] for s in stress.values()),
    )


def unit_load(unit: LineMesh) -> Any:
    """Sparse matrix from the kept coordinates to the mean displacement of each element, element by element.

    The rule of 2 Gauss points is exact.
    """
    local, weight = gauss_points(2)
    mean = sparse.kron(sparse.eye_array(unit.elements), weight[None, :]).tocsr()
    return interleave(*(mean @ unit.rows(name, local) for name in unit.displacements))


def _compliance(stress: Field) -> Any:
    """Sparse matrix ∫ψψᵀ dx of the shape functions ψ of a stress field on unit elements.

    A rule with as many Gauss points as the field has coefficients on an element is exact.
    """
    local, weight = gauss_points(stress.local)
    rows = stress.rows(local, 1.0)
    compliance = _product(rows, np.tile(weight, stress.elements), rows)
    compliance.eliminate_zeros()
    return compliance


def _product(left: Any, weights: Array, right: Any) -> Any:
    return sparse.csr_array(scaled(left, weights).T @ right)
