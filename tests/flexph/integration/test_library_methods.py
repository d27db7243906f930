"""Adaptive methods of libraries, derivatives, mechanisms as general systems: agreement, accounts, failures.

Ten seconds, as solvers of libraries call functions of Python some hundred times a step.
"""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from descriptor_samples import springs_in_series
from four_particles import START, constraints, four_particles

import rigid
from flexph import (
    GROUND,
    PHDAE,
    InputError,
    IntegrationError,
    LinearPHDAE,
    connect,
    drive,
    hinge,
    integrate,
    slider,
    spherical,
    spring_damper,
)
from flexph.integration.general.library import EXTRAS
from flexph.methods import BDF, IDA, Gauss, by_name
from flexph.systems.derivatives import Derivatives

ADAPTIVE = ("radau", "bdf", "ida")


@pytest.fixture(params=ADAPTIVE)
def method(request):
    pytest.importorskip(EXTRAS[request.param][0])
    return request.param


def slow(*methods):
    """Mark of a test of all of them that is slow for some: for those its runs take most steps."""
    given = [pytest.param(m, marks=pytest.mark.slow if m in methods else ()) for m in ADAPTIVE]
    return pytest.mark.parametrize("method", given, indirect=True)


def run(system, start, end, count=10, **options):
    return integrate(system, start, np.linspace(0.0, end, count + 1), progress=False, **options)


# --- agreement with exact solutions -------------------------------------------------------------------------------


def index_one():
    """[dg] example 1 with x₁(t) = e^{−t}, x₂ = −x₁."""
    return LinearPHDAE(E=np.diag([1.0, 0.0]), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), R=np.diag([0.0, 1.0]))


def test_index_one_systems_follow_the_closed_form(method):
    found = run(index_one(), (1.0, 3.0), 2.0, method=by_name(method, tolerance=1e-8))
    exact = np.exp(-found.times)
    assert np.abs(found.states - np.stack([exact, -exact], axis=1)).max() < 1e-6  # and the guess 3 of x₂ is replaced
    assert found.energy_drift() < 1e-6
    assert found.ledger.total_dissipation.sum() == pytest.approx(0.5 * (1.0 - math.exp(-4.0)), abs=1e-6)


def circuit():
    """L i' = −R i + u through a port that gives i: x = Li."""
    return PHDAE(
        E=np.eye(1),
        J=np.zeros((1, 1)),
        R=np.array([[2.0]]),
        B=np.ones((1, 1)),
        z=lambda x: x / 0.5,
        H=lambda x: float(x[0] ** 2),
        sample=np.ones(1),
        ports={"source": slice(0, 1)},
    )


def test_outputs_and_work_at_a_port(method):
    """Under u = sin t: i = (4 sin t − cos t + e^{−4t}) 2/17."""
    found = run(circuit(), (0.0,), 3.0, 12, method=by_name(method, tolerance=(1e-8, 1e-9)), inputs={"source": math.sin})
    current = lambda t: 2.0 * (4.0 * np.sin(t) - np.cos(t) + np.exp(-4.0 * t)) / 17.0  # noqa: E731
    assert found.states[:, 0] == pytest.approx(0.5 * current(found.times), abs=1e-7)
    assert found.output_times == pytest.approx(0.5 * (found.times[1:] + found.times[:-1]))
    assert found.outputs["source"][:, 0] == pytest.approx(current(found.output_times), abs=1e-6)
    t = np.linspace(0.0, 3.0, 20001)
    assert found.ledger.work["source"].sum() == pytest.approx(np.trapezoid(np.sin(t) * current(t), t), abs=1e-6)
    assert found.ledger.residual.max() < 1e-6


@pytest.mark.parametrize("coupling", [0.1, 1e-6])
def test_algebraic_states_of_index_one_are_converged(method, coupling):
    """An oscillator with 0 = v − w − 100 w³ beside it, however little w acts back."""
    system = PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, -coupling], [0.0, coupling, 0.0]]),
        R=lambda x: np.diag([0.0, 0.0, coupling * (1.0 + 100.0 * x[2] ** 2)]),
        z=lambda x: x,
        H=lambda x: 0.5 * float(x[0] ** 2 + x[1] ** 2),
        sample=np.array([1.0, 0.3, 0.2]),
    )
    found = run(system, (1.0, 0.0, 0.0), 3.0, 30, method=by_name(method, tolerance=1e-7))
    v, w = found.states[:, 1], found.states[:, 2]
    assert np.abs(v - w - 100.0 * w**3).max() < 1e-4  # slopes of 14 in w


