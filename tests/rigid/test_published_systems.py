"""The systems of [rigid] sec. 5 and 7, as the builders make them, against the matrices that the paper prints.

Where print and derivation disagree, the derived one stands here, with a second computation beside it:

- eq. (18) prints G(Γ) = [L]×, the right-hand side of (16b); but (10) has −G on the right: G = −[L]×.
- eq. (17) says τ_ext = M_ext; but (10) has −B τ_ext and (16b) + B M_ext: τ_ext = −M_ext, with the B of (18).
- eq. (16a) has −sin α sin β in the third entry of its second row; (18) has −sin α cos β, which is right.
- sec. 5: the matrix printed before λ_R is the transposed Jacobian of the six conditions but for 2 in R_iᵀR_i − 1.
- sec. 7.3: the crank's mass is I_{1,A} (print: M = I_{1,C}); v_ext is the horizontal velocity of B as in the equation,
  not the v_{2,x'} of the text. In sec. 7.1 ℓ is the x' coordinate of the centre of mass (text: y').

μ and λ of sec. 7.1 and 7.3 are printed with a plus sign: they are the negative ones of eq. (10).
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph.numerics.rotations import skew

SEEDS = pytest.mark.parametrize("seed", range(3))
CLOSE = {"rtol": 1e-14, "atol": 1e-14}


def random(seed, count):
    return np.random.default_rng(seed).standard_normal(count)


def turned(phi):
    c, s = np.cos(phi), np.sin(phi)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


# --- 7.1 differential drive robot


def robot(m=8.0, I_S=0.4, ell=0.12, b=0.5):
    return rigid.free_body(
        m,
        inertia=I_S,
        centre=(ell, 0.0),
        ports={
            "left": rigid.Force((0.0, 0.5 * b), along=(1.0, 0.0), axes="body"),
            "right": rigid.Force((0.0, -0.5 * b), along=(1.0, 0.0), axes="body"),
        },
        constraints={"wheels": rigid.KnifeEdge((0.0, 0.0), across=(0.0, 1.0))},
    )


@SEEDS
def test_the_robot_has_the_published_equations(seed):
    """The constrained equations of sec. 7.1, with I_O = I_S + mℓ² (14)."""
    m, I_S, ell, b = 8.0, 0.4, 0.12, 0.5
    system = robot(m, I_S, ell, b)
    I_O = I_S + m * ell**2
    zeta, (v_x, v_y, omega) = random(seed, 3), random(seed + 10, 3)
    velocity = np.array([v_x, v_y, omega])
    np.testing.assert_allclose(system.Z(zeta), turned(zeta[2]), **CLOSE)
    np.testing.assert_allclose(system.mass, [[m, 0, 0], [0, m, m * ell], [0, m * ell, I_O]], **CLOSE)
    y = m * (v_y + ell * omega)
    printed = np.array([[0, 0, y], [0, 0, -m * v_x], [-y, m * v_x, 0]])
    np.testing.assert_allclose(-system.G(zeta, system.mass @ velocity), printed, **CLOSE)
    np.testing.assert_allclose(system.B(zeta), [[1, 1], [0, 0], [-b / 2, b / 2]], **CLOSE)
    np.testing.assert_allclose(system.A(zeta), [[0, 1, 0]], **CLOSE)
    assert system.c(zeta).size == 0 and system.V(zeta) == 0.0
    forward = np.array([v_x, 0.0, omega])
    np.testing.assert_allclose(system.B(zeta).T @ forward, [v_x - b / 2 * omega, v_x + b / 2 * omega], **CLOSE)


@SEEDS
def test_robot_accelerates_as_its_reduced_equations(seed):
    """Without v_y: m v̇_x = mℓω² + F_L + F_R, I_O ω̇ = −mℓω v_x + b/2 (F_R − F_L), the reduced model of sec. 7.1."""
    m, I_S, ell, b = 8.0, 0.4, 0.12, 0.5
    (v_x, omega), (F_L, F_R) = random(seed, 2), random(seed + 10, 2)
    found = robot(m, I_S, ell, b).accelerations(
        random(seed + 20, 3), np.array([v_x, 0.0, omega]), inputs={"left": [F_L], "right": [F_R]}
    )
    expected = [
        ell * omega**2 + (F_L + F_R) / m,
        0.0,
        (-m * ell * omega * v_x + b / 2 * (F_R - F_L)) / (I_S + m * ell**2),
    ]
    np.testing.assert_allclose(found.velocities, expected, rtol=1e-12, atol=1e-13)


# --- 7.2 gyroscope

M, RADIUS, WIDTH = 3.0, 0.2, 0.05
I_O = M / 12.0 * np.array([6.0 * RADIUS**2, 3.0 * RADIUS**2 + WIDTH**2, 3.0 * RADIUS**2 + WIDTH**2])  # (15)


def gyroscope(orientation):
    return rigid.pivoted_body(I_O, orientation=orientation, ports={"suspension": rigid.Gimbal(1)})


def test_inertia_of_the_disc():
    """(15) is that of a homogeneous cylinder along x'."""
    disc = rigid.cylinder(WIDTH, RADIUS, density=M / (np.pi * RADIUS**2 * WIDTH)).inertia
    c = disc.first / disc.mass
    about_centre = disc.second - disc.mass * np.outer(c, c)
    np.testing.assert_allclose(np.trace(about_centre) * np.eye(3) - about_centre, np.diag(I_O), rtol=1e-13, atol=1e-16)


