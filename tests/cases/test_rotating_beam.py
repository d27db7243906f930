"""Frequencies of a rotating cantilever against the slender limit, and an independent Ritz solution of it."""

import csv
import json
from dataclasses import replace
from functools import partial

import meshio
import numpy as np
import pytest
from case_commands import run_case
from covering import covering
from numpy.polynomial import Legendre, Polynomial
from numpy.polynomial.legendre import leggauss
from scipy.linalg import eigh

from cases import rotating_beam

run = partial(run_case, "rotating-beam")

HALF_DIGIT = 0.51e-4  # of the reference


def ritz(speed: float, count: int = 3) -> np.ndarray:
    """Flapwise frequencies of ∫w''² + ½Ω²(1 − x²)w'² = ω²∫w², w = x² P_k(2x − 1), k < 12: exact to 6 digits."""
    x, weight = leggauss(40)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    polynomials = [Legendre.basis(k, domain=(0.0, 1.0)).convert(kind=Polynomial) for k in range(12)]
    shapes = [Polynomial([0.0, 0.0, 1.0]) * p for p in polynomials]
    w, slope, curvature = (np.array([s.deriv(m)(x) if m else s(x) for s in shapes]) for m in range(3))
    tension = 0.5 * speed**2 * (1.0 - x**2)
    K = (curvature * weight) @ curvature.T + (slope * weight * tension) @ slope.T
    M = (w * weight) @ w.T
    scale = 1.0 / np.sqrt(np.diag(M))
    return np.sqrt(eigh(scale[:, None] * K * scale, scale[:, None] * M * scale, eigvals_only=True)[:count])


def test_the_reference_is_the_slender_limit():
    """All 13 reference values, from another method, to the printed digits."""
    found = [ritz(speed)[0] for speed in rotating_beam.REFERENCE]
    np.testing.assert_allclose(found, list(rotating_beam.REFERENCE.values()), atol=HALF_DIGIT, rtol=0.0)
    np.testing.assert_allclose(ritz(0.0), rotating_beam.AT_REST, rtol=1e-6)  # the digits of AT_REST


@pytest.mark.parametrize("speed", [0.0, 1.0, 6.0, 12.0])
def test_flapwise_and_chordwise_frequencies(speed):
    """16 elements: of the second mode at speed 12, 8e-6 are the mesh and 1.8e-5 the stretch ½(speed/slenderness)²."""
    found = rotating_beam.solve(speed, 1000.0, 16, "von_karman")
    expected = ritz(speed)
    np.testing.assert_allclose(found.flap, expected, rtol=5e-5)
    assert found.flap[0] == pytest.approx(rotating_beam.REFERENCE[speed], rel=5e-5)
    assert found.chord[0] ** 2 == pytest.approx(found.flap[0] ** 2 - speed**2, rel=1e-3)
    np.testing.assert_allclose(found.chord**2, expected**2 - speed**2, rtol=3e-3)
    assert ("no growing motion" in found.message) and ("steady rotation" in found.message) == (speed > 0.0)


@pytest.mark.parametrize("pair, order, largest", [("compatible", 2.0, 1.3e-3), ("quadratic", 4.0, 4e-5)])
def test_order_in_the_elements(pair, order, largest):
    """An axial force constant on each element is of second order, one that is linear there of fourth, as bending is."""
    limit = ritz(12.0)
    found = [rotating_beam.solve(12.0, 1e5, n, "von_karman", pair=pair).flap for n in (8, 16)]
    error = [np.abs(flap / limit - 1.0) for flap in found]
    np.testing.assert_allclose(np.log2(error[0] / error[1]), order, atol=0.2)
    assert error[1].max() < largest


def test_chordwise_identity_is_one_of_slender_beams():
    """chord² = flap² − Ω² up to the Coriolis coupling with axial motion, which falls with slenderness²."""
    defect = [
        abs(rotating_beam.identity_defect(12.0, rotating_beam.solve(12.0, s, 8, "von_karman"))) for s in (100.0, 1000.0)
    ]
    assert defect[0] / defect[1] == pytest.approx(100.0, rel=0.1)
    assert defect[1] < 3e-4


@pytest.mark.parametrize("speed", [1.0, 3.5, 6.0, 12.0])
def test_linear_strain_does_not_stiffen(speed):
    """Flapwise as at rest; chordwise λ² = ω² − Ω², negative for the first mode above a speed of 3.516."""
    found = rotating_beam.solve(speed, 1000.0, 16, "linear")
    rest = np.array(rotating_beam.AT_REST)
    np.testing.assert_allclose(found.flap, rest, rtol=1e-4)  # the mesh: 4e-5 in the third mode
    square = np.where(np.isnan(found.chord), -(found.chord_growth**2), found.chord**2)
    # 4e-5 of ω² by the mesh, and the axial coupling 2e-5 of Ω²
    np.testing.assert_allclose(square, rest**2 - speed**2, rtol=2e-4, atol=2e-4 * speed**2)
    unstable = speed > 3.516015
    assert np.isnan(found.chord[0]) == unstable and np.all(np.isfinite(found.chord[1:]))
    assert ("unstable" in found.message) == unstable
    assert (found.chord_growth[0] > 0.0) == unstable and np.all(found.chord_growth[1:] == 0.0)


