"""Accelerated Gauss collocation in loops: what it is for linear equations, and hard steps of pendulums beside NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from uncompiled import uncompiled

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.integration.choice import LOOPS
from flexph.integration.loops.gauss.acceleration_space import DEPTH, acceleration_of
from flexph.methods import ExactGauss


def solve(A, b, a, iterations):
    """Iterate x ← x − (A x − b), accelerated."""
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
    solve(A, b, a, n + 1)
    # 1e-9: round-off times the condition of the pairs, some 1e4
    np.testing.assert_allclose(a.x, np.linalg.solve(A, b), rtol=0.0, atol=1e-9 * np.abs(np.linalg.solve(A, b)).max())


def pendulum(count):
    names = [f"b{i}" for i in range(count)]
    joints = [hinge("b0.root", GROUND.at(0.0, 0.0))]
    joints += [hinge(f"{one}.tip", f"{other}.root") for one, other in pairwise(names)]
    mechanism = connect({name: rigid.bar(1.0, 1.0) for name in names}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({name: (float(i), 0.0, 0.0) for i, name in enumerate(names)})
    return mechanism, mechanism.consistent_state(pose)


def test_long_steps_of_a_pendulum_stay_in_loops():
    # it turns by 1 rad in a step of 0.2 s: with one Jacobian for all nodes 38 iterations were not enough
    mechanism, start = pendulum(1)
    times = np.linspace(0.0, 10.0, 51)
    loops, plain = (
        integrate(mechanism, start, times, method=ExactGauss(compiled=compiled), progress=False)
        for compiled in (True, False)
    )
    assert loops.steps_by == LOOPS
    assert loops.ledger.iterations.max() <= 20
    # 1e-11: round-off of two solvers, which 50 swings of a pendulum carry on linearly
    np.testing.assert_allclose(loops.states, plain.states, rtol=0.0, atol=1e-11)


def test_hard_steps_of_three_bars_are_those_of_numpy():
    mechanism, start = pendulum(3)
    times = np.linspace(0.0, 0.2, 5)
    loops, plain = (
        integrate(mechanism, start, times, method=ExactGauss(compiled=compiled), progress=False)
        for compiled in (True, False)
    )
    assert loops.steps_by == LOOPS
    np.testing.assert_allclose(loops.states, plain.states, rtol=0.0, atol=1e-11 * np.abs(plain.states).max())
