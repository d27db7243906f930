"""Passivity of state spaces: search for violations, and energy functions by the positive-real lemma."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.linalg import (
    block_diag,
    eigvals,
    matrix_balance,
    null_space,
    schur,
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_sylvester,
)

from ..linear.state_space import StateSpace
from ..numerics.arrays import Array
from ..numerics.ranks import singular_vectors

TOLERANCE = 1e-9
"""Negative part of the Hermitian part, relative to ‖H‖, that is attributed to round-off."""
FLOOR = 1e-6
"""‖H(iω)‖ relative to the largest one below which its sign is not judged."""


def violation(model: StateSpace) -> str | None:
    """Reason why a state space is not passive; None if no violation is found.

    The reason is an unstable pole, or a frequency ω at which H(iω) + H(iω)ᴴ is not positive semi-definite. Frequencies
    around every pole, on a logarithmic grid, zero and infinity are tested; the worst one is refined.
    """
    poles = eigvals(model.A) if model.A.size else np.zeros(0)
    size = float(np.abs(poles).max(initial=0.0)) or 1.0
    if np.any(poles.real > 1e-9 * size):
        worst = poles[np.argmax(poles.real)]
        return f"it is unstable: the pole {worst:.4g} 1/s has a positive real part"
    grid = _grid(poles, size)
    lowest_of_grid = [_lowest(model, w) for w in grid]
    value, norm = (np.array(part) for part in zip(*lowest_of_grid, strict=True))
    worst = value if value.min() < -TOLERANCE * norm.max() else value / np.maximum(norm, FLOOR * norm.max())
    if worst.min() >= -TOLERANCE * (norm.max() if worst is value else 1.0):
        return None
    at = int(np.argmin(worst))
    around = (float(grid[max(at - 1, 0)]), float(grid[min(at + 1, grid.size - 1)]))
    better = scipy.optimize.minimize_scalar(lambda w: _lowest(model, w)[0], bounds=around, method="bounded")
    omega = float(better.x) if worst is value and better.fun < value[at] else float(grid[at])
    lowest = _lowest(model, omega)[0]
    return f"at omega = {omega:.6g} rad/s the Hermitian part of H(iω) has the eigenvalue {lowest:.4g}"


def _grid(poles: Array, size: float) -> Array:
    moduli = np.abs(poles[np.abs(poles) > 1e-12 * size])
    low, high = float(moduli.min(initial=size)) * 1e-3, size * 1e3
    near = [np.abs(p.imag) + k * max(abs(p.real), 1e-6 * abs(p)) for p in poles for k in (-3, -1, -0.3, 0.1, 0.3, 1, 3)]
    frequencies = np.concatenate([[0.0], np.geomspace(low, high, 1000), np.array(near)])
    return np.unique(frequencies[frequencies >= 0.0])


def _lowest(model: StateSpace, omega: float) -> tuple[float, float]:
    """Lowest eigenvalue of the Hermitian part of the transfer function H(iω) at ω = ``omega``, and ‖H(iω)‖.

    Both are zero at a pole.
    """
    h = _transfer(model, omega)
    if h is None:
        return 0.0, 0.0
    return float(np.linalg.eigvalsh(0.5 * (h + h.conj().T))[0]), float(np.linalg.norm(h))


def _transfer(model: StateSpace, omega: float) -> Array | None:
    try:
        h = model.C @ np.linalg.solve(1j * omega * np.eye(len(model.A)) - model.A, model.B) + model.D
    except np.linalg.LinAlgError:
        return None
    return h if np.all(np.isfinite(h)) else None


ACCURACY = 1e-8
"""Accepted relative defect of a computed or given energy: Riccati solutions lose digits."""
AXIS = 1e-9
"""Real part of a pole, relative to ‖A‖, below which it counts as undamped."""
SAME = 1e-7
"""Distance of two undamped poles, relative to ‖A‖, below which they count as one."""
ZERO_EIGENVALUE = 1e-9
"""Eigenvalue of D + Dᵀ, relative to the size of the system, below which it counts as zero."""


class NoEnergyError(ArithmeticError):
    """Error of a system for which no energy function can be computed."""


def defect_of(model: StateSpace, Q: Array) -> float:
    """Defect of ``W = [[−AᵀQ − QA, Cᵀ − QB], [C − BᵀQ, D + Dᵀ]] ⪰ 0``: −λ_min divided by the norms of W's terms.

    It is dimensionless, because it is computed in energy coordinates ξ = Lᵀx, Q = LLᵀ, with outputs scaled like inputs.
    """
    if not Q.size:
        return _negative_eigenvalue(model.D + model.D.T, float(np.linalg.norm(model.D)))
    lower = np.linalg.cholesky(0.5 * (Q + Q.T))
    a = np.linalg.solve(lower, (lower.T @ model.A).T).T  # Lᵀ A L⁻ᵀ
    b, c = lower.T @ model.B, np.linalg.solve(lower, model.C.T).T
    unit = float(np.linalg.norm(a)) or 1.0
    ports = (max(float(np.linalg.norm(b)), float(np.linalg.norm(c))) or unit) / unit
    a, b, c, d = a / unit, b / (ports * unit), c / (ports * unit), model.D / (ports**2 * unit)
    w = np.block([[-a - a.T, c.T - b], [c - b.T, d + d.T]])
    return _negative_eigenvalue(w, max(1.0, float(np.linalg.norm(d))))


def _negative_eigenvalue(w: Array, size: float) -> float:
    """Negative smallest eigenvalue −λ_min of a symmetric matrix divided by ``size``; zero for an empty matrix."""
    return float(-np.linalg.eigvalsh(w)[0] / (size or 1.0)) if w.size else 0.0


def find_energy(model: StateSpace) -> Array:
    """Energy matrix Q ≻ 0 with ``[[−AᵀQ − QA, Cᵀ − QB], [C − BᵀQ, D + Dᵀ]] ⪰ 0``, so that d(½xᵀQx)/dt ≤ yᵀu.

    The positive-real lemma is solved in exact steps. Undamped modes are split off; their energy follows from QB = Cᵀ.
    For inputs without dissipation in D, Q is (CB)⁻¹ on the corresponding outputs, and the remaining states are a
    smaller problem of the same form (the inverse of H is passive, too). The last subsystem has D + Dᵀ ≻ 0; its Q is the
    mean of the smallest and largest solution of the algebraic Riccati equation ``AᵀQ + QA + (Cᵀ − QB)(D + Dᵀ)⁻¹(C −
    BᵀQ) = 0``. Raises :class:`NoEnergyError` if a step fails: the system is then not passive or not minimal, or nearly
    so.
    """
    n = model.A.shape[0]
    if not n:
        return np.zeros((0, 0))
    _, balance = matrix_balance(model.A, permute=False)
    t = balance.diagonal()
    a = model.A * t / t[:, None]
    unit = float(np.linalg.norm(a)) or 1.0
    try:
        inner = _energy(a / unit, model.B / t[:, None] / unit, model.C * t, model.D)
    except np.linalg.LinAlgError as error:
        raise NoEnergyError(f"no solution of the positive-real equations: {error}") from None
    Q = inner / t[:, None] / t / unit
    return 0.5 * (Q + Q.T)


def _energy(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Energy matrix Q of the system A, B, C, D, as in :func:`find_energy`.

    The system can be a part of a larger one, whose unit of time must be such that its matrix has ‖A‖ = 1.
    """
    if not a.shape[0]:
        return np.zeros((0, 0))
    lossless, damped, transform = _split_axis(a)
    if lossless:
        inverse = np.linalg.inv(transform)
        a, b, c = inverse @ a @ transform, inverse @ b, c @ transform
        k = lossless
        q = _lossless(a[:k, :k], b[:k], c[:, :k])
        q = block_diag(q, _energy(a[k:, k:], b[k:], c[:, k:], d)) if damped else q
        return inverse.T @ q @ inverse
    loss, turn = np.linalg.eigh(d + d.T)
    size = max(float(np.linalg.norm(d)), float(np.linalg.norm(b) * np.linalg.norm(c)), 1e-300)
    bare = loss < ZERO_EIGENVALUE * size
    if loss[0] < -ZERO_EIGENVALUE * size:
        raise NoEnergyError("D + Dᵀ is not positive semi-definite")
    b, c, d = b @ turn, turn.T @ c, turn.T @ d @ turn
    if np.any(bare):
        return _without_inputs(a, b, c, d, bare=bare)
    return _riccati(a, b, c, d)


