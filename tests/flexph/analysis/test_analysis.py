"""The analysis of pHDAEs against theory, other routes and runs: [survey] sec. 4."""

import numpy as np
import pytest
from dirac_samples import ported
from scipy.linalg import eigvals, null_space, subspace_angles

import flexph
from flexph import PHDAE, LinearPHDAE
from flexph.analysis import (
    KinematicSystem,
    ReducedKinematics,
    analyze,
    eliminate_index_one,
    eliminate_kinematics,
    equilibrium,
    hidden_constraints,
    impasse_points,
    sparsity_text,
    structure_of,
    turning_points,
)
from flexph.analysis.structure import codistribution
from flexph.analysis.view import view
from flexph.dirac import DiracStructure, PortHamiltonian

seeds = pytest.mark.parametrize("seed", range(6))
CLOSE = 1e-10


def positive(rng, n):
    a = rng.standard_normal((n, n))
    return a @ a.T + 0.5 * np.eye(n)


def quadratic(D, Q, resistive=None):
    """H = ½ xᵀQx on a structure."""
    return PortHamiltonian(
        structure=D,
        H=lambda x: 0.5 * float(x @ Q @ x),
        gradient=lambda x: Q @ x,
        hessian=lambda x: Q,
        sample=np.linspace(1.0, 2.0, len(Q)),
        resistive=resistive or {},
    )


def nonlinear(D, Q):
    """H = ½ xᵀQx + ¼ Σ x⁴ on a structure."""
    return PortHamiltonian(structure=D, H=lambda x: 0.5 * float(x @ Q @ x) + 0.25 * float(np.sum(x**4)),
                           gradient=lambda x: Q @ x + x**3, hessian=lambda x: Q + 3.0 * np.diag(x**2),
                           sample=np.linspace(1.0, 1.5, len(Q)))  # fmt: skip


def storage(seed, *, casimirs=0, multipliers=0, turning=4):
    """A constant structure of the storage with as many Casimirs and multipliers, in random coordinates."""
    rng = np.random.default_rng([seed, casimirs, multipliers])
    n = turning + casimirs + multipliers
    J = np.zeros((n, n))
    J[:turning, :turning] = np.triu(rng.uniform(0.5, 1.5, (turning, turning)), 1)
    T = np.linalg.qr(rng.standard_normal((n, n)))[0]
    J, G = T @ (J - J.T) @ T.T, T[:, turning + casimirs :]
    return DiracStructure.from_constrained(J, G, {"x": slice(0, n)})


@seeds
@pytest.mark.parametrize(("casimirs", "multipliers"), [(1, 0), (2, 1), (0, 2), (3, 2)])
def test_conserved_quantities_stay_with_another_hamiltonian(seed, casimirs, multipliers):
    """Every Casimir of the report is constant to round-off in a run with a random Hamiltonian on the structure."""
    D, rng = storage(seed, casimirs=casimirs, multipliers=multipliers), np.random.default_rng(seed + 9)
    n = D.size
    found = analyze(quadratic(D, positive(rng, n)))
    assert found.casimirs.count == casimirs
    assert found.index.constraints == ((multipliers, 0) if multipliers else ())
    other = nonlinear(D, positive(rng, n)).phdae()
    start = flexph.consistency.consistent(other, other.sample) if multipliers else other.sample
    run = flexph.integrate(other, start, np.linspace(0.0, 0.5, 26), progress=False)
    values = found.casimirs.values(run.states[:, :n])
    assert np.abs(run.states[-1, :n] - run.states[0, :n]).max() > 1e-2  # it moves
    assert np.abs(values - values[0]).max(initial=0.0) < 1e-13 * 25.0  # 25 steps of round-off


