"""Scheme of the steps of a run: options of its method, and quantities that time prescribes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.state import Configuration, Derived, derive
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import Checked
from ...mechanisms.model.state import State, configuration
from ...mechanisms.model.time_table import TimeTable, table_of
from ...numerics.gauss_tableau import Tableau
from ...systems.inputs import Forcing
from ..times.step_size import Tolerance
from .shares import SINGLE
from .start import EvaluatedState, StepStart, defect_at, velocity_defect

if TYPE_CHECKING:
    from ...kernels.arrays import Arrays
    from ...mechanisms.model.model import Model


class InitialValueProblem(NamedTuple):
    """Mechanism, its start and inputs; with the time table and the check of the start if they are known."""

    mechanism: Model
    start: State
    forcing: Forcing
    table: TimeTable | None = None
    checked: Checked | None = None


@dataclass(frozen=True, eq=False)
class Scheme:
    """Scheme of the steps of a method for a mechanism.

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
        Lengths of substeps relative to that of the step, and weights of their multipliers at its middle.
    tolerance : Tolerance, optional
        Tolerance of pairs of steps that are chosen by their error.
    tableau : Tableau, optional
        Nodes and weights of Gauss collocation.
    by_events : bool
        True if steps are split where rigid contacts strike, False if they strike at the start of steps.
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
        """Arrays of the mechanism."""
        return self.mechanism.network.arrays

    @property
    def forcing(self) -> Forcing:
        """Inputs as functions of time."""
        return self.problem.forcing

    @property
    def rows(self) -> int:
        """Number of constraint rows."""
        return self.mechanism.layout.multipliers

    @cached_property
    def longest(self) -> float:
        """Length of the longest substep, divided by that of the step."""
        return float(np.abs(self.shares).max())

    @cached_property
    def accounts(self) -> Accounts:
        """Accounts of energies and flows."""
        return self.mechanism.once(Accounts) if self.radius is None else Accounts(self.mechanism, decaying=True)

    @cached_property
    def table(self) -> TimeTable:
        """Table of prescribed quantities."""
        return self.problem.table or table_of(self.mechanism, self.problem.start.anchors)

    @property
    def motions(self) -> int:
        """Number of mean velocities in a row of history."""
        a = self.arrays
        return self.mechanism.layout.frames * (a.dim + a.n.shape[0]) + a.body_u.size

    def start(self, start: State) -> StepStart:
        """Start of a run, without its energies: the loops compute these to the bits of their rows."""
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
