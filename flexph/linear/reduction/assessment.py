"""Errors of a reduced system, measured afterwards, and checks of its preserved properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.arrays import Array, Numbers, dense
from ...systems.linear import LinearPHDAE, unknowns
from ..elimination import independent
from ..responses.frequency import frequency_response
from ..responses.propagation import midpoint_states

TINY = float(np.finfo(float).tiny)
KEPT = 1e-10
"""Relative defect up to which a property counts as preserved: some hundred round-off errors of basis products."""


@dataclass(frozen=True)
class Certificate:
    """Defects of the properties that a reduced system must preserve; all relative, zero if exact.

    Attributes
    ----------
    skew : float
        ‖J + Jᵀ‖/‖J‖.
    dissipation : float
        Negative part of the lowest eigenvalue of R, scaled to a unit diagonal.
    energy : float
        Lowest eigenvalue of E, scaled to a unit diagonal; positive if E ≻ 0.
    constraints : float, optional
        ‖G V‖/‖G‖ with the constraints G of the full system and the basis V of the reduced one; ‖G V − Ĝ‖/‖G‖ if
        constraints Ĝ were kept; None without constraints.
    passivity : float
        Negative part of the lowest eigenvalue of H(iω) + H(iω)ᴴ on the grid, relative to the largest ‖H‖.
    """

    skew: float
    dissipation: float
    energy: float
    constraints: float | None
    passivity: float

    @property
    def holds(self) -> bool:
        """True if all properties hold up to round-off."""
        defects = (self.skew, self.dissipation, self.constraints or 0.0, self.passivity)
        return self.energy > 0.0 and all(defect <= KEPT for defect in defects)


@dataclass(frozen=True)
class Assessment:
    """Relative errors of a reduced system, and its certificate.

    Attributes
    ----------
    hinf : float
        max ‖H − Ĥ‖/max ‖H‖ over the frequencies (spectral norms).
    h2 : float
        √(∫‖H − Ĥ‖²_F dω / ∫‖H‖²_F dω) over the band, by the trapezoidal rule.
    energy : float
        Largest difference of the stored energies in a step response, relative to the largest stored energy.
    certificate : Certificate
        Preserved properties of the reduced system.
    """

    hinf: float
    h2: float
    energy: float
    certificate: Certificate


@computing(unknowns)
def assess(full: LinearPHDAE, reduced: LinearPHDAE, omega: Numbers, *, times: Numbers | None = None) -> Assessment:
    """Compare a reduced system with the full system at the frequencies ``omega`` [rad/s], ascending.

    The step responses, to a unit step at each input in turn, are computed by the implicit midpoint rule from rest.

    Parameters
    ----------
    full : LinearPHDAE
        The full system.
    reduced : LinearPHDAE
        Reduced system with the same ports.
    omega : array_like
        Frequencies [rad/s], ascending.
    times : array_like, optional
        Times of the step responses [s], evenly spaced; by default 1000 steps to one period of the lowest frequency.

    Returns
    -------
    Assessment
        Errors of both responses, and the preserved properties.

    Raises
    ------
    ValueError
        If the ports differ or ``omega`` is not ascending.
    """
    grid = _ascending("omega", omega)
    for name, system in (("full", full), ("reduced", reduced)):
        if not isinstance(system, LinearPHDAE):
            raise ValueError(f"{name} must be a LinearPHDAE, got {type(system).__name__}")
    full = independent(full)
    if list(full.ports) != list(reduced.ports) or full.B.shape[1] != reduced.B.shape[1]:
        raise ValueError(f"both systems must have the same ports, got {list(full.ports)} and {list(reduced.ports)}")
    lowest = grid[grid > 0.0][0]
    steps = np.linspace(0.0, 2.0 * np.pi / lowest, 1001) if times is None else _evenly(times)
    h = frequency_response(full, grid).values
    response = frequency_response(reduced, grid).values
    square = lambda a: float(np.trapezoid(np.sum(np.abs(a) ** 2, axis=(1, 2)), grid))  # noqa: E731 - one formula, twice
    peak = lambda a: float(np.linalg.norm(a, ord=2, axis=(1, 2)).max())  # noqa: E731
    stored, kept = _stored(full, steps), _stored(reduced, steps)
    return Assessment(
        hinf=peak(h - response) / max(peak(h), TINY),
        h2=float(np.sqrt(square(h - response) / max(square(h), TINY))),
        energy=float(np.abs(stored - kept).max(initial=0.0) / max(stored.max(initial=0.0), TINY)),
        certificate=_certificate(reduced, _constraint_defect(full, reduced), response),
    )


@computing(unknowns)
def certify(reduced: LinearPHDAE, omega: Numbers, *, full: LinearPHDAE | None = None) -> Certificate:
    """Certificate of a reduced system: defects of its properties, tested at the frequencies ``omega`` [rad/s].

    The ``full`` system is needed to test whether its constraints hold; without it they are not tested.

    Parameters
    ----------
    reduced : LinearPHDAE
        The reduced system.
    omega : array_like
        Frequencies [rad/s].
    full : LinearPHDAE, optional
        Full system, if it has constraints.

    Returns
    -------
    Certificate
        Defects of structure, energy, constraints and passivity.
    """
    responses = frequency_response(reduced, _ascending("omega", omega)).values
    return _certificate(reduced, None if full is None else _constraint_defect(full, reduced), responses)


def _certificate(system: LinearPHDAE, constraints: float | None, responses: Array) -> Certificate:
    j = system.J
    hermitian = responses + np.conj(np.swapaxes(responses, 1, 2))
    lowest = np.linalg.eigvalsh(hermitian).min(initial=0.0)
    return Certificate(
        skew=check.norm(j + j.T) / max(check.norm(j), TINY),
        dissipation=max(0.0, -_lowest(system.R)),
        energy=_lowest(system.E),
        constraints=constraints,
        passivity=float(max(0.0, -lowest) / max(np.abs(responses).max(initial=0.0), TINY)),
    )


def _lowest(a: Any) -> float:
    """Lowest eigenvalue of a matrix after scaling to a unit diagonal; zero rows are left out."""
    full = dense(a)
    size = np.sqrt(np.abs(full.diagonal()))
    used = size > 0.0
    if not used.any():
        return 0.0
    scaled = full[np.ix_(used, used)] / np.outer(size[used], size[used])
    return float(eigvalsh(scaled, subset_by_index=[0, 0])[0])


def _constraint_defect(full: LinearPHDAE, reduced: LinearPHDAE) -> float | None:
    """Relative violation ‖G V − Ĝ‖/‖G‖ of the constraints by a reduced system whose lift is V.

    None if the full system has no constraints, or was itself reduced. Raises ValueError if the systems do not belong
    together.
    """
    if not full.G.shape[0] or full.lift is not None or reduced.lift is None:
        return None
    if full.size != reduced.lift.shape[0]:
        raise ValueError(
            f"full must be the system that was reduced: it has {full.size} states, the reduced system comes from one "
            f"with {reduced.lift.shape[0]}"
        )
    if not reduced.G.shape[0]:
        return check.norm(full.G @ reduced.lift) / check.norm(full.G)
    full = independent(full)
    if full.constraints != reduced.constraints:
        raise ValueError("full must be the system that was reduced: their constraints have other names")
    return check.norm(full.G @ reduced.lift - reduced.G) / check.norm(full.G)


def _stored(system: LinearPHDAE, times: Array) -> Array:
    """Energies (k, m) stored at the k times after a unit step of each of m inputs, by the implicit midpoint rule."""
    load = dense(system.B)
    states = midpoint_states(system, np.diff(times), load, np.zeros_like(load))
    energies = [0.5 * np.sum(x * (system.E @ x), axis=0) for x in states]
    return np.array([np.zeros(load.shape[1]), *energies])


def _evenly(times: Any) -> Array:
    grid = _ascending("times", times)
    widths = np.diff(grid)
    if grid[0] != 0.0 or not np.allclose(widths, widths[0], rtol=1e-9):
        raise ValueError(f"times must be evenly spaced from t = 0 s, got {grid[0]:g} s first")
    return grid


def _ascending(name: str, values: Any) -> Array:
    grid = check.array(name, values, (None,))
    if len(grid) < 2 or np.any(np.diff(grid) <= 0.0):
        raise ValueError(f"{name} must be at least two ascending numbers")
    return grid
