"""Adaptive time integration of general port-Hamiltonian systems through libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from ...consistency.equations import Equations
from ...consistency.start import start_of
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import gauss_points
from ...results.exchanged_energy import exchanged_energy
from ...results.ledger import system_ledger
from ...results.state_view import StateView
from ...results.trajectory import Trajectory
from ...results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ..methods import GeneralMethod
from ..times.events import Event, Watch
from ..times.step_size import tolerances_of_states
from .cautions import Cautions
from .library import SOLVERS, Problem, Solver, SolverFailed, require

NODES, WEIGHTS = gauss_points(3)
"""Quadrature of power on the interpolant: of order 6, above the interpolants'."""


def integrate_adaptively(
    system: PHDAE,
    x0: Array,
    grid: Array,
    *,
    method: GeneralMethod,
    forcing: Forcing,
    events: Mapping[str, Event | Callable[[float, Array], Any]],
    progress: bool,
    view: Callable[[Array], StateView],
) -> Trajectory:
    """See :func:`flexph.integrate`; ``grid`` are the times to save."""
    require(method.name)
    rtol, atol = tolerances_of_states(method.tolerance, x0.size)
    span = (float(grid[0]), float(grid[-1]))
    equations = Equations(system, forcing, span)
    try:
        start, conditions = start_of(equations, span[0], x0)
    except ArithmeticError as error:
        raise ValueError(f"{method} cannot start: {error}") from error
    problem = Problem(conditions, start, span, rtol, atol)
    record = _Record(equations, start, grid, Watch(events, span[0], start, view), method.name)
    bar = tqdm(total=grid.size - 1, delay=1.0, disable=None if progress else True, unit="time")
    try:
        with bar:
            solver = SOLVERS[method.name](problem)
            while record.take(solver):
                bar.update(len(record.times) - 1 - bar.n)
    except SolverFailed as error:
        raise IntegrationError(_explain(method.name, record, error) + record.told(), record.trajectory()) from error
    except KeyboardInterrupt:
        done = record.trajectory()
        message = f"interrupted at t = {done.times[-1]:.6g} s; what is finished is in .solution"
        raise IntegrationInterrupted(message, done) from None
    except Exception as error:  # inputs, events and matrix functions may raise anything: what is finished is kept
        raise InputError(f"after t = {record.reached:.6g} s: {error}{record.told()}", record.trajectory()) from error
    return record.trajectory()


def _explain(method: str, record: _Record, error: SolverFailed) -> str:
    return (
        f"{method!r} could not go on at t = {record.reached:.6g} s, after {record.steps} steps: {error}; try a looser "
        "tolerance or larger absolute tolerances of states that pass zero, look for inputs that jump, a singular E or "
        "constraint, and an index above 2. What is finished is kept in .solution"
    )


class _Record:
    """What a run has saved: rows at the times of the grid, sums of work and dissipation between them."""

    def __init__(self, equations: Equations, start: Array, grid: Array, watch: Watch, method: str) -> None:
        self.equations, self.grid, self.watch, self.method = equations, grid, watch, method
        self.reached, self.latest, self.steps = float(grid[0]), start, 0
        self.times, self.states = [float(grid[0])], [start]
        self.middles: list[float] = []
        self.outputs: list[Array] = []
        self.flows: list[Array] = []
        self._sum = np.zeros(len(equations.system.ports) + 1)
        self._count = 0
        self._output: tuple[float, Array] | None = None
        self._cautions = Cautions(equations.system)
        self._cautions.look(self.reached, start)

    def told(self) -> str:
        """What cautions say about the way to the last state reached."""
        return self._cautions.told(self.reached, self.latest)

    def take(self, solver: Solver) -> bool:
        """One step of the solver; whether there are more."""
        solver.advance()
        if not np.all(np.isfinite(solver.state)):
            raise SolverFailed("the state is not finite")
        self.steps, self._count = self.steps + 1, self._count + 1
        stop = self.watch.look(solver.before, solver.time, solver.state, solver.at)
        end = solver.time if stop is None else stop
        while len(self.times) < self.grid.size and self.grid[len(self.times)] <= end:
            self._until(solver, float(self.grid[len(self.times)]))
            self._save()
        self._until(solver, end)
        if stop is not None:
            self._save()
        return stop is None and len(self.times) < self.grid.size

    def _until(self, solver: Solver, time: float) -> None:
        """Add up power to a time of the last step, and keep the output in the middle of the row under way."""
        if len(self.times) < self.grid.size and self._output is None:
            middle = max(0.5 * (self.times[-1] + self.grid[len(self.times)]), self.reached)
            if middle <= time:
                self._add(solver, middle)
                self._output = middle, self.equations.output(middle, self.latest)
        self._add(solver, time)

    def _add(self, solver: Solver, time: float) -> None:
        length = time - self.reached
        if length > 0.0:
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                t = self.reached + node * length
                self._sum = self._sum + weight * length * self.equations.power(t, solver.at(t))
            self.reached, self.latest = time, solver.at(time)

    def _save(self) -> None:
        if self.reached <= self.times[-1]:
            return
        output = self._output or (self.reached, self.equations.output(self.reached, self.latest))
        self.times.append(self.reached)
        self.states.append(self.latest)
        self.middles.append(output[0])
        self.outputs.append(output[1])
        self.flows.append(np.array([*self._sum, self._count]))
        self._sum, self._count, self._output = np.zeros_like(self._sum), 0, None
        self._cautions.look(self.reached, self.latest)

    def trajectory(self) -> Trajectory:
        """What is finished; the last state reached is always kept."""
        self._save()
        system, rows = self.equations.system, len(self.flows)
        flows = np.array(self.flows).reshape(rows, len(system.ports) + 2)
        outputs = np.array(self.outputs).reshape(rows, system.inputs_size)
        energy = np.array([float(system.H(x)) for x in self.states])
        work = flows[:, :-2]
        return Trajectory(
            system=system,
            times=np.array(self.times),
            states=np.array(self.states),
            output_times=np.array(self.middles),
            outputs={name: outputs[:, part] for name, part in system.ports.items()},
            ledger=system_ledger(
                energy=energy,
                work={name: work[:, i] for i, name in enumerate(system.ports)},
                dissipation=flows[:, -2],
                residual=np.abs(np.diff(energy) - work.sum(axis=1) + flows[:, -2]),
                iterations=flows[:, -1],
                exchanged=exchanged_energy(system, np.array(self.states)),
            ),
            method=self.method,
            events=self.watch.occurrences(),
        )
