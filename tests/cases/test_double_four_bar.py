"""The double four-bar mechanism through its singular poses, against the equation of motion of its one freedom."""

import csv
import math

import numpy as np
import pytest
from motion_files import body_in
from scipy import sparse
from scipy.integrate import quad

from cases import double_four_bar as case
from flexph import Solution, connect, integrate

pytestmark = pytest.mark.processor

REFERENCE = np.array([1.4230514702, -0.4948688455])  # m/s, at 10 s
SINGULAR = 0.71435553  # time of the first singular pose [s]


def rate(theta: float) -> float:
    """Speed of the rods by the energy integral of 3 θ̈ = 3.5 g sin θ [rad/s]."""
    return math.sqrt(1.0 + 7.0 * 9.81 / 3.0 * (1.0 - math.cos(theta)))


def assert_kept(found):
    """Energy relative to the 1.5 J of motion at the start; joints to round-off of 2 m."""
    assert found.solution.ledger.kind("kinetic")[0] == pytest.approx(1.5, rel=1e-14)
    assert found.energy_error.max() <= 1e-9
    assert found.solution.ledger.position_residual.max() <= 1e-11


def test_the_run_ends_at_the_reference_velocity():
    """The benchmark at 1 ms: measured 2.7e-5 m/s off, energy error 8e-13, bars level to 5e-8 rad/s."""
    found = case.solve(1e-3)
    assert np.abs(found.velocity[-1] - REFERENCE).max() < 5e-5
    assert_kept(found)
    assert len(case.passes(found)) == 10
    assert case.passes(found)[0] == pytest.approx(SINGULAR, abs=1e-3)  # a step
    assert found.bar_spin.max() < 1e-5  # on the other branches it is of the order of the rods', 7 rad/s


def test_the_theory_is_the_quadrature_of_the_equation_of_motion():
    """Time to the first singular pose and to a whole turn as ∫dθ/θ̇, by quadrature."""
    quarter, turn = (quad(lambda t: 1.0 / rate(t), 0.0, end, epsabs=1e-12)[0] for end in (math.pi / 2, 2 * math.pi))
    assert quarter == pytest.approx(SINGULAR, abs=1e-8)
    exact = [[1.0, 0.0], [0.0, -rate(math.pi / 2)], [1.0, 0.0]]
    found = case.velocity_of_theory(np.array([0.0, quarter, turn]))
    np.testing.assert_allclose(found, exact, atol=1e-9)  # tolerance of both integrations
    end = case.velocity_of_theory(np.array([0.0, case.DURATION]))[-1]
    np.testing.assert_allclose(end, REFERENCE, atol=1e-9)


