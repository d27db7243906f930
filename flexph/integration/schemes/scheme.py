"""Scheme with which a method integrates a mechanism: lengths of substeps, starts and results of steps.

A step Φ_h of the exact scheme turns round the sign of the velocity defect e = G v + ∂g/∂t of index-2 constraints
g(q, t) = 0 with Jacobian G and velocities v: e₁ = −e₀ + O(h²). As a map of states it is not near the identity, and
compositions of single steps lose their order. A pair of equal steps, Ψ_h = Φ_{h/2} ∘ Φ_{h/2}, is near the identity and
symmetric, so that

    Ψ_{γ₁h} ∘ Ψ_{γ₂h} ∘ Ψ_{γ₁h},  γ₁ = 1/(2 − 2^{1/3}),  γ₂ = 1 − 2γ₁ < 0

is of fourth order (the triple jump), with every invariant of the exact scheme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.rolling import state_rates
from ...kernels.state import Configuration, Derived, constraint_sums, derive, node_velocities, product_changes
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import Checked
from ...mechanisms.model.state import State, configuration
from ...mechanisms.model.time_table import TimeTable, table_of
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import Tableau
from ...systems.inputs import Forcing
from ..times.step_size import Tolerance

if TYPE_CHECKING:
    from ...kernels.arrays import Arrays
    from ...mechanisms.model.model import Model


OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
SUBSTEPS = 0.5 * OUTER, 0.5 * OUTER, 0.5 - OUTER, 0.5 - OUTER, 0.5 * OUTER, 0.5 * OUTER
"""Lengths of the six substeps, divided by that of the step: they reach 0.35 of it beyond either end."""


def _midpoint_weights() -> tuple[float, ...]:
    """Weights of the multipliers of the six substeps whose sum is the multiplier λ(t) at the middle t of the step.

    The substep k of length hₖ about tₖ has the value λ + c hₖ² + ½ λ″ (tₖ − t)² + …, of which the second and third
    term cancel. By symmetry the first and last, second and fifth, third and fourth weight are equal.
    """
    lengths = np.array(SUBSTEPS)
    away = np.cumsum(lengths) - 0.5 * lengths - 0.5
    conditions = np.array([np.full(3, 2.0), 2.0 * lengths[:3] ** 2, 2.0 * away[:3] ** 2])
    half = np.linalg.solve(conditions, [1.0, 0.0, 0.0]).tolist()
    return *half, *half[::-1]


MIDPOINT = _midpoint_weights()
"""Weights of the multipliers of the substeps; those at the middle of a step are of third order."""
SINGLE = (1.0,)
"""Share, and weight, of a single step."""
PAIR = 0.5, 0.5
"""Shares, and weights, of a pair of equal steps."""


Rates = tuple[Array, Array]
"""Time derivatives of the term coefficients and row offsets at the end of a step."""


Place = tuple[Configuration, Derived]
"""The arrays of a state, and quantities that follow from them."""
Lazy = tuple[Configuration | Callable[[Array], Configuration], Derived | Callable[[Configuration], Derived]]
"""Arrays and derived quantities of a state, or functions of the flat state and of its arrays that return them."""


class EvaluatedState:
    """Flat state x between two steps, with its configuration c, derived quantities d and velocity defect.

    The velocity defect (g,) is G v + ∂g/∂t of the g constraints. ``place`` has c and d, or functions that compute c
    from x and d from c when they are first needed.
    """

    def __init__(self, x: Array, place: Lazy, defect: Array) -> None:
        self.x, self.defect = x, defect
        self._c, self._d = place

    @cached_property
    def c(self) -> Configuration:
        """Configuration: the parts of the flat state as arrays."""
        return self._c if isinstance(self._c, Configuration) else self._c(self.x)

    @cached_property
    def d(self) -> Derived:
        """Quantities derived from the configuration."""
        return self._d if isinstance(self._d, Derived) else self._d(self.c)

    @property
    def place(self) -> Place:
        """Configuration c and derived quantities d."""
        return self.c, self.d


class StepStart(NamedTuple):
    """Time, state and energies from which a step starts: the start of the run or the end of the step before.

    ``history`` has a row for each of the last steps: mean velocities, multipliers, velocity defect, length [s].
    """

    time: float
    state: EvaluatedState
    energy: Array
    history: Array

    @property
    def x(self) -> Array:
        """Flat state of the mechanism."""
        return self.state.x


class StepResult(NamedTuple):
    """Result of a finished step.

    ``middle`` is the time of its middle [s], ``stage`` the mean multipliers over the step, ``multipliers`` those at
    the middle, ``flows`` its works and losses [J]. ``residuals`` (4,) are the largest balance residual, gap, velocity
    defect and mean rate of nonholonomic constraints. ``counts`` (3,) are the numbers of iterations, of steps (several
    if it was divided) and of rejected steps. ``complementarity`` is the defect of the law of rigid contacts, divided
    by its scale, and ``output`` the mean velocities conjugate to the inputs.
    """

    end: StepStart
    middle: float
    stage: Array
    multipliers: Array
    flows: Array
    residuals: Array
    counts: Array
    complementarity: float
    output: Array

    def row(self) -> dict[str, Any]:
        """Row of the recorder for the step, by the names of its columns."""
        end, fields = self.end, self._asdict()
        del fields["end"], fields["output"]
        return {"time": end.time, "state": end.x, "energy": end.energy, **fields}


def velocity_defect(a: Arrays, at: Place, coefficient: Array, rates: Rates) -> Array:
    """Velocity defect G v + ∂g/∂t (g,) of the constraints at a configuration and its derived quantities, ``at``.

    ``coefficient`` are the coefficients of the terms of the constraints, ``rates`` the time derivatives of these and
    of the offsets, which drives prescribe.
    """
    if not rates[1].size:
        return np.zeros(0)
    c, d = at
    speed = a.incidence @ node_velocities(a, c, c.R, d.arm)
    rate = product_changes(a, speed, d.vector)
    defect = constraint_sums(a, rate, coefficient, prescribed_rate(a, d, rates))
    return defect + state_rates(a, c, d, rate) if a.rolling.row.size or a.curves else defect


def defect_at(start: Checked) -> Array:
    """Velocity defect G v + ∂g/∂t (g,) of the constraints at a checked start."""
    coefficient, _, *rates = start.prescribed
    return velocity_defect(start.mechanism.network.arrays, (start.c, start.d), coefficient, (rates[0], rates[1]))


def prescribed_rate(a: Arrays, d: Derived, rates: Rates) -> Array:
    """Right-hand side −∂g/∂t (g,) of the velocity constraints G v = −∂g/∂t.

    ``rates`` are the prescribed time derivatives of the coefficients and of the offsets of the constraints.
    """
    by_coefficient, by_offset = rates
    return -constraint_sums(a, d.product, by_coefficient, by_offset)


class InitialValueProblem(NamedTuple):
    """Mechanism, start state and inputs of a run.

    ``table`` evaluates the prescribed quantities and ``checked`` is the checked start; both are None until they are
    known.
    """

    mechanism: Model
    start: State
    forcing: Forcing
    table: TimeTable | None = None
    checked: Checked | None = None


@dataclass(frozen=True, eq=False)
class Scheme:
    """Scheme of the steps of a mechanism: the data of mechanism and method that the compiled loops use.

    Attributes
    ----------
    problem : InitialValueProblem
        Mechanism, start and inputs.
    depth : int
        Number of steps in the history from which a step predicts its mean velocities.
    least_norm : bool
        True for multipliers of least norm of redundant constraints.
    radius : float, optional
        Spectral radius ρ of the decaying scheme.
    shares, weights : tuple
        Lengths of substeps relative to that of the step, and the weights with which the multipliers of the substeps add
        to those at the middle of the step.
    tolerance : Tolerance, optional
        Tolerance if pairs of steps are chosen by their error.
    tableau : Tableau, optional
        Nodes and weights of Gauss collocation.
    by_events : bool
        True if a step is split at each impact of rigid contacts, False if all impacts of a step are at its start.
    """

    problem: InitialValueProblem
    depth: int = 2
    least_norm: bool = False
    radius: float | None = None
    shares: tuple[float, ...] = SINGLE
    weights: tuple[float, ...] = SINGLE
    tolerance: Tolerance | None = None
    tableau: Tableau | None = None
    by_events: bool = True

    @property
    def mechanism(self) -> Model:
        """Mechanism of the run."""
        return self.problem.mechanism

    @property
    def arrays(self) -> Arrays:
        """Numerical arrays that describe the bodies, joints and forces of the mechanism."""
        return self.mechanism.network.arrays

    @property
    def forcing(self) -> Forcing:
        """Inputs as functions of time."""
        return self.problem.forcing

    @property
    def rows(self) -> int:
        """Number of constraint rows."""
        return self.mechanism.layout.multipliers

    @property
    def longest(self) -> float:
        """Length of the longest substep, divided by that of the step."""
        return max(map(abs, self.shares))

    @cached_property
    def accounts(self) -> Accounts:
        """Accounts, which compute energies, works and losses of the mechanism."""
        return self.mechanism.once(Accounts) if self.radius is None else Accounts(self.mechanism, decaying=True)

    @cached_property
    def table(self) -> TimeTable:
        """Time table, which evaluates the prescribed quantities such as drives at times."""
        return self.problem.table or table_of(self.mechanism, self.problem.start.anchors)

    @property
    def motions(self) -> int:
        """Number of velocities in a row of history: those of all frames and flexible coordinates."""
        a = self.arrays
        return self.mechanism.layout.frames * (a.dim + a.n.shape[0]) + a.body_u.size

    def start(self, start: State) -> StepStart:
        """Start of the first step from a state, with an empty array of energies.

        The loops compute the energies, so that they are equal bit by bit to those of the later steps.
        """
        known = self.problem.checked if start is self.problem.start else None
        c, d = (known.c, known.d) if known else self._derived(start)
        first = self.motions + self.rows
        history = start.memory.reshape(-1, first + self.rows + 1)[-self.depth :]
        if len(history):
            defect = history[-1, first : first + self.rows]
        elif known:
            defect = known.once(defect_at)
        else:
            rates = self.table.rates(start.time)
            defect = velocity_defect(self.arrays, (c, d), self.table.at(start.time)[0], rates)
        return StepStart(start.time, EvaluatedState(start.x, (c, d), defect), np.zeros(0), history)

    def _derived(self, start: State) -> tuple[Configuration, Derived]:
        c = configuration(self.mechanism, start.x)
        return c, derive(self.arrays, c)
