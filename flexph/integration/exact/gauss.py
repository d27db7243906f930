"""The steps of ``ExactGauss``: Gauss collocation that keeps what the exact scheme keeps (see kernels.collocation).

Three stages: of sixth order without constraints, whose index 2 at the nodes leaves fourth order in velocities with an
odd number of stages, and only second with an even one (E. Hairer, C. Lubich, M. Roche, The numerical solution of
differential-algebraic systems by Runge-Kutta methods, 1989, chapter 5). Positions are exact in the constraints.
"""

from __future__ import annotations

import numpy as np

from ...kernels.arrays import total
from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.convergence.tolerances import NEWTON
from ...kernels.gauss.collocation import Collocation
from ...kernels.gauss.stages import Given, Onset, Rates, Stages, onset
from ...kernels.gradient import is_sparse
from ...kernels.state import Configuration, derive
from ...mechanisms.arrays.network import DENSE_LIMIT
from ...mechanisms.model.constraints import gap_of
from ...mechanisms.model.state import State, flat
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import gauss
from ...numerics.rotations import cayley, turned_spins
from ...numerics.step_failed import StepFailed
from .advance import EvaluatedState, velocity_defect
from .gauss_newton import Problem, solve
from .step import ExactStepper, StepResult, StepStart, check_contacts

STAGES = 3