def test_a_singular_mass_swings_with_its_frequency(method):
    """[dg] example 7 with M = [[1, 1], [1, 1]]: the sum of both moves with ω² = 1/(1/3 + 1)."""
    found = run(springs_in_series(), (0.25, 0.75, 0.0, 0.0), 2.0, method=by_name(method, tolerance=1e-7))
    assert found.states[:, 0] + found.states[:, 1] == pytest.approx(np.cos(math.sqrt(0.75) * found.times), abs=5e-5)
    assert found.energy_drift() < 1e-5


def push(t):
    return math.sin(9.0 * t), 0.5, -0.2


@pytest.fixture(scope="module")
def reference():
    """Gauss collocation of order 4 on index 2: errors of 2e-9 by halving its step."""
    return integrate(
        with_derivatives(1.0), START, np.linspace(0.0, 0.5, 401), method=Gauss(6), inputs={"push": push}, progress=False
    )


@slow("radau")
def test_index_two_agrees_with_collocation(method, reference):
    """The error of the differential states follows the tolerance; multipliers lose a step length."""
    errors = []
    for tolerance in (1e-5, 1e-8):
        found = run(four_particles(1.0), START, 0.5, method=by_name(method, tolerance=tolerance), inputs={"push": push})
        errors.append(np.abs(found.final[:24] - reference.final[:24]).max())
        assert errors[-1] < 300.0 * tolerance
        assert found.energy_drift() < 100.0 * tolerance
        assert np.abs(constraints(found["q"])).max() < 10.0 * tolerance
    assert errors[0] / errors[1] > 30.0
    assert found.ledger.work["push"].sum() == pytest.approx(reference.ledger.work["push"].sum(), abs=1e-6)
    assert found.ledger.total_dissipation.sum() == pytest.approx(reference.ledger.total_dissipation.sum(), abs=1e-6)
    assert found.times == pytest.approx(np.linspace(0.0, 0.5, 11))


def test_every_second_time_is_kept(method):
    every = run(circuit(), (1.0,), 1.0, 9, method=by_name(method))
    second = run(circuit(), (1.0,), 1.0, 9, method=by_name(method), save_every=2)
    np.testing.assert_array_equal(second.times, [*every.times[::2], every.times[-1]])
    np.testing.assert_allclose(second.states, [*every.states[::2], every.states[-1]], rtol=1e-13)
    assert second.ledger.total_dissipation.sum() == pytest.approx(every.ledger.total_dissipation.sum(), rel=1e-8)


# --- derivatives --------------------------------------------------------------------------------------------------


STIFFNESS, ALPHA = (50.0, 500.0), 0.5  # of the four particles


def costate_slope(x):
    made = np.zeros((26, 26))
    made[12:, 12:] = np.eye(14)
    blocks = made[:12, :12].reshape(4, 3, 4, 3)
    for (i, j), k in zip(((0, 2), (1, 3)), STIFFNESS, strict=True):
        d = x[3 * j : 3 * j + 3] - x[3 * i : 3 * i + 3]
        block = 2.0 * k * ((d @ d - 1.0) * np.eye(3) + 2.0 * np.outer(d, d))
        for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
            blocks[a, :, b] += sign * block
    return made


def structure_slope(eta):
    def of(x, w):
        made, v, lam = np.zeros((26, 26)), w[12:24].reshape(4, 3), w[24:]
        row, column = (lambda i: slice(12 + 3 * i, 15 + 3 * i)), (lambda i: slice(3 * i, 3 * i + 3))
        for k, (i, j) in enumerate(((0, 1), (2, 3))):
            for a, b, sign in ((j, j, -1.0), (j, i, 1.0), (i, i, -1.0), (i, j, 1.0)):
                made[row(a), column(b)] += sign * lam[k] * np.eye(3)
            made[24 + k, column(j)] += v[j] - v[i]
            made[24 + k, column(i)] -= v[j] - v[i]
        q = x[:12].reshape(4, 3)
        loss = 2.0 * eta * ALPHA * np.outer(v[1] - v[2], q[2] - q[1])
        for a, b, sign in ((1, 2, -1.0), (1, 1, 1.0), (2, 2, 1.0), (2, 1, -1.0)):
            made[row(a), column(b)] += sign * loss
        return made

    return of


