"""What becomes of algebraic states at the ends of steps ([dg] examples 5 and 6)."""

import math

import numpy as np
import pytest
from descriptor_samples import damped_oscillator
from four_particles import START, four_particles

from flexph import PHDAE, Event, LinearPHDAE, connect, integrate
from flexph.consistency import consistent
from flexph.methods import DiracDissipative, DiscreteGradient, Gauss, by_name
from flexph.switching import SwitchingPHDAE
from rigid import point

METHODS = ("gonzalez", "mean_value", "dirac", "midpoint")


def published():
    """[dg] eq. (16): ẋ₁ = x₂, 0 = −x₁ − x₂."""
    return PHDAE(
        E=np.diag([1.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, 1.0]),
        z=lambda x: x,
        H=lambda x: 0.5 * x[0] ** 2,
        sample=np.array([1.0, -1.0]),
        parts={"x1": slice(0, 1), "x2": slice(1, 2)},
    )


def run(system, start, times, method=None, **options):
    return integrate(system, start, times, method=method, progress=False, **options)


@pytest.mark.parametrize("method", METHODS)
def test_example_6_step_by_step(method):
    """f₂ = −½(x₁⁰ + x₁¹), and x₂ by it: [dg] eq. (28) and the three choices of z̄, to round-off."""
    times = np.linspace(0.0, 2.0, 9)
    found = {
        name: run(published(), (1.0, -1.0), times, method=by_name(method, completion=name))
        for name in ("new", "old", "mean")
    }
    x1 = found["new"]["x1"][:, 0]
    f2 = -0.5 * (x1[1:] + x1[:-1])
    np.testing.assert_allclose(np.diff(x1), 0.25 * f2, atol=1e-15)
    np.testing.assert_allclose(found["new"]["x2"][1:, 0], f2, atol=1e-15)
    np.testing.assert_allclose(found["old"]["x2"][:, 0], np.append(f2, f2[-1]), atol=1e-15)
    # x₂¹ = −x₁⁰ − x₁¹ − x₂⁰, by induction −x₁¹ from the consistent start
    np.testing.assert_allclose(found["mean"]["x2"][:, 0], -x1, atol=1e-14)
    for other in found.values():
        np.testing.assert_array_equal(other["x1"], found["new"]["x1"])
        assert other.ledger.largest_residual < 1e-14


def test_one_step_by_hand():
    """h = ½ from (1, −1): x₁¹ = ¾/1¼ = 0.6, f₂ = −0.8."""
    ends = {
        name: run(published(), (1.0, -1.0), [0.0, 0.5], method=DiracDissipative(completion=name))
        for name in ("new", "old", "mean")
    }
    expected = {"new": [-1.0, -0.8], "old": [-0.8, -0.8], "mean": [-1.0, -0.6]}
    for name, found in ends.items():
        np.testing.assert_allclose(found["x2"][:, 0], expected[name], rtol=1e-14)


def damped():
    return damped_oscillator(parts={"motion": slice(0, 2), "force": slice(2, 3)})


FIRST = consistent(damped(), (1.0, 0.5, 0.4))


def off(found):
    """Largest defect of the algebraic equation at the saved times after the first."""
    return max(abs(x[1] - (1.0 + x[2] ** 2) * x[2]) for x in found.states[1:])


@pytest.mark.parametrize(
    "method", ["gonzalez", "dirac", *(pytest.param(m, marks=pytest.mark.slow) for m in METHODS[1::2])]
)
def test_completions_have_their_orders(method):
    """Of the algebraic equation at the nodes: 1, 1 and 2; the motion is the same to round-off."""
    defects = {}
    for name in ("new", "old", "mean"):
        runs = [
            run(damped(), FIRST, np.linspace(0.0, 1.0, count + 1), by_name(method, completion=name))
            for count in (10, 20)
        ]
        defects[name] = [off(found) for found in runs]
        plain = run(damped(), FIRST, np.linspace(0.0, 1.0, 21), by_name(method))
        np.testing.assert_allclose(runs[1]["motion"], plain["motion"], atol=1e-13)
        assert method == "midpoint" or runs[1].ledger.largest_residual < 1e-12
    for name, order in {"new": 1.0, "old": 1.0, "mean": 2.0}.items():
        assert math.log2(defects[name][0] / defects[name][1]) == pytest.approx(order, abs=0.1)
    assert defects["mean"][1] < 5e-3 < defects["new"][1] < 1e-1
    assert defects["old"][1] < 1e-1


