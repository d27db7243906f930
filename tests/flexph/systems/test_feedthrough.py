"""Feed-through of general systems ([dg] remark 2): balance and outputs by every method, passivity, other forms."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from flexph import PHDAE, analyze, integrate
from flexph.analysis import equilibrium, impasse_points
from flexph.consistency import consistent
from flexph.dirac import InputStateOutput
from flexph.discretisation import with_pair
from flexph.interconnection import gyrator, interchange, transformer
from flexph.interconnection.feedthrough import without_feedthrough
from flexph.methods import by_name
from flexph.switching import SwitchingPHDAE
from flexph.systems import Derivatives, transform

PAIRS = ("gonzalez", "mean_value", "dirac")
PUSH = {"a": lambda t: (math.sin(3.0 * t), 0.4), "b": lambda t: math.cos(5.0 * t)}


def drawn(seed=0):
    """J, B and a random [[R, P], [Pᵀ, S]] ⪰ 0 of rank 4 of 6, N skew: 3 states, 3 inputs."""
    draw = np.random.default_rng(seed).standard_normal
    J, N, root = draw((3, 3)), draw((3, 3)), 0.5 * draw((6, 4))
    Z = root @ root.T
    return {
        "J": J - J.T,
        "B": draw((3, 3)),
        "R": Z[:3, :3],
        "P": Z[:3, 3:],
        "S": Z[3:, 3:],
        "N": N - N.T,
    }


def hamiltonian(x):
    return 0.25 * float(x @ x) ** 2 + 0.5 * float(x @ x)


def gradient(x):
    return (x @ x + 1.0) * x


START = np.array([0.6, -0.3, 0.2])


def system(seed=0, **options):
    """H = ¼|x|⁴ + ½|x|², E = 1, with feed-through."""
    given = {"E": np.eye(3), "z": gradient, "H": hamiltonian, "sample": START, "ports": PORTS, **drawn(seed)}
    return PHDAE(**(given | options))


PORTS = {"a": slice(0, 2), "b": slice(2, 3)}


def modulated(**options):
    """The same with matrices that depend on the state, and an algebraic state w: 0 = −x₁ − (1 + w²)w + u."""
    root = 0.4 * np.random.default_rng(3).standard_normal((5, 3))

    def loss(x):  # of (z, u), positive semi-definite and of rank 3
        made = root * (1.0 + 0.3 * np.sin(x[0]))
        Z = made @ made.T
        Z[3, 3] += 1.0 + x[3] ** 2
        return Z

    J = np.zeros((4, 4))
    J[0, 1], J[1, 0], J[0, 3], J[3, 0] = 1.0, -1.0, 1.0, -1.0
    given = {
        "E": np.diag([1.0, 1.0, 1.0, 0.0]),
        "J": J,
        "R": lambda x: loss(x)[:4, :4],
        "P": lambda x: loss(x)[:4, 4:],
        "S": lambda x: loss(x)[4:, 4:],
        "B": lambda x: np.array([[0.0], [math.cos(x[1])], [1.0], [0.5]]),
        "z": lambda x: np.append(gradient(x[:3]), x[3]),
        "H": lambda x: hamiltonian(x[:3]),
        "sample": np.array([0.6, -0.3, 0.2, 0.1]),
        "ports": {"force": slice(0, 1)},
    }
    return PHDAE(**(given | options))


def run(given, start, times, method="gonzalez", *, tolerance=None, **options):
    value = by_name(method, tolerance=tolerance)
    return integrate(given, start, times, method=value, progress=False, **options)


# --- the balance ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_power_balance_at_random_states(seed):
    """dH/dt = yᵀu − (z, u)ᵀ[[R, P], [Pᵀ, S]](z, u) at random states and inputs, to round-off."""
    given, rng = system(seed), np.random.default_rng(seed)
    for x, u in zip(rng.standard_normal((5, 3)), rng.standard_normal((5, 3)), strict=True):
        rate, supplied = given.power_balance(x, u)
        assert rate == pytest.approx(supplied, abs=1e-12 * (1.0 + abs(rate)))
        y, z, m = given.output(x, u), given.z(x), drawn(seed)
        whole = np.block([[m["R"], m["P"]], [m["P"].T, m["S"]]])
        joined = np.append(z, u)
        assert supplied == pytest.approx(float(y @ u - joined @ whole @ joined), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(y, (m["B"] + m["P"]).T @ z + (m["S"] - m["N"]) @ u, atol=1e-13)


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("step", [0.05, 0.5])
def test_every_step_balances(method, step):
    """Also at steps as long as the motion; 0 ≤ dissipation, which contains the cross terms and uᵀSu."""
    for given, push in ((system(), PUSH), (modulated(), {"force": lambda t: math.sin(4.0 * t)})):
        found = run(given, given.sample, np.arange(0.0, 2.01, step), method, inputs=push)
        assert found.ledger.largest_residual < 1e-12
        assert found.energy_drift() < 1e-12
        # zero on the four directions of rank 6 that do not lose; below round-off of the terms it has either sign
        assert found.ledger.total_dissipation.min() > -1e-13 * found.ledger.scale
        assert found.ledger.total_dissipation.sum() > 1e-3


def test_passive_systems_give_back_no_more_than_they_took():
    """H(t) − H(0) ≤ ∫yᵀu at every saved time and for any input."""
    rng = np.random.default_rng(5)
    table = (np.linspace(0.0, 3.0, 31), rng.standard_normal((31, 2)))
    found = run(system(), START, np.linspace(0.0, 3.0, 31), inputs={"a": table})
    supplied = np.cumsum(sum(found.ledger.work.values()))
    assert np.all(found.ledger.total_energy[1:] - found.ledger.total_energy[0] <= supplied + 1e-12)


def test_the_pair_of_the_system_itself():
    given = with_pair(system(), "mean_value")
    times = np.linspace(0.0, 1.0, 11)
    own, taken = run(given, START, times, "pair", inputs=PUSH), run(system(), START, times, "mean_value", inputs=PUSH)
    np.testing.assert_allclose(own.states, taken.states, atol=1e-13)
    np.testing.assert_allclose(own.outputs["a"], taken.outputs["a"], atol=1e-12)
    assert own.ledger.largest_residual < 1e-13


@cache
def exact(u=0.7, end=1.0):
    """States and work of the modulated system by a Runge-Kutta method of order 8, w solved for at each call."""
    given, force = modulated(), np.array([u])

    def whole(x):
        row = lambda w: float(right(np.append(x, w))[3])  # noqa: E731
        return np.append(x, brentq(row, -5.0, 5.0, xtol=1e-15))

    def right(x):
        return (given.J(x) - given.R(x)) @ given.z(x) + (given.B(x) - given.P(x)) @ force

    def rate(_, y):
        x = whole(y[:3])
        return np.append(right(x)[:3], given.output(x, force) @ force)

    start = whole(given.sample[:3])
    solved = solve_ivp(rate, (0.0, end), np.append(start[:3], 0.0), method="DOP853", rtol=1e-12, atol=1e-14)
    return start, solved.y[:3, -1], solved.y[3, -1]


@pytest.mark.parametrize(("method", "order"), [("gonzalez", 2), ("midpoint", 2), ("gauss4", 4), ("gauss6", 6)])
def test_methods_keep_their_orders_with_feedthrough(method, order):
    """States and the work at the port under a constant input."""
    start, end, supplied = exact()
    errors = []
    for count in (20, 40):
        found = run(modulated(), start, np.linspace(0.0, 1.0, count + 1), method, inputs={"force": 0.7})
        errors.append([np.abs(found.final[:3] - end).max(), abs(float(found.ledger.work["force"].sum() - supplied))])
    slopes = np.log2(np.array(errors[0]) / np.array(errors[1]))
    np.testing.assert_allclose(slopes, order, atol=0.1)
    assert np.max(errors[1]) < {2: 2e-4, 4: 5e-8, 6: 1e-10}[order]


# --- two routes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["gonzalez", "dirac", "gauss4"])
def test_algebraic_inputs_take_the_same_steps(method):
    """States w = u and multipliers λ = y in place of the feed-through: the same states and outputs to round-off."""
    given, times = modulated(), np.linspace(0.0, 1.0, 9)
    other, push = without_feedthrough(given), {"force": lambda t: math.sin(4.0 * t)}
    found = run(given, given.sample, times, method, inputs=push)
    expanded = run(other, np.append(given.sample, [0.0, 0.0]), times, method, inputs=push)
    np.testing.assert_allclose(expanded.states[:, :3], found.states[:, :3], atol=1e-12)
    np.testing.assert_allclose(expanded.outputs["force"], found.outputs["force"], atol=1e-11)
    np.testing.assert_allclose(expanded.ledger.total_dissipation, found.ledger.total_dissipation, atol=1e-12)


def test_input_state_output_systems():
    """[survey] eq. (2.43) with g = B, M = −N by its own route, index 1 with 2m more states."""
    m = drawn(1)
    other = InputStateOutput(
        J=m["J"], g=m["B"], R=m["R"], P=m["P"], S=m["S"], M=-m["N"], H=hamiltonian, gradient=gradient, sample=START
    )
    times, push = np.linspace(0.0, 1.0, 11), lambda t: (math.sin(3.0 * t), 0.4, math.cos(5.0 * t))
    found = run(system(1, ports={"u": slice(0, 3)}), START, times, inputs={"u": push})
    published = run(other.phdae(), np.append(START, np.zeros(6)), times, inputs={"u": push})
    np.testing.assert_allclose(published["x"], found.states, atol=1e-12)
    np.testing.assert_allclose(published.outputs["u"], found.outputs["u"], atol=1e-11)


def test_transformations_carry_feedthrough():
    """P̃ = UᵀP; S and N stay ([dg] eq. (32))."""
    given = with_pair(modulated())
    D, U = np.eye(4) + 0.2 * np.diag(np.ones(2), 2), np.eye(4) + 0.3 * np.diag(np.ones(3), -1)
    D[2, 3] = 0.0
    other = transform(given, lambda x: D @ x, D, U, sample=np.linalg.solve(D, given.sample))
    np.testing.assert_allclose(other.P(other.sample), U.T @ given.P(given.sample), atol=1e-14)
    np.testing.assert_allclose(other.S(other.sample), given.S(given.sample), rtol=1e-14)
    times, push = np.linspace(0.0, 1.0, 6), {"force": np.sin}
    here, there = (run(s, s.sample, times, "pair", inputs=push) for s in (given, other))
    np.testing.assert_allclose(there.states @ D.T, here.states, atol=1e-11)
    np.testing.assert_allclose(there.outputs["force"], here.outputs["force"], atol=1e-11)


@pytest.mark.parametrize("method", ["radau", "ida"])
def test_adaptive_methods_agree_with_fixed_steps(method):
    pytest.importorskip({"radau": "scipy_dae", "ida": "sksundae"}[method])
    given, push = modulated(), {"force": lambda t: math.sin(4.0 * t)}
    found = run(given, given.sample, np.linspace(0.0, 1.0, 5), method, inputs=push, tolerance=1e-9)
    fine = run(given, given.sample, np.linspace(0.0, 1.0, 101), "gonzalez", inputs=push)
    assert found.ledger.largest_residual < 1e-7  # the quadrature of power on interpolants of steps at 1e-9
    np.testing.assert_allclose(found.final[:3], fine.final[:3], atol=5e-4)  # h² of 100 steps
    middle = int(np.argmin(np.abs(fine.output_times - found.output_times[1])))
    np.testing.assert_allclose(found.outputs["force"][1], fine.outputs["force"][middle], atol=2e-2)  # half a step aside


# --- what is made of systems ------------------------------------------------------------------------------------------


def test_interconnections_keep_the_power():
    """Of systems with feed-through at the joined ports: J stays skew, the balance holds, inputs follow outputs."""
    first, second = system(0), system(1, ports={"c": slice(0, 2), "d": slice(2, 3)})
    C = np.array([[0.5, 1.0], [-0.3, 2.0]])
    for join in (gyrator, transformer):
        whole = join(first, second, ("a", "c"), C)
        assert set(whole.ports) == {"b", "d"}
        found = run(whole, consistent(whole, whole.sample), np.linspace(0.0, 1.0, 11), inputs={"b": np.sin})
        assert found.ledger.largest_residual < 1e-12
    whole = gyrator(first, second, ("a", "c"), C)
    x = consistent(whole, whole.sample, inputs={"b": 0.3, "d": -0.1})
    (w1, y1), (w2, y2) = ((x[3:6], x[6:9]), (x[12:15], x[15:18]))
    np.testing.assert_allclose(w1[:2], -C @ y2[:2], atol=1e-12)
    np.testing.assert_allclose(w2[:2], C.T @ y1[:2], atol=1e-12)
    np.testing.assert_allclose(y1, first.output(x[:3], w1), atol=1e-12)


def test_interchange_solves_for_the_input():
    """With S at the port the exchanged system has index 1: the multiplier is the input that makes the output."""
    given = modulated()
    other = interchange(given, "force")
    x = consistent(other, other.sample, inputs={"force": 0.8})
    part = other.parts["force multiplier"]
    assert given.output(x[:4], x[part])[0] == pytest.approx(0.8, abs=1e-12)


def test_analysis_sees_the_dissipation_of_inputs():
    """R = 0 at the sample's costates alone: with S the system dissipates; states and structure are those of x."""
    plain = system(R=None, P=None, N=None, S=np.diag([1.0, 0.0, 0.0]), B=np.eye(3))
    report = analyze(plain)
    assert report.passivity.dissipative
    assert report.index.index == 1
    assert not analyze(replace(plain, S=None)).passivity.dissipative
    assert "passive: undecided" in str(report.passivity)  # H is no quadratic
    rest = equilibrium(system(), START, inputs={"b": 0.2})
    assert rest.shape == (3,)
    u = np.array([0.0, 0.0, 0.2])
    rate = (system().J(rest) - system().R(rest)) @ gradient(rest) + system().port_matrices(rest).flow(u)
    np.testing.assert_allclose(rate, 0.0, atol=1e-11)
    assert impasse_points(modulated(), [modulated().sample, modulated().sample + 0.1]) == []


