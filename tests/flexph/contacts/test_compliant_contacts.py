"""Compliant contacts: energy, momenta, and Hertz's impact."""

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from contact_samples import LAWS, arm_between_stops, ball, dropped, flexible_arm, in_space, spinning_discs
from rod_samples import SLENDER
from scipy.optimize import brentq

import fem
import rigid
from flexph import GROUND, ValidityWarning, connect, integrate, slider, spherical, weld
from flexph.contacts import Cylinder, Hertz, Hole, KelvinVoigt, Plane, Rigid, Sphere, contact, stop
from flexph.mechanisms.model.state import angular_momentum
from flexph.methods import Decaying, Exact, ExactGauss


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
    solution = integrate(mechanism, start, np.linspace(0.0, 0.3, 301))  # some 3 bounces
    height = solution.ledger.total_energy / 9.81 - 0.1
    assert np.abs(height - 0.01).max() < 1e-12
    assert balance(solution) < 1e-14


@pytest.mark.parametrize("stiffness", [1e7, 1e11])
def test_the_balance_holds_to_round_off_at_steps_that_no_impact_is_seen_in(stiffness):
    mechanism, start = dropped(Hertz(stiffness), speed=0.0, height=1.0, gravity=9.81)
    for h in (0.3, 1.0):  # iterates are as deep as the way of a step: 1e10 J, where the ball has 10
        solution = integrate(mechanism, start, np.arange(0.0, 4.5 * h, h))
        assert solution["ball.centre"][:, 1].min() < 0.1  # it is met
        assert balance(solution) < 1e-11  # round-off of the depth times the stiffness


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize("along", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
def test_an_axis_that_bends_with_its_section_keeps_the_balance(along):
    """Its direction n + ψ × n is longer than one: a ball falls on a cylinder at the tip of a soft beam."""
    soft = fem.Material(young=2e7, density=1000.0, poisson=0.3)
    beam = fem.beam(1.0, soft, fem.Section(width=0.05, height=0.05), elements=4, dim=3, strain="von_karman")
    touch = contact(Sphere("ball.centre", 0.05), Cylinder("beam.tip", 0.05, axis=along), Hertz(1e5))
    held = weld("beam.root", GROUND.at(0.0, 0.0, 0.0))
    mechanism = connect({"beam": beam, "ball": ball(3)}, [held, touch])
    pose = mechanism.assemble(guess={"ball": ((1.02, 0.0, 0.14), np.eye(3))})
    start = mechanism.consistent_state(pose, velocities={"ball": ((0.0, 0.0, -4.0), (0.0, 0.0, 0.0))})
    run = integrate(mechanism, start, 1e-3 * np.arange(60))
    assert run["ball.centre"][:, 2].min() < 0.09  # they meet
    assert balance(run) < 1e-13


def test_a_thousand_bounces_without_loss_keep_their_height_to_a_billionth():
    mechanism, start = dropped(Hertz(1e7), speed=0.0, height=0.01, gravity=9.81)
    solution = integrate(mechanism, start, np.linspace(0.0, 98.0, 49001))
    velocity = solution["ball.velocity"][:, 1]
    assert np.sum((velocity[1:] > 0.0) & (velocity[:-1] <= 0.0)) >= 1000
    assert np.abs(solution.ledger.total_energy / solution.ledger.total_energy[0] - 1.0).max() < 1e-9


@pytest.mark.parametrize("tolerance", [3e-3, 3e-4])
def test_control_sees_an_impact_that_is_stiff_against_its_steps(tolerance):
    mechanism, start = dropped(Hertz(1e7), height=0.1)  # 1 m/s, no weight: steps of a flight may be of any length
    solution = integrate(mechanism, start, np.linspace(0.0, 0.3, 3), method=Exact(tolerance=tolerance))
    assert solution["ball.centre"][-1, 1] - 0.1 == pytest.approx(0.2 - 5.1002900e-3, abs=0.5 * tolerance)
    assert solution["ball.velocity"][-1, 1] == pytest.approx(1.0, abs=1e-12)
    assert balance(solution) < 1e-14


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
    mechanism, start = spinning_discs(LAWS[law])
    names = [f"disc{i}" for i in range(6)]
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


def test_stops_of_angles_and_offsets_hold_with_their_energy_in_the_ledger():
    mechanism, start = arm_between_stops()
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
    mechanism, start = flexible_arm()
    for method, times in ((None, np.linspace(0.0, 0.04, 201)), (Decaying(0.8), np.linspace(0.0, 0.04, 201))):
        solution = integrate(mechanism, start, times, method=method)
        assert solution.ledger.kind("stored").max() > 1e-3
        assert balance(solution) < 1e-12
    with pytest.raises(ValueError, match=r"ExactGauss\(\) does not support contacts,.*'contact arm.tip"):
        integrate(mechanism, start, times, method=ExactGauss())
    with pytest.raises(ValueError, match=r"mechanism\.linearize does not support contacts"):
        mechanism.linearize(mechanism.assemble())


def test_a_rod_falls_on_a_plane_that_leans():
    """About its root, with a point of its section and its tip."""
    body = fem.rod(4.0, None, SLENDER, elements=2, ports={"eye": (2.0, (0.0, 0.0, -0.06))})
    floor = Plane(GROUND.at(0.0, 0.0, -0.1), (0.0, 0.1, 1.0))
    touching = contact([Sphere("rod.eye", 0.01), "rod.tip"], floor, Hertz(1e6, loss=0.1, friction=0.3), name="floor")
    joints = [spherical("rod.root", GROUND.at(0.0, 0.0, 0.0)), touching]
    mechanism = connect({"rod": body}, joints, gravity=(0.0, 0.0, -9.81))
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.linspace(0.0, 0.5, 251))
    assert run.contact("floor").touches.any(axis=0).all()
    assert balance(run) < 2e-13
    assert run.ledger.dissipation["floor"].min() >= -1e-13 * run.ledger.scale


