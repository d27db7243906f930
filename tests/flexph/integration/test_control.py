"""Steps chosen by their error: exact as ever, with an error that follows the tolerance."""

import math

import numpy as np
import pytest
from sample_mechanisms import chain, doubled, pendulum, stub
from scipy.interpolate import CubicSpline

import fem
import rigid
from flexph import (
    GROUND,
    Event,
    IntegrationError,
    IntegrationInterrupted,
    Solution,
    connect,
    drive,
    hinge,
    integrate,
    slider,
)
from flexph.integration.times.step_size import Controller, StepTooSmall
from flexph.mechanisms.arrays import network
from flexph.methods import Decaying, Exact, Exact4

PLUMB = (0.0, -9.81)

# --- the controller ---------------------------------------------------------------------------------------------------


def test_steps_settle_where_the_error_is_allowed():
    """An error of 4 h²: the step goes to safety/2 in a few steps, from either side."""
    control = Controller(order=2.0)
    for h in (1e-3, 10.0):
        last = 1.0
        for _ in range(100):
            error = 4.0 * h**2
            h, accepted = control.propose(h, error, last)
            last = error if accepted else last
        # where 1 = safety · ε^(−0.35 + 0.2)
        assert 4.0 * h**2 == pytest.approx(0.9 ** (1.0 / 0.15), rel=1e-3)


def test_proposals_have_limits():
    control = Controller(least=0.25, most=3.0, smallest=1e-6)
    assert control.propose(1.0, 0.0) == (3.0, True)
    assert control.propose(1.0, 1e9) == (0.25, False)
    assert control.propose(1.0, math.inf) == control.propose(1.0, math.nan) == (0.25, False)
    assert control.propose(1.0, 1.0001)[0] < 1.0  # what is rejected is not tried again
    assert control.propose(1e-6, 0.99)[0] == 1e-6
    with pytest.raises(StepTooSmall, match="step control fell below 1e-06 s"):
        control.propose(1e-6, 2.0)
    with pytest.raises(ValueError, match=r"least < 1 <= most must hold, got 2\.0 and 3\.0"):
        Controller(least=2.0, most=3.0)
    with pytest.raises(ValueError, match="order must be positive, got 0"):
        Controller(order=0.0)


# --- runs -------------------------------------------------------------------------------------------------------------


def four_bar():
    """A rigid loop under gravity that passes near its dead point."""
    bodies = {"crank": rigid.bar(0.4, 0.5), "rod": rigid.bar(0.9, 0.8), "rocker": rigid.bar(0.7, 0.6)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "rocker.root"),
        hinge("rocker.tip", GROUND.at(1.0, 0.0)),
    ]
    mechanism = connect(bodies, joints, gravity=PLUMB)
    guess = {"rod": (0.2, 0.4, 0.3), "rocker": (1.0, 0.6, -1.8)}
    pose = mechanism.assemble({"crank": (0.0, 0.0, 1.2)}, guess=guess)
    return mechanism, mechanism.consistent_state(pose, velocities={"crank": 3.0})


SAVED = np.linspace(0.0, 1.0, 6)
TOLERANCES = (5e-4, 1e-4, 2e-5)


@pytest.fixture(scope="module")
def runs():
    """The loop under three tolerances, and a fine run of fourth order."""
    mechanism, start = four_bar()
    fine = integrate(mechanism, start, np.linspace(0.0, 1.0, 201), method=Exact4())
    return fine, [integrate(mechanism, start, SAVED, method=Exact(tolerance=t)) for t in TOLERANCES]


