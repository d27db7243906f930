"""Steps of general systems chosen by their error: exact as ever, with an error that follows the tolerance.

Fifteen seconds, as errors are proportional to a tolerance only over many steps, which are taken in Python.
"""

import math

import h5py
import numpy as np
import pytest
from four_particles import START, constraints, four_particles
from scipy.integrate import solve_ivp

import rigid
from flexph import (
    GROUND,
    PHDAE,
    Event,
    InputError,
    IntegrationError,
    IntegrationInterrupted,
    LinearPHDAE,
    connect,
    hinge,
    integrate,
)
from flexph.discretisation.own_pair import with_pair
from flexph.integration.general.stepper import divided_difference
from flexph.methods import DiscreteGradient, Exact4, Gauss, by_name

CONTROLLED = ("gonzalez", "mean_value", "invariants", "dirac", "pair", "midpoint")


def run(system, start, times, **options):
    return integrate(system, start, times, progress=False, **options)


def test_divided_differences_of_a_cubic():
    times = np.array([0.0, 0.3, 1.0, 1.4])
    values = np.column_stack([2.0 * times**3 - times, times**2])
    np.testing.assert_allclose(divided_difference(times, values), [2.0, 0.0], atol=1e-14)


# --- an ODE: a planet on an eccentric orbit, which returns after 2π ---------------------------------------------------


def planet():
    """x = (q, p), H = ½‖p‖² − 1/‖q‖."""
    J = np.zeros((4, 4))
    J[:2, 2:], J[2:, :2] = np.eye(2), -np.eye(2)
    return PHDAE(
        E=np.eye(4),
        J=J,
        z=lambda x: np.concatenate([x[:2] / np.linalg.norm(x[:2]) ** 3, x[2:]]),
        H=lambda x: 0.5 * float(x[2:] @ x[2:]) - 1.0 / float(np.linalg.norm(x[:2])),
        sample=np.array([1.0, 0.2, 0.1, 0.9]),
        parts={"q": slice(0, 2), "p": slice(2, 4)},
    )


ECCENTRICITY = 0.8
APHELION = np.array([1.0 + ECCENTRICITY, 0.0, 0.0, math.sqrt((1.0 - ECCENTRICITY) / (1.0 + ECCENTRICITY))])
ORBIT = np.linspace(0.0, 2.0 * math.pi, 4)
TOLERANCES = (1e-2, 1e-3, 1e-4)


@pytest.fixture(scope="module")
def orbits():
    return [run(planet(), APHELION, ORBIT, method=DiscreteGradient(tolerance=tolerance)) for tolerance in TOLERANCES]


def assert_proportional(errors, tolerances, most):
    """Errors below ``most`` times the tolerance, that go with it."""
    assert np.all(np.array(errors) < most * np.array(tolerances))
    power = np.log(errors[-2] / errors[-1]) / np.log(tolerances[-2] / tolerances[-1])
    assert power == pytest.approx(1.0, abs=0.2)


def test_the_error_of_an_ode_follows_the_tolerance(orbits):
    """It drifts along the orbit, by a dozen time scales of its perihelion."""
    assert_proportional([np.abs(found.final - APHELION)[:2].max() for found in orbits], TOLERANCES, 20.0)
    steps = [found.ledger.steps.sum() for found in orbits]
    assert np.log10(steps[2] / steps[1]) == pytest.approx(0.5, abs=0.05)


def test_a_burst_takes_fewer_steps_than_equal_ones(orbits):
    found = orbits[1]
    count = int(found.ledger.steps.sum())
    equal = run(planet(), APHELION, np.linspace(*ORBIT[[0, -1]], 2 * count + 1))
    assert np.abs(found.final - APHELION).max() < 0.5 * np.abs(equal.final - APHELION).max()


def test_exactness_holds_at_every_accepted_step(orbits):
    for found in orbits:
        np.testing.assert_array_equal(found.times, ORBIT)
        assert np.all(found.ledger.steps % 2 == 0)
        assert found.ledger.residual.max() < 1e-14  # the largest of all steps
        assert found.energy_drift() < 1e-14


