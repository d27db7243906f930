"""Elastic laws of springs: force and energy fit, steps keep the energy, and closed forms of their motions."""

import numpy as np
import pytest
from scipy.special import ellipk

import rigid
from flexph import (
    GROUND,
    IntegrationError,
    IntegrationInterrupted,
    Solution,
    connect,
    eigenfrequencies,
    eliminate,
    hinge,
    integrate,
    slider,
    spring_damper,
    torsion_spring,
)
from flexph.joints import bushing
from flexph.laws import (
    backlash,
    bilinear,
    bouc_wen,
    force_law,
    gas_spring,
    gravitation,
    one_sided,
    polynomial,
    potential,
    table,
)
from flexph.laws.elastic_laws import mean_force
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.models import load_model, write_model

SMOOTH = {
    "polynomial": polynomial(100.0, -20.0, 1e3),
    "cubic table": table([-0.5, -0.1, 0.0, 0.2, 0.6], [-20.0, -3.0, 0.0, 9.0, 30.0], shape="cubic"),
    "gas spring": gas_spring(40.0, column=1.5, exponent=1.4),
    "isothermal gas": gas_spring(40.0, column=1.5),
    "user": potential(lambda x: 50.0 * np.cosh(x), lambda x: 50.0 * np.sinh(x)),
}
KINKED = {
    "bilinear": bilinear(100.0, second=400.0, beyond=0.1),
    "backlash": backlash(500.0, play=0.1),
    "rope": one_sided(300.0, side="tension", beyond=0.05),
    "stop": one_sided(300.0, side="compression", beyond=-0.05),
    "table": table([-0.2, 0.0, 0.1], [-10.0, 0.0, 20.0]),
}
LAWS = SMOOTH | KINKED


def oscillator(law, mass=2.0, **options):
    """A mass on a line, held by a spring to the ground."""
    return connect(
        {"mass": rigid.point(mass)},
        [
            slider("mass.point", GROUND.at(0.0, 0.0), turning=True),
            spring_damper("mass.point", GROUND.at(0.0, 0.0), law=law, direction=(1.0, 0.0), length=0.0, **options),
        ],
    )


def released(mechanism, place, speed=0.0):
    pose = mechanism.assemble({"mass": (place, 0.0, 0.0)})
    return mechanism.consistent_state(pose, velocities={"mass": (speed, 0.0, 0.0)})


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_force_is_the_derivative_of_the_energy(law):
    x = np.random.default_rng(1).uniform(-0.4, 0.4, 200)
    h = 1e-5
    away = np.abs(np.subtract.outer(x, [*law.edges, np.inf])).min(axis=1) > 2.0 * h  # from kinks
    x = x[away]
    slope = (law.energy(x - 2 * h) - 8 * law.energy(x - h) + 8 * law.energy(x + h) - law.energy(x + 2 * h)) / (12 * h)
    np.testing.assert_allclose(slope, law.force(x), atol=1e-9 * np.abs(law.force(x)).max())  # round-off of V over h
    slope = (law.force(x - 2 * h) - 8 * law.force(x - h) + 8 * law.force(x + h) - law.force(x + 2 * h)) / (12 * h)
    np.testing.assert_allclose(slope, law.stiffness(x), atol=1e-9 * np.abs(law.stiffness(x)).max())


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_mean_force_does_the_work_of_the_energy(law):
    rng, largest = np.random.default_rng(2), np.abs(law.energy(np.linspace(-0.5, 0.5, 101))).max()
    for change in np.logspace(-15, -0.5, 60):
        first = float(rng.uniform(-0.3, 0.3))
        last = first + change
        work = mean_force(law, first, last) * (last - first)
        assert abs(work - float(law.energy(last) - law.energy(first))) <= 4e-15 * largest
        if change < 1e-9:
            assert mean_force(law, first, last) == pytest.approx(float(law.force(first)), rel=1e-7, abs=1e-6)


