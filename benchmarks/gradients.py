"""Gradients of runs by the adjoint of their steps, over the run itself and over differences of runs.

A chain of flexible links hangs and swings in the plane; its parameters are the heights of the sections of the links.
``gradient-over-run`` is the time of the gradient, less that of making the mechanism six times for each parameter, over
that of the run; ``differences-over-gradient`` that of two runs for each parameter over the whole of the gradient.
Process times, minima of interleaved rounds.
"""

import argparse
import time
import warnings
from itertools import pairwise

import numpy as np

import fem
from flexph import GROUND, connect, hinge, integrate
from flexph.gradients import Last, gradient
from flexph.sensors import position

STEEL = fem.Material(young=2.1e11, density=7850.0)


def chain(**heights):
    """Links of 0.3 m with two elements each, and their start."""
    links = {
        f"link{k}": fem.beam(0.3, STEEL, fem.Section(width=0.02, height=height), elements=2)
        for k, height in enumerate(heights.values())
    }
    names = list(links)
    joints = [hinge(f"{a}.tip", f"{b}.root") for a, b in pairwise(names)]
    mechanism = connect(links, [hinge("link0.root", GROUND), *joints], gravity=(0.0, -9.81))
    pose = mechanism.assemble({"link0": (0.0, 0.0, -1.0)}, guess={name: -1.2 for name in names[1:]})
    return mechanism, mechanism.consistent_state(pose)


def timed(function):
    """Process time [s] of a call."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, nargs="+", default=[1, 3, 6])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for count in given.links:
        heights = {f"h{k}": 0.01 for k in range(count)}
        times = np.linspace(0.0, 1e-4 * given.steps, given.steps + 1)
        tip = Last(position(f"link{count - 1}.tip"), component=1)
        mechanism, start = chain(**heights)
        calls = (
            lambda own=(mechanism, start), t=times: integrate(*own, t, progress=False),
            lambda h=heights, t=times, of=tip: gradient(chain, h, t, of),
            lambda h=heights: [chain(**h) for _ in range(6 * len(h))],
        )
        rounds = np.array([[timed(call) for call in calls] for _ in range(given.rounds)])
        run, whole, builds = rounds.min(axis=0)
        print(f"ratio gradient-{count}-over-run {(whole - builds) / run:.2f}")
        print(f"ratio differences-over-gradient-{count} {2 * count * run / whole:.2f}")


if __name__ == "__main__":
    main()
