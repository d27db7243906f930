"""Twenty generated robots against MuJoCo: mass matrix, bias forces, forward and inverse dynamics, a second of motion.

Branched trees of one to six bodies on hinges and slides, with dampers, in a folder of MJCF files.
"""

import numpy as np
import pytest
from mujoco_robots import GRAVITY, arm_of, body, written

from flexph import integrate
from flexph.methods import ExactGauss

mujoco = pytest.importorskip("mujoco")
ROBOTS = 20


def branched(rng, count):
    """Bodies with one joint each, attached to any one before them."""
    inside = [""] * count
    for k in reversed(range(count)):
        kind = "slide" if rng.random() < 0.3 else "hinge"
        own = body(rng, f"b{k}", [(f"j{k}", kind, 'damping="0.5"')], inside[k])
        if k == 0:
            return own
        inside[int(rng.integers(k))] += own
    return ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("robots")
    for seed in range(ROBOTS):
        rng = np.random.default_rng(seed)
        written(path / f"{seed}.xml", branched(rng, 1 + seed % 6))
    return path


def pair(folder, seed):
    """The robot in both programs, with the order of MuJoCo's joints here."""
    path = folder / f"{seed}.xml"
    model = mujoco.MjModel.from_xml_path(str(path))
    robot, arm, kinematics = arm_of(path)
    take = [kinematics.names.index(model.jnt(k).name) for k in range(model.njnt)]
    return model, mujoco.MjData(model), robot, arm, kinematics, take


def put(values, take):
    own = np.empty(len(take))
    own[take] = values
    return own


def close(value, wanted):
    """1e-9 of the largest entry: round-off of both."""
    np.testing.assert_allclose(value, wanted, rtol=0.0, atol=1e-9 * max(np.abs(wanted).max(), 1.0))


@pytest.mark.parametrize("seed", range(ROBOTS))
def test_dynamics_at_a_state_are_those_of_mujoco(folder, seed):
    model, data, _, _, kinematics, take = pair(folder, seed)
    rng = np.random.default_rng(100 + seed)
    data.qpos[:], data.qvel[:] = rng.uniform(-2.5, 2.5, (2, model.nv))
    torques = rng.normal(size=model.nv)
    data.qfrc_applied[:] = torques
    mujoco.mj_forward(model, data)
    q, rates = put(data.qpos, take), put(data.qvel, take)
    full = np.zeros((model.nv, model.nv))
    for column, unit in zip(full, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    M = kinematics.mass_matrix(q)[np.ix_(take, take)]
    close(M, full)
    bias = kinematics.efforts(q, rates, np.zeros(model.nv))[take]
    close(bias, data.qfrc_bias - data.qfrc_passive)
    close(np.linalg.solve(M, torques - bias), data.qacc)  # forward dynamics
    accelerations = data.qacc.copy()
    close(kinematics.efforts(q, rates, put(accelerations, take))[take], torques)  # inverse dynamics


@pytest.mark.parametrize("seed", [5, *(pytest.param(k, marks=pytest.mark.slow) for k in range(ROBOTS) if k != 5)])
def test_a_second_of_motion_is_that_of_mujoco(folder, seed):
    """To 1e-6 of the way: Gauss collocation at 1 ms, MuJoCo's Runge-Kutta at 0.1 ms."""
    model, data, robot, arm, _, _ = pair(folder, seed)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    rng = np.random.default_rng(200 + seed)
    data.qpos[:] = rng.uniform(-1.0, 1.0, model.nv)
    placed = robot.placed({model.jnt(k).name: data.qpos[k] for k in range(model.nv)})
    run = integrate(arm, arm.consistent_state(arm.assemble(placed)), np.linspace(0.0, 1.0, 1001), method=ExactGauss())
    for _ in range(10000):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    assert np.allclose(model.opt.gravity, GRAVITY) and data.time == pytest.approx(1.0)
    for k in range(1, model.nbody):
        way = run.position(robot.ports[model.body(k).name])
        size = max(np.abs(way - way[0]).max(), 0.1)
        np.testing.assert_allclose(way[-1], data.xpos[k], rtol=0.0, atol=1e-6 * size)
    assert run.ledger.largest_residual < 1e-11
