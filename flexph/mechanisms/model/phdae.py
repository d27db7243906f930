"""The nonlinear equations of a mechanism as a PHDAE."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...joints.rows.laws import Alignment, Angle
from ...kernels import continuous
from ...kernels.continuous import Rows
from ...kernels.gradient import constraint_matrix, is_sparse, section_rows, with_spins
from ...kernels.springs import resistances
from ...kernels.state import (
    Configuration,
    Derived,
    body_sum,
    derive,
    energies,
    inertia_products,
    momenta,
    products,
    rotational_inertia,
    vectors,
)
from ...kernels.step import section_torques, world_loads
from ...numerics.arrays import Array
from ...numerics.rotations import cross, entries, entry_count, spin_skew
from ...systems.derivatives import Derivatives
from ...systems.nonlinear import PHDAE
from .state import State, configuration
from .time_table import Anchors, TimeTable, law_products, law_values, laws

if TYPE_CHECKING:
    from .model import Model

KEPT = 3
"""Latest states whose matrices are kept: the stages of the methods of order 6."""


def as_phdae(mechanism: Model, state: State) -> PHDAE:
    """``E ẋ = (J − R) z + B u`` with x = (q, v, σ, e, λ):

        E = diag(1, diag(m, M(u)), C, 1/k, 0),   z = (∂_q H, v, σ, e, λ)
        J = [[0, Z, 0, 0, 0], [−Zᵀ, Γ, −Dᵀ, −Sᵀ, Gᵀ], [0, D, 0, 0, 0], [0, S, 0, 0, 0], [0, −G, 0, 0, 0]]

    External inputs act on v; drives are inputs of their constraint rows, the prescribed rate: their output is the
    multiplier ([flex] eq. (43)). Small mechanisms have dense matrices, read only, and derivatives; large ones sparse
    matrices.
    """
    a = mechanism.network.arrays
    system = _Sparse(mechanism, state.anchors) if is_sparse(a) else _Dense(mechanism, state.anchors)
    return PHDAE(
        E=system.descriptor,
        J=system.structure,
        R=system.dissipation,
        B=system.inputs,
        z=system.costate,
        H=system.energy,
        sample=np.concatenate([state.x, state.multipliers]),
        ports=system.ports,
        parts=mechanism.layout.parts,
        derivatives=system.derivatives,
    )


def _ports(mechanism: Model) -> tuple[list[int], dict[str, slice]]:
    """The driven constraint rows, and the inputs: external ports, then the rate of each of these rows."""
    driven = [i for i, law in enumerate(laws(mechanism)) if callable(law.value)]
    ports = dict(mechanism.network.input_slices)
    at = sum(s.stop - s.start for s in ports.values())
    for k, i in enumerate(driven):
        ports[mechanism.constraint_names[i]] = slice(at + k, at + k + 1)
    return driven, ports


# --- small mechanisms -------------------------------------------------------------------------------------------------


class _Derivatives(Derivatives):
    """Derivatives that are not compared with differences at every start: tests do that (test_mechanism_methods)."""

    def check(self, system: Any, x: Array) -> None:
        """Nothing: four evaluations per state would take longer than many a run."""


class _Dense:
    """Dense matrix functions of one mechanism; those of the latest states are kept, since all share their parts."""

    def __init__(self, mechanism: Model, anchors: Anchors) -> None:
        driven, self.ports = _ports(mechanism)
        fixed = _Fixed(mechanism, anchors, driven)
        self._point: Callable[[bytes], _Point] = lru_cache(maxsize=KEPT)(lambda key: _Point(fixed, np.frombuffer(key)))
        self.derivatives = _Derivatives(
            costate=lambda x: _Slopes(self.at(x)).costate(),
            descriptor=lambda x, w: _Slopes(self.at(x)).descriptor(w),
            structure=lambda x, w: _Slopes(self.at(x)).structure(w),
            inputs=lambda x, u: _Slopes(self.at(x)).inputs(u),
        )

    def at(self, x: Array) -> _Point:
        """Everything at a state."""
        return self._point(np.ascontiguousarray(x, dtype=float).tobytes())

    def descriptor(self, x: Array) -> Array:
        return self.at(x).descriptor

    def structure(self, x: Array) -> Array:
        return self.at(x).structure

    def dissipation(self, x: Array) -> Array:
        return self.at(x).dissipation

    def inputs(self, x: Array) -> Array:
        return self.at(x).inputs

    def costate(self, x: Array) -> Array:
        return self.at(x).costate

    def energy(self, x: Array) -> float:
        return self.at(x).energy


class _Fixed:
    """What does not depend on the state: where everything is in x = (q, v, σ, e, λ), and all constant blocks."""

    def __init__(self, mechanism: Model, anchors: Anchors, driven: list[int]) -> None:
        layout, a = mechanism.layout, mechanism.network.arrays
        self.a, self.k = a, continuous.coordinates(a)
        self.rows = _rows(mechanism, anchors)
        self.constraints, self.n = layout.multipliers, layout.flexible
        sizes = (self.k.positions, self.k.velocities, layout.stresses, layout.springs, layout.multipliers)
        at = np.cumsum([0, *sizes])
        self.size, self.external = int(at[-1]), a.input_node.shape[1]
        self.q, self.v, self.sigma, self.spring, self.lam = (slice(i, j) for i, j in pairwise(at))
        self.u, self.du = (slice(p.stop - self.n, p.stop) for p in (self.q, self.v))
        self.stored = np.flatnonzero(a.springs.state >= 0)
        self.resists = bool(a.springs.damping.any() or a.springs.relations)
        self.eye = np.tile(np.eye(a.dim), (len(a.mass), 1, 1))
        self.E, self.J, self.R = self._descriptor(), self._structure(), self._dissipation()
        self.B = np.zeros((self.size, self.external + len(driven)))
        self.B[self.lam.start + np.array(driven, dtype=int), self.external + np.arange(len(driven))] = 1.0
        self.z = np.zeros(self.q.stop)
        self.z[: a.weight.size] = -a.weight.ravel()

    def _descriptor(self) -> Array:
        E, a = np.zeros((self.size,) * 2), self.a
        E[self.q, self.q] = np.eye(self.q.stop)
        E[self.v, self.v][np.diag_indices(a.weight.size)] = np.repeat(a.mass, a.dim)
        E[self.du, self.du] = a.stack[: self.n]
        E[self.sigma, self.sigma] = a.compliance
        E[self.spring, self.spring] = np.diag(1.0 / a.springs.stiffness[self.stored])
        return E

    def _structure(self) -> Array:
        J = np.zeros((self.size,) * 2)
        J[self.q, self.v], J[self.v, self.q] = self.k.level, -self.k.level.T
        J[self.sigma, self.du], J[self.du, self.sigma] = self.a.strain, -self.a.strain.T
        return J

    def _dissipation(self) -> Array:
        R = np.zeros((self.size,) * 2)
        R[self.du, self.du] = 0.5 * (self.a.viscous + self.a.viscous.T)
        return R


def _rows(mechanism: Model, anchors: Anchors) -> Rows:
    """Constraint rows, then spring-dampers; drives take their coefficients from the present pose."""
    a, count = mechanism.network.arrays, mechanism.layout.multipliers
    springs, terms, owned = a.springs, list(zip(a.term_row, a.term_product, strict=True)), laws(mechanism)
    fixed = np.zeros((count + springs.stiffness.size, a.first.size))
    coefficient, _ = TimeTable(mechanism, anchors).evaluate(np.nan_to_num(anchors.rows))  # driven offsets have one too
    driven = np.array([callable(law.value) and isinstance(law, Angle | Alignment) for law in owned], dtype=bool)
    np.add.at(fixed, (a.term_row, a.term_product), np.where(driven[a.term_row], 0.0, coefficient))
    angles, bent = [], []
    for i in np.flatnonzero(driven):
        own = [int(p) for row, p in terms if row == i]
        if isinstance(owned[i], Angle):
            angles.append((i, *own, 1))
        else:
            bent += [(i, own[m], own[m + 3], -0.5) for m in range(3)] + [(i, own[m + 3], own[m], 0.5) for m in range(3)]
    first = count + springs.length_product.size
    last = first + springs.component_product.size
    fixed[np.arange(first, last), springs.component_product] = 1.0
    angles += [
        (last + i, *pair, 2) for i, pair in enumerate(zip(springs.sine_product, springs.cosine_product, strict=True))
    ]
    table, lever = np.array(angles, dtype=int).reshape(-1, 4), np.array(bent).reshape(-1, 4)
    return Rows(
        fixed=fixed,
        length=(np.arange(count, first), springs.length_product),
        angle=(table[:, 0], table[:, 1], table[:, 2], table[:, 3]),
        bent=(
            np.append(lever[:, 0].astype(int), a.rolling.row),
            np.append(lever[:, 1].astype(int), a.rolling.product),
            np.append(lever[:, 2].astype(int), a.rolling.by),
            np.append(lever[:, 3], a.rolling.weight),
        ),
    )


def _frozen(matrix: Array) -> Array:
    matrix.setflags(write=False)
    return matrix


class _Point:
    """The matrices at one state; each part is made when it is first asked for."""

    def __init__(self, fixed: _Fixed, x: Array) -> None:
        self.f, self.a, self.k, self.x = fixed, fixed.a, fixed.k, x
        self.r = x[: self.a.weight.size].reshape(-1, self.a.dim)
        self.u, self.velocity, self.du = x[fixed.u], x[fixed.v], x[fixed.du]
        self.rho = x[self.k.entry]
        self.spin = self.velocity[self.k.own].T  # of the body of each u, (n, s)
        self.Pu, self.Pdu = inertia_products(self.a, self.u), inertia_products(self.a, self.du)

    # what the matrices are made of

    @cached_property
    def R(self) -> Array:
        R = self.f.eye.copy()
        R[self.a.turning] = continuous.rotations(self.k, self.rho)
        return R

    @cached_property
    def inertia(self) -> Array:
        """J(u) of the turning bodies."""
        return rotational_inertia(self.a, self.u, self.Pu)[self.a.turning]

    @cached_property
    def coupling(self) -> Array:
        """n + N u, (s, n)."""
        return self.a.n + self.Pu[1 : 1 + self.a.n.shape[0]]

    @cached_property
    def coupled(self) -> Array:
        return continuous.coupled(self.a, self.Pu, self.Pdu, self.spin)

    @cached_property
    def momenta(self) -> tuple[Array, Array]:
        omega = np.zeros((len(self.a.mass), self.a.n.shape[0]))
        omega[self.a.turning] = self.velocity[self.k.spin]
        return momenta(self.a, omega, self.u, self.du, products=(self.Pu, self.Pdu))

    @cached_property
    def local(self) -> Array:
        """X + φu of the nodes in body axes, (k, d)."""
        return self.a.node_position + (self.a.node_shape @ self.u).reshape(-1, self.a.dim)

    @cached_property
    def vector(self) -> Array:
        return vectors(self.a, self.r, self.arms)

    @cached_property
    def product(self) -> Array:
        return products(self.a, self.vector)

    @cached_property
    def nodes(self) -> Array:
        """∂x/∂q of the nodes, (k, d, n_q)."""
        return continuous.node_slopes(self.a, self.k, self.R, self.local, self.k.moves)

    @cached_property
    def moved(self) -> Array:
        """∂V/∂q of the vectors, (v, d, n_q)."""
        return self.of_vectors(self.nodes)

    def of_vectors(self, nodes: Array) -> Array:
        """Rows (v, d, n_q) of the vectors from rows (k, d, n_q) of the nodes."""
        vectors: Array = self.a.incidence @ nodes.reshape(len(nodes), self.a.dim * self.k.positions)
        return vectors.reshape(-1, self.a.dim, self.k.positions)

    @cached_property
    def product_slope(self) -> Array:
        """∂π/∂q, (p, n_q)."""
        return continuous.product_rows(self.a, self.vector, self.moved)

    @cached_property
    def weights(self) -> Array:
        return continuous.weights(self.f.rows, self.product)

    @cached_property
    def Z(self) -> Array:
        return continuous.rates(self.k, self.rho)

    @cached_property
    def rows(self) -> Array:
        """G over S, (g + springs, n_v)."""
        rows: Array = (self.weights @ self.product_slope) @ self.Z
        return with_spins(self.a, rows, self.R)

    @cached_property
    def rate(self) -> Array:
        """Rates of the spring-dampers."""
        return self.rows[self.f.constraints :] @ self.velocity

    @cached_property
    def resistance(self) -> Array:
        """Their c + ρ(s)/s."""
        return resistances(self.a.springs, self.rate) if self.a.springs.relations else self.a.springs.damping

    @cached_property
    def strain(self) -> Array:
        """D(u)."""
        a = self.a
        return a.strain + a.weights @ ((a.slopes @ self.u)[:, None] * a.slopes)

    @cached_property
    def arms(self) -> Array:
        """R (X + φu) of the nodes, (k, d)."""
        return (self.R[self.a.node_body] @ self.local[:, :, None])[:, :, 0]

    @cached_property
    def sections(self) -> Array:
        """World spins R(ω + ψu̇) of the sections that take torques, (t·s, n_v)."""
        return section_rows(self.a, self.R).toarray()

    # E, J, R, B, z, H

    @cached_property
    def descriptor(self) -> Array:
        E, k = self.f.E.copy(), self.k
        inner = E[self.f.v, self.f.v]
        inner[k.spin[:, :, None], k.spin[:, None, :]] = self.inertia
        _couple(inner, k, self.coupling, 1.0)
        return _frozen(E)

    @cached_property
    def structure(self) -> Array:
        J, f, k, a = self.f.J.copy(), self.f, self.k, self.a
        J[f.q, f.v], J[f.v, f.q] = self.Z, -self.Z.T
        inner = J[f.v, f.v]
        _couple(inner, k, self.coupled, -1.0)
        if f.n:
            inner[-f.n :, -f.n :] = -2.0 * continuous.turns(a, self.spin)
        if a.dim == 3:
            inner[k.spin[:, :, None], k.spin[:, None, :]] = spin_skew(self.momenta[0][a.turning])
        if len(a.slopes):
            J[f.sigma, f.du], J[f.du, f.sigma] = self.strain, -self.strain.T
        springs, joints = self.rows[f.constraints + f.stored], self.rows[: f.constraints]
        J[f.spring, f.v], J[f.v, f.spring] = springs, -springs.T
        J[f.lam, f.v], J[f.v, f.lam] = -joints, joints.T
        return _frozen(J)

    @cached_property
    def dissipation(self) -> Array:
        f, a = self.f, self.a
        if not (a.stress_damping.any() or f.resists):
            return _frozen(f.R)
        R = f.R.copy()
        loss = self.strain.T @ (a.stress_damping[:, None] * (a.stiffness @ self.strain))
        R[f.du, f.du] += 0.5 * (loss + loss.T)
        if f.resists:
            S = np.sqrt(self.resistance)[:, None] * self.rows[f.constraints :]
            R[f.v, f.v] += S.T @ S
        return _frozen(R)

    @cached_property
    def inputs(self) -> Array:
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
        f, s = self.f, self.a.n.shape[0]
        z = self.x.copy()
        z[f.q] = f.z
        # ½ wᵀ(∂M/∂u)w = ½ Σ ω_a (a_k)_a − ½ Σ ω_a N_a u̇
        z[f.u] = 0.5 * np.einsum("na,an->n", self.spin, self.coupled - self.Pdu[1 : 1 + s])
        return _frozen(z)

    @cached_property
    def energy(self) -> float:
        f, a, x = self.f, self.a, self.x
        p_r, p_u = self.momenta
        first, stress = self.velocity[: a.weight.size], x[f.sigma]
        twice = np.repeat(a.mass, a.dim) @ (first * first) + self.du @ p_u + stress @ (a.compliance @ stress)
        twice += p_r[a.turning].ravel() @ self.velocity[self.k.spin.ravel()]
        twice += x[f.spring] @ (x[f.spring] / a.springs.stiffness[f.stored])
        return float(0.5 * twice - a.weight.ravel() @ self.r.ravel())


class _Slopes:
    """Derivatives of z, E w, (J − R)w and B u at a point, at constant w and u."""

    def __init__(self, point: _Point) -> None:
        self.p, self.f, self.k, self.a = point, point.f, point.k, point.a

    def _blank(self) -> Array:
        return np.zeros((self.f.size,) * 2)

    def costate(self) -> Array:
        """∂z/∂x: that of ∂T/∂u = ½ wᵀ(∂M/∂u)w, and ones."""
        f, spin = self.f, self.p.spin
        slope = np.eye(f.size)
        slope[f.q, f.q] = 0.0
        slope[f.u, f.u] = continuous.squares(self.a, spin, spin)
        slope[f.u, f.du] = -continuous.turns(self.a, spin)
        self._add_to_spins(slope[f.u, f.v].T, self.p.coupled)
        return slope

    def descriptor(self, w: Array) -> Array:
        """∂(E w)/∂x: with M(u)w = (J(u)ω + (n + N u)·u̇, ω(n + N u) + M u̇) for the (ω, u̇) of w."""
        f, a, spin = self.f, self.a, self._spin(w)
        slope = self._blank()
        of_spins = continuous.coupled(a, self.p.Pu, inertia_products(a, w[f.du]), spin)
        self._add_to_spins(slope[f.v, f.u], of_spins)
        slope[f.du, f.u] = continuous.turns(a, spin)
        return slope

    def structure(self, w: Array) -> Array:
        """∂((J − R)w)/∂x."""
        f, slope = self.f, self._blank()
        slope[f.q, f.q] = continuous.rates_along(self.k, w[f.v])
        self._add_gyroscopic(slope, w)
        if self.a.dim == 3:
            self._add_spatial(slope, w)
        if len(self.a.slopes):
            self._add_stresses(slope, w)
        self._add_rows(slope, w)
        return slope

    def inputs(self, u: Array) -> Array:
        """∂(B u)/∂x: of node forces Zᵀ(∂x/∂q)ᵀf and section torques."""
        f, k, a, p = self.f, self.k, self.a, self.p
        slope = self._blank()
        if not f.external:
            return slope
        given, nodes = u[: f.external], p.nodes.reshape(-1, k.positions)
        loads = world_loads(a, p.arms, given)
        change = np.zeros((f.external, k.positions))  # of loads that follow their sections
        if a.follow_input.size:
            change[a.follow_input] = np.einsum("fj,fjdq->fdq", given[a.follow_input], p.nodes[a.follow_node])
        force = a.input_node @ loads
        of_gradient = continuous.turned_forces(a, k, force.reshape(-1, a.dim)) + nodes.T @ (a.input_node @ change)
        slope[f.v, f.q] = p.Z.T @ of_gradient + continuous.rates_across(k, nodes.T @ force)
        slope[f.v, f.q] += p.sections.T @ (a.input_torque @ change)
        if a.dim == 3 and a.torque_body.size:
            self._add_torques(slope[f.v, f.q], section_torques(a, loads))
        return slope

    def _spin(self, w: Array) -> Array:
        """The ω of a costate w for each u, (n, s)."""
        return w[self.f.v][self.k.own].T

    def _add_to_spins(self, made: Array, values: Array) -> None:
        """Add values (s, n) of the flexible coordinates to the rows of the spins of their bodies (in place)."""
        for own, row in zip(self.k.own, values, strict=True):
            made[own, np.arange(row.size)] += row

    def _add_gyroscopic(self, made: Array, w: Array) -> None:
        """∂(Γ w)/∂(u, ω, u̇) without [p_r]×: −Σ u̇ a_k on the spins, a_k·ω − 2 ω_aN_a u̇ on the rest, (ω, u̇) of w."""
        f, k, a, p = self.f, self.k, self.a, self.p
        s, spin, Pw = a.n.shape[0], self._spin(w), inertia_products(a, w[f.du])
        N_w, K_w = Pw[1 : 1 + s], Pw[1 + s :].reshape(s, s, -1)
        square = a.s + p.Pu[1 + s :].reshape(s, s, -1)
        made[f.du, f.u] += 2.0 * continuous.squares(a, spin, p.spin)
        made[f.du, f.du] -= continuous.turns(a, spin)
        self._add_to_spins(made[f.v, f.u], -2.0 * np.einsum("abn,nb->an", K_w, p.spin))
        self._add_to_spins(made[f.v, f.du], -N_w)
        self._add_to_spins(made[f.du, f.v].T, 2.0 * np.einsum("abn,na->bn", square, spin) - 2.0 * N_w)
        across = np.moveaxis(body_sum(a, square * w[f.du]), 2, 0)[a.turning]
        made[f.v, f.v][k.spin[:, :, None], k.spin[:, None, :]] -= 2.0 * across

    def _add_spatial(self, made: Array, w: Array) -> None:
        """∂(p_r × ω)/∂(u, ω, u̇) = −[ω]× ∂p_r at the ω of w."""
        f, k, a, p = self.f, self.k, self.a, self.p
        turn = np.zeros((len(a.mass), 3, 3))
        turn[a.turning] = spin_skew(w[f.v][k.spin])
        own = turn[a.body_u]
        made[f.v, f.v][k.spin[:, :, None], k.spin[:, None, :]] -= turn[a.turning] @ p.inertia
        self._add_to_spins(made[f.v, f.u], -np.einsum("nab,bn->an", own, p.coupled))
        self._add_to_spins(made[f.v, f.du], -np.einsum("nab,bn->an", own, p.coupling))

    def _add_stresses(self, made: Array, w: Array) -> None:
        """∂/∂u of D(u)u̇ and of −D(u)ᵀ(σ + βC⁻¹D(u)u̇), (u̇, σ) of w."""
        f, a, strain = self.f, self.a, self.p.strain
        bent = a.weights @ ((a.slopes @ w[f.du])[:, None] * a.slopes)  # ∂(D w)/∂u
        stress = w[f.sigma]
        made[f.sigma, f.u] = bent
        if a.stress_damping.any():
            viscosity = a.stress_damping[:, None] * a.stiffness
            stress = stress + viscosity @ (strain @ w[f.du])
            made[f.du, f.u] -= strain.T @ (viscosity @ bent)
        made[f.du, f.u] -= a.slopes.T @ ((a.weights.T @ stress)[:, None] * a.slopes)

    def _add_rows(self, made: Array, w: Array) -> None:
        """∂/∂q of Zᵀ((∂π/∂q)ᵀAᵀm − w_q), of the rates A π̇ of springs and of −A π̇ of joints, π̇ = ∂π/∂q Z v.

        m are the multipliers λ, and of springs −e − c (rate): what dampers add changes with the rate.
        """
        f, k, p = self.f, self.k, self.p
        A, slope, speed = p.weights, p.product_slope, p.Z @ w[f.v]
        rate = slope @ speed
        of_rate = self._of_product_rates(speed) + slope @ made[f.q, f.q]
        i, j, m, value = continuous.weight_slopes(f.rows, p.product)
        by_row, by_product = np.zeros_like(A), np.zeros((A.shape[1],) * 2)  # ∂A π̇ and ∂Aᵀ m by the products
        np.add.at(by_row, (i, m), rate[j] * value)
        of_rows = A @ of_rate + by_row @ slope
        force = self._row_forces(w, A @ rate)
        np.add.at(by_product, (j, m), force[i] * value)
        dampers = slice(f.constraints, None)
        of_product = by_product @ slope - A[dampers].T @ (p.resistance[:, None] * of_rows[dampers])
        of_gradient = self._curvature(force @ A) + slope.T @ of_product
        gradient = (force @ A) @ slope - w[f.q]
        made[f.v, f.q] += p.Z.T @ of_gradient + continuous.rates_across(k, gradient)
        made[f.spring, f.q] = of_rows[f.constraints + f.stored]
        made[f.lam, f.q] = -of_rows[: f.constraints]
        if self.a.dim == 3 and self.a.rolling.spin_row.size:
            self._add_spins(made, w)
        if self.a.springs.relations:
            self._add_relations(made, w, A @ rate)

    def _add_spins(self, made: Array, w: Array) -> None:
        """Add ∂/∂ρ of Rᵀa λ and of −a·(R ω) of the spins in nonholonomic rows in space (in place)."""
        f, k, t = self.f, self.k, self.a.rolling
        place = np.searchsorted(self.a.turning, t.spin_body)
        moved = np.einsum("eij,mi->mje", k.basis, t.spin_axis)
        lam, spin, entry = w[f.lam][t.spin_row], k.spin[place], k.entry[place]
        np.add.at(made[f.v, f.q], (spin[:, :, None], entry[:, None, :]), lam[:, None, None] * moved)
        on_rows = np.einsum("mje,mj->me", moved, w[f.v][spin])
        np.add.at(made[f.lam, f.q], (t.spin_row[:, None], entry), -on_rows)

    def _add_relations(self, made: Array, w: Array, rate: Array) -> None:
        """−Sᵀ ∂(ρ(s)/s)/∂x S w by the rates s = S v of the state, which change with q and v (in place)."""
        f, k, p, springs = self.f, self.k, self.p, self.a.springs
        own = f.constraints + springs.resisting
        slope = [
            float(r.resistance_slope(s)) for r, s in zip(springs.relations, p.rate[springs.resisting], strict=True)
        ]
        pull = p.rows[own].T * (np.array(slope) * rate[own])
        speed = p.Z @ p.velocity
        i, j, m, value = continuous.weight_slopes(f.rows, p.product)
        by_row = np.zeros_like(p.weights)
        np.add.at(by_row, (i, m), (p.product_slope @ speed)[j] * value)
        of_rate = self._of_product_rates(speed) + p.product_slope @ continuous.rates_along(k, p.velocity)
        made[f.v, f.v] -= pull @ p.rows[own]
        made[f.v, f.q] -= pull @ (p.weights @ of_rate + by_row @ p.product_slope)[own]

    def _row_forces(self, w: Array, rate: Array) -> Array:
        """λ of the constraints, −e − c (rate) of the spring-dampers."""
        f = self.f
        forces = np.concatenate([w[f.lam], -self.p.resistance * rate[f.constraints :]])
        forces[f.constraints + f.stored] -= w[f.spring]
        return forces

    def _of_product_rates(self, speed: Array) -> Array:
        """∂(∂π/∂q q̇)/∂q at constant q̇, (p, n_q): V̇·∂W + V·∂Ẇ and so on."""
        a, k, p = self.a, self.k, self.p
        turning = np.zeros_like(p.R)
        turning[a.turning] = continuous.rotations(k, speed[k.entry])
        local = (a.node_shape @ speed[k.positions - k.flexible :]).reshape(-1, a.dim)
        moved = p.of_vectors(continuous.node_slopes(a, k, turning, local))
        return continuous.product_rows(a, p.moved @ speed, p.moved) + continuous.product_rows(a, p.vector, moved)

    def _curvature(self, on_product: Array) -> Array:
        """∂²(f·π)/∂q² at constant f (p,), (n_q, n_q)."""
        a, p, width = self.a, self.p, self.k.positions
        on_vector = a.select_first.T @ (on_product[:, None] * p.vector[a.second])
        on_vector += a.select_second.T @ (on_product[:, None] * p.vector[a.first])
        curvature = continuous.turned_forces(a, self.k, a.incidence.T @ on_vector)
        first, second = p.moved[a.first].reshape(-1, width), p.moved[a.second].reshape(-1, width)
        swap = first.T @ (np.repeat(on_product, a.dim)[:, None] * second)
        return curvature + swap + swap.T

    def _add_torques(self, made: Array, torque: Array) -> None:
        """Add ∂(Rᵀτ, ψᵀRᵀτ)/∂ρ at constant τ (t, 3) in space (in place)."""
        a, k = self.a, self.k
        place = np.searchsorted(a.turning, a.torque_body)
        turned = np.einsum("eji,tj->tie", k.basis, torque)
        np.add.at(made, (k.spin[place][:, :, None], k.entry[place][:, None, :]), turned)
        shape = a.torque_shape.reshape(len(place), 3, k.flexible)
        np.add.at(made[k.velocities - k.flexible :].T, k.entry[place], np.einsum("tie,tin->ten", turned, shape))


def _couple(inner: Array, k: continuous.Coordinates, values: Array, below: float) -> None:
    """Write values (s, n) to the columns and, below times, to the rows of u̇ (in place)."""
    u = np.arange(k.velocities - k.flexible, k.velocities)
    for own, row in zip(k.own, values, strict=True):
        inner[own, u], inner[u, own] = below * row, row


# --- large mechanisms -------------------------------------------------------------------------------------------------


class _Sparse:
    """Sparse matrix functions of one mechanism; the last state's arrays are kept, since all functions share them."""

    derivatives = None

    def __init__(self, mechanism: Model, anchors: Anchors) -> None:
        self.mechanism, self.layout, self.a = mechanism, mechanism.layout, mechanism.network.arrays
        self.table = TimeTable(mechanism, anchors)
        self.driven, self.ports = _ports(mechanism)
        self._at: Callable[[bytes], tuple[Configuration, Derived]] = lru_cache(maxsize=1)(self._evaluate)

    def _evaluate(self, key: bytes) -> tuple[Configuration, Derived]:
        c = configuration(self.mechanism, np.frombuffer(key))
        return c, derive(self.a, c)

    def at(self, x: Array) -> tuple[Configuration, Derived]:
        return self._at(np.ascontiguousarray(x[: self.layout.size]).tobytes())

    @property
    def stored(self) -> Array:
        return self.a.springs.state >= 0

    def descriptor(self, x: Array) -> Any:
        c, _ = self.at(x)
        return sparse.block_diag(
            [
                sparse.eye_array(sum(self.layout.position_sizes)),
                continuous.mass_matrix(self.a, c.u),
                sparse.csr_array(self.a.compliance),
                sparse.diags_array(1.0 / self.a.springs.stiffness[self.stored]),
                sparse.csr_array((self.layout.multipliers,) * 2),
            ]
        ).tocsr()

    def structure(self, x: Array) -> Any:
        c, d = self.at(x)
        rigid = self.layout.velocities - self.layout.flexible
        D = sparse.hstack([sparse.csr_array((self.layout.stresses, rigid)), continuous.strain_operator(self.a, c.u)])
        upper = sparse.vstack(
            [
                -D,
                -continuous.spring_operator(self.a, c, d)[np.flatnonzero(self.stored)],
                self.constraints(x),
            ]
        )
        kinematics = self.kinematics(c)
        gamma = continuous.structure(self.a, c)
        return sparse.block_array(
            [[None, kinematics, None], [-kinematics.T, gamma, upper.T], [None, -upper, None]]
        ).tocsr()

    def kinematics(self, c: Configuration) -> Any:
        """Z(q): ṙ, the kept entries of R[ω]×, u̇."""
        dim, turning = self.layout.dim, self.a.turning
        spin = [entries(c.R[b] @ cross(dim)).T for b in turning]
        return sparse.block_diag(
            [
                sparse.eye_array(dim * self.layout.bodies),
                sparse.block_diag([sparse.csr_array((0, 0)), *spin]),
                sparse.eye_array(self.layout.flexible),
            ]
        ).tocsr()

    def constraints(self, x: Array) -> Any:
        """G(q); drives take their coefficients from the present pose."""
        c, d = self.at(x)
        return sparse.csr_array(constraint_matrix(self.a, c.R, self._coefficients(d), arm=d.arm, vector=d.vector))

    def _coefficients(self, d: Derived) -> Array:
        values = self.table.anchors.rows.copy()
        m = self.mechanism
        for law, of_law, own in zip(laws(m), law_products(m), law_values(m), strict=True):
            if callable(law.value):
                values[own] = law.measure(d.product[of_law])
        return self.table.evaluate(values)[0]

    def dissipation(self, x: Array) -> Any:
        c, d = self.at(x)
        before, n = sum(self.layout.position_sizes), len(x)
        after = n - before - self.layout.velocities
        blocks = [
            sparse.csr_array((before,) * 2),
            continuous.damping_matrix(self.a, c, d),
            sparse.csr_array((after,) * 2),
        ]
        R = sparse.block_diag(blocks).tocsr()
        return 0.5 * (R + R.T)

    def inputs(self, x: Array) -> Any:
        c, d = self.at(x)
        force = continuous.input_matrix(self.a, c, d)
        before = sum(self.layout.position_sizes)
        middle = self.layout.stresses + self.layout.springs
        rates = sparse.csr_array(
            (np.ones(len(self.driven)), (self.driven, np.arange(len(self.driven)))),
            shape=(self.layout.multipliers, len(self.driven)),
        )
        left = sparse.vstack([sparse.csr_array((before, force.shape[1])), force])
        return sparse.block_array(
            [
                [left, None],
                [sparse.csr_array((middle, force.shape[1])), None],
                [None, rates],
            ]
        ).tocsr()

    def costate(self, x: Array) -> Array:
        c, _ = self.at(x)
        turned = np.zeros(entry_count(self.layout.dim) * self.a.turning.size)
        gradient = [-self.a.weight.ravel(), turned, continuous.kinetic_gradient(self.a, c)]
        return np.concatenate([*gradient, x[sum(self.layout.position_sizes) :]])

    def energy(self, x: Array) -> float:
        return float(sum(np.sum(part) for part in energies(self.a, *self.at(x)).values()))
