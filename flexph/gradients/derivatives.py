"""Derivatives of functionals of a run with respect to parameters.

They follow from backward sweeps over the steps, and from differences of the data of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from .coded_steps import MANY, ORDERS, RunDerivatives, coded
from .functionals import Functional
from .parameters import (
    FEW,
    STEP,
    DifferenceBase,
    FunctionalDerivatives,
    RunData,
    SampledDirection,
    Samples,
    SingleParameterSamples,
    SmallSteps,
    one_by_one,
    sampled_direction,
    sixth_order,
    small_steps,
    varied_by,
)
from .runs.back_over import back_over
from .runs.kept_steps import GradientRun
from .runs.readings import AGREED
from .runs.run_inputs import InputWeights
from .sensed import SensedFunctional, derivatives_by_run, value_at_times

CONSISTENT = 1e-8
"""Largest difference of the derivative along all parameters and the sum of the single ones, relative to their sizes."""


class Adjoint(NamedTuple):
    """Value of a functional, and its derivatives with respect to the data of the run.

    ``defect`` is the largest relative defect of the sweep.
    """

    value: float
    weights: FunctionalDerivatives
    defect: float


Functionals = tuple[Mapping[str, Functional], Mapping[str, "SensedFunctional"]]
Found = dict[str, tuple["Adjoint", dict[str, float]]]


def derivatives_by_parameters(origin: DifferenceBase, run: GradientRun, of: Functionals) -> Found:
    """Adjoints of all functionals, and their derivatives with respect to parameters, with as few samples as possible.

    Many parameters are changed all at once (coded steps). From three parameters on, each is changed by one small step.
    One or two are changed one by one by several larger steps; this is also the method if the others are not accurate.
    """
    many = len(origin.parameters) > MANY and not callable(origin.times)
    found = _by_coded_steps(origin, run, of) if many else None
    if found is None and len(origin.parameters) > FEW:
        found = _by_small_steps(origin, run, of, small_steps(origin), sampled_direction(origin))
    if found is None:
        single = one_by_one(origin)
        adjoints = _adjoints(origin, run, of, single.samples)
        found = {name: (adjoint, _one_by_one(origin, adjoint.weights, single)) for name, adjoint in adjoints.items()}
    return found


def _by_coded_steps(origin: DifferenceBase, run: GradientRun, of: Functionals) -> Found | None:
    """Derivatives with respect to many parameters from coded samples, in which all parameters change at once.

    None if ``make`` fails at a sample, or if numbers that matter depend on too many parameters.
    """
    pairs: list[tuple[RunData, RunData]] = []
    along = None
    for order in ORDERS:
        try:
            steps, along = coded(origin, order, pairs), along or sampled_direction(origin)
        except ValueError:  # the derivative by one parameter raises it again, with its name
            return None
        if found := _by_small_steps(origin, run, of, steps, along):
            return found
    return None


def _by_small_steps(
    origin: DifferenceBase,
    run: GradientRun,
    of: Functionals,
    steps: SmallSteps | RunDerivatives,
    along: SampledDirection,
) -> Found | None:
    """Derivatives with respect to each parameter from samples ``steps`` with small changes of parameters.

    For a check, all parameters also change at once in the direction ``along``. The result is None unless the derivative
    in this direction is the sum of the single derivatives, each weighted by the change of its parameter.
    """
    adjoints = _adjoints(origin, run, of, {**steps.samples, "all": along.samples})
    found: Found = {}
    for name, adjoint in adjoints.items():
        by = steps.by_parameter(origin, adjoint.weights)
        if by is None or not _is_sum(origin, along, adjoint, by):
            return None
        found[name] = adjoint, by
    return found


def _is_sum(origin: DifferenceBase, along: SampledDirection, adjoint: Adjoint, by: Mapping[str, float]) -> bool:
    """True if the derivative along a direction in which all parameters change is the sum of the single derivatives.

    ``by`` are the derivatives with respect to each parameter.
    """
    whole, rough, largest = sixth_order(adjoint.weights, along.samples, STEP, origin.sample)
    terms = [size * by[key] for key, size in along.direction.items()]
    return rough <= AGREED * largest and abs(whole - sum(terms)) <= CONSISTENT * sum(map(abs, terms))


def _one_by_one(
    origin: DifferenceBase, weights: FunctionalDerivatives, single: SingleParameterSamples
) -> dict[str, float]:
    """Derivatives with respect to each parameter by differences of sixth order.

    Raises ValueError if the data of the run are not smooth functions of a parameter.
    """
    by = {}
    for name, value in origin.parameters.items():
        step = single.steps[name]
        by[name], rough, largest = sixth_order(weights, single.samples[name], step, origin.sample)
        if rough > AGREED * largest:
            raise ValueError(
                f"parameter {name!r} does not change mechanism, start or inputs smoothly near {value:g}: "
                f"the derivative {by[name]:.6g} by steps of {step:.2g} is uncertain by {rough:.2g}"
            )
    return by


def _adjoints(origin: DifferenceBase, run: GradientRun, of: Functionals, samples: Samples) -> dict[str, Adjoint]:
    """Adjoint of each functional by a backward sweep over the steps of the run.

    Of the constants, the sweep takes only those into account that differ in one of the ``samples``.
    """
    problem, varied = origin.problem, varied_by(origin.problem, samples)
    adjoints = {}
    for name, functional in of[0].items():
        sensed_functional = of[1][name]
        by = back_over(run, *derivatives_by_run(run, functional, sensed_functional), varied)
        by_input, at_times = (
            InputWeights(problem.sampled, by.inputs),
            partial(value_at_times, functional, sensed_functional),
        )
        sensor = functional.quantity, functional.component
        weights = FunctionalDerivatives(
            name, *sensor, by.arrays, by_input, by.jumps, sensed_functional.slopes, at_times
        )
        adjoints[name] = Adjoint(sensed_functional.value, weights, by.defect)
    return adjoints
