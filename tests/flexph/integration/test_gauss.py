"""Gauss collocation: what the exact scheme keeps, with one stage that scheme itself, with three of high order."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from oracle_steps import CollocatedStep
from order_problems import MEASURES, PROBLEMS, chain, check_work_and_impulses, crank_slider, four_bar
from sample_mechanisms import CASES
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from uncompiled import uncompiled

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
from flexph.integration.blocks.in_blocks import blocks_of
from flexph.integration.loops.gauss.scheme import spectrum
from flexph.integration.loops.gauss.spaces import DEPTH, acceleration_of
from flexph.integration.schemes.of_method import scheme_of
from flexph.integration.schemes.scheme import InitialValueProblem
from flexph.laws import coulomb
from flexph.methods import Exact, Exact4, ExactGauss, by_name
from flexph.numerics.gauss_tableau import gauss
from flexph.systems.inputs import Forcing

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")


STAGES = 3


def assert_collocates(run, stages=STAGES):
    """The last step misses round-off of the equations of the oracle, whose terms a thousandth of the unknowns shows."""
    forcing = Forcing(run.mechanism.network.input_slices, {}, run.mechanism.layout.dim)
    step = CollocatedStep(run, run.mechanism, forcing, stages)
    (missed, _), (moved, _) = (step.missed(share * step.unknowns) for share in (1.0, 1.001))
    assert np.abs(missed).max() <= 1e-10 * np.abs(moved).max()


# --- the tableau ------------------------------------------------------------------------------------------------------


@pytest.mark.processor
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_tableaus_satisfy_the_conditions_of_gauss(stages):
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


@pytest.mark.parametrize("name", CASES)
def test_one_stage_is_the_exact_scheme(name):
    """Two formulations of one scheme: what it does, and what its ledger has."""
    mechanism, start, inputs = CASES[name]()
    times = start.time + 1e-3 * np.arange(6)
    run = integrate(mechanism, start, times, inputs=inputs, method=Exact())
    found = integrate(mechanism, start, times, inputs=inputs, method=ExactGauss(1))
    if name == "rigid":  # the torque of a rotary spring follows its rate, not its angle
        np.testing.assert_allclose(found.states[:, :-1], run.states[:, :-1], rtol=0.0, atol=1e-8)
        return
    size = np.abs(run.states).max(axis=0) + 1.0  # velocities in [m/s], stresses
    assert np.abs((found.states - run.states) / size).max() < 1e-11  # stresses have the round-off of stiffness
    largest = np.abs(run.stage_multipliers).max()
    np.testing.assert_allclose(found.stage_multipliers, run.stage_multipliers, rtol=0.0, atol=1e-9 * largest)
    for part in ("work", "joint_work", "dissipation"):
        for flow, value in getattr(run.ledger, part).items():
            np.testing.assert_allclose(getattr(found.ledger, part)[flow], value, rtol=0.0, atol=1e-12, err_msg=flow)


# --- the iteration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stages", range(1, 6))
def test_the_jacobian_falls_apart(stages):
    """A⁻¹ = Re Σ v μ wᵀ over a real eigenvalue and one of each pair."""
    inverse = gauss(stages).inverse
    eigenvalue, left, right = spectrum(stages)
    assert (eigenvalue.imag == 0.0).tolist() == [k == 0 and stages % 2 == 1 for k in range((stages + 1) // 2)]
    assert ((right * eigenvalue) @ left).real == pytest.approx(inverse, abs=1e-13 * np.abs(inverse).max())
    assert (right @ left).real == pytest.approx(np.eye(stages), abs=1e-13)


def accelerated(A, b, a, iterations):
    """Iterate x ← x − (A x − b), accelerated as the unknowns of a step."""
    accelerate = uncompiled("flexph.integration.loops.gauss.acceleration").accelerate
    for count in range(iterations):
        for i in range(b.size):
            a.correction[i] = -b[i]
            for j in range(b.size):
                a.correction[i] += A[i, j] * a.x[j]
        accelerate(a, count)
        for i in range(b.size):
            a.x[i] -= a.correction[i]


@pytest.mark.processor
@pytest.mark.parametrize("seed", range(3))
def test_linear_equations_end_after_as_many_pairs_as_unknowns(seed):
    # n independent pairs are the equations themselves; plain corrections, which contract by 0.1 to 0.9, are far then
    rng = np.random.default_rng(seed)
    n = DEPTH
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q @ np.diag(np.linspace(0.1, 0.9, n)) @ Q.T + 0.05 * rng.normal(size=(n, n))
    b, a = rng.normal(size=n), acceleration_of(n)
    a.weight[:] = rng.uniform(0.5, 2.0, n)
    accelerated(A, b, a, n + 1)
    # 1e-9: round-off times the condition of the pairs, some 1e4
    np.testing.assert_allclose(a.x, np.linalg.solve(A, b), rtol=0.0, atol=1e-9 * np.abs(np.linalg.solve(A, b)).max())


def bars(count):
    names = [f"b{i}" for i in range(count)]
    joints = [hinge("b0.root", GROUND.at(0.0, 0.0))]
    joints += [hinge(f"{one}.tip", f"{other}.root") for one, other in pairwise(names)]
    mechanism = connect({name: rigid.bar(1.0, 1.0) for name in names}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({name: (float(i), 0.0, 0.0) for i, name in enumerate(names)})
    return mechanism, mechanism.consistent_state(pose)


def test_long_steps_of_a_pendulum_take_few_iterations():
    """It turns by 1 rad in a step of 0.2 s: with one Jacobian for all nodes 38 iterations were not enough."""
    mechanism, start = bars(1)
    run = integrate(mechanism, start, np.linspace(0.0, 10.0, 51), method=ExactGauss())
    assert run.ledger.iterations.max() <= 20
    assert run.ledger.largest_residual < 1e-14
    assert_collocates(run)


def test_hard_steps_of_three_bars():
    mechanism, start = bars(3)
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 5), method=ExactGauss())
    assert run.ledger.largest_residual < 1e-14
    assert_collocates(run)


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_energy_and_constraints_are_kept(name):
    mechanism, start, inputs = CASES[name]()
    run = integrate(mechanism, start, start.time + 2.5e-3 * np.arange(13), method=ExactGauss(), inputs=inputs)
    assert run.ledger.largest_residual < 1e-14  # of a step: some hundred energies and works
    assert run.energy_drift() < 5e-14
    assert run.ledger.position_residual.max() < 1e-14
    assert run.orthogonality() < 1e-14
    assert all((lost >= 0.0).all() for lost in run.ledger.dissipation.values())


def test_a_run_that_is_long_and_coarse_does_not_drift():
    mechanism, start, _ = CASES["chain in space"]()
    run = integrate(mechanism, start, 2.5e-3 * np.arange(161), method=ExactGauss())
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.position_residual.max() < 1e-14
    assert run.orthogonality() < 1e-13


@pytest.mark.processor
def test_stress_rates_are_unknowns_where_strain_rows_change_in_a_step():
    """25 steps a turn of a von Kármán rod."""
    mechanism = rotating.crank_slider(8, "von_karman")
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}), elastic="quasi_static")
    times = np.linspace(0.0, 4.0 * np.pi / rotating.SPEED, 51)
    run = integrate(mechanism, start, times, method=ExactGauss())
    assert_collocates(run)
    assert run.ledger.largest_residual < 1e-13
    # 16 % of a correction are left by the next one where stresses are eliminated (12.4 iterations), 3 % here
    assert run.ledger.iterations.mean() < 11.0


def test_a_free_chain_keeps_both_momenta():
    mechanism, start, _ = chain(gravity=(0.0, 0.0, 0.0), held=False)
    run = integrate(mechanism, start, np.linspace(0.0, 0.8, 9), method=ExactGauss())
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum[0]).max() > 1e-2
        assert np.abs(momentum - momentum[0]).max() < 1e-14 * 10


def test_a_turned_world_turns_the_motion():
    turn = Rotation.from_euler("xyz", (0.3, -1.0, 2.0)).as_matrix()
    ends = []
    for R in (np.eye(3), turn):
        box = rigid.box((0.1, 0.06, 0.4), density=900.0, ports={"up": (0.0, 0.0, 0.2)})
        joint = spring_damper("box.up", GROUND.at(*(R @ (0.1, 0.2, 0.7))), stiffness=300.0, damping=0.2, length=0.2)
        mechanism = connect({"box": box}, [joint], gravity=R @ (0.0, 0.0, -9.81))
        pose = mechanism.assemble({"box": (np.zeros(3), Rotation.from_matrix(R))})
        start = mechanism.consistent_state(pose, velocities={"box": (R @ (0.5, 0.2, 0.1), R @ (3.0, 1.0, 5.0))})
        ends.append(integrate(mechanism, start, np.linspace(0.0, 0.3, 11), method=ExactGauss()))
    parts = ends[0].mechanism.layout.parts
    plain, turned = (run.states[-1] for run in ends)
    assert turned[parts["box.centre"]] == pytest.approx(turn @ plain[parts["box.centre"]], abs=1e-13)
    assert turned[parts["box.spin"]] == pytest.approx(plain[parts["box.spin"]], abs=1e-12)


def test_back_in_time_along_the_same_way():
    """Symmetric: the step from the end with −h leads to the start."""
    mechanism, start, inputs = CASES["crank-slider"]()
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    blocks = blocks_of(scheme_of(ExactGauss(), InitialValueProblem(mechanism, start, forcing)))
    there = blocks.step(blocks.start(start), 5e-3)
    back = blocks.step(there.end._replace(history=there.end.history[:0]), 0.0)
    assert back.end.x == pytest.approx(start.x, abs=1e-10)  # stiff: velocities of 1 m/s


# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=PROBLEMS)
def runs(request):
    make, count = PROBLEMS[request.param]
    mechanism, start, end = make()
    return [integrate(mechanism, start, np.linspace(0.0, end, n * count + 1), method=ExactGauss()) for n in (1, 3, 9)]


# the finest run stands for the exact one: that shifts a measured order p by less than 3^-p/ln 3
BOUNDS = {"positions": (6.0, 1e-12), "velocities": (4.0, 2e-7), "multipliers": (2.9, 2e-6)}


@pytest.mark.parametrize("name", BOUNDS)
def test_collocation_has_its_order(runs, name):
    order, bound = BOUNDS[name]
    coarse, middle, fine = (MEASURES[name](run) for run in runs)
    errors = [np.abs(v - fine).max() / np.abs(fine).max() for v in (coarse, middle)]
    measured = math.log(errors[0] / errors[1]) / math.log(3.0)
    assert measured > order - 0.1
    if name != "multipliers":  # those are of the third order and more
        assert measured < order + 0.1
    assert errors[1] < bound


def test_sixth_order_without_constraints():
    """A top: against Euler's equations by a library."""
    box = rigid.box((0.1, 0.06, 0.4), density=900.0)
    mechanism = connect({"box": box}, [])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"box": ((0.0, 0.0, 0.0), (3.0, 1.0, 5.0))})
    runs = [integrate(mechanism, start, np.linspace(0.0, 0.5, n + 1), method=ExactGauss()) for n in (5, 15)]
    J = mechanism.network.arrays.J[0]
    euler = lambda t, w: np.linalg.solve(J, np.cross(J @ w, w))  # noqa: E731
    true = solve_ivp(euler, (0.0, 0.5), (3.0, 1.0, 5.0), rtol=1e-13, atol=1e-13).y[:, -1]
    errors = [np.abs(run["box.spin"][-1] - true).max() for run in runs]
    assert math.log(errors[0] / errors[1]) / math.log(3.0) == pytest.approx(6.0, abs=0.1)
    assert errors[1] < 1e-6


