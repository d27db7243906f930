"""Newton corrections towards equilibria of mechanisms with rods and cables, by the compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....kernels.continuous import elastic_stress
from ....kernels.state import Configuration
from ....mechanisms.model.constraints import moved
from ....mechanisms.model.time_table import TimeTable, spring_values
from ....numerics.arrays import Array
from ..entries import settle
from ..memory.relation_functions import failed_function
from ..memory.structures import Table
from ..workspace import memory
from .correction import correct
from .values import Balanced, Loads, RestConfiguration

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model

RESISTANCES = (
    *("inertia_mass", "inertia_J", "inertia_val", "inertia_n", "inertia_s", "inertia_form", "points_mass_val"),
    *("elastic_damping", "elastic_viscous", "stiffness_damping", "stiffness_left_damping"),
    *("flows_own_along", "joints_damping", "joints_steepness", "joints_kind"),
)
"""Fields of inertia and damping, which are set to zero for statics."""


class StaticLoops:
    """Newton corrections towards the equilibrium of a mechanism at rest, without inertia and damping, by the loops."""

    def __init__(self, mechanism: Model, table: TimeTable) -> None:
        self._mechanism, self._table = mechanism, table
        self._memory = mechanism.once(memory).copy(with_constants=True)
        for name in RESISTANCES:
            getattr(self._memory, name)[...] = 0
        a = mechanism.network.arrays
        self._weight = a.weight
        self._step = float(np.sqrt(2.0 / a.resolution[2]))  # makes the largest entries of the Jacobian about one

    def corrected(self, at: RestConfiguration, loads: Loads) -> tuple[RestConfiguration, Array] | None:
        """Configuration after a share of a Newton correction, and the full correction (n_v,); None if it is not unique.

        The stresses of strain rows are iterated separately (mixed iteration), and not computed from strains.
        """
        m = self._memory
        share = self._correct(at, loads)
        if not share:
            return None
        step = -0.5 * self._step * self._velocities(m.correction_v, m.correction_w, m.correction_du)
        after = moved(self._mechanism, at.c, step)
        sigma = elastic_stress(self._mechanism.network.arrays, after.u)
        sigma[m.strains_stress] = m.nodal_ahead
        return RestConfiguration(after._replace(sigma=sigma), at.multipliers - m.correction_lam), step / share

    def balanced(self, c: Configuration, loads: Loads) -> Balanced | None:
        """Joint forces that balance a configuration near equilibrium, and unbalanced forces without and with them.

        None if the Newton correction is not unique or is too large to be applied in full.
        """
        m = self._memory
        if self._correct(RestConfiguration(c, np.zeros(m.x_lam.size)), loads) != 1.0:
            return None
        force, multipliers = self._left(), -m.correction_lam
        if self._correct(RestConfiguration(c, multipliers), loads) != 1.0:
            return None
        c = c._replace(sigma=m.end_sigma.copy(), spring=m.at_spring.copy())
        return Balanced(c, multipliers, force, self._left())

    def _correct(self, at: RestConfiguration, loads: Loads) -> float:
        """Compute a Newton correction in the memory; return the share of it to be applied, 0 if it is not unique."""
        m, mechanism = self._memory, self._mechanism
        coefficient, offset = self._table.at(loads.time)
        m.inertia_weight[...] = loads.share * self._weight
        for name in ("r", "R", "u", "sigma"):
            getattr(m, f"at_{name}")[...] = getattr(at.c, name)
        m.x_lam[...] = at.multipliers
        self._pull_springs(loads.time)
        none = np.zeros((1, 0))
        table = Table(np.zeros(1), coefficient[None], offset[None], none, none, loads.inputs[None], none)
        share = correct(m, mechanism.layout.dim, self._step, table)
        interruption = failed_function(is_solved=True)
        if interruption is not None:
            raise interruption
        return share

    def _left(self) -> Array:
        """Negative unbalanced forces along the velocities (ṙ, ω, u̇), (n_v,), as the residual of the last correction.

        The residual of a step at rest is −hF (see .correction).
        """
        m = self._memory
        return self._velocities(m.defect_v, m.defect_w, m.defect_du) / self._step

    def _velocities(self, v: Array, w: Array, du: Array) -> Array:
        """Vector (n_v,) of the values v (b, d), w (b, s) and du (n,) of all bodies."""
        return np.concatenate([v.ravel(), w[self._mechanism.network.arrays.turning].ravel(), du])

    def _pull_springs(self, time: float) -> None:
        """Compute the forces of springs at the present configuration and the given time [s]."""
        m, springs = self._memory, self._mechanism.network.arrays.springs
        m.trial_moved[...] = self._table.references.held_at(time)
        if not springs.stiffness.size:
            return
        settle(m, self._mechanism.layout.dim, False)
        stretch = spring_values(self._mechanism, m.at_product) - self._table.references.at(time)
        m.at_spring[...] = (springs.gain * stretch)[springs.state >= 0]
