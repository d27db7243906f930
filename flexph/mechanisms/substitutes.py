"""Springs and constraints that act as contacts at rest.

A gap is g = ±m − c, where m is a length or component of world vectors. A compliant contact is a spring on m with its
potential V(−g) where it is closed. A closed rigid contact is a constraint g = 0. Its multiplier is the normal force;
for the rim of an inclined disc it is that force divided by the sine of the angle between axis and normal. Where
friction holds, the point of contact does not move along the tangents either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contacts.laws import Hertz, Rigid
from ..joints.rows.connection import Connection, Form, Gap, Measure, Row
from ..joints.rows.distances import Distance, distance_along
from ..joints.rows.laws import Angle, Distances, Law, Length, Offset
from ..joints.rows.laws import Contact as OnRim
from ..joints.rows.vectors import BodyVector, Product, Vector, frame_about
from ..laws.elastic_laws import ElasticLaw, one_sided, potential
from .model.model import Model

KINDS = {"offset": "component", "distance": "length", "angle": "angle"}
"""Kind of the measure m (component, length or angle) for each kind of gap."""
OF_DISTANCES = ("shape", "segments", "face")
"""Kinds of gaps that are distances to edges and faces; their measure is this distance."""


@dataclass(frozen=True)
class Touch:
    """Gap of a contact that a spring or constraint replaces in statics, with the name of that substitute.

    If several faces of a skin carry a ball, each further face has the same gap as the first one, its ``lead``.
    """

    name: str
    contact: Connection
    gap: Gap
    lead: Gap | None = None

    @property
    def is_rigid(self) -> bool:
        """True if the law of the contact is rigid."""
        return isinstance(self.gap.law, Rigid)

    @property
    def is_sprung(self) -> bool:
        """True if a spring replaces the contact."""
        return not self.is_rigid and self.lead is None

    @property
    def friction(self) -> float:
        """Coefficient of friction of the contact, 0 without friction."""
        return float(getattr(self.gap.law, "friction", 0.0))

    @property
    def holding(self) -> float:
        """Stiffness [N/m] of the springs that hold the point of a sticking compliant contact.

        It is zero if the friction of the contact is a smooth function of the slip.
        """
        return float(getattr(self.gap.law, "holding", 0.0))

    @property
    def value(self) -> float:
        """Value m₀ of the measure m of the gap (a length, component or angle) at which the gap closes."""
        return self.gap.sign * self.gap.offset

    @property
    def has_tangents(self) -> bool:
        """True if sticking friction can hold the contact along its tangents by constraints or springs.

        The contact must be that of a point with a plane: on a ball or disc, friction would also exert a torque.
        """
        sticks = self.is_rigid or self.holding > 0.0
        return sticks and self.gap.kind == "offset" and self.gap.radii == (0.0, 0.0) and self.friction > 0.0

    @property
    def is_rim(self) -> bool:
        """True for the rim of a disc on a plane, whose gap no spring can replace."""
        return self.gap.kind == "rim"

    def spring(self, law: ElasticLaw | None = None) -> Connection:
        """Spring with the potential of the contact, or with another elastic law of the extension m − m₀.

        For a face with a ``lead`` the result is the constraint of equal gaps, whose multiplier is the share of this
        face.
        """
        if self.lead is not None:
            distances = self._distance(self.gap), self._distance(self.lead)
            return self._as(Form(rows=(Row("share", Distances((1.0, -1.0), distances)),)))
        if self.gap.kind in OF_DISTANCES:
            substitute = Measure(
                "distance", (), 0.0, 0.0, self.value, law=law or self.law(), distance=self._distance(self.gap)
            )
            return self._as(Form(measures=(substitute,)))
        kind: Any = KINDS[self.gap.kind]
        measure = Measure(kind, self._products(), 0.0, 0.0, self.value, law=law or self.law())
        return self._as(Form(measures=(measure,)))

    def law(self) -> ElasticLaw:
        """Elastic law of a compliant contact as a function of the extension m − m₀.

        It has no force while the gap is open.
        """
        contact_law, sign = self.gap.law, self.gap.sign
        if not isinstance(contact_law, Hertz):
            return self.one_sided(contact_law.stiffness)
        k = contact_law.stiffness

        def depth(x: float) -> float:
            return max(-sign * x, 0.0)

        energy: Callable[[float], float] = lambda x: 0.4 * k * depth(x) ** 2.5  # noqa: E731
        return potential(energy, lambda x: -sign * k * depth(x) ** 1.5, lambda x: 1.5 * k * depth(x) ** 0.5)

    def one_sided(self, stiffness: float) -> ElasticLaw:
        """Elastic law of a linear spring [N/m] that acts only while the gap is closed."""
        return one_sided(stiffness, side="compression" if self.gap.sign > 0.0 else "tension")

    def row(self) -> Connection:
        """Constraint that keeps the gap closed."""
        law: Law
        if self.gap.kind in OF_DISTANCES:
            law = Distances((1.0,), (self._distance(self.gap),), self.value)
            return self._as(Form(rows=(Row("normal", law),)))
        products, value = self._products(), self.value
        if self.gap.kind == "offset":
            law = Offset(products[0], value)
        elif self.gap.kind == "distance":
            law = Length(products[0], value)
        elif self.is_rim:
            (height, tilt), (radius, crown) = products, self.gap.radii
            law = OnRim(height, tilt, radius, crown)
        else:
            law = Angle(products[0], products[1], value)
        return self._as(Form(rows=(Row("normal", law, "N m" if self.gap.kind == "angle" else "N"),)))

    def tangent_rows(self, dim: int) -> Connection:
        """Joint with constraints that hold the point of contact along the tangents of the plane; ``dim`` is 2 or 3."""
        apart, normal, _ = self.gap.vectors
        rows = [Row(f"tangent {k + 1}", Offset(Product(apart, t), None)) for k, t in enumerate(_tangents(normal, dim))]
        return self._as(Form(rows=tuple(rows)), name=f"{self.name}: friction")

    def tangent_springs(self, stiffness: float, dim: int) -> Connection:
        """Springs of a stiffness [N/m] that hold the point of contact along the tangents of the plane.

        ``dim`` is 2 or 3.
        """
        apart, normal, _ = self.gap.vectors
        measures = [
            Measure("component", (Product(apart, t),), stiffness, 0.0, None, f"tangent {k + 1}")
            for k, t in enumerate(_tangents(normal, dim))
        ]
        return self._as(Form(measures=tuple(measures)), name=f"{self.name}: friction")

    def _as(self, form: Form, name: str | None = None) -> Connection:
        return Connection("contact", self.contact.ports, label=name or self.name, form=form)

    @staticmethod
    def _distance(gap: Gap) -> Distance:
        kind: Any = gap.kind
        return distance_along(kind, gap.vectors, gap.shape, gap.blend, gap.offset)

    def _products(self) -> tuple[Product, ...]:
        v, w, u = self.gap.vectors
        if self.gap.kind == "distance":
            return (Product(v, v),)
        if self.is_rim:
            return Product(v, w), Product(w, u)
        return (Product(v, w),) if self.gap.kind == "offset" else (Product(v, w), Product(v, u))


def name_of(contact: Connection, k: int) -> str:
    """Name of the gap with the number ``k`` of a contact: the contact's name, with the name or number of the gap added.

    Only a single gap that is no face of a skin has the name of the contact alone.
    """
    gap = contact.form.gaps[k]
    is_alone = len(contact.form.gaps) == 1 and gap.kind != "face"
    return contact.name if is_alone else f"{contact.name}: {gap.name or k + 1}"


def touches_of(mechanism: Model, what: str) -> list[Touch]:
    """Gaps of all contacts of a mechanism, to be replaced in statics.

    Raises ValueError, naming the contact and the method ``what``, for contacts that equilibria do not support.
    """
    touches = []
    leads: dict[tuple[str, int], Gap] = {}
    for contact in mechanism.connections:
        if contact.form.group is not None:
            raise ValueError(f"{what} does not support mutual contacts of many balls, and {contact.name!r} is one")
        for k, gap in enumerate(contact.form.gaps):
            if gap.kind not in (*KINDS, *OF_DISTANCES) and not (gap.kind == "rim" and isinstance(gap.law, Rigid)):
                raise ValueError(
                    f"{what} takes contacts of points and balls, stops, and rims with the law Rigid; {contact.name!r} "
                    "is of another kind"
                )
            if (gap.is_carried or gap.driven) and gap.law.friction > 0.0:
                raise ValueError(
                    f"{what} supports no moving surfaces with friction, and {contact.name!r} has one: use integrate()"
                )
            if getattr(gap.law, "friction_factor", None) is not None:
                raise ValueError(
                    f"{what} supports no friction with a factor of time, and {contact.name!r} has one: leave the "
                    "friction_factor out"
                )
            name = name_of(contact, k)
            is_shared = gap.kind == "face" and not isinstance(gap.law, Rigid)
            lead = leads.setdefault((contact.name, gap.skin), gap) if is_shared else gap
            touches.append(Touch(name, contact, gap, None if lead is gap else lead))
    return touches


def _tangents(normal: Vector, dim: int) -> list[Vector]:
    """Unit vectors perpendicular to the normal of a plane, in the axes of its section.

    There is one in the plane, and two in space.
    """
    direction = normal.fixed if normal.plus is None else normal.plus.direction
    assert direction is not None
    unit = np.array(direction) / np.linalg.norm(direction)
    directions = [(-unit[1], unit[0])] if dim == 2 else list(frame_about(tuple(unit.tolist())))
    tangents = [tuple(float(x) for x in d) for d in directions]
    if normal.plus is None:
        return [Vector(fixed=d) for d in tangents]
    return [Vector(plus=BodyVector(normal.plus.port, d)) for d in tangents]