@pytest.mark.parametrize(
    ("method", "step", "value", "bound"), [("exact", 4e-3, 2.0, 1.2e-4), ("exact4", 0.02, 4.0, 1e-6)]
)
def test_methods_keep_their_order_through_singular_poses(method, step, value, bound):
    """Order over ten singular poses, and an absolute bound at half the step: measured 1.07e-4 and 6.4e-7 m/s."""
    errors = [np.abs(case.solve(h, method).velocity[-1] - REFERENCE).max() for h in (step, 0.5 * step)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(value, abs=0.1)
    assert errors[1] < bound


@pytest.mark.parametrize("steps", [100, 137, 500, 1234, pytest.param(250_000, marks=pytest.mark.slow)])
def test_energy_at_every_step_size(steps):
    found = case.solve(case.DURATION / steps)
    assert_kept(found)
    # round-off of positions grows by 1/(δh) in the velocities of other branches: measured 1.5e-4 at 4e-5 s
    assert found.bar_spin.max() < (1e-6 if steps < 10_000 else 1e-2)
    if steps < 10_000:  # corrections stagnate far above round-off
        assert found.solution.ledger.largest_residual < 1e-13
        assert found.solution.ledger.position_residual.max() < 1e-14


@pytest.mark.parametrize("beyond", [1e-2, 1e-3, 1e-4, -1e-4])
def test_step_that_ends_near_the_pose(beyond):
    """The 50th step ends that far beyond the pose [rad]; in 50 steps of 14.28645 ms the scheme meets it."""
    mechanism = case.double_four_bar()
    step = 0.01428644998597681 * (1.0 + beyond / (rate(math.pi / 2) * SINGULAR))
    solution = integrate(mechanism, case.start(mechanism), step * np.arange(101))
    assert solution.position(case.PIN)[50, 1] == pytest.approx(-beyond, rel=0.05)
    energy = solution.ledger.total_energy
    assert np.abs(energy - energy[0]).max() <= 1e-9 * 1.5
    assert np.abs(solution.spin("bar1")).max() < 1e-6


@pytest.mark.parametrize("beyond", [1e-6, -4.74e-7, -4.746e-7, -4.74631e-7, -4.746312e-7])
def test_energy_of_a_step_that_ends_on_the_pose(beyond):
    """Within 1e-7 rad and less multipliers reach 1e9 N: energy is balanced by Δg = 0, not by g = 0 to round-off."""
    mechanism = case.double_four_bar()
    step = 0.01428644998597681 * (1.0 + beyond / (rate(math.pi / 2) * SINGULAR))
    solution = integrate(mechanism, case.start(mechanism), step * np.arange(101))
    energy = solution.ledger.total_energy
    assert np.abs(energy - energy[0]).max() <= 1e-9 * 1.5
    assert solution.ledger.position_residual.max() <= 1e-11
    assert np.abs(solution.spin("bar1")).max() < 1e-2


def test_energy_of_a_step_that_ends_beyond_the_pose():
    """By 5e-7 rad: constraints are taken by their increments there, too."""
    mechanism = case.double_four_bar()
    energy = integrate(mechanism, case.start(mechanism), 0.014286449985976 * np.arange(51)).ledger.total_energy
    assert np.abs(energy - energy[0]).max() <= 1e-11


def test_the_singular_pose_has_three_freedoms_and_is_no_start():
    """One freedom, three at the singular pose, where the multipliers are not unique and a run cannot begin."""
    mechanism = case.double_four_bar()
    for angle, rank in ((0.5 * math.pi, 14), (0.3, 14), (0.0, 12)):
        end = math.cos(angle), math.sin(angle)
        places = {f"rod{k + 1}": (float(k), 0.0, angle) for k in range(3)}
        places |= {f"bar{k + 1}": (k + end[0], end[1], 0.0) for k in range(2)}
        pose = mechanism.assemble(places)
        G = connect(mechanism.bodies, mechanism.connections).linearize(pose).G  # without gravity: the pose is at rest
        assert np.linalg.matrix_rank(sparse.csr_array(G).toarray(), tol=1e-9) == rank
    state = mechanism.consistent_state(pose)
    with pytest.raises(ValueError, match="redundant"):
        integrate(mechanism, state, [0.0, 0.01])


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path):
    result = case.run(step=0.01)
    summary = case.write(result, tmp_path)
    assert np.shape(summary["velocity_end"]) == (2,)
    assert summary["energy_drift_max"] <= 1e-9
    assert summary["drift_max_m"] <= 1e-11
    assert summary["singular_passes"] == 10
    with open(tmp_path / "motion.csv", newline="") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert table["t_s"][-1] == case.DURATION
    np.testing.assert_allclose(np.hypot(table["pin_x_m"], table["pin_y_m"]), 1.0, atol=1e-14)
    np.testing.assert_array_equal([table["pin_x_m_s"][-1], table["pin_y_m_s"][-1]], summary["velocity_end"])
    run = Solution.load(tmp_path / "solution.h5", case.double_four_bar())
    np.testing.assert_array_equal(run.velocity(case.PIN), result.velocity)
    times, grid = body_in(tmp_path, next(iter(run.mechanism.bodies)))
    assert len(times) >= 200 and grid.points.shape[2] == 3


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (0.0, "step must be"),
        (-1e-3, "step must be"),
        (math.nan, "step"),
        (3e-3, "step must divide 10 s, got 0.003 s: the nearest is 0.00300030003"),
        (20.0, "the nearest is 10 s"),
    ],
)
def test_bad_steps_are_refused(step, message):
    with pytest.raises(ValueError, match=message):
        case.run(step=step)


def test_decimal_steps_divide_the_time():
    assert [case.count(step) for step in (1e-3, 0.1, 0.7 / 7, 10.0, 5e-5)] == [10_000, 100, 100, 1, 200_000]
