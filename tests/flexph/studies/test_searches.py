"""Optimisation, fits and sensitivities: against closed forms and fine grids, with every run kept."""

import numpy as np
import pytest

import fem
from cases import crank_slider
from flexph import GROUND, LinearPHDAE, connect, eigenfrequencies, eliminate, hinge, integrate, slider, weld
from flexph.studies import fit, frequency_sensitivities, optimise, sensitivities, study

pytest.importorskip("xarray")

DENSITY = 7870.0


def rod_of(diameter, elements=2, steps=60):
    """Mass of the crank-slider's rod, and its largest bending stress in the first turn."""
    section = fem.Section(diameter=diameter)
    mechanism = crank_slider.around(crank_slider.beam(elements, "linear", section))
    state = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}), elastic="quasi_static")
    solution = integrate(
        mechanism, state, np.linspace(0.0, 2.0 * np.pi / crank_slider.SPEED, steps + 1), progress=False
    )
    middle = solution.displacement("rod.middle")[:, 1]
    # of a sine over the span: E (π/L)² w d/2
    stress = 0.2e12 * (np.pi / crank_slider.ROD) ** 2 * np.abs(middle) * diameter / 2
    return {
        "mass": DENSITY * np.pi / 4 * diameter**2 * crank_slider.ROD,
        "stress": stress,
        "energy_residual": solution.ledger.largest_residual,
    }


@pytest.mark.slow
def test_the_lightest_rod_is_that_of_a_fine_grid(tmp_path):
    bounds, limit = {"diameter": (6e-3, 12e-3)}, 200e6
    best = optimise(rod_of, "mass", bounds, constraints={"stress": (None, limit), "energy_residual": (None, 1e-9)},
                    out=tmp_path, tolerance=1e-4)  # fmt: skip
    assert best.runs.sizes["sample"] <= 40 and len(list(tmp_path.rglob("*.npz"))) == best.runs.sizes["sample"]
    assert best.values["stress"].max() <= limit * (1.0 + 1e-6)
    fine = study(rod_of, {"diameter": np.linspace(6e-3, 12e-3, 61)}, jobs=1, progress=False)
    allowed = fine.diameter[(fine.stress.max("stress_0") <= limit).values]
    lightest = float(allowed.min())
    assert lightest - 1e-4 <= best.parameters["diameter"] <= lightest + 1e-6  # between it and its neighbour
    again = optimise(rod_of, "mass", bounds, constraints={"stress": (None, limit), "energy_residual": (None, 1e-9)},
                     out=tmp_path, tolerance=1e-4, resume=True)  # fmt: skip
    assert again.runs.identical(best.runs)  # with the seconds of the first runs


def square(x, y):
    if x > 1.5:
        raise ValueError("too large")
    return {"f": (x - 1.0) ** 2 + (y + 0.5) ** 2, "g": [x + y, x - y]}


def test_optima_within_bounds_and_constraints():
    bounds = {"x": (-1.0, 2.0), "y": (-2.0, 2.0)}
    free = optimise(square, "f", bounds, most=60)
    np.testing.assert_allclose([*free.parameters.values()], [1.0, -0.5], atol=5e-3)
    held = optimise(square, "f", bounds, constraints={"g": (1.0, None)}, start={"y": 0.0}, most=100)
    # x + y = 1 and x − y ≥ 1: the nearest point of the line is (1.25, −0.25)
    np.testing.assert_allclose([*held.parameters.values()], [1.25, -0.25], atol=5e-3)
    assert "failed" not in free.runs.sample_status.values or free.parameters["x"] < 1.5


def test_searches_without_an_answer_say_so():
    bounds = {"x": (-1.0, 1.2), "y": (-2.0, 2.0)}
    with pytest.raises(ArithmeticError, match=r"none of \d+ runs satisfies the constraints: at x = 1\.2"):
        optimise(square, "f", bounds, constraints={"g": (3.0, None)})
    with pytest.raises(ArithmeticError, match=r"the search did not converge within 5 runs;.*best so far.*x ="):
        optimise(square, "f", bounds, most=5)
    with pytest.raises(ArithmeticError, match=r"the run at x = 1\.75, y = 0 failed: ValueError: too large"):
        optimise(square, "f", {"x": (1.5, 2.0), "y": (-1.0, 1.0)})
    with pytest.raises(ValueError, match="no value 'h': a run has 'f', 'g'"):
        optimise(square, "h", bounds)
    with pytest.raises(ValueError, match="objective must be the name of a number, 'g' is an array"):
        optimise(square, "g", bounds)
    with pytest.raises(ArithmeticError, match=r"'f' is nan at x = 0.5, the start of the search: give a start"):
        optimise(lambda x: {"f": float("nan")}, "f", {"x": (0.0, 1.0)})
    with pytest.raises(ValueError, match=r"constraints\['g'\] must.*\(least, largest\), got \(1.0, 0.0\)"):
        optimise(square, "f", bounds, constraints={"g": (1.0, 0.0)})
    with pytest.raises(ValueError, match=r"start\['x'\] must lie in its bounds"):
        optimise(square, "f", bounds, start={"x": 5.0})


