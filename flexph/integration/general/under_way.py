"""A run of a one-step method under way: its state, the sizes of its entries, what has occurred and what is booked."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...consistency.equations import with_algebraic
from ...discretisation.descriptor_split import dense
from ...discretisation.discrete_gradient_pairs import Advance
from ...numerics.arrays import Array
from ...results.trajectory import Trajectory
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ..times.events import Watch
from .bookkeeping import Book, Steps
from .cautions import Cautions
from .pace import Attempt, Pace, Taken

if TYPE_CHECKING:
    from .compiled_run import CompiledStepper

BATCH = 256
"""Steps of the Python loop that are booked together."""


class Stepper(Protocol):
    """A one-step method bound to a system."""

    memory: Any
    """What the next step takes over from those before, beside the state: to be put back where it is tried again."""

    def step(self, x0: Array, h: float, u: Array, size: Array) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""


class Run:
    """The loop's working memory: the state, the sizes of its entries so far, and the accounts.

    ``trying`` are the times of the step under way where they are not those of the grid.
    """

    def __init__(self, system: PHDAE, x0: Array, book: Book, method: str, watch: Watch) -> None:
        self.system, self.x, self.method, self.watch = system, x0, method, watch
        self.algebraic = ~dense(system.E(x0)).any(axis=0)
        self.size = with_algebraic(system, x0, np.maximum(np.abs(x0), system.floor(x0)))
        self.count = 0
        self.time, self.cautions = book.start, Cautions(system)
        self.cautions.look(self.time, x0)
        self.trying: tuple[float, float] | None = None
        self._book = book
        self._waiting: list[tuple[float, float, Array, Advance, int]] = []  # steps to book

    def advance(self, stepper: Stepper, forcing: Forcing, t0: float, t1: float) -> bool:
        """One step, or a shorter one up to a terminal event, and whether there was one.

        States at events are those of a step of their own that ends there, as exact as any other.
        """
        memory, step = stepper.memory, partial(self._step, stepper, forcing, t1 - t0)
        return self.keep([Taken(t0, t1, self.x, *step(t0, t1, self.x), memory)], 0, stepper, step)

    def attempt(
        self, stepper: Stepper, forcing: Forcing, pace: Pace, t0: float, t1: float, x: Array
    ) -> tuple[Array, Advance]:
        """A step that may be rejected."""
        self.trying = (t0, t1)
        return self._step(stepper, forcing, max(t1 - t0, pace.longest), t0, t1, x)

    def keep(self, steps: list[Taken], rejected: int, stepper: Stepper, step: Attempt) -> bool:
        """Book steps, up to a terminal event, and whether there was one; ``step`` takes them to their events."""
        memory = stepper.memory
        for taken in steps:

            def again(time: float, taken: Taken = taken) -> tuple[Array, Advance]:
                stepper.memory = taken.memory
                return step(taken.start, time, taken.before)

            if self._up_to_event(taken, again, rejected):
                return True
            rejected = 0
        stepper.memory = memory
        return False

    def _step(
        self, stepper: Stepper, forcing: Forcing, usual: float, t0: float, t1: float, x: Array
    ) -> tuple[Array, Advance]:
        """The inputs in the middle of a step from x, and the step; ``usual`` is the length of others [s]."""
        u = forcing.at(0.5 * (t0 + t1))
        size = self._sizes(t1 - t0, u)
        if t1 - t0 < usual:  # what a short step says of multipliers is lost in round-off, in proportion
            size = np.where(self.algebraic, usual / (t1 - t0), 1.0) * size
        return u, stepper.step(x, t1 - t0, u, size)

    def _up_to_event(self, taken: Taken, again: Callable[[float], tuple[Array, Advance]], rejected: int) -> bool:
        """Keep a step, or that ``again`` makes up to a terminal event in it, and whether there was one."""
        t0, t1, start, u, made, _ = taken
        if not self.watch.events:
            self._append(t0, t1, u, made, rejected)
            return False
        to = lru_cache(maxsize=1)(again)  # the step that ends at an event is taken as it was found
        stop = self.watch.look(t0, t1, made.state, lambda t: start if t == t0 else to(t)[1].state)
        if stop is None or stop == t1:
            self._append(t0, t1, u, made, rejected)
        elif stop > t0:
            self._append(t0, stop, *to(stop), rejected)
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
            for self.time, x in zip(times[1 : k + 1].tolist(), states, strict=True):
                self.cautions.look(self.time, x)

    def _sizes(self, h: float, u: Array) -> Array:
        """The largest states so far; where all are zero, what a step brings about, or one."""
        if self.size.any():
            return self.size
        system, x = self.system, self.x
        z = system.z(x)
        forces = np.abs(system.J(x) @ z - system.R(x) @ z + system.port_matrices(x).flow(u)).max(initial=0.0)
        return np.full(x.size, h * forces / max(np.abs(dense(system.E(x))).max(initial=0.0), 1e-300) or 1.0)

    def _grow(self, states: Array) -> None:
        """Sizes after further states (n,)."""
        self.size = np.maximum(self.size, states)
        if not self.size.all():
            self.size = np.maximum(self.size, 1e-3 * self.size.max(initial=0.0))

    def _append(self, t0: float, t1: float, u: Array, advance: Advance, rejected: int) -> None:
        if advance.start is not None:
            self._redefine(advance.start)
        self.x, self.time, self.count = advance.state, t1, self.count + 1
        self._grow(np.abs(advance.state))
        self.cautions.look(t1, self.x)
        self._waiting.append((t0, t1, u, advance, rejected))
        if len(self._waiting) > BATCH:
            self._book_waiting(BATCH)  # the next step may redefine the last one

    def _redefine(self, x: Array) -> None:
        """Algebraic states at the end of the last step, which the next one has found."""
        if self._waiting:
            *before, advance, rejected = self._waiting[-1]
            self._waiting[-1] = (*before, advance._replace(state=x), rejected)  # type: ignore[assignment]
        else:
            self._book.begin(x)

    def _book_waiting(self, count: int | None = None) -> None:
        if not self._waiting:
            return
        rows, self._waiting = self._waiting[:count], self._waiting[count:] if count else []
        starts, ends, inputs, made, rejected = zip(*rows, strict=True)
        states, iterations, outputs, lost, energy = map(np.array, zip(*(a[:5] for a in made), strict=True))
        times = np.array([*starts, ends[-1]])
        counts = np.array(rejected, dtype=float)
        self._book.add(Steps(times, np.array(inputs), states, outputs, energy.astype(float), lost, iterations, counts))

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
