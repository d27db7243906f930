"""Python callback of the loops for solids with material laws: stresses, slopes, energies of all points at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....discrete_gradients.stored_energies import LawRows, LineEnergy, mean_slope, mean_stress
from ....numerics.arrays import Array
from ..memory.codes import ENERGY, MEAN, SLOPE, TANGENT
from ..memory.data import Index
from ..memory.memory import Memory

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model


class _Law(NamedTuple):
    """Law of a material and the quadrature points that have it.

    ``points`` are their indices among the points of all solids, ``body`` the first frame of the solid of each.
    """

    law: LawRows
    points: Index
    body: Index


def laws_of(mechanism: Model, m: Memory) -> Callable[[int], int] | None:
    """Callback that evaluates the laws of solids if the loops request it (see memory.codes); None without laws."""
    if not m.solids_lawful.size:
        return None
    a, stresses = mechanism.network.arrays, m.solids_stress
    point_of = np.full(a.stress_damping.size, -1)
    point_of[stresses] = np.arange(len(stresses))[:, None]
    laws = []
    for law in a.strains.laws:
        if isinstance(law.law, LineEnergy):
            continue
        first = a.strains.stress[law.rows[:, 0]]
        laws.append(_Law(law, point_of[first], a.body_stress[first]))
    return partial(_evaluate, m, laws)


def _evaluate(m: Memory, laws: list[_Law], request: int) -> int:
    for solid_law in laws:
        law, volume, points = solid_law.law.law, solid_law.law.volume[:, None], solid_law.points
        before, after = (strain[points] / volume for strain in (m.solid_first, m.solid_strain))
        if request == MEAN:
            m.solid_stress[points] = mean_stress(law, before, after)
            m.end_sigma[m.solids_stress[points]] = law.at(after).stress
        elif request == SLOPE:
            m.solid_mean_slope[points] = mean_slope(law, before, after) / volume[:, :, None]
        elif request == TANGENT:
            m.solid_end_slope[points] = law.at(after).tangent / volume[:, :, None]
        else:
            assert request == ENERGY
            energy: Array = solid_law.law.volume * law.at(before).energy
            np.add.at(m.solid_energy, solid_law.body, energy)
    return 1