@pytest.mark.covering
@pytest.mark.parametrize("method", [Exact(), Exact4(), Decaying(radius=0.5), ExactGauss(), ExactGauss(1)], ids=repr)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_long_steps_keep_the_energy(law, method):
    mechanism = oscillator(law)
    solution = integrate(mechanism, released(mechanism, 0.3, -1.0), np.linspace(0.0, 20.0, 201), method=method)
    scale = np.abs(solution.ledger.energy["total"]).max() if "total" in solution.ledger.energy else 1.0
    assert solution.ledger.largest_residual <= 1e-12 * max(scale, 1.0)


@pytest.mark.parametrize("stages, order", [(2, 4), (3, 6)])
def test_collocation_has_its_order_under_laws(stages, order):
    """x'' = −x − x³ after a quarter of its closed period; and of an energy that is no polynomial."""
    amplitude, cubic = 1.5, oscillator(polynomial(2.0, 0.0, 2.0))
    quarter = ellipk(0.5 * amplitude**2 / (1.0 + amplitude**2)) / np.sqrt(1.0 + amplitude**2)
    for mechanism, end in ((cubic, quarter), (oscillator(SMOOTH["user"]), 0.4)):
        last = []
        for steps in (8, 16, 128):
            times = np.linspace(0.0, end, steps + 1)
            run = integrate(mechanism, released(mechanism, amplitude), times, method=ExactGauss(stages))
            assert run.ledger.largest_residual <= 1e-14 * run.ledger.scale
            last.append(run.position("mass.point")[-1, 0])
        errors = np.abs(np.array(last[:-1]) - last[-1])
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
        if mechanism is cubic:
            assert last[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("steps", [201, 501, 1001])
@pytest.mark.parametrize("cubic", [4e3, 1e5])
def test_steps_back_in_time_keep_the_energy(cubic, steps):
    """Exact4 over some turns of a strong Duffing oscillator: the size of a correction was lost where h < 0."""
    mechanism = oscillator(polynomial(100.0, 0.0, cubic))
    run = integrate(mechanism, released(mechanism, 0.3), np.linspace(0.0, 20.0, steps), method=Exact4())
    assert run.ledger.largest_residual <= 1e-12 * (50.0 * 0.09 + 0.25 * cubic * 0.0081)


def test_a_linear_law_is_a_spring():
    times = np.linspace(0.0, 5.0, 101)
    by_law = oscillator(polynomial(100.0))
    plain = connect(
        {"mass": rigid.point(2.0)},
        [
            slider("mass.point", GROUND.at(0.0, 0.0), turning=True),
            spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=100.0, direction=(1.0, 0.0), length=0.0),
        ],
    )
    first, second = (integrate(m, released(m, 0.3), times).position("mass.point") for m in (by_law, plain))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_duffing_has_its_closed_period():
    """x'' = −x − x³ from rest at a has the period 4 K(m)/√(1 + a²), m = a²/(2(1 + a²))."""
    amplitude, mechanism = 1.5, oscillator(polynomial(2.0, 0.0, 2.0))
    period = 4.0 * ellipk(0.5 * amplitude**2 / (1.0 + amplitude**2)) / np.sqrt(1.0 + amplitude**2)
    errors = []
    for steps in (200, 400, 800):
        solution = integrate(mechanism, released(mechanism, amplitude), np.linspace(0.0, period, steps + 1))
        errors.append(abs(solution.velocity("mass.point")[-1, 0]))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.1)
    assert errors[-1] < 2e-4


def test_backlash_lets_a_mass_fly_between_its_sides():
    """Half a period at each side, and the play at the speed v: T = 2π√(m/k) + 2 play/v."""
    mass, k, play, speed = 2.0, 500.0, 0.1, 0.8
    mechanism = oscillator(backlash(k, play=play), mass)
    period = 2.0 * np.pi * np.sqrt(mass / k) + 2.0 * play / speed
    solution = integrate(mechanism, released(mechanism, 0.0, speed), np.linspace(0.0, period, 2001))
    assert solution.position("mass.point")[-1, 0] == pytest.approx(0.0, abs=2e-6)
    assert solution.velocity("mass.point")[-1, 0] == pytest.approx(speed, rel=1e-9)


