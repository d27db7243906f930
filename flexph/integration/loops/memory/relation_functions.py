"""Arrays of resistive relations and spring laws for the loops; functions of a user are called at their addresses."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ....kernels.arrays import Springs
from ....laws.elastic_laws import OutOfRange
from ....laws.resistive_relations import Relation
from ....numerics.arrays import Array
from ....numerics.loops.callbacks import REAL
from ....numerics.step_failed import StepFailed
from .data import Index

QUADRATIC, COULOMB, GENERAL, VISCOUS = 1, 2, 3, 4
"""Kinds of relations; 0 for none."""
KINDS = {"quadratic": QUADRATIC, "coulomb": COULOMB, "general": GENERAL, "viscous": VISCOUS}
PARAMETERS = 5
BOUC_WEN, BRISTLE = 1, 2
"""Kinds of hysteresis; 0 for none."""
PATHS = {"bouc_wen": BOUC_WEN, "bristle": BRISTLE}
PATH = 6
"""Largest number of parameters of hysteresis."""
_failed = threading.local()
"""Last error of a function that loops called, by thread."""


class Resisting(NamedTuple):
    """Relations of spring-dampers and slips (m): kinds, parameters, addresses of functions and slopes (0: none)."""

    kind: Index  # (m,)
    parameter: Array  # (m, 5)
    function: Index  # (m,)
    derivative: Index  # (m,)
    steepness: Array  # (m,), slopes at rest
    resisting: Index  # spring-dampers that have a relation


def resisting(springs: Springs, slips: tuple[Relation, ...] = ()) -> Resisting:
    """Arrays of the relations of spring-dampers, followed by those of slips."""
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


class SpringLaws(NamedTuple):
    """Laws of springs by pieces, parameters or addresses of functions; see memory.connection_data.Joints."""

    law: Index
    law_first: Index
    law_edge: Array
    law_base: Array
    law_power: Array
    law_function: Index
    force_law: Index
    path_kind: Index
    path_parameter: Array
    laws: int


def spring_laws(springs: Springs) -> SpringLaws:
    """Arrays of the laws of springs."""
    law = np.full(springs.damping.size, -1)
    law[springs.lawful] = np.arange(len(springs.laws))
    counts = [len(own.powers) for own in springs.laws]
    power = np.zeros((sum(counts), max((len(own.powers[0]) for own in springs.laws if own.powers), default=0)))
    function = np.zeros((len(springs.laws), 3), dtype=np.int64)
    first = np.cumsum([0, *counts])[:-1] if counts else np.zeros(0, dtype=np.int64)
    for i, own in enumerate(springs.laws):
        for piece, powers in enumerate(own.powers):
            power[first[i] + piece, : len(powers)] = powers
        for order, given in enumerate(own.functions):
            function[i, order] = _address(given)
    edges = np.array([edge for own in springs.laws if own.powers for edge in (*own.edges, np.inf)])
    bases = np.array([base for own in springs.laws for base in own.bases])
    force = np.zeros(springs.damping.size, dtype=np.int64)
    force[springs.forced] = [
        ctypes.cast(_force(own.function), ctypes.c_void_p).value or 0 for own in springs.force_laws
    ]
    path_kind, path_parameter = np.zeros(springs.damping.size, dtype=np.int64), np.zeros((springs.damping.size, PATH))
    for i, path in zip(springs.hysteretic.tolist(), springs.hysteresis, strict=True):
        path_kind[i] = PATHS[path.kind]
        path_parameter[i, : len(path.parameters)] = path.parameters
    count = len(springs.laws) + len(springs.force_laws) + len(springs.hysteresis)
    return SpringLaws(law, first, edges, bases, power, function, force, path_kind, path_parameter, count)


def _addresses(relation: Relation) -> tuple[int, int]:
    """Addresses of the function of a relation and its derivative, 0 for none."""
    function, derivative = (0 if f is None else _address(f) for f in (relation.function, relation.derivative))
    return function, derivative


def _address(function: Callable[[float], float]) -> int:
    return ctypes.cast(_callback(function), ctypes.c_void_p).value or 0


@cache  # code at an address must last as long as the process
def _callback(function: Callable[[float], float]) -> Any:
    """C callback of a function; NaN if it raises, which is then the error of the step."""

    return REAL.c_type(_safe(function))  # no Callback: threads share the function


@cache
def _force(function: Callable[[float, float, float], float]) -> Any:
    """C callback of a function of three numbers; NaN if it raises."""
    return ctypes.CFUNCTYPE(*(4 * (ctypes.c_double,)))(_safe(function))


def _safe(function: Callable[..., float]) -> Callable[..., float]:
    """Function that returns NaN where another raises or is not finite, and keeps the error for its thread."""
    name = getattr(function, "__name__", "function")

    def safe(*given: float) -> float:
        try:
            value = float(function(*given))
        except BaseException as error:
            _failed.error = _explained(error, name, given)
            return np.nan
        if not math.isfinite(value):
            _failed.error = ValueError(f"{name}({_listed(given)}) must be finite, got {value}")
        return value

    return safe


def failed_function(*, is_solved: bool) -> BaseException | None:
    """Error of a function that the loops of this thread called, which is forgotten; None if the loops went on without.

    Interruptions count in any case, other errors unless the steps are solved.
    """
    error: BaseException | None = getattr(_failed, "error", None)
    _failed.error = None
    return None if error is None or (is_solved and isinstance(error, Exception)) else error


def _explained(error: BaseException, name: str, given: tuple[float, ...]) -> BaseException:
    if isinstance(error, OutOfRange):
        return StepFailed(str(error), 0, math.nan)
    if not isinstance(error, Exception):
        return error
    return ValueError(f"{name}({_listed(given)}) raised {type(error).__name__}: {error}")


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
