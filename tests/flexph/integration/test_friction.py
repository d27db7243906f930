"""Dissipation as a relation: its balance at any step, known solutions, the same from two routes, and bad input.

Ten seconds, as the general equations take their steps in Python.
"""

import math
from itertools import product

import numpy as np
import pytest
from covering import covering
from spatial_bodies import block, cloud

import fem
import rigid
from flexph import (
    GROUND,
    InputError,
    connect,
    cylindrical,
    hinge,
    integrate,
    prismatic,
    revolute,
    slider,
    spherical,
    spring_damper,
    torsion_spring,
)
from flexph.joints import bushing
from flexph.laws import coulomb, quadratic, resistive, viscous
from flexph.mechanisms.arrays import network
from flexph.methods import Decaying, Exact, Exact4, Gauss
from flexph.systems.derivatives import Derivatives

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # balances hold beyond the model's range
GRAVITY = 9.81
AXIS, ACROSS = (0.3, -0.5, 0.8), (0.1, 0.9, -0.2)
SOFT = fem.Material(young=1e6, density=1000.0)
SQUARE = fem.Section(width=0.02, height=0.02)


def cubic(s):
    return 0.002 * s + 0.01 * s**3


def cubic_slope(s):
    return 0.002 + 0.03 * s**2


KINDS = {
    "viscous": viscous(0.02),
    "quadratic": quadratic(0.03),
    "coulomb": coulomb(0.04, speed=0.5, viscous=0.001),
    "stribeck": coulomb(0.04, speed=0.5, static=0.05, stribeck=1.0),
    "general": resistive(cubic),
    "with derivative": resistive(cubic, cubic_slope),
}


def planar(relation):
    """A flexible rod between a crank and a slider, friction in every joint and every kind of spring-damper."""
    rod = fem.beam(0.6, SOFT, SQUARE, elements=2, strain="von_karman")
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0), friction=relation),
        hinge("crank.tip", "rod.root", friction=relation),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True, friction=relation),
        spring_damper("slider.point", GROUND.at(0.8, 0.0), stiffness=20.0, damping=relation),
        torsion_spring("rod.tip", "crank.root", damping=relation),
        bushing("rod.tip", GROUND, stiffness=1.0, damping=(relation, 0.3), torsional_damping=relation),
    ]
    bodies = {"crank": rigid.bar(0.3, 2.0), "rod": rod, "slider": rigid.point(1.0)}
    mechanism = connect(bodies, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.5)}, guess={"rod": -0.2})
    return mechanism, mechanism.consistent_state(pose, velocities={"crank": 2.0})


def spatial(relation):
    """Rigid and flexible bodies in space on every joint that may have friction."""
    joints = [
        revolute("a.p", GROUND.at(0.1, 0.0, 0.2), axis=AXIS, friction=relation),
        cylindrical("b.p", "a.q", axis=ACROSS, second_axis=AXIS, turning_friction=relation, sliding_friction=relation),
        prismatic("c.p", "b.q", direction=AXIS, friction=relation),
        hinge("d.p", "c.q", axis=ACROSS, friction=relation),
        spring_damper("d.q", "a.s", stiffness=3.0, damping=relation),
        bushing("d.s", "b.s", damping=relation, torsional_damping=relation),
    ]
    bodies = {
        "a": block(seed=1),
        "b": cloud(2, strain="von_karman"),
        "c": block(seed=3),
        "d": block(seed=5),
    }
    mechanism = connect(bodies, joints, gravity=(0.7, -2.0, -9.0))
    pose = mechanism.assemble()
    moving = {"a": (0.3, 1.0, 0.5), "b": (0.5, -2.0, 1.0), "d": (1.0, 2.0, 0.0)}
    return mechanism, mechanism.consistent_state(pose, velocities=moving)


MECHANISMS = {"plane": planar, "space": spatial}
each = covering("kind, where", tuple(KINDS), tuple(MECHANISMS))
fast = {("quadratic", "space"), *((kind, "plane") for kind in KINDS if kind != "quadratic")}  # in space twice the time
some = pytest.mark.parametrize(
    ("kind", "where"),
    [pytest.param(*own, marks=() if own in fast else pytest.mark.slow) for own in product(KINDS, MECHANISMS)],
)
"""As ``each``, with all kinds but one in the plane."""


