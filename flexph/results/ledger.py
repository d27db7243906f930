"""The energy ledger: where the energy is, where it came from and where it went, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanisms.model.accounts import Accounts
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields

if TYPE_CHECKING:
    from ..mechanisms.poses.resolution import Resolution

SYSTEM = "system"
"""The one part of the energy of a general system, and its one account of dissipation."""
AUDIT = (
    "residual",
    "position_residual",
    "velocity_residual",
    "nonholonomic_residual",
    "iterations",
    "steps",
    "rejected",
)
"""Columns of the audit of the steps of a mechanism."""
_NONE: Callable[[], Array] = partial(np.zeros, 0)
_LARGEST = ("exchanged", "unresolved")


@dataclass(frozen=True, eq=False, kw_only=True)
class Ledger(NamedFields):
    """Energy accounts of a run, all in [J]: ΔH = work of ports and drives − dissipation + residual.

    Attributes
    ----------
    energy : mapping
        By part (``kinetic crank``, ``elastic rod``, ``potential crank``, ``stored spring …``) at every saved time, (k +
        1,). A general system has one part, ``system``.
    work : mapping
        By external port and drive between saved times, (k,).
    joint_work : mapping
        By ideal joint, (k,): zero up to round-off.
    controllers : mapping
        By controller, the work at its ports, (k,): of a sampled one a part of ``work``, with what inputs give at the
        same ports. What a continuous one gives is no ``work``: its energy is ``stored controller``.
    dissipation : mapping
        By damped body, damper and joint with friction, and ``numerical`` of the method ``Decaying``, (k,), never
        negative. A general system has one account, ``system``.
    impulses : mapping
        By contact, ``NAME: normal`` and ``NAME: friction``, the sums of the sizes of the impulses of its gaps between
        saved times, (k,) [N s]; of rigid ones ``NAME: normal at impacts`` and so on are the part with which gaps
        close.
    residual : array
        Largest balance residual |ΔH − work + dissipation| of a step between saved times, (k,). Of adaptive methods that
        from one saved time to the next.
    iterations : array
        Newton iterations between saved times, (k,). Adaptive methods count their own steps.
    steps : array
        Steps taken between saved times, (k,); empty for adaptive methods.
    rejected : array
        Steps that step control rejected, (k,); empty for adaptive methods.
    position_residual : array
        Largest constraint defect [m, rad] between saved times, (k,). Empty for general systems.
    velocity_residual : array
        Its rate [m/s, rad/s], (k,). Empty for general systems.
    nonholonomic_residual : array
        Largest rate |A v̄| of nonholonomic rows (knife edges, rolling) in the mean of a step between saved times, (k,)
        [m/s]: what such rows are imposed on. They have no position defect. Empty for general systems.
    complementarity_residual : array
        Largest defect of 0 ≤ g ⟂ Λ ≥ 0 and of Coulomb's law at rigid contacts in a step between saved times, over the
        largest sum of the terms of a velocity of contacts there, (k,). Empty without rigid contacts.
    exchanged : float
        Energy that goes to and fro within the system, whatever H is: of a mechanism the work of the weights along its
        extent, of a general system :func:`flexph.results.exchanged_energy.exchanged_energy`.
    unresolved : float
        Energy that the bodies of a mechanism have where they move by round-off of their positions in the shortest step.
    """

    energy: Mapping[str, Array]
    work: Mapping[str, Array]
    joint_work: Mapping[str, Array] = field(default_factory=dict)
    controllers: Mapping[str, Array] = field(default_factory=dict)
    dissipation: Mapping[str, Array]
    impulses: Mapping[str, Array] = field(default_factory=dict)
    residual: Array
    iterations: Array
    steps: Array = field(default_factory=_NONE)
    rejected: Array = field(default_factory=_NONE)
    position_residual: Array = field(default_factory=_NONE)
    velocity_residual: Array = field(default_factory=_NONE)
    nonholonomic_residual: Array = field(default_factory=_NONE)
    complementarity_residual: Array = field(default_factory=_NONE)
    exchanged: float = 0.0
    unresolved: float = 0.0

    @property
    def total_energy(self) -> Array:
        """H at every saved time, (k + 1,) [J]."""
        return np.sum(list(self.energy.values()), axis=0)

    @property
    def total_work(self) -> Array:
        """Work of all ports and drives between saved times, (k,) [J]."""
        return sum(self.work.values(), np.zeros(len(self.residual)))

    @property
    def total_dissipation(self) -> Array:
        """Dissipation of all parts between saved times, (k,) [J]."""
        return sum(self.dissipation.values(), np.zeros(len(self.residual)))

    @property
    def relative_residual(self) -> Array:
        """Balance residuals beyond round-off of positions, over ``scale``, (k,)."""
        return self.relative(self.residual)

    @property
    def largest_residual(self) -> float:
        """The largest ``relative_residual``; 0 for a system at rest."""
        return float(self.relative_residual.max(initial=0.0))

    @property
    def drift(self) -> float:
        """Largest |H(t) − H(0) − work + dissipation| over ``scale``: what all residuals add up to."""
        change = self.total_energy[1:] - self.total_energy[0]
        errors = change - np.cumsum(self.total_work - self.total_dissipation)
        steps = np.cumsum(self.steps) if len(self.steps) else 1.0
        return float(self.relative(errors, steps).max(initial=0.0))

    @property
    def scale(self) -> float:
        """Energy to which errors are relative [J].

        The largest sum of the sizes of all energies at one time, of the work and dissipation between two saved times,
        or ``exchanged``: it does not matter where H = 0 is chosen, nor that the energy passes zero.
        """
        flows = [*self.work.values(), *self.dissipation.values()]
        return max(_largest_sum(self.energy.values()), _largest_sum(flows), self.exchanged)

    def relative(self, error: Array, steps: Array | float = 1.0) -> Array:
        """Errors of the balance [J] after so many steps, beyond round-off of positions, over ``scale``.

        Parameters
        ----------
        error : array
            Errors of the balance [J].
        steps : array or float
            Number of steps over which they came.

        Returns
        -------
        array
            Parts of ``scale``.
        """
        return relative_error(error, self.scale, steps * self.unresolved)

    @checked
    def kind(self, word: str) -> Array:
        """The energy of one kind (``kinetic``, ``elastic``, ``potential``, ``stored``) over all bodies [J].

        Parameters
        ----------
        word : str
            ``kinetic``, ``elastic``, ``potential`` or ``stored``.

        Returns
        -------
        array
            (k + 1,) [J].
        """
        check.choice("kind", word, ("kinetic", "elastic", "potential", "stored"))
        parts = [v for k, v in self.energy.items() if k.split()[0] == word]
        return np.sum(parts, axis=0) if parts else np.zeros_like(self.total_energy)


def relative_error(error: Array, scale: float, resolution: Array | float = 0.0) -> Array:
    """Errors of balances (k,) over the ``scale`` of the energies, all in [J]: (|error| − resolution)₊/scale, 0/0 = 0.

    What is less than the ``resolution`` of the states is no error of the balance: of a system at rest all its energy
    may be that.
    """
    beyond = np.maximum(np.abs(error) - resolution, 0.0)
    if scale > 0.0:
        return np.asarray(beyond / scale)
    return np.where(beyond > 0.0, np.inf, 0.0)


def _largest_sum(accounts: Iterable[Array]) -> float:
    """The largest sum of the sizes of all accounts, each (k,), in one row [J]."""
    return float(np.abs(np.array(list(accounts))).sum(axis=0).max(initial=0.0))


def join_ledgers(ledgers: Sequence[Ledger]) -> Ledger:
    """The accounts of runs as one, each of which starts where the one before it ends; accounts of others are zero."""
    sizes = [len(ledger.residual) for ledger in ledgers]
    joined: dict[str, Any] = {name: max(getattr(ledger, name) for ledger in ledgers) for name in _LARGEST}
    for name in {f.name for f in fields(Ledger)} - {*_LARGEST, "energy"}:
        joined[name] = _joined([getattr(ledger, name) for ledger in ledgers], sizes)
    first, *later = (ledger.energy for ledger in ledgers)
    energies = [first, *({name: values[1:] for name, values in energy.items()} for energy in later)]
    return Ledger(energy=_joined(energies, [sizes[0] + 1, *sizes[1:]]), **joined)


def _joined(parts: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Rows one after the other; accounts by name are zero where they are missing."""
    if not isinstance(parts[0], Mapping):
        return np.concatenate(parts)
    names = dict.fromkeys(name for part in parts for name in part)
    pairs = list(zip(parts, sizes, strict=True))
    return {name: np.concatenate([part.get(name, np.zeros(size)) for part, size in pairs]) for name in names}


def make_ledger(
    accounts: Accounts, energy: Array, flows: Array, audit: Sequence[Any], *, resolution: Resolution
) -> Ledger:
    """The ledger of a mechanism from its rows: energies (k + 1, …), flows (k, …) and seven columns (k,) of AUDIT."""
    names = (accounts.work, accounts.joint_work, accounts.impulses, accounts.dissipation)
    rows = iter(flows.T)
    columns = [{name: next(rows) for name in own} for own in names]
    return Ledger(
        energy=dict(zip(accounts.energy, energy.T, strict=True)),
        work=columns[0],
        joint_work=columns[1],
        impulses=columns[2],
        dissipation=columns[3],
        **dict(zip(AUDIT, audit, strict=True)),
        exchanged=resolution.weight,
        unresolved=resolution.unresolved,
    )


def system_ledger(energy: Array, dissipation: Array, **others: Any) -> Ledger:
    """The ledger of a general system, of one part: H (k + 1,) and its dissipation (k,), the other accounts by name."""
    return Ledger(energy={SYSTEM: energy}, dissipation={SYSTEM: dissipation}, **others)
