"""`flexph optimise`: optima of model files against closed forms, gradients of measures, records, and mistakes."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from flexph.models import ModelError, load_model
from flexph.models.optimising import search_of
from flexph.numerics.loops.built import are_compiled
from flexph.report.searches import bars
from flexph.studies.optimise_command import command

xarray = pytest.importorskip("xarray")
pytestmark = pytest.mark.skipif(not are_compiled(), reason="gradients need compiled loops")

PUSHED = """
bodies:
  ball: {kind: point, mass: 2 kg}
connections:
  - {kind: force, port: ball.point, name: push}
start: {fixed: {ball: [0, 0, 0]}}
runs:
  go:
    end: 1 s
    steps: 4
    inputs: {push: [1.5, 0]}
    outputs:
      measures:
        weight: {of: mass of ball}
        way: {of: position of ball.point, take: last}
        farthest: {of: position of ball.point}
optimisations:
  lighter:
    run: go
    objective: {weight: 3}
    parameters: {"bodies.ball.mass": [0.5 kg, 5 kg], "runs.go.inputs.push[0]": [1 N, 3 N]}
    constraints: {way: [null, 400 mm]}
    tolerance: 1e-6
  heavier:
    run: go
    objective: {weight: -1}
    parameters: {bodies.ball.mass: [0.5, 5]}
    constraints: {farthest: [0.2, null]}
"""
SWING = """
gravity: [0, -9.81]
bodies:
  bar: {kind: bar, length: 50 cm, mass: 2 kg}
connections:
  - {kind: hinge, first: bar.root, second: ground}
  - {kind: torsion_spring, first: bar.root, second: ground, stiffness: 3, damping: 0.4, angle: "0.5*sin(3*t)"}
start: {fixed: {bar: [0, 0, 0.3]}}
runs:
  swing:
    end: 0.5
    steps: 50
    outputs:
      measures:
        weight: {of: mass of bar}
        MEASURES
optimisations:
  it: {run: swing, objective: TERMS, parameters: {"connections[1].damping": [0.1, 1], bodies.bar.mass: [1, 3]}}
