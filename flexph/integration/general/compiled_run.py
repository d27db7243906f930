"""Runs of systems whose functions numba compiles: the functions bound to the compiled loop; needs numba."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...discretisation.broyden import REASONS, StepFailed
from ...discretisation.descriptor_split import dense, differential_split
from ...discretisation.discrete_gradient_pairs import GradientPair, Reached
from ...numerics.arrays import Array
from ...numerics.compiled_functions import compiled_function
from ...numerics.compiling import announced
from ...numerics.gauss_tableau import gauss_points
from ...systems.discrete_gradients import MEAN_POINTS
from ...systems.nonlinear import PHDAE, Constant
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

KINDS = {"midpoint": MIDPOINT, "gonzalez": GONZALEZ, "mean_value": MEAN_VALUE, "invariants": INVARIANTS}
DERIVATIVES = ("costate", "descriptor", "structure", "inputs")
ONE, TWO = (VECTOR,), (VECTOR, VECTOR)


_NO_ROWS = Rows(*(np.zeros(0),) * 4, *(np.zeros(3, dtype=np.int64),) * 2, np.zeros(0))


class CompiledStepper:
    """Many steps of a method by one call.

    Raises ValueError, naming the function, where numba cannot compile one of the system's.
    """

    def __init__(self, system: PHDAE, method: str, x0: Array) -> None:
        self.system, self.method = system, method
        n, own = system.size, {} if method == "midpoint" else system.means
        with announced():
            self.functions = _functions(system, method, own)
        self.constants = _constants(system, KINDS[method], own)
        energy = np.array([1.0, 1.0, 0.0]) * float(system.H(x0))
        self.memory = Memory(
            np.array(x0), np.ones(n), energy, np.zeros(n), np.zeros((n, n)), np.zeros(1, dtype=np.int64)
        )
        with announced():
            self._run = _loop()
        self._rows = _NO_ROWS

    def advance(self, times: Array, inputs: Array, sizes: Array) -> None:
        """One step from each of the times (k + 1,) to the next under inputs (k, m); raises StepFailed.

        ``sizes`` are the largest states so far. What a function of the system raises is raised too; in either case the
        steps before it are done.
        """
        k, n = len(times) - 1, self.memory.x.size
        rows = Rows(
            states=np.empty((k, n)),
            outputs=np.empty(inputs.shape),
            energy=np.empty(k),
            dissipated=np.empty(k),
            iterations=np.empty(k, dtype=np.int64),
            end=np.zeros(3, dtype=np.int64),
            defect=np.zeros(1),
        )
        self.memory.inverse[:] *= (self.memory.size / sizes)[:, None]
        self.memory.size[:] = sizes
        self._rows = rows
        while rows.end[0] < k:
            done = int(rows.end[0])
            rest = rows._replace(
                states=rows.states[done:],
                outputs=rows.outputs[done:],
                energy=rows.energy[done:],
                dissipated=rows.dissipated[done:],
                iterations=rows.iterations[done:],
                end=np.zeros(3, dtype=np.int64),
            )
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
        x0 = m.x.copy()
        reached = Reached(x0, float(m.energy[1]), float(m.energy[2]))
        plain.memory = (reached, reached, m.last / h)
        try:
            made = plain.step(x0, h, u, m.size.copy())
        except StepFailed:
            raise StepFailed(REASONS[status], iterations, float(rows.defect[0])) from None
        rows.states[k], rows.outputs[k], rows.energy[k] = made.state, made.output, made.energy
        rows.dissipated[k], rows.iterations[k] = made.dissipated, made.iterations
        _, reached, rate = plain.memory
        m.x[:], m.last[:], m.known[0] = made.state, h * rate, 0
        m.energy[:] = made.energy, reached.account, reached.exchanged
        m.size[:] = np.maximum(m.size, np.abs(made.state))

    def taken(self) -> tuple[int, Rows]:
        """Steps that the last call has finished, and their rows; none the next time."""
        rows, self._rows = self._rows, _NO_ROWS
        return int(rows.end[0]), rows


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
    made: dict[str, Any] = {"z": compiled_function("z", system.z, ONE, VECTOR)}
    made["H"] = compiled_function("H", system.H, ONE, float64)
    for name in "EJRB":
        made[name], made[f"mean_{name}"] = no_matrix, no_mean
        function = getattr(system, name)
        if name in own:
            made[f"mean_{name}"] = compiled_function(f"the mean of {name}", own[name], TWO, MATRIX)
        if name in own and isinstance(function, Constant):
            function = _returning(np.array(dense(function.matrix)))
        if not isinstance(function, Constant):
            made[name] = compiled_function(name, function, ONE, MATRIX)
    made.update(values=no_vector, jacobian=no_matrix, energy=no_number, gradient=no_vector)
    if method == "invariants":
        if system.invariants is None:
            raise ValueError("DiscreteGradient('invariants') needs a system with invariants=, see flexph.Invariants")
        results = {"values": VECTOR, "jacobian": MATRIX, "energy": float64, "gradient": VECTOR}
        for name, result in results.items():
            function = getattr(system.invariants, name)
            made[name] = compiled_function(f"{name} of the invariants", function, ONE, result)
    made.update(costate=no_matrix, descriptor=no_mean, structure=no_mean, inputs=no_mean)
    for name in DERIVATIVES:
        if getattr(system.derivatives, name, None) is not None:
            function = getattr(system.derivatives, name)
            made[name] = compiled_function(f"derivative {name!r}", function, ONE if name == "costate" else TWO, MATRIX)
    return Functions(**made)


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
