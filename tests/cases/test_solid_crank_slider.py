"""The solid connecting rod: its mesh, beam theory, the reduced against the full rod, files."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import meshio
import numpy as np
import pytest
from click.testing import CliRunner
from motion_files import body_in
from scipy import sparse

import fem
from cases import connecting_rod, rod_pictures
from cases import solid_crank_slider as case
from flexph.bodies import peak_von_mises, von_mises
from flexph.cli import main


@pytest.fixture(scope="module")
def eyes():
    return connecting_rod.solid_rod("eyes")


@pytest.fixture(scope="module")
def bar():
    return connecting_rod.solid_rod("bar")


def outline_area():
    """Area of the side of the rod: shank between the necks, rings, and what lies between eye and fillets."""
    h, fillet, area = 0.5 * connecting_rod.HEIGHT, 12e-3, 0.0
    necks = []
    for bore, outer in ((8e-3, 13e-3), (5e-3, 9e-3)):
        along = np.sqrt((outer + fillet) ** 2 - (h + fillet) ** 2)
        angle = np.arctan2(h + fillet, along)  # of the line from the eye to the centre of its upper fillet
        # twice the triangle eye, foot of the fillet's centre, that centre, without the sectors of eye and fillet
        area += along * (h + fillet) - outer**2 * angle - fillet**2 * (0.5 * np.pi - angle)
        area += np.pi * (outer**2 - bore**2)
        necks.append(along)
    return area + 2.0 * h * (0.3 - sum(necks))


def test_the_mesh_is_the_rod_of_the_drawing(eyes):
    """Mass and places of the shipped mesh; arcs of degree 2 leave 1e-4."""
    expected = connecting_rod.STEEL.density * outline_area() * connecting_rod.THICKNESS
    assert eyes.mass == pytest.approx(expected, rel=2e-4)
    for port, x in (("crank", 0.0), ("slider", 0.3), ("middle", 0.15)):
        np.testing.assert_allclose(eyes.ports[port].position, [x, 0.0, 0.0], atol=1e-9)
    assert connecting_rod.MESH.stat().st_size < 1e6


def test_the_script_makes_the_mesh(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(["-v", "0"], readConfigFiles=False, interruptible=False)
    try:
        gmsh.open(str(connecting_rod.MESH.with_suffix(".geo")))
        gmsh.model.mesh.generate(3)
        gmsh.write(str(tmp_path / "rod.msh"))
    finally:
        gmsh.finalize()
    made, shipped = meshio.read(tmp_path / "rod.msh"), meshio.read(connecting_rod.MESH)
    assert made.field_data.keys() == shipped.field_data.keys()
    # other versions may place nodes otherwise, but not by much
    assert len(made.points) == pytest.approx(len(shipped.points), rel=0.2)
    np.testing.assert_allclose(np.ptp(made.points, axis=0), np.ptp(shipped.points, axis=0), rtol=1e-9)


def test_bending_is_timoshenkos(bar):
    """Shear and rotary inertia, closely: the mesh takes a fifteenth of their effect (κ = 1 of linear shear strains)."""
    found, exact, thin = connecting_rod.bending(bar), connecting_rod.timoshenko(), connecting_rod.euler_bernoulli()
    assert np.all(exact < thin)
    np.testing.assert_allclose((found - exact) / (thin - exact), 0.065, atol=0.015)
    beam = connecting_rod.bending(connecting_rod.beam_rod(bar))
    np.testing.assert_allclose(beam, thin, rtol=1e-4)  # 16 elements


def test_theories_differ_as_estimated():
    """ω_T/ω_E − 1 = −½ (kr)² (1 + E/κG) to first order, 0.05 % of the first mode."""
    k, radius = np.pi * np.arange(1, 4) / 0.3, 6e-3 / 4.0
    shear = 2.0 * 1.3 * (12.0 + 11.0 * 0.3) / (10.0 * 1.3)  # E/κG
    estimate = -0.5 * (k * radius) ** 2 * (1.0 + shear)
    found = connecting_rod.timoshenko() / connecting_rod.euler_bernoulli() - 1.0
    assert found[0] == pytest.approx(-5.0e-4, rel=0.01)
    np.testing.assert_allclose(found, estimate, rtol=0.02)  # the next order, (kr)² E/κG


def test_crank_slider_motion_is_the_beams(bar):
    """Off Euler-Bernoulli by what a beam with Timoshenko's first frequency is off it, off that one by a sixth of it."""
    plan = case.Plan(steps=400)
    solid = case.deflection(case.solve(case.reduced(bar, 6), plan))
    thin = case.deflection(case.solve(connecting_rod.beam_rod(bar), plan))
    soft = case.deflection(case.solve(connecting_rod.beam_rod(bar, section=connecting_rod.softened()), plan))
    theories = case.apart(soft, thin)
    assert 0.008 < theories < 0.01
    assert case.apart(solid, thin) == pytest.approx(theories, rel=0.15)
    assert case.apart(solid, soft) < 0.15 * theories