@seeds
def test_casimirs_are_those_of_the_structure(seed):
    """(4.30) and (4.33) by the equations of D: {α : (0, α, 0, 0) ∈ D}, efforts of inputs free."""
    D = ported(seed, {"x": 5, "R": 1, "u": 2}, free=seed % 3)
    x, u = D.ports["x"], D.ports["u"]
    n, rng = 5, np.random.default_rng(seed)
    wanted = null_space(np.hstack([D.E[:, x], D.E[:, u]]))[:n]
    system = quadratic(D, positive(rng, n), {"R": [[2.0]]})
    there = np.linalg.matrix_rank(wanted, tol=1e-9)
    assert analyze(system).casimirs.count == there


@seeds
def test_the_structure_of_a_phdae_is_the_one_it_was_made_of(seed):
    D = ported(seed, {"x": 4, "u": 2}, free=seed % 3)
    system = quadratic(D, positive(np.random.default_rng(seed), 4))
    made = structure_of(system.phdae())
    assert made.distance(D) < CLOSE
    assert structure_of(system) is D
    whole = structure_of(system.phdae(), algebraic=True)
    assert whole.size == system.phdae().size + 2


def linear(J, *, E, R=None, G=None):
    return LinearPHDAE(E=E, J=J, R=R, G=G)


def chain(links):
    """H = x₁x₂ + x₃x₄ + … + ½x², 0 = ∂H/∂x₁: x₂, x₃, … vanish in turn, λ in ẋ₁ comes last: index 2 links + 2."""
    n = 2 * links + 1
    J, Q, b = np.zeros((n, n)), np.zeros((n, n)), np.eye(n)[:, :1]
    for k in range(1, n, 2):
        Q[k - 1, k] = Q[k, k - 1] = 1.0
        J[k + 1, k], J[k, k + 1] = 1.0, -1.0
    Q[n - 1, n - 1] = 1.0
    return PHDAE(
        E=np.diag(np.append(np.ones(n), 0.0)),
        J=np.block([[J, b], [-b.T, np.zeros((1, 1))]]),
        z=lambda x: np.append(Q @ x[:n], x[n]),
        H=lambda x: 0.5 * float(x[:n] @ Q @ x[:n]),
        sample=np.zeros(n + 1),
    )


def clamped(capacity):
    """[survey] example 4.5: the voltage of the capacitor is zero; 1/C = 0 makes the constraint void."""
    Q = np.diag([1.0 / capacity if capacity else 0.0, 0.5])
    J, b = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[1.0], [0.0]])
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.block([[J, b], [-b.T, np.zeros((1, 1))]]),
        z=lambda x: np.append(Q @ x[:2], x[2]),
        H=lambda x: 0.5 * float(x[:2] @ Q @ x[:2]),
        sample=np.array([0.0, 1.0, 0.0]),
        parts={"Q": slice(0, 1), "phi": slice(1, 2), "lam": slice(2, 3)},
    )


def test_the_index_follows_from_ranks():
    rng = np.random.default_rng(3)
    J, G = rng.standard_normal((5, 5)), rng.standard_normal((2, 5))
    free = analyze(linear(J - J.T, E=np.eye(5))).index
    assert (free.index, free.freedom, str(free)) == (0, 5, "index 0: 5 differential states, no algebraic ones")
    held = analyze(linear(J - J.T, E=positive(rng, 5), G=G)).index
    assert (held.index, held.index_eliminated, held.constraints, held.freedom) == (2, 1, (2, 0), 3)
    twice = analyze(linear(J - J.T, E=np.eye(5), G=np.vstack([G, G[:1] - G[1:]]))).index
    assert (twice.index, twice.constraints, twice.redundant, twice.undetermined) == (2, (2, 0), 1, 1)
    deep = analyze(chain(1)).index
    assert (deep.index, deep.index_eliminated, deep.constraints, deep.freedom) == (4, 3, (1, 1, 1, 0), 0)
    deeper = analyze(chain(2)).index
    assert deeper.exceeded
    assert str(deeper).startswith("index above 4: the counts below are bounds")
    shorted = analyze(clamped(2.0))
    assert (shorted.index.index, shorted.index.freedom, shorted.index.undetermined) == (2, 1, 0)
    void = analyze(clamped(0.0))
    assert (void.index.undetermined, void.index.freedom) == (1, 2)
    assert void.well_posed.startswith("not well-posed: 1 algebraic states are free")


