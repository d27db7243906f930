"""Derivatives of the values of runs with respect to parameters, by central differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields
from .eigenvalues.along_parameters import stated_steps
from .execution.runs import StudyOptions
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
    """Derivatives of all values of a run by central differences ``(f(p + h) − f(p − h))/(2h)``, error h² f‴/6.

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
    relative_steps = stated_steps(at, steps)
    with evaluations(function, list(at), StudyOptions(out, executor, jobs, resume)) as runs:
        (values,) = runs.values([at])
        numbers = [name for name, value in values.items() if value.dtype.kind in "fi"]
        slopes = derivatives(runs, at, relative_steps, numbers)
        return Sensitivities(dict(at), relative_steps, {name: values[name] for name in numbers}, slopes, runs.dataset())


def derivatives(
    runs: Evaluations, at: Mapping[str, float], steps: Mapping[str, float], names: Sequence[str]
) -> dict[str, dict[str, Array]]:
    """Derivatives by value and parameter, from central differences; all runs are requested at once."""
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
