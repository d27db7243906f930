"""Changes of mode: the new state, the energy lost, and the choice among several modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..consistency.equations import Equations
from ..discretisation.parametrized import gradient_pair
from ..integration.general.stepper import StepStart, grown, scaled_by
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from ..systems.inputs import Forcing
from .branch import Branch, noise
from .resets import Impulsive, impulsive
from .system import SwitchingPHDAE
from .trajectory import ModeChange
from .transition import Impasse, Reset, SwitchFailed
from .watch import Leaving, bounds

GAINED = 1e-11
"""Relative energy gain of a switch that is attributed to round-off of iterated states, relative to the terms of H."""
KEPT = 1e-10
"""Change of a quantity kept by a reset that is round-off, relative to its size, or to its change where states
change by their size. At a guard the quantity itself may be zero, up to the precision of the event."""
TRIAL = 1e-3
"""Length of the small step after which a candidate mode must be valid, relative to the usual step length."""


@dataclass(frozen=True, eq=False)
class DrivenSystem:
    """Switching system under inputs, up to a last time."""

    system: SwitchingPHDAE
    forcings: Mapping[str, Forcing]
    end: float

    def equations(self, mode: str, time: float) -> Equations:
        """Equations of a mode from a given time on."""
        end = self.end if self.end > time else np.inf
        return Equations(self.system.system(mode), self.forcings[mode], (time, end))

    def branch(self, mode: str, time: float, x: Array, *, entered: bool = True) -> Branch:
        """State with the algebraic states of a mode; raises SwitchFailed if there is none.

        Within a mode, steps meet constraints with time-dependent sources at their middle; only the state at which a
        mode is entered must be consistent.
        """
        careful = any(isinstance(t.when, Impasse) for t in self.system.leaving(mode))
        branch = Branch(self.equations(mode, time), time, x, careful=careful)
        if entered and branch.inconsistency:
            raise SwitchFailed(f"mode {mode!r} has no consistent state here: {branch.inconsistency}")
        return branch


@dataclass(frozen=True, eq=False)
class Instant:
    """Point of a run: time, mode, state with its algebraic states, and size of the states so far."""

    time: float
    mode: str
    state: Array
    size: Array


class Arrival(NamedTuple):
    """Switch, and the equations of the new mode from there on."""

    switch: ModeChange
    branch: Branch


def switched(
    world: DrivenSystem, at: Instant, targets: Sequence[str], *, cause: str, reset: Reset | None, step: float | None
) -> Arrival:
    """Change to the target mode that follows ([survey] sec. 5). Raises SwitchFailed if none can follow.

    ``step`` [s] is the usual step length; None for a single target that need not be valid.
    """
    where = f"{cause} at t = {at.time:.9g} s, from mode {at.mode!r}"
    if step is None:
        try:
            return arrived(world, at, targets[0], cause=cause, reset=reset)
        except ArithmeticError as error:
            raise SwitchFailed(f"{where}: {error}") from None
    arrivals: list[Arrival] = []
    reasons: list[str] = []
    for name in targets:
        try:
            arrival = arrived(world, at, name, cause=cause, reset=reset)
            reason = violated(world, arrival, at.size, step)
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


def arrived(world: DrivenSystem, at: Instant, target: str, *, cause: str, reset: Reset | None) -> Arrival:
    """Change to a mode. Raises SwitchFailed if it has no consistent state or a reset gains energy."""
    system = world.system
    if reset is None:
        moved, kept = _by_impulses(world, at, target), {}
    else:
        given = _reset(reset, at, system.size)
        moved, kept = Impulsive.none(given), _kept(reset, at, given)
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


def _by_impulses(world: DrivenSystem, at: Instant, target: str) -> Impulsive:
    try:
        return impulsive(world.equations(target, at.time), at.time, at.state)
    except ArithmeticError as error:
        raise SwitchFailed(f"mode {target!r} has no consistent state here: {error}") from None


def _work(world: DrivenSystem, target: str, time: float, x: Array, *, costate: Array) -> dict[str, float]:
    """Work of the sources during an impulse, by port."""
    mode = world.system.system(target)
    current, u = mode.B(x).T @ costate, world.forcings[target].at(time)
    own = {name: float(current[p] @ u[p]) for name, p in mode.ports.items()}
    return {name: own.get(name, 0.0) for name in world.system.ports}


def violated(world: DrivenSystem, arrival: Arrival, size: Array, step: float) -> str:
    """Description of the new mode's functions ``valid`` that are negative within a small step; empty if none."""
    switch, branch = arrival
    mode, time = switch.target, switch.time
    asked = [bound for bound in bounds(world.system, mode) if bound.transition is None]
    if not asked:
        return ""
    system, h = world.system.system(mode), TRIAL * step
    watch = Leaving(asked, branch, time, size)
    at_once = [(b, b.value) for b in asked if b.beyond]
    if not at_once:
        u = world.forcings[mode].at(time + 0.5 * h)
        start = StepStart(time, switch.after, 0.0, grown(size, np.abs(switch.after)))
        end = gradient_pair(system, "midpoint").step(switch.after, h, u, scaled_by(system, start, h, u))
        state = watch.branch.at(time + h, end.state)
        at_once = [(b, b(time + h, state)) for b in asked]
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
        small = noise(lambda _, x, q=function: float(q(x)), at.time, at.state, size=size, relative=KEPT)  # type: ignore[misc]
        if abs(new - old) > KEPT * max(abs(old), abs(new)) + small:
            raise SwitchFailed(f"the reset does not keep {name!r}: {old:.8g} before and {new:.8g} after")
        values[name] = new
    return values


def _terms(system: SwitchingPHDAE, at: Instant) -> float:
    """Sum of the magnitudes of the terms of H: |H| + Σ |∂H/∂x_i||x_i|."""
    mode = system.system(at.mode)
    gradient: Any = np.abs(mode.E(at.state).T @ mode.z(at.state))
    return abs(float(system.H(at.state))) + float(gradient @ np.maximum(np.abs(at.state), at.size))
