"""Runs of multibody systems by their own pair: energy, drift, orders, closed solutions, cautions, failures.

Ten seconds, as steps of these systems are taken in Python.
"""

import warnings

import numpy as np
import pytest
from multibody_systems import (
    ARM,
    MOMENTS,
    SLEIGH,
    body,
    damped,
    entry_map,
    matrix_top,
    pendulum,
    quaternion_top,
    rotation_of,
    skew,
    sleigh,
    spinning,
)
from scipy.linalg import expm

import flexph
import rigid
from flexph import InputError, IntegrationError, ValidityWarning, integrate
from flexph.laws import Relation, coulomb, quadratic, viscous
from flexph.methods import Gauss, Radau
from rigid import (
    Damper,
    Dissipation,
    ExternalPort,
    MultibodySystem,
    PositionConstraint,
    PositionMap,
    Potential,
    VelocityConstraint,
)


def run(system, x, times, **options):
    return integrate(system.phdae(), x, times, progress=False, **options)


def steps(end, count):
    return np.linspace(0.0, end, count + 1)


def slopes(counts, errors):
    return -np.diff(np.log(errors)) / np.diff(np.log(counts))


def middles(system, made):
    """Positions and velocities in the middles of steps."""
    zeta, w, _, _ = system.split(made.states)
    return 0.5 * (zeta[1:] + zeta[:-1]), 0.5 * (w[1:] + w[:-1])


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_a_pinned_body_keeps_energy_pin_and_rotation():
    """Half a second at 10 ms: the pair is the default."""
    system = body()
    made = run(system, system.state(system.sample, spinning([1.0, 2.0, 10.0])), steps(0.5, 50))
    assert made.method == "pair"
    assert made.ledger.largest_residual < 1e-14
    assert made.energy_drift() < 1e-12
    assert max(np.abs(system.c(zeta)).max() for zeta in made["positions"]) < 1e-13  # the step feeds it back
    R = made["R"].reshape(-1, 3, 3)
    assert np.abs(np.einsum("tji,tjk->tik", R, R) - np.eye(3)).max() < 1e-12  # round-off of 50 steps
    # the momentum about the vertical through the pin is kept, since Z̄ gives the pin its lever
    r, v, w = made["r"], made["v"], made["omega"]
    spin = np.einsum("tij,tj->ti", R, MOMENTS * w) + 3.0 * np.cross(r, v)
    assert np.abs(spin[:, 2] - spin[0, 2]).max() < 1e-11 * np.abs(spin).max()


def test_a_free_quaternion_keeps_its_norm_and_its_momentum_is_of_second_order():
    system = quaternion_top()
    made = run(system, system.state([1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0]), steps(0.5, 50))
    q = made["positions"]
    assert np.abs(np.einsum("ti,ti->t", q, q) - 1.0).max() < 1e-12
    assert made.energy_drift() < 1e-13
    other = run(matrix_top(), np.append(np.eye(3).ravel(), [1.0, 2.0, 3.0]), steps(0.5, 50))
    R = other["positions"].reshape(-1, 3, 3)
    momentum = np.einsum("tij,tj->ti", R, MOMENTS * other["velocities"])
    assert np.abs(momentum - momentum[0]).max() < 1e-12  # of the rotation matrix to round-off
    turned = np.array([rotation_of(x / np.linalg.norm(x)) for x in q])
    assert np.abs(turned - R).max() < 3e-3  # ½ω̄ is half the turn of one, its tangent of the other


def test_velocity_constraints_hold_in_the_middle_and_positions_of_holonomic_ones_do_not_drift():
    """A body on a slanted rope |r| = const, given by its rate, on which a skate (not holonomic) is bound too."""
    length = PositionMap(
        lambda z: np.array([np.linalg.norm(z[:3])]),
        lambda z: np.append(z[:3] / np.linalg.norm(z[:3]), np.zeros(9))[None],
    )
    rope = VelocityConstraint("rope", lambda z: np.append(z[:3] / np.linalg.norm(z[:3]), np.zeros(3))[None], length)
    skate = VelocityConstraint("skate", lambda z: np.append(z[3:12].reshape(3, 3)[:, 1], np.zeros(3))[None])
    zeta = np.concatenate([[1.0, 0.0, -0.5], np.eye(3).ravel()])
    system = body(constraints=(), velocity_constraints=(rope, skate), sample=zeta)
    made = run(system, system.state(zeta, [0.4, 0.0, 0.8, 0.3, 0.2, 0.1]), steps(1.0, 50))
    assert made.energy_drift() < 1e-12
    radius = np.linalg.norm(made["r"], axis=1)
    assert np.abs(radius - radius[0]).max() < 1e-12
    for at, w in zip(*middles(system, made), strict=True):
        assert abs(skate.matrix(at)[0] @ w) < 1e-12
    # the rope at the ends of steps, only to second order, here of 20 ms
    assert (
        np.abs([rope.matrix(z)[0] @ w for z, w in zip(made["positions"], made["velocities"], strict=True)]).max() < 5e-3
    )


