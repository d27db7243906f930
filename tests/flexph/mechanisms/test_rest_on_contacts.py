"""Equilibria with contacts: closed forms of forces and bounds of friction, small motions about closed contacts.

Five seconds, as a mechanism without equilibrium is searched by many means before it is refused.
"""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, eigenfrequencies, force, hinge, integrate, weld
from flexph.contacts import (
    Box,
    Capsule,
    Cylinder,
    Hertz,
    Hole,
    KelvinVoigt,
    Plane,
    Rigid,
    Sphere,
    contact,
    mutual_contact,
    stop,
)
from flexph.mechanisms import contact_search
from flexph.mechanisms.contact_equilibrium import SlipError

WEIGHT = 10.0
DOWN = (0.0, -WEIGHT)
FLOOR = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
FEET = {"left": (-0.2, -0.1), "right": (0.2, -0.1)}


@pytest.fixture
def one_softness(monkeypatch):
    """Springs that stand for rigid contacts have the first stiffness only: two more find no other answer."""
    return lambda: monkeypatch.setattr(contact_search, "SOFT", contact_search.SOFT[:1])


def forces(mechanism, state):
    """Forces of the closed contacts by their names."""
    held, at = mechanism.with_closed_contacts(state)
    return dict(zip(held.constraint_names, at.multipliers.tolist(), strict=True))


def block(law, *, slope=0.0, gravity=DOWN):
    """A block with two feet over a plane."""
    plane = Plane(GROUND.at(0.0, 0.0), (-math.sin(slope), math.cos(slope)))
    body = rigid.body(2.0, inertia=0.05, ports=FEET)
    return connect({"block": body}, [contact(["block.left", "block.right"], plane, law, name="feet")], gravity=gravity)


DEPTHS = {
    Rigid(restitution=0.5): 0.0,
    Hertz(1e6): (2.0 * WEIGHT / 1e6) ** (2.0 / 3.0),
    KelvinVoigt(1e5, damping=3.0): 2.0 * WEIGHT / 1e5,
}


@pytest.mark.parametrize("law", DEPTHS, ids=lambda law: type(law).__name__)
def test_a_ball_falls_to_its_rest_and_stays_there(law):
    ball = rigid.body(2.0, inertia=0.01, ports={"centre": (0.0, 0.0)})
    mechanism = connect({"ball": ball}, [contact(Sphere("ball.centre", 0.1), FLOOR, law, name="floor")], gravity=DOWN)
    rest = mechanism.equilibrium(mechanism.assemble({"ball": (0.3, 0.7, 0.0)}))
    np.testing.assert_allclose(mechanism.position(rest, "ball.centre"), [0.3, 0.1 - DEPTHS[law]], atol=1e-12)
    run = integrate(mechanism, rest, np.linspace(0.0, 0.1, 11))
    assert np.abs(run["ball.velocity"]).max() < 1e-10 and run.energy_drift() < 1e-12


def test_a_block_rests_on_both_feet_from_a_tilted_pose():
    mechanism = block(Rigid())
    rest = mechanism.equilibrium(mechanism.assemble({"block": (0.0, 0.5, 0.3)}))
    for foot in FEET:
        assert mechanism.position(rest, f"block.{foot}")[1] == pytest.approx(0.0, abs=1e-14)
    assert forces(mechanism, rest) == {"feet: 1: normal": pytest.approx(10.0), "feet: 2: normal": pytest.approx(10.0)}


def test_friction_holds_a_block_on_a_slope_up_to_its_bound(one_softness):
    slope = 0.2
    place = {"block": (-0.1 * math.sin(slope), 0.1 * math.cos(slope), slope)}
    mechanism = block(Rigid(friction=1.2 * math.tan(slope)), slope=slope)
    rest = mechanism.equilibrium(mechanism.assemble(place))
    own = forces(mechanism, rest)
    along = sum(force for name, force in own.items() if "tangent" in name)
    assert abs(along) == pytest.approx(2.0 * WEIGHT * math.sin(slope), rel=1e-9)
    run = integrate(mechanism, rest, np.linspace(0.0, 0.5, 51))
    assert np.abs(run["block.velocity"]).max() < 1e-10
    one_softness()
    slippery = block(Rigid(friction=0.98 * math.tan(slope)), slope=slope)
    with pytest.raises(ArithmeticError, match=r"slips; coefficients of friction would have to be 1\.02 times as large"):
        slippery.equilibrium(slippery.assemble(place))


