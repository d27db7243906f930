"""A point that slides along a body which bends: what the step keeps, slopes, other routes to the motion, refusals."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sliding_samples import SOFT, STRIP, axis_of, bead

import fem
import rigid
from flexph import (
    GROUND,
    IntegrationError,
    Simulator,
    connect,
    drive,
    eigenfrequencies,
    eliminate,
    force,
    hinge,
    integrate,
    inverse_dynamics,
    slider,
    weld,
)
from flexph.contacts import Plane, Rigid, contact
from flexph.control import Continuous, Sampled, port_spring
from flexph.joints import point_on_curve
from flexph.kernels.rates.curves import Curve, pieces
from flexph.kernels.rates.on_curves import all_at_state, curve_weights
from flexph.kernels.state import derive
from flexph.laws import coulomb, viscous
from flexph.mechanisms.model.state import configuration
from flexph.methods import Exact, Exact4, ExactGauss
from flexph.numerics.arrays import dense
from flexph.sensors import place_on_curve, rate

pytestmark = pytest.mark.filterwarnings("ignore:the velocities given contradict")  # the nearest that fit are meant
ROUND_OFF = 1e-13  # of sums over tens of steps
RAIL = [GROUND.at(0.0, 0.0), GROUND.at(1.0, 0.0)]


def kept(run):
    assert run.ledger.largest_residual < ROUND_OFF
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < ROUND_OFF * np.abs(momentum).max()


def apart(run):
    """Distance of the bead from the cubic through the four ports of the element that it is on, at the end [m]."""
    points = np.array([run.position(p)[-1] for p in ("beam.p3", "beam.p4", "beam.p5", "beam.tip")])
    cubic = [np.polynomial.Polynomial.fit(range(4), x, 3) for x in points.T]
    place = np.linspace(0.0, 3.0, 301)
    for width in (0.02, 2e-4, 2e-6, 2e-8, 2e-10, 2e-12):  # finer about the nearest of the last
        away = np.linalg.norm(np.array([p(place) for p in cubic]).T - run.position("bead.point")[-1], axis=1)
        place = place[np.argmin(away)] + np.linspace(-width, width, 201)
    return away.min()


@pytest.mark.processor
@pytest.mark.parametrize("h", [0.005, 0.05])
def test_energy_momenta_and_the_curve_are_kept_over_a_knot(h):
    mechanism, start = bead()
    run = integrate(mechanism, start, np.arange(0.0, 0.3 + h, h)[:13] if h < 0.05 else np.arange(0.0, 0.26, h))
    kept(run)
    run = integrate(mechanism, start, np.linspace(0.0, 0.25, 6))
    assert np.linalg.norm(run.position("bead.point")[-1] - run.position("beam.root")[-1]) > 0.51  # beyond the knot
    assert apart(run) < 1e-12  # the search above resolves 1e-13


def test_friction_along_a_curve_keeps_momenta_and_the_balance():
    """Whatever the step is; what it takes is the force times the way, never negative."""
    mechanism, start = bead(2, friction=coulomb(3.0, speed=1e-2, static=4.0, viscous=0.5))
    for h in (0.002, 0.02):
        run = integrate(mechanism, start, h * np.arange(6))
        kept(run)
        (lost,) = run.ledger.dissipation.values()
        assert lost.min() >= 0.0
        assert lost.sum() > 1e-3 * run.ledger.scale


def test_places_on_curves_and_their_rates_are_read():
    """The place is that of the nearest point of the cubic, the rate its derivative; both by controllers, too."""
    mechanism, start = bead(2)
    place = place_on_curve(mechanism.connections[0].name)
    run = integrate(mechanism, start, np.linspace(0.0, 0.12, 13))
    s, speed = run.measured(place), run.measured(rate(place))
    way = np.linalg.norm(run.position("bead.point")[0] - run.position("beam.root")[0])
    assert s[0] == pytest.approx(6.0 * way, rel=1e-12)  # ports are sixths of a metre apart, the beam is straight
    assert s[-1] > 3.1
    np.testing.assert_allclose((s[2:] - s[:-2]) / 0.02, speed[1:-1], rtol=5e-3)
    seen = []
    loop = Sampled(function=lambda t, see: seen.append(see["s"]) or {}, period=0.03, sensors={"s": place})
    integrate(mechanism, start, np.linspace(0.0, 0.12, 13), controllers={"look": loop})
    np.testing.assert_array_equal(seen, s[:-1:3])
    with pytest.raises(ValueError, match=r"no point_on_curve 'rail':.*'point_on_curve bead.point"):
        run.measured(place_on_curve("rail"))
    with pytest.raises(ValueError, match="rate must be of an angle"):
        rate(rate(place))


def on_way(s):
    """Place of a trolley that begins at 2.4 with about the speed of the bead, and stops and goes on."""
    return lambda t: s + 5.0 * t + 0.1 * math.sin(30.0 * t)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("h", [0.004, 0.02])
def test_a_motor_along_a_curve_and_the_place_that_it_keeps_to(dim, h):
    """Balance, momenta and the place at round-off at any step; the force that the place needs moves it so by a motor.

    Works are the force times the way along the curve, to round-off of each.
    """
    place = place_on_curve("trolley")
    free, start = bead(dim, motor=True, name="trolley")
    first = float(read_at(free, start, place))
    driven, start = bead(dim, place=on_way(first), name="trolley")
    run = integrate(driven, start, h * np.arange(7))
    kept(run)
    s = run.measured(place)
    np.testing.assert_allclose(s, [on_way(first)(t) for t in run.times], rtol=1e-13)
    force = run.stage_multipliers[:, -1]
    np.testing.assert_allclose(run.ledger.work["trolley"], force * np.diff(s), rtol=1e-11)
    np.testing.assert_allclose(
        run.measured(rate(place))[0], 8.0, rtol=1e-10
    )  # drives are differentiated by differences
    pushed = lambda t: force[min(int(t / h), 5)]  # noqa: E731
    begin = replace(start, multipliers=start.multipliers[:-1])
    again = integrate(free, begin, run.times, inputs={"trolley": pushed})
    kept(again)
    np.testing.assert_allclose(again.states, run.states, atol=1e-10 * abs(run.states).max())
    np.testing.assert_allclose(again.ledger.work["trolley"], force * np.diff(s), rtol=1e-8)


def test_a_servo_holds_a_trolley_on_a_beam():
    """A passive controller at the port: of it and the mechanism together the balance closes, and the momenta stay."""
    place = place_on_curve("trolley")
    mechanism, start = bead(2, motor=True, name="trolley")
    servo = Continuous(system=port_spring(30.0, 0.4), ports={"spring": "trolley"})
    run = integrate(mechanism, start, 0.01 * np.arange(8), controllers={"servo": servo})
    kept(run)
    s = run.measured(place)
    assert s.max() - s[0] > 0.04
    np.testing.assert_allclose(run.controls["trolley"][0, 0], -(15.0 + 40.0) * (s[1] - s[0]), rtol=1e-10)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_push_along_a_wire_has_a_potential(dim):
    """y = κx²/2 under a constant F: at rest where m g κ x = F, small swings with ω² = g κ/(1 + κ²x²) about that."""
    m, bend, x = 2.0, 1.3, 0.3
    up = (0.0,) * (dim - 2)
    wire = [GROUND.at(x, 0.5 * bend * x**2, *up) for x in (-1.0, 0.0, 1.0)]
    joint = point_on_curve("bead.point", wire, degree=2, at=(-1.0, 0.0, 1.0), motor=True, name="push")
    bowl = connect({"bead": rigid.point(m, dim)}, [joint], gravity=(0.0, -9.81, *up))
    pose, inputs = bowl.assemble(guess={"bead": (0.2, 0.02, 0.0)}), {"push": m * 9.81 * bend * x}
    rest = bowl.equilibrium(pose, inputs=inputs)
    assert rest.x[:2] == pytest.approx([x, 0.5 * bend * x**2], abs=1e-12)
    small = bowl.linearize(rest, inputs=inputs)
    np.testing.assert_allclose(eigenfrequencies(small), np.sqrt(9.81 * bend / (1.0 + (bend * x) ** 2)), rtol=1e-12)
    level = replace(bowl, gravity=0.0 * bowl.gravity).linearize(pose)
    for system in (small, eliminate(level)):  # what a unit push does to the momentum along the wire, √(m (ds/dx)²) ẋ
        E, B = dense(system.E), dense(system.B)
        at = x if system is small else pose.centres[0, 0]
        assert B[:, 0] @ np.linalg.solve(E, B[:, 0]) == pytest.approx(1.0 / (m * (1.0 + (bend * at) ** 2)))
    start = bowl.consistent_state(pose, velocities={"bead": (0.5, 0.1, *up)})
    simulator = Simulator(bowl, start, sensors={"rate": rate(place_on_curve("push"))})
    simulator.advance(0.01, inputs)
    assert simulator.outputs["push"][0] == pytest.approx(simulator.readings["rate"], rel=1e-13)
    with pytest.raises(
        ValueError, match=r"motion of 'push': replace its motor by point_on_curve\(..., place=function of time"
    ):
        inverse_dynamics(bowl, {"push": lambda t: 0.2 + t}, pose, (0.0, 0.1))
    assert "point_on_curve" in bowl.describe() and "push: across" in bowl.describe(details=True)


def test_reactions_of_a_place_that_is_driven_hold_a_mass_that_climbs():
    """Up a slope at constant speed a mass is held by its weight, straight up."""
    slope = [GROUND.at(0.0, 0.0), GROUND.at(4.0, 3.0)]
    joint = point_on_curve("mass.point", slope, at=(0.0, 5.0), place=lambda t: 1.0 + 2.0 * t, name="lift")
    hill = connect({"mass": rigid.point(2.0)}, [joint], gravity=(0.0, -9.81))
    start = hill.consistent_state(hill.assemble(guess={"mass": (0.7, 0.7, 0.0)}))
    run = integrate(hill, start, np.linspace(0.0, 1.0, 5))
    np.testing.assert_allclose(run.position("mass.point")[-1], [2.4, 1.8], rtol=1e-13)
    np.testing.assert_allclose(run.reaction("lift").force, np.outer(np.ones(4), [0.0, 2.0 * 9.81]), atol=1e-11)
    np.testing.assert_allclose(run["lift: along"], 2.0 * 9.81 * 0.6, rtol=1e-12)
    assert run.ledger.work["lift"].sum() == pytest.approx(2.0 * 9.81 * 1.2, rel=1e-12)


def read_at(mechanism, state, quantity):
    """What a quantity is at a state."""
    return quantity.of_state(mechanism)(state.x)


@pytest.mark.parametrize("friction", [None, coulomb(1.5, speed=0.05, viscous=0.7)])
def test_a_curve_that_does_not_bend_is_a_rail(friction):
    """The same motion and the same reaction as those of a slider, and friction takes the same."""
    found = []
    for joint in (
        slider("bead.point", "bar.root", direction=(1.0, 0.0), turning=True, friction=friction),
        point_on_curve("bead.point", ["bar.root", "bar.middle", "bar.tip"], friction=friction),
    ):
        bodies = {"bar": rigid.bar(1.0, 2.0), "bead": rigid.point(0.5)}
        mechanism = connect(bodies, [hinge("bar.root", GROUND), joint], gravity=(0.0, -9.81))
        pose = mechanism.assemble({"bar": (0.0, 0.0, -0.3)}, guess={"bead": (0.4, -0.12, 0.0)})
        start = mechanism.consistent_state(pose)
        run = integrate(mechanism, start, np.linspace(0.0, 0.3, 11))
        on = [run.reaction(joint.name, on=side) for side in ("first", "second")]
        assert on[0].torque[-1] == pytest.approx(0.0, abs=1e-12)
        lost = [own.sum() for own in run.ledger.dissipation.values()]
        assert len(lost) == (friction is not None)
        found.append([*run.position("bead.point")[-1], *on[0].force[-1], *on[1].force[-1], *on[1].torque[-1], *lost])
    assert found[1] == pytest.approx(found[0], rel=1e-11)


def test_mean_slopes_are_exact_and_go_to_slopes():
    rng = np.random.default_rng(0)
    curve = Curve(np.array([0]), np.zeros((2, 7), dtype=int), *pieces(np.array([0.0, 0.5, 0.8, 1.0, 1.4, 1.9, 2.5]), 3))
    for s0, s1 in rng.uniform(0.0, 2.5, (20, 2)):
        assert curve.mean_slope(s0, s1) * (s1 - s0) == pytest.approx(curve.shapes(s1) - curve.shapes(s0), abs=1e-14)
        assert curve.mean_slope(s0, s0 + 1e-9) == pytest.approx(curve.shapes(s0, 1), abs=1e-7)
        assert curve.shapes(s0).sum() == pytest.approx(1.0, abs=1e-14)
    assert curve.mean_slope(1.0 - 1e-9, 1.0 + 1e-9).sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_feet_are_the_same_from_near_and_from_anywhere(degree):
    """Over knots too; where a point is far from the curve or its place beyond the end, all pieces are asked."""
    rng, at = np.random.default_rng(degree), np.arange(0.0, 6.5)
    curve = Curve(np.array([0]), np.zeros((2, 7), dtype=int), *pieces(at, degree))
    bent = np.array([at, 0.2 * np.sin(at)])
    for shift, s, away in rng.uniform((-0.3, 0.3, 0.0), (0.3, 5.7, 0.4), (40, 3)):
        place = bent @ curve.shapes(s)
        tangent = bent @ curve.shapes(s, 1)
        point = place + 0.1 * away * np.array([-tangent[1], tangent[0]])
        products = point[:, None] - bent
        assert curve.foot_from(products, s + shift) == pytest.approx(curve.foot(products), abs=1e-12)
        assert curve.foot_from(products + 2.0, 20.0) == curve.foot(products + 2.0)


def test_the_matrix_of_the_constraints_gives_their_rates():
    mechanism, start = bead()
    a, c = mechanism.network.arrays, configuration(mechanism, start.x)
    product = derive(a, c).product
    mean, last = curve_weights(a.curves, all_at_state(a.curves, product), (2, product.size))
    rng = np.random.default_rng(1)
    for direction in rng.standard_normal((5, product.size)):  # on the curve both are the same across it
        assert mean @ direction == pytest.approx(last @ direction, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(
    ("method", "order", "friction"),
    [(Exact(), 2, None), (Exact4(), 4, None), (Exact(), 2, coulomb(3.0, speed=1.0, viscous=0.5))],
)
def test_steps_have_their_order(dim, method, order, friction):
    mechanism, start = bead(dim, fem.Material(young=1e6, density=1000.0, poisson=0.3), friction=friction)
    ends = [
        integrate(mechanism, start, np.linspace(0.0, 0.02, count + 1), method=method).position("bead.point")[-1]
        for count in (10, 20, 40)
    ]
    off = [np.linalg.norm(b - a) for a, b in pairwise(ends)]
    assert math.log2(off[0] / off[1]) == pytest.approx(order, abs=0.1)
    assert off[0] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("by", ["drive", "place"])
def test_a_load_that_crosses_a_bridge(by):
    """A constant force that moves with a constant speed over a beam on two supports, in closed form (L. Frýba).

    w = Σ 2P/(μL) sin(nπx/L) (sin Ω_n t − Ω_n/ω_n sin ω_n t)/(ω_n² − Ω_n²), Ω_n = nπv/L.
    """
    length, speed, push, steel = 10.0, 20.0, 1000.0, fem.Material(young=2.1e11, density=7850.0)
    beam, axis = axis_of(length, 4, material=steel, section=fem.Section(width=0.2, height=0.2))
    supports = [hinge("beam.root", GROUND.at(0.0, 0.0)), slider("beam.tip", GROUND.at(length, 0.0), turning=True)]
    along = {"drive": None, "place": lambda t: speed * t}[by]  # over the ground, or over the beam
    moving = [drive("load.point", GROUND.at(0.0, 0.0), displacement=lambda t: speed * t, direction=(1.0, 0.0))]
    carriage = point_on_curve("load.point", axis, degree=3, at=np.linspace(0.0, length, 13), place=along)
    joints = [*supports, carriage, force("load.point", name="load"), *(moving if by == "drive" else [])]
    bridge = connect({"beam": beam, "load": rigid.point(0.01)}, joints)
    start = bridge.consistent_state(bridge.assemble({"beam": (0.0, 0.0, 0.0)}, guess={"load": (0.0, 0.0, 0.0)}))
    run = integrate(bridge, start, np.linspace(0.0, 0.48, 193), inputs={"load": (0.0, -push)})
    mass, stiffness, t, sag = 7850.0 * 0.04, 2.1e11 * 0.2**4 / 12.0, run.times, np.zeros(193)
    for n in range(1, 60):
        own, forced = (n * math.pi / length) ** 2 * math.sqrt(stiffness / mass), n * math.pi * speed / length
        shape = math.sin(0.5 * n * math.pi)
        sag += (
            2.0
            * push
            / (mass * length)
            * shape
            * (np.sin(forced * t) - forced / own * np.sin(own * t))
            / (own**2 - forced**2)
        )
    # rotary inertia, steps of a ninetieth of the first period and the 10 g of the load make 0.2 %
    assert np.abs(run.position("beam.p6")[:, 1] + sag).max() < 4e-3 * sag.max()
    assert run.ledger.largest_residual < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("method", [Exact(), Exact4()])
def test_a_bead_on_a_rod_and_on_a_beam(method):
    names = [f"p{i}" for i in range(1, 8)]
    rod = fem.rod(1.0, SOFT, STRIP, elements=4, ports={name: (i + 1) / 8 for i, name in enumerate(names)})
    axis = ["rod.root", *(f"rod.{name}" for name in names), "rod.tip"]
    mechanism = connect({"rod": rod, "bead": rigid.point(0.3, 3)}, [point_on_curve("bead.point", axis, degree=2)])
    pose = mechanism.assemble({"rod": (0.0, 0.0, 0.0)}, guess={"bead": (0.3, 0.0, 0.0)})
    thrown = {"rod": ((0.1, 0.2, 0.0), (0.5, 1.0, 3.0)), "bead": (0.6, 1.0, -0.2)}
    start = mechanism.consistent_state(pose, velocities=thrown)
    kept(integrate(mechanism, start, np.linspace(0.0, 0.1, 11), method=method))


@pytest.mark.parametrize("tolerance", [None, 1e-4])
def test_a_run_ends_where_the_point_leaves_the_curve(tolerance):
    """It says so, and when, not that a step could not be solved; steps by their error come as near as they can."""
    beam, axis = axis_of(1.0, 1, material=SOFT, section=STRIP)
    joints = [weld("beam.root", GROUND.at(0.0, 0.0)), point_on_curve("bead.point", axis, degree=3)]
    mechanism = connect({"beam": beam, "bead": rigid.point(0.1)}, joints)
    pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)}, guess={"bead": (0.9, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"bead": (1.0, 0.0)})
    told = r"^the port 'bead.point' of .* comes to the end of its curve at about t = 0.1 s: use a longer curve, "
    with pytest.raises(IntegrationError, match=told) as caught:
        integrate(mechanism, start, np.linspace(0.0, 0.2, 11), method=Exact(tolerance=tolerance))
    assert caught.value.solution.times[-1] == pytest.approx(0.1)


def test_a_point_beyond_the_end_cannot_start():
    """Neither where it is assembled, nor from a pose that was made otherwise."""
    mechanism = connect({"bead": rigid.point(1.0)}, [point_on_curve("bead.point", RAIL)])
    beyond = r"'bead.point' of .* must be on its curve, s = 0 to 1, got s = 1.2"
    with pytest.raises(ValueError, match=beyond):
        mechanism.assemble(guess={"bead": (1.2, 0.0, 0.0)})
    pose = mechanism.assemble(guess={"bead": (1.0, 0.0, 0.0)})
    with pytest.raises(ValueError, match=beyond):
        mechanism.consistent_state(replace(pose, centres=1.2 * pose.centres))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"curve": ["b.root"]}, "1 ports for each piece, plus one"),
        (
            {"curve": ["b.root", "b.middle", "b.tip"], "degree": 3},
            "3 ports for each piece, plus one, .* got 3 ports",
        ),
        ({"curve": ["b.root", "c.tip"]}, "ports of one body"),
        ({"curve": ["b.root", "b.root"]}, "different ports"),
        ({"curve": ["b.root", "a.tip"]}, "not the sliding port"),
        ({"curve": ["a.root", "a.middle"]}, "different bodies"),
        ({"curve": [GROUND, GROUND.at(1.0, 0.0)]}, "GROUND without a place"),
        ({"curve": ["b.root", "b.tip"], "at": (1.0, 1.0)}, "at must ascend.*got .1.0, 1.0"),
        ({"curve": ["b.root", "b.tip"], "at": (1.0,)}, "shape"),
        ({"curve": ["b.root", "b.tip"], "degree": 1.0}, "degree must be a whole number, got 1.0"),
        ({"curve": ["b.root", "b.tip"], "motor": True, "place": abs}, "motor and place cannot be given together"),
    ],
)
def test_bad_curves_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        point_on_curve("a.tip", **arguments)


def test_a_run_with_rigid_contacts_ends_there_too():
    bodies = {"bead": rigid.point(1.0), "ball": rigid.point(1.0)}
    floor = contact("ball.point", Plane(GROUND.at(0.0, -1.0), (0.0, 1.0)), Rigid())
    mechanism = connect(bodies, [point_on_curve("bead.point", RAIL), floor])
    pose = mechanism.assemble(guess={"bead": (0.9, 0.0, 0.0), "ball": (0.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"bead": (1.0, 0.0)})
    with pytest.raises(IntegrationError, match="comes to the end of its curve") as caught:
        integrate(mechanism, start, np.linspace(0.0, 0.2, 11), method=Exact(contact="steps"))
    assert caught.value.solution.times[-1] == pytest.approx(0.1)


def test_a_kink_ends_the_run():
    """Beyond it, the velocity across the next piece would have energy."""
    bent = [GROUND.at(0.0, 1.0), GROUND.at(1.0, 0.0), GROUND.at(2.0, 1.0)]
    mechanism = connect({"bead": rigid.point(1.0)}, [point_on_curve("bead.point", bent)], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"bead": (0.8, 0.2, 0.0)}))
    with pytest.raises(IntegrationError, match=r"passes a kink of 1.6 rad") as caught:
        integrate(mechanism, start, np.linspace(0.0, 1.0, 51))
    assert caught.value.solution.ledger.largest_residual < ROUND_OFF
    assert caught.value.solution.position("bead.point")[-1] == pytest.approx([1.0, 0.0], abs=0.1)


VALLEY = np.linspace(-1.0, 1.0, 9)


def test_a_bead_in_a_valley_that_slides_swings_as_in_closed_form():
    """y = κx²/2 on a block of mass M that slides: ω² = κg (1 + m/M), and from the lowest point nothing moves."""
    m, M, bend = 2.0, 5.0, 1.3
    ports = {f"c{i}": (x, 0.5 * bend * x**2) for i, x in enumerate(VALLEY)}
    block = rigid.body(M, inertia=1.0, ports={**ports, "foot": (0.0, 0.0)})
    lane = slider("block.foot", GROUND.at(0.0, 0.0), direction=(1.0, 0.0))
    joints = [lane, point_on_curve("bead.point", [f"block.{name}" for name in ports], degree=2)]
    slope = connect({"block": block, "bead": rigid.point(m)}, joints, gravity=(0.0, -9.81))
    rest = slope.equilibrium(slope.assemble({"block": (0.0, 0.0, 0.0)}, guess={"bead": (0.2, 0.02, 0.0)}))
    swings = eigenfrequencies(eliminate(slope.linearize(rest)))
    np.testing.assert_allclose(swings, np.sqrt(9.81 * bend * (1.0 + m / M)), rtol=1e-12)
    run = integrate(slope, rest, np.linspace(0.0, 0.5, 6))
    assert abs(run.states - rest.x).max() < 1e-13


def poles(system):
    """Eigenvalues of a system without constraints."""
    E, J, R = (dense(getattr(system, name)) for name in "EJR")
    return np.linalg.eigvals(np.linalg.solve(E, J - R))


def test_friction_damps_small_swings_in_a_valley():
    """With ρ'(0) = c they fall as exp(−ct/2m), by linearisation about a loaded rest and by their spectrum."""
    wire = [GROUND.at(x, 0.5 * 1.3 * x**2) for x in VALLEY]
    slope = 0.8
    joint = point_on_curve("bead.point", wire, degree=2, friction=coulomb(0.2 * slope, speed=0.2))
    bowl = connect({"bead": rigid.point(2.0)}, [joint], gravity=(0.0, -9.81))
    rest = bowl.equilibrium(bowl.assemble(guess={"bead": (0.2, 0.02, 0.0)}))
    free = math.sqrt(1.3 * 9.81 - (slope / 4.0) ** 2)
    for found in (poles(bowl.linearize(rest)), bowl.spectrum(rest).values):
        np.testing.assert_allclose(np.sort_complex(found), [-slope / 4.0 - 1j * free, -slope / 4.0 + 1j * free])
    flat = connect({"bead": rigid.point(2.0)}, [point_on_curve("bead.point", RAIL, friction=viscous(slope))])
    level = flat.assemble(guess={"bead": (0.3, 0.0, 0.0)})
    np.testing.assert_allclose(poles(eliminate(flat.linearize(level))), [-slope / 2.0])


