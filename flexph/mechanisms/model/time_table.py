"""Coefficients and offsets of the constraint rows Σ (coefficient · product) − offset as functions of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...joints.rows.connection import measures
from ...joints.rows.laws import Law, LawRows, TimeFunction
from ...kernels.contacts.distances import distance_values
from ...kernels.ropes import rope_lengths, wound_off
from ...laws.elastic_laws import ElasticLaw
from ...numerics import checks as check
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...systems.nonlinear import ValidityWarning
from .prescribed import rate_after, rate_before, rate_doubt, values_at
from .references import References

if TYPE_CHECKING:
    from ...systems.inputs import Forcing
    from .model import Model


STRETCHED = 0.3
"""Extension of a rope at the assembled pose, relative to its length, above which a warning is given: fibres break."""


@dataclass(frozen=True, eq=False)
class Anchors:
    """Values that a mechanism keeps from its assembled pose.

    ``rows`` are the offsets of the constraint laws, NaN if driven; ``springs`` the free lengths of springs, NaN for
    functions of time.
    """

    rows: Array
    springs: Array


def laws(mechanism: Model) -> list[Law]:
    """Law of each constraint row, (g,)."""
    return mechanism.once(_laws)


def _laws(mechanism: Model) -> list[Law]:
    return [row.law for c in mechanism.connections for row in c.rows]


def law_products(mechanism: Model) -> list[list[int]]:
    """Indices, among all products V·W, of the products of each constraint row."""
    return mechanism.once(_law_products)


def _law_products(mechanism: Model) -> list[list[int]]:
    products: list[list[int]] = [[] for _ in laws(mechanism)]
    for term in mechanism.network.terms:
        products[term.row].append(term.product)
    return products


def law_values(mechanism: Model) -> list[slice]:
    """Slices of the entries of the constraint rows in :attr:`Anchors.rows`: the value of the law of each row."""
    return mechanism.once(_law_rows).values


def law_terms(mechanism: Model) -> list[slice]:
    """Slices of the terms (coefficients times products) of each constraint row among all terms."""
    return mechanism.once(_law_rows).terms


def _law_rows(mechanism: Model) -> LawRows:
    return LawRows(laws(mechanism), law_products(mechanism))


def anchor(mechanism: Model, product: Array) -> Anchors:
    """Anchors of a pose with the products V·W (p,), or of k poses (p, k).

    A value that the user gave is kept, any other is measured in the pose. Warns, for a single pose, of ropes that are
    far shorter than their path.
    """
    free = _free_measures(mechanism, product)
    if mechanism.network.arrays.springs.ropes.number and product.ndim == 1:
        _warn_of_short_ropes(mechanism, spring_values(mechanism, product), free)
    return Anchors(mechanism.once(_law_rows).anchored(product), free)


def _warn_of_short_ropes(mechanism: Model, lengths: Array, free: Array) -> None:
    """Warn of ropes that a pose stretches by more than ``STRETCHED`` of their given length.

    ``lengths`` and ``free`` are those of all springs, in the pose and without tension.
    """
    first = mechanism.network.arrays.springs.roped.start
    for i, (name, measure) in enumerate(measures(mechanism.connections)):
        over = lengths[i] - free[i]
        if i >= first and over > STRETCHED * free[i]:
            law = measure.law
            force = f" with {float(law.force(over)):.3g} N" if isinstance(law, ElasticLaw) else ""
            warn(
                f"{name} is shorter than its path: {free[i]:.4g} m without tension, {lengths[i]:.4g} m at the "
                f"assembled pose, which stretches it by {100.0 * over / free[i]:.0f} %{force}; use a longer length",
                ValidityWarning,
            )


def spring_values(mechanism: Model, product: Array) -> Array:
    """Lengths, components, angles, lengths of ropes and distances of all spring-dampers."""
    s = mechanism.network.arrays.springs
    if not s.stiffness.size:
        return np.zeros((0, *product.shape[1:]))
    angles = np.arctan2(product[s.sine_product], product[s.cosine_product])
    measured = [
        np.sqrt(product[s.length_product]),
        product[s.component_product],
        angles,
        rope_lengths(s.ropes, product),
    ]
    return np.concatenate([*measured, distance_values(s.distances, product)] if s.distances else measured)


def _free_measures(mechanism: Model, product: Array) -> Array:
    values = spring_values(mechanism, product)
    if not len(values):
        return values
    springs = mechanism.network.arrays.springs
    off = np.zeros_like(values)
    off[springs.roped] = wound_off(springs.ropes, product)  # a given length is that between the discs
    for i, (name, measure) in enumerate(measures(mechanism.connections)):
        if np.isnan(values[i]).any():
            raise ValueError(
                f"{name} has two sheaves or ports without a straight span between them at this pose: place them "
                "further apart than the difference of their signed radii"
            )
        if measure.free is not None:
            values[i] = np.nan if callable(measure.free) else measure.free + off[i]
    return values


class Prescribed(NamedTuple):
    """Coefficients of all terms and offsets of all constraint rows at a time, with rates and their errors.

    The errors, ``coefficient_doubt`` and ``offset_doubt``, are those of finite differences of drives due to round-off.
    """

    coefficient: Array
    offset: Array
    coefficient_rate: Array
    offset_rate: Array
    coefficient_doubt: Array
    offset_doubt: Array


class TimeTable:
    """Coefficients of all terms and offsets of all constraint rows of a mechanism as functions of time.

    Only those of drives are computed anew for each time. ``references`` are the free lengths of the springs, and
    factors that the ``forcing`` of a run may set.
    """

    def __init__(self, mechanism: Model, anchors: Anchors, forcing: Forcing | None = None) -> None:
        self.anchors, self.references = anchors, References(mechanism, anchors.springs, forcing)
        rows = mechanism.once(_law_rows)
        self._laws, self._names, self._driven = rows.laws, mechanism.constraint_names, rows.driven
        self._own, self._terms = rows.values, rows.terms
        self._fixed = rows.prescribed(anchors.rows)
        self._still = np.zeros_like(self._fixed[0]), np.zeros_like(self._fixed[1])
        self._constant = Prescribed(*self._fixed, *self._still, *self._still)
        self._last = lru_cache(maxsize=2)(lambda time: self.evaluate(self.values(time)))
        self._first = lru_cache(maxsize=1)(
            lambda time: self._rates(time, None)
        )  # a run needs the rates of its start twice

    @property
    def varies(self) -> bool:
        """True if a constraint, or a free length, factor or speed of the references, depends on time."""
        return bool(self._driven) or self.references.moves

    def prescribed(self, time: float) -> Prescribed:
        """Coefficients and offsets of the constraint rows at a time [s], their rates and the round-off of these rates.

        The arrays are read-only.
        """
        if not self._driven:
            return self._constant
        return Prescribed(*self.at(time), *self.rates(time), *self.doubts(time))

    def at(self, time: float) -> tuple[Array, Array]:
        """Coefficients (terms,) and offsets (rows,) of the constraint rows at a time [s]; read-only."""
        return self._last(time) if self._driven else self._fixed

    def values(self, time: float) -> Array:
        """Values of the laws of all constraint rows at a time, concatenated as in :attr:`Anchors.rows`.

        Raises ValueError if a drive has no finite value.
        """
        values = self.anchors.rows.copy()
        for i in self._driven:
            given = check.value_of(f"{self._names[i]}: the prescribed motion", self._prescribed(i), time)
            where = f"{self._names[i]}: the prescribed value at t = {time} s"
            try:
                values[self._own[i]] = np.asarray(given, dtype=float)
            except (TypeError, ValueError):
                raise ValueError(f"{where} must be a number, got {given!r}") from None
            if not np.isfinite(values[self._own[i]]).all():
                raise ValueError(f"{where} must be finite, got {given}")
        return values

    def evaluate(self, values: Array) -> tuple[Array, Array]:
        """Coefficients (terms,) and offsets (rows,) of the constraint rows for given values of the prescribed motions.

        ``values`` are those of all laws, concatenated, but only those of driven constraints are read. Other constraints
        keep the values in the anchors, which are given or were measured in the assembled pose.
        """
        coefficient, offset = self._fixed[0].copy(), self._fixed[1].copy()
        for i in self._driven:
            law, value = self._laws[i], values[self._own[i]]
            if np.isfinite(value).all():  # driven values may be missing (NaN)
                coefficient[self._terms[i]], offset[i] = law.coefficients(value), law.offset(value)
        return coefficient, offset

    def rates(self, time: float, step: float | None = None) -> tuple[Array, Array]:
        """Time derivatives of the coefficients of all terms and of the offsets of all rows at a time; read-only.

        They are one-sided fourth-order differences of the drives. Without a ``step`` they use later times and choose
        their step; with a step [s] they use times within the step that ends at the time, so that drives are not
        evaluated outside the run.
        """
        if not self._driven:
            return self._still
        return self._first(time) if step is None else self._rates(time, step)

    def _rates(self, time: float, step: float | None) -> tuple[Array, Array]:
        coefficient, offset = (part.copy() for part in self._still)
        values = self.values(time)
        for i in self._driven:
            law, size = self._laws[i], self._own[i].stop - self._own[i].start
            function, name = self._prescribed(i), self._names[i]
            rate = rate_after(function, size, time, name) if step is None else rate_before(function, size, time, step)
            coefficient[self._terms[i]], offset[i] = law.rates(values[self._own[i]], rate)
        return coefficient, offset

    def doubts(self, time: float) -> tuple[Array, Array]:
        """Errors of the rates of coefficients and offsets just after a time, due to round-off in the drives."""
        coefficient, offset = (part.copy() for part in self._still)
        values = self.values(time)
        for i in self._driven:
            law, span = self._laws[i], self._own[i]
            rates = law.rates(values[span], rate_doubt(self._prescribed(i), span.stop - span.start, time))
            coefficient[self._terms[i]], offset[i] = np.abs(rates[0]), np.abs(rates[1])
        return coefficient, offset

    def along(self, times: Array) -> tuple[Array, Array]:
        """Coefficients (k, terms) and offsets (k, g) at k times; a single row of each if nothing is driven."""
        coefficient, offset = (part[None] for part in self._fixed)
        if not self._driven:
            return coefficient, offset
        coefficient, offset = (np.repeat(part, len(times), axis=0) for part in (coefficient, offset))
        for i in self._driven:
            law, values = self._laws[i], self._sampled(i, times)
            coefficient[:, self._terms[i]], offset[:, i] = law.coefficients(values).T, law.offset(values)
        return coefficient, offset

    def at_times(self, times: Array) -> tuple[Array, Array, Array, Array]:
        """Coefficients and offsets at k + 1 times, and their rates at the ends of the k steps between.

        Shapes are (k + 1, …) and (k, …). Each has a single row if nothing is driven. The rates are those of
        :meth:`rates` with the steps between the times.
        """
        if not self._driven:
            coefficient, offset = self._fixed
            return coefficient[None], offset[None], np.zeros((1, coefficient.size)), np.zeros((1, offset.size))
        steps = len(times) - 1
        coefficient, offset = (np.repeat(part[None], steps + 1, axis=0) for part in self._fixed)
        of_coefficient, of_offset = np.zeros((steps, coefficient.shape[1])), np.zeros((steps, offset.shape[1]))
        length = times[1:] - times[:-1]
        quarters = (
            times[1:] - 0.25 * k * length for k in range(1, 4)
        )  # three inner points of every step, from its end
        points = np.concatenate([times, *quarters])
        for i in self._driven:
            law, terms = self._laws[i], self._terms[i]
            sampled = self._sampled(i, points)
            values, within = sampled[:, : steps + 1], sampled[:, steps + 1 :].reshape(-1, 3, steps)
            rate = 25.0 * values[:, 1:] - 48.0 * within[:, 0] + 36.0 * within[:, 1] - 16.0 * within[:, 2]
            rate = (rate + 3.0 * values[:, :-1]) / (3.0 * length)
            coefficient[:, terms], offset[:, i] = law.coefficients(values).T, law.offset(values)
            rates = law.rates(values[:, 1:], rate)
            of_coefficient[:, terms], of_offset[:, i] = rates[0].T, rates[1]
        return coefficient, offset, of_coefficient, of_offset

    def _sampled(self, row: int, times: Array) -> Array:
        """Values (entries, times) that the law of the constraint ``row`` prescribes at the times."""
        name, function = f"{self._names[row]}: the prescribed motion", self._prescribed(row)
        size = self._own[row].stop - self._own[row].start
        try:
            samples = values_at(function, times, size)
        except Exception:
            samples = np.full((size, times.size), np.nan)  # evaluated one by one below, for the error
        if not np.all(np.isfinite(samples)):
            for t in times.tolist():
                self.values(t)
            raise ValueError(f"{name} must return numbers, equally many at all times")
        return samples

    def _prescribed(self, row: int) -> TimeFunction:
        value = self._laws[row].value
        assert callable(value)
        return value


class _LastTable:
    """Cache of the last time table of a mechanism, as states in succession need the same one if nothing is driven."""

    def __init__(self, mechanism: Model) -> None:
        self.mechanism = mechanism
        self.last: TimeTable | None = None

    def of(self, anchors: Anchors) -> TimeTable:
        """Time table for anchors, from the cache if they are the last ones and nothing depends on time.

        Otherwise it is built again, as functions of time may have changed.
        """
        last = self.last
        if last is None or last.anchors is not anchors or last.varies:
            last = self.last = TimeTable(self.mechanism, anchors)
        return last


def table_of(mechanism: Model, anchors: Anchors) -> TimeTable:
    """Time table of the constraint rows of a mechanism, with the anchors as the values of joints without a drive."""
    return mechanism.once(_LastTable).of(anchors)
