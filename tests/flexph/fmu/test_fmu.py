"""Functional mock-up units: valid, and stepped by FMPy to the bits of runs."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import rigid
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.cli import main
from flexph.control import Continuous, Sampled, port_spring
from flexph.fmu import CoSimulation, fmu_controller, write_fmu
from flexph.methods import Exact
from flexph.sensors import joint_angle, position

fmpy = pytest.importorskip("fmpy")
pytest.importorskip("pythonfmu")

H = 1e-3


def swing(*, mass: float = 2.0):
    arm = connect(
        {"arm": rigid.bar(1.0, mass)},
        [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor 1")],
        gravity=(0.0, -9.81),
    )
    start = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    outputs = {"angle": joint_angle("arm.root"), "tip": position("arm.tip")}
    return CoSimulation(mechanism=arm, start=start, method=Exact(compiled=False), outputs=outputs, step=H, end=0.02)


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    return write_fmu(tmp_path_factory.mktemp("fmu") / "swing.fmu", swing)


def stepped(unit, **values):
    return fmpy.simulate_fmu(
        str(unit), stop_time=0.02, step_size=H, output_interval=H, start_values=values, output=["angle", "tip_y"]
    )


def test_units_are_valid_and_name_their_variables(unit):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(unit)) == []
    known = {v.name: v.causality for v in fmpy.read_model_description(str(unit)).modelVariables}
    outputs = dict.fromkeys(("angle", "tip_x", "tip_y"), "output")
    assert known == {"mass": "parameter", "motor_1": "input", **outputs}


@pytest.mark.parametrize("mass", [2.0, 3.0])
def test_steps_are_those_of_a_run_to_the_bit(unit, mass):
    rows, plan = stepped(unit, motor_1=7.0, mass=mass), swing(mass=mass)
    run = integrate(plan.mechanism, plan.start, rows["time"], method=plan.method, inputs={"motor 1": 7.0})
    np.testing.assert_array_equal(rows["angle"], run.measured(plan.outputs["angle"]))
    np.testing.assert_array_equal(rows["tip_y"], run.measured(plan.outputs["tip"])[:, 1])


def test_states_are_kept_and_go_on_to_the_same_bits(unit):
    description = fmpy.read_model_description(str(unit))
    names = {v.name: v.valueReference for v in description.modelVariables}
    slave = fmpy.instantiate_fmu(fmpy.extract(str(unit)), description, "CoSimulation")
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()

    def advance(first, count):
        slave.setReal([names["motor_1"]], [7.0])
        for k in range(first, first + count):
            slave.doStep(k * H, H)
        return slave.getReal([names["angle"]])

    advance(0, 5)
    kept = slave.serializeFMUState(slave.getFMUState())
    after = advance(5, 5)
    slave.setFMUState(slave.deSerializeFMUstate(kept))
    assert advance(5, 5) == after
    slave.terminate()
    slave.freeInstance()


@pytest.mark.parametrize("kind", ["names", pytest.param("model", marks=pytest.mark.slow)])
def test_the_command_takes_model_files_and_python_files(kind, tmp_path):
    if kind == "model":
        CliRunner().invoke(main, ["new", str(tmp_path / "model"), "--like", "crank-slider"], catch_exceptions=False)
        file = tmp_path / "model.yaml"
    else:
        file = tmp_path / "own.py"
        file.write_text(
            "import rigid\nfrom flexph import GROUND, connect, hinge, torque\n"
            "from flexph.sensors import joint_angle\n"
            "mechanism = connect({'arm': rigid.bar(1.0, 2.0)}, [hinge('arm.root', GROUND), torque('arm.root')])\n"
            "start = mechanism.consistent_state(mechanism.assemble({'arm': (0.0, 0.0, 0.0)}))\n"
            "outputs = {'angle': joint_angle('arm.root')}\n"
        )
    result = CliRunner().invoke(main, ["fmu", str(file), "-o", str(tmp_path / "own.fmu")])
    assert result.exit_code == 0, result.output
    assert fmpy.read_model_description(str(tmp_path / "own.fmu")).modelName == "own"


def test_what_cannot_be_a_unit_says_so(tmp_path):
    with pytest.raises(ValueError, match=r"must end with \.fmu"):
        write_fmu(tmp_path / "swing.zip", swing)
    with pytest.raises(ValueError, match="must have a number as default"):
        write_fmu(tmp_path / "swing.fmu", lambda name="x": swing())
    with pytest.raises(ValueError, match="no external port 'motor'"):
        CoSimulation(mechanism=swing().mechanism, start=swing().start, inputs=["motor"])
    (tmp_path / "none.py").write_text("x = 1\n")
    result = CliRunner().invoke(main, ["fmu", str(tmp_path / "none.py"), "-o", str(tmp_path / "x.fmu")])
    assert result.exit_code == 1 and "must define a function co_simulation" in result.output


@pytest.mark.slow
def test_the_robot_arm_to_the_bits_of_integrate(tmp_path):
    from cases.robot_arm import co_simulation

    result = CliRunner().invoke(main, ["fmu", "cases/robot_arm.py", "-o", str(tmp_path / "arm.fmu")])
    assert result.exit_code == 0, result.output
    rows = fmpy.simulate_fmu(
        str(tmp_path / "arm.fmu"), stop_time=0.2, step_size=H, output_interval=H,
        start_values={"shoulder": 30.0, "elbow": 5.0}, output=["tip_x", "tip_y"],
    )  # fmt: skip
    plan = co_simulation()
    run = integrate(plan.mechanism, plan.start, rows["time"], inputs={"shoulder": 30.0, "elbow": 5.0})
    np.testing.assert_array_equal(np.column_stack([rows["tip_x"], rows["tip_y"]]), run.measured(plan.outputs["tip"]))


def test_controllers_within_a_unit_are_those_of_a_run(tmp_path):
    """Called within steps, with what others set beside them; states have their memories."""
    law = Sampled(
        function=lambda t, see, total: ({"motor 1": -8.0 * see["q"] - total}, total + 0.1 * see["q"]),
        period=2.5 * H,
        sensors={"q": joint_angle("arm.root")},
        memory=0.0,
    )
    plan = replace(swing(), controllers={"law": law})
    rows = stepped(write_fmu(tmp_path / "held.fmu", plan), motor_1=7.0)
    options = {"method": plan.method, "inputs": {"motor 1": 7.0}, "controllers": plan.controllers}
    run = integrate(plan.mechanism, plan.start, rows["time"], **options)
    np.testing.assert_array_equal(rows["angle"], run.measured(plan.outputs["angle"]))
    with pytest.raises(ValueError, match="no external port 'brake'"):
        servo = Continuous(system=port_spring(1.0), ports={"spring": "brake"})
        replace(swing(), controllers={"servo": servo})


def test_a_unit_controls_a_mechanism_as_its_simulator_does(unit):
    plan, angle = swing(), joint_angle("arm.root")
    ports = {"motor 1": "angle"}
    given = fmu_controller(unit, period=H, sensors={"motor_1": angle}, ports=ports, parameters={"mass": 3.0})
    twin = swing(mass=3.0).simulator()

    def by_hand(time, see):
        answer = {"motor 1": twin.readings["angle"]}
        twin.advance_to(time + H, {"motor 1": see["angle"]})
        return answer

    times = np.linspace(0.0, 5 * H, 6)
    run = lambda loop: integrate(plan.mechanism, plan.start, times, method=plan.method, controllers={"it": loop})  # noqa: E731
    expected = run(Sampled(function=by_hand, period=H, sensors={"angle": angle})).states
    np.testing.assert_array_equal(run(given).states, expected)
    np.testing.assert_array_equal(run(given).states, expected)  # each run starts the unit anew


def test_a_unit_goes_on_from_what_it_remembers(unit):
    given = fmu_controller(unit, period=H, sensors={"motor_1": joint_angle("arm.root")}, ports={"motor 1": "angle"})
    memory, answers, kept = given.memory, [], []
    for k in range(4):
        kept.append(memory)
        answer, memory = given.function(k * H, {"motor_1": 5.0}, memory)
        answers.append(answer)
    again = pickle.loads(pickle.dumps(given.function))
    assert again(2 * H, {"motor_1": 5.0}, kept[2])[0] == answers[2]
    assert answers[1] != answers[2]


def test_units_that_cannot_control_say_why(unit, tmp_path):
    options = {"period": H, "sensors": {}, "ports": {"motor 1": "angle"}}
    with pytest.raises(ValueError, match="no variable 'angel'"):
        fmu_controller(unit, **options | {"ports": {"motor 1": "angel"}})
    with pytest.raises(ValueError, match="must be scalars"):
        fmu_controller(unit, **options | {"sensors": {"motor_1": position("arm.tip")}})
    (tmp_path / "no.fmu").write_text("none")
    with pytest.raises(ValueError, match="no functional mock-up unit"):
        fmu_controller(tmp_path / "no.fmu", **options)
