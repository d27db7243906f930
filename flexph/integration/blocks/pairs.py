"""Pairs of steps in compiled blocks, of lengths controlled by the errors (see integration.times.step_control)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.coupling import CompiledCoupling, EvaluationPoints
from ...kernels.convergence.tolerances import LEFT
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded
from ..loops.memory.structures import GaussTable, Pair, Rows, Table, no_calls
from ..loops.steps.controls import CONTROLS, ENERGY, ERROR, LAST, LONGEST, MOST, REACHED, REJECTED, STATUS, H
from ..schemes.scheme import StepStart
from ..times.loop import Block, Run
from ..times.step_control import ErrorEstimate, Tried
from ..times.step_size import StepSize, StepSizeControl, Tolerance
from .block_stepper import EACH, BlockStepper, SavingRule


class PairError(NamedTuple):
    """Errors of pairs of equal steps relative to a tolerance.

    The mean velocity v̄ over a step of h differs from the velocity in its middle by h²/24 times its second derivative,
    and Cayley's update turns by (hω)³/12 less than the spin ω does. With δ = h²/24 v̄″ + h²/12 |ω|²ω, where v̄″ is by
    differences of the last three mean velocities, the error of a pair is

        ε = √(δ̂ᵀMδ̂ / (2 E)) / rtol,   δ̂ = (M + ¼h²K + …)⁻¹ M δ,

    and at least a tenth of this expression for the velocity M⁻¹GᵀS⁻¹Δe, with the change Δe of the velocity defect in
    the pair, the Jacobian G of the constraints, and S = G M⁻¹Gᵀ. M is the mass matrix, K the stiffness. E is the
    largest kinetic energy of the run, or atol if that is larger. M + ¼h²K + … is the step's Jacobian: δ̂ keeps the
    constraints, and modes that h does not resolve count by 4/(hω)², so that they do not force their resolution as long
    as their part of the energy is small. Contacts that open or close in the pair are left out of this matrix: as stiff
    modes, they would hide their own impact.
    """

    tolerance: Tolerance

    def initial(self, start: StepStart) -> float:
        """State of the estimate at the start of a run: the floor of the tolerance [J].

        After each pair it is the largest kinetic energy so far, or the floor if that is larger.
        """
        return self.tolerance.floor

    def count(self, history: float) -> int:
        """Number of steps of a pair, which is two."""
        return 2

    def judged(self, step: Any, estimate: tuple[float, float], history: float, energy: float) -> Tried:
        """Pair of steps with its error, relative to the tolerance.

        ``estimate`` are two energies [J]: of the error of the velocities, and of the velocity defect that the pair
        adds. They are compared with ``energy``, the largest kinetic energy [J] of the run up to the end of the pair;
        ``history`` is the largest one before the pair.
        """
        motion, left = estimate
        squared = max(motion, left / LEFT**2)
        error = math.sqrt(squared / energy) / self.tolerance.relative if squared > 0.0 else 0.0
        return Tried([step], error, self.cause(error), energy if error <= 1.0 else history)

    def cause(self, error: float) -> str:
        """Text with the error, as reason why step size control fell below its smallest step."""
        return f"the error is still {error:.1f} times the tolerance"


SUMS = "controller_flows", "controller_work"
"""Controller columns that add up over steps."""


class ControlState(NamedTuple):
    """State of step size control: step size, largest kinetic energy so far [J], steps rejected since the last pair."""

    size: StepSize
    history: float
    rejected: float


class PairBlock(NamedTuple):
    """Block of pairs of steps that the loops took, or None; and the state of step size control after it.

    ``status`` is the code of the reason why the loops ended the block, ``error`` the error of the last pair, ``raised``
    the exception of a controller.
    """

    block: Block | None
    restart: ControlState
    status: float
    error: float
    raised: BaseException | None = None


class CoupledRows:
    """Values of controllers within pairs of steps, which the loops record for at most ``times`` instants."""

    def __init__(self, loops: ControlLoops, x: Array, times: int, evaluation: EvaluationPoints) -> None:
        coupled = loops.coupled
        assert coupled is not None
        self._loops, self._coupled, self.times, self._begun = loops, coupled, np.zeros(times), coupled.states
        self.coupling = CompiledCoupling(coupled, self.times, x, loops.held.size, evaluation=evaluation)

    def added(self, block: Block, size: StepSize, history: float) -> Block:
        """Add the values of the controllers to a block of steps, and advance the controllers to its end.

        The block stores ``size`` and the largest kinetic energy so far, ``history`` [J], for a resumed run.
        """
        done, ends = self.coupling.finished, block.rows["time"][:, 0]
        self.coupling.commit(done)
        values, error = self.coupling.rows(self._begun, done)
        held = self._loops.held + self.coupling.held(done)
        values["held"] = np.repeat(0.5 * (held[::2] + held[1::2]), 2, axis=0)  # mean of both steps of a pair
        first = np.append(0, np.searchsorted(self.times[1 : done + 1], ends[:-1], side="right"))
        last = np.append(first[1:], done) - 1
        rows = {
            name: np.add.reduceat(column, first) if name in SUMS else column[last] for name, column in values.items()
        }
        residuals = block.rows["residuals"].copy()
        residuals[:, 0] += np.maximum.reduceat(np.abs(error), first)
        restart = size, history, self._loops.snapshot()
        return block._replace(rows={**block.rows, **rows, "residuals": residuals}, restart=restart)


class PairBlocks(BlockStepper):
    """Block stepper that takes pairs of steps and estimates their error (see :class:`PairError`).

    The loops or Python choose the lengths of the pairs.
    """

    @property
    def error(self) -> PairError:
        """Error measure of pairs, relative to the tolerance of the method."""
        assert self.scheme.tolerance is not None
        return PairError(self.scheme.tolerance)

    @property
    def estimate(self) -> ErrorEstimate:
        """Error estimate that chooses the lengths of pairs, which is this stepper."""
        return self

    def _pair(self) -> Pair:
        scheme = self.scheme
        sizes = 3, scheme.motions, scheme.rows, scheme.arrays.contacts.number, 0, 0, 0
        return Pair(*[*map(np.zeros, sizes), np.zeros((0, 2))])

    def table_of(self, times: Array) -> Table | None:
        """Table of prescribed quantities for steps that the loops choose between ``times``; None if one varies."""
        table = self.table(times[:2])
        if isinstance(table, GaussTable) or any(len(part) > 1 for part in table[1:]):
            return None
        return table._replace(times=np.ascontiguousarray(times))

    def controlled(
        self,
        run: Run,
        control: StepSizeControl,
        at: ControlState,
        times: Array,
        *,
        save: SavingRule,
        tries: int,
        loops: ControlLoops | None = None,
    ) -> PairBlock:
        """Take at most ``tries`` pairs of steps through ``times``; the compiled loops control their lengths.

        ``at`` is the state of step size control. ``loops`` are controllers that act within the steps. If one of them
        raises an exception, the result has it as ``raised``.
        """
        tries = tries if loops is None else min(tries, self.limit)  # each has a row for both steps
        table, start, values = self.table_of(times), run.start, self._values(control, at, tries)
        assert table is not None
        run.begin_trial(start.time, float(times[-1]))
        if start is not self.compiled.stands:
            self.put(start)
        count, solved = save.rows(len(times) - 1), np.zeros(1, dtype=np.int64)
        rows = Rows(*(np.zeros((count, width)) for width in self.compiled.widths))
        rows.flow[0] = run.recorder.open_values("flows")
        coupled_rows = None if loops is None else CoupledRows(loops, start.x, 2 * tries + 1, self.evaluation)
        steps = np.zeros(3) if coupled_rows is None else coupled_rows.times
        pair = Pair(*self.parts.pair[:4], values, np.zeros(self.compiled.motion), steps, np.zeros((count, 2)))
        calls = None
        if coupled_rows is not None:
            table = table._replace(inputs=np.repeat(table.inputs, 2, axis=0))
            calls = no_calls()._replace(within=self.compiled.within(coupled_rows.coupling))
        ways = save.every, save.before
        self.compiled.take_controlled(table, pair, ways, rows=rows, solved=solved, calls=calls)
        run.longest = max(run.longest, float(values[LONGEST]))
        size, history = StepSize(float(values[H]), float(values[LAST])), float(values[ENERGY])
        block = self._chosen(rows, pair, save)._replace(restart=(size, history, None)) if solved[0] else None
        if coupled_rows is not None:
            coupled_rows.coupling.store_jacobian()
            block = None if block is None else coupled_rows.added(block, size, history)
        restart, raised = (
            ControlState(size, history, float(values[REJECTED])),
            None if coupled_rows is None else coupled_rows.coupling.error,
        )
        return PairBlock(block, restart, float(values[STATUS]), float(values[ERROR]), raised)

    def _values(self, control: StepSizeControl, at: ControlState, tries: int) -> Array:
        """Parameters and state of step size control, as the array that the loops read and write."""
        controller, values = control.controller, np.zeros(CONTROLS)
        relative, size = self.error.tolerance.relative, at.size
        values[: MOST + 1] = (
            *(tries, size.h, size.error, at.history, relative, controller.smallest),
            *(controller.order, controller.safety, controller.least, controller.most),
        )
        values[REJECTED] = at.rejected
        return values

    def _chosen(self, rows: Rows, pair: Pair, save: SavingRule) -> Block:
        """Block of the pairs that the loops took, from their rows; its last row is open unless its time is saved."""
        reached = int(pair.control[REACHED])
        closed = (save.before + reached) // save.every - save.before // save.every
        k = closed + int(pair.spans[closed, 1] > pair.spans[closed, 0])
        values = self.columns(np.zeros(2), rows, np.ones(k, dtype=int))
        spans = pair.spans[:k]
        values |= {"time": spans[:, 1:].copy(), "middle": spans.mean(axis=1, keepdims=True)}
        end = self.end(float(spans[k - 1, 1]), rows.state[k - 1].copy())
        return Block(values, np.arange(k) < closed, end, reached, ("flows",))

    def initial(self, start: StepStart) -> float:
        """State of the estimate at the start of a run, an energy [J], see :meth:`PairError.initial`."""
        return self.error.initial(start)

    def count(self, history: float) -> int:
        """Number of steps of a pair, which is two."""
        return self.error.count(history)

    def attempt(self, run: Run, times: Array, history: float) -> Tried:
        """Try a pair of steps through three times, with its error; ``history`` is the largest kinetic energy [J]."""
        start, ends = run.start, times[[0, 2]]
        run.begin_trial(start.time, float(ends[1]))
        rows, solved = self._taken(start, ends, self.table(ends), EACH)
        if not solved:
            error = self.failed(start, float(ends[1]))
            return Tried([], np.inf, str(error), history, ended=error if isinstance(error, MotionEnded) else None)
        motion, left, energy = self.parts.pair.found.tolist()
        step = start, self.result(start, ends, rows), partial(self.step, start)
        return self.error.judged(step, (motion, left), history, max(history, energy))