def without_derivatives(eta):
    return replace(four_particles(eta), derivatives=None, terms=None)


def with_derivatives(eta):
    derivatives = Derivatives(costate=costate_slope, structure=structure_slope(eta))
    return replace(without_derivatives(eta), derivatives=derivatives)


@pytest.mark.parametrize("name", ["gonzalez", "mean_value", "invariants", "midpoint", "gauss4", "gauss6"])
def test_derivatives_spare_evaluations_and_leave_the_result(name):
    """Energies and momenta of the steps are the same; the costate is asked for less often."""
    calls, results = [], []
    for system in (without_derivatives(1.0), with_derivatives(1.0)):
        asked = []
        counted = replace(system, z=lambda x, z=system.z, asked=asked: (asked.append(1), z(x))[1])
        asked.clear()
        results.append(
            integrate(counted, START, np.linspace(0.0, 0.1, 11), method=by_name(name), progress=False).states
        )
        calls.append(len(asked))
    assert calls[1] < 0.75 * calls[0]
    # multipliers are differences of velocities over a step: round-off of the iteration over 0.01 s
    assert np.abs(results[0] - results[1]).max() < 1e-8
    assert np.abs(results[0] - results[1])[:, :24].max() < 1e-10


def test_adaptive_methods_take_derivatives(method):
    plain, given = (
        run(system(1.0), START, 0.2, method=by_name(method, tolerance=1e-8))
        for system in (without_derivatives, with_derivatives)
    )
    assert np.abs(plain.final - given.final)[:24].max() < 1e-6


def bent():
    """E, J and B that vary: E = diag(1 + x₂², 1), H = cosh x₁ + x₂²/2."""
    inverse = lambda x: 1.0 / (1.0 + x[1] ** 2)  # noqa: E731
    return PHDAE(
        E=lambda x: np.diag([1.0 + x[1] ** 2, 1.0]),
        J=lambda x: np.array([[0.0, math.sin(x[0])], [-math.sin(x[0]), 0.0]]),
        R=np.diag([0.0, 0.1]),
        B=lambda x: np.array([[x[1]], [1.0]]),
        z=lambda x: np.array([math.sinh(x[0]) * inverse(x), x[1]]),
        H=lambda x: math.cosh(x[0]) + 0.5 * x[1] ** 2,
        sample=np.array([0.7, 0.4]),
        ports={"u": slice(0, 1)},
        derivatives=Derivatives(
            costate=lambda x: np.array(
                [[math.cosh(x[0]) * inverse(x), -2.0 * x[1] * math.sinh(x[0]) * inverse(x) ** 2], [0.0, 1.0]]
            ),
            descriptor=lambda x, w: np.array([[0.0, 2.0 * x[1] * w[0]], [0.0, 0.0]]),
            structure=lambda x, w: math.cos(x[0]) * np.array([[w[1], 0.0], [-w[0], 0.0]]),
            inputs=lambda x, u: np.array([[0.0, u[0]], [0.0, 0.0]]),
        ),
    )


@pytest.mark.parametrize("name", ["gonzalez", "mean_value", "gauss6"])
def test_derivatives_of_all_functions(name):
    """A descriptor that varies: the same steps with derivatives and without."""
    start, inputs = (0.7, 0.4), {"u": math.cos}
    options = {"method": by_name(name), "inputs": inputs}
    given, plain = (run(s, start, 1.0, **options) for s in (bent(), replace(bent(), derivatives=None)))
    np.testing.assert_allclose(given.states, plain.states, atol=1e-12)
    if name != "gauss6":
        assert given.ledger.largest_residual < 1e-14


def test_wrong_derivatives_are_named():
    right = bent()
    wrong = replace(right.derivatives, structure=lambda x, w: np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"∂\(\(J − R\) w\)/∂x.*0.*row 1, column 0; differences give -0\.869"):
        replace(right, derivatives=wrong)
    with pytest.raises(ValueError, match=r"∂z/∂x must have shape \(2, 2\), got \(3, 3\)"):
        replace(right, derivatives=Derivatives(costate=lambda x: np.eye(3)))


