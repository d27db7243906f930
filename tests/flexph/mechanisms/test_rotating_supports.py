"""Steady rotations on springs and dampers of the ground: closed forms, Floquet's theorem, what is no such rotation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rigid
from flexph import GROUND, connect, drive, force, hinge, integrate, revolute, spring_damper, torque, torsion_spring
from flexph.joints import bushing, cartesian_spring_damper
from flexph.kernels.continuous import spring_operator
from flexph.kernels.gradient import velocity_count
from flexph.kernels.state import derive
from flexph.kernels.stiffness.steady_slopes import circulatory, steady_rates, steady_tensions
from flexph.kernels.stiffness.stiffness_size import stiffness_size
from flexph.laws import coulomb, force_law, viscous
from flexph.linear.eigenmodes.floquet import PeriodicMotion, solve_periodic
from flexph.mechanisms.model.constraints import move
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.statics import balance
from flexph.mechanisms.statics.steady_rotation import steady_motion

Z = (0.0, 0.0, 1.0)
CENTRE = GROUND.at(0.0, 0.0, 0.0)


def disc():
    return rigid.body(2.0, inertia=(0.01, 0.01, 0.02), ports={"c": (0.0, 0.0, 0.0), "rim": (0.25, 0.0, 0.0)})


def on_springs(**options):
    return connect({"disc": disc()}, [cartesian_spring_damper("disc.c", CENTRE, **options)])


def driven(*connections, friction=None):
    held = [
        revolute("disc.c", CENTRE, axis=Z, friction=friction),
        drive("disc.c", GROUND, angle=lambda t: 30.0 * t, axis=Z),
    ]
    return connect({"disc": disc()}, [*held, *connections])


def spectrum(mechanism, spin):
    return mechanism.spectrum(mechanism.equilibrium(mechanism.assemble(), spin=spin))


def upper(values, least=1e-3):
    """Values with a positive imaginary part, in its order."""
    own = values[values.imag > least]
    return own[np.argsort(own.imag)]


# --- isotropic supports -----------------------------------------------------------------------------------------------


def test_a_disc_in_damped_springs_decays_as_it_does_at_rest():
    """m z̈ + c ż + k z = 0 in the world whatever the spin: s = −1 ± 19.97i, in the frame that turns ∓ 35i."""
    found = spectrum(on_springs(stiffness=(800.0, 800.0, 100.0), damping=(4.0, 4.0, 1.0)), (0.0, 0.0, 35.0))
    assert "no growing motion" in found.message
    assert found.about == "steady motion"
    across, along = np.sqrt(800.0 / 2.0 - 1.0), np.sqrt(100.0 / 2.0 - 0.25**2)
    for shift in (-35.0, 35.0):
        assert np.abs(found.values - (-1.0 + 1j * (across + shift))).min() < 1e-9
    seen = found.fixed_values
    whirls = sorted(seen[np.abs(seen.real + 1.0) < 1e-9].imag)
    assert whirls == pytest.approx([-across, -across, across, across], abs=1e-9)
    assert sorted(seen[np.abs(seen.real + 0.25) < 1e-9].imag) == pytest.approx([-along, along], abs=1e-9)


def jeffcott(spin, *, external=5.0, internal=3.0):
    """A disc of 2 kg on a shaft of 800 N/m with damping of its own, and one to the ground, in the plane."""
    bodies = {
        "hub": rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)}),
        "disc": rigid.body(2.0, inertia=0.05, ports={"c": (0.0, 0.0)}),
    }
    shaft = bushing("disc.c", "hub.c", stiffness=800.0, damping=internal, torsional_stiffness=1e3)
    ground = GROUND.at(0.0, 0.0)
    joints = [hinge("hub.c", ground), drive("hub.c", GROUND, angle=lambda t: spin * t), shaft]
    mechanism = connect(bodies, [*joints, cartesian_spring_damper("disc.c", ground, damping=external)])
    return mechanism, mechanism.equilibrium(mechanism.assemble(), spin=spin)


@pytest.mark.parametrize(("share", "grows"), [pytest.param(0.999, False, marks=pytest.mark.slow), (1.001, True)])
def test_internal_damping_destabilises_a_jeffcott_rotor(share, grows):
    """It grows from Ω = ω₀(1 + c_e/c_i) on, ω₀² = k/m."""
    mechanism, state = jeffcott(share * 20.0 * (1.0 + 5.0 / 3.0))
    found = mechanism.spectrum(state)
    assert ("unstable: grows" in found.message) is grows
    assert found.values.real.max() == pytest.approx(0.0, abs=3e-3)
    assert upper(found.fixed_values)[0].imag == pytest.approx(20.0, rel=1e-3)  # forward whirl at ω₀


@pytest.mark.slow
@pytest.mark.parametrize("spin", [45.0, 60.0])
def test_a_run_of_a_jeffcott_rotor_grows_as_its_spectrum_says(spin):
    mechanism, state = jeffcott(spin)
    values = mechanism.spectrum(state).values
    growth = values.real[np.abs(values.imag) < 100.0].max()  # nothing damps the torsion of the shaft, at 141 rad/s
    run = integrate(mechanism, mechanism.impact(state, "disc.c", impulse=(1e-6, 0.0)), np.linspace(0.0, 12.0, 12001))
    radius, late = np.hypot(*run.position("disc.c").T), run.times > 6.0
    assert np.polyfit(run.times[late], np.log(radius[late]), 1)[0] == pytest.approx(growth, rel=1e-3)


# --- supports that are not the same at all angles ---------------------------------------------------------------------


@pytest.mark.processor
def test_a_symmetric_rotor_in_anisotropic_springs_has_the_frequencies_of_the_world():
    found = spectrum(on_springs(stiffness=(800.0, 600.0, 100.0), damping=(4.0, 2.0, 1.0)), (0.0, 0.0, 30.0))
    assert found.about == "periodic motion"
    assert "Floquet" in found.message
    assert "no growing motion" in found.message
    expected = [-c / 4.0 + 1j * np.sqrt(k / 2.0 - (c / 4.0) ** 2) for k, c in ((100, 1), (600, 2), (800, 4))]
    nutation = 60.0j  # Ω J_p/J_t: no spring holds its axis
    whirls = np.array([*expected, nutation])
    assert upper(found.fixed_values) == pytest.approx(whirls, abs=1e-6)  # the last is double in the rotating frame
    assert upper(found.fixed_values.conj()) == pytest.approx(whirls, abs=1e-6)


def asymmetric(spin, damping=0.3):
    """An asymmetric shaft in unequal bearings, in the plane: a hub in springs of the world, a disc in its own."""
    bodies = {
        "hub": rigid.body(1.0, inertia=0.1, ports={"c": (0.0, 0.0)}),
        "disc": rigid.body(2.0, inertia=0.05, ports={"c": (0.0, 0.0)}),
    }
    parts = [
        cartesian_spring_damper("hub.c", GROUND.at(0.0, 0.0), stiffness=(900.0, 500.0), damping=damping),
        drive("hub.c", GROUND, angle=lambda t: spin * t),
        bushing("disc.c", "hub.c", stiffness=(3000.0, 800.0), torsional_stiffness=1e3),
    ]
    return connect(bodies, parts)


def world_exponents(spin, damping=0.3):
    """Real parts of the exponents of the same two masses by a run of their own equations in the world."""
    M, C = np.diag([1.0, 1.0, 2.0, 2.0]), np.diag([damping, damping, 0.0, 0.0])

    def slope(t, y):
        c, s = np.cos(spin * t), np.sin(spin * t)
        shaft = np.array([[c, -s], [s, c]]) @ np.diag([3000.0, 800.0]) @ np.array([[c, s], [-s, c]])
        K = np.block([[np.diag([900.0, 500.0]) + shaft, -shaft], [-shaft, shaft]])
        A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
        return (A @ y.reshape(8, 8)).ravel()

    period = 2.0 * np.pi / spin
    monodromy = solve_ivp(slope, (0.0, period), np.eye(8).ravel(), rtol=1e-10, atol=1e-12, method="DOP853").y[:, -1]
    return np.sort(np.log(np.abs(np.linalg.eigvals(monodromy.reshape(8, 8)))) / period)


@pytest.mark.parametrize(("spin", "grows"), [(30.0, True), pytest.param(22.0, False, marks=pytest.mark.slow)])
def test_an_asymmetric_rotor_in_anisotropic_bearings_against_its_equations_in_the_world(spin, grows):
    """Where it grows and where it decays: tolerances of the reference run."""
    found = spectrum(asymmetric(spin), spin)
    across = np.sort(found.values.real[np.abs(found.values.real) > 1e-9])
    assert across == pytest.approx(world_exponents(spin), abs=1e-7)
    assert bool(across.max() > 0.0) is grows
    assert ("unstable" in found.message) is grows


def test_mathieus_equation_by_hills_matrix():
    """η̈ + (a − 2q cos 2t) η = 0: s = iν, cos πν the trace of the monodromy over two."""
    a, q, count = 1.0, 0.3, 9
    times = np.pi * np.arange(count) / count
    stiffness = (a - 2.0 * q * np.cos(2.0 * times))[:, None, None]
    found = solve_periodic(PeriodicMotion(np.eye(1), np.zeros((1, 1)), 0.0 * stiffness, stiffness, np.pi))
    run = solve_ivp(
        lambda t, y: [y[1], -(a - 2.0 * q * np.cos(2.0 * t)) * y[0], y[3], -(a - 2.0 * q * np.cos(2.0 * t)) * y[2]],
        (0.0, np.pi), [1.0, 0.0, 0.0, 1.0], rtol=1e-12, atol=1e-13, method="DOP853",
    ).y[:, -1]  # fmt: skip
    expected = np.linalg.eigvals(np.array([[run[0], run[2]], [run[1], run[3]]]))
    assert np.sort(found.multipliers.real) == pytest.approx(np.sort(expected.real), abs=1e-10)
    assert np.prod(found.multipliers).real == pytest.approx(1.0, abs=1e-10)


# --- the circulatory stiffness ----------------------------------------------------------------------------------------


def test_the_circulatory_stiffness_is_the_derivative_of_the_damper_forces():
    """Central differences of Sᵀ τ in the steady motion, of lengths, components and angles with all kinds of laws."""
    cubic, drag = coulomb(3.0, speed=2.0), force_law(lambda x, v, t: 2.0 * v + v**3)
    mechanism = connect(
        {"disc": disc()},
        [
            spring_damper("disc.rim", GROUND.at(0.7, 0.3, 0.2), damping=3.0, stiffness=1.0, length=0.2),
            cartesian_spring_damper("disc.rim", GROUND.at(0.1, 0.0, 0.0), damping=(1.0, 4.0, cubic)),
            torsion_spring("disc.c", GROUND, damping=0.7, axis=Z),
            spring_damper("disc.rim", GROUND.at(0.2, 0.9, 0.1), law=drag, length=0.1),
        ],
    )
    pose = mechanism.assemble(guess={"disc": (0.1, -0.2, 0.3)})
    state = mechanism.consistent_state(pose, velocities={"disc": ((0.3, 0.2, 0.1), (0.4, -0.7, 2.0))})
    a, c, steady = mechanism.network.arrays, configuration(mechanism, state.x), steady_motion(mechanism, state)

    def at(x):
        r, R = move(mechanism, c.r, c.R, x)
        return balance.in_motion(mechanism, c._replace(r=r, R=R), steady)

    def acting(at):  # the force law depends on its rate alone
        rate = steady_rates(a, at, derive(a, at))
        return steady_tensions(a, at, rate) + a.springs.tensions(none, 0.0, rate)

    none, step, rate = np.zeros(a.springs.damping.size), 1e-6, steady_rates(a, c, derive(a, c))
    tensions, by_rate = acting(c), a.springs.rate_slopes(none, 0.0, rate)
    assert np.abs(rate).min() > 1e-3
    K, S = circulatory(a, (c, derive(a, c)), steady.spin, by_rate), spring_operator(a, c, derive(a, c))
    for i, unit in enumerate(np.eye(velocity_count(a))):
        there, back = at(step * unit), at(-step * unit)
        change = (acting(there) - acting(back)) / (2.0 * step)
        assert K[:, i] == pytest.approx(S.T @ change, abs=1e-7)  # second differences and round-off over the step
    forces = balance.Forces(np.zeros(a.first.size), tensions, none, by_rate, np.zeros(0), np.zeros(0))
    size = stiffness_size(a, c, derive(a, c), forces, spin=steady.spin)
    assert np.all(np.abs(K) <= size * (1.0 + 1e-12))


# --- what turns with a spin, and what does not ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "inputs", "moment"),
    [
        ([cartesian_spring_damper("disc.rim", GROUND.at(0.25, 0.0, 0.0), damping=20.0)], {}, 37.5),
        ([torsion_spring("disc.c", GROUND, damping=2.0, axis=Z)], {}, 60.0),
        ([torque("disc.c")], {"torque disc.c": (0.0, 0.0, 1.0)}, -1.0),
        ([force("disc.rim")], {"force disc.rim": lambda t: (-np.sin(30.0 * t), np.cos(30.0 * t), 0.0)}, -0.25),
    ],
    ids=["rim damper", "torsional damper", "torque along the axis", "force that turns"],
)
def test_a_drive_holds_what_the_ground_takes(parts, inputs, moment):
    """c (Ω r) r of a damper at the rim, γ Ω of one in torsion, and loads that turn with the disc."""
    mechanism = driven(*parts)
    state = mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, 30.0), inputs=inputs)
    found = mechanism.reaction(state, "drive disc.c–GROUND").torque[0]
    assert found == pytest.approx([0.0, 0.0, moment], abs=1e-9)
    ahead = mechanism.consistent_multipliers(state, inputs=inputs)
    assert ahead.multipliers == pytest.approx(state.multipliers, abs=1e-6)  # rates of drives by differences
    assert "no growing motion" in mechanism.spectrum(state, inputs=inputs).message


def test_friction_of_a_bearing_is_held_by_the_drive():
    mechanism = driven(friction=coulomb(1.0, speed=0.1))
    state = mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, 30.0))
    assert mechanism.reaction(state, "drive disc.c–GROUND").torque[0, 2] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("parts", "inputs", "name"),
    [
        ([force("disc.rim")], {"force disc.rim": (1.0, 0.0, 0.0)}, "force disc.rim"),
        ([force("disc.c")], {"force disc.c": (1.0, 0.0, 0.0)}, "force disc.c"),
        ([torque("disc.c")], {"torque disc.c": (1.0, 0.0, 0.0)}, "torque disc.c"),
        ([spring_damper("disc.rim", GROUND.at(0.5, 0.0, 0.0), stiffness=100.0, length=0.1)], {}, "spring disc.rim"),
        ([spring_damper("disc.rim", GROUND.at(0.5, 0.0, 0.0), damping=1.0)], {}, "disc.rim"),
        ([cartesian_spring_damper("disc.rim", GROUND.at(0.25, 0, 0), damping=(20.0, 0.0, 0.0))], {}, "disc.rim.*: x"),
        ([cartesian_spring_damper("disc.c", CENTRE, stiffness=9.0, offset=(0.1, 0.0, 0.0))], {}, "cartesian.*: x"),
        ([torsion_spring("disc.c", GROUND, stiffness=2.0, axis=Z)], {}, "torsion spring disc.c"),
        ([force("disc.rim")], {"force disc.rim": lambda t: (np.cos(7.0 * t), np.sin(7.0 * t), 0.0)}, "force disc.rim"),
    ],
)
def test_what_does_not_turn_with_the_spin_is_refused_by_name(parts, inputs, name):
    mechanism = driven(*parts)
    with pytest.raises(ValueError, match=rf"{name}.* acts from the ground and does not turn with a steady rotation"):
        mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, 30.0), inputs=inputs)


def test_a_drive_that_does_not_keep_the_spin_is_refused():
    held = [revolute("disc.c", CENTRE, axis=Z), drive("disc.c", GROUND, angle=lambda t: 30.0 * t + t**2, axis=Z)]
    mechanism = connect({"disc": disc()}, held)
    with pytest.raises(ValueError, match=r"'drive disc.c–GROUND: angle' opens as the mechanism turns"):
        mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, 30.0))


@pytest.mark.slow
def test_a_spin_that_fades_is_no_steady_rotation():
    mechanism = connect({"disc": disc()}, [revolute("disc.c", CENTRE, axis=Z, friction=viscous(0.1))])
    with pytest.raises(ArithmeticError, match="stop a rotation unless a drive of that rate keeps it up"):
        mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, 30.0))