def run(case, end, steps, **options):
    mechanism, start = case
    return integrate(mechanism, start, np.linspace(0.0, end, steps + 1), progress=False, **options)


# --- theorems ---------------------------------------------------------------------------------------------------------


@covering("kind, where, h", tuple(KINDS), tuple(MECHANISMS), (1e-3, 0.01))
def test_the_balance_closes_and_nothing_is_gained(kind, where, h):
    """At any step that has a solution: the longer one is twice a period of the rod."""
    ledger = run(MECHANISMS[where](KINDS[kind]), 12 * h, 12).ledger
    assert ledger.largest_residual < 1e-13  # round-off of a sum of a dozen terms, iterated to stagnation
    assert len(ledger.dissipation) >= 6
    for name, lost in ledger.dissipation.items():
        assert np.all(lost >= 0.0), name
        assert lost.sum() > 0.0, name


@pytest.mark.parametrize("where", MECHANISMS)
def test_friction_is_in_the_ledger_under_the_name_of_its_joint(where):
    ledger = run(MECHANISMS[where](KINDS["quadratic"]), 0.01, 5).ledger
    wanted = {
        "plane": {"hinge crank.root–GROUND at (0.0, 0.0)", "slider slider.point–GROUND at (0.0, 0.0)"},
        "space": {"cylindrical b.p–a.q: turning", "cylindrical b.p–a.q: sliding", "prismatic c.p–b.q", "hinge d.p–c.q"},
    }[where]
    assert wanted <= set(ledger.dissipation)


def test_a_viscous_relation_is_the_number():
    relations = viscous(0.2), resistive(lambda s: 0.2 * s, lambda s: 0.2)
    runs = [run(planar(relation), 0.1, 50) for relation in relations]
    mechanism = planar(viscous(0.2))[0]
    assert not mechanism.network.arrays.springs.relations
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-11 * np.abs(runs[0].states).max()


# --- known solutions --------------------------------------------------------------------------------------------------


def on_slope(angle, mass, friction, speed=0.0):
    """A point on a slope with friction, down which it moves along x."""
    rail = slider("b.point", GROUND.at(0.0, 0.0), turning=True, friction=friction)
    gravity = (GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle))
    mechanism = connect({"b": rigid.point(mass)}, [rail], gravity=gravity)
    return mechanism, mechanism.consistent_state(mechanism.assemble({}), velocities={"b": (speed, 0.0, 0.0)})


def test_a_block_below_its_friction_creeps_as_it_should():
    """F tanh(s/v) = m g sin α: at 2 h F/m < v the mean velocity settles to round-off."""
    mass, level, speed = 2.0, 20.0, 1e-2
    solution = run(on_slope(0.5, mass, coulomb(level, speed=speed)), 0.4, 400)
    pull = mass * GRAVITY * math.sin(0.5)
    creep = speed * math.atanh(pull / level)
    steps = np.diff(solution.states[:, 0])
    assert steps[-1] == pytest.approx(1e-3 * creep, rel=1e-9)


def test_a_block_above_its_friction_slides_as_it_should():
    """x = ½ a t² with a = g sin α − F/m, but for a start below some v, in which tanh is not one yet."""
    mass, level, speed = 2.0, 5.0, 1e-5
    solution = run(on_slope(0.5, mass, coulomb(level, speed=speed)), 1.0, 500)
    a = GRAVITY * math.sin(0.5) - level / mass
    late = level * speed * math.log(2.0) / (mass * a)  # F/m ∫(1 − tanh(at/v)) dt, which steps need not resolve
    assert a - 1e-12 < solution.states[-1, 2] < a + 2.0 * late
    assert 0.5 * a - 1e-12 < solution.states[-1, 0] < 0.5 * a + 2.0 * late


