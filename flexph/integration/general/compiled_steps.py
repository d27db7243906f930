"""The compiled loop over steps of discrete gradient methods, for systems of compiled functions.

Needs numba. The functions of a system arrive as pointers, so that one compiled loop serves all systems. Everything that
the loop calls stands in this file, whose changes make numba compile its copy on disk anew. What would read shorter with
arrays is written in loops where that saves seconds of compiling or temporaries: each layer of calls is compiled again
with the one above it, so there are few.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types

from ...discretisation.broyden import (
    DIVERGED,
    FAR,
    LEAST,
    MAX_ITERATIONS,
    NOISE,
    SETTLED,
    SINGULAR,
    SLOW,
    STAGNATED,
    STALLED,
    SUDDEN,
    UNSETTLED,
)
from ...discretisation.discrete_gradient_pairs import FED_BACK, PARTS
from ...numerics.arrays import Array
from ...numerics.compiling import compiled
from ...numerics.differences import FORWARD
from ...systems.discrete_gradients import ROUND_OFF

CONSTANT, OF_STATE, OF_STEP = 0, 1, 2  # where a matrix comes from
MIDPOINT, GONZALEZ, MEAN_VALUE, INVARIANTS = 0, 1, 2, 3  # kinds of costates
SOLVED = 0  # end of an iteration, beside those of newton.REASONS
GROWING = len(PARTS)
WIDE = 16  # numbers that compiled loops take at a time

VECTOR, MATRIX = float64[::1], float64[:, ::1]


class Functions(NamedTuple):
    """The functions of a system; what it does not have is never called. Matrices are of x, their means of (x₀, x₁)."""

    E: Any
    J: Any
    R: Any
    B: Any
    mean_E: Any
    mean_J: Any
    mean_R: Any
    mean_B: Any
    z: Any
    H: Any
    values: Any
    jacobian: Any
    energy: Any
    gradient: Any
    costate: Any
    descriptor: Any
    structure: Any
    inputs: Any


class Constants(NamedTuple):
    """What does not change: constant matrices, where each comes from, and projectors of the split of E.

    ``states`` is the diagonal of onto_states V₁V₁ᵀ, whose only entries those are where ``diagonal`` is 1.
    ``to_costates`` is U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ of a constant E, ``completion`` U₂V₂ᵀ. nodes and weights are those of the mean
    value gradient along a step, in [0, 1]. ``folded`` is 1 where Ēᵀz(m) is the gradient in the middle. ``given`` (4,)
    says which derivatives there are: of costate, descriptor, structure, inputs.
    """

    E: Array
    J: Array
    R: Array
    B: Array
    origins: Array  # of E, J, R, B (4,)
    onto_states: Array
    states: Array
    diagonal: int
    onto_costates: Array
    to_costates: Array
    completion: Array
    nodes: Array
    weights: Array
    kind: int
    folded: int
    given: Array


class Memory(NamedTuple):
    """What a step leaves to the next: state, sizes, last increment, inverse Jacobian, whether that holds (1,).

    ``energy`` (3,) is H, H by the account of work and dissipation, and the energy exchanged in the last step, see
    :class:`flexph.discretisation.discrete_gradient_pairs.GradientPair`.
    """

    x: Array
    size: Array
    energy: Array
    last: Array
    inverse: Array
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


def _signature() -> Any:
    of_state, of_step = types.FunctionType(MATRIX(VECTOR)), types.FunctionType(MATRIX(VECTOR, VECTOR))
    vector, number = types.FunctionType(VECTOR(VECTOR)), types.FunctionType(float64(VECTOR))
    of_both = (*(of_state,) * 4, *(of_step,) * 4)
    functions = (*of_both, vector, number, vector, of_state, number, vector, of_state, of_step, of_step, of_step)
    projectors = (MATRIX, VECTOR, int64, MATRIX, MATRIX, MATRIX)
    constants = (*(MATRIX,) * 4, int64[::1], *projectors, VECTOR, VECTOR, int64, int64, int64[::1])
    return (
        types.NamedTuple(functions, Functions),
        types.NamedTuple(constants, Constants),
        types.NamedTuple((VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, int64[::1]), Memory),
        types.NamedTuple((MATRIX, MATRIX, VECTOR, VECTOR, int64[::1], int64[::1], VECTOR), Rows),
        VECTOR,
        MATRIX,
    )


SIGNATURE = _signature()


@compiled
def no_matrix(x: Array) -> Array:
    """In place of a function that the system does not have."""
    return np.empty((0, 0))


@compiled
def no_mean(x0: Array, x1: Array) -> Array:
    """The same of two states."""
    return np.empty((0, 0))


@compiled
def no_vector(x: Array) -> Array:
    """The same with values (k,)."""
    return np.empty(0)


@compiled
def no_number(x: Array) -> float:
    """The same with one value."""
    return 0.0


@compiled
def matrix(origin: int, constant: Array, of_state: Any, of_step: Any, x0: Array, x1: Array, middle: Array) -> Array:
    """A discretised matrix: constant, the user's mean over the step, or in its middle."""
    if origin == CONSTANT:
        return constant
    if origin == OF_STEP:
        made: Array = of_step(x0, x1)
        return made
    made = of_state(middle)
    return made