def test_the_error_follows_the_tolerance(runs):
    """In positions and velocities at most ten times, in multipliers forty times the tolerance, near the dead point."""
    fine, found = runs
    motion = fine.mechanism.layout.parts_of_motion
    truth, speed = fine.states[::40], np.abs(fine.states[:, motion]).max()
    errors = []
    for run in found:
        multipliers = CubicSpline(fine.multiplier_times, fine.multipliers)(run.multiplier_times)
        errors.append(
            (
                np.abs(run.states - truth)[:, : motion.start].max(),
                np.abs(run.states - truth)[:, motion].max() / speed,
                np.abs(run.multipliers - multipliers).max() / np.abs(fine.multipliers).max(),
            )
        )
    for by_tolerance, bound in zip(np.transpose(errors), (10.0, 10.0, 40.0), strict=True):
        assert np.all(by_tolerance < bound * np.array(TOLERANCES))
    # second order: the error goes with h², as the tolerance does; long steps see the dead point late
    for by_tolerance in np.transpose(errors)[:2]:
        assert np.log(by_tolerance[0] / by_tolerance[2]) / np.log(25.0) == pytest.approx(1.15, abs=0.35)


def test_steps_go_with_the_root_of_the_tolerance(runs):
    steps = [run.ledger.steps.sum() for run in runs[1]]
    assert np.log(steps[2] / steps[0]) / np.log(25.0) == pytest.approx(0.5, abs=0.1)


def test_exactness_holds_at_every_accepted_step(runs):
    for run in runs[1]:
        np.testing.assert_array_equal(run.times, SAVED)  # met exactly
        assert np.all(run.ledger.steps % 2 == 0)
        assert run.ledger.largest_residual < 1e-14  # the largest of all steps
        assert run.energy_drift() < 1e-13
        assert run.ledger.position_residual.max() < 1e-14
        assert max(np.abs(w).max() for w in run.ledger.joint_work.values()) < 1e-12 * run.ledger.scale


def test_velocities_keep_the_constraints_better_than_equal_steps_do(runs):
    """Pairs return the velocity defect, and what they leave of it does not add up."""
    fine, (_, run, _) = runs
    count = int(run.ledger.steps.sum())
    equal = integrate(fine.mechanism, four_bar()[1], np.linspace(0.0, 1.0, count + 1))
    assert run.ledger.velocity_residual.max() < equal.ledger.velocity_residual.max()
    error, other = (np.abs(r.states[-1] - fine.states[-1]).max() for r in (run, equal))
    assert error < 0.7 * other


def whip(count, **options):
    """A slider-crank with a rod that is hardly longer than its crank: once in a turn it whips the slider through."""
    bodies = {"crank": rigid.bar(0.3, 2.0), "rod": rigid.bar(0.31, 0.2), "slider": rigid.point(0.3)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
    ]
    mechanism = connect(bodies, joints)
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.3)}, guess={"rod": -0.3})
    start = mechanism.consistent_state(pose, velocities={"crank": 6.0})
    return integrate(mechanism, start, np.linspace(0.0, 0.5, count + 1), **options)


def test_a_burst_takes_fewer_steps_than_equal_ones():
    fine, found = whip(120, method=Exact4()).states[::30], whip(4, method=Exact(tolerance=2e-4))
    count = int(found.ledger.steps.sum())
    equal = whip(2 * count, save_every=count // 2)
    assert np.abs(found.states - fine).max() < 0.7 * np.abs(equal.states - fine).max()


def test_momenta_are_kept_and_rejected_steps_lose_nothing():
    rod = fem.beam(0.8, fem.Material(young=2e7, density=200.0), fem.Section(width=0.1, height=0.05), elements=2)
    mechanism = connect({"rod": rod, "bar": rigid.bar(0.5, 1.0)}, [hinge("rod.tip", "bar.root")])
    pose = mechanism.assemble({"rod": (0.0, 0.0, 0.3)}, guess={"bar": 1.0})
    start = mechanism.consistent_state(pose, velocities={"rod": (1.0, 2.0, 6.0), "bar": -8.0})
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 4), method=Exact(tolerance=2e-5))
    assert run.ledger.rejected.sum() > 0  # the first step was far too long
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert run.energy_drift() < 1e-13


