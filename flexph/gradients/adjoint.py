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
from ..integration.loops.recorded.backward import backward_of
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
from ..sensors.panel import Panel, histories
from ..systems.inputs import Forcing, Input
from .functionals import Functional

if TYPE_CHECKING:
    from ..results.solution import Solution

Made = tuple[Mechanism, State] | tuple[Mechanism, State, Mapping[str, Input]]
"""Mechanism and start of a run, and inputs if it has some."""
STEP = 1e-3
"""Step of differences by a parameter, relative to its value (to one for zero): their error is of sixth order."""
WEIGHTS = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
"""Weights of central differences of sixth order."""
AGREED = 1e-5
"""Largest difference between those of sixth and fourth order, relative to the larger; above it nothing is smooth."""
SENSED = 1e-3
"""Step of differences of a sensor, relative to the size of the entries of the state."""


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
    if not are_compiled():
        raise ImportError("gradients need compiled loops, see 'flexph --version --verbose'")
    problem = _problem(make, parameters, times)
    mechanism, start, inputs = problem.mechanism, problem.start, problem.inputs
    solution = integrate(mechanism, start, times, method=Exact(), inputs=inputs, progress=progress)
    readings = _readings(problem.mechanism, functional, solution.states)
    slopes = functional.slopes(solution.times, readings)
    by_state = _by_state(problem.mechanism, functional, solution.states, slopes)
    rows = np.flatnonzero(slopes)
    samples = {
        name: _samples(make, parameters, name, times, (functional, solution.states[rows])) for name in parameters
    }
    varied = np.zeros(problem.memory.constants.reals.size, dtype=bool)
    for name, sample in samples.items():
        for arrays, _ in sample.values():
            _refuse_other_shapes(name, problem.arrays(), arrays)
            varied |= arrays[0] != problem.memory.constants.reals
    adjoint = _adjoint(problem, solution, by_state, np.flatnonzero(varied))
    by = {
        name: _by_parameter(parameters, name, (adjoint, slopes[rows], samples[name], functional)) for name in parameters
    }
    return Gradient(
        functional.value(solution.times, readings),
        by,
        {port: adjoint.inputs[:, own] for port, own in problem.mechanism.network.input_slices.items()},
        adjoint.defect,
        solution,
    )


class _Problem(NamedTuple):
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
        own = [self.memory.constants.reals, _in_loops(self.mechanism, self.start.x[None])[0]]
        return [*own, t.coefficient, t.offset, t.inputs, t.moved]


def _problem(make: Callable[..., Any], parameters: Mapping[str, float], times: Sequence[float] | Array) -> _Problem:
    """Make a mechanism and its start, and all that its steps begin with."""
    made = make(**parameters)
    if not (isinstance(made, tuple) and len(made) in (2, 3) and isinstance(made[0], Mechanism)):
        raise ValueError(f"make must return a mechanism and its start, or these and inputs, got {made!r:.100}")
    mechanism, start, inputs = (*made, {})[:3]
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    blocks = blocks_of(scheme_from(mechanism, start, Exact(), forcing)[0])
    memory = memory_of_single_bodies(mechanism)
    _refuse(mechanism, blocks.parts.kinds, memory)
    grid = np.asarray(times, dtype=float)
    grid = grid if grid[0] == start.time else np.append(start.time, grid)
    table = cast(Table, blocks.table(grid))
    return _Problem(mechanism, start, inputs, memory, blocks.parts.kinds, table)


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


def _readings(mechanism: Mechanism, functional: Functional, states: Array) -> Array:
    """Readings (k,) of the sensor of a functional."""
    quantity = functional.quantity
    if quantity.of_run is not None or not quantity.is_smooth:
        kind = "of runs" if quantity.is_smooth else "of largest values"
        raise ValueError(f"functional must have a smooth sensor of states, {quantity} is one {kind}")
    values = histories(mechanism, {"sensor": quantity}, states)["sensor"]
    if values.ndim == 1:
        values = values[:, None]
    if not 0 <= functional.component < values.shape[1]:
        raise ValueError(f"component must be below {values.shape[1]} for {quantity}, got {functional.component}")
    return values[:, functional.component]


def _apart(functional: Functional, after: Array, before: Array) -> Array:
    """Differences of readings, of angles within half a turn."""
    change = after - before
    return change - 2.0 * np.pi * np.round(change / (2.0 * np.pi)) if functional.quantity.unit == "rad" else change


def _by_state(mechanism: Mechanism, functional: Functional, states: Array, slopes: Array) -> Array:
    """Derivatives ∂Φ/∂xₖ by the states as the loops have them, (N + 1, n)."""
    rows, panel = np.flatnonzero(slopes), Panel(mechanism, {"sensor": functional.quantity})

    def read(x: Array) -> Array:
        values = [np.ravel(panel.read(own)[0]["sensor"])[functional.component] for own in x]
        return np.array(values)

    derivative = np.zeros_like(states)
    size = SENSED * np.maximum(np.abs(states).max(axis=0), 1e-3)
    for j in range(states.shape[1]):
        change = np.zeros(states.shape[1])
        change[j] = size[j]
        ends = [[read(states[rows] + by * k * change) for by in (1, -1)] for k in WEIGHTS]
        changes = [_apart(functional, *pair) for pair in ends]
        fine = sum(weight * of for weight, of in zip(WEIGHTS.values(), changes, strict=True))
        coarse = (8.0 * changes[0] - changes[1]) / 12.0
        if np.abs(fine - coarse).max(initial=0.0) > AGREED * np.abs(changes).max(initial=0.0):
            raise ValueError(f"the sensor of the functional, {functional.quantity}, is not smooth along the run")
        derivative[rows, j] = fine / size[j]
    return _in_loops(mechanism, slopes[:, None] * derivative, weights=True)


