"""Derivatives of the values of runs with respect to parameters, by central differences with stated steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields
from .evaluations import Evaluations, evaluations, value_of
from .execution.runs import Place


@dataclass(frozen=True)
class Sensitivities(NamedFields):
    """``values`` of the run ``at`` some parameters, and ``derivatives[value][parameter]`` of the shape of the value.

    Attributes
    ----------
    at : mapping
        Values of the parameters.
    steps : mapping
        Those of the differences.
    values : mapping
        Those of the run.
    derivatives : mapping
        ``derivatives[value][parameter]``, of the shape of the value.
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
    """Derivatives of all values of a run that are numbers: ``(f(p + h) − f(p − h))/(2h)``, with errors of h² f‴/6.

    Parameters
    ----------
    function : callable or str
        A function of parameters by name that returns a dict of values, or the name of a case; see :func:`flexph.study`.
    at : dict
        The parameters.
    steps : float or dict
        Steps h by parameter; one number is the step over the size of each parameter.
    out, executor, jobs, resume : optional
        As of :func:`flexph.study`; runs are made in this process by default.

    Returns
    -------
    Sensitivities
        Values and their derivatives.

    Raises
    ------
    ArithmeticError
        Where a run fails.

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
    """A step for each parameter."""
    if not at:
        raise ValueError("at must name a parameter at least")
    if not isinstance(steps, Mapping):
        for name, value in at.items():
            if value == 0.0:
                raise ValueError(f"steps must be a dict with a step of {name!r}, which is zero: it has no size")
        return {name: check.positive("steps", steps) * abs(value) for name, value in at.items()}
    return {name: check.positive(f"steps[{name!r}]", check.lookup("step", name, steps)) for name in at}


def derivatives(
    runs: Evaluations, at: Mapping[str, float], steps: Mapping[str, float], names: Sequence[str]
) -> dict[str, dict[str, Array]]:
    """Derivatives by value and parameter; all runs are asked for at once."""
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
