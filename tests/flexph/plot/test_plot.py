"""Pictures in one call each: axes in, axes out, and what they say."""

from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, modes, plot, torque
from flexph.analysis import load_cycles
from flexph.plot.axes import legend_above
from flexph.plot.mode_shapes import outlines
from flexph.plot.panels import Curve, Panel, largest_of, prefix_of, short
from flexph.sensors import stress

pyplot = pytest.importorskip("matplotlib.pyplot")
LONG = "a body with a name that is longer than any that a legend has room for"


@pytest.fixture(scope="module")
def mechanism():
    beam = fem.beam(0.5, fem.Material(young=1e11, density=1000.0), fem.Section(width=0.02, height=0.01), elements=3)
    joints = [
        hinge("beam.root", GROUND.at(0.0, 0.0)),
        hinge("beam.tip", f"{LONG}.root"),
        torque("beam.root", name=LONG),
    ]
    return connect({"beam": beam, LONG: rigid.bar(0.4, 0.2)}, joints, gravity=(0.0, -9.81))


@pytest.fixture(scope="module")
def solution(mechanism):
    state = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, -0.3)}))
    return integrate(mechanism, state, np.linspace(0.0, 0.2, 41), inputs={LONG: [1.0]})


@pytest.fixture(autouse=True)
def closed():
    pyplot.close("all")
    yield
    pyplot.close("all")


def overlap(axes):
    """Whether a legend lies over the axes or over the number at their end."""
    figure = axes.figure
    figure.draw_without_rendering()
    legend = axes.get_legend().get_window_extent()
    offset = axes.yaxis.get_offset_text()
    inside = axes.get_window_extent()
    return legend.y0 < inside.y1 - 1.0 or (offset.get_text() and legend.overlaps(offset.get_window_extent()))


def test_the_ledger_is_drawn_in_three_panels(solution, tmp_path):
    axes = plot.ledger(solution)
    assert [a.get_ylabel() for a in axes] == ["energy [J]", "accumulated [J]", "per step / energy"]
    assert not any(overlap(a) for a in axes)
    widths = [a.get_legend().get_window_extent().width / a.get_window_extent().width for a in axes]
    assert max(widths) < 1.05  # long names are cut, and stand in fewer columns
    path = plot.save(axes, tmp_path / "ledger.png")
    assert path.stat().st_size > 10_000 and not pyplot.get_fignums()
    (alone,) = plot.ledger(solution, pyplot.figure().subplots())
    assert alone.get_ylabel() == "energy [J]"
    with pytest.raises(ValueError, match="ax must be 3 axes of matplotlib or None"):
        plot.ledger(solution, [alone, alone])
    with pytest.raises(ValueError, match=r"must be one of '\.png'"):
        plot.save(alone, tmp_path / "ledger.gif")


def test_a_power_of_ten_is_beside_the_legend():
    axes = pyplot.figure(layout="constrained").subplots()
    axes.plot([0.0, 1.0], [1e-14, 2e-14], label="a")
    legend_above(axes)
    assert not overlap(axes) and axes.yaxis.get_offset_text().get_text() == "1e−14"


def test_points_alone_have_no_outline():
    view = rigid.bar(1.0, 1.0).view
    alone = replace(view, cells=np.arange(len(view.points))[:, None], cell_type="vertex")
    assert outlines(alone) == [] and len(outlines(view)) == 1


def test_positions_of_ports_are_drawn_over_time(solution):
    x, y, angle = plot.motion(solution)
    assert (x.get_ylabel(), y.get_ylabel(), angle.get_ylabel()) == ("x [m]", "y [m]", "angle [rad]")
    np.testing.assert_allclose(y.lines[0].get_ydata(), solution["beam.centre"][:, 1])
    x, y, spin = plot.motion(solution, ["beam.tip", "beam.spin"])
    np.testing.assert_allclose(x.lines[0].get_ydata(), solution.position("beam.tip")[:, 0])
    assert spin.get_ylabel() == "beam.spin [rad/s]"
    with pytest.raises(ValueError, match=r"no port, body or part 'beam.tipp'"):
        plot.motion(solution, ["beam.tipp"])


