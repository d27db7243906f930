"""Stops of angles know turns: no contact begins where an angle wraps, and limits stand for no others."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, IntegrationError, connect, hinge, integrate
from flexph.contacts import KelvinVoigt, Rigid, Sphere, contact, mutual_contact, stop
from flexph.methods import Decaying, Exact

METHODS = [
    (KelvinVoigt(1e4), Exact()),
    (KelvinVoigt(1e4), Decaying(0.8)),
    (KelvinVoigt(1e4), Exact(tolerance=1e-6)),
    (Rigid(), Exact()),
    (Rigid(), Exact(contact="steps")),
]


def swinging(law, angle, spin, **limits):
    """A bar in a hinge between stops, and where it starts."""
    ends = stop("bar.root", GROUND, law, name="ends", **limits)
    mechanism = connect({"bar": rigid.bar(0.5, 1.0)}, [hinge("bar.root", GROUND), ends], gravity=(0.0, -9.81))
    pose = mechanism.assemble({"bar": (0.0, 0.0, angle)})
    return mechanism, mechanism.consistent_state(pose, velocities={"bar": (0.0, 0.0, spin)})


@pytest.mark.parametrize(("law", "method"), METHODS)
def test_a_run_ends_where_an_angle_is_half_a_turn_from_its_only_limit(law, method):
    mechanism, start = swinging(law, -2.4, -6.0, upper=0.5)
    told = (
        r"the angle of 'ends' comes to -2\.642 rad, half a turn away from its limit upper at about t = 0\.0\d+ s: give"
    )
    with pytest.raises(IntegrationError, match=told) as refused:
        integrate(mechanism, start, np.linspace(0.0, 0.1, 41), method=method)
    solution = refused.value.solution
    assert 0.0 < solution.times[-1] < 0.05
    assert solution.contact("ends").gap.min() > 2.8
    assert solution.ledger.largest_residual < 1e-13


@pytest.mark.parametrize(("law", "method"), METHODS)
def test_a_stiff_stop_of_two_limits_holds_wherever_they_are(law, method):
    lower, upper = -0.5, 3.5
    mechanism, start = swinging(law, 2.0, 9.0, lower=lower, upper=upper)
    solution = integrate(mechanism, start, np.linspace(0.0, 0.3, 31), method=method)
    gap = solution.contact("ends").gap
    assert np.abs(gap.sum(axis=1) - (upper - lower)).max() < 1e-12
    assert -0.05 < gap.min() < 1e-3
    assert solution.ledger.largest_residual < 1e-13


def test_a_rigid_stop_holds_where_hardly_any_angle_is_forbidden():
    mechanism, start = swinging(Rigid(restitution=0.5), 0.0, 20.0, lower=-3.1, upper=3.1)
    solution = integrate(mechanism, start, np.linspace(0.0, 0.4, 21))
    assert solution.contact("ends").gap.min() > -1e-11
    assert solution.ledger.dissipation["ends: impact"].sum() > 1.0


def test_a_run_ends_where_a_soft_stop_lets_an_angle_through():
    mechanism, start = swinging(KelvinVoigt(10.0), 3.0, 20.0, lower=-3.1, upper=3.1)
    with pytest.raises(IntegrationError, match=r"comes to 3\.142 rad, through a limit .*: use a stiffer law"):
        integrate(mechanism, start, np.linspace(0.0, 0.1, 21))


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"upper": 3.5}, r"upper must lie between −π and π where it is the only limit of an angle, got 3\.5 rad"),
        ({"lower": -7.0}, "lower must lie between −π and π"),
        ({"lower": 0.0, "upper": 7.0}, r"upper must be less than a turn above lower, 2π rad, got 0 and 7 rad"),
        ({"lower": 5.0, "upper": 7.0}, "the middle of lower and upper must lie from −π to π"),
    ],
)
def test_limits_that_stand_for_others_are_refused(limits, told):
    with pytest.raises(ValueError, match=told):
        stop("bar.root", GROUND, Rigid(), **limits)
    assert stop("bar.root", GROUND, Rigid(), along_axis=(1.0, 0.0), **limits).name


def test_shapes_of_the_same_rigid_body_are_refused():
    bodies = {"a": rigid.bar(0.5, 1.0), "b": rigid.bar(0.5, 1.0)}
    balls = [Sphere(port, 0.1) for port in ("a.root", "b.root", "b.tip")]
    told = r"pair: 'b\.root' and 'b\.tip' are on the same rigid body, so that their gap never changes"
    on_one = [balls[1], balls[2], Sphere("b.middle", 0.1)]
    for wrong in (contact(*balls[1:], Rigid(), name="pair"), mutual_contact(on_one, Rigid(), name="pair")):
        with pytest.raises(ValueError, match=told):
            connect(bodies, [wrong])
    assert connect(bodies, [contact(balls[0], balls[1:], Rigid())]).bodies