def test_rejected_steps_lose_nothing():
    """From the perihelion the first steps are far too long; the account of H goes on where it stood."""
    perihelion = np.array([1.0 - ECCENTRICITY, 0.0, 0.0, 1.0 / APHELION[3]])
    found = run(planet(), perihelion, ORBIT, method=DiscreteGradient(tolerance=1e-4))
    assert found.ledger.rejected[0] >= 6 and np.all(found.ledger.rejected % 2 == 0)
    assert found.ledger.residual.max() < 1e-14
    assert found.energy_drift() < 1e-14
    assert np.abs(found.final - perihelion)[:2].max() < 1e-2


# --- index 1 ----------------------------------------------------------------------------------------------------------


def damped():
    """x = (q, v, w): q̇ = v, v̇ = −q − w + u, 0 = v − (1 + w²)w."""
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
        R=lambda x: np.diag([0.0, 0.0, 1.0 + x[2] ** 2]),
        B=np.array([[0.0], [1.0], [0.0]]),
        z=lambda x: x,
        H=lambda x: 0.5 * float(x[:2] @ x[:2]),
        sample=np.array([1.0, 0.5, 0.4]),
        ports={"push": slice(0, 1)},
    )


def pushed(t):
    """A short push that ends with a kink."""
    return max(0.0, 1.0 - 100.0 * (t - 1.0) ** 2)


def damped_motion(end):
    def rate(t, y):
        root = math.sqrt(0.25 * y[1] ** 2 + 1.0 / 27.0)
        return [y[1], -y[0] - np.cbrt(0.5 * y[1] + root) - np.cbrt(0.5 * y[1] - root) + pushed(t)]

    return solve_ivp(rate, (0.0, end), (1.0, 0.0), rtol=1e-10, atol=1e-12, max_step=0.01).y[:, -1]


@pytest.mark.parametrize(
    "method", ["mean_value", *(pytest.param(m, marks=pytest.mark.slow) for m in ("dirac", "gonzalez", "midpoint"))]
)
def test_the_error_on_index_one_follows_the_tolerance(method):
    exact, errors = damped_motion(2.0), []
    for tolerance in (1e-3, 1e-4, 1e-5):
        found = run(
            damped(),
            (1.0, 0.0, 0.0),
            [0.0, 1.0, 2.0],
            method=by_name(method, tolerance=tolerance),
            inputs={"push": pushed},
        )
        errors.append(np.abs(found.final[:2] - exact).max())
        assert found.ledger.residual.max() < 1e-15
    assert_proportional(errors, (1e-3, 1e-4, 1e-5), 2.0)


# --- index 2 ----------------------------------------------------------------------------------------------------------


MOVING = START.copy()
MOVING[12:24] = [0.1, 0.0, 0.5, 0.1, 0.3, -0.2, 0.0, 0.2, 0.1, 0.0, -0.3, 1.0]  # Dg v = 0


@pytest.fixture(scope="module")
def moved():
    return run(four_particles(1.0), MOVING, np.linspace(0.0, 0.6, 61), method=Gauss(6), save_every=20)


@pytest.mark.parametrize(
    ("method", "tolerances"),
    [
        ("invariants", TOLERANCES[:2]),
        *(pytest.param(m, TOLERANCES, marks=pytest.mark.slow) for m in ("invariants", "gonzalez", "midpoint")),
    ],
)
def test_the_error_on_index_two_follows_the_tolerance(method, tolerances, moved):
    """Pairs return the velocity defect, which single steps of changing length would feed."""
    errors = []
    for tolerance in tolerances:
        found = run(four_particles(1.0), MOVING, moved.times, method=by_name(method, tolerance=tolerance))
        gap = np.abs(found.states - moved.states)
        errors.append((gap[:, :12].max(), gap[:, 12:24].max()))
        assert np.abs(constraints(found["q"])).max() < 1e-14
        assert (found.ledger.residual.max() < 5e-14) == (method != "midpoint")  # V is of degree four
    for by_tolerance, most in zip(np.transpose(errors), (1.0, 30.0), strict=True):
        assert_proportional(by_tolerance, tolerances, most)


