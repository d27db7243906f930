"""Fingerprints of functions by their code and constants, comparable between processes."""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from ...results.signature import digits


def fingerprint(function: Any) -> str:
    """Hash of a function: its code, its defaults, the values in its closure, and those of wrapped or bound objects.

    Functions, numbers, texts, read-only arrays and mappings, and tuples and frozen dataclasses of them count by value;
    all other objects by their type, as the function may change them while it runs. Global names do not count.
    """
    return hashlib.sha256("\0".join(_told(function, set())).encode("utf-8", "replace")).hexdigest()[:12]


def _told(value: Any, seen: set[int]) -> Iterator[str]:
    """Texts that identify a value, the same in all processes."""
    yield type(value).__qualname__
    match value:
        case None | bool() | int() | str() | bytes():
            yield repr(value)
        case float() | complex() | np.generic():
            yield from digits([[np.real(value), np.imag(value)]])
        case np.ndarray():
            yield f"{value.dtype} {value.shape}"
            if value.dtype.kind in "fiub" and not value.flags.writeable:
                yield from digits([value])
        case type() | BuiltinFunctionType() | np.ufunc():
            yield value.__name__
        case tuple():
            yield from _all(value, seen)
        case MappingProxyType():
            yield from _all(value.items(), seen)
        case frozenset():
            yield from sorted("\0".join(_told(entry, set())) for entry in value)
        case _ if id(value) not in seen:
            seen.add(id(value))
            yield from _of_function(value, seen)


def _of_function(value: Any, seen: set[int]) -> Iterator[str]:
    """Texts that identify a function or an object with functions, which may contain itself."""
    match value:
        case FunctionType():
            yield from _code(value.__code__, seen)
            own = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
            written = _written(value.__code__)
            cells = [_content(cell) for name, cell in own if name not in written]
            defaults = (value.__kwdefaults__ or {}).items()
            yield from _all((value.__defaults__, *defaults, *cells), seen)
        case MethodType():
            yield from _all((value.__func__, value.__self__), seen)
        case partial():
            yield from _all((value.func, value.args, *value.keywords.items()), seen)
        case _:
            calls = [vars(kind).get("__call__") for kind in type(value).__mro__]
            yield from _all([call for call in calls if isinstance(call, FunctionType)], seen)
            if is_dataclass(value) and value.__dataclass_params__.frozen:  # type: ignore[union-attr]
                yield from _all([getattr(value, field.name) for field in fields(value)], seen)


def _all(values: Iterable[Any], seen: set[int]) -> Iterator[str]:
    for value in values:
        yield from _told(value, seen)


def _code(code: CodeType, seen: set[int]) -> Iterator[str]:
    """Texts of the instructions of a function, without its place in the source."""
    yield code.co_code.hex()
    yield " ".join((*code.co_names, *code.co_freevars, *code.co_varnames))
    for constant in code.co_consts:
        yield from _code(constant, seen) if isinstance(constant, CodeType) else _told(constant, seen)


def _written(code: CodeType) -> set[str]:
    """Names of the closure that a function writes to, such as counters, which differ from call to call."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_DEREF"}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return own.union(*map(_written, inner))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name without a value so far
        return None
