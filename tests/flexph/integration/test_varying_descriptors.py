"""Fully implicit systems, E(x) singular with a range or null space that varies, by the solvers of libraries.

Five seconds, as solvers of libraries call functions of Python.
"""

import math

import numpy as np
import pytest

from flexph import PHDAE, IntegrationError, integrate
from flexph.consistency import consistent, inconsistency
from flexph.integration.general.adaptive import RankWatch
from flexph.integration.general.library import EXTRAS, SolverFailed
from flexph.methods import Gauss, by_name
from flexph.systems import transform

TIMES = np.linspace(0.0, 2.0, 9)
EXACT = np.stack([np.exp(-TIMES), -np.exp(-TIMES)], axis=1)
"""x₁ = e^{−t}, x₂ = −x₁ of [dg] example 1."""


@pytest.fixture(params=("radau", "bdf", "ida"))
def method(request):
    pytest.importorskip(EXTRAS[request.param][0])
    return request.param


def plain(**changes):
    """[dg] example 1, of index 1."""
    given = {"J": np.array([[0.0, 1.0], [-1.0, 0.0]]), "R": np.diag([0.0, 1.0]), "sample": np.array([1.0, -1.0])}
    return PHDAE(E=np.diag([1.0, 0.0]), z=lambda x: x, H=lambda x: 0.5 * x[0] ** 2, **given | changes)


def rotation(x):
    """U(x): it turns by 147° along the solution."""
    angle = 0.7 + 2.0 * x[0] + 1.5 * math.sin(x[1])
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def turned(system):
    """U(x)ᵀE: the range varies."""
    return transform(system, lambda x: x, np.eye(2), rotation, sample=system.sample)


def bent(x):
    return np.array([x[0] + 0.3 * math.sin(x[1]), x[1]])


def unbent(y):
    return np.array([y[0] - 0.3 * math.sin(y[1]), y[1]])


def bent_and_turned(system):
    """U(x)ᵀE ∂ψ/∂x: the null space varies too."""
    slope = lambda x: np.array([[1.0, 0.3 * math.cos(x[1])], [0.0, 1.0]])  # noqa: E731
    return transform(system, bent, slope, rotation, sample=unbent(system.sample))


def run(system, start, method, tolerance=1e-6, **options):
    times = options.pop("times", TIMES)
    return integrate(system, start, times, method=by_name(method, tolerance=tolerance), progress=False, **options)


@pytest.mark.parametrize("tolerance", [1e-4, pytest.param(1e-6, marks=pytest.mark.slow)])
def test_a_range_that_varies(method, tolerance):
    """Errors go with the tolerance, and the guess 3 of the algebraic state is replaced."""
    found = run(turned(plain()), (1.0, 3.0), method, tolerance)
    assert np.abs(found.states - EXACT).max() < 10.0 * tolerance
    assert found.energy_drift() < 10.0 * tolerance
    assert found.ledger.iterations.sum() < 30.0 * (1e-4 / tolerance) ** 0.25  # IDA 25, 40; untransformed they crawl


@pytest.mark.parametrize("tolerance", [1e-4, pytest.param(1e-6, marks=pytest.mark.slow)])
def test_a_null_space_that_varies(method, tolerance):
    system = bent_and_turned(plain())
    found = run(system, system.sample, method, tolerance)
    # through the constraint, whose slope is 1, and ten of its changes with x
    assert np.abs(np.array([bent(x) for x in found.states]) - EXACT).max() < 10.0 * tolerance


def test_collocation_in_long_steps():
    """74° of the range in a step: a solution that is not found at once is followed by parts of the step."""
    errors = []
    for count in (2, 4):
        found = integrate(
            turned(plain()), (1.0, -1.0), np.linspace(0.0, 2.0, count + 1), method=Gauss(6), progress=False
        )
        errors.append(abs(found.final[0] - EXACT[-1, 0]))
        assert found.ledger.largest_residual < 2e-14  # H is quadratic
    assert math.log2(errors[0] / errors[1]) == pytest.approx(6.0, abs=0.1)
    assert errors[1] < 1e-7


def test_inputs_in_the_algebraic_equations(method):
    """0 = −x₁ − x₂ + u: ẋ₁ = x₂ = u − x₁; with u = sin t and x₁(0) = 1, x₁ = 3/2 e^{−t} + (sin t − cos t)/2."""
    force = {"B": np.array([[0.0], [1.0]]), "ports": {"force": slice(0, 1)}}
    found = run(turned(plain(**force)), (1.0, 0.0), method, 1e-5, inputs={"force": math.sin})
    first = 1.5 * np.exp(-TIMES) + 0.5 * (np.sin(TIMES) - np.cos(TIMES))
    np.testing.assert_allclose(found.states, np.stack([first, np.sin(TIMES) - first], axis=1), atol=1e-4)
    assert found.energy_drift() < 2e-4  # the tolerance holds for a step; BDF take some thirty


def test_consistent_states_are_the_nearest():
    """The differential state stays where the null space is constant, else the nearest state is taken."""
    np.testing.assert_allclose(consistent(turned(plain()), (1.0, 3.0)), [1.0, -1.0], atol=1e-12)
    system = bent_and_turned(plain())
    assert inconsistency(system, (1.0, -0.5))
    found = consistent(system, (1.0, -0.5))
    assert not inconsistency(system, found)
    assert bent(found) @ np.ones(2) == pytest.approx(0.0, abs=1e-12)  # the constraint of example 1
    assert consistent(system, found) == pytest.approx(found, abs=1e-12)


