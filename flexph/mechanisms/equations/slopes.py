"""Derivatives of the equations of a small mechanism with respect to its state; dense."""

from __future__ import annotations

import numpy as np

from ...kernels.continuous import section_torques, world_loads
from ...kernels.gradient import vector_forces
from ...kernels.state import QUARTER_TURN, body_sum, coupled, inertia_products, squares, turns
from ...kernels.strains import second_derivatives
from ...numerics.arrays import Array
from ...numerics.rotations import spin_skew
from .coordinates import node_slopes, product_rows, turned_forces
from .dense import Matrices, strain_viscosity


class Slopes:
    """Derivatives of the costate z, and of E w, (J − R)w and B u at constant w and u, with respect to x at one state.

    ``point`` has the matrices at this state.
    """

    def __init__(self, point: Matrices) -> None:
        self.p, self.f, self.k, self.a = point, point.f, point.k, point.a

    def _blank(self) -> Array:
        return np.zeros((self.f.size,) * 2)

    def costate(self) -> Array:
        """Derivative ∂z/∂x (n, n) of the costate with respect to the state.

        Entries of z for the deformations u are ½ wᵀ(∂M/∂u)w with the velocities w. Entries for springs and strains
        follow their laws, and entries for v and λ are the states themselves.
        """
        f, spin = self.f, self.p.spin
        slope = np.eye(f.size)
        slope[f.q, f.q] = 0.0
        slope[f.sigma, f.sigma] = f.laws.slopes(self.p.x[f.sigma])
        slope[f.spring, f.spring] = np.diag(self.a.springs.state_slopes(self.p.x[f.spring]))
        slope[f.u, f.u] = squares(self.a, spin, spin)
        slope[f.u, f.du] = -turns(self.a, spin)
        self._add_to_spins(slope[f.u, f.v].T, self.p.coupled)
        return slope

    def descriptor(self, w: Array) -> Array:
        """Derivative ∂(E w)/∂x (n, n) with respect to the state at constant w (n,), E the descriptor matrix.

        With ω, u̇ the entries of w for spins and deformation rates, E w has the entries J(u)ω + (n + N u)·u̇ and ω(n +
        N u) + M u̇.
        """
        f, a, spin = self.f, self.a, self._spin(w)
        slope = self._blank()
        of_spins = coupled(a, self.p.Pu, inertia_products(a, w[f.du]), spin)
        self._add_to_spins(slope[f.v, f.u], of_spins)
        slope[f.du, f.u] = turns(a, spin)
        return slope

    def structure(self, w: Array) -> Array:
        """Derivative ∂((J − R)w)/∂x (n, n) with respect to the state at constant w (n,).

        J is the structure matrix and R the dissipation matrix.
        """
        f, slope = self.f, self._blank()
        slope[f.q, f.q] = self.k.rates_along(w[f.v])
        self._add_gyroscopic(slope, w)
        if self.a.dim == 3:
            self._add_spatial(slope, w)
        if len(self.a.slopes):
            self._add_stresses(slope, w)
        self._add_rows(slope, w)
        if self.a.strains.stress.size:
            self._add_strains(slope, w)
        return slope

    def inputs(self, u: Array) -> Array:
        """Derivative ∂(B u)/∂x (n, n) with respect to the state at constant inputs u.

        B u has the forces f on nodes as Zᵀ(∂x/∂q)ᵀf, x the positions of the nodes, and the torques on sections.
        """
        f, k, a, p = self.f, self.k, self.a, self.p
        slope = self._blank()
        if not f.external:
            return slope
        given, nodes = u[: f.external], p.nodes.reshape(-1, k.positions)
        loads = world_loads(a, p.arms, given)
        change = np.zeros((f.external, k.positions))  # for loads that follow their sections
        if a.follow_input.size:
            change[a.follow_input] = np.einsum("fj,fjdq->fdq", given[a.follow_input], p.nodes[a.follow_node])
        force = a.input_node @ loads
        of_gradient = turned_forces(a, k, force.reshape(-1, a.dim)) + nodes.T @ (a.input_node @ change)
        slope[f.v, f.q] = p.Z.T @ of_gradient + k.rates_across(nodes.T @ force)
        slope[f.v, f.q] += p.sections.T @ (a.input_torque @ change)
        if a.dim == 3 and a.torque_body.size:
            self._add_torques(slope[f.v, f.q], section_torques(a, loads))
        return slope

    def _spin(self, w: Array) -> Array:
        """Spins ω of a vector w of velocities and costates, for each flexible coordinate that of its body, (s, n)."""
        return w[self.f.v][self.k.own].T

    def _add_to_spins(self, out: Array, values: Array) -> None:
        """Add values (s, n), a column for each flexible coordinate, to the rows of the spins of its body (in place)."""
        for columns, row in zip(self.k.own, values, strict=True):
            out[columns, np.arange(row.size)] += row

    def _add_gyroscopic(self, out: Array, w: Array) -> None:
        """Add the derivatives of Γ w without its term [p_r]× to ``out``, at constant w, with respect to u, ω, u̇.

        With ω and u̇ the entries of w, Γ w has −Σ_k a_k u̇_k on the spins, and a_k·ω and −2 ω_a N_a u̇ on the
        deformation rates. a_k are the spin components of (∂M/∂u_k) v at the velocities v of the state. ``out`` changes
        in place.
        """
        f, k, a, p = self.f, self.k, self.a, self.p
        s, spin, Pw = a.n.shape[0], self._spin(w), inertia_products(a, w[f.du])
        N_w, K_w = Pw[1 : 1 + s], Pw[1 + s :].reshape(s, s, -1)
        square = a.s + p.Pu[1 + s :].reshape(s, s, -1)
        out[f.du, f.u] += 2.0 * squares(a, spin, p.spin)
        out[f.du, f.du] -= turns(a, spin)
        self._add_to_spins(out[f.v, f.u], -2.0 * np.einsum("abn,nb->an", K_w, p.spin))
        self._add_to_spins(out[f.v, f.du], -N_w)
        self._add_to_spins(out[f.du, f.v].T, 2.0 * np.einsum("abn,na->bn", square, spin) - 2.0 * N_w)
        across = np.moveaxis(body_sum(a, square * w[f.du]), 2, 0)[a.turning]
        out[f.v, f.v][k.spin[:, :, None], k.spin[:, None, :]] -= 2.0 * across

    def _add_spatial(self, out: Array, w: Array) -> None:
        """Add the derivatives of p_r × ω with respect to u, ω, u̇ at constant ω to ``out``, in place; in space only.

        They are −[ω]× ∂p_r, with p_r the angular momenta of the bodies at the state, and ω the entries of w for spins.
        """
        f, k, a, p = self.f, self.k, self.a, self.p
        turn = np.zeros((len(a.mass), 3, 3))
        turn[a.turning] = spin_skew(w[f.v][k.spin])
        axes = turn[a.body_u]
        out[f.v, f.v][k.spin[:, :, None], k.spin[:, None, :]] -= turn[a.turning] @ p.inertia
        self._add_to_spins(out[f.v, f.u], -np.einsum("nab,bn->an", axes, p.coupled))
        self._add_to_spins(out[f.v, f.du], -np.einsum("nab,bn->an", axes, p.coupling))

    def _add_stresses(self, out: Array, w: Array) -> None:
        """Add the derivatives with respect to u of D(u)u̇ and of −D(u)ᵀ(σ + βC⁻¹D(u)u̇), with (u̇, σ) of w."""
        f, a, strain = self.f, self.a, self.p.strain
        bent = a.weights @ ((a.slopes @ w[f.du])[:, None] * a.slopes)  # ∂(D w)/∂u
        stress = w[f.sigma]
        out[f.sigma, f.u] = bent
        if a.stress_damping.any():
            viscosity = a.stress_damping[:, None] * a.stiffness
            stress = stress + viscosity @ (strain @ w[f.du])
            out[f.du, f.u] -= strain.T @ (viscosity @ bent)
        out[f.du, f.u] -= a.slopes.T @ ((a.weights.T @ stress)[:, None] * a.slopes)

    def _add_rows(self, out: Array, w: Array) -> None:
        """Add the derivatives with respect to q of the terms of constraints and springs in (J − R)w (in place).

        These terms are Zᵀ((∂π/∂q)ᵀAᵀm − w_q), A π̇ of the springs and −A π̇ of the joints, with π̇ = ∂π/∂q Z w_v. m
        contains the multipliers λ of joints and the forces −e − c (rate) of springs; w_q and w_v are the entries of w
        for coordinates and velocities.
        """
        f, k, p = self.f, self.k, self.p
        A, slope, speed = p.weights, p.product_slope, p.Z @ w[f.v]
        rate = slope @ speed
        of_rate = self._of_product_rates(speed) + slope @ out[f.q, f.q]
        i, j, m, value = f.rows.weight_slopes(p.product)
        by_row, by_product = (
            np.zeros_like(A),
            np.zeros((A.shape[1],) * 2),
        )  # derivatives of A π̇ and Aᵀ m by products
        np.add.at(by_row, (i, m), rate[j] * value)
        of_rows = A @ of_rate + by_row @ slope
        force = self._row_forces(w, A @ rate)
        np.add.at(by_product, (j, m), force[i] * value)
        dampers = slice(f.constraints, None)
        of_product = by_product @ slope - A[dampers].T @ (p.resistance[:, None] * of_rows[dampers])
        of_gradient = self._curvature(force @ A) + slope.T @ of_product
        gradient = (force @ A) @ slope - w[f.q]
        out[f.v, f.q] += p.Z.T @ of_gradient + k.rates_across(gradient)
        out[f.spring, f.q] = of_rows[f.constraints + f.stored]
        out[f.lam, f.q] = -of_rows[: f.constraints]
        if self.a.dim == 3 and self.a.rolling.spin_row.size:
            self._add_spins(out, w)
        if self.a.springs.relations:
            self._add_relations(out, w, A @ rate)

    def _add_strains(self, out: Array, w: Array) -> None:
        """Add the terms of the strains of nodal bodies to ∂((J − R)w)/∂x in ``out``, in place: derivatives by q.

        The terms are S w_v and −Sᵀ(σ + βC⁻¹ S w_v), with S = A ∂π/∂q Z the matrix of the strain rates, and w_v, σ the
        entries of w for velocities and stresses.
        """
        f, k, p, strains = self.f, self.k, self.p, self.a.strains
        A, slope, speed, stresses = p.strain_weights, p.product_slope, p.Z @ w[f.v], f.sigma.start + strains.stress
        rate, viscosity = slope @ speed, strain_viscosity(self.a)
        e, j, m, value = second_derivatives(strains, p.product)
        by_row, by_product = np.zeros_like(A), np.zeros((A.shape[1],) * 2)
        np.add.at(by_row, (e, m), rate[j] * value)
        of_rows = A @ (self._of_product_rates(speed) + slope @ out[f.q, f.q]) + by_row @ slope
        force = -(w[stresses] + viscosity @ (A @ rate))
        np.add.at(by_product, (j, m), force[e] * value)
        of_product = by_product @ slope - A.T @ (viscosity @ of_rows)
        out[f.v, f.q] += p.Z.T @ (self._curvature(force @ A) + slope.T @ of_product)
        out[f.v, f.q] += k.rates_across((force @ A) @ slope)
        out[stresses, f.q] = of_rows

    def _add_spins(self, out: Array, w: Array) -> None:
        """Add the spins in nonholonomic rows to ∂((J − R)w)/∂x in ``out``, in place; in space only.

        These rows have terms a·(R ω), with a constant direction a in the world. The derivatives of Rᵀa λ and of −a·(R
        ω) with respect to the entries of R are added, with λ and ω taken from w.
        """
        f, k, t = self.f, self.k, self.a.rolling
        place = np.searchsorted(self.a.turning, t.spin_body)
        moved = np.einsum("eij,mi->mje", k.basis, t.spin_axis)
        lam, spin, entry = w[f.lam][t.spin_row], k.spin[place], k.entry[place]
        np.add.at(out[f.v, f.q], (spin[:, :, None], entry[:, None, :]), lam[:, None, None] * moved)
        on_rows = np.einsum("mje,mj->me", moved, w[f.v][spin])
        np.add.at(out[f.lam, f.q], (t.spin_row[:, None], entry), -on_rows)

    def _add_relations(self, out: Array, w: Array, rate: Array) -> None:
        """Add the forces of dampers with a relation ρ between force and rate s to ∂((J − R)w)/∂x in ``out``, in place.

        The forces are −Sᵀ (ρ(s)/s) S w with s = S v, S the rows of the dampers. Only the factor ρ(s)/s is
        differentiated here, which changes with q and v. ``rate`` are the rates S w.
        """
        f, k, p, springs = self.f, self.k, self.p, self.a.springs
        resisting = f.constraints + springs.resisting
        slope = [
            float(r.resistance_slope(s)) for r, s in zip(springs.relations, p.rate[springs.resisting], strict=True)
        ]
        pull = p.rows[resisting].T * (np.array(slope) * rate[resisting])
        speed = p.Z @ p.velocity
        i, j, m, value = f.rows.weight_slopes(p.product)
        by_row = np.zeros_like(p.weights)
        np.add.at(by_row, (i, m), (p.product_slope @ speed)[j] * value)
        of_rate = self._of_product_rates(speed) + p.product_slope @ k.rates_along(p.velocity)
        out[f.v, f.v] -= pull @ p.rows[resisting]
        out[f.v, f.q] -= pull @ (p.weights @ of_rate + by_row @ p.product_slope)[resisting]

    def _row_forces(self, w: Array, rate: Array) -> Array:
        """Forces of constraints, λ, and spring-dampers, −e − c (rate), with λ and e from w and their rates ``rate``."""
        f = self.f
        forces = np.concatenate([w[f.lam], -self.p.resistance * rate[f.constraints :]])
        forces[f.constraints + f.stored] -= w[f.spring]
        return forces

    def _of_product_rates(self, speed: Array) -> Array:
        """Derivative of the product rates (∂π/∂q) q̇ with respect to q at constant q̇ = ``speed``, (p, n_q)."""
        a, k, p = self.a, self.k, self.p
        turning = np.zeros_like(p.R)
        turning[a.turning] = k.rotations(speed[k.entry])
        local = (a.node_shape @ speed[k.positions - k.flexible :]).reshape(-1, a.dim)
        moved = p.of_vectors(node_slopes(a, k, turning, local))
        return product_rows(a, p.moved @ speed, p.moved) + product_rows(a, p.vector, moved)

    def _curvature(self, on_product: Array) -> Array:
        """Second derivative ∂²(f·π)/∂q² (n_q, n_q) of the products π with respect to the coordinates q.

        Their factors f (p,), ``on_product``, are constant.
        """
        a, p, width = self.a, self.p, self.k.positions
        curvature = turned_forces(a, self.k, a.incidence.T @ vector_forces(a, p.vector, on_product))
        first, second = p.moved[a.first], p.moved[a.second].reshape(-1, width)
        if a.crossed.size:
            first[a.crossed] = np.einsum("ij,pjn->pin", QUARTER_TURN, first[a.crossed])
        swap = first.reshape(-1, width).T @ (np.repeat(on_product, a.dim)[:, None] * second)
        return curvature + swap + swap.T

    def _add_torques(self, out: Array, torque: Array) -> None:
        """Add the derivative of section torques with respect to the entries ρ of rotations to ``out``, in place.

        It is for mechanisms in space. World torques τ (t, 3) act as Rᵀτ on the spins and as ψᵀRᵀτ on the deformations,
        with ψ the mode shapes of the rotations. ``out`` (n_v, n_q) are derivatives of forces on velocities with respect
        to coordinates.
        """
        a, k = self.a, self.k
        place = np.searchsorted(a.turning, a.torque_body)
        turned = np.einsum("eji,tj->tie", k.basis, torque)
        np.add.at(out, (k.spin[place][:, :, None], k.entry[place][:, None, :]), turned)
        shape = a.torque_shape.reshape(len(place), 3, k.flexible)
        np.add.at(out[k.velocities - k.flexible :].T, k.entry[place], np.einsum("tie,tin->ten", turned, shape))