def test_an_orbit_closes_and_keeps_both_momenta():
    """Two masses on an ellipse of the half axis a: T = 2π√(a³ m₁m₂/((m₁ + m₂) μ))."""
    first, second, mu, near, faster = 2.0, 3.0, 10.0, 1.0, 1.2
    reduced = first * second / (first + second)
    circular = np.sqrt(mu / (reduced * near))
    axis = 1.0 / (2.0 / near - reduced * (faster * circular) ** 2 / mu)
    period = 2.0 * np.pi * np.sqrt(axis**3 * reduced / mu)
    mechanism = connect(
        {"a": rigid.point(first, dim=3), "b": rigid.point(second, dim=3)},
        [spring_damper("a.point", "b.point", law=gravitation(mu), length=0.0)],
    )
    pose = mechanism.assemble({"a": (np.zeros(3), np.eye(3)), "b": (np.array([near, 0.0, 0.0]), np.eye(3))})
    speed = faster * circular * np.array([0.0, np.cos(0.3), np.sin(0.3)])
    start = mechanism.consistent_state(
        pose,
        velocities={
            "a": -second / (first + second) * speed,
            "b": first / (first + second) * speed,
        },
    )
    errors = []
    for steps in (500, 1000):
        solution = integrate(mechanism, start, np.linspace(0.0, period, steps + 1))
        between = solution.position("b.point") - solution.position("a.point")
        moved = solution.velocity("b.point") - solution.velocity("a.point")
        turning = np.cross(between, moved)
        np.testing.assert_allclose(turning, np.broadcast_to(turning[0], turning.shape), atol=1e-12 * near * circular)
        assert solution.ledger.largest_residual <= 1e-13 * mu / near
        errors.append(np.abs(between[-1] - between[0]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 2e-4


def sprung_bars(law):
    """Two free bars of the plane with a spring between their tips, and one about the angle between them."""
    return connect(
        {"a": rigid.bar(0.4, 1.0), "b": rigid.bar(0.3, 0.5)},
        [
            spring_damper("a.tip", "b.root", law=law, length=0.2),
            torsion_spring("a.tip", "b.root", law=polynomial(3.0, 1.0, 2.0), angle=0.1),
        ],
    )


@pytest.mark.parametrize("method", [Exact(), ExactGauss()], ids=repr)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_free_bars_keep_energy_and_momenta(law, method):
    mechanism = sprung_bars(law)
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.2), "b": (0.5, 0.3, -0.7)})
    start = mechanism.consistent_state(pose, velocities={"a": (0.3, -0.2, 2.0), "b": (-0.4, 0.5, -3.0)})
    solution = integrate(mechanism, start, np.linspace(0.0, 4.0, 401), method=method)
    assert solution.ledger.largest_residual <= 1e-12  # energies are of a few joules
    for momentum in (solution.linear_momentum(), solution.angular_momentum()):
        np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)


def test_a_law_turns_with_the_angle():
    """A bar on a hinge, wound up by more than a turn: its torque goes on."""
    k, wound = 0.5, 9.0
    mechanism = connect(
        {"bar": rigid.bar(0.4, 1.0)},
        [hinge("bar.root", GROUND.at(0.0, 0.0)), torsion_spring("bar.root", GROUND.at(0.0, 0.0), law=polynomial(k))],
    )
    inertia = 1.0 * 0.4**2 / 3.0
    start = mechanism.consistent_state(
        mechanism.assemble({"bar": (0.0, 0.0, 0.0)}), velocities={"bar": (0.0, 0.0, wound)}
    )
    solution = integrate(mechanism, start, np.linspace(0.0, 2.0 * np.pi * np.sqrt(inertia / k), 2001))
    stored = solution.ledger.energy["stored torsion spring bar.root–GROUND at (0.0, 0.0)"]
    assert stored.max() == pytest.approx(0.5 * inertia * wound**2, rel=1e-5)  # at an angle of more than half a turn
    assert solution.velocity("bar.tip")[-1] == pytest.approx((0.0, 0.4 * wound), rel=1e-5, abs=1e-3)


