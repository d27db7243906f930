"""The fourth-order composition: order 4 in positions and velocities, 3 in multipliers, every invariant as before."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from order_problems import MEASURES, PLUMB, PROBLEMS, chain, check_work_and_impulses, crank_slider, four_bar
from uncompiled import uncompiled

import rigid
from flexph import GROUND, Event, connect, drive, force, hinge, integrate, spring_damper, torque
from flexph.integration.blocks.block_stepper import BlockStepper
from flexph.integration.mechanism_run import recorder_of, solution_of
from flexph.integration.schemes.scheme import OUTER, SUBSTEPS, InitialValueProblem, Scheme
from flexph.kernels.convergence.tolerances import HISTORY
from flexph.mechanisms.arrays import network
from flexph.methods import Exact4, ExactGauss
from flexph.systems.inputs import Forcing


@pytest.fixture(scope="module", params=PROBLEMS)
def runs(request):
    """Runs of n, 3n and 9n steps: with odd numbers, the middle of the run is the middle of a step of each."""
    make, count = PROBLEMS[request.param]
    mechanism, start, end = make()
    return [integrate(mechanism, start, np.linspace(0.0, end, n * count + 1), method=Exact4()) for n in (1, 3, 9)]


# the finest run stands for the exact one: that shifts a measured order p by less than 3^-p/ln 3
BOUNDS = {"positions": (4.0, 0.25, 1e-5), "velocities": (4.0, 0.25, 1e-5), "multipliers": (3.0, 1.4, 1e-4)}


@pytest.mark.parametrize("name", MEASURES)
def test_compositions_have_their_orders(runs, name):
    order, margin, bound = BOUNDS[name]
    coarse, middle, fine = (MEASURES[name](run) for run in runs)
    errors = [np.abs(v - fine).max() / np.abs(fine).max() for v in (coarse, middle)]
    measured = math.log(errors[0] / errors[1]) / math.log(3.0)
    assert measured > order - margin
    if name != "multipliers":  # those of the crank-slider are of fourth order
        assert measured < order + margin
    assert errors[1] < bound


def test_everything_the_single_step_keeps_is_kept(runs):
    for run in runs:
        assert run.ledger.largest_residual < 1e-14  # of each substep: some twenty energies and works
        assert run.energy_drift() < 1e-12
        assert run.ledger.position_residual.max() < 1e-15 * 10
        assert run.orthogonality() < 1e-12


def test_a_free_chain_keeps_both_momenta():
    mechanism, start, _ = chain(gravity=(0.0, 0.0, 0.0), held=False)
    run = integrate(mechanism, start, np.linspace(0.0, 0.4, 9), method=Exact4())
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum[0]).max() > 1e-2
        assert np.abs(momentum - momentum[0]).max() < 1e-13 * 10


def foreseen(means, lengths, h, known=HISTORY):
    """Mean velocities from which a step of length h begins to iterate, after steps with some means and lengths."""
    history = np.zeros((HISTORY, means.shape[1] + 1))
    history[HISTORY - len(means) :] = np.column_stack([means, lengths])
    extrapolation, velocities = np.zeros((HISTORY, HISTORY + 1)), np.zeros(means.shape[1])
    at = {"at_velocities": np.full(means.shape[1], np.nan), "x_lam": np.zeros(0), "x_velocities": velocities}
    m = SimpleNamespace(run_history=history, run_extrapolation=extrapolation, **at)
    with np.errstate(divide="ignore", invalid="ignore"):  # as in C
        uncompiled("flexph.integration.loops.steps.history").guess(m, 2, h, known)
    return velocities


def test_means_of_steps_to_and_fro_are_foreseen():
    """Exact for parabolas in time, and for what changes its sign with each step and turns slowly beside that."""
    lengths = 0.1 * np.tile(SUBSTEPS, 3)
    middles, turns = np.cumsum(lengths) - 0.5 * lengths, np.cumsum(1.0 / lengths) - 0.5 / lengths
    smooth = np.stack([np.ones_like(middles), middles, middles**2], axis=1)
    shaken = np.stack([np.ones_like(turns), turns], axis=1) / lengths[:, None] * (-1.0) ** np.arange(18)[:, None]
    means = np.hstack([smooth, shaken])
    for k in range(6, 18):
        found = foreseen(means[k - HISTORY : k], lengths[k - HISTORY : k], lengths[k])
        # weights up to 30, and a matrix that loses three digits
        assert np.abs(found - means[k]).max(axis=0) == pytest.approx(0.0, abs=1e-10 * np.abs(means).max())


def test_steps_that_are_too_alike_are_foreseen_by_two_of_them_at_most():
    means = np.random.default_rng(3).normal(size=(HISTORY, 2))
    lengths = np.array([1.0, -1.0, 1.0, -1.0, 1.0])  # all middles coincide
    np.testing.assert_array_equal(foreseen(means, lengths, 1.0), means[-1])
    lengths = np.array([2.0, 1.0, -1.0, 1.0, -1.0])  # three do, with equal signs, half a step of 1 s ahead
    np.testing.assert_allclose(foreseen(means, lengths, 1.0), means[-1], rtol=1e-15)
    few, h = means[-2:], 0.7  # middles at -1.3 and -0.4, the next one at 0.35
    expected = few[1] + 0.75 / 0.9 * (few[1] - few[0])
    np.testing.assert_allclose(foreseen(few, np.array([1.0, 0.8]), h, known=2), expected, rtol=1e-14)


def three_single_steps(mechanism, start, times):
    """The plain triple jump, of single steps."""
    forcing = Forcing(mechanism.network.input_slices, {}, mechanism.layout.dim)
    shares = OUTER, 1.0 - 2.0 * OUTER, OUTER
    scheme = Scheme(InitialValueProblem(mechanism, start, forcing), depth=4, shares=shares, weights=(0.0, 1.0, 0.0))
    blocks = BlockStepper(scheme)
    at = blocks.start(start)
    recorder = recorder_of(scheme.accounts, at, len(times) - 1, None)
    for time in times[1:]:
        step = blocks.step(at, float(time))
        recorder.add(step.row(), saved=True)
        at = step.end
    rest = {"anchors": start.anchors, "history": at.history, "events": {}}
    return solution_of(mechanism, scheme.accounts, recorder, **rest)


def test_a_triple_jump_of_single_steps_loses_its_order_in_the_velocities():
    """Why pairs: single steps reflect the velocity defect, and those of unequal size do not return it."""
    mechanism, start, end = crank_slider()
    fine = integrate(mechanism, start, np.linspace(0.0, end, 82), method=Exact4())
    rough = [three_single_steps(mechanism, start, np.linspace(0.0, end, n + 1)) for n in (9, 27)]
    order = {}
    for name in ("positions", "velocities"):
        errors = [np.abs(MEASURES[name](r) - MEASURES[name](fine)).max() for r in rough]
        order[name] = math.log(errors[0] / errors[1]) / math.log(3.0)
    assert order["positions"] == pytest.approx(4.0, abs=0.1)
    assert order["velocities"] == pytest.approx(2.0, abs=0.1)


def test_work_and_impulses_of_the_substeps_add_up():
    """The drive's account is the change of energy; stage multipliers are means: their impulse changes the momentum."""
    mechanism, start, end = crank_slider()
    run = integrate(mechanism, start, np.linspace(0.0, end, 21), method=Exact4())
    check_work_and_impulses(run)


