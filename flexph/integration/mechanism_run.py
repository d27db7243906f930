"""Run of a mechanism: steps from each time to the next, events in between, and early ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..control.control_loops import ControlLoops
from ..control.state_feedback import Unusable
from ..mechanisms.model.consistency import Checked
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import TimeTable, table_of
from ..mechanisms.poses.resolution import shortest_step, work_of_weights
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from ..results.signature import mechanism_signature
from ..results.solution import Solution
from ..results.state_view import MechanismView
from ..results.validity import moves_from_rest, warn_of_doubts
from ..systems.inputs import Forcing
from ..systems.validity import ValidityWarning
from .choice import LOOPS, left_to_numpy, numpy_because
from .controllers import loops_of
from .exact.failures import GENERAL, ONE_STEP, explain, explain_control, huge_inputs, long_drives, of_long_drives
from .exact.pairs_of_steps import PairStepper
from .exact.record import recorder_of, solution_of
from .exact.step import Stepper, StepStart
from .exact.steppers import StepsOf, refuse_large, stepper_from, stepper_of
from .methods import MechanismMethod
from .times.events import ContinuedWatch
from .times.grid import ascending_from, refuse_short
from .times.journal import Journal, StartForm, opened
from .times.loop import Messages, Run, follow, prescribed, progress_bar
from .times.observer import Observer
from .times.options import RunOptions
from .times.protocols import Entry
from .times.sampled import ControlledForcing, one_by_one
from .times.signature import Signature, numbers_in, signature_of
from .times.step_control import controlled
from .times.step_size import StepSizeControl

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism
    from .blocks.block_stepper import BlockStepper

BlocksOf = Callable[["Mechanism", Stepper], "BlockStepper"]


def run_mechanism(
    mechanism: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: MechanismMethod,
    options: RunOptions,
    steps_of: StepsOf = stepper_of,
    blocks_of: BlocksOf | None = None,
) -> Solution:
    """See :func:`flexph.integrate`; ``steps_of`` makes the stepper of a method, ``blocks_of`` its compiled blocks."""
    if not isinstance(start, State):
        raise ValueError(f"start must be a State, see mechanism.consistent_state(pose), got {type(start).__name__}")
    grid = ascending_from(start.time, times)
    forcing = Forcing(mechanism.network.input_slices, options.inputs, mechanism.layout.dim)
    loops = loops_of(mechanism, start, method, options.controllers)
    if loops is not None:
        forcing = ControlledForcing(forcing, loops)
    stepper, table, checked = stepper_from(mechanism, start, method, forcing, steps_of=steps_of)
    refuse_short(grid, shortest_step(checked))
    signature = partial(
        _signature, mechanism, start, grid, table=table, forcing=forcing, method=method, options=options
    )
    blocks, steps_by = _loops(mechanism, method, stepper, blocks_of)
    task = _Task(mechanism, start, checked, stepper, grid, options, forcing, signature, steps_by, loops)
    if blocks is not None:
        return task.in_blocks(blocks)
    refuse_large(stepper)
    return task.step_by_step()


def _loops(
    mechanism: Mechanism, method: MechanismMethod, stepper: Stepper, blocks_of: BlocksOf | None
) -> tuple[BlockStepper | None, str]:
    """Compiled loops of a run (None if NumPy takes its steps), and a text that names them or the reason."""
    if reason := numpy_because(mechanism, method):
        return None, f"NumPy, as {reason}"
    if blocks_of is None:
        from .blocks.steppers import blocks_of as blocks_alone

        blocks_of = blocks_alone
    return blocks_of(mechanism, stepper), LOOPS


class _Task(NamedTuple):
    """Task of a run: a mechanism from a start, by a stepper, through the times of a grid."""

    mechanism: Mechanism
    initial: State
    checked: Checked
    stepper: Stepper
    grid: Array
    options: RunOptions
    forcing: Forcing
    signature: Callable[..., Signature]
    steps_by: str
    loops: ControlLoops | None = None

    def in_blocks(self, blocks: BlockStepper) -> Solution:
        """Run in compiled blocks of steps."""
        run = self._run(blocks.start(self.initial))
        with self._opened(lambda kept: blocks.put(self._start(kept))) as journal:
            return self._followed(run, self._entries(run, blocks), journal, left=blocks.left)

    def _entries(self, run: Run, blocks: BlockStepper) -> Iterator[Entry]:
        """Compiled steps: chosen by their error, one by one or in chunks if controllers sample, or in blocks."""
        every, estimate = self.options.save_every, blocks.estimate
        if self.loops is None and estimate is None:
            from .blocks.prescribed_steps import in_blocks

            return in_blocks(run, blocks, self.grid, every)
        from .blocks.agreed_steps import held_in_loops
        from .blocks.controlled_steps import controlled_in_blocks
        from .blocks.sampled_steps import in_chunks
        from .contact.agreed_pairs import AgreedPairs

        if self.loops is not None:
            if estimate is not None:
                pairs = AgreedPairs(blocks, self.loops, estimate)
                if self._in_loops(run, blocks) and not self.loops.is_driven:
                    by = partial(controlled_in_blocks, estimate=pairs, loops=self.loops)
                    return self._controlled(run, blocks, by)
                return self._controlled(run, pairs, partial(controlled, memory=self.loops))
            if run.watch.active:
                return one_by_one(run, blocks, self.loops, self.grid, every, held_by=held_in_loops)
            return in_chunks(run, blocks, self.loops, self.grid, every)
        if self._in_loops(run, blocks):
            return self._controlled(run, blocks, controlled_in_blocks)
        return self._controlled(run, estimate)

    def _in_loops(self, run: Run, blocks: BlockStepper) -> bool:
        """True if the loops choose pairs of steps by their error."""
        from .blocks.pairs import PairBlocks

        return isinstance(blocks, PairBlocks) and not run.watch.active and blocks.table_of(self.grid) is not None

    def step_by_step(self) -> Solution:
        """Run in single steps, prescribed or chosen by their error."""
        run = self._run(self.stepper.start(self.initial))
        if self.loops is not None:
            steps: Iterator[Entry] = one_by_one(run, self.stepper, self.loops, self.grid, self.options.save_every)
        elif isinstance(self.stepper, PairStepper):
            steps = self._controlled(run, self.stepper)
        else:
            steps = prescribed(run, self.stepper, self.grid, save_every=self.options.save_every)
        with self._opened(self._start) as journal:
            return self._followed(run, steps, journal)

    def _controlled(self, run: Run, pairs: Any, by: Callable[..., Iterator[Entry]] = controlled) -> Iterator[Entry]:
        known = run.start.history[-1:, -1]
        control = StepSizeControl.of(self.grid, float(np.abs(known).max(initial=0.0)) or math.inf)
        return by(run, pairs, control, self.grid, self.options.save_every)

    def _huge_inputs(self, run: Run, span: tuple[float, float]) -> str:
        """Text on extreme inputs that may have made a step of this span fail; empty without any."""
        time, ports = 0.5 * sum(span), self.mechanism.network.input_slices
        values = self.forcing.at(time)
        if self.loops is None:
            return huge_inputs(ports, values, {})
        for c in () if self.loops.joined is None else self.loops.joined.feedback:
            with suppress(Unusable):
                values[c.entries] += c.answer(time, c.read(run.start.x, c.near)[0])
        return huge_inputs(ports, values, self.loops.ports)

    def _explained(self, run: Run, error: StepFailed, span: tuple[float, float]) -> str:
        """Message for a step that could not be solved."""
        table = table_of(self.mechanism, self.initial.anchors)
        cure = of_long_drives(self.mechanism, table, span) or (f"{ONE_STEP}; else {GENERAL}" if self._is_one else "")
        return explain(run, error, span, self._huge_inputs(run, span), cure=cure or GENERAL)

    @property
    def _is_one(self) -> bool:
        """True if the whole run is one prescribed step."""
        return len(self.grid) == 2 and not isinstance(self.stepper, PairStepper)

    def _opened(self, unpack: Callable[[Any], StepStart]) -> AbstractContextManager[Journal | None]:
        """Open the journal of the run's checkpoint; of a start it keeps what :attr:`Solution.final` needs."""
        form = StartForm(lambda start: (start.time, start.x, start.history), unpack)
        return opened(self.options.checkpoint, partial(self.signature, steps_by=self.steps_by), form)

    def _start(self, kept: Any) -> StepStart:
        time, x, history = kept
        return self.stepper.start(State(time, x, self.initial.multipliers, self.initial.anchors, history))

    def _run(self, start: StepStart) -> Run:
        expected = (len(self.grid) - 1) // self.options.save_every + 1
        view = partial(MechanismView, self.mechanism)
        watch = ContinuedWatch(self.options.events, start.time, start.x, view)
        observer = Observer(self.options.observe, view, start=(start.time, start.x))
        recorder = recorder_of(self.stepper.accounts, start, expected, self.options.folder, self.loops)
        return Run(recorder, watch, start, observer=observer)

    def _followed(
        self, run: Run, steps: Iterator[Entry], journal: Journal | None, *, left: Set[float] = frozenset()
    ) -> Solution:
        """Solution of all steps, with warnings about doubtful results; ``left`` has start times of steps by NumPy."""
        if journal is not None:
            journal.restore(run)

        def solution() -> Solution:
            return solution_of(
                self.mechanism,
                self.stepper.accounts,
                run.recorder,
                anchors=self.initial.anchors,
                history=run.start.history,
                weight=work_of_weights(self.checked),
                events=run.watch.occurrences(),
                observer=run.observer,
                loops=self.loops,
                steps_by=self.steps_by + left_to_numpy(left),
            )

        messages = Messages(
            StepFailed,
            lambda error, tried: self._explained(run, error, error.span or tried),
            lambda error: explain_control(run, error),
        )
        bar = progress_bar(len(self.grid) - 1, shown=self.options.progress, done=run.reached)
        done: Solution = follow(run, steps, solution, messages, bar=bar, journal=journal)
        warn_of_doubts(done, run.longest or self.stepper.longest * float(np.diff(self.grid).max()))
        reached = self.grid[
            : 0 if isinstance(self.stepper, PairStepper) else np.searchsorted(self.grid, done.times[-1]) + 1
        ]
        if told := long_drives(self.mechanism, self.initial.anchors, reached):
            warn(told, ValidityWarning)
        if self._is_one and moves_from_rest(done):
            warn(
                f"the motion from rest over {float(np.ptp(self.grid)):.3g} s was one step: {ONE_STEP}", ValidityWarning
            )
        return done


def _signature(
    mechanism: Mechanism, start: State, grid: Array, *, table: TimeTable, forcing: Forcing, steps_by: str, **told: Any
) -> Signature:
    """Signature that identifies the run: drives and loads at sample times, and the kind of loops."""
    known = [start.x, start.anchors.rows, start.anchors.springs, start.memory, *numbers_in(start.controllers)]
    probe = lambda time: [*table.at(time), forcing.at(time)]  # noqa: E731
    own = signature_of(mechanism_signature(mechanism), known, grid, probe=probe, **told)
    return {**own, "steps by": steps_by}
