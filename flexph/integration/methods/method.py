"""Base classes of integration methods, and checks of their options."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Literal, get_args

import numpy as np

from ...numerics import checks as check

Completion = Literal["new", "old", "mean"]
"""Algebraic states z̄₂ at x₂¹, at x₂⁰ or at ½(x₂⁰ + x₂¹), see :class:`DiscreteGradient`."""
Redundancy = Literal["refuse", "least_norm"]
"""Treatment of redundant constraints, see :class:`Exact`."""


class Method(ABC):
    """Integration method: a value whose fields are its options.

    Runs read the properties of this class from every method. A derived class that offers one of them as an option has
    a field of the same name; for the others the property is the default.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Name on the command line, in summaries and in files; :func:`by_name` is the inverse."""

    @property
    def tolerance(self) -> Any:
        """Tolerance by which the method chooses its steps: rtol or (rtol, atol); None if ``times`` prescribe them."""
        return None

    def __repr__(self) -> str:
        """Text of the constructor call, without options that have their defaults."""
        options = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                options.append(f"{field.name}={value!r}" if field.kw_only else repr(value))
        return f"{type(self).__name__}({', '.join(options)})"


class MechanismMethod(Method):
    """Structure-preserving method of mechanisms; its runs return a :class:`flexph.Solution`."""

    @property
    def redundant(self) -> Redundancy:
        """Treatment of redundant constraints: refuse them, or take multipliers of least norm."""
        return "refuse"


class GeneralMethod(Method):
    """Method of general systems, and of the equations of mechanisms; its runs return a :class:`flexph.Trajectory`."""

    @property
    def completion(self) -> Completion | None:
        """Rule for the algebraic states at the start and end of steps; None for the default of the method."""
        return None


def frozen_tolerance(given: Any) -> Any:
    """Tolerance whose absolute tolerances are tuples instead of arrays, so that methods can be compared and hashed."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    return tuple(tuple(np.asarray(x).tolist()) if np.ndim(x) else x for x in given) if pair else given


def check_completion(completion: Any) -> None:
    """Raise ValueError unless ``completion`` is None or the name of a completion rule."""
    if completion is not None:
        check.choice("completion", completion, get_args(Completion))


def check_redundant(redundant: Any) -> None:
    """Raise ValueError unless ``redundant`` is "refuse" or "least_norm"."""
    check.choice("redundant", redundant, get_args(Redundancy))
