"""Whether controllers with constraints on their inputs start as these do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..numerics.arrays import Array, dense
from ..systems.as_nonlinear import with_multipliers
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .laws.terminated import Terminated

FITS = 1e-6
"""Part of its terms up to which a constraint holds."""
NOTHING = 1e-9
"""Part of the largest velocity of the mechanism that is none."""
APART, SINGULAR = 1e-6, 1e-5
"""Distance of differences, and what is singular of their matrix."""

Flow = Callable[[Array, Array], Array]


def check_start(name: str, system: LinearPHDAE | PHDAE | Terminated, x: Array, u: Array, *, fastest: float) -> None:
    """Raise ValueError where stored states contradict inputs to which equations without rates and free states tie them.

    Such as the spin of a rotor on a shaft, in 0 = −Ω + nω: steps would alternate about it. ``fastest`` is the largest
    velocity of the mechanism.
    """
    E, flow, start = _equations(system, x)
    rows, free = linalg.null_space(E.T), linalg.null_space(E)
    if not rows.size:
        return
    here = flow(start, u)
    slopes = [(flow(start + APART * one, u) - here) / APART for one in free.T]
    tied = rows @ linalg.null_space((rows.T @ np.transpose(slopes)).T, rcond=SINGULAR)
    at_rest = flow(start, np.zeros_like(u))
    own, by_inputs = tied.T @ at_rest, tied.T @ (here - at_rest)
    gains = np.sum([np.abs(tied.T @ (flow(start, one) - at_rest)) for one in np.eye(u.size)], axis=0)
    if np.any(np.abs(own + by_inputs) > FITS * (np.abs(own) + np.abs(by_inputs)) + NOTHING * fastest * gains):
        given = ", ".join(f"{value:.6g}" for value in x)
        raise ValueError(
            f"controller {name!r} starts with {given}, which contradicts the velocities of its ports there: "
            "give states that fit them as Continuous(start=...)"
        )


def _equations(system: LinearPHDAE | PHDAE | Terminated, x: Array) -> tuple[Array, Flow, Array]:
    """E, the right side as a function of the state and inputs, and the state with multipliers."""
    if isinstance(system, Terminated):  # laws change how fast stored states move, and no more of them are tied
        system = replace(system.system, B=dense(system.system.B)[:, : -len(system.laws)], ports=system.ports)
    if isinstance(system, LinearPHDAE):
        whole = with_multipliers(system)
        A, B = dense(whole.J) - dense(whole.R), dense(whole.B)
        return dense(whole.E), lambda at, u: A @ at + B @ u, np.append(x, np.zeros(whole.size - x.size))
    return (
        dense(system.E(x)),
        lambda at, u: (system.J(at) - system.R(at)) @ system.z(at) + system.port_matrices(at).flow(u),
        x,
    )
