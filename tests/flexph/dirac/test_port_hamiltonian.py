"""Systems of a Dirac structure, an energy, resistances and external ports: [survey] sec. 2.3, 2.8, 3.2 and 6.2."""

import numpy as np
import pytest
from dirac_samples import ported
from scipy.linalg import null_space

import flexph
from flexph.dirac import (
    DiracStructure,
    InputStateOutput,
    LinearResistance,
    PortHamiltonian,
    compose,
    input_state_output,
    interconnect,
    symplectic_gyrator,
)

CLOSE = 1e-9  # solutions of linear systems of conditions below 1e5
SIZES = {"x": 4, "R": 2, "u": 2}
seeds = pytest.mark.parametrize("seed", range(8))


def positive(seed, n):
    a = np.random.default_rng([seed, n]).standard_normal((n, n))
    return a @ a.T + 0.5 * np.eye(n)


def random_system(seed, *, resistance="R", free=None):
    """A random structure, quadratic energy ½xᵀQx, a linear resistance."""
    D = ported(seed, SIZES, free=seed % 4 if free is None else free)
    Q, R = positive(seed, 4), positive(seed + 1, 2)
    relations = {
        "R": R,
        "flows": LinearResistance.of_flows(R),
        "short": LinearResistance(np.diag([0.0, 1.0]), np.diag([1.0, 2.0])),
        "open": LinearResistance(np.eye(2), np.diag([0.0, 1.0])),
    }
    return PortHamiltonian(
        structure=D,
        H=lambda x: 0.5 * float(x @ Q @ x),
        gradient=lambda x: Q @ x,
        hessian=lambda x: Q,
        sample=np.ones(4),
        resistive={"R": relations[resistance]},
    ), Q


def solution(system, Q, seed):
    """A random (x, ẋ, f_R, e_R, u, y) in the structure and in the resistive relation."""
    D, relation = system.at(system.sample), system.resistive["R"]
    K, L = D.image()
    r, u, x = D.ports["R"], D.ports["u"], D.ports["x"]
    inside = null_space(relation.flow @ K[r] + relation.effort @ L[r])
    lam = inside @ np.random.default_rng(seed).standard_normal(inside.shape[1])
    f, e = K @ lam, L @ lam
    return np.linalg.solve(Q, e[x]), -f[x], f[r], e[r], f[u], e[u]


@seeds
@pytest.mark.parametrize("resistance", ["R", "flows", "short", "open"])
def test_the_equations_have_the_solutions_of_the_structure(seed, resistance):
    """(2.22)-(2.23): every member is a solution of the PHDAE for some algebraic states, with the same output."""
    system, Q = random_system(seed, resistance=resistance)
    made = system.phdae()
    x, rate, _, _, u, y = solution(system, Q, seed)
    n, size = 4, made.size
    whole = np.concatenate([x, np.zeros(size - n)])
    flow = made.J(whole) - made.R(whole)
    wanted = np.concatenate([rate, np.zeros(size - n)]) - flow @ made.z(whole) - made.B(whole) @ u
    algebraic = np.linalg.lstsq(flow[:, n:], wanted, rcond=None)[0]
    scale = np.abs(wanted).max() + np.abs(whole).max()
    assert np.abs(flow[:, n:] @ algebraic - wanted).max() < CLOSE * scale
    state = np.concatenate([x, algebraic])
    np.testing.assert_allclose(made.B(state).T @ made.z(state), y, atol=CLOSE * scale)
    # and no others: as many conditions on (∇H, u) as the structure and the relation put on them
    D, relation = system.at(x), system.resistive["R"]
    K, L = D.image()
    r = D.ports["R"]
    inside = null_space(relation.flow @ K[r] + relation.effort @ L[r])
    pairs = np.vstack([L[D.ports["x"]], K[D.ports["x"]], K[D.ports["u"]]]) @ inside
    E = np.hstack([np.eye(size)[:, :n], -flow, -made.B(whole)])
    solutions = null_space(E)[np.r_[n : 2 * n, 0:n, n + size : n + size + 2]]
    assert np.linalg.matrix_rank(solutions, tol=1e-9) == np.linalg.matrix_rank(pairs, tol=1e-9)


