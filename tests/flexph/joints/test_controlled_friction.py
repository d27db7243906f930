"""Friction of joints and contacts that an input or a controller sets: as a schedule, its loss, and refusals."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, Simulator, connect, hinge, integrate, slider, spring_damper
from flexph.contacts import KelvinVoigt, Plane, contact
from flexph.control import Sampled, StateFeedback
from flexph.joints import CoulombFriction
from flexph.laws import controlled, coulomb, scheduled, viscous
from flexph.methods import Decaying, Exact, Exact4
from flexph.models import load_model, to_model
from flexph.sensors import velocity

FRICTION, GRAVITY, TIMES = 0.3, 9.81, np.linspace(0.0, 0.5, 101)


def swell(t):
    return 0.5 * np.sin(9.0 * t)


def factor(t):
    return 1.0 + swell(t)


def on_rail(friction):
    rail = slider("block.point", GROUND.at(0.0, 0.0), turning=True, friction=friction, name="brake")
    return connect({"block": rigid.point(1.0)}, [rail], gravity=(0.0, -GRAVITY))


def on_floor(factor):
    law = KelvinVoigt(1e5, friction=FRICTION, friction_factor=factor)
    floor = contact("block.point", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="brake")
    return connect({"block": rigid.point(1.0)}, [floor], gravity=(0.0, -GRAVITY))


def damped(law):
    line = {"direction": (1.0, 0.0), "length": 0.0}
    damper = spring_damper("block.point", GROUND.at(0.0, 0.0), stiffness=10.0, damping=law, **line, name="brake")
    return connect({"block": rigid.point(1.0)}, [damper])


KINDS = {
    "dry friction of a joint": lambda by: on_rail(CoulombFriction(FRICTION, factor=by)),
    "relation of a joint": lambda by: on_rail(of(coulomb(2.0, speed=1e-2), by)),
    "friction of a contact": on_floor,
    "damper": lambda by: damped(of(viscous(3.0), by)),
}


def of(law, by):
    return controlled(law) if by == "input" else scheduled(law, by)


def run_of(mechanism, speed=5.0, **options):
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (speed, 0.0)})
    return integrate(mechanism, start, TIMES, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_is_a_schedule_to_the_same_bits(kind):
    given = run_of(KINDS[kind]("input"), inputs={"brake": swell})
    timed = run_of(KINDS[kind](factor))
    np.testing.assert_array_equal(given.states, timed.states)
    assert given.ledger.largest_residual < 1e-13
    assert not np.any(given.ledger.work["brake"])
    np.testing.assert_array_equal(given.ledger.total_dissipation, timed.ledger.total_dissipation)


@pytest.mark.parametrize("method", [Exact(), Decaying()], ids=str)
def test_other_methods(method):
    given = run_of(KINDS["damper"]("input"), inputs={"brake": swell}, method=method)
    np.testing.assert_array_equal(given.states, run_of(KINDS["damper"](factor), method=method).states)


@pytest.mark.parametrize("kind", KINDS)
def test_a_controller_brakes_and_its_loss_is_booked(kind):
    """Brakes that open and close by the speed: the energy falls by their loss alone."""
    pump = Sampled(
        function=lambda t, seen: {"brake": 1.0 if seen["v"][0] % 1.0 > 0.5 else -1.0},
        period=0.02,
        sensors={"v": velocity("block.point")},
    )
    run = run_of(KINDS[kind]("input"), controllers={"pump": pump})
    ledger = run.ledger
    gained = np.diff(ledger.total_energy) + ledger.total_dissipation
    assert np.abs(gained).max() < 1e-12 and ledger.total_dissipation.min() > -1e-14
    assert set(np.unique(run.controls["brake"])) <= {-1.0, 1.0}


def test_the_speed_under_a_brake_by_the_clock():
    """Dry friction μ (1 + u) m g, with u that goes to its new value over the step after a call."""
    clock = Sampled(function=lambda t, seen: {"brake": -1.0 if t < 0.24 else 0.5}, period=0.05, sensors={})
    run = run_of(on_rail(CoulombFriction(FRICTION, factor="input")), controllers={"clock": clock})
    u = np.interp(TIMES, [0.0, 0.005, 0.25, 0.255], [0.0, -1.0, -1.0, 0.5])
    force = FRICTION * GRAVITY * (1.0 + 0.5 * (u[1:] + u[:-1]))
    expected = 5.0 - np.cumsum(np.append(0.0, 0.005 * force))
    np.testing.assert_allclose(run["block.velocity"][:, 0], expected, rtol=0, atol=1e-11)


def test_two_joints_of_one_law_have_inputs_of_their_own():
    law = CoulombFriction(FRICTION, radius=0.1, factor="input")
    wheels = {name: rigid.body(2.0, inertia=0.1, ports={"c": (0.0, 0.0)}) for name in "ab"}
    joints = [hinge(f"{name}.c", GROUND.at(0.0, 0.0), friction=law, name=f"brake {name}") for name in "ab"]
    mechanism = connect(wheels, joints, gravity=(0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"a": (0.0, 0.0, 9.0), "b": (0.0, 0.0, 9.0)})
    run = integrate(mechanism, start, TIMES[:11], inputs={"brake a": -1.0, "brake b": 1.0})
    assert run["a.spin"][-1, 0] == pytest.approx(9.0, abs=1e-12)
    torque = 2.0 * FRICTION * 0.1 * 2.0 * GRAVITY
    assert run["b.spin"][-1, 0] == pytest.approx(9.0 - torque / 0.1 * TIMES[10], abs=1e-3)  # of the step of 5 ms


FILE = """
flexph: 1
gravity: [0, -9.81]
bodies:
  block: {kind: point, mass: 1 kg}
