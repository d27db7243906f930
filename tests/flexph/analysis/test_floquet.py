"""Floquet multipliers of periodic motions: Mathieu's equation, theorems, a second route, and what has no period.

Ten seconds, as the edge of a band of instability is found by bisection.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk, mathieu_a, mathieu_b

import rigid
from flexph import GROUND, connect, drive, force, hinge, integrate, spring_damper, torsion_spring
from flexph.analysis import floquet
from flexph.contacts import KelvinVoigt, Plane, Sphere, contact
from flexph.joints import bushing, cartesian_spring_damper
from flexph.laws import coulomb, polynomial, scheduled
from flexph.methods import Exact, ExactGauss

LENGTH, GRAVITY, REACH = 1.0, 9.81, 0.1


def shaken(frequency=9.0, *, up=False, damping=0.0):
    """A rod under a pivot that goes up and down, or above it; a state, and the period."""
    pivot = drive("rod.root", position=lambda t: (0.0, REACH * np.cos(frequency * t)))
    damper = [torsion_spring("rod.root", GROUND, damping=damping)] if damping else []
    mechanism = connect({"rod": rigid.bar(LENGTH, 1.0)}, [pivot, *damper], gravity=(0.0, -GRAVITY))
    angle = math.pi / 2 if up else -math.pi / 2
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess={"rod": angle})), 2.0 * math.pi / frequency


def mathieu(frequency=9.0, *, up=False, damping=0.0):
    """Multipliers of m L²/3 θ̈ + γ θ̇ ± m L/2 (g + p̈) θ = 0, of unit mass, by a run of its own at 1e-13."""
    sign, share = (-1.0 if up else 1.0), 1.5 / LENGTH

    def slope(t, y):
        pull = sign * share * (GRAVITY - REACH * frequency**2 * np.cos(frequency * t))
        return [y[1], -pull * y[0] - 3.0 * damping * y[1], y[3], -pull * y[2] - 3.0 * damping * y[3]]

    end = solve_ivp(slope, (0.0, 2.0 * math.pi / frequency), [1, 0, 0, 1], rtol=1e-13, atol=1e-14, method="DOP853").y
    return np.sort_complex(np.linalg.eigvals(end[:, -1].reshape(2, 2).T))


# --- Mathieu's equation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, pytest.param(0.05, marks=pytest.mark.slow)])
def test_mathieus_equation_with_linearised_steps_of_gauss(damping):
    """Within a tongue of instability, to 1e-10; without damping the product of the multipliers is one (Liouville)."""
    mechanism, start, period = shaken(damping=damping)
    found = floquet(mechanism, start, period=period, steps=32)
    expected = mathieu(damping=damping)
    assert np.sort_complex(found.multipliers) == pytest.approx(expected, abs=1e-10)
    assert "unstable" in found.message
    assert not found.is_stable
    assert found.growth == pytest.approx(math.log(np.abs(expected).max()) / period, abs=1e-9)
    assert np.prod(found.multipliers).real == pytest.approx(math.exp(-3.0 * damping * period), abs=1e-10)


@pytest.mark.parametrize("edge", [mathieu_a, pytest.param(mathieu_b, marks=pytest.mark.slow)], ids=["lower", "upper"])
def test_the_first_band_of_instability_has_the_edges_of_mathieus_equation(edge):
    """Multipliers are −1 at ω = 2 √(ω₀²/a₁(q)), q = 2 a/l, l = 2L/3, by the tabulated characteristic values."""

    def beyond(frequency):
        mechanism, start, period = shaken(frequency)
        return float(np.sum(floquet(mechanism, start, period=period, steps=16).multipliers).real) + 2.0

    expected = 2.0 * math.sqrt(1.5 * GRAVITY / LENGTH / edge(1, 2.0 * REACH * 1.5 / LENGTH))
    near = expected * (1.0 - 1e-7), expected * (1.0 + 1e-7)  # sixth order of the steps
    assert beyond(near[0]) * beyond(near[1]) < 0.0


def test_orders_of_the_linearised_steps():
    """Of second order with Exact(); with ExactGauss() of fourth at least, and 1e-5 with six steps of a period."""
    mechanism, start, period = shaken()
    expected = mathieu()

    def error(method, steps):
        found = floquet(mechanism, start, period=period, steps=steps, method=method)
        return float(np.abs(np.sort_complex(found.multipliers) - expected).max())

    exact = [error(Exact(), steps) for steps in (16, 32)]
    assert math.log2(exact[0] / exact[1]) == pytest.approx(2.0, abs=0.1)
    assert exact[1] < 1e-2
    gauss = [error(ExactGauss(), steps) for steps in (3, 6)]
    assert math.log2(gauss[0] / gauss[1]) > 3.9
    assert gauss[1] < 1e-5


@pytest.mark.slow
def test_a_fast_pivot_holds_a_rod_upright():
    """Kapitza: above 2π f ≈ √(2g·2L/3)/0.1 it stands, and its multipliers are on the unit circle."""
    slow, fast = (shaken(frequency, up=True) for frequency in (30.0, 60.0))
    assert not floquet(slow[0], slow[1], period=slow[2], steps=12).is_stable
    found = floquet(fast[0], fast[1], period=fast[2], steps=12)
    assert found.is_stable
    assert "no growing motion" in found.message
    assert np.abs(found.multipliers) == pytest.approx([1.0, 1.0], abs=1e-9)
    assert np.sort_complex(found.multipliers) == pytest.approx(mathieu(60.0, up=True), abs=1e-6)


@pytest.mark.slow
def test_a_run_grows_as_its_multipliers_say():
    mechanism, start, period = shaken(damping=0.05)
    growth = floquet(mechanism, start, period=period).growth
    pushed = mechanism.impact(start, "rod.tip", impulse=(1e-8, 0.0))
    run = integrate(mechanism, pushed, np.linspace(0.0, 40.0 * period, 40 * 64 + 1), method=ExactGauss())
    aside = np.abs(run.position("rod.tip")[::64, 0])[25:]  # where the other motion has died away
    assert np.polyfit(period * np.arange(aside.size), np.log(aside), 1)[0] == pytest.approx(growth, rel=1e-3)


# --- free motions -----------------------------------------------------------------------------------------------------


def test_a_free_pendulum_has_a_double_multiplier_at_one():
    """Along itself, and to other amplitudes, whose periods differ: a Jordan block. T = 4 K(sin² ½θ₀) √(2L/3g)."""
    amplitude = 1.0
    period = 4.0 * ellipk(math.sin(0.5 * amplitude) ** 2) * math.sqrt(2.0 * LENGTH / (3.0 * GRAVITY))
    mechanism = connect({"rod": rigid.bar(LENGTH, 1.0)}, [hinge("rod.root", GROUND)], gravity=(0.0, -GRAVITY))
    lowest = mechanism.assemble({"rod": -math.pi / 2})
    speed = math.sqrt(3.0 * GRAVITY / LENGTH * (1.0 - math.cos(amplitude)))
    start = mechanism.consistent_state(lowest, velocities={"rod": (0.0, 0.0, speed)})
    found = floquet(mechanism, start, period=period, steps=24)
    assert np.abs(found.multipliers - 1.0).max() < 1e-3  # the root of what 24 steps leave
    assert np.prod(found.multipliers).real == pytest.approx(1.0, abs=1e-6)
    assert "along itself its multiplier is 1" in found.message


def test_a_run_over_a_period_is_taken_as_it_is():
    mechanism, start, period = shaken()
    times = np.linspace(0.0, period, 5)
    run = integrate(mechanism, start, times, method=ExactGauss())
    found, expected = floquet(mechanism, run), floquet(mechanism, start, period=period, steps=4)
    assert found.period == pytest.approx(period, rel=1e-14)
    assert found.multipliers == pytest.approx(expected.multipliers, abs=1e-11)
    assert found.displacements.shape == (3, 2)


# --- against Hill's matrix --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_asymmetric_rotor_in_unequal_bearings_by_two_routes():
    """Linearised steps in the world, and Hill's matrix in the frame that turns; tolerance of twelve steps a turn."""
    spin = 30.0
    bodies = {name: rigid.body(mass, inertia=0.1, ports={"c": (0.0, 0.0)}) for name, mass in (("a", 1.0), ("b", 2.0))}
    parts = [
        cartesian_spring_damper("a.c", GROUND.at(0.0, 0.0), stiffness=(900.0, 500.0), damping=0.3),
        drive("a.c", GROUND, angle=lambda t: spin * t),
        drive("b.c", "a.c", angle=lambda t: 0.0 * t),
        bushing("b.c", "a.c", stiffness=(3000.0, 800.0)),
    ]
    mechanism = connect(bodies, parts)
    state = mechanism.equilibrium(mechanism.assemble(), spin=spin)
    hill = mechanism.spectrum(state)
    assert hill.about == "periodic motion"
    found = floquet(mechanism, state, period=2.0 * math.pi / spin, steps=12)
    assert np.sort(found.exponents.real) == pytest.approx(np.sort(hill.values.real), abs=3e-4)
    assert "unstable" in found.message
    assert "unstable" in hill.message