@covering("speed, strain", (0.0, 1e-6, 1e-3, 0.1, 6.0), ("von_karman", "linear"))
def test_every_motion_has_its_family(speed, strain):
    """2n motions in each bending plane, 2n axial, n torsional, at whatever distance of equal frequencies."""
    n = 6
    mechanism = rotating_beam.rotating_beam(speed, 1000.0, n, strain)
    state = mechanism.equilibrium(rotating_beam.pose_of(mechanism), spin=(0.0, 0.0, speed / 1000.0))
    found = rotating_beam.by_family(mechanism.bodies["beam"], mechanism.spectrum(state))
    assert {k: len(v) for k, v in found.items()} == {"chord": 2 * n, "flap": 2 * n, "axial": 2 * n, "torsion": n}
    for rows, family in ((0, "axial"), (1, "chord"), (2, "flap")):
        shapes = np.column_stack([shape for _, shape in found[family]])
        moved = [np.abs(mechanism.bodies["beam"].view.shape[k::3] @ shapes).max(axis=0) for k in range(3)]
        others = np.array([moved[k] for k in range(3) if k != rows])
        assert np.all(others < 0.5 * moved[rows])
        if family == "flap":  # decoupled from all others
            assert np.all(others < 1e-3 * moved[rows])


def test_families_do_not_depend_on_the_basis():
    """At rest every bending motion is double: mixing the two by any rotation changes nothing."""
    mechanism = rotating_beam.rotating_beam(0.0, 1000.0, 4, "von_karman")
    spectrum = mechanism.spectrum(mechanism.equilibrium(rotating_beam.pose_of(mechanism)))
    body = mechanism.bodies["beam"]
    expected = rotating_beam.by_family(body, spectrum)
    shapes = spectrum.shapes.astype(complex)
    rng = np.random.default_rng(1)
    for value in np.unique(spectrum.values.imag.round(9)):
        same = np.flatnonzero(np.abs(spectrum.values.imag - value) < 2e-9)
        mix = rng.normal(size=(len(same),) * 2) + 1j * rng.normal(size=(len(same),) * 2)
        shapes[:, same] = shapes[:, same] @ mix
    found = rotating_beam.by_family(body, replace(spectrum, shapes=shapes))
    for family in ("flap", "chord"):
        for (s, shape), (t, other) in zip(expected[family], found[family], strict=True):
            assert s == pytest.approx(t, rel=1e-9)
            np.testing.assert_allclose(shape, other, atol=1e-6)


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path, monkeypatch):
    speeds = [0.0, 3.0, 4.0, 6.0, 12.0]
    monkeypatch.setattr(rotating_beam, "SPEEDS", speeds)
    out = tmp_path / "out"
    run("--out", str(out), "--speed", "6", "--slenderness", "1000", "--elements", "8")
    summary = json.loads((out / "summary.json").read_text())
    assert summary["flap"][0] == pytest.approx(7.3604, rel=2e-3)  # 8 elements
    assert all(len(summary[name]) == 3 for name in ("flap", "chord", "flap_linear", "chord_linear"))
    assert summary["chord_linear"][0] is None
    assert summary["chord_growth_linear"][0] == pytest.approx(np.sqrt(36.0 - 3.516015**2), rel=1e-3)
    assert summary["flap_linear"][0] == pytest.approx(3.516015, rel=1e-5)
    assert summary["flap1_reference"] == 7.3604
    assert "steady rotation" in summary["message"] and "unstable" in summary["message_linear"]
    with open(out / "speeds.csv", newline="") as file:
        rows = {float(row["speed"]): row for row in csv.DictReader(file)}
    assert list(rows) == speeds
    for speed in speeds:
        assert float(rows[speed]["flap1"]) == pytest.approx(rotating_beam.REFERENCE[speed], rel=2e-3)
    assert float(rows[6.0]["chord2"]) == summary["chord"][1]
    assert np.isnan(float(rows[4.0]["chord1_linear"])) and float(rows[3.0]["chord1_linear"]) > 0.0
    mesh = meshio.read(out / "modes.vtu")
    for k, axis in enumerate([2, 2, 2, 1, 1, 1]):
        shape = mesh.point_data[f"mode_{k + 1}"]
        assert np.abs(shape[:, axis]).max() == pytest.approx(1.0, abs=1e-3)
        np.testing.assert_allclose(shape[0], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--speed", "-1"], "speed"),
        (["--speed", "nan"], "speed"),
        (["--speed", "600"], "slenderness must be at least 1200"),
        (["--slenderness", "5"], "slenderness"),
        (["--slenderness", "20"], "slenderness must be at least 24"),
        (["--elements", "2"], "elements"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output
