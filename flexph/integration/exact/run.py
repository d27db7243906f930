"""The run of a mechanism: steps from each time to the next, events in between, and what ends it early."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...control.control_loops import Controller, ControlLoops
from ...control.joined import Joined
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import Checked
from ...mechanisms.model.state import State
from ...mechanisms.model.time_table import TimeTable
from ...mechanisms.poses.resolution import shortest_step, work_of_weights
from ...numerics.arrays import Array
from ...numerics.compiling import timed
from ...numerics.step_failed import MotionEnded, StepFailed
from ...results.signature import mechanism_signature
from ...results.solution import Solution
from ...results.state_view import MechanismView
from ...results.validity import warn_of_doubts
from ...systems.inputs import Forcing
from ..compiled.choice import LOOPS, SHORT, may_be_short, numpy_because
from ..methods import Exact, MechanismMethod
from ..times.events import ContinuedWatch
from ..times.grid import ascending_from, refuse_short
from ..times.journal import Journal, StartForm, kept_signature, opened
from ..times.loop import Messages, Run, follow, prescribed, progress_bar
from ..times.observer import Observer
from ..times.options import RunOptions
from ..times.protocols import Entry
from ..times.sampled import ControlledForcing, one_by_one
from ..times.signature import Signature, numbers_in, signature_of
from ..times.step_control import controlled
from ..times.step_size import StepControlFailed, StepSizeControl
from .pairs_of_steps import PairStepper
from .record import recorder_of, solution_of
from .step import Stepper, StepStart
from .steppers import StepsOf, refuse_large, stepper_from, stepper_of

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism
    from .compiled_run import BlockStepper

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
    blocks, steps_by = _compiled(mechanism, method, stepper, (grid, options), blocks_of)
    task = _Task(mechanism, start, checked, stepper, grid, options, signature, steps_by, loops)
    if blocks is not None:
        return task.in_blocks(blocks)
    refuse_large(stepper)
    with timed("runs of mechanisms"):
        return task.step_by_step()


def _compiled(
    mechanism: Mechanism,
    method: MechanismMethod,
    stepper: Stepper,
    asked: tuple[Array, RunOptions],
    blocks_of: BlocksOf | None,
) -> tuple[BlockStepper | None, str]:
    """The compiled loops of a run, None where NumPy takes its steps, and what takes them in words.

    A run that is kept goes on as it began, so that its bits do not depend on what was compiled meanwhile.
    """
    if reason := numpy_because(mechanism, method):
        return None, f"NumPy, as {reason}"
    if blocks_of is None:
        from .block_steppers import blocks_of as blocks_alone

        blocks_of = blocks_alone
    (grid, options), blocks = asked, blocks_of(mechanism, stepper)
    kept = kept_signature(options.checkpoint).get("steps by")
    is_short = may_be_short(mechanism, method, blocks.cost * (grid.size - 1)) and not blocks.compiled.is_compiled()
    return (None, SHORT) if (is_short if kept is None else kept == SHORT) else (blocks, LOOPS)


def loops_of(
    mechanism: Mechanism, start: State, method: MechanismMethod, controllers: Mapping[str, Controller]
) -> ControlLoops | None:
    """The controllers of a run, or None; raises ValueError for methods and mechanisms that they are not for."""
    if not controllers:
        return None
    if method.tolerance is not None:
        raise ValueError(f"controllers need steps that are given, got {method}: leave its tolerance out")
    loops = ControlLoops(mechanism, controllers, start)
    if loops.joined is not None:
        _check_joined(mechanism, loops.joined, method)
        fastest = float(np.abs(start.x[mechanism.layout.parts_of_motion]).max(initial=0.0))
        loops.joined.check_starts(start.x, start.time, fastest)
    return loops


def _check_joined(mechanism: Mechanism, joined: Joined, method: MechanismMethod) -> None:
    """Raise ValueError where controllers within the step cannot be, or share the name of an account."""
    if not isinstance(method, Exact):
        told = "a Continuous or StateFeedback is solved within the steps of Exact()"
        raise ValueError(f"{told}, got {method}: take Exact(), or a Sampled, which is called between steps")
    if mechanism.network.arrays.contacts.laws.rigid.any():
        told = "a Continuous or StateFeedback is not for mechanisms with rigid contacts"
        raise ValueError(f"{told}: take a Sampled, which is called between steps")
    if mechanism.network.arrays.bearings.number:
        told = "a Continuous or StateFeedback is not for mechanisms with CoulombFriction of joints"
        raise ValueError(f"{told}: take a Sampled, which is called between steps")
    accounts = mechanism.once(Accounts)
    for controller in joined.controllers:
        if controller.name in accounts.dissipation or f"stored {controller.name}" in accounts.energy:
            raise ValueError(f"controller {controller.name!r} must not be called as an element of the mechanism is")


class _Task(NamedTuple):
    """What is to be run: a mechanism from a start, by a stepper, through the times of a grid."""

    mechanism: Mechanism
    initial: State
    checked: Checked
    stepper: Stepper
    grid: Array
    options: RunOptions
    signature: Callable[..., Signature]
    steps_by: str
    loops: ControlLoops | None = None

    def in_blocks(self, blocks: BlockStepper) -> Solution:
        """A run in compiled blocks of steps."""
        run = self._run(blocks.start(self.initial))
        with self._opened(lambda kept: blocks.put(self._start(kept))) as journal:
            return self._followed(run, self._entries(run, blocks), journal)

    def _entries(self, run: Run, blocks: BlockStepper) -> Iterator[Entry]:
        """Compiled steps: chosen by their error, one by one or in chunks where control loops sample, or in blocks."""
        from .block_steppers import PairBlocks, controlled_in_blocks
        from .compiled_run import in_blocks, in_chunks

        every = self.options.save_every
        if self.loops is not None:
            source = one_by_one if run.watch.active else in_chunks
            return source(run, blocks, self.loops, self.grid, every)
        if isinstance(blocks, PairBlocks):
            chosen_in_loops = not run.watch.active and blocks.table_of(self.grid) is not None
            return self._controlled(run, blocks, controlled_in_blocks if chosen_in_loops else controlled)
        return in_blocks(run, blocks, self.grid, every)

    def step_by_step(self) -> Solution:
        """A run of single steps, prescribed or chosen by their error."""
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

    def _opened(self, unpack: Callable[[Any], StepStart]) -> AbstractContextManager[Journal | None]:
        """The journal of the checkpoint of the run; of a start it keeps what :attr:`Solution.final` has of it."""
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

    def _followed(self, run: Run, steps: Iterator[Entry], journal: Journal | None) -> Solution:
        """The solution of all steps, with the doubts that it raises."""
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
                steps_by=self.steps_by,
            )

        messages = Messages(
            StepFailed,
            lambda error, tried: _explain(run, error, error.span or tried),
            lambda error: _explain_control(run, error),
        )
        bar = progress_bar(len(self.grid) - 1, shown=self.options.progress, done=run.reached)
        done: Solution = follow(run, steps, solution, messages, bar=bar, journal=journal)
        warn_of_doubts(done, run.longest or self.stepper.longest * float(np.diff(self.grid).max()), level=4)
        return done


def _signature(
    mechanism: Mechanism, start: State, grid: Array, *, table: TimeTable, forcing: Forcing, steps_by: str, **told: Any
) -> Signature:
    """What tells the run from another, drives and loads at some times and what takes the steps among it."""
    known = [start.x, start.anchors.rows, start.anchors.springs, start.memory, *numbers_in(start.controllers)]
    probe = lambda time: [*table.at(time), forcing.at(time)]  # noqa: E731
    own = signature_of(mechanism_signature(mechanism), known, grid, probe=probe, **told)
    return {**own, "steps by": steps_by}


def explain_step(error: StepFailed, span: tuple[float, float]) -> str:
    """Which step could not be solved or to what the motion came, why, and what to do."""
    t0, t1 = span
    if isinstance(error, MotionEnded):
        return f"{error} at about t = {t0 + error.share * (t1 - t0):.6g} s: {error.advice}"
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved: {error} after "
        f"{error.iterations} iterations, last correction {error.defect:.1e} of the motion; try a smaller step, check "
        "the drives, loads and inputs of controllers at this time, and look for a singular pose or redundant joints"
    )


def _explain(run: Run, error: StepFailed, span: tuple[float, float]) -> str:
    return f"{explain_step(error, span)}. {run.count} steps before it are finished and kept in .solution"


def _explain_control(run: Run, error: StepControlFailed) -> str:
    return (
        f"{error} at t = {error.time:.6g} s; where a drive, load or event lets velocities jump, end the run and begin "
        "another, else look for a singular pose or raise the tolerance. "
        f"{run.count} steps before it are finished and kept in .solution"
    )