def test_equilibrium_and_small_motions_about_it():
    """A weight on a hardening spring: k x + k₃x³ = m g, ω² = (k + 3k₃x²)/m."""
    mass, k, cubic, gravity = 2.0, 100.0, 1e4, 9.81
    mechanism = connect(
        {"mass": rigid.point(mass)},
        [
            slider("mass.point", GROUND.at(0.0, 0.0), direction=(0.0, 1.0), turning=True),
            spring_damper("mass.point", GROUND.at(0.0, 1.0), law=polynomial(k, 0.0, cubic), length=1.0),
        ],
        gravity=(0.0, -gravity),
    )
    rest = mechanism.equilibrium(mechanism.assemble({"mass": (0.0, 0.0, 0.0)}))
    roots = np.roots([cubic, 0.0, k, -mass * gravity])
    sunk = float(roots[np.isreal(roots)].real[0])
    assert mechanism.position(rest, "mass.point")[1] == pytest.approx(-sunk, rel=1e-10)
    frequency = mechanism.spectrum(rest).frequencies[0]
    assert frequency == pytest.approx(np.sqrt((k + 3.0 * cubic * sunk**2) / mass), rel=1e-8)


@pytest.fixture(scope="module", params=["polynomial", "backlash", "user"])
def equations(request):
    """The equations of two sprung bars."""
    mechanism = sprung_bars(LAWS[request.param])
    return mechanism.phdae(
        mechanism.consistent_state(mechanism.assemble({"a": (0.0, 0.0, 0.2), "b": (0.5, 0.3, -0.7)}))
    )


def test_the_equations_are_port_hamiltonian(equations):
    rng = np.random.default_rng(3)
    for _ in range(3):
        x = equations.sample + 0.2 * rng.standard_normal(equations.size)
        J, E = (np.asarray(part(x)) for part in (equations.J, equations.E))
        assert np.abs(J + J.T).max() == 0.0
        step = 1e-5
        gradient = [(equations.H(x + e) - equations.H(x - e)) / (2 * step) for e in step * np.eye(x.size)]
        # differences: the square of the step, and of V'' that jumps at most the step itself
        np.testing.assert_allclose(E.T @ equations.z(x), gradient, atol=1e-8 * 500.0)


def test_slopes_of_the_equations(equations):
    x = equations.sample
    step = 1e-6 * np.eye(x.size)
    slope = np.array([(equations.z(x + e) - equations.z(x - e)) / 2e-6 for e in step]).T
    np.testing.assert_allclose(equations.derivatives.costate(x), slope, atol=1e-6 * 500.0)


def test_the_unloaded_pose_has_the_stiffness_of_its_law():
    """ω² = V''(0)/m, and no spring where that is zero."""
    for law, stiffness in ((polynomial(200.0, 5.0), 200.0), (backlash(10.0, play=0.1), 0.0)):
        mechanism = oscillator(law)
        system = mechanism.linearize(mechanism.assemble({"mass": (0.0, 0.0, 0.0)}))
        assert ("spring mass.point–GROUND at (0.0, 0.0)" in system.parts) == (stiffness > 0.0)
        if stiffness:
            assert eigenfrequencies(eliminate(system))[-1] == pytest.approx(np.sqrt(stiffness / 2.0), rel=1e-12)