def test_index_of_resistive_equations():
    """0 = −z₁ − z₂: index one by the relation itself; the consistent states are all x₁."""
    from cases.index_one import quadratic as example

    found = analyze(example().system, [1.0, 5.0])
    assert (found.index.index, found.index.index_eliminated, found.index.freedom) == (1, 1, 1)
    assert found.state == pytest.approx([1.0, -1.0])
    assert found.given
    assert "well-posed" in found.well_posed
    assert found.passivity.passive == "yes"
    assert "index 1\n" in str(found)


def spectra_apart(one, other):
    """The largest distance of an eigenvalue to the nearest of the other spectrum, over the largest modulus."""
    assert len(one) == len(other)
    away = np.abs(one[:, None] - other[None, :])
    return max(away.min(axis=0).max(), away.min(axis=1).max()) / np.abs(one).max()


@seeds
def test_elimination_keeps_the_finite_eigenvalues(seed):
    """(4.6)-(4.8): the finite eigenvalues are those of the pencil (4.5), energies agree, and flexph.eliminate's too."""
    rng = np.random.default_rng(seed)
    J, G, g = rng.standard_normal((7, 7)), rng.standard_normal((7, 2)), rng.standard_normal((7, 1))
    J, Q, R = J - J.T, positive(rng, 7), 0.1 * positive(rng, 7)
    made = eliminate_index_one(J, Q, G, R=R, g=g)
    own = eigvals((made.J - made.R) @ made.Q)
    pencil = eigvals(np.block([[(J - R) @ Q, G], [G.T @ Q, np.zeros((2, 2))]]), np.diag([1.0] * 7 + [0.0] * 2))
    finite = pencil[np.isfinite(pencil) & (np.abs(pencil) < 1e6)]
    assert spectra_apart(own, finite) < 1e-7  # infinite ones perturb by the root of eps
    z = rng.standard_normal(5)
    x = made.lift @ z
    assert np.abs(G.T @ Q @ x).max() < 1e-11 * np.abs(Q @ x).max()
    assert x @ Q @ x == pytest.approx(z @ made.Q @ z, rel=1e-10)
    np.testing.assert_allclose(made.project @ x, z, atol=1e-10)
    # the same in co-energies e = Q x: Q⁻¹ ė = (J − R) e + Gλ, 0 = Gᵀe
    S = np.linalg.inv(Q)
    other = flexph.eliminate(LinearPHDAE(E=0.5 * (S + S.T), J=J, R=R, G=G.T))
    assert spectra_apart(own, eigvals(other.J - other.R, other.E)) < 1e-9


def test_elimination_refuses_violated_conditions():
    with pytest.raises(ValueError, match=r"GᵀQG must have full rank"):
        eliminate_index_one(np.zeros((2, 2)), np.diag([0.0, 1.0]), np.array([[1.0], [0.0]]))
    with pytest.raises(ValueError, match="G must have full column rank, got rank 1 of 2 columns"):
        eliminate_index_one(np.zeros((2, 2)), np.eye(2), np.array([[1.0, 2.0], [0.0, 0.0]]))
    with pytest.raises(ValueError, match="J must be skew-symmetric"):
        eliminate_index_one(np.eye(2), np.eye(2), np.array([[1.0], [0.0]]))


def coin(**more):
    """[survey] example 2.4, with the S of (4.20): p₁ = p_φ, p₂ = p_θ + p_x cos φ + p_y sin φ."""
    cos, sin = np.cos, np.sin
    return KinematicSystem(
        mass=np.eye(4),
        constraints=lambda q: np.array([[1.0, 0.0], [0.0, 1.0], [-cos(q[3]), -sin(q[3])], [0.0, 0.0]]),
        inputs=np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        potential=lambda q: 0.0,
        gradient=lambda q: np.zeros(4),
        sample=np.array([0.3, -0.2, 0.4, 0.7]),
        **more,
    )