def test_a_block_that_slips_rests_at_a_wall_only_from_a_pose_above_the_slope():
    """In a pose on the slope friction must hold it; an equilibrium far away does not answer the question if it does."""
    slope, down = 0.2, np.array([-math.cos(0.2), -math.sin(0.2)])
    feet = block(Rigid(friction=0.5 * math.tan(slope)), slope=slope)
    wall = contact("block.left", Plane(GROUND.at(*((0.2 + 0.5) * down)), -down), Rigid(), name="wall")
    mechanism = feet.replace(joints=[*feet.connections, wall])
    with pytest.raises(SlipError, match=r"feet.* slips.* 2 times"):
        mechanism.equilibrium(mechanism.assemble({"block": (-0.1 * math.sin(slope), 0.1 * math.cos(slope), slope)}))
    rest = mechanism.equilibrium(mechanism.assemble({"block": (0.0, 0.2, slope)}))
    assert mechanism.position(rest, "block.left") == pytest.approx((0.2 + 0.5) * down, abs=1e-12)


@pytest.mark.processor
@pytest.mark.parametrize("law", [Rigid(), Rigid(friction=0.3), KelvinVoigt(1e4)], ids=["rigid", "rough", "compliant"])
def test_a_box_that_is_tilted_a_little_comes_to_rest_on_its_face(law):
    """By 3°, about each axis of the floor and in each direction of the world: not on an edge or a corner."""
    sink = 2.0 * WEIGHT / (4.0 * 1e4) if isinstance(law, KelvinVoigt) else 0.0
    for k in range(6):
        turn = Rotation.random(random_state=k).as_matrix() if k else np.eye(3)
        tilt = Rotation.from_rotvec(0.05 * np.array([math.cos(k), math.sin(k), 0.0])).as_matrix()
        body = rigid.body(2.0, inertia=(0.02,) * 3, ports={"own": (0.0, 0.0, 0.0)})
        laid = contact(Box("body.own", (0.2, 0.2, 0.2)), Plane(GROUND.at(0.0, 0.0, 0.0), turn[:, 2]), law, name="floor")
        mechanism = connect({"body": body}, [laid], gravity=-WEIGHT * turn[:, 2])
        rest = mechanism.equilibrium(mechanism.assemble({"body": (turn @ (0.1, 0.2, 0.11), turn @ tilt)}))
        assert turn[:, 2] @ mechanism.position(rest, "body.own") == pytest.approx(0.1 - sink, abs=1e-12)


def test_friction_of_round_bodies_is_named_where_only_friction_holds_them():
    """A bar that may slide along two rails."""
    body = rigid.body(2.0, inertia=(2e-4, 0.02, 0.02), ports={"own": (0.0, 0.0, 0.0)})
    rails = [Capsule(GROUND.at(x, 0.0, 0.0), 1.0, 0.02, axis=(0.0, 1.0, 0.0)) for x in (-0.1, 0.15)]
    laid = contact(Capsule("bar.own", 0.5, 0.02, axis=(1.0, 0.0, 0.0)), rails, Rigid(friction=0.4), name="rails")
    mechanism = connect({"bar": body}, [laid], gravity=(0.1, 0.1, -WEIGHT))
    with pytest.raises(ArithmeticError, match=r"friction holds points on planes only, not 'rails"):
        mechanism.equilibrium(mechanism.assemble({"bar": ((0.02, 0.0, 0.045), np.eye(3))}))


