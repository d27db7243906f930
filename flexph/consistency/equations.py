"""``F(t, x, ẋ) = E(x)ẋ − (J − R)z − (B − P)u`` of a general system, its derivatives, and the sizes of its states."""

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
"""Chebyshev points between 0 and 1, ends included."""
_POINTS = POINTS.tolist()
_COEFFICIENTS = np.linalg.inv(np.polynomial.chebyshev.chebvander(2.0 * POINTS - 1.0, 9))
END_SLOPE: Array = np.array(2.0 * np.polynomial.chebyshev.chebval(-1.0, np.polynomial.chebyshev.chebder(_COEFFICIENTS)))
"""Weights of the values in these points for the derivative at 0."""
SLOPE_ROUND_OFF = float(np.abs(END_SLOPE).sum()) * np.finfo(float).eps
"""What a derivative by these weights loses, over the largest value and the length of the window."""
WINDOWS = 8
"""Windows in which a derivative by time is looked for, each a quarter of the last."""
ALMOST_NOTHING = 1e-12
"""Size of an algebraic state, over the largest of its part, below which it is round-off."""
OF_BALANCE = 1e-3
"""Least size of an algebraic state, over what would balance the other terms of its equations, and how far it is moved
to see in which equations it stands."""
NEARER = 0.1
"""Part of a length by which a state is moved next where the system has no value that far."""
AT_LEAST = 1e-3
"""Part of the size of a state that counts in the terms of equations where it is smaller itself."""
LOST = 1e3 * np.finfo(float).eps
"""Change of an equation over its terms that is round-off."""
STRONG = 1e-3
"""Derivative of an equation by a multiplier, over the largest one, from which on it counts."""
OF_START = 1e-3
"""Accuracy of the rate of an input that a start needs: that of a drive is a second difference."""


