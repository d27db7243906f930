"""What ``flexph view`` takes: every kind of file that the package writes."""

from dataclasses import replace
from pathlib import Path

import h5py
import meshio
import numpy as np
import pytest
from drawings import Sheet, link
from streams import streams_of
from swing_case import flexph

import fem
import rigid
from flexph import GROUND, LinearPHDAE, Solution, connect, hinge, integrate, models, study
from flexph.bodies import reduce_body, save_reduced
from flexph.export import write_series
from flexph.opening.kinds import scene_of_file, shown_files
from flexph.scenes import motion_scene, read_scene

STEEL = fem.Material(young=2.1e11, density=7850.0)
STRIP = fem.Section(width=0.02, height=0.002)


@pytest.fixture(scope="module")
def solution():
    arm = fem.beam(0.4, STEEL, STRIP, elements=2)
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))
    return integrate(mechanism, start, np.linspace(0.0, 0.05, 6))


def page_of(path, tmp_path):
    """The scene in the page that the command writes of a file or folder."""
    page = tmp_path / "view.html"
    result = flexph("view", path, "--html", page)
    assert result.exit_code == 0, result.output
    return streams_of(page.read_text(encoding="utf-8"))[0]


def test_a_saved_run_keeps_its_scene(solution, tmp_path):
    solution.save(tmp_path / "run.h5")
    kept, own = read_scene(tmp_path / "run.h5"), motion_scene(solution, forces=True)
    for part, expected in zip(kept.parts, own.parts, strict=True):
        assert part.name == expected.name
        np.testing.assert_allclose(part.points, expected.points, atol=1e-7)  # single precision of half a metre
    scene = page_of(tmp_path / "run.h5", tmp_path)
    assert "arm" in {part["name"] for part in scene["parts"]} and len(scene["times"]) == 6
    again = Solution.load(tmp_path / "run.h5", solution.mechanism)
    np.testing.assert_array_equal(again.states, solution.states)
    lazy = Solution.load(tmp_path / "run.h5", solution.mechanism, lazy=True)
    np.testing.assert_array_equal(lazy.states[-1], solution.states[-1])


def test_a_run_without_a_scene_says_so(solution, tmp_path):
    solution.save(tmp_path / "run.h5", scene=False)
    result = flexph("view", tmp_path / "run.h5", "--html", tmp_path / "a.html")
    assert result.exit_code == 1 and "has no scene" in result.output and "without scene=False" in result.output


def test_a_scene_that_cannot_be_made_does_not_keep_a_run_from_being_saved(solution, tmp_path, monkeypatch):
    class Entry:
        name = "scene"

        def load(self):
            return lambda run, file: (_ for _ in ()).throw(ValueError("nothing to draw"))

    monkeypatch.setattr("flexph.results.presentation.entry_points", lambda group: [Entry()])
    with pytest.warns(RuntimeWarning, match="saved without its scene: nothing to draw"):
        solution.save(tmp_path / "run.h5")
    assert Solution.load(tmp_path / "run.h5", solution.mechanism).times[-1] == solution.times[-1]


def test_bodies_without_a_view_have_no_scene(tmp_path):
    body = replace(rigid.bar(0.5, 1.0), view=None)
    mechanism = connect({"block": body}, [])
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble({"block": (0.0, 0.0, 0.0)})), [0.0, 0.1])
    run.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert "VTKHDF" not in file


@pytest.mark.parametrize("damping", [fem.Damping(), fem.Damping(stiffness=1e-4)])
def test_a_reduced_body_vibrates(damping, tmp_path):
    body = reduce_body(fem.beam(0.4, STEEL, STRIP, elements=8, damping=damping), modes=3)
    save_reduced(body, tmp_path / "arm.h5")
    scene = page_of(tmp_path / "arm.h5", tmp_path)
    assert scene["captions"][0].startswith("mode 1: ") and {part["name"] for part in scene["parts"]} == {"arm"}
    save_reduced(body, tmp_path / "bare.h5", fields="none")
    with pytest.raises(ValueError, match="bare was saved without its shape"):
        scene_of_file(tmp_path / "bare.h5")


def test_a_reduced_solid_vibrates(tmp_path):
    bar = fem.solid(
        Path(models.__file__).parent / "examples" / "bar.msh", fem.Material(young=2e9, density=1e3, poisson=0.3)
    )
    save_reduced(reduce_body(bar, modes=2), tmp_path / "bar.h5")
    scene = scene_of_file(tmp_path / "bar.h5")
    assert scene.dim == 3 and {own.partition(":")[0] for own in scene.captions} == {"mode 1", "mode 2"}


def test_a_general_run_has_no_shapes(tmp_path):
    system = LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]))
    run = integrate(system, np.array([1.0, 0.0]), np.linspace(0.0, 1.0, 5))
    run.save(tmp_path / "run.h5")
    with pytest.raises(ValueError, match="trajectory of a general system, which has no shapes"):
        scene_of_file(tmp_path / "run.h5")


