"""Arrays of an agreement in a run, as loops take them; their C structs are those of data.pxd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.loops.views import IMat, IVec, Mat, Vec
from ...sensors.seen import Seen

NEW, NONE = -2, -1
"""States of ``probe``: a step begins, and no effects of inputs are measured."""
AGREED, AGAIN, FAILED = 0, 1, 2
"""What loops over steps are told after each try of a step."""
BEGIN, GO_BACK = -1, -2
"""In place of the number of a step: steps begin that may be taken back, those of the last such call are finished; and
they are taken back."""
CALLED = 2
"""In ``due`` in place of 1 where a feedback was called."""
DRY, LIMIT, OTHER = 0, 1, 2
"""Kinds of laws: by a level, by a resistance above a limit, and by a Python function."""


class Linear(NamedTuple):
    """Linear controllers side by side: N unknowns with multipliers, n states, M inputs, J of them joined to ports."""

    E: Mat  # (N, N)
    flow: Mat  # (N, N), J − R
    B: Mat  # (N, M)
    state: IVec  # (n,), which unknowns are states
    stored: IVec  # (n,), 1 of states with a rate
    x: Vec  # (n,)
    end: Vec  # (n,)
    begun: Vec  # (n,), where steps begin that may be taken back
    acting: Mat  # (k, M), by step
    own: IVec  # (J,), their inputs
    seen: IVec  # (J,), the entries of the ports
    u: Vec  # (M,)
    mean: Vec  # (N,)
    solved: Mat  # (N, N + n + M), whose last columns lead from x and u to the means
    solved_length: Vec  # (1,), length of the step that it is of


class Laws(NamedTuple):
    """m laws of controllers, the inputs that they close, and where they meet what is around them."""

    column: IVec  # (m,), their inputs
    kind: IVec  # (m,)
    parameter: Mat  # (m, 2)
    function: IVec  # (m,), address of a function of k by which law k of kind OTHER is met
    asked: Vec  # (3,), what that is given: free rate, slope, rate at the start of the step
    told: Vec  # (3,), and what it gives: rate, force, stiffness
    force: Vec  # (m,), of the try
    before: Vec  # of the try before
    rest: Vec  # rates at the start of the step
    by: Mat  # (q + m, m), how defects and rates change with the forces
    both: Mat  # (q, 1 + m), work space
    free: Vec  # (m,), rates without forces
    slopes: Mat  # (m, m), and how they go down with these
    rate: Vec  # (m,), of laws that are met alone
    alone: Vec  # their forces
    stiffness: Vec  # and ∂f/∂s
    power: Vec
    off: Vec
    met: Vec
    next: Vec
    step: Vec
    space: Mat  # (m, m + 1)
    speed: Vec  # (1,), largest rate around a law in the run
    lost: Mat  # (k, m), of the steps that are agreed on, over their lengths


class Agreement(NamedTuple):
    """An agreement in a run of k steps: q inputs of controllers and feedback, of i of the mechanism; m laws."""

    times: Vec  # (k + 1,)
    nodes: Vec  # (p,), points of a step at which feedback answers, over its length
    ends: Vec  # (1,), weight of a state in what is read at its point; the rest is that of the state at the start
    state: Mat  # (p, s), flat states of the try
    output: Vec  # (i,), mean outputs of the try
    inputs: Mat  # (p, i), what all give, of the next try
    entries: IVec  # (q,), where inputs are
    tried: Vec  # (q,)
    answers: Vec
    defect: Vec  # (q + m,), behind those of the inputs the rates of ports that laws close
    before: Mat  # (2, q + m), inputs and defects of the try before
    past: Mat  # (3, q)
    known: IVec  # (1,), rows of the past
    begun_past: Mat  # (3, q), where steps begin that may be taken back
    begun_known: IVec
    finished: IVec  # (2,), steps before them, and since
    slope: Mat  # (q + m, q)
    slope_length: Vec  # (1,), length of the step that it is of
    space: Mat  # (q, q + 1 + m)
    other: Mat  # (q + m, q), work space
    scale: Vec  # (1,), largest answer in the run
    size: Vec  # (1,), last defect
    shift: Vec  # (1,), change of an input whose effect is measured
    probe: IVec  # (1,), the input whose effect is measured, NEW or NONE
    tries: IVec  # (1,), of the step
    linear: Linear
    laws: Laws
    feedback: IVec  # (f,), addresses of feedback
    first: IVec  # (f,), where their answers are, of each those of all points
    means: Mat  # (k, N), of the steps that are agreed on
    given: Mat  # (k, M)
    seen: Mat  # (k, J)
    agreed: Mat  # (k, q)
    states: Mat  # (k, n), at the ends of steps


class Feedback(NamedTuple):
    """A feedback of p readings among 2m measures and rates."""

    seen: Seen
    entries: IVec  # of the flat state that its sensors see
    part: Vec
    out: Mat  # (2, m)
    angles: IVec  # (1,), the first measure that is an angle
    which: IVec  # (p,), among all entries of ``out``
    near: Vec  # (m,), measures at the start of the step
    start: Vec  # (p,), readings there
    begun_near: Vec  # where steps begin that may be taken back
    begun_start: Vec
    end: Vec  # (p,)
    time: Vec  # (1,), when the function is called
    readings: Vec  # (p,), what it is given
    inputs: Vec  # and what it answers
    function: IVec  # (1,), its address
    given: IVec  # (1,), number that a Python function is told, or user data of a function in C
    in_c: IVec  # (1,), 1 of a function in C
    ports: IVec  # entries of the inputs of the mechanism that it sets


class Asked(NamedTuple):
    """Feedback that is called before some of k steps and held."""

    times: Vec  # (k + 1,)
    first: Vec  # (s,), the flat state at the start
    states: Mat  # (k, s), at the ends of steps
    held: Vec  # (i,)
    due: IMat  # (k, f), 1 where each is called
    feedback: IVec  # (f,), addresses


def no_linear(steps: int) -> Linear:
    """Of no linear controllers."""
    one, two, index = np.zeros(0), np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    return Linear(
        E=two,
        flow=two,
        B=two,
        state=index,
        stored=index,
        x=one,
        end=one,
        begun=one,
        acting=np.zeros((steps, 0)),
        own=index,
        seen=index,
        u=one,
        mean=one,
        solved=two,
        solved_length=np.zeros(1),
    )