@compiled
def times(a: Array, x: Array) -> Array:
    """A x."""
    return np.dot(a, x)


@compiled
def left_times(x: Array, a: Array) -> Array:
    """xᵀA."""
    return np.dot(x, a)


@compiled
def along(x: Array, y: Array) -> float:
    """x·y."""
    return float(np.dot(x, y))


@compiled
def moved_by(x: Array, factor: float, y: Array) -> Array:
    """x + factor y."""
    made = np.empty(x.size)
    for i in range(x.size):
        made[i] = x[i] + factor * y[i]
    return made


@compiled
def put(target: Array, source: Array) -> None:
    """Copy an array (k,)."""
    for i in range(source.size):
        target[i] = source[i]


@compiled
def differential(c: Constants, x1: Array, x0: Array) -> Array:
    """V₁V₁ᵀ(x₁ − x₀)."""
    change = moved_by(x1, -1.0, x0)
    if not c.diagonal:
        return times(c.onto_states, change)
    for i in range(x0.size):
        change[i] *= c.states[i]
    return change


@compiled
def subtract_inner(c: Constants, made: Array, factor: float, matrix: Array) -> None:
    """Take factor times a derivative by the middle of the step, as one by x₁, from ``made``."""
    turned = matrix if c.diagonal else np.dot(matrix, c.onto_states)
    for i in range(len(made)):
        for j in range(len(made)):
            half = 0.5 * (c.states[j] * matrix[i, j] if c.diagonal else turned[i, j])
            made[i, j] -= factor * (matrix[i, j] - half)


@compiled
def correction(along_step: float, step: Array, before: float, after: float) -> float:
    """See :func:`flexph.systems.discrete_gradients.correction`."""
    missing, size = (after - before) - along_step, along(step, step)
    if abs(missing) <= ROUND_OFF * max(abs(before), abs(after)) or size == 0.0:
        return 0.0
    return missing / size


@compiled
def slope(f: Functions, c: Constants, x: Array) -> Array:
    """∇H = Eᵀz."""
    return left_times(f.z(x), c.E if c.origins[0] == CONSTANT else f.E(x))


@compiled
def gradient(f: Functions, c: Constants, x0: Array, x1: Array, step: Array, before: float) -> Array:
    """∇̄H(x₀, x₁) by the kind of the method, see :mod:`flexph.systems.discrete_gradients`."""
    if c.kind == INVARIANTS:
        first, last = f.values(x0), f.values(x1)
        change = moved_by(last, -1.0, first)
        inner = f.gradient(moved_by(first, 0.5, change))
        ratio = correction(along(inner, change), change, before, f.energy(last))
        return left_times(moved_by(inner, ratio, change), f.jacobian(moved_by(x0, 0.5, moved_by(x1, -1.0, x0))))
    if c.kind == GONZALEZ:
        made = slope(f, c, moved_by(x1, -0.5, step))
    else:
        made = np.zeros(x1.size)
        for k in range(c.nodes.size):
            made = moved_by(made, c.weights[k], slope(f, c, moved_by(x1, c.nodes[k] - 1.0, step)))
    return moved_by(made, correction(along(made, step), step, before, f.H(x1)), step)