def _in_loops(mechanism: Mechanism, x: Array, *, weights: bool = False) -> Array:
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
    """Derivatives by constants, start and table, in the order of :meth:`_Problem.arrays`, and the largest defect."""

    constants: Array
    start: Array
    coefficient: Array
    offset: Array
    inputs: Array
    moved: Array
    defect: float


def _adjoint(problem: _Problem, solution: Solution, by_state: Array, varied: Index) -> _Adjoint:
    """Take all steps back; ``varied`` are the constants by which derivatives are wanted."""
    mechanism, steps = problem.mechanism, len(problem.table.times) - 1
    states = _in_loops(mechanism, solution.states)
    ends = np.cumsum([0, *(part.size for part in configuration(mechanism, solution.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    means = np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), solution.stage_multipliers], axis=1)
    inputs = np.ascontiguousarray(np.broadcast_to(problem.table.inputs, (steps, problem.table.inputs.shape[1])))
    table = problem.table._replace(inputs=inputs)
    of, addresses = backward_of(problem.memory, problem.kinds, table, (states, means, by_state), varied)
    failed = back(problem.memory.address, address_of(addresses), mechanism.layout.dim, of, 0, steps)
    if failed >= 0:
        raise ValueError(f"the step from {table.times[failed]:.6g} s has no adjoint: its Jacobian is singular")
    if not all(np.isfinite(part).all() for part in (of.carried, of.by_constants, of.by_coefficient, of.by_inputs)):
        raise ValueError("a step of the run has no adjoint: a derivative in it is not finite")
    if of.audit[4] > AGREED:
        raise ValueError(
            "a law that is a function in Python bends within the steps of 1e-3 of its differences: give a table or a "
            "law of flexph.laws"
        )
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = of.by_constants
    by_table = of.by_coefficient, of.by_offset, of.by_inputs, of.by_moved
    return _Adjoint(by_constants, of.carried, *by_table, float(of.audit[0]))


def _samples(
    make: Callable[..., Any], parameters: Mapping[str, float], name: str, times: Any, of: tuple[Functional, Array]
) -> dict[int, tuple[list[Array], Array]]:
    """Arrays of problems, and readings of the sensor at given states, with a parameter changed by −3 to 3 steps."""
    functional, states = of
    size = STEP * (abs(parameters[name]) or 1.0)
    found = {}
    for k in (-3, -2, -1, 1, 2, 3):
        problem = _problem(make, {**parameters, name: parameters[name] + k * size}, times)
        found[k] = problem.arrays(), _readings(problem.mechanism, functional, states)
    return found


def _refuse_other_shapes(name: str, first: list[Array], second: list[Array]) -> None:
    """Raise ValueError if a parameter changes more than values."""
    if [part.shape for part in first] != [part.shape for part in second]:
        raise ValueError(f"parameter {name!r} changes the number of coordinates, joints or inputs")


def _by_parameter(parameters: Mapping[str, float], name: str, of: tuple[Any, ...]) -> float:
    """Derivative by a parameter: the adjoint times the differences of all that it changes."""
    adjoint, slopes, samples, functional = of
    size = STEP * (abs(parameters[name]) or 1.0)
    changes = [_change(adjoint, slopes, samples[k], samples[-k], functional) for k in WEIGHTS]
    found = sum(weight * change for weight, (change, _) in zip(WEIGHTS.values(), changes, strict=True)) / size
    coarse = (8.0 * changes[0][0] - changes[1][0]) / (12.0 * size)
    largest = max(terms for _, terms in changes) / size
    if abs(found - coarse) > AGREED * largest:
        raise ValueError(
            f"parameter {name!r} changes mechanism, start or inputs not smoothly near {parameters[name]:g}: "
            f"differences of sixth and fourth order are {found:.6g} and {coarse:.6g}"
        )
    return float(found)


def _change(adjoint: _Adjoint, slopes: Array, after: Any, before: Any, functional: Functional) -> tuple[float, float]:
    """Change of the functional by the change of all arrays and readings, to first order, and the sum of its sizes."""
    terms = [slopes * _apart(functional, after[1], before[1])]
    for weights, last, first in zip(adjoint[:-1], after[0], before[0], strict=True):
        change = np.subtract(last, first, out=np.zeros_like(last), where=last != first)  # constants may be infinite
        terms.append(weights * change)
    return float(sum(term.sum() for term in terms)), float(sum(np.abs(term).sum() for term in terms))
