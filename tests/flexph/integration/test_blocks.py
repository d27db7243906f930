"""Blocks of steps: balances of mechanisms of every kind, rows, ends, events and failures as of single steps."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from bit_samples import SAMPLES
from sample_mechanisms import CASES, chain, crank_slider, doubled, pendulum

import rigid
from flexph import GROUND, Event, InputError, IntegrationError, connect, drive, hinge, integrate
from flexph.integration.blocks import block_stepper
from flexph.integration.blocks.block_stepper import BlockStepper
from flexph.integration.blocks.pairs import PairBlocks
from flexph.integration.loops.memory.codes import DIVERGED, SINGULAR, TEXTS, UNSETTLED
from flexph.integration.times import recorder
from flexph.methods import Decaying, Exact, Exact4, ExactGauss, by_name

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
STEP = 1e-3


def run(case, steps, method=None, **options):
    """Run of a mechanism, a start and inputs."""
    mechanism, start, inputs = case
    return integrate(mechanism, start, STEP * np.arange(steps + 1), method=method, inputs=inputs, **options)


def assert_same(found, expected, *parts):
    """Two runs have the same bits, in all or in some of their columns."""
    for part in parts or ("times", "states", "multiplier_times", "multipliers", "stage_multipliers"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part), err_msg=part)


# --- balances ---------------------------------------------------------------------------------------------------------

RUNS = {name: (make, Exact()) for name, make in CASES.items()}
RUNS |= {f"{name}, decaying": (make, Decaying(0.4)) for name, make in CASES.items()}
RUNS |= {
    "least norm": (doubled, Exact(redundant="least_norm")),
    "least norm, decaying": (doubled, Decaying(0.4, redundant="least_norm")),
    "least norm, of fourth order": (doubled, Exact4(redundant="least_norm")),
    "crank-slider, of fourth order": (crank_slider, Exact4()),
    "chain in space, of fourth order": (lambda: chain(3), Exact4()),
    "quadratic": (partial(crank_slider, damping=1e-3, elements=2, pair="quadratic"), Exact()),
    "quadratic in space": (lambda: chain(1, pair="quadratic", damping=1e-3), Exact()),
}


@pytest.mark.parametrize("name", RUNS)
def test_energies_and_constraints_hold_to_round_off(name):
    make, method = RUNS[name]
    ledger = run(make(), 24, method).ledger
    assert ledger.largest_residual < 1e-14
    assert ledger.position_residual.max(initial=0.0) < 1e-14
    assert all(lost.min() >= -1e-15 * ledger.scale for lost in ledger.dissipation.values())
    assert ledger.iterations.mean() < (30.0 if isinstance(method, Exact4) else 5.0)


def test_the_round_off_of_a_long_chain_is_no_reason_to_stop():
    """Corrections of 200 hinged bars stagnate at 1e-12 to 1e-10 of the motion, while the balance holds to round-off."""
    bars = {f"b{i}": rigid.bar(0.1, 0.2) for i in range(200)}
    ends = [GROUND.at(0.0, 0.0), *(f"b{i}.tip" for i in range(199))]
    joints = [hinge(f"b{i}.root", end) for i, end in enumerate(ends)]
    mechanism = connect(bars, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"b0": (0.0, 0.0, 0.0)}))
    ledger = run((mechanism, start, {}), 40).ledger
    assert ledger.largest_residual < 1e-13
    assert ledger.position_residual.max() < 1e-13


# --- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [Exact(), Decaying(0.4)], ids=repr)
def test_rows_between_saved_ones_are_merged(method):
    """Works and losses add up, residuals are the largest; the last row is shorter."""
    whole, thin = (run(CASES["damped"](), 75, method, save_every=every) for every in (1, 7))
    kept = [*range(0, 75, 7), 75]
    np.testing.assert_array_equal(thin.times, whole.times[kept])
    np.testing.assert_array_equal(thin.states, whole.states[kept])
    for part in ("multiplier_times", "multipliers", "stage_multipliers"):
        np.testing.assert_array_equal(getattr(thin, part), getattr(whole, part)[np.array(kept[1:]) - 1])
    for part in ("work", "joint_work", "dissipation"):
        for name, own in getattr(thin.ledger, part).items():
            expected = np.add.reduceat(getattr(whole.ledger, part)[name], kept[:-1])
            np.testing.assert_allclose(own, expected, rtol=1e-12, atol=1e-15 * whole.ledger.scale)
    for part in ("residual", "position_residual"):
        largest = np.maximum.reduceat(np.abs(getattr(whole.ledger, part)), kept[:-1])
        np.testing.assert_array_equal(np.abs(getattr(thin.ledger, part)), largest)


@pytest.mark.parametrize("save_every", [1, 4])
@pytest.mark.parametrize("of_rows", [False, True])
def test_sizes_of_blocks_and_of_pieces_of_rows_change_nothing(monkeypatch, save_every, of_rows):
    """Rows are kept in pieces, here of a few rows, and blocks of steps end within them."""
    whole = run(CASES["damped"](), 75, save_every=save_every)
    monkeypatch.setattr(block_stepper, "FIRST", 5)
    monkeypatch.setattr(block_stepper, "SHORTEST", 0.0)
    if of_rows:
        monkeypatch.setattr(recorder, "LARGEST_IN_MEMORY", 1)
    pieces = run(CASES["damped"](), 75, save_every=save_every)
    assert_same(pieces, whole)
    np.testing.assert_array_equal(pieces.ledger.residual, whole.ledger.residual)
    np.testing.assert_array_equal(pieces.ledger.total_energy, whole.ledger.total_energy)


# --- events -----------------------------------------------------------------------------------------------------------


def test_few_times_do_not_limit_the_blocks_of_steps_chosen_by_their_error(monkeypatch):
    """Two times, hundreds of steps: a block for each few of them would take most of the run's time."""
    taken, controlled = [], PairBlocks.controlled

    def counted(*arguments, **options):
        taken.append(options["tries"])
        return controlled(*arguments, **options)

    monkeypatch.setattr(PairBlocks, "controlled", counted)
    mechanism, start, _ = pendulum()
    integrate(mechanism, start, [0.0, 1.0, 2.0], method=Exact(tolerance=1e-5), progress=False)
    assert taken[0] >= block_stepper.FIRST and len(taken) <= 4  # each block is up to 32 times as long as the last


