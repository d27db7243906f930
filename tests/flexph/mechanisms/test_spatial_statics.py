"""Equilibria, steady rotations and the small motions about them, against closed forms and against runs in time."""

import itertools
import math
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from covering import covering
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from spatial_bodies import SOFT, STRIP, Sight, beam, block, cloud, moved, random_rotation, unit

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distance,
    distributed_load,
    drive,
    eigenfrequencies,
    eliminate,
    force,
    hinge,
    integrate,
    poles,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    universal,
    weld,
)
from flexph.joints import bushing
from flexph.kernels.state import derive
from flexph.kernels.stiffness.stiffness_size import stiffness_size
from flexph.kernels.stiffness.tangent import tangent
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.statics import balance as statics
from flexph.mechanisms.statics.steady_rotation import steady_motion

pytestmark = pytest.mark.processor

G = 9.81
DOWN = (0.0, 0.0, -G)
Z = (0.0, 0.0, 1.0)
ORIGIN = GROUND.at(0.0, 0.0, 0.0)
A1 = (0.3, -0.5, 0.8)


def rod(length=0.4, radius=0.02, density=800.0):
    return rigid.cylinder(length, radius, density=density)


def turning_down(angle=0.0, about=(0.0, 1.0, 0.0)):
    """x axis of the body down, then turned."""
    return Rotation.from_rotvec(angle * np.array(about)) * Rotation.from_rotvec((0.0, 0.5 * math.pi, 0.0))


# --- chains -----------------------------------------------------------------------------------------------------------


@covering("kind, joint, far", ("rigid", "flexible"), ("spherical", "universal"), (1.2, 0.3), strength=1)
def test_joints_of_a_hanging_chain_carry_the_weight_below(kind, joint, far):
    """Each joint carries the weight below it, found from a chain that is thrown aside."""
    make = (lambda: rod()) if kind == "rigid" else (lambda: beam(0.4, strain="von_karman"))
    names = ["a", "b", "c", "d"]
    joined = {
        "spherical": spherical,
        "universal": lambda p, q: universal(p, q, axis=(0.0, 1.0, 0.0), second_axis=(0.0, 0.0, 1.0)),
    }[joint]
    joints = [
        spherical("a.root", ORIGIN)
        if joint == "spherical"
        else universal("a.root", ORIGIN, axis=(0, 1, 0), second_axis=(1, 0, 0))
    ]
    joints += [joined(f"{q}.root", f"{p}.tip") for p, q in itertools.pairwise(names)]
    mechanism = connect({name: make() for name in names}, joints, gravity=DOWN)
    guess = {name: turning_down((-1) ** i * far) for i, name in enumerate(names)}
    state = mechanism.equilibrium(mechanism.assemble(guess=guess))
    below = np.cumsum([mechanism.bodies[name].mass for name in reversed(names)])[::-1]
    for c, mass in zip(joints, below, strict=True):
        found = mechanism.reaction(state, c.name)
        assert found.force[0] == pytest.approx([0.0, 0.0, mass * G], abs=1e-9 * below[0] * G)
        assert np.abs(found.torque).max() < 1e-9
    tip = Sight(mechanism, state.x).point("d.tip")
    stretch = 0.0
    if kind == "flexible":
        weight = mechanism.bodies["a"].mass * G
        stretch = sum((i + 0.5) * weight * 0.4 for i in range(4)) / (SOFT.young * STRIP.area)
    assert tip == pytest.approx([0.0, 0.0, -1.6 - stretch], abs=1e-7)  # long pendula hang straight to √round-off


@pytest.mark.parametrize("count", [5, 8])
def test_a_chain_between_two_supports(count):
    """tan θ_i = V_i/H with the vertical force V_i in the middle of rod i: H from Σ L cos θ_i = span."""
    length, span = 0.3, 0.2 * count
    names = [f"r{i}" for i in range(count)]
    joints = [spherical("r0.root", ORIGIN)]
    joints += [spherical(f"{q}.root", f"{p}.tip") for p, q in itertools.pairwise(names)]
    joints += [spherical(f"{names[-1]}.tip", GROUND.at(span, 0.0, 0.0))]
    mechanism = connect({name: rod(length) for name in names}, joints, gravity=DOWN)
    sag = np.linspace(0.9, -0.9, count)
    guess = {name: Rotation.from_rotvec((0.1, angle, 0.05)) for name, angle in zip(names, sag, strict=True)}
    state = mechanism.equilibrium(mechanism.assemble(guess=guess))
    weight = mechanism.bodies["r0"].mass * G
    vertical = weight * (0.5 * (count - 1) - np.arange(count))  # in the middle of each rod
    H = brentq(lambda H: np.sum(length * np.cos(np.arctan2(vertical, H))) - span, 1e-3, 1e5, xtol=1e-13)
    left = mechanism.reaction(state, joints[0].name).force[0]
    assert left == pytest.approx([-H, 0.0, 0.5 * count * weight], abs=1e-8 * weight)
    slopes = np.array([Sight(mechanism, state.x).body(name)[2][:, 0] for name in names])
    assert np.arctan2(-slopes[:, 2], slopes[:, 0]) == pytest.approx(np.arctan2(vertical, H), abs=1e-9)


# --- beams ------------------------------------------------------------------------------------------------------------

