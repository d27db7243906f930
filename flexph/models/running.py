"""Runs of model files and their result files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from flexph.contacts.starts import refuse_overlaps
from flexph.exchange.load_steps import write_load_steps
from flexph.export.series import write_series
from flexph.export.tables import write_ledger, write_table
from flexph.integration.changed_run import plan_of
from flexph.integration.integrate import integrate
from flexph.integration.inverse_dynamics import (
    InverseDynamics,
    driven_mechanism,
    driven_start,
    inverse_dynamics,
)
from flexph.integration.methods.exact import Exact
from flexph.integration.methods.method import MechanismMethod
from flexph.integration.schemes.of_method import scheme_from
from flexph.kernels.state import derive
from flexph.mechanisms.mechanism import Mechanism
from flexph.mechanisms.model.accounts import Accounts
from flexph.mechanisms.model.state import Pose, State, configuration
from flexph.numerics.arrays import Array
from flexph.results.solution import Solution
from flexph.results.statics import static_solution
from flexph.systems.inputs import Forcing

from .measures import number_of
from .outputs import table_of
from .schema.entry import Builder
from .schema.functions import refuse_undefined
from .schema.runs import (
    Equilibrium,
    Frequencies,
    Integrate,
    InverseDynamicsRun,
    Outputs,
    Start,
    TimedRun,
    inputs_of,
    motion_of,
)


class RunOfFile(ABC):
    """Result of a run of a model file."""

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """Summary numbers of the run by name, for its summary file and for studies."""

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write the results into an empty folder."""


@dataclass(frozen=True)
class RunInTime(RunOfFile):
    """Result of a run in time, or of an equilibrium, which has a single instant.

    ``solution`` has its states, as :func:`flexph.integrate` returns them.
    """

    solution: Any
    outputs: Outputs
    inputs: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def figures(self) -> dict[str, Any]:
        """Summary numbers: measures of the run, number of saved times, and largest residual of the energy balance.

        The residual is relative to :attr:`flexph.results.Ledger.scale`. For an equilibrium there are measures only.
        """
        ledger = self.solution.ledger
        measures = {name: number_of(self.solution, measure) for name, measure in self.outputs.measures.items()}
        if len(self.solution.times) > 1:
            measures |= {
                "instants": len(self.solution.times),
                "energy_residual_max_rel": float(ledger.largest_residual),
            }
        return measures

    def write(self, folder: Path) -> None:
        """Write the run, its energy balance, tables, loads on bodies, and files of the moving bodies for viewers."""
        self.solution.save(folder / "solution.h5")
        if len(self.solution.times) > 1:
            write_ledger(folder / "ledger.csv", self.solution)
        for name, columns in self.outputs.tables.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_table(folder / name, table_of(self.solution, columns))
        if self.outputs.series and isinstance(self.solution, Solution):
            write_series(folder / self.outputs.series, self.solution, bodies=self.outputs.bodies)
        for name, loads in self.outputs.loads.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_load_steps(folder / name, self.solution, loads.body, at=loads.at, inputs=self.inputs)


@dataclass(frozen=True)
class InverseRun(RunInTime):
    """Result of inverse dynamics: run, and the forces at ports that cause it; see :func:`flexph.inverse_dynamics`."""

    dynamics: InverseDynamics

    def figures(self) -> dict[str, Any]:
        """Summary numbers: measures of the run, and the largest force at each port."""
        largest = {f"largest {name}": float(np.abs(force).max()) for name, force in self.dynamics.forces.items()}
        return super().figures() | largest

    def write(self, folder: Path) -> None:
        """Write the run, and a table of the forces."""
        super().write(folder)
        columns = {"t [s]": self.solution.multiplier_times}
        for name, force in self.dynamics.forces.items():
            columns |= {f"{name} {k}" if force.shape[1] > 1 else name: force[:, k] for k in range(force.shape[1])}
        write_table(folder / "forces.csv", columns)


@dataclass(frozen=True)
class FrequencyRun(RunOfFile):
    """Result with the eigenfrequencies of a mechanism, (poses, count) [rad/s]."""

    frequencies: Array

    def figures(self) -> dict[str, Any]:
        """Summary numbers ``omega1_rad_s``, … [rad/s]: a frequency each, or a list of its values at several poses."""
        columns = self.frequencies.T
        return {f"omega{i + 1}_rad_s": float(c[0]) if len(c) == 1 else c.tolist() for i, c in enumerate(columns)}

    def write(self, folder: Path) -> None:
        """Write a table of the frequencies."""
        columns = {f"omega{i + 1} [rad/s]": column for i, column in enumerate(self.frequencies.T)}
        write_table(folder / "frequencies.csv", {"pose": np.arange(len(self.frequencies)), **columns})


def times_of(run: TimedRun, start: float) -> Array:
    """Times (k,) [s] of a run that begins at ``start`` [s]: the listed ones, or those of equal steps."""
    if run.times is not None:
        return np.array(run.times)
    return np.linspace(start, run.end, run.steps + 1)