@pytest.mark.slow
def test_a_rotor_on_a_tower_that_stands_still_is_one_on_a_hub_of_their_mass():
    """Two masses on each other in springs, of which one turns: the spectrum knows the whole alone, the steps both."""
    spin, ways = 26.0, {"a": 1.0, "b": -1.0}
    blades = {
        name: rigid.body(3.0, inertia=0.25, centre=(0.5 * way, 0.0), ports={"root": (0.0, 0.0)})
        for name, way in ways.items()
    }
    hinges = {name: (0.1 * way, 0.0) for name, way in ways.items()}

    def rotor(share):
        hub = rigid.body(20.0 * share, inertia=1.0, ports={"c": (0.0, 0.0), **hinges})
        tower = (
            {} if share == 1.0 else {"tower": rigid.body(20.0 * (1.0 - share), inertia=1.0, ports={"c": (0.0, 0.0)})}
        )
        low = "tower.c" if tower else "hub.c"
        parts = [cartesian_spring_damper(low, GROUND.at(0.0, 0.0), stiffness=(2000.0, 6000.0), damping=5.0)]
        parts += [drive("hub.c", GROUND, angle=lambda t: spin * t)]
        if tower:
            parts += [hinge("hub.c", "tower.c"), torsion_spring("tower.c", GROUND, stiffness=5e3, damping=1.0)]
        for name in ways:
            lag = torsion_spring(f"{name}.root", f"hub.{name}", stiffness=20.0, damping=0.5)
            parts += [hinge(f"{name}.root", f"hub.{name}"), lag]
        mechanism = connect({"hub": hub, **blades, **tower}, parts)
        return mechanism, mechanism.assemble(guess={name: (*at, 0.0) for name, at in hinges.items()})

    whole, pose = rotor(1.0)
    expected = whole.spectrum(whole.equilibrium(pose, spin=spin)).values.real.max()
    on_tower, pose = rotor(0.5)
    turning = {name: (0.0, spin * at[0], spin) for name, at in hinges.items()}
    given = {"hub": (0.0, 0.0, spin), "tower": (0.0, 0.0, 0.0), **turning}
    start = on_tower.consistent_state(pose, velocities=given)
    with pytest.raises(ValueError, match="rotor on a support at rest"):
        on_tower.spectrum(start)
    found = floquet(on_tower, start, period=2.0 * math.pi / spin, steps=24)
    assert found.growth == pytest.approx(expected, abs=1e-4)  # what 24 steps leave of 0.52


