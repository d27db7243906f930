"""Friction of compliant contacts by an anchor: it holds, slips, and its energy is in the ledger."""

import math
from dataclasses import replace

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Hertz, KelvinVoigt, Plane, contact

GRAVITY, FRICTION, STIFFNESS = 9.81, 0.3, 1e5


def on_slope(tangent, speed, law):
    """A point on a slope, x down along it, as deep in it as its weight presses it."""
    slope = math.atan(tangent * FRICTION)
    block = rigid.body(1.0, inertia=0.01, ports={"centre": (0.0, 0.0)})
    touch = contact("block.centre", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="ground")
    pull = np.array([math.sin(slope), -math.cos(slope)]) * GRAVITY
    mechanism = connect({"block": block}, [touch], gravity=tuple(pull))
    pose = mechanism.assemble(guess={"block": (0.0, pull[1] / STIFFNESS, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"block": (speed, 0.0, 0.0)}), pull


def balance(solution):
    return np.abs(solution.ledger.residual).max() / solution.ledger.scale


def test_it_holds_below_the_angle_of_friction_without_creep():
    mechanism, start, pull = on_slope(1.0 - 1e-9, 0.0, KelvinVoigt(STIFFNESS, friction=FRICTION))
    x = start.x.copy()
    x[mechanism.layout.parts["ground: anchor 1 x"]] = pull[0]
    solution = integrate(mechanism, replace(start, x=x), np.linspace(0.0, 1.0, 31))
    assert np.abs(solution["block.centre"][:, 0]).max() < 1e-17
    assert np.abs(solution.ledger.dissipation["ground"]).max() < 1e-19


def test_it_swings_about_where_it_holds_and_takes_nothing():
    mechanism, start, pull = on_slope(0.4, 0.0, KelvinVoigt(STIFFNESS, friction=FRICTION))
    solution = integrate(mechanism, start, np.linspace(0.0, 0.1, 51))
    way = solution["block.centre"][:, 0]
    assert way.min() > -1e-15 and way.max() == pytest.approx(2.0 * pull[0] / STIFFNESS, rel=0.02)  # of 51 samples
    assert np.abs(solution.ledger.dissipation["ground"]).max() < 1e-17
    assert balance(solution) < 1e-14


def test_it_slides_by_the_closed_form_and_stays():
    law = KelvinVoigt(STIFFNESS, friction=FRICTION)
    mechanism, start, pull = on_slope(0.5, 0.5, law)
    solution = integrate(mechanism, start, np.linspace(0.0, 0.45, 61))
    expected = 0.5 * 0.5**2 / (-FRICTION * pull[1] - pull[0])
    # the anchor is stretched first, and in the end swings: by μN/k and less
    assert solution["block.centre"][-1, 0] == pytest.approx(expected, abs=2.0 * FRICTION * GRAVITY / law.holding + 2e-4)
    lost = solution.ledger.dissipation["ground"]
    assert lost.min() > -1e-15 and lost.sum() == pytest.approx(0.125 + pull[0] * expected, rel=2e-3)
    assert balance(solution) < 1e-14


def test_the_energy_of_the_anchor_is_taken_where_the_contact_opens():
    mechanism, start, _ = on_slope(0.0, 0.0, KelvinVoigt(STIFFNESS, friction=FRICTION))
    x = start.x.copy()
    x[mechanism.layout.parts["ground: anchor 1 x"]] = 2.0
    x[mechanism.layout.parts["block.velocity"]] = [0.0, 1.0]  # away
    solution = integrate(mechanism, replace(start, x=x), np.linspace(0.0, 2e-3, 3))
    assert solution.ledger.kind("stored")[-1] == 0.0
    assert solution.ledger.dissipation["ground"].sum() == pytest.approx(0.5 * 2.0**2 / STIFFNESS, rel=0.05)
    assert balance(solution) < 1e-14


def test_friction_holds_or_is_smooth():
    with pytest.raises(ValueError, match="give only one of them"):
        Hertz(1e7, friction=0.3, tangential_stiffness=1e5, slip_velocity=1e-3)
    assert Hertz(1e6, friction=0.3).holding == pytest.approx(1.5e4)
    assert KelvinVoigt(1e6, friction=0.3, slip_velocity=1e-3).holding == KelvinVoigt(1e6).holding == 0.0
