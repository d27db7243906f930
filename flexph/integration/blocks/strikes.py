"""Steps of mechanisms with rigid contacts: impulses between steps, and pairs of steps judged by their error.

Impulses of the joints reflect the velocity defect e = G v + ∂g/∂t of the constraints g between steps: they turn round
its sign. With velocities v, mass matrix M, Jacobian G of g, S = G M⁻¹Gᵀ, impulses μ = S⁻¹e, and b = −∂g/∂t prescribed
by drives (zero for joints), the velocities

    v′ = v − 2M⁻¹Gᵀμ   have the defect   e′ = −e   and   ΔT = −2b·μ :

ΔT is the change of the kinetic energy, the work of the drives. Linear and angular momentum are conserved, as by all
forces of joints. This reflection is a step of the exact scheme of length 0.

If a gap closes in a step, velocities jump, and differences of mean velocities are no measure of the error. If steps are
split at impacts, however, the error of the positions at the end of a step falls with its length as without impacts: a
step of 2h has four times the error of a pair of h.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from ...kernels.gradient import constraint_matrix
from ...kernels.state import derive, momenta
from ...mechanisms.model.constraints import velocities_of, with_velocities
from ...mechanisms.model.redundancy import independent
from ...mechanisms.model.state import configuration, flat
from ...mechanisms.poses.impacts import impulses
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...numerics.rotations import cross
from ...numerics.step_failed import MotionEnded, StepFailed
from ...systems.nonlinear import ValidityWarning
from ..loops.strike_steps import StrikeSteps
from ..loops.time_callback import TimeCallback
from ..schemes.scheme import EvaluatedState, Rates, Scheme, StepResult, StepStart, prescribed_rate, velocity_defect
from ..times.loop import Run
from ..times.step_control import ErrorEstimate, Tried
from .block_stepper import BlockStepper
from .pairs import PairError
from .single_steps import as_one

if TYPE_CHECKING:
    from ..loops.stepper import Stepper
    from ..schemes.scheme import Scheme


class DefectResponse(NamedTuple):
    """Impulses and velocity changes that would remove k velocity defects e (g, k) of the constraints.

    ``mu`` (g, k) is (G M⁻¹Gᵀ)⁻¹ e, ``change`` (n_v, k) is M⁻¹Gᵀ ``mu``.
    """

    change: Array
    mu: Array


def response_to_defects(scheme: Scheme, step: StepResult, coefficient: Array, defects: Array) -> DefectResponse:
    """Impulses that would remove the velocity defects (g, k) at the end of a step, with their velocity changes.

    ``coefficient`` are the coefficients of the constraints at the end. Raises StepFailed if the constraints are
    dependent there.
    """
    a, (c, d) = scheme.arrays, step.end.state.place
    G = constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector)
    rows = independent(scheme.mechanism, G) if scheme.least_norm else None
    spread = sparse.eye_array(scheme.rows) if rows is None else rows
    try:
        y = impulses(a, c.u, spread.T @ G, spread.T @ defects)
    except (RuntimeError, np.linalg.LinAlgError):
        error = StepFailed("the constraints are dependent at its end", int(step.counts[0]), 0.0)
        error.span = (2.0 * step.middle - step.end.time, step.end.time)
        raise error from None
    return DefectResponse(y[: G.shape[1]], spread @ y[G.shape[1] :])


def reflected(scheme: Scheme, step: StepResult, at_end: tuple[Array, Rates], known: DefectResponse) -> StepResult:
    """Step followed by impulses of the joints that turn round the sign of its velocity defect.

    The first column of ``known`` is the response μ to the defect; the impulse is −2Gᵀμ. ``at_end`` are the
    coefficients of the constraints and the rates of prescribed quantities at the end. The works and the mean
    multipliers of the step include the impulse.
    """
    mechanism, a, accounts, end = scheme.mechanism, scheme.arrays, scheme.accounts, step.end
    (coefficient, rates), c = at_end, end.state.c
    change, mu = known.change[:, 0], known.mu[:, 0]
    x = flat(mechanism, with_velocities(mechanism, c, velocities_of(mechanism, c) - 2.0 * change))
    c = configuration(mechanism, x)
    d = derive(a, c)
    work = accounts.impulse(-2.0 * mu * prescribed_rate(a, d, rates), 0.0)
    defect, energy = velocity_defect(a, (c, d), coefficient, rates), accounts.energies(c, d, end.time)
    balance = step.residuals[0] + abs(accounts.balance(end.energy, energy, work))
    history = end.history.copy()
    history[-1:, -1 - defect.size : -1] = defect  # the history must not extrapolate the removed defect
    residuals = np.array([balance, step.residuals[1], np.abs(defect).max(), step.residuals[3]])
    moved = end._replace(state=EvaluatedState(x, (c, d), defect), energy=energy, history=history)
    stage = step.stage - 2.0 * mu / (2.0 * (end.time - step.middle))
    return step._replace(end=moved, flows=step.flows + work, residuals=residuals, stage=stage)


REMEMBERED = 2
"""Number of steps in the history of a motion without an impact in them."""


class SingleStepper(Protocol):
    """Protocol of a stepper that takes single steps."""

    def step(self, start: StepStart, time: float) -> StepResult:
        """Take one step from a start to a time [s]; raises StepFailed."""


class ComparedPairs(NamedTuple):
    """Stepper of pairs of equal ``single`` steps, with an error estimate.

    With the coordinates q at the end of two steps of h and q₂ at the end of one step of 2h, the error of the mean
    velocity is δ = (q₂ − q)/(6h), that of the pair ε = √(δᵀMδ / (2 E)) / rtol (see :class:`PairError`). Modes that h
    does not resolve end anywhere within their amplitude a, and count by a/(3h) in place of their velocity ω a.
    """

    scheme: Scheme
    error: PairError
    single: SingleStepper

    def initial(self, start: StepStart) -> float:
        """State of the estimate at the start of a run, an energy [J], see :meth:`PairError.initial`."""
        return self.error.initial(start)

    def count(self, history: float) -> int:
        """Number of steps of a pair, which is two."""
        return self.error.count(history)

    def step(self, start: StepStart, time: float) -> StepResult:
        """Take two equal steps from a start to a time [s], and return them as one; raises StepFailed."""
        return self._pair(start, 0.5 * (start.time + time), time)[0]

    def attempt(self, run: Run, times: Array, history: float) -> Tried:
        """Try a pair of steps through three times, and compare it with one step of twice the length.

        ``history`` is the largest kinetic energy so far [J].
        """
        start, (_, middle, end) = run.start, times.tolist()
        run.begin_trial(start.time, end)
        try:
            once = self.single.step(start, end)
            pair, left = self._pair(start, middle, end)
        except StepFailed as failed:
            return Tried([], math.inf, str(failed), history, ended=failed if isinstance(failed, MotionEnded) else None)
        kinetic = [name.startswith("kinetic ") for name in self.scheme.accounts.energy]
        energy = max(history, *(float(at.energy[kinetic].sum()) for at in (start, pair.end)))
        motion = self._error_energy(once.end, pair.end, middle - start.time)
        return self.error.judged((start, pair, partial(self.step, start)), (motion, left), history, energy)

    def _pair(self, start: StepStart, middle: float, end: float) -> tuple[StepResult, float]:
        """Take both steps of a pair; return them as one, and the kinetic energy [J] of the velocity defect they add.

        A single step leaves a velocity defect of h² c(t); a pair adds about h³ dc/dt to it. The sign of the defect is
        turned round by impulses if the next pair would increase it; otherwise it would grow over many pairs.
        """
        first = self.single.step(start, middle)
        second = self.single.step(first.end, end)
        pair, left = as_one(start, (first, second), 2), second.end.state.defect
        if not left.size:
            return pair, 0.0
        jumped = len(second.end.history) < REMEMBERED  # after an impact velocities keep the joints
        added = left if jumped else left - start.state.defect
        coefficient, rates = self.scheme.table.at(end)[0], self.scheme.table.rates(end, end - middle)
        impulses = response_to_defects(self.scheme, pair, coefficient, np.column_stack([left, added]))
        if impulses.mu[:, 0] @ added > 0.0:
            pair = reflected(self.scheme, pair, (coefficient, rates), impulses)
        return pair, 0.5 * float(impulses.mu[:, 1] @ added)

    def _error_energy(self, once: StepStart, pair: StepStart, h: float) -> float:
        """Kinetic energy ½ δᵀMδ [J] of the velocity error δ of a pair of steps of h.

        ``once`` is the end of one step of 2h from the same start, ``pair`` that of the pair.
        """
        a, c, other = self.scheme.arrays, pair.state.c, once.state.c
        turn = np.einsum("bji,bjk->bik", c.R, other.R)
        spin = 0.5 * np.einsum("aij,bij->ba", cross(c.R.shape[-1]), turn)
        delta = [part / (6.0 * h) for part in (other.r - c.r, spin, other.u - c.u)]
        momentum = a.mass[:, None] * delta[0], *momenta(a, delta[1], c.u, delta[2])
        return 0.5 * sum(float(np.vdot(p, q)) for p, q in zip(momentum, delta, strict=True))


class StrikeBlocks(BlockStepper):
    """Block stepper for mechanisms with rigid contacts; with a tolerance, pairs of steps are chosen by their error."""

    def __init__(self, scheme: Scheme) -> None:
        self._has_warned = False
        super().__init__(scheme)

    def _loops(self) -> Stepper:
        scheme = self.scheme
        between = TimeCallback(scheme.mechanism, scheme.table, scheme.forcing)
        kinds = {"by_events": scheme.by_events, "least_norm": scheme.least_norm}
        return StrikeSteps(scheme.mechanism, scheme.accounts, between, **kinds, tell=self._warn_of_many)

    @property
    def estimate(self) -> ErrorEstimate | None:
        """Error estimate that chooses the lengths of pairs of steps; None if steps are prescribed."""
        tolerance = self.scheme.tolerance
        return None if tolerance is None else ComparedPairs(self.scheme, PairError(tolerance), self)

    @property
    def _divides(self) -> bool:
        return True

    def _warn_of_many(self) -> None:
        """Warn, once in a run, that many impacts of large groups in a step take long, as each is solved by itself."""
        if not self._has_warned:
            self._has_warned = True
            text = (
                "more than 20 impacts of 10 or more contacts within a step: each is found in time and solved by "
                "itself, which takes long; Exact(contact='steps') is for groups, it strikes at the beginning of steps"
            )
            warn(text, ValidityWarning)