def test_a_bead_on_a_tilted_wire_in_space():
    """z = κx²/2 in a plane that is turned about the vertical: κg along the arc at the lowest point."""
    wire = [GROUND.at(0.8 * x, 0.6 * x, 0.5 * 1.3 * x**2) for x in VALLEY]
    joint = point_on_curve("bead.point", wire, degree=2)
    bowl = connect({"bead": rigid.point(2.0, 3)}, [joint], gravity=(0.0, 0.0, -9.81))
    rest = bowl.equilibrium(bowl.assemble(guess={"bead": (0.2, 0.1, 0.0)}))
    np.testing.assert_allclose(eigenfrequencies(eliminate(bowl.linearize(rest))), np.sqrt(1.3 * 9.81), rtol=1e-12)
    assert rest.multipliers @ rest.multipliers == pytest.approx((2.0 * 9.81) ** 2)


def test_a_mass_rests_in_the_middle_of_a_beam_that_it_bends():
    """Two routes: a weld there has the same sag, and all frequencies but that of the sliding."""
    wood = fem.Material(young=3e9, density=600.0)
    beam, axis = axis_of(2.0, 4, material=wood, section=STRIP, dim=2)
    held = [hinge("beam.root", GROUND), slider("beam.tip", GROUND.at(2.0, 0.0), direction=(1.0, 0.0), turning=True)]
    states, found = {}, {}
    for name, joint in {
        "slides": point_on_curve("mass.point", axis, degree=3),
        "welded": hinge("mass.point", "beam.p6"),
    }.items():
        bridge = connect({"beam": beam, "mass": rigid.point(0.5)}, [*held, joint], gravity=(0.0, -9.81))
        pose = bridge.assemble({"beam": (0.0, 0.0, 0.0)}, guess={"mass": (0.99 if name == "slides" else 1.0, 0.0, 0.0)})
        states[name] = bridge.equilibrium(pose)
        found[name] = np.sort(eigenfrequencies(eliminate(bridge.linearize(states[name]))))
        places = integrate(bridge, states[name], (0.0, 0.01)).position("mass.point")
        assert abs(places[-1] - places[0]).max() < 1e-11
        found[f"{name} at"] = places[0]
    off = found["slides at"] - found["welded at"]
    assert abs(off[0]) < 1e-4  # the point of the axis that is the lowest one is not just that of the port
    assert abs(off[1]) < 1e-9
    assert found["slides at"][1] < -1e-3
    sliding, *others = found["slides"]
    load, weight, bending = 0.5 * 9.81, 0.36 * 9.81, 3e9 * 4.5e-8  # of a metre of the beam
    curved = load * 2.0 / (6.0 * bending) + weight * 2.0**2 / (8.0 * bending)  # of the way of the load over the beam
    assert sliding == pytest.approx(math.sqrt(9.81 * curved), rel=0.015)  # 1 % with 4 elements, 0.2 % with 8
    np.testing.assert_allclose(others[:2], found["welded"][:2], rtol=1e-2)  # the slope of the sag couples them


def test_what_does_not_hold_is_refused_by_name():
    mechanism, start = bead(2)
    for what in (mechanism.buckling, mechanism.phdae):
        with pytest.raises(ValueError, match=r"does not support points on curves, and 'point_on_curve"):
            what(start)
    with pytest.raises(ValueError, match=r"ExactGauss\(\) does not support points on curves"):
        integrate(mechanism, start, (0.0, 0.01), method=ExactGauss())
