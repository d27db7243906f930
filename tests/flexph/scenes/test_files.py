"""Scenes in files, those of modes, and arrows: against the run, against the modes of mesh viewers, and as read back."""

from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, modes, spring_damper, weld
from flexph.drawing import box_shape
from flexph.export.modes import mode_displacements
from flexph.files.vtkhdf import Block, Frames, read_vtkhdf, write_vtkhdf
from flexph.report.runs import sections_of
from flexph.scenes import mode_scene, motion_scene, of_results, pose_scene, read_scene, write_scene
from flexph.scenes.of_results import scene_files, scenes_of, write_scenes

NYLON = fem.Material(young=2e9, density=1100.0)


@pytest.fixture(scope="module")
def solution():
    bodies = {"bar": rigid.bar(0.5, 2.0), "tail": rigid.bar(0.5, 1.0)}
    joints = [hinge("bar.root", GROUND.at(0.0, 0.0)), hinge("bar.tip", "tail.root")]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3), "tail": 0.1}))
    return integrate(mechanism, start, np.linspace(0.0, 0.2, 21))


@pytest.fixture(scope="module")
def vibration():
    """A cantilever with a spring at its tip along x, the ways across which are tied: any change would turn its coil."""
    beam = fem.beam(1.0, NYLON, fem.Section(width=0.02, height=0.01), elements=2)
    joints = [weld("beam.root", GROUND.at(0.0, 0.0)), spring_damper("beam.tip", GROUND.at(2.0, 0.0), stiffness=5.0)]
    mechanism = connect({"beam": beam}, joints)
    pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)})
    return mechanism, pose, modes(mechanism.linearize(pose), 2)


def test_a_run_is_drawn_once_for_its_file_its_view_and_its_report(solution, tmp_path, monkeypatch):
    """A run of its own, as the scene is kept with it."""
    own, drawn = replace(solution), []
    monkeypatch.setattr(of_results, "motion_scene", lambda run, **given: drawn.append(1) or motion_scene(run, **given))
    own.save(tmp_path / "run.h5")
    (scene,) = scenes_of(own).values()
    sections_of(own)
    assert drawn == [1] and own.once(of_results.run_scene) is scene


def part_of(scene, name):
    return next(part for part in scene.parts if part.name.startswith(name))


def test_modes_swing_as_those_for_mesh_viewers(vibration):
    scene = mode_scene(*vibration, frames=8, scale=0.1)
    shapes = mode_displacements(*vibration)
    beam, length = part_of(scene, "beam"), 0.1
    assert len(scene.times) == 16 and scene.captions[8].startswith("mode 2: ")
    for k, (moved,) in enumerate(shapes.displacements):
        away = (beam.points[8 * k + 2] - beam.points[8 * k]).reshape(len(moved), -1, 3)
        np.testing.assert_allclose(away.mean(axis=1)[:, :2], length * moved, atol=2e-3 * length)  # the edge moves most
        np.testing.assert_allclose(away, -(beam.points[8 * k + 6] - beam.points[8 * k]).reshape(away.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(beam.deformation, axis=2).max(), length, rtol=1e-9)
    coil = part_of(scene, "spring")
    assert np.abs(coil.points - coil.points[:1]).max() < 1.5 * length


def test_arrows_are_the_forces_of_the_run(solution):
    scene = motion_scene(solution, frames=5, forces=True)
    assert not any(part.kind == "arrow" for part in scene.without("arrow").parts)
    weights = [part_of(scene, f"weight of {name}").points for name in ("bar", "tail")]
    lengths = [np.ptp(points[-1], axis=0)[1] for points in weights]
    assert lengths[0] == pytest.approx(2.0 * lengths[1], rel=0.05)  # of heads and shafts alike
    force = solution.reaction("hinge bar.root–GROUND at (0.0, 0.0)").force[-1]
    arrow = part_of(scene, "force of hinge bar.root").points[-1]
    along = arrow @ np.append(force, 0.0) / np.linalg.norm(force)
    across = arrow[:, :2] @ np.array([-force[1], force[0]]) / np.linalg.norm(force)
    assert along.max() > 5.0 * np.abs(across).max() and along.min() == pytest.approx(0.0, abs=1e-9)


def test_a_scene_is_read_as_it_was_written(vibration, solution, tmp_path):
    for name, scene in (("modes", mode_scene(*vibration)), ("run", motion_scene(solution, forces=True))):
        again = read_scene(write_scene(tmp_path / f"{name}.vtkhdf", scene))
        assert (again.captions, again.size, again.dim, again.unit) == (
            scene.captions,
            scene.size,
            scene.dim,
            scene.unit,
        )
        for own, part in zip(scene.parts, again.parts, strict=True):
            assert (own.name, own.kind, list(own.point_fields)) == (part.name, part.kind, list(part.point_fields))
            np.testing.assert_allclose(part.deformed(3.0).at(-1), own.deformed(3.0).at(-1), atol=1e-6)


def test_runs_in_a_result_have_files(solution, tmp_path):
    written = write_scenes(tmp_path, scenes_of({"first": solution, "again": solution, "other": [solution.times]}))
    assert [path.name for path in written] == ["scene.vtkhdf"]
    assert list(scene_files(tmp_path)) == ["scene"]


def test_files_of_others_are_refused(tmp_path):
    grid = Block("a", "b", (("wedge", np.arange(6)[None]),), [Frames(np.zeros((1, 6, 3)), {}, {})])
    write_vtkhdf(tmp_path / "a.vtkhdf", np.zeros(1), [grid], {})
    assert read_vtkhdf(tmp_path / "a.vtkhdf")[1][0].cells[0][1].tolist() == [[0, 1, 2, 3, 4, 5]]
    with pytest.raises(ValueError, match="not a scene"):
        read_scene(tmp_path / "a.vtkhdf")
    (tmp_path / "b.vtkhdf").write_text("text")
    with pytest.raises(ValueError, match=r"motion cannot be read from .*b\.vtkhdf"):
        read_scene(tmp_path / "b.vtkhdf")
    short = Block("a", "b", (("line", np.array([[0, 1]])),), [Frames(np.zeros((2, 2, 3)), {}, {})])
    with pytest.raises(ValueError, match="must have 1 or 3 frames, got 2"):
        write_vtkhdf(tmp_path / "c.vtkhdf", np.zeros(3), [short], {})


def test_signs_have_the_size_of_the_mechanism_with_its_springs():
    """A small mass on a long spring: the size of signs is that of both, and a scale of the world scales it."""
    sizes = []
    for scale in (1.0, 1e-3):
        block = rigid.body(
            1.0, inertia=1.0, ports={"pin": (0.0, 0.0)}, shape=box_shape((3e-2 * scale, 4e-2 * scale, 0.0))
        )
        spring = spring_damper("block.pin", GROUND.at(3.0 * scale, 0.0), stiffness=5.0)
        mechanism = connect({"block": block}, [spring])
        sizes.append(pose_scene(mechanism, mechanism.assemble({"block": (0.0, 0.0, 0.0)})).size)
    np.testing.assert_allclose(sizes[1], 1e-3 * sizes[0], rtol=1e-12)
    np.testing.assert_allclose(sizes[0], 0.018 * np.hypot(3.015, 0.04), rtol=1e-12)
