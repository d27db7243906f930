"""Runs of systems of particles in blocks of steps by a compiled loop; NumPy takes steps that it does not solve."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...discretisation.descriptor_split import split_of
from ...discretisation.discrete_gradient_pairs import KINDS, GradientPair, History
from ...discretisation.iteration import SOLVED
from ...discretisation.newton import REASONS
from ...discretisation.own_pair import OwnPair
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE
from ...systems.particle_terms import ParticleTerms
from ..methods.method import GeneralMethod
from ..times.loop import Block, Run
from .particles.arrays import ITERATION, OWN_PAIR, Space, space_of, table_of
from .particles.steps import take_steps
from .stepper import StepStart, grown, scaled_by

BY_TERMS = {**KINDS, "pair": OWN_PAIR}
"""Kinds of costates by names of methods."""
ROWS = ("states", "outputs", "energies", "dissipated", "iterations")
"""Arrays with one row per step."""
CHUNK_TIME = 0.1
"""Target duration of one call of the loop [s]: Ctrl-C and the progress bar wait for its end."""
CHUNK = 1000
"""Largest number of steps of one call."""
GROWTH = 32
"""Growth factor of the first calls, while the time per step is unknown."""


def steps_by_terms(system: PHDAE, method: GeneralMethod, *, events: bool) -> bool:
    """True if compiled loops can take the steps: of particles, by discrete gradients or the midpoint rule.

    Events, feedthrough, a tolerance, a completion rule, and invariants other than those of the particles exclude them.
    """
    terms = system.terms
    if not isinstance(terms, ParticleTerms) or method.name not in BY_TERMS:
        return False
    if method.name == "invariants" and system.invariants is not terms.invariants:
        return False
    if method.name != "midpoint" and (method.name == "pair") != bool(system.means):  # with means, by terms, too
        return False
    return method.tolerance is None and method.completion is None and not (events or system.has_feedthrough)


class ParticleStepper:
    """Stepper that takes many steps of a system of particles in one call of the compiled loop."""

    def __init__(self, system: PHDAE, method: str, forcing: Forcing) -> None:
        assert isinstance(system.terms, ParticleTerms)
        self.system, self.forcing, self.terms, self.kind = system, forcing, system.terms, BY_TERMS[method]
        self.method = method
        self.space = space_of(system.terms)

    def steps(self, start: StepStart, times: Array, saved: Array) -> tuple[Block, BaseException | None]:
        """Take the steps between the times (k + 1,), of which those marked in ``saved`` (k,) are saved.

        Returns the block of finished steps, and the exception that ended them or None. As long as all states have been
        zero, only the first of the steps is taken, as its scale follows from its own forces.
        """
        inputs, failure = _tabulated(self.forcing, times, self.system.inputs_size)
        if len(inputs) and not start.sizes.any():  # from zero each step is scaled separately
            inputs, failure = inputs[:1], None
        k, n = len(inputs), start.x.size
        rows = self.space._replace(
            times=np.array(times[: k + 1], dtype=float),
            input_values=np.ascontiguousarray(inputs, dtype=float),
            states=np.empty((k, n)),
            outputs=np.empty(inputs.shape),
            energies=np.empty(k),
            dissipated=np.empty(k),
            iterations=np.empty(k, dtype=np.int64),
        )
        done = 0
        if k:
            self._put(start, scaled_by(self.system, start, times[1] - times[0], inputs[0]))
            try:
                while done < k:
                    done += self._advance(rows, done)
                    if done < k:
                        self._with_effort(rows, done)
                        done += 1
            except BaseException as error:  # the steps before it are done
                failure = error
        return self._block(start, rows, done, saved=saved), failure

    def remember(self, kept: tuple[Any, ...]) -> None:
        """Restore the memory of the iteration, as stored at the end of a block."""
        for cells, values in zip(self._iteration(), kept, strict=True):
            cells[...] = values

    def _iteration(self) -> tuple[Array, ...]:
        return *(getattr(self.space, name) for name in ITERATION), self.space.factor_state

    def _put(self, start: StepStart, sizes: Array) -> None:
        """Write the start of the next step into the arrays of the loop, with the scales ``sizes`` (n,) of states."""
        s, none = self.space, History(start.energy, 0.0, 0.0 * start.x)
        account, exchanged, rate = none if start.history is None else self._history(start.history)
        s.size[:], s.x[:], s.last_rate[:] = sizes, start.x, rate
        s.energy[:] = start.energy, account, exchanged

    def _history(self, given: Any) -> History:
        """Convert the history of the one-step method to that of the loop.

        With the system's own pair, the history of the method is only the last rate of the states.
        """
        return History(0.0, 0.0, given) if self.kind == OWN_PAIR else given

    def _method_history(self, history: History) -> Any:
        """Convert the history of the loop to that of the one-step method."""
        return history.rate if self.kind == OWN_PAIR else history

    def _advance(self, rows: Space, done: int) -> int:
        """Take the steps from number ``done`` on in the loop, up to one that fails; return how many it took."""
        names = ("times", "input_values", *ROWS)
        rest = rows._replace(**{name: getattr(rows, name)[done:] for name in names})
        table = table_of(rest)
        take_steps(rest, table.ctypes.data, self.terms.dim, self.kind)
        return int(rest.outcome[0])

    def _by_numpy(self) -> OwnPair | GradientPair:
        """One-step method that takes the same steps by NumPy, from the functions of the system."""
        if self.kind == OWN_PAIR:
            return OwnPair(self.system)
        return GradientPair(self.system, self.method, split_of(dense(self.system.E(self.system.sample))))

    def _with_effort(self, rows: Space, k: int) -> None:
        """Take step ``k`` of a block by NumPy, whose iteration has more fallbacks than that of the loop.

        Raises StepFailed.
        """
        s, (_, status, iterations) = rows, rows.outcome.tolist()
        assert status != SOLVED
        history = History(float(s.energy[1]), float(s.energy[2]), s.last_rate.copy())
        h = float(rows.times[k + 1] - rows.times[k])
        try:
            advance = self._by_numpy().step(
                s.x.copy(), h, rows.input_values[k], s.size.copy(), history=self._method_history(history)
            )
        except StepFailed:
            raise StepFailed(REASONS[status], iterations, float(s.defect[0])) from None
        rows.states[k], rows.outputs[k], rows.energies[k] = advance.state, advance.output, advance.energy
        rows.dissipated[k], rows.iterations[k] = advance.dissipated, advance.iterations
        account, exchanged, s.last_rate[:] = self._history(advance.history)
        s.x[:], s.factor_state[:], s.energy[:] = advance.state, 0, (advance.energy, account, exchanged)
        s.size[:] = grown(s.size, np.abs(advance.state))

    def _block(self, start: StepStart, rows: Space, k: int, *, saved: Array) -> Block:
        """Block of the first ``k`` steps, to be recorded; ``rows`` are the arrays with their results."""
        if not k:
            return Block({}, saved[:0], start, 0)
        states, outputs, energy, lost, iterations = (getattr(rows, name)[:k] for name in ROWS)
        times, inputs, s = rows.times, rows.input_values[:k], self.space
        h, ports = np.diff(times[: k + 1]), self.system.ports.values()
        works = [h * np.einsum("ij,ij->i", outputs[:, port], inputs[:, port]) for port in ports]
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
        sizes = s.size.copy() if start.sizes.any() else grown(start.sizes, np.abs(states).max(axis=0))
        history = History(float(s.energy[1]), float(s.energy[2]), s.last_rate.copy())
        end = StepStart(float(times[k]), states[-1].copy(), float(energy[-1]), sizes, self._method_history(history))
        return Block(values, saved[:k], end, k, restart=tuple(array.copy() for array in self._iteration()))


def in_blocks(run: Run, stepper: ParticleStepper, grid: Array, save_every: int) -> Iterator[Block]:
    """Take steps from each time to the next in the loop, and yield them in blocks.

    Raises the error of a step that fails, after the block of the steps before it.
    """
    saved = np.arange(1, len(grid)) % save_every == 0
    done, length = run.reached, 1
    if run.restart:
        stepper.remember(run.restart)
    while done < grid.size - 1:
        clock = time.perf_counter()
        block, failure = stepper.steps(run.start, grid[done : done + length + 1], saved[done : done + length])
        if block.reached:
            yield block
            done += block.reached
        if failure is not None:
            run.begin_trial(float(grid[done]), float(grid[min(done + 1, grid.size - 1)]))  # also after the last step
            raise failure
        per_step = (time.perf_counter() - clock) / block.reached
        length = max(1, min(CHUNK, GROWTH * length, int(CHUNK_TIME / per_step)))


def _tabulated(forcing: Forcing, times: Array, size: int) -> tuple[Array, BaseException | None]:
    """Inputs (k, size) at the middles of steps, up to the first one whose evaluation raises; its exception or None."""
    middles = 0.5 * (times[:-1] + times[1:])
    try:
        return np.array(np.broadcast_to(forcing.at_times(middles), (middles.size, size))), None
    except Exception:  # find the one that fails
        rows: list[Array] = []
        try:
            for middle in middles.tolist():
                rows.append(forcing.at(middle))
        except Exception as error:
            return np.array(rows).reshape(len(rows), size), error
        return np.array(rows), None
