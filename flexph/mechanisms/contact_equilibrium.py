"""Equilibrium with closed contacts replaced by joints and springs: its forces, and friction within its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..joints.rows.connection import measures
from ..kernels.state import Configuration, derive
from ..numerics.arrays import Array, dense
from .model.constraints import rates_at, spring_extensions
from .model.state import State, configuration, flat
from .model.time_table import table_of
from .poses.passage import copied_state
from .substitutes import Touch, name_of

Mechanism = Any
"""A :class:`flexph.Mechanism`, whose module imports this one."""
WAYS = 128
"""Number of directions in which friction in space is bounded, by polygons within its circle: to 3e-4."""
FRICTION = ": friction: "
"""Text that follows the name of a contact in the names of the rows and springs that hold it along its tangents."""
MOST, DIGITS = 1e6, 1e-5
"""Largest factor of the coefficients of friction that is tried, and the relative error of the least one."""
SLIPS = 1e-6
"""Relative excess of friction above its bound that counts as zero: the balance of forces has the same accuracy."""


class SlipError(ArithmeticError):
    """Error of an equilibrium in which friction at a contact would have to exceed its bound."""


class ContactEquilibrium:
    """Equilibrium ``state`` of a ``mechanism`` in which joints and springs replace closed contacts.

    ``touches`` are the gaps of all contacts of the original mechanism.
    """

    def __init__(self, touches: Sequence[Touch], mechanism: Mechanism, state: State) -> None:
        self.touches, self.mechanism, self.state = touches, mechanism, state

    @property
    def configuration(self) -> Configuration:
        """Configuration of the bodies in this equilibrium."""
        return configuration(self.mechanism, self.state.x)

    @cached_property
    def tensions(self) -> dict[str, float]:
        """Tensions [N or N m] of all springs of the mechanism by name."""
        mechanism, time, springs = self.mechanism, self.state.time, self.mechanism.network.arrays.springs
        extensions = spring_extensions(mechanism, self.configuration, table_of(mechanism, self.state.anchors), time)
        names = (name for name, _ in measures(mechanism.connections))
        return dict(zip(names, springs.tensions(extensions, time).tolist(), strict=True))

    @cached_property
    def multipliers(self) -> dict[str, float]:
        """Multipliers of all constraint rows of the mechanism by name."""
        return dict(zip(self.mechanism.constraint_names, self.state.multipliers.tolist(), strict=True))

    @property
    def normal(self) -> dict[str, float]:
        """Multipliers of the constraints that replace the closed rigid contacts, by name: the normal forces [N].

        For a rim the multiplier is the normal force divided by the sine of the angle between the axis of the disc and
        the normal.
        """
        rows = {t.name: (t.gap.sign, f"{t.name}: normal") for t in self.touches}
        return {name: sign * self.multipliers[row] for name, (sign, row) in rows.items() if row in self.multipliers}

    @property
    def pressing(self) -> dict[str, float]:
        """Normal forces [N] of all closed contacts, rigid and compliant, by name."""
        forces = {t.name: -t.gap.sign * self.tensions[t.name] for t in self.touches if t.is_sprung}
        for touch in self.touches:
            if touch.lead is not None and not touch.is_rigid:
                share = self.multipliers[f"{touch.name}: share"]
                forces[touch.name] = share
                forces[next(t.name for t in self.touches if t.gap is touch.lead)] -= share
        return self.normal | forces

    def with_contacts(self, mechanism: Mechanism) -> State:
        """State of the original mechanism, with contacts, at this equilibrium of joints and springs."""
        whole = self._with_anchors(mechanism, copied_state(self.mechanism, mechanism, self.state))
        multipliers = np.array([self.multipliers[name] for name in mechanism.constraint_names])
        return replace(whole, multipliers=multipliers, joint_forces=True)

    def _friction(self) -> dict[str, Array]:
        """Friction forces (d,) [N] in world axes of the compliant contacts, by name.

        They are the tensions of the springs that hold these contacts along their tangents.
        """
        a = self.mechanism.network.arrays
        tangents = derive(a, self.configuration).vector[a.pairs[1][a.springs.component_product]]
        components = [name for name, measure in measures(self.mechanism.connections) if measure.kind == "component"]
        forces: dict[str, Array] = {}
        for name, tangent in zip(components, tangents, strict=True):
            contact, is_friction, _ = name.partition(FRICTION)
            if is_friction:
                forces[contact] = forces.get(contact, 0.0) + self.tensions[name] * tangent
        return forces

    def _with_anchors(self, mechanism: Mechanism, state: State) -> State:
        """State of the original mechanism, in which anchors of sticking contacts carry their friction."""
        contacts, c, forces = mechanism.network.arrays.contacts, configuration(mechanism, state.x), self._friction()
        spring, dim = c.spring.copy(), mechanism.layout.dim
        names = [
            name_of(connection, k) for connection in mechanism.connections for k in range(len(connection.form.gaps))
        ]
        for name, first in zip(names, contacts.anchor.tolist(), strict=True):
            if name in forces and first >= 0:
                spring[first : first + dim] = forces[name]
        return replace(state, x=flat(mechanism, c._replace(spring=spring)))

    def within_cones(self, held: Sequence[Touch], *, explains: bool) -> ContactEquilibrium:
        """Equilibrium in which friction at the contacts ``held`` is within its bounds; SlipError if there is none.

        The forces are those of least norm or, if these exceed a bound, those with the least sum of normal forces. If
        ``explains``, the message says how much larger the coefficients of friction would have to be.
        """
        pressing, forces = self.pressing, self.multipliers | self.tensions
        needed = {t.name: float(np.linalg.norm(_friction_of(forces, t))) for t in held}
        over = [t for t in held if needed[t.name] > (1.0 + SLIPS) * t.friction * pressing[t.name]]
        if not over:
            return self
        rigid, is_rigid = [t for t in held if t.is_rigid], all(t.is_rigid for t in over)
        if is_rigid and (shared := self._shared(rigid)) is not None:
            return ContactEquilibrium(self.touches, self.mechanism, replace(self.state, multipliers=shared))
        worst = max(over, key=lambda t: needed[t.name] - t.friction * pressing[t.name])
        if not explains:
            raise SlipError(f"{worst.name!r} slips")
        bound = worst.friction * max(pressing[worst.name], 0.0)
        needed_factor = needed[worst.name] / bound if bound > 0.0 else np.inf
        factor = self._least_factor(rigid) if is_rigid else needed_factor
        lack = f"would have to be {factor:.4g} times as large" if factor < MOST else "of no size would hold it"
        raise SlipError(f"no equilibrium was found: {worst.name!r} slips; coefficients of friction {lack}")

    def _least_factor(self, held: Sequence[Touch]) -> float:
        """Least factor of all coefficients of friction at which the contacts ``held`` can hold the bodies by friction.

        It is infinite if friction of no size suffices.
        """
        low, high = 0.0, 1.0
        while self._shared(held, factor=np.exp(high)) is None:
            if high >= np.log(MOST):
                return np.inf
            low, high = high, min(2.0 * high, np.log(MOST))
        while high - low > DIGITS:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._shared(held, factor=np.exp(middle)) is not None else (middle, high)
        return float(np.exp(high))

    def _shared(self, held: Sequence[Touch], factor: float = 1.0) -> Array | None:
        """Multipliers (g,) of the same total forces that keep friction at ``held`` contacts within its bounds.

        They have the least sum of normal forces, by a linear programme with polygons inside the friction cones.
        Coefficients of friction are multiplied by ``factor``. None if there are no such multipliers.
        """
        mechanism, state, c = self.mechanism, self.state, self.configuration
        names, place = list(mechanism.constraint_names), (c, derive(mechanism.network.arrays, c))
        G = dense(rates_at(mechanism, place, table_of(mechanism, state.anchors), state.time)[0])
        scale = float(np.abs(state.multipliers).max())
        forces, pressing = G.T @ state.multipliers / scale, np.zeros(len(names))
        bounds: list[tuple[float | None, float | None]] = [(None, None)] * len(names)
        for touch in self.touches:
            if touch.is_rigid and (name := f"{touch.name}: normal") in names:
                bounds[names.index(name)] = (0.0, None) if touch.gap.sign > 0.0 else (None, 0.0)
                pressing[names.index(name)] = touch.gap.sign
        rows = [row for touch in held for row in _cone(touch, names, factor)]
        options = {"A_ub": np.array(rows), "b_ub": np.full(len(rows), SLIPS), "A_eq": G.T, "b_eq": forces}
        optimum = scipy.optimize.linprog(pressing, **options, bounds=bounds)
        if optimum.status != 0:
            return None
        balanced: Array = optimum.x + np.linalg.lstsq(G.T, forces - G.T @ optimum.x)[0]  # to round-off
        return scale * balanced


def _cone(touch: Touch, names: Sequence[str], factor: float) -> list[Array]:
    """Rows r (g,) of conditions r·λ ≤ 0 that bound the friction of a contact by a polygon within its friction cone.

    λ are the multipliers of the constraints with the given names; ``factor`` multiplies the coefficient of friction.
    """
    in_cone = [k for k, name in enumerate(names) if name.startswith(f"{touch.name}{FRICTION}")]
    reach = factor * touch.friction * (np.cos(np.pi / WAYS) if len(in_cone) > 1 else 1.0)
    rows = []
    for turn in np.arange(WAYS) * 2.0 * np.pi / WAYS if len(in_cone) > 1 else (0.0, np.pi):
        row = np.zeros(len(names))
        row[in_cone] = np.array([np.cos(turn), np.sin(turn)])[: len(in_cone)]
        row[names.index(f"{touch.name}: normal")] -= reach * touch.gap.sign
        rows.append(row)
    return rows


def _friction_of(forces: Mapping[str, float], touch: Touch) -> list[float]:
    """Friction forces [N] of a contact along each tangent, from ``forces`` by names of rows and springs."""
    return [force for name, force in forces.items() if name.startswith(f"{touch.name}{FRICTION}")]
