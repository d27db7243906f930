"""Moving surfaces: a block that a belt takes along, balances, momenta, and what is refused."""

import numpy as np
import pytest
from contact_samples import ball

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Hertz, KelvinVoigt, Plane, Rigid, Sphere, contact
from flexph.control import Sampled
from flexph.mechanisms.model.state import angular_momentum
from flexph.methods import Decaying, Exact
from flexph.sensors import friction_force, velocity

G, U, MU = 9.81, 1.5, 0.3
PAD = {"damping": 2e3, "friction": MU}
LAWS = {
    "anchored": (KelvinVoigt(1e6, **PAD), {}),
    "smooth": (KelvinVoigt(1e6, slip_velocity=1e-3, **PAD), {}),
    "rigid, events": (Rigid(friction=MU), {}),
    "rigid, steps": (Rigid(friction=MU), {"method": Exact(contact="steps")}),
}
SPEEDS = {"constant": U, "function of time": lambda t: U + 0.0 * t}


def laid_on_a_belt(law, speed, dim, turn=0.0):
    """A block laid on a belt that turns about the vertical by an angle."""
    along = (np.cos(turn), np.sin(turn), 0.0)
    belt = Plane(GROUND.at(*np.zeros(dim)), np.eye(dim)[-1], speed=speed, direction=along if dim == 3 else None)
    block = rigid.body(1.0, inertia=0.01 if dim == 2 else (0.01,) * 3, ports={"foot": np.zeros(dim)})
    mechanism = connect({"block": block}, [contact("block.foot", belt, law, name="belt")], gravity=-G * np.eye(dim)[-1])
    at = (0.0, 0.0, 0.0) if dim == 2 else (np.zeros(3), np.eye(3))
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess={"block": at}))


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("law", LAWS)
def test_a_block_laid_on_a_belt_slips_until_it_has_its_speed(law, speed, dim):
    """x = u t − u²/2μg after slip, heat ½mu², of mu² that the drive of the belt gives."""
    own, options = LAWS[law]
    run = integrate(*laid_on_a_belt(own, SPEEDS[speed], dim), np.linspace(0.0, 1.0, 501), **options)
    ledger, rings = run.ledger, 4e-3 if law == "anchored" else 1e-4  # an anchor rings at the end of slip
    assert run["block.centre"][-1, 0] == pytest.approx(U - U**2 / (2.0 * MU * G), abs=2e-5)
    assert run["block.velocity"][-1, 0] == pytest.approx(U, rel=rings)
    assert sum(lost.sum() for lost in ledger.dissipation.values()) == pytest.approx(0.5 * U**2, rel=2e-4)
    assert ledger.work["belt: surface"].sum() == pytest.approx(U**2, rel=rings)
    assert np.abs(ledger.residual).max() < 1e-12 * ledger.scale
    if law.startswith("rigid"):
        assert ledger.work["belt: surface"].sum() == pytest.approx(U**2, rel=1e-11)


def test_a_belt_that_turns_with_the_world_does_the_same():
    law, options = LAWS["anchored"]
    ways = []
    for turn in (0.0, 1.0):
        run = integrate(*laid_on_a_belt(law, U, 3, turn), np.linspace(0.0, 0.2, 101), **options)
        ways.append(run["block.centre"][-1] @ (np.cos(turn), np.sin(turn), 0.0))
    assert ways[0] == pytest.approx(ways[1], rel=1e-12)


@pytest.mark.parametrize("method", [Exact(), Decaying(radius=0.5)])
def test_a_ball_on_the_belt_of_a_free_body_keeps_both_momenta(method):
    law = KelvinVoigt(1e4, damping=10.0, friction=0.4)
    carrier = rigid.body(3.0, inertia=(0.2, 0.3, 0.4), ports={"top": (0.0, 0.1, 0.2)})
    belt = Plane("carrier.top", (0.0, 0.0, 1.0), speed=lambda t: 2.0 + np.sin(30.0 * t), direction=(0.0, 1.0, 0.0))
    mechanism = connect(
        {"ball": ball(3), "carrier": carrier}, [contact(Sphere("ball.centre", 0.1), belt, law, name="belt")]
    )
    pose = mechanism.assemble(guess={"ball": ((0.1, 0.0, 0.301), np.eye(3)), "carrier": (np.zeros(3), np.eye(3))})
    speeds = {"ball": ((0.0, 0.3, -1.0), (1.0, 2.0, 3.0)), "carrier": (np.zeros(3), (0.3, -0.2, 0.5))}
    run = integrate(mechanism, mechanism.consistent_state(pose, velocities=speeds), 1e-3 * np.arange(81), method=method)
    assert run.ledger.impulses["belt: friction"].sum() > 0.1
    assert abs(run.ledger.work["belt: surface"].sum()) > 1e-2
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale
    turning = np.array([angular_momentum(mechanism, x) for x in run.states])
    assert np.abs(turning - turning[0]).max() < 1e-13
    moving = run["ball.velocity"] * mechanism.bodies["ball"].mass + run["carrier.velocity"] * 3.0
    assert np.abs(moving - moving[0]).max() < 1e-13