# --- failures -----------------------------------------------------------------------------------------------------


def explosion():
    """ẋ = x² through a port of its own: it leaves to infinity at t = 1."""
    return PHDAE(
        E=np.eye(1),
        J=np.zeros((1, 1)),
        B=lambda x: np.array([[x[0] ** 2]]),
        z=lambda x: x,
        H=lambda x: 0.5 * float(x[0]) ** 2,
        sample=np.ones(1),
        ports={"u": slice(0, 1)},
    )


@slow("bdf")
def test_a_run_without_solution_ends_with_what_is_finished(method):
    with pytest.raises(IntegrationError, match=rf"'{method}' could not continue at t = .*tolerance") as caught:
        run(explosion(), (1.0,), 2.0, 20, method=by_name(method), inputs={"u": 1.0})
    done = caught.value.solution
    assert 0.9 < done.times[-1] < 1.001
    before = done.times < 0.9
    assert done.states[before, 0] == pytest.approx(1.0 / (1.0 - done.times[before]), rel=1e-3)


def test_an_input_that_fails_keeps_what_is_finished(method):
    with pytest.raises(InputError, match=r"after t = .* input 'source' at t = .* must be finite") as caught:
        run(circuit(), (1.0,), 1.0, method=by_name(method), inputs={"source": lambda t: 1.0 if t < 0.5 else None})
    assert 0.1 < caught.value.solution.times[-1] <= 0.5
    assert len(caught.value.solution.states) == len(caught.value.solution.times)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_missing_package_is_named_before_anything_is_computed(name, monkeypatch):
    module, extra = EXTRAS[name]
    for loaded in [m for m in sys.modules if m.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    asked, call = [], type(by_name(name)).__name__
    with pytest.raises(ImportError, match=rf"{call}\(\) needs the package '{module}': pip install 'flexph\[{extra}\]'"):
        run(circuit(), (1.0,), 1.0, method=by_name(name), inputs={"source": lambda t: asked.append(t)})
    assert not asked


def test_bad_arguments_are_named(method):
    with pytest.raises(ValueError, match=r"inconsistent start at t = 0.0 s: .*'lam\[0\]' by"):
        moving = START.copy()
        moving[15] = 0.3  # against the first constraint
        run(four_particles(0.0), moving, 1.0, method=by_name(method))
    with pytest.raises(ValueError, match="at least 1e-12 and below 1, got 1e-15"):
        run(circuit(), (1.0,), 1.0, method=by_name(method, tolerance=1e-15))
    with pytest.raises(ValueError, match="absolute tolerances must be positive"):
        run(circuit(), (1.0,), 1.0, method=by_name(method, tolerance=(1e-6, 0.0)))


def index_three():
    """A point on a line by its position: q = 0, with the multiplier in the momentum's row."""
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        B=np.array([[0.0], [1.0], [0.0]]),
        z=lambda x: x * [1.0, 1.0, 0.0],
        H=lambda x: 0.5 * float(x[:2] @ x[:2]),
        sample=np.ones(3),
        ports={"u": slice(0, 1)},
    )


def test_undetermined_algebraic_states_are_refused(method):
    with pytest.raises(ValueError, match=r"do not determine the algebraic states .* index is above 2"):
        run(index_three(), (1.0, 0.0, 0.0), 1.0, method=by_name(method))


# --- mechanisms ---------------------------------------------------------------------------------------------------


def richardson(mechanism, state, end, steps):
    """The exact scheme at two steps, extrapolated to fourth order."""
    coarse, fine = (integrate(mechanism, state, np.linspace(0.0, end, n + 1)).states[-1] for n in (steps, 2 * steps))
    return (4.0 * fine - coarse) / 3.0


def pendulum():
    mechanism = connect(
        {"bar": rigid.bar(0.5, 0.8)},
        [
            hinge("bar.root", GROUND.at(0.0, 0.0)),
            spring_damper("bar.tip", GROUND.at(0.3, -0.8), stiffness=20.0, damping=0.3),
        ],
        gravity=(0.0, -9.81),
    )
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, -0.4)}))