@seeds
def test_kernel_and_constrained_form(seed):
    """(3.11), (3.16) and (3.21) hold for every solution; the constrained form makes the structure again."""
    system, Q = random_system(seed)
    x, rate, f_r, e_r, u, y = solution(system, Q, seed)
    scale = np.abs(np.concatenate([rate, f_r, e_r, u, y, Q @ x])).max()
    assert np.abs(system.kernel_form(x).residual(rate, Q @ x, (f_r, e_r), (u, y))).max() < CLOSE * scale
    try:
        form = system.constrained_form(x)
    except ValueError as error:
        assert "feed through" in str(error)
        assert system.phdae().size >= 8  # e_R and y are states
        return
    assert np.abs(form.b.T @ Q @ x).max(initial=0.0) < CLOSE * scale
    assert np.abs(form.kernel().residual(rate, Q @ x, (f_r, e_r), (u, y))).max() < CLOSE * scale
    again = form.structure("x").renamed({"resistive": "R", "external": "u"})
    assert again.distance(system.at(x)) < CLOSE


def without_feedthrough(seed):
    """ẋ = J∇H + g_R f_R + g u + b λ with two constraints of five states."""
    rng = np.random.default_rng(seed)
    J, outer = rng.standard_normal((5, 5)), rng.standard_normal((5, 3))
    matrix = np.block([[J - J.T, -outer], [outer.T, np.zeros((3, 3))]])
    b = rng.standard_normal((5, 2))
    graph = DiracStructure.from_skew(matrix).constrained(np.hstack([b.T, np.zeros((2, 3))]))
    flows = np.arange(8) >= 5
    F, E = np.where(flows, graph.E, graph.F), np.where(flows, graph.F, graph.E)
    D = DiracStructure(F, E, {"x": slice(0, 5), "R": slice(5, 6), "u": slice(6, 8)})
    return D, J - J.T, outer, b


@seeds
def test_constrained_form_comes_back(seed):
    D, _, outer, b = without_feedthrough(seed)
    system = PortHamiltonian(structure=D, H=lambda x: 0.5 * float(x @ x), gradient=lambda x: x, sample=np.ones(5),
                             resistive={"R": 2.0})  # fmt: skip
    form = system.constrained_form(system.sample)
    assert form.b.shape == (5, 2)
    assert np.linalg.matrix_rank(np.hstack([form.b, b]), tol=1e-9) == 2
    assert np.linalg.matrix_rank(np.hstack([form.resistive - outer[:, :1], b]), tol=1e-9) == 2
    again = form.structure("x").renamed({"resistive": "R", "external": "u"})
    assert again.distance(D) < CLOSE
    made = system.phdae()
    assert made.size == 7
    assert list(made.parts) == ["x", "multipliers"]
    rows, J, *_ = form.without_multipliers()
    assert np.abs(rows @ form.b).max() < 1e-12
    assert J.shape == (3, 5)


@seeds
def test_input_state_output_form(seed):
    """(2.43)-(2.45): rates and outputs are those of the structure, Z ⪰ 0, and back again."""
    system, Q = random_system(seed, free=0)
    try:
        made = input_state_output(system)
    except ValueError as error:
        assert "storage is constrained, or" in str(error)
        return
    x, rate, _, _, u, y = solution(system, Q, seed)
    scale = np.abs(np.concatenate([rate, u, y, Q @ x])).max() * 1e2
    np.testing.assert_allclose(made.rate(x, u), rate, atol=CLOSE * scale)
    np.testing.assert_allclose(made.output(x, u), y, atol=CLOSE * scale)
    assert np.linalg.eigvalsh(made.Z(x)).min() > -1e-9 * np.abs(made.Z(x)).max()
    again = input_state_output(made.port_hamiltonian())
    for name in "JRgPMS":
        np.testing.assert_allclose(getattr(again, name)(x), getattr(made, name)(x), atol=CLOSE * scale)
    whole = made.phdae()
    state = np.concatenate([x, u, y])
    residual = whole.E(state) @ np.concatenate([rate, 0 * u, 0 * y]) - (
        (whole.J(state) - whole.R(state)) @ whole.z(state) + whole.B(state) @ u
    )
    assert np.abs(residual).max() < CLOSE * scale
    np.testing.assert_allclose(whole.B(state).T @ whole.z(state), y, atol=CLOSE * scale)


