"""The arrays of an agreement in a run; needs numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.compiled.by_address import taken_from
from ...sensors.loops import Seen, nothing_seen

TRIES, PROBE, KNOWN = 0, 1, 2
"""Places of counts: tries of a step, inputs whose effect is measured (see NEW and NONE), rows of the past."""
NEW, NONE = -2, -1
"""That a step begins, and that no effects are measured."""
SCALE, SLOPE_LENGTH, SOLVED_LENGTH, SIZE, MOVED, SPEED, OFF = range(7)
"""Places of numbers: the largest answer, the lengths that slope and matrices are of, the last defect, a shift, the
largest rate around a law, how far a try is from all laws over that."""
RATES, LINE, FORCES = range(3)
"""Parts of the agreement that laws take."""
DRY, LIMIT = 0, 1
"""Kinds of laws, with a level, and a resistance above it of a limit."""


class Linear(NamedTuple):
    """Linear controllers side by side: N unknowns with multipliers, n states, M inputs, J of them joined to ports."""

    E: Array  # (N, N)
    flow: Array  # (N, N), J − R
    B: Array  # (N, M)
    state: np.ndarray  # (n,), which unknowns are states
    stored: np.ndarray  # (n,), 1 of states with a rate
    x: Array  # (n,)
    end: Array  # (n,)
    acting: Array  # (k, M), by step
    own: np.ndarray  # (J,), their inputs
    seen: np.ndarray  # (J,), the entries of the ports
    u: Array  # (M,)
    mean: Array  # (N,)
    solved: Array  # (N, N + n + M), whose last columns lead from x and u to the means


class Laws(NamedTuple):
    """m laws of controllers, the inputs that they close, and where they meet what is around them."""

    entry: np.ndarray  # (1,), the address of what they are met by
    column: np.ndarray  # (m,), their inputs
    kind: np.ndarray  # (m,)
    parameter: Array  # (m, 2)
    force: Array  # (m,), of the try
    before: Array  # of the try before
    rest: Array  # rates at the start of the step
    by: Array  # (q + m, m), how defects and rates change with the forces
    both: Array  # (q, 1 + m), work space
    free: Array  # (m,), rates without forces
    slopes: Array  # (m, m), and how they go down with these
    rate: Array  # (m,), of laws that are met alone
    alone: Array  # and their forces
    power: Array
    off: Array
    met: Array
    next: Array
    step: Array
    space: Array  # (m, m + 1)
    lost: Array  # (k, m), of the steps that are agreed on, over their lengths


class Agreement(NamedTuple):
    """An agreement in a run of k steps: q inputs of controllers and feedback, of i of the mechanism; m laws."""

    times: Array  # (k + 1,)
    state: Array  # (s,), the flat state at the end of the try
    output: Array  # (i,), mean outputs of the try
    inputs: Array  # (i,), what all give, of the next try
    entries: np.ndarray  # (q,), where inputs are
    tried: Array  # (q,)
    answers: Array
    defect: Array  # (q + m,), behind those of the inputs the rates of ports that laws close
    before: Array  # (2, q + m), inputs and defects of the try before
    past: Array  # (3, q)
    slope: Array  # (q + m, q)
    space: Array  # (q, q + 1 + m)
    other: Array  # (q + m, q), work space
    numbers: Array
    counts: np.ndarray
    linear: Linear
    laws: Laws
    feedback: np.ndarray  # (f,), addresses of feedback
    first: np.ndarray  # (f,), where their answers are
    means: Array  # (k, N), of the steps that are agreed on
    given: Array  # (k, M)
    seen: Array  # (k, J)
    agreed: Array  # (k, q)
    states: Array  # (k, n), at the ends of steps


class Feedback(NamedTuple):
    """A compiled feedback of p readings among 2m measures and rates."""

    seen: Seen
    entries: np.ndarray  # of the flat state that its sensors see
    part: Array
    out: Array  # (2, m)
    angles: np.ndarray  # (1,), the first measure that is an angle
    which: np.ndarray  # (p,), among all entries of ``out``
    near: Array  # (m,), measures at the start of the step
    start: Array  # (p,), readings there
    end: Array  # (p,)
    call: tuple[Array, Array, Array]  # time (1,), readings (p,), and the inputs that are answered
    addresses: np.ndarray  # (2,), of the function and of ``call``
    ports: np.ndarray  # entries of the inputs of the mechanism that it sets


class Asked(NamedTuple):
    """Feedback that is called before some of k steps and held."""

    times: Array  # (k + 1,)
    first: Array  # (s,), the flat state at the start
    states: Array  # (k, s), at the ends of steps
    held: Array  # (i,)
    due: np.ndarray  # (k, f), 1 where each is called
    feedback: np.ndarray  # (f,), addresses


def no_linear(steps: int) -> Linear:
    """Of no linear controllers."""
    one, two, index = np.zeros(0), np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    return Linear(two, two, two, index, index, one, one, np.zeros((steps, 0)), index, index, one, one, two)


def no_laws(steps: int, inputs: int) -> Laws:
    """Of no laws."""
    one, index = np.zeros(0), np.zeros(0, dtype=np.int64)
    sized = np.zeros((inputs, 0)), np.zeros((inputs, 1))
    line = one, np.zeros((0, 0)), *(one,) * 7, np.zeros((0, 1)), np.zeros((steps, 0))
    return Laws(index, index, index, np.zeros((0, 2)), one, one, one, *sized, *line)


def _example() -> Agreement:
    one, two, index = np.zeros(0), np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    iteration = index, one, one, one, two, two, two, two, two, one, index
    return Agreement(one, one, one, one, *iteration, no_linear(0), no_laws(0, 0), index, index, *(two,) * 5)


def _example_of_feedback() -> Feedback:
    one, two, index = np.zeros(0), np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    return Feedback(nothing_seen(), index, one, two, index, index, one, one, one, (one, one, one), index, index)


def _example_of_asked() -> Asked:
    one, two = np.zeros(0), np.zeros((0, 0))
    return Asked(one, one, two, one, np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64))


take, take_feedback = taken_from(_example()), taken_from(_example_of_feedback())
take_asked = taken_from(_example_of_asked())
