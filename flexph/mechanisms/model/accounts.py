"""Energy accounts of a mechanism: names of stored energies, works and losses, and arrays of numbers in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contacts.levels import gaps_at, near_at
from ...joints.rows.connection import measures
from ...kernels.arrays import total
from ...kernels.contacts.laws import anchored, stored
from ...kernels.state import (
    Configuration,
    Derived,
    energies,
)
from ...laws.force_laws import ForceLaw
from ...numerics.arrays import Array
from ...numerics.memo import Memo

if TYPE_CHECKING:
    from .model import Model


NUMERICAL = "numerical"
"""Account of the numerical dissipation of the method ``Decaying``."""
WAYS = ("normal", "friction")
"""Directions of contact impulses."""
KINDS = ("impact", "arrival", "friction", "settling")
"""Losses of rigid contacts: at impacts, when a step closes a gap, by friction in steps, and at the ends of steps."""
FLOWS = ("inlet", "outlet", "speed")
"""Works of a flow: at both ends, and by changes of its speed."""
JOINED = "joints at impacts"
"""Account of the energy lost when velocities are projected onto the joints before impacts and contact changes."""


def _check_distinct(names: tuple[str, ...]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{count} accounts of energy have the name {name!r}: give one of the parts another")


class AccountRows(Memo):
    """Names of the energy accounts of a mechanism; the numbers of a step are flat arrays in the order of these names.

    Accounts of energies, works and losses exist for bodies that are ``elastic``, ``heavy``, ``damped``, ``scheduled``
    (with a factor of time) or ``flowing``, for ``dampers``, springs with moving ``references``, and contacts
    ``carried`` by moving surfaces. ``row_joint`` is the joint of each constraint row, drives first. ``flow_count`` is
    the number of works, impulses and losses of a step.
    """

    def __init__(self, mechanism: Model, *, decaying: bool = False) -> None:
        self.decaying = decaying
        self.mechanism, self.arrays = mechanism, mechanism.network.arrays
        self._inputs = list(mechanism.network.input_slices.values())
        self._joints = [(c.name, c.is_driven, len(c.rows)) for c in mechanism.connections if c.rows]
        driven_first = np.argsort(np.argsort([not driven for _, driven, _ in self._joints], kind="stable"))
        self.row_joint = np.repeat(driven_first, [n for _, _, n in self._joints])
        self._count_bodies()
        self._count_springs()
        self._count_contacts()
        self._name_energies_and_works()
        losses = self._losses()
        self.dissipation = (*losses, NUMERICAL) if decaying else losses
        for names in (self.energy, self.work, self.joint_work, self.impulses, self.dissipation):
            _check_distinct(names)
        counts = (len(self.work), len(self.joint_work), len(self.impulses), len(self.dissipation))
        self._signs = np.repeat([-1.0, 0.0, 0.0, 1.0], counts)
        self.flow_count = sum(counts)

    def _count_bodies(self) -> None:
        bodies = self.mechanism.bodies.values()
        self._bodies = list(self.mechanism.bodies)
        self._owner = np.repeat(np.arange(len(bodies)), [len(b.frames) for b in bodies])
        self.elastic = _true_indices(b.elasticity is not None for b in bodies)
        heavy = np.zeros(len(bodies), dtype=bool)
        heavy[self._owner[self.arrays.weight.any(axis=1)]] = True
        self.heavy = np.flatnonzero(heavy)
        self.scheduled = _true_indices(b.scheduled_laws or callable(b.mass_factor) for b in bodies)
        self.flowing = _true_indices(b.flow for b in bodies)
        self.damped = _true_indices(b.elasticity and b.elasticity.is_damped for b in bodies)

    def _count_springs(self) -> None:
        springs, spring_arrays = list(measures(self.mechanism.connections)), self.arrays.springs
        self._springs = [name for name, _ in springs]
        self._storing = [name for name, measure in springs if measure.has_state]
        resists = np.zeros(len(springs), dtype=bool)
        resists[spring_arrays.resisting] = True
        resists[spring_arrays.forced] = resists[spring_arrays.hysteretic] = True
        self.dampers = np.flatnonzero((spring_arrays.damping != 0.0) | resists)
        relations = zip(spring_arrays.resisting, spring_arrays.relations, strict=True)
        self.general = [(i, self._springs[i], r) for i, r in relations if r.kind == "general"]
        self.references = _true_indices(
            (m.is_driven or m.is_scheduled or isinstance(m.law, ForceLaw)) and not m.is_controlled for _, m in springs
        )

    def _count_contacts(self) -> None:
        touching = [c for c in self.mechanism.connections if c.touches]
        laws = self.arrays.contacts.laws
        self.touching, is_rigid = len(touching), laws.rigid
        self.compliant, self.rigid = (
            np.unique(laws.owner[kind]) if touching else np.zeros(0, dtype=int) for kind in (~is_rigid, is_rigid)
        )
        self._contacts = [c.name for c in touching]
        self._gap_names = [f"{c.name}: {gap.name}" if gap.name else c.name for c in touching for gap in c.form.gaps]
        self.carried = np.flatnonzero([any(gap.is_carried for gap in c.form.gaps) for c in touching])
        self._bearings = [c.name for c in self.mechanism.connections if c.form.bearing is not None]
        self.rubbing = len(self._bearings)
        self.joins = bool(self._joints and (self.rigid.size or self._bearings))

    def _name_energies_and_works(self) -> None:
        bodies, contacts, slices = self._bodies, self._contacts, self.mechanism.network.input_slices
        self.energy = (
            *(f"kinetic {n}" for n in bodies),
            *(f"elastic {bodies[i]}" for i in self.elastic),
            *(f"potential {bodies[i]}" for i in self.heavy),
            *(f"stored {name}" for name in self._storing),
            *(f"stored {contacts[i]}" for i in self.compliant),
            *(f"flow {bodies[i]}" for i in self.flowing),
        )
        moved = (self._springs[i] for i in self.references)
        scheduled = (bodies[i] for i in self.scheduled)
        ends = (f"{bodies[i]}: {end}" for i in self.flowing for end in FLOWS)
        surfaces = (f"{contacts[i]}: surface" for i in self.carried)
        self.work = (*slices, *moved, *scheduled, *surfaces, *ends, *(n for n, driven, _ in self._joints if driven))
        self.joint_work = tuple(n for n, driven, _ in self._joints if not driven)
        self.impulses = (
            *(f"{name}: {way}" for way in WAYS for name in contacts),
            *(f"{contacts[i]}: {way} at impacts" for way in WAYS for i in self.rigid),
            *(f"{name}: {way}" for way in ("pressing", "friction") for name in self._bearings),
        )

    def _losses(self) -> tuple[str, ...]:
        """Names of the losses in the ledger, in the order of its rows.

        Losses of bodies come first, then of dampers, slips, bearings, impacts of bearings, compliant and rigid
        contacts, and of joints at impacts. The indices at which kinds of losses begin are stored as attributes.
        """
        slips = [c.name for c in self.mechanism.connections for _ in c.form.slips]
        self.slipping, contacts = len(slips), self._contacts
        losses = (*(self._bodies[i] for i in self.damped), *(self._springs[i] for i in self.dampers), *slips)
        self.first_bearing = len(losses)
        losses = (*losses, *self._bearings, *(f"{name}: impact" for name in self._bearings if self.rigid.size))
        self.first_contact = len(losses)
        losses = (*losses, *(contacts[i] for i in self.compliant))
        losses = (*losses, *(f"{contacts[i]}: {kind}" for kind in KINDS for i in self.rigid))
        return (*losses, JOINED) if self.joins else losses

    @property
    def first_row(self) -> int:
        """Index of the first work of a joint among the works and losses of a step; driven joints come first."""
        return self.first_surface + self.carried.size + len(FLOWS) * self.flowing.size

    @property
    def first_surface(self) -> int:
        """Index of the first work of a moving surface among the works and losses of a step."""
        return len(self._inputs) + self.references.size + self.scheduled.size

    @property
    def has_contact_laws(self) -> bool:
        """True if steps must satisfy complementarity conditions, of rigid contacts or of dry friction in joints."""
        return bool(self.rigid.size or self.rubbing)

    def gap_name(self, number: int) -> str:
        """Name of the gap with the index ``number``: the name of its contact, then its own if it has one."""
        if number < len(self._gap_names):
            return self._gap_names[number]
        contacts = self.mechanism.network.arrays.contacts
        return self.contact_name(contacts.take(np.array([number])).owner[0])

    def contact_name(self, owner: int) -> str:
        """Name of the contact with the index ``owner`` among the connections that are contacts."""
        return self._contacts[int(owner)]

    def mean_force(self, name: str, way: str, flows: Array, length: float) -> float:
        """Mean force [N] or torque [N m] of a rigid contact or bearing over a step, without impacts.

        ``name`` is that of the gap or bearing, ``way`` "normal" or "friction"; ``flows`` are the works, impulses and
        losses of the step, and ``length`` [s] its length. For length 0 the force is 0.
        """
        if not length:
            return 0.0
        of = dict(zip(self.impulses, flows[len(self.work) + len(self.joint_work) :], strict=False))
        return float(of[f"{name}: {way}"] - of.get(f"{name}: {way} at impacts", 0.0)) / length

    def impulse(self, by_row: Array, lost: float) -> Array:
        """Works and losses (flow_count,) due to impulses of joints.

        ``by_row`` is the work of each constraint row; ``lost`` [J] is the energy lost by all of them, which is booked
        as numerical dissipation if the method has this account.
        """
        impulses = np.zeros(self.flow_count)
        first = self.first_row
        impulses[first : first + len(self._joints)] = total(self.row_joint, by_row, len(self._joints))
        if self.decaying:
            impulses[-1] = lost
        return impulses

    def balance(self, before: Array, after: Array, row: Array) -> float:
        """Energy residual ΔH − works + losses [J] of a step: it vanishes if the energy balance holds.

        ``before`` and ``after`` are the energies by account, ``row`` the works and losses of the step.
        """
        return float((after - before).sum() + row @ self._signs)

    def balances(self, energies: Array, rows: Array) -> Array:
        """Energy residuals ΔH − works + losses [J] of k steps, (k,).

        ``energies`` (k + 1, accounts) are the stored energies at the ends of the steps, ``rows`` (k, flow_count) the
        works and losses of the steps.
        """
        return np.asarray(np.diff(energies, axis=0).sum(axis=1) + rows @ self._signs)


def _true_indices(flags: Iterable[Any]) -> Array:
    """Indices of the flags that are true."""
    return np.flatnonzero(np.array([bool(flag) for flag in flags], dtype=bool))


class Accounts(AccountRows):
    """Energies, losses and works of a mechanism by name, computed from its states and steps."""

    def energies(self, c: Configuration, d: Derived, time: float) -> Array:
        """Energies [J] by account of a configuration with its derived quantities.

        The ``time`` [s] enters by laws with a factor of time.
        """
        e = energies(self.arrays, c, d, time)
        kinetic, elastic, potential = (self._by_body(e[name]) for name in ("kinetic", "elastic", "potential"))
        parts = [kinetic, elastic.take(self.elastic), potential.take(self.heavy), e["spring"]]
        if self.compliant.size:
            parts.append(self._stored(c, d))
        if self.flowing.size:
            parts.append(e["flow"])
        return np.concatenate(parts)

    def _stored(self, c: Configuration, d: Derived) -> Array:
        """Energies [J] of the compliant contacts, one for each contact connection with a compliant law."""
        a = near_at(self.arrays, (c, d))
        contacts = a.contacts
        values = stored(contacts, gaps_at(a, c, d).before) + anchored(contacts, c.spring)
        return total(contacts.owner, values, self.touching)[self.compliant]

    def _by_body(self, by_frame: Array) -> Array:
        """Energies of the bodies (bodies,), as sums over their frames; a nodal body has a frame for each node."""
        bodies = len(self.mechanism.bodies)
        return by_frame if bodies == by_frame.size else total(self._owner, by_frame, bodies)