@pytest.mark.parametrize("name", ["damped", "rigid"])
def test_it_agrees_with_the_exact_scheme(name):
    """Which converges to it with the square of its step."""
    mechanism, start, inputs = CASES[name]()
    ends = start.time + np.array([0.0, 0.05])
    fine = integrate(mechanism, start, np.linspace(*ends, 21), method=ExactGauss(), inputs=inputs).states[-1]
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
def test_steps_that_end_in_a_singular_pose(count):
    """There their Jacobians are singular; with 25 steps the pose is in the middle of one."""
    mechanism, start = parallelogram()
    run = integrate(mechanism, start, np.linspace(0.0, 2.0, count + 1), method=ExactGauss())
    # iterates that are balanced to 1e-12 are taken; in the middle, multipliers of 1e4 do work on round-off
    assert run.ledger.largest_residual < 1e-11
    assert run.ledger.position_residual.max() < 2e-12
    # round-off of positions leaves their root of the velocities undetermined; another branch would differ by 1
    assert run["left.spin"] == pytest.approx(-1.0, abs=1e-3)
    assert run["top.spin"] == pytest.approx(0.0, abs=1e-3)


SINGULAR = [(25, 5), (50, 5), (100, 2), (100, 4), (200, 2), (200, 5), (400, 2), (400, 3), (400, 4), (400, 5)]
"""Steps of 2 s and stages with which the plain iteration, as round-off will have it, does not settle or diverges."""


