"""Wheels whose friction is limited by the force that holds them over the ground."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, force, hinge, integrate, slider, weld
from flexph.joints import railway_wheel, slipping_wheel
from flexph.joints.rows.connection import Connection, Form, Row
from flexph.joints.rows.laws import Offset
from flexph.joints.rows.vectors import Product, Vector, along
from flexph.laws import coulomb, creep, magic_formula
from flexph.methods import Decaying, Exact, Exact4
from flexph.models import load_model, write_model
from flexph.sensors import wheel_force

RADIUS, MASS, INERTIA, GRAVITY, FRICTION = 0.3, 10.0, 0.4, 9.81, 0.3
STIFF = creep(longitudinal=2e4, friction=FRICTION)


def disc(law=STIFF, *, loads=(), **options):
    options = {"ground": GROUND.at(0.0, 0.0)} | options
    own = slipping_wheel("disc.centre", radius=RADIUS, friction=law, name="tyre", **options)
    body = rigid.body(MASS, inertia=INERTIA, ports={"centre": (0.0, 0.0)})
    return connect({"disc": body}, [own, *loads], gravity=(0.0, -GRAVITY))


def sliding(mechanism, speed=5.0):
    return mechanism.consistent_state(
        mechanism.assemble({"disc": (0.0, RADIUS, 0.0)}), velocities={"disc": (speed, 0.0, 0.0)}
    )


@pytest.mark.parametrize("method", [Exact(), Decaying(), Exact(tolerance=1e-6)])
@pytest.mark.parametrize("law", [STIFF, magic_formula(longitudinal=2e4, friction=FRICTION, shape=1.0)])
def test_a_disc_slides_under_its_weight_until_it_rolls(method, law):
    """The deceleration is μg, and the disc rolls from v/(1 + mr²/J) of its loss on, in closed form."""
    mechanism = disc(law)
    run = integrate(mechanism, sliding(mechanism), np.linspace(0.0, 1.0, 101), method=method)
    assert run.ledger.largest_residual < 1e-13
    if law is STIFF:  # full friction; the Magic Formula comes close to it only
        assert run["disc.velocity"][10, 0] == pytest.approx(5.0 - FRICTION * GRAVITY * 0.1, rel=1e-12)
        np.testing.assert_allclose(run.measured(wheel_force("tyre"))[3], [-FRICTION * MASS * GRAVITY], rtol=1e-9)
    rolls = 5.0 * MASS * RADIUS**2 / (MASS * RADIUS**2 + INERTIA)  # the moment about the ground is kept
    # a step turns by 2 atan(½hω), (hω)²/12 less than hω
    assert run["disc.velocity"][-1, 0] == pytest.approx(rolls, rel=1.2e-3)
    assert run["disc.spin"][-1, 0] == pytest.approx(-rolls / RADIUS, rel=1.2e-3)
    assert run.ledger.dissipation["tyre"].min() >= 0.0


def test_the_limit_of_a_constant_load_is_that_of_a_given_one():
    run, other = (
        integrate(m, sliding(m), np.linspace(0.0, 0.8, 81))
        for m in (disc(), disc(creep(longitudinal=2e4, friction=FRICTION), ground=GROUND.at(0.0, 0.0)))
    )
    given = creep(longitudinal=2e4, limit=FRICTION * MASS * GRAVITY)
    held = disc(given, ground=None, loads=[_level()])
    third = integrate(held, sliding(held), np.linspace(0.0, 0.8, 81))
    np.testing.assert_array_equal(run.states, other.states)
    np.testing.assert_allclose(run["disc.velocity"], third["disc.velocity"], rtol=0, atol=1e-10)


def _level():
    """Height of the disc by a joint of its own."""
    return slider("disc.centre", GROUND.at(0.0, RADIUS), direction=(1.0, 0.0), turning=True)


def test_friction_follows_a_load_that_changes():
    """The loss of speed is μ∫(g + F/m)dt, whose trapezoids are those of the mean force of steps."""
    pressing = force("disc.centre", name="press")
    mechanism, times = disc(loads=[pressing]), np.linspace(0.0, 0.2, 41)
    run = integrate(
        mechanism, sliding(mechanism, 20.0), times, inputs={"press": lambda t: (0.0, -200.0 * np.sin(9.0 * t) ** 2)}
    )
    middles = 0.5 * (times[1:] + times[:-1])
    load = MASS * GRAVITY + 200.0 * np.sin(9.0 * middles) ** 2
    expected = 20.0 - np.cumsum(np.append(0.0, np.diff(times) * FRICTION * load / MASS))
    np.testing.assert_allclose(run["disc.velocity"][:, 0], expected, rtol=1e-9)
    assert run.ledger.largest_residual < 1e-13


def test_a_wheel_that_is_pulled_up_has_no_friction():
    mechanism = disc(loads=[force("disc.centre", name="pull")])
    run = integrate(mechanism, sliding(mechanism), [0.0, 0.01, 0.02], inputs={"pull": (0.0, 150.0)})
    assert run.ledger.dissipation["tyre"][-1] == 0.0
    np.testing.assert_allclose(run["disc.velocity"][-1], [5.0, 0.0], rtol=0, atol=1e-14)


FRONT, REAR, HEIGHT, CHASSIS, WHEEL = 1.1, 1.4, 0.25, 800.0, 20.0
AXLE, UP = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def car(*, turn=None, law=None, locked=False):
    """Two wheels in line that carry a chassis; a slider of the chassis is not needed, as they hold its height."""
    turn = np.eye(3) if turn is None else turn
    law = creep(longitudinal=6e4, lateral=5e4, friction=0.8) if law is None else law
    places = {"front": (FRONT, 0.0, -HEIGHT), "rear": (-REAR, 0.0, -HEIGHT)}
    chassis = rigid.body(CHASSIS, inertia=(300.0, 800.0, 900.0), ports=places | {"top": (0.0, 0.0, 0.0)})
    tyre = rigid.body(WHEEL, inertia=(0.5, 0.9, 0.5), ports={"hub": (0.0, 0.0, 0.0)})
    joint = weld if locked else (lambda a, b: hinge(a, b, axis=AXLE))
    joints = []
    for name in places:
        joints.append(joint(f"{name}.hub", f"chassis.{name}"))
        joints.append(
            slipping_wheel(
                f"{name}.hub", f"chassis.{name}", radius=RADIUS, friction=law, name=f"{name} tyre",
                ground=GROUND.at(*(turn @ (1.0, 2.0, 0.0))), ground_normal=turn @ UP,
            )
        )  # fmt: skip
    joints.append(_upright(turn))
    return connect({"chassis": chassis, "front": tyre, "rear": tyre}, joints, gravity=turn @ (0.0, 0.0, -GRAVITY))


def _upright(turn):
    """No roll of the chassis: a joint that holds one tilt only."""
    axis = tuple((turn @ UP).tolist())
    return Connection(
        "guide",
        ("chassis.top", GROUND),
        lambda dim: Form((Row("roll", Offset(Product(along("chassis.top", AXLE), Vector(fixed=axis))), "N m"),)),
        label="guide",
    )


def driving(mechanism, speed, *, turn=None, spin=None, across=0.0):
    turn = np.eye(3) if turn is None else turn
    height = RADIUS + HEIGHT
    places = {"chassis": (0.0, 0.0, height), "front": (FRONT, 0.0, RADIUS), "rear": (-REAR, 0.0, RADIUS)}
    pose = mechanism.assemble({name: (turn @ place, turn) for name, place in places.items()})
    spin = speed / RADIUS if spin is None else spin
    velocities = {
        name: (turn @ (speed, across, 0.0), turn @ (0.0, 0.0 if name == "chassis" else spin, 0.0)) for name in places
    }
    return mechanism.consistent_state(pose, velocities=velocities)


def test_braking_moves_load_to_the_front_wheel():
    """Locked wheels decelerate with μg; the loads are those of the moments about the points of contact."""
    mechanism = car(locked=True, law=creep(longitudinal=1e6, friction=0.8))
    run = integrate(mechanism, driving(mechanism, 10.0, spin=0.0), np.linspace(0.0, 0.1, 21))
    assert run.ledger.largest_residual < 1e-13
    assert run["chassis.velocity"][-1, 0] == pytest.approx(10.0 - 0.8 * GRAVITY * 0.1, rel=1e-9)
    whole, base = CHASSIS + 2.0 * WHEEL, FRONT + REAR
    centre = (WHEEL * FRONT - WHEEL * REAR) / whole, (CHASSIS * (RADIUS + HEIGHT) + 2.0 * WHEEL * RADIUS) / whole
    front = whole * GRAVITY * (REAR + centre[0] + 0.8 * centre[1]) / base
    loads = [run.multipliers[5, mechanism.constraint_names.index(f"{k} tyre: height")] for k in ("front", "rear")]
    np.testing.assert_allclose(loads, [front, whole * GRAVITY - front], rtol=1e-9)


@pytest.mark.parametrize("method", [Exact(), Decaying()])
def test_a_car_that_skids_keeps_its_balance_in_any_axes(method):
    ends = []
    for turn in (np.eye(3), Rotation.from_rotvec((0.5, -0.3, 1.0)).as_matrix()):
        mechanism = car(turn=turn)
        start = driving(mechanism, 15.0, turn=turn, across=4.0, spin=20.0)
        run = integrate(mechanism, start, np.linspace(0.0, 0.3, 31), method=method)
        assert run.ledger.largest_residual < 1e-13
        assert min(taken.min() for name, taken in run.ledger.dissipation.items() if "tyre" in name) >= 0.0
        ends.append(run.position("chassis.front")[-1] @ turn)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)


def test_small_motions_about_rolling_do_not_depend_on_the_limit():
    law = creep(longitudinal=6e4, lateral=5e4, friction=0.8)
    loaded = car(law=law)
    own = loaded.spectrum(driving(loaded, 10.0)).values
    other = car(law=creep(longitudinal=6e4, lateral=5e4, friction=2.0))
    np.testing.assert_allclose(own, other.spectrum(driving(other, 10.0)).values, rtol=1e-9, atol=1e-9)


def test_a_file_has_the_wheel(tmp_path):
    mechanism = disc()
    write_model(tmp_path / "model.yaml", mechanism)
    other = load_model(tmp_path / "model.yaml").mechanism
    times = np.linspace(0.0, 0.1, 11)
    ends = [integrate(m, sliding(m), times).states[-1] for m in (mechanism, other)]
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: disc(ground=None), "needs ground=GROUND.at"),
        (lambda: disc(ground=GROUND), "must be a place GROUND.at"),
        (lambda: disc(coulomb(3.0, speed=0.1)), "must be creep"),
        (lambda: disc(creep(longitudinal=1.0, limit=2.0)), "must be creep"),
        (lambda: creep(longitudinal=1.0, limit=2.0, friction=0.1), "not both"),
        (lambda: creep(longitudinal=1.0, friction=0.0), "friction must be positive"),
        (lambda: magic_formula(longitudinal=1.0), "needs its peak"),
        (
            lambda: railway_wheel("a.b", "c.d", GROUND.at(0, 0, 0), radius=0.1, conicity=0.1, creep=STIFF),
            "does not carry its load",
        ),
    ],
)
def test_bad_wheels_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_exact4_takes_no_wheels_that_slip():
    mechanism = disc()
    with pytest.raises(ValueError, match="'tyre' may dissipate"):
        integrate(mechanism, sliding(mechanism), [0.0, 0.01], method=Exact4())