def test_events_are_found_in_blocks_of_steps(monkeypatch):
    """Passed ones, one on a time of the run, and one that ends it: times, states and rows are those of single steps."""
    events = {
        "turns": lambda t, x: x.spin("rod"),
        "clock": lambda t, x: t - 0.037,
        "end": Event(lambda t, x: t - 0.1234, terminal=True),
    }
    plain = run(crank_slider(), 123)
    found = run(crank_slider(), 125, events=events)
    np.testing.assert_array_equal(found.states[:124], plain.states)  # events leave the steps as they are
    assert found.times[-1] == pytest.approx(0.1234, abs=1e-15)
    assert found.events["clock"].times == pytest.approx([0.037], abs=1e-12)
    spin = found["rod.spin"][:, 0]
    assert len(found.events["turns"].times) == (spin[1:] * spin[:-1] < 0.0).sum() > 0
    at = found.mechanism.layout.parts["rod.spin"]
    assert np.abs(found.events["turns"].states[:, at]).max() < 1e-9 * np.abs(spin).max()
    monkeypatch.setattr(block_stepper, "FIRST", 1)
    monkeypatch.setattr(block_stepper, "SLOW", math.inf)
    monkeypatch.setattr(block_stepper, "GROWTH", 1)
    singly = run(crank_slider(), 125, events=events)
    assert_same(singly, found)
    for name in events:
        np.testing.assert_array_equal(singly.events[name].times, found.events[name].times)
        np.testing.assert_array_equal(singly.events[name].states, found.events[name].states)