LENGTH = 0.7
LOADS = {  # inputs, and displacement of the tip and rotation of its section, per unit
    "along y": ((0, 1, 0), (0, 0, 0)),
    "along z": ((0, 0, 1), (0, 0, 0)),
    "along x": ((1, 0, 0), (0, 0, 0)),
    "about x": ((0, 0, 0), (1, 0, 0)),
    "about y": ((0, 0, 0), (0, 1, 0)),
    "about z": ((0, 0, 0), (0, 0, 1)),
}


@covering(
    "name, how",
    tuple(LOADS),
    (
        ("world", "linear", True),
        ("section", "linear", False),
        ("world", "von_karman", False),
        ("section", "von_karman", True),
    ),
)
def test_a_cantilever_bends_as_in_closed_form(name, how):
    """FL³/3EI and FL²/2EI in both planes, ML²/2EI and ML/EI, FL/EA, TL/GJ; the clamp holds what is applied."""
    axes, strain, turned = how
    F, T = (1e-4 * np.array(v) for v in LOADS[name])
    E, L = SOFT.young, LENGTH
    y, z, G_J = E * STRIP.second_moment, E * STRIP.second_moment_y, SOFT.shear_modulus * STRIP.torsion_constant
    moved_by = np.array([
        F[0] * L / (E * STRIP.area),
        F[1] * L**3 / (3 * y) + T[2] * L**2 / (2 * y),
        F[2] * L**3 / (3 * z) - T[1] * L**2 / (2 * z),
    ])  # fmt: skip
    turn = np.array([
        T[0] * L / G_J,
        T[1] * L / z - F[2] * L**2 / (2 * z),
        T[2] * L / y + F[1] * L**2 / (2 * y),
    ])  # fmt: skip
    Q = random_rotation(np.random.default_rng(1)) if turned else np.eye(3)
    clamped = weld("beam.root", GROUND.at(0.1, 0.2, 0.3))
    mechanism = connect(
        {"beam": beam(L, elements=3, strain=strain)},
        [clamped, force("beam.tip", axes=axes), torque("beam.tip", axes=axes)],
    )
    given = (lambda v: Q @ v) if axes == "world" else (lambda v: v)
    inputs = {"force beam.tip": given(F), "torque beam.tip": given(T)}
    state = mechanism.equilibrium(mechanism.assemble({"beam": Q}), inputs=inputs)
    now = Sight(mechanism, state.x)
    size = np.abs(np.concatenate([moved_by, turn])).max()
    # loads make 1e-3 of everything: squares of it where strain or loads are not linear
    loose = 1e-9 if (strain, axes) == ("linear", "world") else 3.0 * size
    assert Q.T @ (now.point("beam.tip") - [0.1, 0.2, 0.3]) - [L, 0, 0] == pytest.approx(
        moved_by, abs=loose * size + 1e-15
    )
    S = Q.T @ now.section("beam.tip")
    assert 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) == pytest.approx(
        turn, abs=loose * size
    )
    held = mechanism.reaction(state, clamped.name)
    lever = np.cross([L, 0.0, 0.0], F)
    assert Q.T @ held.force[0] == pytest.approx(-F, abs=1e-4 * max(loose, 1e-5))
    assert Q.T @ held.torque[0] == pytest.approx(-T - lever, abs=1e-4 * max(loose, 1e-5))


def test_a_cantilever_under_its_weight():
    """w L⁴/8EI, w L²/2 at the clamp: by gravity and by the same distributed load; 3 elements are exact at the nodes."""
    w = 200.0 * STRIP.area * G
    tips = []
    for gravity, load in ((DOWN, None), (None, (0.0, 0.0, -w))):
        stiff = fem.Material(young=2e8, density=200.0, poisson=0.3)
        made = beam(LENGTH, elements=3, strain="linear", material=stiff)
        mechanism = connect({"beam": made}, [weld("beam.root", GROUND), distributed_load("beam.load")], gravity=gravity)
        inputs = {} if load is None else {"load beam.load": load}
        state = mechanism.equilibrium(mechanism.assemble(), inputs=inputs)
        tips.append(Sight(mechanism, state.x).point("beam.tip")[2])
        torque_of = mechanism.reaction(state, "weld beam.root–GROUND").torque[0]
        assert torque_of == pytest.approx([0.0, -0.5 * w * LENGTH**2, 0.0], rel=1e-9)
    # moments are linear on each element: the deflection misses w h⁴/720 EI or so of what the field cannot follow
    exact = -w * LENGTH**4 / (8.0 * 2e8 * STRIP.second_moment_y)
    assert tips == pytest.approx([exact, exact], rel=1e-2)
    assert tips[0] == pytest.approx(tips[1], rel=1e-2)


# --- from afar, and at rest -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.5, 1.5, 2.0])
def test_a_pendulum_falls_to_its_equilibrium(start):
    mechanism = connect({"rod": rod()}, [revolute("rod.root", ORIGIN, axis=(0, 1, 0))], gravity=DOWN)
    state = mechanism.equilibrium(mechanism.assemble({"rod": turning_down(start)}))
    assert Sight(mechanism, state.x).point("rod.tip") == pytest.approx([0.0, 0.0, -0.4], abs=1e-12)
    assert not state.x[mechanism.layout.parts["rod.spin"]].any()


