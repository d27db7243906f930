"""Changes of mode: the state after the impulses of the new mode, energy lost, and the choice among several modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space

from ..consistency.conditions import CONSISTENT
from ..consistency.equations import Equations, sizes
from ..discretisation.parametrized import gradient_pair
from ..integration.general.stepper import StepStart, grown, scaled_by
from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..numerics.corrections import IterationLimits, least_norm_step
from ..numerics.differences import central
from ..numerics.ranks import singular_vectors
from ..numerics.step_failed import StepFailed
from ..systems.inputs import Forcing
from .branch import Branch, round_off_of
from .system import SwitchingPHDAE
from .trajectory import ModeChange
from .transition import Impasse, Reset, SwitchFailed
from .watch import ModeWatch, bounds

GAINED = 1e-11
"""Gain of energy at a switch, relative to the sum of the magnitudes of the terms of H, that is round-off."""
KEPT = 1e-10
"""Change, by a reset, of a quantity that it must preserve, up to which it is round-off. It is relative to the quantity,
and to its change if states change by their size, as at a guard the quantity itself may be zero."""
TRIAL = 1e-3
"""Length of the step by which a possible new mode is tried, relative to the usual step length."""


@dataclass(frozen=True, eq=False)
class DrivenSystem:
    """Switching system with its inputs and the end time of the run."""

    system: SwitchingPHDAE
    forcings: Mapping[str, Forcing]
    end: float

    def equations(self, mode: str, time: float) -> Equations:
        """Equations of a mode with its inputs, which may be evaluated from ``time`` to the end of the run."""
        end = self.end if self.end > time else np.inf
        return Equations(self.system.system(mode), self.forcings[mode], (time, end))

    def branch(self, mode: str, time: float, x: Array, *, entered: bool = True) -> Branch:
        """Solver for the algebraic states of a mode, from the state x at a time.

        If the mode is ``entered`` at x, raises SwitchFailed if no algebraic states solve its equations. Within a mode,
        steps satisfy constraints with time-dependent sources only at their middle, so that x may violate them.
        """
        careful = any(isinstance(t.when, Impasse) for t in self.system.leaving(mode))
        branch = Branch(self.equations(mode, time), time, x, careful=careful)
        if entered and branch.inconsistency:
            raise SwitchFailed(f"mode {mode!r} has no consistent state here: {branch.inconsistency}")
        return branch


@dataclass(frozen=True, eq=False)
class Instant:
    """State of a run at an instant: time, mode, consistent state, and the largest sizes of all states so far."""

    time: float
    mode: str
    state: Array
    size: Array


class Arrival(NamedTuple):
    """Result of a change of mode: its record, and the solver ``branch`` for the algebraic states of the new mode."""

    switch: ModeChange
    branch: Branch


def switched(
    world: DrivenSystem, at: Instant, targets: Sequence[str], *, cause: str, reset: Reset | None, step: float | None
) -> Arrival:
    """Change to the one of the ``targets`` that is possible and loses the least energy ([survey] sec. 5).

    Raises SwitchFailed if none is possible. ``step`` [s] is the usual step length; None for a single target, whose
    conditions need not hold.
    """
    where = f"{cause} at t = {at.time:.9g} s, from mode {at.mode!r}"
    if step is None:
        try:
            return change_mode(world, at, targets[0], cause=cause, reset=reset)
        except ArithmeticError as error:
            raise SwitchFailed(f"{where}: {error}") from None
    arrivals: list[Arrival] = []
    reasons: list[str] = []
    for name in targets:
        try:
            arrival = change_mode(world, at, name, cause=cause, reset=reset)
            reason = violated_conditions(world, arrival, at.size, step)
        except (ArithmeticError, StepFailed) as error:
            reason = str(error)
        if reason:
            reasons.append(f"{name!r}: {reason}")
        else:
            arrivals.append(arrival)
    if not arrivals:
        listed = "; ".join(reasons) or "there is no other mode"
        raise SwitchFailed(f"{where}: no mode can follow. {listed}")
    least = min(arrival.switch.lost for arrival in arrivals)
    slack = GAINED * _terms(world.system, at)
    return next(arrival for arrival in arrivals if arrival.switch.lost <= least + slack)


def change_mode(world: DrivenSystem, at: Instant, target: str, *, cause: str, reset: Reset | None) -> Arrival:
    """Change to the mode ``target``. Raises SwitchFailed if it has no consistent state or a reset gains energy."""
    system = world.system
    if reset is None:
        moved, kept = _by_impulses(world, at, target), {}
    else:
        given = _reset(reset, at, system.size)
        moved, kept = ImpulseResult.none(given), _kept(reset, at, given)
    branch = world.branch(target, at.time, moved.state)
    energy = (float(system.H(at.state)), float(system.H(branch.state)))
    work = _work(world, target, at.time, branch.state, costate=moved.costate)
    lost = energy[0] - energy[1] + sum(work.values())
    if lost < -GAINED * _terms(system, at):
        raise SwitchFailed(
            f"the reset to mode {target!r} would gain energy: H is {energy[0]:.8g} J before and {energy[1]:.8g} J "
            f"after, {-lost:.3g} J more than the work of sources"
        )
    switch = ModeChange(
        time=at.time,
        source=at.mode,
        target=target,
        cause=cause,
        before=at.state,
        after=branch.state,
        energy=energy,
        work=work,
        lost=lost,
        impulse=moved.impulse,
        free=moved.free,
        kept=kept,
    )
    return Arrival(switch, branch)


def _by_impulses(world: DrivenSystem, at: Instant, target: str) -> ImpulseResult:
    try:
        return impulsive(world.equations(target, at.time), at.time, at.state)
    except ArithmeticError as error:
        raise SwitchFailed(f"mode {target!r} has no consistent state here: {error}") from None


def _work(world: DrivenSystem, target: str, time: float, x: Array, *, costate: Array) -> dict[str, float]:
    """Work [J] of the sources during an impulse, by port, from the time integral ``costate`` of the costates."""
    mode = world.system.system(target)
    current, u = mode.B(x).T @ costate, world.forcings[target].at(time)
    of_mode = {name: float(current[p] @ u[p]) for name, p in mode.ports.items()}
    return {name: of_mode.get(name, 0.0) for name in world.system.ports}


def violated_conditions(world: DrivenSystem, arrival: Arrival, size: Array, step: float) -> str:
    """Names and values of the functions ``valid`` of the new mode that become negative within a small step, as text.

    The text is empty if none do. ``size`` are the sizes of states, ``step`` [s] is the usual step length.
    """
    switch, branch = arrival
    mode, time = switch.target, switch.time
    limits = [bound for bound in bounds(world.system, mode) if bound.transition is None]
    if not limits:
        return ""
    system, h = world.system.system(mode), TRIAL * step
    watch = ModeWatch(limits, branch, time, size)
    at_once = [(b, b.value) for b in limits if b.beyond]
    if not at_once:
        u = world.forcings[mode].at(time + 0.5 * h)
        start = StepStart(time, switch.after, 0.0, grown(size, np.abs(switch.after)))
        end = gradient_pair(system, "midpoint").step(switch.after, h, u, scaled_by(system, start, h, u))
        state = watch.branch.at(time + h, end.state)
        at_once = [(b, b(time + h, state)) for b in limits]
    return ", ".join(f"{b.name} is {-value:.3g}" for b, value in at_once if value > b.noise)


def _reset(reset: Reset, at: Instant, size: int) -> Array:
    try:
        return np.array(check.array("x after a reset", reset.function(at.time, at.state), (size,)))
    except ValueError as error:
        raise ValueError(f"at t = {at.time:.9g} s, in mode {at.mode!r}: {error}") from None


def _kept(reset: Reset, at: Instant, after: Array) -> dict[str, float]:
    values: dict[str, float] = {}
    size = np.maximum(at.size, np.abs(at.state))
    for name, function in reset.keeps.items():
        old, new = float(function(at.state)), float(function(after))
        small = round_off_of(lambda _, x, q=function: float(q(x)), at.time, at.state, size=size, relative=KEPT)  # type: ignore[misc]
        if abs(new - old) > KEPT * max(abs(old), abs(new)) + small:
            raise SwitchFailed(f"the reset does not keep {name!r}: {old:.8g} before and {new:.8g} after")
        values[name] = new
    return values


def _terms(system: SwitchingPHDAE, at: Instant) -> float:
    """Sum of the magnitudes of the terms of H: |H| + Σ |∂H/∂x_i||x_i|."""
    mode = system.system(at.mode)
    gradient: Any = np.abs(mode.E(at.state).T @ mode.z(at.state))
    return abs(float(system.H(at.state))) + float(gradient @ np.maximum(np.abs(at.state), at.size))


MET = 1e-13
"""Defect of a constraint, relative to its largest terms, at which a state needs no impulse."""
SEARCH = IterationLimits(most=30, settled=1e-15, stagnated=1e-9, slow=0.1)
"""Tolerances of Newton's method for impulses, relative to impulses that change a state by its size."""
LOOSE = 1e-10
"""Relative singular value below which an algebraic costate counts as undetermined, and may be an impulse."""


