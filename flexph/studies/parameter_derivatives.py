"""Derivatives with respect to parameters, of runs' values by central differences and of frequencies from modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..linear.eigenmodes.modes import Eigenmodes, modes
from ..linear.elimination import recover_multipliers
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import central_of_order_four
from ..numerics.memo import NamedFields
from ..systems.linear import LinearPHDAE
from .execution.runs import Place
from .parameter_study import Evaluations, evaluations, value_of


@dataclass(frozen=True)
class Sensitivities(NamedFields):
    """Values of a run ``at`` given parameters, and ``derivatives[value][parameter]`` in the shape of the value.

    Attributes
    ----------
    at : mapping
        Parameter values.
    steps : mapping
        Steps of the differences.
    values : mapping
        Values of the run.
    derivatives : mapping
        ``derivatives[value][parameter]``, in the shape of the value.
    runs : Dataset
        All runs.
    """

    at: Mapping[str, float]
    steps: Mapping[str, float]
    values: Mapping[str, Array]
    derivatives: Mapping[str, Mapping[str, Array]]
    runs: Any


@checked
def sensitivities(
    function: Callable[..., Any] | str,
    at: Mapping[str, float],
    steps: float | Mapping[str, float],
    *,
    out: Path | None = None,
    executor: Executor | str | None = None,
    jobs: int | None = 1,
    resume: bool = False,
) -> Sensitivities:
    """Derivatives of all numbers of a run: ``(f(p + h) − f(p − h))/(2h)``, with an error of h² f‴/6.

    Parameters
    ----------
    function : callable or str
        Function of named parameters that returns a dict of values, or the name of a case; see :func:`flexph.study`.
    at : dict
        Parameter values.
    steps : float or dict
        Steps h by parameter; one number is the step relative to the size of each parameter.
    out, executor, jobs, resume : optional
        Options of :func:`flexph.study`; by default runs are computed in this process.

    Returns
    -------
    Sensitivities
        Values and their derivatives.

    Raises
    ------
    ArithmeticError
        If a run fails.

    Examples
    --------
    >>> from flexph.studies import sensitivities
    >>> def fall(height, gravity):
    ...     return {"time": (2.0 * height / gravity) ** 0.5}
    >>> by = sensitivities(fall, {"height": 2.0, "gravity": 4.0}, 1e-3).derivatives["time"]
    >>> round(by["height"].item(), 6), round(by["gravity"].item(), 6)  # t/(2h), −t/(2g)
    (0.25, -0.125)
    """
    own = stated_steps(at, steps)
    with evaluations(function, list(at), Place(out, executor, jobs, resume)) as runs:
        (values,) = runs.values([at])
        numbers = [name for name, value in values.items() if value.dtype.kind in "fi"]
        slopes = derivatives(runs, at, own, numbers)
        return Sensitivities(dict(at), own, {name: values[name] for name in numbers}, slopes, runs.dataset())


def stated_steps(at: Mapping[str, float], steps: float | Mapping[str, float]) -> dict[str, float]:
    """Step of each parameter, from one relative step or one step for each."""
    if not at:
        raise ValueError("at must have at least one parameter, got none")
    if not isinstance(steps, Mapping):
        for name, value in at.items():
            if value == 0.0:
                raise ValueError(f"steps must be a dict with a step of {name!r}, which is zero and sets no scale")
        return {name: check.positive("steps", steps) * abs(value) for name, value in at.items()}
    return {name: check.positive(f"steps[{name!r}]", check.lookup("step", name, steps)) for name in at}


def derivatives(
    runs: Evaluations, at: Mapping[str, float], steps: Mapping[str, float], names: Sequence[str]
) -> dict[str, dict[str, Array]]:
    """Derivatives by value and parameter; all runs are requested at once."""
    samples = [{**at, name: at[name] + sign * step} for name, step in steps.items() for sign in (1.0, -1.0)]
    values = runs.values(samples)
    slopes: dict[str, dict[str, Array]] = {name: {} for name in names}
    for k, (parameter, step) in enumerate(steps.items()):
        for name in names:
            above, below = (value_of(one, name) for one in values[2 * k : 2 * k + 2])
            if above.shape != below.shape:
                raise ValueError(f"the value {name!r} must have one shape, got {above.shape} and {below.shape}")
            slopes[name][parameter] = (above - below) / (2.0 * step)
    return slopes


REPEATED = 1e-8
"""Relative distance up to which frequencies count as repeated: their modes are arbitrary in a plane."""


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

    They are ``xᴴE x dω = −ω xᴴdE x − i (xᴴdJ x + xᴴdGᵀλ − λᴴdG x)``; for a repeated frequency the eigenvalues of this
    form on its modes. The modes are computed once for all parameters; the matrices are differentiated by differences of
    fourth order, exact to round-off for polynomials of degree four.

    Parameters
    ----------
    system : callable
        Function of named parameters that returns a LinearPHDAE without dissipation, always of the same states.
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
    own = stated_steps(at, steps)
    here = plain_system(system, at)
    vibrations = modes(here, count=check.count("count", count))
    derivatives = {
        name: _derivatives(here, vibrations, _Change.along(system, at, name, step)) for name, step in own.items()
    }
    return FrequencySensitivities(vibrations.frequencies, derivatives)


@dataclass(frozen=True)
class _Change:
    """Derivatives of the matrices E, J and G with respect to one parameter."""

    E: Any
    J: Any
    G: Any

    @staticmethod
    def along(system: Callable[..., Any], at: Mapping[str, float], name: str, step: float) -> _Change:
        def matrices(value: float) -> Array:
            own = plain_system(system, {**at, name: value})
            array = np.empty(3, dtype=object)  # an array of matrices, added and scaled one by one
            array[:] = own.E, own.J, own.G
            return array

        return _Change(*(central_of_order_four(matrices, at[name], step) / step))


def plain_system(system: Callable[..., Any], at: Mapping[str, float]) -> LinearPHDAE:
    """System at given parameters, without lift, so that its modes are in its states."""
    own = check.asked("system", lambda parameters: system(**parameters), dict(at))
    if not isinstance(own, LinearPHDAE):
        raise ValueError(f"system must return a LinearPHDAE, {LinearPHDAE.remedy}, got {type(own).__name__}")
    return replace(own, lift=None, parts={})


def _derivatives(system: LinearPHDAE, vibrations: Eigenmodes, change: _Change) -> Array:
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
    """Slices of frequencies that are equal up to round-off."""
    ends = np.flatnonzero(np.diff(frequencies) > REPEATED * frequencies[1:]) + 1
    bounds = [0, *ends.tolist(), frequencies.size]
    return (slice(first, last) for first, last in pairwise(bounds) if last > first)