def test_an_event_that_raises_keeps_the_steps_before():
    def raises(t, x):
        return 1.0 if t < 0.0495 else math.inf

    with pytest.raises(InputError, match="event 'raises' must be finite") as caught:
        run(pendulum(), 100, events={"raises": raises})
    assert len(caught.value.solution.times) == 50


# --- runs that go on --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "method"), [(crank_slider, Exact()), (lambda: chain(3), Exact4()), (crank_slider, Decaying(0.4))]
)
def test_a_run_goes_on_where_it_ended_to_the_last_bit(make, method):
    mechanism, start, inputs = make()
    times = STEP * np.arange(31)
    whole, first = (integrate(mechanism, start, own, inputs=inputs, method=method) for own in (times, times[:9]))
    second = integrate(mechanism, first.final, times[8:], inputs=inputs, method=method)
    assert_same(first.followed_by(second), whole)


@pytest.mark.parametrize("first, second", [("exact4", "exact"), ("exact", "exact4"), ("control", "exact")])
def test_a_run_goes_on_by_another_method(first, second):
    """From the velocity defect that the other method leaves; steps before the last one only save iterations."""
    mechanism, start, _ = crank_slider()
    method = Exact(tolerance=1e-2) if first == "control" else by_name(first)
    before = integrate(mechanism, start, STEP * np.arange(9), method=method).final
    times = STEP * np.arange(8, 20)
    found, afresh = (
        integrate(mechanism, own, times, method=by_name(second))
        for own in (before, replace(before, memory=before.memory[-1:]))
    )
    assert found.ledger.largest_residual < 1e-14
    assert np.abs(found.states - afresh.states).max() < 1e-9 * np.abs(afresh.states).max()
    np.testing.assert_allclose(found.ledger.velocity_residual, afresh.ledger.velocity_residual, rtol=1e-6, atol=1e-9)


# --- steps that fail --------------------------------------------------------------------------------------------------


def test_a_step_that_cannot_be_solved_keeps_the_finished_ones():
    mechanism, start, _ = crank_slider()
    times = np.append(STEP * np.arange(21), 5.0)
    with pytest.raises(IntegrationError, match=r"from t = 0\.02 s to 5 s .* The 20 finished steps are in") as caught:
        integrate(mechanism, start, times)
    assert len(caught.value.solution.times) == 21


def test_a_step_of_fourth_order_that_fails_leaves_the_row_under_way_as_it_was():
    mechanism, start, _ = crank_slider()
    times = np.append(STEP * np.arange(10), 5.0)
    whole = integrate(mechanism, start, times[:-1], method=Exact4(), save_every=4)
    with pytest.raises(IntegrationError) as caught:
        integrate(mechanism, start, times, method=Exact4(), save_every=4)
    kept = caught.value.solution
    assert_same(kept, whole)
    np.testing.assert_array_equal(kept.ledger.iterations, whole.ledger.iterations)
    np.testing.assert_array_equal(kept.ledger.total_energy, whole.ledger.total_energy)


def test_an_input_without_a_value_keeps_the_finished_steps():
    mechanism, start, _ = crank_slider()

    def push(t):
        return (0.0, 0.0) if t < 0.0305 else (math.nan, 0.0)

    with pytest.raises(InputError, match="must be finite") as caught:
        run((mechanism, start, {"force slider.point": push}), 60)
    assert len(caught.value.solution.times) == 31


@pytest.mark.parametrize("method", [Exact(), Exact4(), ExactGauss(), Decaying()], ids=repr)
def test_a_step_that_fails_says_why(method):
    """A slider is pulled away until crank and rod are stretched, within a step: by processors, any of three reasons."""
    bodies = {"crank": rigid.bar(0.4, 1.0), "rod": rigid.bar(0.6, 1.0), "pin": rigid.point(1.0)}
    joints = [hinge("crank.root", GROUND.at(0.0, 0.0)), hinge("crank.tip", "rod.root"), hinge("rod.tip", "pin.point")]
    mechanism = connect(bodies, [*joints, drive("pin.point", position=lambda t: (0.5 + t, 0.0))])
    start = mechanism.consistent_state(mechanism.assemble(guess={"crank": 1.0, "rod": -1.0}))
    reasons = "|".join(TEXTS[reason] for reason in (SINGULAR, DIVERGED, UNSETTLED))
    told = rf"from t = 0\.476\d* s to 0\.523\d* s .* could not be solved: ({reasons}) after \d+ iterations, last corr"
    with pytest.raises(IntegrationError, match=told):
        integrate(mechanism, start, np.linspace(0.0, 1.0, 22), method=method)


