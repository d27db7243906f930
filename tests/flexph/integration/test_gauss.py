"""Gauss collocation: what the exact scheme keeps, with one stage that scheme itself, with three of high order."""

import math
import re

import numpy as np
import pytest
from order_problems import MEASURES, PROBLEMS, chain, crank_slider, four_bar, vertical
from sample_mechanisms import CASES
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import fem
import rigid
from cases import crank_slider as rotating
from flexph import (
    GROUND,
    Event,
    IntegrationError,
    ValidityWarning,
    connect,
    drive,
    hinge,
    integrate,
    slider,
    spring_damper,
    torsion_spring,
)
from flexph.integration.exact.gauss import STAGES, GaussStepper
from flexph.integration.exact.step import ExactStepper, InitialValueProblem
from flexph.kernels.gauss.collocation import Collocation
from flexph.kernels.gauss.stage_jacobian import stage_jacobian
from flexph.kernels.gauss.stages import Given, onset
from flexph.kernels.gradient import velocity_count
from flexph.kernels.state import constraint_sums, derive
from flexph.mechanisms.arrays import network
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable
from flexph.methods import Exact, Exact4, ExactGauss, by_name
from flexph.numerics.gauss_tableau import gauss
from flexph.systems import coulomb
from flexph.systems.inputs import Forcing

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")


@pytest.fixture(params=[pytest.param(False, marks=pytest.mark.slow), True], ids=["NumPy", "compiled"])
def method(request):
    """The same method by NumPy, whose runs are held to those of loops, and in compiled loops."""
    return ExactGauss(compiled=request.param)


# --- the tableau ------------------------------------------------------------------------------------------------------


@pytest.mark.processor
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_tableau(stages):
    rk = gauss(stages)
    b, a, c = rk.weights, rk.a, rk.nodes
    assert np.abs(b[:, None] * a + (b[:, None] * a).T - np.outer(b, b)).max() < 1e-15  # quadratic invariants
    for k in range(1, 2 * stages + 1):  # order 2s of the weights, s of the stages
        assert b @ c ** (k - 1) == pytest.approx(1.0 / k, abs=1e-15)
    for k in range(1, stages + 1):
        assert a @ c ** (k - 1) == pytest.approx(c**k / k, abs=1e-15)
    y, y0 = np.random.default_rng(stages).normal(size=stages), 0.7
    assert y0 + rk.ends @ (y - y0) == pytest.approx(y0 + b @ np.linalg.solve(a, y - y0), abs=1e-13)
    polynomial = np.polynomial.Polynomial(np.arange(1.0, stages + 2.0))
    assert rk.value @ polynomial(rk.given) == pytest.approx(polynomial(c), rel=1e-13)
    assert rk.rate @ polynomial(rk.given) == pytest.approx(polynomial.deriv()(c), rel=1e-12)
    assert b @ rk.rate @ polynomial(rk.given) == pytest.approx(polynomial(1.0) - polynomial(0.0), rel=1e-13)


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_what_momenta_err_by_at_the_nodes(stages):
    """Σ b ẇ·(p − A w) of collocated p, A and w with ṗ = Ȧw + Aẇ, by the curvature of the tableau."""
    rk, rng, h = gauss(stages), np.random.default_rng(3), 0.7
    A0, A_rate = (x + np.swapaxes(x, -1, -2) for x in (rng.normal(size=(4, 4)), rng.normal(size=(stages, 4, 4))))
    w0, w_rate = rng.normal(size=4), rng.normal(size=(stages, 4))
    A = A0 + h * np.einsum("ij,jab->iab", rk.a, A_rate)
    w = w0 + h * rk.a @ w_rate
    p_rate = np.matvec(A_rate, w) + np.matvec(A, w_rate)
    p = A0 @ w0 + h * rk.a @ p_rate
    found = np.einsum("j,jik,ia,jab,kb->", rk.weights, rk.curvature, w_rate, A_rate, w_rate)
    assert rk.weights @ np.vecdot(w_rate, p - np.matvec(A, w)) == pytest.approx(h**2 * found, rel=1e-12)
    if stages > 1:
        assert np.abs(rk.curvature.sum(axis=(1, 2))).max() < 1e-15
    # p is A w at the end of the step
    A1, w1 = A0 + h * np.einsum("j,jab->ab", rk.weights, A_rate), w0 + h * rk.weights @ w_rate
    assert A0 @ w0 + h * rk.weights @ p_rate == pytest.approx(A1 @ w1, rel=1e-12)


