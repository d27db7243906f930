"""Runs of general systems by one-step methods and libraries; also of mechanisms, as systems of index 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...consistency.equations import Equations
from ...consistency.start import VaryingConditions, refuse_inconsistent
from ...discretisation.descriptor_split import null_space_varies
from ...mechanisms.equations.phdae import as_phdae, with_stresses
from ...mechanisms.model.consistency import check_consistent, refuse_redundant
from ...mechanisms.model.consistency import shortest_step as shortest_of_mechanism
from ...mechanisms.model.range_of_validity import warn_of_range
from ...mechanisms.model.state import State
from ...mechanisms.poses.multipliers import drive_rates, start_with_multipliers
from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ...results.state_view import MechanismView, StateView
from ...results.trajectory import Trajectory
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ..methods.general import Library
from ..methods.method import GeneralMethod
from ..times.events import Observer, Watch
from ..times.journal import StartForm, opened
from ..times.loop import Entry, Messages, follow, prescribed, progress_bar
from ..times.options import RunOptions, ascending, ascending_from, refuse_short, saved_times
from ..times.signature import Signature, signature_of
from ..times.step_control import controlled
from ..times.step_size import StepControlFailed, StepSizeControl
from .adaptive import integrate_adaptively
from .library import require
from .one_step import one_step_method, refuse_alternating
from .particle_run import ParticleStepper, in_blocks, steps_by_terms
from .stepper import PairError, StepStart, SystemStepper, spacing, start_at
from .system_run import SystemRun

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


PROBE_DISTANCE = 1e-2
"""Relative distance from a state at which equations are evaluated as well: at rest, some terms vanish."""


def integrate_system(
    system: PHDAE,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    options: RunOptions,
    dim: int | None = None,
    view: Callable[[Array], StateView] | None = None,
) -> Trajectory:
    """Integrate a general system.

    The arguments are those of :func:`flexph.integrate`. ``dim`` is the dimension of a mechanism: an input with
    ``dim`` entries is one load density for all elements. ``view`` wraps a state for events and observers, which read
    its parts by name, by default those of ``system``.
    """
    if isinstance(method, Library):
        require(method.name)
    x0 = check.array("start", start, (system.size,))
    grid = ascending(times)
    system.check_start(x0, float(grid[1] - grid[0]))
    forcing, view = Forcing(system.ports, options.inputs, dim), view or partial(StateView, system.parts)
    refuse_short(grid, shortest_step(system, x0, forcing, float(grid[0])), what="states")
    if isinstance(method, Library):
        kept = saved_times(grid, options.save_every)
        return integrate_adaptively(system, x0, kept, method=method, forcing=forcing, options=options, view=view)
    refuse_alternating(system, x0, forcing.at(float(grid[0])), method.completion)
    if method.name != "pair" and null_space_varies(system):  # pairs of the system check their start themselves
        _check_on_algebraic_equations(Equations(system, forcing, (float(grid[0]), np.inf), at=x0), x0, method)
    return _Steps(system, method, options, forcing).taken(x0, grid, view)


def _check_on_algebraic_equations(equations: Equations, x0: Array, method: GeneralMethod) -> None:
    """Raise ValueError for a start that violates the algebraic equations, or an index above 1.

    The check is for systems in which the null space of E varies. No state is algebraic by itself then: a defect of the
    start and multipliers of index 2 would alternate in all states.
    """
    try:
        conditions = VaryingConditions(equations, equations.span[0], x0)
        refuse_inconsistent(conditions, x0)
        conditions.refuse_higher_index(x0)
    except ArithmeticError as error:
        raise ValueError(f"{method} cannot start: {error}") from error


def _equations(system: PHDAE, x: Array) -> list[Array]:
    """Energy, costate, and products of the matrices with a fixed vector at a state: numbers that identify equations."""
    along = _pattern(system.size)
    return [
        np.atleast_1d(system.H(x)),
        system.z(x),
        *(dense(M(x)) @ along for M in (system.E, system.J, system.R)),
        dense(system.B(x)).T @ along,
    ]


def _pattern(size: int) -> Array:
    """Fixed vector (size,) of different numbers; products with it stand for a matrix in a signature."""
    return np.asarray(np.cos(1.0 + np.arange(size)))


@dataclass(frozen=True)
class _Steps:
    """Run of a system by a one-step method under inputs."""

    system: PHDAE
    method: GeneralMethod
    options: RunOptions
    forcing: Forcing

    def taken(self, x0: Array, grid: Array, view: Callable[[Array], StateView]) -> Trajectory:
        """Integrate from the state x₀ over the times ``grid``, and return the trajectory.

        ``view`` wraps a state for events and observers.
        """
        system, method, options = self.system, self.method, self.options
        kept, start = saved_times(grid, options.save_every), start_at(system, float(grid[0]), x0)
        watch = Watch(options.events, start.time, x0, view)
        observer = Observer(options.observe, view, start=(start.time, x0))
        run = SystemRun(system, start, kept.size - 1, watch=watch, observer=observer, folder=options.folder)
        grid = grid if method.tolerance is None else kept
        by_terms = steps_by_terms(system, method, events=bool(options.events))
        steps = self._in_blocks(run, grid) if by_terms else self._one_by_one(run, grid)
        messages = Messages(
            StepFailed,
            lambda error, span: _explain(method.name, span, error, run.count),
            lambda error: _explain_control(method.name, error, run.count),
            added=lambda: run.cautions.reason(run.start.time, run.start.x),
        )
        form = StartForm(tuple, lambda kept: StepStart(*kept))
        with opened(options.checkpoint, lambda: self._signature(x0, grid), form) as journal:
            if journal is not None:
                journal.restore(run)
            bar = progress_bar(grid.size - 1, shown=options.progress, done=run.reached)
            result = partial(run.trajectory, method.name)
            trajectory: Trajectory = follow(run, steps, result, messages, bar=bar, journal=journal)
        return trajectory

    def _signature(self, x0: Array, grid: Array) -> Signature:
        """Signature that identifies the run by its equations at the start and its inputs at sample times."""
        system, options = self.system, self.options
        known = [x0, *_equations(system, x0)]
        with suppress(Exception):  # functions of the user may raise anything away from their states
            known += _equations(system, x0 + PROBE_DISTANCE * (1.0 + np.abs(x0)) * _pattern(x0.size))
        probe = lambda time: [self.forcing.at(time)]  # noqa: E731
        layout = Trajectory.signature(system)
        return signature_of(layout, known, grid, method=self.method, options=options, probe=probe)

    def _one_by_one(self, run: SystemRun, grid: Array) -> Iterator[Entry]:
        """Yield prescribed steps, or steps in pairs of controlled error, one by one."""
        steps = one_step_method(self.method, self.system)
        stepper = SystemStepper(self.system, steps, self.forcing, spacing(grid))
        if self.method.tolerance is None:
            return prescribed(run, stepper, grid, self.options.save_every, memory=steps.newton)
        estimate = PairError(stepper, run.start.x, self.method.tolerance)
        return controlled(run, estimate, StepSizeControl.of(grid, extrapolates=True), grid, memory=steps.newton)

    def _in_blocks(self, run: SystemRun, grid: Array) -> Iterator[Entry]:
        """Yield prescribed steps in blocks, taken by the compiled loop over particles."""
        stepper = ParticleStepper(self.system, self.method.name, self.forcing)
        return in_blocks(run, stepper, grid, self.options.save_every)


def _explain(method: str, span: tuple[float, float], error: StepFailed, count: int) -> str:
    t0, t1 = span
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved by {method!r}: {error} "
        f"after {error.iterations} iterations, last relative correction {error.defect:.1e}; try a smaller step, a "
        f"start that satisfies the algebraic equations, and look for an index above 2 and an E(x) whose rank falls. "
        f"The {count} finished steps are in .solution"
    )


def _explain_control(method: str, error: StepControlFailed, count: int) -> str:
    return (
        f"{error} at t = {error.time:.6g} s, by {method!r}; where an input lets differential states jump, end the run "
        "and begin another, else try a looser tolerance or a larger atol, a start that satisfies the algebraic "
        f"equations, and look for an index above 2. The {count} finished steps are in .solution"
    )


def shortest_step(system: PHDAE, x: Array, forcing: Forcing, time: float) -> float:
    """Length of a step [s] below which no state can change in double precision.

    A row i of E ẋ = (J − R) z + B u changes E x by at most h tᵢ, with tᵢ = Σⱼ |J − R|ᵢⱼ |zⱼ| + |B u|ᵢ. This change is
    rounded off if it is below ε/2 of each |Eᵢⱼ xⱼ|, ε the machine precision. States of zero have no round-off, and rows
    under a varying input have no known tᵢ: in a system with only such rows, or at rest, the result is zero.
    """
    E = sparse.coo_array(system.E(x))
    least = np.full(x.size, np.inf)
    np.minimum.at(least, E.row, np.where(E.data != 0.0, np.abs(E.data * x[E.col]), np.inf))
    terms = abs(system.J(x) - system.R(x)) @ np.abs(system.z(x))
    B, varies = system.B(x), forcing.varying.astype(float)
    terms = np.where(abs(B) @ varies > 0.0, np.inf, terms + np.abs(B @ forcing.at(time)))
    moves = np.isfinite(least) & (terms > 0.0)
    return (
        float(np.min(0.5 * np.finfo(float).eps * least[moves] / terms[moves], initial=np.inf)) if moves.any() else 0.0
    )


def integrate_mechanism(
    mechanism: Model,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    options: RunOptions,
) -> Trajectory:
    """Integrate the equations ``as_phdae(mechanism, start)`` of a mechanism as a general system.

    See :func:`flexph.integrate`. Drives become inputs of their constraint rows, with prescribed rates by finite
    differences within the times. Multipliers of the start are replaced by those with which the rates of the
    constraints stay zero (index 2).
    """
    if not isinstance(start, State):
        raise ValueError(f"start must be a State, see mechanism.consistent_state(pose), got {type(start).__name__}")
    grid = ascending_from(start.time, times)
    for name in options.inputs:
        check.lookup("external port", name, mechanism.network.input_slices)
    checked = check_consistent(mechanism, start)
    refuse_short(grid, shortest_of_mechanism(checked))
    refuse_redundant(checked, "use Exact(redundant='least_norm')")
    span = (float(grid[0]), float(grid[-1]))
    system = as_phdae(mechanism, start)
    options = replace(options, inputs={**options.inputs, **drive_rates(mechanism, span)})
    x0 = system.sample
    if not isinstance(method, Library):  # libraries do so themselves
        x0 = start_with_multipliers(mechanism, system, options.inputs, span)
    view, dim = lambda x: MechanismView(mechanism, with_stresses(mechanism, x)), mechanism.layout.dim
    trajectory = integrate_system(system, x0, grid, method=method, options=options, dim=dim, view=view)
    warn_of_range(mechanism, trajectory.times, trajectory.states)
    return trajectory
