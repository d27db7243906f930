"""Files and derived quantities of spatial runs: positions, velocities, momenta against the bodies' own kinematics."""

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, modes, spherical
from flexph.export import write_modes, write_series
from flexph.export.tables import write_ledger, write_table

STRIP = fem.Section(width=0.03, height=0.01)
NYLON = fem.Material(young=2e9, density=1100.0, poisson=0.4)


@pytest.fixture(scope="module")
def swing():
    beam = fem.beam(0.5, NYLON, STRIP, elements=2, dim=3)
    box = rigid.box((0.1, 0.05, 0.02), density=800.0, ports={"end": (-0.05, 0.0, 0.0)})
    mechanism = connect(
        {"beam": beam, "box": box},
        [spherical("beam.root", GROUND.at(0.0, 0.0, 0.0)), hinge("beam.tip", "box.end", axis=(0.0, 1.0, 0.0))],
        gravity=(0.0, 0.0, -9.81),
    )
    turned = Rotation.from_rotvec([0.2, -0.3, 0.5])
    pose = mechanism.assemble({"beam": ((0.0, 0.0, 0.0), turned)}, guess={"box": turned})
    start = mechanism.consistent_state(pose, velocities={"beam": (1.0, 2.0, -1.0)})
    return integrate(mechanism, start, np.linspace(0.0, 0.2, 401))


def test_velocities_are_the_rates_of_positions(swing):
    for port in ("beam.tip", "box.centre"):
        x, v, h = swing.position(port), swing.velocity(port), swing.times[1]
        assert np.abs((x[2:] - x[:-2]) / (2.0 * h) - v[1:-1]).max() < 2e-3 * np.abs(v).max()  # (hω)² of the bending
    spin = swing.spin("box")
    R = swing.rotations("box")
    turning = np.einsum("tij,tkj->tik", R[2:] - R[:-2], R[1:-1]) / (2.0 * swing.times[1])
    axial = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    assert np.abs(axial - spin[1:-1]).max() < 2e-3 * np.abs(spin).max()


def test_momenta_change_by_weight_and_pin(swing):
    mass = sum(body.mass for body in swing.mechanism.bodies.values())
    P, pin = swing.linear_momentum(), swing.reaction("spherical beam.root–GROUND at (0.0, 0.0, 0.0)")
    weight = mass * np.array([0.0, 0.0, -9.81])
    rate = np.diff(P, axis=0) / np.diff(swing.times)[:, None]
    moved = np.linalg.norm(rate - weight - pin.force, axis=1)
    assert moved.mean() < 0.05 * np.linalg.norm(pin.force, axis=1).mean()  # ends of steps leave an alternating part
    L = swing.angular_momentum()
    assert np.abs(L[:, 2] - L[0, 2]).max() < 1e-13  # about the vertical through the pivot


def test_series_holds_positions_velocities_and_stresses(swing, tmp_path):
    paths = write_series(tmp_path / "swing.pvd", swing, frames=3)
    mesh = meshio.read(paths[-1])
    own = swing.mechanism.bodies["beam"].view
    assert own is not None
    expected = swing.points("beam", own.points, own.shape)[-1]
    np.testing.assert_allclose(mesh.points[: len(expected)], expected, atol=1e-14)
    np.testing.assert_allclose(
        mesh.point_data["velocity"][: len(expected)], swing.velocities("beam", own.points, own.shape)[-1], atol=1e-13
    )
    assert {"axial_force", "bending_moment_y", "bending_moment_z", "torque"} <= set(mesh.cell_data)
    assert sum(len(c.data) for c in mesh.cells) == len(own.cells) + 1


def test_modes_of_a_spatial_mechanism(swing, tmp_path):
    mechanism = connect({"beam": swing.mechanism.bodies["beam"]}, [spherical("beam.root", GROUND.at(0.0, 0.0, 0.0))])
    pose = mechanism.assemble({"beam": Rotation.from_rotvec([0.0, 0.0, 0.5 * np.pi])})
    found = modes(mechanism.linearize(pose), 2)
    mesh = meshio.read(write_modes(tmp_path / "modes.vtu", mechanism, pose, found))
    assert np.linalg.norm(mesh.point_data["mode_1"], axis=1).max() == pytest.approx(1.0)
    assert mesh.points[:, 1].max() == pytest.approx(0.5)  # the beam points along y


def test_tables_are_written_below_their_headers(swing, tmp_path):
    write_ledger(tmp_path / "ledger.csv", swing)
    header, *rows = (tmp_path / "ledger.csv").read_text().splitlines()
    assert header.startswith("t_s,total energy [J],kinetic beam [J],kinetic box [J],elastic beam [J]")
    assert len(rows) == 400
    write_table(tmp_path / "t.csv", {"a": np.array([1.0, 0.1]), "b": ["x", "y"]})
    assert (tmp_path / "t.csv").read_text() == "a,b\n1.0,x\n0.1,y\n"
    with pytest.raises(ValueError, match="shorter"):
        write_table(tmp_path / "t.csv", {"a": [1.0], "b": []})
