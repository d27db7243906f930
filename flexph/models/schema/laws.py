"""Laws of springs and of cross-sections in model files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from flexph.laws import elastic_laws as make
from flexph.laws.force_laws import force_law
from flexph.laws.hysteresis import bouc_wen, bristle

from ...units.quantities import is_quantity, read_quantity
from ...units.words import shown
from ..reading.expressions import Expression
from .entry import Builder, Entry, one_of
from .fields import Force, Forces, Length, Number, Rates, Reads, by_shape, quantity, wrong
from .functions import FORMULA, TrustedEntry, as_function, formula_of, mapping_of

Stiffness, Extension = quantity(*make.STIFFNESSES), quantity(*make.EXTENSIONS)
SpringStiffness = quantity("N/m", "N*m/rad")
Damping = quantity("N*s/m", "N*m*s/rad")


def _polynomial(coefficients: Sequence[float]) -> make.ElasticLaw:
    return make.polynomial(*coefficients)


class Polynomial(Entry):
    """A spring with the force ``F = k₁x + k₂x² + …`` at the extension x, in SI units."""

    makes: ClassVar = staticmethod(_polynomial)
    kind: Literal["polynomial"] = "polynomial"
    coefficients: list[Number]


class Bilinear(Entry):
    """A spring with one stiffness up to an extension and another beyond it, see :func:`flexph.laws.bilinear`."""

    makes: ClassVar = staticmethod(make.bilinear)
    kind: Literal["bilinear"] = "bilinear"
    stiffness: Stiffness
    second: Stiffness
    beyond: Extension


class Backlash(Entry):
    """A spring with play, see :func:`flexph.laws.backlash`."""

    makes: ClassVar = staticmethod(make.backlash)
    kind: Literal["backlash"] = "backlash"
    stiffness: Stiffness
    play: Extension


class OneSided(Entry):
    """A spring with a force in tension only, or in compression only."""

    makes: ClassVar = staticmethod(make.one_sided)
    kind: Literal["one_sided"] = "one_sided"
    stiffness: Stiffness
    side: Literal["tension", "compression"]
    beyond: Extension = 0.0


class ForceTable(Entry):
    """A spring with measured forces at given extensions, joined by straight lines or a spline."""

    makes: ClassVar = staticmethod(make.table)
    kind: Literal["table"] = "table"
    extension: list[Extension]
    force: list[Forces]
    shape: Literal["linear", "cubic", "monotone", "akima"] = "linear"


class GasSpring(Entry):
    """A closed gas column, see :func:`flexph.laws.gas_spring`."""

    makes: ClassVar = staticmethod(make.gas_spring)
    kind: Literal["gas_spring"] = "gas_spring"
    force: Force
    column: Length
    exponent: Number = 1.0


class Gravitation(Entry):
    """Attraction by the inverse square of the distance, see :func:`flexph.laws.gravitation`."""

    makes: ClassVar = staticmethod(make.gravitation)
    kind: Literal["gravitation"] = "gravitation"
    strength: quantity("N*m^2")


def _of_extension(given: Any) -> Expression:
    if not isinstance(given, str):
        raise ValueError(f"got {shown(given)}: write a formula of the extension x such as '50*x**2'")
    return Expression(given, variable="x")


_Text = Annotated[Any, Reads(_of_extension, (("type", "string"), ("description", "a formula of the extension x")))]
Formula = by_shape("a formula of the extension x such as '50*x**2'", scalar=_Text, mapping=TrustedEntry)


class Potential(Entry):
    """A spring with any stored energy and its derivatives, as formulas of the extension x [m or rad]."""

    makes: ClassVar = staticmethod(make.potential)
    kind: Literal["potential"] = "potential"
    energy: Formula
    force: Formula
    stiffness: Formula = None


class ForceOfUser(Entry):
    """A force F(x, v, t) of extension x, its rate v and time t, by a function of a trusted file."""

    makes: ClassVar = staticmethod(force_law)
    kind: Literal["force_law"] = "force_law"
    function: TrustedEntry


class BoucWen(Entry):
    """A spring with hysteresis by the model of Bouc and Wen."""

    makes: ClassVar = staticmethod(bouc_wen)
    kind: Literal["bouc_wen"] = "bouc_wen"
    stiffness: SpringStiffness
    yield_force: Forces
    exponent: Number = 1.0
    shape: Number = 0.5


class Bristle(Entry):
    """Friction by bristles that bend and slip (LuGre model)."""

    makes: ClassVar = staticmethod(bristle)
    kind: Literal["bristle"] = "bristle"
    force: Forces
    stiffness: SpringStiffness
    damping: Damping = 0.0
    static: Forces = None
    stribeck: Rates = None
    viscous: Damping = 0.0


CONSTANT = (Polynomial, Bilinear, Backlash, OneSided, ForceTable, GasSpring, Gravitation, Potential)


class Scheduled(Entry):
    """A stiffness or law times a function of time, see :func:`flexph.laws.scheduled`."""

    makes: ClassVar = staticmethod(make.scheduled)
    kind: Literal["scheduled"] = "scheduled"
    law: by_shape("a stiffness, or a law", scalar=Stiffness, mapping=one_of(CONSTANT))
    factor: by_shape(FORMULA, scalar=formula_of(""), mapping=mapping_of(""))

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """Arguments of :meth:`call`, with the factor converted to a function of time."""
        given = super().arguments(builder)
        return given | {"factor": as_function(given["factor"])}


class Controlled(Entry):
    """A stiffness or law times a factor 1 + u, with u set by an input or a controller.

    The input u belongs to an external port with the name of the spring, see :func:`flexph.laws.controlled`.
    """

    makes: ClassVar = staticmethod(make.controlled)
    kind: Literal["controlled"] = "controlled"
    law: by_shape("a stiffness, or a law", scalar=Stiffness, mapping=one_of(CONSTANT))


ELASTIC = (*CONSTANT, Scheduled, Controlled)
LAWS = (*ELASTIC, ForceOfUser, BoucWen, Bristle)
SpringLaw = one_of(LAWS)
SectionLaw = one_of((*CONSTANT, Scheduled))

OF_FORCES = {"stiffness": "N", "extension": "", "force": "N"}
OF_MOMENTS = {"stiffness": "N*m^2", "extension": "1/m", "force": "N*m"}
"""Units of laws of sections: of forces over strains, and of moments over curvatures."""
DIMENSIONS = {
    **{"stiffness": "stiffness", "second": "stiffness", "law": "stiffness", "force": "force"},
    **{"beyond": "extension", "play": "extension", "extension": "extension"},
}
"""Quantity of each setting of a law."""


def _fitting(given: Any) -> Any:
    """Check the units in the laws of a section, which are given by resultant; return the mapping unchanged.

    Resultants whose names begin with N or Q are forces, others are moments; a unit of the other kind is an error.
    """
    for name, law in given.items() if isinstance(given, dict) else ():
        _check_units(f"{name}: ", law, OF_FORCES if str(name)[:1] in ("N", "Q") else OF_MOMENTS)
    return given


def _check_units(where: str, law: Any, units: Mapping[str, str]) -> None:
    for name, value in law.items() if isinstance(law, dict) else ():
        if isinstance(value, dict):
            _check_units(f"{where}{name}: ", value, units)
        elif name in DIMENSIONS:
            for text in value if isinstance(value, list) else [value]:
                _check_unit(f"{where}{name}: ", text, units[DIMENSIONS[name]])


def _check_unit(where: str, text: Any, unit: str) -> None:
    if isinstance(text, str) and is_quantity(text):
        try:
            read_quantity(text, unit)
        except ValueError as error:
            raise wrong(f"{where}{error}") from None


SectionLaws = Annotated[dict[str, SectionLaw], BeforeValidator(_fitting)]
EACH = "a law, or a list with a law or null for each axis"
SpringLaws = by_shape(EACH, mapping=SpringLaw, sequence=list[SpringLaw | None])