@pytest.mark.slow  # 30 000 unknowns; the bar below shows the same
def test_rod_with_eyes_is_near_its_beam(eyes):
    result = case.compare(eyes, case.reduced(eyes, 6), case.Plan(steps=150, turns=0.5))
    assert result.frequencies[0] == pytest.approx(result.beam_frequencies[0], rel=1e-3)
    assert case.apart(result.midpoint, result.beam_midpoint) < 0.01
    assert np.abs(result.midpoint).max() == pytest.approx(0.0187, rel=0.01)
    peak, there = case.at_peak(result)
    assert peak == pytest.approx(there, rel=0.02)
    field = result.solution.mechanism.bodies["rod"].view.tensors["stress"]
    by_cells = peak_von_mises(field, result.solution["rod.stress"]).max(axis=1)
    np.testing.assert_allclose(result.peaks.stress, by_cells, rtol=1e-13)
    assert np.all(np.abs(result.peaks.places[:, 1]) < 13e-3)
    assert result.solution.ledger.largest_residual < 1e-13
    assert result.solution.ledger.position_residual.max() < 1e-14
    assert np.abs(result.solution.position("rod.middle")[:, 2]).max() < 1e-5  # the mesh is not symmetric in z


def test_reduced_and_full_rod():
    """A bar of few cells: static responses carry the first swing and its stresses, a few modes do so far better."""
    full = connecting_rod.solid_rod("bar", along=12, across=1)
    plan = case.Plan(steps=25, turns=0.12)
    runs = [case.solve(body, plan) for body in (full, case.reduced(full, 0), case.reduced(full, 6))]
    deflections, peaks = [case.deflection(run) for run in runs], [case.stress_peaks(run).stress for run in runs]
    for found, bounds in ((deflections, (1e-3, 1e-5)), (peaks, (1e-2, 5e-4))):
        errors = [case.apart(history, found[0]) for history in found[1:]]
        assert errors[0] < bounds[0] and errors[1] < bounds[1]
    for run in runs:
        assert run.ledger.largest_residual < 1e-12
        assert run.ledger.position_residual.max() < 1e-14


@pytest.mark.parametrize("rod", ["eyes", "bar"])
def test_linear_stresses_are_exact_at_corners(rod, request):
    """A stress that is linear over the rod comes out exactly, on every cell by its own points."""
    body = request.getfixturevalue(rod)
    view, field = body.view, body.view.tensors["stress"]
    linear = lambda x: np.stack([np.full(len(x), 3.0), x[:, 0], x[:, 1], x[:, 2], x[:, 0] - x[:, 1], 0.0 * x[:, 0]], 1)  # noqa: E731
    count = field.at.shape[0]
    exact = replace(field, at=sparse.eye_array(count, format="csr"))
    nodes, found = rod_pictures.corner_stresses(
        replace(view, tensors={"stress": exact}), linear(field.positions).ravel()
    )
    wanted = linear(view.points[nodes.ravel()])
    # curved cells of the eyes are not affine: their points lie off the straight ones by the arc's height
    tolerance = 1e-12 if rod == "bar" else 5e-4
    np.testing.assert_allclose(found.reshape(-1, 6), wanted, atol=tolerance)


@pytest.mark.slow
def test_a_run_writes_its_files_and_summary(tmp_path):
    out = tmp_path / "out"
    words = ["--modes", "2", "--steps", "12", "--turns", "0.15", "--start", "undeformed", "--out", str(out)]
    result = CliRunner().invoke(main, ["run", "solid-crank-slider", *words])
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["energy_residual_max_rel"] < 1e-12 and summary["position_drift_max_m"] < 1e-14
    assert 2 < summary["coordinates"] < 30 and len(summary["bending_hz"]) == 3
    with open(out / "rod.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 13
    peaks = np.array([float(row["von_mises_max_Pa"]) for row in rows])
    assert peaks.max() == summary["von_mises_max_Pa"] > 1e8
    times, rod = body_in(out, "rod")
    assert len(times) == 13 and rod.cells[0][0] == "tetra10"
    last = {name: values[-1] for name, values in rod.cell_data.items()}
    assert {"stress", "stress_largest_principal", "stress_smallest_principal", "stress_error"} <= last.keys()
    assert last["stress_peak_von_mises"].max() == pytest.approx(peaks[-1], rel=1e-12)
    assert (von_mises(last["stress"]) <= last["von_mises_largest_in_cell"] * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("options", [{"speed": 0.0}, {"turns": -1.0}, {"steps": 0}, {"modes": -1}])
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        case.run(rod="bar", **options)


def test_section_is_that_of_the_circle():
    circle = fem.Section(diameter=6e-3)
    assert connecting_rod.SHANK.area == pytest.approx(circle.area, rel=1e-14)
    assert connecting_rod.SHANK.second_moment == pytest.approx(circle.second_moment, rel=1e-14)


def test_the_mesh_is_shipped_with_its_script():
    assert {p.name for p in Path(connecting_rod.MESH).parent.iterdir()} == {"connecting_rod.geo", "connecting_rod.msh"}
