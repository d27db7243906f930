"""The energy ledger: where the energy is, where it came from and where it went, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..mechanisms.model.accounts import Accounts
from ..numerics import checks as check
from ..numerics.arrays import Array
from .balance import relative_error, sizes

if TYPE_CHECKING:
    from ..mechanisms.poses.resolution import Resolution


@dataclass(frozen=True)
class Ledger:
    """Energy accounts of a run, all in [J]: ΔH = work of ports and drives − dissipation + residual.

    energy
        by part (``kinetic crank``, ``elastic rod``, ``potential crank``, ``stored spring …``) at every saved
        time, (k + 1,).
    work
        by external port and drive between saved times, (k,).
    joint_work
        by ideal joint, (k,): zero up to round-off.
    dissipation
        by damped body, damper and joint with friction, and ``numerical`` of the method ``decaying``, (k,), never
        negative.
    residual
        largest balance residual |ΔH − work + dissipation| of a step between saved times, (k,).
    position_residual, velocity_residual
        largest constraint defect [m, rad] and its rate [m/s, rad/s] between saved times, (k,).
    nonholonomic_residual
        largest rate |A v̄| of nonholonomic rows (knife edges, rolling) in the mean of a step between saved times, (k,)
        [m/s]: what such rows are imposed on. They have no position defect.
    iterations, steps, rejected
        Newton iterations, steps taken, and steps that step control rejected between saved times, (k,).
    resolution
        what double precision resolves of the energies of this run
        (:class:`flexph.mechanisms.poses.resolution.Resolution`).
    """

    energy: Mapping[str, Array]
    work: Mapping[str, Array]
    joint_work: Mapping[str, Array]
    dissipation: Mapping[str, Array]
    residual: Array
    position_residual: Array
    velocity_residual: Array
    nonholonomic_residual: Array
    iterations: Array
    steps: Array
    rejected: Array
    resolution: Resolution

    @property
    def total_energy(self) -> Array:
        """H at every saved time [J]."""
        return np.sum(list(self.energy.values()), axis=0)

    @property
    def relative_residual(self) -> Array:
        """Balance residuals beyond round-off of positions, over ``scale``, (k,)."""
        return self.relative(self.residual)

    @property
    def largest_residual(self) -> float:
        """The largest ``relative_residual``; 0 for a system at rest."""
        return float(self.relative_residual.max(initial=0.0))

    @property
    def scale(self) -> float:
        """Energy to which errors are relative [J].

        The largest sum of the sizes of all energies at one time, of the work and dissipation between two saved times,
        or the work of the weights along the extent of the mechanism: it does not matter where H = 0 is chosen, nor that
        the energy passes zero.
        """
        stored, flows = sizes(self.energy.values()), sizes([*self.work.values(), *self.dissipation.values()])
        return max(stored, flows, self.resolution.weight)

    def relative(self, error: Array, steps: Array | float = 1.0) -> Array:
        """Errors of the balance [J] after so many steps, beyond round-off of positions, over ``scale``."""
        return relative_error(error, self.scale, steps * self.resolution.unresolved)

    def kind(self, word: str) -> Array:
        """The energy of one kind (``kinetic``, ``elastic``, ``potential``, ``stored``) over all bodies [J]."""
        check.choice("kind", word, ("kinetic", "elastic", "potential", "stored"))
        parts = [v for k, v in self.energy.items() if k.split()[0] == word]
        return np.sum(parts, axis=0) if parts else np.zeros_like(self.total_energy)


def make_ledger(accounts: Accounts, energy: Array, flows: Array, audit: Array, *, resolution: Resolution) -> Ledger:
    """The ledger from its rows: energies (k + 1, …), flows (k, …) and audit (k, 7)."""
    names = (accounts.work, accounts.joint_work, accounts.dissipation)
    edges = np.cumsum([0, *(len(n) for n in names)])
    columns = [dict(zip(n, flows[:, edges[i] : edges[i + 1]].T, strict=True)) for i, n in enumerate(names)]
    return Ledger(
        energy=dict(zip(accounts.energy, energy.T, strict=True)),
        work=columns[0],
        joint_work=columns[1],
        dissipation=columns[2],
        residual=audit[:, 0],
        position_residual=audit[:, 1],
        velocity_residual=audit[:, 2],
        nonholonomic_residual=audit[:, 3],
        iterations=audit[:, 4],
        steps=audit[:, 5],
        rejected=audit[:, 6],
        resolution=resolution,
    )
