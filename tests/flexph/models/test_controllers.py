"""Controllers in model files: ready ones, and functions of a user that are read with trust alone."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, force, hinge, integrate, torque
from flexph.control import (
    Continuous,
    Sampled,
    StateFeedback,
    delayed,
    gearbox,
    hydraulic_cylinder,
    motor,
    quantised,
    rate_limited,
    saturated,
)
from flexph.fmu.command import of_model
from flexph.laws import coulomb
from flexph.methods import Exact
from flexph.models import ModelError, load_model
from flexph.sensors import (
    acceleration,
    energy,
    joint_angle,
    joint_rate,
    joint_torque,
    normal_force,
    offset,
    section_rotation,
    strain,
    stress,
    velocity,
)

FILE = """
flexph: 1
bodies:
  arm: {kind: bar, length: 1 m, mass: 2 kg}
connections:
  - {kind: hinge, first: arm.root, second: {ground: [0, 0]}}
  - {kind: torque, port: arm.root, name: motor}
runs:
  hold:
    end: 0.4
    steps: 40
    method: {name: exact}
    start: {guess: {arm: [0, 0, 0]}}
    controllers: {it: CONTROLLER}
    outputs: {measures: {end: {of: position of arm.tip, component: 1, take: last}}}
"""
COMMON = "port: motor, angle: arm.root, period: 2 ms, reference: 0.3"
READY = {
    "port": "{kind: port, port: motor, stiffness: 400 N*m/rad, damping: 60 N*m*s/rad, reference: 'min(1.5*t, 0.3)'}",
    "pd": f"{{kind: pd, {COMMON}, proportional: 400, derivative: 60}}",
    "pid": f"{{kind: pid, {COMMON}, proportional: 400, derivative: 60, integral: 10, lag: 5 ms}}",
}
MOTOR = (
    "{kind: motor, port: motor, supply: '12*sin(t)', constant: 0.05 N*m/A, resistance: 500 mohm, inductance: 1 mH, "
    "inertia: 2e-5 kg*m^2, friction: {kind: coulomb, force: 1 mN*m, speed: 1 rad/s}, ratio: 50, torque_limit: 0.3 N*m}"
)
GEARBOX = "{kind: gearbox, port: motor, drive: 100 mN*m, ratio: 50, inertia: 2e-5 kg*m^2, friction: 1e-5 N*m*s/rad}"
SOFTLY = (
    "{kind: gearbox, port: motor, drive: 0.1, ratio: 50, inertia: 2e-5 kg*m^2, stiffness: 80 N*m/rad, "
    "damping: 0.1 N*m*s/rad}"
)
BRAKE = "{kind: gearbox, port: motor, ratio: 50, inertia: 2e-5 kg*m^2, dry_friction: 100 mN*m}"
OWN = "{kind: function, function: 'model_controller:law', period: 2 ms, sensors: {q: {measure: angle, port: arm.root}}}"
LAW = "def law(time, see):\n    return {'motor': 5.0 * (0.3 - see['q'])}\n"
FEEDBACK = (
    "{kind: feedback, function: 'model_feedback:law', ports: [motor], "
    "sensors: {q: {measure: angle, port: arm.root}, w: {measure: rate, port: arm.root}}}"
)
SOFT = "def law(time, y):\n    return 40.0 * (0.3 - y[0]) - 8.0 * y[1]\n"
WALL = (
    "{kind: contact, first: arm.tip, second: {kind: plane, port: {ground: [0, 0.01]}, normal: [0, -1]}, "
    "law: {kind: rigid}, name: wall}"
)
TOUCH = (
    "{q: {measure: touches, contact: wall}, f: {measure: normal_force, contact: wall}, "
    "j: {measure: joint_force, joint: 'hinge arm.root–GROUND at (0.0, 0.0)'}}"
)
PRESS = "def law(time, see):\n    return {'motor': 4.0 - 0.2 * see['f'] if see['q'].all() else 1.0}\n"


def run_of(tmp_path, controller, **options):
    path = tmp_path / "arm.yaml"
    path.write_text(FILE.replace("CONTROLLER", controller))
    return load_model(path, **options).run("hold")


@pytest.mark.parametrize("kind", READY)
def test_ready_controllers_hold_an_arm(tmp_path, kind):
    run = run_of(tmp_path, READY[kind])
    assert run.figures()["end"] == pytest.approx(np.sin(0.3), rel=0.3)
    assert run.solution.ledger.largest_residual < 1e-12
    assert list(run.solution.ledger.controllers) == ["it"]


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (
            MOTOR,
            {
                "system": motor(
                    constant=0.05,
                    resistance=0.5,
                    inductance=1e-3,
                    inertia=2e-5,
                    friction=coulomb(1e-3, speed=1.0),
                    ratio=50.0,
                    torque_limit=0.3,
                ),
                "inputs": {"supply": lambda t: 12.0 * np.sin(t)},
            },
        ),
        (GEARBOX, {"system": gearbox(ratio=50.0, inertia=2e-5, friction=1e-5), "inputs": {"drive": 0.1}}),
        (BRAKE, {"system": gearbox(ratio=50.0, inertia=2e-5, dry_friction=0.1)}),
        (SOFTLY, {"system": gearbox(ratio=50.0, inertia=2e-5, stiffness=80.0, damping=0.1), "inputs": {"drive": 0.1}}),
    ],
    ids=["motor", "gearbox", "brake", "elastic gearbox"],
)
def test_drive_trains_are_those_of_python(tmp_path, given, options):
    run = run_of(tmp_path, given).solution
    arm = connect(
        {"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")]
    )
    start = arm.consistent_state(arm.assemble(guess={"arm": (0.0, 0.0, 0.0)}))
    by = {"it": Continuous(ports={"shaft": "motor"}, **options)}
    twin = integrate(arm, start, np.linspace(0.0, 0.4, 41), controllers=by)
    np.testing.assert_allclose(run.position("arm.tip"), twin.position("arm.tip"), rtol=0.0, atol=1e-12)


def test_inverse_dynamics_of_a_file(tmp_path):
    """Torques of a motion as of the function, in a table too."""
    path = tmp_path / "arm.yaml"
    text = FILE.replace("    controllers: {it: CONTROLLER}\n", "    motion: {motor: 0.5*(1 - cos(t))}\n")
    path.write_text(text.replace("  hold:\n", "  hold:\n    kind: inverse_dynamics\n"))
    run = load_model(path).run("hold")
    run.write(tmp_path)
    with open(tmp_path / "forces.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    torques = np.array([float(row[1]) for row in rows[1:]])
    middles = np.linspace(0.005, 0.395, 40)
    assert rows[0] == ["t [s]", "motor"]
    np.testing.assert_allclose(torques, 2.0 / 3.0 * 0.5 * np.cos(middles), rtol=1e-3)  # m l²/3 θ̈, of order h²
    assert run.figures()["largest motor"] == pytest.approx(np.abs(torques).max())
    path.write_text(path.read_text().replace("{motor: 0.5", "{moter: 0.5"))
    with pytest.raises(ModelError, match="no force, torque or load 'moter': did you mean 'motor'"):
        load_model(path).check()


def test_functions_of_a_user_need_trust(tmp_path, monkeypatch):
    (tmp_path / "model_controller.py").write_text(LAW)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match="--trust"):
        run_of(tmp_path, OWN)
    assert run_of(tmp_path, OWN, trust=True).figures()["end"] > 0.0


def test_modules_stand_beside_the_file_and_are_not_mistaken(tmp_path):
    given = OWN.replace("model_controller", "model_beside")
    for folder, gain in (("one", "5.0"), ("two", "6.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model_beside.py").write_text(LAW.replace("5.0", gain))
    before = list(sys.path)
    assert run_of(tmp_path / "one", given, trust=True).figures()["end"] > 0.0
    with pytest.raises(ModelError, match=r"'model_beside'.*one.*and not 'model_beside.py'.*folder"):
        run_of(tmp_path / "two", given, trust=True)
    assert sys.path == before


@pytest.mark.parametrize("period", [None, 0.02])
def test_feedback_of_a_user_is_that_of_python(tmp_path, monkeypatch, period):
    (tmp_path / "model_feedback.py").write_text(SOFT)
    monkeypatch.delitem(sys.modules, "model_feedback", raising=False)
    given = FEEDBACK if period is None else FEEDBACK.replace("ports", f"period: {period}, ports")
    with pytest.raises(ModelError, match="--trust"):
        run_of(tmp_path, given)
    short = {"runs.hold.end": 0.1, "runs.hold.steps": 10}
    run = run_of(tmp_path, given, trust=True, settings=short).solution
    arm = connect(
        {"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")]
    )
    law = StateFeedback(
        function=lambda t, y: 40.0 * (0.3 - y[0]) - 8.0 * y[1],
        sensors={"q": joint_angle("arm.root"), "w": joint_rate("arm.root")},
        ports=["motor"],
        period=period,
    )
    start = arm.consistent_state(arm.assemble(guess={"arm": (0.0, 0.0, 0.0)}))
    times, method = np.linspace(0.0, 0.1, 11), Exact()
    twin = integrate(arm, start, times, method=method, controllers={"it": law})
    np.testing.assert_array_equal(run.position("arm.tip"), twin.position("arm.tip"))


def test_feedback_within_the_step_is_refused_by_methods_that_cannot_have_it_before_a_run(tmp_path):
    (tmp_path / "model_refused.py").write_text(SOFT)
    path, text = tmp_path / "arm.yaml", FILE.replace("CONTROLLER", FEEDBACK.replace("model_feedback", "model_refused"))
    path.write_text(text)
    load_model(path, trust=True).check()
    path.write_text(text.replace("runs:", f"  - {WALL}\nruns:"))
    load_model(path, trust=True).check()
    path.write_text(text.replace("name: exact", "name: exact4"))
    told = r"Exact4\(\) has steps back in time, in which nothing may dissipate, as controller 'it' may within the step"
    with pytest.raises(ModelError, match=told):
        load_model(path, trust=True).check()
    with pytest.raises(ValueError, match=told):
        load_model(path, trust=True).run("hold")


def test_functions_of_a_file_may_have_a_memory(tmp_path):
    (tmp_path / "model_counts.py").write_text("def law(time, see, memory):\n    return {'motor': 1.0}, memory\n")
    path, law = tmp_path / "arm.yaml", "{kind: function, function: 'model_counts:law', period: 20 ms, memory: GIVEN}"
    for given, memory in (("0.5", 0.5), ("[0.5, 1]", [0.5, 1.0])):
        path.write_text(FILE.replace("CONTROLLER", law.replace("GIVEN", given)))
        run = load_model(path, trust=True).run("hold").solution
        assert run.controller_memories["it"]["memory"] == memory
    path.write_text(FILE.replace("CONTROLLER", law.replace("GIVEN", "{a: 1}")))
    with pytest.raises(ModelError, match="a number, or a list of numbers"):
        load_model(path, trust=True).check()


def test_the_controller_of_the_guide_is_read(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "controllers-in-files.md").read_text(encoding="utf-8")
    (servo,) = (line.strip().removeprefix("servo: ") for line in page.splitlines() if "servo: {kind: pid" in line)
    path = tmp_path / "arm.yaml"
    path.write_text(FILE.replace("CONTROLLER", servo))
    load_model(path).check()


def test_controllers_of_a_file_feel_contacts_and_joints(tmp_path):
    (tmp_path / "model_press.py").write_text(PRESS)
    law = f"{{kind: function, function: 'model_press:law', period: 20 ms, sensors: {TOUCH}}}"
    path, text = tmp_path / "arm.yaml", FILE.replace("runs:", f"  - {WALL}\nruns:")
    text = text.replace("measures: {", "measures: {pressed: {of: normal_force of wall, take: last}, ")

    def model(controller):
        path.write_text(text.replace("CONTROLLER", controller))
        return load_model(path, trust=True)

    model(law).check()
    run = model(law).run("hold")
    pressed = run.solution.measured(normal_force("wall"))[-1]
    assert run.figures()["pressed"] == pressed
    assert pressed == pytest.approx(4.0 - 0.2 * pressed, rel=1e-3)  # over an arm of 1 m
    for right, wrong, told in (
        ("contact: wall", "contact: wal", "no contact 'wal'"),
        ("hinge arm.root", "hinge arm.rot", "no joint"),
        (
            "measure: touches",
            "measure: touch",
            r"q\.measure: got 'touch': did you mean 'touches'\? .*'place_rate'",
        ),
    ):
        with pytest.raises(ModelError, match=told):
            model(law.replace(right, wrong)).check()
    text = text.replace("normal_force of wall", "gap of walls")
    with pytest.raises(ModelError, match=r"no gap of 'walls': .*'wall'"):
        model(law).check()


LATE = "period: 20 ms, delay: 1, limit: 6 N*m, rate_limit: 100 N*m/s, resolution: 1e-3 rad"


def test_what_stands_between_a_law_and_its_port_is_that_of_python(tmp_path):
    given = f"{{kind: pd, port: motor, angle: arm.root, proportional: 40, derivative: 8, reference: 0.3, {LATE}}}"
    run = run_of(tmp_path, given).solution
    arm = connect(
        {"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")]
    )
    law = Sampled(
        function=lambda t, see: {"motor": 40.0 * (0.3 - see["angle"]) - 8.0 * see["rate"]},
        period=0.02,
        sensors={"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")},
    )
    law = saturated(delayed(quantised(law, {"angle": 1e-3}), 1), {"motor": 6.0})
    start = arm.consistent_state(arm.assemble(guess={"arm": (0.0, 0.0, 0.0)}))
    by = {"it": rate_limited(law, {"motor": 100.0})}
    twin = integrate(arm, start, np.linspace(0.0, 0.4, 41), controllers=by)
    np.testing.assert_array_equal(run.controls["motor"], twin.controls["motor"])
    assert run.controls["motor"].max() == 6.0 and not run.controls["motor"][:2].any()
    (tmp_path / "model_late.py").write_text(LAW)
    late = "delay: 1, limits: {motor: 1 N*m}, rate_limits: {motor: 10 N*m/s}, resolution: {q: 1 mrad}"
    own = OWN.replace("model_controller", "model_late").replace("period: 2 ms", f"period: 20 ms, {late}")
    assert run_of(tmp_path, own, trust=True).solution.controls["motor"].max() == 1.0
    for wrong, told in (
        ("delay: -1", "at least 0"),
        ("limits: {moter: 1}", "has limits for 'moter', but returns inputs for 'motor' only"),
    ):
        with pytest.raises((ModelError, ValueError), match=told):
            run_of(tmp_path, own.replace(late, wrong), trust=True)


SPATIAL = """
flexph: 1
materials: {alloy: {young: 70 GPa, density: 2700 kg/m^3, poisson: 0.3}}
sections: {bar: {width: 30 mm, height: 20 mm}}
bodies:
  arm: {kind: beam, length: 1 m, material: alloy, section: bar, elements: 2, dim: 3}