@compiled
def invert(given: Array) -> bool:
    """Replace a matrix by its inverse, by elimination with row pivots; whether there is one.

    Rows are padded with zeros to WIDE numbers, of which compilers make loops without a rest.
    """
    n = len(given)
    width = -(-n // WIDE) * WIDE
    a, scale, order, row = np.zeros((n, width)), np.empty(n), np.arange(n), np.empty(width)
    for i in range(n):
        largest, total = 0.0, 0.0
        for j in range(n):
            largest = max(largest, abs(given[i, j]))
            total += given[i, j]
        if not (largest > 0.0 and np.isfinite(total)):
            return False
        scale[i] = 1.0 / largest
        for j in range(n):
            a[i, j] = scale[i] * given[i, j]
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
            given[i, order[j]] = a[i, j] * scale[order[j]]
    return True


@compiled
def to_costates(c: Constants, E: Array) -> Array:
    """U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ = (E + U₂V₂ᵀ)⁻ᵀ − U₂V₂ᵀ; not finite where E is singular."""
    if c.origins[0] == CONSTANT:
        return c.to_costates
    n = len(E)
    inverse, made = np.empty((n, n)), np.empty((n, n))
    for i in range(n):
        for j in range(n):
            inverse[i, j] = E[i, j] + c.completion[i, j]
    regular = invert(inverse)
    for i in range(n):
        for j in range(n):
            made[i, j] = inverse[j, i] - c.completion[i, j] if regular else np.nan
    return made


@compiled
def equation(
    f: Functions, c: Constants, x0: Array, x1: Array, u: Array, before: float, h: float
) -> tuple[Array, Array, Array, Array]:
    """Ē Δx − h((J̄ − R̄)z̄ + B̄u), and with it z̄, R̄ z̄ and B̄."""
    step = differential(c, x1, x0)
    middle = moved_by(x1, -0.5, step)
    E = matrix(c.origins[0], c.E, f.E, f.mean_E, x0, x1, middle)
    J = matrix(c.origins[1], c.J, f.J, f.mean_J, x0, x1, middle)
    R = matrix(c.origins[2], c.R, f.R, f.mean_R, x0, x1, middle)
    B = matrix(c.origins[3], c.B, f.B, f.mean_B, x0, x1, middle)
    moved, costate = times(E, step), f.z(middle)
    if c.folded:  # z̄₁ = Ē₁₁⁻ᵀ∇̄H where ∇H(m) = Ēᵀz(m)
        ratio = correction(along(costate, moved), step, before, f.H(x1))
        if ratio != 0.0:
            costate = moved_by(costate, ratio, times(to_costates(c, E), step))
    elif c.kind != MIDPOINT:
        unseen = times(c.onto_costates, costate)
        costate = moved_by(unseen, 1.0, times(to_costates(c, E), gradient(f, c, x0, x1, step, before)))
    defect, lost = times(J, costate), times(R, costate)
    for i in range(defect.size):
        defect[i] = moved[i] - h * (defect[i] - lost[i])
    return moved_by(defect, -h, times(B, u)) if u.size else defect, costate, lost, B


@compiled
def differences(
    f: Functions,
    c: Constants,
    x0: Array,
    x1: Array,
    u: Array,
    before: float,
    h: float,
    defect: Array,
    size: Array,
    made: Array,
) -> None:
    """Write the derivative of the equation by x₁ in scaled unknowns, by forward differences."""
    moved = x1.copy()
    for k in range(x1.size):
        moved[k] += FORWARD * max(abs(x1[k]), size[k])
        ratio = size[k] / (moved[k] - x1[k])
        new = equation(f, c, x0, moved, u, before, h)[0]
        for i in range(x1.size):
            made[i, k] = ratio * (new[i] - defect[i])
        moved[k] = x1[k]


@compiled
def slopes(
    f: Functions, c: Constants, x0: Array, x1: Array, u: Array, before: float, h: float, size: Array, made: Array
) -> None:
    """The same by the derivatives of the system, see ``GradientPair._slopes``."""
    n, step = x1.size, differential(c, x1, x0)
    middle = moved_by(x1, -0.5, step)
    E = c.E if c.origins[0] == CONSTANT else f.E(middle)
    flow = (c.J if c.origins[1] == CONSTANT else f.J(middle)).copy()
    R = c.R if c.origins[2] == CONSTANT else f.R(middle)
    z, of_costate = f.z(middle), np.zeros((n, n))
    subtract_inner(c, of_costate, -1.0, f.costate(middle))
    if c.kind == GONZALEZ:
        moved = times(E, step)
        ratio = correction(along(z, moved), step, before, f.H(x1))
        if ratio != 0.0:
            at_end, by_step, in_middle = slope(f, c, x1), left_times(moved, of_costate), left_times(z, E)
            inverse = to_costates(c, E)
            seen, length = times(inverse, step), along(step, step)
            for j in range(n):
                of_ratio = (at_end[j] - by_step[j] - in_middle[j] - 2.0 * ratio * step[j]) / length
                for i in range(n):
                    of_costate[i, j] += seen[i] * of_ratio + ratio * inverse[i, j]
    for i in range(n):
        for j in range(n):
            flow[i, j] -= R[i, j]
    turned = np.dot(flow, of_costate)
    for i in range(n):
        for j in range(n):
            made[i, j] = E[i, j] - h * turned[i, j]
    if c.given[1]:
        subtract_inner(c, made, -1.0, f.descriptor(middle, step))
    if c.given[2]:
        subtract_inner(c, made, h, f.structure(middle, z))
    if c.given[3]:
        subtract_inner(c, made, h, f.inputs(middle, u))
    for i in range(n):
        for j in range(n):
            made[i, j] *= size[j]


@compiled
def broyden(inverse: Array, step: Array, before: Array, after: Array) -> None:
    """``B += (s − B y) sᵀB / sᵀB y`` in place, unless it nearly makes B singular; y = before − after."""
    image = times(inverse, moved_by(before, -1.0, after))
    scale = along(step, image)
    if abs(scale) > 0.1 * along(step, step):
        row = left_times(step, inverse)
        for i in range(step.size):
            factor = (step[i] - image[i]) / scale
            for j in range(step.size):
                inverse[i, j] += factor * row[j]


@compiled
def relative_change(step: Array, x: Array, size: Array) -> float:
    """The largest correction of an unknown over its size."""
    change = 0.0
    for i in range(x.size):
        if not np.isfinite(step[i]):
            return np.inf
        change = max(change, abs(size[i] * step[i]) / max(abs(x[i]), size[i]))
    return change


@compiled
def solve(
    f: Functions, c: Constants, memory: Memory, guess: Array, u: Array, before: float, h: float, size: Array
) -> tuple[Array, int, int, float, Array, Array, Array]:
    """x₁, status, iterations and last relative correction of :meth:`flexph.discretisation.broyden.Newton.solve`.

    And z̄, R̄ z̄ and B̄ at x₁.
    """
    x0 = memory.x
    x, status, previous, renewed, fresh, here = guess, UNSETTLED, np.inf, np.inf, False, False
    defect, costate, lost, B = equation(f, c, x0, x, u, before, h)
    for iteration in range(1, MAX_ITERATIONS + 1):
        if not memory.known[0]:
            if c.given[0]:
                slopes(f, c, x0, x, u, before, h, size, memory.inverse)
            else:
                differences(f, c, x0, x, u, before, h, defect, size, memory.inverse)
            if not invert(memory.inverse):
                status = SINGULAR
                break
            memory.known[0], fresh, here = 1, True, True
        step = times(memory.inverse, defect)
        change = relative_change(step, x, size)
        if change > FAR and not here:
            memory.known[0] = 0
            continue
        if change == np.inf:
            status, previous = DIVERGED, change
            break
        x, newest, here, last = x.copy(), here, False, defect
        for i in range(x.size):
            x[i] -= size[i] * step[i]
        defect, costate, lost, B = equation(f, c, x0, x, u, before, h)
        reduction = SLOW if previous == np.inf else max(LEAST, change / previous)
        noise_next = fresh and previous < np.inf and change <= min(NOISE, SUDDEN * previous)
        settled = noise_next or (change <= STAGNATED and change * reduction <= SETTLED)
        cycles = newest and change > 0.5 * renewed and change <= STALLED
        if settled or cycles or (change > 0.5 * previous and change <= (STALLED if newest else NOISE)):
            status, previous = SOLVED, change
            break
        renewed = change if newest else renewed
        late = iteration == 1 and c.given[0] == 1 and not fresh
        if (late or change > SLOW * previous) and change > NOISE:
            memory.known[0], fresh = 0, False
        elif change > STAGNATED:
            broyden(memory.inverse, step, last, defect)
        previous = change
    return x, status, iteration, previous, costate, lost, B


@compiled
def update_sizes(size: Array, x: Array, inverse: Array) -> None:
    """The largest values so far; a thousandth of the largest of all where there is none. The inverse scales along."""
    old = size.copy()
    largest, smallest = 0.0, np.inf
    for i in range(x.size):
        size[i] = max(size[i], abs(x[i]))
        largest, smallest = max(largest, size[i]), min(smallest, size[i])
    if smallest == 0.0:
        for i in range(x.size):
            size[i] = max(size[i], 1e-3 * largest)
    for i in range(x.size):
        if size[i] != old[i]:
            for j in range(x.size):
                inverse[i, j] *= old[i] / size[i]


@compiled
def exchanged(f: Functions, c: Constants, costate: Array, x1: Array, step: Array) -> float:
    """Σ|z̄ᵢ(E Δx)ᵢ|."""
    moved = times(c.E if c.origins[0] == CONSTANT else f.E(x1), step)
    total = 0.0
    for i in range(moved.size):
        total += abs(costate[i] * moved[i])
    return total


@compiled
def run_steps(f: Functions, c: Constants, memory: Memory, rows: Rows, times: Array, inputs: Array) -> None:
    """One step from each time to the next under the inputs of each row (k, m), up to one without a solution."""
    energy = memory.energy
    for k in range(times.size - 1):
        h, u, iterations = times[k + 1] - times[k], inputs[k], 0
        before = energy[1] if abs(energy[1] - energy[0]) <= FED_BACK * energy[2] else energy[0]
        x1 = moved_by(memory.x, 1.0, memory.last)
        for attempt in range(GROWING + 1):  # at once, or else grown from no step to its length
            part = attempt / GROWING if attempt else 1.0
            if attempt:
                memory.known[0] = 0
                x1 = memory.x.copy() if attempt == 1 else x1
            x1, status, count, change, costate, lost, B = solve(f, c, memory, x1, u, before, part * h, memory.size)
            iterations = iterations + count if attempt > 1 else count
            if status == SOLVED and attempt == 0:
                break
            if status != SOLVED and attempt > 0:
                rows.end[1], rows.end[2], rows.defect[0] = status, count, change
                return
        rows.dissipated[k] = h * along(costate, lost)
        energy[0], energy[1] = f.H(x1), energy[1] - rows.dissipated[k]
        if u.size:
            put(rows.outputs[k], left_times(costate, B))
            energy[1] += h * along(rows.outputs[k], u)
        put(memory.last, differential(c, x1, memory.x))
        energy[2] = exchanged(f, c, costate, x1, memory.last)
        put(memory.x, x1)
        update_sizes(memory.size, x1, memory.inverse)
        put(rows.states[k], x1)
        rows.energy[k], rows.iterations[k], rows.end[0] = energy[0], iterations, k + 1