FIRM = fem.Material(young=4e6, density=200.0, poisson=0.3)


def loaded(gravity=DOWN):
    """Rigid and flexible bodies, springs of all kinds and loads, in one equilibrium."""
    joints = [
        weld("a.p", GROUND),
        spherical("b.q", "a.s"),
        universal("c.root", "b.s", axis=(0, 1, 0), second_axis=A1),
        spring_damper("c.tip", GROUND.at(0.2, 0.3, -1.5), stiffness=10.0, damping=0.1, length=0.3),
        bushing("b.p", "a.q", stiffness=(20.0, 30.0, 40.0), torsional_stiffness=0.3),
        torsion_spring("c.root", "b.s", stiffness=2.0, axis=A1, angle=0.1),
        distance("m.point", "c.tip"),
        force("c.tip"),
        force("b.p", axes="section"),
        torque("b.s", axes="section"),
        distributed_load("c.load"),
    ]
    bodies = {
        "a": cloud(1, stiffness=400.0),
        "b": block(seed=2),
        "c": beam(0.5, material=FIRM),
        "m": rigid.point(0.05, dim=3),
    }
    return connect(bodies, joints, gravity=gravity)


PUSH = {"force c.tip": (0.1, -0.1, -2.0), "load c.load": (0.1, 0.1, -0.2)}
FOLLOW = {"force b.p": (0.1, 0.05, -0.05), "torque b.s": (0.01, 0.005, -0.01)}


def rest(mechanism, inputs):
    guess = {"b": ((0.1, 0.0, -0.2), np.eye(3)), "c": turning_down(0.2), "m": (0.2, 0.1, -1.2)}
    return mechanism.equilibrium(mechanism.assemble(guess=guess), inputs=inputs)


LOADED = {"weight": {}, "world": PUSH, "following": {**PUSH, **FOLLOW}}


@cache
def resting(load):
    mechanism = loaded()
    return mechanism, rest(mechanism, LOADED[load])


@pytest.mark.parametrize("load", LOADED)
@pytest.mark.filterwarnings("ignore:velocities leave:flexph.ValidityWarning")
def test_an_equilibrium_is_a_fixed_point_of_the_step(load):
    (mechanism, state), inputs = resting(load), LOADED[load]
    assert "no growing motion" in mechanism.spectrum(state, inputs=inputs).message
    run = integrate(mechanism, state, np.linspace(0.0, 1.0, 21), inputs=inputs)
    # forces of order ten balance to 1e-14; twenty steps of 0.05 s on masses of 0.05 kg
    assert np.abs(run.states - state.x).max() < 1e-10
    assert run.multipliers[-1] == pytest.approx(state.multipliers, abs=1e-8)
    assert np.abs(state.x[mechanism.layout.parts["a.deformation"]]).max() > 1e-3


def test_a_run_at_rest_is_nothing_to_warn_of():
    """Velocities are round-off of forces of order ten: 1e-13 m/s, none of which is the fault of a drive or of steps."""
    mechanism = loaded()
    state = rest(mechanism, PUSH)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        integrate(mechanism, state, np.linspace(0.0, 1.0, 21), inputs=PUSH)


def test_an_unloaded_mechanism_is_in_equilibrium():
    """Nothing acts: forces are round-off, which is no reason to refuse."""
    mechanism = loaded(gravity=None)
    mechanism = connect(
        mechanism.bodies, [c for c in mechanism.connections if not c.form.measures or c.kind == "bushing"]
    )
    guess = {"b": ((0.1, 0.0, -0.2), np.eye(3)), "c": turning_down(0.2), "m": (0.2, 0.1, -1.2)}
    pose = mechanism.assemble(guess=guess)
    state = mechanism.equilibrium(pose)
    assert np.abs(state.multipliers).max() < 1e-12
    locked = connect(
        {"c": beam(0.5)}, [weld("c.root", GROUND), torsion_spring("c.tip", GROUND, stiffness=1.0, axis=A1)]
    )
    pose = locked.assemble({"c": random_rotation(np.random.default_rng(3))})
    about = locked.equilibrium(pose)
    one = eigenfrequencies(locked.linearize(about))
    other = eigenfrequencies(eliminate(locked.linearize(pose)))
    assert one == pytest.approx(other, rel=1e-8)


def test_drives_stand_where_they_are_in_an_equilibrium():
    """Of a drive that moves on, the equilibrium is that with the drive held where it stands."""
    lift = lambda t: -0.4 + 0.3 * t  # noqa: E731
    joints = [revolute("rod.root", ORIGIN, axis=(0, 1, 0)), drive("rod.root", ORIGIN, angle=lift, axis=(0, 1, 0))]
    mechanism = connect({"rod": rod()}, joints, gravity=DOWN)
    pose = mechanism.assemble({"rod": Rotation.from_rotvec((0.0, -0.1, 0.0))}, time=1.0)
    state = mechanism.equilibrium(pose, time=1.0)
    held = mechanism.reaction(state, joints[1].name).torque[0]
    weight = mechanism.bodies["rod"].mass * G
    assert held == pytest.approx([0.0, -weight * 0.2 * math.cos(0.1), 0.0], rel=1e-9)


# --- steady rotation --------------------------------------------------------------------------------------------------

