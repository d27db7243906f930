"""Gradient of a functional of a run, by the discrete adjoint of the steps that were taken.

A step solves r(x₀, y; p) = 0 for its mean velocities and multipliers y and ends at x₁ = X(x₀, y; p). From
a_N = ∂Φ/∂x_N on, each step is taken back,

    r_yᵀ μ = X_yᵀ a₁,   a₀ = X_xᵀ a₁ − r_xᵀ μ + ∂Φ/∂x₀,   dΦ/dp += X_pᵀ a₁ − r_pᵀ μ,

at the solution that the run has found (:mod:`flexph.integration.loops.recorded`). This takes the time of about
one more run for any number of parameters. What a parameter changes, the constants of a mechanism, its start, drives and
inputs, is known by differences of these, not of runs (:mod:`.parameters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..integration.loops.memory.data import Index
from ..integration.loops.memory.memory import ROW
from ..integration.methods.exact import Exact, Exact4
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..sensors.quantities import Quantity
from .branches import warn_of_changes
from .coded_steps import MANY, ORDERS, Coded, coded
from .functionals import Functional, Peak
from .parameters import (
    FEW,
    STEP,
    Along,
    Origin,
    Sample,
    Samples,
    SmallSteps,
    Weights,
    one_by_one,
    origin_of,
    sixth_order,
    small_steps,
    step_of,
    together,
    varied_by,
)
from .problems import EXACT, Problem, in_loops, problem_of
from .readings import AGREED, readings_by_state
from .run_inputs import InputWeights
from .step_readings import Places, Steps, by_ends, by_multipliers, read_steps, steps_of_run
from .sweep import GradientRun, SegmentedRun, back_over, segmented_run, whole_run

if TYPE_CHECKING:
    from ..results.solution import Solution

CONSISTENT = 1e-8
"""Largest gap between the derivative along all parameters and the sum of those by each, relative to their sizes."""


@dataclass(frozen=True)
class Gradient:
    """Value and gradient of a functional of a run.

    Attributes
    ----------
    value : float
        Φ.
    by : mapping
        dΦ/dp of each parameter.
    by_input : mapping
        Derivatives by the inputs of each port in the middle of each step, (N, d); of each substep of Exact4, (6N, d).
    defect : float
        Largest defect of the transposed systems, relative to their right-hand sides.
    solution : Solution
        The run.
    """

    value: float
    by: Mapping[str, float]
    by_input: Mapping[str, Array]
    defect: float
    solution: Solution


@checked
def gradient(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Sequence[float] | Array,
    functional: Functional,
    *,
    method: Exact | Exact4 = EXACT,
    checkpoints: bool = False,
    progress: bool = False,
) -> Gradient:
    """Integrate a mechanism, and compute the gradient of a functional of the run.

    The gradient is that of the discrete run. It takes about the time of two runs, and calls of ``make``: 25 or 37
    for any number of parameters above 24, where each number of the mechanism is a function of few of them, else two for
    each parameter (six up to two parameters, or where two do not suffice). By their differences it is known to about
    1e-9 of the largest p dΦ/dp. Let ``make`` return the same mechanism if only start and inputs change.

    Parameters
    ----------
    make : callable
        Function of the named parameters that returns the mechanism and its start, and as a third value the inputs of
        :func:`flexph.integrate` if there are any. It must be smooth: no other joints, meshes or signs of modes.
    parameters : dict
        Values of the parameters; the steps of the differences are 1e-5 and 1e-3 of each, or these for zero.
    times : array
        Times (N,) or (N + 1,) [s] as of :func:`flexph.integrate`; every step is one of the run.
    functional : Functional
        :class:`Last`, :class:`Integral` or :class:`MeanSquare` of a sensor of states, or of the force or torque of a
        joint, by the multipliers of the steps in their middles.
    method : Exact or Exact4
        :class:`~flexph.methods.Exact` without tolerance, or :class:`~flexph.methods.Exact4`, whose substeps are taken
        once more.
    checkpoints : bool
        Whether of the states of N steps only those of 3.3 √N are held at a time. Steps are taken again by segments, to
        the same bits, in the time of one more run; the ``solution`` has the ends of segments. For :class:`Last`,
        :class:`Increase` and :class:`Peak` of sensors of states, and :class:`~flexph.methods.Exact`.
    progress : bool
        Whether the run shows its progress.

    Returns
    -------
    Gradient
        Value, derivatives by parameters and by inputs, and the run.

    Raises
    ------
    ValueError
        For impacts, dry friction of joints, dependent constraints, large bodies, sensors of runs, parameters or
        sensors that are not smooth, and a step that has no adjoint.
    IntegrationError
        If the run fails.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge
    >>> from flexph.gradients import Last, gradient
    >>> from flexph.sensors import position
    >>> def pendulum(length, mass):
    ...     pins = [hinge("bar.root", GROUND)]
    ...     mechanism = connect({"bar": rigid.bar(length, mass)}, pins, gravity=(0.0, -9.81))
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    >>> found = gradient(pendulum, {"length": 0.5, "mass": 2.0}, [0.01 * k for k in range(21)],
    ...                  Last(position("bar.tip"), component=1))
    >>> abs(2.0 * found.by["mass"]) < 1e-6 * abs(0.5 * found.by["length"])  # a pendulum falls as any other
    True
    """
    return gradients(
        make, parameters, times, {"functional": functional}, method=method, checkpoints=checkpoints, progress=progress
    )["functional"]


@checked
def gradients(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Sequence[float] | Array,
    functionals: Mapping[str, Functional],
    *,
    method: Exact | Exact4 = EXACT,
    checkpoints: bool = False,
    progress: bool = False,
) -> dict[str, Gradient]:
    """Gradients of several functionals of one run.

    The run and the differences by parameters are shared; each functional takes one sweep back over the steps.

    Parameters
    ----------
    make, parameters, times
        As of :func:`gradient`.
    functionals : dict
        Functionals by name.
    method, checkpoints, progress
        As of :func:`gradient`.

    Returns
    -------
    dict
        :class:`Gradient` by name, all with the same run.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge
    >>> from flexph.gradients import Last, MeanSquare, gradients
    >>> from flexph.sensors import position
    >>> def pendulum(length):
    ...     mechanism = connect({"bar": rigid.bar(length, 1.0)}, [hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    >>> end, mean = (of(position("bar.tip"), component=1) for of in (Last, MeanSquare))
    >>> both = gradients(pendulum, {"length": 0.5}, [0.0, 0.01, 0.02], {"end": end, "mean": mean})
    >>> both["end"].solution is both["mean"].solution
    True
    """
    if isinstance(method, Exact) and method.tolerance is not None:
        raise ValueError(f"method must take the steps of times, got {method}: leave its tolerance out")
    problem = problem_of(make, parameters, times, method=method)
    if checkpoints:
        _refuse_checkpoints(problem, functionals)
        quantities = [functional.quantity for functional in functionals.values()]
        run: GradientRun = segmented_run(problem, quantities, progress=progress)
    else:
        run = whole_run(problem, times, progress=progress)
        warn_of_changes(run.solution)
    sensed = {name: sensed_of(run, functional) for name, functional in functionals.items()}
    sensors = {name: (functionals[name].quantity, own.places) for name, own in sensed.items()}
    origin = origin_of(make, parameters, times, problem, sensors)
    own = functionals, sensed
    found = _coded(origin, run, own) if len(parameters) > MANY else None
    if found is None and len(parameters) > FEW:
        found = _together(origin, run, own, small_steps(origin), together(origin))
    if found is None:
        samples = one_by_one(origin)
        adjoints = _adjoints(origin, run, own, samples)
        found = {name: (adjoint, _one_by_one(origin, adjoint.weights, samples)) for name, adjoint in adjoints.items()}
    return {name: _gradient(run, *of) for name, of in found.items()}


Functionals = tuple[Mapping[str, Functional], Mapping[str, "_Sensed"]]
Found = dict[str, tuple["_Adjoint", dict[str, float]]]


def _coded(origin: Origin, run: GradientRun, of: Functionals) -> Found | None:
    """Derivatives by coded steps; None where they are refused, or numbers of many parameters matter."""
    pairs: list[tuple[Sample, Sample]] = []
    along = None
    for order in ORDERS:
        try:
            steps, along = coded(origin, order, pairs), along or together(origin)
        except ValueError:  # raised again, with its name, for the parameter alone
            return None
        if found := _together(origin, run, of, steps, along):
            return found
    return None


def _together(
    origin: Origin, run: GradientRun, of: Functionals, steps: SmallSteps | Coded, along: Along
) -> Found | None:
    """Derivatives by small steps; None if that along all parameters at once is not the sum of those by each."""
    adjoints = _adjoints(origin, run, of, {**steps.samples, "all": along.samples})
    found: Found = {}
    for name, own in adjoints.items():
        by = steps.by_parameter(origin, own.weights)
        if by is None or not _is_sum(origin, along, own, by):
            return None
        found[name] = own, by
    return found


def _is_sum(origin: Origin, along: Along, own: _Adjoint, by: Mapping[str, float]) -> bool:
    """True if the derivative along all parameters at once is the sum of those by each."""
    whole, rough, largest = sixth_order(own.weights, along.samples, STEP, origin.sample)
    terms = [size * by[key] for key, size in along.direction.items()]
    return rough <= AGREED * largest and abs(whole - sum(terms)) <= CONSISTENT * sum(map(abs, terms))


def _one_by_one(origin: Origin, weights: Weights, samples: Samples) -> dict[str, float]:
    """Derivatives by differences of sixth order; ValueError where they are not smooth."""
    by = {}
    for name, value in origin.parameters.items():
        by[name], rough, largest = sixth_order(weights, samples[name], step_of(value), origin.sample)
        if rough > AGREED * largest:
            raise ValueError(
                f"parameter {name!r} does not change mechanism, start or inputs smoothly near {value:g}: "
                f"the derivative {by[name]:.6g} by steps of {step_of(value):.2g} is uncertain by {rough:.2g}"
            )
    return by


class _Sensed(NamedTuple):
    """Value of a functional; states or steps with nonzero slopes, the slopes there, and the numbers of these rows."""

    value: float
    places: Places
    slopes: Array
    rows: Index


def _without_checkpoints(functional: Functional, used: int, count: int) -> str:
    """Message for a functional that needs more states than checkpoints keep."""
    if isinstance(functional, Peak):
        return (
            f"checkpoints need a functional of at most half of the states, Peak with margin {functional.margin:g} "
            f"depends on {used} of {count}: take a smaller margin, or leave checkpoints out"
        )
    return "checkpoints keep no states for a functional of all times: leave them out, or take Last or Peak"


def sensed_of(run: GradientRun, functional: Functional) -> _Sensed:
    """Value and slopes of a functional of a run."""
    quantity, problem, times = functional.quantity, run.problem, run.times
    steps = None
    if quantity.of_steps is None:
        every = run.readings(quantity)
    elif not isinstance(problem.method, Exact):
        raise ValueError(f"the {quantity} has gradients in runs by Exact() only, got {problem.method}")
    else:
        steps = steps_of_run(run.solution)
        times, every = steps.times, read_steps(problem, quantity, steps)
    own = component_of(functional.component, quantity, every)
    slopes = functional.slopes(times, own)
    rows = np.flatnonzero(slopes)
    rows = rows if rows.size else np.array([0])
    if isinstance(run, SegmentedRun) and rows.size > len(times) // 2:
        raise ValueError(_without_checkpoints(functional, rows.size, len(times)))
    places = run.states(rows) if steps is None else steps.take(rows)
    return _Sensed(functional.value(times, own), places, slopes[rows], rows)


def component_of(component: int, quantity: Quantity, values: Array) -> Array:
    """Readings (k,) of one component; ValueError if there is none."""
    if not 0 <= component < values.shape[1]:
        raise ValueError(f"component must be below {values.shape[1]} for {quantity}, got {component}")
    return values[:, component]


class _Adjoint(NamedTuple):
    """Value of a functional, its weights, and the largest defect."""

    value: float
    weights: Weights
    defect: float


def _adjoints(origin: Origin, run: GradientRun, of: Functionals, samples: Samples) -> dict[str, _Adjoint]:
    """Sweeps back over the steps, one for each functional."""
    problem, varied = origin.problem, varied_by(origin.problem, samples)
    adjoints = {}
    for name, functional in of[0].items():
        own = of[1][name]
        arrays, inputs, defect = back_over(run, *_by_run(run, functional, own), varied)
        by_input = InputWeights(problem.sampled, inputs)
        weights = Weights(name, functional.quantity, functional.component, arrays, by_input, own.slopes)
        adjoints[name] = _Adjoint(own.value, weights, defect)
    return adjoints


def _by_run(run: GradientRun, functional: Functional, own: _Sensed) -> tuple[tuple[Index, Array], Array | None]:
    """Derivatives of a functional by states, with the times of these, and by the unknowns of steps, if it has any."""
    problem, by_unknown, k, rows = run.problem, None, functional.component, own.rows
    if isinstance(own.places, Steps):
        by_state = by_ends(problem, functional.quantity, own.places)
        forces = by_multipliers(problem, functional.quantity, own.places)[:, k]
        velocities = problem.memory.table[ROW["x_lam"], 0] - problem.memory.table[ROW["x_v"], 0]
        by_unknown = np.zeros((len(run.times) - 1, velocities + forces.shape[1]))
        by_unknown[rows, velocities:] = own.slopes[:, None] * forces
        rows = rows + 1
    else:
        by_state = readings_by_state(problem.mechanism, functional.quantity, own.places, run.magnitudes)
    weights = in_loops(problem.mechanism, own.slopes[:, None] * by_state[:, k], weights=True)
    return (rows, weights), by_unknown


def _refuse_checkpoints(problem: Problem, functionals: Mapping[str, Functional]) -> None:
    """Raise ValueError for runs that are not taken again by segments."""
    steps = [own.quantity for own in functionals.values() if own.quantity.of_steps is not None]
    for of, found in (
        (f"{problem.method}", not isinstance(problem.method, Exact)),
        (f"the {steps[0]}" if steps else "", steps),
        ("contacts", problem.kinds.contact),
    ):
        if found:
            raise ValueError(f"checkpoints do not know {of}: leave them out, and all states are kept")


def _gradient(run: GradientRun, adjoint: _Adjoint, by: Mapping[str, float]) -> Gradient:
    """Gradient of a functional."""
    by_step = adjoint.weights.inputs.by_step
    by_input = {port: by_step[:, part] for port, part in run.problem.mechanism.network.input_slices.items()}
    return Gradient(adjoint.value, by, by_input, adjoint.defect, run.solution)
