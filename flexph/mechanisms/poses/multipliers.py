"""Consistent multipliers of mechanisms by index reduction, with drives as inputs of their constraint rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...consistency.equations import Equations, slope
from ...consistency.start import start_of
from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import refuse_other_laws
from ...joints.rows.laws import Alignment, Angle, Law
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...systems.inputs import Forcing, Input
from ...systems.nonlinear import PHDAE
from ..equations.phdae import as_phdae
from ..model.consistency import check_consistent, refuse_redundant
from ..model.state import State
from ..model.time_table import laws

if TYPE_CHECKING:
    from ..model.model import Model


def consistent_multipliers(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> State:
    """Implementation of :meth:`flexph.Mechanism.consistent_multipliers`."""
    refuse_contacts(mechanism.connections, "mechanism.consistent_multipliers")
    refuse_other_laws(mechanism, "mechanism.consistent_multipliers")
    if not isinstance(state, State):
        raise ValueError(f"state must be a State, see mechanism.consistent_state(pose), got {type(state).__name__}")
    for name in inputs:
        check.lookup("external port", name, mechanism.network.input_slices)
    refuse_redundant(
        check_consistent(mechanism, state), "use the multipliers of a run by Exact(redundant='least_norm')"
    )
    span = (state.time, np.inf)
    x = start_with_multipliers(mechanism, as_phdae(mechanism, state), {**inputs, **drive_rates(mechanism, span)}, span)
    return replace(state, multipliers=x[state.x.size :], joint_forces=True)


def start_with_multipliers(
    mechanism: Model, system: PHDAE, inputs: Mapping[str, Input], span: tuple[float, float]
) -> Array:
    """Start of a general system of a mechanism, (states,), with consistent multipliers (index 2).

    With these multipliers the rates of all constraints remain zero. The start is the sample state of the system, with
    inputs at the start of the ``span`` [s].
    """
    equations = Equations(system, Forcing(system.ports, inputs, mechanism.layout.dim), span)
    return start_of(equations, span[0], system.sample)[0]


def drive_rates(mechanism: Model, span: tuple[float, float]) -> dict[str, Callable[[float], float]]:
    """Rates that drives prescribe, as functions of time, by the names of their constraint rows.

    ``span`` [s] are the first and last time of the run, outside of which drives are not evaluated.
    """
    rates = {}
    for name, law in zip(mechanism.constraint_names, laws(mechanism), strict=True):
        if callable(law.value):
            rates[name] = _rate_function(law, law.value, name, span)
    return rates


def _rate_function(
    law: Law, value: Callable[[float], Any], name: str, span: tuple[float, float]
) -> Callable[[float], float]:
    @lru_cache(maxsize=64)
    def rate(time: float) -> float:
        now = np.ravel(np.asarray(value(time), dtype=float))
        try:
            moving = [slope(partial(_entry, value, k), time, span) for k in range(now.size)]
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        coefficient, offset = law.rates(now, np.array(moving))
        return float(offset - coefficient @ _products(law, now))

    return rate


def _entry(value: Callable[[float], Any], k: int, time: float) -> float:
    given = value(time)
    return given if isinstance(given, float) else float(np.ravel(given)[k])


def _products(law: Law, value: Array) -> Array:
    """Values of the products V·W of a driven constraint row at which its law holds for a prescribed value."""
    if isinstance(law, Angle):
        return np.array([np.sin(value[0]), np.cos(value[0])])
    if isinstance(law, Alignment):
        matrix = value.reshape(3, 3)
        return np.concatenate([matrix[(law.component + 1) % 3], matrix[(law.component + 2) % 3]])
    return np.zeros(len(law.products))  # the rates of an offset do not depend on the pose
