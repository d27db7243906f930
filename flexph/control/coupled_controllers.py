"""Coupling of controllers and mechanism within the steps of a run, and the rows that it records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from .continuous import Continuous
from .continuous_loop import ContinuousLoop, check_start
from .laws import Line
from .loops.tolerances import CLOSED, MOST, SHIFT, SINGULAR, STAGNATED
from .state_feedback import FeedbackLoop, StateFeedback
from .trial_steps import PortOutputs, Take, TrialStep, TrialSteps, outputs_at


class ControllersStep(NamedTuple):
    """Result of one step of all controllers that act within steps.

    ``states`` and ``energy`` are the states and energies of the controllers at the end of the step. ``inputs`` (q,) are
    the inputs that controllers apply to the mechanism, ``forces`` the forces of laws at ports of controllers, ``held``
    (i,) the inputs of all ports of the mechanism, and ``own_held`` the inputs that other controllers hold at free
    ports. ``flows`` [J] has for each controller its dissipation, then the work of external inputs at each of its ports.
    ``given`` [J] is the work of controllers on the mechanism by port. ``error`` is the share of controllers in the
    balance error [J]. ``near`` are the last values of the sensors, from which angle unwrapping continues.
    """

    states: list[Array]
    energy: Array
    inputs: Array
    forces: Array
    held: Array
    own_held: Array
    flows: Array
    given: Array
    error: float
    near: list[list[float]]

    def row(self) -> dict[str, Array]:
        """Values that the run records for the step, by name."""
        energy = {"controller_energy": self.energy, "controller_state": _concatenated(self.states)}
        flows = {"controller_flows": self.flows, "controller_work": self.given}
        return {**energy, **flows, "controller_held": self.own_held}


class CompiledStep(NamedTuple):
    """Result of a step whose coupling was solved in compiled loops.

    ``values`` are recorded, ``restart`` are the data from which the controllers continue. ``held`` (i,) and ``error``
    are as in :class:`ControllersStep`.
    """

    values: dict[str, Array]
    held: Array
    error: float
    restart: Any

    def row(self) -> dict[str, Array]:
        """Values that the run records for the step, by name."""
        return self.values


class CoupledControllers:
    """Controllers that act within the steps of a run, and the solver for the inputs that couple them to the mechanism.

    The inputs u of a step equal the controllers' responses to the outputs of the mechanism under u. Broyden's method
    solves this equation and keeps its Jacobian from step to step. A trial is a step of the mechanism under constant
    inputs, so that its energy balance closes whatever residual is left in u. Laws that close ports of controllers, such
    as dry friction, hold exactly in each iteration, with the linear response of all other unknowns by the Jacobian, so
    that friction may change its sign.
    """

    def __init__(
        self, mechanism: Model, given: Mapping[str, Continuous | StateFeedback], states: Mapping[str, Any]
    ) -> None:
        controllers = {name: c for name, c in given.items() if isinstance(c, Continuous)}
        for name, continuous in controllers.items():
            for port in continuous.ports.values():
                known = mechanism.network.input_slices
                check.lookup("external port", port, known, f"controller {name!r} is joined to it; the mechanism")
        coupled = {port for c in controllers.values() for port in c.ports.values()}
        self._mechanism, self.outputs = mechanism, PortOutputs.of(mechanism, coupled)
        slices = self.outputs.slices
        self.controllers = [ContinuousLoop(name, c, mechanism, slices) for name, c in controllers.items()]
        feedback = {name: c for name, c in given.items() if isinstance(c, StateFeedback)}
        self.feedback = [FeedbackLoop(name, c, mechanism) for name, c in feedback.items()]
        for loop in self.feedback:
            loop.resume(states.get(loop.name))
        self._inputs = sum(part.stop - part.start for part in mechanism.network.input_slices.values())
        entries = [np.arange(into.start, into.stop) for c in self.controllers for _, _, into, _ in c.coupled]
        self.entries = np.concatenate([*entries, *(c.entries for c in self.feedback)])
        self.states = [c.start_from(states.get(c.name)) for c in self.controllers]
        self.laws = [law for c in self.controllers for law in c.steps.laws]
        q, m = self.entries.size, len(self.laws)
        self._past, self._scale, self._speed = np.zeros((0, q)), 0.0, 0.0
        self._slope, self._forces, self._h = np.eye(q + m, q), np.zeros(m), 0.0

    def evaluate_at(self, points: int) -> None:
        """Prepare for feedback evaluated at ``points`` points of each step; only for runs without other controllers."""
        q = points * self.entries.size
        self._past, self._slope = np.zeros((0, q)), np.eye(q)

    def check_starts(self, x: Array, time: float, fastest: float) -> None:
        """Raise ValueError if the start of a controller contradicts the velocities of its ports.

        x is the flat state of the mechanism, ``fastest`` its largest velocity. See :func:`check_start`.
        """
        output = outputs_at(self._mechanism, x)[self.outputs.among]
        for c, state in zip(self.controllers, self.states, strict=True):
            if not c.given.references:  # with references the rates at the start are unknown
                u = c.total_input(c.acting((time, time)), output)
                check_start(c.name, c.given.system, state, u, fastest=fastest)

    @property
    def energy(self) -> Array:
        """Energies of the controllers at the start of the next step [J]."""
        return self._energies(self.states)

    def _energies(self, states: list[Array]) -> Array:
        return np.array([c.steps.energy(x) for c, x in zip(self.controllers, states, strict=True)])

    @property
    def held(self) -> Array:
        """Inputs that other controllers hold at the inputs of the continuous controllers, concatenated."""
        return _concatenated([c.held for c in self.controllers])

    @property
    def outside(self) -> list[tuple[str, str]]:
        """Names of controller and port for all external inputs of continuous controllers."""
        return [(c.name, port) for c in self.controllers for port in c.outside]

    @property
    def widths(self) -> tuple[int, int, int]:
        """Lengths of ``energy``, ``flows`` and ``given`` in the :class:`ControllersStep` that a step records."""
        each = self.controllers
        return len(each), sum(1 + len(c.outside) for c in each), sum(len(c.coupled) for c in each)

    def step(
        self, x: Array, span: tuple[float, float], take: Take, *, states: Any = None
    ) -> tuple[Any, ControllersStep]:
        """Solve a coupled step; return the result of the mechanism and that of the controllers.

        x is the flat state of the mechanism at the start, ``span`` are the times of the step, ``take`` is the function
        that solves a step of the mechanism, and ``states`` are those of the controllers. Raises StepFailed.
        """
        acting, states = [c.acting(span) for c in self.controllers], self.states if states is None else states
        read = [c.read(x, c.near) for c in self.feedback]
        mechanism = self.outputs, self.at_all_ports, span, take
        trials = TrialSteps(self.controllers, self.feedback, *mechanism, acting, states, read)
        around, sizes = (trials.by_forces(self.entries.size), self._rates(trials.states)), (self._scale, self._speed)
        if abs(trials.h - self._h) <= SHIFT * trials.h:
            try:
                return self._converge(trials, *around)
            except StepFailed:
                if not self.laws:  # when friction lets go, the known effects of inputs no longer hold
                    raise
        self._scale, self._speed = sizes
        self._slope, self._h = trials.slope(self.guess(), self._forces), trials.h
        return self._converge(trials, *around)

    def _converge(self, trials: TrialSteps, by_forces: Array, rates: Array) -> tuple[Any, ControllersStep]:
        """Solve a coupled step by Newton corrections, beginning with the Jacobian of the step before.

        Returns the result of the mechanism and that of the controllers. ``by_forces`` are the derivatives of the
        defects with respect to the forces of laws, ``rates`` the rates of the ports of laws at the start. Raises
        StepFailed.
        """
        (inputs, forces), q, before, size = (self.guess(), self._forces), self.entries.size, None, np.inf
        for count in range(1, MOST + 1):
            trial = trials(inputs, forces)
            self._scale = max(self._scale, float(np.abs(trial.answers).max(initial=0.0)))
            if before is not None:
                self._update_jacobian(inputs - before[0], trial.off - before[2] - by_forces @ (forces - before[1]))
            line = self._line(trial, forces, by_forces, rates)
            self._speed = max(self._speed, float(np.abs(line.free).max(initial=0.0)))
            last, size = size, max(_relative_size(trial.off[:q], self._scale), _relative_size(line.off, self._speed))
            if size <= CLOSED or (last <= 2.0 * size and size <= STAGNATED):
                return trial.result, self._step_result((inputs, forces), trials, trial, line)
            before = inputs, forces, trial.off
            try:
                inputs, forces = self._newton_correction(trial, (inputs, forces), by_forces, line)
            except np.linalg.LinAlgError as error:
                reason = "the controllers leave their inputs undetermined: an algebraic loop of gain 1"
                raise StepFailed(reason, count, size) from error
        raise StepFailed("the coupling of mechanism and controllers did not converge", MOST, size)

    def _newton_correction(
        self, trial: TrialStep, given: tuple[Array, Array], by_forces: Array, line: Line
    ) -> tuple[Array, Array]:
        """Inputs (q,) and forces (m,) of the next trial, by a Newton correction.

        ``given`` are the inputs and forces of the last trial, ``trial`` is its result, ``line`` the response about it.
        """
        (inputs, forces), q, following = given, self.entries.size, line.forces_of(self.laws, given[1])
        off = trial.off[:q] + by_forces[:q] @ (following - forces)
        return inputs - np.linalg.solve(self._slope[:q], off), following

    def _rates(self, states: list[Array]) -> Array:
        """Rates (m,) of the ports that laws close, for given states of the controllers."""
        each = zip(self.controllers, states, strict=True)
        return np.concatenate([np.zeros(0), *(c.steps.rates(x) for c, x in each if c.steps.laws)])

    def _line(self, trial: TrialStep, forces: Array, by_forces: Array, before: Array) -> Line:
        """Linear relation between rates and forces at the ports that laws close, about a trial with given forces.

        All other unknowns are eliminated by the Jacobian. ``before`` are the rates at the start of the step.
        """
        q = self.entries.size
        if not self.laws:
            return Line.nothing()
        both = np.linalg.lstsq(self._slope[:q], np.column_stack([trial.off[:q], by_forces[:q]]))[0]
        left = np.column_stack([trial.off[q:], by_forces[q:]]) - self._slope[q:] @ both
        return Line.through(self.laws, (trial.off[q:], forces), left, before)

    def commit(self, step: ControllersStep | CompiledStep) -> None:
        """Advance the controllers to the end of a step, given by its result."""
        if isinstance(step, CompiledStep):
            self.restore(step.restart)
            return
        self.states, self._forces = step.states, step.forces
        for c, near in zip(self.feedback, step.near, strict=True):
            c.near = near
        self._past = np.vstack([self._past[-2:], step.inputs[None]])

    def guess(self) -> Array:
        """Inputs (q,) of the first trial of a step.

        They are extrapolated from the last three steps. If there are laws at ports, or fewer steps, they are the inputs
        of the last step.
        """
        past = self._past
        if len(past) < 3 or self.laws:
            return past[-1] if len(past) else np.zeros(past.shape[1])
        return np.asarray(3.0 * (past[2] - past[1]) + past[0])

    def at_all_ports(self, inputs: Array) -> Array:
        """Inputs (i,) at all ports of the mechanism, as sums of the controllers' ``inputs`` (q,)."""
        held = np.zeros(self._inputs)
        np.add.at(held, self.entries, inputs)
        return held

    def _update_jacobian(self, change: Array, defect_change: Array) -> None:
        """Update the Jacobian by Broyden's formula, for changes of the inputs (q,) and of the defects (q + m,).

        The update is left out if it would make the Jacobian nearly singular, and with laws if the change is round-off.
        """
        size, q = float(change @ change), self.entries.size
        if size > (SHIFT * self._scale) ** 2 or (size > 0.0 and not self.laws):
            slope = self._slope + np.outer(defect_change - self._slope @ change, change) / size
            least = SINGULAR * abs(np.linalg.det(self._slope[:q]))
            self._slope = slope if abs(np.linalg.det(slope[:q])) > least else self._slope

    def _step_result(
        self, given: tuple[Array, Array], trials: TrialSteps, trial: TrialStep, line: Line
    ) -> ControllersStep:
        h, (inputs, forces), work, flows, error, first, law = trials.h, given, [], [], 0.0, 0, 0
        energies, before = np.array([step.energy for step, _ in trial.steps]), self._energies(trials.states)
        for c, (step, u), acting in zip(self.controllers, trial.steps, trials.acting, strict=True):
            of_laws = slice(law, law + len(c.steps.laws))
            lost = step.lost + h * float(line.power[of_laws].sum())
            flows += [lost, *c.external_work(step, acting, h)]
            error += lost - h * (float(step.output[: u.size] @ u))
            for _, entries, _, seen in c.coupled:
                width = entries.stop - entries.start
                work.append(h * float(inputs[first : first + width] @ trial.output[seen]))
                error += work[-1] + h * float(step.output[entries] @ trial.output[seen])
                first += width
            law = of_laws.stop
        error += float((energies - before).sum())
        states, held = [step.state for step, _ in trial.steps], (self.at_all_ports(inputs), self.held)
        return ControllersStep(
            states, energies, inputs, forces, *held, np.array(flows), np.array(work), error, trial.near
        )

    @property
    def memory(self) -> tuple[Array, Array, float, float, Array, float]:
        """Data of the coupling that go from step to step.

        They are the inputs of past steps, the Jacobian, the largest response, the step length of the Jacobian, the
        forces of laws, and the largest rate of their ports.
        """
        return self._past, self._slope, self._scale, self._h, self._forces, self._speed

    @memory.setter
    def memory(self, given: tuple[Array, Array, float, float, Array, float]) -> None:
        self._past, self._slope, self._scale, self._h, self._forces, self._speed = given

    def snapshot(self) -> Any:
        """Data of the controllers and of their coupling for a checkpoint."""
        states = {c.name: x for c, x in zip(self.controllers, self.states, strict=True)}
        numbers, near = np.array([self._scale, self._speed, self._h]), {c.name: c.near for c in self.feedback}
        inner = {"past": self._past, "slope": self._slope, "forces": self._forces, "numbers": numbers}
        return {"states": states, "near": near, **inner}

    def restore(self, saved: Any) -> None:
        """Continue from the data of a checkpoint, the result of :meth:`snapshot`."""
        self.states = [np.asarray(saved["states"][c.name]) for c in self.controllers]
        self._past, self._slope, self._forces = (np.asarray(saved[name]) for name in ("past", "slope", "forces"))
        self._scale, self._speed, self._h = map(float, saved["numbers"])
        for c in self.feedback:
            c.near = saved["near"][c.name]


def _relative_size(values: Array, scale: float) -> float:
    """Largest absolute value of an array, divided by ``scale`` if that is positive."""
    size = float(np.abs(values).max(initial=0.0))
    return size / scale if size > 0.0 < scale else size


def _concatenated(values: list[Array]) -> Array:
    """Arrays of all controllers as one array, empty if there are none."""
    return np.concatenate([np.zeros(0), *values])
