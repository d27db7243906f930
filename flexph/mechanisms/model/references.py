"""Quantities of springs, rods and flows that change by functions of time, or by inputs and controllers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...contacts.arrays import friction_factors, numbers_of_factors, surface_speeds
from ...joints.rows.connection import measures, owned_measures
from ...kernels.arrays import FACTORS, FRICTIONS, MASSES, RELATIONS, SPEEDS, STRAINS, SURFACES, timed_columns
from ...laws.resistive_relations import ScheduledRelation
from ...numerics import checks as check
from ...numerics.arrays import Array
from .prescribed import rate_after, values_at

if TYPE_CHECKING:
    from ...systems.inputs import Forcing
    from .model import Model


class ControlledFactor(NamedTuple):
    """Factor 1 + u of a stiffness, mass or friction, set by an input u of a run.

    ``name`` is that of the spring, joint, contact or body. ``kind`` and ``number`` give the column of its value (see
    :func:`flexph.kernels.arrays.timed_columns`), ``port`` the index of the input port, and ``entry`` that of u among
    the scalar inputs of all ports.
    """

    name: str
    kind: int
    number: int
    port: int
    entry: int

    @property
    def what(self) -> str:
        """Kind of the quantity that the factor multiplies: ``"stiffness"``, ``"mass"`` or ``"friction"``."""
        return {FACTORS: "stiffness", MASSES: "mass"}.get(self.kind, "friction")

    def check(self, values: Array, times: Array) -> None:
        """Raise ValueError unless 1 + u ≥ 0 for all ``values`` of the input u at the times, and > 0 for masses."""
        if not ((values <= -1.0) if self.kind == MASSES else (values < -1.0)).any():
            return
        k, symbol = int(np.argmin(values)), {FACTORS: "k", MASSES: "m"}.get(self.kind, "μ")
        least = "above -1" if self.kind == MASSES else "at least -1"
        raise ValueError(
            f"the input of {self.name!r} must be {least}, at which the {self.what} {symbol} (1 + u) vanishes, got "
            f"{values[k]:.6g} at t = {times[k]:.6g} s"
        )


class _Function(NamedTuple):
    """Function of time in a run, with the columns of its values in the row of prescribed values of a step.

    ``first`` is the column of the value at the start of the step, ``last`` that at its end. For a free length or angle
    both are the column of its change over the step. Values below ``least`` are refused.
    """

    first: int
    last: int
    name: str
    value: Callable[[float], float]
    least: float = -np.inf

    def at(self, time: float) -> float:
        """Value at a time; raises ValueError unless it is a finite number, and not below the ``least``."""
        value = check.number(f"{self.name} at t = {time} s", check.value_of(self.name, self.value, time))
        if value < self.least:
            right = "positive" if self.least > 0.0 else f"at least {self.least:g}"
            raise ValueError(f"{self.name} at t = {time} s must be {right}, got {value:.6g}")
        return value

    def along(self, times: Array) -> Array:
        """Values at the times, (k,); raises ValueError for one that is not finite or below the ``least``."""
        try:
            values = values_at(self.value, times, 1)[0]
        except Exception:
            values = np.full(times.size, np.nan)  # evaluated one by one below, so that the error names the time
        is_valid = bool(np.isfinite(values).all()) and values.min() >= self.least
        return values if is_valid else np.array([self.at(t) for t in times.tolist()])


def controlled_factors(mechanism: Model) -> tuple[ControlledFactor, ...]:
    """Factors of stiffness, friction and masses that an input sets as 1 + u, in the order of the kernels."""
    slices = mechanism.network.input_slices
    ports = {name: i for i, name in enumerate(slices)}
    references = []
    for i, (connection, measure) in enumerate(owned_measures(mechanism.connections)):
        if measure.is_controlled:
            references.append((connection.name, FACTORS, i))
        if isinstance(measure.damping, ScheduledRelation) and measure.damping.factor == "input":
            references.append((connection.name, RELATIONS, i))
    numbers = numbers_of_factors(mechanism.connections)
    references += [(c.name, FRICTIONS, numbers[c.name]) for c in mechanism.connections if c.name in numbers]
    frames, factors = list(mechanism.frames), mechanism.network.arrays.mass_factors
    references += [(frames[b], MASSES, k) for k, (b, of) in enumerate(factors) if of == "input"]
    return tuple(ControlledFactor(name, kind, i, ports[name], slices[name].start) for name, kind, i in references)


def _moving(mechanism: Model) -> list[_Function]:
    """Free lengths and angles of springs that are functions of time, with their columns."""
    pairs = enumerate(measures(mechanism.connections))
    return [_Function(i, i, f"{name}: the reference", m.free) for i, (name, m) in pairs if callable(m.free)]


def _changing(mechanism: Model) -> list[_Function]:
    """Factors of laws, friction and masses, and speeds, that are functions of time, with their columns."""
    a, columns = mechanism.network.arrays, mechanism.once(_columns).tolist()
    springs = [name for name, _ in measures(mechanism.connections)]
    rods = [name for name, body in mechanism.bodies.items() for _ in body.scheduled_laws]
    timed = [part.factor for part in a.strains.laws if part.factor is not None]
    scheduled = [(FACTORS, i, f"{springs[i]}: the schedule", of) for i, of in a.springs.scheduled if of is not None]
    scheduled += [
        (STRAINS, k, f"{name}: the schedule", of) for k, (name, of) in enumerate(zip(rods, timed, strict=True))
    ]
    scheduled += [(SPEEDS, k, flow.name, flow.speed) for k, flow in enumerate(a.flows)]
    surfaces = surface_speeds([c for c in mechanism.connections if c.touches])
    scheduled += [(SURFACES, k, name, speed) for k, (name, speed) in enumerate(surfaces)]
    scheduled += [
        (RELATIONS, i, f"{springs[i]}: the schedule of its friction", of) for i, of in a.springs.relation_factors
    ]
    scheduled += [(FRICTIONS, k, name, of) for k, (name, of) in enumerate(friction_factors(mechanism.connections))]
    frames = list(mechanism.frames)
    scheduled += [(MASSES, k, f"{frames[b]}: the factor of its mass", of) for k, (b, of) in enumerate(a.mass_factors)]
    scheduled = [factor for factor in scheduled if factor[-1] != "input"]
    places = [(columns[kind][0] + k, columns[kind][1], name, of) for kind, k, name, of in scheduled]
    bounds = {RELATIONS: 0.0, FRICTIONS: 0.0, MASSES: np.finfo(float).tiny}
    least = [bounds.get(kind, -np.inf) for kind, *_ in scheduled]
    pairs = zip(places, least, strict=True)
    return [_Function(first, first + count, name, of, low) for (first, count, name, of), low in pairs]


def _columns(mechanism: Model) -> np.ndarray:
    return timed_columns(mechanism.network.arrays)


class References:
    """Quantities that a run prescribes besides drives: free lengths of springs, factors of laws and masses, speeds.

    ``anchored`` (springs,) are the constant free lengths and angles, NaN for functions of time. A spring with a moving
    reference x₀ has the tension T = k(x − x₀) + c(ẋ − ẋ₀); moving x₀ does the work −∫T ẋ₀. Each step has a row with the
    values of all these quantities, see :func:`flexph.kernels.arrays.timed_columns`.

    Factors that inputs set follow the ``forcing`` of a run. Where an input jumps, set by a controller or as a piecewise
    constant function, the factor goes from the last value to the new one over the step after the jump.
    """

    def __init__(self, mechanism: Model, anchored: Array, forcing: Forcing | None = None) -> None:
        self.anchored, self._forcing, self._still = anchored, forcing, np.zeros(anchored.size)
        self._moving, self._changing = mechanism.once(_moving), mechanism.once(_changing)
        self._controlled, columns = mechanism.once(controlled_factors), mechanism.once(_columns)
        self._first, self._count = columns[FACTORS].tolist()
        self._places = columns.tolist()
        self._ones = columns[[FACTORS, RELATIONS, FRICTIONS, MASSES]].tolist()
        self.width = int(columns[-1] @ (1, 2))

    @property
    def moves(self) -> bool:
        """True if a free length, a factor or a speed changes with time."""
        return bool(self._moving) or self.width > self._still.size

    def at(self, time: float) -> Array:
        """Free lengths and angles of all springs at a time, (springs,) [m or rad]."""
        if not self._moving:
            return self.anchored
        values = self.anchored.copy()
        for function in self._moving:
            values[function.first] = function.at(time)
        return values

    def rates(self, time: float) -> Array:
        """Time derivatives of the free lengths and angles just after a time, (springs,)."""
        rates = self._still.copy()
        for function in self._moving:
            rates[function.first] = rate_after(function.value, 1, time, function.name.removesuffix(": the reference"))[
                0
            ]
        return rates

    def factors(self, time: float) -> Array:
        """Factors of the laws of springs at a time, (springs,); empty if no spring has a factor."""
        factors: Array = self._values(np.array([time, time]))[0, self._first + self._count :][: self._count]
        return factors

    def held_at(self, time: float) -> Array:
        """Row of prescribed values of a step of length zero at a time.

        Factors that a controller sets keep their last value, as the controller is not yet called at this time.
        """
        if not self.moves:
            return self._still
        row: Array = self._values(np.array([time, time]))[0]
        for first, count in (self._places[kind] for kind in (FACTORS, MASSES)):
            row[first + count : first + 2 * count] = row[first : first + count]
        return row

    def moved(self, t0: float, t1: float) -> Array:
        """Row of the prescribed values of one step, from time t0 to time t1, in the layout of :meth:`at_times`."""
        row: Array = self.at_times(np.array([t0, t1]))[0]
        return row

    def at_times(self, times: Array) -> Array:
        """Rows of prescribed values of the k steps between k + 1 times, (k, columns).

        There is a single row of zeros if nothing varies.
        """
        if not self.moves:
            return self._still[None]
        rows = self._values(times)
        for function in self._moving:
            rows[:, function.first] = np.diff(function.along(times))
        return rows

    def along(self, times: Array, ends: Array) -> tuple[Array, Array]:
        """Free lengths or angles of springs, and factors of their laws, at k times within steps, (k, springs) each.

        Constant quantities have a single row. ``ends`` are the ends of all steps. A factor that a controller or a
        piecewise constant input sets goes from its last value to the new one over the step after the change, as in
        :meth:`at_times`.
        """
        references = np.tile(self._still, (len(times) if self._moving else 1, 1))
        factors = np.ones((len(times) if self._count else 1, self._count))
        for function in self._moving:
            references[:, function.first] = function.along(times)
        for function in self._changing:
            if self._first <= function.first < self._first + self._count:
                factors[:, function.first - self._first] = function.along(times)
        for factor, values in self._factors(times, self._inputs(times, ends)):
            if factor.kind == FACTORS:
                factors[:, factor.number] = values
        return references, factors

    def _values(self, times: Array) -> Array:
        """Rows of prescribed values of the k steps between k + 1 times, zero for free lengths and angles."""
        rows = np.zeros((len(times) - 1, self.width))
        for first, count in self._ones:
            rows[:, first : first + 2 * count] = 1.0
        for function in self._changing:
            values = function.along(times)
            rows[:, function.first], rows[:, function.last] = values[:-1], values[1:]
        inputs = self._forcing.before(times) if self._controlled and self._forcing is not None else None
        for factor, values in self._factors(times, inputs):
            start, count = self._places[factor.kind]
            rows[:, start + factor.number], rows[:, start + count + factor.number] = values[:-1], values[1:]
        return rows

    def _inputs(self, times: Array, ends: Array) -> Array | None:
        """Values of the inputs at k times within steps, (k, m); None if no input sets a factor.

        Inputs that jump at the ``ends`` of steps are linear between them.
        """
        forcing = self._forcing
        if forcing is None or not self._controlled:
            return None
        smooth = ~forcing.jumping
        change = forcing.before(ends) - smooth * forcing.at_times(ends)  # of jumping inputs; first of controllers, too
        linear = [np.interp(times, ends, column) for column in change.T]
        return smooth * forcing.at_times(times) + np.array(linear).T

    def _factors(self, times: Array, inputs: Array | None) -> Iterator[tuple[ControlledFactor, Array]]:
        """Yield each factor that an input sets, with its values 1 + u (k,) at the times (k,).

        ``inputs`` (k, m) are the inputs u at these times; without any, nothing is yielded. A value that is not allowed
        raises ValueError.
        """
        if inputs is None:
            return
        for factor in self._controlled:
            of_factor = inputs[:, factor.entry]
            factor.check(of_factor, times)
            yield factor, 1.0 + of_factor
