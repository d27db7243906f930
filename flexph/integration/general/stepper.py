"""Steps of general systems by a one-step method: inputs, sizes of states, work and losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...consistency.equations import with_algebraic
from ...discretisation.discretised import Advance
from ...discretisation.newton import Newton
from ...numerics.arrays import Array, dense
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE


class OneStepMethod(Protocol):
    """One-step method bound to a system, with the iteration that solves its steps."""

    newton: Newton

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: Any = None) -> Advance:
        """Advance by h under constant inputs; ``history`` comes from the last step's result. Raises StepFailed."""


class StepStart(NamedTuple):
    """End of a step, from which the next one starts.

    ``sizes`` are the largest values of the states so far (n,), ``history`` the method's record of the last steps.
    """

    time: float
    x: Array
    energy: float
    sizes: Array
    history: Any = None


class StepResult(NamedTuple):
    """Result of a step: output (m,) at its ``middle``, works and loss as ``flows``, iterations.

    ``before`` is the state at its start, if the step redefines algebraic states there.
    """

    end: StepStart
    middle: float
    output: Array
    flows: Array
    residual: float
    iterations: int
    before: Array | None = None

    def with_sizes(self, sizes: Array) -> StepResult:
        """Step result with these sizes of earlier states."""
        return self._replace(end=self.end._replace(sizes=np.maximum(self.end.sizes, sizes)))

    def row(self) -> dict[str, Any]:
        """Recorded columns of the step."""
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
    """Stepper of a general system; ``usual`` gives the usual length of the run's steps at a time [s].

    In a shorter step, to an event, round-off of multipliers grows in proportion.
    """

    def __init__(self, system: PHDAE, method: OneStepMethod, forcing: Forcing, usual: Callable[[float], float]) -> None:
        self.system, self.method, self.forcing, self.usual = system, method, forcing, usual
        self._ports = list(system.ports.values())
        self._algebraic = ~dense(system.E(system.sample)).any(axis=0)

    def step(self, start: StepStart, time: float, usual: float | None = None) -> StepResult:
        """Take the step from a start to a time [s], in a run of steps of length ``usual``; raises StepFailed."""
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
    """Step start at the beginning of a run."""
    sizes = with_algebraic(system, x0, np.maximum(np.abs(x0), system.floor(x0)))
    return StepStart(time, x0, float(system.H(x0)), sizes)


def spacing(grid: Array) -> Callable[[float], float]:
    """Length of the grid's step as a function of time."""
    lengths = np.diff(grid)
    return lambda time: float(lengths[min(int(np.searchsorted(grid, time, side="right")), lengths.size) - 1])


def scaled_by(system: PHDAE, start: StepStart, h: float, u: Array) -> Array:
    """Sizes of states: the largest so far or, if all are zero, the change of state in a step, or one."""
    if start.sizes.any():
        return start.sizes
    x, z = start.x, system.z(start.x)
    forces = np.abs(system.J(x) @ z - system.R(x) @ z + system.port_matrices(x).flow(u)).max(initial=0.0)
    return np.full(x.size, h * forces / max(np.abs(dense(system.E(x))).max(initial=0.0), 1e-300) or 1.0)


def grown(sizes: Array, states: Array) -> Array:
    """Sizes after further states (n,); a thousandth of the largest of all for states of zero size."""
    sizes = np.maximum(sizes, states)
    return np.maximum(sizes, 1e-3 * sizes.max()) if sizes.size and not sizes.all() else sizes
