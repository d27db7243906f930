"""Functions in model files: of time (drives, inputs) and of a rate (friction, damping)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Discriminator, PrivateAttr, Tag
from pydantic_core import PydanticCustomError
from scipy.spatial.transform import Rotation

from flexph.joints.rows.friction import CoulombFriction as CoulombLaw
from flexph.laws.creep_laws import creep, magic_formula
from flexph.laws.elastic_laws import controlled, scheduled
from flexph.laws.resistive_relations import coulomb, quadratic, resistive, viscous
from flexph.view.live.dials import Dial

from ...units.quantities import is_quantity, read_quantity, read_unit
from ...units.words import shown
from ..reading.expressions import Expression
from ..reading.functions import Interpolation, function_of_table, trusted_function
from .entry import Builder, Entry, InUnit, one_of
from .fields import TAG, File, Forces, Length, Number, Rates, Reads, Time, by_shape, quantity
from .motions import Profile, Profiles
from .rotations import turned


class ExpressionEntry(Entry):
    """A formula of the time t [s], in SI units or in ``unit``: ``{expression: 360*t, unit: deg}``."""

    expression: str
    unit: str = ""

    def build(self, builder: Builder) -> Expression:
        """Build the function of the entry."""
        with builder.refusals(self):
            return Expression(self.expression, factor=_factor(builder, self.unit, "unit"))


class TableEntry(Entry):
    """A function of time that interpolates a file of comma-separated values, with column names in its first row."""

    table: File
    time: str = "t"
    value: str | list[str]
    unit: str = ""
    time_unit: str = "s"
    interpolation: Interpolation = "linear"

    def build(self, builder: Builder) -> Any:
        """Build the interpolated function of time from the columns of the table."""
        factors = _factor(builder, self.time_unit, "time_unit"), _factor(builder, self.unit, "unit")
        path = builder.of(self.table, "table")
        values = [self.value] if isinstance(self.value, str) else self.value
        with builder.refusals():
            return function_of_table(path, self.time, values, factors=factors, interpolation=self.interpolation)


class DialEntry(InUnit):
    """A parameter with a slider in live views, see :class:`flexph.view.Dial`.

    Its value and bounds are in ``unit``. The parameter is built once for a file, so that functions of time and live
    views share it.
    """

    makes: ClassVar = Dial
    scaled: ClassVar = frozenset({"value", "low", "high"})
    value: Number
    low: Number
    high: Number
    ramp: Time = 0.05
    _dial: Dial | None = PrivateAttr(default=None)

    def build(self, builder: Builder) -> Dial:
        """Build the parameter at the first call; return the same parameter later."""
        if self._dial is None:
            factor = _factor(builder, self.unit, "unit")
            with builder.refusals(self):
                bounds = {"low": factor * self.low, "high": factor * self.high}
                self._dial = Dial(factor * self.value, **bounds, ramp=self.ramp)
        return self._dial


class OfDial(Entry):
    """Reference to a parameter of the section ``dials`` by its name."""

    dial: str
    _units: tuple[str, ...] = PrivateAttr(default=())

    def build(self, builder: Builder) -> Dial:
        """Parameter of the section ``dials`` with this name."""
        entry = builder.sections.get("dials", {}).get(self.dial)
        if isinstance(entry, DialEntry) and self._units:
            with builder.at("dial").refusals():
                refuse_unit(entry.unit, *self._units)
        function: Dial = builder.at("dial").named("dials", self.dial)
        return function


class TrustedEntry(Entry):
    """A Python function by its import path, ``package.module:name``; allowed with --trust only."""

    function: str

    def build(self, builder: Builder) -> Any:
        """Import the function that the entry names. Raises Misfit if the model file is not trusted."""
        with builder.at("function").refusals():
            return trusted_function(self.function, builder.folder, trust=builder.trust)


def _factor(builder: Builder, unit: str, name: str) -> float:
    with builder.at(name).refusals():
        return read_unit(unit) if unit else 1.0


def formula_of(*units: str, words: tuple[str, ...] = ()) -> Any:
    """Field type of a number with one of the ``units``, an expression of t, or one of the ``words``."""

    def read(given: Any) -> Any:
        if given in words:
            return given
        return Expression(given) if isinstance(given, str) and not is_quantity(given) else read_quantity(given, *units)

    described = " or ".join(["a number, or a formula of t", *words])
    return Annotated[Any, Reads(read, (("type", ["number", "string"]), ("description", described)))]


def _mapping_tag(given: Any) -> str:
    names = type(given).model_fields if isinstance(given, Entry) else given
    return TAG + next((word for word in ("table", "function", "kind", "dial") if word in names), "expression")


FunctionMapping = Annotated[
    Annotated[ExpressionEntry, Tag(f"{TAG}expression")]
    | Annotated[TableEntry, Tag(f"{TAG}table")]
    | Annotated[TrustedEntry, Tag(f"{TAG}function")]
    | Annotated[OfDial, Tag(f"{TAG}dial")]
    | Annotated[Profiles, Tag(f"{TAG}kind")],
    Discriminator(_mapping_tag),
]


def refuse_unit(unit: str, *units: str) -> None:
    """Raise ValueError if ``unit`` is a unit of another quantity than the given ``units``.

    An empty or unknown unit is accepted.
    """
    if not unit:
        return
    try:
        read_unit(unit)
    except ValueError:
        return
    read_quantity(f"1 {unit}", *units)


def mapping_of(*units: str) -> Any:
    """Field type of a function of time that is written as a mapping, with values in one of the ``units``.

    The mapping is a formula, a table, a motion, or a reference to a dial.
    """

    def of_quantity(given: Any) -> Any:
        if isinstance(given, OfDial):
            given._units = units
        elif isinstance(given, ExpressionEntry | TableEntry | Profile):
            try:
                refuse_unit(given.unit, *units)
            except ValueError as error:
                raise PydanticCustomError("model_file", "{text}", {"text": str(error), "name": "unit"}) from None
        return given

    return Annotated[FunctionMapping, AfterValidator(of_quantity)]


FORMULA = "a formula of t such as '150*t', a table, a motion, or a dial"
AngleFunction = by_shape(FORMULA, scalar=formula_of("rad"), mapping=mapping_of("rad"))
SpeedFunction = by_shape(f"a speed, or {FORMULA}", scalar=formula_of("m/s"), mapping=mapping_of("m/s"))
LengthFunction = by_shape(FORMULA, scalar=formula_of("m"), mapping=mapping_of("m"))
PlaceFunction = by_shape(f"a list of two or three of {FORMULA}", sequence=list[LengthFunction], mapping=mapping_of("m"))
_Force = formula_of("N", "N*m", "N/m", "N/m^2", "N/m^3")
_Component = by_shape(f"a force, or {FORMULA}", scalar=_Force, mapping=FunctionMapping)
InputValue = by_shape(
    f"a force, {FORMULA}; or a list of components", scalar=_Force, sequence=list[_Component], mapping=FunctionMapping
)


def as_function(given: Any) -> Any:
    """Function of time for the value of a field: the value itself if it is a function, or a constant one for a number.

    A list of functions and numbers gives a vector-valued function, with a component for each item. The text ``input``
    is returned unchanged.
    """
    if callable(given) or given == "input":
        return given
    if isinstance(given, list):
        return Components(tuple(as_function(item) for item in given))
    return Expression(repr(float(given)))


def refuse_undefined(function: Any, time: float, when: str) -> None:
    """Raise ValueError if a function of time has no finite value at a time [s].

    ``when`` names the time in the error.
    """
    name = f" {function.text!r}" if isinstance(function, Expression) else ""
    try:
        with np.errstate(all="ignore"):
            value = function(time)
    except Exception as error:  # user functions may raise anything
        raise ValueError(f"the function{name} fails at t = {time:.6g} s, {when}: {error}") from error
    entries = value.as_matrix() if isinstance(value, Rotation) else value
    if not np.all(np.isfinite(np.asarray(entries, dtype=float))):
        raise ValueError(f"the function{name} is not finite at t = {time:.6g} s, {when}")


class Driven(Entry):
    """Base of entries whose fields listed in ``motions`` prescribe a motion, by a function of time or a constant."""

    motions: ClassVar[tuple[str, ...]]

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """Arguments of :meth:`call`, with prescribed motions converted to functions of time."""
        given = super().arguments(builder)
        return given | {name: as_function(given[name]) for name in self.motions if name in given}

    def check_at(self, time: float, builder: Builder, when: str = "the start") -> None:
        """Raise Misfit if a prescribed motion has no value at a time [s].

        ``when`` names the time in the error.
        """
        given = self.arguments(builder)
        for name in self.motions:
            if name in given:
                with builder.at(name).refusals():
                    refuse_undefined(given[name], time, when)


@dataclass(frozen=True)
class Components:
    """Vector-valued function of time (k,) with one scalar function for each component."""

    functions: tuple[Any, ...]

    def __call__(self, time: float) -> list[float]:
        """Values at a time. Raises ValueError for a component that is no scalar."""
        values = [np.asarray(function(time), dtype=float) for function in self.functions]
        for k, value in enumerate(values):
            if value.size != 1:
                raise ValueError(f"component {k} of a list must be one number, got {value.size}: use one column")
        return [float(value.item()) for value in values]


@dataclass(frozen=True)
class Turned:
    """Rotation about an ``axis`` (3,) by an ``angle`` that is a function of time."""

    axis: Any
    angle: Any

    def __call__(self, time: float) -> Any:
        """Rotation at a time, as a scipy Rotation."""
        return turned(self.axis, float(as_function(self.angle)(time)))


def as_input(given: Any) -> Any:
    """Input of a run: a function of time if any component is a function, otherwise constant numbers."""
    moving = isinstance(given, list) and any(callable(item) for item in given)
    return as_function(given) if moving else given


class Viscous(Entry):
    """Viscous damping: force or moment ``ρ(s) = c s`` at the rate s."""

    makes: ClassVar = staticmethod(viscous)
    kind: Literal["viscous"] = "viscous"
    coefficient: quantity("N*s/m", "N*m*s/rad")


class Quadratic(Entry):
    """Quadratic damping: force or moment ``ρ(s) = c |s| s`` at the rate s."""

    makes: ClassVar = staticmethod(quadratic)
    kind: Literal["quadratic"] = "quadratic"
    coefficient: quantity("N*s^2/m^2", "N*m*s^2/rad^2")


class Coulomb(Entry):
    """Regularised dry friction, see :func:`flexph.laws.coulomb`."""

    makes: ClassVar = staticmethod(coulomb)
    kind: Literal["coulomb"] = "coulomb"
    force: Forces
    speed: Rates
    static: Forces = None
    stribeck: Rates = None
    viscous: quantity("N*s/m", "N*m*s/rad") = 0.0


def _of_rate(given: Any) -> Expression:
    if not isinstance(given, str):
        raise ValueError(f"got {shown(given)}: write a formula of the rate s such as '2*s + s**3'")
    return Expression(given, variable="s")


_RateText = Annotated[Any, Reads(_of_rate, (("type", "string"), ("description", "a formula of the rate s")))]
RateFormula = by_shape("a formula of the rate s such as '2*s + s**3'", scalar=_RateText, mapping=TrustedEntry)


class Resistive(Entry):
    """Any resistive relation ρ(s), with ``s ρ(s) ≥ 0``, as a formula of the rate s [m/s or rad/s]."""

    makes: ClassVar = staticmethod(resistive)
    kind: Literal["resistive"] = "resistive"
    function: RateFormula
    derivative: RateFormula = None


Relation = one_of((Viscous, Quadratic, Coulomb, Resistive))


Factor = by_shape(FORMULA, scalar=formula_of(""), mapping=FunctionMapping)
_OR_INPUT = formula_of("", words=("input",))
FactorOrInput = by_shape(f"{FORMULA}, or the word input", scalar=_OR_INPUT, mapping=FunctionMapping)


class ScheduledRelation(Entry):
    """A resistive relation times a function of time, see :func:`flexph.laws.scheduled`."""

    makes: ClassVar = staticmethod(scheduled)
    kind: Literal["scheduled"] = "scheduled"
    law: Relation
    factor: Factor

    def arguments(self, builder: Any) -> dict[str, Any]:
        """Arguments of :meth:`call`, with the factor converted to a function of time."""
        given = super().arguments(builder)
        return given | {"factor": as_function(given["factor"])}


class ControlledRelation(Entry):
    """A resistive relation times a factor 1 + u, with u set by an input or a controller.

    See :func:`flexph.laws.controlled`.
    """

    makes: ClassVar = staticmethod(controlled)
    kind: Literal["controlled"] = "controlled"
    law: Relation


AnyRelation = one_of((Viscous, Quadratic, Coulomb, Resistive, ScheduledRelation, ControlledRelation))


class Creep(Entry):
    """Creep of a rolling wheel, see :func:`flexph.laws.creep`."""

    makes: ClassVar = staticmethod(creep)
    kind: Literal["creep"] = "creep"
    longitudinal: quantity("N")
    lateral: quantity("N") = None
    limit: quantity("N") = None
    friction: Number = None
    lateral_spin: quantity("N*m") = 0.0
    spin: quantity("N*m^2") = 0.0
    saturation: Literal["cubic", "hyperbolic"] = "cubic"
    least_speed: quantity("m/s") = 1e-3


class MagicFormula(Entry):
    """Magic Formula of a tyre, see :func:`flexph.laws.magic_formula`."""

    makes: ClassVar = staticmethod(magic_formula)
    kind: Literal["magic_formula"] = "magic_formula"
    longitudinal: quantity("N")
    lateral: quantity("N") = None
    limit: quantity("N") = None
    friction: Number = None
    shape: Number = 1.3
    curvature: Number = 0.0
    least_speed: quantity("m/s") = 1e-3


CreepLaw = one_of((Creep, MagicFormula))
Grip = one_of((Viscous, Quadratic, Coulomb, Resistive, Creep, MagicFormula))


class CoulombFriction(Entry):
    """Dry friction proportional to the force of the joint, see :class:`flexph.joints.CoulombFriction`."""

    makes: ClassVar = CoulombLaw
    kind: Literal["coulomb_friction"] = "coulomb_friction"
    coefficient: Number
    radius: Length = None
    factor: FactorOrInput = None

    def arguments(self, builder: Any) -> dict[str, Any]:
        """Arguments of :meth:`call`, with the factor converted to a function of time."""
        given = super().arguments(builder)
        return given | ({"factor": as_function(given["factor"])} if given.get("factor") is not None else {})


Friction = one_of((Viscous, Quadratic, Coulomb, Resistive, CoulombFriction))
ScheduledFriction = one_of(
    (Viscous, Quadratic, Coulomb, Resistive, ScheduledRelation, ControlledRelation, CoulombFriction)
)

EACH = "a number with its unit, or a list with one for each axis"


def scheduled_damping(unit: str) -> Any:
    """Field type of a damping: a coefficient in ``unit``, or a relation of force and rate.

    Other than in the types of :func:`damping`, the relation may be multiplied by a function of time or an input.
    """
    return by_shape(f"a coefficient [{unit}] or a relation", scalar=quantity(unit), mapping=AnyRelation)


def damping(unit: str) -> tuple[Any, Any]:
    """Two field types of a damping in ``unit``.

    The first accepts a coefficient, or a relation of force and rate. The second also accepts a list of coefficients and
    relations, one for each axis.
    """
    number = quantity(unit)
    one = by_shape(f"a coefficient [{unit}] or a relation", scalar=number, mapping=Relation)
    return one, by_shape(f"{EACH}, or relations", scalar=number, mapping=Relation, sequence=list[one])
