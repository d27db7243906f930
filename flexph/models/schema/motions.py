"""Motions in model files: functions of time by polynomials, trapezoids of velocity, splines and pieces."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from flexph.robots.motions import Motion
from flexph.robots.profiles import polynomial, spline, trapezoid

from ...units.quantities import read_unit
from .entry import Builder, InUnit, one_of
from .fields import Number, Time


class Profile(InUnit):
    """Base of motions, whose values and rates are in ``unit``, by default in SI units."""

    aside: ClassVar[frozenset[str]] = frozenset({"kind", "unit"})
    scaled: ClassVar = frozenset({"start", "end", "rates", "velocity", "acceleration", "points", "coefficients"})

    def build(self, builder: Builder) -> Any:
        """Build the motion, with values converted to SI units."""
        motion: Motion = super().build(builder)
        if not self.unit:
            return motion
        with builder.at("unit").refusals():
            factor = read_unit(self.unit)
        return Motion(motion.times, factor * np.asarray(motion.coefficients), motion.names, motion.scalar)


class Polynomial(Profile):
    """A cubic or quintic from rest to rest, or with given ``rates``, see :func:`flexph.robots.polynomial`."""

    makes: ClassVar = staticmethod(polynomial)
    kind: Literal["polynomial"] = "polynomial"
    start: Number
    end: Number
    duration: Time
    begin: Time = 0.0
    rates: list[Number] = None
    degree: Literal[3, 5] = 5

    def arguments(self, builder: Builder) -> dict[str, Any]:
        """Arguments of :func:`flexph.robots.polynomial`."""
        given = super().arguments(builder)
        return given | ({"rates": tuple(given["rates"])} if given.get("rates") is not None else {})


class Trapezoid(Profile):
    """A motion from rest to rest with a trapezoidal velocity, see :func:`flexph.robots.trapezoid`."""

    makes: ClassVar = staticmethod(trapezoid)
    kind: Literal["trapezoid"] = "trapezoid"
    start: Number
    end: Number
    velocity: Number
    acceleration: Number
    begin: Time = 0.0


class Spline(Profile):
    """A cubic spline through points, see :func:`flexph.robots.spline`."""

    makes: ClassVar = staticmethod(spline)
    kind: Literal["spline"] = "spline"
    times: list[Time]
    points: list[Number]
    ends: Literal["clamped", "natural", "periodic", "not-a-knot"] = "clamped"


def _pieces(times: list[float], coefficients: list[list[float]]) -> Motion:
    return Motion(np.array(times), np.array(coefficients)[:, None, :], scalar=True)


class Pieces(Profile):
    """A motion of consecutive polynomials in the time since the begin of each.

    ``times``: begin of the first one, limits between them, and end of the last one. ``coefficients``: a list for each
    polynomial, of the factors of the powers of time, from power 0 on.
    """

    makes: ClassVar = staticmethod(_pieces)
    kind: Literal["pieces"] = "pieces"
    times: list[Time]
    coefficients: list[list[Number]]


MOTIONS = (Polynomial, Trapezoid, Spline, Pieces)
Profiles = one_of(MOTIONS)


def written_motion(motion: Motion) -> dict[str, Any]:
    """Plain data of the entry, of the kind pieces, for a motion of one coordinate.

    Raises ValueError for a motion of several coordinates.
    """
    if not motion.scalar:
        raise ValueError(f"a motion of {len(motion.names) or 'several'} coordinates: use one, motion[name]")
    coefficients = np.asarray(motion.coefficients)[:, 0].tolist()
    return {"kind": "pieces", "times": np.asarray(motion.times).tolist(), "coefficients": coefficients}
