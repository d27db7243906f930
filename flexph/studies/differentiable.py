"""Functions with derivatives, and derivatives of functions for optimisation and fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..numerics.arrays import Array
from .load_cases import Function
from .parameter_derivatives import derivatives
from .parameter_study import Evaluations, value_of


@runtime_checkable
class Differentiable(Protocol):
    """Function of named parameters that also returns derivatives, as :class:`flexph.gradients.Responses` does."""

    def __call__(self, **parameters: float) -> Mapping[str, Any]:
        """Values by name at parameters."""

    def derivatives(self, **parameters: float) -> tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]:
        """Values at parameters, and their derivatives by value and parameter."""


@dataclass(frozen=True)
class WithDerivatives:
    """Function that returns values and derivatives of a differentiable function, so that runs record both.

    The names of derivatives are ``value by parameter``.
    """

    function: Differentiable

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """Differentiable function, whose signature and source identify the study."""
        return self.function

    def __call__(self, **parameters: float) -> dict[str, Any]:
        """Values and derivatives at parameters."""
        values, by = self.function.derivatives(**parameters)
        slopes = {_key(name, key): one for name, of_value in by.items() for key, one in of_value.items()}
        return {**values, **slopes}


def recorded(function: Function) -> Function:
    """Wrap a function that has derivatives, so that it returns values and derivatives together.

    A function without derivatives is returned unchanged, and so are the functions of load cases if one of them has
    none.
    """
    if isinstance(function, Mapping):
        every = all(isinstance(one, Differentiable) for one in function.values())
        return {case: WithDerivatives(one) for case, one in function.items()} if every else function  # type: ignore[arg-type]
    return WithDerivatives(function) if isinstance(function, Differentiable) else function


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the values of runs with respect to parameters: recorded ones, or central differences.

    ``step`` is the step of differences, relative to each parameter, or to its entry of ``scales`` if the parameter is
    zero; it is None if ``runs`` record derivatives.
    """

    runs: Evaluations
    step: float | None
    scales: Mapping[str, float]

    def __call__(self, at: Mapping[str, float], names: Sequence[str]) -> dict[str, Array]:
        """Derivatives (entries, parameters) of each named value, at the parameters ``at``."""
        if self.step is None:
            (values,) = self.runs.values([at])
            by = {name: {key: value_of(values, _key(name, key)) for key in at} for name in names}
        else:
            steps = {name: self.step * (abs(value) or self.scales[name]) for name, value in at.items()}
            by = derivatives(self.runs, at, steps, names)
        return {name: np.stack([np.ravel(by[name][key]) for key in at], axis=1) for name in names}


def _key(name: str, parameter: str) -> str:
    return f"{name} by {parameter}"
