"""The rigid spatial slider-crank against its equation of motion in one coordinate, derived here, and its files."""

import csv
import json
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner
from motion_files import body_in
from scipy.integrate import solve_ivp

from cases import slider_crank_3d as case
from flexph import Solution
from flexph.cli import main

GRAVITY, CRANK, ROD = 9.81, 0.08, 0.3
AXES = {"slender": (4e-4, 4e-3, 4e-3), "masoudi": (4e-3, 4e-3, 4e-4)}  # along the rod, cross axis, normal [kg m²]


def kinematics(angle):
    """Crank pin, slider, and their derivatives by the crank angle (k, 3), from the closed loop |slider − pin| = ROD."""
    s, c, zero = np.sin(angle), np.cos(angle), np.zeros_like(angle)
    pin = np.stack([zero, 0.1 - CRANK * s, 0.12 + CRANK * c], axis=-1)
    pin_rate = np.stack([zero, -CRANK * c, -CRANK * s], axis=-1)
    x = np.sqrt(ROD**2 - (pin * pin).sum(axis=-1))
    end = np.stack([x, zero, zero], axis=-1)
    return pin, end, pin_rate, np.stack([-(pin * pin_rate).sum(axis=-1) / x, zero, zero], axis=-1)


def slider(angle):
    return kinematics(np.asarray(angle, dtype=float))[1][..., 0]


def spin_of_rod(angle):
    """Spin of the rod by the crank angle along its axes (k, 3): along, cross axis, normal.

    The universal joint lets it turn about the rail and the cross axis, not about their normal.
    """
    pin, end, pin_rate, end_rate = kinematics(angle)
    along, rail = (end - pin) / ROD, np.array([1.0, 0.0, 0.0])
    cross = np.cross(rail, along)
    cross /= np.linalg.norm(cross, axis=-1, keepdims=True)
    swing, locked = np.cross(along, end_rate - pin_rate) / ROD, np.cross(rail, cross)
    spin = swing - along * ((swing * locked).sum(-1) / (along * locked).sum(-1))[..., None]
    return np.stack([(spin * axis).sum(axis=-1) for axis in (along, cross, np.cross(along, cross))], axis=-1)


def inertia(angle, rod: str):
    """Twice the kinetic energy at unit crank speed; the crank's mass centre is in its middle."""
    _, _, pin_rate, end_rate = kinematics(angle)
    middle = 0.5 * (pin_rate + end_rate)
    crank = 1e-4 + 0.12 * (0.5 * CRANK) ** 2
    moving = 0.5 * (middle**2).sum(axis=-1) + 2.0 * (end_rate**2).sum(axis=-1)
    return crank + moving + spin_of_rod(angle) ** 2 @ np.array(AXES[rod])


def potential(angle):
    return GRAVITY * (0.12 * (0.12 + 0.5 * CRANK * np.cos(angle)) + 0.5 * 0.5 * kinematics(angle)[0][..., 2])


STEP = 1e-3
NODES = STEP * np.arange(-3.0, 4.0)
SLOPE = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * STEP)  # order 6: truncation 1e-15, round-off 1e-13


def acceleration(angle: float, speed: float, rod: str) -> float:
    """J θ̈ = −½ J′ θ̇² − V′."""
    around = inertia(angle + NODES, rod)
    return -(0.5 * speed**2 * SLOPE @ around + SLOPE @ potential(angle + NODES)) / around[3]


def reference(rod: str, times) -> np.ndarray:
    """Crank angle and speed, (2, k)."""
    found = solve_ivp(
        lambda _, y: [y[1], acceleration(y[0], y[1], rod)],
        (0.0, times[-1]),
        [0.0, 6.0],
        method="DOP853",
        rtol=1e-10,
        atol=1e-10,
        t_eval=times,
    )
    return found.y


first, *others = get_args(case.Rod)


@pytest.mark.parametrize("rod", [first, *(pytest.param(rod, marks=pytest.mark.slow) for rod in others)])
def test_order_against_the_equation_of_motion(rod):
    """Second order in the slider and the crank, and an absolute bound."""
    angle, speed = reference(rod, [1.0])[:, 0]
    exact = np.array([slider(angle), angle, kinematics(angle)[3][0] * speed])
    runs = [case.solve(rod, steps, duration=1.0) for steps in (250, 500)]
    errors = np.array([[r.position[-1], r.angle[-1], r.velocity[-1]] for r in runs]) - exact
    orders = np.log2(np.abs(errors[:-1] / errors[1:]))
    assert orders[-1] == pytest.approx(2.0, abs=0.1)
    assert np.all(np.abs(errors[-1]) < [6e-5, 1.2e-3, 1.2e-3])  # m, rad, m/s at 2 ms; measured 4.4e-5, 9.2e-4, 7e-4


