"""Impasse points, where resistive relations make a system ill-posed ([survey] sec. 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import derivative
from ..systems.inputs import Input
from .view import System, SystemView, view, with_ports

STEEP = 1e-8
"""Ratio of the smallest singular value of ∂g/∂x₂ to the largest along the path that marks an impasse point."""


@dataclass(frozen=True, eq=False)
class ImpassePoint:
    """State beyond which the algebraic states cannot be continued: ∂g/∂x₂ is singular there.

    Attributes
    ----------
    position : float
        Position on the path, between 0 and 1.
    state : array
        State (n,).
    direction : array
        Direction (n − r,) of the algebraic states that is not determined there.
    """

    position: float
    state: Array
    direction: Array


@checked
def turning_points(
    characteristic: Callable[[float], float], interval: tuple[float, float], *, count: int = 400
) -> list[tuple[float, float]]:
    """Points (f, e) of a characteristic e = h(f) with h'(f) = 0, from sign changes of differences in an interval.

    If the storage gives the effort, a flow-controlled relation with such points is not well-posed: solutions end
    there, at impasse points ([survey] example 4.4).

    Parameters
    ----------
    characteristic : callable
        h, the effort as a function of the flow.
    interval : tuple[float, float]
        The least and the largest flow.
    count : int
        Number of differences that are examined.

    Returns
    -------
    list[tuple[float, float]]
        Pairs (f, e).
    """
    low, high = interval
    if not low < high:
        raise ValueError(f"interval must be (low, high) with low < high, got {interval}")

    def slope(f: float) -> float:
        return float(derivative(lambda at: np.array([characteristic(float(at[0]))]), np.array([f]))[0, 0])

    grid = np.linspace(low, high, check.count("count", count, 2))
    values = [slope(f) for f in grid]
    points = []
    for a, b, one, two in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True):
        if one == 0.0 or one * two < 0.0:
            f = float(a) if one == 0.0 else float(scipy.optimize.brentq(slope, a, b, xtol=1e-14))
            points.append((f, float(characteristic(f))))
    return points


@checked
def impasse_points(
    system: System,
    path: Sequence[Sequence[float]] | Array,
    *,
    inputs: Mapping[str, Input] | None = None,
    time: float = 0.0,
) -> list[ImpassePoint]:
    """States on a polygonal path (k, n) at which ∂g/∂x₂ of the algebraic equations is singular.

    A sign change of the determinant between two states is located to round-off; a singular value that touches zero
    without a sign change is reported at the given states. Systems whose equations do not determine the algebraic
    states at all (index two) have no impasse points: see ``analyze``.

    Parameters
    ----------
    system : PHDAE, LinearPHDAE, PortHamiltonian or Mechanism
        The system.
    path : array_like
        States (k, n), joined by straight lines.
    inputs : mapping, optional
        Inputs by port, zero unless given; they are held at their values at ``time``.
    time : float
        Time [s].

    Returns
    -------
    list[ImpassePoint]
        Impasse points in the order of the path.
    """
    here = view(system, inputs=inputs, time=time)
    u = here.equations.forcing.at(time)
    states = check.array("path", [with_ports(system, x, u) for x in path], (None, here.x.size))
    if not here.V2.shape[1]:
        return []
    scale = np.max([np.abs(here.algebraic_slope(x)) for x in states], axis=0)
    if np.linalg.matrix_rank(scale) < scale.shape[1] or scale.shape[0] != scale.shape[1]:
        return []
    values = [_determinant(here, x) for x in states]
    largest = float(np.max(np.abs(values)))
    points, count = [], max(len(states) - 1, 1)
    for i, value in enumerate(values):
        if abs(value) <= STEEP * largest:
            points.append(_impasse(here, states[i], i / count))
        elif i + 1 < len(values) and value * values[i + 1] < 0.0 and abs(values[i + 1]) > STEEP * largest:
            a, b = states[i], states[i + 1]
            value_at = lambda t, a=a, b=b: _determinant(here, a + t * (b - a))  # noqa: E731
            s = float(scipy.optimize.brentq(value_at, 0.0, 1.0, xtol=1e-14))
            points.append(_impasse(here, a + s * (b - a), (i + s) / count))
    return points


def _determinant(here: SystemView, x: Array) -> float:
    return float(np.linalg.det(here.algebraic_slope(x)))


def _impasse(here: SystemView, x: Array, position: float) -> ImpassePoint:
    return ImpassePoint(position, x, np.linalg.svd(here.algebraic_slope(x))[2][-1])