def gyroscope_angles(seed):
    return np.random.default_rng(seed).uniform(-1.4, 1.4, 3)


@SEEDS
def test_gyroscope_in_euler_angles(seed):
    """(16)-(18): M, Z, G (sign of (16b)) and B in ζ = (α, β, γ)."""
    system, zeta, L = gyroscope(rigid.angles()), gyroscope_angles(seed), random(seed, 3)
    (sa, sb, _), (ca, cb, _) = np.sin(zeta), np.cos(zeta)
    np.testing.assert_allclose(system.mass, np.diag(I_O), **CLOSE)
    printed = np.array([[cb, sa * sb, ca * sb], [0, ca * cb, -sa * cb], [0, sa, ca]]) / cb
    np.testing.assert_allclose(system.Z(zeta), printed, rtol=1e-13, atol=1e-13)
    right_of_16b = np.array([[0, -L[2], L[1]], [L[2], 0, -L[0]], [-L[1], L[0], 0]])
    np.testing.assert_array_equal(-system.G(zeta, L), right_of_16b)
    np.testing.assert_allclose(system.B(zeta), np.array([[0.0], [ca], [-sa]]), **CLOSE)
    np.testing.assert_allclose(system.B(zeta).T, system.Z(zeta)[1:2], rtol=1e-13, atol=1e-13)  # (16c): ω_ext = β̇


@SEEDS
def test_second_row_of_16a(seed):
    """β̇ = ω_y cos α − ω_z sin α: with "sin α sin β" in its place Rotation's β, turned by ω, would differ."""
    zeta, omega, h = gyroscope_angles(seed), random(seed, 3), 1e-5
    R = Rotation.from_euler("xyz", zeta)
    ahead, behind = ((R * Rotation.from_rotvec(t * omega)).as_euler("xyz") for t in (h, -h))
    rate, (sa, sb, _), (ca, cb, _) = (ahead - behind) / (2.0 * h), np.sin(zeta), np.cos(zeta)
    assert rate[1] == pytest.approx(ca * omega[1] - sa * omega[2], abs=1e-8)
    assert abs(rate[1] - (ca * cb * omega[1] - sa * sb * omega[2]) / cb) > 1e-2
    np.testing.assert_allclose(gyroscope(rigid.angles()).Z(zeta) @ omega, rate, atol=1e-7)


@pytest.mark.parametrize("kept", [rigid.angles(), rigid.rotation_matrix(), rigid.quaternion()], ids=lambda o: o.name)
@SEEDS
def test_sign_of_the_gyrotor(kept, seed):
    """Without a torque RL stays: d/dt(RL) = R(Iω̇ + ω × Iω) = 0 holds with G = −[L]× and not with that of (18)."""
    system, omega = gyroscope(kept), random(seed, 3)
    zeta = kept.coordinates(Rotation.from_euler("xyz", gyroscope_angles(seed)))
    change = system.accelerations(zeta, omega).velocities
    np.testing.assert_allclose(I_O * change, -np.cross(omega, I_O * omega), rtol=1e-13, atol=1e-15)
    assert np.abs(I_O * change + skew(I_O * omega, 3) @ omega).max() > 1e-3


