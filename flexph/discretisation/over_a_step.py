"""Matrices of a system at a state or over a step by one interface, for composite systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..numerics.arrays import Array, dense
from ..systems.nonlinear import PHDAE
from .descriptor_split import differential_states
from .discretised import discretised
from .own_pair import with_pair


class View(Protocol):
    """Access to E, J, R, B (dense) and z of a system by name, with the state ``place`` for other functions."""

    place: Array

    def __call__(self, name: str) -> Array:
        """Matrix or vector E, J, R, B or z."""


class AtState:
    """System at a state."""

    def __init__(self, system: PHDAE, x: Array) -> None:
        self.system, self.place = system, x

    def __call__(self, name: str) -> Array:
        """Matrix or vector E, J, R, B or z."""
        return dense(getattr(self.system, name)(self.place))


class OverStep:
    """System over a step: its means, or its functions in the middle ([dg] definition 8)."""

    def __init__(self, system: PHDAE, middle: Callable[[Array, Array], Array], x0: Array, x1: Array) -> None:
        self.system, self.x0, self.x1, self.place = system, x0, x1, middle(x0, x1)

    def __call__(self, name: str) -> Array:
        """Discretised Ē, J̄, R̄, B̄ or z̄."""
        if name == "z":
            return np.asarray(self.system.means["z"](self.x0, self.x1))
        return dense(discretised(self.system, name, self.system.means)(self.x0, self.x1, self.place))


def middle_of(system: PHDAE) -> Callable[[Array, Array], Array]:
    """Evaluation point of functions without a mean: middle of differential states, end of algebraic ones."""
    if "z" in system.means:
        return lambda x0, x1: 0.5 * (x0 + x1)
    own = differential_states(system)[0]
    onto_states = own @ own.T
    return lambda x0, x1: x1 - 0.5 * (onto_states @ (x1 - x0))


def all_paired(systems: tuple[PHDAE, ...]) -> tuple[PHDAE, ...]:
    """The systems, all with a discrete gradient pair if one of them has one; others take that of ``gonzalez``."""
    if not any("z" in s.means for s in systems):
        return systems
    return tuple(s if "z" in s.means else with_pair(s) for s in systems)
