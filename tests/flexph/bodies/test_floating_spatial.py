"""Spatial floating bodies in the coordinates of [flex], against sums over material points."""

import numpy as np
import pytest
from covering import covering
from scipy import sparse
from spatial_bodies import point_inertia

import fem
import rigid
from flexph import Body
from flexph.bodies import Elasticity, Inertia, Port, floating_body
from flexph.bodies.inertia import contract
from flexph.numerics.rotations import cross, spins

FLEXIBLE, STRESSES, POINTS = 4, 5, 7
GRAVITY = (1.0, -0.7, -9.81)
both_forms = pytest.mark.parametrize("form", ["paper", "canonical"])
both_momenta = pytest.mark.parametrize("momenta", ["full", "constant"])
both_kinds = pytest.mark.parametrize("kind", ["flexible", "rigid"])
random_states = pytest.mark.parametrize("seed", range(3))
ROUND_OFF = {"rtol": 0.0, "atol": 1e-12}  # sums of about a hundred products of order one to ten


class Points:
    """Masses m_i at X_i that move by φ_i u, and sections with inertia I_i that turn by ψ_i u, all at random."""

    def __init__(self, dim=3, flexible=FLEXIBLE, seed=0, sections=True):
        rng = np.random.default_rng(seed)
        self.dim, self.n, s = dim, flexible, spins(dim)
        self.mass, self.X = rng.uniform(0.2, 1.0, POINTS), rng.standard_normal((POINTS, dim))
        self.phi = rng.standard_normal((POINTS, dim, flexible))
        self.psi, root = rng.standard_normal((2, s, flexible)), rng.standard_normal((2, s, s))
        self.section = root @ np.swapaxes(root, 1, 2) * sections

    def inertia(self):
        return point_inertia(self.mass, self.X, self.phi, self.section, self.psi)

    def body(self, momenta="full", seed=1):
        rng, n = np.random.default_rng(seed), self.n
        root, loss = rng.standard_normal((STRESSES, STRESSES)), rng.standard_normal((n, 2))
        elastic = Elasticity(
            compliance=sparse.csr_array(root @ root.T + np.eye(STRESSES)),
            strain=sparse.csr_array(rng.standard_normal((STRESSES, n))),
            slopes=sparse.csr_array(rng.standard_normal((3, n))),
            weights=sparse.csr_array(rng.standard_normal((STRESSES, 3))),
            mass_damping=0.1,
            stiffness_damping=0.02,
            viscous=loss @ loss.T,
        )
        place = lambda i: Port(self.X[i], sparse.csr_array(self.phi[i]), sparse.csr_array(self.psi[i]))  # noqa: E731
        return Body(self.inertia(), {"a": place(0), "b": place(1)}, elastic if n else None, momenta=momenta)

    def motion(self, q):
        """Levers ℓ = X + φu, velocities v + ω × ℓ + φu̇ (p, d), spins of the sections ω + ψu̇, in body axes."""
        lever = self.X + self.phi @ q["deformation"]
        turning = np.einsum("aij,a->ij", cross(self.dim), q["spin"])
        velocity = q["velocity"] + lever @ turning.T + self.phi @ q["deformation_rate"]
        return lever, velocity, q["spin"] + self.psi @ q["deformation_rate"]


