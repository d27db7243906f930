"""Decorator for arguments that may be texts with units, such as ``young="210 GPa"``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from .quantities import is_quantity, read_quantity

Public = TypeVar("Public", bound=Callable[..., Any])
Units = str | tuple[str, ...]


def quantities(**units: Units) -> Callable[[Public], Public]:
    """Decorator for a function or class whose arguments named in ``units`` can be texts with a compatible unit.

    Such texts can also be entries of lists and mappings. Numbers are in SI units; other texts are passed unchanged.
    Raises ValueError for an unknown unit, or a unit of another quantity.
    """

    def of(public: Public) -> Public:
        if isinstance(public, type):
            public.__init__ = _converting(public.__init__, units)  # type: ignore[misc]
            return public
        return cast(Public, _converting(public, units))

    return of


def _converting(function: Callable[..., Any], units: Mapping[str, Units]) -> Callable[..., Any]:
    names = list(inspect.signature(function).parameters)

    @wraps(function)
    def door(*arguments: Any, **named: Any) -> Any:
        placed = [_converted(name, value, units) for name, value in zip(names, arguments, strict=False)]
        given = {name: _converted(name, value, units) for name, value in named.items()}
        return function(*placed, *arguments[len(placed) :], **given)

    door.units = units  # type: ignore[attr-defined]
    function.public = door  # type: ignore[attr-defined]  # recipes of values name the decorated function
    return door


def _converted(name: str, value: Any, units: Mapping[str, Units]) -> Any:
    return in_si(name, value, units[name]) if name in units else value


def _refuse_bare(name: str, value: str, unit: Units) -> None:
    """Raise ValueError for a unit without a number."""
    try:
        read_quantity(f"1 {value}", *((unit,) if isinstance(unit, str) else unit))
    except ValueError:
        return
    raise ValueError(f"{name} must be a number with its unit, such as '1 {value}', got {value!r}")


def in_si(name: str, value: Any, unit: Units) -> Any:
    """Convert all texts with units in a value, also in lists and mappings, to numbers in SI units.

    Units must be compatible with ``unit``, or with one of several. ``name`` is the argument in errors. Other values are
    returned unchanged.
    """
    if isinstance(value, str):
        if not is_quantity(value) or _is_plain(value):
            _refuse_bare(name, value, unit)
            return value
        try:
            return read_quantity(value, *((unit,) if isinstance(unit, str) else unit))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(in_si(name, entry, unit) for entry in value)
    if type(value) is dict:
        return {key: in_si(f"{name} of {key!r}", entry, unit) for key, entry in value.items()}
    return value


def _is_plain(text: str) -> bool:
    """True for a text that is a number without a unit, which is passed unchanged and refused by later checks."""
    try:
        float(text)
    except ValueError:
        return False
    return True
