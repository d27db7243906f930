"""Runs of systems whose functions numba compiles: the functions bound to the compiled loop; needs numba."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...discretisation import discrete_gradient_pairs as pairs
from ...discretisation.broyden import REASONS
from ...discretisation.descriptor_split import dense, differential_split
from ...discretisation.discrete_gradient_pairs import GradientPair
from ...numerics.arrays import Array
from ...numerics.compiled_functions import compiled_function
from ...numerics.compiling import announced
from ...numerics.gauss_tableau import gauss_points
from ...numerics.step_failed import StepFailed
from ...systems.discrete_gradients import MEAN_POINTS
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE, Constant
from ..times.loop import Block, Run
from .compiled_steps import (
    CONSTANT,
    GONZALEZ,
    INVARIANTS,
    MATRIX,
    MEAN_VALUE,
    MIDPOINT,
    OF_STATE,
    OF_STEP,
    SIGNATURE,
    SOLVED,
    VECTOR,
    Constants,
    Functions,
    Memory,
    Rows,
    float64,
    no_matrix,
    no_mean,
    no_number,
    no_vector,
    run_steps,
)
from .stepper import StepStart, grown, scaled_by

KINDS = {"midpoint": MIDPOINT, "gonzalez": GONZALEZ, "mean_value": MEAN_VALUE, "invariants": INVARIANTS}
DERIVATIVES = ("costate", "descriptor", "structure", "inputs")
ONE, TWO = (VECTOR,), (VECTOR, VECTOR)


CHUNK_TIME = 0.1
"""Aim for one call of the compiled loop [s]: Ctrl-C and the progress bar wait for its end."""
CHUNK = 1000
"""Largest number of steps of one call."""
GROWTH = 32
"""Factor between the first calls, whose time per step is not known."""


class History(NamedTuple):
    """H, H by the account of work and dissipation, the energy exchanged in the last step, and its increment (n,)."""

    energy: Array
    increment: Array


class CompiledStepper:
    """Many steps of a method by one call.

    Raises ValueError, naming the function, where numba cannot compile one of the system's.
    """

    def __init__(self, system: PHDAE, method: str, forcing: Forcing) -> None:
        self.system, self.method, self.forcing = system, method, forcing
        n, own = system.size, {} if method == "midpoint" else system.means
        with announced():
            self.functions = _functions(system, method, own)
        self.constants = _constants(system, KINDS[method], own)
        known = np.zeros(1, dtype=np.int64)
        self.memory = Memory(np.zeros(n), np.ones(n), np.zeros(3), np.zeros(n), np.zeros((n, n)), known)
        with announced():
            self._run = _loop()

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
        return self._block(start, times, inputs, rows, saved), failure

    def _put(self, start: StepStart, sizes: Array) -> None:
        """Set where the next step starts; the inverse Jacobian scales along with the sizes."""
        m, history = self.memory, start.history
        m.inverse[:] *= (m.size / sizes)[:, None]
        m.size[:], m.x[:] = sizes, start.x
        m.energy[:] = (start.energy, start.energy, 0.0) if history is None else history.energy
        m.last[:] = 0.0 if history is None else history.increment

    def _advance(self, times: Array, inputs: Array, rows: Rows) -> None:
        """All steps, some of them by the loop in Python; raises StepFailed and what functions of the system raise."""
        while rows.end[0] < len(inputs):
            done = int(rows.end[0])
            rest = Rows._make([*(part[done:] for part in rows[:5]), np.zeros(3, dtype=np.int64), rows.defect])
            try:
                self._run(self.functions, self.constants, self.memory, rest, np.array(times[done:]), inputs[done:])
            finally:
                rows.end[0] = done = done + int(rest.end[0])
            if rest.end[1] != SOLVED:
                self._by_search(times[done + 1] - times[done], inputs[done], rest, int(rest.end[0]))
                rows.end[0] += 1

    def _by_search(self, h: float, u: Array, rows: Rows, k: int) -> None:
        """The k-th of these rows by the loop in Python, which has one resort more; raises StepFailed."""
        _, status, iterations = rows.end.tolist()
        m, plain = self.memory, GradientPair(self.system, self.method)
        history = pairs.History(float(m.energy[1]), float(m.energy[2]), m.last / h)
        try:
            advance = plain.step(m.x.copy(), h, u, m.size.copy(), history)
        except StepFailed:
            raise StepFailed(REASONS[status], iterations, float(rows.defect[0])) from None
        rows.states[k], rows.outputs[k], rows.energy[k] = advance.state, advance.output, advance.energy
        rows.dissipated[k], rows.iterations[k] = advance.dissipated, advance.iterations
        account, exchanged, rate = advance.history
        m.x[:], m.last[:], m.known[0] = advance.state, h * rate, 0
        m.energy[:] = advance.energy, account, exchanged
        m.size[:] = np.maximum(m.size, np.abs(advance.state))

    def _block(self, start: StepStart, times: Array, inputs: Array, rows: Rows, saved: Array) -> Block:
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
        sizes = grown(start.sizes, np.abs(states).max(axis=0))
        history = History(self.memory.energy.copy(), self.memory.last.copy())
        end = StepStart(float(times[k]), states[-1].copy(), float(energy[-1]), sizes, history)
        return Block(values, saved[:k], end, k)


def in_blocks(run: Run, stepper: CompiledStepper, grid: Array, save_every: int) -> Iterator[Block]:
    """Steps from each time to the next by calls of the compiled loop of many steps each."""
    saved = np.arange(1, len(grid)) % save_every == 0
    done, length = 0, 1
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


@cache
def _loop() -> Any:
    """The compiled loop, below numba's dispatcher: that would compile it anew for each function that it is given."""
    dispatcher: Any
    for dispatcher, arguments in ((no_matrix, ONE), (no_mean, TWO), (no_vector, ONE), (no_number, ONE)):
        dispatcher.compile(arguments)
    dispatcher = run_steps
    dispatcher.compile(SIGNATURE)
    return dispatcher.get_compile_result(dispatcher.nopython_signatures[0]).entry_point


