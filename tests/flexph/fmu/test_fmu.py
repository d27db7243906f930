"""Functional mock-up units: valid, and stepped by FMPy to the bits of runs."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import rigid
from flexph import GROUND, Solution, connect, hinge, integrate, torque
from flexph.cli import main
from flexph.control import Continuous, Sampled, port_spring
from flexph.files.trees import deep_copy
from flexph.fmu import CoSimulation, fmu_controller, write_fmu
from flexph.fmu.controller import _with_row
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
    return CoSimulation(mechanism=arm, start=start, outputs=outputs, step=H, end=0.02)


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
    with pytest.raises(ValueError, match=r"must end in \.fmu"):
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
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        fmu_controller(tmp_path / "none.fmu", **options)
    (tmp_path / "no.fmu").write_text("none")
    with pytest.raises(ValueError, match="not a functional mock-up unit"):
        fmu_controller(tmp_path / "no.fmu", **options)


def held_by(unit, **options):
    sensors = {"motor_1": joint_angle("arm.root")}
    return fmu_controller(unit, period=H, sensors=sensors, ports={"motor 1": "angle"}, **options)


def test_a_saved_run_hands_no_bytes_to_a_unit_and_goes_on_to_the_same_bits(unit, tmp_path, monkeypatch):
    """What a file says of a unit is what it was told: it is told again, and neither pickle nor the unit sees bytes."""
    plan = swing()
    run = lambda start, times, given: integrate(  # noqa: E731
        plan.mechanism, start, times, method=plan.method, controllers={"it": given}
    )
    times = np.linspace(0.0, 8 * H, 9)
    whole = run(plan.start, times, held_by(unit))
    run(plan.start, times[:5], held_by(unit)).save(tmp_path / "half.h5")
    half = Solution.load(tmp_path / "half.h5", plan.mechanism)
    (memory,) = (known["memory"] for known in half.final.controllers.values())
    assert set(memory) == {"history"}
    assert np.concatenate(memory["history"]).shape == (4, 2)

    def refuse(*_):
        raise AssertionError("bytes of a file went to the unit")

    for name in ("deSerializeFMUstate", "setFMUstate"):
        monkeypatch.setattr(fmpy.fmi2.FMU2Slave, name, refuse)
    np.testing.assert_array_equal(run(half.final, times[4:], held_by(unit)).states, whole.states[4:])


def test_two_runs_of_one_length_are_not_taken_for_each_other(unit):
    """A controller whose last run is another one of as many calls begins its unit anew."""
    plan, given, times = swing(), held_by(unit), np.linspace(0.0, 8 * H, 9)
    run = lambda start, times: integrate(  # noqa: E731
        plan.mechanism, start, times, method=plan.method, controllers={"it": given}
    )
    moved = plan.mechanism.consistent_state(plan.mechanism.assemble({"arm": (0.0, 0.0, 1.0)}))
    whole, half = run(plan.start, times).states, run(plan.start, times[:5])
    run(moved, times[:5])
    np.testing.assert_array_equal(run(half.final, times[4:]).states, whole[4:])


@pytest.mark.parametrize("told", [np.zeros(3), (np.zeros((2, 2)),), (np.full((1, 2), np.nan),), ("x",)])
def test_what_a_file_says_of_a_unit_is_judged(unit, told):
    with pytest.raises(ValueError, match=r"unit 'swing\.fmu' must be"):
        held_by(unit).function(0.0, {"motor_1": 5.0}, {"history": told})


class Trap:
    """An object whose pickle makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_the_state_of_a_unit_is_no_code(unit, tmp_path):
    from flexph.fmu.slave import MechanismUnit

    with pytest.raises(ValueError, match="damaged"):
        MechanismUnit._fmu_state_from_bytes(pickle.dumps(Trap(tmp_path / "code")))
    assert not (tmp_path / "code").exists()


def test_the_log_of_a_unit_stays_short_and_is_not_copied():
    told = ()
    for k in range(1000):
        told = _with_row(told, np.array([float(k), 1.0]))
    np.testing.assert_array_equal(np.concatenate(told)[:, 0], np.arange(1000.0))
    assert len(told) <= 10  # as many as the number of calls has digits in base two
    again = deep_copy({"history": told})["history"]
    assert all(a is b for a, b in zip(again, told, strict=True))
    free = [np.zeros(2)]
    assert deep_copy(free)[0] is not free[0]