@pytest.fixture(scope="module")
def swung():
    return richardson(*pendulum(), 0.1, 50)


def test_a_pendulum_by_adaptive_methods(method, swung):
    mechanism, state = pendulum()
    found = run(mechanism, state, 0.1, 2, method=by_name(method, tolerance=1e-6))
    n = mechanism.layout.size
    assert np.abs(found.final[:n] - swung).max() < 5e-5  # speeds of 2 per second
    assert found.energy_drift() < 1e-5
    assert found.ledger.total_dissipation.sum() > 0.0
    turn = found["bar.rotation"]
    assert np.abs(np.sum(turn**2, axis=1) - 1.0).max() < 1e-5  # to the tolerance, not to round-off


@pytest.mark.parametrize(("name", "steps", "bound"), [("midpoint", 10, 2e-3), ("gauss4", 6, 2e-3), ("gauss6", 2, 1e-4)])
def test_a_pendulum_by_collocation(name, steps, bound, swung):
    mechanism, state = pendulum()
    found = run(mechanism, state, 0.1, steps, method=by_name(name))
    assert np.abs(found.final[: mechanism.layout.size] - swung).max() < bound


def crank():
    mechanism = connect(
        {"crank": rigid.bar(0.15, 0.1), "rod": rigid.bar(0.3, 0.2), "slider": rigid.point(0.3)},
        [
            hinge("crank.root", GROUND.at(0.0, 0.0)),
            drive("crank.root", GROUND, angle=lambda t: 0.3 + 4.0 * t + math.sin(3.0 * t)),
            hinge("crank.tip", "rod.root"),
            hinge("rod.tip", "slider.point"),
            slider("slider.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True),
        ],
    )
    return mechanism, mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.3)}))


def test_a_driven_crank_reaches_its_angle():
    """The drive acts by its rate: the angle is reached to the tolerance, and its work is the energy gained."""
    pytest.importorskip("scipy_dae")
    mechanism, state = crank()
    found = run(mechanism, state, 0.05, 1, method=BDF(1e-6))
    angle = np.arctan2(*found["crank.rotation"].T[::-1])
    assert angle == pytest.approx(0.3 + 4.0 * found.times + np.sin(3.0 * found.times), abs=1e-5)
    exact = integrate(mechanism, state, np.linspace(0.0, 0.05, 201), progress=False)
    name = "drive crank.root–GROUND: angle"
    # the start's multiplier from the second derivative of the drive; the exact scheme's in the middle of a step
    assert found[name][0, 0] == pytest.approx(1.5 * exact[name][0] - 0.5 * exact[name][1], rel=1e-3)
    work = sum(part.sum() for part in exact.ledger.work.values())
    assert sum(part.sum() for part in found.ledger.work.values()) == pytest.approx(work, rel=1e-3)


def test_a_spatial_double_pendulum():
    pytest.importorskip("sksundae")
    box = rigid.box((0.1, 0.06, 0.4), density=900.0, ports={"up": (0.0, 0.0, 0.2), "down": (0.0, 0.01, -0.2)})
    mechanism = connect(
        {"a": box, "b": box},
        [spherical("a.up", GROUND.at(0.0, 0.0, 0.0)), spherical("a.down", "b.up")],
        gravity=(0.0, 0.0, -9.81),
    )
    state = mechanism.consistent_state(mechanism.assemble(), velocities={"a": (3.0, 1.0, 0.5), "b": (-1.0, 2.0, 0.0)})
    found = run(mechanism, state, 0.02, 1, method=IDA(1e-5))
    assert np.abs(found.final[: mechanism.layout.size] - richardson(mechanism, state, 0.02, 10)).max() < 1e-3


def test_mechanisms_refuse_what_they_cannot_do():
    mechanism, state = crank()
    with pytest.raises(ValueError, match=r"method must be a value such as Exact\(\), .* got 'euler'"):
        run(mechanism, state, 0.1, method="euler")
    with pytest.raises(ValueError, match=r"no external port 'drive crank.root–GROUND: angle':.*none"):
        run(mechanism, state, 0.1, method=Gauss(2), inputs={"drive crank.root–GROUND: angle": 1.0})
