"""Gradient of a functional of a run, by the discrete adjoint of its steps.

A step solves r(x₀, y; p) = 0 for its mean velocities and multipliers y and ends at x₁ = X(x₀, y; p). The backward
sweep begins with a_N = ∂Φ/∂x_N and computes, for each step from the last to the first,

    r_yᵀ μ = X_yᵀ a₁,   a₀ = X_xᵀ a₁ − r_xᵀ μ + ∂Φ/∂x₀,   dΦ/dp += X_pᵀ a₁ − r_pᵀ μ,

at the solution of the run (:mod:`flexph.integration.loops.recorded`). This takes about the time of one more run for
any number of parameters. Derivatives of the data (constants of a mechanism, start, drives and inputs) with respect to
the parameters are differences of these data, not of runs (:mod:`.parameters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from .runs.problems import EXACT, GradientMethod, Problem, Times, problem_of
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
        Value Φ of the functional.
    by : mapping
        Derivatives dΦ/dp with respect to the parameters, by name.
    by_input : mapping
        Derivatives with respect to the inputs of each port, by its name: those in the middle of each step (N, d), or
        of each part of a step that an impact divides, or of each substep of Exact4 (6N, d); for ExactGauss those at
        the s nodes of each step (sN, d).
    defect : float
        Largest defect of the transposed systems, relative to their right-hand sides.
    solution : Solution
        Run at the parameters.
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
    times: Times,
    functional: Functional,
    *,
    method: GradientMethod = EXACT,
    checkpoints: bool = False,
    progress: bool = False,
) -> Gradient:
    """Integrate a mechanism, and compute the gradient of a functional of the run.

    The gradient is exact for the discrete run. It takes about the time of two runs, and calls of ``make``: 25 or 37 for
    more than 24 parameters if each number of the mechanism depends on few of them; otherwise two for each parameter
    (six for one or two parameters, and if two are not accurate). Their finite differences limit the accuracy to about
    1e-9 of the largest p dΦ/dp. ``make`` should return the same mechanism object if only start and inputs change.

    Parameters
    ----------
    make : callable
        Function of the named parameters that returns the mechanism and its start, and as a third value the inputs of
        :func:`flexph.integrate` if there are any. It must be smooth: joints, meshes and signs of modes must not change.
    parameters : dict
        Values of the parameters, by name. Steps of the differences are 1e-5 and 1e-3 of the absolute value; for a value
        of zero they are 1e-5 and 1e-3 themselves.
    times : array or callable
        Times (N,) or (N + 1,) [s] as for :func:`flexph.integrate`; they are the ends of all steps. Or a function of the
        named parameters that returns them, for derivatives with respect to a time of the run, such as its end; ``make``
        must then change the inputs accordingly.
    functional : Functional
        :class:`Last`, :class:`Integral`, :class:`MeanSquare`, :class:`Increase` or :class:`Peak` of a sensor of states,
        or of the force or torque of a joint in the middles of steps.
    method : Exact, Exact4, ExactGauss or Decaying
        :class:`~flexph.methods.Exact` without tolerance; :class:`~flexph.methods.Exact4`, whose substeps are computed
        a second time; or :class:`~flexph.methods.ExactGauss` with at most 1000 unknowns in a step, or
        :class:`~flexph.methods.Decaying`, whose steps are solved a second time.
    checkpoints : bool
        True to store at most 3.3 √N of the N states at a time. Steps are computed again by segments, bitwise equal, in
        the time of one more run; ``solution`` contains the ends of segments. Possible for :class:`Last`,
        :class:`Increase` and :class:`Peak` of sensors of states, and :class:`~flexph.methods.Exact`.
    progress : bool
        True to show the progress of the run.

    Returns
    -------
    Gradient
        Value, derivatives with respect to parameters and inputs, and the run.

    Raises
    ------
    ValueError
        For rigid contacts that have friction, stay closed or strike at the same time; joints that stick, dependent
        constraints, large bodies; sensors of whole runs, parameters or sensors that are not smooth; and a step without
        an adjoint.
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
    times: Times,
    functionals: Mapping[str, Functional],
    *,
    method: GradientMethod = EXACT,
    checkpoints: bool = False,
    progress: bool = False,
) -> dict[str, Gradient]:
    """Compute the gradients of several functionals of one run.

    The run, and the differences of its data with respect to the parameters, are shared. Each functional needs one
    backward sweep over the steps.

    Parameters
    ----------
    make, parameters, times
        As for :func:`gradient`.
    functionals : dict
        Functionals by name.
    method, checkpoints, progress
        As for :func:`gradient`.

    Returns
    -------
    dict
        A :class:`Gradient` for each functional, by name, all with the same run.

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
        if callable(times):
            raise ValueError("times of runs with rigid contacts must be an array: their gradients are at fixed times")
        run = struck_run(problem, progress=progress)
    else:
        run = whole_run(problem, progress=progress)
        refuse_sticking(run.solution)
        warn_of_changes(run.solution)
    sensed = {name: sensed_of(run, functional) for name, functional in functionals.items()}
    sensors = {
        name: (functionals[name].quantity, sensed_functional.places) for name, sensed_functional in sensed.items()
    }
    problem = run.problem  # its table has the times of impacts, too
    steps = problem.table.times if problem.strikes else times
    origin = origin_of(make, parameters, steps, problem, sensors, run.jumps)
    found = derivatives_by_parameters(origin, run, (functionals, sensed))
    return {name: _gradient(run, *of) for name, of in found.items()}


def _refuse_checkpoints(problem: Problem, functionals: Mapping[str, Functional]) -> None:
    """Raise ValueError for runs whose steps cannot be computed again segment by segment.

    Such are runs by methods other than Exact, runs with contacts or dry friction, and runs of which a functional reads
    a sensor of steps.
    """
    steps = [functional.quantity for functional in functionals.values() if functional.quantity.of_steps is not None]
    for of, found in (
        (f"{problem.method}", not isinstance(problem.method, Exact)),
        (f"the {steps[0]}" if steps else "", steps),
        ("contacts", problem.kinds.contact),
        ("dry friction of joints", problem.kinds.friction),
    ):
        if found:
            raise ValueError(f"checkpoints=True does not support {of}: leave it out to store all states")


def _gradient(run: GradientRun, adjoint: Adjoint, by: Mapping[str, float]) -> Gradient:
    """Gradient of a functional, from its adjoint and its derivatives ``by`` with respect to the parameters, by name."""
    by_step = adjoint.weights.inputs.by_step
    by_input = {port: by_step[:, part] for port, part in run.problem.mechanism.network.input_slices.items()}
    return Gradient(adjoint.value, by, by_input, adjoint.defect, run.solution)
