"""Gradient of a functional of a run, by the discrete adjoint of the steps that were taken.

A step solves r(x₀, y; p) = 0 for its mean velocities and multipliers y and ends at x₁ = X(x₀, y; p). From
a_N = ∂Φ/∂x_N on, each step is taken back,

    r_yᵀ μ = X_yᵀ a₁,   a₀ = X_xᵀ a₁ − r_xᵀ μ + ∂Φ/∂x₀,   dΦ/dp += X_pᵀ a₁ − r_pᵀ μ,

at the solution that the run has found (:mod:`flexph.integration.loops.recorded`). This takes the time of some ten
runs for any number of parameters. What a parameter changes, the constants of a mechanism, its start, drives and inputs,
is known by differences of these, not of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..integration.blocks.in_blocks import blocks_of
from ..integration.integrate import integrate
from ..integration.loops.memory.data import Index
from ..integration.loops.memory.memory import Memory, address_of
from ..integration.loops.memory.structures import Kinds, Table
from ..integration.loops.recorded.backward import Backward, backward_of
from ..integration.loops.recorded.sweeps import back
from ..integration.loops.workspace import memory_of_single_bodies
from ..integration.methods.exact import Exact
from ..integration.schemes.of_method import scheme_from
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State, configuration
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.loops.built import are_compiled
from ..numerics.rotations import entry_count, from_entries, spins
from ..sensors.quantities import Quantity
from ..systems.inputs import Forcing, Input
from .functionals import Functional
from .readings import AGREED, WEIGHTS, change, readings, readings_apart, readings_by_state

if TYPE_CHECKING:
    from ..results.solution import Solution

STEP = 1e-3
"""Step of differences by a parameter, relative to its value (to one for zero): their error is of sixth order."""
STEP = 1e-3
"""Step of differences by a parameter, relative to its value (to one for zero): their error is of sixth order."""


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
        Derivatives by the inputs of each port in the middle of each step, (N, d).
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
    progress: bool = False,
) -> Gradient:
    """Integrate a mechanism by :class:`~flexph.methods.Exact`, and compute the gradient of a functional of the run.

    The gradient is that of the discrete run. It takes 11 to 13 times the time of the run, and six calls of
    ``make`` for each parameter, by whose differences it is known to about 1e-9 of the largest p dΦ/dp.

    Parameters
    ----------
    make : callable
        Function of the named parameters that returns the mechanism and its start, and as a third value the inputs of
        :func:`flexph.integrate` if there are any. It must be smooth: no other joints, meshes or signs of modes.
    parameters : dict
        Values of the parameters; the step of the differences is a thousandth of each, or 1e-3 for zero.
    times : array
        Times (N,) or (N + 1,) [s] as of :func:`flexph.integrate`; every step is one of the run.
    functional : Functional
        :class:`Last`, :class:`Integral` or :class:`MeanSquare` of a sensor of states.
    progress : bool
        Whether the run shows its progress.

    Returns
    -------
    Gradient
        Value, derivatives by parameters and by inputs, and the run.

    Raises
    ------
    ValueError
        For contacts, dry friction, dependent constraints, large bodies, sensors of runs, parameters or sensors that
        are not smooth, and a step that has no adjoint.
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
    return gradients(make, parameters, times, {"functional": functional}, progress=progress)["functional"]


