"""Functions of a user that loops call with numbers, and the errors that these raise.

Loops call them at an address, compiled ones by C code without an instruction of Python around the function
(functions.hpp): an interruption (Ctrl-C) is raised between instructions of Python, and so is always caught there.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


class FailedCall(NamedTuple):
    """Function that raised or returned no finite number, its arguments, and the exception or the number."""

    function: Callable[..., float]
    arguments: tuple[float, ...]
    error: BaseException | float


_errors: dict[int, tuple[Any, Any, Any]] = {}
"""Last failed call of each thread, by its identifier."""


@cache  # what stands at an address must last as long as the process
def _called(function: Callable[..., float]) -> tuple[Callable[..., float], dict[int, Any]]:
    return function, _errors


def address_of(function: Callable[..., float]) -> int:
    """Address at which loops call a function."""
    return id(_called(function))


def last_failure() -> FailedCall | None:
    """Take and clear the last failed call of this thread, or None; an interruption counts before other errors."""
    failed = _errors.pop(threading.get_ident(), None)
    return None if failed is None else FailedCall(*failed)


def call_real(address: int, x: float) -> float:
    """Call the function of a number at an address; NaN if it fails."""
    return _call(address, x)


def call_three(address: int, x: float, y: float, z: float) -> float:
    """Call the function of three numbers at an address; NaN if it fails."""
    return _call(address, x, y, z)


def _call(address: int, *given: float) -> float:
    function, errors = ctypes.cast(int(address), ctypes.py_object).value
    given = tuple(map(float, given))
    try:
        value = float(function(*given))
    except Exception as error:  # interruptions end uncompiled loops as they are
        errors[threading.get_ident()] = function, given, error
        return math.nan
    if not math.isfinite(value):
        errors[threading.get_ident()] = function, given, value
        return math.nan
    return value