# --- residual and Jacobian --------------------------------------------------------------------------------------------


def given_at(mechanism, start, h, rk, inputs):
    table = TimeTable(mechanism, start.anchors)
    values = [table.at(start.time + h * share) for share in rk.given]
    coefficient, offset = (np.array(part) for part in zip(*values, strict=True))
    count = mechanism.network.arrays.input_node.shape[1]
    pushed = np.resize(inputs, (len(rk.nodes), count))
    return Given(rk.value @ coefficient, rk.rate @ coefficient, rk.rate @ offset, pushed)


def at_random(name, h):
    """A step of a mechanism from its start, with unknowns near those of the start."""
    mechanism, start, _ = CASES[name]()
    a, rk, rng = mechanism.network.arrays, gauss(STAGES), np.random.default_rng(11)
    c = configuration(mechanism, start.x)
    d, k = derive(a, c), Collocation(a, rk, mechanism.layout.multipliers)
    at = onset(a, (c, d), h, constraint_sums(a, d.product, *TimeTable(mechanism, start.anchors).at(start.time)))
    given, size = given_at(mechanism, start, h, rk, 0.1 * rng.normal(size=40)), velocity_count(a)
    y = np.empty((STAGES, size + mechanism.layout.multipliers))
    v = np.concatenate([c.v.ravel(), c.omega[a.turning].ravel(), c.du])
    y[:, :size] = v + 0.3 * rng.normal(size=(STAGES, size)) * np.maximum(np.abs(v), 0.3)
    y[:, size:] = h * rng.normal(size=(STAGES, y.shape[1] - size))
    return k, at, y, given


def jacobian_error(k, at, y, given):
    """What Newton's iteration reduces a small error by."""
    defect = lambda x: k.residual(at, x.reshape(y.shape), given)[0].ravel()  # noqa: E731
    found = stage_jacobian(k, at, k.residual(at, y, given)[1], given)
    step = 1e-5 * np.maximum(1.0, np.abs(y.ravel()))
    differences = [(defect(y.ravel() + e) - defect(y.ravel() - e)) / (2.0 * e.sum()) for e in np.diag(step)]
    return np.abs(np.linalg.eigvals(np.linalg.solve(found, np.array(differences).T - found))).max()


@pytest.mark.parametrize("name", CASES)
def test_jacobian(name):
    """But for what places at other nodes differ by, with the square of the step."""
    wrong = [jacobian_error(*at_random(name, h)) for h in (4e-3, 1e-3)]
    assert wrong[0] < (1e-6 if CASES[name]()[0].layout.dim == 2 else 1e-3)
    assert wrong[1] < max(0.1 * wrong[0], 1e-10)  # round-off of the differences


def one_stage(mechanism, start, times, inputs):
    """Steps of collocation with one stage."""
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    method = GaussStepper(ExactStepper(InitialValueProblem(mechanism, start, forcing), depth=1), stages=1)
    station, found = method.start(start), []
    for time in times[1:]:
        step = method.step(station, float(time))
        found.append(step)
        station = step.end
    return found


@pytest.mark.parametrize("name", CASES)
def test_one_stage_is_the_exact_scheme(name):
    """Two formulations of one scheme: what it does, and what its ledger has."""
    mechanism, start, inputs = CASES[name]()
    times = start.time + 1e-3 * np.arange(6)
    run = integrate(mechanism, start, times, inputs=inputs, method=Exact())
    steps = one_stage(mechanism, start, times, inputs)
    size = np.abs(run.states).max(axis=0) + 1.0  # velocities in [m/s], stresses
    for k, step in enumerate(steps):
        if name == "rigid":  # the torque of a rotary spring follows its rate, not its angle
            assert step.end.x[:-1] == pytest.approx(run.states[k + 1][:-1], abs=1e-8)
            continue
        assert np.abs((step.end.x - run.states[k + 1]) / size).max() < 1e-11  # stresses have the round-off of stiffness
        assert step.stage == pytest.approx(run.stage_multipliers[k], abs=1e-9 * np.abs(run.stage_multipliers).max())
        flows = [v[k] for part in ("work", "joint_work", "dissipation") for v in getattr(run.ledger, part).values()]
        assert step.flows == pytest.approx(flows, abs=1e-12)


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_energy_and_constraints(name, method):
    mechanism, start, inputs = CASES[name]()
    run = integrate(mechanism, start, start.time + 2.5e-3 * np.arange(13), method=method, inputs=inputs)
    assert run.ledger.largest_residual < 1e-14  # of a step: some hundred energies and works
    assert run.energy_drift() < 5e-14
    assert run.ledger.position_residual.max() < 1e-14
    assert run.orthogonality() < 1e-14
    assert all((lost >= 0.0).all() for lost in run.ledger.dissipation.values())