@pytest.mark.parametrize("speed", [1e-3, 1e-6])
def test_dry_friction_takes_four_widths_a_turn(speed):
    """Amplitudes fall by 2F/k at each half-turn; tanh is short of one for times v/a about each reversal."""
    k, mass, level = 100.0, 1.0, 2.0
    joints = [
        slider("b.point", GROUND.at(0.0, 0.0), turning=True, friction=coulomb(level, speed=speed)),
        spring_damper("b.point", GROUND.at(-1.0, 0.0), stiffness=k, length=1.0),
    ]
    mechanism = connect({"b": rigid.point(mass)}, joints)
    start = mechanism.consistent_state(mechanism.assemble(guess={"b": (0.31, 0.0, 0.0)}))
    solution = integrate(mechanism, start, np.arange(0.0, 2.901, 2e-3))
    x = solution.states[:, 0]
    turns = np.flatnonzero((x[1:-1] - x[:-2]) * (x[2:] - x[1:-1]) < 0.0)[:7] + 1
    # the highest of points h apart misses a turn by ½a(h/2)²; friction misses ∫(1 − |tanh|) ds < v²/a·F/kx a turn
    np.testing.assert_allclose(np.abs(x[turns]), 0.31 - 0.04 * np.arange(1, 8), atol=2e-5 + 20.0 * speed**2)
    stuck = x[-1]
    assert abs(stuck) < level / k
    assert np.abs(np.diff(x[-100:])).max() < 2.0 * speed * 2e-3
    assert solution.ledger.largest_residual < 1e-13


def test_stick_and_slip_on_a_belt():
    """A mass on a belt that moves with V: it rides to where kx = F₀ and slips; as F < F₀, for ever."""
    k, belt = 50.0, 0.1
    relation = coulomb(1.0, speed=1e-3, static=1.5, stribeck=0.02)
    belts = {"belt": rigid.bar(1.0, 1e6), "b": rigid.point(1.0)}  # too heavy to feel the mass
    joints = [
        slider("belt.root", GROUND.at(0.0, 0.0)),
        slider("b.point", "belt.root", turning=True, friction=relation),
        spring_damper("b.point", GROUND.at(-1.0, 0.0), stiffness=k, length=1.0),
    ]
    mechanism = connect(belts, joints)
    pose = mechanism.assemble({"belt": (-0.5, 0.0, 0.0)}, guess={"b": (0.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"belt": (belt, 0.0, 0.0), "b": (belt, 0.0, 0.0)})
    solution = integrate(mechanism, start, np.arange(0.0, 4.0005, 1e-3))
    x = solution["b.centre"][:, 0]
    v = np.diff(x) / 1e-3
    riding = np.abs(v - belt) < 2e-3
    left = x[1:][np.append(riding[:-1] & ~riding[1:], False)]
    assert left.size >= 3
    np.testing.assert_allclose(left, 1.5 / k, rtol=0.03)  # where static friction ends
    assert 0.2 < riding[1000:].mean() < 0.9
    assert solution.ledger.largest_residual < 1e-13


def test_quadratic_drag_is_of_order_two():
    """v(t) = v₀/(1 + c v₀ t/m)."""
    mass, c, v0, end = 1.5, 0.8, 3.0, 1.0
    wanted = v0 / (1.0 + c * v0 * end / mass)
    errors = []
    for steps in (20, 40, 80):
        solution = run(on_slope(0.0, mass, quadratic(c), v0), end, steps)
        errors.append(abs(solution.states[-1, 2] - wanted))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.1)
    assert errors[-1] < 5e-5 * wanted


def test_friction_of_a_spinning_disc_stops_it_in_time():
    """J ω̇ = −τ: ω falls to zero at ω₀J/τ."""
    disc = rigid.cylinder(0.02, 0.1, density=2000.0)
    joint = revolute("disc.middle", GROUND.at(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), friction=coulomb(0.05, speed=1e-3))
    mechanism = connect({"disc": disc}, [joint])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": (5.0, 0.0, 0.0)})
    moment = 0.5 * disc.mass * 0.1**2
    stop = 5.0 * moment / 0.05
    solution = integrate(mechanism, start, np.linspace(0.0, 1.2 * stop, 601))
    spin = solution["disc.spin"][:, 0]
    before = solution.times < 0.99 * stop
    turn = 5.0 * 1.2 * stop / 600  # of a step; its torque is τ atan(x)/x with x = ½ turn, by Cayley's rotation
    np.testing.assert_allclose(spin[before], 5.0 * (1.0 - solution.times[before] / stop), atol=5.0 * turn**2 / 12.0)
    assert solution.ledger.dissipation[joint.name].sum() == pytest.approx(0.5 * moment * 25.0, rel=1e-6)


