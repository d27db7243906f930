"""Controllers in model files: ready ones, and functions of a user that are read with trust alone."""

import numpy as np
import pytest

from flexph.models import ModelError, load_model

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
    method: {name: exact, compiled: false}
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
OWN = "{kind: function, function: 'model_controller:law', period: 2 ms, sensors: {q: {measure: angle, port: arm.root}}}"
LAW = "def law(time, see):\n    return {'motor': 5.0 * (0.3 - see['q'])}\n"


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


def test_functions_of_a_user_need_trust(tmp_path, monkeypatch):
    (tmp_path / "model_controller.py").write_text(LAW)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match="--trust"):
        run_of(tmp_path, OWN)
    assert run_of(tmp_path, OWN, trust=True).figures()["end"] > 0.0


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