connections:
  - {kind: slider, port: block.point, rail: {ground: [0, 0]}, turning: true, friction: FRICTION, name: brake}
runs:
  slide:
    end: 0.5 s
    steps: 100
    start: {velocities: {block: [5, 0]}}
    inputs: {brake: 0.5*sin(9*t)}
"""
ENTRIES = {
    "dry friction of a joint": {"kind": "coulomb_friction", "coefficient": 0.3, "factor": "input"},
    "relation of a joint": {"kind": "controlled", "law": {"kind": "coulomb", "force": 2.0, "speed": 0.01}},
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_files_have_friction_that_an_input_sets(kind, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(FILE.replace("FRICTION", str(ENTRIES[kind])))
    model = load_model(path)
    model.check()
    expected = run_of(KINDS[kind]("input"), inputs={"brake": swell}).states
    np.testing.assert_allclose(model.run("slide").solution.states, expected, rtol=0, atol=1e-12)
    written = to_model(model.mechanism)["connections"][0]["friction"]
    assert written["kind"] == ENTRIES[kind]["kind"] and written.get("factor") == ENTRIES[kind].get("factor")


def test_what_cannot_set_a_friction_is_refused():
    mechanism = on_floor("input")
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (5.0, 0.0)})
    feedback = StateFeedback(function=lambda t, seen: {"brake": 1.0}, sensors={}, ports=("brake",))
    belt = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0), driven=True)
    law = KelvinVoigt(1e5, friction=FRICTION, friction_factor="input")
    both = {"law": controlled(3.0), "damping": controlled(viscous(1.0)), "length": 1.0}
    damper = damped(controlled(viscous(1.0)))
    begun = damper.consistent_state(damper.assemble())
    block = {"block": rigid.point(1.0)}
    for call, message in (
        (lambda: integrate(mechanism, start, TIMES, inputs={"brake": -1.5}), "'brake' must be at least -1.*friction"),
        (lambda: integrate(mechanism, start, TIMES, controllers={"f": feedback}), "friction of 'brake' is for Sampled"),
        (lambda: Simulator(mechanism, start), "friction of 'brake' is an input"),
        (lambda: integrate(damper, begun, TIMES, method=Exact4()), "Exact4"),
        (lambda: connect(block, [contact("block.point", belt, law)]), "kind 'speed' already"),
        (lambda: spring_damper("block.point", GROUND.at(0, 0), **both), "one input between them"),
        (lambda: CoulombFriction(0.3, factor="brake"), "a function or 'input'"),
        (lambda: KelvinVoigt(1e5, friction=0.3, friction_factor=2.0), "friction_factor"),
        (lambda: damper.spectrum(begun), "friction that depends on time"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
