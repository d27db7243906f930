"""Matrices of linear systems as functions of parameters, and steps of finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space

from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.differences import central_of_order_four
from ...systems.linear import LinearPHDAE


def stated_steps(at: Mapping[str, float], steps: float | Mapping[str, float]) -> dict[str, float]:
    """Step of each parameter, in its unit, from one relative step for all parameters or a step by parameter.

    Raises ValueError for a relative step of a parameter that is zero.
    """
    if not at:
        raise ValueError("at must have at least one parameter, got none")
    if not isinstance(steps, Mapping):
        for name, value in at.items():
            if value == 0.0:
                raise ValueError(f"steps must be a dict with a step of {name!r}, which is zero and sets no scale")
        return {name: check.positive("steps", steps) * abs(value) for name, value in at.items()}
    return {name: check.positive(f"steps[{name!r}]", check.lookup("step", name, steps)) for name in at}


def plain_system(system: Callable[..., Any], at: Mapping[str, float]) -> LinearPHDAE:
    """System at given parameters, with modes as vectors of its states x.

    The names of states before elimination (``parts``), and the map from x to these (``lift``), are left out. Raises
    ValueError if the user's function does not return a LinearPHDAE.
    """
    made = check.value_of("system", lambda parameters: system(**parameters), dict(at))
    if not isinstance(made, LinearPHDAE):
        raise ValueError(f"system must return a LinearPHDAE, {LinearPHDAE.remedy}, got {type(made).__name__}")
    return replace(made, lift=None, parts={})


class Matrices(NamedTuple):
    """Matrices E, A = J − R and B of a linear system, or derivatives of these, on the kernel of the constraints."""

    E: Array
    A: Array
    B: Array


class ProjectedMatrices:
    """Matrices of a system as functions of parameters, projected onto the kernel of its constraint matrix G.

    The basis of the kernel depends smoothly on the parameters near ``at``, the point at which it is orthonormal.
    """

    def __init__(self, system: Callable[..., Any], at: Mapping[str, float]) -> None:
        self.system, self.at = system, dict(at)
        here = plain_system(system, self.at)
        self.basis = null_space(dense(here.G)) if here.G.shape[0] else np.eye(here.E.shape[0])
        self.matrices = self._of(here)

    def change(self, name: str, step: float) -> Matrices:
        """Derivatives at ``at`` of the projected matrices with respect to the parameter ``name``.

        They are differences of fourth order with the given ``step`` of the parameter.
        """

        def at(value: float) -> Array:
            stacked = np.empty(3, dtype=object)  # an array of matrices, added and scaled one by one
            stacked[:] = self._of(plain_system(self.system, {**self.at, name: value}))
            return stacked

        return Matrices(*(central_of_order_four(at, self.at[name], step) / step))

    def _of(self, system: LinearPHDAE) -> Matrices:
        """Project the matrices of a system onto the kernel of its G.

        The basis of the kernel is the basis at ``at``, projected onto this kernel.
        """
        Z, G = self.basis, dense(system.G)
        if G.shape[0]:
            Z = Z - np.linalg.pinv(G) @ (G @ Z)
        return Matrices(Z.T @ dense(system.E) @ Z, Z.T @ (dense(system.J) - dense(system.R)) @ Z, Z.T @ dense(system.B))
