"""Return values of a run as named arrays of numbers or texts, without nesting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...numerics import checks as check

Arrays = dict[str, np.ndarray]


def plain_values(values: Any, parameters: Mapping[str, Any]) -> Arrays:
    """Named arrays of numbers, truth values or texts, from the return value of a function.

    ``{"a": {"b": 1.0}}`` becomes ``a.b``; a list of dicts becomes a column for each name; None becomes NaN; complex
    numbers become ``name.real`` and ``name.imag``. A value that repeats a parameter under its name is dropped. Raises
    ValueError for anything else.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"a function of a study must return a dict of values by name, got {check.shown(values)}")
    arrays = dict(_flat("", values))
    for name in arrays.keys() & parameters.keys():
        if arrays[name].shape or arrays[name].item() != parameters[name]:
            raise ValueError(f"the value {name!r} must be renamed: a parameter has this name")
        del arrays[name]
    return arrays


def _flat(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            own = check.name("a value", key)
            yield from _flat(f"{name}.{own}" if name else own, entry)
        return
    if isinstance(value, list | tuple) and value and all(isinstance(row, Mapping) for row in value):
        for key in value[0]:
            yield from _flat(f"{name}.{key}", [row.get(key) for row in value])
        return
    array = _array(name, value)
    if array.dtype.kind == "c":
        yield from ((f"{name}.real", array.real), (f"{name}.imag", array.imag))
    else:
        yield name, array


def _array(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # None stands for a missing number
            array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "uib":
        return array if array.dtype.kind == "b" else array.astype(np.int64)
    if array.dtype.kind in "fc":
        return array.astype(complex if array.dtype.kind == "c" else float)
    if array.dtype.kind == "U":
        return array
    raise ValueError(f"the value {name!r} must be numbers, truth values or texts, got {check.shown(value)}")
