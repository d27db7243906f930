"""Functions given by the user that loops call with numbers, and the errors that these raise.

Loops call them at an address, compiled ones by C code without an instruction of Python around the function
(functions.hpp): an interruption (Ctrl-C) is raised between instructions of Python, and so is always caught there.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple


class FailedCall(NamedTuple):
    """Call of a user's function that raised or returned no finite number: its arguments, and the error or value."""

    function: Callable[..., float]
    arguments: tuple[float, ...]
    error: BaseException | float


_errors: dict[int, tuple[Any, Any, Any]] = {}
"""Last failed call of each thread, by its identifier."""


@cache  # a function at an address must live as long as the process
def _called(function: Callable[..., float]) -> tuple[Callable[..., float], dict[int, Any]]:
    return function, _errors


_functions: dict[int, Callable[..., float]] = {}
"""Functions by their addresses."""
DEPTH = 10
"""Largest depth of functions enclosed in functions that are compared."""


def address_of(function: Callable[..., float]) -> int:
    """Address by which loops call a user's function, for the life of the process."""
    address = id(_called(function))
    _functions[address] = function
    return address


def function_at(address: int) -> Callable[..., float] | None:
    """Function to which :func:`address_of` gave an address; None if there is none there."""
    return _functions.get(address)


def are_same(first: Any, second: Any, depth: int = DEPTH) -> bool:
    """True if two objects are certainly equal; functions are equal if their code, defaults and enclosed values are.

    ``depth`` limits how deeply enclosed values are compared.
    """
    if first is second:
        return True
    if type(first) is not type(second) or depth == 0:
        return False
    if isinstance(first, FunctionType):
        cells = (closure.__closure__ or () for closure in (first, second))
        pairs = zip(*([cell.cell_contents for cell in closure] for closure in cells), strict=False)
        return (
            first.__code__ == second.__code__
            and are_same(first.__defaults__, second.__defaults__, depth - 1)
            and are_same(first.__kwdefaults__, second.__kwdefaults__, depth - 1)
            and first.__globals__ is second.__globals__
            and all(are_same(one, other, depth - 1) for one, other in pairs)
        )
    if isinstance(first, partial):
        one, other = ((part.func, *part.args, *part.keywords.items()) for part in (first, second))
        return are_same(one, other, depth - 1)
    if isinstance(first, MethodType):
        return first.__func__ is second.__func__ and are_same(first.__self__, second.__self__, depth - 1)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(are_same, first, second, [depth - 1] * len(first)))
    try:
        return bool(first == second)
    except ValueError:  # arrays have no single truth value
        return False


def last_failure() -> FailedCall | None:
    """Last failed call in this thread, which is then forgotten; None if there was none.

    An interruption (Ctrl-C) takes precedence over other errors.
    """
    failed = _errors.pop(threading.get_ident(), None)
    return None if failed is None else FailedCall(*failed)


def call_real(address: int, x: float) -> float:
    """Value of the function at an address for the number x; NaN if the call fails."""
    return _call(address, x)


def call_three(address: int, x: float, y: float, z: float) -> float:
    """Value of the function at an address for the numbers x, y and z; NaN if the call fails."""
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
