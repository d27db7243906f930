"""Consistent initial values of general systems of index 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.as_nonlinear import from_linear
from ..systems.inputs import Forcing, Input
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .conditions import Conditions, Inconsistency
from .equations import Equations
from .varying import VaryingConditions


@checked
def inconsistency(
    system: PHDAE | LinearPHDAE,
    state: Sequence[float] | Array,
    *,
    time: float = 0.0,
    inputs: Mapping[str, Input] | None = None,
) -> Inconsistency:
    """Defects of the algebraic equations and their hidden conditions at a state, a time and under inputs.

    Equations that the system does not contain (positions behind constraints on velocities) are not checked. Inputs in
    algebraic equations are differentiated.

    Parameters
    ----------
    system : PHDAE or LinearPHDAE
        The system.
    state : array_like
        State (n,).
    time : float
        Time [s].
    inputs : mapping, optional
        Inputs by port: values or functions of time; zero unless given.

    Returns
    -------
    Inconsistency
        Defects by equation; false if the state is consistent.

    Raises
    ------
    ArithmeticError
        If the rank of E changes near the state.
    """
    conditions, x = _conditions(system, state, time, inputs)
    return conditions.report(x)


@checked
def consistent(
    system: PHDAE | LinearPHDAE,
    state: Sequence[float] | Array,
    *,
    time: float = 0.0,
    inputs: Mapping[str, Input] | None = None,
    keep: Sequence[str] = (),
) -> Array:
    """Nearest consistent state (n,): algebraic equations and hidden conditions of index 2 hold to round-off.

    Algebraic states are free. Differential states change least in the norm ``Σ ((x − x₀)/size)²`` (Gauss-Newton). The
    size of a state with energy is the value with the energy |H|, so that velocities change least in kinetic energy; the
    size of another state is the largest entry of its part. If the null space of E varies, no state is algebraic, and
    all change least.

    Parameters
    ----------
    system : PHDAE or LinearPHDAE
        The system.
    state : array_like
        State (n,).
    time : float
        Time [s].
    inputs : mapping, optional
        Inputs by port: values or functions of time; zero unless given.
    keep : sequence of str
        Parts that do not change.

    Returns
    -------
    array
        Consistent state (n,).

    Raises
    ------
    ValueError
        For an unknown part.
    ArithmeticError
        If no consistent state is found; for an index above 2, or above 1 if E is not semi-explicit.
    """
    conditions, x = _conditions(system, state, time, inputs)
    parts = conditions.equations.system.parts
    fixed = np.zeros(x.size, dtype=bool)
    for name in keep:
        fixed[check.lookup("part", name, parts)] = True
    x = conditions.with_algebraic(conditions.nearest(x, fixed))
    left = conditions.report(x)
    if left:
        raise ArithmeticError(f"no consistent state was found near the given one: {left}")
    return x


def start_of(equations: Equations, time: float, x: Array) -> tuple[Array, Conditions | VaryingConditions]:
    """State with consistent algebraic states, and its consistency conditions.

    Raises ValueError if the differential states are inconsistent, ArithmeticError for an index above 2 (above 1 if E is
    not semi-explicit).
    """
    conditions = _conditions_at(equations, time, x)
    x = conditions.with_algebraic(x)
    refuse_inconsistent(conditions, x)
    return x, conditions


def refuse_inconsistent(conditions: Conditions | VaryingConditions, x: Array) -> None:
    """Raise ValueError, naming the defects, for a start that violates the algebraic equations."""
    left = conditions.report(x)
    if left:
        raise ValueError(
            f"inconsistent start at t = {conditions.time} s: {left}; see flexph.consistency.consistent(system, state)"
        )


def _conditions(
    system: PHDAE | LinearPHDAE, state: Sequence[float] | Array, time: float, inputs: Mapping[str, Input] | None
) -> tuple[Conditions | VaryingConditions, Array]:
    system = from_linear(system) if isinstance(system, LinearPHDAE) else system
    x = np.array(check.array("state", state, (system.size,)))
    equations = Equations(system, Forcing(system.ports, inputs or {}), (time, np.inf), at=x)
    return _conditions_at(equations, check.number("time", time), x), x


def _conditions_at(equations: Equations, time: float, x: Array) -> Conditions | VaryingConditions:
    return VaryingConditions(equations, time, x) if equations.varies else Conditions(equations, time, x)
