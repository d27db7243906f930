"""The differential drive: the exact motion, three models that agree, no slip, energy, the files."""

import csv
import math

import numpy as np
import pytest
from motion_files import body_in
from scipy.integrate import solve_ivp

import rigid
from cases import differential_drive as case
from flexph import Solution, connect, integrate
from flexph.joints import knife_edge


@pytest.fixture(scope="module")
def runs():
    return [case.solve(steps) for steps in (50, 100, 200)]


def test_the_plan_is_a_motion_of_the_reduced_equations():
    """m v̇ = mℓω² + F_L + F_R, I_O ω̇ = −mℓωv + ½b(F_R − F_L) under its forces, by another integrator."""

    def rate(t, z):
        left, right = case.plan(np.array([t])).forces[0]
        phi, v, w = z[2:]
        turn = -case.MASS * case.REACH * w * v + 0.5 * case.TRACK * (right - left)
        return [v * math.cos(phi), v * math.sin(phi), w, case.REACH * w**2 + (left + right) / case.MASS,
                turn / case.INERTIA]  # fmt: skip

    times = np.linspace(0.0, case.DURATION, 201)
    exact = case.plan(times)
    start = np.append(exact.positions[0], [0.0, 0.0])
    found = solve_ivp(rate, (0.0, case.DURATION), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=times).y.T
    np.testing.assert_allclose(found, np.hstack([exact.positions, exact.speeds]), atol=1e-9)  # its tolerance


def test_the_plan_closes_and_rests_at_both_ends():
    exact = case.plan(np.linspace(0.0, 3.0, 401), 3.0)
    np.testing.assert_allclose(exact.positions[-1], exact.positions[0], atol=1e-14)
    np.testing.assert_allclose(exact.speeds[[0, -1]], 0.0, atol=1e-14)
    assert np.ptp(exact.positions[:, 2]) > math.pi  # it turns around in both halves


def test_side_force_of_the_plan():
    """μ of the second row of the printed equations, with v_y = 0, at random states."""
    system, times = case.constrained(), np.random.default_rng(0).uniform(1.0, 9.0, 5)
    for t in times:
        at = case.plan(np.array([t]))
        omega = case.S @ at.speeds[0]
        push = {name: [at.forces[0, k]] for k, name in enumerate(case.WHEELS)}
        found = system.accelerations(at.positions[0], omega, inputs=push)
        assert -found.mu[0] == pytest.approx(at.side[0], rel=1e-12)


def test_all_models_converge_to_the_plan(runs):
    for name in runs[0].errors:
        errors = np.array([r.errors[name] for r in runs])
        np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.1)
        assert errors[-1] < 1e-2  # measured 9.1e-3
    sides = np.array([np.abs(r.side_force - r.middle.side).max() for r in runs])
    np.testing.assert_allclose(np.log2(sides[:-1] / sides[1:]), 2.0, atol=0.25)  # read at other times on each grid
    assert sides[-1] < 0.1  # measured 0.076 of 33 N


def test_the_three_models_agree_at_second_order(runs):
    """Constrained and reduced take the same steps, since S is constant; the mechanism differs by h²."""
    gaps = []
    for r in runs:
        np.testing.assert_allclose(r.positions["reduced"], r.positions["constrained"], atol=1e-13)
        forward = r.constrained["velocities"] @ case.S
        np.testing.assert_allclose(r.reduced["velocities"], forward, atol=1e-13)
        gaps.append(np.abs(r.positions["mechanism"] - r.positions["constrained"]).max())
    assert np.log2(np.array(gaps[:-1]) / gaps[1:]) == pytest.approx(2.0, abs=0.1)


def test_no_slip_and_the_work_of_the_wheels_at_every_step_size(runs):
    for r in runs:
        assert max(r.slip.values()) < 1e-12
        assert max(r.imbalance.values()) < 1e-12
        work = sum(r.constrained.ledger.work[name] for name in case.WHEELS)
        change = np.diff(r.constrained.ledger.total_energy)
        np.testing.assert_allclose(change, work, atol=1e-13 * r.constrained.ledger.scale)
        middle = 0.5 * (r.constrained["velocities"][1:] + r.constrained["velocities"][:-1])
        assert np.abs(middle[:, 1]).max() < 1e-12


def test_wheel_and_knife_edge_are_the_same(runs):
    """A mechanism with a knife edge across the axle, to the bit of round-off."""
    mechanism, r = case.robot(), runs[0]
    edged = connect(mechanism.bodies, [knife_edge("robot.axle"), *mechanism.connections[1:]])
    start = edged.consistent_state(edged.assemble({"robot": tuple(r.exact.positions[0])}))
    inputs = {n: lambda t, k=k: (case.plan(np.array([t])).forces[0, k], 0.0) for k, n in enumerate(case.WHEELS)}
    found = integrate(edged, start, r.mechanism.times, inputs=inputs)
    np.testing.assert_allclose(found.states, r.mechanism.states, atol=1e-12)


def test_builder_makes_the_printed_system():
    """rigid.free_body with a knife edge and two forces that follow has the same matrices."""
    side = 0.5 * case.TRACK
    built = rigid.free_body(
        case.MASS,
        inertia=case.INERTIA_S,
        centre=(case.REACH, 0.0),
        constraints={"no slip": rigid.KnifeEdge((0.0, 0.0), across=(0.0, 1.0))},
        ports={n: rigid.Force((0.0, s * side), along=(1.0, 0.0), axes="body") for n, s in case.WHEELS.items()},
    )
    x = np.random.default_rng(1).standard_normal(7)
    one, other = case.constrained().phdae(x), built.phdae(x)
    for name in ("E", "J", "B"):
        np.testing.assert_allclose(getattr(one, name)(x), getattr(other, name)(x), atol=1e-14)


def test_a_run_writes_its_files(tmp_path):
    result = case.run(steps=60, duration=4.0)
    summary = case.write(result, tmp_path)
    assert max(summary["sideways_velocity_max_m_s"].values()) < 1e-12
    assert max(summary["energy_balance_max_rel"].values()) < 1e-12
    assert summary["constrained_from_reduced_max"] < 1e-12
    with open(tmp_path / "path.csv", newline="") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert table["t_s"][-1] == 4.0
    np.testing.assert_array_equal(table["y_m_mechanism"], result.positions["mechanism"][:, 1])
    run = Solution.load(tmp_path / "solution.h5", case.robot())
    np.testing.assert_array_equal(run.states, result.mechanism.states)
    assert body_in(tmp_path, next(iter(run.mechanism.bodies)))[1].points.shape[2] == 3


@pytest.mark.parametrize(("options", "message"), [({"steps": 0}, "steps"), ({"duration": -1.0}, "duration must be")])
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        case.run(**options)
