"""Residual of Gauss collocation that is as exact as the step of :mod:`flexph.kernels.step`, which it is with one stage.

At the nodes c_i of a step h the unknowns are ṙ, the world spins Ω, u̇ and the multipliers. With y = ∫ẏ the collocated
value of any ẏ (:mod:`flexph.numerics.gauss_tableau`), all that the equations of a mechanism are polynomials of is
collocated by the rate that it has as a product of two others, so that it is exact at the end of the step:

    Ṙ = Ω × R,  ȧ = Ω × a + R⁻ᵀφu̇ (arms),  Π̇ = V̇·W + V·Ẇ (products),  Cσ̇ = D(u)u̇,  J̇ = 2(s + Ku)·u̇,  p of w by
    M(u)

with w = (ω, u̇), ω = R⁻¹Ω. At the nodes themselves a ≠ Rx and p ≠ M(u)w by the error of collocation. The equations are

    m v̇ = forces,  R⁻ᵀṗ_r + Ω × π = torques Σ a × f,  π̇ = torques,  ṗ_u = f_u + Σ φᵀR⁻¹f − D(u)ᵀ(σ + βσ̇),
    f_u = ½ wᵀ(∂M/∂u)w − ½ h² Σ_ik e_ik ẇ_iᵀ(∂M/∂u)ẇ_k,  Σ c Π̇ + ċ Π = ȯ.

Since Σ b_i ẋ_i·y_i + x_i·ẏ_i is the increment of x·y, Σ b_i Ω·(torques) + … is that of the energy: f_u makes up for
p ≠ M(u)w. Angular momentum is kept as V × φW + W × φV = 0 at each node; constraints as increments of products.
Constraints on velocities and squares of products (:mod:`flexph.kernels.rolling`) are rates w Π_by Π̇ and a·Ω of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.gauss_tableau import Tableau
from ...numerics.memo import Memo, once
from ...numerics.rotations import entries, from_entries, moment, skew, spin_product, sweep, turned, turned_spins
from ..arrays import Arrays
from ..gradient import velocity_slices
from ..rolling import gains
from ..springs import StageSprings, stage_springs
from ..state import Configuration, contracted, product_changes
from ..step import section_torques, world_loads
from .stages import Given, Onset, Rates, Stages


@dataclass(frozen=True)
class Collocation(Memo):
    """Gauss collocation of a small mechanism."""

    arrays: Arrays
    tableau: Tableau
    rows: int  # constraints

    @once
    def spin_rows(self) -> Array:
        """What constraints on velocities are of the world spins of all bodies, (g, b·s)."""
        t, (bodies, s) = self.arrays.rolling, self.arrays.columns.omega.shape
        rows = np.zeros((self.rows, bodies, s))
        np.add.at(rows, (t.spin_row, t.spin_body), t.spin_axis)
        return rows.reshape(self.rows, bodies * s)

    def of_terms(self, values: Array) -> Array:
        """Values of the terms (stages, t) as combinations of products, (stages, g, p)."""
        a = self.arrays
        sums = np.zeros((len(values), self.rows, a.first.size))
        sums[:, a.term_row, a.term_product] = values
        return sums

    def weights(self, coefficient: Array, product: Array) -> Array:
        """Constraints as combinations of the rates of products, (stages, g, p)."""
        weight, t = self.of_terms(coefficient), self.arrays.rolling
        if t.row.size:
            gain = np.array([gains(self.arrays, one, one) for one in product])
            np.add.at(weight.transpose(1, 2, 0), (t.row, t.product), gain.T)
        return weight

    def rates(self, t: Stages, given: Given) -> Array:
        """Rates of the constraints at constant coefficients, (stages, g)."""
        rate = np.matvec(
            self.weights(given.coefficient, t.product), product_changes(self.arrays, t.vector_rate, t.vector)
        )
        if self.arrays.rolling.spin_row.size:
            rate += t.x.spin.reshape(len(rate), -1) @ self.spin_rows.T
        return rate

    def unpack(self, y: Array, h: float) -> Rates:
        """The unknowns of rows (ṙ, Ω of bodies that turn, u̇, hλ), (stages, n_v + g)."""
        a, (omega, u) = self.arrays, velocity_slices(self.arrays)
        stages, s = len(y), a.n.shape[0]
        spin = np.zeros((stages, len(a.mass), s))
        spin[:, a.turning] = y[:, omega].reshape(stages, a.turning.size, s)
        return Rates(y[:, : omega.start].reshape(stages, *a.weight.shape), spin, y[:, u], y[:, u.stop :] / h)

    def pack(self, x: Rates, h: float) -> Array:
        """The inverse of :meth:`unpack`."""
        stages = len(x.du)
        turning = x.spin.take(self.arrays.turning, axis=1)
        parts = (x.v.reshape(stages, -1), turning.reshape(stages, -1), x.du, h * x.lam)
        return np.concatenate(parts, axis=1)

    def residual(self, at: Onset, y: Array, given: Given) -> tuple[Array, Stages]:
        """Defects of momenta, in the world, and of constraints over h, as rows like the unknowns; what led to them."""
        t = self.stages(at, self.unpack(y, at.h), given)
        return self.defects(at, t, given), t

    def defects(self, at: Onset, t: Stages, given: Given) -> Array:
        """The residual of values at the nodes."""
        a, h = self.arrays, at.h
        force = a.sum_points @ t.node_force
        r_v = a.mass[:, None] * self._change(t.x.v, at.c.v) - h * (a.weight + force)
        p_r, p_u, f_u = self.momentum_changes(at, t)
        r_spin = turned_spins(t.inverse.swapaxes(2, 3), p_r) - h * t.torque
        if a.dim == 3:
            r_spin += h * spin_product(t.x.spin, t.momentum)
        r_u = p_u - h * (f_u + self._virtual_work(t))
        gap = h * self.rates(t, given) + np.matvec(self.of_terms(given.coefficient_rate), t.product)
        gap += at.gap - given.offset_rate
        return self.pack(Rates(r_v, r_spin, r_u, gap / h**2), h)

    def stages(self, at: Onset, x: Rates, given: Given) -> Stages:
        """Places, forces and stresses at the nodes, and the end of the step."""
        a, h, c, d = self.arrays, at.h, at.c, at.d
        transport, R, inverse = self._rotations(at, x.spin)
        turning = x.spin.take(a.node_body, axis=1)
        pushed = self._pushed(inverse, x.du)
        arm = self._arms(transport, d.arm, h, pushed)
        arm_rate = sweep(turning, arm) + pushed
        vector = self._vectors(self._value(c.r, h, x.v), arm) + a.vector_fixed
        vector_rate = self._vectors(x.v, arm_rate)
        product_rate = product_changes(a, vector_rate, vector)
        product = self._value(d.product, h, product_rate)
        on_product = np.vecmat(x.lam, self.weights(given.coefficient, product))
        springs = stage_springs(a.springs, self.tableau, (c.spring, d.product, h), (product, product_rate))
        if springs is not None:
            on_product = on_product + springs.on_product
        loads = self._loads(arm, given.inputs)
        node_force = self._node_forces(on_product, vector, loads)
        torque = self._torques(x.lam, arm, node_force, loads)
        slope, stress_rate = self._strained(d.slope, h, x.du)
        Pdu = (x.du @ a.stack.T).reshape(len(x.du), *d.Pu.shape)
        omega = turned_spins(inverse, x.spin)
        u, Pu = self._value(c.u, h, x.du), self._value(d.Pu, h, Pdu)
        J_rate = self._inertia_rates(u, x.du, Pu, Pdu)
        return Stages(
            x=x,
            transport=transport,
            R=R,
            inverse=inverse,
            omega=omega,
            omega_change=self._change(omega, c.omega),
            u=u,
            Pu=Pu,
            Pdu=Pdu,
            J=self._value(at.inertia, h, J_rate),
            J_rate=J_rate,
            slope=slope,
            stress=self._value(c.sigma, h, stress_rate) + a.stress_damping * stress_rate,
            stress_rate=stress_rate,
            arm=arm,
            arm_rate=arm_rate,
            vector=vector,
            vector_rate=vector_rate,
            product=product,
            product_force=on_product,
            springs=springs,
            node_force=node_force,
            torque=torque,
            momentum=self._value(at.spin, h, torque),
            loads=loads,
            end=self._end(at, x, (R, omega, stress_rate), springs),
        )

    def _strained(self, start: Array, h: float, du: Array) -> tuple[Array, Array]:
        """Slopes of the bodies and rates of their stresses."""
        a, stretch = self.arrays, du @ self.arrays.slopes.T
        slope = self._value(start, h, stretch)
        return slope, du @ a.rise.T + (slope * stretch) @ a.bend.T

    def _vectors(self, centre: Array, lever: Array) -> Array:
        """Vectors between nodes, from the centres of mass of their bodies and their arms, or the rates of both."""
        a = self.arrays
        return a.incidence @ (a.node_moves[:, None] * centre.take(a.node_body, axis=1) + lever)

    def _loads(self, arm: Array, inputs: Array) -> Array:
        """Inputs in world axes at each node of the tableau."""
        if not self.arrays.follow_input.size:
            return inputs
        return np.array([world_loads(self.arrays, *given) for given in zip(arm, inputs, strict=True)])

    def _torques(self, lam: Array, arm: Array, node_force: Array, loads: Array) -> Array:
        """World torques on the bodies: of forces on nodes, of loads on sections, and of nonholonomic rows."""
        a = self.arrays
        torque = a.sum_nodes @ moment(arm, node_force)
        if a.torque_body.size:
            np.add.at(torque.swapaxes(0, 1), a.torque_body, self._sections(loads).swapaxes(0, 1))
        if a.rolling.spin_row.size:
            torque += (lam @ self.spin_rows).reshape(torque.shape)
        return torque

    # --- values and changes by the tableau ---------------------------------------------------------------------------

    def _value(self, start: Array, h: float, rate: Array) -> Array:
        """y at the nodes from ẏ there."""
        return start + _mixed(h * self.tableau.a, rate)

    def _change(self, value: Array, start: Array) -> Array:
        """hẏ at the nodes from y there."""
        return _mixed(self.tableau.inverse, value - start)

    def _sum(self, h: float, rate: Array) -> Array:
        """The increment over the step."""
        return _mixed(h * self.tableau.weights[None], rate)[0]

    def _end(
        self, at: Onset, x: Rates, places: tuple[Array, Array, Array], springs: StageSprings | None
    ) -> Configuration:
        c, h, (R, omega, stress_rate) = at.c, at.h, places
        last = lambda value, start: start + _mixed(self.tableau.ends[None], value - start)[0]  # noqa: E731
        R1 = c.R + self._sum(h, skew(x.spin, self.arrays.dim) @ R)
        # the round-off of the tableau would take RᵀR from 1 to the same side at every step
        R1 = R1 @ (1.5 * np.eye(self.arrays.dim) - 0.5 * R1.swapaxes(1, 2) @ R1)
        return Configuration(
            r=c.r + self._sum(h, x.v),
            R=from_entries(entries(R1), self.arrays.dim),
            u=c.u + self._sum(h, x.du),
            v=last(x.v, c.v),
            omega=last(omega, c.omega),
            du=last(x.du, c.du),
            sigma=c.sigma + self._sum(h, stress_rate),
            spring=c.spring if springs is None else c.spring + self._sum(h, springs.rate),
        )

    # --- places ------------------------------------------------------------------------------------------------------

    def _rotations(self, at: Onset, spin: Array) -> tuple[Array, Array, Array]:
        """(1 − hA[Ω]×)⁻¹ (b, stages·d, stages·d), which collocates all that turns; R and R⁻¹ (stages, b, d, d)."""
        stages, bodies, d = len(spin), len(self.arrays.mass), self.arrays.dim
        by = skew(spin, d).transpose(1, 2, 0, 3)  # (b, d, stages, d)
        matrix = np.eye(stages * d) - (at.h * self.tableau.a[:, None, :, None] * by[:, None]).reshape(
            bodies, stages * d, stages * d
        )
        transport = np.linalg.inv(matrix)
        R = transport.reshape(bodies, stages * d, stages, d).sum(axis=2) @ at.c.R
        R = R.reshape(bodies, stages, d, d).swapaxes(0, 1)
        return transport, R, np.linalg.inv(R)

    def _pushed(self, inverse: Array, du: Array) -> Array:
        """R⁻ᵀφu̇ of the nodes, (stages, k, d)."""
        a = self.arrays
        shape = (du @ a.node_shape.T).reshape(len(du), *a.node_position.shape)
        return turned(inverse.swapaxes(2, 3).take(a.node_body, axis=1), shape)

    def _arms(self, transport: Array, start: Array, h: float, pushed: Array) -> Array:
        """Arms of the nodes at the nodes of the step, (stages, k, d)."""
        stages, k, d = pushed.shape
        driven = self._value(start, h, pushed).swapaxes(0, 1).reshape(k, stages * d)
        arms = turned(transport.take(self.arrays.node_body, axis=0), driven)
        return arms.reshape(k, stages, d).swapaxes(0, 1)

    # --- forces ------------------------------------------------------------------------------------------------------

    def _node_forces(self, on_product: Array, vector: Array, loads: Array) -> Array:
        a, stages = self.arrays, len(vector)
        on_pairs = on_product[:, None, :, None] * vector.take(a.partners, axis=1)
        forces: Array = a.pull_pairs @ on_pairs.reshape(stages, 2 * a.first.size, a.dim)
        return forces + (loads @ a.input_node.T).reshape(forces.shape) if loads.shape[1] else forces

    def _sections(self, loads: Array) -> Array:
        """World torques on sections, (stages, t, s)."""
        return np.array([section_torques(self.arrays, row) for row in loads])

    def _virtual_work(self, t: Stages) -> Array:
        """All but inertia forces on the flexible coordinates, (stages, n)."""
        a, stages = self.arrays, len(t.u)
        local = turned(t.inverse.take(a.node_body, axis=1), t.node_force)
        work = local.reshape(stages, -1) @ a.node_shape - t.stress @ a.strain
        if t.slope.shape[1]:
            work -= (t.slope * (t.stress @ a.weights)) @ a.slopes
        if a.is_viscous:
            work -= t.x.du @ a.viscous.T
        if a.torque_body.size:
            torques = turned_spins(t.inverse.take(a.torque_body, axis=1), self._sections(t.loads))
            work += torques.reshape(stages, -1) @ a.torque_shape
        return work

    # --- inertia -----------------------------------------------------------------------------------------------------

    def _inertia_rates(self, u: Array, du: Array, Pu: Array, Pdu: Array) -> Array:
        """J̇ = (2s + Ku)·u̇ + Ku̇·u of the bodies, (stages, b, s, s)."""
        a, s = self.arrays, self.arrays.n.shape[0]
        squares, rates = (P[:, 1 + s :].reshape(len(u), s, s, u.shape[1]) for P in (Pu, Pdu))
        rate = (2.0 * a.s + squares) * du[:, None, None] + rates * u[:, None, None]
        return (rate @ a.sum_coordinates.T).transpose(0, 3, 1, 2)

    def momentum_changes(self, at: Onset, t: Stages) -> tuple[Array, Array, Array]:
        """hṗ_r (stages, b, s), hṗ_u and f_u (stages, n)."""
        a, h, s, e = self.arrays, at.h, self.arrays.n.shape[0], self.tableau.curvature
        change = self._change(t.x.du, at.c.du)
        p_r = np.matvec(t.J, t.omega_change) + h * np.matvec(t.J_rate, t.omega)
        if not t.u.shape[1]:
            return p_r, change, change
        P_change = self._change(t.Pdu, at.d.Pdu)
        w, dw = (x.take(a.body_u, axis=1).swapaxes(1, 2) for x in (t.omega, t.omega_change))
        coupling, square = a.n + t.Pu[:, 1 : 1 + s], a.s + t.Pu[:, 1 + s :].reshape(len(w), s, s, -1)
        p_r += ((coupling * change[:, None]) @ a.sum_coordinates.T).swapaxes(1, 2)
        N_rate, N_change = t.Pdu[:, 1 : 1 + s], P_change[:, 1 : 1 + s]
        p_u = (dw * coupling + h * w * N_rate).sum(axis=1) + P_change[:, 0]
        f_u = (w * (contracted(square, w) - N_rate)).sum(axis=1)
        spread = np.einsum("jik,ian->jkan", e, dw)
        f_u -= (spread * (contracted(square[:, None], dw) - N_change)).sum(axis=(1, 2))
        return p_r, p_u, f_u


def _mixed(weights: Array, x: Any) -> Array:
    """Σ_j weights_ij x_j."""
    mixed: Array = weights @ x.reshape(len(x), -1)
    return mixed.reshape(len(weights), *x.shape[1:])
