"""Equilibria with laws of springs: closed forms, laws with limits, steady rotations, and what is refused.

Five seconds, as a mechanism without equilibrium is searched by all means before it is refused.
"""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, force, integrate, revolute, slider, spring_damper, torsion_spring, weld
from flexph.joints import bushing
from flexph.laws import force_law, gas_spring, gravitation, polynomial, potential

GROUND_2, GROUND_3 = GROUND.at(0.0, 0.0), GROUND.at(0.0, 0.0, 0.0)
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def pressed(law):
    """A mass on a vertical line, on a spring of one metre."""
    return connect(
        {"mass": rigid.point(1.0)},
        [
            slider("mass.point", GROUND_2, direction=(0.0, 1.0), turning=True),
            spring_damper("mass.point", GROUND_2, law=law, direction=(0.0, 1.0), length=1.0),
            force("mass.point", name="load"),
        ],
    )


@pytest.mark.parametrize("exponent", [1.0, 1.4])
@pytest.mark.parametrize("load", [5.0, 50.0, 500.0, 5e4, 1e7])
def test_a_gas_column_under_any_load(load, exponent):
    """P (L/(L + x))ⁿ = P + F has L + x = L (1 + F/P)^(−1/n): the search stays within the column."""
    mechanism, P, L = pressed(gas_spring(10.0, column=0.2, exponent=exponent)), 10.0, 0.2
    rest = mechanism.equilibrium(mechanism.assemble({"mass": (0.0, 1.0, 0.0)}), inputs={"load": (0.0, -load)})
    place = 1.0 - L + L * (load / P) ** (-1.0 / exponent)
    assert mechanism.position(rest, "mass.point")[1] == pytest.approx(place, rel=0, abs=1e-13)


@pytest.mark.parametrize("length", [0.2, 9.0])
def test_a_slack_string_holds_a_mass_that_falls_far(length):
    """From 0.1 m below its end, over up to 90 times this size: at the length and mg/k."""
    law = potential(lambda x: 100.0 * max(x, 0.0) ** 2, lambda x: 200.0 * max(x, 0.0))
    string = spring_damper("mass.point", GROUND.at(0.0, 0.0), law=law, length=length)
    mechanism = connect({"mass": rigid.point(2.0)}, [string], gravity=(0.0, -9.81))
    state = mechanism.equilibrium(mechanism.assemble({"mass": (0.0, -0.1, 0.0)}))
    np.testing.assert_allclose(state.x[:2], [0.0, -(length + 2.0 * 9.81 / 200.0)], atol=1e-12)


def test_a_body_that_nothing_holds_is_refused():
    body = rigid.body(2.0, inertia=0.1, ports={"top": (0.0, 0.1)})
    mechanism = connect({"body": body}, [force("body.top", name="pull")])
    with pytest.raises(ArithmeticError, match="nothing holds the mechanism, which moves away by 100 times its size"):
        mechanism.equilibrium(mechanism.assemble({"body": (0.0, 0.0, 0.0)}), inputs={"pull": (1.0, 0.0)})


def test_a_law_of_a_user_that_raises_beyond_its_limits():
    def energy(x):
        return -np.log(0.2 + x) if x > -0.2 else 1 / 0

    def pull(x):
        return -1.0 / (0.2 + x) if x > -0.2 else 1 / 0

    mechanism = pressed(potential(energy, pull))
    rest = mechanism.equilibrium(mechanism.assemble({"mass": (0.0, 1.0, 0.0)}), inputs={"load": (0.0, -1e3)})
    assert mechanism.position(rest, "mass.point")[1] == pytest.approx(0.8 + 1e-3, abs=1e-13)


@pytest.mark.parametrize("ask", ["equilibrium", "consistent_state"])
def test_a_pose_beyond_a_law_is_refused_with_its_name(ask):
    mechanism = pressed(gas_spring(10.0, column=0.2))
    pose = mechanism.assemble({"mass": (0.0, 0.5, 0.0)})
    with pytest.raises(ValueError, match=r"spring mass\.point–GROUND.*gas_spring\(10, column=0\.2.*compressed.*0\.5 m"):
        getattr(mechanism, ask)(pose)


@pytest.mark.parametrize(
    "make",
    [
        lambda law: spring_damper("a.point", "b.point", law=law),
        lambda law: torsion_spring("a.point", "b.point", law=law),
        lambda law: bushing("a.point", "b.point", law=law),
    ],
)
def test_a_law_of_the_distance_without_a_length_is_refused(make):
    with pytest.raises(ValueError, match=r"law must have a force at the extension 0.*gravitation\(1\)"):
        connect({"a": rigid.point(1.0), "b": rigid.point(1.0)}, [make(gravitation(1.0))])