@pytest.fixture(scope="module")
def undamped():
    return run(four_particles(0.0), START, np.linspace(0.0, 0.1, 101), method=Gauss(6), save_every=100)


@pytest.mark.parametrize(
    "method",
    [pytest.param(m, marks=pytest.mark.slow if m in ("dirac", "mean_value") else ()) for m in CONTROLLED],
)
def test_every_method_takes_a_tolerance(method, undamped):
    system = with_pair(four_particles(0.0)) if method == "pair" else four_particles(0.0)
    found = run(system, START, [0.0, 0.1], method=by_name(method, tolerance=1e-3))
    assert np.abs(found.final - undamped.final)[:24].max() < 1e-3
    assert found.energy_drift() < (1e-4 if method == "midpoint" else 1e-14)


@pytest.mark.slow
def test_a_mechanism_takes_a_tolerance_too():
    """A pendulum by the general method, from rest: its angular velocity to the tolerance."""
    mechanism = connect({"bar": rigid.bar(0.5, 0.8)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, -0.4)}))
    found = run(mechanism, start, [0.0, 0.5], method=DiscreteGradient(tolerance=1e-5))
    fine = run(mechanism, start, np.linspace(0.0, 0.5, 31), method=Exact4())
    assert np.abs(found.final[:7] - fine.final.x[:7]).max() < 1e-3
    assert found.energy_drift() < 1e-14
    assert found.ledger.steps.sum() > 50


# --- what is saved ----------------------------------------------------------------------------------------------------


def test_save_every_thins_the_saved_times(orbits):
    """Steps then need not meet the others."""
    thin = run(planet(), APHELION, ORBIT, method=DiscreteGradient(tolerance=TOLERANCES[1]), save_every=2)
    np.testing.assert_array_equal(thin.times, ORBIT[[0, 2, 3]])
    assert thin.ledger.steps.sum() <= orbits[1].ledger.steps.sum()


def test_counts_are_kept_on_disk(orbits, tmp_path):
    found = orbits[0]
    found.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        for name in ("steps", "rejected"):
            np.testing.assert_array_equal(file[f"ledger/{name}"][()], getattr(found.ledger, name))
    equal = run(planet(), APHELION, np.linspace(0.0, 0.1, 5))
    np.testing.assert_array_equal(equal.ledger.steps, np.ones(4))
    np.testing.assert_array_equal(equal.ledger.rejected, np.zeros(4))
    thin = run(planet(), APHELION, np.linspace(0.0, 0.1, 6), save_every=2)
    np.testing.assert_array_equal(thin.ledger.steps, [2.0, 2.0, 1.0])


def test_dense_saved_times_bound_the_steps():
    times = np.linspace(0.0, 1.0, 51)
    found = run(planet(), APHELION, times, method=DiscreteGradient(tolerance=1e-2))
    np.testing.assert_array_equal(found.ledger.steps[2:], 48 * [2.0])
    np.testing.assert_array_equal(found.times, times)


# --- events -----------------------------------------------------------------------------------------------------------


def test_events_compose_with_it(orbits):
    """Passing the perihelion at half the period; the run goes on as without."""
    events = {"perihelion": Event(lambda t, x: x[:2] @ x[2:], direction=1)}
    found = run(planet(), APHELION, ORBIT, method=DiscreteGradient(tolerance=TOLERANCES[2]), events=events)
    assert found.events["perihelion"].times == pytest.approx([math.pi], abs=1e-3)
    np.testing.assert_allclose(found.states, orbits[2].states, atol=1e-13)
    np.testing.assert_array_equal(found.ledger.steps, orbits[2].ledger.steps)
    assert found.energy_drift() < 1e-14


