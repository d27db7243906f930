"""The pogo-stick: closed forms against the equations, event times, the files."""

import json
from functools import partial

import numpy as np
import pytest
from case_commands import run_case

import flexph
from cases import pogo_stick
from cases.pogo_stick import in_contact, in_flight, mode, solve
from flexph import analyze
from flexph.methods import Gauss

run = partial(run_case, "pogo-stick")


@pytest.mark.parametrize(("contact", "motion"), [(0.0, in_flight), (1.0, in_contact)])
def test_closed_forms_satisfy_the_equations(contact, motion):
    """Central differences with (1e-5)² and round-off against (5.2) and (5.3)."""
    system, t, h = mode(contact), 0.03, 1e-5
    start = np.array([0.47, 0.47, -3.0])
    x = motion(start, t)
    rate = (motion(start, t + h) - motion(start, t - h)) / (2.0 * h)
    right = (system.J(x) - system.R(x)) @ system.z(x)
    np.testing.assert_allclose(right, rate, rtol=1e-6)
    np.testing.assert_allclose(motion(start, 0.0), start, rtol=1e-15)


@pytest.mark.parametrize("contact", [0.0, 1.0])
def test_modes_by_the_force_of_the_ground_are_the_published_ones(contact):
    """With the rate of the foot and λ eliminated, the rates are those of (5.4); λ is −d times the rate of take-off."""
    x = np.array([0.47, 0.6, -3.0])
    system, published = pogo_stick.mode_by_force(contact), mode(contact)
    state = flexph.consistency.consistent(system, [*x, 0.1, 10.0])
    rate = (system.J(state) - system.R(state)) @ system.z(state)
    np.testing.assert_allclose(rate[:3], (published.J(x) - published.R(x)) @ published.z(x), rtol=1e-9)
    assert state[4] == pytest.approx(-pogo_stick.DAMPING * pogo_stick.lift(x) * contact, rel=1e-9, abs=1e-9)
    assert analyze(system, state).index.index == 1


def test_take_off_by_the_sign_of_the_force():
    """The guard is λ < 0 in place of lift > 0: the same instants, in closed form."""
    start, times = [*pogo_stick.start(0.4), 0.0, 0.0], np.linspace(0.0, 0.5, 251)
    found = flexph.integrate(
        pogo_stick.pogo_stick_by_force(), start, times, mode="flight", method=Gauss(6), progress=False
    )
    exact = list(pogo_stick.exact_switches(0.4, 0.5))
    assert [s.cause for s in found.switches] == [name for _, name, _ in exact] == ["touch-down", "take-off"]
    np.testing.assert_allclose([s.time for s in found.switches], [t for t, _, _ in exact], atol=1e-11)
    assert found.energy_drift() < 1e-13
    assert not any(s.jump[:3].any() for s in found.switches)


def test_modes_are_the_published_matrices():
    """[survey] eq. (5.2) and (5.3)."""
    d = pogo_stick.DAMPING
    x = np.zeros(3)
    np.testing.assert_array_equal(mode(0.0).J(x) - mode(0.0).R(x), [[-1.0 / d, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
    np.testing.assert_array_equal(mode(1.0).J(x) - mode(1.0).R(x), [[0, 0, 1.0], [0, 0, 1.0], [-1.0, -1.0, -d]])


def test_the_foot_never_sinks_and_the_ground_never_pulls():
    found = solve(0.4, 4e-3, 1.2)
    touches = found.modes == pogo_stick.CONTACT
    gaps = found["height"][:, 0] - found["length"][:, 0]
    assert np.abs(gaps[touches]).max() < 1e-14
    assert gaps.min() > -1e-12
    pull = np.array([pogo_stick.lift(x) for x in found.states[touches]])
    assert pull.max() < 1e-9
    assert found.ledger.total_dissipation.min() >= 0.0


def test_first_fall_is_that_of_a_stone():
    found = solve(0.4, 2e-3, 0.4)
    assert found.switches[0].time == pytest.approx(np.sqrt(2.0 * 0.4 / 9.81), abs=1e-14)


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path):
    run("--out", str(tmp_path / "out"), "--end", "0.6")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["event_time_error_max_s"] < 1e-9
    assert summary["energy_jump_max_J"] < 1e-14
    assert summary["dissipated_J"] == pytest.approx(summary["energy_lost_J"], rel=1e-12)
    events = np.genfromtxt(tmp_path / "out" / "events.csv", delimiter=",", names=True)
    np.testing.assert_allclose(events["t_s"], events["closed_form_s"], atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--height", "-1"], "height must be positive"),
        (["--step", "0"], "step must be positive"),
        (["--end", "inf"], "end must be at least one step"),
        (["--method", "euler"], "method must be one of"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output