@pytest.mark.slow
def test_a_run_that_is_long_and_coarse_does_not_drift(method):
    mechanism, start, _ = CASES["chain in space"]()
    run = integrate(mechanism, start, 2.5e-3 * np.arange(161), method=method)
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.position_residual.max() < 1e-14
    assert run.orthogonality() < 1e-13


@pytest.mark.slow
@pytest.mark.processor
def test_stress_rates_are_unknowns_where_strain_rows_change_in_a_step():
    """25 steps a turn of a von Kármán rod: as by NumPy, whose Jacobian has the strain rows of all nodes."""
    mechanism = rotating.crank_slider(8, "von_karman")
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}), elastic="quasi_static")
    times = np.linspace(0.0, 4.0 * np.pi / rotating.SPEED, 51)
    by_loops, by_numpy = (integrate(mechanism, start, times, method=ExactGauss(compiled=on)) for on in (True, False))
    size = np.abs(by_numpy.states).max(axis=0)
    # round-off of some ten iterations in each of 50 steps
    assert np.all(np.abs(by_loops.states - by_numpy.states) <= 1e-10 * size + 1e-12 * size.max())
    assert by_loops.ledger.largest_residual < 1e-13
    # 16 % of a correction are left by the next one where stresses are eliminated (12.4 iterations), 3 % here
    assert by_loops.ledger.iterations.mean() < 11.0


def test_a_free_chain_keeps_both_momenta(method):
    mechanism, start, _ = chain(gravity=(0.0, 0.0, 0.0), held=False)
    run = integrate(mechanism, start, np.linspace(0.0, 0.8, 9), method=method)
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum[0]).max() > 1e-2
        assert np.abs(momentum - momentum[0]).max() < 1e-14 * 10


def test_a_turned_world_turns_the_motion(method):
    turn = Rotation.from_euler("xyz", (0.3, -1.0, 2.0)).as_matrix()
    ends = []
    for R in (np.eye(3), turn):
        box = rigid.box((0.1, 0.06, 0.4), density=900.0, ports={"up": (0.0, 0.0, 0.2)})
        joint = spring_damper("box.up", GROUND.at(*(R @ (0.1, 0.2, 0.7))), stiffness=300.0, damping=0.2, length=0.2)
        mechanism = connect({"box": box}, [joint], gravity=R @ (0.0, 0.0, -9.81))
        pose = mechanism.assemble({"box": (np.zeros(3), Rotation.from_matrix(R))})
        start = mechanism.consistent_state(pose, velocities={"box": (R @ (0.5, 0.2, 0.1), R @ (3.0, 1.0, 5.0))})
        ends.append(integrate(mechanism, start, np.linspace(0.0, 0.3, 11), method=method))
    parts = ends[0].mechanism.layout.parts
    plain, turned = (run.states[-1] for run in ends)
    assert turned[parts["box.centre"]] == pytest.approx(turn @ plain[parts["box.centre"]], abs=1e-13)
    assert turned[parts["box.spin"]] == pytest.approx(plain[parts["box.spin"]], abs=1e-12)


def test_back_in_time_along_the_same_way():
    """Symmetric: the step from the end with −h leads to the start."""
    mechanism, start, inputs = CASES["crank-slider"]()
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    method = GaussStepper(ExactStepper(InitialValueProblem(mechanism, start, forcing), depth=STAGES))
    there = method.step(method.start(start), 5e-3)
    back = method.step(there.end._replace(history=there.end.history[:0]), 0.0)
    assert back.end.x == pytest.approx(start.x, abs=1e-10)  # stiff: velocities of 1 m/s


# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=[
        *((name, False) for name in PROBLEMS),
        *(pytest.param((name, True), marks=pytest.mark.slow) for name in PROBLEMS),
    ],
)
def runs(request):
    name, compiled = request.param
    make, count = PROBLEMS[name]
    mechanism, start, end = make()
    method = ExactGauss(compiled=compiled)
    return [integrate(mechanism, start, np.linspace(0.0, end, n * count + 1), method=method) for n in (1, 3, 9)]


# the finest run stands for the exact one: that shifts a measured order p by less than 3^-p/ln 3
BOUNDS = {"positions": (6.0, 1e-12), "velocities": (4.0, 2e-7), "multipliers": (2.9, 2e-6)}


@pytest.mark.parametrize("name", BOUNDS)
def test_order(runs, name):
    order, bound = BOUNDS[name]
    coarse, middle, fine = (MEASURES[name](run) for run in runs)
    errors = [np.abs(v - fine).max() / np.abs(fine).max() for v in (coarse, middle)]
    measured = math.log(errors[0] / errors[1]) / math.log(3.0)
    assert measured > order - 0.1
    if name != "multipliers":  # those are of the third order and more
        assert measured < order + 0.1
    assert errors[1] < bound


def test_sixth_order_without_constraints(method):
    """A top: against Euler's equations by a library."""
    box = rigid.box((0.1, 0.06, 0.4), density=900.0)
    mechanism = connect({"box": box}, [])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"box": ((0.0, 0.0, 0.0), (3.0, 1.0, 5.0))})
    runs = [integrate(mechanism, start, np.linspace(0.0, 0.5, n + 1), method=method) for n in (5, 15)]
    J = mechanism.network.arrays.J[0]
    euler = lambda t, w: np.linalg.solve(J, np.cross(J @ w, w))  # noqa: E731
    true = solve_ivp(euler, (0.0, 0.5), (3.0, 1.0, 5.0), rtol=1e-13, atol=1e-13).y[:, -1]
    errors = [np.abs(run["box.spin"][-1] - true).max() for run in runs]
    assert math.log(errors[0] / errors[1]) / math.log(3.0) == pytest.approx(6.0, abs=0.1)
    assert errors[1] < 1e-6


@pytest.mark.parametrize("name", ["damped", "rigid"])
def test_it_agrees_with_the_exact_scheme(name, method):
    """Which converges to it with the square of its step."""
    mechanism, start, inputs = CASES[name]()
    ends = start.time + np.array([0.0, 0.05])
    fine = integrate(mechanism, start, np.linspace(*ends, 21), method=method, inputs=inputs).states[-1]
    runs = [integrate(mechanism, start, np.linspace(*ends, n + 1), inputs=inputs).states[-1] for n in (200, 600)]
    errors = [np.abs(x - fine).max() / np.abs(fine).max() for x in runs]
    assert math.log(errors[0] / errors[1]) / math.log(3.0) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-4


# --- singular poses and short steps -----------------------------------------------------------------------------------


