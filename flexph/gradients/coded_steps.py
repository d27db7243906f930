"""Derivatives of the data of a run with respect to many parameters, from few samples in which all parameters change.

Most data of a run (numbers such as masses, or values of tables) depend on few parameters. In sample t = 0, …, 2m − 2
parameter i changes by cos(tθᵢ) times its small step, so that a number changes by yₜ = Σ cᵢ cos(tθᵢ) to first order.
As cos(aθ) cos(bθ) = ½ (cos((a − b)θ) + cos((a + b)θ)),

    ½ (y_|a−b| + y_a+b) = Σ cᵢ vᵢ vᵢᵀ,   vᵢ = (1, cos θᵢ, …, cos((m − 1)θᵢ)):

the range of this matrix (m, m) contains the vectors vᵢ of only those parameters on which the number depends. Their cᵢ
follow by least squares from all samples, of which there are more than unknowns; a number with a large residual is
unresolved.
(Harmonic retrieval: Schmidt, IEEE Trans. Antennas Propag. 34, 276-280, 1986.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .parameters import SMALL, DifferenceBase, FunctionalDerivatives, RunData, samples_of, size_of
from .runs.readings import change
from .runs.run_inputs import array_change

ORDERS = (5, 8)
"""Orders m of the coding matrices, tried in turn: a number is resolved if it depends on at most m − 2 parameters."""
MANY = 24
"""Number of parameters above which steps are coded: 2 (2m − 1) calls are fewer than two for each."""
RANK = 1e-6
"""Singular value, relative to the largest, above which it adds to the rank."""
FITTED = 1e-6
"""Largest residual of a number that is resolved, relative to its largest change."""
ALIKE = 1e-7
"""Width of a cell of directions in which numbers count as proportional when their parameters are looked for."""
ROUNDED = 32.0 * np.finfo(float).eps
"""Change of a number in one step, relative to its size, that is round-off."""
AT_ONCE = 64
"""Number of matrices that are compared with the vectors of all parameters at a time."""
NEGLIGIBLE = 1e-9
"""Largest share of unresolved numbers in a functional, as the sum of sizes of their changes, that is left out."""


class RunDerivatives(NamedTuple):
    """Derivatives of all numbers in the data of a run with respect to parameters, times the sizes of the parameters.

    ``values`` are the nonzero derivatives, ``entries`` the indices of their numbers and of their parameters. ``sizes``
    are the largest changes of all numbers; ``unresolved`` are the same for numbers whose derivatives are not known, and
    zero for others. ``nodal`` are the ports that are described by the values at the nodes of their input table.
    """

    samples: Mapping[str, Mapping[int, RunData]]
    nodal: Sequence[str]
    entries: tuple[Array, Array]
    values: Array
    sizes: Array
    unresolved: Array

    def by_parameter(self, origin: DifferenceBase, weights: FunctionalDerivatives) -> dict[str, float] | None:
        """Derivatives of a functional with respect to each parameter; None if unresolved numbers contribute.

        ``weights`` are the derivatives of the functional with respect to the data of the run.
        """
        column = np.concatenate([np.ravel(part) for part in _parts(origin, weights, self.nodal)])
        if np.abs(column) @ self.unresolved > NEGLIGIBLE * (np.abs(column) @ self.sizes):
            return None
        number, parameter = self.entries
        found = np.bincount(parameter, column[number] * self.values, minlength=len(origin.parameters))
        sizes = map(size_of, origin.parameters.values())
        return {name: float(by / size) for (name, by, size) in zip(origin.parameters, found, sizes, strict=True)}


def coded(origin: DifferenceBase, order: int, pairs: list[tuple[RunData, RunData]]) -> RunDerivatives:
    """Derivatives of all numbers in the data of a run, from coded samples with matrices of the ``order`` m.

    ``pairs`` are the samples that a lower order needed, each for changes in both directions; missing ones are added.
    """
    count = len(origin.parameters)
    angles = (np.random.default_rng(0).permutation(count) + 0.5) * np.pi / count
    code = np.cos(np.arange(2 * order - 1)[:, None] * angles)
    sizes = [SMALL * size_of(value) for value in origin.parameters.values()]
    for row in code[len(pairs) :]:
        steps = {name: float(c * size) for name, c, size in zip(origin.parameters, row, sizes, strict=True)}
        by_sign = samples_of(origin, steps, (-1, 1))
        pairs.append((by_sign[1], by_sign[-1]))
    every = [one for pair in pairs for one in pair]
    nodal = origin.sample.inputs.nodal_ports(*(one.inputs for one in every))
    moved = np.array([_changes(origin, pair, nodal) for pair in pairs]) / (2.0 * SMALL)
    largest = np.abs(moved).max(axis=0)
    largest[largest <= ROUNDED / SMALL * _magnitudes(origin, nodal)] = 0.0
    rows = np.flatnonzero(largest)
    entries, values, left = _resolved(moved[:, rows].T, code)
    unresolved = np.zeros(largest.size)
    unresolved[rows[left]] = largest[rows[left]]
    samples = {"coded": dict(enumerate(every))}
    return RunDerivatives(samples, nodal, (rows[entries[0]], entries[1]), values, largest, unresolved)


def _magnitudes(origin: DifferenceBase, nodal: Sequence[str]) -> Array:
    """Sizes of all numbers in the data of a run, by which their changes are compared with round-off.

    They are the absolute values of constants, and the largest absolute value of each other array. ``nodal`` are the
    ports whose numbers are the values of their tables.
    """
    sample = origin.sample
    parts = [*sample.arrays[1:], *sample.inputs.numbers(nodal), sample.jumps, *sample.readings.values()]
    sizes = [np.full(part.size, np.abs(part).max(initial=0.0)) for part in parts]
    return np.concatenate([np.abs(sample.arrays[0]), *sizes])


def _changes(origin: DifferenceBase, pair: tuple[RunData, RunData], nodal: Sequence[str]) -> Array:
    """Differences of all numbers between the two samples of a pair, as one vector (numbers,)."""
    after, before = pair
    parts = [array_change(last, first) for last, first in zip(after.arrays, before.arrays, strict=True)]
    parts += [*after.inputs.changes(before.inputs, nodal), after.jumps - before.jumps]
    parts += [
        change(quantity, after.readings[name], before.readings[name]) for name, (quantity, _) in origin.sensors.items()
    ]
    return np.concatenate([np.ravel(part) for part in parts])


def _parts(origin: DifferenceBase, weights: FunctionalDerivatives, nodal: Sequence[str]) -> list[Array]:
    """Derivatives of a functional with respect to all numbers, in the order of :func:`_changes`."""
    by_reading = {name: np.zeros_like(reading) for name, reading in origin.sample.readings.items()}
    by_reading[weights.name][:, weights.component] = weights.slopes
    return [*weights.arrays, *weights.inputs.by_port(nodal), weights.jumps, *by_reading.values()]


def _resolved(moved: Array, code: Array) -> tuple[tuple[Array, Array], Array, Array]:
    """Nonzero derivatives of numbers, as index pairs (number, parameter) and values; and indices of unresolved numbers.

    ``moved`` (numbers, samples) are changes of numbers, ``code`` (samples, parameters) changes of parameters.
    """
    size = np.abs(moved).max(axis=1)
    scaled = moved / size[:, None]
    first, kind = _proportional_groups(scaled)
    left, values, _ = np.linalg.svd(_matrices(scaled[first]))
    ranks = np.minimum((values > RANK * values[:, :1]).sum(axis=1), values.shape[1] - 2)
    numbers, parameters, found = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], [np.zeros(0)]
    fits = np.zeros(len(moved), dtype=bool)
    for rank in np.unique(ranks).tolist():
        kinds = np.flatnonzero(ranks == rank)
        supports = _supports(left[kinds, :, :rank], code)
        of = code[:, supports].transpose(1, 0, 2)  # (kinds, samples, rank)
        rows = np.flatnonzero(ranks[kind] == rank)
        kinds_of_rows = np.searchsorted(kinds, kind[rows])
        by = np.einsum("krt,kt->kr", np.linalg.pinv(of)[kinds_of_rows], scaled[rows])
        residuals = np.abs(np.einsum("ktr,kr->kt", of[kinds_of_rows], by) - scaled[rows]).max(axis=1)
        good = np.flatnonzero(residuals <= FITTED)
        fits[rows[good]] = True
        numbers.append(np.repeat(rows[good], rank))
        parameters.append(supports[kinds_of_rows[good]].ravel())
        found.append((by[good] * size[rows[good], None]).ravel())
    return (np.concatenate(numbers), np.concatenate(parameters)), np.concatenate(found), np.flatnonzero(~fits)


def _proportional_groups(scaled: Array) -> tuple[Array, Array]:
    """Groups of numbers with proportional changes: first number of each group, and group of each number.

    ``scaled`` (numbers, samples) are the changes divided by the largest of each number.
    """
    sign = np.where(np.take_along_axis(scaled, np.abs(scaled).argmax(axis=1)[:, None], axis=1) < 0.0, -1.0, 1.0)
    mark = (sign * scaled) @ np.random.default_rng(1).uniform(0.5, 1.5, scaled.shape[1])
    _, first, kind = np.unique(np.round(mark / ALIKE), return_index=True, return_inverse=True)
    return first, kind


def _matrices(scaled: Array) -> Array:
    """Matrices ½ (y_|a−b| + y_a+b), (numbers, m, m), from the changes y of numbers, (numbers, 2m − 1)."""
    order = (scaled.shape[1] + 1) // 2
    a, b = np.arange(order)[:, None], np.arange(order)
    matrices: Array = 0.5 * (scaled[:, np.abs(a - b)] + scaled[:, a + b])
    return matrices


def _supports(ranges: Array, code: Array) -> Array:
    """For each of k spaces, indices (k, rank) of the parameters whose vectors vᵢ are closest to it.

    ``ranges`` (k, m, rank) are bases of the spaces. ``code`` (samples, parameters) are the changes of the parameters.
    """
    order, rank = ranges.shape[1:]
    vectors = code[:order] / np.linalg.norm(code[:order], axis=0)
    found = []
    for first in range(0, len(ranges), AT_ONCE):
        within = np.square(ranges[first : first + AT_ONCE].transpose(0, 2, 1) @ vectors).sum(axis=1)
        found.append(within.argmax(axis=1)[:, None] if rank == 1 else _largest(within, rank))
    return np.concatenate(found)


def _largest(rows: Array, count: int) -> Array:
    """Indices (rows, count) of the ``count`` largest entries of each row."""
    return np.argpartition(-rows, count - 1, axis=1)[:, :count]