class ImpulseResult(NamedTuple):
    """State (n,) after impulses of algebraic costates, and the impulses.

    ``impulse`` (n,) is E(x⁺ − x⁻), ``costate`` (n,) is ∫z dt, and ``free`` (k, n) has the rows a of the quantities a·x
    that do not change.
    """

    state: Array
    impulse: Array
    costate: Array
    free: Array

    @classmethod
    def none(cls, state: Array) -> ImpulseResult:
        """Result for a state without impulses, which is unchanged."""
        zero = np.zeros(state.size)
        return cls(state, zero, zero, np.zeros((0, state.size)))


def impulsive(equations: Equations, time: float, x: Array) -> ImpulseResult:
    """State that satisfies the constraints of a mode, after their impulses on the state x.

    With E = U₁U₁ᵀE V₁V₁ᵀ and A = J − R, the costates U₂μ that E does not act on may be infinite for an instant. Their
    power is finite if ``A₂₂μ = 0, A₂₂ = U₂ᵀA U₂``; then Rᵀ U₂μ = 0, too, as zᵀRz ≥ 0. With N an orthonormal basis of
    these μ and G = U₁ᵀA U₂N,

        ``U₁ᵀE(x⁺)V₁ V₁ᵀ(x⁺ − x⁻) = G μ,   −Gᵀz₁(x⁺) + NᵀU₂ᵀB u = 0``.

    The second equation holds because finite costates cannot balance it: A₂₂N = 0 makes it a condition on z₁ = U₁ᵀz.
    Impulses thus act only in the constraint directions, and the quantities a·x with a·E⁻¹G = 0 keep their value
    (``free``): the charge of capacitors that a switch connects, the momentum that an impact leaves free. For ẋ = J∇H +
    Gλ, 0 = Gᵀ∇H it is x⁺ = x⁻ + Gμ; the energy lost, H(x⁻) − H(x⁺) + uᵀBᵀU₂Nμ = H(x⁻) − H(x⁺) − ∇H(x⁺)·(x⁻ − x⁺), is
    not negative if H is convex, and x⁺ is then the nearest consistent state in energy. Matrices are evaluated at x⁺.

    Raises SwitchFailed if no impulse satisfies the constraints.
    """
    system, split = equations.system, equations.split
    N = _impulses(split.U2.T @ dense(system.J(x) - system.R(x)) @ split.U2)
    if not N.shape[1]:
        return ImpulseResult.none(x)._replace(free=split.V1.T)
    rows = split.U2 @ N

    def defect(y: Array) -> Array:
        return rows.T @ equations.flow(time, y)

    def directions(y: Array) -> tuple[Array, Array]:
        G = dense(system.J(y) - system.R(y)) @ rows
        return G, np.linalg.solve(split.U1.T @ dense(system.E(y)) @ split.V1, split.U1.T @ G)

    mu, after = np.zeros(N.shape[1]), x
    terms = _row_terms(equations, time, x, rows)
    if np.any(np.abs(defect(x)) > MET * terms):
        after, mu = _solved(x, defect, lambda y: split.V1 @ directions(y)[1], sizes(system, x))
        if np.any(np.abs(defect(after)) > CONSISTENT * np.maximum(terms, _row_terms(equations, time, after, rows))):
            raise SwitchFailed(
                f"no impulse satisfies the {N.shape[1]} constraints, which keep defects up to "
                f"{np.abs(defect(after)).max():.3g}"
            )
    G, moves = directions(after)
    free = null_space(moves.T, rcond=1e-12).T @ split.V1.T if moves.size else split.V1.T
    return ImpulseResult(after, split.U1 @ (split.U1.T @ (G @ mu)), rows @ mu, free)


