"""Finite differences of the data of a run and of sensor readings with respect to parameters.

One or two parameters are changed one at a time, by 1, 2 and 3 steps in both directions. With more parameters, each is
changed by one small step in both directions; with many, all are changed at once (:mod:`.coded_steps`). As a check, all
are then changed together, with arbitrary signs, by the larger steps. If this derivative is not the sum of the
others, because functions are noisy or not smooth, all parameters are changed one at a time by 1, 2 and 3 steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..numerics.differences import ORDER_SIX
from ..numerics.loops.functions import are_same, function_at
from ..sensors.quantities import Quantity
from ..systems.nonlinear import ValidityWarning
from .runs.problems import Problem, Times, problem_of
from .runs.readings import AGREED, change
from .runs.run_inputs import InputWeights, RunInputs, array_change
from .runs.step_readings import Places, Steps, read_at
from .runs.sweeps import VariedData

STEP = 1e-3
"""Step of differences of sixth order by a parameter, relative to its value (to one for zero)."""
SMALL = 1e-5
"""Step of differences of second order, likewise: their error is some 1e-10 for powers of a parameter."""
LEAST_CHANGE = 1e-3
"""Relative change of the numbers of a run, over that of a parameter, below which its steps are taken as too small."""
ENLARGED = 1e-4
"""Relative change of the numbers of a run to which such steps are enlarged."""
NEARLY_ZERO = 1e-6
"""Size of a parameter below which it is taken as zero if its steps change nothing."""
NOISE = 1e-9
"""Size of a number, relative to the largest of its array, below which it is left out of this comparison."""
FEW = 2
"""Number of parameters up to which all are changed one by one."""
NAMED = 3
"""Largest number of parameters that an error names."""
STEPS = (-3, -2, -1, 1, 2, 3)
"""Changes of a parameter in steps."""


class RunData(NamedTuple):
    """Data of a run at some values of the parameters.

    ``readings`` are readings of sensors at given states, ``jumps`` the defects of the impacts of the run.
    """

    times: Array
    arrays: list[Array]
    inputs: RunInputs
    readings: dict[str, Array]
    jumps: Array


Samples = Mapping[str, Mapping[int, RunData]]
"""Samples by parameter and number of steps."""


class SampledDirection(NamedTuple):
    """Direction in which all parameters change, by name, and samples along it by number of steps.

    A step changes each parameter by STEP times its entry of the direction.
    """

    direction: Mapping[str, float]
    samples: Mapping[int, RunData]


def no_jumps(problem: Problem) -> Array:
    """Defects of the impacts of a run without impacts: an empty array."""
    return np.zeros(0)


class DifferenceBase(NamedTuple):
    """Unchanged run with which differences begin: the function ``make``, its parameters, and the problem for these.

    ``sample`` are the data of the run at these parameters. ``sensors`` are pairs of a sensor, and the states or steps
    at which it is read. ``jumps`` returns the defects of the impacts of the run for other parameters.
    """

    make: Callable[..., Any]
    parameters: Mapping[str, float]
    times: Times
    problem: Problem
    sensors: Mapping[str, tuple[Quantity, Places]]
    sample: RunData
    jumps: Callable[[Problem], Array]


def origin_of(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Times,
    problem: Problem,
    sensors: Mapping[str, tuple[Quantity, Places]],
    jumps: Callable[[Problem], Array] = no_jumps,
) -> DifferenceBase:
    """Unchanged run with which differences begin, with its data at the given parameters."""
    read = {key: read_at(problem, *sensor) for key, sensor in sensors.items()}
    sample = RunData(problem.times, problem.arrays(), problem.sampled, read, jumps(problem))
    return DifferenceBase(make, parameters, times, problem, sensors, sample, jumps)


def size_of(value: float) -> float:
    """Size of a parameter that has the given value: the absolute value, or 1 for zero."""
    return abs(value) or 1.0


def step_of(value: float) -> float:
    """Step by which a parameter that has the given value is changed for differences of sixth order."""
    return STEP * size_of(value)


def samples_of(
    origin: DifferenceBase, changes: Mapping[str, float], counts: Sequence[int] = STEPS
) -> dict[int, RunData]:
    """Data of the run for changed parameters, by number of steps k.

    Each parameter changes by k times its step in ``changes``. Arrays that are equal to those of the origin are the same
    objects. Raises ValueError if a change of parameters changes the shape of an array, or a function.
    """
    samples, of_steps = {}, any(isinstance(places, Steps) for _, places in origin.sensors.values())
    for k in counts:
        moved = {
            **origin.parameters,
            **{name: origin.parameters[name] + k * problem for name, problem in changes.items()},
        }
        problem = problem_of(origin.make, moved, origin.times, origin.problem)
        if problem.table is origin.problem.table:  # the same mechanism and start
            samples[k] = origin.sample._replace(inputs=problem.sampled)
            continue
        arrays = problem.arrays()
        names = (
            " and ".join(map("parameter {!r}".format, changes))
            if len(changes) <= NAMED
            else f"among {len(changes)} parameters one"
        )
        _refuse_other_shapes(names, origin.sample.arrays, arrays)
        _refuse_other_functions(names, origin.problem, problem)
        shared = zip(arrays, origin.sample.arrays, strict=True)
        read = origin.sample.readings
        if problem.mechanism is not origin.problem.mechanism or of_steps:
            read = {key: read_at(problem, *sensor) for key, sensor in origin.sensors.items()}
        arrays = [old if new is old or np.array_equal(new, old) else new for new, old in shared]
        samples[k] = RunData(problem.times, arrays, problem.sampled, read, origin.jumps(problem))
    return samples


def stepped(
    origin: DifferenceBase, name: str, step: float, counts: Sequence[int] = STEPS
) -> tuple[float, dict[int, RunData]]:
    """Step with which the parameter ``name`` is changed, and samples by number of these steps.

    It is the given ``step``, unless this changes the numbers of the run by little more than their round-off, as when
    the parameter is added to something much larger. Then a larger step is used, in differences of sixth order, with a
    relative change of the numbers as large as for other parameters. If a step of a parameter that is almost zero
    changes no number, the step of a parameter with the value zero is used.
    """
    samples, size = samples_of(origin, {name: step}, counts), size_of(origin.parameters[name])
    share = max(_relative_change(origin, sample) for sample in samples.values())
    if share >= LEAST_CHANGE * step / size or (share == 0.0 and size >= NEARLY_ZERO):
        return step, samples
    larger = step * ENLARGED / share if share > 0.0 else step / size  # as of zero
    try:
        return larger, samples_of(origin, {name: larger})
    except (ValueError, ArithmeticError):
        if share > 0.0:
            warn(
                f"steps of {step:.1g} of the parameter {name!r} change the numbers of the run by {share:.1g} of these: "
                "digits of its derivative are lost, and larger steps fail; use the sum as the parameter",
                ValidityWarning,
            )
        return step, samples


def _relative_change(origin: DifferenceBase, after: RunData) -> float:
    """Largest relative change of a number from the sample of ``origin`` to the sample ``after``; zero if none changes.

    Numbers much smaller than others of their array are left out, as they may be round-off. The constants of the loops
    are compared field by field, because fields have different units.
    """
    before, largest = origin.sample, 0.0
    pairs = [(last, first) for last, first in zip(after.arrays, before.arrays, strict=True) if last is not first]
    if after.arrays[0] is not before.arrays[0]:
        last, first = pairs[0]
        pairs[:1] = [(last[span], first[span]) for span in origin.problem.memory.constant_spans()]
    for last, first in pairs:
        size, moved = np.abs(first), np.abs(array_change(last, first))
        noise = NOISE * np.max(size, initial=0.0, where=np.isfinite(size))
        counts = (np.isfinite(size) & (size > noise)) | (moved > noise)  # the latter also of zeros
        shares = np.divide(moved, size, out=np.ones_like(moved), where=size > 0.0)
        largest = max(largest, float(shares[counts].max(initial=0.0)))
    if after.inputs is not before.inputs:
        rows, others = after.inputs.rows, before.inputs.rows
        largest = max(largest, float(np.abs(rows - others).max(initial=0.0) / (np.abs(others).max(initial=0.0) or 1.0)))
    return largest


class SingleParameterSamples(NamedTuple):
    """Samples by parameter, with only this one changed, for differences of sixth order, and the step of each."""

    samples: Samples
    steps: Mapping[str, float]


def one_by_one(origin: DifferenceBase) -> SingleParameterSamples:
    """Samples with one parameter at a time changed by 1, 2 and 3 steps in both directions."""
    found = {name: stepped(origin, name, step_of(value)) for name, value in origin.parameters.items()}
    return SingleParameterSamples(
        {name: samples for name, (_, samples) in found.items()}, {name: step for name, (step, _) in found.items()}
    )


class SmallSteps(NamedTuple):
    """Samples by parameter, with only this one changed, for differences of second order, and the step of each.

    Samples of a parameter whose step was enlarged are for differences of sixth order.
    """

    samples: Samples
    steps: Mapping[str, float]

    def by_parameter(self, origin: DifferenceBase, weights: FunctionalDerivatives) -> dict[str, float] | None:
        """Derivatives of a functional with respect to each parameter.

        For enlarged steps, differences are of sixth order; None if they show that the functional is not smooth.
        """
        by = {}
        for name, step in self.steps.items():
            samples = self.samples[name]
            if len(samples) == len(STEPS):
                by[name], rough, largest = sixth_order(weights, samples, step, origin.sample)
                if rough > AGREED * largest:
                    return None
            else:
                by[name] = second_order(weights, samples, step)
        return by


def small_steps(origin: DifferenceBase) -> SmallSteps:
    """Change one parameter at a time by a small step, up and down, and return the data of the run for each change."""
    sizes = {name: SMALL * size_of(value) for name, value in origin.parameters.items()}
    found = {name: stepped(origin, name, size, (-1, 1)) for name, size in sizes.items()}
    return SmallSteps(
        {name: samples for name, (_, samples) in found.items()}, {name: step for name, (step, _) in found.items()}
    )


def sampled_direction(origin: DifferenceBase) -> SampledDirection:
    """Change all parameters together along one arbitrary direction; return the data of the run for several steps.

    The direction is the same in every call. Along it each parameter changes by half to all of its size, with an
    arbitrary sign.
    """
    random = np.random.default_rng(0)
    shares = random.choice([-1.0, 1.0], len(origin.parameters)) * random.uniform(0.5, 1.0, len(origin.parameters))
    direction = {
        name: float(share) * size_of(value)
        for (name, value), share in zip(origin.parameters.items(), shares, strict=True)
    }
    return SampledDirection(direction, samples_of(origin, {name: STEP * size for name, size in direction.items()}))


def varied_by(problem: Problem, samples: Samples) -> VariedData:
    """Constants of the loops that differ in any of the samples, as indices, and True if the times of steps differ."""
    first, times = problem.memory.constants.reals, problem.times
    varied, moves = np.zeros(first.size, dtype=bool), False
    for sample in samples.values():
        for data in sample.values():
            varied |= data.arrays[0] != first
            moves |= not np.array_equal(data.times, times)
    return VariedData(np.flatnonzero(varied), moves)


def _refuse_other_shapes(names: str, first: list[Array], second: list[Array]) -> None:
    """Raise ValueError if arrays of two samples differ in number or shape, as a parameter must not change these.

    ``names`` are those of the changed parameters.
    """
    if [part.shape for part in first] != [part.shape for part in second]:
        raise ValueError(f"{names} changes the number of coordinates, joints, inputs or steps")


def _refuse_other_functions(names: str, first: Problem, second: Problem) -> None:
    """Raise ValueError if two problems have different functions in Python, as a parameter must not change these.

    ``names`` are those of the changed parameters.
    """
    before, after = first.memory.constants.wholes, second.memory.constants.wholes
    if before is after:
        return
    other = np.flatnonzero(before != after)
    for one, another in zip(before[other].tolist(), after[other].tolist(), strict=True):
        function = function_at(one)
        if function is not None and not are_same(function, function_at(another)):
            raise ValueError(
                f"{names} changes a law that is a function in Python, or this function cannot be compared "
                f"({getattr(function, '__qualname__', 'function')}): give a polynomial or a table, or use differences "
                "of runs by flexph.studies.sensitivities"
            )


class FunctionalDerivatives(NamedTuple):
    """Derivatives of a functional with respect to the data of a run: arrays, inputs, and the defects of impacts.

    ``slopes`` are the derivatives with respect to the readings of its sensor. ``at_times`` returns the value of the
    functional with unchanged readings at other times.
    """

    name: str
    quantity: Quantity
    component: int
    arrays: Sequence[Array]
    inputs: InputWeights
    jumps: Array
    slopes: Array
    at_times: Callable[[Array], float]


def change_of(weights: FunctionalDerivatives, after: RunData, before: RunData) -> tuple[float, float]:
    """Change of a functional between two samples, to first order, and the sum of the absolute values of its terms."""
    total = size = 0.0
    pairs = zip(weights.arrays, after.arrays, before.arrays, strict=True)
    terms = [weight * array_change(last, first) for weight, last, first in pairs if last is not first]
    if after.inputs is not before.inputs:
        nodal = weights.inputs.origin.nodal_ports(after.inputs, before.inputs)
        ports = zip(weights.inputs.by_port(nodal), after.inputs.changes(before.inputs, nodal), strict=True)
        terms += [weight * moved for weight, moved in ports]
    if after.jumps is not before.jumps:
        terms.append(weights.jumps * array_change(after.jumps, before.jumps))
    last, first = after.readings[weights.name], before.readings[weights.name]
    if last is not first:
        terms.append(weights.slopes * change(weights.quantity, last, first)[:, weights.component])
    if after.times is not before.times and not np.array_equal(after.times, before.times):
        terms.append(np.array(weights.at_times(after.times) - weights.at_times(before.times)))
    for term in terms:
        total += float(term.sum())
        size += float(np.abs(term).sum())
    return total, size


def sixth_order(
    weights: FunctionalDerivatives, samples: Mapping[int, RunData], size: float, here: RunData
) -> tuple[float, float, float]:
    """Derivative of a functional by differences of sixth order, its error, and the size of its terms.

    ``size`` is the step of the parameter, ``here`` the sample without a change. The error is the larger of two numbers:
    sixth-order minus fourth-order difference, and the second difference of 3 steps minus 9 times that of one step,
    divided by ``size``. The last value is the largest sum of absolute values of the terms of a difference, divided by
    the step.
    """
    changes = [change_of(weights, samples[k], samples[-k]) for k in ORDER_SIX]
    fine = sum(weight * value for weight, (value, _) in zip(ORDER_SIX.values(), changes, strict=True)) / size
    coarse = (8.0 * changes[0][0] - changes[1][0]) / (12.0 * size)
    second = {k: change_of(weights, samples[k], here)[0] + change_of(weights, samples[-k], here)[0] for k in (1, 3)}
    rough = max(abs(fine - coarse), abs(second[3] - 9.0 * second[1]) / size)
    return fine, rough, max(terms for _, terms in changes) / size


def second_order(weights: FunctionalDerivatives, samples: Mapping[int, RunData], size: float) -> float:
    """Derivative of a functional by a central difference with a step of ``size`` in both directions."""
    return change_of(weights, samples[1], samples[-1])[0] / (2.0 * size)