# --- what is not periodic, or not known -------------------------------------------------------------------------------


def test_what_has_no_period_is_refused():
    mechanism, start, period = shaken()
    with pytest.raises(ValueError, match=r"'drive rod.root–GROUND: y' must repeat itself.*period 0.5"):
        floquet(mechanism, start, period=0.5, steps=4)
    with pytest.raises(ValueError, match="period must be given"):
        floquet(mechanism, start)
    with pytest.raises(ValueError, match="prescribed steps"):
        floquet(mechanism, start, period=period, method=Exact(tolerance=1e-6))
    rod = {"rod": rigid.bar(LENGTH, 1.0)}
    free = connect(rod, [hinge("rod.root", GROUND), force("rod.tip")], gravity=(0.0, -GRAVITY))
    away = free.consistent_state(free.assemble({"rod": 0.3}))
    with pytest.raises(ValueError, match=r"the motion must.*periodic:.*1 s.*.*start"):
        floquet(free, away, period=1.0, steps=12)
    with pytest.raises(ValueError, match=r"input 'force rod.tip' must repeat itself.*period 1 s"):
        floquet(free, away, period=1.0, inputs={"force rod.tip": lambda t: (t, 0.0)})
    rubbing = connect(rod, [hinge("rod.root", GROUND, friction=coulomb(1.0, speed=0.1))])
    at = rubbing.consistent_state(rubbing.assemble({"rod": 0.3}))
    with pytest.raises(ValueError, match=r"ExactGauss\(\) does not support friction laws"):
        floquet(rubbing, at, period=1.0)
    assert floquet(rubbing, at, period=1.0, steps=4, method=Exact()).is_stable