def _impulses(inner: Array) -> Array:
    """Orthonormal basis (k, j) of the kernel of A₂₂ = U₂ᵀA U₂ (``inner``) of :func:`impulsive`.

    Rows and columns are scaled, as units differ.
    """
    if not inner.size:
        return np.zeros((len(inner), 0))
    scale = np.sqrt(np.maximum(np.abs(inner).max(axis=1), np.abs(inner).max(axis=0)))
    scale = np.where(scale > 0.0, scale, 1.0)
    kernel = singular_vectors(inner / scale[:, None] / scale[None, :], tolerance=LOOSE).null / scale[:, None]
    return np.linalg.qr(kernel)[0]


def _row_terms(equations: Equations, time: float, x: Array, rows: Array) -> Array:
    """Sum of the magnitudes of the terms of each constraint, a combination of the equations.

    The columns of ``rows`` are the weights of the equations.
    """
    system = equations.system
    z, u = np.abs(system.z(x)), np.abs(equations.forcing.at(time))
    flow = abs(dense(system.J(x) - system.R(x))) @ np.maximum(z, 1e-3 * z.max(initial=0.0))
    return np.maximum(np.abs(rows.T) @ (flow + abs(dense(system.B(x))) @ u), 1e-300)


def _solved(
    x: Array, defect: Callable[[Array], Array], directions: Callable[[Array], Array], size: Array
) -> tuple[Array, Array]:
    """Solve defect(x⁺) = 0 for x⁺ = x + D(x⁺)μ by Newton's method in μ; return x⁺ and μ.

    ``directions`` is D as a function of x⁺, ``size`` are the sizes of the states. For redundant constraints μ has the
    least norm.
    """

    def corrected(last: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        after, mu = last
        D = directions(after)
        here = defect(x + D @ mu)
        unit = 1.0 / np.maximum(np.abs(D / size[:, None]).max(axis=0), 1e-300)  # moves a state by its size
        slope = np.empty((here.size, D.shape[1]))
        for k in range(D.shape[1]):
            step = 1e-6 * unit[k] * D[:, k]
            slope[:, k] = central(defect, x + D @ mu, step) / 1e-6
        change = least_norm_step(slope, here, rcond=1e-9)
        mu = mu + unit * change
        return (x + D @ mu, mu), float(np.abs(change).max())

    return SEARCH.run((x, np.zeros(directions(x).shape[1])), corrected).value