connections:
  - {kind: hinge, first: arm.root, second: {ground: [0, 0, 0]}, axis: [0, 0, 1], name: pin}
  - {kind: torque, port: arm.root, name: motor}
runs:
  hold:
    end: 0.2
    steps: 40
    method: {name: exact}
    start: {guess: {arm: [0, 0, 0]}}
    controllers:
      it: {kind: KIND, port: motor, angle: arm.root, axis: [0, 0, 2], period: 5 ms, proportional: 10, reference: 0.3}
      all: {kind: function, function: 'model_all:law', period: 5 ms, sensors: {SENSORS}}
"""
EVERY = {
    "angle": ("{measure: angle, port: arm.tip, axis: [0, 0, 1]}", joint_angle("arm.tip", axis=(0.0, 0.0, 1.0))),
    "from_zero": (
        "{measure: angle, port: arm.tip, axis: [0, 0, 1], second_axis: [0, 0, 1], zero: 10 deg}",
        joint_angle("arm.tip", axis=(0.0, 0.0, 1.0), second_axis=(0.0, 0.0, 1.0), zero=np.pi / 18.0),
    ),
    "rate": ("{measure: rate, port: arm.tip, axis: [0, 0, 1]}", joint_rate("arm.tip", axis=(0.0, 0.0, 1.0))),
    "offset": ("{measure: offset, port: arm.tip, direction: [0, 1, 0]}", offset("arm.tip", GROUND, (0.0, 1.0, 0.0))),
    "turn": ("{measure: section_rotation, port: arm.tip}", section_rotation("arm.tip")),
    "shake": ("{measure: acceleration, port: arm.tip}", acceleration("arm.tip")),
    "face": (
        "{measure: stress, body: arm, field: axial_stress_y_upper, at: [0.1, 0, 0]}",
        stress("arm", "axial_stress_y_upper", (0.1, 0.0, 0.0)),
    ),
    "gauge": (
        "{measure: strain, body: arm, field: axial_stress_y_upper, at: [100 mm, 0, 0]}",
        strain("arm", "axial_stress_y_upper", (0.1, 0.0, 0.0)),
    ),
    "all": ("{measure: energy, of: total}", energy("total")),
    "pin": ("{measure: joint_torque, joint: pin}", joint_torque("pin")),
}


def spatial(tmp_path, kind="pd", **others):
    """An arm in space whose second controller keeps what it reads last."""
    names = {name: own for name, (own, _) in EVERY.items()} | others
    sensors = ", ".join(f"{name}: {own}" for name, own in names.items())
    path = tmp_path / "arm.yaml"
    path.write_text(SPATIAL.replace("KIND", kind).replace("SENSORS", sensors))
    (tmp_path / "model_all.py").write_text("seen = []\n\n\ndef law(time, see):\n    seen.append(see)\n    return {}\n")
    return load_model(path, trust=True)


@pytest.mark.parametrize("kind", ["pd", "pid"])
def test_sensors_of_a_file_are_those_of_python(tmp_path, monkeypatch, kind):
    monkeypatch.delitem(sys.modules, "model_all", raising=False)
    run = spatial(tmp_path, kind).run("hold").solution
    seen = sys.modules["model_all"].seen
    assert run.measured(EVERY["angle"][1])[-1] > 0.1  # without damping: a hub would take more
    for name, (_, quantity) in EVERY.items():
        if name not in ("shake", "pin"):  # these are means of the last step, which runs interpolate
            np.testing.assert_array_equal([see[name] for see in seen], run.measured(quantity)[:-1])
    means = np.diff(run.measured(velocity("arm.tip")), axis=0)[:-1] / 5e-3
    np.testing.assert_allclose([see["shake"] for see in seen[1:]], means, atol=1e-11)  # round-off over a step
    assert seen[1]["pin"].shape == (3,)


def test_tables_and_measures_of_sensors(tmp_path, monkeypatch):
    """Columns and numbers are those of the solution; units have them as outputs."""
    monkeypatch.delitem(sys.modules, "model_all", raising=False)
    spatial(tmp_path)
    path = tmp_path / "arm.yaml"
    text = path.read_text()
    face, shake = EVERY["face"][0], EVERY["shake"][0]
    outputs = (
        f"    outputs:\n      tables: {{face.csv: {{face: {face}, place: position of arm.tip}}}}\n"
        f"      measures: {{peak: {{of: {face}, take: max_abs}}, shake: {{of: {shake}, component: 1, take: last}}}}\n"
    )
    path.write_text(text + outputs)
    model = load_model(path, trust=True)
    model.check()
    run = model.run("hold")
    run.write(tmp_path)
    stresses = run.solution.measured(EVERY["face"][1])
    with open(tmp_path / "face.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["t [s]", "face", "place 0", "place 1", "place 2"]
    np.testing.assert_allclose([float(row[1]) for row in rows[1:]], stresses, rtol=1e-9)
    assert run.figures()["peak"] == np.abs(stresses).max() > 0.0
    assert run.figures()["shake"] == run.solution.measured(EVERY["shake"][1])[-1, 1]
    assert {"face", "shake_y"} <= of_model(model, None).output_variables.keys()
    for right, wrong, told in (
        ("axial_stress_y_upper, at", "axial_stress, at", "no stress 'axial_stress'"),
        ("component: 1", "component: 3", "component 3 does not exist"),
        ("{measure: acceleration", "{measur: acceleration", "no such setting"),
        ("position of arm.tip", "place arm.tip", "or a sensor such as"),
    ):
        path.write_text(text + outputs.replace(right, wrong))
        with pytest.raises((ModelError, ValueError), match=told):
            load_model(path, trust=True).check()
            load_model(path, trust=True).run("hold").figures()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{measure: offset, port: arm.tip}", "direction is missing"),
        ("{measure: distance, port: arm.tip, second: {ground: [0, 0, 0]}, axis: [0, 0, 1]}", "'distance' has no axis"),
        ("{measure: angle, port: arm.tip}", "axis"),
        ("{measure: rate, port: arm.root, axis: [0, 0, 1], zero: 0.1}", "'rate' has no zero"),
        ("{measure: stress, body: arm, field: axial_stress, at: [0.1]}", "no stress 'axial_stress': body 'arm' has"),
        ("{measure: strain, body: arm, field: axial_force, at: [2]}", "must be a point of body 'arm'"),
        ("{measure: energy, of: heat}", "energy must be one of"),
        ("{measure: stres, body: arm}", "did you mean 'stress'"),
        ("{measure: acceleration, port: arm.tip, second: ground}", "no such setting"),
    ],
)
def test_mistakes_of_sensors_are_told_before_a_run(tmp_path, monkeypatch, given, told):
    monkeypatch.delitem(sys.modules, "model_all", raising=False)
    with pytest.raises(ModelError, match=told):
        spatial(tmp_path, wrong=given).check()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{kind: pdd, port: motor}", "pd"),
        (READY["pd"].replace("2 ms", "-1 s"), "period"),
        (READY["port"].replace("motor", "moter"), "no external port 'moter'"),
    ],
)
def test_mistakes_are_named(tmp_path, given, told):
    with pytest.raises((ModelError, ValueError), match=told):
        run_of(tmp_path, given)


@pytest.mark.parametrize("kind", ["pd", "pid"])
def test_a_port_that_is_not_there_is_told_before_a_run(tmp_path, kind):
    path = tmp_path / "arm.yaml"
    path.write_text(FILE.replace("CONTROLLER", READY[kind].replace("port: motor", "port: moter")))
    with pytest.raises(ModelError, match=r"it\.port: no external port 'moter': did you mean 'motor'"):
        load_model(path).check()


LIFT = """
flexph: 1
gravity: [0, -9.81]
bodies:
  mass: {kind: point, mass: 2 kg}
