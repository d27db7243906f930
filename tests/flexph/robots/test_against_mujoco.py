"""Robots of MJCF files against MuJoCo: places, inverse dynamics, closed loops and a second of motion.

E. Todorov, T. Erez, Y. Tassa, MuJoCo: a physics engine for model-based control, IROS (2012). Both work in double
precision; links without mass between two joints of one body have 1e-9 of the mass here.
"""

import numpy as np
import pytest
import scipy
from mujoco_robots import GRAVITY, arm_of, body, written

from flexph import connect, integrate
from flexph.exchange import read_mjcf
from flexph.methods import Exact
from flexph.sensors import position

mujoco = pytest.importorskip("mujoco")


def tree(rng, count, chains):
    """Nested bodies; those of ``chains`` have two joints."""
    inside = ""
    for k in reversed(range(count)):
        kinds = ["slide" if rng.random() < 0.3 else "hinge" for _ in range(1 + (k in chains))]
        joints = [(f"j{k}{letter}", kind, 'damping="0.3"') for kind, letter in zip(kinds, "ab", strict=False)]
        inside = body(rng, f"b{k}", joints, inside)
    return inside


@pytest.mark.parametrize("seed", range(8))
def test_places_and_inverse_dynamics_are_those_of_mujoco(tmp_path, seed):
    """Round-off of chains without intermediate links: 1e-9; with them their mass of 1e-9."""
    rng = np.random.default_rng(seed)
    chains = (1,) if seed % 2 else ()
    path, model = written(tmp_path / "r.xml", tree(rng, 2 + seed % 4, chains))
    robot, _, kinematics = arm_of(path)
    data, names = mujoco.MjData(model), [model.jnt(k).name for k in range(model.njnt)]
    take = [kinematics.names.index(name) for name in names]
    for _ in range(3):
        data.qpos[:], data.qvel[:], data.qacc[:] = rng.uniform(-2.5, 2.5, (3, model.nv))
        mujoco.mj_inverse(model, data)
        q, rates, accelerations = (np.empty(model.nv) for _ in range(3))
        q[take], rates[take], accelerations[take] = data.qpos, data.qvel, data.qacc
        for k in range(1, model.nbody):
            place = kinematics.place(robot.ports[model.body(k).name], q)
            np.testing.assert_allclose(place.position, data.xpos[k], rtol=1e-9, atol=1e-10)
        efforts = kinematics.efforts(q, rates, accelerations)[take]
        bound = (1e-7 if chains else 1e-10) * np.abs(efforts).max()
        np.testing.assert_allclose(efforts, data.qfrc_inverse, rtol=0.0, atol=bound)


def test_a_motion_with_a_spring_a_gear_and_a_ball_is_that_of_mujoco(tmp_path):
    """Half a second: a pendulum on a ball joint that carries two geared rods, one of them on a spring.

    MuJoCo by Runge-Kutta with steps of 2e-5 s and a stiff gear; both agree to the softness of that: 1e-4 m.
    """
    rods = """<body name="ball" pos="0 0 1"><joint name="hold" type="ball"/><inertial pos="0 0 -0.3" mass="1"
      diaginertia="0.03 0.04 0.02"/>
      <body name="left" pos="0.1 0 -0.5"><joint name="l" axis="0 1 0" stiffness="3" springref="20" damping="0.05"/>
      <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.01 0.01 0.001"/></body>
      <body name="right" pos="-0.1 0 -0.5"><joint name="r" axis="0 1 0"/>
      <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.01 0.01 0.001"/></body></body>"""
    gear = '<equality><joint joint1="r" joint2="l" polycoef="0 -1 0 0 0" solref="0.0002 1"/></equality>'
    path, model = written(tmp_path / "r.xml", rods, gear)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 2e-5
    robot = read_mjcf(path)
    arm = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    start = arm.consistent_state(arm.assemble(robot.placed()))
    run = integrate(arm, start, np.linspace(0.0, 0.5, 2001))
    data = mujoco.MjData(model)
    for _ in range(25000):
        mujoco.mj_step(model, data)
    assert data.time == pytest.approx(0.5)
    for k in range(1, model.nbody):
        own = run.measured(position(robot.ports[model.body(k).name]))[-1]
        np.testing.assert_allclose(own, data.xpos[k], rtol=0.0, atol=1e-4)
    assert run.ledger.largest_residual < 1e-11


def test_a_loop_is_closed_by_a_spherical_joint(tmp_path):
    bars = """<body name="crank" pos="0 0 0"><joint name="c" axis="0 1 0"/><inertial pos="0 0 0.1" mass="1"
      diaginertia="0.01 0.01 0.01"/>
      <body name="rod" pos="0 0 0.2"><joint name="r" axis="0 1 0"/><inertial pos="0.2 0 0" mass="1"
      diaginertia="0.01 0.01 0.01"/></body></body>
      <body name="slider" pos="0.4 0 0.2"><joint name="s" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1"
      diaginertia="0.01 0.01 0.01"/></body>"""
    loop = '<equality><connect name="pin" body1="rod" body2="slider" anchor="0.4 0 0"/></equality>'
    path, _ = written(tmp_path / "r.xml", bars, loop)
    robot = read_mjcf(path)
    crank = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    start = crank.consistent_state(crank.assemble(robot.placed()))
    run = integrate(crank, start, np.linspace(0.0, 0.2, 101), method=Exact(redundant="least_norm"))  # a planar loop
    apart = run.measured(position("rod.pin first")) - run.measured(position("slider.pin second"))
    assert np.abs(apart).max() < 1e-10
    assert run.ledger.largest_residual < 1e-11


