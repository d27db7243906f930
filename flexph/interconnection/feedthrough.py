"""Systems with feed-through in states without it: inputs and outputs as algebraic states."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..discretisation.over_a_step import AtState, OverStep, View, middle_of
from ..numerics.arrays import Array
from ..systems.discrete_gradients import padded
from ..systems.nonlinear import FEEDTHROUGH, PHDAE

PART = "feedthrough"
"""Part of the states that are inputs w = u and their multipliers λ = y."""


def without_feedthrough(system: PHDAE) -> PHDAE:
    """The same system with states (x, w, λ), w = u and λ = y, and without feed-through; itself where it has none.

        E ẋ = (J − R) z + (B − P) w,   0 = −(B + P)ᵀz − (S − N) w + λ,   0 = −w + u,   y = λ

    J and R get the blocks ``[[J, B, 0], [−Bᵀ, N, 1], [0, −1, 0]]`` and [[R, P], [Pᵀ, S]]; means go along. Discrete
    gradient pairs and Gauss methods take the same steps of it. Interconnections and the analysis work on this form.
    """
    if not system.has_feedthrough:
        return system
    n, m, form = system.size, system.inputs_size, _Expanded(system)
    spread = {"B", *FEEDTHROUGH} & set(system.means)  # what J and R are made of
    names = ({*system.means} - {"B", *FEEDTHROUGH}) | ({"J", "R"} if spread else set())
    return PHDAE(
        E=partial(form.at, "E"),
        J=partial(form.at, "J"),
        R=partial(form.at, "R"),
        z=partial(form.at, "z"),
        B=np.vstack([np.zeros((n + m, m)), np.eye(m)]),
        H=lambda x: system.H(x[:n]),
        sample=np.concatenate([system.sample, np.zeros(m), system.output(system.sample, np.zeros(m))]),
        ports=system.ports,
        parts={**system.parts, PART: slice(n, n + 2 * m)},
        means={name: partial(form.over, name) for name in sorted(names)},
        invariants=None if system.invariants is None else padded(system.invariants, n, 2 * m),
        cautions=tuple(partial(_of_states, caution, n) for caution in system.cautions),
        start_defects=tuple(partial(_of_states, defect, n) for defect in system.start_defects),
    )


class _Expanded:
    """E, J, R and z of (x, w, λ) from the matrices of the system, at a state or over a step."""

    def __init__(self, system: PHDAE) -> None:
        self.system, self.middle = system, middle_of(system)

    def at(self, name: str, x: Array) -> Array:
        """At a state."""
        n = self.system.size
        return self._made(name, AtState(self.system, x[:n]), x[n:])

    def over(self, name: str, x0: Array, x1: Array) -> Array:
        """Over a step; w and λ are stage values."""
        n = self.system.size
        return self._made(name, OverStep(self.system, self.middle, x0[:n], x1[:n]), x1[n:])

    def _made(self, name: str, view: View, extra: Array) -> Array:
        n, m = self.system.size, self.system.inputs_size
        if name in ("z", "gradient"):
            return np.concatenate([view(name), extra if name == "z" else np.zeros(2 * m)])
        made = np.zeros((n + 2 * m,) * 2)
        x, w, y = slice(0, n), slice(n, n + m), slice(n + m, n + 2 * m)
        made[x, x] = view(name)
        if name == "J":
            B = view("B")
            made[x, w], made[w, x], made[w, w] = B, -B.T, view("N")
            made[w, y], made[y, w] = np.eye(m), -np.eye(m)
        if name == "R":
            P = view("P")
            made[x, w], made[w, x], made[w, w] = P, P.T, view("S")
        return made


def _of_states(of: Callable[..., Any], n: int, x: Array, *others: float) -> Any:
    return of(x[:n], *others)