connections:
  - {kind: point_on_curve, port: mass.point, curve: [{ground: [0, 0]}, {ground: [4, 3]}], at: [0, 5], name: lift, HOW}
runs:
  up:
    end: 0.4
    steps: 40
    start: {guess: {mass: [0.8, 0.6, 0]}}
    inputs: {lift: 20 N}
    outputs: {measures: {s: {of: place of lift, take: last}, v: {of: place_rate of lift, take: last}}}
"""


def test_motors_and_places_along_a_curve_of_a_file(tmp_path):
    """Up a slope of 3 in 5: 2 v' = F − 0.6 m g − v."""
    path = tmp_path / "lift.yaml"

    def figures(text):
        path.write_text(text)
        model = load_model(path)
        model.check()
        return model.run("up").figures()

    pushed = figures(LIFT.replace("HOW", "motor: true, friction: {kind: viscous, coefficient: 1}"))
    last = 20.0 - 0.6 * 2.0 * 9.81  # of which the speed has (1 − e^(−t/2))
    assert pushed["v"] == pytest.approx(last * (1.0 - np.exp(-0.2)), rel=1e-5)
    assert pushed["s"] == pytest.approx(1.0 + last * (0.4 - 2.0 * (1.0 - np.exp(-0.2))), rel=1e-5)
    driven = LIFT.replace("HOW", "place: 1 + 2*t").replace("    inputs: {lift: 20 N}\n", "")
    found = figures(driven)
    assert [found["s"], found["v"]] == pytest.approx([1.8, 2.0], rel=1e-10)
    for right, wrong, told in (
        ("place of lift", "place of left", "did you mean 'lift'"),
        ("1 + 2*t", "1/t", "fails at t = 0 s"),
        ("1 + 2*t", "1 + 2*t, motor: true", "motor and place cannot be given together"),
    ):
        with pytest.raises(ModelError, match=told):
            figures(driven.replace(right, wrong))


