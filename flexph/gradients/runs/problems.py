"""Set-up of differentiated runs: mechanism and start from parameters, and the arrays of the loops."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...integration.blocks.block_stepper import BlockStepper
from ...integration.blocks.in_blocks import blocks_of
from ...integration.loops.gauss.scheme import UNKNOWNS
from ...integration.loops.memory.memory import Memory
from ...integration.loops.memory.structures import GaussTable, Kinds, Table
from ...integration.loops.near_pairs import LISTED, NearPairs
from ...integration.loops.recorded.backward import LARGEST
from ...integration.loops.recorded.decayed import matrices_of
from ...integration.loops.workspace import memory_of_single_bodies
from ...integration.methods.exact import Decaying, Exact, Exact4, ExactGauss
from ...integration.schemes.of_method import scheme_from
from ...kernels.convergence.rules import rounded
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.state import State
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import Tableau, gauss
from ...numerics.loops.built import are_compiled
from ...numerics.rotations import entry_count, from_entries, spins
from ...systems.inputs import Forcing, Input
from .run_inputs import RunInputs

if TYPE_CHECKING:
    from ...results.solution import Solution

GradientMethod = Exact | Exact4 | ExactGauss | Decaying
"""Methods whose steps have derivatives."""
Times = Sequence[float] | Array | Callable[..., Any]
"""Times of a run, or a function of its named parameters that returns them."""
OF_STEPS = "times", "coefficient", "offset", "moved"
"""Data of steps by which derivatives are taken, apart from inputs: their times, and what depends on time."""
OF_DECAYING = "coefficient", "offset", "moved", "coefficient_rate", "offset_rate"
"""Data of steps of ``Decaying`` by which derivatives are taken, apart from inputs; their times are fixed."""
OF_NODES = (
    *("times", "coefficient", "offset", "stage_coefficient", "stage_rate", "stage_offset", "moved"),
    *("factor", "factor_rate", "factor_end"),
)
"""Data of steps of collocation by which derivatives are taken, apart from inputs."""
EXACT = Exact()
"""Method of a run by default."""
REPEATED = 1e-8
"""Largest gap between states of a run and those of its substeps, taken again, relative to the largest entry."""


class Problem(NamedTuple):
    """Run whose steps are differentiated: mechanism, start, inputs and method, and the arrays of the compiled loops.

    ``times`` are the start and the ends of steps; ``state`` is the start in the layout of the loops; ``sampled`` are
    the inputs in the middles of steps or at the nodes of collocation.
    """

    mechanism: Mechanism
    start: State
    times: Array
    state: Array
    inputs: Mapping[str, Input]
    sampled: RunInputs
    memory: Memory
    kinds: Kinds
    table: Table | GaussTable
    method: GradientMethod

    @property
    def tableau(self) -> Tableau | None:
        """Butcher tableau of Gauss collocation; None for other methods."""
        return gauss(self.method.stages) if isinstance(self.method, ExactGauss) else None

    @property
    def strikes(self) -> bool:
        """True if the mechanism has rigid contacts."""
        return bool(self.mechanism.network.arrays.contacts.laws.rigid.any())

    @property
    def timed(self) -> tuple[str, ...]:
        """Names of the fields of the table of steps that parameters can change, without inputs."""
        if isinstance(self.method, Decaying):
            return OF_DECAYING
        return OF_STEPS if self.tableau is None else OF_NODES

    def arrays(self) -> list[Array]:
        """Arrays that parameters can change, without inputs: constants, start, table of steps, decay matrices."""
        arrays = [self.memory.constants.reals, self.state, *(getattr(self.table, name) for name in self.timed)]
        return [*arrays, self.decay()] if isinstance(self.method, Decaying) else arrays

    def decay(self) -> Array:
        """Matrices by which steps of the method Decaying lose energy, for the length of the first step."""
        assert isinstance(self.method, Decaying)
        length = float(self.table.times[1] - self.table.times[0])
        return matrices_of(self.mechanism.network.arrays, length, self.method.radius)


def problem_of(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Times,
    like: Problem | None = None,
    method: GradientMethod = EXACT,
    *,
    strikes: bool = False,
) -> Problem:
    """Create a mechanism and its start from parameters, and set up the loops for its run.

    ``like`` is the set-up at other values of the parameters, if there is one: its method and kinds of steps are used.
    Rigid contacts are refused unless ``strikes`` is true, which means that the caller differentiates impacts.
    """
    if not are_compiled():
        raise ImportError("gradients need compiled loops, see 'flexph --version --verbose'")
    with warnings.catch_warnings():
        if like is not None:
            warnings.simplefilter("ignore")  # they were given for the parameters of the run
        mechanism, start, inputs = made(make, parameters)
    known = like if like is not None and mechanism is like.mechanism else None
    if known is not None and start is known.start and not callable(times):
        forcing = known.sampled.forcing.with_inputs(inputs)
        return known._replace(inputs=inputs, sampled=replace(known.sampled, forcing=forcing))
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    scheme = scheme_from(mechanism, start, method if like is None else like.method, forcing)[0]
    method_of_run = method if like is None else like.method
    memory = _memory_of(mechanism, method_of_run) if known is None else known.memory
    blocks = blocks_of(scheme)
    kinds = blocks.compiled.parts.kinds if like is None else like.kinds
    _refuse(mechanism, kinds, memory)
    if mechanism.network.arrays.contacts.laws.rigid.any():
        _refuse_strikes(mechanism, kinds, method_of_run, known=strikes or like is not None)
    if kinds.friction:
        _refuse_friction(mechanism, memory)
    if isinstance(method_of_run, ExactGauss):
        _refuse_many(memory, method_of_run.stages)
    given = np.asarray(times(**parameters) if callable(times) else times, dtype=float)
    grid = given if given.size and given[0] == start.time else np.append(start.time, given)
    if grid.size < 2:
        raise ValueError(f"times must have at least one step after the start at {start.time:g} s, got {given.tolist()}")
    table = blocks.table(grid)
    if isinstance(method_of_run, Decaying):
        _refuse_decaying(mechanism, memory, grid)
        if callable(times):
            raise ValueError("times of runs by Decaying() must be an array: their gradients are at fixed times")
    state = in_loops(mechanism, start.x[None])[0]
    sampled = RunInputs(forcing, *_points(method_of_run, table.times))
    return Problem(mechanism, start, grid, state, inputs, sampled, memory, kinds, table, method_of_run)


def _memory_of(mechanism: Mechanism, method: GradientMethod) -> Memory:
    """Memory of the compiled loops for the steps of a method."""
    if not isinstance(method, Decaying):
        return memory_of_single_bodies(mechanism, banded=isinstance(method, ExactGauss))
    memory = memory_of_single_bodies(mechanism, decaying=True)
    memory.decay_share[:] = (1.0 - method.radius) / (1.0 + method.radius)
    return memory


def _points(method: GradientMethod, times: Array) -> tuple[Array, tuple[float, float] | None]:
    """Times at which steps take their inputs, and the pair (first, last) of times of the run.

    Outside of this interval inputs are constant. The pair is None for collocation, whose nodes are within the steps.
    """
    if isinstance(method, ExactGauss):
        return (times[:-1, None] + np.diff(times)[:, None] * gauss(method.stages).nodes).ravel(), None
    return 0.5 * (times[1:] + times[:-1]), (float(times[0]), float(times[-1]))


def steps_of(problem: Problem, solution: Solution) -> tuple[Array, Array]:
    """Flat states (N + 1, n) at the ends of all substeps of a run, and their multipliers (N, g).

    Substeps of Exact4 are computed again, as the run does not store them.
    """
    if len(problem.table.times) - 1 == len(solution.stage_multipliers):
        return solution.states, solution.stage_multipliers
    mechanism, start = problem.mechanism, problem.start
    forcing = Forcing(mechanism.network.input_slices, problem.inputs, mechanism.layout.dim)
    rows = BlockStepper(scheme_from(mechanism, start, EXACT, forcing)[0]).take(start, problem.table)
    steps = len(problem.table.times) - 1
    states = np.vstack([start.x, rows.state[:steps]])
    each = steps // len(solution.stage_multipliers)
    gap, size = np.abs(states[::each] - solution.states).max(), np.abs(solution.states).max()
    if not gap <= REPEATED * size:
        raise ValueError(
            f"a second run by the substeps of {problem.method} must reproduce the states of the first, but does not"
        )
    return states, rows.stage[:steps]


def made(make: Callable[..., Any], parameters: Mapping[str, float]) -> tuple[Mechanism, State, Mapping[str, Input]]:
    """Call ``make`` with the parameters, and return mechanism, start and inputs; without inputs an empty mapping.

    Raises ValueError if ``make`` returns something else.
    """
    returned = make(**parameters)
    if not (isinstance(returned, tuple) and len(returned) in (2, 3) and isinstance(returned[0], Mechanism)):
        raise ValueError(f"make must return a mechanism and its start, or these and inputs, got {returned!r:.100}")
    mechanism, start, inputs = (*returned, {})[:3]
    return mechanism, start, inputs


def _refuse(mechanism: Mechanism, kinds: Any, m: Memory) -> None:
    """Raise ValueError for mechanisms with elements whose steps have no derivatives."""
    contacts = mechanism.network.arrays.contacts
    for of, found in (
        ("contacts of groups of bodies", len(contacts.groups) or kinds.contact > 1),
        (f"more than {LISTED} pairs of balls, of which runs list the near ones", mechanism.once(NearPairs).of_balls),
        ("dependent constraints", kinds.redundant),
        ("masses that inputs set", any(of == "input" for _, of in mechanism.network.arrays.mass_factors)),
        ("laws of finite strain, which are functions in Python", m.solids_lawful.size),
        ("large bodies, whose products are taken in Python", m.run_asked.size or m.border_size[1] < 0),
    ):
        if found:
            raise ValueError(f"gradients do not support {of}: use differences of runs by flexph.studies.sensitivities")


def _refuse_strikes(mechanism: Mechanism, kinds: Kinds, method: GradientMethod, *, known: bool) -> None:
    """Raise ValueError for rigid contacts in a run whose impacts cannot be differentiated.

    ``known`` is False for forward derivatives, multiple shooting and checkpoints, which do not support impacts at all.
    """
    a, at_steps = mechanism.network.arrays, isinstance(method, Exact) and method.contact == "steps"
    for of, found in (
        ("impacts of rigid contacts in forward derivatives, multiple shooting and checkpoints", not known),
        ("rigid contacts that strike at the beginning of steps: use Exact()", at_steps),
        ("rigid contacts together with dry friction of joints", a.bearings.number),
        ("rigid contacts beside compliant ones", kinds.contact > 0),
        ("rigid contacts with masses that change", len(a.mass_factors)),
    ):
        if found:
            raise ValueError(f"gradients do not support {of}")


def _refuse_decaying(mechanism: Mechanism, m: Memory, times: Array) -> None:
    """Raise ValueError for elements, step lengths or sizes for which runs by ``Decaying()`` have no adjoint."""
    a = mechanism.network.arrays
    unknowns = 3 * sum(m.__getattr__(f"x_{name}").size for name in ("v", "w", "du", "lam"))
    for of, found in (
        ("contacts", a.contacts.kind.size or len(a.contacts.groups)),
        ("dry friction of joints", a.bearings.number),
        ("points on curves", len(a.curves)),
        ("rolling and other constraints on velocities", a.rolling.free.any() or a.rolling.row.size),
        ("bodies whose matrices have narrow bands", m.filter_rows.any()),
        ("masses that change", len(a.mass_factors)),
        ("steps of several lengths", len({rounded(length) for length in np.diff(times).tolist()}) > 1),
        (f"more than {LARGEST} unknowns and velocities of a step", unknowns > LARGEST),
    ):
        if found:
            raise ValueError(f"gradients of runs by Decaying() do not support {of}: use Exact()")


def _refuse_friction(mechanism: Mechanism, m: Memory) -> None:
    """Raise ValueError for dry friction in joints that an input sets, or in steps with too many unknowns."""
    bearings = [c.form.bearing for c in mechanism.connections if c.form.bearing is not None]
    unknowns = sum(m.__getattr__(f"x_{name}").size for name in ("v", "w", "du", "lam"))
    for of, found in (
        ("dry friction of joints that an input sets", any(bearing.friction.factor == "input" for bearing in bearings)),
        (f"dry friction of joints with more than {LARGEST} unknowns of a step", unknowns > LARGEST),
    ):
        if found:
            raise ValueError(f"gradients do not support {of}")


def _refuse_many(m: Memory, stages: int) -> None:
    """Raise ValueError for steps of collocation with too many unknowns for a dense matrix."""
    unknowns = stages * sum(m.__getattr__(name).size for name in UNKNOWNS[:-1])
    if unknowns > LARGEST:
        raise ValueError(
            f"gradients of runs by ExactGauss() support at most {LARGEST} unknowns of all stages, got {unknowns}: use "
            "fewer stages or elements, or Exact()"
        )


def in_loops(mechanism: Mechanism, x: Array, *, weights: bool = False) -> Array:
    """Flat states (k, n) in the layout of the loops, with whole rotation matrices.

    With ``weights``, x are derivatives of a functional with respect to the entries of states instead.
    """
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