@pytest.mark.parametrize("rod", get_args(case.Rod))
def test_positions_are_those_of_the_submitted_curves(rod):
    """The first second of the curve submitted for this rod, 1e-9 m printed, errors of its own up to 4e-5 m by then."""
    given = case.SUBMITTED[rod]
    times, positions = given.times[:2], given.positions[:2]
    steps = 180 if rod == "masoudi" else 150
    coarse, fine = (case.solve(rod, n, duration=float(times[1])) for n in (steps, 2 * steps))
    found = case.extrapolated(coarse.position, fine.position)[[steps // 2, steps]]
    np.testing.assert_allclose(found, positions, atol=4e-5)
    other = "slender" if rod == "masoudi" else "masoudi"
    assert abs(case.solve(other, 100, duration=float(times[1])).position[-1] - positions[1]) > 0.02  # it does tell


@pytest.mark.slow  # five seconds of motion to ten digits
def test_end_of_the_reference():
    """The constants that `flexph validate` compares with are those of the equation of motion here."""
    for rod, (end, crank) in case.EXACT.items():
        angle = reference(rod, [5.0])[0, 0]
        assert angle == pytest.approx(crank, abs=3e-7)  # tolerance of the integration, 5 s long, and 7 digits printed
        assert slider(angle) == pytest.approx(end, abs=3e-8)


def test_the_loop_gives_the_published_velocities():
    """Velocities that the loop gives: the numbers printed with the benchmark in other packages."""
    mechanism = case.slider_crank("slender")
    state = case.start(mechanism)
    v = {name: state.x[part] for name, part in mechanism.layout.parts.items() if name.endswith(("velocity", "spin"))}
    np.testing.assert_allclose(v["slider.velocity"], [0.24, 0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(v["rod.velocity"], [0.12, -0.24, 0.0], atol=1e-14)
    axes = state.x[mechanism.layout.parts["rod.rotation"]].reshape(3, 3)
    np.testing.assert_allclose(axes @ v["rod.spin"], [1.92, -0.96, 0.48], atol=1e-13)


def test_reactions_satisfy_newtons_law():
    """Newton's law of the slider and the moment of the crank about its axle, with accelerations of the reference."""
    errors = []
    for steps in (100, 200):
        solution = case.solve("slender", steps, duration=0.2).solution
        joints = [c.name for c in solution.mechanism.connections]
        push = solution.reaction(joints[2], on="second").force + solution.reaction(joints[3]).force
        times = solution.multiplier_times
        angle, speed = reference("slender", times)
        once, ahead, back = (kinematics(angle + e)[3][:, 0] for e in (0.0, 1e-5, -1e-5))
        twice = (ahead - back) / 2e-5  # x'' by the crank angle
        turn = np.array([acceleration(a, w, "slender") for a, w in zip(angle, speed, strict=True)])
        needed = np.zeros((len(times), 3))
        needed[:, 0] = 2.0 * (twice * speed**2 + once * turn)
        needed[:, 2] = 2.0 * GRAVITY  # what holds the slider up
        errors.append(np.abs(push - needed).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
    assert errors[1] < 0.05  # N, of forces up to 50 N at 1 ms


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("slider-crank") / "out"
    result = CliRunner().invoke(main, ["run", "slider-crank-3d", "--out", str(out), "--steps", "400"])
    assert result.exit_code == 0, result.output
    return out


@pytest.mark.slow
def test_a_run_writes_its_files(folder):
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["energy_residual_max_rel"] <= 1e-11
    assert summary["joint_drift_max_m"] <= 1e-11
    assert summary["orthogonality_max"] <= 1e-12
    with open(folder / "motion.csv", newline="") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert table["t_s"][-1] == 5.0
    # the loop closes with the crank angle: another route to the slider, to round-off
    np.testing.assert_allclose(table["slider_m"], slider(table["crank_rad"]), atol=1e-12)
    assert summary["crank_end_rad"] == table["crank_rad"][-1] > 40.0
    assert summary["slider_max_m"] == pytest.approx(0.29016, abs=1e-4)  # dead centres, to what a step misses of them
    assert len(body_in(folder, "crank")[0]) == 201
    run = Solution.load(folder / "solution.h5", case.slider_crank("slender"))
    with open(folder / "reactions.csv", newline="") as file:
        header, *rows = csv.reader(file)
    forces = np.array(rows, dtype=float)[:, 1:].reshape(400, 4, 3)
    # all outer forces change the momentum: axle, rail and weight; the rod's two ends carry its own
    weight = np.array([0.0, 0.0, -2.62 * GRAVITY])
    change = np.gradient(run.linear_momentum(), run.times, axis=0)[1:-1]
    outer = forces[:, 0] + forces[:, 3] + weight
    # differences over two steps of 12.5 ms against means of two midpoints: crude, but no force may be missing
    assert np.median(np.abs(change - 0.5 * (outer[1:] + outer[:-1]))) < 0.05 * np.abs(outer).max()


@pytest.mark.parametrize(("options", "message"), [(["--steps", "0"], "steps"), (["--rod", "stout"], "slender")])
def test_bad_options_are_refused(options, message, tmp_path):
    result = CliRunner().invoke(main, ["run", "slider-crank-3d", "--out", str(tmp_path / "out"), *options])
    assert result.exit_code != 0
    assert message in result.output
