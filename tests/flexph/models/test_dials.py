"""Dials of model files: one parameter for the functions of time that name it and for the sliders of live runs."""

import numpy as np
import pytest
from click.testing import CliRunner

from flexph.cli import main
from flexph.models import ModelError, load_model
from flexph.view.live.live import Live

MODEL = """
flexph: 1
gravity: [0, -9.81]
dials:
  rest: {value: 30, low: -60, high: 60, ramp: 10 ms, unit: deg}
bodies:
  rod: {kind: rigid_body, mass: 1 kg, inertia: 0.1 kg*m^2, ports: {root: [-0.5, 0]}}
connections:
  - {kind: hinge, first: rod.root, second: ground}
  - {kind: torsion_spring, first: rod.root, second: ground, stiffness: 20 N*m/rad, damping: 1 N*m*s/rad, angle: ANGLE}
runs:
  swing: {end: 0.02 s, steps: 10, method: {name: exact}, start: {fixed: {rod: 0}}}
"""


def written(folder, angle, **words):
    """Path of the model with an angle of its spring, and other words."""
    text = MODEL.replace("ANGLE", angle)
    for old, new in words.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_slider_a_dial_is_its_value(tmp_path):
    runs = [load_model(written(tmp_path, angle)).run("swing").solution for angle in ("{dial: rest}", "'pi/6 + 0*t'")]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-14
    assert np.abs(runs[0].states[-1] - runs[0].states[0]).max() > 1e-4


def test_its_slider_moves_the_functions_of_a_live_run(tmp_path, monkeypatch):
    shown = []

    def show(live, page):
        shown.append(live.dials)
        page.session.order("slider", name="rest", value=-1.0)

    monkeypatch.setattr(Live, "_show", show)
    result = CliRunner().invoke(
        main, ["run", str(written(tmp_path, "{dial: rest}")), "--live", "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    ((name, dial),) = shown[0].items()
    assert (name, dial.low, dial.high, dial.ramp) == ("rest", -np.pi / 3, np.pi / 3, 0.01)
    assert dial.value == -1.0
    assert dial(0.02) == pytest.approx(-1.0, abs=1e-15)
    assert dial(0.0) == pytest.approx(np.pi / 6, abs=1e-15)


@pytest.mark.parametrize(
    "angle, words, told",
    [
        ("{dial: rset}", {}, r"angle.*dial.*'rset'.*'rest'"),
        ("{dial: rest}", {"value: 30": "value: 70"}, r"dials.*rest.*value.*bounds of the dial"),
        ("{dial: rest}", {"unit: deg": "unit: degree_of"}, r"dials.*rest.*unit"),
        ("{dial: rest}", {"unit: deg": "unit: mm"}, r"angle.*dial: got '1 mm', which measures a length"),
        ("{dial: rest}", {"value: 30": "value: 30 deg"}, r"rest\.value: got '30 deg' beside unit: deg"),
    ],
)
def test_wrong_dials_are_refused_where_they_stand(angle, words, told, tmp_path):
    with pytest.raises(ModelError, match="(?s)" + told):
        load_model(written(tmp_path, angle, **words))
