"""One run by two threads beside one: piles of rigid discs and balls, whose equations are factored from both ends.

    python benchmarks/threads.py [--rounds 5] [--steps 4] [--piles discs-500 balls-500]

Discs and balls with friction lie in layers, move towards their middle and touch in the first step. Runs by one thread
and by two (``OMP_NUM_THREADS``, read when a run begins) take turns; their states are compared to the last bit. Printed
are the least times by the clock, the processor time of the thread that takes the steps, which others on the machine do
not lengthen, and the load of the machine. On idle cores the two ratios are nearly equal: the halves are.
"""

import argparse
import os
import time

import numpy as np

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.methods import Exact

RADIUS, STEP = 0.05, 2e-3  # [m], [s]
PILES = {"discs-500": (22, 23, 2), "discs-1500": (38, 40, 2), "balls-500": (8, 8, 3)}
"""Balls along the floor and layers, and dimension, of each pile."""


def pile(wide, high, dim):
    """Balls in layers over a floor that move towards their middle, and the start of their run."""
    across = np.indices((wide,) * (dim - 1)).reshape(dim - 1, -1).T
    places = []
    for level in range(high):
        sides = 2.001 * RADIUS * across
        sides[:, 0] += 0.5 * RADIUS * (level % 2)
        places.append(np.column_stack([sides, np.full(len(sides), RADIUS * (1.001 + 1.9391 * level))]))
    places = np.vstack(places)
    ball = rigid.body(1.0, inertia=1e-3 if dim == 2 else 1e-3 * np.eye(3), ports={"centre": (0.0,) * dim})
    names = [f"ball{i}" for i in range(len(places))]
    spheres, law = [Sphere(f"{name}.centre", RADIUS) for name in names], Rigid(restitution=0.2, friction=0.3)
    up = np.eye(dim)[-1]
    floor = contact(spheres, Plane(GROUND.at(*np.zeros(dim)), tuple(up)), law, name="floor")
    mechanism = connect(dict.fromkeys(names, ball), [floor, mutual_contact(spheres, law)], gravity=tuple(-9.81 * up))
    laid = [(*place, 0.0) if dim == 2 else (place, np.eye(3)) for place in places]
    moving = [(*v, 0.0) if dim == 2 else (v, np.zeros(3)) for v in places.mean(axis=0) - places]
    pose = mechanism.assemble(dict(zip(names, laid, strict=True)))
    return mechanism, mechanism.consistent_state(pose, velocities=dict(zip(names, moving, strict=True)))


def compared(name, steps, rounds):
    """Print the times of the runs of a pile, and their ratios."""
    mechanism, start = pile(*PILES[name])
    clocks, processors, states = {1: [], 2: []}, {1: [], 2: []}, []
    for _ in range(rounds):
        for threads in clocks:
            os.environ["OMP_NUM_THREADS"] = str(threads)
            clock, processor = time.perf_counter(), time.thread_time()
            times = start.time + STEP * np.arange(steps + 1)
            run = integrate(mechanism, start, times, method=Exact(contact="steps"), progress=False)
            clocks[threads].append(time.perf_counter() - clock)
            processors[threads].append(time.thread_time() - processor)
            states.append(run.states)
    assert all(np.array_equal(own, states[0]) for own in states)
    (one, two), (alone, shared) = (map(min, times.values()) for times in (clocks, processors))
    each = 1e3 / steps
    print(f"{name}: {each * one:.1f} ms a step by one thread, {each * two:.1f} by two; load {os.getloadavg()[0]:.1f}")
    print(f"ratio threads-{name} {one / two:.2f}")
    print(f"ratio threads-{name}-processor {alone / shared:.2f}", flush=True)


def main():
    """Print the ratios of all piles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--piles", nargs="*", choices=PILES, default=list(PILES))
    given = parser.parse_args()
    for name in given.piles:
        compared(name, given.steps, given.rounds)


if __name__ == "__main__":
    main()
