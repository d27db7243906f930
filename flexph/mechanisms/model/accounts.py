"""Energy accounts of a mechanism by part, port, joint and dissipating element."""

from __future__ import annotations

from copy import copy

import numpy as np

from ...contacts.levels import gaps_at, near_at
from ...kernels.arrays import Arrays, total
from ...kernels.contacts.gaps import TOUCHING
from ...kernels.contacts.laws import stored
from ...kernels.contacts.rubbing import anchored
from ...kernels.decay import lost
from ...kernels.loads.faces import face_outputs
from ...kernels.rates.on_curves import curve_inputs, curve_sums
from ...kernels.rates.slips import lost_to_slips
from ...kernels.resolution import coordinate_size
from ...kernels.rolling import rates
from ...kernels.springs import lost as lost_by
from ...kernels.state import (
    Configuration,
    Derived,
    constraint_sums,
    energies,
    node_velocities,
    product_changes,
)
from ...kernels.step import mean_places
from ...kernels.strains import viscous_change
from ...kernels.values import Means, Step, Trial
from ...numerics.arrays import Array
from ...numerics.rotations import turned_back, turned_spins
from ...systems.resistive_relations import check_dissipates
from .account_rows import KINDS, NOTHING, WAYS, AccountRows


class Accounts(AccountRows):
    """Energy accounts of a mechanism, computed from states and steps."""

    def of(self, arrays: Arrays) -> Accounts:
        """Accounts for arrays that hold a subset of the contacts."""
        one = copy(self)
        one.arrays = arrays
        return one

    def energies(self, c: Configuration, d: Derived) -> Array:
        """Energy by part."""
        e = energies(self.arrays, c, d)
        kinetic, elastic, potential = (self._by_body(e[name]) for name in ("kinetic", "elastic", "potential"))
        parts = [kinetic, elastic.take(self.elastic), potential.take(self.heavy), e["spring"]]
        if self.compliant.size:
            parts.append(self._stored(c, d))
        return np.concatenate(parts)

    def _stored(self, c: Configuration, d: Derived) -> Array:
        """Energy of the compliant contacts by connection."""
        a = near_at(self.arrays, (c, d))
        contacts = a.contacts
        values = stored(contacts, gaps_at(a, c, d).before) + anchored(contacts, c.spring)
        return total(contacts.owner, values, self.touching)[self.compliant]

    def _by_body(self, by_frame: Array) -> Array:
        """Sums over the nodes of each body."""
        bodies = len(self.mechanism.bodies)
        return by_frame if bodies == by_frame.size else total(self._owner, by_frame, bodies)

    def step(self, step: Step, x: Means, t: Trial) -> Array:
        """Flows of a step: work by port and drive, work by ideal joint, dissipation."""
        start, _, h, s = step
        a = self.arrays
        moved = h * node_velocities(a, x, t.inverse.transpose(0, 2, 1), t.lever)  # exact increments h B v̄ of the nodes
        done = product_changes(a, a.incidence @ moved, t.vector_mean)
        by_row = x.lam * constraint_sums(a, done, s.coefficient_mean, np.zeros(x.lam.size))
        if t.gain.size:
            turned = h * turned_spins(start.R, x.omega)
            by_row = by_row + x.lam * rates(a.rolling, t.gain, done, turned)
        if a.curves:
            by_row = by_row + x.lam * curve_sums(a.curves, t.on_curves, done, x.lam.size)
        by_input = self._input_work(step, x, t, (moved, done)) if self._inputs else NOTHING
        by_loss = self._dissipation(step, x, t) if self.loses else NOTHING
        if s.decay is not None:
            by_loss = np.append(by_loss, lost(a, step, t.end, x))
        pushed = NOTHING
        if self.touching:
            assert t.touch is not None
            closing, owner = self.open(start, t.touch.gaps.before), t.touch.contacts.owner
            pushed = self._pushed(owner, h * t.touch.force, h * t.touch.friction, closing=closing)
        if self.rubbing:
            assert s.rub is not None
            carried = a.bearings.pressed(h * x.lam[a.bearings.row])
            pushed = np.concatenate([pushed, carried, h * np.linalg.norm(s.rub, axis=0)])
        return self.flows(by_row, by_input, by_loss, by_reference=-t.measured.tension * s.moved, pushed=pushed)

    def _impulses(self, owner: Array, normal: Array, friction: Array) -> Array:
        """Sums of the magnitudes of normal (c,) and friction (t, c) impulses of gaps, by contact [N s]."""
        return np.concatenate(
            [total(owner, size, self.touching) for size in (normal, np.linalg.norm(friction, axis=0))]
        )

    def _pushed(self, owner: Array, normal: Array, friction: Array, *, closing: Array) -> Array:
        """Impulses of gaps by contact, followed by those of rigid contacts in closing gaps."""
        struck = self._impulses(owner, normal * closing, friction * closing).reshape(len(WAYS), -1)[:, self.rigid]
        return np.concatenate([self._impulses(owner, normal, friction), struck.ravel()])

    def open(self, c: Configuration, gaps: Array) -> Array:
        """True for gaps that are open at a configuration."""
        are_open: Array = gaps > TOUCHING * coordinate_size(self.arrays, c.r)
        return are_open

    def _input_work(self, step: Step, x: Means, t: Trial, moved: tuple[Array, Array]) -> Array:
        """Work of each input, from the increments of nodes and products."""
        (start, _, h, _), (nodes, products), a = step, moved, self.arrays
        outputs = input_outputs(a, h, x, (t.inverse, nodes))
        if a.faces is not None:
            mean = mean_places(a, start, t.end.r, t.lever)
            outputs = outputs + face_outputs(a.faces, mean, nodes, outputs.size)
        if a.curves:
            outputs = outputs + products @ curve_inputs(a.curves, t.on_curves, (products.size, outputs.size))
        return outputs * t.loads

    def _dissipation(self, step: Step, x: Means, t: Trial) -> Array:
        a, h, own = self.arrays, step.h, self.arrays.strains.stress
        jump = t.end.sigma - step.start.sigma
        jump[own] = viscous_change(a.strains, (step.known.product, t.product), jump[own])
        by_stress = a.stress_damping / h * jump * (a.compliance @ jump)
        by_body = total(a.body_stress, by_stress, len(a.mass))
        by_body += total(a.body_u, h * x.du * (a.viscous @ x.du), len(a.mass))
        rate = t.measured.extension / h
        for i, name, relation in self._general:
            check_dissipates(relation, float(rate[i]), name)
        own = self.losses(self._by_body(by_body), h * lost_by(a.springs, rate))
        if t.slid is not None:
            own = np.append(own, lost_to_slips(a.slips, t.slid))
        if self.rubbing:
            assert t.slipped is not None and step.schedule.rub is not None
            rubbed = -np.sum(step.schedule.rub * t.slipped, axis=0)
            own = np.concatenate([own, rubbed, np.zeros(self.rubbing if self.rigid.size else 0)])
        touched = self._touched(step, t) if self.touching else []
        return np.concatenate([own, *touched, np.zeros(int(self.joins))])

    def _touched(self, step: Step, t: Trial) -> list[Array]:
        """Losses of contacts in a step by connection: compliant ones, then rigid ones by kind."""
        touch = t.touch
        assert touch is not None
        pushed = (touch.elastic - touch.force) * (touch.gaps.after - touch.gaps.before)
        contacts = touch.contacts
        rubbed = -np.sum(touch.friction * touch.slip, axis=0)
        rubbed -= anchored(contacts, t.end.spring) - anchored(contacts, step.start.spring)
        by_contact = lambda values, owners: total(contacts.owner, values, self.touching)[owners]  # noqa: E731
        taken = [by_contact(pushed + rubbed, self.compliant)]
        if not self.rigid.size:
            return taken
        none = np.zeros(self.rigid.size)
        return [*taken, none, by_contact(pushed, self.rigid), by_contact(rubbed, self.rigid), none]

    @staticmethod
    def _kinds(impact: Array | None, settled: Array | None) -> list[tuple[str, Array]]:
        """Losses of contacts by kind, from those by direction (normal first); slip when settling counts as friction."""
        if impact is not None:
            return [("impact", impact.sum(axis=0))]
        return [] if settled is None else [("settling", settled[0]), ("friction", settled[1:].sum(axis=0))]

    def struck(
        self,
        by_row: Array,
        gaps: Array,
        impulses: tuple[Array, Array],
        *,
        closing: Array,
        impact: Array | None,
        settled: Array | None,
        projected: float,
    ) -> Array:
        """Flows of impulses: work by constraint row, and losses of gaps and bearings at impacts or settling.

        ``impulses`` are those of the gaps and bearings in the step before, and the additional ones; ``closing`` marks
        gaps that these close.
        """
        by_loss = np.zeros(len(self.dissipation))
        first, count = self._first_of_rigid, gaps.size
        for kind, taken in self._kinds(impact, settled):
            at = first + KINDS.index(kind) * self.rigid.size
            by_owner = total(self.arrays.contacts.owner[gaps], taken[:count], self.touching)
            by_loss[at : at + self.rigid.size] = by_owner[self.rigid]
            at = self.first_bearing + (self.rubbing if kind == "impact" else 0)
            by_loss[at : at + self.rubbing] += taken[count:]
        if self.joins:
            by_loss[-1] = projected
        inputs = max((part.stop for part in self._inputs), default=0)
        moved = np.zeros(len(self.arrays.springs.stiffness))
        parts = [own.reshape(-1, count + self.rubbing) for own in (impulses[0], impulses[0] + impulses[1])]
        pushed = np.zeros(0)
        if self.touching:
            owner = self.arrays.contacts.owner[gaps]
            of = lambda own: self._pushed(owner, own[0, :count], own[1:, :count], closing=closing)  # noqa: E731
            pushed = of(parts[1]) - of(parts[0]) if impulses[0].any() else of(parts[1])
        if self.rubbing:  # the impulses of a step extend over its whole length
            before, after = (np.linalg.norm(own[1:, count:], axis=0) for own in parts)
            pushed = np.concatenate([pushed, np.zeros(self.rubbing), after - before])
        return self.flows(by_row, np.zeros(inputs), by_loss, by_reference=moved, pushed=pushed)


def input_outputs(a: Arrays, h: float, x: Means, at: tuple[Array, Array]) -> Array:
    """Outputs of inputs in world axes times h, (i,): their conjugate increments; ``at`` R̄⁻¹ and node increments."""
    inverse, moved = at
    output: Array = a.input_node.T @ moved.ravel()
    if a.torque_body.size:
        spins = x.omega[a.torque_body] + (a.torque_shape @ x.du).reshape(-1, x.omega.shape[1])
        world = spins if a.dim == 2 else turned_back(inverse[a.torque_body], spins)
        output = output + h * (a.input_torque.T @ world.ravel())
    return output
