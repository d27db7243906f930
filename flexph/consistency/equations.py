"""Residual ``F(t, x, ẋ) = E(x)ẋ − (J − R)z − (B − P)u`` of a general system, its derivatives; sizes of states.

V₁ᵀx are the differential and V₂ᵀx the algebraic states of x, the rows with U₁ᵀ and U₂ᵀ the differential and algebraic
equations, as in :class:`flexph.discretisation.descriptor_split.Split`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..discretisation.descriptor_split import differential_split, split_of
from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..numerics.differences import CENTRAL, FORWARD, central, forward
from ..systems.inputs import Forcing
from ..systems.nonlinear import PHDAE, ROUND_OFF

POINTS = 0.5 - 0.5 * np.cos(np.pi * np.arange(10) / 9.0)
"""Ten Chebyshev points from 0 to 1 at which a function is evaluated for its derivative at 0."""
_POINTS = POINTS.tolist()
_COEFFICIENTS = np.linalg.inv(np.polynomial.chebyshev.chebvander(2.0 * POINTS - 1.0, 9))
END_SLOPE: Array = np.array(2.0 * np.polynomial.chebyshev.chebval(-1.0, np.polynomial.chebyshev.chebder(_COEFFICIENTS)))
"""Weights of the values of a function at POINTS in its derivative at 0."""
SLOPE_ROUND_OFF = float(np.abs(END_SLOPE).sum()) * np.finfo(float).eps
"""Round-off of the derivative by END_SLOPE, relative to the largest value divided by the length of the interval."""
WINDOWS = 8
"""Largest number of intervals that are tried for a time derivative, each a quarter as long as the one before."""
ALMOST_NOTHING = 1e-12
"""Size of an algebraic state, relative to the largest in its part, below which it is round-off and is replaced by the
largest."""
OF_BALANCE = 1e-3
"""Smallest size of an algebraic state, relative to the value that balances its equations. The same share of the largest
state is the displacement of algebraic states for derivatives."""
NEARER = 0.1
"""Factor by which a displacement is reduced if the system cannot be evaluated at the displaced state."""
AT_LEAST = 1e-3
"""Displacement of all states, relative to their sizes, whose effect on a costate is the least magnitude with which this
costate counts in the terms of an equation."""
LOST = 1e3 * np.finfo(float).eps
"""Change of an equation by a displacement, relative to its terms, up to which it is round-off."""
STRONG = 1e-3
"""Derivative of a differential equation with respect to a multiplier, relative to the largest one, above which the
equation counts for the size of the multiplier."""
OF_START = 1e-3
"""Accuracy to which the rates of inputs must be determined at a start; the rate of a drive is a second difference."""


class Equations:
    """System under given inputs, split into differential and algebraic equations.

    ``span`` is the time interval [s] in which inputs may be evaluated. An E without a constant
    split is split at the state ``at``, and ``varies`` is True; without ``at`` ValueError is raised.
    """

    def __init__(self, system: PHDAE, forcing: Forcing, span: tuple[float, float], *, at: Array | None = None) -> None:
        self.system, self.forcing, self.span = system, forcing, span
        split = differential_split(system)
        self.varies = split is None
        if split is None:
            if at is None:
                raise ValueError("E(x) is singular and not semi-explicit: transform(...) the system ([dg] theorem 8)")
            split = split_of(dense(system.E(at)))
        self.split = split

    def flow(self, t: float, x: Array) -> Array:
        """Flow (J − R)z + (B − P) u."""
        system = self.system
        z = system.z(x)
        flow: Array = system.J(x) @ z - system.R(x) @ z
        u = self.forcing.at(t)
        return flow + system.port_matrices(x).flow(u) if u.any() else flow

    def terms(self, t: float, x: Array, size: Array, least: float = 0.0) -> Array:
        """Sum of the magnitudes |J − R||z| + |B − P||u| (n,) of the terms of each equation.

        The magnitude of a costate is at least its change if the states change by a thousandth of their sizes, and at
        least ``least`` times the magnitude of the largest costate.
        """
        system = self.system
        z, u = system.z(x), np.abs(self.forcing.at(t))
        floor = np.maximum(np.abs(system.z(x + AT_LEAST * size) - z), least * np.abs(z).max(initial=0.0))
        terms: Array = abs(system.J(x) - system.R(x)) @ np.maximum(np.abs(z), floor)
        return terms + abs(system.port_matrices(x).of_inputs) @ u

    def residual(self, t: float, x: Array, rate: Array) -> Array:
        """Residual E(x)ẋ − (J − R)z − (B − P)u."""
        return self.system.E(x) @ rate - self.flow(t, x)

    def jacobian(self, t: float, x: Array, rate: Array, size: Array) -> tuple[Array, Array]:
        """Derivatives ∂F/∂x (given, or by forward differences with the sizes of the states) and ∂F/∂ẋ = E."""
        E, given = dense(self.system.E(x)), self.system.derivatives
        if given is not None:
            u, z = self.forcing.at(t), self.system.z(x)
            flow = self.system.J(x) - self.system.R(x)
            return given.of_descriptor(x, rate) - given.of_flow(x, z, flow, u), E
        return self._differences(t, x, rate, size, directions=np.eye(x.size)), E

    def along_algebraic(self, t: float, x: Array, size: Array) -> Array:
        """Derivatives ∂((J − R)z + Bu)/∂x V₂ with respect to the algebraic states, (n, n − r)."""
        zero = np.zeros(x.size)
        if self.system.derivatives is not None:
            return -self.jacobian(t, x, zero, size)[0] @ self.split.V2
        return -self._differences(t, x, zero, size, directions=self.split.V2)

    def _differences(self, t: float, x: Array, rate: Array, size: Array, *, directions: Array) -> Array:
        steps = FORWARD * np.maximum(size, np.abs(x)) @ np.abs(directions)
        return forward(lambda x: self.residual(t, x, rate), x, self.residual(t, x, rate), steps, directions=directions)

    def rate(self, t: float, x: Array) -> Array:
        """Rates V₁ᵀẋ (r,) of the differential states."""
        s = self.split
        E = s.U1.T @ dense(self.system.E(x)) @ s.V1
        return np.linalg.solve(E, s.U1.T @ self.flow(t, x))

    def algebraic(self, t: float, x: Array) -> Array:
        """Algebraic equations g = U₂ᵀ((J − R)z + Bu), zero at consistent states."""
        return self.split.U2.T @ self.flow(t, x)

    def slopes(self, t: float, x: Array, size: Array, rows: Array) -> Array:
        """Derivatives of combinations of (J − R)z + Bu with respect to the differential states, (k, r).

        The columns of ``rows`` (n, k) are the weights of the combinations. Derivatives are given or central
        differences.
        """
        V1, zero = self.split.V1, np.zeros(x.size)
        if self.system.exact_derivatives is not None:
            return -rows.T @ self.jacobian(t, x, zero, size)[0] @ V1
        slopes = np.empty((rows.shape[1], V1.shape[1]))
        for k, direction in enumerate(V1.T):
            step = CENTRAL * float(np.abs(direction) @ np.maximum(size, np.abs(x)))
            slopes[:, k] = rows.T @ central(partial(self.flow, t), x, step * direction) / step
        return slopes

    def input_rate(self, t: float) -> Array:
        """Time derivatives u̇ (m,) of the inputs that enter algebraic equations; zero for others.

        They are differences within the time interval ``span``.
        """
        of_inputs = dense(self.system.port_matrices(self.system.sample).of_inputs)
        reach = np.abs(self.split.U2.T @ of_inputs).max(axis=0, initial=0) > 0.0
        columns = np.flatnonzero(reach & self.forcing.varying)
        rates = np.zeros(self.system.inputs_size)
        for k in columns:
            rates[k] = slope(partial(self._input, int(k)), t, self.span, OF_START)
        return rates

    def _input(self, k: int, t: float) -> float:
        return float(self.forcing.at(t)[k])

    def power(self, t: float, x: Array) -> Array:
        """Power into each port, yᵀu, followed by the dissipated power (z, u)ᵀZ(z, u) [W]."""
        z, u, matrices = self.system.z(x), self.forcing.at(t), self.system.port_matrices(x)
        y = matrices.output(z, u)
        ports = [float(y[p] @ u[p]) for p in self.system.ports.values()]
        return np.array([*ports, matrices.dissipated(self.system.R(x), z, u)])

    def output(self, t: float, x: Array) -> Array:
        """Outputs y = (B + P)ᵀz + (S − N) u."""
        return self.system.port_matrices(x).output(self.system.z(x), self.forcing.at(t))


def slope(function: Callable[[float], Any], t: float, span: tuple[float, float], accuracy: float = 1e-6) -> float:
    """Time derivative of a function at t, by interpolation at Chebyshev points near t within ``span``.

    The interval shrinks until the derivatives of two successive intervals agree up to their round-off; otherwise the
    best agreement is used. Raises ValueError if it is worse than ``accuracy``, as at a jump or kink of the function.
    """
    t, length = float(t), span[1] - span[0]
    side = 1.0 if t - span[0] < 0.5 * length else -1.0
    window, last, best = min(0.1, 0.25 * length), float("inf"), (float("inf"), 0.0)
    for _ in range(WINDOWS):
        values = np.array([float(function(t + side * window * c)) for c in _POINTS])
        rate = side * float(END_SLOPE @ (values - values[0])) / window  # the weights add up to zero only to round-off
        apart, largest = abs(rate - last), float(max(values.max(), -values.min())) / window
        if apart <= SLOPE_ROUND_OFF * largest:
            return last
        gap = apart / max(abs(rate), largest * 1e-3, 1e-300)
        best = min(best, (gap, rate))
        if gap < 1e-11:
            break
        window, last = 0.25 * window, rate
    if not best[0] < accuracy:
        raise ValueError(f"an input of algebraic equations has no derivative at t = {t} s (error {best[0]:.1e})")
    return best[1]


def sizes(system: PHDAE, x: Array) -> Array:
    """Size of each state: the larger of its value and the value with the energy |H(x)|, ``½ ∂²H/∂x_i² size² = |H|``.

    States without energy have the size of the largest entry of their part; if that is zero, a thousandth of the largest
    of all states; if all are zero, one.
    """
    size, around = np.abs(x), np.zeros(x.size)
    rest = ROUND_OFF * float(size.max(initial=0.0))
    for part in system.parts.values():  # later parts may be subdivisions
        largest = float(np.abs(x[part]).max(initial=0.0))
        if largest > max(rest, check.ROUND_OFF * float(around[part].max(initial=0.0))):
            size[part], around[part] = largest, largest
        elif not around[part].any():  # a part of round-off has no size of itself
            size[part] = 0.0
    floor = np.maximum(size, 1e-3 * size.max(initial=0.0))
    floor = np.where(floor > 0.0, floor, 1.0)
    energy, stiff = abs(float(system.H(x))), _stiffness(system, x, floor)
    by_energy = np.sqrt(2.0 * energy / np.where(stiff > 0.0, stiff, np.inf))
    size = np.where(by_energy > 0.0, np.maximum(by_energy, np.abs(x)), size)
    return np.where(size > 0.0, size, floor)


def with_algebraic(system: PHDAE, x: Array, size: Array) -> Array:
    """Sizes of states, with algebraic states raised to a share of the value that balances their equations.

    The value of a multiplier near zero may be round-off, or the error of a rate, and is then not its size. If the other
    terms of its equation are round-off, too, the state gets the largest size in its part.
    """
    raised = np.maximum(size, OF_BALANCE * balances(system, x, size))
    algebraic = np.flatnonzero(~dense(system.E(x)).any(axis=0))
    for part in system.parts.values():
        in_part = algebraic[np.isin(algebraic, np.arange(x.size)[part])]
        largest = float(raised[in_part].max(initial=0.0))
        raised[in_part[raised[in_part] <= ALMOST_NOTHING * largest]] = largest
    return raised


def balances(system: PHDAE, x: Array, size: Array) -> Array:
    """Values of algebraic states that balance the other terms of their equations, (n,); zero for other states."""
    E, balance = dense(system.E(x)), np.zeros(x.size)
    algebraic, whole = np.flatnonzero(~E.any(axis=0)), OF_BALANCE * float(np.abs(x).max(initial=0.0))
    if not algebraic.size or whole == 0.0:
        return balance
    z, flow = system.z(x), dense(system.J(x)) - dense(system.R(x))
    terms, columns = np.abs(flow) @ np.abs(z), np.empty((x.size, algebraic.size))
    for i, k in enumerate(algebraic):
        length, changed = _moved_flow(system, x, int(k), max(whole, float(size[k])))
        difference = np.abs(changed - flow @ z)
        columns[:, i] = np.where(difference > LOST * terms, difference, 0.0) / length
    others = np.maximum(terms[:, None] - columns * np.abs(x[algebraic]), 0.0)
    balance[algebraic] = balancing(columns, others, np.asarray(E.any(axis=1)))
    return balance


def _moved_flow(system: PHDAE, x: Array, k: int, length: float) -> tuple[float, Array]:
    """Displacement of state k, and the flow (J − R) z at the displaced state.

    The displacement is ``length``, or less if the system cannot be evaluated there.
    """
    moved = x.copy()
    moved[k] += length
    try:
        flow = dense(system.J(moved)) - dense(system.R(moved))
        return float(moved[k] - x[k]), np.asarray(flow @ system.z(moved))
    except ArithmeticError:
        if length < LOST * float(np.abs(x).max()):
            raise
        return _moved_flow(system, x, k, NEARER * length)


def balancing(columns: Array, terms: Array, differential: Array) -> Array:
    """Sizes (k,) of k states at which their terms are as large as all other terms of an equation.

    Of n equations the one with the largest size counts: the quotient of ``terms`` (n, k), the magnitudes of the terms
    without the state, and ``columns`` (n, k), the magnitudes of the derivatives with respect to it. Only algebraic
    equations that contain the state are considered or, for a multiplier of index 2, which is in no algebraic equation,
    those equations that depend on it most. ``differential`` (n,) is True for differential equations.
    """
    inside = np.where(differential[:, None], 0.0, columns)
    strong = columns > STRONG * columns.max(axis=0, initial=0.0)
    counts = np.where(inside.any(axis=0), inside > 0.0, strong)
    ratio = np.where(counts, terms / np.where(counts, columns, 1.0), 0.0)
    return ratio.max(axis=0, initial=0.0)


def _stiffness(system: PHDAE, x: Array, size: Array) -> Array:
    """Second derivatives ∂²H/∂x_i² (n,); zero for those that are negative, round-off, or small in their part."""
    here, stiffness = system.E(x).T @ system.z(x), np.zeros(x.size)
    for i in range(x.size):
        moved = x.copy()
        moved[i] += CENTRAL * size[i]
        stiffness[i] = float((system.E(moved).T @ system.z(moved) - here)[i]) / (moved[i] - x[i])
    stiffness[stiffness * size <= 1e3 * FORWARD * np.abs(here)] = 0.0
    for part in system.parts.values():
        stiffness[part][stiffness[part] < 1e-6 * stiffness[part].max(initial=0.0)] = 0.0
    return stiffness