def test_the_anchors_of_compliant_contacts_hold_a_block():
    """It sinks by mg cos/(2k) and creeps by mg sin/(2k_t), and swings about its rest."""
    slope, k = 0.2, 1e5
    mechanism = block(KelvinVoigt(k, friction=0.3, tangential_stiffness=k), slope=slope)
    place = {"block": (-0.1 * math.sin(slope), 0.1 * math.cos(slope), slope)}
    rest = mechanism.equilibrium(mechanism.assemble(place))
    feet = [mechanism.position(rest, f"block.{foot}") for foot in FEET]
    middle, t, n = np.mean(feet, axis=0), (math.cos(slope), math.sin(slope)), (-math.sin(slope), math.cos(slope))
    assert middle @ n == pytest.approx(-WEIGHT * math.cos(slope) / k, rel=1e-3)
    assert middle @ t == pytest.approx(-WEIGHT * math.sin(slope) / k, rel=1e-3)
    swings = np.abs(mechanism.spectrum(rest).values.imag)
    assert np.min(np.abs(swings - math.sqrt(2.0 * k / 2.0))) < 1.0  # up and down, 316 rad/s


def test_contacts_share_friction_as_their_normal_forces_allow():
    """Near the bound, equal shares exceed it at the foot that is pressed less; the sum does not."""
    slope = 0.2
    mechanism = block(Rigid(friction=1.01 * math.tan(slope)), slope=slope)
    rest = mechanism.equilibrium(mechanism.assemble({"block": (-0.1 * math.sin(slope), 0.1 * math.cos(slope), slope)}))
    own = forces(mechanism, rest)
    shares = [abs(own[f"feet: {k}: friction: tangent 1"]) / own[f"feet: {k}: normal"] for k in (1, 2)]
    assert max(shares) > 1.01 * math.tan(slope) > min(shares)


def test_a_ladder_needs_the_friction_of_its_closed_form(one_softness):
    """Against a smooth wall at the angle θ: μ ≥ 1/(2 tan θ)."""
    angle = 1.0

    def ladder(mu):
        feet = [
            contact("ladder.root", FLOOR, Rigid(friction=mu), name="floor"),
            contact("ladder.tip", Plane(GROUND.at(math.cos(angle), 0.0), (-1.0, 0.0)), Rigid(), name="wall"),
        ]
        mechanism = connect({"ladder": rigid.bar(1.0, 3.0)}, feet, gravity=DOWN)
        return mechanism, mechanism.equilibrium(mechanism.assemble({"ladder": (0.0, 0.0, angle)}))

    least = 0.5 / math.tan(angle)
    own = forces(*ladder(1.001 * least))
    assert own["floor: normal"] == pytest.approx(30.0, rel=1e-9)
    assert own["wall: normal"] == pytest.approx(30.0 * least, rel=1e-9)
    one_softness()
    with pytest.raises(ArithmeticError, match="'floor' slips"):
        ladder(0.999 * least)


def test_a_stop_carries_the_moment_of_the_weight():
    arm = [
        hinge("arm.root", GROUND.at(0.0, 0.0)),
        stop("arm.root", GROUND, Rigid(), lower=-0.5, upper=1.0, name="stop"),
    ]
    mechanism = connect({"arm": rigid.bar(1.0, 2.0)}, arm, gravity=DOWN)
    rest = mechanism.equilibrium(mechanism.assemble({"arm": 0.3}))
    assert mechanism.position(rest, "arm.tip")[1] == pytest.approx(math.sin(-0.5), abs=1e-13)
    (moment,) = [force for name, force in forces(mechanism, rest).items() if name.startswith("stop")]
    assert abs(moment) == pytest.approx(2.0 * WEIGHT * 0.5 * math.cos(0.5), rel=1e-9)
    np.testing.assert_allclose(rest.multipliers, [0.0, 2.0 * WEIGHT], atol=1e-9)


def propped(law, height=0.0):
    """A cantilever whose tip is over a support at a height."""
    steel, strip = fem.Material(young=2.1e11, density=7850.0), fem.Section(width=0.02, height=0.01)
    beam = fem.beam(1.0, steel, strip, elements=8)
    prop = contact("beam.tip", Plane(GROUND.at(0.0, height), (0.0, 1.0)), law, name="prop")
    mechanism = connect({"beam": beam}, [weld("beam.root", GROUND), prop], gravity=DOWN)
    return mechanism, mechanism.equilibrium(mechanism.assemble({"beam": 0.0})), steel, strip


