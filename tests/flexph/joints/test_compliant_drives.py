"""Drives by a law: their force, the work of their motion, files, and what they refuse."""

import math

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, drive, hinge, integrate, slider, spring_damper, torsion_spring
from flexph.laws import backlash, polynomial
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.models import load_model, to_model
from flexph.sensors import joint_angle

TIMES = np.linspace(0.0, 2.0, 101)
FILE = """
flexph: 1
bodies:
  arm: {kind: bar, length: 1 m, mass: 2 kg}
connections:
  - {kind: hinge, first: arm.root, second: {ground: [0, 0]}}
  - kind: drive
    port: arm.root
    angle: 2*t
    law: {kind: backlash, stiffness: 50, play: 0.1}
    damping: 0.3
    name: servo
runs:
  turn: {end: 1 s, steps: 20}
"""


def arm(*more):
    mechanism = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND, name="pivot"), *more])
    return mechanism, mechanism.consistent_state(mechanism.assemble({"arm": 0.0}))


def turning(t):
    return 0.5 * t + 0.2 * math.sin(3.0 * t)


@pytest.mark.parametrize("method", [Exact(), Decaying(radius=0.5), Exact4()], ids=str)
def test_a_drive_by_a_law_is_a_spring_whose_zero_moves(method):
    damping = 0.0 if isinstance(method, Exact4) else 0.4
    pull = {"law": polynomial(20.0, 0.0, 5.0), "damping": damping, "angle": turning, "name": "servo"}
    runs = [
        integrate(*arm(own), TIMES, method=method)
        for own in (drive("arm.root", **pull), torsion_spring("arm.root", GROUND, **pull))
    ]
    np.testing.assert_array_equal(runs[0].states, runs[1].states)
    ledger = runs[0].ledger
    assert ledger.largest_residual < 1e-13 and ledger.work["servo"].sum() > 0.1
    if damping:
        assert ledger.dissipation["servo"].min() >= 0.0


def test_a_driven_displacement_follows_by_its_law():
    """x₀ = ½at² is followed with x − x₀ = −(a/ω²)(1 − cos ωt)."""
    cart = rigid.body(2.0, inertia=0.1, ports={"hub": (0.0, 0.0)})
    a, k = 0.6, 50.0
    pull = drive(
        "cart.hub", displacement=lambda t: 0.5 * a * t**2, direction=(1.0, 0.0), law=polynomial(k), name="actuator"
    )
    spring = spring_damper(
        "cart.hub", GROUND.at(0.0, 0.0), law=polynomial(k), direction=(1.0, 0.0), length=lambda t: 0.5 * a * t**2
    )
    ends = []
    for own, steps in ((pull, 200), (pull, 400), (spring, 400)):
        mechanism = connect({"cart": cart}, [slider("cart.hub", GROUND.at(0.0, 0.0)), own])
        start = mechanism.consistent_state(mechanism.assemble({"cart": (0.0, 0.0, 0.0)}))
        ends.append(integrate(mechanism, start, np.linspace(0.0, 2.0, steps + 1))["cart.centre"][-1, 0])
    expected = 0.5 * a * 4.0 - a / 25.0 * (1.0 - math.cos(10.0))
    errors = np.abs(np.array(ends) - expected)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert ends[1] == ends[2]


def test_play_of_a_servo_lags_by_half_of_it():
    """Turned slowly against a brake the angle is behind by half the play and by the torque over the stiffness."""
    servo = drive("arm.root", angle=lambda t: 0.2 * t, law=backlash(400.0, play=0.1), damping=40.0, name="servo")
    brake = torsion_spring("arm.root", GROUND, damping=10.0, name="brake")
    run = integrate(*arm(servo, brake), np.linspace(0.0, 10.0, 501))
    behind = 0.2 * run.times[-1] - run.measured(joint_angle("arm.root"))[-1]
    assert behind == pytest.approx(0.05 + 0.2 * 10.0 / 400.0, abs=1e-4)


def test_a_file_has_a_drive_by_a_law(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(FILE)
    model = load_model(path)
    model.check()
    run = model.run("turn").solution
    twin = integrate(
        *arm(drive("arm.root", angle=lambda t: 2.0 * t, law=backlash(50.0, play=0.1), damping=0.3, name="servo")),
        np.linspace(0.0, 1.0, 21),
    )
    np.testing.assert_allclose(run["arm.rotation"], twin["arm.rotation"], atol=1e-14)
    assert to_model(model.mechanism)["connections"][1]["law"]["kind"] == "backlash"


def test_what_is_no_compliant_drive_is_refused():
    law = polynomial(1.0)
    for given, message in (
        ({"angle": turning, "damping": 0.3}, "damping= needs law="),
        ({"position": lambda t: (t, 0.0), "law": law}, "law= needs angle= or displacement="),
        ({"angle": turning, "law": 3.0}, "law must be"),
        ({"angle": turning, "law": law, "damping": -1.0}, "damping"),
    ):
        with pytest.raises(ValueError, match=message):
            drive("arm.root", **given)


def test_collocation_takes_a_compliant_drive():
    """The balance at any step, and the same motion as that of fine steps."""
    made = arm(drive("arm.root", angle=turning, law=polynomial(50.0, 0.0, 30.0), damping=0.3, name="servo"))
    run = integrate(*made, np.linspace(0.0, 1.0, 21), method=ExactGauss())
    fine = integrate(*made, np.linspace(0.0, 1.0, 2001))
    assert run.ledger.largest_residual < 1e-13
    np.testing.assert_allclose(run["arm.rotation"][-1], fine["arm.rotation"][-1], atol=1e-4)