def test_the_rolling_coin_reduces_to_the_published_equations():
    """[survey] eq. (4.21), entry by entry at random states, with the basis of (4.20)."""

    def basis(q):
        return np.array([[0.0, np.cos(q[3])], [0.0, np.sin(q[3])], [0.0, 1.0], [1.0, 0.0]])

    made = eliminate_kinematics(coin(basis=basis))
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal(6)
        J = np.zeros((6, 6))
        J[:4, 4:] = basis(x)
        J[4:, :4] = -basis(x).T
        np.testing.assert_allclose(made.J(x), J, atol=1e-10)
        np.testing.assert_allclose(made.B(x), [[0, 0]] * 4 + [[0, 1], [1, 0]], atol=1e-15)
        np.testing.assert_allclose(made.z(x), [0, 0, 0, 0, x[4], 0.5 * x[5]], atol=1e-10)
        assert made.H(x) == pytest.approx(0.5 * x[4] ** 2 + 0.25 * x[5] ** 2)


@pytest.mark.slow
def test_reduced_and_constrained_coin_move_alike():
    """(4.16) against (2.38), both by the midpoint rule at small steps, and by a basis that the package chooses."""
    system, reduced = coin(), ReducedKinematics(coin())
    start = np.array([0.6, -0.4])
    q0 = system.sample
    full = system.phdae(reduced.momenta(q0, start))
    times = np.linspace(0.0, 0.25, 101)
    inputs = {"u": lambda t: [np.sin(3.0 * t), 0.5]}
    one = flexph.integrate(eliminate_kinematics(system), [*q0, *start], times, inputs=inputs, progress=False)
    begin = flexph.consistency.consistent(full, full.sample, inputs={"u": [0.0, 0.5]})
    two = flexph.integrate(full, begin, times, inputs=inputs, progress=False)
    np.testing.assert_allclose(one["q"], two["q"], atol=1e-5)  # second order: (2.5e-3)² times one
    assert one.ledger.largest_residual < 1e-9  # of rates by differences


def varying():
    """A point on a surface with a mass that depends on the place, and an angle: one holonomic constraint."""

    def slope(q):
        return np.array([[2.0 * q[0]], [np.cos(q[1])], [-1.0]])

    return KinematicSystem(
        mass=lambda q: np.diag([1.0 + q[0] ** 2, 2.0, 1.5 + np.sin(q[1]) ** 2]),
        constraints=slope,
        potential=lambda q: 3.0 * float(q[2]) + 0.5 * float(q[0] ** 2),
        gradient=lambda q: np.array([q[0], 0.0, 3.0]),
        sample=np.array([0.4, 0.3, 0.16 + np.sin(0.3)]),
    )


def test_holonomic_constraints_reduce_to_a_poisson_structure():
    """(7.1) holds for J_c where constraints are holonomic, and not for the coin ([37] after example 7.1)."""
    from flexph.dirac import jacobi_identity

    smooth = ReducedKinematics(varying())
    assert jacobi_identity(smooth.structure, np.array([0.4, 0.3, 0.2, 0.5, -0.3]))
    rolls = ReducedKinematics(coin())
    assert not jacobi_identity(rolls.structure, np.array([0.1, 0.2, 0.3, 0.7, 0.5, -0.3]))
    made = eliminate_kinematics(varying())  # checks z = ∇H_c there, and elsewhere:
    made.check(np.array([0.2, -0.5, 0.7, 0.4, 1.0]))
    drifts = []
    for steps in (20, 40):
        times = np.linspace(0.0, 0.2, steps + 1)
        q = flexph.integrate(made, [*varying().sample, 0.5, 0.1], times, progress=False)["q"]
        drifts.append(np.abs(q[:, 0] ** 2 + np.sin(q[:, 1]) - q[:, 2]).max())
    assert drifts[0] < 5e-9 and drifts[0] / drifts[1] == pytest.approx(4.0, rel=0.01)  # second order
    full = varying().phdae(np.array([0.3, 0.2, 0.0]))
    report = analyze(full)
    assert report.casimirs.flag == (1,)
    assert report.index.constraints == (1, 0)


