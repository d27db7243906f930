"""Arrays of the coupling of controllers in a run, for compiled loops; data.pxd declares them as C structs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.loops.views import IMat, IVec, Mat, Vec
from ...sensors.panel_arrays import PanelArrays

NEW, NONE = -2, -1
"""Values of ``probe`` at the start of a step, and while no column of the Jacobian is measured."""
CONVERGED, AGAIN, FAILED = 0, 1, 2
"""Verdicts on a trial step: converged, try again with new inputs, failed."""
BEGIN, WITHDRAW = -1, -2
"""Codes in place of a step number: begin steps that may be withdrawn and accept the earlier ones; withdraw them."""
CALLED = 2
"""Value of ``due``, in place of 1, once a feedback was called."""
DRY, LIMIT, OTHER = 0, 1, 2
"""Kinds of laws: dry friction by its level, resistance above a limit, Python function."""


class Linear(NamedTuple):
    """Arrays of all linear controllers: N unknowns with multipliers, n states, M inputs, J of them joined to ports."""

    E: Mat  # (N, N)
    flow: Mat  # (N, N), J − R
    B: Mat  # (N, M)
    state: IVec  # (n,), indices of the states among the unknowns
    stored: IVec  # (n,), 1 for states with a rate
    x: Vec  # (n,)
    end: Vec  # (n,)
    begun: Vec  # (n,), at the start of steps that may be withdrawn
    acting: Mat  # (k, M), external inputs by step
    own: IVec  # (J,), indices of the joined inputs
    output_index: IVec  # (J,), indices of the outputs of their ports
    u: Vec  # (M,)
    mean: Vec  # (N,)
    solved: Mat  # (N, N + n + M), whose last columns map x and u to the means
    solved_length: Vec  # (1,), step length of ``solved``


class Laws(NamedTuple):
    """Arrays of m laws that close ports of controllers, and work space for their solution."""

    column: IVec  # (m,), indices of their inputs
    kind: IVec  # (m,)
    parameter: Mat  # (m, 2)
    function: IVec  # (m,), address of a Python callback that evaluates law k of kind OTHER
    arguments: Vec  # (3,), arguments of the callback: free rate, slope, rate at the start of the step
    results: Vec  # (3,), its results: rate, force, stiffness
    force: Vec  # (m,), forces of the trial
    before: Vec  # forces of the trial before
    rest: Vec  # rates at the start of the step
    by: Mat  # (q + m, m), Jacobian of defects and rates with respect to the forces
    both: Mat  # (q, 1 + m), work space
    free: Vec  # (m,), rates without forces
    slopes: Mat  # (m, m), decrease of the rates by unit forces
    rate: Vec  # (m,), rates of laws solved one by one
    alone: Vec  # (m,), forces of laws solved one by one
    stiffness: Vec  # (m,), slopes ∂f/∂s of laws solved one by one
    power: Vec
    off: Vec
    met: Vec
    next: Vec
    step: Vec
    space: Mat  # (m, m + 1)
    speed: Vec  # (1,), largest rate around a law in the run
    lost: Mat  # (k, m), dissipated power of the converged steps


class Coupling(NamedTuple):
    """Arrays of the coupling in a run of k steps: q inputs of controllers, i inputs of the mechanism, m laws."""

    times: Vec  # (k + 1,)
    nodes: Vec  # (p,), evaluation points of feedback as shares of a step
    ends: Vec  # (1,), weight of a point's state in its readings; the state at the start has the rest
    state: Mat  # (p, s), flat states of the trial
    output: Vec  # (i,), mean outputs of the trial
    inputs: Mat  # (p, i), inputs of the next trial from all controllers
    entries: IVec  # (q,), indices of the inputs
    tried: Vec  # (q,)
    answers: Vec
    defect: Vec  # (q + m,), inputs minus answers, then rates of the ports closed by laws
    before: Mat  # (2, q + m), inputs and defects of the trial before
    past: Mat  # (3, q)
    known: IVec  # (1,), number of valid rows of ``past``
    begun_past: Mat  # (3, q), at the start of steps that may be withdrawn
    begun_known: IVec
    finished: IVec  # (2,), numbers of accepted steps, and of steps that may be withdrawn
    slope: Mat  # (q + m, q)
    slope_length: Vec  # (1,), step length of ``slope``
    space: Mat  # (q, q + 1 + m)
    other: Mat  # (q + m, q), work space
    scale: Vec  # (1,), largest answer in the run
    size: Vec  # (1,), size of the last defect
    shift: Vec  # (1,), finite-difference step of an input
    probe: IVec  # (1,), the input whose column is measured, NEW or NONE
    trials: IVec  # (1,), trials of the step so far
    linear: Linear
    laws: Laws
    feedback: IVec  # (f,), addresses of feedback
    first: IVec  # (f,), offset of the answers of each feedback, all its points together
    means: Mat  # (k, N), of the converged steps
    given: Mat  # (k, M)
    port_output: Mat  # (k, J)
    converged: Mat  # (k, q)
    states: Mat  # (k, n), at the ends of steps


class Feedback(NamedTuple):
    """Arrays of one feedback with p readings, from m measures and their m rates."""

    arrays: PanelArrays
    entries: IVec  # entries of the flat state that its sensors read
    part: Vec
    out: Mat  # (2, m)
    angles: IVec  # (1,), index of the first measure that is an angle
    which: IVec  # (p,), indices of the readings in ``out``
    near: Vec  # (m,), measures at the start of the step
    start: Vec  # (p,), readings there
    begun_near: Vec  # at the start of steps that may be withdrawn
    begun_start: Vec
    end: Vec  # (p,)
    time: Vec  # (1,), time of the call
    readings: Vec  # (p,), arguments of the function
    inputs: Vec  # results of the function
    function: IVec  # (1,), address of the function
    given: IVec  # (1,), number passed to a Python function, or user data of a C function
    in_c: IVec  # (1,), 1 for a C function
    ports: IVec  # indices of the mechanism's inputs that it sets


class HeldFeedback(NamedTuple):
    """Arrays of feedback that is called before some of k steps and held in between."""

    times: Vec  # (k + 1,)
    first: Vec  # (s,), the flat state at the start
    states: Mat  # (k, s), at the ends of steps
    held: Vec  # (i,)
    due: IMat  # (k, f), 1 where a feedback is called
    feedback: IVec  # (f,), addresses


def no_linear(steps: int) -> Linear:
    """Arrays of an empty set of linear controllers."""
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
        output_index=index,
        u=one,
        mean=one,
        solved=two,
        solved_length=np.zeros(1),
    )
