"""Files for mesh viewers and pictures."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import meshio
import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.export import read_series, write_series
from flexph.files.vtkhdf import read_vtkhdf


@pytest.fixture(scope="module")
def solution():
    beam = fem.beam(0.5, fem.Material(young=1e9, density=1000.0), fem.Section(width=0.02, height=0.01), elements=3)
    mechanism = connect(
        {"beam": beam, "bar": rigid.bar(0.4, 0.2), "ball": replace(rigid.point(0.1), view=None)},
        [
            hinge("beam.root", GROUND.at(0.0, 0.0)),
            hinge("beam.tip", "bar.root"),
            hinge("bar.tip", "ball.point"),
        ],
        gravity=(0.0, -9.81),
    )
    state = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, -0.3)}))
    return integrate(mechanism, state, np.linspace(0.0, 0.2, 41))


def test_series_holds_all_bodies_with_a_view(solution, tmp_path):
    index, *frames = write_series(tmp_path / "all.pvd", solution, frames=5)
    assert len(frames) == 5
    times = [float(e.get("timestep")) for e in ET.parse(index).iter("DataSet")]
    np.testing.assert_allclose(times, [0.0, 0.05, 0.1, 0.15, 0.2], atol=1e-12)
    files = [tmp_path / e.get("file") for e in ET.parse(index).iter("DataSet")]
    assert files == frames
    last = meshio.read(frames[-1])
    owners = [int(block[0]) for block in last.cell_data["body"]]
    assert sorted(set(np.concatenate(last.cell_data["body"]))) == [0, 1]  # the ball has no view
    for owner, force in zip(owners, last.cell_data["axial_force"], strict=True):
        assert np.all(np.isnan(force)) == (owner == 1)  # a rigid bar has no stress


def test_points_are_where_the_ports_are(solution, tmp_path):
    _, *frames = write_series(tmp_path / "one.pvd", solution, bodies=["beam"], frames=3)
    for frame, k in zip(frames, (0, 20, 40), strict=True):
        points = meshio.read(frame).points
        np.testing.assert_allclose(points[0, :2], solution.position("beam.root")[k], atol=1e-14)
        np.testing.assert_allclose(points[-1, :2], solution.position("beam.tip")[k], atol=1e-14)
        np.testing.assert_array_equal(points[:, 2], 0.0)


def test_one_file_holds_what_many_do_and_joints_by_name(solution, tmp_path):
    (path,) = write_series(tmp_path / "all.vtkhdf", solution, frames=5)
    index, *_ = write_series(tmp_path / "all.pvd", solution, frames=5)
    named, many = read_series(path), read_series(index)
    np.testing.assert_array_equal(named.times, many.times)
    np.testing.assert_array_equal(named.points, many.points)
    for mine, theirs in ((named.point_data, many.point_data), (named.cell_data, many.cell_data)):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])
    groups = {}
    for grid in read_vtkhdf(path)[1]:
        groups.setdefault(grid.group, []).append(grid.name)
    assert groups["bodies"] == groups["surfaces"] == ["beam", "bar"]
    assert groups["joints"] == [c.name for c in solution.mechanism.connections] and groups["ground"] == ["ground"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bodies": ["beem"]}, "no body 'beem': there are 'beam', 'bar', 'ball'"),
        ({"bodies": ["ball"]}, "body 'ball' has no view"),
        ({"frames": 0}, "frames must be at least 1"),
        ({"path": "x.vtu"}, "must end in .vtkhdf, .pvd"),
    ],
)
def test_bad_series_are_refused(solution, tmp_path, options, message):
    path = tmp_path / options.pop("path", "x.pvd")
    with pytest.raises(ValueError, match=message):
        write_series(path, solution, **options)