def test_constraints_that_no_longer_follow_from_others_are_named():
    angles = {"one": lambda t: t, "other": lambda t: t + max(0.0, t - 0.5)}
    drives = [drive("bar.root", angle=angle, name=name) for name, angle in angles.items()]
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), *drives])
    start = mechanism.consistent_state(mechanism.assemble())
    told = r"from t = 0\.5 s to 0\.51 s .*: constraint 'o\w+: angle', which depends on others"
    with pytest.raises(IntegrationError, match=told) as caught:
        integrate(mechanism, start, np.linspace(0.0, 1.0, 101), method=Exact(redundant="least_norm"))
    assert caught.value.solution.times[-1] == pytest.approx(0.5)


# --- steps that are divided -------------------------------------------------------------------------------------------

FEW = 4
"""Steps of runs whose steps are divided."""
DIVIDED = (
    "collocation",
    "collocation in space",
    "rigid contacts by steps",
    "rigid contacts by events",
    "rigid contacts in space",
    "friction of joints",
)


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize("name", DIVIDED)
def test_a_divided_step_has_all_accounts_of_its_parts(name, monkeypatch):
    """Whole steps that are given up after three iterations, beside a run of their halves: to the same bits but sums."""
    sample = SAMPLES[name]
    mechanism, start, inputs = sample.make()
    solve = partial(integrate, mechanism, start, inputs=inputs, method=sample.method)
    halves = solve(start.time + 0.5 * sample.step * np.arange(2 * FEW + 1))
    taken, failed = BlockStepper._taken, BlockStepper.failed

    def only_halves(own, begin, times, *given, **more):
        if times[1] - times[0] > 0.75 * sample.step:
            return None, 0
        return taken(own, begin, times, *given, **more)

    def given_up(own, begin, time):
        error = failed(own, begin, time)
        error.iterations = 3
        return error

    monkeypatch.setattr(BlockStepper, "_taken", only_halves)
    monkeypatch.setattr(BlockStepper, "failed", given_up)
    whole = solve(start.time + sample.step * np.arange(FEW + 1))
    np.testing.assert_array_equal(whole.states, halves.states[::2])
    for account in ("work", "joint_work", "dissipation", "impulses"):
        assert getattr(whole.ledger, account).keys() == getattr(halves.ledger, account).keys()
        for flow, values in getattr(whole.ledger, account).items():
            parts = getattr(halves.ledger, account)[flow].reshape(FEW, 2)
            np.testing.assert_array_equal(values, parts[:, 0] + parts[:, 1], err_msg=flow)
    for store, values in whole.ledger.energy.items():
        np.testing.assert_array_equal(values, halves.ledger.energy[store][::2], err_msg=store)
    for residual in ("residual", "position_residual", "velocity_residual", "complementarity_residual"):
        parts = getattr(halves.ledger, residual)
        if parts.size:
            np.testing.assert_array_equal(getattr(whole.ledger, residual), parts.reshape(FEW, 2).max(axis=1))
    np.testing.assert_array_equal(whole.ledger.iterations, halves.ledger.iterations.reshape(FEW, 2).sum(axis=1) + 3)
    np.testing.assert_array_equal(whole.ledger.steps, 2.0)
    parts = halves.stage_multipliers.reshape(FEW, 2, -1)  # impulses add up; lengths of halves differ by round-off
    np.testing.assert_allclose(whole.stage_multipliers, parts.mean(axis=1), rtol=1e-12, atol=1e-12 * size_of(parts))


def size_of(values):
    """Largest value; 1 of none."""
    return np.abs(values).max(initial=0.0) or 1.0
