"""Kinematics and inverse dynamics of twenty generated robots against Pinocchio.

J. Carpentier et al., The Pinocchio C++ library, IEEE/SICE SII (2019). Both work in double precision; deviations are
round-off of a chain of up to seven joints, 1e-12 relative.
"""

import numpy as np
import pytest
from robot_files import file_of, link, moving, solid

from flexph import connect
from flexph.exchange import read_urdf
from flexph.robots import Kinematics, Link, denavit_hartenberg

pin = pytest.importorskip("pinocchio")
GRAVITY = (0.4, -1.1, -9.7)
CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def transform(turn="z", angle=0.0, shift=(0.0, 0.0, 0.0)):
    """Rotation about an axis with a translation before it."""
    place = pin.SE3.Identity()
    place.rotation = pin.utils.rotate(turn, angle)
    place.translation = np.array(shift)
    return place


def table(rng, count):
    """Random rows of a Denavit-Hartenberg table."""
    rows = {}
    for k in range(count):
        second = rng.normal(size=(3, 3))
        second = 0.01 * second @ second.T
        rows[f"joint {k}"] = Link(
            a=rng.normal(scale=0.4),
            alpha=rng.uniform(-np.pi, np.pi),
            d=rng.normal(scale=0.3),
            theta=rng.uniform(-np.pi, np.pi),
            kind="prismatic" if rng.random() < 0.3 else "revolute",
            mass=rng.uniform(0.5, 3.0),
            centre=rng.normal(scale=0.2, size=3),
            moments=np.trace(second) * np.eye(3) - second,
        )
    return rows


def model_of(rows, convention):
    """Model of Pinocchio from the same table, by its own placements."""
    model, parent, before = pin.Model(), 0, pin.SE3.Identity()
    for name, row in rows.items():
        along, twist = transform(shift=(row.a, 0.0, 0.0)), transform("x", row.alpha)
        turn, up = transform("z", row.theta), transform(shift=(0.0, 0.0, row.d))
        lead = turn * up if convention == "standard" else twist * along * turn * up
        after = along * twist if convention == "standard" else pin.SE3.Identity()
        joint = pin.JointModelPZ() if row.kind == "prismatic" else pin.JointModelRZ()
        parent = model.addJoint(parent, joint, before * lead, name)
        inertia = pin.Inertia(row.mass, np.asarray(row.centre), np.asarray(row.moments))
        model.appendBodyToJoint(parent, inertia, after)
        before = after
    model.addFrame(pin.Frame("tool", parent, 0, before, pin.FrameType.OP_FRAME))
    model.gravity.linear = np.array(GRAVITY)
    return model


def compare(kinematics, port, rng, model, order):
    """Place, Jacobian, mass matrix and efforts at random coordinates; ``order`` are the coordinates of the model."""
    q, rates, accelerations = rng.uniform(-2.5, 2.5, (3, len(order)))
    data, frame = model.createData(), model.getFrameId("tool")
    take = [kinematics.names.index(name) for name in order]
    own, own_rates, own_acc = (np.empty(len(order)) for _ in range(3))
    own[take], own_rates[take], own_acc[take] = q, rates, accelerations
    pin.framesForwardKinematics(model, data, q)
    place = kinematics.place(port, own)
    np.testing.assert_allclose(place.position, data.oMf[frame].translation, **CLOSE)
    np.testing.assert_allclose(place.rotation, data.oMf[frame].rotation, **CLOSE)
    jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(kinematics.jacobian(port, own)[:, take], jacobian, **CLOSE)
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    np.testing.assert_allclose(kinematics.mass_matrix(own)[np.ix_(take, take)], mass, **CLOSE)
    efforts = pin.rnea(model, data, q, rates, accelerations)
    size = np.abs(efforts).max()
    np.testing.assert_allclose(kinematics.efforts(own, own_rates, own_acc)[take], efforts, rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("seed", range(10))
def test_tables(seed):
    rng, convention = np.random.default_rng(seed), ("standard", "modified")[seed % 2]
    rows = table(rng, 2 + seed % 6)
    robot = denavit_hartenberg(rows, convention=convention)
    arm = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    kinematics = Kinematics(arm, robot.coordinates, arm.assemble(robot.placed()))
    for _ in range(3):
        compare(kinematics, robot.ports["tool"], rng, model_of(rows, convention), list(rows))


@pytest.mark.parametrize("seed", range(10))
def test_trees_of_files(tmp_path, seed):
    """Branched robots of a URDF file, which Pinocchio reads itself."""
    rng, count = np.random.default_rng(100 + seed), 2 + seed % 6
    parts = [link("base")]
    for k in range(count):
        parent = "base" if k == 0 else f"link{rng.integers(0, k)}"
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        parts += [solid(rng, f"link{k}"), moving(rng, f"j{k}", kind, parent, f"link{k}")]
    path = file_of(tmp_path / "tree.urdf", *parts)
    robot = read_urdf(path)
    arm = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    kinematics = Kinematics(arm, robot.coordinates, arm.assemble(robot.placed()))
    model = pin.buildModelFromUrdf(str(path))
    model.gravity.linear = np.array(GRAVITY)
    last = f"link{count - 1}"
    own = model.frames[model.getFrameId(last)]
    model.addFrame(pin.Frame("tool", own.parentJoint, 0, own.placement, pin.FrameType.OP_FRAME))
    compare(kinematics, robot.ports[last], rng, model, [name for name in model.names if name != "universe"])
