"""Stiffness and damping of a force element along several axes: one coefficient for all axes, or one for each."""

from collections.abc import Sequence

import numpy as np

from ...laws.resistive_relations import Relation, resisting
from ...laws.spring_law import SpringLaw, check_at_rest, check_law
from ...numerics import checks as check
from .connection import Measure
from .vectors import Product, Vector

Laws = SpringLaw | Sequence[SpringLaw | None] | None


def stiffness_of_axes(name: str, given: float | Sequence[float], count: int) -> np.ndarray:
    """Coefficients (count,) of all axes, from one number for all or one for each.

    Raises ValueError for negative ones; ``name`` is that of the argument.
    """
    values = np.full(count, check.number(name, given)) if np.isscalar(given) else check.array(name, given, (count,))
    if np.any(values < 0.0):
        raise ValueError(f"{name} must not be negative, got {given}")
    return values


def damping_of_axes(
    name: str, given: float | Relation | Sequence[float | Relation], count: int
) -> list[float | Relation]:
    """Damping coefficients or relations of all axes, from one value for all or one for each."""
    if isinstance(given, Relation) or callable(given):
        return [resisting(name, given)] * count
    if isinstance(given, Sequence) and len(given) == count and any(isinstance(one, Relation) for one in given):
        return [resisting(name, one) for one in given]
    return stiffness_of_axes(name, given, count).tolist()  # type: ignore[arg-type]


def laws_of_axes(name: str, given: Laws, stiffness: np.ndarray) -> list[SpringLaw | None]:
    """Laws of the springs along all axes, from one law for all, or a law or None for each.

    Raises ValueError for an axis that has a law and a stiffness.
    """
    count = len(stiffness)
    laws = [*given] if isinstance(given, Sequence) else [given] * count
    if len(laws) != count:
        raise ValueError(f"{name} must be a law or a list with a law or None for each of {count} axes, got {given}")
    for law in laws:
        check_at_rest(name, check_law(name, law), "use a spring_damper with length=0")
    both = [i for i, law in enumerate(laws) if law is not None and stiffness[i]]
    if both:
        raise ValueError(f"{name} and its stiffness exclude each other: axis {both[0]} has both")
    return laws


def component_measures(
    gap: Vector,
    directions: Sequence[Vector],
    stiffness: np.ndarray,
    damping: Sequence[float | Relation],
    *,
    free: Sequence[float] | None = None,
    laws: Sequence[SpringLaw | None] = (None, None, None),
) -> tuple[Measure, ...]:
    """Measures of springs and dampers on the components of a world vector, for directions with a spring or a damper.

    ``gap`` is the vector; stiffness, damping, free values and laws are given for each direction.
    """
    return tuple(
        Measure("component", (Product(gap, d),), float(k), c, None if free is None else free[i], "xyz"[i], law=laws[i])
        for i, (d, k, c) in enumerate(zip(directions, stiffness, damping, strict=True))
        if k or c or laws[i]
    )
