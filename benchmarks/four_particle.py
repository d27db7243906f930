"""Steps per second of the four particles: flexph in loops and by NumPy, a NumPy code of its own, pydykit; long runs."""

from __future__ import annotations

import argparse
import logging
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cases.four_particle_system import ALPHA, BARS, K13, K24, SPEED, START, M, four_particles
from flexph import Trajectory, integrate
from flexph.methods import by_name

STEP, STEPS, REPEATS = 0.01, 1000, 3
ETA = 1.0
METHODS = ("gonzalez", "invariants", "mean_value", "midpoint")
EXAMPLE = "four_particle_system_ph_discrete_gradient_dissipative"  # of pydykit


def flexph(steps: int, eta: float, *, loops: bool = True, method: str = "gonzalez", save_every: int = 1) -> Trajectory:
    """A run from the start of the case, in loops over its terms or by NumPy from its functions."""
    system = four_particles(eta) if loops else replace(four_particles(eta), terms=None)
    times = STEP * np.arange(steps + 1)
    return integrate(system, START, times, method=by_name(method), save_every=save_every, progress=False)


# --- a code for this system alone, as one writes it with NumPy: full Newton, derivatives by hand -----------------


def potential(q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """V, its gradient and its second derivative."""
    value, slope, second = 0.0, np.zeros(12), np.zeros((12, 12))
    for i, k in ((0, K13), (3, K24)):
        j, d = i + 6, q[i + 6 : i + 9] - q[i : i + 3]
        stretch = d @ d - 1.0
        value += 0.5 * k * stretch**2
        slope[i : i + 3], slope[j : j + 3] = -2.0 * k * stretch * d, 2.0 * k * stretch * d
        block = 2.0 * k * (stretch * np.eye(3) + 2.0 * np.outer(d, d))
        second[i : i + 3, i : i + 3] = second[j : j + 3, j : j + 3] = block
        second[i : i + 3, j : j + 3] = second[j : j + 3, i : i + 3] = -block
    return value, slope, second


def bars(q: np.ndarray) -> np.ndarray:
    """Dg(q) (2, 12)."""
    made = np.zeros((2, 12))
    for row, (i, j) in enumerate(BARS):
        d = q[3 * j : 3 * j + 3] - q[3 * i : 3 * i + 3]
        made[row, 3 * i : 3 * i + 3], made[row, 3 * j : 3 * j + 3] = -d, d
    return made


DAMPED = np.zeros((12, 12))
DAMPED[3:9, 3:9] = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))


def numpy_step(q0: np.ndarray, v0: np.ndarray, lam: np.ndarray, eta: float) -> tuple[np.ndarray, ...]:
    """Gonzalez' discrete gradient; the Jacobian leaves out what the correction and the viscosity change."""
    h, energy = STEP, potential(q0)[0] + 0.5 * v0 @ (M * v0)
    q1, v1 = q0 + h * v0, v0
    for _ in range(20):
        q, v, dq, dv = 0.5 * (q0 + q1), 0.5 * (v0 + v1), q1 - q0, v1 - v0
        _, slope, second = potential(q)
        apart, g = q[6:9] - q[3:6], bars(q)
        damping = (eta * (1.0 + ALPHA * apart @ apart)) * DAMPED
        after = potential(q1)[0] + 0.5 * v1 @ (M * v1)
        ratio = (after - energy - slope @ dq - (M * v) @ dv) / max(dq @ dq + dv @ dv, 1e-300)
        mean_v = v + ratio * dv / M
        forces = slope + ratio * dq + damping @ mean_v + g.T @ lam
        defect = np.concatenate([dq - h * mean_v, M * dv + h * forces, h * g @ mean_v])
        jacobian = np.zeros((26, 26))
        jacobian[:12, :12], jacobian[:12, 12:24] = np.eye(12), -0.5 * h * np.eye(12)
        jacobian[12:24, :12] = 0.5 * h * (second + bars_slope(lam))
        jacobian[12:24, 12:24] = np.diag(M) + 0.5 * h * damping
        jacobian[12:24, 24:], jacobian[24:, :12], jacobian[24:, 12:24] = h * g.T, 0.5 * h * bars(v), 0.5 * h * g
        change = np.linalg.solve(jacobian, defect)
        q1, v1, lam = q1 - change[:12], v1 - change[12:24], lam - change[24:]
        if np.abs(change[:24]).max() < 1e-13:
            return q1, v1, lam
    raise ArithmeticError("no convergence")