def test_what_is_left_out_is_told_and_what_cannot_be_read_is_refused(tmp_path):
    rng = np.random.default_rng(3)
    world = body(rng, "b", [("j", "hinge", 'armature="0.1"')], '<geom type="sphere" size="0.1"/>')
    slow = '<actuator><general name="push" joint="j" dyntype="filter" dynprm="0.1"/></actuator>'
    path, _ = written(tmp_path / "r.xml", world, slow)
    with pytest.warns(UserWarning, match=r"armature .* of joints j; actuators push: give.*; contacts of 1 shapes"):
        read_mjcf(path)
    pair = body(rng, "b", [("j", "hinge", "")], body(rng, "d", [("k", "hinge", "")]))
    square = '<equality><joint joint1="j" joint2="k" polycoef="0 1 1 0 0"/></equality>'
    path, _ = written(tmp_path / "r.xml", pair, square)
    with pytest.raises(ValueError, match="joint 'j' has an equality constraint of a higher degree"):
        read_mjcf(path)
    path.write_text('<mujoco><worldbody><body><joint type="spring"/></body></worldbody></mujoco>')
    with pytest.raises(ValueError, match="no MJCF file that MuJoCo compiles"):
        read_mjcf(path)
    path.write_text('<mujoco><include file="../secret.xml"/></mujoco>')
    with pytest.raises(ValueError, match="names a file outside of its folder: <include"):
        read_mjcf(path)
    path.write_text('<mujoco><asset><texture type="cube" fileright="/secret.png"/></asset></mujoco>')
    with pytest.raises(ValueError, match="names a file outside of its folder: <texture fileright"):
        read_mjcf(path)
    path.write_text('<mujoco><include file="part.xml"/></mujoco>')
    (tmp_path / "part.xml").write_text('<mujocoinclude><asset><mesh file="../secret.stl"/></asset></mujocoinclude>')
    with pytest.raises(ValueError, match=r"part.xml' names a file outside of its folder: <mesh"):
        read_mjcf(path)
    path.write_text("<robot/>")
    with pytest.raises(ValueError, match="its first element must be mujoco"):
        read_mjcf(path)


def test_a_free_body_starts_at_the_pose_of_the_file(tmp_path):
    rng = np.random.default_rng(4)
    path, model = written(tmp_path / "r.xml", body(rng, "b", [("j", "free", "")]))
    robot = read_mjcf(path)
    (place, turn), shift = robot.placed()["b"], (0.1, -0.2, 0.3)
    np.testing.assert_allclose(place, model.body_pos[1], atol=1e-14)
    np.testing.assert_allclose(turn.as_quat(scalar_first=True, canonical=True), canonical(model.body_quat[1]))
    moved = robot.placed({"j": (shift, np.eye(3))})["b"][0]
    np.testing.assert_allclose(moved, place + turn.apply(shift), atol=1e-14)


def canonical(quaternion):
    return quaternion if quaternion[0] > 0.0 else -quaternion


def test_a_joint_may_have_the_name_of_a_fixed_body_and_follows_one_other(tmp_path):
    rng = np.random.default_rng(8)
    world = body(rng, "arm", [("tool", "hinge", "")], body(rng, "tool", []))
    path, model = written(tmp_path / "r.xml", world)
    robot, arm, _ = arm_of(path)
    assert set(robot.joints) == {"tool"}
    data = mujoco.MjData(model)
    data.qpos[:] = 0.7
    mujoco.mj_kinematics(model, data)
    state = arm.consistent_state(arm.assemble(robot.placed({"tool": 0.7})))
    np.testing.assert_allclose(arm.position(state, robot.ports["tool"]), data.body("tool").xpos, atol=1e-12)
    both = '<joint joint1="c" joint2="a"/><joint joint1="c" joint2="b"/>'
    chain = body(
        rng, "p", [("a", "hinge", "")], body(rng, "q", [("b", "hinge", "")], body(rng, "r", [("c", "hinge", "")]))
    )
    path, _ = written(tmp_path / "r.xml", chain, f"<equality>{both}</equality>")
    with pytest.raises(ValueError, match="joint 'c' has two equality constraints"):
        read_mjcf(path)


MOVED = """<body name="cart" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0" armature="0.4"/>
  <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
  <body name="upper" pos="0 0 0"><joint name="a" axis="0 1 0" armature="0.05" damping="0.1"/>
  <inertial pos="0.05 0 -0.2" mass="0.5" diaginertia="0.01 0.01 0.001"/>
  <body name="lower" pos="0 0 -0.4"><joint name="b" axis="1 1 0" armature="0.02" ref="20" actuatorfrcrange="-0.9 0.9"/>
  <inertial pos="0 0.03 -0.2" mass="0.5" diaginertia="0.01 0.01 0.001"/>
  <body name="slide" pos="0 0 -0.4"><joint name="s" type="slide" axis="0 0.6 0.8" stiffness="20"/>
  <inertial pos="0 0 0" mass="0.3" diaginertia="0.002 0.002 0.002"/></body></body></body></body>"""
