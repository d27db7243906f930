"""Time integration of general port-Hamiltonian systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from ...discretisation.descriptor_split import ParametrizedDescriptor
from ...discretisation.gauss_collocation import Gauss
from ...discretisation.own_pair import OwnPair
from ...discretisation.parametrized import dirac_form, gradient_pair
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.compiling import AVAILABLE, timed
from ...numerics.step_failed import StepFailed
from ...results.state_view import StateView
from ...results.trajectory import Trajectory
from ...systems.inputs import Forcing, Input
from ...systems.nonlinear import PHDAE
from ..methods import GeneralMethod
from ..times.events import Event, Watch, ascending
from ..times.loop import Entry, Messages, Run, follow, prescribed, progress_bar
from ..times.step_control import controlled
from ..times.step_size import StepControlFailed, StepSizeControl
from .adaptive import integrate_adaptively
from .cautions import Cautions
from .completion import completed, refuse_inconsistent
from .library import SOLVERS
from .pair_error import PairError
from .record import recorder_of, trajectory_of
from .stepper import OneStepMethod, SystemStepper, spacing, start_at

METHODS: dict[str, Callable[[PHDAE], OneStepMethod]] = {
    "gonzalez": lambda system: gradient_pair(system, "gonzalez"),
    "mean_value": lambda system: gradient_pair(system, "mean_value"),
    "invariants": lambda system: gradient_pair(system, "invariants"),
    "dirac": dirac_form,
    "pair": OwnPair,
    "midpoint": lambda system: gradient_pair(system, "midpoint"),
    "gauss4": lambda system: Gauss(system, 2),
    "gauss6": lambda system: Gauss(system, 3),
}


def integrate_system(
    system: PHDAE,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    inputs: Mapping[str, Input],
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
    dim: int | None = None,
    view: Callable[[Array], StateView] | None = None,
) -> Trajectory:
    """See :func:`flexph.integrate`; ``dim`` tells the components of a load that is given once for all elements.

    ``view`` gives events a state with its names, by default those of the parts of the system.
    """
    name, tolerance, completion = method.name, method.tolerance, method.completion
    x0 = check.array("start", start, (system.size,))
    view = view or partial(StateView, system.parts)
    grid = ascending(times)
    check.count("save_every", save_every)
    system.check_start(x0, float(grid[1] - grid[0]))
    forcing = Forcing(system.ports, inputs, dim)
    fast = _is_compiled(system, method, bool(events))
    kept = grid[sorted({*range(0, grid.size, save_every), grid.size - 1})]
    if name in SOLVERS:
        options: dict[str, Any] = {"forcing": forcing, "events": events or {}, "progress": progress, "view": view}
        return integrate_adaptively(system, x0, kept, method=method, **options)
    refuse_inconsistent(system, x0, forcing.at(float(grid[0])), completion)
    start, watch = start_at(system, float(grid[0]), x0), Watch(events or {}, float(grid[0]), x0, view)
    cautions = Cautions(system)
    cautions.look(start.time, x0)
    run = Run(recorder_of(system, start, kept.size - 1), watch, start, cautions.look if system.cautions else None)
    if fast:
        steps = _in_blocks(run, system, name, forcing, grid=grid, save_every=save_every)
    else:
        usual = spacing(kept if tolerance is not None else grid)
        stepper = SystemStepper(system, completed(METHODS[name](system), system, completion), forcing, usual)
        if tolerance is None:
            steps = prescribed(run, stepper, grid, save_every)
        else:
            grid = kept
            steps = _controlled(run, stepper, grid, tolerance)
    messages = Messages(
        StepFailed,
        lambda error, span: _explain(name, *span, error, run.count),
        lambda error: _explain_control(name, error, run.count),
        added=lambda: cautions.told(run.start.time, run.start.x),
    )
    bar = progress_bar(grid.size - 1, shown=progress)
    promised = system.compiled and method.may_compile and not AVAILABLE
    with timed("the steps of this system") if promised else nullcontext():
        result = lambda: trajectory_of(system, run.recorder, name, watch.occurrences())  # noqa: E731
        trajectory: Trajectory = follow(run, steps, result, messages, bar)
    return trajectory


def _controlled(run: Run, stepper: SystemStepper, grid: Array, tolerance: Any) -> Iterator[Entry]:
    """Pairs of steps that their error allows."""
    estimate = PairError(stepper, run.start.x, tolerance)
    return controlled(run, estimate, StepSizeControl.of(grid, extrapolates=True), grid)


def _in_blocks(
    run: Run, system: PHDAE, method: str, forcing: Forcing, *, grid: Array, save_every: int
) -> Iterator[Entry]:
    from .compiled_run import CompiledStepper, in_blocks  # which needs numba

    return in_blocks(run, CompiledStepper(system, method, forcing), grid, save_every)


def _is_compiled(system: PHDAE, method: GeneralMethod, events: bool) -> bool:
    """Whether the compiled loop takes the steps. Raises ValueError or ImportError where it should and cannot."""
    slow = {"events": events, "feed-through": system.has_feedthrough}
    slow |= {"parameter": isinstance(system.E, ParametrizedDescriptor)}
    others = [name for name, holds in slow.items() if holds]
    if not method.compiled:
        return method.may_compile and AVAILABLE and system.compiled and not others
    if not AVAILABLE:
        raise ImportError("compiled=True needs the package 'numba': pip install 'flexph[fast]'", name="numba")
    if others:
        raise ValueError(f"compiled=True takes no {others[0]}: leave one of both out")
    return True


SAME_TIME = 1e-9
"""Difference of two times over the step that begins with them up to which they are the same: it changes nothing."""


def ascending_from(start: float, times: Sequence[float] | Array) -> Array:
    """At least two ascending times that begin at a start [s] up to round-off; the first one then is the start."""
    grid = ascending(times)
    if abs(grid[0] - start) > max(SAME_TIME * (grid[1] - grid[0]), 4.0 * np.spacing(abs(start))):
        raise ValueError(f"times must begin at the time of the start, {start} s, got {grid[0]} s")
    return grid if grid[0] == start else ascending(np.append(start, grid[1:]))


def _explain(method: str, t0: float, t1: float, error: StepFailed, count: int) -> str:
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved by {method!r}: {error} "
        f"after {error.iterations} iterations, last relative correction {error.defect:.1e}; try a smaller step, a "
        f"start that meets the algebraic equations, and look for an index above 2. {count} steps before it are "
        "finished and kept in .solution"
    )


def _explain_control(method: str, error: StepControlFailed, count: int) -> str:
    return (
        f"{error} at t = {error.time:.6g} s, by {method!r}; where an input lets differential states jump, end the run "
        "and begin another, else try a looser tolerance or a larger atol, a start that meets the algebraic equations, "
        f"and look for an index above 2. {count} steps before it are finished and kept in .solution"
    )