def rotor(*springs):
    """A mass that slides on a rotor about z, on a spring of 0.5 m and 100 N/m."""
    hub = rigid.body(1.0, inertia=(0.1, 0.1, 0.2), ports={"c": (0.0, 0.0, 0.0)})
    return connect(
        {"hub": hub, "mass": rigid.point(2.0, dim=3)},
        [
            revolute("hub.c", GROUND_3, axis=Z),
            slider("mass.point", "hub.c", direction=X, turning=True),
            *springs,
        ],
    )


@pytest.mark.parametrize("law", [polynomial(100.0), force_law(lambda x, v, t: 100.0 * x + 7.0 * v)], ids=str)
def test_a_steady_rotation_with_a_law(law):
    """m ω² (ℓ + x) = k x."""
    mechanism, spin = rotor(spring_damper("mass.point", "hub.c", law=law, direction=X, length=0.5)), 3.0
    pose = mechanism.assemble({"mass": (np.array([0.5, 0.0, 0.0]), np.eye(3))})
    rest = mechanism.equilibrium(pose, spin=(0.0, 0.0, spin))
    place = 100.0 * 0.5 / (100.0 - 2.0 * spin**2)
    assert mechanism.position(rest, "mass.point") == pytest.approx((place, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize(
    "motor",
    [pytest.param(lambda x, v, t: 2.0 * v - 10.0, marks=pytest.mark.slow), lambda x, v, t: v**3 - 125.0],
)
def test_a_force_law_to_the_ground_drives_a_steady_rotation(motor):
    """It balances at the spin at which it vanishes, 5 rad/s, and at no other; a run stays there."""
    mechanism = rotor(
        spring_damper("mass.point", "hub.c", stiffness=100.0, direction=X, length=0.5),
        torsion_spring("hub.c", GROUND_3, law=force_law(motor), axis=Z),
    )
    pose = mechanism.assemble({"mass": (np.array([0.5, 0.0, 0.0]), np.eye(3))})
    steady = mechanism.equilibrium(pose, spin=(0.0, 0.0, 5.0))
    run = integrate(mechanism, steady, np.linspace(0.0, 0.25, 101))
    assert np.linalg.norm(run.velocity("mass.point"), axis=1) == pytest.approx(
        5.0, abs=1e-3
    )  # turns of a step are of order 2
    with pytest.raises(ArithmeticError, match="no equilibrium was found"):
        mechanism.equilibrium(pose, spin=(0.0, 0.0, 4.0))


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("body", ["beam", "rod"])
def test_a_linear_law_is_a_stiffness_on_a_beam(stiffness, body):
    """Statics and steps with a strong spring at the tip of a soft beam."""
    steel = fem.Material(young=7e10, density=2700.0, poisson=0.3)
    section = fem.Section(width=0.02, height=0.01)
    beam = (
        fem.beam(1.0, steel, section, elements=3, dim=3) if body == "beam" else fem.rod(1.0, steel, section, elements=3)
    )
    ends = []
    for given in ({"stiffness": stiffness}, {"law": polynomial(stiffness)}):
        spring = spring_damper("beam.tip", GROUND.at(1.0, 0.3, 0.1), name="spring", **given)
        mechanism = connect({"beam": beam}, [weld("beam.root", GROUND_3), spring], gravity=(0.0, -9.81, 0.0))
        rest = mechanism.equilibrium(mechanism.assemble())
        run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.linspace(0.0, 0.05, 51))
        assert run.ledger.largest_residual <= 1e-12 * max(np.abs(run.ledger.energy["stored spring"]).max(), 1.0)
        ends.append((mechanism.position(rest, "beam.tip"), run.position("beam.tip")[-1]))
    for by_stiffness, by_law in zip(*ends, strict=True):
        assert by_law == pytest.approx(by_stiffness, abs=1e-9)


def test_a_point_comes_to_rest_where_its_spring_has_no_length():
    """There all ports meet, so that the mechanism has no length to compare round-off with but that of the start."""
    ground = GROUND.at(0.0, 0.0)
    springs = [
        spring_damper("mass.point", ground, stiffness=50.0, direction=way, length=0.0, name=f"along {way}")
        for way in ((1, 0), (0, 1))
    ]
    mechanism = connect({"mass": rigid.point(2.0)}, springs)
    rest = mechanism.equilibrium(mechanism.assemble({"mass": (0.1, 0.2, 0.0)}))
    np.testing.assert_allclose(rest.x[:2], 0.0, rtol=0, atol=1e-14)
