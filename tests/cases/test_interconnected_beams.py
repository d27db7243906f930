"""The interconnected beams: the manufactured solution, the checks, the spectrum of the whole, the files."""

import json

import numpy as np
import pytest
from exact_beams import bending_frequencies

from cases import interconnected_beams as case
from flexph import eigenfrequencies


def test_the_manufactured_solution_satisfies_the_equations():
    """ẅ + w'''' = p, w and w' zero at x = 0, M and M' zero at x = 2, w(2) = sin 4t; polynomials are exact."""
    f = np.polynomial.Polynomial([0.0, 0.0, 24.0, -8.0, 1.0]) / 48.0
    x, t = np.linspace(0.0, 2.0, 9), 0.3
    np.testing.assert_allclose(case.shape(x), f(x), rtol=1e-14)
    pressure = (f.deriv(4)(x) - 16.0 * f(x)) * np.sin(4.0 * t)
    np.testing.assert_allclose(case.load(x, t), pressure, rtol=1e-13, atol=1e-14)
    assert [f(0.0), f.deriv(1)(0.0), f(2.0)] == pytest.approx([0.0, 0.0, 1.0], abs=1e-14)
    assert [f.deriv(2)(2.0), f.deriv(3)(2.0)] == pytest.approx([0.0, 0.0], abs=1e-14)


def test_both_beams_are_one_of_length_two():
    """Six elements each, 52 states without multipliers: the clamped-free frequencies to the (βh)⁴/1440 of cubics."""
    system = case.beams(6)
    assert (system.size, system.G.shape[0]) == (52, 0)
    assert not system.causality
    exact = bending_frequencies("clamped-free", 3) / 4.0
    np.testing.assert_allclose(eigenfrequencies(system, 3), exact, rtol=2.0 * (3.93 / 6.0) ** 4 / 1440.0)


def test_the_start_has_the_velocities_of_the_solution():
    system, states = case.beams(6), case.start(6)
    assert system.inputs("free.tip").T @ states == pytest.approx([4.0, 4.0 * 2.0 / 3.0], rel=1e-10)
    exact = 0.5 * 16.0 * 208.0 / 405.0  # ½∫(4f)² dx
    assert system.energy(states) == pytest.approx(exact, rel=1e-3)  # 6 elements: h⁴
    np.testing.assert_array_equal(states[~system.kinetic], 0.0)


def test_a_run_writes_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(case, "MESHES", (2, 3))
    monkeypatch.setattr(case, "STEPS", (10, 20))
    summary = json.loads(json.dumps(case.write(case.run(elements=3, steps=20), tmp_path)))
    assert summary["tip_error_max_m"] < 6e-3  # 25 times that of 100 steps
    assert summary["energy_drift_rel"] < 1e-12
    table = np.genfromtxt(tmp_path / "tip.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["exact_m"], np.sin(4.0 * table["t_s"]), rtol=1e-14)
    assert len(table) == 21


@pytest.mark.parametrize("name", ["elements", "steps"])
def test_bad_options_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        case.run(**{name: 0})