def test_work_is_that_along_the_way_of_a_port():
    """A constant force at the tip: ΔH = F·Δp to round-off at long steps."""
    system = body(ports={"tip": ExternalPort(lambda z: tip(z).T, entry_map(2.0 * ARM))}, potential=None)
    force = np.array([1.0, -2.0, 3.0])
    made = run(system, system.state(system.sample, spinning([0.3, 0.2, 0.1])), steps(4.0, 40), inputs={"tip": force})
    p = np.array([entry_map(2.0 * ARM).value(zeta) for zeta in made["positions"]])
    np.testing.assert_allclose(np.diff(made.ledger.total_energy), np.diff(p @ force), atol=1e-13)
    np.testing.assert_allclose(made.outputs["tip"], np.diff(p, axis=0) / 0.1, atol=1e-12)
    assert made.ledger.largest_residual < 1e-14


def tip(z):
    return np.hstack([np.eye(3), -z[3:].reshape(3, 3) @ skew(2.0 * ARM)])


@pytest.mark.parametrize("relation", [viscous(0.4), quadratic(0.3), coulomb(0.5, speed=0.05)])
def test_dissipation_is_in_the_ledger_and_never_negative(relation):
    system = damped(relation)
    made = run(system, system.state(np.zeros(3), [1.0, 0.0, 2.0]), steps(0.5, 50), inputs={"push": np.sin})
    assert made.ledger.total_dissipation.min() >= 0.0
    assert made.ledger.largest_residual < 1e-14
    _, w = middles(system, made)
    power = [system.tau_d(np.zeros(3), v) @ v for v in w]
    np.testing.assert_allclose(made.ledger.total_dissipation, 0.01 * np.array(power), rtol=1e-10, atol=1e-16)


def test_a_general_dissipation_acts_as_dampers_do():
    """τ_d given as a function, with R of rank one and a skew part, takes the steps of the dampers it is made of."""
    both = damped(viscous(0.4)), sleigh(dissipation=(Dissipation("drag", lambda z, w: 0.4 * w * [1.0, 0.0, 1.0]),))
    first, second = (run(s, s.state(np.zeros(3), [1.0, 0.0, 2.0]), steps(2.0, 100)) for s in both)
    np.testing.assert_allclose(second.states[:, :6], first.states[:, :6], atol=1e-13)
    np.testing.assert_allclose(second.ledger.total_dissipation, first.ledger.total_dissipation, atol=1e-15)


# --- orders and closed solutions --------------------------------------------------------------------------------------


def test_the_sleigh_follows_its_closed_solution():
    """v = a tanh kt, ω = b sech kt with k = ℓ b²/a, m a² = I b²: order 2."""
    m, l, inertia = SLEIGH.values()
    a = 1.0
    b = a * np.sqrt(m / inertia)
    k, system, errors, counts = l * b**2 / a, sleigh(), [], (50, 100, 200)
    start = system.state(np.zeros(3), [0.0, 0.0, b])
    for count in counts:
        made = run(system, start, steps(3.0, count))
        v, _, w = made["velocities"].T
        t, turn = made.times, 2.0 * (b / k) * np.arctan(np.tanh(0.5 * k * made.times))
        exact = a * np.tanh(k * t), b / np.cosh(k * t), turn
        errors.append(max(np.abs(x - y).max() for x, y in zip((v, w, made["positions"][:, 2]), exact, strict=True)))
        assert made.energy_drift() < 1e-14
    assert slopes(counts, errors) == pytest.approx([2.0, 2.0], abs=0.1)
    assert errors[-1] < 1e-4


