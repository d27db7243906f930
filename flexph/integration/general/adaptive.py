"""Integration of general port-Hamiltonian systems by solvers of libraries, with checks of the rank of E(x)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import numpy as np

from ...consistency.equations import Equations
from ...consistency.start import start_of
from ...discretisation.descriptor_split import split_of
from ...numerics.arrays import Array, dense
from ...numerics.gauss_tableau import gauss_points
from ...results.state_view import StateView
from ...results.trajectory import Trajectory
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ..methods.general import Library
from ..times.events import Observer, Watch
from ..times.loop import Messages, Run, follow, keep, progress_bar
from ..times.options import RunOptions
from ..times.step_size import tolerances_of_states
from .library import SOLVERS, Problem, Solver, SolverFailed
from .stepper import StepResult, StepStart
from .system_run import SystemRun

ALIGNED = 0.5
"""Least cosine between the ranges, and null spaces, at two states for which signs of determinants are compared."""
HALVINGS = 8
"""Largest number of halvings of a step in which the range of E rotates far, or to locate a change of sign."""
NEARLY, CRAWLING = 1e-2, 1e-6
"""Smallest singular value of E relative to that at the start, and step relative to the span, below both of which the
rank counts as about to fall: at an impasse x ~ √(t* − t) steps shrink with t* − t, and a solver takes thousands."""


class RankWatch:
    """Check along a run with a solver that the rank of E(x) does not change.

    Orthonormal bases of the ranges of E and Eᵀ at the start of a step reduce E, there and at the end of the step, to
    square matrices. If their determinants differ in sign, the rank has fallen within the step. A step in which the
    ranges turn far is halved for this comparison.
    """

    def __init__(self, system: PHDAE, x: Array, span: float) -> None:
        self.system, self._least = system, CRAWLING * span
        self._E = dense(system.E(x))
        self._split = split_of(self._E)
        self.rank = self._split.V1.shape[1]
        self._first = self._smallest(self._E)

    def check(self, solver: Solver) -> None:
        """Compare the ranks of E(x) at both ends of the last step of a solver.

        Raises SolverFailed if they differ, or if the rank is about to fall and steps have become very short.
        """
        self._follow(solver, solver.before, solver.time, HALVINGS)
        if solver.time - solver.before < self._least:
            self._refuse_falling(solver)

    @contextmanager
    def explain_failure(self, solver: Solver) -> Iterator[None]:
        """Context in which a failure of the solver is reported as a falling rank of E(x), if that is its cause."""
        try:
            yield
        except SolverFailed as error:
            self._refuse_falling(solver, error)
            raise

    def _refuse_falling(self, solver: Solver, error: SolverFailed | None = None) -> None:
        smallest = self._smallest(dense(self.system.E(solver.state)))
        if smallest < NEARLY * self._first:
            raise SolverFailed(
                f"the rank of E(x) falls below {self.rank} (its smallest singular value from {self._first:.3g} at "
                f"the start to {smallest:.1e})"
            ) from error

    def _smallest(self, E: Array) -> float:
        return float(np.linalg.svd(E, compute_uv=False)[self.rank - 1]) if self.rank else 1.0

    def _follow(self, solver: Solver, before: float, time: float, halvings: int) -> None:
        E = dense(self.system.E(solver.at(time)))
        split, last = split_of(E), self._split
        if split.V1.shape[1] != self.rank:
            raise SolverFailed(f"the rank of E(x) is {split.V1.shape[1]} at t = {time:.6g} s, and {self.rank} before")
        cosines = [np.linalg.svd(a.T @ b, compute_uv=False) for a, b in ((last.U1, split.U1), (last.V1, split.V1))]
        aligned = bool(np.min(cosines, initial=1.0) >= ALIGNED)
        same = _sign(last.U1.T @ E @ last.V1) == _sign(last.U1.T @ self._E @ last.V1)
        if halvings and not (aligned and same):  # half a turn changes the sign, too
            middle = 0.5 * (before + time)
            self._follow(solver, before, middle, halvings - 1)
            self._follow(solver, middle, time, halvings - 1)
            return
        if aligned and not same:
            raise SolverFailed(f"the rank of E(x) falls below {self.rank} between t = {before:.6g} and {time:.6g} s")
        self._split, self._E = split, E


def _sign(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix)[0])


NODES, WEIGHTS = gauss_points(3)
"""Quadrature of power on the interpolant: of order 6, above the interpolants' order."""


