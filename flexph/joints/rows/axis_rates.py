"""Stiffness and damping along several axes: one number for all, or one for each."""

from collections.abc import Sequence

import numpy as np

from ...numerics import checks as check
from ...systems.resistive_relations import Relation, resisting


def stiffness_of_axes(name: str, given: float | Sequence[float], count: int) -> np.ndarray:
    """Coefficients of all axes (count,), from one or from one each; not negative."""
    values = np.full(count, check.number(name, given)) if np.isscalar(given) else check.array(name, given, (count,))
    if np.any(values < 0.0):
        raise ValueError(f"{name} must not be negative, got {given}")
    return values


def damping_of_axes(
    name: str, given: float | Relation | Sequence[float | Relation], count: int
) -> list[float | Relation]:
    """Coefficients or relations of all axes."""
    if isinstance(given, Relation) or callable(given):
        return [resisting(name, given)] * count
    if isinstance(given, Sequence) and len(given) == count and any(isinstance(one, Relation) for one in given):
        return [resisting(name, one) for one in given]
    numbers: list[float | Relation] = stiffness_of_axes(name, given, count).tolist()  # type: ignore[arg-type]
    return numbers