class Equations:
    """A system under given inputs; raises ValueError unless E differentiates the same states everywhere.

    ``span`` is the time [s] in which inputs may be asked for. With a state ``at`` every E is taken: where it is not
    semi-explicit (``varies``), the split is that of this state.
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
        """(J − R)z + (B − P) u."""
        system = self.system
        z = system.z(x)
        flow: Array = system.J(x) @ z - system.R(x) @ z
        u = self.forcing.at(t)
        return flow + system.port_matrices(x).flow(u) if u.any() else flow

    def terms(self, t: float, x: Array, size: Array, least: float = 0.0) -> Array:
        """|J − R||z| + |B − P||u| (n,), how large the terms of each equation are.

        A costate counts at least as what a thousandth of the sizes of states makes of it, and as ``least`` of the
        largest one.
        """
        system = self.system
        z, u = system.z(x), np.abs(self.forcing.at(t))
        floor = np.maximum(np.abs(system.z(x + AT_LEAST * size) - z), least * np.abs(z).max(initial=0.0))
        terms: Array = abs(system.J(x) - system.R(x)) @ np.maximum(np.abs(z), floor)
        return terms + abs(system.port_matrices(x).of_inputs) @ u

    def residual(self, t: float, x: Array, rate: Array) -> Array:
        """E(x)ẋ − (J − R)z − B u."""
        return self.system.E(x) @ rate - self.flow(t, x)

    def jacobian(self, t: float, x: Array, rate: Array, size: Array) -> tuple[Array, Array]:
        """∂F/∂x, given or by forward differences, and ∂F/∂ẋ = E; ``size`` is that of each state."""
        E, given = dense(self.system.E(x)), self.system.derivatives
        if given is not None:
            u, z = self.forcing.at(t), self.system.z(x)
            flow = self.system.J(x) - self.system.R(x)
            return given.of_descriptor(x, rate) - given.of_flow(x, z, flow, u), E
        return self._differences(t, x, rate, size, directions=np.eye(x.size)), E

    def along_algebraic(self, t: float, x: Array, size: Array) -> Array:
        """∂((J − R)z + Bu)/∂x V₂, (n, n − r)."""
        zero = np.zeros(x.size)
        if self.system.derivatives is not None:
            return -self.jacobian(t, x, zero, size)[0] @ self.split.V2
        return -self._differences(t, x, zero, size, directions=self.split.V2)

    def _differences(self, t: float, x: Array, rate: Array, size: Array, *, directions: Array) -> Array:
        steps = FORWARD * np.maximum(size, np.abs(x)) @ np.abs(directions)
        return forward(lambda x: self.residual(t, x, rate), x, self.residual(t, x, rate), steps, directions=directions)

    def rate(self, t: float, x: Array) -> Array:
        """V₁ᵀẋ (r,), the rate of the differential states."""
        s = self.split
        E = s.U1.T @ dense(self.system.E(x)) @ s.V1
        return np.linalg.solve(E, s.U1.T @ self.flow(t, x))

    def algebraic(self, t: float, x: Array) -> Array:
        """g = U₂ᵀ((J − R)z + Bu), zero on consistent states."""
        return self.split.U2.T @ self.flow(t, x)

    def slopes(self, t: float, x: Array, size: Array, rows: Array) -> Array:
        """rowsᵀ ∂((J − R)z + Bu)/∂x V₁, (k, r), given or by central differences."""
        V1, zero = self.split.V1, np.zeros(x.size)
        if self.system.exact_derivatives is not None:
            return -rows.T @ self.jacobian(t, x, zero, size)[0] @ V1
        slopes = np.empty((rows.shape[1], V1.shape[1]))
        for k, direction in enumerate(V1.T):
            step = CENTRAL * float(np.abs(direction) @ np.maximum(size, np.abs(x)))
            slopes[:, k] = rows.T @ central(partial(self.flow, t), x, step * direction) / step
        return slopes

    def input_rate(self, t: float) -> Array:
        """u̇ at a time, by differences within the span, of those inputs that reach algebraic equations."""
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
        """The power into each port and what is dissipated, yᵀu and (z, u)ᵀZ(z, u) [W]."""
        z, u, matrices = self.system.z(x), self.forcing.at(t), self.system.port_matrices(x)
        y = matrices.output(z, u)
        ports = [float(y[p] @ u[p]) for p in self.system.ports.values()]
        return np.array([*ports, matrices.dissipated(self.system.R(x), z, u)])

    def output(self, t: float, x: Array) -> Array:
        """y = (B + P)ᵀz + (S − N) u."""
        return self.system.port_matrices(x).output(self.system.z(x), self.forcing.at(t))


def slope(function: Callable[[float], Any], t: float, span: tuple[float, float], accuracy: float = 1e-6) -> float:
    """The derivative of a function of time: that of its interpolant in Chebyshev points beside t, within the span.

    Windows shrink from one to the next until two agree but for round-off of the values, which grows; where none do,
    the two that agree best count. Raises ValueError where these do not agree to the accuracy: the function jumps or has
    a kink there.
    """
    t, length = float(t), span[1] - span[0]
    side = 1.0 if t - span[0] < 0.5 * length else -1.0
    window, last, best = min(0.1, 0.25 * length), float("inf"), (float("inf"), 0.0)
    for _ in range(WINDOWS):
        values = np.array([float(function(t + side * window * c)) for c in _POINTS])
        rate = side * float(END_SLOPE @ (values - values[0])) / window  # weights sum to zero only to round-off
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
    """A size of each state: itself or what has the energy |H(x)|, ``½ ∂²H/∂x_i² size² = |H|``, whichever is larger.

    States without energy have the size of the largest entry of their part, a thousandth of the largest of all, or one.
    """
    size, around = np.abs(x), np.zeros(x.size)
    rest = ROUND_OFF * float(size.max(initial=0.0))
    for part in system.parts.values():  # the later ones may be finer
        own = float(np.abs(x[part]).max(initial=0.0))
        if own > max(rest, check.ROUND_OFF * float(around[part].max(initial=0.0))):
            size[part], around[part] = own, own
        elif not around[part].any():  # round-off says nothing about its own size
            size[part] = 0.0
    floor = np.maximum(size, 1e-3 * size.max(initial=0.0))
    floor = np.where(floor > 0.0, floor, 1.0)
    energy, stiff = abs(float(system.H(x))), _stiffness(system, x, floor)
    by_energy = np.sqrt(2.0 * energy / np.where(stiff > 0.0, stiff, np.inf))
    size = np.where(by_energy > 0.0, np.maximum(by_energy, np.abs(x)), size)
    return np.where(size > 0.0, size, floor)


def with_algebraic(system: PHDAE, x: Array, size: Array) -> Array:
    """Sizes of states, those of algebraic states raised to a share of what balances the other terms of their equations.

    A multiplier that is nearly zero says nothing about its own size, whether by round-off or by the error of a rate.
    Where the other terms are round-off too, it has the size of the others in its part.
    """
    raised = np.maximum(size, OF_BALANCE * balances(system, x, size))
    algebraic = np.flatnonzero(~dense(system.E(x)).any(axis=0))
    for part in system.parts.values():
        own = algebraic[np.isin(algebraic, np.arange(x.size)[part])]
        largest = float(raised[own].max(initial=0.0))
        raised[own[raised[own] <= ALMOST_NOTHING * largest]] = largest
    return raised


def balances(system: PHDAE, x: Array, size: Array) -> Array:
    """How large algebraic states are that balance the other terms of their equations, (n,); zero for the others."""
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
    """(J − R) z where state k is moved by a length, or by a shorter one where the system has no value that far."""
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
    """The largest ``terms/columns`` (k,) of each column, both (n, k) and not negative, in the equations that count.

    These are the algebraic ones in which the state stands: the scale of a row then drops out. A multiplier stands in
    none: of the ``differential`` ones (n,), its strongest count.
    """
    inside = np.where(differential[:, None], 0.0, columns)
    strong = columns > STRONG * columns.max(axis=0, initial=0.0)
    counts = np.where(inside.any(axis=0), inside > 0.0, strong)
    ratio = np.where(counts, terms / np.where(counts, columns, 1.0), 0.0)
    return ratio.max(axis=0, initial=0.0)


def _stiffness(system: PHDAE, x: Array, size: Array) -> Array:
    """∂²H/∂x_i² where it is positive and more than round-off or what is left of a term of higher degree, else 0."""
    here, stiffness = system.E(x).T @ system.z(x), np.zeros(x.size)
    for i in range(x.size):
        moved = x.copy()
        moved[i] += CENTRAL * size[i]
        stiffness[i] = float((system.E(moved).T @ system.z(moved) - here)[i]) / (moved[i] - x[i])
    stiffness[stiffness * size <= 1e3 * FORWARD * np.abs(here)] = 0.0
    for part in system.parts.values():
        stiffness[part][stiffness[part] < 1e-6 * stiffness[part].max(initial=0.0)] = 0.0
    return stiffness