WRONG = {
    "law": (lambda: spring_damper("a.tip", "b.root", law=3.0), "law must be an ElasticLaw"),
    "both": (lambda: spring_damper("a.tip", "b.root", law=polynomial(1.0), stiffness=2.0), "exclude each other"),
    "derivative": (lambda: potential(lambda x: x**2, lambda x: x), "force must be the derivative of energy"),
    "curvature": (
        lambda: potential(lambda x: x**2, lambda x: 2 * x, lambda x: 1.0),
        "stiffness must be the derivative",
    ),
    "two arguments": (lambda: potential(lambda x, y: x, lambda x: 1.0), "energy at the extension .* raised TypeError"),
    "no number": (lambda: potential(lambda x: float("nan"), lambda x: 1.0), "must be finite numbers"),
    "no function": (lambda: potential(1.0, lambda x: x), "energy must be a function"),
    "nothing": (lambda: polynomial(0.0), "not zero"),
    "falling": (lambda: table([0.0, 0.0], [1.0, 2.0]), "must rise"),
    "side": (lambda: one_sided(1.0, side="left"), "side must be one of"),
    "exponent": (lambda: gas_spring(1.0, column=1.0, exponent=0.5), "at least 1"),
}


@pytest.mark.parametrize(("call", "words"), WRONG.values(), ids=WRONG)
def test_bad_laws_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_long_steps_of_a_stiff_spring_are_solved_or_refused():
    """Iterates far out in a cubic must not count as a scale of the energy: a step gained 150 times of it."""
    rng, solved = np.random.default_rng(0), 0
    for _ in range(20):
        k, cubic, h = 10.0 ** rng.uniform(2, 4), 10.0 ** rng.uniform(4, 7), 10.0 ** rng.uniform(-2.5, -1.0)
        mechanism = connect(
            {"mass": rigid.point(1.0)},
            [spring_damper("mass.point", GROUND.at(0.0, 0.0), length=1.0, law=polynomial(k, 0.0, cubic))],
        )
        pose = mechanism.assemble({"mass": (1.2, 0.0, 0.0)})
        start = mechanism.consistent_state(pose, velocities={"mass": (0.0, 3.0)})
        try:
            run = integrate(mechanism, start, np.arange(0.0, 1.0, h))
        except IntegrationError:
            continue
        solved += 1
        energy = 0.5 * k * 0.04 + 0.25 * cubic * 0.0016 + 4.5
        assert run.ledger.largest_residual <= 1e-12 * energy
    assert solved >= 10


def test_an_interruption_in_a_law_ends_the_run():
    calls = [0]

    def force(x, v, t):
        calls[0] += 1
        if calls[0] == 200:
            raise KeyboardInterrupt
        return 100.0 * x

    mechanism = oscillator(force_law(force))
    with pytest.raises(IntegrationInterrupted):
        integrate(mechanism, released(mechanism, 0.1), np.linspace(0.0, 1.0, 201))


def test_a_law_without_a_number_is_named():
    mechanism = oscillator(force_law(lambda x, v, t: float("nan") if t > 0.5 else 100.0 * x))
    with pytest.raises((IntegrationError, ValueError), match=r"must be finite, got nan"):
        integrate(mechanism, released(mechanism, 0.1), np.linspace(0.0, 1.0, 201))


def test_periodic_potentials_are_laws():
    law = potential(lambda x: 0.1 / 12 * (1 - np.cos(12 * x)), lambda x: 0.1 * np.sin(12 * x))
    assert law.force(0.1) == pytest.approx(0.1 * np.sin(1.2))


def test_other_functions_are_another_mechanism(tmp_path):
    first, second = (
        oscillator(potential(lambda x, k=k: 0.5 * k * x * x, lambda x, k=k: k * x)) for k in (100.0, 400.0)
    )
    integrate(first, released(first, 0.1), np.linspace(0.0, 1.0, 11)).save(tmp_path / "run.h5")
    with pytest.raises(ValueError):
        Solution.load(tmp_path / "run.h5", second)


@pytest.mark.parametrize("law", [*KINKED.values(), SMOOTH["polynomial"], SMOOTH["gas spring"]], ids=str)
def test_laws_are_written_to_model_files(law, tmp_path):
    write_model(tmp_path / "model.yaml", oscillator(law))
    again = load_model(tmp_path / "model.yaml").mechanism
    (read,) = [m.law for c in again.connections for m in c.form.measures]
    x = np.linspace(-0.3, 0.3, 7)
    np.testing.assert_allclose(read.force(x), law.force(x), rtol=1e-12, atol=1e-12)


