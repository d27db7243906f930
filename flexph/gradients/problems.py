"""Set-up of differentiated runs: mechanism and start from parameters, and the arrays of the loops that these change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..integration.blocks.block_stepper import BlockStepper, table_over
from ..integration.blocks.in_blocks import blocks_of
from ..integration.loops.memory.memory import Memory
from ..integration.loops.memory.structures import Kinds, Table
from ..integration.loops.workspace import memory_of_single_bodies
from ..integration.methods.exact import Exact, Exact4
from ..integration.schemes.of_method import scheme_from
from ..kernels.contacts.gap_arrays import FACE, SEGMENTS, SHAPE
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..numerics.arrays import Array
from ..numerics.loops.built import are_compiled
from ..numerics.rotations import entry_count, from_entries, spins
from ..systems.inputs import Forcing, Input
from .run_inputs import RunInputs

if TYPE_CHECKING:
    from ..results.solution import Solution

EXACT = Exact()
"""Method of a run by default."""
REPEATED = 1e-8
"""Largest gap between states of a run and those of its substeps, taken again, relative to the largest entry."""


class Problem(NamedTuple):
    """A run before its steps: mechanism, start and its state in the loops, their memory, kinds of steps, and table.

    The inputs are also given as they are sampled in the middles of steps.
    """

    mechanism: Mechanism
    start: State
    state: Array
    inputs: Mapping[str, Input]
    sampled: RunInputs
    memory: Memory
    kinds: Kinds
    table: Table
    method: Exact | Exact4

    def arrays(self) -> list[Array]:
        """Data that a parameter may change, apart from inputs: constants, start and table."""
        t = self.table
        return [self.memory.constants.reals, self.state, t.coefficient, t.offset, t.moved]


def problem_of(
    make: Callable[..., Any],
    parameters: Mapping[str, float],
    times: Sequence[float] | Array,
    like: Problem | None = None,
    method: Exact | Exact4 = EXACT,
) -> Problem:
    """Make a mechanism and its start from parameters, and set up the loops for its run.

    With ``like``, the set-up at other values of the parameters, method and kinds of steps are taken from there.
    """
    if not are_compiled():
        raise ImportError("gradients need compiled loops, see 'flexph --version --verbose'")
    mechanism, start, inputs = made(make, parameters)
    known = like if like is not None and mechanism is like.mechanism else None
    if known is not None and start is known.start:
        forcing = known.sampled.forcing.with_inputs(inputs)
        return known._replace(inputs=inputs, sampled=RunInputs(forcing, known.table.times))
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    scheme = scheme_from(mechanism, start, method if like is None else like.method, forcing)[0]
    memory = memory_of_single_bodies(mechanism) if known is None else known.memory
    kinds = blocks_of(scheme).parts.kinds if like is None else like.kinds
    _refuse(mechanism, kinds, memory)
    grid = np.asarray(times, dtype=float)
    grid = grid if grid.size and grid[0] == start.time else np.append(start.time, grid)
    if grid.size < 2:
        raise ValueError(f"times must have at least one step after the start at {start.time:g} s, got {list(times)}")
    table = table_over(scheme, grid)
    state = in_loops(mechanism, start.x[None])[0]
    sampled = RunInputs(forcing, table.times)
    own = method if like is None else like.method
    return Problem(mechanism, start, state, inputs, sampled, memory, kinds, table, own)


def steps_of(problem: Problem, solution: Solution) -> tuple[Array, Array]:
    """Flat states (N + 1, n) between substeps of a run, and their multipliers (N, g); Exact4 is run again for them."""
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
    """Mechanism, start and inputs of a run, of a function of its parameters."""
    own = make(**parameters)
    if not (isinstance(own, tuple) and len(own) in (2, 3) and isinstance(own[0], Mechanism)):
        raise ValueError(f"make must return a mechanism and its start, or these and inputs, got {own!r:.100}")
    mechanism, start, inputs = (*own, {})[:3]
    return mechanism, start, inputs


def _refuse(mechanism: Mechanism, kinds: Any, m: Memory) -> None:
    """Raise ValueError for mechanisms whose steps have no adjoint here."""
    contacts = mechanism.network.arrays.contacts
    for of, found in (
        ("impacts of rigid contacts", contacts.laws.rigid.any()),
        ("contacts of groups of bodies", len(contacts.groups) or kinds.contact > 1),
        (
            "contacts with surfaces of meshes, skins, and of segments",
            np.isin(contacts.kind, (SHAPE, SEGMENTS, FACE)).any(),
        ),
        ("dry friction of joints", kinds.friction),
        ("dependent constraints", kinds.redundant),
        ("masses that change with time", mechanism.network.arrays.mass_factors),
        ("laws of finite strain, which are functions in Python", m.solids_lawful.size),
        ("large bodies, whose products are taken in Python", m.run_asked.size or m.border_size[1] < 0),
    ):
        if found:
            raise ValueError(f"gradients do not support {of}: take differences of runs, flexph.studies.sensitivities")


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
