"""Runs of systems whose functions numba compiles: the functions bound to the compiled loop; needs numba."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...discretisation.descriptor_split import Split, differential_split
from ...discretisation.discrete_gradient_pairs import GradientPair, History, Plain, pair_of
from ...discretisation.iteration import SOLVED
from ...discretisation.newton import REASONS
from ...numerics.arrays import Array, dense
from ...numerics.compiled.announcing import announced
from ...numerics.compiled.functions import compiled_function
from ...numerics.step_failed import StepFailed
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ..times.loop import Block, Run
from .compiled_steps import MATRIX, VECTOR, Memory, Rows, costates_of, float64, loop
from .stepper import StepStart, grown, scaled_by

ABSENT: dict[tuple[int, str], Callable[..., Any]] = {
    (1, "matrix"): lambda x: np.empty((0, 0)),
    (2, "matrix"): lambda x, y: np.empty((0, 0)),
    (1, "vector"): lambda x: np.empty(0),
    (2, "vector"): lambda x, y: np.empty(0),
    (1, "number"): lambda x: 0.0,
}
"""In place of functions that a system does not have, by the number of their arguments and their results."""
RESULTS = {"matrix": MATRIX, "vector": VECTOR, "number": float64}
CHUNK_TIME = 0.1
"""Aim for one call of the compiled loop [s]: Ctrl-C and the progress bar wait for its end."""
CHUNK = 1000
"""Largest number of steps of one call."""
GROWTH = 32
"""Factor between the first calls, whose time per step is not known."""


class Compiled(Plain):
    """How the compiled loop takes the functions and matrices of a system: compiled, dense and contiguous.

    Raises ValueError, naming the function, where numba cannot compile one.
    """

    def function(self, words: str, function: Any, arguments: int = 1, result: str = "matrix") -> Any:
        """A function of so many states, or None; ``words`` name it in errors."""
        known = ABSENT[arguments, result] if function is None else function
        return compiled_function(words, known, (VECTOR,) * arguments, RESULTS[result])

    def energy(self, function: Any) -> Any:
        """H."""
        return self.function("H", function, 1, "number")

    def matrix(self, matrix: Any) -> Any:
        """A copy of a constant matrix in the layout, and with the permission to write, of the compiled signature."""
        return np.array(dense(matrix), dtype=float, order="C")

    def costates_of(self, split: Split, E: Array | None) -> Any:
        """The function of E, and of U₂V₂ᵀ, to U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ; E is that of the sample where it varies."""
        function = ABSENT[2, "matrix"] if E is None else costates_of
        return compiled_function("costates", function, (MATRIX, MATRIX), MATRIX)


class CompiledStepper:
    """Many steps of a method by one call.

    Raises ValueError, naming the function, where numba cannot compile one of the system's.
    """

    def __init__(self, system: PHDAE, method: str, forcing: Forcing) -> None:
        self.system, self.forcing = system, forcing
        split, n = differential_split(system), system.size
        if split is None:
            raise ValueError("compiled=True takes no singular E(x) that is not semi-explicit: leave compiled=True out")
        self._plain = GradientPair(system, method, split)
        with announced():
            self.pair, self._run = pair_of(system, method, split, Compiled()), loop()
        self.memory = Memory(
            x=np.zeros(n),
            size=np.ones(n),
            energy=np.zeros(3),
            rate=np.zeros(n),
            inverse=np.zeros((n, n)),
            scaled=np.ones(n),
            known=np.zeros(1, dtype=np.int64),
        )

    def steps(self, start: StepStart, times: Array, saved: Array) -> tuple[Block, BaseException | None]:
        """Steps between the times (k + 1,), ``saved`` or not (k,), up to one that fails, and how it does."""
        inputs, failure = _tabulated(self.forcing, times, self.system.inputs_size)
        if len(inputs) and not start.sizes.any():  # from zero each step is scaled by itself
            inputs, failure = inputs[:1], None
        k, n = len(inputs), start.x.size
        rows = Rows(
            states=np.empty((k, n)),
            outputs=np.empty(inputs.shape),
            energy=np.empty(k),
            dissipated=np.empty(k),
            iterations=np.empty(k, dtype=np.int64),
            end=np.zeros(3, dtype=np.int64),
            defect=np.zeros(1),
        )
        if k:
            self._put(start, scaled_by(self.system, start, times[1] - times[0], inputs[0]))
            try:
                self._advance(times[: k + 1], inputs, rows)
            except BaseException as error:  # the steps before are done
                failure = error
        return self._block(start, times, inputs, rows, saved=saved), failure

    def remember(self, kept: tuple[Any, ...]) -> None:
        """Set what the iteration knows of the steps before, as a block keeps it."""
        for own, values in zip(self._iteration(), kept, strict=True):
            own[...] = values

    def _remembered(self) -> tuple[Array, ...]:
        return tuple(own.copy() for own in self._iteration())

    def _iteration(self) -> tuple[Array, ...]:
        """The inverse Jacobian, and of what."""
        return self.memory.inverse, self.memory.scaled, self.memory.known

    def _put(self, start: StepStart, sizes: Array) -> None:
        """Set where the next step starts."""
        m, (account, exchanged, rate) = self.memory, start.history or History(start.energy, 0.0, 0.0 * start.x)
        m.size[:], m.x[:], m.rate[:] = sizes, start.x, rate
        m.energy[:] = start.energy, account, exchanged

    def _advance(self, times: Array, inputs: Array, rows: Rows) -> None:
        """All steps, some of them by NumPy; raises StepFailed and what functions of the system raise."""
        while rows.end[0] < len(inputs):
            done = int(rows.end[0])
            rest = Rows._make([*(part[done:] for part in rows[:5]), np.zeros(3, dtype=np.int64), rows.defect])
            try:
                self._run(self.pair, self.memory, rest, np.array(times[done:]), inputs[done:])
            finally:
                rows.end[0] = done = done + int(rest.end[0])
            if rest.end[1] != SOLVED:
                self._with_effort(times[done + 1] - times[done], inputs[done], rest, int(rest.end[0]))
                rows.end[0] += 1

    def _with_effort(self, h: float, u: Array, rows: Rows, k: int) -> None:
        """The k-th of these rows by NumPy, where the iteration has further resorts; raises StepFailed."""
        _, status, iterations = rows.end.tolist()
        m = self.memory
        history = History(float(m.energy[1]), float(m.energy[2]), m.rate.copy())
        try:
            advance = self._plain.step(m.x.copy(), h, u, m.size.copy(), history=history)
        except StepFailed:
            raise StepFailed(REASONS[status], iterations, float(rows.defect[0])) from None
        rows.states[k], rows.outputs[k], rows.energy[k] = advance.state, advance.output, advance.energy
        rows.dissipated[k], rows.iterations[k] = advance.dissipated, advance.iterations
        account, exchanged, m.rate[:] = advance.history
        m.x[:], m.known[0], m.energy[:] = advance.state, 0, (advance.energy, account, exchanged)
        m.size[:] = grown(m.size, np.abs(advance.state))

    def _block(self, start: StepStart, times: Array, inputs: Array, rows: Rows, *, saved: Array) -> Block:
        """The steps that the compiled loop has finished."""
        k = int(rows.end[0])
        if not k:
            return Block({}, saved[:0], start, 0)
        states, outputs, energy, lost, iterations = (part[:k] for part in rows[:5])
        h, ports = np.diff(times[: k + 1]), self.system.ports.values()
        works = [h * np.einsum("ij,ij->i", outputs[:, port], inputs[:k, port]) for port in ports]
        change = np.diff(energy, prepend=start.energy)
        values = {
            "time": times[1 : k + 1, None],
            "middle": 0.5 * (times[:k] + times[1 : k + 1])[:, None],
            "state": states,
            "energy": energy[:, None],
            "output": outputs,
            "flows": np.column_stack([*works, lost]),
            "residual": np.abs(change - sum(works, np.zeros(k)) + lost)[:, None],
            "counts": np.column_stack([iterations, np.ones(k), np.zeros(k)]),
        }
        sizes = self.memory.size.copy() if start.sizes.any() else grown(start.sizes, np.abs(states).max(axis=0))
        history = History(float(self.memory.energy[1]), float(self.memory.energy[2]), self.memory.rate.copy())
        end = StepStart(float(times[k]), states[-1].copy(), float(energy[-1]), sizes, history)
        return Block(values, saved[:k], end, k, then=self._remembered())


def in_blocks(run: Run, stepper: CompiledStepper, grid: Array, save_every: int) -> Iterator[Block]:
    """Steps from each time to the next by calls of the compiled loop of many steps each."""
    saved = np.arange(1, len(grid)) % save_every == 0
    done, length = run.reached, 1
    if run.then:
        stepper.remember(run.then)
    while done < grid.size - 1:
        clock = time.perf_counter()
        block, failure = stepper.steps(run.start, grid[done : done + length + 1], saved[done : done + length])
        if block.reached:
            yield block
            done += block.reached
        if failure is not None:
            run.trying(float(grid[done]), float(grid[min(done + 1, grid.size - 1)]))  # also after the last step
            raise failure
        per_step = (time.perf_counter() - clock) / block.reached
        length = max(1, min(CHUNK, GROWTH * length, int(CHUNK_TIME / per_step)))


def _tabulated(forcing: Forcing, times: Array, size: int) -> tuple[Array, BaseException | None]:
    """Inputs (k, size) in the middles of steps, up to the first that fails, and how it fails."""
    middles = 0.5 * (times[:-1] + times[1:])
    try:
        return np.array(np.broadcast_to(forcing.over(middles), (middles.size, size))), None
    except Exception:  # which one is it?
        rows: list[Array] = []
        try:
            for middle in middles.tolist():
                rows.append(forcing.at(middle))
        except Exception as error:
            return np.array(rows).reshape(len(rows), size), error
        return np.array(rows), None
