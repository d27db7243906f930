"""Arrays of resistive relations for the loops; functions of a user are called at their addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ....kernels.arrays import Springs
from ....numerics.arrays import Array
from ....numerics.loops.callbacks import REAL
from ....systems.resistive_relations import Relation
from .data import Index

QUADRATIC, COULOMB, GENERAL, VISCOUS = 1, 2, 3, 4
"""Kinds of relations; 0 where there is none."""
KINDS = {"quadratic": QUADRATIC, "coulomb": COULOMB, "general": GENERAL, "viscous": VISCOUS}
PARAMETERS = 5


class Resisting(NamedTuple):
    """Relations of spring-dampers and slips (m): kinds, parameters, addresses of functions and slopes (0: none)."""

    kind: Index  # (m,)
    parameter: Array  # (m, 5)
    function: Index  # (m,)
    derivative: Index  # (m,)
    steepness: Array  # (m,), slopes at rest
    resisting: Index  # those that have one


def resisting(springs: Springs, slips: tuple[Relation, ...] = ()) -> Resisting:
    """The arrays of the relations of spring-dampers, and behind these of slips."""
    count, size = springs.damping.size, springs.damping.size + len(slips)
    kind, function, derivative = (np.zeros(size, dtype=np.int64) for _ in range(3))
    parameter, steepness = np.zeros((size, PARAMETERS)), np.zeros(count)
    own = [*zip(springs.resisting, springs.relations, strict=True), *enumerate(slips, count)]
    for i, relation in own:
        kind[i] = KINDS[relation.kind]
        parameter[i, : len(relation.parameters)] = relation.parameters
        function[i], derivative[i] = _addresses(relation)
    steepness[springs.resisting] = springs.steepness
    return Resisting(kind, parameter, function, derivative, steepness, springs.resisting)


def _addresses(relation: Relation) -> tuple[int, int]:
    """Addresses of its functions, 0 where it has none."""
    function, derivative = (
        0 if f is None else ctypes.cast(_callback(f), ctypes.c_void_p).value or 0
        for f in (relation.function, relation.derivative)
    )
    return function, derivative


@cache  # code at an address must last as long as the process
def _callback(function: Callable[[float], float]) -> Any:
    """C code of a function; not a number where it raises, so that the NumPy steps, which say why, take over."""

    def safe(x: float) -> float:
        try:
            return float(function(x))
        except Exception:
            return np.nan

    return REAL.c_type(safe)  # no Callback: threads share the function