def _functions(system: PHDAE, method: str, own: Any) -> Functions:
    functions: dict[str, Any] = {"z": compiled_function("z", system.z, ONE, VECTOR)}
    functions["H"] = compiled_function("H", system.H, ONE, float64)
    for name in "EJRB":
        functions[name], functions[f"mean_{name}"] = no_matrix, no_mean
        function = getattr(system, name)
        if name in own:
            functions[f"mean_{name}"] = compiled_function(f"the mean of {name}", own[name], TWO, MATRIX)
        if name in own and isinstance(function, Constant):
            function = _returning(np.array(dense(function.matrix)))
        if not isinstance(function, Constant):
            functions[name] = compiled_function(name, function, ONE, MATRIX)
    functions.update(values=no_vector, jacobian=no_matrix, energy=no_number, gradient=no_vector)
    if method == "invariants":
        if system.invariants is None:
            raise ValueError(
                "DiscreteGradient('invariants') needs a system with invariants=, see flexph.systems.Invariants"
            )
        results = {"values": VECTOR, "jacobian": MATRIX, "energy": float64, "gradient": VECTOR}
        for name, result in results.items():
            function = getattr(system.invariants, name)
            functions[name] = compiled_function(f"{name} of the invariants", function, ONE, result)
    functions.update(costate=no_matrix, descriptor=no_mean, structure=no_mean, inputs=no_mean)
    for name in DERIVATIVES:
        if getattr(system.derivatives, name, None) is not None:
            function = getattr(system.derivatives, name)
            functions[name] = compiled_function(
                f"derivative {name!r}", function, ONE if name == "costate" else TWO, MATRIX
            )
    return Functions(**functions)


def _returning(matrix: Array) -> Any:
    return lambda x: matrix.copy()


def _constants(system: PHDAE, kind: int, own: Any) -> Constants:
    split, n = differential_split(system), system.size
    matrices, origins = {}, []
    for name in "EJRB":
        function = getattr(system, name)
        constant = isinstance(function, Constant) and name not in own
        origins.append(CONSTANT if constant else OF_STEP if name in own else OF_STATE)
        matrices[name] = _contiguous(dense(function.matrix)) if constant else np.zeros((n, 0))
    nodes, weights = gauss_points(MEAN_POINTS)
    return Constants(
        **matrices,
        origins=np.array(origins, dtype=np.int64),
        onto_states=_contiguous(split.onto_states),
        states=np.diag(split.onto_states).copy(),
        diagonal=int(split.is_selection),
        onto_costates=_contiguous(split.onto_costates),
        to_costates=_contiguous(split.to_costates(matrices["E"]) if origins[0] == CONSTANT else np.zeros((n, 0))),
        completion=_contiguous(split.U2 @ split.V2.T),
        nodes=nodes,
        weights=weights,
        kind=kind,
        folded=int(kind == GONZALEZ and "E" not in own),
        given=np.array([getattr(system.derivatives, d, None) is not None for d in DERIVATIVES], dtype=np.int64),
    )


def _contiguous(matrix: Array) -> Array:
    """A copy in the layout, and with the permission to write, of the compiled signature."""
    return np.array(matrix, dtype=float, order="C")
