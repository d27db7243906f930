"""Callbacks that loops call by address, and named tuples of arrays laid out at an address.

Addresses are integers, in compiled and uncompiled loops (see views.hpp, views.py).
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Generator, Iterator
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, cast, get_type_hints
from weakref import WeakValueDictionary

import numpy as np
from scipy import LowLevelCallable

T = TypeVar("T", bound=tuple[Any, ...])
VIEWS = {
    f"{kind}{name}": (np.dtype(number), ndim)
    for kind, number in (("", float), ("I", np.int64))
    for ndim, name in enumerate(("Vec", "Mat", "Ten"), start=1)
}
"""Annotations of fields that loops view, with the type and dimension of their arrays."""
ROW = 4
"""Number of integers that describe a view: its address and three lengths."""
log = logging.getLogger("flexph")


class Struct(Generic[T]):
    """Named tuple of arrays whose addresses and lengths are in memory at ``address``, as a C struct of these fields.

    Fields may be named tuples or tuples of arrays; a number becomes an array of one entry. Loops write to the arrays of
    ``value``, which must be in C order. The memory at the address lives as long as this object.
    """

    def __init__(self, value: T) -> None:
        self.value: T = _as_arrays(value)
        self._rows, self._owners = packed(self.value)
        self.address = int(self._rows.ctypes.data)
        _structs[self.address] = self


_structs: WeakValueDictionary[int, Struct[Any]] = WeakValueDictionary()


def struct_at(address: int) -> Any:
    """Named tuple of the :class:`Struct` at an address, for uncompiled loops, which have no pointers."""
    return _structs[address].value


def packed(value: tuple[Any, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Table (n, 4) of the addresses and lengths of the arrays in nested tuples, and the arrays in the same order.

    The arrays must be kept alive. Raises TypeError for arrays that violate their annotations, and ValueError for arrays
    not in C order.
    """
    owners, kinds = list(_arrays(_as_arrays(value))), _kinds(type(value))
    if kinds is not None:
        for array, (name, dtype, ndim) in zip(owners, kinds, strict=True):
            if array.dtype != dtype or array.ndim != ndim:
                raise TypeError(f"{name} must be {dtype} with {ndim} dimensions, got {array.dtype} with {array.ndim}")
    if not all(array.flags.c_contiguous for array in owners):
        raise ValueError("arrays must be in C order")
    rows = [(array.__array_interface__["data"][0], *array.shape, *(1,) * (ROW - 1 - array.ndim)) for array in owners]
    return np.array(rows, dtype=np.int64).reshape(-1, ROW), owners


def _as_arrays(value: Any) -> Any:
    """Copy of nested tuples in which each number is an array with one entry."""
    if isinstance(value, tuple):
        inner = [_as_arrays(item) for item in value]
        return type(value)(*inner) if hasattr(value, "_fields") else tuple(inner)
    if isinstance(value, np.ndarray):
        return value
    return np.array([value], dtype=float if isinstance(value, float) else np.int64)


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)
    else:
        yield value


class _Kind(NamedTuple):
    """Name, type of the entries and number of axes of an array in a named tuple."""

    name: str
    dtype: np.dtype[Any]
    ndim: int


@cache
def _kinds(of: type) -> list[_Kind] | None:
    """Kinds of all arrays in a named tuple, by its annotations and in order; None for tuples without annotations."""
    if not hasattr(of, "_fields"):
        return None
    kinds: list[_Kind] = []
    inner = get_type_hints(of)
    for name, annotation in of.__annotations__.items():
        text = getattr(annotation, "__forward_arg__", annotation)
        if text in VIEWS:
            kinds.append(_Kind(f"{of.__name__}.{name}", *VIEWS[text]))
        else:
            kinds_of_field = _kinds(inner[name])
            if kinds_of_field is None:
                asked = "a view or a named tuple, in a module with annotations from __future__"
                raise TypeError(f"{of.__name__}.{name} must be annotated with {asked}, got {text}")
            kinds += kinds_of_field
    return kinds


class Kind(NamedTuple):
    """C type of a callback with one argument, and the function that converts its result for C."""

    c_type: Any
    convert: Callable[[Any], Any]


WHOLE = Kind(ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_ssize_t), int)


class Callback:
    """Python function with one argument that loops call by its ``address``.

    If it raises, loops get the value ``failed``, and the first exception is kept as ``error``, which the run raises
    after the loops. The function is called within a generator, so that an interruption between entry and end of the
    callback is caught, too; in a plain function called by ctypes it could come before the ``try`` and be lost. Loops
    must not call it from two threads at once, nor recursively.
    """

    def __init__(self, function: Callable[[Any], Any], kind: Kind, failed: float) -> None:
        self.error: BaseException | None = None
        self._answers = self._answering(function, kind.convert, failed)
        next(self._answers)
        self._entry = kind.c_type(self._answers.send)
        self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def _answering(self, function: Callable[[Any], Any], convert: Any, failed: float) -> Generator[Any, Any, None]:
        answer, waits = failed, False
        while True:
            try:
                while True:
                    waits = True
                    given = yield answer
                    waits = False
                    answer = convert(function(given))
            except BaseException as error:
                if waits and isinstance(error, GeneratorExit):  # no more calls
                    return
                self.error = error if self.error is None else self.error
                answer = failed


def c_function(given: LowLevelCallable, signature: str) -> tuple[int, int]:
    """Addresses of a C function and of its user data (0 without any); raises ValueError for another signature."""
    if _plain(given.signature) != _plain(signature):
        raise ValueError(f"a LowLevelCallable must be '{signature}' here, got '{given.signature}'")
    capsule = tuple.__getitem__(given, 0)  # as in SciPy's C code
    name = _capsule("PyCapsule_GetName", ctypes.c_char_p)(capsule)
    pointer = _capsule("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_char_p)(capsule, name)
    return int(pointer), int(_capsule("PyCapsule_GetContext", ctypes.c_void_p)(capsule) or 0)


def _plain(signature: str) -> str:
    """Signature of a C function in a form that can be compared: without const, with ``*`` for all pointer types."""
    result, _, rest = signature.replace("const", "").partition("(")
    arguments = ["*" if "*" in one else one.strip() for one in rest.rpartition(")")[0].split(",")]
    return f"{result.strip()}({','.join(arguments)})"


def _capsule(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, ctypes.py_object, *arguments)((name, ctypes.pythonapi))


@cache
def entry_address(function: Callable[..., int], failed: int) -> int:
    """Address of an uncompiled function of loops that maps integers to an integer, valid for the life of the process.

    Uncompiled loops call it directly (see :func:`entry_at`). Compiled ones get the value ``failed`` if it raises.
    """

    def entered(*given: int) -> int:
        try:
            return function(*given)
        except BaseException:
            log.exception("flexph: %s failed", function.__qualname__)
            return failed

    whole = [ctypes.c_ssize_t] * function.__code__.co_argcount
    entry = ctypes.CFUNCTYPE(ctypes.c_ssize_t, *whole)(entered)
    address = cast(int, ctypes.cast(entry, ctypes.c_void_p).value)
    _entries[address] = function, entry
    return address


_entries: dict[int, tuple[Callable[..., int], Any]] = {}


def entry_at(address: int) -> Callable[..., int] | None:
    """Function to which :func:`entry_address` gave this address, or None. Called directly, it may raise exceptions."""
    function, _ = _entries.get(address, (None, None))
    return function
