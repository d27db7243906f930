"""Friction of joints and contacts with a factor of time, against its impulse in closed form."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, Event, connect, integrate, slider
from flexph.contacts import KelvinVoigt, Plane, Rigid, contact, mutual_contact
from flexph.joints import CoulombFriction, point_on_curve
from flexph.laws import coulomb, scheduled
from flexph.methods import Exact
from flexph.models import load_model, write_model
from flexph.sensors import friction_force, normal_force, sticks

FRICTION, GRAVITY, TIMES = 0.3, 9.81, np.linspace(0.0, 0.5, 101)


def factor(t):
    """Factor of the friction of a brake."""
    return 1.0 + 0.5 * np.sin(9.0 * t)


def means():
    return 0.5 * (factor(TIMES[1:]) + factor(TIMES[:-1]))


def speeds(force):
    """Speeds of 1 kg under a decelerating force of each step."""
    return 10.0 - np.cumsum(np.append(0.0, np.diff(TIMES) * force))


def on_rail(friction):
    rail = slider("block.point", GROUND.at(0.0, 0.0), turning=True, friction=friction, name="rail")
    return connect({"block": rigid.point(1.0)}, [rail], gravity=(0.0, -GRAVITY))


def on_floor(law):
    floor = contact("block.point", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    return connect({"block": rigid.point(1.0)}, [floor], gravity=(0.0, -GRAVITY))


def run_of(mechanism, height=0.0, method=None, **options):
    pose = mechanism.assemble({"block": (0.0, height, 0.0)} if height else {})
    start = mechanism.consistent_state(pose, velocities={"block": (10.0, 0.0)})
    return integrate(mechanism, start, TIMES, method=method or Exact(), **options)


def test_dry_friction_of_a_joint():
    run = run_of(on_rail(CoulombFriction(FRICTION, factor=factor)))
    np.testing.assert_allclose(run["block.velocity"][:, 0], speeds(FRICTION * GRAVITY * means()), rtol=0, atol=1e-12)
    assert run.ledger.largest_residual < 1e-14


def test_a_relation_of_a_joint():
    run = run_of(on_rail(scheduled(coulomb(2.0, speed=1e-3), factor)))
    np.testing.assert_allclose(run["block.velocity"][:, 0], speeds(2.0 * means()), rtol=0, atol=1e-6)
    assert run.ledger.largest_residual < 1e-14


@pytest.mark.parametrize("slip", [None, 1e-3])
def test_friction_of_a_contact(slip):
    law = KelvinVoigt(1e5, friction=FRICTION, slip_velocity=slip, friction_factor=factor)
    run = run_of(on_floor(law), -GRAVITY / 1e5)
    np.testing.assert_allclose(run["block.velocity"][:, 0], speeds(FRICTION * GRAVITY * means()), rtol=0, atol=1e-7)
    assert run.ledger.largest_residual < 1e-14
    assert run.measured(friction_force("floor"))[2:-1].min() > 0.4 * FRICTION * GRAVITY


def test_friction_of_many_balls():
    law = KelvinVoigt(1e5, friction=FRICTION, friction_factor=lambda t: 0.0 * t)
    balls = {name: rigid.body(1.0, inertia=0.01, ports={"c": (0.0, 0.0)}) for name in "abc"}
    from flexph.contacts import Sphere

    group = mutual_contact([Sphere(f"{name}.c", 0.1) for name in balls], law, name="group")
    mechanism = connect(balls, [group])
    start = mechanism.consistent_state(
        mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (0.25, 0.05, 0.0), "c": (0.5, 0.0, 0.0)}),
        velocities={"a": (1.0, 0.0, 5.0), "c": (-1.0, 0.0, 0.0)},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 101))
    assert run.ledger.impulses["group: normal"].sum() > 0.0
    np.testing.assert_allclose(run["a.spin"], 5.0, rtol=1e-12)  # a factor of zero: smooth balls


def test_files_have_the_factor(tmp_path):
    mechanism = on_rail(CoulombFriction(FRICTION, factor=factor))
    write_model(tmp_path / "model.yaml", mechanism)
    text = (tmp_path / "model.yaml").read_text()
    assert "factor" in text
    file = tmp_path / "formula.yaml"
    lines = [line for line in text.splitlines() if "function" not in line and "factor" not in line]
    file.write_text("\n".join(lines).replace("coefficient: 0.3", "coefficient: 0.3\n    factor: 1 + 0.5*sin(9*t)"))
    run, other = run_of(mechanism), run_of(load_model(file).mechanism)
    np.testing.assert_allclose(other.states, run.states, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run_of(on_rail(CoulombFriction(FRICTION, factor=lambda t: -1.0))), "factor of its friction at t = "),
        (lambda: run_of(on_floor(KelvinVoigt(1e5, friction=0.1, friction_factor=lambda t: "x"))), "of its friction"),
        (
            lambda: on_floor(KelvinVoigt(1e5, friction=0.1, friction_factor=factor)).equilibrium(
                on_floor(KelvinVoigt(1e5, friction=0.1, friction_factor=factor)).assemble()
            ),
            "no friction with a factor of time, and 'floor'",
        ),
        (lambda: run_of(on_rail(CoulombFriction(0.1, factor=factor))).measured(sticks("rail")), "changes with time"),
        (
            lambda: point_on_curve(
                "a.b", ["c.d", "c.e"], friction=scheduled(coulomb(1.0, speed=0.1), factor)
            ),
            "friction must be",
        ),
    ],
)  # fmt: skip
def test_bad_input_and_what_does_not_take_it(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rigid_contacts_beside_scheduled_friction_need_events():
    floor = contact("block.point", Plane(GROUND.at(0.0, -1.0), (0.0, 1.0)), Rigid())
    mechanism = connect({"block": rigid.point(1.0)}, [
        slider("block.point", GROUND.at(0.0, 0.0), turning=True, friction=CoulombFriction(0.1, factor=factor)), floor,
    ])  # fmt: skip
    start = mechanism.consistent_state(mechanism.assemble())
    with pytest.raises(ValueError, match="contact='events'"):
        integrate(mechanism, start, [0.0, 0.01], method=Exact(contact="steps"))


def test_the_friction_of_an_anchor_is_read_with_its_factor():
    """A sliding anchor holds a(t) μN; at a state this bound is not known, the force of the normal is."""
    law = KelvinVoigt(1e6, damping=2e3, friction=FRICTION, friction_factor=lambda t: 2.0)
    run = run_of(on_floor(law), -GRAVITY / 1e6)
    np.testing.assert_allclose(run.measured(friction_force("floor")), 2.0 * FRICTION * GRAVITY, rtol=1e-6)
    normal, friction = normal_force("floor"), friction_force("floor")
    held = Event(lambda t, x: x.measured(normal) - GRAVITY - 1.0)
    run_of(on_floor(law), -GRAVITY / 1e6, events={"never": held})
    with pytest.raises(ValueError, match="a friction of time"):
        run_of(on_floor(law), -GRAVITY / 1e6, events={"never": Event(lambda t, x: x.measured(friction) - 1e3)})