@pytest.mark.parametrize("method", [pytest.param("gonzalez", marks=pytest.mark.slow), "invariants"])
def test_a_terminal_event_ends_the_run_with_a_step_of_its_own(method):
    events = {"slow": Event(lambda t, x: x[23] - 0.8, direction=-1, terminal=True)}
    found = run(four_particles(1.0), START, [0.0, 0.5, 1.0], method=by_name(method, tolerance=1e-4), events=events)
    fine = run(four_particles(1.0), START, np.linspace(0.0, 1.0, 201), method=by_name(method), events=events)
    assert found.times[-1] == found.events["slow"].times[0] == pytest.approx(fine.times[-1], abs=1e-3)
    assert found.final[23] == pytest.approx(0.8, abs=1e-12)
    assert found.ledger.residual.max() < 1e-14
    assert np.abs(constraints(found["q"])).max() < 1e-14


# --- rest, jumps and failures -----------------------------------------------------------------------------------------


def test_rest_is_no_error():
    found = run(damped(), np.zeros(3), [0.0, 1.0], method=DiscreteGradient(tolerance=1e-6))
    np.testing.assert_array_equal(found.final, np.zeros(3))
    assert found.ledger.rejected.sum() == 0 and found.ledger.steps.sum() < 40


def test_a_constant_acceleration_is_no_error():
    """x(t) = t²/2 has no third derivative, and nothing of it goes to and fro: no tolerance shortens a step."""
    fall = PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        z=lambda x: np.array([-1.0, x[1]]),
        H=lambda x: 0.5 * float(x[1] ** 2) - float(x[0]),
        sample=np.array([1.0, 1.0]),
    )
    runs = [run(fall, (1.0, 0.0), [0.0, 10.0], method=DiscreteGradient(tolerance=t)) for t in (1e-2, 1e-8)]
    assert runs[0].ledger.steps.sum() == runs[1].ledger.steps.sum() < 40
    np.testing.assert_allclose(runs[1].final, [51.0, 10.0], rtol=1e-12)


def test_an_absolute_tolerance_says_what_need_not_be_resolved():
    """A number for all states or one for each: here the angle counts only to a radian."""
    loose, tight = (
        run(planet(), APHELION, ORBIT, method=DiscreteGradient(tolerance=t)) for t in ((1e-4, 10.0), (1e-4, [1e-5] * 4))
    )
    assert loose.ledger.steps.sum() < 0.2 * tight.ledger.steps.sum()


def test_an_input_that_jumps_takes_short_steps_there():
    found = run(
        damped(),
        (1.0, 0.0, 0.0),
        [0.0, 2.0],
        method=DiscreteGradient(tolerance=1e-4),
        inputs={"push": lambda t: float(t > 0.7)},
    )
    before = run(damped(), (1.0, 0.0, 0.0), [0.0, 0.7], method=DiscreteGradient(tolerance=1e-6))
    after = run(damped(), before.final, [0.7, 2.0], method=DiscreteGradient(tolerance=1e-6), inputs={"push": 1.0})
    assert np.abs(found.final - after.final)[:2].max() < 1e-3
    assert found.ledger.rejected.sum() > 0


def driven():
    """A velocity that a constraint prescribes: 0 = v − u, with its force λ."""
    return LinearPHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
        B=np.array([[0.0], [0.0], [-1.0]]),
        ports={"rate": slice(0, 1)},
    )


def test_a_jump_of_velocities_ends_the_run_with_an_explanation():
    message = (
        r"step control fell below .* s: the error is still .* times the tolerance at t = 0\.300\d* s, by 'gonzalez'; "
        r"where an input lets differential states jump, end the run and begin another, .* finished steps are in"
    )
    with pytest.raises(IntegrationError, match=message) as caught:
        run(
            driven(),
            np.zeros(3),
            [0.0, 0.25, 1.0],
            method=DiscreteGradient(tolerance=1e-3),
            inputs={"rate": lambda t: float(t > 0.3)},
        )
    done = caught.value.solution
    assert done.times[1] == 0.25 and done.times[-1] == pytest.approx(0.3, abs=1e-3)  # seen in the middle of a step


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


def test_a_start_against_a_constraint_ends_the_run():
    """Velocities would go to and fro around it, unseen by the ends of pairs."""
    with pytest.raises(IntegrationError, match=r"at t = 0 s, .* a start that satisfies the algebraic") as caught:
        run(driven(), (0.0, 0.5, 0.0), [0.0, 1.0], method=DiscreteGradient(tolerance=1e-3))
    assert caught.value.solution.times.size == 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers overflow on the way