SLENDER = fem.Section(area=1e-2, second_moment=1e-8, second_moment_y=1e-8, torsion_constant=2e-8, polar_moment=2e-8)
UNIT = fem.Material(young=1e8, density=100.0, poisson=0.3)
"""EI = 1 N m², ρA = 1 kg/m, EA = 1e6 N: with a length of 1 m, frequencies are in units of √(EI/ρAL⁴)."""


def blade(elements=6, **options):
    return fem.beam(1.0, UNIT, SLENDER, elements=elements, dim=3, strain="von_karman", **options)


def spinning_blade(speed, elements=6):
    joints = [
        hinge("blade.root", ORIGIN, axis=Z),
        drive("blade.root", ORIGIN, angle=lambda t: speed * t, axis=Z),
    ]
    return connect({"blade": blade(elements)}, joints)


def lowest(speed, elements):
    """First chord and flap frequencies in the frame that turns, and the mechanism's spectrum."""
    mechanism = spinning_blade(speed, elements)
    found = mechanism.spectrum(mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, speed)))
    return found.frequencies[:2], found


@pytest.mark.parametrize(("speed", "flap"), [pytest.param(2.0, 4.1373, marks=pytest.mark.slow), (6.0, 7.3604)])
def test_a_spinning_cantilever_has_the_published_frequencies(speed, flap):
    """First flap frequencies of Wright, Smith, Thresher and Wang (1982); chord² = flap² − Ω²."""
    coarse, _ = lowest(speed, 4)
    fine, found = lowest(speed, 8)
    assert found.about == "steady motion"
    assert np.abs(found.values.real).max() < 1e-9 * np.abs(found.values).max()
    assert fine[1] ** 2 - fine[0] ** 2 == pytest.approx(speed**2, rel=1e-4)
    assert fine[1] == pytest.approx(flap, rel=1e-3)
    # the axial strain is a mean over each element: the frequency errs with the square of its length
    low = (4.0 * fine - coarse) / 3.0
    assert low == pytest.approx([math.sqrt(flap**2 - speed**2), flap], rel=2e-4)
    shapes = {k: np.abs(found.shapes[:, np.argmin(np.abs(found.values - 1j * fine[k]))]) for k in (0, 1)}
    part = found.parts["blade.deformation"]
    in_plane, out = (np.arange(part.start, part.stop)[i::6] for i in (1, 3))
    assert shapes[0][in_plane].max() > 1e3 * shapes[0][out].max()
    assert shapes[1][out].max() > 1e3 * shapes[1][in_plane].max()


def test_a_steady_rotation_stays_steady():
    """Cayley's rotation carries positions, velocities and forces alike: the deformation stays to round-off."""
    speed = 3.0
    soft = fem.Material(young=1e5, density=100.0, poisson=0.3)
    made = fem.beam(1.0, soft, fem.Section(width=0.1, height=0.1), elements=2, dim=3, strain="von_karman")
    joints = [hinge("blade.root", ORIGIN, axis=Z), weld("block.p", "blade.tip")]
    mechanism = connect({"blade": made, "block": block(0.3, seed=2)}, joints)
    pose = mechanism.assemble(guess={"block": ((0.8, 0.0, 0.0), np.eye(3))})
    state = mechanism.equilibrium(pose, spin=(0.0, 0.0, speed))
    u = state.x[mechanism.layout.parts["blade.deformation"]]
    assert np.abs(u).max() > 1e-3
    run = integrate(mechanism, state, np.linspace(0.0, 1.0, 21))
    assert np.abs(run.deformation("blade") - u).max() < 1e-12
    assert run.spin("blade") == pytest.approx(np.tile((0.0, 0.0, speed), (21, 1)), abs=1e-10)
    held = mechanism.reaction(state, "weld block.p–blade.tip").force[0]
    rate = 2.0 * math.atan(0.5 * 0.05 * speed) / 0.05  # of the rotation in time: speed to second order
    want = [Rotation.from_rotvec((0.0, 0.0, rate * t)).apply(held) for t in run.multiplier_times]
    assert run.reaction("weld block.p–blade.tip").force == pytest.approx(np.array(want), rel=0.01, abs=1e-3)


def test_a_steady_rotation_in_a_turned_world():
    """The axis of the rotation, gravity along it and all that is in the world turned by a random rotation."""
    Q = random_rotation(np.random.default_rng(12))
    found = []
    for R in (np.eye(3), Q):
        mechanism, state = conical(R, 0.9)
        found.append(mechanism.spectrum(state).values)
    assert np.sort(found[1].imag) == pytest.approx(np.sort(found[0].imag), abs=1e-6)


def conical(R, tilt, length=0.5, bob=None):
    """A bob on a massless rod to its centre that circles: Ω² = g/(L cos θ)."""
    speed = math.sqrt(G / (length * math.cos(tilt)))
    bob = bob or rigid.sphere(0.03, density=2500.0)
    port = f"bob.{next(iter(bob.ports))}"
    mechanism = connect({"bob": bob}, [distance(port, ORIGIN, length=length)], gravity=tuple(R @ DOWN))
    place = length * np.array([math.sin(tilt + 0.02), 0.0, -math.cos(tilt + 0.02)])
    pose = mechanism.assemble(guess={"bob": tuple(R @ place)})
    return mechanism, mechanism.equilibrium(pose, spin=tuple(speed * R @ Z))


