"""Tuples of arrays that loops are given and that they fill."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from .data import Index


class Rows(NamedTuple):
    """What a run records: a row for every saved step, the last for the step under way (see exact.step.StepResult)."""

    state: Array
    energy: Array
    stage: Array
    multipliers: Array
    flow: Array
    audit: Array


class Within(NamedTuple):
    """What acts within steps, and is asked after each try of one: zeros where nothing does."""

    address: int
    """Of a function of ``data`` and the number of a step; 0 where all agree, 1 where ``inputs`` are to be tried."""
    data: int
    state: Array  # (p, s), flat states of a try: at its end, or at the nodes of Gauss collocation
    output: Array  # (i,), its mean outputs
    inputs: Array  # (p, i), what they give in the next try
    given: Array  # (p, i), inputs beside theirs
    start: Array  # motion where the step starts
    under_way: Array  # and what is recorded up to there


class Calls(NamedTuple):
    """Who is called before which of n steps, and what is held in them; none of it where there are no controllers."""

    address: int
    """Of a function of the number of a step, which returns zero where all is well and has set ``held``."""
    data: int
    """What a compiled function is given behind that; zero where it is one of Python."""
    due: Index  # (n,), 1 before steps at whose start it is called
    held: Array  # (i,), inputs that go on until the next call
    held_in_steps: Array  # (n, i), what was held in each step
    within: Within


@cache
def nothing_within() -> Within:
    """Of steps within which nothing acts."""
    one, two = np.zeros(0), np.zeros((0, 0))
    return Within(0, 0, two, one, two, two, one, one)


@cache
def no_calls() -> Calls:
    """Of steps under inputs that are known before."""
    return Calls(0, 0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)), nothing_within())


class Pair(NamedTuple):
    """What a pair of steps is judged by; all of it is empty where steps are no pairs.

    ``found`` (3,) are ½ δ̂ᵀMδ̂ and the kinetic energy of what the pair adds to the velocity defect, and the largest
    kinetic energy at its ends and in its middle [J]; ``before`` (n_v,) the velocities and ``gaps`` (c,) those of
    contacts at its start, ``mu`` (g,) space. Of pairs that loops choose, ``control`` has what :mod:`.controlled` says,
    ``start`` the motion and ``times`` (3,) the times of the pair, ``spans`` (rows, 2) the last pair of each row.
    """

    found: Array
    before: Array
    mu: Array
    gaps: Array
    control: Array
    start: Array
    times: Array
    spans: Array


@cache
def no_pair() -> Pair:
    """Of steps that are no pairs."""
    none = np.zeros(0)
    return Pair(none, none, none, none, none, none, none, np.zeros((0, 2)))


class Table(NamedTuple):
    """What time prescribes over n substeps: one row each, or a single row for all."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms)
    offset: Array  # (n + 1 or 1, g)
    own_coefficient: Array  # (n or 1, terms), rates at the ends of the substeps
    own_offset: Array  # (n or 1, g)
    inputs: Array  # (n or 1, i)
    moved: Array  # (n or 1, springs), how far free measures move


class Kinds(NamedTuple):
    """Kinds of steps as numbers.

    ``redundant`` is 1 where multipliers are of least norm, ``decay`` where steps lose energy, ``contact`` where
    contacts are compliant, 2 of a pile (see loops.near), ``friction`` where joints have dry friction under their force,
    else zero.
    """

    redundant: int = 0
    decay: int = 0
    contact: int = 0
    friction: int = 0


class Parts(NamedTuple):
    """Substeps of a step: their shares of its length, the weights of their multipliers, and how many are remembered.

    ``pair`` is empty unless steps are judged in pairs.
    """

    shares: Array
    weights: Array
    depth: int
    pair: Pair
    kinds: Kinds = Kinds()


STEPS, STRIKES, COLLOCATION = range(3)
"""Kinds of loops over steps: the exact scheme, with rigid contacts that strike, and Gauss collocation."""


class Course(NamedTuple):
    """What the steps of a table are taken with, and where they are recorded.

    ``before`` steps were taken before, of which every so many are saved, and ``known`` rows of history are filled, the
    last ones. ``solved`` (1,) counts the steps that are finished.
    """

    parts: Parts
    calls: Calls
    rows: Rows
    solved: Index
    every: int
    before: int
    known: int


class GaussTable(NamedTuple):
    """What time prescribes over n steps of s stages: a row for each, or a single row for all."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms), at the ends of the steps
    offset: Array  # (n + 1 or 1, g)
    own_coefficient: Array  # (n or 1, terms), rates at the ends of the steps
    own_offset: Array  # (n or 1, g)
    stage_coefficient: Array  # (n s or 1, terms)
    stage_rate: Array  # (n s or 1, terms), h times the rates
    stage_offset: Array  # (n s or 1, g), h times the rates
    inputs: Array  # (n s or 1, i)


class AtNodes(NamedTuple):
    """What time prescribes at the nodes of all steps of a run, a row for each or one for all; the step's first row."""

    coefficient: Array  # (rows, terms)
    coefficient_rate: Array  # h times the rate
    offset_rate: Array  # (rows, g), h times the rate
    inputs: Array  # (rows, i)
    first: int


OVER_PART, RATES_AT_END, AT_TIME = range(3)
"""What is asked for: all but rates over a part of a step, its rates at the end, or all at a time."""


class Given(NamedTuple):
    """The length of a step, its inputs, and coefficients and offsets of the joints (see steps.step.Table).

    ``before`` and ``after`` are the coefficients at both ends, ``offset``, ``own_coefficient`` and ``own_offset`` those
    at its end, ``last_offset`` at its start; ``moves`` says whether they change.
    """

    h: float
    inputs: Array
    before: Array
    after: Array
    offset: Array
    last_offset: Array
    own_coefficient: Array
    own_offset: Array
    moves: bool


class Between(NamedTuple):
    """What is asked for between the times of a table; of an ``address`` 0 all that time prescribes is constant there.

    The function at the address fills the ``table`` of one step from the first of the ``times`` to the second one, or of
    both at the first one, with rates to the right of it.
    """

    address: int
    times: Array  # (2,)
    table: Table


class Prescribed(NamedTuple):
    """What time prescribes over step ``k`` of a table, and over its parts."""

    table: Table
    k: int
    between: Between


class Bracket(NamedTuple):
    """Two times and the least gaps there."""

    first: float
    before: float
    last: float
    after: float
