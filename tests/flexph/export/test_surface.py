"""Surfaces of deformed bodies as files: volumes, positions, chosen bodies, errors."""

import meshio
import numpy as np
import pytest

import fem
from flexph import GROUND, connect, drive, hinge, integrate
from flexph.export import write_surface
from flexph.scenes import motion_scene
from flexph.sensors import position

HEIGHT = 0.04  # [m]


@pytest.fixture(scope="module")
def solution():
    steel = fem.Material(young=2.1e11, density=7850.0)
    arm = fem.beam(1.0, steel, fem.Section(width=HEIGHT, height=HEIGHT), elements=3)
    joints = [hinge("arm.root", GROUND), hinge("second.root", "arm.tip"), drive("arm.root", angle=lambda t: 6.0 * t**2)]
    turned = connect({"arm": arm, "second": arm}, joints)
    start = turned.consistent_state(turned.assemble({"arm": (0.0, 0.0, 0.0), "second": (1.0, 0.0, 0.0)}))
    return integrate(turned, start, np.linspace(0.0, 0.4, 41), progress=False)


def volume(mesh):
    a, b, c = (mesh.points[mesh.cells_dict["triangle"][:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("suffix", [".stl", ".ply", ".obj", ".off", ".vtu"])
def test_each_format_holds_closed_bodies_where_the_run_has_them(suffix, solution, tmp_path):
    mesh = meshio.read(write_surface(tmp_path / f"bent{suffix}", solution, at=0.2))
    single = 1e-6  # STL holds single precision
    assert volume(mesh) == pytest.approx(2.0 * HEIGHT**2, rel=1e-3)  # bending changes it by the square of strains
    tip = solution.measured(position("second.tip"))[20]
    end = np.unique(mesh.points[np.linalg.norm(mesh.points[:, :2] - tip, axis=1) < 0.51 * HEIGHT], axis=0)
    assert np.abs(end.mean(axis=0)[:2] - tip).max() < 10.0 * single and abs(end[:, 2].mean()) < single


def test_one_body_can_be_chosen_and_scenes_are_taken(solution, tmp_path):
    one = meshio.read(write_surface(tmp_path / "a.stl", motion_scene(solution, frames=5), bodies=["arm"]))
    assert volume(one) == pytest.approx(HEIGHT**2, rel=1e-3)
    rigid = meshio.read(write_surface(tmp_path / "b.stl", solution, scale=0.0, bodies=["arm"]))
    assert volume(rigid) == pytest.approx(HEIGHT**2, rel=1e-5)  # undeformed: exact but for single precision


def test_wrong_arguments_are_named(solution, tmp_path):
    with pytest.raises(ValueError, match="at must be a time of the run"):
        write_surface(tmp_path / "a.stl", solution, at=3.0)
    with pytest.raises(ValueError, match="'third'"):
        write_surface(tmp_path / "a.stl", solution, bodies=["third"])
    with pytest.raises(ValueError, match=r"\.stl"):
        write_surface(tmp_path / "a.step", solution)
    with pytest.raises(TypeError, match="shown must be a Solution or a Scene"):
        write_surface(tmp_path / "a.stl", 3.0)
    assert not list(tmp_path.iterdir())


def test_files_are_binary_whatever_the_case_of_the_suffix_and_nothing_is_printed(solution, tmp_path, capsys):
    assert (
        write_surface(tmp_path / "a.STL", solution).read_bytes()
        == write_surface(tmp_path / "a.stl", solution).read_bytes()
    )
    write_surface(tmp_path / "a.ply", solution)
    assert capsys.readouterr() == ("", "")