def test_collocation_refuses_hysteresis():
    mechanism = oscillator(bouc_wen(100.0, yield_force=10.0))
    with pytest.raises(ValueError, match=r"ExactGauss.*spring mass\.point.*Exact\(\)"):
        integrate(mechanism, released(mechanism, 0.1), [0.0, 1.0], method=ExactGauss())


def test_a_gas_column_that_closes_ends_the_run():
    mechanism = oscillator(gas_spring(1.0, column=0.2))
    with pytest.raises((IntegrationError, ValueError), match=r"gas column"):
        integrate(mechanism, released(mechanism, 0.1, -50.0), np.linspace(0.0, 1.0, 11))


def test_an_exception_of_a_law_ends_the_run():
    def force(x):
        if x > 0.25:
            raise RuntimeError("torn")
        return 100.0 * x

    mechanism = oscillator(potential(lambda x: 50.0 * x * x, force))
    with pytest.raises((IntegrationError, ValueError), match="torn"):
        integrate(mechanism, released(mechanism, 0.0, 10.0), np.linspace(0.0, 1.0, 101))


MODEL = """
bodies:
  bar: {kind: bar, length: 40 cm, mass: 1 kg}
connections:
  - {kind: hinge, first: bar.root, second: {ground: [0, 0]}}
  - {kind: torsion_spring, first: bar.root, second: {ground: [0, 0]}, angle: 0, law: LAW}
"""


@pytest.mark.parametrize(
    "law",
    [
        "{kind: polynomial, coefficients: [3, 0, 2]}",
        "{kind: bilinear, stiffness: 3 N*m/rad, second: 5 N*m/rad, beyond: 10 deg}",
        "{kind: backlash, stiffness: 3 N*m/rad, play: 2 deg}",
        "{kind: one_sided, stiffness: 3 N*m/rad, side: tension}",
        "{kind: table, extension: [-10 deg, 0 deg, 20 deg], force: [-1 N*m, 0, 3 N*m]}",
        "{kind: potential, energy: 1 - cos(x), force: sin(x)}",
    ],
)
def test_model_files_have_laws(tmp_path, law):
    path = tmp_path / "bar.yaml"
    path.write_text(MODEL.replace("LAW", law))
    mechanism = load_model(path).mechanism
    assert mechanism.connections[1].form.measures[0].law is not None


@pytest.mark.parametrize("method", [Exact(), ExactGauss()], ids=repr)
def test_a_force_law_is_a_spring_and_a_damper(method):
    """F = k x + c v moves as both do; what it takes is dissipation, what it gives is work."""
    k, c, times = 100.0, 3.0, np.linspace(0.0, 2.0, 201)
    plain = connect(
        {"mass": rigid.point(2.0)},
        [
            slider("mass.point", GROUND.at(0.0, 0.0), turning=True),
            spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=k, damping=c, direction=(1.0, 0.0), length=0.0),
        ],
    )
    forced = oscillator(force_law(lambda x, v, t: k * x + c * v))
    first, second = (integrate(m, released(m, 0.3), times, method=method) for m in (plain, forced))
    np.testing.assert_allclose(first.position("mass.point"), second.position("mass.point"), atol=1e-12)
    name = "spring mass.point–GROUND at (0.0, 0.0)"
    ledger = second.ledger
    assert ledger.largest_residual <= 1e-14
    assert np.all(ledger.dissipation[name] >= 0.0) and np.all(ledger.work[name] >= 0.0)
    change = np.diff(ledger.energy["kinetic mass"])
    np.testing.assert_allclose(change, ledger.work[name] - ledger.dissipation[name], atol=1e-13)


