"""Derivatives of natural frequencies by parameters, from their modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...linear.eigenmodes.modes import Eigenmodes, modes
from ...linear.elimination import recover_multipliers
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.differences import central_of_order_four
from ...numerics.memo import NamedFields
from ...systems.linear import LinearPHDAE
from .along_parameters import plain_system, stated_steps

REPEATED = 1e-8
"""Relative distance between frequencies up to which they count as equal, so that any combination of their modes is a
mode."""


@dataclass(frozen=True)
class FrequencySensitivities(NamedFields):
    """Frequencies (k,) [rad/s], ascending, and their ``derivatives`` (k,) by parameter.

    Attributes
    ----------
    frequencies : array
        (k,) [rad/s], ascending.
    derivatives : mapping
        Derivatives (k,) by parameter; those of a repeated frequency are ascending.
    """

    frequencies: Array
    derivatives: Mapping[str, Array]


@checked
def frequency_sensitivities(
    system: Callable[..., Any], at: Mapping[str, float], count: int, *, steps: float | Mapping[str, float] = 1e-3
) -> FrequencySensitivities:
    """Derivatives of the lowest natural frequencies of ``iω E x = J x + Gᵀλ, 0 = G x`` from their modes.

    They satisfy ``xᴴE x dω = −ω xᴴdE x − i (xᴴdJ x + xᴴdGᵀλ − λᴴdG x)``; for a repeated frequency they are the
    eigenvalues of this form on its modes. The modes are computed once for all parameters; the matrices are
    differentiated by differences of fourth order, exact to round-off for polynomials of degree four.

    Parameters
    ----------
    system : callable
        Function of named parameters that returns a LinearPHDAE without dissipation, always with the same states.
    at : dict
        Parameter values.
    count : int
        Number of frequencies.
    steps : float or dict
        Steps of the differences by parameter; one number is the step relative to the size of each parameter.

    Returns
    -------
    FrequencySensitivities
        Frequencies, and their derivatives by parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.studies import frequency_sensitivities
    >>> def oscillator(mass, stiffness):
    ...     return LinearPHDAE(E=np.diag([mass, 1.0 / stiffness]), J=np.array([[0.0, -1.0], [1.0, 0.0]]))
    >>> by = frequency_sensitivities(oscillator, {"mass": 2.0, "stiffness": 8.0}, 1).derivatives
    >>> by["mass"].round(9), by["stiffness"].round(9)  # −ω/(2m), ω/(2k)
    (array([-0.5]), array([0.125]))
    """
    relative_steps = stated_steps(at, steps)
    here = plain_system(system, at)
    vibrations = modes(here, count=check.count("count", count))
    derivatives = {
        name: _derivatives(here, vibrations, _MatrixDerivatives.along(system, at, name, step))
        for name, step in relative_steps.items()
    }
    return FrequencySensitivities(vibrations.frequencies, derivatives)


@dataclass(frozen=True)
class _MatrixDerivatives:
    """Derivatives of the matrices E, J and G with respect to one parameter."""

    E: Any
    J: Any
    G: Any

    @staticmethod
    def along(system: Callable[..., Any], at: Mapping[str, float], name: str, step: float) -> _MatrixDerivatives:
        def matrices(value: float) -> Array:
            plain = plain_system(system, {**at, name: value})
            array = np.empty(3, dtype=object)  # an array of matrices, added and scaled one by one
            array[:] = plain.E, plain.J, plain.G
            return array

        return _MatrixDerivatives(*(central_of_order_four(matrices, at[name], step) / step))


def _derivatives(system: LinearPHDAE, vibrations: Eigenmodes, change: _MatrixDerivatives) -> Array:
    result = np.empty(vibrations.frequencies.size)
    for span in _clusters(vibrations.frequencies):
        x, omega = vibrations.shapes[:, span], vibrations.frequencies[span].mean()
        form = -omega * (x.conj().T @ (change.E @ x)) - 1j * (x.conj().T @ (change.J @ x))
        if check.norm(change.G) > 0.0:
            multipliers = recover_multipliers(system, x.real) + 1j * recover_multipliers(system, x.imag)
            moved = multipliers.conj().T @ (change.G @ x)
            form = form - 1j * (moved.conj().T - moved)
        # Modes are normalised to xᴴE x = 2, and orthogonal.
        result[span] = np.linalg.eigvalsh(0.25 * (form + form.conj().T))
    return result


def _clusters(frequencies: Array) -> Iterator[slice]:
    """Yield a slice for each group of ascending frequencies that are equal up to round-off."""
    ends = np.flatnonzero(np.diff(frequencies) > REPEATED * frequencies[1:]) + 1
    bounds = [0, *ends.tolist(), frequencies.size]
    return (slice(first, last) for first, last in pairwise(bounds) if last > first)