def test_redundant_joints_share_forces_beside_contacts():
    """A ball on a body that is welded twice."""
    bar = rigid.body(1.0, inertia=0.01, ports={"a": (-0.1, 0.0), "b": (0.1, 0.0)})
    touching = contact(
        Sphere("ball.centre", 0.05), Plane("bar.a", (0.3, 1.0)), KelvinVoigt(1e4, damping=3.0, friction=0.2)
    )
    joints = [weld("bar.a", GROUND.at(-0.1, 0.0)), weld("bar.b", GROUND.at(0.1, 0.0))]
    mechanism = connect({"bar": bar, "ball": ball()}, [*joints, touching], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.1, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 61), method=Exact(redundant="least_norm"))
    assert run.contact(touching.name).normal.max() > 9.81
    assert np.abs(run["bar.centre"]).max() < 1e-14
    assert balance(run) < 2e-13


def test_a_run_goes_on_as_in_one_piece():
    mechanism, start = spinning_discs(LAWS["anchored"])
    times = np.linspace(0.0, 0.4, 81)
    whole = integrate(mechanism, start, times)
    first = integrate(mechanism, start, times[:31])
    second = integrate(mechanism, first.final, times[30:])
    assert np.abs(second.states[-1] - whole.states[-1]).max() < 1e-12
    assert second.ledger.energy["stored group"][0] == first.ledger.energy["stored group"][-1]


def test_what_cannot_touch_is_said_by_name():
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    with pytest.raises(ValueError, match="at least one shape of a contact must be on a body"):
        contact(Sphere(GROUND.at(0.0, 0.0)), ground, Hertz(1.0))
    with pytest.raises(ValueError, match="got Plane and Plane"):
        contact(ground, ground, Hertz(1.0))
    with pytest.raises(ValueError, match="law must be a ContactLaw"):
        contact("a.b", ground, 3.0)
    with pytest.raises(ValueError, match="a plane on the ground needs a position"):
        Plane(GROUND, (0.0, 1.0))
    with pytest.raises(ValueError, match="the hole must be wider"):
        connect({"a": ball()}, [contact(Sphere("a.centre", 0.2), Hole(GROUND.at(0.0, 0.0), 0.1), Hertz(1.0))])
    with pytest.raises(ValueError, match="a hole has no axis in the plane"):
        connect({"a": ball()}, [contact("a.centre", Hole(GROUND.at(0.0, 0.0), 0.1, (0.0, 0.0, 1.0)), Hertz(1.0))])
    with pytest.raises(ValueError, match="a stop needs lower"):
        stop("a.b", GROUND, Hertz(1.0))


@pytest.mark.parametrize(
    ("radius", "law", "depth", "told"),
    [
        (0.1, Hertz(1e7), 0.02, r"touch: the contact begins with a penetration of 0.02 m, 0.2 of the radius \(.* of 9"),
        (0.0, KelvinVoigt(1e5), 0.02, "0.32 of the size of the mechanism .* of 9.8e-05 m.*stores 20 J"),
    ],
    ids=["a ball", "a point"],
)
def test_a_run_that_begins_deep_in_a_contact_warns_and_one_pressed_by_its_weight_does_not(radius, law, depth, told):
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    mechanism = connect(
        {"ball": ball()}, [contact(Sphere("ball.centre", radius), floor, law, name="touch")], gravity=(0, -9.81)
    )
    resting = (9.81 / law.stiffness) ** (2.0 / 3.0 if isinstance(law, Hertz) else 1.0)
    for deep in (depth, 3.0 * resting):
        start = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, radius - deep, 0.0)}))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            integrate(mechanism, start, [0.0, 1e-4, 2e-4])
        if deep == depth:
            (warning,) = warned
            assert re.search(told, str(warning.message)) and warning.category is ValidityWarning
            assert Path(warning.filename) == Path(__file__)
        else:
            assert not warned


def test_a_run_that_begins_deep_in_a_stop_warns_in_radians():
    mechanism, _ = arm_between_stops()
    start = mechanism.consistent_state(mechanism.assemble(guess={"arm": 0.7}))
    with pytest.warns(ValidityWarning, match=r"stop:.*contact begins.*penetration.*0.2 rad,.*stores 40 J"):
        integrate(mechanism, start, [0.0, 1e-4])


def test_gaps_that_stay_as_they_are_divide_by_nothing():
    """A gap that a rigid contact closes to round-off is one of a compliant contact, too, with no way in a step."""
    law, ground = KelvinVoigt(1e5, damping=10.0), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    both = [contact("ball.centre", ground, one, name=name) for one, name in ((law, "soft"), (Rigid(), "hard"))]
    mechanism = connect({"ball": ball()}, both, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 1e-3, 0.0)}))
    with np.errstate(all="raise", under="ignore"):
        run = integrate(mechanism, start, np.linspace(0.0, 0.03, 31))
    assert run.contact("hard").normal[-1] == pytest.approx(9.81, rel=1e-9)
