"""Steps from one time to another: where they start, what they leave, and the single step of the exact scheme."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ...kernels.constant_block import constant_blocks
from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.gradient import constraint_matrix
from ...kernels.state import Configuration, Derived, derive
from ...kernels.tolerances import APART, CLOSED, WILD, WOVEN
from ...kernels.values import Means, Schedule
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.redundancy import independent
from ...mechanisms.model.state import State, configuration
from ...mechanisms.model.time_table import TimeTable, schedule
from ...numerics.arrays import Array
from ...systems.inputs import Forcing
from .advance import Place, Rates, Taken, take_step, velocity_defect
from .newton import NoConvergence

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


class Station(NamedTuple):
    """The end of a step: what the next one starts from.

    ``memory`` has a row for each of the last steps: mean velocities, multipliers, velocity defect, length [s].
    """

    time: float
    place: Place
    energy: Array
    memory: Array

    @property
    def x(self) -> Array:
        """The flat state."""
        return self.place.x


class Step(NamedTuple):
    """A finished step as it is booked.

    ``stage`` are the mean multipliers over it, ``multipliers`` those at its ``middle``; ``audit`` the largest balance
    residual, gap, velocity defect and mean rate of nonholonomic rows, the number of iterations, of steps and of
    rejected steps.
    """

    end: Station
    middle: float
    stage: Array
    multipliers: Array
    flows: Array
    audit: Array


class Solved(NamedTuple):
    """A step, with all that was found on the way."""

    step: Step
    taken: Taken
    prescribed: Schedule
    rates: Rates


class Method(Protocol):
    """A one-step method of a mechanism."""

    accounts: Accounts
    longest: float  # substep over the step

    def first(self, start: State) -> Station:
        """Where a run starts."""

    def to(self, start: Station, time: float) -> Step:
        """The step from a station to a time [s]; raises NoConvergence."""


class Single:
    """The step of the exact scheme, with all that time prescribes; ``depth`` rows of memory are kept.

    ``known`` are the arrays of the start and what follows from them, where they are at hand.
    """

    longest = 1.0

    def __init__(
        self,
        mechanism: Model,
        start: State,
        forcing: Forcing,
        *,
        least_norm: bool = False,
        depth: int = 2,
        decaying: bool = False,
        table: TimeTable | None = None,
        known: tuple[Configuration, Derived] | None = None,
    ) -> None:
        self.mechanism, self.arrays, self.forcing = mechanism, mechanism.network.arrays, forcing
        self.least_norm, self.depth = least_norm, depth
        self.accounts = Accounts(mechanism, decaying=True) if decaying else mechanism.once(Accounts)
        self.table = table or TimeTable(mechanism, start.anchors)
        self._start, self._known = start, known
        self.rows_of_g, self._block = mechanism.layout.multipliers, constant_blocks(self.arrays)
        a, bodies = self.arrays, mechanism.layout.bodies
        sizes = [bodies * a.dim, bodies * a.n.shape[0], a.body_u.size, self.rows_of_g, self.rows_of_g]
        self._edges: list[int] = np.cumsum(sizes).tolist()

    def first(self, start: State) -> Station:
        """Where a run starts."""
        c, d = self._known if self._known and start is self._start else self._derived(start)
        memory = start.memory.reshape(-1, self._edges[-1] + 1)[-self.depth :]
        if len(memory):
            defect = memory[-1, self._edges[3] : self._edges[4]]
        else:
            rates = self.table.rates(start.time)
            defect = velocity_defect(self.arrays, c, d, self.table.at(start.time)[0], rates)
        return Station(start.time, Place(start.x, c, d, defect), self.accounts.energies(c, d), memory)

    def _derived(self, start: State) -> tuple[Configuration, Derived]:
        c = configuration(self.mechanism, start.x)
        return c, derive(self.arrays, c)

    def to(self, start: Station, time: float) -> Step:
        """The step from a station to a time [s], which may lie before it; raises NoConvergence."""
        return self.solved(start, time).step

    def solved(self, start: Station, time: float) -> Solved:
        """The same, with all that was found on the way."""
        h, middle = time - start.time, 0.5 * (start.time + time)
        prescribed = self.prescribed(start, time, self.forcing.at(middle))
        rates, guess = self.table.rates(time, h), self._guess(start, h, prescribed)
        try:
            taken = take_step(self.accounts, start.place, h, prescribed, rates, guess)
            self._check_followers(taken, prescribed)
            check_contacts(self.mechanism, taken.end.d.product, taken.iterations)
        except NoConvergence as error:
            error.span = (start.time, time)
            raise
        residual = abs(self.accounts.balance(start.energy, taken.energy, taken.flows))
        free = self.arrays.rolling.free > 0
        parts = (taken.gap[~free], taken.end.defect, taken.gap[free] / h)
        largest = [float(np.abs(part).max(initial=0.0)) for part in parts]
        row = np.concatenate([*(part.ravel() for part in taken.means), taken.end.defect, [h]])
        memory = np.concatenate([start.memory[-max(self.depth - 1, 0) :], row[None]])
        end = Station(time, taken.end, taken.energy, memory)
        lam = taken.means.lam
        audit = np.array([residual, *largest, taken.iterations, 1, 0])
        return Solved(Step(end, middle, lam, lam - taken.alternating, taken.flows, audit), taken, prescribed, rates)

    def prescribed(self, start: Station, time: float, inputs: Array) -> Schedule:
        """What holds over the step to a time, under inputs."""
        prescribed = schedule(self.table, start.time, time, inputs)
        prescribed = prescribed._replace(block=self._block(time - start.time))
        if not (self.least_norm and self.rows_of_g):
            return prescribed
        c, d, coefficient = start.place.c, start.place.d, prescribed.coefficient_0
        matrix = constraint_matrix(self.arrays, c.R, d.arm, d.vector, coefficient, self.rows_of_g)
        return prescribed._replace(independent=independent(self.mechanism, matrix))

    def _check_followers(self, taken: Taken, prescribed: Schedule) -> None:
        """Constraints that followed from others at the start of the step must still hold at its end."""
        if prescribed.independent is None:
            return
        open_by = np.abs(taken.gap) / constraint_sizes(self.arrays, taken.end.d.vector)
        if open_by.max() > CLOSED:
            worst = int(np.argmax(open_by))
            name, most = self.mechanism.constraint_names[worst], abs(taken.gap[worst])
            reason = f"a constraint that followed from others no longer does: {name!r} opens by {most:.1e}"
            raise NoConvergence(reason, taken.iterations, 0.0)

    def _guess(self, start: Station, h: float, prescribed: Schedule) -> Means:
        """Mean velocities foreseen from the last steps, or the present ones; the last multipliers.

        The velocity at the start, which is known too, saves a tenth of the iterations where steps resolve most
        vibrations, and leads astray where they do not: there it is large and changes its sign with each step.
        """
        c, memory = start.place.c, start.memory
        lam = memory[-1:, self._edges[2] : self._edges[3]].sum(axis=0)
        lam = lam if prescribed.independent is None else prescribed.independent.gather @ lam
        if len(memory) < 2:
            return Means(c.v, c.omega, c.du, lam)
        means, lengths = self.mean_velocities(memory), memory[:, -1]
        see = foreseen_to_and_fro if len(memory) == WOVEN else foreseen
        return Means(*self.velocities(see(means, lengths, h)), lam)

    def mean_velocities(self, memory: Array) -> Array:
        """Those of the last steps, (rows, n)."""
        found: Array = memory[:, : self._edges[2]]
        return found

    def velocities(self, row: Array) -> tuple[Array, Array, Array]:
        """ṙ (b, d), ω (b, s) and u̇ of a row of mean velocities."""
        (i, j, k), a = self._edges[:3], self.arrays
        return row[:i].reshape(a.weight.shape), row[i:j].reshape(a.columns.omega.shape), row[j:k]


def check_contacts(mechanism: Model, product: Array, iterations: int) -> None:
    """Discs that roll must stand at the end of a step: where they lie flat, they have no point of contact."""
    t = mechanism.network.arrays.rolling
    fallen = np.flatnonzero(product[t.positive] <= t.least)
    if fallen.size:
        name = mechanism.constraint_names[t.positive_row[fallen[0]]]
        raise NoConvergence(f"the disc of {name!r} comes to lie flat on the ground", iterations, 0.0)


def foreseen(means: Array, lengths: Array, h: float) -> Array:
    """Mean velocities of a step of h, linear in time through those, (rows, n), of two of the last at their middles.

    The nearest to the middle of the step, and the next one that is not too close to that: steps may go back.
    """
    away, end = [], 0.0  # middles of the steps from that of the one to come
    for length in lengths[::-1].tolist():
        away.append(end - 0.5 * length - 0.5 * h)
        end -= length
    near, *others = sorted(range(len(away)), key=lambda k: (abs(away[k]), -k))
    first: Array = means[-1 - near]
    for k in others:
        if abs(away[k] - away[near]) >= APART * abs(h):
            return first + (first - means[-1 - k]) * (away[near] / (away[k] - away[near]))
    return first


def foreseen_to_and_fro(means: Array, lengths: Array, h: float) -> Array:
    """Mean velocities of a step of h from those, (WOVEN, n), of the last ones, of any lengths and signs hₖ.

    They are a parabola in time and, of vibrations that no step resolves, (−1)ᵏ/hₖ times a line in Σ 1/hₖ: such a
    coordinate q changes its sign with each step, up to a turn of 4/(ω hₖ), and its mean velocity is −2q/hₖ.
    """
    ends, turns = np.cumsum(lengths[::-1]), np.cumsum(h / lengths[::-1])
    away = -(ends - 0.5 * lengths[::-1] + 0.5 * h) / h  # middles of the steps from that of the one to come
    turned = -(turns - 0.5 * h / lengths[::-1] + 0.5)
    sign = h / lengths[::-1] * (-1.0) ** np.arange(1, WOVEN + 1)
    basis = np.array([np.ones(WOVEN), away, away * away, sign, sign * turned])
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
        weights: Array = np.linalg.solve(basis, [1.0, 0.0, 0.0, 1.0, 0.0])
        if np.abs(weights).max() <= WILD:
            made: Array = weights @ means[::-1]
            return made
    return foreseen(means, lengths, h)