def test_counts_are_kept_on_disk(runs, tmp_path):
    run = runs[1][0]
    run.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", run.mechanism)
    np.testing.assert_array_equal(again.ledger.steps, run.ledger.steps)
    np.testing.assert_array_equal(again.ledger.rejected, run.ledger.rejected)
    later = integrate(run.mechanism, again.final, [1.0, 1.1], method=Exact(tolerance=1e-3))  # a saved run goes on
    assert again.followed_by(later).ledger.steps.size == 6


def test_save_every_thins_the_saved_times(runs):
    mechanism, start = four_bar()
    thin = integrate(mechanism, start, SAVED, method=Exact(tolerance=TOLERANCES[0]), save_every=2)
    np.testing.assert_array_equal(thin.states, runs[1][0].states[[0, 2, 4, 5]])
    np.testing.assert_allclose(thin.ledger.steps, np.add.reduceat(runs[1][0].ledger.steps, [0, 2, 4]))


CHOSEN = {
    "four bar": (four_bar, SAVED, Exact(tolerance=1e-4)),
    "rigid": (pendulum, 1e-3 * np.arange(17), Exact(tolerance=1e-3)),
    "chain in space": (lambda: chain(3), 1e-3 * np.arange(17), Exact(tolerance=1e-3)),
    "no inner coordinate": (stub, 1e-3 * np.arange(17), Exact(tolerance=1e-3)),
    "least norm": (doubled, 1e-3 * np.arange(41), Exact(tolerance=1e-3, redundant="least_norm")),
    "decaying": (lambda: chain(3), 1e-3 * np.arange(17), Decaying(0.4, tolerance=1e-3)),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_loops_choose_the_steps_that_python_does(name):
    make, saved, method = CHOSEN[name]
    mechanism, start = make()[:2]
    never = {"never": Event(lambda t, x: 1.0)}  # events are looked for after each pair, in Python
    loops, python = (
        integrate(mechanism, start, saved, method=method, save_every=2, events=events) for events in ({}, never)
    )
    assert loops.times == pytest.approx(python.times, abs=0.0)
    assert loops.states == pytest.approx(python.states, abs=1e-9)
    for counts in ("steps", "rejected"):
        assert np.all(getattr(loops.ledger, counts) == getattr(python.ledger, counts))
    work = loops.ledger.work, python.ledger.work
    assert all(work[0][name] == pytest.approx(work[1][name], abs=1e-10) for name in work[1])


def test_events_are_found_in_pairs(runs):
    mechanism, start = four_bar()
    spin = mechanism.layout.parts["rocker.spin"].start
    ends = {"turns": Event(lambda t, x: x[spin], direction=1, terminal=True)}
    found = integrate(mechanism, start, SAVED, method=Exact(tolerance=1e-3), events=ends)
    fine = integrate(mechanism, start, np.linspace(0.0, 1.0, 51), method=Exact4(), events=ends)
    assert 0.0 < fine.times[-1] < 1.0
    assert found.times[-1] == found.events["turns"].times[0] == pytest.approx(fine.times[-1], abs=3e-3)
    assert found.final.x[spin] == pytest.approx(0.0, abs=1e-10)
    assert found.ledger.largest_residual < 1e-13


def test_unresolved_modes_do_not_force_small_steps():
    """A stiff rod that starts undeformed rings axially: with a small part of the energy, it is passed over."""
    steel = fem.Material(young=2.1e11, density=7800.0)
    rod = fem.beam(0.3, steel, fem.Section(width=0.01, height=0.01), elements=2, reference="simply_supported")
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 50.0 * t),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
    ]
    mechanism = connect({"crank": rigid.bar(0.1, 0.1), "rod": rod, "slider": rigid.point(0.2)}, joints)
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.126, 5), method=Exact(tolerance=1e-3))
    step, period = 0.126 / run.ledger.steps.sum(), 0.3 / math.sqrt(2.1e11 / 7800.0) * 4.0
    assert step > 2.0 * period
    assert run.ledger.largest_residual < 1e-13