def integrate_run(
    mechanism: Mechanism, run: Integrate, start: State, builder: Builder, *, progress: bool, live: bool = False
) -> RunInTime:
    """Compute a run in time from the state ``start``.

    ``live``: True to show it in a page of the browser. Raises Misfit, and the errors of ``integrate`` once the run has
    begun.
    """
    method, inputs = builder.of(run.method, "method"), inputs_of(run, builder)
    solution = integrate(
        mechanism,
        start,
        times_of(run, start.time),
        method=method,
        inputs=inputs,
        controllers=builder.of(run.controllers, "controllers"),
        changes=builder.of(run.changes, "changes") or None,
        save_every=run.save_every,
        progress=progress,
        live=_live_of(run, builder) if live else False,
    )
    return RunInTime(solution, run.outputs, inputs=inputs)


def _live_of(run: Integrate, builder: Builder) -> Any:
    """Live view of a run from its entry ``live``, with the section ``dials`` of the file: parameters with sliders."""
    from flexph.view.live.live import Live

    dials = {name: builder.named("dials", name) for name in builder.sections.get("dials", ())}
    return replace(builder.of(run.live, "live") or Live(), dials=dials)


def check_begin(mechanism: Mechanism, run: Integrate, start: State, builder: Builder, place: Builder) -> None:
    """Raise Misfit if the run ``run`` of a mechanism could not begin at the state ``start``.

    The reason may be the method, inputs, live view or changes of the run, or a penetration at the start, which is
    reported at ``place``, the position of the start entry in the file. Only runs by a MechanismMethod are checked.
    """
    method = builder.of(run.method, "method") or Exact()
    if not isinstance(method, MechanismMethod):
        return
    arrays, c = mechanism.network.arrays, configuration(mechanism, start.x)
    with place.refusals():
        refuse_overlaps(arrays, (c, derive(arrays, c)), mechanism.once(Accounts).gap_name)
    forcing = Forcing(mechanism.network.input_slices, inputs_of(run, builder), mechanism.layout.dim)
    with builder.refusals():
        scheme_from(mechanism, start, method, forcing)
    if run.live is not None:
        live = _live_of(run, builder)
        with builder.at("live").refusals():
            live.sliders_of(mechanism, inputs_of(run, builder), start.time)
    if run.changes:
        with builder.at("changes").refusals():
            plan_of(mechanism, builder.of(run.changes, "changes"), times_of(run, start.time))


def check_inputs(mechanism: Mechanism, run: Any, begin: float, builder: Builder) -> None:
    """Raise Misfit for inputs of the wrong size, or without a value in the first or last step.

    A run in time begins at ``begin`` [s]; for any other run the inputs must have a value at ``begin``.
    """
    times = times_of(run, begin) if isinstance(run, TimedRun) else np.full(2, begin)
    with builder.refusals(run):
        forcing = Forcing(mechanism.network.input_slices, inputs_of(run, builder), mechanism.layout.dim)
        for first, last in (times[:2], times[-2:]):
            forcing.at(float(0.5 * (first + last)))


def check_motion(mechanism: Mechanism, run: InverseDynamicsRun, pose: Pose, builder: Builder) -> None:
    """Raise Misfit if the motion of inverse dynamics has the wrong size, or no value at the end of the run.

    Misfit is also raised if the motion cannot start from the pose.
    """
    begin = 0.0 if run.start is None else run.start.time
    elastic = "undeformed" if run.start is None else run.start.elastic
    motion = motion_of(run, builder)
    for name, function in motion.items():
        with builder.at("motion", name).refusals():
            refuse_undefined(function, float(times_of(run, begin)[-1]), "the end")
    with builder.refusals(run):
        driven_start(driven_mechanism(mechanism, motion), pose, time=begin, elastic=elastic, joints="free")


def invert_run(mechanism: Mechanism, run: InverseDynamicsRun, pose: Pose, builder: Builder, start: Start) -> InverseRun:
    """Compute inverse dynamics from a pose.

    Initial deformations, and velocities that the motion does not determine, are those of the entry ``start``. Raises
    Misfit, and the errors of ``integrate`` once the run has begun.
    """
    motion, method, inputs = motion_of(run, builder), builder.of(run.method, "method"), inputs_of(run, builder)
    begin = 0.0 if run.start is None else run.start.time
    with builder.refusals(run):
        dynamics = inverse_dynamics(
            mechanism,
            motion,
            pose,
            times_of(run, begin),
            inputs=inputs,
            elastic=start.elastic,
            joints=start.joints,
            method=method,
        )
    return InverseRun(dynamics.run, run.outputs, dynamics, inputs=inputs)


def equilibrium_run(mechanism: Mechanism, run: Equilibrium, pose: Pose, builder: Builder) -> RunInTime:
    """Compute an equilibrium near a pose. Raises Misfit."""
    inputs = inputs_of(run, builder)
    with builder.refusals(run):
        state = mechanism.equilibrium(pose, inputs=inputs, spin=run.spin, about=run.about, redundant=run.redundant)
    return RunInTime(static_solution(mechanism, state), run.outputs, inputs=inputs)


def frequencies_of(mechanism: Mechanism, run: Frequencies, poses: Sequence[Pose], builder: Builder) -> FrequencyRun:
    """Compute the lowest eigenfrequencies at each of the poses. Raises Misfit."""
    with builder.refusals(run):
        return FrequencyRun(mechanism.eigenfrequencies(poses, run.count))