def test_a_model_file_is_shown_at_its_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert flexph("new", "mine", "--like", "crank-slider").exit_code == 0
    scene = page_of(tmp_path / "mine.yaml", tmp_path)
    assert {"crank", "rod", "ground"} <= {part["name"] for part in scene["parts"]}
    (tmp_path / "wrong.yaml").write_text("bodies: {rod: {kind: beem}}\n")
    result = flexph("view", "wrong.yaml", "--html", "a.html")
    assert result.exit_code == 1 and "wrong.yaml:1" in result.output


CUBE = meshio.Mesh(
    np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float),
    [("hexahedron", np.array([[0, 1, 3, 2, 4, 5, 7, 6]])), ("quad", np.array([[0, 1, 3, 2]]))],
    point_data={"height": np.array([0.0] * 4 + [1.0] * 4)},
)


def test_a_mesh_is_shown_by_its_surface(tmp_path):
    CUBE.write(tmp_path / "cube.vtu")
    (part,) = scene_of_file(tmp_path / "cube.vtu").parts
    assert len(part.cells) == 12  # six faces, without the quad that lies on one of them
    assert part.point_fields["height"].extremes == (0.0, 1.0)
    meshio.Mesh(CUBE.points, [("line", np.array([[0, 1], [1, 3]]))]).write(tmp_path / "frame.vtk")
    assert scene_of_file(tmp_path / "frame.vtk").parts[0].points.shape[0] == 1
    meshio.Mesh(CUBE.points, [("vertex", np.array([[0]]))]).write(tmp_path / "points.vtk")
    with pytest.raises(ValueError, match="has no cells that can be drawn"):
        scene_of_file(tmp_path / "points.vtk")


@pytest.mark.parametrize("suffix", [".vtkhdf", ".pvd", ".xdmf"])
def test_a_series_moves(solution, suffix, tmp_path):
    write_series(tmp_path / f"motion{suffix}", solution)
    scene = scene_of_file(tmp_path / f"motion{suffix}")
    assert len(scene.times) == 6 and np.ptp(scene.parts[0].points, axis=0).max() > 1e-3


def test_a_study_has_a_page_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    study(lambda length: {"period": length**0.5}, {"length": [1.0, 4.0]}, out=tmp_path / "s", jobs=1)
    assert list(shown_files(tmp_path)) == ["s/study"]
    for kind in ("html", "png"):
        result = flexph("view", tmp_path, f"--{kind}", tmp_path / f"page.{kind}")
        assert result.exit_code == 0, result.output
    assert "2 samples: 2 done, 0 failed" in (tmp_path / "page.html").read_text(encoding="utf-8")
    result = flexph("view", tmp_path / "s", "--gif", tmp_path / "a.gif")
    assert result.exit_code == 2 and "does not move" in result.output
    (tmp_path / "s" / "study.nc").write_bytes(b"\x89HDF\r\n\x1a\n broken")
    result = flexph("view", tmp_path / "s", "--html", tmp_path / "b.html")
    assert result.exit_code == 1 and "study.nc" in result.output


def test_folders_show_scenes_before_runs_before_meshes(solution, tmp_path):
    CUBE.write(tmp_path / "cube.vtu")
    assert list(shown_files(tmp_path)) == ["cube"]
    (tmp_path / "notes.h5").write_bytes(b"no HDF5")
    solution.save(tmp_path / "run.h5")
    assert list(shown_files(tmp_path)) == ["run"]


@pytest.mark.parametrize("name", ["page.html", "table.csv"])
def test_files_for_other_programs_are_refused(name, tmp_path):
    (tmp_path / name).write_text("x")
    with pytest.raises(ValueError, match="must be a file with a motion"):
        scene_of_file(tmp_path / name)


def test_a_drawing_has_its_ports_by_name(tmp_path):
    """Bores and pins in their own colours, plane faces by name; areas 2πrh but for the chords, in metres."""
    with Sheet() as sheet:
        plate = link(sheet, (0, 0), (60, 0), low=0, high=8, radius=12, bores=[((0, 0), 6)])
        sheet.named("arm", sheet.joined(plate, sheet.cylinder((60, 0, 8), (0, 0, 10), 4)))
        sheet.named("block", sheet.box((100, 0, 0), (120, 10, 10)))
        path = sheet.write(tmp_path / "two.step")
    scene = scene_of_file(path)
    kinds = {part.name: part.kind for part in scene.parts}
    assert kinds["arm.hole1"] == "joint" and kinds["arm.pin1"] == "force" and kinds["arm"] == "body"
    assert sum(name.startswith("block.plane") for name in kinds) == 6 and "block" not in kinds
    for name, radius, length in (("arm.hole1", 0.006, 0.008), ("arm.pin1", 0.004, 0.010)):
        part = next(part for part in scene.parts if part.name == name)
        a, b, c = (part.points[0][part.cells[:, k]] for k in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        assert area == pytest.approx(2.0 * np.pi * radius * length, rel=0.02)
        middle = part.points[0].mean(axis=0)
        outward = np.einsum("ti,ti->t", np.cross(b - a, c - a), ((a + b + c) / 3.0 - middle) * [1.0, 1.0, 0.0])
        assert np.all(outward < 0.0 if "hole" in name else outward > 0.0)
    assert {part["name"] for part in page_of(path, tmp_path)["parts"]} == set(kinds)
    assert shown_files(tmp_path) == {"two": path}
