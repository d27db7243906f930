"""Tuples of arrays that are arguments and results of the loops."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from .data import Index


class Rows(NamedTuple):
    """Results of a run, with a row for every saved step, and a last one for steps that are not yet saved.

    See schemes.scheme.StepResult.
    """

    state: Array
    energy: Array
    stage: Array
    multipliers: Array
    flow: Array
    audit: Array


class Within(NamedTuple):
    """Data for the loops to call controllers that are solved within steps, after each trial solution.

    All are zero without such controllers.
    """

    address: int
    """Address of a function of ``data`` and the number of a step that returns 0 if all agree, 1 to try ``inputs``."""
    data: int
    state: Array  # (p, s), flat states of a try: at its end, or at the nodes of Gauss collocation
    output: Array  # (i,), mean outputs of the try
    inputs: Array  # (p, i), inputs of the controllers in the next try
    given: Array  # (p, i), all other inputs
    start: Array  # motion at the start of the step
    under_way: Array  # records up to the start of the step


class Calls(NamedTuple):
    """Data for the loops to call controllers before some of n steps, and the inputs that these hold.

    All are empty without controllers.
    """

    address: int
    """Address of a function of the number of a step that sets ``held`` and returns zero on success."""
    data: int
    """Second argument of a compiled function; zero for a Python function."""
    due: Index  # (n,), 1 for steps at whose start it is called
    held: Array  # (i,), inputs held until the next call
    held_in_steps: Array  # (n, i), inputs held in each step
    within: Within


@cache
def nothing_within() -> Within:
    """Empty data, for steps without controllers that are solved within them."""
    one, two = np.zeros(0), np.zeros((0, 0))
    return Within(0, 0, two, one, two, two, one, one)


@cache
def no_calls() -> Calls:
    """Empty data, for steps without calls of controllers."""
    return Calls(0, 0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)), nothing_within())


class Deformed(NamedTuple):
    """Flexible coordinates u of all bodies, or their rates, with the shifts ``mean`` = φ̄u and inertia products.

    φ̄u is the shift of the centre of mass of a body.
    """

    u: Array  # (n,)
    mean: Array  # (b, d)
    products: Array  # (n, K)


class Momenta(NamedTuple):
    """Angular momenta of all bodies about their centres of mass, and the momenta of their flexible coordinates."""

    p_r: Array  # (b, s)
    p_u: Array  # (n,)


class Pair(NamedTuple):
    """Error estimate and control of a pair of steps; empty unless steps are taken in pairs.

    ``found`` (3,) are ½ δ̂ᵀMδ̂, the kinetic energy of the change of the velocity defect over the pair, and the largest
    kinetic energy at its ends and in its middle [J]; ``before`` (n_v,) are the velocities and ``gaps`` (c,) the gaps of
    contacts at its start, ``mu`` (g,) is work space. Under step size control in the loops, ``control`` has the entries
    of :mod:`..steps.controls`, ``start`` is the motion at the start of a pair, ``times`` the times of the pair, with
    controllers within steps those of all accepted pairs, and ``spans`` (rows, 2) the ends of the last pair of each row.
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
    """Empty arrays, for steps that are not taken in pairs."""
    none = np.zeros(0)
    return Pair(none, none, none, none, none, none, none, np.zeros((0, 2)))