def test_the_symmetric_top_follows_its_closed_solution():
    """R = e^{t[L]×/I₁} R₀ e^{tσ[e₃]×} with σ = ω₃(1 − I₃/I₁): order 2, in both coordinates."""
    moments, w0 = np.array([2.0, 2.0, 0.7]), np.array([0.5, 0.0, 3.0])
    turn = expm(skew(moments * w0) * 1.0 / 2.0) @ expm(skew([0.0, 0.0, 3.0 * (1.0 - 0.35)]))
    counts = (25, 50, 100)
    for make, sample, read in (
        (matrix_top, np.eye(3).ravel(), lambda z: z.reshape(3, 3)),
        (quaternion_top, np.array([1.0, 0.0, 0.0, 0.0]), rotation_of),
    ):
        system = make(moments)
        ends = [run(system, system.state(sample, w0), steps(1.0, n))["positions"][-1] for n in counts]
        errors = [np.abs(read(end) - turn).max() for end in ends]
        assert slopes(counts, errors) == pytest.approx([2.0, 2.0], abs=0.1)
        assert errors[-1] < 3e-4  # a turn of 3 rad with a phase error of (ωh)²/12


@pytest.mark.slow
def test_order_two_against_collocation():
    """Everything at once, under an input, against gauss6 of the same equations at half the step."""
    system = body(
        dissipation=(Damper("drag", np.eye(6)[:, 3:], quadratic(0.2)),),
        ports={"tip": ExternalPort(lambda z: tip(z).T, entry_map(2.0 * ARM))},
    )
    push = {"tip": lambda t: [np.sin(3.0 * t), 1.0, 0.0]}
    start = system.state(system.sample, spinning([1.0, 0.5, 2.0]), inputs=push)
    exact = run(system, start, steps(0.4, 80), method=Gauss(6), inputs=push)
    counts, errors, of_multipliers = (10, 20, 40), [], []
    for count in counts:
        made = run(system, start, steps(0.4, count), inputs=push)
        errors.append(np.abs(made.states[-1, :18] - exact.states[-1, :18]).max())
        late = exact["lambda"][::-1][40 // count]  # in the middle of the last step
        of_multipliers.append(np.abs(made["lambda"][-1] - late).max())
    assert slopes(counts, errors) == pytest.approx([2.0, 2.0], abs=0.1)
    assert errors[-1] < 3e-4
    assert of_multipliers[-1] < 0.02 * np.abs(exact["lambda"]).max()


def test_massless_parts_are_carried_by_their_constraints():
    """A massless point between two rods of a chain: the same as a chain whose second rod hangs on the first by hand.

    Points a (1 kg), k (massless), b (2 kg); the rods fixed-k and k-a meet in k, and b hangs on k: k is determined.
    """

    def distance(i, j, length):
        D = np.zeros((2, 6))
        D[:, 2 * j : 2 * j + 2] += np.eye(2)
        if i is not None:
            D[:, 2 * i : 2 * i + 2] -= np.eye(2)
        return PositionMap(lambda r: np.array([0.5 * ((D @ r) @ (D @ r) - length**2)]), lambda r: ((D @ r) @ D)[None])

    # k on a circle about the origin at a right angle off a: a rigid massless bell crank 0-a-k with a weight b on a rod
    rods = (("0a", None, 0, 1.0), ("0k", None, 1, 1.0), ("ak", 0, 1, np.sqrt(2.0)), ("kb", 1, 2, 1.0))
    system = MultibodySystem(
        mass=np.diag([1.0, 1.0, 0.0, 0.0, 2.0, 2.0]),
        sample=np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        potential=weight_of([1.0, 0.0, 2.0]),
        constraints=tuple(PositionConstraint(name, distance(i, j, length)) for name, i, j, length in rods),
    )
    assert system.massless.shape == (6, 2)
    with pytest.raises(ValueError, match="'ak'"):
        system.state(system.sample, [0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    start = system.state(system.sample, [0.0, 0.5, -0.5, 0.0, -0.5, 0.3])
    heavier = MultibodySystem(
        mass=np.diag([1.0, 1.0, 1e-9, 1e-9, 2.0, 2.0]),
        sample=system.sample,
        potential=system.potential,
        constraints=system.constraints,
    )
    made, other = (run(s, start, steps(0.25, 25)) for s in (system, heavier))
    assert made.energy_drift() < 1e-12
    assert max(np.abs(system.c(z)).max() for z in made["positions"]) < 1e-13
    np.testing.assert_allclose(made["positions"], other["positions"], atol=1e-6)
    np.testing.assert_allclose(made["velocities"][:, [0, 1, 4, 5]], other["velocities"][:, [0, 1, 4, 5]], atol=1e-6)


def weight_of(masses):
    force = np.column_stack([np.zeros(len(masses)), 9.81 * np.array(masses)]).ravel()
    return Potential(lambda r: force @ r, lambda r: force)


def test_a_massless_velocity_that_a_damper_determines():
    """ẋ = −(k/c) x of a massless point on a spring, with c ẋ = −k x: the midpoint rule, of order 2 and dissipative."""
    system = MultibodySystem(
        mass=np.zeros((1, 1)),
        sample=np.ones(1),
        potential=Potential(lambda x: 2.0 * x[0] ** 2, lambda x: 4.0 * x),
        dissipation=(Damper("oil", np.eye(1), viscous(2.0)),),
    )
    start = system.state([1.0], [-2.0])
    counts = (20, 40, 80)
    ends = [run(system, start, steps(1.0, n)) for n in counts]
    errors = [abs(end["positions"][-1, 0] - np.exp(-2.0)) for end in ends]
    assert slopes(counts, errors) == pytest.approx([2.0, 2.0], abs=0.1)
    assert errors[-1] < 1e-4
    assert all(end.ledger.largest_residual < 1e-15 for end in ends)


# --- cautions and failures --------------------------------------------------------------------------------------------


def test_a_system_warns_once_with_the_time_and_passes_its_cautions_on():
    system = pendulum(cautions=(lambda r: "the rod points down" if r[1] < -0.9 else None,))
    start = system.state([1.0, 0.0], [0.0, 0.0])
    with pytest.warns(ValidityWarning, match=r"^at t = 0\.4\d* s, the rod points down$") as caught:
        run(system, start, steps(2.0, 200))
    assert len(caught) == 1
    pytest.importorskip("scipy_dae")
    with pytest.warns(ValidityWarning, match=r"^at t = 0\.4\d* s, the rod points down$") as caught:
        run(system, start, steps(2.0, 200), method=Radau())
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(system, start, steps(0.2, 20))


def test_losing_rank_is_said_with_the_rows_and_the_time():
    """A constraint that fades, and is gone where x = 1: straight on, it is not needed there."""
    fading = VelocityConstraint("edge", lambda z: (1.0 - z[0]) * np.eye(3)[1:2])
    system = sleigh(velocity_constraints=(fading,), sample=np.array([0.3, 0.0, 0.0]))
    start = system.state(np.array([0.3, 0.0, 0.0]), [1.0, 0.0, 0.0])
    with pytest.warns(ValidityWarning, match=r"^at t = 0\.\d+ s,.*velocity constraints lose rank: 'edge' depend"):
        run(system, start, steps(0.9, 901))
    assert system.all_cautions[0](np.array([0.99, 0.0, 0.0])) is None


def test_a_multiplier_that_is_zero_lets_steps_settle():
    """A symmetric slider-crank: one force of its loop is zero, and of round-off alone, eps M/h², in short steps."""

    def c(z):
        return np.array([np.sin(z[0]) + np.sin(z[1]), np.cos(z[0]) + np.cos(z[1]) - z[2]])

    def slope(z):
        return np.array([[np.cos(z[0]), np.cos(z[1]), 0.0], [-np.sin(z[0]), -np.sin(z[1]), -1.0]])

    system = MultibodySystem(
        mass=np.eye(3),
        sample=np.array([0.5, -0.5, 2.0 * np.cos(0.5)]),
        constraints=(PositionConstraint("loop", PositionMap(c, slope)),),
        parts={"angles": slice(0, 2), "x": slice(2, 3)},
    )
    made = run(system, system.state(system.sample, [1.0, -1.0, -2.0 * np.sin(0.5)]), steps(0.05, 50))
    assert np.abs(made["lambda"][:, 0]).max() < 1e-9 < 1.0 < np.abs(made["lambda"][:, 1]).min()
    assert made.ledger.iterations.max() < 20


def test_a_dissipation_that_generates_energy_stops_the_run_with_its_name():
    """It dissipates around the sample and feeds beyond it: finished steps are kept."""
    wind = Dissipation("wind", lambda z, w: (0.5 - z[0]) * w)
    system = sleigh(dissipation=(wind,))
    start = system.state(np.zeros(3), [1.0, 0.0, 0.0])
    with pytest.raises(
        InputError, match=r"between t = 0\.\d+ s.*0\.\d+ s: dissipation 'wind' must not generate energy.* W into"
    ) as caught:
        run(system, start, steps(5.0, 500))
    kept = caught.value.solution
    assert 0.49 < kept["positions"][-1, 0] < 0.5
    assert kept.ledger.total_dissipation.min() >= 0.0
    gains = Relation("general", (), lambda s: s if s < 1.5 else -s)
    with pytest.raises(ValueError, match=r"dissipation 'drag"):
        run(damped(gains, spread=0.0), np.array([0.0, 0, 0, 1.4, 0.0, 0.0, 0.0]), steps(1.0, 100), inputs={"push": 9.0})


def test_a_failed_step_says_what_was_said_before():
    """A rope that has no next position: the message ends with the caution of the last state."""

    def value(r):
        return np.array([r[0] - 0.5 * r[1] ** 2 if r[1] < 1.0 else np.nan])

    curve = PositionConstraint("curve", PositionMap(value, lambda r: np.array([[1.0, -r[1]]])))
    system = pendulum(
        sample=np.zeros(2),
        potential=None,
        constraints=(curve,),
        cautions=(lambda r: "the curve ends at 1 m" if r[1] > 0.9 else None,),
    )
    with (
        pytest.warns(ValidityWarning, match="the curve ends"),
        pytest.raises(IntegrationError, match=r"\.solution\. Before: at t = 0\.\d+ s, the curve ends at 1 m$"),
    ):
        run(system, system.state([0.0, 0.0], [0.0, 2.0]), steps(2.0, 100))


def test_a_cautious_system_in_other_coordinates_and_without_a_pair():
    """Cautions go along with a transformation; without a mean of z, gonzalez is the default."""
    made = pendulum(constraints=(), cautions=(lambda r: "low" if r[1] < -1.0 else None,)).phdae()
    turned = flexph.systems.transform(made, lambda x: 2.0 * x, 2.0 * np.eye(4), np.eye(4), sample=0.5 * made.sample)
    with pytest.warns(ValidityWarning, match=r"at t = 0\.4[56]\d* s, low"):
        assert integrate(turned, np.zeros(4), steps(1.0, 100), progress=False).method == "pair"
    plain = flexph.PHDAE(
        E=np.eye(2), J=skew([0, 0, 1.0])[:2, :2], z=lambda x: x, H=lambda x: 0.5 * x @ x, sample=[1.0, 0.0]
    )
    assert integrate(plain, [1.0, 0.0], [0.0, 0.1], progress=False).method == "gonzalez"


@pytest.mark.parametrize("speed", [pytest.param(1e-3, marks=pytest.mark.slow), 1e-6])
def test_stiff_friction_stops_a_body_that_spins_on(speed):
    """2 kg against 5 N from 3 m/s: v²/(2·2.5) = 1.8 m; a step of 0.1 s turns by 0.2 rad, (0.2)²/12 of friction."""
    system = rigid.free_body(
        2.0,
        inertia=1.0,
        constraints={"line": rigid.OnLine((0.0, 0.0), (1.0, 0.0))},
        dampers={"friction": (rigid.Force((0.0, 0.0), along=(1.0, 0.0)), coulomb(5.0, speed=speed))},
    )
    start = system.state([0.0, 0.0, 0.0], [3.0, 0.0, 2.0])
    start[np.abs(start) < 1e-12] = 0.0  # round-off would count as the size of a state
    found = integrate(system.phdae(), start, np.linspace(0.0, 1.5, 16), progress=False)
    assert found.final[0] == pytest.approx(1.8, abs=1.8 * 0.2**2 / 12.0)
    assert found.energy_drift() < 1e-13
    assert np.all(found.ledger.total_dissipation >= 0.0)
