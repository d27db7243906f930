"""How well rigid contacts meet their laws: what the measure tells, and that the balance does not depend on it."""

import numpy as np
import pytest
from contact_runs import sound
from uncompiled import uncompiled

import rigid
from flexph import GROUND, connect, integrate, spherical
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.integration.loops import stepper
from flexph.methods import Exact
from flexph.results.unfinished import IntegrationError


def block(*, metre=1.0, second=1.0, kilogram=1.0, at=0.3, turned=0.02, restitution=0.3):
    """A block that falls on its corners, in units of which a metre, a second and a kilogram have so many."""
    corners = {f"c{i}": (0.1 * metre * x, 0.05 * metre * y) for i, (x, y) in enumerate(((-1, -1), (1, -1), (1, 1)))}
    body = rigid.body(kilogram, inertia=0.01 * kilogram * metre**2, ports=corners)
    law, plane = Rigid(friction=0.3, restitution=restitution), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    floor = contact([f"block.{c}" for c in corners], plane, law, name="floor")
    mechanism = connect({"block": body}, [floor], gravity=(0.0, -9.81 * metre / second**2))
    return mechanism, mechanism.consistent_state(
        mechanism.assemble(guess={"block": (at * metre, 0.0522 * metre, turned)})
    )


@pytest.mark.processor
@pytest.mark.parametrize("way", ["steps", "events"])
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4, 1e-5])
def test_what_rests_meets_its_laws_to_round_off_of_its_positions(way, step):
    """Far from the origin, too, where an ulp over a short step is more than 1e-12 of what gravity gives in it."""
    for at in (0.3, 30.0):
        mechanism, start = block(at=at, restitution=0.0, turned=0.0)
        run = integrate(mechanism, start, step * np.arange(40), method=Exact(contact=way))
        assert run.ledger.complementarity_residual.max() <= 1e-12
        assert np.abs(run.ledger.residual).max() <= 1e-14 * run.ledger.scale


def missing(monkeypatch, share):
    """Let the impulses of each iteration of a step be off by a share, in loops that run by Python."""
    entries, rng = uncompiled("flexph.integration.loops.entries"), np.random.default_rng(3)
    closing = (
        entries.run_strikes.__globals__["close_all_marked"]
        .__globals__["solve_part"]
        .__globals__["solve_closing"]
        .__globals__
    )
    solve = closing["solve_pressed"]

    def off(m, s, island, *given):
        defect = solve(m, s, island, *given)
        for k in range(island.contacts):
            s.law.x[k] *= 1.0 + share * rng.uniform(0.5, 1.0)
        return defect

    closing["solve_pressed"] = off
    monkeypatch.setattr(stepper, "run", entries.run)
    monkeypatch.setattr(stepper, "settle", entries.settle)


@pytest.mark.processor
def test_what_impulses_miss_of_their_laws_the_balance_does_not(monkeypatch):
    """Velocities follow from impulses to round-off, and the measure tells what is missed."""
    missing(monkeypatch, 1e-8)
    mechanism, start = block()
    run = integrate(mechanism, start, 1e-3 * np.arange(20), method=Exact(contact="steps"))
    assert 1e-12 < run.ledger.complementarity_residual.max() <= 1e-11
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale


def test_impulses_that_miss_their_laws_are_not_taken(monkeypatch):
    missing(monkeypatch, 1e-5)
    mechanism, start = block()
    with pytest.raises(IntegrationError, match=r"could not be solved: .* of 'floor'"):
        integrate(mechanism, start, 1e-3 * np.arange(20), method=Exact(contact="steps"))


@pytest.mark.parametrize("way", ["steps", "events"])
def test_motion_and_measure_are_the_same_in_all_units(way):
    """To the bit, of units that differ by powers of two."""
    runs = []
    for metre, second, kilogram in ((1.0, 1.0, 1.0), (1024.0, 0.125, 8.0), (2.0**-6, 256.0, 2.0**-10)):
        mechanism, start = block(metre=metre, second=second, kilogram=kilogram)
        run = integrate(mechanism, start, second * 2.0**-10 * np.arange(100), method=Exact(contact=way))
        ledger, joule = run.ledger, kilogram * (metre / second) ** 2
        lost = sum(ledger.dissipation.values()) / joule
        places = run["block.centre"] / metre, run.rotations("block"), run["block.velocity"] * second / metre
        runs.append((*places, ledger.complementarity_residual, lost))
    for other in runs[1:]:
        for own, values in zip(runs[0], other, strict=True):
            np.testing.assert_array_equal(own, values)
    assert runs[0][3].max() > 0.0 and runs[0][4].max() > 1e-3


@pytest.mark.parametrize("way", ["steps", "events"])
def test_a_ball_that_wedges_between_a_joint_and_a_plane_is_not_pressed_without_bound(way):
    """What it sticks by is nearly redundant to the joint: a linearised law has impulses there that round-off finds."""
    ball = rigid.body(1.2, inertia=(0.011, 0.013, 0.012), ports={"centre": (0.0, 0.0, 0.0), "side": (0.25, 0.0, 0.0)})
    slope = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.3, 1.0))
    touch = contact(Sphere("ball.centre", 0.1), slope, Rigid(friction=0.8), name="slope")
    joint = spherical("ball.side", GROUND.at(0.25, 0.0, 0.3))
    mechanism = connect({"ball": ball}, [joint, touch], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.0, 0.3)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.4, 81), method=Exact(contact=way))
    assert run.contact("slope").touches[-1].all()
    assert run.contact("slope").normal[-20:].max() < 10.0 * 1.2 * 9.81
    assert np.abs(run.ledger.residual).max() <= 1e-13 * run.ledger.scale
    sound(run)
