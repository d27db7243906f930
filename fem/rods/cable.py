"""Cables: thin ropes and belts of any displacement, with tension and bending but no torsion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import sparse

from flexph.bodies.body import Body, NodalLoad
from flexph.bodies.fields import StressField, View
from flexph.bodies.inertia import rigid_inertia
from flexph.bodies.nodal_body import DirectorStrain, NodalBody, Pieces, PointLaw
from flexph.discrete_gradients.stored_energies import LineEnergy
from flexph.laws.elastic_laws import ElasticLaw
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import spins
from flexph.units.arguments import quantities

from ..materials.damping import Damping
from .flow import Flow, flow_of_cable
from .hermite import HermiteLine, hermite_line
from .laws import checked_laws
from .ports import ports_along
from .rod import STRETCHED, UNDAMPED, stiffness_damping

DRAWN = 4
"""Number of pieces in which an element is drawn."""


@quantities(axial="N", bending="N*m^2", length="m", mass_per_length="kg/m", ports="m")
@checked
def cable(
    length: float,
    *,
    mass_per_length: float,
    axial: float,
    bending: float,
    elements: int,
    dim: int = 3,
    curve: Callable[[float], Sequence[float] | Array] | None = None,
    ports: Mapping[str, float] | None = None,
    damping: Damping = UNDAMPED,
    laws: Mapping[str, ElasticLaw] | None = None,
    flow: Flow | None = None,
) -> NodalBody:
    """A cable in space or in the plane, along the body x axis from ``root`` to ``tip``, or along a curve.

    The curve r(s) is cubic on each element and has a continuous slope; primes are derivatives by the length s of the
    straight unloaded cable. Its energy

        ½∫EA E² + EI K² ds,   E = ½(r'·r' − 1),   K = |r'×r''|/(r'·r')

    has tension and bending, K the turn of the cable per unloaded length, but no torsion and no inertia of the
    sections. A slack cable bends, and carries compression up to its bending stiffness. The mass is that of the
    curve, represented by as many points as there are positions and slopes (:mod:`fem.rods.hermite`).

    In the plane the curvature has a sign, K = (J r')·r''/(r'·r') with a quarter turn J, and may have a law M(K).

    A run preserves energy, momenta and joints to round-off at any step size, in compiled loops; joints act at the
    borders of the elements.

    Parameters
    ----------
    length : float
        Unloaded length [m].
    mass_per_length : float
        ρA [kg/m].
    axial, bending : float
        EA [N] and EI [N m²], both positive: without bending a mesh cannot support a kink.
    elements : int
        Number of equal elements.
    dim : int, optional
        3 for a cable in space, 2 for one in the plane.
    curve : function, optional
        Initial shape of the cable, s ↦ position (dim,) in body axes, with s its length: the cable is bent to this
        curve. By default it is straight and unloaded.
    ports : mapping of str to float, optional
        Further ports by name at any s [m].
    damping : Damping, optional
        Stiffness damping: the tension gets β times its rate. Other damping is refused.
    laws : mapping of str to ElasticLaw, optional
        Laws of :mod:`flexph.laws` with V the energy per length: ``N``, in place of EA, the tension against the
        elongation |r'| − 1, and in the plane ``M3``, in place of EI, the bending moment against the curvature K.
        ``one_sided`` is slack in compression, ``scheduled`` changes with time. For a law of bending in
        space use :func:`fem.rod`.
    flow : Flow, optional
        Fluid that flows through the cable as through a hose, see :class:`fem.Flow`.

    Returns
    -------
    NodalBody
        With the ports ``root``, ``tip`` and the given ones, for spherical joints (hinges in the plane), springs between
        points, distances and forces; and the load port ``load``, a force per length [N/m] in world axes for each
        element. A port has one direction, the slope r'. With this direction it can be the first port of a ``weld``
        or ``torsion_spring`` in the plane, and in space of a ``hinge`` whose ``axis`` is along the cable: the hinge
        clamps the slope. ``view.stresses`` contains the tension.

    Raises
    ------
    ValueError
        For ports off the cable, damping by mass or ratios, a curve whose parameter is not its length, a ``dim`` other
        than 2 or 3, values that are not positive, and a law that has a force or no stiffness at rest.

    Examples
    --------
    >>> import fem
    >>> rope = fem.cable(20.0, mass_per_length=0.3, axial=1e6, bending=0.5, elements=10)
    >>> rope
    <Body of 22 nodes: 6 kg; ports root, tip>
    >>> fem.cable(20.0, mass_per_length=0.3, axial=1e6, bending=0.5, elements=10, dim=2).dim
    2
    """
    spins(check.count("dim", dim))  # raises unless 2 or 3
    length = check.positive("length", length, "m")
    stiffness = check.positive("axial", axial, "N"), check.positive("bending", bending, "N m²")
    borders = np.linspace(0.0, length, check.count("elements", elements) + 1)
    fluid = 0.0 if flow is None else flow.mass_per_length
    line = hermite_line(borders, check.positive("mass_per_length", mass_per_length, "kg/m") + fluid)
    places, elastic_laws = _placed(line, curve, dim), checked_laws("cable", laws, ("N", "M3")[: 4 - dim], dim)
    energy, rows = (
        _strain(line, places, stiffness, stiffness_damping(damping, "cable"), elastic_laws),
        2 if 1 in elastic_laws else 6,
    )
    named = ports_along("cable", length, ports or {})
    return NodalBody(
        frames=tuple(_point(mass, dim) for mass in line.mass),
        places=places,
        elasticity=energy,
        elements=np.zeros((0, 2), dtype=int),
        directors=np.zeros((0, dim, dim)),
        view=_view(line, places, stiffness[0], rows),
        loads={"load": _load(line, dim)},
        weights={name: line.at(np.array([s]))[0] for name, s in named.items()},
        slopes={name: line.at(np.array([s]), 1)[0] for name, s in named.items()},
        tangents=_tangents(line),
        coordinates=line.points,
        pieces=_pieces(line, rows),
        flow=flow_of_cable(flow, line),
    )


def _tangents(line: HermiteLine) -> Array:
    """Weights (E, q, N) by which the positions of the N mass points give the slope r' at q points of E elements.

    The points are the ends of the drawn pieces of an element.
    """
    elements = line.borders.size - 1
    s = line.borders[:-1, None] + np.diff(line.borders)[:, None] * np.arange(DRAWN + 1) / DRAWN
    return line.at(s.ravel(), 1).reshape(elements, DRAWN + 1, -1)


def _point(mass: float, dim: int) -> Body:
    none = np.zeros((spins(dim), spins(dim)))
    return Body(rigid_inertia(float(mass), np.zeros(dim), np.zeros((dim, dim)), none), {}, turns=False)


def _placed(line: HermiteLine, curve: Callable[[float], Sequence[float] | Array] | None, dim: int) -> Array:
    """Positions (N, dim) of the mass points of a cable in its initial shape, straight without a ``curve``.

    Raises ValueError for a curve whose parameter is not its length.
    """
    length, borders = line.borders[-1], line.borders
    at = (lambda s: s * np.eye(dim)[0]) if curve is None else curve
    step = 1e-4 * length
    values = np.empty((2 * borders.size, dim))
    for i, s in enumerate(borders):
        base = min(max(s - step, 0.0), length - 2.0 * step)  # a parabola through three places
        three = [
            check.array("place on the curve", check.value_of("the curve of a cable", at, base + k * step), (dim,))
            for k in range(3)
        ]
        x = (s - base) / step
        values[2 * i] = check.array("place on the curve", at(float(s)), (dim,))
        values[2 * i + 1] = np.array([x - 1.5, 2.0 - 2.0 * x, x - 0.5]) @ three / step
        speed = float(np.linalg.norm(values[2 * i + 1]))
        if abs(speed - 1.0) > STRETCHED:
            raise ValueError(f"curve must have its length as parameter: at s = {s:.6g} m it has |dr/ds| = {speed:.4g}")
    return np.linalg.solve(line.points, values)


def _simpson(line: HermiteLine) -> tuple[Array, Array]:
    """Positions (2E + 1,) [m] of the points at which the tension is a state, and the length [m] assigned to each.

    They are the borders and middles of the E elements. Their number is that of the coefficients of r': with fewer
    points, at Gauss points, r' could change without tension, and more points would lock a slack cable.
    """
    borders, lengths = line.borders, np.diff(line.borders)
    s, w = np.empty(2 * borders.size - 1), np.zeros(2 * borders.size - 1)
    s[::2], s[1::2] = borders, 0.5 * (borders[1:] + borders[:-1])
    w[1::2] = 4.0 * lengths / 6.0
    w[:-2:2] += lengths / 6.0
    w[2::2] += lengths / 6.0
    return s, w


def _pieces(line: HermiteLine, rows: int) -> Pieces:
    """Elements of a cable and the fraction (E, m) of the energy of each of the m strains of :func:`_strain` in each.

    The energy of a tension at the border of two elements is divided between them by length. Each element has ``rows``
    strains of bending, whose energy is its alone.
    """
    lengths, count = np.diff(line.borders), line.borders.size - 1
    shares = np.zeros((count, 2 * count + 1 + rows * count))
    for e in range(count):
        shares[e, 2 * e + 1] = 1.0
        shares[e, 2 * e] = 1.0 if e == 0 else lengths[e] / (lengths[e - 1] + lengths[e])
        shares[e, 2 * e + 2] = 1.0 if e == count - 1 else lengths[e] / (lengths[e] + lengths[e + 1])
        shares[e, 2 * count + 1 + rows * e :][:rows] = 1.0
    return Pieces(line.borders, sparse.csr_array(shares), np.arange(2 * count + 1))


def _strain(
    line: HermiteLine,
    places: Array,
    stiffness: tuple[float, float],
    damping: float,
    laws: Mapping[int, ElasticLaw],
) -> DirectorStrain:
    """Strain energy of a cable as rows of products of vectors, in the initial shape ``places`` (N, dim).

    The rows are w E at the tension points, then a = |r''|²/|r'|², b = ½EI w and c = r'·r''/|r'|² at each Gauss point
    of weight w. With the constant row b the bending energy ½EI w K² = ½EI w (a − c²) is a quadratic form of the rows,
    a b − ½EI w c². Stress of row a is the constant b, stress of row b is a. The compliance of the three rows is
    indefinite, but the bending energy is not negative.

    ``stiffness`` are EA and EI, ``laws`` are by index: 0 tension, 1 bending. With a law of tension the tension rows are
    w (|r'| − 1) instead. With a law of bending the bending rows are w (J r')·r''/|r'|², one at each Gauss point.
    """
    (EA, EI), (xi, weights) = stiffness, leggauss(2)
    (at, length), lengths = _simpson(line), np.diff(line.borders)[:, None]
    s, w = (line.borders[:-1, None] + 0.5 * lengths * (1.0 + xi)).ravel(), (0.5 * lengths * weights).ravel()
    root = np.sqrt(0.5 * w)[:, None]
    stretched = np.sqrt(0.5 * length)[:, None] * line.at(at, 1)
    bent = np.stack([root * line.at(s, 1), root * line.at(s, 2)], axis=1).reshape(2 * s.size, -1)
    if 1 in laws:
        energy = _bent_by_law(sparse.csr_array(np.vstack([stretched, bent])), (length, w), EA, damping, laws[1])
        energy = energy if 0 not in laws else _with_law(energy, laws[0], length)
        strain = energy.strain_at(places)
        initial = energy.stiffness_of_stress @ strain
        initial[at.size :] = [float(laws[1].force(x)) for x in strain[at.size :] / w]
        return replace(energy, initial=initial)
    points, rows = np.arange(at.size), np.arange(s.size)[:, None]
    vector, product = at.size + 2 * rows, at.size + 3 * rows  # r'·r', r'·r'', r''·r''
    blocks = np.zeros((s.size, 3, 3))
    blocks[:, 2, 2], blocks[:, 0, 1], blocks[:, 1, 0] = -1.0 / (EI * w), 1.0, 1.0
    energy = DirectorStrain(
        vectors=sparse.csr_array(np.vstack([stretched, bent])),
        first=np.append(points, vector + np.array([0, 0, 1])),
        second=np.append(points, vector + np.array([0, 1, 1])),
        product=np.append(points, product + np.array([2, 0, 1])),
        directors=np.vstack([np.full((at.size, 2), -1), np.repeat(product, 3)[:, None].repeat(2, axis=1)]),
        reference=np.append(0.5 * length, np.outer(1.0 - 0.5 * EI * w, [0, 1, 0]) + 0.0),
        compliance=sparse.block_diag([sparse.diags_array(length / EA), *blocks], format="csr"),
        stiffness_damping=damping,
        undamped=np.arange(at.size + 3 * s.size) >= at.size,
    )
    if 0 in laws:
        energy = _with_law(energy, laws[0], length)
    return replace(energy, initial=energy.stiffness_of_stress @ energy.strain_at(places))


def _bent_by_law(
    vectors: sparse.csr_array, widths: tuple[Array, Array], axial: float, damping: float, law: ElasticLaw
) -> DirectorStrain:
    """Strain energy of a planar cable with a law of bending, whose rows are w (J r')·r''/|r'|² at the Gauss points.

    ``widths`` are the lengths assigned to the tension points, and the weights w of the Gauss points. ``axial`` is EA.
    """
    length, w = widths
    points, samples = np.arange(length.size), np.arange(w.size)[:, None]
    square = length.size + 2 * samples  # of vectors r', r'' the first, of products r'·r', (J r')·r''
    rows = length.size + np.arange(w.size)
    return DirectorStrain(
        vectors=vectors,
        first=np.append(points, square + np.array([0, 0])),
        second=np.append(points, square + np.array([0, 1])),
        product=np.append(points, square + 1),
        directors=np.vstack([np.full((length.size, 2), -1), square.repeat(2, axis=1)]),
        factor=np.append(np.ones(length.size), w),
        reference=np.append(0.5 * length, np.zeros(w.size)),
        compliance=sparse.diags_array(np.append(length / axial, w / float(law.stiffness(0.0)))).tocsr(),
        stiffness_damping=damping,
        undamped=np.arange(length.size + w.size) >= length.size,
        laws=(PointLaw(rows[:, None], w, LineEnergy(law)),),
        crossed=np.append(np.zeros(length.size, dtype=bool), np.tile([False, True], w.size)),
    )


def _with_law(energy: DirectorStrain, law: ElasticLaw, length: Array) -> DirectorStrain:
    """Strain energy of a cable with an elastic law of the elongation |r'| − 1 instead of linear tension.

    ``length`` is the length [m] assigned to each tension point.
    """
    count, rows = length.size, np.arange(length.size)
    directors, factor, reference = energy.directors.copy(), energy.factors.copy(), energy.reference.copy()
    directors[:count, 0], factor[:count], reference[:count] = rows, np.sqrt(2.0 * length), length
    compliance = energy.compliance.diagonal()
    compliance[:count] = length / float(law.stiffness(0.0))
    return replace(
        energy,
        directors=directors,
        factor=factor,
        reference=reference,
        compliance=energy.compliance + sparse.diags_array(compliance - energy.compliance.diagonal()),
        laws=(PointLaw(rows[:, None], length, LineEnergy(law)), *energy.laws),
    )


def _load(line: HermiteLine, dim: int) -> NodalLoad:
    """Load port of a cable: a force per length on each element, as forces on the mass points."""
    lengths = np.diff(line.borders)[:, None]
    xi, weights = leggauss(2)  # exact for cubic shapes
    s = line.borders[:-1, None] + 0.5 * lengths * (1.0 + xi)
    forces = np.einsum("eq,eqn->ne", 0.5 * lengths * weights, line.at(s.ravel()).reshape(*s.shape, -1))
    count = line.mass.size
    return NodalLoad(np.arange(count), np.zeros((count, dim)), sparse.csr_array(forces))


def _view(line: HermiteLine, places: Array, axial: float, rows: int) -> View:
    """View of a cable as a line with its tension, which is linear between borders and middles of the elements.

    ``places`` (N, dim) are the positions of the mass points, ``rows`` the number of bending rows of an element.
    """
    elements = line.borders.size - 1
    s = np.interp(np.arange(DRAWN * elements + 1) / DRAWN, np.arange(elements + 1), line.borders)
    shape, count = line.at(s), DRAWN * elements
    first = np.repeat(np.arange(2 * elements), DRAWN // 2)
    part = (np.arange(count) % (DRAWN // 2) + 0.5) / (DRAWN // 2)
    entries = np.append(1.0 - part, part), (np.tile(np.arange(count), 2), np.append(first, first + 1))
    tension = sparse.csr_array(entries, shape=(count, 2 * elements + 1 + rows * elements))
    pairs = np.arange(s.size - 1)[:, None] + np.arange(2)
    field = StressField("N", tension, np.full(count, 1.0 / axial))
    return View(shape @ places, pairs, "line", sparse.csr_array(shape), {"tension": field})