def test_contacts_are_refused():
    ball = rigid.body(1.0, inertia=1.0, ports={"c": (0.0, 0.0)})
    touch = contact(Sphere("ball.c", 0.1), Plane(GROUND.at(0.0, -1.0), (0.0, 1.0)), KelvinVoigt(1e3), name="floor")
    mechanism = connect({"ball": ball}, [touch])
    with pytest.raises(ValueError, match=r"analysis.floquet does not support contacts,.*'floor'.*one"):
        floquet(mechanism, mechanism.consistent_state(mechanism.assemble()), period=1.0)


@pytest.mark.parametrize(
    "given",
    [pytest.param({"stiffness": 50.0}, marks=pytest.mark.slow), {"law": polynomial(50.0)}],
    ids=["stiffness", "law"],
)
def test_springs_with_a_law_take_part_in_small_motions(given):
    """Of a bar that a spring holds up: e^{±iωT} of the spectrum, which takes another route."""
    spring = spring_damper("bar.tip", GROUND.at(0.0, 2.0), length=1.0, **given)
    held = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND), spring], gravity=(0.0, -9.81))
    rest = held.equilibrium(held.assemble(guess={"bar": 1.4}))
    found = floquet(held, rest, period=0.3, steps=32, method=Exact())
    frequency = np.abs(held.spectrum(rest).values.imag).max()
    # the angle 2 atan(½ωh) of a step is off ωh by (ωh)³/12; twice that is allowed
    assert np.abs(np.angle(found.multipliers)) == pytest.approx(frequency * 0.3, rel=(frequency * 0.3 / 32) ** 2 / 6.0)
    assert np.abs(found.multipliers) == pytest.approx(1.0, abs=1e-9)


def pumped(frequency=4.7, depth=0.5):
    """A mass on a spring of 10 (1 + depth cos ωt) N/m."""
    law = scheduled(10.0, lambda t: 1.0 + depth * math.cos(frequency * t))
    line = {"direction": (1.0, 0.0), "length": 0.0, "name": "spring"}
    cross = spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=1.0, direction=(0.0, 1.0), length=0.0)
    spring = spring_damper("mass.point", GROUND.at(0.0, 0.0), law=law, **line)
    mechanism = connect({"mass": rigid.point(2.0)}, [spring, cross])
    return mechanism, mechanism.consistent_state(mechanism.assemble({"mass": (0.0, 0.0, 0.0)}))


def test_multipliers_of_a_stiffness_by_a_schedule():
    """Against an integration at 1e-13, of second order in steps of Exact, of sixth in the default ones."""
    (mechanism, start), period = pumped(), 2.0 * math.pi / 4.7
    slope = lambda t, y: [y[1], -5.0 * (1.0 + 0.5 * math.cos(4.7 * t)) * y[0]]  # noqa: E731
    ends = [solve_ivp(slope, (0.0, period), y, rtol=1e-13, atol=1e-14, method="DOP853").y[:, -1] for y in np.eye(2)]
    expected = np.abs(np.linalg.eigvals(np.array(ends))).max()
    fine = [floquet(mechanism, start, period=period, steps=steps) for steps in (5, 10)]
    errors = [abs(np.abs(own.multipliers).max() - expected) for own in fine]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(6.0, abs=0.2)
    assert errors[1] < 1e-4
    found = [floquet(mechanism, start, period=period, steps=steps, method=Exact()) for steps in (20, 40)]
    errors = [np.abs(own.multipliers).max() - expected for own in found]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert abs(errors[1]) < 4e-3 and not found[1].is_stable
    assert np.prod(found[1].multipliers).real == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(ValueError, match=r"the factor of scheduled.* of spring must repeat itself"):
        floquet(mechanism, start, period=1.1 * period)
    with pytest.raises(ValueError, match=r"use flexph\.analysis\.floquet"):
        mechanism.spectrum(start)
