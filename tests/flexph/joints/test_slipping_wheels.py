"""Wheels that slip: dry friction in closed form, what the step keeps, and bad input."""

import math

import numpy as np
import pytest
from sliding_samples import RADIUS, Z, cart

import rigid
from flexph import GROUND, connect, integrate, slider
from flexph.joints import slipping_wheel
from flexph.laws import coulomb, viscous
from flexph.methods import ExactGauss

MASS, INERTIA, LOAD = 2.0, 0.03, 4.0
DISC = rigid.body(MASS, inertia=INERTIA, ports={"centre": (0.0, 0.0)})


def rolling(friction):
    rail = slider("disc.centre", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True)
    return connect({"disc": DISC}, [rail, slipping_wheel("disc.centre", radius=RADIUS, friction=friction)])


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # the longer steps turn it by 1.5 rad
@pytest.mark.parametrize(("dry", "h"), [(1e-4, 0.01), (1e-6, 0.05)])
def test_a_disc_that_spins_is_set_down_and_rolls(dry, h):
    """It slips for t = ω₀r/(F/m + Fr²/J), and rolls then; what is lost is the energy that is missing.

    Newton's method alone does not solve the longer steps with friction that is nearly dry.
    """
    mechanism = rolling(coulomb(LOAD, speed=dry))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": (0.0, 0.0, -30.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 1.5, round(1.5 / h) + 1))
    slips = 30.0 * RADIUS / (LOAD / MASS + LOAD * RADIUS**2 / INERTIA)
    speed = LOAD / MASS * slips
    assert run["disc.velocity"][-1, 0] == pytest.approx(speed, rel=1e-3)  # steps see when slip ends
    lost = 0.5 * INERTIA * 30.0**2 - 0.5 * (MASS + INERTIA / RADIUS**2) * speed**2
    (taken,) = run.ledger.dissipation.values()
    assert taken.sum() == pytest.approx(lost, rel=(30.0 * h) ** 2 / 12.0)  # of the phase
    assert taken.min() >= 0.0
    assert run.ledger.largest_residual < 1e-13


@pytest.mark.parametrize("roller", [None, math.pi / 4.0])
def test_friction_takes_what_it_takes_and_no_more(roller):
    mechanism, start = cart(roller, coulomb(20.0, speed=0.1))
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 21))
    (taken,) = run.ledger.dissipation.values()
    assert run.ledger.largest_residual < 1e-13 and taken.min() >= 0.0 and taken.sum() > 0.5
    assert np.median(run.ledger.iterations) <= 5  # the tangent is exact


def test_a_mecanum_wheel_gives_way_across_its_rollers():
    """Pushed along the axis about which the roller turns it slides; across that it goes without any force."""
    friction = viscous(5.0)
    mechanism, _ = cart(math.pi / 4.0, friction)
    pose = mechanism.assemble({"cart": ((0.0, 0.0, 0.0), np.eye(3))}, guess={"wheel": (0.3, 0.1, 0.0)})
    for across, lost in ((1.0, False), (-1.0, True)):
        velocity = (1.0, -across, 0.0)
        moved = {name: (velocity, (0.0, 0.0, 0.0)) for name in mechanism.bodies}
        start = mechanism.consistent_state(pose, velocities=moved)
        run = integrate(mechanism, start, np.linspace(0.0, 0.1, 3))
        (taken,) = run.ledger.dissipation.values()
        assert (taken.sum() > 1e-2) == lost
        assert lost or taken.sum() < 1e-25


def test_the_name_of_what_is_wrong_is_told():
    with pytest.raises(ValueError, match="radius must be positive"):
        slipping_wheel("a.centre", radius=0.0, friction=viscous(1.0))
    with pytest.raises(ValueError, match="takes neither axis nor roller"):
        slipping_wheel("a.centre", radius=0.1, friction=viscous(1.0), roller=0.7).formed(2)
    with pytest.raises(ValueError, match="axis must be perpendicular to the normal"):
        slipping_wheel("a.centre", radius=0.1, friction=viscous(1.0), axis=Z).formed(3)
    mechanism = rolling(viscous(1.0))
    start = mechanism.consistent_state(mechanism.assemble())
    with pytest.raises(ValueError, match="does not support slipping wheels"):
        integrate(mechanism, start, [0.0, 0.1], method=ExactGauss())