def test_runs_with_feedthrough_keep_the_balance():
    made = InputStateOutput(
        J=[[0.0, 1.0], [-1.0, 0.0]], R=np.diag([0.1, 0.3]), g=[[0.0], [1.0]], P=[[0.1], [0.2]], S=[[0.5]],
        H=lambda x: 0.25 * float(np.sum(x**4)), gradient=lambda x: x**3, sample=np.array([1.0, 0.5]))  # fmt: skip
    system = made.phdae()
    start = flexph.consistency.consistent(system, [1.0, 0.5, 0.0, 0.0])
    found = flexph.integrate(system, start, np.linspace(0.0, 2.0, 41), inputs={"u": lambda t: [np.sin(t)]},
                             progress=False)  # fmt: skip
    assert found.ledger.largest_residual < 1e-12
    np.testing.assert_allclose(found["nu"][1:, 0], np.sin(found.output_times), atol=1e-12)


def spring(k):
    D = DiracStructure([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, -1.0]], {"q": slice(0, 1), "spring": slice(1, 2)})
    return PortHamiltonian(structure=D, H=lambda x: 0.5 * k * x[0] ** 2, gradient=lambda x: k * x, sample=np.ones(1))


def mass(m):
    D = DiracStructure([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, -1.0]], {"p": slice(0, 1), "mass": slice(1, 2)})
    return PortHamiltonian(structure=D, H=lambda x: 0.5 * x[0] ** 2 / m, gradient=lambda x: x / m, sample=np.ones(1))


def test_mass_and_spring_make_the_published_structure():
    """[survey] example 3.1: (3.12), (3.13) and (3.14) make (3.15)."""
    whole = interconnect(spring(3.0), mass(2.0), ports={"spring": "mass"}, gyrative=True)
    np.testing.assert_allclose(whole.phdae().J(whole.sample), [[0.0, 1.0], [-1.0, 0.0]], atol=1e-14)
    published = DiracStructure(np.eye(2), [[0.0, 1.0], [-1.0, 0.0]], {"q": slice(0, 1), "p": slice(1, 2)})
    gyrator = symplectic_gyrator(("spring", "mass"))
    composed = compose(compose(mass(1.0).structure, gyrator), spring(1.0).structure)
    assert composed.distance(published) < 1e-12
    assert whole.at(whole.sample).distance(published) < 1e-12


