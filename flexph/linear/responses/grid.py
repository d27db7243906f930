"""Transfer functions at many frequencies, by the method that suits the system, and the static response at ω = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import schur, solve_triangular

from ...display.bars import bar
from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.ranks import singular_vectors
from ...systems.linear import LinearPHDAE
from ..elimination import eliminate
from ..shifted import Pole, Shifted
from ..state_space import Improper, StateSpace, state_space
from .channels import Channels

Method = Literal["auto", "direct", "batched", "schur"]
METHODS = ("auto", "direct", "batched", "schur")
SMALL = 40
"""Largest number of states with which all frequencies are solved at once, and largest number of frequencies for which a
Schur form does not pay."""
CHUNK = 4_000_000
"""Number of complex entries in a batch of matrices: 64 MB."""
NEAR = 1e13
"""Growth of a solution in energy coordinates above which its frequency is a pole: 500 units of the last digit."""


def evaluate(system: LinearPHDAE, omega: Array, channels: Channels, *, method: Method, progress: bool) -> Array:
    """Transfer function H(iω), (k, p, m), of the requested inputs and outputs at k frequencies ω ≥ 0."""
    check.choice("method", method, METHODS)
    values = np.empty((omega.size, len(channels.outputs), len(channels.inputs)), dtype=complex)
    rest, moving = omega == 0.0, omega[omega != 0.0]
    if np.any(rest):
        values[rest] = static_response(system, channels.output_matrix, channels.input_matrix)
    if moving.size:
        values[~rest] = _moving(system, moving, channels, method=method, progress=progress)
    return values


def _moving(system: LinearPHDAE, omega: Array, channels: Channels, *, method: Method, progress: bool) -> Array:
    model = None
    if method != "direct" and not (method == "auto" and system.is_sparse):
        try:
            model = state_space(system)
        except Improper:
            if method != "auto":
                raise
    progress_bar = bar(total=omega.size, delay=1.0, shown=progress, unit="frequency")
    with progress_bar:
        if model is None:
            return _direct(system, omega, channels, progress_bar.update)
        model = model.between(channels.columns, channels.rows)
        small = model.A.shape[0] <= SMALL or omega.size <= SMALL
        if method == "batched" or (method == "auto" and small):
            return _batched(model, omega, progress_bar.update)
        return _schur(model, omega, progress_bar.update)


def _direct(system: LinearPHDAE, omega: Array, channels: Channels, done: Callable[[int], Any]) -> Array:
    shifted, values = Shifted(system), []
    for w in omega:
        try:
            values.append(channels.output_matrix.T @ shifted.resolvent(1j * w)(channels.input_matrix))
        except Pole:
            raise _pole(w) from None
        done(1)
    return np.array(values)


def _batched(model: StateSpace, omega: Array, done: Callable[[int], Any]) -> Array:
    size, values = model.A.shape[0], []
    count = max(1, CHUNK // max(size * size, 1))
    largest = float(np.linalg.norm(model.A, 2)) if size else 0.0
    for start in range(0, omega.size, count):
        w = omega[start : start + count]
        try:
            states = np.linalg.solve(1j * w[:, None, None] * np.eye(size) - model.A, model.B.astype(complex))
        except np.linalg.LinAlgError:
            raise _pole(_closest(model.A, w)) from None
        _refuse_poles(w, states, largest, model.B)
        values.append(model.C @ states + model.D)
        done(w.size)
    return np.concatenate(values)


def _schur(model: StateSpace, omega: Array, done: Callable[[int], Any]) -> Array:
    t, z = schur(model.A, output="complex")
    b, c, largest = z.conj().T @ model.B, model.C @ z, float(np.abs(t.diagonal()).max(initial=0.0))
    values, shifted, place = [], -t, np.diag_indices_from(t)
    for w in omega:
        shifted[place] = 1j * w - t.diagonal()
        if np.abs(shifted[place]).min(initial=np.inf) * NEAR < max(largest, w):
            raise _pole(w)
        states = solve_triangular(shifted, b, check_finite=False)
        values.append(c @ states + model.D)
        done(1)
    return np.array(values)


def _refuse_poles(omega: Array, states: Array, largest: float, b: Array) -> None:
    size = np.linalg.norm(states, axis=1) / np.maximum(np.linalg.norm(b, axis=0), 1e-300)
    grown = np.any(~(size * np.maximum(largest, omega)[:, None] < NEAR), axis=1)
    if np.any(grown):
        raise _pole(float(omega[np.flatnonzero(grown)[0]]))


def _closest(a: Array, omega: Array) -> float:
    """Frequency of the grid for which iω is nearest to an eigenvalue of A."""
    values = np.linalg.eigvals(a)
    return float(omega[np.argmin(np.abs(1j * omega[:, None] - values).min(axis=1))])


def _pole(omega: float) -> Pole:
    return Pole(f"omega = {omega:.17g}")


DENSE_LIMIT = 2000
"""States up to which a singular system is solved by singular values."""
NOISE = 1e-12
"""Relative singular value that counts as zero: round-off of a few hundred states."""


def static_response(system: LinearPHDAE, output: Array, into: Array) -> Array:
    """Static response ``H(0) = B_outᵀ (R − J)⁺ B_in`` on the null space of G, (p, m).

    The left and right kernels N of J − R are equal, so that H(0) is finite if NᵀB = 0. A structure without free rigid
    motions has H(0) = 0: constant forces cause no velocity. Raises ValueError if a rigid motion without damping (or an
    integrator) is driven or observed, and for other systems of more than 2000 states.
    """
    if _is_held(system):
        return np.zeros((output.shape[1], into.shape[1]))
    if system.size > DENSE_LIMIT:
        raise ValueError(
            f"the response at ω = 0 of {system.size} states that can move without strain (or be stressed without load) "
            "is not computed: leave ω = 0 out, or reduce the system first"
        )
    wide = np.hstack([output, into])
    free = eliminate(_with_inputs(system, wide))
    a, b = dense(free.R) - dense(free.J), dense(free.B)
    scale = _scale(dense(free.E).diagonal(), a)
    a, b = scale[:, None] * a * scale, scale[:, None] * b
    factors = singular_vectors(a, tolerance=NOISE)
    if np.linalg.norm(factors.left_null.T @ b) > 1e-9 * max(float(np.linalg.norm(b)), 1e-300):
        raise ValueError(
            "omega = 0 is a pole of the system: a motion without strain and damping (a rigid one) is excited or "
            "measured; "
            "begin at a frequency above 0 rad/s"
        )
    states = factors.rows @ ((factors.range.T @ b[:, output.shape[1] :]) / factors.values[: factors.rank, None])
    return b[:, : output.shape[1]].T @ states


def _is_held(system: LinearPHDAE) -> bool:
    """True if every motion that the constraints admit causes strain, so that s = 0 is no pole of the displacements."""
    shifted = Shifted(system)
    if shifted.split is None:
        return False
    try:
        shifted.factor(0.0)
    except Pole:
        return False
    return True


def _with_inputs(system: LinearPHDAE, wide: Array) -> LinearPHDAE:
    """System with ``wide`` in place of B, so that an elimination also transforms these columns."""
    B = sparse.csr_array(wide) if system.is_sparse else wide
    return LinearPHDAE(
        E=system.E, J=system.J, R=system.R, B=B, G=system.G, constraints=system.constraints, kinetic=system.kinetic
    )


def _scale(energy: Array, a: Array) -> Array:
    """Factors (n,) of the states: each state is its factor times a scaled state ξ with the energy ½ ξ².

    Those of states without energy make the scaled entries of A similar in size. ``energy`` is the diagonal of E.
    """
    stores = energy > 0.0
    scale = 1.0 / np.sqrt(np.where(stores, energy, 1.0))
    if np.all(stores) or not np.any(stores):
        return scale
    scaled = np.abs(scale[:, None] * a * scale)
    reference = max(float(scaled[np.ix_(stores, stores)].max(initial=0.0)), 1e-300)
    outer, diagonal = scaled[:, stores].max(axis=1), scaled.diagonal()
    wanted = np.maximum(outer / reference, np.sqrt(diagonal / reference))
    factor: Array = np.where(stores | (wanted == 0.0), 1.0, 1.0 / np.where(wanted > 0.0, wanted, 1.0))
    return scale * factor