def through_the_pose(count, stages):
    """Run of the parallelogram up to some steps after its singular pose."""
    mechanism, start = parallelogram()
    times = np.linspace(0.0, 2.0, count + 1)[: count // 2 + 4]
    return integrate(mechanism, start, times, method=ExactGauss(stages))


@pytest.mark.processor
@pytest.mark.parametrize(("count", "stages"), SINGULAR)
def test_steps_through_a_singular_pose_by_the_damped_iteration(count, stages):
    run = through_the_pose(count, stages)
    # iterates are taken that balance to 1e-12: how far below they end depends on the round-off of the start
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.position_residual.max() < 1e-12
    # defects of positions leave their root of the velocities undetermined: 3e-10 or, with the kernels of Prescott, 2e-5
    assert run["left.spin"] == pytest.approx(-1.0, abs=1e-4)
    assert run["top.spin"] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.processor
def test_a_damped_step_solves_the_equations_of_the_oracle():
    """Of the runs above, the first one that gives up the plain iteration, up to that step."""
    mechanism, start = parallelogram()
    runs = ((through_the_pose(count, stages), stages) for count, stages in SINGULAR)
    run, stages = next((run, stages) for run, stages in runs if run.ledger.iterations.max() > 60)
    last = int(np.argmax(run.ledger.iterations > 60)) + 1
    assert_collocates(integrate(mechanism, start, run.times[: last + 1], method=ExactGauss(stages)), stages=stages)


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_by_reflections(seed):
    least_squares = uncompiled("flexph.numerics.algebra.dense").least_squares
    rng = np.random.default_rng(seed)
    rows, columns = 7, 4
    A, x = rng.normal(size=(rows, columns + 1)), np.zeros(columns)
    wanted = np.linalg.lstsq(A[:, :columns], A[:, columns], rcond=None)[0]
    least_squares(A, np.zeros(columns), np.zeros(columns + 1), x)
    np.testing.assert_allclose(x, wanted, rtol=0.0, atol=1e-13)  # round-off times a condition of up to 10


def test_short_steps_see_little_of_the_round_off_of_positions():
    """Whose gaps would be closed by velocities of gap/h, 1e-7 m/s of 1 m at each step."""
    mechanism, start, _ = four_bar()
    h = 1e-9
    run = integrate(mechanism, start, h * np.arange(21), method=ExactGauss())
    motion = mechanism.layout.parts_of_motion
    assert np.abs(run.states[-1, motion] - start.x[motion]).max() < 4e-7  # 2e-7 by accelerations of 10, in 2e-8 s
    assert run.ledger.largest_residual < 1e-14


# --- runs -------------------------------------------------------------------------------------------------------------


def test_work_and_impulses_of_the_nodes_add_up():
    mechanism, start, end = crank_slider()
    run = integrate(mechanism, start, np.linspace(0.0, end, 11), method=ExactGauss())
    check_work_and_impulses(run)


def test_damping_by_mass_takes_what_the_ledger_says():
    """Of a beam that swings: forces on all deformation rates, beside those of damped stresses."""
    soft, square = fem.Material(young=1e6, density=1000.0), fem.Section(width=0.02, height=0.02)
    rod = fem.beam(0.5, soft, square, elements=2, damping=fem.Damping(mass=0.5, stiffness=1e-3))
    mechanism = connect({"rod": rod}, [hinge("rod.root", GROUND)], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"rod": 0.3}))
    ledger = integrate(mechanism, start, 0.01 * np.arange(13), method=ExactGauss()).ledger
    assert ledger.largest_residual < 1e-13
    assert ledger.dissipation["rod"].sum() > 1e-6 * ledger.scale