@covering("tilt, kind", (0.3, 0.9), ("sphere", "point"))
def test_a_conical_pendulum_swings_as_in_closed_form(kind, tilt):
    """ω² = Ω² (1 + 3 cos² θ) in the frame that turns, and the circle it may move along."""
    bob = rigid.point(0.3, dim=3) if kind == "point" else rigid.sphere(0.03, density=2500.0)
    mechanism, state = conical(np.eye(3), tilt, bob=bob)
    speed = math.sqrt(G / (0.5 * math.cos(tilt)))
    at = Sight(mechanism, state.x).body("bob")[1]
    assert math.atan2(np.linalg.norm(at[:2]), -at[2]) == pytest.approx(tilt, abs=1e-9)
    assert np.abs(state.multipliers) == pytest.approx([bob.mass * G / math.cos(tilt)], rel=1e-9)
    found = mechanism.spectrum(state)
    swinging = 1j * speed * math.sqrt(1.0 + 3.0 * math.cos(tilt) ** 2)
    assert np.abs(found.values - swinging).min() < 1e-8 * speed
    assert np.sort(np.abs(found.values))[:2] == pytest.approx([0.0, 0.0], abs=1e-6 * speed)
    assert "no growing motion" in found.message
    assert f"{speed:.6g} rad/s" in found.message


def test_a_pendulum_on_a_turning_base():
    """cos θ = m g l/((A − C) Ω²), A ω² = (A − C) Ω² sin² θ; hanging straight it is unstable beyond √(m g l/(A − C))."""
    speed, made = 9.0, rod()
    m, C = made.mass, 0.5 * made.mass * 0.02**2
    A = m * (3 * 0.02**2 + 0.4**2) / 12.0 + m * 0.2**2
    joints = [
        hinge("base.root", ORIGIN, axis=(1, 0, 0), second_axis=Z),
        drive("base.root", ORIGIN, angle=lambda t: speed * t, axis=(1, 0, 0), second_axis=Z),
        revolute("rod.root", "base.root", axis=(0, 1, 0), second_axis=(0, 1, 0)),
    ]
    mechanism = connect({"base": rod(0.1), "rod": made}, joints, gravity=DOWN)
    tilt = math.acos(m * G * 0.2 / ((A - C) * speed**2))
    up = Rotation.from_rotvec((0.0, -0.5 * math.pi, 0.0))
    pose = mechanism.assemble(guess={"base": up, "rod": turning_down(-tilt + 0.05)})
    state = mechanism.equilibrium(pose, spin=(0.0, 0.0, speed))
    x = Sight(mechanism, state.x).body("rod")[2][:, 0]
    assert -x[2] == pytest.approx(math.cos(tilt), rel=1e-9)
    (frequency,) = mechanism.spectrum(state).frequencies
    assert frequency == pytest.approx(speed * math.sin(tilt) * math.sqrt((A - C) / A), rel=1e-8)
    straight = mechanism.equilibrium(
        mechanism.assemble(guess={"base": up, "rod": turning_down()}), spin=(0.0, 0.0, speed)
    )
    found = mechanism.spectrum(straight)
    assert found.values.real.max() == pytest.approx(math.sqrt(((A - C) * speed**2 - m * G * 0.2) / A), rel=1e-8)
    assert "unstable: grows with" in found.message


@pytest.mark.parametrize("spin", [20.0, 90.0])
def test_a_sleeping_top_has_its_frequencies_and_stability(spin):
    """A ω² − C s ω + m g l = 0 in the world; seen in the frame that turns with s; unstable where it is not real."""
    top = rigid.cylinder(0.2, 0.08, density=500.0)
    m, length = top.mass, 0.1
    C, A = 0.5 * m * 0.08**2, m * (3 * 0.08**2 + 0.2**2) / 12.0 + m * length**2
    mechanism = connect({"top": top}, [spherical("top.root", ORIGIN)], gravity=DOWN)
    up = Rotation.from_rotvec((0.0, -0.5 * math.pi, 0.0))
    state = mechanism.equilibrium(mechanism.assemble({"top": up}), spin=(0.0, 0.0, spin))
    assert Sight(mechanism, state.x).point("top.tip") == pytest.approx([0.0, 0.0, 0.2], abs=1e-9)
    found = mechanism.spectrum(state)
    expected = 1j * np.roots([A, -C * spin, m * G * length]) - 1j * spin
    both = np.concatenate([expected, expected.conj(), [0.0, 0.0]])
    for value in both:
        assert np.abs(found.values - value).min() < 1e-6 * spin
    grows = max(expected.real.max(), 0.0)
    assert ("unstable" in found.message) == (grows > 1e-6)


# --- small motions about rest -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["thin", "thick"])
def test_a_pendulum_under_gravity(kind):
    """√(m g l/J) of a hinge; on a spherical joint twice, and the spin about itself is free."""
    made = rod(radius=0.001 if kind == "thin" else 0.1)
    m, r = made.mass, 0.001 if kind == "thin" else 0.1
    J = m * (3 * r**2 + 0.4**2) / 12.0 + m * 0.2**2
    for joint, count in ((revolute("rod.root", ORIGIN, axis=(0, 1, 0)), 1), (spherical("rod.root", ORIGIN), 2)):
        mechanism = connect({"rod": made}, [joint], gravity=DOWN)
        state = mechanism.equilibrium(mechanism.assemble({"rod": turning_down(0.3)}))
        found = mechanism.spectrum(state)
        assert found.frequencies == pytest.approx([math.sqrt(m * G * 0.2 / J)] * count, rel=1e-9)
        assert found.message == "small motions about rest (no growing motion)"
        assert eigenfrequencies(mechanism.linearize(state))[-count:] == pytest.approx(found.frequencies, rel=1e-9)


