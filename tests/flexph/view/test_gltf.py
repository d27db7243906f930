"""Binary glTF: nodes, morph targets and their animation give back the points of the scene; colours; errors."""

import json
import sys

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, drive, hinge, integrate, spherical
from flexph.scenes import motion_scene
from flexph.view import write_glb
from flexph.view.gltf import UPRIGHT
from flexph.view.packing import RIGID

library = pytest.importorskip("pygltflib")
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def planar():
    steel = fem.Material(young=2.1e11, density=7850.0)
    arm = fem.beam(1.0, steel, fem.Section(width=0.01, height=0.01), elements=4)
    turned = connect({"arm": arm}, [hinge("arm.root", GROUND), drive("arm.root", angle=lambda t: 4.0 * t**2)])
    start = turned.consistent_state(turned.assemble({"arm": (0.0, 0.0, 0.0)}))
    return integrate(turned, start, np.linspace(0.0, 0.5, 101), progress=False)


def spatial():
    ball = connect(
        {"bob": rigid.body(2.0, inertia=(0.1, 0.2, 0.2), ports={"root": (-0.5, 0.0, 0.0), "end": (0.5, 0.0, 0.0)})},
        [spherical("bob.root", GROUND)],
        gravity=(0.0, 0.0, -9.81),
    )
    start = ball.consistent_state(ball.assemble({"bob": (0.0, 0.0, 0.0)}))
    return integrate(ball, start, np.linspace(0.0, 0.4, 41), progress=False)


def values(file, number):
    accessor = file.accessors[number]
    view = file.bufferViews[accessor.bufferView]
    raw = file.binary_blob()[view.byteOffset : view.byteOffset + view.byteLength]
    kind = "<u4" if accessor.componentType == library.UNSIGNED_INT else "<f4"
    return np.frombuffer(raw, kind).reshape(accessor.count, WIDTHS[accessor.type]).astype(float)


def turned(quaternion, points):
    vector, scalar = np.asarray(quaternion)[:3], quaternion[3]
    return points + 2.0 * np.cross(vector, np.cross(vector, points) + scalar * points)


def drawn(file, row):
    """Corners of all triangles (t, 3, 3) in the world at a row of the animation, as a viewer computes them."""
    moves = {}
    for channel in file.animations[0].channels:
        sampler = file.animations[0].samplers[channel.sampler]
        moves[channel.target.node, channel.target.path] = values(file, sampler.output)
    corners, root = [], file.nodes[0].rotation or (0.0, 0.0, 0.0, 1.0)
    for number in file.nodes[0].children:
        node = file.nodes[number]
        primitive = file.meshes[node.mesh].primitives[0]
        points = values(file, primitive.attributes.POSITION)
        shapes = [values(file, target["POSITION"]) for target in primitive.targets or []]
        if shapes:
            points = points + np.tensordot(moves[number, "weights"].reshape(-1, len(shapes))[row], shapes, axes=1)
        if (number, "rotation") in moves:
            points = turned(moves[number, "rotation"][row], points) + moves[number, "translation"][row]
        else:
            points = turned(node.rotation or (0.0, 0.0, 0.0, 1.0), points) + np.asarray(node.translation)
        corners.append(turned(root, points)[values(file, primitive.indices).astype(int).reshape(-1, 3)])
    return np.concatenate(corners)


@pytest.mark.parametrize("run", [planar, spatial])
def test_a_viewer_computes_the_points_of_the_scene(run, tmp_path):
    solution = run()
    scene = motion_scene(solution, frames=21, scale=3.0)
    file = library.GLTF2().load(str(write_glb(tmp_path / "motion.glb", solution, frames=21, scale=3.0)))
    extent = np.linalg.norm(np.ptp(scene.bounds, axis=0))
    assert np.allclose(values(file, 0).ravel(), scene.times, rtol=1e-6)
    for row in (0, 7, 20):
        wanted = np.concatenate([part.at(row)[part.cells] for part in scene.parts])
        if scene.dim == 3:
            wanted = turned(UPRIGHT, wanted)
        own = drawn(file, row)
        # parts in pieces come in another order: each triangle has one of the same centre, and back
        assert len(own) == len(wanted)
        apart = np.abs(own.mean(axis=1)[:, None] - wanted.mean(axis=1)[None]).max(axis=-1)
        assert apart.min(axis=1).max() < 2.0 * RIGID * extent and apart.min(axis=0).max() < 2.0 * RIGID * extent


def test_colours_are_those_of_the_largest_stress_and_names_those_of_the_parts(tmp_path):
    file = library.GLTF2().load(str(write_glb(tmp_path / "arm.glb", planar(), frames=11)))
    arm = next(mesh for mesh in file.meshes if mesh.name == "arm").primitives[0]
    place, colours = values(file, arm.attributes.POSITION)[:, 0], values(file, arm.attributes.COLOR_0)
    assert colours.min() >= 0.0 and colours.max() <= 1.0
    root, tip = colours[place.argmin()], colours[place.argmax()]
    assert root[0] > 0.8 and root[2] < 0.1 and tip[0] < 0.1  # nearly yellow at the drive, violet at the free end
    assert {node.name for node in file.nodes} >= {"mechanism", "arm"}
    assert json.loads(file.to_json())["asset"]["version"] == "2.0"


def test_glb_refuses_another_suffix_and_names_its_extra(tmp_path, monkeypatch):
    solution = spatial()
    with pytest.raises(ValueError, match=r"\.glb"):
        write_glb(tmp_path / "a.gltf", solution)
    monkeypatch.setitem(sys.modules, "pygltflib", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "flexph\[gltf\]"'):
        write_glb(tmp_path / "b.glb", solution)
    assert not list(tmp_path.iterdir())