def integrate_adaptively(
    system: PHDAE,
    x0: Array,
    grid: Array,
    *,
    method: Library,
    forcing: Forcing,
    options: RunOptions,
    view: Callable[[Array], StateView],
) -> Trajectory:
    """Integrate a general system by a solver of a library, from the state x₀ over the saved times ``grid``.

    The other arguments are those of :func:`flexph.integrate`; ``view`` wraps a state for events and observers.
    """
    rtol, atol = tolerances_of_states(method.tolerance, x0.size)
    span = (float(grid[0]), float(grid[-1]))
    equations = Equations(system, forcing, span, at=x0)
    try:
        start, conditions = start_of(equations, span[0], x0)
    except ArithmeticError as error:
        raise ValueError(f"{method} cannot start: {error}") from error
    problem = Problem(conditions, start, span, rtol=rtol, atol=atol)
    first = StepStart(span[0], start, float(system.H(start)), np.abs(start))
    watch = Watch(options.events, span[0], start, view)
    observer = Observer(options.observe, view, start=(span[0], start))
    run = SystemRun(system, first, grid.size - 1, watch=watch, observer=observer)
    samples = _Samples(equations, grid, start)

    def result() -> Trajectory:
        samples.save(run)
        none = {"steps": np.zeros(0), "rejected": np.zeros(0)}  # a library's steps are counted as iterations
        return run.trajectory(method.name, **none)

    messages = Messages(
        SolverFailed,
        lambda error, span: _explain(method.name, samples, error),
        lambda error: str(error),
        finished="the finished part is",
        where=lambda run: f"after t = {samples.reached:.6g} s",
        added=lambda: run.cautions.reason(samples.reached, samples.latest),
    )
    steps = samples.steps(lambda: SOLVERS[method.name](problem))
    bar = progress_bar(grid.size - 1, "time", shown=options.progress)
    trajectory: Trajectory = follow(run, steps, result, messages, bar=bar)
    return trajectory


def _explain(method: str, samples: _Samples, error: SolverFailed) -> str:
    return (
        f"{method!r} could not continue at t = {samples.reached:.6g} s, after {samples.count} steps: {error}; try a "
        "looser tolerance or larger absolute tolerances of states that pass zero, look for inputs that jump, a "
        "singular E or constraint, and an index above 2. The finished part of the run is in .solution"
    )


class _Samples:
    """Recorder of rows at the saved times ``grid`` along the steps of a solver.

    Work and dissipation are summed between the saved times.
    """

    def __init__(self, equations: Equations, grid: Array, start: Array) -> None:
        self.equations, self.grid, self.next, self.count = equations, grid, 1, 0
        self.reached, self.latest = float(grid[0]), start
        self._power, self._counted = np.zeros(len(equations.system.ports) + 1), 0.0
        self._output: tuple[float, Array] | None = None

    def steps(self, make: Callable[[], Solver]) -> Iterator[LibraryStep]:
        """Create a solver by ``make``, and yield its steps up to the last saved time."""
        solver = make()
        watch = (
            RankWatch(self.equations.system, self.latest, self.grid[-1] - self.grid[0])
            if self.equations.varies
            else None
        )
        while self.next < self.grid.size:
            with watch.explain_failure(solver) if watch else nullcontext():
                solver.advance()
            if not np.all(np.isfinite(solver.state)):
                raise SolverFailed("the state is not finite")
            if watch:
                watch.check(solver)
            self.count, self._counted = self.count + 1, self._counted + 1.0
            yield LibraryStep(self, solver, self.next)

    def record(self, run: Run, solver: Solver, end: float) -> None:
        """Record the rows at the saved times that a step of the solver has passed, up to the time ``end`` [s]."""
        while self.next < self.grid.size and self.grid[self.next] <= end:
            self._add_power(run, solver, float(self.grid[self.next]))
            self.next += 1
            self.save(run)
        self._add_power(run, solver, end)

    def save(self, run: Run) -> None:
        """Record a row at the time reached, with the work and dissipation since the last row."""
        if self.reached <= run.start.time:
            return
        x, start = self.latest, run.start
        middle, output = self._output or (self.reached, self.equations.output(self.reached, x))
        energy = float(self.equations.system.H(x))
        residual = abs(energy - start.energy - self._power[:-1].sum() + self._power[-1])
        end = StepStart(self.reached, x, energy, start.sizes)
        result = StepResult(end, middle, output, self._power, residual, int(self._counted))
        keep(run, result, saved=True)
        self._power, self._counted, self._output = np.zeros_like(self._power), 0.0, None

    def _add_power(self, run: Run, solver: Solver, time: float) -> None:
        """Integrate the power from the time reached up to ``time`` [s] in the solver's last step.

        Also store the output of the system at the middle between two saved times, if it is passed.
        """
        if self.next < self.grid.size and self._output is None:
            middle = max(0.5 * (run.start.time + self.grid[self.next]), self.reached)
            if middle <= time:
                self._add(solver, middle)
                self._output = middle, self.equations.output(middle, self.latest)
        self._add(solver, time)

    def _add(self, solver: Solver, time: float) -> None:
        length = time - self.reached
        if length > 0.0:
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                t = self.reached + node * length
                self._power = self._power + weight * length * self.equations.power(t, solver.at(t))
            self.reached, self.latest = time, solver.at(time)


class LibraryStep(NamedTuple):
    """Step of a library's solver, to be recorded; it may pass several of the saved times, or none."""

    samples: _Samples
    solver: Solver
    passed: int

    @property
    def reached(self) -> int:
        """Number of saved times that the step has passed, once it is recorded."""
        return self.samples.next - self.passed

    def record(self, run: Run) -> bool:
        """Record the rows at the saved times in the step, up to an event that ends the run; True if there was one."""
        solver = self.solver
        stop = run.watch.locate(solver.before, solver.time, solver.state, solver.at) if run.watch.active else None
        self.samples.record(run, solver, solver.time if stop is None else stop)
        return stop is not None