def test_how_far_drives_and_inputs_are_asked_outside_a_step():
    asked = {"drive": [], "input": []}

    def turned(t):
        asked["drive"] += np.ravel(t).tolist()  # many times at once too
        return 0.1 * t**2

    joints = [hinge("bar.root", GROUND), drive("bar.root", angle=turned)]
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [*joints, force("bar.tip")])
    start = mechanism.consistent_state(mechanism.assemble())
    asked["drive"].clear()
    push = {"force bar.tip": lambda t: asked["input"].append(t) or (0.0, 1.0)}
    integrate(mechanism, start, [0.0, 1.0], method=Exact4(), inputs=push, progress=False)
    assert max(asked["drive"]) - 1.0 == pytest.approx(OUTER - 1.0)
    assert 0.35 < OUTER - 1.0 < 0.352
    assert min(asked["drive"]) == pytest.approx(1.0 - OUTER)
    assert max(asked["input"]) - 1.0 == pytest.approx(1.5 * SUBSTEPS[0] - 1.0)
    assert 1.5 * SUBSTEPS[0] - 1.0 < 0.0135


def test_a_table_over_the_run_goes_on_straight_beyond_its_ends():
    """Substeps before the first and after the last time take the same bits as from a longer table."""
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND), torque("bar.root", name="motor")])
    start = mechanism.consistent_state(mechanism.assemble())
    times, end = np.linspace(0.0, 1.0, 5), []
    for table in (([0.0, 0.5, 1.0], [1.0, 2.0, 0.0]), ([-0.5, 0.0, 0.5, 1.0, 1.5], [0.0, 1.0, 2.0, 0.0, -2.0])):
        end.append(integrate(mechanism, start, times, method=Exact4(), inputs={"motor": table}, progress=False).states)
    np.testing.assert_allclose(*end, rtol=0.0, atol=1e-14)
    with pytest.raises(ValueError, match=r"'motor' covers 0 to 0.5 s"):
        integrate(mechanism, start, times, method=Exact4(), inputs={"motor": ([0.0, 0.5], [1.0, 2.0])}, progress=False)


