"""Time integration of general port-Hamiltonian systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from tqdm import tqdm

from .. import checks as check
from ..compiling import AVAILABLE, timed
from ..inputs import Forcing, Input
from ..phdae import PHDAE
from ..space import Array
from ..trajectory import Trajectory
from ..unfinished import InputError, IntegrationError, IntegrationInterrupted
from .adaptive import integrate_adaptively
from .bookkeeping import Book, Steps
from .collocation import Gauss
from .events import Event, Watch
from .library import SOLVERS
from .newton import StepFailed
from .pairs import Advance, Dirac, GradientPair
from .structure import dense

if TYPE_CHECKING:
    from .compiled_run import CompiledStepper


class Stepper(Protocol):
    """A one-step method bound to a system."""

    def step(self, x0: Array, h: float, u: Array, size: Array) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""


METHODS: dict[str, Callable[[PHDAE], Stepper]] = {
    "gonzalez": lambda system: GradientPair(system, "gonzalez"),
    "mean_value": lambda system: GradientPair(system, "mean_value"),
    "invariants": lambda system: GradientPair(system, "invariants"),
    "dirac": Dirac,
    "midpoint": lambda system: GradientPair(system, "midpoint"),
    "gauss4": lambda system: Gauss(system, 2),
    "gauss6": lambda system: Gauss(system, 3),
}


COMPILED = ("gonzalez", "mean_value", "invariants", "midpoint")
"""Methods whose loop over steps there is in compiled form too."""
CHUNK_TIME = 0.1
"""Aim for one call of the compiled loop [s]: Ctrl-C and the progress bar wait for its end."""
CHUNK = 1000
"""Largest number of steps of one call."""
GROWTH = 32
"""Factor between the first calls, whose time per step is not known."""
BATCH = 256
"""Steps of the Python loop that are booked together."""


def integrate_system(
    system: PHDAE,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: str,
    inputs: Mapping[str, Input],
    tolerance: Any = None,
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
    compiled: bool | None = None,
    dim: int | None = None,
) -> Trajectory:
    """See :func:`flexph.integrate`; ``dim`` tells the components of a load that is given once for all elements.

    ``compiled``: whether the loop over steps is compiled by numba. None (default) compiles it where numba is installed,
    the system is a ``PHDAE(compiled=True)``, the method one of four (COMPILED), and no events are given; True for any
    system, or an error that says what is in the way; False never. The results agree to round-off.
    """
    check.choice("method", method, (*METHODS, *SOLVERS))
    x0 = check.array("start", start, (system.size,))
    grid = ascending(times)
    check.count("save_every", save_every)
    system.check(x0)
    forcing = Forcing(system.ports, inputs, dim)
    fast = _is_compiled(system, method, compiled, bool(events))
    if method in SOLVERS:
        kept = grid[sorted({*range(0, grid.size, save_every), grid.size - 1})]
        return integrate_adaptively(
            system,
            x0,
            kept,
            method=method,
            tolerance=tolerance,
            forcing=forcing,
            events=events or {},
            progress=progress,
        )
    if tolerance is not None:
        raise ValueError(
            f"method {method!r} takes the steps that times prescribe: only {_listed(SOLVERS)} take a tolerance"
        )
    run = _Run(system, x0, float(grid[0]), save_every, method, Watch(events or {}, float(grid[0]), x0))
    if fast:
        loop = _in_chunks(run, _compiled_stepper(system, method, x0), grid, forcing)
    else:
        loop = _in_steps(run, METHODS[method](system), grid, forcing)
    promised = system.compiled and compiled is None and method in COMPILED and not AVAILABLE
    with timed("the steps of this system") if promised else nullcontext():
        return _kept(run, grid, loop, progress)


def _is_compiled(system: PHDAE, method: str, wanted: bool | None, has_events: bool) -> bool:
    """Whether the compiled loop takes the steps. Raises ValueError or ImportError where it should and cannot."""
    if not wanted:
        return wanted is None and AVAILABLE and system.compiled and method in COMPILED and not has_events
    if not AVAILABLE:
        raise ImportError("compiled=True needs the package 'numba': pip install 'flexph[fast]'", name="numba")
    if method not in COMPILED:
        raise ValueError(f"compiled=True is for the methods {_listed(COMPILED)}, got {method!r}")
    if has_events:
        raise ValueError("compiled=True takes no events: leave one of both out")
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
        t0, t1 = grid[run.count : run.count + 2]
        if isinstance(error, StepFailed):
            message = _explain(run.method, t0, t1, error, run.count)
            raise IntegrationError(message, run.trajectory()) from error
        raise InputError(f"between t = {t0:.6g} s and {t1:.6g} s: {error}", run.trajectory()) from error
    return run.trajectory()


def _in_steps(run: _Run, stepper: Stepper, grid: Array, forcing: Forcing) -> Iterator[int]:
    """One step from each time to the next, up to a terminal event."""
    for t0, t1 in pairwise(grid.tolist()):
        stop = run.advance(stepper, forcing, t0, t1)
        yield 1
        if stop:
            return


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


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def ascending(times: Sequence[float] | Array) -> Array:
    """At least two ascending times."""
    grid = check.array("times", times, (None,))
    if grid.size < 2:
        raise ValueError(f"times must have at least two entries, got {grid.size}")
    if np.any(np.diff(grid) <= 0.0):
        k = int(np.argmax(np.diff(grid) <= 0.0))
        raise ValueError(
            f"times must ascend: step {k} from {grid[k]} s to {grid[k + 1]} s is {grid[k + 1] - grid[k]:.3g} s"
        )
    return grid


def _explain(method: str, t0: float, t1: float, error: StepFailed, count: int) -> str:
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved by {method!r}: {error} "
        f"after {error.iterations} iterations, last relative correction {error.defect:.1e}; try a smaller step, a "
        f"start that meets the algebraic equations, and look for an index above 2. {count} steps before it are "
        "finished and kept in .solution"
    )


class _Run:
    """The loop's working memory: the state, the sizes of its entries so far, and the accounts."""

    def __init__(self, system: PHDAE, x0: Array, t0: float, save_every: int, method: str, watch: Watch) -> None:
        self.system, self.x, self.method, self.watch = system, x0, method, watch
        self.algebraic = ~dense(system.E(x0)).any(axis=0)
        self.size = np.maximum(np.abs(x0), system.floor(x0))
        self.count = 0
        self._book = Book(system, t0, x0, save_every)
        self._waiting: list[tuple[float, float, Array, Advance]] = []  # steps to book

    def advance(self, stepper: Stepper, forcing: Forcing, t0: float, t1: float) -> bool:
        """One step, or a shorter one up to a terminal event, and whether there was one.

        States at events are those of a step of their own that ends there, as exact as any other.
        """
        start, u = self.x, forcing.at(0.5 * (t0 + t1))
        size = self._sizes(t1 - t0, u)
        if not self.watch.events:
            self._keep(t0, t1, u, stepper.step(start, t1 - t0, u, size))
            return False

        @lru_cache(maxsize=1)  # the step that ends at an event is taken as it was found
        def to(time: float) -> tuple[Array, Advance]:
            u = forcing.at(0.5 * (t0 + time))
            # what a short step says of multipliers is lost in round-off, in proportion
            loose = size if time == t1 else np.where(self.algebraic, (t1 - t0) / (time - t0), 1.0) * size
            return u, stepper.step(start, time - t0, u, loose)

        u, made = to(t1)
        stop = self.watch.look(t0, t1, made.state, lambda t: start if t == t0 else to(t)[1].state)
        if stop is None or stop == t1:
            self._keep(t0, t1, u, made)
        elif stop > t0:
            self._keep(t0, stop, *to(stop))
        return stop is not None

    def advance_many(self, stepper: CompiledStepper, forcing: Forcing, times: Array) -> None:
        """One step from each of the times to the next; where one fails, or its inputs do, those before it are kept."""
        inputs, failure = _tabulated(forcing, times, self.system.inputs_size)
        if len(inputs) and not self.size.any():  # from zero each step is scaled by itself
            inputs, failure = inputs[:1], None
        if len(inputs):
            sizes = self._sizes(times[1] - times[0], inputs[0])
            try:
                stepper.advance(times[: len(inputs) + 1], inputs, sizes)
            finally:
                self._take(stepper, times, inputs)
        if failure is not None:
            raise failure

    def _take(self, stepper: CompiledStepper, times: Array, inputs: Array) -> None:
        """Book the steps that the compiled loop has finished."""
        k, rows = stepper.taken()
        if k:
            states, *others = (a[:k] for a in rows[:5])
            self._book.add(Steps(times[: k + 1], inputs[:k], states, *others))
            self.x, self.count = states[-1], self.count + k
            self._grow(np.abs(states).max(axis=0))

    def _sizes(self, h: float, u: Array) -> Array:
        """The largest states so far; where all are zero, what a step brings about, or one."""
        if self.size.any():
            return self.size
        system, x = self.system, self.x
        z = system.z(x)
        forces = np.abs(system.J(x) @ z - system.R(x) @ z + system.B(x) @ u).max(initial=0.0)
        return np.full(x.size, h * forces / max(np.abs(dense(system.E(x))).max(initial=0.0), 1e-300) or 1.0)

    def _grow(self, states: Array) -> None:
        """Sizes after further states (n,)."""
        self.size = np.maximum(self.size, states)
        if not self.size.all():
            self.size = np.maximum(self.size, 1e-3 * self.size.max(initial=0.0))

    def _keep(self, t0: float, t1: float, u: Array, advance: Advance) -> None:
        self.x, self.count = advance.state, self.count + 1
        self._grow(np.abs(advance.state))
        self._waiting.append((t0, t1, u, advance))
        if len(self._waiting) == BATCH:
            self._book_waiting()

    def _book_waiting(self) -> None:
        if not self._waiting:
            return
        starts, ends, inputs, made = zip(*self._waiting, strict=True)
        states, iterations, outputs, lost, energy = map(np.array, zip(*made, strict=True))
        times = np.array([*starts, ends[-1]])
        self._book.add(Steps(times, np.array(inputs), states, outputs, energy.astype(float), lost, iterations))
        self._waiting = []

    def trajectory(self) -> Trajectory:
        """The finished steps."""
        self._book_waiting()
        return self._book.trajectory(self.method, self.watch.occurrences())


def _tabulated(forcing: Forcing, times: Array, size: int) -> tuple[Array, Exception | None]:
    """Inputs (k, size) in the middles of steps, up to the first that fails, and how it fails."""
    middles = 0.5 * (times[:-1] + times[1:])
    try:
        return np.array(np.broadcast_to(forcing.over(middles), (middles.size, size))), None
    except Exception:  # which one is it?
        rows: list[Array] = []
        try:
            for middle in middles.tolist():
                rows.append(forcing.at(middle))
        except Exception as error:
            return np.array(rows).reshape(len(rows), size), error
        return np.array(rows), None