class GaussStepper:
    """Steps of Gauss collocation of a small mechanism; raises ValueError for what they do not take."""

    longest = 1.0

    def __init__(self, inner: ExactStepper, stages: int = STAGES) -> None:
        if inner.arrays.springs.relations:
            raise ValueError("ExactGauss() does not take friction laws and other relations: take Exact()")
        if inner.accounts.references.size:
            raise ValueError("ExactGauss() does not take springs whose reference moves: take Exact()")
        self.inner, self.accounts, self.stages = inner, inner.accounts, stages
        self.arrays, self.table, self.forcing = inner.arrays, inner.table, inner.forcing
        self.collocation = Collocation(inner.arrays, gauss(stages), inner.rows_of_g)

    def start(self, start: State) -> StepStart:
        """Where a run starts."""
        return self.inner.start(start)

    def refuse_large(self) -> None:
        """Raise ValueError for what only compiled loops take."""
        if is_sparse(self.arrays):
            most = f"mechanisms of more than {DENSE_LIMIT} velocities without compiled loops"
            raise ValueError(f"ExactGauss() does not take {most}: take Exact()")

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""
        return self.details(start, time)[0]

    def details(self, start: StepStart, time: float) -> tuple[StepResult, Problem, Stages]:
        """The step with its equations and their solution."""
        if is_sparse(self.arrays):  # in a compiled run
            error = StepFailed("the iteration of the compiled loops did not settle", 0, np.nan)
            error.span = (start.time, time)
            raise error
        a, h, rk = self.arrays, time - start.time, self.collocation.tableau
        coefficient, offset = self.table.at(time)
        problem = Problem(self.collocation, self.onset(start.state.c, start.time, h), self._given(start.time, h))
        try:
            solution = solve(problem, self._guess(start, h))
            t, end = solution.stages, solution.stages.end
            d1 = derive(a, end)
            gap, lam = gap_of(a, d1.product, coefficient, offset), t.x.lam
            check_contacts(self.inner.mechanism, d1.product, solution.iterations)
            if not np.all(np.abs(gap) <= NEWTON.closed * constraint_sizes(a, d1.vector)):
                raise StepFailed("the iteration ended away from the constraints", solution.iterations, 0.0)
        except StepFailed as error:
            error.span = (start.time, time)
            raise
        defect = velocity_defect(a, (end, d1), coefficient, self.table.rates(time, h))
        given = problem.given
        energy, flows = self.accounts.energies(end, d1), self._flows(h, t, given)
        residual = abs(self.accounts.balance(start.energy, energy, flows))
        state = EvaluatedState(flat(self.inner.mechanism, end), (end, d1), defect)
        slip = (rk.weights @ self.collocation.rates(t, given))[a.rolling.free > 0]
        worst = [float(np.abs(x).max(initial=0.0)) for x in (gap, defect, slip)]
        result = StepResult(
            end=StepStart(time, state, energy, _rows(t, defect, h)),
            middle=0.5 * (start.time + time),
            stage=rk.weights @ lam,
            multipliers=lam[self.stages // 2],
            flows=flows,
            residuals=np.array([residual, *worst]),
            counts=np.array([solution.iterations, 1.0, 0.0]),
        )
        return result, problem, t

    def onset(self, c: Configuration, time: float, h: float) -> Onset:
        """The start of a step of h at a time [s] from a configuration."""
        a, d = self.arrays, derive(self.arrays, c)
        return onset(a, (c, d), h, NEWTON.forgotten * gap_of(a, d.product, *self.table.at(time)))

    def _given(self, start: float, h: float) -> Given:
        """What time prescribes at the nodes, of the interpolant through Gauss-Lobatto points."""
        rk = self.collocation.tableau
        values = [self.table.at(start + h * share) for share in rk.given]
        coefficient, offset = (np.array(part) for part in zip(*values, strict=True))
        inputs = np.array([self.forcing.at(start + h * node) for node in rk.nodes])
        return Given(rk.value @ coefficient, rk.rate @ coefficient, rk.rate @ offset, inputs)

    def _guess(self, start: StepStart, h: float) -> Array:
        """A line through the velocities at the nodes of the last step, followed further, or the present velocities."""
        a, c, history, rk = self.arrays, start.state.c, start.history, self.collocation.tableau
        stages, rows = self.stages, self.inner.rows_of_g
        v, spin, du = (np.tile(x, (stages, *(1,) * x.ndim)) for x in (c.v, c.omega, c.du))
        lam = np.zeros((stages, rows))
        if len(history) == stages and np.ptp(history[:, -1]) == 0.0:
            ahead = 1.0 + rk.nodes * (h / history[0, -1])
            follow = _line(rk.nodes, ahead)
            mean = follow @ self.inner.mean_velocities(history)
            v, spin, du = (np.array(x) for x in zip(*(self.inner.velocities(row) for row in mean), strict=True))
            lam[:] = history[stages // 2, mean.shape[1] : mean.shape[1] + rows]
        if a.dim == 3:
            half = 0.5 * h * rk.nodes[:, None, None] * spin
            spin = np.array([turned_spins(c.R @ cayley(x, 3), y) for x, y in zip(half, spin, strict=True)])
        return self.collocation.pack(Rates(v, spin, du, lam), h)

    def _flows(self, h: float, t: Stages, given: Given) -> Array:
        """Work and dissipation of the step, by account."""
        a, share = self.arrays, h * self.collocation.tableau.weights
        by_row = share @ (t.x.lam * self.collocation.rates(t, given))
        speed = a.node_moves[:, None] * t.x.v.take(a.node_body, axis=1) + t.arm_rate
        output = speed.reshape(self.stages, -1) @ a.input_node
        if a.torque_body.size:
            bent = (t.x.du @ a.torque_shape.T).reshape(self.stages, a.torque_body.size, -1)
            back = t.inverse.swapaxes(2, 3).take(a.torque_body, axis=1)
            world = t.x.spin.take(a.torque_body, axis=1) + turned_spins(back, bent)
            output = output + world.reshape(self.stages, -1) @ a.input_torque
        by_loss = self._losses(share, t) if self.accounts.loses else np.zeros(0)
        return self.accounts.flows(by_row, share @ (output * t.loads), by_loss)

    def _losses(self, share: Array, t: Stages) -> Array:
        a = self.arrays
        by_stress = share @ (a.stress_damping * t.stress_rate * (t.stress_rate @ a.compliance.T))
        by_body = total(a.body_stress, by_stress, len(a.mass))
        by_body += total(a.body_u, share @ (t.x.du * (t.x.du @ a.viscous.T)), len(a.mass))
        dampers = np.zeros(0) if t.springs is None else share @ (a.springs.damping * t.springs.measure_rate**2)
        return self.accounts.losses(by_body, dampers)


def _rows(t: Stages, defect: Array, h: float) -> Array:
    """Rows of history of a step, one for each node, from which the next one predicts its velocities."""
    stages = len(t.u)
    tail = np.tile(np.append(defect, h), (stages, 1))
    parts = (t.x.v.reshape(stages, -1), t.omega.reshape(stages, -1), t.x.du, t.x.lam, tail)
    return np.concatenate(parts, axis=1)


def _line(nodes: Array, at: Array) -> Array:
    """Values at other places of the line through those at the nodes, by least squares.

    Their parabola, which predicts slow motion better, leads astray where vibrations are not resolved.
    """
    values: Array = at[:, None] ** np.arange(2) @ np.linalg.pinv(nodes[:, None] ** np.arange(2))
    return values
