"""Functions of a user, compiled by numba with explicit signatures; needs numba.

They are compiled once for each content: their code and the values of all that it refers to, numbers, texts, arrays,
tuples of them, and functions. That is also their key in numba's cache on disk, which by itself would not see that a
global or a helper in another file has changed. What refers to anything else is compiled once a process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import CellType, FunctionType, MappingProxyType
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import NumbaError, NumbaWarning
from numba.extending import overload

from .by_address import address_of, taken_from
from .cache import keep_on_disk
from .content import FOREIGN, content_of, digest_of, names_in
from .linking import entry, inner

NOTHING: Mapping[Any, Any] = MappingProxyType({})
taken_call = taken_from((np.zeros(1), np.zeros(0), np.zeros(0)))
"""From an address to a time, numbers, and where to write others."""
_compiled: dict[Any, Any] = {}


def compiled_function(name: str, function: Callable[..., Any], arguments: tuple[Any, ...], result: Any) -> Any:
    """The function as numba's dispatcher of (arguments) → result, its helpers compiled with it.

    Arrays of other layouts or numbers are copied to the result. Raises ValueError that names the function and what
    numba says.
    """
    content = content_of(function, {})
    key = (content, arguments, result)
    if key in _compiled:
        return _compiled[key]
    digest = digest_of(content)
    try:
        dispatcher = _kept(_dispatcher(function, digest, {}), len(arguments), digest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            dispatcher.compile(arguments)
        returned = dispatcher.nopython_signatures[0].return_type
        if returned != result:
            raise TypeError(f"it must return {_words(result)}, and returns {returned}")
    except (NumbaError, TypeError, NotImplementedError) as error:
        raise ValueError(f"numba cannot compile {name}, as compiled=True asks for: {_short(error)}") from error
    _compiled[key] = dispatcher
    return dispatcher


def function_at(name: str, function: Callable[..., Any]) -> int:
    """The address of a function of a number and numbers to numbers, compiled, for ``call_at``.

    It takes the address of a tuple laid out by :class:`flexph.numerics.compiled.by_address.Laid`: time (1,), what is
    given (p,), and where to write what it returns, and returns 1 where that has the right size. Raises ValueError.
    """
    content = content_of(function, {})
    key = (content, "by address")
    if key not in _compiled:
        digest = digest_of(content)
        template = FunctionType(_by_address.__code__, {**globals(), "wrapped": _dispatcher(function, digest, {})})
        dispatcher = _entry(_named(template, digest), digest)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                _compiled[key] = dispatcher, address_of(dispatcher, (0,))
        except (NumbaError, TypeError, NotImplementedError) as error:
            raise ValueError(f"numba cannot compile {name}: {_short(error)}") from error
    return int(_compiled[key][1])


def compiled_loop(function: Callable[..., Any], arguments: tuple[Any, ...], instead: Mapping[Any, Any]) -> Any:
    """A plain function compiled for arguments of these types, with those that it calls, some of them by others.

    Its entry point lies below numba's dispatcher, which would compile it anew for each function that it is given.
    """
    content = (content_of(function, {}), *(content_of(other, {}) for other in instead.values()), str(arguments))
    digest = digest_of(content)
    copy = _dispatcher(function, digest, {}, instead).py_func
    dispatcher = _entry(copy, digest, no_cfunc_wrapper=True)
    dispatcher.compile(arguments)
    return dispatcher.get_compile_result(dispatcher.nopython_signatures[0]).entry_point


def entries_of(value: Any) -> Any:
    """Numbers that are counted and looked up by their place."""
    return value


@overload(entries_of)
def _entries_of(value):
    if isinstance(value, types.Number | types.Boolean):
        return lambda value: (float(value),)
    return lambda value: value


def _words(result: Any) -> str:
    ndim = getattr(result, "ndim", 0)
    return f"a float array of {ndim} dimension{'s' * (ndim > 1)}" if ndim else "a number"


def shaped(value: Any) -> Any:
    """The value as a float, or as a float array in C order that may be written to; anything else as it is."""
    return value


@overload(shaped)  # without annotations: numba compares signatures
def _shaped(value):
    if isinstance(value, types.Number | types.Boolean):
        return lambda value: float(value)
    if not isinstance(value, types.Array) or value == types.Array(types.float64, value.ndim, "C"):
        return lambda value: value

    def copied(value):
        copy = np.empty(value.shape)
        copy[...] = value
        return copy

    return copied


def _kept(function: Any, count: int, digest: str | None) -> Any:
    """The function under one of the two below, on disk by its digest."""
    template = _of_one if count == 1 else _of_two
    copy = FunctionType(template.__code__, {**globals(), "wrapped": function})
    return _entry(_named(copy, digest), digest)


def _entry(function: FunctionType, digest: str | None, **options: Any) -> Any:
    """The function as an entry, kept on disk where its content is known."""
    dispatcher = entry(function, error_model="numpy", **options)
    if digest is not None:
        keep_on_disk(dispatcher)
    return dispatcher


def _of_one(x: Any) -> Any:
    return shaped(wrapped(x))  # type: ignore[name-defined] # noqa: F821


def _of_two(x: Any, y: Any) -> Any:
    return shaped(wrapped(x, y))  # type: ignore[name-defined] # noqa: F821


def _by_address(address: int) -> int:
    time, given, out = taken_call(address)
    answer = entries_of(wrapped(time[0], given))  # type: ignore[name-defined] # noqa: F821
    if len(answer) != out.size:
        return 0
    for i in range(out.size):
        out[i] = answer[i]
    return 1


def _named(function: FunctionType, digest: str | None) -> FunctionType:
    """The function with its digest in its name, as one of this module.

    Numba looks its cache up by the name, and builds symbols from it and from a number that other processes use again:
    two functions of one name from the cache could answer for each other. The module is imported with what is kept, and
    the same function may come from another one.
    """
    if digest is not None:
        function.__name__ = function.__qualname__ = f"{function.__name__.strip('<>')}_{digest}"
        function.__module__ = __name__
    return function


def _dispatcher(
    function: Any, digest: str | None, dispatchers: dict[int, Any], instead: Mapping[Any, Any] = NOTHING
) -> Any:
    """The function under numba, and so the plain functions that it calls by a name of its module or closure.

    Some are taken ``instead`` of others.
    """
    function = instead.get(function, function) if isinstance(function, FunctionType) else function
    if not isinstance(function, FunctionType):
        return function

    def inside(value: Any) -> Any:
        return _dispatcher(value, digest, dispatchers, instead) if _is_plain(value) else value

    if id(function) not in dispatchers:
        known = dict(function.__globals__)
        closure = tuple(CellType() for _ in function.__closure__ or ())
        copy = FunctionType(function.__code__, known, function.__name__, function.__defaults__, closure)
        dispatchers[id(function)] = inner(_named(copy, digest), error_model="numpy")  # it may call itself
        known.update((n, inside(known[n])) for n in names_in(function.__code__) if n in function.__globals__)
        for cell, own in zip(closure, function.__closure__ or (), strict=True):
            cell.cell_contents = inside(own.cell_contents)
    return dispatchers[id(function)]


def _is_plain(value: Any) -> bool:
    return isinstance(value, FunctionType) and (value.__module__ or "").split(".")[0] not in FOREIGN


def _short(error: Exception) -> str:
    """What numba says is wrong, without where it looked and its advice."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("Failed in nopython")]
    ends = (i for i, line in enumerate(told) if i and line.startswith(("During:", 'File "', "<source")))
    return " ".join(told[: next(ends, None)])[:300]