def test_a_propped_cantilever_has_three_eighths_of_its_weight_at_the_prop():
    mechanism, rest, steel, strip = propped(Rigid())
    weight = WEIGHT * steel.density * strip.area
    assert forces(mechanism, rest)["prop: normal"] == pytest.approx(3.0 / 8.0 * weight, rel=1e-3)  # 8 elements


def test_small_motions_about_a_closed_and_an_open_prop():
    """First frequencies (15.418 and 3.516) √(EI/μL⁴) of a clamped beam with a pinned and with a free end."""
    for height, factor in ((0.0, 15.418), (-0.1, 3.516)):
        mechanism, rest, steel, strip = propped(Rigid(), height)
        expected = factor * math.sqrt(steel.young * strip.second_moment / (steel.density * strip.area))
        spectrum = mechanism.spectrum(rest)
        lowest = min(abs(value.imag) for value in spectrum.values if abs(value.imag) > 1.0)
        assert lowest == pytest.approx(expected, rel=5e-3)
        assert eigenfrequencies(mechanism.linearize(rest), 1)[0] == pytest.approx(lowest, rel=1e-6)


@pytest.mark.parametrize("law", [Rigid(), KelvinVoigt(1e6)], ids=["rigid", "compliant"])
def test_a_rod_bends_far_until_its_tip_is_on_the_floor(law):
    rubber = fem.Material(young=1e7, density=1000.0, poisson=0.3)
    rod = fem.rod(1.0, rubber, fem.Section(width=0.02, height=0.02), elements=3, dim=2)
    tip = contact("rod.tip", Plane(GROUND.at(0.0, -0.1), (0.0, 1.0)), law, name="floor")
    mechanism = connect({"rod": rod}, [weld("rod.root", GROUND), tip], gravity=DOWN)
    rest = mechanism.equilibrium(mechanism.assemble({"rod": (0.0, 0.0, 0.0)}))
    assert mechanism.position(rest, "rod.tip")[1] == pytest.approx(-0.1, abs=1e-5)
    held, at = mechanism.with_closed_contacts(rest)
    whole = abs(float(np.ravel(held.reaction(at, held.connections[0].name).force)[1]))
    assert 0.5 * 4.0 < whole < 0.9 * 4.0  # the floor has the rest of the weight, between ⅜ of it and a tenth


def test_a_hertzian_contact_is_the_spring_of_its_slope():
    ball = rigid.body(2.0, inertia=0.01, ports={"centre": (0.0, 0.0)})
    floor = contact(Sphere("ball.centre", 0.1), FLOOR, Hertz(1e6), name="floor")
    mechanism = connect({"ball": ball}, [floor], gravity=DOWN)
    rest = mechanism.equilibrium(mechanism.assemble({"ball": (0.0, 0.1, 0.0)}))
    slope = 1.5 * 1e6 * (2.0 * WEIGHT / 1e6) ** (1.0 / 3.0)
    assert np.abs(mechanism.spectrum(rest).values.imag).max() == pytest.approx(math.sqrt(slope / 2.0), rel=1e-6)


def test_a_table_in_space_rests_on_four_legs_in_any_direction_of_the_world():
    legs = {f"leg{k}": (x, y, -0.4) for k, (x, y) in enumerate([(-1.0, -0.5), (1.0, -0.5), (1.0, 0.5), (-1.0, 0.5)])}
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
    for R in (np.eye(3), turn * np.linalg.det(turn)):
        top = rigid.body(8.0, inertia=(1.0, 2.0, 3.0), ports=legs)
        plane = Plane(GROUND.at(0.0, 0.0, 0.0), tuple(R[:, 2]))
        feet = contact([f"table.{leg}" for leg in legs], plane, Rigid(), name="feet")
        mechanism = connect({"table": top}, [feet], gravity=tuple(-WEIGHT * R[:, 2]))
        rest = mechanism.equilibrium(mechanism.assemble({"table": (tuple(0.7 * R[:, 2]), R)}))
        np.testing.assert_allclose(list(forces(mechanism, rest).values()), 20.0, rtol=1e-9)


