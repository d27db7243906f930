"""Matrix functions of a floating body about its point P, in the plane and in space ([flex] sec. 3-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array, dense
from ...numerics.memo import Memo, once
from ...numerics.rotations import cross, entries, entry_count, from_entries, skew, spins
from ..body import Body, LoadPort
from ..inertia import Contractions, contract

DENSE_LIMIT = 30_000
"""Number of entries up to which forms are dense: a dense product is then faster than a sparse one (5 to 10 µs)."""


def stacked(forms: Sequence[Any]) -> Any:
    """Stack matrices on top of each other; the result is dense if it is small, else sparse."""
    whole = sparse.csr_array(sparse.vstack([_rows(form) for form in forms]))
    return whole.toarray() if np.prod(whole.shape) <= DENSE_LIMIT else whole


def _rows(form: Any) -> Any:
    """Convert a matrix to the CSR format; it may be bordered (see :mod:`flexph.bodies.mean_axes`)."""
    return sparse.csr_array(form if isinstance(form, np.ndarray) or sparse.issparse(form) else form.toarray())


class FormStack:
    """Stack of matrices F_a (m, n), a = 1 … s, that is stored dense or sparse by its size."""

    def __init__(self, forms: Sequence[Any], columns: int) -> None:
        self._forms = [_rows(form) for form in forms]
        self.shape = (len(self._forms), self._forms[0].shape[0], columns)
        self._whole = stacked(forms)
        self._dense = None if sparse.issparse(self._whole) else self._whole.reshape(self.shape)

    def times(self, u: Array) -> Array:
        """Products F_a u, (s, m)."""
        image: Array = self._whole.dot(u).reshape(self.shape[:2])
        return image

    def weighted(self, weights: Array) -> Array:
        """Sum Σ_a weights_a F_a, (m, n)."""
        if self._dense is not None:
            flat = self._dense.reshape(len(weights), self.shape[1] * self.shape[2])
            return weights.dot(flat).reshape(self.shape[1:])
        total = sum(weight * form for weight, form in zip(weights.tolist(), self._forms, strict=True))
        return np.asarray(total.toarray())

    def transposed(self, w: Array) -> Array:
        """Products F_aᵀ w, (s, n)."""
        return np.array([form.T @ w for form in self._forms]) if self._dense is None else w @ self._dense


LATEST = 3
"""Number of cached states: E, J, B, z and derivatives are evaluated at the same states in turn."""


class State:
    """Parts of a state x of a floating body: r_P (d,), R (d, d), u (n,), v_P (d,), ω (s,), u̇ (n,), σ (m,).

    It also has quantities that are computed from these parts: the results of :meth:`FloatingBlocks.moments` and
    :meth:`FloatingBlocks.by_deformation`, and the mass matrix M(u).
    """

    def __init__(self, blocks: FloatingBlocks, x: Array) -> None:
        at = blocks.at
        self.x, self.w = x, x[at["w"]]  # velocities (v_P, ω, u̇)
        self.r, self.u, self.v, self.omega = x[at["r"]], x[at["u"]], x[at["v"]], x[at["omega"]]
        self.du, self.sigma, self.R = x[at["du"]], x[at["sigma"]], from_entries(x[at["R"]], blocks.d)
        self.levers, self.widening, self.first_moment = blocks.moments(self.u)
        self.mass = blocks.mass(self)
        self.by_deformation = blocks.by_deformation(self, self.w)


class FloatingBlocks(Memo):
    """Functions of the state of a floating body: matrices E, J, R, B, costate z and energy H.

    There are d dimensions, s spins, n flexible coordinates and m stresses. The mass integrals about P are contracted
    with ``cross(d)``, so that plane and space share the code. Velocities are in the order (v_P, ω, u̇). ``edges`` are
    the first indices of the seven parts of the state (see :class:`State`), then its size. ``at`` are the slices of the
    parts by name, with "q" for the first three parts and "w" for the velocities. Matrices that are returned are
    read-only.
    """

    def __init__(self, body: Body, gravity: Array, form: str, loads: tuple[LoadPort, ...] = ()) -> None:
        self.body, self.gravity, self.form, self.loads = body, gravity, form, loads
        self.d, self.n, self.basis = body.dim, body.size, cross(body.dim)
        self.spins = spins(self.d)
        self.rigid = self.d + self.spins
        self.of: Contractions = contract(body.inertia, about_centre=False)
        self.full = body.momenta == "full"
        k = entry_count(self.d)
        self.edges = np.cumsum([0, self.d, k, self.n, self.d, self.spins, self.n, body.stress_size])
        self.size = int(self.edges[-1])
        spans = [slice(int(a), int(b)) for a, b in zip(self.edges[:-1], self.edges[1:], strict=True)]
        self.at = dict(zip(("r", "R", "u", "v", "omega", "du", "sigma"), spans, strict=True))
        self.at |= {"q": slice(0, spans[2].stop), "w": slice(spans[3].start, spans[5].stop)}
        self.units = from_entries(np.eye(k), self.d)  # R = Σ_e (stored entry e) units[e]

    def read(self, x: Array) -> State:
        """Parts of the state ``x``; the latest states are cached."""
        return self._latest(np.ascontiguousarray(x, dtype=float).tobytes())

    @once
    def _latest(self) -> Callable[[bytes], State]:
        return lru_cache(maxsize=LATEST)(lambda key: State(self, np.frombuffer(key)))

    @once
    def turns(self) -> FormStack:
        """Matrices N_a of the :class:`Contractions` for the spin axes a = 1 … s, as a stack."""
        return FormStack(self.of.N, self.n)

    @once
    def squares(self) -> FormStack:
        """Matrices K_ab of the :class:`Contractions` for the spin axes a, b = 1 … s, row by row as a stack."""
        return FormStack([K for row in self.of.K for K in row], self.n)

    @once
    def shape_turns(self) -> Array:
        """Cross products e_a × ∫ρφ_k of the spin axes e_a with the first moments of the shapes φ_k, (s, d, n)."""
        return self.basis @ self.body.inertia.shape_first

    def turning(self, field: Array) -> Array:
        """Matrix (d, s) of the map from ω to ω × field, for a vector ``field`` (d,)."""
        return self.basis.dot(field).T

    def bracket(self, spin: Array) -> Array:
        """Matrix [p]× (s, s) of an angular momentum p, ``spin`` (s,); zero in the plane, where spins commute."""
        return np.zeros((1, 1)) if self.d == 2 else skew(spin, 3)

    # --- mass and momenta

    def moments(self, u: Array) -> tuple[Array, Array, Array]:
        """Moments of the mass at the deformation u: levers (s, n), widening (s, s, n), and first moment (d,).

        The levers are ``∫ρ(X + φu) × φ`` with the inertia of sections, n_a + N_a u. The widening is ``½ ∂J(u)_ab/∂u =
        s_ab + K_ab u`` with the rotational inertia J. The first moment is ``s_u = ∫ρ(X + φu)``.
        """
        at_rest, forms = self._of_moments
        flat, n, s = at_rest + forms.dot(u), self.n, self.spins
        return flat[: s * n].reshape(s, n), flat[s * n : -self.d].reshape(s, s, n), flat[-self.d :]

    @once
    def _of_moments(self) -> tuple[Array, Any]:
        """Moments at u = 0, concatenated, and the matrix of their derivatives with respect to u."""
        inertia = self.body.inertia
        at_rest = np.concatenate([self.of.n.ravel(), self.of.s.ravel(), inertia.first])
        forms = [*self.of.N, *(K for row in self.of.K for K in row), inertia.shape_first]
        return at_rest, stacked(forms)

    @once
    def mass_at_rest(self) -> Array:
        """Mass matrix M(0), eq. (33)."""
        d, r, first = self.d, self.rigid, self.body.inertia.shape_first
        M = np.zeros((r + self.n, r + self.n))
        M[:d, :d] = self.body.mass * np.eye(d)
        M[:d, d:r] = self.turning(self.body.inertia.first)
        M[d:r, :d] = M[:d, d:r].T
        M[d:r, d:r] = self.of.J
        M[:d, r:], M[r:, :d] = first, first.T
        M[d:r, r:], M[r:, d:r] = self.of.n, self.of.n.T
        M[r:, r:] = self.of.M.toarray()
        return _fixed(M)

    def mass(self, q: State) -> Array:
        """Mass matrix M(u) of (v_P, ω, u̇), eq. (10), (33)."""
        if not self.full:
            return self.mass_at_rest
        d, r, M = self.d, self.rigid, self.mass_at_rest.copy()
        M[:d, d:r] = self.turning(q.first_moment)
        M[d:r, :d] = M[:d, d:r].T
        M[d:r, d:r] += (self.of.s + q.widening).dot(q.u)
        M[d:r, r:] = q.levers
        M[r:, d:r] = q.levers.T
        return _fixed(M)

    def by_deformation(self, q: State, w: Array) -> tuple[Array, Array, Array]:
        """Three parts (s, n) of the rows of ω in ∂(M(u) w)/∂u, for velocities w = (v_P, ω, u̇).

        They are the term from v_P, ``v·cross_a ∫ρφ``, half of the term from ω, ``ω_b (s_ab + K_ab u)``, and minus the
        term from u̇, ``N_a u̇``.
        """
        v, omega, du = w[: self.d], w[self.d : self.rigid], w[self.rigid :]
        return v.dot(self.shape_turns), omega.dot(q.widening), self.turns.times(du)

    # --- E, J, R, B

    @once
    def _constant_descriptor(self) -> Array:
        """Descriptor matrix E with zeros in place of M(u)."""
        E = np.zeros((self.size, self.size))
        E[self.at["q"], self.at["q"]] = np.eye(self.at["q"].stop)
        E[self.at["sigma"], self.at["sigma"]] = self._compliance
        return E

    def descriptor(self, x: Array) -> Array:
        """Descriptor matrix E = diag(1, M(u), C)."""
        E = self._constant_descriptor.copy()
        E[self.at["w"], self.at["w"]] = self.read(x).mass
        return _fixed(E)

    @once
    def _constant_structure(self) -> Array:
        """Structure matrix J with zeros in its blocks that depend on the state, and with D(u) at u = 0."""
        at, J, D = self.at, np.zeros((self.size, self.size)), self.strain_at_rest
        J[at["u"], at["du"]] = np.eye(self.n)
        J[at["du"], at["u"]] = -np.eye(self.n)
        J[at["sigma"], at["du"]], J[at["du"], at["sigma"]] = D, -D.T
        return J

    def structure(self, x: Array) -> Array:
        """Structure matrix J of eq. (12), with blocks of kinematics Z, of momenta Γ, and of strain rates D(u)."""
        q, at, J = self.read(x), self.at, self._constant_structure.copy()
        turned = entries(q.R @ self.basis)
        J[at["r"], at["v"]], J[at["v"], at["r"]] = q.R, -q.R.T
        J[at["R"], at["omega"]], J[at["omega"], at["R"]] = turned.T, -turned
        upper = self.doubled(q) if self.form == "paper" else self.canonical(q)
        J[at["w"], at["w"]] = upper - upper.T
        if self.is_bent:
            strain = self.strain(q.u)
            J[at["sigma"], at["du"]], J[at["du"], at["sigma"]] = strain, -strain.T
        return _fixed(J)

    def newton_euler(self, p_t: Array, p_r: Array) -> Array:
        """Upper part U of the rigid block of Γ, which is U − Uᵀ (remark 3), over (v_P, ω, u̇).

        The block is −[[0, [p_t]×], [[p_t]×, [p_r]×]] with the momenta p_t (d,) and p_r (s,); other entries are zero.
        """
        d, r = self.d, self.rigid
        upper = np.zeros((r + self.n, r + self.n))
        upper[:d, d:r] = -self.turning(p_t)
        if d == 3:
            upper[d:r, d:r] = 0.5 * self.bracket(p_r)
        return upper

    def doubled(self, q: State) -> Array:
        """Upper part U of Γ = U − Uᵀ in the form of [flex], eq. (13)-(14), (34), at the state ``q``.

        It has the doubled momenta p̃_t and p̃_r of :func:`floating_body`, and the coupling of ω with u̇.
        """
        d, r, first = self.d, self.rigid, self.body.inertia.shape_first
        p = q.mass[:r].dot(q.w)
        if not self.full:
            return self.newton_euler(p[:d], p[d:])
        upper = self.newton_euler(p[:d] + first.dot(q.du), p[d:] + q.levers.dot(q.du))
        from_p, from_spin, from_flexing = q.by_deformation
        # (ω × x) × φ is −from_spin and, by Jacobi's identity, ½ ω × (x × φ), which vanishes in the plane
        upper[d:r, r:] = 3.0 * from_flexing - 2.0 * (from_p + from_spin)
        if d == 3:
            upper[d:r, r:] += self.bracket(q.omega) @ q.levers
        return upper

    def canonical(self, q: State) -> Array:
        """Upper part U of Γ = U − Uᵀ in canonical form, at the state ``q``.

        It has [p_t]×, [p_r]×, and Σ_k (e_k a_kᵀ − a_k e_kᵀ) with a_k = (∂M/∂u_k)(v_P, ω, u̇).
        """
        d, r = self.d, self.rigid
        p = q.mass[:r].dot(q.w)
        upper = self.newton_euler(p[:d], p[d:])
        if self.full:
            from_p, from_spin, from_flexing = q.by_deformation
            upper[:d, r:] = -skew(q.omega, d) @ self.body.inertia.shape_first
            upper[d:r, r:] = from_flexing - from_p - 2.0 * from_spin
            upper[r:, r:] = -self.turns.weighted(q.omega)
        return upper

    @once
    def is_bent(self) -> bool:
        """True if the strain operator D depends on u."""
        return self.body.elasticity is not None and bool(self.body.elasticity.slopes.shape[0])

    @once
    def bends(self) -> tuple[Array, Array]:
        """Slopes (g, n) and weights (m, g) of the quadratic strains of the body, dense."""
        elastic = self.body.elasticity
        assert elastic is not None
        return dense(elastic.slopes), dense(elastic.weights)

    @once
    def strain_at_rest(self) -> Array:
        """Strain operator D₀ at u = 0, dense (m, n)."""
        elastic = self.body.elasticity
        return np.zeros((0, self.n)) if elastic is None else dense(elastic.strain)

    def strain(self, u: Array) -> Array:
        """Strain operator D(u), dense (m, n)."""
        elastic = self.body.elasticity
        if elastic is None or not self.is_bent:
            return self.strain_at_rest
        slopes, weights = self.bends
        if slopes.size + weights.size > DENSE_LIMIT:
            return dense(elastic.operator(u))
        return self.strain_at_rest + (weights * slopes.dot(u)).dot(slopes)

    @property
    def damps_alike(self) -> bool:
        """True if the dissipation matrix R does not depend on u."""
        elastic = self.body.elasticity
        return elastic is None or not elastic.stiffness_damping or not self.is_bent

    def dissipation(self, x: Array) -> Array:
        """Dissipation matrix R, with the damping of the body on u̇."""
        R = np.zeros((self.size, self.size))
        if self.body.elasticity is not None:
            R[self.at["du"], self.at["du"]] = self._damping(self.read(x).u)
        return R

    def _damping(self, u: Array) -> Array:
        """Damping matrix over u̇ at the deformation u, dense (n, n)."""
        elastic = self.body.elasticity
        assert elastic is not None
        if elastic.size**2 + elastic.size * self.n > DENSE_LIMIT:
            return elastic.damping(self.of.M, u).toarray()
        constant, stiffness = self._damping_terms
        if stiffness is None:
            return constant
        D = self.strain(u)
        damping = constant + D.T @ (stiffness @ D)
        return 0.5 * (damping + damping.T)

    @once
    def _damping_terms(self) -> tuple[Array, Array | None]:
        """Constant part of the damping matrix (n, n), and damping βC⁻¹ (m, m) of strains or None if β = 0; dense."""
        elastic = self.body.elasticity
        assert elastic is not None
        constant, beta = dense(elastic.constant_damping(self.of.M)), elastic.stiffness_damping
        constant = 0.5 * (constant + constant.T)
        return constant, beta * dense(elastic.stiffness_of_stress) if beta else None

    def inputs(self, x: Array) -> Array:
        """Input matrix B = [B_∂, B_d] at the state x.

        The columns are those of forces and torques at ports, eq. (35), then those of distributed forces, eq. (15),
        (30).
        """
        B = self.inputs_at_rest.copy()
        B[self.at["omega"]] += self.moving_levers.times(x[self.at["u"]])
        return _fixed(B)

    @once
    def inputs_at_rest(self) -> Array:
        """Input matrix B at u = 0."""
        d, r, ports = self.d, self.rigid, self.body.ports.values()
        columns = []
        for port in ports:
            rows = np.zeros((r, r + self.n))
            rows[:, :r] = np.eye(r)
            rows[:d, d:r] = self.turning(port.position)  # τ_CP
            rows[:d, r:] = port.shape.toarray()
            if port.rotation is not None:
                rows[d:, r:] = port.rotation.toarray()
            columns.append(rows)
        columns += [self.distributed(load) for load in self.loads]
        B = np.zeros((self.size, sum(len(rows) for rows in columns)))
        B[self.at["w"]] = np.vstack([np.zeros((0, r + self.n)), *columns]).T
        return B

    @once
    def moving_levers(self) -> FormStack:
        """Derivatives of the rows of ω in the input matrix B with respect to u.

        They are s matrices (m, n), one for each spin axis, with a row for each of the m inputs.
        """
        forms = []
        for unit in self.basis:
            rows = [sparse.csr_array((0, self.n))]
            for port in self.body.ports.values():
                rows += [sparse.csr_array(unit) @ port.shape, sparse.csr_array((self.spins, self.n))]
            for load in self.loads:
                each = sparse.kron(sparse.diags_array(load.measures), unit)
                rows.append(each @ load.shapes)
            forms.append(sparse.csr_array(sparse.vstack(rows)))
        return FormStack(forms, self.n)

    def distributed(self, load: LoadPort) -> Array:
        """Transposed columns of the input matrix B for a load port, B_dᵀ at u = 0, (k·d, d + s + n).

        The force density is constant on each of k elements. ``∫ [1, [X + φu]×ᵀ, φ]`` over an element is its measure
        times the mean velocity per unit of (v_P, ω, u̇). The means of lever and shape are exact, as the density is
        constant.
        """
        turning = np.einsum("aij,kj->kia", self.basis, load.positions).reshape(-1, self.spins)
        means = np.hstack([np.tile(np.eye(self.d), (len(load.positions), 1)), turning, load.shapes.toarray()])
        return np.repeat(load.measures, self.d)[:, None] * means

    # --- H and z

    @once
    def _compliance(self) -> Array:
        """Compliance C, dense (m, m)."""
        elastic = self.body.elasticity
        return np.zeros((0, 0)) if elastic is None else dense(elastic.compliance)

    @once
    def turned_weight(self) -> Array:
        """Matrix (k, d) from the first moment ∫ρ(X + φu) to the derivatives of H by the k stored entries of R.

        Its rows are −g·units[e], with units[e] the derivative of R with respect to stored entry e.
        """
        return -(self.gravity @ self.units)

    def costate(self, x: Array) -> Array:
        """Costate z = (∂_r H, ∂_R H, ∂_u H, v_P, ω, u̇, σ)."""
        q, g, at, inertia = self.read(x), self.gravity, self.at, self.body.inertia
        z = q.x.copy()
        z[at["r"]] = -inertia.mass * g
        z[at["R"]] = self.turned_weight.dot(q.first_moment)
        z[at["u"]] = -g.dot(q.R).dot(inertia.shape_first)
        if self.full:
            from_p, from_spin, from_flexing = q.by_deformation
            z[at["u"]] += q.omega.dot(from_p + from_spin - from_flexing)  # ∂T/∂u, [p_f]× ω of sec. 3.1
        return _fixed(z)

    def energy(self, x: Array) -> float:
        """Energy H [J] = ½ wᵀM(u)w − m g·(r_P + R s_u/m) + ½ σᵀCσ with w = (v_P, ω, u̇), at the state x."""
        at = self.at
        u, v, omega, w, sigma = x[at["u"]], x[at["v"]], x[at["omega"]], x[at["w"]], x[at["sigma"]]
        levers, widening, first = self.moments(u)
        doubled = w.dot(self.mass_at_rest.dot(w)) + sigma.dot(self._compliance.dot(sigma))
        if self.full:
            wide = (self.of.s + widening).dot(u).dot(omega)
            moved = self.basis.dot(first - self.body.inertia.first).dot(v)
            doubled += omega.dot(2.0 * (moved + (levers - self.of.n).dot(x[at["du"]])) + wide)
        turned = from_entries(x[at["R"]], self.d).dot(first)
        return float(0.5 * doubled - self.gravity.dot(self.body.inertia.mass * x[at["r"]] + turned))


def _fixed(matrix: Array) -> Array:
    """Make an array read-only in place, and return it."""
    matrix.setflags(write=False)
    return matrix