def twins():
    """Two bars on the same hinges, at both ends: redundant constraints."""
    bars = {"bar": rigid.bar(1.0, 1.0), "twin": rigid.bar(1.0, 2.0)}
    joints = [hinge("bar.root", GROUND.at(0.0, 0.0)), hinge("twin.root", "bar.root"), hinge("twin.tip", "bar.tip")]
    mechanism = connect(bars, joints, gravity=PLUMB)
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": 0.0, "twin": 0.0}))


def test_redundant_constraints_compose_with_it():
    mechanism, start = twins()
    run = integrate(mechanism, start, [0.0, 0.5], method=Exact(tolerance=1e-3, redundant="least_norm"))
    assert run.ledger.largest_residual < 1e-14
    assert run.ledger.position_residual.max() < 1e-14


@pytest.mark.slow
def test_large_mechanisms_take_the_same_steps(monkeypatch):
    dense = whip(2, method=Exact(tolerance=2e-3))
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    large = whip(2, method=Exact(tolerance=2e-3))
    np.testing.assert_array_equal(large.ledger.steps, dense.ledger.steps)
    assert large.states == pytest.approx(dense.states, abs=1e-9)


def test_an_interrupt_keeps_the_accepted_steps():
    mechanism, start = four_bar()

    def value(t, x):
        if t > 0.3:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(IntegrationInterrupted, match="the finished steps are in") as caught:
        integrate(mechanism, start, SAVED, method=Exact(tolerance=1e-3), events={"e": value})
    done = caught.value.solution
    assert done.times[-2] == 0.2 < done.times[-1] <= 0.3
    assert done.energy_drift() < 1e-13


def test_rest_is_no_error():
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))])
    run = integrate(
        mechanism,
        mechanism.consistent_state(mechanism.assemble({"bar": 0.3})),
        [0.0, 1.0],
        method=Exact(tolerance=1e-6),
    )
    assert run.ledger.rejected.sum() == 0
    assert np.abs(run.states[1] - run.states[0]).max() < 1e-14


def test_an_energy_below_which_motion_need_not_be_resolved():
    mechanism, start = four_bar()
    loose, tight = (integrate(mechanism, start, [0.0, 0.3], method=Exact(tolerance=t)) for t in ((1e-4, 1e3), 1e-4))
    assert loose.ledger.steps.sum() < 0.5 * tight.ledger.steps.sum()


def test_a_jump_of_a_drive_ends_the_run_with_an_explanation():
    kink = drive("bar.root", angle=lambda t: max(0.0, t - 0.3))
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND), kink])
    start = mechanism.consistent_state(mechanism.assemble())
    message = (
        r"step control fell below 1e-10 s: the error is still .* times the tolerance at t = 0\.3 s; where a drive, "
        r"load or event lets velocities jump, end the run and begin another, .* finished steps are in"
    )
    with pytest.raises(IntegrationError, match=message) as caught:
        integrate(mechanism, start, [0.0, 0.25, 1.0], method=Exact(tolerance=1e-3))
    assert caught.value.solution.times[-1] == pytest.approx(0.3, abs=1e-8)


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        (0.0, "tolerance must be positive, got 0"),
        ((1e-3, -1.0), "atol must not be negative, got -1.0 J"),
        ((1e-3, 1.0, 1.0), r"tolerance must be a pair of numbers, got \(0\.001, 1\.0, 1\.0\)"),
        ("fine", "tolerance must be a number or a pair of numbers, got 'fine'"),
    ],
)
def test_bad_tolerances_are_answered(tolerance, message):
    mechanism, start = four_bar()
    with pytest.raises(ValueError, match=message):
        integrate(mechanism, start, [0.0, 1.0], method=Exact(tolerance=tolerance))
