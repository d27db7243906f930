"""Time propagation of linear systems under constant inputs, with control of its error.

Steps are exact or by the implicit midpoint rule, which is refined, or applied to a reduced model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.integrate import trapezoid
from scipy.linalg import expm
from scipy.sparse.linalg import splu

from ...display.bars import bar
from ...numerics.arrays import Array
from ...systems.linear import LinearPHDAE
from ..shifted import Pole, Shifted
from ..state_space import state_space
from .channels import Channels

Kind = Literal["step", "impulse"]
SAME = 4.0 * np.finfo(float).eps
"""Difference of step lengths, relative to the whole time, that counts as equal: uniform grids are rounded."""
LOST = 1e-8
"""Relative residual of the state after an impulse above which E does not determine it."""


def exact_response(system: LinearPHDAE, times: Array, channels: Channels, *, kind: Kind, progress: bool) -> Array:
    """Response (k, p, m) at the times from rest, exact: ``ξ₊ = e^{Ah}ξ + ∫₀ʰ e^{As} ds B`` for each step length h.

    One exponential of [[A, B], [0, 0]] h is computed for each length.
    """
    a, b, c, d = state_space(system).between(channels.columns, channels.rows)
    through, (n, m) = d * (kind == "step"), b.shape
    augmented = np.block([[a, b], [np.zeros((m, n + m))]]) if kind == "step" else a
    state = np.vstack([np.zeros((n, m)), np.eye(m)]) if kind == "step" else b
    values, steps = [], _Steps(lambda h: expm(augmented * h), times[-1])
    for h in _bar(np.diff(times, prepend=0.0), progress):
        state = steps(h) @ state if h else state
        values.append(c @ state[:n] + through)
    return np.array(values)


def midpoint_response(
    system: LinearPHDAE, times: Array, channels: Channels, *, kind: Kind, substeps: int, progress: bool
) -> Array:
    """Response (k, p, m) at the times from rest by the implicit midpoint rule, with equal substeps in each interval.

    See :func:`midpoint_states`.
    """
    load = channels.input_matrix
    state = np.zeros_like(load)
    if kind == "impulse":
        state, load = _after_impulse(system, load), state
    widths = np.repeat(np.diff(times, prepend=0.0) / substeps, substeps)
    states = midpoint_states(system, widths, load, state, progress=progress)
    return np.array([channels.output_matrix.T @ x for i, x in enumerate(states, start=1) if i % substeps == 0])


def midpoint_states(
    system: LinearPHDAE, widths: Array, load: Array, state: Array, *, progress: bool = True
) -> Iterator[Array]:
    """States after every step: ``[[2E/h − J + R, −Gᵀ], [G, 0]] [x̄; λ] = [2E x/h + f; 0], x₊ = 2x̄ − x``.

    The step lengths h are ``widths`` [s], the load f is (n, k), the first state (n, k); equal widths share one
    factorisation. Raises ValueError if a step is not determined.
    """
    shifted = Shifted(system)

    def step(h: float) -> Callable[[Array], Array]:
        s = 2.0 / h
        try:
            solve = shifted.resolvent(s)
        except Pole:
            raise ValueError(f"a step of {h:g} s is not determined: E − (J − R)h/2 is singular") from None
        return lambda x: 2.0 * solve(s * (system.E @ x) + load) - x

    steps = _Steps(step, widths.sum())
    for h in _bar(widths, progress):
        state = steps(h)(state) if h else state
        yield state


def _after_impulse(system: LinearPHDAE, load: Array) -> Array:
    """States after a unit impulse of each input, from ``[[E, −Gᵀ], [G, 0]] [x; μ] = [B; 0]``.

    Raises ValueError if E does not determine them.
    """
    rows, diagonal = system.G.shape[0], np.asarray(system.E.diagonal())
    unit = sparse.diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    E, G = unit @ sparse.csr_array(system.E) @ unit, sparse.csr_array(system.G) @ unit
    whole = sparse.csc_array(sparse.block_array([[E, -G.T], [G, None]]) if rows else E)
    right = np.concatenate([unit @ load, np.zeros((rows, load.shape[1]))])
    try:
        solution = splu(whole).solve(right)
    except RuntimeError:
        solution = np.full_like(right, np.nan)
    if not np.linalg.norm(whole @ solution - right) <= LOST * np.linalg.norm(right):
        raise ValueError("the impulse response needs a regular E: some states of this system are algebraic")
    return unit @ solution[: load.shape[0]]


class _Steps:
    """Cache of the last values of a function of the step length, so that steps of equal length are computed once."""

    def __init__(self, make: Callable[[float], Any], span: float) -> None:
        self._function, self._same = make, SAME * span
        self._known: list[tuple[float, Any]] = []

    def __call__(self, h: float) -> Any:
        for length, step in self._known:
            if abs(length - h) <= self._same:
                return step
        self._known = [*self._known[-3:], (h, self._function(h))]
        return self._known[-1][1]


def _bar(steps: Array, progress: bool) -> Iterable[float]:
    return bar(steps.tolist(), delay=1.0, shown=progress, unit="step")


ALWAYS = 600
"""States up to which steps are exact for any times."""
LARGEST = 2000
"""States up to which steps are exact if few step lengths need a matrix exponential."""
WORK = 1.2e10
"""Largest cube of the number of states, times the number of different step lengths: some ten seconds of work."""
MOST = 512
"""Number of substeps per interval above which a response counts as not converged."""
POINTS = 60
"""Number of frequencies at which a response through a reduced model is compared, and largest number of its poles that
are added to them."""
BEYOND = 1e3
"""Highest of these frequencies, relative to π over the shortest interval: samples also show motions that are faster
than they are."""
NOTHING = 1e-9
"""Response, relative to the largest one, below which it counts as zero."""


def affordable(states: int, times: Array) -> bool:
    """True if exact steps between the given times take no more than some seconds for a system of ``states`` states."""
    lengths = np.sort(np.diff(times, prepend=0.0))
    different = int(np.sum(np.diff(lengths, prepend=0.0) > SAME * times[-1]))
    return states <= ALWAYS or (states <= LARGEST and different * float(states) ** 3 <= WORK)


def settled_response(
    system: LinearPHDAE, times: Array, channels: Channels, *, kind: Kind, tolerance: float, progress: bool
) -> tuple[Array, int, float]:
    """Response by the midpoint rule, with substeps doubled until no response changes by more than the tolerance.

    The numbers of substeps are alternately odd and even (1, 2, 5, 10, 21 …): motions faster than the steps alternate in
    sign, which numbers of one parity would not reveal. Returns values (k, p, m), the number of substeps, and the last
    change relative to the largest value of each response. Raises ArithmeticError if, by the second order of the rule,
    more than 512 substeps would be needed.
    """

    def respond(substeps: int) -> Array:
        return midpoint_response(system, times, channels, kind=kind, substeps=substeps, progress=progress)

    substeps, values, change = 1, respond(1), np.inf
    while change > tolerance:
        if substeps > 4 and substeps * np.sqrt(change / tolerance) > MOST:
            raise ArithmeticError(
                f"the response did not converge: {substeps} substeps per interval instead of {substeps // 2} "
                f"changed it by {change:.1e} of its largest value, tolerance = {tolerance:g}. Give through= a reduced "
                f"system (flexph.reduce), method='exact' ({system.size} states, dense), a larger tolerance, or "
                "method='midpoint' with substeps="
            )
        before, substeps = values, 2 * substeps + (substeps + 1) % 2
        values = respond(substeps)
        change = _largest_ratio(values - before, values)
    return values, substeps, change


def _largest_ratio(difference: Array, values: Array) -> float:
    """Largest relative difference of a response, max|difference|/max|values| over time.

    It is the largest one among all inputs and outputs.
    """
    apart, size = (np.abs(a).max(axis=0) for a in (difference, values))
    return _worst(apart, size)


def _worst(apart: Array, size: Array) -> float:
    return float(np.max(apart / np.maximum(size, NOTHING * size.max(initial=0.0) + np.finfo(float).tiny), initial=0.0))


def reduced_error(
    system: LinearPHDAE,
    through: LinearPHDAE,
    channels: tuple[Channels, Channels],
    poles: Array,
    *,
    times: Array,
    kind: Kind,
    progress: bool,
) -> tuple[float, Array]:
    """Relative error of the responses ŷ of a reduced model, and the frequencies (k,) at which it was computed.

    The error is the root of ``∫|e^{−t/T}(y − ŷ)|² dt / ∫|e^{−t/T} y|² dt``, y the response of the system and T the last
    time, for the input and output where it is largest. By Parseval it follows from transfer functions on the line s =
    1/T + iω, with y(s) = H(s)/s after a step and H(s) after an impulse. The integrals are sums over frequencies from
    1/T to a thousand times those that the times resolve, and over those of the reduced system's poles: an estimate for
    all times, not only the samples.
    """
    line = _line(times, poles)
    both = (Shifted(system), channels[0]), (Shifted(through), channels[1])
    weighted = []
    for s in bar(line.tolist(), delay=1.0, shown=progress, unit="frequency"):
        exact, other = (c.output_matrix.T @ model.resolvent(s)(c.input_matrix) for model, c in both)
        weight = 1.0 / s if kind == "step" else 1.0
        weighted.append((weight * exact, weight * (other - exact)))
    size, apart = (np.sqrt(trapezoid(np.abs(a) ** 2, line.imag, axis=0)) for a in np.swapaxes(weighted, 0, 1))
    return _worst(apart, size), line.imag


def _line(times: Array, poles: Array) -> Array:
    span, lengths = times[-1] or 1.0, np.diff(times, prepend=0.0)
    top = BEYOND * np.pi / float(lengths[lengths > 0.0].min(initial=span))
    near = np.unique(poles.imag[(poles.imag > 0.0) & (poles.imag < top)])[:POINTS]
    omega = np.union1d(near, [0.0, *np.geomspace(1.0 / span, max(top, 2.0 / span), POINTS)])
    return 1.0 / span + 1j * omega
