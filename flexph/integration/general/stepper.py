"""Steps of general systems by a one-step method: inputs, sizes of states, work and losses, errors of pairs of steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...consistency.equations import sizes, with_algebraic
from ...discretisation.descriptor_split import differential_states
from ...discretisation.discretised import Advance
from ...discretisation.newton import Newton
from ...kernels.convergence.tolerances import LEFT
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ..times.loop import Run
from ..times.step_control import Tried
from ..times.step_size import tolerances_of_states


class OneStepMethod(Protocol):
    """Protocol of a one-step method for one system, with the iteration that solves its steps."""

    newton: Newton

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: Any = None) -> Advance:
        """Take a step of length h [s] from x₀ under constant inputs u (m,); raises StepFailed.

        ``size`` (n,) are scales of the states, ``history`` comes from the result of the last step.
        """


class StepStart(NamedTuple):
    """Time, state and energy from which a step starts: the start of the run or the end of the step before.

    ``sizes`` are the largest values of the states so far (n,), ``history`` the method's record of the last steps.
    """

    time: float
    x: Array
    energy: float
    sizes: Array
    history: Any = None


class StepResult(NamedTuple):
    """Result of a step.

    ``output`` (m,) are the outputs of the system at the ``middle`` of the step [s]; ``flows`` are the work of each port
    and the loss [J], ``residual`` is the defect of the energy balance of the step [J]. ``before`` is the state at its
    start, if the step redefines algebraic states there.
    """

    end: StepStart
    middle: float
    output: Array
    flows: Array
    residual: float
    iterations: int
    before: Array | None = None

    def with_sizes(self, sizes: Array) -> StepResult:
        """Copy in which the sizes of states at the end are at least the sizes of earlier states, ``sizes`` (n,)."""
        return self._replace(end=self.end._replace(sizes=np.maximum(self.end.sizes, sizes)))

    def row(self) -> dict[str, Any]:
        """Row of the recorder for the step, by the names of its columns."""
        row = {
            "time": self.end.time,
            "middle": self.middle,
            "state": self.end.x,
            "energy": self.end.energy,
            "output": self.output,
            "flows": self.flows,
            "residual": self.residual,
            "counts": (self.iterations, 1.0, 0.0),
        }
        return row if self.before is None else {**row, "state_before": self.before}


class SystemStepper:
    """Stepper of a general system by a one-step method under inputs.

    ``usual`` is a function of time that returns the prescribed length of the steps there [s]. In a shorter step, up
    to an event, round-off of multipliers grows in inverse proportion to the length. Their scale is enlarged then, so
    that the iteration still converges relative to it.
    """

    def __init__(self, system: PHDAE, method: OneStepMethod, forcing: Forcing, usual: Callable[[float], float]) -> None:
        self.system, self.method, self.forcing, self.usual = system, method, forcing, usual
        self._ports = list(system.ports.values())
        self._algebraic = ~dense(system.E(system.sample)).any(axis=0)

    def step(self, start: StepStart, time: float, usual: float | None = None) -> StepResult:
        """Take the step from a start to a time [s]; raises StepFailed.

        ``usual`` [s] is the length of the neighbouring steps, by default the prescribed one.
        """
        h, middle = time - start.time, 0.5 * (start.time + time)
        u = self.forcing.at(middle)
        size, usual = scaled_by(self.system, start, h, u), self.usual(start.time) if usual is None else usual
        if h < usual:
            size = np.where(self._algebraic, usual / h, 1.0) * size
        advance = self.method.step(start.x, h, u, size, history=start.history)
        if advance.closing is not None:
            end = advance.closing(self.forcing.at(time))
            advance = advance._replace(state=end, energy=self.system.H(end))
        works = [h * float(advance.output[port] @ u[port]) for port in self._ports]
        energy, lost = float(advance.energy), float(advance.dissipated)
        return StepResult(
            end=StepStart(time, advance.state, energy, grown(start.sizes, np.abs(advance.state)), advance.history),
            middle=middle,
            output=advance.output,
            flows=np.array([*works, lost]),
            residual=abs(energy - start.energy - sum(works) + lost),
            iterations=advance.iterations,
            before=advance.start,
        )


def start_at(system: PHDAE, time: float, x0: Array) -> StepStart:
    """Start of the first step of a run, from the state x₀ at a time [s]."""
    sizes = with_algebraic(system, x0, np.maximum(np.abs(x0), system.floor(x0)))
    return StepStart(time, x0, float(system.H(x0)), sizes)


def spacing(grid: Array) -> Callable[[float], float]:
    """Function of time that returns the length [s] of the interval of the grid in which the time lies."""
    lengths = np.diff(grid)
    return lambda time: float(lengths[min(int(np.searchsorted(grid, time, side="right")), lengths.size) - 1])


def scaled_by(system: PHDAE, start: StepStart, h: float, u: Array) -> Array:
    """Scales of the states (n,) in a step of h [s]: their largest values so far.

    If all states have been zero so far, all scales are the change of a state by the largest force in the step, or 1
    without forces.
    """
    if start.sizes.any():
        return start.sizes
    x, z = start.x, system.z(start.x)
    forces = np.abs(system.J(x) @ z - system.R(x) @ z + system.port_matrices(x).flow(u)).max(initial=0.0)
    return np.full(x.size, h * forces / max(np.abs(dense(system.E(x))).max(initial=0.0), 1e-300) or 1.0)


def grown(sizes: Array, states: Array) -> Array:
    """Sizes (n,) raised to the values ``states`` (n,) where these are larger.

    Sizes that are then still zero become 1/1000 of the largest.
    """
    sizes = np.maximum(sizes, states)
    return np.maximum(sizes, 1e-3 * sizes.max()) if sizes.size and not sizes.all() else sizes


START = 3
"""Number of pairs in the first block: their ends and the start give the third difference of the estimate."""

Ends = list[tuple[float, Array]]
"""Times and states at the ends of pairs."""


class PairError:
    """Error estimate of pairs of steps of a general system, relative to its tolerance.

    For pairs of steps of length h it is ε = rms(e/size)^⅔ / rtol. The error e = h³ x[t₋₂, t₋₁, t₀, t₁] of the pair has
    the divided difference of the differential states x at the ends of the last three pairs and the new one, which is
    about x‴/6. A state with size/τ³ = x‴ changes on the time scale τ, and h is proportional to τ √rtol: the
    error of a state over one of its time scales is proportional to rtol times its size, for any h.

    A state may also alternate from step to step, as velocities do that a constraint does not allow; the ends of pairs
    do not show that. If a is half the amplitude, ε is at least rms(a/size)/(10 rtol).

    The size of a state is |x| + atol/rtol; without an atol it is |x| plus the size that
    :func:`flexph.consistency.equations.sizes` returns. The first three pairs, and those after a rejection, are of equal
    length and accepted or rejected together.
    """

    def __init__(self, stepper: SystemStepper, x0: Array, tolerance: Any) -> None:
        self.stepper = stepper
        self.rtol, atol = tolerances_of_states(tolerance, x0.size)
        self._floor = sizes(stepper.system, x0) if atol is None else atol / self.rtol
        self._own = differential_states(stepper.system)[0]

    def initial(self, start: StepStart) -> Ends:
        """State of the estimate at the start of a run: time and state there, as if a pair ended there."""
        return [(start.time, start.x)]

    def count(self, history: Ends) -> int:
        """Number of steps of the next block: two, or six for the first three pairs after a start or a rejection."""
        return 2 if len(history) == START else 2 * START

    def attempt(self, run: Run, times: Array, history: Ends) -> Tried:
        """Try the steps from the current start through ``times``, and estimate the error of their last pair.

        After a rejection the ends of earlier pairs are dropped: a divided difference over long steps would not show a
        kink within a short step.
        """
        start, steps, sizes = run.start, [], run.start.sizes
        usual = max(float(times[-1] - times[0]) / (times.size - 1), run.longest)
        try:
            for end in times[1:].tolist():
                run.begin_trial(start.time, end)
                first = start._replace(sizes=sizes)  # sizes of accepted states
                result = self.stepper.step(first, end, max(end - start.time, run.longest))
                result = result.with_sizes(start.sizes)
                steps.append((start, result, partial(self.stepper.step, start, usual=usual)))
                start = result.end
        except StepFailed as failed:
            return Tried([], math.inf, str(failed), history[-1:])
        ends = history + [(result.end.time, result.end.x) for _, result, _ in steps[1::2]]
        error = self._error(ends[-START - 1 :], steps[-1][0].x)
        cause = f"the error is still {error:.1f} times the tolerance"
        return Tried(steps, error, cause, ends[-START:] if error <= 1.0 else history[-1:])

    def _error(self, ends: list[tuple[float, Array]], middle: Array) -> float:
        """Error of the last pair divided by rtol.

        ``ends`` are time and state at the ends of the last four pairs, ``middle`` is the state in the middle of the
        last one.
        """
        times, states = (np.array(values) for values in zip(*ends, strict=True))
        h, size = 0.5 * (times[-1] - times[-2]), np.abs(states[-2:]).max(axis=0) + self._floor
        missing = h**3 * divided_difference(times, states)
        bend = 0.5 * h**2 * divided_difference(times[1:], states[1:])
        turning = 0.25 * (states[-2] - 2.0 * middle + states[-1]) - bend
        errors = self._mean(missing, size) ** (2.0 / 3.0), self._mean(turning, size) / LEFT
        return max(errors) / self.rtol

    def _mean(self, x: Array, size: Array) -> float:
        """Root mean square of the differential part of the vector ``x`` (n,), divided by the scales ``size`` (n,)."""
        projected = self._own @ (self._own.T @ x)
        return float(np.linalg.norm(projected / size)) / math.sqrt(max(self._own.shape[1], 1))


def divided_difference(times: Array, values: Array) -> Array:
    """Newton's divided difference of values (k, n) at times (k,): the derivative of order k − 1 divided by (k − 1)!."""
    differences: Array = values
    for k in range(1, len(times)):
        differences = np.diff(differences, axis=0) / (times[k:] - times[:-k])[:, None]
    return differences[0]