def parallelogram():
    """Three equal bars on equal ground: turning evenly, flat at t = 1 s, where it could fold another way."""
    joints = [
        hinge("left.root", GROUND.at(0.0, 0.0)),
        hinge("top.root", "left.tip"),
        hinge("right.tip", "top.tip"),
        hinge("right.root", GROUND.at(1.0, 0.0)),
    ]
    mechanism = connect({name: rigid.bar(1.0, 1.0) for name in ("left", "top", "right")}, joints)
    top = (math.cos(1.0), math.sin(1.0), 0.0)
    pose = mechanism.assemble({"left": (0.0, 0.0, 1.0)}, guess={"top": top, "right": (1.0, 0.0, 1.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"left": -1.0})


@pytest.mark.processor
@pytest.mark.parametrize("count", [20, 40, 100, 25])
def test_steps_that_end_in_a_singular_pose(count, method):
    """There their Jacobians are singular; with 25 steps the pose is in the middle of one."""
    mechanism, start = parallelogram()
    run = integrate(mechanism, start, np.linspace(0.0, 2.0, count + 1), method=method)
    # iterates that are balanced to 1e-12 are taken; in the middle, multipliers of 1e4 do work on round-off
    assert run.ledger.largest_residual < 1e-11
    assert run.ledger.position_residual.max() < 2e-12
    # round-off of positions leaves their root of the velocities undetermined; another branch would differ by 1
    assert run["left.spin"] == pytest.approx(-1.0, abs=1e-3)
    assert run["top.spin"] == pytest.approx(0.0, abs=1e-3)


def test_short_steps_see_little_of_the_round_off_of_positions(method):
    """Whose gaps would be closed by velocities of gap/h, 1e-7 m/s of 1 m at each step."""
    mechanism, start, _ = four_bar()
    h = 1e-9
    run = integrate(mechanism, start, h * np.arange(21), method=method)
    motion = mechanism.layout.parts_of_motion
    assert np.abs(run.states[-1, motion] - start.x[motion]).max() < 4e-7  # 2e-7 by accelerations of 10, in 2e-8 s
    assert run.ledger.largest_residual < 1e-14


# --- runs -------------------------------------------------------------------------------------------------------------


def test_work_and_impulses_of_the_nodes_add_up(method):
    mechanism, start, end = crank_slider()
    run = integrate(mechanism, start, np.linspace(0.0, end, 11), method=method)
    work = run.ledger.work["drive crank.root–GROUND"]
    assert run.ledger.total_energy[1:] - run.ledger.total_energy[0] == pytest.approx(np.cumsum(work), abs=1e-14)
    lift = sum(run.stage_multipliers[:, mechanism.constraint_names.index(n)] for n in vertical(mechanism))
    mass = sum(body.mass for body in mechanism.bodies.values())
    change = np.diff(run.linear_momentum()[:, 1]) + 9.81 * mass * np.diff(run.times)
    assert change == pytest.approx(lift * np.diff(run.times), abs=1e-13)


def test_damping_by_mass_takes_what_the_ledger_says(method):
    """Of a beam that swings: forces on all deformation rates, beside those of damped stresses."""
    soft, square = fem.Material(young=1e6, density=1000.0), fem.Section(width=0.02, height=0.02)
    rod = fem.beam(0.5, soft, square, elements=2, damping=fem.Damping(mass=0.5, stiffness=1e-3))
    mechanism = connect({"rod": rod}, [hinge("rod.root", GROUND)], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"rod": 0.3}))
    ledger = integrate(mechanism, start, 0.01 * np.arange(13), method=method).ledger
    assert ledger.largest_residual < 1e-13
    assert ledger.dissipation["rod"].sum() > 1e-6 * ledger.scale


@pytest.mark.slow
def test_rotations_stay_rotations_in_long_runs(method):
    """The round-off of the tableau, at 0.6 rad a step 1e-17 to the same side, would add up."""
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND)])
    start = bar.consistent_state(bar.assemble({"bar": 0.3}), velocities={"bar": 30.0})
    run = integrate(bar, start, 0.02 * np.arange(501), method=method)
    assert run.orthogonality() < 1e-15
    assert run.energy_drift() < 1e-13  # 500 round-offs


@pytest.mark.parametrize(
    ("method", "order", "share"),
    [(Exact(compiled=False), 2, 12), (Exact4(compiled=False), 4, 127), (ExactGauss(compiled=False), 6, 100800)],
)
def test_the_phase_of_long_steps_is_off_by_what_their_warning_says(method, order, share):
    """At 1.05 rad a substep the next terms take up to a quarter of the first one away."""
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [])
    turn = 1.05 / fourth_order_share() if order == 4 else 1.05
    start = bar.consistent_state(bar.assemble(), velocities={"bar": turn})
    with pytest.warns(ValidityWarning, match=re.escape("(ωh)" + "²³⁴⁵⁶"[order - 2] + f"/{share}")):
        run = integrate(bar, start, [0.0, 1.0], method=method)
    off = abs(math.atan2(*run["bar.rotation"][-1, ::-1]) - turn) / turn
    assert off == pytest.approx(1.05**order / share, rel=0.3)