def test_an_inconsistent_start_is_refused():
    pytest.importorskip(EXTRAS["radau"][0])
    with pytest.raises(ValueError, match=r"inconsistent start.*t = 0.0 s: violated .* see flexph\.consistency"):
        run(bent_and_turned(plain()), (1.0, -0.5), "radau")


def test_index_two_is_refused(method):
    """Without R the constraint x₁ = 0 holds no x₂."""
    system = turned(plain(R=np.zeros((2, 2))))
    with pytest.raises(ValueError, match=r"cannot start: the index at t = 0 s is above 1"):
        run(system, (0.0, 0.5), method)


def falling(zero):
    """E = U(x)ᵀ diag(x₁ − zero, 0) with U z = (1, x₂): (x₁ − zero) ẋ₁ = −1 and x₂ = −1."""
    return PHDAE(
        E=lambda x: rotation(x).T @ np.diag([x[0] - zero, 0.0]),
        J=lambda x: rotation(x).T @ np.array([[0.0, 1.0], [-1.0, 0.0]]) @ rotation(x),
        R=lambda x: rotation(x).T @ np.diag([0.0, 1.0]) @ rotation(x),
        z=lambda x: rotation(x).T @ np.array([1.0, x[1]]),
        H=lambda x: 0.5 * (x[0] - zero) ** 2,
        sample=np.array([1.2, -1.0]),
    )


def test_a_rank_that_falls_is_named_with_its_time(method):
    """x₁ẋ₁ = −1 from 1 ends at t = ½ where x₁ = 0."""
    with pytest.raises(IntegrationError, match=r"the rank of E\(x\) falls below 1") as end:
        run(falling(0.0), (1.0, -1.0), method, 1e-4)
    assert float(str(end.value).split("t = ")[1].split(" s")[0]) == pytest.approx(
        0.5, abs=5e-3
    )  # steps of IDA end at 0.4988


def test_a_rank_that_changes_next_to_the_start_is_named():
    pytest.importorskip(EXTRAS["radau"][0])
    with pytest.raises(ValueError, match=r"cannot start: the rank of E\(x\) is 0 at t = 0 s and 1 at"):
        run(falling(1.0), (1.0, -1.0), "radau")


# --- the rank along the steps of a solver -----------------------------------------------------------------------------


class Straight:
    """Steps of a solver that goes through states along a line."""

    def __init__(self, *states):
        self._states, self.before, self.time = np.array(states, dtype=float), 0.0, 0.0

    def advance(self, time):
        self.before, self.time, self.state = self.time, time, self.at(time)

    def at(self, time):
        return self._states[0] + time * (self._states[1] - self._states[0])


def spinning(size):
    """E = U(x₂)ᵀ diag(size(x₁), 0) with a range and a null space at the angles x₂ and 2x₂."""

    def turn(angle):
        return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])

    return PHDAE(
        E=lambda x: turn(x[1]) @ np.diag([size(x[0]), 0.0]) @ turn(2.0 * x[1]).T,
        J=np.zeros((2, 2)),
        z=lambda x: np.zeros(2),
        H=lambda x: 0.0,
        sample=np.ones(2),
    )


def watched(size, first, last, *times, span=1.0):
    system, solver = spinning(size), Straight(first, last)
    watch = RankWatch(system, np.array(first, dtype=float), span)
    for time in times:
        solver.advance(time)
        watch.check(solver)


@pytest.mark.parametrize("angle", [0.3, 3.0, 9.0])
def test_a_range_that_turns_far_in_a_step_is_followed(angle):
    """In pieces of less than 60°: half a turn changes the sign of the determinant, too."""
    watched(lambda s: 2.0 - s, (1.0, 0.0), (-1.0, angle), 1.0)


def test_a_determinant_that_changes_its_sign_in_a_step():
    """Where 1 − 2.1 t is zero, to 2⁻⁸ of the step."""
    with pytest.raises(SolverFailed, match=r"falls below 1 between t = 0\.47\d* and 0\.47\d* s"):
        watched(lambda s: s, (1.0, 0.0), (-1.1, 0.3), 1.0)


def test_a_rank_that_jumps_at_the_end_of_a_step():
    with pytest.raises(SolverFailed, match=r"the rank of E\(x\) is 0 at t = 0.5 s, and 1 before"):
        watched(lambda s: s, (1.0, 0.0), (-1.0, 0.1), 0.25, 0.5)


def test_short_steps_before_a_rank_that_falls():
    """1e-7 of the span and a singular value of 0.009 of the first; not with either alone."""
    for times, size in (((0.5, 0.9), 0.9), ((0.5, 0.5 + 1e-7), 0.9)):
        watched(lambda s, size=size: size * s + 0.1, (1.0, 0.0), (0.01, 0.1), *times)
    with pytest.raises(SolverFailed, match=r"falls below 1 .*from 1 at the start to 9\.\de-03"):
        watched(lambda s: s, (1.0, 0.0), (0.0, 0.1), 0.991, 0.991 + 1e-7)