@SEEDS
def test_gyroscope_by_its_rotation_matrix(seed):
    """(11), and the torque of sec. 7.2 with α(ζ) reconstructed from R."""
    kept = rigid.rotation_matrix()
    angles = gyroscope_angles(seed)
    system, zeta, L = gyroscope(kept), kept.coordinates(Rotation.from_euler("xyz", angles)), random(seed, 3)
    R1, R2, R3, o = *zeta.reshape(3, 3), np.zeros(3)
    printed = np.vstack([np.array(row).T for row in ([o, -R3, R2], [R3, o, -R1], [-R2, R1, o])])
    np.testing.assert_array_equal(system.Z(zeta), printed)
    np.testing.assert_allclose(system.mass, np.diag(I_O), **CLOSE)
    np.testing.assert_array_equal(-system.G(zeta, L), skew(L, 3))
    expected = np.array([[0.0], [np.cos(angles[0])], [-np.sin(angles[0])]])
    np.testing.assert_allclose(system.B(zeta), expected, rtol=1e-13, atol=1e-13)


@SEEDS
def test_conditions_of_the_rotation_matrix(seed):
    """Sec. 5: Zᵀ times the printed matrix is zero, and that is the transposed Jacobian, with 2 for the first three."""
    kept = rigid.rotation_matrix()
    zeta = kept.coordinates(Rotation.random(random_state=seed))
    R1, R2, R3 = (v[:, None] for v in zeta.reshape(3, 3))
    o = np.zeros((3, 1))
    printed = np.block([[R1, o, o, R2, R3, o], [o, R2, o, R1, o, R3], [o, o, R3, o, R1, R2]])
    np.testing.assert_allclose(kept.Z(zeta).T @ printed, 0.0, atol=1e-15)
    first = kept.conditions[0].map
    np.testing.assert_array_equal(first.jacobian(zeta), (printed * [2, 2, 2, 1, 1, 1]).T)
    other = random(seed, 9)
    (a, b, c) = other.reshape(3, 3)
    np.testing.assert_allclose(first.value(other), [a @ a - 1, b @ b - 1, c @ c - 1, a @ b, a @ c, b @ c], **CLOSE)


@SEEDS
def test_gyroscope_by_a_quaternion(seed):
    """Not in the paper: M, G and B are those of the rotation matrix, and ∂R/∂q Z_q is Z_R."""
    q, by_entries = rigid.quaternion(), rigid.rotation_matrix()
    rotation, L = Rotation.from_euler("xyz", gyroscope_angles(seed)), random(seed, 3)
    zeta, nine = q.coordinates(rotation), by_entries.coordinates(rotation)
    system, other = gyroscope(q), gyroscope(by_entries)
    np.testing.assert_array_equal(system.mass, other.mass)
    np.testing.assert_array_equal(system.G(zeta, L), other.G(nine, L))
    np.testing.assert_allclose(system.B(zeta), other.B(nine), rtol=1e-13, atol=1e-13)
    columns = q.slopes(zeta).transpose(0, 2, 1).reshape(4, 9)
    np.testing.assert_allclose(columns.T @ system.Z(zeta), other.Z(nine), **CLOSE)
    omega = random(seed + 1, 3)
    accelerations = [
        s.accelerations(z, omega, inputs={"suspension": [0.3]}) for s, z in ((system, zeta), (other, nine))
    ]
    np.testing.assert_allclose(accelerations[0].velocities, accelerations[1].velocities, rtol=1e-12)


# --- 7.3 slider crank

LENGTH_1, I_1A = 0.3, 0.02
LENGTH_2, M_2, R_2, I_2B = 0.7, 1.4, 0.2, 0.1


def crank():
    return rigid.pivoted_body(I_1A, ports={"drive": rigid.Torque(), "C": (LENGTH_1, 0.0)})


