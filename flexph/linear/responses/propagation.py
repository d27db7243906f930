"""Time propagation of linear systems under constant inputs: exact steps, and the implicit midpoint rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse
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
    """Exact response ``ξ₊ = e^{Ah}ξ + ∫₀ʰ e^{As} ds B``, with one exponential of [[A, B], [0, 0]] h per step length."""
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
    """Response by the implicit midpoint rule with equal substeps; see :func:`midpoint_states`."""
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
    """State after an impulse, from ``[[E, −Gᵀ], [G, 0]] [x; μ] = [B; 0]``."""
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
    """Function of the step length, evaluated once for equal ones."""

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
