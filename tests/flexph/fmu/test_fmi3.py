"""Units of FMI 3: valid, and stepped by FMPy to the bits of runs, in a process of their own."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import rigid
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.cli import main
from flexph.fmu import CoSimulation, write_fmu
from flexph.sensors import joint_angle

fmpy = pytest.importorskip("fmpy")
pytest.importorskip("pythonfmu3")
H, COUNT = 1e-3, 20
STEPS = f"""
import sys, fmpy
unit = sys.argv[1]
description = fmpy.read_model_description(unit)
names = {{v.name: v.valueReference for v in description.modelVariables}}
slave = fmpy.instantiate_fmu(fmpy.extract(unit), description, "CoSimulation")
slave.setFloat64([names["mass"]], [3.0])
slave.enterInitializationMode()
slave.exitInitializationMode()
def advance(first, last):
    for k in range(first, last):
        slave.setFloat64([names["motor"]], [7.0])
        slave.doStep(k * {H}, {H})
        print(slave.getFloat64([names["angle"]])[0].hex(), slave.getFloat64([names["time"]])[0].hex())
advance(0, 10)
kept = slave.serializeFMUState(slave.getFMUState())
advance(10, {COUNT})
slave.setFMUState(slave.deserializeFMUState(kept))
print(slave.getFloat64([names["angle"]])[0].hex(), slave.getFloat64([names["time"]])[0].hex())
advance(10, {COUNT})
slave.terminate()
"""
"""Steps of a unit, the second half twice, from a state that was kept as bytes."""


def swing(*, mass: float = 2.0):
    joints = [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")]
    arm = connect({"arm": rigid.bar(1.0, mass)}, joints, gravity=(0.0, -9.81))
    start = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    return CoSimulation(mechanism=arm, start=start, outputs={"angle": joint_angle("arm.root")}, step=H, end=0.02)


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    return write_fmu(tmp_path_factory.mktemp("fmu") / "swing.fmu", swing, version=3)


def test_a_unit_is_valid_and_names_its_variables(unit):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(unit)) == []
    description = fmpy.read_model_description(str(unit))
    assert description.fmiVersion == "3.0" and description.modelName == "swing"
    known = {v.name: v.causality for v in description.modelVariables}
    assert known == {"time": "independent", "mass": "parameter", "motor": "input", "angle": "output"}
    assert description.coSimulation.canSerializeFMUstate


def test_steps_and_kept_states_are_those_of_a_run_to_the_bit(unit):
    told = subprocess.run([sys.executable, "-c", STEPS, unit], capture_output=True, text=True, check=True).stdout
    angles, times = np.array([[float.fromhex(word) for word in line.split()] for line in told.splitlines()]).T
    plan, at = swing(mass=3.0), np.append(0.0, times[:COUNT])
    run = integrate(plan.mechanism, plan.start, at, method=plan.method, inputs={"motor": 7.0})
    wanted = run.measured(plan.outputs["angle"])[1:]
    np.testing.assert_array_equal(angles, np.append(wanted, wanted[COUNT // 2 - 1 :]))
    np.testing.assert_array_equal(times[COUNT:], times[COUNT // 2 - 1 : COUNT])  # a state has its time
    np.testing.assert_allclose(times[:COUNT], H * np.arange(1, COUNT + 1), rtol=1e-14)


def test_the_command_writes_the_version_that_is_asked_for(tmp_path):
    (tmp_path / "own.py").write_text(
        "import rigid\nfrom flexph import GROUND, connect, hinge, torque\n"
        "mechanism = connect({'arm': rigid.bar(1.0, 2.0)}, [hinge('arm.root', GROUND), torque('arm.root')])\n"
        "start = mechanism.consistent_state(mechanism.assemble({'arm': (0.0, 0.0, 0.0)}))\n"
    )
    result = CliRunner().invoke(main, ["fmu", str(tmp_path / "own.py"), "-o", str(tmp_path / "own.fmu"), "--fmi", "3"])
    assert result.exit_code == 0, result.output
    assert fmpy.read_model_description(str(tmp_path / "own.fmu")).fmiVersion == "3.0"
    with pytest.raises(ValueError, match="version"):
        write_fmu(tmp_path / "x.fmu", swing, version=4)


def test_two_variables_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two variables named 'time'"):
        write_fmu(tmp_path / "a.fmu", lambda *, time=1.0: swing(mass=time), version=3)
    with pytest.raises(ValueError, match="two variables named 'angle'"):
        write_fmu(tmp_path / "a.fmu", lambda *, angle=1.0: swing(mass=angle), version=3)
