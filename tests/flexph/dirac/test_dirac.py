"""Dirac structures and Lagrangian subspaces: [rigid] definitions 3-5, propositions 2, 4 and 5, remark 5."""

import numpy as np
import pytest
from multibody_samples import everything
from scipy.linalg import null_space, orth

import rigid
from flexph.dirac import DiracStructure, LagrangianSubspace

pytestmark = pytest.mark.processor

random_cases = pytest.mark.parametrize("seed", range(5))
ROUND_OFF = 1e-11  # sums of tens of products; bases from singular values with conditions up to a hundred


def structure(seed, n=6, ports=None):
    """A random Dirac structure: flows and efforts of some ports of the graph of a skew matrix exchanged."""
    rng = np.random.default_rng(seed)
    J, swapped = rng.standard_normal((n, n)), rng.random(n) < 0.5
    F, E = np.eye(n), -(J - J.T)
    F[:, swapped], E[:, swapped] = E[:, swapped].copy(), F[:, swapped].copy()
    mixed = rng.standard_normal((n, n))
    return DiracStructure(mixed @ F, mixed @ E, ports or {})


def orthogonal_complement(basis):
    """All (f, e) with ⟨f, ê⟩ + ⟨f̂, e⟩ = 0 for the columns (f̂, ê) of a basis ([rigid] definition 3)."""
    n = len(basis) // 2
    return null_space(np.vstack([basis[n:], basis[:n]]).T)


def gap(one, other):
    """Distance of two column spaces of the same dimension."""
    assert one.shape == other.shape
    p, q = orth(one), orth(other)
    return np.linalg.norm(p - q @ (q.T @ p), 2)


@random_cases
def test_a_structure_is_its_own_orthogonal_complement(seed):
    D = structure(seed)
    basis = np.vstack(D.image())
    assert gap(orthogonal_complement(basis), basis) < ROUND_OFF
    f, e = (m @ np.arange(1.0, 7.0) for m in D.image())
    assert D.contains(f, e)
    assert f @ e == pytest.approx(0.0, abs=ROUND_OFF * np.linalg.norm(f) * np.linalg.norm(e))
    assert not D.contains(f, e + 0.01 * np.linalg.norm(e))


@random_cases
def test_kernel_and_image_forms_are_the_same_subspace(seed):
    D = structure(seed)
    again = DiracStructure.from_image(*D.image())
    assert D.distance(again) < ROUND_OFF
    assert D.distance(structure(seed + 100)) > 0.1
    assert gap(np.vstack(D.image()), null_space(np.hstack([D.F, D.E]))) < ROUND_OFF


@random_cases
def test_a_structure_with_a_constraint_is_dirac(seed):
    """[rigid] proposition 4, by the image form of its proof: im [[K N, Cᵀ], [L N, 0]] with im N = ker C L."""
    D, C = structure(seed), np.random.default_rng(seed + 50).standard_normal((2, 6))
    K, L = D.image()
    free = null_space(C @ L)
    image = np.vstack([np.hstack([K @ free, C.T]), np.hstack([L @ free, np.zeros((6, 2))])])
    made = D.constrained(np.vstack([C, C[:1] + C[1:]]))  # a dependent row does no harm
    assert gap(np.vstack(made.image()), orth(image)) < ROUND_OFF
    assert D.constrained(np.zeros((0, 6))).distance(D) < ROUND_OFF
    assert made.constrained(C).distance(made) < ROUND_OFF


def test_where_the_rank_jumps_the_structure_jumps():
    """[rigid] remark 5: D̃₀ = D, and D̃_x = ℝ² × {0} elsewhere: no modulated Dirac structure."""
    D = DiracStructure.from_image(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]]))
    assert D.constrained([[1.0, 0.0]]).distance(D) < ROUND_OFF
    flat = DiracStructure(np.zeros((2, 2)), np.eye(2))
    for x in (1e-6, -0.3, 2.0):
        made = D.constrained([[1.0, x]])
        assert made.distance(flat) < ROUND_OFF
        assert made.distance(D) == pytest.approx(np.pi / 2.0)