"""
TAKEN = {
    **{
        take: f"{{of: position of bar.tip, component: 1, take: {take}, target: 5 cm}}"
        for take in ("rms", "mean", "last")
    },
    "first": "{of: {measure: energy, of: total}, take: first}",
    "increase": "{of: {measure: energy, of: total}, take: increase}",
    "integral": "{of: {measure: angle, port: bar.root}, take: integral, target: 10 deg}",
    "largest": "{of: {measure: angle, port: bar.root}, take: max, margin: 1 deg}",
    "least": "{of: velocity of bar.tip, component: 1, take: min, margin: 0.1}",
    "size": "{of: velocity of bar.tip, component: 1, take: max_abs, margin: 0.1}",
}


@pytest.fixture
def call(tmp_path):
    def run(text, *arguments, out="o"):
        (tmp_path / "m.yaml").write_text(text)
        return CliRunner().invoke(command, [str(tmp_path / "m.yaml"), "--out", str(tmp_path / out), *arguments])

    return run


def test_the_lightest_ball_is_that_of_the_closed_form(call, tmp_path):
    done = call(PUSHED, "--report")
    assert done.exit_code == 0, done.output
    best = json.loads((tmp_path / "o" / "optimum.json").read_text())
    # x(T) = F T²/(2 m), which the scheme meets exactly: m = F T²/(2 x)
    assert best["parameters"]["bodies.ball.mass"] == pytest.approx(1.0 / 0.8, rel=1e-6)
    assert best["parameters"]["runs.go.inputs.push[0]"] == pytest.approx(1.0, abs=1e-12)  # its bound, to round-off
    assert best["active"] == {"way": "largest", "runs.go.inputs.push[0]": "least"}
    slopes = best["multipliers"]  # 3 dm/dx = −3 F T²/(2 x²), 3 dm/dF = 3 T²/(2 x)
    assert slopes["way"] == pytest.approx(-3.0 / (2.0 * 0.4**2), rel=1e-5)
    assert slopes["runs.go.inputs.push[0]"] == pytest.approx(3.0 / 0.8, rel=1e-5)
    assert best["imbalance"] < 1e-8
    assert "least 3 weight 3.75, at the start 6, after" in done.output
    assert "--set bodies.ball.mass=1.25" in done.output
    page = (tmp_path / "o" / "report.html").read_text()
    assert "Sensitivities" in page and "<svg" in page and "flexph run" in page


def test_a_search_goes_on_with_more_runs_and_repeats_none(call, tmp_path):
    short = call(PUSHED.replace("tolerance: 1e-6", "most: 4"), "--no-report")
    assert short.exit_code == 1 and "did not converge within 4 runs" in short.output
    again = call(PUSHED, "--no-report")
    assert again.exit_code == 2 and "--resume" in again.output
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "o" / "samples").glob("*.npz")}
    done = call(PUSHED, "--resume", "--no-report")
    assert done.exit_code == 0, done.output
    assert len(kept) == 4 and all(path.stat().st_mtime_ns == time for path, time in kept.items())
    runs = xarray.load_dataset(tmp_path / "o" / "study.nc")
    assert runs.sizes["sample"] == len(list((tmp_path / "o" / "samples").glob("*.npz")))
    other = call(PUSHED.replace("end: 1 s", "end: 2 s"), "--resume")
    assert other.exit_code == 2 and "another study" in other.output


def test_measures_that_are_not_smooth_take_no_gradients(call, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("flexph.studies.optimise_command.log.warning", lambda text, *given: told.append(text % given))
    done = call(PUSHED, "--optimisation", "heavier", "--no-report")
    assert done.exit_code == 0, done.output
    (words,) = told
    assert "takes the max without a margin" in words and "COBYQA" in words
    best = json.loads((tmp_path / "o" / "optimum.json").read_text())
    assert best["parameters"]["bodies.ball.mass"] == pytest.approx(1.5 / 0.4, rel=2e-3)  # the tolerance of the search
    assert best["multipliers"] == {} and best["imbalance"] is None


def test_gradients_of_all_measures_are_those_of_differences(tmp_path):
    named = "\n        ".join(f"{name}: {text}" for name, text in TAKEN.items())
    terms = "{" + ", ".join([f"{name}: 1" for name in TAKEN] + ["weight: 2"]) + "}"
    (tmp_path / "m.yaml").write_text(SWING.replace("MEASURES", named).replace("TERMS", terms))
    search = search_of(load_model(tmp_path / "m.yaml"), "it")
    assert search.obstacle == "" and search.start == {"connections[1].damping": 0.4, "bodies.bar.mass": 2.0}
    values, by = search.function.derivatives(**search.start)
    figures = search.function(**search.start)
    assert {*values} == {*TAKEN, "weight"} and search.objective == dict.fromkeys(TAKEN, 1.0) | {"weight": 2.0}
    for name, value in values.items():
        assert value == pytest.approx(figures[name], rel=1e-12), name
    for path, at in search.start.items():
        step = 1e-4 * at
        above, below = (search.function(**{**search.start, path: at + sign * step}) for sign in (1.0, -1.0))
        for name in values:
            difference = (above[name] - below[name]) / (2.0 * step)  # the error is of the order of step²
            assert by[name][path] == pytest.approx(difference, rel=1e-6, abs=1e-8), (name, path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{weight: 3}", "{wight: 3}", "run 'go' has no measure 'wight': did you mean 'weight'"),
        ("constraints: {way:", "constraints: {wy:", "optimisations.lighter.constraints.wy: run 'go' has no measure"),
        ("    run: go\n    objective", "    run: gone\n    objective", "no run 'gone'"),
        ("[null, 400 mm]", "[1, 400 mm]", "must have the lower limit first, got 1, 0.4"),
        ("[null, 400 mm]", "[null, null]", "has no limit"),
        ("[null, 400 mm]", "[null, 400 MPa]", "constraints.way[1]: got '400 MPa', which measures a stress"),
        ("{way: [null, 400 mm]}", "{weight: [null, 10 mm]}", "constraints.weight[1]: got '10 mm', which"),
        ("[0.5 kg, 5 kg]", "[3 kg, 5 kg]", "ball.mass must start within its bounds 3 kg and 5 kg, got 2 kg"),
        ("[0.5 kg, 5 kg]", "[5 kg, 0.5 kg]", "write the lower end first"),
        ("[0.5 kg, 5 kg]", "[0.5 m, 5 m]", "measures a length"),
        ('"bodies.ball.mass"', '"bodies.bal.mass"', "no such setting"),
        ("tolerance: 1e-6", "method: Nelder", "got 'Nelder'"),
        ("take: last}", "take: last, margin: 1 mm}", "margin needs take: max, min, max_abs"),
        ("weight: {of: mass of ball}", "weight: {of: mass of bull}", "no mass of 'bull'"),
    ],
)  # fmt: skip
def test_mistakes_are_named(old, new, message, tmp_path):
    assert PUSHED.count(old) >= 1
    (tmp_path / "m.yaml").write_text(PUSHED.replace(old, new, 1))
    with pytest.raises(ModelError, match=r"m\.yaml:\d+:\d+: ") as error:
        load_model(tmp_path / "m.yaml").check()
    assert message in str(error.value)


BENT = """
materials: {steel: {young: 210 GPa, density: 7850 kg/m^3}}
sections: {strip: {width: 20 mm, height: 5 mm}}
bodies: {rod: {kind: beam, length: 0.4 m, material: steel, section: strip, elements: 1}}
connections: [{kind: hinge, first: rod.root, second: ground}]
start: {fixed: {rod: [0, 0, 0]}}
runs:
  go:
    end: 10 ms
    steps: 4
    outputs:
      measures:
        peak: {of: {measure: stress, body: rod, field: axial_stress_upper, at: [0.1, 0]}, take: max}
        area: {of: position of rod.tip, take: integral}
        swing: {of: {measure: angle, port: rod.root}, take: integral}
