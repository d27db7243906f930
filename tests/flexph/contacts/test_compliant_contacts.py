"""Compliant contacts: energy, momenta, and Hertz's impact."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, slider
from flexph.contacts import Cylinder, Hertz, Hole, KelvinVoigt, Plane, Sphere, contact, mutual_contact, stop
from flexph.mechanisms.model.state import angular_momentum
from flexph.methods import Decaying, ExactGauss

LAWS = {
    "hertz": Hertz(1e5),
    "hunt-crossley": Hertz(1e5, loss=0.3),
    "spring": KelvinVoigt(4e3),
    "kelvin-voigt": KelvinVoigt(4e3, damping=9.0),
    "friction": Hertz(1e5, loss=0.1, friction=0.4, slip_velocity=0.02),
    "anchored": Hertz(1e5, loss=0.1, friction=0.4, tangential_stiffness=1e4),
}


def ball(dim=2, radius=0.1):
    inertia = 0.004 if dim == 2 else (0.004, 0.004, 0.004)
    return rigid.body(1.0, inertia=inertia, ports={"centre": (0.0,) * dim})


def dropped(law, speed=1.0, height=1e-3, gravity=0.0):
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    mechanism = connect(
        {"ball": ball()}, [contact(Sphere("ball.centre", 0.1), ground, law, name="touch")], gravity=(0.0, -gravity)
    )
    pose = mechanism.assemble(guess={"ball": (0.0, 0.1 + height, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"ball": (0.0, -speed, 0.0)})


def balance(solution):
    return np.abs(solution.ledger.residual).max() / solution.ledger.scale


def test_the_impact_of_a_ball_has_the_depth_and_duration_of_hertz_to_the_order_of_the_step():
    duration, errors = 5.1002900e-3, []
    for steps in (10, 20, 40):
        mechanism, start = dropped(Hertz(1e7))
        solution = integrate(mechanism, start, np.arange(0.0, 8e-3, duration / steps))
        depth = 0.1 - solution["ball.centre"][:, 1].min()
        force = np.abs(np.diff(solution["ball.velocity"][:, 1])).max() / (duration / steps)
        errors.append(abs(force / 721.34995 - 1.0))
        assert depth == pytest.approx(1.7328621e-3, rel=3.0 / steps**2)
        assert solution["ball.velocity"][-1, 1] == pytest.approx(1.0, abs=1e-12)
    assert errors[1] < 1.5e-2
    assert errors[2] < 0.35 * errors[1]


def test_bounces_without_loss_keep_their_height():
    mechanism, start = dropped(Hertz(1e7), speed=0.0, height=0.01, gravity=9.81)
    solution = integrate(mechanism, start, np.linspace(0.0, 0.3, 301))  # some 3 bounces; all of 1000 are slow
    height = solution.ledger.total_energy / 9.81 - 0.1
    assert np.abs(height - 0.01).max() < 1e-12
    assert balance(solution) < 1e-14


@pytest.mark.slow
def test_a_thousand_bounces_without_loss_keep_their_height_to_a_billionth():
    mechanism, start = dropped(Hertz(1e7), speed=0.0, height=0.01, gravity=9.81)
    solution = integrate(mechanism, start, np.linspace(0.0, 98.0, 49001))
    velocity = solution["ball.velocity"][:, 1]
    assert np.sum((velocity[1:] > 0.0) & (velocity[:-1] <= 0.0)) >= 1000
    assert np.abs(solution.ledger.total_energy / solution.ledger.total_energy[0] - 1.0).max() < 1e-9


def test_the_restitution_of_hunt_and_crossley_is_its_closed_form():
    mechanism, start = dropped(Hertz(1e7, loss=0.5))
    solution = integrate(mechanism, start, np.arange(0.0, 8e-3, 4e-5))
    e = brentq(lambda e: 0.5 - math.log(1.5) + 0.5 * e + math.log(1.0 - 0.5 * e), 0.1, 0.99)
    assert e == pytest.approx(0.74843493, abs=1e-8)
    assert solution["ball.velocity"][-1, 1] == pytest.approx(e, rel=4e-4)  # of second order
    lost = solution.ledger.dissipation["touch"]
    assert lost.min() >= 0.0
    assert lost.sum() == pytest.approx(0.5 * (1.0 - e * e), rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_spinning_discs_keep_both_momenta_and_the_balance(law):
    rng = np.random.default_rng(4)
    names = [f"disc{i}" for i in range(6)]
    spheres = [Sphere(f"{name}.centre", 0.1 + 0.01 * i) for i, name in enumerate(names)]
    mechanism = connect(dict.fromkeys(names, ball()), [mutual_contact(spheres, LAWS[law], name="group")])
    places = np.array([[0.3 * (i % 3), 0.3 * (i // 3)] for i in range(6)])
    pose = mechanism.assemble(guess={n: (*p, 0.0) for n, p in zip(names, places, strict=True)})
    inward = 2.0 * (places.mean(axis=0) - places) + 0.1 * rng.standard_normal(places.shape)
    start = mechanism.consistent_state(
        pose, velocities={n: (*v, 5.0 * rng.standard_normal()) for n, v in zip(names, inward, strict=True)}
    )
    solution = integrate(mechanism, start, np.linspace(0.0, 0.4, 81))
    assert solution.ledger.kind("stored").max() > 0.05  # they meet
    assert balance(solution) < 1e-13
    momentum = np.array([sum(solution[f"{n}.velocity"] for n in names)])[0]
    assert np.abs(momentum - momentum[0]).max() < 1e-13
    turning = np.array([angular_momentum(mechanism, x) for x in solution.states])
    assert np.abs(turning - turning[0]).max() < 1e-13
    lost = solution.ledger.dissipation["group"]
    assert lost.min() > -1e-15
    assert (lost.sum() > 1e-3) == (law in ("hunt-crossley", "kelvin-voigt", "friction", "anchored"))


def in_space(law):
    """A ball that rolls about in a hole of a body that turns, and over a plane of it."""
    drum = rigid.body(
        3.0, inertia=(0.3, 0.2, 0.25), ports={"centre": (0.0, 0.0, 0.0), "side": (0.0, 0.0, -0.2), "pin": (1.0, 0, 0)}
    )
    spins = {"drum": ((0.0, 0.0, 0.0), (0.4, -0.3, 2.0)), "ball": ((0.8, 0.3, -0.7), (3.0, 1.0, -4.0))}
    touching = [
        contact(Sphere("ball.centre", 0.1), Hole("drum.centre", 0.35, axis=(0.0, 0.0, 1.0)), law, name="hole"),
        contact(Sphere("ball.centre", 0.1), Plane("drum.side", (0.0, 0.1, 1.0)), law, name="floor"),
        contact(Sphere("ball.centre", 0.1), Cylinder("drum.pin", 0.8, axis=(0.0, 0.0, 1.0)), law, name="rod"),
        contact("other.point", Sphere("ball.centre", 0.1), law, name="point"),
    ]
    bodies = {"drum": drum, "ball": ball(3), "other": rigid.point(0.1, dim=3)}
    mechanism = connect(bodies, touching)
    places = {"drum": ((0.0, 0.0, 0.0), Rotation.identity()), "ball": ((0.05, 0, 0), Rotation.identity())}
    pose = mechanism.assemble(guess={**places, "other": (0.18, 0.05, -0.1)})
    return mechanism, mechanism.consistent_state(pose, velocities={**spins, "other": (-0.9, 0.0, 0.0)})


@pytest.mark.parametrize("law", ["hunt-crossley", "friction", "anchored"])
def test_a_ball_within_a_body_that_turns_keeps_both_momenta_and_the_balance(law):
    mechanism, start = in_space(LAWS[law])
    solution = integrate(mechanism, start, np.linspace(0.0, 0.9, 91))
    for name in ("hole", "floor", "rod", "point"):
        assert solution.ledger.energy[f"stored {name}"].max() > 1e-3
    assert balance(solution) < 1e-13
    turning = np.array([angular_momentum(mechanism, x) for x in solution.states])
    assert np.abs(turning - turning[0]).max() < 1e-13
    assert min(values.min() for values in solution.ledger.dissipation.values()) > -1e-15


def test_stops_of_angles_and_offsets_hold_with_their_energy_booked():
    arm = rigid.bar(1.0, 2.0)
    law = KelvinVoigt(2e3, damping=5.0)
    mechanism = connect(
        {"arm": arm}, [hinge("arm.root", GROUND), stop("arm.root", GROUND, law, lower=-2.0, upper=0.5, name="stop")]
    )
    start = mechanism.consistent_state(mechanism.assemble(guess={"arm": 0.3}), velocities={"arm": 3.0})
    solution = integrate(mechanism, start, np.linspace(0.0, 1.5, 301))
    rotation = solution.rotations("arm")
    angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    assert 0.5 < angle.max() < 0.6
    assert -2.1 < angle.min() < -2.0
    assert balance(solution) < 1e-14
    cart = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})
    sliding = connect(
        {"cart": cart},
        [
            slider("cart.centre", GROUND.at(0.0, 0.0), direction=(1.0, 0.0)),
            stop("cart.centre", GROUND.at(0.0, 0.0), Hertz(1e5), upper=0.2, along_axis=(1.0, 0.0)),
        ],
    )
    start = sliding.consistent_state(sliding.assemble(), velocities={"cart": (1.0, 0.0, 0.0)})
    back = integrate(sliding, start, np.linspace(0.0, 0.4, 201))
    assert back["cart.velocity"][-1, 0] == pytest.approx(-1.0, abs=1e-12)


def test_a_flexible_arm_against_a_stop_keeps_the_balance_by_all_methods_that_know_contacts():
    steel = fem.Material(young=2e11, density=7800.0)
    arm = fem.beam(0.5, steel, fem.Section(area=25e-6, second_moment=52e-12), elements=4)
    touch = contact("arm.tip", Plane(GROUND.at(0.0, -0.01), (0.0, 1.0)), Hertz(1e7, loss=0.2))
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND), touch], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"arm": -1.0})
    for method, times in ((None, np.linspace(0.0, 0.04, 201)), (Decaying(0.8), np.linspace(0.0, 0.04, 201))):
        solution = integrate(mechanism, start, times, method=method)
        assert solution.ledger.kind("stored").max() > 1e-3
        assert balance(solution) < 1e-12
    with pytest.raises(ValueError, match=r"ExactGauss\(\) knows nothing of contacts, and 'contact arm.tip"):
        integrate(mechanism, start, times, method=ExactGauss())
    for verb in (mechanism.equilibrium, mechanism.linearize):
        with pytest.raises(ValueError, match=rf"mechanism.{verb.__name__} knows nothing of contacts"):
            verb(mechanism.assemble())


def test_what_cannot_touch_is_said_by_name():
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    with pytest.raises(ValueError, match="both shapes of a contact are the ground's"):
        contact(Sphere(GROUND.at(0.0, 0.0)), ground, Hertz(1.0))
    with pytest.raises(ValueError, match="got Plane and Plane"):
        contact(ground, ground, Hertz(1.0))
    with pytest.raises(ValueError, match="law must be a ContactLaw"):
        contact("a.b", ground, 3.0)
    with pytest.raises(ValueError, match="a plane on the ground needs a position"):
        Plane(GROUND, (0.0, 1.0))
    with pytest.raises(ValueError, match="the hole must be wider"):
        connect({"a": ball()}, [contact(Sphere("a.centre", 0.2), Hole(GROUND.at(0.0, 0.0), 0.1), Hertz(1.0))])
    with pytest.raises(ValueError, match="a stop needs lower"):
        stop("a.b", GROUND, Hertz(1.0))