def random_rotation(rng):
    q, r = np.linalg.qr(rng.standard_normal((3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def random_state(system, seed, scale=0.4):
    rng = np.random.default_rng(seed)
    x = scale * rng.standard_normal(system.size)
    x[system.parts["rotation"]] = random_rotation(rng).ravel()
    return x


def parts(system, x):
    return {name: x[s] for name, s in system.parts.items()}


def solid(kind="flexible", momenta="full"):
    if kind == "flexible":
        return Points().body(momenta)
    return rigid.body(2.0, inertia=[0.3, 0.5, 0.6], centre=(0.4, -0.1, 0.2), ports={"a": (1, 2, 3), "b": (-1, 0, 1)})


def line_derivative(function, x, direction):
    """d/dε function(x + ε direction): five points, exact for polynomials of degree four at any step."""
    at = lambda k: function(x + 0.5 * k * direction)  # noqa: E731
    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / 6.0


# --- conditions of a port-Hamiltonian system


@covering("form, momenta, kind, seed", ("paper", "canonical"), ("full", "constant"), ("flexible", "rigid"), range(3))
def test_conditions_hold_at_random_states(kind, momenta, form, seed):
    """J = −Jᵀ, R = Rᵀ ⪰ 0, Eᵀz = ∇H; H is a polynomial of degree four, so that its differences are exact."""
    system = floating_body(solid(kind, momenta), gravity=GRAVITY, form=form)
    x = random_state(system, seed)
    system.check(x)
    J, R = system.J(x), system.R(x)
    assert np.abs(J + J.T).max() <= 1e-15 * np.abs(J).max()
    np.testing.assert_array_equal(R, R.T)
    assert np.linalg.eigvalsh(R).min() > -1e-14 * (1.0 + np.abs(R).max())
    gradient = [line_derivative(system.H, x, direction) for direction in np.eye(system.size)]
    # H is of order 100 here, its round-off 1e-14, and five differences of it are divided by one
    np.testing.assert_allclose(system.E(x).T @ system.z(x), gradient, atol=1e-12 * (1.0 + np.abs(gradient).max()))


@covering("form, momenta, kind, seed", ("paper", "canonical"), ("full", "constant"), ("flexible", "rigid"), range(3))
def test_power_balance_along_the_vector_field(kind, momenta, form, seed):
    """dH/dt = yᵀu − zᵀR z with E ẋ = (J − R) z + B u and H differentiated along ẋ."""
    system = floating_body(solid(kind, momenta), gravity=GRAVITY, form=form)
    x = random_state(system, seed)
    inputs = np.random.default_rng(seed + 50).standard_normal(12)
    z, B = system.z(x), system.B(x)
    rate = np.linalg.solve(system.E(x), (system.J(x) - system.R(x)) @ z + B @ inputs)
    scale = 1.0 / np.linalg.norm(rate)  # moves of order one: larger ones would cost digits of H
    change = line_derivative(system.H, x, scale * rate) / scale
    supplied = (B.T @ z) @ inputs - z @ system.R(x) @ z
    assert change == pytest.approx(supplied, rel=1e-10, abs=1e-10 / scale)
    assert (z @ system.R(x) @ z > 0.0) == (kind != "rigid")


@both_momenta
@both_kinds
@random_states
def test_both_forms_have_the_same_action(kind, momenta, seed):
    """J is not unique, J z is: doubled momenta of [flex] eq. (13)-(14) or Σ(e aᵀ − a eᵀ)."""
    paper, canonical = (floating_body(solid(kind, momenta), gravity=GRAVITY, form=f) for f in ("paper", "canonical"))
    x = random_state(paper, seed)
    np.testing.assert_allclose(paper.J(x) @ paper.z(x), canonical.J(x) @ canonical.z(x), **ROUND_OFF)
    if kind == "flexible" and momenta == "full":
        assert np.abs(paper.J(x) - canonical.J(x)).max() > 1e-2


@random_states
def test_paper_form_has_the_doubled_momenta_of_the_points(seed):
    """p̃_t, p̃_r and ∫(2p_f + ρv_f) × φ of eq. (13)-(14), summed over the points."""
    made = Points(sections=False)
    system = floating_body(made.body(), form="paper")
    x = random_state(system, seed)
    q, m = parts(system, x), made.mass
    lever, velocity, _ = made.motion(q)
    flexing = made.phi @ q["deformation_rate"]
    tilde_t = m @ (velocity + flexing)
    tilde_r = m @ np.cross(lever, velocity + flexing)
    coupling = np.einsum("p,pak->ak", m, np.cross((2.0 * velocity + flexing)[:, :, None], made.phi, axis=1))
    J = system.J(x)
    rows = {k: system.parts[k] for k in ("velocity", "spin", "deformation_rate")}
    np.testing.assert_allclose(J[rows["velocity"], rows["spin"]] @ [1, 2, 3], np.cross(tilde_t, [1, 2, 3]), **ROUND_OFF)
    np.testing.assert_allclose(J[rows["spin"], rows["velocity"]] @ [1, 2, 3], np.cross(tilde_t, [1, 2, 3]), **ROUND_OFF)
    np.testing.assert_allclose(J[rows["spin"], rows["spin"]] @ [1, 2, 3], np.cross(tilde_r, [1, 2, 3]), **ROUND_OFF)
    np.testing.assert_allclose(J[rows["spin"], rows["deformation_rate"]], coupling, **ROUND_OFF)
    assert not J[rows["velocity"], rows["deformation_rate"]].any()
    assert not J[rows["deformation_rate"], rows["deformation_rate"]].any()


@both_forms
def test_constant_momenta_do_not_see_the_deformation(form):
    """[flex] sec. 4.3: M(u) = M(0), [p_t]× and [p_r]× alone, no coupling with u̇."""
    system = floating_body(solid(momenta="constant"), form=form)
    x = random_state(system, 0)
    np.testing.assert_array_equal(system.E(x), system.E(system.sample))
    v, spin, rate = (system.parts[k] for k in ("velocity", "spin", "deformation_rate"))
    moving = slice(v.start, rate.stop)
    p = (system.E(x)[moving, moving] @ x[moving])[:6]
    J = system.J(x)
    np.testing.assert_allclose(J[spin, spin] @ [1, 2, 3], np.cross(p[3:], [1, 2, 3]), **ROUND_OFF)
    np.testing.assert_allclose(J[v, spin] @ [1, 2, 3], np.cross(p[:3], [1, 2, 3]), **ROUND_OFF)
    assert not J[v.start : rate.stop, rate].any()
    assert not system.z(x)[system.parts["deformation"]].any()


# --- independent routes


@random_states
def test_energy_is_that_of_the_points(seed):
    """T = ½Σm|v_P + ω × ℓ + φu̇|² + ½Σ(ω + ψu̇)ᵀI(ω + ψu̇), V = −Σm g·(r_P + R ℓ), elastic ½σᵀCσ."""
    made = Points()
    body = made.body()
    system = floating_body(body, gravity=GRAVITY)
    x = random_state(system, seed)
    q = parts(system, x)
    lever, velocity, turning = made.motion(q)
    kinetic = 0.5 * made.mass @ np.sum(velocity**2, axis=1)
    kinetic += 0.5 * np.einsum("pa,pab,pb->", turning, made.section, turning)
    moving = slice(system.parts["velocity"].start, system.parts["deformation_rate"].stop)
    w = x[moving]
    assert 0.5 * w @ system.E(x)[moving, moving] @ w == pytest.approx(kinetic, rel=1e-13)
    place = q["position"] + lever @ q["rotation"].reshape(3, 3).T
    elastic = 0.5 * q["stress"] @ (body.elasticity.compliance @ q["stress"])
    assert system.H(x) == pytest.approx(kinetic + elastic - made.mass @ place @ GRAVITY, rel=1e-13)


@both_forms
@random_states
def test_equations_are_those_of_the_points(form, seed):
    """Weak form of [flex] eq. (1)-(3): E ẇ − J z = ΣmNᵀa + (0, 0, Dᵀσ) with the acceleration of a moving frame,

    a = v̇_P + ω × v_P + ω̇ × ℓ + ω × (ω × ℓ) + 2ω × φu̇ + φü.
    """
    made = Points(sections=False)
    body = made.body()
    system = floating_body(body, form=form)
    x = random_state(system, seed)
    q, rate = parts(system, x), np.random.default_rng(seed + 9).standard_normal(6 + FLEXIBLE)
    lever, _, _ = made.motion(q)
    omega, flexing = q["spin"], made.phi @ q["deformation_rate"]
    N = np.concatenate(
        [np.broadcast_to(np.eye(3), (POINTS, 3, 3)), np.einsum("aij,pj->pia", cross(3), lever), made.phi], 2
    )
    acceleration = N @ rate + np.cross(omega, q["velocity"]) + np.cross(omega, np.cross(omega, lever))
    acceleration = acceleration + 2.0 * np.cross(omega, flexing)
    expected = np.einsum("p,pik,pi->k", made.mass, N, acceleration)
    expected[6:] += body.elasticity.operator(q["deformation"]).T @ q["stress"]
    moving = slice(system.parts["velocity"].start, system.parts["deformation_rate"].stop)
    found = system.E(x)[moving, moving] @ rate - (system.J(x) @ system.z(x))[moving]
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@random_states
def test_rates_of_the_state_are_those_of_kinematics(seed):
    """ṙ_P = R v_P, dR/dt = R[ω]×, du/dt = u̇, C σ̇ = D(u)u̇."""
    body = solid()
    system = floating_body(body, gravity=GRAVITY)
    x = random_state(system, seed)
    q, rate = parts(system, x), parts(system, system.J(x) @ system.z(x))
    R = q["rotation"].reshape(3, 3)
    spinning = R @ np.cross(q["spin"], np.eye(3)).T  # R (ω × e_j) column by column
    np.testing.assert_allclose(rate["position"], R @ q["velocity"], **ROUND_OFF)
    np.testing.assert_allclose(rate["rotation"].reshape(3, 3), spinning, **ROUND_OFF)
    np.testing.assert_allclose(rate["deformation"], q["deformation_rate"], **ROUND_OFF)
    strained = body.elasticity.operator(q["deformation"]) @ q["deformation_rate"]
    np.testing.assert_allclose(rate["stress"], strained, **ROUND_OFF)


@random_states
def test_ports_are_sections(seed):
    """Outputs v_P + ω × ℓ + φu̇ and ω + ψu̇; the input (F, T) is their dual by B."""
    made = Points()
    system = floating_body(made.body())
    x = random_state(system, seed)
    _, velocity, turning = made.motion(parts(system, x))
    for i, name in enumerate("ab"):
        output = system.inputs(x, name).T @ system.z(x)
        np.testing.assert_allclose(output, np.concatenate([velocity[i], turning[i]]), **ROUND_OFF)
    at_rest = system.inputs(system.sample, "a")[system.parts["spin"]]  # [τ_CPᵀ] of eq. (35)
    np.testing.assert_allclose(at_rest[:, :3] @ [1, 2, 3], np.cross(made.X[0], [1, 2, 3]), **ROUND_OFF)
    np.testing.assert_array_equal(at_rest[:, 3:], np.eye(3))


@both_forms
@random_states
def test_a_free_rigid_body_follows_euler(form, seed):
    """J_c ω̇ = J_c ω × ω about whatever point P, the centre of mass without acceleration; remark 3."""
    centre = np.array([0.4, -0.1, 0.2])
    inertia = np.array([[0.5, 0.1, -0.05], [0.1, 0.6, 0.02], [-0.05, 0.02, 0.4]])
    body = rigid.body(2.0, inertia=inertia, centre=centre, ports={})
    np.testing.assert_allclose(contract(body.inertia, about_centre=True).J, inertia, atol=1e-15)
    system = floating_body(body, form=form)
    x = random_state(system, seed)
    q = parts(system, x)
    rate = parts(system, np.linalg.solve(system.E(x), system.J(x) @ system.z(x)))
    omega, spinning = q["spin"], rate["spin"]
    np.testing.assert_allclose(spinning, np.linalg.solve(inertia, np.cross(inertia @ omega, omega)), **ROUND_OFF)
    acceleration = (
        rate["velocity"] + np.cross(omega, q["velocity"] + np.cross(omega, centre)) + np.cross(spinning, centre)
    )
    np.testing.assert_allclose(acceleration, 0.0, **ROUND_OFF)


@both_forms
@random_states
def test_the_world_may_be_turned(form, seed):
    """r_P, R and g turned by Q: E, H and the equations in body axes stay, ṙ_P and dR/dt turn with Q."""
    Q = random_rotation(np.random.default_rng(seed + 20))
    body = solid()
    system = floating_body(body, gravity=GRAVITY, form=form)
    other = floating_body(body, gravity=Q @ GRAVITY, form=form)
    x = random_state(system, seed)
    y = x.copy()
    place, kept = system.parts["position"], system.parts["rotation"]
    y[place], y[kept] = Q @ x[place], (Q @ x[kept].reshape(3, 3)).ravel()
    assert other.H(y) == pytest.approx(system.H(x), rel=1e-13)
    np.testing.assert_array_equal(other.E(y), system.E(x))
    before, after = system.J(x) @ system.z(x), other.J(y) @ other.z(y)
    before[place], before[kept] = Q @ before[place], (Q @ before[kept].reshape(3, 3)).ravel()
    np.testing.assert_allclose(after, before, atol=1e-11)


# --- the plane in space


def embedded(body):
    """A planar body in the plane z = 0 of space."""
    given, n = body.inertia, body.size
    second, lever, spin = np.zeros((3, 3)), np.zeros((3, 3, n)), np.zeros((3, 3))
    second[:2, :2], lever[:2, :2], spin[2, 2] = given.second, given.shape_lever, given.spin[0, 0]
    none = sparse.csr_array((n, n))
    pair = tuple(tuple(given.shape_pair[i][j] if max(i, j) < 2 else none for j in range(3)) for i in range(3))
    flat = lambda rows: sparse.csr_array(np.vstack([rows.toarray(), np.zeros((1, n))]))  # noqa: E731
    normal = lambda rows: sparse.csr_array(np.vstack([np.zeros((2, n)), rows.toarray()]))  # noqa: E731
    inertia = Inertia(
        mass=given.mass,
        first=np.append(given.first, 0.0),
        second=second,
        shape_first=np.vstack([given.shape_first, np.zeros((1, n))]),
        shape_lever=lever,
        shape_pair=pair,
        spin=spin,
        spin_shape=np.vstack([np.zeros((2, n)), given.spin_shape]),
        spin_pair=given.spin_pair,
    )
    ports = {k: Port(np.append(p.position, 0.0), flat(p.shape), normal(p.rotation)) for k, p in body.ports.items()}
    return Body(inertia, ports, body.elasticity, momenta=body.momenta)


@both_forms
@both_momenta
@random_states
def test_a_planar_body_in_space_has_the_planar_blocks(form, momenta, seed):
    """(x, y), (c, s), ω_z, F_x, F_y, T_z of space are the plane; J z stays in it."""
    body = Points(dim=2).body(momenta)
    flat = floating_body(body, gravity=GRAVITY[:2], form=form)
    deep = floating_body(embedded(body), gravity=(*GRAVITY[:2], 0.0), form=form)
    x = 0.4 * np.random.default_rng(seed).standard_normal(flat.size)
    x[2:4] = np.cos(0.7 + seed), np.sin(0.7 + seed)
    n, m = FLEXIBLE, STRESSES
    index = np.array([0, 1, 3, 6, *range(12, 14 + n), 17 + n, *range(18 + n, 18 + 2 * n + m)])
    y = np.zeros(deep.size)
    y[index] = x
    y[3:12] = [x[2], -x[3], 0, x[3], x[2], 0, 0, 0, 1]
    np.testing.assert_allclose(deep.E(y)[np.ix_(index, index)], flat.E(x), **ROUND_OFF)
    np.testing.assert_allclose(deep.J(y)[np.ix_(index, index)], flat.J(x), **ROUND_OFF)
    np.testing.assert_allclose(deep.R(y)[np.ix_(index, index)], flat.R(x), **ROUND_OFF)
    np.testing.assert_allclose(deep.B(y)[np.ix_(index, [0, 1, 5, 6, 7, 11])], flat.B(x), **ROUND_OFF)
    assert deep.H(y) == pytest.approx(flat.H(x), rel=1e-13)
    force = deep.J(y) @ deep.z(y)
    np.testing.assert_allclose(force[index], flat.J(x) @ flat.z(x), **ROUND_OFF)
    off = np.setdiff1d(np.arange(deep.size), [*index, 4, 7])  # −s and c are moved as well
    np.testing.assert_allclose(force[off], 0.0, **ROUND_OFF)


# --- names and refusals


def test_parts_and_ports_have_names_and_sizes():
    made = floating_body(solid(), name="arm")
    assert made.size == 3 + 9 + FLEXIBLE + 6 + FLEXIBLE + STRESSES
    assert dict(made.ports) == {"arm.a": slice(0, 6), "arm.b": slice(6, 12)}
    assert made.parts["arm.rotation"] == slice(3, 12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: floating_body(solid(), gravity=(0.0, -9.81)), r"gravity must have shape \(3,\), got \(2"),
        (lambda: floating_body(rigid.point(1.0, dim=3)), "spatial body with rotation"),
        (lambda: floating_body(solid(), form="other"), "form must be one of 'paper', 'canonical', got 'other'"),
    ],
)
def test_wrong_bodies_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# --- a beam of finite elements


@both_momenta
@random_states
def test_a_spatial_beam_is_skew_and_has_the_inertia_of_a_bar(momenta, seed):
    """Skew, a gradient pair, both forms with one action, and ½ωᵀJω of a stiff bar: J = diag(ρI_pL, mL²/3, mL²/3)."""
    length, width, height, density = 1.3, 1.1, 0.8, 2.5
    material, section = fem.Material(young=20.0, poisson=0.3, density=density), fem.Section(width=width, height=height)
    damping = fem.Damping(mass=0.1, stiffness=0.02)
    made = fem.beam(length, material, section, elements=2, dim=3, strain="von_karman", momenta=momenta, damping=damping)
    body = made.with_mass("tip", 0.2, 0.03)
    paper, canonical = (floating_body(body, gravity=GRAVITY, form=form) for form in ("paper", "canonical"))
    x = random_state(paper, seed)
    paper.check(x)
    canonical.check(x)
    np.testing.assert_allclose(paper.J(x) @ paper.z(x), canonical.J(x) @ canonical.z(x), **ROUND_OFF)
    gradient = [line_derivative(paper.H, x, direction) for direction in np.eye(paper.size)]
    np.testing.assert_allclose(paper.E(x).T @ paper.z(x), gradient, atol=1e-12 * (1.0 + np.abs(gradient).max()))
    plain, mass = floating_body(made), density * length * width * height
    spin = plain.parts["spin"]
    polar = mass * (width**2 + height**2) / 12.0
    expected = np.diag([polar, mass * length**2 / 3.0, mass * length**2 / 3.0])
    np.testing.assert_allclose(plain.E(plain.sample)[spin, spin], expected, **ROUND_OFF)