def test_of_three_supports_the_low_one_stays_open():
    supports = {"a": (-1.0, 0.0), "b": (0.0, 0.0), "c": (1.0, 0.0)}
    bar = rigid.body(3.0, inertia=1.0, ports=supports)
    planes = [
        contact(f"bar.{name}", Plane(GROUND.at(0.0, height), (0.0, 1.0)), Rigid(), name=name)
        for name, height in (("a", 0.0), ("b", -0.01), ("c", 0.0))
    ]
    mechanism = connect({"bar": bar}, planes, gravity=DOWN)
    own = forces(mechanism, mechanism.equilibrium(mechanism.assemble({"bar": (0.0, 0.2, 0.05)})))
    assert own == {"a: normal": pytest.approx(15.0), "c: normal": pytest.approx(15.0)}


def test_what_cannot_rest_is_refused_by_name(one_softness):
    balls = {name: rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)}) for name in "abc"}
    pile = mutual_contact([Sphere(f"{name}.c", 0.1) for name in balls], Rigid(), name="pile")
    mechanism = connect(balls, [pile])
    with pytest.raises(ValueError, match="mutual contacts of many balls, and 'pile' is one"):
        mechanism.equilibrium(mechanism.assemble({"a": 0.0, "b": (1.0, 0.0, 0.0), "c": (2.0, 0.0, 0.0)}))
    pin = rigid.body(1.0, inertia=(0.1, 0.1, 0.1), ports={"pin": (0.0, 0.0, 0.0)})
    hole = Hole(GROUND.at(0.0, 0.0, 0.0), 0.11, axis=(0.0, 0.0, 1.0))
    clearance = contact(Cylinder("b.pin", 0.1, axis=(0.0, 0.0, 1.0)), hole, Rigid(), name="bearing")
    mechanism = connect({"b": pin}, [clearance])
    with pytest.raises(ValueError, match=r"takes contacts of points and balls.*; 'bearing' is of another kind"):
        mechanism.equilibrium(mechanism.assemble())
    mechanism = block(Rigid())
    pose = mechanism.assemble({"block": (0.0, 0.1, 0.0)})
    with pytest.raises(ValueError, match=r"mechanism\.equilibrium does not support contacts"):
        mechanism.equilibrium(pose, spin=1.0)
    one_softness()
    slope = Plane(GROUND.at(0.0, 0.0), (-math.sin(0.2), math.cos(0.2)))
    wheel = rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)})
    rolling = connect(
        {"w": wheel}, [contact(Sphere("w.c", 0.1), slope, Rigid(friction=0.5), name="tyre")], gravity=DOWN
    )
    with pytest.raises(ArithmeticError, match="friction holds points on planes only, not 'tyre'"):
        rolling.equilibrium(rolling.assemble({"w": (0.0, 0.2, 0.0)}))