def test_hidden_constraints_of_positions():
    """φ(q) = 0 hides ∂φ/∂q v = 0, and b = −J ∂φᵀ is the force on p (remark 3.3)."""
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    x = np.array([0.6, -0.8, 0.3, 0.5])
    rates, b = hidden_constraints(J, lambda x: np.array([0.0, 9.81, x[2], x[3]]),
                                  lambda x: np.array([[x[0], x[1], 0.0, 0.0]]), x)  # fmt: skip
    assert rates == pytest.approx([0.6 * 0.3 - 0.8 * 0.5])
    np.testing.assert_allclose(b[:, 0], [0.0, 0.0, 0.6, -0.8])
    with pytest.raises(ValueError, match=r"constraints must commute: ∂φ_0 J ∂φ_1ᵀ = 1"):
        hidden_constraints(J, lambda x: x, lambda x: np.eye(4)[[0, 2]], x)


def test_passivity_is_decided_on_the_constraints():
    D = DiracStructure.from_skew([[0.0, -1.0], [1.0, 0.0]], {"x": slice(0, 2)})
    assert analyze(quadratic(D, np.diag([1.0, 0.0]))).passivity.passive == "yes"
    falling = PortHamiltonian(structure=D, H=lambda x: float(x[0] + 0.5 * x[1] ** 2),
                              gradient=lambda x: np.array([1.0, x[1]]), sample=np.ones(2))  # fmt: skip
    assert analyze(falling).passivity.passive == "no"
    saddle = quadratic(D, np.diag([1.0, -2.0]))
    assert analyze(saddle).passivity.bounded == "no"
    # held where it is negative: 0 = ∂H/∂x₂ leaves ½x₁²
    held = DiracStructure.from_constrained(np.zeros((2, 2)), [[0.0], [1.0]], {"x": slice(0, 2)})
    found = analyze(quadratic(held, np.diag([1.0, -2.0]))).passivity
    assert (found.bounded, found.bounded_on_constraints, found.passive) == ("no", "yes", "yes")


def spin(axis):
    from cases.spinning_body import spinning

    return spinning(2.0 * np.eye(3)[axis])


