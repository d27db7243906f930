"""Numbers with units, converted to SI: ``30 mm``, ``210 GPa``, ``7850 kg/m^3``."""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from typing import Any

from .words import nearest, shown

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_FACTOR = r"(?:1|[^\W\d]+(?:(?:\*\*|\^)-?[1-9]|[²³⁴])?)"
UNIT = re.compile(rf"{_FACTOR}(?:(?:\s*[*/·]\s*|\s+){_FACTOR})*")
"""Products and quotients of names with exponents; pint would evaluate any expression, also one that never ends."""
LONGEST = 60
"""Largest length of a text that is read as a quantity."""
EXAMPLES = {
    "m": ("a length", "30 mm"),
    "m^2": ("an area", "12 mm^2"),
    "m^3": ("a volume", "20 cm^3"),
    "m^3/s": ("a flow", "30 l/min"),
    "m^3/s/Pa": ("a flow per pressure", "1e-9 m^3/s/Pa"),
    "m^4": ("a second moment of area", "160 mm^4"),
    "kg": ("a mass", "33 g"),
    "kg*m^2": ("an inertia", "1e-4 kg*m^2"),
    "kg/m^3": ("a density", "7850 kg/m^3"),
    "kg/m": ("a mass per length", "0.2 kg/m"),
    "Pa": ("a stress", "210 GPa"),
    "rad": ("an angle", "30 deg"),
    "s": ("a time", "20 ms"),
    "m/s": ("a velocity", "2 m/s"),
    "rad/s": ("an angular velocity", "1400 rpm"),
    "m/s^2": ("an acceleration", "-9.81 m/s^2"),
    "N/m": ("a stiffness", "2 kN/m"),
    "N*s/m": ("a damping", "5 N*s/m"),
    "N*m/rad": ("a torsional stiffness", "3 N*m/rad"),
    "N*m*s/rad": ("a torsional damping", "0.1 N*m*s/rad"),
    "N*s^2/m^2": ("a quadratic damping", "0.1 N*s^2/m^2"),
    "N": ("a force", "5 N"),
    "W": ("a power", "10 W"),
    "N*m": ("a moment", "3 N*m"),
    "N*m^2": ("a bending stiffness", "2 N*m^2"),
    "1/s": ("a rate", "2 1/s"),
    "": ("a number", "0.3"),
}
"""Quantity and example by SI unit, for errors."""
COMMON = (
    *("m", "mm", "cm", "km", "um", "inch", "ft", "kg", "g", "mg", "tonne", "lb", "s", "ms", "us", "min", "hour"),
    *("N", "kN", "MN", "mN", "Pa", "kPa", "MPa", "GPa", "psi", "rad", "deg", "rpm", "Hz", "J", "W", "bar", "percent"),
)
"""Units that an error may suggest for a misspelt one."""


@cache
def _registry() -> Any:
    """Unit registry of pint, loaded on first use."""
    import pint

    return pint.UnitRegistry()


def is_quantity(text: str) -> bool:
    """True if a text is a number, or a number followed by a unit."""
    number = NUMBER.match(text.strip())
    rest = "" if number is None else text.strip()[number.end() :].strip()
    return number is not None and (not rest or rest[0] not in "*+-/().,^")


def read_quantity(given: Any, *units: str) -> float:
    """Read a finite number in SI units, from a number or from a text with a unit compatible with one of ``units``.

    Raises ValueError with the given value and a valid example.
    """
    for other in units[1:]:
        try:
            return read_quantity(given, other)
        except ValueError:
            continue  # if all fail, the error is that of the first unit
    return _read(given, units[0])


def _read(given: Any, unit: str) -> float:
    what, example = EXAMPLES.get(unit, (f"a value in {unit}", f"1 {unit}"))
    right = f"write {what} such as {example!r}" + (f", or a number of {unit}" if unit else "")
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError(f"got {shown(given)}: {right}")
    if not isinstance(given, str):
        if abs(given) > 1e300 or not math.isfinite(given):
            raise ValueError(f"got {shown(given)}: {right} that is finite")
        return float(given)
    number = NUMBER.match(given.strip()) if len(given) <= LONGEST else None
    if number is None:
        raise ValueError(f"got {shown(given)}: {right}")
    name, value = given.strip()[number.end() :].strip(), float(number.group())
    result = _converted(value, name, unit, f"got {shown(given)}", right) if name else value
    if not math.isfinite(result):
        raise ValueError(f"got {shown(given)}: {right} that is finite")
    return result


def read_unit(name: str, unit: str | None = None) -> float:
    """Conversion factor of a unit to SI units, or to ``unit``; raises ValueError for an unknown unit."""
    return _converted(1.0, name.strip()[:LONGEST], unit, f"unit {name!r}", "write a unit such as 'deg' or 'mm'")


def read_size(given: Any) -> float:
    """Read a number with a unit of any quantity, or without one, in SI units.

    Raises ValueError for an unknown unit.
    """
    number = NUMBER.match(given.strip()) if isinstance(given, str) and len(given) <= LONGEST else None
    if number is None:
        return read_quantity(given, "")
    name = given.strip()[number.end() :].strip()
    return float(number.group()) * (read_unit(name) if name else 1.0)


def _converted(value: float, name: str, unit: str | None, given: str, right: str) -> float:
    if not UNIT.fullmatch(name):
        powers = re.sub(r"(?<=[^\W\d])(?=[1-9])", "^", name)
        if powers != name and UNIT.fullmatch(powers):
            raise ValueError(f"{given}: {name!r} is not a unit, write powers with ^ as in {powers!r}")
        raise ValueError(f"{given}: {name[:LONGEST]!r} is not a unit: {right}")
    try:
        return value * _factor(name, unit)
    except ValueError as error:
        raise ValueError(" ".join(f"{given}{error}: {right}".split()).replace("? :", "?")) from None


@lru_cache(maxsize=1000)
def _factor(name: str, unit: str | None) -> float:
    """Factor that converts from one unit to another, by default to the SI unit.

    Raises ValueError for an unknown unit, and for units of different quantities.
    """
    import pint

    try:
        parsed = _registry().parse_units(name.replace("·", "*"))
        quantity = _registry().Quantity(1.0, parsed)
        if unit is None:
            return float(quantity.to_base_units().magnitude)
        if "hertz" in str(parsed) and unit == "rad/s":
            raise ValueError(": Hz is ambiguous here, write rpm or rad/s")
        return float(quantity.to(unit or "dimensionless").magnitude)
    except pint.UndefinedUnitError:
        near = _near_units(name)
        raise ValueError(f": {name!r} is not a known unit{near and ': '}{near}") from None
    except pint.DimensionalityError:
        raise ValueError(f", which measures {_measured(parsed)}") from None
    except (pint.PintError, ArithmeticError, TypeError, AttributeError, AssertionError) as error:
        raise ValueError(f": {error}") from None


def _near_units(name: str) -> str:
    """Text that suggests common units for misspelt names of units in ``name``; empty if none is similar."""
    near = [nearest(word, COMMON).partition(" there ")[0] for word in re.findall(r"[^\W\d]+", name)]
    return "".join(f"{words} " for words in near if words.startswith("did"))


def _measured(unit: Any) -> str:
    """Name of the physical quantity that a unit measures, or else its dimension as a text."""
    registry = _registry()
    for known, (words, _) in EXAMPLES.items():
        if known and registry.parse_units(known).dimensionality == unit.dimensionality:
            return words
    return f"something else ({unit.dimensionality})"