def test_friction_of_a_ladder_is_within_its_cones():
    """Forces that the joints leave open are those of least normal force: at the wall T = μN, at the ground below it."""
    mu, angle, weight = 0.3, 1.1, 98.1
    bar = rigid.bar(4.0, weight / 9.81)
    wall, floor = Plane(GROUND.at(4.0 * np.cos(angle), 0.0), (-1.0, 0.0)), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touching = [
        contact("bar.tip", wall, Rigid(friction=mu), name="wall"),
        contact("bar.root", floor, Rigid(friction=mu), name="ground"),
    ]
    mechanism = connect({"bar": bar}, touching, gravity=(0.0, -9.81))
    made, state = mechanism.with_closed_contacts(mechanism.equilibrium(mechanism.assemble({"bar": (0.0, 0.0, angle)})))
    forces = dict(zip(made.constraint_names, np.abs(state.multipliers), strict=True))
    at_wall = 0.5 * weight / (np.tan(angle) + mu)
    assert forces["wall: normal"] == pytest.approx(at_wall, rel=1e-5)
    for name in ("wall", "ground"):  # the bounds are met to 1e-6 of the largest force
        assert forces[f"{name}: friction: tangent 1"] <= mu * forces[f"{name}: normal"] + 1e-6 * weight
    assert forces["ground: normal"] + forces["wall: friction: tangent 1"] == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_block_on_compliant_feet_stays_where_it_rests_on_a_slope(dim):
    """The anchors of the feet carry m g sin θ from the first step."""
    slope = np.arctan(0.2)
    sine, cosine = np.sin(slope), np.cos(slope)
    if dim == 2:
        feet = {"left": (-0.2, -0.1), "right": (0.2, -0.1)}
        plane, place = Plane(GROUND.at(0.0, 0.0), (-sine, cosine)), (-0.1 * sine, 0.1 * cosine, slope)
    else:
        feet = {f"foot{i}{j}": (0.4 * i - 0.2, 0.4 * j - 0.2, -0.1) for i in (0, 1) for j in (0, 1)}
        turn = np.array([[cosine, 0.0, -sine], [0.0, 1.0, 0.0], [sine, 0.0, cosine]])
        plane, place = Plane(GROUND.at(0.0, 0.0, 0.0), (-sine, 0.0, cosine)), (0.1 * turn[:, 2], turn)
    block = rigid.body(10.0, inertia=1.0 if dim == 2 else (1.0, 1.0, 1.0), ports=feet)
    law = KelvinVoigt(1e5, damping=100.0, friction=0.3)
    standing = contact([f"block.{name}" for name in feet], plane, law, name="floor")
    mechanism = connect({"block": block}, [standing], gravity=(*(0.0,) * (dim - 1), -9.81))
    rest = mechanism.equilibrium(mechanism.assemble({"block": place}))
    run = integrate(mechanism, rest, np.linspace(0.0, 0.2, 201))
    np.testing.assert_allclose(run.contact("floor").friction, 98.1 * sine, rtol=1e-9)
    assert np.ptp(run.position(f"block.{next(iter(feet))}"), axis=0).max() < 1e-12


def test_a_ladder_that_slips_is_told_by_how_much_friction_lacks(one_softness):
    """With the coefficients s μ it holds from (1 − s² μ₁μ₂)/(2 s μ₂) = tan θ on."""
    angle = 1.1
    wall, floor = Plane(GROUND.at(4.0 * np.cos(angle), 0.0), (-1.0, 0.0)), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touching = [contact("bar.tip", wall, Rigid(friction=0.3)), contact("bar.root", floor, Rigid(friction=0.2))]
    mechanism = connect({"bar": rigid.bar(4.0, 10.0)}, touching, gravity=(0.0, -9.81))
    lacking = (-0.4 * np.tan(angle) + np.sqrt((0.4 * np.tan(angle)) ** 2 + 0.24)) / 0.12
    one_softness()
    with pytest.raises(ArithmeticError, match=f"would have to be {lacking:.4g} times as large"):
        mechanism.equilibrium(mechanism.assemble({"bar": (0.0, 0.0, angle)}))


@pytest.mark.parametrize("law", [Rigid(friction=0.3), Rigid(), KelvinVoigt(1e5, friction=0.3)], ids=str)
def test_a_block_that_is_lifted_off_names_the_contact_that_opens(law, one_softness):
    """By 21 N at a weight of 20 N: both feet would have to pull with ½ N."""
    ports = {"left": (-0.2, -0.1), "right": (0.2, -0.1), "top": (0.0, 0.1)}
    block = rigid.body(2.0, inertia=0.1, ports=ports)
    feet = contact(["block.left", "block.right"], Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="feet")
    mechanism = connect({"block": block}, [feet, force("block.top", name="pull")], gravity=(0.0, -10.0))
    pose = mechanism.assemble({"block": (0.0, 0.1, 0.0)})
    assert mechanism.equilibrium(pose, inputs={"pull": (0.0, 19.0)}, redundant="least_norm").x.size
    one_softness()
    with pytest.raises(ArithmeticError, match=r"'feet: [12]' opens, as it would have to pull with 0.5 N"):
        mechanism.equilibrium(pose, inputs={"pull": (0.0, 21.0)}, redundant="least_norm")