TIMES = np.linspace(0.0, 0.4, 161)


def swinging(young, damping):
    """Tip of a cantilever that was let go, by its first mode."""
    omega = np.sqrt(young / 70e9) * 60.0
    return {"tip": np.exp(-damping * TIMES) * np.cos(omega * TIMES)}


def test_a_noisy_series_gives_modulus_and_damping_back(tmp_path):
    truth = {"young": 71e9, "damping": 4.0}
    noise = 0.02 * np.random.default_rng(3).standard_normal(TIMES.size)
    series = swinging(**truth)["tip"] + noise
    result = fit(swinging, {"tip": series}, {"young": 69e9, "damping": 2.0}, out=tmp_path)
    for name, value in truth.items():
        assert abs(result.parameters[name] - value) < 3.0 * result.deviations[name] < 0.1 * value
    assert result.noise == pytest.approx(0.02, rel=0.2)
    assert result.runs.sizes["sample"] == len(list(tmp_path.rglob("*.npz"))) < 60
    given = fit(swinging, {"tip": series}, {"young": 69e9, "damping": 2.0}, deviations={"tip": 0.02})
    np.testing.assert_allclose(given.covariance * result.noise**2, result.covariance * 0.02**2, rtol=1e-3)


def test_the_covariance_of_a_line_is_that_of_linear_least_squares():
    t = np.linspace(-1.0, 1.0, 21)
    series = 1.0 + 2.0 * t + 0.1 * np.random.default_rng(5).standard_normal(21)
    line = fit(lambda a, b: {"y": a + b * t}, {"y": series}, {"a": 1.5, "b": 1.5}, deviations={"y": 0.1})
    expected = 0.01 * np.linalg.inv(np.array([[21.0, 0.0], [0.0, t @ t]]))
    np.testing.assert_allclose(line.covariance, expected, atol=1e-9)


def test_fits_without_an_answer_say_so():
    t = np.linspace(0.0, 1.0, 9)
    with pytest.raises(ArithmeticError, match="does not determine these parameters: a, b"):
        fit(lambda a, b: {"y": (a + b) * t}, {"y": t}, {"a": 1.0, "b": 2.0})
    with pytest.raises(ArithmeticError, match="'a' ends at its bound"):
        fit(lambda a: {"y": a * t}, {"y": 3.0 * t}, {"a": 1.0}, bounds={"a": (0.5, 2.0)})
    with pytest.raises(ArithmeticError, match="the run at a = 1 failed: ZeroDivisionError"):
        fit(lambda a: {"y": a / 0}, {"y": 1.0}, {"a": 1.0})
    with pytest.raises(ValueError, match=r"measured\['y'\] must.*shape \(9,\).*value, got \(8,\)"):
        fit(lambda a: {"y": a * t}, {"y": t[:8]}, {"a": 1.0})
    with pytest.raises(ValueError, match=r"start\['a'\] must not be zero"):
        fit(lambda a: {"y": a * t}, {"y": t}, {"a": 0.0})


def test_a_fit_shortens_steps_to_runs_that_fail():
    """Full steps go to a < 0, where the function has no value; b needs no bounds."""
    t, failed = np.linspace(0.0, 1.0, 9), []

    def growth(a, b):
        if a <= 0.0:
            failed.append(a)
            raise ValueError("a must be positive")
        return {"y": np.log(a) * t + b}

    found = fit(growth, {"y": np.log(1e-3) * t + 2.0}, {"a": 1.0, "b": 1.0}, bounds={"b": (0.0, 5.0)})
    assert failed
    assert found.parameters["a"] == pytest.approx(1e-3, rel=1e-6)
    assert found.parameters["b"] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.processor
