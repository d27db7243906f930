"""Run of a mechanism: steps from each time to the next, events in between, early ends, and its solution."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..control.control_loops import ControlLoops
from ..control.state_feedback import InvalidFeedbackError
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.consistency import Checked, resolution, shortest_step, work_of_weights
from ..mechanisms.model.references import controlled_factors
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import table_of
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from ..results.ledger import Ledger, make_ledger
from ..results.result import Occurrences
from ..results.signature import mechanism_signature
from ..results.solution import Solution
from ..results.state_view import MechanismView
from ..results.validity import long_drive_warning, long_drives, moves_from_rest, warn_of_doubts
from ..systems.inputs import Forcing
from ..systems.nonlinear import ValidityWarning
from .blocks.in_blocks import blocks_of, controlled_in_blocks, in_blocks
from .blocks.pairs import PairBlocks
from .controllers import loops_of
from .methods.method import MechanismMethod
from .schemes.failures import GENERAL, ONE_STEP, explain, explain_control, huge_inputs
from .schemes.of_method import scheme_from
from .schemes.scheme import StepStart
from .times.controlled_runs import ControlledForcing, one_by_one
from .times.events import ContinuedWatch, Observer
from .times.journal import Journal, StartForm, opened
from .times.loop import Entry, Messages, Run, follow, progress_bar
from .times.options import RunOptions, ascending_from
from .times.recorder import COUNTS, Column, Recorder
from .times.signature import Signature, numbers_in, signature_of
from .times.step_control import controlled
from .times.step_size import StepSizeControl
from .with_controllers.coupled_steps import CoupledPairs, stepper_with_controllers
from .with_controllers.sampled_steps import in_chunks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..control.coupled_controllers import CoupledControllers
    from ..mechanisms.mechanism import Mechanism
    from ..mechanisms.model.time_table import Anchors
    from ..systems.piecewise import Recorded
    from .blocks.block_stepper import BlockStepper
    from .schemes.scheme import Scheme


def run_mechanism(
    mechanism: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: MechanismMethod,
    options: RunOptions,
) -> Solution:
    """Integrate a mechanism by a method of mechanisms.

    The arguments are those of :func:`flexph.integrate`.
    """
    if not isinstance(start, State):
        raise ValueError(f"start must be a State, see mechanism.consistent_state(pose), got {type(start).__name__}")
    forcing = Forcing(mechanism.network.input_slices, options.inputs, mechanism.layout.dim)
    loops = loops_of(mechanism, start, method, options.controllers) if options.controllers else None
    if loops is not None:
        forcing = ControlledForcing(forcing, loops)
    scheme, checked = scheme_from(mechanism, start, method, forcing)
    grid = ascending_from(start.time, times, shortest_step(checked))
    signature = partial(_signature, mechanism, scheme, grid, method=method, options=options)
    return _Task(mechanism, scheme, checked, grid, options, signature, loops).done()


class _Task(NamedTuple):
    """Task of a run: to take the steps of a scheme from each time of ``grid`` to the next.

    ``checked`` has the start after its check, with derived quantities; ``signature`` returns texts that identify the
    run, for checkpoints.
    """

    mechanism: Mechanism
    scheme: Scheme
    checked: Checked
    grid: Array
    options: RunOptions
    signature: Callable[[], Signature]
    loops: ControlLoops | None

    def done(self) -> Solution:
        """Take the steps of the run, in blocks if possible, and return the solution."""
        blocks = blocks_of(self.scheme)
        run = self._run(blocks.start(self.initial))
        with self._opened(lambda kept: blocks.put(self._start(kept))) as journal:
            return self._followed(run, self._entries(run, blocks), journal)

    @property
    def initial(self) -> State:
        """State at the start of the run."""
        return self.scheme.problem.start

    def _entries(self, run: Run, blocks: BlockStepper) -> Iterator[Entry]:
        """Take the steps of the run; yield the accepted ones singly, or many at once as chunks or blocks."""
        every, estimate = self.options.save_every, blocks.estimate
        if self.options.segments is not None:
            entries: Iterator[Entry] = self.options.segments.entries(run, blocks, self.grid)
            return entries
        if self.loops is not None:
            if estimate is not None:
                pairs = CoupledPairs(blocks, self.loops, estimate)
                if self._in_loops(run, blocks) and not self.loops.is_driven:
                    by = partial(controlled_in_blocks, estimate=pairs, loops=self.loops)
                    return self._controlled(run, blocks, by)
                return self._controlled(run, pairs, partial(controlled, memory=self.loops))
            if run.watch.active or self.mechanism.once(controlled_factors):
                return one_by_one(run, blocks, self.loops, self.grid, every, held_by=stepper_with_controllers)
            return in_chunks(run, blocks, self.loops, self.grid, every)
        if estimate is None:
            return in_blocks(run, blocks, self.grid, every)
        if self._in_loops(run, blocks):
            return self._controlled(run, blocks, controlled_in_blocks)
        return self._controlled(run, estimate)

    def _in_loops(self, run: Run, blocks: BlockStepper) -> bool:
        """True if the compiled loops can take pairs of steps and choose their lengths by the error.

        They cannot if events are watched for or prescribed quantities must be evaluated in Python.
        """
        return isinstance(blocks, PairBlocks) and not run.watch.active and blocks.table_of(self.grid) is not None

    def _controlled(self, run: Run, pairs: Any, by: Callable[..., Iterator[Entry]] = controlled) -> Iterator[Entry]:
        known = run.start.history[-1:, -1]
        control = StepSizeControl.of(self.grid, float(np.abs(known).max(initial=0.0)) or math.inf)
        return by(run, pairs, control, self.grid, self.options.save_every)

    def _huge_inputs(self, run: Run, span: tuple[float, float]) -> str:
        """Text on extreme inputs in the middle of a time span, which may have made its step fail; empty without any."""
        time, ports = 0.5 * sum(span), self.mechanism.network.input_slices
        values = self.scheme.forcing.at(time)
        if self.loops is None:
            return huge_inputs(ports, values, {})
        for c in () if self.loops.coupled is None else self.loops.coupled.feedback:
            with suppress(InvalidFeedbackError):
                values[c.entries] += c.answer(time, c.read(run.start.x, c.near)[0])
        return huge_inputs(ports, values, self.loops.ports)

    def _explained(self, run: Run, error: StepFailed, span: tuple[float, float]) -> str:
        """Message for a step over the times ``span`` that could not be solved."""
        table = table_of(self.mechanism, self.initial.anchors)
        cure = long_drive_warning(self.mechanism, table, span) or (
            f"{ONE_STEP}; else {GENERAL}" if self._is_one else ""
        )
        return explain(run, error, span, self._huge_inputs(run, span), cure=cure or GENERAL)

    @property
    def _is_one(self) -> bool:
        """True if the whole run is one prescribed step."""
        return len(self.grid) == 2 and self.scheme.tolerance is None

    def _opened(self, unpack: Callable[[Any], StepStart]) -> AbstractContextManager[Journal | None]:
        """Context whose value is the journal of the checkpoint of the run, or None without a checkpoint.

        The journal stores time, flat state and history at the start of a step; ``unpack`` converts these to the start
        of a step.
        """
        if self.options.checkpoint is None:
            return nullcontext()
        form = StartForm(lambda start: (start.time, start.x, start.history), unpack)
        return opened(self.options.checkpoint, self.signature, form)

    def _start(self, kept: Any) -> StepStart:
        time, x, history = kept
        return self.scheme.start(State(time, x, self.initial.multipliers, self.initial.anchors, history))

    def _run(self, start: StepStart) -> Run:
        expected = (len(self.grid) - 1) // self.options.save_every + 1
        view = partial(MechanismView, self.mechanism)
        watch = ContinuedWatch(self.options.events, start.time, start.x, view)
        observer = Observer(self.options.observe, view, start=(start.time, start.x))
        recorder = recorder_of(self.scheme.accounts, start, expected, self.options.folder, self.loops)
        run = Run(recorder, watch, start, observer=observer)
        if self.options.follower is not None:
            run.follower = self.options.follower.of(self.mechanism, self.scheme.accounts)
        return run

    def _followed(self, run: Run, steps: Iterator[Entry], journal: Journal | None) -> Solution:
        """Consume the steps with a progress bar and the journal; return the solution and warn of doubtful results."""
        if journal is not None:
            journal.restore(run)

        def solution() -> Solution:
            return solution_of(
                self.mechanism,
                self.scheme.accounts,
                run.recorder,
                anchors=self.initial.anchors,
                history=run.start.history,
                weight=work_of_weights(self.checked),
                events=run.watch.occurrences(),
                observer=run.observer,
                loops=self.loops,
                sliders=None if self.options.follower is None else self.options.follower.sliders.record,
            )

        messages = Messages(
            StepFailed,
            lambda error, tried: self._explained(run, error, error.span or tried),
            lambda error: explain_control(run, error),
        )
        bar = progress_bar(len(self.grid) - 1, shown=self.options.progress, done=run.reached)
        done: Solution = follow(run, steps, solution, messages, bar=bar, journal=journal)
        warn_of_doubts(done, run.longest or self.scheme.longest * float((self.grid[1:] - self.grid[:-1]).max()))
        if self.scheme.tolerance is None and self.scheme.table.varies:
            reached = self.grid[: np.searchsorted(self.grid, done.times[-1]) + 1]
            if warning := long_drives(self.mechanism, self.initial.anchors, reached):
                warn(warning, ValidityWarning)
        if self._is_one and moves_from_rest(done):
            warn(
                f"the motion from rest over {float(np.ptp(self.grid)):.3g} s was one step: {ONE_STEP}", ValidityWarning
            )
        return done


def _signature(mechanism: Mechanism, scheme: Scheme, grid: Array, **options: Any) -> Signature:
    """Signature that identifies the run by mechanism, start, times, and values of drives and loads at sample times."""
    start, table = scheme.problem.start, scheme.table
    known = [start.x, start.anchors.rows, start.anchors.springs, start.memory, *numbers_in(start.controllers)]
    probe = lambda time: [*table.at(time), scheme.forcing.at(time)]  # noqa: E731
    return signature_of(mechanism_signature(mechanism), known, grid, probe=probe, **options)


def _columns(accounts: Accounts) -> dict[str, Column]:
    """Columns of the recorder of a run without controllers, by name: width, and how steps merge into a row."""
    g = accounts.mechanism.layout.multipliers
    columns = {
        "time": Column(1, "last"),
        "middle": Column(1, "last"),
        "state": Column(accounts.mechanism.layout.size, "last"),
        "energy": Column(len(accounts.energy), "last"),
        "multipliers": Column(g, "last"),
        "stage": Column(g, "last"),
        "flows": Column(accounts.flow_count, "sum"),
        "residuals": Column(4, "largest"),
        "counts": COUNTS,
    }
    return columns | ({"complementarity": Column(1, "largest")} if accounts.has_contact_laws else {})


def recorder_of(
    accounts: Accounts, start: StepStart, expected: int, folder: Path | None, loops: ControlLoops | None = None
) -> Recorder:
    """Recorder for the steps of a run of a mechanism, with a column for each quantity and the start as first row.

    ``expected`` is the number of rows to make room for, ``folder`` the place of rows in files, None for memory.
    """
    columns = dict(accounts.once(_columns))
    if loops is not None:
        columns["held"] = Column(loops.held.size, "last")
    first = {"time": start.time, "state": start.x, "energy": start.energy}
    if loops is not None and loops.coupled is not None:
        energies, flows, work = loops.coupled.widths
        columns["controller_energy"] = Column(energies, "last")
        columns["controller_flows"], columns["controller_work"] = Column(flows, "sum"), Column(work, "sum")
        columns["controller_held"] = Column(loops.coupled.held.size, "last")
        first["controller_energy"] = loops.coupled.energy
        first["controller_state"] = np.concatenate([np.zeros(0), *loops.coupled.states])
        columns["controller_state"] = Column(sum(x.size for x in loops.coupled.states), "last")
    return Recorder(columns, first, expected, folder=folder)


def solution_of(
    mechanism: Mechanism,
    accounts: Accounts,
    recorder: Recorder,
    *,
    anchors: Anchors,
    history: Array,
    events: Mapping[str, Occurrences],
    weight: float | None = None,
    observer: Observer | None = None,
    loops: ControlLoops | None = None,
    sliders: Mapping[str, Recorded] | None = None,
) -> Solution:
    """Solution with the recorded steps of a run.

    ``history`` are the rows of the last steps, with which another run continues. ``weight`` is the work of gravity over
    a height of the extent of the mechanism [J] (see :class:`Resolution`), if it is already computed.
    """
    rows = recorder.rows()
    times, states, counts = rows["time"][:, 0], rows["state"], rows["counts"][1:]
    audit = [*rows["residuals"][1:].T, *counts.T]
    resolved = resolution(mechanism, states, (times[1:] - times[:-1]) / counts[:, 1], weight=weight)
    ledger = make_ledger(accounts, rows["energy"], rows["flows"][1:], audit, resolution=resolved)
    if loops is not None:
        ledger = ledger if loops.coupled is None else _with_controllers(ledger, loops.coupled, rows)
        ledger = replace(ledger, controllers={**_work_by_controller(ledger, loops), **ledger.controllers})
    if "complementarity" in rows:
        ledger = replace(ledger, complementarity_residual=rows["complementarity"][1:, 0])
    return Solution(
        mechanism=mechanism,
        times=times,
        states=states,
        multiplier_times=rows["middle"][1:, 0],
        multipliers=rows["multipliers"][1:],
        stage_multipliers=rows["stage"][1:],
        ledger=ledger,
        anchors=anchors,
        memory=history,
        events=events,
        controls={} if loops is None else _held_inputs(mechanism, loops, rows),
        sliders=sliders or {},
        observations=np.zeros(0) if observer is None else observer.observations(len(times)),
        controller_states={} if loops is None or loops.coupled is None else _controller_states(loops.coupled, rows),
        controller_memories={} if loops is None else loops.memories(),
    )


def _work_by_controller(ledger: Ledger, loops: ControlLoops) -> dict[str, Array]:
    """Work of each controller in each step [J], by name: the sum over the ports that it sets."""
    none = np.zeros(len(ledger.residual))
    return {name: sum((ledger.work[port] for port in ports), none) for name, ports in loops.ports.items()}


def _with_controllers(ledger: Ledger, coupled: CoupledControllers, rows: Mapping[str, Array]) -> Ledger:
    """Add the energies, work and losses of continuous controllers to the ledger of the mechanism.

    Energy that the mechanism and a controller exchange is removed from the external work.
    """
    energy, flows, given = rows["controller_energy"].T, rows["controller_flows"][1:].T, rows["controller_work"][1:].T
    work, controllers, dissipation = dict(ledger.work), dict(ledger.controllers), dict(ledger.dissipation)
    works, accounts = iter(given), iter(flows)
    for c in coupled.controllers:
        dissipation[c.name] = next(accounts)
        work |= {f"{c.name}: {port}": next(accounts) for port in c.outside}
        controllers[c.name] = np.zeros(len(ledger.residual))
        for port in c.given.ports.values():
            done = next(works)
            work[port] = work[port] - done
            controllers[c.name] = controllers[c.name] + done
    stored = {f"stored {c.name}": stored_energy for c, stored_energy in zip(coupled.controllers, energy, strict=True)}
    return replace(
        ledger, energy={**ledger.energy, **stored}, work=work, controllers=controllers, dissipation=dissipation
    )


def _controller_states(coupled: CoupledControllers, rows: Mapping[str, Array]) -> dict[str, Array]:
    """States of each continuous controller, (k, n) at the k saved times, by name."""
    ends = np.cumsum([0, *(x.size for x in coupled.states)]).tolist()
    spans = zip(coupled.controllers, ends[:-1], ends[1:], strict=True)
    return {c.name: rows["controller_state"][:, first:last].copy() for c, first, last in spans}


def _held_inputs(mechanism: Mechanism, loops: ControlLoops, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Inputs that controllers set, by port, as held in each step (k, …).

    A port is one of the mechanism, or a free port of a continuous controller that another controller sets; such a port
    has a name as ``controller: port``.
    """
    slices, ports = mechanism.network.input_slices, [port for ports in loops.ports.values() for port in ports]
    if loops.coupled is not None:
        ports += [port for c in loops.coupled.controllers for port in c.given.ports.values()]
    held = {port: rows["held"][1:, slices[port]].copy() for port in ports if port in slices}
    if loops.coupled is None:
        return held
    ends = np.cumsum([0, *(c.size for c in loops.coupled.controllers)])
    for c, first in zip(loops.coupled.controllers, ends[:-1].tolist(), strict=True):
        for port in c.free:
            if (name := f"{c.name}: {port}") in ports:
                part = c.given.system.ports[port]
                held[name] = rows["controller_held"][1:, first + part.start : first + part.stop].copy()
    return held
