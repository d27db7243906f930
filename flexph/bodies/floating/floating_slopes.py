"""Derivatives of the matrix functions of a floating body with respect to its state; dense."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.memo import Memo, once
from ...numerics.rotations import entries, skew
from ...systems.derivatives import KnownDerivatives
from .floating_blocks import FloatingBlocks, State

DOUBLED, CANONICAL = (3.0, -2.0, -2.0, 1.0), (1.0, -1.0, -2.0, 0.0)
"""Coefficients of the coupling of ω with u̇ in both forms of Γ, paper and canonical: from u̇, from v_P, from ω, and
[ω]× times the levers.
"""


class FloatingSlopes(Memo):
    """Derivatives, with respect to the state x, of z, E w, (J − R) w, B f and Bᵀw at constant w and f.

    E, J, R, B and the costate z are the matrix functions of one floating body, ``blocks``. They are polynomials of the
    state with constant coefficients.
    """

    def __init__(self, blocks: FloatingBlocks) -> None:
        self.blocks = blocks

    def derivatives(self) -> KnownDerivatives:
        """All derivatives in the form that :class:`flexph.PHDAE` takes."""
        return KnownDerivatives(
            costate=self.costate,
            descriptor=self.descriptor if self.blocks.full else None,
            structure=self.structure,
            inputs=self.inputs,
            outputs=self.outputs,
        )

    # --- z and E

    def costate(self, x: Array) -> Array:
        """Derivative ∂z/∂x."""
        b, at = self.blocks, self.blocks.at
        q, first, slope = b.read(x), b.body.inertia.shape_first, np.eye(b.size)
        slope[at["q"], at["q"]] = 0.0
        slope[at["R"], at["u"]] = b.turned_weight @ first
        slope[at["u"], at["R"]] = -(b.gravity @ b.units @ first).T
        if b.full:
            from_p, from_spin, from_flexing = q.by_deformation
            slope[at["u"], at["v"]] = (q.omega @ b.shape_turns.reshape(b.spins, -1)).reshape(b.d, b.n).T
            slope[at["u"], at["omega"]] = (from_p + 2.0 * from_spin - from_flexing).T
            slope[at["u"], at["u"]] = self._squares(q.omega, q.omega)
            slope[at["u"], at["du"]] = -b.turns.weighted(q.omega)
        return slope

    def descriptor(self, x: Array, w: Array) -> Array:
        """Derivative ∂(E w)/∂x."""
        b = self.blocks
        slope = np.zeros((b.size, b.size))
        slope[b.at["w"], b.at["u"]] = self.mass(b.read(x), w[b.at["w"]])
        return slope

    def mass(self, q: State, w: Array) -> Array:
        """Derivative ∂(M(u) w)/∂u (d + s + n, n) at constant velocities w, for a body with full momenta."""
        b = self.blocks
        omega = w[b.d : b.rigid]
        from_p, from_spin, from_flexing = b.by_deformation(q, w)
        slope = np.empty((b.rigid + b.n, b.n))
        slope[: b.d] = skew(omega, b.d).dot(b.body.inertia.shape_first)
        slope[b.d : b.rigid] = from_p + 2.0 * from_spin - from_flexing
        slope[b.rigid :] = b.turns.weighted(omega)
        return slope

    # --- J and R

    def structure(self, x: Array, w: Array) -> Array:
        """Derivative ∂((J − R) w)/∂x."""
        b = self.blocks
        q, slope = b.read(x), np.zeros((b.size, b.size))
        self._add_kinematics(slope, w)
        self._add_momenta(slope, q, w[b.at["w"]])
        if b.is_bent:
            self._add_strain(slope, w)
            if not b.damps_alike:
                self._add_damping(slope, q, w)
        return slope

    @once
    def _turned_units(self) -> Array:
        """Stored entries of units[e] [e_a]×, (k, s, k), for stored entry e of R and spin axis a."""
        return np.asarray(entries(self.blocks.units[:, None] @ self.blocks.basis))

    def _add_kinematics(self, slope: Array, w: Array) -> None:
        """Write the derivatives of Z w and −Zᵀw with respect to R into ``slope``; Z is the block of kinematics in J."""
        at, units, turned = self.blocks.at, self.blocks.units, self._turned_units
        slope[at["r"], at["R"]] = (units @ w[at["v"]]).T
        slope[at["v"], at["R"]] = -(w[at["r"]] @ units).T
        slope[at["R"], at["R"]] = (w[at["omega"]] @ turned).T
        slope[at["omega"], at["R"]] = -(turned @ w[at["R"]]).T

    def _add_momenta(self, slope: Array, q: State, w: Array) -> None:
        """Write the derivatives of Γ w by u and by velocities into ``slope``; Γ is the block of momenta in J."""
        b, d, r = self.blocks, self.blocks.d, self.blocks.rigid
        of_velocities, of_deformation = np.zeros((r + b.n, r + b.n)), np.zeros((r + b.n, b.n))
        by_velocities, by_deformation = q.mass[:r], np.zeros((r, b.n))
        if b.full:
            by_deformation = self.mass(q, q.w)[:r]
            if b.form == "paper":
                by_velocities = by_velocities.copy()
                by_velocities[:d, r:] += b.body.inertia.shape_first
                by_velocities[d:, r:] += q.levers
                by_deformation[d:] -= q.by_deformation[2]
            self._add_coupling(of_velocities, of_deformation, q, w)
        against, lever = skew(w[d:r], d), w[:d].dot(b.basis)
        for total, by in ((of_velocities, by_velocities), (of_deformation, by_deformation)):
            total[:d] -= against.dot(by[:d])
            total[d:r] += lever.dot(by[:d])
            if d == 3:
                total[d:r] -= b.bracket(w[d:r]).dot(by[d:])
        slope[b.at["w"], b.at["w"]] = of_velocities
        slope[b.at["w"], b.at["u"]] = of_deformation

    def _add_coupling(self, of_velocities: Array, of_deformation: Array, q: State, w: Array) -> None:
        """Add the derivatives of those blocks of Γ that couple with u̇, times w, to both matrices in place.

        ``of_velocities`` has derivatives with respect to (v_P, ω, u̇), ``of_deformation`` with respect to u. The
        canonical form has two more such blocks than the form of [flex].
        """
        b, d, r = self.blocks, self.blocks.d, self.blocks.rigid
        from_du, from_v, from_omega, from_levers = DOUBLED if b.form == "paper" else CANONICAL
        v, omega, du = slice(0, d), slice(d, r), slice(r, None)
        spin, rate = w[omega], w[du]
        # G u̇
        along, turned = b.squares.times(rate).reshape(b.spins, b.spins, b.n), b.turns.times(rate)
        of_velocities[omega, v] += from_v * b.shape_turns.dot(rate)
        of_velocities[omega, omega] += from_omega * q.widening.dot(rate)
        of_velocities[omega, du] -= from_du * turned
        of_deformation[omega] += from_omega * q.omega.dot(along)
        # −Gᵀω
        sweep = skew(spin, d).dot(b.body.inertia.shape_first)
        of_velocities[du, v] -= from_v * sweep.T
        of_velocities[du, omega] -= from_omega * spin.dot(q.widening).T
        of_velocities[du, du] -= from_du * b.turns.weighted(spin)
        of_deformation[du] -= from_omega * self._squares(spin, q.omega)
        if d == 3 and from_levers:
            of_velocities[omega, omega] -= from_levers * b.bracket(q.levers @ rate)
            of_deformation[omega] -= from_levers * (b.bracket(q.omega) @ turned)
            of_velocities[du, omega] -= from_levers * (q.levers.T @ b.bracket(spin))
            of_deformation[du] += from_levers * b.turns.weighted(b.bracket(q.omega) @ spin)
        if b.form == "canonical":
            first = b.body.inertia.shape_first
            of_velocities[v, omega] -= b.turning(first @ rate)
            of_velocities[du, omega] += (w[v] @ b.basis @ first).T
            of_velocities[du, omega] -= 2.0 * turned.T

    def _squares(self, one: Array, two: Array) -> Array:
        """Sum Σ_ab one_a two_b K_ab (n, n) over the spin axes a and b, with K_ab of the :class:`Contractions`."""
        return self.blocks.squares.weighted(np.outer(one, two).ravel())

    def _add_strain(self, slope: Array, w: Array) -> None:
        """Add the derivatives of D(u) u̇ and −D(u)ᵀσ with respect to u to ``slope`` in place."""
        at, (slopes, weights) = self.blocks.at, self.blocks.bends
        slope[at["sigma"], at["u"]] = (weights * (slopes @ w[at["du"]])) @ slopes
        slope[at["du"], at["u"]] -= (slopes.T * (w[at["sigma"]] @ weights)) @ slopes

    def _add_damping(self, slope: Array, q: State, w: Array) -> None:
        """Add the derivative of −β D(u)ᵀC⁻¹D(u) u̇ with respect to u to ``slope`` in place."""
        at, (slopes, weights), elastic = self.blocks.at, self.blocks.bends, self.blocks.body.elasticity
        assert elastic is not None
        rate, stiffness = w[at["du"]], elastic.stiffness_of_stress
        strain = self.blocks.strain(q.u)
        stress = stiffness @ (strain @ rate)
        by_stress = strain.T @ (stiffness @ ((weights * (slopes @ rate)) @ slopes))
        by_strain = (slopes.T * (stress @ weights)) @ slopes
        slope[at["du"], at["u"]] -= elastic.stiffness_damping * (by_stress + by_strain)

    # --- B

    def inputs(self, x: Array, f: Array) -> Array:
        """Derivative ∂(B f)/∂x for inputs f; it is not zero if the levers in B depend on u."""
        b = self.blocks
        slope = np.zeros((b.size, b.size))
        slope[b.at["omega"], b.at["u"]] = b.moving_levers.transposed(f)
        return slope

    def outputs(self, x: Array, w: Array) -> Array:
        """Derivative ∂(Bᵀw)/∂x, with a row for each output and a column for each state."""
        b = self.blocks
        slope = np.zeros((b.moving_levers.shape[1], b.size))
        slope[:, b.at["u"]] = b.moving_levers.weighted(w[b.at["omega"]])
        return slope
