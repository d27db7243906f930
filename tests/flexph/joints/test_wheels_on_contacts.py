"""Wheels whose friction is limited by the normal force of a compliant contact: closed forms, balance, and refusals."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, integrate, weld
from flexph.contacts import Hertz, KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.joints import slipping_wheel
from flexph.laws import creep
from flexph.methods import Decaying, Exact
from flexph.models import load_model, write_model
from flexph.sensors import normal_force, wheel_force

MASS, RADIUS, GRAVITY, FRICTION = 10.0, 0.3, 9.81, 0.5
TYRE = creep(longitudinal=2e3, lateral=2e3, friction=FRICTION)
GROUNDED = GROUND.at(0.0, 0.0)


def disc(law=None, tyre=TYRE, stiffness=1e6, **options):
    """A disc on soft ground of the plane; it touches without a force at the height of its radius."""
    body = rigid.body(MASS, inertia=0.4, ports={"hub": (0.0, 0.0)})
    soft = law or KelvinVoigt(stiffness, damping=2e3)
    ground = contact(Sphere("disc.hub", RADIUS), Plane(GROUNDED, (0.0, 1.0)), soft, name="ground")
    wheel = slipping_wheel("disc.hub", radius=RADIUS, friction=tyre, contact="ground", name="tyre")
    mechanism = connect({"disc": body}, [ground, wheel], gravity=(0.0, -GRAVITY))
    return mechanism, options.get("height", RADIUS - MASS * GRAVITY / stiffness)


def thrown(mechanism, height, velocity):
    return mechanism.consistent_state(mechanism.assemble({"disc": (0.0, height, 0.0)}), velocities={"disc": velocity})


def test_a_disc_that_slides_slows_down_by_its_weight():
    """μ g while the cubic law is saturated, C ≥ 3 μN; it spins up by μ m g r."""
    mechanism, height = disc()
    run = integrate(mechanism, thrown(mechanism, height, (5.0, 0.0, 0.0)), np.linspace(0.0, 0.1, 101))
    np.testing.assert_allclose(run["disc.velocity"][:, 0], 5.0 - FRICTION * GRAVITY * run.times, rtol=0, atol=1e-9)
    spin = FRICTION * MASS * GRAVITY * RADIUS / 0.4 * run.times
    np.testing.assert_allclose(-run["disc.spin"][:, 0], spin, rtol=2e-3)  # rows of angles are of second order
    assert run.measured(normal_force("ground"))[1:] == pytest.approx(MASS * GRAVITY, rel=1e-6)
    np.testing.assert_allclose(run.measured(wheel_force("tyre"))[1:, 0], -FRICTION * MASS * GRAVITY, rtol=1e-6)
    assert run.ledger.largest_residual < 1e-13 * MASS * 25.0


def test_stiff_ground_is_that_of_a_wheel_that_holds_its_height():
    times = np.linspace(0.0, 0.3, 301)
    soft, height = disc(stiffness=1e7)
    body = soft.bodies["disc"]
    held = slipping_wheel("disc.hub", radius=RADIUS, friction=TYRE, ground=GROUNDED, name="tyre")
    hard = connect({"disc": body}, [held], gravity=(0.0, -GRAVITY))
    ends = [
        integrate(mechanism, thrown(mechanism, at, (5.0, 0.0, 0.0)), times)["disc.velocity"][:, 0]
        for mechanism, at in ((soft, height), (hard, RADIUS))
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", [Exact(), Decaying(), Exact(tolerance=1e-4)], ids=str)
@pytest.mark.parametrize("law", [None, Hertz(1e6, loss=0.1)], ids=["KelvinVoigt", "Hertz"])
def test_a_disc_that_bounces_has_no_grip_in_the_air(law, method):
    mechanism, height = disc(law, height=RADIUS + 0.05)
    run = integrate(mechanism, thrown(mechanism, height, (5.0, 0.0, 0.0)), np.linspace(0.0, 0.5, 501), method=method)
    ledger = run.ledger
    assert ledger.largest_residual < 1e-13 * ledger.scale
    assert min(loss.min() for loss in ledger.dissipation.values()) >= -1e-13 * ledger.scale
    free = run["disc.centre"][:, 1] > RADIUS
    in_the_air = free[1:] & free[:-1]
    assert in_the_air.sum() > 100 and ledger.dissipation["tyre"].max() > 1e-2
    assert not np.any(run.measured(wheel_force("tyre"))[free])
    if method.tolerance is None:
        assert not np.any(ledger.dissipation["tyre"][in_the_air])


def test_braking_in_space_moves_load_to_the_front():
    """A cart of two balls with locked wheels: it slows down by μ g, its front sinks."""
    hubs = {"front": (0.5, 0.0, -0.2), "rear": (-0.5, 0.0, -0.2)}
    bodies = {"cart": rigid.body(20.0, inertia=(2.0, 3.0, 4.0), ports={"guide": (0.0, 0.0, 0.0), **hubs})}
    joints = []
    for name in hubs:
        bodies[name] = rigid.body(1.0, inertia=(0.01, 0.02, 0.01), ports={"hub": (0.0, 0.0, 0.0)})
        floor = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        joints += [
            weld(f"{name}.hub", f"cart.{name}"),
            contact(Sphere(f"{name}.hub", RADIUS), floor, KelvinVoigt(1e5, damping=2e3), name=f"ground {name}"),
            slipping_wheel(
                f"{name}.hub", "cart.guide", friction=TYRE, contact=f"ground {name}", name=f"tyre {name}", radius=RADIUS
            ),
        ]
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -GRAVITY))
    poses = {"cart": ((0.0, 0.0, 0.499), np.eye(3))}
    poses |= {name: ((x, 0.0, 0.299), np.eye(3)) for name, (x, _, _) in hubs.items()}
    ahead = {name: ((4.0, 0.0, 0.0), (0.0, 0.0, 0.0)) for name in bodies}
    start = mechanism.consistent_state(mechanism.assemble(poses), velocities=ahead)
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 401))
    ledger = run.ledger
    assert ledger.largest_residual < 1e-13 * ledger.scale and ledger.dissipation["tyre front"].sum() > 1.0
    height, weight = (20.0 * 0.499 + 2.0 * 0.299) / 22.0, 22.0 * GRAVITY
    loads = [run.measured(normal_force(f"ground {name}"))[-100:].mean() for name in hubs]
    shift = FRICTION * weight * height  # over a wheelbase of 1 m
    np.testing.assert_allclose(loads, [0.5 * weight + shift, 0.5 * weight - shift], rtol=0.03)  # springs still swing


def test_files_name_the_contact(tmp_path):
    mechanism, _ = disc()
    write_model(tmp_path / "model.yaml", mechanism)
    again = load_model(tmp_path / "model.yaml").mechanism
    assert again.network.arrays.slips.contact.tolist() == [0]


def test_what_gives_no_load_is_refused():
    body = {"disc": rigid.body(MASS, inertia=0.4, ports={"hub": (0.0, 0.0), "other": (0.1, 0.0)})}
    ball, floor = Sphere("disc.hub", RADIUS), Plane(GROUNDED, (0.0, 1.0))
    tyre = {"radius": RADIUS, "friction": TYRE, "contact": "ground"}
    wheel = slipping_wheel("disc.hub", **tyre)
    on = lambda law: connect(body, [contact(ball, floor, law, name="ground"), wheel])  # noqa: E731
    balls = {name: rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)}) for name in "abc"}
    pair = mutual_contact([Sphere(f"{name}.c", 0.1) for name in "abc"], KelvinVoigt(1e4), name="ground")
    limited = creep(longitudinal=1.0, lateral=1.0, limit=2.0)
    mechanism, height = disc()
    run = integrate(mechanism, thrown(mechanism, height, (1.0, 0.0, 0.0)), [0.0, 0.001, 0.002])
    for call, message in (
        (lambda: connect(body, [wheel]), "no contact 'ground'"),
        (lambda: on(Rigid()), "compliant law without friction"),
        (lambda: on(KelvinVoigt(1e5, friction=0.2)), "compliant law without friction"),
        (lambda: connect(body | balls, [pair, wheel]), "of many balls"),
        (lambda: slipping_wheel("disc.hub", radius=1.0, friction=limited, contact="ground"), "friction=μ"),
        (lambda: slipping_wheel("disc.hub", ground=GROUNDED, **tyre), "give ground or contact"),
        (lambda: slipping_wheel("disc.hub", radius=1.0, friction=TYRE), "or the name of its contact"),
        (lambda: mechanism.phdae(run.final), "contact"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