def test_derivatives_are_those_of_what_inputs_do():
    """∂((B − P)u)/∂x is checked, and Newton's matrix takes it."""

    def P(x):
        return np.array([[0.1 * x[0], 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    def of_inputs(x, u):
        made = np.zeros((3, 3))
        made[0, 0] = -0.1 * u[0]
        return made

    given = {"P": P, "R": np.eye(3), "S": np.eye(3), "N": None, "B": np.eye(3)}
    costate = lambda x: (x @ x + 1.0) * np.eye(3) + 2.0 * np.outer(x, x)  # noqa: E731
    quick = system(**given, derivatives=Derivatives(costate=costate, inputs=of_inputs))
    times = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(
        run(quick, START, times, inputs=PUSH).states, run(system(**given), START, times, inputs=PUSH).states, atol=1e-12
    )
    with pytest.raises(ValueError, match=r"∂\(\(B − P\) u\)/∂x"):
        system(**given, derivatives=Derivatives(costate=costate, inputs=lambda x, u: -of_inputs(x, u)))


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"S": -np.eye(3)}, r"\[\[R, P\], \[Pᵀ, S\]\] must be positive semi-definite"),
        ({"P": 9.0 * np.ones((3, 3))}, r"\[\[R, P\], \[Pᵀ, S\]\] must be positive semi-definite"),
        ({"S": np.triu(np.ones((3, 3)))}, "S must be symmetric"),
        ({"N": np.eye(3)}, "N must be skew-symmetric"),
        ({"P": np.zeros((3, 2))}, r"P must have shape \(3, 3\), got \(3, 2\)"),
        ({"S": np.zeros((2, 2))}, r"S must have shape \(3, 3\), got \(2, 2\)"),
        ({"N": lambda x: np.zeros((2, 2))}, r"N must have shape \(3, 3\), got \(2, 2\)"),
    ],
)
def test_conditions_are_checked_at_the_sample(options, message):
    with pytest.raises(ValueError, match=message):
        system(**options)


def test_who_does_not_take_it_says_so():
    with pytest.raises(ValueError, match=r"a mode.*feed-through cannot switch: give .*without_feedthrough"):
        SwitchingPHDAE({"on": system()})