def test_many_joints_stick_and_slip_at_once():
    """A chain that falls and comes to rest by friction: where plain iterations go to and fro for ever."""
    bars = {f"b{i}": rigid.bar(0.1, 0.2) for i in range(8)}
    ends = [GROUND.at(0.0, 0.0), *(f"b{i}.tip" for i in range(7))]
    joints = [hinge(f"b{i}.root", end, friction=coulomb(0.2, speed=1e-4)) for i, end in enumerate(ends)]
    mechanism = connect(bars, joints, gravity=(0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble({"b0": (0.0, 0.0, 0.0)}))
    ledger = integrate(mechanism, start, np.linspace(0.0, 0.2, 201)).ledger
    assert ledger.largest_residual < 1e-13
    assert ledger.iterations.mean() < 10.0


# --- the general equations --------------------------------------------------------------------------------------------


run_fast = (("quadratic", "space"), ("stribeck", "plane"), ("general", "plane"))


@pytest.mark.parametrize(
    ("kind", "where"),
    [pytest.param(*own, marks=() if own in run_fast else pytest.mark.slow) for own in product(KINDS, MECHANISMS)],
)
def test_the_equations_and_the_step_agree(kind, where):
    """Gauss' method of order 4 on mechanism.phdae against the exact step, which comes nearer by its order."""
    case, end = MECHANISMS[where](KINDS[kind]), 0.01
    wanted = run(case, end, 40, method=Gauss(4)).states[-1, : case[0].layout.size]
    errors = [np.abs(run(case, end, n).states[-1] - wanted) for n in (40, 80)]
    positions = slice(0, sum(case[0].layout.position_sizes))
    first, second = (error[positions].max() for error in errors)
    assert 1.8 < math.log2(first / second) < 2.2
    assert second < 1e-5  # of a motion of 0.1


@some
def test_derivatives_are_those_of_differences(kind, where):
    mechanism, start = MECHANISMS[where](KINDS[kind])
    system = mechanism.phdae(start)
    rng = np.random.default_rng(3)
    x = system.sample * rng.uniform(0.9, 1.1, system.sample.size) + 0.1 * rng.standard_normal(system.sample.size)
    Derivatives.check(system.derivatives, system, x)
    R = system.R(x)
    assert np.array_equal(R, R.T)
    assert np.linalg.eigvalsh(R).min() > -1e-13 * np.abs(R).max()


def test_dense_and_sparse_equations_are_the_same(monkeypatch):
    small = spatial(KINDS["stribeck"])
    one = small[0].phdae(small[1])
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    large = spatial(KINDS["stribeck"])
    other = large[0].phdae(large[1])
    R, wanted = one.R(one.sample), other.R(one.sample).toarray()
    assert np.abs(R - wanted).max() < 1e-13 * np.abs(wanted).max()


def test_small_motions_see_the_slope_at_rest():
    """A pendulum with friction v tanh: s² + F/(vJ) s + mgl/J = 0, whether by spectrum or by linearize."""
    level, speed = 0.02, 0.5
    joint = hinge("p.root", GROUND.at(0.0, 0.0), friction=coulomb(level, speed=speed))
    mechanism = connect({"p": rigid.bar(0.5, 0.4)}, [joint], gravity=(0.0, -GRAVITY))
    rest = mechanism.equilibrium(mechanism.assemble({"p": (0.0, 0.0, -1.5)}))
    moment = 0.4 * 0.25 / 3.0
    wanted = np.roots([moment, level / speed, 0.4 * GRAVITY * 0.25])
    for found in (mechanism.spectrum(rest).values, np.linalg.eigvals(_generator(mechanism.linearize(rest)))):
        np.testing.assert_allclose(found.real, wanted.real, rtol=1e-9)
        np.testing.assert_allclose(np.sort(found.imag), np.sort(wanted.imag), rtol=1e-9)


def test_small_motions_about_a_pose_see_it_too():
    joint = slider("b.point", GROUND.at(0.0, 0.0), turning=True, friction=coulomb(3.0, speed=0.5))
    spring = spring_damper("b.point", GROUND.at(-1.0, 0.0), stiffness=30.0, damping=quadratic(5.0))
    mechanism = connect({"b": rigid.point(2.0)}, [joint, spring])
    system = mechanism.linearize(mechanism.assemble({}))
    assert np.linalg.eigvalsh(system.R).max() == pytest.approx(6.0, rel=1e-12)


def _generator(system):
    return np.linalg.solve(system.E, system.J - system.R)


# --- runs of other methods, words, failures ---------------------------------------------------------------------------


def test_decaying_and_step_control_count_it():
    for method in (Decaying(), Exact(tolerance=1e-3)):
        ledger = run(planar(KINDS["coulomb"]), 0.05, 25, method=method).ledger
        assert ledger.largest_residual < 1e-13
        assert all(np.all(lost >= 0.0) for lost in ledger.dissipation.values())


def test_fourth_order_refuses_friction_by_name():
    with pytest.raises(ValueError, match=r"hinge crank\.root.*may dissipate"):
        run(planar(KINDS["quadratic"]), 0.1, 5, method=Exact4())


def test_describe_says_what_resists():
    told = planar(coulomb(0.4, speed=0.05))[0].describe()
    assert "coulomb(0.4, speed=0.05, static=0.4, stribeck=0.5, viscous=0)" in told
    assert "viscous(0.25)" in planar(viscous(0.25))[0].describe()


def pushing(s):
    return s if abs(s) < 200.0 else -s


def test_a_relation_that_generates_stops_the_run():
    """Of 1 kg that falls for 30 s; s ρ(s) < 0 from 200 m/s on."""
    relation = resistive(lambda s: 1e-3 * pushing(s))
    with pytest.raises(InputError, match=r"slider b.*must not generate energy.*got ρ\(20\d\) = ") as caught:
        run(on_slope(0.5 * math.pi, 1.0, relation, speed=150.0), 30.0, 3000)
    times = caught.value.solution.times
    assert "between t = " in str(caught.value)
    assert times[-1] == pytest.approx(50.0 / GRAVITY, abs=0.1)


def test_a_function_that_raises_says_at_which_rate():
    def limited(s):
        if abs(s) > 120.0:
            raise ArithmeticError("too fast")
        return 0.01 * s

    with pytest.raises(InputError, match=r"t = 2\.3 s .*limited\(12\d.*\) raised ArithmeticError: too fast"):
        run(on_slope(0.5 * math.pi, 1.0, resistive(limited), speed=100.0), 30.0, 3000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: hinge("a.root", GROUND, friction=0.3),
            "friction must be a Relation, a ScheduledRelation or a CoulombFriction, e.g. coulomb",
        ),
        (lambda: slider("a.root", GROUND, friction=-1.0), "friction must be a Relation"),
        (
            lambda: cylindrical("a.p", GROUND, axis=AXIS, sliding_friction=lambda s: s),
            "sliding_friction must be a Relation",
        ),
        (lambda: spring_damper("a.root", GROUND.at(0.0, 0.0), damping=lambda s: s), r"see resistive\(function\)"),
        (lambda: spring_damper("a.root", GROUND.at(0.0, 0.0), damping=-1.0), "damping must not be negative"),
        (lambda: spring_damper("a.root", GROUND.at(0.0, 0.0), damping=viscous(0.0)), "needs stiffness > 0"),
        (
            lambda: bushing("a.root", GROUND, damping=[quadratic(1.0), "c"]).formed(2),
            r"damping\[1\] must be a number or a Relation, e\.g\. coulomb",
        ),
        (lambda: bushing("a.root", GROUND, damping=[quadratic(1.0)]).formed(2), "damping must"),
    ],
)
def test_wrong_friction_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_point_has_no_spin_to_rub():
    with pytest.raises(ValueError, match="a point mass has no direction"):
        mechanism = connect({"p": rigid.point(1.0)}, [hinge("p.point", GROUND.at(0.0, 0.0), friction=quadratic(1.0))])
        mechanism.assemble()


def test_friction_of_a_spherical_joint_is_that_of_an_element():
    """No friction keyword there: a bushing's torsional damping takes relations about three axes."""
    joints = [
        spherical("a.p", GROUND.at(0.0, 0.0, 0.0)),
        bushing("a.p", GROUND, torsional_damping=KINDS["coulomb"], name="ball"),
    ]
    mechanism = connect({"a": block(seed=1)}, joints, gravity=(0.0, 0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"a": (1.0, 2.0, 3.0)})
    ledger = integrate(mechanism, start, np.linspace(0.0, 0.1, 11)).ledger
    assert {"ball: about x", "ball: about y", "ball: about z"} <= set(ledger.dissipation)
    assert ledger.largest_residual < 1e-13
