"""Resistive relations in loops, by kind and parameters; functions of a user are called at their addresses."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from ....joints.rows.connection import measures
from ....kernels.arrays import Springs
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....systems.resistive_relations import DIFFERENCE, Relation
from ..memory.data import Index
from ..memory.memory import Memory

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model

QUADRATIC, COULOMB, GENERAL = 1, 2, 3
"""Kinds of relations; 0 where there is none."""
KINDS = {"quadratic": QUADRATIC, "coulomb": COULOMB, "general": GENERAL}
PARAMETERS = 5


class Resisting(NamedTuple):
    """Relations of the spring-dampers (m): kinds, parameters, addresses of functions and derivatives (0: none)."""

    kind: Index  # (m,)
    parameter: Array  # (m, 5)
    function: Index  # (m,)
    derivative: Index  # (m,)
    steepness: Array  # (m,), slopes at rest
    resisting: Index  # those that have one


def resisting(springs: Springs, names: list[str]) -> Resisting:
    """The arrays of all relations; ValueError where numba cannot compile one of a user."""
    count = springs.damping.size
    kind, function, derivative = (np.zeros(count, dtype=np.int64) for _ in range(3))
    parameter, steepness = np.zeros((count, PARAMETERS)), np.zeros(count)
    for i, relation in zip(springs.resisting, springs.relations, strict=True):
        kind[i] = KINDS[relation.kind]
        parameter[i, : len(relation.parameters)] = relation.parameters
        function[i], derivative[i] = _addresses(names[i], relation)
    steepness[springs.resisting] = springs.steepness
    return Resisting(kind, parameter, function, derivative, steepness, springs.resisting)


def compile_relations(mechanism: Model) -> None:
    """Compile the functions of all general relations; ValueError, with name, where numba cannot."""
    springs = mechanism.network.arrays.springs
    if any(relation.kind == "general" for relation in springs.relations):
        resisting(springs, [name for name, _ in measures(mechanism.connections)])


def _addresses(name: str, relation: Relation) -> tuple[int, int]:
    """Of the code of its functions, 0 where it has none."""
    try:
        function, derivative = (
            0 if f is None else _callback(f).address for f in (relation.function, relation.derivative)
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return function, derivative


@cache  # code at an address must last as long as the process
def _callback(function: Callable[[float], float]) -> Any:
    """C code of a function; not a number where it raises, so that the plain kernels, which say why, take over."""
    from ....numerics.compiled.functions import compiled_function

    inner = compiled_function("the resistive relation", function, (types.float64,), types.float64)

    def safe(x):
        try:
            return inner(x)
        except Exception:
            return np.nan

    return numba.cfunc(types.float64(types.float64))(safe)


@intrinsic
def _call(context: Any, address: Any, x: Any) -> Any:
    """The value of C code float → float at an address."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.float64(types.int64, types.float64), build


@kernel
def force(m: Memory, i: int, s: float) -> float:
    """ρ(s) of a spring-damper, see flexph.systems.resistive_relations."""
    kind = m.joints_kind[i]
    parameter = m.joints_parameter[i]
    if kind == QUADRATIC:
        return parameter[0] * abs(s) * s
    if kind == COULOMB:
        x = s / parameter[3]
        level = parameter[0] + (parameter[2] - parameter[0]) * math.exp(-(x * x))
        return level * math.tanh(s / parameter[1]) + parameter[4] * s
    if kind == GENERAL:
        return _call(m.joints_function[i], s)
    return 0.0


@kernel
def slope(m: Memory, i: int, s: float) -> float:
    """ρ'(s), of functions without derivative by central differences."""
    kind = m.joints_kind[i]
    parameter = m.joints_parameter[i]
    if kind == QUADRATIC:
        return 2.0 * parameter[0] * abs(s)
    if kind == COULOMB:
        x = s / parameter[3]
        drop = (parameter[2] - parameter[0]) * math.exp(-(x * x))
        smooth = math.tanh(s / parameter[1])
        change = -2.0 * s / parameter[3] ** 2 * drop
        return change * smooth + (parameter[0] + drop) * (1.0 - smooth**2) / parameter[1] + parameter[4]
    if kind == GENERAL:
        derivative = m.joints_derivative[i]
        if derivative != 0:
            return _call(derivative, s)
        step = DIFFERENCE * max(abs(s), 1.0)
        function = m.joints_function[i]
        return (_call(function, s + step) - _call(function, s - step)) / (2.0 * step)
    return 0.0


@kernel
def keep_rates(m: Memory) -> None:
    """Keep the extensions before a correction."""
    for i in m.joints_resisting:
        m.trial_before[i] = m.trial_extension[i]


@kernel
def stick(m: Memory, h: float) -> bool:
    """Mark relations to be taken by their tangent at rest (see exact.newton); whether any is or was marked."""
    marked = False
    for i in m.joints_resisting:
        s, t, was = m.trial_before[i] / h, m.trial_extension[i] / h, m.trial_stuck[i] != 0.0
        m.trial_stuck[i] = 1.0 if not was and s * t < 0.0 and slope(m, i, s) < 0.5 * m.joints_steepness[i] else 0.0
        marked = marked or was or m.trial_stuck[i] != 0.0
    return marked


@kernel
def generates(m: Memory, h: float) -> bool:
    """Whether a relation of a user generates energy at the rate of a step, or gives no number."""
    for i in m.joints_resisting:
        if m.joints_kind[i] == GENERAL:
            s = m.trial_extension[i] / h
            f = force(m, i, s)
            if not s * f >= 0.0 or (s == 0.0 and f != 0.0):
                return True
    return False