def test_a_motion_that_ends_says_where():
    with pytest.raises(IntegrationError, match=r"step control fell below .*t = (1|0\.99\d*) s, .*tolerance") as caught:
        run(explosion(), (1.0,), [0.0, 0.5, 2.0], method=DiscreteGradient(tolerance=1e-3), inputs={"u": 1.0})
    assert caught.value.solution.times[-1] == pytest.approx(1.0, abs=1e-2)
    assert caught.value.solution.times[1] == 0.5


def undetermined():
    """A multiplier that its own constraint does not feel, not even after a derivative."""
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        z=lambda x: x * [1.0, 1.0, 0.0],
        H=lambda x: 0.5 * float(x[:2] @ x[:2]),
        sample=np.ones(3),
    )


def test_an_index_above_two_is_named():
    for method in ("gonzalez", "mean_value", "midpoint"):
        with pytest.raises(IntegrationError, match=r"singular at t = 0 s, .* index above 2\. The 0 finished"):
            run(undetermined(), (1.0, 0.0, 0.0), [0.0, 1.0], method=by_name(method, tolerance=1e-3))


def outside(kind):
    """Steps without a solution: of index above 2, and ẋ = x² over a step beyond its end."""
    if kind == "explosion":
        return explosion(), (1.0,), {"inputs": {"u": 1.0}}
    return undetermined(), (1.0, 0.0, 0.0), {}


@pytest.mark.parametrize("kind", ["undetermined", "explosion"])
@pytest.mark.parametrize("method", ["dirac", "pair"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_failures_of_the_other_methods(method, kind):
    """Of steps of given length, see test_mechanism_methods for the rest."""
    system, start, options = outside(kind)
    system = with_pair(system) if method == "pair" else system
    reason = "singular .* index above 2" if kind == "undetermined" else "try a smaller step"
    with pytest.raises(IntegrationError, match=rf"from t = 0 s to 3 s .* by '{method}': .*{reason}") as caught:
        run(system, start, [0.0, 3.0], method=by_name(method), **options)
    assert caught.value.solution.times.size == 1


def test_an_input_that_fails_keeps_what_is_finished():
    push = {"push": lambda t: 1.0 if t < 0.5 else None}
    with pytest.raises(InputError, match=r"between t = 0\.[45]\d* s and 0\.[5-7]\d* s: input 'push'") as caught:
        run(damped(), (1.0, 0.0, 0.0), [0.0, 0.2, 1.0], method=DiscreteGradient(tolerance=1e-3), inputs=push)
    assert caught.value.solution.times[1] == 0.2 < caught.value.solution.times[-1] <= 0.5


def test_an_interrupt_keeps_the_accepted_steps():
    def value(t, x):
        if t > 0.5:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(IntegrationInterrupted, match=r"the finished steps are in \.solution") as caught:
        run(damped(), (1.0, 0.0, 0.0), [0.0, 0.2, 1.0], method=DiscreteGradient(tolerance=1e-3), events={"e": value})
    done = caught.value.solution
    assert 0.2 < done.times[-1] <= 0.5
    assert done.energy_drift() < 1e-14


@pytest.mark.parametrize(
    ("method", "tolerance", "message"),
    [
        ("gonzalez", 0.0, "the relative tolerance must be positive, got 0"),
        ("dirac", 1e-15, "the relative tolerance must be at least 1e-12 and below 1, got 1e-15"),
        ("midpoint", (1e-3, 0.0), "absolute tolerances must be positive, got 0"),
        ("pair", "fine", "the relative tolerance must be a number, got 'fine'"),
        ("gauss4", 1e-3, r"tolerance=0.001 is for Gauss\(2\), got Gauss\(4, tolerance=0.001\)"),
    ],
)
def test_bad_tolerances_are_answered(method, tolerance, message):
    with pytest.raises(ValueError, match=message):
        by_name(method, tolerance=tolerance)
