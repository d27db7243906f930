"""Regulators of linearised mechanisms: LQR with an observer, closed loops and stability margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from scipy.linalg import block_diag, solve_continuous_are
from scipy.signal import cont2discrete

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from .compensator import Compensator
from .plants import Plant

FREQUENCIES = 2000
"""Frequencies of the first search for the smallest margin, before its refinement."""


@checked
def lqr(
    plant: Plant,
    *,
    stiffness: Sequence[float],
    effort: Sequence[float],
    load: Sequence[float],
    noise: Sequence[float],
    energy: float = 0.0,
    drift: Sequence[float] | None = None,
) -> Compensator:
    """Regulator that minimises ``∫ yᵀQy + w xᵀx + uᵀRu``, with a Kalman filter that measures only y.

    x is the state of the plant in energy coordinates: ½xᵀx is its energy, the unmeasured deformation included. The
    filter also estimates constant loads at the inputs, and the regulator balances them: y reaches its reference under
    gravity. Both gains solve continuous Riccati equations.

    Parameters
    ----------
    plant : Plant
        See :func:`angles_of` and :func:`plant_of`.
    stiffness, effort : sequence of float
        Diagonals of Q and R, one number for each output and input.
    load, noise : sequence of float
        Intensities of white noise at the inputs and in the readings: their quotient sets the speed of the filter.
    energy : float, optional
        w, which adds damping to the unmeasured motion.
    drift : sequence of float, optional
        Intensities of the drift of the loads; a hundred times ``load`` if None.

    Returns
    -------
    Compensator
        Compensator from errors of y to inputs.

    Raises
    ------
    ValueError
        If the inputs cannot stabilise the plant or y does not determine its states.
    """
    a, b, c = plant.A, plant.B, plant.C
    n, m = b.shape
    p = len(c)
    integrals = p if plant.integrals is None else plant.integrals
    q, r, v = (_weights(*given) for given in (("stiffness", stiffness, p), ("effort", effort, m), ("noise", noise, p)))
    disturbed = _weights("load", load, m)
    walk = 100.0 * disturbed if drift is None else _weights("drift", drift, m)
    inner = np.r_[np.full(n - integrals, check.not_negative("energy", energy)), np.zeros(integrals)]
    try:
        riccati = solve_continuous_are(a, b, c.T @ q @ c + np.diag(inner), r)
        gain = np.hstack([np.linalg.solve(r, b.T @ riccati), np.eye(m)])
        wide = np.block([[a, b], [np.zeros((m, n + m))]])
        seen = np.hstack([c, np.zeros((p, m))])
        size = 1e-9 * max(disturbed.max(), walk.max())  # of modes that loads at the inputs do not excite
        state = block_diag(b @ disturbed @ b.T, walk) + size * np.eye(n + m)
        error = solve_continuous_are(wide.T, seen.T, state, v)
    except np.linalg.LinAlgError as reason:
        raise ValueError(f"plant must be stabilisable and detectable, weights positive: {reason}") from None
    filter_gain = np.linalg.solve(v, seen @ error).T
    inside = wide - np.vstack([b, np.zeros((m, m))]) @ gain - filter_gain @ seen
    return Compensator(A=inside, B=filter_gain, C=gain, D=np.zeros((m, p)))


def _weights(name: str, values: Sequence[float], size: int) -> Array:
    given = check.array(name, values, (size,))
    for i, value in enumerate(given):
        check.positive(f"{name}[{i}]", float(value))
    return np.diag(given)


class ClosedLoop(NamedTuple):
    """Closed loop ``ẋ = A x + B r, y = C x`` from references r; ``x₊ = A x + B r`` if there is a ``period`` [s].

    Attributes
    ----------
    A : array
        (n, n).
    B : array
        (n, m).
    C : array
        (m, n).
    period : float, optional
        Sampling period [s]; None for a continuous loop.
    """

    A: Array
    B: Array
    C: Array
    period: float | None = None

    @property
    def poles(self) -> Array:
        """Eigenvalues of A: [1/s], or factors per sample of a sampled loop."""
        return np.asarray(np.linalg.eigvals(self.A))

    @property
    def is_stable(self) -> bool:
        """True if all motions decay."""
        return bool(self.poles.real.max() < 0.0 if self.period is None else np.abs(self.poles).max() < 1.0)


@checked
def closed_loop(plant: Plant, compensator: Compensator, *, period: float | None = None, delay: int = 0) -> ClosedLoop:
    """Closed loop of plant and compensator, from references to measured outputs.

    Parameters
    ----------
    plant : Plant
        Plant.
    compensator : Compensator
        Compensator with as many inputs as the plant has outputs, and as many outputs as the plant has inputs.
    period : float, optional
        Sampling period [s] of the compensator, whose outputs are held. Continuous by default.
    delay : int, optional
        Delay of the compensator's outputs in periods.

    Returns
    -------
    ClosedLoop
        Closed loop; its ``poles`` decide about stability.

    Raises
    ------
    ValueError
        If the numbers of inputs and outputs differ, or a delay is given without a period.
    """
    a, b, c = plant.A, plant.B, plant.C
    if compensator.D.shape != (b.shape[1], len(c)):
        given = compensator.D.shape[::-1]
        raise ValueError(f"the compensator must lead from {len(c)} errors to {b.shape[1]} inputs, got {given}")
    ac, bc, cc, dc = compensator.A, compensator.B, compensator.C, compensator.D
    if period is not None:
        a, b = cont2discrete((a, b, c, np.zeros((len(c), b.shape[1]))), period)[:2]
        a, b, c = _with_delay(a, b, c, check.count("delay", delay, 0))
        ac, bc, cc, dc = compensator.discrete(period)
    elif delay:
        raise ValueError("delay needs a period: it counts periods")
    loop = np.block([[a - b @ dc @ c, b @ cc], [-bc @ c, ac]])
    return ClosedLoop(loop, np.vstack([b @ dc, bc]), np.hstack([c, np.zeros((len(c), len(ac)))]), period)


def _with_delay(a: Array, b: Array, c: Array, delay: int) -> tuple[Array, Array, Array]:
    """Matrices a, b, c of a discrete-time plant whose inputs are delayed by ``delay`` steps.

    The inputs under way are additional states.
    """
    for _ in range(delay):
        n, m = b.shape
        a = np.block([[a, b], [np.zeros((m, n + m))]])
        b = np.vstack([np.zeros((n, m)), np.eye(m)])
        c = np.hstack([c, np.zeros((len(c), m))])
    return a, b, c


class Margins(NamedTuple):
    """Guaranteed margins of a loop against simultaneous errors in all channels.

    Attributes
    ----------
    modulus : float
        Modulus margin 1/max σ(S), S = (1 + L)⁻¹ with the loop gain L: for one channel the distance of L from −1.
    frequency : float
        Frequency at which σ(S) is largest [rad/s].
    gain : tuple of float
        Smallest and largest factor of the gain that surely keep the loop stable.
    phase : float
        Phase error up to which the loop surely stays stable [rad].
    """

    modulus: float
    frequency: float
    gain: tuple[float, float]
    phase: float


@checked
def margins(plant: Plant, compensator: Compensator) -> Margins:
    """Stability margins of a loop cut at the inputs of the plant.

    Parameters
    ----------
    plant : Plant
        Plant.
    compensator : Compensator
        Compensator.

    Returns
    -------
    Margins
        Margins that hold in all channels at once.

    Raises
    ------
    ValueError
        If the closed loop is unstable.
    """
    poles = closed_loop(plant, compensator).poles
    if poles.real.max() >= 0.0:
        raise ValueError(f"the closed loop must be stable to have margins: a pole at {poles[poles.real.argmax()]:.4g}")

    def distance(logarithm: float) -> float:
        s = 1j * np.exp(logarithm)
        inside = np.linalg.solve(s * np.eye(len(plant.A)) - plant.A, plant.B)
        k = compensator
        response = k.C @ np.linalg.solve(s * np.eye(len(k.A)) - k.A, k.B) + k.D
        loop = response @ plant.C @ inside
        return float(np.linalg.svd(np.eye(len(loop)) + loop, compute_uv=False)[-1])

    size = np.abs(poles)
    grid = np.log(np.geomspace(0.01 * size[size > 0.0].min(), 100.0 * size.max(), FREQUENCIES))
    values = [distance(x) for x in grid]
    k = int(np.argmin(values))
    around = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
    near = scipy.optimize.minimize_scalar(distance, bounds=around, method="bounded")
    least, where = min((values[k], grid[k]), (float(near.fun), float(near.x)))
    gain = (1.0 / (1.0 + least), 1.0 / (1.0 - least) if least < 1.0 else np.inf)
    return Margins(least, float(np.exp(where)), gain, float(2.0 * np.arcsin(min(0.5 * least, 1.0))))
