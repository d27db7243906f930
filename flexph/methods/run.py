"""Time integration of general port-Hamiltonian systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from .. import checks as check
from ..inputs import Forcing, Input
from ..phdae import PHDAE
from ..space import Array
from ..trajectory import Balance, Trajectory
from ..unfinished import InputError, IntegrationError, IntegrationInterrupted
from .adaptive import integrate_adaptively
from .collocation import Gauss
from .events import Event, Watch
from .library import SOLVERS
from .newton import StepFailed
from .pairs import Advance, Dirac, GradientPair
from .structure import dense


class Stepper(Protocol):
    """A one-step method bound to a system."""

    def step(self, x0: Array, h: float, u: Array, size: Array) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""


METHODS: dict[str, Callable[[PHDAE], Stepper]] = {
    "gonzalez": lambda system: GradientPair(system, "gonzalez"),
    "mean_value": lambda system: GradientPair(system, "mean_value"),
    "invariants": lambda system: GradientPair(system, "invariants"),
    "dirac": Dirac,
    "midpoint": lambda system: Gauss(system, 1),
    "gauss4": lambda system: Gauss(system, 2),
    "gauss6": lambda system: Gauss(system, 3),
}


def integrate_system(
    system: PHDAE,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: str,
    inputs: Mapping[str, Input],
    tolerance: Any = None,
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
    dim: int | None = None,
) -> Trajectory:
    """See :func:`flexph.integrate`; ``dim`` tells the components of a load that is given once for all elements."""
    check.choice("method", method, (*METHODS, *SOLVERS))
    x0 = check.array("start", start, (system.size,))
    grid = ascending(times)
    check.count("save_every", save_every)
    system.check(x0)
    forcing = Forcing(system.ports, inputs, dim)
    if method in SOLVERS:
        kept = grid[sorted({*range(0, grid.size, save_every), grid.size - 1})]
        return integrate_adaptively(
            system,
            x0,
            kept,
            method=method,
            tolerance=tolerance,
            forcing=forcing,
            events=events or {},
            progress=progress,
        )
    if tolerance is not None:
        raise ValueError(
            f"method {method!r} takes the steps that times prescribe: only {_listed(SOLVERS)} take a tolerance"
        )
    return _in_steps(system, x0, grid, method, forcing, Watch(events or {}, float(grid[0]), x0), save_every, progress)


def _in_steps(
    system: PHDAE,
    x0: Array,
    grid: Array,
    method: str,
    forcing: Forcing,
    watch: Watch,
    save_every: int,
    progress: bool,
) -> Trajectory:
    """One step from each time to the next."""
    stepper = METHODS[method](system)
    run = _Run(system, x0, float(grid[0]), save_every, method, watch)
    bar = tqdm(grid[:-1], delay=1.0, disable=None if progress else True, unit="step")
    try:
        for t0, t1 in zip(bar, grid[1:], strict=True):
            if run.advance(stepper, forcing, float(t0), float(t1)):
                bar.close()
                break
    except StepFailed as error:
        raise IntegrationError(_explain(method, t0, t1, error, run.count), run.trajectory()) from error
    except KeyboardInterrupt:
        done = run.trajectory()
        message = f"interrupted at t = {done.times[-1]:.6g} s; the finished steps are in .solution"
        raise IntegrationInterrupted(message, done) from None
    except Exception as error:  # inputs and matrix functions may raise anything: the finished steps are kept
        raise InputError(f"between t = {t0:.6g} s and {t1:.6g} s: {error}", run.trajectory()) from error
    return run.trajectory()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def ascending(times: Sequence[float] | Array) -> Array:
    """At least two ascending times."""
    grid = check.array("times", times, (None,))
    if grid.size < 2:
        raise ValueError(f"times must have at least two entries, got {grid.size}")
    if np.any(np.diff(grid) <= 0.0):
        k = int(np.argmax(np.diff(grid) <= 0.0))
        raise ValueError(
            f"times must ascend: step {k} from {grid[k]} s to {grid[k + 1]} s is {grid[k + 1] - grid[k]:.3g} s"
        )
    return grid


def _explain(method: str, t0: float, t1: float, error: StepFailed, count: int) -> str:
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved by {method!r}: {error} "
        f"after {error.iterations} iterations, last relative correction {error.defect:.1e}; try a smaller step, a "
        f"start that meets the algebraic equations, and look for an index above 2. {count} steps before it are "
        "finished and kept in .solution"
    )


class _Run:
    """The loop's working memory: the state and the rows kept so far; sums and maxima between them."""

    def __init__(self, system: PHDAE, x0: Array, t0: float, save_every: int, method: str, watch: Watch) -> None:
        self.system, self.x, self.save_every, self.method, self.watch = system, x0, save_every, method, watch
        self.energy = system.H(x0)
        self.algebraic = ~dense(system.E(x0)).any(axis=0)
        self.size = np.maximum(np.abs(x0), system.floor(x0))
        self.times, self.states, self.energies = [t0], [x0], [self.energy]
        self.middles: list[float] = []
        self.outputs: list[Array] = []
        self.flows: list[Array] = []
        self.pending: tuple[float, float, Array, Array] | None = None
        self.count = 0

    def advance(self, stepper: Stepper, forcing: Forcing, t0: float, t1: float) -> bool:
        """One step, or a shorter one up to a terminal event, and whether there was one.

        States at events are those of a step of their own that ends there, as exact as any other.
        """
        start = self.x
        size = self.size if self.size.any() else self._first_size(t1 - t0, forcing.at(0.5 * (t0 + t1)))

        @lru_cache(maxsize=1)  # the step that ends at an event is taken as it was found
        def to(time: float) -> tuple[Array, Advance]:
            u = forcing.at(0.5 * (t0 + time))
            # what a short step says of multipliers is lost in round-off, in proportion
            loose = size if time == t1 else np.where(self.algebraic, (t1 - t0) / (time - t0), 1.0) * size
            return u, stepper.step(start, time - t0, u, loose)

        u, made = to(t1)
        stop = self.watch.look(t0, t1, made.state, lambda t: start if t == t0 else to(t)[1].state)
        if stop is None or stop == t1:
            self.keep(t0, t1, u, made)
        elif stop > t0:
            self.keep(t0, stop, *to(stop))
        return stop is not None

    def _first_size(self, h: float, u: Array) -> Array:
        """Where all states are zero: what a step brings about, or one."""
        system, x = self.system, self.x
        z = system.z(x)
        forces = np.abs(system.J(x) @ z - system.R(x) @ z + system.B(x) @ u).max(initial=0.0)
        return np.full(x.size, h * forces / max(np.abs(dense(system.E(x))).max(initial=0.0), 1e-300) or 1.0)

    def keep(self, t0: float, t1: float, u: Array, advance: Advance) -> None:
        """Book a step: work by port, dissipation, residual, iterations."""
        h, energy = t1 - t0, float(self.system.H(advance.state))
        work = np.array([h * float(advance.output[p] @ u[p]) for p in self.system.ports.values()])
        residual = abs(energy - self.energy - work.sum() + advance.dissipated)
        flow = np.array([*work, advance.dissipated, residual, advance.iterations])
        if self.pending is not None:
            worst = max(residual, self.pending[3][-2])
            flow = flow + self.pending[3]
            flow[-2] = worst
        self.x, self.energy, self.count = advance.state, energy, self.count + 1
        self.size = np.maximum(self.size, np.abs(advance.state))
        if not self.size.all():
            self.size = np.maximum(self.size, 1e-3 * self.size.max(initial=0.0))
        self.pending = (t1, 0.5 * (t0 + t1), advance.output, flow)
        if self.count % self.save_every == 0:
            self._flush()

    def _flush(self) -> None:
        if self.pending is not None:
            time, middle, output, flow = self.pending
            self.times.append(time)
            self.states.append(self.x)
            self.energies.append(self.energy)
            self.middles.append(middle)
            self.outputs.append(output)
            self.flows.append(flow)
            self.pending = None

    def trajectory(self) -> Trajectory:
        """The finished steps; the last one is always kept."""
        self._flush()
        ports = self.system.ports
        flows = np.array(self.flows).reshape(len(self.flows), len(ports) + 3)
        outputs = np.array(self.outputs).reshape(len(self.outputs), self.system.inputs_size)
        return Trajectory(
            system=self.system,
            times=np.array(self.times),
            states=np.array(self.states),
            output_times=np.array(self.middles),
            outputs={name: outputs[:, part] for name, part in ports.items()},
            balance=Balance(
                energy=np.array(self.energies),
                work={name: flows[:, i] for i, name in enumerate(ports)},
                dissipation=flows[:, -3],
                residual=flows[:, -2],
                iterations=flows[:, -1],
            ),
            method=self.method,
            events=self.watch.occurrences(),
        )
