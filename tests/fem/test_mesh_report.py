"""``flexph mesh FILE``: cells, regions, inertia, quality."""

import meshio
import numpy as np
import pytest
from click.testing import CliRunner
from solid_meshes import box

from fem.mesh_report import mesh_report, words
from flexph.cli import main


def with_regions():
    """A box with physical groups of gmsh."""
    mesh = box("hexahedron", (2, 1, 1), (2.0, 1.0, 1.0))
    tags = [np.array([1, 2]), np.array([7])]
    return meshio.Mesh(
        mesh.points,
        [*mesh.cells, ("quad", [[0, 1, 3, 2]])],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"core": np.array([1, 3]), "shell": np.array([2, 3]), "seat": np.array([7, 2])},
    )


def test_report_of_a_box():
    report = mesh_report(with_regions(), density=3.0)
    assert report.cells == {"hexahedron": 2, "quad": 1}
    assert report.measure == pytest.approx(2.0) and report.mass == pytest.approx(6.0)
    assert report.centre == pytest.approx([1.0, 0.5, 0.5])
    assert report.inertia == pytest.approx(np.diag([1.0, 2.5, 2.5]))
    assert report.quality == pytest.approx(1.0)
    found = {r.name: (r.kind, r.count, r.nodes) for r in report.regions}
    assert found == {"core": ("volume", 1, 8), "shell": ("volume", 1, 8), "seat": ("surface", 1, 4)}
    assert [r.measure for r in report.regions] == pytest.approx([1.0, 1.0, 1.0])


def test_report_of_a_plane_mesh():
    report = mesh_report(box("triangle6", (2, 1), (2.0, 1.0)), density=2.0)
    assert report.dim == 2 and report.measure == pytest.approx(2.0)
    assert report.inertia == pytest.approx(np.array([[4.0 * 5.0 / 12.0]]))
    # a right triangle with two sides of length one: twice its area over √¾ times the mean square of its sides
    assert report.quality == pytest.approx(1.0 / (np.sqrt(0.75) * 4.0 / 3.0))
    assert "region 'left': 1 facets, 1 m; a port (of 3 nodes), or a load" in words(report)


def test_the_command_prints_a_report_or_refuses_the_file(tmp_path):
    meshio.write(tmp_path / "bar.msh", with_regions(), file_format="gmsh22", binary=False)
    result = CliRunner().invoke(main, ["mesh", str(tmp_path / "bar.msh"), "--density", "3"])
    assert result.exit_code == 0, result.output
    assert "cells: 2 hexahedron, 1 quad" in result.output and "mass: 6 kg" in result.output
    assert "region 'seat': 1 facets, 1 m²; a port (of 4 nodes), or a load" in result.output
    result = CliRunner().invoke(main, ["mesh", str(tmp_path / "bar.msh"), "--density", "3e9", "--unit", "1e-3"])
    assert "volume: 2e-09 m³\nmass: 6 kg" in result.output and "1 facets, 1e-06 m²" in result.output
    (tmp_path / "bad.msh").write_text("no mesh")
    result = CliRunner().invoke(main, ["mesh", str(tmp_path / "bad.msh")])
    assert result.exit_code == 1 and "mesh cannot be read" in result.output


def test_a_mesh_of_two_pieces_is_described_with_a_note():
    one = box("tetra", (1, 1, 1), (1.0, 1.0, 1.0))
    points = np.vstack([one.points, one.points + np.array([3.0, 0.0, 0.0])])
    cells = np.vstack([one.cells[0].data, one.cells[0].data + len(one.points)])
    with pytest.warns(UserWarning, match="2 pieces"):
        report = mesh_report(meshio.Mesh(points, [("tetra", cells)]), density=2.0)
    assert report.measure == pytest.approx(2.0) and report.mass == pytest.approx(4.0)
    assert "note: fem.solid refuses this mesh: mesh must be one piece" in words(report)
