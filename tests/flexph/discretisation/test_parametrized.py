"""Systems of form (38) of [dg] by the built-in methods, and the way to them: theorems 8 and 11, corollaries 3 and 4."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from flexph import discrete_gradients, integrate
from flexph.consistency import consistent
from flexph.descriptor import canonical_form, decompose, echelon, parametrized_system
from flexph.discretisation import with_pair
from flexph.methods import by_name
from flexph.systems import transform

PAIRS = ("gonzalez", "mean_value")
TORQUE = {"torque": lambda t: 0.3 * math.sin(2.0 * t)}


def energy(x):
    return 0.25 * x[0] ** 4 + 0.5 * x[0] ** 2 + 0.5 * x[1] ** 2


def gradient(x):
    return np.array([x[0] ** 3 + x[0], x[1]])


def resistance(x):
    """1 + ½ sin²θ: of the damper whose force w is algebraic."""
    return 1.0 + 0.5 * math.sin(x[3]) ** 2


def coupling(x):
    """E₃₂(x, θ)."""
    return np.array([[0.4 * math.cos(x[3]) + 0.3 * x[2] + 0.2 * x[0]]])


def damped(**options):
    """x = (q, p, w, θ): q̇ = p, ṗ = −q − q³ − p/10 − w + u, 0 = p − (1 + ½ sin²θ)w, θ̇ + E₃₂ẇ = q + q³ − w/2 + u."""
    given = {
        "sizes": (2, 1, 1),
        "J": np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
        "R": lambda x: np.diag([0.0, 0.1, resistance(x)]),
        "gradient": gradient,
        "z2": lambda x: x[2:3],
        "H": energy,
        "coupling": coupling,
        "A": np.array([[1.0, 0.0, -0.5]]),
        "B": np.array([[0.0], [1.0], [0.0], [1.0]]),
        "sample": START,
        "ports": {"torque": slice(0, 1)},
    }
    return parametrized_system(**(given | options))


START = np.array([0.8, 0.5, 0.0, 0.3])
START[2] = START[1] / resistance(START)
TIMES = (40, 80)


@cache
def reference(torque=1.0, end=2.0):
    """(q, p, θ) by a Runge-Kutta method of order 8: w = p/(1 + ½ sin²θ) and its rate eliminated."""

    def rate(t, y):
        q, p, theta = y
        r, slope, u = 1.0 + 0.5 * math.sin(theta) ** 2, 0.5 * math.sin(2.0 * theta), torque * TORQUE["torque"](t)
        w = p / r
        pull = -(q**3 + q) - 0.1 * p - w + u
        free = q**3 + q - 0.5 * w + u
        e = float(coupling(np.array([q, p, w, theta]))[0, 0])
        # ẇ = (ṗ − w r′ θ̇)/r and θ̇ = free − e ẇ
        turn = (free - e * pull / r) / (1.0 - e * w * slope / r)
        return [p, pull, turn]

    return solve_ivp(rate, (0.0, end), START[[0, 1, 3]], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def run(system, start, times, method="gonzalez", *, tolerance=None, completion=None, **options):
    value = by_name(method, tolerance=tolerance, completion=completion)
    return integrate(system, start, times, method=value, progress=False, **options)


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("step", [0.05, 0.4])
def test_every_step_balances_and_keeps_the_constraint(method, step):
    """[dg] remark 11, at steps as long as the motion; the algebraic equation holds in the middle of each step."""
    found = run(damped(), START, np.arange(0.0, 4.01, step), method, inputs=TORQUE)
    assert found.ledger.largest_residual < 1e-13
    assert found.energy_drift() < 1e-13
    discrete = getattr(discrete_gradients, method)
    for x0, x1 in pairwise(found.states):
        middle, z1 = 0.5 * (x0 + x1), discrete(energy, gradient, x0[:2], x1[:2])
        assert z1[1] == pytest.approx(resistance(middle) * middle[2], abs=1e-13)


@pytest.mark.parametrize(
    "method",
    ["gonzalez", *(pytest.param(m, marks=pytest.mark.slow) for m in ("mean_value", "midpoint", "dirac", "pair"))],
)
def test_methods_are_of_second_order(method):
    """q, p and θ at the end, and w at the ends of steps, against the eliminated equations."""
    system = with_pair(damped()) if method == "pair" else damped()
    errors = []
    for count in TIMES:
        found = run(system, START, np.linspace(0.0, 2.0, count + 1), method, inputs=TORQUE)
        w = reference()[1] / (1.0 + 0.5 * math.sin(reference()[2]) ** 2)
        errors.append([*np.abs(found.final[[0, 1, 3]] - reference()), abs(found.final[2] - w)])
    slopes = np.log2(np.array(errors[0]) / np.array(errors[1]))
    np.testing.assert_allclose(slopes, 2.0, atol=0.1)
    assert np.max(errors[1]) < 2e-3


@pytest.mark.parametrize(
    ("method", "counts", "orders", "bounds"),
    [("gauss4", (40, 80), (4.0, 2.0), (1e-8, 1e-5)), ("gauss6", (20, 40), (6.0, 4.0), (1e-10, 1e-5))],
)
def test_gauss_methods_have_their_orders(method, counts, orders, bounds):
    """q and p are of order 2s; w and θ, in whose equation its rate stands, of order s for even s and s + 1 for odd."""
    errors = []
    for count in counts:
        final = run(damped(), START, np.linspace(0.0, 2.0, count + 1), method).final
        gaps = np.abs(final[[0, 1, 3]] - reference(0.0))
        errors.append([gaps[:2].max(), gaps[2]])
    slopes = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert np.all(slopes > np.array(orders) - 0.1)
    assert np.all(np.array(errors[1]) < bounds)


def test_radau_finds_the_reference():
    pytest.importorskip("scipy_dae")
    found = run(damped(), START, [0.0, 1.0, 2.0], "radau", inputs=TORQUE, tolerance=1e-9)
    np.testing.assert_allclose(found.final[[0, 1, 3]], reference(), atol=1e-7)


def test_starts_are_made_consistent():
    x = consistent(damped(), START + np.array([0.0, 0.0, 0.2, 0.0]))
    np.testing.assert_allclose(x, START, atol=1e-14)


# --- two routes -------------------------------------------------------------------------------------------------------


def bent(x):
    """x = φ(x̃) that mixes x₁, x₂ and θ."""
    return np.array([x[0] + 0.2 * x[1] ** 2, x[1] + 0.1 * x[3], x[2] + 0.3 * math.sin(x[0]), x[3] + 0.2 * x[2] ** 2])


def bent_slope(x):
    made = np.eye(4)
    made[0, 1], made[1, 3], made[2, 0], made[3, 2] = 0.4 * x[1], 0.1, 0.3 * math.cos(x[0]), 0.4 * x[2]
    return made


def frame(x):
    made = np.eye(4)
    made[0, 3], made[2, 1], made[3, 0] = 0.3 * math.sin(x[0]), 0.2, 0.1 * x[2]
    return made


def unbent(x):
    y = np.array(x)
    for _ in range(50):
        y = y - np.linalg.solve(bent_slope(y), bent(y) - x)
    return y


@pytest.mark.parametrize("method", PAIRS)
def test_the_form_and_its_transformed_system_take_the_same_steps(method):
    """[dg] theorem 9 with a nonlinear φ and U(x): the pair of form (38), carried, to round-off."""
    other = transform(with_pair(damped(), method), bent, bent_slope, frame, sample=unbent(START))
    times = np.linspace(0.0, 1.0, 11)
    here, there = (
        run(damped(), START, times, method, inputs=TORQUE),
        run(other, unbent(START), times, "pair", inputs=TORQUE),
    )
    np.testing.assert_allclose([bent(x) for x in there.states], here.states, atol=1e-11)
    assert there.ledger.largest_residual < 1e-13


# --- theorem 11 and corollary 4 ---------------------------------------------------------------------------------------


def turned(x):
    """An analytic matrix (4, 5) of rank 2 everywhere."""
    left = np.array([[1.0, x[0]], [math.sin(x[1]), 1.0], [x[0] * x[1], 2.0], [0.5, math.exp(0.3 * x[0])]])
    right = np.array([[1.0, 0.0, x[1], 0.3, math.cos(x[0])], [0.2, 1.0, 0.0, x[0], 1.0]])
    return left @ right


def test_smooth_decompositions_exist_around_a_state():
    """Orthogonal U, V and a regular Σ at states around; their entries have second differences of order h²."""
    reference_state = np.array([0.3, -0.2])
    made = decompose(turned, reference_state)
    assert made.rank == 2
    for x in reference_state + 0.3 * np.random.default_rng(0).uniform(-1.0, 1.0, (10, 2)):
        U, sigma, V = made.at(x)
        np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-14)
        np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-14)
        whole = np.zeros((4, 5))
        whole[:2, :2] = sigma
        np.testing.assert_allclose(U.T @ turned(x) @ V, whole, atol=1e-13)
        assert np.linalg.cond(sigma) < 50.0
        np.testing.assert_allclose(made.left_null(x).T @ turned(x), 0.0, atol=1e-13)
    along = np.array([0.6, 0.8])
    bend = []
    for h in (2e-3, 1e-3):
        before, at, after = (made.at(reference_state + s * along) for s in (-h, 0.0, h))
        bend.append([np.abs(a - 2.0 * b + c).max() for a, b, c in zip(before, at, after, strict=True)])
    np.testing.assert_allclose(np.log2(np.array(bend[0]) / np.array(bend[1])), 2.0, atol=0.01)


@pytest.mark.parametrize(("rows", "columns"), [(1e9, 1.0), (1.0, 1e-9), (1e7, 1e7)])
def test_units_do_not_decide(rows, columns):
    """Theorem 11 with rows and columns in other units: the same rank, and zero to the round-off of each entry."""
    left, right = np.diag([rows, 1.0, 1.0 / rows, 1.0]), np.diag([1.0, columns, 1.0, 1.0 / columns, 1.0])
    made = decompose(lambda x: left @ turned(x) @ right, np.array([0.3, -0.2]))
    assert made.rank == 2
    x = np.array([0.4, -0.1])
    N = made.left_null(x)
    terms = np.abs(N.T) @ np.abs(left @ turned(x) @ right)
    assert np.all(np.abs(N.T @ left @ turned(x) @ right) <= 1e-9 * terms)
    with pytest.raises(ValueError, match="rank of E must be constant"):
        decompose(lambda x: left @ (turned(x) + 1e-3 * x[0] * np.eye(4, 5)) @ right, np.zeros(2)).at(x)


def test_singular_vectors_of_each_state_alone_would_jump():
    """Which is why theorem 11 is needed: E = diag(1 + x, 1 − x, 0) turns its singular vectors round at x = 0."""

    def crossing(x):
        return np.diag([1.0 + x[0], 1.0 - x[0], 0.0])

    made = decompose(crossing, np.array([0.0]))
    jump = [np.abs(np.linalg.svd(crossing([1e-6]))[0]) - np.abs(np.linalg.svd(crossing([-1e-6]))[0])]
    assert np.abs(jump).max() == pytest.approx(1.0)
    np.testing.assert_allclose(made.at(np.array([1e-6]))[0], made.at(np.array([-1e-6]))[0], atol=1e-14)


def test_echelon_forms_exist_around_a_state():
    reference_state = np.array([0.3, -0.2])
    made = echelon(turned, reference_state)
    assert sorted(made.order) == list(range(5))
    for x in reference_state + 0.2 * np.random.default_rng(1).uniform(-1.0, 1.0, (10, 2)):
        U, E12 = made.at(x)
        expected = np.vstack([np.hstack([np.eye(2), E12]), np.zeros((2, 5))])
        np.testing.assert_allclose(U.T @ turned(x)[:, made.order], expected, atol=1e-12)
        assert np.linalg.cond(U) < 100.0


def test_a_rank_that_changes_is_refused():
    made = decompose(lambda x: np.diag([1.0, x[0]]), np.array([0.0]))
    assert made.rank == 1
    with pytest.raises(ValueError, match=r"the rank.*E must.*constant:.*1.*reference,.*more.*x"):
        made.at(np.array([0.1]))
    with pytest.raises(ValueError, match="too far from the reference"):
        decompose(lambda x: np.diag([1.0 - x[0], 0.0]), np.array([0.0])).at(np.array([1.0]))


# --- theorem 8 and corollary 3 ----------------------------------------------------------------------------------------


def hidden():
    """Form (38) in bent coordinates and a frame of its own: nothing of it is to be seen, E(x) varies with rank 3."""
    return transform(damped(), bent, bent_slope, frame, sample=unbent(START))


def hidden_form():
    """By the functions q and p of the bent coordinates."""
    return canonical_form(hidden(), lambda x: bent(x)[:2], lambda x: bent_slope(x)[:2])


def test_the_canonical_form_has_its_blocks():
    """E is that of (37) and z = (∇H₁, z₂, 0) at random states, by the transformation that the form is made of."""
    form, given = hidden_form(), hidden()
    dims = form.system.E
    for x in form.system.sample + 0.1 * np.random.default_rng(2).standard_normal((5, 4)):
        at, D = form.phi(x), np.empty((4, 4))
        np.testing.assert_allclose(form.psi(at), x, atol=1e-12)
        for k, e in enumerate(np.eye(4)):
            D[:, k] = (form.phi(x + 1e-5 * e) - form.phi(x - 1e-5 * e)) / 2e-5
        # inputs on all rows show U: those of form (38) have B = 1, hidden frameᵀ, canonical Uᵀ frameᵀ
        driven = transform(
            damped(B=np.eye(4), ports={"all": slice(0, 4)}), bent, bent_slope, frame, sample=given.sample
        )
        shown = canonical_form(driven, lambda y: bent(y)[:2], lambda y: bent_slope(y)[:2]).system.B(x).T
        U = np.linalg.solve(frame(at), shown)
        np.testing.assert_allclose(form.system.E(x), U.T @ given.E(at) @ D, atol=1e-8)  # central differences of φ
        z = np.linalg.solve(U, given.z(at))
        np.testing.assert_allclose(form.system.z(x), z, atol=1e-12)
        np.testing.assert_allclose(z[:2], gradient(x[:2]), atol=1e-12)
        np.testing.assert_allclose(z[dims.third], 0.0, atol=1e-13)
        assert form.system.H(x) == pytest.approx(energy(x[:2]), rel=1e-13)


@pytest.mark.parametrize("method", ["gonzalez", pytest.param("mean_value", marks=pytest.mark.slow)])
def test_pairs_balance_in_the_canonical_form(method):
    """The hidden system by the built-in pairs in its canonical form: balance at round-off, order 2 in all states."""
    form, start = hidden_form(), unbent(START)
    errors = []
    for count in (8, 16):
        found = run(form.system, form.psi(start), np.linspace(0.0, 1.0, count + 1), method, inputs=TORQUE)
        assert found.ledger.largest_residual < 1e-13
        errors.append(np.abs(bent(form.phi(found.final))[[0, 1, 3]] - reference(1.0, 1.0)).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 5e-3


@pytest.mark.slow
def test_h_is_a_function_that_every_system_has():
    """p = 1 with ψ₁ = H: x₁ is the energy, z₁ = 1, and the rest a parameter."""
    given = hidden()
    form = canonical_form(given, lambda x: np.array([given.H(x)]), lambda x: (given.E(x).T @ given.z(x))[None])
    assert (form.system.E.first.stop, form.system.E.third.stop - form.system.E.third.start) == (1, 2)
    errors = []
    for count in (8, 16):
        found = run(form.system, form.psi(given.sample), np.linspace(0.0, 0.5, count + 1))
        assert found.ledger.largest_residual < 1e-13
        np.testing.assert_allclose(found.states[:, 0], [given.H(form.phi(x)) for x in found.states], rtol=1e-13)
        errors.append(np.abs(bent(form.phi(found.final))[[0, 1, 3]] - reference(0.0, 0.5)).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_functions_that_will_not_do_are_refused():
    given = hidden()
    slope = lambda x: bent_slope(x)[:2]  # noqa: E731
    with pytest.raises(ValueError, match="rows of the jacobian must be independent"):
        canonical_form(given, lambda x: bent(x)[[0, 0]], lambda x: slope(x)[[0, 0]])
    with pytest.raises(ValueError, match=r"must.*combinations.*E\(x\) \(\[dg\] eq. \(F.3\)\)"):
        canonical_form(given, lambda x: x[:2], lambda x: np.eye(4)[:2])
    with pytest.raises(ValueError, match="H must depend on the functions alone"):
        canonical_form(given, lambda x: bent(x)[:1], lambda x: slope(x)[:1])


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": (2, 1, -1)}, r"sizes\[2\] must be at least 0"),
        ({"coupling": np.zeros((2, 1))}, r"coupling must have shape \(1, 1\), got \(2, 1\)"),
        ({"A": lambda x: np.zeros((1, 2))}, r"A must have shape \(1, 3\), got \(1, 2\)"),
        ({"R": -np.eye(3)}, "R must be positive semi-definite"),
        ({"J": np.eye(3)}, "J must be skew-symmetric"),
        ({"gradient": lambda x: 2.0 * gradient(x)}, "must be a gradient pair of H"),
    ],
)
def test_bad_systems_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        damped(**options)


def test_what_methods_do_not_take():
    with pytest.raises(ValueError, match=r"completion must be 'mean'.*parameter"):
        run(damped(), START, [0.0, 0.1], completion="new")