def _split_axis(a: Array) -> tuple[int, int, Array]:
    """Numbers of undamped and damped states of ẋ = A x, and a transformation T that separates them.

    T⁻¹AT is block-diagonal with the undamped states first. Raises NoEnergyError for an unstable A.
    """
    values = eigvals(a)
    if np.any(values.real > AXIS):
        raise NoEnergyError("the system is unstable")
    t, z, count = schur(a, output="real", sort=lambda re, im=0.0: abs(re) <= AXIS)
    k, n = int(count), len(a)
    if not 0 < k < n:
        return k, n - k, z
    x = solve_sylvester(t[:k, :k], -t[k:, k:], -t[:k, k:])
    return k, n - k, z @ np.block([[np.eye(k), x], [np.zeros((n - k, k)), np.eye(n - k)]])


def _lossless(a: Array, b: Array, c: Array) -> Array:
    """Energy matrix Q of undamped states, for which AᵀQ + QA = 0 and QB = Cᵀ.

    In the eigenspace of each eigenvalue, Q follows from the parts of B and C in this space.
    """
    values, vectors = np.linalg.eig(a)
    left = np.linalg.inv(vectors)
    q = np.zeros(a.shape, dtype=complex)
    done = np.zeros(len(values), dtype=bool)
    for i in range(len(values)):
        if done[i]:
            continue
        group = np.flatnonzero(np.abs(values - values[i]) < SAME)
        done[group] = True
        inputs, outputs = left[group] @ b, (c @ vectors[:, group]).conj().T
        product = outputs @ np.linalg.pinv(inputs)
        q[np.ix_(group, group)] = 0.5 * (product + product.conj().T)
    energy: Array = (left.conj().T @ q @ left).real
    return 0.5 * (energy + energy.T)


