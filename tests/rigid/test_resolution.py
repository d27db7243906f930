"""Velocity constraints resolved: the reduced models of [rigid] sec. 7.1 and [survey] example 4.1; the general rule."""

from dataclasses import replace

import numpy as np
import pytest
from multibody_samples import differential_drive, everything, link, rolling_coin
from scipy.linalg import sqrtm

import rigid
from flexph import integrate

pytestmark = pytest.mark.processor

random_states = pytest.mark.parametrize("seed", range(3))
MASS, REACH, INERTIA, WIDTH = 2.0, 0.3, 0.9, 0.5
FORWARD = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])


def coin_basis(zeta):
    """[survey] eq. (4.20): p₁ = p_φ, p₂ = p_θ + p_x cos φ + p_y sin φ."""
    return np.array([[0.0, np.cos(zeta[3])], [0.0, np.sin(zeta[3])], [0.0, 1.0], [1.0, 0.0]])


def drive_in_world_axes():
    """The differential drive by its centre of mass, ϖ = ζ̇: M is constant there too, and nothing else is there."""

    def no_slip(z):
        return np.array([[-np.sin(z[2]), np.cos(z[2]), -REACH]])

    def wheel(side):
        return rigid.ExternalPort(lambda z: np.array([[np.cos(z[2])], [np.sin(z[2])], [side * 0.5 * WIDTH]]))

    return rigid.MultibodySystem(
        mass=np.diag([MASS, MASS, INERTIA - MASS * REACH**2]),
        sample=np.array([0.2, -0.4, 0.8]),
        velocity_constraints=(rigid.VelocityConstraint("no slip", no_slip),),
        ports={"left": wheel(-1.0), "right": wheel(1.0)},
    )


def world_basis(z):
    c, s = np.cos(z[2]), np.sin(z[2])
    return np.array([[c, -REACH * s], [s, REACH * c], [0.0, 1.0]])


DRIVES = {
    "body axes": lambda: rigid.resolve(differential_drive(MASS, REACH, INERTIA, WIDTH), FORWARD),
    "world axes": lambda: rigid.resolve(drive_in_world_axes(), world_basis),
}


