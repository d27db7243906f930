"""A mechanism in other units has the same poses, runs and equilibria up to scaling."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, drive, hinge, integrate, slider, spherical, spring_damper, weld
from flexph.mechanisms.model.prescribed import rate_after

# Numbers of a metre, a kilogram and a second. Lengths of 1e9 were refused by assembly, times of 1e-7 by drives, and
# energies above one were taken for round-off by the equilibrium.
UNITS = {
    "mm-g-s": (1e3, 1e3, 1.0),
    "µm": (1e6, 1.0, 1.0),
    "lengths of 1e9": (1e9, 1.0, 1.0),
    "lengths of 1e-9": (1e-9, 1.0, 1.0),
    "mm-t-ms": (1e3, 1e-3, 1e3),
    "times of 1e6": (1.0, 1.0, 1e6),
    "times of 1e-7": (1.0, 1.0, 1e-7),
    "all": (1e-6, 1e6, 1e6),
}
SI = (1.0, 1.0, 1.0)
IN_UNITS = pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)


def beam(units, dim):
    length, mass, time = units
    rubber = fem.Material(young=2e9 * mass / length / time**2, density=7800.0 * mass / length**3, poisson=0.3)
    section = fem.Section(width=0.02 * length, height=0.01 * length)
    return fem.beam(0.5 * length, rubber, section, elements=2, dim=dim, strain="von_karman")


def crank_slider(units):
    length, mass, time = units
    bodies = {
        "crank": rigid.bar(0.2 * length, mass),
        "rod": beam(units, 2),
        "slider": rigid.body(0.5 * mass, inertia=0.01 * mass * length**2, ports={"p": (0.0, 0.0)}),
    }
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("rod.root", "crank.tip"),
        hinge("slider.p", "rod.tip"),
        slider("slider.p", GROUND.at(0.0, 0.0), direction=(1.0, 0.0)),
        drive("crank.root", GROUND, angle=lambda t: 0.3 + 5.0 * (t / time) + math.sin(30.0 * t / time) / 60.0),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81 * length / time**2))
    return mechanism, mechanism.assemble(guess={"crank": 0.3, "rod": -0.1})


def hanging(units):
    length, mass, time = units
    bodies = {"a": beam(units, 3), "b": rigid.cylinder(0.5 * length, 0.02 * length, density=1000.0 * mass / length**3)}
    anchor, far = (GROUND.at(*(length * np.array(at))) for at in ((0.3, 0.1, -0.2), (1.0, 0.5, 0.1)))
    joints = [
        weld("a.root", anchor),
        spherical("b.root", "a.tip"),
        spring_damper("b.tip", far, stiffness=20.0 * mass / time**2, damping=0.5 * mass / time, length=0.3 * length),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -9.81 * length / time**2))
    guess = {"a": np.eye(3), "b": Rotation.from_rotvec([0.1, 1.3, 0.2]).as_matrix()}
    return mechanism, mechanism.assemble(guess=guess)


@cache
def driven_run(units):
    mechanism, pose = crank_slider(units)
    times = units[2] * np.linspace(0.0, 0.05, 11)
    return integrate(mechanism, mechanism.consistent_state(pose), times)


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_a_driven_run_does_not_depend_on_units(units):
    here, there = driven_run(SI), driven_run(units)
    # Rates of the drive are known to 1e-10 where numbers of time are large, positions to round-off otherwise.
    assert there.position("slider.p") / units[0] == pytest.approx(here.position("slider.p"), abs=1e-10)
    assert there.position("rod.tip") / units[0] == pytest.approx(here.position("rod.tip"), abs=1e-10)
    assert there.ledger.largest_residual < 1e-14
    assert abs(there.ledger.iterations.sum() - here.ledger.iterations.sum()) <= 2  # by round-off


@cache
def hanging_centres(units):
    mechanism, pose = hanging(units)
    return mechanism.equilibrium(pose).x[:6] / units[0]


@pytest.mark.parametrize("name", [pytest.param("mm-g-s", marks=pytest.mark.slow), "lengths of 1e9", "all"])
def test_an_equilibrium_does_not_depend_on_units(name):
    assert hanging_centres(UNITS[name]) == pytest.approx(hanging_centres(SI), abs=1e-12)


MOTIONS = {
    "from an offset": (lambda t: 0.3 + 5.0 * t, 5.0, 0.0),
    "oscillation": (lambda t: math.sin(3.0 * t + 0.1), 3.0 * math.cos(0.7), 0.2),
    "small beside its value": (lambda t: 100.0 + 0.1 * t, 0.1, 0.0),
    "from rest": (lambda t: 0.5 * t**2, 0.0, 0.0),
    "later": (lambda t: 0.3 + max(t - 1e-4, 0.0), 0.0, 0.0),
    "smooth from rest": (lambda t: t**5, 0.0, 0.0),
}


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("motion", MOTIONS)
def test_the_rate_of_a_drive_in_any_unit_of_time(motion, unit):
    function, expected, start = MOTIONS[motion]
    rate = rate_after(lambda t: function(t / unit), 1, start * unit, "drive")[0] * unit
    assert rate == pytest.approx(expected, abs=1e-7)  # ACCURATE, of rates up to five


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("motion", [lambda t: math.sqrt(abs(t)), lambda t: float(t > 0.0)], ids=["root", "jump"])
def test_what_has_no_rate_in_any_unit_of_time(motion, unit):
    with pytest.raises(ValueError, match="no derivative"):
        rate_after(lambda t: motion(t / unit), 1, 0.0, "drive")


def test_a_body_that_cannot_move_rests_in_any_unit_of_time():
    """Projection left velocities of 1e-17 of the wanted ones, which are above any number of m/s in some unit."""
    for time in (1e-9, 1.0, 1e9):
        mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [weld("bar.root", GROUND)])
        state = mechanism.consistent_state(mechanism.assemble({"bar": 0.3}), velocities={"bar": 3.0 / time})
        assert not state.x[mechanism.layout.parts_of_motion].any()