def _without_inputs(a: Array, b: Array, c: Array, d: Array, *, bare: Array) -> Array:
    """Energy matrix Q of a system, some inputs of which have no dissipation in D: those that are True in ``bare``.

    With the columns B₂ of B and rows C₂ of C for these inputs, and states x = T (y₂, z) with y₂ = C₂x, the matrix is
    given by TᵀQT = diag((C₂B₂)⁻¹, Q_z). Q_z is the energy matrix of a smaller system with the states z.
    """
    b2, c2, b1, c1 = b[:, bare], c[bare], b[:, ~bare], c[~bare]
    live = singular_vectors(b2, tolerance=ZERO_EIGENVALUE, size=max(float(np.linalg.norm(b)), 1e-300)).rows
    b2, c2, rank = b2 @ live, live.T @ c2, live.shape[1]
    if not rank:
        if not b1.shape[1]:
            return solve_continuous_lyapunov(a.T, -np.eye(len(a)))  # no input acts on these states
        return _energy(a, b1, c1, d[np.ix_(~bare, ~bare)])
    z = c2 @ b2
    z = np.linalg.inv(0.5 * (z + z.T))
    if np.linalg.eigvalsh(z)[0] <= 0.0:
        raise NoEnergyError("C B is not positive definite on inputs without feedthrough")
    n = null_space(b2.T).T  # n B₂ = 0
    t = np.linalg.inv(np.vstack([c2, n]))
    a, b1, c1, r = np.linalg.solve(t, a @ t), np.linalg.solve(t, b1), c1 @ t, rank
    inputs = np.hstack([a[r:, :r], b1[r:]])
    outputs = np.vstack([-z @ a[:r, r:], c1[:, r:]])
    through = np.block([[-z @ a[:r, :r], -z @ b1[:r]], [c1[:, :r], d[np.ix_(~bare, ~bare)]]])
    inverse = np.linalg.inv(t)
    q = block_diag(z, _energy(a[r:, r:], inputs, outputs, through)) if len(a) > r else z
    return inverse.T @ q @ inverse


def _riccati(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Energy matrix of a system with D + Dᵀ ≻ 0: mean of the smallest and largest solution of the Riccati equation.

    Both are positive definite for minimal systems.
    """
    zero, loss = np.zeros_like(a), d + d.T
    least = solve_continuous_are(a, b, zero, -loss, s=-c.T)
    dual = solve_continuous_are(a.T, c.T, zero, -loss, s=-b)
    mean = 0.5 * (least + np.linalg.inv(dual))
    return 0.5 * (mean + mean.T)