def test_stability_by_energy_and_casimirs():
    """The smallest and the largest axis are stable, the one in the middle is not; a damped spring decays."""
    verdicts = [analyze(spin(i)).stability.verdict for i in range(3)]
    assert verdicts == ["stable", "unstable", "stable"]
    D = DiracStructure.from_hybrid(
        np.array([[0.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]), np.array([False, False, True]),
        {"x": slice(0, 2), "R": slice(2, 3)})  # fmt: skip
    damped = quadratic(D, np.diag([2.0, 1.0]), {"R": 0.3})
    assert analyze(damped, [0.0, 0.0]).stability.verdict == "asymptotically stable"
    assert analyze(damped).stability.verdict == "no equilibrium"
    top = quadratic(D, np.diag([-2.0, -1.0]), {"R": 0.3})  # a maximum of H is no reason where energy is lost
    assert analyze(top, [0.0, 0.0]).stability.verdict == "unstable"


def test_equilibrium_is_found_on_the_leaf():
    """Two tanks with a pipe: the volume is the Casimir, levels are equal at rest."""
    D = DiracStructure.from_hybrid([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [1.0, -1.0, 0.0]],
                                   [False, False, True], {"x": slice(0, 2), "R": slice(2, 3)})  # fmt: skip
    tanks = quadratic(D, np.diag([1.0, 3.0]), {"R": 2.0})
    found = equilibrium(tanks, [4.0, 0.0])
    assert found == pytest.approx([3.0, 1.0])
    report = analyze(tanks, found)
    assert report.casimirs.expressions in (("x[0] + x[1]",), ("x[1] + x[0]",))
    assert report.stability.verdict == "asymptotically stable"
    with pytest.raises(ArithmeticError, match="no equilibrium was found near the guess"):
        falling = PortHamiltonian(
            structure=DiracStructure.from_skew([[0.0, -1.0], [1.0, 0.0]], {"x": slice(0, 2)}),
            H=lambda x: float(x[0] + 0.5 * x[1] ** 2),
            gradient=lambda x: np.array([1.0, x[1]]),
            sample=np.ones(2),
        )
        equilibrium(falling)


def test_impasse_points_of_the_van_der_pol_characteristic():
    """[survey] example 4.4: V = I − I³/3 turns at (∓1, ∓2/3); so do the equations on a path along the curve."""
    found = turning_points(lambda i: i - i**3 / 3.0, (-2.0, 2.0))
    np.testing.assert_allclose(found, [(-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0)], atol=1e-9)
    system = resistor()
    current = np.linspace(2.5, 0.2, 12)
    path = np.column_stack([current - current**3 / 3.0, current])
    points = impasse_points(system, path)
    assert len(points) == 1
    assert points[0].state[1] == pytest.approx(1.0, abs=1e-9)
    assert impasse_points(clamped(2.0), [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]) == []
    ill = analyze(system, [2.0 / 3.0 - 5e-3, 1.05])
    assert not ill.index.undetermined


def resistor():
    """Q̇ = I, 0 = −Q + I − I³/3, z = (Q, I): it generates power where |I| < √3, the sample is outside."""
    return PHDAE(
        E=np.diag([1.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=lambda x: np.diag([0.0, x[1] ** 2 / 3.0 - 1.0]),
        z=lambda x: np.array([x[0], x[1]]),
        H=lambda x: 0.5 * float(x[0] ** 2),
        sample=np.array([2.0 - 8.0 / 3.0, 2.0]),
    )


def test_where_power_is_generated_the_certificate_says_no():
    found = analyze(resistor(), [1.2 - 1.2**3 / 3.0, 1.2])
    assert found.passivity.passive == "no"
    assert found.passivity.lowest_resistance < -0.5


def test_co_distribution_is_that_of_the_structure():
    """Scaled covectors against {α : (0, α) ∈ D} of the coin, and the report's derived flag."""
    full = coin().phdae(np.array([0.4, 0.2, 0.3, 0.1]))
    made = view(full)
    alpha = codistribution(made, made.x) / made.scales[:, None]
    D = structure_of(full)
    closed = D.closed(flows=["u"])
    wanted = null_space(closed.E)
    assert np.max(subspace_angles(alpha, wanted)) < 1e-10
    report = analyze(full)
    assert report.casimirs.flag == (2, 1, 0)
    assert "not integrable: derived flag 2, 1, 0 (nonholonomic)" in str(report)


def test_the_text_and_the_picture(tmp_path):
    from flexph import plot

    found = analyze(clamped(2.0))
    text = str(found)
    for words in ("in the rows of lam", "index 2 with multipliers as unknowns, 1 without", "consistent states of",
                  "passive: yes", "equilibrium, stable"):  # fmt: skip
        assert words in text
    lines = found.picture().splitlines()
    assert lines[0] == "w = J v, v in the order e Q, e phi, e lam"
    assert [line.partition("= ")[2] for line in lines[1:]] == [". - -", "+ . .", "+ . ."]
    assert plot.save(plot.structure(found.whole), tmp_path / "structure.png").stat().st_size > 5_000
    large = ported(1, {"a": 40, "b": 30})
    assert sparsity_text(large).startswith("entries of J by ports")


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="system must be a PHDAE"):
        analyze(np.eye(2))
    with pytest.raises(ValueError, match=r"state must have shape \(3"):
        analyze(clamped(1.0), [1.0])
    with pytest.raises(ValueError, match="basis must span the kernel of Aᵀ"):
        coin(basis=lambda q: np.eye(4)[:, :2])
    with pytest.raises(ValueError, match="interval must be"):
        turning_points(lambda f: f, (1.0, 0.0))
