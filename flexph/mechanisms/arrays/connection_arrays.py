"""Kernel arrays of connections: spring-dampers, ropes, rolling constraints, slips, bearings and curves.

The arrays refer to points, world vectors and products V·W of two such vectors by their indices (:class:`Numbering`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody
from ...bodies.ports import find_port
from ...contacts.arrays import factor_key, numbers_of_factors
from ...contacts.laws import Compliant
from ...joints.rows.connection import Connection, Measure, measures, owned_measures
from ...joints.rows.distances import Distance
from ...joints.rows.laws import Contact, Distances, PlaceOnCurve, PointOnCurve
from ...joints.rows.laws import Rolling as RollingLaw
from ...joints.rows.rope_path import RopePath
from ...joints.rows.vectors import BodyVector, Product, Turn, Vector
from ...kernels.arrays import Rolling
from ...kernels.contacts.distances import ClosedGap
from ...kernels.contacts.distances import Distance as DistanceArray
from ...kernels.rates.curves import Curve, pieces
from ...kernels.rates.slips import Bearings, Slips, no_bearings
from ...kernels.ropes import Ropes
from ...kernels.spring_arrays import Springs
from ...laws.elastic_laws import ElasticLaw
from ...laws.force_laws import ForceLaw
from ...laws.hysteresis import HysteresisLaw
from ...laws.resistive_relations import ScheduledRelation
from ...numerics import checks as check
from ...numerics.rotations import spins


@dataclass
class Numbering:
    """Numbers of the world vectors in a mechanism, of the points they join, and of their products V·W.

    Each kind is numbered from 0 in order of first use; equal ones share a number.
    """

    places: dict[BodyVector, int] = field(default_factory=dict)
    vectors: dict[Vector, int] = field(default_factory=dict)
    products: dict[Product, int] = field(default_factory=dict)

    def product(self, product: Product) -> int:
        """Index of a product V·W.

        A new product gets the next index, and so do its vectors and their end points if they are new.
        """
        for vector in (product.first, product.second):
            for place in (vector.plus, vector.minus):
                if place is not None:
                    self.places.setdefault(place, len(self.places))
            self.vectors.setdefault(vector, len(self.vectors))
        return self.products.setdefault(product, len(self.products))


def indices(values: Any) -> np.ndarray:
    """Integer array for indexing, from an iterable of numbers."""
    return np.array(list(values), dtype=int)


UPRIGHT = 1.0 - 1e-8
"""Least cosine of the tilt of a moving surface on which wheels may roll (a tilt of 0.14 mrad)."""
FLAT = 1e-6
"""Sine of the angle between a disc and the ground, above which the disc has a single point of contact."""


def spring_arrays(connections: Sequence[Connection], numbering: Numbering) -> Springs:
    """Kernel arrays of the springs and dampers of all connections, with one entry for each measure.

    A measure is the length, component or angle in which a spring or damper acts. The arrays have the products V·W of
    each measure, its coefficients and laws, and the index of its state (−1 if it has none).
    """
    ordered = [m for _, m in measures(connections)]
    state = np.cumsum([m.has_state for m in ordered]) - 1
    laws = [(i, m.law) for i, m in enumerate(ordered) if isinstance(m.law, ElasticLaw)]
    forces = [(i, m.law) for i, m in enumerate(ordered) if isinstance(m.law, ForceLaw)]
    paths = [(i, m.law) for i, m in enumerate(ordered) if isinstance(m.law, HysteresisLaw)]
    take = lambda kind, i: indices(numbering.product(m.products[i]) for m in ordered if m.kind == kind)  # noqa: E731
    return Springs(
        length_product=take("length", 0),
        component_product=take("component", 0),
        sine_product=take("angle", 0),
        cosine_product=take("angle", 1),
        stiffness=np.array([m.stiffness for m in ordered]),
        damping=np.array([0.0 if m.relation else m.damping for m in ordered], dtype=float),
        state=indices(int(k) if m.has_state else -1 for k, m in zip(state, ordered, strict=True)),
        lawful=indices(i for i, _ in laws),
        laws=tuple(law for _, law in laws),
        forced=indices(i for i, _ in forces),
        force_laws=tuple(law for _, law in forces),
        hysteretic=indices(i for i, _ in paths),
        hysteresis=tuple(law for _, law in paths),
        ropes=rope_arrays([m.path for m in ordered if m.path is not None], numbering),
        distances=tuple(distance_array(m.distance, numbering) for m in ordered if m.distance is not None),
        **_relations(ordered),
    )


def rope_arrays(paths: Sequence[RopePath], numbering: Numbering) -> Ropes:
    """Kernel arrays of ropes: straight spans, angles of spans about sheaves, arcs, and spans that end on gripped discs.

    ``paths`` has one path for each rope. The products of the paths are added to ``numbering``.
    """
    if not paths:
        return Ropes()
    spans = [(i, span) for i, path in enumerate(paths) for span in path.spans]
    arcs = [(i, arc) for i, path in enumerate(paths) for arc in path.arcs]
    grips = [(i, grip) for i, path in enumerate(paths) for grip in path.grips]
    firsts = np.cumsum([0, *(len(path.spans) for path in paths)])
    angles: list[tuple[int, float, tuple[Product, Product], int]] = []  # of each rope in succession, with its span
    of_arc, of_grip = [], []
    for i, path in enumerate(paths):
        for arc in path.arcs:
            of_arc.append(len(angles))
            span = firsts[i] + arc.span
            angles += [(i, -arc.radius, arc.arriving, span), (i, arc.radius, arc.leaving, span + 1)]
        for grip in path.grips:
            of_grip.append(len(angles))
            angles.append((i, grip.weight, grip.angle, firsts[i] + grip.span))
    return Ropes(
        number=len(paths),
        span_rope=indices(i for i, _ in spans),
        square=indices(numbering.product(span.square) for _, span in spans),
        offset=np.array([span.offset for _, span in spans]),
        angle_rope=indices(i for i, *_ in angles),
        sine=indices(numbering.product(sine) for _, _, (sine, _), _ in angles),
        cosine=indices(numbering.product(cosine) for _, _, (_, cosine), _ in angles),
        radius=np.array([rho for _, rho, _, _ in angles]),
        angle_span=indices(span for *_, span in angles),
        arc_rope=indices(i for i, _ in arcs),
        arriving=indices(firsts[i] + arc.span for i, arc in arcs),
        angle=indices(of_arc),
        sheave=np.array([arc.radius for _, arc in arcs]),
        turns=np.array([float(arc.turns) for _, arc in arcs]),
        grip_rope=indices(i for i, _ in grips),
        gripped=indices(firsts[i] + grip.span for i, grip in grips),
        grip_angle=indices(of_grip),
    )


def distance_array(own: Distance, numbering: Numbering) -> DistanceArray:
    """Kernel array of one distance between the surfaces of a closed contact, with the indices of its products V·W."""
    return DistanceArray(own.kind, indices(map(numbering.product, own.products)), own.shape, own.blend, own.reach)


def closed_arrays(connections: Sequence[Connection], numbering: Numbering) -> tuple[ClosedGap, ...]:
    """Constraint rows that keep contacts closed in statics, each with its index among all rows and its distances."""
    laws = enumerate(row.law for c in connections for row in c.rows)
    numbered = [(i, law) for i, law in laws if isinstance(law, Distances)]
    return tuple(
        ClosedGap(i, law.weights, tuple(distance_array(one, numbering) for one in law.distances)) for i, law in numbered
    )


def rolling_arrays(connections: Sequence[Connection], numbering: Numbering, bodies: Mapping[str, AnyBody]) -> Rolling:
    """Kernel arrays of the rolling constraints of all connections.

    They list the terms w Π_by Π̇ of the constraint rates (Π, Π_by are products V·W), the spins of bodies that enter the
    rows, and the products that must stay above a limit: heights of discs, and uprightness of the surfaces on which
    wheels roll.
    """
    rows = [(i, c, c.rows[k].law) for i, (c, k) in enumerate((c, k) for c in connections for k in range(len(c.rows)))]
    terms = [(i, term, not law.of_rates) for i, _, law in rows for term in law.weighed]
    turns = [(i, _spinning(c, turn, bodies), turn.axis) for i, c, law in rows for turn in law.turns]
    positive = [(i, law.height, FLAT * law.radius) for i, _, law in rows if isinstance(law, Contact)]
    positive += [(i, law.upright, UPRIGHT) for i, _, law in rows if isinstance(law, RollingLaw) and law.upright]
    return Rolling(
        row=indices(i for i, _, _ in terms),
        product=indices(numbering.product(term.product) for _, term, _ in terms),
        by=indices(numbering.product(term.by) for _, term, _ in terms),
        weight=np.array([term.weight for _, term, _ in terms]),
        square=indices(int(of_position) for _, _, of_position in terms),
        angular=indices(int(term.angular) for _, term, _ in terms),
        spin_row=indices(i for i, _, _ in turns),
        spin_body=indices(body for _, body, _ in turns),
        spin_axis=np.array([a for _, _, a in turns]).reshape(len(turns), spins(next(iter(bodies.values())).dim)),
        free=indices(int(law.of_rates) for _, _, law in rows),
        positive_row=indices(i for i, _, _ in positive),
        positive=indices(numbering.product(product) for _, product, _ in positive),
        least=np.array([least for _, _, least in positive]),
    )


def slip_arrays(connections: Sequence[Connection], numbering: Numbering) -> Slips:
    """Kernel arrays of all slip velocities.

    They list the terms of each component of slip, the wheel load (the multiplier of a row, or the normal force of a
    compliant contact), and the friction relation or creep law of each slip.
    """
    slips_here = [(c, slip) for c in connections for slip in c.form.slips]
    components = [(i, c, terms) for i, (c, slip) in enumerate(slips_here) for terms in slip.components]
    terms = [(k, term) for k, (_, _, terms) in enumerate(components) for term in terms]
    curves = _on_curves(connections)
    first = _first_rows(connections)
    return Slips(
        row=indices(k for k, _ in terms),
        product=indices(numbering.product(term.product) for _, term in terms),
        by=indices(numbering.product(term.by) for _, term in terms),
        weight=np.array([term.weight for _, term in terms]),
        angular=indices(int(term.angular) for _, term in terms),
        also=indices(-1 if term.also is None else numbering.product(term.also) for _, term in terms),
        slip=indices(i for i, _, _ in components),
        curve=indices(-1 if terms else curves.index(c.name) for _, c, terms in components),
        load=indices(-1 if slip.load is None else first[c.name] + slip.load for c, slip in slips_here),
        contact=indices(
            -1 if slip.contact is None else _loading(connections, c.name, slip.contact) for c, slip in slips_here
        ),
        relations=tuple(slip.friction for _, slip in slips_here),
    )


def _loading(connections: Sequence[Connection], wheel: str, name: str) -> int:
    """Index, among the connections that are contacts, of the compliant contact ``name`` that gives a wheel its load.

    Raises ValueError for unknown names, contacts of many balls, and laws that are rigid or have friction of their own.
    """
    touching = {c.name: (i, c) for i, c in enumerate(c for c in connections if c.touches)}
    number, contact = check.lookup("contact", name, touching, wheel)
    if contact.form.group is not None:
        raise ValueError(f"{wheel}: contact must be that of a wheel with its ground, got {name!r} of many balls")
    for gap in contact.form.gaps:
        if not isinstance(gap.law, Compliant) or gap.law.friction > 0.0:
            raise ValueError(
                f"{wheel}: contact must have a compliant law without friction, Hertz or KelvinVoigt, as the wheel has "
                f"its own friction, got {gap.law} of {name!r}"
            )
    return number


def bearing_arrays(connections: Sequence[Connection], dim: int) -> Bearings:
    """Kernel arrays of the bearings with dry friction.

    For each bearing these are the slips with their levers, the coefficient of friction, and the constraint rows whose
    multipliers are the forces that press the surfaces together.
    """
    with_bearing = [c for c in connections if c.form.bearing is not None]
    if not with_bearing:
        return no_bearings(dim)
    slips: dict[str, list[tuple[int, float]]] = {c.name: [] for c in with_bearing}
    for i, (c, measure) in enumerate(owned_measures(connections)):
        if measure.lever:
            slips[c.name].append((i, measure.lever))
    factors = numbers_of_factors(connections)
    spring, lever = np.full((dim - 1, len(with_bearing)), -1), np.zeros((dim - 1, len(with_bearing)))
    for i, c in enumerate(with_bearing):
        for t, (k, arm) in enumerate(slips[c.name]):
            spring[t, i], lever[t, i] = k, arm
    first = _first_rows(connections)
    bearings = [c.form.bearing for c in with_bearing if c.form.bearing is not None]
    curves = _on_curves(connections)
    return Bearings(
        spring,
        lever,
        curve=indices(
            curves.index(c.name) if b.along_curve else -1 for c, b in zip(with_bearing, bearings, strict=True)
        ),
        friction=np.array([b.friction.coefficient for b in bearings]),
        row=indices(first[c.name] + k for c, b in zip(with_bearing, bearings, strict=True) for k in range(b.pressing)),
        owner=np.repeat(np.arange(len(with_bearing)), [b.pressing for b in bearings]),
        rubbing=indices(
            factors.get(factor_key(c, b.friction.factor), -1) for c, b in zip(with_bearing, bearings, strict=True)
        ),
    )


def _first_rows(connections: Sequence[Connection]) -> dict[str, int]:
    """Index of the first constraint row of each connection among all rows of a mechanism, by name of the connection."""
    firsts = np.cumsum([0, *(len(c.rows) for c in connections)]).tolist()
    return dict(zip([c.name for c in connections], firsts, strict=False))


def _on_curves(connections: Sequence[Connection]) -> list[str]:
    """Names of the connections that hold a port on a curve, in the order of :func:`curve_arrays`."""
    return [c.name for c in connections if any(isinstance(row.law, PointOnCurve) for row in c.rows)]


def curve_arrays(connections: Sequence[Connection], numbering: Numbering) -> tuple[Curve, ...]:
    """Kernel arrays of the curves on which ports slide, one for each connection with such a port.

    Each has the indices of the constraint rows that hold the port on the curve, the indices (rows, terms) of their
    products, the polynomials of the curve, and a flag that tells whether the place on the curve is prescribed in time.
    """
    firsts = np.cumsum([0, *(len(c.rows) for c in connections)])
    curves = []
    for c, first in zip(connections, firsts, strict=False):
        laws = [(int(first) + i, row.law) for i, row in enumerate(c.rows) if isinstance(row.law, PointOnCurve)]
        if laws:
            shape, driven = laws[0][1].curve, any(isinstance(law, PlaceOnCurve) for _, law in laws)
            products = np.array([[numbering.product(p) for p in one] for one in shape.products])
            on_curves = np.array([i for i, _ in laws])
            curves.append(Curve(on_curves, products, *pieces(np.array(shape.at), shape.degree), driven=driven))
    return tuple(curves)


def pushed_curves(
    curves: tuple[Curve, ...], connections: Sequence[Connection], slices: Mapping[str, slice]
) -> tuple[Curve, ...]:
    """Curves with the indices of the inputs that push the ports along them; −1 for a curve without such an input.

    ``slices`` are the inputs of the mechanism by the names of their connections.
    """
    inputs = (slices[name].start if name in slices else -1 for name in _on_curves(connections))
    return tuple(curve._replace(input=i) for curve, i in zip(curves, inputs, strict=True))


def _spinning(connection: Connection, turn: Turn, bodies: Mapping[str, AnyBody]) -> int:
    """Index of the body whose spin enters a rolling constraint of a connection.

    Raises ValueError if the port of the spin belongs to a point mass, or to a section that rotates as the body deforms.
    """
    index, port = find_port(turn.port, bodies)
    if port.rotation is None:
        raise ValueError(f"{connection.name}: a point mass cannot roll: use a body with inertia")
    if sparse.csr_array(port.rotation).count_nonzero():
        raise ValueError(
            f"{connection.name}: the section at {turn.port!r} turns relative to its body when that deforms: weld a "
            "rigid body to it and let that roll"
        )
    return index


def _relations(ordered: Sequence[Measure]) -> dict[str, Any]:
    """Fields of :class:`Springs` for the spring-dampers whose damping force is a nonlinear relation of the rate.

    They are the indices of these spring-dampers among all ``ordered`` measures, their relations ρ(s), and the
    derivatives dρ/ds at s = 0. ``relation_factors`` lists the relations that have a factor of time, each with its index
    and this factor.
    """
    numbered = [(i, m.relation, m.damping) for i, m in enumerate(ordered) if m.relation is not None]
    return {
        "resisting": indices(i for i, _, _ in numbered),
        "relations": tuple(r for _, r, _ in numbered),
        "steepness": np.array([float(r.slope(0.0)) for _, r, _ in numbered]),
        "relation_factors": tuple(
            (i, given.factor) for i, _, given in numbered if isinstance(given, ScheduledRelation)
        ),
    }