def test_states_that_are_redefined_arrive_in_every_row():
    """Whatever is saved and however steps are recorded: "old" is "new" one step earlier."""
    times = np.linspace(0.0, 3.0, 256 + 30)
    new, old = (run(damped(), FIRST, times, method=DiscreteGradient(completion=name)) for name in ("new", "old"))
    np.testing.assert_array_equal(old["force"][:-1], new["force"][1:])
    np.testing.assert_array_equal(old["force"][-1], new["force"][-1])
    np.testing.assert_array_equal(old["motion"], new["motion"])
    some = run(damped(), FIRST, times, method=DiscreteGradient(completion="old"), save_every=7)
    np.testing.assert_array_equal(some.states, old.states[[*range(0, times.size - 1, 7), times.size - 1]])


def test_with_chosen_steps_and_events():
    """Rejected steps leave no trace; a terminal event ends a run with a state that is completed alike."""
    found = run(damped(), FIRST, np.linspace(0.0, 1.0, 3), method=DiscreteGradient(completion="mean", tolerance=1e-4))
    assert off(found) < 1e-2
    first = run(damped(), FIRST, np.linspace(0.0, 1.0, 3), method=DiscreteGradient(tolerance=1e-4))
    np.testing.assert_allclose(found["motion"], first["motion"], atol=1e-12)
    stop = {"turn": Event(lambda t, x: x[1], terminal=True)}
    ended = run(damped(), FIRST, np.linspace(0.0, 2.0, 21), method=DiscreteGradient(completion="mean"), events=stop)
    assert ended.times[-1] < 2.0 and abs(ended.final[1]) < 1e-12
    assert abs(ended.final[2]) < 1e-2  # no velocity, no force


def test_multipliers_of_index_two():
    """Means of neighbouring nodes are the stage values, whatever the start; positions and velocities stay."""
    times = np.linspace(0.0, 0.03, 4)
    plain, mean = (
        run(four_particles(1.0), START, times, method=DiscreteGradient(completion=name)) for name in (None, "mean")
    )
    np.testing.assert_allclose(mean.states[:, :24], plain.states[:, :24], atol=1e-12)
    np.testing.assert_allclose(0.5 * (mean["lam"][1:] + mean["lam"][:-1]), plain["lam"][1:], atol=1e-8)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (lambda: DiracDissipative(completion="middle"), "completion must be one of 'new', 'old', 'mean', got 'middle'"),
        (lambda: Gauss(4, completion="mean"), r"completion='mean' is for Gauss\(2\), got Gauss\(4"),
        (lambda: DiscreteGradient("pair", completion="new"), "completion='new' is for 'gonzalez', .* got D"),
    ],
)
def test_what_does_not_understand_it_says_so(method, message):
    with pytest.raises(ValueError, match=message):
        method()


def test_systems_without_algebraic_states_say_so():
    free = PHDAE(E=np.eye(2), J=np.zeros((2, 2)), z=lambda x: x, H=lambda x: 0.5 * float(x @ x), sample=np.ones(2))
    with pytest.raises(ValueError, match="E of this system differentiates all states"):
        run(free, np.ones(2), [0.0, 0.1], method=DiscreteGradient(completion="mean"))
    with pytest.raises(ValueError, match="a switching system does not support completion"):
        integrate(SwitchingPHDAE({"on": free}), np.ones(2), [0.0, 0.1], method=DiscreteGradient(completion="mean"))
    ball = connect({"ball": point(1.0)}, [])
    rest = ball.consistent_state(ball.assemble({"ball": (0.0, 1.0, 0.0)}))
    with pytest.raises(ValueError, match="E of this system differentiates all states"):
        integrate(ball, rest, [0.0, 0.1], method=DiscreteGradient(completion="mean"))


@pytest.mark.parametrize("method", ["gonzalez", "dirac", "midpoint"])
def test_a_mean_needs_a_consistent_start(method):
    """0 = −x₁ − x₂: from x₂ = 5 the mean of both ends would go to and fro for ever."""
    system = LinearPHDAE(E=np.diag([1.0, 0.0]), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), R=np.diag([0.0, 1.0]))
    times = np.linspace(0.0, 2.0, 9)
    with pytest.raises(
        ValueError, match=r"'mean' needs a start that satisfies the algebraic equations: their residual is 1\.0e\+00 of"
    ):
        integrate(system, (1.0, 5.0), times, method=by_name(method, completion="mean"))
    run = integrate(system, (1.0, -1.0), times, method=by_name(method, completion="mean"))
    assert run.states[:, 1] == pytest.approx(-run.states[:, 0], abs=0.02)  # of second order in steps of a quarter
    assert integrate(system, (1.0, 5.0), times, method=by_name(method, completion="new")).states[1:, 1].max() < 0.0