optimisations:
  best: {run: go, objective: peak, parameters: {sections.strip.height: [3 mm, 9 mm]}, constraints: {LIMIT}}
"""


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("peak: [null, 10 mm]", "constraints.peak[1]: got '10 mm', which measures a length"),
        ("peak: [null, 10 MPa]", ""),
        ("area: [null, 10 mm]", "constraints.area[1]: got '10 mm', which measures a length"),
        ("area: [null, 10 mm*s]", ""),
        ("swing: [null, 3 mm]", "constraints.swing[1]: got '3 mm', which measures a length"),
        ("swing: [null, 3 deg*s]", ""),
    ],
)
def test_limits_have_the_unit_of_their_measure(limit, message, tmp_path):
    (tmp_path / "m.yaml").write_text(BENT.replace("LIMIT", limit))
    model = load_model(tmp_path / "m.yaml")
    if not message:
        model.check()
        return
    with pytest.raises(ModelError) as error:
        model.check()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("angle: {of: {measure: angle, port: rod.root}, target: 30 kg}", "angle.target: got '30 kg', which measures a"),
        ("angle: {of: {measure: angle, port: rod.root}, margin: 1 mm}", "angle.margin: got '1 mm', which measures a"),
        ("stress: {of: {measure: stress, body: rod, field: axial_stress_upper, at: [0.1, 0]}, margin: 1 mm}", "margin"),
        ("place: {of: position of rod.tip, take: rms, target: 2 MPa}", "place.target: got '2 MPa', which measures a"),
        ("weight: {of: mass of rod, target: 1 m}", "weight.target: got '1 m', which measures a length"),
        ("spin: {of: spin of rod, target: 1 m}", "spin.target: got '1 m', which measures a length"),
        ("pull: {of: reaction of hinge rod.root–GROUND, target: 1 kg}", "pull.target: got '1 kg', which measures"),
        ("way: {of: displacement of rod.tip, target: 1 deg}", "way.target: got '1 deg', which measures an angle"),
    ],
)
def test_targets_and_margins_have_the_unit_of_their_reading(measure, message, tmp_path):
    text = BENT[: BENT.index("optimisations")]
    (tmp_path / "m.yaml").write_text(text + f"        {measure}\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"m\.yaml:\d+:\d+: ") as error:
        load_model(tmp_path / "m.yaml").check()
    assert message in str(error.value)


def test_targets_and_margins_are_converted(tmp_path):
    angle = "{of: {measure: angle, port: rod.root}"
    own = f"        plain: {angle}}}\n        less: {angle}, target: 30 deg}}\n"
    own += "        pull: {of: reaction of hinge rod.root–GROUND, target: 1 kN}\n"
    own += "        twist: {of: spin of rod, target: 60 rpm}\n        turn: {of: spin of rod}\n"
    own += f"        bound: {angle}, margin: 0.01 deg}}\n        same: {angle}, margin: {np.radians(0.01)}}}\n"
    (tmp_path / "m.yaml").write_text(BENT[: BENT.index("optimisations")] + own, encoding="utf-8")
    found = load_model(tmp_path / "m.yaml").run("go").figures()
    np.testing.assert_allclose(found["plain"] - found["less"], np.radians(30.0), rtol=1e-14)
    np.testing.assert_allclose(found["turn"] - found["twist"], 2.0 * np.pi, rtol=1e-14)
    assert -1010.0 < found["pull"] < -990.0
    np.testing.assert_allclose(found["bound"], found["same"], rtol=1e-14)
    assert 0.0 < found["bound"] - found["plain"] <= np.radians(0.01)


def test_methods_with_derivatives_say_why_there_are_none(call):
    wrong = PUSHED + "    method: SLSQP\n"
    refused = call(wrong, "--optimisation", "heavier")
    assert refused.exit_code == 1 and "SLSQP needs derivatives, and measure 'farthest' takes the max" in refused.output
    assert "no optimisation 'lightest'" in call(PUSHED, "--optimisation", "lightest").output
    none = call(PUSHED[: PUSHED.index("optimisations")])
    assert none.exit_code == 1 and "has no optimisation" in none.output


def test_bars_stand_on_both_sides_the_largest_first():
    picture = bars({"a": 1.0, "<b>": -2.0, "c": 0.5}, "%")
    assert picture.index("&lt;b&gt;") < picture.index(">a<") < picture.index(">c<")
    widths = [float(part.split('"')[0]) for part in picture.split(' width="')[2:]]
    np.testing.assert_allclose(widths, widths[0] * np.array([1.0, 0.5, 0.25]))