def test_rotations_stay_rotations_in_long_runs():
    """The round-off of the tableau, at 0.6 rad a step 1e-17 to the same side, would add up."""
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND)])
    start = bar.consistent_state(bar.assemble({"bar": 0.3}), velocities={"bar": 30.0})
    run = integrate(bar, start, 0.02 * np.arange(501), method=ExactGauss())
    assert run.orthogonality() < 1e-15
    assert run.energy_drift() < 1e-13  # 500 round-offs


@pytest.mark.parametrize(
    ("given", "order", "share"),
    [(Exact(), 2, 12), (Exact4(), 4, 127), (ExactGauss(), 6, 100800)],
)
def test_the_phase_of_long_steps_is_off_by_what_their_warning_says(given, order, share):
    """At 1.05 rad a substep the next terms take up to a quarter of the first one away."""
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [])
    turn = 1.05 / fourth_order_share() if order == 4 else 1.05
    start = bar.consistent_state(bar.assemble(), velocities={"bar": turn})
    with pytest.warns(ValidityWarning, match=re.escape("(ωh)" + "²³⁴⁵⁶"[order - 2] + f"/{share}")):
        run = integrate(bar, start, [0.0, 1.0], method=given)
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
    one, other = map(by_name, methods)
    first = integrate(mechanism, start, times[:6], method=one)
    both = first.followed_by(integrate(mechanism, first.final, times[5:], method=other))
    assert all(len(part) == 10 for part in both.ledger.dissipation.values())
    assert both.energy_drift() < 1e-14