@pytest.mark.parametrize("axes", DRIVES)
@random_states
def test_the_reduced_drive_has_the_published_equations(axes, seed):
    """[rigid] sec. 7.1, as printed, by two ways: v_y dropped, and Ṡ of a basis in world axes."""
    reduced = DRIVES[axes]()
    rng = np.random.default_rng(seed)
    zeta, (v, omega) = rng.standard_normal(3), rng.standard_normal(2)
    np.testing.assert_allclose(reduced.mass, np.diag([MASS, INERTIA]), atol=1e-14)
    turning = MASS * omega * REACH
    found = -reduced.G(zeta, reduced.mass @ [v, omega])
    np.testing.assert_allclose(found, [[0.0, turning], [-turning, 0.0]], atol=1e-9)  # differences in world axes
    np.testing.assert_allclose(reduced.B(zeta), [[1.0, 1.0], [-0.5 * WIDTH, 0.5 * WIDTH]], atol=1e-14)
    c, s = np.cos(zeta[2]), np.sin(zeta[2])
    moved = -REACH if axes == "world axes" else 0.0  # of O' from the centre of mass along x'
    place = np.array([[1.0, 0.0, -s * moved], [0.0, 1.0, c * moved], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(place @ reduced.Z(zeta), [[c, 0.0], [s, 0.0], [0.0, 1.0]], atol=1e-14)
    assert not reduced.velocity_constraints
    assert not reduced.constraints


@random_states
def test_the_reduced_coin_has_the_published_equations(seed):
    """[survey] eq. (4.21): J_c, H_c = ½p₁² + ¼p₂², B_c and y, at random states."""
    reduced = rigid.resolve(rolling_coin(), coin_basis)
    zeta, p = np.split(np.random.default_rng(seed).standard_normal(6), [4])
    nu = np.linalg.solve(reduced.mass, p)
    x = np.concatenate([zeta, nu])
    equations = reduced.phdae(x)
    np.testing.assert_array_equal(reduced.mass, np.diag([1.0, 2.0]))
    assert equations.H(x) == pytest.approx(0.5 * p[0] ** 2 + 0.25 * p[1] ** 2, rel=1e-14)
    c, s = np.cos(zeta[3]), np.sin(zeta[3])
    upper = np.array([[0.0, c], [0.0, s], [0.0, 1.0], [1.0, 0.0]])
    printed = np.block([[np.zeros((4, 4)), upper], [-upper.T, np.zeros((2, 2))]])
    np.testing.assert_allclose(equations.J(x), printed, atol=1e-10)
    np.testing.assert_allclose(equations.B(x)[4:], [[0.0, 1.0], [1.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(equations.B(x).T @ equations.z(x), [0.5 * p[1], p[0]], atol=1e-14)


def orthonormal_basis(system):
    """S with A S = 0 and SᵀM S = 1, smooth in ζ: Gram-Schmidt of fixed vectors."""
    root = np.linalg.inv(np.real(sqrtm(system.mass)))

    def basis(zeta):
        rows = system.A(zeta) @ root
        rows = np.linalg.qr(rows.T)[0].T
        r = system.velocities - len(rows)
        fixed = np.eye(system.velocities)[:, :r] - rows.T @ rows[:, :r]
        q, upper = np.linalg.qr(fixed)
        return root @ (q * np.sign(np.diag(upper)))

    return basis


@random_states
@pytest.mark.parametrize("given", [False, True])
def test_accelerations_are_those_of_the_constrained_system(seed, given):
    """ϖ̇ = S ν̇ + Ṡ ν and λ at random states of a system with everything, by differences of S or with Ṡ given."""
    system = everything(seed)
    S = orthonormal_basis(system)
    h = 1e-5
    rate = lambda z, along: (S(z + h * along) - S(z - h * along)) / (2.0 * h)  # noqa: E731
    reduced = rigid.resolve(system, S, derivative=rate if given else None)
    assert [c.name for c in reduced.constraints] == ["sheet"]
    zeta, nu = reduced.nearest(system.sample, np.random.default_rng(seed).standard_normal(3))
    omega = S(zeta) @ nu
    force = {"in": 0.7, "out": [0.2, -1.3]}
    one, other = (s.accelerations(zeta, v, inputs=force) for s, v in ((system, omega), (reduced, nu)))
    moved = S(zeta) @ other.velocities + rate(zeta, system.Z(zeta) @ omega) @ nu
    size = np.abs(one.velocities).max()
    np.testing.assert_allclose(moved, one.velocities, atol=1e-7 * size)  # differences of K and S, steps of 1e-3
    np.testing.assert_allclose(other.lam, one.lam, rtol=1e-7)
    assert reduced.energy(zeta, nu) == pytest.approx(system.energy(zeta, omega), rel=1e-13)
    assert nu @ reduced.tau_d(zeta, nu) == pytest.approx(omega @ system.tau_d(zeta, omega), rel=1e-12)
    np.testing.assert_allclose(reduced.B(zeta).T @ nu, system.B(zeta).T @ omega, atol=1e-12)


@random_states
def test_forces_of_the_basis_are_lie_brackets(seed):
    """[survey] eq. (4.15)-(4.17): G_r ν = (pᵀ[S_i, S_j]) ν, p = M S ν, of a system with Z = 1 and G = 0."""
    draw = np.random.default_rng(seed + 5).standard_normal
    a, bend = draw((1, 4)), draw((1, 4))
    edge = rigid.VelocityConstraint("edge", lambda z: a + bend * np.sin(z))
    plain = rigid.MultibodySystem(mass=everything(seed).mass, sample=0.3 * np.ones(4), velocity_constraints=(edge,))
    S = orthonormal_basis(plain)
    reduced = rigid.resolve(plain, S)
    nu, zeta, h = np.random.default_rng(seed).standard_normal(3), plain.sample, 1e-6
    D = np.array([(S(zeta + h * e) - S(zeta - h * e)) / (2.0 * h) for e in np.eye(4)])  # ∂S/∂q_k
    p = plain.mass @ S(zeta) @ nu
    along = np.einsum("kaj,ki->aij", D, S(zeta))  # (∂S_j/∂q) S_i
    brackets = np.einsum("a,aij->ij", p, along - along.transpose(0, 2, 1))
    G = reduced.G(zeta, reduced.mass @ nu)
    np.testing.assert_allclose(G, -G.T, atol=1e-15)
    np.testing.assert_allclose(G @ nu, brackets @ nu, atol=1e-8)


FORCES = {"left": lambda t: 1.0 + np.sin(t), "right": lambda t: 0.5}
TORQUES = {"roll": lambda t: np.cos(t), "turn": lambda t: 0.8}


def run(system, zeta, velocities, steps, inputs, until=2.0):
    x = system.state(zeta, velocities, inputs=inputs)
    found = integrate(system.phdae(x), x, np.linspace(0.0, until, steps + 1), inputs=inputs)
    return system.split(found.states), found


def test_constrained_and_reduced_drive_agree():
    """A and S are constant, so that ϖ = S ν at every state: to round-off."""
    system, zeta, nu = differential_drive(), np.array([0.2, -0.4, 0.8]), np.array([0.7, -0.3])
    reduced = rigid.resolve(system, FORWARD, velocity_parts={"forward": slice(0, 1), "spin": slice(1, 2)})
    assert list(reduced.velocity_parts) == ["forward", "spin"]
    one, full = run(system, zeta, FORWARD @ nu, 100, FORCES)
    other, small = run(reduced, zeta, nu, 100, FORCES)
    assert np.ptp(one.positions[:, 0]) > 0.5
    np.testing.assert_allclose(other.positions, one.positions, atol=1e-12)
    np.testing.assert_allclose(other.velocities, one.velocities[:, [0, 2]], atol=1e-12)
    assert max(full.ledger.largest_residual, small.ledger.largest_residual) < 1e-13


def test_constrained_and_reduced_coin_agree():
    """Two discretisations of second order: their difference shrinks with h², and both balance."""
    system, zeta, nu = rolling_coin(), np.array([0.3, -0.1, 0.5, 1.1]), np.array([0.9, 1.4])
    reduced = rigid.resolve(system, coin_basis)
    gaps = []
    for steps in (50, 100):
        one, full = run(system, zeta, coin_basis(zeta) @ nu, steps, TORQUES)
        other, small = run(reduced, zeta, nu, steps, TORQUES)
        gaps.append(np.abs(other.positions - one.positions).max())
        assert max(full.ledger.largest_residual, small.ledger.largest_residual) < 1e-13
    assert np.log2(np.array(gaps[:-1]) / gaps[1:]) == pytest.approx(2.0, abs=0.1)
    assert gaps[-1] < 1e-3


def test_velocities_may_be_changed_without_constraints():
    """A square basis: the same motion in other velocities, here those in world axes of a free bar."""
    bar = link(1.0, 0.8, gravity=9.81, drag=0.3)
    turn = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 2.0]])
    other = rigid.resolve(bar, turn)
    zeta, omega = bar.sample, np.array([0.3, 1.0, -2.0])
    one, changed = bar.accelerations(zeta, omega), other.accelerations(zeta, np.linalg.solve(turn, omega))
    np.testing.assert_allclose(turn @ changed.velocities, one.velocities, rtol=1e-12)
    assert list(other.ports) == ["left", "right"]
    assert other.ports["right"].position is bar.ports["right"].position


def test_bad_input_is_refused():
    drive = differential_drive()
    with pytest.raises(ValueError, match=r"basis must have shape \(3, any\), .* got \(2, 2\)"):
        rigid.resolve(drive, np.eye(2))
    with pytest.raises(ValueError, match=r"A S = 0.*'no slip',.*leaves 2 velocities, basis.*1 columns"):
        rigid.resolve(drive, FORWARD[:, :1])
    with pytest.raises(ValueError, match=r"A S = 0.*no constraint,.*leaves 3 velocities, basis.*2 columns"):
        rigid.resolve(drive, np.eye(3)[:, :2])
    with pytest.raises(ValueError, match="independent columns: rank 1 of 2"):
        rigid.resolve(drive, FORWARD[:, [0, 0]])
    with pytest.raises(ValueError, match=r"SᵀM S must be constant, it changes by .* orthonormal"):
        rigid.resolve(rolling_coin(), lambda z: coin_basis(z) * (2.0 + z[3]))
    both = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    held = replace(drive, velocity_constraints=(rigid.VelocityConstraint("both", both),))
    with pytest.raises(ValueError, match=r"all rows of 'both' or none: A S is zero in \[0\] of 2"):
        rigid.resolve(held, FORWARD)
    light = replace(rolling_coin(), mass=np.diag([0.0, 0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="SᵀM S must be regular where S varies, its rank is 1 of 2"):
        rigid.resolve(light, coin_basis)


def test_a_given_derivative_must_be_that_of_the_basis():
    """A free particle seen in turning axes: without the right Ṡ it would get no Coriolis force."""
    particle = rigid.MultibodySystem(mass=np.eye(3), sample=np.array([1e3, 0.0, 0.3]))  # far off, for the differences

    def turning(z, slope=0):
        c, s = np.cos(z[2] + 0.5 * np.pi * slope), np.sin(z[2] + 0.5 * np.pi * slope)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0 - slope]])

    right = rigid.resolve(particle, turning, derivative=lambda z, rate: rate[2] * turning(z, 1))
    np.testing.assert_allclose(right.G(np.zeros(3), np.ones(3)), [[0, -1, 0], [1, 0, 0], [0, 0, 0]], atol=1e-15)
    wrong = {
        r"along the new velocity 2 it is 0 in row 0, column .* differences of the basis give -0\.95": np.zeros((3, 3)),
        r"derivative .* must have shape \(3, 3\), got \(3, 2\)": np.zeros((3, 2)),
        "derivative .* must be finite": np.full((3, 3), np.nan),
    }
    for message, value in wrong.items():
        with pytest.raises(ValueError, match=message):
            rigid.resolve(particle, turning, derivative=lambda z, rate, value=value: value)
    with pytest.raises(ValueError, match="derivative must be a function, got"):
        rigid.resolve(particle, turning, derivative=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="system must be a MultibodySystem, got str"):
        rigid.resolve("car", np.eye(3))
