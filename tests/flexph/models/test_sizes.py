"""What a run would refuse when it begins, or lose when it has ended, is refused by ``flexph check`` with its place."""

import json
import time

import numpy as np
import pytest

from flexph.models import ModelError, load_model
from flexph.models.reading.tree import LARGEST, MANY, read_text

HEAD = """bodies:
  arm: {kind: bar, length: 1 m, mass: 2 kg}
connections:
  - {kind: hinge, first: arm.root, second: {ground: [0, 0]}}
  - {kind: force, port: arm.tip, name: push}
  - {kind: torque, port: arm.root, name: motor}
start: {fixed: {arm: [0, 0, 0]}}
runs:
  a: {end: 0.01, steps: 10, REST}
"""
PD = "controllers: {c: {kind: pd, port: motor, angle: arm.root, proportional: 3, period: 1 ms, reference: REF}}"
AT, ANGLE = "position of arm.tip", "{measure: angle, port: arm.root}"
WRONG = {
    "vector": ("inputs: {push: [1, 2, 3]}", r"inputs\.push: .*must have 2 entries"),
    "scalar": ("inputs: {push: 5}", r"inputs\.push: .*must have 2 entries"),
    "torque": ("inputs: {motor: [1, 2]}", r"inputs\.motor: .*must have 1 entries"),
    "formulas": ("inputs: {push: [sin(t), t, 1]}", r"inputs\.push: .*must have 2 entries"),
    "columns": ("inputs: {push: {table: in.csv, value: [a, b, c]}}", r"inputs\.push: .*must have 2 entries"),
    "several": ("inputs: {push: [{table: in.csv, value: [a, b]}, 1]}", "component 0 of a list must be one number"),
    "short": ("inputs: {motor: {table: short.csv, value: a}}", r"short\.csv covers 0 to 0\.005 s"),
    "twice": ("inputs: {motor: {table: twice.csv, value: a}}", r"inputs\.motor: twice\.csv has 2 columns 'a'"),
    "motion": ("kind: inverse_dynamics, motion: {push: [t, 0, 1]}", r"a driven position must be \(x, y\)"),
    "reference": (PD.replace("REF", "{table: in.csv, value: [a, b]}"), r"c\.reference: it must be 1 number"),
    "late": (PD.replace("REF", "{table: short.csv, value: a}"), r"controllers\.c\.reference: .*fails at t = .*the end"),
    "port": (PD.replace("REF", "0").replace("motor", "push"), "'push' has 2 components, but the controller has 1"),
    "name": (f"outputs: {{tables: {{{'a' * 300}.csv: {{x: {AT}}}}}}}", "at most 100 letters"),
    "page": (f"outputs: {{tables: {{report.html: {{x: {AT}}}}}}}", "which every run writes itself"),
    "suffix": (f"outputs: {{tables: {{a.html: {{x: {AT}}}}}}}", r"a name that ends in \.csv"),
    "scene": ("outputs: {series: scene-a.vtkhdf}", "which every run writes itself"),
    "capitals": (f"outputs: {{tables: {{a.csv: {{x: {AT}}}, A.csv: {{x: {AT}}}}}}}", "two outputs would be one file"),
    "folder": (f"outputs: {{tables: {{a.csv: {{x: {AT}}}, a.csv/b.csv: {{x: {AT}}}}}}}", "or one in the other"),
    "heading": (f"outputs: {{tables: {{a.csv: {{x: {AT}, x 1: {ANGLE}}}}}}}", "heading 'x 1' is that of column 'x'"),
    "times": ('outputs: {tables: {a.csv: {"t [s]": ANGLE}}}'.replace("ANGLE", ANGLE), "is that of the times"),
}  # fmt: skip


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "in.csv").write_text("t,a,b,c\n0,1,2,3\n1,1,2,3\n")
    (tmp_path / "short.csv").write_text("t,a\n0,1\n0.005,1\n")
    (tmp_path / "twice.csv").write_text("t,a,a\n0,1,2\n1,1,2\n")

    def load(rest):
        text = HEAD.replace("REST", rest)
        if "inverse_dynamics" in rest:
            text = text.replace("  - {kind: hinge, first: arm.root, second: {ground: [0, 0]}}\n", "")
        (tmp_path / "model.yaml").write_text(text)
        return load_model(tmp_path / "model.yaml")

    return load


@pytest.mark.parametrize("name", WRONG)
def test_what_a_run_would_refuse_is_refused_before(name, loaded):
    rest, words = WRONG[name]
    with pytest.raises(ModelError, match=words):
        loaded(rest).check()


def test_a_run_is_no_folder_that_every_run_writes(tmp_path):
    (tmp_path / "model.yaml").write_text(HEAD.replace("  a: {", "  checkpoint: {").replace("REST", "inputs: {}"))
    with pytest.raises(ModelError, match=r"model.yaml:9:3: .*which every run writes itself"):
        load_model(tmp_path / "model.yaml")


@pytest.mark.parametrize("given", ["{expression: 200*t}", "{table: ramp.csv, value: a}", "200*t"])
def test_lists_mix_formulas_tables_and_numbers(given, loaded, tmp_path):
    (tmp_path / "ramp.csv").write_text("t,a\n0,0\n1,200\n")
    runs = [loaded(f"inputs: {{push: [{push}, 1 kN]}}") for push in (given, "200*t")]
    runs[0].check()
    states, expected = (model.run("a").solution.states for model in runs)
    np.testing.assert_allclose(states, expected, rtol=1e-12, atol=1e-15)  # the table is linear: to round-off


def test_a_table_ends_where_the_run_does(loaded, tmp_path):
    """What covers the run to its end is right, also where no step ends in a row of the table."""
    (tmp_path / "just.csv").write_text("t,a\n0,1\n0.01,1\n")
    model = loaded("inputs: {motor: {table: just.csv, value: a}}")
    model.check()
    assert model.run("a").solution.times[-1] == 0.01


@pytest.mark.parametrize(
    "text",
    [
        "x: [" + ", ".join(["1"] * 160_000) + "]",
        "x:\n" + "- 1\n" * 60_000,
        "x: [" + "a," * 160_000 + "a]",
    ],
)
def test_many_values_are_refused_at_once(text):
    assert len(text) < LARGEST
    clock = time.process_time()
    with pytest.raises(ModelError, match=f"more than {MANY} values"):
        read_text(text, "model.yaml")
    assert time.process_time() - clock < 1.0  # 0.02 s; composing them takes 0.1 ms each, 16 s


def test_values_without_commas_are_counted_while_they_are_read(monkeypatch):
    monkeypatch.setattr("flexph.models.reading.tree.MANY", 50)
    for text in ("{" + "} {".join(["a"] * 2) + "}", "\n".join(f"a{k}: {{b: {{c: 1}}}}" for k in range(60))):
        with pytest.raises(ModelError):
            read_text(text, "model.yaml")
    assert json.dumps(read_text("# " + "," * 100 + "\na: 1", "model.yaml").data) == '{"a": 1}'
