"""Steps from one time to another: where they start, what they leave, and the single step of the exact scheme."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ...contacts.stops import check_stops
from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.convergence.tolerances import HISTORY, NEWTON
from ...kernels.gradient import constraint_matrix
from ...kernels.guess import predicted, predicted_alternating
from ...kernels.rates.curves import KINK, OFF
from ...kernels.state import Configuration, Derived, derive
from ...kernels.values import Means, Schedule, Step
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import Checked
from ...mechanisms.model.geometry_checks import port_on
from ...mechanisms.model.redundancy import independent
from ...mechanisms.model.state import State, configuration
from ...mechanisms.model.time_table import TimeTable, schedule, table_of
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ...systems.inputs import Forcing
from .advance import EvaluatedState, Rates, SolvedStep, defect_at, solve_and_account, velocity_defect

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


class StepStart(NamedTuple):
    """The end of a step: what the next one starts from.

    ``history`` has a row for each of the last steps: mean velocities, multipliers, velocity defect, length [s].
    """

    time: float
    state: EvaluatedState
    energy: Array
    history: Array

    @property
    def x(self) -> Array:
        """The flat state."""
        return self.state.x


class StepResult(NamedTuple):
    """A finished step as it is recorded.

    ``stage`` are the mean multipliers over it, ``multipliers`` those at its ``middle``; ``residuals`` (4,) the largest
    balance residual, gap, velocity defect and mean rate of nonholonomic rows; ``counts`` (3,) are the numbers of
    iterations, of steps and of rejected steps; ``complementarity`` is the defect of rigid contacts over its scale.
    ``output`` are the mean velocities that inputs work on, where loops know them.
    """

    end: StepStart
    middle: float
    stage: Array
    multipliers: Array
    flows: Array
    residuals: Array
    counts: Array
    complementarity: float = 0.0
    output: Array | None = None

    def row(self) -> dict[str, Any]:
        """What is recorded of the step."""
        end, own = self.end, self._asdict()
        del own["end"], own["output"]
        return {"time": end.time, "state": end.x, "energy": end.energy, **own}


class StepDetails(NamedTuple):
    """A step with its solution, what time prescribed, and the rates of that at its end.

    It is ``settled`` where slip settles at its end, by dry friction of joints.
    """

    result: StepResult
    solved: SolvedStep
    prescribed: Schedule
    rates: Rates
    settled: bool = False


class Stepper(Protocol):
    """A one-step method of a mechanism."""

    accounts: Accounts
    longest: float  # substep over the step

    def start(self, start: State) -> StepStart:
        """Where a run starts."""

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""


class InitialValueProblem(NamedTuple):
    """A mechanism, its start and inputs; with the time table and the check of the start where they are known."""

    mechanism: Model
    start: State
    forcing: Forcing
    table: TimeTable | None = None
    checked: Checked | None = None


class ExactStepper:
    """The step of the exact scheme, with all that time prescribes; it starts from ``depth`` rows of history."""

    longest = 1.0
    shares = weights = (1.0,)  # of itself, as a composition

    def __init__(
        self, problem: InitialValueProblem, *, least_norm: bool = False, depth: int = 2, decaying: bool = False
    ) -> None:
        mechanism, start, self.forcing, table, checked = problem
        self.mechanism, self.arrays = mechanism, mechanism.network.arrays
        self.least_norm, self.depth = least_norm, depth
        self.accounts = Accounts(mechanism, decaying=True) if decaying else mechanism.once(Accounts)
        self.table = table or table_of(mechanism, start.anchors)
        self._start, self._checked = start, checked
        self.rows_of_g = mechanism.layout.multipliers
        a, bodies = self.arrays, mechanism.layout.frames
        sizes = [bodies * a.dim, bodies * a.n.shape[0], a.body_u.size, self.rows_of_g, self.rows_of_g]
        self._edges = list(accumulate(sizes))

    def start(self, start: State) -> StepStart:
        """Where a run starts."""
        begun = self.standing(start)
        return begun._replace(energy=self.accounts.energies(begun.state.c, begun.state.d))

    def standing(self, start: State) -> StepStart:
        """Where a run starts, without its energies, which compiled loops know to the bits of their rows."""
        known = self._checked if start is self._start else None
        c, d = (known.c, known.d) if known else self._derived(start)
        history = start.memory.reshape(-1, self._edges[-1] + 1)[-self.depth :]
        if len(history):
            defect = history[-1, self._edges[3] : self._edges[4]]
        elif known:
            defect = known.once(defect_at)
        else:
            rates = self.table.rates(start.time)
            defect = velocity_defect(self.arrays, (c, d), self.table.at(start.time)[0], rates)
        return StepStart(start.time, EvaluatedState(start.x, (c, d), defect), np.zeros(0), history)

    def _derived(self, start: State) -> tuple[Configuration, Derived]:
        c = configuration(self.mechanism, start.x)
        return c, derive(self.arrays, c)

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s], which may lie before it; raises StepFailed."""
        return self.details(start, time).result

    def details(self, start: StepStart, time: float) -> StepDetails:
        """The step with its solution."""
        h, middle = time - start.time, 0.5 * (start.time + time)
        prescribed = self.prescribed(start, time, self.forcing.at(middle))
        rates, guess = self.table.rates(time, h), self._guess(start, h, prescribed)
        try:
            step = Step(start.state.c, start.state.d, h, prescribed)
            solved = solve_and_account(self.accounts, start.state, step, (rates, guess))
            self._check_followers(solved, prescribed)
            check_end(self.mechanism, start.state, solved.end, solved.iterations)
        except StepFailed as error:
            error.span = (start.time, time)
            raise
        row = np.concatenate([*(part.ravel() for part in solved.means), solved.end.defect, [h]])
        history = np.concatenate([start.history[-max(self.depth - 1, 0) :], row[None]])
        lam = solved.means.lam
        result = StepResult(
            end=StepStart(time, solved.end, solved.energy, history),
            middle=middle,
            stage=lam,
            multipliers=lam - solved.alternating,
            flows=solved.flows,
            residuals=self._residuals(start, h, solved),
            counts=np.array([solved.iterations, 1.0, 0.0]),
        )
        return StepDetails(result, solved, prescribed, rates)

    def _residuals(self, start: StepStart, h: float, solved: SolvedStep) -> Array:
        """The balance residual, the largest gap, velocity defect and mean rate of nonholonomic rows of a step."""
        free = self.arrays.rolling.free > 0
        parts = (solved.gap[~free], solved.end.defect, solved.gap[free] / h)
        balance = abs(self.accounts.balance(start.energy, solved.energy, solved.flows))
        return np.array([balance, *(np.abs(part).max(initial=0.0) for part in parts)])

    def prescribed(self, start: StepStart, time: float, inputs: Array) -> Schedule:
        """What holds over the step to a time, under inputs."""
        prescribed = schedule(self.table, start.time, time, inputs)
        if not (self.least_norm and self.rows_of_g):
            return prescribed
        c, d, coefficient = start.state.c, start.state.d, prescribed.coefficient_0
        matrix = constraint_matrix(self.arrays, c.R, coefficient, arm=d.arm, vector=d.vector)
        return prescribed._replace(independent=independent(self.mechanism, matrix))

    def _check_followers(self, solved: SolvedStep, prescribed: Schedule) -> None:
        """Constraints that followed from others at the start of the step must hold at its end too."""
        if prescribed.independent is None:
            return
        open_by = np.abs(solved.gap) / constraint_sizes(self.arrays, solved.end.d.vector)
        if open_by.max() > NEWTON.closed:
            worst = int(np.argmax(open_by))
            name, most = self.mechanism.constraint_names[worst], abs(solved.gap[worst])
            reason = f"a constraint that followed from others no longer does: {name!r} opens by {most:.1e}"
            raise StepFailed(reason, solved.iterations, 0.0)

    @property
    def motions(self) -> int:
        """Number of mean velocities in a row of history."""
        return self._edges[2]

    def _guess(self, start: StepStart, h: float, prescribed: Schedule) -> Means:
        """Mean velocities predicted from the last steps, or the present ones; the last multipliers.

        The velocity at the start, which is known too, saves a tenth of the iterations where steps resolve most
        vibrations, and leads astray where they do not: there it is large and changes its sign with each step.
        """
        c, history = start.state.c, start.history
        lam = history[-1:, self._edges[2] : self._edges[3]].sum(axis=0)
        lam = lam if prescribed.independent is None else prescribed.independent.gather @ lam
        if len(history) < 2:
            return Means(c.v, c.omega, c.du, lam)
        means, lengths = self.mean_velocities(history), history[:, -1]
        see = predicted_alternating if len(history) == HISTORY else predicted
        return Means(*self.velocities(see(means, lengths, h)), lam)

    def mean_velocities(self, history: Array) -> Array:
        """Mean velocities of the last steps, (rows, n)."""
        velocities: Array = history[:, : self._edges[2]]
        return velocities

    def velocities(self, row: Array) -> tuple[Array, Array, Array]:
        """ṙ (b, d), ω (b, s) and u̇ of a row of mean velocities."""
        (i, j, k), a = self._edges[:3], self.arrays
        return row[:i].reshape(a.weight.shape), row[i:j].reshape(a.columns.omega.shape), row[j:k]