def test_the_sensor_of_friction_knows_the_slip_against_the_belt():
    law = KelvinVoigt(1e6, slip_velocity=1e-3, **PAD)
    mechanism, start = laid_on_a_belt(law, U, 2)
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 101))
    assert run.measured(friction_force("belt"))[-1] == pytest.approx(MU * G, rel=1e-3)  # it slips
    mechanism, start = laid_on_a_belt(law, lambda t: U, 2)
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 101))
    assert run.measured(friction_force("belt"))[-1] == pytest.approx(MU * G, rel=1e-3)  # the mean of a step


@pytest.mark.parametrize("contact_by", ["events", "steps"])
def test_an_impact_on_a_belt_is_by_the_slip_against_it(contact_by):
    """A ball of no spin that falls on a belt: μΛ along the belt, and the work of the belt u Λ_T."""
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0), speed=5.0)
    body = rigid.body(1.0, inertia=0.01, ports={"centre": (0.0, 0.0)})
    law = Rigid(restitution=0.5, friction=0.2)
    mechanism = connect({"ball": body}, [contact("ball.centre", floor, law, name="belt")])
    pose = mechanism.assemble(guess={"ball": (0.0, 0.0105, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"ball": (0.0, -1.0, 0.0)})
    run = integrate(mechanism, start, 1e-3 * np.arange(31), method=Exact(contact=contact_by))
    assert run["ball.velocity"][-1] == pytest.approx((0.2 * 1.5, 0.5), rel=1e-12)
    assert run.ledger.work["belt: surface"].sum() == pytest.approx(5.0 * 0.2 * 1.5, rel=1e-12)
    assert np.abs(run.ledger.residual).max() < 1e-14


def test_what_a_belt_cannot_be():
    ground = GROUND.at(0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="direction"):
        Plane(ground, (0.0, 0.0, 1.0), speed=1.0)
    with pytest.raises(ValueError, match="perpendicular"):
        Plane(ground, (0.0, 0.0, 1.0), speed=1.0, direction=(1.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="speed"):
        Plane(ground, (0.0, 0.0, 1.0), speed=float("nan"), direction=(1.0, 0.0, 0.0))
    mechanism, start = laid_on_a_belt(Hertz(1e6, friction=0.3), U, 2)
    with pytest.raises(ValueError, match=r"moving surfaces with friction.*belt"):
        mechanism.equilibrium(mechanism.assemble({"block": (0.0, 0.0, 0.0)}))
    mechanism, start = laid_on_a_belt(Hertz(1e6, friction=0.3), lambda t: 1.0 / (0.05 - t) if t > 0.04 else 1.0, 2)
    with pytest.raises(ValueError, match=r"speed of the surface"):
        integrate(mechanism, start, np.linspace(0.0, 0.1, 11))


def driven_belt(law, dim=2, **options):
    """A block laid on a belt whose speed is an input."""
    along = np.eye(dim)[0] if dim == 3 else None
    belt = Plane(GROUND.at(*np.zeros(dim)), np.eye(dim)[-1], direction=along, driven=True, **options)
    block = rigid.body(1.0, inertia=0.01 if dim == 2 else (0.01,) * 3, ports={"foot": np.zeros(dim)})
    mechanism = connect({"block": block}, [contact("block.foot", belt, law, name="belt")], gravity=-G * np.eye(dim)[-1])
    at = (0.0, 0.0, 0.0) if dim == 2 else (np.zeros(3), np.eye(3))
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess={"block": at}))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("law", ["anchored", "smooth"])
def test_the_speed_of_a_belt_as_an_input(law, dim):
    """Motion and work are those of a given speed; the output of the port is the friction on the block."""
    own, times = LAWS[law][0], np.linspace(0.0, 0.3, 151)
    given = integrate(*laid_on_a_belt(own, U, dim), times)
    run = integrate(*driven_belt(own, dim), times, inputs={"belt": U})
    np.testing.assert_allclose(run.states, given.states, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.ledger.work["belt"], given.ledger.work["belt: surface"], rtol=0, atol=1e-12)
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale
    changing = integrate(*driven_belt(own, dim, speed=0.5), times, inputs={"belt": lambda t: 1.0 + np.sin(40.0 * t)})
    assert np.abs(changing.ledger.residual).max() < 1e-12 * changing.ledger.scale
    assert changing.ledger.work["belt: surface"].sum() > 0.0 < changing.ledger.work["belt"].sum()


def test_a_controller_drives_a_belt():
    """A sampled law that brings the block to a speed by that of the belt."""
    mechanism, start = driven_belt(LAWS["smooth"][0])
    speed = Sampled(
        function=lambda t, see: {"belt": see["speed"][0] + 5.0 * (1.0 - see["speed"][0])},
        period=0.01,
        sensors={"speed": velocity("block.foot")},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 1.5, 151), controllers={"speed": speed})
    assert run["block.velocity"][-1, 0] == pytest.approx(1.0, abs=0.05)  # its limit cycle
    assert np.abs(run.ledger.residual).max() < 1e-12 * run.ledger.scale


@pytest.mark.parametrize("law", [Rigid(friction=0.3), KelvinVoigt(1e5)])
def test_driven_belts_need_compliant_friction(law):
    with pytest.raises(ValueError, match="needs a compliant law with friction"):
        driven_belt(law)


def test_statics_of_driven_belts_are_refused():
    mechanism, _ = driven_belt(LAWS["anchored"][0])
    with pytest.raises(ValueError, match="no moving surfaces with friction"):
        mechanism.equilibrium(mechanism.assemble(guess={"block": (0.0, 0.0, 0.0)}))
