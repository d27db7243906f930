"""Time integration of general port-Hamiltonian systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from ...discretisation.broyden import StepFailed
from ...discretisation.descriptor_split import ParametrizedDescriptor
from ...discretisation.gauss_collocation import Gauss
from ...discretisation.own_pair import OwnPair
from ...discretisation.parametrized import dirac_form, gradient_pair
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.compiling import AVAILABLE, timed
from ...results.state_view import StateView
from ...results.trajectory import Trajectory
from ...results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from ...systems.inputs import Forcing, Input
from ...systems.nonlinear import PHDAE
from ..methods import GeneralMethod
from ..times.events import Event, Watch, ascending
from ..times.step_size import NoPace
from .adaptive import integrate_adaptively
from .bookkeeping import Book
from .completion import completed, refuse_inconsistent
from .library import SOLVERS
from .pace import Pace
from .under_way import Run as _Run
from .under_way import Stepper

if TYPE_CHECKING:
    from .compiled_run import CompiledStepper


METHODS: dict[str, Callable[[PHDAE], Stepper]] = {
    "gonzalez": lambda system: gradient_pair(system, "gonzalez"),
    "mean_value": lambda system: gradient_pair(system, "mean_value"),
    "invariants": lambda system: gradient_pair(system, "invariants"),
    "dirac": dirac_form,
    "pair": OwnPair,
    "midpoint": lambda system: gradient_pair(system, "midpoint"),
    "gauss4": lambda system: Gauss(system, 2),
    "gauss6": lambda system: Gauss(system, 3),
}


CHUNK_TIME = 0.1
"""Aim for one call of the compiled loop [s]: Ctrl-C and the progress bar wait for its end."""
CHUNK = 1000
"""Largest number of steps of one call."""
GROWTH = 32
"""Factor between the first calls, whose time per step is not known."""


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
    book = Book(system, float(grid[0]), x0, save_every, None if tolerance is None else kept)
    run = _Run(system, x0, book, name, Watch(events or {}, float(grid[0]), x0, view))
    if fast:
        loop = _in_chunks(run, _compiled_stepper(system, name, x0), grid, forcing)
    elif tolerance is None:
        loop = _in_steps(run, completed(METHODS[name](system), system, completion), grid, forcing)
    else:
        grid, pace = kept, Pace(system, x0, kept, tolerance)
        loop = _under_control(run, completed(METHODS[name](system), system, completion), pace, grid, forcing)
    promised = system.compiled and method.may_compile and not AVAILABLE
    with timed("the steps of this system") if promised else nullcontext():
        return _kept(run, grid, loop, progress)


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


def _kept(run: _Run, grid: Array, loop: Iterator[int], progress: bool) -> Trajectory:
    """Go through a loop, which yields the number of steps that it has taken; what is finished is kept in any case."""
    bar = tqdm(total=grid.size - 1, delay=1.0, disable=None if progress else True, unit="step")
    try:
        with bar:
            for count in loop:
                bar.update(count)
    except KeyboardInterrupt:
        done = run.trajectory()
        message = f"interrupted at t = {done.times[-1]:.6g} s; the finished steps are in .solution"
        raise IntegrationInterrupted(message, done) from None
    except Exception as error:  # inputs and matrix functions may raise anything: the finished steps are kept
        t0, t1 = run.trying or grid[run.count : run.count + 2]
        told = run.cautions.told(run.time, run.x)
        if isinstance(error, NoPace):
            raise IntegrationError(_explain_pace(run.method, error, run.count) + told, run.trajectory()) from error
        if isinstance(error, StepFailed):
            message = _explain(run.method, t0, t1, error, run.count) + told
            raise IntegrationError(message, run.trajectory()) from error
        raise InputError(f"between t = {t0:.6g} s and {t1:.6g} s: {error}{told}", run.trajectory()) from error
    return run.trajectory()


def _in_steps(run: _Run, stepper: Stepper, grid: Array, forcing: Forcing) -> Iterator[int]:
    """One step from each time to the next, up to a terminal event."""
    for t0, t1 in pairwise(grid.tolist()):
        stop = run.advance(stepper, forcing, t0, t1)
        yield 1
        if stop:
            return


def _under_control(run: _Run, stepper: Stepper, pace: Pace, grid: Array, forcing: Forcing) -> Iterator[int]:
    """Pairs of steps that their error allows, from each time to the next, up to a terminal event."""
    step = partial(run.attempt, stepper, forcing, pace)
    for saved in grid[1:].tolist():
        for block, rejected in pace.until(saved, stepper, step):
            if run.keep(block, rejected, stepper, step):
                yield 1
                return
        yield 1


def _in_chunks(run: _Run, stepper: CompiledStepper, grid: Array, forcing: Forcing) -> Iterator[int]:
    """The same by calls of the compiled loop of many steps each."""
    length = 1
    while run.count < grid.size - 1:
        clock, before = time.perf_counter(), run.count
        run.advance_many(stepper, forcing, grid[before : before + length + 1])
        yield run.count - before
        per_step = (time.perf_counter() - clock) / (run.count - before)
        length = max(1, min(CHUNK, GROWTH * length, int(CHUNK_TIME / per_step)))


def _compiled_stepper(system: PHDAE, method: str, x0: Array) -> CompiledStepper:
    from .compiled_run import CompiledStepper  # which needs numba

    return CompiledStepper(system, method, x0)


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


def _explain_pace(method: str, error: NoPace, count: int) -> str:
    return (
        f"{error} at t = {error.time:.6g} s, by {method!r}; where an input lets differential states jump, end the run "
        "and begin another, else try a looser tolerance or a larger atol, a start that meets the algebraic equations, "
        f"and look for an index above 2. {count} steps before it are finished and kept in .solution"
    )
