"""The compiled loop over steps of discrete gradient pairs, for systems of compiled functions; needs numba.

The equations and the iteration are those of :mod:`flexph.discretisation.pair_equations` and
:mod:`flexph.discretisation.iteration`, compiled as they stand. The functions of a system arrive as pointers, so that
one compiled loop serves all systems.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types

from ...discretisation.iteration import SOLVED, Unknowns, invert, jacobian_of, newton, residual_of
from ...discretisation.pair_equations import Matrix, Pair, Past, begin, derivative, equation, exchanged
from ...numerics.arrays import Array, dense
from ...numerics.compiled.functions import compiled_loop
from .stepper import grown

WIDE = 16
"""Numbers that compiled loops take at a time."""
VECTOR, MATRIX = float64[::1], float64[:, ::1]


class Memory(NamedTuple):
    """What a step leaves to the next: state, its size, rate, and the inverse Jacobian of Unknowns.

    ``energy`` (3,) is H, H by the account of work and dissipation, and the energy exchanged in the last step.
    """

    x: Array
    size: Array
    energy: Array
    rate: Array
    inverse: Array
    scaled: Array
    known: Array


class Rows(NamedTuple):
    """What a run writes, one row a step; ``end`` (3,) is how the last step ended: steps done, status, iterations.

    ``defect`` (1,) is the last relative correction of a step that failed.
    """

    states: Array
    outputs: Array
    energy: Array
    dissipated: Array
    iterations: Array
    end: Array
    defect: Array


def run_steps(pair: Pair, memory: Memory, rows: Rows, times: Array, inputs: Array) -> None:
    """One step from each time to the next under the inputs of each row (k, m), up to one that is not solved at once."""
    energy = memory.energy
    for k in range(times.size - 1):
        h, u = times[k + 1] - times[k], inputs[k]
        past = Past(memory.x.copy(), energy[0], energy[1], energy[2], memory.rate)
        step, guess = begin(pair, past, u, h)
        unknowns = Unknowns(guess, memory.size, memory.inverse, memory.scaled, memory.known, pair.given[0] == 1)
        x1, terms, (status, iterations, change) = newton(step, unknowns)
        if status != SOLVED:
            rows.end[1], rows.end[2], rows.defect[0] = status, iterations, change
            return
        rows.dissipated[k] = h * (terms.z @ terms.lost)
        energy[0], energy[1], energy[2] = pair.H(x1), energy[1] - rows.dissipated[k], exchanged(terms)
        if u.size:
            rows.outputs[k] = terms.B.T @ terms.z
            energy[1] += h * (rows.outputs[k] @ u)
        memory.rate[:] = (x1 - past.x) / h
        memory.x[:] = x1
        memory.size[:] = grown(memory.size, np.abs(x1))
        rows.states[k] = x1
        rows.energy[k], rows.iterations[k], rows.end[0] = energy[0], iterations, k + 1


def invert_by_loops(matrix: Array, inverse: Array) -> bool:
    """See :func:`flexph.discretisation.iteration.invert`; by elimination with row pivots, for small matrices.

    Rows are padded with zeros to WIDE numbers, of which compilers make loops without a rest.
    """
    n = len(matrix)
    width = -(-n // WIDE) * WIDE
    a, scale, order, row = np.zeros((n, width)), np.empty(n), np.arange(n), np.empty(width)
    for i in range(n):
        largest, total = 0.0, 0.0
        for j in range(n):
            largest = max(largest, abs(matrix[i, j]))
            total += matrix[i, j]
        if not (largest > 0.0 and np.isfinite(total)):
            return False
        scale[i] = 1.0 / largest
        for j in range(n):
            a[i, j] = scale[i] * matrix[i, j]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if a[p, k] == 0.0:
            return False
        order[k], order[p] = order[p], order[k]
        ratio = 1.0 / a[p, k]
        for j in range(width):
            row[j], a[p, j] = ratio * a[p, j], a[k, j]
        row[k] = ratio
        for i in range(n):
            factor = a[i, k]
            a[i, k] = 0.0
            for j in range(width):
                a[i, j] -= factor * row[j]
        for j in range(width):
            a[k, j] = row[j]
    for j in range(n):  # rows were exchanged before, so columns are after
        for i in range(n):
            inverse[i, order[j]] = a[i, j] * scale[order[j]]
    return True


def same(matrix: Array) -> Array:
    """In place of ``dense``."""
    return matrix


def costates_of(E: Array, completion: Array) -> Array:
    """U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ = (E + U₂V₂ᵀ)⁻ᵀ − U₂V₂ᵀ; not finite where E is singular."""
    inverse = np.full(E.shape, np.nan)
    invert_by_loops(E + completion, inverse)
    return inverse.T - completion


def _signature() -> tuple[Any, ...]:
    of_state, of_step = types.FunctionType(MATRIX(VECTOR)), types.FunctionType(MATRIX(VECTOR, VECTOR))
    vector, number = types.FunctionType(VECTOR(VECTOR)), types.FunctionType(float64(VECTOR))
    kinds = {
        "matrix": types.NamedTuple((int64, MATRIX, of_state, of_step), Matrix),
        "derivative": of_step,
        "vector": vector,
    }
    pair = {name: kinds["matrix"] for name in "EJRB"}
    pair |= {"z": vector, "H": number, "discrete": types.FunctionType(VECTOR(VECTOR, VECTOR))}
    pair |= {"values": vector, "jacobian": of_state, "energy": number, "gradient": vector, "costate": of_state}
    pair |= dict.fromkeys(("descriptor", "structure", "inputs"), of_step)
    pair |= {"costates_of": types.FunctionType(MATRIX(MATRIX, MATRIX))}
    pair |= dict.fromkeys(("states", "costates", "to_costates", "completion"), MATRIX)
    pair |= {"nodes": VECTOR, "weights": VECTOR, "given": int64[::1], "kind": int64}
    pair |= dict.fromkeys(("in_middle", "diagonal"), types.boolean)
    memory = (VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, VECTOR, int64[::1])
    rows = (MATRIX, MATRIX, VECTOR, VECTOR, int64[::1], int64[::1], VECTOR)
    return (
        types.NamedTuple(tuple(pair[name] for name in Pair._fields), Pair),
        types.NamedTuple(memory, Memory),
        types.NamedTuple(rows, Rows),
        VECTOR,
        MATRIX,
    )


@cache
def loop() -> Any:
    """The compiled loop, a function as :func:`run_steps`."""
    instead = {residual_of: equation, jacobian_of: derivative, invert: invert_by_loops, dense: same}
    return compiled_loop(run_steps, _signature(), instead)
