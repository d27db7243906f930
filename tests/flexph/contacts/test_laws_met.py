"""How well rigid contacts meet their laws: what the measure tells, and that the balance does not depend on it."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, integrate, spherical
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.integration.contact import part_stepper
from flexph.integration.contact.linearised import DenseStep, SparseStep
from flexph.methods import Exact
from flexph.results.unfinished import IntegrationError


def block(*, metre=1.0, second=1.0, at=0.3, turned=0.02, restitution=0.3):
    """A block that falls on its corners, in units of which a metre and a second have so many."""
    corners = {f"c{i}": (0.1 * metre * x, 0.05 * metre * y) for i, (x, y) in enumerate(((-1, -1), (1, -1), (1, 1)))}
    body = rigid.body(1.0, inertia=0.01 * metre**2, ports=corners)
    law, plane = Rigid(friction=0.3, restitution=restitution), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    floor = contact([f"block.{c}" for c in corners], plane, law, name="floor")
    mechanism = connect({"block": body}, [floor], gravity=(0.0, -9.81 * metre / second**2))
    return mechanism, mechanism.consistent_state(
        mechanism.assemble(guess={"block": (at * metre, 0.0522 * metre, turned)})
    )


@pytest.mark.processor
@pytest.mark.parametrize("way", [{"contact": "steps"}, {"contact": "steps", "compiled": False}, {"contact": "events"}])
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4, 1e-5])
def test_what_rests_meets_its_laws_to_round_off_of_its_positions(way, step):
    """Far from the origin, too, where an ulp over a short step is more than 1e-12 of what gravity gives in it."""
    for at in (0.3, 30.0):
        mechanism, start = block(at=at, restitution=0.0, turned=0.0)
        run = integrate(mechanism, start, step * np.arange(40), method=Exact(**way))
        assert run.ledger.complementarity_residual.max() <= 1e-12
        assert np.abs(run.ledger.residual).max() <= 1e-14 * run.ledger.scale


def missing(monkeypatch, share):
    """Let the impulses of each iteration be off by a share, so that they do not settle and miss their laws."""
    for kind in (DenseStep, SparseStep):
        own, rng = kind.solved, np.random.default_rng(3)

        def solved(step, given, wanted, own=own, rng=rng):
            found = own(step, given, wanted)
            by = 1.0 + share * rng.uniform(0.5, 1.0, found.impulses.normal.size)
            return found._replace(impulses=found.impulses._replace(normal=by * found.impulses.normal))

        monkeypatch.setattr(kind, "solved", solved)


@pytest.mark.processor
@pytest.mark.parametrize("many", [0, 30])
def test_what_impulses_miss_of_their_laws_the_balance_does_not(monkeypatch, many):
    """By both kinds of matrices: velocities follow from impulses to round-off, and the measure tells what is missed."""
    monkeypatch.setattr(part_stepper, "MANY", many)
    missing(monkeypatch, 1e-8)
    mechanism, start = block()
    run = integrate(mechanism, start, 1e-3 * np.arange(60), method=Exact(contact="steps", compiled=False))
    assert 1e-11 < run.ledger.complementarity_residual.max() < 1e-9
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale


def test_the_measure_is_the_same_in_all_units(monkeypatch):
    missing(monkeypatch, 1e-10)
    told = []
    for units in ({"metre": 1.0, "second": 1.0}, {"metre": 1000.0, "second": 1.0}, {"metre": 1.0, "second": 256.0}):
        mechanism, start = block(**units)
        times = 1e-3 * units["second"] * np.arange(40)
        run = integrate(mechanism, start, times, method=Exact(contact="steps", compiled=False))
        told.append(float(run.ledger.complementarity_residual.max()))
    assert 1e-13 < max(told) < 1.5 * min(told)  # round-off changes when iterations end


def test_impulses_that_miss_their_laws_are_not_taken(monkeypatch):
    missing(monkeypatch, 1e-5)
    mechanism, start = block()
    with pytest.raises(IntegrationError, match="contacts"):
        integrate(mechanism, start, 1e-3 * np.arange(60), method=Exact(contact="steps", compiled=False))


@pytest.mark.parametrize("way", ["steps", "events"])
def test_a_ball_that_wedges_between_a_joint_and_a_plane_is_not_pressed_without_bound(way):
    """What it sticks by is nearly redundant to the joint: a linearised law has impulses there that round-off finds."""
    ball = rigid.body(1.2, inertia=(0.011, 0.013, 0.012), ports={"centre": (0.0, 0.0, 0.0), "side": (0.25, 0.0, 0.0)})
    slope = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.3, 1.0))
    touch = contact(Sphere("ball.centre", 0.1), slope, Rigid(friction=0.8), name="slope")
    joint = spherical("ball.side", GROUND.at(0.25, 0.0, 0.3))
    mechanism = connect({"ball": ball}, [joint, touch], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.0, 0.3)}))
    method = Exact(contact=way, compiled=False)
    run = integrate(mechanism, start, np.linspace(0.0, 0.4, 81), method=method)
    assert run.contact("slope").touches[-1].all()
    assert run.contact("slope").normal[-20:].max() < 10.0 * 1.2 * 9.81
    assert np.abs(run.ledger.residual).max() <= 1e-13 * run.ledger.scale