def test_a_hydraulic_cylinder_is_that_of_python(tmp_path):
    """At the tip of the arm, with units, a formula for the valve and a foot on the ground."""
    given = (
        "{kind: hydraulic_cylinder, rod: push, vector: [1 m, 0.6 m], areas: [20 cm^2, 1e-3 m^2], length: 1 m, "
        "stroke: 0.5 m, rated_flow: 30 l/min, relief: 16 MPa, pressures: [0.1 MPa, 0 Pa], pump: 3e-4, valve: '0.1*t'}"
    )
    path = tmp_path / "arm.yaml"
    text = FILE.replace("CONTROLLER", given).replace(
        "name: motor}", "name: motor}\n  - {kind: force, port: arm.tip, name: push}"
    )
    path.write_text(text)
    run = load_model(path).run("hold").solution
    assert {"it: pump", "it: valve"} <= set(run.ledger.work)
    assert run.ledger.largest_residual < 1e-11
    system = hydraulic_cylinder(
        (1.0, 0.6), areas=(2e-3, 1e-3), length=1.0, stroke=0.5, rated_flow=5e-4, relief=1.6e7, pressures=(1e5, 0.0)
    )
    arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0)), force("arm.tip", name="push")])
    start = arm.consistent_state(arm.assemble(guess={"arm": (0.0, 0.0, 0.0)}))
    by = {"it": Continuous(system=system, ports={"rod": "push"}, inputs={"pump": 3e-4, "valve": lambda t: 0.1 * t})}
    wanted = integrate(arm, start, run.times, controllers=by)
    np.testing.assert_allclose(run["arm.centre"], wanted["arm.centre"], atol=1e-9)