def fourth_order_share():
    """The longest substep of exact4 over its step, ½|1 − 2/(2 − 2^⅓)|."""
    return 0.5 * abs(1.0 - 2.0 / (2.0 - 2.0 ** (1.0 / 3.0)))


@pytest.mark.parametrize(
    "methods", [("decaying", "exact_gauss"), ("exact_gauss", "decaying"), ("exact", "exact_gauss")]
)
def test_methods_follow_each_other(methods):
    """With one ledger, also where one of them only has an account of what it takes away."""
    mechanism, start, end = four_bar()
    times = np.linspace(0.0, end, 11)
    options = {"exact_gauss": {"compiled": False}, "decaying": {"compiled": False}}
    one, other = (by_name(name, **options.get(name, {})) for name in methods)
    first = integrate(mechanism, start, times[:6], method=one)
    both = first.followed_by(integrate(mechanism, first.final, times[5:], method=other))
    assert all(len(part) == 10 for part in both.ledger.dissipation.values())
    assert both.energy_drift() < 1e-14


def test_a_run_is_continued_to_the_same_bits(method):
    mechanism, start, end = four_bar()
    times = np.linspace(0.0, end, 11)
    whole = integrate(mechanism, start, times, method=method)
    first = integrate(mechanism, start, times[:6], method=method)
    later = integrate(mechanism, first.final, times[5:], method=method)
    np.testing.assert_array_equal(first.followed_by(later).states, whole.states)
    thin = integrate(mechanism, start, times, method=method, save_every=3)
    np.testing.assert_array_equal(thin.states, whole.states[[0, 3, 6, 9, 10]])


def test_events():
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    start = bar.consistent_state(bar.assemble({"bar": 0.0}))
    low = {"low": Event(lambda t, x: x[1] + 0.2, terminal=True)}
    runs = [
        integrate(bar, start, np.linspace(0.0, 1.0, n), method=ExactGauss(compiled=False), events=low) for n in (11, 41)
    ]
    assert runs[0].final.x[1] == pytest.approx(-0.2, abs=1e-12)
    assert runs[0].times[-1] == pytest.approx(runs[1].times[-1], abs=1e-7)  # fourth order in velocities


def test_a_rotary_spring_keeps_its_torque_to_the_order_of_the_method(method):
    """Its torque is a state that follows the rate of its angle, which is no polynomial; energy stays exact."""
    joints = [hinge("bar.root", GROUND), torsion_spring("bar.root", GROUND, stiffness=3.0)]
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0}))
    errors = []
    for n in (6, 18):
        run = integrate(mechanism, start, np.linspace(0.0, 0.6, n + 1), method=method)
        c, s = run["bar.rotation"][-1]
        errors.append(abs(run.states[-1, -1] - 3.0 * math.atan2(s, c)))
        assert run.energy_drift() < 1e-14
    assert math.log(errors[0] / errors[1]) / math.log(3.0) > 5.9
    assert errors[1] < 1e-8


def test_what_it_does_not_take(monkeypatch):
    step = [0.0, 0.1]
    mechanism, start, _ = four_bar(spring_damper("rod.tip", GROUND.at(0.0, 2.0), damping=coulomb(1.0, speed=0.1)))
    with pytest.raises(ValueError, match="does not take friction laws and other relations"):
        integrate(mechanism, start, step, method=ExactGauss(compiled=False))
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    mechanism, start, _ = four_bar()
    with pytest.raises(ValueError, match="does not take mechanisms of more than"):
        integrate(mechanism, start, step, method=ExactGauss(compiled=False))


def test_a_step_without_a_solution_says_so(method):
    """A crank that its rod, which is too short, does not let pass."""
    bodies = {"crank": rigid.bar(1.0, 1.0), "rod": rigid.bar(0.5, 1.0)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 0.2 + t),
        hinge("crank.tip", "rod.root"),
        slider("rod.tip", GROUND.at(0.0, 0.0), turning=True),
    ]
    mechanism = connect(bodies, joints)
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.2)}, guess={"rod": -0.4}))
    with pytest.raises(IntegrationError, match="could not be solved") as failed:
        integrate(mechanism, start, np.linspace(0.0, 1.0, 21), method=method)
    assert 2 < len(failed.value.solution.times) - 1 < 8  # at most to asin(0.5) - 0.2