def check_end(mechanism: Model, before: EvaluatedState, after: EvaluatedState, iterations: int) -> None:
    """What no equation of a step sees: discs stand at its end, points are on their curves, stops see their angles."""
    a = mechanism.network.arrays
    if a.rolling.positive.size:
        check_contacts(mechanism, after.d.product, iterations)
    if a.curves:
        _check_curves(mechanism, before.d, after.d, iterations)
    check_stops(a, mechanism.connections, (before.c, before.d), (after.c, after.d), iterations)


def check_contacts(mechanism: Model, product: Array, iterations: int) -> None:
    """Discs that roll must stand at the end of a step: where they lie flat, they have no point of contact."""
    t = mechanism.network.arrays.rolling
    fallen = np.flatnonzero(product[t.positive] <= t.least)
    if fallen.size:
        name = mechanism.constraint_names[t.positive_row[fallen[0]]]
        reason = f"the disc of {name!r} comes to lie flat on the ground"
        raise MotionEnded(reason, iterations, advice="end the run before by an event")


def _check_curves(mechanism: Model, before: Derived, after: Derived, iterations: int) -> None:
    """Points must be on their curves, and pass no kinks, where their velocities would jump, from products to others."""
    curves = mechanism.network.arrays.curves
    for curve, at_start, at_end in zip(curves, before.on_curves, after.on_curves, strict=True):
        own, s0, s1 = after.product[curve.products], at_start.places[1], at_end.places[1]
        angle, off = curve.kink(own, s0, s1), np.linalg.norm(at_end.apart) > OFF * np.abs(own).max()
        if angle > KINK:
            reason = f"{port_on(mechanism, curve)} passes a kink of {angle:.2g} rad, where its velocity would jump"
            raise MotionEnded(reason, iterations, advice="take a curve that is smooth")
        if curve.is_beyond(s1):
            last = curve.knots[-1] if s1 > s0 else curve.knots[0]
            reason = f"{port_on(mechanism, curve)} comes to the end of its curve"
            advice = "take a longer curve, or end the run before by an event"
            raise MotionEnded(reason, iterations, share=float((last - s0) / (s1 - s0)), advice=advice)
        if off:
            raise StepFailed(f"{port_on(mechanism, curve)} is off its curve", iterations, 0.0)
