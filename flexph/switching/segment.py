"""A run within one mode, up to where it is left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from ..discretisation.broyden import StepFailed
from ..discretisation.discrete_gradient_pairs import Advance
from ..integration.general.bookkeeping import Book
from ..integration.general.pace import Attempt, Taken
from ..integration.general.run import METHODS
from ..integration.general.under_way import Run, Stepper
from ..integration.times.events import PRECISION
from ..numerics.arrays import Array
from ..systems.inputs import Forcing
from ..systems.nonlinear import PHDAE
from .branch import NEARLY
from .watch import Leaving

NEAR = 0.02
"""How near to the end that is foreseen of a branch it is looked for, over the distance to it."""


class Segment(Run):
    """The steps of one mode: ``watch`` ends them, ``impasse`` says that the algebraic equations did."""

    watch: Leaving  # type: ignore[assignment]

    def __init__(
        self, system: PHDAE, x0: Array, book: Book, method: str, watch: Leaving, size: Array, usual: float
    ) -> None:
        super().__init__(system, x0, book, method, watch)  # type: ignore[arg-type]
        self.size = np.maximum(self.size, size)
        self.usual, self.careful, self.impasse = usual, watch.branch.careful, False
        self.time = watch.stopped

    def steps(self, grid: Array, forcing: Forcing) -> Iterator[float]:
        """One step from each time to the next until the mode is left; yields the times reached."""
        stepper = METHODS[self.method](self.system)
        for t1 in grid[1:].tolist():
            while self.time < t1:
                if self._one(stepper, forcing, t1):
                    return
            yield t1

    def _one(self, stepper: Stepper, forcing: Forcing, t1: float) -> bool:
        """A step to t1, or as far as the branch goes, and whether the mode is left."""
        memory = stepper.memory
        try:
            return self._advanced(stepper, forcing, t1)
        except StepFailed:
            if not self.careful:
                raise
            stepper.memory = memory
            if not self.watch.branch.ends():
                found = self._furthest(stepper, forcing, t1)
                if found is None and not self.watch.branch.ends(NEARLY):
                    raise
                if found is not None:
                    return self._stopped(self.keep([found], 0, stepper, self._usually(stepper, forcing)), found.end)
        self.impasse = True
        return True

    def _advanced(self, stepper: Stepper, forcing: Forcing, t1: float) -> bool:
        return self._stopped(self.advance(stepper, forcing, self.time, t1), t1)

    def _stopped(self, stop: bool, t1: float) -> bool:
        self.time = self.watch.stopped if stop else t1
        return stop

    def _usually(self, stepper: Stepper, forcing: Forcing) -> Attempt:
        return partial(self._step, stepper, forcing, self.usual)

    def advance(self, stepper: Stepper, forcing: Forcing, t0: float, t1: float) -> bool:
        """As that of any run; steps that are cut short by switches are no longer than usual either."""
        self.trying = (t0, t1)
        memory, step = stepper.memory, self._usually(stepper, forcing)
        return self.keep([Taken(t0, t1, self.x, *step(t0, t1, self.x), memory)], 0, stepper, step)

    def _step(
        self, stepper: Stepper, forcing: Forcing, usual: float, t0: float, t1: float, x: Array
    ) -> tuple[Array, Advance]:
        u, made = super()._step(stepper, forcing, usual, t0, t1, x)
        if self.careful:  # a step may have found another branch, for its stages or for its end
            branch = self.watch.branch
            if branch.strays(t1, made.state, branch.at(t1, made.state)):
                raise StepFailed("the step leaves the branch of its algebraic states", made.iterations, np.inf)
        return u, made

    def at_end(self) -> Array:
        """The last state, with algebraic states that solve the equations where they can be found."""
        branch = self.watch.branch
        if self.watch.events:
            return branch.state
        try:
            return branch.at(self.time, self.x)
        except StepFailed:
            return self.x

    def _furthest(self, stepper: Stepper, forcing: Forcing, t1: float) -> Taken | None:
        """The longest step that can be solved, to round-off; None where that is none at all.

        By bisection, quicker where the end of the branch is foreseen: beyond it steps take long to fail.
        """
        memory, low, high, found = stepper.memory, self.time, t1, None
        width = max(PRECISION * (t1 - self.time), float(np.spacing(max(abs(self.time), abs(t1)))))
        step, branch = self._usually(stepper, forcing), self.watch.branch
        room, end, side = branch.room(low, self.x), math.inf, -1.0
        while high - low > width:
            foreseen = end + side * NEAR * (end - low)
            middle, side = foreseen if low < foreseen < high else 0.5 * (low + high), -side
            if not low < middle < high:
                break
            stepper.memory = memory
            try:
                made = step(self.time, middle, self.x)
            except StepFailed:
                high = middle
                continue
            left = branch.room(middle, made[1].state)
            end = middle + left * (middle - low) / (room - left) if room > left else math.inf
            low, room, found = middle, left, Taken(self.time, middle, self.x, *made, memory)
        stepper.memory = memory  # of what is found another step would differ by round-off, which may be beyond the end
        return found