@checked
def gradients(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Sequence[float] | Array,
    functionals: Mapping[str, Functional],
    *,
    progress: bool = False,
) -> dict[str, Gradient]:
    """Gradients of several functionals of one run.

    The run and the differences by parameters are shared; each functional takes one sweep back over the steps.

    Parameters
    ----------
    make, parameters, times, progress
        As of :func:`gradient`.
    functionals : dict
        Functionals by name.

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
    run = problem_of(make, parameters, times)
    solution = integrate(run.mechanism, run.start, times, method=Exact(), inputs=run.inputs, progress=progress)
    sensed = {name: _sensed(run.mechanism, functional, solution) for name, functional in functionals.items()}
    sensors = {name: (functionals[name].quantity, solution.states[own.rows]) for name, own in sensed.items()}
    samples = {name: samples_of(make, parameters, name, times, sensors) for name in parameters}
    varied = varied_by(run, samples)
    return {
        name: _gradient(run, solution, (name, functionals[name], own), parameters, (samples, varied))
        for name, own in sensed.items()
    }


class _Sensed(NamedTuple):
    """Value of a functional, its slopes, and the states where these do not vanish."""

    value: float
    slopes: Array
    rows: Index


def _sensed(mechanism: Mechanism, functional: Functional, solution: Solution) -> _Sensed:
    """Value and slopes of a functional of a run."""
    every = readings(mechanism, functional.quantity, solution.states)
    own = component_of(functional.component, functional.quantity, every)
    slopes = functional.slopes(solution.times, own)
    rows = np.flatnonzero(slopes)
    return _Sensed(functional.value(solution.times, own), slopes, rows if rows.size else np.array([0]))


def component_of(component: int, quantity: Quantity, values: Array) -> Array:
    """Readings (k,) of one component; ValueError if there is none."""
    if not 0 <= component < values.shape[1]:
        raise ValueError(f"component must be below {values.shape[1]} for {quantity}, got {component}")
    return values[:, component]


def varied_by(run: Problem, samples: Mapping[str, Any]) -> Index:
    """Constants of the loops that parameters change."""
    varied = np.zeros(run.memory.constants.reals.size, dtype=bool)
    for name, sample in samples.items():
        for arrays, _ in sample.values():
            _refuse_other_shapes(name, run.arrays(), arrays)
            varied |= arrays[0] != run.memory.constants.reals
    return np.flatnonzero(varied)


def _gradient(
    run: Problem,
    solution: Solution,
    of: tuple[str, Functional, _Sensed],
    parameters: Mapping[str, float],
    by: tuple[Mapping[str, Any], Index],
) -> Gradient:
    """Gradient of one functional: a sweep back over the steps."""
    (name, functional, own), (samples, varied) = of, by
    by_reading = readings_by_state(run.mechanism, functional.quantity, solution.states, own.rows)
    weighted = np.zeros_like(solution.states)
    weighted[own.rows] = own.slopes[own.rows, None] * by_reading[:, functional.component]
    adjoint = _adjoint(run, solution, in_loops(run.mechanism, weighted, weights=True), varied)
    slopes = own.slopes[own.rows]
    derivatives = {
        key: _by_parameter(parameters, key, (adjoint, slopes, samples[key], (name, functional))) for key in parameters
    }
    by_input = {port: adjoint.inputs[:, part] for port, part in run.mechanism.network.input_slices.items()}
    return Gradient(own.value, derivatives, by_input, adjoint.defect, solution)


class Problem(NamedTuple):
    """A run before its steps: mechanism, start, memory of the loops, kinds of steps, and their table."""

    mechanism: Mechanism
    start: State
    inputs: Mapping[str, Input]
    memory: Memory
    kinds: Kinds
    table: Table

    def arrays(self) -> list[Array]:
        """All that a parameter may change, but what a sensor reads: constants, start, and the table."""
        t = self.table
        own = [self.memory.constants.reals, in_loops(self.mechanism, self.start.x[None])[0]]
        return [*own, t.coefficient, t.offset, t.inputs, t.moved]


def problem_of(make: Callable[..., Any], parameters: Mapping[str, float], times: Sequence[float] | Array) -> Problem:
    """Make a mechanism and its start, and all that its steps begin with."""
    if not are_compiled():
        raise ImportError("gradients need compiled loops, see 'flexph --version --verbose'")
    mechanism, start, inputs = made(make, parameters)
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    blocks = blocks_of(scheme_from(mechanism, start, Exact(), forcing)[0])
    memory = memory_of_single_bodies(mechanism)
    _refuse(mechanism, blocks.parts.kinds, memory)
    grid = np.asarray(times, dtype=float)
    grid = grid if grid[0] == start.time else np.append(start.time, grid)
    table = cast(Table, blocks.table(grid))
    return Problem(mechanism, start, inputs, memory, blocks.parts.kinds, table)


def made(make: Callable[..., Any], parameters: Mapping[str, float]) -> tuple[Mechanism, State, Mapping[str, Input]]:
    """Mechanism, start and inputs of a run, of a function of its parameters."""
    own = make(**parameters)
    if not (isinstance(own, tuple) and len(own) in (2, 3) and isinstance(own[0], Mechanism)):
        raise ValueError(f"make must return a mechanism and its start, or these and inputs, got {own!r:.100}")
    mechanism, start, inputs = (*own, {})[:3]
    return mechanism, start, inputs


def _refuse(mechanism: Mechanism, kinds: Any, m: Memory) -> None:
    """Raise ValueError for mechanisms whose steps have no adjoint here."""
    a = mechanism.network.arrays
    for of, found in (
        ("contacts", a.contacts.number),
        ("dry friction of joints", kinds.friction),
        ("dependent constraints", kinds.redundant),
        ("laws of finite strain, which are functions in Python", m.solids_lawful.size),
        ("large bodies, whose products are taken in Python", m.run_asked.size or m.border_size[1] < 0),
    ):
        if found:
            raise ValueError(f"gradients do not know {of}: take differences of runs, flexph.studies.sensitivities")


def in_loops(mechanism: Mechanism, x: Array, *, weights: bool = False) -> Array:
    """States (k, n) as the loops have them, with whole rotations; or weights of their entries."""
    layout, turning, count = mechanism.layout, mechanism.network.arrays.turning, len(x)
    dim, frames = layout.dim, layout.frames
    r, rho, u, v, omega, du, sigma, spring = (part.T for part in layout.split(x.T))
    kept = rho.reshape(count, len(turning), entry_count(dim))
    R = np.tile((not weights) * np.eye(dim), (count, frames, 1, 1))
    if weights and dim == 2:
        R[..., 0][:, turning] = kept  # the second column follows from the first
    else:
        R[:, turning] = from_entries(kept, dim)
    spin = np.zeros((count, frames, spins(dim)))
    spin[:, turning] = omega.reshape(count, len(turning), spins(dim))
    return np.concatenate([part.reshape(count, -1) for part in (r, R, u, v, spin, du, sigma, spring)], axis=1)


class _Adjoint(NamedTuple):
    """Derivatives by constants, start and table, in the order of :meth:`Problem.arrays`, and the largest defect."""

    constants: Array
    start: Array
    coefficient: Array
    offset: Array
    inputs: Array
    moved: Array
    defect: float


def recorded_run(problem: Problem, solution: Solution, by_state: Array, varied: Index) -> tuple[Backward, Index]:
    """Arrays with which the loops go over the steps of a run again, and the addresses of their recorded numbers."""
    mechanism, steps = problem.mechanism, len(problem.table.times) - 1
    states = in_loops(mechanism, solution.states)
    ends = np.cumsum([0, *(part.size for part in configuration(mechanism, solution.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    means = np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), solution.stage_multipliers], axis=1)
    inputs = np.ascontiguousarray(np.broadcast_to(problem.table.inputs, (steps, problem.table.inputs.shape[1])))
    table = problem.table._replace(inputs=inputs)
    return backward_of(problem.memory, problem.kinds, table, (states, means, by_state), varied)


def refuse_bent(of: Backward) -> None:
    """Raise ValueError for functions in Python that are not smooth."""
    if of.audit[4] > AGREED:
        raise ValueError(
            "a law that is a function in Python bends within the steps of 1e-3 of its differences: give a table or a "
            "law of flexph.laws"
        )


def _adjoint(problem: Problem, solution: Solution, by_state: Array, varied: Index) -> _Adjoint:
    """Take all steps back; ``varied`` are the constants by which derivatives are wanted."""
    of, addresses = recorded_run(problem, solution, by_state, varied)
    steps = len(of.means)
    failed = back(problem.memory.address, address_of(addresses), problem.mechanism.layout.dim, of, 0, steps)
    if failed >= 0:
        raise ValueError(f"the step from {of.table.times[failed]:.6g} s has no adjoint: its Jacobian is singular")
    if not all(np.isfinite(part).all() for part in (of.carried, of.by_constants, of.by_coefficient, of.by_inputs)):
        raise ValueError("a step of the run has no adjoint: a derivative in it is not finite")
    refuse_bent(of)
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = of.by_constants
    by_table = of.by_coefficient, of.by_offset, of.by_inputs, of.by_moved
    return _Adjoint(by_constants, of.carried, *by_table, float(of.audit[0]))


Sample = tuple[list[Array], dict[str, Array]]
"""Arrays of a problem, and readings of sensors at given states."""


def samples_of(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    name: str,
    times: Any,
    sensors: Mapping[str, tuple[Quantity, Array]],
) -> dict[int, Sample]:
    """Problems, and readings of sensors at given states, with a parameter changed by −3 to 3 steps."""
    size = step_of(parameters[name])
    samples: dict[int, Sample] = {}
    for k in (-3, -2, -1, 1, 2, 3):
        own = problem_of(make, {**parameters, name: parameters[name] + k * size}, times)
        read = {key: readings_apart(own.mechanism, *sensor) for key, sensor in sensors.items()}
        samples[k] = own.arrays(), read
    return samples


def step_of(value: float) -> float:
    """Step of the differences by a parameter."""
    return STEP * (abs(value) or 1.0)


def _refuse_other_shapes(name: str, first: list[Array], second: list[Array]) -> None:
    """Raise ValueError if a parameter changes more than values."""
    if [part.shape for part in first] != [part.shape for part in second]:
        raise ValueError(f"parameter {name!r} changes the number of coordinates, joints or inputs")


def _by_parameter(parameters: Mapping[str, float], name: str, of: tuple[Any, ...]) -> float:
    """Derivative by a parameter: the adjoint times the differences of all that it changes."""
    adjoint, slopes, samples, sensor = of
    size = step_of(parameters[name])
    changes = [_change(adjoint, slopes, samples[k], samples[-k], sensor) for k in WEIGHTS]
    found = sum(weight * change for weight, (change, _) in zip(WEIGHTS.values(), changes, strict=True)) / size
    coarse = (8.0 * changes[0][0] - changes[1][0]) / (12.0 * size)
    largest = max(terms for _, terms in changes) / size
    if abs(found - coarse) > AGREED * largest:
        raise ValueError(
            f"parameter {name!r} changes mechanism, start or inputs not smoothly near {parameters[name]:g}: "
            f"differences of sixth and fourth order are {found:.6g} and {coarse:.6g}"
        )
    return float(found)


def _change(
    adjoint: _Adjoint, slopes: Array, after: Sample, before: Sample, sensor: tuple[str, Functional]
) -> tuple[float, float]:
    """Change of the functional by the change of all arrays and readings, to first order, and the sum of its sizes."""
    name, functional = sensor
    terms = [slopes * change(functional.quantity, after[1][name], before[1][name])[:, functional.component]]
    for weights, last, first in zip(adjoint[:-1], after[0], before[0], strict=True):
        terms.append(weights * array_change(last, first))
    return float(sum(term.sum() for term in terms)), float(sum(np.abs(term).sum() for term in terms))


def array_change(last: Array, first: Array) -> Array:
    """Difference of arrays, zero where they are equal, as infinite constants are."""
    return np.subtract(last, first, out=np.zeros_like(last), where=last != first)
