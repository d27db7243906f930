"""Spring-dampers of a mechanism as arrays: forces, stiffness and stored energies at extensions, rates and states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..laws.elastic_laws import ElasticLaw
from ..laws.force_laws import ForceLaw
from ..laws.hysteresis import HysteresisLaw
from ..laws.resistive_relations import Relation
from ..numerics.arrays import Array
from .contacts.distances import Distance
from .ropes import Ropes

Index = np.ndarray


class Springs(NamedTuple):
    """Constant data of spring-dampers on lengths, components, angles, ropes and distances, in this order.

    A component is the offset of a point along a direction. Springs on distances are closed contacts in a mechanism at
    rest (:mod:`flexph.kernels.contacts.distances`). The extension is the length, angle etc. less its free value.
    ``state`` is the index of the state of a spring, its elastic force, or −1. Springs in ``resisting`` have a resistive
    relation ρ of their rate in addition to the damping coefficient; ``steepness`` is its slope ρ'(0), and
    ``relation_factors`` are factors of some relations as functions of time. Springs in ``lawful`` have an elastic law
    instead of the stiffness, and their extension x as state instead of the force: a state changes by ``gain`` (k or 1)
    times the change of extension. Springs in ``forced`` have a force law, the extension as state, and no energy.
    Springs in ``hysteretic`` have an internal extension as state, and gain 0.
    """

    length_product: Index
    component_product: Index
    sine_product: Index
    cosine_product: Index
    stiffness: Array
    damping: Array
    state: Index
    resisting: Index = np.zeros(0, dtype=int)
    relations: tuple[Relation, ...] = ()
    steepness: Array = np.zeros(0)
    relation_factors: tuple[tuple[int, Callable[[float], float]], ...] = ()
    lawful: Index = np.zeros(0, dtype=int)
    laws: tuple[ElasticLaw, ...] = ()
    forced: Index = np.zeros(0, dtype=int)
    force_laws: tuple[ForceLaw, ...] = ()
    hysteretic: Index = np.zeros(0, dtype=int)
    hysteresis: tuple[HysteresisLaw, ...] = ()
    ropes: Ropes = Ropes()
    distances: tuple[Distance, ...] = ()

    @property
    def angles(self) -> slice:
        """Slice of the springs whose extension is an angle [rad]; all other springs have a length [m] as extension."""
        first = self.length_product.size + self.component_product.size
        return slice(first, first + self.sine_product.size)

    @property
    def roped(self) -> slice:
        """Slice of the springs that are ropes."""
        return slice(self.angles.stop, self.angles.stop + self.ropes.number)

    @property
    def scales(self) -> tuple[float, float]:
        """Characteristic stiffness summed over all springs on lengths [N/m], and over those on angles [N m/rad]."""
        turning = float(self.scale[self.angles].sum())
        return float(self.scale.sum()) - turning, turning

    @property
    def scheduled(self) -> tuple[tuple[int, Callable[[float], float] | None], ...]:
        """Springs whose elastic law has a variable factor: pairs of spring number and factor as a function of time.

        The function is None if an input sets the factor.
        """
        pairs = zip(self.lawful.tolist(), self.laws, strict=True)
        return tuple((i, law.factor) for i, law in pairs if law.varies)

    @property
    def stored(self) -> int:
        """Number of springs with a state."""
        return int(np.count_nonzero(self.state >= 0))

    @property
    def gain(self) -> Array:
        """Derivatives of the states with respect to the extensions (springs,).

        They are k, or 1 for springs with an elastic or a force law, and 0 for springs with hysteresis.
        """
        gain = self._with_laws(self.stiffness, lambda law: 1.0)
        return np.where(np.isin(np.arange(gain.size), self.forced), 1.0, gain) if self.forced.size else gain

    @property
    def scale(self) -> Array:
        """Characteristic stiffness (springs,) [N/m or N m/rad], for the scale of forces."""
        scale = self._with_laws(self.stiffness, lambda law: law.scale)
        if self.hysteretic.size:
            scale = scale.copy()
            scale[self.hysteretic] = [law.stiffness for law in self.hysteresis]
        return scale

    def tensions(self, extension: Array, time: float, rate: Array | None = None) -> Array:
        """Forces (springs,) at given extensions and rates: k x, V'(x) of elastic laws, or F(x, v, t) of force laws.

        ``rate`` (springs,) is zero by default.
        """
        tension = self._with_laws(self.stiffness * extension, at_time(ElasticLaw.force, time), extension)
        for i, law in zip(self.forced.tolist(), self.force_laws, strict=True):
            tension[i] = law.force(float(extension[i]), 0.0 if rate is None else float(rate[i]), time)
        return tension

    def slopes(self, extension: Array, time: float, rate: Array | None = None) -> Array:
        """Stiffness (springs,) at given extensions and rates: k, V''(x) of elastic laws, or ∂F/∂x of force laws.

        ``rate`` (springs,) is zero by default.
        """
        slopes = self._with_laws(self.stiffness, at_time(ElasticLaw.stiffness, time), extension)
        if self.forced.size:
            slopes = slopes.copy()
            for i, law in zip(self.forced.tolist(), self.force_laws, strict=True):
                slopes[i] = law.stiffness(float(extension[i]), time, 0.0 if rate is None else float(rate[i]))
        return slopes

    def stiffness_sizes(self, states: Array) -> Array:
        """Characteristic stiffness (springs,) at states (stored,).

        It is k, the larger of the stiffness at rest and at the state for an elastic law, or |∂F/∂x| at the state for a
        force law.
        """
        sizes = self.scale.copy()
        for i, law in zip(self.lawful.tolist(), self.laws, strict=True):
            sizes[i] = max(sizes[i], abs(float(law.stiffness(states[self.state[i]]))))
        for i, force in zip(self.forced.tolist(), self.force_laws, strict=True):
            sizes[i] = abs(force.stiffness(float(states[self.state[i]])))
        return sizes

    def rate_slopes(self, extension: Array, time: float, rate: Array) -> Array:
        """Derivatives ∂F/∂v (springs,) of force laws with respect to the rate; zero for other springs."""
        slopes = np.zeros(extension.size)
        for i, law in zip(self.forced.tolist(), self.force_laws, strict=True):
            slopes[i] = law.damping(float(extension[i]), float(rate[i]), time)
        return slopes

    def forces(self, states: Array) -> Array:
        """Elastic forces (stored,) from the states (stored,): the states themselves, or V'(x) for an elastic law.

        V is taken without its time factor. Not for springs with a force law or hysteresis, whose state is no force.
        """
        return self._stored(states, states, ElasticLaw.force)

    def energies(self, states: Array, time: float = 0.0) -> Array:
        """Stored energies (stored,) [J] from the states (stored,) at a time [s].

        They are ½ e²/k for a force e, V(x) for an elastic law, ½ k z² for an internal extension z, and zero for force
        laws.
        """
        k, of = self.stiffness[self.state >= 0], at_time(ElasticLaw.energy, time)
        energies = self._stored(0.5 * states**2 / np.where(k > 0.0, k, 1.0), states, of)
        energies[self.state[self.forced]] = 0.0
        hysteretic = self.state[self.hysteretic]
        energies[hysteretic] = [
            0.5 * law.stiffness * z**2 for law, z in zip(self.hysteresis, states[hysteretic], strict=True)
        ]
        return energies

    def state_slopes(self, states: Array) -> Array:
        """Derivatives (stored,) of the forces by :meth:`forces` with respect to the states: 1, or V''(x)."""
        return self._stored(np.ones(states.size), states, ElasticLaw.stiffness)

    def _with_laws(self, values: Array, of: Callable[..., Any], *extension: Array) -> Array:
        """Copy of ``values`` (springs,) in which springs with an elastic law have the value ``of(law, …)``.

        Further arguments of ``of`` are the entries of the spring in the arrays ``extension``, (springs,) each.
        """
        if not self.laws:
            return values
        values = values.copy()
        for i, law in zip(self.lawful.tolist(), self.laws, strict=True):
            values[i] = of(law, *(x[i] for x in extension))
        return values

    def _stored(self, values: Array, states: Array, of: Callable[[ElasticLaw, Any], Any]) -> Array:
        """Copy of ``values`` (stored,) in which springs with an elastic law have the value ``of(law, state)``."""
        if not self.laws:
            return values
        values = values.copy()
        for i, law in zip(self.state[self.lawful].tolist(), self.laws, strict=True):
            values[i] = of(law, states[i])
        return values


def at_time(of: Callable[[ElasticLaw, Any], Any], time: float) -> Callable[[ElasticLaw, Any], Any]:
    """Function (law, x) that returns ``of(law, x)`` times the factor of the elastic law at the given time."""
    return lambda law, x: law.factor_at(time) * of(law, x)