def test_a_run_is_continued_to_the_same_bits():
    mechanism, start, end = four_bar()
    times = np.linspace(0.0, end, 11)
    whole = integrate(mechanism, start, times, method=ExactGauss())
    first = integrate(mechanism, start, times[:6], method=ExactGauss())
    later = integrate(mechanism, first.final, times[5:], method=ExactGauss())
    np.testing.assert_array_equal(first.followed_by(later).states, whole.states)
    thin = integrate(mechanism, start, times, method=ExactGauss(), save_every=3)
    np.testing.assert_array_equal(thin.states, whole.states[[0, 3, 6, 9, 10]])


def test_events_are_found_at_fourth_order():
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    start = bar.consistent_state(bar.assemble({"bar": 0.0}))
    low = {"low": Event(lambda t, x: x[1] + 0.2, terminal=True)}
    runs = [integrate(bar, start, np.linspace(0.0, 1.0, n), method=ExactGauss(), events=low) for n in (11, 41)]
    assert runs[0].final.x[1] == pytest.approx(-0.2, abs=1e-12)
    assert runs[0].times[-1] == pytest.approx(runs[1].times[-1], abs=1e-7)  # fourth order in velocities


def test_a_rotary_spring_keeps_its_torque_to_the_order_of_the_method():
    """Its torque is a state that follows the rate of its angle, which is no polynomial; energy stays exact."""
    joints = [hinge("bar.root", GROUND), torsion_spring("bar.root", GROUND, stiffness=3.0)]
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0}))
    errors = []
    for n in (6, 18):
        run = integrate(mechanism, start, np.linspace(0.0, 0.6, n + 1), method=ExactGauss())
        c, s = run["bar.rotation"][-1]
        errors.append(abs(run.states[-1, -1] - 3.0 * math.atan2(s, c)))
        assert run.energy_drift() < 1e-14
    assert math.log(errors[0] / errors[1]) / math.log(3.0) > 5.9
    assert errors[1] < 1e-8


def test_what_it_does_not_take():
    mechanism, start, _ = four_bar(spring_damper("rod.tip", GROUND.at(0.0, 2.0), damping=coulomb(1.0, speed=0.1)))
    with pytest.raises(ValueError, match="does not support friction laws and other relations"):
        integrate(mechanism, start, [0.0, 0.1], method=ExactGauss())


def test_a_step_without_a_solution_says_so():
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
        integrate(mechanism, start, np.linspace(0.0, 1.0, 21), method=ExactGauss())
    assert 2 < len(failed.value.solution.times) - 1 < 8  # at most to asin(0.5) - 0.2