def test_a_composed_run_is_continued_to_the_same_bits():
    mechanism, start, end = four_bar()
    times = np.linspace(0.0, end, 11)
    whole = integrate(mechanism, start, times, method=Exact4())
    first = integrate(mechanism, start, times[:6], method=Exact4())
    later = integrate(mechanism, first.final, times[5:], method=Exact4())
    np.testing.assert_array_equal(first.followed_by(later).states, whole.states)
    thin = integrate(mechanism, start, times, method=Exact4(), save_every=3)
    np.testing.assert_array_equal(thin.states, whole.states[[0, 3, 6, 9, 10]])


def test_events_and_redundant_constraints_compose_with_it():
    twin = {"bar": rigid.bar(1.0, 1.0), "twin": rigid.bar(1.0, 2.0)}
    joints = [hinge("bar.root", GROUND.at(0.0, 0.0)), hinge("twin.root", "bar.root"), hinge("twin.tip", "bar.tip")]
    mechanism = connect(twin, joints, gravity=PLUMB)
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0, "twin": 0.0}))
    with pytest.raises(ValueError, match=r"use Exact\(redundant='least_norm'\)"):
        integrate(mechanism, start, [0.0, 0.1], method=ExactGauss())
    low = {"low": Event(lambda t, x: x[1] + 0.2, terminal=True)}
    times = np.linspace(0.0, 1.0, 41)
    method = Exact4(redundant="least_norm")
    found = integrate(mechanism, start, times, method=method, events=low)
    fine = integrate(mechanism, start, np.linspace(0.0, 1.0, 81), method=method, events=low)
    assert found.final.x[1] == pytest.approx(-0.2, abs=1e-12)
    assert found.times[-1] == pytest.approx(fine.times[-1], abs=1e-6)  # fourth order
    assert found.ledger.largest_residual < 1e-13


def test_large_mechanisms_take_it_too(monkeypatch):
    mechanism, start, end = crank_slider()
    dense = integrate(mechanism, start, np.linspace(0.0, end, 5), method=Exact4())
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    mechanism, start, end = crank_slider()
    large = integrate(mechanism, start, np.linspace(0.0, end, 5), method=Exact4())
    assert large.states == pytest.approx(dense.states, abs=1e-10)


def test_what_dissipates_is_refused():
    mechanism, start, _ = four_bar(spring_damper("rod.tip", GROUND.at(0.0, 2.0), damping=0.3))
    with pytest.raises(ValueError, match=r"Exact4\(\).*mechanisms without damping.*'spring rod.tip.*use Exact\(\)"):
        integrate(mechanism, start, [0.0, 0.1], method=Exact4())