def test_a_fit_that_ends_next_to_runs_that_fail_says_so():
    t = np.linspace(0.0, 1.0, 9)

    def line(a, b):
        if a < 0.5:
            raise ValueError("a must be at least 0.5")
        return {"y": a * t + b}

    with pytest.raises(
        ArithmeticError, match=r"the run at a = .* failed: ValueError: a must be at least 0.5.*give bounds of 'a'"
    ):
        fit(line, {"y": 0.2 * t + 1.0}, {"a": 1.0, "b": 2.0}, bounds={"b": (0.0, 5.0)}, step=1e-9)


def test_sensitivities_are_central_differences():
    def function(a, b):
        return {"s": np.sin(a * np.arange(3.0)), "p": a * b, "text": "x"}

    result = sensitivities(function, {"a": 2.0, "b": 0.0}, {"a": 1e-3, "b": 1e-2})
    # errors of h²/6 of the third derivative, at most 8
    np.testing.assert_allclose(result.derivatives["s"]["a"], np.arange(3.0) * np.cos(2.0 * np.arange(3.0)), atol=2e-6)
    assert result.derivatives["p"]["b"] == pytest.approx(2.0) and not result.derivatives["s"]["b"].any()
    assert set(result.values) == {"s", "p"} and result.runs.sizes["sample"] == 5
    with pytest.raises(ValueError, match="steps must be a dict with a step of 'b', which is zero"):
        sensitivities(function, {"a": 2.0, "b": 0.0}, 1e-3)


def crank(young, length, angle=0.4):
    """A crank that is held, with a connecting rod: constraints whose rows depend on the angle."""
    material, section = fem.Material(young=young, density=2700.0), fem.Section(width=0.02, height=0.002)
    links = {"a": fem.beam(length, material, section, elements=3), "b": fem.beam(0.4, material, section, elements=3)}
    guide = slider("b.tip", GROUND, direction=(1.0, 0.0), turning=True)
    mechanism = connect(links, [weld("a.root", GROUND), hinge("a.tip", "b.root"), guide])
    return mechanism.linearize(mechanism.assemble({"a": (0.0, 0.0, angle)}, guess={"b": -0.5}))


@pytest.mark.parametrize("reduced", [pytest.param(False, marks=pytest.mark.slow), True])
def test_sensitivities_of_frequencies_are_those_of_differences(reduced):
    def system(young, length, angle):
        own = crank(young, length, angle)
        return eliminate(own) if reduced else own

    at = {"young": 70e9, "length": 0.3, "angle": 0.4}
    if reduced:
        del at["angle"], at["length"]  # the basis of the elimination may turn
        analytic = frequency_sensitivities(lambda young: system(young, 0.3, 0.4), at, 3)
    else:
        analytic = frequency_sensitivities(system, at, 3, steps=1e-3)
    np.testing.assert_allclose(analytic.derivatives["young"], analytic.frequencies / (2.0 * 70e9), rtol=1e-9)
    for name, step in {"length": 1e-4, "angle": 1e-4}.items() if not reduced else ():
        above, below = (eigenfrequencies(crank(**{**at, name: at[name] + s}), 3) for s in (step, -step))
        np.testing.assert_allclose(analytic.derivatives[name], (above - below) / (2.0 * step), rtol=1e-5)


def test_repeated_frequencies_part():
    """Of two equal masses on springs, one spring stiffer: one frequency stays, the other one moves."""

    def pair(stiffness):
        E = np.diag([1.0, 1.0, 1.0 / stiffness, 0.25])
        D = np.array([[0.6, 0.8], [-0.8, 0.6]])
        J = np.block([[np.zeros((2, 2)), -D.T], [D, np.zeros((2, 2))]])
        return LinearPHDAE(E=E, J=J, kinetic=np.arange(4) < 2)

    result = frequency_sensitivities(pair, {"stiffness": 4.0}, 2)
    np.testing.assert_allclose(result.frequencies, 2.0)
    np.testing.assert_allclose(result.derivatives["stiffness"], [0.0, 0.25], atol=1e-10)  # dω/dk = ω/(2k)
    with pytest.raises(ValueError, match="system must return a LinearPHDAE"):
        frequency_sensitivities(lambda stiffness: stiffness, {"stiffness": 4.0}, 2)