class Table(NamedTuple):
    """Prescribed quantities for n substeps, such as inputs and drives: one row each, or a single row if constant."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms)
    offset: Array  # (n + 1 or 1, g)
    coefficient_rate: Array  # (n or 1, terms), rates at the ends of the substeps
    offset_rate: Array  # (n or 1, g)
    inputs: Array  # (n or 1, i)
    moved: Array  # (n or 1, …), changes of free measures and values that change, see kernels.arrays

    def part(self, first: int, steps: int) -> Table:
        """Views of the rows of ``steps`` substeps, from number ``first`` on."""
        ends, last = len(self.times), first + steps
        return Table(*(column if len(column) == 1 else column[first : last + (len(column) == ends)] for column in self))


class Kinds(NamedTuple):
    """Kind of the steps of a run, as numbers for the loops.

    ``redundant`` is 1 for multipliers of least norm, ``decay`` is 1 for steps that lose energy, ``contact`` is 1 with
    compliant contacts and 2 for a pile (see loops.near_pairs), and ``friction`` is 1 with dry friction of joints that
    grows with the joint force; each is zero otherwise.
    """

    redundant: int = 0
    decay: int = 0
    contact: int = 0
    friction: int = 0


class Parts(NamedTuple):
    """Composition of a step of substeps.

    ``shares`` are their lengths divided by that of the step, ``weights`` those with which their multipliers are added,
    and ``depth`` is the largest number of rows of history that guesses use. ``pair`` is empty unless steps are taken in
    pairs.
    """

    shares: Array
    weights: Array
    depth: int
    pair: Pair
    kinds: Kinds = Kinds()


STEPS, STRIKES, COLLOCATION = range(3)
"""Kinds of loops over steps: the exact scheme, the exact scheme with impacts, and Gauss collocation."""


class Course(NamedTuple):
    """Options, callbacks and arrays for results, for the loops over the steps of a table.

    ``before`` steps were taken before these, one of ``every`` steps is saved, and the last ``known`` rows of history
    are filled. ``solved`` (1,) counts the finished steps.
    """

    parts: Parts
    calls: Calls
    rows: Rows
    solved: Index
    every: int
    before: int
    known: int


class GaussTable(NamedTuple):
    """Prescribed quantities for n steps of Gauss collocation with s stages: a row for each, or one if constant."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms), at the ends of the steps
    offset: Array  # (n + 1 or 1, g)
    coefficient_rate: Array  # (n or 1, terms), rates at the ends of the steps
    offset_rate: Array  # (n or 1, g)
    stage_coefficient: Array  # (n s or 1, terms)
    stage_rate: Array  # (n s or 1, terms), h times the rates
    stage_offset: Array  # (n s or 1, g), h times the rates
    inputs: Array  # (n s or 1, i)
    moved: Array  # (n s or 1, springs), rates of the free measures
    factor: Array  # (2 n s or 1, springs), factors of laws of springs at the points of the laws; (1, 0) without any
    factor_rate: Array  # h times the rates
    factor_end: Array  # (n + 1 or 1, springs), factors at the ends of the steps


class AtNodes(NamedTuple):
    """Prescribed quantities at the nodes of all steps of a run: one row each, or one for all.

    ``first`` is the first row of the present step.
    """

    coefficient: Array  # (rows, terms)
    coefficient_rate: Array  # h times the rate
    offset_rate: Array  # (rows, g), h times the rate
    inputs: Array  # (rows, i)
    moved: Array  # see GaussTable
    factor: Array
    factor_rate: Array
    factor_end: Array
    first: int


OVER_PART, RATES_AT_END, AT_TIME = range(3)
"""Requests of time-dependent data: all but rates over a part of a step, rates at its end, or all at one time."""


class Given(NamedTuple):
    """Length of a step [s], its inputs, and the coefficients and offsets of its constraints (see :class:`Table`).

    ``before`` and ``after`` are the coefficients at both ends, ``offset`` and ``last_offset`` the offsets at the end
    and at the start, ``coefficient_rate`` and ``offset_rate`` their rates at the end. ``moves`` is True if coefficients
    change with time.
    """

    h: float
    inputs: Array
    before: Array
    after: Array
    offset: Array
    last_offset: Array
    coefficient_rate: Array
    offset_rate: Array
    moves: bool


class Between(NamedTuple):
    """Callback that evaluates prescribed quantities between the times of a table; address 0 if all are constant.

    The function at the address fills the ``table`` of one step from the first to the second of the ``times``; for
    quantities at one time both are equal, and the rates are derivatives from the right.
    """

    address: int
    times: Array  # (2,)
    table: Table


class Prescribed(NamedTuple):
    """Prescribed quantities of step ``k`` of a table; at times within the step a callback evaluates them."""

    table: Table
    k: int
    between: Between


class Bracket(NamedTuple):
    """Two times between which a gap closes, and the least gap of all contacts at each."""

    first: float
    before: float
    last: float
    after: float