def test_stress_envelope_of_a_beam(solution):
    axes = plot.stress_envelope(solution, "beam", "bending_moment")
    view = solution.mechanism.bodies["beam"].view
    x = np.sort(np.append(view.points[view.cells, 0].mean(axis=1), view.points[[0, -1], 0]))  # middles, and ends
    values = np.transpose([solution.measured(stress("beam", "bending_moment", (at,))) for at in x])
    factor = 1e3 if "[mN m]" in axes.get_ylabel() else 1.0
    np.testing.assert_allclose(axes.lines[0].get_ydata(), factor * values.max(axis=0), atol=1e-12)
    np.testing.assert_allclose(axes.lines[1].get_ydata(), factor * values.min(axis=0), atol=1e-12)
    worst = solution.times[np.abs(values).max(axis=1).argmax()]
    assert f"t = {worst:.4g} s" in axes.lines[2].get_label()
    assert "axial stress upper" in plot.stress_envelope(solution, "beam", "axial_stress_upper").get_ylabel()
    for asked in (None, "von_mises"):  # the name of sensors
        assert "von Mises stress, largest in cell" in plot.stress_envelope(solution, "beam", asked).get_ylabel()
    with pytest.raises(ValueError, match="has no stresses"):
        plot.stress_envelope(solution, LONG)


def test_modes_say_their_scale(mechanism):
    pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)}, guess={LONG: (0.5, 0.0, 0.0)})
    free = connect(mechanism.bodies, mechanism.connections[:2])
    axes = plot.modes(free, pose, modes(free.linearize(pose), 2), scale=0.1)
    assert len(axes) == 2 and "largest displacement drawn as 0.09 m" in axes[0].get_title()
    moved = np.vstack([part.vertices for part in axes[0].collections[1].get_paths()])
    rest = np.vstack([part.vertices for part in axes[0].collections[0].get_paths()])
    assert 0.0 < np.linalg.norm(moved - rest, axis=1).max() <= 0.09 * (1.0 + 1e-12)


def test_sweeps_are_drawn_as_campbell_diagrams(mechanism):
    free = connect(mechanism.bodies, mechanism.connections[:2])
    angles = np.linspace(0.2, 1.0, 3)
    poses = [free.assemble({"beam": (0.0, 0.0, angle)}, guess={LONG: (0.5, 0.0, angle)}) for angle in angles]
    sweep = free.sweep(poses, angles, count=2, name="angle")
    axes = plot.campbell(sweep, orders=(1.0,), label="angle [rad]")
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), sweep.frequencies[:, 1])
    assert axes.get_xlabel() == "angle [rad]" and axes.lines[2].get_label() == "order 1"


def test_numbers_have_prefixes_and_legends_room():
    x = np.arange(3.0)
    small = Panel((Curve(x, 2e-6 * x, "a"),), "energy", "J").prefixed()
    assert small.label == "energy [µJ]" and small.curves[0].y[-1] == pytest.approx(4.0)
    units = [("Pa", 3e8, "M"), ("m", 2e3, ""), ("rad", 1e-6, ""), ("N", 1e-20, ""), ("N", 0.0, "")]
    assert [prefix_of([np.array([size])], unit) for unit, size, _ in units] == [prefix for *_, prefix in units]
    many = [Curve(x, k * x, f"port {k}") for k in range(20)]
    kept = largest_of(many, rest="others", most=4)
    assert [curve.label for curve in kept] == ["port 17", "port 18", "port 19", "17 others"]
    np.testing.assert_allclose(kept[-1].y, sum(range(17)) * x)
    assert len(short(LONG)) == 40 and short("beam") == "beam"


def test_a_missing_library_is_named(monkeypatch, solution):
    monkeypatch.setattr("flexph.plot.axes.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "flexph\[plot\]"'):
        plot.motion(solution)


def test_load_spectrum_draws_ranges_over_cumulative_counts():
    pytest.importorskip("rainflow")
    cycles = load_cycles([0.0, 100e6, -100e6, 100e6, 0.0], unit="Pa")
    axes = plot.load_spectrum(cycles)
    values, edges, _ = axes.patches[-1].get_data()
    assert np.array_equal(values, [200.0, 200.0, 100.0, 100.0]) and np.array_equal(edges, [0.25, 0.5, 1.0, 1.5, 2.0])
    assert axes.get_ylabel() == "range [MPa]"
    with pytest.raises(ValueError, match="cycles must contain a cycle"):
        plot.load_spectrum(load_cycles([1.0, 1.0]))