def rod():
    return rigid.free_body(
        M_2,
        inertia=I_2B,
        about=(0.0, 0.0),
        centre=(R_2, 0.0),
        ports={"C": (LENGTH_2, 0.0), "slider": rigid.Force((0.0, 0.0), along=(1.0, 0.0))},
        constraints={"bearing": rigid.OnLine((0.0, 0.0), along=(1.0, 0.0))},
    )


@SEEDS
def test_the_crank_has_the_published_equations(seed):
    """Z = 1, M = I_{1,A}, no gyroscopic terms; v_{1,C} = (−ℓ₁ sin φ₁, ℓ₁ cos φ₁) ω₁."""
    system, phi = crank(), random(seed, 1)
    s, c = np.sin(phi[0]), np.cos(phi[0])
    np.testing.assert_array_equal(system.Z(phi), [[1.0]])
    np.testing.assert_allclose(system.mass, [[I_1A]], **CLOSE)
    np.testing.assert_array_equal(system.G(phi, random(seed, 1)), [[0.0]])
    np.testing.assert_allclose(system.B(phi), [[1.0, -LENGTH_1 * s, LENGTH_1 * c]], **CLOSE)
    np.testing.assert_allclose(system.ports["C"].position.value(phi), [LENGTH_1 * c, LENGTH_1 * s], **CLOSE)


@SEEDS
def test_the_rod_has_the_published_equations(seed):
    """Z, M, G, c', and B of F_{2,C} and F_ext."""
    system, zeta, (v_x, v_y, omega) = rod(), random(seed, 3), random(seed + 10, 3)
    s, c = np.sin(zeta[2]), np.cos(zeta[2])
    np.testing.assert_allclose(system.Z(zeta), turned(zeta[2]), **CLOSE)
    np.testing.assert_allclose(system.mass, [[M_2, 0, 0], [0, M_2, M_2 * R_2], [0, M_2 * R_2, I_2B]], **CLOSE)
    y = M_2 * (v_y + R_2 * omega)
    printed = np.array([[0, 0, y], [0, 0, -M_2 * v_x], [-y, M_2 * v_x, 0]])
    np.testing.assert_allclose(-system.G(zeta, system.mass @ [v_x, v_y, omega]), printed, **CLOSE)
    np.testing.assert_allclose(system.c_jacobian(zeta), [[0, 1, 0]], **CLOSE)
    np.testing.assert_allclose(system.Z(zeta).T @ system.c_jacobian(zeta).T, [[s], [c], [0.0]], **CLOSE)  # of λ
    of_C = [[c, s], [-s, c], [-LENGTH_2 * s, LENGTH_2 * c]]
    np.testing.assert_allclose(system.B(zeta), np.hstack([of_C, [[c], [-s], [0.0]]]), **CLOSE)
    # v_{2,C} is the rate of where C is
    where, h = system.ports["C"].position.value, 1e-6
    velocity = system.Z(zeta) @ [v_x, v_y, omega]
    rate = (where(zeta + h * velocity) - where(zeta - h * velocity)) / (2.0 * h)
    np.testing.assert_allclose(system.B(zeta)[:, :2].T @ [v_x, v_y, omega], rate, atol=1e-9)


@SEEDS
def test_coupling_of_crank_and_rod(seed):
    """The rows of the coupled velocities, [B_{c,1}ᵀ, −B_{c,2}ᵀ] of (13), and their rank with the bearing."""
    phi_1, zeta = random(seed, 1), random(seed + 10, 3)
    first, second = crank(), rod()
    A = np.hstack([first.ports["C"].matrix(phi_1).T, -second.ports["C"].matrix(zeta).T])
    (s1, c1), (s2, c2) = ((np.sin(p), np.cos(p)) for p in (phi_1[0], zeta[2]))
    printed = [[-LENGTH_1 * s1, -c2, s2, LENGTH_2 * s2], [LENGTH_1 * c1, -s2, -c2, -LENGTH_2 * c2]]
    np.testing.assert_allclose(A, printed, **CLOSE)
    bearing = np.hstack([[[0.0]], second.c_jacobian(zeta) @ second.Z(zeta)])
    assert np.linalg.matrix_rank(np.vstack([A, bearing])) == 3