def bars_slope(lam: np.ndarray) -> np.ndarray:
    """The derivative of Dg(q)ᵀλ by q."""
    block = np.zeros((4, 4))
    for row, (i, j) in enumerate(BARS):
        block[i, i] = block[j, j] = lam[row]
        block[i, j] = block[j, i] = -lam[row]
    return np.kron(block, np.eye(3))


def numpy_run(steps: int, eta: float) -> float:
    """H at the end."""
    q, v, lam = START[:12], START[12:24], START[24:]
    for _ in range(steps):
        q, v, lam = numpy_step(q, v, lam, eta)
    return float(potential(q)[0] + 0.5 * v @ (M * v))


# --- pydykit --------------------------------------------------------------------------------------------------------


def pydykit_run(steps: int) -> None:
    """Its own example of this system with our step."""
    import pydykit
    import pydykit.systems_port_hamiltonian

    text = (Path(pydykit.__file__).parent / "example_files" / f"{EXAMPLE}.yml").read_text()
    head = text[: text.index("time_stepper:")]
    times = f"time_stepper:\n  class_name: FixedIncrement\n  step_size: {STEP}\n  start: 0.0\n  end: {steps * STEP}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{EXAMPLE}.yml"
        path.write_text(head + times)
        manager = pydykit.managers.Manager()
        manager.configure_from_path(path=path)
    manager.system = pydykit.systems_port_hamiltonian.PortHamiltonianMBS(manager=manager)
    manager.manage(result=pydykit.results.Result(manager=manager))


# --- tables ---------------------------------------------------------------------------------------------------------


def rate(run: Callable[[int], object], steps: int) -> float:
    """Steps per second of process time: the best of a few runs after a first one."""
    run(2)
    clocks = []
    for _ in range(REPEATS):
        clock = time.process_time()
        run(steps)
        clocks.append(time.process_time() - clock)
    return steps / min(clocks)


def compare() -> None:
    """One row a code."""
    rows: list[tuple[str, Callable[[int], object], int]] = [
        (f"flexph, {method}", partial(flexph, eta=ETA, method=method), 50 * STEPS) for method in METHODS
    ]
    rows.append(("flexph, gonzalez, by NumPy", partial(flexph, eta=ETA, loops=False), STEPS))
    rows.append(("NumPy code of this system", partial(numpy_run, eta=ETA), STEPS))
    if find_spec("pydykit"):
        logging.getLogger("pydykit").setLevel(logging.ERROR)
        rows.append(("pydykit, its example", pydykit_run, STEPS // 10))
    print(f"four particles, h = {STEP} s, η₀ = {ETA} N s/m; the last codes by Gonzalez' gradient, too")
    rates = [rate(run, steps) for _, run, steps in rows]
    for (name, _, _), each in zip(rows, rates, strict=True):
        print(f"{name:28s} {each:9.0f} steps/s   {rates[0] / each:7.1f} times slower than the first")
    energy = flexph(STEPS, ETA).ledger.total_energy[-1]
    print(f"H(10): flexph {energy:.12f}, NumPy {numpy_run(STEPS, ETA):.12f}")
    print(f"ratio four-particle-numpy-over-loops {rates[0] / rates[len(METHODS)]:.1f}")


def long_runs(steps: int) -> None:
    """What a long run without dissipation keeps, and whether memory grows."""
    for method in ("gonzalez", "invariants"):
        flexph(2000, 0.0, method=method)
        before, clock = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        found = flexph(steps, 0.0, method=method, save_every=1000)
        clock, grown = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        error = np.abs(found.ledger.total_energy / SPEED - 1.0).max()
        print(f"{method}: {steps} steps at η₀ = 0, {steps / clock:.0f} steps/s, |H/H₀ − 1| ≤ {error:.1e}", end=", ")
        print(
            f"memory grew by {grown / 1024:.1f} MB, {8e-6 * (steps + found.states.size):.1f} MB of them times and rows"
        )


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="1e6 steps without dissipation")
    wanted = parser.parse_args()
    compare()
    if wanted.long:
        long_runs(1_000_000)


if __name__ == "__main__":
    main()