def test_a_simple_pendulum_and_its_growth_upside_down():
    mechanism = connect({"rod": rod()}, [revolute("rod.root", ORIGIN, axis=(0, 1, 0))], gravity=DOWN)
    up = Rotation.from_rotvec((0.0, -0.5 * math.pi, 0.0))
    state = mechanism.equilibrium(mechanism.assemble({"rod": up}))
    m = mechanism.bodies["rod"].mass
    J = m * (3 * 0.02**2 + 0.4**2) / 12.0 + m * 0.2**2
    found = mechanism.spectrum(state)
    rate = math.sqrt(m * G * 0.2 / J)
    assert np.sort(found.values.real) == pytest.approx([-rate, rate], rel=1e-9)
    assert f"unstable: grows with {rate:.4g} 1/s" in found.message
    with pytest.raises(ValueError, match=r"the equilibrium is unstable, its energy has no minimum"):
        mechanism.linearize(state)


def test_damped_poles_are_those_of_one_freedom():
    """J s² + c s + k = 0 of a torsion spring; with its damping in the linear system as well."""
    k, c = 2.0, 0.05
    spring = torsion_spring("rod.root", GROUND, stiffness=k, damping=c, axis=Z)
    mechanism = connect({"rod": rod()}, [hinge("rod.root", ORIGIN, axis=Z), spring], gravity=DOWN)
    state = mechanism.equilibrium(mechanism.assemble())
    m = mechanism.bodies["rod"].mass
    J = m * (3 * 0.02**2 + 0.4**2) / 12.0 + m * 0.2**2
    exact = np.roots([J, c, k])
    for found in (mechanism.spectrum(state).values, poles(mechanism.linearize(state))):
        assert np.sort_complex(np.asarray(found)) == pytest.approx(np.sort_complex(exact), rel=1e-9)


def test_the_linear_system_has_the_frequencies_of_the_spectrum():
    mechanism = loaded()
    state = rest(mechanism, PUSH)
    found = mechanism.spectrum(state, inputs=PUSH)
    system = mechanism.linearize(state, inputs=PUSH)
    values = np.asarray(poles(system))
    for value in found.values[np.abs(found.values.imag) > 1e-3]:
        assert np.abs(values - value).min() < 1e-6 * np.abs(value)
    for part in ("b.velocity", "c.stress", "m.velocity"):
        assert part in system.parts
    with pytest.raises(ValueError, match=r"must be an equilibrium with its joint forces"):
        mechanism.spectrum(state)  # without the loads it was found with


def test_small_motions_are_those_of_a_run():
    """A mode of the spectrum started in a run: comes back after a period."""
    mechanism = connect(
        {"c": beam(0.5), "b": block(0.1, seed=1)},
        [weld("c.root", GROUND), weld("b.p", "c.tip")],
        gravity=(0.0, 0.0, -1.0),
    )
    state = mechanism.equilibrium(mechanism.assemble(guess={"b": ((0.5, 0.0, 0.0), np.eye(3))}))
    found = mechanism.spectrum(state)
    omega = found.frequencies[0]
    shape = found.shapes[:, np.argmin(np.abs(found.values - 1j * omega))]
    shape = (shape * np.exp(-1j * np.angle(shape[np.abs(shape).argmax()]))).real
    x = state.x.copy()
    n, q = mechanism.layout.velocities, sum(mechanism.layout.position_sizes)
    x[q : q + n] = 1e-6 * shape
    errors = []
    for steps in (40, 80):
        run = integrate(mechanism, replace(state, x=x), np.linspace(0.0, 2.0 * math.pi / omega, steps + 1))
        path = run.position("b.s") - run.position("b.s")[0]
        errors.append(np.linalg.norm(path[-1]) / np.linalg.norm(path, axis=1).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)  # the phase of the step
    assert errors[1] < 1e-2


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_small_motions_about_a_steady_rotation_are_those_of_a_run(mode):
    """Re(ξ e^{iωt}) in the frame that turns: after a period the deformation is what it was."""
    speed = 4.0
    joint = hinge("a.p", ORIGIN, axis=Z)  # without a drive: its steps would not turn as the steady rotation does
    mechanism = connect({"a": cloud(1, stiffness=60.0)}, [joint], gravity=(0.0, 0.0, -1.0))
    state = mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, speed))
    found = mechanism.spectrum(state)
    omega = found.frequencies[found.frequencies > 0.1 * speed][mode]  # beside that of turning on, which is free
    shape = found.shapes[:, np.argmin(np.abs(found.values - 1j * omega))]
    small = 1e-6
    x = moved(mechanism, state.x, small * shape.real)
    parts = mechanism.layout.parts
    rate = -omega * small * shape.imag
    u = x[parts["a.deformation"]]
    # seen from the world, what is displaced turns with the frame
    x[parts["a.velocity"]] += rate[:3] + np.cross((0.0, 0.0, speed), small * shape.real[:3])
    x[parts["a.spin"]] += rate[3:6] + np.cross(state.x[parts["a.spin"]], small * shape.real[3:6])
    x[parts["a.deformation_rate"]] = rate[6:]
    x[parts["a.stress"]] = mechanism.bodies["a"].elasticity.stress_of(u)
    off = []
    for steps in (60, 120):
        run = integrate(mechanism, replace(state, x=x), np.linspace(0.0, 2.0 * math.pi / omega, steps + 1))
        there = run.deformation("a") - state.x[parts["a.deformation"]]
        off.append(np.abs(there[-1] - there[0]).max() / np.abs(there).max())
    assert math.log2(off[0] / off[1]) > 1.7  # the phase of the step: h², with a share that falls faster
    assert off[1] < 5e-3


