"""Gradient of a functional of a run, by the discrete adjoint of its steps.

A step solves r(x₀, y; p) = 0 for its mean velocities and multipliers y and ends at x₁ = X(x₀, y; p). From
a_N = ∂Φ/∂x_N on, each step is taken back,

    r_yᵀ μ = X_yᵀ a₁,   a₀ = X_xᵀ a₁ − r_xᵀ μ + ∂Φ/∂x₀,   dΦ/dp += X_pᵀ a₁ − r_pᵀ μ,

at the solution that the run has found (:mod:`flexph.integration.loops.recorded`). This takes the time of about
one more run for any number of parameters. Derivatives of the constants of a mechanism, its start, drives and inputs
with respect to the parameters are differences of these data, not of runs (:mod:`.parameters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..integration.methods.exact import Decaying, Exact
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .derivatives import Adjoint, derivatives_by_parameters
from .functionals import Functional
from .parameters import (
    origin_of,
)
from .runs.branches import refuse_sticking, warn_of_changes
from .runs.kept_steps import GradientRun, segmented_run, whole_run
from .runs.problems import EXACT, GradientMethod, Problem, problem_of
from .runs.struck_runs import struck_run
from .sensed import sensed_of

if TYPE_CHECKING:
    from ..results.solution import Solution


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
        Derivatives by the inputs of each port in the middle of each step, (N, d), or of each part of a step that an
        impact divides; of each substep of Exact4, (6N, d); at the s nodes of each step of ExactGauss, (sN, d).
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
    method: GradientMethod = EXACT,
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
    method : Exact, Exact4, ExactGauss or Decaying
        :class:`~flexph.methods.Exact` without tolerance; :class:`~flexph.methods.Exact4`, whose substeps are taken
        once more; or :class:`~flexph.methods.ExactGauss` or :class:`~flexph.methods.Decaying`, whose steps are solved
        once more, of at most 1000 unknowns.
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
        For rigid contacts that rub, stay closed or strike at one time, joints that stick, dependent constraints,
        large bodies, sensors of runs, parameters or sensors that are not smooth, and a step that has no adjoint.
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
    method: GradientMethod = EXACT,
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
    if isinstance(method, Exact | Decaying) and method.tolerance is not None:
        raise ValueError(f"method must take the steps of times, got {method}: leave its tolerance out")
    problem = problem_of(make, parameters, times, method=method, strikes=not checkpoints)
    if checkpoints:
        _refuse_checkpoints(problem, functionals)
        quantities = [functional.quantity for functional in functionals.values()]
        run: GradientRun = segmented_run(problem, quantities, progress=progress)
    elif problem.strikes:
        run = struck_run(problem, times, progress=progress)
    else:
        run = whole_run(problem, times, progress=progress)
        refuse_sticking(run.solution)
        warn_of_changes(run.solution)
    sensed = {name: sensed_of(run, functional) for name, functional in functionals.items()}
    sensors = {name: (functionals[name].quantity, own.places) for name, own in sensed.items()}
    problem = run.problem  # its table has the times of impacts, too
    steps = problem.table.times if problem.strikes else times
    origin = origin_of(make, parameters, steps, problem, sensors, run.jumps)
    found = derivatives_by_parameters(origin, run, (functionals, sensed))
    return {name: _gradient(run, *of) for name, of in found.items()}


def _refuse_checkpoints(problem: Problem, functionals: Mapping[str, Functional]) -> None:
    """Raise ValueError for runs that cannot be recomputed by segments."""
    steps = [own.quantity for own in functionals.values() if own.quantity.of_steps is not None]
    for of, found in (
        (f"{problem.method}", not isinstance(problem.method, Exact)),
        (f"the {steps[0]}" if steps else "", steps),
        ("contacts", problem.kinds.contact),
        ("dry friction of joints", problem.kinds.friction),
    ):
        if found:
            raise ValueError(f"checkpoints do not know {of}: leave them out, and all states are kept")


def _gradient(run: GradientRun, adjoint: Adjoint, by: Mapping[str, float]) -> Gradient:
    """Gradient of a functional."""
    by_step = adjoint.weights.inputs.by_step
    by_input = {port: by_step[:, part] for port, part in run.problem.mechanism.network.input_slices.items()}
    return Gradient(adjoint.value, by, by_input, adjoint.defect, run.solution)
