"""Flow of a fluid through rods and cables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from flexph.bodies.nodal_body import BodyFlow
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.units.arguments import quantities

from .elements import RodMesh
from .hermite import HermiteLine


@quantities(mass_per_length="kg/m", speed="m/s")
@checked
@dataclass(frozen=True)
class Flow:
    """Mass that moves along a rod or cable from ``root`` to ``tip``: fluid in a hose, or the material of a belt.

    The moving mass m per length has the speed u along the curve y(s), and the kinetic energy ½∫m|ẏ + uy'|² ds. It
    enters at the root and leaves at the tip along the slope there, with its momentum. With T the kinetic energy of the
    velocities ẏ of the rod and of the moving mass, and V all other energy,

        d/dt(T + V − ½∫m u²|y'|² ds) = −m u [ẏ·(ẏ + uy')]  from root to tip,

    which every step satisfies to round-off at any step size. The ledger has the third term as energy ``flow NAME``, and
    the right side at both ends as works ``NAME: inlet`` and ``NAME: outlet``; the work of a changing speed is
    ``NAME: speed``.

    Parameters
    ----------
    mass_per_length : float
        m [kg/m], added to the mass of the rod or cable.
    speed : float or callable
        u [m/s], or u(t); negative from tip to root.

    Raises
    ------
    ValueError
        For a mass that is not positive, and a speed that is neither a number nor a function.

    Notes
    -----
    Sources: T. B. Benjamin, Proc. R. Soc. A 261 (1961) 457; R. W. Gregory and M. P. Païdoussis, Proc. R. Soc. A 293
    (1966) 512. The pressure of the fluid, which a tension balances, is left out.

    Examples
    --------
    >>> import fem
    >>> water = fem.Flow(0.8, 5.0)
    >>> hose = fem.cable(1.0, mass_per_length=0.2, axial=1e4, bending=1.0, elements=4, dim=2, flow=water)
    >>> round(hose.mass, 12)
    1.0
    """

    mass_per_length: float
    speed: float | Callable[[float], float]

    def __post_init__(self) -> None:
        check.positive("mass_per_length", self.mass_per_length, "kg/m")
        if not callable(self.speed):
            check.number("speed", self.speed)


def flow_of_rod(flow: Flow | None, mesh: RodMesh) -> BodyFlow | None:
    """Flow through a rod, with matrices over its nodes; None without a flow."""
    if flow is None:
        return None
    element, count = mesh.element, mesh.nodes.size
    half = 0.5 * mesh.lengths
    m, along, tension = flow.mass_per_length, np.zeros((count, count)), np.zeros((count, count))
    for half_length, nodes in zip(half, mesh.numbers, strict=True):
        at = np.ix_(nodes, nodes)
        along[at] += m * element.shape.T @ (element.weights[:, None] * element.slope)
        tension[at] += m / half_length * element.slope.T @ (element.weights[:, None] * element.slope)
    shape, slope = np.zeros((2, count)), np.zeros((2, count))
    for end in (0, -1):
        nodes = mesh.numbers[end]
        shape[end, nodes[end]] = 1.0
        slope[end, nodes] = element.end_slope[end] / half[end]
    return BodyFlow(m, flow.speed, along, tension, shape, slope)


def flow_of_cable(flow: Flow | None, line: HermiteLine) -> BodyFlow | None:
    """Flow through a cable, with matrices over its mass points; None without a flow."""
    if flow is None:
        return None
    m, lengths = flow.mass_per_length, np.diff(line.borders)
    xi, weights = leggauss(4)  # exact for products of cubic shapes
    s = (line.borders[:-1, None] + 0.5 * lengths[:, None] * (1.0 + xi)).ravel()
    w = 0.5 * m * (lengths[:, None] * weights).ravel()
    N, slope, ends = line.at(s), line.at(s, 1), line.borders[[0, -1]]
    along, tension = (part.T @ (w[:, None] * slope) for part in (N, slope))
    return BodyFlow(m, flow.speed, along, tension, line.at(ends), line.at(ends, 1))
