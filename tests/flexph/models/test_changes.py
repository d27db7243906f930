"""Locks and releases in model files."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.changes import lock, release
from flexph.models import ModelError, load_model
from flexph.sensors import joint_angle

FILE = """
flexph: 1
bodies:
  arm: {kind: bar, length: 1 m, mass: 2 kg}
  fore: {kind: bar, length: 0.6 m, mass: 1 kg}
connections:
  - {kind: hinge, first: arm.root, second: {ground: [0, 0]}}
  - {kind: hinge, first: fore.root, second: arm.tip, name: elbow}
runs:
  unfold:
    end: 1 s
    steps: 40
    start: {guess: {arm: 0, fore: [1, 0, 1.5]}, velocities: {arm: 0.5, fore: [0, 0.5, -2]}}
    changes:
      CHANGES
    outputs: {measures: {force: {of: reaction of lock elbow, take: max_abs}}}
"""
CHANGES = """
      - {lock: elbow, when: {measure: angle, port: fore.root, second: arm.tip}, reaches: 20 deg}
      - {release: elbow, at: 900 ms}
"""


def written(folder, changes):
    """A model file with these changes."""
    path = folder / "model.yaml"
    path.write_text(FILE.replace("CHANGES", changes.strip()))
    return path


def test_a_file_says_what_python_says(tmp_path):
    run = load_model(written(tmp_path, CHANGES)).run("unfold").solution
    bars = {"arm": rigid.bar(1.0, 2.0), "fore": rigid.bar(0.6, 1.0)}
    mechanism = connect(bars, [hinge("arm.root", GROUND.at(0.0, 0.0)), hinge("fore.root", "arm.tip", name="elbow")])
    pose = mechanism.assemble(guess={"arm": 0.0, "fore": (1.0, 0.0, 1.5)})
    start = mechanism.consistent_state(pose, velocities={"arm": 0.5, "fore": (0.0, 0.5, -2.0)})
    latch = lock("elbow", when=joint_angle("fore.root", "arm.tip"), reaches=np.radians(20.0))
    twin = integrate(mechanism, start, np.linspace(0.0, 1.0, 41), changes=[latch, release("elbow", at=0.9)])
    assert twin.events["lock elbow"].times.size == 1
    np.testing.assert_array_equal(run.states, twin.states)
    assert run.energy_drift() < 1e-12


def test_a_file_may_have_a_joint_that_begins_to_hold(tmp_path):
    dock = """- lock: {kind: hinge, first: fore.tip, second: ground, name: clamp}
        at: 0.5"""
    model = load_model(written(tmp_path, dock).resolve())
    with pytest.raises(ModelError, match="lock elbow"):
        model.check()
    path = written(tmp_path, dock)
    path.write_text(path.read_text().replace("reaction of lock elbow", "reaction of clamp"))
    model = load_model(path)
    model.check()
    run = model.run("unfold").solution
    assert run.final_mechanism.connections[-1].name == "clamp"
    assert run.ledger.dissipation["lock clamp"].sum() > 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("- {lock: elbo, at: 0.5}", "no joint 'elbo'"),
        ("- {lock: elbow}", "needs either at=, a time"),
        ("- {at: 0.5}", "write either lock, a joint, or release"),
        ("- {lock: elbow, at: 2 s}", "outside of the run"),
        ("- {lock: elbow, at: 2 m}", "length"),
        ("- {lock: elbow, when: {measure: angle, port: fore.root}}", "reaches= must be given if when= is a sensor"),
        ("- {lock: elbow, when: {measure: angle, port: fore.root}, reaches: 2 m}", "which measures a length: write an"),
        ("- {lock: elbow, when: {measure: rate, port: fore.root}, reaches: 2 deg}", "an angular velocity"),
    ],
)
def test_a_check_finds_bad_changes(tmp_path, changes, message):
    path = written(tmp_path, changes)
    path.write_text(path.read_text().partition("    outputs:")[0])
    with pytest.raises(ModelError, match=message):
        load_model(path).check()
