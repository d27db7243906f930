"""Arguments that may be texts with units, such as ``young="210 GPa"``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from .quantities import is_quantity, read_quantity

Public = TypeVar("Public", bound=Callable[..., Any])
Units = str | tuple[str, ...]


def quantities(**units: Units) -> Callable[[Public], Public]:
    """The same function or class, whose named arguments may be texts with a unit of what ``units`` measure.

    Such texts may also stand in lists and mappings. Numbers are of SI units, and other texts are left as they are.
    Raises ValueError for a unit that is not known, or measures something else.
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
    function.public = door  # type: ignore[attr-defined]  # values that it makes name this door as their maker
    return door


def _converted(name: str, value: Any, units: Mapping[str, Units]) -> Any:
    return in_si(name, value, units[name]) if name in units else value


def in_si(name: str, value: Any, unit: Units) -> Any:
    """A value with its texts as numbers of SI units; itself where it has none."""
    if isinstance(value, str):
        if not is_quantity(value) or _is_plain(value):
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
    """Whether a text is a number without a unit, which numbers should be."""
    try:
        float(text)
    except ValueError:
        return False
    return True