def test_nonlinear_relations_dissipate_by_their_law():
    """f = −ρ(e): the dissipation is e ρ(e) in the direct form, and where the relation feeds through."""
    relation = flexph.laws.quadratic(0.7)
    direct = DiracStructure.from_hybrid([[0.0, -1.0], [1.0, 0.0]], [False, True], {"p": slice(0, 1), "R": slice(1, 2)})
    damped = PortHamiltonian(structure=direct, H=lambda x: 0.5 * float(x @ x), gradient=lambda x: x,
                             sample=np.ones(1), resistive={"R": relation})  # fmt: skip
    assert damped.phdae().size == 1
    assert damped.phdae().R(np.array([3.0]))[0, 0] == pytest.approx(2.1)
    found = flexph.integrate(damped.phdae(), [1.0], np.linspace(0.0, 1.0, 201), progress=False)
    assert found.final[0] == pytest.approx(1.0 / 1.7, abs=1e-5)  # ṗ = −0.7 p|p|, second order in 0.005
    assert found.ledger.largest_residual < 1e-12
    series = DiracStructure.from_skew([[0.0, 0.0], [0.0, 0.0]], {"p": slice(0, 1), "R": slice(1, 2)})
    with pytest.raises(ValueError, match="resistance of 'R' must have 1 entries, got 2"):
        PortHamiltonian(structure=series, H=float, gradient=lambda x: x, sample=np.ones(1), resistive={"R": np.eye(2)})


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"Z = \[\[R, P\], \[Pᵀ, S\]\] must be positive semi-definite"):
        InputStateOutput(J=[[0.0]], R=[[1.0]], g=[[1.0]], P=[[2.0]], S=[[1.0]], H=lambda x: 0.0,
                         gradient=lambda x: x, sample=np.ones(1))  # fmt: skip
    with pytest.raises(ValueError, match="M must be skew-symmetric"):
        InputStateOutput(J=[[0.0]], g=[[1.0]], M=[[1.0]], H=lambda x: 0.0, gradient=lambda x: x, sample=np.ones(1))
    with pytest.raises(ValueError, match="R_f R_eᵀ must be positive semi-definite"):
        LinearResistance.of_efforts(-1.0)
    with pytest.raises(ValueError, match="R_f R_eᵀ must be symmetric"):
        LinearResistance.of_efforts([[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"rank \[R_f R_e\] = 1, it must be 2"):
        LinearResistance(np.diag([1.0, 0.0]), np.zeros((2, 2)))
    D = ported(0, {"x": 2, "u": 1})
    with pytest.raises(ValueError, match="port 'x' stores energy, it cannot be resistive too"):
        PortHamiltonian(structure=D, H=float, gradient=lambda x: x, sample=np.ones(2), resistive={"x": 1.0})
    with pytest.raises(ValueError, match="no port 'y': there are 'x', 'u'"):
        PortHamiltonian(structure=D, H=float, gradient=lambda x: x, sample=np.ones(2), storage=("y",))


def test_a_modulated_structure_runs_as_the_system_itself():
    """The coin of [survey] example 2.4 as a structure that depends on the state, against its equations."""
    from cases.spinning_body import coin
    from flexph.analysis import structure_of

    direct = coin().phdae(np.array([0.2, 0.1, 0.3, 0.5]))

    def structure(x):
        return structure_of(direct, np.concatenate([x, np.zeros(2)]))

    system = PortHamiltonian(structure=structure, H=lambda x: 0.5 * float(x[4:] @ x[4:]), sample=direct.sample[:8],
                             gradient=lambda x: np.concatenate([np.zeros(4), x[4:]]), storage=("q", "p"))  # fmt: skip
    assert not system.is_constant
    assert system.external == ("u",)
    made, times, inputs = system.phdae(), np.linspace(0.0, 0.06, 4), {"u": [1.0, 0.5]}
    assert list(made.parts) == ["q", "p", "multipliers"]
    found = [flexph.integrate(s, flexph.consistency.consistent(s, s.sample, inputs=inputs), times, inputs=inputs,
    progress=False)
             for s in (made, direct)]  # fmt: skip
    for part in ("q", "p"):
        np.testing.assert_allclose(found[0][part], found[1][part], atol=1e-10)
    assert found[0].ledger.largest_residual < 1e-12


def test_a_nonlinear_relation_that_feeds_through():
    """A voltage source on a capacitor through a resistor with i = ρ(v): e_R = u − Q/C is no effort of the storage."""
    # flows Q̇' = −Q̇, f_R, f_u and efforts V_C, v_R, and of the source its current: f_u = voltage
    J = np.zeros((3, 3))
    J[0, 1], J[1, 0], J[1, 2], J[2, 1] = 1.0, -1.0, 1.0, -1.0
    D = DiracStructure.from_hybrid(J, [False, True, True],
                                   {"Q": slice(0, 1), "R": slice(1, 2), "source": slice(2, 3)})  # fmt: skip
    system = PortHamiltonian(structure=D, H=lambda x: 0.5 * float(x @ x), gradient=lambda x: x, sample=np.zeros(1),
                             resistive={"R": flexph.laws.quadratic(2.0)})  # fmt: skip
    made = system.phdae()
    assert list(made.parts) == ["Q", "R", "source"]
    start = flexph.consistency.consistent(
        made, np.concatenate([[0.0], 0.5 * np.ones(made.size - 1)]), inputs={"source": 1.0}
    )
    found = flexph.integrate(made, start, np.linspace(0.0, 1.0, 201), inputs={"source": 1.0}, progress=False)
    # Q̇ = 2 (1 − Q)²: 1 − Q = 1/(1 + 2 t)
    assert abs(found["Q"][-1, 0]) == pytest.approx(1.0 - 1.0 / 3.0, abs=1e-4)
    assert found.ledger.largest_residual < 1e-11