def test_a_state_that_moves_or_is_not_balanced_is_refused():
    mechanism = connect({"rod": rod()}, [revolute("rod.root", ORIGIN, axis=(0, 1, 0))], gravity=DOWN)
    pose = mechanism.assemble({"rod": turning_down(0.7)})
    with pytest.raises(ValueError, match=r"must.*equilibrium.*joint forces, see mechanism.equilibrium"):
        mechanism.spectrum(mechanism.consistent_state(pose))
    two = connect({"a": rod(), "b": rod()}, [])
    state = two.consistent_state(two.assemble(), velocities={"a": Z})
    with pytest.raises(ValueError, match="must be at rest, in one steady rotation"):
        two.spectrum(state)
    with pytest.raises(ValueError, match=r"a steady rotation, linearize needs one.*rest: use mechanism.spectrum"):
        blades = spinning_blade(2.0, elements=2)
        blades.linearize(blades.equilibrium(blades.assemble(), spin=(0.0, 0.0, 2.0)))
    with pytest.raises(ValueError, match=r"a steady rotation needs gravity along its axis"):
        mechanism.equilibrium(pose, spin=(1.0, 0.0, 0.0))


# --- the tangent stiffness --------------------------------------------------------------------------------------------


def stiffness_and_error(mechanism, state, inputs):
    """K of the kernels, and how far K d is from central differences of the unbalanced forces along d.

    Multipliers are constant.
    """
    c, a = configuration(mechanism, state.x), mechanism.network.arrays
    steady = steady_motion(mechanism, state)
    given = statics.problem(mechanism, state.anchors, state.time, inputs=inputs, steady=steady)
    K = tangent(a, c, derive(a, c), given.forces(c, state.multipliers), spin=steady.spin).stiffness

    def at(v):
        there = statics.in_motion(mechanism, configuration(mechanism, moved(mechanism, state.x, v)), steady)
        return given.unbalanced(there, state.multipliers)

    def error(directions):
        e = 1e-4 / np.sqrt(len(K))
        slopes = [(8 * (at(s) - at(-s)) - (at(2 * s) - at(-2 * s))) / (12 * e) for s in e * directions]
        return np.abs(K @ directions.T - np.array(slopes).T)

    return K, error


@pytest.mark.parametrize("load", LOADED)
def test_the_tangent_stiffness_is_the_derivative_of_the_forces(load):
    (mechanism, state), inputs = resting(load), LOADED[load]
    K, error = stiffness_and_error(mechanism, state, inputs)
    directions = np.random.default_rng(5).choice([-1.0, 1.0], (6, len(K)))
    # differences of fourth order: 1e-16 of the largest force over the step
    assert error(directions).max() < 1e-9 * np.abs(K).max()
    free = K[: -mechanism.layout.flexible, : -mechanism.layout.flexible]
    directions[:, len(free) :] = 0.0
    assert error(directions)[: len(free)].max() < 1e-7 * np.abs(free).max()
    # in balance, forces with a potential have a symmetric stiffness
    symmetric = np.abs(K - K.T).max() < 1e-9 * np.abs(free).max()
    assert symmetric == (not set(FOLLOW) & set(inputs))


@pytest.mark.parametrize("load", ["weight", "following"])
def test_no_tangent_stiffness_is_above_the_sum_of_its_terms(load):
    """And where all terms are zero, none is."""
    (mechanism, state), inputs = resting(load), LOADED[load]
    a, c = mechanism.network.arrays, configuration(mechanism, state.x)
    steady = steady_motion(mechanism, state)
    forces = statics.problem(mechanism, state.anchors, state.time, inputs=inputs, steady=steady).forces(
        c, state.multipliers
    )
    K = tangent(a, c, derive(a, c), forces, spin=steady.spin).stiffness
    size = stiffness_size(a, c, derive(a, c), forces, spin=steady.spin)
    assert np.all(np.abs(K) <= size * (1.0 + 1e-12))  # sums in another order
    assert np.all((K != 0.0) <= (size > 0.0))


def test_the_tangent_stiffness_of_a_steady_rotation():
    speed = 2.0
    joints = [
        hinge("a.p", ORIGIN, axis=Z, second_axis=Z),
        spherical("b.q", "a.s"),
        bushing("b.s", "a.q", stiffness=60.0),
    ]
    mechanism = connect(
        {"a": cloud(1, stiffness=400.0), "b": cloud(2, stiffness=400.0)}, joints, gravity=(0.0, 0.0, -1.0)
    )
    state = mechanism.equilibrium(mechanism.assemble(guess={"b": ((0.2, 0.1, -0.1), np.eye(3))}), spin=(0, 0, speed))
    K, error = stiffness_and_error(mechanism, state, {})
    assert error(np.random.default_rng(5).choice([-1.0, 1.0], (6, len(K)))).max() < 1e-9 * np.abs(K).max()
    assert np.abs(K - K.T).max() < 1e-8 * np.abs(K).max()


