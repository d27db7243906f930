"""Points on curves and wheels that slip: all methods, curves that share a force, dry friction, laws of users."""

import math
from functools import partial

import numpy as np
import pytest
from sliding_samples import bead, cart

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.contacts import Plane, Rigid, contact
from flexph.joints import CoulombFriction, point_on_curve
from flexph.laws import coulomb, resistive, viscous
from flexph.laws.resistive_relations import PROBES
from flexph.methods import Decaying, Exact, Exact4
from flexph.sensors import place_on_curve

pytestmark = [
    pytest.mark.filterwarnings("ignore:the velocities given contradict"),  # the nearest that fit are meant
    pytest.mark.filterwarnings("ignore::flexph.ValidityWarning"),
]
LAW = coulomb(3.0, speed=0.2, static=4.0, viscous=0.5)
GRAVITY = 9.81
PROBED = set(np.abs(PROBES).round(3).tolist())


def driven(dim):
    """A bead whose place on the beam is prescribed."""
    free, start = bead(dim, motor=True, name="bead")
    first = float(place_on_curve("bead").of_state(free)(start.x))
    return bead(dim, place=lambda t: first + 5.0 * t + 0.1 * math.sin(30.0 * t), name="bead")


MADE = {"friction 2": partial(bead, 2, friction=LAW), "driven 3": partial(driven, 3), "wheel": partial(cart, None, LAW)}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("method", [Exact(), Decaying(0.5), Exact(tolerance=1e-3), Exact4()])
def test_all_methods_take_them(name, method):
    mechanism, start = MADE[name]()
    times = 0.01 * np.arange(5)
    if name != "driven 3" and method == Exact4():
        with pytest.raises(ValueError, match="dissipat"):
            integrate(mechanism, start, times, method=method)
        return
    run = integrate(mechanism, start, times, method=method)
    assert run.ledger.largest_residual < 1e-12
    assert all(lost.min() >= 0.0 for lost in run.ledger.dissipation.values())
    body, short = ("wheel" if name == "wheel" else "bead"), integrate(mechanism, start, np.linspace(0.0, 0.04, 41))
    np.testing.assert_allclose(run[f"{body}.centre"][-1], short[f"{body}.centre"][-1], rtol=0, atol=1e-4)


def test_constraints_that_two_curves_share_are_taken_by_least_norm():
    """Two curves along the same line hold a bead with half of the force each."""
    rails = {"one": ["bar.root", "bar.middle", "bar.tip"], "other": ["bar.root", "bar.tip"]}
    joints = [hinge("bar.root", GROUND), *(point_on_curve("bead.point", rails[name], name=name) for name in rails)]
    mechanism = connect({"bar": rigid.bar(1.0, 2.0), "bead": rigid.point(0.5)}, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble({"bar": (0.0, 0.0, -0.3)}, guess={"bead": (0.4, -0.12, 0.0)})
    start = mechanism.consistent_state(pose)
    run = integrate(mechanism, start, 0.01 * np.arange(9), method=Exact(redundant="least_norm"))
    np.testing.assert_allclose(*run.stage_multipliers[:, -2:].T, rtol=1e-9)
    assert run.ledger.largest_residual < 1e-12


def bowl(dim=2, *, floor=None):
    """A bead on a parabola with friction under the force across it, above a floor or without one."""
    places = [GROUND.at(*(x, 0.3 * x * x, 0.0)[:dim]) for x in np.linspace(-1.0, 1.0, 5)]
    wire = point_on_curve("bead.point", places, degree=2, friction=CoulombFriction(0.2))
    down = (0.0, -GRAVITY, 0.0)[:dim]
    bodies, joints = {"bead": rigid.point(1.0, dim)}, [wire]
    if floor is not None:
        bodies["ball"] = rigid.point(1.0, dim)
        joints.append(
            contact(
                "ball.point", Plane(GROUND.at(*(0.0, 0.0, 0.0)[:dim]), (0.0, 1.0, 0.0)[:dim]), Rigid(restitution=0.5)
            )
        )
    mechanism = connect(bodies, joints, gravity=down)
    guess = {"bead": (0.6, 0.1, 0.0), "ball": (0.0, floor or 0.0, 0.0)}
    pose = mechanism.assemble(guess={name: guess[name] for name in bodies})
    return mechanism, mechanism.consistent_state(pose, velocities={"bead": (0.3, 0.0, 0.0)[:dim]})


@pytest.mark.parametrize("dim", [2, 3])
def test_dry_friction_along_a_curve(dim):
    """It slides, turns round, and stays where friction holds it; what settles at turns has their balance."""
    run = integrate(*bowl(dim), 0.04 * np.arange(61))
    taken = sum(run.ledger.dissipation.values())
    assert taken.min() >= -1e-15 and run.ledger.complementarity_residual.max() < 1e-9
    assert run.ledger.largest_residual < 1e-12
    assert abs(run["bead.velocity"][-1]).max() < 1e-9
    assert abs(0.6 * run["bead.centre"][-1, 0]) <= 0.2  # |y'| ≤ μ


@pytest.mark.parametrize("contact_by", ["events", "steps"])
def test_a_bead_slides_as_alone_while_a_ball_bounces(contact_by):
    """The ball falls 0.1 m and comes back with half of its speed; the bead moves as it does alone."""
    run = integrate(*bowl(floor=0.1), 0.01 * np.arange(41), method=Exact(contact=contact_by))
    alone = integrate(*bowl(), 0.01 * np.arange(41))
    height = run["ball.centre"][:, 1]
    assert height.min() > -1e-12
    assert height[20:].max() == pytest.approx(0.5**2 * 0.1, rel=0.01 if contact_by == "events" else 0.15)
    np.testing.assert_allclose(run["bead.centre"], alone["bead.centre"], rtol=0, atol=1e-6)  # of split steps
    assert run.ledger.largest_residual < 1e-12 and run.ledger.complementarity_residual.max() < 1e-9


@pytest.mark.parametrize("made", [partial(bead, 2), cart])
def test_laws_of_users_are_called(made):
    """The same motion as that of the law that is known; what a function raises is said with its rate and the step."""
    law = resistive(lambda s: 2.0 * s, lambda s: 2.0)
    runs = [integrate(*made(friction=friction), 0.01 * np.arange(6)) for friction in (viscous(2.0), law)]
    np.testing.assert_allclose(runs[1].states, runs[0].states, rtol=0, atol=1e-11)
    limited = resistive(lambda s: 2.0 * s if abs(s) < 0.3 or round(abs(s), 3) in PROBED else 1 / 0)
    with pytest.raises(ValueError, match=r"between t = 0 s.*0.01 s: <lambda>\(.*\) raised ZeroDivisionError"):
        integrate(*made(friction=limited), 0.01 * np.arange(6))