def state(system, seed):
    """Positions near the sample and momenta at random."""
    rng = np.random.default_rng(seed)
    return system.sample + 0.1 * rng.standard_normal(system.positions), rng.standard_normal(system.velocities)


def appendix_image(system, zeta, momenta):
    """im [J; 1] of [rigid] appendix A, restricted to Aϖ = 0 and with im Aᵀ added (proof of proposition 4)."""
    Z, B, G, A = system.Z(zeta), system.B(zeta), system.G(zeta, momenta), system.A(zeta)
    (n, k), m = Z.shape, B.shape[1]
    o, one = np.zeros, np.eye
    J = np.block(
        [
            [o((n, n)), Z, o((n, k)), o((n, m))],
            [-Z.T, -G, -one(k), -B],
            [o((k, n)), one(k), o((k, k)), o((k, m))],
            [o((m, n)), B.T, o((m, k)), o((m, m))],
        ]
    )
    C = np.hstack([o((len(A), n)), A, o((len(A), k + m))])
    free = null_space(C)
    flows, efforts = np.hstack([J @ free, C.T]), np.hstack([free, np.zeros_like(C.T)])
    # here (−ζ̇, τ), (−Γ̇, ϖ), (−τ_d, ϖ), (F, y); there (ζ̇, τ), (Γ̇, ϖ), (ϖ, τ_d), (y, −F)
    swapped = np.arange(len(J)) >= n + k
    return np.vstack([np.where(swapped[:, None], -efforts, -flows), np.where(swapped[:, None], flows, efforts)])


@random_cases
def test_structure_of_a_multibody_system(seed):
    """[rigid] eq. (7) by appendix A, definition 3, and membership written out."""
    system = everything(seed)
    zeta, momenta = state(system, seed)
    D = rigid.dirac_structure(system, zeta, momenta)
    basis = np.vstack(D.image())
    assert gap(basis, appendix_image(system, zeta, momenta)) < ROUND_OFF
    assert gap(orthogonal_complement(basis), basis) < ROUND_OFF
    assert list(D.ports) == ["positions", "momenta", "resistive", "in", "out"]
    draw = np.random.default_rng(seed + 9).standard_normal
    omega, tau, mu, friction, outer = null_space(system.A(zeta)) @ draw(3), draw(5), draw(1), draw(4), draw(3)
    Z, B = system.Z(zeta), system.B(zeta)
    inertial = -(Z.T @ tau + system.G(zeta, momenta) @ omega + friction + B @ outer + system.A(zeta).T @ mu)
    rates = B.T @ omega
    flows = {"positions": -Z @ omega, "momenta": -inertial, "resistive": -friction, "in": -outer[:1], "out": -outer[1:]}
    efforts = {"positions": tau, "momenta": omega, "resistive": omega, "in": rates[:1], "out": rates[1:]}
    assert D.defect(flows, efforts) < 1e-14 * 100.0  # as good as the sums above
    assert not D.contains(flows, {**efforts, "in": rates[:1] + 0.01})
    assert not D.contains(flows, {**efforts, "momenta": omega + 0.01 * np.arange(4.0)})


def test_structure_is_continuous_along_a_path():
    """[rigid] definition 4 (b): the principal angles to the structure a step further shrink with the step."""
    system = everything(3)
    zeta, momenta = state(system, 3)
    way, push = np.random.default_rng(8).standard_normal(5), np.random.default_rng(9).standard_normal(4)
    here = rigid.dirac_structure(system, zeta, momenta)
    steps = np.array([1e-2, 1e-3, 1e-4])
    found = np.array([here.distance(rigid.dirac_structure(system, zeta + h * way, momenta + h * push)) for h in steps])
    assert np.log10(found[:-1] / found[1:]) == pytest.approx(1.0, abs=0.1)
    assert found[-1] < 1e-3


