"""Derivatives of sensor readings along a run with respect to parameters, by forward differentiation of its steps.

For a step that solves r(x₀, y; p) = 0 and ends at X(x₀, y; p), derivatives of the states satisfy

    r_y δy = −(r_x δx₀ + r_p δp),   δx₁ = X_x δx₀ + X_y δy + X_p δp.

They are exact for the discrete run. The computing time grows with the number of parameters, not of readings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..integration.integrate import integrate
from ..integration.loops.memory.memory import address_of
from ..integration.loops.recorded.backward import FORWARD
from ..integration.loops.recorded.entry import sweep
from ..integration.loops.recorded.forward import forward_of
from ..integration.methods.exact import Exact
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import ORDER_SIX
from ..sensors.quantities import Quantity
from .parameters import RunData, one_by_one, origin_of, varied_by
from .runs.branches import refuse_sticking, warn_of_changes
from .runs.kept_steps import Piece
from .runs.problems import Problem, Times, in_loops, problem_of
from .runs.readings import AGREED, change, readings, readings_by_state
from .runs.run_inputs import array_change
from .runs.sweeps import VariedData, recorded_run, refuse_bent

if TYPE_CHECKING:
    from ..results.solution import Solution

NEGLIGIBLE = 1e-10
"""Change of a reading by the size of a parameter, relative to the largest reading, up to which it counts as zero."""


@dataclass(frozen=True)
class ForwardSensitivities:
    """Readings of sensors along a run, and their derivatives with respect to the parameters.

    Attributes
    ----------
    values : mapping
        Readings of each sensor, (N + 1,) or (N + 1, c).
    by : mapping
        Derivatives ``by[sensor][parameter]`` with respect to the parameter, in the shape of the readings.
    defect : float
        Largest defect of the linear systems of the steps, relative to their right-hand sides.
    solution : Solution
        Run at the parameters.
    """

    values: Mapping[str, Array]
    by: Mapping[str, Mapping[str, Array]]
    defect: float
    solution: Solution


@checked
def forward_sensitivities(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Times,
    sensors: Mapping[str, Quantity],
    *,
    progress: bool = False,
) -> ForwardSensitivities:
    """Integrate a mechanism by :class:`~flexph.methods.Exact`; differentiate readings with respect to parameters.

    This is efficient for many readings and few parameters, as in fits; :func:`gradient` is for few functionals and many
    parameters.

    Parameters
    ----------
    make : callable
        Function of the named parameters that returns the mechanism and its start, and as a third value the inputs of
        :func:`flexph.integrate` if there are any, as for :func:`gradient`.
    parameters : dict
        Values of the parameters, at least one.
    times : array or callable
        Times (N,) or (N + 1,) [s] as for :func:`flexph.integrate`; they are the ends of all steps. Or a function of the
        named parameters that returns them; derivatives are then those of the reading at the end of each step, which
        moves with the parameters.
    sensors : dict
        Smooth sensors of states by name.
    progress : bool
        True to show the progress of the run.

    Returns
    -------
    ForwardSensitivities
        Readings, their derivatives, and the run.

    Raises
    ------
    ValueError
        As for :func:`gradient`.
    IntegrationError
        If the run fails.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge
    >>> from flexph.gradients import forward_sensitivities
    >>> from flexph.sensors import joint_angle
    >>> def pendulum(gravity):
    ...     pins = [hinge("bar.root", GROUND)]
    ...     mechanism = connect({"bar": rigid.bar(0.5, 1.0)}, pins, gravity=(0.0, -gravity))
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    >>> run = forward_sensitivities(pendulum, {"gravity": 9.81}, np.linspace(0.0, 0.1, 11),
    ...                             {"angle": joint_angle("bar.root")})
    >>> rise = run.values["angle"] / 9.81  # nearly: the angle is proportional to gravity at first
    >>> bool(np.allclose(run.by["angle"]["gravity"], rise, rtol=1e-2))
    True
    """
    if not parameters:
        raise ValueError("parameters must have at least one value by name, got none")
    problem = problem_of(make, parameters, times)
    solution = integrate(
        problem.mechanism, problem.start, problem.times, method=Exact(), inputs=problem.inputs, progress=progress
    )
    warn_of_changes(solution)
    values = {name: readings(problem.mechanism, quantity, solution.states) for name, quantity in sensors.items()}
    at = {name: (quantity, solution.states) for name, quantity in sensors.items()}
    origin = origin_of(make, parameters, times, problem, at)
    samples, steps = one_by_one(origin)
    changes = {
        name: changes_by(sensors, steps[name], of_parameter, origin.sample) for name, of_parameter in samples.items()
    }
    every = [change for both in changes.values() for change in both]
    along, defect = derivatives_along(problem, solution, every, varied_by(problem, samples))
    states, magnitudes = solution.states, np.abs(solution.states).max(axis=0)
    by = {}
    for name, quantity in sensors.items():
        slopes = readings_by_state(problem.mechanism, quantity, states, magnitudes)
        ones = [in_loops(problem.mechanism, slopes[:, i], weights=True) for i in range(slopes.shape[1])]
        moved = np.stack([np.einsum("kn,kqn->qk", one, along) for one in ones], axis=-1)
        direct = np.array([change.sensed[name] for both in changes.values() for change in both])
        by[name] = _agreeing(name, parameters, moved + direct, values[name])
    shapes = {name: (len(states),) if quantity.scalar else (len(states), -1) for name, quantity in sensors.items()}
    return ForwardSensitivities(
        {name: readings.reshape(shapes[name]) for name, readings in values.items()},
        {name: {key: one.reshape(shapes[name]) for key, one in of_sensor.items()} for name, of_sensor in by.items()},
        defect,
        solution,
    )


@dataclass(frozen=True)
class Change:
    """Derivatives of the data of a run with respect to one parameter.

    The data are arrays, inputs, and the readings of sensors at unchanged states, ``sensed``.
    """

    arrays: list[Array]
    inputs: Array
    sensed: Mapping[str, Array]


def changes_by(
    sensors: Mapping[str, Quantity], size: float, samples: Mapping[int, RunData], here: RunData
) -> tuple[Change, Change]:
    """Derivatives of the data of a run with respect to one parameter by differences of sixth order, and their errors.

    ``samples`` have changes by multiples of the step ``size``, ``here`` has none. An error is the sum of two terms:
    sixth-order minus fourth-order difference, and the second difference over 3 steps minus 9 times that over one step,
    divided by ``size``. The latter is almost zero for smooth functions, but not at a kink.
    """
    fine = {side * k: side * weight / size for k, weight in ORDER_SIX.items() for side in (1, -1)}
    coarse = {1: 8.0 / 12.0, -1: -8.0 / 12.0, 2: -1.0 / 12.0, -2: 1.0 / 12.0}
    second = {3: 1.0, -3: 1.0, 1: -9.0, -1: -9.0}
    rough = {k: weight + (second.get(k, 0.0) - coarse.get(k, 0.0)) / size for k, weight in fine.items()}
    return _change(sensors, fine, samples, here), _change(sensors, rough, samples, here)


def _change(
    sensors: Mapping[str, Quantity], weights: Mapping[int, float], samples: Mapping[int, RunData], here: RunData
) -> Change:
    """Weighted sum of the differences between samples and the sample ``here`` at the unchanged parameters.

    ``weights`` maps a number of steps to the weight of its sample.
    """
    terms = [(weight, samples[k]) for k, weight in weights.items()]
    arrays = [
        np.asarray(sum(weight * array_change(sample.arrays[i], first) for weight, sample in terms))
        for i, first in enumerate(here.arrays)
    ]
    inputs = np.asarray(sum(weight * array_change(sample.inputs.rows, here.inputs.rows) for weight, sample in terms))
    sensed = {
        name: np.asarray(
            sum(weight * change(of, sample.readings[name], here.readings[name]) for weight, sample in terms)
        )
        for name, of in sensors.items()
    }
    return Change(arrays, inputs, sensed)


def derivatives_along(
    problem: Problem, solution: Solution, changes: Sequence[Change], varied: VariedData
) -> tuple[Array, float]:
    """Derivatives (N + 1, q, n) of the states of a run for q changes of its data, and the largest relative defect.

    States have the layout of the compiled loops, with whole rotation matrices. Raises ValueError for joints that stick
    and steps without derivatives.
    """
    refuse_sticking(solution)
    zero = np.zeros_like(in_loops(problem.mechanism, solution.states))
    run, addresses = recorded_run(problem, Piece(0, solution.states, solution.stage_multipliers), zero, varied)
    timed = slice(None if varied.times else 0)
    derivatives = [
        [constants[varied.constants], start, times[timed], *rows, change.inputs, moved]
        for change in changes
        for constants, start, times, *rows, moved in [change.arrays]
    ]
    forward = forward_of(run, derivatives)
    dim, steps = problem.mechanism.layout.dim, len(run.means)
    failed = sweep(problem.memory.address, address_of(addresses), dim, FORWARD, forward, (0, steps))
    if failed >= 0:
        raise ValueError(f"the step from {run.table.times[failed]:.6g} s has no derivative: its Jacobian is singular")
    if not np.isfinite(forward.states).all():
        raise ValueError("a step of the run has no derivative: one of its terms is not finite")
    refuse_bent(run)
    return forward.states, float(forward.audit[0])


def _agreeing(name: str, parameters: Mapping[str, float], pairs: Array, values: Array) -> dict[str, Array]:
    """Derivatives of a sensor's readings by the name of the parameter.

    ``pairs`` alternate the derivatives with respect to each parameter and their errors, ``values`` are the readings.
    Raises ValueError if the errors are large, as the data are then not smooth functions of the parameter.
    """
    sizes = np.array([abs(value) or 1.0 for value in parameters.values()])[:, None, None]
    fine, apart = pairs[::2], pairs[1::2]
    scale = max(float(np.abs(sizes * fine).max()), NEGLIGIBLE / AGREED * float(np.abs(values).max()))
    for key, size, gap in zip(parameters, sizes, apart, strict=True):
        if np.abs(size * gap).max() > AGREED * scale:
            raise ValueError(
                f"parameter {key!r} does not change mechanism, start or inputs smoothly near {parameters[key]:g}: "
                f"differences of {name!r} by several steps do not agree"
            )
    return dict(zip(parameters, fine, strict=True))
