"""Wheels, discs and balls that roll on moving bodies: closed forms, momenta, and what is refused."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, IntegrationError, connect, drive, force, integrate, revolute, slider, spherical
from flexph.joints import rolling_disc, wheel
from flexph.mechanisms.model.state import angular_momentum
from flexph.methods import Decaying, Exact, Exact4, ExactGauss

RADIUS, THICK, DISC, PLANK = 0.1, 0.02, 1.0, 2.0
BALL = 0.4 * DISC * RADIUS**2
METHODS = {"exact": Exact(), "exact 4": Exact4(), "gauss": ExactGauss(), "decaying": Decaying(radius=0.7)}


def plank(*joints, inertia=0.3):
    """A disc on a plank, seen from the side."""
    board = rigid.body(PLANK, inertia=inertia, ports={"top": (0.0, THICK)})
    disc = rigid.body(DISC, inertia=0.5 * DISC * RADIUS**2, ports={"centre": (0.0, 0.0)})
    rolls = rolling_disc("disc.centre", "plank.top", radius=RADIUS)
    return connect({"plank": board, "disc": disc}, [rolls, *joints])


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_disc_on_a_pulled_plank(method):
    """It lags: the plank moves with F/(M + m/3), the disc with a third of that."""
    guide = slider("plank.top", GROUND.at(0.0, THICK), direction=(1.0, 0.0))
    mechanism = plank(guide, force("plank.top", name="pull"))
    pose = mechanism.assemble({"plank": (0.0, 0.0, 0.0), "disc": (0.0, THICK + RADIUS, 0.0)})
    start = mechanism.consistent_state(pose)
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 11), inputs={"pull": (1.0, 0.0)}, method=method)
    far = 0.5 / (PLANK + DISC / 3.0)
    exact = 1e-12 if not isinstance(method, Decaying) else 1e-9
    assert run["plank.centre"][-1, 0] == pytest.approx(far, rel=exact)
    assert run["disc.centre"][-1, 0] == pytest.approx(far / 3.0, rel=exact)
    assert run.ledger.largest_residual < 1e-13


def thrown(turn=0.3):
    """A free plank that flies and turns, with a disc that rolls on it."""
    mechanism = plank()
    up = np.array([-math.sin(turn), math.cos(turn)])
    along, spin, rolls = np.array([up[1], -up[0]]), 1.5, 3.0
    pose = mechanism.assemble({"plank": (0.0, 0.0, turn), "disc": (*(up * (THICK + RADIUS)), turn)})
    slow = np.array([0.1, 0.2])
    # on the plank it moves by −r (ω − Ω) along the tangent
    moving = slow - spin * (THICK + RADIUS) * along - RADIUS * (rolls - spin) * along
    velocities = {"plank": (*slow, spin), "disc": (*moving, rolls)}
    return mechanism, mechanism.consistent_state(pose, velocities=velocities)


@pytest.mark.filterwarnings("error::UserWarning")  # the velocities given satisfy the constraint
@pytest.mark.parametrize("method", [Exact(), Exact4(), ExactGauss()], ids=str)
def test_a_free_plank_and_its_disc_keep_both_momenta(method):
    mechanism, start = thrown()
    run = integrate(mechanism, start, np.linspace(0.0, 1.6, 21), method=method)
    momentum = PLANK * run["plank.velocity"] + DISC * run["disc.velocity"]
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-14)
    around = np.array([angular_momentum(mechanism, x)[0] for x in run.states])
    np.testing.assert_allclose(around, around[0], rtol=1e-12)
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.position_residual.max() < 1e-13
    assert np.abs(run.ledger.total_energy / run.ledger.total_energy[0] - 1.0).max() < 1e-12


def table(*joints):
    """A ball on a horizontal table that turns about the vertical."""
    top = rigid.body(5.0, inertia=(0.2, 0.2, 0.4), ports={"axle": (0.0, 0.0, 0.0)})
    ball = rigid.body(DISC, inertia=(BALL,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    rolls = wheel("ball.centre", "table.axle", radius=RADIUS)
    return connect({"table": top, "ball": ball}, [*joints, rolls], gravity=(0.0, 0.0, -9.81))


AXLE = revolute("table.axle", GROUND.at(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
TURNING = 2.0


def on_table(mechanism, *, still=(0.0, 0.0, 0.0)):
    """A ball at (0.5, 0) that moves along y with 0.4 m/s over the ground and rolls on the turning table."""
    pose = mechanism.assemble({"table": (still, np.eye(3)), "ball": ((0.5, 0.0, RADIUS), np.eye(3))})
    over = 0.4 - TURNING * 0.5  # relative to the table; the ball turns about x by −v/r
    velocities = {"table": (still, (0.0, 0.0, TURNING)), "ball": ((0.0, 0.4, 0.0), (-over / RADIUS, 0.0, 0.0))}
    return mechanism.consistent_state(pose, velocities=velocities)


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_ball_on_a_turntable_moves_in_a_circle():
    """At 2/7 of the rate of the table, for any place and speed (Earnshaw 1844; Weltner, Am. J. Phys. 47 (1979) 984)."""
    mechanism = table(AXLE, drive("table.axle", GROUND, angle=lambda t: TURNING * t, axis=(0.0, 0.0, 1.0)))
    start, rate, errors = on_table(mechanism), 2.0 / 7.0 * TURNING, []
    for count in (100, 200):
        run = integrate(mechanism, start, np.linspace(0.0, 5.0, count + 1))
        place = run["ball.centre"][:, 0] + 1j * run["ball.centre"][:, 1]
        circle = 0.5 + 0.4 / rate * (np.exp(1j * rate * run.times) - 1.0)
        errors.append(np.abs(place - circle).max())
        assert run.ledger.largest_residual < 1e-13
        assert run.ledger.position_residual.max() < 1e-14
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert errors[1] < 2e-3


def test_a_free_turntable_and_its_ball_share_their_angular_momentum():
    mechanism = table(AXLE)
    run = integrate(mechanism, on_table(mechanism), np.linspace(0.0, 5.0, 101))
    around = np.array([angular_momentum(mechanism, x)[2] for x in run.states])
    np.testing.assert_allclose(around, around[0], rtol=1e-13)
    assert run.ledger.largest_residual < 1e-13
    assert np.ptp(run["table.spin"][:, 2]) > 0.05


def test_a_disc_that_rolls_away_on_a_plank_is_no_steady_motion():
    guide = slider("plank.top", GROUND.at(0.0, THICK), direction=(1.0, 0.0))
    mechanism = plank(guide)
    pose = mechanism.assemble({"plank": (0.0, 0.0, 0.0), "disc": (0.0, THICK + RADIUS, 0.0)})
    velocities = {"plank": (0.5, 0.0, 0.0), "disc": (1.2, 0.0, -7.0)}
    with pytest.raises(ValueError, match="roll steadily: centres of mass deviate"):
        mechanism.spectrum(mechanism.consistent_state(pose, velocities=velocities))  # the distance grows


def test_a_body_that_tilts_ends_the_run_and_is_refused_at_the_start():
    ball = spherical("table.axle", GROUND.at(0.0, 0.0, 0.0))
    mechanism = table(ball)
    start = on_table(mechanism)
    with pytest.raises(IntegrationError, match=r"the body on which 'wheel ball.centre.*' rolls tilts"):
        integrate(mechanism, start, np.linspace(0.0, 1.0, 101))
    pose = mechanism.assemble({"table": ((0.0, 0.0, 0.0), Rotation.from_euler("x", 0.2))})
    with pytest.raises(ValueError, match=r"must keep its normal, but it is tilted by 0.2 rad"):
        mechanism.consistent_state(pose)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rolling_disc("a.x", "a.y", radius=0.1), "a body cannot roll on itself: both ports are of 'a'"),
        (lambda: rolling_disc("a.x", "b.y", radius=0.1, axis=(0, 1, 0)).formed(3), "that may tilt rolls on GROUND"),
        (
            lambda: wheel("a.x", "b.y").formed(2),
            r"ground of a wheel joint must be GROUND or GROUND.at\(...\), got 'b.y'",
        ),
    ],
)
def test_bad_surfaces_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