@random_cases
@pytest.mark.parametrize("singular", [False, True])
def test_tangent_space_of_the_lagrangian_submanifold(seed, singular):
    """[rigid] proposition 5 against definition 5, and against differences of points of L."""
    system = everything(seed, singular=singular)
    L = rigid.lagrangian_submanifold(system)
    lam = np.random.default_rng(seed).standard_normal(1)
    zeta = system.sample
    omega = np.random.default_rng(seed + 1).standard_normal(4)
    point = members(system, zeta, lam, omega)
    assert L.contains(*point)
    assert np.allclose(L.multipliers(zeta, point[2]), lam, rtol=1e-10)
    T = L.tangent(zeta, point[2])
    basis = np.vstack([T.P, T.S])
    n = len(basis) // 2
    complement = null_space(np.hstack([basis[n:].T, -basis[:n].T]))
    assert gap(basis, complement) < ROUND_OFF
    h, way = 1e-4, np.random.default_rng(seed + 2).standard_normal(10)
    ahead, behind = (
        members(system, on_sheet(system, way[:5], s), lam + s * way[5:6], omega + s * way[6:]) for s in (h, -h)
    )
    assert L.defect(*ahead) < 1e-11
    moved = [(a - b) / (2.0 * h) for a, b in zip(ahead, behind, strict=True)]
    assert T.defect(np.concatenate(moved[:2]), np.concatenate(moved[2:])) < 1e-5  # h² times third derivatives
    assert not T.contains(np.concatenate(moved[:2]), np.concatenate(moved[2:]) + 1.0)


def members(system, zeta, lam, omega):
    """A point (ζ, Γ, τ, ϖ) of L."""
    return zeta, system.mass @ omega, system.V_gradient(zeta) + system.c_jacobian(zeta).T @ lam, omega


def on_sheet(system, way, s):
    """The position that c(ζ) = 0 has nearest to sample + s way."""
    zeta = system.sample + s * way
    for _ in range(6):
        zeta = zeta - np.linalg.pinv(system.c_jacobian(zeta)) @ system.c(zeta)
    return zeta


def test_what_is_not_in_the_submanifold():
    system = everything(1)
    L = rigid.lagrangian_submanifold(system)
    point = members(system, system.sample, np.ones(1), np.ones(4))
    for i in range(4):
        moved = [p + 0.01 * (i == k) * np.arange(1.0, len(p) + 1.0) for k, p in enumerate(point)]
        assert not L.contains(*moved)


@random_cases
def test_the_resistive_relation_is_the_published_one(seed):
    """[rigid] definition 6 and eq. (8)."""
    system = everything(seed)
    zeta, omega = state(system, seed)
    tau = system.tau_d(zeta, omega)
    R = rigid.resistive_relation(system, zeta)
    assert R.contains(-tau, omega)
    assert tau @ omega > 0.0
    assert not R.contains(-1.01 * tau, omega)
    r, s = R.matrices(zeta, omega)
    np.testing.assert_allclose((r + s) @ omega, tau, rtol=1e-13)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"conserves power: ‖F Eᵀ \+ E Fᵀ‖ = 2e\+00"):
        DiracStructure(np.eye(3), np.eye(3))
    with pytest.raises(ValueError, match=r"is maximal: rank \[F E\] = 2, it must be 3"):
        DiracStructure(np.diag([1.0, 1.0, 0.0]), np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"ports must cover.*2 flows.*efforts once each, got \[0\]"):
        DiracStructure(np.eye(2), np.zeros((2, 2)), {"a": slice(0, 1)})
    with pytest.raises(ValueError, match=r"E must have shape \(2, 2\), got \(3, 3\)"):
        DiracStructure(np.eye(2), np.zeros((3, 3)))
    D = DiracStructure(np.eye(2), np.zeros((2, 2)), {"a": slice(0, 1), "b": slice(1, 2)})
    with pytest.raises(ValueError, match="no port 'c': there are 'a', 'b'"):
        D.contains({"a": 1.0, "c": 2.0}, np.zeros(2))
    with pytest.raises(ValueError, match="no flows of port 'b': there are 'a'"):
        D.contains({"a": 1.0}, np.zeros(2))
    with pytest.raises(ValueError, match="same dimension, got 2 and 3"):
        D.angles(DiracStructure(np.eye(3), np.zeros((3, 3))))
    with pytest.raises(ValueError, match="symplectic: ‖PᵀS − SᵀP‖ = "):
        LagrangianSubspace(np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(ValueError, match=r"maximal: rank \[P; S\] = 1, it must be 2"):
        LagrangianSubspace(np.diag([1.0, 0.0]), np.zeros((2, 2)))