@pytest.mark.parametrize("method, order", [(Exact(), 2), (ExactGauss(2), 4)], ids=repr)
def test_a_force_law_sees_the_time(method, order):
    """m x'' = −F(t) of F = −f sin ωt has x = f/(mω²)(ωt − sin ωt)."""
    f, omega, mechanism = 3.0, 2.0, oscillator(force_law(lambda x, v, t: -3.0 * np.sin(2.0 * t)))
    errors = []
    for steps in (100, 200) if order == 2 else (10, 20):
        times = np.linspace(0.0, 3.0, steps + 1)
        place = integrate(mechanism, released(mechanism, 0.0), times, method=method).position("mass.point")[:, 0]
        errors.append(np.abs(place - f / (2.0 * omega**2) * (omega * times - np.sin(omega * times))).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    assert errors[-1] < 1e-3


@pytest.mark.parametrize("ask", ["phdae", "spectrum", "linearize"])
def test_equations_refuse_force_laws(ask):
    mechanism = oscillator(force_law(lambda x, v, t: 10.0 * x))
    start = released(mechanism, 0.0)
    with pytest.raises(ValueError, match=rf"mechanism.{ask} takes elastic laws only, got .* of spring mass.point"):
        getattr(mechanism, ask)(start)


def test_equilibrium_names_a_force_without_a_number():
    mechanism = oscillator(force_law(lambda x, v, t: float("nan")))
    with pytest.raises(ValueError, match="must be finite, got nan at the extension"):
        mechanism.equilibrium(mechanism.assemble({"mass": (0.2, 0.0, 0.0)}))


def test_equilibrium_under_a_force_law():
    mechanism = oscillator(force_law(lambda x, v, t: 10.0 * x + 5.0 * x**3 - 15.0))
    rest = mechanism.equilibrium(mechanism.assemble({"mass": (0.2, 0.0, 0.0)}))
    assert mechanism.position(rest, "mass.point")[0] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_bushing_has_a_law_for_each_axis(dim):
    """Linear laws are the stiffness, axis by axis; others keep the energy."""
    stiffness, torsional, turns = [300.0, 200.0, 100.0][:dim], [3.0, 4.0, 5.0][: 2 * dim - 3], 2 * dim - 3
    body = rigid.bar(0.4, 1.0) if dim == 2 else rigid.box((0.4, 0.2, 0.1), density=100.0, ports={"root": (-0.2, 0, 0)})
    pose = {"body": (0.0, 0.0, 0.1) if dim == 2 else (np.zeros(3), np.eye(3))}
    velocity = {"body": (0.3, -0.2, 1.0) if dim == 2 else ((0.3, -0.2, 0.1), (0.5, 1.0, -0.7))}

    def run(**rates):
        mechanism = connect({"body": body}, [bushing("body.root", GROUND.at(*np.zeros(dim)), **rates)])
        start = mechanism.consistent_state(mechanism.assemble(pose), velocities=velocity)
        return integrate(mechanism, start, np.linspace(0.0, 1.0, 201))

    plain = run(stiffness=stiffness, torsional_stiffness=torsional)
    linear = run(law=[*map(polynomial, stiffness)], torsional_law=[*map(polynomial, torsional)])
    np.testing.assert_allclose(plain.states[:, : -dim - turns], linear.states[:, : -dim - turns], atol=1e-11)
    mixed = run(
        stiffness=[stiffness[0], *(dim - 1) * [0.0]],
        law=[None, *(dim - 1) * [polynomial(9.0, 0.0, 1e4)]],
        torsional_law=polynomial(3.0, 0.0, 2.0),
    )
    assert mixed.ledger.largest_residual <= 1e-14


def test_a_bushing_refuses_a_law_beside_a_stiffness():
    with pytest.raises(ValueError, match="exclude each other: axis 1"):
        connect(
            {"a": rigid.bar(0.4, 1.0)},
            [bushing("a.root", GROUND.at(0.0, 0.0), stiffness=[0.0, 2.0], law=[polynomial(1.0), polynomial(1.0)])],
        )
    with pytest.raises(ValueError, match="for each of 2 axes"):
        connect({"a": rigid.bar(0.4, 1.0)}, [bushing("a.root", GROUND.at(0.0, 0.0), law=[polynomial(1.0)])])