ACTING = """<tendon><fixed name="pull"><joint joint="a" coef="0.5"/><joint joint="s" coef="-0.3"/></fixed></tendon>
  <actuator><motor name="push" joint="x" gear="4" ctrlrange="-1 1" ctrllimited="true"/>
  <position name="hold" joint="a" kp="6" kv="0.3"/><velocity name="turn" joint="b" kv="0.8" gear="2"/>
  <general name="tense" tendon="pull" gainprm="2" biastype="affine" biasprm="0.5 -1 -0.2" forcerange="-1.5 1.5"
  forcelimited="true"/><motor name="idle" joint="s"/></actuator>"""


def test_actuators_tendons_and_rotors_move_a_robot_as_in_mujoco(tmp_path):
    """One second at constant commands, one of them beyond its range, with forces at their bounds for a while.

    MuJoCo by Runge-Kutta with steps of 1e-4 s. Errors of the scheme are of second order: from h to h/2 they fall by 4.
    """
    path, model = written(tmp_path / "r.xml", MOVED, ACTING)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    commands = {"push": 3.0, "hold": 0.4, "turn": 0.6, "tense": 0.9}
    data = mujoco.MjData(model)
    data.ctrl[:] = [commands.get(model.actuator(k).name, 0.0) for k in range(model.nu)]
    for _ in range(10000):
        mujoco.mj_step(model, data)
    robot = read_mjcf(path, rotors=True)
    assert list(robot.actuators) == ["push", "hold", "turn", "tense", "idle"]
    arm, errors = connect(robot.bodies, robot.connections, gravity=GRAVITY), []
    start = arm.consistent_state(arm.assemble(robot.placed({"b": np.radians(20.0)})))  # where MuJoCo begins
    for steps in (500, 1000):
        acting = {"actuators": robot.actuated(commands)}
        run = integrate(arm, start, np.linspace(0.0, 1.0, steps + 1), controllers=acting)
        assert run.ledger.largest_residual < 1e-10
        ends = [run.measured(position(robot.ports[name]))[-1] for name in ("cart", "upper", "lower", "slide")]
        errors.append(np.abs(np.array(ends) - data.xpos[1:]).max())
    assert errors[1] < 2e-5 and errors[0] / errors[1] == pytest.approx(4.0, abs=0.8)


def test_actuators_without_a_counterpart_are_named(tmp_path):
    muscle = '<actuator><general name="slow" joint="a" dyntype="integrator" gainprm="1"/></actuator>'
    path, _ = written(tmp_path / "r.xml", MOVED, muscle)
    with pytest.warns(UserWarning, match="actuators slow"):
        robot = read_mjcf(path, rotors=True)
    for commands in ({}, {"slow": 1.0}):
        with pytest.raises(ValueError, match="actuator 'slow' of the file has no counterpart"):
            robot.actuated(commands)


def test_rotors_add_the_armature_to_the_mass_matrix(tmp_path):
    """The natural frequencies of two joints on springs, against the eigenvalues of MuJoCo's mass matrix."""
    springs = MOVED.replace('type="slide" axis="1 0 0"', 'type="slide" axis="1 0 0" stiffness="50"')
    springs = springs.replace('damping="0.1"', 'stiffness="9"').replace('ref="20"', 'stiffness="7"')
    path, model = written(tmp_path / "r.xml", springs)
    data, mass = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, mass)
    stiff = np.diag(model.jnt_stiffness.ravel()[: model.nv])
    own = np.sqrt(scipy.linalg.eigvalsh(stiff, mass))
    robot = read_mjcf(path, rotors=True)
    arm = connect(robot.bodies, robot.connections)
    found = arm.spectrum(arm.consistent_state(arm.assemble(robot.placed()))).values
    np.testing.assert_allclose(np.sort(found.imag[found.imag > 0.0]), own, rtol=1e-9)


def test_bad_commands_and_rotors_are_refused(tmp_path):
    path, _ = written(tmp_path / "r.xml", MOVED, ACTING)
    robot = read_mjcf(path, rotors=True)
    with pytest.raises(ValueError, match="no actuator 'pusch'"):
        robot.actuated({"pusch": 1.0})
    with pytest.raises(ValueError, match=r"commands\['push'\]"):
        robot.actuated({"push": np.inf})
    with pytest.raises(ValueError, match="must have no rotors yet"):
        robot.with_rotors({"a": 1.0})
    with pytest.warns(UserWarning, match="armature"):
        plain = read_mjcf(path)
    with pytest.raises(ValueError, match=r"rotors\['a'\] must be positive"):
        plain.with_rotors({"a": 0.0})
    with pytest.raises(ValueError, match="no joint 'q'"):
        plain.with_rotors({"q": 1.0})
