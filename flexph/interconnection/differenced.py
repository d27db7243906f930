"""Derivatives of a system by forward differences of its functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..numerics.arrays import Array, dense
from ..numerics.differences import FORWARD, forward, state_sizes
from ..systems.derivatives import Derivatives, KnownDerivatives
from ..systems.nonlinear import PHDAE, Constant


def derivatives_of(system: PHDAE) -> Derivatives:
    """Derivatives given with a system, or by forward differences of its non-constant functions."""
    return differenced(system) if system.derivatives is None else system.derivatives


def differenced(system: PHDAE) -> KnownDerivatives:
    """Derivatives of a system by forward differences."""
    fed = system.has_feedthrough
    constant = {name: isinstance(getattr(system, name), Constant) for name in ("E", "J", "R", "B")}
    fixed_ports = constant["B"] and (not fed or isinstance(system.P, Constant))

    def slope(function: Callable[[Array], Any], x: Array) -> Array:
        return slope_of(function, x, system)

    return KnownDerivatives(
        costate=lambda x: slope(system.z, x),
        descriptor=None if constant["E"] else lambda x, w: slope(lambda at: system.E(at) @ w, x),
        structure=None
        if constant["J"] and constant["R"]
        else lambda x, w: slope(lambda at: system.J(at) @ w - system.R(at) @ w, x),
        inputs=None if fixed_ports else lambda x, u: slope(lambda at: system.port_matrices(at).flow(u), x),
        outputs=None if fixed_ports else lambda x, w: slope(lambda at: _outputs(system, at) @ w, x),
        accuracy=FORWARD,
    )


def slope_of(function: Callable[[Array], Any], x: Array, system: PHDAE) -> Array:
    """Derivative ∂f/∂x (m, n) of a function of the state, by forward differences."""
    steps = FORWARD * state_sizes(x, system.parts.values())
    values = lambda at: np.asarray(function(at), dtype=float)  # noqa: E731
    return forward(values, x, values(x), steps)


def _outputs(system: PHDAE, x: Array) -> Any:
    """Output matrix (B + P)ᵀ."""
    B = dense(system.B(x))
    return (B + dense(system.P(x)) if system.has_feedthrough else B).T
