"""Points on curves and wheels that slip in compiled loops: the steps of NumPy."""

import math
from functools import partial

import numpy as np
import pytest
from sliding_samples import bead, cart

import rigid
from flexph import GROUND, connect, hinge, integrate, slider
from flexph.contacts import Plane, Rigid, contact
from flexph.integration.choice import LOOPS
from flexph.joints import CoulombFriction, point_on_curve, slipping_wheel
from flexph.methods import Decaying, Exact, Exact4
from flexph.sensors import place_on_curve
from flexph.systems import coulomb, resistive, viscous
from flexph.systems.resistive_relations import PROBES

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


OPTIONS = {"free": {}, "friction": {"friction": LAW}, "motor": {"motor": True, "name": "bead"}}
MADE = {f"{name} {dim}": partial(bead, dim, **options) for dim in (2, 3) for name, options in OPTIONS.items()}
MADE |= {f"driven {dim}": partial(driven, dim) for dim in (2, 3)}
MADE |= {"wheel": partial(cart, None, LAW), "roller": partial(cart, math.pi / 4.0, LAW)}


def agree(mechanism, start, times, method=Exact, *, states=1e-9, **options):
    """The run by loops, which is that by NumPy to round-off, with the same accounts and iterations."""
    fast = integrate(mechanism, start, times, method=method(compiled=True), **options)
    slow = integrate(mechanism, start, times, method=method(compiled=False), **options)
    assert fast.steps_by == LOOPS
    np.testing.assert_allclose(fast.states, slow.states, rtol=0, atol=states * np.abs(slow.states).max())
    lam = slow.stage_multipliers
    np.testing.assert_allclose(
        fast.stage_multipliers, lam, rtol=0, atol=10.0 * states * (1.0 + np.abs(lam).max(initial=0))
    )
    for kind in ("energy", "work", "dissipation"):
        for name, values in getattr(slow.ledger, kind).items():
            own = getattr(fast.ledger, kind)[name]
            np.testing.assert_allclose(own, values, rtol=0, atol=states * slow.ledger.scale, err_msg=name)
    assert fast.ledger.largest_residual < 1e-12
    return fast, slow


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("h", [0.004, 0.02])
def test_steps_are_those_of_numpy(name, h):
    """Over a knot of the curve, and with as many iterations, so that their Jacobians are the same."""
    mechanism, start = MADE[name]()
    pushes = {"bead": lambda t: -2.0 - t} if "motor" in name else {}
    fast, slow = agree(mechanism, start, h * np.arange(7), inputs=pushes)
    assert abs(fast.ledger.iterations.sum() - slow.ledger.iterations.sum()) <= 2  # at the level of round-off


@pytest.mark.parametrize("name", ["friction 2", "driven 3", "wheel"])
@pytest.mark.parametrize("method", [partial(Decaying, 0.5), partial(Exact, tolerance=1e-3), Exact4])
def test_other_methods_too(name, method):
    mechanism, start = MADE["free 2" if name == "friction 2" and method is Exact4 else name]()
    if name == "wheel" and method is Exact4:
        with pytest.raises(ValueError, match="dissipat"):
            integrate(mechanism, start, (0.0, 0.1), method=method())
        return
    agree(mechanism, start, 0.01 * np.arange(5), method, states=1e-8)


def test_constraints_that_two_curves_share_are_taken_by_least_norm():
    """Two curves along the same line hold a bead with half of the force each."""
    rails = {"one": ["bar.root", "bar.middle", "bar.tip"], "other": ["bar.root", "bar.tip"]}
    joints = [hinge("bar.root", GROUND), *(point_on_curve("bead.point", rails[name], name=name) for name in rails)]
    mechanism = connect({"bar": rigid.bar(1.0, 2.0), "bead": rigid.point(0.5)}, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble({"bar": (0.0, 0.0, -0.3)}, guess={"bead": (0.4, -0.12, 0.0)})
    start = mechanism.consistent_state(pose)
    fast, _ = agree(mechanism, start, 0.01 * np.arange(9), partial(Exact, redundant="least_norm"))
    np.testing.assert_allclose(*fast.stage_multipliers[:, -2:].T, rtol=1e-9)


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
    fast, _ = agree(*bowl(dim), 0.04 * np.arange(61))
    taken = sum(fast.ledger.dissipation.values())
    assert taken.min() >= -1e-15 and fast.ledger.complementarity_residual.max() < 1e-9
    assert abs(fast["bead.velocity"][-1]).max() < 1e-9


@pytest.mark.parametrize("contact_by", ["events", "steps"])
def test_beside_rigid_contacts(contact_by):
    fast, _ = agree(*bowl(floor=0.1), 0.01 * np.arange(41), partial(Exact, contact=contact_by))
    assert fast["ball.centre"][:, 1].min() > -1e-12


@pytest.mark.parametrize("made", [partial(bead, 2), cart])
def test_laws_of_users_are_called(made):
    """The same motion as that of the law that is known; what a function raises is said with its rate."""
    law = resistive(lambda s: 2.0 * s, lambda s: 2.0)
    runs = [
        integrate(*made(friction=friction), 0.01 * np.arange(6), method=Exact(compiled=True))
        for friction in (viscous(2.0), law)
    ]
    np.testing.assert_allclose(runs[1].states, runs[0].states, rtol=0, atol=1e-11)
    limited = resistive(lambda s: 2.0 * s if abs(s) < 0.3 or round(abs(s), 3) in PROBED else 1 / 0)
    with pytest.raises(ValueError, match=r"a resistive relation at the rate .* raised ZeroDivisionError"):
        integrate(*made(friction=limited), 0.01 * np.arange(6))


def test_many_slips_that_change_together_are_searched_for():
    """A disc that spins is set down with nearly dry friction: large steps that Newton's method alone does not solve."""
    disc = rigid.body(2.0, inertia=0.03, ports={"centre": (0.0, 0.0)})
    rail = slider("disc.centre", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True)
    grip = slipping_wheel("disc.centre", radius=0.1, friction=coulomb(4.0, speed=1e-6))
    mechanism = connect({"disc": disc}, [rail, grip])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": (0.0, 0.0, -30.0)})
    agree(mechanism, start, 0.05 * np.arange(31))
