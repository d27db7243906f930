"""Fully implicit systems of index 1, E(x) singular with a range or null space that varies, by Radau and IDA."""

import math

import numpy as np
import pytest

from flexph import PHDAE, IntegrationError, integrate
from flexph.consistency import consistent, inconsistency
from flexph.integration.general.library import EXTRAS
from flexph.methods import Gauss, by_name
from flexph.systems import transform

TIMES = np.linspace(0.0, 2.0, 9)
EXACT = np.stack([np.exp(-TIMES), -np.exp(-TIMES)], axis=1)
"""x₁ = e^{−t}, x₂ = −x₁ of [dg] example 1."""


@pytest.fixture(params=("radau", "ida"))
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


def test_a_range_that_varies(method):
    """Errors go with the tolerance, and the guess 3 of the algebraic state is replaced."""
    errors = []
    for tolerance in (1e-4, 1e-6):
        found = run(turned(plain()), (1.0, 3.0), method, tolerance)
        errors.append(np.abs(found.states - EXACT).max())
        assert found.energy_drift() < 10.0 * tolerance
    assert errors[0] < 1e-3  # ten times the tolerance
    assert errors[1] < 1e-5


def test_a_null_space_that_varies(method):
    system = bent_and_turned(plain())
    if method != "radau":
        with pytest.raises(ValueError, match=r"takes no E\(x\) whose null space varies: take Radau\(\)"):
            run(system, system.sample, method)
        return
    errors = [
        np.abs(np.array([bent(x) for x in run(system, system.sample, method, tolerance).states]) - EXACT).max()
        for tolerance in (1e-4, 1e-6)
    ]
    assert errors[0] < 1e-3
    assert errors[1] < 1e-5  # through the constraint, whose slope is 1, and ten of its changes with x


def test_inputs_in_the_algebraic_equations(method):
    """0 = −x₁ − x₂ + u: ẋ₁ = x₂ = u − x₁; with u = sin t and x₁(0) = 1, x₁ = 3/2 e^{−t} + (sin t − cos t)/2."""
    force = {"B": np.array([[0.0], [1.0]]), "ports": {"force": slice(0, 1)}}
    found = run(turned(plain(**force)), (1.0, 0.0), method, inputs={"force": math.sin})
    first = 1.5 * np.exp(-TIMES) + 0.5 * (np.sin(TIMES) - np.cos(TIMES))
    np.testing.assert_allclose(found.states, np.stack([first, np.sin(TIMES) - first], axis=1), atol=1e-5)
    assert found.energy_drift() < 1e-5


def test_consistent_states():
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
    with pytest.raises(ValueError, match=r"inconsistent start at t = 0.0 s: violated .* see flexph\.consistency"):
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
        run(falling(0.0), (1.0, -1.0), method, 1e-5)
    assert float(str(end.value).split("t = ")[1].split(" s")[0]) == pytest.approx(
        0.5, abs=5e-3
    )  # steps of IDA end at 0.4988


def test_a_rank_that_changes_next_to_the_start_is_named():
    pytest.importorskip(EXTRAS["radau"][0])
    with pytest.raises(ValueError, match=r"cannot start: the rank of E\(x\) is 0 at t = 0 s and 1 at"):
        run(falling(1.0), (1.0, -1.0), "radau")


def test_bdf_is_refused():
    pytest.importorskip(EXTRAS["bdf"][0])
    with pytest.raises(ValueError, match=r"BDF\(.*\) takes no E\(x\) .* take Radau\(\)"):
        run(turned(plain()), (1.0, -1.0), "bdf")


def test_other_methods_name_those_that_take_it():
    with pytest.raises(ValueError, match=r"take method=DiracDissipative\(\), of index 1 Radau\(\), or IDA\(\)"):
        integrate(turned(plain()), (1.0, -1.0), TIMES, method=Gauss(2), progress=False)
