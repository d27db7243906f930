"""Dense matrices of the equations of a small mechanism."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.gradient import section_rows, with_spins
from ...kernels.springs import resistances
from ...kernels.state import (
    coupled,
    inertia_products,
    momenta,
    products,
    rotational_inertia,
    turns,
    vectors,
)
from ...kernels.strains import gradient
from ...kernels.strains import rows as gradient_rows
from ...numerics.arrays import Array, dense
from ...numerics.rotations import spin_skew
from .blocks import ConstantBlocks
from .coordinates import Coordinates, node_slopes, product_rows


def _frozen(matrix: Array) -> Array:
    matrix.setflags(write=False)
    return matrix


class Matrices:
    """Matrices E, J, R, B, costate z and energy H of a small mechanism at a state x = (q, v, σ, e, λ), and their parts.

    ``fixed`` are the constant blocks. Each matrix is evaluated on first use. There are b bodies, k nodes, v vectors and
    p products.
    """

    def __init__(self, fixed: ConstantBlocks, x: Array) -> None:
        self.f, self.a, self.k, self.x = fixed, fixed.a, fixed.k, x
        self.r = x[: self.a.weight.size].reshape(-1, self.a.dim)
        self.u, self.velocity, self.du = x[fixed.u], x[fixed.v], x[fixed.du]
        self.rho = x[self.k.entry]
        self.spin = self.velocity[self.k.own].T  # spin of the body of each u, (n, s)
        self.Pu, self.Pdu = inertia_products(self.a, self.u), inertia_products(self.a, self.du)

    # parts of the matrices

    @cached_property
    def R(self) -> Array:
        """Rotation matrices of all bodies, (b, d, d); the unit matrix for point masses."""
        R = self.f.eye.copy()
        R[self.a.turning] = self.k.rotations(self.rho)
        return R

    @cached_property
    def inertia(self) -> Array:
        """Rotational inertia J(u) of each turning body about its centre of mass, (t, s, s)."""
        return rotational_inertia(self.a, self.u, self.Pu)[self.a.turning]

    @cached_property
    def coupling(self) -> Array:
        """Mass matrix block n + N u, which couples the spin of a body to its deformation rates, (s, n)."""
        return self.a.n + self.Pu[1 : 1 + self.a.n.shape[0]]

    @cached_property
    def coupled(self) -> Array:
        """Spin components (s, n) of (∂M/∂u_k) w, with the mass matrix M(u) and velocities w = (ω, u̇) of a body."""
        return coupled(self.a, self.Pu, self.Pdu, self.spin)

    @cached_property
    def momenta(self) -> tuple[Array, Array]:
        """Angular momenta p_r (b, s) about centres of mass, in body axes, and momenta p_u (n,) of deformations."""
        omega = np.zeros((len(self.a.mass), self.a.n.shape[0]))
        omega[self.a.turning] = self.velocity[self.k.spin]
        return momenta(self.a, omega, self.u, self.du, products=(self.Pu, self.Pdu))

    @cached_property
    def local(self) -> Array:
        """Positions X + φu of the nodes in body axes (k, d), with the undeformed X and the displacements φu."""
        return self.a.node_position + (self.a.node_shape @ self.u).reshape(-1, self.a.dim)

    @cached_property
    def vector(self) -> Array:
        """World vectors V (v, d) of which the products of joints, springs and strains are formed."""
        return vectors(self.a, self.r, self.arms)

    @cached_property
    def product(self) -> Array:
        """Products π = V·W of pairs of world vectors, (p,)."""
        return products(self.a, self.vector)

    @cached_property
    def nodes(self) -> Array:
        """Derivatives ∂x/∂q of the world positions x of the nodes with respect to the coordinates q, (k, d, n_q)."""
        return node_slopes(self.a, self.k, self.R, self.local, moves=self.k.moves)

    @cached_property
    def moved(self) -> Array:
        """Derivatives ∂V/∂q of the world vectors V with respect to the coordinates q, (v, d, n_q)."""
        return self.of_vectors(self.nodes)

    def of_vectors(self, nodes: Array) -> Array:
        """Derivatives ∂V/∂q (v, d, n_q) of vectors, from the derivatives (k, d, n_q) of the nodes that they join."""
        vectors: Array = self.a.incidence @ nodes.reshape(len(nodes), self.a.dim * self.k.positions)
        return vectors.reshape(-1, self.a.dim, self.k.positions)

    @cached_property
    def product_slope(self) -> Array:
        """Derivatives ∂π/∂q of the products π with respect to the coordinates q, (p, n_q)."""
        return product_rows(self.a, self.vector, self.moved)

    @cached_property
    def weights(self) -> Array:
        """Coefficients A (rows, p) of the rates π̇ of the products in the rows of constraints, springs and dampers."""
        return self.f.rows.weights(self.product)

    @cached_property
    def Z(self) -> Array:
        """Kinematic matrix Z (n_q, n_v) that maps velocities v to rates q̇ = Z v of the coordinates."""
        return self.k.rates(self.rho)

    @cached_property
    def rows(self) -> Array:
        """Matrix (g + springs, n_v) from velocities to the rates of constraints, G, and of spring extensions, S."""
        rows: Array = (self.weights @ self.product_slope) @ self.Z
        return with_spins(self.a, rows, self.R)

    @cached_property
    def rate(self) -> Array:
        """Rates of the extensions of the spring-dampers, (springs,)."""
        return self.rows[self.f.constraints :] @ self.velocity

    @cached_property
    def resistance(self) -> Array:
        """Damping coefficients c + ρ(s)/s of the spring-dampers, (springs,), with the relation ρ of the rate s."""
        return resistances(self.a.springs, self.rate) if self.a.springs.relations else self.a.springs.damping

    @cached_property
    def strain(self) -> Array:
        """Strain operator D(u) from deformation rates to the rates of the strains of bodies, (m, n)."""
        a = self.a
        return a.strain + a.weights @ ((a.slopes @ self.u)[:, None] * a.slopes)

    @cached_property
    def strain_weights(self) -> Array:
        """Derivatives ∂ε/∂π of the strains ε of nodal bodies with respect to the products π, (e, p)."""
        strains = self.a.strains
        return gradient_rows(strains, gradient(strains, self.product), self.product.size).toarray()

    @cached_property
    def strain_rates(self) -> Array:
        """Matrix (e, n_v) that maps velocities v to the strain rates ε̇ of nodal bodies."""
        rates: Array = (self.strain_weights @ self.product_slope) @ self.Z
        return rates

    @cached_property
    def arms(self) -> Array:
        """World vectors R (X + φu) from the centres of mass of the bodies to their nodes, (k, d)."""
        return (self.R[self.a.node_body] @ self.local[:, :, None])[:, :, 0]

    @cached_property
    def sections(self) -> Array:
        """Matrix (t·s, n_v) from velocities to the world spins R(ω + ψu̇) of the t sections on which torques act."""
        rows: Array = section_rows(self.a, self.R)
        return rows

    # E, J, R, B, z, H

    @cached_property
    def descriptor(self) -> Array:
        """Descriptor matrix E (n, n) of ``E ẋ = (J − R) z + B u``; read-only."""
        E, k = self.f.E.copy(), self.k
        inner = E[self.f.v, self.f.v]
        inner[k.spin[:, :, None], k.spin[:, None, :]] = self.inertia
        _write_coupling(inner, k, self.coupling, 1.0)
        return _frozen(E)

    @cached_property
    def structure(self) -> Array:
        """Skew-symmetric structure matrix J (n, n) of ``E ẋ = (J − R) z + B u``; read-only."""
        J, f, k, a = self.f.J.copy(), self.f, self.k, self.a
        J[f.q, f.v], J[f.v, f.q] = self.Z, -self.Z.T
        inner = J[f.v, f.v]
        _write_coupling(inner, k, self.coupled, -1.0)
        if f.n:
            inner[-f.n :, -f.n :] = -2.0 * turns(a, self.spin)
        if a.dim == 3:
            inner[k.spin[:, :, None], k.spin[:, None, :]] = spin_skew(self.momenta[0][a.turning])
        if len(a.slopes):
            J[f.sigma, f.du], J[f.du, f.sigma] = self.strain, -self.strain.T
        if a.strains.stress.size:
            stresses = f.sigma.start + a.strains.stress
            J[stresses, f.v], J[f.v, stresses] = self.strain_rates, -self.strain_rates.T
        springs, joints = self.rows[f.constraints + f.stored], self.rows[: f.constraints]
        J[f.spring, f.v], J[f.v, f.spring] = springs, -springs.T
        J[f.lam, f.v], J[f.v, f.lam] = -joints, joints.T
        return _frozen(J)

    @cached_property
    def dissipation(self) -> Array:
        """Symmetric dissipation matrix R (n, n) of ``E ẋ = (J − R) z + B u``, from damping and resistance.

        The array is read-only.
        """
        f, a = self.f, self.a
        if not (a.stress_damping.any() or f.has_resistance):
            return _frozen(f.R)
        R = f.R.copy()
        loss = self.strain.T @ (a.stress_damping[:, None] * (a.stiffness @ self.strain))
        R[f.du, f.du] += 0.5 * (loss + loss.T)
        if a.strains.stress.size:
            loss = self.strain_rates.T @ strain_viscosity(a) @ self.strain_rates
            R[f.v, f.v] += 0.5 * (loss + loss.T)
        if f.has_resistance:
            S = np.sqrt(self.resistance)[:, None] * self.rows[f.constraints :]
            R[f.v, f.v] += S.T @ S
        return _frozen(R)

    @cached_property
    def inputs(self) -> Array:
        """Input matrix B (n, inputs) of ``E ẋ = (J − R) z + B u``; read-only."""
        f, a = self.f, self.a
        if not f.external:
            return _frozen(f.B)
        on_nodes = self.Z.T @ (self.nodes.reshape(-1, self.k.positions).T @ a.input_node)
        B, world = f.B.copy(), np.eye(f.external)
        if a.follow_input.size:
            world[a.follow_input[:, :, None], a.follow_input[:, None, :]] = np.swapaxes(self.arms[a.follow_node], 1, 2)
        B[f.v, : f.external] = (on_nodes + self.sections.T @ a.input_torque) @ world
        return _frozen(B)

    @cached_property
    def costate(self) -> Array:
        """Costate z (n,) of ``E ẋ = (J − R) z + B u``: ∂H/∂q, velocities, stresses, spring forces and multipliers.

        The array is read-only.
        """
        f, s = self.f, self.a.n.shape[0]
        z = self.x.copy()
        z[f.q] = f.z
        # ½ wᵀ(∂M/∂u)w = ½ Σ ω_a (a_k)_a − ½ Σ ω_a N_a u̇
        z[f.u] = 0.5 * np.einsum("na,an->n", self.spin, self.coupled - self.Pdu[1 : 1 + s])
        z[f.sigma] = f.laws.costate(self.x[f.sigma])
        z[f.spring] = self.a.springs.forces(self.x[f.spring])
        return _frozen(z)

    @cached_property
    def energy(self) -> float:
        """Energy H [J]: kinetic energy, energy of strains and springs, and potential energy of the weights."""
        f, a, x = self.f, self.a, self.x
        p_r, p_u = self.momenta
        first = self.velocity[: a.weight.size]
        twice = np.repeat(a.mass, a.dim) @ (first * first) + self.du @ p_u
        twice += p_r[a.turning].ravel() @ self.velocity[self.k.spin.ravel()]
        stored = f.laws.energy(x[f.sigma]) + a.springs.energies(x[f.spring]).sum()
        return float(0.5 * twice + stored - a.weight.ravel() @ self.r.ravel())


def strain_viscosity(a: Arrays) -> Array:
    """Viscosity β C⁻¹ (e, e) that maps strain rates of nodal bodies to viscous stresses.

    Nonlinear material laws enter with the stiffness C⁻¹ that they have without strain.
    """
    viscosity: Array = a.stress_damping[a.strains.stress, None] * dense(a.strains.of_undeformed)
    return viscosity


def _write_coupling(inner: Array, k: Coordinates, values: Array, below: float) -> None:
    """Write the entries that couple deformation rates and spins into a matrix over the velocities, in place.

    ``values`` (s, n) are the entries for each spin component of a body and each of its deformation rates. They are
    written in the row of the rate and the column of the spin; multiplied by ``below``, in the row of the spin and the
    column of the rate.
    """
    u = np.arange(k.velocities - k.flexible, k.velocities)
    for columns, row in zip(k.own, values, strict=True):
        inner[columns, u], inner[u, columns] = below * row, row