# --- stability under load ---------------------------------------------------------------------------------------------


def test_becks_column_flutters_at_its_load():
    """A force that follows the tip of a cantilever: no static buckling, flutter at 20.05 EI/L² (Beck 1952)."""
    mechanism = connect({"blade": blade(8)}, [weld("blade.root", GROUND), force("blade.tip", axes="section")])
    growing = []
    for P in (10.0, 19.9, 20.2, 25.0):
        inputs = {"force blade.tip": (-P, 0.0, 0.0)}
        state = mechanism.equilibrium(mechanism.assemble(), inputs=inputs)
        found = mechanism.spectrum(state, inputs=inputs)
        growing.append(found.values.real.max() > 1e-3 * found.frequencies[0])
        if growing[-1]:
            assert "unstable" in found.message
            worst = found.values[np.argmax(found.values.real)]
            assert abs(worst.imag) > 1.0  # it flutters
            with pytest.raises(ValueError, match=r"unstable|no potential"):
                mechanism.linearize(state, inputs=inputs)
    assert growing == [False, False, True, True]


FLAT = fem.Section(area=1e-2, second_moment=1e-8, second_moment_y=2e-8, torsion_constant=3e-8)
BUCKLING = {  # joints, and critical loads over EI/L² of bending in both planes
    "cantilever": ([weld("beam.root", GROUND)], (math.pi**2 / 4.0, math.pi**2 / 4.0)),
    "hinged": (
        [
            universal("beam.root", ORIGIN, axis=(0, 1, 0), second_axis=Z),
            slider("beam.tip", ORIGIN, direction=(1, 0, 0), turning=True),
        ],
        (math.pi**2, math.pi**2),
    ),
    "clamped and hinged": (
        [weld("beam.root", GROUND.at(0.0, 0.0, 0.0)), slider("beam.tip", ORIGIN, direction=(1, 0, 0), turning=True)],
        (20.1907, 20.1907),
    ),
}


@covering("name, plane", tuple(BUCKLING), ("y", "z"))
def test_columns_buckle_at_eulers_loads(name, plane):
    """The lowest frequency in each plane vanishes at the critical load: K loses its rank there."""
    joints, (along_y, along_z) = BUCKLING[name]
    made = fem.beam(1.0, UNIT, FLAT, elements=6, dim=3, strain="von_karman")
    mechanism = connect({"beam": made}, [*joints, force("beam.tip")])
    critical = along_y if plane == "y" else 2.0 * along_z  # EI is 1 and 2

    def square(P):
        """ω² of the softest motion in the plane."""
        inputs = {"force beam.tip": (-P, 0.0, 0.0)}
        state = mechanism.equilibrium(mechanism.assemble(), inputs=inputs)
        found = mechanism.spectrum(state, inputs=inputs)
        shapes = np.abs(found.part("beam.deformation"))
        own = shapes[1::6].max(axis=0) if plane == "y" else shapes[3::6].max(axis=0)
        other = shapes[3::6].max(axis=0) if plane == "y" else shapes[1::6].max(axis=0)
        mine = found.values[(own > 1e3 * other) & (own > 1e-3)]
        squares = -(mine**2).real
        return squares[np.argmin(np.abs(squares))]

    below, above = square(0.999 * critical), square(1.001 * critical)
    assert below > 0.0 > above
    found = critical * (0.999 + 0.002 * below / (below - above))
    assert found == pytest.approx(critical, rel=5e-4)  # six elements, shortening of 1e-5


def test_the_axis_of_a_pendulum_may_be_anything():
    """A physical pendulum about a skew axis: ω² = m g l sin(angle of the axis to the vertical)/J."""
    Q = random_rotation(np.random.default_rng(4))
    axis = unit(Q @ Z)
    made = block(seed=5)
    mechanism = connect({"a": made}, [revolute("a.p", ORIGIN, axis=A1, second_axis=tuple(axis))], gravity=DOWN)
    poses = [mechanism.assemble(guess={"a": Rotation.from_rotvec(turn * axis).as_matrix() @ Q}) for turn in range(6)]
    state = mechanism.equilibrium(min(poses, key=lambda pose: pose.centres[0, 2]))
    now = Sight(mechanism, state.x)
    _, r, R, _ = now.body("a")
    lever = r - (r @ axis) * axis
    inertia = np.trace(made.inertia.second - made.mass * np.outer(made.inertia.centre, made.inertia.centre)) * np.eye(3)
    inertia = inertia - (made.inertia.second - made.mass * np.outer(made.inertia.centre, made.inertia.centre))
    J = axis @ R @ inertia @ R.T @ axis + made.mass * lever @ lever
    pull = made.mass * np.linalg.norm(lever) * G * np.linalg.norm(np.cross(axis, Z))
    assert mechanism.spectrum(state).frequencies == pytest.approx([math.sqrt(pull / J)], rel=1e-9)
